"""Whom to ask about which case next: gains by enumeration, pairs by search, and correct labels by simulation."""

from dataclasses import replace
from itertools import product
from math import log2

import numpy as np
import pytest

from core.analyses.raters import RATERS
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.raters import ask_next as module
from core.raters.ask_next import ask_next, expected_gain, raters_for
from tests.core.raters.raters_simulated import simulated


def enumerated(p, theta):
    """Σ P(class, answer) log₂ P(class, answer) / (P(class) P(answer)), term by term."""
    answers = [sum(p[k] * theta[k][a] for k in range(len(p))) for a in range(len(p))]
    cells = product(range(len(p)), range(len(p)))
    return sum(p[k] * theta[k][a] * log2(theta[k][a] / answers[a]) for k, a in cells if p[k] * theta[k][a] > 0)


@pytest.fixture(scope="module")
def fitted():
    data, truth = simulated(3, [0.95, 0.9, 0.7, 0.6, 0.5, 0.4], n_cases=12, per_case=2, n_classes=3)
    return data, DawidSkene("pooled").fit(data), truth


def test_gain_is_the_mutual_information_of_class_and_answer(fitted):
    _, fit, _ = fitted
    gain = expected_gain(fit.class_probability, fit.confusion)
    by_hand = [[enumerated(p, theta) for theta in fit.confusion.tolist()] for p in fit.class_probability.tolist()]
    assert gain == pytest.approx(np.array(by_hand), abs=1e-12)
    assert expected_gain(np.array([[0.5, 0.5]]), np.array([np.eye(2), np.full((2, 2), 0.5)])).tolist() == [[1, 0]]


@pytest.mark.parametrize("costs", [None, {"r0": 4.0, "r1": 2.0, "r2": 1.0, "r3": 1.0, "r4": 0.5, "r5": 1.0}])
def test_each_pair_is_the_best_that_is_left(fitted, costs):
    data, fit, _ = fitted
    found = ask_next(data, fit, n=8, each=2, costs=costs)
    done = {(data.cases[c], data.raters[r]) for c, r in zip(data.case_of_annotation, data.rater, strict=True)}
    gains = {
        (case, rater): enumerated(p, theta)
        for case, p in zip(data.cases, fit.class_probability.tolist(), strict=True)
        for rater, theta in zip(data.raters, fit.confusion.tolist(), strict=True)
        if (case, rater) not in done
    }
    chosen = []
    for pair in found.pairs:
        left = {
            one: gain / (costs or {}).get(one[1], 1.0)
            for one, gain in gains.items()
            if one[0] not in {case for case, _ in chosen} and [rater for _, rater in chosen].count(one[1]) < 2
        }
        assert left[pair.case, pair.rater] == pytest.approx(max(left.values()))
        anybody = [gain for (case, _), gain in gains.items() if case == pair.case]
        assert pair.any_rater == pytest.approx(np.mean(anybody))
        chosen.append((pair.case, pair.rater))
    assert len(chosen) == 8


def test_raters_of_a_case_are_in_the_order_of_their_gain(fitted):
    data, fit, _ = fitted
    order = raters_for(data, fit, 0)
    gain = dict(zip(data.raters, expected_gain(fit.class_probability[[0]], fit.confusion)[0], strict=True))
    assert set(order) == set(data.raters) - {data.raters[rater] for rater in data.rater[data.annotations_of(0)]}
    assert [gain[rater] for rater in order] == sorted((gain[rater] for rater in order), reverse=True)


def test_asking_the_proposed_raters_gives_more_correct_labels_than_asking_anybody():
    """Over 20 datasets, 40 answers each: Bayes' rule with each answer, and which classes are then correct."""
    gained = []
    for seed in range(20):
        data, truth = simulated(seed, np.linspace(0.35, 0.95, 12), n_cases=200, per_case=3, n_classes=3)
        fit = DawidSkene("pooled").fit(data)
        rng, accuracy = np.random.default_rng(seed), np.linspace(0.35, 0.95, 12)

        def correct(case, rater, rng=rng, accuracy=accuracy, truth=truth, fit=fit):
            wrong = (truth[case] + rng.integers(1, 3)) % 3
            answer = truth[case] if rng.random() < accuracy[rater] else wrong
            return (fit.class_probability[case] * fit.confusion[rater, :, answer]).argmax() == truth[case]

        for pair in ask_next(data, fit, n=40, each=10).pairs:
            case, proposed = data.case_index(pair.case), data.raters.index(pair.rater)
            others = np.setdiff1d(np.arange(12), data.rater[data.annotations_of(case)])
            gained.append(int(correct(case, proposed)) - int(correct(case, rng.choice(others))))
    assert np.mean(gained) - 2 * np.std(gained) / np.sqrt(len(gained)) > 0.05


def test_only_uncertain_cases_without_gold_and_active_raters_are_considered(fitted, monkeypatch):
    data, fit, truth = fitted
    monkeypatch.setattr(module, "MOST_CASES", 3)
    monkeypatch.setattr(module, "MOST_RATERS", 4)
    entropy = -(fit.class_probability * np.log(np.maximum(fit.class_probability, 1e-300))).sum(axis=1)
    by_entropy = np.argsort(-entropy)
    gold = np.full(data.n_cases, -1)
    gold[by_entropy[0]] = truth[by_entropy[0]]
    found = ask_next(replace(data, gold=gold.astype(data.answer.dtype)), fit)
    assert {pair.case for pair in found.pairs} <= {data.cases[case] for case in by_entropy[1:4]}
    assert (found.n_cases, found.n_raters) == (3, 4)
    assert {pair.rater for pair in found.pairs} <= {data.raters[r] for r in np.argsort(-fit.n_annotations)[:4]}


def test_ai_raters_are_not_asked_and_a_gain_below_that_of_any_rater_is_explained(fitted):
    data, fit, _ = fitted
    assert "r1" in {pair.rater for pair in ask_next(data, fit, n=12, each=5).pairs}
    found = ask_next(data, fit, n=12, each=5, without=("r1",))
    assert "r1" not in {pair.rater for pair in found.pairs} and found.n_raters == data.n_raters - 1
    part, words = RATERS.part("ask-next"), "The expected gain is below the mean over raters"
    for pairs, is_explained in ((found.pairs, True), (found.pairs[:1], False)):
        pairs = tuple(replace(pair, any_rater=pair.gain + (0.1 if is_explained else -0.1)) for pair in pairs)
        blocks = part.blocks(replace(found, pairs=pairs), data)
        assert any(getattr(block, "plain", "").startswith(words) for block in blocks) == is_explained


def test_nobody_is_asked_if_everybody_has_annotated_everything_and_costs_are_complete(fitted):
    data, fit, _ = fitted
    crossed = Dataset.from_classes("x", [*"ab"], [*"rs"], [*"yn"], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0])
    with pytest.raises(NotApplicableError, match="every rater has annotated every case"):
        ask_next(crossed, DawidSkene().fit(crossed))
    with pytest.raises(InputError, match="The cost of r1 is missing or not positive"):
        ask_next(data, fit, costs={"r0": 1.0})
    with pytest.raises(InputError, match="different cases"):
        ask_next(crossed, fit)


def test_costs_are_in_the_table_only_if_they_are_known(fitted):
    data, fit, _ = fitted
    part = RATERS.part("ask-next")
    for costs in ((), tuple((rater, 2.0) for rater in data.raters)):
        options, found = part.resolve(costs=costs), ask_next(data, fit, costs=dict(costs))
        assert ("cost" in part.frame(found, data, options)) == bool(costs)
        sums = [sum(getattr(pair, name) for pair in found.pairs) for name in ("gain", "any_rater")]
        assert part.blocks(found, data, options)[0].plain.count(f"{sums[0]:.2f}") == 1 and sums[0] > sums[1]
