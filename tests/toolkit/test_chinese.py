"""The Chinese calendar against well-known dates, in both directions."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.chinese import (
    EVE,
    animal,
    festivals,
    first_day,
    is_unsure,
    last_day,
    leap_month,
    months_of,
    new_year,
    next_term,
    parse_lunar,
    pillars,
    term_on,
    terms_of,
    to_lunar,
    to_solar,
)  # fmt: skip
from tests.toolkit.test_clock import call, fails

SPRING = {
    1900: (1, 31), 1901: (2, 19), 1911: (1, 30), 1912: (2, 18), 1927: (2, 2), 1937: (2, 11), 1945: (2, 13),
    1949: (1, 29), 1950: (2, 17), 1960: (1, 28), 1966: (1, 21), 1970: (2, 6), 1976: (1, 31), 1978: (2, 7),
    1979: (1, 28), 1980: (2, 16), 1984: (2, 2), 1985: (2, 20), 1988: (2, 17), 1989: (2, 6), 1990: (1, 27),
    1995: (1, 31), 1997: (2, 7), 1998: (1, 28), 1999: (2, 16), 2000: (2, 5), 2001: (1, 24), 2002: (2, 12),
    2003: (2, 1), 2004: (1, 22), 2005: (2, 9), 2006: (1, 29), 2007: (2, 18), 2008: (2, 7), 2009: (1, 26),
    2010: (2, 14), 2011: (2, 3), 2012: (1, 23), 2013: (2, 10), 2014: (1, 31), 2015: (2, 19), 2016: (2, 8),
    2017: (1, 28), 2018: (2, 16), 2019: (2, 5), 2020: (1, 25), 2021: (2, 12), 2022: (2, 1), 2023: (1, 22),
    2024: (2, 10), 2025: (1, 29), 2026: (2, 17), 2027: (2, 6), 2028: (1, 26), 2029: (2, 13), 2030: (2, 3),
    2031: (1, 23), 2032: (2, 11), 2033: (1, 31), 2034: (2, 19), 2035: (2, 8), 2050: (1, 23), 2100: (2, 9),
}  # fmt: skip
LEAP = {
    1900: 8, 1903: 5, 1906: 4, 1976: 8, 1979: 6, 1982: 4, 1984: 10, 1987: 6, 1990: 5, 1993: 3, 1995: 8, 1998: 5,
    2001: 4, 2004: 2, 2006: 7, 2009: 5, 2012: 4, 2014: 9, 2017: 6, 2020: 4, 2023: 2, 2025: 6, 2028: 5, 2031: 3,
    2033: 11, 2036: 6, 2039: 5, 2042: 2,
}  # fmt: skip
MID_AUTUMN = {
    1949: (10, 6), 2000: (9, 12), 2008: (9, 14), 2017: (10, 4), 2020: (10, 1), 2023: (9, 29), 2024: (9, 17),
    2025: (10, 6), 2026: (9, 25), 2033: (9, 8), 2038: (9, 13),
}  # fmt: skip
DAYS = st.dates(first_day(), last_day())


def test_spring_festivals():
    assert {y: (new_year(y).month, new_year(y).day) for y in SPRING} == SPRING


def test_leap_months():
    assert {y: leap_month(y) for y in range(1976, 2043) if leap_month(y)} == {
        y: m for y, m in LEAP.items() if y >= 1976
    }
    assert {y: leap_month(y) for y in (1900, 1903, 1906)} == {1900: 8, 1903: 5, 1906: 4}


def test_mid_autumn():
    found = {y: to_solar(y, 8, 15) for y in MID_AUTUMN}
    assert {y: (d.month, d.day) for y, d in found.items()} == MID_AUTUMN


def test_the_leap_month_of_2033_follows_the_eleventh():
    """Many tables have a leap seventh month there."""
    assert to_lunar(date(2033, 8, 25)).plain == "2033-8-1"
    assert to_lunar(date(2033, 12, 21)).plain == "2033-11-30"
    assert to_lunar(date(2033, 12, 22)).plain == "2033-leap11-1"
    assert to_solar(2033, 12, 1) == date(2034, 1, 20)


def test_both_edges():
    assert to_lunar(date(1900, 1, 1)).plain == "1899-12-1"
    assert to_lunar(date(1900, 1, 31)).plain == "1900-1-1"
    assert to_lunar(date(2100, 12, 31)).plain == "2100-12-1"
    assert to_lunar(date(2101, 1, 28)).plain == "2100-12-29"
    for day in (date(1899, 12, 31), date(2101, 1, 29), date(1, 1, 1), date(9999, 12, 31)):
        with pytest.raises(ToolFailure, match="1900-01-01 to 2101-01-28"):
            to_lunar(day)


@given(DAYS)
def test_there_and_back(day):
    lunar = to_lunar(day)
    if lunar.year >= 1900:
        assert to_solar(lunar.year, lunar.month, lunar.day, leap=lunar.leap) == day
        assert parse_lunar(lunar.name, 1) == day
        assert parse_lunar(lunar.plain, 1) == day


def test_years_follow_each_other_without_a_gap():
    for year in range(1899, 2100):
        months = months_of(year)
        assert months[-1].first + timedelta(days=months[-1].days) == new_year(year + 1)
        assert len(months) == (13 if leap_month(year) else 12)


def test_the_months_are_those_of_their_solar_terms():
    """From 1912 on: the eleventh month holds the winter solstice."""
    for year in range(1912, 2100):
        solstice = to_lunar(terms_of(year)[23])
        assert (solstice.year, solstice.month, solstice.leap) == (year, 11, False)


@given(st.dates(date(1901, 2, 19), date(2100, 2, 8)))
def test_another_library_says_the_same(day):
    import cnlunar

    other = cnlunar.Lunar(datetime(day.year, day.month, day.day, 12), godType="8char")  # noqa: DTZ001 - a calendar day
    lunar = to_lunar(day)
    assert (lunar.year, lunar.month, lunar.day, lunar.leap) == (
        other.lunarYear, other.lunarMonth, other.lunarDay, other.isLunarLeapMonth,
    )  # fmt: skip
    assert pillars(day, lunar) == (other.year8Char, other.month8Char, other.day8Char)


def test_cycles_of_sixty_and_animals():
    assert pillars(date(2026, 2, 17), to_lunar(date(2026, 2, 17))) == ("丙午", "庚寅", "壬戌")
    assert pillars(date(1949, 10, 1), to_lunar(date(1949, 10, 1))) == ("己丑", "癸酉", "甲子")
    assert pillars(date(2000, 1, 1), to_lunar(date(2000, 1, 1))) == ("己卯", "丙子", "戊午")
    assert [animal(y).split()[0] for y in (1900, 2000, 2024, 2025, 2026)] == ["鼠", "龙", "龙", "蛇", "马"]


def test_solar_terms():
    for day, name in ((date(2026, 2, 4), "立春"), (date(2026, 4, 5), "清明"), (date(2024, 4, 4), "清明"),
                      (date(2026, 6, 21), "夏至"), (date(2026, 12, 22), "冬至"), (date(2021, 2, 3), "立春"),
                      (date(2021, 12, 21), "冬至"), (date(1900, 1, 6), "小寒")):  # fmt: skip
        assert term_on(day).startswith(name), day
    assert next_term(date(2026, 12, 22)) == ("小寒 Minor Cold", date(2027, 1, 5))
    for year in (1900, 2000, 2100):
        assert len(set(terms_of(year))) == 24


def test_festivals():
    on = lambda day: list(festivals(day, to_lunar(day)))  # noqa: E731
    assert on(date(2026, 6, 19)) == ["端午节 Dragon Boat Festival"]
    assert on(date(2026, 2, 16)) == [EVE]
    assert on(date(2025, 1, 28)) == [EVE]  # the 29th of its month
    assert on(date(2025, 8, 8)) == []  # the 15th of a leap month
    assert "七夕节 Qixi Festival" in on(date(2026, 8, 19))


def test_a_new_moon_near_midnight_is_said():
    assert is_unsure(to_lunar(date(2057, 9, 28)))
    assert is_unsure(to_lunar(date(2057, 9, 27)))
    assert not is_unsure(to_lunar(date(2026, 9, 28)))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2025-闰6-1", (2025, 7, 25)), ("2025-leap6-15", (2025, 8, 8)), ("2025-6L-1", (2025, 7, 25)),
        ("二〇二五年闰六月初一", (2025, 7, 25)), ("农历2024年八月十五", (2024, 9, 17)), ("正月十五", (2026, 3, 3)),
        ("腊月廿三", (2027, 1, 30)), ("2026除夕", (2027, 2, 5)), ("2025年冬月二十九", (2026, 1, 17)),
        ("二零二五年十二月三十", None), ("2025.6.30", (2025, 7, 24)), ("2026年正月二十", (2026, 3, 8)),
    ],
)  # fmt: skip
def test_lunar_dates_as_people_write_them(text, day):
    if day is None:
        with pytest.raises(ToolFailure, match="29 days"):
            parse_lunar(text, 2026)
    else:
        assert parse_lunar(text, 2026) == date(*day)


@pytest.mark.anyio
async def test_the_tool_in_both_directions():
    text = await call("lunar", date="2025-08-08")
    assert "农历二〇二五年闰六月十五 (lunar 2025-leap6-15; the month has 29 days)" in text
    assert (await call("lunar", lunar="2025-leap6-15")).startswith("2025-08-08 Friday 星期五")
    assert "2025 also has 闰六月, which begins on 2025-07-25" in await call("lunar", lunar="2025-6-1")
    assert "2026-11-30" in await call("lunar")
    almanac = await call("lunar", date="2026-02-17", almanac=True)
    assert "宜: 祭祀" in almanac
    assert "忌: " in almanac
    for day in ("1900-05-05", "2100-02-09"):
        assert "the almanac is known from 1901-02-19" in await call("lunar", date=day, almanac=True)
    assert "宜: " in await call("lunar", date="2100-02-08", almanac=True)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"lunar": "2025-闰5-1"}, "2025 has no 闰五月: its leap month is 闰六月 (6)"),
        ({"lunar": "2026-闰5-1"}, "it has no leap month"),
        ({"lunar": "2025-闰6-30"}, "闰六月 of 2025 has 29 days: no day 30; the nearest is 廿九"),
        ({"lunar": "2025-13-1"}, "no lunar month 13"),
        ({"lunar": "2101-1-1"}, "1900 to 2100"),
        ({"lunar": "1899-1-1"}, "1900 to 2100"),
        ({"lunar": "1800除夕"}, "1900 to 2100"),
        ({"lunar": "𝟚𝟘𝟚𝟞-٣-1"}, "is no lunar date"),
        ({"date": "𝟚𝟘𝟚𝟞-01-01"}, "is no date"),
        ({"lunar": "someday"}, "is no lunar date"),
        ({"lunar": "2025-6-1\0"}, "one short text"),
        ({"date": "2026-02-30"}, "nearest is 2026-02-28"),
        ({"date": "1899-12-31"}, "1900-01-01 to 2101-01-28"),
        ({"date": "2026-01-01", "lunar": "2026-1-1"}, "not both"),
    ],
)
async def test_lunar_dates_that_do_not_exist(args, said):
    assert said in await fails("lunar", **args)
