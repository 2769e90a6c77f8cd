"""The script of the demonstration."""

from __future__ import annotations

from gongfu.models.scripted import DEMO, Call, Calls, Say, read_script


def test_the_demonstration_runs_reads_mends_and_reports() -> None:
    steps = read_script(DEMO)
    calls = [(s,) if isinstance(s, Call) else s.calls if isinstance(s, Calls) else () for s in steps]
    names = [[c.name for c in group] for group in calls]
    assert names == [["shell"], ["read_file", "read_file"], ["edit_file"], ["shell"], []]
    last = steps[-1]
    assert isinstance(last, Say)
    assert "已修复" in last.text
    assert "Fixed" in last.text
