"""The step E in blocks against a slow reference, its exponentials, and the chunks that it is cut into."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.commands import choices
from core.models import design
from core.models._exponential_kernels import exponentials
from core.models._kernels import expect_and_count, row_shares
from core.models.choose import choose
from core.models.dawid_skene import DawidSkene, StoppingRule
from core.models.families import LEAST_CASES, families, independent_share, members
from tests.core.models.rows import random_rows


def test_exponentials_are_those_of_numpy_within_two_units_in_the_last_place():
    x = -np.concatenate([np.random.default_rng(0).exponential(size=4000) * 40, np.linspace(0, 750, 5000), [0, 1e-300]])
    found = x.copy()
    exponentials(found, x.size, np.empty(x.size, np.int64))
    np.testing.assert_array_max_ulp(found, np.exp(x), 2)


def test_exponentials_end_where_doubles_do_and_those_behind_the_last_stay():
    found = np.array([-np.inf, -1e308, -746.0, 0.0, -1.0])
    exponentials(found, 4, np.empty(5, np.int64))
    assert found.tolist() == [0, 0, 0, 1, -1]


def slow_pass(ptr, cell, log_theta, log_pi, known, weight):
    """Case by case, in numpy."""
    cases_of, counts, q = np.zeros(log_pi.size), np.zeros(log_theta.shape), np.zeros((ptr.size - 1, log_pi.size))
    total = 0.0
    for case, times in enumerate(weight):
        mine = cell[ptr[case] : ptr[case + 1]]
        joint = log_pi + log_theta[mine].sum(axis=0)
        if known[case] >= 0:
            q[case, known[case]] = 1
            value = max(joint[known[case]], -745 * mine.size) if mine.size else 0.0
        elif np.isneginf(joint).all():
            q[case], value = 1 / log_pi.size, -745 + np.log(log_pi.size)
        else:
            shares = np.exp(joint - joint.max())
            q[case], value = shares / shares.sum(), joint.max() + np.log(shares.sum())
        total += times * value
        if mine.size:
            cases_of += times * q[case]
        np.add.at(counts, mine, times * q[case])
    return total, cases_of, counts, q


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 7, 9, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_pass_equals_the_slow_one(n_classes, weighted):
    """600 cases are three blocks and more; some empty, some known, some that no class explains, some count twice."""
    rng = np.random.default_rng(n_classes)
    n_cases, n_raters = 600, 6
    ptr = np.concatenate([[0], np.cumsum(rng.integers(0, 6, n_cases))]).astype(np.int64)
    cell = rng.integers(0, n_raters * n_classes, ptr[-1]).astype(np.int32)
    with np.errstate(divide="ignore"):
        log_theta = np.log(np.where(rng.uniform(size=(n_raters * n_classes, n_classes)) < 0.1, 0.0, 0.3))
        log_pi = np.log(rng.dirichlet(np.ones(n_classes)))
    known = np.where(rng.uniform(size=n_cases) < 0.2, rng.integers(0, n_classes, n_cases), -1).astype(np.int32)
    weight = rng.integers(0, 3, n_cases) * (1.0 if weighted else 0.0) + (0.0 if weighted else 1.0)
    asked = weight if weighted else np.empty(0)
    q = np.full((n_cases, n_classes), np.nan)
    found = expect_and_count(ptr, cell, log_theta, log_pi, known, asked, 0, n_cases, q, True)
    slow = slow_pass(ptr, cell, log_theta, log_pi, known, weight)
    for one, other in zip((*found, q), slow, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    unkept = expect_and_count(ptr, cell, log_theta, log_pi, known, asked, 0, n_cases, np.empty((0, n_classes)), False)
    for one, other in zip(unkept, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def test_shares_of_a_row_without_annotations_are_even():
    counts = np.zeros((2, 2, 2))
    counts[0] = [[3, 1], [1, 3]]
    theta = np.empty(counts.shape)
    row_shares(counts, theta)
    assert theta.tolist() == [[[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5], [0.5, 0.5]]]


class Sizes:
    """A dataset's numbers."""

    def __init__(self, n_cases, n_annotations, n_raters, n_classes):
        self.n_cases, self.n_annotations, self.n_raters, self.n_classes = n_cases, n_annotations, n_raters, n_classes


@pytest.mark.parametrize(
    ("sizes", "n_chunks"),
    [
        ((60, 300, 5, 3), 1),  # too little to share
        ((10_000, 50_000, 100, 2), 2),
        ((10_000, 50_000, 100, 419), 2),  # tables as large as the work: two, so that two cores have something to do
        ((200_000, 1_000_000, 1_000, 10), 16),
        ((200_000, 1_000_000, 100_000, 10), 2),
        ((1, 200_000, 5, 2), 1),
    ],
)
def test_chunks_share_the_work_and_never_cost_more_than_it(sizes, n_chunks):
    chunks = design._chunks(Sizes(*sizes))
    assert len(chunks) == n_chunks
    assert [stop for _, stop in chunks[:-1]] == [start for start, _ in chunks[1:]]
    assert (chunks[0][0], chunks[-1][1]) == (0, sizes[0])


def test_a_fit_is_the_same_number_by_number_whatever_computes_its_chunks(build, monkeypatch):
    """The sums are added in the order of the chunks: of threads that end in any order, and of one after another."""
    monkeypatch.setattr(design, "_SHARED_WORK", 10)
    monkeypatch.setattr(design, "_CHUNK_WORK", 10)
    monkeypatch.setattr(design, "_TABLES_A_CHUNK", 0.1)
    dataset, model = build(random_rows(3, n_cases=80), 3), DawidSkene(stopping=StoppingRule(20, -1.0))
    assert len(model.problem(dataset).data.chunks) > 2
    threads = model.fit(dataset)
    monkeypatch.setattr("core.models.design.map_chunks", lambda work, chunks, token=None: map(work, chunks))
    alone = model.fit(dataset)
    assert alone.objective == threads.objective
    assert (alone.class_probability == threads.class_probability).all()


# Families: Raters who copy each other are found, and no others are.


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
    assert "7 of 10 raters, in 2 groups, agree more often than independent raters would" in found.reason
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
