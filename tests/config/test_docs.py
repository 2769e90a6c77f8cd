"""The pages and the schema that are made from the types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from gongfu.config.docs import EXAMPLE, described, render_configuration
from gongfu.config.document import Document
from gongfu.config.layer import check_text
from gongfu.config.schema import json_schema
from gongfu.core.errors import ConfigError
from gongfu.core.words import say
from gongfu.core.words.settings import TEXT

from .conftest import SAMPLE
from .test_load import MISTAKES

ROOT = Path(__file__).resolve().parents[2]


def test_every_setting_is_described_in_both_languages() -> None:
    known = dict(described())
    assert set(TEXT) == set(known)
    assert {name: say(f"settings.{name}", "en") for name in TEXT} == known
    assert all(say(f"settings.{name}", "zh").strip() for name in TEXT)


def test_the_pages_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "scripts/generate_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_setting_is_on_the_pages() -> None:
    for language in ("en", "zh"):
        page = render_configuration(language)
        assert all(f"`{name}`" in page for name in TEXT)
        assert EXAMPLE in page


def test_the_example_of_the_pages_is_valid() -> None:
    check_text(EXAMPLE, "example")


@pytest.mark.parametrize("text", [EXAMPLE, SAMPLE, "", "limits: {max_steps: ${N}, max_cost: null}\nlanguage: ${L}\n"])
def test_the_schema_accepts_what_loads(text: str) -> None:
    jsonschema_rs.validate(json_schema(), Document(text, "f").data)


WRONG = [
    text for text, key, _, _ in MISTAKES if key in ("unknown_key", "unknown_key_none", "wrong_type") and "$" not in text
]


@pytest.mark.parametrize("text", [text for text in WRONG if "embedding: }" not in text and ".nan" not in text])
def test_the_schema_refuses_what_does_not(text: str) -> None:
    data: Any = Document(text, "f").data
    with pytest.raises(ConfigError):
        check_text(text, "f")
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(json_schema(), data)
