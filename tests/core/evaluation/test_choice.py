"""Whether the choice of a classifier survives, said in one sentence."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.evaluation.choice import leaders, verdict


def evaluation(means, better):
    """An evaluation of one metric with given means and P(row better than column)."""
    names = tuple("ABCD"[: len(means)])
    values = {name: {"m": SimpleNamespace(mean=mean)} for name, mean in zip(names, means, strict=True)}
    return SimpleNamespace(classifiers=names, metrics=("m",), values=values, better=np.array(better)[:, :, None])


NAN = float("nan")
A_SURE = evaluation([0.9, 0.8], [[NAN, 0.99], [0.01, NAN]])
A_LESS = evaluation([0.9, 0.8], [[NAN, 0.968], [0.032, NAN]])
A_ALWAYS = evaluation([0.9, 0.8], [[NAN, 1.0], [0.0, NAN]])
A_NEARLY = evaluation([0.9, 0.8], [[NAN, 0.946], [0.054, NAN]])
A_UNSURE = evaluation([0.9, 0.89], [[NAN, 0.6], [0.4, NAN]])
B_UNSURE = evaluation([0.89, 0.9], [[NAN, 0.45], [0.55, NAN]])
B_SURE = evaluation([0.7, 0.8], [[NAN, 0.03], [0.97, NAN]])
APART = evaluation([0.9, 0.8], [[NAN, NAN], [NAN, NAN]])


@pytest.mark.parametrize(
    ("evaluations", "words"),
    [
        ([A_SURE, A_SURE], "“A” leads at every γ (probability at least 99%)"),
        ([A_LESS, A_SURE], "“A” leads at every γ (probability at least 96%)"),  # never more than it is
        ([A_ALWAYS, A_ALWAYS], "“A” leads at every γ (probability at least 99%)"),  # draws never make it certain
        (
            [A_SURE, A_UNSURE],
            "“A” is best at every γ, but not clearly at γ = 3 (probability 60%)",
        ),
        (
            [A_UNSURE, A_NEARLY],
            "“A” is best at every γ, but not clearly (probability as low as 60%)",
        ),
        (
            [B_SURE, A_SURE],
            "The best classifier depends on γ: “B” leads at γ = 1 (probability 97%), “A” at γ = 3 (99%)",
        ),
        (
            [A_NEARLY],
            "“A” is best at every γ, but not clearly (probability as low as 94%)",
        ),
        (
            [A_UNSURE, B_UNSURE],
            "No clear leader: “A” has the highest mean at γ = 1 (probability 60%), “B” at γ = 3 (55%)",
        ),
        (
            [B_SURE, A_UNSURE],
            "The best classifier depends on γ: “B” leads at γ = 1 (probability 97%), "
            "“A” has the highest mean at γ = 3 (60%)",
        ),
        ([APART, APART], "Cannot compare “A”: it has no cases in common with another classifier"),
        ([evaluation([0.9], [[NAN]])], "There is only one classifier. Add a second one to compare them"),
        ([evaluation([NAN, NAN], [[NAN, NAN], [NAN, NAN]])], "No classifier has predictions for these cases"),
    ],
)
def test_the_verdict_says_who_leads_and_how_surely(evaluations, words):
    assert verdict((1.0, 3.0)[: len(evaluations)], evaluations, "m") == words


def test_a_lead_that_is_lost_in_the_middle_does_not_survive():
    """A leads as surely at the last as at the first trust level, and is said to lead at the first."""
    words = "The best classifier depends on γ: “A” leads at γ = 1 (probability 99%), “B” at γ = 3 (97%)"
    assert verdict((1.0, 3.0, 10.0), [A_SURE, B_SURE, A_SURE], "m") == words
    assert verdict((1.0, 3.0, 10.0), [A_SURE, A_SURE, B_SURE], "m") == words.replace("γ = 3", "γ = 10")


def test_of_several_changes_the_first_and_the_last_leader_are_told():
    words = (
        "The best classifier depends on γ: “A” leads at γ = 1 (probability 99%), "
        "“B” has the highest mean at γ = 10 (55%)"
    )
    assert verdict((1.0, 3.0, 10.0), [A_SURE, B_SURE, B_UNSURE], "m") == words
    third = evaluation([0.1, 0.2, 0.9], [[NAN, 0.5, 0.02], [0.5, NAN, 0.02], [0.98, 0.98, NAN]])
    assert verdict((1.0, 3.0, 10.0), [A_SURE, B_SURE, third], "m") == words.replace(
        "“B” has the highest mean at γ = 10 (55%)", "“C” at γ = 10 (98%)"
    )


def test_a_classifier_without_cases_cannot_lead():
    found = leaders([evaluation([NAN, 0.2], [[NAN, NAN], [NAN, NAN]])], "m")
    assert [(leader.name, leader.p) for leader in found] == [("B", None)]
