"""The family python."""

from __future__ import annotations

from gongfu.toolkit.git_run import Git
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.python_batch import Batch
from gongfu.toolkit.python_build import Builds
from gongfu.toolkit.python_comments import Comments
from gongfu.toolkit.python_info import ProjectInfo
from gongfu.toolkit.python_project import Projects
from gongfu.toolkit.python_release import Releases
from gongfu.toolkit.python_review import Reviews
from gongfu.toolkit.python_style import Style
from gongfu.toolkit.python_tests import TestRuns
from gongfu.tools.protocol import Toolset
from gongfu.workspace.root import Workspace


def python_tools(workspace: Workspace, programs: Programs) -> Toolset:
    """The tools for Python projects (and others, where they are alike) of one session."""
    projects = Projects(workspace, programs)
    style = Style(projects)
    return (
        TestRuns(projects).run_tests, style.format_code, style.lint, style.auto_fix,
        ProjectInfo(projects).read_pyproject, Comments(projects).clean_comments,
        Reviews(projects, Git(workspace, programs)).review_code, Builds(projects).build_package,
        Releases(projects).release_version, Batch(projects, style).batch,
    )  # fmt: skip
