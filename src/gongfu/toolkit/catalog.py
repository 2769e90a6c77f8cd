"""Which tools there are: the core set that every request carries, and the families of the others.

Names are for ever. The code of a family is loaded when one of its tools is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CORE: Final[Mapping[str, tuple[str, ...]]] = {
    "files": ("list_files", "read_file", "write_file"),
    "edit": ("edit_file",),
    "search": ("find_files", "search_text"),
    "shell": ("shell", "shell_job"),
    "web": ("web_fetch",),
    "recall": ("recall",),
    "plan": ("todo",),
    "ask": ("ask_user",),
    "agents": ("task",),
    "disclosure": ("find_tools", "use_tool"),
}

SHELF: Final[Mapping[str, tuple[str, ...]]] = {
    "files": ("append_file", "copy_file", "delete_file", "file_info", "move_file", "write_chunk"),
    "edit": ("apply_patch", "diff", "multi_file_edit", "edit_lines"),
    "search": ("search_symbols",),
    "shell": ("os_info", "run_as_admin"),
    "git": ("git_branch", "git_commit", "git_diff", "git_log", "git_push", "git_status", "git_worktree"),
    "python": (
        "auto_fix", "batch", "build_package", "clean_comments", "format_code", "lint", "read_pyproject",
        "release_version", "review_code", "run_tests",
    ),
    "packages": ("package_check", "package_install", "package_list"),
    "code": (
        "callees", "callers", "code_index", "completion", "definition", "diagnostics", "hover", "impact", "module_docs",
        "references", "symbols",
    ),
    "web": ("github_search", "web_search"),
    "browser": (
        "browser_click", "browser_open", "browser_read", "browser_screenshot", "browser_tabs", "browser_type",
    ),
    "desktop": ("clipboard", "keyboard", "mouse", "ocr", "read_screen", "screenshot", "try_gui"),
    "recall": ("history", "kb"),
    "plan": ("mode", "plan", "resume_work"),
    "settings": ("commands", "config_path", "models", "reasoning", "settings"),
    "export": ("export_session", "publish_doc", "session_prompt", "set_title"),
    "clock": ("calendar", "date_diff", "lunar", "now"),
    "local": ("weather", "whereabouts"),
    "notify": ("notify", "send_email"),
    "mcp": ("mcp",),
}  # fmt: skip
