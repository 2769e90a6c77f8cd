"""What a fold takes out of view: the tools know that it is gone, and recall brings it back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

import gongfu
from gongfu.core.events import EpochOpened, ToolFinished
from gongfu.models.scripted import SCRIPTED, Call, Say, Scripted

pytestmark = pytest.mark.anyio

FILES = 24


def page(number: int) -> str:
    return "".join(f"page {number} line {n}: the value of {number * 1000 + n} is kept\n" for n in range(70))


def opened(tmp_path: Path, steps: list[Any], *, window: int = 21_000) -> tuple[Any, Scripted]:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    for number in range(FILES):
        (work / f"p{number}.txt").write_text(page(number))
    model = Scripted(steps, info=msgspec.structs.replace(SCRIPTED, window=window))
    app = gongfu.open(
        work, home=tmp_path / "g", env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, model=SCRIPTED.ref,
        permission="full", answers="no", providers={SCRIPTED.ref: model},
    )  # fmt: skip
    return app, model


def reads() -> list[Call]:
    return [Call("read_file", {"path": f"p{number}.txt"}) for number in range(FILES)]


async def play(app: Any, *prompts: str) -> tuple[list[Any], Any]:
    async with app:
        session = await app.session()
        for prompt in prompts:
            end = await (await session.prompt(prompt))
            assert end.status == "done", (end.reason, end.values)
        events = [entry.event for entry in app.journal.read(session.id)]
        return events, session


async def test_a_file_whose_text_was_folded_is_not_written_over_blindly(tmp_path: Path) -> None:
    overwrite = Call("write_file", {"path": "p0.txt", "content": "new\n"})
    newest = Call("write_file", {"path": f"p{FILES - 1}.txt", "content": "new\n"})
    steps = [*reads(), overwrite, Call("read_file", {"path": "p0.txt"}), overwrite, newest, Say("Done.")]
    app, model = opened(tmp_path, steps)
    events, _ = await play(app, "Read them all")
    assert any(isinstance(e, EpochOpened) for e in events)
    results = {e.call: e.result for e in events if isinstance(e, ToolFinished)}
    refused, again, written, last = (results[f"c{FILES + n}"] for n in (1, 2, 3, 4))
    assert refused.status == "failed"
    assert "you have not read it" in refused.text
    assert "page 0 line 69" in again.text
    assert written.status == "done"
    assert last.status == "done"  # its text is still in view
    model.finish()


async def test_a_folded_result_comes_back_by_its_call(tmp_path: Path) -> None:
    steps = [
        *reads(), Call("recall", {"id": "c1"}), Call("recall", {"query": "value of 3007"}), Say("Done."),
    ]  # fmt: skip
    app, model = opened(tmp_path, steps)
    events, session = await play(app, "Read them all")
    epochs = [e for e in events if isinstance(e, EpochOpened)]
    assert epochs
    last = model.requests[-1].messages
    shown = "\n".join(r.text for m in last for r in m.results if r.call_id not in {f"c{FILES + 1}", f"c{FILES + 2}"})
    assert "page 0 line 35" not in shown  # it was folded, and is there only as recalled
    back = {r.call_id: r.text for m in last for r in m.results}
    head, *lines = back[f"c{FILES + 1}"].split("\n")
    assert head.startswith("[recalled, as it was then: call c1 read_file p0.txt in turn 0")
    assert [line.partition("|")[2] for line in lines[2:]] == page(0).splitlines()
    found = back[f"c{FILES + 2}"]
    assert "- call c4 read_file p3.txt in turn 0: recall id=c4 offset=" in found
    assert "page 3 line 7: the value of 3007 is kept" in found
    assert session.state.context.view.epoch == epochs[-1].epoch
