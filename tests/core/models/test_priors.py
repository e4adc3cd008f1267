"""Priors of the Bayesian Dawid-Skene model: what they count as, and that they reach the fit."""

import json

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import InputError
from core.models.bayesian_dawid_skene import prior_in_words
from core.models.catalogue import command_of, fit_request, request

NAME = "bayesian-dawid-skene"


def clear_truth(n=90, wrong=9):
    """Two raters who are always right decide the truth; a third is wrong on some cases of class a."""
    truth = np.arange(n) % 2
    third = truth.copy()
    third[np.flatnonzero(truth == 0)[:wrong]] = 1
    answers = np.stack([truth, truth, truth, truth, third], axis=1)
    return Dataset.from_classes("clear", [f"c{i}" for i in range(n)], list("rstuv"), list("ab"),
                                np.repeat(np.arange(n), 5), np.tile(np.arange(5), n), answers.ravel())  # fmt: skip


def fitted(**priors):
    return fit_request(request(NAME, "map", **priors), clear_truth()).fit


@pytest.mark.parametrize("priors", [{}, {"diagonal": 30.0, "off_diagonal": 2.0, "prevalence_prior": 10.0}])
def test_a_prior_counts_as_that_many_annotations(priors):
    """Where the truth is clear the mode is (prior + annotations) over their sum, on the line of log ratios."""
    found = fitted(**priors)
    right, wrong, cases = (
        priors.get("diagonal", 5.0),
        priors.get("off_diagonal", 1.0),
        priors.get("prevalence_prior", 3),
    )
    np.testing.assert_allclose(
        found.confusion[4, 0], np.array([right + 36, wrong + 9]) / (right + wrong + 45), atol=2e-3
    )
    np.testing.assert_allclose(found.confusion[0, 1], np.array([wrong, right + 45]) / (right + wrong + 45), atol=2e-3)
    np.testing.assert_allclose(found.prevalence, [0.5, 0.5], atol=1e-3)
    assert found.settings["prevalence_prior"] == cases


def test_words_say_as_how_many_annotations_it_counts():
    assert prior_in_words(2) == (
        "The prior counts as 6 annotations per rater and true class (5 correct, 1 incorrect: accuracy 83%), and "
        "as 3 cases per class."
    )
    assert "The prior counts as 10 annotations per rater and true class" in prior_in_words(3, 1.0, 7.0, 1.5)
    assert "(7 correct, 3 incorrect: accuracy 70%), and as 1 case per class" in prior_in_words(3, 1.0, 7.0, 1.5)


def test_priors_are_options_of_the_command_and_stand_in_its_answer(capsys):
    assert main(["fit", NAME, "anaesthesia", "--diagonal", "40", "--off-diagonal", "2", "--prevalence-prior", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"]["diagonal"] == 40 and found["settings"]["off_diagonal"] == 2
    assert found["prior"].startswith("The prior counts as 46 annotations per rater and true class")
    assert "--diagonal 40.0" in command_of(request(NAME, diagonal=40.0))
    with pytest.raises(InputError):
        request(NAME, diagonal=0.0)
