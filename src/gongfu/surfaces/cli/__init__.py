"""The command line: one-shot runs and the commands around them."""
