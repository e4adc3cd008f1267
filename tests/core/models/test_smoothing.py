import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import InputError
from core.models.bayesian_dawid_skene import prior_in_words
from core.models.catalogue import command_of, fit_request, request
from core.models.dawid_skene import DawidSkene
from core.models.precision import precision_of
from core.models.reparametrise import expit, logit
from core.models.smoothing import Ability, rater_rows, strength
from tests.core.raters.raters_simulated import simulated

POOL = np.array([[0.8, 0.1, 0.3], [0.15, 0.6, 0.2], [0.05, 0.3, 0.5]])  # annotated class, true class


def expected(rng, factors, n=200):
    rate = expit(logit(np.diag(POOL)) + np.array(factors)[:, None])
    counts = np.zeros((len(factors), 3, 3))
    for j, right in enumerate(rate):
        for z in range(3):
            share = POOL[:, z] * (1 - right[z]) / (1 - POOL[z, z])
            share[z] = right[z]
            counts[j, :, z] = rng.multinomial(n, share)
    return counts


def settled(counts):
    able = Ability(np.zeros(len(counts)), 1.0)
    for _ in range(12):
        rows, able = rater_rows(counts, POOL, able)
    return rows, able


def test_the_factor_of_a_rater_is_at_the_mode_of_its_likelihood_and_prior():
    counts = expected(np.random.default_rng(1), [-1.5, -0.5, 0.0, 0.4, 1.2], n=30)
    _, able = settled(counts)
    for j, table in enumerate(counts):
        right, n = np.diag(table), table.sum(axis=0)

        def loss(r, right=right, n=n):
            rate = expit(logit(np.diag(POOL)) + r)
            return r**2 / (2 * able.variance) - (right * np.log(rate) + (n - right) * np.log1p(-rate)).sum()

        assert able.log_factor[j] == pytest.approx(minimize_scalar(loss, bracket=(-1, 1), tol=1e-10).x, abs=1e-5)


def test_factors_and_their_spread_are_found_again():
    """Within four of their own standard errors, and the rows are those the annotations came from."""
    rng = np.random.default_rng(2)
    factors = rng.normal(0, 0.8, 60)
    rows, able = settled(expected(rng, factors))
    rate = expit(logit(np.diag(POOL)) + factors[:, None])
    error = 1 / np.sqrt((200 * rate * (1 - rate)).sum(axis=1))
    assert (np.abs(able.log_factor - factors) < 4 * error).all()
    assert np.sqrt(able.variance) == pytest.approx(factors.std(), abs=4 * 0.8 / np.sqrt(2 * 60))
    np.testing.assert_allclose(np.einsum("jkk->jk", rows), rate, atol=0.12)


@pytest.mark.parametrize("worth", [0.5, 12.0, 300.0])
def test_strengths_are_at_the_mode_after_few_steps(worth):
    """Of three of them each leaps to where the fixed point, which takes hundreds where rows are alike, leads."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(worth * POOL[:, 0], size=80)
    counts = np.stack([rng.multinomial(60, row) for row in rows])[:, :, None].astype(float)

    def loss(u):
        m = np.exp(u) * POOL[:, 0]
        each = gammaln(m + counts[:, :, 0]) - gammaln(m)
        whole = gammaln(m.sum() + 60) - gammaln(m.sum())
        return -(each.sum() - 80 * whole + u - 0.1 * np.exp(u))  # Gamma(2, 0.1) in s

    found = strength(counts, POOL[:, :1], most_steps=4)[0]
    assert found == pytest.approx(np.exp(minimize_scalar(loss, bracket=(-1, 6), tol=1e-12).x), rel=0.02)


def test_rows_are_those_of_the_pool_for_whoever_has_no_annotations():
    counts = expected(np.random.default_rng(3), [0.5, -0.5, 0.0])
    counts[2] = 0
    rows, able = settled(counts)
    assert able.log_factor[2] == 0
    np.testing.assert_allclose(rows[2], POOL, atol=1e-12)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)
    off = ~np.eye(3, dtype=bool)
    share = rows[0] / (rows[0] * off).sum(axis=0)
    np.testing.assert_allclose(share[off], (POOL / (POOL * off).sum(axis=0))[off], atol=1e-12)


def test_what_a_rater_does_on_one_class_is_believed_of_classes_they_never_met():
    """A poor rater of two classes is trusted less on the third than a good one, who has not met it either."""
    data, truth = simulated(4, [0.95, 0.4, *[0.75] * 8], n_cases=400, per_case=5, n_classes=3)
    keep = (data.rater > 1) | (truth[data.case_of_annotation] < 2)
    case, rater, answer = data.case_of_annotation[keep], data.rater[keep], data.answer[keep]
    data = Dataset.from_classes("x", data.cases, data.raters, data.classes, case, rater, answer)
    confusion = DawidSkene("empirical").fit(data).confusion
    assert confusion[0, 2, 2] > confusion[1, 2, 2] + 0.1
    pooled = DawidSkene("pooled").fit(data).confusion
    assert confusion[0, 2, 2] - confusion[1, 2, 2] > pooled[0, 2, 2] - pooled[1, 2, 2] + 0.05


def test_a_single_class_and_intervals_take_pseudo_counts_of_every_rater():
    one = Dataset.from_classes("x", ["a", "b"], ["r", "s"], ["k"], [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0])
    assert (DawidSkene("empirical").fit(one).confusion == 1).all()
    data, _ = simulated(5, [0.9, 0.6, 0.75, 0.8, 0.7], n_cases=80, per_case=3)
    model = DawidSkene("empirical")
    fit = model.fit(data)
    spread = precision_of(model, data, fit).accuracy
    assert (spread.low < fit.accuracy()).all() and (fit.accuracy() < spread.high).all()


# Priors: Priors of the Bayesian Dawid-Skene model: what they count as, and that they reach the fit.


NAME = "bayesian-dawid-skene"


def clear_truth(n=90, wrong=9):
    """Two raters who are always right decide the truth; a third is wrong on some cases of class a."""
    truth = np.arange(n) % 2
    third = truth.copy()
    third[np.flatnonzero(truth == 0)[:wrong]] = 1
    answers = np.stack([truth, truth, truth, truth, third], axis=1)
    return Dataset.from_classes("clear", [f"c{i}" for i in range(n)], list("rstuv"), list("ab"),
                                np.repeat(np.arange(n), 5), np.tile(np.arange(5), n), answers.ravel())  # fmt: skip


def fitted(**priors):
    return fit_request(request(NAME, "map", **priors), clear_truth()).fit


@pytest.mark.parametrize("priors", [{}, {"diagonal": 30.0, "off_diagonal": 2.0, "prevalence_prior": 10.0}])
def test_a_prior_counts_as_that_many_annotations(priors):
    """Where the truth is clear the mode is (prior + annotations) over their sum, on the line of log ratios."""
    found = fitted(**priors)
    right, wrong, cases = (
        priors.get("diagonal", 5.0),
        priors.get("off_diagonal", 1.0),
        priors.get("prevalence_prior", 3),
    )
    np.testing.assert_allclose(
        found.confusion[4, 0], np.array([right + 36, wrong + 9]) / (right + wrong + 45), atol=2e-3
    )
    np.testing.assert_allclose(found.confusion[0, 1], np.array([wrong, right + 45]) / (right + wrong + 45), atol=2e-3)
    np.testing.assert_allclose(found.prevalence, [0.5, 0.5], atol=1e-3)
    assert found.settings["prevalence_prior"] == cases


def test_words_say_as_how_many_annotations_it_counts():
    assert prior_in_words(2) == (
        "The prior counts as 6 annotations per rater and true class (5 correct, 1 incorrect: accuracy 83%), and "
        "as 3 cases per class."
    )
    assert "The prior counts as 10 annotations per rater and true class" in prior_in_words(3, 1.0, 7.0, 1.5)
    assert "(7 correct, 3 incorrect: accuracy 70%), and as 1 case per class" in prior_in_words(3, 1.0, 7.0, 1.5)


def test_priors_are_options_of_the_command_and_stand_in_its_answer(capsys):
    assert main(["fit", NAME, "anaesthesia", "--diagonal", "40", "--off-diagonal", "2", "--prevalence-prior", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"]["diagonal"] == 40 and found["settings"]["off_diagonal"] == 2
    assert found["prior"].startswith("The prior counts as 46 annotations per rater and true class")
    assert "--diagonal 40.0" in command_of(request(NAME, diagonal=40.0))
    with pytest.raises(InputError):
        request(NAME, diagonal=0.0)
