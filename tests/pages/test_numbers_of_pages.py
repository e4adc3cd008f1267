"""Tables, downloads and sentences of pages with a choice in them: cost given, some not tested, sure or not."""

from datetime import date
from types import SimpleNamespace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection, days_of
from core.certainty.score_trust import ScoreTrust
from core.figures.theme import LIGHT
from core.machines.alternative_test import AgainstRater, MachineStanding
from core.machines.leads import Lead
from core.machines.pair_agreement import PairAgreement
from core.machines.worth import Worth
from core.raters.plan_outcomes import QUANTITIES, Plan, PlanOutcomes
from core.raters.planning import Forecast, Goal
from pages.shared.agreement import compare
from pages.shared.ai_rater import parts as ai_parts
from pages.shared.cases import score_cases
from pages.shared.raters import plan as raters_plan
from pages.shared.raters import plans as raters_plans
from pages.shared.reliability import prediction_sets as reliability_sets
from pages.shared.reliability import scores as reliability_scores

# Plans


def outcomes(gain_right=(0.04, 0.05, 0.01), sure=(True, True, False)) -> PlanOutcomes:
    """Three plans: the second buys most in all, the first most for an annotation; the third nothing for sure."""
    plans = (None, Plan("new_raters", 1), Plan("new_cases", 50, 4), Plan("least_certain", 10, 3))
    value, low, high = (np.arange(16.0).reshape(4, 4) / 20 + shift for shift in (0.1, 0.05, 0.17))
    gain = np.zeros((4, 4))
    gain[1:, 0], gain[1:, 3] = (0.2, 0.3, 0.1), gain_right
    gain_low = np.where(np.append(False, sure)[:, None], gain - 0.001, -0.01)
    return PlanOutcomes(
        plans, np.array([0, 60, 200, 30]), np.array([60, 60, 110, 60]), value, low, high, gain, gain_low, gain + 0.02,
        0.9, 40, 7,
    )  # fmt: skip


@pytest.mark.parametrize("cost", [None, 0.5])
def test_plans_leave_with_their_cost_which_is_that_of_their_annotations(shown, left, said, cost):
    found = outcomes()
    raters_plans._result(found, cost)
    frame, table = left["plans_download"], shown["plans_table"]
    assert frame["annotations"].tolist() == [0, 60, 200, 30] and frame["cases"].tolist() == [60, 60, 110, 60]
    for of in (frame, table):
        assert (of["cost"].tolist() == [0, 30, 100, 15]) if cost else "cost" not in of
    for place, quantity in enumerate(QUANTITIES):
        for end, values in (("", found.value), ("_low", found.low), ("_high", found.high), ("_gain", found.gain)):
            assert frame[f"{quantity}{end}"].tolist() == values[:, place].tolist()
    for name, place in (("mean certainty", 0), ("uncertain cases", 1), ("width of agreement", 2), ("right", 3)):
        assert table[name].iloc[0].startswith(f"{found.value[0, place]:.3f}".lstrip("0"))
    assert "90% interval over 40 simulated worlds, seed 7" in said[-1]


def test_the_plan_that_buys_most_for_its_annotations_is_named_where_that_is_sure():
    right, certainty = raters_plans.says(outcomes(), 0.5)
    assert right.startswith("For its 60 annotations, 30.00 in all, **1 new rater on every case** buys most right cases")
    assert "**1 new rater on every case** buys most certainty" in certainty and ".040" in right and ".200" in certainty
    second = raters_plans.says(outcomes(gain_right=(0.04, 0.2, 0.01)), None)[0]
    assert second.startswith("For its 200 annotations, **50 more cases, 4 annotations each**")
    assert raters_plans.says(outcomes(sure=(False, True, False)), None)[0].startswith("For its 200 annotations")
    assert raters_plans.says(outcomes(sure=(False,) * 3), None) == [
        "No plan surely buys right cases.", "No plan surely buys certainty.",
    ]  # fmt: skip


def test_whoever_is_asked_at_all_stands_in_the_list_of_a_plan(said, drawn, left):
    found = Forecast(
        Goal("certainty", 0.9), "random", np.array([0, 10]), np.array([0.3, 0.4]), np.array([0.2, 0.3]),
        np.array([0.4, 0.5]), 0.312, 8, 4, None, 0.35, (), np.array([0.4, 0.0, 9.6]), 0.9, 40, 7, (),
    )  # fmt: skip
    raters_plan._result(SimpleNamespace(raters=("ann", "bob", "cem")), found, LIGHT)
    assert left["plan_raters_table"].values.tolist() == [["ann", 0.4], ["cem", 9.6]]
    assert left["plan_table"].values.tolist() == [[0, 0.3, 0.2, 0.4], [10, 0.4, 0.3, 0.5]]
    assert drawn["plan"].layout.title.text == "About 8 annotations more (4 to more than planned)"


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
    test = SimpleNamespace(machines=(one, other), epsilon=0.15, score="accuracy", differences=())
    found = SimpleNamespace(test=test, worth=("–", "–"), by_log_score=(), people=())
    assert ai_parts.verdict_table(found)["holds against"].tolist() == ["2 of 3", "1 of 3"]
    assert ai_parts.verdict_table(found)["cases to pass"].tolist() == ["70", "70"]
    pair = PairAgreement("m", 61, 0.5, 0.4, 0.6, 0.7, 0.65, 0.8, 0.2, 0.1, 0.3)
    ai_parts.replaces(SimpleNamespace(test=test, agreement=(pair,)), LIGHT)
    assert "2 raters with fewer than 30 shared cases judge and are not tested." in said
    frame = left["against_table"]
    assert frame["machine"].tolist() == ["m"] * 3 + ["n"] * 3
    for name in ("rater", "n", "rho", "rho_low", "rho_high", "p", "rejected"):
        assert frame[name].tolist() == [getattr(rater, name) for of in (one, other) for rater in of.raters]
    assert left["pair_agreement_table"].equals(shown["pair_agreement"])


def test_the_parts_and_the_worth_of_machines_leave_with_their_own_numbers(said, shown, drawn, left):
    parts = [Lead("m", by, value, 30 + n, 0.5 + n / 10, 0.1 + n / 20, -0.05, 0.4) for n, (by, value) in enumerate(
        (("class", "x"), ("certainty", "second"), ("group", "far")))]  # fmt: skip
    ai_parts.by_part(parts, 0.2, LIGHT)
    assert left["by_part_table"].equals(shown["by_part_rows"])
    assert left["by_part_table"].values.tolist() == [
        ["m", of, one.value, one.n_cases, one.lead, one.low, one.high, one.rho]
        for of, one in zip(("panel's class", "panel's certainty", "group"), parts, strict=True)
    ]
    panel = np.array([0.3, 0.4, 0.55])
    of_votes, of_log = (
        Worth("m", score, 30 + n, 2, panel, panel - 0.1, panel + 0.2, 0.45 + n, 0.4, 0.5, 1.5 - n, 0.2, np.inf, 0.95)
        for n, score in enumerate(("agreement", "log"))
    )
    test = SimpleNamespace(machines=(standing("m"),))
    ai_parts.worth(SimpleNamespace(worth=(of_votes,), by_log_score=(of_log,), test=test), LIGHT)
    assert shown["worth_rows"].values.tolist() == [
        ["m", "agreement", "1.5", ".2", "more than 2", 0.45, 30, 2],
        ["m", "log score of its probabilities", ".5", ".2", "more than 2", 1.45, 31, 2],
    ]
    frame = left["worth_table"]
    assert frame["by"].tolist() == ["agreement"] * 3 + ["log"] * 3 and frame["machine_score"].tolist()[::3] == [
        0.45, 1.45,
    ]  # fmt: skip
    assert frame["score"].tolist() == [*panel, *panel] and frame["low"].tolist()[:3] == (panel - 0.1).tolist()


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
        earlier, later = offered["Earlier half of the days"], offered["Later half of the days"]
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
        ((0.3, 0.45, 0.8), "The trust decides the side"),
        ((0.6, 0.7, 0.95), "The same side at every trust"),
        ((0.05, 0.2, 0.3), "The same side at every trust"),
        ((0.3, 0.45, 0.95), "The trust decides the side"),
        ((0.2, 0.45, 0.8), "No trust makes it certain"),
    ],
)
def test_the_side_of_a_score_is_said_over_all_trusts(drawn, above, title):
    one = np.array(above)[:, None]
    if title == "The trust decides the side" and max(above) < 0.9:
        one[0] = 0.02  # certain at the lowest trust, on the other side
    curve = ScoreTrust(3.0, np.array([0.5, 1.0, 3.0]), one, one - 1, one + 1, one)
    score_cases._above(curve, 1.0, LIGHT)
    assert drawn["above_trust"].layout.title.text == title


def errors(reliability: float, mean, better) -> SimpleNamespace:
    mean = np.array(mean)[:, None]
    matrix = np.array([[np.nan, better], [1 - better, np.nan]])
    return SimpleNamespace(reliability=reliability, predictors=("A", "B"), mean=mean, better=matrix)


def test_who_errs_least_is_as_sure_as_at_the_trust_where_it_is_least():
    near, far = errors(1.0, (0.4, 0.5), 0.99), errors(3.0, (0.3, 0.6), 0.61)
    said = reliability_scores.verdict
    assert said((near, far)) == "A errs least at every trust, but not surely: P(better) is down to .61"
    assert said((near, errors(3.0, (0.3, 0.6), 0.97))) == "A errs least at every trust, with P(better) of .97 or more"
    assert said((near, errors(3.0, (0.6, 0.5), 0.2))) == "Which predictor errs least depends on the trust"
    assert said((errors(3.0, (0.5, 0.4), 0.004),)) == "B errs least at γ = 3, with P(better) of .99 or more"
    assert said((errors(3.0, (0.5, 0.4), np.nan),)) == (
        "B errs least at γ = 3; no case is predicted by another one, too"
    )


# Prediction sets


def of_sets(voted: float | None, low: float = 0.7, value: float = 0.8, high: float = 0.85) -> SimpleNamespace:
    shares = {
        "aggregated": SimpleNamespace(value=value, low=low, high=high, n=30),
        "voted": None if voted is None else SimpleNamespace(value=voted, low=voted - 0.1, high=voted + 0.1, n=30),
        "true": None,
    }
    return SimpleNamespace(**shares, alpha=0.1, threshold=0.3, mean_size=2.5, n_calibration=20, n_test=30,
                           all_classes=False)  # fmt: skip


@pytest.mark.parametrize(
    ("votes", "more"),
    [((0.9, 0.86), True), ((0.9, 0.84), False), ((0.9, 0.75), False), ((0.6, 0.6), False), ((0.9, None), False)],
)
def test_the_vote_is_held_more_often_only_where_that_is_so_at_every_trust(said, shown, drawn, left, votes, more):
    found = tuple(of_sets(vote) for vote in votes)
    net = SimpleNamespace(name="net")
    reliability_sets._against_trust((1.0, 3.0), (net,), tuple((one,) for one in found), found, LIGHT)
    assert any("held more often than the truth" in words for words in said) == more
    assert left["sets_numbers"].equals(shown["sets_table"]) and left["sets_numbers"]["reliability"].tolist() == [1, 3]
    assert [*drawn["sets_size"].data[0].y] == [2.5, 2.5] and [*drawn["sets_coverage"].data[1].y] == [0.8, 0.8]
