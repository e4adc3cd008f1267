"""Every result shows itself in a few lines, safely in a notebook, and as frames whose numbers are its own."""

import inspect
import json
import math
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import core
from core.agreement.by_rater import by_rater
from core.agreement.guideline import review_guideline
from core.agreement.over_time import over_time
from core.agreement.pairs import pair_matrix
from core.agreement.precision import precision_curve
from core.analyses import gate
from core.analyses.inputs import Inputs
from core.analyses.questions import QUESTIONS
from core.analyses.reliability.relations import relation
from core.annotations.dataset import Dataset
from core.annotations.earlier_version import compare_with_earlier
from core.annotations.paired_items import COMPARED, PairedItems
from core.annotations.write import long_table
from core.certainty.label_sets import label_set_certainty
from core.certainty.more_raters import more_raters
from core.certainty.p_correct import of_average
from core.certainty.score_trust import plausible_score, score_trust
from core.certainty.scores_by_gold import scores_by_gold
from core.certainty.shares import certainty_shares
from core.errors import OptionError
from core.evaluation.corrected_rates import class_rate
from core.evaluation.gold_accuracy import gold_accuracy
from core.evaluation.prediction_sets import prediction_sets
from core.evaluation.predictions import match_predictions
from core.evaluation.score_errors import score_errors
from core.evaluation.score_predictions import ScorePredictions
from core.evaluation.set_metrics import set_metrics
from core.evaluation.set_predictions import SetPredictions
from core.evaluation.sweep_table import kept_plausibilities
from core.ingest.case_facts import CaseFacts
from core.ingest.column_mapping import Mapping
from core.ingest.read_files import read
from core.machines.alternative_test import alternative_test
from core.machines.disagreements import differences_from_panel
from core.machines.equivalent_readers import equivalent_readers
from core.machines.marks import Machine
from core.machines.pair_agreement import pair_agreement
from core.machines.panel import panel_worth
from core.machines.rates import machine_rates, people_labels
from core.machines.subgroup_differences import subgroup_differences
from core.machines.versions import version_drift
from core.models.average import average_models
from core.models.choose import choose
from core.models.classifier_evidence import evidence_weight
from core.models.comparisons import fit_comparisons
from core.models.gold_measures import beta_by_gold, gold_measures
from core.models.label_fits import fit_labels
from core.models.loo import compare_loo
from core.models.precision import precision_of
from core.models.soft_labels import soft_labels
from core.plausibility.gaussian_prior import fit_prior
from core.plausibility.plackett_luce.point import plackett_luce_mode
from core.raters.carelessness import carelessness
from core.raters.drift import drift_of
from core.raters.flagged_raters import flag_raters
from core.raters.following import following_of
from core.raters.group_views import find_cases_apart, rate_classifiers
from core.raters.groups import RaterFacts, review_groups
from core.raters.influence import influence
from core.raters.monitoring import monitor
from core.raters.plan_outcomes import Plan, plan_outcomes
from core.raters.planning import Goal, forecast
from core.raters.response_times import response_times
from core.raters.score_drift import score_drifts
from core.raters.score_gold import score_gold
from core.raters.score_raters import score_raters
from core.raters.shared_errors import shared_errors
from core.raters.truth_draws import accuracy_draws
from core.result_base import ROWS, WIDTH, Result
from core.studies.analysis import StudyOptions, compute
from core.studies.next_study import compute_next_study
from core.studies.roc import compute_roc_curves
from core.studies.study import ReadingStudy
from tests.core.kinds import as_rankings, as_scores, as_sets
from tests.core.raters.test_groups import classifier
from tests.core.raters.test_score_raters import followed
from tests.core.studies.worlds import opinions, roe_metz
from tests.core.test_architecture import MODULES

HOSTILE = ("<script>alert(1)</script>", '<img src=x onerror="x">', "a\nb\x1b[31m&<b>", "'\"><svg/onload=1>")
N = 120
CASES = tuple(f"{HOSTILE[case % 4]} {case}" for case in range(N))
RATERS = tuple(f"{name} r" for name in (*HOSTILE, "plain"))
CLASSES = tuple(f"{name} k" for name in HOSTILE[:3])


@pytest.fixture(scope="module")
def dataset():
    """120 cases by up to 5 raters, mostly right, with gold, groups, times and risk; every name is hostile."""
    rng = np.random.default_rng(7)
    gold = rng.integers(0, 3, N)
    case, rater = (axis.ravel() for axis in np.indices((N, 5)))
    answer = np.where(rng.random(5 * N) < 0.8, gold[case], rng.integers(0, 3, 5 * N))
    # Every seventh case has four annotations, every thirtieth one: numbers of cases and of people are told apart.
    kept = ((case % 7 > 0) | (rater < 4)) & ((case % 30 > 0) | (rater == 2))
    case, rater, answer = case[kept], rater[kept], answer[kept]
    side = {"gold": gold, "case_group": [HOSTILE[code % 4] for code in range(N)], "class_risk": [0, 1, 2]}
    time = 1_700_000_000 + 86_400 * case + rater
    return Dataset.from_classes("<b>&set</b>", CASES, RATERS, CLASSES, case, rater, answer, time, **side)


def _of_models(dataset):
    fit = core.DawidSkene().fit(dataset)
    fit_with = fit.__class__(**{each.name: getattr(fit, each.name) for each in fields(fit)} | {
        "uncertainty": precision_of(core.DawidSkene(), dataset, fit)
    })  # fmt: skip
    bayes = core.BayesianDawidSkene().fit(dataset, n_draws=60, n_tune=60, n_chains=2)
    difficulty = core.DifficultyModel().fit(_two_classes(dataset), method="map")
    of_cases = core.DifficultyModel("ABDE").fit(_two_classes(dataset), method="nuts")  # has nothing to sample
    yield from (fit, fit_with, bayes, difficulty, of_cases, core.MajorityVote().fit(dataset))
    yield core.DawidSkene().restarts(dataset, fit, 1)
    yield from (soft_labels(dataset, fit), gold_measures(dataset, fit), beta_by_gold(dataset, fit))
    some = dataset.select(cases=CASES[:20])
    chosen = choose(some, difficulty=False)
    averaged = average_models(chosen, some)
    yield from (chosen, averaged, accuracy_draws(averaged, some, n_draws=20), of_average(averaged, some))
    yield from compare_loo({HOSTILE[0]: bayes.loo})


def _of_comparisons():
    """Three items, of which the second is the strongest, compared by three raters."""
    pairs = PairedItems(HOSTILE[:3], np.array([[0, 1], [0, 2], [1, 2]]))
    cases, raters = [f"pair {place}" for place in range(3)], RATERS[:3]
    case, rater = np.repeat(np.arange(3), 8), np.arange(24) % 3
    answer = np.array([2, 2, 1, 2, 0, 2, 2, 2, 0, 2, 2, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0])
    yield fit_comparisons(Dataset.from_classes("pairs", cases, raters, COMPARED, case, rater, answer, pairs=pairs))


def _two_classes(dataset):
    codes = (dataset.case_of_annotation, dataset.rater, np.minimum(dataset.answer, 1))
    return Dataset.from_classes("two", dataset.cases, dataset.raters, CLASSES[:2], *codes)


def _of_plausibilities(dataset):
    model, rankings, scores = core.DirichletCounts(), as_rankings(dataset), as_scores(dataset)
    asked = {"reliability": 2.0, "n_draws": 30}
    predictions = [
        match_predictions(dataset, CASES, [CLASSES[code] for code in codes], np.ones(N), name)
        for name, codes in ((HOSTILE[0], dataset.gold), (HOSTILE[3], (dataset.gold + 1) % 3))
    ]
    sweep = core.reliability_sweep(model, dataset, [1.0, 3.0], classifiers=predictions, n_draws=30)
    yield from (sweep, sweep.certainty[0], sweep.risk[0], sweep.evaluation[0], *predictions)
    yield gold_accuracy(dataset, predictions)
    kept = kept_plausibilities(model, dataset, 2.0, n_draws=30)
    yield prediction_sets(predictions[0], dataset, kept, alpha=0.2, within="group")
    certainty = core.annotation_certainty(model, dataset, **asked)
    yield from (certainty, certainty_shares(dataset, model, certainty, reliability=2.0))
    yield more_raters(dataset, model, reliability=2.0)
    (_, draws), *_ = model.draws(dataset, seed=0, **asked)
    yield from (draws, core.set_certainty(draws, [0]))
    yield core.next_opinion(model, dataset, **asked)
    readers, truth = core.held_out_curve(dataset, model), core.truth_curve(dataset, model, [0.5, 1.0, 2.0])
    yield from (
        readers,
        truth,
        core.default_reliability(dataset, model, truth=truth, readers=readers),
        truth.diagram(1.0)[0],
    )
    yield core.MixturePlackettLuce(n_burn=60).fit(rankings, reliability=1.0, n_draws=30)
    yield from (plackett_luce_mode(rankings), core.PrIRN().point(rankings))
    yield fit_prior(scores).model(1.0).posterior(scores, 1.0)
    yield from _of_scores(scores)
    yield relation(np.arange(9.0), np.arange(9.0) ** 2)


def _of_labels(dataset):
    several = as_sets(dataset)
    yield from (fit_labels(several), label_set_certainty(several))
    applies = np.zeros((several.n_cases, several.n_classes), bool)
    told = np.ones(several.n_cases, bool)
    predicted = SetPredictions(HOSTILE[0], several.cases, several.classes, applies, told, ())
    yield from (predicted, set_metrics(several, [predicted], reliability=1.0, n_draws=20))


def _of_scores(scores):
    model = fit_prior(scores).model()
    predicted = ScorePredictions(HOSTILE[0], scores.cases, np.arange(float(N)), ())
    yield from (score_trust(scores, model, [1.0, 2.0]), plausible_score(scores, model, 0, 1.0), predicted)
    yield score_errors(scores, model, [predicted], reliability=1.0, n_draws=20)
    yield from (score_raters(scores), following_of(scores))
    dated = followed(0, shift=1.5)
    over_time = score_drifts(dated, score_raters(dated))
    yield from (over_time, over_time.each[0])
    known = replace(scores, gold_scores=np.arange(float(scores.n_cases)))
    yield scores_by_gold(known, score_trust(known, model, [0.1, 1e6]))
    yield score_gold(scores, dict.fromkeys(scores.cases, 1.0))


def _of_raters(dataset):
    fit = core.DawidSkene().fit(dataset)
    table = monitor(dataset)
    yield from (table, table.accuracies, flag_raters(table, acceptable=0.99))
    yield from (drift_of(table.panel, 0), carelessness(table.panel), response_times(table.panel))
    yield influence(dataset, fit, RATERS[:1])
    yield shared_errors(dataset, n_replicates=20)
    yield forecast(dataset, fit, Goal("certainty", 0.9), policy="new_cases", budget=12, n_steps=2, n_worlds=20)
    yield plan_outcomes(dataset, fit, [Plan("new_raters", 1)], n_worlds=20)


def _of_agreement(dataset):
    yield from core.agreement_table(dataset)
    yield from (core.coefficients_for(dataset), core.bootstrap(dataset, n_replicates=20))
    yield from core.compare(dataset, dataset, n_replicates=20)
    yield from (pair_matrix(dataset), by_rater(dataset), over_time(dataset), precision_curve(dataset))
    truth = core.DawidSkene().fit(dataset).class_probability
    yield review_guideline(dataset, truth, version=dataset.case_group[0], n_resamples=20)
    yield gate.compute(dataset, gate.GateOptions(requirements=("alpha >= 0.6",)))
    yield from _of_groups()


def _of_groups():
    """Two groups of eight raters, which are the smallest that are shown."""
    names = tuple(f"{HOSTILE[place % 4]} {place}" for place in range(16))
    case, rater = (axis.ravel() for axis in np.indices((30, 16)))
    answer = (case + (np.random.default_rng(3).random(case.size) < 0.3)) % 3
    crowd = Dataset.from_classes("crowd", CASES[:30], names, CLASSES, case, rater, answer)
    facts = RaterFacts((HOSTILE[0],), (tuple(HOSTILE[place % 2] for place in range(16)),))
    yield review_groups(crowd, facts, n_permutations=20, n_resamples=20)
    yield find_cases_apart(crowd, facts)
    yield rate_classifiers(crowd, facts, [classifier(crowd, np.arange(30) % 3)])


def _of_machines(dataset):
    machines, people = RATERS[:2], RATERS[2:]
    yield alternative_test(dataset, machines, epsilon=0.1, n_resamples=100)
    yield equivalent_readers(dataset, machines[0], people, n_resamples=100)
    yield differences_from_panel(dataset, machines[0], people)
    yield from subgroup_differences(dataset, machines[0], people, n_resamples=100)
    yield pair_agreement(dataset, machines[0], people, n_resamples=100)
    labels = people_labels(dataset, people)
    labels[N // 2 :] = np.nan  # so that the machine has a say
    rates = machine_rates(dataset, machines[0], labels)
    yield from (rates, *rates.rates[:1])
    labels = np.where(np.arange(N) < 60, np.asarray(dataset.gold) == 0, np.nan)
    yield class_rate(labels, np.asarray(dataset.gold == 0, float))
    versions = [Machine(name, HOSTILE[0], str(place)) for place, name in enumerate(RATERS[:3])]
    yield from version_drift(dataset, versions, RATERS[3:], n_resamples=100)
    even = np.full((N, len(CLASSES)), 1 / len(CLASSES))
    yield evidence_weight(dataset, core.DawidSkene(), HOSTILE[0], even)
    yield panel_worth(dataset, machines, n_resamples=30)


def _of_studies():
    rng = np.random.default_rng(1)
    scores, truth = roe_metz(rng, len(RATERS), N, (1.0, 1.4, 1.8))
    panel = opinions(rng, truth, (0.8, 0.9, 0.9))
    found = compute(ReadingStudy(scores, CLASSES, RATERS, CASES, panel=panel), StudyOptions(n_draws=50))
    yield from (found, compute_next_study(found.taken, 0.1))
    yield compute_roc_curves(ReadingStudy(scores, CLASSES, RATERS, CASES, truth), np.asarray(truth, float))


@pytest.fixture(scope="module")
def results(dataset):
    """One or more of each class of results, those inside of others among them."""
    frame = long_table(dataset).drop(columns=["time", "group"]).head(20)
    frame.loc[3, "class"] = None
    listed = [dataset, as_rankings(dataset), as_scores(dataset), as_sets(dataset), read(frame, name=HOSTILE[0])]
    listed.append(CaseFacts({CASES[0]: HOSTILE[0]}))
    later = replace(dataset, answer=(dataset.answer + dataset.rater % 2) % 3).select(cases=CASES[:90])
    listed.append(compare_with_earlier(dataset.select(raters=RATERS[:4]), later))
    for of in (_of_agreement, _of_models, _of_plausibilities, _of_labels, _of_raters, _of_machines):
        listed += of(dataset)
    listed += [*_of_studies(), *_of_comparisons()]
    listed.append(QUESTIONS.parts[0].answer(Inputs(dataset, questions=((HOSTILE[0], dataset), ("again", dataset)))))
    found: dict[int, Result] = {}

    def take(value):
        if isinstance(value, Result) and id(value) not in found:
            found[id(value)] = value
            for field in fields(value):
                take(getattr(value, field.name))
        elif isinstance(value, tuple | list):
            for one in value:
                take(one)
        elif isinstance(value, dict):
            for one in value.values():
                take(one)

    take(listed)
    return list(found.values())


def every_class():
    for module in MODULES:
        if module != "core.__main__":
            import_module(module)
    # By name: a dataclass with slots leaves the class that it was made from behind.
    return {one.__qualname__ for one in Result.__subclasses__() if one.__module__.startswith("core.")}


def test_every_class_of_results_is_tried_here(results):
    assert every_class() == {type(one).__qualname__ for one in results} and len(every_class()) > 50


def answered_by(function):
    """Dataclasses that a public function gives back, alone, in a tuple or one of several."""
    open_, found = [get_type_hints(function).get("return")], set()
    while open_:
        one = open_.pop()
        open_ += get_args(one)
        if isinstance(one, type) and is_dataclass(one) and one.__module__.startswith("core."):
            found.add(one)
    return found


# What a fit and prediction sets are made of, not what they give.
INPUTS = {"Problem", "DifficultyDensity", "KeptPlausibilities", "ClassCounts"}


def test_whatever_a_public_name_gives_back_is_a_result():
    given = set()
    for name in core.__all__:
        one = getattr(core, name)
        for key, function in inspect.getmembers(one) if inspect.isclass(one) else [(name, one)]:
            if key[0] != "_" and (inspect.isfunction(function) or inspect.ismethod(function)):
                given |= answered_by(function)
    assert len(given) > 20
    assert {one.__name__ for one in given if not issubclass(one, Result)} - set(core.__all__) == INPUTS


def test_a_result_prints_in_five_short_lines(results):
    for one in results:
        text = repr(one)
        assert text.startswith(type(one).__name__), text
        assert len(text) <= 400 and len(text.split("\n")) <= 5, text
        assert max(map(len, text.split("\n"))) <= WIDTH, text
        assert all(letter.isprintable() for letter in text.replace("\n", "")), text


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not attrs

    def handle_data(self, data):
        self.text.append(data)


def test_a_notebook_shows_names_and_runs_none_of_them(results):
    shown = ""
    for one in results:
        parser = Tags()
        parser.feed(one._repr_html_())
        assert parser.tags <= {"div", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "p"}
        assert parser.text[0] == type(one).__name__
        shown += "".join(parser.text)
    assert "<script>alert" in shown and "<img src=x" in shown


COLUMNS = {
    "Dataset": {"annotations": "case rater time class group", "cases": "case n_annotations group gold"},
    "RaterModelFit": {
        "cases": ["case", "class", "probability", *(f"p_{name}" for name in CLASSES)],
        "raters": "rater n accuracy",
        "classes": "class prevalence",
        "confusion": "rater true_class answered_class probability evidence",
    },
    "BayesianFit": {"quantities": "quantity place mean sd low high rhat ess"},
    "Coefficient": {"coefficient": "name weights value se ci_low ci_high n_cases n_annotations note"},
    "ApplicableCoefficients": {"left_out": "what why"},
    "BootstrapResult": {"replicates": "replicate name weights value"},
    "PairMatrix": {"pairs": "rater other_rater n agree value se ci_low ci_high note"},
    "CertaintyResult": {"cases": "case class top1 top1_se top2 top2_se top3 top3_se"},
    "SweepTable": {
        "reliabilities": "reliability top1 top1_se top2 top2_se top3 top3_se expected_risk",
        "cases": "reliability case class top1 top1_se top2 top2_se top3 top3_se",
    },
    "HeldOutCurve": {"curve": "reliability score se diff diff_se bias mc_se"},
    "HeldOut": {"betas": "beta score se"},
    "Choice": {"models": "model score se diff diff_se n_parameters beta doubt temper_prevalence flipped excluded"},
    "RaterTrust": {"raters": "rater n mean sd ci_low ci_high place place_low place_high rhat ess"},
    "ImportReport": {"dropped": "line reason"},
}


def test_tables_have_the_columns_that_are_promised(results):
    seen = set()
    for one in results:
        for table, columns in COLUMNS.get(type(one).__name__, {}).items():
            if getattr(one, "kind", "") in ("ranking", "score", "set") or getattr(one, "classes", CLASSES) != CLASSES:
                continue
            wanted = columns.split() if isinstance(columns, str) else columns
            got = list(one.to_frame(table).columns)
            assert got[: len(wanted)] == wanted or {"se", "ci_low", "ci_high"} == set(got) - set(wanted), (one, table)
            seen.add(type(one).__name__)
    assert seen == set(COLUMNS)


def test_frames_of_all_libraries_hold_the_same(results):
    for one in results:
        for table in one.TABLES:
            arrow, polars, pandas = (
                nw.from_native(one.to_frame(table, backend=backend), eager_only=True)
                for backend in ("pyarrow", "polars", "pandas")
            )
            assert arrow.columns == polars.columns == pandas.columns and len(set(arrow.columns)) == len(arrow.columns)
            assert arrow.shape == polars.shape == pandas.shape
            for name in arrow.columns:
                for other in (polars, pandas):
                    assert same(arrow[name].to_list(), other[name].to_list()), (one, table, name)


def same(first, second):
    return all(a == b or (_missing(a) and _missing(b)) for a, b in zip(first, second, strict=True))


def _missing(value):
    return value is None or value != value


def test_the_first_rows_of_a_table_are_those_that_are_printed(results):
    """What a result prints comes from a short way, which must not tell other than the whole table."""
    for one in results:
        for table in one.TABLES:
            whole, short = one._columns(table, None), one._columns(table, ROWS + 1)
            assert list(whole) == list(short)
            for name, values in whole.items():
                if table != "pairs":  # where these are pairs of the first raters, not the first pairs
                    assert same(values[: ROWS + 1], short[name][: ROWS + 1]), (one, name)


def only(results, name, /, **wanted):
    return next(
        one
        for one in results
        if type(one).__name__ == name and all(getattr(one, key) == value for key, value in wanted.items())
    )


def test_a_fit_in_frames_is_the_fit(results):
    fit = next(one for one in results if type(one).__name__ == "RaterModelFit" and one.uncertainty is not None)
    cases, raters, cells = fit.to_frame(), fit.to_frame("raters"), fit.to_frame("confusion")
    assert tuple(cases["case"]) == fit.cases
    np.testing.assert_array_equal(cases[[f"p_{name}" for name in fit.classes]], fit.class_probability)
    for name, code in zip(cases["class"], fit.top_class(), strict=True):
        assert _missing(name) if code < 0 else name == fit.classes[code]
    np.testing.assert_allclose(raters["accuracy"], fit.accuracy())
    np.testing.assert_array_equal(raters["ci_low"], fit.uncertainty.accuracy.low)
    np.testing.assert_array_equal(raters["ci_high"], fit.uncertainty.accuracy.high)
    for _, row in cells.iloc[::7].iterrows():
        rater, true = fit.raters.index(row["rater"]), fit.classes.index(row["true_class"])
        answered = fit.classes.index(row["answered_class"])
        assert row["probability"] == fit.confusion[rater, true, answered]
        assert row["evidence"] == fit.evidence[rater, true]
        assert row["ci_high"] == fit.uncertainty.confusion.high[rater, true, answered]


def test_a_posterior_in_frames_has_each_quantity_at_its_place(results):
    bayes = only(results, "BayesianFit", seed=0)
    rows = bayes.to_frame("quantities").set_index(["quantity", "place"])
    confusion = bayes.quantities["confusion"]
    assert rows.loc[("confusion", "4, 2, 1"), "mean"] == confusion.mean[4, 2, 1]
    assert rows.loc[("confusion", "4, 2, 1"), "high"] == confusion.high[4, 2, 1]
    assert rows.loc[("accuracy", "3"), "sd"] == bayes.quantities["accuracy"].sd[3]


def test_a_sweep_in_frames_has_a_row_for_each_reliability_and_case(results):
    sweep = only(results, "SweepTable")
    means, cases, metrics = (sweep.to_frame(table) for table in sweep.TABLES)
    assert list(means["reliability"]) == [1, 3] and list(means["top1"]) == list(sweep.mean())
    assert list(cases["reliability"]) == [1] * N + [3] * N
    np.testing.assert_array_equal(cases["top1"], np.concatenate([one.certainty[:, 0] for one in sweep.certainty]))
    row = metrics[(metrics["reliability"] == 3) & (metrics["classifier"] == HOSTILE[3])].iloc[0]
    assert row["mean"] == sweep.evaluation[1].values[HOSTILE[3]][row["metric"]].mean


def test_raters_in_frames_keep_their_rows(results):
    table, act = only(results, "RaterTable"), only(results, "FlaggedRaters")
    frame = table.to_frame().set_index("rater")
    for place, rater in enumerate(RATERS):
        assert frame.loc[rater, "accuracy"] == table.accuracies.shrunk[place]
        assert frame.loc[rater, "accuracy_low"] == table.accuracies.low[place]
        assert frame.loc[rater, "blind_n"] == table.blind.n[place]
    flags = act.to_frame("flags")
    assert list(flags["rater"]) == [RATERS[flag.rater] for flag in act.flags] and len(flags)
    bias = table.to_frame("bias").set_index(["rater", "class"])["bias"]
    assert bias[(RATERS[3], CLASSES[1])] == table.bias[3, 1]
    pairs = only(results, "PairMatrix")
    for _, row in pairs.to_frame().iterrows():
        i, j = RATERS.index(row["rater"]), RATERS.index(row["other_rater"])
        assert i < j and row["value"] == pairs.value[i, j] and row["ci_low"] == pairs.interval(i, j)[0]


def test_coefficients_and_replicates_in_frames_are_those_of_the_result(results):
    found = only(results, "BootstrapResult")
    frame, each = found.to_frame(), found.to_frame("replicates")
    assert list(frame["value"]) == [one.value for one in found.coefficients]
    assert list(frame["n_at_1"]) == list(found.n_at_1)
    last = each.iloc[-1]
    assert (last["replicate"], last["name"]) == (19, found.coefficients[-1].name)
    assert last["value"] == found.replicates[-1, -1]


def test_the_annotations_of_a_dataset_are_its_long_table(results):
    for kind in ("class", "ranking", "score"):
        dataset = only(results, "Dataset", kind=kind)
        pd.testing.assert_frame_equal(dataset.to_frame(), long_table(dataset), check_dtype=False)


def test_a_table_or_a_library_that_is_not_there_is_named(results):
    fit = only(results, "RaterModelFit", model="majority")
    with pytest.raises(OptionError, match="cases, raters, classes, confusion"):
        fit.to_frame("weights")
    with pytest.raises(OptionError, match="pandas, polars, pyarrow"):
        fit.to_frame(backend="arrow")
    with pytest.raises(OptionError, match="Could not make a table"):
        only(results, "GoldBeta").to_frame()


def test_what_keys_of_caches_are_made_of_keeps_its_whole_repr():
    """Else two mappings that differ in their last column, or two plans for raters of long names, would be one."""
    name = "x" * 300
    assert name in repr(Mapping("wide", raters=(*map(str, range(500)), name)))
    assert name in repr(Goal("accuracy", 0.1, name))


def test_pairs_windows_and_cases_in_frames_keep_their_own_numbers(results):
    errors = only(results, "SharedErrors")
    for _, row in errors.to_frame().iterrows():
        pair = errors.raters.index(row["rater"]), errors.raters.index(row["other"])
        assert row["cases"] == errors.n_common[pair]
        for name in ("correlation", "residual", "p"):
            assert same([row[name]], [getattr(errors, name)[pair]])
    found = only(results, "OverTime")
    begun = [window.n_cases for window in found.windows for _ in window.coefficients]
    assert found.to_frame()["n_cases_begun"].tolist() == begun
    differ = only(results, "Differences")
    differ = replace(differ, n_people=np.arange(len(differ.cases)))
    frame = differ.to_frame()
    for _, row in frame.iterrows():
        place = differ.cases.index(row["case"])
        told = (differ.classes[differ.said[place]], differ.classes[differ.panel[place]])
        assert (row["machine"], row["panel"]) == told
        assert (row["certainty"], row["people"]) == (differ.certainty[place], differ.n_people[place])


# Where each column of a frame comes from


SOURCES = Path(__file__).parents[1] / "golden" / "columns.json"
COMPUTED = SOURCES.with_name("computed_columns.json")


def parts_of(value, at=""):
    """Every number, text and array within a result by its path; of several results under each other."""
    if isinstance(value, Result):
        for field in fields(value):
            yield from parts_of(getattr(value, field.name), f"{at}.{field.name}" if at else field.name)
    elif isinstance(value, np.ndarray):
        yield at, value.ravel().tolist()
        if value.ndim == 2:
            yield from ((f"{at}[{place}]", column.tolist()) for place, column in enumerate(value.T))
            if value.shape[0] == value.shape[1]:
                yield f"{at}[pairs]", value[np.triu_indices(len(value), 1)].tolist()
    elif isinstance(value, tuple | list) and value and all(isinstance(one, Result) for one in value):
        found = {}
        for one in value:
            for path, values in parts_of(one, at):
                found.setdefault(path, []).extend(values)
        yield from found.items()
    elif isinstance(value, tuple | list) and all(one is None or np.isscalar(one) for one in value):
        yield at, list(value)
    elif isinstance(value, str | bool | int | float) or value is None:
        yield at, [value]


def as_column(values, n):
    """What stands in each of n rows; a single value stands in all of them."""
    return values * n if len(values) == 1 else values


def test_every_column_of_a_frame_is_the_part_of_its_result_that_is_recorded_for_it(results):
    """Null is recorded where a column is worked out: what stands in it is recorded in `COMPUTED`."""
    recorded, wrong, seen = json.loads(SOURCES.read_text(encoding="utf-8")), [], set()
    for one in results:
        parts = dict(parts_of(one))
        for table in one.TABLES:
            for name, values in one._columns(table, None).items():
                column, key = list(values), f"{type(one).__name__}.{table}.{name}"
                if any(hostile in name for hostile in HOSTILE) or len({repr(value) for value in column}) < 2:
                    continue
                seen.add(key)
                path = recorded.get(key, "")
                if path is None:
                    continue
                if path not in parts or not same_column(as_column(parts[path], len(column)), column):
                    like = [at for at, each in parts.items() if same_column(as_column(each, len(column)), column)]
                    wrong.append(f"{key}: recorded {path!r}, is that of {like}")
    assert wrong == [] and seen == set(recorded)


def test_a_column_that_is_worked_out_holds_what_is_recorded_for_it(results, request):
    """The first of each, to six digits; those of chains, which go another way on another processor, are left out."""
    sources = json.loads(SOURCES.read_text(encoding="utf-8"))
    found = {}
    for one in results:
        for table in one.TABLES:
            for name, values in one._columns(table, None).items():
                column, key = list(values), f"{type(one).__name__}.{table}.{name}"
                if sources.get(key, "") is None and len({repr(value) for value in column}) > 1:
                    found.setdefault(key, [_plain(value) for value in column])
    found = {key: told(column) for key, column in found.items() if not key.startswith("BayesianFit.")}
    if request.config.getoption("record_screens"):
        lines = (f"{json.dumps(key)}: {json.dumps(found[key], ensure_ascii=False)}" for key in sorted(found))
        COMPUTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    recorded = json.loads(COMPUTED.read_text(encoding="utf-8"))
    assert set(found) == set(recorded)
    assert [key for key in found if not near(found[key], recorded[key])] == []


def told(column):
    """Enough of a column to see a change: its length, its first and last entries, and the mean of numbers."""
    numbers = [value for value in column if isinstance(value, int | float) and not isinstance(value, bool)]
    mean = float(np.mean(numbers)) if numbers else None
    return [len(column), *column[:4], *column[-3:], mean, sum(value is None for value in column)]


def near(found, recorded):
    return len(found) == len(recorded) and all(map(_alike, found, recorded))


def _alike(a, b):
    return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7) if isinstance(a, float) and isinstance(b, float) else a == b


def _plain(value):
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.9g}")
    return value if isinstance(value, bool | int | str) or value is None else repr(value)


def same_column(first, second):
    return len(first) == len(second) and same(first, second)
