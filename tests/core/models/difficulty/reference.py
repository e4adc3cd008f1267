"""Slow and obvious: the difficulty models written down as in the paper, and draws from their priors."""

import numpy as np
from scipy import stats

from core.annotations.dataset import Dataset
from core.models.difficulty.density import DifficultyDensity, Specification
from core.models.difficulty.names import TAGS, switches

ALL = [(tag, cooperative) for tag in TAGS for cooperative in (True, False)]


def logistic(x):
    return 1 / (1 + np.exp(-x))


def small_data(seed=0, n_cases=12, n_raters=3, most=3):
    """Gaps, a rater who annotates twice on a case, a case without annotations, a rater without any."""
    rng = np.random.default_rng(seed)
    rows = [(0, 0, 1), (0, 0, 1), (0, 1, 0)]
    for case in range(1, n_cases - 1):
        chosen = rng.choice(n_raters, size=rng.integers(1, most + 1), replace=False)
        rows += [(case, rater, int(rng.random() < 0.4)) for rater in chosen]
    case, rater, answer = np.array(rows).T
    names = ([f"{kind}{number}" for number in range(size)] for kind, size in (("c", n_cases), ("r", n_raters + 1)))
    return Dataset.from_classes("small", *names, ["no", "yes"], case, rater, answer)


def density_of(dataset, tag, cooperative=True, **rest):
    return DifficultyDensity(dataset, Specification(tag, cooperative, **rest))


def parameters(density, theta):
    """π and the α [rater, spec and sens] of unscaled coordinates, as their documentation says."""
    on, cooperative, n_raters = density.on, density.specification.cooperative, density.dataset.n_raters
    if density.ndim == 0:
        return 1.0, np.zeros((n_raters, 2))
    n_alpha = n_raters if on.ability else 1
    alpha = np.empty((n_raters, 2))
    for rater in range(n_raters):
        place = 1 + (rater if on.ability else 0)
        if on.bias:
            u = theta[place + n_alpha]
            alpha[rater, 0] = theta[place]
            alpha[rater, 1] = np.log(1 + np.exp(u)) - theta[place] if cooperative else u
        else:
            alpha[rater] = np.log(1 + np.exp(theta[place])) if cooperative else theta[place]
    return logistic(theta[0]), alpha


def normal_nodes(n_nodes):
    value, weight = np.polynomial.hermite_e.hermegauss(n_nodes)
    return list(zip(value, weight / weight.sum(), strict=True))


def case_likelihood(prevalence, alpha, raters, answers, on):
    """P(annotations of one case) by loops over ready-made rules, finer than those of the density."""
    betas = normal_nodes(41) if on.difficulty else [(0.0, 1.0)]
    deltas = [(np.exp(0.25 * x), w) for x, w in normal_nodes(15)] if on.discrimination else [(1.0, 1.0)]
    lambdas = (np.zeros(1), np.ones(1))
    if on.guessing:
        value, weight = np.polynomial.legendre.leggauss(12)
        lam = (1 + value) / 2
        lambdas = (lam, 3 * weight * lam * (1 - lam))
    total = 0.0
    for z, p_z in ((0, 1 - prevalence), (1, prevalence)):
        for beta, w_beta in betas:
            for delta, w_delta in deltas:
                product = np.ones(lambdas[0].size)
                for rater, answer in zip(raters, answers, strict=True):
                    right = lambdas[0] + (1 - lambdas[0]) * logistic(delta * (alpha[rater, z] - beta))
                    product *= right if answer == z else 1 - right
                total += p_z * w_beta * w_delta * (product @ lambdas[1])
    return total


def log_density(density, theta):
    """Log posterior with normalised priors (not renormalised after the cut) and numerical Jacobians."""
    prevalence, alpha = parameters(density, theta)
    data, on = density.dataset, density.on
    value = 0.0
    for case in range(data.n_cases):
        own = slice(data.case_ptr[case], data.case_ptr[case + 1])
        value += np.log(case_likelihood(prevalence, alpha, data.rater[own], data.answer[own], on))
    if density.ndim == 0:
        return value
    n_alpha = data.n_raters if on.ability else 1
    value += stats.beta.logpdf(prevalence, 2, 2) + np.log(prevalence * (1 - prevalence))
    sens_mean, sens_sd, copies = 1.0, 2.0, 1
    if density.specification.as_published and density.specification.tag == "AC":
        sens_mean, sens_sd = 2.0, 1.0
    if density.specification.as_published and density.specification.tag == "ABCE":
        copies = data.n_raters
    for rater in range(n_alpha):
        value += copies * stats.norm.logpdf(alpha[rater, 1], sens_mean, sens_sd)
        if on.bias:
            value += copies * stats.norm.logpdf(alpha[rater, 0], 2, 2)
        if density.specification.cooperative:
            u = theta[1 + rater + (n_alpha if on.bias else 0)]
            step = 1e-6
            value += np.log((np.log1p(np.exp(u + step)) - np.log1p(np.exp(u - step))) / (2 * step))
    return value


def simulate_prior(tag, seed, dataset):
    """Parameters from the (truncated) prior, and annotations of the design of ``dataset`` made with them.

    Returns prevalence, α of shape (n_alpha, 2), and the dataset with the new annotations.
    """
    rng = np.random.default_rng(seed)
    on = switches(tag)
    n_alpha = dataset.n_raters if on.ability else 1
    prevalence, alpha = rng.beta(2, 2), np.empty((n_alpha, 2))
    for rater in range(n_alpha):
        while True:  # cooperative raters alone
            alpha[rater] = rng.normal([2, 1], 2) if on.bias else rng.normal(1, 2)
            if alpha[rater].sum() > 0:
                break
    free = density_of(dataset, tag, cooperative=False)
    columns = alpha.T.ravel() if on.bias else alpha[:, 0]
    answer = free.simulate(np.concatenate(([np.log(prevalence / (1 - prevalence))], columns)), int(rng.integers(2**31)))
    data = Dataset.from_classes(
        "simulated",
        dataset.cases,
        dataset.raters,
        dataset.classes,
        dataset.case_of_annotation,
        dataset.rater,
        answer,
    )
    return prevalence, alpha, data


def importance_draws(density, n_draws, seed, df=5):
    """Draws of whitened coordinates from a t about the mode, and their weights, which sum to 1."""
    rng = np.random.default_rng(seed)
    draws = rng.standard_normal((n_draws, density.ndim)) / np.sqrt(rng.chisquare(df, (n_draws, 1)) / df)
    log_weight = np.array([density.value_and_gradient(draw)[0] for draw in draws])
    log_weight += 0.5 * (df + density.ndim) * np.log1p((draws**2).sum(axis=1) / df)
    weight = np.exp(log_weight - log_weight.max())
    return draws, weight / weight.sum()
