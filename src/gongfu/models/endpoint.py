"""Where a request goes: addresses, the proxy that applies, the certificates that are trusted. No network here."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import SplitResult, unquote, urlsplit

from gongfu.core.base import Base
from gongfu.core.errors import Unreachable

if TYPE_CHECKING:
    from ssl import SSLContext

_PORTS = {"http": 80, "https": 443}

# Where distributions keep the system's certificates, for Pythons whose compiled-in path leads nowhere.
_CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
)


class Misdirected(Unreachable):
    """The connection cannot come about before a setting is changed; trying again is no use."""

    retryable: ClassVar[bool] = False


class Address(Base, frozen=True):
    """A parsed http(s) address. `path` has no trailing slash; `user` is "name:password" or empty."""

    scheme: str
    host: str
    port: int
    path: str = ""
    query: str = ""
    user: str = ""

    @property
    def tls(self) -> bool:
        """Whether the connection is encrypted."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """`host:port` as a Host header has it: the scheme's own port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """`host:port`, always with the port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def target(self, path: str) -> str:
        """The request target of `path` below this address, with the address's own query kept."""
        path, _, query = path.partition("?")
        queries = "&".join(q for q in (self.query, query) if q)
        if path and not path.startswith("/"):
            path = "/" + path
        return (self.path + path or "/") + (f"?{queries}" if queries else "")


def parse_address(url: str) -> Address:
    """Take an address apart. Raises `Misdirected` for what is no http(s) address."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise Misdirected(f"{_without_user(url)!r} is not an address: {error}") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise Misdirected(f"{_without_user(url)!r} is not an http:// or https:// address")
    return Address(
        scheme=parts.scheme,
        host=_ascii_host(parts.hostname),
        port=port or _PORTS[parts.scheme],
        path=parts.path.rstrip("/"),
        query=parts.query,
        user=_user(parts),
    )


def _ascii_host(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        raise Misdirected(f"{host!r} is not a host name") from None


def _user(parts: SplitResult) -> str:
    if parts.username is None:
        return ""
    return f"{unquote(parts.username)}:{unquote(parts.password or '')}"


def _without_user(url: str) -> str:
    return url if "@" not in url else "…@" + url.rpartition("@")[2]


def find_proxy(address: Address, setting: str, env: Mapping[str, str]) -> Address | None:
    """The proxy for `address`: `setting` first, then HTTPS_PROXY/HTTP_PROXY/ALL_PROXY unless NO_PROXY names the host.

    A proxy on another machine cannot reach this machine's loopback addresses, so for those the variables count
    only when the proxy is itself on loopback. Raises `Misdirected` for a kind of proxy that is not supported.
    """
    if setting:
        return _parse_proxy(setting)
    url = _from_env(address, env)
    if not url:
        return None
    proxy = _parse_proxy(url)
    if is_loopback(address.host) and not is_loopback(proxy.host):
        return None
    return proxy


def _from_env(address: Address, env: Mapping[str, str]) -> str:
    if bypassed(address, env.get("no_proxy") or env.get("NO_PROXY") or ""):
        return ""
    names = [f"{address.scheme}_proxy", f"{address.scheme}_proxy".upper(), "all_proxy", "ALL_PROXY"]
    if "REQUEST_METHOD" in env:
        names.remove("HTTP_PROXY") if "HTTP_PROXY" in names else None  # a CGI request can set it: CVE-2016-5385
    return next((value.strip() for name in names if (value := env.get(name, "")).strip()), "")


def _parse_proxy(url: str) -> Address:
    url = url.strip()
    if "://" not in url:
        url = f"http://{url}"
    scheme = url.partition("://")[0].lower()
    if scheme.startswith("socks"):
        raise Misdirected(
            f"the proxy is of the kind {scheme}, which is not supported: name its HTTP port in `proxy` or HTTPS_PROXY"
        )
    return parse_address(url)


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine itself."""
    return host in ("localhost", "::1") or host.endswith(".localhost") or (host.startswith("127.") and _is_ip(host))


def _is_ip(host: str) -> bool:
    return ":" in host or (host.count(".") == 3 and host.replace(".", "").isdigit())


def bypassed(address: Address, no_proxy: str) -> bool:
    """Whether NO_PROXY's list (names, `.suffixes`, addresses, networks, `host:port`, `*`) holds the address."""
    return any(_matches(address, rule.strip().lower()) for rule in no_proxy.replace(" ", ",").split(","))


def _matches(address: Address, rule: str) -> bool:
    if rule in ("", "*"):
        return rule == "*"
    host = address.host.lower()
    if "/" in rule:
        return _in_network(host, rule)
    name, colon, port = rule.rpartition(":")
    if colon and port.isdigit() and (":" not in name or name.startswith("[")):
        if int(port) != address.port:
            return False
        rule = name
    rule = rule.strip("[]").removeprefix("*").removeprefix(".")
    return host == rule or (not _is_ip(host) and host.endswith("." + rule))


def _in_network(host: str, network: str) -> bool:
    if not _is_ip(host):
        return False
    import ipaddress  # only for rules that name a network

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def tls_context(ca_file: str, env: Mapping[str, str]) -> SSLContext:
    """Trust the system's certificates, and those of `ca_file`, SSL_CERT_FILE and SSL_CERT_DIR besides.

    Raises `Misdirected` when a named file cannot be read.
    """
    import ssl  # here and not above: http:// addresses need none of it

    if sys.platform in ("win32", "darwin"):
        import truststore  # the system's own verifier

        context: SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    else:
        context = ssl.create_default_context()
        if not context.cert_store_stats()["x509"]:
            _load_known_file(context)
    for file in filter(None, (ca_file, env.get("SSL_CERT_FILE", ""))):
        try:
            context.load_verify_locations(cafile=file)
        except (OSError, ssl.SSLError) as error:
            raise Misdirected(f"the certificates of {file} cannot be read: {error.strerror or error}") from None
    if folder := env.get("SSL_CERT_DIR", ""):
        context.load_verify_locations(capath=folder)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _load_known_file(context: SSLContext) -> None:
    for file in _CA_FILES:
        try:
            context.load_verify_locations(cafile=file)
        except OSError:
            continue
        return
