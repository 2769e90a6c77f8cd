"""The configured Python index, read as pip and uv would, and the pages of an index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.models.local.index import (
    PYPI,
    Wheel,
    config_files,
    find_wheel,
    index_config,
    normalized,
    project_url,
    read_page,
    without_credentials,
)


def config(tmp_path: Path, **env: str):
    """The configuration of a machine whose only files lie below `tmp_path`."""
    whole = {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "etc"), **env}
    files = config_files(whole, platform="linux", prefix=str(tmp_path / "venv"), home=tmp_path)
    return index_config(whole, [file for file in files if file.startswith(str(tmp_path))])


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_pypi_when_nothing_is_configured(tmp_path: Path) -> None:
    assert config(tmp_path, PIP_CONFIG_FILE=os.devnull).urls == (PYPI,)


def test_files_in_pips_order(tmp_path: Path) -> None:
    write(tmp_path / "etc/pip/pip.conf", "[global]\nindex-url = https://global/simple\ncert = /global.pem\n")
    assert config(tmp_path).urls[0] == "https://global/simple"
    write(tmp_path / ".pip/pip.conf", "[global]\nindex-url = https://legacy/simple\n")
    assert config(tmp_path).urls[0] == "https://legacy/simple"
    write(tmp_path / ".config/pip/pip.conf", "[global]\nindex_url = https://user/simple\n")
    assert config(tmp_path).urls[0] == "https://user/simple"
    write(tmp_path / "venv/pip.conf", "[install]\nindex-url = https://site/simple\n[global]\nindex-url = https://no/\n")
    assert config(tmp_path).urls[0] == "https://site/simple"
    write(tmp_path / "named.conf", "[global]\nindex-url = https://named/simple\n")
    assert config(tmp_path, PIP_CONFIG_FILE=str(tmp_path / "named.conf")).urls[0] == "https://named/simple"
    found = config(tmp_path, PIP_INDEX_URL="https://env/simple", PIP_CONFIG_FILE=str(tmp_path / "named.conf"))
    assert found.urls[0] == "https://env/simple"
    assert found.cert == "/global.pem"


def test_all_of_pips_options_that_matter(tmp_path: Path) -> None:
    write(
        tmp_path / ".config/pip/pip.conf",
        "[global]\nextra-index-url =\n    https://a/simple\n    https://b/simple\ntrusted-host = a b:8443\n"
        "proxy = http://proxy:3128\nfind-links = /wheels\n",
    )
    found = config(tmp_path, PIP_EXTRA_INDEX_URL="https://c/simple https://c/simple")
    assert found.urls == (PYPI, "https://c/simple")  # a variable replaces the files' value, as in pip
    found = config(tmp_path)
    assert found.urls == (PYPI, "https://a/simple", "https://b/simple")
    assert found.trusted == ("a", "b:8443")
    assert found.proxy == "http://proxy:3128"
    assert found.links == ("/wheels",)
    assert config(tmp_path, PIP_NO_INDEX="1").urls == ()


def test_uvs_variables(tmp_path: Path) -> None:
    assert config(tmp_path, UV_INDEX_URL="https://uv/simple").urls == ("https://uv/simple",)
    assert config(tmp_path, UV_DEFAULT_INDEX="corp=https://uv/s").urls == ("https://uv/s",)
    both = config(tmp_path, UV_EXTRA_INDEX_URL="https://x/s https://y/s", UV_INDEX="near=https://z/s")
    assert both.urls == (PYPI, "https://z/s", "https://x/s", "https://y/s")
    assert config(tmp_path, PIP_INDEX_URL="https://pip/s", UV_INDEX_URL="https://uv/s").urls == ("https://pip/s",)


@pytest.mark.parametrize("text", ["no section\n", "[global\n", "[global]\nindex-url = a\nindex-url = b\n", "\0\1"])
def test_a_broken_file_is_passed_over(tmp_path: Path, text: str) -> None:
    write(tmp_path / ".pip/pip.conf", text)
    write(tmp_path / ".config/pip/pip.conf", "\ufeff[global]\nindex-url = https://good/simple\n")
    assert config(tmp_path).urls == ("https://good/simple",)


def test_a_file_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip/pip.conf").write_bytes(b"\xff\xfe\x00[global]")
    assert config(tmp_path).urls == (PYPI,)


def test_where_pip_keeps_its_files_on_each_platform(tmp_path: Path) -> None:
    linux = config_files({"HOME": "/h", "XDG_CONFIG_DIRS": "/a:/b"}, platform="linux", prefix="/v", home=Path("/h"))
    assert linux == [
        "/b/pip/pip.conf", "/a/pip/pip.conf", "/etc/pip.conf", "/h/.pip/pip.conf", "/h/.config/pip/pip.conf",
        "/v/pip.conf",
    ]  # fmt: skip
    moved = config_files({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, platform="linux", prefix="/v", home=Path("/h"))
    assert "/x/pip/pip.conf" in moved
    assert "/etc/xdg/pip/pip.conf" in moved
    mac = config_files({"HOME": str(tmp_path)}, platform="darwin", prefix="/v", home=tmp_path)
    assert mac[0] == "/Library/Application Support/pip/pip.conf"
    assert f"{tmp_path}/.config/pip/pip.conf" in mac
    (tmp_path / "Library/Application Support/pip").mkdir(parents=True)
    mac = config_files({"HOME": str(tmp_path)}, platform="darwin", prefix="/v", home=tmp_path)
    assert f"{tmp_path}/Library/Application Support/pip/pip.conf" in mac
    windows = config_files(
        {"APPDATA": "C:\\U\\R", "PROGRAMDATA": "D:\\P"}, platform="win32", prefix="C:\\v", home=Path("C:\\U")
    )
    assert windows == ["D:\\P\\pip\\pip.ini", "C:\\U\\pip\\pip.ini", "C:\\U\\R\\pip\\pip.ini", "C:\\v\\pip.ini"]


# --- pages ------------------------------------------------------------------------------------------------------------


def test_a_project_has_its_page() -> None:
    assert project_url("https://host/simple", "Tiny_Model.part1") == "https://host/simple/tiny-model-part1/"
    assert project_url("https://host/simple/", "a") == "https://host/simple/a/"
    assert normalized("A._-b") == "a-b"


def test_html_with_base_hashes_and_escapes() -> None:
    page = (
        b'<base href="https://files.host/base/"><a href="pkg-1.0-py3-none-any.whl?x=1&amp;y=2#sha256=ab">x</a>'
        b'<a href="https://u:p@other/pkg%2Bx-1.0-py3-none-any.whl#md5=1">y</a><a>z</a><a href="">w</a>'
    )
    files = read_page(page, "text/html", "https://host/simple/pkg/")
    assert files == [
        Wheel(filename="pkg-1.0-py3-none-any.whl", url="https://files.host/base/pkg-1.0-py3-none-any.whl?x=1&y=2",
              sha256="ab"),
        Wheel(filename="pkg+x-1.0-py3-none-any.whl", url="https://u:p@other/pkg%2Bx-1.0-py3-none-any.whl"),
    ]  # fmt: skip


def test_json_is_seen_whatever_its_kind_says() -> None:
    page = b'{"files": [{"filename": "a-1-py3-none-any.whl", "url": "../a.whl", "hashes": {"sha256": "x"}}, 5, {}]}'
    for kind in ("application/vnd.pypi.simple.v1+json", "text/plain"):
        files = read_page(page, kind, "https://host/simple/a/")
        assert files == [Wheel(filename="a-1-py3-none-any.whl", url="https://host/simple/a.whl", sha256="x")]


@given(st.binary(max_size=300), st.sampled_from(["application/json", "text/html", ""]))
def test_any_page_can_be_read(body: bytes, kind: str) -> None:
    for file in read_page(body, kind, "https://host/simple/a/"):
        assert file.url


def test_credentials_of_a_page_go_to_the_same_host_only() -> None:
    page = b'<a href="/files/a.whl">1</a><a href="https://host/b.whl">2</a><a href="https://else/c.whl">3</a>'
    urls = [f.url for f in read_page(page, "text/html", "https://ann:pw@host/simple/a/")]
    assert urls == ["https://ann:pw@host/files/a.whl", "https://ann:pw@host/b.whl", "https://else/c.whl"]


def test_exactly_the_version_that_is_known() -> None:
    names = ["tiny_model-0.2-py3-none-any.whl", "tiny_model-0.2.0.tar.gz", "tiny_model_x-0.2.0-py3-none-any.whl",
             "Tiny.Model-0.2.0-py3-none-any.whl", "odd.whl"]  # fmt: skip
    files = [Wheel(filename=n, url=n) for n in names]
    found = find_wheel(files, "tiny-model", "0.2.0")
    assert found is not None
    assert found.filename == "Tiny.Model-0.2.0-py3-none-any.whl"
    assert find_wheel(files, "tiny-model", "0.3.0") is None


def test_addresses_are_shown_without_what_is_secret(tmp_path: Path) -> None:
    url = "https://ann:s3cret@host:8443/simple/?token=s3cret#s3cret"
    assert without_credentials(url) == "https://host:8443/simple/"
    assert "s3cret" not in repr(config(tmp_path, PIP_INDEX_URL=url))
