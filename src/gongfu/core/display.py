"""What a tool shows the person, as plain data that every surface can draw.

A display is a dict with a `kind`:
- {"kind": "text", "text": str}
- {"kind": "diff", "path": str, "diff": str (unified), "added": int, "removed": int, "new": bool}
- {"kind": "command", "command": str, "cwd": str, "code": int | None, "output": str (bounded), "note": str}
- {"kind": "list", "items": [str], "total": int}
- {"kind": "todo", "items": [{"text": str, "status": str}]}
- {"kind": "image", "media_type": str, "artifact": str, "width": int, "height": int}
- {"kind": "refusal", "why": str (the name of a sentence), "about": str,
   "by": "policy" | "nobody" | "person" | "before", "said": str}
- {"kind": "agent", "agent": str, "session": str, "status": str, "text": str, "calls": int, "requests": int,
   "tokens": int, "reason": str (the name of a sentence), "values": its values}
Before a person approves a plan, the `preview` of its question is {"kind": "plan", "title": str, "markdown": str}.
Any display may carry "summary": one short line such as "12 lines" or "exit 1, 3 lines".
"""

from __future__ import annotations

from typing import Any, TypeAlias

Display: TypeAlias = dict[str, Any]


def text_display(text: str, summary: str = "") -> Display:
    """Plain text with a one-line summary."""
    return {"kind": "text", "text": text, "summary": summary}


def plan_display(title: str, markdown: str) -> Display:
    """A plan that waits for approval."""
    return {"kind": "plan", "title": title, "markdown": markdown}


def refusal_display(why: str, *, about: str, by: str, said: str = "") -> Display:
    """Why a call was not let through: the rule that asked for consent, and who did not give it in which words."""
    return {"kind": "refusal", "why": why, "about": about, "by": by, "said": said}


def diff_display(path: str, diff: str, *, added: int, removed: int, new: bool = False) -> Display:
    """A unified diff of one file."""
    return {
        "kind": "diff",
        "path": path,
        "diff": diff,
        "added": added,
        "removed": removed,
        "new": new,
        "summary": f"+{added} -{removed}",
    }
