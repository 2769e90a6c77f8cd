"""Ways out that were found by attacking the program from outside, each with its kind."""

from __future__ import annotations

import time

import pytest

from .conftest import Rate

GRAVER: tuple[tuple[str, str], ...] = (
    # secrets that a command takes up by the folder
    ("git grep --no-index x", "credential"),
    ("git grep --untracked --no-exclude-standard x", "credential"),
    ("git add -f .", "credential"),
    ("git add --force --all", "credential"),
    ("git stash --all", "credential"),
    ("tar cf - . | strings", "credential"),
    ("tar czf x.tgz .", "credential"),
    ("zip -r x.zip .", "credential"),
    # out of the workspace
    ("git mv a.txt out/b", "outside"),
    ("git init out/x", "outside"),
    ("git clone . out/x", "outside"),
    ("perl -e 'open(F,\">/srv/x\")'", "outside"),
    ("perl -e 'open(F,\">>../x\")'", "outside"),
    # into git's own files, and what other tools of the person run
    ("git -C .git/hooks init", "destructive"),
    ("git -C .git add x", "destructive"),
    ("echo x > .claude/settings.json", "destructive"),
    ("cp a.txt .claude/settings.local.json", "destructive"),
    ("tee .vscode/tasks.json < a.txt", "destructive"),
    ("cp a.txt .cursor/mcp.json", "destructive"),
)
MILD: tuple[tuple[str, str], ...] = (
    ("git grep x", "read"),
    ("git add -A", "write"),
    ("git add -f src/x.pyc", "read write"),
    ("git stash -u", "write"),
    ("tar czf x.tgz src", "read write"),
    ("zip -r x.zip src", "write"),
    ("git mv a.txt b.txt", "write"),
    ("git -C src add main.py", "read write"),
    ("echo x > .claude/commands/a.md", "read write"),
    ("echo x > .vscode/settings.json", "read write"),
)


@pytest.mark.parametrize(("command", "rating"), GRAVER, ids=range(len(GRAVER)))
def test_a_way_out_is_seen(rate_often: Rate, command: str, rating: str) -> None:
    assert rating in rate_often(command).ratings


@pytest.mark.parametrize(("command", "ratings"), MILD, ids=range(len(MILD)))
def test_what_looks_alike_stays_free(rate_often: Rate, command: str, ratings: str) -> None:
    assert " ".join(sorted(rate_often(command).ratings)) == ratings


@pytest.mark.parametrize("command", ["ls|" * 20_000, "{" * 20_000], ids=["pipes", "braces"])
def test_a_line_that_takes_the_grammar_minutes_is_given_up_soon(rate_often: Rate, command: str) -> None:
    started = time.process_time()
    assert "unknown" in rate_often(command).ratings
    assert time.process_time() - started < 8
    assert rate_often("ls; ls").ratings == {"read"}
