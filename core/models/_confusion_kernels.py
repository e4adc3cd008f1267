"""Posteriors of confusion-matrix models with the true class summed out, and their gradients, in log space.

Patterns p of equal annotations stand for c_p cases; entry e of a pattern is one annotation:
    l(pi, theta) = sum_p c_p ln sum_k pi_k prod_e theta[rater_e, k, answer_e]    (Dawid & Skene 1979, eq. 2.3)
    dl / d ln pi_k = sum_p c_p q_pk,    dl / d ln theta[j, k, l] = sum_p c_p q_pk sum_{e: j, l} 1,
q_pk = P(true class k | pattern p). A row is softmax(x): with G the gradient by its logs, that by x is G - theta sum G.
Rows of free coordinates u have x = V u, V an orthonormal basis of the vectors that sum to 0 (isometric log-ratio); the
Jacobian of u -> softmax(V u) is sqrt(K) prod_l theta_l, which makes a Dirichlet(a) density prod_l theta_l ** a_l.
``log_theta[rater * K + annotation, k]`` holds ln P(annotation | true class k), as in `core.models._kernels`.
"""

import numpy as np

from ..runtime.numba_setup import njit
from ._ordinal_kernels import fill_row

_GRID, _GRID_OF_ROOT = 2.0**20, 2.0**14  # to the unit of the coordinates, which are about as wide as their prior


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_row(x, log_p, p):
    """Compute logs and values of softmax(x); returns nothing."""
    top = x.max()
    total = 0.0
    for k in range(x.size):
        p[k] = np.exp(x[k] - top)
        total += p[k]
    shift = top + np.log(total)
    for k in range(x.size):
        log_p[k] = x[k] - shift
        p[k] /= total


@njit(cache=True, nogil=True, error_model="numpy")
def softplus(v):
    """Compute the logarithm of 1 + e^v, without overflow."""
    return max(v, 0.0) + np.log1p(np.exp(-abs(v)))


@njit(cache=True, nogil=True, error_model="numpy")
def from_contrasts(basis, u, first, x):
    """Fill x = V u for the K - 1 coordinates from ``first``."""
    n = basis.shape[0]
    for k in range(n):
        x[k] = 0.0
        for m in range(n - 1):
            x[k] += basis[k, m] * u[first + m]


@njit(cache=True, nogil=True, error_model="numpy")
def _one_pattern(ptr, cell, p, log_pi, log_theta, q):
    """Compute ln P(pattern p), and fill ``q`` with the probability of each true class."""
    n_classes = log_pi.size
    for k in range(n_classes):
        q[k] = log_pi[k]
    for e in range(ptr[p], ptr[p + 1]):
        c = cell[e]
        for k in range(n_classes):
            q[k] += log_theta[c, k]
    top = q[0]
    for k in range(1, n_classes):
        top = max(top, q[k])
    if top == -np.inf:
        for k in range(n_classes):
            q[k] = 1.0 / n_classes
        return -np.inf
    mass = 0.0
    for k in range(n_classes):
        q[k] = np.exp(q[k] - top)
        mass += q[k]
    for k in range(n_classes):
        q[k] /= mass
    return top + np.log(mass)


@njit(cache=True, nogil=True, error_model="numpy")
def _likelihood(ptr, cell, count, log_pi, log_theta, by_pi, by_theta):
    """Compute the log likelihood, and add its gradient by the logs to ``by_pi`` and ``by_theta``."""
    n_classes = log_pi.size
    q = np.empty(n_classes)
    total = 0.0
    for p in range(count.size):
        weight = count[p]
        total += weight * _one_pattern(ptr, cell, p, log_pi, log_theta, q)
        for k in range(n_classes):
            q[k] *= weight
            by_pi[k] += q[k]
        for e in range(ptr[p], ptr[p + 1]):
            c = cell[e]
            for k in range(n_classes):
                by_theta[c, k] += q[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def to_contrasts(basis, by_log, p, gradient, first):
    """Convert the gradient by the logs of a row to that by its K - 1 coordinates."""
    n = basis.shape[0]
    total = by_log.sum()
    for m in range(n - 1):
        value = 0.0
        for k in range(n):
            value += basis[k, m] * (by_log[k] - p[k] * total)
        gradient[first + m] = value


@njit(cache=True, nogil=True, error_model="numpy")
def dirichlet_density(u, basis, ptr, cell, count, prevalence_prior, row_prior):
    """Compute the log posterior under Dirichlet priors on prevalence and rows, with its gradient.

    ``u``: K - 1 coordinates of the prevalence, then of each row by rater and true class. ``row_prior[k, l]``.
    """
    n = basis.shape[0]
    n_raters = (u.size // (n - 1) - 1) // n
    gradient = np.zeros(u.size)
    x, row = np.empty(n), np.empty(n)
    log_pi, pi, by_pi = np.empty(n), np.empty(n), prevalence_prior.copy()
    log_theta, by_theta = np.empty((n_raters * n, n)), np.zeros((n_raters * n, n))
    theta = np.empty((n_raters, n, n))
    from_contrasts(basis, u, 0, x)
    softmax_row(x, log_pi, pi)
    value = 0.0
    for k in range(n):
        value += prevalence_prior[k] * log_pi[k]
    for j in range(n_raters):
        for k in range(n):
            from_contrasts(basis, u, (1 + j * n + k) * (n - 1), x)
            softmax_row(x, row, theta[j, k])
            for m in range(n):
                log_theta[j * n + m, k] = row[m]
                by_theta[j * n + m, k] = row_prior[k, m]
                value += row_prior[k, m] * row[m]
    value += _likelihood(ptr, cell, count, log_pi, log_theta, by_pi, by_theta)
    if not np.isfinite(value):
        return -np.inf, gradient
    to_contrasts(basis, by_pi, pi, gradient, 0)
    for j in range(n_raters):
        for k in range(n):
            for m in range(n):
                row[m] = by_theta[j * n + m, k]
            to_contrasts(basis, row, theta[j, k], gradient, (1 + j * n + k) * (n - 1))
    return value, gradient


@njit(cache=True, nogil=True, error_model="numpy")
def _hyperprior(value, u, n, tau, centre, scale, cooperative, mu, by_mu, gradient):
    """Add the log prior of mu and ln tau to ``value``; fills mu, its slopes and the gradient by ln tau."""
    square, at_mu = n * n, n - 1
    at_tau = at_mu + square
    for c in range(square):
        k, m = c // n, c % n
        if cooperative and k != m:
            mu[c] = u[at_mu + k * n + k] - softplus(u[at_mu + c])
            value -= softplus(-u[at_mu + c])
        off = (mu[c] - centre[k, m]) / scale
        value += -0.5 * off * off - 0.5 * tau[c] * tau[c] + u[at_tau + c]
        by_mu[c] = -off / scale
        gradient[at_tau + c] = 1.0 - tau[c] * tau[c]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _contract_means(u, n, by_mu, cooperative, gradient):
    """Convert the slopes by mu to the gradient by the coordinates of mu."""
    square, at_mu = n * n, n - 1
    for c in range(square):
        k, m = c // n, c % n
        if cooperative and k != m:
            gradient[at_mu + k * n + k] += by_mu[c]
            share = np.exp(-softplus(-u[at_mu + c]))  # the derivative of ln(1 + e^v)
            gradient[at_mu + c] = 1.0 - share - by_mu[c] * share
        else:
            gradient[at_mu + c] += by_mu[c]


@njit(cache=True, nogil=True, error_model="numpy")
def hierarchical_density(u, basis, ptr, cell, count, prevalence_prior, centre, scale, cooperative):
    """Compute the log posterior of rows softmax(mu_k + tau_k * eps_jk), with its gradient.

    eps ~ N(0, 1), mu_kl ~ N(centre_kl, scale), tau ~ half-normal(1) by its log, prevalence ~ Dirichlet. ``u``: K - 1
    coordinates of the prevalence, mu and ln tau by true and annotated class, eps by rater, true and annotated class.
    Where ``cooperative`` the prior of mu is cut at mu_kl < mu_kk: v stands for mu_kl = mu_kk - ln(1 + e^v).
    """
    n = basis.shape[0]
    square = n * n
    at_mu, at_tau, at_eps = n - 1, n - 1 + square, n - 1 + 2 * square
    n_raters = (u.size - at_eps) // square
    gradient = np.zeros(u.size)
    x, row = np.empty(n), np.empty(n)
    log_pi, pi, by_pi = np.empty(n), np.empty(n), prevalence_prior.copy()
    log_theta, by_theta = np.empty((n_raters * n, n)), np.zeros((n_raters * n, n))
    theta = np.empty((n_raters, n, n))
    tau = np.exp(u[at_tau:at_eps])
    from_contrasts(basis, u, 0, x)
    softmax_row(x, log_pi, pi)
    value = 0.0
    for k in range(n):
        value += prevalence_prior[k] * log_pi[k]
    mu = u[at_mu:at_tau].copy()
    by_mu = np.empty(square)
    value = _hyperprior(value, u, n, tau, centre, scale, cooperative, mu, by_mu, gradient)
    for j in range(n_raters):
        for k in range(n):
            for m in range(n):
                eps = u[at_eps + j * square + k * n + m]
                x[m] = mu[k * n + m] + tau[k * n + m] * eps
                value -= 0.5 * eps * eps
            softmax_row(x, row, theta[j, k])
            for m in range(n):
                log_theta[j * n + m, k] = row[m]
    value += _likelihood(ptr, cell, count, log_pi, log_theta, by_pi, by_theta)
    if not np.isfinite(value):
        gradient[:] = 0.0
        return -np.inf, gradient
    to_contrasts(basis, by_pi, pi, gradient, 0)
    for j in range(n_raters):
        for k in range(n):
            total = 0.0
            for m in range(n):
                total += by_theta[j * n + m, k]
            for m in range(n):
                c = k * n + m
                at = at_eps + j * square + c
                by_logit = by_theta[j * n + m, k] - theta[j, k, m] * total
                by_mu[c] += by_logit
                gradient[at_tau + c] += by_logit * tau[c] * u[at]
                gradient[at] = by_logit * tau[c] - u[at]
    _contract_means(u, n, by_mu, cooperative, gradient)
    return value, gradient


@njit(cache=True, nogil=True, error_model="numpy")
def ordinal_posterior(u, basis, ptr, cell, count, prevalence_prior, mean, sd, guess):
    """Compute the log posterior of rows by (δ, ln ψ, logit e) of each rater, with its gradient.

    ``u``: K - 1 coordinates of the prevalence, then x ~ N(0, 1) of each rater's three, which are ``mean`` + ``sd`` x.
    """
    n = basis.shape[0]
    n_raters = (u.size - (n - 1)) // 3
    gradient = np.zeros(u.size)
    x, row, slopes, own = np.empty(n), np.empty(n), np.empty((n, 3)), np.empty(3)
    log_pi, pi, by_pi = np.empty(n), np.empty(n), prevalence_prior.copy()
    log_theta, by_theta = np.empty((n_raters * n, n)), np.zeros((n_raters * n, n))
    slope_of_log = np.empty((n_raters * n, n, 3))
    from_contrasts(basis, u, 0, x)
    softmax_row(x, log_pi, pi)
    value = 0.0
    for k in range(n):
        value += prevalence_prior[k] * log_pi[k]
    for j in range(n_raters):
        for a in range(3):
            own[a] = mean[a] + sd[a] * u[n - 1 + 3 * j + a]
            value -= 0.5 * u[n - 1 + 3 * j + a] ** 2
        for z in range(n):
            fill_row(own, z, guess, row, slopes)
            for k in range(n):
                log_theta[j * n + k, z] = np.log(row[k])
                for a in range(3):
                    slope_of_log[j * n + k, z, a] = slopes[k, a] / max(row[k], 1e-300)
    value += _likelihood(ptr, cell, count, log_pi, log_theta, by_pi, by_theta)
    if not np.isfinite(value):
        return -np.inf, gradient
    to_contrasts(basis, by_pi, pi, gradient, 0)
    for at in range(n - 1, u.size):
        j, a = (at - n + 1) // 3, (at - n + 1) % 3
        rows = slice(j * n, (j + 1) * n)
        gradient[at] = sd[a] * (by_theta[rows] * slope_of_log[rows, :, a]).sum() - u[at]
    return value, gradient


@njit(cache=True, nogil=True, error_model="numpy")
def ordinal_walk(
    start, root, seed, n_burn, n_kept, every, basis, ptr, cell, count, prevalence_prior, mean, sd, guess,
):  # fmt: skip
    """Walk by Langevin steps on `ordinal_posterior`, accepted by Metropolis & Hastings (Roberts & Rosenthal 1998).

    ``root`` is a Cholesky factor of the covariance that steps have; their length is set in the first ``n_burn`` so that
    0.57 are accepted. All places are on a fine grid, or what one processor rounds otherwise than another would grow
    from step to step. Returns every ``every``-th place of what follows, shape (n_kept, ndim), and the share accepted.
    """
    np.random.seed(seed)
    ndim = start.size
    here = np.round(start * _GRID) / _GRID
    root = np.round(root * _GRID_OF_ROOT) / _GRID_OF_ROOT
    value, gradient = ordinal_posterior(here, basis, ptr, cell, count, prevalence_prior, mean, sd, guess)
    drift = root.T @ gradient
    kept = np.empty((n_kept, ndim))
    log_step = np.log(1.65) - np.log(ndim) / 6.0
    accepted = 0.0
    for n in range(n_burn + n_kept * every):
        step = np.exp(log_step)
        noise = np.random.standard_normal(ndim)
        move = 0.5 * step * step * drift + step * noise
        there = np.round((here + root @ move) * _GRID) / _GRID
        found, slope = ordinal_posterior(there, basis, ptr, cell, count, prevalence_prior, mean, sd, guess)
        ahead = root.T @ slope
        back = -move - 0.5 * step * step * ahead
        log_ratio = found - value + 0.5 * (noise @ noise) - 0.5 * (back @ back) / (step * step)
        share = np.exp(min(0.0, log_ratio)) if np.isfinite(log_ratio) else 0.0
        if n < n_burn:
            log_step += (share - 0.57) / np.sqrt(n + 1.0)
        else:
            accepted += share / (n_kept * every)
        if np.random.random() < share:
            here, value, drift = there, found, ahead
        if n >= n_burn and (n - n_burn) % every == every - 1:
            for d in range(ndim):  # a whole row at once would be checked, with words that take seconds to compile
                kept[(n - n_burn) // every, d] = here[d]
    return kept, accepted


@njit(cache=True, nogil=True, error_model="numpy")
def pattern_posteriors(ptr, cell, log_pi, log_theta, first, last):
    """Compute, for patterns ``first`` to ``last`` under every draw, P(true class), (draw, pattern, class), and ln P.

    ``log_pi`` has shape (draw, class), ``log_theta`` (draw, cell, class).
    """
    n_draws, n_classes = log_pi.shape
    posterior = np.empty((n_draws, last - first, n_classes))
    log_likelihood = np.empty((n_draws, last - first))
    for d in range(n_draws):
        for p in range(first, last):
            log_likelihood[d, p - first] = _one_pattern(ptr, cell, p, log_pi[d], log_theta[d], posterior[d, p - first])
    return posterior, log_likelihood
