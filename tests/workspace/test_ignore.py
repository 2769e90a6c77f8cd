"""The walk: git itself decides what is ignored, for many made-up rules; links, loops and odd names do no harm."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.workspace.globs import expand_braces, path_regex
from gongfu.workspace.ignore import Rules, walk
from gongfu.workspace.root import Workspace

_GIT_ENV = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": os.devnull}
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

NAMES = ["a", "b", "ab", "a.txt", "b.txt", "build", "src", "foo bar", "a[b", "#x", "!y", "a.b.txt"]
PIECES = [
    "a", "b", "*", "**", "?", "*.txt", "build", "src", "/", "a*", "[ab]", "[!a]", "[^a]*", "\\#x", "\\!y", "foo bar",
    "foo\\ ", " ", "[[:alpha:]]", "[a-c]", "[", "\\", "a[b", "a\\[b", "[]a]", "**/", "/**", "/**/", "#x", ".", "***",
]  # fmt: skip
# git's reading of an empty folder name, of stars in a row beside other characters and of a slash in brackets follows
# none of its own rules
_UNRULY = re.compile(r"//|[^/!]\*\*|\*\*[^/]|\[[^\]]*/")
LINES = st.builds(
    lambda negated, parts, folder: ("!" if negated else "") + "".join(parts) + ("/" if folder else ""),
    st.booleans(),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4),
    st.booleans(),
).filter(lambda line: not _UNRULY.search(line))
FILES = st.lists(LINES, min_size=1, max_size=5)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=_GIT_ENV, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree").resolve()
    _git(root, "init", "-q")
    for first in NAMES:
        if first.endswith(".txt"):
            (root / first).touch()
            continue
        (root / first).mkdir()
        for second in NAMES:
            if second in ("src", "build"):
                (root / first / second).mkdir()
                (root / first / second / "a.txt").touch()
                (root / first / second / "b").touch()
            else:
                (root / first / second).touch()
    return root


@needs_git
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES, FILES, FILES)
def test_git_agrees_on_what_is_ignored(tree: Path, top: list[str], nested: list[str], excluded: list[str]) -> None:
    (tree / ".gitignore").write_text("\n".join(top), encoding="utf-8")
    (tree / "src" / ".gitignore").write_text("\r\n".join(nested) + "\n", encoding="utf-8")
    (tree / ".git" / "info" / "exclude").write_text("\n".join(excluded), encoding="utf-8")
    listed = _git(tree, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    ours = [p.relative_to(tree).as_posix() for p in walk(tree, Workspace(tree, tree), hidden=True)]
    assert sorted(ours) == sorted(filter(None, listed))


@needs_git
def test_a_walk_that_starts_below_knows_the_rules_above(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    _git(root, "init", "-q")
    (root / "a" / "b").mkdir(parents=True)
    (root / ".gitignore").write_text("*.log\n/a/b/x.txt\n")
    (root / "a" / ".gitignore").write_text("!keep.log\n")
    for name in ("x.txt", "y.txt", "z.log", "keep.log"):
        (root / "a" / "b" / name).touch()
    found = [p.name for p in walk(root / "a" / "b", Workspace(root, root))]
    assert found == ["keep.log", "y.txt"]


def test_ignore_beats_gitignore_at_any_depth(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "a").mkdir()
    (root / ".ignore").write_text("!x.log\ny.txt\n")
    (root / "a" / ".gitignore").write_text("*.log\n!y.txt\n")
    for name in ("x.log", "y.txt", "z.log"):
        (root / "a" / name).touch()
    assert [p.name for p in walk(root, Workspace(root, root))] == ["x.log"]
    everything = [p.name for p in walk(root, Workspace(root, root), ignored=True)]
    assert everything == ["x.log", "y.txt", "z.log"]


def test_the_exclude_file_of_a_worktree_is_found(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "tree"
    common = tmp_path.resolve() / "main.git"
    own = common / "worktrees" / "tree"
    for folder in (root, own, common / "info"):
        folder.mkdir(parents=True)
    (root / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    (common / "info" / "exclude").write_text("secret.txt\n")
    (root / "secret.txt").touch()
    (root / "open.txt").touch()
    assert [p.name for p in walk(root, Workspace(root, root))] == ["open.txt"]


def test_links_loops_and_odd_names(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "w"
    (root / "sub").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").touch()
    (root / "loop").symlink_to(root)
    (root / "sub" / "out").symlink_to(outside)
    (root / "leak").symlink_to(outside / "secret")
    (root / "broken").symlink_to("nowhere")
    (root / "self").symlink_to("self")
    (root / "inside").symlink_to("sub/real")
    (root / "sub" / "real").touch()
    (root / "two\nlines").touch()
    (root / "中文").touch()
    names = [p.relative_to(root).as_posix() for p in walk(root, Workspace(root, root))]
    assert names == ["inside", "sub/real", "two\nlines", "中文"]


def test_a_walk_is_bounded_and_keeps_its_order(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    for i in range(30):
        (root / f"f{i:02}").touch()
    whole = walk(root, Workspace(root, root))
    assert [p.name for p in whole] == [f"f{i:02}" for i in range(30)]
    assert not whole.truncated
    part = walk(root, Workspace(root, root), limit=10)
    assert len(list(part)) == 10
    assert part.truncated


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a/b/c.py", True),
        ("*.py", "c.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/*.py", "a.py", True),
        ("*.{ts,tsx}", "x/a.tsx", True),
        ("{src,test}/**", "test/a/b", True),
        ("./a.py", "a.py", True),
        ("/a.py", "a.py", True),
        ("/a.py", "b/a.py", False),
        ("a[0-9]", "a5", True),
        ("a[!0-9]", "a5", False),
        ("a[", "a[", True),
        ("测试*", "目录/测试文件", True),
        ("src", "src", True),
    ],
)
def test_globs(pattern: str, path: str, matches: bool) -> None:
    assert bool(path_regex(pattern).fullmatch(path)) is matches


def test_braces() -> None:
    assert expand_braces("a{b,c{d,e}}f") == ["abf", "acdf", "acef"]
    assert expand_braces("{a}") == ["{a}"]
    assert expand_braces("a{") == ["a{"]
    assert len(expand_braces("{a,b}" * 30)) <= 200


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab*?[]!^-{},/\\."), max_size=12), st.text(st.sampled_from("ab/."), max_size=8))
def test_no_pattern_breaks_the_matcher(pattern: str, path: str) -> None:
    path_regex(pattern).fullmatch(path)


def test_a_huge_file_is_not_what_a_walk_waits_for(tmp_path: Path) -> None:
    """All plain names hold; of patterns with wildcards the first few thousand."""
    text = "".join(f"plain-{n}\n" for n in range(60_000)) + "".join(f"wild-{n}-*/**/x[a-z]?\n" for n in range(5000))
    rules = Rules(f"*.first\n{text}")
    assert rules.match("plain-59999", "plain-59999", folder=False) is True
    assert rules.match("a/plain-0", "plain-0", folder=True) is True
    assert rules.match("a.first", "a.first", folder=False) is True
    assert rules.match("wild-7-a/b/xyz", "xyz", folder=False) is True
    assert rules.match("wild-4999-a/b/xyz", "xyz", folder=False) is None
