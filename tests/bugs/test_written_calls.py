"""Rows 20 and 22: calls that are written into the text or into the thinking."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bugs.streams import BASH, TOOLS, call, chunk, everywhere, letter_by_letter, read, sse

K = "ant" + "ml:"
LS = {"command": 'ls -l "a b" | grep <x>\n'}
ARGS = json.dumps(LS)
ONE = json.dumps({"name": "bash", "arguments": LS})
TWO = json.dumps({"name": "read_file", "arguments": {"path": "a.py", "limit": 3}})

STYLES: dict[str, tuple[str, int]] = {
    "hermes": (f"<tool_call>\n{ONE}\n</tool_call>", 1),
    "hermes, two": (f"<tool_call>\n{ONE}\n</tool_call>\n<tool_call>\n{TWO}\n</tool_call>", 2),
    "hermes, parameters": (f'<tool_call>{{"name": "bash", "parameters": {ARGS}}}</tool_call>', 1),
    "hermes, encoded": (f'<tool_call>{{"name": "bash", "arguments": {json.dumps(ARGS)}}}</tool_call>', 1),
    "hermes, no closer": (f"<tool_call>\n{ONE}", 1),
    "hermes, a line each": (f"<tool_calls>\n{ONE}\n{TWO}\n</tool_calls>", 2),
    "hermes, list": (f"<tool_call>[{ONE}, {TWO}]</tool_call>", 2),
    "qwen coder": ((f"<tool_call>\n<function=bash>\n<parameter=command>\n{LS['command']}\n</parameter>\n"
                   "</function>\n</tool_call>"), 1),
    "qwen coder, bare": ((f"<function=bash>\n<parameter=command>\n{LS['command']}\n</parameter>\n</function>\n"
                         "</tool_call>"), 1),
    "llama function": (f"<function=bash>{ARGS}</function>", 1),
    "llama python tag": (f'<|python_tag|>{{"name": "bash", "parameters": {ARGS}}}<|eom_id|>', 1),
    "glm": (f"<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>{LS['command']}</arg_value>\n</tool_call>", 1),
    "kimi": ((f"<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{ARGS}"
             '<|tool_call_end|><|tool_call_begin|>functions.read_file:1<|tool_call_argument_begin|>{"path": "x"}'
             "<|tool_call_end|><|tool_calls_section_end|>"), 2),
    "kimi, no section": ((f"<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{ARGS}<|tool_call_end|>"
                         "<|tool_calls_section_end|><|im_end|>"), 1),
    "deepseek r1": ((f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{ARGS}\n```"
                    "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"), 1),
    "deepseek v3.1": ((f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>{ARGS}<｜tool▁call▁end｜>"
                      f"<｜tool▁call▁begin｜>todo<｜tool▁sep｜>{{}}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"), 2),
    "deepseek v4": (('<｜DSML｜function_calls>\n<｜DSML｜invoke name="bash">\n'
                    '<｜DSML｜parameter name="command" string="true">'
                    f"{LS['command']}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"), 1),
    "invoke": ((f'<{K}function_calls>\n<{K}invoke name="bash">\n<{K}parameter name="command">{LS["command"]}'
               f"</{K}parameter>\n</{K}invoke>\n</{K}function_calls>"), 1),
    "minimax": ((f'<minimax:tool_call>\n<invoke name="bash">\n<parameter name="command">{LS["command"]}</parameter>\n'
                "</invoke>\n</minimax:tool_call>"), 1),
    "seed": ((f"<seed:tool_call>\n<function=bash>\n<parameter=command>\n{LS['command']}\n</parameter>\n</function>\n"
             "</seed:tool_call>"), 1),
    "mistral": (f"[TOOL_CALLS][{ONE}]", 1),
    "mistral v11": (f"[TOOL_CALLS]bash[ARGS]{ARGS}", 1),
    "mistral v13": (f'[TOOL_CALLS]bash[CALL_ID]abc123def[ARGS]{ARGS}[TOOL_CALLS]read_file[ARGS]{{"path": "x"}}</s>', 2),
    "gpt-oss": (f"<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{ARGS}<|call|>", 1),
    "gpt-oss, role": (f"<|start|>assistant to=functions.bash<|channel|>commentary json<|message|>{ARGS}<|call|>", 1),
    "phi": (f"<|tool_call|>[{ONE}]<|/tool_call|>", 1),
    "lfm": (f"<|tool_call_start|>[bash(command={LS['command']!r})]<|tool_call_end|>", 1),
    "internlm": (f"<|action_start|><|plugin|>{ONE}<|action_end|>", 1),
    "command": (f'<|START_ACTION|>[{{"tool_name": "bash", "parameters": {ARGS}}}]<|END_ACTION|>', 1),
    "nemotron": (f"<TOOLCALL>[{ONE}]</TOOLCALL>", 1),
    "llama 4": (f"<|python_start|>[bash(command={LS['command']!r})]<|python_end|>", 1),
    "grok": ((f'<xai:function_call name="bash"><parameter name="command">{LS["command"]}</parameter>'
             "</xai:function_call>"), 1),
    "hunyuan": (
        (
            "<tool_calls>\n<tool_call>bash<tool_sep>\n<arg_key>command</arg_key>\n"
            f"<arg_value>{LS['command']}</arg_value>\n</tool_call>\n<tool_call>todo<tool_sep>\n<arg_key>all</arg_key>\n<arg_value>true</arg_value>\n"
            "</tool_call>\n</tool_calls>"
        ),
        2,
    ),
    "nested": (f"<tool_calls>\n<tool_call>\n{ONE}\n</tool_call>\n</tool_calls>", 1),
    "lm studio": (f"[TOOL_REQUEST]{ONE}[END_TOOL_REQUEST]", 1),
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("before", ["", "I will look.\n\n", "Is a < b and x[0]? "])
def test_every_style_is_recovered_and_never_shown(style: str, before: str) -> None:
    written, count = STYLES[style]
    data = sse(chunk({"content": before + written}), chunk({}, "stop"))
    seen = read(data) if before else everywhere(data)
    assert len(seen.calls) == count
    assert seen.made[0] == ("bash", LS)
    assert all(c.recovered and not c.problem for c in seen.calls)
    assert seen.whole.finish == "calls"
    assert seen.text.strip() == before.strip()
    assert seen.whole.message.text.strip() == before.strip()


@pytest.mark.parametrize("style", STYLES)
def test_every_style_letter_by_letter(style: str) -> None:
    written, count = STYLES[style]
    seen = read(sse(*letter_by_letter(f"Look: {written}"), chunk({}, "stop")))
    assert len(seen.calls) == count
    assert seen.made[0] == ("bash", LS)
    assert seen.text.strip() == "Look:"


@pytest.mark.parametrize("style", STYLES)
def test_a_call_inside_the_thinking(style: str) -> None:
    written, count = STYLES[style]
    data = sse(*letter_by_letter(f"I need the files. {written}", "reasoning_content"), chunk({"content": ""}, "stop"))
    seen = read(data)
    assert len(seen.calls) == count
    assert seen.made[0] == ("bash", LS)
    assert all(c.recovered for c in seen.calls)
    assert seen.thought.strip() == "I need the files."
    assert written not in seen.whole.message.parts[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("style", STYLES)
def test_inside_a_code_fence_it_is_an_example(style: str) -> None:
    written, _ = STYLES[style]
    for open_, close in (("```xml\n", "\n```\n"), ("~~~\n", "\n~~~\n"), ("````\n```\n", "\n```\n````\n")):
        text = f"Write it so:\n{open_}{written}{close}Done."
        if "```" in written and open_.startswith("```x"):
            continue
        seen = read(sse(*letter_by_letter(text), chunk({}, "stop")))
        assert seen.calls == ()
        assert seen.text == text


@pytest.mark.parametrize("style", STYLES)
def test_an_unknown_tool_is_text(style: str) -> None:
    written = STYLES[style][0]
    seen = read(sse(chunk({"content": written}), chunk({}, "stop")), tools=(TOOLS[1],))
    assert seen.calls == ()
    assert seen.text == written


@pytest.mark.parametrize(
    "text",
    [
        "Use the `<tool_call>` tag with {json}.",
        "The tag <tool_call> opens a call, </tool_call> closes it.",
        "a <b> [c] <| d |> < [TOOL] <tool <function",
        '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\nis what I would write, but I do not.',
        "if x<tool_calls: print(y[TOOL_CALLS",
        "<|im_end|> is a token, so is </s>",
    ],
)
def test_talk_about_markers_stays(text: str) -> None:
    seen = everywhere(sse(chunk({"content": text}), chunk({}, "stop")))
    assert (seen.text, seen.calls) == (text, ())


def test_a_closer_inside_a_value_does_not_end_it() -> None:
    value = {"command": "grep '</tool_call>' x </function> [TOOL_CALLS]"}
    text = f"<tool_call>{json.dumps({'name': 'bash', 'arguments': value})}</tool_call>"
    assert everywhere(sse(chunk({"content": text}), chunk({}, "stop"))).made == [("bash", value)]


def test_the_same_call_told_both_ways_runs_once() -> None:
    native = call("bash", json.dumps(LS), id="a", index=0)
    for field in ("content", "reasoning_content"):
        data = sse(chunk({field: f"<tool_call>{ONE}</tool_call>"}), chunk({"tool_calls": [native]}, "tool_calls"))
        seen = everywhere(data)
        assert [(c.recovered, c.wire_id) for c in seen.calls] == [(False, "a")]


def test_a_call_only_thought_about_is_not_made() -> None:
    thought = f"I could <tool_call>{ONE}</tool_call> but the answer is known."
    seen = everywhere(sse(chunk({"reasoning_content": thought}), chunk({"content": "It is 42."}, "stop")))
    assert seen.calls == ()
    assert seen.whole.message.parts[0].text == thought  # type: ignore[union-attr]


def test_raw_values_become_what_the_schema_asks_for() -> None:
    text = "<function=read_file><parameter=path>12</parameter><parameter=limit>12</parameter></function>"
    assert everywhere(sse(chunk({"content": text}), chunk({}, "stop"))).made == [
        ("read_file", {"path": "12", "limit": 12})
    ]
    text = "<function=todo><parameter=all>True</parameter></function>"
    assert everywhere(sse(chunk({"content": text}), chunk({}, "stop"))).made == [("todo", {"all": True})]


FENCED: dict[str, str] = {
    "json": f"```json\n{ONE}\n```",
    "after words": f"I will look.\n\n```json\n{ONE}\n```\n",
    "no language": f"```\n{ONE}\n```",
    "tool_call": f'```tool_call\n{{"tool": "bash", "args": {ARGS}}}\n```',
    "nothing but json": ONE,
    "gemma": f"```tool_code\nprint(bash(command={LS['command']!r}))\n```",
    "a list": f"```json\n[{ONE}]\n```",
    "markers in a fence": f"```\n<tool_call>{ONE}</tool_call>\n```",
    "markers": f"<tool_call>{ONE}</tool_call>",
}


@pytest.mark.parametrize("style", FENCED)
def test_fenced_json_only_for_models_without_tools(style: str) -> None:
    data = sse(chunk({"content": FENCED[style]}), chunk({}, "stop"))
    seen = everywhere(data, style="fenced")
    assert seen.made == [("bash", LS)]
    assert "bash" not in seen.text
    if style != "markers":
        able = everywhere(data)
        assert able.calls == ()
        assert able.text == FENCED[style]


@pytest.mark.parametrize("text", ["```python\nprint({1})\n```", '{"x": 1}', "```json\n[1, 2]\n```\nDone.", "``` `` `"])
def test_other_fences_are_text(text: str) -> None:
    seen = everywhere(sse(chunk({"content": text}), chunk({}, "stop")), style="fenced")
    assert (seen.text, seen.calls) == (text, ())


def test_thinking_between_tags_is_not_text() -> None:
    for open_, close in (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")):
        seen = everywhere(sse(chunk({"content": f"{open_}\nHm < ok{close}\n\nYes < no"}), chunk({}, "stop")))
        assert (seen.thought, seen.text) == ("Hm < ok", "Yes < no")
    inside = f"<think>I must look.\n<tool_call>{ONE}</tool_call></think>"
    seen = everywhere(sse(chunk({"content": inside}), chunk({}, "stop")))
    assert (seen.made, seen.calls[0].recovered) == ([("bash", LS)], True)
    late = everywhere(sse(chunk({"content": "I say <think> is a tag"}), chunk({}, "stop")))
    assert late.text == "I say <think> is a tag"


def test_without_tools_nothing_is_held_back() -> None:
    written = f"<tool_call>{ONE}"
    assert read(sse(chunk({"content": written}), done=False), tools=()).text == written


def test_nothing_is_offered_nothing_is_recovered() -> None:
    value: Any = read(sse(chunk({"content": f"<tool_call>{ONE}</tool_call>"}, "stop")), tools=(BASH,))
    assert len(value.calls) == 1


def test_thinking_whose_opening_tag_was_in_the_prompt() -> None:
    seen = everywhere(sse(chunk({"content": "Hm.\n</think>\n\nYes."}), chunk({}, "stop")))
    assert [type(p).__name__ for p in seen.whole.message.parts] == ["ReasoningPart", "TextPart"]
    assert seen.whole.message.text == "Yes."
    called = everywhere(sse(chunk({"content": f"Hm.\n</think>\n<tool_call>{ONE}</tool_call>"}), chunk({}, "stop")))
    assert (called.made, called.whole.message.text.strip()) == ([("bash", LS)], "")
    talk = "The tag `</think>` ends it, and </think> too."
    assert everywhere(sse(chunk({"content": talk}), chunk({}, "stop"))).whole.message.text == talk
