"""The floor of a work mode only tightens, whatever the call, the permission mode, the rules and the hooks."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.modes import Bounds, Floor, WorkMode
from gongfu.permissions.policy import CallFacts, Mode, PathFact, decide
from gongfu.permissions.rating import Line, Part, Rating
from gongfu.permissions.rules import Rules, parse_rule

RATINGS = get_args(Rating)
RANK = {"allow": 0, "ask": 1, "deny": 2}
GLOBS = ["docs/**", "**/tests/**", "*.md", "test_*", "src/**", "**"]
RULES = ["shell", "write_file", "write(src/**)", "command(ls *)", "host(*.example.org)", "path(docs)"]


def some(values: list[Any] | tuple[Any, ...]) -> Any:
    return st.lists(st.sampled_from(values), max_size=3, unique=True).map(tuple)


floors = st.builds(
    Floor, name=st.just("m"), write=some(GLOBS), elsewhere=st.sampled_from(["", "ask", "deny"]),
    commands_ask=some(RATINGS), commands_deny=some(RATINGS), effects=st.sampled_from(["", "ask", "deny"]),
    ask=some(RULES), deny=some(RULES), sealed=st.booleans(), tools=some(["shell", "read_file", "shell(ls *)"]),
)  # fmt: skip
paths = st.builds(
    lambda name, write, protected, inside: PathFact(
        path=f"/r/{name}" if inside else f"/out/{name}", inside=inside, write=write, protected=protected
    ),
    st.sampled_from(["docs/a.md", "src/a.py", "src/tests/b.py", "test_c.py", ".env"]),
    st.booleans(), st.sampled_from(["", "secret", "settings"]), st.booleans(),
)  # fmt: skip
parts = st.builds(
    lambda text, ratings: Part(text=text, ratings=tuple(sorted(ratings or ("read",)))),
    st.sampled_from(["ls -l", "rm x", "curl http://a.example.org", "make"]), some(RATINGS),
)  # fmt: skip
calls = st.builds(
    lambda tool, access, paths, parts, known: CallFacts(
        tool=tool, access=access, paths=tuple(paths), cwd="/r", home="/r",
        command="; ".join(p.text for p in parts) if "execute" in access else "",
        line=Line(parts=tuple(parts)) if "execute" in access and known else None,
        hosts=("a.example.org",) if "network" in access else (),
    ),
    st.sampled_from(["shell", "write_file", "read_file", "browser_open"]),
    some(["read", "write", "execute", "network", "desktop"]), st.lists(paths, max_size=2),
    st.lists(parts, min_size=1, max_size=2), st.booleans(),
)  # fmt: skip
rules = st.builds(
    lambda allow, ask, deny: Rules(
        allow=tuple(map(parse_rule, allow)), ask=tuple(map(parse_rule, ask)), deny=tuple(map(parse_rule, deny)),
        root="/r",
    ),
    some(RULES), some(RULES[:1]), some(RULES[2:3]),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    calls, st.sampled_from(get_args(Mode)), rules, st.sampled_from(["", "allow", "ask"]), st.lists(floors, max_size=2)
)
def test_a_floor_only_tightens(facts: CallFacts, mode: Any, given_rules: Rules, hook: Any, below: list[Floor]) -> None:
    before = decide(facts, mode, given_rules, hook=hook)
    after = decide(facts, mode, given_rules, hook=hook, floors=below)
    assert RANK[after.verdict] >= RANK[before.verdict]
    if any(floor.sealed for floor in below) and "execute" in facts.access:
        assert not after.free
        assert not after.write
    wider = decide(facts, mode, given_rules, hook=hook, floors=below[:1])
    assert RANK[after.verdict] >= RANK[wider.verdict]
    if after.verdict == "ask":
        assert after.needs


def write(path: str, floor: Floor) -> str:
    facts = CallFacts(tool="write_file", access=("write",), paths=(PathFact(path=path, inside=True, write=True),))
    return decide(facts, "full", Rules(root="/r"), floors=[floor]).verdict


def test_where_a_mode_may_write_is_meant_of_the_file_itself() -> None:
    floor = Floor(name="m", write=("docs/**", "*.md", "test_*"), elsewhere="deny")
    for path in ("docs/a", "docs/a/b.py", "x.md", "src/x.md", "src/test_a.py"):
        assert write(f"/r/{path}", floor) == "allow", path
    for path in ("docs", "docsx/a", "src/docs/a.py", "a.md/b.py", "test_dir/product.py", "xdocs/a"):
        assert write(f"/r/{path}", floor) == "deny", path
    assert write("/other/docs/a", floor) == "deny"


def test_a_change_that_says_no_path_counts_as_one_elsewhere() -> None:
    floor = Floor(name="m", write=("**",), elsewhere="deny")
    assert decide(CallFacts(tool="t", access=("write",)), "full", floors=[floor]).verdict == "deny"


def test_the_bounds_of_a_turn_are_floors() -> None:
    mode = WorkMode(name="m", floors=(Floor(name="m", elsewhere="deny"),))
    assert Bounds().floors == ()
    assert Bounds(mode=mode).floors == mode.floors
    (own,) = Bounds(command="/x y", tools=("shell(ls *)",)).floors
    assert own.name == "/x"

    def said(tool: str, *parts: str) -> str:
        line = Line(parts=tuple(Part(text=p, ratings=("read",)) for p in parts)) if parts else None
        command = "; ".join(parts)
        access: Any = ("execute",) if parts else ("read",)
        return decide(CallFacts(tool=tool, access=access, command=command, line=line), "full", floors=[own]).verdict

    assert said("shell", "ls -l") == "allow"
    assert said("shell", "ls -l", "cat x") == "deny"
    assert said("read_file") == "deny"
    assert said("find_tools") == "allow"
