"""Sessions and documents as files: every format read back, with Chinese, code, tables and pictures."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import struct
import unicodedata
import zlib
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gongfu
from gongfu.app.export import pdf
from gongfu.app.export.export import export_talk, publish, read_talk
from gongfu.app.export.markdown import code, fence, to_markdown
from gongfu.app.export.page import talk_page, to_html
from gongfu.app.export.talk import Answer, Done, Talk, Thought, Turn, Words
from gongfu.app.export.typst_source import Source
from gongfu.core.errors import UserError
from gongfu.core.messages import ImagePart
from gongfu.models.scripted import Call, Calls, Say
from tests.app.cast import Cast, opened, run, workplace

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
KEY = "sk-ant-api03-" + "aZ3kQ9mB7xW2pL5vT8nR4cY6" * 3
ANSWER = """已经改好：`a.txt:1`。

| 名称 | Value |
|:-----|------:|
| 甲   | 1,024 |

```python
def 问候(name: str) -> str:
    return f"你好, {name}"
```

1. **first** and [a link](https://example.org/)
"""


def png(colour: bytes = b"\xff\x00\x00", side: int = 24) -> bytes:
    """A small picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + colour * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PICTURE = ImagePart(media_type="image/png", data=base64.b64encode(png()).decode(), width=24, height=24)


@pytest.fixture
async def made(tmp_path: Path) -> Any:
    """An app with a session of two turns, and its id."""
    cast = Cast(
        [
            Call("read_file", {"path": "a.txt"}, reasoning="先看 look first"),
            Calls(
                (
                    Call("edit_file", {"path": "a.txt", "old": "alpha", "new": "阿尔法"}),
                    Call("shell", {"command": f"echo {KEY}; false"}),
                )
            ),
            Say(ANSWER),
            Say("第二个回答"),
        ]
    )
    async with opened(workplace(tmp_path), cast, permission="full") as app:
        turn = await run(app, "把 alpha 改掉\nThen show <b>")
        await (await turn.session.prompt("And now?"))
        yield app, turn.session.id


async def export(app: gongfu.App, format: Any, **more: Any) -> bytes:
    return (await export_talk(read_talk(app, **more), format, language=app.language, env=ENV)).data


async def test_a_short_export_holds_prompts_and_final_answers_alone(made: Any) -> None:
    app, _ = made
    text = (await export(app, "markdown")).decode()
    assert text.startswith("# 把 alpha 改掉")
    assert "> 把 alpha 改掉\n> Then show <b>" in text
    assert ANSWER.strip() in text
    assert "第二个回答" in text
    assert "look first" not in text
    assert "read_file" not in text
    assert "\n\n\n" not in text


async def test_everything_holds_thinking_calls_results_and_diffs(made: Any) -> None:
    app, _ = made
    text = (await export(app, "markdown", everything=True)).decode()
    for said in ("先看 look first", "<code>read_file</code>", "1|alpha", "-alpha\n+阿尔法", "[exit code 1]", "(failed"):
        assert said in text, said
    assert text.index("look first") < text.index("1|alpha") < text.index("+阿尔法") < text.index("已经改好")


async def test_the_last_turn_alone(made: Any) -> None:
    app, _ = made
    text = (await export(app, "markdown", last=True, everything=True)).decode()
    assert "And now?" in text
    assert "已经改好" not in text


async def test_json_reads_back_to_the_same_talk(made: Any) -> None:
    app, id = made
    talk = read_talk(app, id, everything=True)
    data = await export(app, "json", session=id, everything=True)
    assert msgspec.json.decode(data, type=Talk) == talk
    plain = json.loads(data)
    assert [turn["ended"] for turn in plain["turns"]] == ["done", "done"]
    assert [i["type"] for i in plain["turns"][0]["items"]] == ["words", "thought", "call", "call", "call", "answer"]


async def test_secrets_are_left_out_when_it_is_asked(made: Any) -> None:
    app, _ = made
    assert KEY.encode() in await export(app, "json", everything=True)
    for format in ("json", "markdown", "html"):
        assert KEY.encode() not in await export(app, format, everything=True, redact=True)


async def test_the_page_needs_nothing_beside_it_and_runs_nothing(made: Any) -> None:
    app, _ = made
    page = (await export(app, "html", everything=True)).decode()
    assert "<table>" in page
    assert '<span class="k">def</span>' in page
    assert "Then show &lt;b&gt;" in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="(?!https://example\.org/|data:)', page) == []


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](https://evil.example/p.png)",
        "![x](file:///etc/passwd)",
        "[x](data:text/html,<script>alert(1)</script>)",
        "```html\n<script>alert(1)</script>\n```",
        "<iframe src='https://evil.example'></iframe>",
        "| a |\n|---|\n| <style>*{}</style> |",
    ],
)
def test_nothing_of_an_answer_runs_or_is_fetched_in_a_page(markdown: str) -> None:
    html = to_html(markdown)
    assert not re.search(r"<(script|iframe|style|object|embed)", html)
    assert not re.search(r"<[^>]*(onerror|javascript:)", html)
    assert not re.search(r'src="(https?|file):', html)


def test_a_picture_that_is_left_out_is_told_by_its_name() -> None:
    html = to_html('![a "map"](https://evil.example/a.png) ![](x.png) ![own](data:image/png;base64,AAAA)')
    assert html.count("<img") == 1
    assert '<span class="note">[a &quot;map&quot;]</span>' in html
    assert "evil" not in html


@pytest.mark.parametrize("lines", [1, 50, 51, 3000])
def test_long_code_is_laid_out_in_parts_and_stays_whole(lines: int) -> None:
    code = "\n".join(f'text_{n} = """one\n  two {n}"""' for n in range(lines))[:-1]
    html = to_html(f"```python\n{code}\n```")
    bare = unescape(re.sub(r"<[^>]+>", "", html)).strip("\n")
    assert bare == code
    assert all(part.count("\n") <= 51 for part in html.split('<div class="part">'))


def _pdf_text(data: bytes) -> str:
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)


def _squeezed(text: str) -> str:
    """Without spaces and with plain characters: a PDF may hold radicals and ligatures in their stead."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def _browser() -> str:
    found = pdf.find_browser(ENV)
    if not found and not os.environ.get("CI"):
        pytest.skip("no Chrome, Chromium or Edge here")
    assert found, "install chromium"
    return found


async def test_a_printed_pdf_holds_the_chinese_text_the_code_and_the_table(made: Any) -> None:
    app, _ = made
    page = talk_page(read_talk(app, everything=True), "zh", opened=True)
    text = _squeezed(_pdf_text(await pdf.print_page(page, _browser(), ENV)))
    for said in ("已经改好", "1,024", "def问候(name:str)", "+阿尔法", "lookfirst", "第二个回答", "名称"):
        assert said in text, said


async def test_a_set_pdf_holds_the_same(made: Any) -> None:
    if not pdf.has_typst():
        pytest.skip("the package typst is not here")
    app, _ = made
    source = Source("标题", "zh")
    source.talk(read_talk(app, everything=True))
    text = _squeezed(_pdf_text(await pdf.typeset(source.text, source.files)))
    for said in ("已经改好", "1,024", "def问候(name:str)", "+阿尔法", "lookfirst", "第二个回答", "名称"):
        assert said in text, said


async def test_without_a_browser_and_typst_a_pdf_is_refused_with_what_helps(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = made
    monkeypatch.setattr(pdf, "has_typst", lambda: False)
    with pytest.raises(UserError) as failure:
        await export_talk(read_talk(app), "pdf", language="en", env={"PATH": ""})
    assert "pip install 'gongfu[pdf]'" in str(failure.value)


async def test_a_browser_that_fails_gives_way_to_typst_or_says_why(made: Any, tmp_path: Path) -> None:
    app, _ = made
    folder = tmp_path / "bin"
    folder.mkdir()
    broken = folder / "chromium"
    broken.write_text("#!/bin/sh\necho no display for you >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(UserError, match="no display for you"):
        await pdf.print_page("<p>x", str(broken), ENV)
    if pdf.has_typst():
        data = (await export_talk(read_talk(app), "pdf", language="en", env={"PATH": f"{folder}:/bin:/usr/bin"})).data
        assert data.startswith(b"%PDF")


def talk_with(*items: Any) -> Talk:
    return Talk(session="s", title="t", folder="/f", turns=(Turn(items=items, ended="done"),))


async def test_pictures_stand_beside_markdown_and_inside_pages(tmp_path: Path) -> None:
    talk = talk_with(Words(text="看图", images=(PICTURE,)), Answer(text="红色", final=True))
    made = await export_talk(talk, "markdown", language="en", env=ENV, folder="my talk-images")
    assert list(made.beside) == ["my talk-images/1.png"]
    assert made.beside["my talk-images/1.png"] == png()
    assert "](my%20talk-images/1.png)" in made.data.decode()
    named = await export_talk(talk, "markdown", language="en", env=ENV)
    assert "*[image, 24 × 24]*" in named.data.decode()
    page = (await export_talk(talk, "html", language="en", env=ENV)).data.decode()
    assert f"data:image/png;base64,{PICTURE.data}" in page
    source = Source("t", "en")
    source.talk(talk)
    assert source.files == {"picture1.png": png()}


async def test_a_document_is_published_with_its_pictures() -> None:
    html = await publish("标题", "# 标题\n\n![p](p.png) ![q](q.png)", "html", language="zh", env=ENV,
                         image=lambda a: f"data:image/png;base64,{PICTURE.data}" if a == "p.png" else "")  # fmt: skip
    page = html.decode()
    assert page.count("<img") == page.count(PICTURE.data) == 1
    assert "[q]" in page
    assert "q.png" not in page.partition("<article")[2]


TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
PIECES = st.sampled_from(
    ["`", "```", "~~~", "\n", "<", "&", "#", "\\", '"', "{", "$", "|", "*", "文", "a b", "</details>"]
)
WILD = st.lists(PIECES | TEXT, max_size=12).map("".join)


@given(WILD)
@settings(max_examples=60)
def test_nothing_ends_a_block_of_code_early(text: str) -> None:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(fence(text.replace("\r", "").replace("\0", "")))
    assert [t.type for t in tokens] == ["fence"]
    one = " ".join(text.replace("\0", "").split())
    if one:
        inline = MarkdownIt("commonmark").parseInline(code(one))[0].children
        assert inline is not None
        assert [t.type for t in inline] == ["code_inline"]


@given(WILD, WILD, WILD)
@settings(max_examples=12, deadline=None)
def test_any_text_comes_through_every_format(one: str, two: str, three: str) -> None:
    talk = talk_with(Words(text=one), Thought(text=two), Done(name="shell", title=three, arguments="{}", status="done",
                     text=one), Answer(text=two), Answer(text=three, final=True))  # fmt: skip
    assert to_markdown(talk, "en", lambda _: "").startswith("# t\n")
    page = talk_page(talk, "en")
    assert "<script" not in page
    source = Source("t", "en")
    source.talk(talk)
    if pdf.has_typst():
        import typst

        assert typst.compile(source.text.encode()).startswith(b"%PDF")


def test_a_session_that_was_killed_is_exported_as_far_as_it_goes(tmp_path: Path) -> None:
    from gongfu.app.export.gather import gather
    from gongfu.core.events import AnswerReceived, Entry, PromptQueued, TurnStarted
    from gongfu.core.messages import CallPart, Message, TextPart, user
    from gongfu.store.sessions import SessionRow

    call = CallPart(id="c1", name="shell", arguments='{"command": "x"}')
    events = [
        PromptQueued(prompt="p", message=user("go")),
        TurnStarted(turn="t", model="m", permission="ask", prompt="p"),
        AnswerReceived(request="r", message=Message(role="assistant", parts=(TextPart(text="I run"), call))),
    ]
    row = SessionRow(
        id="s", title="", directory="/", root="/", parent="", created=0, updated=0, turns=0, tokens=0, cost=None
    )
    entries = [Entry(seq=n, time=0.0, event=e) for n, e in enumerate(events, 1)]
    talk = gather(row, entries, everything=True, language="en")
    kinds = [type(item).__name__ for item in talk.turns[0].items]
    assert kinds == ["Words", "Answer", "Done"]
    assert "(not finished)" in to_markdown(talk, "en", lambda _: "")


async def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    async with opened(workplace(tmp_path), Cast([Say("x")])) as app:
        with pytest.raises(UserError):
            read_talk(app)
        with pytest.raises(UserError):
            read_talk(app, "s_nothing")
