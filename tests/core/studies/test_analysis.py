"""Analyses of whole studies: intervals, both ways of taking the truth, and simulations with fixed seeds.

The simulations are small ones of ``tests/benchmarks/reader_studies.py``, which has the figures.
"""

from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError, NotApplicableError
from core.studies.analysis import (
    StudyOptions,
    compute,
    interval,
    interval_for_these_readers,
    logit_interval,
    pool,
    two_sided_p,
)
from core.studies.imrmc import read_rows
from core.studies.roc import compute_roc_curves
from core.studies.study import study_from_rows
from tests.benchmarks.reader_studies import coverage, rejections
from tests.core.studies.slow import delong
from tests.core.studies.worlds import as_imrmc, opinions, roe_metz, study_of


def test_both_intervals_stand_side_by_side():
    rng = np.random.default_rng(1)
    scores, truth = roe_metz(rng, 4, 80, (1.0, 1.4, 1.8))
    done = []
    found = compute(study_of(scores, panel=opinions(rng, truth, (0.8,) * 3)), StudyOptions(n_draws=50), done.append)
    assert done[-1] == 1 and len(done) == 50 and done == sorted(done)
    frame = found.to_frame()
    assert list(frame["truth"]) == ["panel_majority"] * 3 + ["drawn"] * 3
    assert list(zip(frame["modality"], frame["other_modality"], strict=True))[:3] == [
        ("M1", "M2"),
        ("M1", "M3"),
        ("M2", "M3"),
    ]
    assert (frame["low"] < frame["value"]).all() and (frame["value"] < frame["high"]).all()
    assert len(found.to_frame("modalities")) == 6 and len(found.to_frame("readers")) == 2 * 12
    assert all(part > 0 for part in found.in_doubt.truth_variance) and not any(found.taken.truth_variance)
    assert found.taken.notes[0].startswith("The majority of the panel counts as the truth")
    assert "independently" in found.in_doubt.notes[0]


def test_a_panel_that_is_never_wrong_leaves_no_doubt():
    scores, truth = roe_metz(np.random.default_rng(2), 4, 400)
    found = compute(study_of(scores, panel=np.stack([truth] * 5)), StudyOptions(n_draws=50))
    taken, drawn = found.taken.differences[0], found.in_doubt.differences[0]
    assert drawn.value == pytest.approx(taken.value, abs=2e-3) and drawn.se == pytest.approx(taken.se, rel=0.03)


def test_cases_of_unknown_truth_are_left_out():
    scores, truth = roe_metz(np.random.default_rng(3), 3, 40)
    known = truth.copy()
    known[:5] = -1
    found = compute(study_of(scores, known))
    assert "5 cases left out: the truth is unknown." in found.taken.notes
    without = compute(study_of(scores[:, :, 5:], truth[5:]))
    assert found.taken.differences[0] == without.taken.differences[0]
    assert np.isnan(found.probability[:5]).all()


def test_names_and_order_change_no_number():
    scores, truth = roe_metz(np.random.default_rng(4), 4, 50)
    for method in ("obuchowski-rockette", "u-statistics"):
        first = compute(study_of(scores, truth), StudyOptions(method=method)).taken.differences[0]
        other = compute(study_of(scores[::-1, ::-1, ::-1], truth[::-1]), StudyOptions(method=method)).taken.differences[
            0
        ]
        np.testing.assert_allclose((other.value, other.se, other.df), (-first.value, first.se, first.df), rtol=1e-9)


def test_of_readers_who_do_not_vary_there_is_no_interval():
    """Each reader tells all cases from the others in both modalities."""
    truth = np.repeat([0, 1], 10)
    found = compute(study_of(np.tile(truth, (2, 3, 1)).astype(float), truth)).taken
    assert [one.value for one in found.modalities] == [1, 1]
    for one in (*found.differences, *found.modalities, *found.readers):
        assert one.se == 0 and np.isnan(one.low) and np.isnan(one.high) and np.isnan(one.p)
    assert any("no interval" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "accuracy"}, "The measure"),
        ({"measure": "sensitivity"}, "Could not compute Sensitivity: it needs a threshold"),
        ({"method": "dbm"}, "The method"),
        ({"level": 1.0}, "level"),
        ({"n_draws": 49}, "at least 50"),
        ({"seed": -1}, "The seed"),
        ({"threshold": float("nan")}, "The threshold"),
    ],
)
def test_an_option_out_of_its_range_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        StudyOptions(**options)


def test_intervals_and_p_are_students():
    """Quantiles from printed tables: t of 10 degrees of freedom 2.228, normal 1.960."""
    value, se, df = np.array([0.1, 0.1]), np.array([0.02, 0.02]), np.array([10.0, np.inf])
    low, high = interval(value, se, df, 0.95)
    np.testing.assert_allclose(high - value, [0.02 * 2.228, 0.02 * 1.960], atol=1e-5)
    np.testing.assert_allclose(value - low, high - value)
    np.testing.assert_allclose(two_sided_p(np.array([2.228, 1.96]), np.ones(2), df), 0.05, atol=1e-4)
    share = np.array([0.9])
    low, high = logit_interval(share, np.array([0.09]), np.array([np.inf]), 0.95)
    np.testing.assert_allclose(np.log(high / (1 - high)), np.log(9) + 1.96, atol=1e-4)
    np.testing.assert_allclose(np.log(low / (1 - low)), np.log(9) - 1.96, atol=1e-4)


def test_pooled_estimates_follow_rubin_and_barnard():
    """Three draws written out: W = 0.02, B = 0.01, T = W + 4/3 B, and 10 complete-data degrees of freedom."""
    value = np.array([[0.1], [0.2], [0.3]])
    found = pool(value, np.full((3, 1), 0.02), np.full((3, 1), 10.0))
    share = (4 / 3 * 0.01) / (0.02 + 4 / 3 * 0.01)
    drawn, observed = 2 / share**2, 11 / 13 * 10 * (1 - share)
    np.testing.assert_allclose([one[0] for one in found], [0.2, 0.02 + 4 / 3 * 0.01, 1 / (1 / drawn + 1 / observed)])
    same = pool(np.full((3, 1), 0.2), np.full((3, 1), 0.02), np.full((3, 1), np.inf))
    assert [one[0] for one in same[:2]] == [pytest.approx(0.2), pytest.approx(0.02)] and same[2][0] > 1e9


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_without_a_difference_one_is_seldom_found(missing):
    """Of 200 studies, between 3.3 standard errors below and above 5%: the benchmark's 500 are within 3 and 7%."""
    assert 0.0 <= rejections(200, missing) <= 0.05 + 3.3 * np.sqrt(0.05 * 0.95 / 200)


def test_a_difference_is_found_if_there_is_one():
    rng = np.random.default_rng(5)
    scores, truth = roe_metz(rng, 8, 300, (0.8, 2.4))
    assert compute(study_of(scores, truth)).taken.differences[0].p < 0.001


def test_with_a_panel_that_errs_doubt_removes_the_bias_that_its_majority_has():
    """Panellists correct on 80%: 40 studies, whose mean AUC has a standard error of about 0.006."""
    found = coverage(40, 0.8)
    assert (np.abs(found["drawn"][0] - found["gold"][0]) < 0.02).all()
    assert (found["panel_majority"][0][1:] < -0.04).all()
    assert (found["drawn"][1] >= 0.85).all() and found["panel_majority"][1][2] < 0.75


def test_the_interval_for_these_readers_is_that_of_resampled_cases():
    rng = np.random.default_rng(6)
    scores, truth = roe_metz(rng, 2, 300, (0.6, 1.6))
    found = compute(study_of(scores, truth)).taken
    low, high = interval_for_these_readers(found)
    again = []
    for _ in range(400):
        cases = np.concatenate([rng.choice(np.flatnonzero(truth == kind), (truth == kind).sum()) for kind in (0, 1)])
        auc, _ = delong(scores[:, :, cases], truth[cases])
        again.append(auc[0].mean() - auc[1].mean())
    assert (high - low) / 2 == pytest.approx(1.96 * np.std(again), rel=0.15)
    assert high - low < found.differences[0].high - found.differences[0].low
    missing = scores.copy()
    missing[0, 1, ::3] = np.nan
    assert np.isnan(interval_for_these_readers(compute(study_of(missing, truth)).taken)).all()


# Roc: ROC curves of readers and their average.


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


# Imrmc: The text format of iMRMC, from a generator and from its authors. ``imrmc_example.imrmc`` is the test input of
# iMRMC (https://github.com/DIDSR/iMRMC), made by employees of the Food and Drug Administration and dedicated to the
# public domain (CC0 1.0).


EXAMPLE = Path(__file__).with_name("imrmc_example.imrmc")
HEAD = b"Any front matter\nBEGIN DATA:\n"


def test_what_is_written_is_read_back():
    scores, truth = roe_metz(np.random.default_rng(1), 3, 15)
    scores[0, 1, :4], truth[14] = np.nan, -1
    study = study_of(scores, truth)
    found = study_from_rows(*read_rows(as_imrmc(study)))
    assert (found.modalities, found.readers) == (study.modalities, study.readers)
    order = [found.cases.index(case) for case in study.cases]
    np.testing.assert_array_equal(found.scores[:, :, order], study.scores)
    np.testing.assert_array_equal(found.truth[order], study.truth)


def test_the_file_of_its_authors_is_read():
    found = study_from_rows(*read_rows(EXAMPLE.read_bytes()))
    assert (found.modalities, len(found.readers), len(found.cases)) == (("testA", "testB"), 5, 80)
    assert not np.isnan(found.scores).any() and found.truth.sum() == 40
    assert found.scores[1, 4, found.cases.index("posCase40")] == 2.5737


def test_marks_blanks_quotes_and_line_ends_do_not_matter():
    text = 'Title\r\n begin data: \r\ntruth, c1 ,TRUTH,1\r\n\r\n"r,1",c1,m,2\r\n'
    found = study_from_rows(*read_rows(b"\xef\xbb\xbf" + text.encode()))
    assert (found.readers, found.cases, found.truth.tolist()) == (("r,1",), ("c1",), [1])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"truth,c1,truth,1\n", "BEGIN DATA"),
        (HEAD + b"truth,c1,truth,1\nr,c1,m\n", "Line 4: Could not read the line: it has 3 fields instead of 4"),
        (HEAD + b"truth,c1,truth,1\nr,c1,m,high\n", 'Line 4: Could not read the score "high"'),
        (HEAD + b"truth,c1,truth,2\n", "Line 3: Could not read the truth of case 'c1'"),
        (
            HEAD + b"truth,c1,truth,1\ntruth,c1,truth,0\n",
            "Line 4: Could not use case 'c1': its truth is given as both 0 and 1",
        ),
        (HEAD + b"r,c1,m,1\n", "the file has no truth rows"),
        (HEAD + b"truth,c1,truth,1\n", "no readings"),
        (b"\xff\xfeB\x00", "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(data, words):
    with pytest.raises(InputError, match=words):
        study_from_rows(*read_rows(data))
