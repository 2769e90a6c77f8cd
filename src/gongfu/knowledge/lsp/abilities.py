"""What we tell a language server that we can do, and the names of its numbers."""

from __future__ import annotations

from typing import Any, Final

_KINDS = [
    "text",
    "method",
    "function",
    "constructor",
    "field",
    "variable",
    "class",
    "interface",
    "module",
    "property",
    "unit",
    "value",
    "enum",
    "keyword",
    "snippet",
    "color",
    "file",
    "reference",
    "folder",
    "enum_member",
    "constant",
    "struct",
    "event",
    "operator",
    "type_parameter",
]
COMPLETIONS: Final[dict[Any, str]] = dict(enumerate(_KINDS, 1))
SEVERITIES: Final[dict[Any, str]] = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_FIXED = {"dynamicRegistration": False}

ABILITIES: Final[dict[str, Any]] = {
    "general": {"positionEncodings": ["utf-32", "utf-8", "utf-16"]},
    "workspace": {
        "workspaceFolders": True,
        "configuration": True,
        "applyEdit": False,
        "didChangeConfiguration": _FIXED,
        "didChangeWatchedFiles": _FIXED,  # servers watch the files themselves then
    },
    "window": {"workDoneProgress": True},
    "textDocument": {
        "synchronization": {"dynamicRegistration": False, "didSave": True},
        "definition": {"dynamicRegistration": False, "linkSupport": True},
        "references": _FIXED,
        "hover": {"dynamicRegistration": False, "contentFormat": ["markdown", "plaintext"]},
        "completion": {
            "dynamicRegistration": False,
            "contextSupport": False,
            "completionItem": {"snippetSupport": False, "documentationFormat": ["plaintext"]},
        },
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": False},
        "diagnostic": {"dynamicRegistration": False, "relatedDocumentSupport": False},
    },
    "experimental": {"serverStatusNotification": True},
}
