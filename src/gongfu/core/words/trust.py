"""Which folders are trusted, and what takes effect in them."""

TEXT = {
    "left_out": (
        "This folder is not trusted, so this has no effect: {what}. Look with `gongfu trust`.",
        "此文件夹未受信任，以下内容不生效：{what}。请用 `gongfu trust` 查看。",
    ),
    "left_out_changed": (
        "{what} changed since you trusted this folder, so nothing of the folder takes effect. Look with `gongfu trust`.",
        "自你信任此文件夹以来，{what} 已改变，因此该文件夹的内容都不生效。请用 `gongfu trust` 查看。",
    ),
    "too_wide": (
        "{path} is no project: it holds more than one, or is Gongfu's own. Nothing was trusted; name the folder of the project.",
        "{path} 不是单个项目：它包含多个项目，或属于 Gongfu 自己。没有信任任何内容，请指定项目的文件夹。",
    ),
    "unchecked_outside": (
        "{path} cannot be trusted: {name} leads out of the folder, so nobody can tell what would take effect. Nothing was trusted.",
        "无法信任 {path}：{name} 指向文件夹之外，无从得知会生效什么。没有信任任何内容。",
    ),
    "unchecked_no_file": (
        "{path} cannot be trusted: {name} is no regular file. Nothing was trusted; take it away.",
        "无法信任 {path}：{name} 不是普通文件。没有信任任何内容，请将它移走。",
    ),
    "unchecked_too_large": (
        "{path} cannot be trusted: {name} is larger than 4 MB, too large to be looked at. Nothing was trusted; keep it elsewhere.",
        "无法信任 {path}：{name} 超过 4 MB，过大而无法检查。没有信任任何内容，请放到别处。",
    ),
    "unchecked_too_many": (
        "{path} cannot be trusted: {name} holds more than is looked at (4,000 files, 32 MB). Nothing was trusted; keep it elsewhere.",
        "无法信任 {path}：{name} 的内容超出检查范围（4,000 个文件、32 MB）。没有信任任何内容，请放到别处。",
    ),
    "unchecked_unreadable": (
        "{path} cannot be trusted: {name} cannot be read. Nothing was trusted; make it readable.",
        "无法信任 {path}：{name} 无法读取。没有信任任何内容，请让它可读。",
    ),
    "bad_list": (
        "{path} is no list of trusted folders{reason}. Nothing was changed, and no folder counts as trusted; mend the file or move it away.",
        "{path} 不是受信任文件夹的列表{reason}。没有任何改动，也没有文件夹算作受信任；请修正该文件或将它移走。",
    ),
    "unreadable": (
        "{path} cannot be read: {reason}. No folder counts as trusted; make it readable.",
        "无法读取 {path}：{reason}。没有文件夹算作受信任，请让它可读。",
    ),
    "not_kept": (
        "{path} cannot be written: {reason}. Nothing was remembered; make it writable.",
        "无法写入 {path}：{reason}。没有记住任何内容，请让它可写。",
    ),
    # --- how a folder stands
    "state_trusted": ("trusted", "受信任"),
    "state_run": ("trusted for this run", "本次运行中受信任"),
    "state_untrusted": ("not trusted", "未受信任"),
    "state_changed": ("not trusted any more: something has changed", "不再受信任：有内容改变了"),
    "state_unknown": ("not trusted: what you said of folders cannot be read", "未受信任：无法读取你的决定"),
    "state_refused": ("not trusted, as you said", "按你所说，未受信任"),
    # --- what was found
    "kind_settings": ("settings", "设置"),
    "kind_hook": ("hook", "钩子"),
    "kind_server": ("MCP server", "MCP 服务器"),
    "kind_tool": ("tool", "工具"),
    "kind_command": ("command", "命令"),
    "kind_skill": ("skill with a script", "带脚本的技能"),
    "kind_agent": ("agent", "智能体"),
    "kind_mode": ("mode", "模式"),
    "kind_flow": ("flow", "流程"),
    "kind_file": ("file", "文件"),
    "kind_git": ("git setting", "git 设置"),
    "kind_git_hook": ("git hook", "git 钩子"),
    "kind_outside": ("leads out of the folder, cannot be trusted:", "指向文件夹之外，无法信任："),
    "kind_no_file": ("no regular file, cannot be trusted:", "不是普通文件，无法信任："),
    "kind_too_large": ("too large to be looked at, cannot be trusted:", "过大而无法检查，无法信任："),
    "kind_too_many": ("too much to be looked at, cannot be trusted:", "过多而无法检查，无法信任："),
    "kind_unreadable": ("cannot be read, cannot be trusted:", "无法读取，无法信任："),
    "kind_unclear": ("file that cannot be understood", "无法理解的文件"),
    "more": ("… and {count} more", "……另外 {count} 个"),
    "not_yet": ("{path} is not trusted.", "{path} 未受信任。"),
    "here_would": ("In {path} this would take effect:", "{path} 中的以下内容会生效："),
    "here_takes_effect": ("In {path} this takes effect:", "{path} 中的以下内容已生效："),
    "new": ("changed", "已改变"),
    "nothing": (
        "Nothing in {path} would take effect; there is nothing to trust.",
        "{path} 中没有会生效的内容，无需信任。",
    ),
    "is_trusted": ("{path} is trusted.", "{path} 已受信任。"),
    "question": (
        "They can run programs on your machine, with all that you may do. Trust this folder?",
        "它们可以用你的全部权限在你的机器上运行程序。信任此文件夹吗？",
    ),
    "answer_yes": ("Yes, they take effect; ask me again when they change", "是，让它们生效；内容改变时再问我"),
    "answer_no": ("No, work here without them", "否，在此工作但不用它们"),
    "remembered": ("{path} is trusted from now on.", "从现在起信任 {path}。"),
    "refused": ("{path} is not trusted; nothing was changed.", "未信任 {path}，没有任何改动。"),
    "revoked": ("{path} is no longer trusted.", "不再信任 {path}。"),
    "was_not": ("{path} was not trusted; nothing was changed.", "{path} 本来就未受信任，没有任何改动。"),
    "none": ("No folder is trusted.", "没有受信任的文件夹。"),
    "say_yes": (
        "Nobody is there to be asked, and nothing was trusted. Look at the list above and add --yes to trust it.",
        "没有人可以询问，没有信任任何内容。请查看上面的列表，并加上 --yes 来信任。",
    ),
}
