"""A plain label in the person's language."""

from __future__ import annotations

import re

from gongfu.surfaces.cli.speech import Speech

_ENDS = "failed|refused|cancelled|interrupted"
_BRACKETS = rf"\((exit -?\d+|stopped|[\d,]+ of [\d,]+ done|(?:\d+ )?(?:{_ENDS})(?:, \d+ (?:{_ENDS}))*)\)$"
_COUNTS = r"(?: \+\d+ −\d+)?"
_FORMS = (
    (rf"(Read|Edit|Write|Create) (?:(?P<files>\d+) files|(?P<a_file>a file)|(?P<what>.+?))(?P<rest>{_COUNTS})", ""),
    (r"List the folder", "folder"),
    (r"List (?P<count>\d+) folders", "folders"),
    (r"List the jobs", "jobs"),
    (r"List (?P<what>.+)", "list"),
    (r"Find files by (?P<count>\d+) patterns", "find_many"),
    (r"Find (?P<what>.+)", "find"),
    (r"Search for (?P<count>\d+) patterns", "search_many"),
    (r"Search for (?P<what>.+)", "search"),
    (r"Run (?P<count>\d+) commands", "run_many"),
    (r"Run (?P<what>.+)", "run"),
    (r"Start (?P<what>.+)", "start"),
    (r"Look at job (?P<what>.+)", "job_look"),
    (r"Stop job (?P<what>.+)", "job_stop"),
    (r"Write to job (?P<what>.+)", "job_write"),
    (r"Look after (?P<count>\d+) jobs", "job_many"),
    (r"Update the todo list", "todo"),
    (r"Ask (?P<count>\d+) questions", "ask_many"),
    (r"Ask: (?P<what>.+)", "ask"),
    (r"Recall (?P<count>\d+) things", "recall_many"),
    (r"Recall (?P<what>.+)", "recall"),
    (r"Delegate (?P<count>\d+) tasks", "task_many"),
    (r"Delegate to (?P<agent>[^:]+): (?P<what>.+)", "task_to"),
    (r"Delegate: (?P<what>.+)", "task"),
)


def told(label: str, speech: Speech) -> str:
    """A plain label of the log as it is said in the person's language; one that is not known stays as it is."""
    if speech.language == "en":
        return label
    brackets = re.search(_BRACKETS, label)
    body = label[: brackets.start()].rstrip() if brackets else label
    said = _body(body, speech)
    if said is None:
        return label
    return said + (speech("labels.in_brackets", what=_ending(brackets[1], speech)) if brackets else "")


def _body(text: str, speech: Speech) -> str | None:
    for pattern, key in _FORMS:
        found = re.fullmatch(pattern, text)
        if found and key:
            return speech(f"labels.{key}", **found.groupdict())
        if found:
            what = found["what"] or (speech("labels.files", count=found["files"]) if found["files"] else "")
            what = what or speech("labels.a_file")
            return speech(f"labels.{found[1].lower()}", what=what) + found["rest"]
    return None


def _ending(text: str, speech: Speech) -> str:
    if found := re.fullmatch(r"exit (?P<code>-?\d+)", text):
        return speech("labels.exit", **found.groupdict())
    if found := re.fullmatch(r"(?P<part>[\d,]+) of (?P<whole>[\d,]+) done", text):
        return speech("labels.done_of", **found.groupdict())
    pieces = [piece.rpartition(" ") for piece in text.split(", ")]
    said = [(count, speech(f"labels.{word}")) for count, _, word in pieces]
    return speech("labels.joint").join(
        speech("labels.some", count=count, what=what) if count else what for count, what in said
    )
