"""A project with rule files, and short ways to what is made of it."""

from __future__ import annotations

from pathlib import Path

from gongfu.context.rules.discover import discover
from gongfu.context.rules.found import Draft, Found
from gongfu.context.rules.sections import sha256_of
from gongfu.context.rules.snapshot import pin
from gongfu.core.duties import Policy, Word
from gongfu.core.told import Duty, RulesPinned


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Files below `root` by their path; text is written as UTF-8 without changing its line ends."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def find(root: Path, directory: str = "", own: Path | None = None) -> Found:
    """What is found for work in `directory` of the project at `root`."""
    return discover(root=root.resolve(), directory=(root / directory).resolve(), own=own)


def draft(text: str, path: str = "AGENTS.md", **fields: object) -> Draft:
    """A rule file that lies nowhere."""
    values = {"kind": "agents", "depth": 0, "scope": "."} | fields
    return Draft(path=path, text=text, sha256=sha256_of(text), **values)  # type: ignore[arg-type]


def pinned(*drafts: Draft, words: tuple[Word, ...] = (), policy: Policy = "mandatory-all") -> RulesPinned:
    """A snapshot of such files."""
    return pin(Found(drafts=drafts), words, session="s_test", policy=policy)


def word(of: Draft, duty: Duty, heading: str = "", sha256: str = "", **fields: object) -> Word:
    """The operator's word on a file."""
    return Word(path=of.path, heading=heading, sha256=sha256 or of.sha256, duty=duty, **fields)  # type: ignore[arg-type]
