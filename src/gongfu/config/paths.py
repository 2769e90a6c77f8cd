"""Where things of the user lie: one folder, `~/.gongfu` or what `GONGFU_HOME` names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gongfu.core.base import Base
from gongfu.core.errors import UserError


class Places(Base, frozen=True):
    """The folder of the user and the names in it. Nothing is created before `ensure`."""

    home: Path

    @property
    def config(self) -> Path:
        """The user's settings file."""
        return self.home / "config.yaml"

    @property
    def configs(self) -> Path:
        """Folder of named configurations, `NAME.yaml` each."""
        return self.home / "configs"

    @property
    def history(self) -> Path:
        """Folder of earlier versions of the settings files."""
        return self.home / "history"

    @property
    def store(self) -> Path:
        """The database of sessions and events."""
        return self.home / "gongfu.db"

    @property
    def checkpoints(self) -> Path:
        """The store of checkpoints of files."""
        return self.home / "checkpoints.sqlite"

    @property
    def artifacts(self) -> Path:
        """Folder of whole outputs, one folder a session."""
        return self.home / "artifacts"

    @property
    def models(self) -> Path:
        """Folder of model files."""
        return self.home / "models"

    @property
    def keys(self) -> Path:
        """The file of keys, mode 0600."""
        return self.home / "keys.yaml"

    @property
    def logs(self) -> Path:
        """Folder of logs."""
        return self.home / "logs"

    @property
    def catalog(self) -> Path:
        """The refreshed model catalog."""
        return self.home / "catalog.json"

    @property
    def cache(self) -> Path:
        """Folder of what can be made again."""
        return self.home / "cache"

    @property
    def locks(self) -> Path:
        """Folder of lock files."""
        return self.home / "locks"

    @property
    def trust(self) -> Path:
        """The list of trusted folders."""
        return self.home / "trusted.json"

    def ensure(self, folder: Path | None = None) -> Path:
        """Make `folder` (a folder of these, else the home itself) with mode 0700 where it is missing; return it.

        Raises UserError when it cannot be made or is no folder.
        """
        wanted = folder or self.home
        try:
            if not wanted.is_dir():
                self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
                wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UserError("config.no_home", path=wanted, reason=error.strerror or error) from error
        return wanted


def places(env: Mapping[str, str]) -> Places:
    """The places that `env` asks for: `GONGFU_HOME`, else `.gongfu` in the home directory of the user.

    Raises UserError when neither is known.
    """
    chosen = env.get("GONGFU_HOME", "")
    if chosen:
        return Places(home=_absolute(_expand_user(chosen, env)))
    home = _user_home(env)
    if not home:
        raise UserError("config.home_unknown")
    return Places(home=_absolute(home) / ".gongfu")


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they are, `..` goes


def _expand_user(path: str, env: Mapping[str, str]) -> str:
    if path == "~" or path.startswith(("~/", "~\\")):
        return _user_home(env) + path[1:]
    return path


def _user_home(env: Mapping[str, str]) -> str:
    """The home directory by the variables of this platform, then by the account."""
    names = ("USERPROFILE", "HOME") if os.name == "nt" else ("HOME",)
    for name in names:
        if env.get(name):
            return env[name]
    found = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where this answers "~"
    return "" if found == "~" else found
