"""The command line: ``python -m frontier``, and the command ``frontier``."""

from __future__ import annotations

import sys

__all__ = ["run"]


def run() -> int:
    """Run the command line, which takes a moment to import; return the exit status."""
    try:
        from frontier.cli import main
    except KeyboardInterrupt:
        print("frontier: interrupted", file=sys.stderr)
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
