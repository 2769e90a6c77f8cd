"""The markers between which models write calls into text, and what is found there."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from gongfu.core.base import Base

# Opener -> closers. An opener that ends without ">" or "]" belongs to what is read ("<function=name>").
PAIRS: dict[str, tuple[str, ...]] = {
    # Hermes, Qwen, GLM, Granite; MiniMax; Seed; Nemotron; Jamba, Hunyuan; older Claude style
    "<tool_call>": ("</tool_call>",),
    "<tool_calls>": ("</tool_calls>",),
    "<function_call>": ("</function_call>",),
    "<function_calls>": ("</function_calls>",),
    "<antml:function_calls>": ("<antml:/function_calls>",),
    "<minimax:tool_call>": ("</minimax:tool_call>",),
    "<seed:tool_call>": ("</seed:tool_call>",),
    "<TOOLCALL>": ("</TOOLCALL>",),
    "<function=": ("</function>",),
    "<invoke name=": ("</invoke>",),
    "<antml:invoke name=": ("<antml:/invoke>",),
    # Kimi; Phi and Granite; LFM
    "<|tool_calls_section_begin|>": ("<|tool_calls_section_end|>",),
    "<|tool_call_begin|>": ("<|tool_call_end|>",),
    "<|tool_call|>": ("<|/tool_call|>",),
    "<|tool_call_start|>": ("<|tool_call_end|>",),
    # DeepSeek
    "<｜tool▁calls▁begin｜>": ("<｜tool▁calls▁end｜>",),
    "<｜tool▁call▁begin｜>": ("<｜tool▁call▁end｜>",),
    "<｜DSML｜function_calls>": ("</｜DSML｜function_calls>",),
    "<｜DSML｜tool_calls>": ("</｜DSML｜tool_calls>",),
    "<｜DSML｜invoke name=": ("</｜DSML｜invoke>",),
    # LM Studio; Mistral; Llama; InternLM; Command; gpt-oss
    "[TOOL_REQUEST]": ("[END_TOOL_REQUEST]",),
    "[TOOL_CALLS]": (),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
    "<|python_start|>": ("<|python_end|>", "<|eom|>", "<|eot|>"),
    "<xai:function_call name=": ("</xai:function_call>",),
    "<|action_start|>": ("<|action_end|>",),
    "<|START_ACTION|>": ("<|END_ACTION|>",),
    "<|channel|>commentary to=": ("<|call|>", "<|end|>"),
    "<|start|>assistant<|channel|>commentary to=": ("<|call|>", "<|end|>"),
    "<|start|>assistant to=": ("<|call|>", "<|end|>"),
}
# Tokens that mean nothing by themselves once a call was read.
STRAY = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|call|>", "<|end|>", "</s>",
    "<｜end▁of▁sentence｜>", "<|tool_calls_section_end|>", "<|tool_call_end|>", "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁end｜>", "</tool_call>", "</tool_calls>", "</function_calls>", "</function>", "<|END_ACTION|>",
    "</minimax:tool_call>", "</seed:tool_call>", "</｜DSML｜function_calls>", "</｜DSML｜tool_calls>",
)  # fmt: skip


class Found(Base, frozen=True):
    """A call that was written into text. `arguments` as text, as an object, or as raw values by name.

    `raw_values` says that the strings in `arguments` are not JSON yet: what they are is for the schema to say.
    `source` is all the text of it, markers included; `cut` says that its end is missing.
    """

    name: str
    arguments: str | dict[str, Any] = "{}"
    raw_values: bool = False
    source: str = ""
    cut: bool = False


def meant_name(name: str, names: Collection[str]) -> str:
    """The one of `names` that a model meant, else `name` as it is.

    Models put a family in front (`default_api.read_file`, `functions.read_file:0`) and spell as other programs do
    (`ReadFile`, `read-file`). Two tools that differ in nothing else are not guessed between.
    """
    if name in names:
        return name
    for candidate in (bare := bare_name(name), re.split(r"[.:/]+", bare)[-1]):
        if candidate in names:
            return candidate
        same = [n for n in names if _letters(n) == _letters(candidate)]
        if len(same) == 1:
            return same[0]
    return name


def _letters(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def bare_name(name: str) -> str:
    """The tool's own name: without quotes, "functions." and a running number (`functions.bash:0` is `bash`)."""
    name = name.strip().strip("\"'`").split("<|")[0].strip()
    name = name.removeprefix("functions.").removeprefix("function.")
    head, _, number = name.rpartition(":")
    return head if head and number.isdigit() else name
