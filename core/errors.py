"""What can go wrong, said so that the reader knows where, what was found, and what to do."""


class PluralityError(Exception):
    """Base of every error that is the data's or the user's to mend. Pages and the command line show its message."""

    def __str__(self) -> str:
        """What was found and what to do, also where both were given apart."""
        return " ".join(map(str, self.args))


class InputError(PluralityError):
    """A file or an argument cannot be used.

    Parameters
    ----------
    message : str
        What was found.
    remedy : str
        What to do about it.
    line : int, optional
        Physical line of the file, counted from 1.
    """

    def __init__(self, message: str, remedy: str = "", line: int | None = None):
        self.message, self.remedy, self.line = message, remedy, line
        where = f"Line {line:,}: " if line is not None else ""
        super().__init__(f"{where}{message}{' ' + remedy if remedy else ''}")


class TooManyColumnsError(InputError):
    """A table has more columns than were agreed to.

    Parameters
    ----------
    n_columns, most_columns : int
    """

    def __init__(self, n_columns: int, most_columns: int):
        self.n_columns = n_columns
        super().__init__(
            f"The table has {n_columns:,} columns, the limit is {most_columns:,}.",
            "Remove columns that hold no annotations, write one row per annotation, or raise the limit on the command "
            f"line (--most-columns {n_columns}).",
        )


class OptionError(InputError, ValueError):
    """An option has a value that there is not."""


class LimitError(PluralityError):
    """The data are too large for what was asked; the message says what to use instead."""


class NotApplicableError(PluralityError):
    """A method does not take this kind of data; the message says why."""


class NotFoundError(PluralityError):
    """A dataset, case or rater of that name is not there."""


class Cancelled(PluralityError):  # noqa: N818 - the end of work on request is no error
    """The user stopped the work."""
