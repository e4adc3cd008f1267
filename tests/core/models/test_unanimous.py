"""Guards of rater models, by cases on which all raters agree."""

from dataclasses import replace

import numpy as np
import pytest

from core.models.choose import choose
from core.models.majority import MajorityVote
from core.models.unanimous import Unanimous, flipped_in_words, unanimous_cases
from tests.core.models.rows import random_rows, rules, share_right, shifted


def test_unanimous_cases_are_those_of_two_raters_or_more_who_agree(build):
    rows = [
        (0, 0, 1),
        (0, 1, 1),
        (1, 0, 0),
        (2, 0, 1),
        (2, 1, 0),
        (3, 0, 0),
        (3, 0, 0),
        (4, 0, 0),
        (4, 1, 0),
        (4, 1, 0),
    ]
    found = unanimous_cases(build(rows, 2, n_cases=6))
    assert found.case.tolist() == [0, 4] and found.answer.tolist() == [1, 0]
    assert found.share.tolist() == [0.7, 0.3]  # of five cases, one of them tied


@pytest.mark.parametrize("seed", range(3))
def test_share_is_that_of_the_majority_vote(seed, build):
    dataset = build(random_rows(seed), 3)
    assert unanimous_cases(dataset).share == pytest.approx(MajorityVote().fit(dataset).prevalence)


def test_raters_who_say_the_same_to_everything_are_not_counted(build):
    rng = np.random.default_rng(0)
    rows = [(case, int(r), case % 2) for case in range(100) for r in rng.choice(6, 2, replace=False)]
    spam = rows + [(case, 6 + who, who) for case in range(100) for who in (0, 1)]
    assert unanimous_cases(build(spam, 2)).case.tolist() == list(range(100))


def asked(times, n_flipped, prevalence):
    """Why a fit of unanimous cases is out: ``times`` cases of each class, of which some get the next class."""
    answer = np.repeat(np.arange(len(times)), times)
    share = np.array(times) / answer.size
    classes = tuple(f"class {k}" for k in range(len(times)))
    probability = np.eye(len(times))[answer]
    probability[:n_flipped] = np.roll(probability[:n_flipped], 1, axis=1)
    fit = replace(FIT, class_probability=probability, prevalence=np.array(prevalence))
    found = Unanimous(np.arange(answer.size), answer, share, classes)
    assert found.n_flipped(fit) == n_flipped
    return found.why_not(fit)


FIT = MajorityVote().fit


@pytest.mark.parametrize(
    ("flipped", "n", "words"),
    [
        (0, 113, "keeps the class of all 113 unanimous cases"),
        (0, 1, "keeps the class of the only unanimous case"),
        (1, 1, "changes the class of the only unanimous case"),
        (1, 2, "changes the class of 1 of 2 unanimous cases"),
        (1200, 2400, "changes the class of 1,200 of 2,400 unanimous cases"),
    ],
)
def test_flipped_in_words_reads_as_people_write(flipped, n, words):
    assert flipped_in_words(flipped, n) == words


@pytest.fixture(autouse=True)
def _fit(build, monkeypatch):
    monkeypatch.setitem(globals(), "FIT", MajorityVote().fit(build([(0, 0, 0), (0, 1, 1)], 2)))


@pytest.mark.parametrize(
    ("times", "n_flipped", "prevalence", "why"),
    [
        ((50, 50), 2, (0.5, 0.5), ""),
        ((50, 50), 3, (0.5, 0.5), "It changes the class of 3 of 100 unanimous cases."),
        ((200, 200), 8, (0.5, 0.5), ""),
        ((200, 200), 9, (0.5, 0.5), "It changes the class of 9 of 400 unanimous cases."),
        (
            (5, 95),
            0,
            (0.016, 0.984),
            "It estimates a prevalence of 2% for class 0, but 5% of cases have this class by majority vote, and 5 "
            "cases unanimously.",
        ),
        ((5, 95), 0, (0.017, 0.983), ""),
        ((4, 96), 0, (0.0, 1.0), ""),  # fewer than five
        ((5, 295), 0, (0.0, 1.0), ""),  # fewer than 2%
        (
            (6, 294),
            0,
            (0.0, 1.0),
            "It estimates a prevalence of 0% for class 0, but 2% of cases have this class by majority vote, and 6 "
            "cases unanimously.",
        ),
        ((1, 0), 1, (0.5, 0.5), ""),
    ],
)
def test_a_model_is_out_if_it_loses_a_class_or_flips_more_than_two_and_two_per_cent(times, n_flipped, prevalence, why):
    assert asked(times, n_flipped, prevalence) == why


def test_nothing_speaks_against_a_fit_without_unanimous_cases(build):
    dataset = build([(0, 0, 0), (0, 1, 1), (1, 0, 1)], 2)
    found = unanimous_cases(dataset)
    assert found.n == 0 and found.why_not(MajorityVote().fit(dataset)) == ""


@pytest.mark.parametrize("seed", range(3))
def test_rules_of_one_class_each_are_as_accurate_as_the_vote(seed, build):
    """Prevalence 0.15 to 0.5 and a tenth of other classes: every rater model calls all ones zeros, or all zeros."""
    rng = np.random.default_rng(seed)
    rows, truth = rules(seed, rng.uniform(0.15, 0.5), 0.1 if seed == 0 else rng.uniform(0, 0.1))
    found = choose(build(rows, 2))
    by_vote = next(each for each in found.standings if each.candidate.reference)
    assert found.chosen == "smoothed-vote" and found.best.flipped == 0 < found.n_unanimous
    right = share_right(found.best.fit.class_probability, truth)
    assert right >= share_right(by_vote.fit.class_probability, truth) - 0.02
    models = [each for each in found.standings if not each.by_vote]
    assert all(each.excluded.startswith("It ") and each.flipped > 10 for each in models)
    assert max(share_right(each.fit.class_probability, truth) for each in models) < right - 0.05


@pytest.mark.parametrize("seed", range(3))
def test_rules_open_with_the_vote_if_unanimous_cases_are_too_few_to_judge_models(seed, build):
    found = choose(build(rules(seed, 0.15, 0.0)[0][::4], 2))
    out = next(each for each in found.standings if each.candidate.name == "difficulty-ABC")
    assert found.n_unanimous < 5 and found.chosen == "smoothed-vote"
    assert out.excluded == (
        "Most raters use only one class, so only their choice of cases is informative, and this model ignores it."
    )
    assert " raters with at least 10 annotations use one class for at least 95% of them. " in found.reason


def test_a_fit_whose_classes_slide_by_one_cannot_open(build):
    rows, truth = shifted(673)
    found = choose(build(rows, 5), difficulty=False)
    by_name = {each.candidate.name: each for each in found.standings}
    slid, vote = by_name["dawid-skene-empirical"], by_name["majority"]
    assert slid.held.score == max(each.held.score for each in found.standings)
    assert share_right(slid.fit.class_probability, truth) < share_right(vote.fit.class_probability, truth) - 0.03
    assert " for class 2, but " in slid.excluded and slid.flipped > 10
    assert share_right(found.best.fit.class_probability, truth) >= share_right(vote.fit.class_probability, truth)
    words = flipped_in_words(found.best.flipped, found.n_unanimous)
    assert found.best.flipped <= 2 and found.flips == f"{found.best.candidate.title} {words}."
