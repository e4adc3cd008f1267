"""Sentences, figures and tables of the parts on certainty and classifiers, on numbers of which no two are alike."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analyses.blocks import Download, Figure, Grid, Heading, Row, Words
from core.analyses.cases import of_label
from core.analyses.inputs import Inputs
from core.analyses.reliability import (
    RELIABILITY,
    SetOptions,
    SweepOptions,
    anchors,
    other_model,
    prediction_sets,
    risk,
    scores,
    set_classifiers,
)
from core.analyses.reliability.certainty import over_trust
from core.analyses.reliability.classifiers import in_percent
from core.analyses.reliability.models import ModelComparison, heading, present, scale_of
from core.analyses.reliability.relations import relation
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.risk import RiskResult
from core.certainty.score_trust import score_trust
from core.certainty.shares import CertaintyShares
from core.certainty.top_sets import CertaintyResult
from core.evaluation.choice import verdict
from core.evaluation.gold_accuracy import gold_accuracy
from core.evaluation.prediction_sets import CALIBRATION, LEFT_OUT, TEST, CoveredShare, SetGroup
from core.evaluation.predictions import open_predictions
from core.evaluation.score_errors import errors_verdict
from core.evaluation.set_metrics import SetMetrics
from core.evaluation.sweep_table import SweepTable, reliability_sweep
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.report.page import printed
from core.thresholds import LEAST_GOLD
from tests.core.analyses.test_contract import every

UNCLEAR = "Mean certainty does not clearly change with γ"


def tables(blocks):
    """Grids and downloads by their keys, of blocks as paper and pages have them."""
    return {block.key: block.table for block in every(blocks) if isinstance(block, Grid | Download)}


def certainty(*top1: float) -> CertaintyResult:
    """Of cases of two classes; the first two classes of each are settled."""
    n = len(top1)
    both = np.column_stack([top1, np.ones(n)])
    names = tuple(f"case {place}" for place in range(n))
    return CertaintyResult(names, ("x", "y"), both, 0.01 * both, np.zeros((n, 2, 2), np.int32), np.zeros((n, 2)))


def sweep(*levels) -> SweepTable:
    return SweepTable(tuple(place + 1.0 for place in range(len(levels))), tuple(certainty(*level) for level in levels))


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (
            [(0.5, 0.7), (0.8, 1.0)],
            "Mean certainty rises from 60% to 90% as γ increases; 1 of 2 cases is still below 90% at γ = 2",
        ),
        (
            [(0.8, 1.0), (0.5, 0.7)],
            "Mean certainty falls from 90% to 60% as γ increases; 2 of 2 cases are still below 90% at γ = 2",
        ),
        (
            [(0.5, 0.7), (0.92, 1.0)],
            "Mean certainty rises from 60% to 96% as γ increases; at γ = 2, every case reaches 90%",
        ),
        (
            [(0.5, 0.7), (0.92, 1.0), (0.95, 1.0)],
            "Mean certainty rises from 60% to 98% as γ increases; at γ = 2, every case reaches 90%",
        ),
        ([(0.92, 0.94), (0.95, 1.0)], "Mean certainty rises from 93% to 98% as γ increases; no case is below 90%"),
        ([(0.8, 1.0), (1.0, 0.8)], "Mean certainty is 90% at every γ; 1 of 2 cases is still below 90% at γ = 2"),
        (
            [(0.7,), (0.716,)],
            f"{UNCLEAR} (70% to 72%); 1 of 1 case is still below 90% at γ = 2",
        ),
        (
            [(0.716,), (0.7,)],
            f"{UNCLEAR} (72% to 70%); 1 of 1 case is still below 90% at γ = 2",
        ),
        (
            [(0.7,), (0.76,)],
            "Mean certainty rises from 70% to 76% as γ increases; 1 of 1 case is still below 90% at γ = 2",
        ),
        ([(0.8, 0.85, 1.0)], "Certainty is below 90% in 2 of 3 cases at γ = 1"),
    ],
)
def test_the_title_of_reliability_says_which_way_certainty_goes(levels, words):
    """Standard errors of a hundredth of the certainty: 0.700 to 0.716 is within two of them, 0.700 to 0.760 is not."""
    assert over_trust(sweep(*levels)) == words


def shares_of(single: list[bool]) -> CertaintyShares:
    no = np.zeros(len(single), bool)
    return CertaintyShares(no, np.array(single), no, 0.9, 3, None)


def test_the_title_of_reliability_counts_no_case_with_one_annotation():
    both = sweep((0.5, 0.7, 0.75), (0.92, 1.0, 0.8))
    said = over_trust(both, shares_of([False, False, True]))
    assert said == (
        "Mean certainty rises from 60% to 96% as γ increases; at γ = 2, every case with two or more annotations "
        "reaches 90%"
    )
    assert over_trust(both, shares_of([True] * 3)) == "No case has two annotations, so certainty is not available"
    assert over_trust(both, shares_of([False] * 3)) == over_trust(both)


@pytest.mark.parametrize("levels", [[(0.5,), (0.92,)], [(0.7,), (0.7,)], [(0.7,), (0.71,)], [(0.8,)]])
def test_over_trust_names_the_label_in_use_when_there_are_label_sets(levels):
    words = over_trust(sweep(*levels), about=" for “bus”")
    assert words.startswith(("Mean certainty for “bus” ", "Certainty for “bus” is below "))
    assert words.replace(" for “bus”", "") == over_trust(sweep(*levels))


def test_of_label_names_the_label_only_if_the_dataset_has_label_sets():
    view = SimpleNamespace(classes=("no bus", "bus"), kind="class")
    assert of_label(SimpleNamespace(kind="set"), view) == " for “bus”"
    assert of_label(SimpleNamespace(kind="set"), view, str.upper) == " for “BUS”"
    assert of_label(view, view) == ""


def test_in_percent_never_writes_all_or_none():
    shown = in_percent(pd.DataFrame({"better": ["A", "B"], "A": [np.nan, 0.0004], "B": [0.9996, np.nan]}))
    assert shown.to_numpy().tolist() == [["A", "", "over 99%"], ["B", "under 1%", ""]]
    twice = pd.DataFrame([["A", np.nan, 0.25], ["A", 0.75, np.nan]], columns=["better", "A", "A"])
    assert in_percent(twice).to_numpy().tolist() == [["A", "", "25%"], ["A", "75%", ""]]


def test_the_heading_of_risk_counts_cases_whose_level_of_most_plausibility_is_unsure():
    codes = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1]), np.array([0, 1, 0, 0, 1, 1])
    view = Dataset.from_classes("made", ("a", "b", "c"), ("r", "s"), ("x", "y"), *codes)
    zero = np.zeros(3)
    of_top1, summed = np.array([0.5, 0.6, 0.7]), np.array([0.95, 0.89, 0.91])
    sure = RiskResult(of_top1, zero, summed, zero, zero.astype(int), np.array([0.2, 1.2, 1.8]), np.zeros((3, 3)))
    other = replace(sure, summed=zero)
    found = SimpleNamespace(reliabilities=(1.0, 3.0, 5.0), risk=(other, sure, other))
    blocks = risk.present(found, Inputs(view), None)
    assert blocks[0].text == "At γ = 3, the certainty of the risk level is below 90% in 1 of 3 cases"
    annotations = blocks[2].stacks[0].blocks[0].draw(LIGHT)
    assert [trace.name for trace in annotations.data] == ["low (1 case)", "medium (1 case)", "high (1 case)"]
    told = {"case": ["a", "b", "c"], "expected_risk": [0.2, 1.2, 1.8], "risk_of_top1": [0.5, 0.6, 0.7]}
    told |= {"risk_summed": [0.95, 0.89, 0.91], "annotations": [2, 2, 2], "distinct_classes": [2, 1, 1]}
    assert blocks[3].table.to_dict("list") == told


CURVE = SimpleNamespace(
    reliability=np.array([1.0, 3.0, 9.0]), best=3.0, low=1.5, high=6.25, n_held_out=1234, n_cases=31, note="A note.",
    score=np.zeros(3), diff=np.zeros(3), diff_se=np.ones(3), at_end="", open_ends=(False, False),
)  # fmt: skip


@pytest.mark.parametrize(
    ("at_end", "open_ends", "words"),
    [
        ("", (False, False), "Highest held-out score at γ = 3.00 (1.50 to 6.25)"),
        ("", (False, True), "Highest held-out score at γ = 3.00 (1.50 or more)"),
        ("", (True, False), "Highest held-out score at γ = 3.00 (6.25 or less)"),
        ("", (True, True), "Highest held-out score at γ = 3.00 (1.50 to 6.25, the whole range tested)"),
        ("lowest", (True, False), "Highest held-out score at the lowest γ tested: the curve has no peak"),
        ("highest", (False, True), "Highest held-out score at the highest γ tested: the curve has no peak"),
    ],
)
def test_the_best_trust_of_held_out_readers_has_its_range_or_lies_at_an_end(at_end, open_ends, words):
    figure, note = anchors.readers_blocks(SimpleNamespace(**vars(CURVE) | {"at_end": at_end, "open_ends": open_ends}))
    assert figure.draw(LIGHT).layout.title.text == words
    assert note.plain == "1,234 annotations on 31 cases were held out one at a time. A note."


@pytest.mark.parametrize("few", [True, False])
def test_certainty_against_gold_has_its_range_and_says_from_how_many_cases_it_decides(few):
    least = LEAST_GOLD
    n = least - few
    ends = {name: np.ones(3) for name in ("log_loss", "log_loss_low", "log_loss_high", "ece")}
    curve = SimpleNamespace(
        scored="certainty", **vars(CURVE) | ends | {"n_cases": n, "diagram": lambda reliability: ()}
    )
    loss, diagram, note = anchors.truth_blocks(curve, 4.0)
    assert loss.draw(LIGHT).layout.title.text == "Lowest log loss at γ = 3.00 (1.50 to 6.25)"
    assert diagram.draw(LIGHT).layout.title.text == "Certainty at γ = 4.00 compared with the share of correct cases"
    assert note.plain == f"{n} cases with gold." + (
        f" The default γ is chosen from gold if there are {least} or more such cases." if few else ""
    )


def test_figures_of_classifiers_say_at_which_trust_they_are():
    cases = np.repeat(np.arange(6), 3)
    answer = np.array([0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
    data = Dataset.from_classes(
        "made", tuple("abcdef"), ("r", "s", "t"), ("x", "y"), cases, np.tile(range(3), 6), answer
    )
    names = [open_predictions(name, f"case,class,score\n{rows}".encode(), data)[0] for name, rows in GUESSES.items()]
    found = reliability_sweep(DirichletCounts(), data, [1.0, 3.0], classifiers=names, n_draws=40)
    inputs = Inputs(data, predictions=tuple(names), settings=AnalysisSettings(DirichletCounts(), 3.2))
    blocks = list(printed(RELIABILITY.part("classifiers").blocks(found, inputs)))
    titles = {block.key: block.draw(LIGHT).layout.title.text for block in blocks if isinstance(block, Figure)}
    assert titles["metric_draws"] == "Over draws at γ = 3"
    assert titles["metric_cases"] == "Per case at γ = 3"
    assert blocks[0].plain == f"{verdict(found.reliabilities, found.evaluation, 'top1_accuracy')}."
    assert any(
        block.plain.startswith("Probabilities are taken over 40 shared draws")
        for block in blocks
        if isinstance(block, Words)
    )
    at, left = found.evaluation[1], tables(RELIABILITY.part("classifiers").blocks(found, inputs))
    for key, first, values in (
        ("metric_cases", "case", at.by_case[:, :, 0]), ("better", "better", at.better[:, :, 0])
    ):  # fmt: skip
        assert left[key].columns.tolist() == [first, "net", "tree"]
        np.testing.assert_array_equal(left[key][["net", "tree"]], values)
    np.testing.assert_array_equal(left["metric_draws"], at.by_draw[:, 0].T)


GUESSES = {
    name: "\n".join(f"{case},{'xy'[(place + shift) % 2]},1" for place, case in enumerate("abcdef"))
    for shift, name in enumerate(("net", "tree"))
}


# Relations


def test_a_case_with_one_annotation_has_no_agreement_and_leaves_with_the_others():
    codes = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 0, 1, 0]), np.array([0, 0, 0, 1, 1, 1, 0])
    data = Dataset.from_classes("made", tuple("abcd"), ("r", "s"), ("x", "y"), *codes)
    found = reliability_sweep(DirichletCounts(), data, [1.0], n_draws=40)
    _, figure, download = RELIABILITY.part("relations").blocks(found, Inputs(data))
    assert len(figure.draw(LIGHT).data[0].x) == 3 and download.table["case"].tolist() == list("abcd")
    assert download.table["certainty"].tolist() == found.certainty[0].certainty[:, 0].tolist()


def test_certainty_under_another_model_has_the_name_and_the_reliability_of_that_model():
    assert other_model(["dirichlet", "mixture-plackett-luce", "plackett-luce", "prirn"], "dirichlet") == "plackett-luce"
    assert other_model(["dirichlet", "ordinal-truth"], "dirichlet") is None, "it needs to learn something of raters"
    cases, own = tuple("abcdefgh"), np.array([0.9, 0.8, 0.6, 0.7, 0.4, 0.95, 0.55, 0.65])
    others = np.array([0.8, 0.85, 0.5, 0.75, 0.45, 0.9, 0.7, 0.6])
    sweeps = [SweepTable((at,), (SimpleNamespace(certainty=one[:, None]),)) for at, one in ((2.0, own), (7.0, others))]
    found = ModelComparison(("dirichlet", "plackett-luce"), tuple(sweeps), (0, 0))
    block, download, *_ = present(found, Inputs(SimpleNamespace(cases=cases)), None)
    figure, names = block.draw(LIGHT), list(found.names)
    assert heading("plackett-luce").term.name == "plackett-luce" and [name[-5:] for name in names] == ["γ = 2", "γ = 7"]
    assert [axis.title.text.replace("<br>", " ") for axis in (figure.layout.xaxis, figure.layout.yaxis)] == [
        f"certainty under {name}" for name in names
    ]
    points = figure.data[1]
    assert (list(points.x), list(points.y), list(points.customdata)) == (list(own), list(others), list(cases))
    assert download.table.to_dict("list") == {"case": list(cases), names[0]: list(own), names[1]: list(others)}
    low, high = stats.pearsonr(own, others).confidence_interval(0.95)
    words = [f"{value:.2f}" for value in (np.corrcoef(own, others)[0, 1], low, high)]
    assert figure.layout.title.text == f"Correlation {words[0]} ({words[1]} to {words[2]})"


def test_two_models_are_side_by_side_over_their_own_scales_and_certainty_is_no_target():
    """Figure 14: PrIRN at 10 to 100 as in the paper, sorted certainty of each; cases are compared at its default."""
    data = load_sample("dermatology")
    inputs, part = Inputs(data, settings=AnalysisSettings(DirichletCounts(), 1.0)), RELIABILITY.part("models")
    options = part.resolve(reliabilities=(1.0, 2.0, 5.0), n_draws=50)
    found = part.answer(inputs, options)
    assert scale_of("prirn") == (10, 20, 30, 50, 100) and scale_of("plackett-luce") == (1, 2, 3, 5, 10)
    other = found.models[1]
    assert [sweep.reliabilities for sweep in found.sweeps] == [(1, 2, 5), scale_of(other)]
    assert found.names[0].endswith("γ = 2") and found.names[1].endswith("γ = 3")
    own = reliability_sweep(DirichletCounts(), data.as_classes()[0], (2.0,), n_draws=50, seed=options.seed)
    assert (found.certainty[0] == own.certainty[0].certainty[:, 0]).all()
    *_, row, caution = part.blocks(found, inputs, options)
    for stack, sweep in zip(row.stacks, found.sweeps, strict=True):
        curves = stack.blocks[0].draw(LIGHT).data
        assert [sorted(curve.y) for curve in curves] == [sorted(one.certainty[:, 0]) for one in sweep.certainty]
    assert part.frame(found, inputs, options).shape == (3, 1 + 3 + 5)
    assert "Certainty is not a target" in caution.plain


def test_classifiers_are_side_by_side_under_both_models():
    """Figure 6: the metric of each classifier against γ, each model over its own scale, beside its certainty."""
    data = load_sample("dermatology").as_classes()[0]
    table = "case,class\n" + "\n".join(f"{case},{data.classes[place]}" for place, case in enumerate(data.cases))
    (net,) = open_predictions("net", table.encode(), data)
    settings = AnalysisSettings(DirichletCounts(), 1.0)
    inputs, part = Inputs(data, predictions=(net,), settings=settings), RELIABILITY.part("models")
    options = part.resolve(reliabilities=(1.0, 5.0), n_draws=50, metric="top1_accuracy")
    found = part.answer(inputs, options)
    row = part.blocks(found, inputs, options)[-2]
    for stack, sweep in zip(row.stacks, found.sweeps, strict=True):
        _, figure, download = stack.blocks
        band, line, *_ = figure.draw(LIGHT).data
        values = [one.values["net"]["top1_accuracy"] for one in sweep.evaluation]
        assert list(line.x) == list(sweep.reliabilities) and list(line.y) == [value.mean for value in values]
        assert set(band.y) == {end for value in values for end in (value.ci_low, value.ci_high)}
        assert download.table["mean"].tolist() == list(line.y)
    alone = part.answer(replace(inputs, predictions=()), options)
    assert [len(stack.blocks) for stack in part.blocks(alone, inputs, options)[-2].stacks] == [1, 1]


@pytest.mark.parametrize("seed", range(5))
def test_line_correlation_and_interval_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    y = 0.5 * x + rng.normal(size=40)
    found, line, exact = relation(x, y), stats.linregress(x, y), stats.pearsonr(x, y)
    assert (found.intercept, found.slope) == pytest.approx((line.intercept, line.slope), rel=1e-12)
    assert found.correlation == pytest.approx(exact.statistic, rel=1e-12)
    interval = exact.confidence_interval(0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx((interval.low, interval.high), rel=1e-9)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [2, 2, 2]), ([], [])])
def test_without_spread_or_with_fewer_than_three_pairs_there_is_none(x, y):
    found = relation(np.array(x, float), np.array(y, float))
    assert found.correlation is None and found.slope is None and found.n == len(x)


def test_three_pairs_have_a_correlation_and_no_interval():
    found = relation(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    assert found.correlation == pytest.approx(0.5)
    assert found.ci_low is None


@pytest.mark.parametrize(("slope", "correlation"), [(2.0, 1), (-0.5, -1)])
def test_a_perfect_line_has_a_correlation_without_an_interval(slope, correlation):
    x = np.array([0.0, 1.0, 2.0, 3.0])  # whose correlation has no rounding
    found = relation(x, 3 + slope * x)
    assert (found.intercept, found.slope, found.correlation) == pytest.approx((3, slope, correlation))
    assert found.correlation == correlation and found.ci_low is None and found.ci_high is None


# Prediction sets


def share(value, n=30) -> CoveredShare:
    return CoveredShare(value, value - 0.1, value + 0.05, n)


def some_sets(**own) -> SimpleNamespace:
    """Of seven cases: two calibrate, four test, one is left out; each number is met once."""
    told = {
        "part": np.array([CALIBRATION, CALIBRATION, TEST, TEST, TEST, TEST, LEFT_OUT]),
        "size": np.array([0, 0, 0, 2, 1, 3, 0]), "mean_size": 1.5, "n_classes": 12, "n_calibration": 2, "n_test": 4,
        "alpha": 0.2, "threshold": 0.31, "aggregated": share(0.81), "voted": share(0.84), "true": share(0.77, 1),
        "all_classes": False, "strata": (), "groups": (), "classifier": "net",
    }  # fmt: skip
    return SimpleNamespace(**{**told, **own})


def test_empty_sets_are_counted_among_the_test_cases():
    assert prediction_sets.words(some_sets(), 3.0) == (
        "On 4 test cases at γ = 3, the sets contain 1.50 of 12 classes on average. They contain the true class in "
        "81.0% (71.0% to 86.0%) of cases, the majority class in 84.0% (74.0% to 89.0%) and the gold class in 77.0% "
        "(67.0% to 82.0%) of 1 case. 1 set is empty: no class has a high enough score."
    )
    none = some_sets(size=np.array([0, 0, 1, 2, 1, 3, 0]), voted=None, true=None)
    assert prediction_sets.words(none, 3.0).endswith("the true class in 81.0% (71.0% to 86.0%) of cases.")
    below = some_sets(size=none.size, voted=None, true=None, aggregated=share(0.7))
    assert prediction_sets.words(below, 3.0).endswith(
        "the true class in 70.0% (60.0% to 75.0%) of cases. Coverage of the true class is below the guaranteed share. "
        "This share is an average: with 2 calibration cases, coverage can be higher or lower by chance."
    )
    by_chance = some_sets(size=none.size, voted=None, true=None, aggregated=share(0.78))
    assert prediction_sets.words(by_chance, 3.0).endswith("the true class in 78.0% (68.0% to 83.0%) of cases.")


def test_a_promise_is_broken_only_where_the_whole_interval_lies_below_it():
    groups = (
        SetGroup("group", "near", 11, share(0.78), None, 1.2),
        SetGroup("group", "far", 12, share(0.6), share(0.7), 2.3),
        SetGroup("risk", "high", 13, share(0.74), share(0.8), 2.4),
    )
    figure, note, download = prediction_sets.conditional(some_sets(groups=groups), 3.0)
    all_cases = "The guarantee applies to all cases together. "
    assert note.plain == f"{all_cases}Coverage is clearly below the guaranteed share for group far and risk high."
    frame = download.table
    assert frame.columns.tolist() == [
        "by", "value", "n", "mean_size", "aggregated", "aggregated_low", "aggregated_high", "voted",
    ]  # fmt: skip
    assert frame.iloc[1].tolist() == ["group", "far", 12, 2.3, 0.6, 0.5, 0.6 + 0.05, 0.7]
    assert figure.draw(LIGHT).layout.title.text.endswith("at γ = 3")
    _, note, _ = prediction_sets.conditional(some_sets(groups=groups[:1], strata=("a",)), 3.0)
    assert (
        note.plain
        == "The guarantee applies to each stratum. Coverage is not clearly below the guaranteed share in any group."
    )


@pytest.mark.parametrize(
    ("votes", "more"),
    [((0.9, 0.86), True), ((0.9, 0.84), False), ((0.9, 0.75), False), ((0.6, 0.6), False), ((0.9, None), False)],
)
def test_the_vote_is_held_more_often_only_where_that_is_so_at_every_reliability(votes, more):
    found = tuple((some_sets(voted=None if vote is None else share(vote), aggregated=share(0.8)),) for vote in votes)
    blocks = prediction_sets._against_reliability(found, tuple(of for (of,) in found), SetOptions((1.0, 3.0)))
    assert (
        any(
            "contain the majority class more often than they contain the true class" in block.plain
            for block in blocks
            if isinstance(block, Words)
        )
        == more
    )
    left = tables(blocks)
    assert left["sets_numbers"].equals(left["sets_table"]) and left["sets_numbers"]["reliability"].tolist() == [1, 3]
    coverage, size = (stack.blocks[0].draw(LIGHT) for stack in blocks[0].stacks)
    assert [*size.data[0].y] == [1.5, 1.5] and [*coverage.data[1].y] == [0.8, 0.8]


# Scores


def test_scores_of_every_case_have_the_reliability_that_they_are_at():
    data = load_sample("essays")
    trust = score_trust(data, GaussianScores(6.0, 5.0, 0.5, 2.0, 1.0), [1.0, 3.0])
    frame = scores.by_case(data, trust)
    assert frame["case"].tolist() == list(data.cases)
    for place, at in enumerate("13"):
        named = {"score": trust.m, "95% from": trust.low, "95% to": trust.high, "P(above)": trust.above}
        for label, values in named.items():
            assert frame[f"{label} at {at}"].tolist() == values[place].tolist()


def test_without_a_threshold_the_figure_of_scores_has_the_whole_width():
    data = load_sample("essays")
    for threshold in (6.0, None):
        model = GaussianScores(threshold, 5.0, 0.5, 2.0, 1.0)
        inputs = Inputs(data, settings=AnalysisSettings(model, 1.0))
        first = scores.present(score_trust(data, model, [1.0, 3.0]), inputs, None)[0]
        assert isinstance(first, Row if threshold else Figure)


def test_one_reliability_of_scores_is_told_without_another():
    width = np.array([[1.0, 2.0, 9.0]])
    one = SimpleNamespace(
        reliability=np.array([2.0]), above=None, width=width, m=np.zeros((1, 3)), threshold=4.0,
        certainty=np.array([[0.95, 0.6, 0.7]]),
    )  # fmt: skip
    assert scores.finding(one) == "Median width of the 95% interval: 2.0 at γ = 2"
    one.above = np.zeros((1, 3))
    assert scores.finding(one) == "At γ = 2, it is uncertain in 2 of 3 cases whether the score is above 4"
    both = {"reliability": np.array([2.0, 5.0]), "above": None, "width": np.array([[4.0], [1.0]])}
    two = SimpleNamespace(**vars(one) | both)
    assert scores.finding(two) == "Median width of the 95% interval: 4.0 at γ = 2, 1.0 at γ = 5"


def errors(reliability: float, mean, better) -> SimpleNamespace:
    mean = np.array(mean)[:, None]
    matrix = np.array([[np.nan, better], [1 - better, np.nan]])
    return SimpleNamespace(reliability=reliability, predictors=("A", "B"), mean=mean, better=matrix)


def test_who_errs_least_is_as_sure_as_at_the_trust_where_it_is_least():
    near, far = errors(1.0, (0.4, 0.5), 0.99), errors(3.0, (0.3, 0.6), 0.61)
    said = errors_verdict
    assert said((near, far)) == (
        "No predictor clearly has the smallest error: A is better than another predictor with only 61% probability"
    )
    later = errors(3.0, (0.3, 0.6), 0.97)
    assert said((near, later)) == "A has the smallest error at every γ, with at least 97% probability"
    assert said((near, errors(3.0, (0.6, 0.5), 0.02))) == "The predictor with the smallest error depends on γ"
    unclear = said((near, errors(3.0, (0.6, 0.5), 0.2)))
    assert unclear == (
        "No predictor clearly has the smallest error: B is better than another predictor with only 80% probability"
    )
    assert (
        said((errors(3.0, (0.5, 0.4), 0.004),))
        == "B has the smallest error at γ = 3, with at least over 99% probability"
    )
    alone = said((errors(3.0, (0.5, 0.4), np.nan),))
    assert alone == "Cannot compare the errors of predictors: no two of them predict the same case"


# Gold and sets of labels


@pytest.mark.parametrize(("metric", "top", "right"), [("top1_accuracy", 1, 1 / 3), ("top3_accuracy", 3, 2 / 3)])
def test_accuracy_by_gold_of_classifiers_is_of_the_lists_of_the_metric(metric, top, right):
    data = Dataset.from_classes(
        "d", tuple("abcd"), ("r",), ("x", "y", "z", "w"), np.arange(4), np.zeros(4, int), np.arange(4),
        gold=np.array([0, 1, 2, -1]),
    )  # fmt: skip
    rows = "case,class,score\na,x,.9\na,y,.1\nb,x,.9\nb,y,.05\nb,z,.04\nc,x,1\n"
    (net,) = open_predictions("net", rows.encode(), data)
    inputs = Inputs(data, predictions=(net,), settings=AnalysisSettings(DirichletCounts(), 1.0))
    found = reliability_sweep(DirichletCounts(), data, [1.0], classifiers=[net], n_draws=20)
    blocks = list(every(RELIABILITY.part("classifiers").blocks(found, inputs, SweepOptions((1.0,), metric=metric))))
    assert f"Top-{top} accuracy compared with gold" in [block.text for block in blocks if isinstance(block, Heading)]
    left = tables(blocks)
    assert left["gold_accuracy_table"].equals(gold_accuracy(data, (net,), top).to_frame())
    assert left["gold_accuracy"]["right_by_gold"].tolist() == [pytest.approx(right)]


def test_predicted_sets_are_shown_as_a_whole_and_by_label_and_leave_in_one():
    metrics = ("jaccard", "exact", "micro_f1", "macro_f1", *(f"{of} of bus" for of in ("precision", "recall", "f1")))
    parts = [np.random.default_rng(n).random((2, 7)) for n in range(5)]
    found = SetMetrics(3.0, ("net", "tree"), ("bus",), metrics, *parts, np.array([9, 8]))
    inputs = Inputs(None, settings=AnalysisSettings(DirichletCounts(), 3.0))
    blocks = set_classifiers.present(found, inputs, None)
    left = tables(blocks)
    assert left["set_metrics_file"].equals(found.to_frame()) and len(left["set_metrics_file"]) == 14
    for table, places in ((left["set_metrics"], range(4)), (left["label_metrics"], range(4, 7))):
        assert table["n_cases"].tolist() == [9] * len(places) + [8] * len(places)
        for name, values in zip(("mean", "low", "high", "total_low", "total_high"), parts, strict=True):
            assert table[name].tolist() == [values[who, at] for who in (0, 1) for at in places]
    assert left["label_metrics"]["metric"].tolist() == ["precision of bus", "recall of bus", "F1 of bus"] * 2
    assert blocks[1].text == "Whole sets, at γ = 3"


@pytest.mark.parametrize(
    ("low", "by_gold", "said"),
    [
        ((0.1, 0.56, 0.4), False, "net has a Jaccard index of 0.60 (0.56 to 0.70), compared with 0.50 for tree"),
        ((0.1, 0.51, 0.4), False, "net and tree do not clearly differ: Jaccard index 0.60 (0.51 to 0.70) and 0.50"),
        ((0.1, 0.5, 0.4), True, "net and tree do not clearly differ: Jaccard index 0.60 (0.50 to 0.70) and 0.50"),
    ],
)
def test_sets_of_the_best_classifier_are_told_apart_where_its_interval_lies_above_the_next(low, by_gold, said):
    mean, high = np.array([[0.2, 0.9], [0.6, 0.1], [0.5, 0.3]]), np.array([[0.3, 1], [0.7, 1], [0.55, 1]])
    result = SimpleNamespace(
        classifiers=("rule", "net", "tree"), mean=mean, total_low=np.array(low)[:, None], total_high=high,
        n_cases=np.array([90, 40, 80]),
    )  # fmt: skip
    assert set_classifiers.verdict(result, by_gold) == said


@pytest.mark.parametrize(
    ("by_gold", "what"), [(True, "the gold labels of 1 case"), (False, "the plausible labels of 1 case")]
)
def test_sets_of_one_classifier_are_said_with_the_cases_that_it_predicted(by_gold, what):
    result = SimpleNamespace(
        classifiers=("net",), mean=np.array([[0.6]]), total_low=np.array([[0.5]]), total_high=np.array([[0.8]]),
        n_cases=np.array([1]),
    )  # fmt: skip
    assert (
        set_classifiers.verdict(result, by_gold)
        == f"net has a Jaccard index of 0.60 (0.50 to 0.80) compared with {what}"
    )
