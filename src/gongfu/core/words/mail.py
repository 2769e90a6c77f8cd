"""What a person is asked before a mail is sent."""

TEXT: dict[str, tuple[str, str]] = {
    "ask": ("Send this mail?", "发送这封邮件？"),
    "send": ("send", "发送"),
    "keep": ("do not send", "不发送"),
}
