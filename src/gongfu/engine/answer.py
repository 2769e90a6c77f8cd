"""Final answers that must be JSON of a given schema."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

_FENCE = r"^ *```(?:json)? *\n(.*?)\n *``` *$"
_DEEP = "it is nested too deeply"


def bare(text: str) -> str:
    """The JSON of an answer: the whole text, or what stands in its one code fence where the whole is no JSON."""
    if not _reason(text):
        return text.strip()
    fenced = re.findall(_FENCE, text, re.DOTALL | re.MULTILINE)
    return fenced[0].strip() if len(fenced) == 1 else text.strip()


def problem_of(schema: dict[str, Any], text: str) -> str:
    """What is wrong with an answer, in one sentence for the model; "" when it follows `schema`."""
    said = bare(text)
    reason = _reason(said)
    if reason:
        return f"The final answer must be JSON and nothing else; it is not: {reason}."
    from gongfu.tools.foreign import Foreign  # a library comes with it, loaded only when a schema was asked for

    try:
        found = Foreign(schema).mismatch(msgspec.json.decode(said))
    except (ValueError, RecursionError):  # the library's own bound is lower than the decoder's
        return f"The final answer cannot be checked: {_DEEP}."
    if found is None:
        return ""
    where = "".join(f"[{p!r}]" for p in found.path) or "the whole"
    return f"The final answer does not follow the schema at {where}: {found.message[:500]}."


def check_schema(schema: Any) -> str:
    """Why `schema` can be no JSON Schema; "" when it can. Nothing that it refers to is fetched."""
    from gongfu.tools.foreign import Foreign  # the same

    if not isinstance(schema, dict):
        return "it must be a JSON object"
    try:
        msgspec.json.encode(schema)
        Foreign(cast("dict[str, Any]", schema), strict=True)
    except (ValueError, TypeError) as error:
        return str(error).splitlines()[0]
    except RecursionError:
        return _DEEP
    return ""


def _reason(text: str) -> str:
    """Why `text` is no JSON; "" when it is."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        return str(error)
    except RecursionError:
        return _DEEP
    return ""
