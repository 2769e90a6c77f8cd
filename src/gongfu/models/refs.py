"""What a written model means: which provider serves it, under what name, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import UsageError
from gongfu.models.known import CLOUD, Known, address_in, known, model_in, names

if TYPE_CHECKING:
    from gongfu.config.settings import ModelSettings, Settings
    from gongfu.core.specs import ModelInfo, Price

SCRIPTED = "scripted"
SCRIPT = "scripted:"
LOCAL = "local"


class Target(Base, frozen=True):
    """A model at a provider. `written` is what the person wrote; `model` is empty for the provider's own default."""

    provider: str
    model: str
    written: str = ""

    @property
    def ref(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}" if self.model else self.provider


def resolve(ref: str, settings: Settings, env: Mapping[str, str]) -> Target:
    """Read a reference. Raises UsageError with near names for a provider that nobody knows.

    provider/model   of a configured or known provider; the model may hold slashes
    provider         its default model
    model            of the one provider that is configured, or whose key or address is in the environment
    local[/name]     the embedded model
    scripted[:FILE]  plays a script, without a file the one of the demonstration
    """
    written = ref.strip()
    if written.startswith(SCRIPT):
        return Target(provider=SCRIPTED, model=written.removeprefix(SCRIPT), written=written)
    head, _, rest = written.partition("/")
    if head in settings.providers:
        return Target(provider=head, model=rest or default_model(head, env), written=written)
    if head == LOCAL or written == SCRIPTED:
        return Target(provider=head, model=rest, written=written)
    builtin = known(head)
    if builtin and rest and (only := _only_place(builtin, settings, env)):
        return Target(provider=only, model=written, written=written)
    if builtin:
        return Target(provider=head.lower(), model=rest or default_model(builtin.name, env), written=written)
    return _bare(written, settings, env)


def default_model(provider: str, env: Mapping[str, str]) -> str:
    """The model of a provider when none is named; "" when it has none."""
    builtin = known(provider)
    return model_in(env, builtin) if builtin else ""


def _present(env: Mapping[str, str], provider: Known) -> bool:
    return bool(address_in(env, provider)) or any(env.get(k, "").strip() for k in provider.keys)


def _only_place(named: Known, settings: Settings, env: Mapping[str, str]) -> str:
    """The only provider there is, when `named/model` can but be a name with a slash there (as OpenRouter has them)."""
    if named.port or _present(env, named) or settings.providers:
        return ""
    others = [k for k in CLOUD if address_in(env, k) or (k.name == "openrouter" and _present(env, k))]
    return others[0].name if len(others) == 1 else ""


def _bare(written: str, settings: Settings, env: Mapping[str, str]) -> Target:
    """A model without a provider."""
    head, slash, _ = written.partition("/")
    near = _near(head, [*settings.providers, *names()]) if slash else []
    candidates = [] if near else _candidates(settings, env)
    if len(candidates) > 1 and not slash:
        maker = _maker(written)
        candidates = [c for c in candidates if c == maker] or candidates
    if len(candidates) == 1:
        return Target(provider=candidates[0], model=written, written=written)
    if candidates:
        raise UsageError("router.which_provider", ref=written, example=f"{candidates[0]}/{written}")
    near = near or _near(head, [*settings.providers, *names(), LOCAL])
    if near:
        raise UsageError("router.unknown_near", name=head, ref=written, near=", ".join(near))
    raise UsageError("router.unknown_provider", ref=written, known=", ".join([*settings.providers, *names(), LOCAL]))


def _candidates(settings: Settings, env: Mapping[str, str]) -> list[str]:
    """Who may serve a bare name: the configured providers, else addresses in the environment, else keys there."""
    if settings.providers:
        return list(settings.providers)
    return [k.name for k in CLOUD if address_in(env, k)] or [k.name for k in CLOUD if _present(env, k)]


_MAKERS = (
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("deepseek", "deepseek"),
    ("qwen", "dashscope"),
    ("kimi", "moonshot"),
    ("moonshot", "moonshot"),
    ("glm", "zhipu"),
    ("minimax", "minimax"),
    ("abab", "minimax"),
    ("gemini", "gemini"),
    ("mistral", "mistral"),
    ("devstral", "mistral"),
    ("codestral", "mistral"),
)


def _maker(model: str) -> str:
    """Who makes the models of that name."""
    return next((provider for start, provider in _MAKERS if model.lower().startswith(start)), "")


def _near(name: str, among: list[str]) -> list[str]:
    from difflib import get_close_matches  # only for a mistake

    return get_close_matches(name.lower(), among, n=3, cutoff=0.7)


def settings_for(target: Target, known: Mapping[str, ModelSettings], other: str) -> ModelSettings | None:
    """The settings of a model, those of `other` when it has none. Where they stand under both of its spellings (a
    window that the environment names stands under the one that was written), what the written one says comes first.
    """
    written, full = known.get(target.written), known.get(target.ref)
    if written is None or full is None or written is full:
        return written or full or known.get(other)
    said = msgspec.structs.asdict(written)
    usual = msgspec.structs.asdict(type(written)())
    return msgspec.structs.replace(full, **{name: value for name, value in said.items() if value != usual[name]})


def merged(info: ModelInfo, given: ModelSettings | None, *, window: int = 0) -> ModelInfo:
    """What is known of a model with what the settings say of it; `window` counts when the settings name none."""
    changes: dict[str, object] = {}
    if given is not None:
        window = given.window or window
        changes = {
            "max_output": given.max_output_tokens or info.max_output,
            "images": info.images if given.supports_images is None else given.supports_images,
            "tools": info.tools if given.supports_tools is None else given.supports_tools,
            "small": info.small and not given.supports_tools,
            "price": _price(info.price, given),
        }
    return msgspec.structs.replace(info, window=window or info.window, **changes)


def _price(price: Price, given: ModelSettings) -> Price:
    wanted = {"input": given.input_price, "cached": given.cached_price, "output": given.output_price}
    return msgspec.structs.replace(price, **{k: v for k, v in wanted.items() if v is not None})
