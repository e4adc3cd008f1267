"""Signs of annotations given without looking at the case, other than accuracy.

All are counted on *clear* annotations: those on cases where the other raters together are nearly certain of a class.
Attentive raters make few mistakes there. Annotations of a careless rater do not depend on the case, so classes that
they favour occur on cases of many other classes; a rater who only confuses two classes, or uses another boundary, names
the wrong one on cases of one class. With two classes these cannot be distinguished, and nobody is flagged as careless.
"""

from dataclasses import dataclass

import numpy as np

from ..result_base import Result
from ..thresholds import CLEAR_CASE
from .leave_one_rater_out import Panel

FAR = 0.05
_FEW = 10  # With fewer clear annotations of others on a class, no annotation counts as far off.
_WEIGHT = 2.0  # Number of pseudo-annotations in each row of a rater's table.
SPAM_PRIOR = 0.01


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Carelessness(Result):
    """Signs of carelessness of each rater; arrays of shape (n_raters,).

    An annotation is *far off* if the others are certain of another class, and less than `FAR` of the others'
    annotations on clear cases of that class are equal to it.

    Attributes
    ----------
    n_clear : ndarray of int64
        Number of annotations on cases that the others are certain of.
    n_far : ndarray of int64
        Number of these that are far off.
    favourite : ndarray of int32
        Class that stands out most among the far-off annotations; -1 if there is none.
    n_favourite : ndarray of int64
        Number of far-off annotations that name it.
    n_over : ndarray of int64
        Number of classes of the others on which it is given.
    n_regardless : ndarray of int64
        ``n_favourite`` less those on the one class that it is most often given for, which a confusion of two classes
        explains.
    expected : ndarray
        Number of the rater's ``n_far`` that would name the favourite if they were distributed as those of the others.
    p_favourite : ndarray
        P(as many as ``n_regardless`` or more | far-off annotations are distributed as those of the others), times the
        number of classes; 1 without data.
    spam : ndarray
        P(the annotations do not depend on the case), from `SPAM_PRIOR` and ``log_factor``; NaN without clear
        annotations on two classes.
    log_factor : ndarray
        Log Bayes factor of that against annotations distributed on each class as those of the others.
    """

    n_clear: np.ndarray
    n_far: np.ndarray
    favourite: np.ndarray
    n_favourite: np.ndarray
    n_over: np.ndarray
    n_regardless: np.ndarray
    expected: np.ndarray
    p_favourite: np.ndarray
    spam: np.ndarray
    log_factor: np.ndarray

    TABLES = ("raters",)
    COLUMNS = (
        *("n_clear", "n_far", "favourite", "n_favourite", "n_over", "n_regardless"),
        *("expected", "p_favourite"),
    )

    @property
    def p_spam(self) -> np.ndarray:
        """Largest probability that honest annotations give so large a Bayes factor (Markov); 1 if NaN."""
        return np.minimum(1.0, np.exp(-np.maximum(np.nan_to_num(self.log_factor), 0)))


def carelessness(panel: Panel, certain: float = CLEAR_CASE) -> Carelessness:
    """Count far-off annotations and favourites, and compute the probability that annotations ignore the case."""
    dataset = panel.dataset
    n_raters, n_classes = dataset.n_raters, dataset.n_classes
    clear = np.flatnonzero(panel.judged & (panel.sure >= certain))
    cell = (dataset.rater[clear].astype(np.int64) * n_classes + panel.top[clear]) * n_classes + dataset.answer[clear]
    cell, count = np.unique(cell, return_counts=True)
    row, answer = np.divmod(cell, n_classes)
    rater, top = np.divmod(row, n_classes)
    tables = _Tables(rater, top, answer, count, n_raters, n_classes)
    n_clear = np.bincount(rater, count, n_raters).astype(np.int64)
    log_factor = tables.log_factor()
    spam = SPAM_PRIOR / (SPAM_PRIOR + (1 - SPAM_PRIOR) * np.exp(-np.clip(log_factor, -700, 700)))
    return Carelessness(n_clear=n_clear, spam=spam, log_factor=log_factor, **tables.favourites())


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """Sparse tables of clear annotations: rater, class of the others, annotation, count; ascending."""

    rater: np.ndarray
    top: np.ndarray
    answer: np.ndarray
    count: np.ndarray
    n_raters: int
    n_classes: int

    def pool(self) -> np.ndarray:
        pool = np.zeros((self.n_classes, self.n_classes))
        np.add.at(pool, (self.top, self.answer), self.count)
        return pool

    def in_row(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the row (rater, class of the others) of each entry, and the number of annotations in each row."""
        key = self.rater * self.n_classes + self.top
        _, place = np.unique(key, return_inverse=True)
        return place, np.bincount(place, self.count)

    def favourites(self) -> dict[str, np.ndarray]:
        pool = self.pool()
        place, size = self.in_row()
        others = pool.sum(axis=1)[self.top] - size[place]
        same = pool[self.top, self.answer] - self.count
        far = (self.answer != self.top) & (others >= _FEW) & (same < FAR * others)
        rater, answer, count = self.rater[far], self.answer[far], self.count[far]
        key, of = np.unique(rater * self.n_classes + answer, return_inverse=True)
        named = np.bincount(of, count, len(key)).astype(np.int64)
        over = np.bincount(of, minlength=len(key))
        largest = np.zeros(len(key), np.int64)
        np.maximum.at(largest, of, count)
        by, k = np.divmod(key, self.n_classes)
        n_far = np.bincount(rater, count, self.n_raters).astype(np.int64)
        of_class = np.bincount(answer, count, self.n_classes)
        rest_named, rest = of_class[k] - named, count.sum() - n_far[by]
        regardless = named - largest
        one, two = rest_named + 1, rest - rest_named + self.n_classes - 1
        p = np.ones(len(key))
        p[regardless > 1] = beta_binomial_tail(*(x[regardless > 1] for x in (regardless, n_far[by], one, two)))
        best = np.lexsort((p, by))
        first = best[np.unique(by[best], return_index=True)[1]] if len(key) else best
        found = {"n_far": n_far}
        names = {"favourite": (k, -1), "n_favourite": (named, 0), "n_over": (over, 0), "n_regardless": (regardless, 0)}
        for name, (value, none) in names.items():
            found[name] = np.full(self.n_raters, none, np.int64)
            found[name][by[first]] = value[first]
        expected, chance = np.zeros(self.n_raters), np.ones(self.n_raters)
        expected[by[first]] = (n_far[by] * one / (one + two))[first]
        chance[by[first]] = np.minimum(1.0, p[first] * self.n_classes)
        return found | {"expected": expected, "p_favourite": chance}

    def log_factor(self) -> np.ndarray:
        """Compute the Dirichlet-multinomial evidence of one row for all classes against a row for each, by rater."""
        from scipy.special import gammaln

        pool = self.pool()
        place, size = self.in_row()
        usual = (pool.sum(axis=0) + 1) / (pool.sum() + self.n_classes)
        others = pool.sum(axis=1)[self.top] - size[place]
        # If the others gave no annotation on a class, half of this rater's are expected to be that class.
        spread = 0.5 * (self.answer == self.top) + 0.5 * usual[self.answer]
        expected = (pool[self.top, self.answer] - self.count + 2 * spread) / (others + 2)
        each = gammaln(self.count + _WEIGHT * expected) - gammaln(_WEIGHT * expected)
        honest = np.bincount(self.rater, each, self.n_raters).astype(float)  # An empty bincount has integers.
        row_rater = self.rater[np.unique(place, return_index=True)[1]]
        honest += np.bincount(row_rater, gammaln(_WEIGHT) - gammaln(size + _WEIGHT), self.n_raters)
        key, of = np.unique(self.rater * self.n_classes + self.answer, return_inverse=True)
        total, prior = np.bincount(of, self.count), _WEIGHT * usual[key % self.n_classes]
        by = key // self.n_classes
        spam = np.bincount(by, gammaln(total + prior) - gammaln(prior), self.n_raters).astype(float)
        spam += gammaln(_WEIGHT) - gammaln(np.bincount(self.rater, self.count, self.n_raters) + _WEIGHT)
        met = np.bincount(row_rater, minlength=self.n_raters)
        return np.where(met > 1, spam - honest, np.nan)


def beta_binomial_tail(x: np.ndarray, n: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Compute P(X ≥ x) of X ~ Beta-binomial(n, one, two), elementwise.

    Parameters
    ----------
    x, n : ndarray of int64, shape (n_raters,)
        Number of successes, and of trials.
    one, two : ndarray, shape (n_raters,)
        Shapes of the Beta distribution of the chance of success, > 0.

    Returns
    -------
    ndarray, shape (n_raters,)
    """
    from scipy.special import betaln, gammaln

    found = np.empty(len(x))
    for i in range(len(x)):
        k = np.arange(x[i], n[i] + 1)
        log_p = gammaln(n[i] + 1) - gammaln(k + 1) - gammaln(n[i] - k + 1)
        log_p += betaln(k + one[i], n[i] - k + two[i]) - betaln(one[i], two[i])
        found[i] = min(1.0, float(np.exp(log_p).sum()))
    return found
