"""Exports sessions and publishes documents: what comes out are the bytes of one file, and pictures beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import anyio.to_thread

from gongfu.app.export.pieces import bytes_of, suffix_of
from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.messages import ImagePart
from gongfu.core.words import Language

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.app.export.talk import Talk

T = TypeVar("T")
Format: TypeAlias = Literal["markdown", "html", "json", "pdf"]
SUFFIXES: Mapping[str, Format] = {
    ".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json", ".pdf": "pdf",
}  # fmt: skip


class Exported(Base, frozen=True):
    """A finished export: `data` is the file, `beside` are files that it names, by relative path."""

    format: Format
    data: bytes
    title: str
    beside: dict[str, bytes] = {}


def read_talk(
    app: App, session: str = "", *, last: bool = False, everything: bool = False, redact: bool = False
) -> Talk:
    """A session (by its id or a part of it; "": the latest here) as a document, see `gather`.

    With `redact` without secrets. Nothing is locked or changed. UserError when there is none, or nothing in it.
    """
    from gongfu.app.export.gather import gather

    row = app.rows.get(session) if session else app.rows.latest(str(app.workspace.root))
    if row is None:
        raise UserError("app.no_session_here", root=str(app.workspace.root))
    talk = gather(row, app.journal.read(row.id), last=last, everything=everything, language=app.language)
    if not talk.turns:
        raise UserError("export.nothing", session=row.id)
    if redact:
        from gongfu.app.faults import redactor
        from gongfu.app.redacted import cleaned_struct

        talk = cleaned_struct(talk, redactor(app.options.env, app.places, app.settings))
    return talk


async def export_talk(
    talk: Talk, format: Format, *, language: Language, env: Mapping[str, str], folder: str = ""
) -> Exported:
    """A talk as a file of `format`. In Markdown pictures are files in `folder` beside it ("": only named).

    UserError when a PDF cannot be made here.
    """
    match format:
        case "markdown":
            from gongfu.app.export.markdown import to_markdown

            pictures = _Pictures(folder)
            text = await _in_thread(lambda: to_markdown(talk, language, pictures.add))
            return Exported(format=format, data=_utf8(text), title=talk.title, beside=pictures.files)
        case "html":
            from gongfu.app.export.page import talk_page

            page = await _in_thread(lambda: talk_page(talk, language))
            return Exported(format=format, data=_utf8(page), title=talk.title)
        case "json":
            import msgspec

            data = msgspec.json.format(msgspec.json.encode(talk), indent=2)
            return Exported(format=format, data=data + b"\n", title=talk.title)
        case "pdf":
            from gongfu.app.export.page import talk_page
            from gongfu.app.export.typst_source import Source

            def set_it() -> tuple[str, dict[str, bytes]]:
                source = Source(talk.title or talk.session, language)
                source.talk(talk)
                return source.text, source.files

            data = await _pdf(lambda: talk_page(talk, language, opened=True), set_it, env)
            return Exported(format=format, data=data, title=talk.title)


async def publish(
    title: str, markdown: str, format: Format, *, language: Language, env: Mapping[str, str],
    image: Callable[[str], str] = lambda _: "",
) -> bytes:  # fmt: skip
    """A Markdown document as HTML or PDF. `image` gives the `data:` address that stands for the address of a picture.

    UserError when a PDF cannot be made here.
    """
    from gongfu.app.export.page import document_page

    if format == "html":
        return _utf8(await _in_thread(lambda: document_page(title, markdown, language, image)))

    def set_it() -> tuple[str, dict[str, bytes]]:
        from gongfu.app.export.typst_source import Source

        source = Source(title, language, image)
        source.markdown(markdown)
        return source.text, source.files

    return await _pdf(lambda: document_page(title, markdown, language, image), set_it, env)


async def _pdf(
    page: Callable[[], str], source: Callable[[], tuple[str, dict[str, bytes]]], env: Mapping[str, str]
) -> bytes:
    from gongfu.app.export.pdf import find_browser, has_typst, print_page, typeset

    if browser := find_browser(env):
        try:
            return await print_page(await _in_thread(page), browser, env)
        except UserError:
            if not has_typst():
                raise
    if not has_typst():
        raise UserError("export.no_pdf")
    return await typeset(*await _in_thread(source))


async def _in_thread(work: Callable[[], T]) -> T:
    """Do what takes seconds for a long talk, without holding up the rest of the program."""
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


class _Pictures:
    """Pictures of a talk as files in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.files: dict[str, bytes] = {}

    def add(self, image: ImagePart) -> str:
        kind = suffix_of(image)
        if not self._folder or not kind:
            return image.url
        data = bytes_of(image)
        if data is None:
            return ""
        name = f"{self._folder}/{len(self.files) + 1}.{kind}"
        self.files[name] = data
        return name.replace(" ", "%20")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
