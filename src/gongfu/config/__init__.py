"""Settings: their types, where they come from, and where things of the user lie."""
