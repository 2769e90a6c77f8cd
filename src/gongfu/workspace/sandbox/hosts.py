"""Which hosts a list of names lets through."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

USUAL_PORTS = (80, 443)


def listed(host: str, port: int, hosts: Sequence[str]) -> str:
    """The entry of `hosts` that lets `host` on `port` through; "" for none.

    An entry is a name, `*.NAME` for all names below one, or an address, each with `:PORT` or not (then 80 and 443).
    """
    asked = _plain(host)
    for entry in hosts:
        name, wanted = split_port(entry)
        if port not in ((wanted,) if wanted else USUAL_PORTS):
            continue
        name = _plain(name)
        if name == asked or (name.startswith("*.") and asked.endswith(name[1:]) and len(asked) > len(name) - 1):
            return entry
    return ""


def split_port(text: str, default: int = 0) -> tuple[str, int]:
    """Host and port of `HOST`, `HOST:PORT`, `[V6]:PORT` or a bare v6 address; ("", 0) for a port that is none."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    else:
        host, port = text, ""
    if not port:
        return host, default
    return (host, int(port)) if port.isascii() and port.isdigit() and 0 < int(port) < 65536 else ("", 0)


def _plain(name: str) -> str:
    return name.strip().strip("[]").rstrip(".").lower()


def may_be_reached(address: str, entry: str) -> bool:
    """Whether an address that a listed name led to is one of the open network, or was itself listed.

    A public name that leads to this machine or the local network is not followed, unless the entry is that very
    address or `localhost`.
    """
    name, _ = split_port(entry)
    if _plain(name) in (address, "localhost"):
        return True
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_global and not found.is_multicast
