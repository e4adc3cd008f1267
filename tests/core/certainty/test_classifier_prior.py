"""A classifier as evidence for plausibilities: against brute force, where it helps, and where it must not."""

import numpy as np
import pytest

from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, SweepOptions
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.classifier_prior import WEIGHTS, classifier_prior
from core.certainty.top_sets import annotation_certainty
from core.command_line import main
from core.errors import InputError, NotApplicableError
from core.evaluation.predictions import Predictions
from core.plausibility.dirichlet import DirichletCounts


def simulated(seed, n_cases=150, each=3):
    """Annotations drawn from plausibilities of cases, and these plausibilities."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(3, 0.4), n_cases)
    answer = np.array([rng.choice(3, each, p=one) for one in share]).ravel()
    case, rater = np.repeat(np.arange(n_cases), each), np.tile(np.arange(each), n_cases)
    names = [f"c{one:03d}" for one in range(n_cases)], [f"r{one}" for one in range(each)], list("xyz")
    return Dataset.from_classes("made", *names, case, rater, answer), share


def test_the_score_is_that_of_holding_out_each_annotation_in_turn():
    dataset, share = simulated(1, n_cases=12, each=4)
    alpha, gamma = 0.7, 2.0
    given = share.copy()
    given[3] = np.nan  # no prediction
    found = classifier_prior(DirichletCounts(alpha), dataset, "f", given, reliability=gamma, n_draws=10)
    for place, weight in enumerate(WEIGHTS):
        logs = []
        for case in range(12):
            own = dataset.answer[dataset.case_ptr[case] : dataset.case_ptr[case + 1]]
            prior = alpha + weight * np.nan_to_num(given[case])
            for out in range(len(own)):
                shape = prior + gamma * np.bincount(np.delete(own, out), minlength=3)
                logs.append(np.log(shape[own[out]] / shape.sum()))
        assert found.score[place] == pytest.approx(np.mean(logs), abs=1e-5)
    assert (found.n_held_out, found.n_predicted) == (48, 11)


def test_certainty_with_it_is_that_of_the_shifted_dirichlet_and_without_it_that_of_counts():
    dataset, share = simulated(2)
    found = classifier_prior(DirichletCounts(), dataset, "f", share, reliability=1.0, n_draws=4000)
    assert found.weight > 0 and found.gain > 2 * found.gain_se
    alone = annotation_certainty(DirichletCounts(), dataset, reliability=1.0, n_draws=4000).certainty[:, 0]
    np.testing.assert_allclose(found.certainty[0], alone, atol=0.05)
    counts = np.zeros((150, 3))
    np.add.at(counts, (dataset.case_of_annotation, dataset.answer), 1)
    rng = np.random.default_rng(3)
    for case in range(0, 150, 30):
        draws = rng.dirichlet(counts[case] + 1 + found.weight * share[case], 4000).argmax(axis=1)
        assert found.certainty[1, case] == pytest.approx(np.bincount(draws).max() / 4000, abs=0.05)


def test_predictions_that_know_nothing_have_no_weight():
    weights = []
    for seed in range(6):
        dataset, share = simulated(seed)
        given = np.random.default_rng(seed + 50).permutation(share)
        found = classifier_prior(DirichletCounts(0.4), dataset, "f", given, reliability=1.0, n_draws=50)
        weights.append(found.weight)
        if not found.weight:
            np.testing.assert_array_equal(*found.certainty)
    assert weights.count(0.0) >= 5


def test_a_rater_and_cases_with_one_annotation_are_refused():
    dataset, share = simulated(4)
    with pytest.raises(InputError, match="also a rater"):
        classifier_prior(DirichletCounts(), dataset, "r1", share, reliability=1.0)
    single, share = simulated(4, each=1)
    with pytest.raises(NotApplicableError, match="no case has two annotations"):
        classifier_prior(DirichletCounts(), single, "f", share, reliability=1.0)


def test_the_sentence_names_the_worth_in_annotations_or_says_that_there_is_none():
    dataset, share = simulated(5)
    options, part = SweepOptions((2.0,), n_draws=50), RELIABILITY.part("evidence")
    made, rng = [], np.random.default_rng(9)
    near = np.array([rng.dirichlet(4 * one + 0.2) for one in share])
    for name, table in (("knows", near), ("guesses", rng.permutation(share))):
        order = np.argsort(-table, axis=1).astype(np.int32)
        score = np.take_along_axis(table, order, axis=1).ravel()
        ties = np.tile(np.arange(3, dtype=np.int32), 150)
        made.append(Predictions(name, np.arange(151) * 3, order.ravel(), ties, (), score))
    inputs = Inputs(dataset, predictions=tuple(made), settings=AnalysisSettings(DirichletCounts(0.4), 2.0))
    found = part.answer(inputs, options)
    said = [str(getattr(block, "text", "")) for block in part.blocks(found, inputs, options)]
    assert any(f"knows counts as {found[0].weight / 2:.1f} annotations" in one for one in said)
    assert any("guesses does not clearly improve plausibilities" in one for one in said)
    assert list(part.frame(found, inputs, options)["classifier"].unique()) == ["knows", "guesses"]


def test_the_command_gives_both_relations_and_refuses_evidence_without_predictions(capsys):
    line = ["relations", "dirichlet", "knees", "--reliability", "1", "--draws", "20", "--csv"]
    assert main([*line, "--part", "evidence"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.startswith("classifier,case,leading_without") and first.startswith("cautious,knee-001,")
    assert main(["relations", "dirichlet", "anaesthesia", "--draws", "20", "--part", "evidence"]) == 2
    assert "there are no predictions" in capsys.readouterr().err
