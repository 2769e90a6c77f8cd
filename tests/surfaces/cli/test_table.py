"""Columns that line up, and what gives way when there is no room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.surfaces.cli.render.table import table
from gongfu.surfaces.cli.width import width

ROWS = [["会话", "活动", "TITLE"], ["s_1", "2026-11-30", "修复登录测试 and more of it"]]


def test_wide_characters_line_up() -> None:
    assert table(ROWS) == ["会话  活动        TITLE", "s_1   2026-11-30  修复登录测试 and more of it"]
    assert table(ROWS, right=(0,)) == ["会话  活动        TITLE", " s_1  2026-11-30  修复登录测试 and more of it"]


@pytest.mark.parametrize(
    ("columns", "least", "second"),
    [
        (80, 16, "s_1   2026-11-30  修复登录测试 and more of it"),
        (34, 16, "s_1   2026-11-30  修复登录测试 an…"),
        (33, 16, "s_1   修复登录测试 and more of it"),
        (22, 16, "s_1   修复登录测试 an…"),
        (44, 0, "s_1   修复登录测试 and more of it"),
    ],
)
def test_columns_that_can_be_spared_give_way_to_the_last_one(columns: int, least: int, second: str) -> None:
    assert table(ROWS, columns=columns, spare=(1,), least=least)[1] == second


@given(
    st.lists(st.tuples(*[st.text("ab 中", max_size=12)] * 4), min_size=1),
    st.integers(1, 60),
    st.permutations([1, 2]),
    st.integers(0, 20),
)
def test_no_line_is_too_wide_and_a_pipe_gets_all(
    rows: list[tuple[str, ...]], columns: int, spare: list[int], least: int
) -> None:
    shown = table(rows, columns=columns, spare=spare, least=least)
    assert len(shown) == len(rows)
    assert max(map(width, shown)) <= max(columns, 1)
    assert table(rows, spare=spare, least=least) == table(rows)
