"""A process that appends to a store until it is done or killed.

    appender.py STORE SESSION COUNT BATCH
    appender.py crowd STORE PROCESSES COUNT BATCH

A crowd starts at the same moment; every other process has a session of its own, the rest share one.
Prints the last sequence of each append once it has returned, so that the test knows what was promised.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gongfu.core.events import SessionTitled
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions


def main(store: str, session: str, count: str, batch: str) -> None:
    with Database.open(Path(store)) as db:
        journal = Journal(db)
        Sessions(db).create(session, directory="/d", root="/d", at=1.0)
        for number in range(int(count)):
            events = [SessionTitled(title=f"{os.getpid()} {number} {'x' * 300}")] * int(batch)
            seqs = journal.append(session, events, at=float(number))
            os.write(1, b"%d\n" % seqs[-1])


def crowd(store: str, processes: str, count: str, batch: str) -> None:
    ready, go = os.pipe()
    children: list[int] = []
    for number in range(int(processes)):
        child = os.fork()
        if not child:
            os.close(go)
            os.read(ready, 1)  # returns when the parent closes its end
            main(store, f"s_{number}" if number % 2 else "s_shared", count, batch)
            os._exit(0)
        children.append(child)
    os.close(go)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(f"exit codes {codes}" if any(codes) else 0)


if __name__ == "__main__":
    if sys.argv[1] == "crowd":
        crowd(*sys.argv[2:])
    main(*sys.argv[1:])
