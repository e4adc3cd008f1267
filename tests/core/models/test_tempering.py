"""β after the fit, and the strength of empirical Bayes."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError
from core.models._strength_kernels import add_rises, digamma_rise
from core.models.catalogue import fit_request, request
from core.models.dawid_skene import DawidSkene
from core.models.one_coin import OneCoin
from core.models.smoothing import pool_rows, strength
from core.models.tap import TAP
from core.models.tempering import PREVALENCE_NOTE, dependence_note, tempered, truth_beta, truth_doubt
from tests.core.models.rows import random_rows, simulated


@pytest.mark.parametrize("model", [OneCoin(), DawidSkene(), DawidSkene("empirical"), TAP()])
def test_beta_changes_class_probabilities_as_the_formula_says_and_nothing_else(model, build):
    dataset = build(random_rows(3), 3)
    plain, other = model.fit(dataset), replace(model, beta=0.4).fit(dataset)
    assert (other.confusion == plain.confusion).all()
    assert (other.prevalence == plain.prevalence).all()
    assert other.log_likelihood == plain.log_likelihood
    assert plain.beta == 1 and other.beta == 0.4
    for case in range(dataset.n_cases):
        weight = plain.prevalence.copy()
        for a in dataset.annotations_of(case):
            weight *= plain.confusion[dataset.rater[a], :, dataset.answer[a]] ** 0.4
        assert other.class_probability[case] == pytest.approx(weight / weight.sum(), abs=1e-12)


@pytest.mark.parametrize("model", [OneCoin(beta=0.4), DawidSkene("empirical", beta=0.4), TAP(beta=0.4)])
def test_a_tempered_prevalence_is_the_posterior_to_the_power_of_beta(model, build):
    dataset = build(random_rows(3), 3)
    whole = replace(model, beta=1.0).fit(dataset)
    found = replace(model, temper_prevalence=True).fit(dataset)
    power = whole.class_probability**0.4
    assert found.class_probability == pytest.approx(power / power.sum(axis=1, keepdims=True), abs=1e-12)
    assert (found.top_class() == whole.top_class()).all()
    assert PREVALENCE_NOTE in found.notes and found.settings["temper_prevalence"] is True
    assert PREVALENCE_NOTE not in model.fit(dataset).notes
    assert PREVALENCE_NOTE not in replace(model, beta=1.0, temper_prevalence=True).fit(dataset).notes
    kept = tempered(found, dataset, 0.3)
    assert kept.settings["temper_prevalence"] is True and kept.notes.count(PREVALENCE_NOTE) == 1
    power = whole.class_probability**0.3
    assert kept.class_probability == pytest.approx(power / power.sum(axis=1, keepdims=True), abs=1e-12)
    back = tempered(found, dataset, 0.4, temper_prevalence=False)
    assert back.class_probability == pytest.approx(model.fit(dataset).class_probability, abs=1e-12)
    assert back.notes == model.fit(dataset).notes and "temper_prevalence" not in back.settings
    with pytest.raises(InputError, match="temper_prevalence"):
        replace(model, temper_prevalence="yes")


@pytest.mark.parametrize("repeats", ["independent", "first"])
def test_tempering_a_fit_is_fitting_with_beta_and_one_undoes_it(repeats, build):
    dataset = build(random_rows(3), 3)
    plain = DawidSkene(repeats=repeats).fit(dataset)
    once = tempered(plain, dataset, 0.3)
    again = DawidSkene(repeats=repeats, beta=0.3).fit(dataset)
    assert once.class_probability == pytest.approx(again.class_probability, abs=1e-12)
    assert once.notes == again.notes
    back = tempered(once, dataset, 1.0)
    assert back.class_probability == pytest.approx(plain.class_probability, abs=1e-12)
    assert back.notes == plain.notes


def test_known_classes_stay_certain(build):
    dataset = build(random_rows(3), 3)
    gold = np.full(dataset.n_cases, -1, np.int32)
    gold[:5] = 2
    fit = DawidSkene(use_gold=True, beta=0.2).fit(replace(dataset, gold=gold))
    assert fit.class_probability[:5].tolist() == [[0, 0, 1]] * 5
    assert (fit.class_probability[5:].max(axis=1) < 1).all()


def test_the_sentence_counts_the_typical_case_and_is_absent_where_beta_is_1(build):
    dataset = build([(case, rater, 0) for case in range(3) for rater in range(39)], 2)
    assert dependence_note(dataset, 1.0) == ()
    assert dependence_note(dataset, 0.2) == (
        "For this model, 39 annotations of a case are worth about 8 independent ones (β 0.2).",
    )
    pairs = build([(case, rater, 0) for case in range(3) for rater in range(2)], 2)
    assert "2 annotations of a case are worth about 1 independent one (" in dependence_note(pairs, 0.5)[0]
    assert "2 annotations of a case are worth less than a single independent one (" in dependence_note(pairs, 0.2)[0]
    assert dependence_note(build([(0, 0, 0), (1, 1, 1)], 2), 0.5) == ()
    assert any("independent" in note and "worth" in note for note in OneCoin(beta=0.5).fit(dataset).notes)
    assert not any("worth" in note for note in OneCoin().fit(dataset).notes)


@pytest.mark.parametrize("model", [OneCoin(beta=0.5, doubt=0.1), DawidSkene(doubt=0.1), TAP(beta=0.3, doubt=0.1)])
def test_doubt_mixes_in_the_prevalence_and_known_classes_stay_certain(model, build):
    dataset = build(random_rows(3), 3)
    plain, doubted = replace(model, doubt=0.0).fit(dataset), model.fit(dataset)
    assert doubted.class_probability == pytest.approx(0.9 * plain.class_probability + 0.1 * plain.prevalence, abs=1e-12)
    assert tempered(plain, dataset, model.beta, doubt=0.1).class_probability == pytest.approx(
        doubted.class_probability, abs=1e-12
    )
    gold = np.full(dataset.n_cases, -1, np.int32)
    gold[:5] = 2
    fit = replace(model, use_gold=True).fit(replace(dataset, gold=gold))
    assert fit.class_probability[:5].tolist() == [[0, 0, 1]] * 5


def test_the_doubt_grows_with_the_dependence_of_annotations_and_is_none_where_they_look_independent():
    assert [truth_doubt(beta) for beta in (1.0, 0.9, 0.8, 0.4, 0.1)] == [0, 0, 0.02, 0.06, 0.09]
    with pytest.raises(InputError, match="doubt"):
        OneCoin(doubt=1.0)


@pytest.mark.parametrize("beta", [0, -1, 1.01, float("nan")])
def test_a_beta_out_of_range_is_refused(beta):
    with pytest.raises(InputError, match="β"):
        OneCoin(beta=beta)


def test_what_cannot_be_tempered_is_refused(build):
    dataset = build(random_rows(3, n_classes=2), 2)
    with pytest.raises(InputError, match="Could not use β: majority with the method vote does not support it"):
        tempered(fit_request(request("majority", "vote"), dataset).fit, dataset, 0.5)
    with pytest.raises(InputError, match="different data"):
        tempered(OneCoin().fit(dataset), build(random_rows(4, n_cases=9, n_classes=2), 2), 0.5)
    with pytest.raises(InputError, match="has no option beta"):
        fit_request(request("hierarchical", "map", beta=0.5), dataset)


@pytest.mark.parametrize("model", ["difficulty-AB", "difficulty-ABC"])
def test_a_difficulty_model_is_tempered_on_its_nodes_and_1_is_the_model_itself(model, build):
    confusion = np.full((5, 2, 2), 0.2) + 0.6 * np.eye(2)
    dataset = build(simulated(1, 40, confusion, (0.6, 0.4), 4)[0], 2)
    plain = fit_request(request(model, "map"), dataset).fit
    from core.models.difficulty.model import tempered_at_mode

    same = tempered_at_mode(plain, dataset, 1.0)
    assert same.class_probability == pytest.approx(plain.class_probability, abs=1e-9)
    less = fit_request(request(model, "map", beta=0.3), dataset).fit
    assert less.beta == 0.3
    if model == "difficulty-ABC":  # no case effect: the formula of all other models
        for case in range(dataset.n_cases):
            weight = plain.prevalence.copy()
            for a in dataset.annotations_of(case):
                weight *= plain.confusion[dataset.rater[a], :, dataset.answer[a]] ** 0.3
            assert less.class_probability[case] == pytest.approx(weight / weight.sum(), abs=1e-9)
    assert less.class_probability.max(axis=1).mean() < plain.class_probability.max(axis=1).mean()


def test_the_beta_of_the_truth_never_exceeds_that_of_colleagues_and_1_stays_1():
    assert [truth_beta(beta) for beta in (0.5, 0.8, 0.9)] == pytest.approx([0.36, 0.576, 0.78])
    assert truth_beta(0.5, case_effect=True) == pytest.approx(0.43) and truth_beta(1.0, case_effect=True) == 1
    betas = np.arange(1, 11) / 10
    shown = np.array([truth_beta(float(beta)) for beta in betas])
    assert (np.diff(shown) > 0).all()
    assert (shown <= betas).all() and shown[-1] == 1


def test_what_independent_raters_would_have_is_no_sign_of_dependence():
    """β 0.5 stays 0.5 where independent raters have it too; a share of it below 0.8 changes nothing."""
    assert [truth_beta(0.5, excess=excess) for excess in (0.0, 0.75, 0.9, 1.0)] == pytest.approx(
        [0.36, 0.36, 0.5 * 0.78 / 0.9, 0.5]
    )
    assert truth_beta(0.5, case_effect=True, excess=1.0) == 0.5
    assert truth_beta(0.9, excess=0.85) == truth_beta(0.9)
    assert [truth_doubt(0.5, excess=excess) for excess in (0.0, 0.7, 0.8, 0.85, 0.9)] == pytest.approx(
        [0.05, 0.05, 0.02, 0.015, 0.0]
    )
    assert truth_doubt(0.85, excess=0.8) == truth_doubt(0.85)


def slow_marginal(counts, mean, s):
    from math import lgamma

    total = np.log(s) - 0.1 * s  # Gamma(2, 0.1)
    for unit in range(counts.shape[0]):
        total += lgamma(s) - lgamma(s + counts[unit].sum())
        total += sum(lgamma(s * m + n) - lgamma(s * m) for n, m in zip(counts[unit], mean, strict=True))
    return total


@pytest.mark.parametrize("seed", range(3))
def test_the_strength_maximises_the_dirichlet_multinomial_likelihood(seed):
    rng = np.random.default_rng(seed)
    mean = rng.dirichlet(np.ones(4))
    counts = np.array([rng.multinomial(20, rng.dirichlet(6 * mean)) for _ in range(30)]) + 0.0
    found = strength(counts[:, :, None], mean[:, None])[0]
    grid = found * np.exp(np.linspace(-0.2, 0.2, 9))  # it stops where a step is below 0.1%, somewhat short of the top
    assert abs(int(np.argmax([slow_marginal(counts, mean, s) for s in grid])) - 4) <= 1


def test_the_rise_of_the_digamma_function_is_that_of_scipy():
    from scipy.special import digamma

    rng = np.random.default_rng(0)
    x, n = 10 ** rng.uniform(-6, 6, 300), 10 ** rng.uniform(-3, 6, 300)
    slow = digamma(x + n) - digamma(x)
    rounding = 1e-12 * (np.abs(slow) + np.abs(digamma(x)))
    assert (np.abs([digamma_rise(*pair) for pair in zip(x, n, strict=True)] - slow) < rounding).all()
    group, m, s, found = rng.integers(3, size=300), rng.random(300), np.array([0.5, 7.0, 90.0]), np.ones(3)
    add_rises(group, n, m, s, found)
    expected = 1 + np.bincount(group, m * (digamma(s[group] * m + n) - digamma(s[group] * m)))
    assert found == pytest.approx(expected, rel=1e-12)


def test_raters_alike_are_shrunk_hard_and_raters_apart_hardly():
    mean = np.array([0.7, 0.2, 0.1])
    alike = np.tile(mean * 200, (40, 1))[:, :, None]
    apart = 200 * np.eye(3)[np.repeat([0, 1, 2], [28, 8, 4])][:, :, None]
    none = np.zeros((5, 3, 1))
    assert strength(alike, mean[:, None])[0] > 50
    assert strength(apart, mean[:, None])[0] < 0.3
    assert strength(none, mean[:, None])[0] == pytest.approx(10, rel=1e-2)  # nothing seen: the mode of Gamma(2, 0.1)


def test_empirical_bayes_ends_between_one_matrix_for_all_and_each_rater_alone(build):
    same = np.tile(np.full((1, 3, 3), 0.15) + 0.55 * np.eye(3), (12, 1, 1))
    rng = np.random.default_rng(1)
    differ = np.array([a * np.eye(3) + (1 - a) / 3 for a in np.repeat([0.05, 0.95], 6)])
    for confusion, alike in ((same, True), (differ, False)):
        dataset = build(simulated(int(rng.integers(99)), 500, confusion, (0.4, 0.3, 0.3), 8)[0], 3)
        raw, pooled, shrunk = (DawidSkene(name).fit(dataset).confusion for name in ("none", "pooled", "empirical"))
        left = (shrunk - shrunk.mean(axis=0)).std() / (raw - raw.mean(axis=0)).std()
        assert (left < 0.8) if alike else (left > 0.9)
        error, *others = (np.abs(found - confusion).mean() for found in (shrunk, raw, pooled))
        assert error < min(
            others
        )  # the right amount for both: nearer to the truth than either rule that is the same for all


def test_a_rater_without_annotations_has_the_row_of_the_pool(build):
    dataset = build(random_rows(3), 3, n_raters=6)
    problem = DawidSkene("empirical").problem(dataset)
    confusion = DawidSkene("empirical").fit(dataset).confusion
    rows = problem.prior.answers / problem.prior.answers.sum(axis=1, keepdims=True)
    assert confusion[5] == pytest.approx(rows[5].T, abs=1e-9)
    assert rows[:5, 0, 0].min() < rows[5, 0, 0] < rows[:5, 0, 0].max()  # theirs are moved by what they did
    assert (confusion > 0).all()


def test_pool_rows_of_classes_never_seen_are_right_at_the_common_rate_and_else_popular():
    counts = np.zeros((3, 3))
    counts[0], counts[1] = (90, 8, 2), (20, 75, 5)
    rows = pool_rows(counts, np.array([0.5, 0.3, 0.2]))
    assert rows.sum(axis=1) == pytest.approx(np.ones(3))
    right = (165 + 1) / (200 + 2)
    assert rows[2] == pytest.approx([(1 - right) * 0.5 / 0.8, (1 - right) * 0.3 / 0.8, right])
