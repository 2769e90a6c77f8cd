"""The rules of the house that a machine can see."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
AREAS = sorted(p.stem for p in (ROOT / "src/gongfu/core/words").glob("*.py") if p.stem != "__init__")
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")


def test_no_file_is_longer_than_400_lines() -> None:
    long = {str(p.relative_to(ROOT)): n for p in SOURCE if (n := len(p.read_text("utf-8").splitlines())) > 400}
    assert not long


def test_every_package_says_in_one_sentence_what_it_is() -> None:
    for init in (p for p in SOURCE if p.name == "__init__.py"):
        text = init.read_text("utf-8")
        assert text.startswith('"""'), init
        assert text[3:].split('"""')[0].strip().endswith("."), init


def test_nothing_is_left_unfinished() -> None:
    mark = re.compile("TO" + r"DO\b|FIX" + r"ME\b|\bXX" + r"X\b|raise NotImplemented" + "Error")
    found = [f"{p.relative_to(ROOT)}: {m[0]}" for p in SOURCE if (m := mark.search(p.read_text("utf-8")))]
    assert not found


def test_no_machine_paths_and_no_addresses_of_registries() -> None:
    machine = re.compile(
        r"/(?:wo"
        r"rk|ro"
        r"ot)/[a-z.]|index-url[\s=]+https?://(?:pypi|mirror|[0-9])|files\.python"
        r"hosted\.org"
    )
    found: list[str] = []
    for name in filter(None, TRACKED):
        path = ROOT / name
        if path.suffix in (".png", ".gz", ".lock") or not path.is_file():
            continue
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if machine.search(line) and name != "tests/house/test_house.py" and "house:allow" not in line:
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert not found


@pytest.mark.parametrize("area", AREAS)
def test_both_languages_say_the_same(area: str) -> None:
    table = import_module(f"gongfu.core.words.{area}").TEXT
    formatter = string.Formatter()
    for key, (english, chinese) in table.items():
        names = [{n.split(".")[0].split("[")[0] for _, n, _, _ in formatter.parse(t) if n} for t in (english, chinese)]
        assert names[0] == names[1], f"{area}.{key}"
        assert english, f"{area}.{key}"
        assert chinese, f"{area}.{key}"


def test_every_key_that_the_code_uses_is_in_the_catalogue() -> None:
    tables = {a: import_module(f"gongfu.core.words.{a}").TEXT for a in AREAS}
    # an area, a dot and a name, as the first argument of an error or of `say`, or as `key=`/`reason=`
    use = re.compile(
        r"""(?:(?:Error|Refusal|LimitReached|say|_say|tell|fail)\(\s*|(?:key|reason)=)"([a-z_]+)\.([a-z_]+)["]"""
    )
    missing = [
        f"{p.relative_to(ROOT)}: {area}.{name}"
        for p in SOURCE
        for area, name in use.findall(p.read_text("utf-8"))
        if area in tables and name not in tables[area]
    ]
    assert not missing


START_CODE = """
import sys, runpy
sys.argv = {argv!r}
try:
    runpy.run_module("gongfu", run_name="__main__")
except SystemExit:
    pass
sys.stderr.write("\\nMODULES " + " ".join(sorted(sys.modules)))
"""
NEVER = {"fastapi", "pydantic", "mcp", "acp", "prompt_toolkit", "numpy"}
NOT_YET = {"rich", "ruamel", "charset_normalizer", "jsonschema", "json_repair", "pathspec", "httpx2", "psutil"}


def loaded(argv: list[str], env: dict[str, str], cwd: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", START_CODE.format(argv=argv)],
        capture_output=True, text=True, check=False, env=env, cwd=cwd, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return {m.split(".")[0] for m in done.stderr.rsplit("MODULES ", 1)[1].split()}


def test_nothing_heavy_is_loaded_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "script.yaml").write_text("- say: Hello.\n")
    env = {
        "PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "GONGFU_HOME": str(tmp_path / "g"),
        "PYTHONUTF8": "1", "LANG": "C.UTF-8",
    }  # fmt: skip
    for argv in (["gongfu", "--version"], ["gongfu", "--help"]):
        assert not loaded(argv, env, tmp_path / "work") & (NEVER | NOT_YET | {"sqlite3", "httpcore2"}), argv


@pytest.mark.anyio
async def test_a_one_shot_run_loads_only_what_it_uses(tmp_path: Path) -> None:
    from anyio import to_thread

    from gongfu.models.scripted import serve
    from gongfu.models.scripted.script import Say

    (tmp_path / "work").mkdir()
    async with serve([Say("Hello.")]) as server:
        env = {
            "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GONGFU_HOME": str(tmp_path / "g"), "PYTHONUTF8": "1",
            "LANG": "C.UTF-8", "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-none",
            "GONGFU_MODEL": "bench-model", "GONGFU_CONTEXT_WINDOW": "200000",
        }  # fmt: skip
        argv = ["gongfu", "run", "--yes", "Say hello"]
        modules = await to_thread.run_sync(loaded, argv, env, tmp_path / "work")
        assert len(server.requests) == 1
    assert not modules & (NEVER | NOT_YET)
