"""Each kind of annotations gets the coefficients that make sense for it and no others."""

from dataclasses import replace

import numpy as np
import pytest

from core.agreement.applicable_coefficients import ApplicableCoefficients, coefficients_for
from core.agreement.coefficients import agreement_table, fleiss_kappa
from core.agreement.intervals import Coefficient
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.ordered import ranking_agreement
from core.agreement.scores import score_table
from core.annotations.counts import class_counts
from core.errors import InputError
from core.ingest.read_files import read
from core.text import number
from tests.core.agreement.examples import GWET, counts_of, dataset_of, random_panel, scores_of
from tests.core.agreement.test_weights import random_rankings, ranked

NOMINAL = [
    "percent",
    "spa",
    "spa_corrected",
    "conger_kappa",
    "fleiss_kappa",
    "gwet_ac",
    "brennan_prediger",
    "krippendorff_alpha",
]


def panel(**declared):
    return replace(dataset_of(random_panel(1), 4, 5), **declared)


def reasons(found):
    return {left.what: left.why for left in found.left_out}


def test_nominal_classes_have_the_unweighted_coefficients_alone():
    dataset = panel()
    found = coefficients_for(dataset, 0.9)
    assert found.kind == "nominal"
    assert [one.name for one in found.coefficients] == NOMINAL
    assert list(found.coefficients) == agreement_table(class_counts(dataset), level=0.9, dataset=dataset)
    assert {one.weights for one in found.coefficients} == {"identity", "annotations_m1", "nominal"}
    assert "no declared order" in reasons(found)["weighted coefficients and ordinal alpha"]


def test_a_declared_order_adds_quadratic_and_ordinal_weights_and_ordinal_alpha():
    dataset = panel(ordinal=True)
    found = coefficients_for(dataset)
    assert found.kind == "ordinal"
    assert found.coefficients[:8] == coefficients_for(panel()).coefficients
    weighted = [(one.name, one.weights) for one in found.coefficients[8:]]
    names = [name for name in NOMINAL if not name.startswith("spa")]
    for family in ("quadratic", "ordinal"):
        expected = [(name, f"{family} weights" if "alpha" in name else family) for name in names]
        assert [pair for pair in weighted if pair in expected] == expected
    assert found.coefficients[-1] == krippendorff_alpha(dataset, metric="ordinal")
    assert len(weighted) == 2 * len(names) + 1
    quadratic = next(one for one in found.coefficients if (one.name, one.weights) == ("fleiss_kappa", "quadratic"))
    assert quadratic == fleiss_kappa(dataset, weights="quadratic")
    assert "weighted coefficients and ordinal alpha" not in reasons(found)


def test_gwets_published_weighted_coefficients_stand_in_the_table():
    """AC2 quadratic 0.914, ordinal 0.899; α ordinal metric 0.815, quadratic weights (the interval metric) 0.849."""
    cases = [list(enumerate(answers)) for answers in GWET]
    found = coefficients_for(replace(dataset_of(cases, 5), ordinal=True)).coefficients
    value = {(one.name, one.weights): one.value for one in found}
    assert value["gwet_ac", "quadratic"] == pytest.approx(0.914, abs=5e-4)
    assert value["gwet_ac", "ordinal"] == pytest.approx(0.899, abs=5e-4)
    assert value["krippendorff_alpha", "ordinal metric"] == pytest.approx(0.815, abs=5e-4)
    assert value["krippendorff_alpha", "quadratic weights"] == pytest.approx(0.849, abs=5e-4)


def test_two_ordered_classes_are_nominal_and_the_reason_is_said():
    found = coefficients_for(
        replace(dataset_of([[(0, 0), (1, 1)], [(0, 0), (1, 0)], [(0, 1), (1, 1)]], 2), ordinal=True)
    )
    assert found.kind == "nominal"
    assert (
        "with fewer than three classes, weights make no difference"
        in reasons(found)["weighted coefficients and ordinal alpha"]
    )


def test_labels_are_those_of_the_weights():
    dataset = panel(ordinal=True)
    found = coefficients_for(dataset, labels=(0, 1, 2, 10)).coefficients
    assert fleiss_kappa(dataset, weights="quadratic", labels=(0, 1, 2, 10)) in found
    with pytest.raises(InputError, match="labels"):
        coefficients_for(dataset, labels=(1, 2))


def test_anonymous_classes_go_without_the_kappas_of_raters():
    found = coefficients_for(panel(raters_identified=False))
    assert [one.name for one in found.coefficients] == [name for name in NOMINAL if name != "conger_kappa"]
    assert "anonymous" in reasons(found)["Cohen's and Conger's kappa, Scott's pi"]


def test_scores_have_correlations_and_alpha_of_metrics_and_nothing_of_classes():
    dataset = scores_of(np.random.default_rng(0).uniform(1, 9, (20, 3)).tolist())
    found = coefficients_for(dataset)
    assert found.kind == "score"
    assert list(found.coefficients) == score_table(dataset)
    assert {one.weights for one in found.coefficients if one.name == "krippendorff_alpha"} == {
        "interval metric",
        "ordinal metric",
        "ratio metric",
    }
    assert "threshold" in reasons(found)["percent agreement, SPA and kappas"]
    assert "ratio alpha" not in reasons(found)


def test_negative_and_anonymous_scores_go_without_what_they_do_not_allow_and_it_is_said():
    dataset = scores_of(np.random.default_rng(0).normal(size=(20, 3)).tolist())
    found = coefficients_for(replace(dataset, raters_identified=False))
    assert "below 0" in reasons(found)["ratio alpha"]
    assert "anonymous" in reasons(found)["ICC(2) and ICC(3)"]
    assert not any(one.weights == "ratio metric" for one in found.coefficients)
    assert {one.name for one in found.coefficients} == {"icc_1", "icc_1k", "krippendorff_alpha"}


def test_rankings_have_their_own_coefficients_and_those_of_first_choices():
    cases = random_rankings(1)
    cases[0] = [(0, [[0, 1]]), *cases[0][1:], (4, [[2]])]  # a tie for the first place
    dataset = ranked(cases, 5)
    found = coefficients_for(dataset, depths=(1, 2))
    assert found.kind == "ranking"
    own = ranking_agreement(dataset, (1, 2))
    assert list(found.coefficients[:3]) == own
    first, _ = dataset.as_classes()
    nominal = agreement_table(class_counts(first), dataset=first)
    assert [one.value for one in found.coefficients[3:]] == [one.value for one in nominal]
    for one in found.coefficients[3:]:
        assert "of first choices; 1 annotation with a tied first choice was left out" in one.note
    assert "rankings" in reasons(found)["weighted coefficients, intraclass correlations"]


@pytest.mark.parametrize(
    "dataset",
    [
        dataset_of([[(0, 1)], [(0, 0)]], 2),
        replace(dataset_of([[(0, 1)], [(0, 0)]], 3), ordinal=True),
        dataset_of([[(0, 1), (1, 0)]], 2),
        dataset_of([[(0, 1), (1, 1)]] * 3, 2),
        scores_of([[1.0], [2.0]]),
        scores_of([[1.0, 1.0]] * 3),
        ranked([[(0, [[0]])], [(0, [[1], [0]])]], 2),
        ranked([[(0, [[0, 1]]), (1, [[0, 1]])]], 2),
    ],
    ids=[
        "one rater",
        "ordinal, one rater",
        "one case",
        "one class",
        "one score",
        "equal scores",
        "rankings",
        "all tied",
    ],
)
def test_what_cannot_be_compared_is_undefined_with_a_reason_or_has_no_interval(dataset):
    for one in coefficients_for(dataset).coefficients:
        assert one.value is not None or one.note.startswith("undefined")
        assert one.ci_low is not None or one.note


def test_the_coefficient_to_quote_is_alpha_by_rank_where_the_order_means_something():
    assert (coefficients_for(panel()).quoted.name, coefficients_for(panel()).quoted.weights) == (
        "krippendorff_alpha",
        "nominal",
    )
    assert coefficients_for(panel(ordinal=True)).quoted.weights == "ordinal metric"


def test_of_scores_the_intraclass_correlation_of_most_cases_is_quoted_and_icc_1_where_icc_2_is_undefined():
    both = [Coefficient("icc_2", "", 0.5, None, None, None, n, 2 * n) for n in (8, 12)]
    one = Coefficient("icc_1", "", 0.4, None, None, None, 20, 40)
    assert ApplicableCoefficients("score", (one, *both), ()).quoted is both[1]
    undefined = tuple(replace(found, value=None) for found in both)
    assert ApplicableCoefficients("score", (*undefined, one), ()).quoted is one
    assert ApplicableCoefficients("score", (*undefined, replace(one, value=None)), ()).quoted.name == "icc_1"


def test_the_percentage_beside_the_quoted_one_is_of_its_kind():
    """By rank beside ordinal alpha, of the same class beside nominal alpha, and none beside scores."""
    plain, ordered = coefficients_for(panel()), coefficients_for(panel(ordinal=True))
    assert (plain.percentage.name, plain.percentage.weights) == ("percent", "identity")
    assert (ordered.percentage.name, ordered.percentage.weights) == ("percent", "ordinal")
    assert ordered.percentage.value > plain.percentage.value
    assert (
        "annotation pairs (with partial credit for near misses)" in ordered.words()
        and "annotation pairs (with partial credit for near misses)" not in plain.words()
    )
    for found in (plain, ordered):
        assert (
            f"{found.percentage.value:.0%} (" in found.words() and f"α = {number(found.quoted.value)}" in found.words()
        )
    assert plain.reason != ordered.reason
    one = Coefficient("icc_1", "", 0.5, 0.1, 0.3, 0.7, 9, 20)
    scores = ApplicableCoefficients("score", (one,), ())
    assert scores.percentage is None and "pairs" not in scores.words()


def test_an_interval_without_width_is_none_and_says_why():
    """Two cases whose alpha is -0.25 with an estimated error of 0, and two that are unanimous."""
    for cases in ([[0, 1], [0, 1]], [[0, 0], [1, 1]]):
        for one in agreement_table(counts_of(cases, 2)):
            assert one.ci_low is None or one.ci_high - one.ci_low > 1e-9
            if one.value is not None and one.ci_low is None and one.name in ("percent", "krippendorff_alpha"):
                assert one.se is None and one.note == "no interval: the estimated standard error is 0"


def test_scores_of_which_agreement_is_not_shown_are_not_said_to_agree():
    """Two cases leave a correlation of any size; an interval above 0 says how much of what varies is the case."""
    few = coefficients_for(scores_of([[1.52, 2.11], [3.74, 3.35]])).words()
    assert few.startswith("There is no evidence that raters agree on scores: intraclass correlation 0.92 (−")
    assert few.endswith("n = 2 cases")
    level = np.arange(20.0)[:, None]
    many = coefficients_for(scores_of((level + np.random.default_rng(0).normal(size=(20, 3))).tolist())).words()
    assert many.startswith("Differences between cases explain 9") and many.endswith("n = 20 cases")


@pytest.mark.parametrize(
    ("column", "answer", "several", "what"),
    [("labels", "x;y", "only one set of labels was used", "label sets"),
     ("score", "1.5", "all scores are the same", "scores")],
)  # fmt: skip
def test_agreement_that_cannot_be_computed_says_of_what_and_why(column, answer, several, what):
    kind = "set" if column == "labels" else "score"
    for pairs, why in (("1,a 2,b", "no case has two annotations"), ("1,a 1,b 2,a 2,b", several)):
        rows = "".join(f"{pair},{answer}\n" for pair in pairs.split())
        found = coefficients_for(read(f"case,rater,{column}\n{rows}".encode(), kind=kind).dataset)
        assert found.words() == f"Agreement on {what} cannot be computed: {why}"
