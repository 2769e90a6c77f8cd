"""How a person names a file, and where one is being named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.plugins.mentions import unfinished, written
from gongfu.plugins.template import Given, Include, Template

NAME = st.text(
    st.one_of(
        st.sampled_from("ab Z09._-~$'\"\\()[]{}!:,;#&@设计笔🙂é"),
        st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]),
    ),
    min_size=1,
    max_size=8,
).filter(lambda name: "/" not in name and name.strip(".") != "")
PATH = st.lists(NAME, min_size=1, max_size=3).map("/".join).filter(lambda path: not ("'" in path and '"' in path))


@settings(max_examples=60)
@given(PATH)
def test_a_bare_mention_names_the_same_in_the_text_of_a_command(path: str) -> None:
    mention = written(path)
    if mention[1] in "\"'":
        return
    pieces = [p for p in Template(f"see {mention} now").filled(Given()) if isinstance(p, Include)]
    assert [p.path for p in pieces] == [mention[1:]]


@settings(max_examples=60)
@given(PATH, st.sampled_from(["", "see ", "看", "a.b@c.de "]))
def test_what_is_open_can_be_gone_on_with(path: str, before: str) -> None:
    typed = unfinished(before + written(f"{path}/", closed=False))
    assert typed is not None
    assert typed.path in (f"{path}/", f"./{path}/")
    assert typed.start == len(before)


@pytest.mark.parametrize(
    ("before", "path"),
    [
        ("@", ""), ("see @sr", "sr"), ("看@设", "设"), ('x @"my no', "my no"), ("a@b", None), ("see @a.txt ", None),
        ("@a，", None), ("@a@b", None), ("plain", None),
        ("me@x", None), ("müller@h", None), ("`@c", None), ("a/@b", None), ("一@x/页(1", "x/页(1"),
    ],
)  # fmt: skip
def test_where_a_mention_is_being_typed(before: str, path: str | None) -> None:
    found = unfinished(before)
    assert (found.path if found else None) == path


def test_a_name_with_both_kinds_of_quotes_cannot_be_written() -> None:
    assert written('it\'s "x"') == ""
