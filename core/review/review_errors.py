"""Errors when a review is recorded. Nothing that was acknowledged is ever lost."""

from typing import Literal

from ..errors import PluralityError

Trouble = Literal["locked", "full", "unreachable", "read-only", "damaged", "newer", "older", "lost", "moved", "other"]


class StoreError(PluralityError):
    """The database of reviews failed; nothing was acknowledged.

    Attributes
    ----------
    trouble : str
        Kind of failure: "locked", "full", "unreachable", "read-only", "damaged", "newer" (written by a later version),
        "older" (its owner must upgrade it), "lost" (it existed before), "moved" (another file or database is there) or
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
        Present version of the case.
    own : bool
        True if everything since then was done by the same reviewer, as in another window.
    """

    def __init__(self, case_id: str, version: int, *, own: bool = False):
        self.version, self.own = version, own
        since = (
            f"You have changed case {case_id!r} in another window since you opened it here."
            if own
            else f"Someone else has changed case {case_id!r} since you opened it."
        )
        super().__init__(f"{since} Nothing was recorded. Check the case and try again.")


class NotAllowedError(PluralityError):
    """The state of the case does not allow this; the message states why and what is possible."""
