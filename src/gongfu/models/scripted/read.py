"""Read a script from a YAML or JSON file.

steps:
  - call: shell
    arguments: {command: python3 -m unittest -q}
    text: I run the tests first.
  - say: Done.
    expect: {tool_result_contains: OK}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec

from gongfu.core.errors import ConfigError
from gongfu.core.jsonfix import scrub
from gongfu.models.scripted.script import Call, Calls, Fault, Raw, Say, Step

DEMO = Path(__file__).with_name("demo.yaml")
"""The script of `gongfu demo` when it runs without a model."""

_KINDS: dict[str, type[Step]] = {"say": Say, "call": Call, "calls": Calls, "fault": Fault, "raw": Raw}


def read_script(path: Path) -> list[Step]:
    """The steps of a file; ConfigError with the file and the place for what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError("scripted.unreadable", file=str(path), detail=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError("scripted.unreadable", file=str(path), detail=str(error)) from error
    return script_of(_parse(text, path), str(path))


def _parse(text: str, path: Path) -> Any:
    if path.suffix == ".json":
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise ConfigError("scripted.unreadable", file=str(path), detail=str(error)) from error
    from ruamel.yaml import YAML, YAMLError  # only a script in YAML needs it

    try:
        return scrub(cast("Any", YAML(typ="safe", pure=True)).load(text))
    except YAMLError as error:
        raise ConfigError("scripted.unreadable", file=str(path), detail=_problem(error)) from error


def _problem(error: Exception) -> str:
    """What is wrong with YAML, in one line."""
    mark: Any = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or error).partition("\n")[0]
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark is not None else problem


def script_of(value: Any, file: str = "script") -> list[Step]:
    """The steps of decoded YAML or JSON: a list, or a mapping with `steps`."""
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("steps")
    if not isinstance(value, list):
        raise ConfigError("scripted.bad", file=file, where="the top", detail="a list of steps is expected")
    return [_step(v, file, f"step {n}") for n, v in enumerate(cast("list[Any]", value), 1)]


def _step(value: Any, file: str, where: str) -> Step:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    kind = next((k for k in fields if k in _KINDS), "")
    if not kind:
        wanted = "one of say, call, calls, fault, raw is expected"
        raise ConfigError("scripted.bad", file=file, where=where, detail=wanted)
    answer = fields.get("answer")
    try:
        if kind == "fault" and answer is not None:
            fault = msgspec.convert({k: v for k, v in fields.items() if k != "answer"}, Fault)
            return msgspec.structs.replace(fault, answer=_step(answer, file, f"{where}, answer"))
        if kind == "raw":
            fields = fields | {"raw": str(fields["raw"]).encode()}
        return msgspec.convert(fields, _KINDS[kind])
    except msgspec.ValidationError as error:
        raise ConfigError("scripted.bad", file=file, where=where, detail=str(error)) from error
