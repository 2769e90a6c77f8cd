"""Sentences of the keys of model providers."""

from __future__ import annotations

TEXT = {
    "too_open": (
        "The key file {file} can be read by others (mode {mode}); it was not used. Run: chmod 600 {file}",
        "密钥文件 {file} 可被其他用户读取（权限 {mode}），未使用。请运行：chmod 600 {file}",
    ),
    "unreadable": (
        "The key file {file} is wrong at line {line}; it was not used. Write one `provider: key` a line.",
        "密钥文件 {file} 第 {line} 行有误，未使用。请每行写一个 `提供商: 密钥`。",
    ),
}
