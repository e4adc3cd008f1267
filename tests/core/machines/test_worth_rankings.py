"""Log scores of rankings: against the closed form of single classes, the held-out curve, and what they must be."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty.held_out_draws import item_scores
from core.certainty.held_out_readers import held_out_curve
from core.machines import equivalent_readers as module
from core.machines.equivalent_readers import equivalent_readers
from core.plausibility.plackett_luce.gibbs import PlackettLuce

GAMMA = 1.5


def ranked(n_cases, n_readers, n_classes, longest, seed=5):
    """Readers whose lists are drawn from the plausibilities of their case, and these."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(n_classes, 0.5), n_cases)
    case, rater = np.repeat(np.arange(n_cases), n_readers), np.tile(np.arange(n_readers), n_cases)
    lists = [np.argsort(-(np.log(truth[c]) + rng.gumbel(size=n_classes)))[: rng.integers(1, longest + 1)] for c in case]
    size = [len(one) for one in lists]
    found = Dataset.from_rankings(
        "made", [f"c{n}" for n in range(n_cases)], [f"p{n}" for n in range(n_readers)],
        [f"k{n}" for n in range(n_classes)], case, rater, np.r_[0, np.cumsum(size)], np.concatenate(lists),
        np.concatenate([np.arange(n) for n in size]),
    )  # fmt: skip
    return found, truth


def by_lists(data, probability, **how):
    return equivalent_readers(
        data, "m", data.raters, score="log", probability=probability, reliability=GAMMA, n_resamples=100, **how
    )


def test_lists_of_one_class_score_as_the_posterior_of_counts_says():
    data, truth = ranked(15, 3, 4, longest=1)
    found = by_lists(data, truth, k_max=2)
    first = data.entry_class.reshape(15, 3)
    pool = (np.bincount(first.ravel(), minlength=4) + 0.1) / (45 + 0.4)
    assert found.panel[0] == pytest.approx(np.log(pool)[first].mean(), abs=1e-6)
    assert found.value == pytest.approx(np.log(np.maximum(truth, 1e-6))[np.arange(15)[:, None], first].mean())
    for k in (1, 2):
        scores = []
        for said in first:
            for reader in range(3):
                for panel in combinations(np.delete(said, reader), k):
                    n, named = GAMMA * panel.count(said[reader]), len(set(panel))
                    shape = 1 + n if said[reader] in panel else 1 / (4 - named)
                    scores.append(np.log(shape / (named + 1 + GAMMA * k)))
        assert found.panel[k] == pytest.approx(np.mean(scores), abs=0.02)


def test_all_but_one_reader_score_as_the_held_out_curve_and_the_truth_is_worth_more_than_a_guess():
    data, truth = ranked(25, 4, 5, longest=3)
    whole, none = (by_lists(data, given, k_max=3) for given in (truth, np.full(truth.shape, 0.2)))
    curve = held_out_curve(data, PlackettLuce(), (GAMMA, 2 * GAMMA), n_draws=200)
    assert whole.panel[-1] == pytest.approx(curve.score[curve.reliability == GAMMA][0], abs=0.03)
    assert (whole.panel == none.panel).all() and (np.diff(whole.panel) > -0.02).all()
    assert whole.value > whole.panel[-1] and whole.k == np.inf
    assert none.value < none.panel[1] and none.k < 1


def test_pairs_are_all_of_them_or_a_sample_in_which_nobody_reads_for_themselves(monkeypatch):
    rng = np.random.default_rng(1)
    every = module._pairs(3, 2, rng)
    assert every == {(0, (1, 2)): 1, (1, (0, 2)): 1, (2, (0, 1)): 1}
    readers = np.zeros(8)
    for _ in range(200):
        some = module._pairs(8, 3, rng)
        assert some.total() == module.PAIRS
        for (reader, panel), times in some.items():
            assert len(set(panel)) == 3 and reader not in panel
            readers[reader] += times
    assert readers.min() > 0.7 * readers.mean()


def test_many_cases_are_a_sample_by_the_seed_and_a_case_scores_as_it_does_alone(monkeypatch):
    data, truth = ranked(12, 3, 4, longest=2)
    monkeypatch.setattr(module, "LEAST_CASES", 5)
    monkeypatch.setattr(module, "MOST_PAIRS", 1)
    one, two = (module.scored(data, np.arange(12), 1, seed) for seed in (0, 1))
    assert one.size == two.size == 5 and (one != two).any() and (np.diff(one) > 0).all()
    assert by_lists(data, truth, k_max=1).n_cases == 5
    human = np.arange(data.n_annotations)
    some, _ = module.foretold(data, data.raters, human, np.array([2, 7]), 2, truth, GAMMA)
    alone, _ = module.foretold(data, data.raters, human, np.array([7]), 2, truth, GAMMA)
    assert (some[1, 1:] == alone[0, 1:]).all()


def test_panels_are_scored_once_for_all_machines(monkeypatch):
    data, truth = ranked(10, 3, 4, longest=2)
    asked = []

    def counted(*given, **how):
        asked.append(len(given[1]))
        return item_scores(*given, **how)

    monkeypatch.setattr(module, "item_scores", counted)
    one, two = (by_lists(data, given, k_max=2) for given in (truth, truth[::-1].copy()))
    assert len(asked) == 1 and (one.panel == two.panel).all() and one.value != two.value
    by_lists(data, truth, k_max=1)
    assert len(asked) == 2


def test_the_reliability_is_that_at_which_people_foretell_each_other_best():
    data, truth = ranked(20, 3, 4, longest=2)
    best = module.best_reliability(data, data.raters)
    own = equivalent_readers(data, "m", data.raters, score="log", probability=truth, n_resamples=100, k_max=1)
    given = equivalent_readers(
        replace(data), "m", data.raters, score="log", probability=truth, n_resamples=100, k_max=1, reliability=best
    )
    assert (own.panel == given.panel).all() and 0.2 <= best <= 5
