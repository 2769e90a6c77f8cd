"""What an agent is, as data: its words, its limits and how its models are asked."""

from __future__ import annotations

from msgspec.structs import replace

from gongfu.context.budget import Budget, budget_for
from gongfu.core.base import Base
from gongfu.core.specs import ModelInfo
from gongfu.engine.limits import LimitSpec
from gongfu.permissions.policy import Mode

ANY_MODEL = "*"


class Tuning(Base, frozen=True):
    """How one model is asked. `cap` limits the window used (None: the default cap, 0: none)."""

    cap: int | None = None
    max_output: int = 0
    temperature: float | None = None
    top_p: float | None = None
    reasoning: str = "auto"


class AgentSpec(Base, frozen=True):
    """`tunings` are by model reference, bare name or "*". `name` is a sub-agent's; what it writes carries it.

    `max_tool_output` is bytes; `retry_seconds` the time that faults may cost. `keep_recent` exchanges are kept first
    when the context is folded; mandatory rules may take `rules_share` of the budget. `reasoning`, `temperature` and
    `top_p` stand before what the tunings say.
    """

    system: str
    mode: Mode = "ask"
    limits: LimitSpec = LimitSpec()
    extra_steps_on_continue: int = 50
    max_tool_output: int = 32_768
    retry_seconds: float = 120.0
    keep_recent: int = 10
    rules_share: float = 0.4
    tunings: dict[str, Tuning] = {}
    name: str = ""
    reasoning: str = ""
    temperature: float | None = None
    top_p: float | None = None

    def budget(self, info: ModelInfo, *, served: int = 0, output: int = 0) -> Budget:
        """The budget of `info` as it is tuned.

        `served` are the tokens that its server was seen to serve (0: not seen), `output` those of the answer (0: as
        tuned).
        """
        tuning = self.tuning(info)
        limit = output or tuning.max_output
        known = replace(info, max_output=limit) if limit else info
        return budget_for(known, cap=tuning.cap, served=served)

    def tuning(self, info: ModelInfo) -> Tuning:
        """How `info` is asked: as its reference says, else its bare name, else what holds for any model."""
        known = (self.tunings.get(key) for key in (info.ref, info.name, ANY_MODEL))
        tuning = next((t for t in known if t is not None), Tuning())
        if not self.reasoning and self.temperature is None and self.top_p is None:
            return tuning
        return replace(
            tuning,
            reasoning=self.reasoning or tuning.reasoning,
            temperature=tuning.temperature if self.temperature is None else self.temperature,
            top_p=tuning.top_p if self.top_p is None else self.top_p,
        )
