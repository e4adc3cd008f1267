"""Whose data are whose: every read and write of a dataset, of what belongs to it and of its reviews asks here.

Reading and changing are two types, `ReadRight` and `WriteRight`: nobody can make one without that right, and only the
second one writes. Where nobody signs in, everything is everybody's, as on a computer of one's own. Samples are for
everybody; what a person adds to a sample is that person's.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core import belongings, library, sign_ins
from core.access_record import ENDED, OPENED, Access, check_access, record_access
from core.changes import erase_details, record_change
from core.erasure import ADMINISTRATOR
from core.errors import InputError, NotFoundError, PluralityError
from core.ingest.samples import SAMPLES
from core.machines.marks import Machine
from core.people import NotYoursError, Person, SignedOutError, listed_groups
from core.people_list import normal_group, normal_name
from core.review import store as reviews
from core.review.assignments import Assignment, assignment_table
from core.review.chain import Head
from core.review.events import Draft, Event
from core.review.sessions import Queued, Session, SessionLine
from core.review.states import CaseReview, open_to
from core.review.store import ReviewStore
from pages.shared.cache import operations, sign_in, visit

_SAMPLES = frozenset(sample.name for sample in SAMPLES)
_sample_digests: dict[str, str] = {}


def ask(address: str, *, change: bool = False) -> Person | None:
    """Raise unless the current user may open the data of an address, or change and erase them; return the user.

    Raises
    ------
    NotFoundError
        They may not open them. Missing data raise the same error, so that nobody learns which data exist.
    NotYoursError
        They may open them, but not change them.
    SignedOutError
        Nobody is signed in any more.
    """
    person = sign_in.person()
    if person is None:
        return None
    if not _may_open(address, person):
        raise not_here(address)
    if change and not _may_change(address, person):
        raise NotYoursError("Only the owner can do this. You can view and review these data, but not change them.")
    return person


class ReadRight:
    """Right to read what belongs to the data of an address, for every user who may open them.

    Parameters
    ----------
    address : str
        Address of the dataset: its digest, or the name of a sample.

    Raises
    ------
    NotFoundError, SignedOutError
        Same as for `ask`.
    """

    def __init__(self, address: str):
        self._hold(ask(address), address)

    def _hold(self, person: Person | None, address: str) -> None:
        self.address = address
        self._place = _place_of(address, "" if person is None else person.name)

    def predictions(self) -> dict[str, bytes | InputError]:
        """See `core.belongings.predictions_of`."""
        return belongings.predictions_of(self._place)

    def studies(self) -> dict[str, bytes | InputError]:
        """See `core.belongings.studies_of`."""
        return belongings.studies_of(self._place)

    def selections(self) -> dict[str, str]:
        """See `core.belongings.selections_of`."""
        return belongings.selections_of(self._place)

    def machines(self, told_by_file: Iterable[Machine] = ()) -> tuple[Machine, ...]:
        """See `core.belongings.machines_of`."""
        return belongings.machines_of(self._place, told_by_file)

    def has_marks(self) -> bool:
        """See `core.belongings.has_marks`."""
        return belongings.has_marks(self._place)

    def chosen(self) -> dict[str, Any]:
        """See `core.belongings.chosen_for`."""
        return belongings.chosen_for(self._place)

    def questions(self) -> dict[str, str]:
        """Questions of the upload that who is here may open; see `core.belongings.questions_of`."""
        return {name: digest for name, digest in belongings.questions_of(self._place).items() if may(digest)}

    def link(self) -> str:
        """See `core.belongings.link_of`."""
        return belongings.link_of(self._place)


class WriteRight(ReadRight):
    """Right to change what belongs to the data of an address: whoever may change the data, and all users in samples.

    Each change is in the record (`core.changes`) before it is made.

    Parameters
    ----------
    address : str
        Same as for `ReadRight`.

    Raises
    ------
    NotFoundError, NotYoursError, SignedOutError
        Same as for `ask`.
    """

    def __init__(self, address: str):
        self._hold(ask(address, change=address not in _SAMPLES), address)

    def add_predictions(self, name: str, content: bytes) -> None:
        """See `core.belongings.add_predictions`."""
        self.record("add predictions", name)
        belongings.add_predictions(self._place, name, content)

    def remove_predictions(self) -> None:
        """See `core.belongings.remove_predictions`."""
        self.record("remove predictions", *self.predictions())
        belongings.remove_predictions(self._place)

    def add_study(self, name: str, content: bytes) -> None:
        """See `core.belongings.add_study`."""
        self.record("add a reader study", name)
        belongings.add_study(self._place, name, content)

    def remove_studies(self) -> None:
        """See `core.belongings.remove_studies`."""
        self.record("remove reader studies", *self.studies())
        belongings.remove_studies(self._place)

    def add_selection(self, name: str, text: str) -> None:
        """See `core.belongings.add_selection`."""
        self.record("name a selection", name)
        belongings.add_selection(self._place, name, text)

    def remove_selection(self, name: str) -> None:
        """See `core.belongings.remove_selection`."""
        self.record("remove a selection", name)
        belongings.remove_selection(self._place, name)

    def mark_machines(self, machines: Iterable[Machine]) -> None:
        """See `core.belongings.mark_machines`."""
        marked = tuple(machines)
        if not self.has_marks() or marked != self.machines():
            self.record("mark machines", *(machine.name for machine in marked))
            belongings.mark_machines(self._place, marked)

    def choose(self, chosen: dict[str, Any]) -> None:
        """See `core.belongings.choose`."""
        if chosen != self.chosen():
            self.record("choose the model and γ", *(f"{name} {value}" for name, value in chosen.items()))
            belongings.choose(self._place, chosen)

    def set_questions(self, questions: Mapping[str, str]) -> None:
        """See `core.belongings.set_questions`."""
        if dict(questions) != belongings.questions_of(self._place):
            self.record("open questions together", *questions)
            belongings.set_questions(self._place, questions)

    def set_link(self, template: str) -> None:
        """See `core.belongings.set_link`."""
        if template:
            belongings.case_link(template, "1")
        if template != self.link():
            self.record("link cases", template)
            belongings.set_link(self._place, template)

    def record(self, what: str, *details: str) -> None:
        """Put a change of the data into the record; the details only of data that last.

        Parameters
        ----------
        what : str
        *details : str
        """
        lasting = self.address in _SAMPLES or library.is_kept(self.address)
        record_change(sign_in.name(), self.address, what, details if lasting else ())


def opened(address: str) -> None:
    """Put into the record of access that who is here opened data, once in a session.

    Parameters
    ----------
    address : str
    """
    if not (who := sign_in.name()):
        return
    if address not in visit.opened_data:
        record_access(who, OPENED, address)
        visit.opened_data |= {address}


def access_record() -> tuple[list[Access], list[str]]:
    """See `core.access_record.check_access`: for administrators who signed in."""
    _ask_administrator()
    return check_access()


def open_sign_ins() -> list[sign_ins.SignIn]:
    """See `core.sign_ins.open_sign_ins`: for administrators who signed in."""
    _ask_administrator()
    return sign_ins.open_sign_ins()


def end_sign_in(which: str, name: str) -> None:
    """End the sign-in of somebody.

    Parameters
    ----------
    which : str
        Same as in `core.sign_ins.SignIn`.
    name : str
        Name of the person, for the record of access.
    """
    person = _ask_administrator()
    record_access(person.name, ENDED, details=[name])
    sign_ins.end(which)


def _ask_administrator() -> Person:
    person = sign_in.ask_for("administrator")
    if person is None:
        raise NotYoursError("Only a signed-in administrator can do this.")
    return person


def may_change(address: str) -> bool:
    """Return True if the current user may change what belongs to the data of an address (`WriteRight`)."""
    try:
        WriteRight(address)
    except (NotFoundError, NotYoursError, SignedOutError):
        return False
    return True


def add_sample(digest: str, name: str) -> None:
    """Register an opened sample for everybody by its digest, too, under which its reviews are kept."""
    _sample_digests[digest] = name


def may(address: str, *, change: bool = False) -> bool:
    """Return True if the current user may open the data of an address, or change and erase them."""
    person = sign_in.person()
    return person is None or (_may_change if change else _may_open)(address, person)


def not_here(address: str) -> NotFoundError:
    """Return the error for data that do not exist or may not be opened."""
    return NotFoundError(
        f"The dataset {address[:12]!r} is no longer on this computer. Open the file again on the Upload page and save "
        "the dataset, so that this address keeps working."
    )


def claim(address: str) -> bool:
    """Make the current user the owner of data that they add; return True if they may change them.

    The very same data may be shared with them already: these stay their owner's, as they are.

    Raises
    ------
    NotYoursError
        Reviewers bring no data, or the very same data are somebody else's and not shared.
    """
    person = sign_in.ask_for("manager")
    if person is None:
        return True
    owners = belongings.owners_of(address)
    if owners and not _may_open(address, person):
        raise NotYoursError("These data belong to another user. Ask the administrator to share them with you.")
    if owners and not _may_change(address, person):
        return False
    record_change(person.name, address, "bring data")
    if not owners:
        belongings.set_people(address, owners=(person.name,), shared=())
    return True


def let_go(address: str) -> None:
    """Delete the data of an address, if the user may change them; of earlier changes, remove only the details."""
    right = WriteRight(address)
    right.record("delete the data")
    erase_details(address)


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
    people = tuple(dict.fromkeys(normal_name(" ".join(name.split())) for name in names if name.strip()))
    shared = None if groups is None else tuple(dict.fromkeys(map(normal_group, filter(str.strip, groups))))
    of_groups = belongings.groups_with(address) if shared is None else shared
    if (people, of_groups) != (belongings.shared_with(address), belongings.groups_with(address)):
        WriteRight(address).record("share", *people, *of_groups)
        belongings.set_people(address, owners=belongings.owners_of(address), shared=people, groups=shared)


def ask_to_bring_over(earlier: str, present: str) -> None:
    """Raise unless who is here may bring what is kept under an earlier digest of data to what they are now.

    Raises
    ------
    NotFoundError, NotYoursError, SignedOutError
        Same as for `ask`, for either digest; the present one may have no owner yet.
    """
    ask(earlier, change=True)
    if belongings.owners_of(present):
        ask(present, change=True)


def name_for_record() -> str:
    """Return the current user's name for the record of reviews."""
    return sign_in.name() or visit.reviewer or ADMINISTRATOR


def drafts(address: str) -> dict[str, Any]:
    """Return what the reviewer typed in reviews of the data and did not record; see `keep_draft`."""
    person = ask(address)
    name = visit.reviewer if person is None else person.name
    return belongings.drafts_of(_place_of(address, name), name) if name else {}


def keep_draft(address: str, case: str, typed: Mapping[str, Any]) -> None:
    """Save what a reviewer typed on a case, for their next session; they had the data open in this one.

    Without sign-in, whoever enters a name gets its drafts, as they get its sessions and recorded opinions.
    """
    if name := sign_in.name_for_draft():
        belongings.set_draft(_place_of(address, name), name, case, typed)


def _place_of(address: str, name: str) -> str:
    """Return where additions to data are: those to a sample belong to whoever signed in and made them."""
    return f"{address} of {name}" if name and address in _SAMPLES else address


def recipients(address: str) -> tuple[list[str], list[str]]:
    """People and groups to whom cases of the data can be assigned; both empty where anybody may open them."""
    ask(address, change=True)
    if may_anybody(address):
        return [], []
    return _named(address), list(belongings.groups_with(address))


def _named(address: str) -> list[str]:
    """Return the names, as far as they are known here, of those who may open the data."""
    listed = listed_groups()
    members = [name for group in belongings.groups_with(address) for name in listed.get(group, ())]
    return list(dict.fromkeys((*belongings.owners_of(address), *belongings.shared_with(address), *members)))


def reachable(address: str, names: Iterable[str]) -> list[str]:
    """Return the people whom a request about the data can reach, of those named."""
    ask(address)
    return [name for name in names if _reaches(address, name)]


def _reaches(address: str, name: str) -> bool:
    """Return True if a request can reach a person; a group that only the provider knows may contain anybody."""
    unknown = set(belongings.groups_with(address)) - set(listed_groups())
    return may_anybody(address) or bool(unknown) or name in _named(address)


def may_anybody(address: str) -> bool:
    """Return True if every user may open the data: samples, or all data without sign-in."""
    return sign_in.person() is None or address in _SAMPLES or address in _sample_digests


def members_of(group: str) -> tuple[str, ...]:
    """Members of a group of the administrator's list; none of a group that only the provider knows."""
    return listed_groups().get(group, ())


def my_groups() -> frozenset[str]:
    """Return the groups of the signed-in user."""
    person = sign_in.person()
    return frozenset() if person is None else person.groups


def address_of(dataset: str) -> str:
    """Return the address of the data with a digest."""
    return _sample_digests.get(dataset, dataset)


def store() -> ReviewStore:
    """Return the reviews of this installation, with a check of the user's rights at each read and write."""
    return _Asking(reviews.open_store())


def there_are_reviews() -> bool:
    """Return True if the installation has any reviews."""
    return reviews.there_is_a_store()


def store_answers() -> bool:
    """Return True if the database of reviews can be read now."""
    try:
        reviews.open_store().look()
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
    """Return the reviews that the user may see, and the number of cases with some withheld for a blind opinion.

    Who manages and has reviewed nothing of these data sees all, and so does who has given no name.
    """
    reviews, person = reviews_of(dataset), sign_in.person()
    who = visit.reviewer if person is None else person.name
    reviewed = any(event.reviewer == who for review in reviews.values() for event in review.events)
    if who is None or (person is not None and person.may_act_as("manager") and not reviewed):
        return reviews, 0
    return open_to(reviews, who)


def reviews_to_take(dataset: str) -> tuple[dict[str, CaseReview], int]:
    """Return the reviews that the user may export: all for the owner of the data, otherwise as `reviews_to_show`."""
    return (reviews_of(dataset), 0) if may(dataset, change=True) else reviews_to_show(dataset)


def assigned(dataset: str) -> pd.DataFrame | None:
    """Return the assignments that the user may see; None if there are none."""
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
    WriteRight(dataset).record("delete the reviews")
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
            raise NotYoursError(
                f"Could not ask {draft.whom} for an opinion: the data are not shared with them. Ask the owner to "
                "share the data."
            )
        event = super().record(draft, seen=seen, token=token)
        sign_in.used()
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
        WriteRight(dataset).record("delete the reviews")
        return super().forget(dataset)

    def bring_over(
        self, before: str, after: str, by: str, cases: Collection[str], classes: Collection[str]
    ) -> tuple[int, int]:
        ask_to_bring_over(before, after)
        _own_name(by)
        return super().bring_over(before, after, by, cases, classes)

    def n_to_bring_over(self, dataset: str) -> int:
        ask(dataset, change=True)
        return super().n_to_bring_over(dataset)

    def assign(self, assignment: Assignment, *, token: str) -> Assignment:
        ask(assignment.dataset, change=True)
        _own_name(assignment.by)
        people, groups = recipients(assignment.dataset)
        if not may_anybody(assignment.dataset) and assignment.whom not in (groups if assignment.group else people):
            raise NotYoursError(
                f"Could not assign cases to {assignment.whom}: the data are not shared with them. Share the data first."
            )
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
        raise NotYoursError("Could not record the opinion: it is in another reviewer's name. Sign in as that reviewer.")


def sharing(address: str) -> None:
    """Show who else may open the data, for their owner to change."""
    if sign_in.person() is None or address in _SAMPLES or not may(address, change=True):
        return
    with st.popover("Share", key=f"sharing-{address}"):
        key = f"shared-{address}"
        st.text_area(
            "People who can open and review these data, one per line",
            "\n".join(shared_with(address)),
            key=key,
            help="Sign-in names (with most providers, e-mail addresses).",
        )
        listed, groups = list(listed_groups()), list(groups_with(address))
        st.multiselect(
            "Groups with access",
            dict.fromkeys((*listed, *groups)),
            groups,
            accept_new_options=True,
            key=f"{key}-groups",
            help="Groups from the administrator's list, or names of groups at the identity provider.",
        )
        st.button("Save", key=f"share-{address}", on_click=_share, args=(address, key))


def _share(address: str, key: str) -> None:
    share(address, visit.text[key].splitlines(), visit.choices[f"{key}-groups"])
