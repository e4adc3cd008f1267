"""Samples for one rate: who is drawn more often, and that the rate is known better by it."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.evaluation.corrected_rates import best_probabilities, sampled_rate
from core.machines.rates import likely_named, likely_right

PEOPLE = ("a", "b", "c")


@pytest.fixture
def made():
    """Four cases of three people and a machine: x x x, x x y, y y y, and one that the machine alone has annotated."""
    rows = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 2, 1), (2, 0, 1), (2, 1, 1), (2, 2, 1)]
    rows += [(0, 3, 0), (1, 3, 1), (3, 3, 1)]
    names = tuple(f"case {n}" for n in range(4)), (*PEOPLE, "gpt"), ("x", "y", "z")
    return Dataset.from_classes("made", *names, *np.array(rows).T)


def test_shares_of_people_are_drawn_to_the_share_of_all_by_one_annotation(made):
    mean = (1 + 2 / 3 + 0) / 3
    expected = [(3 + mean) / 4, (2 + mean) / 4, (0 + mean) / 4, mean]
    assert likely_named(made, PEOPLE, "x") == pytest.approx(expected)
    assert likely_named(made, PEOPLE, "z") == pytest.approx([0, 0, 0, 0])


def test_a_machine_is_as_likely_right_as_people_name_its_class_and_never_where_it_says_nothing(made):
    mean = (1 + 1 / 3) / 2
    assert likely_right(made, PEOPLE, "gpt") == pytest.approx([(3 + mean) / 4, (1 + mean) / 4, 0, mean])


def test_what_is_not_there_is_refused(made):
    with pytest.raises(InputError, match="class 'w'"):
        likely_named(made, PEOPLE, "w")
    with pytest.raises(InputError, match="rater 'claude'"):
        likely_right(made, PEOPLE, "claude")
    scores = Dataset.from_scores("s", ("a",), ("r",), np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(NotApplicableError):
        likely_named(scores, ("r",), "x")


def test_a_sample_for_a_rare_class_knows_its_share_better_than_one_of_all_cases_alike():
    """Three people of whom each names a rare class on its cases with 0.8: root mean square error over 200 samples."""
    rng = np.random.default_rng(8)
    n, budget = 1000, 100
    rare = rng.random(n) < 0.08
    said = rng.random((n, 3)) < np.where(rare, 0.8, 0.02)[:, None]
    case, rater = np.divmod(np.arange(3 * n), 3)
    data = Dataset.from_classes("d", tuple(map(str, range(n))), PEOPLE, ("x", "y"), case, rater, 1 - said.ravel())
    likely = likely_named(data, PEOPLE, "x")
    off: dict[str, list[float]] = {"alike": [], "for it": []}
    for name, variance in (("alike", np.full(n, 0.25)), ("for it", likely * (1 - likely))):
        chance = best_probabilities(variance, budget, 0.2)
        assert chance.sum() == pytest.approx(budget)
        for _ in range(200):
            drawn = rng.random(n) < chance
            found = sampled_rate(np.where(drawn, rare, np.nan), drawn, np.zeros(n), chance)
            off[name].append(found.estimate - rare.mean())
    error = {name: float(np.sqrt(np.mean(np.square(each)))) for name, each in off.items()}
    assert error["for it"] < 0.6 * error["alike"], error
    assert abs(np.mean(off["for it"])) < 4 * error["for it"] / np.sqrt(200)
