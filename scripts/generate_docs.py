#!/usr/bin/env python3
"""Writes the pages of docs/ that are made from the code; with --check only says which are out of date.

    python scripts/generate_docs.py [--check]

PAGES names each page and the function that gives its whole text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gongfu.config.docs import render_configuration
from gongfu.surfaces.cli.reference import render_cli
from gongfu.surfaces.cli.tools_reference import render_tools

ROOT = Path(__file__).resolve().parent.parent

PAGES: dict[str, Callable[[], str]] = {
    "docs/cli.md": partial(render_cli, "en"),
    "docs/zh/cli.md": partial(render_cli, "zh"),
    "docs/tools.md": partial(render_tools, "en"),
    "docs/zh/tools.md": partial(render_tools, "zh"),
    "docs/configuration.md": partial(render_configuration, "en"),
    "docs/zh/configuration.md": partial(render_configuration, "zh"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is out of date")
    check = parser.parse_args().check
    stale = 0
    for name, render in PAGES.items():
        path, text = ROOT / name, render()
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale += 1
        if check:
            print(f"{name} is out of date: run `make docs`")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
            print(f"wrote {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
