"""What a tool says in one line about its outcome, in the person's language."""

from __future__ import annotations

import re

from gongfu.surfaces.cli.speech import Speech

_COUNTED = {
    "line": "lines",
    "file": "files",
    "item": "items",
    "job": "jobs",
    "entry": "entries",
    "match": "matches",
    "place": "places",
}
_PHRASES = {
    r"exit (?P<code>\d+)": "sum_exit",
    r"(?P<part>[\d,]+) of (?P<whole>[\d,]+) done": "sum_done",
    r"(?P<part>[\d,]+) of (?P<whole>[\d,]+) files": "sum_part",
    r"(?P<count>[\d,]+) match(?:es)? in (?P<files>[\d,]+) files?": "sum_found",
    **{f"(?P<count>[\\d,]+) (?:{one}|{many})": f"sum_{many}" for one, many in _COUNTED.items()},
    r"no places": "sum_nothing",
    r"job (?P<job>\w+) (?P<state>running|ended|stopped)": "sum_job",
    r"(?:unchanged|notebook|stopped|no answer)": "sum_word",
}


def told(summary: str, speech: Speech) -> str:
    """The summary with its counts in words of the person's language; what is not known stays as it is."""
    if speech.language == "en":
        return singular(summary)
    pieces = [_piece(piece, speech) for piece in summary.split(", ")]
    return summary if None in pieces else speech("sum_joint").join(filter(None, pieces))


def singular(text: str) -> str:
    """English text with "1 lines" and the like put right."""
    known = {plural: one for one, plural in (*_COUNTED.items(), ("call", "calls"), ("request", "requests"))}
    return re.sub(rf"(?<![\d,.])1 ({'|'.join(known)})\b", lambda found: f"1 {known[found[1]]}", text)


def _piece(text: str, speech: Speech) -> str | None:
    for pattern, key in _PHRASES.items():
        found = re.fullmatch(pattern, text)
        if found and key == "sum_job":
            return speech(f"sum_job_{found['state']}", job=found["job"])
        if found:
            return speech(f"sum_{text.replace(' ', '_')}" if key == "sum_word" else key, **found.groupdict())
    return None
