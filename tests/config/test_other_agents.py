"""MCP servers of other agents: read from their own files, in the shape of our settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.config.other_agents import find_servers
from gongfu.config.settings import McpServer

CLAUDE = {
    "mcpServers": {
        "files": {"type": "stdio", "command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "abc", "B": "${B}"}},
        "web": {"type": "http", "url": "https://h.test/mcp", "headers": {"X": "1"}, "odd": 1},
        "bad name!": {"command": "x"},
        "empty": {},
    },
    "projects": {
        "/p": {"mcpServers": {"mine": {"command": "run"}}},
        "/q": {"mcpServers": {"theirs": {"command": "r"}}},
    },
}
CODEX = """
[mcp_servers.docs]
command = "docs"
enabled = false
tool_timeout_sec = 30
[mcp_servers.far]
url = "https://far.test/mcp"
bearer_token_env_var = "FAR_TOKEN"
env_http_headers = { "X-Team" = "TEAM" }
"""
QWEN = {"mcpServers": {"q": {"httpUrl": "https://q.test", "timeout": 5000, "includeTools": ["a"], "trust": True},
                       "old": {"url": "https://old.test/sse"}, "files": {"command": "other"}}}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".claude.json").write_text(json.dumps(CLAUDE))
    for name, text in ((".codex/config.toml", CODEX), (".qwen/settings.json", json.dumps(QWEN))):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    return tmp_path


def test_servers_of_three_agents_become_entries_of_ours(home: Path) -> None:
    found = {one.name: one for one in find_servers(home, Path("/p"))}
    assert {name: one.entry for name, one in found.items()} == {
        "files": {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "abc", "B": "${B}"}},
        "web": {"url": "https://h.test/mcp", "headers": {"X": "1"}, "transport": "http"},
        "mine": {"command": "run"},
        "docs": {"command": "docs", "timeout": 30, "disabled": True},
        "far": {
            "url": "https://far.test/mcp",
            "headers": {"X-Team": "${TEAM}", "Authorization": "Bearer ${FAR_TOKEN}"},
        },
        "q": {"url": "https://q.test", "transport": "http", "timeout": 5.0, "tools": ["a"]},
        "old": {"url": "https://old.test/sse", "transport": "sse"},
    }
    assert found["files"].secrets == ("TOKEN",)
    assert found["web"].left == ("odd",)
    assert found["q"].left == ("trust",)
    import msgspec

    for one in found.values():
        msgspec.convert(one.entry, McpServer)
    assert "mine" not in {one.name for one in find_servers(home)}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["mcpServers", "projects", "a", "command", "url", "env", "type", "/p"]), inner
        )
    ),
    max_leaves=12,
)


@given(VALUES)
@settings(max_examples=80, deadline=None)
def test_nothing_in_a_file_of_theirs_is_a_fault_of_ours(value: Any) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ".claude.json").write_text(json.dumps({"mcpServers": {"x": value}, "projects": value}))
        for one in find_servers(Path(folder), Path("/p")):
            assert isinstance(one.entry.get("command") or one.entry["url"], str)


def test_files_that_cannot_be_read_give_nothing(tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text("{")
    (tmp_path / ".codex").write_text("a file")
    (tmp_path / ".qwen").mkdir()
    (tmp_path / ".qwen" / "settings.json").write_bytes(b"\xff\xfe")
    assert find_servers(tmp_path) == []
