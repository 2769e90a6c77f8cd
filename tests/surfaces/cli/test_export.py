"""`gongfu export`: to a file by its suffix, to standard output, and never over a file unasked."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable

import pytest

from gongfu.models.scripted import Say
from gongfu.models.scripted.server import Server
from tests.surfaces.cli.conftest import Program

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@pytest.fixture
def talked(program: Program, serve: Callable[..., Server]) -> Program:
    """A program with one session."""
    serve(Say("**好的**。"))
    assert program.call("run", "说 <你好>").code == 0
    return program


def test_text_goes_to_standard_output_or_a_file_by_its_suffix(talked: Program) -> None:
    done = talked.call("export")
    assert done.code == 0
    assert done.out.startswith("# 说 <你好>")
    assert json.loads(talked.call("export", "--format", "json").out)["turns"][0]["ended"] == "done"
    done = talked.call("export", "-o", "out/talk.html")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("Wrote out/talk.html (")
    assert "<strong>好的</strong>" in (talked.folder / "out/talk.html").read_text()


def test_a_file_is_replaced_only_with_force(talked: Program) -> None:
    (talked.folder / "a.md").write_text("mine")
    done = talked.call("export", "-o", "a.md")
    assert (done.code, "exists already and was not touched" in done.err) == (1, True)
    assert (talked.folder / "a.md").read_text() == "mine"
    assert talked.call("export", "-o", "a.md", "--force").code == 0
    assert "好的" in (talked.folder / "a.md").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="no such file there")
def test_a_device_is_not_written_to(talked: Program) -> None:
    done = talked.call("export", "-o", os.devnull, "-f", "html", "--force")
    assert done.code == 1
    assert "could not be written" in done.err
    assert "Traceback" not in done.err


def test_pictures_of_another_export_are_left_alone(program: Program, serve: Callable[..., Server]) -> None:
    serve(Say("红色。"))
    (program.folder / "p.png").write_bytes(base64.b64decode(PIXEL))
    del program.env["GONGFU_CONTEXT_WINDOW"]
    for name, value in (("supports_images", "true"), ("window", "200000")):
        assert program.call("config", "set", f'model_settings."openai/test-model".{name}', value).code == 0
    assert program.call("run", "--image", "p.png", "这是什么").code == 0
    images = program.folder / "a-images"
    images.mkdir()
    (images / "1.png").write_bytes(b"mine")
    done = program.call("export", "-o", "a.md")
    assert (done.code, "exists already and was not touched" in done.err) == (1, True)
    assert (images / "1.png").read_bytes() == b"mine"
    assert not (program.folder / "a.md").exists()
    assert program.call("export", "-o", "a.md", "--force").code == 0
    assert (images / "1.png").read_bytes() != b"mine"


def test_what_cannot_be_exported_is_said(program: Program, talked: Program) -> None:
    assert "Nothing was written" in program.call("export", "-o", "a.txt").err
    assert program.call("export", "s_nothing").code == 1
    assert program.call("export", "-f", "docx").code == 2
    none = program.call("export", "-f", "pdf", PATH="")
    assert none.code in (0, 1)  # the package typst makes it without any program
    if none.code:
        assert "pip install 'gongfu[pdf]'" in none.err
    else:
        assert [p.suffix for p in program.folder.glob("*.pdf")] == [".pdf"]
