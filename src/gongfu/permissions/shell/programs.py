"""Programs that read, that run code, and that reach beyond the workspace."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from gongfu.permissions.shell.awk_sed import awk, sed
from gongfu.permissions.shell.code import interpreter
from gongfu.permissions.shell.command import Command, is_option, options
from gongfu.permissions.shell.git import git
from gongfu.permissions.shell.tables import (
    CHECKED,
    CLOUDS,
    CREDENTIALS,
    DATABASES,
    DESTROYERS,
    FETCHES,
    INSTALLERS,
    INTERPRETERS,
    KEYS,
    LOSES,
    NETWORK,
    PACKAGES,
    PATTERN_FIRST,
    PRIVILEGED,
    PUBLISHES,
    PURE,
    READS,
    SECRETS,
    UNSEEN,
)
from gongfu.permissions.shell.words import Word
from gongfu.workspace.environment import is_secret

Handler: TypeAlias = Callable[[Command], None]

_LOSING_SQL = r"(?is)\b(drop|truncate)\b|\bdelete\s+from\b(?!.*\bwhere\b)|\bupdate\b(?!.*\bwhere\b)|\balter\b"
_ASKS = ("--version", "-V", "--help", "-h", "version", "help", "-v", "-version")


def generic(c: Command) -> None:
    """A program that nothing is known of: it runs code, and may touch the paths that it is given."""
    c.add("run")
    c.seen()
    c.paths()
    if c.found.hosts:
        c.add("network")


def _asks_version(c: Command) -> bool:
    """Whether a program is only asked for its version or help."""
    if len(c.args) == 1 and c.args[0].plain and c.args[0].text in _ASKS[:4]:
        c.add("read")
        return True
    return False


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
    args = list(c.args)
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


def _privileged(c: Command) -> None:
    c.paths(always=False)
    texts = c.texts()
    if c.name in ("date", "hostname"):
        changes = (
            c.has("-s", "--set", "-b", "-F", "--file")
            or (c.name == "hostname" and any(not t.startswith("-") for t in texts))
            or (c.name == "date" and any(re.fullmatch(r"\d[\d.]+", t) for t in texts))
        )
        c.add("privilege" if changes or not c.seen() else "read")
        return
    if c.name == "systemctl" and texts and texts[0] in ("status", "is-active", "is-enabled", "list-units", "--version"):
        c.add("read")
        return
    if c.name in ("dpkg", "rpm", "pacman") and texts[:1] and re.match(r"-(l|L|s|S|q\w*|Q\w*)$", texts[0]):
        c.add("read")
        return
    if c.name == "mount" and not texts:
        c.add("read")
        return
    c.add("privilege", why="shell_privilege", about=c.name)
    c.seen()
    if c.name in INSTALLERS:
        c.add("network", "run")
        if set(texts) & {"remove", "purge", "autoremove", "erase", "-R", "-Rs", "del"}:
            c.add("destructive")


def _destroys(c: Command) -> None:
    c.add("destructive", why="shell_destructive", about=c.name)
    c.paths(write=True)


def _network(c: Command) -> None:
    c.add("network")
    c.seen()
    c.paths()
    if c.name in ("nc", "ncat", "netcat", "socat", "rsh"):
        if c.has("-e", "-c", "--exec", "--sh-exec") or re.search(r"(?i)exec:|system:", " ".join(c.texts())):
            c.unseen()
    if c.name in ("rclone", "gsutil", "s3cmd", "mc", "redis-cli", "mongo", "mongosh", "ip") and set(
        t.lower() for t in c.texts()
    ) & (LOSES | {"flushall", "flushdb", "sync", "purge"}):
        c.add("destructive", why="shell_destructive", about=c.name)
    for text in c.texts():
        if re.fullmatch(r"(?:[\w.-]+@)?[\w-]+(?:\.[\w-]+)+(?::\S*)?", text) and "/" not in text:
            c.found.hosts[text.rpartition("@")[2].partition(":")[0].lower()] = None


def _credentials(c: Command) -> None:
    if c.name == "ssh-keygen" and c.has("-l", "-F"):
        c.paths(always=False)
    c.add("credential", why="shell_credential", about=c.name)
    c.paths(always=False)
    if c.name in ("vault", "aws-vault", "ssh-copy-id", "ssh-keyscan", "bw", "op", "kinit"):
        c.add("network")


def _gpg(c: Command) -> None:
    if not _asks_version(c):
        c.add("run", "credential", why="shell_credential", about=c.name)
        c.paths()


def _unseen(c: Command) -> None:
    if _asks_version(c):
        return
    c.unseen()
    c.paths()


def _packages(c: Command) -> None:
    """Package managers: most of what they do runs code, and fetches it first."""
    if _asks_version(c):
        return
    c.add("run")
    if not c.seen():
        return
    c.paths()
    words = [t for t in c.texts() if not t.startswith("-")]
    if (
        c.name in ("npx", "uvx", "pnpx", "bunx", "pipx", "twine", "deno")
        or set(words[:2]) & FETCHES
        or not words
        and c.name in ("yarn", "pnpm")
    ):
        c.add("network")
    if c.name == "twine" or (set(words[:2]) & PUBLISHES and words[:1] != ["run"]):
        c.add("network", "destructive", why="shell_publishes", about=c.name)
    if set(words[:1]) & KEYS:
        c.add("credential", "network", why="shell_credential", about=c.name)
    if set(words[:1]) & {"uninstall", "remove", "rm", "clean"} and c.name in ("conda", "mamba", "brew"):
        c.add("destructive")
    if (
        "global" in words[:1]
        or c.has("--global", "--user", "--system", "--target", "--prefix")
        or c.name in ("brew", "pipx")
    ):
        c.add("outside")
    if c.name in ("uv", "poetry", "pdm", "hatch", "rye", "pipenv", "bundle", "conda", "mamba", "npm", "pnpm", "yarn"):
        _runs_another(c)


def _runs_another(c: Command) -> None:
    """`uv run …`, `npm exec -- …`: what it runs is looked at, too."""
    for at, word in enumerate(c.args):
        if word.text in ("run", "exec", "x") and at <= 2:
            rest = [a for a in c.args[at + 1 :]]
            while rest and rest[0].text.startswith("-"):
                takes = rest[0].text in (
                    "-n",
                    "--name",
                    "-p",
                    "--python",
                    "--with",
                    "--package",
                    "--extra",
                    "--group",
                    "-c",
                )
                rest = rest[2:] if takes else rest[1:]
            if rest and not (c.name in ("npm", "pnpm", "yarn") and word.text == "run"):
                c.run(rest)
            return


def _cloud(c: Command) -> None:
    """Programs that steer services elsewhere."""
    texts = c.texts()
    if _asks_version(c):
        return
    c.add("network", why="shell_network", about=c.name)
    c.seen()
    c.paths()
    words = {t for t in texts if not t.startswith("-")}
    joined = " ".join(texts)
    if c.name in ("gh", "glab") and words & {"api", "alias", "extension", "codespace", "ssh"}:
        c.unseen()
    if c.name in ("ansible", "ansible-playbook", "vagrant", "packer") or words & {
        "exec",
        "ssh",
        "run",
        "cp",
        "port-forward",
    }:
        c.add("run")
    if words & LOSES or any(
        t.startswith(("delete", "terminate", "remove", "destroy", "-destroy", "-auto-approve")) for t in texts
    ):
        c.add("destructive", why="shell_destructive", about=f"{c.name} {joined}")
    if words & SECRETS or re.search(
        r"configure (get|export)|get-secret|secretsmanager|ssm get|login|print-\w+-token|kms|iam", joined
    ):
        c.add("credential", why="shell_credential", about=f"{c.name} {joined}")


def _docker(c: Command) -> None:
    words = [t for t in c.texts() if not t.startswith("-")]
    if _asks_version(c):
        return
    c.seen()
    c.paths()
    c.add("network")
    if words[:1] and words[0] in (
        "ps",
        "images",
        "version",
        "info",
        "logs",
        "inspect",
        "top",
        "stats",
        "port",
        "history",
    ):
        return
    if words[:1] and words[0] in ("login", "logout"):
        c.add("credential", why="shell_credential", about="docker login")
    c.add("privilege", why="shell_privilege", about="docker")
    if set(words[:3]) & (LOSES | {"push", "stop"}):
        c.add("destructive", why="shell_destructive", about=" ".join(["docker", *words[:2]]))


def _database(c: Command) -> None:
    if _asks_version(c):
        return
    c.add("run")
    if c.name not in ("sqlite3", "sqlite", "duckdb"):
        c.add("network")
    c.seen()
    for arg in c.args:
        if not re.search(r"\s", arg.text):
            c.paths([arg], write=c.name in ("sqlite3", "sqlite", "duckdb"))
    text = " ".join(c.texts()) + " " + (c.simple.here or "")
    if re.search(_LOSING_SQL, text):
        c.add("destructive", why="shell_sql", about=c.name)
    known = c.simple.stdin == "here" and c.simple.here is not None
    if (c.simple.stdin and not known) or re.search(
        r"(?i)(^|\s|;)[.\\](shell|system|sh|!|output|once|read|load|import|o|i|copy|excel|edit|e|g|w)\b|\\!|\bload_extension|"
        r"readfile|writefile|copy\b.*\bprogram|into\s+(out|dump)file|load\s+data|source\s|attach",
        text,
    ):
        c.unseen()
    if c.has("-f", "--file", "-init", "--init"):
        c.unseen("-f")


def _kill(c: Command) -> None:
    """Signals: to a job of this shell, or to the processes of others."""
    c.add("read")
    if c.has("-l", "-L", "--list") and c.name == "kill":
        return
    texts = [t for t in c.texts() if t]
    if texts[:1] == ["-0"]:
        return
    for arg in c.args:
        if arg.source in ("$!", '"$!"') or arg.text.startswith("%"):
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


def _man(c: Command) -> None:
    c.add("read")
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
    **dict.fromkeys(PRIVILEGED, _privileged),
    **dict.fromkeys(DESTROYERS, _destroys),
    **dict.fromkeys(NETWORK, _network),
    **dict.fromkeys(CREDENTIALS, _credentials),
    **dict.fromkeys(CLOUDS, _cloud),
    **dict.fromkeys(PACKAGES, _packages),
    **dict.fromkeys(DATABASES, _database),
    **dict.fromkeys(INTERPRETERS, interpreter),
    **dict.fromkeys(UNSEEN, _unseen),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), awk),
    **dict.fromkeys(("sed", "gsed"), sed),
    **dict.fromkeys(("uniq", "xxd"), _uniq),
    **dict.fromkeys(("gpg", "gpg2", "gpgsm"), _gpg),
    **dict.fromkeys(("kill",), _kill),
    **dict.fromkeys(("docker", "docker-compose"), _docker),
    **dict.fromkeys(("xclip", "xsel", "pbpaste", "pbcopy", "wl-copy", "wl-paste", "open", "xdg-open", "clip"), _clip),
    **dict.fromkeys(("make", "gmake", "ninja", "just", "cmake", "bmake"), _make),
    "set": _set,
    "printenv": _env_values,
    "fuser": _fuser,
    "man": _man,
    "mkfs": _destroys,
    "git": git,
}
