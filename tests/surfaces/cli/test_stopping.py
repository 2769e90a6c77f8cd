"""To stop the real program, wherever it is: at once, with exit code 130, with nothing left running.

Measured: from the signal until the program and everything that it started is gone, also what made a session of its own
or hides from signals. 0.5 s at most.
"""

from __future__ import annotations

import os
import pty
import signal
import socket
import sqlite3
import sys
import termios
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gongfu.config.paths import places
from gongfu.models.scripted.script import Call, Calls, Fault, Match, Planned, Say
from gongfu.models.scripted.server import Server
from gongfu.workspace.proctree import MARK

from .conftest import Program
from .stopwatch import SOON, Run, best, check_log, left_of
from .test_pty import Terminal

if sys.platform != "linux":
    pytest.skip("looks for processes in /proc", allow_module_level=True)

Serve = Callable[..., Server]
TERM = "trap '' TERM INT HUP; "
READY = "touch ready; "


def shell(command: str, **more: Any) -> Call:
    return Call("shell", {"command": command}, **more)


COMMANDS = {
    "children": f"sleep 401 & (sleep 402 & sleep 403) & {READY} sleep 404",
    "grandchildren": f"sh -c 'sh -c \"sleep 405; true\"; true' & {READY} sleep 406; true",
    "deaf": f"{TERM}{READY} while :; do sleep 407; done",
    "deaf children": f"for n in 1 2 3; do sh -c \"{TERM}sleep 408; sleep 408\" & done; {READY} wait",
    "session": f"setsid sh -c '{TERM}sleep 409; sleep 410' & {READY} sleep 411",
    "double fork": f"(setsid sh -c '(sleep 412 &) ; sleep 413' &) ; {READY} sleep 414",
    "python": (
        "python3 -c \"import os,time; os.fork(); os.setsid() if os.fork() == 0 else 0; "
        "open('ready','w'); time.sleep(415)\""
    ),
    "stopped": f"sleep 416 & kill -STOP $!; {READY} sleep 417",
    "flood": f"{READY} yes",
    "busy": f"{READY} while :; do :; done",
}  # fmt: skip


def measure(program: Program, ready: Callable[[], object], *signals: int, **env: str) -> float:
    """Seconds that it takes to stop once `ready`, the best of a few tries; it must end with 130 each time."""

    def once() -> float:
        run = Run(program, "run", "--permission", "full", "--json", "wait long", **env)
        try:
            run.until(ready)
            took = run.stop(*signals)
            ended = run.ended()
            assert ended.code == 130, ended
            assert "Traceback" not in ended.err
            return took
        finally:
            run.kill()
            (program.folder / "ready").unlink(missing_ok=True)

    return best(once)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(program: Program, serve: Serve, command: str) -> None:
    serve(shell(COMMANDS[command], times=0))
    assert measure(program, (program.folder / "ready").exists, signal.SIGINT) <= SOON
    check_log(program)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_every_polite_signal(program: Program, serve: Serve, number: int) -> None:
    serve(shell(COMMANDS["session"], times=0))
    assert measure(program, (program.folder / "ready").exists, number) <= SOON
    check_log(program)


MODEL = {
    "first byte": Fault("hang", after=-1, times=0),
    "headers only": Fault("hang", after=0, times=0),
    "in the middle": Fault("hang", after=3, times=0),
    "slow": Fault("slow", seconds=0.3, answer=Say("word " * 400), times=0),
    "back-off": Fault("status", status=429, retry_after=60, times=0),
    "trouble": Fault("status", status=503, times=0),
}


@pytest.mark.parametrize("fault", MODEL)
def test_a_model_call(program: Program, serve: Serve, fault: str) -> None:
    server = serve(MODEL[fault])
    seen = [0]

    def ready() -> bool:
        more = len(server.requests) > seen[0]
        if more:
            time.sleep(0.2)
            seen[0] = len(server.requests)
        return more

    assert measure(program, ready, signal.SIGINT) <= SOON
    check_log(program)


CHILD = Match(system_contains="a sub-agent of", lacks="[DEEP]")
DEEP = Match(system_contains="a sub-agent of", contains="[DEEP]")
HANGS = Fault("hang", after=2, when=CHILD, times=0)
RUNS = shell(COMMANDS["session"], when=CHILD, times=0)


def task(words: str, **more: Any) -> Call:
    return Call("task", {"task": words, **more}, times=0)


AGENTS: dict[str, tuple[Planned, ...]] = {
    "in a command": (task("go"), RUNS),
    "in a model call": (task("go"), HANGS),
    "side by side": (Calls((task("one"), task("two"), shell("sleep 421"), shell("sleep 422")), times=0), RUNS),
    "in the background": (Calls((task("one", background=True), shell("sleep 423")), times=0), RUNS),
    "in the background, waited for": (
        task("one", background=True), Say("I wait.", when=Match(last_contains="works in the background"), times=0), RUNS
    ),
    "two deep": (
        task("[ONE] go"),
        Call("task", {"task": "[DEEP] go"}, when=CHILD, times=0),
        shell(COMMANDS["session"], when=Match(system_contains="agent-1.1, a sub-agent of"), times=0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", AGENTS)
def test_sub_agents(program: Program, serve: Serve, where: str) -> None:
    server = serve(*AGENTS[where])
    seen = [0]

    def ready() -> bool:
        if where != "in a model call":
            return (program.folder / "ready").exists()
        return settled(server, seen, 2)

    assert measure(program, ready, signal.SIGINT) <= SOON
    check_log(program)


def settled(server: Server, seen: list[int], more: int = 1) -> bool:
    """Whether that many further requests are there, and a moment has passed."""
    if len(server.requests) < seen[0] + more:
        return False
    time.sleep(0.15)
    seen[0] = len(server.requests)
    return True


def test_several_calls_side_by_side(program: Program, serve: Serve) -> None:
    jobs = tuple(
        Call("shell", {"command": f"setsid sleep 43{n} & sleep 44{n}; true", "background": True}) for n in range(4)
    )
    serve(Calls((*jobs, shell(f"{READY} sleep 450; true"), shell("sleep 451")), times=0))
    assert measure(program, (program.folder / "ready").exists, signal.SIGINT) <= SOON
    check_log(program)


def test_jobs_in_the_background(program: Program, serve: Serve) -> None:
    deaf = f"{TERM}{READY} while :; do sleep 461; done"
    serve(
        Call("shell", {"command": deaf, "background": True}, times=0),
        Fault("hang", after=-1, when=Match(tool_result_contains="j1"), times=0),
    )
    assert measure(program, (program.folder / "ready").exists, signal.SIGINT) <= SOON
    check_log(program)


@pytest.fixture
def silent() -> Generator[socket.socket]:
    """An address that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        yield server


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_takes_the_connection_and_says_nothing(
    program: Program, serve: Serve, silent: socket.socket, scheme: str
) -> None:
    program.use(serve(Say("never")))
    seen: list[socket.socket] = []

    def ready() -> bool:
        silent.settimeout(5)
        seen.append(silent.accept()[0])
        time.sleep(0.2)
        return True

    where = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/v1"
    assert measure(program, ready, signal.SIGINT, OPENAI_BASE_URL=where) <= SOON
    for connection in seen:
        connection.close()


def test_a_connection_that_is_not_taken(program: Program, serve: Serve) -> None:
    program.use(serve(Say("never")))
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        address = server.getsockname()
        full = [socket.socket() for _ in range(4)]
        for one in full:
            one.setblocking(False)
            one.connect_ex(address)
        where = f"http://127.0.0.1:{address[1]}/v1"
        assert measure(program, lambda: time.sleep(0.8) or True, signal.SIGINT, OPENAI_BASE_URL=where) <= SOON
        for one in full:
            one.close()


SLOW_NAMES = """
import os, socket, time
real = socket.getaddrinfo
def slow(host, *args, **more):
    if host in ("slow.invalid", b"slow.invalid"):
        open(os.environ["READY"], "w").close()
        time.sleep(30)
    return real(host, *args, **more)
socket.getaddrinfo = slow
"""


def test_a_name_that_is_looked_up_for_ever(program: Program, serve: Serve, tmp_path: Path) -> None:
    program.use(serve(Say("never")))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SLOW_NAMES)
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [program.env.get("PYTHONPATH")])])
    ready = program.folder / "ready"
    took = measure(
        program, ready.exists, signal.SIGINT,
        OPENAI_BASE_URL="http://slow.invalid/v1", PYTHONPATH=path, READY=str(ready),
    )  # fmt: skip
    assert took <= SOON


def every(rows: list[tuple[Any, ...]], *short: tuple[Any, ...]) -> list[Any]:
    """All of a table; what is not in `short` in the soak alone."""
    return [row if row in short else pytest.param(*row, marks=pytest.mark.soak) for row in rows]


DEAF, SESSION, FORK = "deaf children", "session", "double fork"


@pytest.mark.parametrize(
    ("command", "count"), every(list(product([DEAF, SESSION, FORK], [2, 3])), (DEAF, 2), (SESSION, 3), (FORK, 2))
)
def test_pressed_again_and_again(program: Program, serve: Serve, command: str, count: int) -> None:
    serve(shell(COMMANDS[command], times=0))
    assert measure(program, (program.folder / "ready").exists, *[signal.SIGINT] * count) <= SOON


@pytest.mark.parametrize(
    ("second", "after"),
    every(
        list(product([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], [0.02, 0.06, 0.15])),
        (signal.SIGINT, 0.02),
        (signal.SIGINT, 0.15),
        (signal.SIGTERM, 0.06),
        (signal.SIGHUP, 0.15),
    ),
)
def test_a_second_signal_while_it_cleans_up(program: Program, serve: Serve, second: int, after: float) -> None:
    """Between the end of the turn and the end of the program jobs are being stopped."""
    deaf = f"{TERM}{READY} while :; do sleep 471; done"
    serve(
        Call("shell", {"command": deaf, "background": True}, times=0),
        Fault("hang", after=-1, when=Match(tool_result_contains="j1"), times=0),
    )
    run = Run(program, "run", "--permission", "full", "--json", "wait long")
    try:
        run.until((program.folder / "ready").exists)
        run.process.send_signal(signal.SIGINT)
        time.sleep(after)
        run.process.send_signal(second)
        took = run.stop()
        assert run.ended().code == 130
        assert took <= SOON
    finally:
        run.kill()


def test_while_it_closes_after_the_last_word(program: Program, serve: Serve) -> None:
    """A signal when the turn has ended by itself already, and only its jobs are being stopped."""
    deaf = f"{TERM}{READY} while :; do sleep 481; done"
    serve(
        Call("shell", {"command": deaf, "background": True}, times=0),
        Say("Done.", when=Match(tool_result_contains="j1"), times=0),
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        run = Run(program, "run", "--permission", "full", "--stream-json", "wait long")
        try:
            assert run.process.stdout is not None
            while b'"turn_finished"' not in run.process.stdout.readline():
                pass
            run.process.send_signal(number)
            assert run.stop() <= SOON
            assert run.process.wait(10) in (0, 130)
        finally:
            run.kill()


def test_while_a_huge_tree_is_searched(program: Program, serve: Serve) -> None:
    for folder in range(40):
        (program.folder / f"d{folder}").mkdir()
        for n in range(100):
            (program.folder / f"d{folder}" / f"f{n}.txt").write_text("a" * 4000 + "!\n")
    server = serve(Call("search_text", {"pattern": "(a|aa)+(a|aa)+$"}, times=0))
    seen = [0]
    assert measure(program, lambda: settled(server, seen), signal.SIGINT) <= SOON
    check_log(program)


BIG = [f"line {n * 7919 % 1000} of text {n % 50}" for n in range(60_000)]


@pytest.mark.parametrize(
    "edit",
    [
        {"old": "\n".join(BIG[7:59_000:20]), "new": "x"},  # the nearest lines are looked for
        {"old": "line", "new": "another line", "all": True},
    ],
    ids=["not found", "everywhere"],
)
def test_while_an_edit_of_a_large_file_is_worked_out(program: Program, serve: Serve, edit: dict[str, Any]) -> None:
    text = "\n".join(BIG)
    (program.folder / "big.txt").write_text(text)
    server = serve(Call("edit_file", {"path": "big.txt", **edit}, times=0), Say("done", times=0))
    seen = [0]
    assert measure(program, lambda: settled(server, seen), signal.SIGINT) <= SOON
    assert (program.folder / "big.txt").read_text() in (text, text.replace("line", "another line"))


@pytest.mark.parametrize("times", [1, 2])
def test_a_store_that_another_process_holds(program: Program, serve: Serve, times: int) -> None:
    """It waits for the other one, 10 s at most, to keep the end of the turn; pressed again, it does not."""
    server = serve(Fault("hang", after=3, times=0))
    run = Run(program, "run", "--permission", "full", "--json", "wait long")
    try:
        run.until(lambda: settled(server, [0]))
        with closing(sqlite3.connect(places(program.env).store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            run.process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            assert run.process.poll() is None
            if times == 1:
                other.execute("ROLLBACK")
            assert run.stop(*[signal.SIGINT] * (times - 1)) <= SOON
        assert run.ended().code == 130
        if times == 1:
            check_log(program)
    finally:
        run.kill()


@contextmanager
def closing_pair() -> Generator[tuple[int, int]]:
    """A new terminal."""
    pair = pty.openpty()
    yield pair
    for one in pair:
        os.close(one)


def at_a_terminal(
    program: Program,
    how: Callable[[Terminal], None],
    ready: Callable[[Terminal], bool] | None = None,
    mode: str = "full",
) -> float:
    """Seconds from what is done to the terminal until nothing is left of a run there that is in a command."""

    def once() -> float:
        mark = f"terminal-{os.getpid()}-{time.monotonic_ns()}"
        terminal = Terminal(program, "run", "--permission", mode, "wait long", **{MARK: mark})
        file = program.folder / "ready"
        end = time.monotonic() + 30
        while not (file.exists() if ready is None else ready(terminal)):
            assert time.monotonic() < end, terminal.plain
            terminal.read_for(0.02)
        began = time.monotonic()
        how(terminal)
        while terminal.process.poll() is None or left_of(mark):
            assert time.monotonic() < began + 20, left_of(mark)
            terminal.read_for(0.005)
        took = time.monotonic() - began
        assert terminal.process.returncode in (130, 1), "1: what it had to say could not be shown"
        file.unlink(missing_ok=True)
        return took

    return best(once)


def test_ctrl_c_at_a_terminal_leaves_it_as_it_was(program: Program, serve: Serve) -> None:
    serve(shell(COMMANDS["session"], times=0))
    before: list[Any] = []
    after: list[Any] = []

    def press(terminal: Terminal) -> None:
        keep = os.dup(terminal.fd)
        terminal.type("\x03")
        terminal.process.wait(20)
        after.append(termios.tcgetattr(keep))
        os.close(keep)

    with closing_pair() as (outer, inner):
        before.append(termios.tcgetattr(outer))
        del inner
    assert at_a_terminal(program, press) <= SOON
    assert after[-1][:4] == before[-1][:4], "echo and line editing are on"
    check_log(program)


def test_a_terminal_that_is_closed(program: Program, serve: Serve) -> None:
    """Its window is gone: nothing can be written any more, and the system sends SIGHUP."""
    serve(shell(COMMANDS["session"], times=0))
    assert at_a_terminal(program, Terminal.hang_up) <= SOON
    check_log(program)


def test_a_terminal_that_is_closed_at_a_question(program: Program, serve: Serve) -> None:
    serve(shell(f"{READY} sleep 491", times=0))
    assert at_a_terminal(program, Terminal.hang_up, lambda t: "no >" in t.plain, "ask") <= SOON
    check_log(program)


def test_a_terminal_that_is_closed_in_the_middle_of_an_answer(program: Program, serve: Serve) -> None:
    serve(Fault("slow", seconds=0.05, answer=Say("word " * 400), times=0))
    assert at_a_terminal(program, Terminal.hang_up, lambda t: "word word" in t.plain) <= SOON
    check_log(program)
