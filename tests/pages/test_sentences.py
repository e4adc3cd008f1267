"""What pages say in numbers, on numbers of which no two are alike: counts, shares of the right whole, plurals."""

import ast
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.agreement.adaptive import AdaptiveCheck
from core.agreement.differences import Difference
from core.agreement.intervals import Coefficient
from core.agreement.precision import PrecisionCurve, PrecisionPoint
from core.annotations.dataset import Dataset
from core.certainty.risk import RiskResult
from core.certainty.top_sets import CertaintyResult
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.models.catalogue import fit_request, request
from core.models.majority import MajorityVote
from core.models.result import Spread
from core.raters.coverage import Coverage
from core.raters.flags import Flag
from core.raters.left_out import Influence
from core.review.summary import Bought, Minds, Reviewer
from pages.shared.agreement import compare
from pages.shared.agreement import parts as agreement_parts
from pages.shared.agreement import raters as agreement_raters
from pages.shared.cases import one_case
from pages.shared.home import numbers as home_numbers
from pages.shared.kit import job_progress, widgets
from pages.shared.models import parts as models_parts
from pages.shared.raters import act_on as raters_act_on
from pages.shared.raters import plan as raters_plan
from pages.shared.raters import table as raters_table
from pages.shared.reliability import relations
from pages.shared.review import after
from pages.shared.upload import report as upload_report

PAGES = Path(__file__).resolve().parents[2] / "pages"
_WORDS = ("title", "subheader", "markdown", "caption", "info", "warning", "write")


@pytest.fixture
def said(monkeypatch):
    """What is said, in its order; a metric as its label and its number."""
    found = []

    def words(*arguments, **_):
        found.append(str(arguments[-1]).replace("\\", ""))

    for owner, first in ((st, 0), (DeltaGenerator, 1)):
        for name in _WORDS:
            monkeypatch.setattr(owner, name, words)
        monkeypatch.setattr(owner, "metric", lambda *a, first=first, **_: found.append(": ".join(a[first : first + 2])))
    return found


@pytest.fixture
def shown(monkeypatch):
    """Tables on the page by their keys; no row is chosen."""
    found = {}

    def dataframe(frame, key=None, **_):
        found[key] = frame
        return SimpleNamespace(selection=SimpleNamespace(rows=[], cells=[]))

    monkeypatch.setattr(st, "dataframe", dataframe)
    return found


@pytest.fixture
def drawn(monkeypatch):
    """Figures by their keys."""
    found = {}
    monkeypatch.setattr(widgets, "plot", lambda figure, key, alt, **_: found.update({key: figure}))
    return found


@pytest.fixture
def left(monkeypatch):
    """Tables for download by their keys."""
    found = {}
    monkeypatch.setattr(widgets, "download", lambda frame, label, name, key, **_: found.update({key: frame}))
    return found


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


def certainty(*top1: float) -> CertaintyResult:
    """Of cases of two classes; the first two classes of each are settled."""
    n = len(top1)
    both = np.column_stack([top1, np.ones(n)])
    names = tuple(f"case {place}" for place in range(n))
    return CertaintyResult(names, ("x", "y"), both, 0.1 * both, np.zeros((n, 2, 2), np.int32), np.zeros((n, 2)))


def sweep(*levels) -> SimpleNamespace:
    return SimpleNamespace(
        reliabilities=tuple(float(place + 1) for place in range(len(levels))),
        certainty=tuple(certainty(*level) for level in levels),
    )


# Home


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ((1.0, 0.95, 0.9), "and every case is certain"),
        ((1.0, 0.95, 0.4), "and 1 of 3 cases stays uncertain"),
        ((1.0, 0.89, 0.4), "and 2 of 3 cases stay uncertain"),
        ((0.5, 0.89, 0.4), "and all 3 cases stay uncertain"),
        ((0.5,), "and the one case stays uncertain"),
    ],
)
def test_home_counts_uncertain_cases_in_the_right_number(values, ends):
    found = SimpleNamespace(percentage=coefficient(0.734, 0.6, 0.8), quoted=None, kind="class", pairs="pairs")
    data = SimpleNamespace(name="made", n_cases=len(values))
    said = home_numbers.sentence(data, found, certainty(*values))
    assert said == f"made: raters agree on 73% of pairs, {ends}"


def test_the_figures_of_home_have_the_ends_and_the_n_of_their_own_number(monkeypatch, said):
    views = SimpleNamespace(
        plausible=SimpleNamespace(n_annotations=9, n_classes=2),
        model=SimpleNamespace(name="dirichlet"),
        reliability=3.0,
    )
    home_numbers.uncertain(views, certainty(1.0, 0.95, 0.89, 0.4))
    assert said == ["Uncertain cases: 50%", "15% to 85%; 2 of 4 below certainty .9 (Dirichlet counts, γ = 3)"]
    said.clear()
    shares = (home_numbers.cached_home.Share(0.7, 0.6, 0.75, 30), home_numbers.cached_home.Share(0.3, 0.25, 0.4, 30))
    monkeypatch.setattr(home_numbers.home_known, "prevalence", lambda views: (shares, "vote"))
    home_numbers.prevalence(SimpleNamespace(classes=SimpleNamespace(n_annotations=9, n_classes=2, classes=("x", "y"))))
    assert said == ["Cases of the rarer class: 30%", "25% to 40%: class y, by vote; n = 30 cases"]
    said.clear()
    both = (*shares, home_numbers.cached_home.Share(0.2, 0.1, 0.35, 30))
    monkeypatch.setattr(home_numbers.home_known, "prevalence", lambda views: (both, "vote"))
    home_numbers.prevalence(
        SimpleNamespace(classes=SimpleNamespace(n_annotations=9, n_classes=3, classes=("x", "y", "z")))
    )
    assert said == ["Cases of the commonest class: 70%", "60% to 75%: class x, by vote; n = 30 cases"]
    said.clear()
    home_numbers.cases(SimpleNamespace(n_cases=1234, n_annotations=5, case_ptr=np.array([0, 1, 3, 5])))
    assert said == ["Cases: 1,234", "1 to 2 answers each, 5 answers in all"]


def test_agreement_on_home_is_the_percentage_and_its_ends_and_beyond_chance_the_quoted_one(said):
    quoted, percent = coefficient(0.5, 0.4, 0.58), coefficient(0.734, 0.61, 0.8)
    home_numbers.agreement(SimpleNamespace(percentage=percent, quoted=quoted, kind="class", pairs="pairs"), "")
    assert said == ["Raters agree, pairs: 73%", "61% to 80%; beyond chance α = .50 (.40 to .58)"]


# Reliability


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([(0.5, 0.7), (0.8, 1.0)], "Certainty rises from .60 to .90 with trust; 1 of 2 cases stays below .9"),
        ([(0.8, 1.0), (0.5, 0.7)], "Certainty falls from .90 to .60 with trust; 2 of 2 cases stay below .9"),
        ([(0.5, 0.7), (0.92, 1.0)], "Certainty rises from .60 to .96 with trust, and reaches .9 in every case"),
        ([(0.8, 1.0), (1.0, 0.8)], "Certainty stays at .90 whatever the trust; 1 of 2 cases stays below .9"),
        ([(0.8, 0.85, 1.0)], "Certainty is below .9 in 2 of 3 cases at γ = 1"),
    ],
)
def test_the_title_of_reliability_says_which_way_certainty_goes(levels, words):
    assert functions_of("reliability")._sentence(sweep(*levels)) == words


def test_the_heading_of_risk_counts_cases_whose_level_of_most_plausibility_is_unsure(said, drawn, left):
    codes = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1]), np.array([0, 1, 0, 0, 1, 1])
    view = Dataset.from_classes("made", ("a", "b", "c"), ("r", "s"), ("x", "y"), *codes)
    zero = np.zeros(3)
    of_top1, summed = np.array([0.5, 0.6, 0.7]), np.array([0.95, 0.89, 0.91])
    risk = RiskResult(of_top1, zero, summed, zero, zero.astype(int), np.array([0.2, 1.2, 1.8]), np.zeros((3, 3)))
    other = replace(risk, summed=zero)
    found = SimpleNamespace(reliabilities=(1.0, 3.0, 5.0), risk=(other, risk, other))
    relations.show_risk(view, found, LIGHT)
    assert said[0] == "At γ = 3 the risk level is less than 90% sure in 1 of 3 cases"
    assert [trace.name for trace in drawn["annotations_by_risk"].data] == [
        "low (1 case)",
        "medium (1 case)",
        "high (1 case)",
    ]


# Agreement


CHECK = AdaptiveCheck(
    "time", n_agree=80, n_disagree=40, more_agree=8, more_disagree=30, difference=0.65, ci_low=0.5, ci_high=0.8,
    warn=True, first_two=(None, coefficient(0.61, 0.5, 0.7)), everything=(None, coefficient(0.42, 0.3, 0.55)), note="",
)  # fmt: skip


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (CHECK, "were more often given a third answer (75% against 10%)"),
        (replace(CHECK, difference=-0.65), "were less often given a third answer (75% against 10%)"),
    ],
)
def test_shares_of_third_answers_are_of_the_cases_that_began_alike(monkeypatch, said, check, words):
    monkeypatch.setattr(compare.cached_agreement, "adaptive", lambda view: check)
    compare.warn_of_adaptive_collection(None)
    assert words in said[0]
    assert "alone, α is .61 (.50 to .70), from all .42 (.30 to .55): quote the first." in said[0]
    monkeypatch.setattr(compare.cached_agreement, "adaptive", lambda view: replace(check, warn=False))
    compare.warn_of_adaptive_collection(None)
    assert len(said) == 1


def difference(value, low, high, paired=True) -> Difference:
    of = ("krippendorff_alpha", "nominal")
    return Difference(of, of, 0.61, 0.48, value, 0.02, low, high, 30, 40, 0.9, paired)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (difference(0.13, 0.02, 0.2), ".13 (.02 to .20): the interval leaves out 0.**"),
        (difference(-0.13, -0.2, -0.02), "-.13 (-.20 to -.02): the interval leaves out 0.**"),
        (difference(0.13, -0.02, 0.2, paired=False), ".13 (-.02 to .20): the interval holds 0.**"),
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
    assert said[2] == f"**α is .61 and .48; the difference is {words}"
    together = "Cases in both are resampled together" if found.paired else "The two share no case"
    assert said[3] == f"{together}. 1,000 resamples of the cases, seed 0."
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


def test_what_annotations_buy_is_said_for_new_and_for_present_cases(monkeypatch, said, drawn, left):
    def curve(how, now, then):
        points = (
            PrecisionPoint(extra, 10, 30, None, None, (0.01, 0.02), (low, high))
            for extra, (low, high) in ((0, now), (100, (0.9, 0.99)), (500, then))
        )
        return PrecisionCurve(how, tuple(points), None, "")

    curves = (
        curve("new_cases", (0.18, 0.21), (0.111, 0.111)),
        curve("present_cases", (0.18, 0.21), (0.152, 0.163)),
    )
    check = replace(CHECK, warn=False)
    monkeypatch.setattr(compare.cached_agreement, "precision", lambda view: curves)
    monkeypatch.setattr(compare.cached_agreement, "adaptive", lambda view: check)
    compare.precision(None, LIGHT)
    assert said[1] == (
        "The 95 % interval of SPA is **.210** wide. 500 more answers make it **.111** on new cases, "
        "**between .152 and .163** on the present ones."
    )
    assert "about equally often (8 of 80, 30 of 40 cases)" in said[-1]


def test_cases_in_which_all_agree_are_counted_among_those_with_two_annotations(monkeypatch, said, drawn, left):
    agreement = np.array([1.0, 0.5, np.nan, 1.0, 0.2])
    per_case = np.array([2, 3, 1, 2, 4])
    monkeypatch.setattr(agreement_parts.cached_agreement, "agreement", lambda view: (None, agreement, per_case))
    tables = []
    monkeypatch.setattr(widgets, "open_case_table", lambda frame, *_, **__: tables.append(frame))
    agreement_parts.cases(SimpleNamespace(cases=tuple("abcde")), LIGHT)
    assert drawn["case_agreement"].layout.title.text == "All raters agree in 2 of 4 cases"
    assert drawn["per_case"].layout.title.text == "2.4 annotations a case on average"
    assert tables[0].values.tolist() == [["e", 0.2, 4], ["b", 0.5, 3], ["a", 1.0, 2], ["d", 1.0, 2]]


def test_the_class_least_agreed_on_stands_in_the_title_with_its_own_interval(monkeypatch, drawn, left):
    found = (coefficient(0.5, 0.4, 0.58), coefficient(0.2, 0.1, 0.35), coefficient(None, None, None))
    monkeypatch.setattr(agreement_parts.cached_agreement, "by_class", lambda view: found)
    agreement_parts.by_class(SimpleNamespace(classes=("x", "y", "z")), LIGHT)
    assert drawn["by_class"].layout.title.text.replace("<br>", " ") == "Least agreed on: y, .20 (.10 to .35)"


def test_pairs_that_met_too_seldom_are_counted_among_all_pairs(said):
    n = np.array([[0, 5, 4, 9], [5, 0, 0, 7], [4, 0, 0, 6], [9, 7, 6, 0]])
    agreement_raters._say_what_is_shown(SimpleNamespace(n=n, raters=tuple("abcd")))
    assert " 2 of 6 pairs of raters share fewer than 5 answers and have no colour." in said[0]
    agreement_raters._say_what_is_shown(SimpleNamespace(n=n + 5, raters=tuple("abcd")))
    assert said[1].endswith("the interval stands in the hover.")


def test_two_raters_differ_on_some_of_their_pairs_of_answers(monkeypatch, said):
    """r answered case 0 twice: two pairs of answers there, of which one differs, and one case each elsewhere."""
    codes = np.array([0, 0, 0, 1, 1, 2, 2, 3]), np.array([0, 0, 1, 0, 1, 0, 1, 1]), np.array([0, 1, 0, 1, 0, 1, 1, 0])
    view = Dataset.from_classes("made", tuple("abcd"), ("r", "s"), ("x", "y"), *codes)
    monkeypatch.setattr(DeltaGenerator, "selectbox", lambda *a, key, **_: a[2][key == "pair_second"])
    monkeypatch.setattr(widgets, "open_case_table", lambda frame, *_, **__: said.append(frame.values.tolist()))
    agreement_raters._two(view, SimpleNamespace(raters=view.raters))
    assert said[0] == "**r** and **s** differ on 2 of 4 pairs of answers (2 cases). Choose a row to open the case."
    assert said[1] == [["a", "y", "x"], ["b", "y", "x"]]


# Upload


def test_facts_of_a_file_are_each_of_their_own_whole(monkeypatch, said):
    codes = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2]), np.array([0, 1, 1, 1, 0])
    data = Dataset.from_classes("made", tuple("abc"), ("r", "s", "t"), ("x", "y"), *codes)
    data = replace(data, gold=np.array([1, -1, 0]))
    report = SimpleNamespace(n_rows=11, n_kept=5, dropped=[(1, "no")] * 2, missing={"": 2, "n/a": 1})
    upload_report.in_words(SimpleNamespace(dataset=data, report=report))
    assert said[0] == "**3 cases · 3 raters · 5 answers · 2 classes**"
    assert said[1].split(" · ") == [
        "11 rows: 5 used, 2 left out",
        "no answer: 2 × empty, 1 × n/a",
        "1.7 answers a case (1 to 2)",
        "56% of all pairs of a case and a rater are answered",
        "2 groups that no case joins",
        "1.3 classes named a case",
        "2 cases of known class",
    ]
    upload_report.counts(data)
    assert said[2:] == ["Cases: 3", "Raters: 3", "Answers: 5", "Classes: 2"]


# Raters


def test_flags_that_stand_in_the_table_alone_are_counted(monkeypatch, said):
    page = functions_of("raters")
    labels = []
    monkeypatch.setattr(raters_table, "show", lambda *_, **__: None)
    monkeypatch.setattr(raters_table, "frame_of", lambda *_: None)
    monkeypatch.setattr(st, "expander", lambda label, **_: labels.append(label) or st.container())
    judged = SimpleNamespace(
        why_no_order="", why="too few", accuracy=SimpleNamespace(value=np.ones(2)), by_gold=np.array([True, False]),
        n_judged=2,
    )  # fmt: skip
    table = SimpleNamespace(raters=("ann", "bob"), false_alarms=0.02, notes=("A note.",))
    flags = tuple(Flag(place % 2, "drift", 0.01, f"words {place}") for place in range(page.MOST_LISTED + 7))
    page._all(table, SimpleNamespace(acceptable=judged, flags=flags), None, LIGHT)
    assert labels == [f"All {page.MOST_LISTED + 7} flags with the evidence"]
    assert sum(":material/flag:" in words for words in said) == page.MOST_LISTED
    assert ":material/flag: **bob** · Got worse over time: words 3" in said
    assert "7 more stand in the table." in said
    (honest,) = [words for words in said if "honest rater" in words]
    assert "with a probability of 2% at most" in honest
    assert "for 1 rater with 20 gold annotations or more; for the others by the other raters" in honest


COVERAGE = Coverage(
    raters=("a", "b", "c"), classes=("x", "y"), shared=np.array([[0, 4, 1], [4, 0, 2], [1, 2, 0]]), few=5,
    lacking=np.array([[0, 2], [1, 2], [0, 1]]), component=np.array([0, 0, 1]), n_components=4,
    answers_per_case=np.array([0, 12, 0, 1345]), class_cases=np.array([9.0, 3.0]), class_shared=np.array([7.0, 2.0]),
    class_met=np.ones((3, 2)), lacking_classes=np.array([1]), not_met=np.array([0, 1, 2]), odd_cycle=np.ones(3, bool),
    identified={}, notes=(),
)  # fmt: skip


def test_overlap_counts_groups_pairs_and_classes_each_under_its_own_name(monkeypatch, said, shown, left):
    monkeypatch.setattr(job_progress, "result_of", lambda *_, **__: COVERAGE)
    functions_of("raters")._coverage(SimpleNamespace(content_digest="digest"))
    assert said[:3] == [
        "Groups of raters without a case in common: 4",
        "Pairs of raters with fewer than 5 shared cases: 3",
        "Classes that few raters share: 1",
    ]
    assert shown["lacking_pairs"].values.tolist() == [["a", "c", 1], ["b", "c", 2], ["a", "b", 4]]
    assert "Cases by their number of answers: 12 with 1, 1,345 with 3." in said
    assert list(shown["rater_coverage"]["group"]) == [1, 1, 2]
    assert list(shown["class_coverage"]["class"]) == ["y", "x"]  # the one that lacks most stands first


def test_what_changes_without_a_rater_is_of_its_own_whole():
    change = Influence(
        ("ann",), n_annotations=11, n_cases=10, n_without=1, changed=np.arange(3), undecided=np.arange(5),
        decided=np.arange(7), percent=(coefficient(0.6, 0, 1), coefficient(0.7, 0, 1)),
        alpha=(coefficient(0.4, 0, 1), coefficient(None, None, None)), held_out=None, gold=(0.81, 0.92), n_gold=1234,
    )  # fmt: skip
    assert raters_act_on._words(change) == (
        "Of 10 cases with 11 annotations of this rater, 3 get another most probable class. Percent agreement "
        ".60 → .70, Krippendorff α .40 → –; 1 case has no other annotation; right by gold .81 → .92 of 1,234."
    )
    less = replace(change, n_without=2, gold=None, n_gold=0)
    assert raters_act_on._words(less).endswith("2 cases have no other annotation.")


def test_a_plan_says_how_many_of_its_worlds_reach_the_target(said, drawn, left):
    found = SimpleNamespace(
        goal=SimpleNamespace(target=0.1), extra=np.array([0, 100]), value=np.array([0.3, 0.2]),
        low=np.array([0.2, 0.1]), high=np.array([0.4, 0.3]), level=0.95, now=0.3125, needed=None, n_worlds=40,
        seed=7, share_met=0.35, notes=("A note.",), first_cases=tuple("abcdefghijklmn"), by_rater=np.array([1.0, 0.0]),
    )  # fmt: skip
    raters_plan._result(SimpleNamespace(raters=("ann", "bob")), found, LIGHT)
    assert said[0] == ("Now .312. 40 simulated worlds, seed 7; 35% of them reach the target within the budget.")
    assert said[2] == "**Ask about these first**: a, b, c, d, e, f, g, h, i, j, k, l …"


# Cases


def test_the_line_of_a_case_has_the_error_of_each_certainty_and_risk_by_its_own_name(said):
    risk = RiskResult(*(np.array([x]) for x in (0.62, 0.03, 0.71, 0.04, 2, 1.234)), np.array([[0.2, 0.3, 0.5]]))
    result = SimpleNamespace(certainty=np.array([[0.81, 0.92, np.nan]]), se=np.array([[0.011, 0.022, np.nan]]))
    one_case._summary(result, risk)
    assert said == [
        "Certainty of the first places: top-1 .81 ± .01, top-2 .92 ± .02 · risk high .71 ± .04 (of the top-1 class "
        ".62 ± .03) · expected risk 1.23 of 2"
    ]


# Models


@pytest.fixture(scope="module")
def fitted():
    return fit_request(request("dawid-skene"), load_sample("caries"))


def test_the_title_of_prevalence_has_vote_and_model_each_with_its_own_number(said, drawn, left, fitted):
    vote = MajorityVote().fit(fitted.dataset)
    prevalence = Spread(np.full(2, 0.01), np.array([0.71, 0.211]), np.array([0.79, 0.289]))
    known = SimpleNamespace(prevalence=prevalence)
    shown = replace(fitted, fit=replace(fitted.fit, prevalence=np.array([0.75, 0.25]), uncertainty=known))
    vote = replace(vote, prevalence=np.array([0.6, 0.4]))
    models_parts.prevalence([shown], shown, vote, LIGHT)
    words = drawn["prevalence"].layout.title.text.replace("<br>", " ")
    assert words == f"“{vote.classes[1]}”: 40.0% of cases by vote, 25.0% (21.1% to 28.9%) by {shown.title}"


def test_several_models_agree_on_cases_and_put_a_prevalence_between_the_least_and_the_most(fitted):
    ways = [np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]), np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])]
    data = SimpleNamespace(case_ptr=np.array([0, 2, 4, 5]))
    shares = np.array([0.6, 0.4]), np.array([0.75, 0.25])
    models = [
        replace(fitted, dataset=data, fit=replace(fitted.fit, class_probability=way, prevalence=share))
        for way, share in zip(ways, shares, strict=True)
    ]
    said = functions_of("models")._together(models, models[0])
    assert said == (
        f"2 models agree on the class of 2 of 3 cases, and put the prevalence of {fitted.fit.classes[0]} at 60% to 75%"
    )


def test_all_cases_of_a_model_leave_and_not_only_those_that_are_shown(monkeypatch, shown, left, fitted):
    data = fitted.dataset
    monkeypatch.setattr(models_parts, "MOST_ROWS", 3)
    models_parts.cases(fitted, MajorityVote().fit(data), LIGHT)
    vote, model = MajorityVote().fit(data).top_class(), fitted.fit.top_class()
    assert len(shown["differ"]) == 3
    assert set(left["model_cases_table"]["case"]) == {data.cases[case] for case in np.flatnonzero(vote != model)}


# Reviews


def test_minds_are_changed_of_those_who_saw_a_reveal(monkeypatch, shown):
    ada = Reviewer("Ada", 9, 7, coefficient(0.8, 0.4, 0.95), Minds(5, 2, coefficient(0.4, 0.1, 0.7), {}))
    monkeypatch.setattr(after, "by_reviewer", lambda *_: [ada])
    after._people(None, {})
    assert shown["review_people"].values.tolist() == [["Ada", 9, 7, ".80 (.40 to .95)", "2 of 5"]]


SETTLED = dict.fromkeys(("open", "in_progress"), 3) | {"closed": 5, "adjudicated": 6}


def test_figures_of_reviews_stand_under_their_own_names(monkeypatch, said, shown):
    found = SimpleNamespace(
        n_cases=40, n_reviewed=17, states=SETTLED, with_panel=coefficient(0.8, 0.6, 0.9, 11, 13),
        with_each_other=coefficient(0.7, None, None, 8, 19), alpha=coefficient(0.55, 0.3, 0.75),
        minds=SimpleNamespace(share=coefficient(0.25, 0.1, 0.5, 12, 16)), seconds=(31.0, 62.0, 240.0), n_timed=21,
    )  # fmt: skip
    monkeypatch.setattr(after, "summarise_reviews", lambda *_: found)
    for part in ("_people", "_lists"):
        monkeypatch.setattr(after, part, lambda *_: None)
    monkeypatch.setattr(after, "_bought", lambda *_: "bought")
    after.figures(SimpleNamespace(cases=lambda digest: {}), SimpleNamespace(digest=""), None, 1.0)
    assert said[1:] == [
        "bought",
        "Cases reviewed: 17 of 40",
        "11 of them settled",
        "Blind reads agree with the panel: .80",
        ".60 to .90 · 13 reads, 11 cases",
        "Blind reads agree with each other: .70",
        "no interval · 19 reads, 8 cases",
        "beyond chance (α) .55 (.30 to .75)",
        "Minds changed by the reveal: .25",
        ".10 to .50 · 16 minds, 12 cases",
        "Time on a case: 62 s, half of them between 31 s and 4 min; measured 21 times.",
    ]


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (Bought(0.61, 0.84, 3), "the 3 cases that they settled: mean certainty rises from **.61** to **.84**"),
        (Bought(0.84, 0.61, 1), "the case that they settled: mean certainty falls from **.84** to **.61**"),
    ],
)
def test_what_reviews_have_bought_is_said_before_and_after(monkeypatch, gain, words):
    monkeypatch.setattr(after, "with_reviews", lambda data, reviews, **_: SimpleNamespace(dataset=data))
    monkeypatch.setattr(after.plausibility_models, "data_for", lambda name, data, **_: data)
    monkeypatch.setattr(after, "bought", lambda *_, **__: gain)
    said = after._bought(SimpleNamespace(raters=()), {}, SimpleNamespace(name="dirichlet"), 3.0)
    assert words in said and said.endswith("(Dirichlet counts, reliability γ 3).")
