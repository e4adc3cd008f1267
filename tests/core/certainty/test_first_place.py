"""Which class of a Dirichlet distribution is the largest, against closed forms and draws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.annotations.dataset import Dataset
from core.certainty.first_place import exact_first_place, exact_top, first_place
from core.models.ordinal import Ordinal
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN

CLOSE = 2e-4


@pytest.mark.parametrize(
    "a, b", [(1, 1), (3, 2), (0.5, 2.5), (0.01, 30), (40, 55), (1e4, 1.01e4), (1e6, 1e6), (1e9, 1e9 + 3e4)]
)
def test_two_classes_are_a_beta_distribution(a, b):
    """P(θ > ½), θ ~ Beta(a, b)."""
    first = first_place(np.array([a, b], float), 1.0, 0)
    assert first == pytest.approx([stats.beta.sf(0.5, a, b), stats.beta.cdf(0.5, a, b), 0.0], abs=CLOSE)


@pytest.mark.parametrize("n", [1, 2, 7, 500, 100_000])
@pytest.mark.parametrize("shape", [0.01, 1.0, 12.0])
def test_classes_of_one_shape_are_first_equally_often(n, shape):
    assert first_place(np.empty(0), shape, n)[0] * n == pytest.approx(1, abs=1e-9)
    named = first_place(np.full(2, shape), shape, n)
    assert named * (n + 2) == pytest.approx(np.ones(3), abs=1e-9)


@pytest.mark.parametrize("n", [1, 3, 40])
def test_one_class_of_shape_two_among_exponentials(n):
    """P = ∫ x e^(-x) (1 − e^(-x))^n dx, which is the harmonic number H_(n + 1) over n + 1."""
    harmonic = (1 / np.arange(1, n + 2)).sum()
    assert first_place(np.array([2.0]), 1.0, n)[0] == pytest.approx(harmonic / (n + 1), abs=CLOSE)


@pytest.mark.parametrize(
    "shape, rest_shape, n_rest",
    [([4, 2.5, 1.3], 1.0, 6), ([0.3, 0.2], 0.1, 3), ([7.5, 7.5, 15], 0.01, 416), ([1.5], 1, 57)],
)
def test_draws_agree(shape, rest_shape, n_rest):
    n = 200_000
    rng = np.random.default_rng(0)
    named = rng.standard_gamma(np.array(shape, float), size=(n, len(shape)))
    # The largest of the rest by its distribution function, so that tiny shapes need no hundreds of draws.
    rest = stats.gamma.ppf(rng.random(n) ** (1 / n_rest), rest_shape)
    place = np.column_stack([named, rest]).argmax(axis=1)
    drawn = np.bincount(place, minlength=len(shape) + 1) / n
    drawn[-1] /= n_rest
    first = first_place(np.array(shape, float), rest_shape, n_rest)
    error = np.sqrt(first * (1 - first) / n) + CLOSE / 4
    assert np.abs(first - drawn).max() < 4 * error.max()
    assert first[:-1].sum() + n_rest * first[-1] == pytest.approx(1)


def test_of_ordered_classes_every_one_may_be_first_as_likely_as_it_is_the_truth():
    answers = np.array([0, 0, 1, 1, 2, 2, 2, 3, 1])
    cases, raters = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    data = replace(
        Dataset.from_classes("d", list("123"), list("rst"), list("wxyz"), cases, raters, answers), ordinal=True
    )
    probability = Ordinal().fit(data).class_probability
    for case in range(3):
        codes, chance = exact_first_place(OrdinalTruth(), data, case, 1.0)
        assert codes.tolist() == [0, 1, 2, 3]
        assert chance == pytest.approx([*probability[case], 0.0], abs=1e-9)
    assert probability[1].argmax() == 2


@pytest.mark.parametrize("model", [DirichletCounts(), PrIRN()])
def test_on_a_case_that_nobody_annotated_a_class_that_nobody_named_is_surely_first(model):
    data = Dataset.from_classes("d", ["1", "2"], ["r"], list("xyz"), np.array([1]), np.array([0]), np.array([2]))
    codes, chance = exact_first_place(model, data, 0, 2.0)
    assert codes.size == 0 and chance.tolist() == [1.0]
    assert exact_first_place(model, data, 1, 2.0)[0].tolist() == [2]
    assert exact_first_place(PlackettLuce(), data, 0, 2.0) is None


def test_the_class_that_leads_and_one_that_nobody_named_are_first_as_often_as_in_draws():
    votes = np.array([[3, 0, 0, 0], [1, 0, 2, 0], [0, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 2]])
    case, code = np.nonzero(votes)
    case, code = np.repeat(case, votes[case, code]), np.repeat(code, votes[case, code])
    rater = np.arange(len(case))
    data = Dataset.from_classes("d", list("abcde"), [str(n) for n in rater], list("wxyz"), case, rater, code)
    found = exact_top(DirichletCounts(0.7), data, 1.5)
    assert found.top_class.tolist() == [0, 2, -1, 1, 3]
    rng = np.random.default_rng(6)
    for place, count in enumerate(votes):
        first = rng.dirichlet(1.5 * count + 0.7, 100_000).argmax(axis=1)
        lead = 0 if not count.any() else found.top_class[place]
        assert found.certainty[place] == pytest.approx((first == lead).mean(), abs=0.007)
        assert found.never_named[place] == pytest.approx((count[first] == 0).mean(), abs=0.007)
    part = exact_top(DirichletCounts(0.7), data, 1.5, range(1, 4))
    for name in ("certainty", "top_class", "never_named"):
        assert getattr(part, name).tolist() == getattr(found, name)[1:4].tolist()
