"""What keys and tokens look like: tables of texts, compiled by whoever looks.

A row is (kind, hints, pattern). The pattern is tried only where one of the hints stands in the text, and begins with a
literal wherever it can, so that a search is fast. What is secret is its first group, else all of it. Every repetition
that can be tried from many places has an upper bound: a search takes time linear in the text.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Row: TypeAlias = tuple[str, tuple[str, ...], str]

_END: Final = r"(?=…|\.\.\.|\Z)"
"""Where a text was cut: there a shorter rest of a token counts, too."""

_PREFIXES: Final[tuple[tuple[str, str, str, int], ...]] = (
    # kind, prefix, characters that follow, how many at least
    ("stripe key", "sk_live_", "A-Za-z0-9", 10),
    ("stripe key", "sk_test_", "A-Za-z0-9", 10),
    ("stripe key", "rk_live_", "A-Za-z0-9", 10),
    ("stripe key", "rk_test_", "A-Za-z0-9", 10),
    ("stripe secret", "whsec_", "A-Za-z0-9+/=", 16),
    ("github token", "ghp_", "A-Za-z0-9", 16),
    ("github token", "gho_", "A-Za-z0-9", 16),
    ("github token", "ghu_", "A-Za-z0-9", 16),
    ("github token", "ghs_", "A-Za-z0-9", 16),
    ("github token", "ghr_", "A-Za-z0-9", 16),
    ("github token", "github_pat_", "A-Za-z0-9_", 16),
    ("gitlab token", "glpat-", r"\w.\-", 16),
    ("gitlab token", "gldt-", r"\w.\-", 16),
    ("gitlab token", "glrt-", r"\w.\-", 16),
    ("gitlab token", "glcbt-", r"\w.\-", 16),
    ("gitlab token", "glptt-", r"\w.\-", 16),
    ("slack token", "xoxa-", r"\w\-", 10),
    ("slack token", "xoxb-", r"\w\-", 10),
    ("slack token", "xoxe-", r"\w\-", 10),
    ("slack token", "xoxe.", r"\w\-", 10),
    ("slack token", "xoxo-", r"\w\-", 10),
    ("slack token", "xoxp-", r"\w\-", 10),
    ("slack token", "xoxr-", r"\w\-", 10),
    ("slack token", "xoxs-", r"\w\-", 10),
    ("slack token", "xapp-", r"\w\-", 20),
    ("google key", "AIza", r"\w\-", 30),
    ("google token", "ya29.", r"\w\-", 20),
    ("google secret", "GOCSPX-", r"\w\-", 20),
    ("npm token", "npm_", "A-Za-z0-9", 20),
    ("pypi token", "pypi-AgE", r"\w\-", 20),
    ("rubygems key", "rubygems_", "a-f0-9", 40),
    ("docker token", "dckr_pat_", r"\w\-", 20),
    ("groq key", "gsk_", "A-Za-z0-9", 20),
    ("xai key", "xai-", "A-Za-z0-9", 20),
    ("perplexity key", "pplx-", "A-Za-z0-9", 30),
    ("nvidia key", "nvapi-", r"\w\-", 30),
    ("cerebras key", "csk-", "A-Za-z0-9", 20),
    ("together key", "tgp_v1_", r"\w\-", 30),
    ("new relic key", "NRAK-", "A-Z0-9", 20),
    ("sentry token", "sntrys_", r"\w=+/\-", 20),
    ("sentry token", "sntryu_", "a-f0-9", 20),
    ("age key", "AGE-SECRET-KEY-1", "A-Z0-9", 20),
    ("digitalocean token", "dop_v1_", "a-f0-9", 40),
    ("digitalocean token", "doo_v1_", "a-f0-9", 40),
    ("shopify token", "shpat_", "a-fA-F0-9", 30),
    ("shopify token", "shpss_", "a-fA-F0-9", 30),
    ("square token", "sq0atp-", r"\w\-", 20),
    ("square secret", "sq0csp-", r"\w\-", 20),
    ("linear key", "lin_api_", "A-Za-z0-9", 30),
    ("notion token", "ntn_", "A-Za-z0-9", 20),
    ("postman key", "PMAK-", r"a-f0-9\-", 30),
    ("figma token", "figd_", r"\w\-", 30),
    ("grafana token", "glsa_", "A-Za-z0-9_", 30),
    ("atlassian token", "ATATT3x", r"\w=\-", 30),
    ("tailscale key", "tskey-", r"\w\-", 20),
    ("vault token", "hvs.", r"\w\-", 24),
    ("vault token", "hvb.", r"\w\-", 24),
)  # fmt: skip

_SHORT: Final = frozenset({"xai-", "csk-", "gsk_", "ntn_", "npm_", "hvs.", "hvb.", "ya29.", "xapp-"})
"""Prefixes that other words end with or that are short: a token begins where a word begins, and no rest counts."""


def _prefixed(prefix: str, follows: str, least: int) -> str:
    from re import escape

    start = escape(prefix)
    if prefix in _SHORT:
        return rf"{start}(?<![A-Za-z0-9]{start})[{follows}]{{{least},}}"
    return rf"{start}(?:[{follows}]{{{least},}}|[{follows}]{{6,}}{_END})"


_DIGIT: Final = r"(?=[A-Za-z_\-]{0,80}[0-9])"

_LONG: Final = rf"(?:{_DIGIT}[\w\-]{{6,}}|[\w\-]{{30,}})"
_SK: Final = r"sk-(?<![A-Za-z0-9]sk-)"
_AWS: Final = r"A(?:KI|SI)A(?<![A-Za-z0-9]A(?:KI|SI)A)"
_CRYPT: Final = r"\$(?:apr1|[1567]|g?y)\$[./A-Za-z0-9=,]{1,40}\$[./A-Za-z0-9$]{16,}"

_OTHERS: Final[tuple[Row, ...]] = (
    # OpenAI, DeepSeek, DashScope, Moonshot and many more; with a digit, as words joined by hyphens have none
    ("anthropic key", ("sk-ant-",), rf"sk-ant-(?<![A-Za-z0-9]sk-ant-){_LONG}"),
    ("openai key", ("sk-proj-",), rf"sk-proj-(?<![A-Za-z0-9]sk-proj-){_LONG}"),
    ("openai key", ("sk-svcacct-",), rf"sk-svcacct-(?<![A-Za-z0-9]sk-svcacct-){_LONG}"),
    ("api key", ("sk-",), rf"{_SK}(?:{_DIGIT}[\w\-]{{16,}}|(?=[a-z0-9]{{0,30}}[0-9])[a-z0-9]{{10,}}{_END})"),
    ("hugging face token", ("hf_",), r"hf_(?<![A-Za-z0-9]hf_)(?:(?=[a-z]{0,60}[A-Z0-9])[A-Za-z0-9]{20,}|[a-z]{30,})"),
    ("replicate token", ("r8_",), r"r8_(?<![A-Za-z0-9]r8_)[A-Za-z0-9]{30,}"),
    # AWS: the id is no secret by itself, but what it unlocks is found with it
    ("aws key", ("AKIA", "ASIA"), rf"{_AWS}(?:[A-Z0-9]{{16}}(?![A-Za-z0-9])|[A-Z0-9]{{6,15}}{_END})"),
    ("azure key", ("AccountKey=", "SharedAccessKey="), r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/=%]{16,})"),
    ("azure signature", ("sig=",), r"sig=(?<=[?&;]sig=)([A-Za-z0-9%+/=_\-]{20,})"),
    ("google token", ("1//0",), r"1//0(?<![A-Za-z0-9]1//0)[\w\-]{30,}"),
    ("zhipu key", (".",), r"\.(?<=[0-9a-f]{32}\.)(?<![0-9A-Za-z][0-9a-f]{32}\.)([A-Za-z0-9]{16})(?![A-Za-z0-9])"),
    ("twilio key", ("SK",), r"SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("twilio token", ("AC",), r"AC(?<![A-Za-z0-9]AC)[0-9a-f]{32}[^A-Za-z0-9]{1,4}([0-9a-f]{32})(?![0-9A-Za-z])"),
    ("sendgrid key", ("SG.",), r"SG\.[\w\-]{16,100}\.[\w\-]{8,}"),
    ("mailgun key", ("key-",), r"key-(?<![A-Za-z0-9]key-)[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("databricks token", ("dapi",), r"dapi(?<![A-Za-z0-9]dapi)[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])"),
    ("telegram token", (":AA",), r":(?<=[0-9]{8}:)(AA[\w\-]{30,})"),
    ("discord token", (".",), r"\.(?<=[\w\-]{24}\.)([\w\-]{6}\.[\w\-]{27,})"),
    ("webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+\-]{8,})"),
    ("webhook", ("/api/webhooks/",), r"/api/webhooks/\d{5,25}/([\w\-]{16,})"),
    ("terraform token", (".atlasv1.",), r"\.atlasv1\.([\w\-]{20,})"),
    ("new relic key", ("NRAL",), r"NRAL(?<=[0-9a-f]{36}NRAL)(?![A-Za-z0-9])"),
    ("jwt", ("eyJ",), r"eyJ(?<![A-Za-z0-9_\-]eyJ)[\w\-]{8,2000}\.[\w\-]{6,}(?:\.[\w\-]*)?"),
    ("password hash", ("$2",), r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{20,53}"),
    ("password hash", ("$apr1$", "$1$", "$5$", "$6$", "$y$", "$7$", "$gy$"), _CRYPT),
    ("password hash", ("$argon2", "$scrypt$"), r"\$(?:argon2(?:id?|d)|scrypt)\$[^\s:\"']{20,}"),
    ("password hash", ("pbkdf2_",), r"pbkdf2_sha\d{1,3}\$\d{1,9}\$[^\s:\"']{20,}"),
    ("password hash", ("{SHA}", "{SSHA}"), r"\{S?SHA\}[A-Za-z0-9+/=]{20,}"),
)  # fmt: skip

TOKENS: Final[tuple[Row, ...]] = (
    *((kind, (prefix,), _prefixed(prefix, follows, least)) for kind, prefix, follows, least in _PREFIXES),
    *_OTHERS,
)
"""Known by their own looks, whatever stands around them."""

_SIGN: Final = r"\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
"""A colon or the like between a name and its value, in quotes or not."""

URLS: Final[tuple[Row, ...]] = (
    ("password", ("://",), r"://[^\s/:@\"'<>`\\]{0,200}:([^\s/\"'<>`\\]{1,500})@"),
    ("token", ("://",), r"://(?=[A-Za-z_\-]{0,80}[0-9])([\w\-]{20,200})@"),
)
"""Logins in an address."""

LABELLED: Final[tuple[Row, ...]] = (
    (
        "credentials",
        ("authorization",),
        (
            rf"authorization(?:{_SIGN}|[\"'],[ ]{{0,4}}[\"'](?=[a-z]{{1,20}}[ ]))(?![\w.]{{1,40}}[\[(])"
            r"(?:[a-z0-9\-]{1,30}[ \t]{1,4})?([^\s\"'\\,;()]{4,})"
        ),
    ),
    ("token", ("bearer ",), r"bearer[ \t]{1,4}(?=[a-z_\-./+]{0,80}[0-9])([\w\-.~+/=]{8,})"),
    (
        "credentials",
        ("basic ",),
        r"basic[ \t]{1,4}(?=[a-z0-9+/]{0,80}[0-9=])([a-z0-9+/]{12,}={0,2})(?![\w.])",
    ),
    (
        "cookie",
        ("cookie",),
        rf"cookie{_SIGN}[\w.\-]{{1,60}}=([^\s\"'\\;]{{3,}}(?:;[ \t]{{0,4}}[^\s\"'\\;]+)*)",
    ),
    (
        "auth",
        ('"auth', "_auth"),
        rf"auth(?<=[\"_]auth){_SIGN}(?=[a-z0-9+/]{{0,80}}[0-9=])([a-z0-9+/]{{8,}}={{0,2}})(?![\w./(\[\-])",
    ),
    (
        "password",
        ("password",),
        r"(?:machine[ \t]+\S{1,200}|(?<![^\n])default)\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S+)",
    ),
    (
        "secret",
        ("pass", "secret", "token", "apikey"),
        (
            r"<(?=[a-z0-9:_.\-]{0,40}(?:pass(?:word|wd|phrase)|secret|token|apikey))[a-z][\w:.\-]{0,60}"
            r"(?:[ \t][^<>\n]{0,100})?>([^<>\s]{1,500})</"
        ),
    ),
    (
        "password",
        ("password is ", "passphrase is ", "password was "),
        r"(?:password|passphrase) (?:is|was)[ \t:]{1,4}[\"'`]?(?=[^\s\d]{0,40}\d)([^\s\"'`,;]{5,})",
    ),
    (
        "password",
        ("密码", "口令", "令牌", "密钥", "秘钥", "私钥", "授权码"),
        r"(?:密码|口令|令牌|密钥|秘钥|私钥|授权码)[\"'”」]?[ \t]{0,4}(?:[:：=＝]|是|为)[ \t]{0,4}[\"'“「`]?([!-~]{4,})",
    ),
)
"""Known by what stands before them; sought in the text in lower case."""

COMMANDS: Final[tuple[Row, ...]] = (
    (
        "password",
        ("curl", "wget", "http"),
        r"(?:curl|wget|https?)\b[^\n]{0,300}?[ \t](?:-u|--user)[ =]?[\"']?[^\s:\"'/]{1,100}:([^\s\"']+)",
    ),
    (
        "password",
        ("mysql", "mariadb"),
        r"(?:mysql|mariadb)[\w\-]{0,20}[ \t](?:[^\n|;&]{0,200}?[ \t])??-p([^\s\-|;&][^\s|;&]*)",
    ),
    ("password", ("sshpass",), r"sshpass[ \t]{1,4}-p[ \t]{0,4}([^\s|;&]+)"),
    (
        "password",
        ("docker login", "podman login"),
        r"(?:docker|podman) login[^\n|;&]{0,200}?[ \t]-p[ \t=]{0,4}([^\s\-][^\s|;&]*)",
    ),
    ("password", ("redis-cli",), r"redis-cli[^\n|;&]{0,200}?[ \t]-a[ \t]{0,4}([^\s\-][^\s|;&]*)"),
    ("password", ("ldap",), r"ldap[a-z]{3,10}[^\n|;&]{0,200}?[ \t]-w[ \t]{0,4}([^\s\-][^\s|;&]*)"),
)
"""Options of programs."""

WARY: Final[tuple[Row, ...]] = (
    (
        "key",
        ("",),
        r"\b(?:sk|ak|pk|rk|gsk|xai|hf|ghp|gho|ghs|github_pat|glpat|nvapi|pplx|tp|fw|csk|key|tgp)[-_][A-Za-z0-9*._\-]{6,}",
    ),
    ("key", ("AIza",), r"\bAIza[A-Za-z0-9*_\-]{10,}"),
    ("key", ("eyJ",), r"\beyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){0,2}"),
    ("key", ("",), r"(?i)(?<=bearer )[A-Za-z0-9._\-*+/=]{6,}"),
    ("key", ("",), r"(?i)(?<=basic )[A-Za-z0-9+/=]{8,}"),
    ("key", ("=",), r"(?i)(?:(?<=api[_-]key=)|(?<=apikey=)|(?<=key=)|(?<=token=))[^\s&\"'\[]+"),
    ("key", ("",), r"\b(?=[A-Za-z0-9_\-]{0,2000}\d)(?=[A-Za-z0-9_\-]{0,2000}[A-Za-z])[A-Za-z0-9_\-]{40,}\b"),
)
"""What a server that was sent a key may quote of it: also shortened, with stars, or any long word of mixed letters."""
