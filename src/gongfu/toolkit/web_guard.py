"""Which addresses of the web may be reached: public ones, and what the person listed."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

import anyio

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import looks_secret
from gongfu.workspace.sandbox.hosts import split_port

Kind: TypeAlias = Literal[
    "", "this machine", "the local network", "link-local", "metadata", "multicast", "reserved", "forbidden"
]
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]

NEAR: tuple[Kind, ...] = ("this machine", "the local network")
_PORTS = {"http": 80, "https": 443}
_LONGEST = 8000
_NAME = r"[a-z0-9_](?:[a-z0-9_\-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_\-]*[a-z0-9_])?)*"
_NUMBER = r"0x[0-9a-f]*|[0-9]+"
_NEAR_HOST = r"(?i)localhost\b|[\w\-]+\.localhost\b|\d+\.\d+\.|\["
_METADATA = ("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254")
_METADATA_NAMES = ("metadata.google.internal", "metadata.goog")
_NAT64 = ("64:ff9b::/96", "64:ff9b:1::/48")
_LOCAL = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10")
_FAKE = "198.18.0.0/15"
_IP: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"


class Link(Base, frozen=True):
    """A checked http(s) address. `host` is in ASCII and lower case (numbers that mean an IPv4 address as one), `target`
    is path and query as they are sent."""

    scheme: str
    host: str
    port: int
    target: str
    fragment: str = ""

    @property
    def place(self) -> str:
        """`host:port`, as rules know it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}{self.fragment}"

    @property
    def name(self) -> str:
        """The host without a leading `www.`."""
        return self.host.removeprefix("www.")


def link_of(text: str) -> Link:
    """Take an address apart. ToolFailure for whatever is no plain http(s) address."""
    url = text.strip()
    if not url:
        raise ToolFailure("url is empty; give a whole address such as https://example.com/page")
    if len(url) > _LONGEST:
        raise ToolFailure(f"the address is {len(url):,} characters long; at most {_LONGEST:,} are taken")
    if re.search(r"[\x00-\x20\x7f\\\ud800-\udfff]", url.partition("?")[0]) or re.search(r"[\x00-\x1f\x7f]", url):
        raise ToolFailure("the address holds a blank, a backslash or a control character; write it percent-encoded")
    if "://" not in url and (":" not in url or re.match(r"[\w.\-]+:\d+(?:[/?#]|$)|\[", url)):
        url = f"{'http' if re.match(_NEAR_HOST, url) else 'https'}://{url}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ToolFailure(f"{shown(text)} is not an address: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise ToolFailure(f"only http:// and https:// addresses can be fetched, not {scheme or 'this'}:")
    if "@" in parts.netloc:
        raise ToolFailure("the address holds a user name or password; such addresses are not fetched. Leave it out.")
    if looks_secret(url):
        raise ToolFailure("the address holds what looks like a key or password; nothing was sent. Leave it out.")
    if not parts.hostname or port == 0:
        raise ToolFailure(f"{shown(text)} names no host" if port != 0 else "port 0 cannot be reached")
    return Link(
        scheme=scheme, host=_host(parts.hostname, parts.netloc), port=port or _PORTS[scheme], target=_target(parts),
        fragment=f"#{_quoted(parts.fragment)}" if parts.fragment else "",
    )  # fmt: skip


def _host(name: str, netloc: str) -> str:
    if "[" in netloc:
        try:
            if "%" not in name:
                return str(ipaddress.IPv6Address(name))
            raise ValueError
        except ValueError:
            raise ToolFailure(f"[{name}] is not an IPv6 address without a zone") from None
    host = name.lower()
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            raise ToolFailure(f"{name!r} is not a host name") from None
    host = host.rstrip(".")
    if len(host) > 253 or re.fullmatch(_NAME, host) is None:
        raise ToolFailure(f"{shown(name)!r} is not a host name")
    if re.fullmatch(_NUMBER, host.rpartition(".")[2]):
        return _number(host)
    return host


def _number(host: str) -> str:
    """The IPv4 address that a host of one to four numbers (decimal, octal, hexadecimal) means."""
    pieces = host.split(".")
    try:
        numbers = [int(p[2:] or "0", 16) if p[:2] == "0x" else int(p, 8 if p[0] == "0" else 10) for p in pieces]
        *first, last = numbers
        if len(numbers) > 4 or any(n > 255 for n in first) or last >= 256 ** (5 - len(numbers)):
            raise ValueError
    except ValueError:
        raise ToolFailure(f"{shown(host)!r} is neither a host name nor an IPv4 address") from None
    value = last + sum(n << (24 - 8 * i) for i, n in enumerate(first))
    return str(ipaddress.IPv4Address(value))


def _target(parts: SplitResult) -> str:
    return (_quoted(parts.path) or "/") + (f"?{_quoted(parts.query)}" if parts.query else "")


def _quoted(text: str) -> str:
    from urllib.parse import quote  # only calls of the web need it

    return quote(text, safe="%/:=&?~#+!$,;'@()*[]|", errors="replace")


def unbroken(text: str) -> str:
    """A text without lone surrogates, which pages may hold and no file can."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def shown(text: str) -> str:
    """An address or name fit to be shown: short, without a login."""
    plain = re.sub(r"//[^/@]*@", "//…@", unbroken(text.strip()))
    return plain if len(plain) <= 200 else f"{plain[:200]}…"


# --- what an address is -----------------------------------------------------------------------------------------------


def kind_of(address: str) -> Kind:
    """What an IP address leads to, "" for the open network. IPv4 inside IPv6 counts as what it is."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "reserved"
    if isinstance(found, ipaddress.IPv6Address):
        inner = _embedded(found)
        if inner is not None and (kind := kind_of(str(inner))):
            return kind
    return _kind(found)


def _kind(found: _IP) -> Kind:
    if str(found) in _METADATA:
        return "metadata"
    if found.is_loopback or found.is_unspecified or (found.version == 4 and found.packed[0] == 0):
        return "this machine"
    if found.is_link_local:
        return "link-local"
    if found.is_multicast:
        return "multicast"
    if any(_within(found, network) for network in _LOCAL):
        return "the local network"
    return "" if found.is_global else "reserved"


def _embedded(found: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for: mapped, compatible, NAT64, 6to4, Teredo."""
    if found.ipv4_mapped is not None:
        return found.ipv4_mapped
    if found.sixtofour is not None:
        return found.sixtofour
    if found.teredo is not None:
        return found.teredo[1]
    if any(_within(found, network) for network in _NAT64) or (found.packed[:12] == bytes(12) and int(found) > 1):
        return ipaddress.IPv4Address(found.packed[12:])
    return None


def _within(found: _IP, network: str) -> bool:
    known = ipaddress.ip_network(network, strict=False)
    return found.version == known.version and found in known


# --- what may be reached ----------------------------------------------------------------------------------------------


async def resolve(host: str, port: int) -> Sequence[str]:
    """The IP addresses of a host, IPv4 first. OSError when it has none."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return sorted(dict.fromkeys(str(entry[4][0]) for entry in found), key=lambda a: ":" in a)


class Reach:
    """Says where calls may go. `allow` lists what may be reached although it is not public: names, `*.NAME`,
    addresses or networks, each with `:PORT` or not (then every port). `resolve` finds the addresses of a name,
    `barred` says of `host:port` whether the person forbids it."""

    def __init__(
        self, allow: Sequence[str] = (), resolve: Resolve = resolve, barred: Callable[[str], bool] | None = None
    ) -> None:
        self._allow = tuple(allow)
        self._resolve = resolve
        self._barred = barred

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """The IP addresses of a host; () when the name is not known."""
        if _is_address(host):
            return (host,)
        try:
            return tuple(await self._resolve(host, port))
        except (OSError, UnicodeError):
            return ()

    def judge_name(self, host: str, port: int) -> Kind:
        """The same as far as it can be told without looking a name up."""
        return self._judge(host, port, (host,) if _is_address(host) else ())

    def judge(self, host: str, port: int, addresses: Sequence[str]) -> Kind:
        """What keeps a host at these addresses from being reached: the kind of one that is not public nor listed."""
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if self._barred is not None and self._barred(place):
            return "forbidden"
        return self._judge(host, port, addresses)

    def _judge(self, host: str, port: int, addresses: Sequence[str]) -> Kind:
        listed = self._lists(host, port)
        if host in _METADATA_NAMES and not listed:
            return "metadata"
        if not addresses and (host == "localhost" or host.endswith(".localhost")) and not listed:
            return "this machine"
        for address in addresses:
            kind = kind_of(address)
            if kind and not (listed and (kind != "metadata" or host == address)) and not self._lists(address, port):
                return kind
        return ""

    async def open(self, link: Link) -> tuple[str, ...]:
        """The addresses that a link may be reached at; () when its name is not known here. ToolFailure otherwise."""
        addresses = await self.addresses(link.host, link.port)
        if kind := self.judge(link.host, link.port, addresses):
            raise ToolFailure(refusal(link.place, kind, addresses))
        return addresses

    def _lists(self, host: str, port: int) -> bool:
        return any(_fits(entry, host, port) for entry in self._allow)


def _fits(entry: str, host: str, port: int) -> bool:
    entry = entry.strip().lower()
    if "/" in entry:
        try:
            return _is_address(host) and _within(ipaddress.ip_address(host), entry)
        except ValueError:
            return False
    name, wanted = split_port(entry)
    name = name.rstrip(".")
    if not name or (wanted and wanted != port):
        return False
    if name.startswith("*."):
        return host.endswith(name[1:])
    return host == name or (_is_address(host) and _is_address(name) and _same(host, name))


def _same(one: str, other: str) -> bool:
    return ipaddress.ip_address(one) == ipaddress.ip_address(other)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def refusal(place: str, kind: Kind, addresses: Sequence[str] = (), *, agree: bool = True) -> str:
    """Why a place is not reached, and what would change that; `agree`: whether the browser may be asked for it."""
    if kind == "forbidden":
        return f"{place} is forbidden by a rule of the person; nothing was sent."
    host = split_port(place)[0]
    others = [a for a in addresses if a != host]
    via = f" ({', '.join(others[:3])})" if others else ""
    if any(kind_of(a) == "reserved" and _within(ipaddress.ip_address(a), _FAKE) for a in addresses if ":" not in a):
        return (
            f"{place} was looked up as {addresses[0]}, which is no public address: a proxy program here answers every "
            f"name so. Nothing was sent. The person can add {_FAKE} to web.allow_hosts in the settings."
        )
    more = " browser_open can open it when the person agrees." if agree and kind in NEAR else ""
    what = "an address for cloud metadata" if kind == "metadata" else kind
    what = f"a {kind} address" if kind in ("link-local", "multicast", "reserved") else what
    return (
        f"{place}{via} leads to {what}, which pages are not fetched from; nothing was sent. "
        f"The person can allow it with web.allow_hosts in the settings.{more}"
    )
