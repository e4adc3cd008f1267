"""Mixture Plackett-Luce: u_ij ~ Bernoulli(a_j), b_ij | u = 1 ~ PL(λ_i)^γ, b_ij | u = 0 ~ PL(g)^γ.

u given λ and a: P(u = 1 | ·) = a p(b | λ)^γ / (a p(b | λ)^γ + (1 - a) p(b | g)^γ), with orders and arrival times summed
out; then one sweep of the Plackett-Luce sampler over the rankings with u = 1. The mixture is that of Eubanks, *Kappa
Zoo*, chapter 9 (t-a-p), for rankings; λ given u as in Stutz et al., appendix B.4.

λ comes from the stream of its case, u from streams of their own.
"""

import numpy as np

from ...runtime.numba_setup import njit
from ._attention_kernels import LEAST, attend
from ._gibbs_kernels import keep_draw, log_correction, mark_ranked, set_copies, table_slots, try_proposal
from ._kernels import TABLE_SIZE


@njit(cache=True, nogil=True)
def weigh(which, attends, gamma, weight):
    """Return γ times the number of annotations with u = 1 of each distinct ranking."""
    weight[:] = 0.0
    for n in range(which.size):
        if attends[n]:
            weight[which[n]] += 1.0
    for ranking in range(weight.size):
        weight[ranking] *= gamma


@njit(cache=True, nogil=True)
def advance(
    rater_ptr,
    block_ptr,
    member,
    which,
    rater,
    key,
    log_guess,
    n_named,
    n_rest,
    alpha,
    rest_alpha,
    rest_shape,
    gamma,
    trust,
    first,
    n_burn,
    lam,
    attends,
    attended,
    counts,
    share,
    rest,
    order,
):
    """Run sweeps ``first`` and on of one case, one for each row of ``trust``; before sweep 0, λ starts at its shapes.

    ``lam`` and ``attends`` (u) are the state of the chain and are changed in place; P(u = 1 | ·) is added to
    ``attended`` and u to ``counts`` (by rater). Draws after ``n_burn`` go into ``share``, ``rest`` and ``order``, one
    row each, or all into the only row. Numbers come from the thread's generator, as in `gibbs`.
    """
    n_raters = rater_ptr.size - 1
    n_places = lam.size
    whole = np.empty(n_raters, np.int64)
    fraction = np.empty(n_raters)
    weight = np.empty(n_raters)
    log_case = np.empty(n_raters)
    chance = np.empty(which.size)
    shape = np.empty(n_places)
    proposal = np.empty(n_places)
    exposure = np.empty(n_places)
    after = np.empty(max(1, block_ptr.size))
    rate = np.empty(TABLE_SIZE)
    table = np.empty(TABLE_SIZE)
    count = np.zeros(TABLE_SIZE, np.int64)
    largest = np.empty(order.shape[1])
    named_by = np.empty(n_places, np.int64)
    own = np.empty(n_places, np.bool_)
    prior = np.full(n_places, alpha)
    prior[n_named:] = rest_alpha
    ranked = mark_ranked(rater_ptr, block_ptr, member, n_places)
    weigh(which, attends, gamma, weight)
    corrected = set_copies(rater_ptr, block_ptr, member, weight, n_named, alpha, rest_alpha, whole, fraction, shape)
    if first == 0:
        total = shape.sum()
        for place in range(n_places):
            lam[place] = shape[place] / total
    slot, n_slots = table_slots(block_ptr)
    tables = np.empty((2, n_slots, 3, TABLE_SIZE))
    side = np.zeros(1, np.int64)
    stale = True
    current = 0.0
    for step in range(trust.shape[0]):
        sweep = first + step
        if attend(
            sweep,
            rater_ptr,
            block_ptr,
            member,
            which,
            rater,
            key,
            log_guess,
            gamma,
            trust[step],
            prior,
            lam,
            attends,
            chance,
            log_case,
            named_by,
            own,
            proposal,
            after,
            rate,
            table,
        ):
            weigh(which, attends, gamma, weight)
            corrected = set_copies(
                rater_ptr, block_ptr, member, weight, n_named, alpha, rest_alpha, whole, fraction, shape
            )
            stale = True
        if corrected and stale:
            current = log_correction(rater_ptr, block_ptr, member, fraction, lam, after, slot, tables[side[0]])
            stale = False
        take, current = try_proposal(
            rater_ptr,
            block_ptr,
            member,
            whole,
            fraction,
            shape,
            ranked,
            corrected,
            current,
            lam,
            proposal,
            exposure,
            after,
            rate,
            table,
            count,
            slot,
            tables,
            side,
        )
        if take:
            stale = not corrected  # The correction of the new λ is known only if it was computed.
            for k in range(n_places):
                stale = stale or proposal[k] < LEAST
                lam[k] = max(proposal[k], LEAST)
        for n in range(which.size):
            if attends[n]:
                counts[rater[n]] += 1
        if sweep >= n_burn:
            row = min(sweep - n_burn, rest.size - 1)
            rest[row] = keep_draw(lam, n_rest, rest_shape, share[row], order[row], largest)
            for n in range(which.size):
                attended[n] += chance[n]


@njit(cache=True, nogil=True)
def advance_cases(
    start,
    stop,
    generator,
    states,
    seeds,
    ranking_at,
    rater_ptr,
    block_at,
    block_ptr,
    member_at,
    member,
    case_ptr,
    which,
    rater,
    key,
    log_guess,
    place_at,
    n_named,
    n_rest,
    alpha,
    rest_alpha,
    rest_shape,
    gamma,
    trust,
    sweep,
    n_burn,
    depth,
    lam,
    attends,
    attended,
    counts,
):
    """Run one sweep of cases ``start`` to ``stop``, each with its own generator, which is a row of ``states``.

    ``generator`` is a view of the thread's generator; ``counts`` gets u by rater. ``*_at`` contain the place at which a
    case's part of an array begins.
    """
    order = np.empty((1, depth), np.int32)
    rest = np.empty(1)
    for case in range(start, stop):
        if sweep == 0:
            np.random.seed(seeds[case])
        else:
            for word in range(generator.size):
                generator[word] = states[case, word]
        own = slice(case_ptr[case], case_ptr[case + 1])
        advance(
            rater_ptr[ranking_at[case] : ranking_at[case + 1]],
            block_ptr[block_at[case] : block_at[case + 1]],
            member[member_at[case] : member_at[case + 1]],
            which[own],
            rater[own],
            key[own],
            log_guess[own],
            n_named[case],
            n_rest[case],
            alpha,
            rest_alpha[case],
            rest_shape,
            gamma,
            trust,
            sweep,
            n_burn,
            lam[place_at[case] : place_at[case + 1]],
            attends[own],
            attended[own],
            counts,
            np.empty((1, n_named[case])),
            rest,
            order,
        )
        for word in range(generator.size):
            states[case, word] = generator[word]


@njit(cache=True, nogil=True)
def replay(
    seed,
    rater_ptr,
    block_ptr,
    member,
    which,
    rater,
    key,
    log_guess,
    n_named,
    n_rest,
    alpha,
    rest_alpha,
    rest_shape,
    gamma,
    trust,
    n_burn,
    n_draws,
    depth,
    attends,
):
    """Run the whole chain of one case, given a at every sweep: the same numbers as in `advance_cases`.

    ``attends`` contains u at the start, and is changed in place. Returns shares, the sum of the rest and the leading
    places.
    """
    np.random.seed(seed)
    share = np.empty((n_draws, n_named))
    rest = np.zeros(n_draws)
    order = np.empty((n_draws, depth), np.int32)
    advance(
        rater_ptr,
        block_ptr,
        member,
        which,
        rater,
        key,
        log_guess,
        n_named,
        n_rest,
        alpha,
        rest_alpha,
        rest_shape,
        gamma,
        trust,
        0,
        n_burn,
        np.empty(n_named + (1 if n_rest > 0 else 0)),
        attends,
        np.zeros(which.size),
        np.zeros(trust.shape[1], np.int64),
        share,
        rest,
        order,
    )
    return share, rest, order
