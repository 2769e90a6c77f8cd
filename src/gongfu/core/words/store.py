"""Sentences of the store: sessions, events and whole outputs."""

TEXT: dict[str, tuple[str, str]] = {
    "busy": (
        "The store {path} was in use by another process for more than {seconds} seconds. Nothing was written; try again.",
        "会话库 {path} 被另一个进程占用超过 {seconds} 秒。没有写入任何内容，请重试。",
    ),
    "full": (
        "The disk of {path} is full. What was stored before is intact; free some space and try again.",
        "{path} 所在的磁盘已满。之前保存的内容完好，请腾出空间后重试。",
    ),
    "io": (
        "The disk failed while {path} was used: {reason}. What was stored before was not changed; check the disk.",
        "使用 {path} 时磁盘出错：{reason}。之前保存的内容没有改动，请检查磁盘。",
    ),
    "not_writable": (
        "The store {path} cannot be opened for writing: {reason}. Nothing was changed;"
        " make the file and its folder writable, or set GONGFU_HOME to another folder.",
        "无法以写入方式打开会话库 {path}：{reason}。没有任何改动；请让该文件及其文件夹可写，或把 GONGFU_HOME 设为另一个文件夹。",
    ),
    "damaged": (
        "The store {path} is damaged: {reason}. Nothing was changed; `gongfu doctor --salvage` copies everything that"
        " can be read into a new store and keeps the damaged file.",
        "会话库 {path} 已损坏：{reason}。没有任何改动；`gongfu doctor --salvage` 会把所有可读的内容复制到新库，并保留损坏的文件。",
    ),
    "newer": (
        "The store {path} was written by a newer Gongfu (schema {found}; this version knows {known})."
        " Nothing was changed; update Gongfu, or set GONGFU_HOME to another folder.",
        "会话库 {path} 由更新版本的 Gongfu 写入（结构 {found}，当前版本只认识 {known}）。没有任何改动；请升级 Gongfu，或把 GONGFU_HOME 设为另一个文件夹。",
    ),
    "foreign": (
        "{path} is a database of another program. Nothing was changed; move it away, or set GONGFU_HOME to another folder.",
        "{path} 是其他程序的数据库。没有任何改动；请把它移走，或把 GONGFU_HOME 设为另一个文件夹。",
    ),
    "session_gone": (
        "Session {session} was deleted while it was open. Nothing more is stored for it; start a new one.",
        "会话 {session} 在打开期间被删除。不会再为它保存内容，请新建会话。",
    ),
    "session_unknown": (
        "There is no session {session}. Did you mean {near}? `gongfu sessions` lists all.",
        "没有会话 {session}。你是不是指 {near}？`gongfu sessions` 列出全部会话。",
    ),
    "session_unknown_none": (
        "There is no session {session}. `gongfu sessions` lists all.",
        "没有会话 {session}。`gongfu sessions` 列出全部会话。",
    ),
    "session_ambiguous": (
        "More than one session matches {session}: {near}. Type more of its id.",
        "{session} 对应多个会话：{near}。请多输入几位编号。",
    ),
    "artifact_unknown": (
        "There is no output {id} in session {session}.",
        "会话 {session} 中没有输出 {id}。",
    ),
    "artifact_full": (
        "The disk is full: {path} holds only the first part of the output. Free some space and try again.",
        "磁盘已满：{path} 只保存了输出的前一部分。请腾出空间后重试。",
    ),
    "artifact_io": (
        "The output {path} cannot be used: {reason}.",
        "无法使用输出 {path}：{reason}。",
    ),
    "bad_name": (
        "{name!r} is no name of a session or an output.",
        "{name!r} 不是会话或输出的名称。",
    ),
}
