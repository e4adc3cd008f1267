"""Tables, downloads and sentences of pages with a choice in them: cost given, some not tested, sure or not."""

import ast
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core.analyses.cases import CASES, score
from core.analyses.inputs import Inputs
from core.analyses.raters import PlansOptions, planning, scores
from core.analyses.raters import shared_errors as pairs
from core.analyses.raters import trust as rater_trust
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection, days_of
from core.certainty.label_sets import label_set_certainty
from core.certainty.score_trust import ScoreTrust
from core.certainty.top_sets import short_of_certain
from core.evaluation.corrected_rates import CorrectedRate
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.machines.alternative_test import AgainstRater, MachineStanding
from core.machines.equivalent_readers import EquivalentReaders
from core.machines.marks import Machine
from core.machines.pair_agreement import PairAgreement
from core.machines.rates import MachineRate, MachineRates
from core.machines.subgroup_differences import SubgroupDifference
from core.machines.versions import VersionChange, VersionDrift, VersionStanding
from core.plausibility.plackett_luce.rater_trust import RaterTrust
from core.raters.following import following_of
from core.raters.plan_outcomes import QUANTITIES, Plan, PlanOutcomes
from core.raters.planning import Forecast, Goal
from core.raters.score_raters import score_raters
from core.raters.shared_errors import SharedErrors
from pages.shared.agreement import compare
from pages.shared.ai_rater import parts as ai_parts
from pages.shared.ai_rater import rates as ai_rates
from pages.shared.ai_rater import versions as ai_versions
from pages.shared.kit import blocks, columns, job_progress
from pages.shared.kit import blocks as kit_blocks
from pages.shared.review import after as review_after
from pages.shared.review import decisions as review_decisions
from pages.shared.upload import report as upload_report

PAGES = Path(__file__).resolve().parents[2] / "pages"

# Plans


def outcomes(gain_right=(0.04, 0.05, 0.01), sure=(True, True, False)) -> PlanOutcomes:
    """Three plans: the second buys most in all, the first most for an annotation; the third nothing for sure."""
    plans = (None, Plan("new_raters", 1), Plan("new_cases", 50, 4), Plan("least_certain", 10, 3))
    value, low, high = (np.arange(16.0).reshape(4, 4) / 20 + shift for shift in (0.1, 0.05, 0.17))
    gain = np.zeros((4, 4))
    gain[1:, 0], gain[1:, 3] = (0.2, 0.3, 0.05), gain_right
    gain_low = np.where(np.append(False, sure)[:, None], gain - 0.001, -0.01)
    return PlanOutcomes(
        plans, np.array([0, 60, 200, 30]), np.array([60, 60, 110, 60]), value, low, high, gain, gain_low, gain + 0.001,
        0.9, 40, 7,
    )  # fmt: skip


def sentences(*of, **how):
    return [blocks.said(words) for words in planning.says(*of, **how)]


@pytest.mark.parametrize("cost", [None, 0.5])
def test_plans_leave_with_their_cost_which_is_that_of_their_annotations(shown, left, said, cost):
    found = outcomes()
    blocks.show(planning.present_plans(found, load_sample("knees"), PlansOptions(cost=cost)))
    frame, table = left["plans_download"], shown["plans_table"]
    assert frame["annotations"].tolist() == [0, 60, 200, 30] and frame["cases"].tolist() == [60, 60, 110, 60]
    for of in (frame, table):
        assert (of["cost"].tolist() == [0, 30, 100, 15]) if cost else "cost" not in of
    for place, quantity in enumerate(QUANTITIES):
        for end, values in (("", found.value), ("_low", found.low), ("_high", found.high), ("_gain", found.gain)):
            assert frame[f"{quantity}{end}"].tolist() == values[:, place].tolist()
    for name, place in (("mean certainty", 0), ("uncertain cases", 1), ("width of agreement", 2), ("correct", 3)):
        assert table[name].iloc[0].startswith(f"{found.value[0, place]:.1%}")
    assert "median over 40 simulated datasets (seed 7), with its 90% interval in brackets" in said[-1]


def test_the_plan_that_buys_most_for_its_annotations_is_named_where_that_is_sure():
    right, certainty = sentences(outcomes(), 0.5)
    assert right == (
        "**1 new rater on every case** improves the share of correct cases the most per annotation: +4.0 points with "
        "60 annotations, at a cost of 30.00."
    )
    assert certainty.startswith(
        "**1 new rater on every case** improves certainty the most per annotation: +20.0 points with"
    )
    second = sentences(outcomes(gain_right=(0.04, 0.2, 0.01)), None)[0]
    assert second.startswith("**50 more cases, 4 annotations each** improves") and "with 200 annotations." in second
    unclear = sentences(outcomes(sure=(False, True, False)), None)
    assert unclear == [
        "It is not clear which plan improves the share of correct cases the most per annotation.",
        "It is not clear which plan improves certainty the most per annotation.",
    ]
    assert (
        sentences(outcomes(sure=(False, False, False)), None)[0]
        == "No plan clearly improves the share of correct cases."
    )
    assert sentences(outcomes(sure=(False,) * 3), None) == [
        "No plan clearly improves the share of correct cases.", "No plan clearly improves certainty.",
    ]  # fmt: skip


def test_whoever_is_asked_at_all_stands_in_the_list_of_a_plan(said, drawn, left):
    found = Forecast(
        Goal("certainty", 0.9), "random", np.array([0, 10]), np.array([0.3, 0.4]), np.array([0.2, 0.3]),
        np.array([0.4, 0.5]), 0.312, 8, 4, None, 0.35, (), np.array([0.4, 0.0, 9.6]), 0.9, 40, 7, (),
    )  # fmt: skip
    blocks.show(
        planning.present(planning.PlannedAnnotations(found, ("ann", "bob", "cem"), None), load_sample("knees"), None)
    )
    assert left["plan_raters_table"].values.tolist() == [["ann", 0.4], ["cem", 9.6]]
    assert left["plan_table"].values.tolist() == [[0, 0.3, 0.2, 0.4], [10, 0.4, 0.3, 0.5]]
    assert drawn["plan"].layout.title.text == "About 8 more annotations needed (4 to more than planned)"


# AI as a rater


def standing(name: str, *, rejected: int = 2, tested: int = 3, untested: int = 2) -> MachineStanding:
    raters = tuple(
        AgainstRater(f"r{n}", 40 + n, 0.6 + n / 50, 0.5, 0.75, 10, 20, 10 - n, 0.01 * (n + 1), n < rejected)
        for n in range(tested)
    )
    few = tuple(f"few{n}" for n in range(untested))
    return MachineStanding(name, 60, raters, few, 0.66, True, 0.62, 0.55, 0.7, 0.8, np.linspace(0, 1, 51), 70)


def test_a_machine_is_held_against_those_who_were_tested(said, shown, drawn, left):
    one, other = standing("m"), standing("n", rejected=1, untested=1)
    test = SimpleNamespace(machines=(one, other), epsilon=0.15, score="accuracy", differences=(), by_chance=False)
    found = SimpleNamespace(test=test, worth=("–", "–"), by_log_score=(), people=())
    assert ai_parts.verdict_table(found)["holds against"].tolist() == ["2 of 3", "1 of 3"]
    assert ai_parts.verdict_table(found)["cases to pass"].tolist() == ["70", "70"]
    pair = PairAgreement("m", 61, 0.5, 0.4, 0.6, 0.7, 0.65, 0.8, 0.2, 0.1, 0.3)
    ai_parts.replaces(SimpleNamespace(test=test, agreement=(pair,)), LIGHT)
    assert "2 raters with fewer than 30 shared cases were left out of the test, but not of the panel." in said
    frame = left["against_table"]
    assert frame["machine"].tolist() == ["m"] * 3 + ["n"] * 3
    for name in ("rater", "n", "rho", "rho_low", "rho_high", "p", "rejected"):
        assert frame[name].tolist() == [getattr(rater, name) for of in (one, other) for rater in of.raters]
    frame = left["pair_agreement_table"]
    assert frame.equals(shown["pair_agreement"][list(frame)])


def test_the_parts_and_the_worth_of_machines_leave_with_their_own_numbers(said, shown, drawn, left):
    places = (("class", "x"), ("certainty", "second"), ("group", "far"))
    parts = [
        SubgroupDifference("m", by, value, 30 + n, 0.5 + n / 10, 0.1 + n / 20, -0.05, 0.4)
        for n, (by, value) in enumerate(places)
    ]
    ai_parts.by_part(parts, {"n": "no case has it and two people"}, 0.2, LIGHT)
    assert "n is not shown: no case has it and two people" in said
    frame = left["by_part_table"]
    assert frame.equals(shown["by_part_rows"][list(frame)])
    assert left["by_part_table"].values.tolist() == [
        ["m", of, one.value, one.n_cases, one.lead, one.low, one.high, one.rho]
        for of, one in zip(("panel's class", "panel's certainty", "group"), parts, strict=True)
    ]
    panel = np.array([0.3, 0.4, 0.55])
    of_votes, of_log = (
        EquivalentReaders(
            "m", score, 30 + n, 2, panel, panel - 0.1, panel + 0.2, 0.45 + n, 0.4, 0.5, 1.5 - n, 0.2, np.inf, 0.95
        )
        for n, score in enumerate(("agreement", "log"))
    )
    test = SimpleNamespace(machines=(standing("m"),))
    ai_parts.worth(SimpleNamespace(worth=(of_votes,), by_log_score=(of_log,), test=test), LIGHT, False)
    assert shown["worth_rows"].values.tolist() == [
        ["m", "agreement", "1.5", "0.2", "more than 2", 0.45, 30, 2],
        ["m", "log score of probabilities", "0.5", "0.2", "more than 2", 1.45, 31, 2],
    ]
    frame = left["worth_table"]
    assert frame["by"].tolist() == ["agreement"] * 3 + ["log"] * 3 and frame["machine_score"].tolist()[::3] == [
        0.45, 1.45,
    ]  # fmt: skip
    assert frame["score"].tolist() == [*panel, *panel] and frame["low"].tolist()[:3] == (panel - 0.1).tolist()


def test_versions_of_a_machine_leave_with_the_numbers_that_are_shown(said, shown, drawn, left):
    def change(at, machine, before):
        share = 0.2 + 0.1 * at
        ends = (0.1 * at, 0.05 * at, 0.15 * at, 10 + at, share, share - 0.05, share + 0.07)
        return VersionChange(machine, before, *ends, 3 + at, 5 + 2 * at)

    versions = tuple(VersionStanding(f"m{n}", f"{n}", 0.6 + n / 10, 0.5, 0.9) for n in range(3))
    changes = (change(1, "m1", "m0"), change(2, "m2", "m1"), change(3, "m2", "m0"))
    drift = VersionDrift("M", "accuracy", 90, versions, changes, 0.71, 0.95)
    ai_versions._family(drift, 0, LIGHT)
    frame = left["versions-changes-0"]
    assert frame["family"].tolist() == ["M"] * 3 and frame["cases"].tolist() == [90] * 3
    wanted = [[getattr(one, name) for name in VersionChange.__slots__] for one in changes]
    assert frame[[*VersionChange.__slots__]].values.tolist() == wanted
    rows = shown["versions-rows-0"]
    assert rows[["version", "less", "nearer", "farther", "cases"]].values.tolist() == [
        [one.machine, one.before, one.nearer, one.farther, 90] for one in changes
    ]
    pairs = {"difference": "difference", "from": "low", "to": "high", "changed": "changed",
             "changed from": "changed_low", "changed to": "changed_high"}  # fmt: skip
    for column, name in pairs.items():
        assert rows[column].tolist() == [getattr(one, name) for one in changes], column
    assert "Agreement between people: 0.71." in said[-1] and "3 comparisons (98.3% each)" in said[-1]
    ai_versions._family(replace(drift, score="rmse", people=-7.13), 1, LIGHT)
    assert "Distance between people: 7.13." in said[-1]


# Agreement


def test_the_halves_of_the_days_share_no_day_and_hold_all_of_them(monkeypatch):
    day = 86_400
    times = 1_700_000_000 // day * day + day * np.arange(9)
    data = Dataset.from_classes(
        "d", [str(n) for n in range(9)], ["a"], ["x", "y"], np.arange(9), np.zeros(9, int), np.arange(9) % 2, times
    )
    monkeypatch.setattr(compare.selection, "named", dict)
    monkeypatch.setattr(compare.state, "selection", lambda: Selection())
    for n in (9, 8):
        some = data.select(cases=data.cases[:n])
        offered = compare._offered(some)
        earlier, later = offered["First half of the period"], offered["Second half of the period"]
        assert (date.fromisoformat(later.first_day) - date.fromisoformat(earlier.last_day)).days == 1
        cases = [set(side.apply(some).cases) for side in (earlier, later)]
        assert not cases[0] & cases[1] and cases[0] | cases[1] == set(some.cases)
        first, last = days_of(some)
        lengths = date.fromisoformat(earlier.last_day) - first, last - date.fromisoformat(later.first_day)
        assert lengths[0].days - lengths[1].days in (0, 1)


# Scores


@pytest.mark.parametrize(
    ("above", "title"),
    [
        ((0.3, 0.45, 0.8), "Whether the score is above the threshold depends on γ"),
        ((0.6, 0.7, 0.95), "The score is on the same side of the threshold at every γ"),
        ((0.05, 0.2, 0.3), "The score is on the same side of the threshold at every γ"),
        ((0.3, 0.45, 0.95), "Whether the score is above the threshold depends on γ"),
        ((0.2, 0.45, 0.8), "The side of the threshold is uncertain at every γ"),
    ],
)
def test_the_side_of_a_score_is_said_over_all_trusts(above, title):
    one = np.array(above)[:, None]
    if title == "Whether the score is above the threshold depends on γ" and max(above) < 0.9:
        one[0] = 0.02  # certain at the lowest trust, on the other side
    curve = ScoreTrust(3.0, np.array([0.5, 1.0, 3.0]), one, one - 1, one + 1, one)
    assert score.side_said(curve.above[:, 0]) == title


# Every other table that leaves a page


@pytest.fixture
def at_once(monkeypatch):
    """Background work is done when it is asked for."""
    job = SimpleNamespace(token=None, report=lambda share: None)
    monkeypatch.setattr(job_progress, "result_of", lambda key, title, work, *_, **__: work(job))


def test_rates_of_a_machine_stand_beside_those_of_the_labels_alone(shown, left):
    def rate(at, weight):
        return CorrectedRate("ppi", at, 0.1, at - 0.1, at + 0.2, weight, 12, 60, 0.5)

    found = MachineRates(
        (
            MachineRate("gpt", "accuracy", False, None, rate(0.6, 0.0), rate(0.65, 0.4)),
            MachineRate("gpt", "x", True, 0.31, rate(0.2, 0.0), rate(0.25, 0.7)),
        ),
        False, 12, 60,
    )  # fmt: skip
    ai_rates._table(found, "people")
    said = ["rate of", "AI rater only", "labels only", "corrected", "Weight of the AI rater, λ"]
    table = shown["machine_rates"]
    assert table[said].values.tolist() == [
        ["agreement with a person", "–", "60% (50% to 80%)", "65% (55% to 85%)", 0.4],
        ["x", "31%", "20% (10% to 40%)", "25% (15% to 45%)", 0.7],
    ]
    assert table[["people at", "people from", "people to"]].values.tolist() == [[0.6, 0.5, 0.8], [0.2, 0.1, 0.4]]
    ends = table[["corrected at", "corrected from", "corrected to"]].to_numpy()
    assert ends == pytest.approx(np.array([[0.65, 0.55, 0.85], [0.25, 0.15, 0.45]]))
    frame = left["machine_rates_table"]
    assert frame.equals(found.to_frame()) and frame["weight"].tolist() == [0.4, 0.7]
    for side in ("people", "corrected"):
        for name in ("estimate", "ci_low", "ci_high"):
            assert frame[f"{side}_{name}"].tolist() == [getattr(getattr(one, side), name) for one in found.rates]


def test_labels_of_a_case_are_counted_among_its_own_annotations(said, shown, left):
    street = load_sample("street")
    found, case, part = label_set_certainty(street, reliability=2.0), 7, CASES.part("labels")
    kit_blocks.show(part.blocks(found, Inputs(street), part.options(case)))
    frame = shown["label_table"]
    blocks = [street.blocks_of(annotation)[0] for annotation in street.annotations_of(case)]
    assert frame["named by"].tolist() == [
        f"{sum(street.classes.index(label) in block for block in blocks)} of {len(blocks)}" for label in frame["label"]
    ]
    sure = found.certainty[case, [street.classes.index(one) for one in frame["label"]]]
    assert frame["certainty"].tolist() == np.round(columns.never_quite(sure), 2).tolist()
    assert [int(words.split()[0]) for words in frame["named by"]] == sorted(
        (int(words.split()[0]) for words in frame["named by"]), reverse=True
    )
    assert left["label_certainty"]().equals(found.to_frame("cases"))


def test_the_plausible_score_of_a_case_leaves_for_every_trust(shown, left):
    at = np.array([0.5, 1.0, 3.0])
    of = {name: np.arange(3.0)[:, None] + shift for name, shift in (("m", 2), ("low", 1), ("high", 4), ("above", 0.1))}
    blocks.show(score.as_table(ScoreTrust(3.0, at, of["m"], of["low"], of["high"], of["above"])))
    assert left["score_trust"].equals(shown["score_trust_table"])
    columns = ["reliability", "score", "ci_low", "ci_high", "p_above"]
    assert left["score_trust"][columns].values.tolist() == np.column_stack([at, *of.values()]).tolist()


def test_who_shares_errors_leaves_with_every_pair_and_shows_those_beyond_chance(
    monkeypatch, at_once, said, shown, left, drawn
):
    names = ("a", "b", "c", "m")
    matrix = np.arange(16.0).reshape(4, 4)
    matrix = (matrix + matrix.T) / 40
    shares = matrix == matrix[1, 3]
    found = SharedErrors(names, np.array([False] * 3 + [True]), (matrix * 100).astype(int), matrix - 1, matrix,
                         1 - matrix, shares, 0.05, 2.4, 3, 0)  # fmt: skip
    data = SimpleNamespace(raters=names, n_raters=4, content_digest="", coded=SimpleNamespace(raters=names))
    blocks.show(pairs.blocks_of(found, data.n_raters, (Machine("m", "M", "1"),), "k"))
    assert left["shared-k-table"].equals(found.to_frame()) and len(left["shared-k-table"]) == 6
    assert shown["shared-k-pairs"]["correlation"].tolist() == [matrix[1, 3]]
    assert shown["shared-k-pairs"][["rater", "other"]].values.tolist() == [["b", "m"]]
    assert "1 of 6 pairs of raters shares errors beyond chance." in said


@pytest.mark.parametrize(("pair", "worth"), [((0, 1), True), ((1, 2), False), ((2, 3), False)])
def test_what_people_count_as_is_said_only_where_people_share_errors(pair, worth):
    """Two people, and two machines."""
    shares = np.zeros((4, 4), bool)
    shares[pair], shares[pair[::-1]] = True, True
    flat = np.full((4, 4), 0.3)
    found = SharedErrors(tuple("abmn"), np.array([False, False, True, True]), np.full((4, 4), 40), flat, flat, flat,
                         shares, 0.05, 1.4, 2, 0)  # fmt: skip
    said = "1 of 6 pairs of raters shares errors beyond chance."
    assert (
        pairs.sentence(found) == said + " Because they share errors, 2 people count as 1.4 independent raters." * worth
    )


@pytest.mark.parametrize("n_untold", [0, 1])
def test_what_people_count_as_is_not_said_where_a_pair_of_them_cannot_be_told(n_untold):
    """Three people, two of whom share errors; the first and the last have no 30 cases in common, or have."""
    shares = np.zeros((3, 3), bool)
    shares[0, 1] = shares[1, 0] = True
    flat = np.full((3, 3), 0.3)
    if n_untold:
        flat[0, 2] = flat[2, 0] = np.nan
    found = SharedErrors(tuple("abc"), np.zeros(3, bool), np.full((3, 3), 40), flat, flat, flat, shares, 0.05, 2.2, 3,
                         n_untold)  # fmt: skip
    said = f"1 of {3 - n_untold} pairs of raters shares errors beyond chance."
    worth = " Because they share errors, 3 people count as 2.2 independent raters."
    assert pairs.sentence(found) == said + worth * (not n_untold)


def test_raters_of_scores_leave_with_what_is_clear_of_each(said, shown, left):
    found = score_raters(load_sample("essays"))
    found = replace(found, severe=np.arange(9) < 2, erratic=np.arange(9) % 2 == 1)
    following = replace(following_of(load_sample("essays")), scores=found)
    blocks.show(scores.present(following, None, None))
    frame = left["score_raters_file"]
    order = [found.raters.index(rater) for rater in frame["rater"]]
    assert frame[list(found.to_frame())].equals(found.to_frame().iloc[order].reset_index(drop=True))
    assert frame["follows"].tolist() == following.rates.value[order].tolist()
    assert frame["lost"].tolist() == following.lost[order].tolist() == sorted(following.lost, reverse=True)
    whole = frame.assign(lost=frame["lost"].round())  # on screen; a grid would cut off what follows the point
    whole = whole.assign(p_acceptable=columns.in_percent(frame, ["p_acceptable"])["p_acceptable"])
    assert shown["score_raters"].equals(whole[list(shown["score_raters"])]) and not whole.equals(frame)
    clear = ["severity", "severity and spread", "", "spread", "", "spread", "", "spread", ""]
    assert frame["clear"].tolist() == [clear[rater] for rater in order]


def test_the_trust_in_raters_leaves_as_it_is_and_is_shown_the_least_first(said, shown, drawn, left):
    one = np.array([0.7, 0.2, 0.9])
    place = np.array([[2, 3, 1], [1, 2, 1], [3, 3, 2]])
    trust = RaterTrust(
        ("ann", "bob", "cem"), np.array([7, 8, 9]), one, one / 10, one - 0.1, one + 0.15, *place, one / 90 + 1,
        one * 1000 + 400, (2.0, 1.0), 1.0, False,
    )  # fmt: skip
    blocks.show(rater_trust.present(trust, None, None))
    frame = left["rater_trust"]
    assert frame.rename(columns={"trust": "mean"}).equals(trust.to_frame())
    assert shown["trust_table"]["rater"].tolist() == ["bob", "ann", "cem"]
    title = drawn["trust"].layout.title.text
    assert title == (
        "Least weight: bob, 0.20 (0.10 to 0.35)" if trust.converged else "No rater clearly has the least weight"
    )


def test_reviews_decisions_and_rows_left_out_leave_as_they_are(monkeypatch, said, shown, left, labels):
    names = {"result_table": "review_results", "trail_table": "review_trail"}
    made = {name: pd.DataFrame({"table": [name]}) for name in names}
    made["decision_table"] = pd.DataFrame({"decision": ["keep"], "state": ["closed"]})
    for name in names:
        monkeypatch.setattr(review_after, name, lambda data, reviews, name=name: made[name] if reviews else None)
    store = SimpleNamespace(
        head=lambda digest: SimpleNamespace(number=3, hash="h"),
        count=lambda digest: 3,
    )
    taken = {"a": SimpleNamespace(adjudication=None, state="open")}
    monkeypatch.setattr(review_after.access, "reviews_to_take", lambda digest: (taken, 0))
    review_after.take_away(store, SimpleNamespace(digest="d", kind="class", classes=(), raters=()))
    for name, key in names.items():
        assert left[key] is made[name]
    found = [SimpleNamespace(case_id=one, reviewer="Ada", seconds=None) for one in "ab"]
    monkeypatch.setattr(review_decisions, "_chosen", lambda *_: found)
    monkeypatch.setattr(
        review_decisions, "decision_table", lambda data, chosen: made["decision_table"] if chosen == found else None
    )
    monkeypatch.setattr(review_decisions, "trail_table", lambda data, reviews: pd.DataFrame({"case": list(reviews)}))
    store.cases = lambda digest: dict.fromkeys("abc")
    desk = SimpleNamespace(store=store, reviewer="Ada", dataset=SimpleNamespace(digest="d"))
    review_decisions.show(desk)
    assert left["decisions_table"] is made["decision_table"] and left["decisions_history"]["case"].tolist() == [
        "a",
        "b",
    ]
    dropped = tuple((line, reason) for line, reason in ((7, "no case"), (9, "no annotation")))
    reading = SimpleNamespace(report=SimpleNamespace(dropped=dropped), dataset=SimpleNamespace(name="n", digest="d"))
    upload_report.left_out(reading)
    assert left["dropped_table"].values.tolist() == [[7, "no case"], [9, "no annotation"]]


# All of them


def keys_of(verb: str, place: int) -> set[str]:
    """The keys, or how they begin, of all that pages show or give in this way."""
    found = set()
    for file in PAGES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == verb:
                given = {word.arg: word.value for word in node.keywords} | dict(enumerate(node.args))
                key = given.get("key", given.get(place))
                if isinstance(key, ast.JoinedStr):
                    key = key.values[0]
                if isinstance(key, ast.Constant):
                    found.add(key.value)
    return found


def test_every_table_that_leaves_a_page_is_read_by_a_test():
    """Those of analyses are read by their contract."""
    read = "".join(file.read_text() for file in Path(__file__).parent.glob("*.py"))
    asked = keys_of("download", 3)
    assert len(asked) > 20
    assert sorted(key for key in asked if f'"{key}' not in read) == []


def test_no_chance_is_printed_as_certain_or_impossible():
    given = np.array([0.0, 1e-16, 1e-9, 0.0049, 0.005, 0.5, 0.9949, 0.995, 1 - 1e-9, np.nextafter(1, 0), 1.0, np.nan])
    printed = [columns.TWO % value for value in columns.never_quite(given)]
    assert printed == ["0.00"] * 2 + ["0.01"] * 3 + ["0.50"] + ["0.99"] * 3 + ["1.00"] * 2 + ["nan"]


def test_machines_are_drawn_among_those_who_share_errors_and_raters_without_a_pair_are_not(
    monkeypatch, at_once, said, shown, left, drawn
):
    monkeypatch.setattr(pairs.figures, "MOST_ROWS", 3)
    names = ("alone", "a", "b", "c", "m*", "n")
    told = np.zeros((6, 6), bool)
    for one, other in ((1, 2), (1, 3), (1, 4), (2, 4), (3, 4)):
        told[one, other] = told[other, one] = True
    matrix = np.where(told, 0.25, np.nan)
    shares = np.zeros((6, 6), bool)
    shares[3, 4] = shares[4, 3] = True
    found = SharedErrors(names, np.array([False] * 4 + [True] * 2), told * 40, matrix, matrix, matrix, shares, 0.05,
                         4.0, 4, 4)  # fmt: skip
    data = SimpleNamespace(raters=names, n_raters=6, content_digest="", coded=SimpleNamespace(raters=names))
    blocks.show(pairs.blocks_of(found, data.n_raters, (Machine("m*"), Machine("n")), "k"))
    assert list(drawn["shared-k"].layout.xaxis.ticktext) == ["a", "c", "m*"]
    assert (
        "Shown: 3 of 6 raters; the rest share fewer than 30 cases with every other rater, or have fewer annotations or "
        "pairs than those shown. Not shown: the AI raters n."
    ) in said
    monkeypatch.setattr(pairs.figures, "MOST_ROWS", 60)
    blocks.show(pairs.blocks_of(found, data.n_raters, (Machine("m*"), Machine("n")), "k"))
    assert list(drawn["shared-k"].layout.xaxis.ticktext) == ["a", "b", "c", "m*"]
    assert said[-2].startswith("Shown: 4 of 6 raters; the rest share fewer than 30 cases with every other rater. ")


def test_no_case_below_what_is_certain_is_printed_as_if_it_were_there():
    given = np.array([0.2, 0.889, 0.8949, 0.896, 0.8999, 0.9, 0.95])
    printed = [columns.TWO % value for value in short_of_certain(given)]
    assert printed == ["0.20", "0.89", "0.89", "0.89", "0.89", "0.90", "0.95"]
