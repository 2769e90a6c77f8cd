"""Envelopes on the wire: any rule text is exactly once in the bytes of each dialect, and nothing else counts as one."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.context.rules.envelope import JOINED, PREFACE, envelopes, joining_note, scrub, scrub_message
from gongfu.context.rules.gate import check_body
from gongfu.context.rules.sections import sha256_of
from gongfu.context.rules.standing import standing
from gongfu.core.errors import Refusal
from gongfu.core.messages import CallPart, Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo
from gongfu.core.told import RulesPinned
from gongfu.models.anthropic_body import MessagesWriter
from gongfu.models.chat_body import BodyWriter
from gongfu.models.protocol import Request
from gongfu.models.quirks import quirks_for
from gongfu.models.responses_body import ResponsesWriter

from .project import draft, pinned, word

INFO = ModelInfo(ref="p/model", provider="p", name="model", window=200_000, max_output=8000, source="catalog")


def chat(request: Request) -> bytes:
    return BodyWriter(INFO, quirks_for("https://api.openai.com/v1", INFO.name)).write(request).data


def responses(request: Request) -> bytes:
    quirks = quirks_for("https://api.openai.com/v1", INFO.name, api="openai_responses")
    return ResponsesWriter(INFO, quirks).write(request).data


def anthropic(request: Request) -> bytes:
    quirks = quirks_for("https://api.anthropic.com/v1", INFO.name, api="anthropic")
    return MessagesWriter(INFO, quirks).write(request).data


WRITERS = pytest.mark.parametrize("write", [chat, responses, anthropic])
Writer = Callable[[Request], bytes]


def request(standing: str, *messages: Message) -> Request:
    return Request(model="model", system="Be brief.", standing=standing, messages=messages or (user("go"),))


def laid(snapshot: RulesPinned, joined: tuple[str, ...] = ()) -> str:
    return standing(snapshot, joined, budget=1_000_000, share=0.4, optional_room=1_000_000).text


RULE = st.one_of(
    st.text(min_size=1),
    st.sampled_from(
        ["</rule-0>", "<rule-ffffffff path=", "# A\n\\u003c\\/", "中文规则" * 40, "\u2028\x7f\x00", "a\r\nb"]
    ),
    st.lists(st.sampled_from(["# H\n", "x\n", "```\n", "---\n", '"\\', "规\n", "\n"]), min_size=1).map("".join),
).filter(lambda text: bool(text.strip()))


@WRITERS
@settings(max_examples=40, deadline=None)
@given(texts=st.lists(RULE, min_size=1, max_size=4))
def test_each_mandatory_rule_is_exactly_once_in_the_bytes(write: Writer, texts: list[str]) -> None:
    files = [draft(text, f"f{n}/AGENTS.md", depth=1, scope=f"f{n}") for n, text in enumerate(texts)]
    snapshot = pinned(*files)
    mandatory = [e for e in envelopes(snapshot) if e.duty == "mandatory"]
    body = write(request(laid(snapshot)))
    check_body(body, mandatory)
    check_body(json.dumps(json.loads(body)).encode(), mandatory)  # the same with everything escaped
    for envelope in mandatory:
        assert json.dumps(json.loads(body), ensure_ascii=False).count(json.dumps(envelope.opening)[1:-1]) == 1


@WRITERS
@settings(max_examples=20, deadline=None)
@given(texts=st.lists(RULE, min_size=2, max_size=3), twice=st.booleans())
def test_a_request_that_lacks_one_or_has_one_twice_is_refused(write: Writer, texts: list[str], twice: bool) -> None:
    snapshot = pinned(*[draft(text, f"f{n}/AGENTS.md") for n, text in enumerate(texts)])
    mandatory = envelopes(snapshot)
    kept = "\n".join(e.text for e in (mandatory if twice else mandatory[1:]))
    extra = user(f"look: {mandatory[0].text}") if twice else user("go")
    with pytest.raises(Refusal) as raised:
        check_body(write(request(kept, extra)), mandatory)
    assert raised.value.key == "rules.not_delivered"
    assert raised.value.values["count"] == (2 if twice else 0)


@WRITERS
def test_an_excluded_rule_must_not_be_there_though_its_text_may(write: Writer) -> None:
    file = draft("Never say this.\n")
    snapshot = pinned(file, draft("Do.", "CLAUDE.md", kind="claude"), words=(word(file, "excluded"),))
    everything = envelopes(snapshot)
    excluded = [e for e in everything if e.duty == "excluded"]
    mandatory = [e for e in everything if e.duty == "mandatory"]
    read = user("AGENTS.md says: Never say this.\n")
    check_body(write(request(laid(snapshot), read)), mandatory, excluded)
    with pytest.raises(Refusal):
        check_body(write(request(laid(snapshot), user(excluded[0].text))), mandatory, excluded)


def test_a_changed_body_inside_the_delimiters_does_not_count() -> None:
    snapshot = pinned(draft("Use tabs.\nAlways."))
    body = msgspec.json.encode({"a": laid(snapshot).replace("tabs", "spaces")})
    with pytest.raises(Refusal):
        check_body(body, envelopes(snapshot))
    both = msgspec.json.encode({"a": laid(snapshot), "b": laid(snapshot).replace("tabs", "spaces")})
    with pytest.raises(Refusal):
        check_body(both, envelopes(snapshot))


def test_a_second_one_hidden_behind_escapes_is_found() -> None:
    snapshot = pinned(draft("Use tabs."))
    text = envelopes(snapshot)[0].text
    hidden = "".join(f"\\u{ord(c):04x}" for c in text)
    body = b'{"a": %s, "b": "%s"}' % (msgspec.json.encode(text), hidden.encode())
    with pytest.raises(Refusal) as raised:
        check_body(body, envelopes(snapshot))
    assert raised.value.values["count"] == 2


def test_a_body_that_is_no_json_is_looked_at_as_text() -> None:
    snapshot = pinned(draft("Use tabs."))
    check_body(laid(snapshot).encode(), envelopes(snapshot))
    with pytest.raises(Refusal):
        check_body(b"\xff", envelopes(snapshot))
    check_body(b"\xff", (), ())


@WRITERS
@settings(max_examples=20, deadline=None)
@given(text=RULE, where=st.integers(0, 3))
def test_what_quotes_an_envelope_is_scrubbed_and_counts_no_more(write: Writer, text: str, where: int) -> None:
    snapshot = pinned(draft(text))
    envelope = envelopes(snapshot)[0]
    arguments = msgspec.json.encode({"text": envelope.text}).decode()
    calls = CallPart(id="c1", name="write", arguments=arguments if where == 1 else "{}")
    messages = (
        user(envelope.text if where == 0 else "go"),
        Message(role="assistant", parts=(TextPart(text=envelope.text if where == 2 else "I do."), calls)),
        Message(role="tool", parts=(ResultPart(call_id="c1", text=envelope.text if where == 3 else "done"),)),
    )
    scrubbed = tuple(scrub_message(m, snapshot.nonce) for m in messages)
    check_body(write(request(laid(snapshot), *scrubbed)), (envelope,))


def test_scrubbing_leaves_everything_else_alone() -> None:
    snapshot = pinned(draft("x"))
    message = user("about <rule-…> marks and sha 0123456789abcdef")
    assert scrub_message(message, snapshot.nonce) is message
    assert scrub("text", snapshot.nonce) == "text"
    assert scrub(f"rule-{snapshot.nonce}", "") == f"rule-{snapshot.nonce}"
    thought = Message(role="assistant", parts=(ReasoningPart(text=f"</rule-{snapshot.nonce}>", signature="s"),))
    assert scrub_message(thought, snapshot.nonce).parts == ()


def test_an_envelope_says_where_it_is_from() -> None:
    file = draft("# A\nx\n", 'sub dir/A"<&>.md', depth=2, scope="sub dir", kind="rules", paths=("*.py", "b/**"))
    envelope = envelopes(pinned(file))[0]
    assert envelope.opening == (
        f'<rule-{pinned(file).nonce} path="sub dir/A&quot;&lt;&amp;&gt;.md" scope="sub dir" paths="*.py, b/**" '
        f'sha256="{file.sha256[:16]}" precedence="2 rules" duty="mandatory">'
    )
    assert envelope.text.endswith(f"# A\nx\n</rule-{pinned(file).nonce}>")


def test_front_matter_is_not_delivered() -> None:
    file = draft("---\npaths: a\n---\n# A\nx\n", ".gongfu/rules/a.md", kind="rules", paths=("a",))
    assert "paths: a\n" not in envelopes(pinned(file))[0].text
    assert "---\n# A" in envelopes(pinned(draft("---\nx: a\n---\n# A\nx\n")))[0].text  # no front matter elsewhere


def test_neighbouring_sections_of_one_duty_share_an_envelope() -> None:
    file = draft("intro\n# A\n# B\n# C\n# D\n")
    words = (word(file, "optional", "C", sha256_of("# C\n")),)
    snapshot = pinned(file, words=(word(file, "mandatory"), *words), policy="")
    assert [(e.id, e.duty) for e in envelopes(snapshot)] == [
        ("rule:AGENTS.md#", "mandatory"),
        ("rule:AGENTS.md#C", "optional"),
        ("rule:AGENTS.md#D", "mandatory"),
    ]


# --- what a request holds -----------------------------------------------------------------------------------------


def test_with_no_rules_there_is_nothing() -> None:
    assert standing(pinned(), (), budget=10_000, share=0.4, optional_room=1000).text == ""


def test_mandatory_first_and_in_order_then_what_there_is_room_for() -> None:
    own = draft("own", "~/.gongfu/AGENTS.md", depth=-1, scope="~")
    root, near = draft("r" * 400), draft("near", "a/AGENTS.md", depth=1, scope="a")
    must = draft("must", "a/CLAUDE.md", depth=1, scope="a", kind="claude")
    gone = draft("gone", "b.md", kind="rules")
    snapshot = pinned(own, root, near, must, gone, words=(word(must, "mandatory"), word(gone, "excluded")), policy="")
    result = standing(snapshot, (), budget=10_000, share=0.4, optional_room=120)
    assert [i.id for i in result.included] == ["rule:a/CLAUDE.md", "rule:~/.gongfu/AGENTS.md", "rule:a/AGENTS.md"]
    assert [(o.id, o.reason) for o in result.omitted] == [("rule:b.md", "excluded"), ("rule:AGENTS.md", "budget")]
    assert [o.id for o in result.left_out] == ["rule:AGENTS.md"]
    assert result.text.startswith(PREFACE)
    assert result.text.index("must") < result.text.index("own") < result.text.index(">\nnear")
    assert "gone" not in result.text


def test_what_does_not_hold_here_yet_is_left_out_with_its_reason() -> None:
    nested = draft("n", "sub/AGENTS.md", depth=1, scope="sub", nested=True)
    narrow = draft("p", ".gongfu/rules/p.md", kind="rules", paths=("src/**",))
    snapshot = pinned(draft("x"), nested, narrow)
    result = standing(snapshot, (), budget=10_000, share=0.4, optional_room=0)
    assert [(o.id, o.reason) for o in result.omitted] == [
        ("rule:.gongfu/rules/p.md", "path"),
        ("rule:sub/AGENTS.md", "scope"),
    ]
    joined = standing(snapshot, ("sub/AGENTS.md", ".gongfu/rules/p.md"), budget=10_000, share=0.4, optional_room=0)
    assert len(joined.mandatory) == 3


def test_mandatory_rules_that_do_not_fit_are_refused_with_names_and_figures() -> None:
    snapshot = pinned(draft("x" * 8000), draft("y" * 400, "CLAUDE.md", kind="claude"))
    fits = standing(snapshot, (), budget=100_000, share=0.4, optional_room=0)
    needed = fits.mandatory_tokens
    exact = -(-needed * 10 // 4)
    assert standing(snapshot, (), budget=exact, share=0.4, optional_room=0).mandatory_tokens == needed
    with pytest.raises(Refusal) as raised:
        standing(snapshot, (), budget=exact - 3, share=0.4, optional_room=0)
    error = raised.value
    assert error.key == "rules.exceed_budget"
    assert error.code == 3
    text = str(error)
    assert text.startswith("RULES_EXCEED_BUDGET: ")
    assert "AGENTS.md (" in text
    assert f"{needed:,}" in text
    assert "Nothing was sent" in text


def test_rules_narrowed_to_places_nobody_touched_take_no_room() -> None:
    wide = draft("x" * 8000, ".gongfu/rules/a.md", kind="rules", paths=("src/**",))
    snapshot = pinned(wide, draft("y"))
    assert standing(snapshot, (), budget=1000, share=0.4, optional_room=0).mandatory_tokens < 400
    with pytest.raises(Refusal):
        standing(snapshot, (wide.path,), budget=1000, share=0.4, optional_room=0)


def test_the_note_of_what_joins_holds_its_envelopes_and_no_excluded_one() -> None:
    nested = draft("# A\nn\n# B\nm\n", "sub/AGENTS.md", depth=1, scope="sub", nested=True)
    words = (word(nested, "mandatory"), word(nested, "excluded", "B", sha256_of("# B\nm\n")))
    snapshot = pinned(draft("x"), nested, words=words, policy="")
    note, held = joining_note(snapshot, ("sub/AGENTS.md",))
    assert note.startswith(JOINED)
    assert [e.id for e in held] == ["rule:sub/AGENTS.md#A"]
    check_body(
        msgspec.json.encode([note, laid(snapshot)]), held, [e for e in envelopes(snapshot) if e.duty == "excluded"]
    )
    assert joining_note(snapshot, ()) == ("", ())
