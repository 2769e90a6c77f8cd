"""Snapshots over the life of a session: refresh, resume after a kill, a contract that changed, a tampered log."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import anyio
import pytest

from gongfu.app.rule_view import look
from gongfu.app.rule_words import UNPINNED, note_answer, refresh, review, unasked
from gongfu.app.rules import find_rules
from gongfu.context.rules.found import Draft, Found
from gongfu.context.rules.sections import sha256_of
from gongfu.context.rules.snapshot import pin
from gongfu.core.errors import Refusal
from gongfu.core.events import AnswerReceived, EpochOpened, ToolStarted, WarningRaised, encode_event
from gongfu.core.told import RulesPinned
from gongfu.models.scripted import Call, Say, serve

from .ruled import ask, counts, events, opened, project, receipts_of, refreshed, say, snapshot, write

pytestmark = pytest.mark.anyio


def pins(happened: list[object]) -> list[RulesPinned]:
    return [e for e in happened if isinstance(e, RulesPinned)]


async def test_a_refresh_holds_from_the_next_request_on_and_revisions_are_kept(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    async with serve([Say("One."), Say("Two.")]) as server, opened(work, server, rules="mandatory-all") as app:
        id = await ask(app, "First.")
        old = snapshot(app, id)
        write(work, {"AGENTS.md": "Use spaces.\n", "CLAUDE.md": "Be brief.\n"})
        new = await refreshed(app, id)
        await ask(app, "Second.", id)
        happened = events(app, id)
        sent = receipts_of(app, id)
    assert [p.revision for p in pins(happened)] == [1, 2]
    assert pins(happened) == [old, new]
    assert new.by == "refresh --rules mandatory-all"
    assert counts(old, server.requests) == {"AGENTS.md": [1, 0]}
    assert counts(new, server.requests) == {"AGENTS.md": [0, 1], "CLAUDE.md": [0, 1]}
    assert [r.rules for r in sent] == [old.fingerprint, new.fingerprint]
    assert [e.reason for e in happened if isinstance(e, EpochOpened)] in ([], ["rules"])
    assert sent[1].broke in ("rules", "epoch")


async def test_a_refresh_is_rejected_while_a_turn_runs_and_when_it_is_stale(
    tmp_path: Path,
) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    steps = [Say("One."), Call("shell", {"command": "until [ -e go ]; do sleep 0.05; done"}), Say("Two.")]
    async with serve(steps) as server, opened(work, server, rules="mandatory-all") as app:
        id = await ask(app, "First.")
        old = snapshot(app, id)
        session = await app.session(id)
        write(work, {"AGENTS.md": "Use spaces.\n"})
        seen = review(app, session)
        pair = {"old": seen.pinned.fingerprint, "new": seen.live.fingerprint}

        running = await session.prompt("Second.")
        while not any(isinstance(e, ToolStarted) for e in events(app, id)):
            await anyio.sleep(0.01)
        with pytest.raises(Refusal) as raised:
            refresh(app, session, **pair)
        assert raised.value.key == "rules.changed_running"
        write(work, {"go": ""})
        with anyio.fail_after(20):
            await running

        with pytest.raises(Refusal) as raised:
            refresh(app, session, old="f" * 64, new=pair["new"])
        assert raised.value.key == "rules.refresh_stale_pinned"
        write(work, {"AGENTS.md": "Use both.\n"})
        with pytest.raises(Refusal) as raised:
            refresh(app, session, **pair)
        assert raised.value.key == "rules.refresh_stale_live"
        assert pins(events(app, id)) == [old]
    assert counts(old, server.requests) == {"AGENTS.md": [1, 1, 1]}


async def test_after_a_kill_the_same_snapshot_holds_and_the_waiting_tool_runs_once(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    steps = [Call("shell", {"command": "echo ran >> log"}), Say("Done."), Say("Done again.")]
    async with serve(steps) as server, opened(work, server, rules="mandatory-all") as app:
        id = await ask(app, "Go.")
        pinned = snapshot(app, id)
        answered = next(e.seq for e in app.journal.read(id) if isinstance(e.event, AnswerReceived))
        (work / "log").unlink()
        write(work, {"AGENTS.md": "Something else.\n"})
        cut = await (await app.session(id)).fork(answered)  # the log as a kill behind the answer leaves it
        with anyio.fail_after(20):
            finished = await (await cut.prompt(""))
        again = snapshot(app, cut.id)
    assert finished.status == "done"
    assert (work / "log").read_text() == "ran\n"
    assert again == pinned
    assert counts(pinned, server.requests) == {"AGENTS.md": [1, 1, 1]}
    assert server.requests[2].raw == server.requests[1].raw  # not a byte is different after the resume


async def test_a_call_made_under_other_rules_does_not_run(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    steps = [Call("shell", {"command": "echo ran >> log"}), Say("Done."), Say("Anew.")]
    async with serve(steps) as server, opened(work, server, rules="mandatory-all") as app:
        id = await ask(app, "Go.")
        answered = next(e.seq for e in app.journal.read(id) if isinstance(e.event, AnswerReceived))
        (work / "log").unlink()
        cut = await (await app.session(id)).fork(answered)
        write(work, {"AGENTS.md": "Never run commands.\n"})
        new = await refreshed(app, cut.id)
        with anyio.fail_after(20):
            finished = await (await cut.prompt(""))
        started = [e for e in events(app, cut.id) if isinstance(e, ToolStarted)]
        assert (finished.status, finished.reason) == ("refused", "rules.origin_mismatch")
        assert not started
        assert not (work / "log").exists()
        assert len(server.requests) == 2
        await ask(app, "Go on.", cut.id)  # the history is kept, and the model decides anew
        (result,) = [r for m in (await app.session(cut.id)).messages for r in m.results]
    assert (result.status, result.text.startswith("Not run: ")) == ("refused", True)
    assert "rules" in result.text
    assert counts(new, server.requests) == {"AGENTS.md": [0, 0, 1]}


async def test_a_call_that_never_began_is_not_said_to_have_had_effects(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    steps = [Call("shell", {"command": "echo ran"}), Say("Done."), Say("Anew.")]
    async with serve(steps) as server, opened(work, server, rules="mandatory-all") as app:
        id = await ask(app, "Go.")
        answered = next(e.seq for e in app.journal.read(id) if isinstance(e.event, AnswerReceived))
        cut = await (await app.session(id)).fork(answered)
        await ask(app, "Something else.", cut.id)
        (result,) = [r for m in (await app.session(cut.id)).messages for r in m.results]
    assert (result.status, result.text.startswith("Not run: ")) == ("interrupted", True)


@pytest.mark.parametrize("what", ["text", "duty", "nonce"])
async def test_a_tampered_snapshot_is_refused(tmp_path: Path, what: str) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    async with serve([Say("One.")]) as server:
        async with opened(work, server, rules="mandatory-all") as app:
            id = await ask(app, "First.")
            nonce = snapshot(app, id).nonce
        old, new = {
            "text": ("Use tabs.", "Use evil."), "duty": ('"mandatory"', '"excluded"'), "nonce": (f'"{nonce}"', '"Use"'),
        }[what]  # fmt: skip
        with sqlite3.connect(tmp_path / "home" / "gongfu.db") as db:
            changed = db.execute(
                "UPDATE event SET data = replace(data, ?, ?) WHERE data LIKE '%rules_pinned%'", (old, new)
            ).rowcount
        db.close()
        assert changed == 1
        async with opened(work, server) as app:
            session = await app.session(id)
            before = len(events(app, id))
            with pytest.raises(Refusal) as raised:
                await session.prompt("Second.")
            assert len(events(app, id)) == before
            assert raised.value.key == "rules.snapshot_corrupt"
            await refreshed(app, id)  # what the refusal says to do helps
    assert len(server.requests) == 1


@pytest.mark.parametrize("what", ["text", "duty", "unreadable", "gone", "another"])
@pytest.mark.parametrize("rules", ["", "optional"])
async def test_a_session_that_lost_its_snapshot_sends_nothing_until_a_refresh(
    tmp_path: Path, what: str, rules: str
) -> None:
    """Also when the disk still is what was pinned, so that there is no difference to show."""
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    async with serve([Say("One."), Say("Two.")]) as server:
        async with opened(work, server, rules="mandatory-all") as app:
            id = await ask(app, "First.")
            first = snapshot(app, id)
        text, duty = first.sources[0].sections[0].text, '"duty":"mandatory"'
        other = pin(Found(drafts=(found_text("Use evil."),)), session=id, policy="mandatory-all")
        put = {
            "text": "replace(data, 'Use tabs.', 'Use evil.')",
            "duty": f"replace(data, '{duty}', '\"duty\":\"excluded\"')",
            "unreadable": "substr(data, 1, 90)",
            "another": f"'{encode_event(other).decode()}'",
        }  # fmt: skip
        change = "DELETE FROM event" if what == "gone" else f"UPDATE event SET data = {put[what]}"
        with sqlite3.connect(tmp_path / "home" / "gongfu.db") as db:
            assert db.execute(f"{change} WHERE data LIKE '%rules_pinned%'").rowcount == 1
        db.close()
        with pytest.raises(Refusal) as raised:
            async with opened(work, server, rules=rules) as app:
                await (await app.session(id)).prompt("Second.")
        assert raised.value.key == "rules.snapshot_corrupt"
        assert len(server.requests) == 1
        async with opened(work, server) as app:
            assert look(app, id).corrupt
            seen = review(app, await app.session(id))
            assert seen.corrupt
            await refreshed(app, id)
            assert not look(app, id).corrupt
            await ask(app, "Second.", id)
            last = snapshot(app, id)
    assert text == last.sources[0].sections[0].text
    assert counts(last, server.requests)["AGENTS.md"][-1] == 1


def found_text(text: str) -> Draft:
    return Draft(path="AGENTS.md", kind="agents", depth=0, scope=".", text=text, sha256=sha256_of(text))


async def test_the_word_for_a_run_holds_for_a_session_that_goes_on(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    async with serve([Say("One."), Say("Two."), Say("Three.")]) as server:
        async with opened(work, server) as app:
            id = await ask(app, "First.")
            first = snapshot(app, id)
        write(work, {"AGENTS.md": "Use spaces.\n"})
        async with opened(work, server, rules="mandatory-all") as app:
            await ask(app, "Second.", id)
            second = snapshot(app, id)
        async with opened(work, server) as app:
            await ask(app, "Third.", id)
            assert snapshot(app, id) == second
    assert first.sources[0].sections[0].duty == "optional"
    assert second.sources[0].sections[0].duty == "mandatory"
    assert second.sources[0].sections[0].text == "Use tabs.\n"  # the flag says what holds, not which text
    assert second.by == "--rules mandatory-all"
    assert counts(second, server.requests) == {"AGENTS.md": [0, 1, 1]}


async def test_a_changed_text_counts_as_unclassified_unless_its_duty_is_kept(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    async with serve([Say("One."), Say("Two.")]) as server, opened(work, server) as app:
        say(app, AGENTS_md="mandatory")
        id = await ask(app, "First.")
        write(work, {"AGENTS.md": "Use spaces.\n"})
        other = await ask(app, "A new session.")
        told = [e for e in events(app, other) if isinstance(e, WarningRaised)]
        assert [(w.key, w.values) for w in told] == [("rules.outgrown", {"rules": "AGENTS.md"})]
        assert snapshot(app, other).sources[0].sections[0].duty == "optional"
        session = await app.session(id)
        assert review(app, session).live.sources[0].sections[0].duty == "optional"
        kept = await refreshed(app, id, keep=True)
        assert kept.sources[0].sections[0].duty == "mandatory"
        assert not review(app, await app.session(other)).outgrown  # the word is remembered


@pytest.mark.parametrize("then", ["changed", "excluded", "removed"])
async def test_after_a_refresh_the_note_of_a_rule_that_had_joined_is_no_longer_sent(tmp_path: Path, then: str) -> None:
    work = project(tmp_path, {"AGENTS.md": "Root.\n", "web/AGENTS.md": "Web: old words.\n", "web/a.js": "1\n"})
    steps = [Call("read_file", {"path": "web/a.js"}), Say("One."), Say("Two."), Say("Three.")]
    async with serve(steps) as server, opened(work, server) as app:
        say(app, AGENTS_md="mandatory", web__AGENTS_md="mandatory")
        id = await ask(app, "First.")
        old = snapshot(app, id)
        if then == "changed":
            write(work, {"web/AGENTS.md": "Web: new words.\n"})
        if then == "removed":
            (work / "web" / "AGENTS.md").unlink()
        else:
            say(app, web__AGENTS_md="excluded" if then == "excluded" else "mandatory")
        new = await refreshed(app, id)
        await ask(app, "Second.", id)
        await ask(app, "Third.", id)
    assert counts(old, server.requests) == {"AGENTS.md": [1, 1, 0, 0], "web/AGENTS.md": [0, 1, 0, 0]}
    found = counts(new, server.requests)
    assert found.pop("AGENTS.md") == [0, 0, 1, 1]
    assert found == {
        "changed": {"web/AGENTS.md": [0, 0, 1, 1]}, "excluded": {"web/AGENTS.md": [0, 0, 0, 0]}, "removed": {},
    }[then]  # fmt: skip
    assert all(b"old words" not in r.raw for r in server.requests[2:])


async def test_rules_that_come_later_and_rules_that_go(tmp_path: Path) -> None:
    work = project(tmp_path, {})
    async with serve([Say("One."), Say("Two."), Say("Three.")]) as server, opened(work, server) as app:
        id = await ask(app, "First.")
        assert not pins(events(app, id))
        write(work, {"AGENTS.md": "Use tabs.\n"})
        say(app, AGENTS_md="mandatory")
        assert review(app, await app.session(id)).pinned.fingerprint == UNPINNED
        pinned = await refreshed(app, id)
        await ask(app, "Second.", id)
        (work / "AGENTS.md").unlink()
        gone = await refreshed(app, id)
        await ask(app, "Third.", id)
    assert counts(pinned, server.requests) == {"AGENTS.md": [0, 1, 0]}
    assert gone.sources == ()


async def test_a_refresh_looks_from_the_folder_that_the_session_began_in(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Root.\n", "a/AGENTS.md": "A.\n", "b/AGENTS.md": "B.\n"})
    async with serve([Say("One."), Say("Two.")]) as server:
        async with opened(work, server, rules="mandatory-all", directory="a") as app:
            id = await ask(app, "First.")
        async with opened(work, server, directory="b") as app:
            assert look(app, id).live == snapshot(app, id).fingerprint
            assert not review(app, await app.session(id)).due
            write(work, {"AGENTS.md": "Root anew.\n"})
            new = await refreshed(app, id)
            await ask(app, "Second.", id)
    assert counts(new, server.requests) == {"AGENTS.md": [0, 1], "a/AGENTS.md": [0, 1], "b/AGENTS.md": [0, 0]}


@pytest.mark.parametrize(
    ("answer", "duties"),
    [
        ("mandatory-root", ["mandatory", "optional"]),
        ("mandatory-all", ["mandatory", "mandatory"]),
        ("optional", ["optional", "optional"]),
    ],
)
async def test_a_project_is_asked_about_once(tmp_path: Path, answer: str, duties: list[str]) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n", "web/AGENTS.md": "Web.\n"})
    async with serve([Say("One.")]) as server:
        async with opened(work, server) as app:
            found = unasked(app)
            assert found is not None
            note_answer(app, answer, found)  # type: ignore[arg-type]
        async with opened(work, server) as app:
            assert unasked(app) is None
            id = await ask(app, "Go.")
            pinned = snapshot(app, id)
    assert [s.sections[0].duty for s in pinned.sources] == duties
    assert all(s.sections[0].said for s in pinned.sources)


async def test_nobody_is_asked_where_there_are_no_rules_or_something_was_said(tmp_path: Path) -> None:
    work = project(tmp_path, {})
    async with serve([]) as server, opened(work, server) as app:
        assert unasked(app) is None
        write(work, {"AGENTS.md": "Use tabs.\n"})
        assert unasked(app) == find_rules(app)
        say(app, AGENTS_md="optional")
        assert unasked(app) is None
