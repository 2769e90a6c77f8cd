"""Every command and code block of the README and of docs/ is run."""

from __future__ import annotations

import os
import re
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


@pytest.fixture
def place(tmp_path: Path, model: str) -> dict[str, object]:
    """A small repository, an empty home and an environment with the scripted model."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text("def f():\n    return 1\n")
    (work / "README.md").write_text("# A project\n")
    (work / "FILE").write_text('{"type": "object"}')
    (work / "文件").write_text('{"type": "object"}')
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        subprocess.run([*git, *args], cwd=work, check=True)
    (work / "a.py").write_text("def f():\n    return 2\n")
    env = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path),
        "GONGFU_HOME": str(tmp_path / "g"), "LANG": "C.UTF-8", "OPENAI_BASE_URL": model, "OPENAI_API_KEY": "sk-none",
        "GONGFU_MODEL": "bench-model", "GONGFU_CONTEXT_WINDOW": "100000", "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    return {"cwd": work, "env": env, "capture_output": True, "text": True, "timeout": 100, "stdin": subprocess.DEVNULL}


@pytest.mark.parametrize("code", blocks("python"))
def test_python(code: str, place: dict) -> None:
    done = subprocess.run([sys.executable, "-X", "dev", "-c", code], check=False, **place)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", blocks("sh"))
def test_shell(code: str, place: dict, tmp_path: Path) -> None:
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
    done = subprocess.run(["bash", "-ec", "\n".join(lines)], check=False, **place)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", inline())
def test_inline_commands(command: str, place: dict) -> None:
    if command.startswith("gongfu models pull"):
        pytest.skip("fetches 1.1 GB; tests/models/local pulls from a loopback index and from a file")
    if re.match(r"gongfu (--continue|show|fork|context|compact|export)", command):
        subprocess.run(["gongfu", "run", "--yes", "First."], check=True, **place)
        place["env"] = {**place["env"], "GONGFU_MODEL": "bench-model"}
    if re.match(r"gongfu (undo|redo|rewind|checkpoints)", command):
        for before in (["run", "--yes", "Make a file."], *([["undo"]] if "redo" in command else [])):
            subprocess.run(["gongfu", *before], check=True, **place)
    words = command.replace("ID", "") if "--session ID" in command else command
    done = subprocess.run(["bash", "-ec", words], check=False, **place)
    expected = (0,) if "--continue" not in command else (0, 1)  # a turn that ended by itself has nothing to go on with
    assert done.returncode in expected, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


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
