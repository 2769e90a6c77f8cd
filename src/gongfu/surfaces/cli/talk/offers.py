"""The commands of a conversation with what they take, and the resources of servers, as a menu offers them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from anyio import to_thread
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.catalog import SLASHES, complete_of, slash_of, usage_of
from gongfu.surfaces.cli.talk.ranking import Ranker, fold

if TYPE_CHECKING:
    from gongfu.plugins.commands import Command
    from gongfu.plugins.mcp.hub import Hub
    from gongfu.surfaces.cli.talk.face import Option
    from gongfu.surfaces.cli.talk.talk import Talk

_FRESH: Final = 2.0  # seconds for which the files of commands are not looked at again
_ABOUT: Final = 120  # characters


class Offer(Base, frozen=True):
    """Something to choose: what is put in, how it is shown, more about it, and whether more has to follow it."""

    value: str
    label: str
    about: str = ""
    needs: bool = False


def best(offers: Sequence[Offer], typed: str, limit: int, *, labels: bool = False) -> list[Offer]:
    """Those that fit what is typed: first those that begin so, then by letters within. Equal ones keep their order.

    With `labels` how they are shown counts, too. Of what is typed in several words nothing but the beginning and the
    words as they are is looked for.
    """
    wanted = fold(typed)
    if not wanted:
        return list(offers[:limit])
    ranker = Ranker(wanted)
    ranked: list[tuple[int, int]] = []
    for number, offer in enumerate(offers):
        ranks = [_rank(ranker, fold(offer.value))]
        if labels and offer.label != offer.value:
            ranks.append(_rank(ranker, fold(offer.label)))
        if not wanted.isascii() and wanted in fold(offer.about):
            ranks.append(10)  # a word of Chinese is none of a name
        fits = [rank for rank in ranks if rank is not None]
        if fits:
            ranked.append((min(fits), number))
    return [offers[number] for _, number in sorted(ranked)[:limit]]


def _rank(ranker: Ranker, name: str) -> int | None:
    wanted = ranker.query
    if name.startswith(wanted):
        return 0 if name == wanted else 1
    if " " in wanted:
        return 7 if wanted in name else None
    return ranker.rank(name.replace(":", "-"))


class Offers:
    """What there is to choose; files are read and servers asked beside the keys. `news` is called when one told."""

    def __init__(self, talk: Talk, news: Callable[[], None]) -> None:
        self._talk = talk
        self._news = news
        self._files: tuple[Offer, ...] = ()
        self._commands: dict[str, Command] = {}
        self._read_at = float("-inf")

    def commands(self) -> list[Offer]:
        """The conversation's own commands (each other name of one, too), those from files, prompts of servers.

        The files are read again in the background when that is long ago.
        """
        ready = self._talk.ready.is_set()
        if ready and time.monotonic() - self._read_at > _FRESH:
            self._read_at = time.monotonic()
            self._talk.start(self._read_again)
        own = list(self._own())
        taken = {offer.value for offer in own}
        more = (*self._files, *(self._prompts() if ready else ()))
        return own + [offer for offer in more if offer.value not in taken]

    def _own(self) -> Iterator[Offer]:
        from gongfu.core.words.talk_help import TEXT

        for name, slash in SLASHES.items():
            about = self._talk.cli.say(f"talk_help.{name}") if name in TEXT else ""
            needs = bool(slash.usage) and not slash.usage.startswith("[")
            label = f"{name} {usage_of(slash, self._talk.cli.say)}".rstrip()
            yield Offer(value=name, label=label, about=about, needs=needs)
        for name, slash in SLASHES.items():
            about = self._talk.cli.say(f"talk_help.{name}") if name in TEXT else ""
            for alias in slash.aliases:
                yield Offer(value=alias, label=alias, about=f"/{name}: {about}" if about else f"/{name}")

    async def _read_again(self) -> None:
        before = self._files
        self._files, self._commands = await to_thread.run_sync(self._read, abandon_on_cancel=True)
        self._read_at = time.monotonic()
        if self._files != before:
            self._news()

    def _read(self) -> tuple[tuple[Offer, ...], dict[str, Command]]:
        """Each file by itself: one that is wrong says so and hides none of the others."""
        say = self._talk.cli.say
        files = self._talk.app.command_files
        offers: list[Offer] = []
        commands: dict[str, Command] = {}
        for name in files.found():
            try:
                command = commands[name] = files.get(name)
            except UserError as error:
                short = {**error.values, "file": Path(str(error.values.get("file", ""))).name}
                reason = one_line(say.told(error.key, short), _ABOUT)
                offers.append(Offer(value=name, label=name, about=say("talk_menu.wrong_file", reason=reason)))
                continue
            about = command.zh if say.language == "zh" and command.zh else command.description
            usage = one_line(command.usage.removeprefix("/"), 60)
            needs = any(argument.default is None for argument in command.arguments)
            offers.append(Offer(value=name, label=usage, about=one_line(about, _ABOUT), needs=needs))
        return tuple(offers), commands

    def _prompts(self) -> list[Offer]:
        return [_offer(option) for option in self._from_servers("prompts")]

    def _from_servers(self, what: Literal["prompts", "resources"]) -> Sequence[Option]:
        """What servers are known to have; they are asked again in the background when that is long ago."""
        hub = self._talk.app.hub
        if hub is None or not hub.started:
            return ()
        from gongfu.surfaces.cli.talk.commands.custom import prompts, resources  # only where there are servers

        if hub.offered.stale:
            self._talk.start(lambda: self._ask(hub))
        return (prompts if what == "prompts" else resources)(self._talk)

    async def _ask(self, hub: Hub) -> None:
        await hub.offered.refresh()
        self._news()

    # --- arguments ---

    async def arguments(self, name: str, args: str) -> list[Offer] | Offer | None:
        """What may stand at the end of `args`; or what is expected, where it cannot be listed; None for nothing."""
        if not self._talk.ready.is_set():
            return None
        known = slash_of(name)
        if known is None:
            if not self._commands:
                await self._read_again()
            command = self._commands.get(name.lower())
            return self._expected(command, args) if command is not None else None
        complete = await to_thread.run_sync(complete_of, *known)  # its code loads
        if complete is None:
            return None
        return [_offer(option) for option in complete(self._talk, args)]

    def _expected(self, command: Command, args: str) -> Offer | None:
        """The argument of a command from a file that is typed now."""
        if not command.arguments:
            hint = one_line(command.hint, 60)
            return Offer(value="", label=hint, about=self._talk.cli.say("talk_menu.expected")) if hint else None
        named = set(re.findall(r"(?:^|\s)([\w-]+)=", args))
        left = [argument for argument in command.arguments if argument.name not in named]
        words = [word for word in args.split() if "=" not in word]
        at = len(words) if args.endswith(" ") or not args else len(words) - 1
        if not left or at < 0:
            return None
        argument = left[min(at, len(left) - 1)]
        needed = argument.default is None
        about = one_line(argument.description, _ABOUT)
        if not needed and argument.default:
            default = self._talk.cli.say("talk_menu.default", value=one_line(argument.default, 40))
            about = f"{about} ({default})" if about else default
        label = f"<{argument.name}>" if needed else f"[{argument.name}]"
        return Offer(value="", label=label, about=about or self._talk.cli.say("talk_menu.expected"))

    # --- resources of servers ---

    def resources(self, typed: str) -> list[Offer]:
        """The servers with resources whose names begin so; behind a colon the resources of one that fit."""
        every = [_offer(option) for option in self._from_servers("resources")]
        every = [offer for offer in every if not re.search(r"[\s\"`<>]", offer.value)]
        name, colon, uri = typed.partition(":")
        if colon:
            of_one = [replace(o, value=o.value[len(name) + 1 :]) for o in every if o.value.startswith(f"{name}:")]
            return [replace(offer, value=f"{name}:{offer.value}") for offer in best(of_one, uri, len(of_one))]
        about = self._talk.cli.say("talk_menu.resources")
        servers = dict.fromkeys(offer.value.partition(":")[0] for offer in every)
        return [Offer(value=f"{s}:", label=f"{s}:", about=about) for s in servers if fold(s).startswith(fold(typed))]


def _offer(option: Option) -> Offer:
    label = one_line(option.label)
    return Offer(value=option.value, label=label, about=one_line(option.detail, _ABOUT), needs="<" in label)
