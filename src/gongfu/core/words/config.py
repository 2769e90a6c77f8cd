"""Sentences of settings and places."""

TEXT: dict[str, tuple[str, str]] = {
    "no_home": (
        "The folder {path} cannot be made: {reason}. Make it writable, or name another one in GONGFU_HOME.",
        "无法创建文件夹 {path}：{reason}。请让它可写，或用 GONGFU_HOME 指定另一个文件夹。",
    ),
    "home_unknown": (
        "Your home directory is not known. Set GONGFU_HOME to a folder where Gongfu may keep its files.",
        "不知道你的主目录在哪里。请用 GONGFU_HOME 指定一个让 Gongfu 存放文件的文件夹。",
    ),
}
