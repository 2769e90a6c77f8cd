"""Time, dates and both calendars, at a fixed moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.clock import clock_tools
from gongfu.toolkit.days import easter
from gongfu.toolkit.moments import add_days, add_months, add_work, apart, count_work
from tests.app.cast import workplace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 30, 21, 5, 7, tzinfo=timezone(timedelta(hours=8)))
TOOLS = {tool.spec.name: tool for tool in clock_tools(lambda: NOW)}


async def call(tool: str, /, **args) -> str:
    await TOOLS[tool].facts(args)
    return (await TOOLS[tool].run(args, Ctx())).text


async def fails(tool: str, /, **args) -> str:
    with pytest.raises(ToolFailure) as raised:
        await call(tool, **args)
    return str(raised.value)


# --- now --------------------------------------------------------------------------------------------------------------


async def test_now():
    text = await call("now")
    assert text.startswith("2026-11-30 21:05:07+08:00 Monday 星期一")
    assert "week 2026-W49, day 334 of the year, unix 1796043907" in text
    assert "UTC 2026-11-30 13:05:07" in text


async def test_now_elsewhere():
    text = await call("now", zone="北京, New York; utc-3:30, europe/berlin")
    lines = text.splitlines()
    assert lines[0].startswith("2026-11-30 21:05:07+08:00 Monday 星期一, Asia/Shanghai (CST)")
    assert lines[1].startswith("2026-11-30 08:05:07-05:00 Monday 星期一, America/New_York (EST)")
    assert lines[2].startswith("2026-11-30 09:35:07-03:30")
    assert lines[3].startswith("2026-11-30 14:05:07+01:00")


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("Shangha", "perhaps Asia/Shanghai"), ("+15:00", "from -12:00 to \\+14:00"), ("x" * 999, "one short text"),
        ("a\0b", "one short text"), ("../etc/passwd", "no time zone"), (",".join(["UTC"] * 50), "12 at most"),
    ],
)  # fmt: skip
async def test_zones_that_are_none(zone, said):
    with pytest.raises(ToolFailure, match=said):
        await call("now", zone=zone)


# --- date_diff --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"start": "2026-01-31", "end": "2026-03-01"}, ["29 days", "4 weeks and 1 day", "1 month 1 day", "20 working"]),
        ({"start": "1990-05-20"}, ["36 years 6 months 10 days (age 36)"]),
        ({"start": "2000-11-30"}, ["26 years (age 26)"]),
        ({"start": "2000-12-01"}, ["(age 25)"]),
        ({"start": "今天", "end": "2027年2月6日"}, ["68 days"]),
        ({"start": "5 March 2026", "end": "Feb 1, 2026"}, ["-32 days (the end is earlier)", "-24 working days"]),
        ({"start": "2026-03-29T00:30+01:00", "end": "2026-03-29 03:30 Europe/Berlin"}, ["1:00:00", "2:00:00"][1:]),
        ({"start": "2026-11-30 21:05:07", "end": "now"}, ["0:00:00 (0 seconds)"]),
        ({"start": "2026-11-30", "end": "2026-12-06", "weekend": ["fri", "周六"]}, ["4 working days"]),
        ({"start": "2026-11-30", "end": "2026-12-06", "weekend": []}, ["6 working days", "weekend: none"]),
        ({"start": "@0", "end": "@86400"}, ["1 day 0:00:00 (86,400 seconds)"]),
        ({"start": "2026-01-31", "add": "1 month"}, ["= 2026-02-28 (Saturday) 星期六", "31 does not exist"]),
        ({"start": "2024-02-29", "add": "1 year"}, ["= 2025-02-28"]),
        ({"start": "2026-11-30", "add": "-10 working days"}, ["= 2026-11-16 (Monday)"]),
        ({"start": "2026-11-28", "add": "1 workday"}, ["= 2026-11-30 (Monday)"]),
        ({"start": "2026-01-01", "add": "3个月2天"}, ["= 2026-04-03"]),
        ({"start": "2026-01-01", "add": "10个工作日"}, ["= 2026-01-15"]),
        ({"start": "20260101", "add": "P1Y2M3W4DT5H"}, ["= 2027-03-26 05:00:00+08:00"]),
        ({"start": "2026/1/1 10:00", "add": "36 hours"}, ["= 2026-01-02 22:00:00+08:00"]),
        ({"start": "2026-03-28T12:00 Europe/Berlin", "add": "24h"}, ["= 2026-03-29 13:00:00+02:00"]),
    ],
)
async def test_reckoning(args, said):
    text = await call("date_diff", **args)
    for part in said:
        assert part in text


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"start": "2026-02-30"}, "there is no 2026-02-30: February 2026 has 28 days; the nearest is 2026-02-28"),
        ({"start": "2025-02-29"}, "since 2025 is no leap year; the nearest is 2025-02-28"),
        ({"start": "2026-13-01"}, "there is no month 13; the nearest is 2026-12"),
        ({"start": "2026-00-01"}, "the nearest is 2026-01"),
        ({"start": "2026-04-00"}, "the nearest is 2026-04-01"),
        ({"start": "0000-01-01"}, "no year 0"),
        ({"start": "soon"}, "is no date; write it as 2026-03-05"),
        ({"start": "5 Foo 2026"}, "is no date"),
        ({"start": "2026-01-01 25:00"}, "no time 25:00"),
        ({"start": "2026-01-01 10:00 Mars/Base"}, "no time zone"),
        ({"start": "0001-01-01T00:00+08:00", "end": "2026-01-01"}, "beyond the years"),
        ({"start": "9999-12-31", "add": "1 day"}, "beyond the years"),
        ({"start": "9999-12-31", "add": "9999999 working days"}, "beyond the years"),
        ({"start": "2026-01-01", "add": "99999999 years"}, "longer than any calendar"),
        ({"start": "2026-01-01", "add": "a while"}, "is no duration"),
        ({"start": "2026-01-01", "add": "5"}, "is no duration"),
        ({"start": "2026-01-01", "add": "1 day", "end": "2026-01-02"}, "not both"),
        ({"start": "2026-01-01", "weekend": ["noday"]}, "is no weekday"),
        ({"start": "2026-01-01", "weekend": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}, "no working day"),
        ({"start": "@999999999999"}, "beyond the year 9999"),
        ({"start": "1" * 100_000}, "one short text"),
        ({"start": "2026-01-01\0"}, "one short text"),
        ({"start": "\ud800"}, "one short text"),
    ],
)
async def test_dates_that_do_not_exist_name_the_nearest(args, said):
    assert said in await fails("date_diff", **args)


DATES = st.dates(date(1950, 1, 1), date(2100, 12, 31))
WEEKENDS = st.frozensets(st.integers(0, 6), max_size=6)


@given(DATES, DATES, WEEKENDS)
def test_working_days_are_those_that_one_counts(start, end, weekend):
    low, high = sorted((start, end))
    high = min(high, low + timedelta(days=400))
    days = (low + timedelta(days=n) for n in range(1, (high - low).days + 1))
    assert count_work(low, high, weekend) == sum(d.weekday() not in weekend for d in days)


@given(DATES, st.integers(-2000, 2000).filter(bool), WEEKENDS)
def test_adding_working_days_is_undone_by_counting_them(start, count, weekend):
    end = add_work(start, count, weekend)
    assert end.weekday() not in weekend
    if count > 0:
        assert count_work(start, end, weekend) == count
    else:
        assert count_work(end - timedelta(days=1), start - timedelta(days=1), weekend) == -count


@given(DATES, DATES)
def test_years_months_and_days_lead_back(start, end):
    low, high = sorted((start, end))
    years, months, days = apart(low, high)
    assert add_days(add_months(low, 12 * years + months), days) == high
    assert 0 <= months < 12
    assert 0 <= days < 31


# --- calendar ---------------------------------------------------------------------------------------------------------


def test_easter():
    known = {1583: (4, 10), 1818: (3, 22), 1943: (4, 25), 2000: (4, 23), 2024: (3, 31), 2025: (4, 20), 2026: (4, 5),
             2038: (4, 25), 2285: (3, 22)}  # fmt: skip
    assert {year: (easter(year).month, easter(year).day) for year in known} == known


async def test_a_day():
    text = await call("calendar", when="2026-02-17")
    assert "2026-02-17 Tuesday 星期二\nweek 2026-W08, day 48 of 365 (317 left), quarter 1" in text
    assert "农历二〇二六年正月初一" in text
    assert "春节 Spring Festival" in text
    assert "cannot be computed" in text  # official days off
    assert "week 2020-W53" in await call("calendar", when="2021-01-01")
    assert "2024 is a leap year of 366 days" in await call("calendar", when="2024-02-29")
    assert "农历" not in await call("calendar", when="1800-01-01")


async def test_a_month():
    text = await call("calendar", when="2026-02")
    assert "Wk  Mo Tu We Th Fr Sa Su\n 5                     1\n 6   2  3  4  5  6  7  8" in text
    assert "02-16 Mon  除夕" in text
    assert "02-17 Tue  春节" in text
    assert (await call("calendar")).startswith("November 2026")
    assert "26 Thu" not in await call("calendar", when="2026年10月")
    assert "11-26 Thu  感恩节" in await call("calendar")


async def test_a_year():
    text = await call("calendar", when="2026")
    for part in ("53 ISO weeks", "Easter 2026-04-05", "马 Horse) begins 2026-02-17; no leap month", "05-10 Sun  母亲节",
                 "06-19 Fri  端午节", "09-25 Fri  中秋节", "10-18 Sun  重阳节", "04-05 Sun  清明节"):  # fmt: skip
        assert part in text
    assert "leap month 闰冬月" in await call("calendar", when="2033")
    for edge in ("0001", "1582", "1583", "1899", "1900", "2100", "2101", "9999", "0001-01", "9999-12", "9999-12-31"):
        assert await call("calendar", when=edge)


async def test_what_is_wrong_with_when():
    assert "no month 13" in await fails("calendar", when="2026-13")
    assert "nearest is 2026-06-30" in await fails("calendar", when="2026-06-31")
    assert "no year 0" in await fails("calendar", when="0000")
    assert "is no date" in await fails("calendar", when="next year")


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("now", {"zone": "UTC"}, datetime.now(UTC).strftime("%Y-")),
        ("date_diff", {"start": "2026-01-01", "end": "2026-01-11"}, "10 days"),
        ("lunar", {"date": "2026-02-17"}, "农历二〇二六年正月初一"),
        ("calendar", {"when": "2026-02-17"}, "春节"),
    ],
)
async def test_through_the_loop(tool, args, said, tmp_path):
    played = await play(workplace(tmp_path), (tool, args), permission="plan")
    assert played.status == "done", played.text
    assert said in played.text
