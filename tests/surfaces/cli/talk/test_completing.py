"""What is offered while a person types, and what the menu makes of it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from prompt_toolkit.application import Application
from prompt_toolkit.application.current import create_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout import BufferControl, HSplit, Layout, Window
from prompt_toolkit.output import DummyOutput

from gongfu.models.scripted import Say
from gongfu.surfaces.cli.talk.commands.catalog import SLASHES
from gongfu.surfaces.cli.talk.completing import Completions, Row
from gongfu.surfaces.cli.talk.menu import Menu, menu, open_menu
from gongfu.surfaces.cli.talk.offers import Offer, best
from gongfu.surfaces.cli.width import width
from tests.app.cast import Cast, workplace

from .faces import Conversation, conversation

pytestmark = pytest.mark.anyio

NAMES = (
    "plain.py", "with space.md", "it's.txt", 'say "hi".md', "设计.md", "🙂 笑.txt", "a(1).txt", "dir/sub dir/x.py",
    "end.", "~tilde", "back\\slash.txt", "a,b.txt",
)  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def put(work: Path, *names: str, text: str = "x") -> None:
    for name in names:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def rows(completions: Completions, before: str, after: str = "", *, asked: bool = False) -> list[Row]:
    return await completions.rows(Document(before + after, len(before)), asked=asked)


async def settled(completions: Completions) -> None:
    """The files of commands and the workspace have been read."""
    news = anyio.Event()
    completions.news = news.set
    await rows(completions, "/")
    with anyio.fail_after(20):
        await news.wait()
        while not completions.files or not completions.files.now().whole:
            await anyio.sleep(0.002)


@asynccontextmanager
async def offering(work: Path, **options: Any) -> AsyncGenerator[tuple[Conversation, Completions]]:
    async with conversation(work, Cast([Say("Hi.")]), **options) as talk:
        completions = Completions(talk)
        await settled(completions)
        yield talk, completions


# --- commands ---


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("/mo", ["/model", "/mode"]),
        ("/MOD", ["/model", "/mode"]),
        ("/exi", ["/exit"]),
        ("/pms", ["/permission"]),
        ("/rev", ["/review"]),
        ("/审查", ["/review"]),
    ],
)
async def test_commands_are_found_by_beginning_letters_and_what_is_said_of_them(
    work: Path, typed: str, first: list[str]
) -> None:
    put(work.parent / "home" / "commands", "review.md", text="---\nzh: 审查更改\n---\nReview {{x}}\n")
    async with offering(work, language="zh") as (_, completions):
        found = await rows(completions, typed)
    assert [row.text.strip() for row in found[: len(first)]] == first
    assert all(row.start_position == -len(typed) for row in found)


async def test_all_commands_stand_in_the_menu_and_a_wrong_file_spoils_none(work: Path) -> None:
    commands = work.parent / "home" / "commands"
    put(commands, "good.md", text="---\ndescription: does good\narguments: [who]\n---\n{{who}}\n")
    put(commands, "bad.md", text="---\nno: [\n---\n")
    (commands / "worse.md").write_bytes(b"\xff\xfe\x00")
    put(commands, "model.md", text="never seen")
    async with offering(work) as (_, completions):
        found = {row.text: row for row in await rows(completions, "/")}
        again = await rows(completions, "/mode")
    assert {f"/{name}" for name in SLASHES} <= {text.strip() for text in found}
    assert found["/good "].label == "/good <who>"
    assert found["/good "].about == "does good"
    assert "bad.md" in found["/bad"].about
    assert "/worse" in found
    assert found["/exit"].about.startswith("/quit")
    assert [row.label for row in again] == ["/mode [NAME|none]", "/model [REF]"]


async def test_one_candidate_that_is_typed_already_opens_no_menu(work: Path) -> None:
    async with offering(work) as (_, completions):
        assert await rows(completions, "/permissions") == []
        assert await rows(completions, "@b.txt") == []
        for text in ("hello", "a/b", " /model", "x\n/model", "me@example.com", "!ls b", "/home/x/y"):
            assert await rows(completions, text) == [], text


async def test_arguments_are_offered_or_what_is_expected_is_told(work: Path) -> None:
    text = "---\narguments:\n  - name: who\n    description: whom to greet\n  - {name: how, default: kindly}\n---\nx\n"
    put(work.parent / "home" / "commands", "greet.md", text=text)
    async with offering(work) as (_, completions):
        assert [row.text.strip() for row in await rows(completions, "/rules re")] == ["refresh"]
        assert [row.text.strip() for row in await rows(completions, "/permission au")] == ["auto"]
        for text in ("/permission auto", "/title any words", "/export pdf fi", "/nothing x", "/compact on the"):
            assert await rows(completions, text) == [], text
        assert [row.label for row in await rows(completions, "/greet ")] == ["<who>"]
        (second,) = await rows(completions, "/greet you ")
        (named,) = await rows(completions, "/greet how=x y")
    assert (second.kind, second.label, second.about, second.text) == ("hint", "[how]", "or else kindly", "")
    assert named.about == "whom to greet"


def test_what_is_chosen_from_is_found_by_how_it_is_shown_and_by_words() -> None:
    offers = [Offer("s_1", "Fix the parser", "yesterday"), Offer("s_2", "修复解析器"), Offer("drop 1", "drop 1")]

    def found(typed: str) -> list[str]:
        return [offer.value for offer in best(offers, typed, 9, labels=True)]

    assert found("fix the p") == found("pars") == ["s_1"]
    assert found("解析") == ["s_2"]
    assert found("drop ") == ["drop 1"]
    assert found("s_") == ["s_1", "s_2"]
    assert found("the fix") == []


# --- files ---


async def test_what_is_completed_names_the_same_file(work: Path) -> None:
    put(work, *NAMES)
    async with offering(work) as (talk, completions):
        for name in NAMES:
            for before in ("", "see ", "看"):
                typed = f"{before}@{name[:2].strip()}"
                row = next(r for r in await rows(completions, typed) if r.label == name)
                text = typed[: len(typed) + row.start_position] + row.text
                assert text.endswith(" "), "what follows is no part of the name"
                if '"' not in name:  # the others are for the model to read
                    told = await talk.app.mentioned(f"{text}tell", talk.session)
                    (path,) = re.findall(r'<file path="(.*)">', told.prompt)
                    assert talk.app.workspace.locate(path).path == work / name


async def test_folders_are_gone_on_with_also_in_quotes(work: Path) -> None:
    put(work, "dir/sub dir/x.py", "dir/sub dir/y.py")
    async with offering(work) as (_, completions):
        assert (await rows(completions, "@dir"))[0].text == "@dir/"
        (folder, *_) = await rows(completions, "@dir/")
        assert folder.text == '@"dir/sub dir/'
        assert [row.text for row in await rows(completions, folder.text)] == [
            '@"dir/sub dir/x.py" ',
            '@"dir/sub dir/y.py" ',
        ]
        (inside,) = await rows(completions, '@"dir/sub dir/x', " and more")
    assert inside.text == '@"dir/sub dir/x.py"', "there is a space already"


async def test_files_that_are_barred_or_ignored_are_not_offered(work: Path) -> None:
    put(work, "seen.key", "hidden.pem", "noise.log")
    put(work, ".gitignore", text="*.log\n")
    put(work.parent / "home", "config.yaml", text="permission:\n  deny: ['read(*.pem)']\n")
    async with offering(work) as (talk, completions):
        assert talk.app.workspace.barred is not None
        labels = [row.label for row in await rows(completions, "@")]
        assert "seen.key" in labels
        assert not {"hidden.pem", "noise.log"} & set(labels)
        assert await rows(completions, "@hidden.pem") == []
        assert await rows(completions, "!cat hid", asked=True) == []


async def test_words_of_a_command_by_hand_are_completed_when_it_is_asked(work: Path) -> None:
    put(work, "with space.md", "dir/$x.sh")
    async with offering(work) as (_, completions):
        assert [r.text for r in await rows(completions, "!cat with", asked=True)] == ["with\\ space.md"]
        assert [r.text for r in await rows(completions, "!cat 'wi", asked=True)] == ["'with space.md'"]
        assert [r.text for r in await rows(completions, "!cat <dir/", asked=True)] == ["dir/\\$x.sh"]
        assert [r.text for r in await rows(completions, "!./di", asked=True)] == ["./dir/"]
        assert await rows(completions, "!wi", asked=True) == []


# --- the menu ---


class Wide(DummyOutput):
    def __init__(self, columns: int, lines: int) -> None:
        self.size = Size(rows=lines, columns=columns)

    def get_size(self) -> Size:
        return self.size


class Typing:
    """An input with its menu, typed at."""

    def __init__(self, buffer: Buffer, below: Any, pipe: Any) -> None:
        self.buffer = buffer
        self.below = below
        self._pipe = pipe

    async def type(self, text: str) -> None:
        self._pipe.send_text(text)

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(20):
            while not true():
                await anyio.sleep(0.002)

    @property
    def labels(self) -> list[str]:
        state = self.buffer.complete_state
        return [one.label for one in state.completions if isinstance(one, Row)] if state else []


@asynccontextmanager
async def typing(completions: Completions) -> AsyncGenerator[Typing]:
    buffer = Buffer(multiline=True, completer=completions, complete_while_typing=True)
    window = Window(BufferControl(buffer))
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=Wide(80, 24)):
        below = menu(lambda: buffer)
        layout = Layout(HSplit([window, below]), focused_element=window)
        app = Application[None](layout=layout, full_screen=False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: app.run_async(handle_sigint=False, set_exception_handler=False))
            try:
                await anyio.wait_all_tasks_blocked()
                yield Typing(buffer, below, pipe)
            finally:
                app.exit()


async def test_the_menu_follows_what_is_typed_and_taken_back_and_stays_away_from_other_words(work: Path) -> None:
    put(work, "src/main.py", "src/menu.py")
    async with offering(work) as (_, completions), typing(completions) as at:
        await at.type("hello ")
        await at.until(lambda: at.buffer.text == "hello ")
        assert at.buffer.complete_state is None
        await at.type("@main")
        await at.until(lambda: at.labels[:1] == ["src/main.py"])
        await at.type("\x7f\x7f\x7f")
        await at.until(lambda: set(at.labels[:2]) == {"src/main.py", "src/menu.py"} and at.buffer.text[-2:] == "@m")
        at.buffer.complete_state = None
        await at.type("e")
        await at.until(lambda: at.labels[:1] == ["src/menu.py"])
        at.buffer.reset()
        at.buffer.document = Document("/mo", 3)  # brought back from before, not typed
        await anyio.wait_all_tasks_blocked()
        assert at.buffer.complete_state is None
        assert open_menu(at.buffer)
        await at.until(lambda: at.labels[:2] == ["/model [REF]", "/mode [NAME|none]"])
        at.buffer.document = Document("words", 5)
        assert not open_menu(at.buffer)


async def test_the_newest_text_wins(work: Path) -> None:
    put(work, *(f"f{n}.txt" for n in range(40)))
    async with offering(work) as (_, completions), typing(completions) as at:
        for char in "@f39.txt":
            await at.type(char)
        await at.type("\x7f")
        await at.until(lambda: at.labels == ["f39.txt"])
        assert at.buffer.complete_state is not None
        assert at.buffer.complete_state.original_document.text == "@f39.tx"
        assert at.below.filter(), "they are drawn"
        at.buffer.insert_text("t")
        assert at.buffer.complete_state is None
        assert at.below.filter(), "the rows stay while others are looked for"
        await at.until(lambda: not at.below.filter())


def drawn(
    rows: list[Row], columns: int, lines: int, *, marked: int | None = None, encoding: str = "utf-8"
) -> list[str]:
    from prompt_toolkit.buffer import CompletionState

    buffer = Buffer()
    shown = Menu(buffer)
    shown.open()
    buffer.complete_state = CompletionState(buffer.document, list(rows), marked)
    assert shown.open()
    text = "".join(part[1] for part in shown.text(columns, lines, encoding)).split("\n")
    assert len(text) == shown.height(lines)
    assert all(width(line) < columns for line in text)
    return text


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_rows_are_never_wider_than_the_screen(columns: int) -> None:
    long = [
        Row("x", 0, "/" + "命令" * 30 + " [参数]", "说明" * 60, kind="command"),
        Row("y", 0, "目录/" * 20 + "文件🙂.py", kind="path"),
    ]
    for marked in (None, 0, 1):
        first, second = drawn(long, columns, 24, marked=marked)
        assert [first[0], second[0]] == (["›", " "] if marked != 1 else [" ", "›"])
        assert second.endswith("文件🙂.py"), "of a path the end is shown"
        assert columns <= 20 or second[2] == "…"


def test_a_long_menu_scrolls_and_tells_where_it_is() -> None:
    every = [Row("x", 0, f"/name{n}", "about", kind="command") for n in range(27)]
    assert drawn(every, 80, 24)[-1].endswith(" 1/27")
    last = drawn(every, 80, 24, marked=26)
    assert last[-1].startswith("› /name26")
    assert last[-1].endswith(" 27/27")
    assert len(last) == 8
    assert len(drawn(every, 80, 12)) == 4
    assert drawn(every, 80, 24, encoding="ascii")[0].startswith("> /name0")
