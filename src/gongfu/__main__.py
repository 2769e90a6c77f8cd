"""`python -m gongfu` and the command `gongfu`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    from gongfu.surfaces.cli.main import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
