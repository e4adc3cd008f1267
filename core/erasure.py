"""Erasure on request: traces of a person in records and lists, and data that nobody uses any more."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from . import access_record, belongings, changes, library, sign_ins
from .accounts import forget_account
from .errors import InputError
from .ingest.samples import SAMPLES
from .options import check_whole
from .review.database import owner_url
from .review.events import check_name
from .review.store import ReviewStore, open_store, there_is_a_store
from .settings import current_settings
from .text import utc

ADMINISTRATOR = "administrator"


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """Result of the erasure of a person.

    Attributes
    ----------
    n_events : dict of str to int
        Number of events with their name, by digest of the dataset.
    n_datasets : int
        Number of datasets of which they were an owner or had access.
    """

    n_events: dict[str, int]
    n_datasets: int


def erase_person(name: str, by: str = ADMINISTRATOR) -> ErasedPerson:
    """Erase a person's name, notes and times from the record, their account, and their access to shared data.

    Their opinions stay under a pseudonym, another one in each dataset, because decisions of others depend on them. The
    chain of hashes stays whole: it states how many events were erased, when and by whom, and `verify` passes.

    Parameters
    ----------
    name : str
        Name as it is in the record.
    by : str
        Person who erases, for the record.

    Raises
    ------
    InputError
        Nothing is stored under that name.
    StoreError
        The database failed, or its role may not do this (`PLURALITY_DATABASE_OWNER_URL`).
    """
    check_name(name, "person")
    check_name(by, "administrator")
    n_events: dict[str, int] = {}
    if there_is_a_store():
        open_store()  # reports a lost store, and starts no new one
        store = ReviewStore(owner_url())
        try:
            n_events = store.erase_person(name, by)
        finally:
            store.close()
    had_account = forget_account(name)
    sign_ins.forget_person(name)
    n_changes = access_record.erase_person(name)
    n_changes += changes.erase_person(name)
    n_datasets = belongings.forget_person(name)
    for sample in SAMPLES:
        n_datasets += belongings.forget_belongings(f"{sample.name} of {name}")
    if not (n_events or n_datasets or n_changes or had_account):
        raise InputError(f"Could not find a person named {name!r}.", "Use the name as it appears in the record.")
    access_record.record_access(by, "erase a person", details=[f"{sum(n_events.values()):,} events"])
    return ErasedPerson(n_events, n_datasets)


@dataclass(frozen=True, slots=True)
class Unused:
    """Saved dataset that nobody has saved, reviewed or added to for a while.

    Attributes
    ----------
    digest, name : str
    last : datetime
        Time of the last action on it.
    """

    digest: str
    name: str
    last: datetime


def unused(days: int, now: datetime | None = None) -> list[Unused]:
    """List saved datasets without any action for that many days, those without for longest first.

    Saving, renaming, reviewing, assigning, sharing and adding predictions count; viewing data does not.

    Parameters
    ----------
    days : int
    now : datetime, optional
        Time in UTC.

    Raises
    ------
    InputError
        The number is below one.
    """
    check_whole(days, "The number of days without use", 1)
    since = (datetime.now(UTC) if now is None else now) - timedelta(days=days)
    last = open_store().last_events() if there_is_a_store() else {}
    found = []
    for entry in library.kept():
        folder = current_settings().datasets / entry.digest
        moments = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
        moments += [belongings.changed_at(entry.digest), last.get(entry.digest, 0) / 1e6]
        if utc(max(moments)) < since:
            found.append(Unused(entry.digest, entry.name, utc(max(moments))))
    return sorted(found, key=lambda one: one.last)


def forget(digest: str) -> None:
    """Erase a saved dataset with its reviews, all that belongs to it and its results; see `library.forget`."""
    library.forget(digest)
    belongings.forget_belongings(digest)
    changes.erase_details(digest)
    changes.record_change(ADMINISTRATOR, digest, "delete the data")
