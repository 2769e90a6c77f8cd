"""The log of faults: bounded, for its owner alone, and without secrets."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from gongfu.app.options import Options
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.errors import UserError
from gongfu.core.secrets import Redactor

LIMIT = 5_000_000
"""Bytes of the log from which it is put aside and begun anew; one that was put aside is kept."""


def write_fault(options: Options, details: str) -> Path:
    """Append the details of a fault to the log; where it is. A log that cannot be written makes nothing worse."""
    log = options.crash_log
    text = redactor(options.env, options.places, options.settings)(details)
    with suppress(OSError, UserError):
        options.places.ensure(options.places.logs)
        with suppress(FileNotFoundError):
            if log.stat().st_size > LIMIT:
                log.replace(log.with_suffix(".old.log"))
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8", errors="replace") as out:
            out.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')}\n{text}\n")
    return log


def redactor(env: Mapping[str, str], places: Places, settings: Settings | None = None) -> Redactor:
    """Takes secrets out of a text, those that Gongfu itself was given word for word. Never raises."""
    return Redactor(_known(env, places, settings))


def _known(env: Mapping[str, str], places: Places, settings: Settings | None) -> Iterator[str]:
    from gongfu.models.keys import all_variables, filed_keys
    from gongfu.workspace.environment import is_secret

    providers = all_variables()
    for name, value in env.items():
        if name in providers or (is_secret(name, value) and len(value) >= 8 and not Path(value).is_absolute()):
            yield value
    for provider in (settings.providers if settings else {}).values():
        yield provider.api_key
        yield from (
            value for name, value in provider.headers.items() if is_secret(name, value) or "auth" in name.lower()
        )
    with suppress(UserError, OSError):
        yield from filed_keys(places).values()
