"""One invocation of the command line: its environment, language and streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from gongfu.core.ids import new_id
from gongfu.core.words import Language
from gongfu.surfaces.cli.output import Output, encodable, wants_color
from gongfu.surfaces.cli.speech import Speech, speech_of, wanted_language
from gongfu.surfaces.cli.style import Style

MARK = "GONGFU_CALL"
"""The variable of marks; `gongfu.workspace.proctree` reads it."""

if TYPE_CHECKING:
    from gongfu.config.settings import Settings
    from gongfu.surfaces.cli.answers import Answerer


class Cli:
    """What every command is given. `verbose` and colour are read from the arguments before they are parsed,
    so that even a usage error looks as asked."""

    def __init__(
        self,
        args: Sequence[str],
        env: Mapping[str, str],
        *,
        stdin: TextIO | None,
        stdout: TextIO | None,
        stderr: TextIO | None,
    ) -> None:
        flags = args[: args.index("--")] if "--" in args else args
        self.args = args
        self.env = env
        self.wanted_language = wanted_language(args)
        self.verbose = "--verbose" in flags or bool(env.get("GONGFU_DEBUG"))
        self.stdin = stdin
        self.out = Output(stdout)
        self.err = Output(stderr, fragile=False)
        self.say: Speech
        self.speak(speech_of(args, env).language)
        plain = "--no-color" in flags
        self.out_style = Style(color=wants_color(self.out, env, refused=plain))
        self.err_style = Style(color=wants_color(self.err, env, refused=plain))
        self.dumb = env.get("TERM") == "dumb"
        self.bare = False  # no command was named: the words are a task
        # the form of the result, known before the command line is understood: what is wrong with it comes in that form
        self.form = "json" if "--json" in flags else "stream" if "--stream-json" in flags else ""
        self.session = ""  # the session, once there is one
        self.person: Answerer | None = None
        self.settings: Settings | None = None  # once they are known: their keys are kept out of reports
        self.mark = new_id("x")
        self.shows: Callable[[str], None] | None = None  # where lines go while the screen is drawn

    def speak(self, language: Language) -> None:
        """From now on speak `language`; English where the terminal's encoding has no Chinese."""
        self.say = Speech(language=language if encodable("中文", self.out.encoding) == "中文" else "en")

    def marked(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` with the mark by which everything that this run starts is found again."""
        outer = env.get(MARK, "")
        return {**env, MARK: f"{outer},{self.mark}" if outer else self.mark}

    def complain(self, text: str) -> None:
        """Say on standard error what went wrong."""
        self._say(f"{self.err_style.red('gongfu:')} {text}")

    def note(self, text: str) -> None:
        """Say something on standard error that is no error."""
        self._say(self.err_style.dim(text))

    def _say(self, line: str) -> None:
        if self.shows is not None:
            self.shows(line)
        else:
            self.err.line(line)

    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal as it is now; 80 × 24 when nobody knows."""
        for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
            try:
                size = os.get_terminal_size(stream.fileno()) if stream else None
            except (OSError, ValueError):
                continue
            if size and size.columns > 0:
                return size.columns, size.lines or 24
        return 80, 24
