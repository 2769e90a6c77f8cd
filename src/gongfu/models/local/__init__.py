"""The embedded model: fetched once, served on this machine on demand, led step by step because it is small."""

from gongfu.models.local.provider import LocalProvider, local_provider

__all__ = ["LocalProvider", "local_provider"]
