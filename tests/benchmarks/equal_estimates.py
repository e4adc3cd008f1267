"""How often an extreme is named among equal estimates. Run: python -m tests.benchmarks.equal_estimates [data sets].

Shares of independent cases with Wilson's interval; agreement of equal raters with the others and specific agreement of
equally common classes, both of the same cases; classes that are equally common. Each line is the share of simulated
data in which a least or a most is named, to be 5% at most, and in which largest and smallest are said to differ.
"""

import sys
from itertools import product

import numpy as np

from core.agreement.by_rater import by_rater
from core.agreement.intervals import Z95, wilson
from core.agreement.specific import specific_agreement
from core.extremes import clearly_apart, clearly_least, clearly_most, clearly_most_cases
from tests.benchmarks.equal_raters import panel


def shares(rng, n_candidates, n, p, most_n=None):
    """Independent shares of p with Wilson's ends; with ``most_n`` of n to that many cases."""
    sizes = np.full(n_candidates, n) if most_n is None else rng.integers(n, most_n, n_candidates)
    value = rng.binomial(sizes, p) / sizes
    low, high = zip(*(wilson(x, size, Z95) for x, size in zip(value, sizes, strict=True)), strict=True)
    return value, low, high


def of_coefficients(found):
    """Values and ends of coefficients."""
    return tuple([getattr(one, name) for one in found] for name in ("value", "ci_low", "ci_high"))


def agreement_of_raters(rng, n_raters, n_cases, n_classes):
    """Agreement of equal raters with the others."""
    return of_coefficients(by_rater(panel(rng, n_raters, n_cases, n_classes, accuracy=0.5)).each)


def agreement_by_class(rng, n_raters, n_cases, n_classes):
    """Specific agreement of equally common classes."""
    return of_coefficients(specific_agreement(panel(rng, n_raters, n_cases, n_classes, accuracy=0.5)))


def rates(make, n_sets):
    """How often a least, a most, and a difference of the two are named."""
    found = [make() for _ in range(n_sets)]
    return tuple(
        sum(ask(*ends) not in (None, False) for ends in found) / n_sets
        for ask in (clearly_least, clearly_most, clearly_apart)
    )


def commonest(rng, n_classes, n, n_sets):
    """How often one of equally common classes is named as the commonest."""
    drawn = rng.multinomial(n, np.full(n_classes, 1 / n_classes), n_sets)
    return sum(clearly_most_cases(one / n, n) is not None for one in drawn) / n_sets


def main(n_sets=1000):
    """Print a line for each design."""
    rng = np.random.default_rng(45)
    print(f"{'design':44} {'least':>7} {'most':>7} {'differ':>7}")
    for k, n, p in product((2, 3, 10), (10, 30, 200), (0.5, 0.9, 0.98)):
        print_line(f"{k} shares of {p}, n = {n}", rates(lambda k=k, n=n, p=p: shares(rng, k, n, p), n_sets))
        if n == 10:
            uneven = rates(lambda k=k, p=p: shares(rng, k, 10, p, 300), n_sets)
            print_line(f"{k} shares of {p}, n = 10 to 300", uneven)
    for make, k, n, c in product((agreement_of_raters, agreement_by_class), (3, 5), (30, 200), (2, 4)):
        name = make.__name__.replace("_", " ")
        some = rates(lambda make=make, k=k, n=n, c=c: make(rng, k, n, c), max(n_sets // 5, 1))
        print_line(f"{name}: {k} raters, {n} cases, {c} classes", some)
    for k, n in product((2, 3, 10), (10, 50, 500)):
        print(f"{f'commonest of {k} classes of {n} cases':44} {'':7} {commonest(rng, k, n, n_sets):7.1%}", flush=True)


def print_line(title, found):
    """One design."""
    print(f"{title:44} {' '.join(f'{rate:7.1%}' for rate in found)}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
