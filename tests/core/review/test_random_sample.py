"""Samples for review: chances that are kept, and sentences that call a queue a queue."""

import numpy as np
import pytest

from core.errors import InputError
from core.review.opinions import Opinion
from core.review.random_sample import SAMPLE, random_sample, reviewed_by
from core.review.sessions import Queued, Session
from core.review.worklist import lowest_certainty

X = Opinion.of_ranking([["x"]])


@pytest.fixture
def large(build):
    return build([(case, rater, case % 2) for case in range(400) for rater in (0, 1)], n_classes=2)


def chance_of(why):
    """Return the probability that the reason of a drawn case states."""
    return float(why.removeprefix("drawn with probability ").split(" ")[0])


def test_every_case_has_its_chance_and_the_number_is_near_the_budget(large):
    sizes, drawn = [], np.zeros(400)
    for seed in range(200):
        queue = random_sample(large, 40, seed)
        sizes.append(len(queue.case))
        drawn[queue.case] += 1
        assert set(map(chance_of, queue.why)) <= {0.1}
    assert np.mean(sizes) == pytest.approx(40, abs=4 * 6 / np.sqrt(200))
    assert np.std(sizes) == pytest.approx(6, abs=1.5)
    assert drawn.max() < 20 + 5 * 4.3 and drawn.min() > 20 - 5 * 4.3
    assert random_sample(large, 40, 3).case.tolist() == random_sample(large, 40, 3).case.tolist()
    assert (np.diff(random_sample(large, 40, 3).case) < 0).any()  # the order tells nothing


def test_by_doubt_a_doubtful_case_comes_more_often_and_a_certain_one_still_can(large):
    certainty = np.where(np.arange(400) < 40, 0.5, 0.999)
    drawn = np.zeros(400)
    for seed in range(300):
        queue = random_sample(large, 40, seed, certainty)
        drawn[queue.case] += 1
    chances = {case: chance_of(why) for case, why in zip(queue.case.tolist(), queue.why, strict=True)}
    for case, chance in chances.items():
        assert drawn[case] / 300 == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / 300) + 1e-9)
    assert drawn[:40].mean() > 5 * drawn[40:].mean() > 0


@pytest.mark.parametrize("budget", [0, 401])
def test_a_budget_out_of_range_is_refused(large, budget):
    with pytest.raises(InputError):
        random_sample(large, budget)


def session(name, queue, dataset, size):
    return Session(name, "d", "Ann", queue.name, 0, tuple(queue.batch(dataset, size)))


def test_reviewed_cases_are_a_samples_or_a_queues_and_the_sentence_says_which(dataset, reviews_of):
    queue = session("q", lowest_certainty(np.linspace(0, 1, dataset.n_cases)), dataset, 2)
    sample = Session(
        "s", "d", "Ann", SAMPLE, 0, tuple(Queued(f"case {n}", "drawn with probability 0.25 by seed 4") for n in (2, 3))
    )
    made = reviews_of(dataset)
    made.read("case 0", "Ann", X, panel=X)
    found = reviewed_by(made.found, [queue])
    assert (found.chance, found.n_queue, found.n_unread) == ({}, 1, 0)
    assert "To estimate rates for all cases, draw a random sample" in found.words()
    made.read("case 2", "Ann", X, panel=X)
    both = reviewed_by(made.found, [queue, sample])
    assert (both.chance, both.n_queue, both.n_unread) == ({"case 2": 0.25}, 1, 1)
    assert "came from a random sample and 1 from queues. The results apply" in both.words()
    alone = reviews_of(dataset)
    alone.read("case 2", "Ann", X, panel=X)
    alone.read("case 3", "Ann", X, panel=X)
    only = reviewed_by(alone.found, [sample]).words()
    assert only == "The 2 reviewed cases are from a random sample, with recorded sampling probabilities."


def drawn(name, cases, chance, seed):
    why = f"drawn with probability {chance}{seed and f' by seed {seed}'}"
    return Session(name, "d", "Ann", SAMPLE, 0, tuple(Queued(f"case {n}", why) for n in cases))


def test_the_same_seed_with_a_larger_budget_is_the_same_sample_and_more(large):
    few, more = random_sample(large, 40, 3), random_sample(large, 80, 3)
    assert set(few.case.tolist()) < set(more.case.tolist())
    assert {chance_of(why) for why in more.why} == {0.2} and all(" by seed 3" in why for why in more.why)
    assert random_sample(large, 40, 3, what="the share of x").name.endswith("seed 3, for the share of x")


@pytest.mark.parametrize("seed", ["4", ""])  # as records of earlier versions have it, too
def test_of_samples_with_one_seed_the_larger_chance_is_that_of_both(dataset, reviews_of, seed):
    made = reviews_of(dataset)
    made.read("case 2", "Ann", X, panel=X)
    made.read("case 3", "Ann", X, panel=X)
    found = reviewed_by(made.found, [drawn("a", (2,), 0.25, seed), drawn("b", (2, 3), 0.5, seed)])
    assert (found.chance, found.n_queue, found.n_unread, found.n_apart) == ({"case 2": 0.5, "case 3": 0.5}, 0, 0, 0)


def test_samples_with_different_seeds_are_not_counted_together(dataset, reviews_of):
    """With which chance a case of one could have come into the other is not in the record."""
    made = reviews_of(dataset)
    for case in (1, 2, 3):
        made.read(f"case {case}", "Ann", X, panel=X)
    both = [drawn("a", (1, 2), 0.25, "4"), drawn("b", (2, 3, 0), 0.5, "5")]
    for sessions in (both, both[::-1]):
        found = reviewed_by(made.found, sessions)
        assert (found.chance, found.n_queue, found.n_unread) == ({"case 1": 0.25, "case 2": 0.25}, 1, 0), (
            "of two of which as much is read, the one that is read more of"
        )
        assert found.n_apart == 1
        assert (
            "Of the reviewed cases, 2 came from a random sample and 1 from a sample with a different seed. The"
            in found.words()
        )
    made.read("case 0", "Ann", X, panel=X)
    found = reviewed_by(made.found, both)
    assert (found.chance, found.n_queue, found.n_apart) == ({"case 2": 0.5, "case 3": 0.5, "case 0": 0.5}, 1, 1)
    assert "and 1 from a sample with a different seed. The" in found.words()
    for case in (4, 5):
        made.read(f"case {case}", "Ann", X, panel=X)
    found = reviewed_by(made.found, both)
    assert (len(found.chance), found.n_queue, found.n_apart) == (3, 3, 1)
    assert (
        "3 came from a random sample, 1 from a sample with a different seed and 2 from queues. The" in found.words()
    ), "the parts add up to all six"
