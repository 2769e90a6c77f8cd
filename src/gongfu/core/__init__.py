"""Types and pure functions that every other package may use; no input or output happens here."""
