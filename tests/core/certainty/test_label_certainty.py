"""Certainty of given sets against the draws themselves."""

from dataclasses import replace

import numpy as np
import pytest

from core.analyses.cases import ShownCase
from core.analyses.cases.labels import present
from core.analyses.inputs import Inputs
from core.annotations.dataset import Dataset
from core.certainty.label_p_correct import FEWEST_NAMED, LabelGroup, label_groups, of_groups, p_correct_of_labels
from core.certainty.label_sets import label_set_certainty
from core.certainty.p_correct import PCorrect, p_correct
from core.certainty.top_sets import annotation_certainty, set_certainty
from core.errors import InputError, NotApplicableError
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.prirn import PrIRN


@pytest.fixture
def draws(build):
    """A case with classes 0 (three times), 1 (twice) and 2 (once) of five."""
    dataset = build([(0, rater, answer) for rater, answer in enumerate([0, 0, 0, 1, 1, 2])], 5)
    ((_, found),) = DirichletCounts().draws(dataset, reliability=1.0, n_draws=4000, seed=1)
    return found


@pytest.mark.parametrize("codes", [[0], [1], [0, 1], [1, 2], [0, 1, 2]])
def test_a_set_of_named_classes_is_counted_in_the_draws(codes, draws):
    """Places are class codes here, since the named classes are 0, 1, 2."""
    places = np.sort(draws.top[:, : len(codes)], axis=1)
    found = set_certainty(draws, codes)
    assert found.is_top == pytest.approx(np.mean((places == sorted(codes)).all(axis=1)), abs=1e-12)
    assert found.holds_top1 == pytest.approx(np.isin(draws.top[:, 0], codes).mean(), abs=1e-12)
    assert found.is_top_se == pytest.approx(np.sqrt(found.is_top * (1 - found.is_top) / draws.ess), rel=1e-6)
    p = found.holds_top1
    assert found.holds_top1_se == pytest.approx(np.sqrt(p * (1 - p) / draws.ess), rel=1e-6)


def test_a_never_named_class_has_its_share_of_the_draws(draws):
    """Two of five classes are never named: each is first in half of the draws in which one of them is."""
    first = np.mean(draws.top[:, 0] == 3)
    found = set_certainty(draws, [4])
    assert found.is_top == pytest.approx(first / 2, abs=1e-12)
    assert set_certainty(draws, [3, 4]).holds_top1 == pytest.approx(first, abs=1e-12)


def test_the_order_of_the_set_changes_nothing(draws):
    assert set_certainty(draws, [0, 1, 2]) == set_certainty(draws, [2, 0, 1])


@pytest.mark.parametrize(("codes", "words"), [([], "empty"), ([1, 1], "twice"), ([0, 1, 2, 3], "it has 4 classes")])
def test_sets_that_cannot_be_told_are_refused(codes, words, draws):
    with pytest.raises(InputError, match=words):
        set_certainty(draws, codes)


# Label p correct: P(correct) of labels: each by its own average, rare ones together, and the label of none from the
# others.


LABELS = ("cat", "dog", "newt", "eel", "none of these")


def sets(n_cases=60, seed=4) -> Dataset:
    """Cats and dogs are frequent, newts and eels rare; three raters overlook a tenth of the labels of a case."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_cases, 4)) < (0.5, 0.4, 0.04, 0.04)
    truth[0], truth[1] = (1, 0, 1, 0), (0, 1, 0, 1)
    rows: list[list[int]] = []
    for case in range(n_cases):
        for _ in range(3):
            named = np.flatnonzero(truth[case] & (rng.random(4) < 0.9)).tolist()
            rows.append(named or [4])
    case, rater = np.repeat(np.arange(n_cases), 3), np.tile(np.arange(3), n_cases)
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    names = "animals", [f"c{k}" for k in range(n_cases)], list("abc"), LABELS
    return Dataset.from_sets(*names, case, rater, ptr, np.concatenate(rows))


def test_rare_labels_are_averaged_together_and_the_label_of_none_by_no_model():
    dataset = sets()
    groups = label_groups(dataset)
    assert [group.labels for group in groups] == [("cat",), ("dog",), ("newt", "eel")]
    named = np.bincount(dataset.entry_class, minlength=5)
    assert named[2] < FEWEST_NAMED > named[3] and min(named[:2]) >= FEWEST_NAMED
    together = groups[-1].classes
    assert together.n_cases == 2 * dataset.n_cases and together.raters == dataset.raters
    for place, label in enumerate(("newt", "eel")):
        for case in range(dataset.n_cases):
            own = together.answer[together.annotations_of(place * dataset.n_cases + case)]
            assert own.tolist() == dataset.names_label(label)[dataset.annotations_of(case)].tolist()


def test_a_frequent_label_has_the_number_of_its_two_classes():
    dataset = sets()
    found = p_correct_of_labels(dataset)
    alone = p_correct(dataset.as_classes("dog")[0]).probability[:, 1]
    assert found.probability[:, 1] == pytest.approx(alone, abs=1e-12)
    assert found.probability[:, 4] == pytest.approx((1 - found.probability[:, :4]).prod(axis=1))
    assert found.probability[0, 2] > 0.5 > found.probability[2:, 2].mean(), "the slice of its own cases"
    assert found.probability[1, 3] > 0.5 > found.probability[2:, 3].mean()


def by(dataset: Dataset, cat: float):
    """P(correct) of each label, of which that of the cat in case 0 is given, and the newt is not known yet."""
    groups = [LabelGroup((label,), dataset.as_classes(label)[0]) for label in LABELS[:4]]
    probability = np.tile([0.9, 0.1], (dataset.n_cases, 1))
    parts = []
    for label in LABELS[:4]:
        own = probability.copy()
        own[0] = (1 - cat, cat) if label == "cat" else own[0]
        classes = dataset.as_classes(label)[0].classes
        parts.append(PCorrect(dataset.cases, classes, own, np.full((3, 2, 2), 0.5), 0.9))
    parts[2] = None
    return of_groups(dataset, groups, parts)


def test_a_decision_that_is_even_or_not_known_has_no_number():
    dataset = sets()
    even = np.arange(dataset.n_cases * 5).reshape(-1, 5) % 7 == 1
    found = replace(label_set_certainty(dataset), correct=by(dataset, 0.3), even=even)
    p = found.p_correct()
    assert np.isnan(p[:, 2]).all() and np.isnan(p[found.even]).all()
    kept = ~found.even[:, 1]
    expected = np.where(found.applies[kept, 1], 0.1, 0.9)
    assert p[kept, 1] == pytest.approx(expected)
    frame = found.to_frame("cases")
    assert frame["p_correct"][0] == pytest.approx(np.nanmin(p[0]))
    assert "p_correct" not in label_set_certainty(dataset).to_frame("cases")


@pytest.mark.parametrize(("cat", "said"), [(0.3, True), (0.8, False)])
def test_the_case_says_why_the_numbers_of_a_label_differ_only_where_they_do(cat, said):
    dataset = sets()
    found = replace(label_set_certainty(dataset), correct=by(dataset, cat))
    assert found.applies[0, 0] and found.certainty[0, 0] > 0.6
    words = "".join(str(block) for block in present(found, Inputs(dataset), ShownCase(0)))
    assert ("cat" in words and "much lower than certainty" in words) is said


# Label sets: Certainty of labels and of sets.


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
    with pytest.raises(NotApplicableError, match="needs label sets"):
        label_set_certainty(load_sample("anaesthesia"))
    with pytest.raises(NotApplicableError, match="needs label sets"):
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
