"""The t-a-p model: its exact step, its published relation to kappa, and what its data cannot tell."""

import numpy as np
import pytest
from scipy.optimize import minimize

from core.analyses.blocks import Download, Finding, Words
from core.analyses.models import MODELS
from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import InputError, NotApplicableError
from core.ingest.samples import load_sample
from core.models.dawid_skene import DawidSkene
from core.models.design import design
from core.models.em import climb, no_prior
from core.models.precision import precision_of
from core.models.stopping import StoppingRule
from core.models.tap import TAP, Guessers
from core.models.tap_agreement import guess_test, match_rates, simulate_ratings, tap_agreement, tap_maximum
from tests.benchmarks.truth_inference import GENERATED, generated
from tests.core.analyses.test_contract import every
from tests.core.models.rows import simulated


def objective(counts, a, p):
    """Σ counts · ln θ with axes annotated, true."""
    theta = (1 - a) * p[:, None] + a * np.eye(len(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(counts > 0, counts * np.log(theta), 0).sum())


def best_by_search(counts):
    """The maximum over a grid of accuracies, each with the best p found by bisection of its multiplier."""
    right, wrong = np.diag(counts), counts.sum(axis=1) - np.diag(counts)
    best = -np.inf, 0.0
    for a in np.linspace(0, 1, 501)[:-1]:
        # Given a: D/(a + u) + O/u falls in u, and u sums to 1 - a.
        low, high = 1e-9, 1e9
        for _ in range(80):
            middle = np.sqrt(low * high)
            b = middle * a - right - wrong
            u = (-b + np.sqrt(b * b + 4 * middle * a * wrong)) / (2 * middle)
            low, high = (middle, high) if u.sum() > 1 - a else (low, middle)
        found = objective(counts, a, u / u.sum())
        best = max(best, (found, a))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_step_is_the_maximum_that_a_search_finds(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 6))
    counts = rng.gamma(0.7, 5, (n_classes, n_classes)) + rng.uniform(0, 25) * np.eye(n_classes)
    if seed % 3 == 2:
        counts[rng.integers(n_classes)] = 0  # a class that the rater never gave
    theta, parameters = Guessers(False).maximise(counts[None])
    value, a = best_by_search(counts)
    mine = objective(counts, parameters["a"][0], parameters["p"][0])
    assert mine >= value - 1e-9 * abs(value)
    assert parameters["a"][0] == pytest.approx(a, abs=3e-3)
    assert theta[0].sum(axis=0) == pytest.approx(np.ones(n_classes), abs=1e-12)


def test_the_bounds_of_the_step():
    """Without mistakes accuracy is 1 and the guesses stay; those that do not depend on the truth have accuracy 0."""
    _, perfect = Guessers(False).maximise(np.diag([3.0, 2.0, 0.0])[None])
    assert (perfect["a"][0], perfect["p"][0].tolist()) == (1.0, [1 / 3] * 3)
    _, random = Guessers(False).maximise(np.outer([0.5, 0.3, 0.2], [10.0, 10.0, 20.0])[None])
    assert random["a"][0] == pytest.approx(0, abs=1e-6)
    assert random["p"][0] == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)
    _, contrary = Guessers(False).maximise((np.ones((3, 3)) - np.eye(3))[None])
    assert contrary["a"][0] == 0.0
    _, none = Guessers(False).maximise(np.zeros((1, 3, 3)))
    assert (none["a"][0], none["p"][0].tolist()) == (0.0, [1 / 3] * 3)


class Moments(Guessers):
    """The step as it is printed: a from the trace, p from the columns off the diagonal."""

    def maximise(self, counts):
        counts = counts.sum(axis=0, keepdims=True)
        share = counts[0].T / counts.sum()  # true, annotated
        t = share.sum(axis=1)
        off = share.sum(axis=0) - np.diag(share)
        a = np.trace(share) - (t / (1 - t) * off).sum()
        p = off / ((1 - t) * (1 - a))
        theta = (1 - a) * p[:, None] + a * np.eye(len(p))
        return theta[None], {"a": np.array([a]), "p": p[None]}


def test_the_printed_step_lowers_the_likelihood_at_times_and_the_exact_one_never(build):
    falls = 0
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        t, p, a = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3)), rng.uniform(0.2, 0.8)
        rows, _ = simulated([seed, 1], 40, np.repeat((a * np.eye(3) + (1 - a) * p)[None], 4, axis=0), t, 4)
        data = design("t-a-p", build(rows, 3)).as_one_rater()
        moments, exact = (
            climb(data, family, no_prior(3), data.start, StoppingRule(60, -1.0)).objective
            for family in (Moments(True), Guessers(True))
        )
        falls += np.diff(moments).min() < -1e-4
        assert np.diff(exact).min() > -1e-8
    assert falls > 0


def test_the_printed_step_can_leave_the_range_of_an_accuracy():
    contrary = np.array([[1.0, 9.0], [9.0, 1.0]])[None]
    assert Moments(True).maximise(contrary)[1]["a"][0] < 0
    assert Guessers(True).maximise(contrary)[1]["a"][0] == 0


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("a", [0.3, 0.6, 0.9])
def test_matrices_of_simulated_raters_are_recovered(n_classes, a, build):
    """1,500 cases × 5 raters: within five standard errors of the observed information."""
    t = np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2)
    confusion = np.repeat((a * np.eye(n_classes) + (1 - a) * t[::-1])[None], 5, axis=0)
    rows, _ = simulated(n_classes, 1500, confusion, t, 5)
    model, dataset = TAP(raters="common"), build(rows, n_classes)
    fit = model.fit(dataset)
    found = precision_of(model, dataset, fit, n_replicates=20)
    assert fit.converged
    assert (np.abs(fit.confusion - confusion) < 5 * found.confusion.sd).all()
    assert (np.abs(fit.prevalence - t) < 5 * found.prevalence.sd).all()
    assert found.confusion.sd.max() < 0.25


def test_raters_who_are_alike_have_the_same_parameters_of_their_own(build):
    confusion = np.repeat((0.7 * np.eye(3) + 0.1)[None], 4, axis=0)
    fit = TAP("none").fit(build(simulated(5, 6000, confusion, (0.5, 0.3, 0.2), 4)[0], 3))
    assert fit.parameters["a"] == pytest.approx([0.7] * 4, abs=0.04)  # 5 SD of 0.0075
    assert fit.parameters["p"].shape == (4, 3)
    assert (fit.parameters["t"] == fit.prevalence).all()


def test_for_two_classes_it_is_dawid_skene_of_raters_better_than_chance():
    """ā p and a stand for both error rates: the same likelihood where sens + spec > 1 for all."""
    caries = load_sample("caries")
    tap, full = TAP("none").fit(caries), DawidSkene("none").fit(caries)
    assert tap.log_likelihood == pytest.approx(full.log_likelihood, abs=1e-4)
    assert tap.confusion == pytest.approx(full.confusion, abs=1e-3)


def test_a_spammer_gets_accuracy_0_and_is_told(build):
    confusion = np.full((5, 3, 3), 0.05) + 0.85 * np.eye(3)
    confusion[4] = [0.1, 0.8, 0.1]
    fit = TAP("none").fit(build(simulated(7, 800, confusion, (0.5, 0.3, 0.2), 5)[0], 3))
    assert fit.parameters["a"][4] < 0.06 and fit.parameters["a"][:4].min() > 0.8
    assert fit.parameters["p"][4] == pytest.approx([0.1, 0.8, 0.1], abs=0.07)


def test_where_nobody_guessed_a_class_one_annotation_of_it_does_not_rule_out_the_others():
    """30 cases by three raters; without the annotation more the truth of five has a probability below 1e-7."""
    data = generated(**GENERATED["30 cases"], seed=9)
    fit = TAP().fit(data)
    pool = TAP(raters="common").fit(data).parameters["p"]
    assert pool.min() < 1e-12 and fit.parameters["p"].min() > 1e-4
    assert fit.class_probability[np.arange(30), data.gold].min() > 1e-5


# Tap agreement: Agreement in parts by t-a-p, the test of t = p, and simulated ratings: equation 1 of chapter 9 of the
# Kappa Zoo.


T, P = np.array([0.3, 0.5, 0.2]), np.array([0.2, 0.2, 0.6])


def counted(dataset):
    """How often each class was given on each case."""
    table = np.zeros((dataset.n_cases, dataset.n_classes))
    np.add.at(table, (dataset.case_of_annotation, dataset.answer), 1)
    return table


def enumerated(t, a, p, q):
    """Agreement of two raters by who knows, over all classes; a and p of each rater."""
    found = np.zeros(3)
    for true, share in enumerate(t):
        found[0] += share * a[0] * a[1]
        found[1] += share * (a[0] * (1 - a[1]) * q[true] + (1 - a[0]) * a[1] * p[true])
        found[2] += share * (1 - a[0]) * (1 - a[1]) * sum(p * q)
    return found


def test_rates_are_those_of_equation_1():
    a, m_r = 0.7, P @ P
    found = match_rates(T, np.array([a]), P[None])
    assert found.accurate == pytest.approx(a**2)
    assert found.inaccurate == pytest.approx(a**2 * m_r - 2 * a * m_r + m_r)
    assert found.mixed == pytest.approx(2 * a * (1 - a) * T @ P)
    assert found.total == pytest.approx(a**2 + a**2 * m_r + m_r - 2 * a * m_r + 2 * a * (1 - a) * T @ P)
    assert found.chance == pytest.approx(np.sum((T * a + (1 - a) * P) ** 2))


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9])
def test_kappa_is_the_square_of_accuracy_where_guesses_follow_the_prevalence(a):
    assert match_rates(T, np.array([a]), T[None]).kappa == pytest.approx(a**2)


def test_rates_of_raters_who_differ_are_means_over_pairs():
    a, p = np.array([0.9, 0.4]), np.array([P, [0.1, 0.8, 0.1]])
    pairs = np.array([[0, 0.5], [0.5, 0]])
    found = match_rates(T, a, p, pairs)
    np.testing.assert_allclose([found.accurate, found.mixed, found.inaccurate], enumerated(T, a, *p))


def test_simulated_ratings_agree_as_expected():
    dataset, truth = simulate_ratings(T, 0.7, P, 5000, 4, 3)
    found = tap_agreement(dataset)
    expected = match_rates(T, np.array([0.7]), P[None])
    assert found.observed.value == pytest.approx(expected.total, abs=4 * found.observed.se)
    assert found.kappa.value == pytest.approx(expected.kappa, abs=4 * found.kappa.se)
    assert found.rates.accurate == pytest.approx(expected.accurate, abs=0.03)
    assert found.rates.total == pytest.approx(found.observed.value, abs=0.01)
    assert np.bincount(truth) / 5000 == pytest.approx(T, abs=0.03)
    assert ((found.a_low < found.accuracy) & (found.accuracy < found.a_high)).all()
    assert ((found.a_low < 0.7) & (found.a_high > 0.7)).sum() >= 3
    assert found.guesses.mean(axis=0) == pytest.approx(P, abs=0.05)


def test_the_maximum_is_that_of_the_rater_model_and_of_a_general_search():
    dataset, _ = simulate_ratings(T, 0.6, P, 200, 4, 1)
    table = counted(dataset)
    free = tap_maximum(table, equal=False)
    fit = TAP(raters="common").fit(dataset)
    assert free[0] == pytest.approx(fit.log_likelihood, abs=1e-4)
    assert free[2] == pytest.approx(fit.parameters["a"][0], abs=1e-3)

    def minus(x):
        t = np.exp(np.append(x[:2], 0.0))
        t, a = t / t.sum(), 1 / (1 + np.exp(-x[2]))
        theta = (1 - a) * t[None, :] + a * np.eye(3)
        return -np.log((np.exp(table @ np.log(theta).T) * t).sum(axis=1)).sum()

    assert tap_maximum(table, equal=True)[0] == pytest.approx(-minimize(minus, np.zeros(3)).fun, abs=1e-4)


def test_t_equals_p_is_rejected_as_often_as_the_level_says_and_where_it_is_false():
    n = 120
    rejected = sum(guess_test(simulate_ratings(T, 0.7, T, 120, 4, seed)[0]).p_value < 0.05 for seed in range(n))
    assert abs(rejected - 0.05 * n) < 3 * np.sqrt(n * 0.05 * 0.95)
    found = guess_test(simulate_ratings(T, 0.7, P, 300, 4, 0)[0])
    assert found.p_value < 0.001 and found.df == 2 and "do not follow" in found.words and "p < 0.0001" in found.words


def test_t_equals_p_is_not_tested_on_guesses_on_pairs_or_on_one_class():
    assert "may all be guesses" in guess_test(simulate_ratings(T, 0.0, T, 200, 4, 2)[0]).words
    even = np.array([0.5, 0.5])
    assert "two annotations per case" in guess_test(simulate_ratings(even, 0.7, even, 50, 2)[0]).words
    one = Dataset.from_classes("one", list("ab"), list("xyz"), ["u", "v"], [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [0] * 6)
    assert guess_test(one).why_not == "all annotations name the same class"


def test_an_accuracy_on_its_bound_has_no_interval():
    dataset, _ = simulate_ratings(np.array([0.5, 0.5]), 1.0, np.array([0.5, 0.5]), 50, 3)
    found = tap_agreement(dataset)
    assert found.rates.total <= 1 and found.kappa.value == 1
    assert np.isnan(found.a_low).all() and (found.accuracy > 0.99).all()
    assert "fewer than 5 annotations seem to be guesses" in found.test.words


def test_the_part_says_what_the_numbers_are():
    dataset = load_sample("anaesthesia")
    part = MODELS.part("tap")
    found = part.answer(dataset)
    blocks = part.blocks(found, dataset)
    (finding,) = [one for one in blocks if isinstance(one, Finding)]
    rates = found.rates
    assert finding.text == (
        f"Expected agreement: {rates.total:.0%} (both know: {rates.accurate:.0%}; one knows: {rates.mixed:.0%}; "
        f"both guess: {rates.inaccurate:.0%})"
    )
    assert any(f"{found.test.words}." == one.plain for one in blocks if isinstance(one, Words))
    frame = part.frame(found, dataset)
    assert len(frame) == dataset.n_raters * dataset.n_classes
    assert frame.groupby("rater")["guesses"].sum().to_numpy() == pytest.approx(np.ones(dataset.n_raters))


def test_anonymous_raters_and_cases_with_one_annotation_are_not_judged():
    assert not MODELS.part("tap").applicable(load_sample("dermatology").as_classes()[0]).possible
    single = Dataset.from_classes("s", list("ab"), list("xy"), ["u", "v"], [0, 1], [0, 1], [0, 1])
    assert not MODELS.part("tap").applicable(single).possible
    with pytest.raises(NotApplicableError):
        tap_agreement(single)


def test_explored_ratings_have_what_was_chosen():
    part = MODELS.part("explore")
    options = part.resolve(t=0.4, p=0.4, a=0.8, cases=2000, raters=5, classes=2)
    found = part.answer(None, options)
    table = part.frame(found, None, options).set_index("measure")
    assert table["expected"]["Fleiss' κ"] == pytest.approx(0.64)
    assert table["value"]["Fleiss' κ"] == pytest.approx(0.64, abs=4 * found.coefficients["Fleiss' κ"].se)
    ac1 = found.coefficients["Gwet's AC1"]
    assert table["expected"]["Gwet's AC1"] == pytest.approx(ac1.value, abs=4 * ac1.se)
    downloads = {one.key: one.frame for one in every(part.blocks(found, None, options)) if isinstance(one, Download)}
    ratings = downloads["simulated_ratings_table"]
    assert len(ratings) == 10_000 and (ratings["truth"] == ratings[ratings.columns[2]]).mean() > 0.85
    assert table["value"]["Correct by t-a-p"] >= table["value"]["Correct by Majority vote"] - 0.02
    for wrong in ({"t": 1.2}, {"classes": 21}, {"cases": 200_000}):
        with pytest.raises(InputError):
            part.answer(None, part.resolve(**wrong))


def test_commands_give_the_tables(capsys, tmp_path):
    assert main(["tap", "anaesthesia"]) == 0
    said = capsys.readouterr().out
    assert '"guesses_follow_prevalence"' in said and '"mixed"' in said
    out = tmp_path / "ratings.csv"
    assert main(["simulate", "--a", "0.9", "--cases", "20", "--raters", "3", "--out", str(out), "--csv"]) == 0
    assert "Fleiss' κ" in capsys.readouterr().out and len(out.read_text().splitlines()) == 61
    assert main(["simulate", "--a", "2"]) == 2
