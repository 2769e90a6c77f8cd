"""How one model is asked, and what was learned of its server meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from gongfu.core.errors import BadRequest, ProviderFault, Refused

if TYPE_CHECKING:
    from gongfu.core.specs import ModelInfo
    from gongfu.models.quirks import Quirks

W = TypeVar("W")


class Learned(Generic[W]):
    """The writer of the bodies for one model: made anew when a complaint tells how its server wants to be asked.

    What was learned holds as long as the program runs. No way of asking is tried twice.
    """

    def __init__(self, info: ModelInfo, quirks: Quirks, make: Callable[[ModelInfo, Quirks], W]) -> None:
        self.info: ModelInfo = info
        self.quirks: Quirks = quirks
        self.writer = make(info, quirks)
        self._make = make
        self._tried = [(info, quirks)]

    def heed(self, fault: ProviderFault, body: bytes, writer: W) -> None:
        """Take in a complaint about `body`, which `writer` wrote; `fault.again` is set when asking again is of use."""
        if not isinstance(fault, BadRequest | Refused):
            return
        if writer is not self.writer:
            fault.again = True  # another request has learned meanwhile
            return
        from gongfu.models.adapt import adapted  # only when a server complains

        change = adapted(self.info, self.quirks, fault, body)
        if change is None or (change.info, change.quirks) in self._tried:
            return
        self.info, self.quirks = change.info, change.quirks
        self.writer = self._make(change.info, change.quirks)
        self._tried.append((change.info, change.quirks))
        fault.again = True
        fault.detail = f"{fault.detail.rstrip('.')} (asking again {change.about})"
