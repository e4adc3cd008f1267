"""Kernels for the posterior of difficulty models of many classes, with true classes and difficulties summed out.

By the expected counts of a step E (Fisher's identity): with r_jq and n_jq the expected right and all annotations of
rater j at node q, p_jq = logit⁻¹(d_q a_j) and d_q = exp(σ x_q), dl/da_j = Σ_q d_q (r_jq − n_jq p_jq), dl/dσ = Σ_jq a_j
d_q x_q (r_jq − n_jq p_jq), dl/d ln π_z = expected cases of class z, dl/d ln w_zk = expected mistakes k on class z.
Rows of free coordinates are isometric log-ratios, as in `core.models._confusion_kernels`.
"""

import numpy as np

from ...runtime.numba_setup import njit
from .._confusion_kernels import from_contrasts, softmax_row, softplus, to_contrasts
from ._nominal_kernels import ability_table, expect_difficult, weigh_case


@njit(cache=True, nogil=True, error_model="numpy")
def _mistake_rows(u, inner, first, log_w, w):
    """Fill the logs of the rows of mistakes, 0 on the diagonal, and the rows without it, (n, n - 1)."""
    n = w.shape[0]
    x, row = np.empty(n - 1), np.empty(n - 1)
    for z in range(n):
        from_contrasts(inner, u, first + z * (n - 2), x)
        softmax_row(x, row, w[z])
        for m in range(n - 1):
            log_w[z, m if m < z else m + 1] = row[m]


@njit(cache=True, nogil=True, error_model="numpy")
def _difficulty_priors(u, n_raters, typical, most_spread, gradient):
    """Compute the log prior of abilities, μ, ln τ² and the logit of σ / ``most_spread``; fills their slopes."""
    centre, log_variance, logit = u[n_raters], u[n_raters + 1], u[n_raters + 2]
    precision = np.exp(-log_variance)
    share = np.exp(-softplus(-logit))
    spread = most_spread * share
    value = -0.5 * (centre - typical) ** 2 - log_variance - precision
    value += -0.5 * spread * spread - softplus(-logit) - softplus(logit)
    gradient[n_raters] = typical - centre
    gradient[n_raters + 1] = precision - 1.0
    gradient[n_raters + 2] = -spread * spread * (1.0 - share) + 1.0 - 2.0 * share
    for j in range(n_raters):
        off = u[j] - centre
        value -= 0.5 * (off * off * precision + log_variance)
        gradient[j] = -off * precision
        gradient[n_raters] += off * precision
        gradient[n_raters + 1] += 0.5 * (off * off * precision - 1.0)
    return value, spread


@njit(cache=True, nogil=True, error_model="numpy")
def _ability_slopes(right, every, log_wrong, ability, discrimination, node, even, gradient):
    """Add the slopes by the abilities (their logs, unless ``even``) to ``gradient``; returns that by σ."""
    by_spread = 0.0
    for j in range(ability.size):
        slope = 0.0
        for q in range(node.size):
            wrong = np.exp(log_wrong[j, q])
            by = discrimination[q] * (right[j, q] * wrong - (every[j, q] - right[j, q]) * (1.0 - wrong))
            slope += by
            by_spread += by * ability[j] * node[q]
        gradient[j] += slope if even else slope * ability[j]
    return by_spread


@njit(cache=True, nogil=True, error_model="numpy")
def difficult_posterior(u, basis, inner, ptr, rater, answer, count, even, pseudo, typical, most_spread, node, log_node):
    """Compute the log posterior up to a constant, with its gradient.

    ``u``: abilities (their logs, unless ``even``), μ, ln τ², the logit of σ / ``most_spread``, and unless ``even`` the
    coordinates of the prevalence by ``basis`` and of each row of mistakes by ``inner``. ``pseudo[z, k]`` is the
    Dirichlet parameter of mistakes, and 2 that of each class.
    """
    n = pseudo.shape[0]
    n_free = 0 if even else n - 1 + n * (n - 2)
    n_raters = u.size - 3 - n_free
    gradient = np.zeros(u.size)
    value, spread = _difficulty_priors(u, n_raters, typical, most_spread, gradient)
    log_pi, pi, x = np.full(n, -np.log(n)), np.empty(n), np.empty(n)
    log_w, w = np.zeros((n, n)), np.empty((n, n - 1))
    if even:
        for z in range(n):
            for k in range(n):
                log_w[z, k] = -np.log(n - 1.0) if k != z else 0.0
    else:
        from_contrasts(basis, u, n_raters + 3, x)
        softmax_row(x, log_pi, pi)
        _mistake_rows(u, inner, n_raters + 3 + n - 1, log_w, w)
        value += 2.0 * log_pi.sum() + (pseudo * log_w).sum()
    discrimination = np.exp(spread * node)
    ability = np.empty(n_raters)
    for j in range(n_raters):
        ability[j] = u[j] if even else np.exp(u[j])
    gain, log_wrong = np.empty((n_raters, node.size)), np.empty((n_raters, node.size))
    ability_table(ability, discrimination, gain, log_wrong)
    found, cases_of, right, every, mistakes = expect_difficult(
        ptr, rater, answer, gain, log_wrong, log_w, log_pi, log_node, np.empty(0, np.int32), count, 1.0, 0, count.size,
        np.empty((0, n)), False,
    )  # fmt: skip
    value += found
    if not np.isfinite(value):
        gradient[:] = 0.0
        return -np.inf, gradient
    by_spread = _ability_slopes(right, every, log_wrong, ability, discrimination, node, even, gradient)
    gradient[n_raters + 2] += by_spread * spread * (1.0 - spread / most_spread)
    if not even:
        to_contrasts(basis, cases_of + 2.0, pi, gradient, n_raters + 3)
        by_log = np.empty(n - 1)
        for z in range(n):
            for m in range(n - 1):
                k = m if m < z else m + 1
                by_log[m] = mistakes[z, k] + pseudo[z, k]
            to_contrasts(inner, by_log, w[z], gradient, n_raters + 3 + n - 1 + z * (n - 2))
    if not np.isfinite(gradient).all():
        gradient[:] = 0.0
        return -np.inf, gradient
    return value, gradient


@njit(cache=True, nogil=True, error_model="numpy")
def difficult_patterns(ptr, rater, answer, ability, spread, log_pi, log_w, node, log_node, first, last):
    """Compute for patterns ``first`` to ``last`` under every draw P(true class), (draw, pattern, class), and ln P.

    ``ability`` has shape (draw, rater), ``spread`` (draw,), ``log_pi`` (draw, class), ``log_w`` (draw, class, class).
    """
    n_draws, n_classes = log_pi.shape
    longest = 0
    for p in range(first, last):
        longest = max(longest, ptr[p + 1] - ptr[p])
    slot = np.full(n_classes, -1)
    named = np.empty(min(longest, n_classes), np.int64)
    joint = np.empty((named.size + 1, node.size))
    blame = np.empty(n_classes)
    gain = np.empty((ability.shape[1], node.size))
    log_wrong = np.empty(gain.shape)
    posterior = np.empty((n_draws, last - first, n_classes))
    log_p = np.empty((n_draws, last - first))
    for d in range(n_draws):
        ability_table(ability[d], np.exp(spread[d] * node), gain, log_wrong)
        for p in range(first, last):
            n = ptr[p + 1] - ptr[p]
            part = slice(ptr[p], ptr[p + 1])
            n_named, log_p[d, p - first] = weigh_case(
                rater[part], answer[part], n, gain, log_wrong, log_w[d], log_pi[d], log_node, 1.0, slot, named, blame,
                joint,
            )  # fmt: skip
            rest = joint[n_named].sum()
            for z in range(n_classes):
                posterior[d, p - first, z] = rest * blame[z]
            for s in range(n_named):
                posterior[d, p - first, named[s]] = joint[s].sum()
    return posterior, log_p


@njit(cache=True, nogil=True, error_model="numpy")
def difficulty_shares(ptr, rater, answer, ability, spread, log_pi, log_w, value, first, last, share):
    """Add P(ln d = ``value[q]`` | pattern, draw) of every draw to ``share[pattern, q]``, on an even grid of ln d."""
    n_draws, n_classes = log_pi.shape
    longest = 0
    for p in range(first, last):
        longest = max(longest, ptr[p + 1] - ptr[p])
    slot = np.full(n_classes, -1)
    named = np.empty(min(longest, n_classes), np.int64)
    joint = np.empty((named.size + 1, value.size))
    blame = np.empty(n_classes)
    gain = np.empty((ability.shape[1], value.size))
    log_wrong = np.empty(gain.shape)
    log_node = np.empty(value.size)
    for d in range(n_draws):
        ability_table(ability[d], np.exp(value), gain, log_wrong)
        mass = 0.0
        for q in range(value.size):
            log_node[q] = -0.5 * (value[q] / spread[d]) ** 2
            mass += np.exp(log_node[q])
        for q in range(value.size):
            log_node[q] -= np.log(mass)
        for p in range(first, last):
            part = slice(ptr[p], ptr[p + 1])
            n_named, _ = weigh_case(
                rater[part], answer[part], ptr[p + 1] - ptr[p], gain, log_wrong, log_w[d], log_pi[d], log_node, 1.0,
                slot, named, blame, joint,
            )  # fmt: skip
            for q in range(value.size):
                for s in range(n_named + 1):
                    share[p, q] += joint[s, q]
