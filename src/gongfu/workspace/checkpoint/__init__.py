"""Checkpoints: what the files of a workspace are, kept outside of it, compared and given back to the byte."""

from gongfu.workspace.checkpoint.compare import compare
from gongfu.workspace.checkpoint.kept import Changes, Limits, Restored, Store, Taken
from gongfu.workspace.checkpoint.restore import restore
from gongfu.workspace.checkpoint.take import extend, take

__all__ = ["Changes", "Limits", "Restored", "Store", "Taken", "compare", "extend", "restore", "take"]
