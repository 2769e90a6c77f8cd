#!/usr/bin/env python3
"""How well and how fast Gongfu's ranker finds, beside plain BM25 of SQLite and the keyword overlap that it replaces.

    python benchmarks/memory/retrieval.py                   # the four public sets, 10,000 and 100,000 documents
    python benchmarks/memory/retrieval.py --sizes 10000     # a shorter run
    python benchmarks/memory/retrieval.py --sets cosqa --sizes

The sets (development halves of LoCoMo, MemDaily and CoSQA) and the floors lie beside the checkout
(`../shared/bench/memory`) or where BENCH_MEMORY says. Nothing here uses an embedder.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from gongfu.retrieval.rank import Doc, Ranker, rank
from gongfu.store.database import Database
from gongfu.store.search import Item, SearchIndex

ROOT = Path(__file__).resolve().parents[2]
HARNESS = Path(os.environ.get("BENCH_MEMORY", ROOT.parent / "shared/bench/memory"))
KEYS = ("r@5", "r@10", "r@30", "mrr")
TARGETS: dict[str, dict[str, float]] = {
    "locomo_obs": {"r@5": 0.62, "r@30": 0.78},
    "locomo_turn": {"r@5": 0.50},
    "memdaily": {"r@10": 0.83, "r@30": 0.89},
    "cosqa": {"r@5": 0.61},
}
SEED: dict[str, dict[str, float]] = {
    "locomo_obs": {"r@5": 0.368, "r@30": 0.584},
    "locomo_turn": {"r@5": 0.125},
    "memdaily": {"r@10": 0.807, "r@30": 0.862},
    "cosqa": {"r@5": 0.410},
}
"""The algorithm of the 0.12 seed (overlap times recency and importance) on the held-out halves, as it was measured."""
SPEED = {10_000: 10, 100_000: 50}


class Retriever(Protocol):
    """What the harness measures."""

    def index(self, memories: Sequence[Mapping[str, Any]]) -> None: ...

    def search(self, query: str, k: int = 30, now: float | None = None) -> list[str]: ...


class Stored:
    """The lasting index of the store, without age."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="gongfu-bench-")
        self.db = Database.open(Path(self.folder.name) / "store.db")
        self.words = SearchIndex(self.db)

    def index(self, memories: Sequence[Mapping[str, Any]]) -> None:
        self.words.add_all("memory", [Item(id=str(m["id"]), text=str(m["text"]), at=m["ts"] or 0.0) for m in memories])

    def search(self, query: str, k: int = 30, now: float | None = None) -> list[str]:
        del now
        return [match.id for match in self.words.find("memory", query, limit=k, snippets=False)]


def harness() -> ModuleType:
    spec = importlib.util.spec_from_file_location("eval_memory", HARNESS / "eval_memory.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quality(bench: ModuleType, name: str) -> None:
    pools = list(bench.lines(name))
    bench.lines = lambda _: iter(pools)
    print(f"{name}, {sum(len(pool['memories']) for pool in pools)} texts")
    rows: dict[str, Mapping[str, float]] = {
        "gongfu, in memory": bench.retrieval(name, Ranker),
        "gongfu, in the store": bench.retrieval(name, Stored),
        "floor: BM25 of FTS5": bench.retrieval(name, bench.Bm25),
        "keyword overlap": bench.retrieval(name, bench.Seed),
        "seed 0.12 (held out)": SEED[name],
        "target (held out)": TARGETS[name],
    }
    for label, row in rows.items():
        figures = "  ".join(f"{key} {row[key]:.3f}" if key in row else " " * (len(key) + 6) for key in KEYS)
        speed = f"  {row['ms']:.2f} ms a query" if "ms" in row else ""
        print(f"  {label:24} {figures}{speed}")
    ours = rows["gongfu, in memory"]
    for key, target in TARGETS[name].items():
        print(f"  {key} {ours[key]:.3f}, target {target:.2f}: {'met' if ours[key] >= target else 'NOT MET'}")


def crowd(bench: ModuleType, size: int) -> tuple[list[str], list[str]]:
    """`size` different texts, half English, half Chinese: halves of the sets' texts put together; and questions."""
    rnd = random.Random(7)
    texts: list[str] = []
    questions: list[str] = []
    for name, gap in (("locomo_turn", " "), ("memdaily", "")):
        pools = list(bench.lines(name))
        known = [m["text"] for pool in pools for m in pool["memories"]]
        for _ in range(size // 2):
            one, other = (t.split() if gap else t for t in rnd.choices(known, k=2))
            texts.append(gap.join([*one[: len(one) // 2 + 1], *other[len(other) // 2 :]]))
        questions += rnd.sample([q["q"] for pool in pools for q in pool["questions"]], 150)
    rnd.shuffle(texts)
    return texts, questions


def timed(queries: Iterable[str], ask: Callable[[str], object]) -> str:
    wall: list[float] = []
    cpu: list[float] = []
    for query in queries:
        started, used = time.perf_counter(), time.process_time()
        ask(query)
        wall.append((time.perf_counter() - started) * 1e3)
        cpu.append((time.process_time() - used) * 1e3)
    wall.sort()
    cpu.sort()
    p50, p95 = len(wall) // 2, len(wall) * 95 // 100
    return f"p50 {wall[p50]:6.1f} ms  p95 {wall[p95]:6.1f} ms  (CPU p50 {cpu[p50]:.1f}, p95 {cpu[p95]:.1f})"


def speed(bench: ModuleType, size: int) -> None:
    texts, questions = crowd(bench, size)
    target = f", target p95 < {SPEED[size]} ms" if size in SPEED else ""
    print(f"{size:,} texts, {len(questions)} questions, the best 30 of each{target}; load {os.getloadavg()[0]:.1f}")
    memories = [{"id": str(n), "text": text, "ts": None} for n, text in enumerate(texts)]
    makers: list[tuple[str, Callable[[], Any]]] = [
        ("gongfu, in the store", Stored),
        ("gongfu, in memory", Ranker),
        ("floor: BM25 of FTS5", bench.Bm25),
    ]
    for label, make in makers:
        retriever: Retriever = make()
        started = time.process_time()
        retriever.index(memories)
        spent = (time.process_time() - started) / size * 1e6
        retriever.search(questions[0])
        print(f"  {label:24} {timed(questions, retriever.search)}  {spent:.0f} µs of CPU to index a text")
    pairs = [Doc(id=str(n), text=text) for n, text in enumerate(texts[:50])]
    print(f"  50 texts from nothing    {timed(questions, lambda query: rank(query, pairs))}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sets", nargs="*", default=list(TARGETS))
    options.add_argument("--sizes", nargs="*", type=int, default=list(SPEED))
    o = options.parse_args()
    if not (HARNESS / "eval_memory.py").is_file():
        print(f"Left out: the sets are not at {HARNESS}; name their folder in BENCH_MEMORY.")
        return
    for name in o.sets:
        quality(harness(), name)
    for size in o.sizes:
        speed(harness(), size)


if __name__ == "__main__":
    main()
