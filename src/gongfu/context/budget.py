"""How many tokens a request may have. Integer arithmetic only."""

from __future__ import annotations

from gongfu.core.base import Base
from gongfu.core.specs import ModelInfo

UNKNOWN_WINDOW = 32_768
DEFAULT_CAP = 200_000


class Budget(Base, frozen=True):
    """`total` is what the prompt may take, `output` what is reserved for the answer, both in tokens of `window`."""

    window: int
    output: int
    total: int


def budget_for(info: ModelInfo, *, cap: int | None = None, served: int = 0) -> Budget:
    """The budget of a model: B = window - reserved output - max(1024, 2% of the window).

    `cap` limits the window for money's sake (None: 200,000; 0: none). `served` is what a server was seen to serve
    really (0: nothing seen). An unknown window counts as 32k. The answer gets the model's limit, but at most a quarter
    of the window and at most 32,000. A `small` model is led by a provider that makes a short prompt of its own from the
    history: it is given as much as an unknown model.
    """
    if info.small:
        return Budget(window=UNKNOWN_WINDOW, output=info.max_output or 1024, total=UNKNOWN_WINDOW - 4096)
    window = info.window or UNKNOWN_WINDOW
    limit = DEFAULT_CAP if cap is None else cap
    if limit:
        window = min(window, limit)
    if served:
        window = min(window, served)
    output = min(info.max_output or 8192, window // 4, 32_000)
    margin = max(1024, window // 50) if window >= 8192 else window // 8
    return Budget(window=window, output=output, total=max(0, window - output - margin))


def tool_output_limit(budget: Budget, setting: int) -> int:
    """Bytes of one tool result that the model is shown: min(setting, 10% of the budget at four bytes a token)."""
    return max(1024, min(setting, budget.total * 4 // 10))
