"""Code of a fence, coloured and folded to the width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from gongfu.surfaces.cli.render.painted import folded

_INDENT = " "


def code_lines(code: str, language: str, columns: int, *, color: bool) -> list[str]:
    """The lines of `code` set in by one cell; coloured by its language where that is known and colour is wanted."""
    text = code.rstrip("\n").expandtabs(4)
    lines = list(_coloured(text, language)) if color and language else text.split("\n")
    return [row for line in lines for row in folded(f"{_INDENT}{line}", columns, _INDENT)]


def _coloured(code: str, language: str) -> Iterator[str]:
    lexer = _lexer(language)
    if lexer is None:
        yield from code.split("\n")
        return
    from rich.color import ColorSystem
    from rich.syntax import ANSI_DARK, ANSISyntaxTheme

    theme, line = ANSISyntaxTheme(ANSI_DARK), ""
    styles: dict[Any, Any] = {}
    for kind, text in lexer.get_tokens(code):
        style = styles.get(kind)
        if style is None:
            style = styles[kind] = theme.get_style_for_token(kind)
        first, *more = text.split("\n")
        line += style.render(first, color_system=ColorSystem.STANDARD) if first else ""
        for part in more:
            yield line
            line = style.render(part, color_system=ColorSystem.STANDARD) if part else ""
    if line:
        yield line


def _lexer(language: str) -> Any:
    from pygments import lexers  # comes with rich; needed once code is drawn
    from pygments.util import ClassNotFound

    try:
        return cast("Any", lexers).get_lexer_by_name(language, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None
