"""The environment of commands: without secrets, and with nothing that waits for a person."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from gongfu.workspace.git_guard import static_settings

# Patterns are texts: `re` compiles and keeps them when the first command runs, not at import.
_NAMES = (
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CONNECTION_?STRING"
    r"|(?:^|_)(?:PASS|PWD|PAT|AUTH|COOKIE|DSN|JWT|BEARER|WEBHOOK)(?:_|$)"
)
_HARMLESS = (
    r"(?:OLD)?PWD|SSH_AUTH_SOCK|GIT_CONFIG_KEY_\d+|GIT_CONFIG_COUNT|KEYTIMEOUT|(?:\w+_)?TOKENIZERS?(?:_\w+)?"
    r"|(?:\w+_)?MAX_(?:\w+_)?TOKENS|XKB\w*|LESSKEY\w*|PYTHON_KEYRING_BACKEND|DOCKER_BUILDKIT|SSH_ASKPASS\w*"
    r"|(?:\w+_)?(?:KEYCLOAK|HOTKEYS?|DONKEY)(?:_\w+)?"
    r"|(?:\w+_)?(?:KEYBOARD|KEYMAP|KEYCODE|KEYWORDS?|KEYSPACE|KEYSERVER|KEYRING|MONKEY\w*|TURKEY|HOCKEY)(?:_\w+)?"
)
_PROXIES = ("ALL_PROXY", "FTP_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

_QUIET = {
    # pagers
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "BAT_PAGER": "cat",
    "DELTA_PAGER": "cat",
    "GH_PAGER": "cat",
    "PSQL_PAGER": "cat",
    "AWS_PAGER": "",
    "LESS": "-FRX",
    # editors: what was to be edited stays as it is
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    # prompts
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "GH_PROMPT_DISABLED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "COMPOSER_NO_INTERACTION": "1",
    "NPM_CONFIG_UPDATE_NOTIFIER": "false",
    # output as it comes
    "PYTHONUNBUFFERED": "1",
}
_DROPPED = ("SSH_ASKPASS", "SUDO_ASKPASS", "GIT_EXTERNAL_DIFF", "GPG_TTY", "PROMPT_COMMAND")


def is_secret(name: str, value: str) -> bool:
    """True for a variable that is a secret by its name or by what it looks like. A proxy's address never is."""
    if name.upper() in _PROXIES:
        return False
    return _named(name) or _looks(value)


def search_path(env: Mapping[str, str]) -> str:
    """Where programs are looked for: `PATH` without what depends on the current folder, since a repository may bring
    programs that are called like the system's.
    """
    path = env.get("PATH", os.defpath)
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder.strip('"')))  # noqa: PTH117


def _named(name: str) -> bool:
    shout = name.lower().upper()  # a pattern that heeds no case takes five times as long to compile
    return bool(re.search(_NAMES, shout)) and not re.fullmatch(_HARMLESS, shout)


def _looks(value: str) -> bool:
    from gongfu.core.secrets import looks_secret  # when the first command runs, not before

    return looks_secret(value)


def child_env(env: Mapping[str, str], *, keep: Iterable[str] = (), trusted: bool = False) -> dict[str, str]:
    """The environment that commands of the model get, made from `env`.

    Secrets are left out unless `keep` names them. Pagers, editors and prompts for credentials are switched off. Unless
    the folder is `trusted`, git runs no monitor, hook or proxy that a repository's configuration names (filters and
    drivers: see `git.GitGuard`), and no program is looked for in the current folder (see `search_path`).
    """
    wanted = set(keep)
    by_name = {name for name in env if _named(name)}
    some = _looks("\n".join(value for name, value in env.items() if name not in by_name))  # mostly there is none
    child = {
        name: value
        for name, value in env.items()
        if name in wanted or not (name in by_name or (some and is_secret(name, value)))
    }
    for name in _DROPPED:
        if name not in wanted:
            child.pop(name, None)
    child.update({name: value for name, value in _QUIET.items() if name not in wanted})
    child.setdefault("TERM", "dumb")
    child["GIT_SSH_COMMAND"] = batch_ssh(env.get("GIT_SSH_COMMAND") or env.get("GIT_SSH") or "ssh")
    if not trusted:
        child.update(static_settings(child))
        if "PATH" in child:
            child["PATH"] = search_path(child)
    return child


def batch_ssh(command: str) -> str:
    """The same ssh without questions; a program of another name is left alone."""
    program = command.split(maxsplit=1)[0].rsplit("/", 1)[-1] if command.split() else ""
    asks = program in ("ssh", "ssh.exe") and "batchmode" not in command.lower()
    return f"{command} -oBatchMode=yes" if asks else command
