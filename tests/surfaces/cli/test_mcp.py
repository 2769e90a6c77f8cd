"""`gongfu mcp`: the real program, with servers on this machine and behind a login on loopback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

MCP = Path(__file__).parents[2] / "plugins" / "mcp"
BAD = (sys.executable, str(MCP / "bad_server.py"))


@contextmanager
def locked(*words: str):
    """The server behind a login; its address."""
    with subprocess.Popen(
        [sys.executable, str(MCP / "oauth_server.py"), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        finally:
            process.kill()


def login(program) -> tuple[int, str]:
    """Log in as a person does, who opens the address that is shown; the exit code and all that was said."""
    with program.start("mcp", "login", "locked") as process:
        said = ""
        for row in process.stdout:
            said += row.decode()
            if found := re.search(rb"^\s+(http://127\.0\.0\.1\S+)$", row.rstrip()):
                with urllib.request.urlopen(found[1].decode(), timeout=20) as page:
                    assert b"close this page" in page.read()
        return process.wait(), said + process.stderr.read().decode()


def test_servers_are_added_shown_tried_and_removed(program):
    config = program.home / "config.yaml"
    program.home.mkdir()
    config.write_text("# mine\nlanguage: en  # stays\n")
    done = program.call("mcp", "add", "bad", "--env", "A=${HOME}", "--", *BAD, "plain")
    assert done.code == 0, done
    assert config.read_text().startswith("# mine\nlanguage: en  # stays\n")
    assert config.stat().st_mode & 0o777 == 0o600
    assert program.call("mcp", "add", "bad", "x").code == 2
    assert program.call("mcp", "add", "a.b", "x").code == 2
    for words in (("--help",), ("-h",)):
        told = program.call("mcp", "add", "new", *words)
        assert (told.code, told.out.startswith("Usage: gongfu mcp add")) == (0, True), told
    assert program.call("mcp", "add", "new", "--verbse", "x").code == 2  # an option that is none is no program
    assert "new" not in config.read_text()
    assert program.call("mcp", "add", "far", "https://h.example/mcp", "--header", "X-Key: ${NOT_SET}").code == 0
    assert "NOT_SET" in program.call("mcp", "list").err
    assert program.call("mcp", "remove", "far").code == 0
    rows = json.loads(program.call("mcp", "list", "--json").out)["servers"]
    assert [(row["name"], row["kinds"], row["from"], row["problem"]) for row in rows] == [
        ("bad", ["stdio"], "user", "")
    ]
    tried = json.loads(program.call("mcp", "test", "bad", "--json").out)
    assert tried["ok"]
    assert "bad__ping" in tried["tools"]
    assert program.call("mcp", "remove", "bad").code == 0
    assert config.read_text().startswith("# mine\nlanguage: en  # stays\n")
    assert "No MCP servers" in program.call("mcp").err


def test_a_server_that_dies_is_shown_with_what_it_said(program):
    assert program.call("mcp", "add", "bad", *BAD, "dies").code == 0
    done = program.call("mcp", "test", "bad")
    assert done.code == 1
    assert "it ended with exit code 7" in done.err
    assert "cannot start: no luck" in done.err


def test_servers_of_a_project_count_once_it_is_trusted(program):
    (program.folder / ".mcp.json").write_text(
        json.dumps(
            {"mcpServers": {"bad": {"command": BAD[0], "args": [BAD[1], "plain"], "env": {"K": "${NAME:-none}"}}}}
        )
    )
    before = program.call("mcp", "list")
    assert before.out == ""
    assert ".mcp.json" in before.err
    assert program.call("trust", "--yes").code == 0
    assert "project" in program.call("mcp", "list").out
    assert program.call("mcp", "remove", "bad").code == 2
    (program.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"evil": {"command": "rm"}}}))
    assert program.call("mcp", "list").out == ""


def test_a_login_is_kept_renewed_and_forgotten(program):
    with locked("1") as url:
        assert program.call("mcp", "add", "locked", url).code == 0
        refused = program.call("mcp", "test", "locked")
        assert refused.code == 1
        assert "gongfu mcp login locked" in refused.err
        code, said = login(program)
        assert (code, "Logged in to locked; it has 1 tools" in said) == (0, True), said
        (kept,) = (program.home / "mcp").iterdir()
        assert kept.stat().st_mode & 0o777 == 0o600
        assert "logged in" in program.call("mcp", "list").out
        first = json.loads(kept.read_text())["tokens"]
        assert json.loads(program.call("mcp", "test", "locked", "--json").out)["ok"]
        assert json.loads(kept.read_text())["tokens"] != first
        secrets = [first["access_token"], first["refresh_token"]]
        assert not any(secret in said for secret in secrets)
        assert program.call("mcp", "logout", "locked").code == 0
        assert not kept.exists()
        assert program.call("mcp", "test", "locked").code == 1


def test_a_login_that_is_refused_keeps_nothing(program):
    with locked("60", "deny") as url:
        assert program.call("mcp", "add", "locked", url).code == 0
        code, said = login(program)
        assert code == 1
        assert "you said no" in said
        assert list((program.home / "mcp").iterdir()) == []
