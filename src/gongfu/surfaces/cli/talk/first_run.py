"""The first conversation on a machine: a language, then a way to a model that works, and straight on to the work."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from msgspec.structs import replace

from gongfu.config import edit
from gongfu.config.paths import Places, places
from gongfu.core.errors import UserError
from gongfu.models.local.models import find_model
from gongfu.surfaces.cli import model_ways as steps
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.model_ways import Candidate, Way, needs_model
from gongfu.surfaces.cli.speech import locale_of
from gongfu.surfaces.cli.style import Style, clean
from gongfu.surfaces.cli.talk.face import Face, Option, Pick
from gongfu.surfaces.cli.width import clip, wrap

__all__ = ["ask_language", "guide", "needs_model"]

_PASTE, _ADDRESS, _PULL, _TYPE = "+key", "+address", "+pull", "+type"
_REFRESH = 0.5  # seconds between two looks at a download
_QUIET = 15.0  # seconds between two lines of it where nothing is redrawn
_SLOW, _FAST = 1_000_000, 10_000_000  # bytes a second, for the two estimates


async def guide(face: Face, cli: Cli, config: str = "") -> bool:
    """Lead the person to a model that works, and write it down; False, with nothing written of it, when they turn away.

    Each step is left by Esc to the one before. What goes wrong is told, and the list of ways comes again.
    """
    return await _Guide(face, cli, config).run()


async def ask_language(face: Face, cli: Cli, config: str = "") -> None:
    """Ask for the language, speak it and write it down, where neither an option, the settings nor the locale say it."""
    told = cli.wanted_language or cli.env.get("GONGFU_LANGUAGE") or steps.noted_language(places(cli.env), cli, config)
    silent = locale_of(cli.env).partition(".")[0] in ("", "C", "POSIX")
    if told or not silent or not _can_show(cli, "语言"):
        return
    options = (Option(value="en", label="English"), Option(value="zh", label="简体中文"))
    picked = await face.pick(Pick(title="Language / 语言", options=options))
    if picked is None:
        return
    cli.speak("zh" if picked.value == "zh" else "en")
    try:
        edit.set_value(places(cli.env), "language", picked.value, config=config)
    except UserError as error:
        _complain(face, cli, error)


def _complain(face: Face, cli: Cli, error: UserError) -> None:
    rows = "\n  ".join(wrap(clean(cli.say.told(error.key, error.values)), face.size[0] - 3))
    face.show(f"{cli.out_style.red('✗')} {rows}")


class _Guide:
    def __init__(self, face: Face, cli: Cli, config: str) -> None:
        self._face = face
        self._cli = cli
        self._config = config
        self._found: Places = places(cli.env)

    @property
    def _style(self) -> Style:
        return self._cli.out_style

    async def run(self) -> bool:
        await ask_language(self._face, self._cli, self._config)
        say = self._cli.say
        self._face.show(f"\n{self._style.bold(say('setup.first_head'))}\n{self._style.dim(say('setup.first_intro'))}")
        while True:
            way = await self._way()
            if way is None:
                self._face.show(self._style.dim(say("setup.first_later")))
                return False
            try:
                ref = await self._go(way)
            except UserError as error:
                self._wrong(error)
                continue
            if ref:
                self._face.show(f"{self._style.green('✓')} {clean(say('setup.first_done', ref=ref))}")
                self._hint()
                return True

    def _hint(self) -> None:
        try:
            steps.tell_of_servers(self._cli, self._found, self._config)
        except UserError as error:  # the set-up stands all the same
            self._wrong(error)

    def _wrong(self, error: UserError) -> None:
        _complain(self._face, self._cli, error)

    async def _way(self) -> Way | None:
        """The way that the person chooses; None when they want none now."""
        say = self._cli.say
        there = await steps.ways(self._cli, self._found)
        options = [Option(value=way.ref, label=way.text) for way in there]
        options.append(Option(value=_PASTE, label=say("setup.first_paste"), detail=say("setup.first_paste_more")))
        options.append(Option(value=_ADDRESS, label=say("setup.first_address"), detail=say("setup.first_address_more")))
        if "local" not in [way.ref for way in there]:
            options.append(Option(value=_PULL, label=say("setup.first_pull"), detail=self._pull_detail()))
        lines = () if there else (self._style.dim(say("setup.first_nothing")),)
        picked = await self._face.pick(Pick(title=say("setup.init_which"), options=tuple(options), lines=lines))
        if picked is None:
            return None
        return next((way for way in there if way.ref == picked.value), Way(ref=picked.value, text=""))

    async def _go(self, way: Way) -> str:
        """The model that was written down; "" when the person went back. Raises UserError."""
        match way.ref:
            case "+key":
                return await self._paste()
            case "+address":
                return await self._address()
            case "+pull":
                return await self._pull()
            case _:
                provider, _, model = way.ref.partition("/")
                return await self._take(Candidate(provider=provider, model=model), local=way.local)

    async def _take(self, candidate: Candidate, *, local: bool = False, listed: Sequence[str] = ()) -> str:
        """Check what was chosen, then write it down. What runs here has just told its models itself."""
        if not local:
            if not listed:
                self._checking(candidate)
                candidate, listed = await steps.find_models(self._cli, self._found, candidate)
            if listed and candidate.model not in listed:
                chosen = await self._model(candidate, listed)
                if not chosen:
                    return ""
                candidate = replace(candidate, model=chosen)
            await steps.check(self._cli, self._found, candidate, listed)
        steps.keep(self._found, candidate, self._config)
        return candidate.ref

    def _checking(self, candidate: Candidate) -> None:
        self._face.show(self._style.dim(self._cli.say("setup.first_checking", place=clean(candidate.place))))

    # --- a key ---

    async def _paste(self) -> str:
        say = self._cli.say
        options = tuple(
            Option(value=one.name, label=steps.title_of(one.name, say.language), detail=one.model)
            for one in steps.clouds(say.language)
        )
        while True:
            picked = await self._face.pick(Pick(title=say("setup.first_provider"), options=options, search=True))
            if picked is None:
                return ""
            provider = next(one for one in steps.clouds(say.language) if one.name == picked.value)
            candidate = Candidate(provider=provider.name, model=provider.model)
            while (
                key := await self._face.ask(say("setup.first_key", provider=candidate.place), secret=True)
            ) is not None:
                if not key.strip():
                    break
                try:
                    ref = await self._take(replace(candidate, key="".join(key.split())))
                except UserError as error:
                    self._wrong(error)  # a key is easily cut short: it can be pasted again at once
                    continue
                if ref:
                    if variable := steps.overriding(self._cli, provider.name):
                        self._face.show(self._style.yellow(say("setup.first_variable", variable=variable)))
                    return ref

    async def _model(self, candidate: Candidate, listed: Sequence[str]) -> str:
        """One of the models that are to be had there; "" for none."""
        say = self._cli.say
        if len(listed) == 1:
            return listed[0]
        options = tuple(Option(value=name, label=clean(name)) for name in steps.able(listed))
        title = say("setup.first_model", place=clean(candidate.place))
        picked = await self._face.pick(Pick(title=title, options=options, search=True))
        return picked.value if picked is not None else ""

    # --- an own address ---

    async def _address(self) -> str:
        say = self._cli.say
        typed = ""
        while (line := await self._face.ask(say("setup.first_url"), default=typed)) is not None and line.strip():
            typed = line.strip()
            try:
                base_url = steps.address_of(typed)
            except UserError as error:
                self._wrong(error)
                continue
            name = steps.free_name(self._cli, self._found, base_url, self._config)
            key = await self._face.ask(say("setup.first_url_key"), secret=True)
            if key is None:
                continue
            try:
                ref = await self._own(Candidate(provider=name, base_url=base_url, key="".join(key.split())))
            except UserError as error:
                self._wrong(error)
                continue
            if ref:
                return ref
        return ""

    async def _own(self, candidate: Candidate) -> str:
        self._checking(candidate)
        candidate, listed = await steps.find_models(self._cli, self._found, candidate)
        if listed:
            return await self._take(candidate, listed=listed)
        model = await self._face.ask(self._cli.say("setup.first_name"))
        if not model or not model.strip():
            return ""
        candidate = replace(candidate, model=model.strip())
        await steps.check(self._cli, self._found, candidate, ())
        steps.keep(self._found, candidate, self._config)
        return candidate.ref

    # --- the embedded model ---

    def _pull_detail(self) -> str:
        from gongfu.models.local.download import estimate
        from gongfu.surfaces.cli.render.numbers import size

        left = estimate("", self._found)
        fast, slow = (math.ceil(left.seconds(rate) / 60) for rate in (_FAST, _SLOW))
        key = "setup.first_pull_rest" if left.have else "setup.first_pull_more"
        return self._cli.say(key, size=size(left.left), fast=fast, slow=slow)

    async def _pull(self) -> str:
        """Fetch it with its progress in sight; Esc stops, and what arrived stays for the next time."""
        from gongfu.models.local.download import Progress, pull
        from gongfu.surfaces.cli.model_pull import progress_text

        state: list[Progress] = []
        done: list[Path] = []
        wrong: list[UserError] = []

        def text() -> str:
            bar = progress_text(self._cli, state[-1], bar=self._face.drawn) if state else "…"
            return clip(clean(bar), self._face.size[0] - 2)

        async with anyio.create_task_group() as tasks:

            async def fetch() -> None:
                try:
                    done.append(await pull("", places=self._found, env=self._cli.env, yes=True, progress=state.append))
                except UserError as error:
                    wrong.append(error)
                finally:
                    tasks.cancel_scope.cancel()

            tasks.start_soon(fetch)
            await self._watch(text)
            tasks.cancel_scope.cancel()
        if wrong:
            raise wrong[0]
        if not done:
            self._face.show(self._style.dim(self._cli.say("setup.first_stopped")))
            return ""
        edit.set_value(self._found, "models.main", "local", config=self._config)
        return "local"

    async def _watch(self, text: Callable[[], str]) -> None:
        """Show how far it is, until it is over or the person wants it to stop."""
        title = self._cli.say("setup.first_pulling", title=find_model("").title)
        if not self._face.drawn:
            self._face.show(title)
            while True:
                await anyio.sleep(_QUIET)
                self._face.show(text())
        stop = Option(value="stop", label=self._cli.say("setup.first_stop"))
        while True:
            with anyio.move_on_after(_REFRESH) as scope:
                await self._face.pick(Pick(title=title, lines=(text(),), options=(stop,)))
            if not scope.cancelled_caught:
                return


def _can_show(cli: Cli, text: str) -> bool:
    try:
        text.encode(cli.out.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
