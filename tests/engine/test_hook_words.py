"""What a hook is told and what its answer means, apart from any process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.config.hooks import CLAUDE_EVENTS, hooks_of, joined
from gongfu.config.settings import Hook
from gongfu.config.settings import HookEvent as Named
from gongfu.engine.guard import HookEvent
from gongfu.engine.hook_names import TOOLS, from_claude, to_claude, tool_name
from gongfu.engine.hook_words import EVENTS, Common, Heard, event_json, heard

HERE = Path("/ws")
UNKNOWN = "unknown decision 7"
TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)
EDIT = st.fixed_dictionaries({"old": TEXT, "new": TEXT}, optional={"all": st.booleans()})
TODO = st.fixed_dictionaries({"text": TEXT, "status": st.sampled_from(["pending", "in_progress", "done"])})
PATH = st.text("abc./", min_size=1, max_size=8).map(lambda text: f"/ws/{text}")
CALLS = st.one_of(
    st.tuples(
        st.just("shell"),
        st.fixed_dictionaries(
            {"command": TEXT},
            optional={"timeout": st.integers(1, 600), "background": st.booleans(), "cwd": TEXT},
        ),
    ),
    st.tuples(st.just("read_file"), st.fixed_dictionaries({"path": PATH}, optional={"offset": st.integers()})),
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"path": PATH, "content": TEXT})),
    st.tuples(st.just("edit_file"), st.fixed_dictionaries({"path": PATH, "old": TEXT, "new": TEXT})),
    st.tuples(st.just("edit_file"), st.fixed_dictionaries({"path": PATH, "edits": st.lists(EDIT, max_size=3)})),
    st.tuples(
        st.just("search_text"),
        st.fixed_dictionaries(
            {"pattern": TEXT},
            optional={
                "show": st.sampled_from(["lines", "files", "count"]), "context": st.integers(0, 9),
                "ignore_case": st.booleans(), "glob": TEXT, "literal": st.booleans(),
            },
        ),
    ),
    st.tuples(st.just("find_files"), st.fixed_dictionaries({"pattern": TEXT}, optional={"path": PATH})),
    st.tuples(st.just("task"), st.fixed_dictionaries({"task": TEXT}, optional={"model": TEXT})),
    st.tuples(st.just("todo"), st.fixed_dictionaries({"items": st.lists(TODO, max_size=3)})),
    st.tuples(st.just("recall"), st.dictionaries(TEXT, JSON, max_size=3)),
)  # fmt: skip


@given(CALLS)
def test_arguments_come_back_as_they_were(call: tuple[str, dict[str, Any]]) -> None:
    tool, args = call
    assert from_claude(tool, to_claude(tool, args, HERE)) == args


@settings(max_examples=60)
@given(st.sampled_from([*TOOLS, "recall", "mcp__a__b"]), st.dictionaries(TEXT | st.just("path"), JSON, max_size=4))
def test_any_arguments_can_be_told(tool: str, args: dict[str, Any]) -> None:
    common = Common(session="s", directory=HERE, mode="ask")
    told = json.loads(
        event_json("before_tool", {"tool_name": tool, "tool_input": args}, common, claude=True, tool=tool)
    )
    assert told["hook_event_name"] == "PreToolUse"
    from_claude(tool, args)


@given(
    st.sampled_from(get_args(HookEvent)), st.integers(0, 255), st.text(max_size=60) | JSON.map(json.dumps), TEXT,
    st.booleans(),
)  # fmt: skip
def test_no_answer_breaks_it(event: HookEvent, code: int, out: str, err: str, claude: bool) -> None:
    said = heard(event, code, out, err, claude=claude, tool="shell")
    assert said.arguments is None or (event == "before_tool" and code == 0)
    if code == 2:
        assert said.decision == "block"
    elif code:
        assert said.decision == ""
        assert said.problem.startswith(f"exit {code}")


KEYS = st.sampled_from(
    ["decision", "reason", "arguments", "note", "continue", "stopReason", "hookSpecificOutput", "systemMessage",
     "permissionDecision", "updatedInput", "additionalContext", "permissionDecisionReason"]
)  # fmt: skip


@settings(max_examples=60)
@given(st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=4), max_size=6))
def test_no_table_breaks_it(table: dict[str, Any]) -> None:
    said = heard("before_tool", 0, json.dumps(table), "", claude=True, tool="edit_file")
    assert said.decision in ("", "allow", "ask", "deny", "block")
    assert isinstance(said.reason, str)


@pytest.mark.parametrize(
    ("event", "out", "expected"),
    [
        ("prompt", "plain", Heard(note="plain")),
        ("turn_end", "plain", Heard()),
        ("before_compact", "plain", Heard()),
        ("prompt", '{"some": "data"}', Heard(note='{"some": "data"}')),
        ("prompt", '{"note": " n "}', Heard(note="n")),
        ("before_tool", '{"decision": "allow", "reason": "r"}', Heard(decision="allow", reason="r")),
        ("before_tool", '{"arguments": {"a": 1}}', Heard(arguments={"a": 1})),
        ("after_tool", '{"arguments": {"a": 1}}', Heard()),
        ("before_tool", '{"decision": 7}', Heard(decision="ask", reason=UNKNOWN, problem=UNKNOWN)),
        ("before_tool", '{"continue": false}', Heard(decision="block", stop=True)),
        ("before_tool", '{"continue": true}', Heard()),
        ("before_tool", '{"suppressOutput": true}', Heard()),
        ("before_tool", "{oops", Heard(problem="no valid JSON: {oops")),
        ("before_tool", "oops", Heard()),
    ],
)  # fmt: skip
def test_answers(event: HookEvent, out: str, expected: Heard) -> None:
    assert heard(event, 0, out, "", claude=False) == expected


def test_names_are_those_of_the_settings() -> None:
    assert set(get_args(Named)) == set(get_args(HookEvent)) == set(EVENTS)
    assert {event for event, _ in CLAUDE_EVENTS.values()} == set(EVENTS)
    assert {CLAUDE_EVENTS[name][0]: name for name in EVENTS.values()} == EVENTS
    assert tool_name("edit_file", {"edits": []}) == "MultiEdit"


def test_both_shapes_become_one_list_and_layers_are_joined() -> None:
    table = {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "a", "timeout": 5}, {"command": "b"}]},
            {"hooks": []},
        ],
        "SubagentStop": [{"matcher": "ignored", "hooks": [{"type": "command", "command": "c"}]}],
    }
    made = hooks_of(table)
    assert [(h.event, h.command, h.match, h.seconds) for h in made] == [
        ("before_tool", "a", "Bash", 5.0), ("before_tool", "b", "Bash", 60.0), ("turn_end", "c", "agent", 60.0),
    ]  # fmt: skip
    assert all(h.shell and h.shape == "claude" for h in made)
    own = [{"event": "prompt", "command": ["x"]}]
    import msgspec

    both = msgspec.convert(joined(own, table), tuple[Hook, ...])
    assert both == (Hook(event="prompt", command=("x",)), *made)
    assert msgspec.convert(joined(table, own), tuple[Hook, ...]) == (*made, Hook(event="prompt", command=("x",)))
    assert joined(own, []) == joined([], own) == own
