"""Recall: what was cut or folded comes back by id or by words, line for line, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gongfu
from gongfu.app.note import UNFINISHED_DAYS
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import CallPart, ImagePart, Message, ResultPart, TextPart, user
from gongfu.engine.tail import STALE
from gongfu.models.protocol import Request
from gongfu.models.scripted import SCRIPTED, Call, Say, Scripted
from gongfu.toolkit.recall import Recall
from gongfu.tools.output import ROW
from tests.toolkit.kit import Ctx

pytestmark = pytest.mark.anyio


def called(id: str, name: str, arguments: str = "{}", text: str = "") -> Message:
    parts: tuple[Any, ...] = (TextPart(text=text),) if text else ()
    return Message(role="assistant", parts=(*parts, CallPart(id=id, name=name, arguments=arguments)))


def answered(id: str, text: str, **more: Any) -> Message:
    return Message(role="tool", parts=(ResultPart(call_id=id, text=text, **more),))


class Table:
    """A history with spilled outputs and its recall."""

    def __init__(self, folder: Path, messages: Sequence[Message], **outputs: str | bytes) -> None:
        self.files: dict[str, Path] = {}
        self.messages = list(messages)
        self.shown: list[Message] = []
        for name, text in outputs.items():
            self.files[name] = folder / name
            data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
            self.files[name].write_bytes(data)
        self.labels: dict[str, str] = {}
        self.recall = Recall(
            messages=lambda: self.messages, files=lambda: self.files, labels=lambda: self.labels,
            shown=lambda: self.shown,
        )  # fmt: skip

    async def __call__(self, room: int = 32_768, **args: Any) -> str:
        ctx = Ctx()
        ctx.room = room
        assert (await self.recall.recall.facts(args)).access == ("read",)
        return (await self.recall.recall.run(args, ctx)).text

    async def fails(self, **args: Any) -> str:
        with pytest.raises(ToolFailure) as failure:
            await self(**args)
        return str(failure.value)


HISTORY = [
    user("<environment>\nsecretword\n</environment>", kind="note"),
    user("Fix the login page\nplease"),
    called("c1", "shell", '{"command":"seq 1 5000"}', "Let me count."),
    answered("c1", "1\n2\n[cut]\n5000", artifact="a1"),
    called("c2", "read_file", '{"path":"login.py"}'),
    answered("c2", "1|def login():\n2|    # 数据库连接失败时重试\n3|    raise TimeoutError"),
    Message(role="assistant", parts=(TextPart(text="Fixed: it retries now."),)),
    user("现在处理乱码问题"),
    user("and mind the tabs", kind="steer"),
    called("c3", "write_file", '{"path":"a.txt","content":"' + "first\\nsecond\\n" * 40 + '"}'),
    answered("c3", "Created a.txt (80 lines)."),
]
LINES = [str(n) for n in range(1, 5001)]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path, HISTORY, a1="\n".join(LINES) + "\n", a2="a job of its own: 服务器已启动\n")


def body(text: str) -> list[str]:
    head, *lines = text.split("\n")
    assert head.startswith("[recalled, as it was then: ")
    return lines


async def test_a_spilled_output_comes_back_by_lines(table: Table) -> None:
    shown = await table(id="a1", offset=4999)
    where = "[recalled, as it was then: output a1 of call c1 shell seq 1 5000 in turn 0; lines 4999-5000 of 5,000]"
    assert shown == f"{where}\n4999\n5000"
    assert "lines 1-2 of 5,000; offset=3 goes on" in await table(id="a1", limit=2)
    assert body(await table(id="a1", offset=-1)) == ["5000"]
    assert body(await table(id="a1", offset=-9000, limit=1)) == ["1"]
    assert "a1 has 5,000 lines" in await table.fails(id="a1", offset=6000)
    assert "at least 1" in await table.fails(id="a1", limit=0)
    whole = await table(id="a1", limit=100_000)
    assert len(whole.encode()) <= 32_768
    assert body(whole) == LINES
    assert "in turn 0; all of it]" in whole


@pytest.mark.parametrize("id", ["a1", "A1", "artifact:a1", "output a1", " a1. ", "artifact 1"])
async def test_an_id_may_be_written_in_several_ways(table: Table, id: str) -> None:
    assert body(await table(id=id, limit=1)) == ["1"]


async def test_a_call_comes_back_with_its_arguments_and_its_whole_result(table: Table) -> None:
    lines = body(await table(id="c1", limit=100_000))
    assert lines[:4] == ['arguments: {"command":"seq 1 5000"}', "result (done):", "1", "2"]
    assert lines[2:] == LINES[: len(lines) - 2]
    assert body(await table(id="c1", offset=-1)) == ["5000"]
    assert body(await table(id="c2"))[-1] == "3|    raise TimeoutError"
    long = body(await table(id="c3"))
    assert long[:4] == ["arguments: ", "path: a.txt", "content:", "first"]
    assert long.count("second") == 40
    assert long[-2:] == ["result (done):", "Created a.txt (80 lines)."]


async def test_a_call_whose_output_is_gone_still_has_what_was_shown(table: Table) -> None:
    table.files.clear()
    assert body(await table(id="c1"))[2:] == ["1", "2", "[cut]", "5000"]
    assert "this session has none yet" in await table.fails(id="a1")


async def test_a_unit_and_a_turn_come_back(table: Table) -> None:
    assert body(await table(id="u1")) == ["Fix the login page", "please"]
    group = await table(id="u2")
    assert body(group)[:3] == ["Let me count.", "--- c1 shell", 'arguments: {"command":"seq 1 5000"}']
    assert await table(id="u3") == group  # the results belong to their calls
    table.labels["c2"] = "Read login.py"
    assert body(await table(id="turn:0")) == [
        "user: Fix the login page", "please", "c1 shell seq 1 5000: done",
        "c2 read_file login.py: done (Read login.py)", "answer: Fixed: it retries now.",
    ]  # fmt: skip
    assert body(await table(id="turn:1")) == [
        "user: 现在处理乱码问题", "user (while it ran): and mind the tabs", "c3 write_file a.txt: done",
        "no final answer",
    ]  # fmt: skip


async def test_images_are_told_of(table: Table) -> None:
    image = ImagePart(media_type="image/png", data="AAAA", width=8, height=9)
    table.messages += [
        user("look", images=(image,)), called("c4", "read_file", '{"path":"x.png"}'),
        answered("c4", "x.png: image/png", images=(image,)),
    ]  # fmt: skip
    for id in ("u11", "c4", "u12", "turn:2"):
        assert "[an image was here: image/png 8x9]" in await table(id=id)


async def test_what_is_not_there_is_told_with_what_is(table: Table) -> None:
    assert "c1, c2, c3" in await table.fails(id="c99")
    assert "nearest: a1, a2" in await table.fails(id="a17")
    assert "turn:0, turn:1" in await table.fails(id="turn:7")
    assert "u8, u9, u10" in await table.fails(id="u400")
    for id in ("login", "7", "../../etc/passwd", "x1", "a" * 500, "a99999999999999999999"):
        assert "ids look like a3" in await table.fails(id=id)
    assert "neither" in await table.fails()
    assert "neither" in await table.fails(id=" ", query="")
    assert "both" in await table.fails(id="a1", query="x")


async def test_words_find_places_in_both_languages(table: Table) -> None:
    hit = await table(query="timeout database")
    assert "- call c2 read_file login.py in turn 0: recall id=c2 offset=" in hit
    assert "  3|    raise TimeoutError" in hit
    assert "- unit u7, the user's words in turn 1: recall id=u7\n  现在处理乱码问题" in await table(query="乱码")
    assert "数据库连接失败时重试" in await table(query="数据库")
    assert "recall id=a1 offset=4320\n  4320\n  4321\n  4322" in await table(query="4321")
    assert "- output a2: recall id=a2\n  a job of its own" in await table(query="服务器")
    assert "recall id=c3" in await table(query="seconds")
    assert await table(query="zebra") == "[no places of this session's history for: zebra]"
    assert "secretword" not in (await table(query="secretword")).split("\n", 1)[-1].replace("for: secretword", "")


async def test_the_rest_of_the_hits_comes_by_offset(table: Table) -> None:
    first = await table(query="login", limit=1)
    assert "2 places for: login; 1-1, best first; offset=2 goes on]" in first
    second = await table(query="login", offset=2)
    assert "2-2" in second
    assert first.split("\n")[1] != second.split("\n")[1]
    assert "there is no hit 3" in await table(query="login", offset=3)


async def test_what_is_in_view_comes_last(table: Table) -> None:
    first = (await table(query="login")).split("\n")
    best = next(line for line in first if line.startswith("- "))
    table.shown = table.messages[1:2] if "unit u1" in best else table.messages[4:6]
    again = [line for line in (await table(query="login")).split("\n") if line.startswith("- ")]
    assert again[-1].startswith(best.partition(":")[0])
    assert "(in view)" in again[-1]
    assert "(in view)" not in again[0]


async def test_what_was_recalled_is_no_hit(table: Table) -> None:
    table.messages += [called("c4", "recall", '{"query":"login"}'), answered("c4", "login login login")]
    assert "c4" not in await table(query="login")


async def test_a_line_without_end_comes_in_pieces(tmp_path: Path) -> None:
    text = "汉字abc" * 30_000
    table = Table(tmp_path, [], a1=text)
    found, offset = "", 1
    for _ in range(100):
        shown = await table(id="a1", offset=offset)
        assert len(shown.encode()) <= 32_768
        found += "".join(body(shown))
        if "goes on" not in shown.split("\n")[0]:
            break
        offset = int(shown.split("offset=")[1].split(" ")[0])
    assert found == text


async def test_the_output_of_a_command_comes_as_a_terminal_shows_it(tmp_path: Path) -> None:
    history = [user("x"), called("c1", "shell"), answered("c1", "…", artifact="a1")]
    table = Table(tmp_path, history, a1=b"\x1b[31mred\x1b[0m\r\n10%\r99%\nend\n" + "乱码".encode("gbk") + b"\n")
    assert body(await table(id="a1")) == ["red", "99%", "end", "乱码"]
    plain = Table(tmp_path, [user("x"), called("c1", "read_file"), answered("c1", "", artifact="a1")], a1="\x1b[0m\n")
    assert body(await plain(id="a1")) == ["\x1b[0m"]


async def test_an_output_that_cannot_be_read_is_the_models_to_know(table: Table, tmp_path: Path) -> None:
    table.files["a1"] = tmp_path
    assert "could not be read" in await table.fails(id="a1")


TEXTS = st.lists(st.text(st.sampled_from("ab 中é\U0001f600\t"), max_size=40), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(lines=TEXTS, room=st.integers(700, 3000), limit=st.integers(1, 70))
async def test_paging_gives_every_line_exactly_once(
    lines: list[str], room: int, limit: int, tmp_path_factory: Any
) -> None:
    lines[-1] += "."
    folder = tmp_path_factory.mktemp("recall")
    history = [user("x"), called("c1", "read_file"), answered("c1", "\n".join(lines))]
    table = Table(folder, history, a1="\n".join(lines))
    for id, skip in (("a1", 0), ("c1", 2)):
        found, offset = list[str](), 1
        while True:
            shown = await table(room, id=id, offset=offset, limit=limit)
            assert len(shown.encode()) <= room
            found += body(shown)
            if "goes on" not in shown.split("\n")[0]:
                break
            offset = int(shown.split("offset=")[1].split(" ")[0])
        assert found[skip:] == lines


@settings(max_examples=150, deadline=None)
@given(
    id=st.none() | st.text(max_size=12) | st.from_regex(r"(turn:|unit |[acut])?-?[0-9]{1,12}", fullmatch=True),
    query=st.none() | st.text(max_size=30),
    offset=st.none() | st.integers(-(10**9), 10**9),
    limit=st.none() | st.integers(-3, 10**9),
)
async def test_nothing_but_a_failure_the_model_can_read(
    id: str | None, query: str | None, offset: int | None, limit: int | None, tmp_path_factory: Any
) -> None:
    table = Table(tmp_path_factory.mktemp("recall"), HISTORY, a1="x\ny\n", a2=b"\xff\xfe\x00\x1b[")
    args = {k: v for k, v in (("id", id), ("query", query), ("offset", offset), ("limit", limit)) if v is not None}
    with suppress(ToolFailure):
        assert await table(**args)


# --- through the real loop ------------------------------------------------------------------------------------------


def session_app(tmp_path: Path, *steps: Any) -> tuple[Any, Scripted]:
    (tmp_path / "work").mkdir(exist_ok=True)
    model = Scripted(list(steps))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    app = gongfu.open(
        tmp_path / "work", home=tmp_path / "g", env=env, model=SCRIPTED.ref, permission="full", answers="no",
        providers={SCRIPTED.ref: model},
    )  # fmt: skip
    return app, model


async def test_five_megabytes_are_spilled_and_come_back_by_offset(tmp_path: Path) -> None:
    def again(request: Request) -> Call:
        result = request.messages[-1].results[0]
        assert f"recall id={result.artifact} offset=" in result.text
        return Call("recall", {"id": result.artifact, "offset": 400_000, "limit": 3})

    app, model = session_app(
        tmp_path, Call("shell", {"command": "seq -f 'line %.0f' 1 450000"}), again,
        Call("recall", {"query": "line 449321"}), Call("recall", {"id": "c1", "offset": -1}), Say("Done."),
    )  # fmt: skip
    async with app:
        session = await app.session()
        assert (await (await session.prompt("Go"))).status == "done"
    results = [r for m in model.requests[-1].messages for r in m.results]
    assert "line 225000" not in results[0].text
    assert body(results[1].text) == ["line 400000", "line 400001", "line 400002"]
    assert "line 449321" in results[2].text
    assert body(results[3].text) == ["line 450000"]
    assert all(r.status == "done" and not r.artifact for r in results[1:])
    model.finish()


async def test_a_page_fits_the_room_there_is_and_is_not_cut_again(tmp_path: Path) -> None:
    """At a small window a result may have a tenth of it: recall keeps to that and says how to go on."""
    import msgspec

    steps = [Call("shell", {"command": "seq 1 50000"}), Call("recall", {"id": "a1", "offset": 1000}), Say("ok")]
    model = Scripted(steps, info=msgspec.structs.replace(SCRIPTED, window=16_384))
    (tmp_path / "work").mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with gongfu.open(
        tmp_path / "work", home=tmp_path / "g", env=env, model=SCRIPTED.ref, permission="full", answers="no",
        providers={SCRIPTED.ref: model},
    ) as app:  # fmt: skip
        await (await (await app.session()).prompt("Go"))
    result = model.requests[-1].messages[-1].results[0]
    lines = body(result.text)
    assert lines == [str(n) for n in range(1000, 1000 + len(lines))]
    assert 100 < len(lines) < 3000
    assert not result.artifact


async def test_a_fork_has_the_outputs_that_its_history_names(tmp_path: Path) -> None:
    steps = [
        Call("shell", {"command": "seq 1 50000"}), Say("ok"), Call("shell", {"command": "seq 2 60000"}),
        Call("recall", {"id": "a1", "offset": -1}), Call("recall", {"id": "a2", "offset": -1}), Say("ok"),
    ]  # fmt: skip
    app, model = session_app(tmp_path, *steps)
    async with app:
        session = await app.session()
        await (await session.prompt("Count"))
        fork = await session.fork()
        await (await fork.prompt("Again"))
        assert list(app.artifacts.all(session.id)) == ["a1"]
    results = [r for m in model.requests[-1].messages for r in m.results]
    assert [body(r.text) for r in results[-2:]] == [["50000"], ["60000"]]


async def test_a_search_says_when_it_did_not_read_everything(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gongfu.toolkit.recollect._SCAN", 10)
    assert "not searched" in await table(query="login")
    assert "not searched" in await table(query="zebra")


async def test_a_large_output_is_searched_and_counted_as_it_is_paged(tmp_path: Path) -> None:
    lines = [f"\x1b[32mrow {n}\x1b[0m of a long log" for n in range(60_000)]
    lines[41_234] = "\x1b[31mthe WEIRD failure 乱码\x1b[0m"
    history = [user("x"), called("c1", "shell", '{"command":"make"}'), answered("c1", "…", artifact="a1")]
    table = Table(tmp_path, history, a1="\n".join(lines))
    for words in ("weird failure", "乱码"):
        hit = await table(query=words)
        assert "call c1 shell make in turn 0: recall id=a1 offset=41234\n" in hit
        assert "  the WEIRD failure 乱码\n" in hit
    assert body(await table(id="a1", offset=41_235, limit=1)) == ["the WEIRD failure 乱码"]


def test_the_documentation_gives_the_figures_of_the_code() -> None:
    docs = Path(__file__).parents[2] / "docs"
    english, chinese = ((docs / name).read_text(encoding="utf-8") for name in ("context.md", "zh/context.md"))
    assert (STALE, UNFINISHED_DAYS) == (12, 30)
    for text, words in (
        (english, (f"more than {ROW:,} bytes", "twelve requests", "last 30 days", "at most ten")),
        (chinese, (f"超过 {ROW:,} 字节", "连续十二次请求", "最近 30 天", "最多十条")),
    ):
        assert all(word in text for word in words)
        for form in ("id=a3", "id=c12", "id=u12", "id=turn:3", "query="):
            assert f"| `{form}" in text
