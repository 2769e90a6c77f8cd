"""The weather at a place, and where the person is."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast
from urllib.parse import urlencode

import msgspec

from gongfu.config.settings import Local
from gongfu.core.base import Base
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.weather_words import sky, weekday, wind_from
from gongfu.toolkit.web_client import Client, Limits, failed
from gongfu.toolkit.web_guard import Link, Reach, link_of
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Tool

Units = Literal["", "metric", "imperial"]
Language = Literal["auto", "en", "zh"]
_LIMITS = Limits(connect=8, idle=10, total=25, bytes=2_000_000)
_LONGEST = 100
_MOST_DAYS = 16
_COORDINATES = r"\s*([+-]?\d{1,2}(?:\.\d+)?)\s*[,，;；\s]\s*([+-]?\d{1,3}(?:\.\d+)?)\s*"
_CHINESE = r"[\u3400-\u9fff]"
_NOW = (
    "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m,"
    "wind_direction_10m"
)
_DAILY = (
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,"
    "wind_speed_10m_max"
)


class Spot(Base, frozen=True):
    """A place: where it is, and how it is called. `others` are places of the same name."""

    latitude: float
    longitude: float
    name: str = ""
    others: tuple[str, ...] = ()


class LocalTools:
    """weather and whereabouts of one session. The hosts that the settings name may be reached, and those of `allow`.

    `chinese` says whether the person reads Chinese.
    """

    def __init__(
        self, settings: Local, env: Mapping[str, str], *, allow: Sequence[str] = (), chinese: bool = False
    ) -> None:
        self._settings = settings
        self._env = env
        self._allow = tuple(allow)
        self._chinese = chinese

    def __iter__(self) -> Iterator[Tool]:
        yield from (self.weather, self.whereabouts)

    # --- weather --------------------------------------------------------------------------------------------------

    def _place(self, given: str) -> str:
        place = given.strip() or self._settings.place.strip()
        if not place:
            raise ToolFailure(
                "which place? Give its name or `latitude, longitude` (the person can set local.place); "
                "nothing was asked"
            )
        if len(place) > _LONGEST or re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", place):
            raise ToolFailure(f"place is a name of at most {_LONGEST} characters, or `latitude, longitude`")
        return place

    async def _weather_facts(self, args: dict[str, Any]) -> Facts:
        place = self._place(args.get("place") or "")
        _days(args.get("days", 3))
        urls = [self._settings.weather_url] + ([] if coordinates(place) else [self._settings.geocode_url])
        hosts = dict.fromkeys(_service(url, "local.weather_url").place for url in urls)
        return Facts(access=("network",), hosts=tuple(hosts), title=f"weather {place}")

    def _no_claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return ()

    @tool(access="network", facts=_weather_facts, claims=_no_claims)
    async def weather(self, place: str = "", days: int = 3, units: Units = "", language: Language = "auto") -> Outcome:
        wanted = self._place(place)
        zh = language == "zh" or (language == "auto" and (self._chinese or bool(re.search(_CHINESE, wanted))))
        spot = coordinates(wanted) or await self._find(wanted, zh=zh)
        imperial = (units or self._settings.units) == "imperial"
        query = {
            "latitude": spot.latitude, "longitude": spot.longitude, "current": _NOW, "daily": _DAILY,
            "timezone": "auto", "forecast_days": _days(days),
        }  # fmt: skip
        if imperial:
            query |= {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}
        said = await self._ask(self._settings.weather_url, query, "the weather service")
        text = told(spot, said, zh=zh, imperial=imperial)
        source = _service(self._settings.weather_url, "local.weather_url").host
        text += f"\n{'来源' if zh else 'Source'}: {source}"
        return Outcome(text=text, display=text_display(text, spot.name or wanted))

    async def _find(self, place: str, *, zh: bool) -> Spot:
        """The place of that name; the largest where there are more. `Name, region` narrows it."""
        name, *regions = [part.strip() for part in re.split(r"[,，]", place) if part.strip()] or [place]
        for ask, within in _readings(name):
            query = {"name": ask, "count": 10, "language": "zh" if zh else "en", "format": "json"}
            said = await self._ask(self._settings.geocode_url, query, "the service that finds places")
            found = [row for row in _rows(said, "results") if _has(row, "latitude", "longitude")]
            narrow = [row for row in found if all(_lies_in(row, r) for r in (*regions, *within))]
            if found and not narrow and regions:
                known = "; ".join(_called(row) for row in found[:5])
                raise ToolFailure(f"no place {name} is known in {', '.join(regions)}; known are: {known}")
            if narrow or found:
                first, *others = narrow or found
                return Spot(
                    latitude=first["latitude"], longitude=first["longitude"], name=_called(first),
                    others=tuple(dict.fromkeys(_called(row) for row in others))[:3],
                )  # fmt: skip
        raise ToolFailure(f"no place is called {place!r}; try another spelling, or `latitude, longitude`")

    async def _ask(self, url: str, query: Mapping[str, Any], who: str) -> dict[str, Any]:
        """The JSON object that a service answers."""
        service = _service(url, "local")
        joint = "&" if "?" in service.target else "?"
        link = link_of(f"{service.url}{joint}{urlencode(query)}" if query else service.url)
        client = Client(Reach((*self._allow, service.place)), self._env, _LIMITS)
        answer = await client.fetch(link, headers={"Accept": "application/json"})
        if answer.onward:
            raise ToolFailure(f"{who} ({service.place}) points to another host, which was not asked")
        try:
            said = msgspec.json.decode(answer.body)
        except msgspec.DecodeError:
            said = None
        if answer.status >= 400:
            reason = cast("dict[str, Any]", said).get("reason") if isinstance(said, dict) else None
            raise ToolFailure(f"{failed(answer, who)}{f': {reason}'[:300] if reason else ''}")
        if not isinstance(said, dict):
            raise ToolFailure(f"{who} ({service.place}) answered with something else than a JSON object")
        return cast("dict[str, Any]", said)

    # --- whereabouts ----------------------------------------------------------------------------------------------

    async def _whereabouts_facts(self, args: dict[str, Any]) -> Facts:
        if not args.get("lookup"):
            return Facts(access=("read",), title="whereabouts")
        return Facts(access=("network",), hosts=(self._lookup().place,), title="whereabouts, by the network address")

    def _lookup(self) -> Link:
        if not self._settings.whereabouts_url:
            raise ToolFailure(
                "no service is set that tells where a network address is (setting local.whereabouts_url, which the "
                "person may set); nothing was asked"
            )
        return _service(self._settings.whereabouts_url, "local.whereabouts_url")

    @tool(access="network", facts=_whereabouts_facts, claims=_no_claims)
    async def whereabouts(self, lookup: bool = False) -> Outcome:
        if lookup:
            said = await self._ask(self._lookup().url, {}, "the service that knows network addresses")
            text = f"By the network address (may be that of a proxy or provider): {located(said)}"
        elif self._settings.place:
            text = f"The person set: {self._settings.place}"
        else:
            text = guess(self._env)
        return Outcome(text=text, display=text_display(text))


def coordinates(place: str) -> Spot | None:
    """The place that `latitude, longitude` names; None for anything else. ToolFailure when there is no such place."""
    match = re.fullmatch(_COORDINATES, place)
    if match is None:
        return None
    latitude, longitude = float(match[1]), float(match[2])
    if abs(latitude) > 90 or abs(longitude) > 180:
        raise ToolFailure("a latitude lies between -90 and 90, a longitude between -180 and 180")
    return Spot(latitude=latitude, longitude=longitude)


def _days(days: int) -> int:
    if not 1 <= days <= _MOST_DAYS:
        raise ToolFailure(f"days is between 1 (today) and {_MOST_DAYS}")
    return days


def _service(url: str, setting: str) -> Link:
    try:
        return link_of(url)
    except ToolFailure as failure:
        raise ToolFailure(f"the setting {setting} is no address that can be asked: {failure}") from None


def _readings(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a name may mean: itself, a Chinese one without `市`, the last part of `省…市…` within the first."""
    yield name, ()
    if not re.search(_CHINESE, name):
        return
    if len(name) > 2 and name[-1] in "市县区省":
        yield name[:-1], ()
    parts = [part for part in re.split(r"(?<=[省市])|(?<=自治区)", name) if part]
    if len(parts) > 1:
        yield parts[-1].rstrip("市县区") or parts[-1], (parts[0],)
    elif len(name) >= 4:  # such as 浙江杭州
        yield name[2:], (name[:2],)


def _rows(said: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    rows = said.get(key)
    return [row for row in cast("list[Any]", rows) if isinstance(row, dict)] if isinstance(rows, list) else []


def _has(row: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(row.get(name), int | float) for name in names)


_REGIONS = ("admin1", "admin2", "admin3", "country", "country_code")


def _lies_in(row: Mapping[str, Any], region: str) -> bool:
    wanted = region.casefold().rstrip("省市区县")
    return any(wanted and wanted in str(row.get(name) or "").casefold() for name in _REGIONS)


def _called(row: Mapping[str, Any]) -> str:
    names = (str(row[name])[:60] for name in ("name", "admin1", "country") if row.get(name))
    return ", ".join(dict.fromkeys(names))


# --- what is told -----------------------------------------------------------------------------------------------------


def told(spot: Spot, said: Mapping[str, Any], *, zh: bool, imperial: bool) -> str:
    """The weather in words. ToolFailure when the service told none."""
    now, daily = said.get("current"), said.get("daily")
    if not isinstance(now, dict) and not isinstance(daily, dict):
        raise ToolFailure("the weather service answered without any weather; is local.weather_url an Open-Meteo one?")
    at = f"{spot.latitude:.2f}, {spot.longitude:.2f}"
    lines = [f"{spot.name} ({at})" if spot.name else at]
    if isinstance(now, dict):
        lines.append(_current(cast("dict[str, Any]", now), str(said.get("timezone") or ""), zh=zh, imperial=imperial))
    if isinstance(daily, dict):
        lines += _ahead(cast("dict[str, Any]", daily), zh=zh, imperial=imperial)
    if spot.others:
        lines.append(("同名地点：" if zh else "Also called so: ") + "; ".join(spot.others))
    return "\n".join(lines)


def _units(*, imperial: bool) -> tuple[str, str, str]:
    return ("°F", "mph", "in") if imperial else ("°C", "km/h", "mm")


def _current(now: Mapping[str, Any], zone: str, *, zh: bool, imperial: bool) -> str:
    degree, speed, rain = _units(imperial=imperial)
    when = " ".join(part for part in (str(now.get("time") or "").replace("T", " "), zone) if part)
    wind = wind_from(now.get("wind_direction_10m"), zh=zh)
    parts = [
        sky(now.get("weather_code"), zh=zh),
        _part("{}" + f" {degree}", now.get("temperature_2m")),
        _part("体感 {} " + degree if zh else "feels like {} " + degree, now.get("apparent_temperature")),
        _part("湿度 {}%" if zh else "humidity {}%", now.get("relative_humidity_2m")),
        _part((f"{wind}风 " if zh else f"wind {wind} ") + "{} " + speed, now.get("wind_speed_10m")),
        _part(("降水 {} " if zh else "precipitation {} ") + rain, now.get("precipitation") or None),
    ]
    return f"{'现在' if zh else 'Now'} ({when}): " + (", " if not zh else "，").join(p for p in parts if p)


def _ahead(daily: Mapping[str, Any], *, zh: bool, imperial: bool) -> Iterator[str]:
    degree, speed, rain = _units(imperial=imperial)
    days = daily.get("time")
    for at, day in enumerate(cast("list[Any]", days)[:_MOST_DAYS] if isinstance(days, list) else []):
        row = {name: _at(values, at) for name, values in daily.items()}
        low, high = row.get("temperature_2m_min"), row.get("temperature_2m_max")
        chance = row.get("precipitation_probability_max")
        wet = _part(("降水 {} " if zh else "precipitation {} ") + rain, row.get("precipitation_sum"))
        parts = [
            sky(row.get("weather_code"), zh=zh),
            f"{low} … {high} {degree}" if low is not None and high is not None else "",
            wet + (f" ({chance}%)" if wet and chance is not None else ""),
            _part(("最大风速 {} " if zh else "wind up to {} ") + speed, row.get("wind_speed_10m_max")),
        ]
        yield f"{day} {weekday(str(day), zh=zh)}: " + ("，" if zh else ", ").join(p for p in parts if p)


def _at(values: Any, at: int) -> Any:
    return cast("list[Any]", values)[at] if isinstance(values, list) and at < len(cast("list[Any]", values)) else None


def _part(form: str, value: Any) -> str:
    return "" if value is None else form.format(value)


# --- where the person is ----------------------------------------------------------------------------------------------


def located(said: Mapping[str, Any]) -> str:
    """What a service for network addresses told, whichever of the usual names it has for things."""

    def first(*names: str) -> str:
        return next((str(said[name])[:80] for name in names if said.get(name)), "")

    place = ", ".join(p for p in (first("city"), first("region", "regionName"), first("country_name", "country")) if p)
    at = first("loc") or ", ".join(p for p in (first("latitude", "lat"), first("longitude", "lon")) if p)
    if not place and not at:
        raise ToolFailure("the service told no place; is local.whereabouts_url one that answers with JSON?")
    zone = first("timezone", "time_zone")
    return f"{place or at}" + (f" ({at})" if place and at else "") + (f", time zone {zone}" if zone else "")


def guess(env: Mapping[str, str]) -> str:
    """Where the person may be, by the settings of the machine. ToolFailure when they tell nothing."""
    zone = zone_of(env)
    language = next((env[name] for name in ("LC_ALL", "LC_TIME", "LANG") if env.get(name)), "").partition(".")[0]
    country = language.partition("_")[2]
    hints = [f"time zone {zone}"] if zone else []
    hints += [f"locale {language}"] if country else []
    if not hints or (zone in ("UTC", "Etc/UTC", "GMT") and not country):
        raise ToolFailure(
            "nothing here tells where the person is (the time zone is "
            f"{zone or 'unknown'}); ask, or have local.place set"
        )
    return f"A guess by {' and '.join(hints)}; nobody was asked. The person can set local.place."


def zone_of(env: Mapping[str, str]) -> str:
    """The name of the time zone of this machine, such as Asia/Shanghai; "" when it is not known."""
    if env.get("TZ"):
        return env["TZ"].lstrip(":")
    if sys.platform == "win32":
        return time.tzname[0]
    _, found, name = os.path.realpath("/etc/localtime").partition("zoneinfo/")
    return name.removeprefix("posix/") if found else ""
