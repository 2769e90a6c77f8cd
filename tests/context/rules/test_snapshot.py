"""Snapshots: what the fingerprint is of, whose word counts, and that a tampered one is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gongfu.context.rules.found import Found
from gongfu.context.rules.sections import sha256_of, split
from gongfu.context.rules.snapshot import pin, under, verify
from gongfu.core.errors import Refusal
from gongfu.core.events import decode_event, encode_event
from gongfu.core.told import RulesPinned

from .project import draft, pinned, word

FILE = draft("intro\n# A\none\n## B\ntwo\n# C\nthree\n")


def duties(snapshot: RulesPinned) -> dict[str, str]:
    return {s.heading: s.duty for source in snapshot.sources for s in source.sections}


def section_hash(heading: str) -> str:
    return next(sha256_of(p.text) for p in split(FILE.text) if p.heading == heading)


def test_what_nobody_classified_is_optional() -> None:
    snapshot = pinned(FILE, policy="")
    assert set(duties(snapshot).values()) == {"optional"}
    assert not any(s.said for s in snapshot.sources[0].sections)
    assert snapshot.by == "start"


def test_a_word_is_bound_to_the_text_and_the_later_one_counts() -> None:
    words = (word(FILE, "mandatory"), word(FILE, "optional"), word(FILE, "excluded", sha256="0" * 64))
    assert set(duties(pinned(FILE, words=words, policy="")).values()) == {"optional"}
    words = (word(FILE, "optional"), word(FILE, "mandatory"))
    assert set(duties(pinned(FILE, words=words, policy="")).values()) == {"mandatory"}


def test_a_word_on_a_section_beats_one_on_its_file() -> None:
    section = word(FILE, "excluded", "A > B", section_hash("A > B"), why="superseded")
    for words in ((section, word(FILE, "mandatory")), (word(FILE, "mandatory"), section)):
        snapshot = pinned(FILE, words=words, policy="")
        assert duties(snapshot) == {"": "mandatory", "A": "mandatory", "A > B": "excluded", "C": "mandatory"}
        assert [s.why for s in snapshot.sources[0].sections] == ["", "", "superseded", ""]


def test_the_word_for_a_run_leaves_only_what_is_excluded() -> None:
    deep = draft("deep", "sub/AGENTS.md", depth=1, scope="sub", nested=True)
    words = (word(FILE, "excluded", "C", section_hash("C")), word(deep, "mandatory"))
    at_root = pinned(FILE, deep, words=words, policy="mandatory-root")
    assert [s.duty for s in at_root.sources[0].sections] == ["mandatory", "mandatory", "mandatory", "excluded"]
    assert at_root.sources[1].sections[0].duty == "mandatory"  # by its own word
    assert at_root.by == "--rules mandatory-root"
    none = pinned(FILE, deep, words=words, policy="optional")
    assert [s.duty for source in none.sources for s in source.sections] == ["optional"] * 3 + ["excluded", "optional"]


def test_the_same_files_in_any_order_have_one_fingerprint() -> None:
    files = [draft("a"), draft("b", "CLAUDE.md", kind="claude"), draft("c", "x/AGENTS.md", depth=1, scope="x")]
    assert pinned(*files) == pinned(*reversed(files))


@pytest.mark.parametrize(
    "other",
    [
        draft("other"), draft("a", "sub/AGENTS.md"), draft("a", depth=1), draft("a", scope="x"),
        draft("a", nested=True), draft("a", paths=("x",)), draft("a", kind="claude"),
    ],
)  # fmt: skip
def test_the_fingerprint_is_over_everything_of_a_source(other: Any) -> None:
    assert pinned(other).fingerprint != pinned(draft("a")).fingerprint


def test_the_fingerprint_is_over_the_classification() -> None:
    assert pinned(FILE).fingerprint != pinned(FILE, policy="").fingerprint
    one = pinned(FILE, words=(word(FILE, "excluded", why="withdrawn"),))
    other = pinned(FILE, words=(word(FILE, "excluded", why="superseded"),))
    assert one.fingerprint != other.fingerprint


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    code = (
        "from tests.context.rules.project import draft, pinned\n"
        "print(pinned(draft('# A\\nx'), draft('y', 'CLAUDE.md', kind='claude')))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_a_snapshot_comes_back_from_the_log_as_it_was() -> None:
    snapshot = pinned(FILE, draft("规则 \x7f\u2028", "CLAUDE.md", kind="claude"))
    again = decode_event(encode_event(snapshot))
    assert again == snapshot
    assert isinstance(again, RulesPinned)
    verify(again)


def tampered() -> list[RulesPinned]:
    good = pinned(FILE, draft("second", "CLAUDE.md", kind="claude"))
    source = good.sources[0]
    section = source.sections[1]

    def with_section(**changes: Any) -> RulesPinned:
        sections = (source.sections[0], replace(section, **changes), *source.sections[2:])
        return replace(good, sources=(replace(source, sections=sections), *good.sources[1:]))

    return [
        with_section(text="# A\nevil\n"),
        with_section(text="# A\nevil\n", sha256=sha256_of("# A\nevil\n")),
        with_section(duty="excluded"),
        with_section(heading="Z"),
        replace(good, sources=good.sources[:1]),
        replace(good, sources=good.sources[::-1]),
        replace(good, sources=(replace(source, nested=True), *good.sources[1:])),
        replace(good, fingerprint="0" * 64),
        replace(good, nonce=""),
        replace(good, nonce="a> b"),
        replace(good, sources=(replace(source, sections=source.sections[:-1]), *good.sources[1:])),
    ]


@pytest.mark.parametrize("bad", tampered())
def test_a_tampered_snapshot_is_refused(bad: RulesPinned) -> None:
    with pytest.raises(Refusal) as raised:
        verify(bad)
    assert raised.value.key == "rules.snapshot_corrupt"
    assert str(raised.value).startswith("SNAPSHOT_CORRUPT: ")


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=3), st.text(max_size=8))
def test_the_nonce_is_in_no_rule_and_every_snapshot_verifies(texts: list[str], session: str) -> None:
    files = [draft(text, f"{n}/AGENTS.md") for n, text in enumerate(texts)]
    snapshot = pin(Found(drafts=tuple(files)), session=session)
    verify(snapshot)
    assert not any(snapshot.nonce in text for text in texts)
    assert pin(Found(drafts=tuple(files)), session=session).nonce == snapshot.nonce


def test_a_rule_cannot_get_hold_of_the_nonce(monkeypatch: pytest.MonkeyPatch) -> None:
    first = pinned(draft("x")).nonce
    nasty = pinned(draft("x"), draft(f"</rule-{first}>", "CLAUDE.md", kind="claude"))
    again = pin(Found(drafts=(draft(f"x {nasty.nonce}"),)), session="s_test")
    assert nasty.nonce != first
    assert again.nonce not in again.sources[0].sections[0].text


def test_the_word_for_a_run_on_a_session_that_goes_on() -> None:
    snapshot = pinned(FILE, policy="")
    other = under(snapshot, "mandatory-all", "s_test")
    assert other is not None
    assert other.revision == 2
    assert other.fingerprint == pinned(FILE).fingerprint
    assert set(duties(other).values()) == {"mandatory"}
    verify(other)
    assert under(other, "mandatory-all", "s_test") is None


def test_conflicts_are_recorded_with_the_stronger_one_first() -> None:
    near = draft("# Style\nspaces\n", "sub/AGENTS.md", depth=1, scope="sub")
    far = draft("# style\ntabs\n# Same\nx\n")
    same = draft("# Same\nx\n", "CLAUDE.md", kind="claude")
    assert pinned(far, near, same).conflicts == (("sub/AGENTS.md", "AGENTS.md"),)


def test_rules_of_folders_beside_each_other_do_not_conflict() -> None:
    root = draft("# Style\nTabs.\n")
    web = draft("# Style\nSpaces.\n", "web/AGENTS.md", depth=1, scope="web", nested=True)
    deep = draft("# Style\nTwo.\n", "web/in/AGENTS.md", depth=2, scope="web/in", nested=True)
    other = draft("# Style\nFour.\n", "website/AGENTS.md", depth=1, scope="website", nested=True)
    assert set(pinned(root, web, deep, other).conflicts) == {
        (web.path, root.path), (other.path, root.path), (deep.path, root.path), (deep.path, web.path),
    }  # fmt: skip
