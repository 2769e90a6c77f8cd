"""The tool diff."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.to_thread

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.diffs import diff_of, exact_diff
from gongfu.toolkit.files import check_text
from gongfu.toolkit.places import Places, explained
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace.files import as_text, read_text_file
from gongfu.workspace.root import Located, Workspace


class CompareTools:
    """diff of one session. `earlier(path)` is a file's content before the turn that changed it last, None when
    nothing is known of it; it may take a while."""

    def __init__(self, workspace: Workspace, earlier: Callable[[Path], bytes | None]) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._earlier = earlier

    async def _facts(self, args: dict[str, Any]) -> Facts:
        located = [self._places.judge(args[name]) for name in ("path", "other") if args.get(name)]
        paths = tuple(dict.fromkeys(p for one in located for p in self._places.paths(one)))
        return Facts(access=("read",), paths=paths, title=" ↔ ".join(one.shown for one in located))

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        names = [args[name] for name in ("path", "other") if args.get(name)]
        return tuple(Claim(resource=str(self._workspace.locate(name).path)) for name in names)

    @tool(access="read", facts=_facts, claims=_claims)
    async def diff(self, path: str, other: str | None = None, text: str | None = None) -> Outcome:
        if other is not None and text is not None:
            raise ToolFailure("give other or text, not both; neither compares with the file before its last change")
        located = self._places.again(path)
        if text is not None:
            check_text(text, "text")
        with_file = self._places.again(other) if other is not None else None
        return await anyio.to_thread.run_sync(self._compare, located, with_file, text, abandon_on_cancel=True)

    def _compare(self, located: Located, other: Located | None, text: str | None) -> Outcome:
        mine = self._text(located)
        if other is not None:
            old, new = mine, self._text(other)
            names = f"a/{located.shown}", f"b/{other.shown}"
            shown = other.shown
        elif text is not None:
            old, new = mine, text
            names = f"a/{located.shown}", "b/text"
            shown = "text"
        else:
            old, new = self._before(located), mine
            names = f"a/{located.shown}", f"b/{located.shown}"
            shown = located.shown
        diff = exact_diff(old, new, *names)
        if not diff:
            return Outcome(
                text="The two are the same.", display={"kind": "text", "text": "", "summary": "no difference"}
            )
        return Outcome(text=diff, display=diff_of(shown, old, new))

    def _text(self, located: Located) -> str:
        if not located.path.exists():
            raise self._places.missing(located)
        with explained(located):
            return read_text_file(located.path).text

    def _before(self, located: Located) -> str:
        raw = self._earlier(located.path)
        if raw is None:
            raise ToolFailure(
                f"nothing is known of {located.shown} before now: no turn that is kept changed it. Give other or text; "
                "git_diff compares it with commits."
            )
        return as_text(located.path, raw).text
