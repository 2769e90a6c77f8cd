"""What changed since the rules were pinned, and which confirmations count."""

from __future__ import annotations

import pytest

from gongfu.context.rules.changes import changes, check_refresh
from gongfu.context.rules.found import Found, Misfit
from gongfu.context.rules.sections import sha256_of
from gongfu.context.rules.wording import outgrown, policy_of, words_for
from gongfu.core.errors import Refusal, UsageError

from .project import draft, pinned, word

OLD = draft("# A\none\n# B\ntwo\n")
NEW = draft("# A\none\n# B\nthree\n")


def test_each_file_is_told_with_its_diff() -> None:
    gone, come = draft("gone\n", "x.md", kind="rules"), draft("come\n", "y.md", kind="rules")
    found = changes(pinned(OLD, gone), pinned(NEW, come))
    assert {c.path: c.kind for c in found} == {"AGENTS.md": "changed", "x.md": "removed", "y.md": "added"}
    lines = next(c.diff for c in found if c.path == "AGENTS.md")
    assert "-two" in lines
    assert "+three" in lines
    assert changes(pinned(OLD), pinned(OLD)) == ()


def test_another_classification_is_a_change_too() -> None:
    (change,) = changes(pinned(OLD), pinned(OLD, policy=""))
    assert (change.kind, change.before, change.after, change.diff) == ("classified", "mandatory", "optional", ())


@pytest.mark.parametrize(
    ("old", "new", "running", "key"),
    [
        ("ok", "ok", True, "rules.changed_running"),
        ("0" * 64, "ok", False, "rules.refresh_stale_pinned"),
        ("", "ok", False, "rules.refresh_stale_pinned"),
        ("ok", "0" * 64, False, "rules.refresh_stale_live"),
        ("ok", "short", False, "rules.refresh_stale_live"),
    ],
)
def test_a_confirmation_names_both_fingerprints_and_nothing_runs(old: str, new: str, running: bool, key: str) -> None:
    before, after = pinned(OLD), pinned(NEW)
    first = before.fingerprint[:12] if old == "ok" else old
    second = after.fingerprint[:12] if new == "ok" else after.fingerprint[:7] if new == "short" else new
    with pytest.raises(Refusal) as raised:
        check_refresh(before, after, old=first, new=second, running=running)
    assert raised.value.key == key
    assert str(raised.value).startswith(("RULES_CHANGED", "REFRESH_STALE"))
    check_refresh(before, after, old=before.fingerprint, new=after.fingerprint[:8])


def test_a_word_on_a_text_that_changed_is_told() -> None:
    words = (word(OLD, "optional"), word(OLD, "mandatory"), word(OLD, "excluded", "B", sha256_of("# B\ntwo\n")))
    old = outgrown(pinned(NEW, words=words, policy=""), words)
    assert [(o.heading, o.duty, o.sha256) for o in old] == [
        ("", "mandatory", NEW.sha256),
        ("B", "excluded", sha256_of("# B\nthree\n")),
    ]
    assert outgrown(pinned(OLD, words=words, policy=""), words) == ()
    assert outgrown(pinned(NEW, words=(word(OLD, "optional"),), policy=""), (word(OLD, "optional"),)) == ()


FOUND = Found(
    drafts=(draft("# Top\nx\n## Build\ny\n## Style\nz\n# Build\n"), draft("v", "vendor/a/AGENTS.md", depth=2)),
    misfits=(Misfit(path="big/AGENTS.md", reason="size", sha256="b" * 64),),
    ignored=(("e/AGENTS.md", "empty"), ("CLAUDE.md", "same")),
)


@pytest.mark.parametrize(
    ("names", "heading", "said"),
    [
        (["AGENTS.md"], "", [("AGENTS.md", "")]),
        (
            ["nope", "AGENTS.md"],
            "top",
            [("AGENTS.md", "Top"), ("AGENTS.md", "Top > Build"), ("AGENTS.md", "Top > Style")],
        ),
        (["AGENTS.md"], "style", [("AGENTS.md", "Top > Style")]),
        (["AGENTS.md"], "Top>Build", [("AGENTS.md", "Top > Build")]),
        (["AGENTS.md"], "build", [("AGENTS.md", "Build")]),
        (["vendor/**"], "", [("vendor/a/AGENTS.md", "")]),
        (["**/AGENTS.md"], "", [("AGENTS.md", ""), ("vendor/a/AGENTS.md", ""), ("big/AGENTS.md", "")]),
    ],
)
def test_what_is_meant_by_a_path_and_a_heading(names: list[str], heading: str, said: list[tuple[str, str]]) -> None:
    words = words_for(FOUND, names, heading, "excluded", at=1.0, by="test")
    assert [(w.path, w.heading) for w in words] == said
    assert all(len(w.sha256) == 64 for w in words)


@pytest.mark.parametrize(
    ("names", "heading", "key"),
    [
        (["nope"], "", "rules.no_rule"),
        (["e/AGENTS.md"], "", "rules.no_rule_empty"),
        (["CLAUDE.md"], "", "rules.no_rule_same"),
        (["big/AGENTS.md"], "", "rules.only_excluded"),
        (["AGENTS.md"], "nope", "rules.no_section"),
    ],
)
def test_what_is_not_there_is_told(names: list[str], heading: str, key: str) -> None:
    with pytest.raises(UsageError) as raised:
        words_for(FOUND, names, heading, "mandatory", at=1.0, by="test")
    assert raised.value.key == key
    assert str(raised.value)


def test_the_word_for_a_run_is_read_back() -> None:
    assert policy_of("--rules mandatory-all") == "mandatory-all"
    assert policy_of("refresh --rules optional") == "optional"
    assert policy_of("start") == policy_of("--rules nonsense") == ""
