"""Started as a process: reads the text in a picture with rapidocr, or takes the picture out of a page of a PDF.

The library needs hundreds of megabytes, which end with the process; and a picture may be made to break it.
"""

from __future__ import annotations

import base64
import io
import sys
from importlib import import_module
from typing import Any

import msgspec

from gongfu.core.base import Base

MARK = b"\n\x1eREAD "
MOST_PIXELS = 50_000_000


class Row(Base, frozen=True):
    """A piece of text and where it stands in the picture, in pixels."""

    text: str
    left: int
    top: int
    width: int
    height: int


class Job(Base, frozen=True):
    """What is asked for; the bytes of the file follow. `page` (from 1) is that of a PDF whose picture is wanted."""

    page: int = 0


class Answer(Base, frozen=True):
    """The rows, or (of a PDF) the picture as base64 and the number of pages; or the problem."""

    rows: tuple[Row, ...] = ()
    picture: str = ""
    pages: int = 0
    problem: str = ""


def read(data: bytes) -> Answer:
    """The text in a picture."""
    pillow: Any = import_module("PIL.Image")
    pillow.MAX_IMAGE_PIXELS = MOST_PIXELS
    numpy: Any = import_module("numpy")
    try:
        picture = pillow.open(io.BytesIO(data)).convert("RGB")
    except Exception as error:  # noqa: BLE001 - the library has other errors for each format
        return Answer(problem=f"it is no picture that can be read: {error}")
    # one thread: more of them wait for each other by turning, which costs a busy machine twice the time
    engine: Any = import_module("rapidocr").RapidOCR(params={"EngineConfig.onnxruntime.intra_op_num_threads": 1})
    found: Any = engine(numpy.array(picture)[:, :, ::-1])
    rows: list[Row] = []
    boxes: list[list[list[float]]] = [] if found.boxes is None else found.boxes.tolist()
    for text, box in zip(found.txts or (), boxes, strict=False):
        across, down = [p[0] for p in box], [p[1] for p in box]
        left, top = round(min(across)), round(min(down))
        rows.append(
            Row(text=str(text), left=left, top=top, width=round(max(across)) - left, height=round(max(down)) - top)
        )
    return Answer(rows=tuple(rows))


def picture_in(data: bytes, page: int) -> Answer:
    """The largest picture on a page of a PDF, as a scan has one."""
    pypdf: Any = import_module("pypdf")
    try:
        pages = pypdf.PdfReader(io.BytesIO(data)).pages
        if page > len(pages):
            return Answer(pages=len(pages), problem=f"it has {len(pages)} pages, none with number {page}")
        pictures = [one.data for one in pages[page - 1].images]
    except ImportError as error:
        return Answer(problem=f"{error}")
    except Exception as error:  # noqa: BLE001 - the library has other errors for each damage
        return Answer(problem=f"it is damaged: {error}")
    if not pictures:
        return Answer(pages=len(pages), problem=f"page {page} holds no picture; read_file gives its text")
    return Answer(pages=len(pages), picture=base64.b64encode(max(pictures, key=len)).decode("ascii"))


def main() -> None:
    """Job and file in, answer out."""
    head, _, data = sys.stdin.buffer.read().partition(b"\n")
    job = msgspec.json.decode(head, type=Job)
    answer = picture_in(data, job.page) if job.page else read(data)
    sys.stdout.buffer.write(MARK + msgspec.json.encode(answer) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
