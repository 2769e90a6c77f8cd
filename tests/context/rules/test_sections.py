"""Sections by headings: nothing is lost, code holds no headings, names tell sections apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gongfu.context.rules.sections import front_matter, split

LINES = st.sampled_from(
    ["# A", "## B", "### C", "text", "", "```", "~~~~", "---", "===", "- item", "#no", "    # code", "# A", "规则", "#"]
)


def headings(text: str) -> list[str]:
    return [part.heading for part in split(text)]


@given(st.lists(LINES).map("\n".join))
def test_the_sections_of_any_text_are_the_text(text: str) -> None:
    parts = split(text)
    assert "".join(p.text for p in parts) == text
    assert len({p.heading for p in parts}) == len(parts)


@given(st.text())
def test_so_of_text_of_any_kind(text: str) -> None:
    assert "".join(p.text for p in split(text)) == text


def test_paths_of_headings() -> None:
    text = "intro\n# A\n## B\nx\n### C\n## D ##\n# E\n## B\n"
    assert headings(text) == ["", "A", "A > B", "A > B > C", "A > D", "E", "E > B"]


def test_underlined_headings() -> None:
    assert headings("Title\n=====\nx\n\nPart\n---\ny\n- item\n---\n") == ["Title", "Title > Part"]


def test_code_holds_no_headings() -> None:
    assert headings("# A\n```sh\n# not\n~~~\n# nor\n```\n# B\n    # code\n") == ["A", "B"]


def test_a_heading_that_comes_twice_is_numbered() -> None:
    assert headings("# A\n# A\n# A\n") == ["A", "A (2)", "A (3)"]


def test_front_matter_belongs_to_the_first_section() -> None:
    text = "---\npaths: a\n---\n\n# A\nx\n"
    assert headings(text) == ["A"]
    assert front_matter(text) == ("paths: a\n", "\n# A\nx\n")
    assert front_matter("---\nno end\n") == ("", "---\nno end\n")
