"""The tools now, date_diff, lunar and calendar: computed here, without network."""

from __future__ import annotations

import re
from calendar import Calendar, isleap, monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from typing import Any

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit import chinese
from gongfu.toolkit.days import easter, western
from gongfu.toolkit.moments import (
    CHINESE_DAYS,
    ENGLISH_DAYS,
    MONTHS,
    Moment,
    Span,
    add_days,
    add_months,
    add_work,
    apart,
    checked,
    count_work,
    find_zone,
    parse,
    parse_span,
    valid_date,
    weekend_of,
)  # fmt: skip
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Facts, Outcome, Toolset

_MOST_ZONES = 12
_ALMANAC = (date(1901, 2, 19), date(2100, 2, 8))  # what the library knows
_DECREED = (
    "Official days off and make-up workdays in China are decreed each year by the State Council (usually in November"
    " before) and cannot be computed."
)


def clock_tools(now: Callable[[], datetime] | None = None) -> Toolset:
    """The tools; `now` gives the time with its zone."""
    tools = ClockTools(now or _here)
    return (tools.calendar, tools.date_diff, tools.lunar, tools.now)


def _here() -> datetime:
    return datetime.now().astimezone()


async def _facts(_tools: ClockTools, args: dict[str, Any]) -> Facts:
    said = " ".join(str(args[k]) for k in ("zone", "start", "end", "add", "date", "lunar", "when") if args.get(k))
    return Facts(access=("read",), title=" ".join(said.split())[:80] or "now")


class ClockTools:
    """See `clock_tools`."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    @tool(facts=_facts)
    async def now(self, zone: str = "") -> Outcome:
        now = self._now()
        names = [name for name in re.split(r"[,;，、]", zone) if name.strip()]
        if len(names) > _MOST_ZONES:
            raise ToolFailure(f"zone names {len(names)} zones; {_MOST_ZONES} at most")
        moments = [now.astimezone(find_zone(name)) for name in names] or [now]
        lines = [_told(moment) for moment in moments]
        first = moments[0]
        year, week, _ = first.isocalendar()
        lines.append(
            f"week {year}-W{week:02}, day {first.timetuple().tm_yday} of the year, unix {int(now.timestamp())}"
        )
        if all(m.utcoffset() for m in moments):
            lines.append(f"UTC {now.astimezone(UTC):%Y-%m-%d %H:%M:%S}")
        return _outcome("\n".join(lines), f"{first:%Y-%m-%d %H:%M}")

    # --- date_diff ------------------------------------------------------------------------------------------------

    @tool(facts=_facts)
    async def date_diff(
        self, start: str, end: str = "", add: str = "", weekend: list[str] | None = None, zone: str = ""
    ) -> Outcome:
        if add.strip() and end.strip():
            raise ToolFailure("give end, for the time between two dates, or add, for another date; not both")
        now = self._now() if not zone.strip() else self._now().astimezone(find_zone(zone))
        free = weekend_of(("sat", "sun") if weekend is None else weekend)
        first = parse(start, now, "start")
        if add.strip():
            return _added(first, parse_span(add), add.strip(), free)
        today = Moment(at=now.replace(hour=0, minute=0, second=0, microsecond=0))
        last = parse(end, now, "end") if end.strip() else Moment(at=now, timed=True) if first.timed else today
        return _between(first, last, free, until_today=not end.strip())

    # --- lunar ----------------------------------------------------------------------------------------------------

    @tool(facts=_facts)
    async def lunar(self, date: str = "", lunar: str = "", almanac: bool = False) -> Outcome:
        if date.strip() and lunar.strip():
            raise ToolFailure("give date (Gregorian) or lunar, not both")
        now = self._now()
        this_year = chinese.to_lunar(now.date()).year if chinese.first_day() <= now.date() <= chinese.last_day() else 0
        day = chinese.parse_lunar(lunar, this_year) if lunar.strip() else parse(date or "today", now).day
        found = chinese.to_lunar(day)
        lines = _lunar_lines(day, found)
        if found.leap is False and lunar.strip() and chinese.leap_month(found.year) == found.month:
            other = chinese.to_solar(found.year, found.month, 1, leap=True)
            lines.append(f"{found.year} also has {chinese.month_name(found.month, leap=True)}, which begins on {other}")
        if almanac:
            lines += _almanac(day)
        return _outcome("\n".join(lines), f"{day} {found.name}")

    # --- calendar -------------------------------------------------------------------------------------------------

    @tool(facts=_facts)
    async def calendar(self, when: str = "") -> Outcome:
        now = self._now()
        text = checked(when, "when")
        year = re.fullmatch(r"(?a)(\d{4})年?", text)
        month = re.fullmatch(r"(?a)(\d{4})\s*(?:[-/.年])\s*(\d{1,2})月?", text)
        if year is not None:
            return _outcome(_year(valid_date(int(year[1]), 1, 1).year), year[1])
        if month is not None or not text:
            y, m = (int(month[1]), int(month[2])) if month is not None else (now.year, now.month)
            valid_date(y, m, 1)
            return _outcome(_month(y, m, now.date()), f"{y}-{m:02}")
        day = parse(text, now, "when").day
        return _outcome(_day(day), f"{day} {ENGLISH_DAYS[day.weekday()]}")


# --- now and date_diff ------------------------------------------------------------------------------------------------


def _told(moment: datetime) -> str:
    name = getattr(moment.tzinfo, "key", "") or moment.tzname() or ""
    short = moment.tzname() or ""
    zone = f"{name} ({short})" if short and short != name and not short.startswith(("+", "-")) else name
    return f"{moment.isoformat(sep=' ', timespec='seconds')} {_day_names(moment)}, {zone}"


def _day_names(day: date) -> str:
    return f"{ENGLISH_DAYS[day.weekday()]} {CHINESE_DAYS[day.weekday()]}"


def _written(moment: Moment) -> str:
    if not moment.timed:
        return f"{moment.day} ({ENGLISH_DAYS[moment.at.weekday()]})"
    return f"{moment.at.isoformat(sep=' ', timespec='seconds')} ({ENGLISH_DAYS[moment.at.weekday()]})"


def _between(start: Moment, end: Moment, weekend: frozenset[int], *, until_today: bool) -> Outcome:
    timed = start.timed or end.timed
    if timed and start.at.tzinfo is not end.at.tzinfo:
        end = Moment(at=end.at.astimezone(start.at.tzinfo), timed=True)
    early, late = sorted((start.day, end.day))
    days = (end.day - start.day).days
    years, months, rest = apart(early, late)
    lines = [f"from {_written(start)} to {_written(end)}"]
    first = f"{days:,} day{_s(days)}"
    if timed:
        seconds = int((end.at.astimezone(UTC) - start.at.astimezone(UTC)).total_seconds())
        first = f"{_clock(seconds)} ({seconds:,} seconds)"
    lines.append(f"{first}{' (the end is earlier)' if days < 0 or (timed and seconds_before(start, end)) else ''}")
    whole = abs(days)
    if whole >= 7:
        lines.append(f"{whole // 7:,} week{_s(whole // 7)} and {whole % 7} day{_s(whole % 7)}")
    if years or months:
        parts = [f"{n} {word}{_s(n)}" for n, word in ((years, "year"), (months, "month"), (rest, "day")) if n]
        lines.append(" ".join(parts) + (f" (age {years})" if until_today and days > 0 else ""))
    work = count_work(start.day, end.day, weekend)
    off = ", ".join(ENGLISH_DAYS[n][:3] for n in sorted(weekend)) or "none"
    lines.append(f"{work:,} working day{_s(work)}, the first day not counted (weekend: {off}; holidays are counted in)")
    return _outcome("\n".join(lines), first)


def seconds_before(start: Moment, end: Moment) -> bool:
    """Whether `end` is the earlier instant."""
    return end.at.astimezone(UTC) < start.at.astimezone(UTC)


def _clock(seconds: int) -> str:
    sign = "-" if seconds < 0 else ""
    days, rest = divmod(abs(seconds), 86400)
    clock = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{sign}{days} day{_s(days)} {clock}" if days else f"{sign}{clock}"


def _s(number: int) -> str:
    return "" if abs(number) == 1 else "s"


def _added(start: Moment, span: Span, text: str, weekend: frozenset[int]) -> Outcome:
    day = add_months(start.day, span.months)
    notes = (
        [f"{start.day.day} does not exist in that month: its last day was taken"] if day.day != start.day.day else []
    )
    day = add_days(day, span.days)
    if span.work:
        day = add_work(day, span.work, weekend)
        off = ", ".join(ENGLISH_DAYS[n][:3] for n in sorted(weekend)) or "none"
        notes.append(f"weekend: {off}; public holidays count as working days")
    end = Moment(at=datetime.combine(day, start.at.timetz()), timed=start.timed or bool(span.seconds))
    if span.seconds:
        try:  # hours are those of a clock that runs through, also over a change to summer time
            at = (end.at.astimezone(UTC) + timedelta(seconds=span.seconds)).astimezone(end.at.tzinfo)
        except OverflowError:
            raise ToolFailure("that leads beyond the years 1 to 9999") from None
        end = Moment(at=at, timed=True)
    plus = text if text.startswith(("+", "-", "−")) else f"+ {text}"
    lines = [f"{_written(start)} {plus} = {_written(end)} {CHINESE_DAYS[end.at.weekday()]}", *(f"[{n}]" for n in notes)]
    return _outcome("\n".join(lines), str(end.day))


# --- lunar and calendar -----------------------------------------------------------------------------------------------


def _lunar_lines(day: date, found: chinese.Lunar) -> list[str]:
    year, month, own = chinese.pillars(day, found)
    lines = [
        f"{day} {_day_names(day)}",
        f"农历{found.name} (lunar {found.plain}; the month has {found.days} days)",
        f"{year}年 {month}月 {own}日, {chinese.animal(found.year)} year",
    ]
    leap = chinese.leap_month(found.year)
    if leap:
        lines.append(f"leap month of {found.year}: {chinese.month_name(leap, leap=True)}")
    marks = [*chinese.festivals(day, found), *filter(None, [chinese.term_on(day)])]
    if marks:
        lines.append(f"today: {', '.join(marks)}")
    following = chinese.next_term(day)
    if following is not None:
        lines.append(f"next solar term: {following[0]} on {following[1]}")
    if chinese.is_unsure(found):
        lines.append("[a new moon of this month lies within seconds of midnight: almanacs may differ by a day]")
    return lines


def _almanac(day: date) -> list[str]:
    first, last = _ALMANAC
    if not first <= day <= last:
        return [f"[the almanac is known from {first} to {last}]"]
    try:
        made: Any = import_module("cnlunar")  # heavy, only for who asks, and by name: it has no types
    except ImportError:
        raise ToolFailure("the almanac needs cnlunar: pip install cnlunar; the calendar works without") from None
    known = made.Lunar(datetime(day.year, day.month, day.day, 12), godType="8char")  # noqa: DTZ001 - a calendar day
    good, bad = list(map(str, known.goodThing)), list(map(str, known.badThing))
    return [f"宜: {' '.join(good[:30]) or '无'}", f"忌: {' '.join(bad[:30]) or '无'} (tradition)"]


def _chinese(day: date) -> chinese.Lunar | None:
    return chinese.to_lunar(day) if chinese.first_day() <= day <= chinese.last_day() else None


def _marks(day: date) -> list[str]:
    """Festivals and solar terms of a day."""
    lunar = _chinese(day)
    own = list(chinese.festivals(day, lunar)) if lunar is not None else []
    term = chinese.term_on(day) if lunar is not None else ""
    return [*own, *western(day), *([term] if term and not term.startswith("清明") else [])]


def _leap(year: int) -> str:
    return f"{year} is {'a leap year of 366' if isleap(year) else 'no leap year, it has 365'} days"


def _day(day: date) -> str:
    year, week, _ = day.isocalendar()
    number, length = day.timetuple().tm_yday, 366 if isleap(day.year) else 365
    lunar = _chinese(day)
    lines = [
        f"{day} {_day_names(day)}",
        f"week {year}-W{week:02}, day {number} of {length} ({length - number} left), quarter {(day.month + 2) // 3}",
        f"{MONTHS[day.month - 1]} has {monthrange(day.year, day.month)[1]} days; {_leap(day.year)}",
    ]
    if lunar is not None:
        lines.append(f"农历{lunar.name}, {chinese.animal(lunar.year)} year")
    marks = _marks(day)
    lines.append(f"festivals: {', '.join(marks)}" if marks else "no festival that can be computed")
    return "\n".join((*lines, f"[{_DECREED}]"))


def _month(year: int, month: int, today: date) -> str:
    rows = [f"{MONTHS[month - 1]} {year} {year}年{month}月", "Wk  Mo Tu We Th Fr Sa Su"]
    for week in Calendar().monthdayscalendar(year, month):
        first = next(d for d in week if d)
        number = date(year, month, first).isocalendar()[1]
        rows.append(f"{number:>2}  {' '.join(f'{d:>2}' if d else '  ' for d in week)}".rstrip())
    length = monthrange(year, month)[1]
    for d in range(1, length + 1):
        day = date(year, month, d)
        marks = _marks(day)
        lunar = _chinese(day)
        if lunar is not None and lunar.day == 1:
            marks.append(f"农历{chinese.month_name(lunar.month, leap=lunar.leap)}初一")
        if marks:
            rows.append(f"{day:%m-%d} {ENGLISH_DAYS[day.weekday()][:3]}  {', '.join(marks)}")
    if (today.year, today.month) == (year, month):
        rows.append(f"today is {today}")
    return "\n".join((*rows, f"[{_DECREED}]"))


def _year(year: int) -> str:
    weeks = date(year, 12, 28).isocalendar()[1]
    lines = [
        f"{_leap(year)}, {weeks} ISO weeks, begins on a {ENGLISH_DAYS[date(year, 1, 1).weekday()]}",
    ]
    if year >= 1583:
        lines.append(f"Easter {easter(year)}")
    if 1900 <= year <= chinese.LAST:
        leap = chinese.leap_month(year)
        own = f"leap month {chinese.month_name(leap, leap=True)}" if leap else "no leap month"
        lines.append(f"农历{chinese.sixty(year - 4)}年 ({chinese.animal(year)}) begins {chinese.new_year(year)}; {own}")
    day = date(year, 1, 1)
    for _ in range(366 if isleap(year) else 365):
        marks = _marks(day)
        if marks:
            lines.append(f"{day:%m-%d} {ENGLISH_DAYS[day.weekday()][:3]}  {', '.join(marks)}")
        if day < date.max:
            day += timedelta(days=1)
    return "\n".join((*lines, f"[{_DECREED}]"))


def _outcome(text: str, summary: str) -> Outcome:
    return Outcome(text=text, display=text_display(text, summary))
