"""The command line gives the library's numbers as JSON or CSV, and one line where the input is bad."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.coefficients import agreement_table
from core.agreement.krippendorff import alpha_as_scale_and_names
from core.analyses.models import MODELS
from core.analyses.models.fits import of_fits
from core.annotations.counts import class_counts
from core.annotations.named_selection import Selection
from core.annotations.ordering import order_by_name
from core.certainty.more_raters import more_raters
from core.certainty.top_sets import annotation_certainty
from core.command_line import main
from core.commands.fits import _of_posterior
from core.errors import LimitError
from core.evaluation.sweep_table import reliability_sweep
from core.ingest.read_files import read
from core.ingest.samples import load_sample
from core.models.average import average_models
from core.models.catalogue import fit_request, request
from core.models.choose import choose
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.models.result import Spread
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.learned_counts import learned_counts
from core.plausibility.plackett_luce.trust import MixturePlackettLuce
from core.raters.truth_draws import uncertainty_of
from core.text import number

ROOT = Path(__file__).resolve().parents[2]
CSV = "case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n3,ann,y\n3,bob,y\n3,cy\n"


@pytest.fixture
def run(capsys):
    """Run a command; its JSON (or text), and what it said on standard error."""

    def run_it(*arguments: str, status: int = 0):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        output = capsys.readouterr()
        assert code == status, output.err
        return output.out, output.err

    return run_it


@pytest.fixture
def answer(run):
    return lambda *arguments: json.loads(run(*arguments)[0])


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "readings.csv"
    path.write_text(CSV)
    return path


def assert_stamped(answer: dict, digest: str, seed: int = 0) -> None:
    assert answer["digest"] == digest
    assert answer["seed"] == seed
    assert answer["seconds"] >= 0
    assert answer["version"]


def test_samples_are_listed(answer):
    assert [sample["name"] for sample in answer("samples")["samples"]] == [
        "skin",
        "dermatology",
        "caries",
        "anaesthesia",
        "knees",
        "street",
        "essays",
        "replies",
        "toy",
        "pictures",
    ]


def test_describe_tells_what_was_read_and_what_was_dropped(answer, file):
    told = answer("describe", file)
    assert (told["kind"], told["n_cases"], told["n_raters"], told["n_classes"], told["n_annotations"]) == (
        "class",
        *(3, 2, 2, 6),
    )
    assert told["classes"] == ["x", "y"]
    assert told["missing"] == 0
    assert told["dropped"] == [{"line": 8, "reason": "2 fields instead of 3"}]
    assert_stamped(told, read(CSV.encode()).dataset.digest)


def test_describe_compares_with_an_earlier_version(answer, run, file, tmp_path):
    path = tmp_path / "later.csv"
    path.write_text("case,rater,class\n1,ann,y\n1,bob,y\n2,ann,x\n2,bob,x\n3,ann,y\n4,cy,x\n")
    found = answer("describe", path, "--earlier", file)["compared"]
    words = "Compared with readings: 1 annotation changed, 1 added, 1 removed; 1 new case, 1 new rater."
    counts = {"n_changed": 1, "n_added": 1, "n_removed": 1, "n_unchanged": 4, "n_new_cases": 1, "n_new_raters": 1}
    assert found == {"words": words, **counts}
    assert "compared" not in answer("describe", path)
    assert "--earlier" in run("describe", path, "--earlier", file, "--partitions", 2, status=2)[1]


def test_the_order_of_day_and_month_is_given(answer, run, tmp_path):
    path = tmp_path / "dated.csv"
    path.write_text("case,rater,class,date\n1,ann,x,02/03/2024\n1,bob,y,04/03/2024\n2,ann,x,05/03/2024\n")
    digests = {
        order: answer("describe", path, *order)["digest"]
        for order in ((), ("--dates", "day-first"), ("--dates", "month-first"))
    }
    expected = {None: (), True: ("--dates", "day-first"), False: ("--dates", "month-first")}
    for day_first, order in expected.items():
        assert digests[order] == read(path, day_first=day_first).dataset.digest
    assert len(set(digests.values())) == 3


def test_missing_annotations_are_counted_and_not_the_ways_of_writing_them(answer, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("case,rater,class\n1,ann,x\n1,bob,y\n2,ann,\n2,bob,NA\n2,cy,NA\n3,ann,y\n3,bob,y\n")
    told = answer("describe", path)
    assert told["missing_tokens"] == {"": 1, "NA": 2} and told["missing"] == 3
    assert (told["n_rows"], told["n_kept"], len(told["dropped"])) == (7, 4, 3)


def test_what_json_by_rater_leaves_out_is_missing_too(answer, tmp_path):
    path = tmp_path / "by rater.json"
    path.write_text('{"ann": {"1": "x", "2": null, "3": "y"}, "bob": {"1": "x", "2": "y", "3": null}}')
    told = answer("describe", path)
    assert (told["missing"], told["n_annotations"]) == (2, 4)


def test_describe_as_a_table_lists_the_dropped_rows(run, file):
    assert run("describe", file, "--csv")[0] == "line,reason\n8,2 fields instead of 3\n"


def test_columns_can_be_named(answer, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("A;B;C;D\n1;ann;1;x\n1;ann;2;y\n1;bob;1;x\n")
    told = answer("describe", path, "--case", "A", "--rater", "B", "--rank", "C", "--class", "D")
    assert (told["kind"], told["n_annotations"], told["n_classes"]) == ("ranking", 2, 2)
    told = answer("describe", path, "--case", "A", "--rater", "none", "--class", "D", "--classes", "y, x, z")
    assert told["classes"] == ["y", "x", "z"]
    assert told["n_annotations"] == 3


def test_a_layout_can_be_said(answer, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("case,ann,label\n1,x,y\n2,x,x\n")
    assert answer("describe", path, "--format", "wide")["n_raters"] == 2


@pytest.mark.parametrize("name", ["caries", "skin", "dermatology"])
def test_agreement_gives_the_numbers_of_the_library(answer, name):
    told = answer("agreement", name, "--level", "0.9", "--spa-weights", "edges")
    dataset = load_sample(name)
    expected = coefficients_for(dataset, 0.9, spa_weightings=["edges"]).coefficients
    assert told["left_out"] == dataset.as_classes()[1]
    assert_stamped(told, dataset.digest)
    assert_rows(told["coefficients"], expected)


def test_weighted_agreement_gives_the_numbers_of_the_library(answer):
    told = answer("agreement", "anaesthesia", "--weights", "quadratic")
    dataset = load_sample("anaesthesia")
    assert_rows(told["coefficients"], agreement_table(class_counts(dataset), weights="quadratic", dataset=dataset))


@pytest.mark.parametrize(
    ("grades", "asked"), [(("1", "2", "3"), True), (("mild", "none", "severe"), True), (("a", "b", "c"), False)]
)
def test_classes_that_may_be_a_scale_are_told_with_the_agreement_of_both_readings(tmp_path, capsys, grades, asked):
    rows = [f"c{n},{grades[n % 3]},{grades[(n + (n % 4 == 0)) % 3]}" for n in range(24)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["case,r1,r2", *rows]))
    data = read(path).dataset
    both = [number(one.value) for one in alpha_as_scale_and_names(data, order_by_name(grades) or grades)]
    said = f"α is {both[0]} if they are (--ordinal), {both[1]} if not"
    assert main(["describe", str(path)]) == 0
    assert (said in " ".join(json.loads(capsys.readouterr().out)["warnings"])) == asked
    assert main(["agreement", str(path)]) == 0
    assert (said in capsys.readouterr().err) == asked
    assert main(["agreement", str(path), *(["--ordinal"] if asked else ["--weights", "identity"])]) == 0
    assert "a scale or names" not in capsys.readouterr().err


def test_ordered_classes_get_weighted_coefficients_and_ordinal_alpha(answer):
    rows = answer("agreement", "anaesthesia", "--ordinal", "--classes", "1,2,3,4")["coefficients"]
    assert {"quadratic", "ordinal", "ordinal metric"} <= {row["weights"] for row in rows}
    nominal = answer("agreement", "anaesthesia")
    assert {row["weights"] for row in nominal["coefficients"]} == {"identity", "nominal", "annotations_m1"}
    assert any("order" in row["why"] for row in nominal["not_given"])


def assert_rows(rows, expected):
    """The coefficients told are those of the library, field by field."""
    assert [row["name"] for row in rows] == [coefficient.name for coefficient in expected]
    for row, coefficient in zip(rows, expected, strict=True):
        assert {"name", "weights", "value", "se", "ci_low", "ci_high", "n_cases", "note"} <= row.keys()
        for key in ("value", "se", "ci_low", "ci_high", "n_cases", "note"):
            assert row[key] == getattr(coefficient, key)


def test_what_is_undefined_is_null_with_a_note(answer, tmp_path):
    path = tmp_path / "one class.csv"
    path.write_text("case,rater,class\n1,ann,x\n1,bob,x\n2,ann,x\n2,bob,x\n")
    rows = {row["name"]: row for row in answer("agreement", path)["coefficients"]}
    assert rows["fleiss_kappa"]["value"] is None
    assert "only one class" in rows["fleiss_kappa"]["note"]


def test_fit_gives_the_numbers_of_the_library(answer):
    told = answer("fit", "dawid-skene", "anaesthesia", "--smoothing", "none")
    fit = DawidSkene("none").fit(load_sample("anaesthesia"))
    assert (told["model"], told["method"], told["converged"]) == ("dawid-skene", "em", fit.converged)
    assert told["log_likelihood"] == fit.log_likelihood
    assert told["classes"] == list(fit.classes)
    assert told["prevalence"] == dict(zip(fit.classes, fit.prevalence.tolist(), strict=True))
    assert [rater["rater"] for rater in told["raters"]] == list(fit.raters)
    assert [rater["n"] for rater in told["raters"]] == fit.n_annotations.tolist()
    np.testing.assert_array_equal([rater["confusion"] for rater in told["raters"]], fit.confusion)
    assert_stamped(told, load_sample("anaesthesia").digest)


def test_a_part_of_a_fit_is_the_table_of_the_models_page(answer, run):
    models = of_fits([fit_request(request("one-coin"), load_sample("anaesthesia"))])
    for name, more in (("raters", {}), ("prevalence", {}), ("cases", {"every": True}), ("soft_labels", {})):
        part = MODELS.part(name)
        options, dataset = part.resolve(**more), models.shown.dataset
        table = part.frame(part.answer(dataset, options, models), dataset, options)
        found = answer("fit", "one-coin", "anaesthesia", "--part", name, *(f"--{flag}" for flag in more))
        assert found["part"] == name and list(found["rows"][0]) == list(table)
        for row, values in zip(found["rows"], table.to_dict("records"), strict=True):
            assert row == {key: None if value != value else pytest.approx(value) for key, value in values.items()}
    _, error = run("fit", "one-coin", "anaesthesia", "--part", "gold", status=2)
    assert "“Against gold” is not available: no case with an annotation has a gold class." in error


def test_options_may_stand_before_the_file(answer):
    before = answer("fit", "--smoothing", "none", "dawid-skene", "anaesthesia")
    after = answer("fit", "dawid-skene", "anaesthesia", "--smoothing", "none")
    assert before["log_likelihood"] == after["log_likelihood"]


@pytest.mark.parametrize(
    "model", ["one-coin", "class-conditional", "tap", "hierarchical", "bayesian-dawid-skene", "difficulty", "glad"]
)
def test_every_model_is_fitted_by_its_quickest_method(answer, model):
    arguments = ("--positive", "2") if model == "difficulty" else ()
    told = answer("fit", model, "anaesthesia", *arguments)
    assert told["converged"]
    assert sum(told["prevalence"].values()) == pytest.approx(1)
    for rater in told["raters"]:
        np.testing.assert_allclose(np.sum(rater["confusion"], axis=1), 1)


def test_draws_tell_prevalence_convergence_checks_and_leave_one_out(answer):
    arguments = ("--model", "ABC", "--method", "nuts", "--draws", "150", "--tune", "150", "--chains", "2")
    told = answer("fit", "difficulty", "caries", *arguments)
    assert told["pi"]["ci_low"] < told["pi"]["mean"] < told["pi"]["ci_high"]
    assert told["elpd_loo"] == pytest.approx(-7476.6, abs=2)
    assert told["votes_check"]["fails"] and not told["raters_check"]["fails"]
    assert {"elpd_se", "rhat_max", "ess_min", "p_raters", "p_votes"} <= told.keys()
    assert told["as_in_paper"]["elpd"] == pytest.approx(-8749.87, abs=2)
    assert told["as_in_paper"]["n_annotations"] == 19_345


def test_what_draws_tell_stands_under_its_own_name():
    """Numbers that are 0 on every sample, and of which no two are alike here."""
    prevalence = Spread(*(np.array([0.1, value]) for value in (0.02, 0.31, 0.42)))
    found = SimpleNamespace(
        model="difficulty-ABC",
        classes=("x", "y"),
        prevalence=np.array([0.64, 0.36]),
        uncertainty=SimpleNamespace(prevalence=prevalence),
    )
    bayes = SimpleNamespace(
        loo=SimpleNamespace(elpd=-812.5, se=13.5, n_high_k=4),
        paper=SimpleNamespace(elpd=-790.0, se=11.25, n_annotations=345, n_high_k=6),
        diagnostics=SimpleNamespace(rhat_max=1.03, ess_bulk_min=222.0, n_divergent=17, words="Not converged."),
        checks=(
            SimpleNamespace(kind="raters", headline=0.25, fails=False, n_statistics=8),
            SimpleNamespace(kind="votes", headline=0.001, fails=True, n_statistics=5),
        ),
    )
    assert _of_posterior(SimpleNamespace(fit=found, bayes=bayes)) == {
        "pi": {"mean": 0.36, "sd": 0.02, "ci_low": 0.31, "ci_high": 0.42},
        "elpd_loo": -812.5,
        "elpd_se": 13.5,
        "n_high_k": 4,
        "as_in_paper": {"elpd": -790.0, "se": 11.25, "n_annotations": 345, "n_high_k": 6},
        "rhat_max": 1.03,
        "ess_min": 222.0,
        "n_divergent": 17,
        "convergence": "Not converged.",
        "p_raters": 0.25,
        "raters_check": {"fails": False, "n_statistics": 8},
        "p_votes": 0.001,
        "votes_check": {"fails": True, "n_statistics": 5},
    }


def test_the_baseline_without_parameters_tells_its_checks_and_scores(answer):
    told = answer("fit", "difficulty", "caries", "--model", "ABDE", "--method", "nuts")
    assert told["votes_check"]["fails"] and told["elpd_loo"] < -7476.6
    assert "pi" not in told and "rhat_max" not in told and "as_in_paper" in told


def test_intervals_of_a_fit_are_asked_for(answer):
    told = answer("fit", "dawid-skene", "caries", "--smoothing", "none", "--intervals")
    low, high = (told["prevalence_interval"]["1"][end] for end in ("ci_low", "ci_high"))
    assert low < told["prevalence"]["1"] < high
    assert all(rater["ci_low"] <= rater["accuracy"] <= rater["ci_high"] for rater in told["raters"])


def test_an_average_of_models_has_intervals_by_draws_if_asked(answer):
    dataset = load_sample("anaesthesia")
    told = answer("fit", "model-average", "anaesthesia", "--intervals", "--seed", "3")
    averaged = average_models(choose(dataset, independent=False), dataset)
    expected = uncertainty_of(averaged, dataset, seed=3)
    assert [one["ci_low"] for one in told["raters"]] == pytest.approx(expected.accuracy.low.tolist())
    assert told["prevalence_interval"]["2"]["ci_high"] == pytest.approx(expected.prevalence.high[1])
    assert "ci_low" not in answer("fit", "model-average", "anaesthesia")["raters"][0]


def test_known_cases_are_held_fixed(answer, tmp_path):
    path, out = tmp_path / "gold.csv", tmp_path / "cases.csv"
    path.write_text("case,class\n2,1\n")
    answer("fit", "dawid-skene", "anaesthesia", "--gold", path, "--cases-out", out)
    table = pd.read_csv(out, encoding="utf-8-sig", dtype={"case": str}).set_index("case")
    assert table.loc["2", "1"] == 1


def test_a_pipe_is_a_file(answer, monkeypatch):
    content = io.BytesIO(b"case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content))
    assert answer("describe", "-")["n_annotations"] == 4


def test_a_selection_counts_for_every_command(answer):
    chosen = Selection(raters=("R01", "R02", "R03"))
    dataset = chosen.apply(load_sample("skin"))
    told = answer("agreement", "skin", "--select", chosen.to_text())
    assert told["digest"] == dataset.digest
    assert_rows(told["coefficients"], coefficients_for(dataset, spa_weightings=["annotations_m1"]).coefficients)


def test_a_report_is_written(answer, tmp_path):
    out = tmp_path / "report.html"
    told = answer("report", "anaesthesia", "--out", out, "--sections", "agreement,data", "--draws", "50")
    assert told["bytes"] == out.stat().st_size
    assert [row["section"] for row in told["sections"]] == ["agreement", "data"]
    assert out.read_bytes().startswith(b"<!DOCTYPE html>")


def test_one_of_several_questions_is_named(answer, run, tmp_path):
    path = tmp_path / "export.json"
    results = [
        {"from_name": name, "type": "choices", "value": {"choices": [choice]}}
        for name, choice in (("finding", "lesion"), ("quality", "good"))
    ]
    tasks = [
        {
            "id": case,
            "data": {},
            "annotations": [{"id": 10 * case + r, "completed_by": r, "result": results} for r in (1, 2)],
        }
        for case in (1, 2)
    ]
    path.write_text(json.dumps(tasks))
    assert answer("describe", path, "--question", "quality")["classes"] == ["good"]
    assert "Choose a question (--question NAME)" in run("describe", path, status=2)[1]


def test_a_better_mode_stands_beside_the_start_from_the_votes(answer):
    told = answer("fit", "dawid-skene", "anaesthesia", "--smoothing", "none", "--restarts", "40")
    start = DawidSkene(smoothing="none").fit(load_sample("anaesthesia"))
    found = told["restarts"]
    assert (found["n"], found["differs"], found["n_changed_cases"]) == (40, True, 1)
    assert found["vote_start_log_likelihood"] == pytest.approx(start.log_likelihood)
    assert start.log_likelihood == pytest.approx(-192.891, abs=1e-3)
    assert told["log_likelihood"] == pytest.approx(-191.569, abs=1e-3)


def test_restarts_say_whether_they_found_something_else(answer):
    told = answer("fit", "dawid-skene", "anaesthesia", "--smoothing", "pooled", "--restarts", "2", "--seed", "7")
    assert told["restarts"]["n"] == 2
    assert told["restarts"]["differs"] in (True, False)
    assert told["seed"] == 7


def test_probabilities_of_cases_are_written_to_a_file(answer, run, tmp_path, file):
    out = tmp_path / "truth.csv"
    told = answer("fit", "majority", file, "--cases-out", out)
    fit = MajorityVote().fit(read(CSV.encode()).dataset)
    assert told["log_likelihood"] is None
    table = pd.read_csv(out, encoding="utf-8-sig", dtype={"case": str})
    assert table["case"].tolist() == list(fit.cases)
    np.testing.assert_allclose(table[["x", "y"]], fit.class_probability)
    assert pd.read_csv(io.StringIO(run("fit", "majority", file, "--csv")[0]), dtype={"case": str}).equals(table)


def test_a_class_may_bear_the_name_of_a_column(answer, tmp_path):
    path, out = tmp_path / "d.csv", tmp_path / "out.csv"
    path.write_text("item,rater,class\n1,ann,case\n1,bob,case\n2,ann,=1+1\n2,bob,case\n")
    answer("fit", "majority", path, "--cases-out", out)
    assert out.read_text(encoding="utf-8-sig").splitlines()[0] in ("case,'=1+1,case", "case,case,'=1+1")


def test_certainty_with_the_learned_prior_tells_uncertain_cases_and_what_more_raters_would_do(answer, tmp_path):
    rows = [(case, rater, "ab"[case % 14 == rater]) for case in range(40) for rater in (0, 1)] + [(40, 0, "a")]
    file, out = tmp_path / "double.csv", tmp_path / "cases.csv"
    file.write_text("case,rater,class\n" + "".join(f"c{case},r{rater},{label}\n" for case, rater, label in rows))
    told = answer("certainty", "dirichlet", file, "--learned-prior", "--draws", "50", "--cases-out", out)
    dataset = read(file).dataset
    learned = learned_counts(dataset)
    assert told["reliability"] == 1 and told["prior"]["strength"] == pytest.approx(learned.prior.strength)
    assert told["uncertain"]["n"] == 6 and told["uncertain"]["one_annotation"] == 1
    assert told["uncertain"]["sentence"] == "6 of 41 uncertain, 1 with one annotation"
    assert told["more_raters"] == more_raters(dataset, learned.model).counts
    table = pd.read_csv(out)
    assert table.more_raters.value_counts().to_dict() == {k: n for k, n in told["more_raters"].items() if n}
    assert main(["certainty", "dirichlet", str(file), "--learned-prior", "--alpha", "2"]) != 0


def test_certainty_gives_the_numbers_of_the_library(answer, tmp_path):
    out = tmp_path / "cases.csv"
    arguments = ("--reliability", "3", "--draws", "200", "--top", "2", "--seed", "5", "--cases-out", out)
    told = answer("certainty", "dirichlet", "dermatology", *arguments)
    single, left_out = load_sample("dermatology").as_classes()
    result = annotation_certainty(DirichletCounts(depth=2), single, reliability=3, n_draws=200, max_top=2, seed=5)
    assert told["mean"] == {"top1": result.mean(1), "top2": result.mean(2)}
    assert told["se"] == {"top1": result.mean_se(1), "top2": result.mean_se(2)}
    assert told["n_below"]["0.99"] == result.n_below(0.99)
    assert told["left_out"] == left_out
    assert_stamped(told, single.digest, seed=5)
    table = pd.read_csv(out, encoding="utf-8-sig")
    np.testing.assert_allclose(table[["top1", "top2"]], result.certainty)


def test_columns_of_risk_are_of_the_top_class_and_of_summed_classes_each_as_it_is_by_hand(answer, tmp_path):
    """Levels low, low, high. One annotation of each class is Dirichlet(2, 2, 2), two of the last Dirichlet(1, 1, 3).

    The top class is low in 2 of 3 draws, and high in 1 - 2/2³ + 1/3³ of them (Gamma shares: z above x, y, or both); the
    last class holds more than half where Beta(2, 4) does, in 6 of 32, and where Beta(3, 2) does, in 11 of 16.
    """
    data, risk, out = (tmp_path / name for name in ("data.csv", "risk.csv", "cases.csv"))
    data.write_text("case,rater,class\n1,ann,x\n1,bob,y\n1,cy,z\n2,ann,z\n2,bob,z\n")
    risk.write_text("class,risk\nx,low\ny,low\nz,high\n")
    given = ("--reliability", 1, "--alpha", 1, "--draws", 20_000, "--risk", risk, "--cases-out", out)
    told = answer("certainty", "dirichlet", data, *given)
    table = pd.read_csv(out, encoding="utf-8-sig")
    assert table["risk"].tolist() == ["low", "high"]
    assert table["risk_of_top1"].to_numpy() == pytest.approx([2 / 3, 1 - 2 / 8 + 1 / 27], abs=0.015)  # 4.5 errors
    assert table["risk_summed"].to_numpy() == pytest.approx([26 / 32, 11 / 16], abs=0.015)
    assert table["expected_risk"].to_numpy() == pytest.approx([2 * 2 / 6, 2 * 3 / 5], abs=0.015)
    columns = {"of_top1": table["risk_of_top1"].mean(), "summed": table["risk_summed"].mean()}
    assert told["risk"] == pytest.approx(columns, abs=1e-9) and abs(columns["of_top1"] - columns["summed"]) > 0.005


def test_sets_larger_than_the_list_of_classes_are_null_with_a_note(answer, file):
    told = answer("certainty", "dirichlet", file, "--reliability", "1", "--draws", "50")
    assert told["mean"]["top3"] is None
    assert "top2" in told["note"]
    assert "note" not in answer("certainty", "dirichlet", file, "--reliability", "1", "--draws", "50", "--top", "2")


def test_sweep_gives_the_numbers_of_the_library(answer, file):
    told = answer("sweep", "dirichlet", file, "--reliabilities", "1,2.5", "--draws", "100", "--top", "2")
    dataset = read(CSV.encode()).dataset
    sweep = reliability_sweep(DirichletCounts(depth=2), dataset, [1, 2.5], n_draws=100, max_top=2)
    assert [row["reliability"] for row in told["rows"]] == [1, 2.5]
    assert [row["top1"] for row in told["rows"]] == sweep.mean(1).tolist()
    assert [row["top2"] for row in told["rows"]] == sweep.mean(2).tolist()
    assert told["better"] == []
    assert_stamped(told, dataset.digest)


def test_scores_have_their_own_coefficients_and_become_classes_by_a_threshold_only(answer, run, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("case,rater,score\n1,ann,1.5\n1,bob,2.5\n2,ann,0.5\n2,bob,1\n")
    names = [row["name"] for row in answer("agreement", path)["coefficients"]]
    assert "icc_2" in names and "fleiss_kappa" not in names
    names = [row["name"] for row in answer("agreement", path, "--threshold", "2")["coefficients"]]
    assert "fleiss_kappa" in names and "icc_2" not in names
    assert "threshold" in run("fit", "majority", path, status=2)[1]
    told = answer("fit", "majority", path, "--threshold", "2")
    assert told["classes"] == ["≤ 2", "> 2"]


def test_warnings_stand_on_standard_error_and_not_in_the_json(run, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("case,rater,class\n1,ann,x\n2,ann,y\n")
    out, err = run("fit", "majority", path)
    assert json.loads(out)["n_iterations"] == 0
    assert err.startswith("plurality: There is only one rater")


BAD = {
    "no such file": (["describe", "nowhere.csv"], "Could not open nowhere.csv"),
    "a folder": (["describe", "docs"], "the folder has no Parquet files"),
    "no such column": (["describe", "FILE", "--case", "nothing"], "Could not find the column 'nothing'"),
    "no such command": (["explode"], "No such command 'explode'"),
    "no command": ([], "Missing command"),
    "no file": (["describe"], "Missing argument 'FILE'"),
    "no reliability": (["sweep", "dirichlet", "FILE"], "--reliabilities"),
    "no number": (["certainty", "dirichlet", "FILE", "--reliability", "much"], "not a valid float"),
    "reliability zero": (["certainty", "dirichlet", "FILE", "--reliability", "0"], "reliability γ must be"),
    "reliability nan": (["sweep", "dirichlet", "FILE", "--reliabilities", "1,nan"], "reliability γ is nan"),
    "no list": (["sweep", "dirichlet", "FILE", "--reliabilities", "1;2"], "not a list of numbers"),
    "no draws": (
        ["certainty", "dirichlet", "FILE", "--reliability", "1", "--draws", "0"],
        "It must be at least 1",
    ),
    "alpha": (["certainty", "dirichlet", "FILE", "--reliability", "1", "--alpha", "-1"], "Prior α"),
    "top": (["certainty", "dirichlet", "FILE", "--reliability", "1", "--top", "0"], "between 1 and 10"),
    "level": (["agreement", "FILE", "--level", "95"], "above 0 and below 1"),
    "weighting": (["agreement", "FILE", "--spa-weights", "all"], "Unknown weighting 'all'"),
    "restarts": (["fit", "dawid-skene", "FILE", "--restarts", "-1"], "--restarts must be 0 or more"),
    "unwritable": (["fit", "majority", "FILE", "--cases-out", "no/such/folder.csv"], "Could not write"),
    "anonymous": (["fit", "dawid-skene", "FILE", "--rater", "none"], "anonymous"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_status_2(run, file, name):
    arguments, words = BAD[name]
    out, err = run(*(file if argument == "FILE" else argument for argument in arguments), status=2)
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("plurality: ")
    assert words in err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "PNG image"),
        (b"case,rater,class\n1,ann,NA\n", "Could not read annotations: no row has a case, a rater and an annotation"),
        (b'case,rater,class\n1,ann,"x\n1,bob,y\n', "Line 2: Could not read the file: a quotation mark"),
        (b"case,rater,class\n1,ann,x\n2,ann,y\n", "no case has two annotations"),
    ],
)
def test_a_bad_file_is_one_line_even_where_it_could_be_read(run, tmp_path, content, words):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    _, err = run("fit", "dawid-skene", path, status=2)
    assert err.count("\n") == 1
    assert words in err


def test_a_model_too_large_for_its_data_is_refused_with_advice(run, file, monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "7")
    dataset = read(CSV.encode()).dataset
    with pytest.raises(LimitError, match=r"2 raters × 2² classes = 8 numbers; the limit is 7\. Use majority vote"):
        DawidSkene().fit(dataset)
    assert "Use majority vote" in run("fit", "dawid-skene", file, status=2)[1]
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "8")
    assert DawidSkene().fit(dataset).converged
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "many")
    assert "PLURALITY_MAX_MODEL_CELLS is 'many'" in run("fit", "dawid-skene", file, status=2)[1]


def test_a_model_of_too_many_cases_is_refused_with_advice(monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "100")
    rows = "".join(f"{case},{rater},{case % 2}\n" for case in range(51) for rater in "ab")
    dataset = read(("case,rater,class\n" + rows).encode()).dataset
    with pytest.raises(LimitError, match=r"51 cases × 2 classes = 102 numbers.*Merge rare classes or use fewer cases"):
        DawidSkene().fit(dataset)


def test_a_file_wins_over_a_sample_of_its_name_and_a_folder_does_not(answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skin").mkdir()
    assert answer("describe", "skin")["n_cases"] == 400
    (tmp_path / "caries").write_text(CSV)
    assert answer("describe", "caries")["n_cases"] == 3


def test_the_module_runs_and_speaks_utf_8_on_any_terminal(tmp_path):
    path = tmp_path / "läbels.csv"
    path.write_text("case,rater,class\n1,Zoë,é\n1,bob,x\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "core", "describe", str(path)], cwd=ROOT, env=environment, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["classes"] == ["x", "é"]
    failed = subprocess.run(
        [sys.executable, "-m", "core", "describe", "né"], cwd=ROOT, env=environment, capture_output=True
    )
    assert failed.returncode == 2
    assert failed.stderr.decode().count("\n") == 1


def test_trust_per_rater_comes_with_certainty_and_with_every_row_of_a_sweep(answer, run, file):
    """The posterior of the model's own chain, and what it must not be taken for."""
    told = answer("certainty", "mixture-plackett-luce", file, "--reliability", 2, "--draws", 60, "--seed", 3)
    dataset = read(file).dataset
    trust = MixturePlackettLuce().fit(dataset, reliability=2.0, n_draws=60, seed=3).raters
    assert_stamped(told, dataset.digest, 3)
    assert [row["rater"] for row in told["raters"]] == list(dataset.raters)
    assert [row["trust"] for row in told["raters"]] == trust.mean.tolist()
    assert [row["n"] for row in told["raters"]] == trust.n.tolist()
    for row in told["raters"]:
        assert row["ci_low"] <= row["trust"] <= row["ci_high"]
    assert any("They are not accuracies" in note for note in told["notes"])
    assert not any("accuracy" in row for row in told["raters"])
    swept = answer("sweep", "mixture-plackett-luce", file, "--reliabilities", "1,2", "--draws", 60, "--seed", 3)
    assert swept["rows"][1]["raters"] == told["raters"]
    assert swept["rows"][0]["raters"] == told["raters"]  # estimated at γ = 1 and fixed
    assert any("estimated at γ = 1 and stay fixed" in note for note in told["notes"])
    assert "raters" not in answer("certainty", "plackett-luce", file, "--reliability", 2, "--draws", 20)
    error = run("certainty", "mixture-plackett-luce", file, "--reliability", 2, "--rater", "none", status=2)[1]
    assert "anonymous" in error


def test_a_table_on_the_terminal_runs_nothing_in_a_spreadsheet(run, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("case,rater,class\n=1+1,a,x\n=1+1,b,y\n+2,a,x\n+2,b,x\n")
    text = run("fit", "majority", str(path), "--csv")[0]
    rows = pd.read_csv(io.StringIO(text), dtype=str)
    assert sorted(rows["case"]) == ["'+2", "'=1+1"]


def test_levels_of_risk_stand_one_a_line_as_words_or_numbers_or_in_a_table(answer, run, tmp_path):
    data, risk, out = (tmp_path / name for name in ("data.csv", "risk.txt", "cases.csv"))
    data.write_text("case,rater,class\n1,ann,x\n1,bob,x\n2,ann,y\n2,bob,y\n3,ann,z\n3,bob,z\n")
    asked = ("certainty", "dirichlet", data, "--reliability", 9, "--draws", 50, "--risk", risk, "--cases-out", out)
    for text in ("high\n0\n\nmedium\n", "2\nLow\n1\n", "class,risk\nz,Medium\ny,0\nx,high\n", "z,1\nx,2\ny,low\n"):
        risk.write_text(text)
        answer(*asked)
        assert pd.read_csv(out, encoding="utf-8-sig")["risk"].tolist() == ["high", "low", "medium"], text
    named = data.read_text().replace("y", '"y, or so"')
    data.write_text(named)
    for name in ("y, or so", '"y, or so"'):  # a class with a comma: the level stands after the last one
        risk.write_text(f"x,high\n{name},low\nz,medium\n")
        answer(*asked)
        assert pd.read_csv(out, encoding="utf-8-sig")["risk"].tolist() == ["high", "low", "medium"]
    data.write_text(named.replace('"y, or so"', "y"))
    for text, said in (
        ("low\n1\n", "has 2 risk levels for 3 classes. Provide one risk level per class."),
        ("x,low\ny,deadly\nz,1\n", "has no valid risk level for class 'y'. Use low, medium or high (or 0, 1, 2)."),
        ("x,low\ny,high\n", "has no valid risk level for class 'z'."),
        ("", "has no valid risk level for class 'x'."),
    ):
        risk.write_text(text)
        assert said in run(*asked, status=2)[1], text
    risk.write_bytes("x,high\né,low\n".encode("latin-1"))
    assert f"Could not read {risk}: it is not UTF-8" in run(*asked, status=2)[1]
    risk.unlink()
    assert f"Could not open {risk}: No such file or directory." in run(*asked, status=2)[1]
