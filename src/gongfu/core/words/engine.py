"""Sentences on the course of a turn."""

TEXT = {
    "limit_steps": (
        "Stopped at the limit of one turn (requests: {steps}). What was done is kept; `gongfu --continue` goes on.",
        "已达到单轮请求上限（{steps} 次），就此停止。已完成的工作均保留；用 `gongfu --continue` 继续。",
    ),
    "limit_minutes": (
        "Stopped at the limit of one turn (minutes: {minutes:g}). What was done is kept; `gongfu --continue` goes on.",
        "已达到单轮时间上限（{minutes:g} 分钟），就此停止。已完成的工作均保留；用 `gongfu --continue` 继续。",
    ),
    "limit_cost": (
        "Stopped at ${cost}, past the limit of ${limit:g} for one turn. What was done is kept; a higher --max-cost goes on.",
        "费用已达 ${cost}，超过单轮上限 ${limit:g}，就此停止。已完成的工作均保留；提高 --max-cost 可继续。",
    ),
    "limit_tokens": (
        "Stopped after {tokens:,} tokens, past the limit of {limit:,} for one turn. What was done is kept.",
        "已使用 {tokens:,} 个 token，超过单轮上限 {limit:,}，就此停止。已完成的工作均保留。",
    ),
    "price_unknown": (
        "The price of {model} is not known, so --max-cost cannot be kept. Nothing was sent; set `input_price` and `output_price` under `model_settings`, or leave --max-cost out.",
        "不知道 {model} 的价格，无法保证 --max-cost。没有发送任何内容；请在 `model_settings` 中设置 `input_price` 和 `output_price`，或不使用 --max-cost。",
    ),
    "circles": (
        "Stopped: the model kept repeating the same call of {tool} with the same result. What was done is kept; say what to do differently.",
        "已停止：模型反复以相同参数调用 {tool}，结果也相同。已完成的工作均保留；请说明应如何改变做法。",
    ),
    "in_vain": (
        "Stopped: {count} calls in a row failed or were refused. What was done before is kept; say what to do differently.",
        "已停止：连续 {count} 次调用失败或被拒绝。此前完成的工作均保留；请说明应如何改变做法。",
    ),
    "cut_calls": (
        "Stopped: three answers in a row were cut off by the output limit in the middle of a tool call, so none of them ran. Raise `max_output_tokens`, or ask for smaller steps.",
        "已停止：连续三次回答在工具调用中途被输出上限截断，均未执行。请调高 `max_output_tokens`，或把任务拆小。",
    ),
    "cut_text": (
        "Stopped: the answer was cut off by the output limit again and again. What was said so far is kept.",
        "已停止：回答一再被输出上限截断。已输出的内容均保留。",
    ),
    "cut_thinking": (
        "Stopped: three answers in a row used up the output limit with thinking alone. Raise `max_output_tokens`, or lower `reasoning`, under `model_settings`.",
        "已停止：连续三次回答的输出额度都被思考用尽。请在 `model_settings` 中调高 `max_output_tokens` 或降低 `reasoning`。",
    ),
    "closed": (
        "Session {session} has been closed. Nothing was sent; open it again by its id.",
        "会话 {session} 已关闭，未发送任何内容；请按其编号重新打开。",
    ),
    "schema_bad": (
        "The schema for the answer is no valid JSON Schema: {reason}. Nothing was sent.",
        "用于回答的模式不是有效的 JSON Schema：{reason}。未发送任何内容。",
    ),
    "empty_answer": (
        "The model answered with nothing, twice. Nothing more was done; try again, or another model.",
        "模型连续两次给出空回答。没有再做任何事；请重试，或换一个模型。",
    ),
    "filtered_part": (
        "{model} ended this answer for its content; it may be incomplete.",
        "{model} 因内容原因结束了这段回答，内容可能不完整。",
    ),
    "filtered": (
        "The provider withheld the answer for its content. What was done before is kept.",
        "提供商因内容原因拒绝给出回答。此前完成的工作均保留。",
    ),
    "schema_not_met": (
        "The final answer does not follow the schema after three tries: {problem} The answer is kept in the session.",
        "最终回答三次都不符合给定的模式：{problem} 回答保留在会话中。",
    ),
    "fault": (
        "{model} could not answer ({kind}): {detail} What was done is kept; `gongfu --continue` goes on.",
        "{model} 无法回答（{kind}）：{detail} 已完成的工作均保留；用 `gongfu --continue` 继续。",
    ),
    "cancelled": ("Cancelled. What was done is kept.", "已取消。已完成的工作均保留。"),
    "interrupted": (
        "The program stopped in the middle of this turn. What was done is kept; `gongfu --continue` goes on.",
        "程序在本轮中途停止。已完成的工作均保留；用 `gongfu --continue` 继续。",
    ),
    "internal": (
        "Gongfu failed through a fault of its own: {detail}. What was done is kept; the details are in {log}.",
        "Gongfu 因自身缺陷失败：{detail}。已完成的工作均保留；详情见 {log}。",
    ),
    "tool_bug": (
        "The tool {tool} failed through a fault of its own; the details are in the log.",
        "工具 {tool} 因自身缺陷失败；详情见日志。",
    ),
    "window_served": (
        "{model} counted {served:,} prompt tokens where about {sent:,} were sent: the server silently cuts what is longer. From now on requests stay below that; raise the server's context size (Ollama: num_ctx).",
        "{model} 只计入 {served:,} 个提示 token，而实际约发送了 {sent:,} 个：服务器会悄悄截断更长的内容。此后的请求将限制在此范围内；请调大服务器的上下文长度（Ollama：num_ctx）。",
    ),
    "history_mended": (
        "{added} results of tool calls were missing from the log and {dropped} stood without a call; the history was mended once.",
        "日志中缺少 {added} 个工具调用结果，另有 {dropped} 个结果没有对应的调用；历史已修复一次。",
    ),
    "no_such_question": (
        "No question {question} is waiting for an answer; it was answered or has timed out.",
        "没有等待回答的问题 {question}；它已被回答或已超时。",
    ),
    "compact_busy": (
        "A turn of this session is running, so its context was not folded. Wait for its end, or cancel it.",
        "该会话正在运行一轮，未折叠其上下文。请等它结束，或先取消。",
    ),
    "compact_open": (
        "The last turn was interrupted before all of its calls ran, so the context was not folded. "
        "Continue it, or give a new task, first.",
        "上一轮在所有调用运行前被中断，未折叠上下文。请先继续该轮，或给出新任务。",
    ),
    "nothing_to_continue": (
        "The last turn of this session ended by itself, so there is nothing to continue. Give a task.",
        "该会话的上一轮已正常结束，没有可继续的内容。请给出任务。",
    ),
    "session_busy": (
        "Session {session} is open in another process. Nothing was changed; close it there, or start a new session.",
        "会话 {session} 正在另一个进程中使用。没有做任何改动；请先在那里关闭，或新建会话。",
    ),
    "no_agents": (
        "Sub-agents cannot be started here. Nothing was begun.",
        "此处无法启动子代理，没有开始任何工作。",
    ),
}
