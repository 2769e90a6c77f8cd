"""Words about the hooks of the person and of trusted projects."""

TEXT: dict[str, tuple[str, str]] = {
    "failed": (
        "The hook of {event} `{command}` failed ({detail}); it was passed over.",
        "{event} 的钩子 `{command}` 失败（{detail}），已略过。",
    ),
    "failed_ask": (
        "The hook of {event} `{command}` failed ({detail}); the call is asked for.",
        "{event} 的钩子 `{command}` 失败（{detail}），该调用改为询问。",
    ),
    "unreadable": (
        "The hook of {event} `{command}` gave {detail}.",
        "{event} 的钩子 `{command}` 的输出有误：{detail}。",
    ),
    "no_allow": (
        "The hook `{command}` of this project allowed a call; that did not count, because a project may only make it"
        " stricter.",
        "此项目的钩子 `{command}` 允许了一个调用；这没有生效，因为项目只能使其更严格。",
    ),
    "changed": (
        "The hook `{command}` of this project did not run: something that it may run has changed since you trusted"
        " the folder. `gongfu trust` shows what.",
        "没有运行此项目的钩子 `{command}`：你信任该文件夹之后，它可能运行的内容已改变。`gongfu trust` 会列出改变。",
    ),
    "told": ("Hook `{command}`: {text}", "钩子 `{command}`：{text}"),
    "prompt_blocked": (
        "A hook refused the prompt: {reason}. The model was not asked.",
        "钩子拒绝了这条提示：{reason}。没有询问模型。",
    ),
    "call_refused": ("a hook says: {about}", "钩子说：{about}"),
    "stopped": ("A hook ended the turn: {reason}.", "钩子结束了这一轮：{reason}。"),
    "too_deep": (
        "A hook started Gongfu, whose hook started Gongfu again, {depth} deep. Nothing was begun; give such a run a"
        " GONGFU_HOME without that hook.",
        "钩子启动了 Gongfu，而它的钩子又启动 Gongfu，已嵌套 {depth} 层。没有开始任何工作；请为这样的运行指定没有该钩子的 GONGFU_HOME。",
    ),
    "compact_blocked": (
        "A hook does not let the context be folded: {reason}. Nothing was changed.",
        "钩子不允许折叠上下文：{reason}。没有做任何改动。",
    ),
    "compact_goes_on": (
        "A hook wanted no fold of the context ({reason}), but the request must fit: it is folded all the same.",
        "钩子不希望折叠上下文（{reason}），但请求必须放得下，仍然折叠。",
    ),
    "no_reason": ("no reason given", "没有说明原因"),
    "timed_out": ("stopped after {seconds} s", "{seconds} 秒后被停止"),
    "not_started": ("could not be started: {reason}", "无法启动：{reason}"),
    "line": ("hook {event}  {command}", "钩子 {event}  {command}"),
    "said_allow": ("allowed", "允许"),
    "said_ask": ("asks", "要求询问"),
    "said_deny": ("denied", "拒绝"),
    "said_changed": ("changed the call", "改了这次调用"),
    "said_objects": ("objects", "提出异议"),
    "said_block": ("refused", "拒绝"),
    "permission_waits": ("Gongfu needs your permission for {what}", "Gongfu 需要你允许 {what}"),
    "question_waits": ("Gongfu waits for an answer: {what}", "Gongfu 在等待回答：{what}"),
    "turn_over": ("A turn of {seconds} s is over ({status})", "一轮用时 {seconds} 秒，已结束（{status}）"),
}
