"""Programs that reach beyond the workspace: the system, the network, services, keys."""

from __future__ import annotations

import re

from gongfu.permissions.shell.command import Command
from gongfu.permissions.shell.tables import FETCHES, INSTALLERS, KEYS, LOSES, PUBLISHES, SECRETS

_LOSING_SQL = r"(?is)\b(drop|truncate)\b|\bdelete\s+from\b(?!.*\bwhere\b)|\bupdate\b(?!.*\bwhere\b)|\balter\b"
_ASKS = ("--version", "-V", "--help", "-h", "version", "help", "-v", "-version")


def asks_version(c: Command) -> bool:
    """Whether a program is only asked for its version or help."""
    if len(c.args) == 1 and c.args[0].plain and c.args[0].text in _ASKS[:4]:
        c.add("read")
        return True
    return False


def privileged(c: Command) -> None:
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


def destroys(c: Command) -> None:
    c.add("destructive", why="shell_destructive", about=c.name)
    c.paths(write=True)


def network(c: Command) -> None:
    c.add("network")
    c.seen()
    c.paths()
    runs = c.has("-e", "-c", "--exec", "--sh-exec") or re.search(r"(?i)exec:|system:", " ".join(c.texts()))
    if c.name in ("nc", "ncat", "netcat", "socat", "rsh") and runs:
        c.unseen()
    if c.name in ("rclone", "gsutil", "s3cmd", "mc", "redis-cli", "mongo", "mongosh", "ip") and {
        t.lower() for t in c.texts()
    } & (LOSES | {"flushall", "flushdb", "sync", "purge"}):
        c.add("destructive", why="shell_destructive", about=c.name)
    for text in c.texts():
        if re.fullmatch(r"(?:[\w.-]+@)?[\w-]+(?:\.[\w-]+)+(?::\S*)?", text) and "/" not in text:
            c.found.hosts[text.rpartition("@")[2].partition(":")[0].lower()] = None


def credentials(c: Command) -> None:
    if c.name == "ssh-keygen" and c.has("-l", "-F"):
        c.paths(always=False)
    c.add("credential", why="shell_credential", about=c.name)
    c.paths(always=False)
    if c.name in ("vault", "aws-vault", "ssh-copy-id", "ssh-keyscan", "bw", "op", "kinit"):
        c.add("network")


def gpg(c: Command) -> None:
    if not asks_version(c):
        c.add("run", "credential", why="shell_credential", about=c.name)
        c.paths()


def packages(c: Command) -> None:
    """Package managers: most of what they do runs code, and fetches it first."""
    if asks_version(c):
        return
    c.add("run")
    if not c.seen():
        return
    c.paths()
    words = [t for t in c.texts() if not t.startswith("-")]
    if (
        c.name in ("npx", "uvx", "pnpx", "bunx", "pipx", "twine", "deno")
        or set(words[:2]) & FETCHES
        or (not words and c.name in ("yarn", "pnpm"))
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
        or c.has("-g", "--global", "--user", "--system", "--target", "--prefix")
        or c.name in ("brew", "pipx")
    ):
        c.add("outside")
    if c.name in ("uv", "poetry", "pdm", "hatch", "rye", "pipenv", "bundle", "conda", "mamba", "npm", "pnpm", "yarn"):
        _runs_another(c)


def _runs_another(c: Command) -> None:
    """`uv run …`, `npm exec -- …`: what it runs is looked at, too."""
    for at, word in enumerate(c.args):
        if word.text in ("run", "exec", "x") and at <= 2:
            rest = list(c.args[at + 1 :])
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


def cloud(c: Command) -> None:
    """Programs that steer services elsewhere."""
    texts = c.texts()
    if asks_version(c):
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


def docker(c: Command) -> None:
    words = [t for t in c.texts() if not t.startswith("-")]
    if asks_version(c):
        return
    c.seen()
    c.paths()
    c.add("network")
    if words[:1] == ["compose"] and words[1:2] in (
        ["ps"],
        ["logs"],
        ["config"],
        ["images"],
        ["top"],
        ["ls"],
        ["version"],
    ):
        return
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


def database(c: Command) -> None:
    if asks_version(c):
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
