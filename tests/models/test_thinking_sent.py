"""What is said of the thinking that requests carry is what they carry."""

from __future__ import annotations

import pytest

from gongfu.core.messages import CallPart, Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo
from gongfu.models.anthropic_body import MessagesWriter
from gongfu.models.build import Endpoint, remote
from gongfu.models.chat_body import BodyWriter
from gongfu.models.protocol import Dialect, Request
from gongfu.models.quirks import quirks_for
from gongfu.models.responses_body import ResponsesWriter

WRITERS = {"openai_chat": BodyWriter, "openai_responses": ResponsesWriter, "anthropic": MessagesWriter}


@pytest.mark.parametrize("back", ["never", "tool_rounds", "always"])
@pytest.mark.parametrize(
    ("api", "url", "name"),
    [
        ("openai_chat", "https://x.example/v1", "some-model"),
        ("openai_chat", "https://api.deepseek.com/v1", "deepseek-chat"),
        ("openai_chat", "https://openrouter.ai/api/v1", "a/b"),
        ("openai_chat", "https://api.minimax.io/v1", "MiniMax-M2"),
        ("openai_responses", "https://api.openai.com/v1", "gpt-5"),
        ("anthropic", "https://api.anthropic.com", "claude-sonnet-4-5"),
        ("anthropic", "https://x.example/anthropic", "other"),
    ],
)
def test_what_is_said_is_what_is_sent(api: Dialect, url: str, name: str, back: str) -> None:
    info = ModelInfo(ref=f"p/{name}", provider="p", name=name, reasoning=True, reasoning_back=back)  # type: ignore[arg-type]
    provider = remote(Endpoint(provider="p", api=api, base_url=url, key="k"), info, {})
    quirks = quirks_for(url, name, api=api)
    messages: list[Message] = []
    for number in range(2):
        thought = ReasoningPart(text=f"thought-{number}", signature="sig", data=f"thought-{number}", model=info.ref)
        call = CallPart(id=f"c{number}", name="look")
        messages += [
            user("Go."),
            Message(role="assistant", parts=(thought, TextPart(text="I look."), call), model=info.ref),
            Message(role="tool", parts=(ResultPart(call_id=call.id, text="seen"),)),
        ]
    request = Request(model=name, system="You are.", messages=tuple(messages), max_output=1000)
    written = WRITERS[api](info, quirks).write(request)
    body = written.data.decode()
    seen = tuple(f"thought-{number}" in body for number in range(2))
    assert {"never": (False, False), "tool_rounds": (False, True), "always": (True, True)}[
        provider.info.reasoning_sent
    ] == seen
