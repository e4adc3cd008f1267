"""Leave-one-case-out against exact answers of a conjugate model, counts against cases, and what is flagged."""

import numpy as np
import pytest
from scipy.special import betaln

from core.errors import InputError
from core.models.loo import as_in_paper, compare_loo, k_limit, psis_loo

N_TRIALS = 5
PRIOR = (2.0, 2.0)


def votes_of(seed, n_cases=60, share=0.35):
    return np.random.default_rng(seed).binomial(N_TRIALS, share, n_cases)


def posterior(votes, n_draws, seed):
    """Draws of the share that every case has in common."""
    a, b = PRIOR[0] + votes.sum(), PRIOR[1] + N_TRIALS * len(votes) - votes.sum()
    return np.random.default_rng(seed).beta(a, b, n_draws)


def log_likelihood(share, votes):
    """Of one ordered set of annotations with that many votes, shape (n_draws, len(votes))."""
    return votes * np.log(share)[:, None] + (N_TRIALS - votes) * np.log1p(-share)[:, None]


def exact_left_out(votes):
    """Log p(annotations of a case | all others), beta-binomial."""
    a = PRIOR[0] + votes.sum() - votes
    b = PRIOR[1] + N_TRIALS * (len(votes) - 1) - (votes.sum() - votes)
    return betaln(a + votes, b + N_TRIALS - votes) - betaln(a, b)


def collapsed(votes):
    values, pattern, count = np.unique(votes, return_inverse=True, return_counts=True)
    return values, pattern, count


def test_it_is_the_exact_leave_one_out_of_a_conjugate_model():
    """Within four Monte Carlo errors: the standard deviation over independent sets of draws."""
    votes = votes_of(1)
    values, pattern, count = collapsed(votes)
    runs = [
        psis_loo(log_likelihood(posterior(votes, 4_000, seed), values), count, pattern).by_case() for seed in range(20)
    ]
    error = np.std(runs, axis=0, ddof=1)
    exact = exact_left_out(votes)
    assert (np.abs(np.mean(runs, axis=0) - exact) < 4 * error / np.sqrt(len(runs)) + 1e-4).all()
    assert np.abs(runs[0].sum() - exact.sum()) < 4 * np.std(np.sum(runs, axis=1), ddof=1)
    assert not np.allclose(exact, log_likelihood(posterior(votes, 4_000, 0), votes).mean(axis=0), atol=3e-3)


def test_patterns_with_counts_are_the_same_as_their_cases_one_by_one():
    votes = votes_of(2)
    values, pattern, count = collapsed(votes)
    share = posterior(votes, 1_000, 3)
    short = psis_loo(log_likelihood(share, values), count, pattern)
    long = psis_loo(log_likelihood(share, votes), np.ones(len(votes), int), np.arange(len(votes)))
    assert short.elpd == pytest.approx(long.elpd, abs=1e-9)
    assert short.se == pytest.approx(long.se, abs=1e-9)
    assert short.p_loo == pytest.approx(long.p_loo, abs=1e-9)
    assert short.n_cases == long.n_cases == 60
    assert np.allclose(short.by_case(), long.by_case())
    assert short.elpd == pytest.approx(short.by_case().sum())
    assert short.se == pytest.approx(np.sqrt(60 * short.by_case().var(ddof=1)))


def test_one_free_parameter_counts_as_about_one():
    """Estimated over datasets, p_loo of a regular model with weak prior is near its number of parameters."""
    effective = []
    for seed in range(40):
        votes = votes_of(seed, n_cases=200)
        values, _, count = collapsed(votes)
        effective.append(psis_loo(log_likelihood(posterior(votes, 1_000, seed), values), count).p_loo)
    assert np.mean(effective) == pytest.approx(1, abs=4 * np.std(effective, ddof=1) / np.sqrt(40) + 0.03)


def test_a_case_that_the_others_rule_out_is_flagged():
    """The annotations of the last case move the posterior so far that its weights have no finite variance."""
    rng = np.random.default_rng(4)
    values = np.append(rng.normal(0, 1, 30), 12.0)
    mean, sd = values.mean(), 1 / np.sqrt(len(values))
    draws = rng.normal(mean, sd, 4_000)
    narrow = -0.5 * ((values - draws[:, None]) / 0.2) ** 2
    loo = psis_loo(narrow, np.ones(31, int))
    assert loo.pareto_k[-1] == loo.pareto_k.max() > loo.k_limit == 0.7
    assert loo.n_high_k == (loo.pareto_k > 0.7).sum() >= 1
    twice = psis_loo(narrow, np.full(31, 2))
    assert twice.n_high_k == 2 * loo.n_high_k


def test_a_model_without_parameters_needs_no_weights():
    """Leaving a case out of a model that learns nothing changes nothing."""
    votes = np.array([0, 2, 5])
    loo = psis_loo(log_likelihood(np.full(200, 0.3), votes), np.array([3, 2, 1]))
    exact = log_likelihood(np.array([0.3]), votes)[0]
    assert loo.pointwise == pytest.approx(exact) and loo.p_loo == pytest.approx(0, abs=1e-9)
    assert loo.n_high_k == 0 and np.isneginf(loo.pareto_k).all()


def test_a_tail_that_cannot_be_fitted_is_flagged_and_not_smoothed():
    """Two different draws only: no tail; plain importance weights remain."""
    share = np.repeat([0.2, 0.4], 100)
    votes = np.array([1, 4])
    values = log_likelihood(share, votes)
    loo = psis_loo(values, np.array([1, 1]))
    assert np.isposinf(loo.pareto_k).all() and loo.n_high_k == 2
    assert loo.pointwise == pytest.approx(-np.log(np.exp(-values).mean(axis=0)))


def test_models_are_compared_case_by_case_whatever_their_patterns():
    """One model collapses cases by votes, the other does not; the difference is that of the cases."""
    votes = np.append(votes_of(5), 0)
    values, pattern, count = collapsed(votes)
    share = posterior(votes, 1_000, 6)
    good = psis_loo(log_likelihood(share, values), count, pattern)
    poor = psis_loo(log_likelihood(np.full(200, 0.6), votes), np.ones(61, int), np.arange(61))
    rows = compare_loo({"poor": poor, "good": good})
    assert [row.name for row in rows] == ["good", "poor"]
    assert (rows[0].difference, rows[0].difference_se) == (0, 0)
    gap = poor.by_case() - good.by_case()
    assert rows[1].difference == pytest.approx(gap.sum()) == pytest.approx(poor.elpd - good.elpd)
    assert rows[1].difference_se == pytest.approx(np.sqrt(61 * gap.var(ddof=1)))
    assert rows[1].difference_se != pytest.approx(np.hypot(poor.se, good.se), rel=0.1)
    assert compare_loo({}) == ()


def test_a_case_without_annotations_is_no_case_to_predict():
    votes = votes_of(7)
    values, pattern, count = collapsed(votes)
    share = posterior(votes, 500, 8)
    without = psis_loo(log_likelihood(share, values), count, pattern)
    empty = psis_loo(log_likelihood(share, values), count, np.append(pattern, -1))
    assert empty.by_case()[-1] == 0 and empty.elpd == without.elpd and empty.se == without.se
    with pytest.raises(InputError, match="different cases"):
        compare_loo({"with": without, "without": empty})


def test_a_single_case_has_no_standard_error():
    loo = psis_loo(log_likelihood(posterior(np.array([2]), 500, 9), np.array([2])), np.array([1]))
    assert loo.se is None


# Cases of each annotation pattern of five dentists, from 00000, the fifth changing fastest [Espeland & Handelman 1989].
CARIES = """1880 789 43 75 23 63 8 22 188 191 17 67 15 85 8 56
            22 26 6 14 1 20 2 17 2 20 6 27 3 72 1 100"""


def test_five_free_shares_have_the_published_score_of_dawid_skene():
    """Dawid-Skene leaves each rater's share of positive annotations free: scored one by one, they are five coins.

    Table 2 of Han et al. prints -8749.87 for ABC on caries; their priors move it by less than a tenth.
    """
    count = np.array(CARIES.split(), np.int64)
    answer = (np.arange(32)[:, None] >> np.arange(4, -1, -1)) & 1
    ones = count @ answer
    share = np.random.default_rng(11).beta(ones + 1, 3_869 - ones + 1, (4_000, 5))
    score = as_in_paper([(np.log(np.hstack([share, 1 - share])), np.append(ones, 3_869 - ones))])
    assert score.n_annotations == 19_345
    assert score.elpd == pytest.approx(-8749.87, abs=0.2)


def test_per_annotation_score_is_leave_one_annotation_out():
    """Against the exact predictive of a beta-binomial, annotations of one kind standing once with their number."""
    ones, n = 37, 120
    share = np.random.default_rng(10).beta(PRIOR[0] + ones, PRIOR[1] + n - ones, 20_000)
    block = np.log(np.column_stack([share, 1 - share]))
    exact = [(PRIOR[0] + ones - 1) / (sum(PRIOR) + n - 1), (PRIOR[1] + n - ones - 1) / (sum(PRIOR) + n - 1)]
    score = as_in_paper([(block, np.array([ones, n - ones]))])
    assert score.elpd == pytest.approx(ones * np.log(exact[0]) + (n - ones) * np.log(exact[1]), abs=0.02)
    assert score.n_annotations == n and score.n_high_k == 0
    split = as_in_paper((block[:, [k]], np.array([count])) for k, count in enumerate((ones, n - ones)))
    assert (split.elpd, split.se) == pytest.approx((score.elpd, score.se))
    with pytest.raises(InputError, match="no annotations"):
        as_in_paper([])


def test_the_limit_of_k_is_stricter_for_few_draws():
    assert k_limit(4_000) == 0.7
    assert k_limit(1_000) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("values", "count", "pattern", "message"),
    [
        (np.zeros((200, 3)), [1, 1], None, "Could not score the model: log probabilities of shape"),
        (np.zeros((200, 2)), [1, 0], None, "Could not score the model: log probabilities of shape"),
        (np.zeros((50, 2)), [1, 1], None, "50 draws"),
        (np.full((200, 1), -np.inf), [1], None, "not finite"),
        (np.zeros((200, 2)), [1, 1], [0, 0], "describe different cases"),
    ],
)
def test_what_does_not_fit_is_said(values, count, pattern, message):
    with pytest.raises(InputError, match=message):
        psis_loo(values, np.array(count), None if pattern is None else np.array(pattern))
    if pattern is None and "fit" not in message:
        with pytest.raises(InputError, match=message):
            as_in_paper([(values, np.array(count))])


def test_values_by_case_need_to_know_the_cases():
    loo = psis_loo(np.zeros((200, 2)), np.array([1, 1]))
    with pytest.raises(InputError, match="case_pattern"):
        loo.by_case()
