"""The ranker: what is found, in which order, and what a score says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gongfu.retrieval.rank import Doc, rank


def found(query: str, *texts: str) -> list[str]:
    """The texts that are found, best first."""
    return [texts[int(hit.id)] for hit in rank(query, [Doc(id=str(i), text=text) for i, text in enumerate(texts)])]


def test_both_languages_are_found() -> None:
    assert found("登录失败", "修复登录失败的问题", "写文档") == ["修复登录失败的问题"]
    assert found("running tests", "The test runs", "Write the docs") == ["The test runs"]


@given(st.text())
def test_no_query_raises(query: str) -> None:
    rank(query, [Doc(id="a", text="some text 文字"), Doc(id="b", text=query)])
