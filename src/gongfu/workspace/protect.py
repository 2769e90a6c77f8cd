"""Files that need consent whatever the mode: secrets, and what would run by itself or change the rules.

Names are judged without regard to case, so that `.ENV` is no way around on a file system that folds it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

from gongfu.workspace.commandwords import path_words, raw_words
from gongfu.workspace.globs import name_regex
from gongfu.workspace.root import Workspace, is_below

Protected: TypeAlias = Literal["", "secret", "git", "startup", "settings"]

_EXAMPLE = r"(^|[._-])(example|sample|template|tmpl|dist|defaults?|schema|test|ci)([._-]|$)|\.(md|py|js|ts)$"
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
_SECRET_FOLDERS = tuple(
    tuple(p.split("/"))
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
    tuple(p.split("/"))
    for p in (
        ".config/fish", ".config/autostart", ".config/systemd/user", ".config/environment.d", ".config/git",
        "library/launchagents", "library/launchdaemons", "start menu/programs/startup",
    )
)  # fmt: skip
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
    """
    names = tuple(_plain(n) for n in path.parts)
    own = next((f for f in workspace.private if is_below(path, f)), None)
    if own is not None:
        first = path.relative_to(own).parts[:1] if path.is_relative_to(own) else ()
        return "settings" if write else "secret" if first and first[0].lower() in _KEYS else ""
    if _is_secret(path, names):
        return "secret"
    if not write:
        return ""
    if ".git" in names:
        return "git"
    if ".gongfu" in names or names[-1:] == (".mcp.json",):
        return "settings"
    return "startup" if _is_startup(path, names) else ""


def _plain(name: str) -> str:
    """A name as the most forgiving file system sees it."""
    text = name.casefold()
    if not text.isascii():
        text = re.sub(_INVISIBLE, "", text)
    if sys.platform == "win32":
        text = text.partition(":")[0].rstrip(" .") or text
    return text


def _is_secret(path: Path, names: tuple[str, ...]) -> bool:
    name = names[-1] if names else ""
    if name.endswith(".pub") or name in ("known_hosts", "known_hosts.old"):
        return False
    if _has_secret_name(name) and not re.search(_EXAMPLE, name):
        return not path.is_dir()
    if name in _LOGIN_NAMES and _holds_token(path):
        return True
    if _has_folder(names, _SECRET_FOLDERS):
        return True
    return names[1:2] in (("etc",), ("proc",)) and re.fullmatch(_SYSTEM_PLACES, path.as_posix()) is not None


def _has_secret_name(name: str) -> bool:
    if name in _SECRET_NAMES or name.endswith(_SECRET_ENDS):
        return True
    return name.startswith(_SECRET_STARTS) and re.fullmatch(_FORMS, name) is not None


def _is_startup(path: Path, names: tuple[str, ...]) -> bool:
    name = names[-1] if names else ""
    if (
        name in _STARTUP_NAMES
        or name.endswith((".profile.ps1", "_profile.ps1"))
        or _has_folder(names, _STARTUP_FOLDERS)
    ):
        return True
    return names[1:2] in (("etc",), ("var",)) and re.fullmatch(_SYSTEM_STARTUP, path.as_posix()) is not None


def _has_folder(names: tuple[str, ...], folders: tuple[tuple[str, ...], ...]) -> bool:
    for folder in folders:
        first, size = folder[0], len(folder)
        if first in names and any(names[i : i + size] == folder for i in range(len(names)) if names[i] == first):
            return True
    return False


def _holds_token(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return re.search(_LOGIN, file.read(65536)) is not None
    except OSError:
        return False


def mentions_protected(
    command: str, cwd: Path, workspace: Workspace, *, windows: bool = sys.platform == "win32"
) -> tuple[Path, ...]:
    """The secrets that a shell command line names, as absolute paths: plainly, by a glob or through a variable, a
    redirection, an option or a quoted script, or by a recursive search over a folder that holds one.
    """
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is no home
    variables = {"HOME": home, "USERPROFILE": home, "PWD": str(cwd)}
    words = dict.fromkeys(path_words(command, variables, windows=windows))
    bases = _bases(command, cwd, home, windows=windows)
    found: dict[Path, None] = {}
    for word in words:
        for base in bases:
            for path in _leads_to(word.text, base, home):
                real = Path(os.path.realpath(path))
                if (word.direct or path.exists()) and _either_secret(path, real, workspace):
                    found[real] = None
    for path in _searched(command, bases, workspace, windows=windows):
        found[path] = None
    return tuple(found)


def _either_secret(path: Path, real: Path, workspace: Workspace) -> bool:
    return "secret" in (why_protected(path, workspace, write=False), why_protected(real, workspace, write=False))


def _bases(command: str, cwd: Path, home: str, *, windows: bool) -> list[Path]:
    """The working directory and all folders that the line changes into."""
    bases = [cwd]
    words = raw_words(command, windows=windows)
    for verb, target in pairwise(words):
        if verb in ("cd", "pushd", "-C", "chdir", "Set-Location"):
            bases.extend(p for p in (_leads_to(target, bases[-1], home)) if p.is_dir() and p not in bases)
    return bases[:8]


def _leads_to(word: str, base: Path, home: str) -> list[Path]:
    """The absolute paths that a word names; a glob is tried on the disk."""
    if not word.strip("*") or "\0" in word or len(word) > 1000:
        return []
    text = home + word[1:] if word == "~" or word.startswith(("~/", "~\\")) else word
    try:
        os.fsencode(text)
        if re.search(r"[*?\[]", text) is None:
            return [Path(os.path.normpath(base / text))]
        return list(_globbed(text, base))
    except (OSError, ValueError):
        return []


def _globbed(pattern: str, base: Path) -> Iterator[Path]:
    """What a shell would make of a pattern: a leading dot is matched by a dot only. At most 2,000 names a folder."""
    whole = Path(pattern)
    places = [Path(whole.anchor) if whole.anchor else base]
    for part in whole.parts[1 if whole.anchor else 0 :]:
        following: list[Path] = []
        regex = name_regex(part, ignore_case=True)
        for place in places:
            if part == ".." or re.search(r"[*?\[]", part) is None:
                following.append(place / part)
            elif part == "**":
                following.extend([place, *_names(place, "*", regex)])
            else:
                following.extend(_names(place, part, regex))
        places = following[:500]
    yield from (p for p in places if p.exists())


def _names(place: Path, part: str, regex: re.Pattern[str]) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            names = [e.name for _, e in zip(range(2000), entries, strict=False)]
    except OSError:
        return []
    dotted = part.startswith((".", "["))
    return [place / n for n in sorted(names) if (dotted or not n.startswith(".")) and regex.fullmatch(n)]


_GREP = r"(.*/)?[ezf]?grep"
_GREP_DEEP = r"-[A-Za-z]*[rR][A-Za-z]*|--(dereference-)?recursive"
_RIPGREP = r"(.*/)?(rg|ag)"
_RIPGREP_DEEP = r"-[A-Za-z]*u[A-Za-z]*|-\.|--hidden|--unrestricted"


def _searched(command: str, bases: list[Path], workspace: Workspace, *, windows: bool) -> Iterator[Path]:
    """Secrets in the folders that a recursive search would read, down to one folder below them."""
    words = raw_words(command, windows=windows)
    for i, word in enumerate(words):
        deep = _GREP_DEEP if re.fullmatch(_GREP, word) else _RIPGREP_DEEP if re.fullmatch(_RIPGREP, word) else None
        rest = words[i + 1 :]
        if deep is None or not any(re.fullmatch(deep, w) for w in rest) or any(w.startswith("--include") for w in rest):
            continue
        for base in bases:
            places = [Path(os.path.normpath(base / w)) for w in rest if not w.startswith("-") and len(w) < 1000]
            for place in [p for p in places if p.is_dir()] or [base]:
                yield from _secrets_below(place, workspace)


def _secrets_below(place: Path, workspace: Workspace) -> Iterator[Path]:
    everything = name_regex("*")
    folders = [p for p in _names(place, ".", everything)[:200] if p.is_dir() and not p.is_symlink()]
    for folder in (place, *folders):
        for path in _names(folder, ".", everything):
            if path.is_file() and why_protected(path, workspace, write=False) == "secret":
                yield Path(os.path.realpath(path))
