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
