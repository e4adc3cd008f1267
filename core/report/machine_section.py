"""Section on AI raters: whether each can replace a rater, and how many raters it is equivalent to."""

from collections.abc import Sequence

import pandas as pd

from ..analyses.blocks import Figure, Grid, Words
from ..analyses.panel import PANEL, options_of
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError, PluralityError
from ..figures import machines as figures
from ..machines.alternative_test import AlternativeTest, alternative_test
from ..machines.equivalent_readers import equivalent_readers
from ..machines.joined import joined, of_predictions
from ..machines.marks import described
from ..machines.rates import AGREEMENT, machine_rates, people_labels, rate_words
from ..machines.sentences import AGAINST_RATERS, as_well_as, in_detail, silences, verdict
from ..machines.versions import version_drift
from ..text import percent, plural, with_interval

MOST_RATES = 12  # classes


def machines(request, sections, token, progress) -> list:
    """Return the alternative annotator test of AI raters and classifiers, and how many raters each is worth.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    dataset, names, left_out = _compared(request)
    people = tuple(name for name in dataset.raters if name not in set(names))
    if not names or len(people) < 2 or not dataset.raters_identified:
        return []
    how = {"people": people, "seed": request.seed, "token": token}
    found = alternative_test(dataset, names, **how, progress=progress)
    tested = [one for one in found.machines if one.raters]
    blocks: list = [Words(f"{verdict(found)}.", "lead"), Grid(_table(found, dataset, people, request.seed), _CAPTION)]
    if tested:
        title = as_well_as(found)
        drawn = Figure(lambda theme: figures.against_raters(found.machines, found.epsilon, theme, title), title)
        blocks += [drawn, Words(AGAINST_RATERS, "legend")]
    blocks += [Words(in_detail(one, found.epsilon)) for one in found.machines]
    blocks += [Words(one, "note") for one in silences(dataset, people, found.machines)]
    drift = version_drift(dataset, described(names, request.marks), people, seed=request.seed)
    blocks += [Words(one.words()) for one in drift]
    blocks += [*_rates(dataset, names, people), *_panel(dataset, names, request)]
    blocks += [Words(why, "note") for why in left_out]
    return [
        *blocks,
        Words("The test rewards agreement with most raters, so an AI rater that shares their errors can pass."),
    ]


def _panel(dataset: Dataset, machines: Sequence[str], request) -> list:
    """Return how much several AI raters are worth together; nothing for one."""
    (part,) = PANEL.parts
    if len(machines) < 2 or not part.applicable(dataset).possible:
        return []
    asked = part.with_options(**options_of(dataset, described(machines, request.marks)), seed=request.seed)
    try:
        found = asked.answer(dataset)
    except NotApplicableError as error:
        return [Words(str(error), "note")]
    return asked.blocks(found, dataset)


def _rates(dataset: Dataset, machines: Sequence[str], people: Sequence[str]) -> list:
    """Return rates of classes among all cases, if AI raters labelled cases that no rater did; else nothing."""
    if dataset.kind != "class":
        return []
    if dataset.n_classes > MOST_RATES:
        return [Words(f"Rates over all cases are not shown for more than {MOST_RATES} classes.", "note")]
    labels = people_labels(dataset, people)
    blocks: list = []
    for name in machines:
        try:
            found = machine_rates(dataset, name, labels)
        except NotApplicableError as error:
            blocks.append(Words(str(error), "note"))
            continue
        if found.n <= found.n_labelled:
            continue
        rows = [
            {
                "rate of": one.of if one.is_class else AGREEMENT,
                "AI rater only": "–" if one.alone is None else percent(one.alone),
                "people's labels only": rate_words(one.people),
                "corrected": rate_words(one.corrected),
            }
            for one in found.rates
        ]
        cases = f"{found.n_labelled:,} of {plural(found.n, 'case')}"
        blocks.append(
            Grid(pd.DataFrame(rows), f"Rates for {name} over all cases, with 95% intervals. People labelled {cases}.")
        )
        blocks.append(Words(_HOLD, "note"))
    return blocks


_HOLD = (
    "Rates are valid if the cases that people labelled are a random sample. People's labels contain errors, so a "
    "rate estimates how often people would choose the class."
)
_CAPTION = (
    "Alternative annotator test, and number of raters that each AI rater is worth, with 95% intervals over cases."
)


def _compared(request) -> tuple[Dataset, tuple[str, ...], list[str]]:
    """Return the data with AI raters as raters, their names, and classifiers that cannot be compared, with reasons.

    Classifiers come first, so that each has the same colour as in other sections.
    """
    dataset = request.dataset if request.with_machines is None else request.with_machines
    first, left_out = tuple[str, ...](), list[str]()
    view = request.dataset
    if view.raters_identified:
        for classifier in request.classifiers:
            if classifier.name in request.machines:
                first += (classifier.name,)
                continue
            try:
                dataset, more, _ = joined(dataset, of_predictions(view, classifier))
            except PluralityError as error:
                left_out.append(f"{classifier.name} is left out. {error}")
                continue
            first += more
    return dataset, tuple(dict.fromkeys(first + request.machines)), left_out


def _table(found: AlternativeTest, dataset: Dataset, people: tuple[str, ...], seed: int) -> pd.DataFrame:
    rows = []
    for one in found.machines:
        try:
            worth = equivalent_readers(dataset, one.machine, people, seed=seed).words()
        except NotApplicableError as error:
            worth = f"– ({error})"
        rows.append(
            {
                "AI rater": one.machine,
                "not worse than": f"{one.n_rejected:,} of {len(one.raters):,}" if one.raters else "–",
                "advantage ρ": "–" if one.rho is None else with_interval(one.rho, one.rho_low, one.rho_high),
                "worth in raters": worth,
                "cases": one.n_cases,
            }
        )
    return pd.DataFrame(rows)
