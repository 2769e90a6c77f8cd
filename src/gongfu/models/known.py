"""The providers that need no settings: their addresses, variables and default models, in the order they are tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from gongfu.core.base import Base
from gongfu.models.protocol import Dialect


class Known(Base, frozen=True):
    """A provider by name.

    `keys` and `addresses` are environment variables, the first that is set counts. `port` is that of a local server,
    whose models are asked for (`model` is empty then). `aliases` are further names that people write.
    """

    name: str
    base_url: str
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    model: str = ""
    api: Dialect = "openai_chat"
    aliases: tuple[str, ...] = ()
    port: int = 0


CLOUD = (
    Known(
        name="anthropic",
        base_url="https://api.anthropic.com/v1",
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        addresses=("ANTHROPIC_BASE_URL",),
        model="claude-sonnet-5",
        api="anthropic",
        aliases=("claude",),
    ),
    Known(
        name="openai",
        base_url="https://api.openai.com/v1",
        keys=("OPENAI_API_KEY",),
        addresses=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        model="gpt-5.5",
        api="openai_responses",
    ),
    Known(
        name="deepseek",
        base_url="https://api.deepseek.com/v1",
        keys=("DEEPSEEK_API_KEY",),
        addresses=("DEEPSEEK_BASE_URL",),
        model="deepseek-v4-flash",
    ),
    Known(
        name="dashscope",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        keys=("DASHSCOPE_API_KEY",),
        addresses=("DASHSCOPE_BASE_URL",),
        model="qwen3-coder-plus",
        aliases=("qwen", "bailian", "aliyun"),
    ),
    Known(
        name="moonshot",
        base_url="https://api.moonshot.cn/v1",
        keys=("MOONSHOT_API_KEY", "KIMI_API_KEY"),
        addresses=("MOONSHOT_BASE_URL", "KIMI_BASE_URL"),
        model="kimi-k2.6",
        aliases=("kimi",),
    ),
    Known(
        name="zhipu",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        keys=("ZHIPUAI_API_KEY", "ZHIPU_API_KEY", "GLM_API_KEY"),
        addresses=("ZHIPUAI_BASE_URL", "ZHIPU_BASE_URL", "GLM_BASE_URL"),
        model="glm-5.1",
        aliases=("glm", "zhipuai", "bigmodel"),
    ),
    Known(
        name="zai",
        base_url="https://api.z.ai/api/paas/v4",
        keys=("ZAI_API_KEY",),
        addresses=("ZAI_BASE_URL",),
        model="glm-5.1",
        aliases=("z.ai",),
    ),
    Known(
        name="minimax",
        base_url="https://api.minimaxi.com/v1",
        keys=("MINIMAX_API_KEY",),
        addresses=("MINIMAX_BASE_URL",),
        model="MiniMax-M2.7",
    ),
    Known(
        name="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        addresses=("GEMINI_BASE_URL",),
        model="gemini-pro-latest",
        aliases=("google",),
    ),
    Known(
        name="mistral",
        base_url="https://api.mistral.ai/v1",
        keys=("MISTRAL_API_KEY",),
        addresses=("MISTRAL_BASE_URL",),
        model="devstral-latest",
    ),
    Known(
        name="openrouter",
        base_url="https://openrouter.ai/api/v1",
        keys=("OPENROUTER_API_KEY",),
        addresses=("OPENROUTER_BASE_URL",),
        model="anthropic/claude-sonnet-5",
    ),
)
"""Tried in this order when nothing is configured: the first whose key or address is in the environment."""

SERVERS = (
    Known(
        name="ollama",
        base_url="http://127.0.0.1:11434/v1",
        keys=("OLLAMA_API_KEY",),
        addresses=("OLLAMA_BASE_URL", "OLLAMA_HOST"),
        port=11434,
    ),
    Known(
        name="lmstudio",
        base_url="http://127.0.0.1:1234/v1",
        keys=("LM_STUDIO_API_KEY", "LM_API_TOKEN"),
        addresses=("LM_STUDIO_BASE_URL", "LMSTUDIO_BASE_URL"),
        aliases=("lm-studio", "lm_studio"),
        port=1234,
    ),
    Known(
        name="llamacpp",
        base_url="http://127.0.0.1:8080/v1",
        keys=("LLAMA_API_KEY",),
        addresses=("LLAMACPP_BASE_URL",),
        aliases=("llama.cpp", "llama-cpp", "llama_cpp"),
        port=8080,
    ),
    Known(
        name="vllm",
        base_url="http://127.0.0.1:8000/v1",
        keys=("VLLM_API_KEY",),
        addresses=("VLLM_BASE_URL",),
        port=8000,
    ),
)
"""Local servers, asked on loopback in this order of preference."""

_BY_NAME = {name: known for known in (*CLOUD, *SERVERS) for name in (known.name, *known.aliases)}


def known(name: str) -> Known | None:
    """The provider of a name or alias, in any case."""
    return _BY_NAME.get(name.lower())


def names() -> list[str]:
    """The names of all known providers, without aliases."""
    return [k.name for k in (*CLOUD, *SERVERS)]


def address_in(env: Mapping[str, str], provider: Known) -> str:
    """The base URL that the environment names for a provider, completed to hold the version; "" when it names none.

    Anthropic's variable has no version by convention, OPENAI_BASE_URL has; `OLLAMA_HOST` is often only host:port.
    """
    value = next((env[v].strip() for v in provider.addresses if env.get(v, "").strip()), "")
    if not value:
        return ""
    if "://" not in value:
        value = f"http://{value}"
    value = value.rstrip("/")
    if provider.name == "ollama":
        value = _ollama(value)
    if provider.api == "anthropic":
        return value if value.endswith("/v1") else f"{value}/v1"
    return value if urlsplit(value).path else f"{value}/v1"


def _ollama(value: str) -> str:
    """OLLAMA_HOST may leave the port out, and may be the address the server binds to."""
    scheme, _, rest = value.partition("://")
    host, slash, path = rest.partition("/")
    host = host.replace("0.0.0.0", "127.0.0.1", 1)  # noqa: S104 - the server's side of the variable
    if ":" not in host:
        host += ":11434"
    return f"{scheme}://{host}{slash}{path}"


def model_in(env: Mapping[str, str], provider: Known) -> str:
    """The model that the environment names for a provider (`OPENAI_MODEL` and the like), else its default."""
    word = provider.name.upper()
    return env.get(f"{word}_MODEL", "").strip() or provider.model


def api_of(provider: Known, base_url: str) -> Literal["openai_chat", "openai_responses", "anthropic"]:
    """The dialect to speak: what OpenAI alone has is not expected behind another address."""
    if provider.api == "anthropic":
        return "anthropic"
    if provider.api == "openai_responses" and urlsplit(base_url).hostname == "api.openai.com":
        return "openai_responses"
    return "openai_chat"
