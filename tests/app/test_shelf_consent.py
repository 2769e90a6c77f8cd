"""What tools on the shelf may do only after a person agreed to that very thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gongfu.models.scripted import Call, Say

from .cast import Cast, opened, results

pytestmark = pytest.mark.anyio


async def test_sessions_of_other_projects_are_told_of_and_exported_with_consent_only(tmp_path: Path) -> None:
    home = tmp_path / "own"
    ids: list[str] = []
    for name in ("one", "two"):
        work = tmp_path / name
        work.mkdir()
        asks = [("history", {"everywhere": True}), ("history", {})]
        asks += [
            (tool, {"session": ids[0], **more})
            for tool, more in (("history", {}), ("export_session", {"path": "s.md"}))
            if ids
        ]
        cast = Cast([*(Call("use_tool", {"name": n, "arguments": a}) for n, a in asks), Say("Done.")])
        async with opened(work, cast, home=home, yes=True) as app:
            session = await app.session()
            ids.append(session.id)
            await (await session.prompt("The pass phrase is sesame"))
        found = [r.status for r in results(cast.asked[""][-1])]
        assert found == ["refused", "done", *["refused"] * (2 if len(ids) == 2 else 0)]
    assert not (tmp_path / "two" / "s.md").exists()


async def test_a_check_that_was_changed_after_it_was_agreed_to_is_not_run(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    step = {"id": "a", "text": "t", "check": "true"}
    cast = Cast([Say("Done.")])
    async with opened(work, cast, home=tmp_path / "own") as app:
        session = await app.session()
        plan = session.kit.registry.get("plan")
        assert plan is not None
        await plan.run({"action": "create", "name": "p", "goal": "g", "steps": [step]}, None)  # type: ignore[arg-type]
        assert (await plan.facts({"action": "run", "name": "p"})).command == "true"
        changed = {"action": "replace", "name": "p", "step": "a", "steps": [step | {"check": "touch planted"}]}
        await plan.run(changed, None)  # type: ignore[arg-type]
        with pytest.raises(Exception, match="changed since the call was judged"):
            await plan.run({"action": "run", "name": "p"}, None)  # type: ignore[arg-type]
        await session.close()
    assert not (work / "planted").exists()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("batch", {"action": "replace", "glob": "**/*.py", "find": "one", "replace": "two"}),
        ("clean_comments", {"paths": ["."], "kind": "all"}),
    ],
)
async def test_files_that_came_after_a_change_was_agreed_to_are_not_changed(
    tmp_path: Path, name: str, args: dict[str, Any]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text("x = 1  # one\n")
    async with opened(work, Cast([Say("Done.")]), home=tmp_path / "own") as app:
        session = await app.session()
        tool = session.kit.registry.get(name)
        assert tool is not None
        facts = await tool.facts(args)
        assert facts.writes == (str(work / "a.py"),)
        (work / "b.py").write_text("y = 1  # one\n")
        with pytest.raises(Exception, match="when the call was judged"):
            await tool.run(args, None)  # type: ignore[arg-type]
        await tool.facts(args)
        await tool.run(args, None)  # type: ignore[arg-type]
        await session.close()
    assert "# one" not in (work / "a.py").read_text() + (work / "b.py").read_text()
