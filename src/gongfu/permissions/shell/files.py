"""Programs that change files, and those that move about among folders."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable

from gongfu.permissions.shell.command import Command, options
from gongfu.permissions.shell.fetching import curl
from gongfu.permissions.shell.kept import is_made, overwrites, removes
from gongfu.permissions.shell.paths import inside, places_of, real_path, touch_path
from gongfu.permissions.shell.tables import names
from gongfu.permissions.shell.words import Word


def _rm(c: Command) -> None:
    """Files and folders strictly inside the workspace can be brought back, if a copy is kept; else all may be lost."""
    found, rest = options(c.args)
    deep = any(name in ("-r", "-R") or (len(name) > 2 and "--recursive".startswith(name)) for name, _ in found)
    c.add("write")
    for word in rest:
        c.write(word)
        if (
            not word.literal
            or (word.glob and ((deep and not _is_made(word)) or not _narrow(c, word)))
            or (not word.glob and not inside(word, c.state))
            or (deep and any(part in (".", "..", "") for part in word.text.rstrip("/").split("/")[-1:]))
            or removes(c.state, word)
        ):
            _lose(c, word)


def _is_made(word: Word) -> bool:
    """Whether a pattern stands for nothing but what a tool makes again."""
    return is_made(word.text) and ".." not in word.text


def _narrow(c: Command, word: Word) -> bool:
    """Whether a pattern reaches into a folder strictly inside the workspace, or says more than `*`."""
    folder, _, name = word.text.rpartition("/")
    if folder and is_made(folder) and not any(sign in folder for sign in "*?["):
        return inside(Word(text=folder), c.state)
    if any(sign in folder for sign in "*?[") or name.strip("*.") == "":
        return False
    fixed = Word(text=os.path.join(folder, "x") if folder else "x")  # noqa: PTH118
    return inside(fixed, c.state)


def _lose(c: Command, word: Word) -> None:
    c.add("destructive", why="shell_destructive", about=f"{c.name} {word.source or word.text}")


def _writes(c: Command) -> None:
    """Programs that write each file that they are given."""
    found, rest = options(c.args, _VALUED.get(c.name, ""))
    c.add("write")
    c.write(*rest)
    if c.name in ("truncate", "tee") and not any(name in ("-a", "--append") for name, _ in found):
        for word in rest:
            if (removes if c.name == "truncate" else overwrites)(c.state, word):
                _lose(c, word)
    for name, value in found:
        if value.text and name in ("-r", "--reference", "-Z"):
            c.read(value)
    if c.name == "tee" and not c.seen():
        return


_VALUED = {
    "touch": "-d -t -r --date --reference",
    "mkdir": "-m --mode",
    "truncate": "-s -r --size --reference",
    "mkfifo": "-m --mode",
    "mknod": "-m --mode",
}


def _chmod(c: Command) -> None:
    found, rest = options([a for a in c.args if not re.fullmatch(r"-[rwxXst]+(,.*)?", a.text)], "--reference")
    deep = any(name == "-R" or (len(name) > 2 and "--recursive".startswith(name)) for name, _ in found)
    files = rest[1:] if len(rest) > 1 else rest
    c.add("write")
    c.write(*files)
    for word in files:
        if deep and not inside(word, c.state):
            _lose(c, word)


def _copy(c: Command) -> None:
    """`cp`, `mv`, `install`, `ln`: from all but the last, to the last or what `-t` names."""
    found, rest = options(c.args, "-t --target-directory -S --suffix -m --mode -o --owner -g --group --strip-program")
    c.add("write")
    target = [
        value for name, value in found if name == "-t" or (len(name) > 2 and "--target-directory".startswith(name))
    ]
    if any(name.startswith("--strip-p") for name, _ in found):
        c.unseen("--strip-program")
    if c.name == "install" and any(name in ("-o", "-g", "--owner", "--group") for name, _ in found):
        c.add("privilege")
    if c.name == "install" and any(name in ("-d", "--directory") for name, _ in found):
        c.write(*rest)
        return
    sources, last = (rest, target[-1:]) if target else (rest[:-1], rest[-1:])
    if not target and len(rest) == 1:
        sources, last = rest, [Word(text=".")]
    _transfer(c, sources, last)


def _transfer(c: Command, sources: list[Word], last: list[Word]) -> None:
    for word in sources:
        c.read(word)
        if c.name in ("mv", "ln"):
            c.write(word)
    if c.name == "ln":
        _linked(c, sources, last)
    for word in last:
        c.write(word)
        if overwrites(c.state, word):
            _lose(c, word)
        for source in sources:
            if word.plain and source.plain:
                name = os.path.basename(source.text.rstrip("/"))  # noqa: PTH119
                for place in places_of(word.text, c.state):
                    if place is not None and os.path.isdir(place):  # noqa: PTH112
                        touch_path(os.path.join(place, name), c.state, c.found, write=True)  # noqa: PTH118


def _linked(c: Command, sources: list[Word], last: list[Word]) -> None:
    """What a symbolic link leads to is seen from where the link lies."""
    for source in sources:
        if not source.plain or source.text.startswith("/"):
            continue
        for word in last:
            for place in places_of(word.text, c.state):
                if place is None:
                    c.unseen()
                    continue
                folder = place if os.path.isdir(place) else os.path.dirname(place)  # noqa: PTH112, PTH120
                touch_path(os.path.join(folder, source.text), c.state, c.found, write=False)  # noqa: PTH118


def _dd(c: Command) -> None:
    c.add("write")
    for arg in c.args:
        name, sign, value = arg.text.partition("=")
        if not arg.literal or not sign:
            c.unseen(arg.source)
        elif name in ("if", "of"):
            where = c.state.variables.get("HOME", "/~") + value[1:] if value.startswith("~") else value
            (c.write if name == "of" else c.read)(Word(text=where))


def _mktemp(c: Command) -> None:
    found, rest = options(c.args, "-p --tmpdir --suffix")
    where = [v for name, v in found if name in ("-p", "--tmpdir") and v.text]
    if where or (rest and not any(name in ("-t", "-d") for name, _ in found)):
        c.write(*where, *rest)
    else:
        c.write(Word(text=c.state.variables.get("TMPDIR", "/tmp")))  # noqa: S108 - where the program itself goes


_TAR_RISKS = (
    "--to-command --checkpoint-action -I --use-compress-program -F --info-script --new-volume-script --rsh-command "
    "--rmt-command -P --absolute-names --remove-files --recursive-unlink --unlink-first -T --files-from "
    "--index-file -K -g "
    "--listed-incremental -l"
)


def _tar(c: Command) -> None:
    """`tar`: lists, unpacks below where it stands, or packs."""
    texts = c.texts()
    first = texts[0] if texts else ""
    letters = "".join(
        t.lstrip("-") for i, t in enumerate(texts) if (t.startswith("-") and not t.startswith("--")) or i == 0
    )
    if (
        c.has(*_TAR_RISKS.split())
        or (first and not first.startswith("-") and re.search(r"[IFPTg]", first))
        or not c.seen()
    ):
        c.unseen("tar")
    if re.search(r"f\S*", letters) and any(re.match(r"[\w.@-]+:", t) for t in texts):
        c.add("network")
    listing = "t" in first.lstrip("-") or "--list" in texts
    writes = not (listing and not re.search(r"[xcru]", first.lstrip("-")))
    args = c.args if first.startswith("-") else c.args[1:]
    if "c" in letters and writes and "x" not in letters:
        c.secrets_below(*(a for a in args if a.plain and not a.text.startswith("-")))
    c.add("write", "run") if writes and "x" in letters + first else c.add("write" if writes else "read")
    for arg in args:
        if arg.literal and arg.text.startswith("-"):
            c.paths([arg], write=writes)
        elif writes and re.search(r"\.(tar|tgz|tbz|txz|zip|gz|xz|zst|bz2)", arg.text) and "c" in letters:
            c.write(arg)
        else:
            c.read(arg)
    for before, arg in itertools.pairwise(args):
        if before.text in ("-C", "--directory", "-f", "--file") or re.fullmatch(r"-?[a-zA-Z]*[fC]", before.text):
            (c.write if writes and (before.text in ("-C", "--directory") or "c" in letters) else c.read)(arg)
    if "c" in first and "f" in first and not first.startswith("-") and args:
        c.write(args[0])


def _pack(c: Command) -> None:
    """Packers: they write beside what they read."""
    c.add("write")
    c.seen()
    if c.name in ("unzip", "7z", "7za", "unrar", "gunzip", "bunzip2", "unxz", "unzstd", "patch"):
        c.add("run")  # what is in it is not seen
    if c.name in ("zip", "7z", "7za") and c.has("-T", "-TT", "--unzip-command"):
        c.unseen("-TT")
    if c.name == "unzip" and c.has("-l", "-t", "-Z", "-p"):
        c.found.ratings.discard("run")
    c.paths(write=True, always=True)
    if c.name in ("zip", "7z", "7za"):
        c.secrets_below(*(a for a in c.args if a.plain and not a.text.startswith("-")))


def _rsync(c: Command) -> None:
    c.add("write")
    c.seen()
    if c.has(
        "-e",
        "--rsh",
        "--rsync-path",
        "--daemon",
        "--config",
        "--password-file",
        "--files-from",
        "-M",
        "--remote-option",
    ):
        c.unseen("-e")
    if any("--del" in t or t.startswith("--remove-s") for t in c.texts()):
        c.add("destructive", why="shell_destructive", about="rsync --delete")
    if any(re.match(r"(?:[\w.-]+@)?[\w.-]+:|rsync://", t) for t in c.texts()):
        c.add("network")
    c.paths(write=True)


def _scp(c: Command) -> None:
    c.add("network")
    c.seen()
    if c.has("-S", "-F", "-o", "-D"):
        c.unseen("-o")
    for text in c.texts():
        match = re.match(r"(?:[\w.-]+@)?([\w.-]+):", text)
        if match:
            c.found.hosts[match[1].lower()] = None
    c.paths([a for a in c.args if not re.match(r"(?:[\w.-]+@)?[\w.-]+:", a.text)], write=True)


def _cd(c: Command) -> None:
    """Where the commands behind it run."""
    _, rest = options(c.args)
    target = rest[0] if rest else Word(text=c.state.variables.get("HOME", "/~"))
    state = c.state
    if re.fullmatch(r'"?\$\(git rev-parse --show-toplevel\)"?', target.source) and len(state.places) == 1:
        target = _top(state.places[0])
    if not target.plain or target.text == "-" or c.has("-n") or "CDPATH" in state.variables:
        state.places = state.moved = (None,)
        c.add("unknown" if not target.literal and len(rest) else "read")
        return
    moved: list[str | None] = []
    for place in places_of(target.text, state):
        moved.append(None if place is None else os.path.normpath(place))
        if place is not None and real_path(place) != os.path.normpath(place):
            moved.append(real_path(place))
    c.add("read")
    sure = all(place is not None and os.path.isdir(place) for place in moved)  # noqa: PTH112
    state.moved = tuple(dict.fromkeys(moved))
    state.places = state.moved if sure else tuple(dict.fromkeys((*state.places, *moved)))
    if len(state.places) > 8:
        state.places = state.moved = (None,)


def _top(place: str | None) -> Word:
    """The root of the repository around a folder."""
    folder = real_path(place) if place is not None else ""
    while folder and not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
        folder = os.path.dirname(folder) if folder != os.path.dirname(folder) else ""  # noqa: PTH120
    return Word(text=folder) if folder else Word(text="", literal=False)


def _popd(c: Command) -> None:
    c.state.places = (None,)
    c.state.moved = None
    c.add("read")


def _split(c: Command) -> None:
    c.add("write")
    if c.has("--filter"):
        c.unseen("--filter")
    c.paths(write=True)
    c.seen()


HANDLERS: dict[str, Callable[[Command], None]] = {
    "rm": _rm,
    "unlink": _rm,
    "rmdir": _writes,
    **dict.fromkeys(("touch", "mkdir", "tee", "truncate", "mkfifo"), _writes),
    "mknod": _writes,
    "chmod": _chmod,
    **dict.fromkeys(("cp", "mv", "install", "ln"), _copy),
    "dd": _dd,
    "mktemp": _mktemp,
    **dict.fromkeys(("tar", "bsdtar", "gtar"), _tar),
    **dict.fromkeys(
        names(
            "zip unzip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 7z 7za unrar compress patch dos2unix unix2dos"
        ),
        _pack,
    ),
    **dict.fromkeys(("split", "csplit"), _split),
    "rsync": _rsync,
    **dict.fromkeys(("scp", "sftp"), _scp),
    **dict.fromkeys(("cd", "pushd", "chdir"), _cd),
    "popd": _popd,
    **dict.fromkeys(("curl", "wget", "wget2"), curl),
}
