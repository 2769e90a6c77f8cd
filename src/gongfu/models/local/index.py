"""The Python index that the user has configured for pip or uv, read without pip; and the pages of an index."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, cast
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

import msgspec

from gongfu.core.base import Base

PYPI = "https://pypi.org/simple/"
ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"  # PEP 691
_SECTIONS = ("global", "download", "install")  # later ones win: what pip reads for `pip install`


class IndexConfig(Base, frozen=True):
    """Where packages come from. `urls` are simple indexes in the order to ask, `links` further pages or folders.

    `cert` is a file of certificates, `proxy` an address, `trusted` hosts (perhaps with a port) whose certificate is
    not checked. Addresses may hold credentials: show them only through `without_credentials`.
    """

    urls: tuple[str, ...] = (PYPI,)
    links: tuple[str, ...] = ()
    cert: str = ""
    proxy: str = ""
    trusted: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"IndexConfig({', '.join(map(without_credentials, self.urls))})"


class Wheel(Base, frozen=True):
    """A file that an index offers."""

    filename: str
    url: str
    sha256: str = ""


def without_credentials(url: str) -> str:
    """The address without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


# --- configuration ----------------------------------------------------------------------------------------------------


def index_config(env: Mapping[str, str], files: Sequence[str] | None = None) -> IndexConfig:
    """Read pip's variables and files, then uv's variables; PyPI when none names an index.

    `files` are pip's files, the weakest first (None: those of this machine). Variables win over files. A file that
    cannot be read is passed over.
    """
    options: dict[str, str] = {}
    if files is None:
        files = config_files(env, platform=sys.platform, prefix=sys.prefix, home=Path.home())
    for path in files:
        options |= _read_file(Path(path))
    for name, value in env.items():
        if name.startswith("PIP_") and value.strip():
            options[name[4:].lower().replace("_", "-")] = value
    default = options.get("index-url") or env.get("UV_DEFAULT_INDEX") or env.get("UV_INDEX_URL") or PYPI
    extra = [
        *options.get("extra-index-url", "").split(),
        *env.get("UV_INDEX", "").split(),
        *env.get("UV_EXTRA_INDEX_URL", "").split(),
    ]
    none = options.get("no-index", "").lower() in ("1", "true", "yes", "on")
    urls = [] if none else [_named(url) for url in (default, *extra)]
    return IndexConfig(
        urls=tuple(dict.fromkeys(urls)),
        links=tuple(options.get("find-links", "").split()),
        cert=options.get("cert", "").strip() or env.get("REQUESTS_CA_BUNDLE", "") or env.get("CURL_CA_BUNDLE", ""),
        proxy=options.get("proxy", "").strip(),
        trusted=tuple(options.get("trusted-host", "").split()),
    )


def _named(url: str) -> str:
    """An address without the name that uv allows before it (`mirror=https://…`)."""
    name, equals, rest = url.partition("=")
    return rest if equals and re.fullmatch(r"[A-Za-z0-9_.-]+", name) else url.strip()


def config_files(env: Mapping[str, str], *, platform: str, prefix: str, home: Path) -> list[str]:
    """The files that pip reads on a platform, the weakest first."""
    forced = env.get("PIP_CONFIG_FILE", "")
    if forced.lower() in ("/dev/null", "nul"):
        return []
    if platform == "win32":
        files = _windows_files(env, home)
        site = PureWindowsPath(prefix, "pip.ini")
    else:
        files = _posix_files(env, home, mac=platform == "darwin")
        site = PurePosixPath(prefix, "pip.conf")
    return [*map(str, files), str(site), *([forced] if forced else [])]


def _windows_files(env: Mapping[str, str], home: Path) -> list[PureWindowsPath]:
    roaming = env.get("APPDATA") or str(PureWindowsPath(str(home), "AppData", "Roaming"))
    return [
        PureWindowsPath(env.get("PROGRAMDATA", "C:\\ProgramData"), "pip", "pip.ini"),
        PureWindowsPath(str(home), "pip", "pip.ini"),
        PureWindowsPath(roaming, "pip", "pip.ini"),
    ]


def _posix_files(env: Mapping[str, str], home: Path, *, mac: bool) -> list[PurePosixPath]:
    user = PurePosixPath(env.get("HOME") or str(home))
    own = PurePosixPath(env.get("XDG_CONFIG_HOME") or user / ".config")
    shared = [PurePosixPath(d) for d in (env.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":") if d]
    support = PurePosixPath("Library/Application Support")
    if mac:
        shared = ["/" / support]
        own = user / support if Path(user / support / "pip").is_dir() else own
    return [
        *(folder / "pip" / "pip.conf" for folder in reversed(shared)),
        PurePosixPath("/etc/pip.conf"),
        user / ".pip" / "pip.conf",
        own / "pip" / "pip.conf",
    ]


def _read_file(path: Path) -> dict[str, str]:
    import configparser  # not at import: only a download reads pip's files

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, configparser.Error):
        return {}  # pip would stop here; for us it is one of many places where an index may be named
    found: dict[str, str] = {}
    for section in _SECTIONS:
        if parser.has_section(section):
            found |= {key.replace("_", "-").removeprefix("--"): value for key, value in parser.items(section)}
    return found


# --- pages ------------------------------------------------------------------------------------------------------------


def normalized(name: str) -> str:
    """A project's name as indexes spell it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def project_url(index: str, name: str) -> str:
    """The page of a project."""
    return f"{index.rstrip('/')}/{normalized(name)}/"


def read_page(body: bytes, content_type: str, url: str) -> list[Wheel]:
    """The files on a page of an index, JSON (PEP 691) or HTML (PEP 503). A page that is neither has none."""
    if "json" in content_type.lower() or body.lstrip()[:1] == b"{":
        return _from_json(body, url)
    return _from_html(body.decode("utf-8", "replace"), url)


def _from_json(body: bytes, url: str) -> list[Wheel]:
    try:
        page: Any = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return []
    found: list[Wheel] = []
    files: Any = cast("dict[str, Any]", page).get("files") if isinstance(page, dict) else None
    for item in cast("list[Any]", files) if isinstance(files, list) else []:
        if isinstance(item, dict):
            file = cast("dict[str, Any]", item)
            hashes = file.get("hashes")
            sha256 = cast("dict[str, Any]", hashes).get("sha256", "") if isinstance(hashes, dict) else ""
            if isinstance(file.get("url"), str) and isinstance(file.get("filename"), str):
                found.append(Wheel(filename=file["filename"], url=_linked(url, file["url"]), sha256=str(sha256)))
    return found


def _from_html(text: str, url: str) -> list[Wheel]:
    from html.parser import HTMLParser  # not at import: most indexes answer in JSON

    found: list[Wheel] = []

    class Links(HTMLParser):
        base = url

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            target = dict(attrs).get("href")
            if tag == "base" and target:
                self.base = urljoin(self.base, target)
            elif tag == "a" and target:
                found.append(_wheel(_linked(self.base, target)))

    Links().feed(text)
    return found


def _wheel(url: str) -> Wheel:
    address, fragment = urldefrag(url)
    algorithm, _, digest = fragment.partition("=")
    filename = unquote(urlsplit(address).path.rpartition("/")[2])
    return Wheel(filename=filename, url=address, sha256=digest if algorithm == "sha256" else "")


def _linked(page: str, target: str) -> str:
    """The address of a link; the credentials of the page go along to the same host and to no other."""
    address = urljoin(page, target)
    here, there = urlsplit(page), urlsplit(address)
    user, at, host = here.netloc.rpartition("@")
    if at and "@" not in there.netloc and (here.scheme, host) == (there.scheme, there.netloc):
        return urlunsplit(there._replace(netloc=f"{user}@{host}"))
    return address


def find_wheel(files: Iterable[Wheel], name: str, version: str) -> Wheel | None:
    """The wheel of exactly that version, or None."""
    for file in files:
        if not file.filename.endswith(".whl"):
            continue
        pieces = file.filename.removesuffix(".whl").split("-")
        if len(pieces) >= 5 and (normalized(pieces[0]), pieces[1]) == (normalized(name), version):
            return file
    return None
