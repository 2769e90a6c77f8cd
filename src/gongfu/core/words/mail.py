"""What a person is asked before a mail is sent."""

TEXT: dict[str, tuple[str, str]] = {
    "ask": ("Send this mail?", "发送这封邮件？"),
    "send": ("send", "发送"),
    "keep": ("do not send", "不发送"),
    "from": ("From: {who}", "发件人：{who}"),
    "to": ("To: {who}", "收件人：{who}"),
    "cc": ("Cc: {who}", "抄送：{who}"),
    "subject": ("Subject: {text}", "主题：{text}"),
    "attached": ("Attached: {file} ({size} bytes)", "附件：{file}（{size} 字节）"),
    "html": ("As HTML:", "HTML 版本："),
}
