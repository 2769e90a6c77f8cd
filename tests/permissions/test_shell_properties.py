"""What must hold for the rating of any command line."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.permissions.rating import Line, Rating
from gongfu.permissions.shell import line as line_module
from gongfu.permissions.shell.words import quoted

from .conftest import Rate
from .test_shell_corners import LINES as CORNER_LINES
from .test_shell_evasions import LINES as GRAVE_LINES
from .test_shell_table import LINES as PLAIN_LINES

ALL = [command for command, _ in (*PLAIN_LINES, *CORNER_LINES, *GRAVE_LINES)]
_HARMLESS_ADDITIONS: frozenset[Rating] = frozenset(["read"])
PIECES = [
    "ls", "rm", "-rf", "~", "$(", ")", "`", "'", '"', ";", "&&", "||", "|", "&", "\n", " ", "\\", "$x", "${x:-",
    "}", "{", "<<E\n", "\nE\n",
    ">", "<", "<<<", "<(", "((", "))", "[[", "]]", "if", "then", "fi", "for", "in", "do", "done", "case", "esac",
    "f()", "#", "!", "*", "?",
    "[a]", "=", "x=", "eval", "bash -c", "env", "xargs", "find . -exec", "{}", "cd", "..", "/", "git", "push",
    "-", "--", "\t", "\r", "\0",
    "é", "你", "\u202e", "\ud800", "$'", "2>&1", "/dev/tcp/h/1", "sudo", "python -c", "sed", "awk", "tar", "curl",
    "@", ":", "%", "0",
]  # fmt: skip


def closed(command: str) -> bool:
    """Whether more can be written behind a line on the same line."""
    return "#" not in command and "<<" not in command and not command.rstrip().endswith(("&", ";"))


def wild(line: Line) -> bool:
    return bool(line.ratings & {"destructive", "unknown"})


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join)))
def test_any_text_is_rated_without_an_error(rate_often: Rate, text: str) -> None:
    line = rate_often(text)
    assert line.parts
    assert all(part.ratings == tuple(sorted(part.ratings)) and part.ratings for part in line.parts)
    assert "unknown" in line.ratings or not line.problem


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_rated_without_an_error(rate_often: Rate, data: bytes) -> None:
    assert rate_often(data.decode("utf-8", "surrogateescape")).parts


@settings(deadline=None)
@given(st.sampled_from(ALL), st.integers(0, 200), st.sampled_from(PIECES))
def test_a_broken_line_is_rated_without_an_error(rate_often: Rate, command: str, at: int, piece: str) -> None:
    line = rate_often(command[:at] + piece + command[at:])
    assert all(part.ratings for part in line.parts)
    assert rate_often(command[:at]).parts


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_what_follows_on_a_new_line_is_never_overlooked(rate_often: Rate, text: str) -> None:
    line = rate_often(f"{text}\nrm -rf ~")
    # it may stand in quotes or in a here-document, which then lack their end; then nothing is vouched for
    assert wild(line) or text.endswith("\\"), line  # a backslash joins the lines: `rm` is an argument then


@pytest.mark.parametrize("command", ALL, ids=range(len(ALL)))
def test_a_grave_end_is_seen_behind_any_line(rate_often: Rate, command: str) -> None:
    assert wild(rate_often(f"{command}\nrm -rf ~"))
    assert wild(rate_often(f"rm -rf ~\n{command}"))
    if closed(command):
        assert wild(rate_often(f"{command}; rm -rf ~"))
        assert wild(rate_often(f"{command} && rm -rf ~"))
        assert wild(rate_often(f"{command} | sh"))


WRAPPED = [
    "( {} )", "{{ {}; }}", "echo $( {} )", 'echo "$( {} )"', "if true; then {}; fi", "while {}; do :; done",
    "f() {{ {}; }}; f",
    "! {}", "cat <( {} )", "for i in 1; do {}; done", "x=$( {} )", "true && {}",
]  # fmt: skip
GIVEN = [
    "bash -c {}",
    "sh -c {}",
    "eval {}",
    "env sh -c {}",
    "timeout 5 sh -c {}",
    "sudo bash -c {}",
    "nohup bash -c {} &",
]
BEFORE = [
    "env {}",
    "timeout 5 {}",
    "nice -n 5 {}",
    "command {}",
    "nohup {}",
    "time {}",
    "sudo {}",
    "xargs {}",
    "busybox {}",
]


def missing(before: Line, after: Line) -> frozenset[Rating]:
    """What a wrapped line lost; one that is not seen through has lost nothing."""
    if before.problem or "unknown" in after.ratings:
        return frozenset()
    return before.ratings - after.ratings - _HARMLESS_ADDITIONS


@pytest.mark.parametrize("shape", WRAPPED)
def test_a_compound_is_never_milder_than_what_is_in_it(rate_often: Rate, shape: str) -> None:
    for command in filter(closed, ALL[WRAPPED.index(shape) % 2 :: 2]):  # each half in half of the shapes
        assert not missing(rate_often(command), rate_often(shape.format(command))), command


@pytest.mark.parametrize("shape", GIVEN)
def test_a_script_in_quotes_is_never_milder_than_the_line(rate_often: Rate, shape: str) -> None:
    for command in ALL[GIVEN.index(shape) % 2 :: 2]:
        assert not missing(rate_often(command), rate_often(shape.format(quoted(command)))), command


@pytest.mark.parametrize("shape", BEFORE)
def test_a_wrapper_is_never_milder_than_what_it_runs(rate_often: Rate, shape: str) -> None:
    simple = [
        c for c in ALL if not set("|&;<>()`\n{}!") & set(c) and c.split()[0] not in ("if", "for", "while", "case", "[[")
    ]
    builtins = (
        "cd",
        "pushd",
        "alias",
        "trap",
        "eval",
        "source",
        ".",
        "exec",
        "export",
        "let",
        "declare",
        "builtin",
        "history",
    )
    for command in simple:
        if "=" not in command.split()[0] and not command.startswith(builtins):
            assert not missing(rate_often(command), rate_often(shape.format(command))), command


PLAIN = st.from_regex(r"[a-z]{1,6}( [a-z0-9_./:=@%+,-]{1,8}){0,4}", fullmatch=True)


@settings(deadline=None)
@given(st.one_of(PLAIN, st.sampled_from([c for c in ALL if "\n" not in c])))
def test_a_plain_line_is_rated_alike_with_and_without_the_grammar(rate_often: Rate, command: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        quick = rate_often(command)
        patch.setattr(line_module, "_PLAIN", r"(?!)")
        assert rate_often(command) == quick


WORDS = st.text(st.sampled_from("ab '\"\\$*~{},=#\n\t;é\u2028"), min_size=1, max_size=6)


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, min_size=1, max_size=3))
def test_two_commands_have_the_same_text_only_if_they_are_the_same(
    rate_often: Rate, one: list[str], other: list[str]
) -> None:
    def text(words: list[str]) -> str:
        line = rate_often(" ".join(["echo", *("'" + w.replace("'", "'\\''") + "'" for w in words)]))
        return line.parts[0].text

    assert (text(one) == text(other)) == (one == other)
    assert "\n" not in text(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rm  -rf   build", "rm -rf build"), ("r\\m 'build'", "rm build"), ("ls # why", "ls"), ('echo "a b"',
        "echo 'a b'"),
        (">b.txt cat a.txt", "cat a.txt > b.txt"), ("cat <<E\nx\nE", "cat <<'F'\nx\nF"), ("ls \\\n  src", "ls src"),
    ],
)  # fmt: skip
def test_two_spellings_of_a_command_have_the_same_text(rate_often: Rate, one: str, other: str) -> None:
    assert [p.text for p in rate_often(one).parts] == [p.text for p in rate_often(other).parts]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat *", "cat '*'"), ("cat ~/x", "cat '~/x'"), ("echo $x", "echo '$x'"), ("cat 2>b", "cat 2 >b"),
        ("x=1 ls", "'x=1' ls"),
        ("cat <<E\n$x\nE", "cat <<'E'\n$x\nE"), ('echo "a\nb"', 'echo "a b"'), ("echo 'a\\nb'", "echo 'a\nb'"),
        ("cat >b", "cat >>b"),
    ],
)  # fmt: skip
def test_different_commands_have_different_texts(rate_often: Rate, one: str, other: str) -> None:
    assert rate_often(one).parts[0].text != rate_often(other).parts[0].text


@pytest.mark.parametrize(
    "unit",
    ["ls; ", "ls | ", "ls && ", "(", "$(", "{ ls; ", "echo \"$(", "a=b ", "'x'", "{a,b}", "<<E ", "bash -c '",
    "\\\n", "if ls; then ", "`", "((", "[[ ", "$'\\x", "*"],
)  # fmt: skip
def test_time_grows_with_the_line_and_no_depth_breaks_it(rate_often: Rate, unit: str) -> None:
    def took(times: int) -> float:
        best = 9e9
        for _ in range(3):
            start = time.process_time()
            assert rate_often(unit * times).parts
            best = min(best, time.process_time() - start)
        return best

    short = took(max(1, 4_000 // len(unit)))
    assert took(max(2, 8_000 // len(unit))) < 4 * short + 0.2
    assert rate_often(unit * 60_000).ratings == {"unknown"}


def test_a_long_line_is_rated_in_bounded_time(rate_often: Rate) -> None:
    start = time.process_time()
    rate_often("cat > b.txt <<'E'\n" + "some text $x `y`\n" * 3_500 + "E\n")
    assert time.process_time() - start < 5
