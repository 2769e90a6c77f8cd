"""A long coding session, the same each time: a workspace, the words of a person and what a model does, in Chinese and English."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gongfu.models.scripted import Call, Calls, Say

FILES, OUTPUTS = 90, 60
NAMES = [
    "session",
    "cart",
    "order",
    "price",
    "stock",
    "user",
    "mail",
    "queue",
    "cache",
    "token",
    "route",
    "parse",
    "render",
    "store",
    "index",
    "search",
    "report",
    "export",
]
VERBS = [
    "load",
    "save",
    "check",
    "merge",
    "split",
    "count",
    "apply",
    "trace",
    "format",
    "resolve",
    "collect",
    "expire",
    "retry",
    "rename",
]
ASKS = (
    "The {noun} page shows the old {other} after a reload. Find out why and fix it, but do not touch the public names in {file}.",
    "Add a {verb} step to {noun}, with tests. Keep it under forty lines; we ship on Friday.",
    "Please review what you did in {file}: is there a case where {verb} runs twice for the same {other}?",
    "把 {file} 里的 {verb} 逻辑拆成两个函数，注释写清楚原因，别改变对外的接口。",
    "跑一遍测试，看看 {noun} 那边为什么偶尔失败。先定位问题，不要急着改代码。",
    "{noun} 的日志太多了，把 {verb} 相关的级别降下来，另外记住：错误信息必须用中文。",
    "Why is {verb} in {file} slow? Measure it first, then tell me what you would do.",
    "Use what we have in {file}; do not add a dependency for this. Then write the change down in CHANGES.md.",
)
SAID = (
    (
        "The cause is in {file}: `{verb}_{noun}` reads the cached value before the write is done, so the page shows the old one. I moved the read "
        "behind the write, added a test for both orders, and ran the suite: all of it passes."
    ),
    "Done. `{verb}_{noun}` now works in two steps, and the tests cover an empty list, one entry and many. The public names are as they were.",
    "问题出在 {file}：`{verb}_{noun}` 在写入完成之前就读取了缓存，所以页面显示的是旧值。我把读取放到写入之后，补了两种顺序的测试，全部通过。",
    "已经按要求拆成两个函数，对外接口没有变化。测试跑过了，没有失败；还有一处 {noun} 的超时设置建议之后再调整。",
)


@dataclass
class Turn:
    """What the person says, and the steps that answer it."""

    prompt: str
    steps: list[Call | Calls | Say] = field(default_factory=list)


def code(dice: random.Random, size: int, number: int) -> str:
    lines = [f'"""Module {number}: {dice.choice(NAMES)} and {dice.choice(NAMES)}."""', "", f"EDITION_{number} = 0", ""]
    while sum(map(len, lines)) < size:
        noun, verb, other = dice.choice(NAMES), dice.choice(VERBS), dice.choice(NAMES)
        lines += [
            f"def {verb}_{noun}_{dice.randrange(1000)}({other}: dict[str, int], limit: int = {dice.randrange(100)}) -> list[str]:",
            f'    """{verb.capitalize()} every {noun} that the {other} holds, newest first."""'
            if dice.random() < 0.6
            else "    # 按时间倒序处理",
            f"    found = [key for key, value in {other}.items() if value > limit]",
            f"    for key in sorted(found, key={other}.get, reverse=True):",
            f'        log.debug("{verb} %s of {noun}: %d", key, {other}[key])',
            f"    return found[:{dice.randrange(1, 50)}]",
            "",
        ]
    return "\n".join(lines)


def output(dice: random.Random, size: int) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        n = dice.randrange(10**6)
        lines.append(
            dice.choice((
                f"tests/test_{dice.choice(NAMES)}.py::test_{dice.choice(VERBS)}_{n % 97} PASSED [{n % 100:3}%]",
                f"2026-11-30T14:{n % 60:02}:{n // 60 % 60:02}.{n % 1000:03}Z INFO [{dice.choice(NAMES)}] {dice.choice(VERBS)} took {n % 9000 / 10} ms",
                f"src/{dice.choice(NAMES)}_{n % 90}.py:{n % 400}: note: {dice.choice(VERBS)} expects a {dice.choice(NAMES)}",
                f"-rw-r--r-- 1 dev dev {n} Nov 30 {dice.choice(NAMES)}_{n % 90}.py",
                f"警告：第 {n % 400} 行的 {dice.choice(NAMES)} 没有处理空值",
            ))
        )  # fmt: skip
    return "\n".join(lines)[:size]


def sizes(dice: random.Random) -> int:
    """200 bytes to 20 kB, small ones more often."""
    return int(200 * 100 ** dice.random())


def workspace(top: Path) -> list[str]:
    """Write the files of the project; the paths of its sources."""
    dice = random.Random(11)
    (top / ".git").mkdir(parents=True)
    (top / "src").mkdir()
    (top / "out").mkdir()
    paths = [f"src/{dice.choice(NAMES)}_{n}.py" for n in range(FILES)]
    for number, path in enumerate(paths):
        (top / path).write_text(code(dice, max(600, sizes(dice)), number), "utf-8")
    for number in range(OUTPUTS):
        (top / f"out/{number}.log").write_text(output(dice, sizes(dice)), "utf-8")
    return paths


def session(paths: list[str], turns: int = 80) -> Iterator[Turn]:
    """Turns of one to nine requests, on average not quite five."""
    dice = random.Random(13)
    editions = [-1] * len(paths)
    for number in range(turns):
        at = dice.randrange(len(paths))
        words = {"file": paths[at], "noun": dice.choice(NAMES), "other": dice.choice(NAMES), "verb": dice.choice(VERBS)}
        turn = Turn(prompt=f"{number + 1}. {dice.choice(ASKS).format(**words)}")
        for _ in range(dice.choice((1, 2, 3, 3, 4, 4, 5, 5, 8))):
            done = step(dice, paths, at, editions)
            while what(done) in map(what, turn.steps):  # nobody does the very same thing twice in a turn
                done = step(dice, paths, dice.randrange(len(paths)), editions)
            turn.steps.append(done)
            at = dice.choice((at, dice.randrange(len(paths))))
        turn.steps.append(Say(dice.choice(SAID).format(**words)))
        yield turn


def what(step: Call | Calls | Say) -> list[object]:
    """The calls of a step, without the words around them."""
    return [
        (c.name, c.arguments)
        for c in (step.calls if isinstance(step, Calls) else [step] if isinstance(step, Call) else [])
    ]


def step(dice: random.Random, paths: list[str], at: int, editions: list[int]) -> Call | Calls:
    """One thing that a model does."""
    kind = dice.random()
    why = dice.choice(("", "", f"I look at {paths[at]} first.", "先看一下相关的实现。", "Now the tests."))
    if kind < 0.30:
        return Call("read_file", {"path": paths[at]}, text=why)
    if kind < 0.38:
        others = [Call("read_file", {"path": p, "limit": 60}) for p in dice.sample(paths, dice.randint(2, 4))]
        return Calls(tuple(others), text=why)
    if kind < 0.50:
        return Call("search_text", {"pattern": f"{dice.choice(VERBS)}_{dice.choice(NAMES)}", "path": "src"}, text=why)
    if kind < 0.54:
        return Call("find_files", {"pattern": f"**/{dice.choice(NAMES)}_*.py"})
    if kind < 0.78:
        return Call("shell", {"command": f"cat out/{dice.randrange(OUTPUTS)}.log"}, text=why)
    if kind < 0.92:
        if editions[at] < 0:  # not read yet
            editions[at] = 0
            return Call("read_file", {"path": paths[at]}, text=why)
        old = editions[at]
        editions[at] += 1
        return Call(
            "edit_file", {"path": paths[at], "old": f"EDITION_{at} = {old}\n", "new": f"EDITION_{at} = {old + 1}\n"}
        )
    if kind < 0.96:
        return Call(
            "write_file",
            {"path": f"src/new_{dice.randrange(10**6)}.py", "content": code(dice, sizes(dice) // 4 + 200, 0)},
        )
    items = [
        {"text": f"{dice.choice(VERBS)} {dice.choice(NAMES)}", "status": dice.choice(("pending", "done"))}
        for _ in range(5)
    ]
    return Call("todo", {"items": items})
