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
_OTHERS = (
    ("call", "calls"), ("request", "requests"), ("error", "errors"), ("commit", "commits"), ("change", "changes"),
    ("use", "uses"), ("result", "results"), ("worktree", "worktrees"), ("tab", "tabs"), ("plan", "plans"),
    ("setting", "settings"), ("command", "commands"),
)  # fmt: skip
_PHRASES = {
    r"exit (?P<code>\d+)": "sum_exit",
    r"(?P<part>[\d,]+) of (?P<whole>[\d,]+) done": "sum_done",
    r"(?P<part>[\d,]+) of (?P<whole>[\d,]+) files": "sum_part",
    r"(?P<count>[\d,]+) match(?:es)? in (?P<files>[\d,]+) files?": "sum_found",
    **{f"(?P<count>[\\d,]+) (?:{one}|{many})": f"sum_{many}" for one, many in _COUNTED.items()},
    r"no places": "sum_nothing",
    r"job (?P<job>\w+) (?P<state>running|ended|stopped)": "sum_job",
    r"(?:unchanged|notebook|stopped|no answer)": "sum_word",
    r"created (?P<name>\S+); still on (?P<other>\S+)": "sums.created",
    r"renamed (?P<name>\S+) to (?P<new>\S+); on (?P<other>\S+)": "sums.renamed",
    r"on (?P<name>\S+)": "sums.on",
}
_STATES = ("clean", "formatted", "no difference", "no problems", "no tests ran", "Nothing changed.", "nothing found")


def told(summary: str, speech: Speech) -> str:
    """The summary with its counts in words of the person's language; what is not known stays as it is."""
    if speech.language == "en":
        return singular(summary)
    parts = summary.split(", ")
    pieces = [_piece(piece, speech) for piece in parts]
    names = [one is None and " " not in part for one, part in zip(pieces, parts, strict=True)]
    if all(one is None for one in pieces) or any(
        one is None and not name for one, name in zip(pieces, names, strict=True)
    ):
        return summary
    return speech("sum_joint").join(one or part for one, part in zip(pieces, parts, strict=True))


def singular(text: str) -> str:
    """English text with "1 lines" and the like put right."""
    known = {plural: one for one, plural in (*_COUNTED.items(), *_OTHERS)}
    return re.sub(rf"(?<![\d,.])1 ({'|'.join(known)})\b", lambda found: f"1 {known[found[1]]}", text)


def _piece(text: str, speech: Speech) -> str | None:
    for pattern, key in _PHRASES.items():
        found = re.fullmatch(pattern, text)
        if found and key == "sum_job":
            return speech(f"sum_job_{found['state']}", job=found["job"])
        if found:
            return speech(f"sum_{text.replace(' ', '_')}" if key == "sum_word" else key, **found.groupdict())
    return _of_shelf(text, speech)


def _of_shelf(text: str, speech: Speech) -> str | None:
    """The same for what tools on the shelf count."""
    from gongfu.core.words.sums import TEXT  # only where such a tool was called, and not in English

    if text in _STATES:
        return speech(f"sums.is_{text.lower().rstrip('.').replace(' ', '_')}")
    if (found := re.fullmatch(r"(.+) in ([\d,]+) files?", text)) is not None:
        first = _of_shelf(found[1], speech)
        return None if first is None else speech("sums.in_files", first=first, count=found[2])
    if (found := re.fullmatch(r"([\d,]+ \w+) in (\S+)", text)) is not None:
        first = _of_shelf(found[1], speech)
        return None if first is None else speech("sums.of", first=first, name=found[2])
    if (found := re.fullmatch(r"(added|updated|deleted) ([^,]+)", text)) is not None:
        return speech(f"sums.{found[1]}_one", name=found[2])
    if (found := re.fullmatch(r"([\d,]+) (\w+)", text)) is None:
        return None
    thing = next((t for t in (found[2], f"{found[2]}s", f"{found[2]}es") if t in TEXT and TEXT[t][0].endswith(t)), "")
    return speech(f"sums.{thing}", count=found[1]) if thing else None
