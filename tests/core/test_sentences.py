"""Sentences made of numbers, each on data where it is true and on data where it must not appear.

The table: a sentence, the condition under which it may be said as an independent count of the annotations, and the data
that all are read on. A sentence is said exactly where its condition holds.
"""

import re
from dataclasses import replace

import numpy as np
import pytest

from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.benchmark_labels import before_opinions
from core.agreement.coefficient_methods import any_coefficient
from core.analysis_settings import AnalysisSettings, compute_settings
from core.annotations.dataset import Dataset
from core.certainty.default_reliability import default_reliability
from core.certainty.shares import certainty_shares
from core.certainty.top_sets import annotation_certainty
from core.evaluation.choice import verdict
from core.evaluation.predictions import Predictions, open_predictions
from core.evaluation.sweep_table import reliability_sweep
from core.methods import can_use
from core.models.choose import choose
from core.models.comparison import models_agree, vote_changes
from core.models.dawid_skene import METHOD as DAWID_SKENE
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.models.one_coin import OneCoin
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.protocol import offered
from core.raters.flagged_raters import flag_raters
from core.raters.monitoring import monitor
from core.report.build import ReportRequest, build_report
from tests.core.raters.raters_simulated import names, simulated


def of(rows, n_classes, n_raters=None):
    """A dataset of (case, rater, class) rows."""
    case, rater, answer = np.array(rows).T
    return Dataset.from_classes(
        "data", *names(case.max() + 1, n_raters or rater.max() + 1, n_classes), case, rater, answer
    )


def _noise():
    rng = np.random.default_rng(2)
    return of([(case, rater, rng.integers(5)) for case in range(60) for rater in range(5)], 5)


def _crowd_with_gold():
    """Thirty raters, three of them guessing; everybody shares the same mistakes on a fifth of the cases."""
    skill = np.r_[np.full(27, 0.85), np.full(3, 0.3)]
    data, truth = simulated(9, skill, n_cases=240, per_case=8, times=False)
    return replace(data, gold=truth.astype(np.int32))


DATA = {
    "two cases": of([(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0)], 2),
    "one annotation a case": of([(case, case % 3, case % 2) for case in range(30)], 2),
    "unanimous": of([(case, rater, case % 3) for case in range(40) for rater in range(4)], 3),
    "noise": _noise(),
    "one class": of([(case, rater, 0) for case in range(10) for rater in range(3)], 1),
    "one class used of two": of([(case, rater, 0) for case in range(10) for rater in range(3)], 2),
    "a rater with one annotation": of(
        [(case, rater, (case + (case * rater % 5 == 1)) % 3) for case in range(40) for rater in range(4)] + [(0, 4, 2)],
        3,
    ),
    "110 classes": of(
        [(case, rater, (37 * case + (case % 4 == rater)) % 110) for case in range(30) for rater in range(3)], 110
    ),
    "prevalence 0.99": of(
        [
            (case, rater, int(case % 100 == 7 or (7 * case + 13 * rater) % 151 == 3))
            for case in range(300)
            for rater in range(3)
        ],
        2,
    ),
    "crowd with gold": _crowd_with_gold(),
}


@pytest.fixture(scope="module", params=list(DATA))
def case(request):
    return request.param, DATA[request.param]


def pairs_of(data) -> tuple[int, int]:
    """Pairs of annotations on one case that are the same, and all of them; one by one."""
    same = total = 0
    for place in range(data.n_cases):
        answers = data.answer[data.annotations_of(place)]
        for one in range(len(answers)):
            for other in range(one):
                total += 1
                same += answers[one] == answers[other]
    return same, total


def test_agreement_is_said_to_be_complete_only_where_it_is_and_no_interval_lacks_width(case):
    _, data = case
    same, total = pairs_of(data)
    if not total:
        assert not any_coefficient(data).possible
        return
    said = coefficients_for(data).words()
    assert bool(re.search(r"100%( \([^)]*\))? of annotation pairs", said)) == (same == total)
    assert bool(re.search(r"over 99%( \([^)]*\))? of annotation pairs", said)) == (
        same < total and same / total >= 0.995
    )
    unknown = "agreement beyond chance cannot be determined because only one class was used"
    assert (unknown in said) == ("cannot be determined" in said) == (np.unique(data.answer).size == 1)
    for low, high in re.findall(r"\((-?[\d.]+) to (-?[\d.]+)\)", said):
        assert low != high and float(low) >= -1
    assert "nan" not in said and "None" not in said


def test_raters_are_called_inaccurate_only_where_data_can_tell_and_then_the_planted_ones(case):
    name, data = case
    found = flag_raters(monitor(data))
    said = found.words()
    tells = name in ("a rater with one annotation", "110 classes", "prevalence 0.99", "crowd with gold")
    assert (
        said.startswith("Cannot determine rater accuracy")
        == bool(found.acceptable.why)
        == (not found.acceptable.n_judged)
    )
    if not tells:
        assert found.acceptable.why and not found.flags
    low = {flag.rater for flag in found.flags if flag.rule == "low"}
    assert bool(re.search(r" (is|are) flagged( as below |\.)", said)) == bool(low)
    if name == "crowd with gold":
        assert low == {27, 28, 29} and "measured against gold" in said
        right = [
            (data.answer[data.rater == j] == data.gold[data.case_of_annotation[data.rater == j]]).mean() for j in low
        ]
        assert max(right) < found.acceptable.acceptable


def test_what_opens_is_said_to_foretell_no_better_than_the_shares_of_classes_only_where_it_does_not(case):
    """Noise depends on no case, of one class nothing is to be foretold, and three cases of a rare class are too few."""
    name, data = case
    if data.n_classes > 100:
        return
    said = choose(data, difficulty=False).reason
    alone = name in ("noise", "one class", "one class used of two", "prevalence 0.99")
    assert ("may predict held-out annotations no better than the overall class frequencies" in said) == alone
    assert said.startswith("Majority vote is shown first") == (name in ("two cases", "one annotation a case"))
    assert said.endswith(".") and ".." not in said and ".;" not in said


def test_what_weighing_changes_is_what_a_count_case_by_case_says(case):
    _, data = case
    if not can_use(DAWID_SKENE, data).possible:
        return
    fit, vote = monitor(data).panel.fit, MajorityVote().fit(data)
    answered = np.diff(data.case_ptr) > 0
    found = vote_changes(fit, vote, answered)
    changed = decided = 0
    for place in np.flatnonzero(answered):
        count = np.bincount(data.answer[data.annotations_of(place)], minlength=data.n_classes)
        first = np.flatnonzero(count == count.max())
        chance = fit.class_probability[place]
        top = np.flatnonzero(np.isclose(chance, chance.max(), rtol=1e-9, atol=1e-12))
        if first.size > 1:
            decided += top.size == 1 and chance.max() >= 0.9
        else:
            changed += top.size == 1 and top[0] != first[0]
    assert (found.n_changed, found.n_decided) == (changed, decided)
    assert ("breaks" in found.words) == (decided > 0)


def test_models_are_said_to_agree_on_the_cases_in_which_each_names_one_class_and_the_same(case):
    _, data = case
    if not can_use(DAWID_SKENE, data).possible or data.n_classes > 100:
        return
    fits = [MajorityVote().fit(data), DawidSkene().fit(data), OneCoin().fit(data)]
    answered = np.diff(data.case_ptr) > 0
    found = models_agree(fits, answered)
    same = tied = 0
    for place in np.flatnonzero(answered):
        tops = [
            set(np.flatnonzero(fit.class_probability[place] > fit.class_probability[place].max() - 1e-9))
            for fit in fits
        ]
        tied += any(len(top) > 1 for top in tops)
        same += all(len(top) == 1 for top in tops) and len(set.union(*tops)) == 1
    assert (found.n_same, found.n_tied, found.n_cases) == (same, tied, answered.sum())
    assert f"on the class in {same:,} of {found.n_cases:,} case" in found.words
    assert ("tied" in found.words) == (tied > 0)
    assert found.high - found.low == pytest.approx(np.ptp([fit.prevalence for fit in fits], axis=0).max())


def test_of_two_classifiers_that_guess_neither_is_said_to_lead(case):
    """On every data; and one that knows the vote is said to lead one that guesses only where the cases can tell."""
    name, data = case
    rng = np.random.default_rng(11)
    vote = MajorityVote().fit(data).class_probability

    def predicted(who, codes):
        codes = np.asarray(codes, np.int32)
        return Predictions(who, np.arange(data.n_cases + 1), codes, np.zeros(data.n_cases, np.int32))

    guesses = [predicted(who, rng.integers(data.n_classes, size=data.n_cases)) for who in "AB"]
    knows = predicted("C", vote.argmax(axis=1))
    model = DirichletCounts()
    found = reliability_sweep(model, data, (0.5, 1.0), classifiers=guesses, n_draws=200, max_top=1)
    assert " leads at" not in verdict(found.reliabilities, found.evaluation, "top1_accuracy")
    found = reliability_sweep(model, data, (0.5, 1.0), classifiers=[guesses[0], knows], n_draws=200, max_top=1)
    said = verdict(found.reliabilities, found.evaluation, "top1_accuracy")
    tells = name in ("unanimous", "a rater with one annotation", "crowd with gold")
    assert ("“C” leads at every γ" in said) or not tells
    if name in ("two cases", "one class"):
        assert "leads at every" not in said


def test_where_reliability_opens_is_said_with_what_it_rests_on(case):
    """Without gold and without dependence nothing is said to be best."""
    _, data = case
    model = offered(data)[0].make()
    found = default_reliability(data, model)
    assert found.source == "default" and "default" in found.reason
    assert [mark.name for mark in found.marks] == ["published"]


def _predicted(who, data, chance):
    """Predictions with the scores of four classes of each case at most."""
    rows = [
        f"{case},{data.classes[code]},{row[code] + 1e-3:.4f}"
        for case, row in zip(data.cases, chance, strict=True)
        for code in np.argsort(-row, kind="stable")[:4]
    ]
    return open_predictions(who, "\n".join(["case,class,score", *rows]).encode(), data)[0]


MACHINE_TELLS = ("unanimous", "a rater with one annotation", "110 classes", "prevalence 0.99", "crowd with gold")


def test_a_report_says_of_machines_and_sets_and_cases_no_more_than_the_data_tell(case):
    """One classifier knows the vote, one tosses coins; both are machines that could stand in for a rater, too."""
    name, data = case
    guess = np.random.default_rng(1).dirichlet(np.ones(data.n_classes), size=data.n_cases)
    classifiers = (
        _predicted("knows", data, MajorityVote().fit(data).class_probability),
        _predicted("tosses", data, guess),
    )
    model = offered(data)[0].make()
    request = ReportRequest(data, "data", AnalysisSettings(model, 1.0), (1.0,), n_draws=50, classifiers=classifiers)
    answers = {}
    content = build_report(
        request, ["machines", "certainty", "sets"], answered=lambda title, answer: answers.update({title: answer})
    )
    text = re.sub(r"<script.*?</script>|<style.*?</style>", " ", content.decode(), flags=re.S)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))
    said = answers["Can an AI rater replace a rater?"]
    assert ("“knows” can replace a rater" in said) == (name in MACHINE_TELLS)
    assert "tosses can replace" not in said
    assert ("is not clearly better than chance" in said) == (name == "noise")
    assert said.startswith("Too few cases") == (name not in (*MACHINE_TELLS, "noise"))
    for low, high in re.findall(r"\((-?[\d.]+) to (-?[\d.]+)\)", text):
        assert low != high
    assert not re.search(r"\b1 (cases|raters|classes|annotations)\b", text.replace("= 1 ", ""))
    certain = annotation_certainty(model, data, reliability=1.0, n_draws=50)
    shares = certainty_shares(data, model, certain, reliability=1.0)
    below = shares.n_uncertain
    answer = answers["Which cases are uncertain?"]
    assert answer == f"{shares.headline(' at γ = 1')}."
    assert answer.startswith("Certainty cannot reach 90%") == (not shares.within_reach and shares.any_known)
    assert answer.startswith("No case has two annotations") == (not shares.any_known)
    quoted = coefficients_for(data).quoted if any_coefficient(data).possible else None
    first = quoted and before_opinions(quoted)
    assert ("Ask for another opinion" in text) == (below > 0 and not first)
    assert ("would not settle the cases" in text) == bool(shares.unsettled and first and "barely" in first[0])
    # Sets of 90% take nine calibration cases, half of all; fewer promise nothing.
    assert ("too few to guarantee" in text) == (data.n_cases // 2 < 9)


def test_a_report_of_any_data_has_no_number_that_is_none(case):
    name, data = case
    request = ReportRequest(data, "data", compute_settings(data), (1.0,), n_draws=50)
    content = build_report(request, ["agreement", "raters", "gold"])
    text = re.sub(r"<script.*?</script>|<style.*?</style>", " ", content.decode(), flags=re.S)
    text = re.sub(r"<[^>]+>", " ", text)
    assert not re.search(r"\b(nan|NaN|None|inf)\b", text)
    assert not re.search(r"\de\+\d", text)
    assert ("Compared with gold, " in text) == (name == "crowd with gold")
    assert ("How do raters and models compare with gold?" in text) == (data.gold is not None)
