"""The order of each queue, and the words that say why a case is in it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.annotations.counts import class_counts
from core.annotations.dataset import MISSING_TIME, Dataset
from core.certainty.next_opinion import next_opinion
from core.errors import InputError, NotFoundError
from core.evaluation.predictions import match_predictions
from core.plausibility.dirichlet import DirichletCounts
from core.review import worklist
from core.review.filters import Filter, matching, settled_by_gold
from core.review.sessions import Queued
from core.review.states import CaseReview

CERTAINTY = np.array([0.99, 0.4, np.nan, 0.95, 0.4, 0.7])


def test_the_least_certain_comes_first_and_what_is_unknown_is_left_out():
    queue = worklist.lowest_certainty(CERTAINTY)
    assert queue.case.tolist() == [1, 4, 5, 3, 0]
    assert queue.why[0] == "certainty 40%"
    assert len(queue.why) == 5


def test_a_reason_says_at_which_trust_its_numbers_are_as_part_of_its_last_sentence():
    queue = worklist.lowest_certainty(CERTAINTY)
    assert worklist.at_reliability(queue, 0.5).why[0] == "certainty 40% (γ = 0.5)"
    assert worklist.at_reliability(queue, 0.5, "Counts").why[0] == "certainty 40% (Counts, γ = 0.5)"
    sentences = worklist.Queue("gain", queue.case, ("Certainty is 40% now.",) * 5)
    assert worklist.at_reliability(sentences, 2.0).why[0] == "Certainty is 40% now (γ = 2)."


def test_risk_counts_by_what_certainty_lacks():
    risk = np.array([2.0, 0.0, 1.0, 1.5, 0.5, 1.0])
    certainty = np.array([1.0, 0.1, 0.9, 0.6, 0.2, 0.6])
    queue = worklist.risk_times_uncertainty(certainty, risk)  # 0, 0, 0.1, 0.6, 0.4, 0.4
    assert queue.case.tolist() == [3, 4, 5, 2]
    assert queue.why[0] == "expected risk 1.50 out of 2, certainty 60%"


def test_a_split_panel_is_one_whose_first_two_classes_have_nearly_equal_votes(build):
    rows = [(0, r, 0) for r in range(3)]
    rows += [(1, 0, 0), (1, 1, 1)]
    rows += [(2, 0, 1), (2, 1, 1), (2, 2, 2)]
    rows += [(3, 0, 0)]
    rows += [(4, 0, 2), (4, 1, 2), (4, 2, 1), (4, 3, 1)]
    dataset = build(rows, n_classes=3)
    queue = worklist.split_panel(class_counts(dataset), dataset.classes)
    assert queue.case.tolist() == [4, 1, 2]
    assert queue.why == (
        "4 annotations: 2 class 1, 2 class 2",
        "2 annotations: 1 class 0, 1 class 1",
        "3 annotations: 2 class 1, 1 class 2",
    )


def test_a_classifier_is_against_the_panel_only_where_the_panel_is_certain(dataset):
    certainty = np.array([0.99, 0.95, 0.5, 0.97, 0.96, 0.99])
    top = np.array([0, 1, 2, 1, 2, -1])
    names = [f"case {case}" for case in (0, 1, 2, 3, 4, 4, 5)]
    said = ["x", "z", "x", "y", "z", "y", "z"]
    predictions = match_predictions(dataset, names, said, np.array([1, 1, 1, 1, 0.5, 0.5, 1.0]), "B")
    queue = worklist.classifier_against_panel(certainty, top, predictions, dataset.classes)
    assert queue.case.tolist() == [1]  # 4 is a tie that holds the panel's class, 5 has no named top class
    assert queue.why == ("the panel's certainty for y is 95%, but B predicts z",)
    assert worklist.classifier_against_panel(certainty, top, predictions, dataset.classes, 0.4).case.tolist() == [1, 2]
    readers = np.array([2, 2, 1, 2, 2, 2])  # one reader is no panel
    queue = worklist.classifier_against_panel(certainty, top, predictions, dataset.classes, 0.4, readers)
    assert queue.case.tolist() == [1]


def test_cases_of_a_single_rater(dataset, build):
    queue = worklist.single_rater(dataset)
    assert queue.case.tolist() == [2, 4, 5]
    assert queue.why == ("only ann has annotated", "only ann has annotated", "only bob has annotated")
    assert worklist.single_rater(dataset, 1 - np.arange(6) / 10).case.tolist() == [5, 4, 2]
    repeated = build([(0, 0, 1), (0, 0, 1), (1, 0, 1), (1, 1, 0)], n_classes=2)
    assert worklist.single_rater(repeated).case.tolist() == [0]


def test_the_largest_gain_comes_first_with_all_three_numbers(build):
    dataset = build([(0, 0, 0)] * 6 + [(1, 0, 0), (1, 1, 1)] + [(2, 0, 1), (2, 1, 1), (2, 2, 0)], n_classes=2)
    found = next_opinion(DirichletCounts(), dataset, reliability=1.0)
    queue = worklist.largest_gain(found)
    # One vote more cannot turn 2 to 1 into anything but a tie, nor 6 to 0: no gain, so the less certain comes first.
    assert queue.case.tolist() == [1, 2, 0]
    assert queue.why[0] == found.words(1)
    assert "50%" in queue.why[0] and "69%" in queue.why[0] and "19 percentage points" in queue.why[0]


def test_a_batch_is_the_first_cases_that_a_filter_lets_through(dataset):
    queue = worklist.lowest_certainty(CERTAINTY)
    assert queue.batch(dataset, 2) == [Queued("case 1", "certainty 40%"), Queued("case 4", "certainty 40%")]
    among = np.array([True, False, True, True, False, False])
    assert [case.case_id for case in queue.batch(dataset, 5, among)] == ["case 3", "case 0"]
    usual = [case.case_id for case in queue.batch(dataset, 6)]
    shared = queue.batch(dataset, 6, last=[usual[2], usual[0]])
    assert [case.case_id for case in shared] == [usual[1], *usual[3:], usual[2], usual[0]]
    with pytest.raises(InputError):
        queue.batch(dataset, 0)


# Filters: Which cases own filters let through.


def kept(dataset, reviews=(), **wanted):
    mask = matching(dataset, Filter(**wanted), {review.case_id: review for review in reviews})
    return np.flatnonzero(mask).tolist()


def test_by_class_and_by_rater(dataset):
    assert kept(dataset) == [0, 1, 2, 3, 4, 5]
    assert kept(dataset, named="z") == [2, 4]
    assert kept(dataset, rater="bob") == [0, 1, 3, 5]
    assert kept(dataset, rater="bob", named="y") == [1, 3]


def test_without_gold_leaves_out_cases_with_gold_of_any_kind(dataset):
    codes = np.array([-1, 0, -1, 2, -1, -1], np.int32)
    assert kept(replace(dataset, gold=codes)) == [0, 1, 2, 3, 4, 5]
    assert kept(replace(dataset, gold=codes), without_gold=True) == [0, 2, 4, 5]
    assert kept(dataset, without_gold=True) == [0, 1, 2, 3, 4, 5]
    assert kept(replace(dataset, gold=np.zeros(6, np.int32)), without_gold=True) == [0, 1, 2, 3, 4, 5]  # no case left
    scores = SimpleNamespace(n_cases=2, gold_of_cases=lambda: np.array([0.5, np.nan]))
    assert settled_by_gold(scores).tolist() == [True, False]


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
