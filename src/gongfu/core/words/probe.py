"""Sentences of the checks of a model endpoint."""

from __future__ import annotations

TEXT = {
    "reachable": ("reachable", "可连接"),
    "key": ("key accepted", "密钥有效"),
    "model": ("model answers", "模型应答"),
    "streaming": ("streaming", "流式输出"),
    "usage": ("usage reported", "用量统计"),
    "tools": ("tool calls", "工具调用"),
    "structured": ("structured output", "结构化输出"),
    "images": ("images", "图像"),
    "window": ("context window", "上下文窗口"),
    "vectors": ("vectors", "向量"),
    "spent": ("these checks", "本次检查"),
    "said": ("{detail}", "{detail}"),
    "reached": ("it answers", "有应答"),
    "answered": ("first words after {first} s", "{first} 秒后开始应答"),
    "accepted": ("accepted", "已接受"),
    "streamed": ("the answer came in {pieces} pieces", "回答分 {pieces} 段到达"),
    "counted": (
        "{input} prompt and {output} generated tokens were counted",
        "统计到 {input} 个输入 token、{output} 个输出 token",
    ),
    "counted_in": ("{input} tokens were counted", "统计到 {input} 个 token"),
    "uncounted": ("no token counts came with the answer", "回答没有附带 token 统计"),
    "tools_ok": ("called with the right arguments, result understood", "参数正确，结果被理解"),
    "tools_off": ("this model is not given tools", "不向该模型提供工具"),
    "tools_none": ("the model answered without calling the tool", "模型没有调用工具就作答"),
    "tools_wrong": ("the call was wrong: {sent}", "调用有误：{sent}"),
    "tools_unread": ("the tool was called, but its result was not used", "调用了工具，但没有使用其结果"),
    "tools_recovered": ("the call was written into the text and taken from there", "调用写在文本里，已从中提取"),
    "structured_ok": ("follows the schema", "符合给定的结构"),
    "structured_wrong": ("does not follow the schema: {sent}", "不符合给定的结构：{sent}"),
    "images_ok": ("a picture was recognised", "能识别图片"),
    "images_wrong": ("a red picture was taken for: {sent}", "红色图片被认作：{sent}"),
    "window_ok": (
        "a prompt of {size} tokens was read whole (claimed: {claimed})",
        "完整读取了 {size} token 的提示（声称：{claimed}）",
    ),
    "window_over": (
        "a prompt of {size} tokens was refused as too long (claimed: {claimed}): {detail}",
        "{size} token 的提示因过长被拒绝（声称：{claimed}）：{detail}",
    ),
    "window_cut": (
        "of a prompt of {size} tokens the server counted only {counted}: it silently cuts the rest (claimed: {claimed})",
        "{size} token 的提示服务器只统计到 {counted}：其余被悄悄截断（声称：{claimed}）",
    ),
    "window_lost": (
        "the beginning of a prompt of {size} tokens was not found again (claimed: {claimed})",
        "没有取回 {size} token 提示的开头（声称：{claimed}）",
    ),
    "vectors_ok": (
        "{size} numbers for a text; like texts lie nearer ({near}) than others ({far})",
        "每段文字 {size} 个数；相近的文字（{near}）比无关的（{far}）更接近",
    ),
    "vectors_odd": (
        "{size} numbers for a text, but like texts ({near}) lie no nearer than others ({far})",
        "每段文字 {size} 个数，但相近的文字（{near}）并不比无关的（{far}）更接近",
    ),
    "spent_much": (
        "{requests} requests, {input} prompt and {output} generated tokens, ${cost}",
        "{requests} 次请求，输入 {input}、输出 {output} 个 token，${cost}",
    ),
    "do_reach": (
        "Check base_url, the network and the proxy; is the server running?",
        "请检查 base_url、网络和代理；服务器在运行吗？",
    ),
    "do_key": ("Check the key of this provider.", "请检查该提供商的密钥。"),
    "do_model": (
        "Check the name of the model (`gongfu models list`) and the account.",
        "请检查模型名（`gongfu models list`）和账户。",
    ),
    "do_wait": ("Try again later.", "请稍后再试。"),
    "do_request": (
        "The endpoint does not take our requests: check `api` and `quirks` of this provider.",
        "该端点不接受请求：请检查该提供商的 `api` 和 `quirks`。",
    ),
    "do_stream": (
        "Something between here and the model collects the answer; long ones will seem to hang.",
        "中间有环节在攒回答；较长的回答会像卡住一样。",
    ),
    "do_usage": (
        "Costs and limits will be estimated; set prices and window in model_settings.",
        "费用和限额只能估算；请在 model_settings 中填写价格和窗口。",
    ),
    "do_count": ("What it costs cannot be told.", "无法得知花费。"),
    "do_vectors": (
        "Search by meaning will find little: choose a model that is made for embeddings.",
        "按含义搜索会效果很差：请选择专门生成向量的模型。",
    ),
    "do_tools": (
        "The agent needs tool calls. Choose another model, or start the server with its tool-call parser "
        "(vLLM: --enable-auto-tool-choice, llama.cpp: --jinja).",
        "智能体需要工具调用。请换一个模型，或为服务器启用工具解析（vLLM：--enable-auto-tool-choice，llama.cpp：--jinja）。",
    ),
    "do_tools_off": (
        "It is led step by step, which suits small jobs only.",
        "它会被逐步引导，只适合小任务。",
    ),
    "do_recovered": (
        "It works, but start the server with its tool-call parser for reliable calls.",
        "可以使用，但为服务器启用工具解析会更可靠。",
    ),
    "do_structured": (
        "Answers for --output-schema will be checked and asked for again.",
        "--output-schema 的回答会被校验，必要时重新询问。",
    ),
    "do_images": (
        "Set supports_images: false for this model in model_settings.",
        "请在 model_settings 中为该模型设置 supports_images: false。",
    ),
    "do_window": (
        "Serve a longer context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx, LM Studio: context length of the loaded "
        "model, llama.cpp: -c, vLLM: --max-model-len), or set `window` in model_settings to what is served.",
        "请让服务器提供更长的上下文（Ollama：OLLAMA_CONTEXT_LENGTH 或 num_ctx，LM Studio：已加载模型的 context length，"
        "llama.cpp：-c，vLLM：--max-model-len），或在 model_settings 中把 `window` 设为实际值。",
    ),
}
