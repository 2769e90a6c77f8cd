"""The client of servers that speak the Model Context Protocol."""
