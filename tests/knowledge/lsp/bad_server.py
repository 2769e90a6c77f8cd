"""A language server that misbehaves as its first argument says; a program of its own, without Gongfu."""

from __future__ import annotations

import json
import sys
import time

HOW = sys.argv[1]
out = sys.stdout.buffer


def send(message: object) -> None:
    body = json.dumps(message).encode()
    out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    out.flush()


def receive() -> dict | None:
    size = 0
    while line := sys.stdin.buffer.readline():
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
        elif not line.strip():
            return json.loads(sys.stdin.buffer.read(size))
    return None


def answer(number: object, result: object) -> None:
    send({"jsonrpc": "2.0", "id": number, "result": result})


def tell(method: str, params: object) -> None:
    send({"jsonrpc": "2.0", "method": method, "params": params})


def place(uri: str, line: int, character: int) -> dict:
    at = {"line": line, "character": character}
    return {"uri": uri, "range": {"start": at, "end": at}}


def question(number: object, uri: str) -> None:
    match HOW:
        case "dies":
            sys.stderr.write("fatal error: out of cheese\n")
            sys.exit(3)
        case "hangs":
            time.sleep(60)
        case "floods":
            while True:
                tell("window/logMessage", {"type": 3, "message": "x" * 100_000})
        case "garbage":
            out.write(b"\xff\x00 garbage \n" * 50_000)
            out.flush()
        case "huge":
            out.write(b"Content-Length: 99999999999\r\n\r\n")
            out.flush()
        case "wrong_ids":
            for wrong in (number + 1000, "7", None, [1], {"a": 1}, -1, 1.5):
                answer(wrong, [place("file:///nowhere", 9, 9)])
            send([1, 2])
            out.write(b"Content-Length: 5\r\n\r\n{oops")
            answer(number, [place(uri, 0, 5)])
        case "shapes":
            odd = [None, 3, {}, {"uri": 1}, {"uri": "http://x/y", "range": {}}, place("file:///a%00b", 0, 0)]
            answer(number, [*odd, place(uri, -1, 0), place(uri, 10**9, 10**9), place(uri, 0, 5)])
        case "again":
            if not hasattr(question, "asked"):
                question.asked = True
                send({"jsonrpc": "2.0", "id": number, "error": {"code": -32801, "message": "modified"}})
            else:
                answer(number, [place(uri, 0, 5)])
        case "secrets":
            answer(number, [place(sys.argv[2], 0, 0)])
        case "asks":
            send(
                {
                    "jsonrpc": "2.0",
                    "id": "c",
                    "method": "workspace/configuration",
                    "params": {"items": [{"section": "a.b"}, {}]},
                }
            )
            said = receive()
            send({"jsonrpc": "2.0", "id": "e", "method": "workspace/applyEdit", "params": {"edit": {}}})
            edit = receive()
            send({"jsonrpc": "2.0", "id": "u", "method": "made/up", "params": {}})
            unknown = receive()
            ok = said["result"] == [7, {"a": {"b": 7}}] and edit["result"]["applied"] is False
            ok = ok and unknown["error"]["code"] == -32601
            answer(number, [place(uri, 0, 5 if ok else 0)])
        case "refuses":
            send({"jsonrpc": "2.0", "id": number, "error": {"code": -1, "message": "no such symbol"}})
        case _:
            answer(number, [place(uri, 0, 5)])


def main() -> None:
    if HOW == "silent":
        time.sleep(60)
    if HOW == "prints":
        out.write(b"Welcome to the server!\nHave a nice day\n")
        out.flush()
    while (message := receive()) is not None:
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            able = {"definitionProvider": True, "referencesProvider": True, "positionEncoding": "utf-16"}
            answer(number, {"capabilities": {} if HOW == "unable" else able})
        elif method == "textDocument/didOpen":
            tell(
                "textDocument/publishDiagnostics",
                {
                    "uri": message["params"]["textDocument"]["uri"],
                    "version": 0,
                    "diagnostics": [{"range": place("", 0, 0)["range"], "message": "stale"}],
                },
            )
        elif method in ("textDocument/definition", "textDocument/references"):
            question(number, message["params"]["textDocument"]["uri"])
        elif method == "shutdown" and HOW != "stays":
            answer(number, None)
        elif method == "exit" and HOW != "stays":
            return


main()
