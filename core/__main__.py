"""The command line: ``python -m core COMMAND ...``. JSON on standard output, messages on standard error."""

import sys

from .command_line import main

if __name__ == "__main__":
    sys.exit(main())
