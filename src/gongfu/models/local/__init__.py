"""The embedded model: fetched once, served on this machine on demand, led step by step because it is small."""
