"""What a command of git does."""

from __future__ import annotations

import re

from gongfu.permissions.shell.command import Command, is_option
from gongfu.permissions.shell.words import Word

_READS = frozenset(
    "status log diff show rev-parse ls-files ls-tree blame annotate describe rev-list cat-file shortlog name-rev "
    "merge-base for-each-ref show-ref show-branch count-objects diff-tree diff-index diff-files grep whatchanged "
    "cherry var check-ignore check-attr check-mailmap check-ref-format verify-commit verify-tag range-diff version "
    "help get-tar-commit-id merge-tree patch-id stripspace fsck".split()
)
_NETWORK = frozenset(
    "pull fetch push clone ls-remote remote-update submodule request-pull send-email svn p4 fetch-pack send-pack "
    "http-fetch http-push daemon imap-send instaweb lfs archive-remote".split()
)
_RUNS = frozenset(
    "commit merge cherry-pick revert am switch checkout rebase bisect difftool mergetool citool gui maintenance "
    "hook filter-repo pull push gc worktree clone submodule lfs receive-pack".split()
)
_WRITES = frozenset(
    "add mv init apply notes config mark stage update-index write-tree commit-tree hash-object mktree read-tree "
    "checkout-index format-patch archive bundle sparse-checkout rerere repack pack-refs symbolic-ref tag branch stash "
    "remote restore merge-file index-pack unpack-objects mktag".split()
)
_LOSES = frozenset("filter-branch filter-repo prune replace quiltimport fast-import obliterate nuke".split())
_UNSEEN = (
    "-c --config-env --exec-path --upload-pack --receive-pack --exec --open-files-in-pager -O --ext-diff --textconv --extcmd -x "
    "--tool --template --output --output-directory --super-prefix --separate-git-dir --paginate --filters"
)
_MILD_SETTINGS = r"(?i)(color\..*|core\.(quotepath|pager=cat|pager=|abbrev|autocrlf)|user\.(name|email)|advice\..*|init\.defaultbranch|log\..*|diff\.(renames|algorithm|context|noprefix)|safe\.directory|commit\.gpgsign=false|tag\.gpgsign=false|gc\.auto|protocol\.version).*"


def git(c: Command) -> None:
    """`git` with its own options, its command and what that is given."""
    rest = _own_options(c)
    if not rest:
        c.add("read")
        return
    verb, args = rest[0].text, rest[1:]
    if not rest[0].plain:
        c.unseen(rest[0].source)
        return
    texts = [a.text for a in args]
    if not all(a.literal for a in args) and not (verb == "commit" and _only_message(args)):
        c.unseen(verb)
    _common(c, verb, texts)
    if verb in _READS:
        c.add("read")
    if verb in _NETWORK:
        c.add("network")
    if verb in _RUNS:
        c.add("run")
    if verb in _WRITES:
        c.add("write")
    if verb in _LOSES:
        _lose(c, verb, texts)
    if verb not in _READS | _NETWORK | _RUNS | _WRITES | _LOSES and verb not in _SPECIAL:
        c.add("run")
        c.unseen(verb)  # an alias, or a program of its own
    _paths(c, verb, args)
    if verb in _SPECIAL:
        _SPECIAL[verb](c, texts)


def _own_options(c: Command) -> list[Word]:
    args = c.args
    i = 0
    while i < len(args) and args[i].literal and args[i].text.startswith("-"):
        text = args[i].text
        i += 1
        if text in ("-C", "--git-dir", "--work-tree", "--namespace") or text.startswith(("--git-dir=", "--work-tree=")):
            value = args[i] if "=" not in text and i < len(args) else Word(text=text.partition("=")[2])
            i += "=" not in text
            c.read(value)
            if text != "-C":
                c.unseen(text)  # the settings of another repository are read
        elif text == "-c" or text.startswith("-c"):
            value = args[i] if text == "-c" and i < len(args) else Word(text=text[2:])
            i += text == "-c"
            if not value.literal or not re.fullmatch(_MILD_SETTINGS, value.text):
                c.unseen(value.text)
        elif text not in (
            "--no-pager", "-P", "--version", "-v", "--help", "-h", "--no-optional-locks", "--literal-pathspecs",
            "--no-replace-objects", "--bare", "--glob-pathspecs", "--icase-pathspecs", "--html-path", "--man-path",
        ):  # fmt: skip
            c.unseen(text)
    return list(args[i:])


def _only_message(args: list[Word]) -> bool:
    """Whether what is not literal is the message of a commit, in quotes."""
    for before, arg in zip([None, *args], args, strict=False):
        if not arg.literal and not (
            arg.source.startswith(('"', '$"'))
            and before is not None
            and re.fullmatch(r"-[a-zA-Z]*m|--message", before.text)
        ):
            return False
    return True


def _common(c: Command, verb: str, texts: list[str]) -> None:
    """Options by which a command of git runs another program or writes elsewhere."""
    for text in texts:
        if text == "--":
            break
        for name in _UNSEEN.split():
            if name in ("-c", "-x", "-O") and verb not in ("clone", "grep", "difftool", "rebase", "clean"):
                continue
            if name == "-x" and verb == "clean" or (name == "-c" and verb in ("grep", "clean")):
                continue
            if name in ("--tool", "--template", "--filters", "--super-prefix") and verb in ("log", "commit", "show"):
                continue
            if is_option(text, name) and not (name == "--textconv" and text.startswith("--text") and text == "--text"):
                c.unseen(text)
    if verb in ("difftool", "mergetool", "filter-branch", "citool", "gui", "instaweb", "web--browse", "hook"):
        c.unseen(verb)
    if any("ext::" in text or text.startswith("fd::") for text in texts):
        c.unseen("ext::")
    for text in texts:
        match = re.match(r"(?:[\w.-]+@)([\w.-]+):|(?:ssh|git|https?)://(?:[^@/]*@)?([^/:]+)", text)
        if match:
            c.found.hosts[(match[1] or match[2]).lower()] = None


def _paths(c: Command, verb: str, args: list[Word]) -> None:
    """Paths among the arguments: revisions and messages are no paths."""
    texts = [a.text for a in args]
    message = False
    for arg in args:
        text = arg.text
        if message or not arg.literal:
            message = False
            continue
        message = bool(re.fullmatch(r"-[a-zA-Z]*[mF]|--message|--author|--grep|-S|-G|--format|--pretty|--since|--until", text)) and verb in (
            "commit", "log", "tag", "stash", "merge", "show", "notes", "shortlog",
        )  # fmt: skip
        if message and text.endswith("F"):
            message = False
        if text.startswith("-") and "/" not in text:
            continue
        if "://" in text or re.match(r"[\w.-]+@[\w.-]+:", text):
            continue
        _path(c, verb, arg, "--" in texts)


def _path(c: Command, verb: str, arg: Word, explicit: bool) -> None:
    text = arg.text
    writes = verb in ("clone", "init", "worktree", "mv", "archive", "bundle", "format-patch", "checkout-index") or (
        verb in ("checkout", "restore", "rm", "clean", "apply") and explicit
    )
    pieces = [text, *text.split(":")[1:], text.partition("=")[2]] if not text.startswith(":") else []
    for piece in pieces:
        if piece.startswith(("/", "~", "..")) or re.search(r"(^|/)\.[a-z]", piece) or (piece == text and "." in piece):
            if re.fullmatch(r"\.\.\.?|.*\.\.\.?[\w^~/-]*", piece) and "../" not in piece and piece not in ("..",):
                continue
            c.paths([Word(text=piece, glob=arg.glob)], write=writes)


def _lose(c: Command, verb: str, texts: list[str]) -> None:
    c.add("destructive", why="shell_destructive", about=" ".join(["git", verb, *texts]))


def _has(texts: list[str], *names: str) -> bool:
    return any(is_option(t, name) for t in texts for name in names)


def _plain(texts: list[str]) -> list[str]:
    return [t for t in texts if not t.startswith("-")]


def _push(c: Command, texts: list[str]) -> None:
    risky = _has(
        texts, "-f", "--force", "--force-with-lease", "--force-if-includes", "-d", "--delete", "--mirror", "--prune"
    )
    if risky or any(re.match(r"\+|:", t) for t in _plain(texts)[0:]):
        _lose(c, "push", texts)


def _checkout(c: Command, texts: list[str]) -> None:
    """Switching keeps changes; taking files out of a commit overwrites them."""
    c.add("write", "run")
    plain = _plain(texts)
    if (
        _has(texts, "-f", "--force", "-B", "--ours", "--theirs", "--discard-changes", "-C", "-m", "--merge", "-p")
        or "--" in texts
    ):
        _lose(c, "checkout", texts)
    elif (
        len(plain) > 1
        and not _has(texts, "-b", "--orphan", "-c", "--track", "-t")
        or any(t in (".", "*") or "/." in t or t.startswith(("./", ":", "../")) for t in plain)
    ):
        _lose(c, "checkout", texts)
    elif plain and not _has(texts, "-b", "--orphan", "-c") and c.name:
        for text in plain:
            for place in c.state.places:
                if place is not None and _exists(place, text):
                    _lose(c, "checkout", texts)


def _exists(place: str, text: str) -> bool:
    import os

    return os.path.lexists(os.path.join(place, text))  # noqa: PTH118


def _restore(c: Command, texts: list[str]) -> None:
    c.add("write")
    if not _has(texts, "--staged", "-S") or _has(texts, "--worktree", "-W"):
        _lose(c, "restore", texts)


def _reset(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "--hard", "--merge", "--keep"):
        _lose(c, "reset", texts)
    elif any(re.match(r"HEAD[~^]|[0-9a-f]{7,40}$|origin/|ORIG_HEAD|@", t) for t in _plain(texts)):
        _lose(c, "reset", texts)


def _clean(c: Command, texts: list[str]) -> None:
    if _has(texts, "-n", "--dry-run"):
        c.add("read")
    else:
        _lose(c, "clean", texts)


def _stash(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or ["push"])[0]
    if verb in ("list", "show"):
        c.add("read")
        c.found.ratings.discard("write")
    elif verb in ("drop", "clear", "pop"):
        _lose(c, "stash", texts)


def _branch(c: Command, texts: list[str]) -> None:
    if _has(texts, "-D", "-M", "-C", "-f", "--force", "-d", "--delete"):
        if _has(texts, "-D", "-M", "-C", "-f", "--force"):
            _lose(c, "branch", texts)
    elif _has(texts, "--edit-description"):
        c.add("run")
    elif not _plain(texts) or _has(
        texts, "-l", "--list", "--contains", "--merged", "--no-merged", "--points-at", "-a", "-r"
    ):
        c.add("read")
        if not _has(texts, "-m", "-u", "--set-upstream-to", "--unset-upstream"):
            c.found.ratings.discard("write")


def _tag(c: Command, texts: list[str]) -> None:
    if _has(texts, "-d", "--delete", "-f", "--force"):
        _lose(c, "tag", texts)
    elif _has(texts, "-s", "-u", "--sign"):
        c.add("credential")
    elif not _plain(texts) or _has(texts, "-l", "--list", "--contains", "--points-at"):
        c.add("read")
        c.found.ratings.discard("write")


def _remote(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or [""])[0]
    if verb in ("", "get-url") or (verb == "show" and "-n" in texts):
        c.add("read")
        c.found.ratings.discard("write")
    elif verb in ("show", "update", "prune"):
        c.add("network")
    else:
        c.unseen("remote")
    if verb in ("remove", "rm", "prune"):
        _lose(c, "remote", texts)


def _config(c: Command, texts: list[str]) -> None:
    """Reading is reading, keys apart; a setting may name a program that git then runs."""
    plain = _plain(texts)
    reads = _has(texts, "--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch") or plain[:1] in (
        ["get"],
        ["list"],
    )
    writes = _has(
        texts,
        "--unset",
        "--unset-all",
        "--add",
        "--replace-all",
        "-e",
        "--edit",
        "--rename-section",
        "--remove-section",
    )
    if (reads or len(plain) == 1) and not writes:
        c.add("read")
        c.found.ratings.discard("write")
        if any(re.search(r"(?i)credential|token|password|extraheader|url", t) for t in plain):
            c.add("credential", why="shell_credential", about="git config")
        return
    c.unseen("config")
    c.add(
        "outside" if _has(texts, "--global", "--system", "-f", "--file") else "write",
        why="protected_git",
        about=".git/config",
    )


def _reflog(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or [""])[0]
    if verb in ("expire", "delete", "drop"):
        _lose(c, "reflog", texts)
    else:
        c.add("read")


def _worktree(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or [""])[0]
    if verb == "list":
        c.add("read")
        c.found.ratings.discard("run")
    elif verb in ("remove", "prune") or _has(texts, "-f", "--force", "-B"):
        _lose(c, "worktree", texts)
    else:
        c.add("write")


def _credential(c: Command, texts: list[str]) -> None:
    c.add("credential", why="shell_credential", about=" ".join(["git credential", *texts]))


def _gc(c: Command, texts: list[str]) -> None:
    if any(t.startswith("--prune") for t in texts) or "--aggressive" in texts:
        _lose(c, "gc", texts)
    c.add("write")


def _always_loses(c: Command, texts: list[str]) -> None:
    _lose(c, "", texts)


def _rm(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "-f", "--force", "-r") or any(t in (".", "*", "/") for t in texts):
        _lose(c, "rm", texts)


def _bisect(c: Command, texts: list[str]) -> None:
    c.add("run")
    if texts[:1] in (["run"], ["visualize"], ["view"]):
        c.unseen("bisect run")


def _submodule(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or ["status"])[0]
    if verb == "foreach":
        c.unseen("submodule foreach")
    if verb in ("deinit",) or _has(texts, "-f", "--force"):
        _lose(c, "submodule", texts)


def _update_ref(c: Command, texts: list[str]) -> None:
    c.add("write")
    _lose(c, "update-ref", texts)


def _switch(c: Command, texts: list[str]) -> None:
    c.add("write", "run")
    if _has(texts, "-f", "--force", "--discard-changes", "-C", "--force-create", "-m", "--merge"):
        _lose(c, "switch", texts)


def _pull(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "--rebase", "-r", "-f", "--force"):
        _lose(c, "pull", texts)


def _commit(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "--amend"):
        _lose(c, "commit", texts)
    if _has(texts, "-F", "--file", "-t"):
        c.paths(write=False)


_SPECIAL = {
    "push": _push, "checkout": _checkout, "restore": _restore, "reset": _reset, "clean": _clean, "stash": _stash,
    "branch": _branch, "tag": _tag, "remote": _remote, "config": _config, "reflog": _reflog, "worktree": _worktree,
    "credential": _credential, "credential-store": _credential, "credential-cache": _credential, "gc": _gc,
    "rebase": _always_loses, "rm": _rm, "bisect": _bisect, "submodule": _submodule, "update-ref": _update_ref,
    "switch": _switch, "pull": _pull, "commit": _commit,
}  # fmt: skip
