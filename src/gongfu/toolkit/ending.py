"""What the model is told of how a command ended."""

from __future__ import annotations

import re

from gongfu.workspace.activity import LONGEST
from gongfu.workspace.process import Finished

# a text: `re` compiles and keeps it when it is first needed, not at import
_SERVING = (
    rb"listening (?:on|at)|serving (?:on|at|http)|server (?:is )?(?:running|started|listening|ready)"
    rb"|running (?:on|at) http|local: +http|watching for (?:file )?changes|development server at"
    rb"|press ctrl\+?-?c to (?:quit|stop)"
)


def ending(done: Finished, idle: float) -> str:
    """The note on how a command ended under an idle limit of `idle` seconds; "" for one that went well."""
    if done.why_ended == "exit":
        if done.signal:
            return f"exit code {done.code} (killed by signal {done.signal})"
        return f"exit code {done.code}" if done.code else ""
    if done.why_ended == "idle":
        what = f"stopped after {done.seconds:.3g} s: for {idle:g} s there was no output, no CPU, disk or network use"
    else:
        busy = f", busy with {', '.join(done.activity)}" if done.activity else ""
        what = f"stopped at its limit of {int(done.seconds * 10) / 10:g} s{busy}"
    return f"{what}. {_advice(done, idle)}"


def _advice(done: Finished, idle: float) -> str:
    if done.ports or re.search(_SERVING, done.output, re.IGNORECASE):
        on = f" (it listened on port {', '.join(map(str, done.ports))})" if done.ports else ""
        return f"This looks like a server{on}: start it with background=true."
    if done.why_ended == "idle":
        return "If it waits for input, give that in the command; if it only needs long, set timeout or background=true."
    return f"If it needs longer, set timeout to more than {max(done.seconds, idle * LONGEST):.0f}, or background=true."
