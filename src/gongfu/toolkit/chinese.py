"""The Chinese calendar from 1900 to 2100, in both directions, with solar terms, cycles of sixty and festivals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.lunar_table import FIRST, FIRST_TERM, LAST, TERM_DAYS, TERMS, UNSURE, YEARS
from gongfu.toolkit.moments import checked

STEMS = "甲乙丙丁戊己庚辛壬癸"
BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
ANIMALS = ("鼠 Rat", "牛 Ox", "虎 Tiger", "兔 Rabbit", "龙 Dragon", "蛇 Snake", "马 Horse", "羊 Goat", "猴 Monkey",
           "鸡 Rooster", "狗 Dog", "猪 Pig")  # fmt: skip
TERM_NAMES = (
    "小寒 Minor Cold", "大寒 Major Cold", "立春 Start of Spring", "雨水 Rain Water", "惊蛰 Awakening of Insects",
    "春分 Spring Equinox", "清明 Pure Brightness", "谷雨 Grain Rain", "立夏 Start of Summer", "小满 Grain Buds",
    "芒种 Grain in Ear", "夏至 Summer Solstice", "小暑 Minor Heat", "大暑 Major Heat", "立秋 Start of Autumn",
    "处暑 End of Heat", "白露 White Dew", "秋分 Autumn Equinox", "寒露 Cold Dew", "霜降 Frost's Descent",
    "立冬 Start of Winter", "小雪 Minor Snow", "大雪 Major Snow", "冬至 Winter Solstice",
)  # fmt: skip
_MONTHS = ("正月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "冬月", "腊月")
_DIGITS = "〇一二三四五六七八九"
FESTIVALS = {
    (1, 1): "春节 Spring Festival", (1, 15): "元宵节 Lantern Festival", (2, 2): "龙抬头 Dragon Raises its Head",
    (3, 3): "上巳节 Shangsi Festival", (5, 5): "端午节 Dragon Boat Festival", (7, 7): "七夕节 Qixi Festival",
    (7, 15): "中元节 Ghost Festival", (8, 15): "中秋节 Mid-Autumn Festival", (9, 9): "重阳节 Double Ninth Festival",
    (10, 1): "寒衣节 Winter Clothes Day", (12, 8): "腊八节 Laba Festival",
    (12, 23): "小年（北方） Little New Year (north)",
    (12, 24): "小年（南方） Little New Year (south)",
}  # fmt: skip
EVE = "除夕 New Year's Eve"
_LUNAR = (
    r"(?a)(?:农历|阴历|lunar)?\s*"
    r"(?:(?P<y>\d{4}|[〇零○一二三四五六七八九]{4})\s*(?:年|[-/. ]))?\s*(?P<l>闰|閏|leap[- ]?)?"
    r"(?P<m>\d{1,2}|正|冬|腊|臘|十[一二]?|[一二三四五六七八九])(?P<l2>l|闰)?\s*(?:月|[-/. ])\s*"
    r"(?P<d>\d{1,2}|初[一二三四五六七八九十]|三十|[廿卅二三]?十?[一二三四五六七八九]|二十|十|廿)\s*(?:日|号)?"
)


class Lunar(Base, frozen=True):
    """A day of the Chinese calendar; `days` is how many its month has."""

    year: int
    month: int
    day: int
    leap: bool = False
    days: int = 30

    @property
    def name(self) -> str:
        """Such as 二〇二五年闰六月初一."""
        year = "".join(_DIGITS[int(c)] for c in str(self.year))
        return f"{year}年{month_name(self.month, leap=self.leap)}{day_name(self.day)}"

    @property
    def plain(self) -> str:
        """Such as 2025-leap6-1."""
        return f"{self.year}-{'leap' * self.leap}{self.month}-{self.day}"


class Month(Base, frozen=True):
    """A month of the Chinese calendar."""

    year: int
    month: int
    leap: bool
    first: date
    days: int


def month_name(month: int, *, leap: bool = False) -> str:
    """The name of a month."""
    return f"{'闰' * leap}{_MONTHS[month - 1]}"


def day_name(day: int) -> str:
    """The name of a day in its month."""
    if day in (10, 20, 30):
        return ("初十", "二十", "三十")[day // 10 - 1]
    return "初十廿"[day // 10] + _DIGITS[day % 10]


@cache
def months_of(year: int) -> tuple[Month, ...]:
    """The twelve or thirteen months of a year of the table."""
    at = 6 * (year - FIRST)
    bits = int(YEARS[at : at + 6], 16)
    leap = bits >> 13 & 15
    first = date(year, 1, 20) + timedelta(days=bits >> 17)
    order = [(m, extra) for m in range(1, 13) for extra in ((False, True) if m == leap else (False,))]
    found: list[Month] = []
    for index, (month, extra) in enumerate(order):
        days = 29 + (bits >> index & 1)
        found.append(Month(year=year, month=month, leap=extra, first=first, days=days))
        first += timedelta(days=days)
    return tuple(found)


def leap_month(year: int) -> int:
    """The leap month of a year, 0 when it has none."""
    return next((m.month for m in months_of(year) if m.leap), 0)


def new_year(year: int) -> date:
    """The day of Spring Festival."""
    return months_of(year)[0].first


def first_day() -> date:
    """The first day that is known here."""
    return date(FIRST_TERM, 1, 1)


def last_day() -> date:
    """The last day that is known here."""
    last = months_of(LAST)[-1]
    return last.first + timedelta(days=last.days - 1)


def to_lunar(day: date) -> Lunar:
    """A day in the Chinese calendar. ToolFailure beyond what is known."""
    if not first_day() <= day <= last_day():
        raise ToolFailure(f"{day} lies beyond the Chinese calendar that is known here: {first_day()} to {last_day()}")
    year = day.year if day.year <= LAST and day >= new_year(day.year) else day.year - 1
    month = next(m for m in reversed(months_of(year)) if m.first <= day)
    return Lunar(year=year, month=month.month, day=(day - month.first).days + 1, leap=month.leap, days=month.days)


def to_solar(year: int, month: int, day: int, *, leap: bool = False) -> date:
    """The day of the Gregorian calendar. ToolFailure for what the Chinese calendar does not have, with what it has."""
    if not 1900 <= year <= LAST:
        raise ToolFailure(f"the lunar year {year} is not known here: 1900 to {LAST}")
    if not 1 <= month <= 12:
        raise ToolFailure(f"there is no lunar month {month}: 1 to 12")
    found = next((m for m in months_of(year) if (m.month, m.leap) == (month, leap)), None)
    if found is None:
        own = leap_month(year)
        has = f"its leap month is {month_name(own, leap=True)} ({own})" if own else "it has no leap month"
        raise ToolFailure(f"{year} has no {month_name(month, leap=True)}: {has}")
    if not 1 <= day <= found.days:
        near = day_name(min(max(day, 1), found.days))
        raise ToolFailure(
            f"{month_name(month, leap=leap)} of {year} has {found.days} days: no day {day}; the nearest is {near}"
        )
    return found.first + timedelta(days=day - 1)


def is_unsure(day: Lunar) -> bool:
    """Whether its month may begin or end a day later: a new moon lies within seconds of midnight."""
    month = next(m for m in months_of(day.year) if (m.month, m.leap) == (day.month, day.leap))
    unsure = [date(*one) for one in UNSURE]
    return month.first in unsure or month.first + timedelta(days=month.days) in unsure


def parse_lunar(text: str, this_year: int) -> date:
    """The Gregorian day of a lunar date as people write it. ToolFailure for what is none."""
    text = checked(text, "lunar")
    eve = re.fullmatch(r"(?a)(?:(\d{4})年?)?\s*除夕", text)
    if eve is not None:
        last = _known(int(eve[1] or this_year))[-1]
        return last.first + timedelta(days=last.days - 1)
    match = re.fullmatch(_LUNAR, text.lower())
    if match is None:
        raise ToolFailure(
            f"lunar {text!r} is no lunar date; write it as 2025-6-1, 2025-leap6-1 or 二〇二五年闰六月初一"
        )
    year = _number(match["y"]) if match["y"] else this_year
    return to_solar(year, _month_number(match["m"]), _day_number(match["d"]), leap=bool(match["l"] or match["l2"]))


def _known(year: int) -> tuple[Month, ...]:
    to_solar(year, 1, 1)
    return months_of(year)


def _number(text: str) -> int:
    return int("".join(c if c.isascii() else str(_DIGITS.index("〇" if c in "零○" else c)) for c in text))


def _month_number(text: str) -> int:
    named = {"正": 1, "十": 10, "十一": 11, "冬": 11, "十二": 12, "腊": 12, "臘": 12}
    return int(text) if text.isdigit() and text.isascii() else named.get(text) or _DIGITS.index(text)


def _day_number(text: str) -> int:
    if text.isascii():
        return int(text)
    tens = {"初": 0, "十": 10, "廿": 20, "卅": 30}
    if text in ("初十", "十", "二十", "廿", "廿十", "三十"):
        return {"初十": 10, "十": 10, "二十": 20, "廿": 20, "廿十": 20, "三十": 30}[text]
    head, last = text[:-1], _DIGITS.index(text[-1])
    if head in ("二十", "三十"):
        return _DIGITS.index(head[0]) * 10 + last
    return tens.get(head[:1], 0) + last


# --- solar terms ------------------------------------------------------------------------------------------------------


@cache
def terms_of(year: int) -> tuple[date, ...]:
    """The days of the 24 solar terms of a Gregorian year, from 小寒 in January."""
    at = 12 * (year - FIRST_TERM)
    bits = int(TERMS[at : at + 12], 16)
    return tuple(date(year, k // 2 + 1, first + (bits >> 2 * k & 3)) for k, first in enumerate(TERM_DAYS))


def term_on(day: date) -> str:
    """The solar term that begins on a day, "" for none."""
    found = terms_of(day.year)
    return TERM_NAMES[found.index(day)] if day in found else ""


def next_term(day: date) -> tuple[str, date] | None:
    """The solar term that begins next after a day."""
    for year in (day.year, day.year + 1):
        if year > LAST + 1:
            return None
        for name, first in zip(TERM_NAMES, terms_of(year), strict=True):
            if first > day:
                return name, first
    return None


# --- cycles of sixty --------------------------------------------------------------------------------------------------


def sixty(index: int) -> str:
    """The name of a place in the cycle of sixty."""
    return STEMS[index % 10] + BRANCHES[index % 12]


def pillars(day: date, lunar: Lunar) -> tuple[str, str, str]:
    """The names of year (from Spring Festival), month (from its solar term) and day in the cycle of sixty."""
    begun = sum(1 for first in terms_of(day.year)[::2] if first <= day)  # months of solar terms begun in this year
    count = day.year * 12 + begun
    return sixty(lunar.year - 4), sixty(count + 12), sixty(day.toordinal() + 14)


def animal(year: int) -> str:
    """The animal of a lunar year."""
    return ANIMALS[(year - 4) % 12]


def festivals(day: date, lunar: Lunar) -> Iterator[str]:
    """The festivals of the Chinese calendar on a day; leap months have none."""
    if not lunar.leap and (lunar.month, lunar.day) in FESTIVALS:
        yield FESTIVALS[lunar.month, lunar.day]
    last = months_of(lunar.year)[-1]
    if (lunar.month, lunar.leap) == (last.month, last.leap) and lunar.day == last.days:
        yield EVE
    term = term_on(day)
    if term.startswith("清明"):
        yield "清明节 Qingming Festival"
