"""The script that is served over HTTP, seen by a plain client."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from gongfu.core.specs import Usage
from gongfu.models.scripted import Call, Calls, Fault, Match, Raw, Route, Say, UnexpectedCall, UnusedSteps, serve
from gongfu.models.scripted.script import Step
from gongfu.models.scripted.server import Received, Server

pytestmark = pytest.mark.anyio

BODIES: dict[str, dict[str, Any]] = {
    "chat/completions": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "run it"}]},
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "shell", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "it said OK"},
        ],
        "tools": [{"type": "function", "function": {"name": "shell"}}],
    },
    "responses": {
        "model": "m",
        "instructions": "be brief",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "run it"}]},
            {"type": "function_call", "call_id": "1", "name": "shell", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "it said OK"},
        ],
        "tools": [{"type": "function", "name": "shell"}],
    },
    "messages": {
        "model": "m",
        "system": [{"type": "text", "text": "be brief"}],
        "messages": [
            {"role": "user", "content": "run it"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "shell", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "it said OK"}]},
        ],
        "tools": [{"name": "shell"}],
    },
}
PATHS = list(BODIES)
EXPECTED = Match(
    contains=("run it", "shell"), system_contains="brief", tool_result_contains="OK", tools_include="shell", model="m"
)


async def post(server: Server, path: str = "chat/completions", **fields: Any) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.post(f"{server.base_url}/{path}", json=BODIES[path] | fields)


def events(text: str) -> list[dict[str, Any]]:
    lines = [line[6:] for line in text.splitlines() if line.startswith("data: ") and line != "data: [DONE]"]
    return [json.loads(line) for line in lines]


def find(value: Any, key: str) -> list[Any]:
    """Every value of `key`, wherever it is."""
    if isinstance(value, dict):
        return [v for k, v in value.items() if k == key] + [f for v in value.values() for f in find(v, key)]
    return [f for v in value for f in find(v, key)] if isinstance(value, list) else []


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [True, False])
async def test_every_dialect_understands_the_same_request(path: str, stream: bool) -> None:
    async with serve([Say("fine", expect=EXPECTED)]) as server:
        reply = await post(server, path, stream=stream)
    assert reply.status_code == 200
    assert "fine" in reply.text
    assert server.requests[0].body["model"] == "m"
    assert json.loads(server.requests[0].raw) == server.requests[0].body


@pytest.mark.parametrize("path", PATHS)
async def test_streams_carry_the_whole_answer_in_pieces(path: str) -> None:
    said = "The quick brown fox jumps over the lazy dog."
    step = Call("shell", '{"command": "ls -l /tmp/somewhere"}', text=said, reasoning="let me think about this well")
    async with serve([step]) as server:
        got = events((await post(server, path, stream=True)).text)
    deltas = "".join(d for d in find(got, "delta") if isinstance(d, str))  # Responses
    if path == "chat/completions":
        assert "".join(find(got, "content")) == said
        assert "".join(find(got, "arguments")) == step.arguments
        assert "".join(find(got, "reasoning_content")) == step.reasoning
    elif path == "messages":
        assert "".join(e["delta"]["text"] for e in got if e.get("delta", {}).get("type") == "text_delta") == said
        assert "".join(find(got, "partial_json")) == step.arguments
    else:
        assert said in deltas
        assert str(step.arguments) in deltas
        assert step.reasoning in deltas


@pytest.mark.parametrize(("path", "cached_in_input"), [("chat/completions", 100), ("responses", 100), ("messages", 60)])
async def test_usage_follows_the_convention_of_the_dialect(path: str, cached_in_input: int) -> None:
    usage = Usage(input=100, cached=40, output=9, reasoning=3)
    async with serve([Say("x", usage=usage)]) as server:
        whole = (await post(server, path)).json()["usage"]
    assert (whole.get("prompt_tokens") or whole.get("input_tokens")) == cached_in_input
    assert 40 in [*find(whole, "cached_tokens"), *find(whole, "cache_read_input_tokens")]


async def test_ids_are_made_up_and_differ() -> None:
    async with serve([Calls((Call("a"), Call("b", id="mine"))), Call("a")]) as server:
        first = (await post(server)).json()["choices"][0]["message"]["tool_calls"]
        second = (await post(server)).json()["choices"][0]["message"]["tool_calls"]
    assert first[1]["id"] == "mine"
    assert first[0]["id"] != second[0]["id"]


async def test_what_does_not_fit_is_a_bad_request_and_raises_at_the_end() -> None:
    async def too_many() -> None:
        async with serve([]) as server:
            reply = await post(server)
            assert reply.status_code == 400
            assert "does not fit the script" in reply.json()["error"]["message"]

    async def too_few() -> None:
        async with serve([Say("never")]):
            pass

    with pytest.raises(UnexpectedCall, match="the script is over"):
        await too_many()
    with pytest.raises(UnusedSteps):
        await too_few()
    async with serve([Say("never")], strict=False):
        pass


async def test_models_routes_keys_and_other_paths() -> None:
    route = Route(body=b"<html>", content_type="text/html")
    models = ["a", {"id": "b", "owned_by": "x"}]
    async with serve([Say("in")], models=models, routes={"/ui": route}, key="k-1") as s:
        client = httpx2.AsyncClient(base_url=s.root_url)
        async with client:
            assert (await client.get("/v1/models")).status_code == 401
            listed = await client.get("/v1/models", headers={"authorization": "Bearer k-1"})
            assert [m["id"] for m in listed.json()["data"]] == ["a", "b"]
            assert (await client.get("/ui")).text == "<html>"
            assert (await client.get("/no", headers={"x-api-key": "k-1"})).status_code == 404
            assert (await client.post("/v1/messages", json={})).status_code == 401
            assert (await client.post("/v1/messages", json={}, headers={"x-api-key": "k-1"})).status_code == 200
    assert "GET /v1/models" in s.others
    assert len(s.requests) == 1


# --- faults ------------------------------------------------------------------------------------------------------


async def test_a_status_has_its_body_and_headers() -> None:
    steps = [
        Fault("status", status=429, retry_after=1.5, headers={"x-limit": "9"}),
        Fault("status", status=502, body="<html>bad gateway</html>"),
        Fault("status", status=400, body={"error": "odd"}),
    ]
    async with serve(steps) as server:
        first, second, third = [await post(server, "messages") for _ in steps]
    assert (first.status_code, first.headers["retry-after"], first.headers["x-limit"]) == (429, "1.5", "9")
    assert first.json()["error"]["type"] == "rate_limit_error"
    assert second.text == "<html>bad gateway</html>"
    assert third.json() == {"error": "odd"}


@pytest.mark.parametrize("path", PATHS)
async def test_overflow_speaks_the_dialect(path: str) -> None:
    async with serve([Fault("overflow")]) as server:
        reply = await post(server, path)
    assert reply.status_code == 400
    assert "too long" in reply.text or "context_length_exceeded" in reply.text


@pytest.mark.parametrize(
    "fault",
    [Fault("drop", after=3), Fault("drop", after=0), Fault("drop", after_bytes=100), Fault("refuse")],
    ids=["events", "nothing", "bytes", "refused"],
)
async def test_a_broken_connection_is_seen_by_the_client(fault: Fault) -> None:
    async with serve([fault, Say("again")]) as server:
        with pytest.raises(httpx2.RemoteProtocolError):
            await post(server, stream=True)
        assert "again" in (await post(server, stream=True)).text


async def received_bytes(server: Server, body: bytes) -> bytes:
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    async with await anyio.connect_tcp("127.0.0.1", server.port) as stream:
        await stream.send(head + body)
        data = b""
        try:
            while b"0\r\n\r\n" not in data[-5:]:
                data += await stream.receive()
        except anyio.EndOfStream:
            pass
        return data


async def test_a_cut_after_bytes_is_exact() -> None:
    async with serve([Fault("drop", after_bytes=100)]) as server:
        data = await received_bytes(server, b'{"stream": true}')
    assert data.partition(b"\r\n\r\n")[2].startswith(b"64\r\n")
    assert len(data.partition(b"64\r\n")[2]) == 102


async def test_verbatim_bytes_are_the_whole_response() -> None:
    whole = b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: odd\r\rdata: odder\n\n"
    async with serve([Raw(whole, verbatim=True)]) as server:
        assert await received_bytes(server, b"{}") == whole


async def test_pieces_are_cut_where_asked() -> None:
    async with serve([Raw(b"data: abcdef\n\n", split=(3, 8))]) as server:
        data = await received_bytes(server, b"{}")
    assert b"3\r\ndat\r\n5\r\na: ab\r\n6\r\ncdef\n\n\r\n0\r\n\r\n" in data


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (Fault("bytewise", answer=Say("short")), lambda t: find(events(t), "content")[-1] == "short"),
        (Fault("stop_short", after=2), lambda t: len(events(t)) == 2 and "[DONE]" not in t),
        (Fault("error_event", after=2, status=429), lambda t: events(t)[-1]["error"]["type"] == "rate_limit_error"),
        (Fault("garbage"), lambda t: "keep-alive" in t and "[DONE]" in t),
        (Fault("slow", seconds=0.001, answer=Say("short")), lambda t: "short" in t),
    ],
    ids=["bytewise", "stop_short", "error_event", "garbage", "slow"],
)
async def test_the_other_faults_travel(fault: Fault, check: Callable[[str], bool]) -> None:
    async with serve([fault]) as server:
        assert check((await post(server, stream=True)).text)


async def test_a_wrong_content_type() -> None:
    async with serve([Fault("content_type", content_type="text/html")]) as server:
        assert (await post(server, stream=True)).headers["content-type"] == "text/html"


@pytest.mark.parametrize("after", [-1, 0, 2])
async def test_a_hang_notices_that_the_client_left(after: int) -> None:
    async with serve([Fault("hang", after=after)]) as server:
        async with anyio.create_task_group() as group:
            group.start_soon(post, server)
            received: Received = await server.received(1)
            assert not received.gone.is_set()
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            await received.gone.wait()


async def test_many_requests_on_one_connection() -> None:
    steps: list[Step] = [Say(str(n)) for n in range(5)]
    async with serve(steps) as server, httpx2.AsyncClient() as client:
        texts = []
        for _ in steps:
            reply = await client.post(f"{server.base_url}/messages", json={})
            texts.append(reply.json()["content"][0]["text"])
    assert texts == ["0", "1", "2", "3", "4"]


async def test_chunked_requests_and_nonsense() -> None:
    async def body() -> Any:
        yield b'{"model": '
        yield b'"m"}'

    async with serve([Say("ok", expect=Match(model="m"))]) as server:
        async with await anyio.connect_tcp("127.0.0.1", server.port) as stream:
            await stream.send(b"\x16\x03\x01 no http at all\r\n\r\n")
        async with httpx2.AsyncClient() as client:
            assert (await client.post(f"{server.base_url}/messages", content=body())).status_code == 200


# --- the command -------------------------------------------------------------------------------------------------


def test_the_command_serves_a_file_and_logs(tmp_path: Path) -> None:
    script, log = tmp_path / "s.yaml", tmp_path / "log.jsonl"
    script.write_text("[{say: from a file}]", encoding="utf-8")
    command = [sys.executable, "-m", "gongfu.models.scripted", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        port = int(process.stdout.readline().split()[1])
        reply = httpx2.post(f"http://127.0.0.1:{port}/v1/messages", json={"model": "m"})
        assert reply.json()["content"][0]["text"] == "from a file"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert json.loads(log.read_text())["body"] == {"model": "m"}


def test_the_command_says_what_is_wrong_with_a_script(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("[{sai: x}]", encoding="utf-8")
    command = [sys.executable, "-m", "gongfu.models.scripted", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "step 1" in done.stderr
    assert "Traceback" not in done.stderr


async def test_it_listens_on_loopback_only() -> None:
    async with serve([]) as server:
        other = socket.socket()
        other.settimeout(1)
        with other:
            assert other.connect_ex(("127.0.0.1", server.port)) == 0
            assert other.getpeername()[0] == "127.0.0.1"
