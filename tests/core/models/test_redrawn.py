"""Annotations of independent raters, drawn from a fit: do they fall as the model says?"""

import itertools

import numpy as np
import pytest

from core.models import held_out as held_out_module
from core.models import redrawn as module
from core.models.difficulty.nominal import NominalDifficulty
from core.models.held_out import HeldOut, prepare
from core.models.redrawn import by_confusion, independent_beta
from tests.core.models.rows import random_rows, simulated

PREVALENCE = np.array([0.6, 0.3, 0.1])
N = 20_000


def wide(build, n_raters):
    """Every rater annotates every case, and by itself says nothing."""
    case, rater = np.divmod(np.arange(N * n_raters), n_raters)
    return build(list(zip(case.tolist(), rater.tolist(), [0] * case.size, strict=True)), 3)


def test_annotations_fall_as_prevalence_and_confusion_matrices_say_and_chunks_change_nothing(build, monkeypatch):
    confusion = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 3))
    dataset = wide(build, 2)
    answer = by_confusion(PREVALENCE, confusion)(dataset, 5)
    expected = np.einsum("k,ka,kb->ab", PREVALENCE, *confusion)
    first, second = (answer[dataset.rater == rater] for rater in (0, 1))
    found = np.bincount(first * 3 + second, minlength=9).reshape(3, 3) / N
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / N)
    assert np.array_equal(answer, by_confusion(PREVALENCE, confusion)(dataset, 5))
    assert not np.array_equal(answer, by_confusion(PREVALENCE, confusion)(dataset, 6))
    monkeypatch.setattr(module, "_CELLS", 3 * 7)
    assert np.array_equal(answer, by_confusion(PREVALENCE, confusion)(dataset, 5))


@pytest.mark.parametrize("even", [False, True])
def test_raters_of_a_model_with_difficulty_are_right_together_as_often_as_it_says(even, build):
    """By a rule of 41 nodes: P(right) of each, and of both, which difficulty makes more than the product."""
    model = NominalDifficulty(even)
    fitted = build(simulated(4, 200, np.full((4, 3, 3), 0.15) + 0.55 * np.eye(3), PREVALENCE, 4)[0], 3)
    fit = model.fit(fitted)
    fit.parameters["spread"].setflags(write=True)
    fit.parameters["spread"][0] = 1.5
    dataset = wide(build, 2)
    answer = model.redraw(fit)(dataset, 3)
    node, weight = np.polynomial.hermite_e.hermegauss(41)
    right = 1 / (1 + np.exp(-np.outer(fit.parameters["ability"][:2], np.exp(1.5 * node))))
    wrong, share, weight = fit.parameters["mistakes"], fit.parameters["class_prior"], weight / weight.sum()
    chance = [
        [r * (np.arange(3) == k) + (1 - r) * wrong[k] for k in range(3)] for r in right.reshape(-1)
    ]  # (rater and node, true class, annotated class)
    chance = np.array(chance).reshape(2, node.size, 3, 3)
    expected = np.einsum("k,n,nka,nkb->ab", share, weight, *chance)
    first, second = (answer[dataset.rater == rater] for rater in (0, 1))
    found = np.bincount(first * 3 + second, minlength=9).reshape(3, 3) / N
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / N)


def test_the_beta_of_independent_raters_is_the_mean_of_two_redraws_on_the_same_folds(build):
    data = prepare(build(random_rows(1), 3))
    seen = []

    def score(other):
        seen.append(other)
        betas = np.array([0.5, 1.0])
        by_case = np.full((other.whole.dataset.n_cases, 2), -1.0)
        by_case[:, len(seen) % 2] -= 0.5  # the best β is 0.5, then 1
        return HeldOut(by_case, other.n_of_case, betas)

    found = independent_beta(data, lambda dataset, seed: np.full(dataset.n_annotations, seed % 3, np.int32), score, 0)
    assert found == 0.75 and len(seen) == 2
    for other in seen:
        assert len(set(other.whole.dataset.answer.tolist())) == 1
        for mine, theirs in zip(data.refits, other.refits, strict=True):
            assert theirs.folds is mine.folds and theirs.number == mine.number
            assert np.array_equal(theirs.data.dataset.rater, mine.data.dataset.rater)
            assert set(theirs.data.dataset.answer.tolist()) == set(other.whole.dataset.answer.tolist())


def test_of_one_set_of_folds_two_stand_for_all_five(build, monkeypatch):
    monkeypatch.setattr(held_out_module, "FEWEST_FOR_ONE_SET", 0)
    data = prepare(build(random_rows(1), 3))
    assert data.n_sets == 1 and len(data.refits) == 5
    seen = []

    def score(other):
        seen.append(other)
        return HeldOut(np.zeros((other.whole.dataset.n_cases, 2)), other.n_of_case, np.array([0.5, 1.0]))

    independent_beta(data, lambda dataset, seed: dataset.answer, score, 0)
    (other,) = seen
    assert [each.number for each in other.refits] == [0, 1]
    folds = data.refits[0].folds
    hidden = folds.scored & np.isin(folds.fold, (0, 1))
    by_hand = [int(hidden[first:end].sum()) for first, end in itertools.pairwise(data.whole.dataset.case_ptr.tolist())]
    assert other.n_of_case.tolist() == by_hand and 0 < sum(by_hand) < data.n_of_case.sum()
