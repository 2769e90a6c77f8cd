"""What a shell command line would do, read off its grammar and rated part by part."""

from gongfu.permissions.shell.line import rate_line

__all__ = ["rate_line"]
