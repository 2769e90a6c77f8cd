"""Text files byte for byte: any encoding, any line ends, any span; and writes that are whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.workspace.encodings import detect
from gongfu.workspace.files import (
    NotText,
    StaleFile,
    as_text,
    byte_offset,
    digest,
    encode_span,
    encode_whole,
    read_text_file,
    with_spans,
    write_atomic,
)
from gongfu.workspace.root import Workspace

SAMPLES = [
    ("gbk", "# 配置文件\nname = 测试\n"),
    ("gbk", "中文"),
    ("gbk", "needle 针"),
    ("gbk", "print('错误')\n"),
    ("gb18030", "你好，世界😀\n"),
    ("big5", "# 設定檔\nname = 測試\n"),
    ("shift_jis", "こんにちは世界\n"),
    ("euc_jp", "# 設定ファイル\nname = テスト\n"),
    ("euc_kr", "# 파일을 읽습니다\n"),
    ("latin-1", "café\n"),
    ("latin-1", "# Größe prüfen\nname = 'Jürgen'\n"),
    ("cp1252", "“quoted” – dash…\n"),
    ("cp1251", "Привет, мир\n"),
    ("koi8-r", "# Файл настроек\n"),
    ("cp1250", "Zażółć gęślą jaźń\n"),
    ("cp1253", "Καλημέρα κόσμε\n"),
    ("utf-8", "plain\n"),
    ("utf-8-sig", "\u4f60\u597d\n"),
    ("utf-16", "你好\n"),
    ("utf-16-le", "hello\nworld\n"),
    ("utf-16-be", "hello\nworld\n"),
    ("utf-32", "hello\n"),
    ("utf-32-le", "hello\n"),
]


@pytest.mark.parametrize(("encoding", "text"), SAMPLES)
def test_short_files_of_each_encoding_are_read_as_they_were_meant(encoding: str, text: str) -> None:
    raw = text.encode(encoding)
    found = detect(raw)
    assert found is not None
    assert found.decode(raw) == text


@pytest.mark.parametrize(
    "raw",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\0" * 100,
        b"\x7fELF\x02\x01\x01\0",
        b"text\0with a zero",
        bytes(range(256)) * 4,
    ],
)
def test_binaries_are_no_text(raw: bytes) -> None:
    assert detect(raw) is None
    with pytest.raises(NotText):
        as_text(Path("x.bin"), raw)


def test_stray_bytes_in_utf8_are_kept() -> None:
    raw = "你好世界，这是一个文件\n".encode() * 3 + b"\xff tail\n"
    file = as_text(Path("x"), raw)
    at = file.text.index("tail")
    assert encode_span(file, at, at + 4, "end") == raw.replace(b"tail", b"end")


LINES = st.lists(
    st.tuples(
        st.text(
            st.one_of(
                st.sampled_from("abc XYZ\t'\"=()é"),
                st.sampled_from("的一是不了在人有我他这个们中来上大为和国文件测试错误，。"),
                st.characters(exclude_categories=("Cs", "Cc")),
            ),
            max_size=12,
        ),
        st.sampled_from(["\n", "\r\n", "\r", "\n", "\u2028"]),
    ),
    max_size=12,
)
ENCODINGS = st.sampled_from(
    [
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-32",
        "gbk",
        "gb18030",
        "big5",
        "cp932",
        "latin-1",
        "cp1252",
        "koi8_r",
    ]
)


@settings(max_examples=400, deadline=None)
@given(LINES, ENCODINGS, st.data())
def test_bytes_outside_a_span_never_change(lines: list[tuple[str, str]], encoding: str, data: st.DataObject) -> None:
    raw = "".join(a + b for a, b in lines).encode(encoding, "ignore")
    try:
        file = as_text(Path("x"), raw)
    except NotText:
        return
    start = data.draw(st.integers(0, len(file.text)))
    end = data.draw(st.integers(start, len(file.text)))
    new = data.draw(st.sampled_from(["", "x", "new\r\nlines\n", "y" * 40]))
    changed = encode_span(file, start, end, new)
    before, after = file.text[:start], file.text[end:]
    size = len(new.encode(file.encoding.codec))
    first, last = byte_offset(file, start), byte_offset(file, end)
    assert changed[:first] == raw[:first]
    assert changed[first + size :] == raw[last:]
    assert changed[len(file.encoding.bom) :].decode(file.encoding.codec, file.encoding.errors) == before + new + after


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.data())
def test_any_bytes_that_pass_for_text_survive_an_edit(raw: bytes, data: st.DataObject) -> None:
    try:
        file = as_text(Path("x"), raw.replace(b"\0", b" "))
    except NotText:
        return
    at = data.draw(st.integers(0, len(file.text)))
    changed = with_spans(file, [(at, at, "INSERTED")])
    back = with_spans(changed, [(at, at + 8, "")])
    assert back.raw == file.raw
    assert back.text == file.text


def test_text_that_the_encoding_cannot_hold_is_refused() -> None:
    file = as_text(Path("x.py"), "# 配置文件\n".encode("gbk"))
    with pytest.raises(ToolFailure, match="gbk, which cannot hold 😀"):
        encode_span(file, 0, 1, "😀")
    latin = as_text(Path("x.py"), "é\n".encode("latin-1"))
    with pytest.raises(ToolFailure, match="cannot hold 中"):
        encode_whole("中文\n", latin)


def test_a_whole_new_text_keeps_mark_encoding_and_line_ends() -> None:
    like = as_text(Path("x"), "\ufeff你好\r\n世界\r\n".encode("utf-16-le"))
    assert encode_whole("一\n二\n", like) == "\ufeff一\r\n二\r\n".encode("utf-16-le")
    assert encode_whole("\ufeff一\n", like) == "\ufeff一\r\n".encode("utf-16-le")


def test_writing_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "run.sh"
    path.write_bytes(b"old")
    path.chmod(0o751)
    write_atomic(path, b"new", expect=digest(b"old"))
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert [p.name for p in tmp_path.iterdir()] == ["run.sh"]


def test_a_changed_a_new_and_a_vanished_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "a"
    path.write_bytes(b"B was here")
    with pytest.raises(StaleFile, match="changed by someone else"):
        write_atomic(path, b"new", expect=digest(b"A"))
    with pytest.raises(StaleFile, match="exists by now"):
        write_atomic(path, b"new", expect="")
    assert path.read_bytes() == b"B was here"
    with pytest.raises(StaleFile, match="gone"):
        write_atomic(tmp_path.resolve() / "b", b"new", expect=digest(b"A"))
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_links_are_followed_inside_only(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "w"
    root.mkdir()
    outside = tmp_path.resolve() / "outside"
    outside.write_bytes(b"old")
    (root / "real").write_bytes(b"old")
    (root / "in").symlink_to("real")
    (root / "out").symlink_to(outside)
    workspace = Workspace(root, root)
    write_atomic(root / "in", b"new", workspace=workspace)
    assert (root / "real").read_bytes() == b"new"
    assert (root / "in").is_symlink()
    for target in (root / "out",):
        with pytest.raises(ToolFailure, match="another place"):
            write_atomic(target, b"new", workspace=workspace)
    with pytest.raises(ToolFailure, match="another place"):
        write_atomic(root / "in", b"new")
    assert outside.read_bytes() == b"old"


def test_a_folder_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "elsewhere").mkdir()
    (root / "sub").symlink_to("elsewhere")
    with pytest.raises(ToolFailure):
        write_atomic(root / "sub" / "a", b"x")
    with pytest.raises(ToolFailure):
        read_text_file(root / "sub" / "a")
    assert list((root / "elsewhere").iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "pipe"
    os.mkfifo(path)
    with pytest.raises(NotText, match="pipe"):
        read_text_file(path)
    with pytest.raises(ToolFailure):
        write_atomic(path, b"x")


def _as_nobody(code: str) -> str:
    """Run `code` as a user without rights."""
    paths = os.pathsep.join(p for p in sys.path if p)
    start = f"import sys; sys.path[:] = {paths!r}.split({os.pathsep!r})\n{_IMPORTS}\n"
    change = "import os\nos.setgid(65534); os.setuid(65534)\n"
    done = subprocess.run(
        [sys.executable, "-c", start + change + code], capture_output=True, text=True, check=False
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture
def common() -> Iterator[Path]:
    """A folder that every user may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name).resolve()
        path.chmod(0o755)
        yield path


_IMPORTS = """
from pathlib import Path
import hashlib, stat, errno
from gongfu.workspace.files import *
import gongfu.workspace.root
"""
_root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to become another user or to mount"
)


@_root_only
def test_a_locked_folder_with_a_writable_file_and_a_read_only_file(common: Path) -> None:
    folder = common / "locked"
    folder.mkdir()
    file = folder / "open.txt"
    file.write_bytes(b"old text")
    file.chmod(0o666)
    folder.chmod(0o755)
    shown = _as_nobody(f"write_atomic(Path({str(file)!r}), b'new'); print('written')")
    assert "written" in shown, shown
    assert file.read_bytes() == b"new"
    free = common / "free"
    free.mkdir()
    free.chmod(0o777)
    fixed = free / "fixed.txt"
    fixed.write_bytes(b"old")
    fixed.chmod(0o444)
    shown = _as_nobody(f"try: write_atomic(Path({str(fixed)!r}), b'new')\nexcept PermissionError: print('refused')")
    assert "refused" in shown, shown
    assert fixed.read_bytes() == b"old"
    assert [p.name for p in free.iterdir()] == ["fixed.txt"]


@_root_only
@pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    disk = tmp_path.resolve() / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=False).returncode:
        pytest.skip("may not mount here")
    try:
        path = disk / "a.txt"
        path.write_bytes(b"old" * 1000)
        with pytest.raises(OSError, match="No space"):
            write_atomic(path, b"n" * 1_000_000, expect=digest(b"old" * 1000))
        assert path.read_bytes() == b"old" * 1000
        assert [p.name for p in disk.iterdir()] == ["a.txt"]
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize(
    "raw", [b"a\0b\n", b"\0\0", b"x=1\0\0y=2\n", b"key\0value\0name\0", b"ab\0\0cd\0\0", b"1\0\n2\0\n3"]
)
def test_bytes_with_a_few_zeros_are_not_taken_for_wide_characters(raw: bytes) -> None:
    assert detect(raw) is None


@pytest.mark.parametrize("text", ["hi", "int main(){}\n", "a\n", "功夫是一种技能\n", "x"])
def test_wide_characters_without_a_mark_are_text(text: str) -> None:
    for codec in ("utf-16-le", "utf-16-be"):
        encoding = detect(text.encode(codec))
        assert encoding is not None
        assert encoding.decode(text.encode(codec)) == text
