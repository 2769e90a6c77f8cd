"""Language servers: which there are, how they are spoken to, and how they are kept from doing harm."""
