"""What a line that starts with a slash does in a conversation, one module a theme."""
