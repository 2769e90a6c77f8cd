"""From roles to providers: which model does what, made when it is first needed and kept while the router lives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import anyio

from gongfu.core.errors import UsageError, UserError
from gongfu.models.gate import FAST, MAIN, Gate, Gated
from gongfu.models.refs import LOCAL, SCRIPTED, Target, merged, resolve, settings_for

if TYPE_CHECKING:
    from gongfu.config.paths import Places
    from gongfu.config.settings import Settings
    from gongfu.core.specs import ModelInfo
    from gongfu.models.build import Endpoint
    from gongfu.models.detect import Found
    from gongfu.models.embeddings import Embedder
    from gongfu.models.local.guided import Files
    from gongfu.models.protocol import ModelProvider

Role: TypeAlias = Literal["main", "fast", "embedding"]
ANY_MODEL = "*"
"""The entry of `model_settings` for whichever model is found when none is named (see `config.load`)."""


class Router:
    """Chooses models for one configuration; several routers share nothing.

    `extra` holds ready providers by reference; they come before everything that settings say of the same reference,
    and the first of them is the main model when none is configured. `files` gives the small files of the workspace to
    models that are led step by step.
    """

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        places: Places,
        *,
        extra: Mapping[str, ModelProvider] = {},
        files: Files | None = None,
    ) -> None:
        self._settings = settings
        self._env = env
        self._places = places
        self._extra = dict(extra)
        self._files = files
        self._made: dict[tuple[str, Role], ModelProvider] = {}
        self._embedders: dict[str, Embedder] = {}
        self._gates: dict[str, Gate] = {}
        self._found: Found | None = None
        self._finding = anyio.Lock()

    async def chain(self, role: Role, override: str = "") -> tuple[ModelProvider, ...]:
        """The providers of a role, to be tried in order. `override` is one reference or several at commas.

        Without any the main model is detected, and there is no fast one: (). Raises UserError for a reference that
        means nothing, and when no member of the chain has a key; a member without one refuses when it is asked.
        """
        refs = self._refs(role, override)
        if not refs and role == "fast":
            return ()
        if not refs:
            found = await self.found()
            return (self._provider(Target(provider=found.provider, model=found.model), role, found),)
        providers: list[ModelProvider] = []
        problems: list[UserError] = []
        for ref in refs:
            try:
                providers.append(self._provider_of(ref, role))
            except UsageError:
                raise
            except UserError as problem:
                problems.append(problem)
                providers.append(self._absent(ref, problem))
        if len(problems) == len(refs):
            raise problems[0]
        return tuple(providers)

    def _refs(self, role: Role, override: str) -> list[str]:
        written = [r.strip() for r in override.split(",") if r.strip()]
        if written:
            return written
        models = self._settings.models
        configured = models.main if role == "main" else models.fast
        if configured:
            return list(configured)
        variable = "GONGFU_MODEL" if role == "main" else "GONGFU_FAST_MODEL"
        written = [r.strip() for r in self._env.get(variable, "").split(",") if r.strip()]
        return written or (list(self._extra)[:1] if role == "main" else [])

    def embedder(self, ref: str = "") -> Embedder | None:
        """What turns text into vectors: the model `ref`, or the configured one; None when none is configured.

        Made once a model. Raises UserError for one that means nothing, that has no key, or that makes no vectors.
        """
        written = ref or self._settings.models.embedding or self._env.get("GONGFU_EMBEDDING_MODEL", "").strip()
        if not written:
            return None
        made = self._embedders.get(written)
        if made is None:
            from gongfu.models import build  # loads what makes vectors, which a plain run does not need

            target = self.resolve(written)
            given = self._settings.providers.get(target.provider)
            endpoint = build.embedding_endpoint(target, given, self._env, self._places)
            made = build.embedder(endpoint, self._info(target, "embedding"), self._env)
            self._embedders[written] = made
        return made

    def makes_vectors(self, ref: str) -> bool:
        """Whether a reference means the configured embedding model."""
        configured = self._settings.models.embedding or self._env.get("GONGFU_EMBEDDING_MODEL", "").strip()
        if not ref or not configured or ref == configured:
            return bool(ref and configured)
        try:
            return self.resolve(ref).ref == self.resolve(configured).ref
        except UserError:
            return False

    async def found(self) -> Found:
        """The model that detection finds; looked for once. Raises UserError when there is none."""
        async with self._finding:
            if self._found is None:
                self._found = await self._configured() or await self._detect()
        return self._found

    async def _configured(self) -> Found | None:
        """The default model of the first configured provider that has one, or the only one that its server has."""
        if not self._settings.providers:
            return None
        from gongfu.models.detect import Found, ask_models  # only when no model is named

        for name, given in self._settings.providers.items():
            model = self.resolve(name).model
            if not model and given.api not in ("local", "scripted"):
                endpoint = self.endpoint(name)
                listing = await ask_models(endpoint.base_url, self._env, key=endpoint.key, patience=3.0)
                model = listing.only if listing else ""
                if not model:
                    continue
            return Found(provider=name, model=model, by=f"providers.{name}")
        raise UsageError("router.no_model", provider=next(iter(self._settings.providers)))

    async def _detect(self) -> Found:
        from gongfu.models.detect import detect  # only when nothing is configured

        return await detect(self._env, self._places)

    def resolve(self, ref: str) -> Target:
        """What a reference means. Raises UsageError for one that means nothing."""
        return resolve(ref, self._settings, self._env)

    def endpoint(self, provider: str) -> Endpoint:
        """Where a provider is, with its key. Raises UserError when something is missing."""
        from gongfu.models.build import endpoint_of

        return endpoint_of(provider, self._settings.providers.get(provider), self._env, self._places)

    def info(self, ref: str, role: Role = "main") -> ModelInfo:
        """What is known of a model, settings included. Raises UsageError for a reference that means nothing."""
        if ref in self._extra:
            return self._extra[ref].info
        return self._info(self.resolve(ref), role)

    def _provider_of(self, ref: str, role: Role) -> ModelProvider:
        if ref in self._extra:
            return self._extra[ref]
        return self._provider(self.resolve(ref), role)

    def _provider(self, target: Target, role: Role, found: Found | None = None) -> ModelProvider:
        made = self._made.get((target.ref, role))
        if made is None:
            made = self._made[target.ref, role] = self._make(target, role, found)
        return made

    def _make(self, target: Target, role: Role, found: Found | None) -> ModelProvider:
        from gongfu.models import build  # loads the one adapter that is needed

        given = self._settings.providers.get(target.provider)
        if given is not None and given.api == "scripted":
            if not given.script:
                raise UsageError("router.no_script", provider=target.provider)
            return build.scripted(Path(given.script), target.ref)
        if given is None and target.provider == SCRIPTED:
            return build.scripted(Path(target.model) if target.model else None, target.written)
        if target.provider == LOCAL or (given is not None and given.api == "local"):
            provider = build.local(target.model, self._places, self._env, self._files)
            return self._gated(provider, LOCAL, role)
        endpoint = build.endpoint_of(target.provider, given, self._env, self._places)
        if found is not None and found.base_url:
            endpoint = build.at(endpoint, found.base_url)
        info = self._info(target, role, window=found.window if found else 0)
        provider = build.remote(endpoint, info, self._env, self._files)
        return self._gated(provider, endpoint.base_url, role)

    def _gated(self, provider: ModelProvider, place: str, role: Role) -> ModelProvider:
        """Behind the queue of its endpoint, when that serves only so many requests at a time."""
        if not provider.info.slots:
            return provider
        gate = self._gates.setdefault(place, Gate(provider.info.slots))
        return Gated(provider, gate, MAIN if role == "main" else FAST)

    def _absent(self, ref: str, problem: UserError) -> ModelProvider:
        from gongfu.models.build import Keyless

        return Keyless(self._info(self.resolve(ref), "main"), str(problem))

    def _info(self, target: Target, role: Role, *, window: int = 0) -> ModelInfo:
        from gongfu.models import build

        provider = self._settings.providers.get(target.provider)
        if provider is None and target.provider == LOCAL:
            return build.info_of(LOCAL, target.model, self._places)
        if (target.provider if provider is None else provider.api) == SCRIPTED:
            return build.scripted_info(target.written)
        given = settings_for(target, self._settings.model_settings, ANY_MODEL)
        window = (self._window() if role == "main" else 0) or window
        return merged(build.info_of(target.provider, target.model, self._places), given, window=window)

    def _window(self) -> int:
        text = self._env.get("GONGFU_CONTEXT_WINDOW", "").strip()
        if not text:
            return 0
        try:
            window = int(text)
        except ValueError:
            window = 0
        if window <= 0:
            raise UsageError("router.bad_window", value=text)
        return window

    async def aclose(self) -> None:
        """Close every provider that was made or handed over. May be called more than once."""
        made, self._made = list(self._made.values()), {}
        embedders, self._embedders = list(self._embedders.values()), {}
        for provider in [*made, *embedders, *self._extra.values()]:
            await provider.aclose()
