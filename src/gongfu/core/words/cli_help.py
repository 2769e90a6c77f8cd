"""Help of the commands and options. The first line of a command's help stands for it in lists."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    "gongfu": (
        'An AI coding agent: `gongfu "what to do"` in a project folder does it.\n\n'
        "A task is a few words in quotes; text that is piped in is added to it. Exit codes: 0 done, 1 failed, 2 wrong"
        " usage or settings, 3 refused by policy or rules, 4 a limit was reached, 130 interrupted.",
        'AI 编程智能体：在项目文件夹里运行 `gongfu "要做的事"`。\n\n'
        "任务用引号括起来；通过管道传入的文本会附加到任务后面。退出码：0 完成，1 失败，2 用法或设置有误，"
        "3 被策略或规则拒绝，4 达到限额，130 被中断。",
    ),
    "run": (
        "Do one task, then exit.\n\n"
        "The answer goes to standard output, everything else to standard error when that is no terminal. Without a"
        " terminal nothing is asked: what would need a yes is refused, and the model is told. A task `-` is read from"
        " standard input.",
        "完成一个任务后退出。\n\n"
        "没有终端时，回答写到标准输出，其他内容写到标准错误；也不会提问：需要许可的操作会被拒绝并告知模型。"
        "任务写成 `-` 时从标准输入读取。",
    ),
    "sessions": ("List the sessions of this project, newest first.", "列出本项目的会话，最新的在前。"),
    "show": (
        "Show what was said and done in a session (the latest when none is named).",
        "显示一个会话的内容（不指定时为最近一个）。",
    ),
    "context": (
        "Show what a request of a session carried, what was left out and why, and what the prompt cache could reuse.\n\n"
        "The latest session and its last main request when none is named. Nothing is locked or changed.",
        "显示会话的某个请求带了什么、略去了什么及原因，以及提示缓存能复用多少。\n\n"
        "不指定时为最近的会话和它最后一个主请求。不锁定也不更改任何内容。",
    ),
    "export": (
        "Save a session as Markdown, HTML, JSON or PDF.",
        "把会话保存为 Markdown、HTML、JSON 或 PDF。",
    ),
    "opt_export_format": ("The format; else by the suffix of the file.", "格式；默认由文件后缀决定。"),
    "opt_export_output": (
        "The file to write; text goes to standard output without one.",
        "要写入的文件；不给出时文本输出到标准输出。",
    ),
    "opt_export_last": ("Only the newest turn.", "只导出最新一轮。"),
    "opt_export_everything": (
        "Thinking and tool calls too, not only prompts and final answers.",
        "连同思考和工具调用，而不只是提问和最终回答。",
    ),
    "opt_export_force": ("Replace an existing file.", "替换已有的文件。"),
    "modes": (
        "List the work modes: what each is for; `--mode NAME` works in one.",
        "列出工作模式及其用途；用 `--mode 名称` 选用。",
    ),
    "modes_list": ("List the work modes.", "列出工作模式。"),
    "modes_show": (
        "Show a work mode: its instructions, the tools it offers, what it keeps from running.",
        "查看一个工作模式：指令、提供的工具、不允许运行的内容。",
    ),
    "commands": (
        "List the commands that a task may start with, such as `/review`.",
        "列出任务开头可用的命令，例如 `/review`。",
    ),
    "commands_list": ("List the commands.", "列出命令。"),
    "commands_show": (
        "Show a command: how it is typed, what holds for its turn, its text.",
        "查看一个命令：如何输入、该轮的限制、正文。",
    ),
    "opt_mode": (
        "The work mode: design, develop, test, review, docs, devops, one of your own, or none; see `gongfu modes`.",
        "工作模式：design、develop、test、review、docs、devops、自定义模式或 none（不用）；见 `gongfu modes`。",
    ),
    "tools": (
        "List the tools: which there are, what each does, what is missing here.",
        "列出工具：有哪些、各自的作用、在此缺少什么。",
    ),
    "tools_list": (
        "List the tools family by family, or those that serve a need in words.",
        "按类别列出工具，或列出符合某个需求（用文字描述）的工具。",
    ),
    "tools_show": (
        "Show what a tool does, its parameters, what it touches and what it needs.",
        "查看一个工具的作用、参数、涉及的内容和所需条件。",
    ),
    "tools_run": (
        "Run one tool by itself, with permissions, checkpoint and hooks as when the model calls it.",
        "单独运行一个工具；权限、检查点和钩子与模型调用时相同。",
    ),
    "tools_doctor": (
        "Show which tools cannot work here, and the one command that helps each.",
        "查看哪些工具在此无法使用，以及各自一条能解决问题的命令。",
    ),
    "opt_tool_arguments": (
        "All arguments as one JSON object; - reads it from standard input.",
        "以一个 JSON 对象给出全部参数；- 表示从标准输入读取。",
    ),
    "permissions": (
        "Show what may run here without asking: the mode, your rules, what you granted for this project.",
        "查看在这里无需询问即可运行的内容：模式、你的规则、你为本项目允许的内容。",
    ),
    "permissions_check": (
        "Show how a command line is judged, part by part and by every mode. Nothing runs.",
        "查看某条命令会如何判断：逐个部分、各个模式。不会运行任何内容。",
    ),
    "permissions_revoke": (
        "Take back what was granted for this project.",
        "收回为本项目允许的内容。",
    ),
    "rules": (
        "Show and decide which project rules are delivered.\n\n"
        "Rules are AGENTS.md, CLAUDE.md and .gongfu/rules/*.md. A session keeps those that it began with until you refresh it.",
        "查看并决定哪些项目规则会送达。\n\n规则文件为 AGENTS.md、CLAUDE.md 和 .gongfu/rules/*.md。会话沿用开始时的规则，直到你刷新。",
    ),
    "rules_show": (
        "Show the rules: what is configured and what was delivered.\n\nWithout a session: what a new one is pinned to.",
        "显示规则：配置了什么、送达了什么。\n\n不指定会话时显示新会话将固定的规则。",
    ),
    "rules_classify": (
        "Say whether a rule file, or a section of one, is mandatory, optional or excluded.\n\n"
        "The word is bound to the text as it is now. PATH may be a pattern such as 'vendor/**'; a section is named by its"
        " heading, and what is below it goes with it. A word on a section beats one on its file.",
        "指定规则文件或其中一节为必须（mandatory）、可选（optional）或排除（excluded）。\n\n"
        "只对当前内容有效。PATH 可以是 'vendor/**' 这样的模式；小节以标题指定，其下级一并包括。对小节的指定优先于对整个文件的指定。",
    ),
    "rules_refresh": (
        "Show how the rules on disk differ from those a session is pinned to, and pin them after a yes.",
        "显示磁盘上的规则与会话所固定的有何不同，确认后重新固定。",
    ),
    "rules_history": (
        "Show what was said of the rules of this project, and the revisions of a session.",
        "显示对本项目规则的历次指定，以及某个会话的历次版本。",
    ),
    "compact": (
        "Fold the context of a session now (the latest when none is named).\n\n"
        "Old tool results give way to labels, old turns to a summary; nothing is deleted, and the model can bring text"
        " back. It happens by itself when the context is nearly full.",
        "立即折叠一个会话的上下文（不指定时为最近一个）。\n\n"
        "旧的工具结果以标签代替，旧的轮次归入摘要；不会删除任何内容，模型可以取回原文。上下文将满时会自动折叠。",
    ),
    "config": ("Read and change the settings.", "查看和修改设置。"),
    "models": ("List, test and fetch models.", "列出、测试和下载模型。"),
    "mcp": (
        "Servers of further tools (MCP): list, add, test, log in.",
        "提供更多工具的服务器（MCP）：列出、添加、测试、登录。",
    ),
    "mcp_list": ("List the MCP servers that count here.", "列出此处生效的 MCP 服务器。"),
    "mcp_add": (
        "Add an MCP server: a command with its arguments, or an address.",
        "添加 MCP 服务器：命令及其参数，或一个地址。",
    ),
    "mcp_import": (
        "Show the servers that Claude Code, Codex and Qwen Code know here, and take them over.",
        "查看 Claude Code、Codex 和 Qwen Code 在此配置的服务器，并接管它们。",
    ),
    "opt_mcp_import_yes": ("Take them over without asking.", "不询问，直接接管。"),
    "mcp_remove": ("Remove an MCP server from the settings.", "从设置中移除一个 MCP 服务器。"),
    "mcp_test": ("Connect to an MCP server and show what it has.", "连接一个 MCP 服务器并显示它提供的内容。"),
    "mcp_login": ("Log in to an MCP server through the browser.", "通过浏览器登录一个 MCP 服务器。"),
    "mcp_logout": ("Forget the login to an MCP server.", "忘记一个 MCP 服务器的登录。"),
    "opt_mcp_env": (
        "A variable for the server, best as NAME='${{ENV_VAR}}'.",
        "传给服务器的变量，最好写成 NAME='${{环境变量}}'。",
    ),
    "opt_mcp_header": ("An HTTP header, best with '${{ENV_VAR}}'.", "一个 HTTP 头，最好用 '${{环境变量}}'。"),
    "opt_mcp_transport": ("How to speak to it; by itself what fits.", "通信方式；默认自动选择。"),
    "opt_mcp_cwd": ("Where the server starts.", "服务器启动时所在的文件夹。"),
    "init": ("Set Gongfu up for the first time.", "首次设置 Gongfu。"),
    "trust": (
        "Show what in this folder would run or take effect, and trust it.",
        "显示此文件夹中会运行或生效的内容，并信任它。",
    ),
    "doctor": ("Check this machine and the settings, and say what is missing.", "检查本机和设置，并指出缺少什么。"),
    "demo": ("Watch the agent find and fix a bug in a small repository.", "观看智能体在小仓库中找到并修复一个错误。"),
    "completion": ("Print the script that lets a shell complete commands.", "输出让 shell 自动补全命令的脚本。"),
    # --- options of every command
    "undo": (
        "Give files back to how they were before the last turn that changed any.\n\n"
        "The session that changed files here last when none is named; again goes one turn further back. What somebody"
        " else changed since is kept and named. Nothing is lost: `gongfu redo` takes an undo back.",
        "将文件恢复到最近一轮改动之前。\n\n"
        "不指定会话时为最近改动过文件的会话；再次执行会再退一轮。之后被他人改动的文件保持原样并列出。"
        "不会丢失任何内容：`gongfu redo` 可收回撤销。",
    ),
    "redo": (
        "Take back the last undo, as long as no turn changed files after it.",
        "收回最近一次撤销（之后没有新的改动时）。",
    ),
    "rewind": (
        "Go back to before an earlier prompt, with talk and files.\n\n"
        "The talk goes on in a new session that ends there; the old one stays as it is. The prompt is printed, so that"
        " it can be put otherwise.",
        "回到先前某个提示之前，对话与文件一并退回。\n\n对话在截止于该处的新会话中继续，原会话保持不变。会输出原提示，便于修改后重新提出。",
    ),
    "checkpoints": (
        "Show which turns changed files, and what is kept of them.",
        "显示哪些轮次改动过文件及所保存的内容。",
    ),
    "checkpoints_list": ("List the turns of a session that changed files.", "列出会话中改动过文件的轮次。"),
    "checkpoints_show": (
        "Show what a turn or an undo changed, by its checkpoint.",
        "按检查点显示某轮或某次撤销改动了什么。",
    ),
    "checkpoints_restore": (
        "Give all files back as a checkpoint has them, whoever changed them since.",
        "将所有文件恢复为检查点中的样子，无论之后由谁改动。",
    ),
    "opt_undo_turns": ("Undo the last N turns that changed files.", "撤销最近 N 轮的文件改动。"),
    "opt_undo_force": ("Also give back what somebody else changed since.", "也恢复之后被他人改动的文件。"),
    "opt_undo_dry_run": ("Only show what would change.", "只显示将有哪些改动。"),
    "opt_rewind_to": ("The number of the prompt (the last one otherwise).", "提示的编号（默认为最后一个）。"),
    "opt_rewind_list": ("List the prompts with their numbers.", "列出各提示及其编号。"),
    "opt_rewind_talk": ("Leave the files as they are.", "文件保持原样。"),
    "opt_rewind_files": ("Stay in this session, only the files go back.", "留在本会话，只退回文件。"),
    "opt_checkpoints_diff": ("Show the changed lines of text files.", "显示文本文件的改动行。"),
    "opt_help": ("Show this help and exit.", "显示帮助并退出。"),
    "opt_version": ("Show the version and exit.", "显示版本并退出。"),
    "opt_lang": ("Language of messages (settings and locale otherwise).", "消息的语言（默认取自设置和系统）。"),
    "opt_no_color": ("No colours (NO_COLOR does the same).", "不使用颜色（等同于 NO_COLOR）。"),
    "opt_verbose": (
        "Show more: thinking, requests, whole outputs, tracebacks.",
        "显示更多：思考、请求、完整输出、错误堆栈。",
    ),
    "opt_config": (
        "Use the named configuration ~/.gongfu/configs/NAME.yaml.",
        "使用命名配置 ~/.gongfu/configs/NAME.yaml。",
    ),
    "opt_root": ("Folder that may be worked in (the git repository otherwise).", "工作区文件夹（默认为 git 仓库）。"),
    # --- trust
    "opt_trust_run": (
        "Let the folder's settings, hooks, tools and servers take effect in this run; nothing is remembered (see `gongfu trust`).",
        "让该文件夹的设置、钩子、工具和服务器在本次运行中生效；不会被记住（见 `gongfu trust`）。",
    ),
    "opt_trust_yes": ("Trust it without a question.", "不再询问，直接信任。"),
    "opt_trust_list": ("List the folders that are trusted.", "列出受信任的文件夹。"),
    "opt_trust_revoke": ("Trust it no longer, and forget what was answered.", "不再信任它，并忘记之前的回答。"),
    "opt_revoke_all": ("All of it.", "全部收回。"),
    # --- options of `rules`
    "opt_why": ("Why it is excluded (not_applicable otherwise).", "排除的原因（默认 not_applicable）。"),
    "opt_yes_fingerprints": (
        "Pin without a question what was reviewed: the two fingerprints as they were shown.",
        "不再询问，直接固定已查看的内容：两个指纹如显示的那样。",
    ),
    "opt_keep_duties": ("Give changed texts the duty of the earlier ones.", "已改的内容沿用原来的分类。"),
    # --- options of a run
    "opt_rules": (
        "Project rules in this run: mandatory-root, mandatory-all (every request must carry those at the root, or all) or optional.",
        "本次运行的项目规则：mandatory-root、mandatory-all（每个请求必须携带根目录的，或全部）或 optional（可选）。",
    ),
    "opt_prompt": ("The task, also when it is a single word.", "任务，单个词也可以。"),
    "opt_interactive": (
        "Open a conversation; the task, if any, is its first prompt.",
        "打开对话；若给出任务，则作为第一条提示。",
    ),
    "opt_continue": ("Go on with the latest session of this project.", "继续本项目最近的会话。"),
    "opt_session": ("Go on with this session (the beginning of its id is enough).", "继续指定会话（编号的开头即可）。"),
    "opt_json": ("Print one JSON object.", "输出一个 JSON 对象。"),
    "opt_stream_json": (
        "Print one JSON object a line: every event, then the result.",
        "每行输出一个 JSON 对象：所有事件，最后是结果。",
    ),
    "opt_output_schema": (
        "The answer must be JSON that follows the JSON Schema in FILE.",
        "回答必须是符合 FILE 中 JSON Schema 的 JSON。",
    ),
    "opt_image": ("Show the model an image (may be given more than once).", "给模型看一张图片（可多次使用）。"),
    "opt_compact": (
        "Show each batch of tool calls as one line.",
        "每批工具调用只显示一行。",
    ),
    "opt_quiet": ("Print the answer and problems only.", "只输出回答和问题。"),
    "opt_model": ("The model, as provider/name.", "模型，写作 provider/name。"),
    "opt_permission": (
        "What may run without asking: plan (reading; changes are refused), ask (reading), edits (also edits),"
        " auto (also what stays in the workspace and the sandbox), full (all that no rule forbids).",
        "无需询问即可进行的操作：plan（读取，改动被拒绝）、ask（读取）、edits（含编辑）、auto（含不超出工作区和沙箱的操作）、full（规则未禁止的一切）。",
    ),
    "opt_yes": (
        "Reads, edits and commands inside the workspace need no asking; every other question is answered no.",
        "工作区内的读取、编辑和命令无需询问；其他问题一律回答否。",
    ),
    "opt_max_cost": ("Stop before more than N US dollars are spent.", "花费超过 N 美元前停止。"),
    "opt_max_steps": ("Stop after N requests to the model.", "向模型请求 N 次后停止。"),
    "opt_max_minutes": ("Stop after N minutes.", "N 分钟后停止。"),
    "opt_add_dir": (
        "A further folder that may be worked in (may be given more than once).",
        "另一个可以工作的文件夹（可多次使用）。",
    ),
    # --- sessions and show
    "sessions_list": ("List the sessions of this project, newest first.", "列出本项目的会话，最新的在前。"),
    "sessions_search": (
        "Find sessions by what was asked and answered in them.\n\n"
        "Titles, your words and final answers are searched, in Chinese and in English; the best come first.",
        "按提问和回答的内容查找会话。\n\n搜索标题、你的话和最终回答，中英文皆可；最相符的在前。",
    ),
    "sessions_prune": (
        "Delete old sessions for good.\n\n"
        "With their events, outputs and checkpoints of files; the space is given back to the disk. Without a choice "
        "`retention.days` decides. Sessions that are open are left.",
        "彻底删除旧会话。\n\n连同其事件、输出和文件检查点一并删除，并把空间归还磁盘。不作选择时以 `retention.days` 为准。正在打开的会话会保留。",
    ),
    "opt_older_than": ("Those last used more than DAYS days ago.", "最后使用在 DAYS 天以前的会话。"),
    "opt_keep_newest": ("All but the newest N.", "除最新 N 个以外的全部会话。"),
    "opt_dry_run": ("Only show what would go.", "只显示将被删除的内容。"),
    "opt_redact": (
        "Leave out keys, tokens and passwords, for passing it on.",
        "去掉密钥、令牌和密码，便于分享。",
    ),
    "sessions_delete": (
        "Delete sessions for good, with their outputs.",
        "彻底删除会话及其输出。",
    ),
    "opt_focus": ("What matters most and must be kept in the summary.", "摘要中最需要保留的内容。"),
    "opt_all": ("Sessions of all folders.", "列出所有文件夹的会话。"),
    "opt_agents": ("Also those of sub-agents.", "同时列出子代理的会话。"),
    "opt_all_requests": ("List all requests of the session instead.", "改为列出会话的全部请求。"),
    "opt_request": (
        "Show this request: its number from 1, or the beginning of its id.",
        "显示指定请求：从 1 开始的序号，或编号的开头。",
    ),
    "opt_limit": ("At most N of them.", "最多列出 N 个。"),
    "opt_yes_delete": ("Do not ask first.", "不再询问。"),
    "opt_usage": ("Show requests, tokens and money by purpose instead.", "改为显示各用途的请求数、token 和费用。"),
    # --- models and doctor
    "models_list": (
        "List the models that are configured, found by key or on this machine, and embedded.",
        "列出已配置的、按密钥或在本机找到的以及内置的模型。",
    ),
    "models_test": (
        "Check a model: reachable, streaming, tool calls, usage, the window really served.",
        "检查模型：可连接、流式输出、工具调用、用量统计、真实窗口。",
    ),
    "models_pull": (
        "Fetch the embedded model, which runs on this machine without a key.",
        "下载内置模型，无需密钥即可在本机运行。",
    ),
    "opt_deep": ("Try the whole window too (costs more).", "同时测试完整窗口（花费更多）。"),
    "opt_from_model": ("Take it from this file instead of fetching it.", "使用此文件，而不是下载。"),
    "opt_salvage": (
        "Copy what can be read of a damaged store into a new one; the old file is kept.",
        "把损坏会话库中可读的内容复制到新库；保留旧文件。",
    ),
    # --- settings
    "config_list": ("List the settings that are set, and where.", "列出已设置的项及其来源。"),
    "config_get": ("Print one setting, such as limits.max_steps.", "输出一项设置，例如 limits.max_steps。"),
    "config_set": (
        "Change one setting; comments and order of the file stay.",
        "更改一项设置；文件的注释和顺序不变。",
    ),
    "config_unset": ("Take one setting out, so that its default counts.", "删除一项设置，恢复默认值。"),
    "config_path": ("Print the path of the settings file.", "输出设置文件的路径。"),
    "config_schema": ("Print the JSON Schema of the settings.", "输出设置的 JSON Schema。"),
    "config_history": ("List the earlier versions of the settings.", "列出设置的历史版本。"),
    "opt_all_settings": ("Also what is at its default.", "同时列出默认值。"),
    # --- demo
    "opt_demo_model": (
        "The model; `scripted` plays a script without any model.",
        "模型；`scripted` 表示不用模型，播放脚本。",
    ),
    "opt_demo_yes": (
        "Fetch the embedded model without asking, when it is needed.",
        "需要内置模型时直接下载，不再询问。",
    ),
    "opt_keep": ("Keep the repository.", "保留仓库。"),
    # --- init
    "opt_from_settings": ("Take over the settings of a tea_agent configuration.", "导入 tea_agent 的配置。"),
    "opt_init_model": ("Write down this model without asking.", "直接写入此模型，不再询问。"),
    "opt_init_yes": ("Take the first model that is found.", "采用找到的第一个模型。"),
    "opt_init_config": ("Write into the named configuration instead.", "写入指定的命名配置。"),
    # --- fields of the result object
    "field_type": ('"result"', '"result"'),
    "field_session": ("id of the session", "会话编号"),
    "field_status": (
        "done, failed, refused, budget, cancelled or interrupted",
        "done、failed、refused、budget、cancelled 或 interrupted",
    ),
    "field_text": ("the answer", "回答"),
    "field_output": (
        "the answer as data (only with --output-schema)",
        "以数据形式给出的回答（仅在使用 --output-schema 时）",
    ),
    "field_reason": ("why it ended otherwise than by the model's last word", "未以模型的最后回答结束时的原因"),
    "field_reason_key": ("a stable name for that reason", "该原因的固定名称"),
    "field_usage": (
        "tokens: input (all), cached (of these), cache_write, output, reasoning (of these)",
        "token 数：input（全部输入）、cached（其中缓存）、cache_write、output、reasoning（输出中的思考）",
    ),
    "field_cost": ("US dollars; null when a price is unknown", "美元；价格未知时为 null"),
    "field_requests": ("requests to models", "向模型发出的请求数"),
    "field_steps": ("requests of the turn itself", "本轮自身的请求数"),
    "field_seconds": ("how long the turn took", "本轮用时"),
    "field_exit_code": ("the exit code", "退出码"),
    "field_version": ("version of Gongfu", "Gongfu 版本"),
}
