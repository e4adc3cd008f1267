"""What can go wrong when a review is recorded. Whatever it is, nothing that was acknowledged is lost."""

from typing import Literal

from ..errors import PluralityError

Trouble = Literal["locked", "full", "unreachable", "read-only", "damaged", "newer", "older", "lost", "moved", "other"]


class StoreError(PluralityError):
    """The database of reviews did not do what was asked; nothing was acknowledged.

    Attributes
    ----------
    trouble : str
        "locked", "full", "unreachable", "read-only", "damaged", "newer" (written by a later version),
        "older" (its owner must upgrade it), "lost" (it was there once), "moved" (another file or database is there) or
        "other".
    """

    def __init__(self, trouble: Trouble, message: str):
        self.trouble = trouble
        super().__init__(message)


class ConflictError(PluralityError):
    """The case has changed since it was shown; nothing was recorded.

    Attributes
    ----------
    version : int
        The version of the case now.
    own : bool
        Whether all that was done since is the reviewer's own, as in another window.
    """

    def __init__(self, case_id: str, version: int, *, own: bool = False):
        self.version, self.own = version, own
        since = (
            f"You have worked on case {case_id!r} in another window since it was shown here."
            if own
            else f"Somebody else has worked on case {case_id!r} since it was shown to you."
        )
        super().__init__(f"{since} Nothing was recorded. Look at the case again and send once more.")


class NotAllowedError(PluralityError):
    """The case is not in a state in which this can be done; the message says why and what can."""
