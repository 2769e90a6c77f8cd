"""The names that a checkpoint covers are those that git lists, told without running git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.workspace.checkpoint import take
from gongfu.workspace.checkpoint.index import names_in
from gongfu.workspace.checkpoint.tree import FILE, LINK, Tree, to_text
from tests.workspace.checkpoint.kit import ENV

NAMES = ("a", "b.log", "build", "src", "ü", "x y", ".hidden", "b!", "#c", "new\nline", "dé\udcff")
PATTERNS = (
    "*.log", "build", "build/", "/src", "src/*", "!src/a", "!b.log", "**/a", "a/**", "*", "!*/", "x\\ y", "\\!b",
    "\\#c", "b?", "[!a]", ".*", "src/**/b.log", "# comment", "ü", "new*",
)  # fmt: skip


class Nowhere:
    """A store that keeps nothing."""

    def missing(self, digests: object) -> set[bytes]:
        return set()

    def put(self, items: object) -> int:
        return 0

    def get(self, digest: bytes) -> bytes:
        raise AssertionError


def git(root: Path, *args: str, env: dict[str, str] = ENV) -> bytes:
    done = subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x", "-c", "core.excludesFile=", "-C", str(root), *args],
        env=env, check=True, capture_output=True,
    )  # fmt: skip
    return done.stdout


def by_git(root: Path) -> set[str]:
    """What git lists and what is there, that of nested repositories by their own rules."""
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    names = {os.fsdecode(name) for name in listed if name}
    found: set[str] = set()
    for name in names:
        path = name.rstrip("/")
        if (root / path / ".git").exists():
            found |= {f"{path}/{inner}" for inner in by_git(root / path)}
        elif os.path.lexists(root / path) and ((root / path).is_symlink() or (root / path).is_file()):
            found.add(path)
    return found


def by_us(root: Path, env: dict[str, str] = ENV) -> set[str]:
    tree = Tree(take(root, Nowhere(), known=None, env=env).tree)
    return {to_text(path) for path, item in tree.paths() if item.kind in (FILE, LINK)}


def paths() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)


def write(root: Path, path: str, text: str = "x") -> None:
    try:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    except OSError:
        pass


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    tracked=st.lists(paths(), max_size=6),
    others=st.lists(paths(), max_size=8),
    rules=st.dictionaries(
        st.sampled_from(("", "src/", "a/", "build/")), st.lists(st.sampled_from(PATTERNS), max_size=5)
    ),
    excluded=st.lists(st.sampled_from(PATTERNS), max_size=2),
    version=st.sampled_from(("2", "3", "4")),
)
def test_git_lists_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    tracked: list[str],
    others: list[str],
    rules: dict[str, list[str]],
    excluded: list[str],
    version: str,
) -> None:
    root = tmp_path_factory.mktemp("names")
    git(root, "init", "-q")
    git(root, "config", "index.version", version)
    for path in tracked:
        write(root, path)
    git(root, "add", "-A", "-f")
    for path in others:
        write(root, path)
    for folder, lines in rules.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text("\n".join(lines))
    (root / ".git/info/exclude").write_text("\n".join(excluded))
    assert by_us(root) == by_git(root)


@pytest.mark.parametrize("pattern", ["[!a]", "?", "b?", "??", "[ü]", "[^b]*", "ü", "*ü"])
def test_a_wildcard_of_git_stands_for_a_byte(tmp_path: Path, pattern: str) -> None:
    git(tmp_path, "init", "-q")
    for name in ("a", "b", "ü", "bü", "中"):
        write(tmp_path, name)
    (tmp_path / ".git/info/exclude").write_text(pattern)
    assert by_us(tmp_path) == by_git(tmp_path)


@pytest.mark.parametrize("format", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "4"])
def test_an_index_of_any_form_is_read(tmp_path: Path, format: str, version: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={format}")
    git(tmp_path, "config", "index.version", version)
    names = [f"folder/{'n' * (1 + length % 199)}/{length}" for length in range(300)] + [
        "l/" + "/".join(["x" * 200] * 19),
        "z",
    ]
    for name in names:
        write(tmp_path, name)
    git(tmp_path, "add", "-A")
    git(tmp_path, "rm", "-q", "--cached", "z")
    git(tmp_path, "add", "--intent-to-add", "z")
    names += ["later"]
    write(tmp_path, "later")
    git(tmp_path, "update-index", "--split-index")
    git(tmp_path, "add", "--intent-to-add", "later")
    write(tmp_path, ".gitignore", "*")
    assert by_us(tmp_path) == by_git(tmp_path) == set(names)
    assert sorted(
        os.fsdecode(n) for n in names_in(str(tmp_path / ".git/index"), 32 if format == "sha256" else 20)
    ) == sorted(names)


@pytest.mark.parametrize(
    "data", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\xff\xff", b"junk" * 99, b"DIRC\0\0\0\4\0\0\0\1" + b"\xff" * 90]
)
def test_what_is_no_index_names_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "index").write_bytes(data)
    assert names_in(str(tmp_path / "index")) == []


def test_submodules_worktrees_and_repositories_inside_follow_their_own_rules(tmp_path: Path) -> None:
    other, root = tmp_path / "other", tmp_path / "root"
    for place in (other, root):
        place.mkdir()
        git(place, "init", "-q")
        write(place, ".gitignore", "*.log\n")
        write(place, "file")
        git(place, "add", "-A")
        git(place, "commit", "-q", "-m", "x")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "module")
    git(root, "worktree", "add", "-q", "tree")
    git(root, "init", "-q", "inner")
    write(root, "inner/.gitignore", "own\n")
    for folder in ("module", "tree", "inner"):
        for name in ("new", "x.log", "own"):
            write(root, f"{folder}/{name}")
    ours = by_us(root)
    assert ours == by_git(root)
    assert {"module/new", "tree/new", "inner/x.log"} <= ours
    assert not {"module/x.log", "tree/x.log", "inner/own"} & ours
    assert by_us(root / "tree") == by_git(root / "tree")


def test_a_folder_of_a_repository_follows_the_rules_from_its_top(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", "/part/deep/no\nnever\n")
    for name in ("part/deep/no", "part/deep/yes", "part/never", "part/tracked.never"):
        write(tmp_path, name)
    assert by_us(tmp_path / "part") == {"deep/yes", "tracked.never"}


def test_what_the_person_ignores_everywhere_is_ignored_in_repositories(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    for name, text in ((".config/git/ignore", "*.swp\n"), ("mine", "*.bak\n")):
        write(home, name, text)
    root.mkdir()
    for name in ("a.swp", "a.bak", "a"):
        write(root, name)
    env = {**ENV, "HOME": str(home)}
    assert by_us(root, env) == {"a.swp", "a.bak", "a"}
    git(root, "init", "-q")
    assert by_us(root, env) == {"a.bak", "a"}
    write(home, ".gitconfig", "[core]\n\texcludesFile = ~/mine\n")
    assert by_us(root, env) == {"a.swp", "a"}


def test_a_folder_that_is_called_like_git_s_in_other_letters_is_an_ordinary_one(tmp_path: Path) -> None:
    for name in (".GIT/config", ".git/config", "sub/.git/x", "sub/y"):
        write(tmp_path, name)
    assert by_us(tmp_path) == {".GIT/config", "sub/y"}
