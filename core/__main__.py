"""Command line: ``python -m core COMMAND ...``. JSON on standard output, messages on standard error."""

import sys

from .command_line import main


def run() -> None:
    """Run one command and exit with its status."""
    sys.exit(main())


if __name__ == "__main__":
    run()
