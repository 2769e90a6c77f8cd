"""Sentences of the scripted model."""

from __future__ import annotations

TEXT = {
    "unexpected": (
        "Request {number} does not fit the script. Expected: {expected}. Came: {came}; last message: {last}",
        "第 {number} 个请求与脚本不符。期望：{expected}。实际：{came}；最后一条消息：{last}",
    ),
    "unused": (
        "{count} steps of the script were not played; the first is {first}",
        "脚本还有 {count} 步没有播放，第一步是 {first}",
    ),
    "raw_in_process": (
        "A script with raw bytes can only be played over HTTP. Start it with: python -m gongfu.models.scripted FILE",
        "含原始字节的脚本只能通过 HTTP 播放。请运行：python -m gongfu.models.scripted FILE",
    ),
    "unreadable": (
        "The script {file} cannot be read: {detail}. Nothing was sent.",
        "无法读取脚本 {file}：{detail}。没有发送任何内容。",
    ),
    "bad": (
        "The script {file} is wrong at {where}: {detail}. Nothing was sent.",
        "脚本 {file} 在 {where} 处有误：{detail}。没有发送任何内容。",
    ),
}
