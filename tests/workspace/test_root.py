"""Where a written path leads: after links, for every spelling, on each platform."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure, UserError
from gongfu.workspace.names import hidden_name, plain_path, show_name
from gongfu.workspace.root import Workspace, find_root, joined, rest_below


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    home = tmp_path / "home"
    root = home / "project"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "sub" / "a.py").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").touch()
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "in").symlink_to("sub")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to(tmp_path / "outside" / "new")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return Workspace(root, root / "sub", extra=(tmp_path / "extra",), private=(home / ".gongfu",))


def test_the_root_is_the_nearest_repository(space: Workspace) -> None:
    assert find_root(space.directory / "deep") == space.root
    assert find_root(space.root) == space.root


def test_without_a_repository_it_is_the_start(space: Workspace, tmp_path: Path) -> None:
    start = tmp_path / "home" / "plain" / "folder"
    start.mkdir(parents=True)
    assert find_root(start) == start.resolve()
    (tmp_path / "home" / ".git").mkdir()  # a home folder under version control is no workspace for what lies in it
    assert find_root(start) == start.resolve()


def test_a_worktree_has_a_file_instead_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tree" / "x").mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_text("gitdir: /elsewhere\n")
    assert find_root(tmp_path / "tree" / "x") == (tmp_path / "tree").resolve()


def test_home_and_the_whole_disk_are_refused(space: Workspace, tmp_path: Path) -> None:
    for wide in (tmp_path / "home", tmp_path, Path("/")):
        with pytest.raises(UserError, match="too wide"):
            find_root(wide)
        assert find_root(wide, allow=True) == wide.resolve()
    with pytest.raises(UserError, match="not a folder"):
        find_root(tmp_path / "nowhere")


def test_a_current_folder_that_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UserError, match="not a folder"):
        find_root(Path())


@pytest.mark.parametrize(
    ("text", "shown", "inside"),
    [
        ("a.py", "a.py", True),
        ("./deep/../a.py", "a.py", True),
        ("deep\\new.py", "deep/new.py", True),
        ("../new/file.txt", "../new/file.txt", True),
        ("..", "..", True),
        (".", ".", True),
        ("../in/a.py", "a.py", True),
        (" a.py\n", "a.py", True),
        ("~/project/sub/a.py", "a.py", True),
        ("~", "{home}", False),
        ("../../other", "{home}/other", False),
        ("../out/secret", "{top}/outside/secret", False),
        ("../out/new/er", "{top}/outside/new/er", False),
        ("../dangling", "{top}/outside/new", False),
        ("../out/../x", "{top}/x", False),
        ("{top}/extra/x", "{top}/extra/x", True),
        ("file://{home}/project/sub/a%2Epy", "a.py", True),
        ("file://localhost{home}/project/sub/a.py", "a.py", True),
        ("/etc/hosts", "/etc/hosts", False),
        ("中文 名.txt", "中文 名.txt", True),
    ],
)
def test_spellings(space: Workspace, tmp_path: Path, text: str, shown: str, inside: bool) -> None:
    top = tmp_path.resolve()
    words = {"top": str(top), "home": str(top / "home")}
    located = space.locate(text.format(**words))
    assert located.shown == shown.format(**words)
    assert located.inside is inside
    assert space.locate(located.shown).path == located.path


def test_a_name_with_backslashes_that_exists_is_that_name(space: Workspace) -> None:
    (space.directory / "a\\b").touch()
    assert space.locate("a\\b").path.name == "a\\b"


@pytest.mark.parametrize(
    "text", ["", "  ", "a\0b", "x" * 256, "中" * 86, "a/" * 3000, "\ud800x", "../loop", "C:\\x\\y", "http://a/b", "file://host/x"]
)  # fmt: skip
def test_what_can_be_no_path_is_a_failure_for_the_model(space: Workspace, text: str) -> None:
    with pytest.raises(ToolFailure):
        space.locate(text)


def test_names_that_are_no_text_are_shown_and_found_again(space: Workspace) -> None:
    for raw in (b"bad\xff.txt", b"two\nlines", b"tab\there", "\u202egnp.exe".encode()):
        path = Path(str(space.directory)) / raw.decode("utf-8", "surrogateescape")
        path.touch()
        shown = space.show(path)
        assert shown.isprintable()
        assert space.locate(shown).path == path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("C:\\Users\\me\\a.py", "C:\\Users\\me\\a.py"),
        ("/c/Users/me", "c:/Users/me"),
        ("/mnt/c/Users", "c:/Users"),
        ("\\\\?\\C:\\long", "C:\\long"),
        ("\\\\?\\UNC\\server\\share", "\\\\server\\share"),
        ("file:///C:/a%20b", "C:/a b"),
        ("src/a.py", "src/a.py"),
    ],
)
def test_windows_spellings(text: str, path: str) -> None:
    assert plain_path(text, windows=True) == path


@pytest.mark.parametrize("text", ["nul", "a\\CON.txt", "COM1", "a.txt:stream", ".env::$DATA", "aux .txt", "x" * 256])
def test_windows_names_that_are_no_files(text: str) -> None:
    with pytest.raises(ToolFailure):
        plain_path(text, windows=True)


@given(st.binary(min_size=1, max_size=20).filter(lambda b: b"/" not in b and b"\0" not in b))
@example(b"\xc2\x80")
@example(b"\xc2\xa0\xa0\xc2\xad")
def test_any_name_is_shown_in_print(raw: bytes) -> None:
    name = raw.decode("utf-8", "surrogateescape")
    shown = show_name(name)
    assert shown.isprintable()
    if shown != name and "\\" not in name:
        assert hidden_name(shown) == name


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["..", ".", "in", "out", "sub", "deep", "a.py", "new", "dangling", "~", ""]), max_size=6)
)
def test_what_is_called_inside_is_inside(space: Workspace, parts: list[str]) -> None:
    text = "/".join(parts)
    if not text:
        return
    located = space.locate(text)
    real = located.path
    assert real == Path(real).resolve()
    assert located.inside == (
        real == space.root or space.root in real.parents or space.extra[0] in (real, *real.parents)
    )


PIECES = st.lists(st.sampled_from(["/", "a", "A", "b", "ab", ".", "..", "é"]), max_size=6).map("".join)


@given(PIECES, PIECES)
def test_texts_are_joined_as_the_system_joins_them(folder: str, name: str) -> None:
    assert joined(folder, name) == os.path.join(folder, name)  # noqa: PTH118


@given(PIECES, PIECES)
def test_what_lies_below_a_folder_is_told_by_whole_names(path: str, folder: str) -> None:
    fold = str.casefold if sys.platform in ("win32", "darwin") else str
    inner, outer = fold(f"{os.sep}{path}"), fold(f"{os.sep}{folder}")
    start = outer if outer.endswith(os.sep) else outer + os.sep
    expected = "" if inner == outer else inner[len(start) :] if inner.startswith(start) else None
    assert rest_below(f"{os.sep}{path}", f"{os.sep}{folder}") == expected
