"""Which cases own filters let through."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import MISSING_TIME, Dataset
from core.errors import InputError, NotFoundError
from core.review.filters import Filter, matching
from core.review.states import CaseReview


def kept(dataset, reviews=(), **wanted):
    mask = matching(dataset, Filter(**wanted), {review.case_id: review for review in reviews})
    return np.flatnonzero(mask).tolist()


def test_by_class_and_by_rater(dataset):
    assert kept(dataset) == [0, 1, 2, 3, 4, 5]
    assert kept(dataset, named="z") == [2, 4]
    assert kept(dataset, rater="bob") == [0, 1, 3, 5]
    assert kept(dataset, rater="bob", named="y") == [1, 3]


def test_a_class_counts_in_any_place_of_a_ranking(ranked):
    assert kept(ranked, named="z") == [0, 2]
    assert kept(ranked, pair=("ann", "bob")) == [0]  # on case 1 they share one of a tie


def test_by_pair_of_raters_who_disagree(dataset):
    assert kept(dataset, pair=("ann", "bob")) == [1]
    assert kept(dataset, pair=("bob", "ann")) == [1]


def test_by_pair_of_raters_who_share_no_score_of_a_case():
    rows = [(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 3), (2, 0, 1), (2, 2, 9), (3, 1, 5), (3, 0, 4)]
    rows += [(4, 0, 1), (4, 0, 2), (5, 0, 1), (5, 0, 2), (5, 1, 2)]  # one repeats cases, alone and beside another
    cases, raters, scores = np.array(rows).T
    scored = Dataset.from_scores("s", list("012345"), ["ann", "bob", "cem"], cases, raters, scores.astype(float))
    assert kept(scored, pair=("ann", "bob")) == kept(scored, pair=("bob", "ann")) == [0, 3]
    assert kept(scored, pair=("ann", "cem")) == [2] and kept(scored, pair=("bob", "cem")) == []


def test_by_date_of_an_annotation_of_the_rater(dataset):
    time = np.arange(dataset.n_annotations, dtype=np.int64)
    time[0] = MISSING_TIME
    dated = replace(dataset, time=time)
    assert dated.case_of_annotation.tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 5]
    assert kept(dated, since=5, until=8) == [3, 4]
    assert kept(dated, until=1) == []
    assert kept(dated, since=3, rater="ann") == [2, 3, 4]


def test_by_state_and_settled_cases_are_not_queued_again(dataset):
    reviews = [CaseReview("case 0", state="closed"), CaseReview("case 1", state="arbitration")]
    reviews += [CaseReview("case 2", state="adjudicated"), CaseReview("case 3", state="skipped")]
    assert kept(dataset, reviews) == [1, 3, 4, 5]
    assert kept(dataset, reviews, states=("arbitration",)) == [1]
    assert kept(dataset, reviews, states=("open", "closed")) == [0, 4, 5]


def test_what_the_data_do_not_have_is_said(dataset):
    for wanted in ({"named": "w"}, {"rater": "cem"}, {"pair": ("ann", "cem")}):
        with pytest.raises(NotFoundError):
            kept(dataset, **wanted)
    for wanted in ({"since": 1}, {"until": 1}, {"states": ("finished",)}):
        with pytest.raises(InputError):
            kept(dataset, **wanted)
    with pytest.raises(InputError, match="anonymous"):
        kept(replace(dataset, raters_identified=False), rater="ann")
