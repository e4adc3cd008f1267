"""Raters with one accuracy, or one for each true class, against a slow EM and against Dawid-Skene."""

import numpy as np
import pytest

from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.models.one_coin import ClassConditional, OneCoin
from core.models.stopping import StoppingRule
from tests.core.models.rows import random_rows, simulated

NEVER = -1.0


def slow_em(rows, n_cases, n_raters, n_classes, by_class, n_iterations):
    """EM from the vote shares, multiplying probabilities."""
    q = np.full((n_cases, n_classes), 1 / n_classes)
    for case in {case for case, _, _ in rows}:
        answers = [answer for c, _, answer in rows if c == case]
        q[case] = [answers.count(k) / len(answers) for k in range(n_classes)]
    rated = sorted({case for case, _, _ in rows})
    for _ in range(n_iterations):
        pi = q[rated].sum(axis=0) / len(rated)
        right, every = np.zeros((n_raters, n_classes)), np.zeros((n_raters, n_classes))
        for case, rater, answer in rows:
            right[rater, answer] += q[case, answer]
            every[rater] += q[case]
        a = right / every if by_class else np.repeat((right.sum(1) / every.sum(1))[:, None], n_classes, axis=1)
        log_likelihood = 0.0
        for case in range(n_cases):
            joint = pi.copy()
            for c, rater, answer in rows:
                if c == case:
                    for k in range(n_classes):
                        joint[k] *= a[rater, k] if k == answer else (1 - a[rater, k]) / (n_classes - 1)
            log_likelihood += np.log(joint.sum())
            q[case] = joint / joint.sum()
    return pi, a if by_class else a[:, 0], q, log_likelihood


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", [OneCoin, ClassConditional])
def test_em_equals_the_reference_that_multiplies_probabilities(model, seed, build):
    rows = random_rows(seed)
    fit = model("none", StoppingRule(20, NEVER)).fit(build(rows, 3, 25, 4))
    pi, a, q, log_likelihood = slow_em(rows, 25, 4, 3, model is ClassConditional, 20)
    assert fit.prevalence == pytest.approx(pi, abs=1e-9)
    assert fit.parameters["a"] == pytest.approx(a, abs=1e-9)
    assert fit.class_probability == pytest.approx(q, abs=1e-9)
    assert fit.log_likelihood == pytest.approx(log_likelihood, abs=1e-8)
    assert np.einsum("jkk->jk", fit.confusion) == pytest.approx(a if a.ndim == 2 else np.repeat(a[:, None], 3, 1))


@pytest.mark.parametrize("smoothing", ["none", "pooled"])
def test_for_two_classes_class_conditional_is_dawid_skene(smoothing, build):
    dataset = build(random_rows(3, n_classes=2), 2)
    one, other = ClassConditional(smoothing).fit(dataset), DawidSkene(smoothing).fit(dataset)
    assert one.class_probability == pytest.approx(other.class_probability, abs=1e-9)
    assert one.objective == pytest.approx(other.objective, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_an_agreeing_answer_of_a_rater_better_than_chance_raises_the_odds_of_its_class(seed, build):
    """So a unanimous case of such raters keeps its class unless the prevalence of another outweighs the annotations."""
    rows = random_rows(seed, accuracy=0.55)
    fit = OneCoin("none").fit(build(rows, 3, 25, 4))
    seen = 0
    for case in range(25):
        mine = [(rater, answer) for c, rater, answer in rows if c == case]
        if len({answer for _, answer in mine}) == 1 and all(fit.parameters["a"][r] >= 1 / 3 for r, _ in mine):
            c = mine[0][1]
            assert (
                fit.class_probability[case, c] * fit.prevalence
                >= fit.class_probability[case] * fit.prevalence[c] - 1e-12
            ).all()
            seen += 1
    assert seen > 0


def test_an_adversary_is_turned_round_and_weighs_against(build):
    """Four raters right nine times of ten and one wrong nine times of ten, who then helps."""
    right = np.array([0.9] * 4 + [0.1])
    confusion = right[:, None, None] * np.eye(2) + (1 - right)[:, None, None] * (1 - np.eye(2))
    rows, truth = simulated(2, 2000, confusion, (0.6, 0.4), 5)
    fit = OneCoin("none").fit(build(rows, 2))
    assert fit.parameters["a"] == pytest.approx(right, abs=0.035)  # 5 SD of 0.3/√2000
    assert np.mean(fit.top_class() == truth) > np.mean(MajorityVote().fit(build(rows, 2)).top_class() == truth) + 0.02


def test_the_pool_is_the_default_and_maximum_likelihood_is_said(build):
    rows = [(case, rater, case % 2) for case in range(60) for rater in range(3)]
    for model in (OneCoin, ClassConditional):
        fit = model().fit(build(rows, 2))
        assert fit.settings["smoothing"] == "pooled"
        assert not any("without shrinkage" in note for note in fit.notes)
        assert any("without shrinkage" in note for note in model("none").fit(build(rows, 2)).notes)


def test_few_annotations_of_many_raters_are_where_one_accuracy_each_beats_a_matrix_each(build):
    """300 raters × 20 annotations of 4 classes; pooled, which is the default there, has half the log loss."""
    rng = np.random.default_rng(0)
    skill = rng.uniform(0.3, 0.9, 300)
    rows, truth = simulated(3, 1500, skill[:, None, None] * np.eye(4) + (1 - skill[:, None, None]) / 4, [0.25] * 4, 4)
    dataset = build(rows, 4)
    models = {"default": OneCoin(), "none": OneCoin("none"), "matrix": DawidSkene("none")}
    fits = {name: model.fit(dataset) for name, model in models.items()}
    right = {name: np.mean(fit.top_class() == truth) for name, fit in fits.items()}
    loss = {
        name: -np.log(fit.class_probability[np.arange(1500), truth].clip(1e-12)).mean() for name, fit in fits.items()
    }
    assert right["default"] > right["none"] > right["matrix"]
    assert loss["default"] < loss["none"] / 1.5 < loss["matrix"] / 3
