"""Sets of labels on the command line: the library's numbers, and words where something is not for sets."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.agreement.label_sets import alpha_of_sets
from core.certainty.label_sets import label_set_certainty
from core.command_line import main
from core.ingest.samples import load_sample
from core.models.dawid_skene import DawidSkene
from core.models.label_fits import fit_labels


@pytest.fixture
def run(capsys):
    def run_it(*arguments, status=0):
        code = main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert code == status, output.err
        return output.out if status == 0 else output.err

    return run_it


@pytest.fixture(scope="module")
def street():
    return load_sample("street")


def test_describe_says_what_an_annotation_is(run, street):
    answer = json.loads(run("describe", "street"))
    assert (answer["kind"], answer["classes"], answer["dropped"]) == ("set", list(street.classes), [])


def test_agreement_is_of_sets_or_of_a_label(run, street):
    answer = json.loads(run("agreement", "street"))
    assert answer["kind"] == "set"
    assert answer["quote"]["coefficient"]["value"] == alpha_of_sets(street).value
    assert answer["quote"]["percentage"] is None
    named = [one["weights"] for one in answer["coefficients"] if one["name"] == "label_alpha"]
    assert named == list(street.classes)
    bus = json.loads(run("agreement", "street", "--label", "bus"))["coefficients"]
    alone = next(one for one in answer["coefficients"] if one["weights"] == "bus")
    assert next(one for one in bus if one["name"] == "krippendorff_alpha")["value"] == alone["value"]


@pytest.mark.parametrize("shared", [True, False])
def test_fit_is_of_all_labels(run, street, shared, tmp_path):
    out = tmp_path / "labels.csv"
    answer = json.loads(run("fit", "dawid-skene", "street", "--cases-out", out, *([] if shared else ["--own-trust"])))
    found = fit_labels(street, shared=shared)
    assert answer["shared_trust"] == shared
    assert [one["prevalence"] for one in answer["labels"]] == [float(fit.prevalence[1]) for fit in found.fits]
    assert [one["odds_with"] for one in answer["raters"]] == np.exp(found.log_factor[:, 1]).tolist()
    table = pd.read_csv(out, keep_default_na=False)
    assert list(table["labels"]) == found.sets()
    assert table["P(bus)"].to_numpy() == pytest.approx(found.probability[:, street.classes.index("bus")], abs=1e-9)


def test_a_classifier_is_no_evidence_of_sets(run, tmp_path):
    said = run("fit", "dawid-skene", "street", "--evidence", f"A={tmp_path / 'a.csv'}", status=2)
    assert (
        "Could not use a classifier as evidence: this needs one class per annotation. Choose a label (--label NAME)."
        in said
    )


def test_fit_of_a_label_is_that_of_its_two_classes(run, street):
    answer = json.loads(run("fit", "dawid-skene", "street", "--label", "bus"))
    assert answer["classes"] == ["not bus", "bus"]
    fit = DawidSkene().fit(street.as_classes("bus")[0])
    assert answer["prevalence"]["bus"] == float(fit.prevalence[1])


def test_the_kind_can_be_said_and_ends_the_doubt(run, tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text("case,rater,label\na,r,x\na,r,y\na,s,x\nb,r,y\nb,s,y\n")
    assert json.loads(run("describe", path))["kind"] == "class"
    answer = json.loads(run("describe", path, "--kind", "set"))
    assert (answer["kind"], answer["n_annotations"]) == ("set", 4)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            ("fit", "auto", "street"),
            "Could not use the model “auto”: it needs one class per annotation. Name another model, or choose",
        ),
        (
            ("fit", "dawid-skene", "street", "--intervals"),
            "Could not use --intervals: it is available only for a single label",
        ),
        (("fit", "dawid-skene", "street", "--smoothing", "none"), "Could not share accuracies between labels"),
        (("fit", "glad", "street"), "to all labels at once"),
        (
            ("certainty", "prirn", "street", "--reliability", "1"),
            "Could not use prirn: it does not estimate the certainty of label sets",
        ),
        (("choose", "street"), "Choose one label, such as 'pedestrian'"),
        (("agreement", "street", "--label", "tram"), "Unknown label 'tram'. Labels: 'pedestrian'"),
        (
            ("report", "street", "--out", "r.html"),
            "Could not write a report on sets of labels: a report covers only one label. Use --label NAME",
        ),
    ],
)
def test_what_is_not_for_sets_says_what_to_do(run, line, found):
    assert found in run(*line, status=2)


def test_predicted_sets_are_judged_over_plausible_truths_and_against_known_ones(run, street, tmp_path):
    truth = Path(__file__).parents[2] / "sample_data" / "street" / "truth.csv"
    (tmp_path / "own.csv").write_text("case,labels\n" + "\n".join(f"{case},bus" for case in street.cases))
    line = ("sweep", "dirichlet", "street", "--reliabilities", "1,3", "--draws", "40")
    asked = (*line, "--predictions", f"truth={truth}", "--predictions", f"bus={tmp_path / 'own.csv'}")
    answer = json.loads(run(*asked, "--gold", truth))
    known = answer["gold"]["truth"]
    assert known["jaccard"] == dict.fromkeys(("mean", "low", "high", "total_low", "total_high"), 1.0)
    first, second = (row["metrics"] for row in answer["rows"])
    assert first["bus"]["jaccard"]["mean"] < first["truth"]["jaccard"]["mean"] < second["truth"]["jaccard"]["mean"] < 1
    assert answer["rows"][0]["mean"]["set"] == float(label_set_certainty(street, reliability=1.0).whole.mean())
    assert first["bus"]["precision of dog"]["mean"] is None  # it never names a dog
    found = pd.read_csv(io.StringIO(run(*asked, "--csv")))
    assert set(found["classifier"]) == {"truth", "bus"}
    assert "supports it only for sets of labels" in run(
        "sweep", "dirichlet", "anaesthesia", "--reliabilities", "1", "--gold", truth, status=2
    )


@pytest.fixture(scope="module")
def machine_files(tmp_path_factory):
    """Sets of three people and a machine, all in one file, and the machine's in files of their own."""
    rng = np.random.default_rng(5)
    labels, cases = np.array(["car", "bus", "dog"]), [f"c{k}" for k in range(60)]
    truth = rng.random((60, 3)) < 0.5

    def seen(share):
        found = truth ^ (rng.random((60, 3)) < share)
        found[~found.any(axis=1), 0] = True  # nobody names nothing
        return found

    sets = {name: seen(share) for name, share in (("ann", 0.2), ("bob", 0.25), ("cem", 0.3), ("net", 0.1))}
    rows = {name: ["; ".join(labels[row]) for row in found] for name, found in sets.items()}
    folder = tmp_path_factory.mktemp("machine_sets")
    together = pd.DataFrame(
        [(case, name, row) for name, own in rows.items() for case, row in zip(cases, own, strict=True)]
    )
    together.columns = ["case", "rater", "labels"]
    together.to_csv(folder / "all.csv", index=False)
    together[together["rater"] != "net"].to_csv(folder / "people.csv", index=False)
    pd.DataFrame({"case": cases, "labels": rows["net"]}).to_csv(folder / "texts.csv", index=False)
    table = pd.DataFrame(sets["net"].astype(int), columns=labels)
    table.insert(0, "id", cases)
    table.to_csv(folder / "columns.csv", index=False)
    one = np.where(sets["net"][:, 1], "bus", "not bus")
    pd.DataFrame({"case": cases, "label": one}).to_csv(folder / "bus.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("option", "file"),
    [
        ("--predictions", "texts.csv"),
        ("--predictions", "columns.csv"),
        ("--predictions", "bus.csv"),
        ("--machine", "texts.csv"),
        ("--machine", "columns.csv"),
    ],
)
def test_sets_of_a_machine_count_as_though_they_stood_in_the_peoples_file(run, machine_files, option, file):
    line = ("machine", machine_files / "people.csv", option, f"net={machine_files / file}", "--label", "bus")
    found = json.loads(run(*line))["machines"]
    expected = json.loads(run("machine", machine_files / "all.csv", "--machine", "net", "--label", "bus"))["machines"]
    assert [one["rho"] for one in found] == [one["rho"] for one in expected] != [1.0]
    assert found[0]["raters"] == expected[0]["raters"]
    assert found[0]["n_cases"] == expected[0]["n_cases"] == 60


def test_an_empty_cell_counts_as_no_label_where_that_is_asked_for(run, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("case,rater,oedema,nodule\na,r1,1,0\na,r2,1,1\nb,r1,0,1\nb,r2,0,1\nc,r1,1,\nc,r2,,1\n")
    told = [json.loads(run("describe", path, *asked)) for asked in ((), ("--empty-is-none",))]
    assert [(one["n_annotations"], len(one["dropped"])) for one in told] == [(4, 2), (6, 0)]
    assert "If an empty cell means that the label does not apply, choose that option." in " ".join(told[0]["warnings"])
