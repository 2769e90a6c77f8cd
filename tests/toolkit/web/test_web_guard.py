"""Which addresses are refused, in every spelling of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.web_guard import Reach, kind_of, link_of

pytestmark = pytest.mark.anyio

LOOPBACK = "this machine"
LOCAL = "the local network"


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("127.0.0.1", LOOPBACK),
        ("127.1", LOOPBACK),
        ("127.0.1", LOOPBACK),
        ("127.255.255.254", LOOPBACK),
        ("2130706433", LOOPBACK),
        ("0x7f000001", LOOPBACK),
        ("0x7f.1", LOOPBACK),
        ("017700000001", LOOPBACK),
        ("0177.0.0.01", LOOPBACK),
        ("0", LOOPBACK),
        ("0.0.0.0", LOOPBACK),
        ("0.1.2.3", LOOPBACK),
        ("0x", LOOPBACK),
        ("127.0.0.1.", LOOPBACK),
        ("１２７.0.0.1", LOOPBACK),
        ("127。0。0。1", LOOPBACK),
        ("localhost", LOOPBACK),
        ("LOCALHOST.", LOOPBACK),
        ("a.localhost", LOOPBACK),
        ("[::1]", LOOPBACK),
        ("[::]", LOOPBACK),
        ("[0:0:0:0:0:0:0:1]", LOOPBACK),
        ("[::ffff:127.0.0.1]", LOOPBACK),
        ("[::ffff:7f00:1]", LOOPBACK),
        ("[::127.0.0.1]", LOOPBACK),
        ("[64:ff9b::127.0.0.1]", LOOPBACK),
        ("[2002:7f00:1::]", LOOPBACK),
        ("10.0.0.1", LOCAL),
        ("172.16.0.1", LOCAL),
        ("172.31.255.255", LOCAL),
        ("192.168.1.1", LOCAL),
        ("3232235777", LOCAL),
        ("0300.0250.1.1", LOCAL),
        ("100.64.0.1", LOCAL),
        ("100.127.255.255", LOCAL),
        ("[fc00::1]", LOCAL),
        ("[fd12:3456::1]", LOCAL),
        ("[fec0::1]", LOCAL),
        ("[::ffff:10.0.0.1]", LOCAL),
        ("[2002:a00:1::]", LOCAL),
        ("[64:ff9b:1::10.0.0.1]", LOCAL),
        ("169.254.1.1", "link-local"),
        ("[fe80::1]", "link-local"),
        ("169.254.169.254", "metadata"),
        ("0xA9FEA9FE", "metadata"),
        ("2852039166", "metadata"),
        ("[::ffff:a9fe:a9fe]", "metadata"),
        ("[fd00:ec2::254]", "metadata"),
        ("100.100.100.200", "metadata"),
        ("168.63.129.16", "metadata"),
        ("metadata.google.internal", "metadata"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("[ff02::1]", "multicast"),
        ("255.255.255.255", "reserved"),
        ("240.0.0.1", "reserved"),
        ("192.0.2.1", "reserved"),
        ("198.18.0.5", "reserved"),
        ("[2001:db8::1]", "reserved"),
        ("93.184.216.34", ""),
        ("100.63.255.255", ""),
        ("100.128.0.1", ""),
        ("172.32.0.1", ""),
        ("11.0.0.1", ""),
        ("[2606:4700::1111]", ""),
        ("[::ffff:93.184.216.34]", ""),
        ("example.com", ""),
        ("例子.测试", ""),
    ],
)
def test_what_an_address_leads_to(host: str, kind: str) -> None:
    link = link_of(f"http://{host}/")
    assert Reach().judge_name(link.host, link.port) == kind


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("ftp://a.example/", "not ftp:"),
        ("file:///etc/passwd", "not file:"),
        ("javascript:alert(1)", "not javascript:"),
        ("data:text/html,x", "not data:"),
        ("http:///x", "names no host"),
        ("http://", "names no host"),
        ("http://user@a.example/", "user name or password"),
        ("http://user:pw@a.example/", "user name or password"),
        ("http://a.example@127.0.0.1/", "user name or password"),
        ("http://a.example\\@127.0.0.1/", "backslash"),
        ("http://a.example /", "blank"),
        ("http://a.example\t.evil/", "control character"),
        ("http://a.example/\0", "control character"),
        ("http://a.example/?x=\ny", "control character"),
        ("http://127%2e0.0.1/", "not a host name"),
        ("http://a..b/", "not a host name"),
        ("http://-a.example/", "not a host name"),
        ("http://1.2.3.256/", "neither a host name"),
        ("http://1.2.3.4.5/", "neither a host name"),
        ("http://0x7g.1/", "neither a host name"),
        ("http://4294967296/", "neither a host name"),
        ("http://08.1.1.1/", "neither a host name"),
        ("http://[fe80::1%25eth0]/", "not an"),
        ("http://[::1/", "not an address"),
        ("http://a.example:99999/", "not an address"),
        ("http://a.example:0/", "port 0"),
        ("http://a.example/" + "x" * 9000, "characters long"),
        ("http://\ud800.example/", "control character"),
        ("https://a.example/?k=ghp_0123456789abcdefghijABCDEFGHIJ012345", "looks like a key"),
        ("http://" + "a" * 300 + ".example/", "not a host name"),
    ],
)
def test_what_is_no_address(url: str, said: str) -> None:
    with pytest.raises(ToolFailure) as failure:
        link_of(url)
    assert said in str(failure.value)
    assert "pw" not in str(failure.value)


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("example.com", "https://example.com/"),
        ("example.com:8080/a b", ""),
        ("example.com/a?q=中文#部分", "https://example.com/a?q=%E4%B8%AD%E6%96%87#%E9%83%A8%E5%88%86"),
        ("localhost:3000", "http://localhost:3000/"),
        ("127.0.0.1:8000/x", "http://127.0.0.1:8000/x"),
        ("HTTP://Example.COM:80/A%20b", "http://example.com/A%20b"),
        ("https://例子.测试/", "https://xn--fsqu00a.xn--0zwm56d/"),
        ("http://[2606:4700::1]:8080/", "http://[2606:4700::1]:8080/"),
        ("http://a_b.example./?a=[1]&b='x'", "http://a_b.example/?a=[1]&b='x'"),
    ],
)
def test_addresses_as_people_write_them(url: str, whole: str) -> None:
    if whole:
        assert link_of(url).url == whole
    else:
        with pytest.raises(ToolFailure):
            link_of(url)


@given(st.integers(0, 2**32 - 1))
@example(0x7F000001)
def test_every_spelling_of_an_ipv4_address_is_the_same(number: int) -> None:
    plain = str(ipaddress.IPv4Address(number))
    parts = plain.split(".")
    spelled = (
        plain, str(number), hex(number), f"0{number:o}", ".".join(f"0x{int(p):x}" for p in parts),
        ".".join(f"0{int(p):o}" for p in parts), f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{number & 0xFFFF}",
    )  # fmt: skip
    assert {link_of(f"http://{text}/").host for text in spelled} == {plain}
    kinds = {kind_of(plain), kind_of(f"::ffff:{plain}"), kind_of(f"64:ff9b::{plain}")}
    assert kinds == {kind_of(plain)} or (number >> 24 == 0)


@given(st.ip_addresses())
def test_nothing_but_the_open_network_passes(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if not kind_of(str(address)):
        assert address.is_global
        assert not address.is_multicast


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    for url in (text, f"http://{text}", f"http://a.example/{text}"):
        try:
            link = link_of(url)
        except ToolFailure:
            continue
        assert link.target.isascii()
        assert link_of(link.url) == link


async def _names(host: str, port: int) -> Sequence[str]:
    found = {
        "public.example": ("93.184.216.34",),
        "inside.example": ("10.0.0.5",),
        "both.example": ("93.184.216.34", "127.0.0.1"),
        "cloud.example": ("169.254.169.254",),
        "fake.example": ("198.18.0.7",),
        "six.example": ("fe80::1%eth0",),
    }
    if host not in found:
        raise OSError
    return found[host]


@pytest.mark.parametrize(
    ("host", "allow", "reached"),
    [
        ("public.example", (), True),
        ("inside.example", (), False),
        ("both.example", (), False),
        ("six.example", (), False),
        ("unknown.example", (), True),
        ("inside.example", ("inside.example",), True),
        ("inside.example", ("INSIDE.example.",), True),
        ("inside.example", ("inside.example:80",), True),
        ("inside.example", ("inside.example:81",), False),
        ("inside.example", ("*.example",), True),
        ("inside.example", ("example",), False),
        ("inside.example", ("10.0.0.5",), True),
        ("inside.example", ("10.0.0.0/8",), True),
        ("inside.example", ("11.0.0.0/8",), False),
        ("inside.example", ("not a network/8", "", "*", ":80"), False),
        ("both.example", ("93.184.216.34",), False),
        ("cloud.example", ("cloud.example",), False),
        ("cloud.example", ("169.254.169.254",), True),
        ("fake.example", ("198.18.0.0/15",), True),
        ("127.0.0.1", ("localhost",), False),
        ("127.0.0.1", ("127.0.0.1",), True),
        ("::1", ("[::1]:80",), True),
        ("::1", ("0:0::1",), True),
    ],
)
async def test_what_is_listed_may_be_reached(host: str, allow: tuple[str, ...], reached: bool) -> None:
    reach = Reach(allow, _names)
    assert (not reach.judge(host, 80, await reach.addresses(host, 80))) == reached


async def test_the_refusal_says_what_helps() -> None:
    reach = Reach((), _names)
    with pytest.raises(ToolFailure, match=r"add 198.18.0.0/15 to web.allow_hosts"):
        await reach.open(link_of("http://fake.example/"))
    with pytest.raises(ToolFailure, match=r"inside.example:80 \(10.0.0.5\) leads to the local network.*browser_open"):
        await reach.open(link_of("http://inside.example/"))
