"""Kernels for annotations of K classes by raters of one ability each, with the difficulty of cases integrated out.

P(y = z) = logit⁻¹(d a_j), P(y = k ≠ z) = (1 − logit⁻¹(d a_j)) w[z, k] with Σ_k w[z, k] = 1; ln d = σ x, x on the nodes
of a rule for N(0, 1). A case's classes that nobody named have one profile over the nodes: they share a row of its table
of joint probabilities. Whitehill et al. (2009), where w[z, k] = 1/(K − 1).
"""

import numpy as np

from ...runtime.numba_setup import njit


@njit(cache=True, nogil=True, error_model="numpy")
def ability_table(ability, discrimination, gain, log_wrong):
    """Fill ``gain[j, q]``, the log odds d_q a_j of being right, and ``log_wrong[j, q]`` = ln P(wrong)."""
    for j in range(ability.size):
        for q in range(discrimination.size):
            odds = ability[j] * discrimination[q]
            gain[j, q] = odds
            log_wrong[j, q] = -(max(odds, 0.0) + np.log1p(np.exp(-abs(odds))))


@njit(cache=True, nogil=True, error_model="numpy")
def prevalence_of(case, known, log_prevalence, only):
    """Return the log prevalence for a case: in ``only``, for its single class, if known."""
    if known.size == 0 or known[case] < 0:
        return log_prevalence
    for z in range(only.size):
        only[z] = log_prevalence[z] if z == known[case] else -np.inf
    return only


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_case(rater, answer, n, gain, log_wrong, log_w, log_prevalence, log_node, beta, slot, named, blame, joint):
    """Compute P(z, node | n annotations, each counted ``beta``); returns the number of named classes and ln P.

    ``joint[s, q]`` is of class ``named[s]``, and in the row after the last one of all other classes together, whose
    shares within it are left in ``blame[z]`` (0 where z was named). ``slot[z]``, -1 on entry and on return, is scratch.
    """
    n_classes = log_prevalence.size
    n_nodes = log_node.size
    n_named = 0
    for a in range(n):
        if slot[answer[a]] < 0:
            slot[answer[a]] = n_named
            named[n_named] = answer[a]
            n_named += 1
    for z in range(n_classes):
        blame[z] = 0.0
    for a in range(n):
        y = answer[a]
        for z in range(n_classes):
            if z != y:
                blame[z] += log_w[z, y]
    for s in range(n_named + 1):
        for q in range(n_nodes):
            joint[s, q] = 0.0
    rest = n_named
    for a in range(n):
        s = slot[answer[a]]
        for q in range(n_nodes):
            joint[rest, q] += log_wrong[rater[a], q]
            joint[s, q] += gain[rater[a], q]
    highest = -np.inf
    for z in range(n_classes):
        blame[z] = log_prevalence[z] + beta * blame[z]
        if slot[z] < 0:
            highest = max(highest, blame[z])
    others = 0.0
    for z in range(n_classes):
        if slot[z] < 0 and blame[z] > -np.inf:
            others += np.exp(blame[z] - highest)
    of_rest = highest + np.log(others) if others > 0 else -np.inf
    top = -np.inf
    for s in range(n_named):
        for q in range(n_nodes):
            joint[s, q] = blame[named[s]] + log_node[q] + beta * (joint[s, q] + joint[rest, q])
            top = max(top, joint[s, q])
    for q in range(n_nodes):
        joint[rest, q] = of_rest + log_node[q] + beta * joint[rest, q]
        top = max(top, joint[rest, q])
    total = 0.0
    for s in range(n_named + 1):
        for q in range(n_nodes):
            joint[s, q] = np.exp(joint[s, q] - top) if joint[s, q] > -np.inf else 0.0
            total += joint[s, q]
    for s in range(n_named + 1):
        for q in range(n_nodes):
            joint[s, q] /= total
    for z in range(n_classes):
        blame[z] = np.exp(blame[z] - of_rest) if slot[z] < 0 and of_rest > -np.inf else 0.0
    for s in range(n_named):
        slot[named[s]] = -1
    return n_named, top + np.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def expect_difficult(
    case_ptr, rater, answer, gain, log_wrong, log_w, log_prevalence, log_node, known, count, beta, first_case,
    last_case, posterior, keep,
):  # fmt: skip
    """Run one pass over cases ``first_case`` to ``last_case``.

    ``known`` holds the class of a case or -1, or is empty; ``count`` is the number of cases of each, or is empty.
    Returns the log-likelihood, expected cases by class,
    expected right and all annotations by (rater, node), and expected mistakes by (true, annotated). Fills rows of
    ``posterior`` where ``keep``.
    """
    n_classes = log_prevalence.size
    n_nodes = log_node.size
    longest = 0
    for case in range(first_case, last_case):
        longest = max(longest, case_ptr[case + 1] - case_ptr[case])
    slot = np.full(n_classes, -1)
    named = np.empty(min(longest, n_classes), np.int64)
    joint = np.empty((named.size + 1, n_nodes))
    blame = np.empty(n_classes)
    only = np.empty(n_classes)
    share = np.empty(n_classes)
    node = np.empty(n_nodes)
    cases_of = np.zeros(n_classes)
    right = np.zeros(gain.shape)
    every = np.zeros(gain.shape)
    mistakes = np.zeros((n_classes, n_classes))
    total = 0.0
    for case in range(first_case, last_case):
        start = case_ptr[case]
        n = case_ptr[case + 1] - start
        prevalence = prevalence_of(case, known, log_prevalence, only)
        of_case = rater[start : start + n]
        given = answer[start : start + n]
        n_named, log_p = weigh_case(
            of_case, given, n, gain, log_wrong, log_w, prevalence, log_node, beta, slot, named, blame, joint
        )
        times = float(count[case]) if count.size else 1.0
        total += times * log_p if n else 0.0
        others = 0.0
        for q in range(n_nodes):
            others += joint[n_named, q]
        for z in range(n_classes):
            share[z] = others * blame[z]
        for s in range(n_named):
            mass = 0.0
            for q in range(n_nodes):
                mass += joint[s, q]
            share[named[s]] = mass
        if known.size and known[case] >= 0:
            for z in range(n_classes):
                share[z] = 1.0 if z == known[case] else 0.0
        if keep:
            for z in range(n_classes):
                posterior[case, z] = share[z]
        if n == 0:  # a case that nobody annotated says nothing about prevalence
            continue
        for z in range(n_classes):
            cases_of[z] += times * share[z]
        for q in range(n_nodes):
            node[q] = 0.0
            for s in range(n_named + 1):
                node[q] += times * joint[s, q]
        for s in range(n_named):
            slot[named[s]] = s
        for a in range(n):
            j = of_case[a]
            y = given[a]
            s = slot[y]
            for q in range(n_nodes):
                right[j, q] += times * joint[s, q]
                every[j, q] += node[q]
            for z in range(n_classes):
                if z != y:
                    mistakes[z, y] += times * share[z]
        for s in range(n_named):
            slot[named[s]] = -1
    return total, cases_of, right, every, mistakes


@njit(cache=True, nogil=True, error_model="numpy")
def climb_abilities(right, every, discrimination, on_logs, centre, variance, n_steps, place):
    """Climb Σ_q right ln p + (every − right) ln(1 − p) − (place − centre)²/2 variance by Fisher scoring, by rater.

    p = logit⁻¹(d_q a); a is ``place[j]`` or, where ``on_logs``, its exponential. Moves ``place``; returns the curvature
    at its end, shape (n_raters,).
    """
    information = np.empty(place.size)
    for j in range(place.size):
        for step in range(n_steps + 1):
            a = np.exp(place[j]) if on_logs else place[j]
            slope = (centre - place[j]) / variance
            curvature = 1.0 / variance
            for q in range(discrimination.size):
                d = discrimination[q] * a if on_logs else discrimination[q]
                p = 1.0 / (1.0 + np.exp(-discrimination[q] * a))
                slope += d * (right[j, q] - every[j, q] * p)
                curvature += d * d * every[j, q] * p * (1.0 - p)
            information[j] = curvature
            if step < n_steps:
                place[j] += max(-1.0, min(1.0, slope / curvature))
    return information


@njit(cache=True, nogil=True, error_model="numpy")
def slope_of_spread(right, every, ability, node, spread):
    """Differentiate Σ right ln p + (every − right) ln(1 − p) by σ, p = logit⁻¹(exp(σ x_q) a_j); with information."""
    slope = 0.0
    information = 0.0
    for q in range(node.size):
        d = np.exp(spread * node[q])
        for j in range(ability.size):
            by = ability[j] * d * node[q]
            p = 1.0 / (1.0 + np.exp(-ability[j] * d))
            slope += by * (right[j, q] - every[j, q] * p)
            information += by * by * every[j, q] * p * (1.0 - p)
    return slope, information


@njit(cache=True, nogil=True, error_model="numpy")
def score_hidden_of_difficult(
    case_ptr, rater, answer, gain, log_wrong, log_w, log_prevalence, log_node, fold, scored, hidden, betas, log_floor,
    first_case, last_case, sums,
):  # fmt: skip
    """Add ln P(annotation | the case's others) of what fold ``hidden`` hides to ``sums[case, beta]``."""
    n_classes = log_prevalence.size
    n_nodes = log_node.size
    longest = 0
    for case in range(first_case, last_case):
        longest = max(longest, case_ptr[case + 1] - case_ptr[case])
    slot = np.full(n_classes, -1)
    named = np.empty(min(longest, n_classes), np.int64)
    joint = np.empty((named.size + 1, n_nodes))
    blame = np.empty(n_classes)
    of_case = np.empty(longest, rater.dtype)
    given = np.empty(longest, answer.dtype)
    for case in range(first_case, last_case):
        target = -1
        n = 0
        for a in range(case_ptr[case], case_ptr[case + 1]):
            if fold[a] != hidden:
                of_case[n] = rater[a]
                given[n] = answer[a]
                n += 1
            elif scored[a]:
                target = a
        if target < 0:
            continue
        j = rater[target]
        y = answer[target]
        for b in range(betas.size):
            n_named, _ = weigh_case(
                of_case, given, n, gain, log_wrong, log_w, log_prevalence, log_node, betas[b], slot, named, blame, joint
            )
            in_rest = 0.0
            for z in range(n_classes):
                if z != y:
                    in_rest += blame[z] * np.exp(log_w[z, y])
            p = 0.0
            for q in range(n_nodes):
                wrong = np.exp(log_wrong[j, q])
                for s in range(n_named):
                    p += joint[s, q] * (1.0 - wrong if named[s] == y else wrong * np.exp(log_w[named[s], y]))
                p += joint[n_named, q] * ((1.0 - wrong) * blame[y] + wrong * in_rest)
            sums[case, b] += max(np.log(p), log_floor) if p > 0 else log_floor


@njit(cache=True, nogil=True, error_model="numpy")
def difficulty_of_cases(
    case_ptr, rater, answer, gain, log_wrong, log_w, log_prevalence, log_node, known, value, tail, first_case,
    last_case, found,
):  # fmt: skip
    """Fill ``found[:, case]``: mean, sd and ends of −``value`` given annotations, on an even grid; ``tail`` outside.

    Each end leaves ``tail`` of the posterior beyond it.
    """
    n_classes = log_prevalence.size
    n_nodes = log_node.size
    longest = 0
    for case in range(first_case, last_case):
        longest = max(longest, case_ptr[case + 1] - case_ptr[case])
    slot = np.full(n_classes, -1)
    named = np.empty(min(longest, n_classes), np.int64)
    joint = np.empty((named.size + 1, n_nodes))
    blame = np.empty(n_classes)
    only = np.empty(n_classes)
    step = value[1] - value[0]
    for case in range(first_case, last_case):
        start = case_ptr[case]
        n = case_ptr[case + 1] - start
        prevalence = prevalence_of(case, known, log_prevalence, only)
        n_named, _ = weigh_case(
            rater[start : start + n], answer[start : start + n], n, gain, log_wrong, log_w, prevalence, log_node,
            1.0, slot, named, blame, joint,
        )  # fmt: skip
        mean = 0.0
        square = 0.0
        below = 0.0
        low = value[0]
        high = value[n_nodes - 1]
        for q in range(n_nodes):
            mass = 0.0
            for s in range(n_named + 1):
                mass += joint[s, q]
            mean += mass * value[q]
            square += mass * value[q] ** 2
            if below < tail and below + mass >= tail:
                low = value[q] + step * ((tail - below) / mass - 0.5)
            if below < 1 - tail and below + mass >= 1 - tail:
                high = value[q] + step * ((1 - tail - below) / mass - 0.5)
            below += mass
        found[0, case] = -mean
        found[1, case] = np.sqrt(max(square - mean**2, 0.0))
        found[2, case] = -high
        found[3, case] = -low


@njit(cache=True, nogil=True, error_model="numpy")
def missing_information(
    case_ptr, rater, answer, gain, log_wrong, log_w, log_prevalence, log_node, ability, discrimination, on_logs, known,
    first_case, last_case,
):  # fmt: skip
    """Compute the variance, given annotations, of the derivative of the complete log-likelihood by each ability."""
    n_classes = log_prevalence.size
    n_nodes = log_node.size
    longest = 0
    for case in range(first_case, last_case):
        longest = max(longest, case_ptr[case + 1] - case_ptr[case])
    slot = np.full(n_classes, -1)
    named = np.empty(min(longest, n_classes), np.int64)
    joint = np.empty((named.size + 1, n_nodes))
    blame = np.empty(n_classes)
    only = np.empty(n_classes)
    lost = np.zeros(ability.size)
    for case in range(first_case, last_case):
        start = case_ptr[case]
        n = case_ptr[case + 1] - start
        prevalence = prevalence_of(case, known, log_prevalence, only)
        n_named, _ = weigh_case(
            rater[start : start + n], answer[start : start + n], n, gain, log_wrong, log_w, prevalence, log_node,
            1.0, slot, named, blame, joint,
        )  # fmt: skip
        for a in range(start, start + n):
            j = rater[a]
            first = 0.0
            second = 0.0
            for q in range(n_nodes):
                wrong = np.exp(log_wrong[j, q])
                by = discrimination[q] * (ability[j] if on_logs else 1.0)
                for s in range(n_named + 1):
                    slope = by * (wrong if s < n_named and named[s] == answer[a] else wrong - 1.0)
                    first += joint[s, q] * slope
                    second += joint[s, q] * slope * slope
            lost[j] += max(second - first * first, 0.0)
    return lost
