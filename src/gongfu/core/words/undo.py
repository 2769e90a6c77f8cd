"""Words of undo, redo, rewind and the checkpoints."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    "not_kept": (
        "The files could not be kept before this turn changes them: {reason} The turn goes on; it cannot be undone.",
        "本轮改动文件之前未能保存它们：{reason} 本轮继续进行，但无法撤销。",
    ),
    "partly_kept": (
        "Not in the checkpoint of this turn, so undo will not give them back: {paths}.",
        "以下内容不在本轮的检查点中，撤销时不会恢复：{paths}。",
    ),
    "narrow": (
        "This folder is too large to be kept whole: undo will only give back what the file tools change, not what"
        " commands do.",
        "此文件夹过大，无法整体保存：撤销只能恢复文件工具的改动，不包括命令的改动。",
    ),
    "nothing": (
        "There is nothing to undo: no turn of session {session} changed files that were kept. Nothing was touched.",
        "没有可撤销的内容：会话 {session} 中没有任何一轮改动过已保存的文件。没有做任何改动。",
    ),
    "nothing_left": (
        "There is nothing more to undo: all turns of session {session} that changed files are undone. Nothing was"
        " touched; `gongfu redo` takes the last undo back, `gongfu undo SESSION` undoes what another session did.",
        "没有更多可撤销的内容：会话 {session} 中改动过文件的各轮都已撤销。没有做任何改动；`gongfu redo` 可收回最近一次撤销，"
        "`gongfu undo 会话` 可撤销另一会话的改动。",
    ),
    "nothing_undone": (
        "There is nothing to redo: no undo of session {session} is open. Nothing was touched.",
        "没有可重做的内容：会话 {session} 没有待收回的撤销。没有做任何改动。",
    ),
    "changed_since": (
        "The undo cannot be taken back: a turn of session {session} changed files after it. Nothing was touched;"
        " `gongfu checkpoints` lists what is kept.",
        "无法收回撤销：之后会话 {session} 又有一轮改动了文件。没有做任何改动；`gongfu checkpoints` 列出已保存的内容。",
    ),
    "own_folder": (
        "Files below {path} are Gongfu's own and are not kept.",
        "{path} 下是 Gongfu 自己的文件，不予保存。",
    ),
    "cut": (
        "This turn was cut off; everything that changed since it began counts as its own.",
        "该轮被中断；自其开始以来的所有改动都算作它的改动。",
    ),
    "gone": (
        "The checkpoint {id} is not there any more. Nothing was touched.",
        "检查点 {id} 已不存在。没有做任何改动。",
    ),
    "running": (
        "A turn of session {session} is running. Nothing was touched; wait for its end or cancel it first.",
        "会话 {session} 正在进行一轮。没有做任何改动；请等它结束或先取消。",
    ),
    "no_prompts": (
        "Session {session} has no prompt to go back to. Nothing was touched.",
        "会话 {session} 没有可回到的提示。没有做任何改动。",
    ),
    "no_prompt": (
        "Session {session} has no prompt {number}; they count from 1 to {last}. Nothing was touched;"
        " `gongfu rewind --list` shows them.",
        "会话 {session} 没有第 {number} 个提示；编号为 1 到 {last}。没有做任何改动；`gongfu rewind --list` 可列出。",
    ),
    "no_session": (
        "Nothing was changed here yet: no session of {root} has checkpoints.",
        "这里尚无改动：{root} 的会话都没有检查点。",
    ),
    # --- what was done
    "undid": ("Undid the file changes of:", "已撤销以下各轮的文件改动："),
    "redid": ("Took back the undo of:", "已收回对以下各轮的撤销："),
    "rewound_files": ("Gave back the files to before:", "已将文件恢复到此轮之前："),
    "would_undo": ("Would undo the file changes of:", "将撤销以下各轮的文件改动："),
    "would_redo": ("Would take back the undo of:", "将收回对以下各轮的撤销："),
    "would_rewind": ("Would go back to before:", "将回到此轮之前："),
    "no_files": ("No file had to be changed.", "没有文件需要改动。"),
    "more": ("… and {count} more", "……另有 {count} 个"),
    "kept": (
        "Left as they are, since somebody else changed them after that turn (`--force` gives them back, too):",
        "以下文件在该轮之后被他人改动，保持原样（`--force` 可一并恢复）：",
    ),
    "kept_undone": (
        "Left as they are, since somebody else changed them after that turn (`gongfu redo`, then `gongfu undo --force`,"
        " gives them back, too):",
        "以下文件在该轮之后被他人改动，保持原样（先 `gongfu redo` 再 `gongfu undo --force` 可一并恢复）：",
    ),
    "uncovered": ("Not in the checkpoints, so not given back:", "不在检查点中，因此没有恢复："),
    "lasting": (
        "Not undone, since it is more than files of this workspace:",
        "以下操作不只是此工作区的文件改动，没有撤销：",
    ),
    "failed": ("Could not be given back:", "未能恢复："),
    "nothing_given": (
        "Nothing was given back: all that would change was changed by somebody else since. Nothing was touched;"
        " `--force` gives it back all the same.",
        "没有恢复任何内容：要恢复的文件之后都被他人改动过。没有做任何改动；`--force` 可强制恢复。",
    ),
    "redo_hint": ("`gongfu redo` takes this back.", "`gongfu redo` 可收回此操作。"),
    "talk": (
        "The talk goes on in session {session}, from before prompt {number} of {origin}; `gongfu run --continue` goes"
        " on with it.",
        "对话在会话 {session} 中继续，起点为 {origin} 的第 {number} 个提示之前；`gongfu run --continue` 接着进行。",
    ),
    "prompt": ("The prompt was:", "原提示为："),
    "sure": ("Do it?", "是否执行？"),
    # --- in the session, when it is read again
    "line_undo": ("Undone, given back as before the turn: {paths}", "已撤销，恢复为该轮之前的样子：{paths}"),
    "line_redo": ("Undo taken back: {paths}", "已收回撤销：{paths}"),
    "line_rewind": ("Gone back, given back as before the turn: {paths}", "已回退，恢复为该轮之前的样子：{paths}"),
    "line_nothing": ("nothing", "无"),
    "line_kept": (" (left as they are: {count})", "（保持原样：{count}）"),
    # --- lists
    "head_number": ("turn", "轮次"),
    "head_id": ("checkpoint", "检查点"),
    "head_time": ("time", "时间"),
    "head_changes": ("changes", "改动"),
    "head_size": ("stored", "占用"),
    "head_state": ("state", "状态"),
    "head_title": ("prompt", "提示"),
    "state_done": ("done", "有效"),
    "state_undone": ("undone", "已撤销"),
    "state_open": ("cut off", "被中断"),
    "went_on": ("(went on)", "（继续）"),
    "none": (
        "No turn of session {session} changed files that were kept.",
        "会话 {session} 中没有任何一轮改动过已保存的文件。",
    ),
    "changes_none": ("Nothing differs.", "没有差异。"),
}
