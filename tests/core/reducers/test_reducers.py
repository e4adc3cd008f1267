"""Reducers against counting in pure Python, and the driver against its own chunks and threads."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import comb

import numpy as np
import pytest

from core.errors import Cancelled, InputError
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.protocol import CaseDraws
from core.reducers import protocol
from core.reducers.all_draws import WholeCases
from core.reducers.protocol import reduce_draws
from core.reducers.quantiles import Quantiles
from core.reducers.sets import TopSets
from core.runtime import chunks
from core.runtime.chunks import CancelToken


def collapsed(full, named, depth=3):
    """CaseDraws from plausibilities of every class, those of ``named`` told apart."""
    others = [k for k in range(full.shape[1]) if k not in named]
    place = np.array([named.index(k) if k in named else len(named) for k in range(full.shape[1])], np.int32)
    first = place[np.argsort(-full, axis=1)[:, :depth]]
    top = np.pad(first, ((0, 0), (0, depth - first.shape[1])), constant_values=-1)
    rest, n = full[:, others].sum(1), len(full)
    return CaseDraws(np.array(named, np.int32), full[:, named], rest, top, len(others), 1.0, float(n), 0)


def slow_sets(full, named, j):
    """Certainty, its most frequent set, and how often a never-named class is among the first j; set by set."""
    n_rest = full.shape[1] - len(named)
    counter = Counter()
    for row in full.tolist():
        first = sorted(range(len(row)), key=lambda k: -row[k])[:j]
        counter[frozenset(k for k in first if k in named), sum(k not in named for k in first)] += 1
    certainty = {key: times / len(full) / comb(n_rest, key[1]) for key, times in counter.items()}
    best = max(certainty.values())
    sets = [key for key in certainty if certainty[key] == best]
    return best, sets, sum(times for (_, r), times in counter.items() if r) / len(full)


def reduced(draws, max_top=3):
    reducer = TopSets(max_top)
    state = reducer.init(1, draws.n_draws)
    reducer.update(state, 0, 0, draws)
    return state


def random_dataset(build, n_cases=30, n_classes=6, seed=0):
    rng = np.random.default_rng(seed)
    rows = [(case, rater, int(rng.integers(n_classes))) for case in range(n_cases) for rater in range(4)]
    return build([row for row in rows if rng.random() < 0.6], n_classes, n_cases, 4)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_top_sets_are_those_of_counting_every_set_in_python(n_classes, seed):
    rng = np.random.default_rng(seed)
    named = sorted(rng.choice(n_classes, size=rng.integers(0, n_classes + 1), replace=False).tolist())
    full = rng.dirichlet(rng.uniform(0.3, 3, n_classes), 200)
    state = reduced(collapsed(full, named))
    for j in (1, 2, 3):
        certainty, sets, with_rest = slow_sets(full, named, j)
        assert state.frequency[0, j - 1] == pytest.approx(certainty, abs=1e-12)
        assert state.with_rest[0, j - 1] == pytest.approx(with_rest, abs=1e-12)
        members = state.members[0, j - 1]
        key = frozenset(members[members >= 0].tolist()), j - int((members >= 0).sum())
        assert key in sets
        assert state.ceiling[0, j - 1] == pytest.approx(1 / comb(n_classes - len(named), key[1]))


def test_a_never_named_class_counts_its_share_of_the_draws():
    """Three never-named classes, one of them first in 60 of 100 draws: 0.2 each, so the named class leads with 0.4."""
    full = np.array([[0.4, 0.5, 0.05, 0.05]] * 60 + [[0.7, 0.1, 0.1, 0.1]] * 40)
    state = reduced(collapsed(full, [0]), 1)
    assert state.frequency[0, 0] == pytest.approx(0.4)
    assert state.members[0, 0, 0] == 0
    assert state.with_rest[0, 0] == pytest.approx(0.6)


def test_members_are_class_codes_ascending_and_minus_1_beyond_the_set():
    full = np.tile([0.1, 0.2, 0.05, 0.4, 0.25], (5, 1))
    state = reduced(collapsed(full, [0, 1, 3, 4]))
    assert state.members[0].tolist() == [[3, -1, -1], [3, 4, -1], [1, 3, 4]]


def test_sets_deeper_than_the_draws_tell_apart_are_refused():
    full = np.random.default_rng(0).dirichlet(np.ones(6), 10)
    with pytest.raises(InputError, match="sets of 4 classes"):
        reduced(collapsed(full, [0, 1]), 4)


def test_sets_that_64_bits_cannot_number_are_refused():
    full = np.random.default_rng(0).dirichlet(np.ones(80), 10)
    with pytest.raises(InputError, match="sets of 10 out of 80"):
        reduced(collapsed(full, list(range(80)), 10), 10)


@pytest.mark.parametrize("probabilities", [(0.025, 0.5, 0.975), (0.0, 0.3, 1.0)])
@pytest.mark.parametrize("n_draws", [1, 2, 199])
def test_quantiles_and_means_are_those_of_numpy(probabilities, n_draws):
    rng = np.random.default_rng(1)
    draws = [collapsed(rng.dirichlet(np.ones(5), n_draws), named) for named in ([1, 3], [], [0, 1, 2, 3, 4])]
    reducer = Quantiles(probabilities)
    states = [reducer.init(1, n_draws) for _ in draws]
    for state, one in zip(states, draws, strict=True):
        reducer.update(state, 0, 0, one)
    found = reducer.result(reducer.merge(states))
    assert found.ptr.tolist() == [0, 3, 4, 10]
    assert found.class_code.tolist() == [1, 3, -1, -1, 0, 1, 2, 3, 4, -1]
    for case, one in enumerate(draws):
        values = np.column_stack([one.share, one.rest])
        entries = slice(found.ptr[case], found.ptr[case + 1])
        assert found.quantile[:, entries] == pytest.approx(np.quantile(values, probabilities, axis=0), abs=1e-14)
        assert found.mean[entries] == pytest.approx(values.mean(axis=0), abs=1e-14)


REDUCERS = (TopSets(), Quantiles(), WholeCases())


def run(dataset, **more):
    return reduce_draws(DirichletCounts(), dataset, REDUCERS, reliability=1.0, n_draws=60, seed=4, **more)


def check_same(one, other):
    assert (one[0].frequency == other[0].frequency).all()
    assert (one[0].members == other[0].members).all()
    assert (one[1].quantile == other[1].quantile).all()
    assert list(one[2]) == list(other[2])
    assert all((one[2][case].share == other[2][case].share).all() for case in one[2])


@pytest.mark.parametrize("size", [1, 4, 29, 1000])
def test_the_size_of_chunks_changes_nothing(size, build, monkeypatch):
    dataset = random_dataset(build)
    whole = run(dataset)
    monkeypatch.setattr(protocol, "CHUNK_CASES", size)
    check_same(whole, run(dataset))


def test_one_thread_and_many_give_the_same(build, monkeypatch):
    dataset = random_dataset(build)
    monkeypatch.setattr(protocol, "CHUNK_CASES", 3)
    many = run(dataset)
    with ThreadPoolExecutor(1) as single:
        monkeypatch.setattr(chunks, "_pool", lambda: single)
        check_same(many, run(dataset))


def test_two_callers_at_once_are_each_what_they_are_alone(build, monkeypatch):
    monkeypatch.setattr(protocol, "CHUNK_CASES", 2)
    datasets = [random_dataset(build, seed=seed) for seed in range(6)]
    alone = [run(dataset) for dataset in datasets]
    with ThreadPoolExecutor(6) as callers:
        for one, other in zip(alone, callers.map(run, datasets), strict=True):
            check_same(one, other)


def test_a_run_of_cases_gives_their_rows_of_the_whole(build, monkeypatch):
    monkeypatch.setattr(protocol, "CHUNK_CASES", 4)
    dataset = random_dataset(build)
    whole, part = run(dataset), run(dataset, cases=range(7, 20))
    assert (part[0].frequency == whole[0].frequency[7:20]).all()
    assert list(part[2]) == list(range(7, 20))


def test_progress_reaches_1_and_a_cancelled_token_ends_the_work(build, monkeypatch):
    monkeypatch.setattr(protocol, "CHUNK_CASES", 5)
    dataset, seen = random_dataset(build), []
    run(dataset, progress=seen.append)
    assert seen == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        run(dataset, token=token)


def test_merging_costs_n_ln_n_and_holds_few_states(build, monkeypatch):
    """512 chunks of one case: each case is copied ln₂ 512 = 9 times, in order."""
    dataset = random_dataset(build, 512)
    copied = []

    class Cases:
        def init(self, n_cases, n_draws):
            return []

        def update(self, state, place, case, draws):
            state.append(case)

        def merge(self, states):
            copied.append(sum(map(len, states)))
            return [case for state in states for case in state]

        def result(self, state):
            return state

    monkeypatch.setattr(protocol, "CHUNK_CASES", 1)
    (found,) = reduce_draws(DirichletCounts(), dataset, [Cases()], reliability=1.0, n_draws=1, seed=0)
    assert found == list(range(512))
    assert sum(copied) == 512 * 9
