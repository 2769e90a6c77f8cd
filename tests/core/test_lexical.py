"""Terms, stems and lines to show."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gongfu.core.lexical.porter import stem
from gongfu.core.lexical.snippet import snippet
from gongfu.core.lexical.terms import query_terms, terms

ENDINGS = (
    "s es ies sses ed eed ing ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness"
    " fulness ousness aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant"
    " ement ment ent ion ou ism ate iti ous ive ize e ll y"
)


def by_sqlite(words: list[str]) -> list[str]:
    """The stems that SQLite's own porter gives."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter ascii')")
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, instance)")
    db.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(words))
    return [term for (term,) in db.execute("SELECT term FROM v ORDER BY doc")]


roots = st.text(st.sampled_from("abcdeilnorstuwxyz"), max_size=7)
endings = st.lists(st.sampled_from(ENDINGS.split()), max_size=2).map("".join)
words = st.lists(st.tuples(roots, endings).map("".join).filter(bool), min_size=1, max_size=200)


@given(words)
@example(ENDINGS.split())
@example([root + ending for root in ("e", "y", "yy", "eyy", "bb", "ll", "aa", "x" * 61) for ending in ENDINGS.split()])
@example(["a" * size + "ing" for size in range(58, 66)])
def test_stems_are_those_of_sqlite(several: list[str]) -> None:
    assert [stem(word) for word in several] == by_sqlite(several)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("登录失败了", ["登录", "录失", "失败", "败了", "了"]),
        ("a登b", ["a", "登", "b"]),
        ("ＡＢＣ　１２", ["abc", "12"]),
        ("getUserName", ["get", "user", "name", "getusernam"]),
        ("parse_url2", ["pars", "url", "2", "parseurl2"]),
        ("src/a_b.py", ["sourc", "a", "b", "py", "src.ab.py"]),
        ("C:\\dir\\x.txt", ["c", "directori", "x", "txt", "c.dir.x.txt"]),
        ("3.14 and 2d", ["3", "14", "3.14", "and", "2d"]),
        ("well-known", ["well", "known", "wellknown"]),
        ("Caroline's ÉTÉ", ["carolin", "et"]),
        ("Straße Привет", ["straße", "привет"]),
        ("___ -- '' \ud800 \x00", []),
        ("", []),
    ],
)
def test_terms(text: str, wanted: list[str]) -> None:
    assert list(terms(text)) == wanted


def test_a_query_weighs_what_tells() -> None:
    asked = query_terms("Where did the data base of 我们的用户 go 错")
    assert asked.words["data"] == 1
    assert asked.words["the"] < 0.5
    assert asked.words["我们"] < asked.words["的用"] < asked.words["用户"] == 1
    assert "户" not in asked.words
    assert asked.words["错*"] == 1
    assert "databas" in asked.joined


@given(st.text(max_size=50), st.text(max_size=400), st.integers(5, 80))
def test_a_snippet_is_a_short_line(query: str, text: str, width: int) -> None:
    line = snippet(text, query_terms(query), width=width)
    assert "\n" not in line
    assert len(line) <= width + 2


def test_a_snippet_shows_the_words() -> None:
    text = f"{'filler words ' * 200}then the narwhal sang\nto the walrus. {'more words ' * 200}"
    line = snippet(text, query_terms("walrus narwhals"), width=60)
    assert "narwhal sang to the walrus" in line
    assert line[0] == line[-1] == "…"
    assert "数据库迁移" in snippet("前言" * 200 + "数据库迁移失败" + "后记" * 200, query_terms("数据库迁移"))
    assert snippet("short", query_terms("x")) == "short"
