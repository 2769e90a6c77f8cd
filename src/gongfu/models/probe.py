"""Checks an endpoint the way the agent will use it; each check costs a request or two."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from gongfu.core.errors import ProviderFault
from gongfu.models import checks
from gongfu.models.finding import PATIENCE, Finding, Probe, basics, findings_of, spent
from gongfu.models.protocol import ModelProvider
from gongfu.models.retry import RetryPolicy

if TYPE_CHECKING:
    from gongfu.models.embeddings import Embedder

__all__ = ["Finding", "probe", "probe_vectors"]

_ALIKE = ("The cat sits on the mat.", "A cat is sitting on the mat.", "Interest rates of the bank rose last quarter.")


async def probe(
    provider: ModelProvider, *, deep: bool = False, sizes: Sequence[int] = (), patience: RetryPolicy = PATIENCE
) -> AsyncGenerator[Finding, None]:
    """Check everything that the agent needs, cheapest first; ends early when nothing can be asked.

    `sizes` are the prompt lengths in tokens that the window is tried with (default 3,000, 6,000 and 12,000 as far as
    the claimed window goes); `deep` adds half of the claimed window and the whole of it.
    """
    asked = Probe(provider, patience)
    try:
        heard = await asked.ask("Write the numbers from 1 to 40, separated by single spaces.")
    except ProviderFault as fault:
        for finding in findings_of(fault):
            yield finding
        return
    for finding in basics(heard):
        yield finding
    for check in (checks.tools, checks.structured, checks.images):
        if finding := await check(asked):
            yield finding
    if finding := await checks.window(asked, checks.sizes_for(asked.info.window, deep=deep, sizes=sizes)):
        yield finding
    yield spent(asked)


async def probe_vectors(embedder: Embedder, *, patience: RetryPolicy = PATIENCE) -> AsyncGenerator[Finding, None]:
    """Check a model that turns text into vectors: one request of three short texts."""
    from gongfu.models.embeddings import nearness  # only for such a model

    try:
        first, second, other = (await embedder.encode(_ALIKE, policy=patience)).vectors
    except ProviderFault as fault:
        for finding in findings_of(fault):
            yield finding
        return
    yield Finding(name="reachable", level="ok", key="reached")
    yield Finding(name="key", level="ok", key="accepted")
    near, far = nearness(first, second), nearness(first, other)
    sensible = near > far
    values = {"size": embedder.dimension, "near": f"{near:.2f}", "far": f"{far:.2f}"}
    yield Finding(
        name="vectors",
        level="ok" if sensible else "warn",
        key="vectors_ok" if sensible else "vectors_odd",
        values=values,
        todo="" if sensible else "do_vectors",
    )
    usage = embedder.usage
    counted = usage.input > 0
    yield Finding(
        name="usage",
        level="ok" if counted else "warn",
        key="counted_in" if counted else "uncounted",
        values={"input": usage.input},
        todo="" if counted else "do_count",
    )
