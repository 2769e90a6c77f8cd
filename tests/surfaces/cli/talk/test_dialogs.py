"""Dialogues on the real screen: what keys choose, what is typed ahead, and that all of a command can be read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.answers import decided
from gongfu.surfaces.cli.talk.face import Option, Pick, Picked
from gongfu.surfaces.cli.width import width

from .kit import BACK, DOWN, END, ENTER, ESC, HOME, LEFT, PAGE_DOWN, PAGE_UP, UP, Drawn, drawn, pasted

pytestmark = pytest.mark.anyio

ALL = ("allow", "session", "project", "deny")
FEW = ("allow", "session", "deny")
NEEDS = [
    {"text": f"make part{n}", "reason": "permissions.rated_run", "about": "", "ratings": ["run"], "grave": n == 2}
    for n in (1, 2, 3)
]


def permission(
    options: Sequence[str] = ALL, *, parts: int = 0, command: str = "make all", **more: Any
) -> QuestionAsked:
    needs = NEEDS[:parts] if parts else NEEDS[:1]
    preview = {"kind": "command", "command": command, "cwd": "/home/me/project", "needs": needs, "apart": True}
    return QuestionAsked(
        question="q", about="permission", text=command, tool="shell", call="c", reason="permissions.rated_run",
        options=tuple(options), default="deny", preview=preview, **more,
    )  # fmt: skip


class Asking:
    """Something that is asked on a screen. `got` holds the answer."""

    def __init__(self, on: Drawn) -> None:
        self.on = on
        self.got: list[Any] = []
        self.scope = anyio.CancelScope()

    async def run(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        with self.scope:
            self.got.append(await work())

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each taken in before the next."""
        app = self.on.screen.app
        for key in keys:
            before = app.render_counter
            self.on.press(key)
            await self.on.until(lambda: app.render_counter > before and not app.key_processor.input_queue)  # noqa: B023

    async def answer(self) -> Any:
        await self.on.until(lambda: bool(self.got))
        return self.got[0]


@asynccontextmanager
async def asking(
    work: Callable[[Drawn], Coroutine[Any, Any, Any]], *, seen: str | Callable[[], bool] = " · ", **size: Any
) -> AsyncGenerator[Asking]:
    async with drawn(**size) as on, asking_on(on, lambda: work(on), seen=seen) as one:
        yield one


@asynccontextmanager
async def asking_on(
    on: Drawn, work: Callable[[], Coroutine[Any, Any, Any]], *, seen: str | Callable[[], bool] = " · "
) -> AsyncGenerator[Asking]:
    async with anyio.create_task_group() as tasks:
        one = Asking(on)
        tasks.start_soon(one.run, work)
        await on.until(seen)
        yield one
        one.scope.cancel()


def question(asked: QuestionAsked, **size: Any) -> Any:
    return asking(lambda on: on.screen.answer(asked), **size)


def choice(pick: Pick, **size: Any) -> Any:
    return asking(lambda on: on.screen.pick(pick), **size)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gongfu.surfaces.cli.talk.questions.PATIENCE", 0.01)


# --- permissions ---


PERMISSIONS = [
    (["y"], "y", FEW, 0),
    (["Y"], "y", ALL, 3),
    (["ｙ"], "y", FEW, 0),
    (["是"], "y", FEW, 0),
    ([ENTER], "y", FEW, 0),
    (["s"], "s", FEW, 0),
    ([DOWN, ENTER], "s", FEW, 0),
    (["j", "j", ENTER], "p", ALL, 0),
    (["p"], "p", ALL, 0),
    (["n"], "n", FEW, 0),
    ([ESC], "n", FEW, 0),
    (["\x03"], "n", FEW, 0),
    (["\x04"], "n", FEW, 0),
    (["w", *"use pnpm", ENTER], "n use pnpm", FEW, 0),
    (["w", "用", " pnpm", ENTER], "n 用 pnpm", ALL, 0),
    (["w", pasted("two\nlines"), ENTER], "n two lines", ALL, 0),
    ([UP, "y", ENTER], "n y", FEW, 0),  # with the own words marked, letters are words
    (["w", ENTER], "n", FEW, 0),
    (["2", "s"], "s 1,3", ALL, 3),
    (["1", "2", "p"], "p 3", ALL, 3),
    (["1", "1", "s"], "s", ALL, 3),
    (["1", "y"], "y", ALL, 3),  # yes is a yes to all of it
    ([UP, " ", "s"], "s 1,2", ALL, 3),
    ([UP, UP, ENTER, END, UP, UP, UP, ENTER], "s 1,3", ALL, 3),
    (["1", "2", "3", "s", "n"], "n", ALL, 3),  # nothing is picked, so nothing can be remembered
    (["p", "n"], "n", FEW, 0),  # was not offered
    (["4", "5", "n"], "n", ALL, 3),
    (["1", "n"], "n", ALL, 0),  # a number is no answer, for it may be meant for a part
    (["w", "x", ESC, "y"], "y", ALL, 0),
]


async def test_keys_mean_what_the_same_words_do() -> None:
    async with drawn() as on:
        for keys, typed, options, parts in PERMISSIONS:
            async with asking_on(on, lambda: on.screen.answer(permission(options, parts=parts))) as asked:  # noqa: B023
                for key in keys:
                    await asked.press(key)
                    if key == ESC and "Esc back" in on.text:
                        await on.until("Esc no")  # an Esc where one types may begin a longer key
                assert await asked.answer() == decided(typed, options, parts) != "", keys
            assert on.alive[-1] == "status"
            assert "Yes" not in on.text, keys  # the screen is left clean


async def test_keys_that_were_pressed_before_it_was_seen_answer_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gongfu.surfaces.cli.talk.questions.PATIENCE", 0.15)
    async with drawn() as on, anyio.create_task_group() as tasks:
        on.press("say ")
        await on.until("› say")
        one = Asking(on)
        tasks.start_soon(one.run, lambda: on.screen.answer(permission()))
        await on.until("Yes, once")
        await one.press("y", "n", " ", "N", "/", ENTER, pasted("a\nb"), ESC)
        assert one.got == []
        await on.until("Enter take")
        assert "Your draft is kept: say yn N/a" in on.text
        await one.press("n")
        assert await one.answer() == "deny"
        assert on.screen.editor.text == "say yn N/a\nb"
        assert on.sent == []


async def test_a_question_answered_elsewhere_leaves_the_screen_clean() -> None:
    async with question(permission()) as asked:
        asked.scope.cancel()
        await asked.on.until(lambda: "Yes" not in asked.on.text)
        asked.on.press("hello")
        await asked.on.until("› hello")


SPOOF = "\x1b[2K\r\x1b]0;x\x07\u202egnp\u2069"


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
@pytest.mark.parametrize(
    "command",
    [
        "true " + "x" * 3_000 + "; rm -rf important",
        "cat > f <<'EOF'\n" + "\n".join(f"line {n} 你好🙂 שלום" for n in range(120)) + "\nEOF\nrm -rf important",
        f"ls {SPOOF}; rm -rf important",
        "echo " + "字" * 300 + " && rm -rf important",
    ],
)
async def test_every_character_can_be_read_before_it_is_allowed(command: str, size: tuple[int, int]) -> None:
    async with question(permission(command=command), columns=size[0], rows=size[1]) as asked:
        seen = list[str]()
        for _ in range(400):
            rows = asked.on.alive
            assert all(width(row) <= size[0] for row in rows)
            assert len(rows) <= size[1]
            body = [row for row in rows if not any(mark in row for mark in ("…", "Yes", "No", "Enter"))]
            seen += [row for row in body if row not in seen]
            if "below" not in asked.on.text:
                break
            await asked.press(PAGE_DOWN)
        told = "".join("".join(seen).split())
        assert "rm-rfimportant" in told
        assert [n for n in range(120) if "EOF" in command and f"line{n}你好" not in told] == []
        if SPOOF in command:
            assert "\\x1b[2K" in told
            assert "\\u202e" in told
        await asked.press("n")
        assert await asked.answer() == "deny"


async def test_v_shows_all_of_it_above() -> None:
    command = "\n".join(f"echo {n}" for n in range(100))
    async with question(permission(command=command)) as asked:
        await asked.press("v")
        await asked.on.until(lambda: "echo 99" in asked.on.finished)
        assert "echo 50" in asked.on.finished
        assert asked.got == []


async def test_the_dialogue_follows_a_change_of_size() -> None:
    async with question(permission(command="make " + "x" * 60 + " end")) as asked:
        asked.on.paper.columns, asked.on.paper.rows = 40, 16
        asked.on.screen.wake()
        await asked.on.until("$ make xx")
        assert "x end" in asked.on.text


# --- how it looks ---

DIFF = "--- a/a.py\n+++ b/a.py\n@@ -8,3 +8,4 @@\n def greet():\n-    return 1\n+    # 你好，世界\n+    return 2\n \n"
EDIT = QuestionAsked(
    question="q", about="permission", text="src/a.py", tool="edit_file", call="c", reason="permissions.rated_write",
    options=FEW, agent="reviewer", preview={"kind": "diff", "path": "src/a.py", "diff": DIFF, "about": ""},
)  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 16)])
async def test_dialogues_look_as_they_did(columns: int, rows: int, language: str) -> None:
    asked = [
        permission(FEW),
        permission(parts=3, command="make part1 && make part2 && make part3"),
        permission(command="cat > notes.txt <<'EOF'\n" + "\n".join(f"第 {n} 行 line {n}" for n in range(40)) + "\nEOF"),
        EDIT,
        ask(("SQLite: 一个文件", "PostgreSQL", "What the others use, whatever it be"), default="PostgreSQL", seconds=9),
        ask(),
        ask(("edits", "ask", "no"), default="no", preview=PLAN),
    ]  # fmt: skip
    pick = Pick(title="Model", options=MODELS[:12], search=True)
    shots = list[str]()
    async with drawn(columns=columns, rows=rows, language=language) as on:
        for one in asked:
            async with asking_on(on, lambda: on.screen.answer(one)):  # noqa: B023
                shots.append(on.text)
                assert all(width(row) <= columns for row in on.alive)
        async with asking_on(on, lambda: on.screen.pick(pick)) as choosing:
            await choosing.press("el-1")
            await on.until("› el-1")
            shots.append(on.text)
    golden = Path(__file__).with_name("goldens") / f"dialogues-{language}-{columns}.txt"
    assert "\n\n".join(shots) + "\n" == golden.read_text("utf-8")


# --- questions and plans ---


def ask(options: Sequence[str] = (), **more: Any) -> QuestionAsked:
    return QuestionAsked(question="q", about="question", text="Which one?", call="c", options=tuple(options), **more)


QUESTIONS = [
    (["2"], ("a", "b"), "", "b"),
    ([ENTER], ("a", "b"), "b", "b"),
    ([ESC], ("a", "b"), "b", "b"),
    ([ESC], ("a", "b"), "", ""),
    ([HOME, ENTER], ("a", "b"), "b", "a"),
    (["3", *"own words", ENTER], ("a", "b"), "", "own words"),
    ([DOWN, DOWN, *"12", ENTER], ("a", "b"), "", "12"),
    (["own", BACK, "l", ENTER], (), "", "owl"),
    ([ENTER], (), "blue", "blue"),
    ([UP, ENTER], ("a", "b"), "blue", "blue"),
]


async def test_a_question_takes_an_option_own_words_or_its_default() -> None:
    async with drawn() as on:
        for keys, options, default, answer in QUESTIONS:
            async with asking_on(on, lambda: on.screen.answer(ask(options, default=default))) as asked:  # noqa: B023
                await asked.press(*keys)
                assert await asked.answer() == answer, keys


async def test_a_question_of_the_program_itself_takes_its_options_only() -> None:
    ours = QuestionAsked(question="trust", about="question", text="Trust it?", options=("Yes", "No"), default="No")
    async with question(ours) as asked:
        assert "Something else" not in asked.on.text
        await asked.press("3", "x", ENTER)
        assert await asked.answer() == "No"


async def test_the_time_that_is_left_is_shown_and_the_engine_decides_at_its_end() -> None:
    async with question(ask(("a", "b"), seconds=1.4), seen="1 s left") as asked:
        await asked.on.until("0 s left")
        assert asked.got == []


PLAN = {
    "kind": "plan",
    "title": "Split the parser",
    "markdown": "# Goal\n\n" + "\n".join(f"- step {n}" for n in range(60)),
}


PLANS = [
    (["1"], ("edits", "ask", "no"), "edits"),
    ([DOWN, ENTER], ("edits", "ask", "no"), "ask"),
    (["3", *"first the tests", ENTER], ("edits", "ask", "no"), "no: first the tests"),
    ([ESC], ("edits", "ask", "no"), "no"),
    (["1"], ("approve", "no"), "approve"),
]


async def test_a_plan_is_read_and_approved_or_not() -> None:
    async with drawn() as on:
        for keys, options, answer in PLANS:
            plan = ask(options, default="no", preview=PLAN)
            async with asking_on(on, lambda: on.screen.answer(plan)) as asked:  # noqa: B023
                assert "Plan: Split the parser" in on.text
                assert "step 59" not in on.text
                await asked.press(*[PAGE_DOWN] * 10)
                await on.until("step 59")
                await asked.press(*keys)
                assert await asked.answer() == answer, keys
        await on.until(lambda: on.finished.count("step 59") == len(PLANS))  # it stays to be read


async def test_keys_behind_an_answer_are_no_further_answer() -> None:
    async with question(permission()) as asked:
        asked.on.press("no, yes", ENTER)
        assert await asked.answer() == "deny"
        await asked.on.until(lambda: "Yes" not in asked.on.text)
        assert asked.on.sent == []


# --- choices and lines ---

MODELS = tuple(Option(value=f"m{n}", label=f"model-{n}", detail="说明 " * 30) for n in range(30))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ([ENTER], "m0"), ([UP, ENTER], "m29"), ([END, ENTER], "m29"), (["j", "j", "k", ENTER], "m1"),
        ([PAGE_DOWN, PAGE_UP, ENTER], "m0"), (["9"], "m8"), ([END, HOME, DOWN, ENTER], "m1"),
    ],
)  # fmt: skip
async def test_a_long_list_scrolls(keys: list[str], value: str) -> None:
    async with choice(Pick(title="Model", options=MODELS), columns=40, rows=12) as asked:
        await asked.press(*keys)
        assert await asked.answer() == Picked(value=value)


@pytest.mark.parametrize("key", [ESC, "\x03", "\x04"])
async def test_turning_away_chooses_nothing(key: str) -> None:
    async with choice(Pick(title="Model", options=MODELS)) as asked:
        await asked.press(key)
        assert await asked.answer() is None


async def test_time_that_is_over_chooses_nothing() -> None:
    async with choice(Pick(title="Model", options=MODELS, seconds=0.05), seen="model-0") as asked:
        assert await asked.answer() is None


MIXED = (
    Option(value="auto", label="自动", detail="run without asking"),
    Option(value="edits", label="编辑", detail="files only"),
    Option(value="gpt-5.2-codex", label="gpt-5.2-codex"),
)


@pytest.mark.parametrize(
    ("words", "value"),
    [("编", "edits"), ("EDI", "edits"), ("g5c", "gpt-5.2-codex"), ("without", "auto"), ("ｅｄｉ", "edits")],
)
async def test_words_narrow_a_list_in_both_languages(words: str, value: str) -> None:
    async with choice(Pick(title="Mode", options=MIXED, search=True)) as asked:
        await asked.press(words)
        await asked.on.until(f"› {words}")
        await asked.press(ENTER)
        assert await asked.answer() == Picked(value=value)


async def test_what_nothing_fits_can_be_given_as_it_is_where_that_is_offered() -> None:
    async with choice(Pick(title="Model", options=MIXED, search=True, free="Use")) as asked:
        await asked.press("zz/9")
        await asked.on.until("Use: zz/9")
        await asked.press(ENTER)
        assert await asked.answer() == Picked(value="", text="zz/9")


async def test_a_secret_is_taken_but_not_shown() -> None:
    async with asking(lambda on: on.screen.ask("Key", secret=True), seen="Key") as asked:
        await asked.press(pasted(" sk-12345\n"), "6", BACK, ENTER)
        assert await asked.answer() == "sk-12345"
    async with asking(lambda on: on.screen.ask("Key", secret=True), seen="Key") as asked:
        await asked.press(pasted("sk-12345"))
        await asked.on.until("••••••••")
        assert "sk-" not in asked.on.text


async def test_a_line_begins_with_its_default() -> None:
    async with asking(lambda on: on.screen.ask("Title", default="old"), seen="old") as asked:
        await asked.press(" 新", ENTER)
        assert await asked.answer() == "old 新"


@pytest.mark.parametrize(("columns", "label"), [(80, "Name"), (40, "Name of the model that shall be asked for this")])
async def test_the_cursor_stands_where_one_types(columns: int, label: str) -> None:
    async with asking(lambda on: on.screen.ask(label), seen="Name", columns=columns) as asked:
        for typed in ("ab", "中文", *["字"] * 20, LEFT, LEFT, "🙂"):
            await asked.press(typed)
            column, row = asked.on.cursor
            shown = asked.on.alive[row]
            at, cells = 0, 0
            while cells < column and at < len(shown):
                cells += width(shown[at])
                at += 1
            before = "".join(asked.on.alive[: row + 1])[: -(len(shown) - at) or None].replace(" ", "")
            assert before.endswith(typed.strip(LEFT)), (typed, asked.on.cursor, asked.on.text)
