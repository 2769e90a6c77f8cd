"""Sentences on the workspace and its files."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    "no_folder": (
        "{path} is not a folder that can be worked in. Nothing was started; start in a folder that exists.",
        "{path} 不是可以工作的文件夹。没有启动任何东西；请在存在的文件夹中启动。",
    ),
    "root_too_wide": (
        "{path} is too wide a workspace (your home folder or the whole disk). Nothing was started; "
        "change into a project folder, or name the folder with --root if you mean it.",
        "{path} 作为工作区范围太大（主目录或整个磁盘）。没有启动任何东西；请进入项目文件夹，或确有需要时用 --root 指明。",
    ),
}
