"""What bash really runs of a line is among the parts that are rated, or the line is not vouched for."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from gongfu.permissions.shell.words import quoted

from .conftest import Rate

BASH = shutil.which("bash") or ""
WORDS = [
    "a", "b", "-x", "'q r'", '"d e"', '"$y"', "$y", "a\\ b", "{a,b}", "$'n\\n'", "é", "$(C)", "`C`", '"$(C)"',
    "${y:-C}", "<(C)",
    "a'b'\"c\"", "*", "~", "$((1+2))", "]", "[", "#x", "a#b", "=", "x=1", "!", "%1", "a=b", "\\;", "{}", "+",
    "^", "a\\\nb", '"a\\\nb"',
    "$", "a$", '"$"', "]]", "1", "2", "--", '""', "''", '"\\""', "'\\'", "'`'", '"\\`"', '"\\$(C)"', "'$(C)'",
    "$(C # c\n)", "${y#a}",
]  # fmt: skip
ENDS = [
    " >o", " 2>&1", " >o 2>o", " <<<x", " &>o", " <<E\n$(foo h)\nE\n", " <<'E'\n$(foo h)\nE\n",
    " <<-E\n\tx\n\tE\n", " <<E | bar\nx\nE\n",
    " <<E && bar\nx\nE\n", " <<E c\nx\nE\n", " >o c", " # c\n", ' <<"E"\n`foo`\nE\n', " <<E\n`foo h`\n\\$(bar)\nE\n",
]  # fmt: skip
SHAPES = [
    "A; B", "A && B", "A || B", "A | B", "( A )", "{ A; }", "if A; then B; else A; fi",
    "for i in a b; do A; done", "f() { A; }; f",
    "case a in a) A;; b) B;; esac", "A\nB", "! A", "A |& B", "while A; do B; break; done",
    "until A; do B; break; done", "A && { B; }",
    "((1)); A", "[[ a ]] && A", "[ a ] || A", "function g { A; }; g", "A;\nB", "eval 'A'", "x=$(A)", "x=`A`; B",
    "echo A", "A; }", "A )",
]  # fmt: skip
LOGGED = 'command_not_found_handle() { printf "%s\\0" "$@" end-of-call >> "$LOG"; }; eval "$LINE"; wait'


def word(rnd: random.Random, depth: int) -> str:
    chosen = rnd.choice(WORDS)
    return chosen.replace("C", command(rnd, depth + 1)) if "C" in chosen else chosen


def command(rnd: random.Random, depth: int = 0) -> str:
    """A line of programs that there are not, in all the shapes that a shell knows."""
    if depth > 2:
        return "foo"
    if depth > 1 or rnd.random() < 0.55:
        text = rnd.choice(["foo", "bar", "baz", "fo\\o", "f'o'o", '"foo"', "y=1 foo", " foo", "\tfoo"])
        for _ in range(rnd.randint(0, 3)):
            text += rnd.choice([" ", " ", "  ", "\t", " \\\n "]) + word(rnd, depth)
        return text + (rnd.choice(ENDS) if rnd.random() < 0.25 else "")
    return rnd.choice(SHAPES).replace("A", command(rnd, depth + 1)).replace("B", command(rnd, depth + 1))


def ran(line: str, folder: Path) -> list[list[str]]:
    """The commands that bash looks for."""
    log = folder / "log"
    log.write_bytes(b"")
    env = {"PATH": "/nonexistent", "LINE": line, "HOME": "/home/me", "LOG": str(log)}
    nothing = subprocess.DEVNULL
    subprocess.run(
        [BASH, "-c", LOGGED],
        env=env,
        cwd=folder,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        timeout=20,
        check=False,
    )
    calls = log.read_bytes().split(b"end-of-call\0")[:-1]
    return [[word.decode() for word in call.split(b"\0")[:-1]] for call in calls]


@pytest.mark.skipif(not BASH or os.name == "nt", reason="there is no bash here")
@pytest.mark.parametrize("seed", range(4))
def test_bash_runs_nothing_that_was_not_rated(rate: Rate, tmp_path: Path, seed: int) -> None:
    rnd = random.Random(seed)
    checked = 0
    for _ in range(300):
        line = command(rnd)
        rated = rate(line)
        if "unknown" in rated.ratings:
            continue
        checked += 1
        texts = [part.text for part in rated.parts]
        for words in ran(line, tmp_path):
            spelled = " ".join([quoted(words[0], first=True), *map(quoted, words[1:])])
            assert any(_covers(text, spelled, words[0]) for text in texts), (line, spelled, texts)
    assert checked > 50


def _covers(text: str, spelled: str, name: str) -> bool:
    """Whether a part is that command; words that depend on what runs are compared by the name of the command alone."""
    if text == spelled or text.startswith(f"{spelled} ") or text.endswith(f" {spelled}"):
        return True
    depends = any(sign in text for sign in "$*?~[{`<=")
    return depends and name in text.split()
