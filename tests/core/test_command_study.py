"""Reader studies on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from core.command_line import main
from core.studies.analysis import StudyOptions, compute
from tests.core.studies.test_files import file_of, table
from tests.core.studies.worlds import as_imrmc, opinions, roe_metz, study_of


def run(capsys, *arguments):
    """Exit status, and the JSON of a command that answers."""
    status = main([str(one) for one in arguments])
    out = capsys.readouterr()
    return status, json.loads(out.out) if status < 2 else out.err


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A study as a table, by modality, as iMRMC has it, and a panel."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(3)
    scores, truth = roe_metz(rng, 4, 60, (0.5, 2.0))
    study = study_of(np.clip(np.rint(scores) + 2, 1, 5), truth)
    whole = table(study)
    (folder / "all.csv").write_bytes(file_of(whole))
    (folder / "all.imrmc").write_bytes(as_imrmc(study))
    for modality, part in whole.groupby("modality"):
        (folder / f"{modality}.csv").write_bytes(file_of(part.drop(columns=["modality", "truth"])))
    (folder / "truth.csv").write_bytes(file_of(whole[["case", "truth"]].drop_duplicates()))
    given = opinions(rng, truth, (0.85, 0.9, 0.9))
    rows = [(case, f"P{p}", int(given[p, c])) for c, case in enumerate(study.cases) for p in range(3)]
    pd.DataFrame(rows, columns=["case", "rater", "class"]).to_csv(folder / "panel.csv", index=False)
    return folder, study


def test_study_gives_the_analysis_and_a_sentence(files, capsys):
    folder, study = files
    status, answer = run(capsys, "study", folder / "all.csv")
    (one,) = compute(study).taken.differences
    assert status == 0 and answer["part"] == "modalities"
    assert answer["rows"][0]["value"] == pytest.approx(one.value) and answer["rows"][0]["p"] == pytest.approx(one.p)
    assert answer["words"].startswith("AUC is higher with M2 than with M1: ")
    assert "modality" in answer["read_as"][0]


def test_the_same_study_in_other_files_gives_the_same(files, capsys):
    folder, _ = files
    rows = [
        run(capsys, "study", *arguments)[1]["rows"]
        for arguments in (
            (folder / "all.csv",),
            (folder / "all.imrmc",),
            (folder / "M1.csv", folder / "M2.csv", "--truth", folder / "truth.csv"),
        )
    ]
    assert rows[0] == rows[1] == rows[2]


def test_a_panel_counts_with_its_doubt(files, capsys):
    folder, _ = files
    status, answer = run(capsys, "study", folder / "all.csv", "--panel", folder / "panel.csv", "--draws", 50)
    assert status == 0 and answer["words"].startswith("These estimates are corrected for the panel's errors. ")
    assert [row["truth"] for row in answer["rows"]] == ["panel, corrected for its errors"] * 3 + [
        "majority of the panel"
    ] * 3


def test_measures_and_parts_have_their_options(files, capsys):
    folder, study = files
    status, answer = run(capsys, "study", folder / "all.csv", "--measure", "specificity", "--threshold", 4)
    (one,) = compute(study, StudyOptions("specificity", 4.0)).taken.differences
    assert status == 0 and answer["rows"][0]["value"] == pytest.approx(one.value)
    status, answer = run(capsys, "study", folder / "all.csv", "--part", "size", "--effect", 0.2, "--power", 0.9)
    assert status == 0 and {row["n_readers"] for row in answer["rows"]} == {3, 4, 5, 8, 10, 15, 20}
    assert main(["study", str(folder / "all.csv"), "--part", "readers", "--csv"]) == 0
    assert capsys.readouterr().out.startswith("truth,modality,reader,value,value_low,value_high,se\n")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--measure", "sensitivity"), "needs a threshold"),
        (("--column", "score=x"), "Could not find the column 'x'"),
        (("--column", "score"), "it is not of the form ROLE=COLUMN"),
        (("--level", "2"), "Level is 2.0"),
        (("--positive", "x"), "Could not use class 'x'"),
        (("--draws", "3"), "at least 50"),
    ],
)
def test_what_is_wrong_is_refused_with_status_2(files, capsys, more, words):
    status, said = run(capsys, "study", files[0] / "all.csv", *more)
    assert status == 2 and words in said


def test_without_a_truth_it_says_what_to_add(files, capsys):
    status, said = run(capsys, "study", files[0] / "M1.csv", files[0] / "M2.csv")
    assert status == 2 and "the truth is unknown; add the truth of each case, or a panel's opinions" in said


def test_a_report_has_the_study(files, tmp_path, capsys):
    folder, _ = files
    out = tmp_path / "report.html"
    arguments = ("report", "caries", "--out", out, "--sections", "study", "--study", folder / "all.csv")
    status, _ = run(capsys, *arguments)
    text = out.read_text(encoding="utf-8")
    assert status == 0 and "AUC is higher with M2 than with M1" in text and "R4" in text
    run(capsys, *arguments[:6])
    assert "AUC is higher" not in out.read_text(encoding="utf-8")


def test_a_report_of_the_scores_of_a_study_needs_no_threshold(files, tmp_path, capsys):
    folder, _ = files
    rows = pd.read_csv(folder / "all.csv")
    rows.assign(score=rows["score"] + 0.5).to_csv(tmp_path / "scores.csv", index=False)
    out, study = tmp_path / "report.html", folder / "all.csv"
    arguments = ("report", tmp_path / "scores.csv", "--kind", "score", "--out", out, "--sections", "study")
    status, _ = run(capsys, *arguments, "--study", study)
    assert status == 0 and "AUC is higher with M2 than with M1" in out.read_text(encoding="utf-8")
