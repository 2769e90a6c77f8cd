"""Files that need consent whatever the mode: secrets, and what would run by itself or change the rules.

Names are judged without regard to case, so that `.ENV` is no way around on a file system that folds it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

from gongfu.workspace.commandwords import path_words, raw_words
from gongfu.workspace.disk import Disk, real_path
from gongfu.workspace.root import Workspace, joined, rest_below

Protected: TypeAlias = Literal["", "secret", "git", "startup", "settings"]
_Look: TypeAlias = Literal["", "file", "login", "place"]

_EXAMPLE = r"(^|[._-])(example|sample|template|tmpl|dist|defaults?|schema|test|ci)([._-]|$)|\.(md|py|js|ts)$"
_EXAMPLE_KEY = r"(^|[._-])(example|sample|template|dummy)([._-]|$)"
_SECRET_NAMES = frozenset(
    [
        ".env", ".envrc", ".flaskenv", "secring.gpg", ".netrc", "_netrc", ".pypirc", ".git-credentials", ".pgpass",
        ".my.cnf", ".mylogin.cnf", ".htpasswd", ".dockercfg", ".dockerconfigjson", ".vault-token", ".s3cfg", ".boto",
        ".terraformrc", "terraform.rc", "kubeconfig", "credential", "credentials", ".credential", ".credentials",
        "application_default_credentials.json", ".bash_history", ".zsh_history", ".sh_history", ".python_history",
        ".node_repl_history", ".mysql_history", ".psql_history", ".sqlite_history", ".rediscli_history",
        "fish_history", "consolehost_history.txt", "key3.db", "key4.db", "logins.json", "cookies", "cookies.sqlite",
        "login.keychain", "login.keychain-db",
    ]
) | {"login data"}  # fmt: skip
_SECRET_ENDS = (
    ".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".pkcs12", ".jks", ".keystore", ".ppk", ".kdb", ".kdbx",
    ".agekey", ".ovpn", ".kubeconfig",
)  # fmt: skip
_SECRET_STARTS = (".env", "id_", "credential", ".credential", "secret", ".secret", "client", "service")
_FORMS = (
    r"\.env[._-].*|id_(rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)([._-].*)?"
    r"|\.?credentials?\.(json|ya?ml|toml|xml|ini|db|csv|txt|properties|cfg)"
    r"|\.?secrets?\.(json|ya?ml|toml|xml|ini|txt|properties|cfg)"
    r"|client_?secrets?.*\.json|service[-_]?account.*\.json"
)
_LOGIN_NAMES = frozenset(
    [".npmrc", ".yarnrc", ".yarnrc.yml", ".condarc", "pip.conf", "pip.ini", "nuget.config", "settings.xml"]
)
_LOGIN = rb"(?i)_auth|authtoken|password|cleartext|://[^/\s:@]+:[^/\s@]+@"
SECRET_FOLDERS = tuple(
    f"/{p}/"
    for p in (
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".config/gcloud", ".config/gh",
        ".config/glab-cli", ".config/rclone", ".config/doctl", ".config/op", ".docker/config.json",
        ".config/containers/auth.json",
        ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings-security.xml",
        ".gradle/gradle.properties", ".codex/auth.json", ".claude/.credentials.json", ".local/share/keyrings",
        ".local/share/kwalletd", ".kde/share/apps/kwallet", "library/keychains", "library/cookies",
        "microsoft/credentials", "microsoft/protect", "microsoft/vault", ".mozilla/firefox", ".config/google-chrome",
        ".config/chromium", ".config/bravesoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
        "application support/google/chrome", "application support/firefox", "application support/bravesoftware",
        "application support/microsoft edge", "google/chrome/user data", "microsoft/edge/user data",
        "mozilla/firefox/profiles", ".thunderbird",
    )
)  # fmt: skip
_SECRET_FIRSTS = frozenset(p.split("/")[1] for p in SECRET_FOLDERS)
_TELLING = _SECRET_NAMES | _LOGIN_NAMES | frozenset(p.split("/")[-2] for p in SECRET_FOLDERS)
_SYSTEM_PLACES = r"/etc/(shadow|gshadow|sudoers|ssl/private)(-|/.*|\.d/.*)?|/proc/[^/]+/(environ|mem)"
_STARTUP_NAMES = frozenset(
    [
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
        ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout",
        ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".direnvrc", ".inputrc",
        ".gitconfig", "config.fish", "profile.ps1",
    ]
)  # fmt: skip
_STARTUP_FOLDERS = tuple(
    f"/{p}/"
    for p in (
        ".config/fish", ".config/autostart", ".config/systemd/user", ".config/environment.d", ".config/git",
        "library/launchagents", "library/launchdaemons", "start menu/programs/startup",
    )
)  # fmt: skip
_STARTUP_FIRSTS = frozenset(p.split("/")[1] for p in _STARTUP_FOLDERS)
_SYSTEM_STARTUP = (
    r"/etc/(profile|bash\.bashrc|bashrc|environment|zsh.*|profile\.d|cron.*|rc\..*|init\.d|systemd|ld\.so\..*)(/.*)?"
    r"|/var/spool/cron(/.*)?"
)
_INVISIBLE = "[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
_KEYS = ("keys.yaml", "config.yaml", "configs", "history")


def why_protected(path: Path, workspace: Workspace, *, write: bool = True) -> Protected:
    """Why touching an absolute path needs consent: "" when it does not.

    "secret" holds for reading too; "git" (below `.git`), "startup" (files that a shell or a login runs) and
    "settings" (Gongfu's own) only for writing. Judge the path both as it was asked for and after resolving links.
    What the person forbids to read is a secret.
    """
    if workspace.barred is not None and workspace.barred(str(path)):
        return "secret"
    return _why(str(path), [str(folder) for folder in workspace.private], write=write)


def might_be_secret(path: str, name: str) -> bool:
    """Whether an absolute path, whose last name is `name`, looks like a secret; made for many paths, most of which
    are none. What is on the disk is not looked at: `why_protected` has the last word.
    """
    low = name.lower()
    if low.isascii() and not (low in _TELLING or low.endswith(_SECRET_ENDS) or low.startswith(_SECRET_STARTS)):
        return False
    return _look(path) != ""


def _why(path: str, private: Sequence[str], *, write: bool) -> Protected:
    for folder in private:
        rest = rest_below(path, folder)
        if rest is not None:
            return "settings" if write else "secret" if rest.partition(os.sep)[0].lower() in _KEYS else ""
    look = _look(path)
    if look and _is_secret(path, look):
        return "secret"
    if not write:
        return ""
    names = _names(path)
    if ".git" in names:
        return "git"
    if ".gongfu" in names or names[-1] == ".mcp.json" or _runs_elsewhere(names):
        return "settings"
    return "startup" if _is_startup(path, names) else ""


def _runs_elsewhere(names: Sequence[str]) -> bool:
    """Whether a file names programs that other tools of the person run on their own."""
    if names[-2:-1] == [".claude"]:
        return names[-1].startswith("settings")
    return names[-2:] in ([".cursor", "mcp.json"], [".vscode", "mcp.json"], [".vscode", "tasks.json"])


def _names(path: str) -> list[str]:
    """The names of a path as the most forgiving file system sees them; the first one is empty or a drive."""
    text = path.casefold()
    if not text.isascii():
        text = re.sub(_INVISIBLE, "", text)
    if sys.platform != "win32":
        return text.split("/")
    return [name.partition(":")[0].rstrip(" .") or name for name in text.replace("\\", "/").split("/")]


def _is_secret(path: str, look: _Look) -> bool:
    """Whether a path that looks like a secret is one; what that depends on is looked up on the disk each time."""
    if look == "file":
        return not os.path.isdir(path)  # noqa: PTH112 - pathlib raises for names that are too long
    return look == "place" or _holds_token(path)


@lru_cache(maxsize=1024)  # the words of command lines are mostly the same few: options, commands, folders
def _look(path: str) -> _Look:
    """What a path looks like by its text alone: "file" a secret unless it is a folder, "login" one if a token is in
    it, "place" one for where it lies; "" none.
    """
    names = _names(path)
    name = names[-1]
    if name.endswith(".pub") or name in ("known_hosts", "known_hosts.old"):
        return ""
    if _has_secret_name(name) and not re.search(_EXAMPLE_KEY if _is_key(name) else _EXAMPLE, name):
        return "file"
    if _has_folder(names, SECRET_FOLDERS, _SECRET_FIRSTS):
        return "place"
    if names[1:2] in (["etc"], ["proc"]) and re.fullmatch(_SYSTEM_PLACES, _slashed(path)) is not None:
        return "place"
    return "login" if name in _LOGIN_NAMES or names[-2:] == [".git", "config"] else ""


def _is_key(name: str) -> bool:
    return name.startswith("id_") or (name.endswith(_SECRET_ENDS) and not name.endswith(".env"))


def _has_secret_name(name: str) -> bool:
    if name in _SECRET_NAMES or name.endswith(_SECRET_ENDS):
        return True
    return name.startswith(_SECRET_STARTS) and re.fullmatch(_FORMS, name) is not None


def _is_startup(path: str, names: list[str]) -> bool:
    name = names[-1]
    if (
        name in _STARTUP_NAMES
        or name.endswith((".profile.ps1", "_profile.ps1"))
        or _has_folder(names, _STARTUP_FOLDERS, _STARTUP_FIRSTS)
    ):
        return True
    return names[1:2] in (["etc"], ["var"]) and re.fullmatch(_SYSTEM_STARTUP, _slashed(path)) is not None


def _has_folder(names: list[str], folders: tuple[str, ...], firsts: frozenset[str]) -> bool:
    """Whether one of the folders stands somewhere in the path; `firsts` are the first names of them."""
    if firsts.isdisjoint(names):
        return False
    whole = f"/{'/'.join(names)}/"
    return any(folder in whole for folder in folders)


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")


def _holds_token(path: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a text all the way
            return re.search(_LOGIN, file.read(65536)) is not None
    except (OSError, ValueError):
        return False


# --- command lines -----------------------------------------------------------------------------------------------


def mentions_protected(
    command: str, cwd: Path, workspace: Workspace, *, windows: bool = sys.platform == "win32"
) -> tuple[Path, ...]:
    """The secrets that a shell command line names, as absolute paths: plainly, by a glob or through a variable, a
    redirection, an option or a quoted script, or by a recursive search over a folder that holds one.
    """
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is no home
    variables = {"HOME": home, "USERPROFILE": home, "PWD": str(cwd)}
    words = raw_words(command, windows=windows)
    disk, private = Disk(home), [str(folder) for folder in workspace.private]
    bases = _bases(words, str(cwd), disk)
    found: dict[str, None] = {}
    for word, direct in path_words(words, variables).items():
        for base in bases:
            for path in disk.leads_to(word, base):
                real, exists = disk.real(path)
                if not direct and not exists:
                    continue
                if _why(path, private, write=False) or (real != path and _why(real, private, write=False)):
                    found[real] = None
    for path in _searched(words, bases, disk, private):
        found[path] = None
    return tuple(map(Path, found))


def paths_named(command: str, cwd: Path, *, windows: bool = sys.platform == "win32") -> tuple[str, ...]:
    """All paths that a command line may be about, absolute and after resolving links, whether they exist or not."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is no home
    variables = {"HOME": home, "USERPROFILE": home, "PWD": str(cwd)}
    words, disk = raw_words(command, windows=windows), Disk(home)
    bases = _bases(words, str(cwd), disk)
    found = path_words(words, variables)
    return tuple(dict.fromkeys(disk.real(p)[0] for word in found for base in bases for p in disk.leads_to(word, base)))


def _bases(words: list[str], cwd: str, disk: Disk) -> list[str]:
    """The working directory and all folders that the line changes into."""
    bases = [cwd]
    if _MOVES.isdisjoint(words):
        return bases
    for verb, target in pairwise(words):
        if verb in _MOVES:
            for path in disk.leads_to(target, bases[-1]):
                if path not in bases and os.path.isdir(path):  # noqa: PTH112
                    bases.append(path)
    return bases[:8]


_MOVES = frozenset(["cd", "pushd", "-C", "chdir", "Set-Location"])
_GREP = r"(.*/)?[ezf]?grep"
_GREP_DEEP = r"-[A-Za-z]*[rR][A-Za-z]*|--(dereference-)?recursive"
_RIPGREP = r"(.*/)?(rg|ag)"
_RIPGREP_DEEP = r"-[A-Za-z]*u[A-Za-z]*|-\.|--hidden|--unrestricted"


def _searched(words: list[str], bases: list[str], disk: Disk, private: Sequence[str]) -> Iterator[str]:
    """Secrets in the folders that a recursive search would read, down to one folder below them."""
    for i, word in enumerate(words):
        if not word.endswith(("grep", "rg", "ag")):
            continue
        deep = _GREP_DEEP if re.fullmatch(_GREP, word) else _RIPGREP_DEEP if re.fullmatch(_RIPGREP, word) else None
        rest = words[i + 1 :]
        if deep is None or not any(re.fullmatch(deep, w) for w in rest) or any(w.startswith("--include") for w in rest):
            continue
        named = [w for w in rest if not w.startswith("-") and len(w) < 1000]
        for base in bases:
            places = [os.path.normpath(joined(base, w)) for w in named]
            for place in [p for p in places if os.path.isdir(p)] or [base]:  # noqa: PTH112
                yield from _secrets_below(place, disk, private)


def _secrets_below(place: str, disk: Disk, private: Sequence[str]) -> Iterator[str]:
    inside = [p for p in disk.below(place)[:200] if os.path.isdir(p) and not os.path.islink(p)]  # noqa: PTH112, PTH114
    for folder in (place, *inside):
        for path in disk.below(folder):
            if _why(path, private, write=False) and os.path.isfile(path):  # noqa: PTH113
                yield real_path(path)
