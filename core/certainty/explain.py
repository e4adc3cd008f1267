"""Why a case is uncertain, in one sentence made from its annotations."""

from collections import Counter

import numpy as np

from ..annotations.dataset import Dataset
from ..text import plural

LEAST_ANNOTATIONS = 20
LEAST_RATERS = 3
CLEARLY_LESS = 0.85
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def why(dataset: Dataset, case: int, n_used: int) -> str:
    """One sentence: how many raters, how they split, what they leave open, and what was left out. Not escaped.

    Parameters
    ----------
    dataset : Dataset
        Of classes or rankings.
    case : int
    n_used : int
        Annotations of the case that entered the plausibilities; a tied first choice does not where one class is needed.
    """
    rankings = [dataset.blocks_of(annotation) for annotation in dataset.annotations_of(case)]
    firsts = [blocks[0] for blocks in rankings]
    votes = Counter(block[0] for block in firsts if len(block) == 1)
    first = " first" if dataset.kind == "ranking" else ""  # of single classes nothing comes second
    n_answers, n_tied = len(firsts), sum(len(block) > 1 for block in firsts)
    if n_answers and dataset.classes == (
        f"not {dataset.classes[-1]}",
        dataset.classes[-1],
    ):  # a label of sets, and its absence
        sentence = _of_label(votes[1], n_answers, dataset.classes[-1])
    elif n_answers == 1 and not n_tied:
        sentence = "There is one annotation only"
    elif not votes:
        sentence = f"{_count(n_answers, 'annotation')}, and no rater settled on a first choice"
    elif len(votes) == 1 and not n_tied:
        everybody = "Both" if n_answers == 2 else f"All {_word(n_answers)}"
        sentence = f"{everybody} annotations name the same class{first}"
    elif max(votes.values()) == 1 and len(votes) > 1:
        few = "only " if n_answers == 2 else ""
        sentence = f"{few}{_count(n_answers, 'annotation')}, and no class is named{first} twice"
    elif len(votes) == 1:
        named = votes.total()
        sentence = f"{_count(named, 'annotation')} {'names' if named == 1 else 'name'} one class first"
    else:
        split = " to ".join(str(votes_of) for _, votes_of in votes.most_common())
        sentence = f"{_count(n_answers, 'annotation')} split {split} over {_word(len(votes))} classes"
    left_out = n_answers - n_used
    n_open = sum(any(len(block) > 1 for block in blocks) for blocks in rankings)
    if not left_out and n_open:
        sentence += f"; {_word(n_open)} {'leaves' if n_open == 1 else 'leave'} classes tied"
    sentence += _common_ground(dataset, rankings, votes)
    if left_out:
        sentence += f"; {_word(left_out)} with a tied first choice {'is' if left_out == 1 else 'are'} not counted here"
    return sentence[0].upper() + sentence[1:] + "."


def _of_label(n_with: int, n_answers: int, label: str) -> str:
    if n_answers == 1:
        return f"the one annotation {'names' if n_with else 'does not name'} {label}"
    if not n_with:
        nobody = "neither of the two" if n_answers == 2 else f"none of the {_word(n_answers)}"
        return f"{nobody} annotations names {label}"
    if n_with == n_answers:
        return f"{'both' if n_answers == 2 else f'all {_word(n_answers)}'} annotations name {label}"
    return f"{_word(n_with)} of {_word(n_answers)} annotations {'names' if n_with == 1 else 'name'} {label}"


def distrusted(accuracy: np.ndarray, n_annotations: np.ndarray) -> np.ndarray:
    """Which raters a rater model trusts clearly less than their peers, bool, shape (n_raters,).

    Those with at least `LEAST_ANNOTATIONS` annotations whose accuracy is below `CLEARLY_LESS` of the median rater's.

    Parameters
    ----------
    accuracy : ndarray, shape (n_raters,)
        Of each rater under the model.
    n_annotations : ndarray of int, shape (n_raters,)
    """
    judged = n_annotations >= LEAST_ANNOTATIONS
    if judged.sum() < LEAST_RATERS:
        return np.zeros(len(accuracy), bool)
    return judged & (accuracy < CLEARLY_LESS * np.median(accuracy[judged]))


def _common_ground(dataset: Dataset, rankings: list[list[list[int]]], votes: Counter) -> str:
    """The class that most annotations name anywhere, where that says more than the first choices do."""
    named = Counter(code for blocks in rankings for block in blocks for code in block)
    code, times = named.most_common(1)[0]
    if times < 2 or times <= max(votes.values(), default=0):
        return ""
    return f"; {_word(times)} of them name {dataset.classes[code]} somewhere"


def _word(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def _count(count: int, noun: str) -> str:
    return f"{_word(count)} {plural(count, noun).split(' ', 1)[1]}"
