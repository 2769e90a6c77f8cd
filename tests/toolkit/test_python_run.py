"""run_tests, format_code, lint, auto_fix and build_package with the real programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.python_results import from_cargo, from_go, from_junit, from_text, from_unittest
from tests.toolkit.loop import play
from tests.toolkit.projects import PYPROJECT, call, person, project, put, tools

pytestmark = pytest.mark.anyio

TESTS = """\
import pytest

def test_good():
    assert True

def test_bad():
    left = {"a": 1}
    assert left == {"a": 2}, "they differ"

class TestOf:
    def test_raises(self):
        raise ValueError("boom 爆")

@pytest.mark.skip
def test_skipped(): ...
"""
MESSY = """\
import os
import sys


def  f( a ):
    return sys.argv,a
"""


async def test_failing_tests_are_told_with_the_lines_that_decide(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"tests/test_x.py": TESTS})
    played = await play(work, ("run_tests", {}), env=person(tmp_path))
    assert played.status == "done"
    head, *rest = played.text.splitlines()
    assert head.startswith("2 failed, 1 passed, 1 skipped in ")
    assert "FAILED tests/test_x.py::test_bad" in rest
    assert '  > assert left == {"a": 2}, "they differ"' in rest
    assert "  tests/test_x.py:8: in test_bad" in rest
    assert "FAILED tests/test_x.py::TestOf::test_raises" in rest
    assert "  ValueError: boom 爆" in rest
    assert played.finished[0].display["summary"] == "2 failed, 1 passed, 1 skipped"
    assert list(work.glob(".gongfu*")) == []
    last = await call(work, "run_tests", last_failed=True, keyword="bad")
    assert last.startswith("1 failed in ")


async def test_tests_that_cannot_run_say_why(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"tests/test_x.py": "import nowhere_to_be_found\n"})
    text = await call(work, "run_tests", paths=["tests/test_x.py"])
    assert text.startswith("1 error in")
    assert "No module named 'nowhere_to_be_found'" in text


async def test_tests_are_stopped_in_time(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"test_x.py": "import unittest, time\nclass T(unittest.TestCase):\n def test(self): time.sleep(60)\n"})
    text = await call(work, "run_tests", runner="unittest", timeout=1.0)
    assert text.startswith("stopped after 1 s (time is over): the tests could not be run")


async def test_unittest_without_pytest(tmp_path: Path) -> None:
    work = tmp_path / "work"
    body = "import unittest\nclass T(unittest.TestCase):\n def test_a(self): self.assertEqual(1, 2)\n"
    body += " def test_b(self): pass\n"
    put(work, {"requirements.txt": "", "test_x.py": body})
    (work / ".venv/bin").mkdir(parents=True)
    (work / ".venv/pyvenv.cfg").write_text("version = 3.11\n")
    env = person(tmp_path)
    (work / ".venv/bin/python").symlink_to(Path(env["PATH"].split(":")[0]) / "python")
    text = await call(work, "run_tests")
    assert text.startswith("1 failed, 1 passed in ")
    assert text.splitlines()[0].endswith("[unittest]")
    assert "AssertionError: 1 != 2" in text


async def test_node_tests(tmp_path: Path) -> None:
    work = tmp_path / "work"
    put(work, {"package.json": '{"scripts": {"test": "node --test"}}'})
    facts = await tools(work)["run_tests"].facts({"paths": []})
    assert facts.command.endswith("npm test")
    assert facts.title == "npm"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"paths": ["nope.py"]}, "does not exist"),
        ({"paths": ["--rootdir=/"]}, "does not exist|is an option"),
        ({"paths": ["a\0"]}, "characters"),
        ({"keyword": "a\0"}, "characters"),
        ({"options": ["\ud800"]}, "characters"),
        ({"timeout": 0}, "timeout"),
        ({"stop_at": -1}, "stop_at"),
        ({"runner": "go"}, "go is not installed"),
        ({"runner": "npm", "last_failed": True}, "pytest only"),
        ({"cwd": "nowhere"}, "no folder"),
    ],
)
async def test_a_bad_test_run_is_told(tmp_path: Path, args: dict, says: str) -> None:
    work = project(tmp_path)
    env = person(tmp_path)
    env["PATH"] = env["PATH"].split(":")[0]
    with pytest.raises(ToolFailure, match=says):
        await call(work, "run_tests", env=env, **args)


def test_what_runners_say_is_read() -> None:
    events = [
        '{"Action":"run","Package":"p","Test":"TestA"}',
        '{"Action":"output","Package":"p","Test":"TestA","Output":"x_test.go:3: bad\\n"}',
        '{"Action":"fail","Package":"p","Test":"TestA"}',
        '{"Action":"pass","Package":"p","Test":"TestB"}',
        '{"Action":"fail","Package":"p"}',
    ]
    go = from_go("\n".join(events))
    assert (go.passed, go.failed, go.failing[0].name, go.failing[0].lines) == (1, 1, "p.TestA", ("x_test.go:3: bad",))
    cargo = from_cargo(
        "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n"
        "thread 'b' panicked at src/lib.rs:3:5:\nno\n\n"
        "failures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured\n"
    )
    assert (cargo.passed, cargo.failed, cargo.skipped, cargo.failing[0].name) == (1, 1, 2, "b")
    assert "panicked" in cargo.failing[0].lines[0]
    jest = from_text("  ✕ adds (3 ms)\n\nTests:       1 failed, 2 skipped, 3 passed, 6 total\n")
    assert (jest.failed, jest.skipped, jest.passed, jest.failing[0].name) == (1, 2, 3, "adds (3 ms)")
    tap = from_text("not ok 1 - subtracts\n# pass 4\n# fail 1\n")
    assert (tap.passed, tap.failed, tap.failing[0].name) == (4, 1, "subtracts")
    assert from_junit(b"<broken") is None
    assert from_unittest("Ran 3 tests in 0.1s\n\nOK (skipped=1)\n").passed == 2


# --- format_code, lint, auto_fix --------------------------------------------------------------------------------------


async def test_format_shows_what_it_changed(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"src/a.py": MESSY, "src/fine.py": "x = 1\n"})
    check = await call(work, "format_code", check=True)
    assert "+def f(a):" in check
    assert (work / "src/a.py").read_text() == MESSY
    played = await play(work, ("format_code", {"paths": ["src"]}), env=person(tmp_path))
    assert played.text.startswith("1 file formatted, +2 -2\n--- a/src/a.py")
    assert played.finished[0].display["kind"] == "diff"
    assert "return sys.argv, a" in (work / "src/a.py").read_text()
    assert await call(work, "format_code", paths=["src/a.py"]) == "Nothing changed."
    assert await call(work, "format_code", check=True) == "Everything is formatted."


async def test_black_is_used_where_the_project_wants_it(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"pyproject.toml": "[tool.black]\nline-length = 60\n", "a.py": MESSY})
    facts = await tools(work)["format_code"].facts({"paths": ["a.py"]})
    assert facts.command.split()[0].endswith("/black")
    assert facts.writes == (str(work / "a.py"),)


async def test_a_syntax_error_is_told(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": "def f(:\n"})
    played = await play(work, ("format_code", {"paths": ["a.py"]}), env=person(tmp_path))
    assert played.status == "failed"
    assert "a.py:1:7" in played.text


async def test_lint_tells_findings_one_line_each(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"src/a.py": MESSY, "pyproject.toml": PYPROJECT + "\n[tool.mypy]\n"})
    played = await play(work, ("lint", {}), env=person(tmp_path))
    assert played.status == "done"
    lines = played.text.splitlines()
    assert lines[0].startswith("ruff: 1 finding (F401 1)")
    assert lines[1].startswith("src/a.py:1:8 F401 ")
    assert lines[-1] == "[configured, but not installed: mypy]"
    with pytest.raises(ToolFailure, match=r"mypy is not installed.*It is installed with: "):
        await call(work, "lint", tools=["mypy"])


async def test_fixes_are_shown_and_unsafe_ones_only_when_asked_for(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": "import os\n\nx = 1\ny = not x is None\n\n\ndef f():\n    z = 1\n"})
    played = await play(work, ("auto_fix", {}), env=person(tmp_path))
    assert played.text.startswith("1 file fixed")
    assert "-import os" in played.text
    assert "F841" in played.text
    assert "z = 1" in (work / "a.py").read_text()
    assert "-    z = 1" in await call(work, "auto_fix", unsafe=True, select=["F841"])
    with pytest.raises(ToolFailure, match="is no rule"):
        await call(work, "auto_fix", select=["--fix"])


async def test_what_is_missing_is_told_with_the_command_that_brings_it(tmp_path: Path) -> None:
    work = project(tmp_path)
    put(work, {"a.py": "x = 1\n", "a.ts": "let x"})
    env = {**person(tmp_path), "PATH": "/nonexistent"}
    for name, args in (("lint", {}), ("format_code", {}), ("auto_fix", {}), ("format_code", {"paths": ["a.ts"]})):
        with pytest.raises(ToolFailure, match=r"not installed.*It is installed with: python3 -m venv"):
            await call(work, name, env=env, **args)
    put(work, {"b.txt": ""})
    with pytest.raises(ToolFailure, match="nothing here has a formatter"):
        await call(work, "format_code", paths=["b.txt"])


# --- build_package ----------------------------------------------------------------------------------------------------

BACKEND = """\
import zipfile, os
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "demo-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as z:
        z.writestr("demo.py", "")
        z.writestr(".env", "A=1")
        about = "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.2.3\\nSummary: A demo\\n"
        z.writestr("demo-1.2.3.dist-info/METADATA", about)
        z.writestr("demo-1.2.3.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        z.writestr("demo-1.2.3.dist-info/RECORD", "")
    return name
"""


async def test_a_wheel_is_built_and_looked_into(tmp_path: Path) -> None:
    work = project(tmp_path)
    system = '\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    put(work, {"pyproject.toml": PYPROJECT + system, "backend.py": BACKEND})
    played = await play(work, ("build_package", {"isolation": False}), env=person(tmp_path))
    assert played.status == "done", played.text
    assert "dist/demo-1.2.3-py3-none-any.whl" in played.text
    assert "Name demo, Version 1.2.3" in played.text
    assert "! no license in the metadata" in played.text
    assert "! it may hold secrets: .env" in played.text
    put(work, {"backend.py": "def build_wheel(*a, **k): raise RuntimeError('no wheel today')\n"})
    with pytest.raises(ToolFailure, match=r"(?s)nothing was built.*no wheel today"):
        await call(work, "build_package", isolation=False)


async def test_a_build_that_fetches_asks_for_the_hosts(tmp_path: Path) -> None:
    work = project(tmp_path)
    assert "pypi.org:443" in (await tools(work)["build_package"].facts({})).hosts
    assert (await tools(work)["build_package"].facts({"isolation": False})).hosts == ()
    played = await play(work, ("build_package", {}), env=person(tmp_path), permission="auto", answers="no")
    assert played.status == "refused"
    put(work, {"dist": "a file"})
    with pytest.raises(ToolFailure, match="is a file"):
        await call(work, "build_package")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ToolFailure, match="nothing to build here"):
        await call(tmp_path / "empty", "build_package")


async def test_a_linter_that_fails_says_why_and_other_languages_are_not_missed(tmp_path: Path) -> None:
    work = tmp_path / "crate"
    (work / ".git").mkdir(parents=True)
    put(work, {"Cargo.toml": '[package]\nname = "x"\n', "src/lib.rs": "\n"})
    cargo = tmp_path / "bin/cargo"
    cargo.parent.mkdir()
    cargo.write_text("#!/bin/sh\necho 'error: no toolchain'\nseq 40\nexit 1\n")
    cargo.chmod(0o755)
    env = person(tmp_path)
    played = await play(work, ("lint", {}), env={**env, "PATH": f"{cargo.parent}{os.pathsep}{env['PATH']}"})
    assert played.status == "failed"
    lines = played.text.splitlines()
    assert lines[:2] == ["clippy failed with code 1:", "error: no toolchain"]
    assert lines[-1] == "40"
    assert len(lines) < 20
