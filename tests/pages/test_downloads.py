"""Every table that leaves a page holds, value by value, what was computed, beside the names it belongs to."""

import dataclasses
import io
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from core import read
from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.bootstrap import bootstrap
from core.agreement.by_rater import by_rater, intra_rater
from core.agreement.differences import compare
from core.agreement.over_time import over_time
from core.agreement.pairs import pair_matrix
from core.agreement.precision import WAYS, precision_curve
from core.agreement.probability import SPA_WEIGHTINGS
from core.agreement.specific import specific_agreement
from core.analysis_settings import compute_settings
from core.annotations.named_selection import Selection, days_of
from core.certainty.plausibilities import plausibilities
from core.certainty.top_sets import annotation_certainty
from core.evaluation.sweep_table import reliability_sweep
from core.methods import method_named
from core.models.catalogue import em_model, fit_request, request
from core.models.comparison import compare_fits
from core.models.majority import MajorityVote
from core.models.precision import precision_of
from core.models.rater_methods import RaterModelMethod
from core.models.rater_summary import rater_summary
from core.order import FITTED
from core.plausibility.learned_counts import learned_counts
from core.raters.flagged_raters import flag_raters
from core.raters.monitoring import monitor, with_draws
from core.raters.truth_draws import judging_draws
from core.reducers.all_draws import WholeCases
from core.reducers.protocol import reduce_draws
from pages.shared.kit import widgets
from tests.pages.opened import at, kept, settle

RATERS = ("eve", "ann", "dan", "bob", "cem")
CLASSES = ("mole", "acne", "wart")
SKILL = dict(zip(RATERS, (0.9, 0.6, 0.8, 0.2, 0.95), strict=True))


def _rows() -> str:
    """50 cases in no order of their names, two to five annotations each, over a year, by raters of unlike skill."""
    rng = np.random.default_rng(4)
    lines = ["case,rater,time,class"]
    for place, number in enumerate(rng.permutation(50)):
        truth = rng.choice(3, p=[0.5, 0.3, 0.2])
        for rater in rng.choice(RATERS, rng.integers(2, 6), replace=False):
            right = rng.random() < SKILL[rater]
            answer = truth if right else (truth + rng.integers(1, 3)) % 3
            day = datetime(2024, 1, 3 + 2 * (place % 12), tzinfo=UTC).replace(month=1 + place // 5)
            lines.append(f"case-{number},{rater},{day:%Y-%m-%d},{CLASSES[answer]}")
    return "\n".join(lines)


ROWS = _rows()


def counts(dataset):
    """Return the model of counts that pages open with."""
    return learned_counts(dataset).model


@pytest.fixture(scope="module")
def data():
    """The dataset itself."""
    return read(ROWS.encode(), name="made").dataset


@pytest.fixture(scope="module")
def tables(tmp_path_factory, known_results):
    """What the CSV downloads of a page hold, over all states of it that are asked for, and their settings."""
    patch = pytest.MonkeyPatch()
    buttons = {}

    def button(label, data=None, key=None, **_):
        buttons[key] = data

    patch.setattr(widgets.st, "download_button", button)

    def of(page: str, data: str, *states: dict):
        home = tmp_path_factory.mktemp("home")
        known_results(home)
        patch.setenv("PLURALITY_HOME", str(home))
        buttons.clear()
        app = at(page, kept(data) if "\n" in data else data)
        frames, settings = {}, {}
        for state in states or ({},):
            for name, value in state.items():
                app.session_state[name] = value
            settle(app.run())
            for key in [key for key in buttons if key.endswith("_csv")]:
                name = key.removesuffix("_csv")
                frames[name] = pd.read_csv(io.BytesIO(buttons[key]()))
                settings[name] = json.loads(buttons[f"{name}_settings"]())
        return frames, settings

    yield of
    patch.undo()


def same(column, expected) -> None:
    """Numbers as exactly as CSV keeps them, unknown where unknown."""
    expected = np.array([np.nan if value is None else value for value in expected], float)
    found = np.asarray(column, float)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def texts(column) -> list[str]:
    """Texts of a column; an empty cell is an empty text."""
    return ["" if pd.isna(value) else value for value in column]


# Cases


@pytest.fixture(scope="module")
def cases(tables):
    return tables("cases", ROWS, {"case": "case-17"})


def test_soft_labels_of_all_cases_are_the_plausibilities_of_the_model(cases, data):
    frame, settings = cases[0]["cases_plausibilities"], cases[1]["cases_plausibilities"]
    how = {"reliability": settings["reliability"], "n_draws": settings["draws"], "seed": settings["seed"]}
    expected = plausibilities(counts(data), data, **how).long_table()
    assert list(frame) == list(expected) and texts(frame["case"]) == texts(expected["case"])
    same(frame["plausibility"], expected["plausibility"])
    assert frame.groupby("case")["plausibility"].sum().to_numpy() == pytest.approx(1)


def test_the_worklist_has_the_certainty_and_the_error_of_each_case_beside_its_own_id(cases, data):
    frame, settings = cases[0]["certainty"], cases[1]["certainty"]
    assert settings["model"] == "dirichlet"
    found = annotation_certainty(
        counts(data), data, reliability=settings["reliability"], n_draws=settings["draws"], seed=settings["seed"]
    )
    assert sorted(frame["case"]) == sorted(data.cases)
    assert frame["top1"].is_monotonic_increasing and frame["top1"].nunique() > 10
    places = [data.cases.index(case) for case in frame["case"]]
    assert places != sorted(places)
    for top in range(3):
        same(frame[f"top{top + 1}"], found.certainty[places, top])
        same(frame[f"top{top + 1}_se"], found.se[places, top])


def test_a_worklist_that_is_searched_holds_what_was_found_alone(tables, data):
    frames, settings = tables("cases", ROWS, {"find": "case-1"})
    frame = frames["certainty"]
    assert set(frame["case"]) == {case for case in data.cases if "case-1" in case}
    found = annotation_certainty(counts(data), data, reliability=settings["certainty"]["reliability"], seed=0)
    same(frame["top1_se"], found.se[[data.cases.index(case) for case in frame["case"]], 0])


def test_plausibilities_of_a_case_are_those_of_its_own_draws(cases, data):
    frame, settings = cases[0]["plausibilities"], cases[1]["certainty"]
    case = data.cases.index("case-17")
    (whole,) = reduce_draws(
        counts(data), data, [WholeCases()], reliability=settings["reliability"], n_draws=settings["draws"],
        seed=settings["seed"], cases=range(case, case + 1),
    )  # fmt: skip
    draws = whole[case]
    share = {data.classes[code]: draws.share[:, place] for place, code in enumerate(draws.classes)}
    share["any other class"] = draws.rest
    assert frame["mean"][:-1].is_monotonic_decreasing and set(frame["class"]) == set(share)
    for _, row in frame.iterrows():
        values = share[row["class"]]
        same([row["mean"]], [values.mean()])
        same(row[["ci_low", "median", "ci_high"]], np.quantile(values, [0.025, 0.5, 0.975]))


# Agreement

ENDS = {"ci_low": "ci_low", "ci_high": "ci_high"}
COUNTS = {name: name for name in ("n_cases", "n_annotations")}


HALVES = ("Earlier", "Later")


@pytest.fixture(scope="module")
def agreement(tables):
    tabs = (
        "Coefficients",
        "Pairwise agreement",
        "By class",
        "Cases",
        "Over time",
        "Precision and sample size",
        "Compare",
    )
    halves = json.dumps([[name, chosen.to_text()] for name, chosen in zip(HALVES, _halves(), strict=True)])
    state = {"pair_coefficient": "cohen_kappa", "windows": "quarter", "compare": halves}
    return tables("agreement", ROWS, *(state | {"agreement_tabs": tab} for tab in tabs))[0]


def _halves() -> tuple[Selection, Selection]:
    first_day, last_day = days_of(read(ROWS.encode(), name="made").dataset)
    middle = first_day + (last_day - first_day) / 3  # so that one has more cases than the other
    return Selection(last_day=middle.isoformat()), Selection(first_day=(middle + timedelta(days=1)).isoformat())


def test_the_table_of_coefficients_holds_each_with_its_own_ends_and_n(agreement, data):
    frame = agreement["agreement"]
    found = coefficients_for(data, spa_weightings=SPA_WEIGHTINGS).coefficients
    assert [*zip(frame["name"], frame["weights"], strict=True)] == [(one.name, one.weights) for one in found]
    for name in ("value", "se", "ci_low", "ci_high", "n_cases", "n_annotations"):
        same(frame[name], [getattr(one, name) for one in found])
    assert texts(frame["note"]) == [one.note for one in found]


def test_pairs_of_raters_have_their_own_value_and_interval(agreement, data):
    frame, matrix = agreement["pairs"], pair_matrix(data, "cohen_kappa")
    assert len(frame) == 10 and frame["n"].nunique() > 3
    for _, row in frame.iterrows():
        i, j = data.raters.index(row["rater"]), data.raters.index(row["other_rater"])
        assert i < j and row["n"] == matrix.n[i, j]
        same([row["value"], row["ci_low"], row["ci_high"]], [matrix.value[i, j], *matrix.interval(i, j)])


def test_each_rater_stands_beside_their_agreement_with_the_others_and_with_themselves(tables):
    repeated = ROWS + "".join(f"\ncase-{n},{r},2024-12-30,mole" for n, r in ((17, "eve"), (3, "dan"), (3, "eve")))
    data = read(repeated.encode(), name="made").dataset
    frames, _ = tables("agreement", repeated, {"agreement_tabs": "By rater", "without_coefficient": "percent"})
    frame, found, own = frames["by_rater_table"], by_rater(data, "percent"), intra_rater(data)
    assert list(frame["rater"]) == list(found.raters) == list(data.raters)
    for column, name in (ENDS | COUNTS | {"with_the_others": "value"}).items():
        same(frame[column], [getattr(one, name) for one in found.each])
    same(frame["without"], found.without)
    same(frame["difference"], found.difference)
    same(frame["with_themselves"], [one.value for one in own.each])
    same(frame["n_cases_repeated"], [one.n_cases for one in own.each])


def test_each_class_has_its_own_agreement(agreement, data):
    frame, found = agreement["by_class_table"], specific_agreement(data)
    assert list(frame["class"]) == list(data.classes)
    for column, name in (ENDS | COUNTS | {"value": "value"}).items():
        same(frame[column], [getattr(one, name) for one in found])


def test_each_case_has_its_own_agreement_and_number_of_answers(agreement, data):
    frame = agreement["case_agreement_table"]
    assert list(frame["case"]) == list(data.cases)
    for case, row in frame.iterrows():
        answers = data.answer[data.case_ptr[case] : data.case_ptr[case + 1]]
        n = len(answers)
        alike = sum(answers[i] == answers[j] for i in range(n) for j in range(i))
        assert row["n_annotations"] == n
        same([row["agreement"]], [alike / (n * (n - 1) / 2)])


def test_windows_of_time_have_their_own_coefficients(agreement, data):
    frame, found = agreement["over_time_table"], over_time(data, "quarter")
    ones = [(window.label, one) for window in found.windows for one in window.coefficients]
    assert len(found.windows) >= 3
    assert [*zip(frame["window"], frame["coefficient"], strict=True)] == [(label, one.name) for label, one in ones]
    for column, name in (ENDS | COUNTS | {"value": "value"}).items():
        same(frame[column], [getattr(one, name) for _, one in ones])


def test_precision_holds_both_ends_of_every_width_and_error(agreement, data):
    frame = agreement["precision_table"]
    points = [(how, point) for how in WAYS for point in precision_curve(data, how=how).points]
    assert list(frame["on"]) == [how for how, _ in points]
    for column, value in {
        "added": lambda p: p.extra,
        "n_cases": lambda p: p.n_cases,
        "n_annotations": lambda p: p.n_annotations,
        "se_low": lambda p: p.se_range[0],
        "se_high": lambda p: p.se_range[1],
        "width_low": lambda p: p.width_range[0],
        "width_high": lambda p: p.width_range[1],
    }.items():
        same(frame[column], [value(point) for _, point in points])


def test_the_bootstrap_is_that_of_the_stated_seed(agreement, data):
    frame, found = agreement["bootstrap_download"], bootstrap(data, n_replicates=1000, seed=0).coefficients
    assert len(frame) == len(found)
    for column, name in (ENDS | {"value": "value", "bootstrap se": "se", "cases": "n_cases"}).items():
        same(frame[column], [getattr(one, name) for one in found])


def test_differences_are_of_the_first_selection_less_the_second(agreement, data):
    early, late = (chosen.apply(data) for chosen in _halves())
    frame, found = agreement["differences"], compare(early, late, n_replicates=1000, seed=0)
    assert len(frame) == len(found)
    for column, name in (
        ENDS
        | {HALVES[0]: "first_value", f"{HALVES[1]} ": "second_value"}
        | {"difference": "value", "se": "se", "P(first larger)": "p_first_larger"}
        | {"cases, first": "n_first", "cases, second": "n_second"}
    ).items():
        same(frame[column], [getattr(one, name) for one in found])
    same(frame["difference"], frame[HALVES[0]] - frame[f"{HALVES[1]} "])
    assert (frame["cases, first"] < frame["cases, second"]).all()


# Models


@pytest.fixture(scope="module")
def models(tables):
    tabs = ("Cases", "Raters", "Prevalence", "Soft labels", "Models compared")
    chosen = {"models_chosen": ["dawid-skene"], "all_cases": True}
    return tables("models", ROWS, *(chosen | {"model_tabs": tab} for tab in tabs))


def test_shares_of_classes_without_named_raters_leave_with_those_that_win_no_case(tables):
    rows = [f"{i},{i % 3 // 2 * 3},{3 - i % 3 // 2 * 3},0" for i in range(1, 12)]
    frames, _ = tables("models", "\n".join(["case,calm,angry,sad", "0,0,2,1", *rows]))
    shares = frames["vote_shares_table"]
    assert shares["class"].tolist() == ["angry", "calm", "sad"]
    share, z2, n = np.array([8, 4, 0]) / 12, 1.959963984540054**2, 12
    middle, half = share + z2 / (2 * n), np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2)))
    same(shares["share of cases"], share)
    same(shares["ci_low"], (middle - half) / (1 + z2 / n))
    same(shares["ci_high"], (middle + half) / (1 + z2 / n))


@pytest.fixture(scope="module")
def fitted(models, data):
    """The fit that the page's own settings give, with its intervals, and the vote."""
    told = models[1]["raters"]
    options = {option.name for option in method_named(RaterModelMethod, told["model"]).options}
    wanted = request(told["model"], told["method"], **{name: told[name] for name in options & set(told)})
    fit = fit_request(wanted, data).fit
    if wanted.way == "em":  # others bring their intervals along
        fit = dataclasses.replace(fit, uncertainty=precision_of(em_model(wanted), data, fit))
    return fit, MajorityVote().fit(data)


def test_cases_of_a_model_have_their_own_vote_and_probability(models, fitted, data):
    frame, (fit, vote) = models[0]["model_cases_table"], fitted
    assert sorted(frame["case"]) == sorted(data.cases) and frame["probability"].round(FITTED).is_monotonic_increasing
    for _, row in frame.iterrows():
        case = data.cases.index(row["case"])
        same(
            [row["probability"], row["share of votes"]],
            [fit.class_probability[case].max(), vote.class_probability[case].max()],
        )
        assert row["by model"] == data.classes[fit.class_probability[case].argmax()]
        tied = (vote.class_probability[case] == vote.class_probability[case].max()).sum() > 1
        assert tied or row["by vote"] == data.classes[vote.class_probability[case].argmax()]
        assert row["annotations"] == data.case_ptr[case + 1] - data.case_ptr[case]


def test_raters_of_a_model_have_their_own_accuracy_interval_and_lean(models, fitted, data):
    frame, summary = models[0]["raters"], rater_summary(data, fitted[0])
    assert list(frame["rater"]) == list(data.raters)
    same(frame["annotations"], np.bincount(data.rater))
    for column, values in (("right by matrix", summary.accuracy), ("ci_low", summary.low), ("ci_high", summary.high)):
        same(frame[column], values)
    same(frame["dependence"], summary.dependence)
    for rater, row in frame.iterrows():
        assert row["leans to"] == data.classes[summary.bias[rater].argmax()]
        same([row["bias"]], [summary.bias[rater].max()])


@pytest.fixture(scope="module")
def opens(models):
    """The title of the model that is chosen, as the page's own settings name it."""
    return method_named(RaterModelMethod, models[1]["raters"]["model"]).title


def test_prevalence_stands_beside_its_class_by_answers_vote_and_model(models, fitted, opens, data):
    frame, (fit, vote) = models[0]["prevalence_table"], fitted
    assert list(frame["class"]) == list(data.classes)
    same(frame["share of annotations"], np.bincount(data.answer) / data.n_annotations)
    same(frame["Majority vote"], vote.prevalence)
    same(frame[opens], fit.prevalence)
    same(frame[f"{opens} ci_low"], fit.uncertainty.prevalence.low)
    same(frame[f"{opens} ci_high"], fit.uncertainty.prevalence.high)


def test_soft_labels_are_probabilities_log_odds_and_weights_of_each_case_and_class(models, fitted, data):
    p = fitted[0].class_probability
    frames = models[0]
    for name in ("class_probabilities", "log_odds"):
        assert list(frames[name].columns) == ["case", *data.classes] and list(frames[name]["case"]) == list(data.cases)
    for k, name in enumerate(data.classes):
        same(frames["class_probabilities"][name], p[:, k])
        weights = frames["weights"][frames["weights"]["class"] == name].set_index("case")["weight"]
        same(weights.reindex(data.cases, fill_value=0), p[:, k])  # everybody has an annotation here
        mine, others = np.maximum(p[:, k], 1e-300), np.maximum(np.delete(p, k, axis=1).sum(axis=1), 1e-300)
        np.testing.assert_allclose(frames["log_odds"][name], np.clip(np.log(mine) - np.log(others), -20, 20), atol=1e-9)


def test_the_table_of_models_and_their_distances_are_those_of_the_fits(models, fitted, opens, data):
    frame, (fit, vote) = models[0]["model_comparison_table"], fitted
    (row,) = frame.to_dict("records")
    place = data.classes.index(row["class"])
    assert place == np.abs(fit.prevalence - vote.prevalence).argmax()
    known = fit.uncertainty.prevalence
    same(
        [row["prevalence"], row["ci_low"], row["ci_high"]], [fit.prevalence[place], known.low[place], known.high[place]]
    )
    same([row["log_likelihood"]], [fit.log_likelihood])
    distance = models[0]["model_distance_table"]
    found = compare_fits(data, [vote, fit]).distance
    same(distance[["Majority vote", opens]], found)
    same([found[0, 1]], [np.abs(vote.class_probability - fit.class_probability).sum(axis=1).mean() / 2])


# Raters


@pytest.fixture(scope="module")
def raters(tables):
    return tables("raters", ROWS, {"rater_tabs": "All raters"})[0]


def test_the_table_of_raters_has_each_number_beside_its_rater(raters, data):
    frame, averaged = raters["raters_monitor"], compute_settings(data).averaged
    found = with_draws(monitor(data), averaged.fit, judging_draws(averaged, data, level=0.95, seed=0))
    act = flag_raters(found)
    order = act.acceptable.order()
    assert list(frame["rater"]) == [data.raters[rater] for rater in order]
    for column, values in {
        "n": found.n_annotations,
        "n_cases": found.n_cases,
        "accuracy": act.acceptable.accuracy.value,
        "ci_low": act.acceptable.accuracy.low,
        "ci_high": act.acceptable.accuracy.high,
        "expected_wrong": act.acceptable.expected_wrong,
        "p_acceptable": act.acceptable.chance,
        "n_judged": act.acceptable.accuracy.n,
        "agreement": found.agreement.value,
        "spam": found.spam,
        "adversarial": found.adversarial,
        "repeats_previous": found.response_times.repeated,
        "entropy": found.entropy,
        "entropy_of_cases": found.entropy_of_cases,
        "p_drift": found.p_drift,
    }.items():
        same(frame[column], values[order])
    assert texts(frame["flags"]) == [" ".join(act.kinds_of(rater)) for rater in order]
    for rater, (_, row) in zip(order, frame.iterrows(), strict=True):
        most = found.bias[rater].argmax()
        assert found.bias[rater, most] > 0 and row["leans_to"] == data.classes[most]
        same([row["bias"]], [found.bias[rater, most]])


# Reliability


@pytest.fixture(scope="module")
def reliability(tables):
    tabs = ("Certainty", "Relations")
    return tables("reliability", ROWS, *({"reliability_tabs": tab} for tab in tabs))


def test_the_sweep_has_means_errors_and_counts_at_their_own_trust(reliability, data):
    frame, told = reliability[0]["sweep"], reliability[1]["sweep"]
    sweep = reliability_sweep(counts(data), data, told["reliabilities"], n_draws=told["draws"], seed=told["seed"])
    same(frame["reliability"], told["reliabilities"])
    assert len(frame) >= 3
    for place, found in enumerate(sweep.certainty):
        row = frame.iloc[place]
        assert row["n_cases"] == 50
        for top in (1, 2, 3):
            same([row[f"top{top}"]], [found.certainty[:, top - 1].mean()])
            same([row[f"top{top}_se"]], [np.sqrt((found.se[:, top - 1] ** 2).sum()) / 50])
        for level in (0.5, 0.9, 0.99):
            assert row[f"below {level}"] == (found.certainty[:, 0] < level).sum()
    cases = reliability[0]["sweep_cases"]
    assert list(cases["case"]) == list(data.cases)
    for gamma, found in zip(told["reliabilities"], sweep.certainty, strict=True):
        same(cases[f"certainty at {gamma:g}"], found.certainty[:, 0])


# Home


def test_annotations_leave_as_they_were_long_and_wide(tables, data):
    frames, _ = tables("home", ROWS)
    wanted = [tuple(line.split(",")) for line in ROWS.split("\n")[1:]]
    long = frames["long"]
    found = zip(long["case"], long["rater"], long["time"].str[:10], long["class"], strict=True)
    assert sorted(found) == sorted(wanted)
    wide = frames["wide"].set_index("case")
    assert list(wide.columns) == list(data.raters)
    cells = {(case, rater): wide.loc[case, rater] for case in wide.index for rater in wide.columns}
    assert {key: cell for key, cell in cells.items() if isinstance(cell, str)} == {(c, r): k for c, r, _, k in wanted}
