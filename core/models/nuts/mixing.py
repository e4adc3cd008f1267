"""Mixing of chains: rank-normalised split R-hat and effective sample sizes, for many quantities at once.

Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), "Rank-normalization, folding, and localization", DOI
10.1214/20-BA1221. Draws have shape (n_chains, n_draws, n_quantities); each function gives one number per quantity.
"""

import numpy as np

TAIL = 0.05


def r_hat(draws: np.ndarray) -> np.ndarray:
    """Compute the larger R-hat of the ranks and of the ranks of the distance from the median (section 4.1)."""
    halves = split_chains(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_plain_r_hat(rank_normal(halves)), _plain_r_hat(rank_normal(folded)))


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """Compute the effective sample size of the ranks, for the reliability of means."""
    return _ess(rank_normal(split_chains(draws)))


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """Compute the smaller effective sample size of the 5% and the 95% quantile, for the reliability of intervals."""
    halves = split_chains(draws)
    ends = np.quantile(draws, [TAIL, 1 - TAIL], axis=(0, 1))
    return np.minimum(*(_ess((halves <= end).astype(float)) for end in ends))


def split_chains(draws: np.ndarray) -> np.ndarray:
    """Split every chain into halves; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate((draws[:, :half], draws[:, draws.shape[1] - half :]))


def rank_normal(draws: np.ndarray) -> np.ndarray:
    """Compute ranks over all chains, ties averaged, as normal quantiles of (rank - 3/8) / (n + 1/4)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    flat = draws.reshape(-1, draws.shape[2])
    ranks = rankdata(flat, axis=0)
    return ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(draws.shape)


def _plain_r_hat(draws: np.ndarray) -> np.ndarray:
    n_draws = draws.shape[1]
    between = n_draws * draws.mean(axis=1).var(axis=0, ddof=1)
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((between / within + n_draws - 1) / n_draws)


def _ess(draws: np.ndarray) -> np.ndarray:
    """Compute the effective sample size by Geyer's initial monotone sequence of paired autocorrelations."""
    n_chains, n_draws, n_quantities = draws.shape
    correlation = _autocorrelation(draws)
    # The last lags rest on two or three products: left out, as in other implementations.
    pairs = correlation[: (n_draws - 3) // 2 * 2].reshape(-1, 2, n_quantities).sum(axis=1)
    # Summed while pairs stay positive, and no pair may exceed the one before it.
    positive = np.cumprod(pairs > 0, axis=0).astype(bool)
    positive[0] = True
    falling = np.minimum.accumulate(pairs, axis=0)
    total = np.where(positive, falling, 0.0).sum(axis=0)
    # The even term after the last pair, where it is positive, lowers the variance of the estimate.
    last = positive.sum(axis=0)
    after = np.take_along_axis(correlation, 2 * last[None], axis=0)[0]
    tau = -1.0 + 2.0 * total + np.maximum(after, 0.0)
    # What is the same in every draw, such as being below the largest value of a few, is known as well as can be.
    tau = np.where(np.ptp(draws, axis=(0, 1)) > 0, tau, 1.0)
    return n_chains * n_draws / np.maximum(tau, 1.0 / np.log10(n_chains * n_draws))


def _autocorrelation(draws: np.ndarray) -> np.ndarray:
    """Compute the autocorrelation of all chains together, by lag, shape (n_draws, n_quantities)."""
    from scipy.fft import irfft, next_fast_len, rfft

    n_chains, n_draws, _ = draws.shape
    means = draws.mean(axis=1)
    size = next_fast_len(2 * n_draws)
    spectrum = rfft(draws - means[:, None], size, axis=1)
    covariance = irfft((np.abs(spectrum) ** 2).mean(axis=0), size, axis=0)[:n_draws] / n_draws
    within = covariance[0] * n_draws / (n_draws - 1)
    total = covariance[0] + (means.var(axis=0, ddof=1) if n_chains > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0
    return correlation
