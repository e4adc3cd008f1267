"""The warning about annotations that depend on early disagreement, on collections of known kinds."""

import numpy as np
import pytest

from core.agreement.adaptive import _newcombe, adaptive_collection, first_of_each_case
from core.agreement.probability import spa
from core.annotations.dataset import MISSING_TIME, Dataset
from core.errors import NotApplicableError
from tests.core.agreement.examples import dataset_of
from tests.core.kinds import as_scores


def panel(cases):
    return dataset_of([list(enumerate(answers)) for answers in cases], 2)


def simulated(rng, n_cases, *, adaptive):
    """Binary annotations on cases of which some are harder; five after a disagreement, or for a third of all."""
    chance = rng.choice([0.95, 0.6], n_cases)
    answers = (rng.random((n_cases, 5)) < chance[:, None]).astype(int)
    longer = answers[:, 0] != answers[:, 1] if adaptive else rng.random(n_cases) < 1 / 3
    return [list(row[: 5 if more else 2]) for row, more in zip(answers, longer, strict=True)], chance


def test_more_answers_after_each_disagreement_are_noticed_and_the_first_two_are_free_of_it():
    cases, chance = simulated(np.random.default_rng(0), 2000, adaptive=True)
    found = adaptive_collection(panel(cases))
    truth = float((chance**2 + (1 - chance) ** 2).mean())
    assert found.warn and found.difference == 1 and found.ci_low > 0.98
    assert found.more_agree == 0 and found.more_disagree == found.n_disagree
    first, everything = found.first_two[0], found.everything[0]
    assert abs(first.value - truth) < 4 * first.se
    assert everything.value < truth - 4 * everything.se


def test_independent_numbers_of_annotations_raise_the_alarm_as_seldom_as_it_says():
    """4,000 collections at level 0.95: 0.05 give or take 4 · √(0.05 · 0.95/4000)."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(4000):
        early = rng.random(150) < 0.3
        more = rng.random(150) < 0.4
        x, n, y, m = int((early & more).sum()), int(early.sum()), int((~early & more).sum()), int((~early).sum())
        _, low, high = _newcombe(x, n, y, m, 0.95)
        alarms += low > 0 or high < 0
    assert alarms / 4000 == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))


@pytest.mark.parametrize(
    ("x", "n", "y", "m", "low", "high"),
    [(56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090), (5, 56, 0, 29, -0.0381, 0.1926)],
)
def test_the_interval_is_that_of_newcombes_published_examples(x, n, y, m, low, high):
    """Table II, method 10."""
    found = _newcombe(x, n, y, m, 0.95)
    assert found == pytest.approx((x / n - y / m, low, high), abs=5e-5)


def test_order_within_a_case_is_that_of_time_and_cases_with_an_unknown_time_do_not_count():
    rows = [(case, rater, 0) for case in range(30) for rater in range(2)]
    rows += [(case, rater, int(rater == 1)) for case in range(30, 60) for rater in range(3)]
    case, rater, answer = np.array(rows).T
    vocabulary = [f"c{i}" for i in range(60)], ["a", "b", "c"], ["no", "yes"]
    time = np.array([0, 2, 1])[rater]  # the odd annotation comes last
    dated = Dataset.from_classes("dated", *vocabulary, case, rater, answer, time.astype(np.int64))
    found = adaptive_collection(dated)
    assert found.order == "time" and found.n_disagree == 0
    plain = adaptive_collection(Dataset.from_classes("plain", *vocabulary, case, rater, answer))
    assert plain.order == "file" and plain.n_disagree == 30 and plain.difference == 1
    time[case == 59] = MISSING_TIME
    some = adaptive_collection(Dataset.from_classes("some", *vocabulary, case, rater, answer, time.astype(np.int64)))
    assert some.n_agree + some.n_disagree == 59


@pytest.mark.parametrize(
    ("cases", "why"),
    [
        ([[0, 1]] * 20 + [[1, 1]] * 20, "no case has more than two"),
        ([[0, 1, 0]] * 20 + [[1, 1, 1]] * 20, "every case has more than two"),
        ([[0, 1, 1]] * 3 + [[1, 1]] * 20, "disagree on only 3 cases"),
        ([[0, 1, 1]] * 20 + [[1, 1]] * 3, "agree on only 3 cases"),
        ([[0], [1]], "no case has two annotations"),
    ],
)
def test_where_the_question_cannot_be_put_there_is_no_answer_but_the_reason(cases, why):
    found = adaptive_collection(panel(cases))
    assert found.difference is None and not found.warn and why in found.note


def test_answers_sorted_by_class_tell_nothing_of_what_came_first():
    cases = [sorted(case) for case in simulated(np.random.default_rng(2), 400, adaptive=False)[0]]
    assert (
        "undefined: annotations are grouped by class in every case, so their order is not chronological"
        in adaptive_collection(panel(cases)).note
    )


def test_first_answers_keep_every_case_with_its_first_annotations():
    cases = [[0, 1, 1], [1], [1, 1, 0, 0]]
    kept = first_of_each_case(panel(cases), 2)
    assert np.diff(kept.case_ptr).tolist() == [2, 1, 2]
    assert kept.answer.tolist() == [0, 1, 1, 1, 1]
    assert adaptive_collection(panel(cases)).first_two[0].value == spa(kept).value == 0.5


def test_scores_are_refused():
    with pytest.raises(NotApplicableError, match="scores"):
        adaptive_collection(as_scores(panel([[0, 1]])))
