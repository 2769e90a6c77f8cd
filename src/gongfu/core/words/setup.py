"""Sentences of setting up and checking: models, doctor, first steps, demo."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    # --- models and doctor
    "head_model": ("MODEL", "模型"),
    "head_role": ("ROLE", "角色"),
    "head_window": ("WINDOW", "窗口"),
    "head_price": ("$ IN / OUT PER 1M", "每百万 输入/输出 $"),
    "head_found": ("FOUND", "来源"),
    "found_settings": ("settings", "设置"),
    "not_pulled": (
        "not here yet ({size}): gongfu models pull {name}",
        "尚未下载（{size}）：gongfu models pull {name}",
    ),
    "pull_size": (
        "{title}: {size} to fetch ({license}; about {fast} at 10 MB/s, {slow} at 1 MB/s)",
        "{title}：需下载 {size}（{license}；10 MB/s 约 {fast}，1 MB/s 约 {slow}）",
    ),
    "pull_sure": ("Fetch it now?", "现在下载吗？"),
    "pulled": ("{name} is here: {path}", "{name} 已就绪：{path}"),
    "pulling": (
        "{percent}%  {done} of {total}  {rate}/s  {left} left  {source}",
        "{percent}%  {done} / {total}  {rate}/s  剩余 {left}  {source}",
    ),
    "pull_checking": ("{percent}%  checking what arrived", "{percent}%  正在校验"),
    "check_python": ("Python", "Python"),
    "check_platform": ("Platform", "平台"),
    "check_terminal": ("Terminal", "终端"),
    "check_git": ("git", "git"),
    "check_rg": ("ripgrep", "ripgrep"),
    "check_mcp": ("MCP servers", "MCP 服务器"),
    "check_sandbox": ("Sandbox", "沙箱"),
    "check_home": ("Files", "文件"),
    "check_store": ("Store", "会话库"),
    "check_sizes": ("Sizes", "占用"),
    "check_settings": ("Settings", "设置"),
    "check_folder": ("Workspace", "工作区"),
    "check_model": ("Model", "模型"),
    "check_embedded": ("Embedded model", "内置模型"),
    "doctor_good": ("Everything that is needed is there.", "所需的一切都已就绪。"),
    "doctor_bad": ("Something that is needed does not work (✗).", "有必需的项目不可用（✗）。"),
    "terminal_ascii": (
        "{encoding} cannot show Chinese; such text is written as escapes",
        "{encoding} 无法显示中文；这类文字会以转义形式输出",
    ),
    "git_missing": (
        "not found; it is used to tell what belongs to a project",
        "未找到；它用于判断哪些文件属于项目",
    ),
    "rg_missing": ("not found; a slower search is used instead", "未找到；将使用较慢的搜索"),
    "home_readonly": ("{path} cannot be written", "{path} 不可写"),
    "home_free": ("{path}, {free} free", "{path}，剩余空间 {free}"),
    "size_store": ("sessions", "会话"),
    "size_artifacts": ("outputs", "输出"),
    "size_checkpoints": ("checkpoints", "检查点"),
    "size_logs": ("logs", "日志"),
    "size_cache": ("cache", "缓存"),
    "size_models": ("models", "模型"),
    "size_total": ("in all", "合计"),
    "settings_none": ("none; defaults hold ({path} is not there)", "无，使用默认值（{path} 不存在）"),
    "model_window": ("{ref} (window {window})", "{ref}（窗口 {window}）"),
    "model_reachable": ("{address} answers", "{address} 有应答"),
    "model_unreachable": ("{address} cannot be reached {reason}", "无法连接 {address} {reason}"),
    "model_key_refused": (
        "{address} does not accept the key (HTTP {status})",
        "{address} 不接受该密钥（HTTP {status}）",
    ),
    "embedded_missing": (
        "{name} ({size}) is not here; it needs no key and does small jobs",
        "{name}（{size}）尚未下载；无需密钥，可做小任务",
    ),
    "embedded_no_runtime": ("the runtime xllamacpp is not installed", "未安装运行库 xllamacpp"),
    "salvaged": (
        "What could be read is in {path} again; the damaged file is {kept}.",
        "可读的内容已恢复到 {path}；损坏的文件保存在 {kept}。",
    ),
    # --- settings
    "default": ("default", "默认"),
    "nothing_set": (
        "Nothing is set; defaults hold. Settings go into {path}.",
        "没有任何设置，使用默认值。设置文件是 {path}。",
    ),
    "set": ("{name} is set in {path}", "已在 {path} 中设置 {name}"),
    "unset": ("{name} is at its default again", "{name} 已恢复默认"),
    "was_not_set": ("{name} was not set", "{name} 原本就没有设置"),
    "no_history": ("The settings were never changed from here.", "还没有更改过设置。"),
    "model_none": ("none is configured, and none was found", "没有配置，也没有找到"),
    # --- demo
    "demo_head": ("Gongfu finds and fixes a bug", "Gongfu 找到并修复一个错误"),
    "demo_wanted": ("Model: {ref}, as asked.", "模型：{ref}（按要求）。"),
    "demo_found": ("Model: {ref}, which is what a run uses here.", "模型：{ref}（与日常运行相同）。"),
    "demo_nothing_found": (
        "No model is configured and none was found, so the embedded one is used; it runs on this machine.",
        "没有配置也没有找到模型，因此使用在本机运行的内置模型。",
    ),
    "demo_embedded": (
        "Model: {title} on this machine. It is small: it does little jobs like this one, and slowly.",
        "模型：本机上的 {title}。它很小，只能做这类小任务，而且较慢。",
    ),
    "demo_scripted_wanted": (
        "No model: a script plays its part, as asked. The tools, the edits and the test runs are real.",
        "没有模型：按要求由脚本扮演。工具、编辑和测试运行都是真实的。",
    ),
    "demo_scripted_instead": (
        "No model could be had: a script plays its part. The tools, the edits and the test runs are real.",
        "无法取得模型：由脚本扮演。工具、编辑和测试运行都是真实的。",
    ),
    "demo_before": ("A git repository in {path}, and its tests:", "{path} 中的 git 仓库及其测试："),
    "demo_before_no_git": (
        "A folder {path} (there is no git here), and its tests:",
        "文件夹 {path}（本机没有 git）及其测试：",
    ),
    "demo_diff": ("What changed", "改动"),
    "demo_no_diff": ("nothing", "没有改动"),
    "demo_after": ("The tests, run once more by the demo itself", "由演示程序再次运行测试"),
    "demo_sent_head": ("What was sent", "发送的内容"),
    "demo_sent": (
        "{requests} requests, {input} tokens in, {output} tokens out, {cost}",
        "{requests} 次请求，输入 {input} token，输出 {output} token，{cost}",
    ),
    "demo_sent_script": (
        "nothing left this machine; the script was asked {requests} times with {input} tokens (estimated)",
        "没有任何内容离开本机；共询问脚本 {requests} 次，{input} token（估计）",
    ),
    "demo_fixed": ("The bug is fixed and the tests pass.", "错误已修复，测试通过。"),
    "demo_not_fixed": (
        "The bug is not fixed: the tests still fail. A small model does not always manage; try again or another model.",
        "错误没有修复，测试仍然失败。小模型并不总能成功；可重试或换一个模型。",
    ),
    "demo_test_changed": (
        "The bug is not fixed: the model changed the tests themselves, so that they prove nothing any more.",
        "错误没有修复：模型改动了测试本身，测试已不能证明什么。",
    ),
    "demo_was_scripted": (
        "This was a script, not a model. `gongfu doctor` says how to get one.",
        "以上由脚本扮演，不是模型。`gongfu doctor` 会告诉你如何取得模型。",
    ),
    "demo_kept": ("The repository is kept in {path}", "仓库保留在 {path}"),
    # --- init
    "init_which": ("Which model shall do the work?", "由哪个模型来工作？"),
    "choice_key": ("{ref} (key from {place})", "{ref}（密钥来自 {place}）"),
    "choice_server": ("{name} of {server} on this machine", "本机 {server} 的 {name}"),
    "choice_embedded": ("{title}, embedded: no key, small jobs", "内置的 {title}：无需密钥，适合小任务"),
    "choice_pull": ("fetch {title}: no key, runs here, small jobs", "下载 {title}：无需密钥，在本机运行，适合小任务"),
    "choice_other": ("another provider or address, with a key", "其他提供商或地址（需要密钥）"),
    "ask_provider": (
        "Provider ({hint}) or the address of an OpenAI-compatible server:",
        "提供商（{hint}）或 OpenAI 兼容服务器的地址：",
    ),
    "ask_key": ("Key of {provider} (empty for none, it is not shown):", "{provider} 的密钥（没有则留空，不会显示）："),
    "ask_model": ("Model [{hint}]:", "模型 [{hint}]："),
    "no_address": (
        "{text!r} is neither a provider that is known nor an address such as https://host/v1. Nothing was changed.",
        "{text!r} 既不是已知的提供商，也不是 https://host/v1 这样的地址。没有任何改动。",
    ),
    "key_written": ("the key of {provider} is in {path} (mode 0600)", "{provider} 的密钥保存在 {path}（权限 0600）"),
    "not_taken": ("{name} has no counterpart here and was left out", "{name} 在这里没有对应项，已略过"),
    "init_nothing": (
        "No key and no local server was found, so there is nothing to write down. Set a key such as DEEPSEEK_API_KEY,"
        " name a model with --model, or run `gongfu models pull`. Nothing was changed.",
        "没有找到密钥或本地服务器，没有可写入的内容。请设置密钥（如 DEEPSEEK_API_KEY）、用 --model 指定模型，"
        "或运行 `gongfu models pull`。没有任何改动。",
    ),
    "init_done": (
        'Ready: {ref}. Try: gongfu "what does this project do?"  (`gongfu models test` checks the model.)',
        '已就绪：{ref}。试试：gongfu "这个项目是做什么的？"（`gongfu models test` 可检查模型。）',
    ),
    # --- the first conversation
    "first_head": ("Welcome to Gongfu.", "欢迎使用 Gongfu。"),
    "first_intro": (
        "One choice and you can begin. Esc goes back; everything can be changed later.",
        "只需选择一项即可开始。按 Esc 返回；之后都可以更改。",
    ),
    "first_nothing": (
        "No key, no local server and no embedded model was found on this machine.",
        "在本机没有找到密钥、本地服务器或内置模型。",
    ),
    "first_paste": ("Use an API key", "使用 API 密钥"),
    "first_paste_more": ("DeepSeek, Claude, OpenAI, Qwen, …", "DeepSeek、通义千问、Kimi、智谱、Claude 等"),
    "first_address": ("Use a server of your own", "使用自己的服务器"),
    "first_address_more": ("any OpenAI-compatible address", "任何 OpenAI 兼容地址"),
    "first_pull": ("Fetch a small model that runs here", "下载在本机运行的小模型"),
    "first_pull_more": (
        "{size}, {fast}-{slow} min; no key, small jobs",
        "{size}，约 {fast}-{slow} 分钟；无需密钥，做小任务",
    ),
    "first_pull_rest": (
        "{size} left, {fast}-{slow} min; no key",
        "还剩 {size}，约 {fast}-{slow} 分钟；无需密钥",
    ),
    "first_pulling": ("Fetching {title}", "正在下载 {title}"),
    "first_stop": ("Stop for now; what is here stays", "暂停；已下载的部分会保留"),
    "first_stopped": (
        "Stopped. What has arrived is kept and the next time goes on from there.",
        "已暂停。已下载的部分会保留，下次从那里继续。",
    ),
    "first_provider": ("Whose key is it?", "是哪家的密钥？"),
    "first_key": ("Paste the key of {provider} (it is not shown):", "粘贴 {provider} 的密钥（不会显示）："),
    "first_url": ("Address, such as http://127.0.0.1:8000/v1:", "地址，例如 http://127.0.0.1:8000/v1："),
    "first_url_key": ("Its key (empty for none, it is not shown):", "它的密钥（没有则留空，不会显示）："),
    "first_model": ("Which model of {place}?", "使用 {place} 的哪个模型？"),
    "first_name": ("It lists no models. Name of the model:", "它没有列出模型。模型名称："),
    "first_checking": ("Asking {place} …", "正在询问 {place} …"),
    "first_key_refused": (
        "{place} does not accept the key ({detail}). Nothing was written down.",
        "{place} 不接受该密钥（{detail}）。没有写入任何内容。",
    ),
    "first_unreachable": (
        "{place} cannot be reached ({detail}). Nothing was written down.",
        "无法连接 {place}（{detail}）。没有写入任何内容。",
    ),
    "first_said": (
        "{place} did not answer as it should ({detail}). Nothing was written down.",
        "{place} 的应答不正常（{detail}）。没有写入任何内容。",
    ),
    "first_done": ("{ref} works and is your model now.", "{ref} 可用，已设为你的模型。"),
    "first_later": (
        "No model is chosen yet. The next start asks again.",
        "尚未选择模型。下次启动时会再次询问。",
    ),
    "first_variable": (
        "{variable} in the environment goes before this key; take it out to use the new one.",
        "环境变量 {variable} 优先于此密钥；要使用新密钥请先移除它。",
    ),
    "first_keep": ("Write it down all the same?", "仍然写入吗？"),
    # --- reference
    "reference_title": ("Command line", "命令行"),
    "reference_intro": (
        "This page is made from the commands themselves (`scripts/generate_docs.py`); `--help` shows the same.",
        "本页由命令本身生成（`scripts/generate_docs.py`）；`--help` 显示相同内容。",
    ),
    "reference_shared": ("Options of every command", "所有命令共有的选项"),
    "reference_exit": ("Exit codes", "退出码"),
    "reference_code": ("Code", "退出码"),
    "exit_0": ("done", "完成"),
    "exit_1": ("failed", "失败"),
    "exit_2": ("wrong usage or settings; nothing was sent", "用法或设置有误，没有发送任何内容"),
    "exit_3": ("refused by policy or rules", "被策略或规则拒绝"),
    "exit_4": ("a limit of steps, money, time or tokens was reached", "达到步数、费用、时间或 token 限额"),
    "exit_130": ("interrupted", "被中断"),
    "reference_json": ("JSON output", "JSON 输出"),
    "reference_json_intro": (
        "`--json` prints one object. `--stream-json` prints a line with the session first (`type` is `session`), then"
        " one event a line (`seq`, `time` in seconds since 1970, `type`, and the event's own fields; `seq` is 0 for what"
        " is only shown live), and the same object last. Errors before the turn give the object too. The name of a batch of"
        " calls is an event of type `tool_use_summary` (`text`, `preceding_tool_use_ids`, `by`); `--json` lists them as"
        " `tool_use_summaries`. What was asked beside the turn stands in `usage_beside`, by purpose.",
        "`--json` 输出一个对象。`--stream-json` 先输出一行会话信息（`type` 为 `session`），然后每行一个事件（`seq`、"
        "`time` 为自 1970 年起的秒数、`type` 以及事件自身的字段；仅实时显示的事件 `seq` 为 0），最后输出同样的对象。"
        "在本轮开始前出错时也会输出该对象。一批调用的名称是类型为 `tool_use_summary` 的事件（`text`、"
        "`preceding_tool_use_ids`、`by`）；`--json` 将其列在 `tool_use_summaries` 中。轮次之外的用量按用途列在 `usage_beside` 中。",
    ),
}
