"""The remark on intervals of kappa and alpha where few cases are of the rarer classes."""

import pytest

from core.agreement.bootstrap import bootstrap
from core.agreement.coefficients import fleiss_kappa, gwet_ac
from core.agreement.cohen_conger import conger_kappa
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.linearised import mostly_of_others
from core.agreement.probability import spa, spa_corrected
from tests.core.agreement.examples import counts_of, dataset_of, random_cases, scores_of


def rare(others, of=60):
    """Cases of which some are of the second class, and as many are split."""
    return [[0, 0]] * (of - 2 * others) + [[1, 1]] * others + [[0, 1]] * others


@pytest.mark.parametrize("seed", range(5))
def test_cases_mostly_of_other_classes_are_counted_among_those_with_two_annotations(seed):
    cases = random_cases(seed, n_classes=3)
    answers = [k for case in cases for k in case]
    usable = [case for case in cases if len(case) > 1]
    mostly = [
        sum(2 * case.count(k) < len(case) for case in usable)
        for k in set(answers)
        if answers.count(k) == max(map(answers.count, answers))
    ]
    assert mostly_of_others(counts_of(cases, 3)) == (len(usable), min(mostly))


@pytest.mark.parametrize("cases", [[[0] * 4, [1, 1], [1, 1]], [[1] * 4, [0, 0], [0, 0]]])
def test_of_two_classes_as_common_as_each_other_that_counts_which_leaves_fewer_cases(cases):
    assert mostly_of_others(counts_of(cases, 2)) == (3, 1)


@pytest.mark.parametrize(
    ("coefficient", "least"), [(fleiss_kappa, 8), (krippendorff_alpha, 8), (conger_kappa, 8), (gwet_ac, 5)]
)
def test_below_the_number_of_cases_that_the_study_found_the_interval_is_remarked_on(coefficient, least):
    def found(others):
        cases = rare(others)
        return coefficient(
            dataset_of([list(enumerate(case)) for case in cases], 2)
            if coefficient is conger_kappa
            else counts_of(cases, 2)
        )

    assert found(least).note == ""
    assert found(least - 1).note == (
        f"only {least - 1} of 60 cases have a majority for a class other than the most common one, so the interval "
        "tends to be too narrow"
    )


def test_an_interval_of_all_that_is_possible_is_not_said_to_be_too_narrow():
    """Two cases of three annotations and two classes, of which one pair agrees at least: everything from -⅓ to 1."""
    found = gwet_ac(counts_of([[0, 0, 1], [1, 1, 1]], 2))
    assert (found.ci_low, found.ci_high) == (pytest.approx(-1 / 3), 1)
    assert found.note == "too few cases: the interval covers the whole range of the coefficient"


def test_data_without_a_class_that_is_rare_are_not_remarked_on():
    assert fleiss_kappa(counts_of([[0, 0]] * 9 + [[1, 1]] * 6 + [[2, 2]] * 5 + [[0, 1]], 3)).note == ""


def test_coefficients_that_keep_their_coverage_there_are_not_remarked_on():
    for coefficient in (spa, spa_corrected):
        assert coefficient(counts_of(rare(5), 2)).note == ""
    assert krippendorff_alpha(scores_of(rare(5)), metric="interval").note == ""


def test_percentiles_of_resamples_are_remarked_on_as_well():
    for others in (4, 5, 7, 8):
        for one in bootstrap(counts_of(rare(others, 100), 2), n_replicates=200).coefficients:
            least = {"percent": 0, "spa": 0, "brennan_prediger": 0, "gwet_ac": 5}.get(one.name, 8)
            assert ("too narrow" in one.note) == (others < least)
