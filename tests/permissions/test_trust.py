"""What in a folder would take effect: all of it, by its content, and nothing that cannot be checked."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.permissions.trust import NOTHING, Findings, look

HOOK = "hooks:\n  - {event: prompt, command: [sh, scripts/hook.sh]}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def seen(root: Path) -> Findings:
    return look(root, own=root.parent / "home")


def write(root: Path, name: str, text: str = "x") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_plain_folder_holds_nothing(root: Path) -> None:
    for name in ("README.md", ".git/config", "AGENTS.md", "CLAUDE.md", ".claude/settings.json", "src/a.py", ".envrc"):
        write(root, name)
    assert seen(root) is NOTHING
    assert not NOTHING.anything


def test_looking_at_a_plain_folder_costs_next_to_nothing(root: Path) -> None:
    best = min(_timed(root) for _ in range(50))
    assert best < 0.0003


def _timed(root: Path) -> float:
    start = time.perf_counter()
    seen(root)
    return time.perf_counter() - start


@pytest.mark.parametrize(
    "name",
    [".gongfu/config.yaml", ".gongfu/tools/a.py", ".gongfu/hooks/deep/er/x.sh", ".mcp.json", ".gongfu/commands/a.md",
     ".agents/skills/a/run.sh", ".claude/skills/b/c/run.py", ".gongfu/flows/f.yaml"],
)  # fmt: skip
def test_what_takes_effect_counts_by_its_content(root: Path, name: str) -> None:
    path = write(root, name, "one")
    first = seen(root)
    assert list(first.files) == [name]
    assert first.anything
    path.write_text("two")
    assert seen(root).fingerprint != first.fingerprint
    path.write_text("one")
    assert seen(root).fingerprint == first.fingerprint


def test_rules_and_skills_that_are_only_text_take_no_effect(root: Path) -> None:
    for name in (".gongfu/rules/a.md", ".claude/skills/a/SKILL.md", ".claude/skills/a/more/about.txt"):
        write(root, name, "Be brief.")
    assert not seen(root).anything
    write(root, ".agents/skills/b/SKILL.md", "Look at !`git status` first.")
    assert list(seen(root).files) == [".agents/skills/b/SKILL.md"]
    write(root, ".claude/skills/a/run.sh")
    assert {".claude/skills/a/SKILL.md", ".claude/skills/a/run.sh"} < set(seen(root).files)


def test_a_script_that_a_hook_names_counts_too(root: Path) -> None:
    write(root, ".gongfu/config.yaml", HOOK)
    script = write(root, "scripts/hook.sh", "one")
    write(root, "scripts/other.sh")
    first = seen(root)
    assert set(first.files) == {".gongfu/config.yaml", "scripts/hook.sh"}
    script.write_text("two")
    assert seen(root).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("make lint >> run.sh", False),  # a log that a hook keeps changes with every run
        ("make lint 2>run.sh", False),
        ("make lint > ./run.sh; sh run.sh", True),
        ("sh <run.sh", True),
        ("sh <>run.sh", True),
        ("sh <(cat run.sh)", True),
        ("tee >(sh run.sh)", True),
        (">\n      run.sh", True),  # a folded text of YAML
    ],
)
def test_a_file_that_a_hook_only_writes_does_not_count(root: Path, line: str, *, counts: bool) -> None:
    write(root, ".gongfu/config.yaml", f"hooks:\n  - event: prompt\n    shell: true\n    command: {line}\n")
    write(root, "run.sh")
    assert ("run.sh" in seen(root).files) is counts


def test_a_server_and_its_script(root: Path) -> None:
    write(root, ".mcp.json", '{"mcpServers": {"a": {"command": "node", "args": ["${ROOT}/server/index.js"]}}}')
    write(root, "server/index.js")
    assert set(seen(root).files) == {".mcp.json", "server/index.js"}


def test_the_home_of_gongfu_is_no_project(root: Path) -> None:
    write(root, ".gongfu/config.yaml")
    assert not look(root, own=root / ".gongfu").anything


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
class TestWhatCannotBeChecked:
    def why(self, root: Path) -> set[tuple[str, str]]:
        return {(p.name, p.why) for p in seen(root).problems}

    def test_a_link_that_leads_out(self, root: Path) -> None:
        write(root.parent, "elsewhere/config.yaml")
        (root / ".gongfu").symlink_to("../elsewhere")
        assert self.why(root) == {(".gongfu", "outside")}

    def test_a_file_that_leads_out(self, root: Path) -> None:
        outside = write(root.parent, "secret")
        write(root, ".gongfu/config.yaml")
        (root / ".gongfu" / "tool.py").symlink_to(outside)
        (root / ".mcp.json").symlink_to("/etc/passwd")
        assert self.why(root) == {(".gongfu/tool.py", "outside"), (".mcp.json", "outside")}

    def test_a_link_inside_is_followed_and_one_in_a_circle_ends(self, root: Path) -> None:
        write(root, ".agents/skills/a/run.sh")
        (root / ".claude").mkdir()
        (root / ".claude" / "skills").symlink_to("../.agents/skills")
        (root / ".agents" / "skills" / "a" / "up").symlink_to("..")
        (root / ".agents" / "skills" / "a" / "self").symlink_to("self")
        found = seen(root)
        assert ".agents/skills/a/run.sh" in found.files
        assert {p.why for p in found.problems} <= {"unreadable", "outside"}

    def test_a_pipe_and_a_huge_file_do_not_hold_it_up(self, root: Path) -> None:
        write(root, ".gongfu/config.yaml")
        os.mkfifo(root / ".gongfu" / "pipe")
        with (root / ".gongfu" / "big").open("wb") as file:
            file.truncate(10 << 30)
        os.mkfifo(root / ".mcp.json")
        assert self.why(root) == {
            (".gongfu/pipe", "no_file"), (".gongfu/big", "too_large"), (".mcp.json", "no_file"),
        }  # fmt: skip

    def test_too_many_files(self, root: Path) -> None:
        (root / ".gongfu").mkdir()
        for number in range(4100):
            (root / ".gongfu" / f"{number}").touch()
        assert (".gongfu", "too_many") in self.why(root)

    def test_names_that_are_no_text(self, root: Path) -> None:
        for raw in (b"two\nlines", b"\xff\xfe", b"esc\x1b[31m"):
            write(root, f".gongfu/{os.fsdecode(raw)}")
        found = seen(root)
        assert len(found.files) == 3
        assert len(found.fingerprint) == 64


@given(st.dictionaries(st.text("abc/.", min_size=1, max_size=6), st.text("xy", max_size=3), max_size=5))
def test_the_fingerprint_tells_folders_apart(files: dict[str, str]) -> None:
    one = Findings(files=files)
    other = Findings(files={**files, "new": "z"})
    assert one.fingerprint == Findings(files=dict(reversed(files.items()))).fingerprint
    assert one.fingerprint != other.fingerprint
