"""The smoothed vote: shares with the learned prior, and the score of what is held out."""

import numpy as np
import pytest

from core.models.held_out import held_out_votes, prepare
from core.models.majority import MajorityVote
from core.models.smoothed_vote import SmoothedVote
from core.models.vote_prior import learn_vote_prior
from tests.core.models.rows import random_rows


@pytest.mark.parametrize("seed", range(3))
def test_class_probabilities_are_counts_with_the_learned_prior(seed, build):
    dataset = build(random_rows(seed), 3)
    fit, vote, s = SmoothedVote().fit(dataset), MajorityVote().fit(dataset), learn_vote_prior(dataset).strength
    for case, (start, stop) in enumerate(zip(dataset.case_ptr[:-1], dataset.case_ptr[1:], strict=True)):
        rater, votes = dataset.rater[start:stop].tolist(), np.zeros(3)
        for who, answer in zip(rater, dataset.answer[start:stop], strict=True):
            votes[answer] += 1 / rater.count(who)
        assert fit.class_probability[case] == pytest.approx((votes + s / 3) / (votes.sum() + s))
    assert np.array_equal(fit.prevalence, vote.prevalence) and fit.settings == {"strength": s}
    assert f"weighs as much as {s:.2f} annotations." in fit.notes[0]


def test_cases_without_annotations_and_few_cases_have_even_shares_and_a_note(build):
    fit = SmoothedVote().fit(build([(0, 0, 1), (0, 1, 1), (1, 0, 0)], 2, n_cases=3))
    assert fit.class_probability[2].tolist() == [0.5, 0.5]
    assert fit.class_probability[0].tolist() == [0.25, 0.75]
    assert fit.notes == (
        "The prior is one annotation per class because 1 case with at least two raters is too few to learn it.",
    )


@pytest.mark.parametrize("rows", [[(0, 0, 0), (0, 1, 1)], [(i, j, 0) for i in range(9) for j in range(3)]])
def test_degenerate_data_give_finite_numbers(rows, build):
    fit = SmoothedVote().fit(build(rows, 2))
    assert np.isfinite(fit.class_probability).all()
    assert fit.class_probability.sum(axis=1) == pytest.approx(np.ones(len(fit.cases)))


@pytest.mark.parametrize("strength", [None, 0.3, 7.0])
def test_held_out_score_is_the_share_of_the_other_annotations_with_the_prior(strength, build):
    data = prepare(build(random_rows(2), 3))
    dataset, slow = data.whole.dataset, np.zeros(data.whole.dataset.n_cases)
    for refit in data.refits:
        hides = refit.folds.fold == refit.number
        named = np.bincount(dataset.answer[~hides], minlength=3)
        prior = named / named.sum() if strength is None else np.full(3, strength / 3)
        for a in np.flatnonzero(hides & refit.folds.scored):
            case = dataset.case_of_annotation[a]
            others = dataset.answer[~hides & (dataset.case_of_annotation == case)]
            same = (others == dataset.answer[a]).sum() + prior[dataset.answer[a]]
            slow[case] += np.log(same / (len(others) + prior.sum())) / data.n_sets
    assert held_out_votes(data, strength).by_case[:, 0] == pytest.approx(slow, abs=1e-12)
