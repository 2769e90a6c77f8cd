"""`python -m gongfu` and the command `gongfu`."""

from __future__ import annotations

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
    sys.exit(code)


if __name__ == "__main__":
    main()
