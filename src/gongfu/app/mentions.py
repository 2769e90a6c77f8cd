"""Files that a plain prompt names, put behind it; see `plugins.mentions` for how they are named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gongfu.app.commands import Expanded, include
from gongfu.core.errors import ToolFailure
from gongfu.core.modes import Bounds

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.core.messages import ImagePart
    from gongfu.engine.session import Session

TYPED: Final = 4_000
"""Characters of what was typed that stand for such a prompt where it is shown."""
MOST: Final = 20
"""Files that are included with one prompt; further ones stay names."""
_START: Final = r"(?<![A-Za-z0-9_@＠`./+\\-])[@＠]"
_MENTION: Final = rf"{_START}(?:\"(?P<double>[^\"\n]+)\"|'(?P<single>[^'\n]+)'|(?P<bare>[\w.~/\-]+))"
_ASCII: Final = r"[\x21-\x7e]+"
_END: Final = ".,:;!?"


async def mentioned(app: App, session: Session, text: str) -> Expanded:
    """`text` as it is, and behind it what the files and folders hold that it names; pictures as images.

    They are read as a call of the model would read them: by permission (the person may be asked through the session)
    and bounded. `bounds` then hold what was typed, for those who show the prompt; without a file there are none.
    UserError when there is no model that could be told.
    """
    paths = _paths(app, text)
    if not paths:
        return Expanded(prompt=text)
    await session.models()  # nothing is read for nobody
    images: list[ImagePart] = []
    held: list[str] = []
    for path in paths[:MOST]:
        body = await include(app, session, images, path)
        if body is not None:
            body = body.replace("</file", "<\\/file")  # what stands in a file does not end it
            held.append(f'<file path="{path}">\n{body}\n</file>')
    if not held:
        return Expanded(prompt=text)
    return Expanded(prompt="\n\n".join([text, *held]), images=tuple(images), bounds=Bounds(command=text[:TYPED]))


def _paths(app: App, text: str) -> list[str]:
    """What is named and exists, each once, in its order."""
    found: dict[str, None] = {}
    for match in re.finditer(_MENTION, text) if "@" in text or "＠" in text else ():
        if re.match(r":\S", text[match.end() : match.end() + 2]):
            continue  # a resource of a server
        given = match[match.lastgroup or "bare"]
        head = re.match(_ASCII, given)  # words of a language without spaces may follow at once
        tries = (given, given.rstrip(_END), head[0].rstrip(_END) if head else "")
        path = next((one for one in dict.fromkeys(tries) if one and _exists(app, one)), "")
        if path:
            found[path] = None
    return list(found)


def _exists(app: App, path: str) -> bool:
    try:
        return app.workspace.locate(path).path.exists()
    except (ToolFailure, OSError, ValueError, RuntimeError):  # no path
        return False
