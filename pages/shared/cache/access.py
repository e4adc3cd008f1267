"""Whose data are whose: every read and write of a dataset, of what belongs to it and of its reviews asks here.

Where nobody signs in, everything is everybody's, as on a computer of one's own. Samples are for everybody; what a
person adds to a sample is that person's.
"""

from collections.abc import Callable, Collection, Iterable

import pandas as pd
import streamlit as st

from core import belongings
from core.errors import NotFoundError, PluralityError
from core.ingest.samples import SAMPLES
from core.people import NotYoursError, Person, listed_groups
from core.review import store as reviews
from core.review.assignments import Assignment, assignment_table
from core.review.chain import Head
from core.review.events import Draft, Event
from core.review.sessions import Queued, Session, SessionLine
from core.review.states import CaseReview, open_to
from core.review.store import ReviewStore
from pages.shared.cache import operations, sign_in

_SAMPLES = frozenset(sample.name for sample in SAMPLES)
_sample_digests: dict[str, str] = {}


def ask(address: str, *, change: bool = False) -> None:
    """Raise unless who is here may open the data of an address, or change and erase them.

    Raises
    ------
    NotFoundError
        They may not open them: the same as where there are none, so that nobody learns which there are.
    NotYoursError
        They may open them, and not change them.
    SignedOutError
        Nobody is signed in any more.
    """
    person = sign_in.person()
    if person is None:
        return
    if not _may_open(address, person):
        raise not_here(address)
    if change and not _may_change(address, person):
        raise NotYoursError("These data are shared with you to look at and to review. Only their owner may do that.")


def add_sample(digest: str, name: str) -> None:
    """A sample was opened: it is for everybody by its digest, too, under which its reviews are kept."""
    _sample_digests[digest] = name


def may(address: str, *, change: bool = False) -> bool:
    """Whether who is here may open the data of an address, or change and erase them."""
    person = sign_in.person()
    return person is None or (_may_change if change else _may_open)(address, person)


def not_here(address: str) -> NotFoundError:
    """That there are no such data, or none that may be opened."""
    return NotFoundError(
        f"The dataset {address[:12]!r} is not on this computer any more. Open its file again on the Upload page, and "
        "keep it there so that its address goes on working."
    )


def claim(address: str) -> None:
    """Data that somebody brings are theirs.

    Raises
    ------
    NotYoursError
        Reviewers bring no data, or the very same data are somebody else's and not shared.
    """
    person = sign_in.ask_for("manager")
    if person is None:
        return
    owners = belongings.owners_of(address)
    if owners and not _may_open(address, person):
        raise NotYoursError("The same data are open for somebody else. Ask the administrator to have them shared.")
    if not owners:
        belongings.set_people(address, owners=(person.name,), shared=())


def place(address: str) -> str:
    """Where what belongs to the data of an address lies, for who may open them.

    Raises
    ------
    NotFoundError, SignedOutError
        As of `ask`.
    """
    ask(address)
    person = sign_in.person()
    return address if person is None or address not in _SAMPLES else f"{address} of {person.name}"


def shared_with(address: str) -> tuple[str, ...]:
    """With whom the data are shared."""
    ask(address, change=True)
    return belongings.shared_with(address)


def groups_with(address: str) -> tuple[str, ...]:
    """With which groups the data are shared."""
    ask(address, change=True)
    return belongings.groups_with(address)


def share(address: str, names: list[str], groups: list[str] | None = None) -> None:
    """Share data with exactly these people, by the names they sign in with, and groups; without groups these stay."""
    ask(address, change=True)
    shared = None if groups is None else _cleaned(groups)
    belongings.set_people(address, owners=belongings.owners_of(address), shared=_cleaned(names), groups=shared)


def _cleaned(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(name.split()).casefold() for name in names if name.strip()))


def recipients(address: str) -> tuple[list[str], list[str]]:
    """People and groups to whom cases of the data can be assigned; both empty where anybody may open them."""
    ask(address, change=True)
    if may_anybody(address):
        return [], []
    return _named(address), list(belongings.groups_with(address))


def _named(address: str) -> list[str]:
    """Who may open the data, as far as their names are known here."""
    listed = listed_groups()
    members = [name for group in belongings.groups_with(address) for name in listed.get(group, ())]
    return list(dict.fromkeys((*belongings.owners_of(address), *belongings.shared_with(address), *members)))


def _reaches(address: str, name: str) -> bool:
    """Whether what is asked of a person reaches them; anybody may be of a group that only the provider knows."""
    unknown = set(belongings.groups_with(address)) - set(listed_groups())
    return may_anybody(address) or bool(unknown) or name in _named(address)


def may_anybody(address: str) -> bool:
    """Whether everybody who is let in may open the data: samples, or all where nobody signs in."""
    return sign_in.person() is None or address in _SAMPLES or address in _sample_digests


def members_of(group: str) -> tuple[str, ...]:
    """Members of a group of the administrator's list; none of a group that only the provider knows."""
    return listed_groups().get(group, ())


def my_groups() -> frozenset[str]:
    """Groups of who is signed in."""
    person = sign_in.person()
    return frozenset() if person is None else person.groups


def address_of(dataset: str) -> str:
    """The address at which data of a digest are opened."""
    return _sample_digests.get(dataset, dataset)


def store() -> ReviewStore:
    """The reviews of this installation, of which each read and write asks."""
    return _Asking(reviews.open_store())


def there_are_reviews() -> bool:
    """Whether the installation has reviews at all."""
    return reviews.there_is_a_store()


def store_answers() -> bool:
    """Whether the database of reviews can be read now."""
    try:
        reviews.open_store().count("")
    except PluralityError:
        return False
    return True


def n_reviews(dataset: str) -> int:
    """See `core.review.store.n_reviews`."""
    ask(dataset)
    return reviews.n_reviews(dataset)


def head_of_reviews(dataset: str) -> Head | None:
    """See `core.review.store.head_of_reviews`."""
    ask(dataset)
    return reviews.head_of_reviews(dataset)


def reviews_of(dataset: str) -> dict[str, CaseReview]:
    """See `core.review.store.reviews_of`."""
    ask(dataset)
    return reviews.reviews_of(dataset)


def reviews_to_show(dataset: str) -> tuple[dict[str, CaseReview], int]:
    """The reviews that who is here may be shown, and of how many cases some are kept back: those they can read blind.

    Who manages and has reviewed nothing of these data sees all, and so does who has given no name.
    """
    reviews, person = reviews_of(dataset), sign_in.person()
    who = st.session_state.get("reviewer") if person is None else person.name
    reviewed = any(event.reviewer == who for review in reviews.values() for event in review.events)
    if who is None or (person is not None and person.may_act_as("manager") and not reviewed):
        return reviews, 0
    return open_to(reviews, who)


def reviews_to_take(dataset: str) -> tuple[dict[str, CaseReview], int]:
    """The reviews that who is here may export: all for who owns the data, else as `reviews_to_show`."""
    return (reviews_of(dataset), 0) if may(dataset, change=True) else reviews_to_show(dataset)


def assigned(dataset: str) -> pd.DataFrame | None:
    """Assignments that who is here may see; None where there are none."""
    ask(dataset)
    if not reviews.there_is_a_store():
        return None
    asking = store()
    found = asking.assignments(dataset)
    return assignment_table(found, asking.trail(dataset), progress_of(dataset)) if found else None


def progress_of(dataset: str) -> Callable[[str], Collection[str] | None]:
    """Whose progress on cases of a group who is here may see: all members' for who may assign, else their own."""
    person = sign_in.person()
    if person is None or _may_change(dataset, person):
        return listed_groups().get
    return lambda group: (person.name,)


def forget_reviews(dataset: str) -> int:
    """See `core.review.store.forget_reviews`."""
    ask(dataset, change=True)
    return reviews.forget_reviews(dataset)


def _may_open(address: str, person: Person) -> bool:
    if address in _SAMPLES or address in _sample_digests or person.may_act_as("administrator"):
        return True
    if person.name in belongings.owners_of(address) or person.name in belongings.shared_with(address):
        return True
    return not person.groups.isdisjoint(belongings.groups_with(address))


def _may_change(address: str, person: Person) -> bool:
    if person.may_act_as("administrator"):
        return True
    return person.may_act_as("manager") and person.name in belongings.owners_of(address)


class _Asking(ReviewStore):
    """A store that asks; it shares the connections of the one that it stands before."""

    def __init__(self, behind: ReviewStore):
        self.engine, self._clock = behind.engine, behind._clock

    def record(self, draft: Draft, *, seen: int, token: str) -> Event:
        ask(draft.dataset)
        _own_name(draft.reviewer)
        if draft.kind == "second_opinion" and not _reaches(draft.dataset, draft.whom):
            raise NotYoursError(f"The data are not shared with {draft.whom}. Ask their owner to share them.")
        event = super().record(draft, seen=seen, token=token)
        operations.recorded(draft.kind)
        return event

    def trail(self, dataset: str, case_id: str | None = None) -> list[Event]:
        ask(dataset)
        return super().trail(dataset, case_id)

    def count(self, dataset: str) -> int:
        ask(dataset)
        return super().count(dataset)

    def head(self, dataset: str) -> Head:
        ask(dataset)
        return super().head(dataset)

    def forget(self, dataset: str) -> int:
        ask(dataset, change=True)
        return super().forget(dataset)

    def assign(self, assignment: Assignment, *, token: str) -> Assignment:
        ask(assignment.dataset, change=True)
        _own_name(assignment.by)
        people, groups = recipients(assignment.dataset)
        if not may_anybody(assignment.dataset) and assignment.whom not in (groups if assignment.group else people):
            raise NotYoursError(f"The data are not shared with {assignment.whom}. Share them first.")
        return super().assign(assignment, token=token)

    def withdraw(self, dataset: str, number: int, by: str, *, token: str) -> None:
        ask(dataset, change=True)
        _own_name(by)
        super().withdraw(dataset, number, by, token=token)

    def assignments(self, dataset: str) -> list[Assignment]:
        """All for who may assign; of anybody else their own."""
        ask(dataset)
        found, person = super().assignments(dataset), sign_in.person()
        if person is None or _may_change(dataset, person):
            return found
        return [one for one in found if one.is_for(person.name, person.groups)]

    def datasets_that_wait(self, person: str, groups: Collection[str] = ()) -> list[str]:
        _own_name(person)
        return [dataset for dataset in super().datasets_that_wait(person, groups) if may(dataset)]

    def datasets_assigned_by(self, person: str) -> list[str]:
        _own_name(person)
        return [dataset for dataset in super().datasets_assigned_by(person) if may(dataset, change=True)]

    def start_session(self, dataset: str, reviewer: str, title: str, cases: list[Queued]) -> Session:
        ask(dataset)
        _own_name(reviewer)
        return super().start_session(dataset, reviewer, title, cases)

    def session(self, session_id: str) -> Session:
        found = super().session(session_id)
        ask(found.dataset)
        person = sign_in.person()
        if person is not None and found.reviewer != person.name:
            raise not_here(found.dataset)
        return found

    def sessions(self, dataset: str, reviewer: str) -> list[Session]:
        ask(dataset)
        _own_name(reviewer)
        return super().sessions(dataset, reviewer)

    def sessions_of_others(self, dataset: str, reviewer: str, since: int = 0) -> list[Session]:
        ask(dataset)
        return super().sessions_of_others(dataset, reviewer, since)

    def lines(self, session: Session) -> tuple[SessionLine, ...]:
        ask(session.dataset)
        _own_name(session.reviewer)
        return super().lines(session)


def _own_name(reviewer: str) -> None:
    person = sign_in.person()
    if person is not None and reviewer != person.name:
        raise NotYoursError("An opinion can be recorded only under the name of who signed in.")


def sharing(address: str) -> None:
    """Who else may open the data, for their owner to change."""
    if sign_in.person() is None or address in _SAMPLES or not may(address, change=True):
        return
    with st.popover("Share", key=f"sharing-{address}"):
        key = f"shared-{address}"
        st.text_area(
            "People who may look at and review these data, a line each",
            "\n".join(shared_with(address)),
            key=key,
            help="The names that they sign in with, for most providers their e-mail addresses.",
        )
        listed, groups = list(listed_groups()), list(groups_with(address))
        st.multiselect(
            "Groups who may",
            dict.fromkeys((*listed, *groups)),
            groups,
            accept_new_options=True,
            key=f"{key}-groups",
            help="Of the administrator's list, or as the identity provider calls them.",
        )
        st.button("Save", key=f"share-{address}", on_click=_share, args=(address, key))


def _share(address: str, key: str) -> None:
    share(address, st.session_state[key].splitlines(), st.session_state[f"{key}-groups"])
