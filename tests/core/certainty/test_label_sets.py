"""Certainty of labels and of sets."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty.label_sets import label_set_certainty
from core.certainty.top_sets import annotation_certainty
from core.errors import NotApplicableError
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.prirn import PrIRN


@pytest.fixture(scope="module")
def street():
    return load_sample("street")


@pytest.mark.parametrize("reliability", [0.6, 3.0])
def test_certainty_of_a_label_is_todays_of_its_two_classes_to_the_digit(street, reliability):
    found = label_set_certainty(street, reliability=reliability)
    for place, label in enumerate(street.classes[:-1]):  # the last, "none of these", follows from the others
        view = street.as_classes(label)[0]
        today = annotation_certainty(DirichletCounts(), view, reliability=reliability, n_draws=2, max_top=1)
        assert (found.certainty[:, place] == today.certainty[:, 0]).all()
        assert (found.applies[:, place] == (today.top_class() == 1)).all()


def test_sets_of_one_label_have_todays_certainty_of_the_class_to_the_digit():
    ordinary = load_sample("anaesthesia")
    found = label_set_certainty(ordinary.as_sets(), reliability=2.0)
    today = annotation_certainty(DirichletCounts(), ordinary, reliability=2.0, n_draws=2, max_top=1)
    assert found.exclusive
    assert (found.whole == today.certainty[:, 0]).all()
    assert found.sets() == [ordinary.classes[code] for code in today.top_class()]


def test_a_label_named_by_half_is_even_and_neither_applies_nor_not():
    names = ("d", ("a", "b"), ("r", "s"), ("x", "y", "z"))
    halves = Dataset.from_sets(*names, [0, 0, 1, 1], [0, 1, 0, 1], [0, 2, 3, 4, 5], [0, 1, 0, 1, 2])
    found = label_set_certainty(halves)
    assert found.even.tolist() == [[False, True, False], [False, True, True]]
    assert (found.certainty[found.even] == 0.5).all()
    assert found.to_frame("labels")["even"].tolist() == [0, 2, 1]
    alone = Dataset.from_sets(*names, [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3, 4], [0, 0, 2, 1])
    tied = label_set_certainty(alone, cases=range(1, 2))
    assert tied.exclusive
    assert tied.even.tolist() == [[False, True, True]]
    assert not label_set_certainty(alone, cases=range(1)).even.any()


def test_certainty_of_a_set_is_that_of_independent_labels_by_draws(street):
    found = label_set_certainty(street, DirichletCounts(0.5), reliability=1.0)
    rng = np.random.default_rng(2)
    for case in (0, 7, 40):
        own = street.annotations_of(case)
        votes = np.array([street.names_label(label)[own.start : own.stop].sum() for label in street.classes])
        draws = rng.beta(votes + 0.5, len(own) - votes + 0.5, (40_000, len(votes))) > 0.5
        draws[:, -1] = ~draws[:, :-1].any(axis=1)
        same = (draws == found.applies[case]).all(axis=1).mean()
        assert found.whole[case] == pytest.approx(same, abs=4 * np.sqrt(0.25 / 40_000))


def test_a_set_is_never_surer_than_its_labels_and_the_table_says_both(street):
    found = label_set_certainty(street)
    assert (found.whole <= found.certainty.min(axis=1)).all()
    table = found.to_frame("cases")
    assert list(table.columns)[:4] == ["case", "labels", "certainty", "certainty of pedestrian"]
    assert found.n_below(0.5) == int((table["certainty"] < 0.5).sum())


def test_what_is_no_set_or_has_no_closed_form_is_refused(street):
    with pytest.raises(NotApplicableError, match="needs sets of labels"):
        label_set_certainty(load_sample("anaesthesia"))
    with pytest.raises(NotApplicableError, match="needs sets of labels"):
        label_set_certainty(street, PrIRN())


def test_none_of_these_applies_where_no_other_label_does_and_is_as_certain(street):
    """Labels of 200 cases by draws; no set has it beside another label, and none is empty."""
    found = label_set_certainty(street, reliability=1.0)
    assert street.classes[-1] == "none of these"
    stands_out = (found.applies | found.even)[:, :-1].any(axis=1)
    assert (found.applies[:, -1] == ~stands_out).all() and (found.applies[:, -1]).sum() > 10
    assert all(found.even[case].any() for case, said in enumerate(found.sets()) if not said)
    absent = np.where(found.applies, 1 - found.certainty, found.certainty)[:, :-1].prod(axis=1)
    assert found.certainty[:, -1] == pytest.approx(np.where(found.applies[:, -1], absent, 1 - absent))
    assert found.whole == pytest.approx(found.certainty[:, :-1].prod(axis=1)) and found.none == "none of these"


def test_a_label_of_that_name_that_is_given_beside_others_is_a_label_like_them():
    names = ("d", ("a", "b"), ("r", "s"), ("x", "y", "none"))
    apart = Dataset.from_sets(*names, [0, 0, 1, 1], [0, 1, 0, 1], [0, 2, 3, 4, 5], [0, 1, 2, 2, 2])
    beside = Dataset.from_sets(*names, [0, 0, 1, 1], [0, 1, 0, 1], [0, 2, 3, 4, 5], [0, 2, 2, 2, 2])
    assert label_set_certainty(apart).certainty[1, 2] == pytest.approx(label_set_certainty(apart).whole[1])
    alone = label_set_certainty(beside)
    assert alone.whole == pytest.approx(alone.certainty.prod(axis=1)) and alone.none is None
