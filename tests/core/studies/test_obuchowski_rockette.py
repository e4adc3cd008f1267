"""Obuchowski-Rockette against slow references and figures of iMRMC."""

from pathlib import Path

import numpy as np
import pytest

from core.studies.accuracy import contributions, error_covariance, values_by_reader
from core.studies.analysis import StudyOptions, compute, compute_moments
from core.studies.imrmc import read_rows
from core.studies.obuchowski_rockette import compute_obuchowski_rockette, mean_covariances
from core.studies.study import study_from_rows
from tests.core.studies.slow import delong, jackknife, unbiased_error_covariance
from tests.core.studies.worlds import roe_metz, study_of

EXAMPLE = Path(__file__).with_name("imrmc_example.imrmc")


def slow_analysis(values, covariance):
    """Variance and degrees of freedom of a difference, written out with loops over readers and modalities."""
    n_modalities, n_readers = values.shape
    cells = [(m, r) for m in range(n_modalities) for r in range(n_readers)]
    groups = {}
    for m, r in cells:
        for k, s in cells:
            groups.setdefault((m == k, r == s), []).append(covariance[m, r, k, s])
    mean = {shared: np.mean(of) for shared, of in groups.items()}
    grand, by_modality, by_reader = values.mean(), values.mean(axis=1), values.mean(axis=0)
    square = sum((values[m, r] - by_modality[m] - by_reader[r] + grand) ** 2 for m, r in cells)
    interaction = square / (n_modalities - 1) / (n_readers - 1)
    error = interaction + n_readers * max(mean[True, False] - mean[False, False], 0)
    return 2 / n_readers * error, error**2 / (interaction**2 / ((n_modalities - 1) * (n_readers - 1))), mean


@pytest.mark.parametrize("n_modalities", [2, 3])
@pytest.mark.parametrize("ordered", [False, True])
def test_auc_is_that_of_a_slow_reference(n_modalities, ordered):
    scores, truth = roe_metz(np.random.default_rng(6), 4, 30, (1.2, 1.4, 1.6)[:n_modalities])
    scores = np.clip(np.rint(scores), 0, 3) if ordered else scores
    auc, covariance = delong(scores, truth)
    found, method = compute_moments(study_of(scores, truth), truth, StudyOptions())
    assert method == "obuchowski-rockette"
    np.testing.assert_allclose(found.reader_value, auc, rtol=1e-12)
    np.testing.assert_allclose(found.reader_variance, np.einsum("mrmr->mr", covariance), rtol=1e-10)
    variance, df, mean = slow_analysis(auc, covariance)
    np.testing.assert_allclose(found.difference_variance, variance, rtol=1e-10)
    np.testing.assert_allclose(found.difference_df, df, rtol=1e-10)
    errors = mean_covariances(covariance)
    wanted = [mean[True, True], mean[False, True], mean[True, False], mean[False, False]]
    np.testing.assert_allclose([errors.variance, errors.cov1, errors.cov2, errors.cov3], wanted, rtol=1e-9)


def test_covariances_of_errors_are_near_those_of_the_jackknife():
    """They differ by terms of the order of 1/n² (a jackknife over all cases counts the two kinds together)."""
    scores, truth = roe_metz(np.random.default_rng(7), 3, 120)
    study = study_of(scores, truth)

    def auc(kept):
        part = study_of(scores[:, :, kept], truth[kept])
        return values_by_reader(contributions(part, truth[kept], "auc", None), (2, 3))[0].ravel()

    found = error_covariance(contributions(study, truth, "auc", None), (2, 3)).reshape(6, 6)
    np.testing.assert_allclose(found, jackknife(auc, 120), atol=0.03 * found.max())


@pytest.mark.parametrize(("measure", "kind"), [("sensitivity", 1), ("specificity", 0)])
def test_sensitivity_and_specificity_are_shares_with_covariances_of_shares(measure, kind):
    scores, truth = roe_metz(np.random.default_rng(8), 4, 40)
    hits = ((scores[:, :, truth == kind] >= 0.7) == bool(kind)).astype(float).reshape(8, -1)
    found = compute_moments(study_of(scores, truth), truth, StudyOptions(measure, 0.7))[0]
    np.testing.assert_allclose(found.reader_value.ravel(), hits.mean(axis=1), rtol=1e-12)
    covariance = (np.cov(hits) / hits.shape[1]).reshape(2, 4, 2, 4)
    variance, df, _ = slow_analysis(hits.mean(axis=1).reshape(2, 4), covariance)
    np.testing.assert_allclose((found.difference_variance[0], found.difference_df[0]), (variance, df), rtol=1e-9)


def test_a_score_at_the_threshold_is_positive():
    truth = np.array([0, 0, 0, 1, 1, 1])
    scores = np.tile([1.0, 2.0, 3.0, 2.0, 3.0, 1.0], (2, 2, 1))
    for measure, share in (("sensitivity", 2 / 3), ("specificity", 1 / 3)):
        found = compute_moments(study_of(scores, truth), truth, StudyOptions(measure, 2.0))[0]
        np.testing.assert_allclose(found.value, share)


def test_of_a_complete_study_both_methods_give_the_same_variance_of_a_mean():
    """Sensitivity's covariances are unbiased, so that the two differ in nothing but degrees of freedom."""
    scores, truth = roe_metz(np.random.default_rng(2), 5, 80)
    both = [
        compute_moments(study_of(scores, truth), truth, StudyOptions("sensitivity", 0.7, method))[0]
        for method in ("obuchowski-rockette", "u-statistics")
    ]
    for name in ("value", "variance", "difference", "difference_variance"):
        np.testing.assert_allclose(getattr(both[0], name), getattr(both[1], name), rtol=1e-9)
    for name in ("readers", "cases", "rest"):
        np.testing.assert_allclose(*(getattr(one.components, name) for one in both), rtol=1e-9)


def test_with_unbiased_covariances_hillis_degrees_of_freedom_are_those_of_imrmc():
    study = study_from_rows(*read_rows(EXAMPLE.read_bytes()))
    values = compute_moments(study, study.truth, StudyOptions())[0].reader_value
    found = compute_obuchowski_rockette(values, unbiased_error_covariance(study.scores, study.truth))
    np.testing.assert_allclose(found.difference_df, 7.43533593, rtol=1e-8)
    np.testing.assert_allclose(found.df, [6.85458885, 35.0001533], rtol=1e-7)
    np.testing.assert_allclose(found.difference_variance, 0.0049895091, atol=6e-11)
    np.testing.assert_allclose(found.variance, [0.0063139302, 0.0023720528], atol=6e-11)


def test_printed_figures_of_vandyke_agree_with_each_other():
    """Printed AUCs of five readers, SE 0.02068250 and 15.0661 degrees of freedom of the difference −0.04380032.

    The data are not kept here. The two figures have one unknown between them, Cov2 − Cov3, which the interaction of the
    printed AUCs settles.
    """
    values = np.array(
        [
            [0.91964573, 0.85877617, 0.90386473, 0.97310789, 0.82979066],
            [0.94782609, 0.90531401, 0.92173913, 0.99935588, 0.92995169],
        ]
    )
    residual = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    shared = (5 / 2 * 0.02068250**2 - (residual**2).sum() / 4) / 5
    covariance = np.einsum("mk,rs->mrks", np.eye(2), np.ones((5, 5))) * shared
    found = compute_obuchowski_rockette(values, covariance)
    assert found.difference[0] == pytest.approx(-0.04380032, abs=1e-8)
    assert found.difference_df[0] == pytest.approx(15.0661, abs=5e-4)


def test_a_shared_covariance_below_zero_counts_as_none():
    values = np.array([[0.7, 0.8, 0.9], [0.8, 0.75, 0.9]])
    covariance = np.einsum("mk,rs->mrks", np.eye(2), np.eye(3)) * 0.01 - 0.001 * np.einsum(
        "mk,rs->mrks", np.eye(2), 1 - np.eye(3)
    )
    found = compute_obuchowski_rockette(values, covariance)
    assert found.components.cases[0] == 0 and found.difference_df[0] == pytest.approx(2)


def test_an_increasing_change_of_scores_changes_no_auc():
    scores, truth = roe_metz(np.random.default_rng(9), 4, 50)
    first, second = (compute(study_of(of, truth)).taken.differences[0] for of in (scores, np.exp(scores)))
    assert (first.value, first.se, first.df) == (second.value, second.se, second.df)
