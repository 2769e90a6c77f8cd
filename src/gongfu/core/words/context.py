"""Sentences on what does not fit."""

TEXT = {
    "current_turn_does_not_fit": (
        "CURRENT_TURN_DOES_NOT_FIT: this turn alone needs about {newest:,} tokens, and {budget:,} are free for a "
        "prompt (of the {window:,} that may be used with this model, {reserved:,} are kept for the answer). Nothing was sent and the session "
        "is kept; give a shorter task, or a model with a larger window.",
        "CURRENT_TURN_DOES_NOT_FIT：仅本轮就约需 {newest:,} 个 token，而可用于提示的只有 {budget:,}"
        "（该模型可用的 {window:,} 中，{reserved:,} 留给回答）。没有发送任何内容，会话保留不变；请缩短任务，或换用窗口更大的模型。",
    ),
    "request_exceeds_window": (
        "REQUEST_EXCEEDS_WINDOW: the conversation needs about {tokens:,} tokens, and {budget:,} are free for a prompt "
        "(of the {window:,} that may be used with this model, {reserved:,} are kept for the answer). Nothing was sent and the session is "
        "kept; start a new session for the next task, or use a model with a larger window.",
        "REQUEST_EXCEEDS_WINDOW：对话约需 {tokens:,} 个 token，而可用于提示的只有 {budget:,}"
        "（该模型可用的 {window:,} 中，{reserved:,} 留给回答）。没有发送任何内容，会话保留不变；请为下一个任务新建会话，或换用窗口更大的模型。",
    ),
    "provider_overflow": (
        "{model} says that the prompt is too long: {detail} It was about {tokens:,} tokens by Gongfu's own count, of "
        "{budget:,} that are free for a prompt in a window of {window:,}; there is nothing more to fold. What was done is "
        "kept; go on with a shorter task, a new session or a model with a larger window.",
        "{model} 表示提示过长：{detail}按本程序估算约为 {tokens:,} 个 token，而在 {window:,} 的窗口中可用于提示的有 {budget:,}"
        "；已没有可再折叠的内容。已完成的工作均保留；请缩短任务、新建会话，或换用窗口更大的模型。",
    ),
    "window_unknown": (
        "The context window of {model} is not known, so {window:,} tokens of it are used. "
        "`gongfu config set 'model_settings.\"{model}\".window' N` sets it.",
        "不知道 {model} 的上下文窗口大小，按 {window:,} 个 token 使用。可用 `gongfu config set 'model_settings.\"{model}\".window' N` 设置。",
    ),
    "summaries_stopped": (
        "Three summaries of this conversation failed in a row (the last: {reason}), so no model is asked for one any "
        "more in this session. Nothing is lost: what leaves the context is summed up by rule, and `recall` finds the rest.",
        "本次对话的摘要已连续失败三次（最近一次：{reason}），本会话不再向模型请求摘要。没有丢失任何内容：移出上下文的部分改由规则摘录，其余可用 `recall` 取回。",
    ),
}
