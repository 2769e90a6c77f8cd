"""Sentences of the command line: a turn as it runs, its errors, and how it ends."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    # --- how the command line is called
    "usage": ("Usage:", "用法："),
    "options": ("Options", "选项"),
    "commands": ("Commands", "命令"),
    "root_usage": ("[OPTIONS] TASK | COMMAND [ARGS]...", "[选项] 任务 | 命令 [参数]..."),
    "try_help": ("`{command} --help` shows how it is called.", "`{command} --help` 可查看用法。"),
    "usage_error": ("{message}", "用法错误：{message}"),
    "no_option": ("There is no option {option}.", "没有选项 {option}。"),
    "no_option_but": (
        "There is no option {option}. Did you mean {close}?",
        "没有选项 {option}。你是不是想用 {close}？",
    ),
    "missing_parameter": ("{name} is missing.", "缺少 {name}。"),
    "option_needs_value": ("The option {option} needs a value.", "选项 {option} 需要一个值。"),
    "bad_value": ("{name}: {message}", "{name} 的值无效：{message}"),
    "bad_choice": (
        "{option} cannot be {value!r}. It is one of: {choices}.",
        "{option} 不能是 {value!r}，可选：{choices}。",
    ),
    "bad_number": (
        "{option} must be a number above 0, not {value!r}.",
        "{option} 必须是大于 0 的数，而不是 {value!r}。",
    ),
    "bad_whole": (
        "{option} must be a whole number above 0, not {value!r}.",
        "{option} 必须是大于 0 的整数，而不是 {value!r}。",
    ),
    "extra_arguments": (
        "`{command}` takes no further arguments; {words!r} was not expected. A task of several words goes in quotes.",
        "`{command}` 不接受更多参数，多出了 {words!r}。包含多个词的任务请加引号。",
    ),
    "no_command": (
        "{word!r} is not a command, and one word is hardly a task. Nothing was sent."
        " If it is one: {path} run {word}; all commands: {path} --help.",
        "{word!r} 不是命令，而一个词也不像任务。没有发送任何内容。如果它就是任务：{path} run {word}；全部命令：{path} --help。",
    ),
    "no_command_but": (
        '{word!r} is not a command. Did you mean `{close}`? Nothing was sent. If it is a task: gongfu run "{word} …".',
        '{word!r} 不是命令。你是不是想用 `{close}`？没有发送任何内容。如果它是任务：gongfu run "{word} …"。',
    ),
    "no_subcommand": (
        "{word!r} is not a command of `{path}`. `{path} --help` lists them.",
        "`{path}` 没有子命令 {word!r}。`{path} --help` 列出全部子命令。",
    ),
    "no_subcommand_but": (
        "{word!r} is not a command of `{path}`. Did you mean `{close}`?",
        "`{path}` 没有子命令 {word!r}。你是不是想用 `{close}`？",
    ),
    "exclusive": ("{one} and {other} cannot be used together.", "{one} 和 {other} 不能同时使用。"),
    "no_task": (
        'There is no task. Give one in quotes (gongfu run "…") or pipe it in. Nothing was sent.',
        '没有任务。请用引号给出任务（gongfu run "…"），或通过管道传入。没有发送任何内容。',
    ),
    "stdin_unreadable": ("Standard input cannot be read: {reason}.", "无法读取标准输入：{reason}。"),
    "stdin_binary": (
        "What was piped in is not text. Nothing was sent; pipe in text, or name the file in the task.",
        "管道传入的内容不是文本。没有发送任何内容；请传入文本，或在任务中写明文件名。",
    ),
    "stdin_silent": (
        "Nothing came through the pipe within {seconds} s; going on without it (a task `-` waits for it,"
        " `< /dev/null` says there is nothing).",
        "管道在 {seconds} 秒内没有内容，不再等待（任务写成 `-` 会一直等，`< /dev/null` 表示没有输入）。",
    ),
    "file_unreadable": (
        "The file {path} cannot be read: {reason}. Nothing was sent.",
        "无法读取文件 {path}：{reason}。没有发送任何内容。",
    ),
    "schema_no_json": (
        "{path} is not valid JSON: {reason}. Nothing was sent.",
        "{path} 不是有效的 JSON：{reason}。没有发送任何内容。",
    ),
    "schema_no_object": (
        '{path} holds no JSON Schema (an object such as {{"type": "object", …}}). Nothing was sent.',
        '{path} 中没有 JSON Schema（形如 {{"type": "object", …}} 的对象）。没有发送任何内容。',
    ),
    "schema_bad": (
        "{path} is not a valid JSON Schema: {reason}. Nothing was sent.",
        "{path} 不是有效的 JSON Schema：{reason}。没有发送任何内容。",
    ),
    "image_unknown": (
        "{path} is not a PNG, JPEG, GIF or WebP image. Nothing was sent.",
        "{path} 不是 PNG、JPEG、GIF 或 WebP 图片。没有发送任何内容。",
    ),
    "image_large": (
        "{path} is larger than {limit} MB. Nothing was sent; make the image smaller.",
        "{path} 超过 {limit} MB。没有发送任何内容，请缩小图片。",
    ),
    "images_unsupported": (
        "The model {model} takes no images. Nothing was sent; choose another with --model, or set supports_images.",
        "模型 {model} 不支持图片。没有发送任何内容；请用 --model 换一个，或设置 supports_images。",
    ),
    "crashed": (
        "Something went wrong inside Gongfu ({error}). What was done so far is stored; the details are in {path}.",
        "Gongfu 内部出错（{error}）。已完成的内容都已保存；详情见 {path}。",
    ),
    "crashed_nowhere": (
        "Something went wrong inside Gongfu ({error}). What was done so far is stored; --verbose shows the details.",
        "Gongfu 内部出错（{error}）。已完成的内容都已保存；--verbose 可显示详情。",
    ),
    # --- a turn as it runs
    "more_lines": ("… {count} more lines", "… 还有 {count} 行"),
    "in_folder": ("in {path}", "在 {path} 中"),
    "status_failed": ("failed", "失败"),
    "status_refused": ("refused", "被拒绝"),
    "status_cancelled": ("cancelled", "已取消"),
    "status_interrupted": ("interrupted", "被中断"),
    "thinking": ("thinking …", "思考中 …"),
    "waiting_for": ("{model} …", "{model} …"),
    "waiting_retry": ("waiting to try again …", "等待重试 …"),
    "writing_call": ("writing {name} ({size} characters) …", "正在写 {name}（{size} 字符）…"),
    "request_sent": (
        "{purpose} request to {model}: {messages} messages, {estimate} of {budget} tokens, attempt {attempt}",
        "向 {model} 发送 {purpose} 请求：{messages} 条消息，{estimate} / {budget} token，第 {attempt} 次",
    ),
    "retry_in": ("⟳ {what}; trying again in {seconds} s", "⟳ {what}；{seconds} 秒后重试"),
    "retry_other": ("⟳ {what}; going on with {model}", "⟳ {what}；改用 {model}"),
    "retry_none": ("✗ {what}", "✗ {what}"),
    "fault_unauthorized": ("the key was not accepted", "密钥未被接受"),
    "fault_throttled": ("too many requests", "请求过于频繁"),
    "fault_overloaded": ("the model server is overloaded", "模型服务器过载"),
    "fault_unreachable": ("the model server cannot be reached", "无法连接模型服务器"),
    "fault_stream_cut": ("the answer broke off", "回答中断"),
    "fault_refused": ("the model server refuses", "模型服务器拒绝请求"),
    "fault_overflow": ("the prompt is too long for the model", "提示超出模型长度"),
    "fault_bad_request": ("the model server does not accept the request", "模型服务器不接受该请求"),
    "fault_content_filter": ("the answer was withheld for its content", "回答因内容被拦截"),
    "window_observed": (
        "{model} read only {served} of {sent} tokens and dropped the rest silently. From now on no more than that is"
        " sent; raise the window in the server's settings.",
        "{model} 只读取了 {sent} 个 token 中的 {served} 个，其余被悄悄丢弃。之后不会发送更多；请在服务器设置中增大窗口。",
    ),
    "history_repaired": (
        "The stored history had broken pairs of calls and results and was mended ({added} added, {dropped} dropped).",
        "保存的历史中有不成对的调用和结果，已修复（补充 {added} 个，去掉 {dropped} 个）。",
    ),
    "job_running": ("job {job} runs: {command}", "后台任务 {job} 运行中：{command}"),
    "job_ended": (
        "job {job} ended with exit code {code}: {command}",
        "后台任务 {job} 已结束，退出码 {code}：{command}",
    ),
    "job_stopped": ("job {job} was stopped: {command}", "后台任务 {job} 已停止：{command}"),
    "answered_by_policy": ("? nobody to ask, answered: {answer}", "? 无人可问，已回答：{answer}"),
    "answered_by_timeout": ("? no answer in time, taken: {answer}", "? 超时未答，采用：{answer}"),
    "answered_by_cancel": ("? cancelled", "? 已取消"),
    "permission_choices": ("[y] yes  [s] yes, for this session  [n] no >", "[y] 允许  [s] 本次会话都允许  [n] 拒绝 >"),
    "yes_no": ("[y] yes  [n] no >", "[y] 是  [n] 否 >"),
    "question_default": ("[{default}] ", "[{default}] "),
    "question_time": ("({seconds} s) ", "（{seconds} 秒）"),
    "stopping": ("stopping … (Ctrl-C again ends at once)", "正在停止 …（再按一次 Ctrl-C 立即结束）"),
    "turn_done": ("done in {time}", "完成，用时 {time}"),
    "turn_failed": ("failed after {time}", "失败，用时 {time}"),
    "turn_refused": ("refused after {time}", "被拒绝，用时 {time}"),
    "turn_budget": ("stopped at a limit after {time}", "达到限额停止，用时 {time}"),
    "turn_cancelled": ("stopped after {time}", "已停止，用时 {time}"),
    "turn_interrupted": ("interrupted after {time}", "被中断，用时 {time}"),
    "steps": ("steps {count}", "步数 {count}"),
    "tokens_in": ("{tokens} in{cached}", "输入 {tokens}{cached}"),
    "cached": (" ({tokens} cached)", "（缓存 {tokens}）"),
    "tokens_out": ("{tokens} out", "输出 {tokens}"),
    "price_unknown": ("price unknown", "价格未知"),
    # --- stored sessions
    "head_session": ("SESSION", "会话"),
    "head_active": ("LAST ACTIVE", "最近活动"),
    "head_turns": ("TURNS", "轮数"),
    "head_tokens": ("TOKENS", "TOKEN"),
    "head_cost": ("COST", "费用"),
    "head_title": ("TITLE", "标题"),
    "head_purpose": ("PURPOSE", "用途"),
    "head_requests": ("REQUESTS", "请求"),
    "head_input": ("INPUT", "输入"),
    "head_cached": ("CACHED", "缓存"),
    "head_output": ("OUTPUT", "输出"),
    "head_reasoning": ("THINKING", "思考"),
    "unknown": ("unknown", "未知"),
    "no_sessions": ("There are no sessions yet.", "还没有会话。"),
    "no_sessions_here": (
        "There are no sessions of {root} yet (`gongfu sessions --all` lists those of all folders).",
        "{root} 还没有会话（`gongfu sessions --all` 列出所有文件夹的会话）。",
    ),
    "delete_sure": ("Really delete ({count})? It cannot be undone.", "确定删除（{count} 个）吗？无法恢复。"),
    "deleted": ("Deleted: {ids}", "已删除：{ids}"),
    "not_confirmed": ("Nothing was changed.", "没有任何改动。"),
    "nobody_to_ask": (
        "This needs a yes, and there is no terminal to ask at. Nothing was changed; add --yes.",
        "此操作需要确认，但没有终端可以询问。没有任何改动；请加上 --yes。",
    ),
    "turn_resumed": ("(going on)", "（继续）"),
    "images": ("{count} image(s)", "{count} 张图片"),
    "by_person": ("you", "你"),
    "by_policy": ("nobody to ask", "无人可问"),
    "by_timeout": ("no answer in time", "超时"),
    "by_cancel": ("cancelled", "已取消"),
    "completion_bash": (
        "# To switch it on: gongfu completion bash > ~/.local/share/bash-completion/completions/gongfu",
        "# 启用方法：gongfu completion bash > ~/.local/share/bash-completion/completions/gongfu",
    ),
    "completion_zsh": (
        "# To switch it on: gongfu completion zsh > ~/.zfunc/_gongfu, with ~/.zfunc in $fpath",
        "# 启用方法：gongfu completion zsh > ~/.zfunc/_gongfu，并把 ~/.zfunc 加入 $fpath",
    ),
    "completion_fish": (
        "# To switch it on: gongfu completion fish > ~/.config/fish/completions/gongfu.fish",
        "# 启用方法：gongfu completion fish > ~/.config/fish/completions/gongfu.fish",
    ),
}
