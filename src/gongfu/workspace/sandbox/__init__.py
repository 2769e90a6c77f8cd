"""Confines the commands of the model: by bubblewrap, else by Landlock; says plainly what it does not cover."""
