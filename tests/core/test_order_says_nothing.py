"""Raters, classes and cases have names and no order: the same annotations listed otherwise say and show the same."""

import numpy as np
import pandas as pd
import pytest

import core
from core.agreement.by_rater import by_rater, intra_rater
from core.agreement.pairs import pair_matrix
from core.agreement.specific import specific_agreement
from core.analyses.blocks import Figure, Grid, Words
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.explain import why
from core.figures import agreement_parts, rater_models
from core.figures import models as model_figures
from core.figures import raters as rater_figures
from core.figures.theme import LIGHT
from core.machines.disagreements import differences_from_panel
from core.machines.rates import machine_rates, people_labels
from core.models.comparison import vote_changes
from core.models.explain import explain
from core.models.gold_measures import gold_measures
from core.models.rater_summary import rater_summary
from core.raters.coverage import coverage
from core.raters.flagged_raters import flag_raters
from core.raters.influence import influence
from core.raters.monitoring import monitor
from core.report import data_sections, truth_sections
from core.report.build import ReportRequest

RATERS = ("eve", "ann", "dan", "bob", "cem", "gpt")
CLASSES = ("mole", "acne", "wart")
MACHINE, PEOPLE = "gpt", RATERS[:5]
N = 90


def made(raters=range(6), classes=range(3), cases=range(N)) -> Dataset:
    """The same annotations by raters, classes and cases in this order.

    No two numbers are alike: raters of unlike skill and share, the commonest class in the middle, cases of one to six
    annotations, gold for a third of them of which two raters have seen none, and one rater who repeats cases.
    """
    rng = np.random.default_rng(5)
    truth = rng.choice(3, N, p=[0.2, 0.5, 0.3])
    skill, share = (0.93, 0.7, 0.8, 0.25, 0.9, 0.75), (0.9, 0.8, 0.6, 0.7, 0.5, 0.95)
    rows = []
    for case in range(N):
        for rater in range(6):
            if (case < 30 and rater in (2, 4)) or rng.random() > share[rater]:
                continue
            for _ in range(1 + (rater == 1 and case % 10 == 4)):
                right = rng.random() < skill[rater]
                rows.append((case, rater, truth[case] if right else (truth[case] + rng.integers(1, 3)) % 3))
    case, rater, answer = np.array(rows).T
    gold = np.where(np.arange(N) < 30, truth, -1)
    of_case, of_rater, of_class = np.argsort(cases), np.argsort(raters), np.append(np.argsort(classes), -1)
    return Dataset.from_classes(
        "made", [f"case {n:02}" for n in cases], [RATERS[n] for n in raters], [CLASSES[n] for n in classes],
        of_case[case], of_rater[rater], of_class[answer], gold=of_class[gold[np.asarray(cases)]],
        case_group=[f"clinic {n % 4}" for n in cases],
    )  # fmt: skip


class Known:
    """What is worked out of one list."""

    def __init__(self, data: Dataset) -> None:
        self.data, self.people = data, data.select(raters=PEOPLE)
        self.vote, self.fit = core.MajorityVote().fit(data), core.DawidSkene().fit(data)
        self.table = monitor(data)
        self.act = flag_raters(self.table)


@pytest.fixture(scope="module")
def lists():
    """The annotations in one order and in another."""
    return Known(made()), Known(made((3, 5, 0, 1, 4, 2), (2, 0, 1), range(N)[::-1]))


def sentences(known: Known) -> dict[str, object]:
    data, fit = known.data, known.fit
    found: dict[str, object] = {"agreement": core.coefficients_for(data).words()}
    found["raters"] = known.act.words()
    found["flags"] = sorted((data.raters[flag.rater], flag.rule, flag.words) for flag in known.act.flags)
    found["votes"] = vote_changes(fit, known.vote, np.diff(data.case_ptr) > 0).words
    for case, name in enumerate(data.cases):
        reason = explain(data, fit, case)
        said = sorted((who, answer, round(adds, 3)) for who, answer, adds in reason.answers)
        found[name] = why(data, case, len(data.annotations_of(case))), reason.sentence, said
    return found


def test_sentences_are_the_same(lists):
    one, other = map(sentences, lists)
    for name, words in one.items():
        assert other[name] == words
    assert len({len(words[2]) for name, words in one.items() if name.startswith("case")}) == 6


def frames(known: Known) -> dict[str, pd.DataFrame]:
    data, fit = known.data, known.fit
    labels = people_labels(data, PEOPLE)
    labels[[int(name.split()[1]) >= 60 for name in data.cases]] = np.nan
    summary, matrix, met = rater_summary(data, fit), pair_matrix(data, "cohen_kappa"), coverage(data, fit)
    results = {
        "coefficients": core.coefficients_for(data), "pairs": matrix, "by rater": by_rater(data), "fit": fit,
        "vote": known.vote, "monitor": known.table, "to act on": known.act, "gold": gold_measures(data, fit),
        "left out": influence(data, fit, ["bob", "dan"]), "differs": differences_from_panel(data, MACHINE, PEOPLE),
        "rates": machine_rates(data, MACHINE, labels),
    }  # fmt: skip
    found = {f"{name}, {table}": result.to_frame(table) for name, result in results.items() for table in result.TABLES}
    for name in [name for name in found if name.startswith("gold")]:  # its intervals resample cases as they are listed
        found[name] = found[name][[column for column in found[name] if column not in ("low", "high")]]
    pairs = found["pairs, pairs"]
    both = np.sort(pairs[["rater", "other_rater"]].to_numpy(str), axis=1)
    found["pairs, pairs"] = pairs.assign(rater=both[:, 0], other_rater=both[:, 1])
    own = intra_rater(data)
    found["intra-rater"] = pd.DataFrame({"rater": own.raters, "value": [one.value for one in own.each]}).astype(
        {"value": float}
    )
    specific = specific_agreement(data)
    ends = {name: [getattr(one, name) for one in specific] for name in ("value", "ci_low", "ci_high", "n_cases")}
    found["specific"] = pd.DataFrame({"class": data.classes} | ends)
    found["summary"] = pd.DataFrame({"rater": data.raters, "accuracy": summary.accuracy, "spam": summary.dependence})
    found["met"] = pd.DataFrame(met.class_met, columns=list(data.classes)).assign(rater=data.raters)
    return found


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """The same rows and columns, in whatever order."""
    assert sorted(one) == sorted(other)
    numbers = [name for name in one if pd.api.types.is_numeric_dtype(one[name])]
    words = [name for name in one if name not in numbers]
    ordered = []
    for frame in (one, other):
        keys = frame[words].astype(str).join(frame[numbers].astype(float).round(4))
        ordered.append(frame.loc[keys.sort_values([*words, *sorted(numbers)], kind="stable").index])
    assert ordered[0][words].astype(str).to_numpy().tolist() == ordered[1][words].astype(str).to_numpy().tolist()
    values = [frame[sorted(numbers)].to_numpy(float) for frame in ordered]
    np.testing.assert_allclose(*values, rtol=1e-4, atol=1e-5)


def test_tables_are_the_same(lists):
    one, other = map(frames, lists)
    for name, frame in one.items():
        same(frame, other[name])


def points(figure) -> list[tuple]:
    """Everything that is drawn at a place with a name, by its names, without colours and without places of names."""
    layout, found = figure.layout, []
    for trace in figure.data:
        n = len(trace.x) if trace.x is not None else len(trace.y)
        for place in range(n):
            told = [trace.type, str(trace.name)]
            for axis, letter in ((layout.xaxis, "x"), (layout.yaxis, "y")):
                at = trace[letter][place]
                named = axis.ticktext is not None and axis.tickvals is not None and at in list(axis.tickvals)
                told.append(axis.ticktext[list(axis.tickvals).index(at)] if named else _rounded(at))
            told += [
                str(_rounded(more[place])) if more is not None and len(more) == n else ""
                for more in (trace.customdata, trace.text)
            ]
            for bars in (trace.error_x, trace.error_y):
                ends = () if bars.array is None else (bars.array, bars.arrayminus)
                told.append(str([_rounded(end[place]) for end in ends]))
            found.append(tuple(told))
    lines = [(str(_rounded(shape.x0)), str(_rounded(shape.y0)), shape.line.dash) for shape in layout.shapes]
    return sorted(map(str, [*found, *lines, layout.title.text]))


def _rounded(value: object) -> object:
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return [_rounded(each) for each in value]
    return float(f"{float(value):.3g}") + 0.0


def drawings(known: Known) -> dict:
    data, fit = known.data, known.fit
    own = by_rater(data)
    codes = [data.classes.index(name) for name in CLASSES]
    raw = np.bincount(data.answer, minlength=3) / data.n_annotations
    return {
        "accuracy": rater_models.accuracy_by_rater(fit, LIGHT, ""),
        "of each rater compared with the other raters": rater_figures.accuracy_against_pool(known.act, LIGHT, ""),
        "prevalence by model": model_figures.prevalence_by_model({"one": fit}, raw, LIGHT, "", codes),
        "forest": agreement_parts.named_forest(own.raters, own.each, LIGHT, "", "axis", 0.5),
    }


def test_figures_are_the_same(lists):
    one, other = map(drawings, lists)
    for name, figure in one.items():
        assert points(figure) == points(other[name]), name


def test_sections_of_a_report_are_the_same(lists):
    told = []
    for known in lists:
        request = ReportRequest(known.data, "data", AnalysisSettings(core.DirichletCounts(), 1.0), (1.0,), n_draws=50)
        parts = [section(request, (), None, None) for section in (data_sections.agreement, data_sections.raters)]
        told.append([*parts[0], *parts[1], truth_sections._raters(known.data)])
    for one, other in zip(*told, strict=True):
        assert type(one) is type(other)
        if isinstance(one, Words):
            assert one == other
        elif isinstance(one, Grid):
            assert one.caption == other.caption
            same(one.table, other.table)
        elif isinstance(one, Figure):
            assert points(one.draw(LIGHT)) == points(other.draw(LIGHT))
    judges = [
        set(block.table["judged_by"]) for block in told[0] if isinstance(block, Grid) and "judged_by" in block.table
    ]
    assert judges == [{"gold", "model"}]
