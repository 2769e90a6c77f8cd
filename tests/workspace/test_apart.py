"""Short commands with their outputs apart: real processes, bounded in time and memory."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import anyio
import pytest

from gongfu.workspace.apart import Ended, run_apart, words_of

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"]}


async def py(code: str, folder: Path, *, stdin: bytes = b"", seconds: float = 20.0, keep: int = 1 << 20) -> Ended:
    argv = [sys.executable, "-S", "-c", code]
    return await run_apart(argv, cwd=folder, env=ENV, stdin=stdin, seconds=seconds, mark="c_apart_test", keep=keep)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def test_both_outputs_whole_and_apart_whichever_is_full_first(tmp_path: Path) -> None:
    code = "import sys\nfor _ in range(300):\n  sys.stderr.write('e' * 1000); sys.stdout.write('o' * 1000)\nsys.exit(5)"
    ended = await py(code, tmp_path)
    assert (ended.code, ended.out, ended.err) == (5, b"o" * 300_000, b"e" * 300_000)


async def test_the_first_bytes_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    ended = await py("import sys; sys.stdout.write('abc' * 10**6); sys.stderr.write('x' * 10**6)", tmp_path, keep=1000)
    assert (len(ended.out), ended.out_bytes, len(ended.err), ended.err_bytes) == (1000, 3 * 10**6, 1000, 10**6)
    assert ended.out.startswith(b"abcabc")


async def test_input_is_whole_or_may_be_left_unread(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    ended = await py("import sys; sys.exit(len(sys.stdin.buffer.read()) % 251)", tmp_path, stdin=data)
    assert ended.code == len(data) % 251
    assert (await py("pass", tmp_path, stdin=data)).code == 0


async def test_signals_and_the_limit(tmp_path: Path) -> None:
    assert (await py("import os; os.kill(os.getpid(), 9)", tmp_path)).code == 137
    began = time.monotonic()
    ended = await py("import time; print('so far', flush=True); time.sleep(60)", tmp_path, seconds=0.4)
    assert (ended.code, ended.out) == (None, b"so far\n")
    assert time.monotonic() - began < 5


async def test_what_holds_only_one_output_open_does_not_keep_it(tmp_path: Path) -> None:
    for stream in ("stdout", "stderr"):
        code = (
            "import subprocess, sys\nprint('out'); print('err', file=sys.stderr)\n"
            f"kw = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); kw['{stream}'] = None\n"
            "print(subprocess.Popen(['sleep', '600'], **kw).pid)"
        )
        began = time.monotonic()
        ended = await py(code, tmp_path)
        assert time.monotonic() - began < 5
        assert (ended.code, ended.err) == (0, b"err\n")
        child = int(ended.out.split()[1])
        state = Path(f"/proc/{child}/stat")
        assert not state.exists() or " Z " in state.read_text()


async def test_cancelled_at_once_and_no_files_stay_open(tmp_path: Path) -> None:
    before = open_files()
    for _ in range(3):
        began = time.monotonic()
        with anyio.move_on_after(0.3):
            await py("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)", tmp_path)
        assert time.monotonic() - began < 0.3 + 0.5
    with pytest.raises(FileNotFoundError):
        await run_apart(["/no/such"], cwd=tmp_path, env=ENV, stdin=b"x", seconds=1, mark="c_apart_none")
    assert open_files() == before


def test_words() -> None:
    assert words_of("a 'b c' $D", ENV, shell=False) == ["a", "b c", "$D"]
    assert words_of(["a", "b c"], ENV, shell=False) == ["a", "b c"]
    assert words_of("a | b", ENV, shell=True)[-1] == "a | b"
    assert words_of(["a", "b c"], ENV, shell=True)[-1] == "a 'b c'"
    for wrong in ("", "  ", "'open", []):
        with pytest.raises(ValueError, match=r"empty|quotation"):
            words_of(wrong, ENV, shell=False)
