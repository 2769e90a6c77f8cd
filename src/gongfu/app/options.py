"""What the caller of `gongfu.open` may decide."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gongfu.app.trust import Trust
from gongfu.config.load import Notice
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.base import Base
from gongfu.core.duties import Policy
from gongfu.core.words import Language
from gongfu.engine.limits import LimitSpec
from gongfu.engine.pending import Answers
from gongfu.models.protocol import ModelProvider
from gongfu.permissions.policy import Mode
from gongfu.permissions.rules import Rules
from gongfu.workspace.root import Workspace


class Options(Base, frozen=True):
    """Everything that an App is made of, decided: files, environment and flags are merged already.

    `notices` are what the person should know of the settings; `providers` are ready models by reference. `rules` is the
    operator's word on all project rules for this run, `permissions` are the rules of the settings on what may run,
    `trust` is how the workspace stands. `work_mode` is the mode that sessions begin with ("": none).
    """

    settings: Settings
    places: Places
    workspace: Workspace
    env: Mapping[str, str]
    language: Language
    mode: Mode
    answers: Answers
    limits: LimitSpec
    notices: tuple[Notice, ...] = ()
    providers: Mapping[str, ModelProvider] = {}
    rules: Policy = ""
    permissions: Rules = Rules()
    trust: Trust = Trust()
    work_mode: str = ""

    @property
    def trusted(self) -> bool:
        """Whether what lies in the workspace takes effect: its settings, hooks, tools, servers, and those of git."""
        return self.trust.trusted

    @property
    def crash_log(self) -> Path:
        """Where the details of faults are written."""
        return self.places.logs / "faults.log"
