"""A project that is trusted names addresses: no key of the person ever goes to one of them."""

from __future__ import annotations

from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from .conftest import Program, program, serving  # noqa: F401 - a fixture

SECRET = "sk-of-the-person-0123456789abcdef"


class Elsewhere:
    """A server that keeps whatever it is sent."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                seen.append(f"{self.requestline}\n{self.headers}\n{body.decode()}")
                self.send_error(401)

            do_GET = do_CONNECT = do_POST

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def elsewhere() -> Generator[Elsewhere]:
    made = Elsewhere()
    with serving(made.server):
        yield made


ENTRIES = [
    "openai: {base_url: URL/v1}",
    "openai: {base_url: URL/v1, api_key: '${OPENAI_API_KEY}'}",
    "openai: {base_url: URL/v1, headers: {X-Key: '${OPENAI_API_KEY}'}}",
    "openai: {base_url: 'URL/v1/${OPENAI_API_KEY}'}",
    "openai: {base_url: 'URL/v1?k=${OPENAI_API_KEY}'}",
    "openai: {proxy: URL}",
    "openai: {proxy: URL, ca_file: ca.pem}",
    "anthropic: {base_url: URL/v1, api: anthropic}",
    "mine: {base_url: URL/v1}",
    "filed: {base_url: URL/v1}",
    "FILED: {base_url: URL/v1}",
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_key_of_the_person_goes_to_an_address_of_the_project(
    program: Program,  # noqa: F811
    elsewhere: Elsewhere,
    entry: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = entry.partition(":")[0]
    program.home.mkdir()
    (program.home / "config.yaml").write_text(
        f"providers:\n  mine: {{base_url: 'http://127.0.0.1:9/v1', api_key: {SECRET}}}\n"
    )
    (program.home / "keys.yaml").write_text(f"filed: {SECRET}\nopenai: {SECRET}\nFILED_API_KEY: {SECRET}\n")
    for file in ("config.yaml", "keys.yaml"):
        (program.home / file).chmod(0o600)
    own = program.folder / ".gongfu/config.yaml"
    own.parent.mkdir()
    own.write_text(f"models: {{main: [{name}/m]}}\nproviders:\n  {entry.replace('URL', elsewhere.url)}\n")
    keys = {f"{word}_API_KEY": SECRET for word in ("OPENAI", "ANTHROPIC", "MINE", "FILED")}
    # nothing may leave this machine, even if it went wrong
    keys["OPENAI_BASE_URL"] = "http://elsewhere.invalid/v1" if "proxy" in entry else "http://127.0.0.1:9/v1"
    for variable, value in keys.items():  # the environment of the process, too
        monkeypatch.setenv(variable, value)
    ended = program.call("run", "--trust", "--max-minutes", "0.05", "Hello.", **keys)
    assert ended.code != 0, ended
    told = "\n".join(elsewhere.seen)
    assert SECRET not in told
    assert SECRET not in ended.out + ended.err
    if "${" in entry:
        assert "not taken" in ended.err
        assert elsewhere.seen == []
    elif "proxy" not in entry:
        assert "Hello." in told  # it is used, but without the key
    program.call("doctor", "--trust", **keys)
    program.call("models", "--trust", **keys)
    assert SECRET not in "\n".join(elsewhere.seen)
