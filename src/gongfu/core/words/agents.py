"""Words about sub-agents."""

TEXT = {
    "counts": (
        "{agent}: {calls} calls, {requests} requests, {tokens} tokens",
        "{agent}：{calls} 次调用，{requests} 次请求，{tokens} token",
    ),
    "in_background": ("{agent} works in the background", "{agent} 在后台工作"),
    "ended_done": ("{agent} has reported", "{agent} 已提交报告"),
    "ended_failed": ("{agent} failed", "{agent} 失败"),
    "ended_refused": ("{agent} was refused", "{agent} 被拒绝"),
    "ended_budget": ("{agent} reached a limit", "{agent} 达到上限"),
    "ended_cancelled": ("{agent} was cancelled", "{agent} 已取消"),
    "ended_interrupted": ("{agent} was interrupted", "{agent} 被中断"),
    "figures": (
        "{calls} calls, {requests} requests, {tokens} tokens",
        "{calls} 次调用，{requests} 次请求，{tokens} token",
    ),
    "so_far": ("{calls} calls so far", "已调用 {calls} 次"),
    "parent": ("a sub-agent of session {session}", "会话 {session} 的子代理"),
    "thinks": ("waiting for the model", "等待模型"),
}
