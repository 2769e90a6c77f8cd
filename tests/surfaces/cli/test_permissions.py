"""`gongfu permissions`, and what keeps a wrong rule from being written."""

from __future__ import annotations

import pytest

from .conftest import Program


@pytest.mark.parametrize(("args", "code"), [(("9",), 1), (("--all",), 0), ((), 2)])
def test_taking_back_what_was_never_granted_says_so(program: Program, args: tuple[str, ...], code: int) -> None:
    for language in ("en", "zh"):
        ended = program.call("--lang", language, "permissions", "revoke", *args)
        assert ended.code == code, ended
        assert ended.out == ""
        assert ended.err.strip()


def test_the_rule_that_decides_a_command_is_named(program: Program) -> None:
    program.call("config", "set", "permission.deny", '["shell(git push *--force*)"]')
    assert (
        "the rule shell(git push *--force*) forbids it" in program.call("permissions", "check", "git push --force").out
    )
    assert "the rule" not in program.call("permissions", "check", "git push").out


def test_a_wrong_rule_is_not_written(program: Program) -> None:
    ended = program.call("config", "set", "permission.deny", '["shell(npm"]')
    assert ended.code == 2
    assert "permission.deny[0]" in ended.err
    assert program.call("permissions").code == 0
