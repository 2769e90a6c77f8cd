"""web_fetch against a loopback web: what is read of it, what is not, and how far it goes."""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.core.tokens import text_tokens
from gongfu.toolkit.web_client import Limits
from gongfu.toolkit.web_markdown import to_markdown
from gongfu.toolkit.web_page import html_page
from tests.app.cast import workplace
from tests.models.raw_server import raw_server
from tests.models.test_transport_ways import certificate, server_side  # noqa: F401
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play
from tests.toolkit.web.site import ARTICLE, INSIDE, PUBLIC, Pages, client, site, tools

pytestmark = pytest.mark.anyio


async def fetch(folder: Path, path: str, *, limits: Limits | None = None, room: int = 32_768, **args):
    async with site() as (server, _):
        ctx = Ctx()
        ctx.room = room
        made = tools(folder, limits=limits)
        return await made.web_fetch.run({"url": f"http://{PUBLIC}:{server.port}{path}", **args}, ctx)


async def test_a_page_comes_as_markdown(tmp_path: Path) -> None:
    told = await fetch(tmp_path, "/page")
    head, _, text = told.text.partition("\n\n")
    assert head.startswith("A & B | http://public.test:")
    assert head.endswith("/page")
    for part in (
        "# Guide",
        "[the next page](http://public.test:",
        "/next.html)",
        "`make test`",
        "def f():",
        "| name |",
    ):
        assert part in text, part
    assert "Menu" not in text
    assert "var x" not in text


def test_the_base_install_keeps_headings_lists_tables_links_and_code() -> None:
    title, text = to_markdown(ARTICLE, "https://a.example/docs/")
    assert title == "A & B"
    assert text == (
        "# Guide\n\nRead [the next page](https://a.example/docs/next.html) and **do not** skip `make test`.\n\n"
        "- one\n- two\n  - inner\n\n```python\ndef f():\n    return 1\n```\n\n"
        "| name | size |\n| --- | --- |\n| a\\|b | 3 |"
    )


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a<p>b", "a\n\nb"),
        ("<ol start=3><li>x<li>y</ol>", "3. x\n4. y"),
        ("<blockquote><p>said</p><p>more</p></blockquote>", "> said\n\n> more"),
        ("<nav><a href='/a'>only a menu</a></nav>", "[only a menu](https://h.example/a)"),
        ("<a href='javascript:x()'>press</a>", "press"),
        ("<table><tr><td>laid <b>out</b></td></tr></table>", "laid **out**"),
        (
            "<table><tr><td>1<table><tr><td>in</td></tr></table></td><td>2</td></tr></table>",
            "| 1 in | 2 |\n| --- | --- |",
        ),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        ("line<br>break", "line\nbreak"),
        ("<h2>中文 标题</h2><p>正文&nbsp;&copy;", "## 中文 标题\n\n正文 ©"),
        ("<ul><li><p>para</p><p>second</p></li></ul>", "- para\n\n  second"),
        ("</div></ul></a></b></table></pre>text", "text"),
        ("<style>x{}</style><template><p>no</p></template>yes", "yes"),
        ("<img alt='a cat' src=cat.png><img src=x.png>", "![a cat](https://h.example/cat.png)"),
        ("<b> bold </b>word", "**bold** word"),
        ("<dl><dt>term<dd>meaning</dl>", "term\n\nmeaning"),
    ],
)
def test_pieces_of_html(html: str, markdown: str) -> None:
    assert to_markdown(html, "https://h.example/")[1] == markdown


def _page(main: str) -> str:
    menu = "".join(f"<li><a href=/{n}>Place {n}</a>" for n in range(6))
    return f"<html><body><nav><ul>{menu}</ul></nav><main>{main}</main></body></html>"


TABLE = "<table><tr><th>Option</th><th>Default</th></tr><tr><td>speed</td><td>3</td></tr></table>"
CODE = '<pre><code class="language-sh">pip install frob</code></pre>'
LONG = "<p>A paragraph about the function <code>frob_it</code> that goes on for quite a while.</p>"


@pytest.mark.parametrize("more", ["", LONG * 3, LONG * 80, f"<h2>frob_it(x)</h2>{LONG}" * 60])
def test_pages_short_and_long_keep_headings_code_tables_and_names(more: str) -> None:
    text = html_page(_page(f"<h1>Frob</h1><h2>Install</h2>{CODE}{TABLE}{more}"), "https://a.example/").text
    for part in ("# Frob", "## Install", "```sh\npip install frob\n```", "\n\n| Option | Default |"):
        assert part in text, part
    assert "\\_" not in text
    assert "Place 3" not in text


def test_what_stands_around_a_long_article_is_left_out() -> None:
    around = "".join(f"<li><a href=/t{n}>Teaser {n}: a story you may like</a></li>" for n in range(100))
    article = "".join(f"<p>It tells of many things at length, of the {n}th also in detail.</p>" for n in range(60))
    html = f"<html><body><article><h1>Far away</h1>{article}</article><div class=sidebar><ul>{around}</ul></div></body>"
    text = html_page(html, "https://a.example/").text
    assert "many things" in text
    assert "Teaser 7" not in text


async def test_what_a_failing_server_says_is_told_in_one_short_line(tmp_path: Path) -> None:
    for path, end in (
        ("/status/500", "answered 500 Internal Server Error. It says: trouble"),
        ("/missing", "answered 404 Not Found. It says: nothing here"),
    ):
        with pytest.raises(ToolFailure) as failure:
            await fetch(tmp_path, path)
        assert str(failure.value).endswith(end)


def test_deep_and_broken_html_takes_little_time() -> None:
    start = time.process_time()
    for piece in (
        "<div>",
        "<ul><li>",
        "<table><tr><td>",
        "<blockquote>",
        "<b>",
        "<a href=x>",
        "<!-- ",
        "<a b='",
        "</p>",
    ):
        to_markdown(piece * 20_000)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("path", ["/gbk/header", "/gbk/meta", "/gbk/wrong", "/gbk/none"])
async def test_chinese_pages_are_read_whatever_they_say_of_themselves(tmp_path: Path, path: str) -> None:
    told = await fetch(tmp_path, path)
    assert "功夫手册" in told.text
    assert "先安装依赖，然后运行测试。" in told.text


async def test_big5_and_utf8_that_calls_itself_latin(tmp_path: Path) -> None:
    assert "安裝" in (await fetch(tmp_path, "/big5")).text
    assert "naïve 功夫" in (await fetch(tmp_path, "/latin")).text


async def test_data_is_given_as_it_is_and_html_when_asked(tmp_path: Path) -> None:
    assert (await fetch(tmp_path, "/json")).text.endswith('/json\n\n{"a": [1, 2]}')
    assert "<nav>" in (await fetch(tmp_path, "/page", raw=True)).text


async def test_a_picture_is_shown_and_a_binary_named(tmp_path: Path) -> None:
    told = await fetch(tmp_path, "/png")
    assert (told.images[0].media_type, told.images[0].width) == ("image/png", 2)
    with pytest.raises(ToolFailure, match=r"is a file application/zip of 504 bytes, which is no text"):
        await fetch(tmp_path, "/binary")


async def test_a_pdf_comes_as_text(tmp_path: Path) -> None:
    told = await fetch(tmp_path, "/pdf")
    assert "--- page 1 ---\nFirst page" in told.text
    assert "--- page 2 ---\nSecond page" in told.text
    assert told.display["summary"].startswith("PDF, 2 pages")


async def test_without_the_library_pages_are_converted_all_the_same(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    told = await fetch(tmp_path, "/page")
    assert "# Guide\n\nRead [the next page](http://public.test:" in told.text
    assert "- one\n- two\n  - inner" in told.text


async def test_a_page_built_by_scripts_names_the_browser(tmp_path: Path) -> None:
    assert "browser_open" in (await fetch(tmp_path, "/scripted")).text


async def test_long_text_is_paged_and_kept(tmp_path: Path) -> None:
    told = await fetch(tmp_path, "/long", room=2000)
    assert len(told.text.encode()) <= 2000
    assert told.text.splitlines()[2] == "row 1"
    last = told.text.splitlines()[-1]
    shown = len(told.text.splitlines()) - 1
    assert last == f"[lines 1-{shown:,} of 20,002; recall id=a1 offset={shown + 1} goes on]"
    assert Path(told.spill).read_text().splitlines()[shown] == f"row {shown - 1}"
    more = await fetch(tmp_path, "/long", room=2000, offset=20_001)
    assert more.text == "row 19999\nrow 20000\n[lines 20,001-20,002 of 20,002]"
    with pytest.raises(ToolFailure, match="there is no line 30,000"):
        await fetch(tmp_path, "/long", offset=30_000)


async def test_a_full_disk_costs_no_page(tmp_path: Path) -> None:
    async with site() as (server, _):
        made = tools(tmp_path, full=True)
        told = await made.web_fetch.run({"url": f"http://{PUBLIC}:{server.port}/long"}, Ctx())
    assert "offset=" in told.text.splitlines()[-1]
    assert told.spill == ""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nowhere", "answered 404 Not Found"),
        ("/status/500", "answered 500 Internal Server Error"),
        ("/status/429", "answered 429 Too Many Requests; it asks to wait (30 s) before the next try"),
        ("/status/401", "wants a login"),
        ("/cut", "closed the connection before the end"),
        ("/packed/broken", "packed answer is broken"),
        ("/packed/br", "packed its answer as 'br'"),
        ("/loop", "more than 5 redirects, given up: http://public.test:"),
        ("/to?http://10.0.0.8/", "10.0.0.8:80 leads to the local network"),
        ("/to?http://127.0.0.1:1/", "127.0.0.1:1 leads to this machine"),
        ("/to?http://localhost/", "localhost:80 leads to this machine"),
        (f"/to?http://{INSIDE}/", f"{INSIDE}:80 (10.1.2.3) leads to the local network"),
        ("/to?http://[::ffff:169.254.169.254]/latest", "leads to an address for cloud metadata"),
        ("/to?http://2130706433/", "127.0.0.1:80 leads to this machine"),
        ("/to?file:///etc/passwd", "only http:// and https://"),
        ("/to?https://93.184.216.34/x", "redirects to another host: https://93.184.216.34/x"),
    ],
)
async def test_what_cannot_be_had_is_told(tmp_path: Path, path: str, said: str) -> None:
    with pytest.raises(ToolFailure) as failure:
        await fetch(tmp_path, path)
    assert said in str(failure.value)


async def test_redirects_on_the_same_host_are_followed_and_shown(tmp_path: Path) -> None:
    told = await fetch(tmp_path, "/to?/to?/page")
    assert "(redirected: http://public.test:" in told.text.splitlines()[0]
    assert told.text.splitlines()[0].count("->") == 1


async def test_cookies_last_for_one_fetch(tmp_path: Path) -> None:
    assert (await fetch(tmp_path, "/login")).text.endswith("welcome")


@pytest.mark.parametrize("kind", ["gzip", "two", "deflate", "raw"])
async def test_packed_answers_are_unpacked(tmp_path: Path, kind: str) -> None:
    assert (await fetch(tmp_path, f"/packed/{kind}")).text.endswith("packed text")


@pytest.mark.parametrize("path", ["/bomb/gzip", "/bomb/deflate", "/flood/text"])
async def test_what_is_too_large_is_read_in_bounds(tmp_path: Path, path: str) -> None:
    made = client(limits=Limits(bytes=2_000_000))
    async with site() as (server, _):
        from gongfu.toolkit.web_guard import link_of

        tracemalloc.start()
        answer = await made.fetch(link_of(f"http://{PUBLIC}:{server.port}{path}"))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (len(answer.body), answer.cut) == (2_000_000, True)
    assert peak < 20_000_000


async def test_a_part_of_a_large_file_is_no_use(tmp_path: Path) -> None:
    for kind in ("pdf", "png"):
        with pytest.raises(ToolFailure, match=r"is larger than 50,000 bytes"):
            await fetch(tmp_path, f"/flood/{kind}", limits=Limits(bytes=50_000))
    told = await fetch(tmp_path, "/flood/text", limits=Limits(bytes=50_000))
    assert "[only the first 50,000 bytes were read]" in Path(told.spill).read_text()


async def test_slow_and_silent_servers_are_given_up(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match=r"did not answer whole within 0\.3 s"):
        await fetch(tmp_path, "/slow", limits=Limits(total=0.3))
    with pytest.raises(ToolFailure, match=r"nothing came for 0\.2 s"):
        await fetch(tmp_path, "/still", limits=Limits(idle=0.2))


async def test_an_unknown_name_and_a_closed_port(tmp_path: Path) -> None:
    made = tools(tmp_path, "127.0.0.1")
    with pytest.raises(ToolFailure, match=r"the name nowhere.test cannot be found"):
        await made.web_fetch.run({"url": "http://nowhere.test/"}, Ctx())
    async with site() as (server, _):
        port = server.port
    with pytest.raises(ToolFailure, match="refuses connections"):
        await made.web_fetch.run({"url": f"http://127.0.0.1:{port}/"}, Ctx())


async def test_a_name_is_looked_up_once_and_that_address_is_used(tmp_path: Path) -> None:
    """A name that answers otherwise the second time leads nowhere else."""
    from gongfu.toolkit.web_client import Client
    from gongfu.toolkit.web_guard import Reach, link_of

    asked: list[str] = []

    async def turning(host: str, port: int):
        asked.append(host)
        return ("127.0.0.1",) if len(asked) == 1 else ("10.9.9.9",)

    async with site() as (server, _):
        made = Client(Reach(("127.0.0.1",), turning), {})
        answer = await made.fetch(link_of(f"http://turning.test:{server.port}/json"))
        assert (answer.status, asked) == (200, ["turning.test"])
        with pytest.raises(ToolFailure, match="the local network"):
            await made.fetch(link_of(f"http://turning.test:{server.port}/json"))


async def test_the_certificate_must_be_that_of_the_name(certificate: Path) -> None:  # noqa: F811
    from gongfu.toolkit.web_guard import link_of

    made = client("127.0.0.1", env={"SSL_CERT_FILE": str(certificate)})
    async with raw_server(Pages(), tls=server_side(certificate)) as server:
        answer = await made.fetch(link_of(f"{server.url}/json"))
        assert answer.body == b'{"a": [1, 2]}'
        with pytest.raises(ToolFailure, match=r"the certificate of public\.test:\d+ is not trusted"):
            await made.fetch(link_of(f"https://{PUBLIC}:{server.port}/json"))
        with pytest.raises(ToolFailure, match=r"does not speak TLS|broke off|closed the connection"):
            await made.fetch(link_of(f"http://{PUBLIC}:{server.port}/json"))


async def test_a_proxy_is_used_but_not_for_what_is_inside(tmp_path: Path) -> None:
    async with site() as (server, _):
        made = client(env={"http_proxy": f"http://127.0.0.1:{server.port}"})
        from gongfu.toolkit.web_guard import link_of

        answer = await made.fetch(link_of(f"http://{PUBLIC}:{server.port}/json"))
        assert answer.body == b'{"a": [1, 2]}'
        assert server.requests[-1].target == f"http://{PUBLIC}:{server.port}/json"
        with pytest.raises(ToolFailure, match="leads to the local network"):
            await made.fetch(link_of(f"http://{INSIDE}/"))
        await made.fetch(link_of("http://unknown-here.test/"))  # the proxy knows more names than this machine
        assert server.requests[-1].target == "http://unknown-here.test/"


async def test_the_schema_costs_little(tmp_path: Path) -> None:
    import msgspec

    spec = tools(tmp_path).web_fetch.spec
    sent = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    assert text_tokens(msgspec.json.encode({"type": "function", "function": sent}).decode()) <= 90


async def test_it_is_in_the_core_set_and_asks_for_the_host(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    async with site() as (server, _):
        home = tmp_path / "home"
        home.mkdir()
        (home / "config.yaml").write_text(f"web: {{allow_hosts: ['127.0.0.1:{server.port}']}}\n")
        url = f"http://127.0.0.1:{server.port}/page"
        told = await play(work, ("web_fetch", {"url": url}), direct=True)
        assert "# Guide" in told.text
        refused = await play(work, ("web_fetch", {"url": url}), direct=True, permission="auto", answers="no")
        assert refused.status == "refused"
        other = await play(work, ("web_fetch", {"url": "http://127.0.0.1:1/"}), direct=True)
        assert (other.status, "web.allow_hosts" in other.text) == ("failed", True)
