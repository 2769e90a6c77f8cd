"""Mail: checked before anybody is asked, written as the standards want it, and handed to the server of the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid, parseaddr
from fnmatch import fnmatchcase
from mimetypes import guess_type
from typing import Final

from gongfu.config.settings import Email
from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import find, redact
from gongfu.core.words import Language, say

MOST_BYTES = 20 * 1024 * 1024
_MOST_PEOPLE = 20
_LONGEST_SUBJECT = 300
_LONGEST_BODY = 1_000_000
_SECONDS = 20.0  # for each answer of the server
_PORTS: Final = {"starttls": 587, "ssl": 465, "none": 25}
_PLAIN = r"[^\s@<>,;:()\[\]\\\"\x00-\x1f\x7f]+"
_ADDRESS = rf"{_PLAIN}@{_PLAIN}"
_HERE = ("localhost", "127.0.0.1", "::1")


class Attachment(Base, frozen=True):
    """A file that goes with a mail: its name there, how the person knows it, its bytes."""

    name: str
    shown: str
    data: bytes


class Letter(Base, frozen=True):
    """A mail. Recipients are addresses, with a name before `<address>` or not."""

    to: tuple[str, ...]
    subject: str
    body: str
    cc: tuple[str, ...] = ()
    html: str = ""
    files: tuple[Attachment, ...] = ()
    sender: str = ""

    @property
    def everybody(self) -> tuple[str, ...]:
        """Who gets it."""
        return (*self.to, *self.cc)

    def shown(self, language: Language) -> str:
        """The whole of it for the person who has to agree."""

        def said(name: str, **values: object) -> str:
            return say(f"mail.{name}", language, **values)

        lines = [said("from", who=self.sender), said("to", who=", ".join(self.to))]
        lines += [said("cc", who=", ".join(self.cc))] if self.cc else []
        lines += [said("subject", text=self.subject)]
        lines += [said("attached", file=file.shown, size=f"{len(file.data):,}") for file in self.files]
        lines += ["", self.body]
        return "\n".join(lines + (["", said("html"), self.html] if self.html else []))


def account_of(settings: Email) -> tuple[str, int]:
    """Host and port of the mail server. ToolFailure when none is set."""
    if not settings.host:
        raise ToolFailure(
            "no mail server is set: the person sets email.host, email.user, email.password and email.sender "
            "(gongfu config set email.host …); nothing was sent"
        )
    return settings.host, settings.port or _PORTS[settings.security]


def address_of(recipient: str) -> str:
    """The address of `Name <address>`, or what is an address itself."""
    return parseaddr(recipient)[1]


def checked(letter: Letter, settings: Email) -> Letter:
    """The letter with its sender. ToolFailure when it is not fit to be sent, or not allowed."""
    account_of(settings)
    sender = settings.sender or settings.user
    if not re.fullmatch(_ADDRESS, address_of(sender)):
        raise ToolFailure("the settings name no address that mail comes from (email.sender); nothing was sent")
    if not letter.to:
        raise ToolFailure("to names nobody; nothing was sent")
    if len(letter.everybody) > _MOST_PEOPLE:
        raise ToolFailure(f"at most {_MOST_PEOPLE} people get one mail; nothing was sent")
    for one in letter.everybody:
        _check_recipient(one, settings)
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", letter.subject) or not letter.subject.strip():
        raise ToolFailure("subject must be one line of text; nothing was sent")
    if len(letter.subject) > _LONGEST_SUBJECT or len(letter.body) + len(letter.html) > _LONGEST_BODY:
        raise ToolFailure(
            f"a subject has at most {_LONGEST_SUBJECT} characters and a body {_LONGEST_BODY:,}; nothing was sent"
        )
    if re.search(r"[\x00\ud800-\udfff]", letter.body + letter.html):
        raise ToolFailure("body and html must be plain text without NUL characters; nothing was sent")
    if not letter.body.strip():
        raise ToolFailure("body is empty; nothing was sent")
    secrets = find(f"{letter.subject}\n{letter.body}\n{letter.html}")
    if secrets:
        raise ToolFailure(f"the mail holds what looks like a secret ({secrets[0].kind}); nothing was sent")
    return Letter(
        to=letter.to, cc=letter.cc, subject=letter.subject, body=letter.body, html=letter.html, files=letter.files,
        sender=sender,
    )  # fmt: skip


def _check_recipient(recipient: str, settings: Email) -> None:
    name, address = parseaddr(recipient)
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", recipient) or not re.fullmatch(_ADDRESS, address):
        raise ToolFailure(f"{recipient!r} is not one address such as anna@example.com; nothing was sent")
    if recipient.strip() not in (address, f"<{address}>") and not name:
        raise ToolFailure(f"{recipient!r} is not one address such as Anna <anna@example.com>; nothing was sent")
    allowed = settings.recipients
    if allowed and not any(fnmatchcase(address.lower(), pattern.lower()) for pattern in allowed):
        raise ToolFailure(
            f"{address} is not among those whom the person allows mail to (email.recipients: {', '.join(allowed)}); "
            "nothing was sent"
        )


def written(letter: Letter) -> EmailMessage:
    """The mail as it goes over the wire."""
    message = EmailMessage(policy=SMTP)
    message["From"] = _address(letter.sender)
    message["To"] = tuple(map(_address, letter.to))
    if letter.cc:
        message["Cc"] = tuple(map(_address, letter.cc))
    message["Subject"] = letter.subject
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = make_msgid(domain=address_of(letter.sender).rpartition("@")[2])
    message.set_content(letter.body)
    if letter.html:
        message.add_alternative(letter.html, subtype="html")
    for file in letter.files:
        kind = guess_type(file.name)[0] or "application/octet-stream"
        main, _, sub = kind.partition("/")
        message.add_attachment(file.data, maintype=main, subtype=sub, filename=file.name)
    return message


def _address(text: str) -> Address:
    name, address = parseaddr(text)
    user, _, domain = address.rpartition("@")
    return Address(display_name=name, username=user, domain=domain)


def post(letter: Letter, settings: Email, env: Mapping[str, str]) -> tuple[str, ...]:
    """Hand the mail to the server; gives the addresses that it refused while it took the others. Blocks.

    ToolFailure when it was not sent.
    """
    import smtplib  # only where mail is sent

    from gongfu.models.endpoint import tls_context

    host, port = account_of(settings)
    if settings.security == "none" and settings.password and host not in _HERE:
        raise ToolFailure(
            "the settings would send the password unprotected (email.security: none); nothing was sent. Set it to "
            "starttls or ssl"
        )
    message = written(letter)
    try:
        if settings.security == "ssl":
            server = smtplib.SMTP_SSL(
                host, port, local_hostname="localhost", timeout=_SECONDS, context=tls_context("", env)
            )
        else:
            server = smtplib.SMTP(host, port, local_hostname="localhost", timeout=_SECONDS)
        with server:
            if settings.security == "starttls":
                server.starttls(context=tls_context("", env))
            if settings.user and settings.password:
                server.login(settings.user, settings.password)
            refused = server.send_message(
                message, from_addr=address_of(letter.sender), to_addrs=[address_of(one) for one in letter.everybody]
            )
    except (OSError, smtplib.SMTPException) as error:
        raise ToolFailure(f"the mail was not sent: {_why(error, settings)}") from None
    return tuple(refused)


def _why(error: Exception, settings: Email) -> str:
    """An error of the server or the network in words, without the password."""
    import smtplib  # see above

    host, port = account_of(settings)
    match error:
        case smtplib.SMTPAuthenticationError():
            return f"{host} did not accept the login of {settings.user} (email.user, email.password)"
        case smtplib.SMTPRecipientsRefused():
            return "the server refused: " + "; ".join(f"{one} ({_said(r[1])})" for one, r in error.recipients.items())
        case smtplib.SMTPNotSupportedError():
            return f"{host}:{port} cannot do what is wanted: {error}"
        case smtplib.SMTPResponseException():
            return f"{host}:{port} answered {error.smtp_code} {_said(error.smtp_error)}"
        case TimeoutError():
            return f"{host}:{port} did not answer within {_SECONDS:.0f} s"
        case _:
            text = f"{host}:{port}: {error}"
            return redact(text.replace(settings.password, "…") if settings.password else text)


def _said(answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return redact(" ".join(text.split())[:300])
