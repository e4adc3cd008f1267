"""What rater models are said to say: the numbers, the names and the order that they were given."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import read
from core.agreement.intervals import Z95, IntervalEstimate, wilson
from core.analyses.blocks import Badges, Download, Figure, Grid, Selector, Words
from core.analyses.models import MODELS
from core.analyses.models import agreement as agreement_part
from core.analyses.models.average import flips
from core.analyses.models.cases import effects, why
from core.analyses.models.checks import predicts_best, who_reproduces
from core.analyses.models.covariates import lead as covariate_lead
from core.analyses.models.fits import FittedModels, label, of_fits, restarts_in_words
from core.analyses.models.labels import EveryLabel
from core.analyses.models.raters import extremes
from core.analyses.models.scores import JudgedModels, preferred_by_gold, who_says_the_same
from core.analyses.models.summary import badges, difference_in_words, prevalence_of
from core.annotations.dataset import Dataset
from core.certainty.top_sets import annotation_certainty
from core.figures.checks import MOST_MODELS
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.models.catalogue import Fitted, fit_request, request
from core.models.difficulty.covariates import CovariateEffect, CovariateFit
from core.models.explain import explain
from core.models.label_fits import fit_labels
from core.models.loo import LooRow, PsisLoo
from core.models.majority import MajorityVote
from core.models.rater_summary import RaterSummary
from core.models.result import Spread
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.ordinal_truth import OrdinalTruth
from core.text import percent
from tests.core.analyses.test_contract import every
from tests.core.figures.fits import fit
from tests.core.figures.test_checks import check
from tests.core.models.rows import simulated
from tests.core.models.test_ordinal import panel

VOTE_ALONE = SimpleNamespace(members=())  # no model can be averaged


class Shown:
    """What a part shows: words, titles of figures, tables and downloads by their keys."""

    def __init__(self, blocks):
        blocks = list(every(blocks))
        self.words = [block.plain for block in blocks if isinstance(block, Words)]
        self.figures = {block.key: block.draw(LIGHT) for block in blocks if isinstance(block, Figure)}
        self.titles = {key: one.layout.title.text.replace("<br>", " ") for key, one in self.figures.items()}
        self.tables = {block.key: block.table for block in blocks if isinstance(block, Grid)}
        self.downloads = {block.key: block.frame for block in blocks if isinstance(block, Download)}


def shown(name, models, **options):
    part = MODELS.part(name)
    chosen = part.resolve(**options)
    dataset = models.shown.dataset
    return Shown(part.blocks(part.answer(dataset, chosen, models), dataset, chosen))


@pytest.fixture(scope="module")
def caries():
    return of_fits([fit_request(request("dawid-skene"), load_sample("caries"))])


@pytest.fixture(scope="module")
def few():
    """Eight cases of two classes by three raters."""
    rows = "\n".join(
        f"c{case},{rater},{'xy'[(case * k + k) % 2]}" for case in range(8) for k, rater in enumerate("abc")
    )
    return of_fits([fit_request(request("dawid-skene"), read(f"case,rater,class\n{rows}".encode()).dataset)])


def changed(models, vote=None, **of_fit):
    """The model in detail with other numbers."""
    one = replace(models.shown, fit=replace(models.shown.fit, **of_fit))
    return FittedModels((one,), one, vote or models.vote)


def test_why_a_case_has_its_class_names_raters_with_what_each_adds(few):
    """Log-odds add up to what the model says of the case, the largest first."""
    first, second = why(few, 1)
    reason = explain(few.shown.dataset, few.shown.fit, 1)
    assert first.plain == f"c1: {reason.sentence}"
    classes = few.shown.fit.classes
    added = second.plain.removeprefix(f"Log-odds of {classes[reason.top]} over {classes[reason.against]}: ")
    signed = [(who, what, f"{add:+.1f}".replace("-", "−")) for who, what, add in reason.answers]
    assert added == ", ".join(f"{who} names {what} ({add})" for who, what, add in signed)
    assert {who for who, *_ in signed} == set("abc")


def test_a_rater_not_seen_yet_is_told_by_row_with_intervals(few):
    mean = np.array([[0.8, 0.2], [0.3, 0.7]])
    parameters = {"new_rater": mean, "new_rater_low": mean - 0.1, "new_rater_high": mean + 0.05}
    assert shown("raters", changed(few, parameters=parameters)).tables["new_rater"].to_dict("list") == {
        "true class": ["x", "y"],
        "gives x": ["80% (70% to 85%)", "30% (20% to 35%)"],
        "gives y": ["20% (10% to 25%)", "70% (60% to 75%)"],
    }


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (None, "–"),
        (SimpleNamespace(difference=0, elpd=-51.26, difference_se=None), "best (−51.3)"),
        (SimpleNamespace(difference=-3.21, elpd=-54.4, difference_se=1.05), "−3.2 ± 1.1"),
        (SimpleNamespace(difference=-3.21, elpd=-54.4, difference_se=None), "−3.2"),
    ],
)
def test_leave_one_out_tells_the_best_by_its_density_and_the_others_by_the_difference(row, words):
    assert difference_in_words(row) == words


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([], "m0 predicts annotations of a new case best"),
        ([(-3.0, 1.0)], "m0 predicts annotations of a new case best"),
        ([(-2.0, 1.0)], "m0 and m1 do not clearly differ in predicting a new case"),
        ([(-0.5, None)], "m0 and m1 do not clearly differ in predicting a new case"),
        (
            [(-0.5, 1.0), (-3.0, 1.0), (-9.0, 5.0)],
            "m0 and 2 others do not clearly differ in predicting a new case",
        ),
    ],
)
def test_a_model_predicts_best_where_all_others_are_two_standard_errors_behind(others, words):
    rows = [LooRow("m0", -50.0, 4.0, 0.0, 0.0, 3.0, 0, 60)]
    rows += [LooRow(f"m{k}", -50 + gap, 4.0, gap, se, 3.0, 0, 60) for k, (gap, se) in enumerate(others, start=1)]
    assert predicts_best(rows) == words


def test_a_prevalence_without_an_interval_says_so(few):
    low, high = np.array([0.2, np.nan]), np.array([0.45, np.nan])
    share, spread = np.array([0.3, 0.7]), SimpleNamespace(prevalence=SimpleNamespace(low=low, high=high))
    plain = replace(few.shown.fit, prevalence=share, uncertainty=None)
    found = [prevalence_of(plain, name) for name in ("x", "y", "z")]
    assert found == [(0.3, None, None), (0.7, None, None), (None, None, None)]
    assert prevalence_of(replace(plain, uncertainty=spread), "x") == (0.3, 0.2, 0.45)
    told = shown("summary", changed(few, prevalence=share, uncertainty=spread)).tables["model_comparison"].iloc[0, 2]
    assert told in ("30% (20% to 45%)", "70% (no interval)")


@pytest.mark.parametrize("converged", [True, False])
def test_labels_of_a_fit_that_has_not_converged_may_still_change(few, converged):
    found = shown("soft_labels", changed(few, converged=converged)).words
    assert any("its labels may still change." in words for words in found) == (not converged)


def test_restarts_that_find_nothing_better_are_counted(few):
    found = SimpleNamespace(differs=False, objectives=[-1.0] * 12)
    words = "None of 12 restarts found a better fit than the start from the majority vote."
    assert restarts_in_words(few.shown.fit, found).plain == words


def test_restarts_that_lead_elsewhere_say_by_how_much():
    best = SimpleNamespace(log_likelihood=-100.25)
    found = SimpleNamespace(objectives=[-100.25, -130.0, -100.25], differs=True, n_changed=1, best=best)
    assert restarts_in_words(SimpleNamespace(log_likelihood=-1120.5), found).plain.startswith(
        "The likelihood has more than one mode. The best fit in 3 restarts (reached 2 times) has log-likelihood "
        "−100.250; the start from the majority vote has −1,120.500. This better fit changes the most likely "
        "class of 1 case. Results below use the start from the majority vote unless you choose the better fit."
    )


@pytest.mark.parametrize(("scale", "drawn"), [(1.0, True), (1e-5, False)])
def test_an_effect_that_distinguishes_no_case_is_said_and_not_drawn(few, scale, drawn):
    mean = scale * np.linspace(-1, 1, 8)
    effect = replace(fit().effects[0], name="difficulty", mean=mean, spread=Spread(mean * 0 + 1, mean - 1, mean + 1))
    got = Shown(effects(changed(few, effects=(effect,))))
    assert list(got.figures) == ["effect-difficulty"] * drawn
    said = "Under Dawid-Skene, all cases have the same difficulty to two digits."
    assert got.words == [said] * (not drawn)


def test_models_against_gold_leave_with_their_own_accuracy_and_loss():
    rows = [(case, rater, (case + (case * rater % 5 == 1)) % 3) for case in range(30) for rater in range(4)]
    case, rater, answer = (np.array(column) for column in zip(*rows, strict=True))
    names = ([f"{kind} {i}" for i in range(n)] for kind, n in (("case", 30), ("rater", 4), ("class", 3)))
    gold = np.where(np.arange(30) < 20, np.arange(30) % 3, -1).astype(np.int32)
    gold[:3] = [1, 2, 0]  # three cases that everybody gets wrong
    data = replace(Dataset.from_classes("made", *names, case, rater, answer), gold=gold)
    rng, fits = np.random.default_rng(0), {}
    for name, sure in (("Majority vote", 2), ("Dawid-Skene", 6)):
        probability = rng.dirichlet([sure, 1, 1], 30)
        probability = np.take_along_axis(probability, (np.arange(3) - np.arange(30)[:, None]) % 3, axis=1)
        fits[name] = replace(MajorityVote().fit(data), class_probability=probability)
    one = Fitted(request("dawid-skene"), data, fits["Dawid-Skene"], None, 1.0)
    got = shown("gold", FittedModels((one,), one, fits["Majority vote"]))
    frame = got.downloads["gold_download"].set_index("model")
    assert list(frame.index) == list(fits)
    for name, model in fits.items():
        known = model.class_probability[:20]
        right = known.argmax(axis=1) == gold[:20]
        row = frame.loc[name]
        assert (row["accuracy"], row["cases"]) == (pytest.approx(right.mean()), 20)
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(wilson(right.mean(), 20, Z95))
        assert row["log-loss"] == pytest.approx(-np.log(known[np.arange(20), gold[:20]]).mean())
    assert frame["accuracy"].nunique() == 2
    models, top = (
        FittedModels((one,), one, fits["Majority vote"]),
        fits["Dawid-Skene"].class_probability[:20].max(axis=1),
    )
    bins = shown("calibration", models).downloads["calibration_download"].query("number == 'P(correct)'")
    assert bins["cases"].sum() == 20 and bins["cases"] @ bins["mean"] == pytest.approx(top.sum())
    assert bins["cases"] @ bins["share correct"] == pytest.approx(20 * frame.loc["Dawid-Skene", "accuracy"])


def with_truth_of(n_gold, n_cases=400, accuracy=0.8):
    """Five raters of two classes who are correct alike, with gold of some cases."""
    confusion = np.tile(np.array([[accuracy, 1 - accuracy], [1 - accuracy, accuracy]]), (5, 1, 1))
    rows, truth = simulated(3, n_cases, confusion, (0.5, 0.5), 3)
    case, rater, answer = np.array(rows).T
    names = ([f"{kind}{i}" for i in range(n)] for kind, n in (("c", n_cases), ("r", 5), ("k", 2)))
    data = Dataset.from_classes("crowd", *names, case, rater, answer)
    return replace(data, gold=np.where(np.arange(n_cases) < n_gold, truth, -1).astype(np.int32))


def calibration_of_certain(data, said):
    """The part, of a model that gives each case's majority class the same probability."""
    vote = MajorityVote().fit(data)
    top = vote.class_probability.argmax(axis=1)
    probability = np.where(np.arange(2) == top[:, None], said, 1 - said)
    one = Fitted(request("dawid-skene"), data, replace(vote, class_probability=probability), None, 0.0)
    right = float((top == data.gold)[data.gold >= 0].mean())
    return shown("calibration", FittedModels((one,), one, vote)), right


def test_calibration_has_a_curve_with_a_hundred_gold_cases_and_bars_with_wilson_intervals_below():
    many, _ = calibration_of_certain(with_truth_of(100), 0.9)
    assert [trace.mode for trace in many.figures["calibration_correct"].data if trace.type == "scatter"][1] == (
        "lines+markers"
    )
    assert not any("No curve is shown" in words for words in many.words)
    few, right = calibration_of_certain(with_truth_of(99), 0.9)
    for key in ("calibration_correct", "calibration_certainty"):
        assert all(trace.mode == "markers" for trace in few.figures[key].data if trace.type == "scatter")
    (bars,) = [trace for trace in few.figures["calibration_correct"].data if trace.type == "bar"]
    low, high = wilson(right, 99, Z95)
    assert (bars.y[0] - bars.error_y.arrayminus[0], bars.y[0] + bars.error_y.array[0]) == pytest.approx((low, high))
    assert "No curve is shown: at least 100 gold cases are needed; n = 99." in few.words


def test_p_correct_is_called_too_high_or_too_low_only_beyond_the_interval_of_gold_and_certainty_never():
    data = with_truth_of(300)
    _, right = calibration_of_certain(data, 0.9)
    low, high = wilson(right, 300, Z95)
    for said, words in ((high + 0.02, "overestimated"), (low - 0.02, "underestimated"), (right, "")):
        got, _ = calibration_of_certain(data, said)
        assert got.words[0].startswith(f"P(correct) is {percent(said)} on average; the class is correct for ")
        assert [one in got.words[0] for one in ("overestimated", "underestimated")] == [
            one == words for one in ("overestimated", "underestimated")
        ]
        assert (
            "estimated" not in got.words[1]
            and ("predicts the annotations of more raters, not the truth") in got.words[1]
        )


def test_certainty_is_set_against_gold_at_the_settings_and_gold_of_a_queue_is_said():
    data = with_truth_of(120)
    fit = fit_request(request("dawid-skene"), data)
    part = MODELS.part("calibration").with_options(
        plausibility=DirichletCounts(), reliability=2.0, origin="The 3 reviewed cases came from queues."
    )
    models = of_fits([fit])
    found = part.answer(data, None, models)
    got = Shown(part.blocks(found, data))
    assert (
        "Certainty (Dirichlet counts, γ = 2)" in got.words[1]
        and got.words[2] == "The 3 reviewed cases came from queues."
    )
    whole = annotation_certainty(DirichletCounts(), data, reliability=2.0, max_top=1)
    known = [whole.cases.index(case) for case in data.cases[:120]]
    assert found.numbers[1].mean == pytest.approx(whole.certainty[known, 0].mean())
    assert found.numbers[1].correct.value == pytest.approx((whole.top_class()[known] == data.gold[:120]).mean())


def test_calibration_takes_certainty_of_gold_cases_from_a_model_fitted_to_all_cases():
    rows, _, truth = panel(60, 5, 3, 4)
    case, rater, answer = np.array(rows).T
    names = ([f"{kind}{i}" for i in range(n)] for kind, n in (("c", 60), ("r", 5), ("k", 4)))
    data = Dataset.from_classes("grades", *names, case, rater, answer, ordinal=True)
    data = replace(data, gold=np.where(np.arange(60) < 20, truth, -1).astype(np.int32))
    model, alone = OrdinalTruth(), OrdinalTruth().probability(data.select(cases=data.cases[:20]), 1.0)
    whole = model.probability(data, 1.0)[:20].max(axis=1)
    models = of_fits([fit_request(request("dawid-skene"), data)])
    for one in (model, replace(model, fitted=model.fit(data))):
        part = MODELS.part("calibration").with_options(plausibility=one, reliability=1.0)
        found = part.answer(data, None, models)
        assert found.numbers[1].mean == pytest.approx(whole.mean())
        assert found.numbers[1].mean != pytest.approx(alone.max(axis=1).mean())
        assert "Certainty (Ordinal truth, γ = 1)" in Shown(part.blocks(found, data)).words[1]


def sampled(few, name, pointwise=(-1.0, -1.0), high=0, votes=None, raters=None):
    """A model with draws, whose five cases have two patterns."""
    pointwise, pattern = np.array(pointwise), np.array([0, 0, 1, 0, 1])
    loo = PsisLoo(
        float(pointwise[pattern].sum()), 1.25 + high, 2.5 + high, pointwise, np.zeros(2), np.array([3, 2]), 5, high,
        0.7, 100, pattern,
    )  # fmt: skip
    checks = [
        replace(check("votes", [50, 30], [45, 10], [55, 35], [100, 100]), fails=votes),
        replace(check("raters", [5, 6], [1, 2], [9, 9], [12, 12]), fails=raters),
    ]
    bayes = SimpleNamespace(checks=checks, loo=loo, diagnostics=None, paper=None)
    return SimpleNamespace(
        title=name, fit=fit(), bayes=bayes, dataset=few.shown.dataset, request=few.shown.request, seconds=1.0
    )


def checks_of(*models):
    found = FittedModels(models, models[0], None)
    part = MODELS.part("checks")
    return part.blocks(part.answer(None, None, found), None)


def test_models_by_how_they_predict_leave_with_their_own_numbers(few):
    worse, better = sampled(few, "worse", [-2.0, -1.5], 3), sampled(few, "better", [-1.0, -1.25])
    got = Shown(checks_of(worse, better))
    frame = got.downloads["loo_table"].set_index("name")
    assert list(frame.index) == ["better", "worse"]
    assert list(frame.loc["better", ["elpd", "se", "difference", "p_loo"]]) == [-5.5, 1.25, 0, 2.5]
    assert list(frame.loc["worse", ["elpd", "se", "difference", "p_loo"]]) == [-9, 4.25, -3.5, 5.5]
    gaps = np.array([-1, -1, -0.25, -1, -0.25])
    assert frame.loc["worse", "difference_se"] == pytest.approx(np.sqrt(5) * gaps.std(ddof=1))
    assert list(frame["n_high_k"]) == [0, 3] and list(frame["n_cases"]) == [5, 5]
    assert got.titles["loo"] == "better predicts annotations of a new case best"
    assert list(got.figures["loo"].data[0].x) == [0, -3.5]


def test_weights_that_are_not_to_be_trusted_are_counted_by_model(few):
    models = [sampled(few, "A", [-2.0, -1.5], 3), sampled(few, "B", [-1.0, -1.2]), sampled(few, "C", [-3.0, -1.9], 1)]
    (line,) = [words for words in Shown(checks_of(*models)).words if words.startswith("Open symbols")]
    assert (
        line
        == "Open symbols: importance weights are unreliable (Pareto k too high) for 3 cases under A, 1 case under C."
    )


def test_the_title_says_of_each_model_whether_it_can_make_such_votes(few):
    got = Shown(checks_of(sampled(few, "one", votes=True), sampled(few, "two", [-2.0, -2.0], votes=False)))
    assert got.titles["vote_bands"] == "one cannot reproduce the votes; two can"


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        ({"A": False}, "A can reproduce the votes"),
        ({"A": False, "B": False}, "A and B can reproduce the votes"),
        ({"A": True, "B": False}, "A cannot reproduce the votes; B can"),
        ({"A": True, "B": True}, "A and B cannot reproduce the votes"),
        ({"A": None, "B": None}, "Too few simulated datasets to check the votes"),
        ({"A": None, "B": False}, "B can reproduce the votes; 1 undecided"),
        ({"A": True, "B": None}, "A cannot reproduce the votes; 1 undecided"),
        (dict.fromkeys("ABCDEF", True), "6 of 6 models cannot reproduce the votes"),
    ],
)
def test_the_verdict_on_votes_takes_the_undecided_for_neither(fails, said):
    assert who_reproduces({name: SimpleNamespace(fails=value) for name, value in fails.items()}) == said


@pytest.mark.parametrize(
    ("fails", "said"),
    [(True, "fails"), (False, "passes"), (None, "has too few simulated datasets for")],
)
def test_the_title_of_raters_says_whether_the_model_in_detail_passes(few, fails, said):
    models = sampled(few, "one", raters=fails), sampled(few, "two", [-2.0, -2.0], raters=fails is not True)
    assert Shown(checks_of(*models)).titles["rater_bands"] == f"one {said} the rater check"


def test_models_in_the_figure_of_votes_begin_with_the_one_on_screen(few):
    names = [f"m{k}" for k in range(MOST_MODELS + 2)]
    models = [sampled(few, name) for name in names]
    (selector,) = [block for block in checks_of(models[4], *models) if isinstance(block, Selector)]
    (control,) = selector.controls
    assert control.label == f"Models in the figure (at most {MOST_MODELS} of {len(names)})"
    assert control.opens[0] == "m4" and len(control.opens) == MOST_MODELS and set(control.values) == set(names)
    bands = Shown(selector.then(["m6", "m2"])).figures["vote_bands"]
    assert {trace.name for trace in bands.data} == {"observed", "m6", "m2"}


def test_the_models_least_alike_are_named_with_how_often_they_agree(monkeypatch, caries):
    same = np.array([[1.0, 0.9, 0.7], [0.9, 1.0, 0.8], [0.7, 0.8, 1.0]])
    found = SimpleNamespace(n_cases=37, same_top=same, distance=1 - same)
    monkeypatch.setattr(agreement_part, "compare_fits", lambda *_: found)
    other = replace(caries.shown, request=request("one-coin"))
    got = shown("agreement", replace(caries, fitted=(*caries.fitted, other)))
    assert got.words[0] == "Share of 37 cases on which two models agree."
    assert got.words[1] == f"Least similar: Majority vote and {other.title}, 70%."


def test_kappa_stands_beside_what_the_model_expects(monkeypatch, caries):
    found = SimpleNamespace(observed=0.41, low=0.35, high=0.48, expected=0.44, a_squared=0.39)
    monkeypatch.setattr(agreement_part, "kappa_check", lambda *_: found)
    tap = replace(caries.shown, request=request("tap"))
    words = shown("agreement", FittedModels((tap,), tap, caries.vote)).words[-1]
    assert "Observed κ is 0.41 (0.35 to 0.48); expected under the model: 0.44" in words and "a², is 0.39." in words


def badge_words(*models):
    blocks = badges(FittedModels(models, models[0], None))
    return [Words(words).plain for block in blocks if isinstance(block, Badges) for words, _ in block.items]


@pytest.mark.parametrize("n", [1, 4])
def test_models_that_have_not_converged_are_counted_where_there_are_many(caries, n):
    good = caries.shown
    loose = replace(good, fit=replace(good.fit, converged=False))
    assert badge_words(*[good] * (8 - n), *[loose] * n) == [f"{n} of 8 models have not converged"]
    assert badge_words(good, loose) == [f"{good.title} has not converged"]
    assert badge_words(good) == [] and label(loose) == "Dawid-Skene, not converged"


@pytest.mark.parametrize("n", [1, 4])
def test_a_model_that_fails_several_checks_is_one_model(few, n):
    good = [sampled(few, f"good {place}", votes=False) for place in range(8 - n)]
    bad = [sampled(few, f"bad {place}", votes=True, raters=True) for place in range(n)]
    assert badge_words(*good, *bad) == [f"{n} of 8 models fail a check"]
    few_of_them = badge_words(sampled(few, "A", votes=True, raters=True), sampled(few, "B", raters=True), good[0])
    assert [words.split(":")[0] for words in few_of_them] == [
        "A fails the vote check", "A fails the rater check", "B fails the rater check",
    ]  # fmt: skip


def test_gold_prefers_a_model_whose_log_loss_is_clearly_lower_than_that_of_the_one_that_opened():
    def measured(value, low, high):
        return SimpleNamespace(n=77, log_loss=SimpleNamespace(value=value, low=low, high=high))

    standings = [
        SimpleNamespace(candidate=SimpleNamespace(name=name, title=name.upper()), excluded="")
        for name in ("a", "b", "c")
    ]
    found = SimpleNamespace(chosen="a", standings=standings)
    gold = {"a": measured(0.9, 0.7, 1.1), "b": measured(0.6, 0.5, 0.65), "c": measured(0.61, 0.1, 0.62)}
    assert preferred_by_gold(JudgedModels(found, gold, VOTE_ALONE)).startswith(
        "B fits the gold cases better: log loss 0.60 (0.50 to 0.65), compared with 0.90 for A; n = 77 gold cases. "
    )
    assert preferred_by_gold(JudgedModels(found, gold | {"b": measured(0.6, 0.5, 0.75)}, VOTE_ALONE)) == ""


def test_only_unanimous_cases_that_change_their_class_are_said():
    kept, changed = (SimpleNamespace(n_unanimous=16, flipped=n) for n in (0, 2))
    assert flips(kept) == "" and flips(changed, "The vote") == "The vote changes the class of 2 of 16 unanimous cases."


def test_held_out_scores_leave_with_what_gold_says_of_each():
    def measure(at):
        return SimpleNamespace(value=at, low=at - 0.1, high=at + 0.1)

    standings = [
        SimpleNamespace(candidate=SimpleNamespace(name=name, title=name.upper(), reference=False), excluded=why,
                        held=SimpleNamespace(score=-n, beta=0.5 + n / 10, temper_prevalence=bool(n)),
                        diff=-0.1 * n, diff_se=0.01 * n, n_parameters=10 + n, beta=0.8 + n / 10, by_vote=not n,
                        flipped=n, fit=None)
        for n, (name, why) in enumerate((("a", ""), ("b", "too slow")))
    ]  # fmt: skip
    measures = ("accuracy", "log_loss", "brier", "ece", "absolute_error", "certain_right")
    of = dict(zip(measures, map(measure, np.arange(1, 7) / 10), strict=True))
    gold = {"b": SimpleNamespace(**of, n=70, n_certain=33)}
    twins = ("r*1", "r2"), tuple(f"s{n}" for n in range(12))
    found = SimpleNamespace(standings=standings, chosen="a", n_hidden=1234, families=twins, n_unanimous=5)
    part = MODELS.part("scores")
    got = Shown(part.blocks(JudgedModels(found, gold, VOTE_ALONE), None))
    assert got.downloads["families_download"].groupby("family")["rater"].agg(tuple).tolist() == list(twins)
    named = Words(who_says_the_same(found)).plain
    assert named.startswith("r*1, r2 · s0, s1") and named.endswith("s9 and 2 more, listed with the held-out scores")
    assert who_says_the_same(SimpleNamespace(families=())) == ()
    frame = got.downloads["held_out_scores_download"]
    assert frame.equals(got.tables["held_out_scores"]) and got.words[0].startswith("1,234 annotations were held out.")
    assert frame.iloc[0][["model", "score", "difference", "parameters", "remark"]].tolist() == [
        "A",
        0,
        0,
        10,
        "shown first",
    ]
    told = frame.iloc[1]
    assert told[["score", "difference", "± difference", "β held out", "β shown", "remark"]].tolist() == [
        -1, -0.1, 0.01, 0.6, 0.9, "too slow",
    ]  # fmt: skip
    by_gold = ["accuracy", "log loss", "Brier", "ECE", "classes off"]
    assert told[[f"{name} by gold" for name in by_gold]].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert told[["cases at ≥ 0.99", "right at ≥ 0.99"]].tolist() == [33, 0.6]


def test_the_title_of_prevalence_has_vote_and_model_each_with_its_own_number(caries):
    known = SimpleNamespace(prevalence=Spread(np.full(2, 0.01), np.array([0.71, 0.211]), np.array([0.79, 0.289])))
    vote = replace(caries.vote, prevalence=np.array([0.6, 0.4]))
    models = changed(caries, vote, prevalence=np.array([0.75, 0.25]), uncertainty=known)
    got = shown("prevalence", models)
    assert got.titles["prevalence"] == (
        f"“{vote.classes[1]}”: 40% of cases by majority vote, 25% (21% to 29%) by Dawid-Skene"
    )
    frame = got.downloads["prevalence_table"]
    assert frame["Majority vote"].tolist() == [0.6, 0.4] and frame["Dawid-Skene"].tolist() == [0.75, 0.25]


def test_all_cases_of_a_model_leave_and_not_only_those_that_are_shown(monkeypatch, caries):
    data = caries.shown.dataset
    monkeypatch.setattr("core.analyses.models.cases.MOST_ROWS", 3)
    got = shown("cases", caries)
    differ = np.flatnonzero(caries.vote.top_class() != caries.shown.fit.top_class())
    assert len(got.tables["differ"]) == 3
    assert f"{len(differ)} cases, most certain first." in got.words
    assert set(got.downloads["model_cases_table"]["case"]) == {data.cases[case] for case in differ}
    assert len(shown("cases", caries, every=True).downloads["model_cases_table"]) == data.n_cases


def test_ties_of_the_vote_are_counted_among_the_cases_where_a_model_differs(caries):
    vote, model = caries.vote, caries.shown.fit
    places, chance = np.flatnonzero(vote.top_class() == model.top_class())[:2], vote.class_probability.copy()
    n_before = int((vote.top_class() != model.top_class()).sum())
    chance[places] = 1 / chance.shape[1]
    n_decided = int((model.class_probability[places].max(axis=1) >= 0.9).sum())
    listed = (
        f"{n_before + 2} cases, most certain first. The majority vote is tied in 2 of them; the model's P(correct) "
        + (f"is at least 90% in {n_decided} of these." if n_decided else "is below 90% in all of these.")
    )
    assert listed in shown("cases", changed(caries, replace(vote, class_probability=chance))).words
    # Where the model ties too it does not differ, and the case is not among those listed.
    both = np.setdiff1d(np.flatnonzero(vote.top_class() == model.top_class()), places)[:3]
    even = model.class_probability.copy()
    chance[both] = even[both] = 1 / chance.shape[1]
    models = changed(caries, replace(vote, class_probability=chance), class_probability=even)
    assert listed in shown("cases", models).words


def test_fits_of_all_labels_leave_as_they_are():
    street, part = load_sample("street"), MODELS.part("labels")
    found = fit_labels(street)
    got = Shown(part.blocks(EveryLabel(found, None), street))
    for key, table in (("labels_table", "labels"), ("labels_cases", "cases"), ("label_raters_table", "raters")):
        assert got.downloads[key].equals(found.to_frame(table))
    assert got.downloads["label_raters_table"]["with"].tolist() == np.exp(found.log_factor[:, 1]).tolist()
    assert set(got.tables["label_fits"]["converged"]) == {"yes"}
    assert f"(n = {len(street.cases)} cases)." in got.words[-1]


def test_a_rater_leans_to_the_class_they_name_too_often():
    """Dentist 5 finds caries in most of the cases that have it and in many that have not; dentist 1 in few."""
    models = of_fits([fit_request(request("dawid-skene", smoothing="none"), load_sample("caries"))])
    frame = shown("raters", models).downloads["raters"].set_index("rater")
    assert list(frame.loc[["dentist 1", "dentist 5"], "leans to"]) == ["0", "1"]
    assert (frame["bias"] > 0).all()


def summary(accuracy, n):
    accuracy = np.asarray(accuracy, float)
    rest = dict.fromkeys(("chance", "dependence"), accuracy) | {"low": accuracy - 0.01, "high": accuracy + 0.01}
    names = tuple(map(str, range(len(n))))
    return RaterSummary(
        names, np.asarray(n), accuracy, **rest, bias=accuracy[:, None], adversarial=accuracy < 0, from_uncertainty=True
    )


def test_a_rater_of_one_answer_is_neither_the_best_nor_the_worst():
    assert extremes(summary([1.0, 0.8, 0.7, 0.0], [1, 40, 40, 2])) == (2, 1)


def test_where_nobody_has_many_answers_all_are_compared():
    assert extremes(summary([0.9, 0.5, np.nan], [3, 3, 0])) == (1, 0)
    assert extremes(summary([0.9], [40])) == (None, None)
    assert extremes(summary([0.9, 0.505, 0.5], [40, 40, 40])) == (None, 0)


def covariate_effect(outcome, middle, low, high, **more):
    whole = {"side": "raters", "column": "role", "value": "resident", "reference": "senior", "unit": 1.0, "n": 9}
    whole |= {"p": 0.001, "clear": True, **more}
    return CovariateEffect(outcome=outcome, difference=IntervalEstimate(middle, low, high), **whole)


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (
            covariate_effect("accuracy", -0.06, -0.1, -0.02),
            "Raters with role “resident” are 6 percentage points less accurate than with “senior” "
            "(95% interval 2 to 10).",
        ),
        (
            covariate_effect("accuracy", 0.03, -0.004, 0.06, column="years", value="", reference="", unit=8.1),
            "Raters with higher years are 3 percentage points more accurate per increase of 8.1 "
            "(95% interval −0.4 to 6).",
        ),
        (
            covariate_effect("prevalence", 0.12, 0.04, 0.2, side="cases", column="site", value="B", reference="A"),
            "Cases with site “B” are “yes” 12 percentage points more often than with “A” (95% interval 4 to 20).",
        ),
        (
            covariate_effect("difficulty", -0.05, -0.09, -0.01, side="cases", column="site", value="B", reference="A"),
            "Cases with site “B” are harder: accuracy is 5 percentage points lower than with “A” "
            "(95% interval 1 to 9).",
        ),
    ],
)
def test_a_clear_effect_of_a_column_is_said_with_its_interval(effect, words):
    found = CovariateFit((effect, replace(effect, clear=False)), "yes", "map", 0.95, 0.3, 0.8, 0.5, True)
    assert Words(covariate_lead(found)).plain == f"{words} 2 effects tested."


def test_no_effect_of_a_column_is_said_unless_one_is_clear():
    effect = covariate_effect("accuracy", -0.06, -0.1, -0.02, clear=False)
    found = CovariateFit((effect,), "yes", "map", 0.95, 0.3, 0.8, 0.5, False, "Not converged: *odd* words.")
    assert Words(covariate_lead(found)).plain == "No effect is clear (1 effect tested)."
    blocks = MODELS.part("covariates").blocks(
        found, Dataset.from_classes("d", ["a"], ["r"], ["no", "yes"], [0], [0], [1])
    )
    assert [block.plain for block in blocks if isinstance(block, Words) and block.kind == "warning"] == [
        found.diagnostics
    ]
