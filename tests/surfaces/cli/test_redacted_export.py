"""`gongfu show --redact` prints a session for others; without it a person sees the own session as it is."""

from __future__ import annotations

import json
from collections.abc import Callable

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server
from tests.core.secret_cases import shapes

from .conftest import Program

TOKEN = "gh" + "p_" + "a1B2" * 9


def session(program: Program, serve: Callable[..., Server], task: str) -> Server:
    command = f"curl -s -H 'X-Api-Key: {TOKEN}' file:///dev/null; echo password=hunter2; echo test-key-of-mine"
    server = serve(Call("shell", {"command": command}), Say(f"The answer holds {TOKEN}, too."))
    program.env["OPENAI_API_KEY"] = "test-key-of-mine"
    done = program.call("run", "--permission", "full", task)
    assert done.code == 0, done
    return server


def test_an_export_for_others_holds_no_secret(program: Program, serve: Callable[..., Server]) -> None:
    secrets = [(secret, frame) for _, secret, frame in shapes() if "\n" not in secret]
    server = session(program, serve, "Use " + "\n".join(frame.format(secret) for secret, frame in secrets))
    assert TOKEN.encode() in b"".join(r.raw for r in server.requests), "the talk itself is not altered"
    frames = "".join(frame for _, frame in secrets)
    for args in (["--redact"], ["--redact", "--json"], ["--redact", "--verbose"]):
        done = program.call("show", *args)
        assert done.code == 0, done
        assert "Use" in done.out
        assert "[secret " in done.out
        for secret in (TOKEN, "hunter2", "test-key-of-mine"):
            assert secret not in done.out
        assert not [s for s, _ in secrets if s in done.out and s not in frames]
    fields = json.loads(program.call("show", "--redact", "--json").out)
    assert fields["messages"]
    assert fields["type"] == "session"


def test_a_person_sees_the_own_session_as_it_is(program: Program, serve: Callable[..., Server]) -> None:
    session(program, serve, "Say it")
    for args in ([], ["--json"]):
        done = program.call("show", *args)
        assert TOKEN in done.out
        assert f"The answer holds {TOKEN}, too." in done.out


def test_titles_in_the_list_hold_no_secret(program: Program, serve: Callable[..., Server]) -> None:
    session(program, serve, f"Push with {TOKEN} please")
    done = program.call("sessions")
    assert "Push with [secret github token] please" in done.out
    assert TOKEN not in done.out
    assert TOKEN not in program.call("sessions", "--json").out


def test_no_layout_tears_apart_what_gives_a_secret_away(program: Program, serve: Callable[..., Server]) -> None:
    """A diff puts signs and numbers before its lines, and JSON puts them all on one."""
    steps: list[object] = []
    some = [(secret, frame.replace("{}", secret)) for _, secret, frame in shapes(3) if "\n" in frame + secret]
    assert len(some) > 3
    for number, (_, text) in enumerate(some):
        steps.append(Call("write_file", {"path": f"o{number}.txt", "content": f"first\n{text}\nlast\n"}))
        steps.append(Call("shell", {"command": f"cat o{number}.txt"}))
    serve(*steps, Say("\n\n".join(text for _, text in some)))
    assert program.call("run", "--permission", "full", "Write them.").code == 0
    for args in ([], ["--verbose"], ["--json"], ["--compact"]):
        told = program.call("show", "--redact", *args).out
        assert "Write them." in told
        for secret, _ in some:
            for line in secret.split("\n"):
                assert "----" in line or line not in told, args
