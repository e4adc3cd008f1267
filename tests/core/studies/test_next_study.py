"""Size of a next study."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError
from core.studies.analysis import StudyOptions, compute
from core.studies.estimates import DifferenceComponents
from core.studies.next_study import compute_next_study, compute_power
from tests.core.studies.slow import delong
from tests.core.studies.test_obuchowski_rockette import slow_analysis
from tests.core.studies.worlds import opinions, roe_metz, study_of


def pilot():
    scores, truth = roe_metz(np.random.default_rng(1), 6, 100)
    return scores, truth, compute(study_of(scores, truth)).taken


def hillis_2011(scores, truth, n_readers, n_cases):
    """Variance and degrees of freedom of the next study, by Hillis, Obuchowski & Berbaum's formulas as printed."""
    auc, covariance = delong(scores, truth)
    _, _, mean = slow_analysis(auc, covariance)
    residual = auc - auc.mean(axis=1, keepdims=True) - auc.mean(axis=0) + auc.mean()
    interaction = (residual**2).sum() / (auc.shape[1] - 1)
    shared = max(mean[True, False] - mean[False, False], 0)
    readers = max(interaction - mean[True, True] + mean[False, True] + shared, 0)
    ratio = len(truth) / n_cases
    error = mean[True, True] - mean[False, True]
    total = readers + ratio * (error + (n_readers - 1) * shared)
    return 2 / n_readers * total, total**2 / ((readers + ratio * (error - shared)) ** 2 / (n_readers - 1))


@pytest.mark.parametrize(("n_readers", "n_cases"), [(6, 100), (4, 300), (12, 50)])
def test_power_is_that_of_hillis(n_readers, n_cases):
    from scipy.stats import f, ncf

    scores, truth, found = pilot()
    variance, df = hillis_2011(scores, truth, n_readers, n_cases)
    wanted = ncf.sf(f.isf(0.05, 1, df), 1, df, 0.05**2 / variance)
    assert compute_power(found, 0, 0.05, n_readers, n_cases) == pytest.approx(wanted, rel=1e-6)


def test_the_number_of_cases_is_the_least_that_suffices():
    _, _, found = pilot()
    sizes = compute_next_study(found, 0.08, (4, 8, 16), power=0.7).sizes
    for size in sizes:
        if size.n_cases is not None:
            assert compute_power(found, 0, 0.08, size.n_readers, size.n_cases) == size.power >= 0.7
            assert compute_power(found, 0, 0.08, size.n_readers, size.n_cases - 1) < 0.7
    counts = [size.n_cases or np.inf for size in sizes]
    assert counts == sorted(counts, reverse=True) and np.isfinite(counts[-1])


def test_too_few_readers_cannot_be_made_up_by_cases():
    _, _, found = pilot()
    size = compute_next_study(found, 0.01, (2,)).sizes[0]
    assert size.n_cases is None and size.power < 0.8


def test_doubt_about_the_truth_needs_more_cases():
    rng = np.random.default_rng(2)
    scores, truth = roe_metz(rng, 6, 150)
    panel = opinions(rng, truth, (0.75,) * 3)
    found = compute(study_of(scores, panel=panel), StudyOptions(n_draws=50)).in_doubt
    certain = type(found)(**{name: getattr(found, name) for name in found.__slots__} | {"truth_variance": (0.0,)})
    assert found.truth_variance[0] > 0
    assert compute_power(found, 0, 0.05, 6, 300) < compute_power(certain, 0, 0.05, 6, 300)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"effect": 0.0}, "effect is 0"),
        ({"effect": 2.0}, "The effect"),
        ({"n_readers": (1,)}, "number of readers"),
        ({"pair": 1}, "Could not find pair 1"),
        ({"power": 1.0}, "The power"),
        ({"significance": 0.0}, "significance"),
    ],
)
def test_what_is_out_of_range_is_refused(changed, words):
    with pytest.raises(InputError, match=words):
        compute_next_study(pilot()[2], **{"effect": 0.05} | changed)


def test_power_grows_with_cases_where_scipy_loses_the_tail():
    """SciPy 1.17 gives NaN for ncfdtr(1, 19, 1532.13, 4.38); a search that took it for 0 found far too many cases."""
    found = pilot()[2]
    none = np.zeros(1)
    found = replace(found, components=DifferenceComponents(none, none, np.ones(1)), truth_variance=(0.0,))
    n_cases = (found.n_with + found.n_without) / (20 * 0.05**2) * np.linspace(1_400, 1_700, 3_000)
    power = [compute_power(found, 0, 0.05, 20, n) for n in n_cases]
    assert np.min(power) > 1 - 1e-12
