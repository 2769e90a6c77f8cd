"""Words for the weather in English and Chinese: the sky by its WMO code (table 4677 as forecasts use it), the wind."""

from __future__ import annotations

from typing import Any, Final

_SKY: Final[dict[int, tuple[str, str]]] = {
    0: ("clear sky", "晴"),
    1: ("mainly clear", "大部晴朗"),
    2: ("partly cloudy", "多云"),
    3: ("overcast", "阴"),
    45: ("fog", "雾"),
    48: ("freezing fog", "冻雾"),
    51: ("light drizzle", "小毛毛雨"),
    53: ("drizzle", "毛毛雨"),
    55: ("heavy drizzle", "大毛毛雨"),
    56: ("light freezing drizzle", "小冻毛毛雨"),
    57: ("freezing drizzle", "冻毛毛雨"),
    61: ("light rain", "小雨"),
    63: ("rain", "中雨"),
    65: ("heavy rain", "大雨"),
    66: ("light freezing rain", "小冻雨"),
    67: ("freezing rain", "冻雨"),
    71: ("light snow", "小雪"),
    73: ("snow", "中雪"),
    75: ("heavy snow", "大雪"),
    77: ("snow grains", "米雪"),
    80: ("light showers", "小阵雨"),
    81: ("showers", "阵雨"),
    82: ("violent showers", "强阵雨"),
    85: ("light snow showers", "小阵雪"),
    86: ("heavy snow showers", "大阵雪"),
    95: ("thunderstorm", "雷暴"),
    96: ("thunderstorm with light hail", "雷暴伴小冰雹"),
    99: ("thunderstorm with heavy hail", "雷暴伴大冰雹"),
}
_WINDS: Final = (
    ("N", "北"), ("NE", "东北"), ("E", "东"), ("SE", "东南"), ("S", "南"), ("SW", "西南"), ("W", "西"), ("NW", "西北"),
)  # fmt: skip
_DAYS: Final = (
    ("Mon", "周一"), ("Tue", "周二"), ("Wed", "周三"), ("Thu", "周四"), ("Fri", "周五"),
    ("Sat", "周六"), ("Sun", "周日"),
)  # fmt: skip


def sky(code: Any, *, zh: bool) -> str:
    """The sky by its code; "" when there is none."""
    if not isinstance(code, int | float):
        return ""
    known = _SKY.get(int(code))
    return known[zh] if known else f"{'天气代码' if zh else 'weather code'} {int(code)}"


def wind_from(degrees: Any, *, zh: bool) -> str:
    """Where a wind comes from, from its direction in degrees; "" when that is not known."""
    return _WINDS[round(degrees / 45) % 8][zh] if isinstance(degrees, int | float) else ""


def weekday(day: str, *, zh: bool) -> str:
    """The day of the week of an ISO date; "" for anything else."""
    from datetime import date  # only where there is weather

    try:
        return _DAYS[date.fromisoformat(day).weekday()][zh]
    except ValueError:
        return ""
