"""The sandbox of an app: found when it is first needed, it turns a command into what is really started."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.config.settings import Sandbox as Settings
from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.sandbox.confinement import Confinement, Kind, Launch, Network

if TYPE_CHECKING:
    from gongfu.workspace.root import Workspace
    from gongfu.workspace.sandbox.landlock import Spawner
    from gongfu.workspace.sandbox.loopback import Loopback
    from gongfu.workspace.sandbox.masks import Masks
    from gongfu.workspace.sandbox.probe import Found
    from gongfu.workspace.sandbox.proxy import Proxy
    from gongfu.workspace.sandbox.temp import Temp

_FRESH = 30.0  # seconds for which what was found on the disk is taken for granted


class Reason(Base, frozen=True):
    """A sentence of the catalogue of messages with what fills it."""

    key: str
    values: dict[str, str] = {}


class Sandbox:
    """Confines commands by what this machine offers.

    `workspace` says what may be written, and with `env` (the person's environment) what is hidden; `memory` is a file
    that spares the next run the search. Nothing is looked for before it is asked.
    """

    def __init__(
        self, settings: Settings, workspace: Workspace, env: Mapping[str, str], memory: Path | None = None
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._env = env
        self._memory = memory
        self._seen: tuple[float, tuple[object, ...], Confinement] = (-_FRESH, (), Confinement())
        self._spawners: dict[tuple[Network, bool], tuple[object, Spawner]] = {}
        self._proxy: Proxy | None = None
        self._barred: dict[str, None] = {}

    # --- what it is -----------------------------------------------------------------------------------------------

    @cached_property
    def _found(self) -> Found:
        from gongfu.workspace.sandbox.probe import probe  # only when a command is to run

        return probe(self._settings.kind, self._env, self._memory)

    @property
    def kind(self) -> Kind:
        """What confines commands: "bwrap", "landlock" or "none"."""
        return self._found.kind

    @property
    def likely(self) -> Kind:
        """What `kind` will probably say, without trying anything."""
        from gongfu.workspace.sandbox.probe import guess

        return self._found.kind if "_found" in self.__dict__ else guess(self._settings.kind, self._env)

    @property
    def network(self) -> Network:
        """What a command reaches that was given nothing special."""
        wanted = self._settings.network
        return wanted if wanted != "list" or self.likely == "bwrap" else "off"

    @property
    def covers(self) -> frozenset[str]:
        """The ratings of commands that it makes harmless (`permissions.rating`).

        Landlock makes neither "network" harmless (UDP stays open) nor "credential" (sockets of agents stay open).
        """
        if self.kind == "bwrap":
            return frozenset(("outside", "credential", *(() if self._settings.network == "on" else ("network",))))
        return frozenset(("outside",)) if self.kind == "landlock" and not _open_service() else frozenset()

    @property
    def why(self) -> Reason:
        """Why there is none, else what it does not cover: a sentence for the person."""
        found = self._found
        if found.kind == "none":
            return Reason(key=f"sandbox.none_{found.why}", values={"reason": found.reason})
        if found.kind == "bwrap":
            return Reason(key="sandbox.bwrap_open")
        service = _open_service()
        if service:
            return Reason(key="sandbox.landlock_service", values={"path": service})
        return Reason(key="sandbox.landlock_open" if found.abi >= 6 else "sandbox.landlock_old")

    def said(self, launch: Launch) -> str:
        """What the model is told when something failed that the sandbox forbids."""
        hosts = ", ".join(self._settings.hosts) or "nothing"
        reach = {"off": "no network", "list": f"network only to {hosts}", "on": ""}
        limits = "only the workspace is writable (not .git/config or .git/hooks), keys are hidden"
        more = "; /tmp is not writable, use $TMPDIR" if launch.kind == "landlock" else ""
        secrets = f"; {self.said_of_secrets(launch)}" if launch.masked else ""
        first = reach[launch.network]
        return f"it ran in a sandbox: {first + ', ' if first else ''}{limits}{more}{secrets}"

    def said_of_secrets(self, launch: Launch) -> str:
        """What the model is told when a command met a secret of the workspace."""
        names = [str(self._workspace.show(Path(path))) for path in launch.masked[:3]]
        if len(launch.masked) > len(names):
            names.append(f"{len(launch.masked) - len(names)} more")
        beside = "; what it makes beside them only the next command can read" if launch.kind == "landlock" else ""
        return f"secrets are closed to it ({', '.join(names)}): the person is asked when a command names them{beside}"

    # --- starting -------------------------------------------------------------------------------------------------

    async def launch(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        free: bool = False,
        network: bool = False,
        write: bool = True,
        open_secrets: bool = False,
    ) -> Launch:
        """What is to be started for a command. `free` leaves it unconfined, `network` opens the network for it, without
        `write` the workspace is read-only, `open_secrets` lets it read the secrets of the workspace.

        ToolFailure when a sandbox is required and there is none. OSError when it cannot be set up.
        """
        plain = Launch(argv=list(argv), cwd=cwd, env=dict(env))
        if self._settings.kind == "off":
            return plain
        if self.kind == "none":
            if self._settings.required:
                raise ToolFailure(
                    "Refused: the settings require a sandbox for commands, and none can be had on this machine. "
                    "Nothing was run; no other command will run either."
                )
            return plain
        if free:
            self.settle()
            self._barred.clear()  # it may make them, and so may the person by it
            return plain
        from msgspec.structs import replace

        self.settle()
        reach: Network = "on" if network else self.network
        if self.kind == "bwrap":
            launch = await self._by_bwrap(plain, self._limits(reach, write=write, open_secrets=open_secrets))
        else:
            launch = self._by_landlock(plain, self._limits(reach, write=write, open_secrets=open_secrets), write)
        return replace(launch, absent=self._absent()) if write else launch

    def settle(self, launch: Launch | None = None, *, over: bool = True) -> list[str]:
        """Set aside what a confined command made that git would obey outside; gives its paths.

        After a command call it with its `launch`, and say whether it is `over`; else its names are looked at again
        before each further command, and at the end.
        """
        from gongfu.workspace.sandbox.planted import set_aside

        if launch is not None and not over:
            self._barred.update(dict.fromkeys(launch.absent))
        return set_aside(dict.fromkeys((*(launch.absent if launch is not None else ()), *self._barred)))

    def _absent(self) -> tuple[str, ...]:
        from gongfu.workspace.sandbox.planted import absent

        return absent(self._seen[2].pinned)

    async def _by_bwrap(self, plain: Launch, limits: Confinement) -> Launch:
        from gongfu.workspace.sandbox.bwrap import arguments
        from gongfu.workspace.sandbox.confinement import Box
        from gongfu.workspace.sandbox.environment import confined_env
        from gongfu.workspace.sandbox.places import is_temporary, sockets

        style = self._found.style
        if style is None:
            return plain
        network, cwd = limits.network, str(plain.cwd)
        if is_temporary(cwd):
            limits = _with(limits, shown=(cwd, *limits.shown))
        env = confined_env(plain.env, temp="/tmp", writable=limits.writable, network=network)  # noqa: S108
        argv = plain.argv
        if network == "list":
            argv = await self._through_proxy(argv, env)
        bound = sockets(limits.hidden, limits.writable)
        join = self._loopback.join if network != "on" else ()
        argv = [*arguments(style, limits, bound, cwd, join), *argv]
        box = Box(own_pids=True)
        return Launch(
            argv=argv, cwd=Path("/"), env=env, kind="bwrap", network=network, box=box, masked=limits.masked,
            shared=bool(join),
        )  # fmt: skip

    @cached_property
    def _loopback(self) -> Loopback:
        from gongfu.workspace.sandbox.bwrap import Style
        from gongfu.workspace.sandbox.loopback import Loopback

        return Loopback(self._found.style or Style(program=""))

    def _by_landlock(self, plain: Launch, limits: Confinement, write: bool) -> Launch:
        from gongfu.workspace.sandbox.confinement import Box
        from gongfu.workspace.sandbox.environment import confined_env
        from gongfu.workspace.sandbox.landlock import Spawner

        network = limits.network
        env = confined_env(plain.env, temp=limits.temp, writable=limits.writable, network=network)
        known = self._spawners.get((network, write))
        stamp = (limits, _beside(limits.masked))  # beside a secret each file is let through by itself
        if known is None or known[0] != stamp or _is_fresh(stamp[1]):
            spawner = Spawner(limits, self._found.abi)
            if known is not None:
                known[1].close()
            self._spawners[network, write] = (stamp, spawner)
        else:
            spawner = known[1]
        return Launch(
            argv=plain.argv, cwd=plain.cwd, env=env, kind="landlock", network=network, box=Box(start=spawner),
            masked=limits.masked,
        )  # fmt: skip

    async def _through_proxy(self, argv: list[str], env: dict[str, str]) -> list[str]:
        from gongfu.workspace.sandbox.proxy import Proxy, through

        if self._proxy is None:
            self._proxy = Proxy(self._settings.hosts, Path(self._temp) / "tmp" / ".proxy")
            await self._proxy.open()
        return through("/tmp/.proxy", argv, env, self._settings.hosts)  # noqa: S108

    # --- limits ---------------------------------------------------------------------------------------------------

    @cached_property
    def _kept_temp(self) -> Temp:
        from gongfu.workspace.sandbox.temp import new_temp

        return new_temp()

    @property
    def _temp(self) -> str:
        return self._kept_temp.path

    @cached_property
    def _masks(self) -> Masks:
        from gongfu.workspace.sandbox.masks import Masks

        return Masks(self._workspace)

    @property
    def sees_all(self) -> bool:
        """Whether the secrets of the workspace can be looked for in all of it, not only in a part; looks for them."""
        self._masks.find(self._own)
        return not self._masks.partial

    def _limits(self, network: Network, *, write: bool, open_secrets: bool = False) -> Confinement:
        from gongfu.workspace.sandbox.masks import outside_hidden

        own = self._own
        secrets = self._masks.find(own)
        nested = self._masks.repositories
        now, state = time.monotonic(), (nested, *map(_changed, (p for top in own for p in (top, f"{top}/.git"))))
        if now - self._seen[0] >= _FRESH or self._seen[1] != state:
            self._seen = (now, state, self._look(nested))
        limits = self._seen[2]
        masked = () if open_secrets else outside_hidden(secrets, limits.hidden)
        if write:
            return _with(limits, network=network, masked=masked)
        return Confinement(
            hidden=limits.hidden, masked=masked, shown=(*limits.shown, *limits.writable), temp=limits.temp,
            network=network,
        )  # fmt: skip

    @cached_property
    def _own(self) -> tuple[str, ...]:
        from gongfu.workspace.sandbox.places import outer, real_paths

        return outer(real_paths(str(p) for p in (self._workspace.root, *self._workspace.extra)))

    def _look(self, nested: Sequence[str]) -> Confinement:
        from gongfu.workspace.sandbox.places import hidden, homes, kept, outer, real_paths, shown_in_temporary

        workspace, env = self._workspace, self._env
        own = [str(p) for p in (workspace.root, *workspace.extra)]
        more = [os.path.expanduser(path) for path in self._settings.writable]  # noqa: PTH111
        folders = [p for p in real_paths([*own, *more]) if os.path.isdir(p)]  # noqa: PTH112
        keep = kept(folders, nested)
        here = os.path.dirname(__file__)  # noqa: PTH120 - the forwarder and the worker of the screen start from Gongfu
        for _ in ("sandbox", "workspace"):
            here = os.path.dirname(here)  # noqa: PTH120
        needed = (here, sys.prefix, sys.base_prefix, env.get("VIRTUAL_ENV", ""), *homes(env))
        return Confinement(
            writable=outer((*folders, *keep.added)),
            read_only=keep.read_only,
            pinned=keep.pinned,
            hidden=hidden(workspace, env, self._settings.hidden),
            shown=shown_in_temporary(env, needed),
            temp=f"{self._temp}/tmp",  # noqa: S108
        )

    async def close(self) -> None:
        """Remove the temporary files of commands, and end what serves them."""
        if self._barred:
            self.settle()
            self._barred.clear()
        if self._proxy is not None:
            await self._proxy.close()
        for _, spawner in self._spawners.values():
            spawner.close()
        self._spawners.clear()
        if "_loopback" in self.__dict__:
            self._loopback.close()
            del self.__dict__["_loopback"]
        if "_kept_temp" in self.__dict__:
            from gongfu.workspace.sandbox.temp import remove_temp

            remove_temp(self._kept_temp)
            del self.__dict__["_kept_temp"]


def _with(limits: Confinement, **changes: object) -> Confinement:
    import msgspec

    return msgspec.structs.replace(limits, **changes)


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0


def _beside(masked: Sequence[str]) -> tuple[int, ...]:
    """When the folders around secrets, up to the topmost, have changed last."""
    folders: dict[str, None] = {}
    for path in masked:
        while path and (path := path.rpartition("/")[0]) not in folders:
            folders[path] = None
    return tuple(_changed(folder or "/") for folder in folders)


def _is_fresh(times: Sequence[int]) -> bool:
    """Whether a change is so new that another one at the same tick of the clock would not be seen."""
    return any(time.time_ns() - moment < 50_000_000 for moment in times)


def _open_service() -> str:
    """The socket of a service that does as root what it is told, and lets this user in; "" when there is none."""
    for path in ("/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock"):
        if os.access(path, os.W_OK):
            return path
    return ""
