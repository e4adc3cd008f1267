"""Risk levels against draws of all classes, each with a share of its own, and against exact expectations."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, kstest

from core.certainty.risk import known_risk, risk_of
from core.errors import NotApplicableError
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.protocol import CaseDraws
from core.reducers import protocol
from core.reducers.protocol import reduce_draws
from core.reducers.risk import RiskLevels, RiskState, level_masses

N_DRAWS = 4000
CASES = [
    ({0: 2, 3: 1, 5: 1}, [0, 2, 1, 0, 2, 2, 1, 0, 0, 2]),
    ({1: 1}, [0, 1, 2, 2, 2, 1, 0]),
    ({}, [0, 0, 1, 2, 2, 2]),
    ({0: 1, 1: 1, 2: 1}, [1, 2, 0]),
    ({0: 3, 2: 1}, [2, 2, 2, 0, 0]),
]


def data_of(build, counts, n_classes):
    """One case with these counts, beside one with an annotation of every rater."""
    answers = [k for k, n in counts.items() for _ in range(n)]
    rows = [(0, rater, k) for rater, k in enumerate(answers)] + [(1, 0, 0)]
    return build(rows, n_classes, 2)


def draws_of(build, counts, n_classes, alpha=1.0, n_draws=N_DRAWS):
    model = DirichletCounts(alpha)
    return next(model.draws(data_of(build, counts, n_classes), reliability=1.0, n_draws=n_draws, seed=8))[1]


def shapes(counts, n_classes, alpha=1.0):
    return np.array([counts.get(k, 0) + alpha for k in range(n_classes)])


def reduced(dataset, risk, n_draws=N_DRAWS, **more):
    state = reduce_draws(DirichletCounts(), dataset, [RiskLevels(risk)], reliability=1.0, n_draws=n_draws, **more)[0]
    return state, risk_of(state)


def within_error(frequency, exact, n_draws=N_DRAWS, n_reference=np.inf):
    """Within 4.5 standard errors of a frequency of ``n_draws``, beside one of ``n_reference``."""
    variance = exact * (1 - exact) * (1 / n_draws + 1 / n_reference)
    return (np.abs(frequency - exact) <= 4.5 * np.sqrt(variance) + 1e-12).all()


@pytest.mark.parametrize(("counts", "levels"), CASES)
def test_the_sum_of_a_level_has_its_beta_distribution(build, counts, levels):
    """Sums of parts of a Dirichlet vector are Beta; 1e-4 is the size of each of the tests."""
    risk = np.array(levels, np.int8)
    mass, _ = level_masses(draws_of(build, counts, len(levels)), risk)
    shape = shapes(counts, len(levels))
    assert (np.delete(mass, np.unique(risk), axis=1) == 0).all()
    for level in np.unique(risk):
        a, b = shape[risk == level].sum(), shape[risk != level].sum()
        assert kstest(mass[:, level], beta(a, b).cdf).pvalue > 1e-4


@pytest.mark.parametrize(("counts", "levels"), CASES)
def test_frequencies_of_levels_are_those_of_shares_of_every_class(build, counts, levels):
    risk, n_reference = np.array(levels, np.int8), 200_000
    _, found = reduced(data_of(build, counts, len(levels)), risk, seed=8)
    full = np.random.default_rng(1).dirichlet(shapes(counts, len(levels)), n_reference)
    sums = np.array([full[:, risk == level].sum(1) for level in range(3)])
    top_level = np.bincount(risk[full.argmax(1)], minlength=3) / n_reference
    summed = np.bincount(sums.argmax(0), minlength=3) / n_reference
    assert within_error(found.of_top1[0], top_level.max(), n_reference=n_reference)
    assert within_error(found.summed[0], summed.max(), n_reference=n_reference)
    if np.sort(summed)[-1] - np.sort(summed)[-2] > 0.05:
        assert found.level[0] == summed.argmax()


@pytest.mark.parametrize(("counts", "levels"), CASES)
def test_masses_and_levels_of_the_top_1_class_sum_to_1_in_every_draw(build, counts, levels):
    mass, top = level_masses(draws_of(build, counts, len(levels)), np.array(levels, np.int8))
    assert mass.sum(axis=1) == pytest.approx(np.ones(N_DRAWS), abs=1e-12)
    assert top.sum(axis=1) == pytest.approx(np.ones(N_DRAWS), abs=1e-12)
    assert (mass >= 0).all() and (top >= 0).all()


@pytest.mark.parametrize(("counts", "levels"), CASES)
def test_expected_risk_is_the_sum_of_level_times_mean_plausibility(build, counts, levels):
    """Exact means of a Dirichlet; the error is that of the mean of the draws."""
    risk, shape = np.array(levels, np.int8), shapes(counts, len(levels))
    _, found = reduced(data_of(build, counts, len(levels)), risk, seed=8)
    mean = shape / shape.sum()
    exact = (mean * risk).sum()
    sd = np.sqrt(((mean * risk**2.0).sum() - exact**2) / (shape.sum() + 1))
    assert abs(found.expected[0] - exact) < 4.5 * sd / np.sqrt(N_DRAWS)
    assert found.expected == pytest.approx(found.mean @ [0, 1, 2], abs=1e-15)
    assert found.mean.sum(axis=1) == pytest.approx([1, 1], abs=1e-12)


def test_a_level_of_never_named_classes_has_its_exact_part_of_the_top_1_class(build):
    """Nobody named anything: each draw counts 2, 1 and 3 of 6, without any error."""
    risk = np.array([0, 0, 1, 2, 2, 2], np.int8)
    _, top = level_masses(draws_of(build, {}, 6), risk)
    assert top == pytest.approx(np.tile([2 / 6, 1 / 6, 3 / 6], (N_DRAWS, 1)), abs=1e-15)


@pytest.mark.parametrize("alpha", [1e-3, 1e-6, 1e-9])
def test_with_a_tiny_prior_one_never_named_class_has_all_of_the_rest(build, alpha):
    """The level of that class is each level as often as it has classes."""
    risk = np.array([0, 0, 0, 1, 1, 2], np.int8)
    mass, _ = level_masses(draws_of(build, {}, 6, alpha), risk)
    n = np.array([3, 2, 1])
    exact = beta(alpha * n, alpha * (6 - n)).sf(0.99)
    assert exact == pytest.approx(n / 6, abs=20 * alpha)
    assert within_error((mass > 0.99).mean(axis=0), exact)


def test_a_class_without_a_chance_leaves_its_level_nothing():
    share = np.array([[0.6, 0.4], [0.3, 0.7]])
    top = np.array([[0, 1], [1, 0]], np.int32)
    draws = CaseDraws(np.array([1, 2], np.int32), share, np.zeros(2), top, 1, 1.0, 2.0, 0)
    mass, level = level_masses(draws, np.array([1, 2, 0], np.int8))
    assert mass.tolist() == [[0.4, 0, 0.6], [0.7, 0, 0.3]]
    assert level.tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.fixture
def dataset(build):
    rng = np.random.default_rng(3)
    return build([(case, rater, int(rng.integers(7))) for case in range(25) for rater in range(3)], 7)


RISK = np.array([0, 2, 1, 0, 2, 1, 1], np.int8)


def same(one, other, rows=slice(None)):
    return all(np.array_equal(getattr(one, name)[rows], getattr(other, name)) for name in RiskState.__slots__)


def test_risk_of_a_case_does_not_depend_on_the_other_cases(dataset):
    few = dataset.select(cases=["case 9", "case 4"])
    assert few.cases == ("case 4", "case 9")
    assert same(reduced(dataset, RISK, 50, seed=1)[0], reduced(few, RISK, 50, seed=1)[0], [4, 9])


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_the_size_of_chunks_changes_nothing(size, dataset, monkeypatch):
    whole = reduced(dataset, RISK, 50, seed=1)[0]
    monkeypatch.setattr(protocol, "CHUNK_CASES", size)
    assert same(whole, reduced(dataset, RISK, 50, seed=1)[0])


def test_another_seed_gives_other_splits(dataset):
    assert not same(reduced(dataset, RISK, 50, seed=1)[0], reduced(dataset, RISK, 50, seed=2)[0])


def test_cases_without_annotations_are_split_each_on_its_own(build):
    """Nothing but the split tells them apart."""
    state, _ = reduced(build([(0, 0, 0)], 7, 3), RISK, 50, seed=1)
    assert (state.mean[1] != state.mean[2]).all()


def test_errors_are_those_of_a_frequency_at_the_effective_number_of_draws():
    state = RiskState(
        np.array([[0.2, 0.5, 0.3], [0, 0, 1]]),
        np.array([[0.1, 0.1, 0.8], [1, 0, 0]]),
        np.array([[0.25, 0.25, 0.5], [0.5, 0.3, 0.2]]),
        np.array([400.0, 25.0]),
    )
    found = risk_of(state)
    assert found.of_top1.tolist() == [0.5, 1]
    assert found.of_top1_se == pytest.approx([0.025, 0])
    assert found.summed.tolist() == [0.8, 1]
    assert found.summed_se == pytest.approx([0.02, 0])
    assert found.level.tolist() == [2, 0]
    assert found.expected == pytest.approx([1.25, 0.7])


def test_the_level_is_the_one_that_the_draws_most_often_make_likeliest_as_its_certainty_says():
    """A level that is rarely the likeliest, and then by far, may have the largest mean."""
    state = RiskState(
        np.array([[0.1, 0.8, 0.1]]), np.array([[0.2, 0.7, 0.1]]), np.array([[0.45, 0.4, 0.15]]), np.array([400.0])
    )
    found = risk_of(state)
    assert found.level.tolist() == [1]
    assert found.summed.tolist() == [0.7]


def test_errors_are_the_spread_of_repeated_runs(build):
    """50 seeds: the sample sd of a normal sample of 50 is within 45% of the truth but once in 100,000."""
    risk = np.array([0, 2, 1, 0, 2, 2, 1], np.int8)
    data = build([(0, 0, 0), (0, 1, 1), (0, 2, 0)], 7)
    runs = [reduced(data, risk, 400, seed=seed)[1] for seed in range(50)]
    spread = np.std([run.summed[0] for run in runs], ddof=1)
    assert spread == pytest.approx(np.mean([run.summed_se[0] for run in runs]), rel=0.45)


def test_levels_must_be_known_for_every_class(dataset):
    with pytest.raises(NotApplicableError, match="some classes have no risk level"):
        known_risk(dataset)
    with pytest.raises(NotApplicableError, match="some classes have no risk level"):
        known_risk(replace(dataset, class_risk=np.array([0, 1, 2, -1, 0, 0, 0], np.int8)))
    assert known_risk(replace(dataset, class_risk=RISK.copy())).tolist() == RISK.tolist()
