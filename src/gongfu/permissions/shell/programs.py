"""Programs that read, that run code, and that reach beyond the workspace."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from gongfu.permissions.shell.awk_sed import awk, sed
from gongfu.permissions.shell.code import interpreter
from gongfu.permissions.shell.command import Command, is_option, options
from gongfu.permissions.shell.git import git
from gongfu.permissions.shell.services import (
    asks_version,
    cloud,
    credentials,
    database,
    destroys,
    docker,
    gpg,
    network,
    packages,
    privileged,
)
from gongfu.permissions.shell.tables import (
    CHECKED,
    CLOUDS,
    CREDENTIALS,
    DANGEROUS_NAMES,
    DATABASES,
    DESTROYERS,
    INTERPRETERS,
    NETWORK,
    PACKAGES,
    PATTERN_FIRST,
    PRIVILEGED,
    PURE,
    READS,
    UNSEEN,
)
from gongfu.permissions.shell.words import Word
from gongfu.workspace.environment import is_secret

Handler: TypeAlias = Callable[[Command], None]


def generic(c: Command) -> None:
    """A program that nothing is known of: it runs code, and may touch the paths that it is given."""
    c.add("run")
    c.seen()
    c.paths()
    if c.found.hosts:
        c.add("network")


def _pure(c: Command) -> None:
    c.add("read")


def _checked(c: Command) -> None:
    """Builtins that evaluate names and sums: a substitution in quotes would run."""
    c.add("read")
    risky = c.name in (
        "let",
        "unset",
        "getopts",
        "local",
        "declare",
        "typeset",
        "readonly",
        "export",
        "mapfile",
        "readarray",
    )
    for arg in c.args:
        if (risky and not arg.literal and "=" not in arg.source) or re.search(r"\$\(|`|\$\{|\[", arg.text.strip("[]")):
            c.unseen(arg.source)
        name, sign, value = arg.text.partition("=")
        if not sign and c.name not in ("test", "[", "[[") and re.fullmatch(DANGEROUS_NAMES, name):
            c.add("unknown", why="shell_overrides", about=name)
        if sign and risky:
            from gongfu.permissions.shell.rate import assignment  # they need each other

            assignment(name, Word(text=value, literal=arg.literal), c.found)
    if c.name == "printf" and c.texts()[:1] == ["-v"] and not all(a.plain for a in c.args[:2]):
        c.unseen()
    if c.name in ("mapfile", "readarray") and c.has("-C"):
        c.unseen("-C")
    if c.name in ("declare", "typeset", "local") and c.has("-n", "-f"):
        c.unseen("-n")


def _set(c: Command) -> None:
    c.add("read")


def _reads(c: Command) -> None:
    """Programs that read files, unless an option makes them do more."""
    c.add("read")
    harmful = READS[c.name].split()
    before_end = c.args
    for at, arg in enumerate(c.args):
        if arg.literal and arg.text == "--":
            before_end = c.args[:at]
            break
    for arg in before_end:
        for name in harmful:
            if arg.text.startswith("-") and is_option(arg.text, name):
                c.unseen(arg.text)
    if c.name == "less" and any(t.startswith("+") for t in c.texts()):
        c.unseen("+")
    args = _without_substitutions(c)
    if c.name in PATTERN_FIRST and not any(re.match(r"-[a-zA-Z]*[ef]|--(regexp|file)", t) for t in c.texts()):
        for at, arg in enumerate(args):
            if not arg.text.startswith("-"):
                if not arg.literal:
                    c.unseen(arg.source)
                del args[at]
                break
    c.paths(args, always=c.name not in ("ps", "pgrep", "lsof", "numfmt"))
    if (
        not any(not a.text.startswith("-") for a in args)
        and not c.simple.stdin
        and c.name in ("ls", "du", "tree", "rg", "fd")
    ):
        c.read(Word(text="."))


def _without_substitutions(c: Command) -> list[Word]:
    """The arguments without `<(…)`, which is rated for itself, where it can only be read."""
    if c.name not in ("diff", "comm", "cat", "paste", "join", "wc", "sort"):
        return list(c.args)
    return [a for a in c.args if a.literal or not re.fullmatch(r"<\([^()]*\)", a.source)]


def _uniq(c: Command) -> None:
    """`uniq` and `xxd` write their second file."""
    _, rest = options(c.args, "-f -s -w -c -g -l -o -n -R")
    c.add("read")
    c.read(*rest[:1])
    c.write(*rest[1:])
    c.paths([a for a in c.args if a not in rest])


def _env_values(c: Command) -> None:
    """`printenv`: a secret by its name is one."""
    c.add("read")
    for text in c.texts():
        if is_secret(text, ""):
            c.add("credential", why="shell_credential", about=text)


def _unseen(c: Command) -> None:
    if asks_version(c):
        return
    c.unseen()
    c.paths()


def _kill(c: Command) -> None:
    """Signals: to a job of this shell, or to the processes of others."""
    c.add("read")
    if c.has("-l", "-L", "--list") and c.name == "kill":
        return
    texts = [t for t in c.texts() if t]
    if texts[:1] == ["-0"]:
        return
    for arg in c.args:
        name = re.fullmatch(r'"?\$\{?(\w+)\}?"?', arg.source)
        job = arg.source in ("$!", '"$!"') or (name is not None and c.walker.holds_job(name[1]))
        if job or arg.text.startswith("%"):
            c.add("run")
        elif not arg.literal:
            c.unseen(arg.source)
        elif re.fullmatch(r"-?\d+", arg.text) and (
            arg is not c.args[0] or not arg.text.startswith("-") or len(c.args) == 1
        ):
            c.add("destructive", why="shell_kills", about=arg.text)


def _fuser(c: Command) -> None:
    c.add("read")
    c.paths()
    if c.has("-k", "--kill"):
        c.add("destructive", why="shell_kills", about=c.name)


def _ps(c: Command) -> None:
    """`ps e` shows the environment of processes, and keys in it."""
    c.add("read")
    c.seen()
    for before, text in zip(["", *c.texts()], c.texts(), strict=False):
        valued = before.startswith("-") and before[-1:] in "oCupgGstU"
        if (not text.startswith("-") and not valued and re.fullmatch(r"\w*e\w*", text)) or re.match(
            r"-[A-Za-z]*E", text
        ):
            c.add("credential", why="shell_credential", about="ps e")


def _man(c: Command) -> None:
    c.add("read")
    c.seen()
    c.paths()
    if c.has(
        "-P",
        "--pager",
        "-H",
        "--html",
        "-C",
        "--config-file",
        "-X",
        "--gxditview",
        "-l",
        "--local-file",
        "-M",
        "-R",
        "-p",
        "-K",
    ):
        c.unseen()


def _clip(c: Command) -> None:
    c.add("outside")


def _make(c: Command) -> None:
    c.add("run")
    c.seen()
    c.paths()
    if c.found.hosts:
        c.add("network")
    for text in c.texts():
        if re.match(r"(SHELL|MAKEFLAGS|MAKEFILES|PATH|CC|LD)\W*=", text) or is_eval(text):
            c.unseen(text)
    if c.simple.stdin and set(c.texts()) & {"-f-", "-", "/dev/stdin"}:
        c.unseen()


def is_eval(text: str) -> bool:
    """Whether an argument of make is read as make's own language."""
    return "--eval" in text or text.startswith(("--ev", "-E")) or "$(shell" in text


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(PURE, _pure),
    **dict.fromkeys(CHECKED, _checked),
    **dict.fromkeys(READS, _reads),
    **dict.fromkeys(PRIVILEGED, privileged),
    **dict.fromkeys(DESTROYERS, destroys),
    **dict.fromkeys(NETWORK, network),
    **dict.fromkeys(CREDENTIALS, credentials),
    **dict.fromkeys(CLOUDS, cloud),
    **dict.fromkeys(PACKAGES, packages),
    **dict.fromkeys(DATABASES, database),
    **dict.fromkeys(INTERPRETERS, interpreter),
    **dict.fromkeys(UNSEEN, _unseen),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), awk),
    **dict.fromkeys(("sed", "gsed"), sed),
    **dict.fromkeys(("uniq", "xxd"), _uniq),
    **dict.fromkeys(("gpg", "gpg2", "gpgsm"), gpg),
    **dict.fromkeys(("kill",), _kill),
    **dict.fromkeys(("docker", "docker-compose"), docker),
    **dict.fromkeys(("xclip", "xsel", "pbpaste", "pbcopy", "wl-copy", "wl-paste", "open", "xdg-open", "clip"), _clip),
    **dict.fromkeys(("make", "gmake", "ninja", "just", "cmake", "bmake"), _make),
    "set": _set,
    "printenv": _env_values,
    "fuser": _fuser,
    "man": _man,
    "ps": _ps,
    "mkfs": destroys,
    "git": git,
}
