"""Sentences of the embedded model."""

TEXT: dict[str, tuple[str, str]] = {
    "unknown_model": (
        "There is no local model {name!r}. Known are: {known}.",
        "没有名为 {name!r} 的本地模型。可用的有：{known}。",
    ),
    "not_pulled": (
        "The local model {name} is not on this machine yet ({size}). Fetch it with `gongfu models pull {name}`.",
        "本机还没有本地模型 {name}（{size}）。请运行 `gongfu models pull {name}` 下载。",
    ),
    "not_agreed": (
        "The model {name} is {size}; nothing was fetched. Say yes, or run `gongfu models pull {name} --yes`.",
        "模型 {name} 大小为 {size}；没有下载任何内容。请同意下载，或运行 `gongfu models pull {name} --yes`。",
    ),
    "no_space": (
        "{folder} has {free} free and the model needs {needed}. Nothing was fetched; make room or set GONGFU_HOME to "
        "another disk.",
        "{folder} 只剩 {free}，而模型需要 {needed}。没有下载任何内容；请腾出空间，或把 GONGFU_HOME 指到别的磁盘。",
    ),
    "no_such_file": (
        "{path} cannot be read: {reason}. Name a model file (.gguf) that is there.",
        "无法读取 {path}：{reason}。请指定一个存在的模型文件（.gguf）。",
    ),
    "wrong_file": (
        "{path} is not the file of {name}: its checksum differs. It was left as it is.",
        "{path} 不是 {name} 的文件：校验和不一致。该文件未被改动。",
    ),
    "no_source": (
        "The model {name} could not be fetched. {tried} What had arrived is kept; the same command goes on from there, "
        "and `gongfu models pull {name} --from FILE` takes a file that you have.",
        "无法下载模型 {name}。{tried} 已收到的部分会保留，再次运行同一命令即可续传；也可以用 "
        "`gongfu models pull {name} --from 文件` 使用已有的文件。",
    ),
    "not_writable": (
        "{path} cannot be written: {reason}. What had arrived before is kept.",
        "无法写入 {path}：{reason}。之前收到的部分会保留。",
    ),
    "busy": (
        "Another gongfu is fetching the model {name} now. Wait for it, or stop it first.",
        "另一个 gongfu 正在下载模型 {name}。请等它完成，或先停止它。",
    ),
    "no_runtime": (
        "The local model needs the package xllamacpp, which is not installed. Run: pip install 'gongfu[local]'",
        "本地模型需要 xllamacpp 包，但尚未安装。请运行：pip install 'gongfu[local]'",
    ),
    "no_memory": (
        "The local model needs about {needed} of memory and {free} are free. Close something, or take the smaller one: "
        "`--model local/qwen2.5-coder-0.5b`.",
        "本地模型大约需要 {needed} 内存，当前只剩 {free}。请关闭一些程序，或改用更小的模型："
        "`--model local/qwen2.5-coder-0.5b`。",
    ),
    "server_failed": (
        "The local model's server did not start. Its log is {log}; the last line: {line}",
        "本地模型服务未能启动。日志在 {log}，最后一行：{line}",
    ),
    "server_slow": (
        "The local model's server was not ready after {seconds} seconds and was stopped. Its log is {log}.",
        "本地模型服务在 {seconds} 秒后仍未就绪，已将其停止。日志在 {log}。",
    ),
    "written": ("Written: {files}", "已写入：{files}"),
    "not_run": ("{file} was not run after its last change.", "{file} 在最后一次修改之后没有运行过。"),
    "showed": ("`{what}` showed:\n{text}", "`{what}` 的输出：\n{text}"),
    "showed_failed": ("`{what}` failed and showed:\n{text}", "`{what}` 失败，输出：\n{text}"),
    "stuck": (
        "The small model did the same thing again and again and was stopped. Say it in smaller steps, or take a larger "
        "model.",
        "小模型一再重复同样的操作，已停止。请把任务拆得更小，或换用更大的模型。",
    ),
}
