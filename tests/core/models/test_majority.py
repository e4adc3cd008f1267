"""Majority vote against counting by hand."""

import numpy as np
import pytest

from core.errors import LimitError, NotApplicableError
from core.ingest.samples import load_sample
from core.models.majority import MajorityVote


def random_rows(seed, n_cases=20, n_raters=4, n_classes=3):
    rng = np.random.default_rng(seed)
    return [
        (case, rater, int(rng.integers(n_classes)))
        for case in range(n_cases)
        for rater in range(n_raters)
        if rng.random() < 0.6
    ]


@pytest.mark.parametrize("seed", range(6))
def test_shares_winners_and_matrices_are_what_counting_gives(seed, build):
    rows = random_rows(seed)
    fit = MajorityVote().fit(build(rows, 3, 20, 4))
    winners = {}
    for case in range(20):
        answers = [answer for c, _, answer in rows if c == case]
        votes = [answers.count(k) for k in range(3)]
        if answers:
            assert fit.class_probability[case] == pytest.approx([vote / len(answers) for vote in votes])
            first = [k for k in range(3) if votes[k] == max(votes)]
            winners[case] = [1 / len(first) if k in first else 0 for k in range(3)]
            assert fit.top_class()[case] == (first[0] if len(first) == 1 else -1)
        else:
            assert fit.class_probability[case] == pytest.approx([1 / 3] * 3)
    assert fit.prevalence == pytest.approx(np.mean(list(winners.values()), axis=0))
    for rater in range(4):
        for true in range(3):
            seen = [(winners[case][true], answer) for case, r, answer in rows if r == rater]
            mass = sum(weight for weight, _ in seen)
            assert fit.evidence[rater, true] == pytest.approx(mass)
            for answered in range(3):
                share = sum(weight for weight, answer in seen if answer == answered)
                expected = share / mass if mass else 1 / 3
                assert fit.confusion[rater, true, answered] == pytest.approx(expected)


def test_accuracy_is_the_prevalence_weighted_diagonal(build):
    fit = MajorityVote().fit(build(random_rows(1), 3, 20, 4))
    for rater in range(4):
        expected = sum(fit.prevalence[k] * fit.confusion[rater, k, k] for k in range(3))
        assert fit.accuracy()[rater] == pytest.approx(expected)


def test_caries_by_majority_has_a_prevalence_of_13_percent():
    """Where Dawid-Skene says 0.196."""
    fit = MajorityVote().fit(load_sample("caries"))
    assert fit.prevalence[fit.classes.index("1")] == pytest.approx(0.134, abs=5e-4)


def test_without_any_answer_there_is_nothing_to_vote_on(build):
    dataset = build([(0, 0, 0)], 2, 3)
    empty = dataset.__class__(
        "empty", "class", dataset.cases, dataset.raters, dataset.classes, np.zeros(4, np.int64), np.empty(0, np.int32)
    )
    with pytest.raises(NotApplicableError, match="there are no annotations"):
        MajorityVote().fit(empty)


def test_one_annotation_per_case_is_enough(build):
    fit = MajorityVote().fit(build([(0, 0, 0), (1, 0, 1), (2, 1, 1)], 2))
    assert fit.prevalence == pytest.approx([1 / 3, 2 / 3])
    assert fit.converged and fit.log_likelihood is None


def test_tables_beyond_the_limit_are_refused_with_their_sizes(build, monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "59")
    with pytest.raises(LimitError, match="20 cases × 3 classes = 60"):
        MajorityVote().fit(build(random_rows(1), 3, 20, 4))
