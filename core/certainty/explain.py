"""Why a case is uncertain, in one sentence made from its annotations."""

from collections import Counter

from core.annotations.dataset import Dataset
from core.text import plural

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def why(dataset: Dataset, case: int, n_used: int) -> str:
    """One sentence: how many raters, how they split, and what was left out.

    Parameters
    ----------
    dataset : Dataset
        Of classes or rankings.
    case : int
    n_used : int
        Annotations of the case that entered the plausibilities; a tied first choice does not where one class is needed.
    """
    firsts = [dataset.blocks_of(annotation)[0] for annotation in dataset.annotations_of(case)]
    votes = Counter(block[0] for block in firsts if len(block) == 1)
    n_answers, n_tied = len(firsts), sum(len(block) > 1 for block in firsts)
    if n_answers == 1 and not n_tied:
        sentence = "There is one answer only"
    elif not votes:
        sentence = f"{_count(n_answers, 'answer')}, and no rater settled on a first choice"
    elif len(votes) == 1 and not n_tied:
        sentence = f"All {_word(n_answers)} answers name the same class first"
    elif max(votes.values()) == 1 and len(votes) > 1:
        sentence = f"{_count(n_answers, 'answer')}, and no class is named first twice"
    elif len(votes) == 1:
        named = votes.total()
        sentence = f"{_count(named, 'answer')} {'names' if named == 1 else 'name'} one class first"
    else:
        split = " to ".join(str(votes_of) for _, votes_of in votes.most_common())
        sentence = f"{_count(n_answers, 'answer')} split {split} over {_word(len(votes))} classes"
    left_out = n_answers - n_used
    if left_out:
        sentence += f"; {_word(left_out)} with a tied first choice {'is' if left_out == 1 else 'are'} not counted here"
    return sentence[0].upper() + sentence[1:] + "."


def _word(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def _count(count: int, noun: str) -> str:
    return f"{_word(count)} {plural(count, noun).split(' ', 1)[1]}"
