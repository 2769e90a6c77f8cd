"""`python -m gongfu` and the command `gongfu`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] == ["--version"]:  # asked by scripts all the time: nothing else needs to load
        from gongfu.core.version import __version__

        sys.stdout.write(f"gongfu {__version__}\n")
        return
    try:
        from gongfu.surfaces.cli.main import main as run

        code = run()
    except KeyboardInterrupt:  # pressed while the program was loading, or at its very end
        code = 130
    _end(code)


def _end(code: int) -> None:
    """Exit without waiting for threads whose work nobody wants any more; Python would wait for them to end."""
    threading = sys.modules.get("threading")
    if threading is not None and any(not t.daemon and t is not threading.main_thread() for t in threading.enumerate()):
        os._exit(code)
    sys.exit(code)


def _leave_folder() -> None:
    """Look for modules where Gongfu lies and not in the current folder, which `python -m` puts first: a repository may
    bring modules that are called like others.
    """
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib is not loaded yet
    if not sys.flags.safe_path and sys.path[0] != own:
        del sys.path[0]


if __name__ == "__main__":
    _leave_folder()
    main()
