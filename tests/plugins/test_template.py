"""Templates of commands: arguments are words, never placeholders and never code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.plugins.template import (
    BadTemplateError,
    Given,
    Include,
    Line,
    Template,
    expand,
    fill_line,
    name_words,
    words_of,
)

pytestmark = pytest.mark.anyio

NASTY = st.one_of(
    st.sampled_from(
        [
            "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "\n touch pwned\n", "\\", "'",
            '"', "!`touch pwned`", "$ARGUMENTS", "$1", "{{who}}", "@/etc/passwd", "a b", "", "${IFS}", "$'\\x27'", "#",
            "a\\'b", "$2", "; touch pwned #", "| touch pwned", "&& touch pwned", "<(touch pwned)", "-n", "*", "~",
            "a[$(touch pwned)]",
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
)  # fmt: skip

LINES = [
    ("show $1", ["{0}"]),
    ('show "$1"', ["{0}"]),
    ("show a$1b", ["a{0}b"]),
    ('show "a $1 b"', ["a {0} b"]),
    ("show '$1'", ["$1"]),
    ("show '{{who}}'", ["{0}"]),
    ("show \"x\" {{ who }} 'y'", ["x", "{0}", "y"]),
    ('show "$(show "$1" | cat)"', None),
    ("show $(printf %s x) $1; show $1", None),
    ("show \\$1 '$2'", ["$1", "$2"]),
    ('(show $1) && show "it\'s $1"', None),
    ('show "a\\"$1"', ['a"{0}']),
    ("show \\\\$1", ["\\{0}"]),
]


def bash(line: str, where: Path) -> bytes:
    code = 'show() { for a in "$@"; do printf "%s\\0" "$a"; done; }\n' + line
    return subprocess.run(["bash", "-c", code], cwd=where, capture_output=True, check=False, timeout=10).stdout


@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_an_argument_is_one_word_wherever_it_stands(line: str, wanted: list[str] | None, tmp_path: Path) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(NASTY)
    def check(value: str) -> None:
        given_ = Given(words=(value,), text=value, named={"who": value})
        out = bash(fill_line(line, given_), tmp_path)
        assert not (tmp_path / "pwned").exists()
        if wanted is not None:
            assert out == b"".join(w.replace("{0}", value).encode() + b"\0" for w in wanted)

    check()


def test_all_arguments_are_as_many_words(tmp_path: Path) -> None:
    words = ("a b", "$(touch pwned)", "'")
    out = bash(fill_line("show $ARGUMENTS", Given(words=words)), tmp_path)
    assert out.split(b"\0")[:-1] == [w.encode() for w in words]


@pytest.mark.parametrize(
    "line",
    ["echo $(( $1 ))", "(( $1 ))", "[[ $1 -eq 1 ]]", "cat <<EOF $1", "echo ${1} $1", "eval $1", "let x=$1", "ls # $1",
     "echo $'$1'", "echo ${{who}}", "case $1 in a) ls;; esac"],
)  # fmt: skip
def test_where_an_argument_could_be_more_than_a_word_the_file_is_wrong(line: str) -> None:
    with pytest.raises(BadTemplateError):
        Template(f"Do !`{line}`")


async def filled(text: str, words: str, **named: str) -> tuple[str, list[str], list[str]]:
    ran: list[str] = []
    read: list[str] = []

    async def run(line: str) -> str:
        ran.append(line)
        return "OUT $1 !`ls` @a.txt {{who}}"

    async def include(path: str) -> str | None:
        read.append(path)
        return "HELD $1 !`ls` @b.txt" if path == "a.txt" else None

    given_ = Given(words=words_of(words), text=words, named=named)
    return await expand(Template(text).filled(given_), run, include), ran, read


async def test_placeholders_are_filled_once() -> None:
    text, ran, read = await filled("A $1 B $2 C $ARGUMENTS D {{who}} {{nobody}} $3.", "x !`rm` @a.txt $1", who="$2")
    assert text == "A x B !`rm` C x !`rm` @a.txt $1 D $2 {{nobody}} @a.txt."
    assert (ran, read) == ([], [])


async def test_output_and_files_are_never_read_as_placeholders() -> None:
    text, ran, read = await filled("See !`git log $1` and @a.txt, @a.txt. @dataclass a@b.de", "v1")
    assert ran == ["git log v1"]
    assert read == ["a.txt", "dataclass"]
    assert text == (
        "See OUT $1 !`ls` @a.txt {{who}} and a.txt, a.txt. @dataclass a@b.de\n\n"
        '<file path="a.txt">\nHELD $1 !`ls` @b.txt\n</file>'
    )


async def test_a_file_may_be_named_by_an_argument_and_a_backslash_takes_the_meaning_away() -> None:
    text, _, read = await filled("Explain @$1: \\$1 \\@a.txt \\!`ls`", "a.txt")
    assert read == ["a.txt"]
    assert text.startswith("Explain a.txt: $1 @a.txt !`ls`")


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("!`$1ARGUMENTS@a.{}who \\\"'\n"), max_size=40), NASTY)
def test_no_argument_adds_a_command_or_a_file(text: str, value: str) -> None:
    try:
        template = Template(text)
    except BadTemplateError:
        return
    harmless = Given(words=("x",), text="x", named={"who": "x"})
    nasty = Given(words=(value,), text=value, named={"who": value})
    kinds = [[type(p) for p in template.filled(g) if isinstance(p, Line)] for g in (harmless, nasty)]
    assert kinds[0] == kinds[1]
    includes = [sum(isinstance(p, Include) for p in template.filled(g)) for g in (harmless, nasty)]
    assert includes[1] <= includes[0]


def test_words_for_names() -> None:
    assert name_words(["what", "where"], ["a", "b", "c"]) == {"what": "a", "where": "b c"}
    assert name_words(["what", "where"], ["where=b c", "a", "d"]) == {"where": "b c", "what": "a d"}
    assert name_words(["what", "where"], ["a"]) == {"what": "a"}
    assert words_of("a 'b c' \"d") == ("a", "'b", "c'", '"d')
