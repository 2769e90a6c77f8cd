"""The base of all events."""

from __future__ import annotations

from typing import ClassVar

from gongfu.core.base import Base


class Event(Base, frozen=True, gc=False, tag_field="type"):
    """Base of all events. `durable` events get a sequence number and are stored before anyone sees them."""

    durable: ClassVar[bool] = True


class Live(Event, frozen=True):
    """Base of what is shown and not stored."""

    durable: ClassVar[bool] = False
