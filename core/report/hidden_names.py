"""Reports that name nobody: raters, AI raters, readers of a study and reviewers are numbered in what a report is of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.rater_codes import renamed_raters, with_codes, with_names
from ..machines.marks import Machine
from ..review.events import Event
from ..review.states import CaseReview, ReviewerOpinion
from .build import OtherQuestion, ReportRequest

_OF_PEOPLE = ["by", "whom", "title", "done_by"]  # columns of assignments that name people, or may


def hidden(request: ReportRequest, others: Sequence[OtherQuestion] = ()) -> tuple[ReportRequest, list[OtherQuestion]]:
    """Return a report's request, and other questions of the same upload, without names.

    Parameters
    ----------
    request : ReportRequest
    others : sequence of OtherQuestion
    """
    whole = request.dataset if request.with_machines is None else request.with_machines
    machines = {*request.machines, *(mark.name for mark in request.marks)}
    called = numbered([whole, request.dataset, *(one.dataset for one in others)], machines)

    def of_other(one: OtherQuestion) -> OtherQuestion:
        made = one.request
        return replace(
            one, dataset=renamed(one.dataset, called), request=lambda token: without_names(made(token), called)
        )

    return without_names(request, called), [of_other(one) for one in others]


def numbered(datasets: Iterable[Dataset], machines: Collection[str] = ()) -> dict[str, str]:
    """Return "Rater 1", "Rater 2", ... for each rater of the datasets, and "AI rater 1", ... for AI raters.

    Numbers are drawn from the content of the first dataset: they are the same the next time, and neither their order
    nor that of the file reveals a name.

    Parameters
    ----------
    datasets : iterable of Dataset
        Questions of one upload; a rater has the same number in each.
    machines : collection of str
    """
    found = list(datasets)
    rng = np.random.default_rng(int(found[0].content_digest, 16))
    names = sorted({name for dataset in found for name in dataset.raters} | set(machines))
    mixed = [names[place] for place in rng.permutation(len(names))]
    people = [name for name in mixed if name not in machines]
    others = [name for name in mixed if name in machines]
    kinds = (("Rater", people), ("AI rater", others))
    return {name: f"{kind} {place}" for kind, each in kinds for place, name in enumerate(each, 1)}


def without_names(request: ReportRequest, called: Mapping[str, str]) -> ReportRequest:
    """Return the request with raters, readers and reviewers numbered, without notes and the account of the file's rows.

    Notes of reviewers and that account may contain names.

    Parameters
    ----------
    request : ReportRequest
    called : mapping of str to str
        As `numbered` returns it for the datasets of the request.
    """
    chosen, selected = request.selection, request.selected
    if chosen.raters is not None:
        chosen = replace(chosen, raters=tuple(called.get(name, "Rater") for name in chosen.raters))
        selected = chosen.words(request.dataset)
    dataset = renamed(request.dataset, called)
    people = _reviewers(request.reviews.values())
    study = request.study
    if study is not None:
        study = replace(study, readers=tuple(f"Reader {place}" for place in range(1, len(study.readers) + 1)))
    return replace(
        request,
        dataset=dataset,
        settings=with_names(with_codes(request.settings, request.dataset), dataset),  # fits name their raters
        with_machines=None if request.with_machines is None else renamed(request.with_machines, called),
        machines=tuple(called[name] for name in request.machines),
        marks=_marks(request.marks, called),
        report=None,
        selection=chosen,
        selected=selected,
        reviews={case: _review(one, people) for case, one in request.reviews.items()},
        assigned=None if request.assigned is None else request.assigned.drop(columns=_OF_PEOPLE),
        study=study,
    )


def renamed(dataset: Dataset, called: Mapping[str, str]) -> Dataset:
    """Return the same annotations with raters called by their numbers."""
    return renamed_raters(dataset, [called[name] for name in dataset.raters])


def _marks(marks: Iterable[Machine], called: Mapping[str, str]) -> tuple[Machine, ...]:
    kept = [one for one in marks if one.name in called]
    families = list(dict.fromkeys(one.family for one in kept if one.family))
    named = {family: f"Family {place}" for place, family in enumerate(families, 1)}
    return tuple(replace(one, name=called[one.name], family=named.get(one.family, one.family)) for one in kept)


def _reviewers(reviews: Iterable[CaseReview]) -> dict[str, str]:
    """Return "Reviewer 1", ... for everybody in the trails, in the order of their first events; "" stays."""
    trail = (event for review in reviews for event in review.events)
    events = sorted(trail, key=lambda event: (event.at, event.number))
    names = dict.fromkeys(name for event in events for name in (event.reviewer, event.whom) if name)
    return {"": "", **{name: f"Reviewer {place}" for place, name in enumerate(names, 1)}}


def _review(review: CaseReview, people: Mapping[str, str]) -> CaseReview:
    def event(one: Event) -> Event:
        return replace(one, reviewer=people[one.reviewer], whom=people[one.whom], note="")

    def read(one: ReviewerOpinion) -> ReviewerOpinion:
        return replace(one, reviewer=people[one.reviewer])

    return replace(
        review,
        reads=tuple(map(read, review.reads)),
        asked=tuple((people[name], visible) for name, visible in review.asked),
        adjudication=None if review.adjudication is None else event(review.adjudication),
        revealed=tuple(people[name] for name in review.revealed),
        unblinded=frozenset(people[name] for name in review.unblinded),
        events=tuple(map(event, review.events)),
    )
