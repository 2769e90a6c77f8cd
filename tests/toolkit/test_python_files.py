"""read_pyproject, clean_comments, review_code, release_version and batch."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.python_comments import cleaned
from gongfu.toolkit.python_release import raised
from gongfu.workspace.files import as_text
from tests.toolkit.loop import play
from tests.toolkit.projects import PYPROJECT, call, person, project, put, tools
from tests.toolkit.repos import repository, sh

pytestmark = pytest.mark.anyio


# --- read_pyproject ---------------------------------------------------------------------------------------------------


async def test_a_project_tells_of_itself(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"requirements-dev.txt": "pytest>=8  # tests\n# no\n", "setup.cfg": "[metadata]\nname = old\n"})
    played = await play(work, ("read_pyproject", {}), env=person(tmp_path))
    assert played.text.splitlines() == [
        "demo 1.2.3: A demo", "python: >=3.11", "dependencies: msgspec>=0.18", "extra nice: rich",
        "tools configured: pytest, ruff", "setup.cfg: old", "requirements-dev.txt: pytest>=8",
    ]  # fmt: skip
    assert await call(work, "read_pyproject", section="tool.ruff.lint") == '[tool.ruff.lint]\nselect = ["E","F","I"]'
    assert await call(work, "read_pyproject", section="project.version") == 'project.version = "1.2.3"'
    with pytest.raises(ToolFailure, match=r"pyproject\.toml has no 'tool.black'; there are: pytest, ruff"):
        await call(work, "read_pyproject", section="tool.black")


async def test_other_kinds_of_projects(tmp_path: Path) -> None:
    work = tmp_path / "work"
    put(work, {
        "package.json": '{"name": "web", "version": "2.0.0", "scripts": {"test": "jest"}, "dependencies": {"a": "^1"}}',
        "Cargo.toml": '[package]\nname = "r"\nversion = "0.1.0"\n[dependencies]\nserde = { version = "1" }\n',
        "go.mod": "module example.org/x\n",
    })  # fmt: skip
    text = await call(work, "read_pyproject")
    assert "package.json: web 2.0.0" in text
    assert "scripts: test: jest" in text
    assert "Cargo.toml: r 0.1.0 (edition 2015)" in text
    assert "dependencies: serde 1" in text
    assert "go.mod: module example.org/x" in text


async def test_broken_and_missing_projects(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"pyproject.toml": "[project\n"})
    assert "pyproject.toml is broken" in await call(work, "read_pyproject")
    put(work, {"pyproject.toml": "project = 3\ntool = []\n[build-system]\nrequires = 1\n", "package.json": "[1]"})
    assert "build backend" in await call(work, "read_pyproject")
    (tmp_path / "bare").mkdir()
    with pytest.raises(ToolFailure, match="has none of"):
        await call(tmp_path / "bare", "read_pyproject")


# --- clean_comments ---------------------------------------------------------------------------------------------------

COMMENTED = """\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
# Copyright 2020 Somebody
# All of it.

import os  # noqa: F401
# import sys
# x = compute(1,
#             2)
# This explains why.
# note: something to know
# if needed:


def f(a):  # type: ignore
    #: documented
    text = "# no comment"  # trailing 注释
    # for i in range(3):
    #     print(i)
    # Later: more
    return text  # pragma: no cover
"""


async def test_commented_out_code_goes_and_prose_stays(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": COMMENTED.replace("\n", "\r\n")})
    played = await play(work, ("clean_comments", {"paths": ["a.py"], "kind": "code"}), env=person(tmp_path))
    assert played.text.startswith("1 file changed, +0 -5")
    gone = ("# import sys", "# x = compute", "#             2)", "    # for i", "    #     print(i)")
    wanted = [line for line in COMMENTED.splitlines() if not line.startswith(gone)]
    assert (work / "a.py").read_bytes() == "".join(f"{line}\r\n" for line in wanted).encode()
    assert "nothing to remove" in await call(work, "clean_comments", paths=["a.py"], kind="code")


async def test_trailing_and_all_comments(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": COMMENTED})
    text = await call(work, "clean_comments", paths=["."], kind="trailing", dry_run=True)
    assert "+1 -1" in text
    assert (work / "a.py").read_text() == COMMENTED
    await call(work, "clean_comments", paths=["."], kind="all")
    left = [line.partition("#")[2].strip() for line in (work / "a.py").read_text().splitlines() if "#" in line]
    assert left == [
        "!/usr/bin/env python", "-*- coding: utf-8 -*-", "Copyright 2020 Somebody", "All of it.", "noqa: F401",
        "type: ignore", ": documented", 'no comment"', "pragma: no cover",
    ]  # fmt: skip


async def test_it_asks_before_it_writes_and_names_what_changes(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": "x = 1  # one\n", "b.py": "y = 1\n"})
    args = {"paths": ["."], "kind": "all"}
    facts = await tools(work)["clean_comments"].facts(args)
    assert facts.writes == (str(work / "a.py"),)
    assert facts.preview["kind"] == "diff"
    played = await play(work, ("clean_comments", args), env=person(tmp_path), permission="ask", answers="no")
    assert played.status == "refused"
    outside = await tools(work)["clean_comments"].facts({"paths": ["/etc"], "kind": "all"})
    assert outside.writes == ("/etc",)
    assert outside.preview == {}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"paths": []}, "paths is empty"),
        ({"paths": ["nope.py"]}, "does not exist"),
        ({"paths": ["pyproject.toml"]}, "is no Python file"),
        ({"paths": ["bad.py"]}, "is no valid Python"),
        ({"paths": ["a\0.py"]}, "NUL|null"),
    ],
)
async def test_comments_of_what_is_no_python(tmp_path: Path, args: dict, says: str) -> None:
    work = project(tmp_path)
    put(work, {"bad.py": "def f(:\n"})
    with pytest.raises(ToolFailure, match=says):
        await call(work, "clean_comments", kind="all", **args)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([
    "x = 1", "# y = 2", "if x:", "    # z()", "    pass  # done", "s = '''", "# in a text", "'''", "# prose", "",
    "def f():", "    return 1", "# é 注", "\tq = 1", "x = (1,  # one", "2)", "# type: ignore",
])), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["code", "trailing", "all"]))  # fmt: skip
def test_removing_comments_never_changes_what_the_code_means(lines: list[str], end: str, kind: str) -> None:
    raw = "".join(f"{line}{end}" for line in lines).encode()
    try:
        before = ast.dump(ast.parse(raw))
    except SyntaxError:
        return
    after = cleaned(as_text(Path("a.py"), raw), kind, "a.py")
    assert ast.dump(ast.parse(after.raw)) == before
    assert cleaned(after, kind, "a.py").raw == after.raw or kind == "code"


# --- review_code ------------------------------------------------------------------------------------------------------

SMELLS = """\
import json
import os


def f(a, items=[], *, b={}):
    try:
        eval(a)
    except:
        pass
    if a == None or a is "x":
        return os
    assert (a, "always")


def long(a):
""" + "".join(f"    if a == {i}:\n        a += 1\n" for i in range(13))


async def test_a_review_tells_what_form_shows(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": SMELLS, "key.py": f'TOKEN = "ghp_{"a1B2" * 9}"\n'})
    played = await play(work, ("review_code", {"paths": ["."]}), env=person(tmp_path), permission="plan")
    assert played.status == "done"
    lines = played.text.splitlines()
    assert lines[0].startswith("Static review of 2 files: 7 high, 1 medium, 2 low.")
    for line in (
        "a.py:5 high: f has a mutable default, which all calls share", "a.py:7 high: eval() runs whatever it is given",
        "a.py:8 high: bare except catches even what ends the program", "a.py:10 low: compare with None by `is`",
        "a.py:10 high: `is` with a literal compares identities", "a.py:12 high: assert of a tuple is always true",
        "a.py:15 medium: long has a complexity of 14 (more than 12)", "a.py:1 low: json is imported and not used",
    ):  # fmt: skip
        assert line in lines
    assert any(line.startswith("key.py:1 high: a secret: ") for line in lines)
    assert "ghp_" not in played.text


async def test_a_review_of_changes_looks_only_at_them(tmp_path: Path) -> None:
    work = repository(tmp_path)
    put(work, {"old.py": "def f(x=[]):\n    return x\n\n\ny = 1\n"})
    sh(work, "git", "add", "-A")
    sh(work, "git", "commit", "-q", "-m", "Old")
    put(work, {"old.py": "def f(x=[]):\n    return x\n\n\ny = 2\nz = eval('1')\n", "new.py": "def g(x={}): ...\n"})
    text = await call(work, "review_code")
    assert "old.py:6 high: eval()" in text
    assert "new.py:1 high: g has a mutable default" in text
    assert "old.py:1" not in text
    assert "but no test did" in text
    with pytest.raises(ToolFailure, match="git: "):
        await call(work, "review_code", against="nope")


async def test_a_review_with_the_linter_says_that_it_runs_a_program(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": "import os\n"})
    facts = await tools(work)["review_code"].facts({"paths": ["a.py"], "lint": True})
    assert "execute" in facts.access
    assert facts.command.endswith("-- a.py")
    assert "a.py:1:8 F401" in await call(work, "review_code", paths=["a.py"], lint=True)


async def test_a_review_of_odd_files(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"bad.py": "def f(:\n", "deep.py": "x = " + "(" * 400 + ")" * 400, ".env": "A=1"})
    (work / "bin.py").write_bytes(b"\x00\xff\x00\x01")
    text = await call(work, "review_code", paths=["bad.py", "deep.py", "bin.py", ".env"])
    assert "bad.py:1 high: cannot be read" in text
    assert "bin.py:1 low: not reviewed" in text
    assert ".env:1 high: a secret by its name" in text


# --- release_version --------------------------------------------------------------------------------------------------


async def test_a_version_is_raised_wherever_it_stands(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {
        "src/demo/__init__.py": '"""Doc."""\r\n__version__ = "1.2.3"\r\n',
        "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n- one\n\n## 1.2.3\n",
    })  # fmt: skip
    assert await call(work, "release_version") == "1.2.3 in pyproject.toml\n1.2.3 in src/demo/__init__.py"
    dry = await call(work, "release_version", part="minor", dry_run=True)
    assert dry.startswith(
        "The version would become 1.3.0 (was 1.2.3) in pyproject.toml, src/demo/__init__.py, CHANGELOG"
    )
    assert (work / "pyproject.toml").read_text() == PYPROJECT
    played = await play(work, ("release_version", {"part": "minor"}), env=person(tmp_path))
    assert played.status == "done"
    assert 'version = "1.3.0"' in (work / "pyproject.toml").read_text()
    assert (work / "src/demo/__init__.py").read_bytes() == b'"""Doc."""\r\n__version__ = "1.3.0"\r\n'
    assert "## Unreleased\n\n## 1.3.0 - 20" in (work / "CHANGELOG.md").read_text()
    assert sorted(Path(p).name for p in (await tools(work)["release_version"].facts({"part": "patch"})).writes) == [
        "CHANGELOG.md", "__init__.py", "pyproject.toml",
    ]  # fmt: skip


async def test_versions_of_other_projects(tmp_path: Path) -> None:
    work = tmp_path / "work"
    put(work, {
        "package.json": '{\n  "name": "x",\n  "scripts": {"version": "9.9.9"},\n  "version": "1.0.0"\n}\n',
        "Cargo.toml": '[package]\nname = "r"\nversion = "1.0.0"\n\n[dependencies]\na = { version = "5.0.0" }\n',
    })  # fmt: skip
    await call(work, "release_version", part="pre")
    assert '"version": "1.0.1-rc.1"' in (work / "package.json").read_text()
    assert '"version": "9.9.9"' in (work / "package.json").read_text()
    assert 'version = "1.0.1-rc.1"' in (work / "Cargo.toml").read_text()
    assert "5.0.0" in (work / "Cargo.toml").read_text()


async def test_what_cannot_be_raised(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"demo/__init__.py": '__version__ = "9.9.9"\n'})
    with pytest.raises(ToolFailure, match="do not agree"):
        await call(work, "release_version", part="patch")
    with pytest.raises(ToolFailure, match="is no version"):
        await call(work, "release_version", to='1"; import os')
    assert "is now 2.0.0" in await call(work, "release_version", to="2.0.0")
    with pytest.raises(ToolFailure, match=r"is 2\.0\.0 already"):
        await call(work, "release_version", to="2.0.0")
    (tmp_path / "bare").mkdir()
    with pytest.raises(ToolFailure, match="no version was found"):
        await call(tmp_path / "bare", "release_version")


@pytest.mark.parametrize(
    ("version", "part", "label", "dashed", "new"),
    [
        ("1.2.3", "major", "rc", False, "2.0.0"), ("1.2.3", "minor", "rc", False, "1.3.0"),
        ("1.2.3", "patch", "rc", False, "1.2.4"), ("1.2", "patch", "rc", False, "1.2.1"),
        ("1.2.3", "pre", "rc", False, "1.2.4rc1"), ("1.2.4rc1", "pre", "rc", False, "1.2.4rc2"),
        ("1.2.4a3", "pre", "b", False, "1.2.4b1"), ("1.2.4rc2", "release", "rc", False, "1.2.4"),
        ("1.2.4rc2", "patch", "rc", False, "1.2.4"), ("1.3.0rc2", "minor", "rc", False, "1.3.0"),
        ("2.0.0-rc.1", "pre", "rc", True, "2.0.0-rc.2"), ("2.0.0-beta.1", "major", "rc", True, "2.0.0"),
        ("1.0.0.post1", "patch", "rc", False, "1.0.1"),
    ],
)  # fmt: skip
def test_raised(version: str, part: str, label: str, dashed: bool, new: str) -> None:
    assert raised(version, part, label, dashed=dashed) == new


# --- batch ------------------------------------------------------------------------------------------------------------


async def test_batch_counts_compiles_lints_and_formats(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"src/a.py": "x = 1\n\n# c\n", "src/b.py": "def f(:\n", "src/c.js": "let a;\n", "src/d.bin": "\0"})
    played = await play(work, ("batch", {"action": "compile", "glob": "**/*.py"}), env=person(tmp_path))
    assert played.text.splitlines()[0] == "1 of 2 files compile."
    assert "src/b.py:1:7 " in played.text
    rows = [line.split() for line in (await call(work, "batch", action="count", glob="src/*")).splitlines()]
    assert rows[1:3] == [[".py", "2", "2", "1", "1"], [".js", "1", "1", "0", "0"]]
    assert "invalid-syntax" in await call(work, "batch", action="lint", glob="src/*.py")
    assert "ruff format failed with code 2" in await call(work, "batch", action="format", glob="src/*.py")
    facts = await tools(work)["batch"].facts({"action": "format", "glob": "src/a.py"})
    assert facts.writes == (str(work / "src/a.py"),)
    assert facts.command.endswith("format -- src/a.py")


async def test_batch_replaces_in_all_files_or_none(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.txt": "old one\r\nold\r\n", "b.txt": "Old\n", "c.txt": "nothing\n", ".env": "old\n"})
    dry = await call(work, "batch", action="replace", glob="*", find="old", replace="new", dry_run=True)
    assert dry.startswith("1 of 4 files would change, +2 -2")
    assert (work / "a.txt").read_bytes() == b"old one\r\nold\r\n"
    args = {"action": "replace", "glob": "*.txt", "find": r"(?i)\b(o)ld\b", "replace": r"\1LD", "regex": True}
    facts = await tools(work)["batch"].facts(args)
    assert sorted(facts.writes) == [str(work / "a.txt"), str(work / "b.txt")]
    played = await play(work, ("batch", args), env=person(tmp_path))
    assert played.text.startswith("2 of 3 files changed")
    assert (work / "a.txt").read_bytes() == b"oLD one\r\noLD\r\n"
    assert (work / "b.txt").read_text() == "OLD\n"
    assert (work / ".env").read_text() == "old\n"
    (work / "c.txt").write_bytes("caf\xe9 nothing\n".encode("latin-1") * 40)
    with pytest.raises(ToolFailure, match="cannot hold"):
        await call(work, "batch", action="replace", glob="*.txt", find="n", replace="汉")
    assert (work / "a.txt").read_bytes() == b"oLD one\r\noLD\r\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"glob": ""}, "glob must be"),
        ({"glob": "/etc/*"}, "glob must be"),
        ({"glob": "../*"}, "glob must be"),
        ({"glob": "*.nope"}, "no file matches"),
        ({"action": "replace"}, "needs find"),
        ({"action": "replace", "find": "(", "regex": True}, "no valid regular expression"),
        ({"action": "replace", "find": "(a+)+b", "regex": True}, "may take for ever"),
        ({"action": "replace", "find": "x*", "regex": True}, "empty text"),
        ({"action": "replace", "find": "x", "replace": "\ud800"}, "surrogate"),
        ({"action": "replace", "find": "demo", "replace": r"\9", "regex": True}, "replace: "),
        ({"action": "replace", "find": "nowhere to be found"}, "in none of the"),
        ({"action": "compile", "glob": "*.toml"}, "none of the files is Python"),
        ({"cwd": "nope"}, "no folder"),
    ],
)
async def test_a_bad_batch_changes_nothing(tmp_path: Path, args: dict, says: str) -> None:
    work = project(tmp_path)
    with pytest.raises(ToolFailure, match=says):
        await call(work, "batch", **({"action": "count", "glob": "**/*"} | args))
    assert (work / "pyproject.toml").read_text() == PYPROJECT


async def test_what_no_text_can_hold_is_told_and_not_passed_on(tmp_path: Path) -> None:
    work = project(tmp_path)
    for name, args in (
        ("read_pyproject", {"section": "\ud800"}),
        ("review_code", {"against": "\ud800"}),
        ("batch", {"action": "count", "glob": "\ud800"}),
        ("release_version", {"to": "\ud800"}),
    ):
        with pytest.raises(ToolFailure) as failure:
            await call(work, name, **args)
        assert str(failure.value).encode()
    assert (await tools(work)["read_pyproject"].facts({"section": "\ud800"})).title.encode()
