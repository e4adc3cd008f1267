"""Kernels for raters of ordered classes with a severity δ, a spread ψ and a slip e of their own.

``θ[k | z] = (1 − e) φ_z(k) + e g_k``, ``φ_z(k) ∝ exp(−(k − z − δ)²/(2ψ²))``. With u = k − z − δ and s = ψ⁻²: ∂ ln φ/∂δ
= u s − E_φ[u s], ∂ ln φ/∂ ln ψ = u² s − E_φ[u² s], and ∂θ/∂ logit e = e (1 − e)(g − φ).
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True, error_model="numpy")
def fill_row(own, z, guess, theta, slopes):
    """Fill ``theta[k]`` with P(k | true class ``z``), and ``slopes[k, :]`` with derivatives by (δ, ln ψ, logit e)."""
    n_classes = guess.size
    sharpness = np.exp(-2.0 * own[1])
    slip = 1.0 / (1.0 + np.exp(-own[2]))
    top = -np.inf
    for k in range(n_classes):
        u = k - z - own[0]
        theta[k] = -0.5 * sharpness * u * u
        top = max(top, theta[k])
    mass = 0.0
    for k in range(n_classes):
        theta[k] = np.exp(theta[k] - top)
        mass += theta[k]
    first = 0.0
    second = 0.0
    for k in range(n_classes):
        theta[k] /= mass
        u = k - z - own[0]
        first += theta[k] * u * sharpness
        second += theta[k] * u * u * sharpness
    for k in range(n_classes):
        u = k - z - own[0]
        slopes[k, 0] = (1.0 - slip) * theta[k] * (u * sharpness - first)
        slopes[k, 1] = (1.0 - slip) * theta[k] * (u * u * sharpness - second)
        slopes[k, 2] = slip * (1.0 - slip) * (guess[k] - theta[k])
        theta[k] = (1.0 - slip) * theta[k] + slip * guess[k]


@njit(cache=True, nogil=True, error_model="numpy")
def rows_of_raters(own, guess, theta):
    """Fill ``theta[j, k, z]`` from ``own[j]`` = (δ, ln ψ, logit e)."""
    n_classes = guess.size
    row = np.empty(n_classes)
    slopes = np.empty((n_classes, 3))
    for j in range(own.shape[0]):
        for z in range(n_classes):
            fill_row(own[j], z, guess, row, slopes)
            for k in range(n_classes):
                theta[j, k, z] = row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def slope_and_information(counts, own, guess, mean, sd, slope, information):
    """Compute Σ counts ln θ + ln prior of a rater; fills its ``slope`` (3,) and expected ``information`` (3, 3)."""
    n_classes = guess.size
    row = np.empty(n_classes)
    slopes = np.empty((n_classes, 3))
    height = 0.0
    for a in range(3):
        slope[a] = (mean[a] - own[a]) / sd[a] ** 2
        height -= 0.5 * ((own[a] - mean[a]) / sd[a]) ** 2
        for b in range(3):
            information[a, b] = 1.0 / sd[a] ** 2 if a == b else 0.0
    for z in range(n_classes):
        met = 0.0
        for k in range(n_classes):
            met += counts[k, z]
        if met == 0.0:
            continue
        fill_row(own, z, guess, row, slopes)
        for k in range(n_classes):
            p = max(row[k], 1e-300)
            height += counts[k, z] * np.log(p)
            for a in range(3):
                slope[a] += counts[k, z] / p * slopes[k, a]
                for b in range(3):
                    information[a, b] += met / p * slopes[k, a] * slopes[k, b]
    return height


@njit(cache=True, nogil=True, error_model="numpy")
def solve_three(matrix, right, found):
    """Solve ``matrix · found = right`` for a positive definite matrix of three rows, by Cholesky."""
    l11 = np.sqrt(matrix[0, 0])
    l21 = matrix[1, 0] / l11
    l31 = matrix[2, 0] / l11
    l22 = np.sqrt(matrix[1, 1] - l21 * l21)
    l32 = (matrix[2, 1] - l31 * l21) / l22
    l33 = np.sqrt(matrix[2, 2] - l31 * l31 - l32 * l32)
    y1 = right[0] / l11
    y2 = (right[1] - l21 * y1) / l22
    y3 = (right[2] - l31 * y1 - l32 * y2) / l33
    found[2] = y3 / l33
    found[1] = (y2 - l32 * found[2]) / l22
    found[0] = (y1 - l21 * found[1] - l31 * found[2]) / l11


@njit(cache=True, nogil=True, error_model="numpy")
def climb_raters(counts, guess, mean, sd, most_steps, tolerance, own):
    """Move each ``own[j]`` to where Σ counts[j] ln θ + ln prior is highest, by Fisher scoring with halved steps."""
    slope = np.empty(3)
    information = np.empty((3, 3))
    step = np.empty(3)
    trial = np.empty(3)
    aside = np.empty(3)
    spare = np.empty((3, 3))
    for j in range(own.shape[0]):
        height = slope_and_information(counts[j], own[j], guess, mean, sd, slope, information)
        for _ in range(most_steps):
            solve_three(information, slope, step)
            share = 1.0
            risen = -np.inf
            for _ in range(30):
                for a in range(3):
                    trial[a] = own[j, a] + share * max(-2.0, min(2.0, step[a]))
                risen = slope_and_information(counts[j], trial, guess, mean, sd, aside, spare)
                if risen >= height:
                    break
                share *= 0.5
            if not risen >= height:
                break
            moved = 0.0
            for a in range(3):
                moved = max(moved, abs(trial[a] - own[j, a]))
                own[j, a] = trial[a]
            height = slope_and_information(counts[j], own[j], guess, mean, sd, slope, information)
            if moved < tolerance:
                break


@njit(cache=True, nogil=True, error_model="numpy")
def _score_table(own, guess):
    """Compute ∂ ln θ[k | z] / ∂ (δ, ln ψ, logit e) of every rater, shape (n_raters, k, z, 3)."""
    n_classes = guess.size
    table = np.empty((own.shape[0], n_classes, n_classes, 3))
    row = np.empty(n_classes)
    slopes = np.empty((n_classes, 3))
    for j in range(own.shape[0]):
        for z in range(n_classes):
            fill_row(own[j], z, guess, row, slopes)
            for k in range(n_classes):
                for a in range(3):
                    table[j, k, z, a] = slopes[k, a] / max(row[k], 1e-300)
    return table


@njit(cache=True, nogil=True, error_model="numpy")
def squared_scores(case_ptr, rater, answer, posterior, own, guess, squares):
    """Add Σ_i s sᵀ to ``squares[j]``, s the mean over classes of ∂ ln P(annotation i | z) / ∂ ``own[j]``."""
    n_classes = guess.size
    table = _score_table(own, guess)
    score = np.empty(3)
    for case in range(case_ptr.size - 1):
        for n in range(case_ptr[case], case_ptr[case + 1]):
            j = rater[n]
            for a in range(3):
                score[a] = 0.0
                for z in range(n_classes):
                    score[a] += posterior[case, z] * table[j, answer[n], z, a]
            for a in range(3):
                for b in range(3):
                    squares[j, a, b] += score[a] * score[b]


@njit(cache=True, nogil=True, error_model="numpy")
def observed_information(counts, own, guess, mean, sd, information):
    """Fill ``information[j]`` with −∂² (Σ counts[j] ln θ + ln prior), by differences of the slope."""
    up, down, there = np.empty(3), np.empty(3), np.empty(3)
    spare = np.empty((3, 3))
    step = 1e-4
    for j in range(own.shape[0]):
        for a in range(3):
            for b in range(3):
                there[b] = own[j, b]
            there[a] = own[j, a] + step
            slope_and_information(counts[j], there, guess, mean, sd, up, spare)
            there[a] = own[j, a] - step
            slope_and_information(counts[j], there, guess, mean, sd, down, spare)
            for b in range(3):
                information[j, a, b] = (down[b] - up[b]) / (2.0 * step)


@njit(cache=True, nogil=True, error_model="numpy")
def _scores_of_case(first, last, rater, answer, of_case, table, off, place):
    """Fill complete scores of a case less their mean, ``off[score, z]``, with their places, and return their number."""
    n_classes = of_case.size
    n = 0
    for e in range(first, last):
        for a in range(3):
            mean = 0.0
            for z in range(n_classes):
                mean += of_case[z] * table[rater[e], answer[e], z, a]
            for z in range(n_classes):
                off[n, z] = table[rater[e], answer[e], z, a] - mean
            place[n] = 3 * rater[e] + a
            n += 1
    for k in range(n_classes):
        place[n] = 3 * table.shape[0] + k
        for z in range(n_classes):
            off[n, z] = (1.0 if z == k else 0.0) - of_case[k]
        n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def take_off_the_unknown_truth(case_ptr, rater, answer, posterior, own, guess, information):
    """Subtract from ``information`` what is lost because the true classes are unknown (Louis 1982).

    Σ_i Cov_z of the complete scores of case i: by (δ, ln ψ, logit e) of the raters, then of class z by the logs of the
    prevalence, (3 n_raters + n_classes) in all.
    """
    n_classes = guess.size
    table = _score_table(own, guess)
    longest = 0
    for case in range(case_ptr.size - 1):
        longest = max(longest, case_ptr[case + 1] - case_ptr[case])
    off = np.empty((3 * longest + n_classes, n_classes))
    place = np.empty(3 * longest + n_classes, np.int64)
    for case in range(case_ptr.size - 1):
        if case_ptr[case] == case_ptr[case + 1]:
            continue
        n = _scores_of_case(
            case_ptr[case], case_ptr[case + 1], rater, answer, posterior[case], table, off, place
        )  # fmt: skip
        for x in range(n):
            for y in range(n):
                lost = 0.0
                for z in range(n_classes):
                    lost += posterior[case, z] * off[x, z] * off[y, z]
                information[place[x], place[y]] -= lost
