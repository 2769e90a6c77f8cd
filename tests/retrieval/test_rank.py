"""The ranker: what is found, in which order, and what a score says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.lexical.bm25 import share
from gongfu.core.lexical.terms import query_terms, terms
from gongfu.retrieval.rank import Doc, Hit, Ranker, factor, rank

DAY = 86_400.0
NOW = 1_700_000_000.0
WORDS = ["apple", "river", "登录", "数据库", "parse_url", "run", "the", "的", "stone", "cloud"]


def docs(*texts: str) -> list[Doc]:
    """Documents named by their place."""
    return [Doc(id=str(place), text=text) for place, text in enumerate(texts)]


def found(query: str, *texts: str) -> list[str]:
    """The texts that are found, best first."""
    return [texts[int(hit.id)] for hit in rank(query, docs(*texts))]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("登录失败", "修复登录失败的问题"),
        ("错", "一个错误"),
        ("误", "一个错误"),
        ("ＡＢＣ", "abc"),
        ("ｶﾀｶﾅ", "カタカナの例"),
        ("running tests", "the test runs"),
        ("parse url", "def parseUrl(text): ..."),
        ("parse_url", "parse the url"),
        ("data base", "a database"),
        ("DataFrame", "make a data_frame"),
        ("main.py", "look at src/app/main.py:12"),
        ("src\\app", "in src/app there is"),
        ("dict to string", "dictionary as str"),
        ("utf8", "write it as UTF-8"),
        ("café", "the cafe"),
        ("한국", "한국어 문서"),
        ("HTTPServer", "class http_server"),
        ("2d", "a 2D array"),
        ("don't", "they don’t"),
        ("naïve", "a naive way"),
        ("हिन्दी", "वह हिन्दी बोलता है"),
    ],
)
def test_it_is_found(query: str, text: str) -> None:
    assert found(query, "quite something else 别的东西", text)[:1] == [text]


def test_joining_words_alone_find_nothing_beside_words_that_tell() -> None:
    assert found("where is the walrus", "the walrus", "where is the cat") == ["the walrus"]
    assert found("the", "the cat", "a dog") == ["the cat"], "unless they are all there is"
    assert found("的", "我的书", "a dog") == ["我的书"]


def test_a_score_means_the_same_everywhere() -> None:
    several = docs("migrate the database schema", "bake a cake with the children", "write the docs")
    good = rank("migrate the database schema", several)
    assert good[0].id == "0"
    assert good[0].score >= 0.5
    half = rank("migrate the database, call the dentist and water plants", several)
    assert half[0].id == "0"
    assert 0.1 < half[0].score < good[0].score
    assert all(hit.score < 0.2 for hit in rank("where is the kubernetes cluster of our team", several))
    assert rank("量子物理", several) == []
    crowd = docs(*["migrate the database schema", *(f"something else, number {n}" for n in range(500))])
    assert abs(rank("migrate the database schema", crowd)[0].score - good[0].score) < 0.15


def test_a_long_query_can_be_matched() -> None:
    task = "Please look at the export. " + " ".join(f"word{n} detail{n}" for n in range(200))
    task += (
        " The invoice export writes wrong totals for refunds in the monthly report; currency rounding looks suspicious"
    )
    pair = "Fix invoice export: wrong totals for refunds in monthly report, currency rounding suspicious"
    assert rank(task, docs("Paint the fence", pair))[0].score >= 0.2


def test_age_importance_and_priority_move_a_score_by_at_most_15_percent() -> None:
    assert factor(Doc(id="", text=""), 0.0) == 1
    assert factor(Doc(id="", text="", at=0.0), NOW) == 1, "an unknown age is neutral"
    assert factor(Doc(id="", text="", at=NOW, importance=5, priority=0), NOW) == pytest.approx(1.15)
    assert factor(Doc(id="", text="", at=1.0, importance=1, priority=3), NOW) == pytest.approx(0.85)
    ages = [factor(Doc(id="", text="", at=NOW - days * DAY), NOW) for days in (0.5, 5, 20, 60, 400)]
    assert ages == pytest.approx([1.05, 1 + 0.05 * 0.25 / 0.35, 1 + 0.05 * 0.05 / 0.35, 1 - 0.05 * 0.15 / 0.35, 0.95])
    old, new = Doc(id="old", text="the red boat", at=NOW - 300 * DAY), Doc(id="new", text="the red boat", at=NOW)
    assert [hit.id for hit in rank("red boat", [old, new], now=NOW)] == ["new", "old"]
    assert [hit.id for hit in rank("red boat", [old, new])] == ["old", "new"]


@given(st.floats(0.85, 1.15), st.lists(st.floats(0.001, 3), min_size=40, max_size=60), st.integers(1, 20))
def test_cutting_early_loses_nobody_that_the_factor_lifts(lift: float, sizes: list[float], limit: int) -> None:
    many = [
        Doc(id=str(n), text="boat " + "water " * int(size * 30), importance=1 + n % 5, priority=n % 4)
        for n, size in enumerate(sizes)
    ]
    assert rank("boat", many, limit=limit) == rank("boat", many, limit=len(many))[:limit]


@given(st.floats(0, 5), st.floats(0, 5))
def test_a_share_keeps_the_order_and_stays_between_0_and_1(one: float, other: float) -> None:
    assert 0 <= share(one, 1) <= 1
    if one < other:
        assert share(one, 1) <= share(other, 1)
    assert share(one, 0) == 0


@given(st.text(), st.lists(st.text(), max_size=5))
def test_no_query_raises_and_every_score_is_between_0_and_1(query: str, texts: list[str]) -> None:
    for hit in rank(query, docs(*texts, query), now=NOW):
        assert 0 < hit.score <= 1


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@given(st.sampled_from(WORDS), st.lists(texts, min_size=1, max_size=12))
def test_only_what_holds_the_only_word_is_found(word: str, several: list[str]) -> None:
    hits = {hit.id for hit in rank(word, docs(*several))}
    assert hits == {str(n) for n, text in enumerate(several) if word in text.split()}


@given(texts, st.lists(texts, max_size=12))
def test_the_same_gives_the_same_and_equals_keep_their_order(query: str, several: list[str]) -> None:
    twice = docs(*several, *several)
    hits = rank(query, twice)
    assert hits == rank(query, twice)
    places = [int(hit.id) for hit in hits]
    for place, hit in zip(places, hits, strict=True):
        if place < len(several):  # its double has the same score and comes later
            assert places.index(place) < places.index(place + len(several))
            assert Hit(id=str(place + len(several)), score=hit.score) in hits


@given(st.text())
def test_all_words_of_a_query_are_words_of_the_text(text: str) -> None:
    split = list(terms(text))
    assert all(term and not any(sign.isspace() for sign in term) for term in split)
    for term in query_terms(text).words:
        assert term in split or any(other.startswith(term[:-1]) for other in split if term.endswith("*"))


def test_another_hash_seed_gives_the_same_terms_and_order() -> None:
    code = (
        "from gongfu.retrieval.rank import *; from gongfu.core.lexical.terms import *;"
        "t = ['修复 parseUrl 的 bug', 'src/app/main.py broke', 'fix the bug in main', 'the the the'];"
        "print([list(terms(x)) for x in t], query_terms(t[0]), rank('修复 the main bug', "
        "[Doc(id=str(i), text=x) for i, x in enumerate(t)]))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(answers) == 1


def test_a_ranker_answers_many_queries_and_grows() -> None:
    ranker = Ranker()
    assert ranker.find("anything") == []
    ranker.index([{"id": 1, "text": "red boat", "ts": None}, {"id": 2, "text": "blue car", "ts": NOW}])
    assert ids(ranker.find("car")) == ["2"]
    ranker.add([Doc(id="3", text="green car")])
    assert ranker.search("green cars", k=2) == ["3", "2"]
    assert ranker.search("car", k=0) == []


def ids(hits: Sequence[Hit]) -> list[str]:
    """The ids of hits."""
    return [hit.id for hit in hits]


EXCHANGES = (
    "登录页面报空指针，帮我看看\n已修复：session 过期时返回 null，加了判断",
    "把导出功能改成 CSV 格式\n完成，export.py 增加了 to_csv",
    "Add a --verbose flag to the CLI\nDone: cli.py parses --verbose, tests pass",
    "Why does test_parser fail on Windows?\nBecause of CRLF; normalised newlines in parser.py",
)


@pytest.mark.parametrize(
    ("task", "place", "least", "most"),
    [
        ("修复登录页面的空指针问题", 0, 0.5, 1.0),
        ("登录又报空指针了", 0, 0.5, 1.0),
        ("导出 CSV 时中文乱码", 1, 0.2, 0.8),
        ("the verbose flag prints nothing", 2, 0.5, 1.0),
        ("fix the parser on windows, CRLF again", 3, 0.5, 1.0),
        ("refactor export.py so that to_csv streams rows", 1, 0.5, 1.0),
        ("请帮我看看今天的天气情况怎么样", 0, 0.0, 0.2),
    ],
)
def test_the_limits_by_which_earlier_turns_are_shown_make_sense(
    task: str, place: int, least: float, most: float
) -> None:
    best = rank(task, docs(*EXCHANGES))[0]
    assert best.id == str(place)
    assert least <= best.score < most
