"""The family git."""

from __future__ import annotations

from gongfu.toolkit.git_branch import GitBranches
from gongfu.toolkit.git_commit import GitCommits
from gongfu.toolkit.git_read import GitReads
from gongfu.toolkit.git_remote import GitRemotes
from gongfu.toolkit.git_run import Git
from gongfu.toolkit.programs import Programs
from gongfu.tools.protocol import Toolset
from gongfu.workspace.root import Workspace


def git_tools(workspace: Workspace, programs: Programs) -> Toolset:
    """The git tools of one session."""
    git = Git(workspace, programs)
    reads, remotes = GitReads(git), GitRemotes(git)
    return (
        reads.git_status, reads.git_diff, reads.git_log, GitCommits(git).git_commit, GitBranches(git).git_branch,
        remotes.git_worktree, remotes.git_push,
    )  # fmt: skip
