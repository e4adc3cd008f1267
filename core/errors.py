"""Errors with messages that state the place, the cause and what to do."""

import sys
from pathlib import Path


class PluralityError(Exception):
    """Base of every error that the user can fix. Pages and the command line show its message."""

    def __str__(self) -> str:
        """Return the message, also if cause and remedy were passed separately."""
        return " ".join(map(str, self.args))


class InputError(PluralityError):
    """A file or an argument cannot be used.

    Parameters
    ----------
    message : str
        Cause, with its place.
    remedy : str
        Action that fixes it.
    line : int, optional
        Physical line of the file, counted from 1.
    """

    def __init__(self, message: str, remedy: str = "", line: int | None = None):
        self.message, self.remedy, self.line = message, remedy, line
        where = f"Line {line:,}: " if line is not None else ""
        super().__init__(f"{where}{message}{' ' + remedy if remedy else ''}")


class TooManyColumnsError(InputError):
    """A table has more columns than allowed.

    Parameters
    ----------
    n_columns, most_columns : int
    """

    def __init__(self, n_columns: int, most_columns: int):
        self.n_columns = n_columns
        super().__init__(
            f"The table has {n_columns:,} columns; the limit is {most_columns:,}.",
            "Remove columns without annotations, write one row per annotation, or raise the limit on the command "
            f"line (--most-columns {n_columns}).",
        )


class OneColumnError(InputError):
    """A table has only one column."""


class OptionError(InputError, ValueError):
    """The value of an option is not allowed."""


class LimitError(PluralityError):
    """The data are too large for the method; the message states what to use instead."""


class NotApplicableError(PluralityError):
    """A method does not take this kind of data; the message states why."""


class MissingExtraError(NotApplicableError):
    """Packages of an extra are not installed; the message has the command that installs them.

    Parameters
    ----------
    what : str
        What needs them, capitalised.
    extra : str
        Name of the extra: a file in ``requirements`` of a checkout, an extra of the wheel.
    """

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs packages that are not installed.", f"Install them: {install_command(extra)}.")


def install_command(extra: str) -> str:
    """Return the command that installs an extra into the environment of this process.

    Parameters
    ----------
    extra : str
        See `MissingExtraError`.
    """
    root = Path(__file__).parents[1]
    listed = root / "requirements" / f"{extra}.txt"
    python = Path(sys.executable)
    own = str(python.relative_to(root)) if python.is_relative_to(root) else "python"
    what = f"-r {listed.relative_to(root).as_posix()}" if listed.is_file() else f'"plurality-raters[{extra}]"'
    return f"{own} -m pip install {what}"


class NotFoundError(PluralityError):
    """A dataset, case or rater of that name does not exist."""


class Cancelled(PluralityError):  # noqa: N818 - the end of work on request is no error
    """The user stopped the work."""
