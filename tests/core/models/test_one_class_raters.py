"""Raters who give one class: rules, raters who say the same to everything, and good raters of rare classes."""

import numpy as np
import pytest

from core.ingest.read_files import read
from core.models.one_class_raters import one_class_raters
from tests.core.models.rows import rules, simulated


def panel(seed, prevalence, n_raters=12, accuracy=0.99, n_cases=400, per_case=4):
    """Raters of one accuracy on two classes."""
    matrix = np.full((n_raters, 2, 2), 1 - accuracy) + (2 * accuracy - 1) * np.eye(2)
    return simulated(seed, n_cases, matrix, (1 - prevalence, prevalence), per_case)[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prevalence", [0.15, 0.3, 0.5])
def test_most_rules_give_one_class_each_and_their_cases_are_informative(seed, prevalence, build):
    found = one_class_raters(build(rules(seed, prevalence, 0.0)[0], 2))
    assert found.most and found.n == found.n_enough == 10
    assert found.favourite.tolist() == [0] * 6 + [1] * 4
    assert not found.whatever.any()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prevalence", [0.01, 0.03, 0.05])
def test_good_raters_of_a_rare_class_do_not_count_as_rules(seed, prevalence, build):
    rows = panel(seed, prevalence)
    found = one_class_raters(build(rows, 2))
    assert not found.most and not found.whatever.any()
    spammed = rows + [(case, rater, 1) for case in range(400) for rater in (12, 13)]
    found = one_class_raters(build(spammed, 2))
    assert np.flatnonzero(found.whatever).tolist() == [12, 13] and not found.most
    expert = rows + [(case, 12, 1) for case in {c for c, _, a in rows if a == 1}]
    assert not one_class_raters(build(expert, 2)).most


@pytest.mark.parametrize("seed", range(4))
def test_raters_who_say_the_same_to_everything_are_told_from_the_others(seed, build):
    rows = panel(seed, 0.5, 20, 0.85, per_case=2) + [(case, 20 + who, who) for case in range(400) for who in (0, 1)]
    found = one_class_raters(build(rows, 2))
    assert np.flatnonzero(found.whatever).tolist() == [20, 21] == np.flatnonzero(found.favourite >= 0).tolist()
    assert not found.most
    repeated = rows + [(case, 20, 0) for case in range(400)]
    assert np.array_equal(one_class_raters(build(repeated, 2)).whatever, found.whatever)


def test_most_is_true_of_raters_who_all_say_the_same_to_everything(build):
    rng = np.random.default_rng(0)
    rows = [(case, int(r), int(r) % 2) for case in range(200) for r in rng.choice(10, 4, replace=False)]
    found = one_class_raters(build(rows, 2))
    assert found.whatever.sum() > 5 and found.most


def test_nobody_is_found_among_few_annotations_one_class_and_anonymous_raters(build):
    few = one_class_raters(build([(case, rater, rater) for case in range(9) for rater in (0, 1)], 2))
    assert few.n == 0 and few.n_enough == 0 and not few.most
    one = one_class_raters(build([(case, rater, 0) for case in range(20) for rater in (0, 1)], 1))
    assert one.n == 0 and not one.most
    same = one_class_raters(build([(case, rater, 0) for case in range(20) for rater in (0, 1)], 2))
    assert same.n == 2 and not same.most and not same.whatever.any()
    rows = "".join(f"{case},x\n{case},y\n" for case in range(20))
    assert one_class_raters(read(f"case,class\n{rows}".encode(), rater="none").dataset).n == 0
