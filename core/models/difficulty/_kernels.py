"""Kernels for the posterior density of the difficulty models, with effects and true classes integrated out.

Equation 2 of Han, Adıgüzel & Carpenter, "Crowdsourcing with Difficulty": P(right) = λ + (1 - λ) logit⁻¹(δ (α - β)), α
the sensitivity where z = 1 and the specificity where z = 0 (the reduction printed for z = 0 has the sensitivity).
With nodes g of weight w_g and annotations a of a case, p(case) = Σ_z π_z Σ_g w_g Π_a p_zg(a), and, q the posterior of a
node, d ln p / dα = Σ_z P(z | annotations) Σ_g q_zg Σ_a d ln p_zg(a) / dα.

Products stand outside of logs: exp(-δ(α - β)) is exp(-δα) exp(δβ), so no node costs a logarithm or an exponential. Only
a product that underflows at every node is done again in logs. Expected annotations per node are gathered first and
multiplied by the slopes once at the end, which keeps all inner loops free of sums that cannot be vectorised.

Layout: ``table[z, cell, g]`` is the probability of the annotation of ``cell`` (2 * rater + annotation); ``alpha[rater,
z]``.
"""

import numpy as np

from ...runtime.numba_setup import njit
from .nodes import MOST_EXPONENT

_SMALLEST_TOTAL = 1e-280


@njit(cache=True, nogil=True, error_model="numpy")
def odds_against(alpha, delta):
    """Compute exp(-δα), clipped, by rater, true class and node of δ."""
    odds = np.empty((alpha.shape[0], 2, delta.size))
    for rater in range(alpha.shape[0]):
        for z in range(2):
            for d in range(delta.size):
                exponent = -delta[d] * alpha[rater, z]
                odds[rater, z, d] = np.exp(min(max(exponent, -MOST_EXPONENT), MOST_EXPONENT))
    return odds


@njit(cache=True, nogil=True, error_model="numpy")
def fill_node_table(odds, nodes, table):
    """Fill in the probability of each annotation of each rater at each node."""
    n_delta = odds.shape[2]
    block = nodes.shape[1] // n_delta
    for rater in range(odds.shape[0]):
        for z in range(2):
            right = table[z, 2 * rater + z]
            wrong = table[z, 2 * rater + 1 - z]
            for d in range(n_delta):
                factor = odds[rater, z, d]
                for g in range(d * block, (d + 1) * block):
                    against = factor * nodes[0, g]
                    miss = against / (1.0 + against)
                    guess = nodes[1, g]
                    right[g] = guess + (1.0 - guess) / (1.0 + against)
                    wrong[g] = (1.0 - guess) * miss


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(table, cell, start, stop, weight, work):
    """Fill ``work`` with the joint probability of annotations and nodes over exp(shift); return shift and sum."""
    n_nodes = weight.size
    for g in range(n_nodes):
        work[g] = weight[g]
    for a in range(start, stop):
        row = table[cell[a]]
        for g in range(n_nodes):
            work[g] *= row[g]
    total = 0.0
    for g in range(n_nodes):
        total += work[g]
    if total > _SMALLEST_TOTAL:
        return 0.0, total
    best = -np.inf
    for g in range(n_nodes):
        work[g] = np.log(weight[g])
        for a in range(start, stop):
            work[g] += np.log(table[cell[a], g])
        best = max(best, work[g])
    total = 0.0
    for g in range(n_nodes):
        work[g] = np.exp(work[g] - best)
        total += work[g]
    return best, total


@njit(cache=True, nogil=True, error_model="numpy")
def log_both(logit):
    """Compute logs of π and of 1 - π."""
    if logit > 0:
        shortfall = np.log1p(np.exp(-logit))
        return -shortfall, -logit - shortfall
    shortfall = np.log1p(np.exp(logit))
    return logit - shortfall, -shortfall


@njit(cache=True, nogil=True, error_model="numpy")
def mix(prevalence, shift_0, total_0, shift_1, total_1):
    """Compute the log of π exp(shift_1) total_1 + (1 - π) exp(shift_0) total_0, and the share of the first term.

    ``prevalence`` holds 1 - π and π, then their logs.
    """
    negative = prevalence[0] * total_0
    positive = prevalence[1] * total_1
    shift = 0.0
    if shift_0 != 0.0 or shift_1 != 0.0 or negative + positive < _SMALLEST_TOTAL:
        log_negative = prevalence[2] + shift_0 + np.log(total_0)
        log_positive = prevalence[3] + shift_1 + np.log(total_1)
        shift = max(log_negative, log_positive)
        negative = np.exp(log_negative - shift)
        positive = np.exp(log_positive - shift)
    return shift + np.log(negative + positive), positive / (negative + positive)


@njit(cache=True, nogil=True, error_model="numpy")
def both_ways(logit):
    """Return 1 - π and π, then their logs."""
    log_positive, log_negative = log_both(logit)
    return np.exp(log_negative), np.exp(log_positive), log_negative, log_positive


@njit(cache=True, nogil=True, error_model="numpy")
def likelihood_and_slopes(logit, alpha, ptr, cell, count, delta, nodes, slope):
    """Compute the log-likelihood and its slope by the logit of π; fills ``slope[rater, z]``, that by α."""
    n_nodes = nodes.shape[1]
    n_cells = 2 * alpha.shape[0]
    odds = odds_against(alpha, delta)
    table = np.empty((2, n_cells, n_nodes))
    expected = np.zeros((2, n_cells, n_nodes))
    fill_node_table(odds, nodes, table)
    prevalence = both_ways(logit)
    weight = nodes[2]
    work = np.empty((2, n_nodes))
    value = 0.0
    slope_logit = 0.0
    for p in range(count.size):
        start = ptr[p]
        stop = ptr[p + 1]
        shift_0, total_0 = weigh(table[0], cell, start, stop, weight, work[0])
        shift_1, total_1 = weigh(table[1], cell, start, stop, weight, work[1])
        log_p, positive = mix(prevalence, shift_0, total_0, shift_1, total_1)
        value += count[p] * log_p
        slope_logit += count[p] * (positive - prevalence[1])
        for z in range(2):
            factor = count[p] * (positive / total_1 if z == 1 else (1.0 - positive) / total_0)
            joint = work[z]
            for a in range(start, stop):
                row = expected[z, cell[a]]
                for g in range(n_nodes):
                    row[g] += factor * joint[g]
    gather_slopes(odds, delta, nodes, table, expected, slope)
    return value, slope_logit


@njit(cache=True, nogil=True, error_model="numpy")
def gather_slopes(odds, delta, nodes, table, expected, slope):
    """Sum expected right and wrong annotations at each node times the slopes of their log probabilities by α."""
    block = nodes.shape[1] // delta.size
    for rater in range(odds.shape[0]):
        for z in range(2):
            right = expected[z, 2 * rater + z]
            wrong = expected[z, 2 * rater + 1 - z]
            p_right = table[z, 2 * rater + z]
            p_wrong = table[z, 2 * rater + 1 - z]
            total = 0.0
            for d in range(delta.size):
                part = 0.0
                for g in range(d * block, (d + 1) * block):
                    known = 1.0 / (1.0 + odds[rater, z, d] * nodes[0, g])
                    part += known * (right[g] * p_wrong[g] / p_right[g] - wrong[g])
                total += delta[d] * part
            slope[rater, z] = total


@njit(cache=True, nogil=True, error_model="numpy")
def softplus(u):
    """Compute ln(1 + exp(u)), and its derivative."""
    tail = np.exp(-abs(u))
    return max(u, 0.0) + np.log1p(tail), (1.0 if u > 0 else tail) / (1.0 + tail)


@njit(cache=True, nogil=True, error_model="numpy")
def abilities(theta, n_alpha, tied, cooperative):
    """Return specificities and sensitivities [rater, z] of ``theta``.

    ``theta`` is logit π, then, free, the specificities and as many u with sensitivity -specificity + softplus(u), or,
    tied, u with α = softplus(u); without the constraint u is the sensitivity, or α, itself. (Exp in the place of
    softplus bends the ridge of a rater whose specificity is near 1: sampling along it diverges.)
    """
    alpha = np.empty((n_alpha, 2))
    for j in range(n_alpha):
        u = theta[1 + j] if tied else theta[1 + n_alpha + j]
        own = softplus(u)[0] if cooperative else u
        alpha[j, 0] = own if tied else theta[1 + j]
        alpha[j, 1] = own - theta[1 + j] if cooperative and not tied else own
    return alpha


@njit(cache=True, nogil=True, error_model="numpy")
def with_prior(theta, alpha, tied, cooperative, prior, value, slope_logit, slope, gradient):
    """Add the priors to a log-likelihood with these slopes; fills the head of ``gradient`` by the chain rule.

    ``prior`` holds mean and sd of the specificity, mean and sd of the sensitivity or α, and how often the prior of α
    counts. The truncation to cooperative raters is not normalised; Beta(2, 2) on π and all Jacobians are in.
    """
    n_alpha = alpha.shape[0]
    log_positive, log_negative = log_both(theta[0])
    value += 2.0 * (log_positive + log_negative)
    gradient[0] = slope_logit + 2.0 - 4.0 * np.exp(log_positive)
    for j in range(n_alpha):
        off = (alpha[j, 1] - prior[2]) / prior[3]
        value -= 0.5 * prior[4] * off * off
        by_own = slope[j, 1] - prior[4] * off / prior[3]
        by_other = slope[j, 0]
        if not tied:
            off = (alpha[j, 0] - prior[0]) / prior[1]
            value -= 0.5 * prior[4] * off * off
            by_other -= prior[4] * off / prior[1]
            gradient[1 + j] = by_other - by_own if cooperative else by_other
        else:
            by_own += by_other
        place = 1 + j if tied else 1 + n_alpha + j
        gradient[place] = by_own
        if cooperative:
            _, stretch = softplus(theta[place])
            value += np.log(stretch)
            gradient[place] = by_own * stretch + 1.0 - stretch
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def times_symmetric(matrix, vector, out):
    """Add matrix @ vector to ``out``, row by row: additions of rows can be vectorised, sums along them cannot."""
    for i in range(vector.size):
        factor = vector[i]
        row = matrix[i]
        for j in range(out.size):
            out[j] += factor * row[j]


@njit(cache=True, nogil=True, error_model="numpy")
def value_and_gradient(place, centre, scale, n_alpha, tied, cooperative, prior, ptr, cell, count, delta, nodes, out):
    """Compute the log posterior at ``centre + scale @ place``, gradient in ``out``; -inf and zeros on overflow.

    ``scale`` is symmetric; without rows, it means the identity and a centre of zeros.
    """
    theta = place
    if scale.shape[0] > 0:
        theta = centre.copy()
        times_symmetric(scale, place, theta)
    gradient = np.empty(theta.size)
    alpha = abilities(theta, n_alpha, tied, cooperative)
    slope = np.empty((n_alpha, 2))
    value, slope_logit = likelihood_and_slopes(theta[0], alpha, ptr, cell, count, delta, nodes, slope)
    value = with_prior(theta, alpha, tied, cooperative, prior, value, slope_logit, slope, gradient)
    for d in range(theta.size):
        out[d] = gradient[d]
    if scale.shape[0] > 0:
        out[:] = 0.0
        times_symmetric(scale, gradient, out)
    finite = np.isfinite(value)
    for d in range(theta.size):
        finite = finite and np.isfinite(out[d])
    if not finite:
        out[:] = 0.0
        return -np.inf
    return value
