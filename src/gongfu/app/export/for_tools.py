"""What the tools of one session export: see `toolkit.export.Exporter`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gongfu.app.export.export import SUFFIXES, export_talk, publish, read_talk
from gongfu.core.events import SessionTitled
from gongfu.toolkit.export import Part

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session


class SessionExporter:
    """The exports of `session`."""

    def __init__(self, app: App, session: Session) -> None:
        self._app = app
        self._session = session

    async def session(
        self, session: str, suffix: str, folder: str, *, last: bool, everything: bool
    ) -> tuple[bytes, dict[str, bytes]]:
        """A session as a file; secrets are left out of what a model asks for."""
        app = self._app
        talk = read_talk(app, session or self._session.id, last=last, everything=everything, redact=True)
        env = app.options.env
        made = await export_talk(talk, SUFFIXES[suffix], language=app.language, env=env, folder=folder)
        return made.data, made.beside

    def elsewhere(self, session: str) -> str:
        """The store, for a session of another workspace."""
        from gongfu.app.past import elsewhere

        return elsewhere(self._app, session)

    async def document(self, title: str, markdown: str, suffix: str, image: Callable[[str], str]) -> bytes:
        """A Markdown document as a file."""
        app = self._app
        kind = SUFFIXES[suffix]
        return await publish(title, markdown, kind, language=app.language, env=app.options.env, image=image)

    def rename(self, title: str) -> None:
        """Give the session another title."""
        self._session.kit.sessions.set_title(self._session.id, title)
        self._session.stream.emit(SessionTitled(title=title))

    def told(self, part: Part) -> str:
        """What the session tells the model, or what it was asked."""
        session = self._session
        match part:
            case "system":
                return session.overlay.agent.system
            case "tools":
                return "\n\n".join(f"## {spec.name}\n{spec.description}" for spec in session.overlay.registry.specs)
            case "rules":
                pinned = session.state.context.pinned
                if pinned is None or not pinned.sources:
                    return "No project rules are pinned in this session."
                parts = [(s.path, part.duty, part.text) for s in pinned.sources for part in s.sections]
                return "\n\n".join(f"[{path}, {duty}]\n{text}" for path, duty, text in parts)
            case "prompts":
                words = [m.text for m in session.state.transcript.messages if m.role == "user" and m.kind != "note"]
                return "\n\n".join(f"{number}. {text}" for number, text in enumerate(words, 1))
