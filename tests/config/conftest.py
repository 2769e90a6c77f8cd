"""A home of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.config.paths import Places

SAMPLE = """\
# Settings of a person who likes comments.
language: auto                      # auto | en | zh
models:
  # the work
  main: [deepseek/deepseek-chat]    # a fallback chain
  fast: ["deepseek/deepseek-chat"]
  embedding: 'ollama/bge-m3'

providers:
  deepseek: {api: openai_chat, base_url: https://api.example/v1, api_key: ${DEEPSEEK_API_KEY}, quirks: deepseek}
  ollama:   {api: openai_chat, base_url: http://127.0.0.1:11434/v1, quirks: ollama}
model_settings:
  deepseek/deepseek-chat: {max_context_tokens: 0, max_output_tokens: 8192, temperature: 0.7}
permission: {mode: ask}
limits: {max_steps: 200, max_cost: null, extra_steps_on_continue: 50}
context:
  max_tool_output: 32768   # bytes
# the end
"""


@pytest.fixture
def home(tmp_path: Path) -> Places:
    """An empty home."""
    return Places(home=tmp_path / "home")


def write(path: Path, text: str) -> Path:
    """Write a file and the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path
