"""Every cell of every table of a report is the number that it is called, read from results with no number twice."""

from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core import load_sample
from core.agreement import applicable_coefficients
from core.analyses import reviews as review_figures
from core.analyses.agreement import coefficients
from core.analyses.blocks import Figure, Grid, Words
from core.analyses.cases import scores as case_scores
from core.analyses.raters import scores
from core.analyses.raters import table as all_raters
from core.analyses.reliability import predictors
from core.analyses.schema import SHARES, Column
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import RISK_LEVELS, Dataset
from core.certainty.explain import why
from core.certainty.score_trust import score_trust
from core.errors import NotApplicableError
from core.evaluation.corrected_rates import CorrectedRate
from core.evaluation.prediction_sets import possible_promise, prediction_sets
from core.evaluation.predictions import read_predictions
from core.evaluation.score_predictions import open_score_predictions
from core.evaluation.sweep_table import kept_plausibilities, reliability_sweep
from core.figures.agreement import title_of
from core.figures.theme import LIGHT
from core.ingest.formats.tables import open_table
from core.ingest.samples import sample_predictions
from core.machines.alternative_test import AgainstRater, AlternativeTest, MachineStanding
from core.machines.rates import MachineRate, MachineRates
from core.models.catalogue import request
from core.models.choose import choose
from core.models.gold_measures import gold_measures
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian_prior import fit_prior
from core.plausibility.protocol import offered
from core.raters.following import following_of
from core.raters.score_raters import score_raters
from core.report import data_sections, machine_section, page, part_sections, truth_sections
from core.report.build import ReportRequest, build_report
from core.report.truth_sections import certainty, sets
from core.review.assignments import ASSIGNMENT_COLUMNS
from core.review.decisions import Decision
from core.review.opinions import REASONS, Opinion
from core.review.states import STATES
from core.review.summary import Settled, Summary
from core.text import percent
from tests.core.raters.raters_simulated import simulated


def never_twice(start=0):
    """Numbers below 1 that look as if drawn, no two of them alike to three digits."""
    return (round((137 * place) % 887 / 1000 + 0.05, 3) for place in count(start + 1))


def made_up(found, numbers):
    """A result like ``found`` whose every number is one that is met once."""
    if isinstance(found, bool | np.bool_) or found is None:
        return found
    if isinstance(found, float | np.floating):
        return next(numbers)
    if isinstance(found, int | np.integer):
        return int(1000 * next(numbers)) + 1000
    if isinstance(found, np.ndarray) and found.dtype.kind in "fi":
        drawn = [next(numbers) for _ in range(found.size)]
        scale = 1 if found.dtype.kind == "f" else 1000
        return (np.array(drawn).reshape(found.shape) * scale).round(3).astype(found.dtype)
    if isinstance(found, tuple):
        return tuple(made_up(one, numbers) for one in found)
    if is_dataclass(found):
        return replace(found, **{each.name: made_up(getattr(found, each.name), numbers) for each in fields(found)})
    return found


def request_of(dataset, **more) -> ReportRequest:
    model = offered(dataset)[0].make()
    settings = AnalysisSettings(model, model.default_reliability, request("dawid-skene-empirical"))
    return ReportRequest(dataset, "data", settings, (1.0, 3.0), n_draws=60, **more)


def grids(blocks) -> list[pd.DataFrame]:
    shown = [(block.table, [column.name for column in block.columns]) for block in blocks if isinstance(block, Grid)]
    return [table[names] if names else table for table, names in shown]


def said(blocks) -> list[str]:
    return [block.plain for block in blocks if isinstance(block, Words)]


def same(found: pd.DataFrame, expected: dict) -> None:
    """The same names in the same order, and the same cells."""
    assert list(found.columns) == list(expected)
    for name, values in expected.items():
        cells = [None if value is None or value is pd.NA or value != value else value for value in found[name].tolist()]
        assert cells == [None if value is None or value != value else value for value in values], name


def test_coefficients_stand_in_rows_of_their_own(monkeypatch):
    dataset = load_sample("caries")
    found = applicable_coefficients.coefficients_for(dataset)
    table = made_up(tuple(found.coefficients), never_twice())
    table = (*table[:-1], replace(table[-1], value=None, se=None, ci_low=None, ci_high=None, note="why not"))
    given = replace(found, coefficients=table)
    monkeypatch.setattr(coefficients, "compute", lambda *_: given)
    blocks = data_sections.agreement(request_of(dataset), ["agreement"], None, None)
    names = ("name", "weights", "value", "se", "ci_low", "ci_high", "n_cases", "n_annotations", "note")
    expected = {"coefficient": [title_of(one) for one in table]}
    expected |= {name: [getattr(one, name) for one in table] for name in names}
    same(grids(page.printed(blocks))[0], expected)
    assert said(blocks)[:2] == [f"{given.words()}.", f"Report these: {given.reason}."]


def test_scores_of_raters_and_of_cases_stand_in_rows_of_their_own(monkeypatch):
    dataset = load_sample("essays")
    own = fit_prior(dataset).model(6.0)
    request = replace(request_of(dataset, threshold=6.0), settings=AnalysisSettings(own, 2.0))
    raters = made_up(score_raters(dataset), never_twice())
    asked = []

    def trusted(dataset, model, reliabilities):
        asked.append((model.threshold, list(reliabilities)))
        found = score_trust(dataset, model, reliabilities)
        wider = np.linspace(0, 1, dataset.n_cases)
        return replace(found, m=found.m + 0.03, low=found.low - wider, high=found.high + 9 * (1 - wider) ** 8)

    following = replace(made_up(following_of(dataset), never_twice()), scores=raters)
    monkeypatch.setattr(scores, "following_of", lambda *_, **__: following)
    monkeypatch.setattr(case_scores, "score_trust", trusted)
    blocks = part_sections.scores(request, ["scores"], None, None)
    blocks = list(page.printed(blocks))
    first, second = grids(blocks)
    severity, spread = (block.draw(LIGHT).layout.xaxis.title.text for block in blocks if isinstance(block, Figure))
    assert severity.startswith("score relative to") and spread.startswith("spread")
    names = ["n", *(f"{of}{end}" for of in ("severity", "spread", "with_others") for end in ("", "_low", "_high"))]
    order = following.order()
    assert order.tolist() != list(range(order.size))
    expected = {"rater": [raters.raters[rater] for rater in order]}
    expected |= {name: getattr(raters, name)[order].tolist() for name in names}
    expected |= {"n": following.n_annotations[order].tolist()}
    expected |= {"follows": following.rates.value[order].tolist(), "p_acceptable": following.chance[order].tolist()}
    expected |= {"lost": following.lost[order].tolist()}
    same(first.drop(columns="clear"), expected)
    assert asked == [(6.0, [2.0])], "the threshold and the trust of the report"
    found = trusted(dataset, own, [2.0])
    widest = sorted(range(dataset.n_cases), key=lambda case: found.low[0, case] - found.high[0, case])[:20]
    expected = {
        "case": [dataset.cases[case] for case in widest],
        "score": found.m[0, widest].tolist(),
        "ci_low": found.low[0, widest].tolist(),
        "ci_high": found.high[0, widest].tolist(),
        "P(above 6)": found.above[0, widest].tolist(),
    }
    same(second, expected)
    captions = [block.caption for block in blocks if isinstance(block, Grid)]
    assert captions[-1] == f"20 of {dataset.n_cases:,} cases, widest interval first."
    half = np.median(found.high - found.low) / 2
    (words,) = [line for line in said(blocks) if "known to within" in line]
    known = float(words.partition("within ")[2].split()[0])
    assert words.endswith(" (95%, γ = 2).") and known == pytest.approx(half, abs=0.051)
    without = part_sections.scores(replace(request, threshold=None), ["scores"], None, None)
    assert list(grids(without)[-1]) == ["case", "score", "ci_low", "ci_high"]


def rate(numbers) -> CorrectedRate:
    return CorrectedRate("ppi", *(next(numbers) for _ in range(5)), 7, 70, next(numbers))


def text(value) -> str:
    return f"{value:.2f}"


def between(value, low, high) -> str:
    return f"{text(value)} ({text(low)} to {text(high)})"


def shares(value, low, high) -> str:
    return f"{percent(value)} ({percent(low)} to {percent(high)})"


def test_machines_and_their_rates_stand_in_rows_of_their_own(monkeypatch):
    whole = load_sample("replies")
    people = whole.select(raters=[name for name in whole.raters if name.startswith("reader")])
    numbers = never_twice()
    against = tuple(
        AgainstRater(f"p{place}", 40 + place, *(next(numbers) for _ in range(3)), 5, 6, 7, 0.2, place < 2)
        for place in range(5)
    )
    standings = (
        MachineStanding("lyra-1", 321, against, (), 0.4, False, *(next(numbers) for _ in range(3)), 0.6),
        MachineStanding("lyra-2", 17, (), ("p0",), None, None, None, None, None, None),
    )
    test = AlternativeTest("accuracy", 0.2, 0.05, 0.95, people.raters, standings, ())
    rates = tuple(
        MachineRate("lyra-1", of, of != "accuracy", None if of == "accuracy" else next(numbers), rate(numbers),
                    rate(numbers))
        for of in ("accuracy", *whole.classes)
    )  # fmt: skip

    def worth(dataset, machine, readers, *, seed):
        assert (readers, seed) == (people.raters, 4)
        if machine == "lyra-2":
            raise NotApplicableError("too few")
        return SimpleNamespace(words=lambda: f"worth of {machine}")

    counted = {"lyra-1": MachineRates(rates, False, 43, 210, ()), "lyra-2": MachineRates(rates, False, 9, 9, ())}
    monkeypatch.setattr(machine_section, "alternative_test", lambda *_, **__: test)
    monkeypatch.setattr(machine_section, "equivalent_readers", worth)
    monkeypatch.setattr(machine_section, "machine_rates", lambda dataset, name, labels: counted[name])
    monkeypatch.setattr(machine_section, "version_drift", lambda *_, **__: ())
    monkeypatch.setattr(machine_section, "_panel", lambda *_: [])
    request = request_of(people, machines=("lyra-1", "lyra-2"), with_machines=whole, seed=4)
    blocks = machine_section.machines(request, ["machines"], None, None)
    first, second = grids(blocks)
    one = standings[0]
    expected = {
        "AI rater": ["lyra-1", "lyra-2"],
        "not worse than": ["2 of 5", "–"],
        "advantage ρ": [between(one.rho, one.rho_low, one.rho_high), "–"],
        "worth in raters": ["worth of lyra-1", "– (too few)"],
        "cases": [321, 17],
    }
    same(first, expected)
    columns = {
        "rate of": ["agreement with a person", *whole.classes],
        "AI rater only": ["–", *(percent(each.alone) for each in rates[1:])],
    }
    for name, side in (("people's labels only", "people"), ("corrected", "corrected")):
        ends = [getattr(each, side) for each in rates]
        columns[name] = [shares(end.estimate, end.ci_low, end.ci_high) for end in ends]
    same(second, columns)
    captions = [block.caption for block in blocks if isinstance(block, Grid)]
    assert captions[1] == "Rates for lyra-1 over all cases, with 95% intervals. People labelled 43 of 210 cases."


def test_reviews_and_decisions_stand_under_their_own_names(monkeypatch):
    dataset = load_sample("anaesthesia")
    numbers = never_twice()
    coefficient = applicable_coefficients.coefficients_for(dataset).coefficients[0]
    panel, other, minds, alpha = (made_up(coefficient, numbers) for _ in range(4))
    summary = Summary(
        431, {"open": 400, "arbitration": 3, "closed": 11, "adjudicated": 6, **dict.fromkeys(STATES, 2)}
        | {"arbitration": 3, "closed": 11, "adjudicated": 6}, 27, panel, other, alpha,
        SimpleNamespace(n=19, n_changed=5, share=minds, directions={}), {}, None, 0,
        Settled(8, 3, 6, 1), (),
    )  # fmt: skip
    reason = next(iter(REASONS))
    listed = [
        Decision(
            "c9", "Ann", Opinion.of_class("x"), True, "open", "adjudicated", 1_700_000_000_000_000, reason, "n1", 1.25
        ),
        Decision("c2", "Bob", Opinion.of_class("y"), False, "blind", "closed", 1_600_000_000_000_000, "", "", 64.0),
    ]
    monkeypatch.setattr(review_figures, "summarise_reviews", lambda *_: summary)
    monkeypatch.setattr(review_figures, "by_reviewer", lambda *_: [])
    monkeypatch.setattr(part_sections, "decisions", lambda *_: listed)
    here = {dataset.cases[0]: None}
    rows = [["2026-01-02", "Mia", "Bob", False, "late", 7, 3, "Bob 3", "2026-02-03", True, 12, False, 1],
            ["2026-01-05", "Mia", "Cem", False, "back", 9, 2, "", "", False, None, True, 2]]  # fmt: skip
    assigned = pd.DataFrame(rows, columns=ASSIGNMENT_COLUMNS)
    blocks = part_sections.reviews(request_of(dataset, reviews=here, assigned=assigned), ["reviews"], None, None)
    assert said(blocks)[:2] == ["27 of 431 cases reviewed, 17 settled, 3 in arbitration.",
                                "Decide 3 cases in arbitration."]  # fmt: skip
    assert said(blocks)[2] == summary.settled.words() and summary.settled.words().startswith(
        "17 cases are settled: 8 by"
    )
    *_, table, given = grids(blocks)
    paper = said(page.printed(blocks))
    for label, one in (
        ("Agreement of blind opinions with the panel", panel), ("Agreement between blind opinions", other),
        ("Opinions changed after seeing the panel", minds),
    ):  # fmt: skip
        (line,) = [words for words in paper if words.startswith(label)]
        assert line.startswith(f"{label}: {shares(one.value, one.ci_low, one.ci_high)[:-1]} · ")
        assert f"{one.n_annotations:,} " in line and f"{one.n_cases:,} case" in line
    assert "Cases reviewed: 27 of 431 (17 of them settled)" in paper
    decided = {
        "case": ["c9", "c2"],
        "decision": ["x", "y"],
        "by": ["Ann", "Bob"],
        "given": ["ended the arbitration", "blind"],
        "state": [STATES["adjudicated"], STATES["closed"]],
        "at (UTC)": ["2023-11-14 22:13:20", "2020-09-13 12:26:40"],
        "seconds": [1.2, 64.0],
        "reason": [REASONS[reason], ""],
        "note": ["n1", ""],
    }
    same(table, decided)
    columns = [name for name in ASSIGNMENT_COLUMNS if name not in ("withdrawn", "number")]
    assert list(given.columns) == columns and given.to_numpy().tolist() == [rows[0][:-2]]


def test_gold_stands_by_measure_and_by_rater_with_its_own_ends_and_number_of_cases(monkeypatch):
    data, truth = simulated(1, [0.9, 0.8, 0.7, 0.6], n_cases=60, times=False)
    data = replace(data, gold=np.where(np.arange(60) < 40, truth, -1).astype(np.int32))
    chosen = choose(data, seed=0)
    opened = next(one for one in chosen.standings if one.candidate.name == chosen.chosen)
    measured = replace(made_up(gold_measures(data, opened.fit), never_twice()), n_certain=23)
    by_rater = made_up(truth_sections.gold_rates(data), never_twice(300))
    by_rater = replace(by_rater, n=np.where(np.arange(4) == 1, 0, by_rater.n))
    monkeypatch.setattr(truth_sections, "gold_measures", lambda *_, **__: measured)
    monkeypatch.setattr(truth_sections, "gold_rates", lambda view: by_rater)
    asked = replace(request_of(data), settings=AnalysisSettings(DirichletCounts(), 1.0, chosen.request(), chosen))
    blocks = truth_sections.gold(asked, ["gold"], None, None)
    first, second = grids(blocks)
    names = {
        "accuracy": measured.accuracy,
        "log loss": measured.log_loss,
        "Brier score": measured.brier,
        "expected calibration error": measured.ece,
        "share correct if P(correct) is 99% or more": measured.certain_right,
    }
    ends = {"value": "value", "ci_low": "low", "ci_high": "high"}
    expected = {"measure": list(names)}
    expected |= {column: [getattr(one, end) for one in names.values()] for column, end in ends.items()}
    same(first, expected | {"cases": [40, 40, 40, 40, 23]})
    left = [0, 2, 3]  # the second has no gold annotation
    columns = {"gold annotations": by_rater.n, "right by gold": by_rater.value, "right ci_low": by_rater.low,
               "right ci_high": by_rater.high}  # fmt: skip
    rows = {"rater": [data.raters[rater] for rater in left]}
    same(second, rows | {name: values[left].tolist() for name, values in columns.items()})
    lead, certain = said(blocks)[:2]
    right, sure = measured.accuracy, measured.certain_right
    assert f"{shares(right.value, right.low, right.high)} of 40 cases" in lead
    assert (
        certain.endswith("of 23 gold cases with P(correct) of 99% or more.")
        and shares(sure.value, sure.low, sure.high) in certain
    )


def test_uncertain_cases_stand_with_their_own_certainty_class_risk_and_reason():
    """Every case has another number of annotations, and the least certain stand last in the data."""
    rows = [(case, rater, (case + rater * (rater % 3 == 1) * (case % 2)) % 3)
            for case in range(8) for rater in range(9 - case)]  # fmt: skip
    case, rater, answer = np.array(rows).T
    names = [f"c{place}" for place in range(8)], [f"r{place}" for place in range(9)], ["mild", "odd", "grave"]
    made = Dataset.from_classes("made", *names, case, rater, answer)
    made = replace(made, class_risk=np.array([0, 1, 2], np.int8))
    request = request_of(made, seed=3)
    found, *_ = grids(certainty(request, ["certainty"], None, None))
    sweep = reliability_sweep(request.model, made, (request.reliability,), n_draws=60, seed=3)
    values, risk = sweep.certainty[0].certainty[:, 0], sweep.risk[0].level
    order = sorted(range(8), key=lambda case: values[case])
    assert order != list(range(8))
    expected = {
        "case": [names[0][case] for case in order],
        "certainty": [values[case] for case in order],
        "most plausible": [
            " or ".join(names[2][code] if code >= 0 else "others" for code in sweep.certainty[0].leading(case))
            for case in order
        ],
        "risk": [RISK_LEVELS[risk[case]] for case in order],
        "why": [why(made, case, 9 - case) for case in order],
    }
    more = found.pop("more raters")
    assert more.isin({"", "might help", "would help", "hardly help"}).all() and more.any()
    same(found, expected)


def test_prediction_sets_of_several_classifiers_stand_in_rows_of_their_own():
    whole = load_sample("skin")
    dataset = whole.select(cases=whole.cases[:-1])  # an odd number, so that the halves differ
    found = read_predictions(open_table(sample_predictions("skin")), dataset, "skin")
    request = request_of(dataset, classifiers=tuple(found), seed=2)
    blocks = sets(request, ["sets"], None, None)
    (table,) = grids(blocks)
    kept = kept_plausibilities(request.model, dataset, request.reliability, n_draws=60, seed=2)
    each = []
    for one in found:
        alpha = round(1 - possible_promise(prediction_sets(one, dataset, kept, model=request.model, seed=2).listed), 6)
        each.append(prediction_sets(one, dataset, kept, alpha=alpha, model=request.model, seed=2))
    assert len(each) > 1 and all(one.n_test != one.n_calibration for one in each)
    assert said(blocks) == [f"{one.classifier}: {one.promise(request.reliability)}" for one in each]
    expected = {"reliability": [request.reliability] * len(each)}
    names = ("classifier", "alpha", "threshold", "mean_size", "n_calibration", "n_test")
    expected |= {name: [getattr(one, name) for one in each] for name in names}
    for name in ("aggregated", "voted"):
        expected |= {f"{name}{end}": [getattr(getattr(one, name), part) for one in each]
                     for end, part in (("", "value"), ("_low", "low"), ("_high", "high"))}  # fmt: skip
    same(table, expected | {"all_classes": [one.all_classes for one in each]})
    assert sets(request_of(dataset), ["sets"], None, None) == []  # nothing to say: the section is absent
    ranked = request_of(dataset, classifiers=(replace(found[0], score=None),))
    assert "no class scores" in said(sets(ranked, ["sets"], None, None))[0]


def test_rows_left_out_and_where_the_numbers_come_from():
    dataset = load_sample("caries")
    report = SimpleNamespace(n_rows=37, n_kept=31, dropped=((4, "no class"), (9, "twice")), warnings=("A warning.",))
    blocks = data_sections.provenance(request_of(dataset, report=report, seed=8), ["data"], None, None)
    first, second = grids(blocks)
    rows = dict(first.to_numpy().tolist())
    assert rows["rows used"] == "31 of 37" and rows["seed"] == "8" and rows["name"] == dataset.name
    same(second, {"line": [4, 9], "reason": ["no class", "twice"]})
    assert "A warning." in said(blocks) and "Check the 2 rows that were left out." in said(blocks)
    asked = request_of(dataset, report=report)
    apart = replace(asked, settings=replace(asked.settings, reliability=2.5), reliabilities=(0.7, 4.0))
    *_, certainty, sweep = said(data_sections.provenance(apart, ["data"], None, None))[-1].splitlines()
    assert certainty.endswith(" --reliability 2.5") and sweep.endswith(" --reliabilities 0.7,4")


def cells_of(grid: Grid) -> tuple[list[str], list[list[str]], str]:
    """Head, rows and caption as they are printed."""
    shown = page._block(grid, [])
    return [cell.text for cell in shown["head"]], [[c.text for c in row] for row in shown["rows"]], shown["caption"]


def test_a_cell_is_printed_as_its_own_number():
    table = pd.DataFrame(
        {
            "ci_low": [0.12345, 1234.5, np.nan],
            "right ci_high": [0.98765, -0.00001, np.inf],
            "n_cases": pd.array([1234, None, 0], dtype="Int64"),
            "note": ["why", "", None],
            "flag": [True, False, True],
            "se": [0.5, 0.0004, 2.0],
        }
    )
    head, rows, caption = cells_of(Grid(table, "Caption.", 3))
    assert head == ["95% from", "to", "cases", "remark", "flag", "standard error"] and caption == "Caption."
    assert rows == [
        ["0.123", "0.988", "1,234", "why", "True", "0.500"],
        ["1,234.500", "0.000", "–", "", "False", "0.000"],
        ["–", "–", "0", "–", "True", "2.000"],
    ]
    _, rows, caption = cells_of(Grid(table, "Caption.", 2))
    assert len(rows) == 2 and caption == "Caption. The first 2 of 3 rows are shown."


@pytest.mark.parametrize("sample", ["anaesthesia", "essays"])
def test_all_tables_of_a_report_are_printed_cell_by_cell(sample, monkeypatch):
    """What a browser would show of each table is what its section gave, in the order of the sections."""
    given = []
    whole = page._grid
    monkeypatch.setattr(page, "_grid", lambda grid: given.append(grid) or whole(grid))
    dataset = load_sample(sample)
    asked = request_of(dataset, threshold=6.0 if dataset.kind == "score" else None)
    content = build_report(replace(asked, n_draws=20), ("agreement", "scores", "certainty", "data"))
    reader = Tables()
    reader.feed(content.decode().partition("<script>")[0])
    assert len(reader.tables) == len(given) > 2
    for shown, grid in zip(reader.tables, tuple(given), strict=True):
        head, rows, _ = cells_of(grid)
        assert shown == [head, *rows]
        names = [one.name for one in grid.columns if not one.hidden] or list(grid.table.columns)
        counts = {one.name for one in grid.columns if one.unit == "count"}
        columns = {one.name: one for one in grid.columns}
        assert len(head) == len(names)
        for name in set(grid.table[names].select_dtypes("float")) - counts:
            place = names.index(name)
            for row, value in zip(rows, grid.table[name], strict=False):
                assert row[place] == ("–" if np.isnan(value) else printed(value, columns.get(name))), name


def printed(value: float, column: Column | None) -> str:
    """A number with the digits of its column, three of them if it states none, or a share in whole per cents."""
    digits = (column and column.digits) or 3
    return percent(value) if column and column.unit in SHARES else f"{value:z,.{digits}f}".replace("-", "−")


class Tables(HTMLParser):
    """The text of every cell of every table."""

    def __init__(self):
        super().__init__()
        self.tables, self.cell = [], False

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.cell = True

    def handle_endtag(self, tag):
        self.cell = self.cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self.cell:
            self.tables[-1][-1][-1] += data


def test_a_figure_of_a_report_is_never_without_words_for_those_who_do_not_see_it():
    blocks = data_sections.agreement(request_of(load_sample("caries")), ["agreement"], None, None)
    assert all(block.alt for block in blocks if isinstance(block, Figure))


def test_the_seed_the_draws_and_the_trust_of_a_report_reach_all_that_is_drawn_for_it(monkeypatch):
    asked = {}

    def noted(section, name):
        whole = getattr(section, name)

        def given(*args, **more):
            asked[name] = {key: value for key, value in more.items() if key not in ("token", "progress")}
            return whole(*args, **more)

        monkeypatch.setattr(section, name, given)

    noted(truth_sections, "gold_measures")
    noted(all_raters, "monitor")
    noted(machine_section, "alternative_test")
    noted(machine_section, "version_drift")
    noted(predictors, "score_errors")
    data, truth = simulated(1, [0.9, 0.8, 0.7, 0.6], n_cases=60, times=False)
    known = request_of(replace(data, gold=truth.astype(np.int32)), seed=7)
    truth_sections.gold(known, ["gold"], None, None)
    data_sections.raters(known, ["raters"], None, None)
    whole = load_sample("replies")
    people = whole.select(raters=[name for name in whole.raters if name.startswith("reader")])
    machine_section.machines(
        request_of(people, machines=("lyra-1", "lyra-2"), with_machines=whole, seed=8), ["machines"], None, None
    )
    essays = load_sample("essays")
    predicted = open_score_predictions("essays", sample_predictions("essays"), essays)
    own = fit_prior(essays).model()
    scored = request_of(essays, classifiers=tuple(predicted), seed=9)
    scored = replace(scored, settings=AnalysisSettings(own, 2.0), n_draws=50)
    part_sections.scores(scored, ["scores"], None, None)
    assert asked == {
        "gold_measures": {"seed": 7},
        "monitor": {"model": None, "level": 0.95, "false_alarms": 0.05, "seed": 7},
        "alternative_test": {"people": people.raters, "seed": 8},
        "version_drift": {"seed": 8},
        "score_errors": {"reliability": 2.0, "n_draws": 50, "seed": 9},
    }
