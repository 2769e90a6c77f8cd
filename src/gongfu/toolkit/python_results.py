"""What runners say of tests, as counts and failing tests with the lines that decide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import msgspec

from gongfu.core.base import Base

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_LINES = 14  # of one failing test
_WIDE = 300


class Test(Base, frozen=True):
    """A test that did not pass, with the lines that say why."""

    name: str
    outcome: str = "failed"
    lines: tuple[str, ...] = ()


class Results(Base, frozen=True):
    """Counts, and the tests that did not pass."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    failing: tuple[Test, ...] = ()

    @property
    def total(self) -> int:
        """All tests that were seen."""
        return self.passed + self.failed + self.errors + self.skipped


def from_junit(raw: bytes) -> Results | None:
    """A report in JUnit's XML; None when it is none."""
    from xml.etree import ElementTree as ET  # only when tests ran

    try:
        tree = ET.fromstring(raw) if raw else None  # noqa: S314 - expat bounds what entities may become
    except ET.ParseError:
        tree = None
    if tree is None:
        return None
    failing: list[Test] = []
    counts = {"passed": 0, "failed": 0, "errors": 0, "skipped": 0}
    for case in tree.iter("testcase"):
        kind, problem = _problem(case)
        counts[kind] += 1
        if problem is not None:
            outcome = "failed" if kind == "failed" else "error"
            failing.append(Test(name=_name(case), outcome=outcome, lines=_decisive(problem)))
    return Results(**counts, failing=tuple(failing))


def _problem(case: Element) -> tuple[str, Element | None]:
    for tag, kind in (("failure", "failed"), ("error", "errors"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            return kind, found if kind != "skipped" else None
    return "passed", None


def _name(case: Element) -> str:
    group, name = case.get("classname") or "", case.get("name") or ""
    file = case.get("file") or ""
    if not file and group:
        parts = group.split(".")
        cut = next((i for i, part in enumerate(parts) if part[:1].isupper()), len(parts))
        return "::".join([f"{'/'.join(parts[:cut])}.py", *parts[cut:], name])
    return f"{file or group}::{name}".strip(":")


def _decisive(problem: Element) -> tuple[str, ...]:
    """The error lines of a traceback, with where they come from."""
    text = problem.text or problem.get("message") or ""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E  ")]
    places = [line for line in lines if re.match(r"\S+:\d+: ", line)]
    if not errors:
        return _cut(lines[-_LINES:])
    where = places[-1:] if len(places) < 2 else [places[0], places[-1]]
    before = next((lines[i + 1].strip() for i, line in enumerate(lines[:-1]) if where and line == where[-1]), "")
    code = [before] if before and not before.startswith("E ") else []
    return _cut([*where, *(f"> {line}" for line in code), *errors[: _LINES - 3]])


def _cut(lines: list[str]) -> tuple[str, ...]:
    return tuple(line if len(line) <= _WIDE else f"{line[:_WIDE]}…" for line in lines)


def from_unittest(text: str) -> Results:
    """What `python -m unittest -v` says."""
    ran = re.search(r"(?m)^Ran (\d+) tests? in", text)
    counts = {name: int(n) for name, n in re.findall(r"(failures|errors|skipped|expected failures)=(\d+)", text)}
    failing = [
        Test(
            name=match[2].strip(),
            outcome="failed" if match[1] == "FAIL" else "error",
            lines=_cut([line for line in match[3].splitlines() if line.strip()][-_LINES:]),
        )
        for match in re.finditer(
            r"(?ms)^={20,}\n(FAIL|ERROR): ([^\n]*)\n(?:[^\n]*\n)??-{20,}\n(.*?)(?=^={20,}|^-{20,})", text
        )
    ]
    failed, errors, skipped = counts.get("failures", 0), counts.get("errors", 0), counts.get("skipped", 0)
    total = int(ran[1]) if ran else 0
    return Results(
        passed=max(0, total - failed - errors - skipped), failed=failed, errors=errors, skipped=skipped,
        failing=tuple(failing),
    )  # fmt: skip


def from_go(text: str) -> Results:
    """The events of `go test -json`."""
    said: dict[str, list[str]] = {}
    counts = {"pass": 0, "fail": 0, "skip": 0}
    failing: list[Test] = []
    for event in _events(text):
        name = f"{event.get('Package', '')}.{event.get('Test', '')}"
        action = str(event.get("Action", ""))
        if action == "output" and event.get("Test"):
            said.setdefault(name, []).append(str(event.get("Output", "")).rstrip())
        elif event.get("Test") and action in counts:
            counts[action] += 1
            if action == "fail":
                lines = [line for line in said.get(name, []) if line.strip() and not line.startswith("=== ")]
                failing.append(Test(name=name, lines=_cut(lines[-_LINES:])))
        elif action == "fail" and not any(t.name.startswith(name) for t in failing):
            failing.append(Test(name=str(event.get("Package", "")), outcome="error"))
    errors = sum(t.outcome == "error" for t in failing)
    return Results(
        passed=counts["pass"], failed=counts["fail"], skipped=counts["skip"], errors=errors, failing=tuple(failing)
    )


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found: object = msgspec.json.decode(line.encode("utf-8", "replace"))
            except msgspec.DecodeError:
                continue
            if isinstance(found, dict):
                yield cast("dict[str, Any]", found)


def from_cargo(text: str) -> Results:
    """What `cargo test` says."""
    passed = failed = skipped = 0
    for match in re.finditer(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", text):
        passed, failed, skipped = passed + int(match[1]), failed + int(match[2]), skipped + int(match[3])
    blocks = dict(re.findall(r"(?ms)^---- (\S+) stdout ----\n(.*?)(?=^---- |^failures:|\Z)", text))
    names = dict.fromkeys(re.findall(r"(?m)^test (\S+) \.\.\. FAILED", text))
    failing = [Test(name=n, lines=_cut(blocks.get(n, "").strip().splitlines()[:_LINES])) for n in names]
    return Results(passed=passed, failed=failed, skipped=skipped, failing=tuple(failing))


def from_text(text: str) -> Results:
    """Counts and names out of the words of a runner that is not known: jest, mocha, vitest, TAP, pytest."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    words = {
        "passed": r"passed|passing|pass",
        "failed": r"failed|failing|fail",
        "skipped": r"skipped|pending|todo|skip",
    }
    summary = re.findall(r"(?m)^\s*(?:Tests:?|=+)\s+(.*\d.*)$", text)[-1:] or [text]
    for name, pattern in words.items():
        after = re.findall(rf"(\d+) (?:{pattern})\b", summary[0])
        before = re.findall(rf"(?m)^(?:#|ℹ) (?:{pattern}) (\d+)", text)
        found = after[-1:] or before[-1:]
        counts[name] = int(found[0]) if found else 0
    lines = text.splitlines()
    failing: list[Test] = []
    for at, line in enumerate(lines):
        match = re.match(r"\s*(?:✕|✖|✗|×|not ok \d+ -|FAILED|●|\d+\) )\s*(\S.*)", line)
        if match and len(failing) < 200 and match[1] not in {t.name for t in failing}:
            failing.append(Test(name=match[1][:_WIDE], lines=_cut([x for x in lines[at + 1 : at + 8] if x.strip()])))
    return Results(**counts, failing=tuple(failing) if counts["failed"] or not counts["passed"] else ())
