"""What servers complain of, as data: the words, and how they want to be asked instead.

Patterns meet lower-case text made of the messages, codes and types of an error body. A comment names whose words
they are.
"""

from __future__ import annotations

from typing import Any

from gongfu.core.base import Base

_NO = r"(not|un)[ _-]?(supported|allowed|permitted|accepted|available|enabled|recogni[sz]ed|expected|known)"
_DOES_NOT = r"(does not|do not|doesn[^a-z]?t|don[^a-z]?t|cannot) support"


class Complaint(Base, frozen=True):
    """One kind of complaint. When one of `words` (patterns) is found, `table` changes of the quirks and `model` of what
    is known of the model; `about` says how it is then asked, behind "asking again".
    """

    words: tuple[str, ...]
    about: str
    table: dict[str, Any] = {}
    model: dict[str, Any] = {}


COMPLAINTS: tuple[Complaint, ...] = (
    Complaint(
        words=(
            r"requires --enable-auto-tool-choice",  # vLLM
            rf"{_DOES_NOT} (tool|function)",  # Ollama
            r"no endpoints found that support tool",  # OpenRouter
            rf"\b(tools?|tool[ _](use|calls?|calling)|functions?|function calling)['\"`]? (is |are )?{_NO}",
            rf"({_NO}|extra)\b.{{0,40}}['\"`]tools['\"`]",
        ),
        model={"tools": False},
        about="with the tools described in the prompt",
    ),
    Complaint(
        words=(
            rf"system (role|messages?|prompts?|instructions?) (is |are )?{_NO}",  # Gemma's template
            rf"{_DOES_NOT} (the )?['\"`]?system",
            r"developer instruction is not enabled",  # Gemini
            r"only user,? (and )?assistant roles",
        ),
        table={"system_role": "user"},
        about="with the system prompt as words of the user",
    ),
    Complaint(
        words=(
            r"(invalid|unknown|unexpected|unsupported)\b.{0,40}['\"`]developer['\"`]",
            rf"['\"`]developer['\"`].{{0,40}}{_NO}",
        ),
        table={"system_role": "system"},
        about="with the role system",
    ),
    Complaint(
        words=(
            r"(roles?|messages?) (must|should) alternate",  # templates of Mistral, Gemma and Llama 2
            r"alternate user/assistant",
            r"after the optional system message",
            r"consecutive (user|assistant|messages|roles)",
        ),
        table={"alternate": True},
        about="with user and assistant in turns",
    ),
    Complaint(
        words=(
            r"unexpected role ['\"`]?user['\"`]? after role ['\"`]?tool",  # Mistral
            r"(tool|function)[^.]{0,60}(must|should) be followed by[^.]{0,30}assistant",
        ),
        table={"result_then_assistant": True},
        about="with an answer between results and words of the user",
    ),
    Complaint(
        words=(r"tool[ _]call[ _]id.{0,120}length of 9", r"must be a-z, a-z, 0-9"),  # Mistral
        table={"ids": "nine"},
        about="with ids of nine characters",
    ),
    Complaint(
        words=(r"(tool[ _]call[ _]?ids?|tool_use_id|call_id|\.id\b).{0,120}(must match|not match|pattern|too long)",),
        table={"ids": "plain", "id_size": 40},
        about="with plain ids",
    ),
    Complaint(
        words=(
            r"(invalid|missing|bad).{0,30}signature",  # Anthropic, Gemini
            r"signature.{0,40}(invalid|required|verif)",
            r"invalid_encrypted_content",  # OpenAI
            r"encrypted[ _]content.{0,80}(could not|cannot|can't) be",
            rf"({_NO}|extra)\b.{{0,60}}reasoning_(content|details)",
            rf"reasoning_(content|details)['\"`]?.{{0,40}}({_NO}|extra)",
        ),
        table={"reasoning_back": "never", "reasoning_demanded": False, "call_signatures": False},
        model={"reasoning_back": "never"},
        about="without the thinking of earlier answers",
    ),
    Complaint(
        words=(
            r"reasoning_content.{0,120}(must be (passed|provided|returned|sent|included)|is required|missing)",  # Kimi
            r"missing.{0,30}reasoning_content",  # DeepSeek
        ),
        table={"reasoning_back": "always", "reasoning_demanded": True, "reasoning_field": "reasoning_content"},
        about="with the thinking of earlier answers",
    ),
    Complaint(
        words=(
            rf"(image_url|images?|image inputs?|vision|multi-?modal)['\"`]?\b.{{0,40}}{_NO}",
            rf"{_DOES_NOT} (image|vision|multi)",
            r"content.{0,40}must be a string",
        ),
        model={"images": False},
        about="without images",
    ),
    Complaint(
        words=(rf"stream(ing)?( mode)?['\"`]? (is |are )?{_NO}", rf"{_DOES_NOT} stream"),
        table={"stream": False},
        about="for the whole answer at once",
    ),
)

# An assistant message that only calls has no words; servers differ in how they want that written.
EMPTY_CONTENT: tuple[str, ...] = (
    r"content['\"`]?( field)? (is |are )?(required|missing|null|none|empty)",
    r"missing (field )?['\"`]?content",
    r"content['\"`]?.{0,40}(cannot|can't|can not|must not|should not|may not|must)( be)? (empty|null|none|non-?empty)",
    r"(non-?empty|empty|null) content",
    r"content.{0,60}(valid string|not nonetype|not null)",
    r"(invalid type|invalid value|expected).{0,40}content.{0,40}(null|string)",
)

# A field of the body that is named beside one of these is not taken.
NOT_TAKEN: tuple[str, ...] = (
    _NO,
    r"not[ _](support|compatible|a valid|valid)",
    r"extra (inputs|fields)|extra_forbidden|additional propert",
    r"invalid[ _](parameter|argument|field|key|request argument)",
    r"does not exist|deprecated|only the default|cannot be (used|set|specified)",
)
