"""Sentences on opening Gongfu and its sessions."""

TEXT = {
    "no_session_here": (
        "There is no earlier session in {root}. Nothing was sent; give a task to start one, or `--session ID`.",
        "{root} 中没有先前的会话。没有发送任何内容；请给出任务以新建会话，或用 `--session ID` 指定。",
    ),
    "no_directory": (
        "{path} is no folder that can be worked in. Nothing was done; name one that exists.",
        "{path} 不是可用的文件夹。没有做任何事；请指定一个存在的文件夹。",
    ),
    "directory_gone": (
        "The current folder is not there any more. Nothing was done; go to one that exists.",
        "当前文件夹已不存在。没有做任何事；请进入一个存在的文件夹。",
    ),
    "bad_permission": (
        "There is no permission {wanted!r}. Nothing was done; it is one of ask, edits, plan, full.",
        "没有名为 {wanted!r} 的权限模式。没有做任何事；可选：ask、edits、plan、full。",
    ),
}
