"""The store of checkpoints: contents by digest, trees in parts, deletion that deletes, many processes."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import threading
from pathlib import Path

import msgspec
import pytest

from gongfu.core.errors import UserError
from gongfu.store.contents import CheckpointRow, Contents


@pytest.fixture
def store(tmp_path: Path) -> Contents:
    return Contents.open(tmp_path / "checkpoints.sqlite")


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=20).digest()


def tree(*contents: bytes, mark: str = "") -> bytes:
    """Two parts, of which the second names contents."""
    named = b"".join(digest(data) for data in contents)
    return msgspec.msgpack.encode([[1, mark], [b"folder", msgspec.msgpack.Ext(1, named)]])


def row(id: str, session: str = "s", root: str = "/r", at: float = 1.0) -> CheckpointRow:
    return CheckpointRow(id=id, session=session, root=root, at=at)


def put(store: Contents, *contents: bytes) -> int:
    return store.put([(digest(data), data) for data in contents])


def test_contents_come_back_and_are_stored_once(store: Contents) -> None:
    contents = [b"", b"short", b"long and the same " * 1000, os.urandom(5000), b"\0" * 1_000_000]
    assert put(store, *contents) < 15_000
    assert put(store, *contents) == 0
    assert [store.get(digest(data)) for data in contents] == contents
    others = [digest(b"%d" % number) for number in range(3000)]
    assert store.missing([*others, *map(digest, contents)]) == set(others)
    with pytest.raises(UserError) as told:
        store.get(others[0])
    assert told.value.key == "checkpoints.content_gone"


def test_checkpoints_come_back_newest_first(store: Contents) -> None:
    put(store, b"a", b"b")
    rows = [
        CheckpointRow(
            id=f"k_{n}", session="st"[n % 2], root=f"/r{n % 3}/\udcff", turn=f"t{n}", when="after", at=float(n),
            files=n, changed=2 * n, bytes=3 * n,
        )
        for n in range(6)
    ]  # fmt: skip
    for one in rows:
        store.save(one, tree(b"a", b"b", mark=one.id))
    assert store.rows() == rows[::-1]
    assert store.rows(session="t", root="/r0/\udcff") == [rows[3]]
    assert store.rows(limit=2) == rows[:3:-1]
    assert store.tree("k_3") == tree(b"a", b"b", mark="k_3")
    assert store.latest_tree("/r0/\udcff") == tree(b"a", b"b", mark="k_3")
    assert store.latest_tree("/other") is None


def test_a_checkpoint_is_found_by_a_part_of_its_id(store: Contents) -> None:
    for id in ("k_one", "k_other", "k_%"):
        store.save(row(id), tree())
    assert store.row("k_one").id == "k_one"
    assert store.row("oth").id == "k_other"
    assert store.row("%").id == "k_%"
    for part, key in (("k_o", "ambiguous"), ("nothing", "unknown"), ("", "unknown")):
        with pytest.raises(UserError) as told:
            store.row(part)
        assert told.value.key == f"checkpoints.{key}"


def test_a_checkpoint_of_the_same_id_is_replaced(store: Contents) -> None:
    store.save(row("k_1"), tree(mark="old"))
    store.save(row("k_2"), tree(mark="other"))
    store.save(row("k_1", session="t"), tree(mark="new"))
    assert [(r.id, r.session) for r in store.rows()] == [("k_2", "s"), ("k_1", "t")]
    assert store.tree("k_1") == tree(mark="new")


def test_parts_that_trees_share_are_kept_once(store: Contents) -> None:
    put(store, *(b"%d" % n for n in range(2000)))
    same = tree(*(b"%d" % n for n in range(2000)))
    store.save(row("k_0"), same)
    before = store.size()
    for number in range(1, 50):
        store.save(row(f"k_{number}"), same)
    store.vacuum()
    assert store.size() < 2 * before  # the trees have 2 MB
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM part").fetchone() == (2,)


def test_forgetting_deletes_what_nothing_else_names_and_gives_the_space_back(store: Contents) -> None:
    mine, ours, theirs = os.urandom(500_000), os.urandom(1000), os.urandom(1000)
    put(store, mine, ours, theirs)
    store.save(row("k_1", session="mine"), tree(mine, ours))
    store.save(row("k_2", session="theirs", at=50.0), tree(ours, theirs))
    large = store.size()
    assert store.forget() == 0
    assert store.forget(session="nobody") == 0
    assert store.forget(session="mine") == 1
    assert store.missing([digest(d) for d in (mine, ours, theirs)]) == {digest(mine)}
    store.vacuum()
    assert store.size() < large - 400_000
    assert mine[1000:1100] not in store.path.read_bytes()
    assert store.forget(session="theirs", before=40.0) == 0
    assert store.forget(before=60.0) == 1
    assert store.missing([digest(d) for d in (ours, theirs)]) == {digest(ours), digest(theirs)}


def test_a_tree_whose_contents_were_swept_meanwhile_is_not_kept(store: Contents) -> None:
    put(store, b"mine")
    with Contents.open(store.path) as other:
        other.sweep()
    with pytest.raises(UserError) as told:
        store.save(row("k_1"), tree(b"mine"))
    assert told.value.key == "checkpoints.swept"
    assert store.rows() == []
    put(store, b"mine")
    store.save(row("k_1"), tree(b"mine"))


def test_the_file_is_its_owner_s_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with Contents.open(tmp_path / "checkpoints.sqlite") as store:
            put(store, b"x" * 100)
            for file in tmp_path.iterdir():
                assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    finally:
        os.umask(old)


def test_threads_share_one_store(store: Contents) -> None:
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                data = b"%d %d" % (number % 4, turn)
                put(store, data)
                store.save(row(f"k_{number}_{turn}"), tree(data))
                assert store.get(digest(data)) == data
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(store.rows()) == 160


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_28_processes_share_one_file_from_its_beginning(tmp_path: Path) -> None:
    file, turns = tmp_path / "checkpoints.sqlite", 5
    children: list[int] = []
    for number in range(28):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with Contents.open(file) as store:
                    for turn in range(turns):
                        data = [b"shared %d" % turn, b"own %d %d" % (number, turn)]
                        store.missing(map(digest, data))
                        put(store, *data)
                        store.save(row(f"k_{number}_{turn}", session=f"s{number}"), tree(*data))
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 28
    with Contents.open(file) as store:
        assert len(store.rows()) == 28 * turns
        assert store.forget(session="s3") == turns
        assert store.missing([digest(b"own %d 0" % n) for n in range(28)]) == {digest(b"own 3 0")}


def test_what_is_no_store_is_told_and_left(tmp_path: Path) -> None:
    file, content = tmp_path / "checkpoints.sqlite", b"no database at all, but long enough to be one" * 50
    file.write_bytes(content)
    with pytest.raises(UserError) as told:
        Contents.open(file)
    assert told.value.key == "checkpoints.damaged"
    assert file.read_bytes() == content


def test_other_and_newer_databases_are_told_and_left(tmp_path: Path) -> None:
    other, newer = tmp_path / "other.sqlite", tmp_path / "newer.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    Contents.open(newer).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    for file, key in (
        (other, "checkpoints.foreign"),
        (newer, "store.newer"),
        (tmp_path / "no/where", "store.not_writable"),
    ):
        with pytest.raises(UserError) as told:
            Contents.open(file)
        assert told.value.key == key
        assert str(told.value)
