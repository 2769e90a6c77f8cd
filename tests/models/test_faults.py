"""Errors of all providers, by their own wordings, and what only looks like one of them.

`fixtures/faults.jsonl` has a row [kind, HTTP status, body] for each.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from gongfu.core.errors import Overloaded, Refused, Throttled, Unauthorized
from gongfu.models.faults import fault_in_stream, fault_of, redact


def openai(message: str, type: str = "invalid_request_error", code: str | int | None = None) -> str:
    return json.dumps({"error": {"message": message, "type": type, "param": None, "code": code}})


def gemini(code: int, message: str, status: str, details: list[object] | None = None) -> str:
    return json.dumps([{"error": {"code": code, "message": message, "status": status, "details": details or []}}])


def router(raw: object, code: int = 400) -> str:
    inner = raw if isinstance(raw, str) else json.dumps(raw)
    meta = {"raw": inner, "provider_name": "Example"}
    return json.dumps({"error": {"message": "Provider returned error", "code": code, "metadata": meta}})


FIXTURE = Path(__file__).parent / "fixtures" / "faults.jsonl"
TABLE: list[tuple[str, int, str]] = [tuple(json.loads(line)) for line in FIXTURE.read_text("utf-8").splitlines()]


def test_every_kind_has_several_wordings() -> None:
    counts = Counter(kind for kind, _, _ in TABLE)
    assert len(TABLE) >= 130
    assert min(counts.values()) >= 8
    assert counts["overflow"] >= 40


@pytest.mark.parametrize(("kind", "status", "body"), TABLE)
def test_wording(kind: str, status: int, body: str) -> None:
    fault = fault_of(status, {}, body.encode(), "p/m")
    assert fault.kind == kind, str(fault)
    assert (fault.status, fault.model) == (status, "p/m")
    assert 0 < len(fault.detail) <= 300


IN_STREAM = [(kind, status, body) for kind, status, body in TABLE if body.startswith(("{", "[")) and status not in
             (404, 402, 301, 413, 401, 403, 415) and body not in ("{}", "[]") and kind != "bad_request"]  # fmt: skip


@pytest.mark.parametrize(("kind", "status", "body"), IN_STREAM)
def test_the_same_words_inside_a_stream(kind: str, status: int, body: str) -> None:
    value = json.loads(body)
    value = value[0] if isinstance(value, list) else value
    inner = value.get("error", value) if isinstance(value.get("error", value), dict) else value
    assert fault_in_stream(inner, "m").kind == kind
    assert fault_in_stream(body, "m").kind == kind


def test_an_error_in_a_stream_by_its_type_or_its_code() -> None:
    assert fault_in_stream({"type": "overloaded_error", "message": "Hm"}, "m").kind == "overloaded"
    assert fault_in_stream({"type": "invalid_request_error", "message": "Hm"}, "m").kind == "bad_request"
    assert fault_in_stream({"code": 429, "message": "Hm"}, "m").kind == "throttled"
    assert fault_in_stream("something odd", "m").kind == "overloaded"
    assert fault_in_stream({}, "m").detail == "no explanation"


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, "", 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-3"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({}, openai("Please try again in 1.5s."), 1.5),
        ({}, openai("Please try again in 20ms."), 0.02),
        ({}, openai("Please try again in 1m30s."), 90.0),
        ({}, openai("please try again after 1 seconds"), 1.0),
        ({}, openai("Please retry in 36.5s."), 36.5),
        ({}, openai("try again in 2 minutes"), 120.0),
        ({}, gemini(429, "quota", "RESOURCE_EXHAUSTED", [{"retryDelay": "36s"}]), 36.0),
        ({}, json.dumps({"error": {"type": "usage_limit_reached", "message": "x", "resets_in_seconds": 40}}), 40.0),
        ({}, openai("try again later"), None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], body: str, seconds: float | None) -> None:
    fault = fault_of(429, headers, body.encode(), "m")
    assert fault.retry_after == (None if seconds is None else pytest.approx(seconds))
    assert isinstance(fault, Throttled)


def test_only_passing_trouble_is_tried_again() -> None:
    retried = {kind for kind, status, body in TABLE if fault_of(status, {}, body.encode(), "").retryable}
    assert retried == {"throttled", "overloaded"}


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijkl0123456789",
        "sk-ant-api03-AAAA_bbbb-cccc",
        "sk-abcd****wxyz",
        "AIzaSyA-1234567890abcdefghijk",
        "gsk_abcdefghijklmnop",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef",
        "0123456789abcdef0123456789abcdef0123456789abcdef",
    ],
)
def test_no_key_is_told(secret: str) -> None:
    fault = fault_of(401, {}, openai(f"Incorrect API key provided: {secret}. See the docs.").encode(), "m")
    assert secret not in str(fault)
    assert "[secret " in fault.detail
    assert "See the docs." in fault.detail
    assert secret not in redact(f"Authorization: Bearer {secret}")


def test_details_are_the_servers_words() -> None:
    nested = fault_of(400, {}, router({"error": {"message": "tool schema is wrong"}}).encode(), "m")
    assert nested.detail == "Provider returned error: tool schema is wrong"
    assert (
        fault_of(502, {}, b"<html><title>502  Bad\nGateway</title></html>", "m").detail
        == "an HTML page: 502 Bad Gateway"
    )
    assert fault_of(307, {"location": "https://x.example/v1"}, b"", "m").detail.endswith("https://x.example/v1")
    assert len(fault_of(400, {}, b"x" * 100_000, "m").detail) <= 300


def test_odd_bodies_never_raise() -> None:
    deep = b'{"error":' * 2000 + b"1" + b"}" * 2000
    for body in (
        deep,
        b"\xff\xfe",
        b"[" * 5000,
        b"null",
        b"[null]",
        b'{"error":[1,{"message":null}]}',
        b'{"error":{"message":{"a":1}}}',
    ):
        assert isinstance(fault_of(500, {}, body, "m"), Overloaded | Refused | Unauthorized | Throttled)


def test_what_the_request_said_is_not_taken_for_an_error() -> None:
    body = {"error": {"message": "bad field", "input": "prompt is too long; insufficient balance"}}
    assert fault_of(400, {}, json.dumps(body).encode(), "m").kind == "bad_request"
