"""`gongfu rules show` and `gongfu rules history`: what is configured, what was delivered, what was said."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from gongfu.core.base import Base
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.width import NARROW, clip, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gongfu.app import App
    from gongfu.app.rule_view import Seen
    from gongfu.core.duties import Word
    from gongfu.core.told import RulesPinned


class _Line(Base, frozen=True):
    """One envelope as it is shown. `carried` counts the main requests that held it; None: there was no session."""

    rule: str
    duty: str
    said: bool
    why: str
    was: str
    scope: str
    paths: tuple[str, ...]
    joins: bool
    tokens: int
    sha256: str
    carried: int | None
    last: str


def show_rules(cli: Cli, *, session: str | None, as_json: bool, config: str | None, root: str | None) -> int:
    """Print the rules: those of a session, or those that a new session would be pinned to."""
    from gongfu.app.rule_view import look
    from gongfu.surfaces.cli.opening import with_app

    seen = with_app(cli, Opening(config=config or "", root=root), lambda app: look(app, session))
    lines = _lines(seen)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json(_fields(seen, lines)))
        return 0
    _print(cli, seen, lines)
    return 0


def _lines(seen: Seen) -> list[_Line]:
    from gongfu.context.rules.envelope import envelopes

    pinned = seen.snapshot
    sources = {s.path: s for s in pinned.sources}
    joined = set(seen.joined)
    old = {(o.path, o.heading): o.duty for o in seen.outgrown}
    lines: list[_Line] = []
    for e in envelopes(pinned, joined):
        source = sources[e.path]
        name = e.id.removeprefix("rule:")
        parts = [s for s in source.sections if s.duty == e.duty]
        count, last = seen.carried.get(e.id, (0, ""))
        lines.append(
            _Line(
                rule=name,
                duty=e.duty,
                said=all(s.said for s in parts),
                why=next((s.why for s in parts if s.why), ""),
                was=next(
                    (d for (p, h), d in old.items() if p == e.path and (not h or f"#{h}" in name or name == p)), ""
                ),
                scope=source.scope,
                paths=source.paths,
                joins=not e.joined,
                tokens=e.tokens,
                sha256=e.sha256,
                carried=count if seen.session else None,
                last=last,
            )
        )
    return lines


def _fields(seen: Seen, lines: Sequence[_Line]) -> dict[str, Any]:
    pinned = seen.snapshot
    return {
        "type": "rules",
        "session": seen.session,
        "fingerprint": pinned.fingerprint,
        "revision": pinned.revision if seen.session else 0,
        "by": pinned.by if seen.session else "",
        "requests": seen.requests,
        "rules": [
            {
                "rule": line.rule,
                "configured": line.duty,
                "classified": line.said,
                "why": line.why,
                "was": line.was,
                "scope": line.scope,
                "paths": list(line.paths),
                "joined": not line.joins,
                "tokens": line.tokens,
                "sha256": line.sha256,
                "delivered": line.carried,
                "last_request": line.last,
            }
            for line in lines
        ],
        "ignored": [{"path": path, "reason": reason} for path, reason in pinned.ignored],
        "conflicts": [{"stronger": strong, "weaker": weak} for strong, weak in pinned.conflicts],
        "live_fingerprint": seen.live,
        "other_session": seen.other,
        "corrupt": seen.corrupt,
    }


def _print(cli: Cli, seen: Seen, lines: Sequence[_Line]) -> None:
    if not lines and not seen.snapshot.ignored and not seen.corrupt:
        cli.note(cli.say("rules.none_session" if seen.session else "rules.none"))
        return
    for line in drawn(cli, seen, cli.size()[0] if cli.out.tty else 0, lines=lines):
        cli.out.line(line)


def drawn(
    cli: Cli, seen: Seen, columns: int, *, lines: Sequence[_Line] | None = None, area: str = "rules"
) -> Iterator[str]:
    """The rules as painted lines of `columns` cells (0: as long as they are).

    `area` is the one of the catalogue that says how to refresh them.
    """
    from gongfu.surfaces.cli.render.table import table

    say, dim = cli.say, cli.out_style.dim
    pinned = seen.snapshot
    lines = _lines(seen) if lines is None else lines

    def tell(key: str, *, paint: Callable[[str], str] = str, **values: object) -> Iterator[str]:
        text = say(key, **values)
        yield from map(paint, wrap(text, columns) if columns else [text])

    if seen.corrupt:
        yield from tell(f"{area}.corrupt", paint=cli.out_style.yellow, session=seen.session)
    if not lines and not pinned.ignored:
        yield from tell("rules.none_session" if seen.session else "rules.none", paint=dim)
        return
    yield from tell(
        "rules.title_session" if seen.session else "rules.title_disk", session=seen.session, revision=pinned.revision,
        by=_by(cli, pinned.by), fingerprint=pinned.fingerprint[:12],
    )  # fmt: skip
    names = ["rule", "configured", "delivered", "tokens", "scope", "hash"]
    rows = [[say(f"rules.head_{name}") for name in names], *(_row(cli, seen, line) for line in lines)]
    if 0 < columns < NARROW:
        yield from _stacked(rows, columns, dim)
    else:
        shown = table(rows, columns=columns, right=(3,), spare=(5, 4))
        yield dim(shown[0])
        yield from shown[1:]
    for path, reason in pinned.ignored:
        yield from tell(f"rules.ignored_{reason}", path=path)
    for strong, weak in pinned.conflicts:
        yield from tell("rules.conflict", stronger=strong, weaker=weak)
    if seen.live and seen.live != pinned.fingerprint:
        yield from tell(f"{area}.differs", session=seen.session, live=seen.live[:12])
    if seen.other:
        yield from tell("rules.other", paint=dim, session=seen.other)
    yield from tell("rules.legend", paint=dim)


def _stacked(rows: Sequence[Sequence[str]], columns: int, dim: Callable[[str], str]) -> Iterator[str]:
    """A table in a narrow window: the name of a rule, and below it the rest."""
    (_, _, *heads), *rules = rows
    for rule, duty, *values in rules:
        yield clip(rule, columns)
        told = [duty, *(f"{head.lower()} {value}" for head, value in zip(heads, values, strict=True))]
        yield from (f"  {dim(row.strip())}" for row in wrap(" · ".join(told), columns - 3))


def _by(cli: Cli, by: str) -> str:
    """Whose word it was; a flag such as "--rules optional" stands for itself."""
    word = by.replace(" ", "_")
    return cli.say(f"rules.by_{word}") if word in ("start", "first_run", "classify", "refresh") else by


def _row(cli: Cli, seen: Seen, line: _Line) -> list[str]:
    return [
        line.rule,
        _duty(cli, line),
        _carried(cli, seen, line),
        f"{line.tokens:,}",
        _scope(cli, line),
        line.sha256[:12],
    ]


def _duty(cli: Cli, line: _Line) -> str:
    duty = cli.say(f"rules.duty_{line.duty}")
    if line.why:
        return duty + _in_brackets(cli, cli.say(f"rules.why_{line.why}"))
    if line.was:
        return duty + _in_brackets(cli, cli.say("rules.changed_was", duty=cli.say(f"rules.duty_{line.was}")))
    return duty if line.said else duty + _in_brackets(cli, cli.say("rules.unclassified"))


def _in_brackets(cli: Cli, text: str) -> str:
    return cli.say("labels.in_brackets", what=text)


def _carried(cli: Cli, seen: Seen, line: _Line) -> str:
    if line.carried is None:
        return "-"
    if not line.carried:
        return cli.say("rules.never" if line.duty == "excluded" else "rules.not_yet")
    return f"{line.carried}/{seen.requests}"


def _scope(cli: Cli, line: _Line) -> str:
    scope = ", ".join(line.paths) if line.paths else line.scope
    if line.paths and line.scope not in (".", "~"):
        scope = f"{line.scope}: {scope}"
    return scope + _in_brackets(cli, cli.say("rules.joins")) if line.joins else scope


def show_history(cli: Cli, *, session: str | None, as_json: bool, config: str | None, root: str | None) -> int:
    """Print what the operator said of the rules of this project, and the revisions of a session when one is named."""
    from gongfu.app.rule_view import revisions
    from gongfu.app.rules import words_of
    from gongfu.surfaces.cli.opening import with_app
    from gongfu.surfaces.cli.result import to_json

    def read(app: App) -> tuple[list[Word], list[tuple[float, RulesPinned]]]:
        return words_of(app), revisions(app, session) if session else []

    words, pins = with_app(cli, Opening(config=config or "", root=root), read)
    if as_json:
        fields = {
            "type": "rules_history",
            "words": [{name: getattr(w, name) for name in w.__struct_fields__} for w in words],
            "revisions": [
                {
                    "at": at, "revision": p.revision, "fingerprint": p.fingerprint, "by": p.by,
                    "sources": [{"path": s.path, "sha256": s.sha256} for s in p.sources],
                }
                for at, p in pins
            ],
        }  # fmt: skip
        cli.out.line(to_json(fields))
        return 0
    for word in words:
        name = f"{word.path}#{word.heading}" if word.heading else word.path
        duty = cli.say(f"rules.duty_{word.duty}")
        why = _in_brackets(cli, cli.say(f"rules.why_{word.why}")) if word.why else ""
        cli.out.line(
            f"{_when(word.at)}  {duty}{why}  {name}  {word.sha256[:12]}  {cli.out_style.dim(_by(cli, word.by))}"
        )
    for at, pinned in pins:
        cli.out.line(
            cli.say(
                "rules.revision", when=_when(at), revision=pinned.revision, fingerprint=pinned.fingerprint[:12],
                by=_by(cli, pinned.by), count=len(pinned.sources),
            )
        )  # fmt: skip
    if not words and not pins:
        cli.note(cli.say("rules.no_history"))
    return 0


def _when(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
