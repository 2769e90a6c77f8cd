"""The operator's word on a rule: what it is bound to and what it says."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.told import Duty

Why: TypeAlias = Literal["", "superseded", "not_applicable", "withdrawn"]
Policy: TypeAlias = Literal["", "mandatory-root", "mandatory-all", "optional"]


class Word(Base, frozen=True, gc=False):
    """One word of the operator: `path` (and section `heading`; "" is the whole file) with exactly the text of `sha256`.

    `why` belongs to "excluded". `at` is seconds since 1970, `by` how it was given.
    """

    path: str
    heading: str
    sha256: str
    duty: Duty
    why: Why = ""
    at: float = 0.0
    by: str = ""
