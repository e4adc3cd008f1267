from dataclasses import replace

import numpy as np

from core.annotations.dataset import Dataset
from core.models.comparison import vote_changes
from core.models.majority import MajorityVote


def test_a_tie_counts_as_decided_from_a_probability_of_nine_tenths_on():
    """Four ties of two raters, of probabilities 0.95, 0.9, 0.85 and 0.5, and a majority that changes."""
    answers = [("xy", 0.95), ("xy", 0.9), ("xy", 0.85), ("xy", 0.5), ("xx", 0.3)]
    case = np.repeat(np.arange(5), 2)
    answer = np.array(["xy".index(one) for named, _ in answers for one in named])
    data = Dataset.from_classes("ties", list("abcde"), list("pq"), list("xy"), case, np.tile([0, 1], 5), answer)
    vote = MajorityVote().fit(data)
    chance = np.array([probability for _, probability in answers])
    fit = replace(vote, class_probability=np.column_stack([chance, 1 - chance]))
    found = vote_changes(fit, vote, np.ones(5, bool))
    assert (found.n_changed, found.n_decided, found.n_tied, found.n_cases) == (1, 2, 4, 5)
    assert found.words == "Weighing raters changes the majority class of 1 of 5 cases and decides 2 ties"
    of_two = vote_changes(fit, vote, np.array([True, False, True, True, False]))
    assert (of_two.n_changed, of_two.n_decided, of_two.n_tied, of_two.n_cases) == (0, 1, 3, 3)
