#!/usr/bin/env python3
"""What Gongfu itself costs, beside the least agent there can be (the floor), in one run.

    python benchmarks/agent/overhead.py                 # race, steps, size, start-up
    python benchmarks/agent/overhead.py --faults        # also every fault, the endless command and 5 MB of output

Gongfu is installed from a wheel with compiled bytecode into a fresh environment. The harness with the scripted model server
lies beside the checkout (`../shared/bench/agents`) or where BENCH_AGENTS says; it needs Linux, and root for a private network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HARNESS = Path(os.environ.get("BENCH_AGENTS", ROOT.parent / "shared/bench/agents"))
TARGETS = (
    "one-call task: CPU at most 4 x the floor's, first request within 0.3 s, peak memory at most 60 MB, first request at most "
    "3,000 tokens; at most 8 ms of CPU a step without growth over 100 steps; prefix reuse 1.000; base install at most 60 MB "
    "before bytecode and 50 distributions"
)


def run(*argv: str | Path, **kw: object) -> str:
    return subprocess.run([str(a) for a in argv], check=True, capture_output=True, text=True, **kw).stdout  # type: ignore[call-overload]


def install(place: Path) -> tuple[Path, float, int]:
    """A fresh environment with the wheel: the program, MB before bytecode, distributions."""
    venv = place / "gongfu/venv"
    run(sys.executable, "-m", "venv", venv)
    python = venv / "bin/python"
    wheels = place / "wheels"
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, ROOT)
    (wheel,) = wheels.glob("gongfu-*.whl")
    pinned = [line.split(" ")[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line]
    constraints = place / "constraints.txt"
    constraints.write_text("\n".join(pinned))
    run(python, "-m", "pip", "install", "-q", "--no-compile", "-c", constraints, wheel)
    run(python, "-m", "pip", "uninstall", "-q", "-y", "setuptools")
    site = next((venv / "lib").glob("python*/site-packages"))
    ours = [p for p in site.iterdir() if p.name != "__pycache__" and not p.name.lower().startswith("pip")]
    size = sum(
        f.stat().st_size
        for p in ours
        for f in ([p] if p.is_file() else p.rglob("*"))
        if f.is_file() and f.suffix != ".pyc"
    )
    run(python, "-m", "compileall", "-q", site)
    return venv / "bin/gongfu", size / 1e6, sum(p.suffix == ".dist-info" for p in ours)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--faults", action="store_true")
    options.add_argument("--repeat", type=int, default=7)
    o = options.parse_args()
    if not HARNESS.is_dir():
        print(f"Left out: the harness is not at {HARNESS}; name it in BENCH_AGENTS.")
        return
    with tempfile.TemporaryDirectory(prefix="gongfu-bench-") as folder:
        place = Path(folder)
        harness = place / "harness"
        shutil.copytree(HARNESS, harness, ignore=shutil.ignore_patterns("runs", "results", "peers"))
        program, size, distributions = install(place)
        env = {**os.environ, "GONGFU": str(program), "PEERS": str(place)}
        bench = [sys.executable, harness / "run_peers.py"]
        flags = [] if os.geteuid() == 0 and shutil.which("unshare") else ["--no-netns"]
        run(*bench, "floor", "gongfu", "--race", "--repeat", str(o.repeat), *flags, env=env)
        run(*bench, "gongfu", "floor", "--only", "steps", *flags, env=env)
        run(*bench, "gongfu", "--only", "startup", *flags, env=env)
        if o.faults:
            run(*bench, "gongfu", "--only", "faults", *flags, env=env)
            run(*bench, "gongfu", "--only", "faults", "--hang", *flags, env=env)
        print(run(*bench, "--table", env=env))
        report(harness / "results", size, distributions)


def report(results: Path, size: float, distributions: int) -> None:
    """The figures that have a target, one a line."""

    def read(name: str) -> dict:
        return json.loads((results / name).read_text())

    floor, ours, steps = read("floor.race.json"), read("gongfu.race.json"), read("gongfu.steps.json")
    per_step = (steps["100"]["cpu"] - steps["20"]["cpu"]) / 80 * 1000
    print(f"targets: {TARGETS}\n")
    print(
        f"CPU of a one-call task     {ours['cpu']:.3f} s = {ours['cpu'] / floor['cpu']:.2f} x the floor ({floor['cpu']:.3f} s)"
    )
    print(f"first request after        {ours['first_llm_s']:.3f} s (floor {floor['first_llm_s']:.3f} s)")
    print(f"peak memory                {ours['rss_mb']:.1f} MB (floor {floor['rss_mb']:.1f} MB)")
    print(f"first request              {steps['20']['tokens_first']} tokens")
    print(
        f"CPU a step                 {per_step:.1f} ms (gap first {steps['100']['step_ms_first']} ms, last {steps['100']['step_ms_last']} ms)"
    )
    print(f"prefix reuse               {steps['100']['reuse_mean']:.4f}, lowest {steps['100']['reuse_min']:.4f}")
    print(f"base install               {size:.1f} MB before bytecode, {distributions} distributions")


if __name__ == "__main__":
    main()
