"""Artifacts: whole outputs as private files, numbered once, read in bounded pieces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.errors import UserError
from gongfu.store.artifacts import Artifacts

from .conftest import fill


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path / "artifacts")


def test_bytes_come_back_as_they_were(artifacts: Artifacts) -> None:
    data = bytes(range(256)) * 1000
    with artifacts.writer("s_1") as writer:
        for start in range(0, len(data), 999):
            writer.write(data[start : start + 999])
    assert writer.id == "a1"
    assert writer.size == len(data)
    assert artifacts.open("s_1", "a1").read_bytes() == data
    assert artifacts.put("s_1", b"two") == "a2"
    assert artifacts.put("s_2", b"one") == "a1"
    assert artifacts.size("s_1") == len(data) + 3
    assert artifacts.size() == len(data) + 6
    writer.close()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_files_are_the_users_alone(artifacts: Artifacts) -> None:
    artifacts.put("s_1", b"x")
    path = artifacts.open("s_1", "a1")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_numbers_are_unique_across_processes(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gongfu.store.artifacts import Artifacts\n"
        "for n in range(50): print(Artifacts(Path(sys.argv[1])).put('s_1', b'x'))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    made = [name for process in running for name in process.communicate(timeout=60)[0].split()]
    assert sorted(made) == sorted(f"a{n}" for n in range(1, 201))


@given(
    st.binary(max_size=300).map(lambda data: data.replace(b"\r", b"")) | st.sampled_from([b"a\n" * 9, b"a" * 200_000]),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_lines_are_counted_and_cut_as_text_is(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, offset: int, limit: int
) -> None:
    artifacts = Artifacts(tmp_path_factory.mktemp("a"))
    artifacts.put("s_1", data)
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    lines = lines if lines[-1] else lines[:-1]
    text, total = artifacts.read("s_1", "a1", offset_lines=offset, limit_lines=limit)
    assert total == len(lines)
    assert text == b"".join(lines[offset : offset + limit]).decode("utf-8", "replace")


def test_a_line_of_any_length_is_read_bounded(artifacts: Artifacts) -> None:
    artifacts.put("s_1", "好".encode() * 1_000_000 + b"\nend")
    text, total = artifacts.read("s_1", "a1", limit_bytes=3000)
    assert text == "好" * 1000
    assert total == 2
    assert artifacts.read("s_1", "a1", offset_lines=1) == ("end", 2)


def test_deleting_a_session_leaves_no_file(artifacts: Artifacts, tmp_path: Path) -> None:
    artifacts.put("s_1", b"x")
    artifacts.put("s_2", b"y")
    artifacts.delete("s_1")
    artifacts.delete("s_1")
    assert [path.name for path in (tmp_path / "artifacts").iterdir()] == ["s_2"]
    with pytest.raises(UserError) as raised:
        artifacts.open("s_1", "a1")
    assert raised.value.key == "store.artifact_unknown"


@pytest.mark.parametrize("name", ["", ".", "..", "../s_2", "a/b", "a\\b", "/etc", "a\0b", ".hidden", "C:x"])
def test_names_never_leave_the_folder(artifacts: Artifacts, name: str) -> None:
    artifacts.put("s_1", b"x")
    for call in (
        lambda: artifacts.writer(name),
        lambda: artifacts.open("s_1", name),
        lambda: artifacts.delete(name),
        lambda: artifacts.read(name, "a1"),
    ):
        with pytest.raises(UserError) as raised:
            call()
        assert raised.value.key == "store.bad_name"
        assert str(raised.value)


def test_a_full_disk_keeps_the_part_that_fitted(small_disk: Path) -> None:
    artifacts = Artifacts(small_disk / "artifacts")
    with artifacts.writer("s_1") as writer:
        writer.write(b"first ")
        with pytest.raises(UserError) as raised:
            writer.write(b"x" * (2 << 20))
    assert raised.value.key == "store.artifact_full"
    assert artifacts.open("s_1", "a1").read_bytes()[:7] == b"first x"
    fill(small_disk)
    with pytest.raises(UserError) as raised:
        artifacts.put("s_9", b"x" * 100_000)
    assert raised.value.key == "store.artifact_full"
