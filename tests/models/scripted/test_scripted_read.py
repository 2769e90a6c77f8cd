"""Scripts in files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gongfu.core.errors import ConfigError
from gongfu.core.specs import Usage
from gongfu.models.scripted import Call, Calls, Fault, Match, Raw, Say, read_script

YAML = """
steps:
  - call: shell
    arguments: {command: python3 -m unittest -q}
    text: I run the tests first.
  - calls:
      - {call: read_file, arguments: {path: a.py}}
      - {call: read_file, arguments: '{"path": "b.py'}
  - fault: drop
    after: 2
    answer: {say: broken off}
  - raw: "data: x\\n\\n"
    split: [3]
  - say: 完成。
    usage: {input: 10, cached: 4, output: 2}
    expect: {tool_result_contains: OK, tools_include: [shell]}
"""


def test_a_yaml_script_becomes_steps(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(YAML, encoding="utf-8")
    assert read_script(file) == [
        Call("shell", {"command": "python3 -m unittest -q"}, text="I run the tests first."),
        Calls((Call("read_file", {"path": "a.py"}), Call("read_file", '{"path": "b.py'))),
        Fault("drop", after=2, answer=Say("broken off")),
        Raw(b"data: x\n\n", split=(3,)),
        Say(
            "完成。",
            usage=Usage(input=10, cached=4, output=2),
            expect=Match(tool_result_contains="OK", tools_include=("shell",)),
        ),
    ]


def test_a_json_script_may_be_a_bare_list(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_bytes(b'\xef\xbb\xbf[{"say": "hi", "times": 3}]')
    assert read_script(file) == [Say("hi", times=3)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("steps: [{say: hi, tims: 3}]", "step 1.*tims"),
        ("[{say: hi}, {speak: hi}]", "step 2.*say, call, calls, fault, raw"),
        ("[{fault: explode}]", "step 1.*explode"),
        ("[{fault: drop, answer: {cal: x}}]", "step 1, answer"),
        ("steps: none", "list of steps"),
        ("steps: [{say: 'hi]", "line 1"),
    ],
)
def test_a_wrong_script_says_where(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_script(file)
    assert str(file) in str(caught.value)
    import re

    assert re.search(told, str(caught.value), re.DOTALL)


def test_a_missing_script_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.yaml"):
        read_script(tmp_path / "nothing.yaml")


def test_letters_written_as_two_escapes_are_one(tmp_path: Path) -> None:
    for name in ("s.yaml", "s.json"):
        (tmp_path / name).write_text(r'[{"call": "shell", "arguments": {"command": "echo \ud83c\udf89 \u4f60"}}]')
        (step,) = read_script(tmp_path / name)
        assert isinstance(step, Call)
        assert step.arguments == {"command": "echo 🎉 你"}


@pytest.mark.parametrize("text", ["- [\n", "- say: a\n\tb: c\n", "a: b: c\n", "- !!binary x\n- {say: }}\n"])
def test_what_is_wrong_with_yaml_is_one_line_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(ConfigError) as error:
        read_script(tmp_path / "s.yaml")
    assert "\n" not in str(error.value)
    assert re.search(r"line \d+, column \d+", str(error.value))
    assert "Nothing was sent" in str(error.value)
