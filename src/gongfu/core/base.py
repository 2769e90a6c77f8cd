"""The one base of all values that cross a seam, are stored or are sent."""

from __future__ import annotations

import msgspec


class Base(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A frozen value. Fields with their default value are left out when it is written."""
