"""What may run without asking, decided from facts alone."""
