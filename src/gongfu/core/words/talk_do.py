"""Sentences of the commands that change the session of a conversation."""

TEXT: dict[str, tuple[str, str]] = {
    "current": ("now", "当前"),
    "unchanged": ("Nothing was changed.", "没有做任何改动。"),
    "unknown_word": (
        "{given} is none of: {known}. Nothing was changed.",
        "{given} 不在以下可选项中：{known}。没有做任何改动。",
    ),
    "no_arguments": (
        "/{name} takes no words behind it; send them as a prompt of their own. Nothing was done.",
        "/{name} 后面不带文字；请另作一个提示发送。没有做任何事。",
    ),
    # --- the model
    "which_model": ("Which model?", "选择哪个模型？"),
    "looking": ("Asking the local servers … Esc stops it.", "正在询问本机的服务……按 Esc 停止。"),
    "own_model": ("another: provider/model", "其他：提供方/模型"),
    "model_window": ("window {window}", "窗口 {window}"),
    "model_price": ("{price} per 1M", "每百万 {price}"),
    "model_now": ("Model: {model}", "模型：{model}"),
    "model_same": ("It is {model} already.", "当前已是 {model}。"),
    "model_then": ("then {models}", "备用 {models}"),
    "from_next_turn": ("from the next turn on", "从下一轮起"),
    "model_folds": (
        "The conversation goes on; what does not fit into its window is folded.",
        "对话照常继续；超出其窗口的内容会被折叠。",
    ),
    "model_led": ("It is small: it is led step by step.", "这是小模型：将逐步引导它。"),
    "model_saved": ("New sessions ask {model}, too.", "新会话也将使用 {model}。"),
    "model_variable": (
        "The variable GONGFU_MODEL names another one, and it goes before the settings.",
        "环境变量 GONGFU_MODEL 指定了另一个模型，它优先于设置。",
    ),
    # --- how hard it thinks
    "which_effort": ("How hard shall the model think?", "模型思考到什么程度？"),
    "effort_now": ("Thinking: {effort}", "思考：{effort}"),
    "effort_default": ("as the settings say", "按设置"),
    "effort_auto": ("as the model thinks best", "由模型决定"),
    "effort_off": ("not at all", "不思考"),
    "effort_low": ("a little", "少量"),
    "effort_medium": ("more", "适中"),
    "effort_high": ("as much as it can", "尽量多"),
    # --- the work mode
    "which_mode": ("Which work mode?", "选择哪种工作模式？"),
    "mode_none": ("No work mode.", "不使用工作模式。"),
    "mode_none_already": ("There is no work mode already.", "当前就没有使用工作模式。"),
    "mode_none_detail": ("all tools, nothing added", "全部工具，不附加说明"),
    "mode_now": ("Mode: {mode}", "模式：{mode}"),
    "mode_same": ("It is mode {mode} already", "当前已是模式 {mode}"),
    # --- the permission
    "which_permission": ("What may be done without asking?", "哪些操作无需询问？"),
    "permission_ask": ("asks before files change and commands run", "改动文件、运行命令之前都询问"),
    "permission_edits": ("files of this folder may change; commands are asked for", "可改动此文件夹的文件；命令仍询问"),
    "permission_plan": ("only looks; makes a plan first", "只查看；先制定计划"),
    "permission_auto": ("asks only for what is risky or cannot be undone", "只对有风险或不可撤销的操作询问"),
    "permission_full": ("never asks, and no sandbox", "从不询问，也没有沙箱"),
    "permission_grants": ("what was allowed for this project for good", "已对本项目长期允许的内容"),
    "permission_revoke": ("take one of them back: revoke N, revoke all", "收回其中之一：revoke N、revoke all"),
    "permission_now": ("Permission {mode}: {told}", "权限 {mode}：{told}"),
    "permission_same": ("It is {mode} already.", "当前已是 {mode}。"),
    "permission_kept": ("It stays at {mode}.", "保持为 {mode}。"),
    "permit_sure": ("Switch to {mode}?", "切换为 {mode}？"),
    "permit_yes": ("yes, {mode} for this session", "是，本会话使用 {mode}"),
    "permit_no": ("no, stay at {mode}", "否，保持 {mode}"),
    "full_means": (
        "Every call runs at once: any command with all your rights, outside of the sandbox, anywhere on this machine and over"
        " the network. Only rules that deny still hold. Undo gives back files of this folder, nothing else.",
        "每次调用都会立即执行：任何命令都以你的全部权限在沙箱之外运行，可触及本机任何位置和网络。只有禁止规则仍然有效。"
        "撤销只能恢复此文件夹的文件。",
    ),
    "project_asks": (
        "The settings of this project ask for {mode}; {wanted} lets more run unasked.",
        "本项目的设置要求 {mode}；{wanted} 会让更多操作无需询问。",
    ),
    "grants_none": ("Nothing was allowed for this project for good.", "没有对本项目长期允许的内容。"),
    "grants_how": (
        "/permission revoke N takes one back, revoke all takes back all.",
        "/permission revoke N 收回一项，revoke all 收回全部。",
    ),
    "grant_number": (
        "{given} is no number of a grant. Nothing was changed; they are {known}.",
        "{given} 不是授权编号。没有做任何改动；编号有 {known}。",
    ),
    "revoked": (
        "{count} grants taken back; what was allowed for this session is asked for again, too.",
        "已收回 {count} 项授权；本会话中允许过的也会重新询问。",
    ),
    "revoked_one": (
        "1 grant taken back; what was allowed for this session is asked for again, too.",
        "已收回 1 项授权；本会话中允许过的也会重新询问。",
    ),
    # --- folding
    "compacting": ("folding the context", "正在折叠上下文"),
    "compact_stopped": ("Stopped; the context is as it was.", "已停止；上下文保持原样。"),
    "compact_nothing": (
        "Nothing to gain: what the context holds is recent, or must stay.",
        "没有可折叠的内容：上下文中都是较新或必须保留的内容。",
    ),
    "folded": (
        "Folded: {before} → {after} tokens in a request ({budget} at most)",
        "已折叠：每次请求 {before} → {after} token（上限 {budget}）",
    ),
    "back": (
        "Nothing was deleted; the model brings text back with its tool `recall`{example}.",
        "没有删除任何内容；模型可用工具 `recall` 取回原文{example}。",
    ),
    # --- the queue
    "queue_empty": ("No prompt waits.", "没有排队的提示。"),
    "queue_how": (
        "/queue drop N takes one out, /queue clear takes out all.",
        "/queue drop N 移除一个，/queue clear 清空。",
    ),
    "queue_drop": ("take one out", "移除一个"),
    "queue_clear": ("take out all", "清空"),
    "queue_dropped": ("Taken out: {text}", "已移除：{text}"),
    "queue_cleared": ("Taken out: {count}", "已移除：{count} 个"),
    "queue_no_number": (
        "There is no waiting prompt {given}; they count from 1 to {last}. Nothing was changed.",
        "没有排队的提示 {given}；编号为 1 到 {last}。没有做任何改动。",
    ),
    "queue_stays": (
        "Prompts that waited ({count}) stay with session {session}.",
        "排队的提示（{count} 个）留在会话 {session} 中。",
    ),
    # --- back in time
    "nothing": (
        "There is nothing to undo: no turn of this session changed files that were kept.",
        "没有可撤销的内容：本会话没有任何一轮改动过已保存的文件。",
    ),
    "nothing_left": (
        "There is nothing more to undo in this session; /redo takes the last undo back.",
        "本会话没有更多可撤销的内容；/redo 可收回最近一次撤销。",
    ),
    "nothing_undone": (
        "There is nothing to redo: no undo of this session is open.",
        "没有可重做的内容：本会话没有待收回的撤销。",
    ),
    "changed_since": (
        "The undo cannot be taken back: a turn changed files after it. Nothing was touched.",
        "无法收回撤销：之后又有一轮改动了文件。没有做任何改动。",
    ),
    "no_prompts": ("There is no prompt to go back to yet.", "还没有可以回到的提示。"),
    "no_prompt": (
        "There is no prompt {given}; they count from 1 to {last}. Nothing was touched.",
        "没有第 {given} 个提示；编号为 1 到 {last}。没有做任何改动。",
    ),
    "undo_number": (
        "{given} is no number of turns. Nothing was touched; /undo 2 undoes the last two.",
        "{given} 不是轮数。没有做任何改动；/undo 2 撤销最近两轮。",
    ),
    "kept": (
        "Left as they are, since somebody else changed them after that turn:",
        "以下文件在该轮之后被他人改动，保持原样：",
    ),
    "kept_undone": (
        "Left as they are, since somebody else changed them after that turn:",
        "以下文件在该轮之后被他人改动，保持原样：",
    ),
    "nothing_given": (
        "Nothing was given back: all that would change was changed by somebody else since.",
        "没有恢复任何内容：要恢复的文件之后都被他人改动过。",
    ),
    "redo_hint": ("/redo takes this back.", "/redo 可收回此操作。"),
    "undo_done": ("Undone: {turns}. /redo takes it back.", "已撤销：{turns}。/redo 可收回。"),
    "redo_done": ("Taken back: the undo of {turns}.", "已收回对此的撤销：{turns}。"),
    "files_rewound": (
        "The files are as before prompt {number}; the conversation stays. /redo takes it back.",
        "文件已恢复到第 {number} 个提示之前；对话保持不变。/redo 可收回。",
    ),
    "give_yes": ("yes, give them back", "是，恢复"),
    "give_force": (
        "give back those {count}, too; what others wrote is lost",
        "连同这 {count} 个一并恢复；他人的改动将丢失",
    ),
    "give_force_one": ("give back that one, too; what others wrote is lost", "连同这 1 个一并恢复；他人的改动将丢失"),
    "give_no": ("no, change nothing", "否，不改动"),
    "rewind_which": ("Back to before which prompt?", "回到哪个提示之前？"),
    "since": ("{count} files changed since", "此后改动 {count} 个文件"),
    "since_one": ("1 file changed since", "此后改动 1 个文件"),
    "since_none": ("no files changed since", "此后没有改动文件"),
    "rewind_how": ("Back to before: {prompt}", "回到此提示之前：{prompt}"),
    "rewind_both": ("conversation and files", "对话和文件"),
    "rewind_talk": ("conversation", "对话"),
    "rewind_talk_detail": ("files stay as they are", "文件保持不变"),
    "rewind_files": ("files", "文件"),
    "rewind_force": (
        "conversation and all files, also the {count} that others changed",
        "对话和全部文件，包括被他人改动的 {count} 个",
    ),
    "rewind_force_one": (
        "conversation and all files, also the one that others changed",
        "对话和全部文件，包括被他人改动的 1 个",
    ),
    "rewound": (
        "You are before prompt {number} again; it lies in the input. All that came after it is kept in session {origin}.",
        "已回到第 {number} 个提示之前，其文字已放回输入框。之后的内容都保存在会话 {origin} 中。",
    ),
    # --- sessions
    "which_session": ("Which session?", "打开哪个会话？"),
    "find_words": ("find words in all of them", "在所有会话中查找"),
    "found_sessions": ("Found: {words}", "找到：{words}"),
    "not_found": ("No session of this folder has: {words}", "此文件夹的会话中都没有：{words}"),
    "no_others": ("There is no other session in this folder yet.", "此文件夹还没有其他会话。"),
    "same_session": ("You are in this session already.", "已在此会话中。"),
    "untitled": ("(no title)", "（无标题）"),
    "turns": ("{count} turns", "{count} 轮"),
    "turns_one": ("1 turn", "1 轮"),
    "ago_now": ("just now", "刚刚"),
    "ago_minutes": ("{count} min ago", "{count} 分钟前"),
    "ago_hours": ("{count} h ago", "{count} 小时前"),
    "ago_days": ("{count} d ago", "{count} 天前"),
    "resumed": ("Session {session}: {title}", "会话 {session}：{title}"),
    "cleared": ("A new session.", "新会话。"),
    "old_session": ("The one before is kept: /resume {session}", "之前的会话已保存：/resume {session}"),
    "forked": (
        "You are in a copy now, {session}. The one before stays as it is: /resume {origin}",
        "现在位于副本 {session} 中。原会话保持不变：/resume {origin}",
    ),
    "fork_empty": ("There is nothing to copy yet: this session is empty.", "还没有可复制的内容：此会话为空。"),
    "title": ("{title}  ({session})", "{title}（{session}）"),
    "titled": ("Title: {title}", "标题：{title}"),
    "leave_sure": ("{count} background commands of this session still run.", "本会话还有 {count} 个后台命令在运行。"),
    "leave_sure_one": ("A background command of this session still runs.", "本会话还有 1 个后台命令在运行。"),
    "leave_yes": ("stop them and go on", "停止它们并继续"),
    "leave_no": ("stay in this session", "留在此会话"),
    # --- by hand
    "hand_hint": ("! and a command runs it yourself, such as: !git status", "! 加命令可自己运行，例如：!git status"),
    "hand_terminal": (
        "{name} needs a terminal of its own, which a ! line does not give; nothing was run. Ctrl-Z leaves for the shell for"
        " a while.",
        "{name} 需要自己的终端，! 行无法提供；没有运行。按 Ctrl-Z 可暂时回到 shell。",
    ),
    "hand_cd": (
        "cd counts for its own line only; the next command starts in the same folder as before.",
        "cd 只在本行有效；下一个命令仍从原来的文件夹开始。",
    ),
    "hand_not_started": ("{command} could not be started: {reason}.", "无法启动 {command}：{reason}。"),
    "hand_stopped": ("stopped", "已停止"),
    "hand_done": ("done in {time}", "完成，用时 {time}"),
    "hand_failed": ("exit code {code} after {time}", "退出码 {code}，用时 {time}"),
    "hand_left_out": ("… {count} lines …", "……{count} 行……"),
    "hand_left_running": ("What it left running was stopped.", "它遗留的进程已被停止。"),
}
