"""Keeps keys and passwords out of what is sent beside the turn."""

from __future__ import annotations

import re

from gongfu.workspace.environment import LOOKS

_BLOCK = r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
_LOGIN = r"://[^\s/:@]*:[^\s/@]+@"
_END = r"\A.*-----END [A-Z ]*PRIVATE KEY-----"
_NAMED = (
    r"(?i)((?:password|passwd|passphrase|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key)"
    r"[\w-]{0,40}[\"']?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4})(\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\"',;}]+)"
)
_HEADER = r"(?i)\b(authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:[a-z]{1,20}[ \t]+)?)[^\s\"']+"
_COOKIE = r"(?i)\b((?:set-)?cookie[\"']?:[ \t]{0,4}).+"
SECRET = "[secret]"  # noqa: S105 - what stands in place of one


def redact(text: str) -> str:
    """`text` with what looks like a key, a token or a password replaced. Meant for short texts: it looks many times."""
    from gongfu.models.faults import redact as without_keys  # the patterns of providers' keys, loaded when needed

    text = re.sub(_BLOCK, SECRET, text, flags=re.DOTALL)
    text = re.sub(_END, SECRET, text, flags=re.DOTALL)
    text = re.sub(_LOGIN, f"://{SECRET}@", text)
    text = re.sub(LOOKS, SECRET, text)
    text = re.sub(_COOKIE, rf"\1{SECRET}", re.sub(_HEADER, rf"\1{SECRET}", text))
    return without_keys(re.sub(_NAMED, _value, text))


def _value(found: re.Match[str]) -> str:
    quote = found[2][0] if found[2][0] in "\"'" else ""
    return f"{found[1]}{quote}{SECRET}{quote}"
