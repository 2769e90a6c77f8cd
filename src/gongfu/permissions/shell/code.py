"""Interpreters of programming languages, and what code in an argument plainly does."""

from __future__ import annotations

import re

from gongfu.permissions.shell.command import Command
from gongfu.permissions.shell.paths import touch
from gongfu.permissions.shell.tables import INTERPRETERS
from gongfu.permissions.shell.words import Word

_LOSES = (
    r"rmtree|os\.(remove|unlink|rmdir|removedirs|truncate|kill)|\.unlink\(|\.rmdir\(|unlink|rmSync|rmdirSync|rm\s+-|File::Path"
    r"|FileUtils\.(rm|remove)|\brimraf\b|\bdd\s+if|mkfs|Remove-Item|File\.delete|Dir\.delete|del\s+/|shred|killpg|process\.kill"
)
_RUNS = (
    r"subprocess|os\.(system|popen|exec|spawn|posix_spawn|fork)|pty\.|(?<!\.)\beval\b|(?<!\.)\bexec\b|__import__|(?<!re\.)compile\(|ctypes|child_process"
    r"|(?<!platform\.)\bsystem\b|\bpopen|`|%x|Kernel|IO\.popen|Open3|shell_exec|passthru|proc_open|spawn|importlib|getattr|globals\(|builtins"
    r"|b64decode|fromhex|codecs|marshal|pickle|runpy|execSync|Function\(|qx|\bdo\s*[\"']|chr\(|fromCharCode|base64|unhexlify"
)
_NETWORK = (
    r"socket|urllib|urlopen|requests|httpx|aiohttp|http\.client|http\.server|ftplib|smtplib|telnetlib|paramiko|https?://|fetch\("
    r"|\bnet\.|LWP|open-uri|Net::|\bhttps?\.(get|request)|curl|wget|websocket|XMLHttpRequest|TCPSocket|fsockopen"
)
_KEYS = (
    r"\.ssh|id_rsa|id_ed25519|\.aws|\.env\b|\.netrc|keyring|credential|/etc/shadow"
    r"|\.gnupg|\.kube|\.docker/config|\.npmrc|\.pypirc"
)
_STRINGS = r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'"


def interpreter(c: Command) -> None:
    """An interpreter: of code in an argument, of its input, or of a file."""
    if len(c.args) == 1 and c.args[0].plain and c.args[0].text in ("--version", "-V", "--help", "-h", "-VV"):
        c.add("read")
        return
    c.add("run")
    codes = _options(c.name)
    for at, arg in enumerate(c.args):
        text = arg.text
        if not arg.literal:
            c.unseen(arg.source)
            return
        if not text.startswith("-") or text == "-":
            _file(c, arg, at)
            return
        if text == "-m" or (c.name.startswith("py") and re.fullmatch(r"-[bBdEiIOqsSuvx]*m.*", text)):
            _module(c, at, text)
            return
        if text in codes or _clustered(text, codes):
            _code_arguments(c, at)
            return
        if (
            text.startswith(("-r", "-M", "-I", "--require", "--import", "--loader", "-X", "-W", "--inspect"))
            and c.name != "perl"
        ):
            c.paths([arg])
        if c.name in ("perl", "ruby") and re.match(r"-\w*[iMmIrx]", text):
            c.unseen(text)
    _input(c)


def _options(name: str) -> list[str]:
    short = re.sub(r"[\d.]+t?$", "", name)
    return INTERPRETERS.get(name, INTERPRETERS.get(short, "-c -e")).split()


def _clustered(text: str, codes: list[str]) -> bool:
    """Code behind letters in one word: `python -Ic…`, `perl -ne`, `node --eval=…`."""
    if text.startswith("--"):
        return any(text.startswith(f"{code}=") for code in codes)
    letters = "".join(code[1] for code in codes if len(code) == 2)
    return bool(letters) and re.match(rf"-[A-Za-z0-9]*[{letters}]", text) is not None


def _code_arguments(c: Command, at: int) -> None:
    """All further arguments may be code, or belong to it."""
    for arg in c.args[at:]:
        if arg.literal:
            code(c, arg.text)
        else:
            c.unseen(arg.source)
    if c.name == "perl" and re.match(r"-\w*i", c.args[at].text):
        c.paths(c.args[at + 1 :], write=True)


def _file(c: Command, arg: Word, at: int) -> None:
    if arg.text == "-" or arg.text.startswith("/dev/"):
        _input(c)
    else:
        c.read(arg)
    c.paths(c.args[at + 1 :])
    if c.found.hosts:
        c.add("network")
    if not all(a.literal for a in c.args):
        c.unseen()


def _input(c: Command) -> None:
    """Code that is read from the input."""
    if c.simple.stdin == "here" and c.simple.here is not None:
        code(c, c.simple.here)
    elif c.simple.stdin:
        c.unseen(c.name)


def _module(c: Command, at: int, text: str) -> None:
    """`python -m NAME`: rated as a program of that name."""
    name = text.partition("m")[2] or "".join(a.text for a in c.args[at + 1 : at + 2])
    rest = c.args[at + (1 if text.partition("m")[2] else 2) :]
    if not name or not all(a.plain for a in c.args[: at + 2]):
        c.unseen()
    elif name in ("http.server", "smtpd", "xmlrpc.server", "pydoc"):
        c.add("network")
    elif name in ("pip", "uv", "poetry", "twine", "pipx", "build", "pytest", "unittest", "coverage", "venv"):
        c.run([Word(text=name, source=name), *rest])
    elif name in ("pty", "code", "pdb", "runpy", "trace"):
        c.unseen(name)
    c.paths(rest)
    if not all(a.literal for a in rest):
        c.unseen()


def code(c: Command, text: str) -> None:
    """What a piece of code in any language plainly does; all that it might do is "run"."""
    c.add("run")
    if re.search(_RUNS, text):
        c.unseen(c.name)
    if re.search(_LOSES, text):
        c.add("destructive", why="shell_destructive", about=c.name)
    if re.search(_NETWORK, text):
        c.add("network", why="shell_network", about=c.name)
        c.hosts()
    if re.search(_KEYS, text):
        c.add("credential", why="shell_credential", about=c.name)
    for match in re.finditer(_STRINGS, text):
        value = (match[1] or match[2] or "").lstrip("<>+| ")
        if value.startswith(("/", "~", "..")) and len(value) > 1 and not re.search(r"\s", value):
            where = c.state.variables.get("HOME", "/~") + value[1:] if value.startswith("~") else value
            touch(Word(text=where), c.state, c.found, write=False)
