"""The commands of git that need a closer look: what they may lose, and what they only show."""

from __future__ import annotations

import os
import re

from gongfu.permissions.shell.command import Command, is_option
from gongfu.permissions.shell.paths import touch_path


def lose(c: Command, verb: str, texts: list[str]) -> None:
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
        lose(c, "push", texts)


def _checkout(c: Command, texts: list[str]) -> None:
    """Switching keeps changes; taking files out of a commit overwrites them."""
    c.add("write", "run")
    plain = _plain(texts)
    if (
        _has(texts, "-f", "--force", "-B", "--ours", "--theirs", "--discard-changes", "-C", "-m", "--merge", "-p")
        or "--" in texts
    ) or (
        (len(plain) > 1 and not _has(texts, "-b", "--orphan", "-c", "--track", "-t"))
        or any(t in (".", "*") or "/." in t or t.startswith(("./", ":", "../")) for t in plain)
    ):
        lose(c, "checkout", texts)
    elif plain and not _has(texts, "-b", "--orphan", "-c") and c.name:
        for text in plain:
            for place in c.state.places:
                if place is not None and _exists(place, text):
                    lose(c, "checkout", texts)


def _exists(place: str, text: str) -> bool:
    return os.path.lexists(os.path.join(place, text))  # noqa: PTH118


def _restore(c: Command, texts: list[str]) -> None:
    c.add("write")
    if not _has(texts, "--staged", "-S") or _has(texts, "--worktree", "-W"):
        lose(c, "restore", texts)


def _reset(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "--hard", "--merge", "--keep"):  # all else leaves the files, and the reflog knows the commits
        lose(c, "reset", texts)


def _clean(c: Command, texts: list[str]) -> None:
    if _has(texts, "-n", "--dry-run"):
        c.add("read")
    else:
        lose(c, "clean", texts)


def _stash(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or ["push"])[0]
    if verb in ("list", "show"):
        c.add("read")
        c.found.ratings.discard("write")
    elif verb in ("drop", "clear"):
        lose(c, "stash", texts)


def _branch(c: Command, texts: list[str]) -> None:
    if _has(texts, "-D", "-M", "-C", "-f", "--force", "-d", "--delete"):
        if _has(texts, "-D", "-M", "-C", "-f", "--force"):
            lose(c, "branch", texts)
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
        lose(c, "tag", texts)
    elif _has(texts, "-s", "-u", "--sign"):
        c.add("credential")
    elif not _plain(texts) or _has(texts, "-l", "--list", "--contains", "--points-at"):
        c.add("read")
        c.found.ratings.discard("write")


def _remote(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or [""])[0]
    if verb in ("", "get-url") or (verb == "show" and "-n" in texts):
        c.add("read")
        _reads_settings(c)
        c.found.ratings.discard("write")
    elif verb in ("show", "update", "prune"):
        c.add("network")
    else:
        c.unseen("remote")
    if verb in ("remove", "rm", "prune"):
        lose(c, "remote", texts)


def _reads_settings(c: Command) -> None:
    """A login may stand in an address there."""
    touch_path(str(c.state.workspace.root / ".git" / "config"), c.state, c.found, write=False)


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
        _reads_settings(c)
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
        lose(c, "reflog", texts)
    else:
        c.add("read")


def _worktree(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or [""])[0]
    if verb == "list":
        c.add("read")
        c.found.ratings.discard("run")
    elif verb in ("remove", "prune") or _has(texts, "-f", "--force", "-B"):
        lose(c, "worktree", texts)
    else:
        c.add("write")


def _credential(c: Command, texts: list[str]) -> None:
    c.add("credential", why="shell_credential", about=" ".join(["git credential", *texts]))


def _gc(c: Command, texts: list[str]) -> None:
    if any(t.startswith("--prune") for t in texts) or "--aggressive" in texts:
        lose(c, "gc", texts)
    c.add("write")


def _always_loses(c: Command, texts: list[str]) -> None:
    lose(c, "rebase", texts)


def _rm(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "-f", "--force", "-r") or any(t in (".", "*", "/") for t in texts):
        lose(c, "rm", texts)


def _bisect(c: Command, texts: list[str]) -> None:
    c.add("run")
    if texts[:1] in (["run"], ["visualize"], ["view"]):
        c.unseen("bisect run")


def _submodule(c: Command, texts: list[str]) -> None:
    verb = (_plain(texts) or ["status"])[0]
    if verb == "foreach":
        c.unseen("submodule foreach")
    if verb == "deinit" or _has(texts, "-f", "--force"):
        lose(c, "submodule", texts)


def _update_ref(c: Command, texts: list[str]) -> None:
    c.add("write")
    lose(c, "update-ref", texts)


def _switch(c: Command, texts: list[str]) -> None:
    c.add("write", "run")
    if _has(texts, "-f", "--force", "--discard-changes", "-C", "--force-create", "-m", "--merge"):
        lose(c, "switch", texts)


def _pull(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "--rebase", "-r", "-f", "--force"):
        lose(c, "pull", texts)


def _commit(c: Command, texts: list[str]) -> None:
    c.add("write")
    if _has(texts, "-F", "--file", "-t"):
        c.paths(write=False)


SPECIAL = {
    "push": _push, "checkout": _checkout, "restore": _restore, "reset": _reset, "clean": _clean, "stash": _stash,
    "branch": _branch, "tag": _tag, "remote": _remote, "config": _config, "reflog": _reflog, "worktree": _worktree,
    "credential": _credential, "credential-store": _credential, "credential-cache": _credential, "gc": _gc,
    "rebase": _always_loses, "rm": _rm, "bisect": _bisect, "submodule": _submodule, "update-ref": _update_ref,
    "switch": _switch, "pull": _pull, "commit": _commit,
}  # fmt: skip
