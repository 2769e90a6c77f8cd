"""Keys that prompt_toolkit does not know, or takes for others: Enter with Shift, Ctrl or Alt."""

from __future__ import annotations

from typing import TypeVar

from prompt_toolkit.input import Input
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

_I = TypeVar("_I", bound=Input)
_NEW_LINE = (Keys.Escape, Keys.ControlM)
# as kitty and others write them, and as xterm does with modifyOtherKeys
_MORE = {
    **{f"\x1b[13;{modifier}u": _NEW_LINE for modifier in range(2, 9)},
    **{f"\x1b[27;{modifier};13~": _NEW_LINE for modifier in range(2, 9)},
    "\x1b\n": _NEW_LINE,
    "\x1bOM": (Keys.ControlM,),  # Enter of the number pad
    "\x1b[13u": (Keys.ControlM,),
    "\x1b[27u": (Keys.Escape,),
    "\x1b[9u": (Keys.ControlI,),
    "\x1b[127u": (Keys.ControlH,),
    "\x1b[9;2u": (Keys.BackTab,),
    "\x1b[127;3u": (Keys.Escape, Keys.ControlH),
}


_END = "\x1b[201~"  # of what is pasted


class _Parser(Vt100Parser):
    """Knows more keys, and takes in what is pasted in time linear in its length."""

    def reset(self, request: bool = False) -> None:
        self._chunks: list[str] = []
        self._tail = ""
        super().reset(request)

    def _get_match(self, prefix: str) -> Keys | tuple[Keys, ...] | None:
        return _MORE.get(prefix) or super()._get_match(prefix)

    def feed(self, data: str) -> None:
        if not self._in_bracketed_paste:
            super().feed(data)
            return
        self._chunks.append(data)
        seen = self._tail + data
        if _END not in seen:
            self._tail = seen[1 - len(_END) :]
            return
        pasted, _, rest = "".join(self._chunks).partition(_END)
        self._chunks, self._tail, self._in_bracketed_paste = [], "", False
        self.feed_key_callback(KeyPress(Keys.BracketedPaste, pasted))
        self.feed(rest)


def more_keys(source: _I) -> _I:
    """Teach an input these keys; what is no terminal of escape sequences comes back as it is.

    The table of prompt_toolkit stays as it is: it belongs to the whole process.
    """
    known = getattr(source, "vt100_parser", None)
    if isinstance(known, Vt100Parser):
        vars(source)["vt100_parser"] = _Parser(known.feed_key_callback)
    return source
