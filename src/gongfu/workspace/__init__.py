"""The workspace: its root and confinement, its files, the processes that run in it."""
