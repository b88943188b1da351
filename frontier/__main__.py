"""``python -m frontier``: the command line."""

import sys

from frontier.cli import main

if __name__ == "__main__":
    sys.exit(main())
