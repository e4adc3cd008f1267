"""A report is one file that loads nothing, shows the numbers of the functions behind it, and runs nobody's text."""

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core import load_sample, read
from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.coefficients import agreement_table
from core.analyses.base import declared_modules
from core.analyses.blocks import Figure, Grid, Section, Words
from core.analyses.raters.scores import sentences
from core.analyses.reliability.plausibilities import shape_table
from core.analysis_settings import AnalysisSettings
from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection
from core.certainty.plausibilities import plausibilities
from core.certainty.score_trust import score_trust
from core.certainty.scores_by_gold import scores_by_gold
from core.certainty.shares import CertaintyShares
from core.errors import Cancelled, InputError, NotApplicableError
from core.evaluation.choice import verdict
from core.evaluation.predictions import read_predictions
from core.evaluation.score_errors import errors_verdict, score_errors
from core.evaluation.score_predictions import open_score_predictions
from core.evaluation.sweep_table import reliability_sweep, sweep_part
from core.figures.theme import LIGHT
from core.ingest.formats.tables import open_table
from core.ingest.samples import SAMPLES, sample_predictions
from core.machines.alternative_test import alternative_test
from core.machines.equivalent_readers import equivalent_readers
from core.machines.marks import Machine
from core.machines.rates import machine_rates, people_labels
from core.machines.sentences import in_detail
from core.machines.sentences import verdict as said_of_machines
from core.machines.versions import version_drift
from core.methods import every_method
from core.models.catalogue import request
from core.models.majority import MajorityVote
from core.plausibility.gaussian_prior import fit_prior
from core.plausibility.protocol import offered
from core.raters.flagged_raters import flag_raters
from core.raters.following import following_of
from core.raters.monitoring import monitor
from core.raters.report_card import report_card
from core.raters.score_gold import score_gold
from core.raters.score_raters import score_raters
from core.report import data_sections, machine_section, part_sections, truth_sections
from core.report.build import SECTIONS, ReportRequest, build_report
from core.report.data_sections import provenance
from core.report.methods import SENTENCES, methods_text
from core.report.page import printed, to_html
from core.report.rater_card import rater_report
from core.report.truth_sections import certainty, classifiers
from core.review.assignments import Assignment, assignment_table
from core.review.chain import Head
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.random_sample import ReviewedBy
from core.review.rules import admit
from core.review.sessions import Queued
from core.review.states import CaseReview, open_to, review_of
from core.runtime.chunks import CancelToken
from core.text import number, percent, percent_with_interval
from tests.core.kinds import as_sets

NASTY = b"case,rater,class\n" + b"".join(
    b"</script><script>alert(1)</script>%d,<img src=x onerror=alert(1)>%d,![](http://x/y.png)%d\n"
    % (i // 3, i % 3, i % 2)
    for i in range(30)
)

IMG = "<img src=x onerror=alert(1)>"
HOSTILE = "case,rater,class\n" + "".join(
    f"c{case}{IMG},r{rater}{IMG},{'ab'[(case + (case * rater % 5 == 1)) % 2]}{IMG}\n"
    for case in range(40)
    for rater in range(4)
)


def request_of(dataset, source="data", **more) -> ReportRequest:
    """A report of a dataset with its usual model."""
    model = offered(dataset)[0].make()
    settings = AnalysisSettings(model, model.default_reliability, request("dawid-skene-empirical"))
    return ReportRequest(dataset, source, settings, (1.0, 3.0), n_draws=100, **more)


class Loads(HTMLParser):
    """Collects what a browser would run or load, and the text outside of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.loaded, self.tags, self.text, self.inside = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        self.loaded += [value for name, value in attrs if name in ("src", "srcset", "data", "action")]
        self.loaded += [value for name, value in attrs if name == "href" and not value.startswith("#")]

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.text.append(data)


def parsed(content: bytes) -> Loads:
    """The report as a browser would take it."""
    page = Loads()
    page.feed(content.decode())
    return page


@pytest.mark.parametrize("sample", [sample.name for sample in SAMPLES])
def test_every_sample_has_a_report_that_loads_nothing(sample):
    """The skin sample has all of its cases, so that the size of a file is that of much data."""
    dataset = load_sample(sample)
    dataset = dataset if sample == "skin" else dataset.select(cases=dataset.cases[:60])
    content, scored = sample_predictions(sample), dataset.kind == "score"
    found = () if content is None or scored else read_predictions(open_table(content), dataset, sample)
    threshold = 6.0 if scored else dataset.classes[0] if dataset.kind == "set" else None
    report = build_report(request_of(dataset, sample, classifiers=tuple(found), threshold=threshold))
    page = parsed(report)
    assert page.loaded == []
    assert len(report) <= 8_000_000
    absent = {"reviews", "gate", "groups", "order", "covariates", "study", *declared_modules()}
    there = [key for key in SECTIONS if key not in absent]
    there.remove("gold") if dataset.gold is None else None
    there.remove("scores") if not scored else None
    there = [key for key in there if found or key not in ("classifiers", "sets")]
    there.remove("machines") if not found or dataset.kind == "set" or not dataset.raters_identified else None
    n_classes = dataset.as_classes(threshold)[0].n_classes if dataset.kind != "class" else dataset.n_classes
    there.remove("guideline") if n_classes < 3 else None
    assert [attrs["id"] for tag, attrs in page.tags if tag == "section"] == ["summary", *there]
    text = " ".join(page.text)
    assert "NaN" not in text and "None" not in text.replace("None of the", "")
    for figure in re.findall(rb'<script type="application/json" id="figure-\d+">(.*?)</script>', report):
        assert json.loads(figure).keys() == {"light", "dark"}


def test_of_sets_the_report_names_the_label_that_its_shares_are_of():
    dataset = as_sets(load_sample("caries"))
    label = dataset.classes[1]
    found = build_report(request_of(dataset, threshold=label), ["agreement", "certainty"])
    text = " ".join(parsed(found).text)
    said = f"This report covers only the label {label}. Each annotation either has this label or does not."
    assert said in text.split("Data overview.")[0]
    assert f"annotations name “{label}”." in text.split("The least certain cases.")[1]
    assert said not in " ".join(parsed(build_report(request_of(load_sample("caries")), ["agreement"])).text)


def test_the_report_has_soft_labels_another_model_further_metrics_and_simulated_ratings():
    dataset = load_sample("skin").select(cases=load_sample("skin").cases[:40])
    found = read_predictions(open_table(sample_predictions("skin")), dataset, "skin")
    asked = request_of(dataset, classifiers=tuple(found))
    text = " ".join(parsed(build_report(asked, ["raters", "certainty", "classifiers"])).text)
    shape = shape_table(plausibilities(asked.model, dataset, reliability=asked.reliability, n_draws=100))
    assert shape["n_cases"].sum() == 40
    said = f"{shape['n_cases'][0]:,} of 40 cases ({percent(shape['share'][0])}) have a class with a mean plausibility"
    assert said in text
    assert "The same cases under another model" in text and "Certainty is not a target" in text
    for title in ("Kendall", "footrule", "top-2 target within", "Jensen"):
        assert title.casefold() in text.casefold(), title
    few = " ".join(parsed(build_report(request_of(load_sample("anaesthesia")), ["raters"])).text)
    assert "for an average rater" in few and "These ratings are simulated and do not use your data." in few
    alone = " ".join(parsed(build_report(request_of(dataset), ["agreement", "classifiers"])).text)
    assert "Soft labels" not in alone and "Further metrics" not in alone


def test_the_numbers_are_those_of_the_functions():
    dataset = load_sample("caries")
    text = " ".join(parsed(build_report(request_of(dataset), ["agreement"])).text)
    for row in agreement_table(class_counts(dataset), dataset=dataset):
        assert number(row.value, 3) in text and number(row.ci_low, 3) in text
    assert f"{coefficients_for(dataset).words()}." in text


def test_nothing_that_stands_in_the_data_is_run_or_loaded():
    report = build_report(request_of(read(NASTY).dataset))
    page = parsed(report)
    assert page.loaded == []
    assert "img" not in [tag for tag, _ in page.tags]
    assert b"<script>alert" not in report
    assert sum(tag == "script" and "type" not in attrs for tag, attrs in page.tags) == 2


def hostile_files() -> dict[str, bytes]:
    """A report and a rater's card of data whose every name is markup."""
    dataset = read(HOSTILE.encode(), name=f"data{IMG}").dataset
    table = monitor(dataset)
    return {
        "report": build_report(request_of(dataset, f"file{IMG}.csv")),
        "card": rater_report(report_card(table, flag_raters(table), table.raters[1]), dataset.name),
    }


def test_names_that_are_markup_are_shown_letter_for_letter():
    shown = {
        "report": ("data", "file", "c", "r0", "r1", "r2", "r3", "a", "b"),
        "card": ("data", "r1", "c", "a", "b"),
    }
    for kind, content in hostile_files().items():
        page = parsed(content)
        text = " ".join(page.text)
        for name in shown[kind]:
            assert re.search(rf"\b{name}\d*{re.escape(IMG)}", text), (kind, name)
        assert page.loaded == []
        assert "img" not in [tag for tag, _ in page.tags]
        assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
        assert b"<img" not in content.partition(b"</main>")[0]
        for figure in re.findall(rb'<script type="application/json" id="figure-\d+">(.*?)</script>', content):
            assert b"<" not in figure


def test_every_part_of_a_file_escapes_what_it_is_given():
    mark = "\"'><b onclick=x>&amp;"
    blocks = [Words(mark, kind) for kind in ("text", "lead", "note", "legend", "code")]
    blocks.append(Grid(pd.DataFrame({mark: [mark, None], "n": [1, 2]}), mark))
    page = parsed(to_html(mark, [Section(mark, mark, tuple(blocks))], mark))
    assert not [attrs for tag, attrs in page.tags if tag == "b" or "onclick" in attrs]
    # Two titles, a link, a heading, five words, a caption, a head, a cell and the footer.
    assert sum(text == mark for text in page.text) == 13
    kinds = [attrs["class"] for tag, attrs in page.tags if tag == "p" and "class" in attrs]
    assert kinds[:4] == ["text", "lead", "note", "note"]  # a legend is a note on paper
    assert [attrs["id"] for tag, attrs in page.tags if tag == "section"] == [mark]


def test_control_characters_do_not_reach_the_file_and_code_keeps_its_lines():
    words = (Words("a\x00b\x1b\u2028c"), Words('{\n "x": 1\n}', "code"))
    page = parsed(to_html("t", [Section("k", "s", words)], "f"))
    assert "a b c" in page.text and '{\n "x": 1\n}' in page.text


def test_the_policy_of_the_file_allows_its_own_scripts_and_no_request():
    content = to_html("t", [Section("k", "s", (Words("w"),))], "f").decode()
    metas = [attrs for tag, attrs in parsed(content.encode()).tags if tag == "meta" and "http-equiv" in attrs]
    assert [attrs["http-equiv"] for attrs in metas] == ["Content-Security-Policy"]
    assert content.index("Content-Security-Policy") < min(content.index("<style>"), content.index("<script>"))
    rules = dict(rule.split(" ", 1) for rule in metas[0]["content"].split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", content, re.S)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(scripts) == 2 and rules["script-src"].split() == [f"'sha256-{one}'" for one in hashes]
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert rules["img-src"] == "data: blob:" and rules["style-src"] == "'unsafe-inline'"


def test_scores_are_reported_by_their_threshold():
    rows = b"".join(b"%d,%d,%.2f\n" % (i // 4, i % 4, i * 0.37 % 5) for i in range(80))
    text = " ".join(parsed(build_report(request_of(read(b"case,rater,score\n" + rows).dataset, threshold=2.5))).text)
    assert "at most 2.5, and above 2.5" in text and "--threshold 2.5" in text


def test_scores_without_a_threshold_are_reported_as_scores_and_never_as_two_classes():
    dataset = load_sample("essays")
    found = open_score_predictions("essays", sample_predictions("essays"), dataset)
    page = parsed(build_report(request_of(dataset, "essays", classifiers=found)))
    there = [attrs["id"] for tag, attrs in page.tags if tag == "section"]
    assert there == ["summary", "agreement", "scores", "machines", "methods", "data"]
    text = " ".join(page.text)
    assert f"{coefficients_for(dataset).words()}." in text
    errors = score_errors(dataset, fit_prior(dataset).model(), found, reliability=1.0, n_draws=100)
    assert errors_verdict([errors]) in text and number(errors.mean[1, 0], 3) in text
    assert "python -m core raters essays" in text
    advice = "set a threshold to divide them into classes"  # why coefficients of classes are left out
    assert "threshold" not in text.replace('"threshold": null', "").replace(advice, "") and "or above" not in text


def test_what_the_data_do_not_allow_is_said():
    text = " ".join(parsed(build_report(request_of(read(b"case,rater,class\n1,a,x\n2,b,y\n3,a,x\n").dataset))).text)
    lone = "every case has only one annotation, so nothing can be compared."
    assert text.count(lone) == 2 and f"Not possible: {lone}" in text and f"Cannot fit rater models: {lone}" in text
    assert "Does the best classifier depend on γ?" not in text  # nothing to say: not there
    assert "What to do" in text and "Add a second annotation to 3 cases." in text
    assert "mean certainty" not in text and "More raters" not in text


@pytest.mark.parametrize(
    ("below", "words"),
    [
        (1, "1 case: a"),
        (2, "2 cases, the least certain first: a, b"),
        (6, "6 cases, the least certain first: a, b, c, d, e, f"),
        (40, "40 cases, the least certain first: a, b, c, d, e, f …"),
    ],
)
def test_a_report_asks_about_uncertain_cases_alone(monkeypatch, below, words):
    monkeypatch.setattr(truth_sections, "any_coefficient", lambda *_: SimpleNamespace(possible=False))
    (asked,) = truth_sections._ask_about(None, [*"abcdefgh", *"-" * 40][:below], shares_with(below))
    assert asked.text == f"Ask for another opinion on {words}"
    assert truth_sections._ask_about(None, [], shares_with(0)) == []


def test_a_report_asks_about_no_case_with_gold_or_a_decision_or_that_others_must_decide(monkeypatch):
    monkeypatch.setattr(truth_sections, "any_coefficient", lambda *_: SimpleNamespace(possible=False))
    rows = [f"{case},r{rater},{'xy'[(case + rater) % 2]}" for case in range(12) for rater in range(4)]
    dataset = read("\n".join(["case,rater,class", *rows]).encode()).dataset
    dataset = replace(dataset, gold=np.array([0, 1] + [-1] * 10, np.int32))
    states = {"2": "closed", "3": "adjudicated", "4": "arbitration", "5": "second_opinion", "6": "skipped", "7": "read"}

    def asked(states, data=dataset):
        reviews = {case: CaseReview(case, state=state) for case, state in states.items()}
        blocks = certainty(request_of(data, reviews=reviews), ["certainty"], CancelToken(), None)
        least = next(block.table for block in blocks if isinstance(block, Grid))["case"].tolist()
        return least, [block.text for block in blocks if getattr(block, "kind", None) == "todo"]

    least, said = asked(states)
    left = [case for case in least if case not in {"0", "1", "2", "3", "4", "5"}]
    first = ", the least certain first: " + ", ".join(left)
    assert said == [f"Ask for another opinion on 6 of 12 uncertain cases{first}"]
    assert asked(dict.fromkeys(dataset.cases, "closed"))[1] == []
    _, (said,) = asked({}, replace(dataset, gold=np.zeros(12, np.int32)))  # as queues, which would be empty
    assert said.startswith("Ask for another opinion on 12 cases, ")


def shares_with(n_uncertain, n=50):
    """Shares of 50 cases with two annotations each, the first of them uncertain."""
    none = np.zeros(n, bool)
    return CertaintyShares(np.arange(n) < n_uncertain, none, none, 0.9, 2, None)


def test_of_two_who_differ_the_report_names_no_class_as_more_plausible_and_does_not_send_for_more_opinions():
    """As pages do: of annotations that contradict each other more would settle nothing."""
    rows = [f"{case},{rater},{'ny'[(case % 3 == 0) != (rater == 'b')]}" for case in range(60) for rater in "ab"]
    text = " ".join(
        parsed(build_report(request_of(read("\n".join(["case,rater,class", *rows]).encode()).dataset))).text
    )
    assert "Raters contradict each other; agreement is clearly below chance" in text
    assert "Ask for another opinion" not in text and "n or y" in text


def test_the_summary_answers_each_question_with_the_first_sentence_of_its_section():
    dataset = load_sample("anaesthesia")
    parts = {"agreement": data_sections.agreement, "raters": data_sections.raters, "certainty": certainty}
    report = build_report(request_of(dataset), list(parts))
    text = report[: report.index(b'<section id="agreement"')].decode()
    leads = [build(request_of(dataset), list(parts), CancelToken(), None)[0].plain for build in parts.values()]
    assert all(lead in html.unescape(text) for lead in leads)
    assert 'id="summary"' in text and 'id="summary"' not in build_report(request_of(dataset), ["agreement"]).decode()


def test_decisions_of_reviews_have_a_section_with_what_waits():
    dataset = read(b"case,rater,class\n1,a,x\n1,b,x\n2,a,y\n2,b,y\n").dataset
    x, y = Opinion.of_class("x"), Opinion.of_class("y")
    reviews = {}
    for case, said in (("1", x), ("2", x)):
        review = CaseReview(case)
        for step in ({"kind": "opinion", "opinion": said}, {"kind": "reveal", "panel": x if case == "1" else y},
                     {"kind": "keep"}):  # fmt: skip
            event = admit(review, Draft(dataset=dataset.digest, case_id=case, reviewer="Ada", **step), 0)
            review = review_of(case, [*review.events, event])
        reviews[case] = review
    request = request_of(dataset, reviews=reviews)
    lead, todo, rests, *_, listed = part_sections.reviews(request, ["reviews"], None, None)
    assert rests.text.startswith("1 case is settled: 1 by one reviewer. A single reviewer's opinion is not the truth.")
    assert lead.text == "2 of 2 cases reviewed, 1 settled, 1 in arbitration."
    assert (todo.kind, todo.text) == ("todo", "Decide 1 case in arbitration.")
    assert listed.table[["case", "decision", "state"]].values.tolist() == [
        ["1", "x", "closed"], ["2", "x", "in arbitration"]
    ]  # fmt: skip
    by = ReviewedBy({}, 3, 0)
    blocks = part_sections.reviews(replace(request, reviewed=by), ["reviews"], None, None)
    assert by.words() in [block.plain for block in blocks if isinstance(block, Words)]
    nobody = part_sections.reviews(request_of(dataset, reviews={"1": reviews["1"]}), ["reviews"], None, None)
    assert any("– (undefined: no" in block.plain for block in printed(nobody) if isinstance(block, Words))
    assert part_sections.reviews(request_of(dataset), ["reviews"], None, None) == []
    assert open_to(reviews, "Ada") == (reviews, 0)
    shown, n_kept_back = open_to(reviews, "Bob")
    assert (shown, n_kept_back) == ({}, 2), "he can read both blind"
    (said,) = part_sections.reviews(request_of(dataset, reviews=shown, n_kept_back=2), ["reviews"], None, None)
    assert said.text.startswith("Other people's reviews of 2 cases are left out")
    bobs = admit(reviews["1"], Draft(dataset=dataset.digest, case_id="1", reviewer="Bob", kind="opinion", opinion=y), 0)
    shown, n_kept_back = open_to({"1": review_of("1", [*reviews["1"].events, bobs])}, "Bob")
    assert ([event.reviewer for event in shown["1"].events], n_kept_back) == (["Bob"], 1), "his own stays his"


def test_the_settings_give_the_same_numbers_on_the_command_line():
    dataset = load_sample("skin")
    text = " ".join(parsed(build_report(request_of(dataset, "skin"), ["data"])).text)
    assert "certainty plackett-luce skin --alpha 1.0 --draws 100 --seed 0 --reliability 3" in text
    settings = json.loads(re.search(r"\{.*?\n\}", text, re.S).group())
    assert settings["digest"] == dataset.digest and settings["reliabilities"] == [1.0, 3.0]


def test_cases_raters_and_annotations_are_counted_in_this_order():
    dataset = load_sample("caries")
    request = replace(request_of(dataset), record=Head(7, "f" * 64))
    table = provenance(request, ["data"], None, None)[0].table.set_index("what")["value"]
    assert table["record of reviews"] == f"7 events, last hash {'f' * 64}"
    expected = ", ".join(f"{n:,}" for n in (dataset.n_cases, dataset.n_raters, dataset.n_annotations))
    assert len({dataset.n_cases, dataset.n_raters, dataset.n_annotations}) == 3
    assert table["cases, raters, annotations"] == expected and table["digest of the content"] == dataset.digest


def test_the_least_certain_cases_stand_with_their_own_risk():
    """Unanimous cases of a harmless or of a dangerous class, the surest first in the data."""
    votes = [(0, 6), (1, 5), (0, 4), (1, 3), (1, 2), (0, 1)]
    case = np.repeat(np.arange(6), [n for _, n in votes])
    rater = np.concatenate([np.arange(n) for _, n in votes])
    answer = np.repeat([code for code, _ in votes], [n for _, n in votes])
    made = Dataset.from_classes("made", list("abcdef"), list("rstuvw"), ["mild", "grave"], case, rater, answer)
    made = replace(made, class_risk=np.array([0, 2], np.int8))
    blocks = certainty(request_of(made), ["certainty"], None, None)
    listed, *_ = [block.table for block in blocks if isinstance(block, Grid)]
    assert listed["case"].tolist() == list("edcbaf") and (np.diff(listed["certainty"][:5]) >= 0).all()
    assert np.isnan(listed["certainty"][5]) and listed["more raters"].iloc[-1] == "one annotation"
    assert listed["most plausible"].tolist() == ["grave", "grave", "mild", "grave", "mild", "mild"]
    assert listed["risk"].tolist() == ["high", "high", "low", "high", "low", "low"]


def test_classifiers_stand_at_each_trust_with_their_own_ends_and_number_of_cases():
    """Seven classes, so that the first three of a list count; one classifier predicts two cases fewer."""
    rng = np.random.default_rng(3)
    case, rater = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    answer = np.where(rng.random(48) < 0.6, case % 7, rng.integers(7, size=48))
    made = Dataset.from_classes("made", list("abcdefghijkl"), list("rstu"), list("ABCDEFG"), case, rater, answer)
    rows = [
        f"{name},{case_id},{'ABCDEFG'[code]},{rng.random():.3f}"
        for name, cases in (("net", "abcdefghijkl"), ("tree", "abcdefghij"))
        for case_id in cases
        for code in rng.permutation(7)
    ]
    found = read_predictions(open_table("\n".join(["classifier,case,class,score", *rows]).encode()), made, "made")
    request = request_of(made, classifiers=tuple(found), seed=5)
    blocks = list(printed(classifiers(request, ["classifiers"], None, None)))
    (picture, *_), (grid, *_) = ([one for one in blocks if isinstance(one, kind)] for kind in (Figure, Grid))
    how = {"classifiers": found, "n_draws": 100, "seed": 5}
    sweep = reliability_sweep(request.model, made, (1.0, 3.0), **how)
    assert (blocks[0].plain, blocks[0].kind) == (
        f"{verdict(sweep.reliabilities, sweep.evaluation, 'top3_accuracy')}.", "lead"
    )  # fmt: skip
    every = sweep.to_frame("classifiers")
    expected = every[every["metric"] == "top3_accuracy"].drop(columns="metric")
    assert expected["classifier"].tolist() == ["net", "tree"] * 2 and expected["n_cases"].tolist() == [12, 10, 12, 10]
    pd.testing.assert_frame_equal(grid.table, expected.reset_index(drop=True))
    assert grid.caption.startswith("top-3 accuracy over draws")
    lines = [trace for trace in picture.draw(LIGHT).data if trace.mode == "lines+markers"]
    mean = expected["mean"].tolist()
    assert [list(line.y) for line in lines] == [mean[::2], mean[1::2]]


def test_a_class_that_falls_may_be_the_most_moved_by_weighing_raters(monkeypatch):
    table = monitor(load_sample("anaesthesia"))
    vote = MajorityVote().fit(load_sample("anaesthesia"))
    moved = np.zeros(len(vote.classes))
    moved[:3] = 0.03, 0.04, -0.07
    fit = replace(table.panel.fit, prevalence=vote.prevalence + moved)
    monkeypatch.setattr(AnalysisSettings, "weigh", lambda *_: fit)
    blocks = data_sections.raters(request_of(load_sample("anaesthesia")), ["raters"], None, None)
    picture = next(block for block in blocks if isinstance(block, Figure))
    title = picture.draw(LIGHT).layout.title.text.replace("<br>", " ")
    before = vote.prevalence[2]
    assert title.startswith(f"“{vote.classes[2]}”: {before:.0%} of cases by majority vote, {before - 0.07:.0%} by ")


def test_a_selection_is_said_and_stands_in_the_commands():
    chosen = Selection(raters=("R01", "R02"))
    dataset = chosen.apply(load_sample("skin"))
    text = " ".join(
        parsed(build_report(request_of(dataset, "skin", selection=chosen, selected="two raters"), ["data"])).text
    )
    assert "two raters" in text
    assert """--select '{"raters":["R01","R02"]}'""" in text


@pytest.mark.parametrize("sections", [[], ["agreement", "what"]])
def test_a_section_that_there_is_none_of_is_refused(sections):
    with pytest.raises(InputError, match="Sections: agreement"):
        build_report(request_of(load_sample("anaesthesia")), sections)


def test_a_report_can_be_cancelled_and_says_how_far_it_is():
    token, shares = CancelToken(), []
    build_report(request_of(load_sample("anaesthesia")), ["agreement", "methods"], progress=shares.append)
    assert shares[0] == 0 and shares == sorted(shares)
    token.cancel()
    with pytest.raises(Cancelled):
        build_report(request_of(load_sample("anaesthesia")), token=token)


def test_draws_are_made_once_for_all_sections_and_give_what_each_would_draw(monkeypatch):
    dataset = load_sample("skin")
    content = sample_predictions("skin")
    asked = request_of(dataset, classifiers=tuple(read_predictions(open_table(content), dataset, "made")))
    asked = replace(asked, n_draws=20)
    parts, drawn, answers = ["agreement", "certainty", "classifiers", "sets"], [], []

    def part(reliability, token, progress):
        drawn.append(reliability)
        return sweep_part(
            asked.model, dataset, reliability, n_draws=asked.n_draws, seed=0, token=token, progress=progress
        )

    with monkeypatch.context() as patched:
        patched.setattr(truth_sections, "drawn_once", lambda request: request.part)
        alone = build_report(asked, parts)
    monkeypatch.setattr(truth_sections, "sweep_part", counted := Counted(truth_sections.sweep_part))
    assert build_report(asked, parts, answered=lambda *answer: answers.append(answer)) == alone
    assert sorted(counted.reliabilities) == sorted({asked.reliability, *asked.reliabilities})
    assert build_report(replace(asked, part=part), parts) == alone and set(drawn) == set(counted.reliabilities)
    text = " ".join(parsed(alone).text)
    assert [title for title, answer in answers if answer] == [SECTIONS[key] for key in parts[:3]]
    assert all(title in text and answer in text for title, answer in answers)
    # Classifiers of rankings are compared with raters, too, as on the page of AI raters.
    assert machine_section._compared(asked)[1] == tuple(one.name for one in asked.classifiers)
    answers.clear()  # data without reviews and without a study
    build_report(asked, ("agreement", "reviews", "study"), answered=lambda *answer: answers.append(answer))
    assert [bool(answer) for _, answer in answers] == [True, False, False]
    assert [title for title, _ in answers] == [SECTIONS[key] for key in ("agreement", "reviews", "study")]


class Counted:
    """A function that notes the reliabilities that it is called with."""

    def __init__(self, function):
        self.function, self.reliabilities = function, []

    def __call__(self, model, dataset, reliability, **how):
        self.reliabilities.append(reliability)
        return self.function(model, dataset, reliability, **how)


def test_the_methods_number_their_sources_and_name_each_once():
    text = methods_text([*SENTENCES, *(method.name for method in every_method() if method.sentence)])
    cited = {int(number) for group in re.findall(r"\[([\d, ]+)\]", text) for number in group.split(", ")}
    assert cited == set(range(1, len(cited) + 1))
    for place in cited:
        assert len(re.findall(rf"\[{place}\] [A-Z]", text)) == 1


def test_a_report_of_scores_has_raters_and_plausible_scores_of_the_threshold():
    dataset = load_sample("essays")
    request = request_of(dataset, "essays", threshold=6.0)
    blocks = part_sections.scores(request, ["scores"], None, None)
    raters = score_raters(dataset)
    following = following_of(dataset)
    first, *rest = sentences(following)
    assert blocks[0].text == f"{first}." and blocks[0].kind == "lead"
    assert [block.text for block in blocks[1 : len(rest) + 1]] == [f"{one}." for one in rest]
    grids = [block for block in printed(blocks) if isinstance(block, Grid)]
    assert sorted(grids[0].table["severity"]) == sorted(raters.severity.tolist())
    trust = score_trust(dataset, fit_prior(dataset).model(6.0), [1.0])
    table = grids[1].table
    widest = int(np.argmax(trust.width[0]))
    assert table["case"].iloc[0] == dataset.cases[widest]
    assert table["P(above 6)"].iloc[0] == trust.above[0, widest]
    said = " ".join(block.plain for block in blocks if isinstance(block, Words))
    assert f"to within {np.median(trust.width) / 2:.1f}" in said
    assert part_sections.scores(request_of(load_sample("anaesthesia"), "anaesthesia"), ["scores"], None, None) == []
    gold = replace(dataset, gold_scores=np.linspace(1, 9, dataset.n_cases))
    more = part_sections.scores(request_of(gold, "essays", threshold=6.0), ["scores"], None, None)
    against = score_gold(gold)
    said = [block.plain for block in more if isinstance(block, Words)]
    assert f"{against.words(1)}." in said and scores_by_gold(gold, trust).words(0, 2) in said
    by_gold = [block.table for block in more if isinstance(block, Grid) and "bias" in block.table]
    assert by_gold[0]["bias"].tolist() == against.bias.tolist()


@pytest.mark.parametrize(
    ("rows", "raters", "prior"),
    [("1,a,1.5\n2,b,2.5\n3,a,4\n", "Cannot estimate severity: no case", "no case has two scores."),
     ("1,a,2.5\n1,b,2.5\n2,a,2.5\n2,b,2.5\n", "Raters cannot be compared: all scores", "all scores are equal.")],
)  # fmt: skip
def test_of_scores_that_tell_nothing_of_raters_or_cases_the_report_says_why(rows, raters, prior):
    dataset = read(f"case,rater,score\n{rows}".encode()).dataset
    of_raters, of_cases = part_sections.scores(request_of(dataset, "few"), ["scores"], None, None)
    assert of_raters.text.startswith(raters) and of_raters.text.count(":") == 1
    assert of_cases.text.startswith(f"Plausible scores are not available. Could not fit the prior: {prior}")
    assert of_raters.kind == of_cases.kind == "note"


def raised(error):
    raise error


def test_rates_of_a_machine_are_reported_where_it_labelled_what_people_did_not():
    rows = [f"{c},{r},{'xy'[(c + (r == 'b')) % 4 == 0]}" for c in range(60) for r in "ab"]
    rows += [f"{c},gpt,{'xy'[c % 3 == 0]}" for c in range(300)]
    whole = read("\n".join(["case,rater,class", *rows]).encode()).dataset
    people = whole.select(raters=["a", "b"])
    request = replace(request_of(people), machines=("gpt",), with_machines=whole)
    text = " ".join(parsed(build_report(request, ["machines"])).text)
    found = machine_rates(whole, "gpt", people_labels(whole, ["a", "b"]))
    x = next(one for one in found.rates if one.of == "x")
    assert percent_with_interval(x.corrected.estimate, x.corrected.ci_low, x.corrected.ci_high) in text
    assert (
        "People labelled 60 of 300 cases" in text
        and "with annotations by at least two people were left out because" not in text
    )
    said = [row for row in rows if not row.startswith(("0,gpt", "1,gpt"))]
    fewer = replace(request, with_machines=read("\n".join(["case,rater,class", *said]).encode()).dataset)
    text = " ".join(parsed(build_report(fewer, ["machines"])).text)
    assert (
        "2 of 60 cases with annotations by at least two people were left out because gpt did not annotate them." in text
    )
    same = whole.select(cases=people.cases)
    request = replace(request, with_machines=same)
    assert "People labelled" not in " ".join(parsed(build_report(request, ["machines"])).text)
    alone = "\n".join(["case,rater,class", *rows, *(f"{c},lone,x" for c in range(60, 90))]).encode()
    request = replace(request, with_machines=read(alone).dataset, machines=("gpt", "lone"))
    text = " ".join(parsed(build_report(request, ["machines"])).text)
    assert " Cannot estimate rates: fewer than two of the cases that lone annotated have a label from people." in text
    assert ": Cannot" not in text, "one message in another"
    assert "fewer than two of the cases that gpt annotated" not in text and "People labelled 60 of 300 cases" in text


def test_machines_of_a_report_stand_apart_from_its_panel(monkeypatch):
    whole = load_sample("replies")
    people = whole.select(raters=[name for name in whole.raters if name.startswith("reader")])
    request = replace(request_of(people), machines=("lyra-1", "lyra-2"), with_machines=whole)
    text = " ".join(parsed(build_report(request, ["machines"])).text)
    found = alternative_test(whole, ["lyra-1", "lyra-2"])
    assert said_of_machines(found) in text and in_detail(found.machines[0], 0.2) in text
    assert equivalent_readers(whole, "lyra-2", people.raters).words() in text
    assert "an AI rater that shares their errors can pass" in text
    odd = replace(request, classifiers=(SimpleNamespace(name="odd"),))
    monkeypatch.setattr(machine_section, "of_predictions", lambda *_: raised(NotApplicableError("No case in common.")))
    assert "odd is left out. No case in common." in " ".join(parsed(build_report(odd, ["machines"])).text)
    families = tuple(Machine(name, "Vega", version) for name, version in (("lyra-1", "2"), ("lyra-2", "1")))
    (drift,) = version_drift(whole, families, people.raters)
    told = " ".join(parsed(build_report(replace(request, marks=families), ["machines"])).text)
    assert drift.words() in told and drift.words().startswith("Vega: ") and drift.words() not in text
    nothing = build_report(request_of(people), ["machines"])
    assert "replace a rater" not in " ".join(parsed(nothing).text)


def test_the_section_on_reviews_says_what_was_assigned_also_before_anybody_reviews():
    dataset = load_sample("anaesthesia")
    cases = tuple(map(Queued, dataset.cases[:3]))
    said = {"dataset": dataset.digest, "by": "<b>Mia</b>", "cases": cases, "at": 10**15}
    given = [
        Assignment(whom="Bob", title="late", due=date(2020, 1, 2), number=1, **said),
        Assignment(whom="night", group=True, title="of a group", number=2, **said),
        Assignment(whom="Cem", title="taken back", number=3, withdrawn=True, **said),
    ]
    request = request_of(dataset, assigned=assignment_table(given, []))
    (grid,) = part_sections.reviews(request, (), CancelToken(), None)
    assert grid.caption.startswith("2 assignments, 1 overdue. Each group member")
    assert grid.table["whom"].tolist() == ["Bob", "night"] and grid.table["n_done"].tolist()[0] == 0
    content = build_report(request, ("reviews",)).decode()
    assert "&lt;b&gt;Mia" in content and "<b>Mia" not in content and "taken back" not in content
    assert part_sections.reviews(request_of(dataset), (), CancelToken(), None) == []


def test_without_names_of_raters_none_are_counted_and_the_commonest_class_comes_first():
    """A report of 419 classes began with sixty of the alphabet that hardly anybody has."""
    rows = ["case,calm,angry,sad", *(f"{i},{i % 3 // 2 * 3},{3 - i % 3 // 2 * 3},0" for i in range(12))]
    request = request_of(read("\n".join(rows).encode(), name="counts of moods").dataset)
    page = build_report(request, ["raters", "data"]).decode()
    assert "12 cases, raters without names" in page and "3 raters" not in page and "12, not named, 36" in page
    said, _, table = data_sections.raters(request, ["raters"], None, None)[-3:]
    assert said.text == "Cannot fit rater models: the annotations are anonymous."
    assert table.table["class"].tolist() == ["angry", "calm"]
