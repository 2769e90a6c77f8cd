"""What lies on disk: sources, their order, what is wrong with a file.

Wire row 47: at the root, nested, in home, with BOM, oversize.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gongfu.context.rules.discover import OWN, discover
from gongfu.context.rules.found import MAX_DEPTH, MAX_FILE
from gongfu.context.rules.snapshot import MAX_FILES, pin
from gongfu.core.duties import Word
from gongfu.core.errors import Refusal

from .project import find, write

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes as on POSIX")


def refused(root: Path, words: tuple[Word, ...] = ()) -> Refusal:
    with pytest.raises(Refusal) as raised:
        pin(find(root), words, session="s")
    assert raised.value.code == 3
    assert str(raised.value).startswith("RULES_LIMIT: ")
    assert "Nothing was sent" in str(raised.value)
    return raised.value


def exclude(root: Path) -> tuple[Word, ...]:
    found = find(root)
    return tuple(Word(path=m.path, heading="", sha256=m.sha256, duty="excluded") for m in found.misfits)


def test_from_the_users_own_to_the_target_in_order_and_nested_ones_apart(tmp_path: Path) -> None:
    own = write(tmp_path, {"home/AGENTS.md": "own"}) / "home" / "AGENTS.md"
    root = write(
        tmp_path / "p",
        {
            "AGENTS.md": "root", "CLAUDE.md": "claude", ".gongfu/rules/b.md": "b", ".gongfu/rules/deep/a.md": "a",
            "app/AGENTS.md": "app", "app/web/CLAUDE.md": "web", "app/api/AGENTS.md": "nested", "lib/AGENTS.md": "lib",
            "lib/.gongfu/rules/x.md": "x", ".gongfu/rules/notes.txt": "no rule", "docs/readme.md": "no rule",
        },
    )  # fmt: skip
    found = find(root, "app/web", own)
    pinned = pin(found, session="s")
    assert [(s.path, s.depth, s.nested) for s in pinned.sources] == [
        (OWN, -1, False),
        ("AGENTS.md", 0, False),
        ("CLAUDE.md", 0, False),
        (".gongfu/rules/b.md", 0, False),
        (".gongfu/rules/deep/a.md", 0, False),
        ("app/AGENTS.md", 1, False),
        ("lib/AGENTS.md", 1, True),
        ("lib/.gongfu/rules/x.md", 1, True),
        ("app/api/AGENTS.md", 2, True),
        ("app/web/CLAUDE.md", 2, False),
    ]
    assert {s.path: s.scope for s in pinned.sources}["lib/.gongfu/rules/x.md"] == "lib"


def test_a_mark_at_the_beginning_goes_and_line_ends_become_one_kind(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": b"\xef\xbb\xbf# A\r\nb\rc\n"})
    assert find(tmp_path).drafts[0].text == "# A\nb\nc\n"


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b" \r\n\t\n"])
def test_an_empty_file_is_recorded_as_ignored(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, {"AGENTS.md": content})
    pinned = pin(find(tmp_path), session="s")
    assert pinned.sources == ()
    assert pinned.ignored == (("AGENTS.md", "empty"),)


@pytest.mark.parametrize("text", ["Use tabs.\n", "@AGENTS.md\n", "See AGENTS.md.", "@./AGENTS.md"])
def test_a_second_file_that_says_the_same_is_delivered_once(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"AGENTS.md": "Use tabs.", "CLAUDE.md": text})
    pinned = pin(find(tmp_path), session="s")
    assert [s.path for s in pinned.sources] == ["AGENTS.md"]
    assert pinned.ignored == (("CLAUDE.md", "same"),)


def test_a_pointer_to_nothing_is_a_rule_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, {"CLAUDE.md": "@AGENTS.md"})
    assert [d.path for d in find(tmp_path).drafts] == ["CLAUDE.md"]


def test_the_same_text_in_two_folders_is_two_rules(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "Use tabs.", "a/AGENTS.md": "Use tabs."})
    assert [d.path for d in find(tmp_path).drafts] == ["AGENTS.md", "a/AGENTS.md"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"a\0b", "nul"), (b"caf\xe9", "encoding"), (b"\xff\xfea\0", "encoding"), (b"x" * (MAX_FILE + 1), "size")],
)
def test_what_can_be_no_rule_stops_the_run_until_it_is_excluded(tmp_path: Path, content: bytes, reason: str) -> None:
    write(tmp_path, {"AGENTS.md": content, "CLAUDE.md": "fine"})
    error = refused(tmp_path)
    assert error.key == f"rules.limit_{reason}"
    assert "AGENTS.md" in str(error)
    pinned = pin(find(tmp_path), exclude(tmp_path), session="s")
    assert [s.path for s in pinned.sources] == ["CLAUDE.md"]
    assert ("AGENTS.md", "excluded") in pinned.ignored


def test_an_exclusion_is_bound_to_the_very_bytes(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": b"x" * (MAX_FILE + 1)})
    words = exclude(tmp_path)
    write(tmp_path, {"AGENTS.md": b"x" * MAX_FILE + b"y"})
    refused(tmp_path, words)


def test_a_file_of_just_the_limit_is_taken_also_in_chinese(tmp_path: Path) -> None:
    text = "规" * (MAX_FILE // 3) + "x" * (MAX_FILE % 3)
    assert len(text.encode()) == MAX_FILE
    write(tmp_path, {"AGENTS.md": text})
    assert find(tmp_path).drafts[0].text == text
    write(tmp_path, {"AGENTS.md": text + "x"})
    assert refused(tmp_path).key == "rules.limit_size"


@posix
@pytest.mark.parametrize("place", ["AGENTS.md", ".gongfu/rules/a.md", "sub/AGENTS.md"])
def test_a_link_is_no_rule(tmp_path: Path, place: str) -> None:
    root = write(tmp_path / "p", {"other.md": "text"})
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to(root / "other.md")
    error = refused(root)
    assert error.key == "rules.limit_link"
    assert place in str(error)
    assert pin(find(root), exclude(root), session="s").ignored == ((place, "excluded"),)


@posix
@pytest.mark.parametrize("linked", [".gongfu", ".gongfu/rules", ".gongfu/rules/more"])
def test_a_folder_of_rules_that_is_a_link_is_none(tmp_path: Path, linked: str) -> None:
    outside = write(tmp_path / "out", {"rules/a.md": "a", "a.md": "a"})
    root = tmp_path / "p"
    (root / linked).parent.mkdir(parents=True, exist_ok=True)
    (root / linked).symlink_to(outside, target_is_directory=True)
    error = refused(root)
    assert error.key == "rules.limit_link"
    assert f"{linked}/" in str(error)


@posix
def test_folders_that_are_links_are_not_walked_into(tmp_path: Path) -> None:
    outside = write(tmp_path / "out", {"AGENTS.md": "outside"})
    root = write(tmp_path / "p", {"AGENTS.md": "root"})
    (root / "sub").symlink_to(outside, target_is_directory=True)
    assert [d.path for d in find(root).drafts] == ["AGENTS.md"]


@posix
@pytest.mark.parametrize(("link", "target"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_a_link_to_the_other_rule_file_beside_it_is_the_same_rule(tmp_path: Path, link: str, target: str) -> None:
    write(tmp_path, {target: "Use tabs."})
    (tmp_path / link).symlink_to(target)
    pinned = pin(find(tmp_path), session="s")
    assert [s.path for s in pinned.sources] == [target]
    assert pinned.ignored == ((link, "same"),)


@posix
def test_a_pipe_in_the_place_of_a_rule_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    assert refused(tmp_path).key == "rules.limit_special"


@posix
@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else False, reason="root reads everything")
def test_an_unreadable_rule_stops_the_run(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "secret"})
    (tmp_path / "AGENTS.md").chmod(0)
    assert refused(tmp_path).key == "rules.limit_unreadable"


def test_a_folder_called_like_a_rule_is_told(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    assert refused(tmp_path).key == "rules.limit_special"


def test_too_many_files_are_named_and_may_be_excluded(tmp_path: Path) -> None:
    write(tmp_path, {f".gongfu/rules/{n:03}.md": f"rule {n}" for n in range(MAX_FILES + 2)})
    error = refused(tmp_path)
    assert error.key == "rules.limit_files"
    assert "064.md" in str(error)
    assert "065.md" in str(error)
    assert "063.md" not in str(error)
    two = find(tmp_path).drafts[:2]
    words = tuple(Word(path=d.path, heading="", sha256=d.sha256, duty="excluded") for d in two)
    assert len(pin(find(tmp_path), words, session="s").sources) == MAX_FILES + 2


def test_too_much_in_all_is_refused_and_what_is_excluded_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, {f".gongfu/rules/{n}.md": f"{n}" * 60_000 for n in range(5)})
    error = refused(tmp_path)
    assert error.key == "rules.limit_total"
    assert ".gongfu/rules/4.md" in str(error)
    first = find(tmp_path).drafts[0]
    words = (Word(path=first.path, heading="", sha256=first.sha256, duty="excluded"),)
    assert len(pin(find(tmp_path), words, session="s").sources) == 5


def test_a_file_too_deep_is_told(tmp_path: Path) -> None:
    deep = "/".join(["d"] * (MAX_DEPTH + 1))
    write(tmp_path, {f"{deep}/AGENTS.md": "deep"})
    assert refused(tmp_path).key == "rules.limit_depth"


def test_twelve_rules_in_one_folder_and_a_nested_file(tmp_path: Path) -> None:
    write(tmp_path, {f"svc/.gongfu/rules/{n:02}.md": f"rule {n}" for n in range(12)} | {"svc/in/AGENTS.md": "in"})
    pinned = pin(find(tmp_path, "svc"), session="s")
    assert [s.path for s in pinned.sources] == [
        *(f"svc/.gongfu/rules/{n:02}.md" for n in range(12)),
        "svc/in/AGENTS.md",
    ]
    assert [s.nested for s in pinned.sources] == [False] * 12 + [True]


def test_ignored_folders_and_hidden_ones_are_not_walked_into(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "build/\n", "build/AGENTS.md": "x", ".venv/lib/AGENTS.md": "x",
            "node_modules/a/AGENTS.md": "x", "src/AGENTS.md": "y",
        },
    )  # fmt: skip
    assert [d.path for d in find(tmp_path).drafts] == ["src/AGENTS.md"]


def test_a_walk_that_was_cut_short_is_told(tmp_path: Path) -> None:
    write(tmp_path, {f"f{n}/x": "x" for n in range(30)} | {"AGENTS.md": "root"})
    root = tmp_path.resolve()
    found = discover(root=root, directory=root, entries=10)
    assert (".", "walk") in found.ignored
    assert [d.path for d in found.drafts] == ["AGENTS.md"]


@pytest.mark.parametrize(
    ("front", "paths"),
    [
        ("paths: src/**/*.py", ("src/**/*.py",)),
        ('paths: "src/**/*.{ts,tsx}, lib/**"', ("src/**/*.{ts,tsx}", "lib/**")),
        ("paths:\n  - a/**\n  - b.md", ("a/**", "b.md")),
        ("paths: [a, b, a]", ("a", "b")),
        ("title: x", ()),
        ("paths:", ()),
    ],
)
def test_front_matter_narrows_a_rule(tmp_path: Path, front: str, paths: tuple[str, ...]) -> None:
    write(tmp_path, {".gongfu/rules/a.md": f"---\n{front}\n---\nText\n"})
    found = find(tmp_path)
    assert found.drafts[0].paths == paths
    assert found.ignored == ()


@pytest.mark.parametrize("front", ["paths: [a", "paths: 3", "paths: {a: b}", "- x", "paths: [1, 2]", "paths: '!a/**'"])
def test_front_matter_that_cannot_be_read_narrows_nothing_and_is_told(tmp_path: Path, front: str) -> None:
    write(tmp_path, {".gongfu/rules/a.md": f"---\n{front}\n---\nText\n"})
    found = find(tmp_path)
    assert found.drafts[0].paths == ()
    assert found.ignored == ((".gongfu/rules/a.md", "front_matter"),)


@posix
def test_names_that_are_no_utf8_are_shown_and_pinned(tmp_path: Path) -> None:
    write(tmp_path, {os.fsdecode(b"sub\xff/AGENTS.md"): "rule"})
    pinned = pin(find(tmp_path), session="s")
    assert pinned.sources[0].path == "sub\\xff/AGENTS.md"
