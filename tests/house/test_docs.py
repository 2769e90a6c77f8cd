"""Every command and code block of the README and of docs/ is run."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from anyio import from_thread

from gongfu.core import events as ev
from gongfu.engine.state import UsageLine
from gongfu.models.scripted import serve
from gongfu.models.scripted.script import Call, Match, Say
from gongfu.surfaces.cli.main import invoke
from gongfu.surfaces.cli.result import result_fields
from gongfu.surfaces.cli.speech import Speech

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:git diff \\?\| )?gongfu [^`]+)`")
KNOWN = {"sh", "python", "yaml", "json", "text", "diff"}


def blocks(language: str) -> list[object]:
    """All blocks of a language; of two that differ in the words of people only, the first."""
    found: dict[str, object] = {}
    for page in PAGES:
        for number, match in enumerate(FENCE.finditer(page.read_text("utf-8"))):
            if match[1] == language:
                block = pytest.param(match[2], id=f"{page.relative_to(ROOT)}-{number}")
                found.setdefault(skeleton(match[2]) if language == "sh" else match[2], block)
    return list(found.values())


def skeleton(code: str) -> str:
    """A block without its comments, and without what stands in quotes or is Chinese."""
    code = re.sub(r"(?m)(^|\s+)#.*$", "", code)
    return re.sub(r"\"[^\"]*\"|'[^']*'|\S*[^\x00-\x7f]\S*", "…", code)


def inline() -> list[object]:
    """Whole commands in the text of the README and of pages written by hand."""
    found: dict[str, object] = {}
    for page in PAGES:
        if page.stem in ("cli", "configuration"):
            continue  # generated from what is offered; the commands are run in tests/surfaces/cli
        for match in INLINE.finditer(FENCE.sub("", page.read_text("utf-8"))):
            command = match[1].replace("\\|", "|")
            found.setdefault(command, pytest.param(command, id=command))
    return list(found.values())


def test_every_block_says_what_it_is() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        assert {m[1] for m in FENCE.finditer(text)} <= KNOWN, page
        assert text.count("\n```") + text.startswith("```") == 2 * len(FENCE.findall(text)), page


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", FENCE.sub("", page.read_text("utf-8"))):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} -> {target}"


@pytest.mark.parametrize("page", ["events.md", "zh/events.md"])
def test_every_event_and_its_fields_are_documented(page: str) -> None:
    rows: dict[str, set[str]] = {}
    for line in (ROOT / "docs" / page).read_text("utf-8").splitlines():
        if line.startswith("| `"):
            names, *rest = line.strip("| ").split(" | ")
            for name in re.findall(r"`(\w+)`", names):
                rows[name] = set(re.findall(r"`(\w+)`", " ".join(rest)))
    for kind in get_args(ev.AnyEvent):
        if kind is not ev.UnknownEvent:
            missing = set(kind.__struct_fields__) - rows[kind.__struct_config__.tag]
            assert not missing, (kind.__struct_config__.tag, missing)
    ended = ev.TurnFinished(turn="t", status="done", text="1")
    beside = {"title": UsageLine()}
    assert set(result_fields(ended, "s", Speech(), structured=True, beside=beside)) <= set(rows)


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """A scripted model on loopback that suits every example."""
    script = [
        Call("shell", {"command": "true"}, when=Match(last_contains="Run the tests")),
        Call("shell", {"command": "echo hello"}, when=Match(last_contains="Say hello with a tool")),
        Call("shell", {"command": "echo > made"}, when=Match(last_contains="Make a file")),
        Say('{"missing": []}', when=Match()),  # any other request; there may be none
    ]
    with from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(serve(script)) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository with a change that is not committed; every example gets a copy."""
    work = tmp_path_factory.mktemp("repository")
    (work / "a.py").write_text("def f():\n    return 1\n")
    (work / "README.md").write_text("# A project\n")
    (work / "FILE").write_text('{"type": "object"}')
    (work / "文件").write_text('{"type": "object"}')
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        subprocess.run([*git, *args], cwd=work, check=True)
    (work / "a.py").write_text("def f():\n    return 2\n")
    return work


class Place:
    """A copy of the repository, an empty home and an environment with the scripted model."""

    def __init__(self, base: Path, repository: Path, model: str) -> None:
        self.work = base / "work"
        shutil.copytree(repository, self.work)
        self.env = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(base),
            "GONGFU_HOME": str(base / "g"), "LANG": "C.UTF-8", "OPENAI_BASE_URL": model, "OPENAI_API_KEY": "sk-none",
            "GONGFU_MODEL": "bench-model", "GONGFU_CONTEXT_WINDOW": "100000", "NO_PROXY": "127.0.0.1",
        }  # fmt: skip

    def program(self, *argv: str) -> tuple[int, str]:
        """A program as a process of its own: its exit code, and what it wrote."""
        done = subprocess.run(
            argv, cwd=self.work, env=self.env, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def gongfu(self, *args: str) -> tuple[int, str]:
        """The same for `gongfu`, inside this process."""
        written = io.BytesIO()
        streams = [io.TextIOWrapper(written, encoding="utf-8", write_through=True) for _ in range(2)]
        here = Path.cwd()
        os.chdir(self.work)
        try:
            code = invoke(list(args), self.env, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), *streams)
        finally:
            os.chdir(here)
        return code, written.getvalue().decode()


@pytest.fixture
def place(tmp_path: Path, repository: Path, model: str) -> Place:
    """Where an example is run."""
    return Place(tmp_path, repository, model)


def words(line: str) -> list[str] | None:
    """The arguments of a line that is `gongfu` and nothing else; None: the line is for a shell."""
    try:
        plain = shlex.split(line, comments=True)
        parsed = list(shlex.shlex(line, posix=True, punctuation_chars="();<>|&$`*?~{}"))
    except ValueError:
        return None
    signs = any(token and not token.strip("();<>|&$`*?~{}") for token in parsed)
    return plain[1:] if plain[:1] == ["gongfu"] and not signs else None


def test_only_lines_that_need_no_shell_are_run_without_one() -> None:
    assert words('gongfu rules classify "A.md#S t" x  # why') == ["rules", "classify", "A.md#S t", "x"]
    assert words("gongfu config set hooks '[{a: b}]'") == ["config", "set", "hooks", "[{a: b}]"]
    assert words('gongfu -p "a && b | c"') == ["-p", "a && b | c"]
    for line in ("gongfu a > b", "git diff | gongfu", "gongfu a|b", "gongfu a || b", "gongfu $A", "gongfu *.py", "make",
                 "gongfu a >b", "gongfu 'a", "X=1 gongfu a"):  # fmt: skip
        assert words(line) is None, line


EACH = """
import gc, os, sys, traceback
for name, code, work, env in {examples!r}:
    os.chdir(work)
    os.environ.clear()
    os.environ.update(env)
    sys.stderr.write(f"\\nEXAMPLE {{name}}\\n")
    try:
        exec(compile(code, name, "exec"), {{"__name__": "__main__"}})
    except SystemExit as ended:
        if ended.code:
            traceback.print_exc()
    except BaseException:
        traceback.print_exc()
    gc.collect()
sys.stderr.write("\\nEXAMPLE end\\n")
"""


def test_python(tmp_path: Path, repository: Path, model: str) -> None:
    """Every block in a folder and a home of its own, one after another in one interpreter."""
    examples: list[tuple[str, str, str, dict[str, str]]] = []
    for number, block in enumerate(blocks("python")):
        place = Place(tmp_path / str(number), repository, model)
        examples.append((block.id, block.values[0], str(place.work), place.env))
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", EACH.format(examples=examples)],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    _, *told = done.stderr.split("\nEXAMPLE ")
    assert [part.split("\n")[0] for part in told] == [*(name for name, *_ in examples), "end"], done.stderr
    assert not [part for part in told if "Traceback" in part]
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", blocks("sh"))
def test_shell(code: str, place: Place, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    lines: list[str] = []
    for line in code.splitlines():
        if line.startswith("make "):  # what it would do: the test command cannot run inside itself
            lines.append(f"make -C {ROOT} -n {line.removeprefix('make ').split('#')[0]}")
        elif "pip install ." in line:
            lines.append(
                f"{sys.executable} -m pip install -q --no-deps --no-build-isolation --target {tmp_path}/t {ROOT}"
            )
        elif not line.startswith("export "):
            lines.append(line)
    whole = "README" in request.node.name  # these are what is tried first: as they stand
    parts: list[list[str]] = []
    for line in lines:
        alone = not whole and words(line) is not None
        if alone or not parts or parts[-1] == []:
            parts.append([])
        parts[-1].append(line)
        if alone:
            parts.append([])
    for part in filter(None, parts):
        args = None if whole else words(part[0])
        ended, told = place.program("bash", "-ec", "\n".join(part)) if args is None else place.gongfu(*args)
        assert ended == 0, (part, told)
        assert "Traceback" not in told


@pytest.mark.parametrize("command", inline())
def test_inline_commands(command: str, place: Place) -> None:
    if command.startswith("gongfu models pull"):
        pytest.skip("fetches 1.1 GB; tests/models/local pulls from a loopback index and from a file")
    if re.match(r"gongfu (--continue|show|fork|context|compact|export)", command):
        assert place.gongfu("run", "--yes", "First.")[0] == 0
    if re.match(r"gongfu (undo|redo|rewind|checkpoints)", command):
        for before in (["run", "--yes", "Make a file."], *([["undo"]] if "redo" in command else [])):
            assert place.gongfu(*before)[0] == 0
    line = command.replace("ID", "") if "--session ID" in command else command
    args = words(line)
    code, told = place.program("bash", "-ec", line) if args is None else place.gongfu(*args)
    expected = (0,) if "--continue" not in command else (0, 1)  # a turn that ended by itself has nothing to go on with
    assert code in expected, told
    assert "Traceback" not in told


@pytest.mark.parametrize("code", blocks("yaml"))
def test_yaml(code: str, tmp_path: Path) -> None:
    from gongfu.config.load import Flags, load
    from gongfu.config.paths import Places

    (tmp_path / "config.yaml").write_text(code)
    env = dict.fromkeys(re.findall(r"\$\{(\w+)\}", code), "x")
    load(Places(home=tmp_path), project=None, project_trusted=False, env=env, flags=Flags())


@pytest.mark.parametrize("code", blocks("json"))
def test_json(code: str) -> None:
    import json

    json.loads(code)
