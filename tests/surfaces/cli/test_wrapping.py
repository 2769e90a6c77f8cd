"""Lines are broken as each script is: no mark begins a line that belongs to the one before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.surfaces.cli.render.markdown import draw
from gongfu.surfaces.cli.width import width, wrap

TEXT = (
    "他说：“这个测试失败了。”（见《说明》）然后……又说——好的！是吗？「引号」、『双引』；还有abc，def.ghi（x）1％。" * 2
)
NEVER_FIRST = "，。、；：！？）》”」』…—.％"
NEVER_LAST = "（《“「『"


def _rows(how: str, columns: int) -> list[str]:
    if how == "wrap":
        return wrap(TEXT, columns)
    drawn = draw({"paragraph": TEXT, "list": f"- {TEXT}", "table": f"|A|\n|---|\n|{TEXT}|"}[how], columns, color=False)
    return drawn.split("\n")


@pytest.mark.parametrize("how", ["wrap", "paragraph", "list", "table"])
def test_marks_stay_with_their_words(how: str) -> None:
    for columns in (*range(12, 40, 3), 60, 80):
        rows = _rows(how, columns)
        first = [row.strip(" •")[:1] for row in rows[1:]]
        assert not set(first) & set(NEVER_FIRST), (columns, rows)
        assert not {row.rstrip()[-1:] for row in rows[:-1]} & set(NEVER_LAST), (columns, rows)
        assert max(map(width, rows)) <= columns
        if how != "table":
            assert "".join(row.strip(" •") for row in rows) == TEXT


def test_chinese_with_words_of_another_script_fills_its_lines() -> None:
    text = "使用 pytest 运行全部的测试并且检查代码风格是否符合规范最后提交到 main 分支如果失败则回退"
    for rows in (wrap(text, 30), draw(text, 30, color=False).split("\n")):
        assert all(width(row) > 24 for row in rows[:-1]), rows


def test_no_line_begins_within_what_is_seen_as_one_character() -> None:
    for one in ("👨‍👩‍👧", "か\u3099", "👍🏽"):
        assert all(row in (one * n for n in range(4)) for row in wrap(one * 6, 13)[:-1]), one


@given(st.text(alphabet="ab 中，（e\u0301…🙂", max_size=60), st.integers(4, 20))
def test_nothing_is_lost_and_nothing_is_wider(text: str, cells: int) -> None:
    rows = wrap(text, cells)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    assert all(width(row) <= cells for row in rows)
