"""Severity, spread and slip of raters of ordered classes."""

import csv
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.__main__ import main
from core.analyses.raters.scale import one_rater
from core.annotations.ordering import with_class_order
from core.errors import NotApplicableError
from core.models._ordinal_kernels import slope_and_information
from core.models.choose import choose
from core.models.expected_class import absolute_error, expected_class, median_class, within_one
from core.models.gold_measures import gold_measures
from core.models.ordinal import AT_THE_MODE, MEAN, SD, Ordinal, OrdinalRows, _OrdinalProblem, reads, severity_sentence
from core.models.ordinal_density import OrdinalDensity
from core.models.precision import precision_of
from core.models.stopping import StoppingRule
from tests.core.models.rows import check_sane, degenerate_rows, random_rows

GUESS = np.array([0.4, 0.3, 0.2, 0.1])


def ordered(dataset):
    return with_class_order(dataset, dataset.classes)


def confusion(severity, spread, slip, guess=GUESS):
    """P(annotated | true) by the definition, true class in rows."""
    k = np.arange(guess.size)
    near = np.exp(-((k[None, :] - k[:, None] - severity) ** 2) / (2 * spread**2))
    return (1 - slip) * near / near.sum(axis=1, keepdims=True) + slip * guess


def panel(n_cases, n_raters, each, seed, severe=None):
    """Rows of raters drawn from the prior, their numbers, and the true classes."""
    rng = np.random.default_rng(seed)
    own = MEAN + SD * rng.standard_normal((n_raters, 3)) * [1, 0.6, 0.6]
    if severe is not None:
        own[0, 0] = severe
    tables = [confusion(d, np.exp(w), 1 / (1 + np.exp(-e))) for d, w, e in own]
    truth, rows = rng.integers(4, size=n_cases), []
    for case in range(n_cases):
        raters = rng.choice(n_raters, each, replace=False)
        rows += [(case, rater, rng.choice(4, p=tables[rater][truth[case]])) for rater in raters]
    return rows, own, truth


def test_rows_are_normal_around_the_class_and_the_severity_with_slips():
    """By the definition; the mean of a reading lies above the class of a rater who reads higher."""
    own = np.array([[0.4, np.log(0.8), -1.0], MEAN])
    theta = OrdinalRows(GUESS).theta(own)
    for j, (d, w, e) in enumerate(own):
        assert pytest.approx(confusion(d, np.exp(w), 1 / (1 + np.exp(-e)))) == theta[j].T


def test_the_slope_is_that_of_the_log_posterior():
    """Central differences of Σ counts ln θ and the normal prior, at five random places."""
    rng = np.random.default_rng(0)
    counts = rng.gamma(1.0, 5.0, (4, 4))
    slope, information = np.empty(3), np.empty((3, 3))
    for _ in range(5):
        own = MEAN + SD * rng.standard_normal(3)

        def height(at):
            table = confusion(at[0], np.exp(at[1]), 1 / (1 + np.exp(-at[2])))
            return (counts.T * np.log(table)).sum() - (((at - MEAN) / SD) ** 2).sum() / 2

        assert slope_and_information(counts, own, GUESS, MEAN, SD, slope, information) == pytest.approx(height(own))
        steps = np.eye(3) * 1e-5
        assert slope == pytest.approx([(height(own + h) - height(own - h)) / 2e-5 for h in steps], rel=1e-5, abs=1e-5)
        assert np.linalg.eigvalsh(information).min() > 0


def test_a_maximum_is_found_and_a_rater_without_annotations_has_the_prior():
    """No slope is left; without annotations the three numbers are those of the prior."""
    counts = np.stack([np.random.default_rng(1).gamma(1.0, 8.0, (4, 4)) + 20 * np.eye(4), np.zeros((4, 4))])
    family = OrdinalRows(GUESS)
    theta, found = family.maximise(counts)
    chart = family.chart(theta, found, counts)
    assert chart.score(chart.start, counts) == pytest.approx(np.zeros(6), abs=1e-4)
    assert [found[name][1] for name in ("severity", "spread", "slip")] == pytest.approx([0, 0.7, 1 / (1 + np.exp(1.5))])


def test_known_raters_are_found_again_and_intervals_hold(build):
    """Severity, spread and slip of raters from the prior; 95% intervals of severity hold about as often."""
    rows, own, truth = panel(700, 40, 6, 3)
    dataset = ordered(build(rows, 4))
    fit = Ordinal().fit(dataset)
    found = fit.parameters
    assert fit.converged and np.corrcoef(found["severity"], own[:, 0])[0, 1] > 0.95
    assert np.corrcoef(np.log(found["spread"]), own[:, 1])[0, 1] > 0.6
    inside = (found["severity_low"] <= own[:, 0]) & (own[:, 0] <= found["severity_high"])
    assert inside.mean() >= 0.85  # three standard errors below 0.95
    assert np.abs(expected_class(fit.class_probability).mean - 1 - truth).mean() < 0.35
    middle = precision_of(Ordinal(), dataset, fit, n_replicates=20)
    assert middle.method == "observed information" and (middle.accuracy.low < fit.accuracy()).all()


def test_the_objective_rises_and_nothing_is_nan_on_small_data_sets(build):
    """Unused classes, raters with one annotation, repeats, one rater."""
    done = 0
    for seed in range(60):
        rows, n_classes, n_cases, n_raters = degenerate_rows(seed)
        if n_classes < 2:
            continue
        fit = Ordinal(stopping=StoppingRule(100)).fit(ordered(build(rows, n_classes, n_cases, n_raters)))
        assert (np.diff(fit.objective) >= -1e-4 * (1 + abs(fit.objective[-1]))).all(), seed
        check_sane(fit)
        for name in ("severity", "spread", "slip"):
            low, at, high = (fit.parameters[f"{name}{end}"] for end in ("_low", "", "_high"))
            assert (low <= at).all() and (at <= high).all() and (low < high).all()
        done += 1
    assert done > 30


def test_an_order_is_declared_and_never_assumed(build):
    """Names alone are refused; the rule has the model only where there is an order of three classes or more."""
    dataset = build(random_rows(2), 3)
    with pytest.raises(NotApplicableError, match="order"):
        Ordinal().fit(dataset)
    assert "ordinal" not in {each.candidate.name for each in choose(dataset).standings}
    assert "ordinal" in {each.candidate.name for each in choose(ordered(dataset)).standings}


def test_the_rater_who_reads_higher_is_named_and_nobody_of_a_panel_that_agrees(build):
    """Planted severity is told with its interval; unanimity and two cases give nobody away."""
    rows, _, _ = panel(500, 8, 5, 1, severe=1.1)
    fit = Ordinal().fit(ordered(build(rows, 4)))
    said = severity_sentence(fit)
    assert (
        said.split(" higher", 1)[0].endswith(" of 8 raters rate")
        and "rater 0 rates 1." in said
        and " classes higher than the panel (" in said
    )
    assert AT_THE_MODE not in fit.notes
    low, high = fit.parameters["severity_low"][0], fit.parameters["severity_high"][0]
    assert low < 1.1 < high and low > 0.5
    for few in ([(c, r, c % 3) for c in range(9) for r in range(4)], [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 2)]):
        quiet = Ordinal().fit(ordered(build(few, 3)))
        assert "clearly rates higher or lower than the panel." in severity_sentence(quiet)
        assert severity_sentence(quiet).startswith("None of ")
    one_class = replace(fit, parameters=fit.parameters | {"severity": np.full(8, -3.4)})
    assert reads(one_class, 0) == "names “class 0” or its neighbours regardless of the case"
    assert severity_sentence(replace(fit, parameters={})) == ""


def test_the_expected_class_counts_from_one_and_its_interval_holds_the_probability():
    """By hand: mean, standard deviation, and ends that leave at most 2.5% on either side."""
    found = expected_class(np.array([[0.02, 0.9, 0.08], [0.0, 0.0, 1.0], [0.5, 0.0, 0.5]]))
    assert found.mean == pytest.approx([2.06, 3, 2])
    assert found.spread.sd == pytest.approx([np.sqrt(0.0964), 0, 1])
    assert found.spread.low.tolist() == [2, 3, 1] and found.spread.high.tolist() == [3, 3, 3]


def test_the_absolute_error_is_that_of_the_median_class_which_no_single_answer_beats():
    """Of 0.5, 0.5 the median is the lower class; of the rest, by enumeration of what is expected of each answer."""
    assert absolute_error(np.array([[0.5, 0.5, 0.0]]), np.array([2])).tolist() == [2]
    p = np.random.default_rng(0).dirichlet(np.full(5, 0.4), 200)
    away = np.abs(np.arange(5)[:, None] - np.arange(5))
    expected = p @ away
    median = absolute_error(p, np.zeros(200, np.int64))
    assert expected[np.arange(200), median] == pytest.approx(expected.min(axis=1))


def test_within_one_class_is_the_probability_around_the_median():
    p = np.array([[0.1, 0.2, 0.3, 0.4], [1.0, 0, 0, 0], [0.4, 0.05, 0.05, 0.5], [0.05, 0.05, 0.1, 0.8]])
    assert within_one(p) == pytest.approx([0.9, 1.0, 0.6, 0.9])


def test_gold_gives_the_mean_absolute_error_of_ordered_classes_alone(build):
    """In classes, with its interval; nothing of names without an order."""
    rows, _, truth = panel(200, 8, 4, 2)
    dataset = replace(ordered(build(rows, 4)), gold=truth.astype(np.int32))
    fit = Ordinal().fit(dataset)
    found = gold_measures(dataset, fit).absolute_error
    by_hand = np.abs((fit.class_probability.cumsum(axis=1) < 0.5).sum(axis=1) - truth).mean()
    assert found.value == pytest.approx(by_hand) and found.low < by_hand < found.high
    assert gold_measures(replace(dataset, ordinal=False), fit).absolute_error is None


def test_the_command_gives_raters_and_the_expected_class(tmp_path, capsys, build):
    """The keys that others rely on; an order by --classes or by numbers, else an error that says how to give it."""
    rows, _, _ = panel(60, 5, 4, 4)
    lines = ["case,rater,class", *(f"c{case},r{rater},{'wxyz'[k]}" for case, rater, k in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    (tmp_path / "n.csv").write_text("\n".join(lines).translate(str.maketrans("wxyz", "1234")))
    out = str(tmp_path / "out.csv")
    assert main(["fit", "ordinal", str(tmp_path / "a.csv"), "--classes", "w,x,y,z", "--cases-out", out]) == 0
    told = json.loads(capsys.readouterr().out)
    fit = Ordinal().fit(ordered(build(rows, 4)))
    for each in told["raters"]:
        for name in ("severity", "spread", "slip"):
            assert each[name] == pytest.approx(fit.parameters[name][int(each["rater"][1:])])
            assert each[f"{name}_low"] < each[name] < each[f"{name}_high"]
    table = list(csv.DictReader((tmp_path / "out.csv").read_text("utf-8-sig").splitlines()))
    row = next(row for row in table if row["case"] == "c7")
    scale = expected_class(fit.class_probability)
    assert float(row["expected_class"]) == pytest.approx(scale.mean[7])
    assert [float(row["expected_class_low"]), float(row["expected_class_high"])] == (
        pytest.approx([scale.spread.low[7], scale.spread.high[7]])
    )
    assert int(row["median_class"]) == 1 + median_class(fit.class_probability)[7]
    assert float(row["within_one"]) == pytest.approx(within_one(fit.class_probability)[7])
    assert main(["fit", "ordinal", str(tmp_path / "n.csv")]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == ["1", "2", "3", "4"]
    assert main(["fit", "ordinal", str(tmp_path / "a.csv")]) != 0
    assert "--classes low,middle,high" in capsys.readouterr().err


def test_severities_are_said_with_the_nearer_end_first_and_those_furthest_from_the_panel_are_named():
    at = np.array([0.31, -0.44, 0.5, -0.1])
    fit = SimpleNamespace(
        raters=("ann", "bob", "cem", "dan"), classes=("low", "mid", "high"), n_annotations=np.array([9, 9, 0, 9]),
        parameters={"severity": at, "severity_low": at - 0.2, "severity_high": at + 0.25}, uncertainty=None,
    )  # fmt: skip
    assert reads(fit, 0) == "rates 0.31 classes higher than the panel (0.11 to 0.56)"
    assert reads(fit, 1) == "rates 0.44 classes lower than the panel (0.19 to 0.64)"
    said = "does not clearly rate higher or lower than the panel: 0.10 classes lower (−0.15 to 0.30)"
    assert reads(fit, 3) == said and "leaves out annotations" in one_rater(fit, "dan")[0].plain
    assert severity_sentence(fit) == (
        "2 of 3 raters rate higher or lower than the panel (false discovery rate 0.05): bob rates 0.44 classes "
        "lower than the panel (0.19 to 0.64); ann rates 0.31 classes higher than the panel (0.11 to 0.56)."
    )
    assert severity_sentence(fit, 1).endswith(": bob rates 0.44 classes lower than the panel (0.19 to 0.64).")


def test_whether_a_severity_is_sure_is_asked_of_the_half_of_its_interval_that_faces_the_panel():
    """Far ends say nothing of it: the first two leave the panel out, the third does not."""
    fit = SimpleNamespace(
        raters=("ann", "bob", "cem"), classes=("low", "mid", "high"), n_annotations=np.array([9, 9, 9]),
        parameters={
            "severity": np.array([0.31, -0.31, 0.3]), "severity_low": np.array([0.11, -0.9, -0.2]),
            "severity_high": np.array([0.9, -0.11, 0.4]),
        },
    )  # fmt: skip
    said = severity_sentence(fit)
    assert said.startswith("2 of 3 raters rate") and "ann" in said and "bob" in said and "cem" not in said


@pytest.mark.parametrize(("errors", "n_named"), [((1.9, -1.9), 0), ((2.0, -2.0), 2), ((2.2, 0), 0), ((-2.3, 0), 1)])
def test_a_rater_is_sure_to_read_apart_by_the_probability_of_both_sides(errors, n_named):
    """Two alike need z = 1.96, two-sided 0.05; one beside a rater at the panel half of that, z = 2.24."""
    at = 0.2 * np.array(errors)
    fit = SimpleNamespace(
        raters=("ann", "bob"), classes=("low", "mid", "high"), n_annotations=np.array([9, 9]),
        parameters={"severity": at, "severity_low": at - 0.392, "severity_high": at + 0.392},
    )  # fmt: skip
    beginnings = ("None of the 2 raters clearly rates higher or lower", "1 of 2 raters rates ", "2 of 2 raters rate ")
    assert severity_sentence(fit).startswith(beginnings[n_named])


def test_among_a_hundred_raters_who_read_as_the_panel_does_seldom_is_anybody_named():
    """Of their intervals five miss the panel in the mean, and each was a rater by name."""
    rng, n_named, n_missed = np.random.default_rng(3), 0, 0
    for _ in range(200):
        width = rng.uniform(0.1, 0.6, 100)
        at = rng.normal(0, width)
        ends = {"severity_low": at - 1.96 * width, "severity_high": at + 1.96 * width}
        fit = SimpleNamespace(
            raters=tuple(map(str, range(100))), classes=("low", "mid", "high"), n_annotations=np.full(100, 9),
            parameters={"severity": at} | ends,
        )  # fmt: skip
        n_missed += ((ends["severity_low"] > 0) | (ends["severity_high"] < 0)).any()
        n_named += not severity_sentence(fit).startswith("None of the 100 raters clearly rates")
    assert n_missed > 190 and n_named <= 200 * 0.09  # 0.05, and two standard errors and a half


@pytest.fixture
def climbed(build, monkeypatch):
    """Fits a dataset, and gives the fit with the problem and the summit that its intervals are made from."""

    def fit(rows, n_classes, **limits):
        seen = []
        for name, value in limits.items():
            monkeypatch.setattr(f"core.models.ordinal.{name}", value)
        ends = _OrdinalProblem._ends
        monkeypatch.setattr(_OrdinalProblem, "_ends", lambda *own: seen.append(own) or ends(*own))
        dataset = ordered(build(rows, n_classes))
        found = Ordinal().fit(dataset)
        monkeypatch.setattr(_OrdinalProblem, "_ends", ends)
        return found, *seen[0]

    return fit


def test_the_covariance_of_raters_is_the_inverse_curvature_of_the_posterior(climbed):
    """Against differences of the density's gradient, whose prior of the prevalence is put on the mode's."""
    rows, _, _ = panel(60, 5, 4, 2)
    _, problem, top, own = climbed(rows, 4)
    density = OrdinalDensity(problem.data.dataset, top.point.parameters["guesses"])
    density.prevalence_prior = np.ones(4)
    place = np.concatenate([top.point.log_prevalence @ density.basis, ((own - MEAN) / SD).ravel()])
    steps = 1e-5 * np.eye(place.size)
    curvature = np.array(
        [(density.value_and_gradient(place - h)[1] - density.value_and_gradient(place + h)[1]) / 2e-5 for h in steps]
    )
    unit = np.concatenate([np.ones(3), np.tile(SD, 5)])
    expected = np.linalg.inv(curvature) * np.outer(unit, unit)
    order = np.concatenate([np.arange(3, place.size), np.arange(3)])
    assert problem._covariance(top, own) == pytest.approx(expected[np.ix_(order, order)], rel=1e-3, abs=1e-4)


def test_intervals_of_the_mode_are_wider_than_with_the_other_raters_known(climbed):
    """By the chain and by the joint information; with raters beyond the limit they are not, and a note says so."""
    rows, _, _ = panel(60, 5, 4, 2)
    fits = {
        "chain": climbed(rows, 4)[0],
        "joint": climbed(rows, 4, MOST_WALKED=0)[0],
        "alone": climbed(rows, 4, MOST_JOINT=3)[0],
    }
    width = {
        how: np.mean(fit.parameters["severity_high"] - fit.parameters["severity_low"]) for how, fit in fits.items()
    }
    assert width["alone"] < 0.95 * width["joint"] and width["alone"] < 0.95 * width["chain"]
    assert [how for how, fit in fits.items() if AT_THE_MODE in fit.notes] == ["alone"]
