"""Model providers, from the wire up to roles and fallback; the embedded server."""
