"""The read log after a fold: what the model does not see any more it does not know any more."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.core.messages import CallPart
from gongfu.toolkit.readlog import ReadLog, forget_folded

A = Path("/w/a.py")


def call(number: int, name: str, **arguments: object) -> CallPart:
    arguments = {"path": "a.py", **arguments}
    return CallPart(id=f"c{number}", name=name, arguments=msgspec.json.encode(arguments).decode())


def locate(path: str) -> Path:
    if path == "bad":
        raise ToolFailure("no path")
    return Path("/w") / path


def known(*, pages: bool = False) -> ReadLog:
    reads = ReadLog()
    if pages:
        reads.saw(A, "d", 1, 1, 50, 100)
        reads.saw(A, "d", 1, 51, 100, 100)
    else:
        reads.saw(A, "d", 1, 1, 100, 100)
    return reads


def test_a_file_that_nothing_shows_is_forgotten() -> None:
    reads = known()
    forget_folded(reads, locate, [call(1, "read_file")], [call(2, "read_file", path="b.py"), call(3, "shell")])
    assert reads.seen(A) is None


def test_one_that_is_still_shown_whole_is_known() -> None:
    reads = known()
    forget_folded(reads, locate, [call(1, "read_file")], [call(2, "read_file")])
    assert reads.seen(A) == known().seen(A)
    written = ReadLog()
    written.wrote(A, "d")
    forget_folded(written, locate, [call(1, "edit_file")], [call(2, "write_file", content="x")])
    seen = written.seen(A)
    assert seen is not None
    assert seen.whole


@pytest.mark.parametrize(
    "visible",
    [
        call(2, "edit_file", old="x", new="y"),
        call(2, "read_file", offset=3),
        call(2, "read_file", limit=9),
    ],
)
def test_of_one_that_is_shown_in_part_only_parts_are_known(visible: CallPart) -> None:
    reads = known()
    forget_folded(reads, locate, [call(1, "read_file")], [visible])
    seen = reads.seen(A)
    assert seen is not None
    assert (seen.whole, seen.lines, seen.digest) == (False, (), "d")


def test_a_reading_from_before_a_change_that_is_gone_is_not_the_file() -> None:
    reads = known()
    reads.wrote(A, "e", whole=False)
    forget_folded(reads, locate, [call(2, "edit_file", old="x", new="y")], [call(1, "read_file")])
    seen = reads.seen(A)
    assert seen is not None
    assert not seen.whole


def test_pages_that_made_up_the_whole_do_not_do_so_alone() -> None:
    reads = known(pages=True)
    before = reads.seen(A)
    assert before is not None
    assert before.whole
    forget_folded(reads, locate, [call(2, "read_file", offset=51)], [call(1, "read_file")])
    seen = reads.seen(A)
    assert seen is not None
    assert not seen.whole


def test_what_names_no_file_changes_nothing() -> None:
    reads = known()
    strange = [
        CallPart(id="c1", name="read_file", arguments="[1]"),
        CallPart(id="c2", name="read_file", arguments='{"path": 3}'),
        call(3, "read_file", path="bad"),
        call(4, "shell", command="cat a.py"),
    ]
    forget_folded(reads, locate, strange, [])
    forget_folded(reads, locate, [], [])
    assert reads.seen(A) == known().seen(A)


def test_a_path_by_another_name_of_its_argument_is_one() -> None:
    reads = known()
    gone = CallPart(id="c1", name="read_file", arguments='{"file_path": "a.py"}')
    forget_folded(reads, locate, [gone], [])
    assert reads.seen(A) is None
