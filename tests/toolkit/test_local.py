"""The weather and where the person is, against a service on loopback."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from gongfu.config.project import tightened
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.local import coordinates, guess, located
from gongfu.toolkit.weather_words import sky, wind_from
from tests.app.cast import workplace
from tests.models.raw_server import Exchange, raw_server
from tests.toolkit.loop import play
from tests.toolkit.screens import env_of

pytestmark = pytest.mark.anyio
PLACES: dict[str, list[dict[str, Any]]] = {
    "Hangzhou": [
        {"name": "Hangzhou", "admin1": "Zhejiang", "country": "China", "latitude": 30.29, "longitude": 120.16}
    ],
    "杭州": [{"name": "杭州", "admin1": "浙江省", "country": "中国", "latitude": 30.29, "longitude": 120.16}],
    "Springfield": [
        {"name": "Springfield", "admin1": "Missouri", "country": "United States", "latitude": 37.2, "longitude": -93.3},
        {"name": "Springfield", "admin1": "Illinois", "country": "United States", "latitude": 39.8, "longitude": -89.6},
    ],
}
FORECAST = {
    "timezone": "Asia/Shanghai",
    "current": {
        "time": "2026-11-30T21:00", "temperature_2m": 12.3, "apparent_temperature": 10.1, "relative_humidity_2m": 80,
        "precipitation": 0.4, "weather_code": 61, "wind_speed_10m": 12.5, "wind_direction_10m": 45,
    },
    "daily": {
        "time": ["2026-11-30", "2026-12-01"], "weather_code": [61, 0], "temperature_2m_max": [14.0, 16.5],
        "temperature_2m_min": [8.2, 7.0], "precipitation_sum": [3.2, 0.0], "precipitation_probability_max": [80, None],
        "wind_speed_10m_max": [20.1, 9.9],
    },
}  # fmt: skip


class Service:
    """Finds places and tells the weather as Open-Meteo does; `odd` is what it answers instead, by path."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.odd: dict[str, tuple[int, bytes]] = {}

    async def __call__(self, ask: Exchange) -> None:
        parts = urlsplit(ask.target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.asked.append((parts.path, query))
        if parts.path in self.odd:
            status, body = self.odd[parts.path]
            await ask.answer(body, status=status)
        elif parts.path == "/search":
            found = PLACES.get(query["name"])
            await ask.answer(msgspec.json.encode({"results": found} if found else {"generationtime_ms": 1}))
        elif parts.path == "/forecast":
            await ask.answer(msgspec.json.encode(FORECAST))
        else:
            await ask.answer(
                b'{"city": "Hangzhou", "country": "CN", "loc": "30.29,120.16", "timezone": "Asia/Shanghai"}'
            )


@asynccontextmanager
async def serving(tmp_path: Path, **more: str) -> AsyncGenerator[tuple[Path, Service, int]]:
    """A workspace whose person set the service."""
    service = Service()
    async with raw_server(service) as server:
        base = f"http://127.0.0.1:{server.port}"
        local = {"weather_url": f"{base}/forecast", "geocode_url": f"{base}/search"} | more
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(msgspec.json.encode({"local": local}).decode(), "utf-8")
        yield workplace(tmp_path), service, server.port


async def test_the_weather_of_a_place_is_told(tmp_path: Path) -> None:
    async with serving(tmp_path) as (work, service, _):
        played = await play(work, ("weather", {"place": "Hangzhou", "days": 2}), env=env_of(work))
    assert played.status == "done", played.text
    assert played.text.splitlines() == [
        "Hangzhou, Zhejiang, China (30.29, 120.16)",
        (
            "Now (2026-11-30 21:00 Asia/Shanghai): light rain, 12.3 °C, feels like 10.1 °C, humidity 80%, "
            "wind NE 12.5 km/h, precipitation 0.4 mm"
        ),
        "2026-11-30 Mon: light rain, 8.2 … 14.0 °C, precipitation 3.2 mm (80%), wind up to 20.1 km/h",
        "2026-12-01 Tue: clear sky, 7.0 … 16.5 °C, precipitation 0.0 mm, wind up to 9.9 km/h",
        "Source: 127.0.0.1",
    ]
    path, query = service.asked[-1]
    assert path == "/forecast"
    assert (query["latitude"], query["forecast_days"], query["timezone"]) == ("30.29", "2", "auto")


async def test_a_chinese_question_gets_chinese_words(tmp_path: Path) -> None:
    async with serving(tmp_path) as (work, service, _):
        calls = [("weather", {"place": place}) for place in ("杭州", "杭州市", "浙江省杭州市", "浙江杭州")]
        played = await play(work, *calls, env=env_of(work))
    for result in played.results:
        assert result.status == "done", result.text
        assert "杭州, 浙江省, 中国" in result.text
        assert "小雨，12.3 °C，体感 10.1 °C，湿度 80%，东北风 12.5 km/h，降水 0.4 mm" in result.text
        assert "2026-11-30 周一: 小雨" in result.text
    assert service.asked[0][1]["language"] == "zh"


async def test_the_region_chooses_among_places_of_one_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as (work, service, _):
        played = await play(
            work,
            ("weather", {"place": "Springfield"}),
            ("weather", {"place": "Springfield, illinois", "units": "imperial"}),
            ("weather", {"place": "Springfield, Bavaria"}),
            ("weather", {"place": "39.8, -89.6"}),
            env=env_of(work),
        )
    any_one, illinois, bavaria, point = played.results
    assert "Also called so: Springfield, Illinois, United States" in any_one.text
    assert illinois.text.startswith("Springfield, Illinois")
    assert "12.3 °F" in illinois.text
    assert "mph" in illinois.text
    assert bavaria.status == "failed"
    assert "known are: Springfield, Missouri, United States; Springfield, Illinois" in bavaria.text
    assert point.text.startswith("39.80, -89.60\nNow")
    sent = [query for path, query in service.asked if path == "/forecast"]
    assert sent[1]["temperature_unit"] == "fahrenheit"
    assert sent[1]["latitude"] == "39.8"
    assert [path for path, _ in service.asked].count("/search") == 3


async def test_the_place_and_units_of_the_settings_are_taken(tmp_path: Path) -> None:
    async with serving(tmp_path, place="Hangzhou", units="imperial") as (work, _, _):
        played = await play(work, ("weather", {}), ("whereabouts", {}), env=env_of(work))
    assert "°F" in played.results[0].text
    assert played.results[1].text == "The person set: Hangzhou"


async def test_nobody_is_asked_without_consent(tmp_path: Path) -> None:
    async with serving(tmp_path) as (work, service, port):
        (tmp_path / "home" / "config.yaml").write_text(
            f"local: {{weather_url: 'http://127.0.0.1:{port}/forecast', geocode_url: 'http://127.0.0.1:{port}/search', "
            f"whereabouts_url: 'http://127.0.0.1:{port}/ip'}}\n"
        )
        for mode in ("plan", "ask", "edits", "auto"):
            for call in (("weather", {"place": "Hangzhou"}), ("whereabouts", {"lookup": True})):
                played = await play(work, call, env=env_of(work), permission=mode)
                assert played.status == "refused", (mode, played.text)
        assert service.asked == []
        granted = await play(work, ("whereabouts", {"lookup": True}), env=env_of(work))
    assert granted.text == (
        "By the network address (may be that of a proxy or provider): Hangzhou, CN (30.29,120.16), time zone "
        "Asia/Shanghai"
    )


async def test_bad_places_and_answers_are_told(tmp_path: Path) -> None:
    async with serving(tmp_path) as (work, service, _):
        service.odd["/search"] = 200, b'{"results": [{"name": "x"}, 7, {"latitude": "1", "longitude": []}]}'
        bad: list[tuple[dict[str, Any], str]] = [
            ({}, "which place?"),
            ({"place": "  "}, "which place?"),
            ({"place": "x" * 500}, "at most 100 characters"),
            ({"place": "a\nb"}, "at most 100 characters"),
            ({"place": "95, 10"}, "a latitude lies between"),
            ({"place": "Hangzhou", "days": 0}, "days is between 1"),
            ({"place": "Hangzhou", "days": 99}, "days is between 1"),
            ({"place": "Nowhere"}, "no place is called 'Nowhere'"),
        ]
        played = await play(work, *[("weather", args) for args, _ in bad], env=env_of(work))
        for result, (args, why) in zip(played.results, bad, strict=True):
            assert result.status == "failed", args
            assert why in result.text, args
        answers: list[tuple[int, bytes, str]] = [
            (200, b"<html>", "something else than a JSON object"),
            (200, b"[]", "something else than a JSON object"),
            (200, b"{}", "without any weather"),
            (200, b'{"current": {}, "daily": {"time": ["x", 3], "weather_code": 7}}', ""),
            (400, b'{"reason": "Latitude must be in range"}', "400 Bad Request: Latitude must be in range"),
            (429, b"{}", "fewer requests"),
        ]
        for status, body, why in answers:
            service.odd["/forecast"] = status, body
            played = await play(work, ("weather", {"place": "1, 2"}), env=env_of(work))
            assert why in played.text
            assert (played.status == "failed") is bool(why), played.text


async def test_offline_is_a_clear_failure(tmp_path: Path) -> None:
    async with serving(tmp_path) as (work, _, port):
        pass
    played = await play(work, ("weather", {"place": "Hangzhou"}), env=env_of(work))
    assert played.status == "failed"
    assert f"127.0.0.1:{port}" in played.text
    assert "Traceback" not in played.text


async def test_without_a_service_none_is_asked(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    played = await play(
        work, ("whereabouts", {"lookup": True}), ("whereabouts", {}), env=env_of(work) | {"TZ": "Asia/Shanghai"}
    )
    assert "no service is set" in played.results[0].text
    assert played.results[1].text.startswith("A guess by time zone Asia/Shanghai; nobody was asked.")


def test_a_project_cannot_choose_services_mail_or_place() -> None:
    wanted: dict[str, Any] = {
        "local": {"weather_url": "http://127.0.0.1:9/steal", "place": "X"},
        "email": {"host": "mail.test", "recipients": ["*"]},
        "desktop": {"try_on": "screen"},
    }
    told: list[tuple[Any, ...]] = []
    assert tightened(wanted, {}, lambda path: told.append(tuple(path))) == {"local": {}, "email": {}, "desktop": {}}
    assert sorted(told) == [
        ("desktop", "try_on"), ("email", "host"), ("email", "recipients"), ("local", "place"), ("local", "weather_url"),
    ]  # fmt: skip


def test_a_guess_says_by_what() -> None:
    assert "time zone Europe/Berlin and locale de_DE" in guess({"TZ": "Europe/Berlin", "LANG": "de_DE.UTF-8"})
    with pytest.raises(ToolFailure, match="nothing here tells"):
        guess({"TZ": "UTC", "LANG": "C.UTF-8"})


def test_services_for_addresses_are_read_as_they_are() -> None:
    assert located({"city": "Paris", "regionName": "IDF", "country": "France", "lat": 48.8, "lon": 2.3}) == (
        "Paris, IDF, France (48.8, 2.3)"
    )
    with pytest.raises(ToolFailure, match="told no place"):
        located({"ip": "1.2.3.4"})


def test_words_of_the_weather() -> None:
    assert (sky(95, zh=True), sky(95, zh=False), sky(None, zh=True)) == ("雷暴", "thunderstorm", "")
    assert (sky(42, zh=True), sky(42, zh=False)) == ("天气代码 42", "weather code 42")
    assert (wind_from(359, zh=False), wind_from(200, zh=True), wind_from(None, zh=True)) == ("N", "南", "")
    assert coordinates("上海") is None
    found = coordinates("-33.9， 151.2")
    assert found is not None
    assert (found.latitude, found.longitude) == (-33.9, 151.2)
