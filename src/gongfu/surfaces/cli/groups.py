"""Errors that come in groups."""

from __future__ import annotations

from typing import cast

from gongfu.core.errors import ProviderFault, UserError


def root_of(error: BaseException) -> BaseException:
    """The error that matters in a group of them: what the person must act on, else the first."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [root_of(inner) for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions]
    ranked = (UserError, ProviderFault, KeyboardInterrupt, BrokenPipeError)
    return next((leaf for kind in ranked for leaf in leaves if isinstance(leaf, kind)), leaves[0])
