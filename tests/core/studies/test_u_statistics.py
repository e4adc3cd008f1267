"""U-statistics against enumeration of all pairs of observations, and against figures of iMRMC.

``imrmc_split_plot.csv`` holds kernel.A and kernel.B of iMRMC's test of a split-plot study (its file
test_uStat11_splitPlot.Rdata, https://github.com/DIDSR/iMRMC, public domain, CC0 1.0): observations by reader and case.
"""

from pathlib import Path

import numpy as np
import pytest

from core.studies.analysis import StudyOptions, compute_moments
from core.studies.imrmc import read_rows
from core.studies.study import study_from_rows
from core.studies.u_statistics import auc_moments, compute_u_statistics, mean_moments
from tests.core.studies.slow import enumerated, success
from tests.core.studies.worlds import roe_metz, study_of

HERE = Path(__file__).parent
U_STATISTICS = StudyOptions(method="u-statistics")


def designs():
    """Small studies: complete, with missing readings, split-plot, readers within modalities, ordered classes."""
    scores, truth = roe_metz(np.random.default_rng(4), 4, 10)
    yield "complete", scores, truth
    missing = np.where(np.random.default_rng(5).random(scores.shape) < 0.25, np.nan, scores)
    yield "missing", missing, truth
    split = scores.copy()
    positive, negative = (np.flatnonzero(truth == kind) for kind in (1, 0))
    split[:, :2, np.concatenate([positive[:2], negative[:2]])] = np.nan
    split[:, 2:, np.concatenate([positive[2:], negative[2:]])] = np.nan
    yield "split plot", split, truth
    nested = scores.copy()
    nested[0, :2], nested[1, 2:] = np.nan, np.nan
    yield "nested", nested, truth
    yield "ordered", np.where(np.isnan(missing), np.nan, np.clip(np.rint(missing), 0, 2)), truth


DESIGNS = {name: (scores, truth) for name, scores, truth in designs()}


@pytest.mark.parametrize("design", DESIGNS)
def test_covariances_of_auc_are_those_of_all_pairs_of_observations(design):
    scores, truth = DESIGNS[design]
    each = [np.stack([success(of[truth == 0], of[truth == 1]) for of in modality]) for modality in scores]
    wanted = [[enumerated(a, b) for b in each] for a in each]
    found = auc_moments(study_of(scores, truth), truth, np.zeros(2))
    np.testing.assert_allclose(found.covariance(), wanted, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.mean, [np.nanmean(of) for of in each], rtol=1e-12)


@pytest.mark.parametrize("design", DESIGNS)
def test_covariances_of_sensitivity_and_specificity_are_those_of_all_pairs_of_observations(design):
    scores, truth = DESIGNS[design]
    for kind in (1, 0):
        of_kind = scores[:, :, truth == kind]
        hits = np.where(np.isnan(of_kind), np.nan, (of_kind >= 0.8) == bool(kind))
        wanted = [[enumerated(a, b) for b in hits] for a in hits]
        np.testing.assert_allclose(mean_moments(hits, np.zeros(2)).covariance(), wanted, rtol=1e-9, atol=1e-14)


def split_plot():
    """Observations (modality, reader, case) of iMRMC's split-plot study."""
    lines = (HERE / "imrmc_split_plot.csv").read_text(encoding="utf-8").splitlines()[1:]
    observations = np.full((2, 8, 38), np.nan)
    for modality, reader, case, value in (line.split(",") for line in lines):
        observations["AB".index(modality), int(reader), int(case)] = float(value)
    return observations


def test_a_split_plot_has_the_figures_of_imrmc():
    found = mean_moments(split_plot(), np.zeros(2))
    covariance = found.covariance()
    np.testing.assert_allclose(found.mean, [1.19898868, 1.14801549], rtol=1e-8)
    np.testing.assert_allclose(np.diagonal(covariance), [0.01695906, 0.02811129], rtol=1e-6)
    assert covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] == pytest.approx(-0.00184658, abs=5e-9)
    # Moments by (case, reader) shared, of the first modality and of both.
    np.testing.assert_allclose(found.unbiased[0, 0].T.ravel(), [1.4206148, 1.4002538, 2.0084417, 2.3233977], rtol=1e-7)
    np.testing.assert_allclose(found.unbiased[0, 1].T.ravel(), [1.3529991, 1.4543711, 1.6830061, 2.0003072], rtol=1e-7)
    wanted = [-0.1591970711, 0.1318015402, 0.0161595758, 0.0112359551]
    np.testing.assert_allclose(found.weight[0, 0].T.ravel(), wanted, atol=6e-11)


def test_a_complete_study_has_the_figures_of_imrmc():
    """``doIMRMC`` of version 4.0.3 on the file of its authors: AUC, variance, degrees of freedom and components."""
    study = study_from_rows(*read_rows((HERE / "imrmc_example.imrmc").read_bytes()))
    found = compute_moments(study, study.truth, U_STATISTICS)[0]
    np.testing.assert_allclose(found.value, [0.704375, 0.7585], rtol=1e-12)
    np.testing.assert_allclose(found.reader_value[0], [0.631875, 0.72625, 0.893125, 0.484375, 0.78625], rtol=1e-12)
    np.testing.assert_allclose(found.variance, [0.0063139302, 0.0023720528], atol=6e-11)
    np.testing.assert_allclose(found.difference_variance, 0.0049895091, atol=6e-11)
    np.testing.assert_allclose(found.df, [6.80522151, 27.4083876], rtol=1e-8)
    np.testing.assert_allclose(found.difference_df, 7.35006973, rtol=1e-8)
    moments = auc_moments(study, study.truth, np.zeros(2))
    np.testing.assert_allclose(np.diagonal(moments.covariance(biased=True)), [0.0058924792, 0.0026499128], atol=6e-11)
    # By reader, negative and positive case shared: iMRMC's M8 to M1 of both modalities.
    wanted = [0.53242, 0.557853, 0.54157, 0.568469, 0.536674, 0.57559, 0.558644, 0.602125]
    np.testing.assert_allclose(
        moments.unbiased[0, 1].transpose(0, 1, 2).ravel()[[0, 2, 1, 3, 4, 6, 5, 7]], wanted, rtol=2e-6
    )
    np.testing.assert_allclose(found.components.readers, 2 * 0.00839892, rtol=1e-6)
    np.testing.assert_allclose(found.components.cases, 2 * (0.00153042 - 0.000865483), rtol=1e-5)


@pytest.mark.parametrize("design", DESIGNS)
def test_an_analysis_takes_the_covariances_of_all_pairs_of_observations_less_their_mean(design):
    scores, truth = DESIGNS[design]
    for measure, kind in (("sensitivity", 1), ("auc", None)):
        if measure == "auc":
            each = [np.stack([success(of[truth == 0], of[truth == 1]) for of in modality]) for modality in scores]
        else:
            each = np.where(np.isnan(scores), np.nan, scores >= 0.8)[:, :, truth == kind]
        means = [np.nanmean(of) for of in each]
        centred = [of - mean for of, mean in zip(each, means, strict=True)]
        wanted = np.array([[enumerated(a, b) for b in centred] for a in centred])
        found = compute_moments(study_of(scores, truth), truth, StudyOptions(measure, 0.8, "u-statistics"))[0]
        np.testing.assert_allclose(found.value, means, rtol=1e-12)
        variances = np.array([wanted[0, 0], wanted[1, 1], wanted[0, 0] + wanted[1, 1] - 2 * wanted[0, 1]])
        of = np.concatenate([found.variance, found.difference_variance])
        np.testing.assert_allclose(of[variances > 0], variances[variances > 0], rtol=1e-9)
        assert found.replaced == (variances <= 0).sum() < 3 and (of > 0).all()


def test_a_variance_below_zero_is_replaced_by_the_biased_one():
    """That of the split-plot study, not centred, is."""
    moments = mean_moments(split_plot(), np.zeros(2))
    found = compute_u_statistics(moments, (np.zeros((2, 8)), np.zeros((2, 8))), (38,))
    biased = moments.covariance(biased=True)
    assert found.replaced == 1
    np.testing.assert_allclose(found.difference_variance, biased[0, 0] + biased[1, 1] - 2 * biased[0, 1])
    np.testing.assert_allclose(found.variance, np.diagonal(moments.covariance()))


def test_degrees_of_freedom_are_not_fewer_than_those_of_the_fewest_readers():
    scores, truth = DESIGNS["nested"]
    found = compute_moments(study_of(scores, truth), truth, U_STATISTICS)[0]
    assert (found.difference_df >= 1).all() and (found.df >= 1).all()
