"""`gongfu mcp import`: what other agents know is shown first, and written only with a yes."""

from __future__ import annotations

import json

from tests.surfaces.cli.conftest import Program


def test_servers_of_other_agents_are_shown_and_taken_over(program: Program) -> None:
    home = program.folder.parent
    servers = {"files": {"command": "npx", "args": ["-y", "s"], "env": {"T": "clear"}}, "odd": {"command": 3}}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    done = program.call("mcp", "import")
    assert done.code == 0
    assert "files  Claude Code" in done.out
    assert "npx -y s" in done.out
    assert "holds values in clear that are copied too: T" in done.out
    assert "Nothing was written" in done.err
    assert not (program.home / "config.yaml").exists()
    assert [s["name"] for s in json.loads(program.call("mcp", "import", "--json").out)["servers"]] == ["files"]
    done = program.call("mcp", "import", "--yes")
    assert (done.code, "files" in done.out) == (0, True)
    assert "files" in program.call("mcp", "list").out
    assert "No server" in program.call("mcp", "import").out
    wrong = program.call("mcp", "import", "nobody", "--lang", "zh")
    assert (wrong.code, "nobody" in wrong.err) == (1, True)
