"""`!command`: the person runs a command by hand."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import anyio

from gongfu.core.errors import UserError
from gongfu.core.ids import new_id
from gongfu.core.messages import user
from gongfu.surfaces.cli.render.numbers import duration
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.hand import ByHand
from gongfu.surfaces.cli.width import wrap

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.talk import Talk
    from gongfu.workspace.process import Finished

KEEP = 16 * 1024
"""Bytes of the output that the model is told: the first and the last of them."""
_LIMIT = 30 * 86_400.0  # seconds; a person's command is stopped by the person
_BATCH = 0.1  # seconds between pieces on a face that is not drawn
_NEED_TERMINAL = frozenset([
    "btop", "emacs", "htop", "mc", "nano", "nvim", "pico", "screen", "tmux", "top", "vi", "view", "vim", "vimdiff",
])  # fmt: skip
_BATCH_WORDS = re.compile(r"(^|\s)(-[a-zA-Z]*b[a-zA-Z]*|--batch|-es|-Es|new-session|ls|kill-server)(\s|$)")


async def by_hand(talk: Talk, command: str) -> None:
    """Run it, show what it prints, and tell the model with its next request.

    It runs as the person's own: no consent, no sandbox, their environment; with no terminal and nothing to read.
    """
    say = talk.cli.say
    if not command:
        talk.note(say("talk_do.hand_hint"))
        return
    name = command.split(maxsplit=1)[0].rsplit("/", 1)[-1]
    if name in _NEED_TERMINAL and not _BATCH_WORDS.search(command):
        talk.note(say("talk_do.hand_terminal", name=one_line(name, 40)))
        return
    session = talk.session
    hand = ByHand(command, talk.cli.out_style, time.time())
    done = await _run(talk, hand)
    _show(talk, hand, done)
    if re.fullmatch(r"cd(\s+[^;&|\n]*)?", command):
        talk.note(say("talk_do.hand_cd"))
    if talk.session is session:
        session.inbox.note(user(_told(command, hand, done), kind="note", id=new_id("m")))


async def _run(talk: Talk, hand: ByHand) -> Finished | None:
    """How it ended; None when the person stopped it."""
    from gongfu.workspace.process import run

    done: Finished | None = None
    problem: OSError | ValueError | None = None
    scope = anyio.CancelScope()

    def stop() -> None:
        hand.stopping = True
        scope.cancel()

    if not talk.face.drawn:
        talk.face.show(_head(talk, hand.command))
    talk.by_hand.append(hand)
    try:
        with talk.stoppable(stop):
            async with anyio.create_task_group() as tasks:
                if not talk.face.drawn:
                    tasks.start_soon(_pour, talk, hand)
                with scope:
                    try:
                        done = await run(
                            hand.command,
                            cwd=talk.app.workspace.directory,
                            env=talk.app.options.env,
                            timeout=_LIMIT,
                            sink=hand.add,
                            keep=KEEP,
                        )
                    except (OSError, ValueError) as error:
                        problem = error
                tasks.cancel_scope.cancel()
    finally:
        talk.by_hand.remove(hand)
        hand.add(b"", final=True)
    if problem is not None:
        why = getattr(problem, "strerror", None) or str(problem)
        raise UserError("talk_do.hand_not_started", command=one_line(hand.command, 80), reason=why) from problem
    return done


async def _pour(talk: Talk, hand: ByHand) -> None:
    """Lines as they come, for a face on which nothing is alive."""
    while True:
        await anyio.sleep(_BATCH)
        if fresh := hand.take():
            talk.face.show("\n".join(f"  {line}" for line in fresh))


def _head(talk: Talk, command: str) -> str:
    first, *more = wrap(clean(command), max(8, talk.face.size[0] - 3))
    return "\n".join(["", f"{talk.cli.out_style.cyan('!')} {first}", *(f"  {row}" for row in more)])


def _show(talk: Talk, hand: ByHand, done: Finished | None) -> None:
    say, style = talk.cli.say, talk.cli.out_style
    if talk.face.drawn:
        head, left_out, tail = hand.kept()
        lines = [_head(talk, hand.command), *(f"  {line}" for line in head)]
        if left_out:
            lines.append(style.dim(f"  {say('talk_do.hand_left_out', count=left_out)}"))
        lines += [f"  {line}" for line in tail]
    else:
        lines = [f"  {line}" for line in hand.take()]
    if done is None:
        end = style.yellow(say("talk_do.hand_stopped"))
    elif done.code == 0:
        end = style.dim(say("talk_do.hand_done", time=duration(done.seconds)))
    else:
        end = style.red(say("talk_do.hand_failed", code=done.code, time=duration(done.seconds)))
    lines.append(f"  {end}")
    if done is not None and done.left_running:
        lines.append(f"  {style.dim(say('talk_do.hand_left_running'))}")
    talk.face.show("\n".join(lines))


def _told(command: str, hand: ByHand, done: Finished | None) -> str:
    """What the model is told; without secrets."""
    from gongfu.core.secrets import redact
    from gongfu.tools.terminal import clean_terminal

    if done is None:
        head, left_out, tail = hand.kept()
        text = "\n".join([*head, *([f"[{left_out} lines left out]"] if left_out else []), *tail])
        text = text if len(text) <= KEEP else f"{text[: KEEP // 2]}\n[…]\n{text[-KEEP // 2 :]}"
        ending = "was stopped by the user"
    else:
        cut = done.total_bytes - len(done.head) - len(done.tail)
        middle = f"\n[{cut} bytes left out]\n" if cut else ""
        text = f"{done.head.decode('utf-8', 'replace')}{middle}{done.tail.decode('utf-8', 'replace')}"
        ending = f"exit code {done.code}"
    output = redact(clean_terminal(text)).strip("\n")
    shown = f"Its output:\n{output}" if output else "It printed nothing."
    return f"[The user ran a command by hand: `{redact(command)}` ({ending}). {shown}]"
