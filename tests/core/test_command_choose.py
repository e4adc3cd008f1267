"""The commands that choose a rater model, and fit what was chosen."""

import csv
import json

import numpy as np
import pytest

from core.command_line import main
from core.models import choice_cost
from tests.core.models.rows import rules


@pytest.fixture
def crowd(tmp_path):
    """Six raters on 120 cases of three classes, and what is true of them."""
    rng = np.random.default_rng(3)
    answers, gold = tmp_path / "answers.csv", tmp_path / "gold.csv"
    truth = rng.integers(3, size=120)
    with answers.open("w", newline="") as one, gold.open("w", newline="") as other:
        rows, known = csv.writer(one), csv.writer(other)
        rows.writerow(["case", "rater", "class"])
        known.writerow(["case", "class"])
        for case in range(120):
            known.writerow([f"c{case}", "abc"[truth[case]]])
            for rater in rng.choice(6, size=4, replace=False):
                right = rng.random() < (0.9 if rater else 0.4)
                rows.writerow([f"c{case}", f"r{rater}", "abc"[truth[case] if right else rng.integers(3)]])
    return answers, gold


def told(capsys, *arguments):
    assert main([str(each) for each in arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_choose_has_its_keys_and_fit_auto_fits_what_was_chosen(crowd, capsys, tmp_path):
    answers, gold = crowd
    found = told(capsys, "choose", answers, "--gold", gold)
    keys = {"model", "score", "se", "diff", "diff_se", "n_parameters", "beta"}
    assert all(keys < set(row) for row in found["models"])
    best = next(row for row in found["models"] if row["model"] == found["chosen"])
    assert best["diff"] == 0 and best["excluded"] is None
    assert best["score"] == max(row["score"] for row in found["models"] if row["excluded"] is None)
    assert found["reason"].endswith(".")
    judged = best["gold"]
    assert judged["n"] == 120 and {"accuracy", "log_loss", "brier", "ece", "at_99"} < set(judged)
    assert {"n", "right"} < set(judged["at_99"])
    assert found["beta_by_gold"]["n"] == 120

    out = tmp_path / "cases.csv"
    fitted = told(capsys, "fit", "auto", answers, "--cases-out", out)
    assert fitted["chosen"] == found["chosen"] and fitted["reason"] == found["reason"]
    assert fitted["beta"] == best["beta_shown"] == fitted["settings"]["beta"]
    truth = dict(csv.reader(gold.read_text().splitlines()))
    table = list(csv.DictReader(out.read_text("utf-8-sig").splitlines()))
    loss = -np.mean([np.log(float(row[truth[row["case"]]])) for row in table])
    assert loss == pytest.approx(judged["log_loss"], rel=1e-6)
    top = [max("abc", key=lambda name, row=row: float(row[name])) for row in table]
    sure = np.array([float(row[name]) >= 0.99 for row, name in zip(table, top, strict=True)])
    right = np.array([truth[row["case"]] == name for row, name in zip(table, top, strict=True)])
    told_of_sure = judged["at_99"]
    assert 0 < told_of_sure["n"] == sure.sum() < 120
    assert told_of_sure["right"] == pytest.approx(right[sure].mean())
    assert told_of_sure["interval"][0] < told_of_sure["right"] <= told_of_sure["interval"][1]
    assert best["doubt"] == fitted["settings"]["doubt"]
    again = told(capsys, "fit", found["chosen"], answers, "--beta", fitted["beta"], "--doubt", best["doubt"])
    assert again["settings"] == fitted["settings"]
    assert again["prevalence"] == fitted["prevalence"]


def test_without_gold_nothing_is_judged_and_a_table_is_a_row_a_model(crowd, capsys):
    answers, _ = crowd
    found = told(capsys, "choose", answers)
    assert "beta_by_gold" not in found and all("gold" not in row for row in found["models"])
    assert main(["choose", str(answers), "--csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["model"] for row in rows] == [row["model"] for row in found["models"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["auto", "--smoothing", "none"], "“auto” chooses"),
        (["auto", "--beta", "0.5"], "“auto” chooses"),
        (["one-coin", "--beta", "2"], "must be from 0.001 to 1"),
        (["majority", "--beta", "0.5"], "has no option beta"),
        (["one-coin", "--smoothing", "empirical"], "must be one of none, pooled"),
        (["dawid-skene-empirical", "--smoothing", "none"], "has no option smoothing"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(arguments, said, crowd, capsys):
    assert main(["fit", arguments[0], str(crowd[0]), *arguments[1:]]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dawid-skene", "--raters", "own"], "Could not use --raters: Dawid-Skene has no such option. Leave it out"),
        (["tap", "--raters", "some"], "--raters is 'some'. Use one of own, common."),
        (["tap", "--model", "AB"], "Could not use --model: t-a-p has no such option."),
        (
            ["dawid-skene", "--evidence", "M=two.csv"],
            "Could not use two.csv: it contains predictions from 2 classifiers. Use a file with predictions from one",
        ),
        (
            ["dawid-skene", "--evidence", "M=sure.csv"],
            "Could not use M as evidence: it has no probabilities. Provide the probability of each",
        ),
        (["dawid-skene", "--gold", "none.csv"], "Could not open none.csv: No such file or directory."),
        (
            ["dawid-skene", "--gold", "narrow.csv"],
            "Could not read the table: only one column was found ('case'). Use a table with at least a case",
        ),
    ],
)
def test_files_and_variants_that_do_not_fit_are_refused_in_one_line(
    arguments, said, crowd, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    cases = [f"c{case}" for case in range(120)]
    for name, lines in {
        "two": ["case,model,class,score", *(f"{case},{who},a,.5" for case in cases for who in "AB")],
        "sure": ["case,class", *(f"{case},a" for case in cases)],
        "narrow": ["case", *cases],
    }.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    assert main(["fit", arguments[0], str(crowd[0]), *arguments[1:]]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_rules_of_one_class_each_open_with_the_smoothed_vote_and_flips_are_counted(capsys, tmp_path):
    rows, truth = rules(1, 0.3, 0.0)
    path, out = tmp_path / "rules.csv", tmp_path / "cases.csv"
    path.write_text("\n".join(["case,rater,class", *(f"c{case},r{rater},{answer}" for case, rater, answer in rows)]))
    found = told(capsys, "choose", path)
    assert (
        found["chosen"] == "smoothed-vote"
        and "For such raters, only the choice of cases is informative" in found["reason"]
    )
    row = {each["model"]: each for each in found["models"]}
    assert row["smoothed-vote"]["flipped"] == 0 and row["smoothed-vote"]["excluded"] is None
    assert (
        row["dawid-skene"]["excluded"].startswith("It estimates a prevalence of ") and row["dawid-skene"]["converged"]
    )
    assert 10 < row["dawid-skene"]["flipped"] < found["n_unanimous"]
    fitted = told(capsys, "fit", "auto", path, "--cases-out", out)
    assert fitted["chosen"] == "smoothed-vote" and fitted["reason"] == found["reason"]
    assert (fitted["flipped"], fitted["n_unanimous"]) == (0, found["n_unanimous"])
    table = {row["case"]: float(row["1"]) for row in csv.DictReader(out.read_text("utf-8-sig").splitlines())}
    right = [(table[f"c{case}"] > 0.5) == truth[case] for case in range(len(truth))]
    assert np.mean(right) > 0.9
    assert told(capsys, "fit", "smoothed-vote", path)["settings"] == fitted["settings"]


@pytest.mark.parametrize("command", [["choose"], ["fit", "auto"]])
def test_a_long_choice_says_about_how_long_it_takes_before_it_begins(command, crowd, capsys, monkeypatch):
    monkeypatch.setattr(choice_cost, "_OF_ANNOTATION", 1e-4)
    monkeypatch.setattr(choice_cost, "MOST_SECONDS", 1e9)
    assert main([*command, str(crowd[0])]) == 0
    assert "Scoring rater models takes about 15 minutes." in capsys.readouterr().err


def test_average_of_models_is_told_with_weights_and_what_gold_says_of_it(capsys, crowd):
    answers, gold = crowd
    plain = told(capsys, "choose", answers, "--gold", gold, "--no-average")
    found = told(capsys, "choose", answers, "--gold", gold)
    average = found.pop("average")
    assert found["models"] == plain["models"] and "average" not in plain
    assert found["opens"] == plain["opens"] == "model-average"
    assert len(average["differ"]) == average["n_differ"]
    assert sum(each["weight"] for each in average["members"]) == pytest.approx(1)
    assert average["members"][-1] == {
        "model": "smoothed-vote", "weight": pytest.approx(1 / 12), "score": None, "beta": None, "beta_low": None,
        "beta_high": None, "doubt": None,
    }  # fmt: skip
    assert len(average["beta"]) == len(average["members"]) - 1
    assert average["gold"]["n"] == 120 and average["gold"]["accuracy"] > 0.8
    assert average["sentence"].startswith("Weighted average of ")
