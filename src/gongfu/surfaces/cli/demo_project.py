"""The small repository of `gongfu demo`, and a look at what became of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from gongfu.workspace.process import Finished, run

FILES = {
    "basket.py": '''def total(prices):
    """The sum of all prices."""
    amount = 0
    for price in prices:
        amount -= price
    return amount


def average(prices):
    """The mean of all prices."""
    return total(prices) / len(prices)
''',
    "test_basket.py": """import unittest

from basket import average, total


class BasketTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([10, 20, 30]), 60)

    def test_average(self):
        self.assertEqual(average([10, 20, 30]), 20)
""",
    ".gitignore": "__pycache__/\n",
}

TASK = (
    "The tests in test_basket.py fail. Find the bug in basket.py and fix it so that `python3 -m unittest -q` passes."
    " Do not change the tests."
)

_BEFORE = 1_600_000_000.0
"""When the files were written, it seems: Python takes compiled code of the same second and size for fresh."""

_GIT = ("git", "-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "core.hooksPath=")


class DemoProject:
    """The repository in `folder`. Commands find the Python that runs Gongfu as `python3`."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.env = {**env, "PATH": os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", os.defpath)])}

    async def make(self) -> bool:
        """Write the files and commit them; False when there is no git (then there is no commit)."""
        for name, text in FILES.items():
            path = self.folder / name
            path.write_text(text, encoding="utf-8", newline="\n")
            os.utime(path, (_BEFORE, _BEFORE))
        try:
            for args in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "A basket")):
                await self._run([*_GIT, *args])
        except OSError:
            return False
        return True

    async def test(self) -> Finished:
        """Run its tests."""
        return await self._run([sys.executable, "-B", "-m", "unittest", "-q"])

    async def diff(self) -> str:
        """What has changed since the commit, as a unified diff made here."""
        from difflib import unified_diff

        parts: list[str] = []
        for name, before in FILES.items():
            path = self.folder / name
            after = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
            parts += unified_diff(old, new, f"a/{name}", f"b/{name}")
        return "".join(parts)

    def only_the_bug_was_touched(self) -> bool:
        """Whether the test is still as it was."""
        path = self.folder / "test_basket.py"
        return path.is_file() and path.read_text(encoding="utf-8", errors="replace") == FILES["test_basket.py"]

    async def _run(self, argv: list[str]) -> Finished:
        return await run(argv, cwd=self.folder, env=self.env, timeout=60.0)
