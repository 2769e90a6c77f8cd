"""`find` and `xargs`: files by the dozen, and what is done to each."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

from gongfu.permissions.shell.command import Command, options, until_command
from gongfu.permissions.shell.tables import READS, names
from gongfu.permissions.shell.words import UNKNOWN, Word
from gongfu.workspace.protect import mentions_protected, why_protected

_XARGS = "-I -n -L -P -s -d -a -E -R -S -J --max-args --max-lines --max-procs --max-chars --delimiter --arg-file"
_ENTRIES = 20_000
_LEFTOVERS = (
    r"__pycache__|\*\.(py[cod]|o|class|sw[op]|tmp|egg-info)|\*~|\.(pytest|mypy|ruff)_cache|\.DS_Store|\.coverage"
    r"|node_modules"
)
"""What tools leave lying about: names that nothing of git's own has."""
_TESTS = names("-type -name -iname -path -maxdepth -mindepth -delete -print -prune -depth -exec -print0")
_HERE = Word(text=".", source=".")


def xargs(c: Command) -> None:
    """`xargs`: the command gets further words that nobody knows."""
    valued = _XARGS
    c.add("read")
    for name, value in options(c.args, valued)[0]:
        if name in ("-a", "--arg-file"):
            c.read(value)
    words = until_command(c.args, valued)
    if not words:
        return  # it only prints
    marks = [v.text for n, v in options(c.args, valued)[0] if n in ("-I", "-J", "--replace") and v.text] or ["{}"]
    lists = _lists_files(c) and not _has_blanks(c)
    if lists and words[0].text in ("sed", "gsed") and _only_code(c) and all(w.literal for w in words):
        c.run([w for w in words if w.text not in marks])
        c.add("write")
        return
    if words[0].text in READS and lists:
        c.run([*(_HERE if w.text in marks else w for w in words), _HERE])
        if not _only_code(c):
            for place in c.state.places:
                if place is None or mentions_protected("grep -r x .", Path(place), c.state.workspace, windows=False):
                    c.add("credential", why="protected_secret", about=words[0].text)
        return
    c.run([*(_replaced(w, marks) for w in words), UNKNOWN])


def _lists_files(c: Command) -> bool:
    """Whether what comes through the pipe are names of files below the folder that the line runs in."""
    if c.simple.stdin != "pipe" or not c.simple.before:
        return False
    first, *more = c.simple.before
    if re.search(r"[$`;&<>(]|(^|[\s'\"=])(/|~|-\w*/)|\.\.|-exec|-ok|-f?printf|-fls|-delete|--format|-C", first):
        return False
    if re.match(r"find |git ls-files|fd |rg (.* )?(--files|-l|--files-with-matches)|grep (.* )?-\w*l", first) is None:
        return False
    return all(re.fullmatch(r"(head|tail|sort|uniq)( -\w+)*|grep -[vEi]+ [^$`]*", m) for m in more)


def _has_blanks(c: Command) -> bool:
    """Whether a name below holds what xargs takes for the end of one: its second half would be a path of its own."""
    if any(re.match(r"-\w*0|--null|-d", text) for text in c.texts()):
        return False
    seen = 0
    for place in c.state.places:
        for _, folders, files in os.walk(place or os.sep):
            seen += len(folders) + len(files)
            if seen > _ENTRIES:
                return False
            if any(re.search(r"[\s'\"\\]", name) for name in (*folders, *files)):
                return True
    return False


def _only_code(c: Command) -> bool:
    """Whether a pattern keeps secrets out of the names."""
    first = c.simple.before[0]
    match = re.search(r"-name ['\"]?\*\.(\w+)['\"]?( |$)", first)
    if match is None or re.search(r" (-o|-or|!|-not|,) ", first):
        match = re.fullmatch(
            r"(?:grep|rg) (?!.*(?: -\w*u| --hid| --no-| -\.))[^|]*(?:--include=| -g )'?\*(\.\w+)'?( [^|]*)?", first
        )
        if match is None or first.count("--include") + first.count(" -g ") != 1:
            return first.startswith("git ls-files")
        return not why_protected(c.state.workspace.root / f"x{match[1]}", c.state.workspace, write=False)
    return not why_protected(c.state.workspace.root / f"x.{match[1]}", c.state.workspace, write=False)


def _replaced(word: Word, marks: list[str]) -> Word:
    if any(mark in word.text for mark in marks):
        return Word(text=word.text, source=word.source, literal=False)
    return word


def find(c: Command) -> None:
    """`find`: it reads, unless one of its actions deletes, writes or runs."""
    c.add("read")
    c.seen()
    args = c.args
    starts: list[Word] = []
    i = 0
    while i < len(args) and not re.match(r"[-(!),]", args[i].text or " "):
        starts.append(args[i])
        i += 1
    if args and args[0].text in ("-H", "-L", "-P", "-D") and not starts:
        starts = [a for a in args[1:2] if not a.text.startswith("-")]
    c.read(*(starts or [Word(text=".")]))
    while i < len(args):
        text = args[i].text
        i += 1
        if text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = i
            while end < len(args) and args[end].text not in (";", "+"):
                end += 1
            _find_runs(c, args[i:end], args[: i - 1])
            i = end
        elif text == "-delete":
            if _is_leftover(args[: i - 1]):
                c.add("write")
            else:
                c.add("destructive", why="shell_destructive", about="find -delete")
        elif text in ("-fprint", "-fls", "-fprint0", "-fprintf"):
            c.write(*args[i : i + 1])
        elif text in ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from") or text.startswith("-newer"):
            c.paths(args[i : i + 1])


def _named(before: list[Word], option: str) -> list[str]:
    return [value.text for name, value in pairwise(before) if name.text == option and value.literal]


def _is_leftover(before: list[Word]) -> bool:
    """Whether what `find` has chosen so far is nothing but what tools make again."""
    if not all(
        w.literal and (not w.text.startswith("-") or w.text in _TESTS) and w.text not in "!(),\\" for w in before
    ):
        return False
    return any(re.fullmatch(_LEFTOVERS, name) for name in _named(before, "-name"))


def _is_code(c: Command, before: list[Word]) -> bool:
    """Whether `find` has chosen nothing but regular files with an end to their names that no secret has."""
    if not all(w.literal and (not w.text.startswith("-") or w.text in _TESTS) for w in before):
        return False
    if _named(before, "-type") != ["f"] or any(w.text in ("!", "(", ",") for w in before):
        return False
    ends = [re.fullmatch(r"\*(\.\w+)", name) for name in _named(before, "-name")]
    root = c.state.workspace.root
    return any(end is not None and not why_protected(root / f"x{end[1]}", c.state.workspace) for end in ends)


def _find_runs(c: Command, words: list[Word], before: list[Word]) -> None:
    if not words:
        c.unseen("-exec")
        return
    bare = [w for w in words if w.text != "{}"]
    removing = bare[0].text == "rm" and all(re.fullmatch(r"rm|-[rfv]+", w.text) for w in bare)
    if removing and _is_leftover(before[:-1] if before[-1:] and before[-1].text == "-exec" else before):
        c.add("write")
        return
    if (bare[0].text in READS or bare[0].text == "sed") and all(w.literal for w in words) and _is_code(c, before):
        c.run(bare)
        if bare[0].text == "sed":
            c.add("write")
        return
    c.run([_replaced(w, ["{}"]) for w in words] if not _harmless(words) else words[:1])


def _harmless(words: list[Word]) -> bool:
    """Whether what `find` hands over can do no harm: it prints what lies below where `find` looks."""
    return words[0].text in ("echo", "ls", "basename", "dirname", "stat", "wc", "file", "test", "du") and all(
        w.literal for w in words
    )
