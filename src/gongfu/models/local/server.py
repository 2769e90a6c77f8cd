"""The local model's server: started when first asked, shared by all processes of the user, gone when idle."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from gongfu.core.errors import UserError
from gongfu.models.local.download import human_size, model_path
from gongfu.models.local.models import LocalModel
from gongfu.models.local.record import KEY_VARIABLE, Record, read_record, remove_record, touch

if TYPE_CHECKING:
    from gongfu.config.paths import Places

IDLE_SECONDS = 300.0
START_SECONDS = 240.0

# What the server's process may know of the environment: nothing that could be a secret.
_PASSED = (
    "PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "WINDIR", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "APPDATA",
    "LOCALAPPDATA", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV",
    "CUDA_VISIBLE_DEVICES",
)  # fmt: skip

# Threads that wait for work must sleep: spinning ones take the processor from each other on a busy machine.
_WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


class LocalServer:
    """The server of one model. `program` is what is started (for another server with the same arguments).

    Nothing happens before `ready`.
    """

    def __init__(
        self,
        model: LocalModel,
        places: Places,
        env: Mapping[str, str],
        *,
        program: Sequence[str] = (),
        idle_seconds: float = IDLE_SECONDS,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self.model = model
        self._places = places
        self._env = env
        self._program = tuple(program)
        self._idle = idle_seconds
        self._wait = start_seconds
        self._record = places.locks / f"local-{model.name}.json"
        self._beat = places.locks / f"local-{model.name}.beat"
        self._lock = places.locks / f"local-{model.name}.lock"
        self.log = places.logs / f"local-{model.name}.log"

    async def ready(self) -> Record:
        """The running server, started if need be; its idle time begins anew.

        Raises UserError when the model was not fetched, its runtime is missing, memory is short or it does not start.
        """
        ends = time.monotonic() + self._wait
        while True:
            if (record := await self._running()) is not None:
                return record
            if (record := await self._start(ends)) is not None:
                return record
            if time.monotonic() > ends:
                raise UserError("local.server_slow", seconds=int(self._wait), log=self.log)
            await anyio.sleep(0.1)  # another process is starting it

    def running(self) -> Record | None:
        """The record of a server whose process lives, else None. Starts nothing."""
        record = read_record(self._record)
        return record if record is not None and lives(record) else None

    def beat(self) -> None:
        """Tell the server that it is still needed."""
        with contextlib.suppress(OSError):
            touch(self._beat)

    async def stop(self) -> bool:
        """End the server; False when none was running."""
        record = self.running()
        if record is None:
            return False
        await _end(record)
        remove_record(self._record, record.pid)
        return True

    async def _running(self) -> Record | None:
        record = self.running()
        if record is None:
            return None
        touch(self._beat)
        for _ in range(3):
            if await _answers(record.port):
                return record
            if not lives(record):
                return None
        await _end(record)  # it lives but no longer listens
        remove_record(self._record, record.pid)
        return None

    async def _start(self, ends: float) -> Record | None:
        """Start it and wait; None when another process is doing so."""
        from gongfu.workspace.locks import try_lock  # only when a server has to be started

        self._places.ensure(self._places.locks)
        self._places.ensure(self._places.logs)
        with try_lock(self._lock) as held:
            if not held:
                return None
            if (record := self.running()) is not None:
                return record
            pid = self._spawn()
            return await self._until_listening(pid, ends)

    def _spawn(self) -> int:
        from gongfu.workspace.detach import spawn_detached

        path = model_path(self._places, self.model.name)
        if path is None:
            raise UserError("local.not_pulled", name=self.model.name, size=human_size(self.model.size))
        if not self._program:
            _check_runtime()
            _check_memory(self.model)
        argv = [
            *(self._program or (sys.executable, "-P", "-m", "gongfu.models.local.serve")),
            *("--model", str(path), "--name", self.model.name, "--record", str(self._record)),
            *("--beat", str(self._beat), "--idle", str(self._idle)),
        ]  # fmt: skip
        self._record.unlink(missing_ok=True)
        touch(self._beat)
        passed = {name: self._env[name] for name in _PASSED if name in self._env}
        key = secrets.token_urlsafe(24)
        try:
            return spawn_detached(argv, {**passed, **_WAITING, KEY_VARIABLE: key}, self.log)
        except OSError as error:
            raise UserError("local.server_failed", log=self.log, line=error.strerror or error) from error

    async def _until_listening(self, pid: int, ends: float) -> Record:
        while time.monotonic() < ends:
            record = read_record(self._record)
            if record is not None and record.pid == pid and await _answers(record.port):
                return record
            if not _exists(pid):
                raise UserError("local.server_failed", log=self.log, line=last_line(self.log))
            await anyio.sleep(0.05)
        _kill(pid)
        raise UserError("local.server_slow", seconds=int(self._wait), log=self.log)


def lives(record: Record) -> bool:
    """Whether the very process that wrote the record is still there."""
    import psutil

    try:
        process = psutil.Process(record.pid)
        return abs(process.create_time() - record.born) < 2 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def last_line(log: Path) -> str:
    """The last line of a log that says something, at most 300 characters."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 8192))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def _exists(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


async def _answers(port: int) -> bool:
    """Whether something listens there and says that it is well, within two seconds."""
    with anyio.move_on_after(2):
        try:
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                await stream.send(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                return b" 200 " in (await stream.receive(64)).split(b"\r\n", 1)[0] + b" "
        except (OSError, anyio.EndOfStream, anyio.BrokenResourceError):
            await anyio.sleep(0.05)
    return False


async def _end(record: Record) -> None:
    if lives(record):
        _kill(record.pid)
    for _ in range(100):
        if not lives(record):
            return
        await anyio.sleep(0.05)


def _kill(pid: int) -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        psutil.Process(pid).kill()


def _check_runtime() -> None:
    from importlib.util import find_spec

    if find_spec("xllamacpp") is None:
        raise UserError("local.no_runtime")


def _check_memory(model: LocalModel) -> None:
    import psutil

    free = psutil.virtual_memory().available
    if free < model.memory:
        raise UserError("local.no_memory", needed=human_size(model.memory), free=human_size(free))
