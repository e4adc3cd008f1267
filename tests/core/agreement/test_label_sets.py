"""Agreement of sets of labels."""

from dataclasses import astuple

import numpy as np
import pytest

from core.agreement import label_sets
from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.label_sets import (
    alpha_of_sets,
    distinct_sets,
    label_alphas,
    mean_label_alpha,
    set_agreement,
    set_distance,
)
from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.errors import LimitError, NotApplicableError, OptionError
from core.ingest.samples import load_sample
from tests.core.kinds import as_sets


@pytest.fixture(scope="module")
def ordinary():
    return load_sample("anaesthesia")


@pytest.fixture(scope="module")
def several(ordinary):
    return as_sets(ordinary)


def alpha_by_pairs(dataset, distance):
    """α = 1 − D_o/D_e written out over pairs of annotations, with distances of Python's own sets."""
    sets = [frozenset(dataset.blocks_of(a)[0]) for a in range(dataset.n_annotations)]
    observed, used = 0.0, []
    for case in range(dataset.n_cases):
        own = list(dataset.annotations_of(case))
        if len(own) < 2:
            continue
        used += own
        observed += sum(distance(sets[a], sets[b]) for a in own for b in own if a != b) / (len(own) - 1)
    expected = sum(distance(sets[a], sets[b]) for a in used for b in used if a != b) / (len(used) - 1)
    return 1 - observed / expected


def jaccard(a, b):
    return 1 - len(a & b) / len(a | b)


def masi(a, b):
    m = 1 if a == b else 2 / 3 if a <= b or b <= a else 1 / 3 if a & b else 0
    return 1 - m * len(a & b) / len(a | b)


def test_distances_of_two_sets_are_as_published():
    a = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], bool)
    b = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]], bool)
    assert np.diag(set_distance(a, b, "jaccard")) == pytest.approx([0, 2 / 3, 2 / 3, 1, 0])
    assert np.diag(set_distance(a, b)) == pytest.approx([0, 1 - 1 / 9, 1 - 2 / 9, 1, 0])
    assert set_distance(a[4:], b[:1], "masi") == 1  # an empty and a filled one
    with pytest.raises(OptionError, match="jaccard, masi"):
        set_distance(a, b, "nominal")


@pytest.mark.parametrize(("metric", "distance"), [("jaccard", jaccard), ("masi", masi)])
def test_alpha_is_that_of_every_two_annotations(several, metric, distance):
    part = several.select(cases=several.cases[:15])
    assert alpha_of_sets(part, metric=metric).value == pytest.approx(alpha_by_pairs(part, distance), abs=1e-12)


@pytest.mark.parametrize("metric", ["jaccard", "masi"])
def test_sets_of_one_label_give_nominal_alpha_and_its_interval_to_the_digit(ordinary, metric):
    nominal = krippendorff_alpha(class_counts(ordinary))
    found = alpha_of_sets(ordinary.as_sets(), metric=metric)
    assert astuple(found)[2:] == astuple(nominal)[2:]


def test_sets_of_one_label_by_the_matrix_of_distances_give_nominal_alpha_too(ordinary, monkeypatch):
    # One set of two labels that stands on a case of its own enters neither D_o nor D_e.
    alone = Dataset.from_sets(
        "d", (*ordinary.cases, "more"), ordinary.raters, ordinary.classes,
        np.append(ordinary.case_of_annotation, ordinary.n_cases), np.append(ordinary.rater, 0),
        np.append(np.arange(ordinary.n_annotations + 1), ordinary.n_annotations + 2),
        np.append(ordinary.answer, [0, 1]),
    )  # fmt: skip
    nominal = krippendorff_alpha(class_counts(ordinary))
    found = alpha_of_sets(alone)
    assert (found.value, found.se) == pytest.approx((nominal.value, nominal.se), abs=1e-13)


def test_alpha_of_a_label_is_that_of_the_two_classes_with_it_and_without_it(several):
    for label, one in zip(several.classes, label_alphas(several), strict=True):
        alone = krippendorff_alpha(class_counts(several.as_classes(label)[0]))
        assert (one.name, one.weights) == ("label_alpha", label)
        assert astuple(one)[2:] == astuple(alone)[2:]


def test_the_mean_over_labels_has_an_interval_of_cases_drawn_once_for_all_labels(several):
    mean = mean_label_alpha(several)
    each = [one.value for one in label_alphas(several)]
    assert mean.value == pytest.approx(np.mean(each), abs=1e-12)
    rng, cases = np.random.default_rng(5), several.cases
    again = []
    for _ in range(200):
        drawn = rng.choice(len(cases), len(cases))
        part = [several.select(cases=[cases[i]]) for i in drawn]
        names = [f"{place}" for place in range(len(part))]
        ptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(one.entry_ptr) for one in part]))])
        raters = np.concatenate([[several.raters.index(one.raters[code]) for code in one.rater] for one in part])
        drawn_cases = np.repeat(np.arange(len(part)), [one.n_annotations for one in part])
        codes = np.concatenate([one.entry_class for one in part])
        resample = Dataset.from_sets("d", names, several.raters, several.classes, drawn_cases, raters, ptr, codes)
        again.append(mean_label_alpha(resample).value)
    assert mean.se == pytest.approx(np.std(again), rel=0.2)  # 200 resamples: 5% each way, and 45 cases


def test_of_two_labels_of_which_one_is_given_each_time_the_mean_has_the_interval_of_either():
    given = [[0, 0, 1], [1, 1], [0, 0], [1], [0, 1], [1, 1, 1], []]
    case = [c for c, codes in enumerate(given) for _ in codes]
    rater, code = ([x for codes in given for x in which(codes)] for which in (lambda codes: range(len(codes)), list))
    names = "d", [f"c{c}" for c in range(len(given))], ("r", "s", "t"), ("x", "y")
    data = Dataset.from_sets(*names, case, rater, list(range(len(code) + 1)), code)
    mean, each = mean_label_alpha(data, 0.9), label_alphas(data, 0.9)
    assert (mean.n_cases, mean.n_annotations) == (5, 12)
    for one in each:
        told = mean.value, mean.se, mean.ci_low, mean.ci_high
        assert told == pytest.approx((one.value, one.se, one.ci_low, one.ci_high), abs=1e-12)


def test_a_label_that_nobody_gave_has_no_alpha_and_is_told(several):
    more = Dataset.from_sets(
        "d", several.cases, several.raters, (*several.classes, "nobody's"), several.case_of_annotation, several.rater,
        several.entry_ptr, several.entry_class,
    )  # fmt: skip
    assert label_alphas(more)[-1].value is None
    mean = mean_label_alpha(more)
    assert mean.value == pytest.approx(mean_label_alpha(several).value, abs=1e-12)
    assert "undefined for nobody's" in mean.note


def test_the_names_of_raters_change_nothing(several):
    other = several.coded
    assert [one.value for one in set_agreement(other)] == [one.value for one in set_agreement(several)]


def test_unanimity_and_single_annotations_are_undefined_in_words():
    names = ("d", ("a", "b"), ("r", "s"), ("x", "y"))
    same = Dataset.from_sets(*names, [0, 0, 1, 1], [0, 1, 0, 1], [0, 2, 4, 6, 8], [0, 1] * 4)
    assert "only one set of labels was used" in alpha_of_sets(same).note
    lone = Dataset.from_sets(*names, [0, 1], [0, 1], [0, 2, 3], [0, 1, 1])
    assert alpha_of_sets(lone).value is None
    assert mean_label_alpha(lone).note.startswith("undefined: each label was either always or never chosen")


def test_what_is_no_set_and_what_is_too_much_is_refused(ordinary, several, monkeypatch):
    with pytest.raises(NotApplicableError, match="these annotations are single classes"):
        alpha_of_sets(ordinary)
    monkeypatch.setattr(label_sets, "MOST_SETS", 2)
    with pytest.raises(LimitError, match="exceed the limit of 2"):
        distinct_sets(several)


def test_what_to_quote_of_sets_is_alpha_by_masi_in_words(several):
    found = coefficients_for(several)
    assert (found.quoted.name, found.quoted.weights, found.percentage) == ("set_alpha", "MASI distance", None)
    words = found.words()
    value = f"{found.quoted.value:.2f}"
    assert words.startswith(f"Agreement beyond chance on label sets (MASI distance): α = {value} (")
    assert words.endswith("; n = 45 cases")
    assert {one.name for one in found.coefficients} == {"set_alpha", "mean_label_alpha", "label_alpha"}
