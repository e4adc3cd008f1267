"""Counts with the learned prior: shared votes in closed forms, and designs in which few cases are uncertain."""

import numpy as np
import pytest

from core.analyses.cases import CASES, CaseOptions
from core.analyses.inputs import Inputs
from core.analysis_settings import AnalysisSettings
from core.certainty.next_opinion import next_opinion
from core.certainty.shares import certainty_shares
from core.certainty.top_sets import annotation_certainty, data_of_cases
from core.models.smoothed_vote import SmoothedVote
from core.models.vote_prior import learn_vote_prior
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.learned_counts import learned_counts
from core.review.panel_answer import panel_word
from tests.core.models.test_majority import panel


def shares(dataset, model, reliability=1.0):
    found = annotation_certainty(model, dataset, reliability=reliability, n_draws=50)
    return certainty_shares(dataset, model, found, reliability=reliability), found


def test_prior_is_the_learned_strength_spread_over_the_classes(build):
    dataset = build(panel(1, 60, 3, 3, 0.8), 3)
    learned = learned_counts(dataset)
    assert learned.model == DirichletCounts(learn_vote_prior(dataset).strength / 3)
    assert learned.model.settings() == {"alpha": learned.model.alpha, "depth": 3}
    assert "learned from 60 cases" in learned.prior.sentence()
    few = learned_counts(build(panel(1, 4, 3, 3, 0.8), 3))
    assert few.model.alpha == 1 and "too few to learn it" in few.prior.sentence()


def test_repeats_share_one_vote_in_counts_draws_certainty_and_next_opinion(build):
    once = build([(case, rater, (case + rater) % 3) for case in range(8) for rater in (0, 1)], 3)
    rows = [(case, rater, (case + rater) % 3) for case in range(8) for rater in (0, 1, 1, 1)]
    repeated = build(rows, 3)
    model, plain = learned_counts(repeated).model, DirichletCounts(learned_counts(repeated).model.alpha)
    assert model.once and model.alpha == learned_counts(once).model.alpha
    assert np.array_equal(model.votes(repeated).count, plain.votes(once).count)
    part = model.votes(repeated, range(3, 6))
    assert np.array_equal(part.count, model.votes(repeated).count[6:12])
    how = {"reliability": 1.0, "n_draws": 200}
    assert np.array_equal(
        annotation_certainty(model, repeated, **how).certainty, annotation_certainty(plain, once, **how).certainty
    )
    gain = [next_opinion(each, data, reliability=1.0).gain for each, data in ((model, repeated), (plain, once))]
    assert gain[0] == pytest.approx(gain[1])
    assert SmoothedVote().fit(repeated).class_probability == pytest.approx(SmoothedVote().fit(once).class_probability)


def test_three_copies_of_one_rater_count_as_one(build):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    said = np.where(rng.random((5, 400)) < 0.75, truth, 1 - truth)
    rows = [(i, j, int(said[min(j, 4), i])) for i in range(400) for j in range(7)]  # raters 4, 5 and 6 are one
    model = learned_counts(build(rows, 2)).model
    assert model.families == ((4, 5, 6),) and model.settings()["families"] == ((4, 5, 6),)
    dataset = build(rows, 2)
    votes = model.votes(dataset)
    assert votes.per_case() == pytest.approx(np.full(400, 5.0))
    alone = build([row for row in rows if row[1] < 5], 2)
    assert model.alpha == pytest.approx(learned_counts(alone).model.alpha, rel=1e-6)
    blind = learn_vote_prior(dataset).strength / 2
    assert blind < 0.75 * model.alpha


def test_copies_are_known_where_only_one_case_is_asked_about(build):
    """A case has few of the raters, so their codes among its own raters would be those of others."""
    rng = np.random.default_rng(3)
    truth, seen = rng.integers(0, 2, 600), [rng.choice(12, 6, replace=False).tolist() for _ in range(600)]
    said = np.where(rng.random((10, 600)) < 0.75, truth, 1 - truth)
    rows = [(i, j, int(said[min(j, 9), i])) for i in range(600) for j in sorted(seen[i])]  # 9, 10 and 11 are one
    dataset = build(rows, 2)
    model = learned_counts(dataset).model
    assert model.families == ((9, 10, 11),)
    case = next(i for i in range(600) if {9, 10, 11} <= set(seen[i]))
    counts = model.votes(dataset, range(case, case + 1))
    assert counts.count.sum() == 4
    inputs = Inputs(dataset, settings=AnalysisSettings(model, 1.0))
    found = CASES.part("case").answer(inputs, CaseOptions(case, n_draws=100))
    assert found.n_votes == 4
    assert found.point == pytest.approx(dict(zip(counts.class_code.tolist(), counts.count / 4, strict=True)))
    word = panel_word(model, dataset, case, reliability=1.0)
    whole = annotation_certainty(model, dataset, reliability=1.0, n_draws=100)
    assert word.certainty == pytest.approx(whole.certainty[case, 0])
    assert data_of_cases(model, dataset, [case]) is dataset
    with pytest.raises(ValueError, match="some of the raters used to find them are missing"):
        model.votes(dataset.select(cases=[dataset.cases[case]]))


@pytest.mark.parametrize("seed", range(3))
def test_double_reading_and_screening_are_not_called_uncertain_for_having_few_raters(seed, build):
    double = build(panel(seed, 200, 2, 2, 0.95), 2)
    told, _ = shares(double, learned_counts(double).model)
    differ = int((double.answer[::2] != double.answer[1::2]).sum())
    assert told.uncertain.sum() == differ < 40 and told.sentence == f"{differ} of 200 uncertain"
    screening = build(panel(seed, 300, 2, 3, 1.0, (0.99, 0.01)), 2)
    assert shares(screening, learned_counts(screening).model)[0].uncertain.sum() == 0
    published, _ = shares(double, DirichletCounts())
    assert not published.within_reach and published.reach == pytest.approx(0.875, abs=1e-4)
    assert not published.uncertain.any()
    assert published.sentence == (
        "Certainty cannot reach 90% with 2 raters per case: unanimous cases reach 87%. Compare cases by rank."
    )


def test_two_cases_have_the_published_prior_and_nobody_is_called_uncertain(build):
    two = build([(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 0)], 2)
    told, found = shares(two, learned_counts(two).model)
    assert found.certainty[:, 0] == pytest.approx([0.875, 0.5], abs=1e-3) and not told.uncertain.any()


def test_one_annotation_has_no_certainty_whatever_the_crowd(build):
    rows = [*panel(1, 100, 2, 3, 0.97), *((100 + i, 0, i % 2) for i in range(12))]
    dataset = build(rows, 2, n_cases=113)
    told, found = shares(dataset, learned_counts(dataset).model)
    assert found.certainty[100:112, 0].min() > 0.9  # the number that is not shown
    assert told.single.sum() == 12 and told.empty.sum() == 1 and not told.uncertain[100:].any()
    assert told.sentence.endswith(", 12 with one annotation")
    alone = build([(i, 0, i % 2) for i in range(12)], 2)
    assert shares(alone, learned_counts(alone).model)[0].sentence == (
        "No case has two annotations, so certainty is not available (n = 12 cases)."
    )


def test_coins_never_reach_the_bar(build):
    coins = build(panel(4, 200, 2, 5, 0.5), 2)
    told, found = shares(coins, learned_counts(coins).model)
    assert found.certainty[:, 0].max() <= 0.89 and not told.within_reach
