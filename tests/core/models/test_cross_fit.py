import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.models.catalogue import em_model_of, fit_request, request
from core.models.cross_fit import cross_fit
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.models.one_coin import OneCoin
from core.models.tempering import point_of, tempered
from tests.core.raters.raters_simulated import rebuilt, simulated


@pytest.fixture
def crowd():
    return simulated(11, [0.8, 0.7, 0.9, 0.6, 0.75, 0.85], n_cases=120, per_case=4)[0]


def test_annotations_do_not_touch_the_parameters_that_judge_them(crowd):
    """Other annotations in a fold leave its parameters as they are, and move those of every other fold."""
    fit = DawidSkene("none").fit(crowd)
    found = cross_fit(crowd, fit)
    own = found.fold == 2
    other = rebuilt(crowd, np.where(own, (crowd.answer + 1) % crowd.n_classes, crowd.answer))
    after = cross_fit(other, fit)
    for number, (one, two) in enumerate(zip(found.points, after.points, strict=True)):
        apart = np.abs(np.exp(one.log_theta) - np.exp(two.log_theta)).max()
        assert (apart < 1e-12) == (number == 2), (number, apart)


def test_every_fold_has_its_share_of_every_case_and_repeats_stand_with_the_first(crowd):
    case = np.append(crowd.case_of_annotation, np.arange(20))
    first = crowd.case_ptr[np.arange(20)]
    data = Dataset.from_classes(
        "x",
        crowd.cases,
        crowd.raters,
        crowd.classes,
        case,
        np.append(crowd.rater, crowd.rater[first]),
        np.append(crowd.answer, crowd.answer[first]),
    )
    fold = cross_fit(data, DawidSkene().fit(data)).fold
    for i in range(data.n_cases):
        rows = data.annotations_of(i)
        by_rater = {}
        for a in rows:
            by_rater.setdefault(int(data.rater[a]), set()).add(int(fold[a]))
        assert all(len(folds) == 1 for folds in by_rater.values())
        assert len({folds.pop() for folds in by_rater.values()}) == 4  # four raters, four folds of five
    share = np.bincount(fold, minlength=5) / fold.size
    assert np.abs(share - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / fold.size)


def test_folds_of_a_case_do_not_depend_on_the_other_cases(crowd):
    part = crowd.select(cases=crowd.cases[40:80])
    fold = cross_fit(crowd, OneCoin().fit(crowd)).fold
    assert (cross_fit(part, OneCoin().fit(part)).fold == fold[crowd.case_ptr[40] : crowd.case_ptr[80]]).all()


def test_parameters_forget_without_losing_their_place(crowd):
    """They move, and stay near the fit: classes do not change places."""
    fit = DawidSkene("empirical").fit(crowd)
    own = point_of(fit)
    for point in cross_fit(crowd, fit).points:
        apart = np.abs(np.exp(point.log_theta) - np.exp(own.log_theta))
        assert 1e-3 < apart.max() < 0.3


@pytest.mark.parametrize("name", ["one-coin", "class-conditional", "dawid-skene", "dawid-skene-empirical", "tap"])
def test_the_model_of_a_fit_gives_the_fit_again(crowd, name):
    asked = request(name)
    fit = fit_request(asked, crowd).fit
    again = em_model_of(fit).fit(crowd)
    np.testing.assert_allclose(again.confusion, fit.confusion, atol=1e-12)
    assert em_model_of(tempered(fit, crowd, 0.5)).beta == 1


def test_what_is_no_fit_by_expectation_maximisation_judges_by_itself(crowd):
    fit = MajorityVote().fit(crowd)
    found = cross_fit(crowd, fit)
    assert not found.fold.any() and len(found.points) == 1
    np.testing.assert_allclose(np.exp(found.points[0].log_prevalence), fit.prevalence)


def test_a_fold_that_leaves_nothing_to_estimate_keeps_the_fit():
    data = Dataset.from_classes("x", ["a"], ["r", "s"], ["k", "l"], [0, 0], [0, 1], [0, 1])
    fit = DawidSkene().fit(data)
    found = cross_fit(data, fit)
    own = point_of(fit)
    without = set(found.fold.tolist())
    assert len(without) == 2
    for number in without:
        assert (found.points[number].log_theta == own.log_theta).all()
