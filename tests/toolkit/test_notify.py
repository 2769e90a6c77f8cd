"""Notices and mail: a desktop that is not there, a bus that takes notices, a mail server on loopback."""

from __future__ import annotations

import asyncio
import base64
import email
import email.policy
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
import pytest

from gongfu.config.settings import Email
from gongfu.core.errors import ToolFailure
from gongfu.core.events import QuestionAsked
from gongfu.models.scripted import Call, Say
from gongfu.toolkit.mail import Letter, checked, post
from tests.app.cast import Cast, opened, results, workplace
from tests.toolkit.loop import Played, play
from tests.toolkit.screens import env_of, needed

pytestmark = pytest.mark.anyio
PASSWORD = "correct-horse-battery"


class Mailbox:
    """An SMTP server that keeps what it gets. `refuses` are recipients it does not want, `login` is what it accepts."""

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], bytes]] = []
        self.logins: list[str] = []
        self.refuses: set[str] = set()
        self.port = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        people: list[str] = []
        try:
            writer.write(b"220 mail.test ESMTP\r\n")
            while line := (await reader.readline()).decode().strip():
                writer.write(await self.answer(line, people, reader, writer))
                if line.upper() == "QUIT":
                    break
        finally:
            writer.close()

    async def answer(
        self, line: str, people: list[str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes:
        word, _, rest = line.partition(" ")
        match word.upper():
            case "EHLO":
                return b"250-mail.test\r\n250-AUTH PLAIN\r\n250-SMTPUTF8\r\n250 8BITMIME\r\n"
            case "AUTH":
                self.logins.append(base64.b64decode(rest.split()[1]).decode())
                good = self.logins[-1] == f"\0me@home.test\0{PASSWORD}"
                return b"235 ok\r\n" if good else b"535 no such login\r\n"
            case "RCPT":
                address = rest.partition("<")[2].partition(">")[0]
                if address in self.refuses:
                    return b"550 nobody of that name\r\n"
                people.append(address)
                return b"250 ok\r\n"
            case "DATA":
                writer.write(b"354 go on\r\n")
                return await self.data(people, reader)
            case "QUIT":
                return b"221 bye\r\n"
            case _:
                return b"250 ok\r\n"

    async def data(self, people: list[str], reader: asyncio.StreamReader) -> bytes:
        body = b""
        while (line := await reader.readline()) != b".\r\n":
            body += line[1:] if line.startswith(b"..") else line
        self.mails.append((list(people), body))
        return b"250 taken\r\n"


@asynccontextmanager
async def mailing(tmp_path: Path, **more: Any) -> AsyncGenerator[tuple[Path, Mailbox, dict[str, str]]]:
    """A workspace whose person set a mail account."""
    box = Mailbox()
    server = await asyncio.start_server(box.talk, "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    account = {
        "host": "127.0.0.1", "port": box.port, "security": "none", "user": "me@home.test",
        "password": "${MAIL_PASSWORD}",
    } | more  # fmt: skip
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(msgspec.json.encode({"email": account}).decode(), "utf-8")
    work = workplace(tmp_path)
    try:
        yield work, box, env_of(work) | {"MAIL_PASSWORD": PASSWORD}
    finally:
        server.close()
        await server.wait_closed()


MAIL = {"to": ["anna@there.test"], "subject": "报告 report", "body": "你好 Anna,\nall tests pass.\n"}


async def test_a_mail_is_sent_after_the_person_has_seen_all_of_it(tmp_path: Path) -> None:
    questions: list[QuestionAsked] = []
    async with mailing(tmp_path) as (work, box, env):
        (work / "报告.txt").write_text("figures\n")
        mail = MAIL | {
            "cc": ["Bob Bär <bob@there.test>"], "html": "<p>你好</p>", "attachments": ["报告.txt", "a.txt"]
        }  # fmt: skip

        def agree(event: Any) -> str:
            questions.append(event)
            return event.options[0]

        played = await asked(work, agree, ("send_email", mail), env=env, language="zh")
    assert played.status == "done", played.text
    assert played.text == "Sent to anna@there.test, Bob Bär <bob@there.test>."
    assert len(questions) == 1
    assert questions[0].text.startswith("发送这封邮件？")
    assert questions[0].options == ("发送", "不发送")
    for part in (
        "anna@there.test",
        "bob@there.test",
        "报告 report",
        "all tests pass.",
        "报告.txt（8 字节）",
        "收件人：anna@there.test",
        "主题：报告 report",
        "<p>你好",
    ):
        assert part in questions[0].text
    people, raw = box.mails[0]
    assert people == ["anna@there.test", "bob@there.test"]
    mailed = email.message_from_bytes(raw, policy=email.policy.default)
    assert (mailed["From"], mailed["To"], mailed["Cc"]) == (
        "me@home.test", "anna@there.test", "Bob Bär <bob@there.test>"
    )  # fmt: skip
    assert mailed["Subject"] == "报告 report"
    assert mailed["Date"]
    assert mailed["Message-ID"].endswith("@home.test>")
    plain = mailed.get_body(("plain",))
    assert plain is not None
    assert plain.get_content().replace("\r\n", "\n") == MAIL["body"]
    names = {part.get_filename(): part.get_content() for part in mailed.iter_attachments()}
    assert {name: str(text).strip() for name, text in names.items()} == {"报告.txt": "figures", "a.txt": "alpha"}
    assert PASSWORD not in str(played.events)
    assert PASSWORD not in str(played.requests)


async def asked(work: Path, say: Any, *calls: tuple[str, dict[str, Any]], **options: Any) -> Played:
    """Play calls with a person there who answers each question with `say(question)`."""
    cast = Cast([*(Call("use_tool", {"name": n, "arguments": a}) for n, a in calls), Say("Done.")])
    async with opened(work, cast, **({"permission": "full"} | options)) as app:
        session = await app.session()
        with anyio.fail_after(20):
            async with session.stream.subscribe() as entries, anyio.create_task_group() as tasks:

                async def watch() -> None:
                    async for entry in entries:
                        if isinstance(entry.event, QuestionAsked):
                            await session.answer(entry.event.question, say(entry.event))

                tasks.start_soon(watch)
                await (await session.prompt("Go"))
                tasks.cancel_scope.cancel()
        events = [e.event for e in app.journal.read(session.id)]
    return Played(results(cast.asked[""][-1]), events, cast.asked[""])


async def test_only_the_person_lets_a_mail_go(tmp_path: Path) -> None:
    async with mailing(tmp_path) as (work, box, env):
        for mode in ("full", "auto", "ask", "plan"):
            nobody = await play(work, ("send_email", MAIL), env=env, permission=mode)
            assert nobody.status in ("failed", "refused"), mode
        refused = await asked(work, lambda _: "do not send", ("send_email", MAIL), env=env)
        assert refused.text == "the mail was not sent: the person did not agree"
        assert box.mails == []
        for mode in ("ask", "edits", "auto", "full"):
            questions: list[str] = []

            def agree(question: QuestionAsked, seen: list[str] = questions) -> str:
                seen.append(question.text)
                return "y" if mode == "ask" else question.options[0]  # noqa: B023 - asked within the round

            sent = await asked(work, agree, ("send_email", MAIL), env=env, permission=mode)
            assert sent.status == "done", sent.text
            assert len(questions) == 1, mode  # the mail itself, and not its server too
            assert "anna@there.test" in questions[0]
            assert "all tests pass." in questions[0]
    assert len(box.mails) == 4


async def test_what_must_not_be_sent_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    token = "ghp_" + "a8Kd93jXq0" * 3 + "Zz81Qx"
    async with mailing(tmp_path, recipients=["*@there.test", "boss@home.test"]) as (work, box, env):
        (work / ".env").write_text("KEY=1\n")
        (work / "notes.txt").write_text(f"token = {token}\n")
        (tmp_path / "outside.txt").write_text("x")
        (work / "link.txt").symlink_to(tmp_path / "outside.txt")
        with (work / "large.bin").open("wb") as file:
            file.truncate(21 * 1024 * 1024)
        bad: list[tuple[dict[str, Any], str]] = [
            ({"to": []}, "to names nobody"),
            ({"to": ["anna"]}, "is not one address"),
            ({"to": ["anna@there.test, eve@there.test"]}, "is not one address"),
            ({"to": ["anna@there.test\r\nBcc: eve@there.test"]}, "is not one address"),
            ({"to": ["Eve\n <eve@there.test>"]}, "is not one address"),
            ({"to": ["eve@elsewhere.test"]}, "not among those whom the person allows"),
            ({"cc": ["eve@there.test.evil"]}, "not among those whom the person allows"),
            ({"subject": "a\r\nBcc: eve@there.test"}, "subject must be one line"),
            ({"subject": " "}, "subject must be one line"),
            ({"subject": "x" * 301}, "at most 300"),
            ({"body": " \n"}, "body is empty"),
            ({"body": "a\0b"}, "must be plain text"),
            ({"body": f"the token is {token}"}, "looks like a secret"),
            ({"attachments": [".env"]}, "may hold secrets"),
            ({"attachments": ["notes.txt"]}, "looks like a secret"),
            ({"attachments": ["../outside.txt"]}, "outside the workspace"),
            ({"attachments": ["link.txt"]}, "outside the workspace"),
            ({"attachments": ["nothing.txt"]}, "does not exist"),
            ({"attachments": ["."]}, "is a folder"),
            ({"attachments": ["large.bin"]}, "more than 20,971,520 bytes"),
            ({"to": [f"p{n}@there.test" for n in range(21)]}, "at most 20 people"),
        ]

        def never(question: QuestionAsked) -> str:
            raise AssertionError(question)

        played = await asked(work, never, *[("send_email", MAIL | args) for args, _ in bad], env=env)
        for result, (args, why) in zip(played.results, bad, strict=True):
            assert result.status == "failed", args
            assert why in result.text, (args, result.text)
    assert box.mails == []
    assert token not in str([r.text for r in played.results])


async def test_what_the_server_says_is_told_without_the_password(tmp_path: Path) -> None:
    async with mailing(tmp_path) as (work, box, env):
        box.refuses = {"bob@there.test"}
        some = await asked(work, lambda _: "send", ("send_email", MAIL | {"cc": ["bob@there.test"]}), env=env)
        assert some.text == "Sent to anna@there.test. The server refused: bob@there.test."
        box.refuses.add("anna@there.test")
        none = await asked(work, lambda _: "send", ("send_email", MAIL), env=env)
        assert "the server refused: anna@there.test (nobody of that name)" in none.text
        wrong = await asked(work, lambda _: "send", ("send_email", MAIL), env=env | {"MAIL_PASSWORD": "another-secret"})
        assert "did not accept the login of me@home.test" in wrong.text
        assert "another-secret" not in str(wrong.events)
        account = Email(host="127.0.0.1", port=box.port, sender="me@home.test", security="starttls")
        with pytest.raises(ToolFailure, match=r"cannot do what is wanted: STARTTLS"):
            await anyio.to_thread.run_sync(post, letter(account), account, {})
    with pytest.raises(ToolFailure, match=r"not sent: 127\.0\.0\.1:"):
        await anyio.to_thread.run_sync(post, letter(account), account, {})


def letter(account: Email) -> Letter:
    return checked(Letter(to=("anna@there.test",), subject="s", body="b"), account)


def test_a_password_does_not_go_over_an_open_line() -> None:
    account = Email(host="mail.test", user="me@home.test", password="secret-word", security="none")
    with pytest.raises(ToolFailure, match="would send the password unprotected"):
        post(letter(account), account, {})


async def test_without_an_account_it_says_what_to_set(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    played = await play(work, ("send_email", MAIL), env=env_of(work))
    assert played.status == "failed"
    assert "no mail server is set: the person sets email.host" in played.text


# --- notices ----------------------------------------------------------------------------------------------------------


async def test_a_notice_goes_to_the_program_as_it_is(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    tools = tmp_path / "bin"
    tools.mkdir()
    program = tools / "notify-send"
    program.write_text(f"#!/bin/sh\nprintf '%s|' \"$@\" > {tmp_path}/told\n")
    program.chmod(0o755)
    env = env_of(work) | {"PATH": f"{tools}:{os.environ['PATH']}"}
    call = ("notify", {"title": "--help", "message": '$(id) "完成" `x`'})
    played = await play(work, call, env=env, permission="ask")
    assert played.status == "done", played.text
    assert "handed to the desktop (notify-send)" in played.text
    assert (tmp_path / "told").read_text() == '--app-name=Gongfu|--|--help|$(id) "完成" `x`|'


async def test_a_notice_reaches_the_desktop_over_its_bus(tmp_path: Path) -> None:
    needed("dbus-daemon", library="desktop_notifier")
    work = workplace(tmp_path)
    daemon = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert daemon.stdout is not None
    try:
        env = env_of(work) | {"DBUS_SESSION_BUS_ADDRESS": daemon.stdout.readline().decode().strip()}
        desktop = subprocess.Popen([sys.executable, "-u", "-c", DESKTOP], env=env, stdout=subprocess.PIPE)
        try:
            assert desktop.stdout is not None
            assert desktop.stdout.readline() == b"ready\n"
            played = await play(work, ("notify", {"title": "完成", "message": "all tests pass"}), env=env)
            assert played.status == "done", played.text
            assert "(desktop-notifier)" in played.text
            assert desktop.stdout.readline().decode().strip() == "Gongfu|完成|all tests pass"
        finally:
            desktop.terminate()
            desktop.communicate()
    finally:
        daemon.terminate()
        daemon.communicate()


DESKTOP = """
import asyncio
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_method

class Desktop(ServiceInterface):
    def __init__(self):
        super().__init__("org.freedesktop.Notifications")
    @dbus_method()
    def GetCapabilities(self) -> "as":
        return ["body"]
    @dbus_method()
    def GetServerInformation(self) -> "ssss":
        return ["test", "test", "1", "1.2"]
    @dbus_method()
    def Notify(self, app: "s", old: "u", icon: "s", title: "s", text: "s", acts: "as", hints: "a{sv}", t: "i") -> "u":
        print(app, title, text, sep="|")
        return 1
    @dbus_method()
    def CloseNotification(self, id: "u"):
        pass

async def main():
    bus = await MessageBus().connect()
    bus.export("/org/freedesktop/Notifications", Desktop())
    await bus.request_name("org.freedesktop.Notifications")
    print("ready")
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_desktop_that_is_not_there_is_told(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    bad: list[tuple[dict[str, Any], str]] = [
        ({"title": " "}, "title is empty"),
        ({"title": "x" * 121}, "at most 120"),
        ({"title": "a", "message": "x" * 501}, "at most 120 characters, a message 500"),
        ({"title": "a\0b"}, "plain text"),
    ]
    played = await play(work, *[("notify", args) for args, _ in bad], env=env_of(work))
    for result, (_, why) in zip(played.results, bad, strict=True):
        assert result.status == "failed"
        assert why in result.text
    if shutil.which("notify-send") is None:
        alone = await play(work, ("notify", {"title": "done"}), env=env_of(work))
        assert alone.status == "done" if "bell" in alone.text else "notices cannot be shown here" in alone.text
