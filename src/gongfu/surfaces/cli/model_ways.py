"""The ways to a model that a first set-up can go: what is here already, whether a choice works, writing it down."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from gongfu.config.load import Flags, load, settings_file
from gongfu.config.paths import Places, places
from gongfu.config.settings import Provider
from gongfu.core.base import Base
from gongfu.core.errors import ProviderFault, Unauthorized, Unreachable, UserError
from gongfu.models.keys import filed_keys, find_key, variables_of
from gongfu.models.known import CLOUD, SERVERS, Known, address_in, api_of, known, model_in
from gongfu.models.local.models import KNOWN, find_model
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.options import Opening

if TYPE_CHECKING:
    from gongfu.models.build import Endpoint

SECONDS = 15.0  # that a check may take
LOOK_SECONDS = 2.0  # that looking for local servers may take
_SERVED = 3  # models of a server that are offered by themselves
_OPEN_LISTS = ("openrouter",)  # they list their models to everybody: only a request shows whether the key is right
_TITLES = {
    "anthropic": "Claude (Anthropic)", "openai": "OpenAI", "deepseek": "DeepSeek", "dashscope": "Qwen (DashScope)",
    "moonshot": "Kimi (Moonshot)", "zhipu": "GLM (Zhipu)", "zai": "GLM (Z.ai)", "minimax": "MiniMax",
    "gemini": "Gemini (Google)", "mistral": "Mistral", "openrouter": "OpenRouter",
}  # fmt: skip
_CHINESE = {
    "dashscope": "通义千问 Qwen（阿里云百炼）", "moonshot": "Kimi（月之暗面）", "zhipu": "智谱 GLM",
    "zai": "智谱 GLM（Z.ai 国际版）", "deepseek": "DeepSeek（深度求索）", "minimax": "MiniMax（稀宇科技）",
}  # fmt: skip
_IN_CHINA = ("deepseek", "dashscope", "zhipu", "moonshot", "minimax")


class Way(Base, frozen=True):
    """One way to a model: `ref` for models.main, and a line that says what it is. `local`: it runs on this machine."""

    ref: str
    text: str
    local: bool = False


class Candidate(Base, frozen=True):
    """A model that may be taken, not yet written down: `provider` with its `key` or own address, and a model of it."""

    provider: str
    model: str = ""
    key: str = ""
    base_url: str = ""

    @property
    def ref(self) -> str:
        """As it stands in models.main."""
        return f"{self.provider}/{self.model}" if self.model else self.provider

    @property
    def place(self) -> str:
        """What it is called in a sentence."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else title_of(self.provider)

    def __repr__(self) -> str:
        return f"Candidate({self.ref!r})"


def needs_model(cli: Cli, opening: Opening) -> bool:
    """Whether nothing says which model works: no option, setting, variable, key, or embedded model. Cheap: nothing is
    asked of the network, so that a local server may still be there. Settings that are wrong count as said.
    """
    if opening.model:
        return False
    found = places(cli.env)
    try:
        settings = load(
            found, project=None, project_trusted=False, env=cli.env, flags=Flags(), name=opening.config
        ).settings
        filed = filed_keys(found)
    except UserError:
        return False
    if settings.models.main or settings.providers or filed:
        return False
    from gongfu.models.local.download import is_pulled  # where nothing was said yet

    named = any(address_in(cli.env, one) or any(cli.env.get(k, "").strip() for k in one.keys) for one in CLOUD)
    served = any(address_in(cli.env, one) for one in SERVERS)
    return not (named or served or any(is_pulled(found, model.name) for model in KNOWN))


def title_of(provider: str, language: str = "en") -> str:
    """A provider as people call it who speak that language."""
    chinese = _CHINESE.get(provider, "") if language == "zh" else ""
    return chinese or _TITLES.get(provider, provider)


def clouds(language: str) -> tuple[Known, ...]:
    """The providers that need a key; those of the country of a language first."""
    return tuple(sorted(CLOUD, key=lambda one: language == "zh" and one.name not in _IN_CHINA))


async def ways(cli: Cli, found: Places) -> list[Way]:
    """What is here already: keys, the models of local servers, the embedded model. At most two seconds."""
    from gongfu.models.detect import survey  # a conversation looks into this module each time it begins
    from gongfu.models.local.download import is_pulled

    say = cli.say
    there: list[Way] = []
    for provider in CLOUD:
        key = find_key(provider.name, None, cli.env, found, keyring=False)
        if key:
            ref = f"{provider.name}/{model_in(cli.env, provider)}"
            there.append(Way(ref=ref, text=say("setup.choice_key", ref=ref, place=key.place)))
    with anyio.move_on_after(LOOK_SECONDS):
        for server, listing in (await survey(cli.env)).items():
            there += [
                Way(ref=f"{server}/{name}", text=say("setup.choice_server", name=name, server=server), local=True)
                for name in listing.models[:_SERVED]
            ]
    if is_pulled(found):
        title = find_model("").title
        there.append(Way(ref="local", text=say("setup.choice_embedded", title=title), local=True))
    return there


def address_of(text: str) -> str:
    """The base URL that somebody means who types a host or an address. UserError for what is none."""
    text = text.strip().rstrip("/")
    if text and "://" not in text:
        host = text.partition("/")[0].rpartition(":")[0] or text.partition("/")[0]
        near = host in ("localhost", "[::1]") or host.replace(".", "").isdecimal()
        text = f"{'http' if near else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and not any(c.isspace() for c in text)
        _ = parts.port
    except ValueError:
        good = False
    if not good:
        raise UserError("setup.no_address", text=text)
    return text.removesuffix("/chat/completions").removesuffix("/models")


async def find_models(cli: Cli, found: Places, candidate: Candidate) -> tuple[Candidate, list[str]]:
    """The models that are to be had there, and the candidate, whose address may have lacked its `/v1`.

    UserError, a sentence for the person, when it cannot be reached or does not take the key. An endpoint that works
    but has no list gives [].
    """
    from gongfu.models.build import list_models  # once on a machine

    first: ProviderFault | None = None
    for one in _with_version(candidate):
        try:
            with anyio.fail_after(SECONDS):
                return one, await list_models(_endpoint(cli, found, one), cli.env)
        except TimeoutError:
            first = first or Unreachable(f"no answer within {SECONDS:g} s")
        except ProviderFault as fault:
            first = first or fault
        if isinstance(first, Unauthorized | Unreachable):
            break
    assert first is not None
    if isinstance(first, Unauthorized | Unreachable):
        raise _problem(candidate, first)
    return _with_version(candidate)[0], []


async def check(cli: Cli, found: Places, candidate: Candidate, listed: Iterable[str]) -> None:
    """UserError, a sentence for the person, when the model does not work. One that its provider lists to who has the
    key does; else it is asked a few words.
    """
    if candidate.model in listed and candidate.provider not in _OPEN_LISTS:
        return
    from gongfu.models.build import info_of, remote  # the same
    from gongfu.models.finding import Probe
    from gongfu.models.retry import RetryPolicy

    info = info_of(candidate.provider, candidate.model, found)
    provider = remote(_endpoint(cli, found, candidate), info, cli.env)
    try:
        with anyio.fail_after(2 * SECONDS):
            await Probe(provider, RetryPolicy(budget_seconds=0, max_attempts=1)).ask("Say OK.")
    except TimeoutError:
        raise _problem(candidate, Unreachable(f"no answer within {2 * SECONDS:g} s")) from None
    except ProviderFault as fault:
        raise _problem(candidate, fault) from fault
    finally:
        await provider.aclose()


def keep(found: Places, candidate: Candidate, config: str = "") -> None:
    """Write the choice down: the key into the key file (mode 0600), the rest into the settings; models.main last.
    UserError, with everything as it was, when that cannot be.
    """
    from gongfu.config import edit  # the same
    from gongfu.config.files import write_private
    from gongfu.surfaces.cli.keyfile import write_key

    name = f"providers.{candidate.provider}.base_url"
    keys = found.keys.read_bytes() if candidate.key and found.keys.exists() else None
    try:
        if candidate.key:
            write_key(found, candidate.provider, candidate.key)
        if candidate.base_url:
            edit.set_value(found, name, candidate.base_url, config=config)
        edit.set_value(found, "models.main", candidate.ref, config=config)
    except UserError:
        with suppress(UserError):
            if candidate.base_url:
                edit.unset_value(found, name, config=config)
        if keys is not None:
            write_private(found.keys, keys)
        elif candidate.key:
            found.keys.unlink(missing_ok=True)
        raise


def overriding(cli: Cli, provider: str) -> str:
    """The variable whose key goes before one in the key file; "" for none."""
    return next((name for name in variables_of(provider) if cli.env.get(name, "").strip()), "")


def able(listed: Iterable[str]) -> tuple[str, ...]:
    """The names among those listed that can chat, the likely choices first; all of them when none looks so."""
    from gongfu.models.detect import chat_models  # the same

    names = list(listed)
    return chat_models(names) or tuple(names)


def free_name(cli: Cli, found: Places, base_url: str, config: str = "") -> str:
    """The name under which an own address is written down: "custom", with a number where that is another one."""
    settings = load(found, project=None, project_trusted=False, env=cli.env, flags=Flags(), name=config).settings
    number, name = 1, "custom"
    while name in settings.providers and settings.providers[name].base_url != base_url:
        number += 1
        name = f"custom{number}"
    return name


def noted_language(found: Places, cli: Cli, config: str = "") -> str:
    """The language that the settings name; "" when they leave it open, or cannot be read."""
    try:
        settings = load(found, project=None, project_trusted=False, env=cli.env, flags=Flags(), name=config).settings
    except UserError:
        return ""
    return "" if settings.language == "auto" else settings.language


def tell_of_servers(cli: Cli, found: Places, config: str) -> None:
    """Say how the MCP servers of other agents are taken over, where they have some."""
    from gongfu.config.layer import parse_layer
    from gongfu.config.other_agents import find_servers

    layer = parse_layer(settings_file(found, config))
    there: dict[str, Any] = layer.data.get("mcp", {}).get("servers", {}) if layer else {}
    home = Path(cli.env.get("HOME") or cli.env.get("USERPROFILE") or "~").expanduser()
    count = sum(one.name not in there for one in find_servers(home))
    if count:
        cli.note(cli.say("mcp.import_hint", count=count))


def _with_version(candidate: Candidate) -> list[Candidate]:
    """The candidate, and where its address is a bare host the same with `/v1`, which is tried first."""
    if not candidate.base_url or urlsplit(candidate.base_url).path:
        return [candidate]
    from msgspec.structs import replace

    return [replace(candidate, base_url=f"{candidate.base_url}/v1"), candidate]


def _endpoint(cli: Cli, found: Places, candidate: Candidate) -> Endpoint:
    from gongfu.models.build import endpoint_of  # the same

    builtin = known(candidate.provider)
    given = None
    if candidate.key or candidate.base_url:
        usual = "" if builtin is None else address_in(cli.env, builtin) or builtin.base_url
        base_url = candidate.base_url or usual
        api = api_of(builtin, base_url) if builtin and not candidate.base_url else "openai_chat"
        given = Provider(api=api, base_url=base_url, api_key=candidate.key)
    return endpoint_of(candidate.provider, given, cli.env, found)


def _problem(candidate: Candidate, fault: ProviderFault) -> UserError:
    detail = " ".join((fault.detail or str(fault)).split())[:200].rstrip(".。")
    if candidate.key:
        detail = detail.replace(candidate.key, "…")
    match fault:
        case Unauthorized():
            return UserError("setup.first_key_refused", place=candidate.place, detail=detail)
        case Unreachable():
            return UserError("setup.first_unreachable", place=candidate.place, detail=detail)
        case _:
            return UserError("setup.first_said", place=candidate.place, detail=detail)
