"""Raters who copy each other are found, and no others are."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.commands import choices
from core.models.choose import choose
from core.models.families import LEAST_CASES, families, independent_share, members

ACCURACY = np.linspace(0.6, 0.9, 10)


def crowd(build, seed, copied=0.0, hard=0.0, n_cases=500, n_classes=2):
    """Ten raters on all cases; raters 0 to 3 and 4 to 6 repeat their first in a share of cases."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_cases)
    puzzled = rng.random(n_cases) < hard
    rows = []
    for case in range(n_cases):
        said = {}
        for rater in range(10):
            right = rng.random() < (1 / n_classes if puzzled[case] else ACCURACY[rater])
            answer = truth[case] if right else (truth[case] + rng.integers(1, n_classes)) % n_classes
            first = {1: 0, 2: 0, 3: 0, 5: 4, 6: 4}.get(rater)
            if first is not None and rng.random() < copied:
                answer = said[first]
            said[rater] = answer
            rows.append((case, rater, int(answer)))
    return build(rows, n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_raters_who_copy_are_families_and_the_rest_stand_alone(seed, n_classes, build):
    found = families(crowd(build, seed, copied=0.6, n_classes=n_classes))
    assert found.tolist() == [0, 0, 0, 0, 4, 4, 4, 7, 8, 9]
    assert [each.tolist() for each in members(found)] == [[0, 1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("hard", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(8))
def test_independent_raters_have_no_family_nor_do_those_whom_the_same_cases_puzzle(seed, hard, build):
    dataset = crowd(build, seed, hard=hard, n_classes=2 + seed % 3)
    assert families(dataset).tolist() == list(range(10))
    assert independent_share(dataset, families(dataset)) == 1


def test_too_few_raters_or_common_cases_or_one_class_tell_nothing(build):
    twins = [(case, rater, case % 2) for case in range(100) for rater in range(3)]
    assert families(build(twins, 2)).tolist() == [0, 1, 2]
    few = crowd(build, 0, copied=1.0, n_cases=LEAST_CASES - 1)
    assert families(few).tolist() == list(range(10))
    one = build([(case, rater, 0) for case in range(100) for rater in range(5)], 1)
    assert families(one).tolist() == list(range(5))


def test_repeats_of_a_rater_do_not_make_a_family_nor_lower_the_share(build):
    dataset = crowd(build, 1)
    rows = zip(dataset.case_of_annotation.tolist(), dataset.rater.tolist(), dataset.answer.tolist(), strict=True)
    twice = build([row for row in rows for _ in range(2)], 2)
    assert families(twice).tolist() == list(range(10))
    assert independent_share(twice, np.array([0, 0, *range(2, 10)])) == pytest.approx(0.9)


def test_names_order_does_not_matter(build):
    dataset = crowd(build, 3, copied=0.6)
    order = np.random.default_rng(0).permutation(10)
    rows = sorted(
        zip(dataset.case_of_annotation.tolist(), order[dataset.rater].tolist(), dataset.answer.tolist(), strict=True)
    )
    found = [set(each.tolist()) for each in members(families(build(rows, 2)))]
    assert found == [set(order[:4].tolist()), set(order[4:7].tolist())]


def test_what_opens_believes_a_family_less_and_says_so_by_name(build, monkeypatch):
    dataset = crowd(build, 0, copied=0.9, n_cases=200)
    found = choose(dataset, difficulty=False)
    assert "7 of 10 raters, in 2 families, agree more often than independent raters would" in found.reason
    most = independent_share(dataset, families(dataset))
    assert most == 0.5
    assert found.best.beta <= 0.72 * most + 1e-9
    assert found.best.fit.class_probability.max() < 0.99
    names = tuple(dataset.raters[:4]), tuple(dataset.raters[4:7])
    assert found.families == names
    monkeypatch.setattr(choices, "choose_model", lambda *_, **__: found)
    monkeypatch.setattr(choices, "stamp", lambda *_: {})
    answer, table = choices.answer_of(SimpleNamespace(seed=0, average=False), dataset, 0)
    assert answer["families"] == [list(each) for each in names] and "families" not in table
    plain = choose(crowd(build, 0, n_cases=200), difficulty=False)
    assert plain.families == ()
    assert "families" not in plain.reason and "copied" not in plain.reason
    assert plain.best.beta > 0.8
