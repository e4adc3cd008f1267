"""What pages say in numbers, on numbers of which no two are alike: counts, shares of the right whole, plurals."""

import ast
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from scipy.stats import t as student
from streamlit.delta_generator import DeltaGenerator

from core.agreement.adaptive import AdaptiveCheck
from core.agreement.differences import Difference
from core.agreement.intervals import Coefficient
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.pairs import pair_matrix
from core.analyses import reviews
from core.analyses.agreement import classes as by_class
from core.analyses.agreement import coefficients
from core.analyses.agreement import pairs as by_pair
from core.analyses.agreement import precision as how_precise
from core.analyses.agreement import raters as by_rater
from core.analyses.agreement import time as over_time
from core.analyses.cases import case as one_case
from core.analyses.cases.certainty import CaseCertainty
from core.analyses.raters import planning
from core.analyses.raters import rater as one_rater
from core.analyses.raters import table as all_raters
from core.annotations.dataset import Dataset
from core.certainty.explain import BelowPeers
from core.certainty.shares import CertaintyShares
from core.certainty.top_sets import CertaintyResult
from core.evaluation.predictions import open_predictions
from core.figures.theme import LIGHT
from core.ingest.answer_rules import Treatment
from core.ingest.samples import load_sample
from core.ingest.saved_mappings import Choices
from core.machines.alternative_test import AgainstRater, MachineDifference, MachineStanding
from core.machines.disagreements import Differences, OnSomeCases
from core.machines.equivalent_readers import EquivalentReaders
from core.machines.pair_agreement import PairAgreement
from core.models.expected_class import ClassScale
from core.plausibility.gaussian import GaussianScores
from core.raters.flags import Flag
from core.raters.influence import Influence
from core.raters.report_card import Answers
from core.review.decisions import Decision
from core.review.events import Event
from core.review.opinions import Opinion
from core.review.summary import Minds, Reviewer, Settled, WithOpinions
from core.text import number
from pages.shared.agreement import compare
from pages.shared.agreement import pairs as agreement_pairs
from pages.shared.ai_rater import parts as ai_parts
from pages.shared.cases import correct, review_status
from pages.shared.home import doors as home_doors
from pages.shared.home import next_steps
from pages.shared.home import numbers as home_numbers
from pages.shared.home import waiting as home_waiting
from pages.shared.kit import blocks, job_progress, own_predictions, trusted_raters, widgets
from pages.shared.raters import table as raters_table
from pages.shared.review import after
from pages.shared.review import days as review_days
from pages.shared.review import session as review_session
from pages.shared.review import start as review_start
from pages.shared.upload import classes as upload_classes
from pages.shared.upload import mapping as upload_mapping
from pages.shared.upload import report as upload_report
from pages.shared.upload import side as upload_side

PAGES = Path(__file__).resolve().parents[2] / "pages"


def functions_of(page: str) -> SimpleNamespace:
    """The functions of a page's script, which as a whole would draw the page."""
    tree = ast.parse((PAGES / f"{page}.py").read_text())
    calls = [place for place, node in enumerate(tree.body) if isinstance(node, ast.Expr) and place]
    tree.body = tree.body[: calls[0]]
    names: dict = {"__name__": page}
    exec(compile(tree, page, "exec"), names)
    return SimpleNamespace(**names)


def coefficient(value, low, high, n_cases=40, n_annotations=90, name="percent") -> Coefficient:
    return Coefficient(name, "identity", value, 0.02, low, high, n_cases, n_annotations)


def certainty(*top1: float, single: tuple[int, ...] = (), reach: float | None = None) -> CaseCertainty:
    """Of cases of two classes; the first two classes of each are settled. Some have one annotation."""
    n = len(top1)
    both = np.column_stack([top1, np.ones(n)])
    names = tuple(f"case {place}" for place in range(n))
    found = CertaintyResult(names, ("x", "y"), both, 0.01 * both, np.zeros((n, 2, 2), np.int32), np.zeros((n, 2)))
    one = np.isin(np.arange(n), single)
    uncertain = (both[:, 0] < 0.9) & ~one & (reach is None or reach >= 0.9)
    return CaseCertainty(found, shares=CertaintyShares(uncertain, one, np.zeros(n, bool), 0.9, 2, reach))


# Home


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ((1.0, 0.95, 0.9), "and no case is uncertain"),
        ((1.0, 0.95, 0.4), "and 1 of 3 cases is uncertain"),
        ((1.0, 0.89, 0.4), "and 2 of 3 cases are uncertain"),
        ((0.5, 0.89, 0.4), "and all 3 cases are uncertain"),
        ((0.5,), "and the one case is uncertain"),
        ((0.5, 0.5), "and both cases are uncertain"),
    ],
)
def test_home_counts_uncertain_cases_in_the_right_number(values, ends):
    found = SimpleNamespace(
        percentage=coefficient(0.734, 0.6, 0.8), quoted=None, kind="class", agreed="{} of annotation pairs".format
    )
    data = SimpleNamespace(name="made", n_cases=len(values), kind="class")
    said = home_numbers.sentence(data, found, certainty(*values))
    assert said == f"made: raters agree on 73% of annotation pairs, {ends}"


@pytest.mark.parametrize(
    ("values", "single", "reach", "ends"),
    [
        ((1.0, 0.4, 0.6), (2,), 0.99, "and 1 of 3 cases is uncertain (1 other has only one annotation)"),
        ((1.0, 0.6, 0.6), (1, 2), 0.99, "and no case is uncertain, but 2 have only one annotation"),
        ((0.6, 0.6), (0, 1), None, "and no case has two annotations, so certainty is not available"),
        ((0.87, 0.5), (), 0.875, "and certainty cannot reach 90% with 2 raters per case"),
    ],
)
def test_home_calls_no_case_uncertain_for_having_few_raters(values, single, reach, ends, said):
    found = SimpleNamespace(
        percentage=coefficient(0.734, 0.6, 0.8), quoted=None, kind="class", agreed="{} of annotation pairs".format
    )
    data = SimpleNamespace(name="made", n_cases=len(values), kind="class")
    certain = certainty(*values, single=single, reach=reach)
    assert home_numbers.sentence(data, found, certain) == f"made: raters agree on 73% of annotation pairs, {ends}"
    views = SimpleNamespace(
        plausible=SimpleNamespace(n_annotations=9), model=SimpleNamespace(name="dirichlet"), reliability=1.0
    )
    home_numbers.uncertain(views, certain)
    assert said[0].startswith("Uncertain cases: –") == (certain.shares.why_none != "")
    assert home_doors.least_certain(certain).startswith("Most ambiguous: case case 1") == (values[1] < 0.6)


def test_scores_and_classifiers_on_home_have_the_ends_and_the_n_of_their_own_number(monkeypatch, said):
    icc = coefficient(0.62, 0.4, 0.75, 33, 99, "icc_2")
    home_numbers.agreement(SimpleNamespace(percentage=None, quoted=icc, kind="score", pairs=""), "")
    assert said[0] == "Score variance due to cases: 62%" and said[1].startswith("40% to 75%, ICC(2,1)")
    assert said[1].endswith("n = 33 cases")
    found = SimpleNamespace(percentage=None, quoted=icc, kind="score", pairs="")
    words = home_numbers.sentence(SimpleNamespace(name="made", n_cases=2, kind="score"), found, certainty(1.0, 0.5))
    assert words == "made: 62% of the variance in scores is due to cases, not raters, and 1 of 2 cases is uncertain"
    for low in (-0.06, 0.0, None):  # as of two cases
        found.quoted = coefficient(0.89, low, 1.0, 2, 4, "icc_2")
        words = home_numbers.sentence(SimpleNamespace(name="made", n_cases=2, kind="score"), found, certainty(1.0, 0.5))
        assert words == "made: no evidence that raters agree on scores, and 1 of 2 cases is uncertain"
    found.quoted = coefficient(1.0, None, None, 20, 60, "icc_2")  # no two scores of a case differ
    assert (
        home_numbers.sentence(SimpleNamespace(name="made", n_cases=20), found, None)
        == "made: raters agree on every score"
    )
    said.clear()
    monkeypatch.setattr(home_numbers.cached_home, "score_mean", lambda data: (2.5, 2.25, 2.75))
    home_numbers.mean_score(None)
    assert said == ["Mean score: 2.50", "95% interval 2.25 to 2.75"]
    said.clear()
    value = SimpleNamespace(mean=0.7, ci_low=0.61, ci_high=0.78)
    evaluation = SimpleNamespace(
        metrics=("top1_accuracy",), classifiers=("net", "tree"), better=np.array([[[np.nan], [0.97]], [[0.03], [0.5]]]),
        values={"net": {"top1_accuracy": value}, "tree": {"top1_accuracy": SimpleNamespace(mean=0.6)}},
    )  # fmt: skip
    swept = SimpleNamespace(reliabilities=(1.0, 3.0), evaluation=(None, evaluation))
    monkeypatch.setattr(home_numbers, "gold_cases", lambda view: ())
    # 1.9 is nearer to 3 than to 1 by its ratio, as trust is told apart.
    home_numbers.classifier(SimpleNamespace(reliability=1.9, plausible=SimpleNamespace(n_classes=2)), swept)
    assert said == [
        "Best classifier, top-1 accuracy: 70%",
        "“net”: 61% to 78% at γ = 3. It beats the other classifier with at least 97% probability.",
    ]
    said.clear()
    evaluation.better[0, 1, 0] = 0.6  # ahead in the mean alone: no best one is named
    home_numbers.classifier(SimpleNamespace(reliability=1.9, plausible=SimpleNamespace(n_classes=2)), swept)
    assert said[0] == "Highest top-1 accuracy of 2 classifiers: 70%"
    assert said[1].endswith("It beats the other classifier with at least 60% probability.")


def test_the_model_that_opens_and_the_majority_vote_have_each_their_own_accuracy_by_gold(monkeypatch, said):
    vote, model = (
        SimpleNamespace(accuracy=home_numbers.cached_home.Share(value, value - 0.1, value + 0.05, n), n=n)
        for value, n in ((0.71, 1234), (0.86, 1200))
    )
    chosen, of = SimpleNamespace(), SimpleNamespace(model="em", title="Dawid-Skene")
    settings = SimpleNamespace(rater_model_open=False, rater_model=of)
    monkeypatch.setattr(home_numbers.cached_home, "vote_by_gold", lambda view: vote)
    monkeypatch.setattr(home_numbers, "note_of_one_class", lambda view: "")
    for judged in (None, (chosen, {"other": model}), (chosen, {"em": model})):
        monkeypatch.setattr(home_numbers.opening, "choice", lambda view, judged=judged: judged)
        home_numbers.by_gold(SimpleNamespace(classes=None, settings=settings))
    by_vote = ["Correct by gold: 71%", "61% to 76% (majority vote), n = 1,234 cases with gold"]
    assert said[:4] == by_vote * 2
    assert said[4:] == [
        "Correct by gold: 86%", "76% to 91% (Dawid-Skene), n = 1,200 cases with gold. Majority vote: 71%",
    ]  # fmt: skip


def test_the_leading_classifier_stands_with_its_own_accuracy_by_gold():
    """Of three classifiers the second is the one that is named; it predicts four of the six cases, three rightly."""
    codes = np.repeat(np.arange(6), 2), np.tile([0, 1], 6), np.repeat([0, 1, 2, 0, 1, 2], 2)
    data = Dataset.from_classes("made", tuple("abcdef"), ("r", "s"), ("x", "y", "z"), *codes)
    data = replace(data, gold=np.array([0, 1, 2, 0, 1, 2]))
    said = {"net": "xxxxxx", "tree": "xyzy", "bush": "zzzzzz"}
    found = []
    for name, classes in said.items():
        rows = [f"{case},{code},1" for case, code in zip("abcdef", classes, strict=False)]
        found += open_predictions(name, "\n".join(["case,class,score", *rows]).encode(), data)
    views = SimpleNamespace(plausible=data, classifiers=tuple(found))
    by_gold = [home_numbers._classifier_by_gold(views, name, "top1_accuracy") for name in ("tree", "net")]
    assert by_gold == [
        " Against gold: 75% (30% to 95%), n = 4 cases.",
        " Against gold: 33% (10% to 70%), n = 6 cases.",
    ]


@pytest.mark.parametrize(
    ("flagged", "words"),
    [
        ([2, 0], "2 of 3 raters flagged"),
        ([1], "1 of 3 raters flagged"),
        ([], "No rater is flagged; cem is the least accurate (50%)"),
    ],
)
def test_the_door_to_raters_counts_those_flagged_or_names_the_least_accurate(monkeypatch, said, flagged, words):
    figures = []
    monkeypatch.setattr(home_doors, "plot_still", lambda figure, *_: figures.append(figure))
    value = np.array([0.8, 0.7, 0.5])
    rates = SimpleNamespace(value=value, low=value - 0.1, high=value + 0.05)
    judged = SimpleNamespace(rates=rates, why_no_order="", why="", measure="accuracy")
    act = SimpleNamespace(judged=judged, following=None, flagged=lambda: flagged, raters=("ann", "bob", "cem"))
    home_doors._accuracies(act, LIGHT)
    assert said == [words]
    _, marked = figures[0].data
    flagged_first = sorted(range(3), key=lambda rater: (rater not in flagged, value[rater]))
    assert list(figures[0].layout.yaxis.ticktext) == [act.raters[rater] for rater in flagged_first]
    assert sorted(marked.x) == sorted(value[flagged])


def test_the_door_to_models_names_the_commonest_class_by_vote(monkeypatch, said):
    shares = tuple(home_numbers.cached_home.Share(value, value - 0.1, value + 0.05, 30) for value in (0.2, 0.7, 0.1))
    figures = []
    monkeypatch.setattr(home_doors, "plot_still", lambda figure, *_: figures.append(figure))
    monkeypatch.setattr(home_doors.cached_home, "vote_shares", lambda view: shares)
    monkeypatch.setattr(st, "page_link", lambda *_, **__: None)
    view = SimpleNamespace(n_annotations=9, n_classes=3, classes=("x", "y", "z"))
    home_doors._shares(SimpleNamespace(classes=view), LIGHT)
    assert said == ["Most common by majority vote: y, 70% of cases"]
    assert list(figures[0].layout.yaxis.ticktext) == ["y", "x", "z"]


# Reliability


def test_predictions_that_are_added_are_counted_with_their_ties_and_gaps(monkeypatch, said):
    one = SimpleNamespace(
        name="net", predicted=np.array([True, True, False, True]), n_tied=lambda top: 11 * top,
        n_short=lambda top: 7 * top, notes=("A note.",),
    )  # fmt: skip
    file = SimpleNamespace(name="net.v2.csv", file_id="f", getvalue=lambda: b"")
    monkeypatch.setattr(st, "session_state", {"data": "caries"})
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: file)
    monkeypatch.setattr(own_predictions, "tried", lambda upload: True)
    monkeypatch.setattr(own_predictions.predictions, "unusable", lambda view: ["too long"])
    monkeypatch.setattr(own_predictions.predictions, "matched", lambda *_: [one])
    added = []
    monkeypatch.setattr(own_predictions.predictions, "add", lambda name, content: added.append(name))
    own_predictions.add_classifiers(SimpleNamespace(n_cases=4, kind="class"))
    assert said == [
        "too long",
        "net: 3 of 4 cases · 33 with tied scores at rank 3 (the expected value is used) · 21 with fewer than 3 "
        "classes (missing ranks count as misses)",
        "A note.",
    ]
    assert added == ["net.v2"]


# Agreement


def test_two_coefficients_are_the_first_less_the_second(monkeypatch, said, shown, left):
    ones = tuple(coefficient(value, value - 0.1, value + 0.05, name=name) for name, value in BOTH.items())
    result = SimpleNamespace(coefficients=ones)
    found = difference(0.31, 0.2, 0.44)
    monkeypatch.setattr(compare, "difference", lambda result, first, second: found if first < second else None)
    monkeypatch.setattr(DeltaGenerator, "selectbox", lambda *a, key, **_: a[2][-1 if key.endswith("second") else 0])
    compare._coefficients(result)
    assert said[0] == ("**Percent agreement minus Fleiss κ is 0.31 (0.20 to 0.44)**, based on 1,000 paired resamples.")
    assert shown["bootstrap_table"]["value"].tolist() == list(BOTH.values())


BOTH = {"percent": 0.8, "gwet_ac": 0.7, "fleiss_kappa": 0.45}


def test_a_sentence_that_begins_with_a_greek_letter_keeps_it(said):
    blocks.show([coefficients._why_quoted(SimpleNamespace(reason="α allows any number"))])
    assert said == ["**Why this one:** α allows any number."]


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"x": 0.3, "y": 0.7}, "70% of the annotations are “y”, so κ treats much of the agreement as chance"),
        (
            dict.fromkeys("abcde", 0.2),
            "most of the 5 classes are rare, and AC1 assumes that guesses are spread over all classes, "
            "whereas κ does not",
        ),
    ],
)
def test_kappa_and_ac1_are_told_apart_with_their_own_numbers(shares, words):
    both = [coefficient(value, 0, 1, name=name) for name, value in BOTH.items()]
    said = blocks.said(coefficients._apart(both, shares))
    assert said.startswith(f"Fleiss κ (0.45) and Gwet AC1 (0.70) differ because {words}")
    assert not coefficients._apart([replace(one, value=0.6) for one in both], shares)


CHECK = AdaptiveCheck(
    "time", n_agree=80, n_disagree=40, more_agree=8, more_disagree=30, difference=0.65, ci_low=0.5, ci_high=0.8,
    warn=True, first_two=(None, coefficient(0.61, 0.5, 0.7)), everything=(None, coefficient(0.42, 0.3, 0.55)), note="",
)  # fmt: skip


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (CHECK, "received a third annotation more often (75% versus 10% of cases)"),
        (replace(CHECK, difference=-0.65), "received a third annotation less often (75% versus 10% of cases)"),
    ],
)
def test_shares_of_third_answers_are_of_the_cases_that_began_alike(said, check, words):
    blocks.show(how_precise.adaptive_warning(check))
    assert words in said[0]
    assert (
        "α is 0.61 (0.50 to 0.70); from all annotations, 0.42 (0.30 to 0.55). Report the value from the first two."
    ) in said[0]
    blocks.show(how_precise.adaptive_warning(replace(check, warn=False)))
    assert len(said) == 1


def difference(value, low, high, paired=True) -> Difference:
    of = ("krippendorff_alpha", "nominal")
    return Difference(of, of, 0.61, 0.48, value, 0.02, low, high, 30, 40, 0.9, paired)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (difference(0.13, 0.02, 0.2), "The selections clearly differ: difference 0.13 (0.02 to 0.20).**"),
        (difference(-0.13, -0.2, -0.02), "The selections clearly differ: difference −0.13 (−0.20 to −0.02).**"),
        (
            difference(0.13, -0.02, 0.2, paired=False),
            "The selections do not clearly differ: difference 0.13 (−0.02 to 0.20).**",
        ),
    ],
)
def test_two_selections_differ_where_the_interval_leaves_out_nothing(monkeypatch, said, shown, left, found, words):
    side = SimpleNamespace(content_digest="digest")
    monkeypatch.setattr(compare.cached, "selected", lambda whole, one: side)
    monkeypatch.setattr(compare.cached, "class_view", lambda one, threshold: (one, 0))
    monkeypatch.setattr(job_progress, "result_of", lambda *_, **__: [found])
    one, other = (SimpleNamespace(words=lambda whole, name=name: name) for name in ("of the first", "of the second"))
    compare._side_by_side(None, one, other, ("early", "late"), None)
    assert said[:2] == ["**early**: of the first", "**late**: of the second"]
    assert said[2] == f"**α is 0.61 in the first selection and 0.48 in the second. {words}"
    together = (
        "Cases in both selections are resampled together."
        if found.paired
        else "The selections have no cases in common."
    )
    assert said[3] == f"Intervals are based on 1,000 resamples of the cases (seed 0). {together}"
    assert left["differences"].iloc[0].tolist()[1:9] == [
        0.61,
        0.48,
        found.value,
        0.02,
        found.ci_low,
        found.ci_high,
        0.9,
        30,
    ]


def test_two_selections_of_ordered_classes_are_compared_by_the_ordinal_metric(monkeypatch, said, shown, left):
    case, rater = np.divmod(np.arange(120), 3)
    answer = (case + (rater == 0) * (case % 3 == 0) + 2 * (rater == 1) * (case % 7 == 0)) % 4
    names = ["s", [str(each) for each in range(40)], list("abc"), list("0123")]
    whole = Dataset.from_classes(*names, case, rater, answer, ordinal=True)
    sides = [whole.select(cases=whole.cases[:20]), whole.select(cases=whole.cases[20:])]
    monkeypatch.setattr(compare.state, "counted", lambda one: one)
    monkeypatch.setattr(compare.cached, "selected", lambda whole, one: one.side)
    monkeypatch.setattr(compare.cached, "class_view", lambda one, threshold: (one, 0))
    monkeypatch.setattr(compare.cached, "run", lambda job, work, of, *args, seconds, **how: work(*args, **how))
    monkeypatch.setattr(job_progress, "result_of", lambda key, title, work, **_: work(None))
    one, other = (SimpleNamespace(words=lambda whole: "", side=side) for side in sides)
    compare._side_by_side(whole, one, other, ("early", "late"), None)
    ordinal, nominal = ([krippendorff_alpha(side, metric=metric).value for side in sides]
                        for metric in ("ordinal", "nominal"))  # fmt: skip
    assert ordinal[0] != pytest.approx(nominal[0], abs=0.01)
    ends = f"{number(ordinal[0])} in the first selection and {number(ordinal[1])} in the second"
    assert said[2].startswith(f"**Ordinal α is {ends}. ")
    assert "Krippendorff α, ordinal metric" in left["differences"]["coefficient"].tolist()


def test_agreement_over_time_is_said_of_the_first_and_the_last_window_that_have_it(monkeypatch, said, drawn, left):
    values = (None, 0.5, 0.9, 0.62, None)
    windows = [
        SimpleNamespace(label=f"week {place}", n_cases=9, coefficients=(WINDOW[value],))
        for place, value in enumerate(values)
    ]
    found = SimpleNamespace(windows=tuple(windows), n_undated=3)
    blocks.show(over_time.present(found, None, None))
    title = drawn["over_time"].layout.title.text.replace("<br>", " ")
    assert title == "SPA was 0.50 (0.40 to 0.52) in week 1 and 0.62 (0.52 to 0.64) in week 3"
    assert said[0].startswith("Left out: 3 cases without a date. ")
    table = left["over_time_table"]  # of the cases with two answers, not of all that began
    assert list(table["n_cases"]) == [40] * 5 and list(table["n_annotations"]) == [90] * 5


WINDOW = {
    value: coefficient(value, *((None, None) if value is None else (value - 0.1, value + 0.02)), name="spa")
    for value in (None, 0.5, 0.9, 0.62)
}


def test_the_class_least_agreed_on_stands_in_the_title_with_its_own_interval(drawn, left):
    found = (coefficient(0.5, 0.4, 0.58), coefficient(0.2, 0.1, 0.35), coefficient(None, None, None))
    blocks.show(by_class.present(found, SimpleNamespace(classes=("x", "y", "z"), compares=False), None))
    assert drawn["by_class"].layout.title.text.replace("<br>", " ") == "Lowest agreement: y, 0.20 (0.10 to 0.35)"
    close = (coefficient(0.5, 0.3, 0.58), coefficient(0.4, 0.3, 0.55), coefficient(None, None, None))
    blocks.show(by_class.present(close, SimpleNamespace(classes=("x", "y", "z"), compares=False), None))
    assert drawn["by_class"].layout.title.text.replace("<br>", " ") == "No class clearly has the lowest agreement"


def test_pairs_that_met_too_seldom_are_counted_among_all_pairs(said, drawn, left):
    view = Dataset.from_classes("made", ("a",), tuple("rstu"), ("x", "y"), [0] * 4, range(4), [0, 1, 0, 1])
    matrix = pair_matrix(view)
    n = np.array([[0, 5, 4, 9], [5, 0, 0, 7], [4, 0, 0, 6], [9, 7, 6, 0]])
    for counts in (n, n + 5):
        found = by_pair.RaterPairs(replace(matrix, n=counts), np.arange(4), 4)
        blocks.show(by_pair.present(found, view, None))
    assert " Not coloured: 2 of 6 pairs of raters, with fewer than 5 pairs of annotations." in said[0]
    assert said[1].endswith("Hover to see the interval.")


def test_two_raters_differ_on_some_of_their_pairs_of_answers(monkeypatch, said):
    """r annotated cases a and e twice: two pairs of annotations each, of which one and both differ."""
    case, rater = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 4]), np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1])
    codes = case, rater, np.array([0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0])
    view = Dataset.from_classes("made", tuple("abcde"), ("r", "s"), ("x", "y"), *codes)
    monkeypatch.setattr(DeltaGenerator, "selectbox", lambda *a, key, **_: a[2][key == "pair_second"])
    monkeypatch.setattr(widgets, "open_case_table", lambda frame, *_, **__: said.append(frame.values.tolist()))
    agreement_pairs.two(view, view.raters)
    assert said[0] == "**r** and **s** disagree on 4 of 6 annotation pairs, in 3 cases. Choose a row to open the case."
    assert said[1] == [["a", "y", "x"], ["b", "y", "x"], ["e", "y", "x"], ["e", "y", "x"]]


def test_raters_agree_with_the_others_and_with_themselves_each_with_its_own_interval(
    monkeypatch, said, shown, drawn, left
):
    codes = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1]), np.array([0, 1, 0, 0, 1, 1])
    view = Dataset.from_classes("made", ("a", "b", "c"), ("ann", "bob"), ("x", "y"), *codes)
    found = SimpleNamespace(
        raters=view.raters, each=(coefficient(0.6, 0.5, 0.7), coefficient(0.4, 0.3, 0.5)), without=(0.1, 0.2),
        difference=(-0.1, 0.05), overall=coefficient(0.5, 0.41, 0.58),
    )  # fmt: skip
    own = SimpleNamespace(
        each=(coefficient(None, None, None), coefficient(0.9, 0.8, 0.95)), overall=coefficient(0.92, 0.83, 0.97)
    )
    asked = SimpleNamespace(coefficient="fleiss_kappa")
    blocks.show(by_rater.present(by_rater.RaterAgreement(found, own), view, asked))
    assert said[0].startswith("Fleiss κ of all raters: 0.50 (0.41 to 0.58).")
    assert said[1] == "When raters annotated a case again, they agreed with themselves in 92% (83% to 97%) of pairs."
    assert drawn["by_rater"].layout.title.text == "bob agrees least with the others"
    assert shown["by_rater_table"]["rater"].tolist() == ["bob", "ann"]
    assert left["by_rater_table"].drop(columns=["with_themselves", "n_cases_repeated"]).values.tolist() == [
        ["ann", 90, 40, 0.6, 0.5, 0.7, 0.1, -0.1], ["bob", 90, 40, 0.4, 0.3, 0.5, 0.2, 0.05]
    ]  # fmt: skip
    assert left["by_rater_table"]["with_themselves"].iloc[1] == 0.9
    monkeypatch.setattr(by_rater, "MOST_LISTED", 1)
    blocks.show(by_rater.present(by_rater.RaterAgreement(found, own), view, asked))
    assert shown["by_rater_table"]["rater"].tolist() == ["bob"]


# Upload


def test_rows_that_are_discarded_are_counted_on_the_part_that_lists_them(labels, shown, left):
    report = SimpleNamespace(dropped=[(3, "no class"), (9, "no case")], n_rows=11, n_kept=9)
    upload_report.left_out(SimpleNamespace(report=report, dataset=SimpleNamespace(name="made", digest="digest")))
    assert "2 rows" in labels[0] and shown["dropped"].values.tolist() == [[3, "no class"], [9, "no case"]]


def test_the_part_on_classes_counts_them(said, labels):
    codes = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 2, 0])
    data = Dataset.from_classes("made", ("a", "b"), ("r", "s"), ("mole", "acne", "wart"), *codes)
    told = upload_classes.treatment_of(data, Choices(None), "stamp", None, Treatment(), None)
    assert told == (None, None, False, False)
    assert labels[0].startswith("Classes in the annotations: 3")


def test_facts_of_a_file_are_each_of_their_own_whole(monkeypatch, said):
    codes = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2]), np.array([0, 1, 1, 1, 0])
    data = Dataset.from_classes("made", tuple("abc"), ("r", "s", "t"), ("x", "y"), *codes)
    data = replace(data, gold=np.array([1, -1, 0]))
    report = SimpleNamespace(n_rows=11, n_kept=5, n_repeats=0, dropped=[(1, "no")] * 2, missing={"": 2, "n/a": 1})
    upload_report.in_words(SimpleNamespace(dataset=data, report=report))
    assert said[0] == "**3 cases · 3 raters · 5 annotations · 2 classes**"
    assert said[1].split(" · ") == [
        "11 rows: 5 used, 2 left out",
        "no annotation: 2 × empty, 1 × n/a",
        "1.7 annotations per case (1 to 2)",
        "56% of all case–rater pairs are annotated",
        "2 groups of raters with no cases in common",
        "1.3 classes named per case",
        "2 gold cases",
    ]
    upload_report.counts(data)
    assert said[2:] == ["Cases: 3", "Raters: 3", "Annotations: 5", "Classes: 2"]
    twice = Dataset.from_classes("made", tuple("abc"), ("r", "s", "t"), ("x", "y"), *np.hstack([codes, codes]))
    upload_report.facts(SimpleNamespace(dataset=twice, report=SimpleNamespace(**{**vars(report), "n_repeats": 5})))
    assert "56% of all case–rater pairs are annotated" in said[-1].split(" · ")


def test_predictions_of_a_drop_and_side_files_are_counted():
    side = SimpleNamespace(
        gold={"a": "x", "b": "y"}, classes=SimpleNamespace(names=("x", "y", "z"), display=("X", "Y", "Z"), risk=()),
        cases=SimpleNamespace(ids=("a",), text=("t",), address=None, group=("g",), time=None),
    )  # fmt: skip
    found = [upload_side._found(side, kind) for kind in ("gold", "classes", "cases")]
    assert found == ["2 gold cases", "3 classes with names", "1 case with text and group"]


def test_columns_too_many_to_choose_from_are_counted_without_those_that_are_taken(said):
    picker = upload_mapping._Picker([f"c{place}" for place in range(1003)], "stamp", "wide")
    assert len(picker.several("Raters", (), ("c1", None, "c2"), "raters")) == 1001
    assert said == ["Raters: all 1,001 other columns."]


@pytest.mark.parametrize(("n_files", "named"), [(1, "a"), (2, "a and 1 other file"), (4, "a and 3 other files")])
def test_a_dataset_of_several_files_is_named_by_the_first_and_counts_the_others(n_files, named):
    uploads = [SimpleNamespace(name=f"{letter}.csv") for letter in "abcd"[:n_files]]
    uploads.append(SimpleNamespace(name="net.csv"))
    side = SimpleNamespace(predictions=(("net.csv", b""),))
    source = SimpleNamespace(side=side, questions=(1,), format="table")
    assert functions_of("upload")._name(uploads, source, SimpleNamespace(name="q")) == named


def test_lists_of_classes_and_risks_beside_a_file_of_records_do_not_name_the_data():
    uploads = [SimpleNamespace(name=name) for name in ("conditions.txt", "ddx.json", "risks.txt")]
    source = SimpleNamespace(side=SimpleNamespace(predictions=()), questions=(1,), format="nested")
    assert functions_of("upload")._name(uploads, source, SimpleNamespace(name="q")) == "ddx"


def test_what_is_not_available_stands_once_for_each_reason(said, monkeypatch):
    reasons = {"Pairwise agreement": "the annotations are anonymous", "Rater models": "the annotations are anonymous"}
    found = [SimpleNamespace(title=title, possible=False, reason=reason) for title, reason in reasons.items()]
    found += [
        SimpleNamespace(title="Fleiss", possible=True, reason=""),
        SimpleNamespace(title="ICC", possible=False, reason="no score"),
    ]
    monkeypatch.setattr(upload_report, "verdicts", lambda data: found)
    upload_report.allowed(None)
    assert said == [
        ":material/block: Not available for these data: **Pairwise agreement, Rater models** "
        "(the annotations are anonymous).",
        ":material/block: Not available for these data: **ICC** (no score).",
    ]


# Raters


@pytest.mark.parametrize(
    ("alarm", "words"),
    [
        (None, "ann shows no drift: accuracy 37%, judged by the other raters"),
        (7, "ann became less accurate: 91% before, 52% after"),
    ],
)
@pytest.mark.parametrize("judge", ["gold", "model"])
def test_a_rater_got_worse_from_before_to_after_by_the_others_whoever_judges(monkeypatch, alarm, words, judge):
    titles = []
    found = SimpleNamespace(alarm=alarm, before=0.91, after=0.52, n_undated=3, accuracy=0.37)
    draw = SimpleNamespace(rater_over_time=lambda drift, theme, title: titles.append(title))
    monkeypatch.setattr(one_rater, "figures", draw)
    said_of = {"said": lambda place: ("0.80 (0.70 to 0.90)", "other")[place], "judge_of": lambda place: judge}
    act = SimpleNamespace(acceptable=SimpleNamespace(**said_of))
    assessed = SimpleNamespace(act=act, table=SimpleNamespace(raters=("ann", "bob")))
    figure, *said = one_rater.over_time(assessed, 0, found)
    figure.draw(LIGHT)
    said = [block.plain for block in said]
    assert titles == [words] and said[-1] == "Left out: 3 annotations without a date."
    by_gold = (
        "In these charts, an annotation counts as correct if it matches the other raters. Accuracy compared with gold: "
        "0.80 (0.70 to 0.90)."
    )
    assert said[:-1] == [by_gold] * (judge == "gold")


@pytest.mark.parametrize(
    ("by_draws", "others"),
    [
        (False, "from the other raters of each case, weighted by the model"),
        (
            True,
            "from 300 draws of the truth by the average of models, so intervals include the uncertainty about the "
            "truth",
        ),
    ],
)
@pytest.mark.parametrize(
    ("by_gold", "n_judged", "words"),
    [
        (
            [False, False, False],
            3,
            "Accuracy is estimated OTHERS. Estimates are shrunk towards the mean of all raters.",
        ),
        (
            [True, True, True],
            3,
            "The accuracy of 3 raters is measured against gold and shrunk towards the mean of all raters.",
        ),
        (
            [True, True, False],
            3,
            "Accuracy is measured against gold for 2 raters with enough gold annotations. For raters with too few, it "
            "is estimated OTHERS. Values are shrunk towards the mean of all raters",
        ),
    ],
)
def test_what_accuracy_rests_on_counts_those_whom_gold_judges(by_gold, n_judged, words, by_draws, others):
    act = SimpleNamespace(acceptable=SimpleNamespace(by_gold=np.array(by_gold), n_judged=n_judged), following=None)
    assert words.replace("OTHERS", others) in all_raters._judged(act, by_draws)


def test_what_is_most_unlike_the_pool_is_what_surely_exceeds_its_share_by_most(said, shown, left):
    own = Answers(*np.array([[[0.5, 0.5], [0.3, 0.7]], [[0.3, 0.35], [0.2, 0.6]], [[0.6, 0.7], [0.4, 0.8]]]), OWN_N)
    pool = Answers(*np.array([[[0.8, 0.2], [0.29, 0.71]], [[0.7, 0.1], [0.2, 0.6]], [[0.9, 0.25], [0.4, 0.8]]]), OWN_N)
    blocks.show(one_rater.answers(SimpleNamespace(own=own, pool=pool, classes=("mole", "acne"))))
    assert said[1] == (
        "Largest difference from the other raters: when they choose mole, this rater chooses **acne** in 50% (35% to "
        "70%) of annotations, compared with 20% for the others."
    )
    assert said[2].startswith("4 rows. Each row shows how often the rater named one class on cases of a given class ")


def test_of_several_annotations_that_exceed_the_pool_the_one_that_clearly_does_so_by_most_is_named(said, shown, left):
    """By 0.25, 0.80 and 0.10 beyond the pool; 0.80 on the class with four annotations does not count. Where the second
    is as far beyond it as the first, none is named."""
    classes, n = ("mole", "acne", "wart", "rash"), np.array([30.0, 20.0, 10.0, 4.0])
    for first in (0.45, 0.9):
        exceeds = {(0, 1): (first, 0.2), (1, 2): (0.9, 0.1), (2, 0): (0.15, 0.05), (3, 1): (0.9, 0.1)}
        own, pool = np.zeros((2, 4, 4))
        for at, (share, of_pool) in exceeds.items():
            own[at], pool[at] = share, of_pool
        rest = np.eye(4, dtype=bool)
        own[rest], pool[rest] = 1 - own.sum(axis=1), 1 - pool.sum(axis=1)
        of_rater, of_pool = (Answers(part, part - end, part + end, n) for part, end in ((own, 0.1), (pool, 0.01)))
        blocks.show(one_rater.answers(SimpleNamespace(own=of_rater, pool=of_pool, classes=classes)))
    named = [one for one in said if one.startswith("Largest difference from the other raters")]
    assert named == [
        "Largest difference from the other raters: when they choose acne, this rater chooses **wart** in 90% (80% to "
        "100%) of annotations, compared with 10% for the others."
    ]


OWN_N = np.array([20.0, 10.0])


@pytest.mark.parametrize(("ends", "title"), [((1, 2), "x to y"), ((2, 3), "y to z"), ((3, 3), "z"), ((1, 1), "x")])
def test_ordered_classes_of_a_case_are_named_from_the_lowest_to_the_highest(monkeypatch, ends, title):
    codes = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])
    view = Dataset.from_classes("made", ("a", "b"), ("r", "s", "t"), ("x", "y", "z"), *codes)
    probability = np.array([[1.0, 0, 0], [0.125, 0.625, 0.25]])
    at = ClassScale(np.array([2.125]), *np.array([*ends, 2])[:, None], np.array([0.875]))
    monkeypatch.setattr(one_case, "class_scale", lambda _: at)
    figure, words, _, download = one_case.scale(probability, view, 1, lambda *_: {})
    assert figure.draw(LIGHT).layout.title.text == f"True class: {title} (95% interval)"
    assert download.table.values.tolist() == [["x", 0.125, 0], ["y", 0.625, 2], ["z", 0.25, 1]]
    assert words.plain.endswith("The true class is within one class of “y” with probability 88%.")


def test_flags_that_stand_in_the_table_alone_are_counted(said, labels):
    judged = SimpleNamespace(
        why_no_order="", why="too few", rates=SimpleNamespace(value=np.ones(2)), by_gold=np.array([True, False]),
        n_judged=2, acceptable=0.7,
    )  # fmt: skip
    table = SimpleNamespace(raters=("ann", "bob"), false_alarms=0.02, notes=("A note.",), draws=None)
    most = all_raters.MOST_LISTED
    flags = tuple(Flag(place % 2, "drift", 0.01, f"words {place}") for place in range(most + 7))
    act = SimpleNamespace(acceptable=judged, judged=judged, following=None, flags=flags, raters=("ann", "bob"))
    found = SimpleNamespace(table=table, act=act)
    blocks.show(all_raters.flags(found))
    assert labels == [f"Evidence for all {most + 7} flags"]
    assert sum(":material/flag:" in words for words in said) == most
    assert ":material/flag: **bob** · Became less accurate over time: words 3" in said
    assert "The table contains 7 more flags." in said
    (honest,) = [words for words in said if "careful rater" in words]
    assert "is at most 2%" in honest
    assert "for 1 rater with enough gold annotations. For raters with too few, it is" in honest
    table.draws = object()  # of the average of models
    said.clear()
    blocks.show(all_raters.flags(found))
    assert any(
        "For raters with too few, it is estimated from 300 draws of the truth by the average" in words for words in said
    )
    labels.pop()
    act.flags = flags[:1]
    blocks.show(all_raters.flags(found))
    assert labels[1:] == ["Evidence for the flag"]
    labels.clear()
    act.flags = ()
    blocks.show(all_raters.flags(found))
    assert labels == []  # no box without anything in it


def test_what_changes_without_a_rater_is_of_its_own_whole():
    change = Influence(
        ("ann",), n_annotations=11, n_cases=10, n_without=1, changed=np.arange(3), undecided=np.arange(5),
        decided=np.arange(7), percent=(coefficient(0.6, 0, 1), coefficient(0.7, 0, 1)),
        alpha=(coefficient(0.4, 0, 1), coefficient(None, None, None)), held_out=None, gold=(0.81, 0.92), n_gold=1234,
    )  # fmt: skip
    assert one_rater.without(change).plain == (
        "Without this rater's 11 annotations, the most likely class changes in 3 of 10 cases. "
        "Percent agreement: 60% → 70%. Krippendorff α: 0.40 → –. 1 case has no other annotation. "
        "Accuracy compared with gold: 81% → 92%, n = 1,234 cases."
    )
    less = replace(change, n_without=2, gold=None, n_gold=0)
    assert one_rater.without(less).plain.endswith("2 cases have no other annotation.")


def test_a_plan_says_how_many_of_its_worlds_reach_the_target(said, drawn, left):
    found = SimpleNamespace(
        goal=SimpleNamespace(target=0.1), extra=np.array([0, 100]), value=np.array([0.3, 0.2]),
        low=np.array([0.2, 0.1]), high=np.array([0.4, 0.3]), level=0.95, now=0.3125, needed=None, n_worlds=40,
        seed=7, share_met=0.35, notes=("A note.",), first_cases=tuple("abcdefghijklmn"), by_rater=np.array([1.0, 0.0]),
    )  # fmt: skip
    blocks.show(planning.present(planning.PlannedAnnotations(found, ("ann", "bob"), None), load_sample("knees"), None))
    assert said[0] == (
        "Target measure now: 0.312. 35% of 40 simulated datasets (seed 7) reach the target within the budget."
    )
    assert len(said) == 2  # “Whom to ask next” lists what to annotate, and no other list does


# AI as a rater


def against(rater: str) -> AgainstRater:
    return AgainstRater(rater, 40, 0.6, 0.5, 0.7, 10, 20, 10, 0.01, True)


def in_the_test(name: str, passes: bool | None, rho: float = 0.6, omega: float = 0.4) -> MachineStanding:
    curve = np.linspace(0, 1, 51) if passes is not None else np.empty(0)
    return MachineStanding(name, 60, (), (), omega, passes, rho, rho - 0.1, rho + 0.05, 0.7, curve)


def test_raters_who_pass_are_counted_among_those_who_could_be_tested(said, drawn, left):
    everybody = (in_the_test("ann", True, 0.71, 0.9), in_the_test("bob", False, 0.3, 0.1), in_the_test("cem", None))
    test = SimpleNamespace(machines=(in_the_test("m", True, 0.5, 0.7),), people=("ann", "bob", "cem", "dan"))
    ai_parts.people(SimpleNamespace(test=test, people=everybody), LIGHT)
    assert "**1 of 2 passes**" in said[0]
    frame = left["people_table"]
    assert frame[["who", "machine", "ω", "ρ"]].values.tolist() == [
        ["m", True, 0.7, 0.5], ["ann", False, 0.9, 0.71], ["bob", False, 0.1, 0.3],
    ]  # fmt: skip
    assert frame["ρ_low"].tolist() == [0.4, 0.71 - 0.1, 0.3 - 0.1] and frame["ρ_high"].iloc[0] == 0.55
    ai_parts.people(SimpleNamespace(test=test, people=everybody[:1]), LIGHT)
    assert "**all pass**" in said[1]
    ai_parts.people(SimpleNamespace(test=test, people=everybody[2:]), LIGHT)
    assert said[2] == "Not available: the raters share too few cases."


def test_a_machine_differs_only_where_the_panel_is_decided(monkeypatch, said, shown, left):
    listed = {}
    monkeypatch.setattr(widgets, "open_case_table", lambda frame, key, **_: listed.update({key: frame}))
    monkeypatch.setattr(st, "button", lambda label, **_: said.append(label))
    one = Differences(
        "m", ("x", "y"), tuple("abcde"), np.array([0, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 0]),
        np.array([0.99, 0.85, 0.97, 0.5, 0.6]), np.array([2, 3, 4, 5, 6]), 0.8, 2.0,
        (OnSomeCases("x", 2, 0.5, 0.1, 0.9, 0.75),), (), (),
    )  # fmt: skip
    monkeypatch.setattr(ai_parts, "computed_differs", lambda *_: ("too few cases", one))
    ai_parts.differs(None, 2.0)
    assert said[0] == (
        "The panel is confident about **3** of 5 cases (certainty of at least 80% at γ = 2). m chose a different class "
        "for **2** of them. The panel or the AI rater may be wrong."
    )
    assert said[1] == "Review 2 cases"
    assert listed["differs-m"].values.tolist() == [["c", "x", "y", 0.97, 4], ["b", "y", "x", 0.85, 3]]
    assert left["differs_table"]["case"].tolist() == ["c", "b"]
    assert shown["by-Cases with a confident panel, by the panel's class"].values.tolist() == [
        ["x", 2, 0.5, 0.1, 0.9, 0.75]
    ]
    nobody = replace(one, certainty=np.array([0.7, 0.6, 0.5, 0.5, 0.6]), by_class=())
    monkeypatch.setattr(ai_parts, "computed_differs", lambda *_: (nobody,))
    ai_parts.differs(None, 2.0)
    assert said[-2] == (
        "No case has a confident panel (certainty of at least 80% at γ = 2). The highest certainty is 70%: choose a "
        "lower threshold to see where the AI rater differs."
    )
    torn = replace(one, certainty=np.full(5, 0.4), by_quartile=tuple(
        OnSomeCases(name, n, 0.5, 0.1, 0.9, 0.75) for name, n in (("least certain quarter", 4), ("second", 1))
    ))  # fmt: skip
    monkeypatch.setattr(ai_parts, "computed_differs", lambda *_: (torn,))
    ai_parts.differs(None, 2.0)
    assert said[-4] == "No case has a confident panel (certainty of at least 80% at γ = 2)."
    assert said[-1].endswith("Cases with the same certainty are in the same quarter, so the quarters differ in size.")


def test_review_says_what_another_page_sent_before_anybody_has_written_a_name(said):
    st.session_state.update({"data": "d", "review_proposed": ("d", "m* differs", ("a", "b"))})
    review_start._put_forward()
    assert said == ["2 cases: m* differs. Enter your name to review them first."]
    st.session_state.update({"data": "other", "queue": "sample"})
    review_start._put_forward()
    assert said[1:] == ["Enter your name to draw the random sample."]
    del st.session_state["queue"]
    review_start._put_forward()
    assert len(said) == 2


def test_machines_beside_people_and_each_other_keep_their_own_numbers(said, drawn, shown, left):
    pair = PairAgreement("m", 61, 0.5, 0.4, 0.6, 0.7, 0.65, 0.8, 0.2, 0.1, 0.3)
    test = SimpleNamespace(
        machines=(in_the_test("m", True),), score="accuracy", epsilon=0.2,
        differences=(MachineDifference("m", "n", 55, 0.11, -0.02, 0.21), MachineDifference("m", "o", 3, *(None,) * 3)),
    )  # fmt: skip
    ai_parts.replaces(SimpleNamespace(test=test, agreement=(pair, PairAgreement("n", 0))), LIGHT)
    assert shown["pair_agreement"].values.tolist() == [["m", 61, 0.5, 0.4, 0.6, 0.7, 0.65, 0.8, 0.2, 0.1, 0.3]]
    assert shown["machine_differences"].values.tolist() == [["m", "n", 0.11, -0.02, 0.21, 55]]
    assert left["machine_differences_table"].equals(shown["machine_differences"])
    ai_parts.over_epsilon(test, LIGHT)
    assert shown["passes_from"].values.tolist() == [["m", 0.25, 0.4]]
    assert left["epsilon_table"]["ω"].tolist() == np.linspace(0, 1, 51).tolist()


def test_verdicts_are_in_a_table_with_the_readers_by_annotations_and_by_probabilities(said, shown):
    panel = np.array([0.4, 0.5])
    by = [
        EquivalentReaders("m", score, 30, 1, panel, panel, panel, 0.45, 0.4, 0.5, k, 0.2, np.inf, 0.95)
        for score, k in (("agreement", 0.5), ("log", -np.inf))
    ]
    surely = replace(in_the_test("m", True), pass_share=0.99, n_to_pass=44, raters=(against("ann"), against("bob")))
    unsure = replace(in_the_test("n", True), raters=(against("ann"),))
    test = SimpleNamespace(machines=(surely, unsure, in_the_test("o", None)), epsilon=0.15, by_chance=False)
    people = (in_the_test("ann", True, 0.71), in_the_test("bob", False, 0.3), in_the_test("cem", True, 0.5))
    found = SimpleNamespace(test=test, worth=(by[0], "no case", "no case"), by_log_score=(by[1],), people=people)
    ai_parts.verdicts(found)
    frame = shown["verdicts"].set_index("machine")
    assert frame["may replace a rater"].tolist() == ["yes", "inconclusive", "too few cases"]
    assert frame["holds against"].tolist() == ["2 of 2", "1 of 1", "–"]
    assert frame["advantage ρ"].iloc[0] == "0.60 (0.50 to 0.65)"
    assert frame["worth in raters"].tolist() == ["0.5 (0.2 to more than 1)", "–", "–"]
    assert frame["by its probabilities"].tolist() == ["less than 0 (0.2 to more than 1)", "–", "–"]
    assert frame["cases to pass"].tolist() == ["44", "no number of cases is enough", "–"]
    test.by_chance = True
    assert ai_parts.verdict_table(found)["may replace a rater"].tolist() == [
        *["like guessing"] * 2,
        "too few cases",
    ]
    assert said[-1].startswith(
        "Advantage ρ with 95% intervals (ε = 0.15). 2 of 3 raters would pass the same test. ρ of the tested raters: "
    )
    assert ". ρ of the tested raters: 0.30 to 0.71." in said[-1]
    assert frame["passes in resamples"].tolist() == ["99%", "70%", "70%"]
    alike = SimpleNamespace(test=test, worth=found.worth, by_log_score=(), people=(in_the_test("ann", True, 1.0),) * 2)
    ai_parts.verdicts(alike, [f"m{n}* is silent." for n in range(6)])
    assert "2 of 2 raters would pass the same test. ρ of the tested raters: 1.00. " in said[-2]
    assert said[-1] == (
        "m0* is silent. m1* is silent. m2* is silent. m3* is silent. 2 other AI raters also left some cases "
        "unannotated. If those cases are hard, ρ is too high."
    )


# Cases


def test_of_two_classes_the_first_place_alone_may_be_another():
    result = SimpleNamespace(certainty=np.array([[0.81, 1.0]]), se=np.zeros((1, 2)))
    words = one_case.summary(one_case.OneCase(None, None, result, None, {}, 3), 2)
    assert words.plain == "Certainty of the leading class: 81%."


# Models


def test_the_annotations_of_a_rater_are_counted_by_the_measure_that_judges(monkeypatch):
    """Ordered classes are judged by correlation, where a number of wrong ones would count against who reads higher."""
    frame = pd.DataFrame({"rater": ["ann", "bob"], "expected_wrong": [72.0, 3.0], "lost": [84.0, np.nan]})
    monkeypatch.setattr(one_rater.table, "table_of", lambda found: frame)
    table = SimpleNamespace(raters=("ann", "bob"), n_annotations=np.array([128, 40]))
    found = SimpleNamespace(ranked=True, table=table, act=SimpleNamespace(following=object()))
    assert one_rater.numbers(found, 0).plain == "128 annotations, as informative as 44 from the average rater"
    assert one_rater.numbers(found, 1).plain == "40 annotations"
    found.act.following = None
    assert one_rater.numbers(found, 0).plain == "128 annotations, an estimated 72 wrong"


def test_p_correct_of_a_ranking_counts_the_first_choices_it_is_based_on(monkeypatch):
    dataset, said = load_sample("skin"), []
    classes = dataset.as_classes()[0]
    monkeypatch.setattr(correct, "st", SimpleNamespace(caption=lambda text, **_: said.append(text)))
    monkeypatch.setattr(correct, "_classes", lambda _: classes)
    monkeypatch.setattr(
        correct, "known", lambda _: SimpleNamespace(probability=np.full((classes.n_cases, classes.n_classes), 0.01))
    )
    one = SimpleNamespace(certainty=SimpleNamespace(top_class=lambda: [0]), n_votes=0)
    n, n_used = np.diff(dataset.case_ptr), np.diff(classes.case_ptr)
    tied, whole = (int(np.flatnonzero(some)[0]) for some in (n_used < n, n_used == n))
    correct.say(dataset, tied, one)
    assert said[-1].endswith(f"1%. Based on {n_used[tied]} of {n[tied]} annotations: tied first choices are left out.")
    correct.say(dataset, whole, one)
    assert said[-1].endswith("”: 1%.")


def test_raters_of_a_case_who_side_less_with_the_panel_have_their_own_share_and_number():
    own, peers = np.array([0.9, 0.5, 0.88, 0.6, 0.1]), np.array([0.8, 0.9, 0.85, 0.95, 0.7])
    found = BelowPeers(np.array([30, 25, 40, 1234, 3]), own, peers, np.array([False, True, False, True, False]))
    data = SimpleNamespace(
        raters=("ann", "bob", "cem", "dan", "eve"),
        rater=np.array([2, 4, 3, 1, 1]), annotations_of=lambda case: range(5),
    )  # fmt: skip
    said = one_case.below_peers_said(found, data, 0, False)
    assert said.endswith(
        "than the other raters: dan (40% of 1,234 annotations, against 5%) and bob (50% of 25 annotations, "
        "against 10%)."
    )
    said = one_case.below_peers_said(found, data, 0, True)  # by their places in the list of the case
    assert said.endswith(
        "than the other raters: rater 3 (40% of 1,234 annotations, against 5%) and rater 4 (50% of 25 annotations, "
        "against 10%)."
    )


def test_the_header_of_a_case_has_its_own_certainty_and_number_of_answers(said):
    page = functions_of("cases")
    data = SimpleNamespace(cases=("a", "b", "c"), annotations_of=lambda case: range(case + 1))
    result = SimpleNamespace(certainty=np.array([[0.81, 0.9]]), se=np.array([[0.02, 0.03]]))
    page._header(data, np.array([2, 1, 0]), 1, SimpleNamespace(certainty=result, n_votes=2))
    assert said == ["Case b · certainty 81% · 2\N{NO-BREAK SPACE}annotations"]
    said.clear()
    page._header(data, np.array([2, 1, 0]), 0, SimpleNamespace(certainty=result, n_votes=1))
    assert said == ["Case a · no certainty · 1\N{NO-BREAK SPACE}annotation"]


def test_what_was_reviewed_stands_on_a_case_with_its_steps(said):
    note = Event(
        dataset="d", case_id="a", kind="adjudication", reviewer="Bob", opinion=Opinion.of_class("x"), confidence=0.8,
        version=2, at=1_700_000_000_000_000,
    )  # fmt: skip
    read = SimpleNamespace(reviewer="Ada", visible="blind", first=Opinion.of_class("y"), opinion=Opinion.of_class("x"))
    review = SimpleNamespace(state="adjudicated", adjudication=note, reads=[read], events=[note], version=2)
    review_status._review(review)
    assert said == [
        "**Review**",
        "Decided: **x**, by Bob, 2023-11-14 22:13 UTC · 80% sure",
        "Ada: **x** (blind, at first y)",
        "2 review steps, the last by Bob on 2023-11-14 22:13 UTC. Reviewers' opinions are not counted as annotations.",
    ]


# Models


# Reviews


def test_minds_are_changed_of_those_who_saw_a_reveal():
    minds, timed = Minds(5, 2, coefficient(0.4, 0.1, 0.7), {}), [decided_in(seconds) for seconds in (1.0, 3.0, 2.0)]
    ada = Reviewer("Ada", 9, 7, coefficient(0.8, 0.4, 0.95), minds, (*timed, decided_in(None)))
    bo = Reviewer("Bo", 1, 0, coefficient(0.8, 0.4, 0.95), minds, (decided_in(None),))
    assert reviews.table_of(reviews.ReviewFigures(None, (ada, bo)), None, None).values.tolist() == [
        ["Ada", 9, 7, "80% (40% to 95%)", "2 of 5", "1 of 3"],
        ["Bo", 1, 0, "80% (40% to 95%)", "2 of 5", "–"],
    ]


def decided_in(seconds):
    """A decision that took so long."""
    return Decision("case", "Ada", Opinion.of_class("x"), False, "blind", "closed", 0, "", "", seconds)


SETTLED = dict.fromkeys(("open", "skipped"), 3) | {"closed": 5, "adjudicated": 6}


def test_figures_of_reviews_stand_under_their_own_names(monkeypatch, said, shown):
    found = SimpleNamespace(
        n_cases=40, n_reviewed=17, states=SETTLED, with_panel=coefficient(0.8, 0.6, 0.9, 11, 13),
        with_each_other=coefficient(0.7, None, None, 8, 19), alpha=coefficient(0.55, 0.3, 0.75),
        minds=SimpleNamespace(share=coefficient(0.25, 0.1, 0.5, 12, 16), directions={}), reasons={},
        seconds=(31.0, 62.0, 240.0), n_timed=21,
        settled=Settled(4, 1, 6, 2), decided=[decided_in(seconds) for seconds in (0.5, 1.9, 2.0, 60.0)],
    )  # fmt: skip
    monkeypatch.setattr(reviews, "summarise_reviews", lambda *_: found)
    monkeypatch.setattr(after, "_certainty", lambda *_: "how certain")
    monkeypatch.setattr(after, "reviewed_by", lambda *_: SimpleNamespace(words=lambda: "from queues"))
    store = SimpleNamespace(cases=lambda digest: {}, sessions_of_others=lambda digest, reviewer: [])
    after.figures(store, SimpleNamespace(digest="", cases=()), None, 1.0)
    assert said[1:] == [
        "11 cases are settled: 4 by one reviewer, 1 by reviewers who agree and 6 by arbitration. A single reviewer's "
        "opinion is not the truth. In 2 of 4 cases closed by one reviewer, the opinion is outside the panel's "
        "plausible set.",
        "Cases reviewed: 17 of 40",
        "11 of them settled",
        "Agreement of blind opinions with the panel: 80%",
        "60% to 90% · 13 opinions, 11 cases",
        "Agreement between blind opinions: 70%",
        "no interval · 19 opinions, 8 cases",
        "beyond chance (α) 0.55 (0.30 to 0.75)",
        "Opinions changed after seeing the panel: 25%",
        "10% to 50% · 16 opinions, 12 cases",
        "from queues",
        "Reviewers",
        "Only blind opinions are compared. Intervals are 95% Wilson intervals over cases.",
        "States of cases",
        "Changed minds",
        "No reviewer has changed an opinion after seeing the panel.",
        "Reasons given",
        "No reviewer gave a reason.",
        "Median time per case: 62 s (middle half 31 s to 4 min), n = 21 reviews.",
        "2 of 4 timed decisions (50%) took less than 2 seconds.",
        "how certain",
    ]
    assert shown["review_states"]["cases"].tolist() == [3, 3, 5, 6]
    said.clear()
    found.n_timed, found.decided, found.settled = 2, [decided_in(None)], Settled(0, 0, 0, 0)
    after.figures(store, SimpleNamespace(digest="", cases=()), None, 1.0)
    assert said[1] == "No case is settled yet."
    assert said[-2:] == ["Median time per case: 62 s, n = 2 reviews.", "how certain"]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            WithOpinions(0.61, 0.84, 3),
            "If every opinion counts as one more annotation, the mean certainty of 3 cases is 84% instead of 61% "
            "(Dirichlet counts, reliability γ = 3). Certainty is the probability that the leading class stays first, "
            "not that it is true.",
        ),
        (
            WithOpinions(0.84, 0.61, 1),
            "If every opinion counts as one more annotation, the mean certainty of 1 case is 61% instead of 84% "
            "(Dirichlet counts, reliability γ = 3). Certainty is the probability that the leading class stays first, "
            "not that it is true.",
        ),
        (None, "No opinion changes the annotations that this model uses."),
    ],
)
def test_certainty_with_and_without_opinions_is_no_certainty_of_the_truth(monkeypatch, found, words):
    monkeypatch.setattr(after, "with_opinions", lambda data, decided: data)
    monkeypatch.setattr(after.plausibility_models, "data_for", lambda name, data, **_: data)
    monkeypatch.setattr(after, "mean_certainty", lambda *_, **__: found)
    data = SimpleNamespace(raters=(), kind="class")
    assert after._certainty(data, (), SimpleNamespace(name="dirichlet"), 3.0) == words


def test_the_interval_of_scores_is_the_mean_width_of_the_cases_with_an_opinion():
    """At γ = 2 each score counts twice; Student's t of the scores and the prior, case by case. The wide one stays."""
    given, settled = [[1.0, 2.5, 6.0], [0.0, 9.0], [3.0, 3.5]], {0: 2.0, 2: 3.2}
    m0, k0, a0, b0 = prior = 4.0, 0.7, 2.5, 3.0

    def data(scores):
        rows = [(case, rater, score) for case, of_case in enumerate(scores) for rater, score in enumerate(of_case)]
        return Dataset.from_scores("made", list("xyz"), list("abcd"), *map(np.array, zip(*rows, strict=True)))

    def width(scores):
        twice = np.repeat(scores, 2)
        n, mean = twice.size, twice.mean()
        k, a = k0 + n, a0 + n / 2
        b = b0 + ((twice - mean) ** 2).sum() / 2 + k0 * n * (mean - m0) ** 2 / (2 * k)
        return 2 * student(2 * a).ppf(0.975) * np.sqrt(b / (a * k))

    more = [[*of_case, settled[case]] if case in settled else of_case for case, of_case in enumerate(given)]
    said = after._width(data(given), data(more), GaussianScores(None, *prior), 2.0)
    before, then = (np.mean([width(scores[case]) for case in settled]) for scores in (given, more))
    assert before > then > 1 and said == (
        "If every opinion counts as one more annotation, the mean width of the 95% intervals for 2 cases is "
        f"{then:.2f} instead of {before:.2f} (reliability γ = 2)."
    )


def test_decisions_that_become_a_rater_are_counted_beside_those_that_cannot(monkeypatch):
    told = []
    monkeypatch.setattr(st, "toast", lambda words, **_: told.append(words))
    data = SimpleNamespace(name="made", case_ptr=[0, 2, 4, 6], cases=("x", "y", "z"))
    more = SimpleNamespace(renamed=lambda name: name, case_ptr=[0, 2, 5, 8])
    grown = SimpleNamespace(dataset=more, n_added=3, left_out=("a", "b"))
    monkeypatch.setattr(after, "with_reviews", lambda *_, **__: grown)
    monkeypatch.setattr(after.state, "whole", lambda: SimpleNamespace(facts=None))
    monkeypatch.setattr(after.state, "use", lambda address: None)
    monkeypatch.setattr(after.cached, "bring", lambda reading: "")
    after._grow(data, {}, " Ada ", False)
    assert (st.session_state["case"], st.session_state["go_to"]) == ("y", "cases")
    monkeypatch.setattr(after.access, "forget_reviews", lambda digest: 12)
    after._erase(SimpleNamespace(digest="digest"))
    assert told == ["3 decisions added. 2 decisions could not be added.", "12 review steps deleted."]


def test_cases_closed_without_arbitration_are_those_closed_less_those_decided(monkeypatch, said):
    counted = {False: ["a", "b"], True: ["a", "b", "c", "d", "e"]}
    monkeypatch.setattr(after, "results", lambda reviews, closed=False: counted[closed])
    after._further_rater(SimpleNamespace(), {})
    assert said[-1] == "2 cases decided by arbitration, 3 closed without arbitration."


def test_of_raters_that_are_flagged_home_counts_raters_and_flags_apart(monkeypatch, said):
    monkeypatch.setattr(next_steps, "gold_cases", lambda classes: [1])
    monkeypatch.setattr(st, "page_link", lambda *_, **__: None)
    act = SimpleNamespace(against=lambda: (1, 2, 3, 4, 5), flagged=lambda: (0, 3))
    next_steps.show(SimpleNamespace(classes=None, classifiers=()), None, act, None)
    assert said[1] == "**2 raters flagged**  \n:small[Evidence for 5 flags]"


def test_second_opinions_and_disputes_that_wait_are_counted_apart(monkeypatch, said):
    reviews = {
        name: SimpleNamespace(case_id=name, state=state, read_by=lambda reviewer, seen=seen: seen)
        for name, state, seen in (
            ("a", "arbitration", None), ("b", "arbitration", "read"), ("c", "closed", None), ("d", "arbitration", None),
            ("e", "arbitration", None),
        )
    }  # fmt: skip
    handed = []
    monkeypatch.setattr(review_start.review_assigned, "form", lambda desk, title, cases, key: handed.extend(cases))
    desk = SimpleNamespace(reviewer="Ada", asked=lambda: {"x": "blind", "y": "open"})
    review_start._asked(desk, reviews)
    assert said == [
        "**You have been asked for a second opinion on 2 cases.**",
        "**3 cases are in arbitration without your opinion.**",
        "**You have given an opinion on 1 case in arbitration. If possible, let others decide.**",
    ]
    assert [one.case_id for one in handed] == ["a", "b", "d", "e"]


def test_a_session_starts_with_the_cases_that_are_there_of_those_in_the_queue(monkeypatch, said):
    among = np.array([True, True, False, True, True])
    asked = []
    queue = SimpleNamespace(
        batch=lambda data, size, among, elsewhere: asked.append(size) or [SimpleNamespace(case_id=one) for one in "ab"],
        case=np.array([4, 2, 0, 1]),
    )
    for part in ("_given", "_asked", "_proposed", "_earlier", "_for_others"):
        monkeypatch.setattr(review_start, part, lambda *_: None)
    monkeypatch.setattr(review_start.review_assigned, "form", lambda *_: None)
    monkeypatch.setattr(review_start, "_filter", lambda data: SimpleNamespace(without_gold=False))
    monkeypatch.setattr(review_start, "_offered", lambda data: ["certainty"])
    monkeypatch.setattr(review_start, "_queue", lambda *_: queue)
    monkeypatch.setattr(review_start.worklist, "at_reliability", lambda found, *_: found)
    monkeypatch.setattr(review_start, "matching", lambda *_: among)
    monkeypatch.setattr(review_start, "_through", lambda *_: np.zeros(5, bool))
    monkeypatch.setattr(review_start, "_elsewhere", lambda desk: [])
    monkeypatch.setattr(DeltaGenerator, "selectbox", lambda *a, **_: a[2][0])
    monkeypatch.setattr(DeltaGenerator, "segmented_control", lambda *_, default, **__: default)
    monkeypatch.setattr(st, "button", lambda label, **_: said.append(label))
    desk = SimpleNamespace(store=SimpleNamespace(cases=lambda digest: {}))
    model = SimpleNamespace(name="dirichlet")
    review_start.begin(desk, SimpleNamespace(digest="", n_cases=5, kind="class"), model, 1.0)
    assert asked == [10] and said[1] == "Start with 2 cases" and said[2].startswith("3 cases in this queue.")


@pytest.mark.parametrize(
    ("done", "words"), [(2, "5 cases left."), (6, "1 case left."), (7, "Every case in this session is done")]
)
def test_what_is_left_of_a_session_is_what_is_not_done(monkeypatch, said, shown, done, words):
    monkeypatch.setattr(review_session, "noted", lambda *_: {})
    progress = SimpleNamespace(total=7, done=done, current=None)
    review_session._list(SimpleNamespace(), (), progress)
    assert said[0].startswith(words)


# Many pages


def test_rankings_that_count_by_their_first_choice_are_counted_with_those_left_out(monkeypatch, said):
    view = SimpleNamespace(n_annotations=1234)
    monkeypatch.setattr(widgets.cached, "class_view", lambda data, threshold: (view, 56))
    assert widgets.class_view(SimpleNamespace(kind="ranking")) is view
    assert "of 1,234 rankings" in said[0] and "56 rankings with a tied first" in said[0]


def test_the_table_of_raters_says_how_many_of_all_it_shows(monkeypatch, said, shown, left):
    columns = {"rater": list("abcd"), "flags": ["", "x", "", "y"], "leans to": "k", "annotations": [4, 3, 2, 1]}
    monkeypatch.setattr(raters_table, "displayed", lambda found: pd.DataFrame(columns))
    monkeypatch.setattr(raters_table, "_short", lambda said: said.split())
    monkeypatch.setattr(DeltaGenerator, "pills", lambda *_, **__: ["x", "y"])
    monkeypatch.setattr(DeltaGenerator, "text_input", lambda *_, **__: "")
    act = SimpleNamespace(judged=SimpleNamespace(acceptable=None))
    raters_table.show(SimpleNamespace(ranked=False, act=act, shown_columns=()))
    assert said[0] == "2 of 4 raters" and shown["raters_table"]["rater"].tolist() == ["b", "d"]


def test_what_trust_costs_is_said_of_all_cases_and_rounded_up(monkeypatch, said):
    monkeypatch.setattr(job_progress, "result_of", lambda *_, **__: 61.0)
    monkeypatch.setattr(trusted_raters, "_key", lambda *_: ())
    view = SimpleNamespace(n_cases=1234, n_raters=7)
    trusted_raters._offer(view, SimpleNamespace(name="mixture-plackett-luce"), 3, "wanted")
    assert "using all 1,234 cases" in said[0]
    assert said[1].startswith(
        "This takes about 65 seconds on this computer, including plausibilities at 3 values of γ."
    )
    spans = [trusted_raters.duration(seconds) for seconds in (5.0, 5.1, 89.9, 90.0, 121.0)]
    assert spans == ["a few seconds", "about 10 seconds", "about 90 seconds", "about 2 minutes", "about 3 minutes"]


def test_what_waits_says_what_is_done_of_mine_and_what_is_left_of_what_i_assigned(said):
    mine = SimpleNamespace(
        kind="assignment", title="first look", by="Ada", left=["4", "7"], total=7, due=None, dataset="skin", at=1
    )
    home_waiting._line(mine, "Skin")
    home_waiting._line(SimpleNamespace(**{**vars(mine), "kind": "second_opinion", "at": 2}), "Skin")
    assert said == [
        "**Skin**  \n:small[first look, assigned by Ada · 5 of 7 cases done]",
        "**Skin**  \n:small[2 second opinions requested by Ada]",
    ]
    cases = tuple("abcdefghijk")
    given = SimpleNamespace(
        cases=cases, group=True, whom="night shift", title="hard ones", due=date(2020, 3, 9), dataset="skin", number=1
    )
    left = {f"reader {n}": n for n in range(10, 0, -1)}
    home_waiting._late(SimpleNamespace(assignment=given, left=left, members_known=True), "Skin")
    each = ", ".join(f"reader {n}: {n} of 11 cases left" for n in range(10, 2, -1))
    assert said[-1] == (
        "**Skin**  \n:small[hard ones · :red[overdue since 9 Mar 2020] · 11 cases assigned to the group night shift, "
        f"{each}, 2 more people have cases left]"
    )


def test_days_are_those_between_both_with_both_of_them_and_one_alone_is_open_towards_today():
    start, day = 1_772_928_000, 86_400  # 8 March 2026 in UTC, in seconds
    assert review_days.span((date(2026, 3, 8), date(2026, 3, 8))) == (start, start + day)
    assert review_days.span((date(2026, 3, 8), date(2026, 3, 10))) == (start, start + 3 * day)
    assert review_days.span((date(2026, 3, 8),)) == (start, None)
    assert review_days.span(()) == (None, None)


def test_models_side_by_side_name_no_class_as_the_most_plausible_and_as_the_next():
    """Class 1 comes first in most draws, class 0 has the largest mean; of the other case two may be called so."""
    codes = np.divmod(np.arange(8), 4)
    data = Dataset.from_classes("made", ("a", "b"), tuple("rstu"), ("mole", "acne", "wart"), *codes, np.arange(8) % 3)
    mean = SimpleNamespace(mean=np.array([0.5, 0.45, 0.03, 0.02]))
    for certainty, first, beside in (((0.8, 0.9), "acne", "mole"), ((0.5, 0.9), "acne or mole", "wart")):
        result = CertaintyResult(
            ("a",), data.classes, np.array([certainty]), np.full((1, 2), 0.01), np.array([[[1, -1], [0, 1]]]),
            np.zeros((1, 2)),
        )  # fmt: skip
        draws = SimpleNamespace(classes=np.array([0, 1, 2]))
        found = one_case.OneCase(draws, mean, result, None, {}, 3)
        frame = one_case.side_by_side([("Counts", 1.0, found, data)])[0].table
        assert set(frame["most plausible"]) == {first} and set(frame["next"]) == {beside}
        assert set(frame["mean plausibility"]) == {0.45}


def test_what_waits_says_for_how_many_computations(monkeypatch):
    job = SimpleNamespace(title="Fitting", state="waiting", progress=0.0, message="", seconds_left=lambda: None)
    words = []
    for ahead in (1, 3):
        board = SimpleNamespace(position=lambda job, ahead=ahead: ahead)
        monkeypatch.setattr(job_progress.cached, "jobs", lambda board=board: board)
        job_progress._say(job, SimpleNamespace(progress=lambda share, text: words.append(text)))
    assert words == ["Fitting · waiting for 1 other computation", "Fitting · waiting for 3 other computations"]
