#!/usr/bin/env python3
"""What is forgotten: 40 constraints of the person, 200 facts in tool results and a rule, over five folds and the deterministic summary.

    python benchmarks/context/forgetting.py [WINDOW]

Gongfu runs whole against a scripted model over HTTP on loopback. Constraints stand among other words of the person, in English and in
Chinese, with and without words such as "never"; facts are single lines somewhere in the output of commands. Looked at are the last request
that the server received, and what `recall` shows when asked for a fact by what it is about (8 places, as for a model). The session ends
with the turn in which the fifth fold happened, at the least.

Targets: all of the rule and at least 95% of the person's constraints are still in the request; at least 80% of the facts come back.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from pathlib import Path

import coding
from coding import Turn
from reuse import CONFIG, OUTPUT

import gongfu
from gongfu.core.events import EpochOpened
from gongfu.models.scripted import Call, serve
from gongfu.toolkit.past import Past
from gongfu.toolkit.recollect import search

RULE = "Every public function of this project has a docstring in British English."
TURNS, WISHES, FACTS, FOLDS = 40, 40, 200, 5
ROOM = 8192
WORDED = (  # with what it is about, and what must not be forgotten of it
    ("Never use a port other than {n} for the {noun} service.", "port of the {noun} service"),
    ("The {noun} table must keep its column {code}.", "column of the {noun} table"),
    ("We support {noun} clients from version {n} on, nothing older.", "oldest version of {noun} clients"),
    ("Call the new {noun} flag {code}, please.", "name of the new {noun} flag"),
    ("I prefer {code} over anything else for {noun} ids.", "what is preferred for {noun} ids"),
    ("Requests to {noun} are limited to {n} a minute.", "limit of requests to {noun}"),
    ("Don't touch the folder legacy/{code} when you work on {noun}.", "folder not to touch for {noun}"),
    ("{noun} 的超时时间必须是 {n} 秒，不能改。", "{noun} 的超时时间"),
    ("{noun} 的配置只能放在 {code} 里面。", "{noun} 的配置放在哪里"),
    ("以后 {noun} 的分支都叫 {code}。", "{noun} 的分支名"),
)
FOUND = (
    ("migration of {noun}_{m} moved {n} rows", "rows that the migration of {noun}_{m} moved"),
    ("{noun}_{m}: owner is {code}", "owner of {noun}_{m}"),
    ("checksum of {noun}_{m}.tar is {code}", "checksum of {noun}_{m}.tar"),
    ("FAILED tests/test_{noun}_{m}.py: expected {n}", "failure of test_{noun}_{m}"),
    ("{noun}_{m} 的缓存命中率为 {n}", "{noun}_{m} 的缓存命中率"),
)


class Plant:
    """A thing to remember: the sentence, its core that cannot be guessed, and the question for it."""

    def __init__(self, dice: random.Random, worded: tuple[str, str], number: int) -> None:
        n = dice.randrange(10_000, 99_999)
        words = {
            "noun": coding.NAMES[number % len(coding.NAMES)],
            "n": n,
            "m": number,
            "code": f"{dice.choice('bdkmrt')}{dice.choice('aeiou')}x{n}",
        }
        self.text, self.question = (w.format(**words) for w in worded)
        self.core = str(n)


def session(top: Path) -> tuple[list[Turn], list[Plant], list[Plant]]:
    dice = random.Random(3)
    paths = coding.workspace(top)
    wishes = [Plant(dice, WORDED[n % len(WORDED)], n) for n in range(WISHES)]
    facts = [Plant(dice, FOUND[n % len(FOUND)], n) for n in range(FACTS)]
    turns = list(coding.session(paths, TURNS))
    for at, wish in zip(dice.sample(range(TURNS), WISHES), wishes, strict=True):
        turns[at].prompt = " ".join(dice.sample([turns[at].prompt, wish.text], 2))
    for number, fact in enumerate(facts):
        lines = coding.output(dice, coding.sizes(dice)).split("\n")
        lines.insert(dice.randrange(len(lines)), fact.text)
        (top / f"out/fact_{number}.log").write_text("\n".join(lines), "utf-8")
        turn = turns[dice.randrange(TURNS)]
        turn.steps.insert(dice.randrange(len(turn.steps)), Call("shell", {"command": f"cat out/fact_{number}.log"}))
    (top / "AGENTS.md").write_text(RULE + "\n", "utf-8")
    return turns, wishes, facts


def came_back(past: Past, shown: tuple[object, ...], plant: Plant) -> bool:
    return plant.core in search(past, shown, plant.question, 1, 8, ROOM).text  # type: ignore[arg-type]


async def main() -> int:
    window = int(sys.argv[1]) if sys.argv[1:] else 128_000
    with tempfile.TemporaryDirectory(prefix="gongfu-bench-") as folder:
        top = Path(folder, "work")
        turns, wishes, facts = session(top)
        more = list(coding.session([f"src/{p.name}" for p in sorted((top / "src").iterdir())], 200))[TURNS:]
        home = Path(folder, "home")
        home.mkdir()
        async with serve([s for t in [*turns, *more] for s in t.steps], strict=False) as server:
            (home / "config.yaml").write_text(CONFIG.format(url=server.base_url, window=window, output=OUTPUT))
            env = {"PATH": os.environ["PATH"], "HOME": folder, "NO_PROXY": "127.0.0.1"}
            async with gongfu.open(
                top, home=home, env=env, permission="full", answers="no", rules="mandatory-all"
            ) as app:
                talk = await app.session()
                folds: list[EpochOpened] = []
                played = 0
                for turn in [*turns, *more]:
                    if played >= TURNS and len(folds) >= FOLDS:
                        break
                    end = await (await talk.prompt(turn.prompt))
                    assert end.status == "done", (end.reason, end.values)
                    played += 1
                    folds = [e.event for e in app.journal.read(talk.id) if isinstance(e.event, EpochOpened)]
                context = talk.state.context
                past = Past(talk.state.transcript.messages, app.artifacts.all(talk.id), context.labels, context.turns)
                last = server.requests[-1].raw.decode()
                shown = tuple(context.view.messages)
                rule = sum(RULE in r.raw.decode() for r in server.requests) / len(server.requests)
                words = sum(w.core in last for w in wishes) / WISHES
                whole = sum(w.text in last for w in wishes) / WISHES
                gone = [w for w in wishes if w.core not in last]
                again = [w for w in gone if came_back(past, shown, w)]
                held = [f for f in facts if f.core in last]
                back = [f for f in facts if f not in held and came_back(past, shown, f)]
    moved = sum(len(f.moved) for f in folds)
    reached = (len(held) + len(back)) / FACTS
    print(f"window {window}: {played} turns, {len(server.requests)} requests, {len(folds)} folds, {moved} turns moved")
    print(f"  rule: in {rule:.0%} of all requests")
    print(f"  constraints of the person: {words:.1%} in the last request ({whole:.1%} word for word)")
    print(f"  {len(gone)} constraints are not in it; recall brings {len(again)} of them")
    print(f"  facts from tools: {len(held) / FACTS:.1%} in the last request")
    print(
        f"  {FACTS - len(held)} facts are not in it; recall brings {len(back)} of them: {reached:.1%} of all can be reached"
    )
    for fact in [f for f in facts if f not in held and f not in back][:8]:
        print(f"    not found: {fact.text}")
    return 0 if rule == 1 and words >= 0.95 and reached >= 0.8 and len(folds) >= FOLDS else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
