"""What the output of installers and of package indexes means."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import msgspec

from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.programs import Ran
from gongfu.toolkit.python_project import plain


def newest(ran: Ran) -> str:
    """The newest version that `pip index versions` tells of, "" for none."""
    match = re.search(r"(?m)^\S+ \(([^)]+)\)", ran.text)
    return match[1] if match and ran.ok else ""


def unknown(ran: Ran) -> str:
    """Why an index told no version."""
    if re.search(r"(?i)no matching distribution|e404|404 not found", ran.text):
        return "not in the index"
    return "the index could not be asked"


def first_line(ran: Ran) -> str:
    """The first line of a command that did well, "" of one that did not."""
    return next(iter(ran.text.strip().splitlines()), "") if ran.ok else ""


def why(ran: Ran) -> str:
    """Why nothing was installed."""
    text = ran.text.lower()
    if "externally-managed-environment" in text:
        return "not installed: this Python belongs to the system; the project needs an environment of its own"
    if "no matching distribution" in text or "e404" in text or "could not find a version" in text:
        return "not installed: the index has no such package or version"
    if "resolutionimpossible" in text or "conflict" in text:
        return "not installed: the packages conflict"
    return f"it failed with code {ran.code}; the environment may be as before"


def json_in(text: str, start: str) -> Any:
    """The first JSON value in an output, which warnings may precede and follow."""
    at = text.find(start)
    body = text[at:] if at >= 0 else ""
    for piece in (body, body.partition("\n")[0], body[: body.rfind("]" if start == "[" else "}") + 1]):
        try:
            return msgspec.json.decode(piece.encode("utf-8", "replace"))
        except msgspec.DecodeError:
            continue
    return None


def distributions(env: Path) -> dict[str, str]:
    """What is installed in an environment, by the names of the folders that tell of it."""
    found: dict[str, str] = {}
    for site in (*env.glob("lib/python3*/site-packages"), *env.glob("Lib/site-packages")):
        for entry in site.iterdir():
            name, _, version = entry.name.removesuffix(".dist-info").removesuffix(".egg-info").partition("-")
            if entry.suffix in (".dist-info", ".egg-info") and version:
                found[plain_name(name)] = re.sub(r"-py3(?:\.\d+)?\Z", "", version)
    return found


def pip_installed(ran: Ran) -> dict[str, str]:
    rows = json_in(ran.text, "[")
    if not isinstance(rows, list):
        raise ToolFailure(f"the environment cannot be read: {redact(ran.text)[-500:]}")
    found = [plain(row) for row in cast("list[object]", rows)]
    return {plain_name(str(row.get("name"))): str(row.get("version")) for row in found}


def npm_installed(text: str) -> dict[str, str]:
    found = plain(plain(json_in(text, "{")).get("dependencies"))
    return {name: str(plain(value).get("version", "")) for name, value in found.items()}


def npm_outdated(text: str) -> list[str]:
    found = plain(json_in(text, "{"))
    return [f"{n} {plain(v).get('current', '?')} -> {plain(v).get('latest', '?')}" for n, v in sorted(found.items())]


def pip_outdated(ran: Ran) -> list[str]:
    rows = json_in(ran.text, "[")
    if not isinstance(rows, list):
        raise ToolFailure(f"the index could not be asked: {redact(ran.text).strip()[-500:]}")
    found = [plain(row) for row in cast("list[object]", rows)]
    return [f"{row.get('name')} {row.get('version')} -> {row.get('latest_version')}" for row in found]


def plain_name(name: str) -> str:
    """A name as package indexes compare it."""
    return name if name.startswith("@") else re.sub(r"[-_.]+", "-", name).lower()
