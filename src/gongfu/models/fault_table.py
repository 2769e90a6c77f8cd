"""How model endpoints word their errors, as data. Checked in order; the first pattern found decides.

A row is (kind, statuses it holds for (empty: any), pattern). Patterns meet lower-case text made of the messages,
codes and types of an error body, never of what it echoes of a request. A comment names whose words they are.
"""

from __future__ import annotations

RULES: tuple[tuple[str, tuple[int, ...], str], ...] = (
    # --- withheld for its content -------------------------------------------------------------------------------
    ("content_filter", (), r"content[_ ]?filter|content management policy|responsible ?ai ?policy"),  # Azure, Kimi
    (
        "content_filter",
        (),
        r"data_?inspection_?failed|inappropriate content|content exists risk",
    ),  # DashScope, DeepSeek
    ("content_filter", (), r"considered high risk|flagged (by|as|for)|violat\w+ (our|the) (usage|content) polic"),
    (
        "content_filter",
        (),
        r"blocked by (our )?(content|safety)|safety system|prohibited_content|moderation (flag|block)",
    ),
    ("content_filter", (), r"不安全或敏感|敏感内容|违规内容|input new_sensitive|output new_sensitive"),  # GLM, MiniMax
    # --- a wrong parameter that sounds like a long prompt -----------------------------------------------------------
    ("overflow", (), r"`inputs` tokens \+ `max_new_tokens` must be <="),  # TGI, Together: the sum, so the prompt
    ("overflow", (), r"input length and [`'\"]?max_tokens[`'\"]? exceed context limit"),  # Anthropic: the sum
    (
        "bad_request",
        (),
        (
            r"max_(completion_|output_|new_)?tokens['\"`]?( or ['\"`]?max_completion_tokens['\"`]?)?( value)?"
            r" (is )?(too (large|high|big|small)|out of range|must|should|cannot|can't)"
        ),  # OpenAI, vLLM
    ),
    ("bad_request", (), r"max_\w*tokens: \d+ > \d+|maximum allowed number of output tokens"),  # Anthropic
    ("bad_request", (), r"(invalid|range of) ['\"`]?max_\w*tokens|at most \d+ (completion|output) tokens"),  # DeepSeek
    ("bad_request", (), r"max_?(output)?_?tokens (has a )?value of \d+|budget_tokens"),  # Vertex, Anthropic
    # --- an order or a role that a template does not know ----------------------------------------------------------
    ("bad_request", (), r"jinja|chat[ _]template|roles must alternate|alternate user/assistant"),  # llama.cpp, vLLM
    # --- money and accounts ----------------------------------------------------------------------------------------
    ("refused", (429,), r"quota exceeded for metric.{0,200}\blimit: 0\b"),  # Gemini: a model outside the free tier
    (
        "throttled",
        (429,),
        r"resource_exhausted|quota exceeded for metric|resets_in_seconds|please retry in \d",
    ),  # Gemini
    ("refused", (), r"insufficient[_ ]?(user_)?(quota|balance|credit|fund)|no resource package|资源包"),  # OpenAI, GLM
    ("refused", (), r"exceeded[_ ](your[_ ])?current[_ ](token[_ ])?quota|credit balance|out of credits|more credits"),
    ("refused", (), r"billing_(hard_limit|not_active)|billing hard limit|payment required|arrearage|good standing"),
    ("refused", (), r"account (is |has been )?(not active|suspended|deactivated|overdue|locked)|is suspended"),  # Kimi
    ("refused", (), r"余额不足|欠费|请充值|please recharge|free tier of the model has been exhausted"),
    (
        "refused",
        (),
        r"usage limit (has been )?(reached|exceeded)|(monthly|weekly|spend(ing)?) (usage |spend )?(limit|cap)",
    ),
    (
        "refused",
        (),
        r"balance (is )?(insufficient|not enough|too low)|overdue balance|accountoverdue|key limit exceeded",
    ),
    ("refused", (), r"extra usage is required|api usage limits|(organization|account) has been disabled"),  # Anthropic
    # --- busy ------------------------------------------------------------------------------------------------------
    ("overloaded", (), r"overloaded|too busy|server[_ ]busy|maximum pending requests|loading model|high demand"),
    ("overloaded", (), r"capacity exceeded|(at|over|no|insufficient) capacity|temporarily (unavailable|overload)"),
    # --- too much in a span of time --------------------------------------------------------------------------------
    ("throttled", (), r"rate[_ -]?limit|rate_?quota|too many requests|per[_ -](minute|min|day|hour|second)\b"),
    ("throttled", (), r"\b[trqi]p[mds]\b|throttl|concurrency|too many concurrent|limit_requests|slow down"),
    ("throttled", (), r"too many tokens, please wait|速率限制|限流|频率|并发|流量过大|访问量过大"),
    # --- a prompt beyond the window --------------------------------------------------------------------------------
    (
        "overflow",
        (),
        r"context[_ ]?(length|window|size)[_ ]?exceed|exceed\w*_context|context_too_large",
    ),  # OpenAI, llama.cpp
    ("overflow", (), r"model_max_prompt_tokens_exceeded|tokens_limit_reached|request_too_large|prompt_too_long"),
    ("overflow", (), r"max(imum)? context (length|window|size)|maximum (model|prompt|input) length|max_seq_len"),
    (
        "overflow",
        (),
        (
            r"(exceed|larger than|longer than|greater than|overflow|beyond|reached)[^.]{0,80}"
            r"context[ _-]?(length|window|size|limit)"
        ),  # OpenAI Responses, Ollama, LM Studio, SGLang
    ),
    (
        "overflow",
        (),
        r"context[ _-]?(length|window|size|limit)[^.]{0,60}(exceed|overflow|too (long|large|small))",
    ),  # MiniMax
    ("overflow", (), r"context the overflows|tokens to keep from the initial prompt"),  # LM Studio
    ("overflow", (), r"prompt (is )?too (long|large)|prompt exceeds max|prompt contains \d+ tokens.{0,60}too large"),
    (
        "overflow",
        (),
        r"(prompt|input) token count.{0,60}(exceeds|only supports)|requested token count exceeds",
    ),  # Gemini, Copilot, SGLang
    ("overflow", (), r"range of input length should be|input (is|was) too (long|large)|input length.{0,60}exceed"),
    (
        "overflow",
        (),
        r"exceeded model token limit|token length exceed|total tokens.{0,60}exceed",
    ),  # Kimi, DashScope, Doubao
    ("overflow", (), r"length of prompt_tokens|`inputs` must have less than|too many tokens: total number"),
    (
        "overflow",
        (),
        r"reduce the length of (the|your) (messages|input|prompt)|too large for .{1,80}max size: \d+ tokens",
    ),
    (
        "overflow",
        (),
        r"\b(input|prompt|messages)( (messages|tokens|length|text|size))? exceeds? (the )?(max|limit|allowed|model)",
    ),
    ("overflow", (), r"too many (input|prompt) tokens|too many tokens in (the|your) prompt|max bytes to request body"),
    (
        "overflow",
        (),
        r"prompt ?超长|上下文.{0,12}超|输入.{0,12}(超长|超出|超过)|超.{0,6}最大.{0,8}(长度|上下文)",
    ),  # GLM
    # --- keys ------------------------------------------------------------------------------------------------------
    ("unauthorized", (), r"api[_ -]?key (is )?(not valid|invalid|expired|missing|required|incorrect)"),  # Gemini
    ("unauthorized", (), r"(invalid|incorrect|missing|wrong|expired|no|bad)[_ ](x-)?api[_ -]?key|api_key_invalid"),
    ("unauthorized", (), r"authentication[_ ](error|fail)|no auth credentials|invalid[_ ](authentication|bearer)"),
    ("unauthorized", (), r"not authenticated|unauthenticated|unauthorized"),  # FastAPI, gateways
    ("unauthorized", (), r"身份验证|api ?key.{0,6}(无效|错误|过期)|令牌"),
    # --- refused for good ------------------------------------------------------------------------------------------
    ("refused", (), r"model_not_found|model not exist|not (a )?valid model|(unknown|invalid|unsupported) model\b"),
    ("refused", (), r"\bmodel\b.{0,80}(does not exist|not found|is not available|not supported by this)|模型不存在"),
    ("refused", (), r"no endpoints found|no models loaded|not found the model|failed to load model"),
    ("refused", (), r"unsupported_country|location is not supported|not available in your (region|country)"),
    ("refused", (), r"requires more system memory|just a moment|attention required|cf-browser-verification"),
)

# Numbers that stand in for words: MiniMax (`base_resp`), GLM, Mistral, SiliconFlow.
CODES: dict[str, str] = {
    "1002": "throttled",
    "1004": "unauthorized",
    "1008": "refused",
    "1026": "content_filter",
    "1027": "content_filter",
    "1039": "throttled",
    "2013": "bad_request",
    "2049": "unauthorized",
    "2056": "refused",
    "1112": "refused",
    "1113": "refused",
    "1211": "refused",
    "1261": "overflow",
    "1301": "content_filter",
    "1302": "throttled",
    "1303": "throttled",
    "1305": "throttled",
    "1308": "refused",
    "1309": "refused",
    "1500": "refused",
    "3051": "overflow",
    "3505": "overloaded",
    "20012": "refused",
    "30001": "refused",
}

# What a status means when no words are known. Further 5xx are overloaded, further 4xx bad requests, 3xx refused.
STATUSES: dict[int, str] = {
    401: "unauthorized",
    402: "refused",
    403: "unauthorized",
    404: "refused",
    405: "refused",
    407: "refused",
    408: "overloaded",
    409: "overloaded",
    410: "refused",
    413: "overflow",
    425: "overloaded",
    429: "throttled",
    451: "refused",
    501: "bad_request",
}

# For these the status alone decides, except that a 401 may be about money.
SETTLED = (402, 404, 405, 410, 451)

# Types of errors inside a stream that say what a status would have said.
TYPES: dict[str, str] = {
    "authentication_error": "unauthorized",
    "permission_error": "unauthorized",
    "invalid_request_error": "bad_request",
    "bad_request_error": "bad_request",
    "badrequesterror": "bad_request",
    "invalid_prompt": "content_filter",
    "not_found_error": "refused",
    "notfounderror": "refused",
    "rate_limit_error": "throttled",
    "rate_limit_exceeded": "throttled",
    "overloaded_error": "overloaded",
    "api_error": "overloaded",
    "server_error": "overloaded",
}
