"""Held-out scores: folds, scores against slow references, and what they do not depend on."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from core.errors import Cancelled, NotApplicableError
from core.models import held_out as module
from core.models.dawid_skene import DawidSkene
from core.models.held_out import (
    BETAS,
    N_FOLDS,
    HeldOut,
    better_tempering,
    clustered_error,
    draw,
    held_out,
    held_out_difficulty,
    held_out_shares,
    held_out_votes,
    prepare,
)
from core.models.one_coin import OneCoin
from core.models.stopping import StoppingRule
from core.models.tap import TAP
from core.models.tempering import point_of
from core.runtime.chunks import CancelToken
from tests.core.models.rows import random_rows, simulated

SHARP = np.full((6, 3, 3), 0.1) + 0.7 * np.eye(3)


def alone(dataset):
    """No rater has a family."""
    return np.arange(dataset.n_raters)


def rows_without(dataset, keep):
    of_case = dataset.case_of_annotation
    return [(int(of_case[a]), int(dataset.rater[a]), int(dataset.answer[a])) for a in np.flatnonzero(keep)]


@pytest.mark.parametrize("seed", range(5))
def test_a_fold_hides_at_most_one_rater_of_a_case_and_the_repeats_with_it(seed, build):
    dataset = build(random_rows(seed, n_cases=60, n_raters=9), 3)
    folds = draw(dataset, seed, 0, alone(dataset))
    for case in range(dataset.n_cases):
        mine = list(dataset.annotations_of(case))
        raters = {int(dataset.rater[a]) for a in mine}
        scored = [a for a in mine if folds.scored[a]]
        assert len(scored) == (min(len(raters), N_FOLDS) if len(raters) > 1 else 0)
        assert len({int(folds.fold[a]) for a in scored}) == len(scored)
        for a in mine:
            same = [b for b in mine if dataset.rater[b] == dataset.rater[a]]
            assert len({int(folds.fold[b]) for b in same}) == 1
            assert not folds.scored[a] or a == same[0]
            assert (folds.fold[a] >= 0) == any(folds.scored[b] for b in same)


@pytest.mark.parametrize("model", [OneCoin(), DawidSkene(), TAP()], ids=lambda model: model.title)
def test_folds_fitted_side_by_side_have_the_scores_of_folds_one_after_another(model, build, monkeypatch):
    data = prepare(build(simulated(3, 80, SHARP, np.full(3, 1 / 3), 4)[0], 3), seed=1)
    apart = held_out(data, model)
    together, lists = [], module.map_chunks
    monkeypatch.setattr(module, "_SIDE_BY_SIDE", 0)
    monkeypatch.setattr(module, "map_chunks", lambda work, *a, **k: together.append(work) or lists(work, *a, **k))
    told = []
    found = held_out(data, model, progress=told.append)
    assert any(work.__name__ == "scored" for work in together)
    assert np.array_equal(found.by_case, apart.by_case) and np.isfinite(found.by_case).all()
    assert told == sorted(told) and told[-1] == 1.0 and len(told) == len(data.refits)


@pytest.mark.parametrize("seed", range(5))
def test_a_family_is_hidden_together_and_one_of_its_annotations_is_scored(seed, build):
    dataset = build(random_rows(seed, n_cases=60, n_raters=9), 3)
    family = np.array([0, 1, 0, 3, 0, 1, 6, 7, 8])
    folds = draw(dataset, seed, 0, family)
    for case in range(dataset.n_cases):
        mine = list(dataset.annotations_of(case))
        found = {int(family[dataset.rater[a]]) for a in mine}
        scored = [a for a in mine if folds.scored[a]]
        assert len(scored) == (min(len(found), N_FOLDS) if len(found) > 1 else 0)
        assert len({int(family[dataset.rater[a]]) for a in scored}) == len(scored)
        for a in mine:
            same = [b for b in mine if family[dataset.rater[b]] == family[dataset.rater[a]]]
            assert {int(folds.fold[b]) for b in same} == {int(folds.fold[a])}
            assert (folds.fold[a] >= 0) == any(folds.scored[b] for b in same)


def test_who_of_a_family_is_scored_is_drawn(build):
    dataset = build([(case, rater, 0) for case in range(2000) for rater in range(4)], 2)
    folds = draw(dataset, 0, 0, np.array([0, 0, 0, 3]))
    share = np.bincount(dataset.rater[folds.scored], minlength=4) / 2000
    assert share[3] == 1
    assert np.abs(share[:3] - 1 / 3).max() < 5 * np.sqrt(2 / 9 / 2000)


def test_each_answer_is_as_likely_to_be_hidden_and_in_each_fold(build):
    """9 raters, 5 hidden: 2,000 cases, within five standard errors of 5/9, and of 1/5 of a fold."""
    dataset = build([(case, rater, 0) for case in range(2000) for rater in range(9)], 2)
    folds = draw(dataset, 0, 0, alone(dataset))
    share = np.bincount(dataset.rater[folds.scored], minlength=9) / 2000
    assert np.abs(share - 5 / 9).max() < 5 * np.sqrt(5 / 9 * 4 / 9 / 2000)
    by_fold = np.bincount(folds.fold[folds.scored & (dataset.rater == 3)], minlength=5)
    assert np.abs(by_fold / by_fold.sum() - 0.2).max() < 5 * np.sqrt(0.16 / by_fold.sum())


def test_the_folds_of_a_case_do_not_depend_on_which_other_cases_are_there(build):
    dataset = build(random_rows(3, n_cases=30), 3)
    part = dataset.select(cases=dataset.cases[10:20])
    whole, some = draw(dataset, 5, 0, alone(dataset)), draw(part, 5, 0, alone(part))
    at = slice(int(dataset.case_ptr[10]), int(dataset.case_ptr[20]))
    assert whole.fold[at].tolist() == some.fold.tolist()
    assert whole.scored[at].tolist() == some.scored.tolist()
    assert draw(part, 6, 0, alone(part)).fold.tolist() != some.fold.tolist()


def test_small_data_have_four_sets_of_folds_and_large_ones_one(build):
    few = prepare(build([(case, rater, 0) for case in range(10) for rater in range(3)], 2))
    assert few.n_sets == 4
    assert few.n_of_case.tolist() == [3] * 10
    many = prepare(build([(case, rater, 0) for case in range(1000) for rater in range(5)], 2))
    assert many.n_sets == 1
    assert len(many.refits) == N_FOLDS


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("model", [OneCoin("pooled"), DawidSkene("pooled"), TAP("pooled")])
def test_scores_equal_a_slow_reference_that_fits_each_fold_and_multiplies(model, both, build, monkeypatch):
    monkeypatch.setattr(module, "REFIT", StoppingRule(300, 1e-12))
    monkeypatch.setattr(module, "better_tempering", lambda *two: two[both])
    dataset = build(random_rows(2, n_cases=20), 3)
    data = prepare(dataset, seed=1)
    found = held_out(data, model)
    assert found.temper_prevalence is both
    slow = np.zeros((dataset.n_cases, BETAS.size))
    for number in range(4):
        folds = draw(dataset, 1, number, alone(dataset))
        for fold in range(N_FOLDS):
            keep = folds.fold != fold
            fit = replace(model, stopping=StoppingRule(300, 1e-12)).fit(
                build(rows_without(dataset, keep), 3, dataset.n_cases, dataset.n_raters)
            )
            for a in np.flatnonzero((folds.fold == fold) & folds.scored):
                case = dataset.case_of_annotation[a]
                for b, beta in enumerate(BETAS):
                    weight = fit.prevalence ** (beta if both else 1)
                    for other in dataset.annotations_of(case):
                        if keep[other]:
                            weight *= fit.confusion[dataset.rater[other], :, dataset.answer[other]] ** beta
                    p = weight @ fit.confusion[dataset.rater[a], :, dataset.answer[a]] / weight.sum()
                    slow[case, b] += log(max(p, 1e-6)) / 4
    assert found.by_case == pytest.approx(slow, abs=1e-6)
    assert found.n == sum(
        min(len(set(dataset.rater[list(dataset.annotations_of(i))])), 5)
        for i in range(20)
        if len(set(dataset.rater[list(dataset.annotations_of(i))])) > 1
    )


@pytest.mark.parametrize("model", [OneCoin("pooled"), DawidSkene("pooled"), DawidSkene("empirical"), TAP("pooled")])
def test_a_fit_that_has_seen_what_is_hidden_would_score_better(model, build):
    """By about its parameters over its annotations: the reason why every fold is fitted anew."""
    dataset = build(simulated(3, 300, SHARP, (0.5, 0.3, 0.2), 4)[0], 3)
    data = prepare(dataset)
    assert held_out_on_all(data, model) > held_out(data, model).scores[-1] + 0.0005


def held_out_on_all(data, model):
    """The score at β = 1 of a fit that has seen what is hidden."""
    whole = data.whole.dataset
    fit = model.fit(whole)
    point, total = point_of(fit), 0.0
    for refit in data.refits:
        for a in np.flatnonzero((refit.folds.fold == refit.number) & refit.folds.scored):
            rest = [b for b in whole.annotations_of(whole.case_of_annotation[a]) if refit.folds.fold[b] != refit.number]
            weight = np.exp(point.log_prevalence + point.log_theta[data.whole.cell[rest]].sum(axis=0))
            total += np.log(weight @ np.exp(point.log_theta[data.whole.cell[a]]) / weight.sum())
    return total / data.n_sets / data.n_of_case.sum()


@pytest.mark.parametrize("size", [1, 7])
def test_the_size_of_chunks_changes_nothing(size, build, monkeypatch):
    dataset = build(random_rows(8), 3)
    whole = held_out(prepare(dataset), DawidSkene(), cases=True)
    monkeypatch.setattr(module, "CHUNK_CASES", size)
    parts = held_out(prepare(dataset), DawidSkene(), cases=True)
    assert (parts.by_case == whole.by_case).all()
    assert (parts.case_score == whole.case_score).all()


def test_the_score_of_held_out_cases_is_the_likelihood_under_a_fit_without_them(build, monkeypatch):
    monkeypatch.setattr(module, "REFIT", StoppingRule(300, 1e-12))
    model = OneCoin("pooled", StoppingRule(300, 1e-12))
    dataset = build(random_rows(4, n_cases=15), 3)
    data = prepare(dataset)
    found = held_out(data, model, cases=True).case_score
    for fold in range(N_FOLDS):
        keep = data.fold_of_case[dataset.case_of_annotation] != fold
        fit = model.fit(build(rows_without(dataset, keep), 3, dataset.n_cases, dataset.n_raters))
        for case in np.flatnonzero(data.fold_of_case == fold):
            mine = list(dataset.annotations_of(case))
            weight = fit.prevalence * np.prod(fit.confusion[dataset.rater[mine], :, dataset.answer[mine]], axis=0)
            assert found[case] == pytest.approx(log(weight.sum()), abs=1e-6)


def test_where_whole_cases_cannot_be_held_out_annotations_have_the_same_score(build):
    """A fold of two cases leaves one with all, or nothing to fit: then there is no score of cases, and no refusal."""
    dataset = build([(0, 0, 0), (0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 0, 2), (1, 1, 1), (1, 2, 2), (1, 3, 0)], 3)
    data = prepare(dataset)
    data = replace(data, fold_of_case=np.zeros(2, np.int8))
    plain, both = held_out(data, OneCoin()), held_out(data, OneCoin(), cases=True)
    assert both.case_score is None
    assert (plain.by_case == both.by_case).all()


def test_the_best_beta_is_the_larger_of_equals_and_errors_cluster_by_case():
    n = np.array([2, 1, 0])
    held = HeldOut(np.array([[-2.0, -2.0], [-1.0, -1.0], [0.0, 0.0]]), n, np.array([0.5, 1.0]))
    assert held.beta == 1.0
    assert held.score == pytest.approx(-1.0)
    assert held.se == pytest.approx(0.0)
    other = HeldOut(np.array([[-3.0, -9.0], [-1.0, -9.0], [0.0, 0.0]]), n, np.array([0.5, 1.0]))
    assert other.beta == 0.5
    diff, error = held.difference(other)
    assert diff == pytest.approx(1 / 3)
    assert error == pytest.approx(np.sqrt((1 - 2 / 3) ** 2 + (0 - 1 / 3) ** 2) / 3)
    assert clustered_error(np.array([1.0, 0.0, 0.0]), n) == pytest.approx(error)


@pytest.mark.parametrize(("behind", "fullest"), [(0.04, 1.0), (0.06, 0.5)])
def test_the_fullest_beta_is_the_largest_within_one_standard_error_of_the_best(behind, fullest):
    n = np.ones(100, np.int64)
    best = np.linspace(-2, -1, 100)
    apart = np.zeros(100)
    apart[:50], apart[50:] = 0.5, -0.5
    held = HeldOut(np.stack([best - 1, best, best - behind + apart], axis=1), n, np.array([0.2, 0.5, 1.0]))
    assert held.beta == 0.5
    assert clustered_error(apart, n) == pytest.approx(0.05)
    assert held.fullest_beta == fullest


@pytest.mark.parametrize(("behind", "least"), [(0.09, 0.2), (0.11, 0.5)])
def test_the_least_beta_is_the_smallest_within_two_standard_errors_of_the_best(behind, least):
    best, apart = np.linspace(-2, -1, 100), np.repeat([0.5, -0.5], 50)
    scores = np.stack([best - 9, best - behind + apart, best, best - 1], axis=1)
    held = HeldOut(scores, np.ones(100, np.int64), np.array([0.1, 0.2, 0.5, 1.0]))
    assert (held.beta, held.least_beta) == (0.5, least)


def test_what_each_run_of_a_page_asks_of_many_cases_is_worked_out_once(monkeypatch):
    held = HeldOut(np.random.default_rng(0).normal(-1, 1, (50, 3)), np.full(50, 4), np.array([0.1, 0.5, 1.0]))
    asked = (held.fullest_beta, held.least_beta, held.se, held.score)
    monkeypatch.setattr(module, "clustered_error", None)
    assert not held.scores.flags.writeable
    assert (held.fullest_beta, held.least_beta, held.se, held.score) == asked


@pytest.mark.parametrize(("ahead", "chosen"), [(0.06, True), (0.04, False), (-0.06, False)])
def test_the_prevalence_is_tempered_where_that_is_ahead_by_more_than_one_standard_error(ahead, chosen):
    n = np.ones(100, np.int64)
    best = np.linspace(-2, -1, 100)
    apart = np.repeat([0.5, -0.5], 50)
    plain = HeldOut(np.stack([best, best - 1], axis=1), n, np.array([0.5, 1.0]))
    both = HeldOut(np.stack([best + ahead + apart, best - 1], axis=1), n, np.array([0.5, 1.0]), temper_prevalence=True)
    assert clustered_error(apart, n) == pytest.approx(0.05)
    assert better_tempering(plain, both).temper_prevalence is chosen
    full = replace(plain, by_case=plain.by_case[:, ::-1])  # best at β = 1, where the two are the same
    tempered = replace(both, by_case=np.stack([best + 1, best], axis=1))
    assert not better_tempering(full, tempered).temper_prevalence


def test_raters_that_copy_each_other_count_for_less_and_independent_ones_do_not(build):
    rows, _ = simulated(5, 400, SHARP, (0.4, 0.3, 0.3), 5)
    independent = build(rows, 3)
    data = prepare(independent)
    assert held_out(data, OneCoin()).beta >= 0.8
    copied = [(c, 2 * r + twin, a) for c, r, a in rows[: len(rows) // 5 * 5] for twin in (0, 1)]
    dataset = build(copied, 3)
    assert held_out(prepare(dataset), OneCoin()).beta <= 0.6


def test_votes_are_scored_by_the_others_and_one_pseudo_annotation_and_shares_by_what_is_left_of_all(build):
    dataset = build([(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 0), (2, 0, 1), (2, 1, 1), (2, 2, 1)], 2)
    data = prepare(dataset)
    slow, by_share = np.zeros(3), np.zeros(3)
    for refit in data.refits:
        kept = refit.data.dataset.answer
        for a in np.flatnonzero((refit.folds.fold == refit.number) & refit.folds.scored):
            case = dataset.case_of_annotation[a]
            others = [b for b in dataset.annotations_of(case) if refit.folds.fold[b] != refit.number]
            same = sum(dataset.answer[b] == dataset.answer[a] for b in others)
            share = (kept == dataset.answer[a]).mean()
            slow[case] += log((same + share) / (len(others) + 1)) / 4
            by_share[case] += log(share) / 4
    assert held_out_votes(data).by_case[:, 0] == pytest.approx(slow, abs=1e-12)
    assert held_out_shares(data).by_case[:, 0] == pytest.approx(by_share, abs=1e-12)


@pytest.mark.parametrize("tag", ["AB", "ABC"])
def test_a_difficulty_model_scores_as_its_own_likelihood_says(tag, build):
    """At β = 1: ln p(others and the hidden one) − ln p(others), by the density of the sampler."""
    from core.models.difficulty.density import DifficultyDensity, Specification
    from core.models.difficulty.mode import at_its_mode, highest_from
    from core.runtime.chunks import CancelToken

    confusion = np.full((5, 2, 2), 0.2) + 0.6 * np.eye(2)
    dataset = build(simulated(1, 25, confusion, (0.6, 0.4), 4)[0], 2)
    data = prepare(dataset)
    found = held_out_difficulty(data, tag)
    whole = at_its_mode(DifficultyDensity(dataset, Specification(tag)))
    slow = np.zeros(dataset.n_cases)
    for refit in data.refits:
        density = DifficultyDensity(refit.data.dataset, Specification(tag), whole.node_counts)
        mode = highest_from(density, [whole.mode], CancelToken())[0][None]
        every = DifficultyDensity(dataset, Specification(tag), whole.node_counts)
        rest = density.probabilities(mode)[0][0][density.patterns.pattern_of_case]
        full = every.probabilities(mode)[0][0][every.patterns.pattern_of_case]
        for a in np.flatnonzero((refit.folds.fold == refit.number) & refit.folds.scored):
            case = dataset.case_of_annotation[a]
            slow[case] += (full[case] - rest[case]) / 4
    assert found.by_case[:, -1] == pytest.approx(slow, abs=1e-6)


def test_one_answer_a_case_cannot_be_scored_and_work_can_be_cancelled(build):
    with pytest.raises(NotApplicableError, match="Cannot determine rater accuracy"):
        prepare(build([(0, 0, 0), (1, 1, 1)], 2))
    with pytest.raises(NotApplicableError, match="two raters"):
        prepare(build([(0, 0, 0), (0, 0, 0), (1, 1, 1)], 2))
    token, told = CancelToken(), []
    data = prepare(build(random_rows(1), 3))

    def progress(share):
        told.append(share)
        token.cancel()

    with pytest.raises(Cancelled):
        held_out(data, DawidSkene(), token=token, progress=progress)
    assert told == [1 / len(data.refits)]
