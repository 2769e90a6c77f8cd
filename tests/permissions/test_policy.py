"""The policy over the whole table of modes and kinds of calls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.specs import Access
from gongfu.permissions.grants import Grants
from gongfu.permissions.policy import CallFacts, Mode, Need, PathFact, decide
from gongfu.permissions.rating import Line, Part, Rating
from gongfu.permissions.rules import Rules, parse_rule

MODES: tuple[Mode, ...] = ("plan", "ask", "edits", "auto", "full")
ALL: tuple[Rating, ...] = (
    "read", "write", "run", "outside", "network", "destructive", "privilege", "credential", "unknown",
)  # fmt: skip


def line(*parts: tuple[str, str] | Part) -> Line:
    made = [p if isinstance(p, Part) else Part(text=p[0], ratings=cast("tuple[Rating, ...]", tuple(p[1].split())))
            for p in parts]  # fmt: skip
    return Line(parts=tuple(made))


def shell(command: str, *parts: tuple[str, str] | Part, **more: object) -> CallFacts:
    return CallFacts(tool="shell", access=("execute",), command=command, line=line(*parts), **more)  # type: ignore[arg-type]


def rules(allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = (), root: str = "/w") -> Rules:
    made = {"allow": allow, "ask": ask, "deny": deny}
    return Rules(root=root, **{name: tuple(map(parse_rule, texts)) for name, texts in made.items()})


READ = CallFacts(tool="read_file", access=("read",), paths=(PathFact(path="/w/a", inside=True),))
WRITE = CallFacts(tool="write_file", access=("write",), paths=(PathFact(path="/w/a", inside=True, write=True),))
DEEP = PathFact(path="/w/src/a/b", inside=True)
OUT = CallFacts(tool="read_file", access=("read",), paths=(PathFact(path="/etc/hosts", inside=False),))
SECRET_PATH = PathFact(path="/w/.env", inside=True, protected="secret")
SECRET = CallFacts(tool="read_file", access=("read",), paths=(SECRET_PATH,))
SHELL_SECRET = shell("cat .env", ("cat .env", "read"), paths=(SECRET_PATH,))
SHELL_OUT = shell("ls", ("ls", "read"), cwd_inside=False, cwd="/x")
TODO = CallFacts(tool="todo", access=())
FETCH = CallFacts(tool="web_fetch", access=("network",), hosts=("docs.python.org:443",))


@pytest.mark.parametrize(
    ("facts", "plan", "ask", "edits", "auto", "full"),
    [
        (READ, "allow", "allow", "allow", "allow", "allow"),
        (WRITE, "deny", "ask", "allow", "allow", "allow"),
        (OUT, "ask", "ask", "ask", "ask", "allow"),
        (SECRET, "ask", "ask", "ask", "ask", "allow"),
        (TODO, "allow", "allow", "allow", "allow", "allow"),
        (FETCH, "deny", "ask", "ask", "ask", "allow"),
        (shell("ls", ("ls", "read")), "allow", "allow", "allow", "allow", "allow"),
        (shell("mkdir a", ("mkdir a", "write")), "deny", "ask", "allow", "allow", "allow"),
        (shell("make", ("make", "run")), "deny", "ask", "ask", "allow", "allow"),
        (shell("cp a /x", ("cp a /x", "outside")), "deny", "ask", "ask", "ask", "allow"),
        (shell("curl x", ("curl x", "network")), "deny", "ask", "ask", "ask", "allow"),
        (shell("rm -rf .", ("rm -rf .", "destructive")), "deny", "ask", "ask", "ask", "allow"),
        (shell("sudo x", ("sudo x", "privilege")), "deny", "ask", "ask", "ask", "allow"),
        (shell("gh auth token", ("gh auth token", "credential")), "deny", "ask", "ask", "ask", "allow"),
        (shell("$X", ("$X", "unknown")), "deny", "ask", "ask", "ask", "allow"),
        (shell("ls; rm -rf .", ("ls", "read"), ("rm -rf .", "destructive")), "deny", "ask", "ask", "ask", "allow"),
        (SHELL_SECRET, "ask", "ask", "ask", "ask", "allow"),
        (SHELL_OUT, "ask", "ask", "ask", "ask", "allow"),
        (CallFacts(tool="shell", access=("execute",), command="ls"), "deny", "ask", "ask", "ask", "allow"),
    ],
)
def test_modes(facts: CallFacts, plan: str, ask: str, edits: str, auto: str, full: str) -> None:
    assert [decide(facts, mode).verdict for mode in MODES] == [plan, ask, edits, auto, full]


def test_a_file_of_the_workspace_is_asked_for_by_its_short_name() -> None:
    """What a grant remembers is whole all the same."""
    (need,) = decide(WRITE, "ask", rules()).needs
    assert (need.text, need.key, need.about) == ("a", "w:/w/a", "/w/a")
    assert decide(OUT, "ask", rules()).needs[0].text == "/etc/hosts"


@pytest.mark.parametrize("rating", ["outside", "network", "credential"])
def test_a_sandbox_that_covers_it_lets_auto_run_it_and_holds_it(rating: Rating) -> None:
    call = shell("x", Part(text="x", ratings=(rating, "run")))
    decided = decide(call, "auto", covers=lambda: frozenset([rating]))
    assert (decided.verdict, decided.free, decided.network) == ("allow", False, False)
    assert decide(call, "auto", covers=lambda: frozenset(["outside", "network", "credential"]) - {rating}).needs
    assert decide(call, "edits", covers=lambda: frozenset([rating])).verdict == "ask"


def test_a_sandbox_keeps_nobody_from_reading_the_persons_files() -> None:
    call = shell("cat ~/diary", ("cat ~/diary", "outside read"), personal=True)
    assert decide(call, "auto", covers=lambda: frozenset(["outside"])).verdict == "ask"


@pytest.mark.parametrize("rating", ["destructive", "privilege", "unknown"])
def test_no_sandbox_makes_these_harmless(rating: Rating) -> None:
    call = shell("x", Part(text="x", ratings=(rating,)))
    assert decide(call, "auto", covers=lambda: frozenset(ALL)).verdict == "ask"


def test_the_sandbox_is_not_looked_for_without_need() -> None:
    def covers() -> frozenset[str]:
        raise AssertionError

    for mode in MODES:
        decide(shell("make", ("make", "run")), mode, covers=covers)
        decide(READ, mode, covers=covers)


def test_a_part_that_counts_on_the_sandbox_keeps_the_whole_line_in_it() -> None:
    call = shell("pip install x; curl y", ("pip install x", "network run"), ("curl y", "network"))
    decided = decide(call, "auto", rules(allow=["shell(pip install *)"]), covers=lambda: frozenset(["network"]))
    assert (decided.verdict, decided.network) == ("allow", False)
    alone = shell("pip install x", ("pip install x", "network run"))
    assert decide(alone, "auto", rules(allow=["shell(pip install *)"])).network


@pytest.mark.parametrize(
    ("command", "ratings", "free", "network"),
    [
        ("make", "run", False, False),
        ("npm ci", "network run", False, True),
        ("cp a /x", "outside", True, False),
        ("sudo make install", "privilege", True, False),
        ("git config user.name x", "write", True, False),
        ("git -C sub push -u origin x", "network", True, True),
        ("git commit -m config", "run", False, False),
        ("rm -rf .", "destructive", False, False),
    ],
)
def test_consent_opens_what_the_command_needs_and_no_more(
    command: str, ratings: str, free: bool, network: bool
) -> None:
    decided = decide(shell(command, (command, ratings)), "ask")
    assert (decided.verdict, decided.free, decided.network) == ("ask", free, network)


# --- rules ---


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("shell", shell("make", ("make", "run"))),
        ("sh*", shell("make", ("make", "run"))),
        ("shell(git push*)", shell("ls && git push origin", ("ls", "read"), ("git push origin", "network"))),
        ("command(git  push *)", shell("x", ("/usr/bin/git push", "network"))),
        ("path(src/**)", CallFacts(tool="read_file", access=("read",), paths=(DEEP,))),
        ("path(src)", CallFacts(tool="read_file", access=("read",), paths=(DEEP,))),
        ("path(*.pem)", CallFacts(tool="x", access=("read",), paths=(PathFact(path="/w/k/a.pem", inside=True),))),
        ("path(/etc)", OUT),
        ("write(a)", WRITE),
        ("read_file(/etc/*)", OUT),
        ("host(*.python.org)", FETCH),
        ("host(docs.python.org:443)", FETCH),
        ("host(DOCS.python.org)", FETCH),
        ("path(a)", shell("cat a", ("cat a", "read"), named=("/w/a",))),
        ("host(evil.com)", shell("curl x", Part(text="curl x", ratings=("network",), hosts=("evil.com",)))),
    ],
)  # fmt: skip
def test_a_rule_is_about_a_call(text: str, call: CallFacts) -> None:
    for mode in MODES:
        denied = decide(call, mode, rules(deny=[text]))
        assert (denied.verdict, denied.rule, denied.about) == ("deny", "denied_by_rule", parse_rule(text).text)
    for mode in MODES[1:]:
        assert decide(call, mode, rules(ask=[text])).verdict == "ask"
    assert decide(call, "full", rules(ask=[text], deny=[text], allow=[text]), hook="allow").verdict == "deny"


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("write(a)", READ),
        ("path(b)", WRITE),
        ("path(w)", WRITE),
        ("host(python.org)", FETCH),
        ("host(docs.python.org:80)", FETCH),
        ("shell(push)", shell("git push", ("git push", "network"))),
        ("shell(git push)", shell("git pushd", ("git pushd", "run"))),
        ("shell(git push *)", shell("git pushd", ("git pushd", "run"))),
        ("command(ls?)", shell("lsx", ("lsx", "run"))),
        ("web_*", READ),
    ],
)
def test_a_rule_is_not_about_a_call(text: str, call: CallFacts) -> None:
    assert decide(call, "full", rules(deny=[text])).verdict == "allow"


@pytest.mark.parametrize("text", ["(x)", "path", "path()", "shell( )", "two words", "shell(x", "host"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        parse_rule(text)


def test_an_allow_rule_covers_each_part_by_itself() -> None:
    allow = rules(allow=["shell(npm run *)"])
    assert decide(shell("npm run x", ("npm run x", "run")), "ask", allow).verdict == "allow"
    both = decide(shell("npm run x && make", ("npm run x", "run"), ("make", "run")), "ask", allow)
    assert [n.text for n in both.needs] == ["make"]


@pytest.mark.parametrize("rating", ["destructive", "privilege", "credential", "unknown"])
def test_a_pattern_allows_nothing_grave_and_exact_words_do(rating: Rating) -> None:
    call = shell("git reset --hard", Part(text="git reset --hard", ratings=(rating,)))
    assert decide(call, "ask", rules(allow=["shell(git *)", "shell", "command(*)"])).verdict == "ask"
    assert decide(call, "ask", rules(allow=["shell(git reset --hard)"])).verdict == "allow"


def test_a_pattern_allows_no_redirection_outside() -> None:
    allow = rules(allow=["shell(echo *)", "shell(ls *)"])
    assert decide(shell("echo x > /x", ("echo x > /x", "outside")), "ask", allow).verdict == "ask"
    assert decide(shell("ls /opt", ("ls /opt", "outside")), "ask", allow).verdict == "allow"


def test_secrets_are_allowed_by_exact_words_only() -> None:
    assert decide(SECRET, "ask", rules(allow=["path(**)", "read_file", "path(.env*)"])).verdict == "ask"
    assert decide(SECRET, "ask", rules(allow=["read(.env)"])).verdict == "allow"
    assert decide(SHELL_SECRET, "ask", rules(allow=["read(.env)"])).verdict == "allow"


def test_consent_to_a_secret_lets_the_command_see_it() -> None:
    assert decide(SHELL_SECRET, "ask", rules(allow=["read(.env)"])).free
    assert decide(SHELL_SECRET, "auto").free


def test_hosts_allow_a_command_that_only_needs_them() -> None:
    part = Part(text="pip install x", ratings=("network", "run"), hosts=("pypi.org",))
    assert decide(shell("pip install x", part), "ask", rules(allow=["host(pypi.org)"])).verdict == "allow"
    both = Part(text="pip install x", ratings=("network", "run"), hosts=("pypi.org", "evil.org"))
    assert decide(shell("pip install x", both), "ask", rules(allow=["host(pypi.org)"])).verdict == "ask"
    assert decide(FETCH, "ask", rules(allow=["host(*.python.org)"])).verdict == "allow"


def test_a_hook_skips_questions_but_neither_plan_nor_a_deny_rule() -> None:
    call = shell("make", ("make", "run"))
    assert decide(call, "ask", hook="allow").verdict == "allow"
    assert decide(call, "ask", rules(ask=["shell"]), hook="allow").verdict == "allow"
    assert decide(call, "plan", hook="allow").verdict == "deny"
    assert decide(call, "full", rules(deny=["shell"]), hook="allow").verdict == "deny"
    assert decide(READ, "full", hook="ask").verdict == "ask"


# --- properties ---

paths = st.builds(
    PathFact,
    path=st.sampled_from(["/w/a", "/w/.env", "/x"]),
    inside=st.booleans(),
    write=st.booleans(),
    protected=st.sampled_from(["", "secret", "git"]),
)
lines = st.lists(
    st.builds(
        Part,
        text=st.sampled_from(["ls", "rm x", "make > /x", "echo $X", "cd a", "git push"]),
        ratings=st.lists(st.sampled_from(ALL), min_size=1, max_size=3, unique=True).map(tuple),
        hosts=st.sampled_from([(), ("a.b",)]),
    ),
    min_size=1,
    max_size=3,
).map(lambda parts: Line(parts=tuple(parts)))
facts = st.builds(
    CallFacts,
    tool=st.sampled_from(["shell", "write_file"]),
    access=st.lists(st.sampled_from(["read", "write", "execute", "network"]), max_size=3).map(tuple),
    paths=st.lists(paths, max_size=3).map(tuple),
    command=st.sampled_from(["", "ls", "rm x"]),
    cwd_inside=st.booleans(),
    cwd=st.sampled_from(["/w", "/w/b"]),
    home=st.just("/w"),
    line=st.none() | lines,
)
texts = st.lists(
    st.sampled_from(
        ["shell", "shell(ls)", "shell(*)", "path(.env)", "path(**)", "host(a.b)", "write_file", "write(a)"]
    ),
    max_size=3,
)
ORDER = {"deny": 0, "ask": 1, "allow": 2}


def test_plan_refuses_a_write_that_a_tool_does_not_declare() -> None:
    call = CallFacts(tool="other", access=(), paths=(PathFact(path="/w/a", inside=True, write=True),), home="/w")
    assert decide(call, "plan", rules([], [], [])).verdict == "deny"


@given(facts, texts, texts, texts)
def test_a_stricter_mode_never_allows_more(call: CallFacts, allow: list[str], ask: list[str], deny: list[str]) -> None:
    said = rules(allow, ask, deny)
    verdicts = [ORDER[decide(call, m, said).verdict] for m in MODES]
    assert verdicts == sorted(verdicts)


@given(facts, st.sampled_from(MODES), texts, texts, texts, st.sampled_from(["path(.env)", "shell", "shell(ls)"]))
def test_a_rule_more_that_asks_or_denies_never_allows_more(
    call: CallFacts, mode: Mode, allow: list[str], ask: list[str], deny: list[str], more: str
) -> None:
    before = ORDER[decide(call, mode, rules(allow, ask, deny)).verdict]
    assert ORDER[decide(call, mode, rules(allow, [*ask, more], deny)).verdict] <= before
    assert ORDER[decide(call, mode, rules(allow, ask, [*deny, more])).verdict] <= before


@given(facts, st.sampled_from(MODES))
def test_what_is_asked_for_names_everything_that_is_needed(call: CallFacts, mode: Mode) -> None:
    decided = decide(call, mode)
    assert bool(decided.needs) == (decided.verdict == "ask")


@given(facts, facts, st.sampled_from(MODES))
def test_a_grant_covers_only_what_was_seen(seen: CallFacts, other: CallFacts, mode: Mode) -> None:
    grants = Grants()
    first, second = decide(seen, mode), decide(other, mode)
    grants.add(seen.tool, first.needs)
    assert grants.cover(seen.tool, first.needs) == bool(first.needs)
    if grants.cover(other.tool, second.needs):
        assert other.tool == seen.tool
        assert {n.key for n in second.needs} <= {n.key for n in first.needs}


def test_parts_are_granted_one_by_one_and_stand_for_themselves() -> None:
    grants = Grants()
    both = decide(shell("make a && make b", ("make a", "run"), ("make b", "run")), "ask")
    grants.add("shell", both.needs)
    for text in ("make a", "make b"):
        assert grants.cover("shell", decide(shell(text, (text, "run")), "ask").needs)
    more = decide(shell("make a && make c", ("make a", "run"), ("make c", "run")), "ask")
    assert not grants.cover("shell", more.needs)


@pytest.mark.parametrize("other", ["X=/; rm -r $X", "cd /x && make", "alias ls=make; ls; make", "ls() { make; }; ls"])
def test_parts_that_depend_on_each_other_are_granted_as_the_line_that_was_seen(other: str) -> None:
    grants = Grants()
    texts = {"X=/; rm -r $X": ["X=/", "rm -r $X"], "cd /x && make": ["cd /x", "make"]}.get(other, ["make", "ls"])
    grants.add("shell", decide(shell(other, *((t, "run") for t in texts)), "ask").needs)
    for text in set(texts) - {other}:
        assert not grants.cover("shell", decide(shell(text, (text, "run")), "ask").needs)


def test_a_grant_holds_where_it_was_given() -> None:
    grants = Grants()
    grants.add("shell", decide(shell("make", ("make", "run"), cwd="/w/a", home="/w"), "ask").needs)
    assert not grants.cover("shell", decide(shell("make", ("make", "run"), cwd="/w", home="/w"), "ask").needs)
    assert grants.cover("shell", decide(shell("make", ("make", "run"), cwd="/w/a", home="/w"), "ask").needs)


class Shelf:
    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def keys(self, root: str) -> list[tuple[str, str]]:
        return [at for at, where in self.kept.items() if where == root]

    def add(self, root: str, tool: str, needs: Iterable[Need]) -> None:
        self.kept.update({(tool, need.key): root for need in needs})


def test_a_project_remembers_what_is_not_grave() -> None:
    shelf = Shelf()
    asked = decide(shell("make; rm -rf .", ("make", "run"), ("rm -rf .", "destructive")), "ask")
    Grants(lambda: shelf, "/w").add("shell", asked.needs, "project")
    later = Grants(lambda: shelf, "/w")
    assert later.cover("shell", decide(shell("make", ("make", "run")), "ask").needs)
    assert not later.cover("shell", asked.needs)
    elsewhere = Grants(lambda: shelf, "/v")
    assert not elsewhere.cover("shell", decide(shell("make", ("make", "run")), "ask").needs)


@pytest.mark.parametrize("reach", ["network", "desktop"])
@pytest.mark.parametrize("also", [(), ("write",), ("execute",), ("execute", "write")])
def test_what_reaches_beyond_asks_whatever_else_a_call_does(reach: str, also: tuple[str, ...]) -> None:
    call = CallFacts(tool="x", access=cast("tuple[Access, ...]", (*also, reach)), hosts=("h.test:443",))
    for mode in ("ask", "edits", "auto"):
        assert decide(call, mode).verdict == "ask"
    assert decide(call, "plan").verdict == "deny"
