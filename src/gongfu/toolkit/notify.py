"""Notices for the person, and mail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from gongfu.config.settings import Email
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import find
from gongfu.core.words import Language, say
from gongfu.toolkit.desk import Desk
from gongfu.toolkit.mail import MOST_BYTES, Attachment, Letter, account_of, address_of, checked, post
from gongfu.toolkit.places import Places, explained
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool
from gongfu.workspace.files import read_bytes
from gongfu.workspace.protect import why_protected
from gongfu.workspace.screen.orders import UseNotice

if TYPE_CHECKING:
    from gongfu.workspace.root import Workspace

_LONGEST_TITLE = 120
_LONGEST = 500
_SECONDS = 60.0


class NotifyTools:
    """notify and send_email of one session. `env` is what programs get, `given` what certificates are found by,
    `language` that of the person."""

    def __init__(
        self, workspace: Workspace, settings: Email, env: Mapping[str, str], given: Mapping[str, str],
        language: Language = "en",
    ) -> None:  # fmt: skip
        self._workspace = workspace
        self._places = Places(workspace)
        self._settings = settings
        self._desk = Desk(env)
        self._given = given
        self._language: Language = language

    def __iter__(self) -> Iterator[Tool]:
        yield from (self.notify, self.send_email)

    # --- notify ---------------------------------------------------------------------------------------------------

    async def _notify_facts(self, args: dict[str, Any]) -> Facts:
        order = _notice(args["title"], args.get("message", ""))
        # a few words to the very person who runs this: nothing is read, changed or sent anywhere
        return Facts(access=("read",), title=order.title)

    def _notify_claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return ()

    @tool(access="read", facts=_notify_facts, claims=_notify_claims)
    async def notify(self, title: str, message: str = "") -> Outcome:
        order = _notice(title, message)
        try:
            by = (await self._desk.do(order)).by
        except ToolFailure:
            if not await anyio.to_thread.run_sync(_ring):
                raise
            text = "The bell of the terminal rang; a notice cannot be shown here, so the words were not seen."
            return Outcome(text=text, display=text_display("", "bell"))
        text = f"The notice was handed to the desktop ({by}); whether it was seen is not known."
        return Outcome(text=text, display=text_display(f"{order.title}\n{order.message}".strip(), by))

    # --- send_email -----------------------------------------------------------------------------------------------

    async def _mail_facts(self, args: dict[str, Any]) -> Facts:
        letter, paths = await self._letter(args, again=False)
        host, port = account_of(self._settings)
        title = f"{letter.subject} → {', '.join(letter.everybody)}"
        return Facts(
            access=("network",), hosts=(f"{host}:{port}",), paths=paths, title=title[:200],
            preview=text_display(letter.shown(self._language), title[:200]), asks=True,
        )  # fmt: skip

    def _mail_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return tuple(Claim(resource=str(self._workspace.locate(p).path)) for p in args.get("attachments") or ())

    @tool(access="network", facts=_mail_facts, claims=_mail_claims)
    async def send_email(
        self, to: list[str], subject: str, body: str, ctx: CallContext, *, cc: list[str] | None = None,
        html: str = "", attachments: list[str] | None = None,
    ) -> Outcome:  # fmt: skip
        letter, _ = await self._letter(
            {"to": to, "subject": subject, "body": body, "cc": cc, "html": html, "attachments": attachments},
            again=True,
        )
        ask, send, keep = (say(f"mail.{name}", self._language) for name in ("ask", "send", "keep"))
        answer, by = await ctx.ask(
            f"{ask}\n\n{letter.shown(self._language)}", options=(send, keep), default=keep
        )  # whatever rules and modes allow: a mail cannot be taken back
        agreed = answer.strip().lower() in (send.lower(), "send", "y", "yes", "是", "好")
        if not agreed or by != "person":
            who = "the person did not agree" if by == "person" else "nobody was there to agree"
            raise ToolFailure(f"the mail was not sent: {who}")
        try:
            with anyio.fail_after(_SECONDS):
                refused = await anyio.to_thread.run_sync(
                    post, letter, self._settings, self._given, abandon_on_cancel=True
                )
        except TimeoutError:
            raise ToolFailure(
                f"the mail server did not finish within {_SECONDS:.0f} s; whether the mail was sent is not known"
            ) from None
        sent = [one for one in letter.everybody if address_of(one) not in refused]
        text = f"Sent to {', '.join(sent)}." + (f" The server refused: {', '.join(refused)}." if refused else "")
        return Outcome(text=text, display=text_display(letter.shown(self._language), f"sent to {len(sent)}"))

    async def _letter(self, args: dict[str, Any], *, again: bool) -> tuple[Letter, tuple[str, ...]]:
        """The mail of a call, checked, and the paths that go with it. ToolFailure for one that must not be sent."""
        files: list[Attachment] = []
        paths: list[str] = []
        room = MOST_BYTES
        for given in args.get("attachments") or ():
            file, own = await anyio.to_thread.run_sync(self._attached, given, room, again)
            room -= len(file.data)
            files.append(file)
            paths += own
        letter = Letter(
            to=tuple(args["to"]), cc=tuple(args.get("cc") or ()), subject=args["subject"], body=args["body"],
            html=args.get("html") or "", files=tuple(files),
        )  # fmt: skip
        return checked(letter, self._settings), tuple(paths)

    def _attached(self, given: str, room: int, again: bool) -> tuple[Attachment, tuple[str, ...]]:
        located = self._places.again(given) if again else self._places.judge(given)
        if not located.inside:
            raise ToolFailure(f"{located.shown} lies outside the workspace; only what is in it is sent by mail")
        if any(why_protected(path, self._workspace) for path in (located.path, located.asked)):
            raise ToolFailure(f"{located.shown} is a file that is not sent by mail: it may hold secrets")
        with explained(located):
            if located.path.is_dir():
                raise ToolFailure(f"{located.shown} is a folder; attach files")
            if not located.path.exists():
                raise self._places.missing(located)
            if located.path.stat().st_size > room:
                raise ToolFailure(f"the attachments have more than {MOST_BYTES:,} bytes; nothing was sent")
            data, _ = read_bytes(located.path, room)
        secrets = find(data.decode("utf-8", "replace"))
        if secrets:
            raise ToolFailure(f"{located.shown} holds what looks like a secret ({secrets[0].kind}); nothing was sent")
        return Attachment(name=Path(given).name, shown=located.shown, data=data), self._places.paths(located)


def _notice(title: str, message: str) -> UseNotice:
    order = UseNotice(title=title.strip(), message=message.strip())
    if not order.title:
        raise ToolFailure("title is empty; nothing was shown")
    if len(order.title) > _LONGEST_TITLE or len(order.message) > _LONGEST:
        raise ToolFailure(f"a title has at most {_LONGEST_TITLE} characters, a message {_LONGEST}; nothing was shown")
    if "\0" in title + message or any("\ud800" <= c <= "\udfff" for c in title + message):
        raise ToolFailure("title and message are plain text; nothing was shown")
    return order


def _ring() -> bool:
    """Ring the bell of the terminal that this runs in, if there is one."""
    if sys.platform == "win32":
        return False
    try:
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.write(terminal, b"\a") == 1
    except OSError:
        return False
    finally:
        os.close(terminal)
