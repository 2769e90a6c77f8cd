"""Git settings of a repository that would run programs, and what is put in their place.

Git runs programs that a repository's own configuration names: monitors, hooks, filters, drivers, helpers. Settings
given through the environment win over those of a repository, so each such setting gets a harmless value there, or the
value that the person has given it for all repositories.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

Setting: TypeAlias = tuple[str, str]

STATIC: tuple[Setting, ...] = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("protocol.ext.allow", "never"),
)
ENVIRONMENT = {"GIT_PROXY_COMMAND": ""}  # set but empty: `core.gitProxy` is not read

_PLAIN_DIFF = 'gongfu() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5"; true; }; gongfu'
_PLAIN_MERGE = "git merge-file --marker-size=%L %A %O %B"
_SIGNERS = {"x509": "gpgsm", "ssh": "ssh-keygen"}
_NEUTRAL: dict[tuple[str, str], str] = {
    ("filter", "clean"): "",
    ("filter", "smudge"): "",
    ("filter", "process"): "",
    ("filter", "required"): "false",
    ("diff", "external"): _PLAIN_DIFF,
    ("diff", "command"): _PLAIN_DIFF,
    ("diff", "textconv"): "cat",
    ("merge", "driver"): _PLAIN_MERGE,
    ("gpg", "defaultkeycommand"): "false",
    ("credential", "helper"): "",
    ("core", "alternaterefscommand"): "true",
    ("interactive", "difffilter"): "cat",
    ("hook", "command"): "true",
    ("trailer", "command"): "true",
    ("trailer", "cmd"): "true",
    ("gc", "recentobjectshook"): "true",
    ("tar", "command"): "cat",
    ("imap", "tunnel"): "false",
    ("instaweb", "httpd"): "false",
    ("instaweb", "browser"): "false",
}
_FILES = {
    ("core", "excludesfile"), ("core", "attributesfile"), ("commit", "template"), ("mailmap", "file"),
    ("blame", "ignorerevsfile"),
}  # fmt: skip
"""Files that git reads: a pipe among them would keep it waiting."""
_NO_FILES = ("protocol.file.allow", "never")
_TOOLS = ("mergetool", "difftool", "guitool", "browser", "man", "sendemail", "lfs")
# Patterns are texts: `re` compiles and keeps them when the first command runs, not at import.
_TOOL_KEYS = r"\w*(?:cmd|path|clean|smudge|smtpserver|args|transferagent)"
_SUSPECT = (
    rb"\[\s*(?:include|filter|diff|merge|gpg|credential|alias|interactive|hook|trailer|gc|tar|imap|instaweb|pager"
    rb"|mergetool|difftool|guitool|browser|man|sendemail|lfs)"
    rb"|alternaterefscommand|excludesfile|attributesfile|template|mailmap|ignorerevsfile|uploadpack|receivepack|update\s*=\s*\"?!"
)
_PROGRAMS = {
    ("core", "sshcommand"), ("core", "gitproxy"), ("core", "hookspath"), ("core", "pager"), ("core", "editor"),
    ("core", "askpass"), ("sequence", "editor"),
}  # fmt: skip
_ELSEWHERE = rb"fsmonitor|sshcommand|gitproxy|hookspath|pager|editor|askpass|ext::"


def suspect(config: bytes) -> bool:
    """True when a configuration file may hold something for `replacements`; never False when it does."""
    return re.search(_SUSPECT, config, re.IGNORECASE) is not None


def names_programs(config: bytes) -> bool:
    """True when a configuration file may hold something for `runs_program`; never False when it does."""
    return suspect(config) or re.search(_ELSEWHERE, config, re.IGNORECASE) is not None


def runs_program(key: str, value: str) -> bool:
    """Whether git would run a program for this setting of a repository."""
    section, _, rest = key.lower().partition(".")
    name = rest.rpartition(".")[2]
    if (section, name) == ("core", "fsmonitor"):
        return value.lower() not in ("", "true", "false", "yes", "no", "on", "off", "0", "1")
    if (section, rest) in _PROGRAMS:
        return bool(value)
    if (section, name) in (("url", "insteadof"), ("remote", "url")):
        return "ext::" in key.lower() or value.startswith("ext::")
    return (
        bool(value)
        and name != "required"
        and (section, name) not in _FILES
        and (_serves(key) or neutral(key, value) is not None)
    )


def neutral(key: str, value: str) -> str | None:
    """The harmless value for one setting of a repository; None when it runs nothing as it is."""
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    section, name = section.lower(), name.lower()
    if section == "alias":
        return "" if value.lstrip().startswith(("!", "-")) else None
    if section == "pager":
        return "cat"
    if section == "submodule":
        return "checkout" if name == "update" and value.lstrip().startswith("!") else None
    if (section, name) in _FILES:
        file = os.path.expanduser(value)  # noqa: PTH111 - pathlib raises without a home
        return os.devnull if os.path.exists(file) and not os.path.isfile(file) else None  # noqa: PTH110, PTH113
    if (section, name) == ("gpg", "program"):
        return _SIGNERS.get(middle.lower(), "gpg")
    if section in _TOOLS:
        return "false" if re.fullmatch(_TOOL_KEYS, name) else None
    return _NEUTRAL.get((section, name))


def _serves(key: str) -> bool:
    """True for the program at the other end of a remote. Git takes the first value it finds, so no later one helps;
    it runs on this machine for remotes that are paths, and those are refused then."""
    return key.startswith("remote.") and key.endswith((".uploadpack", ".receivepack"))


def parse_listing(listing: bytes) -> list[tuple[str, str, str]]:
    """Scope, key and value of each line of `git config --list --show-scope -z`."""
    fields = listing.decode("utf-8", "surrogateescape").split("\0")
    found: list[tuple[str, str, str]] = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        found.append((scope, key, value))
    return found


def included(entries: Iterable[tuple[str, str, str]], folder: str) -> list[str]:
    """The files that a repository with its configuration in `folder` includes on a condition."""
    paths = [v for scope, key, v in entries if scope in ("local", "worktree") and key.startswith("includeif.")]
    files = (os.path.join(folder, os.path.expanduser(path)) for path in paths)  # noqa: PTH111, PTH118 - may have no home
    return [file for file in files if os.path.isfile(file)]  # noqa: PTH113


def replacements(entries: Iterable[tuple[str, str, str]]) -> list[Setting]:
    """The settings that switch off what a repository's configuration would run, from `parse_listing`.

    What the person has set for all repositories holds again.
    """
    persons: dict[str, list[str]] = {}
    wanted: dict[str, str] = {}
    remote_programs = False
    for scope, key, value in entries:
        if scope in ("system", "global"):
            persons.setdefault(key, []).append(value)
        elif scope in ("local", "worktree") and (harmless := neutral(key, value)) is not None:
            wanted[key] = harmless
        elif scope in ("local", "worktree") and _serves(key):
            remote_programs = True
    settings: list[Setting] = [_NO_FILES] if remote_programs else []
    for key, harmless in wanted.items():
        own = persons.get(key, [])
        if key.endswith(".helper"):
            settings.extend([(key, ""), *((key, value) for value in own)])
            if key != "credential.helper":  # an empty value forgets the general helpers too
                settings.extend(("credential.helper", value) for value in persons.get("credential.helper", []))
        else:
            settings.append((key, own[-1] if own else harmless))
    return settings


def with_settings(env: Mapping[str, str], settings: Sequence[Setting]) -> dict[str, str]:
    """The variables that add `settings` behind those which `env` already gives to git."""
    count = env.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isascii() and count.isdigit() else 0
    added = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings, first):
        added[f"GIT_CONFIG_KEY_{number}"] = key
        added[f"GIT_CONFIG_VALUE_{number}"] = value
    return added


def static_settings(env: Mapping[str, str]) -> dict[str, str]:
    """What is switched off in every repository, wherever a command goes."""
    return {**ENVIRONMENT, **with_settings(env, STATIC)}
