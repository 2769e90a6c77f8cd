"""Festivals of the Gregorian calendar that can be computed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

_FIXED = {
    (1, 1): "元旦 New Year's Day", (2, 14): "情人节 Valentine's Day", (3, 8): "妇女节 Women's Day",
    (3, 12): "植树节 Arbor Day (China)", (3, 17): "St Patrick's Day", (4, 1): "愚人节 April Fools' Day",
    (4, 22): "地球日 Earth Day", (5, 1): "劳动节 Labour Day", (5, 4): "青年节 Youth Day (China)",
    (6, 1): "儿童节 Children's Day", (7, 1): "建党节 CPC Founding Day", (7, 4): "Independence Day (US)",
    (8, 1): "建军节 Army Day (China)", (9, 10): "教师节 Teachers' Day (China)", (10, 1): "国庆节 National Day (China)",
    (10, 31): "万圣夜 Halloween", (11, 1): "All Saints' Day", (12, 24): "平安夜 Christmas Eve",
    (12, 25): "圣诞节 Christmas Day", (12, 26): "Boxing Day", (12, 31): "New Year's Eve",
}  # fmt: skip
# Month, weekday (Monday is 0), which one in the month.
_WEEKDAYS = {
    (5, 6, 2): "母亲节 Mother's Day", (6, 6, 3): "父亲节 Father's Day", (11, 3, 4): "感恩节 Thanksgiving (US)",
}  # fmt: skip
_EASTER = {
    -47: "Shrove Tuesday", -46: "Ash Wednesday", -2: "Good Friday 耶稣受难日", 0: "复活节 Easter Sunday",
    1: "Easter Monday", 39: "Ascension Day", 49: "Pentecost", 50: "Whit Monday",
}  # fmt: skip


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar from 1583 on (the algorithm of Meeus, Jones and Butcher)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    h = (19 * a + b - d - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    i, k = divmod(c, 4)
    el = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * el) // 451
    month, day = divmod(h + el - 7 * m + 114, 31)
    return date(year, month, day + 1)


def western(day: date) -> Iterator[str]:
    """The festivals on a day."""
    if (day.month, day.day) in _FIXED:
        yield _FIXED[day.month, day.day]
    key = (day.month, day.weekday(), (day.day + 6) // 7)
    if key in _WEEKDAYS:
        yield _WEEKDAYS[key]
    if day.year >= 1583 and day.month in (2, 3, 4, 5, 6):
        distance = (day - easter(day.year)) // timedelta(days=1)
        if distance in _EASTER:
            yield _EASTER[distance]
