"""A server of the old protocol, by hand, that misbehaves as it is told: `bad_server.py KIND [FILE]`. No SDK: it starts
at once. FILE counts its starts."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

KIND = sys.argv[1] if len(sys.argv) > 1 else "plain"
FILE = sys.argv[2] if len(sys.argv) > 2 else ""
STARTS = 1
if FILE:
    with Path(FILE).open("a+") as counted:
        counted.write("x")
        counted.seek(0)
        STARTS = len(counted.read())
out = sys.stdout.buffer


def tool(name: str, schema: dict | None = None, **more: object) -> dict:
    return {"name": name, "inputSchema": {"type": "object", **(schema or {})}, **more}


TOOLS = [tool("ping", description="Answer."), tool("die"), tool("hang"), tool("flood"), tool("huge"), tool("odd")]
if KIND == "large":
    TOOLS.append(tool("large", {"type": "object", "properties": {"x": {"enum": ["y" * 1000] * 5000}}}))
if KIND == "names":
    TOOLS += [
        tool("a.b"), tool("a/b"), tool("a b"), tool("x" * 100), tool("x" * 99 + "y"), tool("ping"), tool("日本"),
        tool("evil", description="\x1b[31mred\u202e\x00" + "long " * 2000),
    ]  # fmt: skip
if KIND == "many":
    TOOLS += [tool(f"t{n}") for n in range(1000)]
if KIND == "changing":
    TOOLS = TOOLS[:3] if STARTS == 1 else [tool("later"), *TOOLS[:3]]
if KIND == "schemas":
    point = {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}, "required": ["x"]}
    tree = {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}
    old = {"properties": {"p": {"$ref": "#/definitions/P"}}, "definitions": {"P": point}}
    TOOLS += [
        tool("defs", {"properties": {"p": {"$ref": "#/$defs/P"}}, "required": ["p"], "$defs": {"P": point}}),
        tool("definitions", old),
        tool("rootref", {"$ref": "#/$defs/P", "$defs": {"P": point}}),
        tool("booleans", {"properties": {"any": True, "never": False}}),
        tool("nullable", {"properties": {"n": {"type": "string", "nullable": True}}}),
        tool("const", {"properties": {"k": {"const": "only"}}, "required": ["k"]}),
        tool("circle", {**tree, "$defs": {"T": tree}}),
    ]


def send(message: dict) -> None:
    out.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    out.flush()


def text(id: object, said: str, **more: object) -> None:
    send({"id": id, "result": {"content": [{"type": "text", "text": said}], **more}})


def call(id: object, name: str, arguments: dict) -> None:
    if name == "die":
        print("fatal: goodbye", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        return
    if name == "flood":
        for _ in range(arguments.get("times", 3000)):
            send({"method": "notifications/message", "params": {"level": "info", "data": "flood"}})
    if name == "huge":
        out.write(b'{"jsonrpc":"2.0","id":%d,"result":"' % id)
        for _ in range(arguments["mb"]):
            out.write(b"x" * 1_000_000)
        out.write(b'"}\n')
        out.flush()
        return
    if name == "odd":
        odd(id, arguments["what"])
        return
    text(id, f"pong {STARTS} {json.dumps(arguments, sort_keys=True)}")


def odd(id: object, what: str) -> None:
    if what == "wrong id":
        text(9999, "for nobody")
        text("x", "for nobody")
        text(id, "for you")
    elif what == "no result":
        send({"id": id, "result": {"strange": 1}})
    elif what == "surrogate":
        out.write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\\ud800b"}]}}\n' % id)
        out.flush()
    elif what == "error":
        send({"id": id, "error": {"code": -32000, "message": "no\x1b[0m way"}})
    elif what == "is error":
        text(id, "it went wrong", isError=True)
    elif what == "garbage":
        out.write(b"Starting up...\n\n{broken\n[]\nnull\n" + b"\xff\xfe\n")
        out.flush()
        text(id, "after all")
    elif what == "env":
        text(id, json.dumps(dict(os.environ)))
    elif what == "cancelled":
        text(id, json.dumps(CANCELLED))
    elif what == "child":
        import subprocess

        child = subprocess.Popen(["sleep", "300"])
        text(id, str(child.pid))
    elif what == "write":
        Path("made.txt").write_text("by a server")
        text(id, "written")
    elif what == "close":
        os.close(1)
        time.sleep(60)


CANCELLED: list = []
if KIND == "dies":
    print("cannot start: no luck", file=sys.stderr, flush=True)
    sys.exit(7)
if KIND == "dies once" and STARTS == 1:
    sys.exit(1)
if KIND == "silent":
    time.sleep(60)
if KIND == "babble":
    while True:
        out.write(b"this is no message at all\n" * 100)
        out.flush()
if KIND == "noisy":
    print("log line\n" * 200_000, file=sys.stderr)

for row in sys.stdin.buffer:
    message = json.loads(row)
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        send({"id": id, "result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "bad", "version": "0"},
        }})  # fmt: skip
    elif method == "tools/list":
        send({"id": id, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        if params["name"] == "rename":
            TOOLS[0] = tool("renamed")
        call(id, params["name"], params.get("arguments") or {})
    elif method == "notifications/cancelled":
        CANCELLED.append(params["requestId"])
    elif id is not None and method:
        send({"id": id, "error": {"code": -32601, "message": "Method not found"}})
    if KIND == "changes" and method == "tools/call":
        TOOLS[:] = [tool("renamed"), *TOOLS[1:]]
        for _ in range(500):
            send({"method": "notifications/tools/list_changed"})
