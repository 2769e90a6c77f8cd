"""Public bug row 46: secrets need consent on every path, also through commands whose words do not name them.

Each through the real agent loop and the real sandbox; nobody consents.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gongfu
from gongfu.core.events import Event, ToolFinished, TurnFinished
from gongfu.core.messages import ResultPart
from gongfu.models.scripted import SCRIPTED, Call, Say, Scripted
from tests.workspace.sandbox.scene import KINDS, need

pytestmark = pytest.mark.anyio
KEPT = "hunter2"
SECRET = f"TOKEN={KEPT}\n"
COMMANDS = (
    "cat .env",
    "cat .e*v",
    "cat alias",
    "x=.env; cat $x",
    "bash -c 'cat .env'",
    "python3 -c \"print(open('.env').read())\"",
    "grep -r TOKEN .",
    "grep -rn TOKEN",
    "find . -type f | xargs cat",
    "cat *  .*",
    "tar cf - . | strings | grep TOKEN",
    "cp .env b; cat b",
    "cp -r . copy; cat copy/.e* copy/deep/er/*",
    "ln deep/er/*.key k; cat k",
    "mv deep moved; cat moved/er/*; mv moved deep",
    "git init -q; git add -A; git diff --cached",
    "sed -n p .env",
    "head -c 100 < .env",
    "ln -s .env z; cat z",
    "cat out/notes",
    "cd ..; cat outside/notes",
    "rg TOKEN -uu",
    "awk 1 .env",
    "diff .env /dev/null",
    "while read l; do echo $l; done < .env",
    "source .env; echo $TOKEN",
    "od -c .env",
    "echo $(<.env)",
    "make -s",
    "python3 script.py",
    "sh script.sh",
    "cat beside/*; cat deep/er/* config/*",
)


async def session(root: Path, kind: str, mode: str, *calls: Call, extra: tuple[Path, ...] = ()) -> list[ResultPart]:
    """What came of the calls of a scripted model, one after the other; questions are answered no."""
    need(kind)
    home = root.parent / "g"
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(f"sandbox:\n  kind: {kind}\n")
    events: list[Event] = []
    env = {"PATH": os.environ["PATH"], "HOME": str(root.parent)}
    async with gongfu.open(
        root, home=home, env=env, model=SCRIPTED.ref, permission=mode, answers="no", add_dirs=extra,
        providers={SCRIPTED.ref: Scripted([step for call in calls for step in (call, Say("Done."))])},
    ) as app:  # fmt: skip
        one = await app.session()
        async with one.stream.subscribe(after=0) as entries:
            for _ in calls:
                await one.prompt("Go")
                async for entry in entries:
                    events.append(entry.event)
                    if isinstance(entry.event, TurnFinished):
                        break
    return [e.result for e in events if isinstance(e, ToolFinished)]


def sh(command: str) -> Call:
    return Call("shell", {"command": command})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "config").mkdir()
    (root / ".env").write_text(SECRET)
    (root / ".env.example").write_text("TOKEN=example\n")
    (root / "deep" / "er" / "server.key").write_text(SECRET)
    (root / "Makefile").write_text("all:\n\tcat .env\n")
    (root / "script.py").write_text("import os\nfor n in os.listdir('.'):\n  if n[0] == '.': print(open(n).read())\n")
    (root / "script.sh").write_text(". ./.env\necho $TOKEN\n")
    (root / "alias").symlink_to(".env")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes").write_text(SECRET)
    (outside / ".env").write_text(SECRET)
    (root / "out").symlink_to(outside)
    (root / "config" / "local").symlink_to(outside / ".env")
    (root / "beside").mkdir()
    os.link(root / ".env", root / "beside" / "plain")
    return root


@pytest.mark.parametrize("mode", ["auto", "edits", "ask", "plan"])
@pytest.mark.parametrize("kind", KINDS)
async def test_46_no_command_reads_a_secret_without_consent(root: Path, kind: str, mode: str) -> None:
    results = await session(root, kind, mode, *map(sh, COMMANDS))
    told = {c: (r.status, r.text) for c, r in zip(COMMANDS, results, strict=True)}
    assert {c: t for c, t in told.items() if KEPT in t[1]} == {}
    assert (root / ".env").read_text() == SECRET
    if mode == "auto":
        assert told["make -s"][0] == "failed"
        assert "secrets are closed to it (.env, " in told["make -s"][1]


async def test_46_a_secret_is_open_to_the_command_that_made_it_and_to_one_that_was_consented_to(root: Path) -> None:
    """An example is no secret, what a command makes is its own, and what failed quietly is told, too."""
    results = await session(
        root,
        "bwrap",
        "auto",
        sh("cat .env.ex*; make -s || true"),
        sh("cp .env.example new.env; cat $(echo new.env)"),
        sh("x=new; cat $x.e?v"),
        sh("cat $(printf .%s env); printf 'exit %s' $?"),
    )
    assert "TOKEN=example" in results[0].text
    assert "secrets are closed to it (.env, " in results[0].text
    assert [KEPT in r.text for r in results] == [False] * 4
