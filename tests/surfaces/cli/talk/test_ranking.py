"""Which of many paths come first for a piece of one."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.surfaces.cli.talk.ranking import Ranker, blocks_of, fold, search

TREE = [
    "README.md", "Makefile", "src/", "src/main.py", "src/talk/", "src/talk/menu.py", "src/talk/talk_menu.py",
    "src/talk/atmosphere.py", "src/talk/main/", "src/talk/main/x.py", "tests/test_main.py", "docs/main.md",
    "src/domain.py", "设计/", "设计/菜单.md", "设计/总体设计.md", "文档/设计说明.txt", "my notes/to do.txt",
    "é/Überblick.md",
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("main", ["src/talk/main/", "src/main.py", "docs/main.md", "src/talk/main/x.py", "tests/test_main.py"]),
        ("MAIN.PY", ["src/main.py", "tests/test_main.py", "src/domain.py"]),
        ("tm", ["src/talk/talk_menu.py", "tests/test_main.py", "src/talk/atmosphere.py"]),
        ("src/", ["src/main.py", "src/talk/", "src/domain.py"]),
        ("src/ma", ["src/main.py"]),
        ("s/t/me", ["src/talk/menu.py"]),
        ("menu", ["src/talk/menu.py", "src/talk/talk_menu.py"]),
        ("rdm", ["README.md"]),
        ("设计", ["设计/", "文档/设计说明.txt"]),
        ("菜", ["设计/菜单.md"]),
        ("说明", ["文档/设计说明.txt"]),
        ("to do", ["my notes/to do.txt"]),
        ("über", ["é/Überblick.md"]),
        ("U\u0308berb", ["é/Überblick.md"]),
        ("./src/m", ["src/main.py"]),
    ],
)
def test_what_is_meant_comes_first(query: str, first: list[str]) -> None:
    assert search(blocks_of(TREE), query, 20)[: len(first)] == first


def test_what_fits_nothing_gives_nothing() -> None:
    for query in ("zzz", "src/zzz/", "mainq", "\n", "x" * 200):
        assert search(blocks_of(TREE), query, 20) == []


@settings(max_examples=60)
@given(st.lists(st.text("ab_./", min_size=1, max_size=7), max_size=30), st.text("ab_./", max_size=4))
def test_looking_through_many_finds_what_looking_at_each_does(paths: list[str], query: str) -> None:
    wanted = fold(query).removeprefix("./")
    ranks = [(Ranker(wanted).rank(fold(path)), n) for n, path in enumerate(paths)] if wanted else []
    best = [paths[n] for _, n in sorted((r, n) for r, n in ranks if r is not None)] if wanted else paths
    assert search(blocks_of(paths), query, 100) == best


def test_many_paths_are_looked_through_at_once() -> None:
    chance = random.Random(4)
    words = ["".join(chance.choice("abcdeilmnorst") for _ in range(6)) for _ in range(400)]
    paths = [f"{chance.choice(words)}/{chance.choice(words)}/{chance.choice(words)}_{n}.py" for n in range(60_000)]
    few, many = blocks_of(paths[:6_000]), blocks_of(paths)

    def took(blocks: object) -> float:
        began = time.thread_time()
        for query in ("e", "tst", "nope", "a/c", paths[-1]):
            search(blocks, query, 100)  # type: ignore[arg-type]
        return time.thread_time() - began

    assert search(many, paths[-1], 5)[0] == paths[-1]
    took(few)
    assert took(many) < 30 * max(took(few), 0.002)
