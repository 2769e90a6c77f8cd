"""What is known of a code base: its symbols, who calls whom, what a change touches, and notes on it."""
