"""Programs that run another command: they are seen through."""

from __future__ import annotations

import re
from collections.abc import Callable

from gongfu.permissions.shell.command import Command, options, until_command
from gongfu.permissions.shell.listing import find, xargs
from gongfu.permissions.shell.tables import names
from gongfu.permissions.shell.words import UNKNOWN, Word

_SIMPLE: dict[str, tuple[str, int]] = {
    **dict.fromkeys(
        names("nohup setsid builtin chronic unbuffer catchsegv dbus-run-session coproc arch torsocks prlimit"), ("", 0)
    ),
    **dict.fromkeys(names("chrt taskset faketime"), ("", 1)),
    **dict.fromkeys(names("timeout gtimeout"), ("-k -s --kill-after --signal", 1)),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p --class --classdata", 0),
    "time": ("-f --format", 0),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "exec": ("-a", 0),
    "caffeinate": ("-t -w", 0),
    "xvfb-run": ("-n -f -p -s -e", 0),
    "proxychains": ("-f", 0),
    "proxychains4": ("-f", 0),
}
"""Their options with values, and how many words stand before the command."""
_RAISED: dict[str, tuple[str, int]] = {
    "sudo": (
        "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot --role --type --close-from",
        0,
    ),
    "doas": ("-u -C", 0),
    "pkexec": ("--user", 0),
    "runuser": ("-u -g -G --user --group", 0),
    "gosu": ("", 1),
    "su-exec": ("", 1),
    "chroot": ("--userspec --groups", 1),
    "nsenter": ("-t -S -G --target --setuid --setgid", 0),
    "unshare": ("-S -G -R -w --setuid --setgid --root --wd", 0),
    "setpriv": ("--reuid --regid --groups", 0),
    "run0": ("-u", 0),
}


def _assignments(c: Command, words: list[Word]) -> list[Word]:
    """`NAME=value` before a command."""
    from gongfu.permissions.shell.rate import assignment  # they need each other

    while words and re.match(r"[A-Za-z_]\w*=", words[0].text):
        name, _, value = words[0].text.partition("=")
        assignment(name, Word(text=value, literal=words[0].literal), c.found)
        words = words[1:]
    return words


def _through(c: Command) -> None:
    valued, skip = _SIMPLE[c.name]
    if c.name in ("time", "gtime") and c.has("-o", "--output"):
        c.write(*(v for name, v in options(c.args, "-o --output -f")[0] if name in ("-o", "--output")))
        valued = f"{valued} -o --output"
    c.run(until_command(c.args, valued, skip))


def _raised(c: Command) -> None:
    """As somebody else, or in a world of its own."""
    c.add("privilege", why="shell_privilege", about=c.name)
    valued, skip = _RAISED[c.name]
    if c.has("-e", "--edit") and c.name == "sudo":
        c.write(*options(c.args, valued)[1])
    for name, value in options(c.args, f"{valued} -c --command")[0]:
        if name in ("-c", "--command") and c.name in ("runuser", "su"):
            c.script(value)
    words = _assignments(c, until_command(c.args, valued, skip))
    if words:
        c.run(words)


def _su(c: Command) -> None:
    c.add("privilege", why="shell_privilege", about=c.name)
    for name, value in options(c.args, "-c --command -s --shell -g -G")[0]:
        if name in ("-c", "--command"):
            c.script(value)


def _env(c: Command) -> None:
    """`env`: variables, and `-S` with a command in one word."""
    args = list(c.args)
    while args and args[0].literal and args[0].text.startswith("-") and args[0].text != "-":
        text = args[0].text
        args = args[1:]
        if text == "--":
            break
        if text in ("-u", "--unset", "-C", "--chdir", "-a", "--argv0"):
            if text in ("-C", "--chdir"):
                c.unseen(text)
            args = args[1:]
        elif text.startswith(("-S", "--split-string", "-vS", "-iS")) or "S" in text.split("=")[0]:
            c.unseen("env -S")
            value = text.partition("=")[2] or re.sub(r"^-\w*?S", "", text) or (args[0].text if args else "")
            if value:
                c.script(Word(text=value))
            return
        elif text.startswith(("-C", "--chdir=")) or (
            text not in ("-i", "--ignore-environment", "-0", "--null", "-v", "--debug")
            and not text.startswith(("-u", "--unset="))
        ):
            c.unseen(text)
    if args and args[0].text == "-":
        args = args[1:]
    c.add("read")
    words = _assignments(c, args)
    if words:
        c.run(words)


def _command(c: Command) -> None:
    if c.name == "type" or (c.args and re.fullmatch(r"-[pvV]*[vV][pvV]*", c.args[0].text)):
        c.add("read")
    else:
        c.run(until_command(c.args))


def _shell(c: Command) -> None:
    """A shell: its script, its file, or what it reads."""
    if c.texts() in (["--version"], ["--help"]):
        c.add("read")
        return
    rest, has_script = _shell_options(c)
    if has_script:
        for word in rest[:1]:
            c.script(word)
            if len(rest) > 1 and re.search(r"\$[\d@*{]", word.text):
                c.unseen("$@")
        c.paths(rest[1:])
    elif rest:
        c.add("run")
        if not rest[0].plain or rest[0].text == "-" or rest[0].text.startswith("/dev/"):
            c.unseen(rest[0].source)
        else:
            c.read(rest[0])
            c.paths(rest[1:])
            c.seen()
    elif c.simple.stdin == "here" and c.simple.here is not None:
        c.add("read")
        c.walker.script(c.simple.here)
    else:
        c.unseen(c.name)


def _shell_options(c: Command) -> tuple[list[Word], bool]:
    """What stands behind the options of a shell, and whether that is a script."""
    args, i, has_script = c.args, 0, False
    while i < len(args) and args[i].literal and re.match(r"[-+].", args[i].text):
        text = args[i].text
        i += 1
        if text == "--":
            break
        if text.startswith("--"):
            if text not in ("--norc", "--noprofile", "--posix", "--restricted", "--verbose"):
                c.unseen(text)
            continue
        if re.search(r"[ils]", text[1:]):
            c.add("run")
            c.unseen(text)
        i += text[-1] in "oO"
        has_script = has_script or (text[0] == "-" and "c" in text)
    return list(args[i:]), has_script


def _eval(c: Command) -> None:
    if all(a.plain for a in c.args):
        c.add("read")
        c.walker.script(" ".join(c.texts()), kept=True)
    else:
        c.unseen("eval")


def _source(c: Command) -> None:
    """A script in this very shell: what it changes is not seen."""
    c.add("run")
    if not c.args or not c.args[0].plain or c.args[0].text.startswith("/dev/"):
        c.unseen(c.name)
        return
    c.paths(c.args[:1], always=True)
    c.paths(c.args[1:])
    c.seen()
    c.state.variables = {}
    if not re.search(r"(^|/)bin/activate(\.\w+)?$", c.args[0].text):
        c.state.tainted = True
        c.state.places = (*c.state.places, None) if None not in c.state.places else c.state.places


def _trap(c: Command) -> None:
    c.add("read")
    words = [a for a in c.args if a.text not in ("-p", "-l", "--")]
    if words and (not words[0].literal or words[0].text not in ("-", "")):
        c.script(words[0])


def _alias(c: Command) -> None:
    """A name that means something else from here on, at least in some shells."""
    c.add("read")
    for arg in c.args:
        if "=" in arg.text or not arg.literal:
            c.add("unknown", why="shell_overrides", about=arg.text.partition("=")[0])
            if arg.literal:
                c.walker.script(arg.text.partition("=")[2])


def _watch(c: Command) -> None:
    words = until_command(c.args, "-n -d --interval -q --equexit")
    if all(w.plain for w in words):
        c.add("read")
        c.walker.script(" ".join(w.text for w in words))
    else:
        c.unseen("watch")


def _flock(c: Command) -> None:
    words = until_command(c.args, "-w -E --timeout --conflict-exit-code")
    c.write(*words[:1])
    rest = words[1:]
    if rest and rest[0].text in ("-c", "--command"):
        c.script(rest[1] if len(rest) > 1 else UNKNOWN)
    elif rest:
        c.run(rest)


def _script(c: Command) -> None:
    found, rest = options(c.args, "-c -I -O -B -T -m -o --command --log-out --log-in --log-io --log-timing --timing")
    c.unseen("script")
    for name, value in found:
        if name in ("-c", "--command"):
            c.script(value)
    c.write(*rest[:1])


def _strace(c: Command) -> None:
    valued = "-o -e -p -s -u -E -P -I -b -a -O -S -X -U --output --trace --env --user"
    c.add("run")
    for name, value in options(until_options(c.args, valued), valued)[0]:
        if name in ("-o", "--output"):
            if value.text.startswith(("|", "!")):
                c.unseen(value.text)
            c.write(value)
        elif name in ("-p", "-u", "--user"):
            c.add("privilege")
    words = until_command(c.args, valued)
    if words:
        c.run(words)


def until_options(args: list[Word], valued: str) -> list[Word]:
    """The options before what is run."""
    return args[: len(args) - len(until_command(args, valued))]


def _busybox(c: Command) -> None:
    c.run(c.args) if c.args else c.add("read")


def _ssh(c: Command) -> None:
    """What runs elsewhere is out of sight."""
    valued = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"
    c.add("network", "credential", why="shell_network", about="ssh")
    c.seen()
    found, rest = options(until_options(c.args, valued), valued)
    rest = until_command(c.args, valued)
    for name, value in found:
        if name in ("-o", "-F", "-S", "-E", "-I", "-L", "-R", "-D", "-W", "-J"):
            c.unseen(f"ssh {name}")
        elif name == "-i":
            c.read(value)
    if rest:
        c.found.hosts[rest[0].text.rpartition("@")[2].partition(":")[0].lower()] = None
    if len(rest) > 1:
        c.unseen("ssh")


def _hyperfine(c: Command) -> None:
    c.add("run")
    for word in until_command(c.args, "-w -r -m -M -p -c -s -n --warmup --runs --export-json --export-markdown"):
        c.script(word)
    for name, value in options(c.args, "-p --prepare -c --cleanup -s --setup")[0]:
        if name in ("-p", "-c", "-s", "--prepare", "--cleanup", "--setup"):
            c.script(value)
    c.paths([a for a in c.args if "/" in a.text and " " not in a.text], write=True)


def _terminal(c: Command) -> None:
    """A window with a command in it, given after `-e`, `-x` or `--`; one word alone goes through a shell."""
    c.add("run")
    c.seen()
    for at, arg in enumerate(c.args):
        name, sign, value = arg.text.partition("=")
        if name in ("--command", "--execute") and sign:
            c.script(Word(text=value, source=arg.source, literal=arg.literal))
            return
        if arg.text in ("-e", "-x", "--", "--command", "--execute"):
            rest = list(c.args[at + 1 :])
            if len(rest) == 1:
                c.script(rest[0])
            else:
                c.run(rest)
            return


HANDLERS: dict[str, Callable[[Command], None]] = {
    **dict.fromkeys(
        names(
            "xterm uxterm lxterm urxvt rxvt st alacritty konsole foot kitty x-terminal-emulator gnome-terminal"
            " xfce4-terminal mate-terminal lxterminal qterminal terminator tilix wezterm ghostty"
        ),
        _terminal,
    ),
    **dict.fromkeys(_SIMPLE, _through),
    **dict.fromkeys(_RAISED, _raised),
    "su": _su,
    "env": _env,
    "command": _command,
    "type": _command,
    "xargs": xargs,
    "gxargs": xargs,
    "find": find,
    "gfind": find,
    **dict.fromkeys(names("bash sh zsh dash ksh ash mksh rbash yash"), _shell),
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "alias": _alias,
    "watch": _watch,
    "flock": _flock,
    "script": _script,
    "strace": _strace,
    **dict.fromkeys(("busybox", "toybox"), _busybox),
    "ssh": _ssh,
    "hyperfine": _hyperfine,
}
