"""Which rules a place stands under: what joins when it is touched, what a write must wait for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.context.rules.scope import touched, undelivered

from .project import draft, pinned

ROOT = Path("/project").absolute()
NESTED = draft("n", "sub/AGENTS.md", depth=1, scope="sub", nested=True)
DEEP = draft("d", "sub/in/AGENTS.md", depth=2, scope="sub/in", nested=True)
NARROW = draft("p", ".gongfu/rules/p.md", kind="rules", paths=("src/**/*.py", "*.toml"))
BOTH = draft("b", "sub/.gongfu/rules/b.md", depth=1, scope="sub", kind="rules", nested=True, paths=("web/**",))
SNAPSHOT = pinned(draft("root"), NESTED, DEEP, NARROW, BOTH)


@pytest.mark.parametrize(
    ("path", "joins"),
    [
        ("sub/x.py", [NESTED]),
        ("sub", [NESTED]),
        ("./sub/../sub/x", [NESTED]),
        (str(ROOT / "sub" / "x"), [NESTED]),
        ("sub/in/deep/x", [NESTED, DEEP]),
        ("subway/x", []),
        ("x", []),
        (".", []),
        ("../other/sub/x", []),
        ("/elsewhere/sub", []),
        ("src/a/b.py", [NARROW]),
        ("src/b.py", [NARROW]),
        ("src/b.js", []),
        ("deep/pyproject.toml", [NARROW]),
        ("sub/web/x", [NESTED, BOTH]),
        ("web/x", []),
    ],
)
def test_what_joins_when_a_place_is_touched(path: str, joins: list[object]) -> None:
    wanted = {d.path for d in (NESTED, DEEP, NARROW, BOTH) if d in joins}
    assert set(touched(SNAPSHOT, (), [path], ROOT)) == wanted


@pytest.mark.parametrize(
    ("pattern", "path", "joins"),
    [
        ("src/", "src/a/b.py", True),
        ("src/", "src", True),
        ("src", "src/a/b.py", True),
        ("lib/web", "lib/web/x.js", True),
        ("lib/web", "lib/website/x.js", False),
        ("src/*", "src/a/b.py", False),
        ("{src,lib}/", "lib/x", True),
    ],
)
def test_a_pattern_that_names_a_folder_holds_for_all_in_it(pattern: str, path: str, joins: bool) -> None:
    narrow = draft("p", ".gongfu/rules/p.md", kind="rules", paths=(pattern,))
    assert bool(touched(pinned(narrow), (), [path], ROOT)) == joins


def test_what_has_joined_does_not_join_again() -> None:
    assert touched(SNAPSHOT, ("sub/AGENTS.md",), ["sub/in/x"], ROOT) == ("sub/in/AGENTS.md",)


def test_a_write_waits_for_mandatory_rules_that_no_request_has_carried() -> None:
    assert undelivered(SNAPSHOT, (), ["sub/in/x"], ROOT) == ("sub/AGENTS.md", "sub/in/AGENTS.md")
    assert undelivered(SNAPSHOT, ("sub/AGENTS.md",), ["sub/in/x"], ROOT) == ("sub/in/AGENTS.md",)
    assert undelivered(SNAPSHOT, (), ["README.md"], ROOT) == ()
    optional = pinned(draft("root"), NESTED, policy="")
    assert undelivered(optional, (), ["sub/x"], ROOT) == ()
    assert touched(optional, (), ["sub/x"], ROOT) == ("sub/AGENTS.md",)
