"""The tool web_fetch. What it needs is loaded with the first call: it is in every request, and used in few."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import ImagePart
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome

if TYPE_CHECKING:
    from gongfu.store.artifacts import ArtifactWriter
    from gongfu.toolkit.pictures import Picture
    from gongfu.toolkit.web_client import Answer, Client

_ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
_MAX_IMAGE = 5 * 1024 * 1024
_MAX_SIDE = 8000
_CONVERT_SECONDS = 45
_EXCUSE = 400  # characters of what an answer with an error says
_PDF_ROOM = 4_000_000


class WebTools:
    """web_fetch of one session. `client` makes what fetches when it is first needed, `artifact` takes a text that is
    too long for one result."""

    def __init__(self, client: Callable[[], Client], artifact: Callable[[], ArtifactWriter]) -> None:
        self._make = client
        self._artifact = artifact
        self._made: Client | None = None

    @property
    def _client(self) -> Client:
        if self._made is None:
            self._made = self._make()
        return self._made

    async def _facts(self, args: dict[str, Any]) -> Facts:
        from gongfu.toolkit.web_guard import link_of, refusal  # see above

        link = link_of(args["url"])
        kind = self._client.reach.judge_name(link.host, link.port)
        if kind:
            raise ToolFailure(refusal(link.place, kind))
        return Facts(access=("network",), hosts=(link.place,), title=link.url)

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:  # noqa: ARG002 - the seam's own
        return ()

    @tool(access="network", facts=_facts, claims=_claims)
    async def web_fetch(self, url: str, ctx: CallContext, raw: bool = False, offset: int = 1) -> Outcome:
        from gongfu.toolkit.pictures import picture_of
        from gongfu.toolkit.web_client import failed
        from gongfu.toolkit.web_guard import link_of
        from gongfu.toolkit.web_view import paged

        if offset < 1:
            raise ToolFailure(f"offset must be at least 1; arrived: {offset}")
        answer = await self._client.fetch(link_of(url), headers={"Accept": _ACCEPT})
        where = answer.link.url
        if answer.onward:
            raise ToolFailure(
                f"{where} redirects to another host: {answer.onward} . If that is wanted, call web_fetch with it."
            )
        if answer.status >= 400:
            raise failed(answer, where, await self._excuse(answer))
        picture = picture_of(answer.body)
        if picture is not None:
            return _image(answer, picture)
        text, about = await self._text(answer, raw)
        shown = paged(text, offset, ctx.room, self._artifact)
        return Outcome(
            text=shown.text, display=text_display("", f"{about}, {shown.total:,} lines"), spill=shown.spill
        )  # fmt: skip

    async def _excuse(self, answer: Answer) -> str:
        """What a page of an error says, in one short line."""
        try:
            text, _ = await self._text(answer, raw=False)
        except ToolFailure:
            return ""
        said = " ".join(text.partition("\n\n")[2].split())
        return said if len(said) <= _EXCUSE else f"{said[:_EXCUSE]} …"

    async def _text(self, answer: Answer, raw: bool) -> tuple[str, str]:
        """What the answer says, below a line that says where it is from, and a few words on it for the person."""
        from gongfu.toolkit.web_page import page_of

        where = answer.link.url
        if answer.body.startswith(b"%PDF-") or answer.media_type == "application/pdf":
            from gongfu.toolkit.pdf import pdf_text

            _whole(answer)
            found = await pdf_text(answer.body, where, limit=500, room=_PDF_ROOM)
            return f"{_head(answer, '')}\n\n{found.text}", f"PDF, {found.total} pages"
        if not answer.body.strip():
            raise ToolFailure(f"{where} answered {answer.status} with nothing in it")
        try:
            with anyio.fail_after(_CONVERT_SECONDS):
                page = await anyio.to_thread.run_sync(
                    lambda: page_of(answer.body, answer.media_type, answer.charset, where, source=raw),
                    abandon_on_cancel=True,
                )
        except TimeoutError:
            raise ToolFailure(
                f"{where} could not be converted in {_CONVERT_SECONDS} s; raw=true gives it as it is"
            ) from None
        text = page.text.encode("utf-8", "replace").decode().strip("\n")
        notes: list[str] = []
        if answer.cut:
            notes.append(f"[only the first {self._client.limits.bytes:,} bytes were read]")
        if page.kind == "text/html" and not raw and len(text) < 300 and b"<script" in answer.body.lower():
            notes.append("[little text: the page is built by scripts; browser_open shows such pages]")
        return "\n\n".join([_head(answer, page.title), text or "(no text)", *notes]), page.kind


def _head(answer: Answer, title: str) -> str:
    """One line: the title, the address, and those that led to it."""
    moved = f" (redirected: {' -> '.join(answer.hops)})" if answer.hops else ""
    return f"{title + ' | ' if title else ''}{answer.link.url}{moved}"


def _whole(answer: Answer) -> None:
    if answer.cut:
        raise ToolFailure(
            f"{answer.link.url} is larger than {len(answer.body):,} bytes, and a part of such a file cannot be read; "
            "download it with shell, or the person may raise web.max_bytes"
        )


def _image(answer: Answer, picture: Picture) -> Outcome:
    _whole(answer)
    raw, size = answer.body, f"{picture.width}x{picture.height}"
    if len(raw) > _MAX_IMAGE or max(picture.width, picture.height) > _MAX_SIDE:
        raise ToolFailure(
            f"{answer.link.url} is an image of {len(raw):,} bytes and {size} pixels; at most {_MAX_IMAGE:,} bytes and "
            f"{_MAX_SIDE} pixels a side can be shown. Download it with shell and make a smaller copy."
        )
    image = ImagePart(
        media_type=picture.media_type, data=base64.b64encode(raw).decode("ascii"), width=picture.width,
        height=picture.height,
    )  # fmt: skip
    display = {
        "kind": "image", "media_type": picture.media_type, "artifact": "", "width": picture.width,
        "height": picture.height, "summary": size,
    }  # fmt: skip
    return Outcome(text=f"{_head(answer, '')}\n{picture.media_type}, {size}", display=display, images=(image,))
