"""ROC curves of readers and their average."""

import numpy as np
import pytest

from core.errors import NotApplicableError
from core.studies.analysis import compute
from core.studies.roc import compute_roc_curves
from tests.core.studies.worlds import roe_metz, study_of


@pytest.mark.parametrize("ordered", [False, True])
def test_the_area_below_the_average_is_the_mean_auc(ordered):
    scores, truth = roe_metz(np.random.default_rng(1), 5, 60)
    scores = np.clip(np.rint(scores), 0, 4) if ordered else scores
    study = study_of(scores, truth)
    curves = compute_roc_curves(study, truth.astype(float))
    for modality in compute(study).taken.modalities:
        x, y = np.array(
            [(p.false_positive, p.sensitivity) for p in curves.average if p.modality == modality.modality]
        ).T
        assert (np.diff(x) >= 0).all() and (np.diff(y) >= -1e-12).all()
        assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
        assert np.trapezoid(y, x) == pytest.approx(modality.value, abs=1e-12)


def test_points_are_shares_at_or_above_each_threshold():
    scores, truth = roe_metz(np.random.default_rng(2), 3, 40)
    scores = np.clip(np.rint(scores), 0, 4)
    scores[1, 2, :7] = np.nan
    curves = compute_roc_curves(study_of(scores, truth), truth.astype(float))
    for point in curves.points:
        of = scores[int(point.modality[1]) - 1, int(point.reader[1]) - 1]
        for kind, share in ((0, point.false_positive), (1, point.sensitivity)):
            read = of[(truth == kind) & ~np.isnan(of)]
            assert share == pytest.approx((read >= point.threshold).mean())
    assert {(p.false_positive, p.sensitivity) for p in curves.points if np.isinf(p.threshold)} == {(0, 0)}
    assert len(curves.to_frame()) == len(curves.average) and len(curves.to_frame("points")) == len(curves.points)


def test_a_study_without_both_kinds_of_cases_has_no_curve():
    scores, truth = roe_metz(np.random.default_rng(3), 3, 20)
    with pytest.raises(NotApplicableError, match="no case with the condition"):
        compute_roc_curves(study_of(scores, truth), np.zeros(len(truth)))
