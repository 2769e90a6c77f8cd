"""The settings as frozen types. Field docs are the source of `docs/configuration.md` and of the JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

PermissionMode: TypeAlias = Literal["ask", "edits", "plan", "auto", "full"]
SandboxKind: TypeAlias = Literal["auto", "bwrap", "landlock", "off"]
SandboxNetwork: TypeAlias = Literal["off", "list", "on"]
HookEvent: TypeAlias = Literal[
    "session_start", "prompt", "before_tool", "after_tool", "before_compact", "turn_end", "notification"
]
Api: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "local", "scripted"]
McpTransport: TypeAlias = Literal["auto", "stdio", "http", "sse"]
Reasoning: TypeAlias = Literal["auto", "off", "low", "medium", "high"]
AtLeast0: TypeAlias = Annotated[int, Meta(ge=0)]
AtLeast1: TypeAlias = Annotated[int, Meta(ge=1)]
Amount: TypeAlias = Annotated[float, Meta(ge=0)]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all settings; a key that is not known is an error."""


class Models(Section, frozen=True):
    """Which model serves which role. Each is a fallback chain of `provider/model`, tried in order."""

    main: Annotated[tuple[str, ...], Meta(description="The model that does the work.")] = ()
    fast: Annotated[tuple[str, ...], Meta(description="A quick, cheap model for titles, labels and summaries.")] = ()
    embedding: Annotated[str, Meta(description="A model that turns text into vectors.")] = ""


class Provider(Section, frozen=True):
    """One endpoint."""

    api: Annotated[Api, Meta(description="The dialect it speaks.")] = "openai_chat"
    base_url: Annotated[str, Meta(description="Its address, up to and including the version (`…/v1`).")] = ""
    api_key: Annotated[str, Meta(description="Its key, best as `${ENV_VAR}`.")] = ""
    quirks: Annotated[str, Meta(description="Name of its table of oddities; found by address when left out.")] = ""
    headers: Annotated[dict[str, str], Meta(description="Further HTTP headers.")] = {}
    ca_file: Annotated[str, Meta(description="A file of certificates to trust besides the system's.")] = ""
    proxy: Annotated[str, Meta(description="A proxy for this endpoint; else the usual variables are read.")] = ""
    script: Annotated[str, Meta(description="For `scripted`: the file with the script that is played.")] = ""


class ProjectProvider(Provider, frozen=True):
    """One that a project's settings name: no key of the person goes there."""


class ModelSettings(Section, frozen=True):
    """What is known or wanted of one `provider/model`; what is left out comes from the catalog."""

    window: Annotated[int, Meta(ge=0, description="Context window in tokens; 0 takes the catalog's.")] = 0
    max_context_tokens: Annotated[
        AtLeast0 | None, Meta(description="Cap on the window used, for money's sake; 0 uses the whole window.")
    ] = None
    max_output_tokens: Annotated[int, Meta(ge=0, description="Longest answer; 0 takes the catalog's.")] = 0
    temperature: Annotated[Amount | None, Meta(description="How freely it chooses words; its own default if none.")] = (
        None
    )
    top_p: Annotated[
        Amount | None, Meta(description="Share of likely words it chooses from; its own default if none.")
    ] = None
    reasoning: Annotated[Reasoning, Meta(description="How much it thinks before it answers.")] = "auto"
    supports_images: Annotated[bool | None, Meta(description="Whether it sees images; the catalog's if none.")] = None
    supports_tools: Annotated[
        bool | None, Meta(description="Whether it calls tools by itself; the catalog's if none.")
    ] = None
    input_price: Annotated[Amount | None, Meta(description="US dollars for a million prompt tokens.")] = None
    cached_price: Annotated[Amount | None, Meta(description="The same, read from the cache.")] = None
    output_price: Annotated[Amount | None, Meta(description="US dollars for a million generated tokens.")] = None


class Permission(Section, frozen=True):
    """What may run without asking. Rules: `TOOL`, `TOOL(PATTERN)`, `path(GLOB)`, `host(NAME)`, `command(PATTERN)`."""

    mode: Annotated[
        PermissionMode,
        Meta(
            description="`ask` before every change, `edits` allows edits in the workspace, `plan` only reads, `auto` "
            "allows what stays in the workspace and the sandbox, `full` allows all."
        ),
    ] = "ask"
    allow: Annotated[tuple[str, ...], Meta(description="What runs without asking.")] = ()
    ask: Annotated[tuple[str, ...], Meta(description="What is asked for in every mode.")] = ()
    deny: Annotated[tuple[str, ...], Meta(description="What never runs, whatever the mode.")] = ()


class Sandbox(Section, frozen=True):
    """Where commands run."""

    kind: Annotated[
        SandboxKind, Meta(description="`auto` takes `bwrap`, else `landlock`; `off` runs commands without a sandbox.")
    ] = "auto"
    required: Annotated[bool, Meta(description="Whether commands are refused where no sandbox can be had.")] = False
    network: Annotated[SandboxNetwork, Meta(description="What commands reach: nothing, the `hosts` below, or all.")] = (
        "off"
    )
    hosts: Annotated[tuple[str, ...], Meta(description="Hosts for `list`: names, `*.NAME`, with `:PORT` or not.")] = ()
    writable: Annotated[tuple[str, ...], Meta(description="Folders besides the workspace that may be written.")] = ()
    hidden: Annotated[tuple[str, ...], Meta(description="Further files and folders that commands do not see.")] = ()


class Hook(Section, frozen=True):
    """A command that runs at an event, with the event as JSON on its standard input."""

    event: Annotated[HookEvent, Meta(description="When it runs.")]
    command: Annotated[str | tuple[str, ...], Meta(description="The command: its words, or a line to cut into them.")]
    match: Annotated[
        str, Meta(description="What it is for (a tool, by its name): globs with bars between them; empty for all.")
    ] = ""
    seconds: Annotated[float, Meta(gt=0, le=600, description="How long it may take.")] = 60.0
    shell: Annotated[bool, Meta(description="Whether a shell runs the line.")] = False
    shape: Annotated[
        Literal["gongfu", "claude"],
        Meta(
            description="Whose JSON it reads and writes; with `claude`, `match` is a regular expression on its names."
        ),
    ] = "gongfu"


class ProjectHook(Hook, frozen=True):
    """One of a project's settings: it may only tighten."""


class Retention(Section, frozen=True):
    """How long things are kept."""

    days: Annotated[
        AtLeast1 | None, Meta(description="Sessions unused for so many days are deleted; none keeps all.")
    ] = None


class Limits(Section, frozen=True):
    """Where a turn and everything it starts must stop."""

    max_steps: Annotated[int, Meta(ge=1, description="Requests of the main model in one turn.")] = 200
    max_cost: Annotated[Amount | None, Meta(description="US dollars in one turn.")] = None
    max_minutes: Annotated[Amount | None, Meta(description="Minutes in one turn.")] = None
    max_tokens: Annotated[AtLeast1 | None, Meta(description="Prompt and generated tokens in one turn.")] = None
    extra_steps_on_continue: Annotated[int, Meta(ge=1, description="Further steps when a stopped turn goes on.")] = 50


class Context(Section, frozen=True):
    """How the context is built."""

    max_tool_output: Annotated[
        int, Meta(ge=1024, le=131072, description="Bytes of one tool result that the model is shown.")
    ] = 32768
    keep_recent: Annotated[
        int, Meta(ge=1, le=1000, description="Newest exchanges that a fold keeps before anything older.")
    ] = 10
    tool_use_summaries: Annotated[
        bool, Meta(description="Whether the fast model writes labels for batches of tool calls.")
    ] = True
    summaries_may_use_main: Annotated[
        bool, Meta(description="Whether the main model may write summaries when there is no fast one.")
    ] = True
    rules_share: Annotated[
        float, Meta(gt=0, le=0.8, description="Share of the budget that mandatory project rules may take.")
    ] = 0.4


class Shell(Section, frozen=True):
    """How commands run."""

    idle_seconds: Annotated[float, Meta(gt=0, description="A command that does nothing for so long is stopped.")] = 30.0
    keep_env: Annotated[
        tuple[str, ...], Meta(description="Variables that look like secrets and are passed to commands all the same.")
    ] = ()


class Tools(Section, frozen=True):
    """Which tools every request carries."""

    pin: Annotated[
        tuple[str, ...], Meta(description="Further tools that every request carries, by name; the others are found.")
    ] = ()


class Desktop(Section, frozen=True):
    """How the screen is used."""

    try_on: Annotated[
        Literal["auto", "private", "screen"],
        Meta(
            description="Where `try_gui` starts programs: on a `private` display that nobody sees (the program `Xvfb`),"
            " on your `screen`, or (`auto`) on a private one where that can be had."
        ),
    ] = "auto"
    ocr: Annotated[
        Literal["auto", "rapidocr", "tesseract"],
        Meta(description="What reads text in pictures; `auto` takes `rapidocr` where it is installed."),
    ] = "auto"


class Local(Section, frozen=True):
    """Where you are, and who is asked for the weather."""

    place: Annotated[str, Meta(description="Where you are: a place by its name, or `latitude, longitude`.")] = ""
    units: Annotated[Literal["metric", "imperial"], Meta(description="How the weather is measured.")] = "metric"
    weather_url: Annotated[str, Meta(description="A forecast service that answers as Open-Meteo does.")] = (
        "https://api.open-meteo.com/v1/forecast"
    )
    geocode_url: Annotated[str, Meta(description="A service that finds places by name, as Open-Meteo's does.")] = (
        "https://geocoding-api.open-meteo.com/v1/search"
    )
    whereabouts_url: Annotated[
        str, Meta(description="A service that tells by the network address where you are; none is asked if empty.")
    ] = ""


class Email(Section, frozen=True):
    """The account that `send_email` sends from."""

    host: Annotated[str, Meta(description="The mail server (SMTP); without one no mail is sent.")] = ""
    port: Annotated[int, Meta(ge=0, le=65535, description="Its port; 0 takes the usual one.")] = 0
    security: Annotated[Literal["starttls", "ssl", "none"], Meta(description="How the connection is kept private.")] = (
        "starttls"
    )
    user: Annotated[str, Meta(description="The name to log in with; none logs in with none.")] = ""
    password: Annotated[str, Meta(description="The password, best as `${ENV_VAR}`.")] = ""
    sender: Annotated[str, Meta(description="The address mail comes from; `user` if empty.")] = ""
    recipients: Annotated[
        tuple[str, ...], Meta(description="Who may get mail: addresses or `*@DOMAIN`; anybody if none.")
    ] = ()


class McpServer(Section, frozen=True):
    """A server of tools that speaks MCP: a program (`command`) or an address (`url`)."""

    command: Annotated[str, Meta(description="The program that is started.")] = ""
    args: Annotated[tuple[str, ...], Meta(description="Its arguments.")] = ()
    env: Annotated[
        dict[str, str], Meta(description="Variables for it, best as `${ENV_VAR}`; it gets no other secrets.")
    ] = {}
    cwd: Annotated[str, Meta(description="Where it starts; the workspace when left out.")] = ""
    url: Annotated[str, Meta(description="The address of a server that runs somewhere else.")] = ""
    headers: Annotated[dict[str, str], Meta(description="Further HTTP headers, best with `${ENV_VAR}`.")] = {}
    transport: Annotated[
        McpTransport, Meta(description="`stdio`, `http` (streamable) or `sse` (the old one); by itself what fits.")
    ] = "auto"
    timeout: Annotated[
        float, Meta(gt=0, le=86400, description="Seconds that a call may take; news of its progress begins them anew.")
    ] = 120.0
    disabled: Annotated[bool, Meta(description="Whether it is left alone.")] = False
    read_only: Annotated[
        tuple[str, ...], Meta(description="Its tools that only read (`*` for all): they run without asking.")
    ] = ()
    tools: Annotated[tuple[str, ...], Meta(description="The only tools that are taken (globs); all when empty.")] = ()
    exclude: Annotated[tuple[str, ...], Meta(description="Tools that are not taken (globs).")] = ()


class Mcp(Section, frozen=True):
    """Servers of further tools."""

    servers: Annotated[dict[str, McpServer], Meta(description="MCP servers by name.")] = {}


class WebEngine(Section, frozen=True):
    """One engine of web_search, by the name that `search` gives it."""

    kind: Annotated[str, Meta(description="What it speaks, when its name does not say that.")] = ""
    url: Annotated[str, Meta(description="Its address, when it is not the usual one; `searxng` has none.")] = ""
    api_key: Annotated[str, Meta(description="Its key, best as `${ENV_VAR}`.")] = ""


class Browser(Section, frozen=True):
    """The browser of the browser tools."""

    headless: Annotated[bool, Meta(description="Whether it works without a window.")] = True
    executable: Annotated[str, Meta(description="Its program; a Chrome, Chromium or Edge that is found if empty.")] = ""


class Web(Section, frozen=True):
    """How tools use the web. A project's settings change nothing here."""

    allow_hosts: Annotated[
        tuple[str, ...],
        Meta(
            description="What may be reached although it is not public: names, `*.NAME`, addresses and networks, with "
            "`:PORT` or not."
        ),
    ] = ()
    max_bytes: Annotated[int, Meta(ge=1024, le=1 << 30, description="Bytes that are read of one page or file.")] = (
        10_000_000
    )
    seconds: Annotated[float, Meta(gt=0, le=600, description="How long one fetch may take.")] = 60.0
    search: Annotated[
        tuple[str, ...],
        Meta(
            description="Engines of web_search, tried in order: `duckduckgo`, `bing`, `brave`, `searxng`, `tavily`, "
            "`serper`, `bocha`, or names of `engines`."
        ),
    ] = ("duckduckgo",)
    engines: Annotated[dict[str, WebEngine], Meta(description="Keys and addresses of engines, by name.")] = {}
    github: Annotated[str, Meta(description="The interface of GitHub, or of a GitHub Enterprise server.")] = (
        "https://api.github.com"
    )
    browser: Browser = Browser()


class Settings(Section, frozen=True):
    """All settings. Files: `~/.gongfu/config.yaml`, then the project's `.gongfu/config.yaml`."""

    language: Annotated[Literal["auto", "en", "zh"], Meta(description="Language of the screen.")] = "auto"
    models: Models = Models()
    providers: Annotated[dict[str, Provider], Meta(description="Endpoints by name.")] = {}
    model_settings: Annotated[
        dict[str, ModelSettings], Meta(description="By `provider/model`; `*` for a model that is found by itself.")
    ] = {}
    permission: Permission = Permission()
    limits: Limits = Limits()
    context: Context = Context()
    shell: Shell = Shell()
    tools: Tools = Tools()
    web: Web = Web()
    sandbox: Sandbox = Sandbox()
    mcp: Mcp = Mcp()
    hooks: Annotated[
        tuple[Hook, ...] | dict[str, Any],
        Meta(description="Commands that run at events; the shape of Claude Code too."),
    ] = ()
    retention: Retention = Retention()
    desktop: Desktop = Desktop()
    local: Local = Local()
    email: Email = Email()
