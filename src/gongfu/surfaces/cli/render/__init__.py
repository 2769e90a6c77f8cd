"""Events in, text out: how a turn looks without a terminal, in one, and as JSON."""
