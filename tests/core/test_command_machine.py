"""`machine` on the command line takes machines from wherever they are, and gives the library's numbers."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from core.command_line import main
from core.commands.machines import _missing
from core.ingest.answer_rules import Treatment
from core.ingest.read_files import read
from core.machines.alternative_test import alternative_test
from core.machines.equivalent_readers import equivalent_readers
from core.machines.marks import Machine
from core.machines.subgroup_differences import subgroup_differences
from core.machines.versions import version_drift
from tests.core.machines.conftest import simulated


@pytest.fixture
def run(capsys):
    def run_it(*arguments, status=0):
        code = main([str(argument) for argument in ("machine", *arguments)])
        output = capsys.readouterr()
        assert code == status, output.err
        return (json.loads(output.out) if "--csv" not in arguments else output.out) if status == 0 else output.err

    return run_it


@pytest.fixture(scope="module")
def made():
    return simulated(3, [0.8, 0.7, 0.75], [0.8, 0.4], n_cases=60)


@pytest.fixture(scope="module")
def files(made, tmp_path_factory):
    """The same data as one table, as a pair of published files, and the machine's as a table and as predictions."""
    folder = tmp_path_factory.mktemp("machine")
    frame = made.to_frame("annotations")
    machines = frame["rater"].str.startswith("m")
    names = (
        "all.csv",
        "set_human.json",
        "set_llm.json",
        "m0.csv",
        "net.csv",
        "m0.json",
        "column.csv",
        "id.csv",
        "is.csv",
    )
    found = {name: folder / name for name in names}
    frame.to_csv(found["all.csv"], index=False)
    for name, part in (("set_human.json", frame[~machines]), ("set_llm.json", frame[machines])):
        given = {rater: dict(zip(rows["case"], rows["class"], strict=True)) for rater, rows in part.groupby("rater")}
        if name == "set_llm.json":  # numbers where the people's are texts, an empty one, and a case of nobody
            given = {rater: {case: int(said) for case, said in rows.items()} for rater, rows in given.items()}
            given["m1"]["elsewhere"], given["m0"]["nothing"] = 2, None
        found[name].write_text(json.dumps(given))
    alone = frame[frame["rater"] == "m0"]
    alone[["case", "class"]].rename(columns={"class": "label"}).to_csv(found["m0.csv"], index=False)
    found["m0.json"].write_text(json.dumps(dict(zip(alone["case"], alone["class"].astype(int), strict=True))))
    alone[["case", "class"]].rename(columns={"class": "m0"}).to_csv(found["column.csv"], index=False)
    said = alone[["case", "class"]].rename(columns={"case": "id"})
    said.rename(columns={"class": "m0"}).to_csv(found["id.csv"], index=False)
    said.rename(columns={"class": "answer"}).assign(model="m0").to_csv(found["is.csv"], index=False)
    scores = pd.DataFrame(np.eye(4)[alone["class"].astype(int) - 1], columns=["1", "2", "3", "4"])
    scores.insert(0, "case", alone["case"].to_numpy())
    scores.to_csv(found["net.csv"], index=False)
    return found


def test_numbers_are_those_of_the_library(run, made, files):
    how = {"level": 0.8, "seed": 7}
    answer = run(
        files["all.csv"], "--machine", "m0,m1", "--epsilon", "0.1", "--fdr", "0.1", "--level", "0.8", "--seed", "7"
    )
    found = alternative_test(made, ["m0", "m1"], epsilon=0.1, q=0.1, **how)
    for row, one in zip(answer["machines"], found.machines, strict=True):
        assert {"machine", "omega", "n_rejected", "n_raters", "rho", "rho_low", "rho_high", "raters", "readers"} <= set(
            row
        )
        assert [row["machine"], row["omega"], row["rho"], row["rho_low"], row["n_to_pass"]] == [
            one.machine, one.omega, one.rho, one.rho_low, one.n_to_pass
        ]  # fmt: skip
        assert [(r["rater"], r["n"], r["rho"], r["p"], r["rejected"]) for r in row["raters"]] == [
            (r.rater, r.n, r.rho, r.p, r.rejected) for r in one.raters
        ]
        worth = equivalent_readers(made, one.machine, ("p0", "p1", "p2"), **how)
        assert row["readers"]["words"] == worth.words()
        assert [row["readers"]["machine_low"], row["readers"]["machine_high"]] == [worth.low, worth.high]
        assert [(at["score"], at["low"], at["high"]) for at in row["readers"]["curve"]] == [
            *zip(worth.panel, worth.panel_low, worth.panel_high, strict=True)
        ]
        assert row["readers"]["k"] == (worth.k if np.isfinite(worth.k) else None)
        parts = subgroup_differences(made, one.machine, ("p0", "p1", "p2"), **how)
        assert [(part["by"], part["value"], part["lead"], part["low"]) for part in row["leads"]] == [
            (part.by, part.value, part.lead, part.low) for part in parts
        ]
        assert row["readers_by_probabilities"] is None
    assert answer["differences"][0]["difference"] == found.differences[0].difference
    assert [one["machine"] for one in answer["people"]] == ["p0", "p1", "p2"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("{set_human.json}", "--machine", "m0"),
        ("{set_human.json}", "{set_llm.json}", "--machine", "m0"),
        ("{set_human.json}", "--machine", "m0={m0.csv}"),
        ("{set_human.json}", "{m0.csv}"),
        ("{set_human.json}", "--machine", "m0={m0.json}"),
        ("{set_human.json}", "{m0.json}"),
        ("{set_human.json}", "--machine", "m0={column.csv}"),
        ("{set_human.json}", "{column.csv}"),
        ("{set_human.json}", "{id.csv}"),
        ("{set_human.json}", "{is.csv}"),
        ("{set_human.json}", "--predictions", "m0={net.csv}"),
        ("{all.csv}", "--machine", "m0", "--leave-out", "m1"),
    ],
)
def test_a_machine_is_taken_from_wherever_it_is(run, files, made, arguments):
    paths = {f"{{{name}}}": str(path) for name, path in files.items()}

    def filled(text):
        for name, path in paths.items():
            text = text.replace(name, path)
        return text

    (row,) = run(*map(filled, arguments), "--no-people")["machines"]
    (expected,) = alternative_test(made, ["m0"], people=["p0", "p1", "p2"]).machines
    assert (row["machine"], row["omega"], row["rho"]) == ("m0", expected.omega, expected.rho)
    assert [rater["p"] for rater in row["raters"]] == [rater.p for rater in expected.raters]


def test_predictions_that_bear_the_name_of_a_machine_are_its_probabilities(run, files, made):
    arguments = (files["all.csv"], "--machine", "m0,m1", "--predictions", f"m0={files['net.csv']}", "--no-people")
    first, second = run(*arguments)["machines"]
    assert (first["machine"], second["machine"]) == ("m0", "m1")
    sure = np.full((made.n_cases, 4), 0.0)
    own = made.rater == made.raters.index("m0")
    sure[made.case_of_annotation[own], made.answer[own]] = 1.0
    found = equivalent_readers(made, "m0", ("p0", "p1", "p2"), score="log", probability=sure)
    assert first["readers_by_probabilities"]["words"] == found.words()
    assert first["readers_by_probabilities"]["machine_score"] == found.value
    assert second["readers_by_probabilities"] is None and first["readers"]["score"] == "agreement"


def test_probabilities_foretell_whole_rankings(run, tmp_path):
    rng = np.random.default_rng(2)
    plausible = rng.dirichlet([0.5, 0.5, 0.5], 30)
    rows = []
    for case, share in enumerate(plausible):
        for rater in "abc":
            order = np.argsort(-(np.log(share) + rng.gumbel(size=3)))[:2]
            rows += [f"{case},{rater},{'xyz'[k]},{place}" for place, k in enumerate(order, 1)]
    (tmp_path / "lists.csv").write_text("\n".join(["case,rater,class,rank", *rows]))
    scores = pd.DataFrame(plausible, columns=list("xyz"))
    scores.insert(0, "case", range(30))
    scores.to_csv(tmp_path / "net.csv", index=False)
    (row,) = run(tmp_path / "lists.csv", "--predictions", f"net={tmp_path / 'net.csv'}", "--no-people")["machines"]
    by_lists, by_class = row["readers_by_probabilities"], row["readers"]
    assert (by_lists["score"], by_class["score"]) == ("log", "agreement") and by_lists["n_cases"] == 30
    assert by_lists["words"].startswith("more than 2") and by_lists["machine_score"] > by_lists["curve"][2]["score"]


def test_all_machines_of_the_file_beside_where_none_is_named(run, files):
    for arguments in ((files["set_human.json"],), (files["set_human.json"], "--machine", files["set_llm.json"])):
        table = pd.read_csv(io.StringIO(run(*arguments, "--csv", "--score", "rmse")))
        assert table["machine"].tolist() == ["m0", "m1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("{all.csv}",), "Could not test an AI rater"),
        (("{all.csv}", "--machine", "gpt"), "Could not find the AI rater 'gpt'"),
        (("{all.csv}", "--machine", "m0", "--epsilon", "2"), "ε must be between 0 and 1; got 2.0"),
        (("{all.csv}", "--machine", "m0", "--leave-out", "x"), "Could not leave out 'x'"),
        (("{all.csv}", "missing.json", "--machine", "m0"), "Could not find the file 'missing.json'"),
        (("{all.csv}", "--predictions", "m0"), "Use NAME=FILE"),
        (("{all.csv}", "--machine", "m0", "--score", "overlap", "--leave-out", "p0,p1,m1"), "two people"),
    ],
)
def test_bad_input_is_one_clear_line(run, files, arguments, said):
    words = run(*(str(files["all.csv"]) if one == "{all.csv}" else one for one in arguments), status=2)
    assert said in words and words.count("\n") == 1


def test_lists_of_records_by_machine_are_as_many_machines_and_words_are_said_of_what_looks_like_one(
    run, made, tmp_path, capsys
):
    frame = made.to_frame("annotations")
    frame["rater"] = frame["rater"].replace({"m0": "gpt-4", "m1": "gemini"})
    machines = frame["rater"].isin(["gpt-4", "gemini"])
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame[~machines].to_csv(tmp_path / "people.csv", index=False)
    listed = frame[machines].rename(columns={"case": "id", "class": "label"})
    given = {name: rows[["id", "label"]].to_dict("records") for name, rows in listed.groupby("rater")}
    (tmp_path / "machines.json").write_text(json.dumps(given))
    one = dict(zip(*listed[listed["rater"] == "gpt-4"][["id", "label"]].to_numpy().T.tolist(), strict=True))
    (tmp_path / "one.json").write_text(json.dumps(one))
    whole = run(tmp_path / "all.csv", "--machine", "gemini,gpt-4", "--no-people")
    apart = run(tmp_path / "people.csv", tmp_path / "machines.json", "--no-people")
    assert [(row["machine"], row["rho"]) for row in apart["machines"]] == [
        (row["machine"], row["rho"]) for row in whole["machines"]
    ]
    (note,) = whole["notes"]
    assert apart["notes"] == [note] and note.startswith(
        "The classes are numbers, but annotations were only compared for equality. To use the distances between them, "
    )
    assert run(tmp_path / "all.csv", "--machine", "gemini,gpt-4", "--no-people", "--score", "accuracy")["notes"] == []
    said, _ = run(tmp_path / "all.csv", "--machine", "gpt-4", "--no-people")["notes"]
    assert said.startswith(
        "These raters count as people, although their names suggest AI raters: gemini. Use --leave-out NAME,... to "
        "leave them out."
    )
    assert main(["machine", str(tmp_path / "people.csv"), str(tmp_path / "one.json"), "--no-people"]) == 0
    assert "only one rater" not in capsys.readouterr().err


def test_two_cases_claim_nothing(run, tmp_path):
    file = tmp_path / "two.csv"
    file.write_text("case,rater,class\n1,a,x\n1,b,y\n1,m,x\n2,a,x\n2,b,x\n2,m,x\n")
    (row,) = run(file, "--machine", "m")["machines"]
    assert (row["omega"], row["rho"], row["passes"], row["n_raters"]) == (None, None, None, 0)
    assert row["why"]
    assert row["readers"]["k"] is not None and row["readers"]["words"].endswith("(no interval)")
    told = [row["readers"], *row["readers"]["curve"], *row["leads"]]
    assert {(one["low"], one["high"]) for one in told} == {(None, None)}
    assert (row["readers"]["machine_low"], row["readers"]["machine_high"]) == (None, None)


def test_published_files_with_gaps_say_what_is_left_out_and_versions_stand_side_by_side(run, made, tmp_path):
    frame = made.to_frame("annotations").astype(str)
    frame["rater"] = frame["rater"].replace({"m0": "lyra gpt-4", "m1": "lyra gpt-5"})
    given = {rater: dict(zip(rows["case"], rows["class"], strict=True)) for rater, rows in frame.groupby("rater")}
    machines = {name: dict(given.pop(name)) for name in ("lyra gpt-4", "lyra gpt-5")}
    both = [case for case in made.cases if sum(case in said for said in given.values()) >= 2]
    for case in both[:5]:
        machines["lyra gpt-4"][case] = None
    machines["lyra gpt-4"][both[5]] = "NA"
    (tmp_path / "human_annotations.json").write_text(json.dumps(given))
    (tmp_path / "llm_annotations.json").write_text(json.dumps(machines))
    answer = run(tmp_path / "human_annotations.json", "--no-people")
    assert [row["machine"] for row in answer["machines"]] == list(machines)
    said = " ".join(answer["notes"])
    assert (
        f"6 of {len(both)} cases with annotations by at least two people were left out because lyra gpt-4 did not "
        "annotate them."
        in said
        and "gpt-5" not in said
    )
    (drift,) = answer["versions"]
    marks = [Machine("m0", "GPT", "4"), Machine("m1", "GPT", "5")]
    kept = made.select(cases=[case for case in made.cases if case not in both[:6]])
    (expected,) = version_drift(kept, marks, ("p0", "p1", "p2"))
    assert drift["n_cases"] == expected.n_cases and drift["changes"][0]["difference"] == expected.changes[0].difference
    assert drift["words"] == expected.words().replace("m0", "lyra gpt-4").replace("m1", "lyra gpt-5")
    (narrow,) = version_drift(kept, marks, ("p0", "p1", "p2"), level=0.8)
    (told,) = run(tmp_path / "human_annotations.json", "--no-people", "--level", "0.8")["versions"]
    for name in ("low", "high", "changed_low", "changed_high"):
        assert told["changes"][0][name] == getattr(narrow.changes[0], name) != getattr(expected.changes[0], name)
    assert [row["low"] for row in told["versions"]] == [one.low for one in narrow.versions]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("long.csv", "case,rater,class\n1,a,x\n1,b,NA\n2,a,\n2,b,y\n3,a,null\n3,b,x\n"),
        ("wide.csv", "case,a,b\n1,x,NA\n2,,y\n3,null,x\n"),
        ("list.json", [{"case": k % 3, "rater": "ab"[k // 3], "label": [None, "x", ""][k % 3]} for k in range(5)]),
        ("raters.json", {"a": {"1": "x", "2": None, "3": ""}, "b": {"1": "x", "2": "y", "3": None}}),
        ("cases.json", {"1": {"a": "x", "b": None}, "2": {"a": "", "b": "y"}, "3": {"a": None, "b": "x"}}),
    ],
)
def test_what_is_missing_in_a_file_of_a_machine_is_counted_once_in_any_form(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    assert _missing(read(path)) == [f"3 annotations of {path.stem} were left out as missing (empty, null, NA)."]


def test_nothing_is_said_of_a_file_in_which_no_annotation_is_missing(tmp_path):
    path = tmp_path / "whole.csv"
    path.write_text("case,a,b\n1,x,y\n2,y,y\n")
    assert _missing(read(path)) == []


def test_classes_that_count_as_no_annotation_are_missing_as_well():
    rows = b"case,rater,class\n1,a,x\n1,b,unsure\n2,a,\n2,b,y\n3,a,unsure\n3,b,x\n"
    for content in (rows, b"case,a,b\n1,x,unsure\n2,,y\n3,unsure,x\n"):
        report = read(content, treatment=Treatment(missing=frozenset({"unsure"}))).report
        assert report.n_missing == 3 and report.missing["unsure"] == 2
