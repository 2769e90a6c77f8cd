"""Checks an endpoint the way the agent will use it; each check costs a request or two."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from gongfu.core.errors import ProviderFault
from gongfu.models import checks
from gongfu.models.finding import PATIENCE, Finding, Probe, basics, findings_of, spent
from gongfu.models.protocol import ModelProvider
from gongfu.models.retry import RetryPolicy

__all__ = ["Finding", "probe"]


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
