"""The step E in blocks against a slow reference, its exponentials, and the chunks that it is cut into."""

import numpy as np
import pytest

from core.models import design
from core.models._exponential_kernels import exponentials
from core.models._kernels import expect_and_count, row_shares
from core.models.dawid_skene import DawidSkene, StoppingRule
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
