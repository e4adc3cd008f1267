"""What draws of the Plackett-Luce model keep to: names, chunks, copies, odd cases, and the printed case study."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.plausibility.plackett_luce.gibbs import MOST_THINNING, PlackettLuce
from core.plausibility.plackett_luce.likelihood import log_likelihood

SAMPLES = Path(core.__file__).parents[1] / "sample_data"
RANKINGS = [[[4], [1, 2]], [[1]], [[2, 4], [0], [1]], [[1]]]


def drawn(dataset, case=0, *, reliability=1.0, n_draws=200, seed=1, **settings):
    model = PlackettLuce(**settings)
    ((_, draws),) = model.draws(
        dataset, reliability=reliability, n_draws=n_draws, seed=seed, cases=range(case, case + 1)
    )
    return draws


def assert_same(one, other):
    """Equal to the last bit."""
    assert one.classes.tolist() == other.classes.tolist()
    for name in ("share", "rest", "top"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert one.ess == other.ess


def both_places(draws, n_named):
    return np.column_stack([draws.top[:, [0]] == np.arange(n_named), draws.top[:, [1]] == np.arange(n_named)])


def test_draws_are_the_same_whatever_raters_are_called(slow):
    """Raters have no names within a case; it is the order of annotations that draws are made in."""
    renamed = slow.dataset_of([RANKINGS], 7, rater_names=["d", "b", "a", "c"])
    assert_same(drawn(slow.dataset_of([RANKINGS], 7)), drawn(renamed))


def test_annotations_in_another_order_have_the_same_distribution(slow):
    """Draws themselves differ: they are made ranking by ranking."""
    forth, back = (drawn(slow.dataset_of([order], 7), n_draws=40_000) for order in (RANKINGS, RANKINGS[::-1]))
    slow.assert_means(forth.share, back.share.mean(axis=0), share_error(back))
    slow.assert_means(both_places(forth, 4).astype(float), both_places(back, 4).mean(axis=0), 0.5 / np.sqrt(back.ess))


def share_error(draws):
    """Monte Carlo errors of mean shares."""
    return draws.share.std(axis=0) / np.sqrt(draws.ess)


def test_draws_are_the_same_whatever_classes_are_called(slow):
    """Other names and other codes in the same order change nothing."""
    dataset = slow.dataset_of([RANKINGS], 7)
    assert_same(drawn(dataset), drawn(replace(dataset, classes=tuple("gfedcba"))))
    spread = [[[3 * k + 2 for k in block] for block in blocks] for blocks in RANKINGS]
    moved = drawn(slow.dataset_of([spread], 17 + 1))
    original = drawn(slow.dataset_of([RANKINGS], 18))
    assert (moved.classes == 3 * original.classes + 2).all()
    assert (moved.share == original.share).all()
    assert (moved.top == original.top).all()


def test_classes_in_another_order_have_the_same_distribution(slow):
    swapped = [[[4 - k for k in block] for block in blocks] for blocks in RANKINGS]
    one, other = (drawn(slow.dataset_of([order], 7), n_draws=40_000) for order in (RANKINGS, swapped))
    slow.assert_means(one.share, other.share[:, ::-1].mean(axis=0), share_error(other)[::-1])
    mirrored = both_places(other, 4)[:, [3, 2, 1, 0, 7, 6, 5, 4]]
    slow.assert_means(both_places(one, 4).astype(float), mirrored.mean(axis=0), 0.5 / np.sqrt(other.ess))


def test_a_case_is_drawn_alike_in_any_chunk_and_beside_any_other_cases(slow):
    rng = np.random.default_rng(0)
    cases = [[[rng.permutation(6)[:2].tolist(), [6]] for _ in range(3)] for _ in range(9)]
    dataset = slow.dataset_of(cases, 8)
    every = dict(PlackettLuce().draws(dataset, reliability=1.5, n_draws=50, seed=3))
    for chunk in (range(2), range(2, 7), range(7, 9)):
        for case, draws in PlackettLuce().draws(dataset, reliability=1.5, n_draws=50, seed=3, cases=chunk):
            assert_same(draws, every[case])
    ((_, alone),) = PlackettLuce().draws(dataset.select(cases=["case 5"]), reliability=1.5, n_draws=50, seed=3)
    assert_same(alone, every[5])
    assert not (every[4].rest == every[5].rest).all()


def test_another_seed_gives_other_draws(slow):
    dataset = slow.dataset_of([RANKINGS], 7)
    assert_same(drawn(dataset, seed=1), drawn(dataset, seed=1))
    assert not (drawn(dataset, seed=1).rest == drawn(dataset, seed=2).rest).all()


@pytest.mark.parametrize(("reliability", "copies"), [(2.0, 2), (3.0, 3), (1.5, 3), (1.0, 4)])
def test_reliability_is_how_often_each_annotation_is_written(reliability, copies, slow):
    """To the last bit: copies are counted together, and γ times copies is all that enters."""
    once = drawn(slow.dataset_of([RANKINGS], 7), reliability=reliability)
    written = drawn(slow.dataset_of([RANKINGS * copies], 7), reliability=reliability / copies)
    assert_same(once, written)


@pytest.mark.parametrize("n_classes", [6, 40, 419])
def test_more_never_named_classes_leave_the_shares_as_they_are(n_classes, slow):
    """They have one mass in common; only its split, and so which classes are first, depends on how many they are."""
    few, many = (drawn(slow.dataset_of([RANKINGS], total), n_draws=20_000) for total in (5, n_classes))
    slow.assert_means(many.share, few.share.mean(axis=0), share_error(few))
    assert many.n_rest == n_classes - 4


def test_single_classes_are_drawn_as_rankings_of_one_class(build, slow):
    answers = [1, 1, 0, 3, 1]
    classes = drawn(build([(0, rater, answer) for rater, answer in enumerate(answers)], 6))
    assert_same(classes, drawn(slow.dataset_of([[[[k]] for k in answers]], 6)))


@pytest.mark.parametrize("reliability", [0.5, 1.0, 3.0])
def test_single_classes_have_a_dirichlet_posterior(reliability, build, slow):
    """The likelihood is Π λ_k: Dirichlet(1 + γ n_k), the rest together of shape 1."""
    counts = np.array([3, 2, 1])
    rows = [(0, int(rater), int(k)) for rater, k in enumerate(np.repeat(np.arange(3), counts))]
    draws = drawn(build(rows, 9), reliability=reliability, n_draws=40_000)
    shape = np.append(1 + reliability * counts, 1.0)
    mean = shape / shape.sum()
    every = np.column_stack([draws.share, draws.rest])
    slow.assert_means(every, mean, 1e-9)
    slow.assert_means(np.square(every), mean * (shape + 1) / (shape.sum() + 1), 1e-9)


def test_a_case_with_no_annotation_has_draws_of_the_prior(build):
    """Nothing is named: all mass is the rest, and the first three are never-named."""
    draws = drawn(build([(1, 0, 0)], 5, 2), n_draws=30)
    assert draws.share.shape == (30, 0)
    assert (draws.rest == 1).all()
    assert (draws.top == 0).all()
    assert draws.ess == 30
    assert draws.n_rest == 5


def test_classes_that_everyone_ties_are_as_in_the_prior(slow):
    """Two of two classes tied says nothing: the first is Beta(1, 1)."""
    draws = drawn(slow.dataset_of([[[[0, 1]]] * 3], 2), n_draws=20_000)
    first = draws.share[:, :1]
    slow.assert_means(np.column_stack([first, first**2, first > 0.5]), [1 / 2, 1 / 3, 1 / 2], 1e-9)
    assert draws.n_rest == 0


def test_a_rater_who_ranks_every_class_says_the_same_without_the_last(slow):
    whole, short = [[[2], [0, 3], [1]]], [[[2], [0, 3]]]
    assert_same(
        drawn(slow.dataset_of([[*whole, [[1]]]], 4), reliability=1.5),
        drawn(slow.dataset_of([[*short, [[1]]]], 4), reliability=1.5),
    )


def test_one_class_has_all_plausibility(slow):
    draws = drawn(slow.dataset_of([[[[0]], [[0]]]], 1))
    assert (draws.share == 1).all()
    assert (draws.rest == 0).all()
    assert (draws.top == [0, -1, -1]).all()
    assert draws.ess == draws.n_draws


@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize("reliability", [0.5, 1.0, 3.0])
def test_two_classes_have_a_beta_posterior(alpha, reliability, slow):
    """Three first choices against one: Beta(α + 3 γ, α + γ)."""
    rankings = [[[0]], [[0], [1]], [[0]], [[1], [0]]]
    draws = drawn(slow.dataset_of([rankings], 2), alpha=alpha, reliability=reliability, n_draws=40_000)
    a, b = alpha + 3 * reliability, alpha + reliability
    first = draws.share[:, :1]
    mean = a / (a + b)
    slow.assert_means(np.column_stack([first, first**2]), [mean, mean * (a + 1) / (a + b + 1)], 1e-9)


def test_draws_are_rows_of_the_simplex_with_places_in_the_order_of_shares(slow):
    draws = drawn(slow.dataset_of([RANKINGS], 30), reliability=2.5, n_draws=2_000)
    assert draws.share.sum(axis=1) + draws.rest == pytest.approx(np.ones(2_000), abs=1e-12)
    assert (draws.share > 0).all()
    named = draws.top[:, 0] < 4
    largest = draws.share.max(axis=1)
    assert (draws.share[named, draws.top[named, 0]] == largest[named]).all()
    assert (draws.rest[~named] > largest[~named]).all()


def test_a_chain_worth_too_little_is_thinned(slow):
    """It is the same chain of which only every second, third, ... or eighth draw is kept."""
    dataset = slow.dataset_of([[[list(range(6))], [[6], [0], [1], [2]]]], 7)
    plain = drawn(dataset, reliability=10.0, n_draws=2_000, least_ess=0.001)
    thinned = drawn(dataset, reliability=10.0, n_draws=2_000, least_ess=0.99)
    assert plain.ess < thinned.ess <= 2_000
    whole = drawn(dataset, reliability=10.0, n_draws=2_000 * MOST_THINNING, least_ess=0.001).share
    kept = [whole[every - 1 : 2_000 * every : every] for every in range(2, MOST_THINNING + 1)]
    assert any((thinned.share == part).all() for part in kept)


@pytest.mark.parametrize("levels", [[1] * 12, [1] * 40 + [8]], ids=["twelve steps", "eight tied after forty steps"])
@pytest.mark.parametrize("reliability", [1.0, 1000.5])
def test_many_steps_at_a_high_reliability_neither_overflow_nor_vanish(levels, reliability, slow):
    ranking, start = [], 0
    for size in levels:
        ranking.append(list(range(start, start + size)))
        start += size
    draws = drawn(slow.dataset_of([[ranking]], start + 2), reliability=reliability)
    assert np.isfinite(draws.share).all()
    assert (draws.share > 0).all()
    assert np.isfinite(log_likelihood(ranking, np.append(draws.share[-1], [draws.rest[-1] / 2] * 2)))


@pytest.mark.parametrize("alpha", [0.99, 0.0, -1.0, np.nan, np.inf])
def test_a_prior_below_1_is_refused(alpha):
    with pytest.raises(InputError, match="prior α"):
        PlackettLuce(alpha)


def test_a_depth_below_1_and_a_negative_burn_in_are_refused():
    with pytest.raises(InputError, match="depth"):
        PlackettLuce(depth=0)
    with pytest.raises(InputError, match="burn-in"):
        PlackettLuce(n_burn=-1)


@pytest.mark.parametrize("reliability", [0.0, -1.0, np.nan, np.inf, 1e12])
def test_a_reliability_outside_its_range_is_refused(reliability, slow):
    with pytest.raises(InputError, match="reliability γ"):
        drawn(slow.dataset_of([RANKINGS], 7), reliability=reliability)


def test_no_draws_and_scores_are_refused(slow):
    with pytest.raises(InputError, match="at least 1"):
        drawn(slow.dataset_of([RANKINGS], 7), n_draws=0)
    scores = Dataset.from_scores("s", ["a"], ["r"], np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(NotApplicableError, match="Could not rank scores"):
        drawn(scores)


@pytest.fixture(scope="module")
def case_study():
    """The three printed cases over all 419 conditions, draws at γ = 3, and the sets of the classifiers."""
    sample = core.load_sample("dermatology")
    fillers = tuple(f"condition {i}" for i in range(419 - len(sample.classes)))
    dataset = replace(sample, classes=sample.classes + fillers)
    draws = {
        dataset.cases[case]: draws
        for case, draws in PlackettLuce().draws(dataset, reliability=3.0, n_draws=100_000, seed=1)
    }
    sets = {}
    with open(SAMPLES / "dermatology" / "predictions.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sets.setdefault((row["case"], row["classifier"]), set()).add(row["class"])
    return dataset, draws, sets


@pytest.mark.parametrize(
    ("case", "classifier", "long_run", "printed"),
    [
        ("case one", "A", 0.690, 0.70),
        ("case one", "B", 1.000, 1.00),
        ("case two", "A", 0.424, 0.39),
        ("case two", "D", 0.579, 0.58),
        ("case three", "A", 0.235, 0.27),
        ("case three", "B", 0.371, 0.42),
    ],
)
def test_the_printed_cases_have_the_printed_probabilities(case, classifier, long_run, printed, case_study, slow):
    """P(the first class is in the classifier's set), in [Stutz et al., figures 5 and 15] and by long runs."""
    dataset, draws, sets = case_study
    names = [*(dataset.classes[code] for code in draws[case].classes), None]
    member = np.array([name in sets[case, classifier] for name in names])
    inside = member[draws[case].top[:, 0]].astype(float)
    slow.assert_means(inside[:, None], long_run, 0.0005)
    assert abs(inside.mean() - printed) < 0.06


def test_a_large_tie_at_an_endless_reliability_is_refused_and_a_small_one_is_not():
    """Copies of a block above eight classes are drawn one by one: γ = 1e6 would never end."""
    entries = [(k, 1.0) for k in range(10)]
    for n_tied, allowed in ((10, False), (3, True)):
        codes = np.array([k for k, _ in entries[:n_tied]])
        dataset = Dataset.from_rankings(
            "test",
            ["case"],
            ["r"],
            [str(k) for k in range(12)],
            np.zeros(1, np.int32),
            np.zeros(1, np.int32),
            np.array([0, n_tied]),
            codes,
            np.ones(n_tied),
        )
        stream = PlackettLuce().draws(dataset, reliability=1e6, n_draws=10, seed=0)
        if allowed:
            assert next(stream)[1].n_draws == 10
        else:
            with pytest.raises(InputError, match="10 tied classes"):
                next(stream)
