"""The two small languages that stand in many lines: awk and sed."""

from __future__ import annotations

import re

from gongfu.permissions.shell.command import Command, options
from gongfu.permissions.shell.tables import names

_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?|\d+~\d+)"
_RANGE = rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|[+~]\d+))?\s*!?\s*)?"
_SUBSTITUTE = (
    r"s(?:/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.|\\\n)*/|\|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\|"
    r"|#(?:[^#\\\n]|\\.)*#(?:[^#\\\n]|\\.)*#|,(?:[^,\\\n]|\\.)*,(?:[^,\\\n]|\\.)*,|@(?:[^@\\\n]"
    r"|\\.)*@(?:[^@\\\n]|\\.)*@)"
    r"[gpiI0-9]*"
)
_OTHER = r"[pdDPnNhHgGxl=q]|q\d+|y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/|[aic]\\?[^\n]*"
_COMMAND = rf"\s*{_RANGE}(?:{_SUBSTITUTE}|{_OTHER})\s*"
_SCRIPT = rf"(?:{_COMMAND}(?:[;\n]{_COMMAND})*[;\n]?\s*)?"
_USUAL = r"\d+(?:,(?:\d+|\$))?[pdq]"
"""Lines by their numbers: most scripts are that, and it compiles in no time."""
_KNOWN = names(
    "-e -f -l -n -r -E -s -u -z -i --expression --file --quiet --silent --regexp-extended --in-place "
    "--null-data --separate "
    "--debug --posix --sandbox --version --help --unbuffered --line-length --follow-symlinks"
)


def sed(c: Command) -> None:
    """`sed`: it reads, writes with `-i`, and can write and run by commands of its own."""
    found, rest = options(c.args, "-e -f -l --expression --file --line-length")
    scripts = [value for name, value in found if name in ("-e", "--expression")]
    files = [value for name, value in found if name in ("-f", "--file")]
    in_place = any(name == "-i" or ("--in-place".startswith(name) and len(name) > 2) for name, _ in found) or any(
        re.match(r"-[nrEsuz]*i", a.text) for a in c.args
    )
    if any(name not in _KNOWN for name, _ in found) and not in_place:
        c.unseen()
    if files:
        c.read(*files)
        c.unseen("-f")
    if not scripts and not files and rest:
        scripts, rest = rest[:1], rest[1:]
    for script in scripts:
        if not script.literal or not is_plain_sed(script.text):
            c.unseen(script.source)
    c.add("read")
    for name, value in found:
        if in_place and name in ("-i", "--in-place") and "/" in value.text:
            c.unseen("-i")
    if in_place:
        c.write(*rest)
    else:
        c.read(*rest)


def is_plain_sed(script: str) -> bool:
    """Whether a script of sed only edits what flows through it."""
    if re.fullmatch(_USUAL, script):
        return True
    if len(script) > 2_000 or re.search(r"\[[^\]]*[/|]", script):
        return False
    return re.fullmatch(_SCRIPT, script) is not None


def awk(c: Command) -> None:
    """`awk`: it reads, unless its program runs or writes something."""
    found, rest = options(c.args, "-F -v -f --field-separator --assign --file")
    c.add("read")
    for name, value in found:
        if name == "-f":
            c.read(value)
        if name not in ("-F", "-v", "--field-separator", "--assign", "--version") or not value.literal:
            c.unseen(name)
    program, rest = rest[:1], rest[1:]
    for word in program:
        if not word.literal or not is_plain_awk(word.text):
            c.unseen(word.source)
    for arg in rest:
        if "=" not in arg.text or "/" in arg.text:
            c.read(arg)


def is_plain_awk(program: str) -> bool:
    """Whether a program of awk only prints: it runs, loads, opens and writes nothing."""
    whole = program.replace("\\\n", " ")
    if re.search(r"system|getline|@|fflush|close|extension|ENVIRON|PROCINFO|ARGV|ARGC|print[^;}\n]*>", whole):
        return False
    return re.search(r"(?<!\|)\|(?!\|)", re.sub(r"/[^/\"\s(){};]*/", "", whole)) is None
