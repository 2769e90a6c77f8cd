"""Row 47: AGENTS.md at the root, nested, in home, with a byte order mark, oversize: all that hold are sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.context.rules.found import MAX_FILE
from gongfu.core.errors import Refusal
from gongfu.models.scripted import Call, Say, serve
from tests.app.ruled import ask, counts, opened, project, snapshot
from tests.app.wire import system_text

pytestmark = pytest.mark.anyio
FILES: dict[str, str | bytes] = {
    "AGENTS.md": b"\xef\xbb\xbf# Root\r\nUse tabs.\r\n",
    "app/AGENTS.md": "App.\n",
    "app/web/AGENTS.md": "Web.\n",
    "lib/AGENTS.md": "Lib.\n",
    "lib/a.txt": "a\n",
}


@pytest.mark.parametrize("api", ["openai_chat", "openai_responses", "anthropic"])
async def test_from_home_over_the_root_to_the_target_and_nested_ones_on_first_touch(tmp_path: Path, api: str) -> None:
    work = project(tmp_path, FILES)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "AGENTS.md").write_text("Mine.\n")
    steps = [Call("read_file", {"path": "../../lib/a.txt"}), Say("One."), Say("Two.")]
    async with serve(steps) as server, opened(work, server, rules="mandatory-all", directory="app/web", api=api) as app:
        id = await ask(app, "First.")
        await ask(app, "Second.", id)
        pinned = snapshot(app, id)
    assert counts(pinned, server.requests) == {
        "~/.gongfu/AGENTS.md": [1, 1, 1], "AGENTS.md": [1, 1, 1], "app/AGENTS.md": [1, 1, 1],
        "app/web/AGENTS.md": [1, 1, 1], "lib/AGENTS.md": [0, 1, 1],
    }  # fmt: skip
    told = system_text(server.requests[2].body)
    places = [told.find(f">\n{text}") for text in ("Mine.", "# Root\nUse tabs.", "App.", "Web.")]
    assert places == sorted(places)
    assert places[0] > 0
    assert "Lib." not in told  # appended late: what was sent before stays as it was
    assert system_text(server.requests[0].body) == told


async def test_an_oversize_file_stops_the_run_and_none_is_cut_short(tmp_path: Path) -> None:
    work = project(tmp_path, {**FILES, "app/AGENTS.md": "x" * (MAX_FILE + 1)})
    async with serve([]) as server, opened(work, server, directory="app/web") as app:
        with pytest.raises(Refusal) as raised:
            await ask(app, "First.")
    assert "app/AGENTS.md" in str(raised.value)
    assert server.requests == []
