"""The prompt of a small model: a fixed beginning, worked examples, the task with its files, and the steps so far.

Every message depends only on what was before it, so the server can go on from the prompt it has already read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gongfu.core.messages import Message, TextPart
from gongfu.models.local.actions import FINISH, lines
from gongfu.models.local.story import Step, Turn
from gongfu.resources import text as resource

REPLY_TOKENS = 320
BUDGET_TOKENS = 5600  # of 8,192: the estimate below may be a third too low for text that is mostly signs
_TASK = 1000  # tokens that each part may take at most
_LISTING = 250
_FILE = 700
_FILES = 1700
_REPLY = 600
_RESULT = 350
_OLD_RESULT = 80
_LINE = 60
_WHOLE_CHARS = 900  # what fits into one reply with its quotes and line ends written as escapes
_SILENT = ("", "(no output)")
_QUOTED = re.compile(r"`([^`\n]+)`")
_TEST = re.compile(r"(?i)(?:^|/)(?:tests?|specs?|conftest)(?:[/_.-]|$)|[_.-](?:test|spec)s?\.")
_COMMAND = re.compile(r"(?:\S+=\S+ )*(?:python\S*|pytest|node|npm|make|sh|bash|ruby|go|cargo|java|\./\S+)(?: |$)")
_OUTPUT = re.compile(r"(?i)\b(?:print|output|show|display|write)(?:s|ed|ing)?\b|打印|输出|显示")
_DO_NOT_RUN = re.compile(
    r"(?i)(?:do not|don't|without|never) (?:run|execut)\w*|不要(?:运行|执行)|别(?:运行|执行)|不(?:运行|执行)"
)
_DROP = 4  # steps are left out in blocks, so that the beginning changes rarely


def estimate(text: str) -> int:
    """A careful guess of tokens: a third of the bytes, and one for each digit."""
    return len(text.encode("utf-8", "replace")) // 3 + sum(map(str.isdigit, text)) * 2 // 3 + 4


def system(names: Sequence[str]) -> str:
    """The fixed beginning for the actions that are offered."""
    return resource("prompts/guided.md").replace("{actions}", lines(names)).strip()


def examples(names: Sequence[str]) -> list[Message]:
    """The worked examples whose actions are all offered."""
    found: list[Message] = []
    for block in resource("prompts/guided_examples.md").split("\n# ")[1:]:
        title, _, body = block.partition("\n")
        if set(title.split()[1:]) <= set(names):
            found += _conversation(body)
    return found


def _conversation(body: str) -> list[Message]:
    found: list[Message] = []
    for piece in body.split("\n## ")[1:]:
        role, _, text = piece.partition("\n")
        found.append(_message("assistant" if role.strip() == "assistant" else "user", text.strip()))
    return found


def build(turns: Sequence[Turn], names: Sequence[str], standing: str = "") -> tuple[str, tuple[Message, ...]]:
    """System text and messages for the last of `turns`, at most about `BUDGET_TOKENS` long.

    `standing` is what the caller puts behind the system text: it takes room.
    """
    fixed = system(names)
    shown = examples(names)
    room = BUDGET_TOKENS - estimate(fixed) - estimate(standing) * bool(standing) - sum(estimate(m.text) for m in shown)
    turn = turns[-1]
    head = task_text(turn, turns[:-1])
    room -= estimate(head)
    steps = [(clip(step.action.raw, _REPLY), after(turn, number)) for number, step in enumerate(turn.steps, 1)]
    return fixed, (*shown, _message("user", head), *_fitted(steps, room))


def _fitted(steps: list[tuple[str, str]], room: int) -> list[Message]:
    """The steps as messages: all of them, or the older ones shortened, or blocks of the oldest left out.

    The last step stays in any case.
    """
    for dropped in range(0, len(steps), _DROP):
        kept = steps[dropped:]
        for whole in (len(kept), 2, 1):
            texts = [
                (said, told if place >= len(kept) - whole else clip(told, _OLD_RESULT))
                for place, (said, told) in enumerate(kept)
            ]
            if sum(estimate(a) + estimate(b) for a, b in texts) <= room:
                return _messages(texts, dropped)
    return _messages(steps[-1:], len(steps) - 1)


def _messages(texts: list[tuple[str, str]], dropped: int) -> list[Message]:
    found: list[Message] = []
    for place, (said, told) in enumerate(texts):
        found.append(_message("assistant", said))
        note = f"({dropped} earlier steps are left out.)\n" if dropped and place == 0 else ""
        found.append(_message("user", note + told))
    return found


def task_text(turn: Turn, earlier: Sequence[Turn]) -> str:
    """The message that states the task: what came before in one line each, the files, the task itself."""
    parts = [f"Earlier: {clip(t.task, _LINE)} -> {clip(t.answer, _LINE)}" for t in earlier[-3:] if t.answer]
    parts.append("A new task in another folder. " + _folder(turn))
    parts.append(f"Task: {clip(turn.task, _TASK)}")
    return "\n\n".join(parts)


def _folder(turn: Turn) -> str:
    left = _FILES
    shown: list[str] = []
    for file in turn.files:
        text = clip(file.text.rstrip(), min(_FILE, left))
        long = "(This file is long: change it with replace.)\n" if len(file.text) > _WHOLE_CHARS else ""
        shown.append(f"=== {clip(file.path, _LINE)} ===\n{text}\n{long}")
        left -= estimate(shown[-1])
        if left < _LINE:
            break
    empty = not turn.listing or turn.listing.startswith("[the folder is empty]")
    listing = "It is empty." if empty else f"Its files:\n{clip(turn.listing, _LISTING)}"
    return "\n\n".join([listing, *shown])


def after(turn: Turn, count: int) -> str:
    """What a small model is told after step number `count - 1`: the result and what to think of next."""
    step = turn.steps[count - 1]
    so_far = msgspec.structs.replace(turn, steps=turn.steps[:count])
    return f"{_result(step)}\n\n{advice(so_far)}"


def _result(step: Step) -> str:
    text = clip(step.result.text.strip(), _RESULT)
    if step.action.name == "run":
        silent = "(no output, no error)" if not step.failed else "(no output)"
        return f"Output of `{clip(step.action.fields['command'], _LINE)}`:\n{silent if text in _SILENT else text}"
    return text or "(nothing)"


def advice(turn: Turn) -> str:
    """One or two sentences after the last step of `turn`."""
    step = turn.steps[-1]
    if turn.repeats(len(turn.steps)):
        return "You had done exactly this before. Do not do it again: do something else, or finish."
    if step.failed:
        return _after_failure(step)
    if step.changed:
        return _after_change(turn)
    if not turn.written:
        return "If this answers the task, finish with the answer. If not, do the next thing."
    if step.action.name == "run" and step.result.text.strip() in _SILENT and _OUTPUT.search(turn.task):
        return "It printed nothing, but the task wants output: correct the file."
    return "If the task is done now, finish and say what you changed. If not, do the next thing."


def _after_failure(step: Step) -> str:
    if step.result.status == "refused":
        return "This is not allowed. Do it in another way, or finish and say so."
    if step.looks_for:
        return "Nothing was found. If that answers the task, finish. If not, look in another way."
    if step.action.name == "run":
        return "The command failed. Read the error, correct the file or the command, and try again."
    return "That did not work. Do it in another way."


def _after_change(turn: Turn) -> str:
    others = [name for name in named_files(turn) if name not in turn.written]
    more = (
        f"The task also names {clip(', '.join(others), _LINE)}: if it must be changed too, write it now. "
        if others
        else ""
    )
    if not turn.to_run:
        return more + "If the task is done now, finish and say what you changed. If not, do the next thing."
    return f"{more}{'Then' if more else 'Now'} run `{clip(check_command(turn), _LINE)}` and look at the output."


def named_files(turn: Turn) -> list[str]:
    """The files of the folder that the task names, other than tests and those in the commands that it quotes."""
    text = _QUOTED.sub(lambda quoted: "" if _COMMAND.match(quoted[1]) else quoted[1], turn.task)
    words = set(re.findall(r"[\w./-]*\w", text))
    return [file.path for file in turn.files if file.path in words and not _TEST.search(file.path)]


def check_command(turn: Turn) -> str:
    """How to try what was changed: the last command that the task quotes, else the changed program itself."""
    quoted = [text for text in _QUOTED.findall(turn.task) if _COMMAND.match(text)]
    if quoted:
        return quoted[-1]
    return f"python3 {turn.to_run}" if turn.to_run.endswith(".py") else turn.to_run


def allowed(turn: Turn, names: Sequence[str]) -> tuple[str, ...]:
    """The actions for the next reply.

    `finish` is among them only after a step, not directly after a program was changed (it has to be tried first, unless
    the task forbids it), and not on top of the first two failures of a command. `replace` is for long files.
    """
    long = any(len(text) > _WHOLE_CHARS for text in turn.texts)
    now = tuple(name for name in names if long or name != "replace")
    if not turn.steps:
        return now
    last = turn.steps[-1]
    if turn.repeats(len(turn.steps)) or last.result.status == "refused" or "run" not in names:
        return (*now, FINISH)
    failures = sum(step.action.name == "run" and step.failed and not step.looks_for for step in turn.steps)
    failed = last.action.name == "run" and last.failed and not last.looks_for and failures <= 2
    untried = bool(last.changed) and bool(turn.to_run) and not _DO_NOT_RUN.search(turn.task)
    return now if failed or untried else (*now, FINISH)


def _message(role: str, text: str) -> Message:
    return Message(role="assistant" if role == "assistant" else "user", parts=(TextPart(text=text),))


def clip(text: str, tokens: int) -> str:
    """`text`, its middle left out when it is estimated at more than `tokens`."""
    size = estimate(text)
    if size <= tokens:
        return text
    limit = len(text) * tokens // size
    while True:
        head, tail = limit * 2 // 3, limit // 3
        short = f"{text[:head]}\n[{len(text) - head - tail} characters left out]\n{text[len(text) - tail :]}"
        if limit < 8 or estimate(short) <= tokens:
            return short
        limit = limit * 7 // 8
