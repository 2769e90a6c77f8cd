#!/usr/bin/env python3
"""What importing each room costs, beside the floor: an interpreter that imports nothing.

    python benchmarks/startup/imports.py [MODULE ...]

CPU milliseconds of the whole process (best of several), peak memory, modules loaded, and which of the heavy ones
are among them.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

ROUNDS = 7
ROOMS = (
    "",
    "msgspec",
    "anyio",
    "gongfu",
    "gongfu.core.events",
    "gongfu.config.load",
    "gongfu.config.edit",
    "gongfu.store.journal",
    "gongfu.workspace.process",
    "gongfu.models.router",
    "gongfu.engine.session",
    "gongfu.toolkit.shell",
    "gongfu.app",
    "gongfu.surfaces.cli.main",
)
HEAVY = (
    "fastapi", "pydantic", "mcp", "prompt_toolkit", "numpy", "rich", "ruamel", "charset_normalizer", "jsonschema",
    "json_repair", "httpx2", "email", "importlib.metadata", "inspect", "logging", "urllib.request",
    "tempfile", "shutil", "subprocess", "asyncio", "typing_extensions", "ssl",
)  # fmt: skip
CODE = """
import sys
{imports}
print(len(sys.modules), ",".join(m for m in {heavy!r} if m in sys.modules))
"""


def cost(module: str) -> tuple[float, float, str]:
    """(CPU milliseconds, peak megabytes, what was printed) of one process that imports `module`."""
    code = CODE.format(imports=f"import {module}" if module else "", heavy=HEAVY)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    printed, errors = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ImportError(errors.strip().splitlines()[-1])
    peak = used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1024)
    return (used.ru_utime + used.ru_stime) * 1e3, peak, printed.strip()


def main() -> int:
    print(f"best of {ROUNDS} processes each, load {os.getloadavg()[0]:.1f}")
    print(f"  {'import':28} {'CPU ms':>7} {'over floor':>10} {'MB':>6} modules  heavy")
    floor = 0.0
    failed = 0
    for module in sys.argv[1:] or ROOMS:
        try:
            found = [cost(module) for _ in range(ROUNDS)]
        except ImportError as error:
            print(f"  {module:28} cannot be imported: {error}")
            failed += 1
            continue
        best, peak, printed = min(found)
        floor = floor or best
        count, _, heavy = printed.partition(" ")
        print(f"  {module or '(floor: nothing)':28} {best:7.1f} {best - floor:10.1f} {peak:6.1f} {count:>7}  {heavy}")
    return 1 if failed else 0


if __name__ == "__main__":
    assert resource, "POSIX only"
    sys.exit(main())
