"""`gongfu tools`: the list, a page, a run with everything that guards a call, and what is missing."""

from __future__ import annotations

import json
import re

import pytest

from gongfu.models.scripted.script import Say
from gongfu.toolkit.catalog import CORE
from tests.surfaces.cli.conftest import Program

CARRIED = [name for names in CORE.values() for name in names]


def listed(text: str) -> list[str]:
    return [line[2:].split()[0] for line in text.splitlines() if line[:2] in ("● ", "  ", "✗ ")]


def test_the_list_names_every_tool_once_and_marks_those_in_every_request(program: Program) -> None:
    done = program.call("tools")
    assert done.code == 0
    names = listed(done.out)
    assert len(names) == len(set(names))
    assert [n for n in names if f"● {n} " in done.out] == [n for n in names if n in CARRIED]
    assert done.out == program.call("tools", "list").out
    data = json.loads(program.call("tools", "--json").out)
    assert [t["name"] for t in data["tools"]] == names
    assert {t["name"] for t in data["tools"] if t["core"]} == {n for n in names if n in CARRIED}
    chinese = program.call("tools", "--lang", "zh")
    assert listed(chinese.out) == names
    assert "读取" in chinese.out


def test_words_find_tools_in_both_languages(program: Program) -> None:
    assert listed(program.call("tools", "list", "find", "files", "by", "name").out)[0] == "find_files"
    assert "shell" in listed(program.call("tools", "list", "运行命令").out)[:3]
    none = program.call("tools", "list", "zebra")
    assert (none.code, none.out.strip()) == (0, "No tool fits these words.")


def test_a_page_shows_what_a_tool_takes(program: Program) -> None:
    done = program.call("tools", "show", "read_file")
    assert "path  string required" in done.out
    assert "Touches: reads." in done.out
    data = json.loads(program.call("tools", "show", "read_file", "--json").out)
    assert data["parameters"]["required"] == ["path"]
    assert data["available"] is True
    for name in ("reasoning", "weather", "models", "mouse"):
        page = program.call("tools", "show", name, "--lang", "zh", DISPLAY="", WAYLAND_DISPLAY="").out
        assert not re.search(r"(?m)^  \w+  \||\|  |a display", page), page  # no empty choice, no English in between
    missing = program.call("tools", "show", "redd_file")
    assert (missing.code, "did you mean read_file" in missing.err) == (2, True)


def test_a_run_prints_the_result_and_can_be_undone(program: Program) -> None:
    (program.folder / "a.txt").write_text("one\ntwo\n")
    done = program.call("tools", "run", "read_file", "path=a.txt", "offset=2")
    assert (done.code, done.out.splitlines()[0]) == (0, "2|two")
    done = program.call("tools", "run", "write_file", "--yes", "path=new.txt", "content=123")
    assert done.code == 0
    assert (program.folder / "new.txt").read_text() == "123"
    assert program.call("undo").code == 0
    assert not (program.folder / "new.txt").exists()


def test_a_call_by_hand_is_not_what_is_continued_shown_or_exported(program: Program, serve) -> None:
    (program.folder / "b.txt").write_text("beta\n")
    assert program.call("tools", "run", "file_info", "path=b.txt").code == 0
    assert "gongfu tools run file_info" in program.call("show").out  # there is nothing else yet
    serve(Say("The talk."), Say("It goes on."))
    assert program.call("Talk with me").code == 0
    assert program.call("tools", "run", "--yes", "write_file", "path=c.txt", "content=x").code == 0
    for words in (("show",), ("export",)):
        assert "The talk." in program.call(*words).out
    assert program.call("--continue", "Go on").code == 0
    assert "It goes on." in program.call("show").out
    assert program.call("tools", "run", "--yes", "write_file", "path=d.txt", "content=x").code == 0
    assert program.call("undo").code == 0  # it is what was done last
    assert not (program.folder / "d.txt").exists()


def test_a_run_is_judged_as_a_call_of_a_model_is(program: Program) -> None:
    done = program.call("tools", "run", "shell", "command=touch made")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("gongfu: shell was not run: it changes files in the workspace. Run it at a terminal")
    assert program.call("tools", "run", "--permission", "plan", "shell", "command=touch made").code == 3
    assert not (program.folder / "made").exists()
    chinese = program.call("--lang", "zh", "tools", "run", "shell", "command=touch made")
    assert chinese.err.startswith("gongfu: 没有运行 shell：")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing_like_it"], "There is no tool nothing_like_it"),
        (["read_file", "a.txt"], "a.txt is no PARAMETER=VALUE"),
        (["read_file", "--arguments", '{"path": "a"', "limit=1"], "not valid JSON"),
        (["read_file", "--arguments", "[1]"], "no JSON object"),
        (["read_file", "--arguments", '{"path": "a"}', "path=b"], "path is given twice"),
    ],
)
def test_a_wrong_run_is_a_usage_error_and_nothing_runs(program: Program, arguments: list[str], said: str) -> None:
    done = program.call("tools", "run", *arguments)
    assert done.code == 2
    assert said in done.err
    assert "Nothing was run" in done.err


def test_wrong_arguments_fail_and_arguments_come_from_standard_input(program: Program) -> None:
    done = program.call("tools", "run", "read_file", "path=a.txt", "limit=x")
    assert done.code == 1
    assert "limit must be an integer" in done.out
    (program.folder / "a.txt").write_text("文\n")
    done = program.call("tools", "run", "read_file", "--json", "--arguments", "-", stdin='{"path": "a.txt"}')
    data = json.loads(done.out)
    assert (data["type"], data["status"], data["text"]) == ("tool_result", "done", "1|文")


def test_the_doctor_names_what_is_missing_with_one_command(program: Program) -> None:
    data = json.loads(program.call("tools", "doctor", "--json").out)
    lacking = [name for row in data["missing"] for name in row["tools"]]
    assert data["works"] == data["tools"] - len(lacking)
    done = program.call("tools", "doctor")
    assert done.code == 0
    assert done.out.splitlines()[-1] == f"{data['works']} of {data['tools']} tools work here."
