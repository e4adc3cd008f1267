"""Panels of AI raters, guidelines, groups of raters and the quality gate on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from core.analyses.panel import PANEL, options_of
from core.annotations.write import long_table
from core.command_line import main
from core.machines.marks import Machine
from core.models.difficulty.covariates import fit_covariates
from tests.core.agreement.guideline_simulated import in_groups
from tests.core.agreement.guideline_simulated import simulated as confused
from tests.core.machines.panel_simulated import simulated
from tests.core.models.difficulty.covariate_examples import simulated as with_facts
from tests.core.raters.groups_simulated import simulated as grouped


def run(capsys, *arguments):
    """Exit status, and the JSON of a command that answers."""
    status = main([str(one) for one in arguments])
    out = capsys.readouterr()
    return status, json.loads(out.out) if status < 2 else out.err


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of a panel with its gold, of a guideline, and of raters with facts."""
    folder = tmp_path_factory.mktemp("files")
    panel, ai = simulated(3, 150, 0.5)
    long_table(panel).to_csv(folder / "panel.csv", index=False)
    gold = pd.DataFrame({"case": panel.cases, "class": [panel.classes[code] for code in panel.gold]})
    gold.to_csv(folder / "gold.csv", index=False)
    long_table(confused(1)).to_csv(folder / "guideline.csv", index=False)
    groups, facts = grouped(1, n=120, shift=1.0, kind="class")
    long_table(groups).to_csv(folder / "groups.csv", index=False)
    pd.DataFrame({"rater": groups.raters, **dict(zip(facts.names, facts.values, strict=True))}).to_csv(
        folder / "facts.csv", index=False
    )
    return folder, panel, ai


def test_panel_gives_what_the_page_has(files, capsys):
    folder, panel, ai = files
    arguments = ("panel", folder / "panel.csv", "--machine", ",".join(ai), "--truth", "gold")
    status, answer = run(capsys, *arguments, "--gold", folder / "gold.csv")
    part = PANEL.parts[0].with_options(**options_of(panel, [Machine(name) for name in ai]), truth="gold")
    found = part.answer(panel)
    assert status == 0 and answer["words"] == found.words()
    assert answer["n_effective"] == pytest.approx(found.n_effective._asdict())
    assert [row["name"] for row in answer["rows"]] == part.frame(found, panel)["name"].tolist()
    status, words = run(capsys, *arguments)
    assert status == 2 and "no case has a gold class" in words


def test_panel_takes_families_from_the_command_line(files, capsys):
    folder, panel, ai = files
    line = ("panel", folder / "panel.csv", "--machine", ",".join(ai))
    status, answer = run(capsys, *line, "--family", f"Large={ai[0]},{ai[1]}")
    marked = [Machine(name, "Large" if name in ai[:2] else "") for name in ai]
    part = PANEL.parts[0].with_options(**options_of(panel, marked))
    wanted = part.frame(part.answer(panel), panel).query("kind == 'family'")
    (row,) = [row for row in answer["rows"] if row["kind"] == "family"]
    assert status == 0 and row["name"] == "Large" == wanted["name"].item()
    assert row["vote_without"] == pytest.approx(wanted["vote_without"].item())
    for given, why in (("Large=nobody", "'nobody' is not an AI rater"), ("Large", "it has no members")):
        status, words = run(capsys, *line, "--family", given)
        assert status == 2 and why in words


def test_guideline_writes_the_merged_dataset(files, capsys):
    folder = files[0]
    out = folder / "merged.csv"
    status, answer = run(capsys, "guideline", folder / "guideline.csv", "--merge", "A", "B", "--out", out)
    assert status == 0 and answer["merged"]["classes"] == ["A / B", "C", "D", "E"]
    assert sum(row["share"] for row in answer["rows"]) == pytest.approx(1)
    assert set(pd.read_csv(out)["class"]) == {"A / B", "C", "D", "E"}
    status, answer = run(capsys, "guideline", folder / "guideline.csv", "--since", "1970-02-20")
    assert answer["rows"][0]["change"] == pytest.approx(answer["rows"][0]["after"] - answer["rows"][0]["before"])
    status, words = run(capsys, "guideline", folder / "guideline.csv", "--merge", "A", "X")
    assert status == 2 and "Unknown class 'X'" in words


def test_guideline_compares_versions_and_names_a_group_that_alone_confuses(tmp_path, capsys):
    dataset, _ = in_groups(1, 0.02)
    table = long_table(dataset).assign(guideline=lambda rows: np.where(rows["case"].str.len() > 6, "v2", "v1"))
    table.to_csv(tmp_path / "both.csv", index=False)
    facts = pd.DataFrame({"rater": dataset.raters, "region": np.where(np.arange(20) < 10, "north", "south")})
    facts.to_csv(tmp_path / "facts.csv", index=False)
    line = ("guideline", tmp_path / "both.csv", "--guideline-version", "v2", "--facts", tmp_path / "facts.csv")
    status, answer = run(capsys, *line)
    first = answer["rows"][0]
    assert status == 0 and (first["who"], first["raters"]) == ("one group", "region: north")
    assert first["change"] == pytest.approx(first["after"] - first["before"])
    assert [row["class"] for row in answer["changes"]] == list(dataset.classes)
    assert "Without raters with region: north, this disagreement falls by half or more." in answer["words"]
    report = ("report", line[1], "--out", tmp_path / "report.html", "--sections", "guideline")
    run(capsys, *report, "--facts", tmp_path / "facts.csv")
    assert "region: north" in (tmp_path / "report.html").read_text(encoding="utf-8")
    status, words = run(capsys, *line, "--since", "2026-01-01")
    assert status == 2 and "Use one of them" in words


def test_any_column_can_be_the_version_of_the_guideline_and_facts_come_from_the_file(tmp_path, capsys):
    dataset, _ = in_groups(1, 0.02)
    table = long_table(dataset).assign(vers=lambda rows: np.where(rows["case"].str.len() > 6, "v2", "v1"))
    place = {name: place for place, name in enumerate(dataset.raters)}
    table["region"] = ["north" if place[name] < 10 else "south" for name in table["rater"]]
    table.to_csv(tmp_path / "both.csv", index=False)
    line = ("guideline", tmp_path / "both.csv", "--guideline-version", "v2")
    status, words = run(capsys, *line)
    assert status == 2 and "--group COLUMN" in words
    status, answer = run(capsys, *line, "--group", "vers")
    assert status == 0 and answer["rows"][0]["raters"] == "region: north"
    assert "of annotation pairs in versions other than v2, and on " in answer["words"]
    table.rename(columns={"vers": "guideline version"}).to_csv(tmp_path / "both.csv", index=False)
    assert run(capsys, *line)[1]["words"] == answer["words"], "known by its name"


def test_groups_take_facts_from_a_table_of_raters(files, capsys):
    folder = files[0]
    status, answer = run(capsys, "groups", folder / "groups.csv", "--facts", folder / "facts.csv")
    assert status == 0 and [row["group"] for row in answer["rows"] if row["named"]][:1] == ["a"]
    assert {row["fact"] for row in answer["rows"]} == {"region", "hand"} and "Raters with region “a” choose" in answer[
        "words"
    ]
    status, words = run(capsys, "groups", folder / "groups.csv")
    assert status == 2 and "one value per rater" in words
    status, words = run(capsys, "groups", "caries")
    assert status == 2 and "--facts" in words


def test_groups_give_cases_and_classifiers_by_group(files, capsys, tmp_path):
    folder = files[0]
    line = ("groups", folder / "groups.csv", "--facts", folder / "facts.csv", "--part")
    status, answer = run(capsys, *line, "cases")
    assert status == 0 and "The differences below may be due to chance" in answer["words"]
    assert {"case", "fact", "group", "p", "clear"} <= set(answer["rows"][0])
    cases = pd.read_csv(folder / "groups.csv")["case"].unique()
    pd.DataFrame({"case": cases, "class": "high"}).to_csv(tmp_path / "net.csv", index=False)
    status, answer = run(capsys, *line, "classifiers", "--predictions", f"net={tmp_path / 'net.csv'}")
    rates = {(row["fact"], row["group"]): row["rate"] for row in answer["rows"]}
    assert status == 0 and rates["region", "a"] > rates["region", "b"], "group a sees all cases as higher"
    assert answer["words"].startswith("net agrees least with region: ")
    status, said = run(capsys, *line, "classifiers")
    assert status == 2 and "--predictions NAME=FILE" in said


def test_a_report_compares_groups_only_with_facts(files, capsys, tmp_path):
    folder, out = files[0], tmp_path / "report.html"
    line = ("report", folder / "groups.csv", "--out", out, "--sections", "groups")
    run(capsys, *line, "--facts", folder / "facts.csv")
    text = out.read_text(encoding="utf-8")
    assert "Raters with region “a” choose" in text and "On which cases do groups differ?" in text
    run(capsys, *line)
    assert "Raters with region “a”" not in out.read_text(encoding="utf-8")


def test_covariates_give_the_effects_of_columns_on_command_line_and_in_reports(tmp_path, capsys):
    dataset, of_raters, of_cases, _ = with_facts(4, 24, 10, 3)
    table, place = long_table(dataset), dataset.case_of_annotation
    table["site"] = np.array(of_cases["site"])[place]
    table.to_csv(tmp_path / "readings.csv", index=False)
    pd.DataFrame({"rater": dataset.raters, **of_raters}).to_csv(tmp_path / "raters.csv", index=False)
    line = (tmp_path / "readings.csv", "--facts", tmp_path / "raters.csv")
    chosen = ("--rater-column", "role", "--rater-column", "years", "--case-column", "site")
    status, answer = run(capsys, "covariates", *line, *chosen)
    found = fit_covariates(dataset, of_raters, of_cases)
    assert status == 0 and [row["difference"] for row in answer["rows"]] == pytest.approx(
        [one.difference.value for one in found.effects]
    )
    assert [row["column"] for row in answer["rows"]] == ["role", "years", "site", "site"]
    status, words = run(capsys, "covariates", *line, "--rater-column", "rank")
    assert status == 2 and "Columns: role, years." in words
    status, words = run(capsys, "covariates", *line)
    assert status == 2 and "no column is chosen" in words
    out = tmp_path / "report.html"
    report = ("report", *line, "--out", out, "--sections", "covariates")
    run(capsys, *report, *chosen)
    assert answer["words"] in out.read_text(encoding="utf-8")
    run(capsys, *report)
    assert "Nothing to report" in out.read_text(encoding="utf-8")


def test_groups_of_cases_of_a_sample_are_a_column(capsys):
    status, words = run(capsys, "covariates", "skin", "--case-column", "group")
    assert status == 2 and "Choose the positive class" in words


def test_check_ends_with_0_1_or_2_and_appends_a_summary(files, capsys):
    folder, out = files[0], files[0] / "summary.md"
    line = ("check", folder / "guideline.csv", "--summary", out, "--require")
    status, answer = run(capsys, *line, "alpha >= 0.1", "--require", "dropped_rows <= 0")
    assert status == 0 and answer["ok"] and [row["outcome"] for row in answer["rows"]] == ["met", "met"]
    status, answer = run(capsys, *line, "alpha >= 0.99")
    assert status == 1 and not answer["ok"] and answer["words"].startswith("Not passed: 0 of 1 requirement")
    assert out.read_text(encoding="utf-8").count("### guideline") == 2
    status, words = run(capsys, *line, "alpha is high")
    assert status == 2 and "Could not read the requirement" in words
    status, words = run(capsys, *line[:2], "--require", "cases > 1", "--summary", folder / "no" / "such.md")
    assert status == 2 and "Could not write" in words
