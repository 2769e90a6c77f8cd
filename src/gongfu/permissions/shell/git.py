"""What a command of git does."""

from __future__ import annotations

import itertools
import re

from gongfu.permissions.shell.command import Command, is_option
from gongfu.permissions.shell.git_verbs import SPECIAL, lose
from gongfu.permissions.shell.tables import names
from gongfu.permissions.shell.words import Word, literal

_READS = names(
    "status log diff show rev-parse ls-files ls-tree blame annotate describe rev-list cat-file shortlog name-rev "
    "merge-base for-each-ref show-ref show-branch count-objects diff-tree diff-index diff-files grep whatchanged "
    "cherry var check-ignore check-attr check-mailmap check-ref-format range-diff version "
    "help get-tar-commit-id merge-tree patch-id stripspace fsck"
)
_NETWORK = names(
    "pull fetch push clone ls-remote remote-update submodule request-pull send-email svn p4 fetch-pack send-pack "
    "http-fetch http-push daemon imap-send instaweb lfs archive-remote"
)
_RUNS = names(
    "commit merge cherry-pick revert am switch checkout rebase bisect difftool mergetool citool gui maintenance "
    "hook verify-commit verify-tag filter-repo pull push gc worktree clone submodule lfs receive-pack"
)
_WRITES = names(
    "add merge cherry-pick revert am mv "
    "init apply notes config mark stage update-index write-tree commit-tree hash-object mktree read-tree "
    "checkout-index format-patch archive bundle sparse-checkout rerere repack pack-refs symbolic-ref tag branch stash "
    "remote restore merge-file index-pack unpack-objects mktag"
)
_CHANGES = _WRITES | _RUNS | names("rm clean reset update-ref")
_LOSES = names("filter-branch filter-repo prune replace quiltimport fast-import obliterate nuke")
_SHOWS = names("difftool mergetool filter-branch citool gui instaweb web--browse hook")
_TOLD = names("commit log tag stash merge show notes shortlog")
_TEXT = r"-[a-zA-Z]*[mF]|--message|--author|--grep|-S|-G|--format|--pretty|--since|--until"
_UNSEEN = (
    "-c --config-env --exec-path --upload-pack --receive-pack --exec --open-files-in-pager -O --ext-diff --textconv "
    "--extcmd -x --tool --template --output --output-directory --super-prefix --separate-git-dir --paginate --filters"
)
_MILD_SETTINGS = (
    r"(?i)(color\.[a-z.]+|core\.(quotepath|abbrev|autocrlf)|user\.(name|email)|advice\.[a-z]+|init\.defaultbranch|log\.[a-z]+"
    r"|diff\.(renames|algorithm|context|noprefix)|safe\.directory|gc\.auto|protocol\.version)=[^!`$]*"
    r"|core\.pager=(cat)?|(commit|tag)\.gpgsign=(false|0|no)"
)


def git(c: Command) -> None:
    """`git` with its own options, its command and what that is given."""
    rest = _own_options(c)
    if not rest:
        c.add("read")
        return
    verb, args = rest[0].text, rest[1:]
    c.found.named([literal("git"), *rest])
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
        lose(c, verb, texts)
    if verb not in _READS | _NETWORK | _RUNS | _WRITES | _LOSES and verb not in SPECIAL:
        c.add("run")
        c.unseen(verb)  # an alias, or a program of its own
    _paths(c, verb, args)
    _secrets(c, verb, args, texts)
    if verb in SPECIAL:
        SPECIAL[verb](c, texts)


def _secrets(c: Command, verb: str, args: list[Word], texts: list[str]) -> None:
    """Where it takes up or shows also what git ignores."""
    folders = [a for a in args if a.plain and not a.text.startswith("-")]
    forced = any(is_option(t, name) for t in texts for name in ("-f", "--force"))
    if verb == "grep" and any(t.startswith(("--no-i", "--unt", "--no-e")) for t in texts):
        folders = []
    elif not (verb in ("add", "stage") and forced) and not (
        verb == "stash" and any(is_option(t, name) for t in texts for name in ("-a", "--all"))
    ):
        return
    c.secrets_below(*(folders if verb in ("add", "stage") and folders else [literal(".")]))


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
    risky = [name for name in _UNSEEN.split() if not _harmless(name, verb)]
    for text in texts:
        if text == "--":
            break
        if text != "--text" and any(is_option(text, name) for name in risky):
            c.unseen(text)
    if verb in _READS and any(text.startswith("--show-s") or "%G" in text for text in texts):
        c.add("run")  # the program for signatures is a setting
    if verb == "help" and texts:
        c.add("run")
    if verb in _SHOWS or any("ext::" in text or text.startswith("fd::") for text in texts):
        c.unseen(verb)
    for text in texts:
        match = re.match(r"(?:[\w.-]+@)([\w.-]+):|(?:ssh|git|https?)://(?:[^@/]*@)?([^/:]+)", text)
        if match:
            c.found.hosts[(match[1] or match[2]).lower()] = None


def _harmless(name: str, verb: str) -> bool:
    """Whether a risky option means something else to this command, or nothing."""
    if name in ("-c", "-x", "-O"):
        return verb not in ("clone", "grep", "difftool", "rebase") or (name == "-c" and verb == "grep")
    return name in ("--tool", "--template", "--filters", "--super-prefix") and verb in ("log", "commit", "show")


def _paths(c: Command, verb: str, args: list[Word]) -> None:
    """Paths among the arguments: revisions and messages are no paths."""
    for before, word in itertools.pairwise(c.args):
        if before.text == "-C" and verb in _CHANGES:
            c.write(word)
    texts = [a.text for a in args]
    message = False
    for arg in args:
        text = arg.text
        if message or not arg.literal:
            message = False
            continue
        message = verb in _TOLD and re.fullmatch(_TEXT, text) is not None
        if message and text.endswith("F"):
            message = False
        if text.startswith("-") and "/" not in text:
            continue
        if "://" in text or re.match(r"[\w.-]+@[\w.-]+:", text):
            continue
        _path(c, verb, arg, "--" in texts)


def _path(c: Command, verb: str, arg: Word, explicit: bool) -> None:
    text = arg.text
    if verb in ("mv", "init", "clone") and ":" not in text and not text.startswith("-"):
        c.write(arg)
    writes = verb in ("clone", "init", "worktree", "mv", "archive", "bundle", "format-patch", "checkout-index") or (
        verb in ("checkout", "restore", "rm", "clean", "apply") and explicit
    )
    pieces = [text, *text.split(":")[1:], text.partition("=")[2]] if not text.startswith(":") else []
    for piece in pieces:
        if piece.startswith(("/", "~", "..")) or re.search(r"(^|/)\.[a-z]", piece) or (piece == text and "." in piece):
            if re.fullmatch(r"\.\.\.?|.*\.\.\.?[\w^~/-]*", piece) and "../" not in piece and piece != "..":
                continue
            c.paths([Word(text=piece, glob=arg.glob)], write=writes)
