"""Inherent or short of raters: published toy cases, enumeration against the urn written out, and cost."""

import itertools
import time
from math import factorial

import numpy as np
import pytest
from scipy.special import gammaln

from core.certainty.first_place import certainty_of_counts
from core.certainty.more_raters import OUTCOMES, drawn, enumerated, more_raters
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.learned_counts import learned_counts


def cases(*counts):
    """Rows of cases with so many annotations of each class."""
    return [
        (case, rater, answer)
        for case, row in enumerate(counts)
        for rater, answer in enumerate(k for k, n in enumerate(row) for _ in range(n))
    ]


@pytest.mark.parametrize(
    ("counts", "strength", "chance", "outcome"),
    [((1, 0), 0.25, 0.81, 1), ((13, 7), 5.0, 0.63, 1), ((26, 24), 1.4, 0.23, 3), ((25, 25), 1.4, 0.19, 3)],
)
def test_chance_of_published_toy_cases(counts, strength, chance, outcome, build):
    found = more_raters(build(cases(counts), 2), DirichletCounts(strength / 2))
    assert found.chance[0] == pytest.approx(chance, abs=0.0075) and found.se[0] == 0
    assert found.outcome[0] == outcome and found.n_more[0] == max(3, sum(counts))


def test_two_annotations_that_reach_the_bar_need_no_raters(build):
    found = more_raters(build(cases((2, 0), (1, 1), (1, 0)), 2, n_cases=4), DirichletCounts(0.05))
    assert np.isnan(found.chance[0]) and found.outcome.tolist()[0] == 0
    assert 0 < found.chance[1] < found.chance[2]
    assert sum(found.counts.values()) == 4 and found.counts["certain"] == 1
    assert found.to_frame().outcome.tolist() == [OUTCOMES[place] for place in found.outcome]
    several = np.array([True, True, False, False])  # one annotation is no uncertain case
    assert found.sentence(several) == f"{OUTCOMES[found.outcome[1]].capitalize()} in 1 case."


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_enumeration_is_the_dirichlet_multinomial_over_all_classes(n_classes, build):
    counts, alpha, gamma, n_more = np.array([2.0, 1.0]), 0.4, 0.8, 3
    shape = np.append(gamma * counts + alpha, np.full(n_classes - 2, alpha))
    chance = 0.0
    for x in itertools.product(range(n_more + 1), repeat=n_classes):
        if sum(x) != n_more:
            continue
        x = np.array(x)
        log_p = (gammaln(shape + x) - gammaln(shape)).sum() + gammaln(shape.sum()) - gammaln(shape.sum() + n_more)
        p = factorial(n_more) / np.prod([factorial(each) for each in x]) * np.exp(log_p)
        total = np.append(counts, np.zeros(n_classes - 2)) + x
        named = np.sort(total[total > 0])[::-1]
        chance += p * (certainty_of_counts(named, alpha, gamma, n_classes)[0] >= 0.9)
    found = more_raters(build(cases((2, 1)), n_classes), DirichletCounts(alpha), reliability=gamma)
    assert found.chance[0] == pytest.approx(chance, abs=1e-9)


def test_drawn_counts_have_the_frequencies_of_the_enumerated_ones():
    shape, alpha, n_rest, n_more, n = np.array([1.3, 0.7]), 0.5, 3, 4, 40_000
    outcome, p = enumerated(shape, alpha, n_rest, n_more)
    assert p.sum() == pytest.approx(1) and (outcome.sum(axis=1) == n_more).all()
    sampled = drawn(shape, alpha, n_rest, n_more, n, np.random.default_rng(1))
    sampled[:, 2:] = np.sort(sampled[:, 2:], axis=1)[:, ::-1]
    for row, chance in zip(outcome, p, strict=True):
        share = (sampled == row).all(axis=1).mean()
        assert share == pytest.approx(chance, abs=5 * np.sqrt(chance * (1 - chance) / n) + 1e-9)


def test_draws_state_their_error_and_lie_within_it(build):
    rows, model = cases((9, 6, 2, 1)), DirichletCounts(0.3)
    few = more_raters(build(rows, 6), model, n_draws=500)
    many = more_raters(build(rows, 6), model, n_draws=20_000, seed=5)
    assert 0 < many.se[0] < few.se[0]
    assert abs(few.chance[0] - many.chance[0]) < 4 * np.hypot(few.se[0], many.se[0])


def test_ambiguous_cases_are_told_from_those_short_of_raters(build):
    rng = np.random.default_rng(3)
    rows = []
    for case in range(300):
        n, share = (20, 0.5) if case < 60 else (2, 0.95) if case < 160 else (8, 0.95)
        rows += [(case, rater, int(rng.random() > share)) for rater in range(n)]
    dataset = build(rows, 2)
    learned = learned_counts(dataset)
    found = more_raters(dataset, learned.model)
    ambiguous, few = found.outcome[:60], found.outcome[60:160]
    assert np.isin(ambiguous, (2, 3)).mean() > 0.7 and (ambiguous == 3).mean() > 0.3
    assert (few != 3).all() and (few == 0).mean() > 0.8


def test_200000_cases_take_no_longer_than_their_distinct_counts(build):
    rng = np.random.default_rng(0)
    small = [(i, j, int(rng.integers(4))) for i in range(200) for j in range(5)]
    case, rater, answer = (np.tile(column, 1000) for column in np.array(small).T)
    case = case + np.repeat(np.arange(1000) * 200, len(small))
    many = build(np.column_stack([case, rater, answer]), 4)
    more_raters(build(small, 4), DirichletCounts(0.3))
    began = time.process_time()
    found = more_raters(many, DirichletCounts(0.3))
    assert many.n_cases == 200_000 and len(np.unique(found.chance[~np.isnan(found.chance)])) <= 7
    assert time.process_time() - began < 10
