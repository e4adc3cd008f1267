import warnings

import numpy as np
import pytest

from core.models.nuts.diagnostics import estimates, quantity_name
from core.models.nuts.mixing import ess_bulk, ess_tail, r_hat


@pytest.fixture
def dataset(build):
    return build([(0, 0, 0), (0, 1, 1), (1, 0, 2)], 3)


def verdict(draws, dataset, divergent=None, name="accuracy"):
    n_chains, n_draws = draws.shape[:2]
    divergent = np.zeros((n_chains, n_draws), bool) if divergent is None else divergent
    return estimates({name: draws.reshape(n_chains * n_draws, *draws.shape[2:])}, divergent, dataset, 0.9)


def test_independent_draws_converge_and_give_means_and_intervals(dataset):
    draws = np.random.default_rng(0).normal([5.0, 6.0], [1.0, 2.0], (4, 1000, 2))
    found, diagnostics = verdict(draws, dataset)
    assert diagnostics.converged and diagnostics.rhat_max < 1.01 and diagnostics.ess_bulk_min > 2000
    assert diagnostics.ess_tail_min > 2000
    assert diagnostics.words.startswith("Converged: R-hat at most 1.00")
    assert (diagnostics.n_chains, diagnostics.n_draws, diagnostics.n_divergent) == (4, 1000, 0)
    one = found["accuracy"]
    np.testing.assert_allclose(one.mean, [5, 6], atol=0.15)
    np.testing.assert_allclose(one.sd, [1, 2], atol=0.15)
    np.testing.assert_allclose(one.high - one.low, [2 * 1.645, 4 * 1.645], rtol=0.08)
    assert one.ess.shape == one.rhat.shape == (2,)


def test_chains_at_different_places_have_not_converged(dataset):
    draws = np.random.default_rng(0).normal(size=(4, 1000, 2))
    draws[0, :, 1] += 1
    _, diagnostics = verdict(draws, dataset)
    assert not diagnostics.converged
    assert diagnostics.worst == "the accuracy of rater rater 1"
    assert (
        diagnostics.words
        == f"Not converged: R-hat {diagnostics.rhat_max:.2f} for {diagnostics.worst}. Run longer chains."
    )


def test_short_chains_have_not_converged_even_where_they_agree(dataset):
    draws = np.random.default_rng(3).normal(size=(4, 80, 1))
    _, diagnostics = verdict(draws, dataset)
    assert not diagnostics.converged and diagnostics.ess_bulk_min < 400
    assert diagnostics.words.startswith("Not converged")


def test_chains_that_stand_still_have_not_converged(dataset):
    draws = np.repeat(np.arange(4.0)[:, None, None], 500, axis=1)
    _, diagnostics = verdict(draws, dataset)
    assert not diagnostics.converged and "R-hat above 10 for" in diagnostics.words


def test_too_few_draws_and_nothing_to_draw_differ(dataset):
    _, short = verdict(np.random.default_rng(0).normal(size=(2, 5, 1)), dataset)
    assert not short.converged and "too short to check" in short.words and short.rhat_max is None
    _, empty = estimates({}, np.zeros((4, 100), bool), dataset, 0.95)
    assert empty.converged and "Nothing to sample" in empty.words


def test_what_never_varies_says_nothing_of_the_chains(dataset):
    draws = np.random.default_rng(0).normal(size=(4, 1000, 3))
    draws[..., 1] = 0.25
    draws[..., 2] = 1 / 3 + 1e-17 * draws[..., 0]
    found, diagnostics = verdict(draws, dataset, name="something")
    assert diagnostics.converged
    assert np.isnan(found["something"].rhat[1:]).all() and np.isnan(found["something"].ess[1:]).all()


def test_divergences_are_counted_in_the_sentence(dataset):
    draws = np.random.default_rng(0).normal(size=(4, 1000, 1))
    divergent = np.zeros((4, 1000), bool)
    divergent[1, :20] = True
    _, diagnostics = verdict(draws, dataset, divergent)
    assert diagnostics.n_divergent == 20
    assert "20 of 4,000 draws diverged (0.5%)" in diagnostics.words


@pytest.mark.parametrize(
    ("name", "index", "words"),
    [
        ("prevalence", (), "the prevalence"),
        ("prevalence", (2,), "the prevalence of class 2"),
        ("accuracy", (1,), "the accuracy of rater rater 1"),
        ("confusion", (0, 1, 1), "how often rater rater 0 annotates class 1 correctly"),
        ("confusion", (0, 1, 2), "how often rater rater 0 annotates class 1 as class 2"),
        ("tau", (0, 2), "the raters' spread (class 0 annotated as class 2)"),
        ("alpha_sens", (1,), "the sensitivity (log-odds) of rater rater 1"),
        ("new_thing", (7,), "new thing"),
    ],
)
def test_quantities_have_words(dataset, name, index, words):
    assert quantity_name(name, index, dataset) == words


@pytest.fixture(scope="module", params=[(4, 500), (2, 301), (3, 60)])
def draws(request):
    """White noise, a random walk, slow and antithetic chains, one chain elsewhere, heavy tails, ties, another scale."""
    n_chains, n_draws = request.param
    rng = np.random.default_rng(n_draws)
    x = rng.normal(size=(n_chains, n_draws, 8))
    x[..., 1] = x[..., 1].cumsum(axis=1)
    for t in range(1, n_draws):
        x[:, t, 2] += 0.9 * x[:, t - 1, 2]
        x[:, t, 3] -= 0.5 * x[:, t - 1, 3]
    x[0, :, 4] += 1
    x[..., 5] = np.exp(3 * x[..., 5])
    x[..., 6] = np.round(x[..., 6])
    x[0, :, 7] *= 5
    return x


@pytest.mark.parametrize(("ours", "method"), [(r_hat, None), (ess_bulk, "bulk"), (ess_tail, "tail")])
def test_numbers_are_those_of_arviz(draws, ours, method):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\s*ArviZ is undergoing a major refactor", category=FutureWarning)
        import arviz

    for quantity, value in enumerate(ours(draws)):
        one = draws[..., quantity]
        theirs = arviz.rhat(one) if method is None else arviz.ess(one, method=method)
        assert value == pytest.approx(theirs, rel=1e-9)


def test_independent_draws_count_in_full_and_stuck_ones_not():
    rng = np.random.default_rng(1)
    good = rng.normal(size=(4, 2000, 50))
    assert (r_hat(good) < 1.01).all()
    # The estimate has a relative standard error of a few per cent at this length.
    assert np.abs(ess_bulk(good) / 8000 - 1).max() < 0.35
    stuck = good + 3 * np.arange(4)[:, None, None]
    assert (r_hat(stuck) > 1.5).all() and (ess_bulk(stuck) < 20).all()
