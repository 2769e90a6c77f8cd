"""Final answers that must be JSON of a given schema."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


def bare(text: str) -> str:
    """The JSON of an answer without the code fence that models like to put around it."""
    fenced = _FENCE.match(text)
    return (fenced.group(1) if fenced else text).strip()


def problem_of(schema: dict[str, Any], text: str) -> str:
    """What is wrong with an answer, in one sentence for the model; "" when it follows `schema`."""
    import jsonschema_rs  # a native library, loaded only when a schema was asked for

    try:
        value = msgspec.json.decode(bare(text))
    except msgspec.DecodeError as error:
        return f"The final answer must be JSON and nothing else; it is not: {error}."
    error = next(iter(jsonschema_rs.validator_for(schema).iter_errors(value)), None)
    if error is None:
        return ""
    where = "".join(f"[{p!r}]" for p in error.instance_path) or "the whole"
    return f"The final answer does not follow the schema at {where}: {error.message}."


def check_schema(schema: Any) -> str:
    """Why `schema` can be no JSON Schema; "" when it can."""
    import jsonschema_rs

    if not isinstance(schema, dict):
        return "it must be a JSON object"
    try:
        jsonschema_rs.validator_for(cast("dict[str, Any]", schema))
    except (jsonschema_rs.ValidationError, ValueError) as error:
        return str(error).splitlines()[0]
    return ""
