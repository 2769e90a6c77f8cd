"""The screen: what is done with it is done in processes of their own, with the environment of the session."""
