"""The embedded model as a provider: what is known of it, and, in the long runs, the real server."""

from __future__ import annotations

import os
import shutil
from contextlib import aclosing
from pathlib import Path

import pytest

from gongfu.config.paths import places
from gongfu.core.errors import UsageError, UserError
from gongfu.core.messages import TextPart, user
from gongfu.core.specs import ToolSpec, Usage
from gongfu.models.local import local_provider
from gongfu.models.local.download import model_path
from gongfu.models.local.models import DEFAULT, find_model
from gongfu.models.local.provider import LocalProvider
from gongfu.models.local.server import LocalServer
from gongfu.models.protocol import Answer, Request
from tests.models.local.packages import places_in

pytestmark = pytest.mark.anyio


def test_it_is_known_as_free_small_and_one_at_a_time(tmp_path: Path) -> None:
    info = local_provider("", places_in(tmp_path), {}).info
    assert info.ref == f"local/{DEFAULT}"
    assert (info.small, info.window, info.slots) == (True, 8192, 1)
    assert info.price.cost(Usage(input=1000, output=1000)) == 0
    assert not (tmp_path / "home").exists()


def test_a_name_that_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        local_provider("gpt-9", places_in(tmp_path), {})


async def test_before_it_was_fetched_it_says_how(tmp_path: Path) -> None:
    provider = local_provider("", places_in(tmp_path), {})
    shell = ToolSpec(name="shell", description="", parameters={"type": "object", "properties": {}})
    request = Request(model=DEFAULT, system="", messages=(user("hi"),), tools=(shell,))
    async with aclosing(provider.complete(request)) as deltas:
        with pytest.raises(UserError, match="gongfu models pull"):
            await anext(deltas)
    await provider.aclose()


@pytest.mark.soak
async def test_the_real_server_answers_to_a_schema_and_ends(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="pip install 'gongfu[local]'")
    have = model_path(places(os.environ), DEFAULT)
    if have is None:
        pytest.skip("gongfu models pull")
    found = places_in(tmp_path)
    found.ensure(found.models)
    try:
        os.link(have, found.models / have.name)
    except OSError:
        shutil.copyfile(have, found.models / have.name)
    model = find_model(DEFAULT)
    server = LocalServer(model, found, os.environ)
    provider = LocalProvider(model, server, os.environ)
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    request = Request(
        model=model.name, system="Answer in JSON.", messages=(user("What is 2 + 3?"),), schema=schema, max_output=40,
        temperature=0.0,
    )  # fmt: skip
    try:
        async with aclosing(provider.complete(request)) as deltas:
            last = [delta async for delta in deltas][-1]
    finally:
        await provider.aclose()
        assert await server.stop()
    assert isinstance(last, Answer)
    assert [type(p) for p in last.message.parts] == [TextPart]
    assert '"sum": 5' in last.message.text or '"sum":5' in last.message.text
    assert last.usage.input > 10
