"""Sentences on the deletion of old sessions."""

TEXT: dict[str, tuple[str, str]] = {
    "which": (
        "Say which sessions are to go: --older-than DAYS, --keep N, or set `retention.days`. Nothing was deleted.",
        "请说明要删除哪些会话：--older-than DAYS、--keep N，或设置 `retention.days`。没有删除任何内容。",
    ),
    "nothing": ("No session is that old.", "没有这么旧的会话。"),
    "nothing_here": (
        "No session of {root} is that old (`--everywhere` looks at those of all folders).",
        "{root} 没有这么旧的会话（`--everywhere` 查看所有文件夹的会话）。",
    ),
    "more": ("… and {count} more", "… 以及另外 {count} 个"),
    "would": (
        "{count} sessions, {size}, last used from {first} to {last}",
        "{count} 个会话，{size}，最后使用于 {first} 至 {last}",
    ),
    "done": ("Deleted {count} sessions for good; {size} given back.", "已彻底删除 {count} 个会话，释放 {size}。"),
    "busy": (
        "Left, as another process has them open: {ids}",
        "以下会话正被另一个进程打开，已保留：{ids}",
    ),
    "not_shrunk": (
        "The files could not be made smaller while another process uses them: their free space is used again.",
        "另一个进程正在使用，文件未能缩小；空出的空间会被再次使用。",
    ),
    "retention": (
        "{count} sessions unused for {days} days were deleted for good (`retention.days`).",
        "已彻底删除 {count} 个超过 {days} 天未使用的会话（`retention.days`）。",
    ),
}
