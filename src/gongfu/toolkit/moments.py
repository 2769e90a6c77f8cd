"""Dates, times, zones and durations as people write them."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure

LONGEST = 200
ENGLISH_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CHINESE_DAYS = ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
_CITIES = {
    "北京": "Asia/Shanghai", "中国": "Asia/Shanghai", "上海": "Asia/Shanghai", "beijing": "Asia/Shanghai",
    "china": "Asia/Shanghai", "shenzhen": "Asia/Shanghai", "深圳": "Asia/Shanghai", "广州": "Asia/Shanghai",
    "cst8": "Asia/Shanghai", "香港": "Asia/Hong_Kong", "台北": "Asia/Taipei", "台湾": "Asia/Taipei",
    "乌鲁木齐": "Asia/Urumqi", "东京": "Asia/Tokyo", "日本": "Asia/Tokyo", "japan": "Asia/Tokyo", "jst": "Asia/Tokyo",
    "首尔": "Asia/Seoul", "韩国": "Asia/Seoul", "新加坡": "Asia/Singapore", "曼谷": "Asia/Bangkok",
    "印度": "Asia/Kolkata", "india": "Asia/Kolkata", "迪拜": "Asia/Dubai", "莫斯科": "Europe/Moscow",
    "伦敦": "Europe/London", "英国": "Europe/London", "uk": "Europe/London", "巴黎": "Europe/Paris",
    "柏林": "Europe/Berlin", "德国": "Europe/Berlin", "germany": "Europe/Berlin", "纽约": "America/New_York",
    "洛杉矶": "America/Los_Angeles", "旧金山": "America/Los_Angeles", "san francisco": "America/Los_Angeles",
    "seattle": "America/Los_Angeles", "boston": "America/New_York", "washington": "America/New_York",
    "芝加哥": "America/Chicago", "多伦多": "America/Toronto", "温哥华": "America/Vancouver", "悉尼": "Australia/Sydney",
    "墨尔本": "Australia/Melbourne", "奥克兰": "Pacific/Auckland",
}  # fmt: skip
_TODAY = {
    "today": 0, "今天": 0, "今日": 0, "tomorrow": 1, "明天": 1, "明日": 1, "yesterday": -1, "昨天": -1, "昨日": -1,
    "后天": 2, "前天": -2, "大后天": 3, "大前天": -3,
}  # fmt: skip
_DATE = (
    r"(?a)(?P<y>\d{4})(?:-(?P<m>\d{1,2})-(?P<d>\d{1,2})|/(?P<m2>\d{1,2})/(?P<d2>\d{1,2})|\.(?P<m3>\d{1,2})\.(?P<d3>\d{1,2})"
    r"|年(?P<m4>\d{1,2})月(?P<d4>\d{1,2})[日号]?|(?P<m5>\d{2})(?P<d5>\d{2}))"
)
_NAMED = (
    r"(?a)(?:(?P<d>\d{1,2})(?:st|nd|rd|th)?\s+(?P<n>[a-z]{3,9})\.?|(?P<n2>[a-z]{3,9})\.?\s+(?P<d2>\d{1,2})(?:st|nd|rd|th)?)"
    r",?\s+(?P<y>\d{4})"
)
_TIME = (
    r"(?a)(?P<h>\d{1,2})(?::|时|点)(?:(?P<mi>\d{2})分?)?(?::?(?P<s>\d{2})(?:[.,](?P<f>\d{1,6})\d*)?秒?)?\s*(?P<z>.*)"
)
_OFFSET = r"(?a)(?:utc|gmt)?\s*(?P<sign>[+-])\s*(?P<h>\d{1,2})(?::?(?P<m>\d{2}))?"
_UNITS: Sequence[tuple[str, str]] = (
    ("work", r"working\s*days?|work\s*days?|workdays?|business\s*days?|weekdays?|wd|个?工作日"),
    ("months", r"months?|mon|mo|个?月"),
    ("minutes", r"minutes?|mins?|分钟?"),
    ("years", r"years?|yrs?|y|年"),
    ("weeks", r"weeks?|w|个?星期|周"),
    ("days", r"days?|d|天|日"),
    ("hours", r"hours?|hrs?|h|个?小时|时"),
    ("seconds", r"seconds?|secs?|s|秒"),
    ("quarters", r"quarters?|个?季度"),
)
_ISO = r"(?a)p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?"
_MOST = 10_000_000


class Moment(Base, frozen=True):
    """A date, with a time of day when `timed`."""

    at: datetime
    timed: bool = False

    @property
    def day(self) -> date:
        return self.at.date()


class Span(Base, frozen=True):
    """A duration in the units it was given in, with its sign."""

    months: int = 0
    days: int = 0
    work: int = 0
    seconds: int = 0


def checked(text: str, what: str) -> str:
    """A short text of one line. ToolFailure else."""
    text = text.strip()
    if len(text) > LONGEST or any(c in text for c in "\0\r\n") or any("\ud800" <= c <= "\udfff" for c in text):
        raise ToolFailure(f"{what} must be one short text, such as 2026-03-05")
    return text


def find_zone(text: str) -> tzinfo:
    """A time zone by its IANA name, an offset such as +08:00, or a well-known city. ToolFailure for an unknown one."""
    text = checked(text, "zone")
    low = text.lower()
    if low in ("utc", "z", "gmt"):
        return UTC
    offset = re.fullmatch(_OFFSET, low)
    if offset is not None:
        return _offset(offset, text)
    from zoneinfo import ZoneInfo, available_timezones

    names = available_timezones()
    if not names:
        raise ToolFailure(
            "this machine has no table of time zones (pip install tzdata brings one); an offset such as +08:00 works"
        )
    wanted = _CITIES.get(low, low.replace(" ", "_"))
    exact = next((n for n in names if n.lower() == wanted.lower()), "")
    city = sorted(n for n in names if n.lower().rpartition("/")[2] == wanted and "/" in n)
    found = exact or (city[0] if city else "")
    if found:
        return ZoneInfo(found)
    near = sorted(n for n in names if wanted in n.lower())[:5] if len(wanted) > 2 else []
    hint = f"; perhaps {', '.join(near)}" if near else "; use a name such as Asia/Shanghai, or an offset such as +08:00"
    raise ToolFailure(f"there is no time zone {text!r}{hint}")


def _offset(match: re.Match[str], text: str) -> timezone:
    hours, minutes = int(match["h"]), int(match["m"] or 0)
    if hours > 14 or minutes > 59:
        raise ToolFailure(f"{text!r} is no offset of a time zone: they reach from -12:00 to +14:00")
    delta = timedelta(hours=hours, minutes=minutes)
    return timezone(-delta if match["sign"] == "-" else delta)


def parse(text: str, now: datetime, what: str = "date") -> Moment:
    """A date or time as people write it. ToolFailure for one that does not exist names the nearest that does.

    `now` (with its zone) is what "today" and "now" mean, and its zone is that of a time which names none.
    """
    text = checked(text, what)
    low = text.lower()
    if low in ("now", "现在", ""):
        return Moment(at=now, timed=True)
    if low in _TODAY:
        return Moment(at=_midnight(now.date() + timedelta(days=_TODAY[low]), now))
    if re.fullmatch(r"(?a)@\d{1,12}", low):
        try:
            return Moment(at=datetime.fromtimestamp(int(low[1:]), tz=now.tzinfo), timed=True)
        except (ValueError, OverflowError, OSError):
            raise ToolFailure(f"{what} {text!r} lies beyond the year 9999") from None
    match = re.match(_DATE, low)
    if match is not None:
        groups = match.groupdict()
        month, day = (next(int(v) for k, v in groups.items() if k.startswith(c) and v) for c in "md")
        found = valid_date(int(match["y"]), month, day)
    else:
        match = re.match(_NAMED, low)
        month = _month(match["n"] or match["n2"]) if match is not None else 0
        if match is None or not month:
            raise ToolFailure(f"{what} {text!r} is no date; write it as 2026-03-05 or 2026-03-05T14:30+08:00")
        found = valid_date(int(match["y"]), month, int(match["d"] or match["d2"]))
    rest = low[match.end() :].strip()
    if not rest:
        return Moment(at=_midnight(found, now))
    return _timed(found, rest.removeprefix("t").strip(), text, now, what)


def _timed(day: date, rest: str, text: str, now: datetime, what: str) -> Moment:
    match = re.fullmatch(_TIME, rest)
    if match is None:
        raise ToolFailure(f"{what} {text!r}: the time is written as 14:30 or 14:30:05, with +08:00 behind for a zone")
    hour, minute, second = (int(match[name] or 0) for name in ("h", "mi", "s"))
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and (minute or second)):
        raise ToolFailure(f"{what} {text!r}: there is no time {match[0].strip()}; the last one of a day is 23:59:59")
    zone = find_zone(match["z"]) if match["z"].strip() else now.tzinfo
    at = datetime.combine(day, time(hour % 24, minute, second, int((match["f"] or "0").ljust(6, "0"))), zone)
    try:
        at.astimezone(UTC)
        return Moment(at=at + timedelta(days=1) if hour == 24 else at, timed=True)
    except OverflowError:
        raise ToolFailure(f"{what} {text!r} lies beyond the years 1 to 9999") from None


def _month(name: str) -> int:
    return next((n for n, full in enumerate(MONTHS, 1) if full.lower().startswith(name[:3]) and
                 full.lower().startswith(name.rstrip("t") if name == "sept" else name)), 0)  # fmt: skip


def valid_date(year: int, month: int, day: int) -> date:
    """A date. ToolFailure names the nearest one that exists."""
    if not 1 <= year <= 9999:
        raise ToolFailure(f"there is no year {year} here: 1 to 9999")
    if not 1 <= month <= 12:
        near = date(year, min(max(month, 1), 12), 1)
        raise ToolFailure(f"there is no month {month}; the nearest is {near:%Y-%m}")
    last = monthrange(year, month)[1]
    if not 1 <= day <= last:
        why = f", since {year} is no leap year" if (month, day) == (2, 29) and not isleap(year) else ""
        near = date(year, month, min(max(day, 1), last))
        written = f"{year:04}-{month:02}-{day:02}"
        raise ToolFailure(
            f"there is no {written}: {MONTHS[month - 1]} {year} has {last} days{why}; the nearest is {near}"
        )
    return date(year, month, day)


def _midnight(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time(), now.tzinfo)


def parse_span(text: str) -> Span:
    """A duration such as "3 months 2 days", "-10 working days", "P1Y2M", "3个月". ToolFailure for another text."""
    text = checked(text, "add")
    low = text.lower().replace(",", " ").replace(" and ", " ")
    sign = -1 if low.startswith(("-", "−", "minus ")) else 1
    rest = re.sub(r"^(?:[+−-]|minus |plus )\s*", "", low).strip()
    iso = re.fullmatch(_ISO, rest)
    found: dict[str, int] = {}
    if iso is not None and any(iso.groups()):
        names = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
        found = {name: int(value) for name, value in zip(names, iso.groups(), strict=True) if value}
    else:
        pattern = r"(?a)([+-]?\d{1,9})\s*(?:" + "|".join(f"(?P<{n}>{p})" for n, p in _UNITS) + r")(?![a-z])\s*"
        at = 0
        while rest and at < len(rest):
            match = re.compile(pattern).match(rest, at)
            if match is None or match.lastgroup is None:
                raise ToolFailure(f'add {text!r} is no duration; write it as "3 months 2 days" or "-10 working days"')
            found[match.lastgroup] = found.get(match.lastgroup, 0) + int(match[1])
            at = match.end()
    if not found:
        raise ToolFailure('add is empty; write a duration such as "3 months 2 days"')
    if any(abs(value) > _MOST for value in found.values()):
        raise ToolFailure(f"add {text!r} is longer than any calendar")

    def get(name: str) -> int:
        return sign * found.get(name, 0)

    return Span(
        months=12 * get("years") + 3 * get("quarters") + get("months"),
        days=7 * get("weeks") + get("days"),
        work=get("work"),
        seconds=3600 * get("hours") + 60 * get("minutes") + get("seconds"),
    )


def add_months(day: date, months: int) -> date:
    """The same day of another month, its last day when it has no such day. ToolFailure beyond the years 1 to 9999."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ToolFailure(f"that leads to the year {year}; years reach from 1 to 9999")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def add_days(day: date, days: int) -> date:
    """A date some days on. ToolFailure beyond the years 1 to 9999."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        raise ToolFailure("that leads beyond the years 1 to 9999") from None


def add_work(day: date, count: int, weekend: frozenset[int]) -> date:
    """The date some working days on; the day itself is not counted."""
    step, left = (1, count) if count > 0 else (-1, -count)
    a_week = 7 - len(weekend)
    if left > 2 * a_week:
        weeks = left // a_week - 1
        day, left = add_days(day, 7 * weeks * step), left - weeks * a_week
    while left:
        day = add_days(day, step)
        left -= day.weekday() not in weekend
    return day


def count_work(start: date, end: date, weekend: frozenset[int]) -> int:
    """Working days after `start` up to and with `end`; negative when `end` is earlier."""
    if end < start:
        return -count_work(end, start, weekend)
    weeks, rest = divmod((end - start).days, 7)
    later = sum(1 for n in range(1, rest + 1) if (start.weekday() + n) % 7 not in weekend)
    return weeks * (7 - len(weekend)) + later


def apart(start: date, end: date) -> tuple[int, int, int]:
    """Years, months and days from `start` to a later `end`."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if add_months(start, months) > end:
        months -= 1
    return months // 12, months % 12, (end - add_months(start, months)).days


def weekend_of(names: Sequence[str]) -> frozenset[int]:
    """Weekdays (Monday is 0) by their names. ToolFailure for other words, or when nothing is left to work on."""
    found: set[int] = set()
    for name in names:
        low = checked(name, "weekend").lower()
        hit = next((n for n, full in enumerate(ENGLISH_DAYS) if len(low) >= 2 and full.lower().startswith(low)), None)
        if hit is None:
            short = low.replace("周", "星期").replace("礼拜", "星期").replace("天", "日")
            hit = CHINESE_DAYS.index(short) if short in CHINESE_DAYS else None
        if hit is None:
            raise ToolFailure(f"weekend: {name!r} is no weekday; write sat, sun or 周六")
        found.add(hit)
    if len(found) == 7:
        raise ToolFailure("weekend: with all seven days free there is no working day")
    return frozenset(found)
