"""Project rules: found, pinned, delivered in envelopes that are counted in the bytes of a request, or refused."""
