"""The policy over the whole table of modes and kinds of calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.permissions.policy import CallFacts, Grants, PathFact, decide

READ = CallFacts(tool="read_file", access=("read",), paths=(PathFact(path="/w/a", inside=True),))
WRITE = CallFacts(tool="write_file", access=("write",), paths=(PathFact(path="/w/a", inside=True, write=True),))
SHELL = CallFacts(tool="shell", access=("execute",), command="make")
OUT = CallFacts(tool="read_file", access=("read",), paths=(PathFact(path="/etc/hosts", inside=False),))
SECRET = CallFacts(
    tool="read_file", access=("read",), paths=(PathFact(path="/w/.env", inside=True, protected="secret"),)
)
SHELL_SECRET = CallFacts(
    tool="shell",
    access=("execute",),
    command="cat .env",
    paths=(PathFact(path="/w/.env", inside=True, protected="secret"),),
)
SHELL_OUT = CallFacts(tool="shell", access=("execute",), command="ls", cwd_inside=False)
TODO = CallFacts(tool="todo", access=())


@pytest.mark.parametrize(
    ("facts", "ask", "edits", "plan", "auto", "full"),
    [
        (READ, "allow", "allow", "allow", "allow", "allow"),
        (WRITE, "ask", "allow", "deny", "allow", "allow"),
        (SHELL, "ask", "ask", "deny", "allow", "allow"),
        (OUT, "ask", "ask", "ask", "ask", "allow"),
        (SECRET, "ask", "ask", "ask", "ask", "allow"),
        (SHELL_SECRET, "ask", "ask", "deny", "ask", "allow"),
        (SHELL_OUT, "ask", "ask", "deny", "ask", "allow"),
        (TODO, "allow", "allow", "allow", "allow", "allow"),
    ],
)
def test_modes(facts: CallFacts, ask: str, edits: str, plan: str, auto: str, full: str) -> None:
    verdicts = [decide(facts, mode).verdict for mode in ("ask", "edits", "plan", "auto", "full")]
    assert verdicts == [ask, edits, plan, auto, full]


paths = st.builds(
    PathFact,
    path=st.sampled_from(["/w/a", "/w/.env", "/x"]),
    inside=st.booleans(),
    write=st.booleans(),
    protected=st.sampled_from(["", "secret", "git"]),
)
facts = st.builds(
    CallFacts,
    tool=st.sampled_from(["shell", "write_file"]),
    access=st.lists(st.sampled_from(["read", "write", "execute", "network"]), max_size=3).map(tuple),
    paths=st.lists(paths, max_size=3).map(tuple),
    command=st.sampled_from(["", "ls", "rm x"]),
    cwd_inside=st.booleans(),
)
ORDER = {"deny": 0, "ask": 1, "allow": 2}


@given(facts)
def test_a_stricter_mode_never_allows_more(call: CallFacts) -> None:
    verdicts = [ORDER[decide(call, m).verdict] for m in ("plan", "ask", "edits", "auto", "full")]
    assert verdicts == sorted(verdicts)


@given(facts, facts)
def test_a_grant_covers_only_what_was_seen(seen: CallFacts, other: CallFacts) -> None:
    grants = Grants()
    grants.add(seen)
    assert grants.cover(seen) == bool(seen.paths or seen.command)
    if grants.cover(other):
        assert other.tool == seen.tool
        assert not other.command or other.command == seen.command
        assert {(p.path, p.write) for p in other.paths} <= {(p.path, p.write) for p in seen.paths}
