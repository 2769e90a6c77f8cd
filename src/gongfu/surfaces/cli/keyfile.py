"""Writes the file of keys."""

from __future__ import annotations

import json
import re

from gongfu.config.files import read_text, write_private
from gongfu.config.paths import Places


def write_key(found: Places, provider: str, key: str) -> None:
    """Set the key of a provider in `keys.yaml` (mode 0600); every other line stays. Raises UserError."""
    found.ensure()
    text = read_text(found.keys) or ""
    line = f"{json.dumps(provider)}: {json.dumps(key)}"
    own = re.compile(rf"""^["']?{re.escape(provider)}["']?\s*:.*$""", re.MULTILINE)
    text, replaced = own.subn(lambda _: line, text, count=1)
    write_private(found.keys, (text if replaced else f"{text.rstrip()}\n{line}\n".lstrip()).encode())
