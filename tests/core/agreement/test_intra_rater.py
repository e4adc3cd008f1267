"""Agreement of raters with themselves against pure Python."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from core.agreement.by_rater import intra_rater
from core.agreement.probability import spa
from core.errors import NotApplicableError
from tests.core.agreement.examples import counts_of, dataset_of
from tests.core.kinds import as_scores


def random_repeats(seed, n_cases=25, n_raters=4, n_classes=3):
    """(rater, annotation) per case in any order, raters answering up to three times."""
    rng = np.random.default_rng(seed)
    return [
        [(int(rater), int(rng.integers(n_classes))) for rater in rng.integers(n_raters, size=rng.integers(0, 8))]
        for _ in range(n_cases)
    ]


def own_answers(cases, rater):
    return [[answer for other, answer in case if other == rater] for case in cases]


@pytest.mark.parametrize("seed", range(5))
def test_a_rater_has_the_agreement_of_their_answers_as_if_each_were_a_rater(seed):
    """SPA of the rater's own annotations: value, error and interval."""
    cases = random_repeats(seed)
    found = intra_rater(dataset_of(cases, 3, 4), 0.9)
    assert found.raters == ("rater 0", "rater 1", "rater 2", "rater 3")
    for rater, one in enumerate(found.each):
        expected = spa(counts_of(own_answers(cases, rater), 3), level=0.9)
        assert one.name == "intra_rater"
        for field in ("value", "se", "ci_low", "ci_high"):
            assert getattr(one, field) == pytest.approx(getattr(expected, field), abs=1e-12)
        assert (one.n_cases, one.n_annotations, one.note) == (expected.n_cases, expected.n_annotations, expected.note)


@pytest.mark.parametrize("seed", range(5))
def test_overall_every_rater_weighs_by_their_repeats_and_is_deleted_as_a_whole(seed):
    cases = random_repeats(seed)
    agreement, weight = [], []
    for rater in range(4):
        own = [answers for answers in own_answers(cases, rater) if len(answers) >= 2]
        share = [sum(a == b for a, b in permutations(x, 2)) / (len(x) * (len(x) - 1)) for x in own]
        weight.append(sum(len(x) - 1 for x in own))
        agreement.append(sum(s * (len(x) - 1) for s, x in zip(share, own, strict=True)) / weight[-1])
    whole = np.average(agreement, weights=weight)
    without = [np.average(np.delete(agreement, i), weights=np.delete(weight, i)) for i in range(4)]
    found = intra_rater(dataset_of(cases, 3, 4)).overall
    assert found.value == pytest.approx(whole, abs=1e-12)
    assert found.se == pytest.approx(np.sqrt(3 / 4 * ((without - whole) ** 2).sum()), abs=1e-12)
    assert found.n_cases == 4


def test_raters_who_never_repeat_themselves_are_undefined_with_the_reason():
    found = intra_rater(dataset_of([[(0, 0), (1, 0), (0, 1)], [(1, 1), (0, 0)]], 2))
    assert found.each[0].value == 0 and "only one case" in found.each[0].note
    assert found.each[1].value is None and found.each[1].note == "undefined: this rater never annotated a case twice"
    assert found.overall.value == 0 and "only one rater" in found.overall.note
    none = intra_rater(dataset_of([[(0, 0), (1, 0)], []], 2))
    assert none.overall.value is None and none.overall.note == "undefined: raters never annotated a case twice"


def test_other_raters_between_two_answers_change_nothing():
    plain = intra_rater(dataset_of([[(0, 1), (0, 1)], [(0, 0), (0, 1)]], 2))
    mixed = intra_rater(dataset_of([[(0, 1), (1, 0), (0, 1)], [(0, 0), (1, 1), (0, 1)]], 2))
    assert plain.each[0] == mixed.each[0]


def test_anonymous_answers_and_scores_are_refused():
    dataset = dataset_of(random_repeats(0), 3, 4)
    with pytest.raises(NotApplicableError, match="anonymous"):
        intra_rater(replace(dataset, raters_identified=False))
    with pytest.raises(NotApplicableError, match="single classes"):
        intra_rater(as_scores(dataset))
