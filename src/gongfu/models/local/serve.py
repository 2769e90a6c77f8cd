"""The server's own process: `python -m gongfu.models.local.serve`. Started by `models.local.server`, never by hand.

Loads the model, listens on a free loopback port, writes its record and ends itself when nobody has asked for long.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from gongfu.models.local.models import WINDOW
from gongfu.models.local.record import KEY_VARIABLE, Record, remove_record, write_record

LOOK = 2.0  # seconds between two looks at the heartbeat


def threads() -> int:
    """Processors to compute with: those this process may use, at most eight, no second threads of one core."""
    import psutil  # only in the server's process

    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    cores = psutil.cpu_count(logical=False) or allowed
    return max(1, min(allowed, cores, 8))


def start(model: Path, name: str, key: str) -> tuple[Any, int]:
    """The running server and its port. Whatever goes wrong goes to the log and ends the process."""
    xllamacpp: Any = import_module("xllamacpp")  # 100 MB of native code without types: only in this process
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.ui = False
    params.fit_params = False
    params.cache_ram_mib = 0
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = threads()
        cpu.poll = 0
    server = xllamacpp.Server(params)
    return server, int(server.listening_address.rpartition(":")[2])


def is_working(port: int, key: str) -> bool:
    """Whether an answer is being written at this moment."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/slots", headers={"Authorization": f"Bearer {key}"})
        slots = json.loads(connection.getresponse().read())
        return any(slot.get("is_processing") for slot in slots)
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def beat_age(beat: Path) -> float:
    """Seconds since the last heartbeat."""
    with contextlib.suppress(OSError):
        return time.time() - beat.stat().st_mtime
    return float("inf")


def wait_until_idle(path: Path, record: Record, beat: Path, idle: float) -> None:
    """Return when nobody has asked for `idle` seconds; by then the record is gone, so nobody finds a dying server."""
    busy_at = time.time()
    while True:
        time.sleep(min(LOOK, idle / 4))
        if is_working(record.port, record.key):
            busy_at = time.time()
        if min(time.time() - busy_at, beat_age(beat)) < idle:
            continue
        remove_record(path, record.pid)
        if beat_age(beat) >= idle and not is_working(record.port, record.key):
            return
        write_record(path, record)  # somebody asked in the very moment


def main() -> None:
    """Serve until idle."""
    parser = argparse.ArgumentParser(prog="gongfu.models.local.serve")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--beat", type=Path, required=True)
    parser.add_argument("--idle", type=float, required=True)
    asked = parser.parse_args()
    key = os.environ.pop(KEY_VARIABLE)
    import psutil  # only in the server's process

    server, port = start(asked.model, asked.name, key)
    born = psutil.Process().create_time()
    record = Record(pid=os.getpid(), born=born, port=port, key=key, model=asked.name)
    write_record(asked.record, record)
    wait_until_idle(asked.record, record, asked.beat, asked.idle)
    del server
    os._exit(0)  # the native threads need no farewell


if __name__ == "__main__":
    main()
