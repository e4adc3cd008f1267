"""`sets` on the command line gives the library's numbers under the keys that others rely on."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from core.command_line import main
from core.evaluation.prediction_sets import prediction_sets, sets_table
from core.evaluation.predictions import open_predictions
from core.evaluation.sweep_table import kept_plausibilities
from core.ingest.read_files import read
from core.plausibility.dirichlet import DirichletCounts

N, K = 60, 4


@pytest.fixture
def run(capsys):
    def run_it(*arguments, status=0):
        code = main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert code == status, output.err
        return output.out if status == 0 else output.err

    return run_it


@pytest.fixture
def files(tmp_path):
    """Sixty cases with five annotations of four classes, in two groups, and probabilities as np.savetxt writes them."""
    rng = np.random.default_rng(0)
    plausible = rng.dirichlet(np.full(K, 0.5), N)
    lines = ["case,rater,class,site"]
    for case in range(N):
        named = rng.choice(K, 5, p=plausible[case])
        lines += [
            f"c{case:02d},r{rater},{'wxyz'[code]},{'north' if case % 2 else 'south'}"
            for rater, code in enumerate(named)
        ]
    data, matrix = tmp_path / "readings.csv", tmp_path / "probabilities.txt"
    data.write_text("\n".join(lines))
    scores = 0.8 * plausible + 0.2 * rng.dirichlet(np.ones(K), N)
    np.savetxt(matrix, scores / scores.sum(axis=1, keepdims=True))
    return data, matrix, tmp_path


def test_the_command_gives_the_sets_of_the_library(run, files):
    data, matrix, folder = files
    out = folder / "sets.csv"
    answer = json.loads(
        run("sets", data, "--classes", "w,x,y,z", "--predictions", f"A={matrix}", "--alpha", "0.2",
            "--reliability", "2", "--calibrate", "0.6", "--labels", "3", "--level", "0.8", "--draws", "100",
            "--seed", "3", "--cases-out", out)
    )  # fmt: skip
    dataset = read(data, classes=list("wxyz")).dataset
    (predictions,) = open_predictions("A", matrix.read_bytes(), dataset)
    model = DirichletCounts()
    kept = kept_plausibilities(model, dataset, 2.0, n_draws=100, seed=3)
    how = {"alpha": 0.2, "calibrate": 0.6, "n_labels": 3, "level": 0.8, "seed": 3}
    found = prediction_sets(predictions, dataset, kept, model=model, **how)
    assert answer["threshold"] == found.threshold
    assert answer["mean_size"] == found.mean_size
    assert answer["coverage"] == {"aggregated": found.aggregated.value, "voted": found.voted.value}
    for name, one in (("aggregated", found.aggregated), ("voted", found.voted)):
        assert answer["intervals"][name] == [one.low, one.high]
    assert answer["region"] == {"threshold": found.region, "covered": found.region_covered.value}
    assert (answer["labels"], answer["listed"]) == (3, found.listed)
    assert answer["promise"] == found.promise(2.0)
    assert (answer["n_calibration"], answer["n_test"], answer["reliability"]) == (36, 24, 2.0)
    by = {(row["by"], row["value"]): row for row in answer["by"]}
    for group in found.groups:
        row = by[group.by, group.value]
        assert (row["n"], row["aggregated"], row["mean_size"]) == (group.n, group.aggregated.value, group.mean_size)
        assert row["voted"] == group.voted.value
        assert row["intervals"] == {
            "aggregated": [group.aggregated.low, group.aggregated.high], "voted": [group.voted.low, group.voted.high],
        }  # fmt: skip
    assert {("group", "north"), ("group", "south")} <= set(by)
    written = pd.read_csv(io.BytesIO(out.read_bytes()), keep_default_na=False)
    expected = sets_table(found, dataset)
    assert written["classes"].tolist() == expected["classes"].tolist()
    assert written["part"].tolist() == expected["part"].tolist()
    np.testing.assert_allclose(written["covered"], expected["covered"])


def test_one_given_in_a_pipe_and_several_classifiers_and_strata(run, files, monkeypatch):
    data, matrix, _ = files
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    answer = json.loads(
        run("sets", "-", "--classes", "w,x,y,z", "--predictions", f"A={matrix}", "--predictions", f"B={matrix}",
            "--alpha", "0.3", "--draws", "50", "--labels", "4", "--corrected", "--within", "group")
    )  # fmt: skip
    assert answer["threshold"] is None and {row["value"] for row in answer["strata"]} == {"north", "south"}
    (other,) = answer["classifiers"]
    assert other["classifier"] == "B" and other["coverage"] == answer["coverage"]
    assert answer["model"] == "dirichlet" and answer["reliability"] == 1.0
    table = pd.read_csv(io.StringIO(run("sets", data, "--classes", "w,x,y,z", "--predictions", f"A={matrix}", "--alpha",
                                        "0.3", "--draws", "50", "--folds", "5", "--csv")))  # fmt: skip
    assert len(table) == N and set(table["part"]) == {"test"}


def test_what_cannot_be_done_is_said_in_one_line(run, files):
    data, matrix, _ = files
    assert "no classifier was given" in run("sets", data, "--alpha", "0.1", status=2)
    asked = ("sets", data, "--classes", "w,x,y,z", "--predictions", f"A={matrix}")
    assert "between 0 and 1" in run(*asked, "--alpha", "1", status=2)
    assert "--alpha" in run(*asked, status=2)
    assert "Fold" in run(*asked, "--alpha", "0.1", "--folds", "1", status=2).title()
