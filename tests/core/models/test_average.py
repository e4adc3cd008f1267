"""The average of rater models: weights, β and probabilities against what they are by definition."""

from itertools import product

import numpy as np
import pytest

from core.models import average as module
from core.models.average import at_beta, average_models, believed_beta, member_posteriors, members_of, stack
from core.models.beta_posterior import beta_posterior, design_effect
from core.models.catalogue import em_model, request
from core.models.choose import choose, has_case_effect
from core.models.held_out import HeldOut, held_out, hidden, prepare
from core.models.smoothed_vote import SmoothedVote
from core.models.unanimous import unanimous_cases
from tests.core.models.rows import rules, simulated

MIXED = np.stack([np.full((3, 3), (1 - p) / 2) + np.eye(3) * (1.5 * p - 0.5) for p in (0.9, 0.8, 0.75, 0.6, 0.5, 0.85)])


@pytest.fixture
def crowd(build):
    rows, truth = simulated(3, 150, MIXED, (0.5, 0.3, 0.2), 4)
    return build(rows, 3), truth


def synthetic(by_case, n_of_case, probability=None):
    return HeldOut(by_case, n_of_case, np.arange(1, 11) / 10, probability=probability)


@pytest.mark.parametrize("seed", range(4))
def test_stacked_weights_maximise_the_penalised_score(seed):
    rng = np.random.default_rng(seed)
    p, near, n, prior = rng.random((60, 3)) ** 2, np.array([True, True, seed % 2 == 0]), 30, 4.0
    found = stack(p, near, n, prior)

    def objective(w):
        return n * np.log(p @ w).mean() + prior / near.sum() * np.log(w[near]).sum()

    grid = [np.array([a, b, 100 - a - b]) / 100 for a, b in product(range(1, 99), repeat=2) if a + b < 100]
    assert found.sum() == pytest.approx(1)
    assert objective(np.maximum(found, 1e-9)) >= max(map(objective, grid)) - 1e-6


def test_models_that_predict_alike_have_equal_weights_and_a_worse_one_has_none():
    rng = np.random.default_rng(0)
    good = 0.3 + 0.6 * rng.random(4000)
    found = stack(np.stack([good, good, good / 3], axis=1), np.array([True, True, False]), 4000)
    assert found == pytest.approx([0.5, 0.5, 0], abs=1e-3)


def test_probabilities_of_annotations_add_up_to_the_scores_of_cases(crowd):
    dataset, _ = crowd
    data = prepare(dataset)
    held = held_out(data, em_model(request("dawid-skene")))
    place = np.concatenate([np.flatnonzero(hidden(refit)) for refit in data.refits])
    assert held.probability.dtype == np.float32 and held.probability.size == place.size == data.n_sets * held.n
    sums = np.bincount(data.whole.dataset.case_of_annotation[place], np.log(held.probability), dataset.n_cases)
    assert sums / data.n_sets == pytest.approx(held.by_case[:, held.place], abs=1e-5)


def test_posterior_of_beta_is_prior_times_score_of_annotations_and_cases_over_the_design_effect():
    rng = np.random.default_rng(1)
    n_of_case = np.array([3, 3, 3, 0, 2])
    by_case, p = -rng.random((5, 10)) * n_of_case[:, None], rng.random(44).astype(np.float32)
    held = synthetic(by_case, n_of_case, p)
    effect = max(1.0, held.se**2 * 11 / np.log(p.astype(float)).var())
    expected = np.array([
        np.exp(by_case[:, b].sum() / 11 * np.sqrt(4 * 11) / effect - 0.5 * (np.log(beta / 0.5) / 0.5) ** 2) / beta
        for b, beta in enumerate(held.betas)
    ])  # fmt: skip
    found = beta_posterior(held)
    assert design_effect(held) == pytest.approx(effect)
    assert found.weight == pytest.approx(expected / expected.sum())
    assert found.mean == pytest.approx(found.betas @ found.weight)
    assert sum(weight for _, weight in found.points) == pytest.approx(1)


def test_beta_is_not_known_without_differing_annotations_or_enough_of_them():
    flat, n_of_case = np.zeros((300, 10)), np.ones(300, np.int64)
    assert (
        beta_posterior(synthetic(flat, n_of_case), differ=False).sentence
        == "Cannot determine β: no two annotations of a case differ."
    )
    assert "only 199 annotations" in beta_posterior(synthetic(flat[:199], n_of_case[:199])).why_not
    assert beta_posterior(synthetic(flat, n_of_case)).why_not == "any value from 0.2 to 1 is plausible"
    steep = flat - 2 * np.abs(np.arange(1, 11) / 10 - 0.6)
    assert beta_posterior(synthetic(steep, n_of_case)).sentence == "β: 0.6 (95% interval 0.6 to 0.6)."


def test_a_rare_class_read_by_independent_raters_is_no_evidence_of_shared_mistakes(build):
    confusion = np.tile(np.array([[0.99, 0.01], [0.2, 0.8]]), (6, 1, 1))
    rows, _ = simulated(1, 300, confusion, (0.98, 0.02), 3)
    for each in choose(build(rows, 2), difficulty=False).standings:
        if each.held is None or each.by_vote:
            continue
        found = beta_posterior(each.held)
        assert found.mean > 0.35
        if each.candidate.name != "one-coin":  # one accuracy for both classes is wrong here
            assert found.interval[1] >= 0.8


def test_average_is_the_weighted_sum_of_what_each_model_says_at_each_beta(crowd):
    dataset, _ = crowd
    choice = choose(dataset, difficulty=False)
    found = average_models(choice, dataset)
    vote = SmoothedVote().fit(dataset).class_probability
    assert sum(each.weight for each in found.members) + found.vote_share == pytest.approx(1)
    total, own = found.vote_share * vote, []
    for member in found.members:
        fit, held = member.standing.fit, member.standing.held
        mean = np.zeros_like(vote)
        for beta, weight in member.beta.points:
            shown = believed_beta(min(beta, member.most_beta))
            log_p = np.tile(np.log(fit.prevalence) * (shown if held.temper_prevalence else 1), (dataset.n_cases, 1))
            for a in range(dataset.n_annotations):
                log_p[dataset.case_of_annotation[a]] += shown * np.log(
                    fit.confusion[dataset.rater[a], :, dataset.answer[a]]
                )
            p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
            mean += weight * ((1 - member.doubt) * p / p.sum(axis=1, keepdims=True) + member.doubt * fit.prevalence)
        total, own = total + member.weight * mean, [*own, mean.argmax(axis=1)]
    assert len(own) > 1
    assert found.fit.class_probability == pytest.approx(total, abs=1e-9)
    assert found.differ.tolist() == np.flatnonzero(own[0] != own[1]).tolist()
    assert found.differ_as.tolist() == np.stack(own[:2], axis=1)[found.differ].tolist()
    unanimous = unanimous_cases(dataset)
    assert (found.n_unanimous, found.flipped) == (unanimous.n, unanimous.n_flipped(found.fit))
    assert found.fit.model == module.METHOD.name and found.fit.prevalence == pytest.approx(total.mean(axis=0))
    assert found.fit.confusion.sum(axis=2) == pytest.approx(np.ones(found.fit.confusion.shape[:2]))
    table = found.to_frame()
    assert table.weight.sum() == pytest.approx(1) and table.model.iloc[-1] == "smoothed-vote"
    assert all(member.doubt >= 0.02 for member in found.members)


def test_models_with_a_case_difficulty_are_averaged_at_any_beta_within_their_bound(build):
    rng = np.random.default_rng(2)
    hard = rng.random(250) < 0.4
    truth = rng.integers(0, 2, 250)
    rows = [
        (i, j, int(truth[i] if rng.random() < (0.55 if hard[i] else 0.97) else 1 - truth[i]))
        for i in range(250) for j in range(7)
    ]  # fmt: skip
    dataset = build(rows, 2)
    choice = choose(dataset)
    members = members_of(choice, dataset)
    plain = max(
        (each for each in choice.standings if each.held and not each.by_vote and not each.excluded
         and not has_case_effect(each)),
        key=lambda each: each.held.score,
    )  # fmt: skip
    bound = min(1.0, beta_posterior(plain.held).mean + 0.2)
    difficult = [each for each in members if has_case_effect(each.standing)]
    assert difficult and all(each.most_beta == pytest.approx(bound) for each in difficult)
    for member in members:
        parts = list(member_posteriors(member, dataset))
        assert sum(weight for weight, _ in parts) == pytest.approx(1)
        for _, p in parts:
            assert p.sum(axis=1) == pytest.approx(np.ones(250))
    one = difficult[0].standing
    assert at_beta(one, dataset, one.beta, one.doubt) == pytest.approx(one.fit.class_probability, abs=1e-9)


def test_models_that_a_guard_excludes_have_no_weight_and_their_reason_is_kept(crowd, monkeypatch):
    dataset, _ = crowd
    choice = choose(dataset, difficulty=False)
    first = average_models(choice, dataset).members[0].name
    standings = tuple(
        module.replace(each, excluded="It flips." if each.candidate.name == first else each.excluded)
        for each in choice.standings
    )
    found = average_models(module.replace(choice, standings=standings), dataset)
    assert first not in {each.name for each in found.members}
    assert "It flips." in {why for _, why in found.left_out}


def test_the_vote_is_used_alone_where_each_rater_gives_one_class(build):
    dataset = build(rules(1, 0.5, 0.0)[0], 2)
    found = average_models(choose(dataset, difficulty=False), dataset)
    assert not found.members and found.vote_share == 1
    assert found.fit.class_probability == pytest.approx(SmoothedVote().fit(dataset).class_probability)
    assert found.sentence == "Smoothed vote: no rater model can be averaged"


@pytest.mark.parametrize("rows", [[(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0)], [(i, 0, i % 2) for i in range(6)]])
def test_two_cases_and_single_annotations_give_finite_probabilities(rows, build):
    dataset = build(rows, 2)
    found = average_models(choose(dataset), dataset)
    assert np.isfinite(found.fit.class_probability).all()
    assert found.fit.class_probability.sum(axis=1) == pytest.approx(np.ones(dataset.n_cases))


def test_believed_beta_is_below_that_of_held_out_annotations_only_where_mistakes_are_shared():
    assert believed_beta(0.3) == pytest.approx(0.216) and believed_beta(0.3, case_effect=True) == pytest.approx(0.258)
    assert believed_beta(0.7) == 0.7 and believed_beta(1.0) == 1.0
    grid = [believed_beta(beta) for beta in np.linspace(0.05, 1, 40)]
    assert grid == sorted(grid)
