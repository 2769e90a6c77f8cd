"""`find` and `xargs`: files by the dozen, and what is done to each."""

from __future__ import annotations

import re
from pathlib import Path

from gongfu.permissions.shell.command import Command, options, until_command
from gongfu.permissions.shell.tables import READS
from gongfu.permissions.shell.words import UNKNOWN, Word
from gongfu.workspace.protect import mentions_protected, why_protected

_XARGS = "-I -n -L -P -s -d -a -E -R -S -J --max-args --max-lines --max-procs --max-chars --delimiter --arg-file"
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
    if words[0].text in READS and _lists_files(c):
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


def _only_code(c: Command) -> bool:
    """Whether a pattern keeps secrets out of the names."""
    first = c.simple.before[0]
    match = re.search(r"-name ['\"]?\*\.(\w+)['\"]?( |$)", first)
    if match is None or re.search(r" (-o|-or|!|-not|,) ", first):
        return first.startswith("git ls-files")
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
            _find_runs(c, args[i:end])
            i = end
        elif text == "-delete":
            c.add("destructive", why="shell_destructive", about="find -delete")
        elif text in ("-fprint", "-fls", "-fprint0", "-fprintf"):
            c.write(*args[i : i + 1])
        elif text in ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from") or text.startswith("-newer"):
            c.paths(args[i : i + 1])


def _find_runs(c: Command, words: list[Word]) -> None:
    if not words:
        c.unseen("-exec")
        return
    c.run([_replaced(w, ["{}"]) for w in words] if not _harmless(words) else words[:1])


def _harmless(words: list[Word]) -> bool:
    """Whether what `find` hands over can do no harm: it prints what lies below where `find` looks."""
    return words[0].text in ("echo", "ls", "basename", "dirname", "stat", "wc", "file", "test", "du") and all(
        w.literal for w in words
    )
