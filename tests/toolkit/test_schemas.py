"""What the core tools cost in every request, and that the model is told of each argument that is not plain."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gongfu.core.specs import ToolSpec
from gongfu.core.tokens import text_tokens
from gongfu.toolkit.agents import AgentTools
from gongfu.toolkit.ask import ask_user
from gongfu.toolkit.edit import edit_tools
from gongfu.toolkit.files import file_tools
from gongfu.toolkit.plan import todo
from gongfu.toolkit.readlog import ReadLog
from gongfu.toolkit.recall import Recall
from gongfu.toolkit.search import search_tools
from gongfu.toolkit.shell import ShellTools
from gongfu.tools.registry import Registry
from gongfu.workspace.root import Workspace


def core_specs(folder: Path) -> tuple[ToolSpec, ...]:
    workspace, reads = Workspace(folder, folder), ReadLog()
    commands = (ShellTools.shell, ShellTools.shell_job)
    return Registry(
        [
            file_tools(workspace, reads),
            edit_tools(workspace, reads),
            search_tools(workspace, env={}),
            commands,
            (ask_user, todo),
            (Recall.recall, AgentTools.task),
        ]
    ).specs


def test_the_core_tools_cost_at_most_1750_tokens(tmp_path: Path) -> None:
    specs = core_specs(tmp_path)
    assert [s.name for s in specs] == [
        "ask_user", "edit_file", "find_files", "list_files", "read_file", "recall", "search_text", "shell", "shell_job",
        "task", "todo", "write_file",
    ]  # fmt: skip
    wire = [
        {"type": "function", "function": {"name": s.name, "description": s.description, "parameters": s.parameters}}
        for s in specs
    ]
    assert text_tokens(msgspec.json.encode(wire).decode()) <= 1750


def test_every_tool_has_words_and_an_object_schema(tmp_path: Path) -> None:
    for spec in core_specs(tmp_path):
        assert len(spec.description) > 20
        assert spec.parameters["type"] == "object"
        assert set(spec.parameters.get("required", ())) <= set(spec.parameters["properties"])
