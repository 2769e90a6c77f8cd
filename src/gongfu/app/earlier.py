"""How a file was before it was changed last, from the checkpoints of the workspace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.core.errors import UserError
from gongfu.workspace.root import rest_below

if TYPE_CHECKING:
    from gongfu.app.app import App

_MOST = 50  # checkpoints that are looked at


def earlier(app: App, path: Path) -> bytes | None:
    """The content of the file at a resolved path before the last kept turn that changed it, b"" where it did not
    exist; None when no checkpoint tells. It reads the store and takes a while."""
    from gongfu.app.shelf import Shelf  # loads the store, which most runs do without
    from gongfu.app.undo import place_of
    from gongfu.workspace.checkpoint.tree import Tree, to_bytes

    place = place_of(app)
    rest = rest_below(str(path), str(place.root))
    if not rest or not place.store.exists():
        return None
    name = rest.replace(os.sep, "/")
    try:
        now = path.read_bytes() if path.is_file() else b""
        with Shelf(place) as shelf:
            for row in [row for row in shelf.all_rows() if row.when == "before"][:_MOST]:
                tree = shelf.tree(row.id)
                content = shelf.content(name, tree)
                if content is None and not Tree(tree).knows(to_bytes(name)):
                    continue
                if (content or b"") != now:
                    return content or b""
    except (UserError, OSError):
        return None
    return None
