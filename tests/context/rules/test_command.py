"""What a shell command names: rules join, and writes wait, by what stands in its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.context.rules.command import named


@pytest.mark.parametrize(
    ("command", "touches", "writes"),
    [
        ("cat sub/x.txt", ["sub/x.txt"], []),
        ("cd sub && ls", ["sub"], []),
        ("cd sub && cat x > y; cd in; touch z", ["sub", "sub/x", "sub/y", "sub/in", "sub/in/z"], ["sub/y", "sub/in/z"]),
        ("echo a > sub/new", ["a", "sub/new"], ["sub/new"]),
        ("echo a>>sub/new 2>&1", ["a", "sub/new"], ["sub/new"]),
        ("sort < sub/in", ["sub/in"], []),
        ("cat 'a b/c d' \"e f\" g\\ h", ["a b/c d", "e f", "g h"], []),
        ("sudo rm -rf sub/x", ["sub/x"], ["sub/x"]),
        ("A=1 B=2 cp a sub/", ["a", "sub/"], ["a", "sub/"]),
        ("sed -i s/a/b/ sub/x", ["s/a/b/", "sub/x"], ["s/a/b/", "sub/x"]),
        ("sed -n 1p sub/x", ["1p", "sub/x"], []),
        ("git checkout -- sub/x", ["checkout", "sub/x"], ["checkout", "sub/x"]),
        ("git log sub", ["log", "sub"], []),
        ("make --directory=sub all", ["sub", "all"], []),
        ("dd if=/dev/zero of=sub/x", ["/dev/zero", "sub/x"], ["/dev/zero", "sub/x"]),
        ("cat a | tee sub/b", ["a", "sub/b"], ["sub/b"]),
        ("./sub/run.sh x", ["./sub/run.sh", "x"], []),
        ("cd /abs && cat $HOME/x `pwd`/y z", ["/abs", "/abs/z"], []),
        ("", [], []),
        ("&& ; |", [], []),
    ],
)
def test_what_a_command_names(command: str, touches: list[str], writes: list[str]) -> None:
    found = named(command)
    assert (list(found.touches), list(found.writes)) == (touches, writes)


@given(st.text(alphabet="ab/ '\"\\;&|<>()\n$=-`", max_size=200))
def test_any_text_is_read_and_what_is_written_is_touched(command: str) -> None:
    found = named(command)
    assert set(found.writes) <= set(found.touches)
