"""Mixture Plackett-Luce against sums over every u, today's chain, and its own calibration."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import betaln, gammaln

from core.annotations.dataset import Dataset
from core.errors import Cancelled, InputError, NotApplicableError
from core.ingest.samples import load_sample
from core.plausibility.plackett_luce import trust as trust_module
from core.plausibility.plackett_luce import trust_chain
from core.plausibility.plackett_luce._attention_kernels import keyed_uniform
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.plackett_luce.popularity import class_popularity
from core.plausibility.plackett_luce.trust import MixturePlackettLuce
from core.plausibility.plackett_luce.trust_prior import beta_mode
from core.plausibility.plackett_luce.trust_tables import chain_streams
from core.runtime.chunks import CancelToken
from tests.benchmarks.rater_trust import DESIGNS, calibrate, true_accuracy

SURE = (1e18, 1e-18)  # every a_j is 1 in double precision
PRIOR = (3.0, 1.5)
N = 20_000
ANSWERS = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 2), (1, 1, 2), (1, 2, 3), (2, 0, 3), (2, 1, 0)]


@pytest.fixture(autouse=True)
def no_kept_fits():
    """Nothing from one test is found by another."""
    trust_module._fits.clear()


def shares(draws):
    """Shares with the rest as one more column, where there is a rest."""
    return np.column_stack([draws.share, draws.rest]) if draws.n_rest else draws.share


def same(first, second):
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("share", "rest", "top"))


def every_u(dataset, log_case, prior):
    """Each u of all annotations with its posterior probability; ``log_case(case, u of the case)`` given a cleared λ."""
    states = np.array(list(product([0, 1], repeat=dataset.n_annotations)))
    logs = np.empty(len(states))
    n = np.bincount(dataset.rater, minlength=dataset.n_raters)
    tables = [
        {u: log_case(case, u) for u in product([0, 1], repeat=len(dataset.annotations_of(case)))}
        for case in range(dataset.n_cases)
    ]
    for row, u in enumerate(states):
        s = np.bincount(dataset.rater, u, dataset.n_raters)
        logs[row] = (betaln(prior[0] + s, prior[1] + n - s) - betaln(*prior)).sum()
        for case in range(dataset.n_cases):
            logs[row] += tables[case][tuple(u[dataset.case_ptr[case] : dataset.case_ptr[case + 1]])]
    weight = np.exp(logs - logs.max())
    return states, weight / weight.sum()


def assert_trust(slow, fit, states, weight, prior):
    """Means and squares of a, and P(u = 1), are those of the sum over every u."""
    tables = fit.tables
    n = np.bincount(tables.rater, minlength=tables.n_raters)
    s = np.array([np.bincount(tables.rater, u, tables.n_raters) for u in states])
    a, b = prior[0] + s, prior[1] + n - s
    drawn = fit.trust[0, fit.model.n_burn + 1 :]
    slow.assert_means(drawn, weight @ (a / (a + b)))
    slow.assert_means(np.square(drawn), weight @ (a * (a + 1) / (a + b) / (a + b + 1)))
    assert fit.attended == pytest.approx(weight @ states, abs=0.03)


@pytest.mark.parametrize("reliability", [0.5, 1.0, 2.5])
def test_with_every_rater_trusted_the_chain_is_that_of_plackett_luce_draw_by_draw(reliability):
    """The prior of `PlackettLuce`, one chain, and a = 1."""
    dataset = load_sample("skin").select(cases=[f"skin-{number:03d}" for number in range(1, 25)])
    model = MixturePlackettLuce(alpha=1.0, n_chains=1, trust_prior=SURE)
    asked = {"reliability": reliability, "n_draws": 60, "seed": 5}
    assert (model.fit(dataset, **asked).trust == 1).all()
    for (_, ours), (_, theirs) in zip(
        model.draws(dataset, **asked), PlackettLuce(least_ess=0.0).draws(dataset, **asked), strict=True
    ):
        assert same(ours, theirs)
        assert ours.seed == theirs.seed and ours.rest_shape == theirs.rest_shape


@pytest.mark.parametrize(("alpha", "reliability"), [(None, 1.0), (None, 2.0), (1.0, 1.0), (1.0, 0.5)])
def test_single_classes_have_the_posterior_of_the_sum_over_every_u(alpha, reliability, build, slow):
    """Given u, a case is a Dirichlet-multinomial of counts with u = 1, each γ times, and p(b | g)^γ for the others."""
    dataset = build(ANSWERS, 5)
    guess = class_popularity(dataset).log_likelihood

    def log_case(case, u):
        own = np.array(dataset.annotations_of(case))
        named = np.unique(dataset.answer[own])
        shape = np.full(5, 0.4) if alpha is None else np.where(np.isin(np.arange(5), named), 1.0, 1 / (5 - len(named)))
        counts = reliability * np.bincount(dataset.answer[own], u, 5)
        value = gammaln(shape.sum()) - gammaln(shape.sum() + counts.sum())
        value += (gammaln(shape + counts) - gammaln(shape)).sum()
        return value + reliability * guess[own] @ (1 - np.array(u))

    states, weight = every_u(dataset, log_case, PRIOR)
    model = MixturePlackettLuce(2.0, alpha, n_chains=1, trust_prior=PRIOR, trust_at=None)
    fit = model.fit(dataset, reliability=reliability, n_draws=N, seed=1)
    assert_trust(slow, fit, states, weight, PRIOR)
    draws = dict(model.draws(dataset, reliability=reliability, n_draws=N, seed=1))
    for case in range(dataset.n_cases):
        own = np.array(dataset.annotations_of(case))
        named = draws[case].classes
        shape = np.full(len(named), 0.4 if alpha is None else 1.0)
        total = 2.0 if alpha is None else len(named) + 1.0
        counts = reliability * (states[:, own][:, :, None] * (dataset.answer[own][:, None] == named)).sum(axis=1)
        exact = weight @ ((shape + counts) / (total + counts.sum(axis=1, keepdims=True)))
        slow.assert_means(draws[case].share, exact)


@pytest.mark.parametrize("reliability", [1.0, 1.5])
def test_rankings_have_the_posterior_of_the_sum_over_every_u_and_the_simplex(reliability, slow):
    """Ties, orders, and classes that one rater alone names, whose λ moves together with u."""
    cases = [[[[0]], [[0, 1]], [[2], [0]]], [[[1], [2]], [[1]], [[0, 2]]]]
    dataset = slow.dataset_of(cases, 3)
    lam, guess = slow.triangle(150), class_popularity(dataset).log_likelihood
    like = [[slow.likelihood(blocks, lam) ** reliability for blocks in case] for case in cases]

    def log_case(case, u):
        kept = np.prod([x if on else np.ones(len(lam)) for x, on in zip(like[case], u, strict=True)], axis=0)
        return np.log(kept.mean()) + reliability * guess[3 * case : 3 * case + 3] @ (1 - np.array(u))

    states, weight = every_u(dataset, log_case, PRIOR)
    model = MixturePlackettLuce(3.0, n_chains=1, trust_prior=PRIOR, trust_at=None)
    fit = model.fit(dataset, reliability=reliability, n_draws=N, seed=2)
    assert_trust(slow, fit, states, weight, PRIOR)
    ((_, draws),) = model.draws(dataset, reliability=reliability, n_draws=N, seed=2, cases=range(1))
    exact = np.zeros(3)
    for u, w in zip(states, weight, strict=True):
        kept = np.prod([x if on else np.ones(len(lam)) for x, on in zip(like[0], u[:3], strict=True)], axis=0)
        exact += w * (kept @ lam) / kept.sum()
    slow.assert_means(shares(draws), exact, 3e-4)


def known_trust(dataset, mean):
    """Trusts in hand, of which only the means are used."""
    found = MixturePlackettLuce(trust_prior=PRIOR, n_burn=0).fit(dataset, reliability=1.0, n_draws=2).raters
    return replace(found, mean=np.array(mean))


@pytest.mark.parametrize("reliability", [0.5, 2.0])
def test_with_trusts_held_draws_have_the_posterior_of_the_sum_over_every_u(reliability, build, slow):
    """Each u has its prior from the trust that is held, whatever the γ of the plausibilities."""
    dataset = build(ANSWERS, 5)
    guess, trust = class_popularity(dataset).log_likelihood, np.array([0.9, 0.3, 0.6])
    model = MixturePlackettLuce(2.0, trusted=known_trust(dataset, trust))
    for case, draws in model.draws(dataset, reliability=reliability, n_draws=N, seed=1):
        own = np.array(dataset.annotations_of(case))
        answers, a = dataset.answer[own], trust[dataset.rater[own]]
        logs, means = [], []
        for u in map(np.array, product([0, 1], repeat=len(own))):
            shape = 0.4 + reliability * np.bincount(answers, u, 5)
            log = np.log(np.where(u, a, 1 - a)).sum() + reliability * guess[own] @ (1 - u)
            logs.append(log + gammaln(2.0) - gammaln(shape.sum()) + (gammaln(shape) - gammaln(0.4)).sum())
            means.append(shape[draws.classes] / shape.sum())
        weight = np.exp(np.array(logs) - max(logs))
        slow.assert_means(draws.share, weight @ np.array(means) / weight.sum())


def test_trusts_in_hand_spare_the_chain_over_all_cases_and_give_the_same_draws(monkeypatch):
    """Trusts do not depend on the γ of the plausibilities; they belong to as many raters as they were estimated of."""
    dataset = load_sample("skin").select(cases=[f"skin-{number:03d}" for number in range(1, 41)])
    asked, model = {"n_draws": 40, "seed": 3}, MixturePlackettLuce(n_burn=60)
    raters = model.fit(dataset, reliability=1.0, **asked).raters
    assert np.array_equal(model.fit(dataset, reliability=5.0, **asked).raters.mean, raters.mean)
    assert raters.held and any("estimated at γ = 1 and stay fixed" in note for note in raters.notes)
    drawn = dict(model.draws(dataset, reliability=5.0, **asked))
    trust_module._fits.clear()
    monkeypatch.setattr(trust_module, "run_chain", None)
    for case, draws in replace(model, trusted=raters).draws(dataset, reliability=5.0, **asked):
        assert same(draws, drawn[case])
    with pytest.raises(InputError, match="the data have 12"):
        next(replace(model, trusted=replace(raters, mean=raters.mean[:3])).draws(dataset, reliability=5.0, **asked))


@pytest.mark.parametrize("name", ["ties and orders", "every ranking twice"])
def test_trust_has_uniform_ranks_among_its_draws(name):
    """At γ = 2 on rankings that stand twice with one u."""
    assert (calibrate(DESIGNS[name], 200) > 1e-4).all()


def test_rankings_that_stand_twice_counted_once_fail_the_same_check():
    assert (calibrate(DESIGNS["every ranking twice"], 400, reliability=0.25) < 1e-4).any()


def test_nothing_depends_on_chunks_or_on_which_cases_are_drawn(monkeypatch):
    dataset = load_sample("skin").select(cases=[f"skin-{number:03d}" for number in range(1, 41)])
    asked = {"reliability": 1.5, "n_draws": 40, "seed": 3}
    model = MixturePlackettLuce(n_burn=60)
    whole, drawn = model.fit(dataset, **asked), dict(model.draws(dataset, **asked))
    trust_module._fits.clear()
    monkeypatch.setattr(trust_chain, "CHUNK_CASES", 7)
    parts = model.fit(dataset, **asked)
    assert parts is not whole
    assert np.array_equal(parts.trust, whole.trust) and np.array_equal(parts.attended, whole.attended)
    assert parts.prior == whole.prior
    for case, draws in model.draws(dataset, **asked, cases=range(11, 17)):
        assert same(draws, drawn[case])
    fewer = dataset.select(cases=dataset.cases[:20])
    assert not np.array_equal(model.fit(fewer, **asked).trust[0, -1], whole.trust[0, -1])
    assert any("from all cases" in note for note in whole.raters.notes)


def test_the_draws_of_a_case_are_those_of_the_chain_over_all_cases(monkeypatch):
    """u of the chain that is run again adds up to what the chain over all cases counted at every sweep."""
    dataset = load_sample("skin").select(cases=[f"skin-{number:03d}" for number in range(1, 13)])
    counted = []
    kernel = trust_chain.advance_cases

    def listen(*arguments):
        kernel(*arguments)
        counted.append(arguments[-3].copy())  # u of every annotation after the sweep

    monkeypatch.setattr(trust_chain, "advance_cases", listen)
    model = MixturePlackettLuce(n_burn=50, n_chains=1, trust_at=None)
    model.fit(dataset, reliability=2.0, n_draws=30, seed=4)
    again = []
    replay = trust_module.replay

    def keep(*arguments):
        drawn = replay(*arguments)
        again.append(arguments[-1])
        return drawn

    monkeypatch.setattr(trust_module, "replay", keep)
    list(model.draws(dataset, reliability=2.0, n_draws=30, seed=4))
    assert len(counted) == 80
    assert np.array_equal(np.concatenate(again), counted[-1])
    assert 0 < counted[-1].mean() < 1


def test_who_guesses_by_popularity_is_trusted_least():
    """On the skin sample R07 annotates 42% of cases without looking; the least trusted are the least accurate.

    The eight others are all trusted at 0.99, in an order that the seed decides.
    """
    dataset = load_sample("skin")
    raters = MixturePlackettLuce().fit(dataset, reliability=3.0, n_draws=1000, seed=0).raters
    assert raters.raters[raters.mean.argmin()] == "R07"
    assert raters.place[raters.raters.index("R07")] == 12
    least_trusted, least_accurate = (set(np.argsort(each)[:4]) for each in (raters.mean, true_accuracy(dataset)))
    assert least_trusted == least_accurate
    assert (raters.ci_low <= raters.mean).all() and (raters.mean <= raters.ci_high).all()
    assert raters.ci_high[raters.raters.index("R07")] < raters.ci_low[raters.raters.index("R06")]
    assert raters.n.sum() == dataset.n_annotations


def test_two_cases_that_all_agree_on_are_sure_and_all_raters_are_trusted_alike(build):
    dataset = build([(case, rater, case) for case in range(2) for rater in range(5)], 4)
    model = MixturePlackettLuce()
    raters = model.fit(dataset, reliability=3.0, n_draws=1000).raters
    assert (raters.mean > 0.7).all() and np.ptp(raters.mean) < 0.05
    for case, draws in model.draws(dataset, reliability=3.0, n_draws=1000, seed=0):
        assert draws.classes.tolist() == [case]
        assert (draws.top[:, 0] == 0).mean() > 0.97
        assert shares(draws).sum(axis=1) == pytest.approx(np.ones(1000))


def test_a_rater_with_one_annotation_is_known_little(build):
    rows = [(case, rater, case % 4) for case in range(40) for rater in range(3)]
    dataset = build([*rows, (0, 3, 0)], 4)
    raters = MixturePlackettLuce(trust_prior=PRIOR).fit(dataset, reliability=1.0, n_draws=2000).raters
    assert raters.n.tolist() == [40, 40, 40, 1]
    a, b = PRIOR[0] + 1, PRIOR[1]  # at most what one u = 1 tells
    sd = np.sqrt(a * b / (a + b) ** 2 / (a + b + 1))
    assert raters.sd[3] > 0.9 * sd > raters.sd[:3].max()


def test_anonymous_raters_and_scores_are_refused(build):
    dataset = replace(build([(0, 0, 0), (0, 1, 1)], 2), raters_identified=False)
    with pytest.raises(NotApplicableError, match="anonymous"):
        MixturePlackettLuce().fit(dataset, reliability=1.0)
    scores = Dataset.from_scores("s", ["a"], ["r"], np.array([0]), np.array([0]), np.array([0.5]))
    with pytest.raises(NotApplicableError, match="Could not rank scores"):
        MixturePlackettLuce().fit(scores, reliability=1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"concentration": 0},
        {"alpha": 0.5},
        {"depth": 0},
        {"n_chains": 0},
        {"n_burn": 10},
        {"trust_prior": (1.0, 0.0)},
        {"trust_at": 0},
    ],
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(InputError):
        MixturePlackettLuce(**wrong)


def test_a_chain_can_be_stopped_and_tells_how_far_it_is(build):
    dataset, told, token = build([(0, 0, 0), (0, 1, 1), (1, 0, 1)], 2), [], CancelToken()
    model = MixturePlackettLuce(n_burn=50)
    model.fit(dataset, reliability=1.0, n_draws=20, progress=told.append)
    assert told == sorted(told) and told[-1] == 1 and len(told) == 120

    def stop(share):
        if share > 0.3:
            token.cancel()

    with pytest.raises(Cancelled):
        model.fit(dataset, reliability=1.0, n_draws=20, seed=1, progress=stop, token=token)


def test_repeats_of_a_rater_have_streams_of_their_own(build):
    dataset = build([(0, 0, 0), (0, 0, 0), (0, 1, 0), (1, 0, 1)], 2)
    streams = chain_streams(dataset, 0, "x", 0)
    assert len(set(streams.key.tolist())) == 4
    assert np.array_equal(streams.key[:3], chain_streams(dataset.select(cases=["case 0"]), 0, "x", 0).key)


def test_streams_are_split_mix():
    """The published first numbers of the generator with seed 1234567."""
    numbers = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [keyed_uniform(np.uint64(1234567), t) for t in range(3)] == [(x >> 11) / 2**53 for x in numbers]


def test_the_prior_of_trust_is_at_the_top_of_a_grid():
    rng = np.random.default_rng(0)
    a = rng.beta(12, 3, 40)
    log_trust, log_distrust = np.log(a).sum(), np.log1p(-a).sum()

    def value(x, y):
        m, total = x / (x + y), x + y
        found = -40 * betaln(x, y) + (x - 1) * log_trust + (y - 1) * log_distrust
        return found + 7 * np.log(m) + np.log(1 - m) - 0.5 * (np.log(total) - np.log(10)) ** 2

    x, y = beta_mode(40, log_trust, log_distrust)
    xs, ys = np.meshgrid(np.linspace(1.01, 40, 800), np.linspace(1.01, 12, 800), indexing="ij")
    assert value(x, y) >= value(xs, ys).max() - 1e-6
    assert beta_mode(0, 0.0, 0.0) == pytest.approx((8.75, 1.25), abs=1e-3)


def test_the_time_is_told_from_the_seconds_of_a_few_cases(monkeypatch):
    """With a clock that moves one second at each look: one second a pilot of 40 sweeps, and one for its tables.

    Held trusts are estimated once for any number of γ, and not at all where they are in hand.
    """
    dataset = load_sample("skin").select(cases=[f"skin-{number:03d}" for number in range(1, 31)])
    model = MixturePlackettLuce(n_burn=100)
    known = replace(model, trusted=known_trust(dataset, [0.8] * 12))
    clock = iter(range(100))
    monkeypatch.setattr(trust_module, "perf_counter", lambda: float(next(clock)))
    asked, chain = {"reliability": 1.0, "n_draws": 600}, 2 * (100 + 300) / 40
    assert model.expected_seconds(dataset, **asked) == pytest.approx(1 + 2 * chain)
    assert model.expected_seconds(dataset, **asked, n_reliabilities=5) == pytest.approx(1 + 6 * chain)
    assert known.expected_seconds(dataset, **asked) == pytest.approx(1 + chain)
    together = replace(model, trust_at=None).expected_seconds(dataset, **asked, n_reliabilities=5)
    assert together == pytest.approx(1 + 10 * chain)
