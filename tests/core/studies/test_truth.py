"""The truth given a panel and all readings."""

import numpy as np
import pytest

from core.errors import NotApplicableError
from core.studies.analysis import StudyOptions, compute
from core.studies.study import ReadingStudy
from core.studies.truth import RIDGE, SMOOTHING, draw_truths, fit_truth, majority_truth, normal_scores
from core.text import plural
from tests.core.studies.worlds import opinions, roe_metz, study_of


def penalised_likelihood(fit, features, panel):
    """Log likelihood of the panel's opinions given the scores, with the priors, by enumeration of both truths."""
    share = 1 / (1 + np.exp(-features @ fit.coefficient))
    each = []
    for truth, prior in ((1, share), (0, 1 - share)):
        correct = fit.sensitivity if truth else fit.specificity
        given = np.where(panel == truth, correct[:, None], 1 - correct[:, None])
        each.append(prior * np.where(panel < 0, 1.0, given).prod(axis=0))
    rates = np.concatenate([fit.sensitivity, fit.specificity])
    prior = SMOOTHING * (np.log(rates) + np.log(1 - rates)).sum() - RIDGE / 2 * (fit.coefficient[1:] ** 2).sum()
    return np.log(sum(each)).sum() + prior


def test_a_fit_is_a_maximum_of_the_penalised_likelihood():
    rng = np.random.default_rng(3)
    scores, truth = roe_metz(rng, 3, 120)
    panel = opinions(rng, truth, (0.8, 0.85, 0.9))
    panel[0, :20] = -1
    features = normal_scores(study_of(scores))
    fit = fit_truth(features, panel)
    best = penalised_likelihood(fit, features, panel)
    for _ in range(40):
        moved = type(fit)(
            fit.probability,
            fit.coefficient + rng.normal(0, 0.05, len(fit.coefficient)),
            np.clip(fit.sensitivity + rng.normal(0, 0.02, 3), 0.01, 0.99),
            np.clip(fit.specificity + rng.normal(0, 0.02, 3), 0.01, 0.99),
        )
        assert penalised_likelihood(moved, features, panel) < best


def test_error_rates_of_the_panel_are_found():
    rng = np.random.default_rng(4)
    scores, truth = roe_metz(rng, 5, 3000)
    accuracies = np.array([0.75, 0.85, 0.95])
    fit = fit_truth(normal_scores(study_of(scores)), opinions(rng, truth, accuracies))
    np.testing.assert_allclose(fit.sensitivity, accuracies, atol=0.04)  # binomial SE 0.01, with the truth known
    np.testing.assert_allclose(fit.specificity, accuracies, atol=0.04)
    sure = np.abs(fit.probability - 0.5) > 0.45
    assert sure.mean() > 0.5 and ((fit.probability > 0.5) == truth)[sure].mean() > 0.95


def test_normal_scores_do_not_depend_on_the_scale_and_are_0_where_a_case_was_not_read():
    scores, _ = roe_metz(np.random.default_rng(5), 2, 60)
    scores[1, 0, 10:20] = np.nan
    first, second = (normal_scores(study_of(of)) for of in (scores, np.exp(scores)))
    np.testing.assert_array_equal(first, second)
    assert (first[10:20, 3] == 0).all() and first[:10, 3].all()
    assert np.abs(np.delete(first[:, 3], range(10, 20)).mean()) < 1e-9
    constant = scores.copy()
    constant[0, 1] = 2.0
    assert not normal_scores(study_of(constant))[:, 2].any()


def test_the_majority_of_a_tied_panel_is_unknown():
    panel = np.array([[1, 1, 0, -1, -1], [1, 0, 0, 0, -1], [0, -1, 0, -1, -1]], np.int8)
    assert majority_truth(panel).tolist() == [1, -1, 0, 0, -1]
    scores, truth = roe_metz(np.random.default_rng(6), 3, 40)
    two = np.stack([truth, truth])
    two[0, 0] = 1 - truth[0]
    found = compute(study_of(scores, panel=two), StudyOptions(n_draws=50))
    assert "1 case left out: the panel is tied or has no opinion." in found.taken.notes
    assert found.taken.n_with + found.taken.n_without == 39
    assert found.in_doubt.n_with + found.in_doubt.n_without == 40


def test_draws_follow_the_posterior_and_the_seed():
    rng = np.random.default_rng(7)
    scores, truth = roe_metz(rng, 3, 150)
    study = study_of(scores, panel=opinions(rng, truth, (0.8,) * 3))
    fit, draws, n_redrawn = draw_truths(study, 300, 1)
    assert draws.shape == (300, 150) and n_redrawn == 0
    assert np.abs(draws.mean(axis=0) - fit.probability).mean() < 0.05
    assert np.corrcoef(draws.mean(axis=0), fit.probability)[0, 1] > 0.98
    np.testing.assert_array_equal(draw_truths(study, 50, 1)[1], draws[:50])
    assert (draw_truths(study, 50, 2)[1] != draws[:50]).any()


def test_draws_that_cannot_be_analysed_are_drawn_again_and_counted():
    """Two cases with the condition, of which a panel is not certain: some draws have fewer."""
    rng = np.random.default_rng(8)
    scores, truth = roe_metz(rng, 3, 30, prevalence=0.1)
    panel = opinions(rng, truth, (0.85, 0.85, 0.85))
    panel[:, truth == 1] = [[1], [1], [0]]
    found = compute(study_of(scores, panel=panel), StudyOptions(n_draws=50))
    assert found.n_redrawn > 0
    beginning = f"{plural(found.n_redrawn, 'draw')} of the truth {'was' if found.n_redrawn == 1 else 'were'} repeated"
    assert any(note.startswith(beginning) for note in found.in_doubt.notes)


def test_a_panel_that_cannot_disagree_is_refused():
    scores, truth = roe_metz(np.random.default_rng(9), 3, 30)
    for panel in (truth[None], np.where(np.arange(30) % 2 == [[0], [1]], truth, -1).astype(np.int8)):
        with pytest.raises(NotApplicableError, match="no case has opinions from two panellists"):
            compute(study_of(scores, panel=panel))


def test_names_and_the_order_of_cases_do_not_matter_to_the_fit():
    rng = np.random.default_rng(10)
    scores, truth = roe_metz(rng, 3, 80)
    panel = opinions(rng, truth, (0.8, 0.9, 0.9))
    order = rng.permutation(80)
    first = fit_truth(normal_scores(study_of(scores)), panel)
    second = fit_truth(normal_scores(study_of(scores[:, :, order])), panel[:, order])
    np.testing.assert_allclose(first.probability[order], second.probability, atol=1e-9)


def test_with_a_truth_the_panel_is_not_used():
    rng = np.random.default_rng(11)
    scores, truth = roe_metz(rng, 3, 40)
    study = study_of(scores, truth, opinions(rng, truth, (0.7,) * 3))
    found = compute(ReadingStudy(study.scores, study.modalities, study.readers, study.cases, truth, study.panel))
    assert found.in_doubt is None and found.taken.truth == "gold"
    np.testing.assert_array_equal(found.probability, truth)
