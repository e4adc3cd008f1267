"""Settings of a dataset: what is averaged once rater models are scored."""

from dataclasses import replace

import pytest

from core.analysis_settings import compute_settings, decide
from core.models.average import average_models
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.learned_counts import learned_counts, learned_prior
from tests.core.kinds import as_sets
from tests.core.models.rows import random_rows


def test_average_is_that_of_the_models_that_were_scored(build):
    dataset = build(random_rows(1, n_cases=40, n_raters=5), 3)
    settings = compute_settings(dataset)
    found, expected = settings.average(dataset), average_models(settings.choice, dataset)
    assert found.fit.class_probability == pytest.approx(expected.fit.class_probability)
    assert decide(dataset, DirichletCounts(), dataset).average(dataset) is None


def test_counts_that_learn_their_prior_open_at_one_and_wait_for_nothing(build):
    dataset = build(random_rows(2, n_cases=40, n_raters=5), 3)
    learned = learned_counts(dataset)
    model = replace(learned.model, depth=2)
    prior = learned_prior(dataset, model)
    assert prior == learned.prior and learned_prior(dataset, DirichletCounts()) is None
    settings = decide(dataset, model, dataset, scoring=True, awaits_truth=True, prior=prior)
    assert settings.plausibility == model
    assert settings.reliability == 1 and settings.opening.source == "prior" and not settings.reliability_open
    published = decide(dataset, DirichletCounts(depth=2), dataset, scoring=True)
    assert published.plausibility == DirichletCounts(depth=2) and published.reliability_open
    opened = compute_settings(dataset, weighing=False)
    assert opened.plausibility == learned.model and opened.choice is None
    assert compute_settings(dataset, learn=False, weighing=False).plausibility == DirichletCounts()


def test_labels_of_sets_keep_the_published_prior(build):
    dataset = as_sets(build(random_rows(2, n_cases=40, n_raters=5), 3))
    settings = compute_settings(dataset, dataset.classes[0], weighing=False)
    assert settings.plausibility == DirichletCounts() and settings.opening.source != "prior"
