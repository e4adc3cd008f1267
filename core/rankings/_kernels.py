"""Inverse rank normalisation, leaving one rater out, and average overlap of partial rankings.

Stutz et al., Evaluating AI systems under uncertain ground truth, appendices B.2, B.5 and D. Weights are counted in
whole units, so that sums do not depend on the order of the raters and equal sums are equal. No bounds are checked here.
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def block_places(entry_ptr, entry_block):
    """Count, for each entry, the classes in earlier blocks of its ranking, and those in its block."""
    n_entries = entry_block.size
    before = np.empty(n_entries, np.int32)
    size = np.empty(n_entries, np.int32)
    for a in range(entry_ptr.size - 1):
        start = entry_ptr[a]
        for e in range(entry_ptr[a], entry_ptr[a + 1]):
            if e + 1 == entry_ptr[a + 1] or entry_block[e + 1] != entry_block[e]:
                for member in range(start, e + 1):
                    before[member] = start - entry_ptr[a]
                    size[member] = e + 1 - start
                start = e + 1
    return before, size


@njit(cache=True, nogil=True)
def sum_by_class(case_ptr, entry_ptr, entry_class, units, n_classes):
    """List the distinct classes of each case, ascending, with the sum of their units."""
    n_cases = case_ptr.size - 1
    ptr = np.zeros(n_cases + 1, np.int64)
    class_code = np.empty(entry_class.size, np.int32)
    total = np.empty(entry_class.size, np.int64)
    sums = np.zeros(n_classes, np.int64)
    filled = 0
    for case in range(n_cases):
        start = filled
        for e in range(entry_ptr[case_ptr[case]], entry_ptr[case_ptr[case + 1]]):
            code = entry_class[e]
            if sums[code] == 0:
                class_code[filled] = code
                filled += 1
            sums[code] += units[e]
        class_code[start:filled].sort()
        for place in range(start, filled):
            total[place] = sums[class_code[place]]
            sums[class_code[place]] = 0
        ptr[case + 1] = filled
    return ptr, class_code[:filled].copy(), total[:filled].copy()


@njit(cache=True, nogil=True)
def agreement_with_others(  # noqa: C901 - taken apart it takes half as long again
    case_ptr, rater, entry_ptr, entry_class, units, ptr, class_code, total, n_classes
):
    """Compute, for each annotation, the share of the leading classes of all other raters that it ranks.

    ``ptr, class_code, total`` are the sums over all raters of the case. NaN without another rater. For a class that
    this rater does not rank, the units of the other raters are its total: only the first of those, in descending order,
    can come first, so a rater costs as much as it has entries.
    """
    result = np.full(rater.size, np.nan)
    sums = np.zeros(n_classes, np.int64)
    own = np.zeros(n_classes, np.int64)
    ranked = np.empty(n_classes, np.int32)
    for case in range(case_ptr.size - 1):
        low, high = case_ptr[case], case_ptr[case + 1]
        named = class_code[ptr[case] : ptr[case + 1]]
        value = total[ptr[case] : ptr[case + 1]]
        for place in range(named.size):
            sums[named[place]] = value[place]
        descending = np.argsort(-value)
        equal = np.ones(named.size, np.int64)  # how many classes of this value, at the first of them
        first_equal = np.zeros(named.size, np.int64)
        for i in range(1, named.size):
            first_equal[i] = i
            if value[descending[i]] == value[descending[i - 1]]:
                first_equal[i] = first_equal[i - 1]
                equal[first_equal[i]] += 1
        by_rater = low + np.argsort(rater[low:high])
        first = 0
        while first < by_rater.size:
            last = first
            while last < by_rater.size and rater[by_rater[last]] == rater[by_rater[first]]:
                last += 1
            n_ranked = 0
            for i in range(first, last):
                for e in range(entry_ptr[by_rater[i]], entry_ptr[by_rater[i] + 1]):
                    if own[entry_class[e]] == 0:
                        ranked[n_ranked] = entry_class[e]
                        n_ranked += 1
                    own[entry_class[e]] += units[e]
            best = np.int64(0)
            n_best = np.int64(0)
            i = 0
            while i < named.size and own[named[descending[i]]] > 0:
                i += 1
            if i < named.size:
                best = value[descending[i]]
                n_best = equal[first_equal[i]]
                for r in range(n_ranked):
                    if sums[ranked[r]] == best:
                        n_best -= 1
            for r in range(n_ranked):
                left = sums[ranked[r]] - own[ranked[r]]
                if left > best:
                    best = left
                    n_best = 0
                if left == best:
                    n_best += 1
            if best > 0:
                for i in range(first, last):
                    hits = 0
                    for e in range(entry_ptr[by_rater[i]], entry_ptr[by_rater[i] + 1]):
                        if sums[entry_class[e]] - own[entry_class[e]] == best:
                            hits += 1
                    result[by_rater[i]] = hits / n_best
            for r in range(n_ranked):
                own[ranked[r]] = 0
            first = last
    return result


@njit(cache=True, nogil=True)
def share_within(position, before, size):
    """Compute the share of a class in the first ``position``, if it is one of ``size`` tied behind ``before``."""
    if position <= before:
        return 0.0
    if position >= before + size:
        return 1.0
    return (position - before) / size


@njit(cache=True, nogil=True)
def self_overlap(a, entry_ptr, before, size, n_classes, depth):
    """Average overlap of a ranking with itself."""
    n_ranked = entry_ptr[a + 1] - entry_ptr[a]
    n_rest = n_classes - n_ranked
    total = 0.0
    for position in range(1, depth + 1):
        at = 0.0
        for e in range(entry_ptr[a], entry_ptr[a + 1]):
            at += share_within(position, before[e], size[e]) ** 2
        if n_rest > 0:
            at += n_rest * share_within(position, n_ranked, n_rest) ** 2
        total += at / position
    return total / depth


@njit(cache=True, nogil=True)
def pair_overlap(a, b, entry_ptr, entry_class, before, size, n_classes, depth, where):
    """Average overlap of two rankings; ``where`` is scratch of -1 for each class, given back as it came.

    The shares of all classes sum to the position. With u and v those of the unranked classes, the sum over classes of
    the products is position (u + v) - n_classes u v + the sum of (share - u)(share - v) over classes that both rank.
    """
    n_a, n_b = entry_ptr[a + 1] - entry_ptr[a], entry_ptr[b + 1] - entry_ptr[b]
    for e in range(entry_ptr[b], entry_ptr[b + 1]):
        where[entry_class[e]] = e
    total = 0.0
    for position in range(1, depth + 1):
        rest_a = share_within(position, n_a, max(n_classes - n_a, 1))
        rest_b = share_within(position, n_b, max(n_classes - n_b, 1))
        at = position * (rest_a + rest_b) - n_classes * rest_a * rest_b
        for e in range(entry_ptr[a], entry_ptr[a + 1]):
            other = where[entry_class[e]]
            if other >= 0:
                above_a = share_within(position, before[e], size[e]) - rest_a
                at += above_a * (share_within(position, before[other], size[other]) - rest_b)
        total += max(at, 0.0) / position
    for e in range(entry_ptr[b], entry_ptr[b + 1]):
        where[entry_class[e]] = -1
    return total / depth


@njit(cache=True, nogil=True)
def overlaps_of_pairs(first, second, entry_ptr, entry_class, before, size, n_classes, depth):
    """Compute the normalised average overlap of each pair of rankings, 1 for equal ones."""
    where = np.full(n_classes, -1, np.int64)
    itself = np.full(entry_ptr.size - 1, np.nan)
    found = np.empty(first.size)
    for pair in range(first.size):
        a, b = first[pair], second[pair]
        if np.isnan(itself[a]):
            itself[a] = self_overlap(a, entry_ptr, before, size, n_classes, depth)
        if np.isnan(itself[b]):
            itself[b] = self_overlap(b, entry_ptr, before, size, n_classes, depth)
        form = pair_overlap(a, b, entry_ptr, entry_class, before, size, n_classes, depth, where)
        found[pair] = min(1.0, form / np.sqrt(itself[a] * itself[b]))
    return found


@njit(cache=True, nogil=True)
def forms_of_sums(above, unranked, n_classes):
    """Compute both quadratic forms of sums over annotations: ``above`` (2, n_slots, depth), ``unranked`` (2, depth)."""
    _, n_slots, depth = above.shape
    form_plain = 0.0
    form_scaled = 0.0
    for position in range(1, depth + 1):
        rest = unranked[:, position - 1]
        at_plain = (n_classes - n_slots) * rest[0] ** 2
        at_scaled = (n_classes - n_slots) * rest[1] ** 2
        for place in range(n_slots):
            at_plain += (above[0, place, position - 1] + rest[0]) ** 2
            at_scaled += (above[1, place, position - 1] + rest[1]) ** 2
        form_plain += at_plain / (position * depth)
        form_scaled += at_scaled / (position * depth)
    return form_plain, form_scaled


@njit(cache=True, nogil=True)
def mean_pair_overlaps(case_ptr, rater, entry_ptr, entry_class, before, size, n_classes, depth):
    """Average over the pairs of raters of each case: average overlap, normalised overlap, and the number of pairs.

    The sum over pairs of a bilinear form is (form of the sum - sum of the forms) / 2: O(entries * depth) a case,
    however many pairs. Pairs of annotations of one rater are taken out one by one.
    """
    n_cases = case_ptr.size - 1
    plain = np.full(n_cases, np.nan)
    scaled = np.full(n_cases, np.nan)
    n_pairs = np.zeros(n_cases, np.int64)
    where = np.full(n_classes, -1, np.int64)
    slot = np.full(n_classes, -1, np.int64)
    itself = np.empty(rater.size)
    for case in range(n_cases):
        low, high = case_ptr[case], case_ptr[case + 1]
        by_rater = low + np.argsort(rater[low:high])
        n_slots = 0
        for e in range(entry_ptr[low], entry_ptr[high]):
            if slot[entry_class[e]] < 0:
                slot[entry_class[e]] = n_slots
                n_slots += 1
        above = np.zeros((2, n_slots, depth))  # of the named classes, beyond what an unranked class has
        unranked = np.zeros((2, depth))
        same_plain = 0.0
        same_scaled = 0.0
        for a in range(low, high):
            itself[a] = self_overlap(a, entry_ptr, before, size, n_classes, depth)
            scale = 1.0 / np.sqrt(itself[a])
            n_ranked = entry_ptr[a + 1] - entry_ptr[a]
            same_plain += itself[a]
            same_scaled += 1.0
            for position in range(1, depth + 1):
                rest = share_within(position, n_ranked, max(n_classes - n_ranked, 1))
                unranked[0, position - 1] += rest
                unranked[1, position - 1] += rest * scale
                for e in range(entry_ptr[a], entry_ptr[a + 1]):
                    share = share_within(position, before[e], size[e]) - rest
                    above[0, slot[entry_class[e]], position - 1] += share
                    above[1, slot[entry_class[e]], position - 1] += share * scale
        for e in range(entry_ptr[low], entry_ptr[high]):
            slot[entry_class[e]] = -1
        pairs = (high - low) * (high - low - 1) // 2
        first = 0
        while first < by_rater.size:
            last = first + 1
            while last < by_rater.size and rater[by_rater[last]] == rater[by_rater[first]]:
                for i in range(first, last):
                    a, b = by_rater[i], by_rater[last]
                    form = pair_overlap(a, b, entry_ptr, entry_class, before, size, n_classes, depth, where)
                    same_plain += 2.0 * form
                    same_scaled += 2.0 * form / np.sqrt(itself[a] * itself[b])
                    pairs -= 1
                last += 1
            first = last
        n_pairs[case] = pairs
        if pairs == 0:
            continue
        form_plain, form_scaled = forms_of_sums(above, unranked, n_classes)
        plain[case] = min(max((form_plain - same_plain) / (2.0 * pairs), 0.0), 1.0)
        scaled[case] = min(max((form_scaled - same_scaled) / (2.0 * pairs), 0.0), 1.0)
    return plain, scaled, n_pairs
