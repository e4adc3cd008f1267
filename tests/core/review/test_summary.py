"""Figures for the manager, counted by hand."""

from dataclasses import replace

import numpy as np
import pytest

from core.agreement.coefficients import percent_agreement
from core.annotations.dataset import Dataset
from core.annotations.ordering import with_class_order
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.ordinal_truth import OrdinalTruth
from core.review.adjudicated import with_opinions
from core.review.decisions import n_quick
from core.review.opinions import UNDETERMINED, Opinion
from core.review.summary import Settled, by_reviewer, mean_certainty, summarise_reviews
from tests.core.kinds import as_sets

X, Y, Z = (Opinion.of_class(name) for name in "xyz")
XY = Opinion.of_ranking([["x"], ["y"]])


@pytest.fixture
def reviews(dataset, reviews_of):
    """Four blind reads on three cases: two agree with the panel, two minds change."""
    made = reviews_of(dataset)
    made.read("case 0", "Ann", X, panel=X)
    made.read("case 1", "Ann", Y, panel=X, end=X)  # to the panel
    made.read("case 1", "Bob", X, panel=X, end=Z, reason="guideline_gap")  # away from it
    made.read("case 2", "Bob", Z, panel=X)
    made.do("case 3", "Ann", "skip")
    return made


def test_states_and_reviewed_cases_are_counted(dataset, reviews):
    found = summarise_reviews(dataset, reviews.found)
    assert found.n_cases == 6
    assert found.n_reviewed == 3
    assert found.states == {
        "open": 2,
        "skipped": 1,
        "read": 0,
        "second_opinion": 0,
        "arbitration": 2,
        "closed": 1,
        "adjudicated": 0,
    }


def test_blind_reads_are_compared_as_they_were_before_the_reveal(dataset, reviews):
    found = summarise_reviews(dataset, reviews.found)
    assert (found.with_panel.value, found.with_panel.n_annotations, found.with_panel.n_cases) == (0.5, 4, 3)
    assert 0 < found.with_panel.ci_low < 0.5 < found.with_panel.ci_high < 1
    assert found.with_each_other.value == 0.0  # case 1, y against x
    assert (found.minds.n, found.minds.n_changed, found.minds.share.value) == (4, 2, 0.5)
    assert found.minds.directions == {"to_panel": 1, "from_panel": 1, "elsewhere": 0, "within": 0, "undecided": 0}
    assert found.reasons == {"rater_error": 1, "guideline_gap": 1}


def test_each_reviewer_is_counted_alone(dataset, reviews):
    reviews.do("case 0", "Cem", "reveal", panel=X)
    reviews.do("case 0", "Cem", "opinion", X)
    ann, bob, cem = by_reviewer(dataset, reviews.found)
    assert [(one.name, one.n_reads, one.n_blind) for one in (ann, bob, cem)] == [
        ("Ann", 2, 2),
        ("Bob", 2, 2),
        ("Cem", 1, 0),
    ]
    assert (ann.with_panel.value, bob.with_panel.value) == (0.5, 0.5)
    assert 0 < ann.with_panel.ci_low < 0.5 < ann.with_panel.ci_high < 1
    assert cem.with_panel.value is None and "no blind opinion" in cem.with_panel.note
    assert (ann.minds.n_changed, bob.minds.directions["from_panel"]) == (1, 1)


def test_an_opinion_given_open_counts_for_no_blind_figure(dataset, reviews):
    before = summarise_reviews(dataset, reviews.found)
    reviews.do("case 0", "Cem", "reveal", panel=X)
    reviews.do("case 0", "Cem", "opinion", Y)
    after = summarise_reviews(dataset, reviews.found)
    assert after.with_panel == before.with_panel
    assert after.minds.n == before.minds.n
    assert after.with_each_other == before.with_each_other


def test_who_never_looked_has_no_mind_to_change_but_is_compared(dataset, reviews_of):
    made = reviews_of(dataset)
    made.do("case 0", "Ann", "opinion", Y)
    made.do("case 0", "Ann", "second_opinion", whom="Bob", whom_visible="blind")
    made.read("case 0", "Bob", X, panel=X)
    found = summarise_reviews(dataset, made.found)
    assert found.minds.n == 1
    assert (found.with_panel.value, found.with_panel.n_annotations) == (0.5, 2)


def test_who_has_looked_and_not_yet_decided_has_neither_kept_nor_changed_a_mind(dataset, reviews):
    reviews.do("case 4", "Ann", "opinion", Y)
    reviews.do("case 4", "Ann", "reveal", panel=X, model="dirichlet", settings={"reliability": 1.0})
    minds = summarise_reviews(dataset, reviews.found).minds
    assert (minds.n, minds.n_changed, minds.share.value, minds.share.n_cases) == (4, 2, 0.5, 3)


def test_a_change_of_lower_places_or_to_a_third_answer_is_told_apart(dataset, reviews_of):
    made = reviews_of(dataset)
    made.read("case 0", "Ann", X, panel=X, end=XY)
    made.read("case 1", "Ann", Y, panel=X, end=UNDETERMINED)
    assert summarise_reviews(dataset, made.found).minds.directions == {
        "to_panel": 0,
        "from_panel": 0,
        "elsewhere": 1,
        "within": 1,
        "undecided": 0,
    }


@pytest.mark.parametrize("undecided", [Opinion.of_ranking([["x", "y"]]), UNDETERMINED])
def test_an_undecided_panel_is_nothing_to_agree_or_disagree_with(dataset, reviews, undecided):
    """Neither the share nor its number changes; a mind that changed there went neither to nor from the panel."""
    before = summarise_reviews(dataset, reviews.found)
    reviews.read("case 4", "Ann", undecided, panel=undecided)
    reviews.read("case 5", "Ann", X, panel=undecided, end=Y)
    after = summarise_reviews(dataset, reviews.found)
    assert after.with_panel == before.with_panel
    assert (after.with_panel.n_annotations, after.minds.n) == (4, 6)
    assert after.minds.directions == {"to_panel": 1, "from_panel": 1, "elsewhere": 0, "within": 0, "undecided": 1}
    (ann,) = [one for one in by_reviewer(dataset, reviews.found) if one.name == "Ann"]
    assert (ann.n_blind, ann.with_panel.n_annotations) == (4, 2)


def test_where_only_undecided_panels_were_revealed_there_is_no_share(dataset, reviews_of):
    made = reviews_of(dataset)
    made.read("case 0", "Ann", X, panel=UNDETERMINED)
    found = summarise_reviews(dataset, made.found).with_panel
    assert found.value is None
    assert found.note == "undefined: no blind opinion could be compared with a confident panel"


def test_rounds_before_a_case_was_reopened_count_too(dataset, reviews):
    reviews.do("case 0", "Cem", "reopen", note="a better image")
    reviews.read("case 0", "Dee", Y, panel=X)
    found = summarise_reviews(dataset, reviews.found)
    assert (found.with_panel.value, found.with_panel.n_annotations) == (2 / 5, 5)


def test_time_is_summed_by_reviewer_and_case(dataset, reviews):
    found = summarise_reviews(dataset, reviews.found)
    assert found.n_timed == 4
    assert found.seconds == pytest.approx(tuple(np.quantile([15, 30, 30, 15], (0.25, 0.5, 0.75))))


def test_agreement_with_each_other_is_that_of_a_dataset_of_blind_reads(dataset, reviews_of):
    made = reviews_of(dataset)
    answers = [(0, "Ann", X), (0, "Bob", X), (1, "Ann", Y), (1, "Bob", Z), (2, "Ann", Z), (2, "Bob", Z), (3, "Bob", X)]
    for case, who, opinion in answers:
        made.do(f"case {case}", who, "opinion", opinion)
    made.do("case 4", "Ann", "opinion", Opinion.of_ranking([["x", "y"]]))  # names no single class first
    codes = [[0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 2, 2, 2, 0]]
    same = Dataset.from_classes("same", ["0", "1", "2", "3"], ["Ann", "Bob"], ["x", "y", "z"], *map(np.array, codes))
    assert summarise_reviews(dataset, made.found).with_each_other == percent_agreement(same)


def test_blind_sets_of_labels_agree_where_they_are_equal_not_where_those_of_one_label_are(dataset, reviews_of):
    sets = as_sets(dataset)
    made = reviews_of(sets)
    answers = [(0, "Ann", "xy"), (0, "Bob", "yx"), (1, "Ann", "x"), (1, "Bob", "x"), (2, "Ann", "xy"), (2, "Bob", "x")]
    for case, who, labels in answers:
        made.do(f"case {case}", who, "opinion", Opinion.of_labels(labels))
    found = summarise_reviews(sets, made.found).with_each_other
    assert found.value == pytest.approx(2 / 3) and found.n_annotations == 6


@pytest.mark.parametrize(("kind", "why"), [("set", "no case has two blind sets"), ("score", "scores are rarely equal")])
def test_why_blind_reads_are_not_compared_fits_what_they_are(dataset, kind, why):
    who = (dataset.name, dataset.cases, dataset.raters, dataset.case_of_annotation, dataset.rater)
    scores = Dataset.from_scores(*who, dataset.rater + 0.5)
    assert why in summarise_reviews(as_sets(dataset) if kind == "set" else scores, {}).with_each_other.note


def test_what_is_undefined_says_why(dataset):
    found = summarise_reviews(dataset, {})
    for value in (found.with_panel, found.with_each_other, found.alpha, found.minds.share):
        assert value.value is None
        assert value.note.startswith("undefined: no")
    assert found.seconds is None
    assert found.states["open"] == 6


def test_certainty_counts_each_opinion_once_also_of_those_in_dispute(dataset, reviews):
    """Four opinions on three cases are four annotations of two further raters; none of them is taken for the truth."""
    decided = summarise_reviews(dataset, reviews.found).decided
    grown = with_opinions(dataset, decided)
    assert (grown.raters, grown.n_annotations) == (("ann", "bob", "Ann", "Bob"), dataset.n_annotations + 4)
    found = mean_certainty(DirichletCounts(), dataset, grown, reliability=1.0, n_draws=4000)
    counts = [[(2,), (1, 1), (1,)], [(3,), (2, 1, 1), (2,)]]  # of x, y and z, whichever comes first
    for value, each in zip((found.before, found.after), counts, strict=True):
        shapes = [np.ones(3) + np.append(count, np.zeros(3 - len(count))) for count in each]
        first = [np.random.default_rng(3).dirichlet(shape, 200_000).argmax(axis=1) for shape in shapes]
        assert value == pytest.approx(np.mean([np.bincount(one).max() / one.size for one in first]), abs=0.02)
    assert found.n == 3
    assert mean_certainty(DirichletCounts(), dataset, dataset, reliability=1.0) is None


def test_certainty_of_reviewed_cases_comes_from_a_model_of_all_cases(dataset, reviews):
    graded = with_class_order(dataset, dataset.classes)
    grown = with_opinions(graded, summarise_reviews(graded, reviews.found).decided)
    added = np.flatnonzero(np.diff(grown.case_ptr) > np.diff(graded.case_ptr))
    want = [OrdinalTruth().probability(one, 1.0)[added].max(axis=1).mean() for one in (graded, grown)]
    for model in (OrdinalTruth(), OrdinalTruth(fitted=OrdinalTruth().fit(graded))):
        found = mean_certainty(model, graded, grown, reliability=1.0)
        assert [found.before, found.after] == pytest.approx(want) and found.n == added.size < graded.n_cases


def test_a_reviewer_called_like_a_rater_is_another_rater(dataset, reviews_of):
    made = reviews_of(dataset)
    made.read("case 0", "ann", X, panel=X)
    made.read("case 1", "ann", UNDETERMINED, panel=X)  # no annotation
    grown = with_opinions(dataset, summarise_reviews(dataset, made.found).decided)
    assert (grown.raters[2:], grown.n_annotations) == (("ann'",), dataset.n_annotations + 1)


def test_what_settled_cases_rest_on_is_counted(dataset, reviews_of):
    """One by one reviewer, two by one alone outside the plausible set, one by two who agree, one by arbitration."""
    made, panel = reviews_of(dataset), replace(UNDETERMINED, plausible=("y", "z"))
    assert summarise_reviews(dataset, made.found).settled.words() == ""
    made.read("case 0", "Ann", X, panel=X)
    assert summarise_reviews(dataset, made.found).settled.words() == (
        "1 case is settled: 1 by one reviewer. A single reviewer's opinion is not the truth."
    )
    for case in ("case 1", "case 2"):
        made.read(case, "Ann", X, panel=panel, note="seen on the scan")
    made.do("case 3", "Ann", "opinion", X)
    made.do("case 3", "Ann", "second_opinion", whom="Bob", whom_visible="blind")
    made.read("case 3", "Bob", X, panel=panel)
    made.read("case 4", "Ann", Y, panel=X)
    made.do("case 4", "Cem", "reveal", panel=X)
    made.do("case 4", "Cem", "adjudication", X)
    found = summarise_reviews(dataset, made.found).settled
    assert found == Settled(one=3, several=1, arbitration=1, unsupported=2)
    assert found.words() == (
        "5 cases are settled: 3 by one reviewer, 1 by reviewers who agree and 1 by arbitration. A single reviewer's "
        "opinion is not the truth. In 2 of 3 cases closed by one reviewer, the opinion is outside the panel's "
        "plausible set."
    )


def test_decisions_that_stand_come_with_the_summary_and_with_each_reviewer(dataset, reviews):
    found = summarise_reviews(dataset, reviews.found)
    assert len(found.decided) == 4 and n_quick(found.decided) == (0, 4)
    ann, bob = by_reviewer(dataset, reviews.found)
    assert {len(one.decided) for one in (ann, bob)} == {2} and {one.reviewer for one in bob.decided} == {"Bob"}
