"""Reasons why a case is uncertain, in one sentence from its annotations, and raters clearly below the majority."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..models._kernels import first_answers
from ..multiplicity import holm
from ..text import plural

CLEARLY_LESS = 0.85
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def why(dataset: Dataset, case: int, n_used: int) -> str:
    """Describe in one sentence, not escaped, the raters of a case, their split, ties, and what was left out.

    Parameters
    ----------
    dataset : Dataset
        Dataset of classes or rankings.
    case : int
    n_used : int
        Number of annotations of the case in the plausibilities; a tied first choice is left out if one class is needed.
    """
    rankings = [dataset.blocks_of(annotation) for annotation in dataset.annotations_of(case)]
    firsts = [blocks[0] for blocks in rankings]
    votes = Counter(block[0] for block in firsts if len(block) == 1)
    first = " first" if dataset.kind == "ranking" else ""  # Single classes have no second place.
    n_answers, n_tied = len(firsts), sum(len(block) > 1 for block in firsts)
    if n_answers and dataset.classes == (
        f"not {dataset.classes[-1]}",
        dataset.classes[-1],
    ):  # The classes are a label of sets, and its absence.
        sentence = _of_label(votes[1], n_answers, dataset.classes[-1])
    elif n_answers == 1 and not n_tied:
        sentence = "There is only one annotation"
    elif not votes:
        be = "is" if n_answers == 1 else "are"
        sentence = f"there {be} {_count(n_answers, 'annotation')}, and no rater has a single first choice"
    elif len(votes) == 1 and not n_tied:
        everybody = "Both" if n_answers == 2 else f"All {_word(n_answers)}"
        sentence = f"{everybody} annotations name the same class{first}"
    elif max(votes.values()) == 1 and len(votes) == n_answers:
        as_many = f"{_word(n_answers)} " if n_answers > 2 else ""
        sentence = f"the {_word(n_answers)} annotations name {as_many}different classes{first}"
    elif max(votes.values()) == 1 and len(votes) > 1:
        few = "only " if n_answers == 2 else ""
        sentence = f"there are {few}{_count(n_answers, 'annotation')}, and no class is named{first} twice"
    elif len(votes) == 1:
        named = votes.total()
        of = f"{_word(named)} of the {_word(n_answers)} annotations"
        sentence = f"only {of} has a single first choice" if named == 1 else f"{of} name the same class first"
    else:
        counts = [str(votes_of) for _, votes_of in votes.most_common()]
        split = " to ".join(counts) if len(counts) == 2 else f"{', '.join(counts[:-1])} and {counts[-1]}"
        among = "between" if len(counts) == 2 else "among"
        sentence = f"{_count(n_answers, 'annotation')} are split {split} {among} {_word(len(votes))} classes"
    left_out = n_answers - n_used
    sentence += _common_ground(dataset, rankings, votes)
    if left_out:
        sentence += f"; {_word(left_out)} with a tied first choice {'is' if left_out == 1 else 'are'} not counted here"
    return sentence[0].upper() + sentence[1:] + "."


def _of_label(n_with: int, n_answers: int, label: str) -> str:
    if n_answers == 1:
        return f"the only annotation {'names' if n_with else 'does not name'} “{label}”"
    if not n_with:
        nobody = "neither of the two" if n_answers == 2 else f"none of the {_word(n_answers)}"
        return f"{nobody} annotations names “{label}”"
    if n_with == n_answers:
        return f"{'both' if n_answers == 2 else f'all {_word(n_answers)}'} annotations name “{label}”"
    return f"{_word(n_with)} of the {_word(n_answers)} annotations {'names' if n_with == 1 else 'name'} “{label}”"


@dataclass(frozen=True, slots=True, eq=False)
class BelowPeers:
    """Shares of annotations that name the majority class, by each rater and by the others; shape (n_raters,).

    Attributes
    ----------
    n : ndarray of int64
        Number of annotations on cases that others annotated, with a majority class.
    own, peers : ndarray of float64
        Share of these that name the majority class, and share of the others' annotations on the same cases; NaN if
        none.
    named : ndarray of bool
        True for raters who name it clearly less often than the other raters.
    """

    n: np.ndarray
    own: np.ndarray
    peers: np.ndarray
    named: np.ndarray


def below_peers(dataset: Dataset, false_alarms: float) -> BelowPeers:
    """Find raters who name the majority class of their cases less often than the others, by an exact test.

    If the raters of a case are equal, each is as likely as any other to have given each of its annotations. So one of
    n annotations, of which m name the majority class, names it with probability m/n. Over the cases of a rater these
    are independent: p is the lower tail of a Poisson-binomial distribution, Holm's step-down holds the family-wise rate
    over raters. A named rater is also below `CLEARLY_LESS` of the others' share, so that large data do not name small
    differences. Cases with a tied majority do not count, nor do repeated annotations of a rater on a case.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with identified raters.
    false_alarms : float
        Largest probability that any of equal raters is named.
    """
    once = first_answers(dataset.case_ptr, dataset.rater, dataset.n_raters)
    rater, case, answer = dataset.rater[once], dataset.case_of_annotation[once], dataset.answer[once]
    group = case * np.int64(dataset.n_classes) + answer
    groups, place, times = np.unique(group, return_inverse=True, return_counts=True)
    most, leading = np.zeros(dataset.n_cases, np.int64), np.zeros(dataset.n_cases, np.int64)
    np.maximum.at(most, groups // dataset.n_classes, times)
    np.add.at(leading, groups // dataset.n_classes, times == most[groups // dataset.n_classes])
    n_of = np.bincount(case, minlength=dataset.n_cases)
    counts = (leading[case] == 1) & (n_of[case] > 1)
    rater, m, of, sides = rater[counts], most[case[counts]], n_of[case[counts]], (times[place] == most[case])[counts]
    n = np.bincount(rater, minlength=dataset.n_raters)
    sided = np.bincount(rater, sides, dataset.n_raters)
    own, peers = (
        np.divide(total, n, out=np.full(n.size, np.nan), where=n > 0)
        for total in (sided, np.bincount(rater, (m - sides) / (of - 1), dataset.n_raters))
    )
    # Raters who are not far below get the smallest p, which can only make the test of the others stricter.
    p = np.where(n > 0, 1.0, np.nan)
    far = own < CLEARLY_LESS * peers
    for one in np.flatnonzero(far):
        chances, times_each = np.unique((m / of)[rater == one], return_counts=True)
        p[one] = at_most(int(sided[one]), chances, times_each)
    named = np.zeros(dataset.n_raters, bool)
    named[holm(p, false_alarms)] = True
    return BelowPeers(n, own, peers, named & far)


def at_most(k: int, chance: np.ndarray, times: np.ndarray) -> float:
    """Compute P(at most k successes) of independent trials, by the transform of their Poisson-binomial distribution.

    Source: Hong (2013), Computational Statistics & Data Analysis 59, 41-51, DOI 10.1016/j.csda.2012.10.006.

    Parameters
    ----------
    k : int
    chance : ndarray of float64, shape (n,)
        Probability of success.
    times : ndarray of int64, shape (n,)
        Number of trials with that probability.
    """
    n = int(times.sum())
    if k >= n:
        return 1.0
    turn = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1))
    transform = np.ones(n + 1, complex)
    for p, m in zip(chance.tolist(), times.tolist(), strict=True):
        transform *= (1 - p + p * turn) ** m
    return float(np.clip(np.fft.ifft(transform).real[: k + 1].sum(), 0.0, 1.0))


def _common_ground(dataset: Dataset, rankings: list[list[list[int]]], votes: Counter) -> str:
    """Name the class in most annotations at any place, if that adds to the first choices."""
    named = Counter(code for blocks in rankings for block in blocks for code in block)
    code, times = named.most_common(1)[0]
    if times < 2 or times <= max(votes.values(), default=0):
        return ""
    who = ("both" if times == 2 else "all") if times == len(rankings) else _word(times)
    return f"; {who} include “{dataset.classes[code]}”"


def _word(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def _count(count: int, noun: str) -> str:
    return f"{_word(count)} {plural(count, noun).split(' ', 1)[1]}"
