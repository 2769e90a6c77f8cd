"""Sentences of choosing a model."""

from __future__ import annotations

TEXT = {
    "nothing": (
        "No model is configured, and none was found. Nothing was sent. Do one of these:\n"
        "set a key (for example DEEPSEEK_API_KEY, DASHSCOPE_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY) or start "
        "Ollama, LM Studio, llama.cpp or vLLM;\n"
        "or run `gongfu models pull` for a small model (1.1 GB) that runs on this machine without a key.",
        "没有配置模型，也没有找到可用的模型，未发送任何内容。请任选其一：\n"
        "设置密钥（例如 DEEPSEEK_API_KEY、DASHSCOPE_API_KEY、ANTHROPIC_API_KEY、OPENAI_API_KEY），或启动 "
        "Ollama、LM Studio、llama.cpp 或 vLLM；\n"
        "或运行 `gongfu models pull` 下载一个无需密钥、在本机运行的小模型（1.1 GB）。",
    ),
    "server_empty": (
        "{server} is running but has no model, and no key is set. Nothing was sent. Do one of these:\n"
        "load a model in {server}, or set a key (for example DEEPSEEK_API_KEY or ANTHROPIC_API_KEY);\n"
        "or run `gongfu models pull` for a small model (1.1 GB) that runs on this machine without a key.",
        "{server} 正在运行但没有模型，也没有设置密钥，未发送任何内容。请任选其一：\n"
        "在 {server} 中加载模型，或设置密钥（例如 DEEPSEEK_API_KEY 或 ANTHROPIC_API_KEY）；\n"
        "或运行 `gongfu models pull` 下载一个无需密钥、在本机运行的小模型（1.1 GB）。",
    ),
    "unknown_near": (
        "No provider is called {name!r} (model {ref!r}). Did you mean {near}? Nothing was sent.",
        "没有名为 {name!r} 的提供商（模型 {ref!r}）。你是否想用 {near}？未发送任何内容。",
    ),
    "unknown_provider": (
        "No provider is known for the model {ref!r}. Nothing was sent. Write provider/model with one of {known}, "
        "or add a provider under `providers` in the settings.",
        "不知道模型 {ref!r} 属于哪个提供商，未发送任何内容。请写成 提供商/模型，提供商可为 {known}，"
        "或在设置的 `providers` 中添加。",
    ),
    "which_provider": (
        "Which provider serves {ref!r}? Write it as provider/model, for example {example}. Nothing was sent.",
        "模型 {ref!r} 由哪个提供商提供？请写成 提供商/模型，例如 {example}。未发送任何内容。",
    ),
    "no_model": (
        "{provider} is configured, but no model is named. Set models.main, for example to {provider}/MODEL; "
        "`gongfu models list` shows what there is.",
        "已配置 {provider}，但没有指定模型。请设置 models.main，例如 {provider}/模型名；`gongfu models list` 可列出模型。",
    ),
    "project_key": (
        "The provider {provider} is set by this project, so your own key is not sent to it. Nothing was sent; write the"
        " provider into your own settings, or name another model.",
        "提供方 {provider} 由此项目设置，因此不会把你自己的密钥发送给它。没有发送任何内容；请把该提供方写进你自己的设置，或指定其他模型。",
    ),
    "no_key": (
        "There is no key for {provider}. Nothing was sent. Set {variables}, or write it to {file} (mode 0600).",
        "没有 {provider} 的密钥，未发送任何内容。请设置 {variables}，或写入 {file}（权限 0600）。",
    ),
    "no_address": (
        "The provider {provider} has no address. Set providers.{provider}.base_url in the settings.",
        "提供商 {provider} 没有地址。请在设置中填写 providers.{provider}.base_url。",
    ),
    "no_script": (
        "The provider {provider} plays a script, but no file is named. Set providers.{provider}.script, "
        "or write the model as scripted:FILE.",
        "提供商 {provider} 播放脚本，但没有指定文件。请设置 providers.{provider}.script，或把模型写成 scripted:文件。",
    ),
    "bad_window": (
        "GONGFU_CONTEXT_WINDOW must be a number of tokens above 0, not {value!r}. Nothing was sent.",
        "GONGFU_CONTEXT_WINDOW 必须是大于 0 的 token 数，而不是 {value!r}。未发送任何内容。",
    ),
    "unnamed_embedding": (
        "models.embedding names the provider {provider} but no model. Nothing was sent. Write provider/model, "
        "for example ollama/bge-m3.",
        "models.embedding 只写了提供商 {provider}，没有写模型，未发送任何内容。请写成 提供商/模型，例如 ollama/bge-m3。",
    ),
    "no_vectors": (
        "{ref} makes no vectors here, so it cannot be models.embedding. Nothing was sent. Choose a model at an endpoint "
        "that speaks OpenAI's /embeddings, for example ollama/bge-m3.",
        "{ref} 在这里不能生成向量，不能用作 models.embedding，未发送任何内容。"
        "请选择支持 OpenAI /embeddings 接口的端点上的模型，例如 ollama/bge-m3。",
    ),
}
