"""Held-out readers: exact forms against slow references, draws against integrals, and data that allow no curve."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from core.certainty import held_out_draws
from core.certainty.held_out_draws import drawn_scores, held_out_rankings, without_reader
from core.certainty.held_out_readers import held_out_annotations, held_out_curve, within
from core.errors import InputError, NotApplicableError
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN

SIGMAS = 4.5


@pytest.fixture
def crowd(build):
    """60 cases, three to seven of eight raters each, four classes, some raters twice on a case."""
    rng = np.random.default_rng(5)
    rows = []
    for case in range(60):
        share = rng.dirichlet(np.full(4, 0.6))
        for rater in rng.choice(8, rng.integers(3, 8), replace=False):
            rows += [(case, rater, rng.choice(4, p=share)) for _ in range(1 + (rng.random() < 0.2))]
    return build(rows, 4)


def brute_counts(dataset, gamma, alpha):
    """Log predictive probabilities by case, each held-out rater's others counted one by one."""
    found = []
    for case in range(dataset.n_cases):
        rows = [(int(dataset.rater[a]), int(dataset.answer[a])) for a in dataset.annotations_of(case)]
        raters = list(dict.fromkeys(rater for rater, _ in rows))
        terms = []
        for held in raters if len(raters) > 1 else []:
            said = next(answer for rater, answer in rows if rater == held)
            others = [answer for rater, answer in rows if rater != held]
            shape = [alpha + gamma * others.count(k) for k in range(dataset.n_classes)]
            terms.append(np.log(shape[said] / sum(shape)))
        found.append(terms)
    return found


@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
def test_counts_are_those_of_enumeration(crowd, alpha):
    gammas = [0.2, 1.0, 7.0]
    curve = held_out_curve(crowd, DirichletCounts(alpha), gammas)
    for gamma in gammas:
        terms = brute_counts(crowd, gamma, alpha)
        place = np.searchsorted(curve.reliability, gamma)
        flat = np.concatenate(terms)
        assert curve.n_held_out == flat.size
        assert curve.score[place] == pytest.approx(flat.mean(), rel=1e-12)
        squares = sum((np.array(part) - flat.mean()).sum() ** 2 for part in terms)
        assert curve.se[place] == pytest.approx(np.sqrt(squares) / flat.size, rel=1e-10)


def test_differences_are_paired_by_case(crowd):
    curve = held_out_curve(crowd, DirichletCounts(), [0.2, 5.0])
    best, low = (brute_counts(crowd, gamma, 1.0) for gamma in (curve.best, 0.2))
    n = curve.n_held_out
    d = [np.array(a) - np.array(b) for a, b in zip(low, best, strict=True)]
    mean = np.concatenate(d).mean()
    assert curve.diff[0] == pytest.approx(mean, rel=1e-9)
    assert curve.diff_se[0] == pytest.approx(np.sqrt(sum((part - mean).sum() ** 2 for part in d)) / n, rel=1e-8)


def test_the_formula_of_counts_without_repeats(build):
    """Σ n_k log((c + n_k − 1)/(K c + n − 1)), c = α/γ."""
    counts = [(3, 1, 0), (2, 2, 2), (5, 0, 0)]
    rows = []
    for case, row in enumerate(counts):
        rater = 0
        for k, n in enumerate(row):
            for _ in range(n):
                rows.append((case, rater, k))
                rater += 1
    gamma, alpha = 1.7, 0.6
    c = alpha / gamma
    total = sum(n * np.log((c + n - 1) / (3 * c + sum(row) - 1)) for row in counts for n in row if n)
    curve = held_out_curve(build(rows, 3), DirichletCounts(alpha), [gamma, 9.0])
    assert curve.score[np.searchsorted(curve.reliability, gamma)] == pytest.approx(total / 15, rel=1e-12)


def test_counts_depend_on_the_ratio_to_the_prior_alone(crowd):
    one = held_out_curve(crowd, DirichletCounts(1.0), [0.5, 2.0])
    four = held_out_curve(crowd, DirichletCounts(4.0), [2.0, 8.0])
    assert four.best == pytest.approx(4 * one.best, rel=1e-4)
    assert four.score == pytest.approx(one.score, rel=1e-9)
    assert "only on γ/α" in one.note and "for α = 4" in four.note


def test_the_best_of_counts_is_the_top_of_a_fine_grid(crowd):
    curve = held_out_curve(crowd, DirichletCounts())
    grid = np.geomspace(0.01, 100, 4001)
    scores = [np.concatenate(brute_counts(crowd, gamma, 1.0)).mean() for gamma in grid[::20]]
    near = grid[::20][int(np.argmax(scores))]
    assert abs(np.log(curve.best / near)) < np.log(grid[20] / grid[0])
    assert curve.score.max() >= max(scores)
    assert curve.low < curve.best < curve.high and curve.open_ends == (False, False)


def test_at_the_ends_of_the_range_the_difference_is_two_standard_errors(crowd):
    curve = held_out_curve(crowd, DirichletCounts())
    for end in (curve.low, curve.high):
        there = held_out_curve(crowd, DirichletCounts(), [end, 1.0])
        place = np.searchsorted(there.reliability, end)
        assert -there.diff[place] / there.diff_se[place] == pytest.approx(2, abs=0.05)


def test_repeats_of_a_rater_are_hidden_with_the_first(build):
    """Rater 0 says 0, 0, 1; rater 1 says 0: rater 0 is predicted from one annotation, and scored once."""
    data = build([(0, 0, 0), (0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 1)], 2)
    curve = held_out_curve(data, DirichletCounts(), [1.0, 2.0])
    exact = (np.log(2 / 3) + np.log(3 / 5) + 2 * np.log(2 / 3)) / 4
    assert curve.n_held_out == 4
    assert curve.score[np.searchsorted(curve.reliability, 1.0)] == pytest.approx(exact)


def test_anonymous_annotations_are_readers_of_their_own(build):
    data = replace(build([(0, 0, 0), (0, 0, 0), (0, 0, 1), (1, 0, 1)], 2), raters_identified=False)
    curve = held_out_curve(data, DirichletCounts(), [1.0, 2.0])
    assert curve.n_held_out == 3
    exact = (2 * np.log(2 / 4) + np.log(1 / 4)) / 3
    assert curve.score[np.searchsorted(curve.reliability, 1.0)] == pytest.approx(exact)


@pytest.mark.parametrize("ties", ["split", "full"])
def test_prirn_by_hand(rank, ties):
    """Rater 0: 0 before 1; rater 1: 1; rater 2: a tie of 0 and 1 before 2."""
    data = rank([[[[0], [1]], [[1]], [[0, 1], [2]]]], 4)
    half = Fraction(1, 2)
    tied = half if ties == "split" else Fraction(1)
    weights = [{0: Fraction(1), 1: half}, {1: Fraction(1)}, {0: tied, 1: tied, 2: half}]
    firsts = [{0}, {1}, {0, 1}]
    gamma, epsilon = Fraction(5), Fraction(1, 10)
    total = 0.0
    for held, first in enumerate(firsts):
        others = [weight for place, weight in enumerate(weights) if place != held]
        mass = sum(weight.get(k, 0) for weight in others for k in first)
        share = mass / sum(sum(weight.values()) for weight in others)
        total += np.log(float((gamma * share + epsilon * len(first)) / (gamma + 4 * epsilon)))
    curve = held_out_curve(data, PrIRN(epsilon=0.1, ties=ties), [5.0, 50.0])
    assert curve.score[np.searchsorted(curve.reliability, 5.0)] == pytest.approx(total / 3, rel=1e-12)


def test_prirn_depends_on_epsilon_over_gamma_alone(rank):
    cases = [[[[0], [1]], [[1]], [[0, 1]]], [[[2]], [[2], [0]], [[1]]]]
    one = held_out_curve(rank(cases, 4), PrIRN(epsilon=0.01), [1.0, 10.0])
    five = held_out_curve(rank(cases, 4), PrIRN(epsilon=0.05), [5.0, 50.0])
    assert five.score == pytest.approx(one.score, rel=1e-9)
    assert five.best == pytest.approx(5 * one.best, rel=1e-3)
    assert "only on ε/γ" in one.note


@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
def test_scores_are_the_student_t_of_the_others(score, gamma):
    rng = np.random.default_rng(3)
    rows = [(case, rater, 100 + rng.normal(case, 2)) for case in range(6) for rater in range(2 + case % 3)]
    rows += [(0, 0, 99.0), (2, 1, 104.5)]  # repeats
    data = score(rows)
    model = GaussianScores(100, m0=101, k0=0.5, a0=2, b0=3)
    total, n = 0.0, 0
    for case in range(6):
        here = [(r, y) for i, r, y in rows if i == case]
        for held in dict.fromkeys(r for r, _ in here):
            y = next(value for r, value in here if r == held)
            others = [(0, 0, value) for r, value in here if r != held]
            post = model.posterior(score(others), gamma)
            m, k, a, b = (float(part[0]) for part in (post.m, post.k, post.a, post.b))
            total += stats.t.logpdf(y, 2 * a, m, np.sqrt(b * (k + 1) / (a * k)))
            n += 1
    curve = held_out_curve(data, model, [gamma, 20.0])
    assert curve.n_held_out == n
    assert curve.score[np.searchsorted(curve.reliability, gamma)] == pytest.approx(total / n, rel=1e-10)


# Plackett-Luce, by integration over three classes


def triangle(steps):
    """Centres of equal triangles that fill the simplex of three classes."""
    i, j = np.divmod(np.arange(steps * steps), steps)
    up, down = i + j < steps, i + j < steps - 1
    first = np.concatenate([i[up] + 1 / 3, i[down] + 2 / 3]) / steps
    second = np.concatenate([j[up] + 1 / 3, j[down] + 2 / 3]) / steps
    return np.column_stack([first, second, 1 - first - second])


def likelihood(blocks, lam):
    """Sum of the probabilities of all complete orders that agree with a partial ranking."""
    place = np.full(3, len(blocks))
    for b, block in enumerate(blocks):
        place[block] = b
    total = np.zeros(len(lam))
    for order in permutations(range(3)):
        if (np.diff(place[list(order)]) >= 0).all():
            total += lam[:, order[0]] / lam.sum(axis=1) * lam[:, order[1]] / lam[:, order[1:]].sum(axis=1)
    return total


def exact_held_out(annotations, held, gamma, lam):
    """Log ∫ p(b | λ) p_γ(λ | others) dλ: Gamma(1) on named classes and on the sum of the others, split evenly."""
    others = [blocks for place, blocks in enumerate(annotations) if place != held]
    unnamed = [k for k in range(3) if not any(k in block for blocks in others for block in blocks)]
    weight = lam[:, unnamed].sum(axis=1) ** (1.0 - len(unnamed)) if len(unnamed) > 1 else np.ones(len(lam))
    for blocks in others:
        weight = weight * likelihood(blocks, lam) ** gamma
    return np.log((weight * likelihood(annotations[held], lam)).sum() / weight.sum())


CASES = {
    "ties": [[[0, 1]], [[0], [1]], [[2]]],
    "one names what no other does": [[[0]], [[0]], [[1], [2]]],
    "one of two classes that no other names": [[[0]], [[0]], [[1], [0]]],
    "two classes that no other names, tied": [[[0]], [[0]], [[2, 1]]],
    "identical": [[[0], [1]], [[0], [1]], [[0], [1]], [[1]]],
    "complete orders": [[[0], [1], [2]], [[1], [0], [2]]],
    "all tied": [[[0, 1, 2]], [[2]], [[0]]],
}


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("name", CASES)
def test_plackett_luce_is_the_integral_over_the_simplex(rank, name, gamma):
    annotations = CASES[name]
    data = rank([annotations], 3)
    held, reader = held_out_annotations(data)
    items = held_out_rankings(data, held, reader)
    assert sum(item.times for item in items) == len(annotations)
    found = drawn_scores(data, items, PlackettLuce(), gamma, n_draws=4000, seed=2)
    lam = triangle(400)
    exact = sum(exact_held_out(annotations, place, gamma, lam) for place in range(len(annotations)))
    assert found.case_sum[0] == pytest.approx(
        exact, abs=SIGMAS * found.mc_se * len(annotations) + 2e-3 * len(annotations)
    )


def test_identical_rankings_of_a_case_are_scored_once_and_counted_each(rank):
    data = rank([CASES["identical"], [[[1]], [[1]]]], 3)
    items = held_out_rankings(data, *held_out_annotations(data))
    assert [(item.case, item.annotation, item.others, item.times) for item in items] == [
        (0, 0, (1, 2, 3), 3),
        (0, 3, (0, 1, 2), 1),
        (1, 4, (5,), 2),
    ]


def test_a_rater_who_answered_twice_is_not_taken_for_one_who_answered_once(rank):
    """Raters 0 and 1 say the same first, but behind rater 0 stands another annotation."""
    data = rank([[[[0]], [[0]], [[1]], [[0]]]], 3, raters=[[0, 1, 0, 2]])
    items = held_out_rankings(data, *held_out_annotations(data))
    assert [(item.annotation, item.others, item.times) for item in items] == [(0, (1, 3), 1), (1, (0, 2, 3), 2)]


def test_the_case_without_a_reader_holds_the_others_as_they_are(rank):
    data = rank([[[[0], [1, 2]], [[2]], [[1], [0]]]], 4)
    items = held_out_rankings(data, *held_out_annotations(data))
    left = without_reader(data, items)
    assert [[left.blocks_of(a) for a in left.annotations_of(case)] for case in range(3)] == [
        [[[2]], [[1], [0]]],
        [[[0], [1, 2]], [[1], [0]]],
        [[[0], [1, 2]], [[2]]],
    ]
    assert left.classes == data.classes


@pytest.fixture
def panel(rank):
    rng = np.random.default_rng(8)
    cases = []
    for _ in range(12):
        utility = rng.normal(0, 1.5, 5)
        annotations = []
        for _ in range(rng.integers(2, 6)):
            order = np.argsort(-(utility + rng.gumbel(size=5)))[: rng.integers(1, 4)]
            annotations.append([[int(k)] for k in order])
        cases.append(annotations)
    return rank(cases, 5)


def test_scores_do_not_depend_on_chunks_or_on_other_cases(panel, monkeypatch):
    items = held_out_rankings(panel, *held_out_annotations(panel))
    whole = drawn_scores(panel, items, PlackettLuce(n_burn=50), 1.5, n_draws=60, seed=3)
    monkeypatch.setattr(held_out_draws, "CHUNK_CASES", 1)
    one = drawn_scores(panel, items, PlackettLuce(n_burn=50), 1.5, n_draws=60, seed=3)
    assert (whole.case_sum == one.case_sum).all() and whole.bias == one.bias
    few = panel.select(cases=["case 7", "case 9"])
    some = drawn_scores(
        few, held_out_rankings(few, *held_out_annotations(few)), PlackettLuce(n_burn=50), 1.5, n_draws=60, seed=3
    )
    assert (some.case_sum == whole.case_sum[[7, 9]]).all()


def test_draws_are_extended_until_their_number_no_longer_biases(panel, monkeypatch):
    items = held_out_rankings(panel, *held_out_annotations(panel))
    scores = {}
    for most in (1, 64):
        monkeypatch.setattr(held_out_draws, "MOST_EXTENSION", most)
        scores[most] = drawn_scores(panel, items, PlackettLuce(n_burn=50), 3.0, n_draws=12, seed=1)
    assert scores[1].bias > held_out_draws.LARGEST_BIAS > scores[64].bias
    assert scores[64].mc_se < scores[1].mc_se


def test_the_curve_of_plackett_luce_has_its_top_where_the_vertex_is_tried(panel):
    told = []
    curve = held_out_curve(panel, PlackettLuce(n_burn=50), [0.1, 0.5, 2.0, 8.0], n_draws=60, progress=told.append)
    assert len(curve.reliability) == 5 and curve.best in curve.reliability
    assert curve.diff[curve.reliability == curve.best] == 0
    assert (curve.diff <= 0).all() and (curve.mc_se > 0).all() and (curve.bias < 0.05).all()
    assert told == sorted(told) and told[-1] == 1
    again = held_out_curve(panel, PlackettLuce(n_burn=50), [0.1, 0.5, 2.0, 8.0], n_draws=60)
    assert (again.score == curve.score).all()


# Data that say little


def test_where_raters_always_agree_no_reliability_is_too_high(build):
    data = build([(case, rater, case % 2) for case in range(6) for rater in range(3)], 2)
    curve = held_out_curve(data, DirichletCounts())
    assert curve.at_end == "highest" and "the highest γ is best" in curve.note
    assert (np.diff(curve.score) > 0).all()


def test_where_annotations_are_noise_the_lowest_is_best(build):
    """Each case has every class once: others name any class but that of the held-out rater."""
    data = build([(case, rater, (case + rater) % 3) for case in range(9) for rater in range(3)], 3)
    curve = held_out_curve(data, DirichletCounts())
    assert curve.at_end == "lowest" and "do not help" in curve.note
    assert curve.score[0] == pytest.approx(-np.log(3), abs=0.05)


def test_two_cases_give_a_curve_with_its_error(build):
    curve = held_out_curve(build([(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 0)], 2), DirichletCounts(), [0.5, 1.0])
    assert curve.n_cases == 2 and np.isfinite(curve.se).all()


def test_one_case_has_no_standard_error_and_no_end_to_its_range(build):
    curve = held_out_curve(build([(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 0)], 2), DirichletCounts(), [0.5, 1.0])
    assert curve.n_cases == 1 and np.isnan(curve.se).all() and curve.open_ends == (True, True)
    assert "no standard error" in curve.note


@pytest.mark.parametrize("model", [DirichletCounts(), PrIRN(), PlackettLuce()])
def test_one_annotation_a_case_cannot_be_held_out(build, model):
    with pytest.raises(NotApplicableError, match="no case has annotations by two raters"):
        held_out_curve(build([(0, 0, 0), (1, 1, 1), (2, 0, 1)], 2), model)


def test_the_same_rater_twice_is_not_two_raters(build):
    with pytest.raises(NotApplicableError, match="two raters"):
        held_out_curve(build([(0, 0, 0), (0, 0, 1), (1, 1, 1)], 2), DirichletCounts())


def test_a_model_that_does_not_take_the_data_says_so(rank, build):
    with pytest.raises(NotApplicableError, match="not single classes"):
        held_out_curve(rank([CASES["ties"]], 3), DirichletCounts())
    with pytest.raises(NotApplicableError, match="not scores"):
        held_out_curve(build([(0, 0, 0), (0, 1, 1)], 2), GaussianScores(0.0, 0.0, 1.0, 2.0, 1.0))


@pytest.mark.parametrize("gammas", [[1.0], [], [0.0, 1.0], [1.0, np.inf]])
def test_reliabilities_that_are_none_are_refused(build, gammas):
    with pytest.raises(InputError):
        held_out_curve(build([(0, 0, 0), (0, 1, 1)], 2), DirichletCounts(), gammas)


def test_a_range_ends_where_difference_and_margin_are_equal():
    """−x² against 2 · 0.5 |x|: equal at |x| = 1, ln γ = ±1."""
    x = np.array([-3.0, 0.0, 2.0])
    low, high, ends = within(np.exp(x), -(x**2), np.abs(x), 1)
    assert (np.log(low), np.log(high)) == pytest.approx((-1, 1))
    assert ends == (False, False)
    assert within(np.exp(x), -(x**2), 10 * np.abs(x), 1) == (np.exp(-3), np.exp(2.0), (True, True))
