"""Sentences of checkpoints: their store, their trees, and what is given back."""

TEXT: dict[str, tuple[str, str]] = {
    "damaged": (
        "The checkpoints in {path} are damaged: {reason}. No file of the workspace was changed;"
        " move that file away to begin a new one.",
        "{path} 中的检查点已损坏：{reason}。工作区的文件没有任何改动；把该文件移走即可重新开始。",
    ),
    "foreign": (
        "{path} is a database of another program. Nothing was changed; move it away, or set GONGFU_HOME to another folder.",
        "{path} 是其他程序的数据库。没有任何改动；请把它移走，或把 GONGFU_HOME 设为另一个文件夹。",
    ),
    "content_gone": (
        "The content {digest} is no longer in {path}, so this checkpoint cannot be restored. No file was changed.",
        "{path} 中已没有内容 {digest}，因此无法恢复到这个检查点。没有改动任何文件。",
    ),
    "content_damaged": (
        "The stored content {digest} is damaged, so this checkpoint cannot be restored. No more files were changed.",
        "保存的内容 {digest} 已损坏，因此无法恢复到这个检查点。没有再改动文件。",
    ),
    "tree_gone": (
        "A part of this checkpoint is no longer in {path}, so it cannot be restored. No file was changed.",
        "{path} 中已缺少这个检查点的一部分，因此无法恢复。没有改动任何文件。",
    ),
    "swept": (
        "Checkpoints in {path} were being deleted at the same moment, so none was kept. Try again.",
        "{path} 中的检查点正好在被删除，因此没有保存新的检查点。请重试。",
    ),
    "bad_tree": (
        "This checkpoint cannot be read: {reason}. No file was changed.",
        "无法读取这个检查点：{reason}。没有改动任何文件。",
    ),
    "newer_tree": (
        "This checkpoint was written by a newer Gongfu (form {found}; this version knows {known})."
        " No file was changed; update Gongfu.",
        "这个检查点由更新版本的 Gongfu 写入（格式 {found}，当前版本只认识 {known}）。没有改动任何文件；请升级 Gongfu。",
    ),
    "unknown": (
        "There is no checkpoint {id}. `gongfu checkpoints` lists all.",
        "没有检查点 {id}。`gongfu checkpoints` 列出全部检查点。",
    ),
    "ambiguous": (
        "More than one checkpoint matches {id}: {near}. Type more of its id.",
        "{id} 对应多个检查点：{near}。请多输入几位编号。",
    ),
    "no_root": (
        "The folder {path} cannot be read: {reason}. Nothing was changed.",
        "无法读取文件夹 {path}：{reason}。没有任何改动。",
    ),
}
