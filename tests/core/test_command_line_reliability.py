"""``reliability`` on the command line gives the library's curves."""

import json

import numpy as np
import pytest

from core.certainty.held_out_readers import held_out_curve
from core.certainty.truth_curve import truth_curve
from core.command_line import main
from core.ingest.read_files import read
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.learned_counts import learned_counts
from core.plausibility.plackett_luce.gibbs import PlackettLuce


@pytest.fixture
def files(tmp_path):
    """A crowd of 110 cases and its gold."""
    rng = np.random.default_rng(0)
    rows, gold = ["case,rater,class"], ["case,class"]
    for case in range(110):
        share = rng.dirichlet(np.ones(3))
        gold.append(f"c{case},{'abc'[share.argmax()]}")
        rows += [f"c{case},r{rater},{'abc'[rng.choice(3, p=share)]}" for rater in range(5)]
    annotations, truth = tmp_path / "crowd.csv", tmp_path / "gold.csv"
    annotations.write_text("\n".join(rows))
    truth.write_text("\n".join(gold))
    return annotations, truth


@pytest.fixture
def run(capsys):
    def run_it(*arguments, status=0):
        try:
            code = main(["reliability", *map(str, arguments)])
        except SystemExit as end:
            code = end.code
        output = capsys.readouterr()
        assert code == status, output.err
        return output

    return run_it


def test_counts_without_gold(run, files):
    told = json.loads(run("dirichlet", files[0], "--beta", "0.3").out)
    curve = held_out_curve(read(files[0]).dataset, DirichletCounts())
    assert (told["best"], told["low"], told["high"]) == (curve.best, curve.low, curve.high)
    assert [row["reliability"] for row in told["curve"]] == curve.reliability.tolist()
    for key in ("score", "se", "diff", "diff_se"):
        assert [row[key] for row in told["curve"]] == getattr(curve, key).tolist()
    assert told["beta"] == told["opens_at"] == 0.3
    assert "make the same mistakes" in told["reason"] and "gold" not in told
    assert told["prior"]["alpha"] == pytest.approx(0.3 / curve.best)
    assert {"seed", "digest", "version", "seconds"} <= set(told)


def test_gold_gives_its_curve_and_opens(run, files):
    told = json.loads(run("dirichlet", files[0], "--gold", files[1]).out)
    gold = told["gold"]
    assert gold["n"] == 110 and told["opens_at"] == 1 and "learned from 110 cases" in told["reason"]
    best = next(row for row in gold["curve"] if row["reliability"] == gold["best"])
    assert {"reliability", "certainty", "right", "log_loss", "ece"} <= set(best)
    assert best["log_loss"] == min(row["log_loss"] for row in gold["curve"])
    assert sum(part["n"] for part in gold["diagram"]) == 110
    assert 0 < told["beta"] <= 1  # of held-out annotations, as on pages; only a mark


def test_rankings_of_a_sample(run):
    told = json.loads(run("plackett-luce", "dermatology", "--draws", "40").out)
    assert told["opens_at"] == 3 and told["n_held_out"] == 12
    assert [mark["mark"] for mark in told["marks"]][-1] == "published"
    curve = held_out_curve(load_sample("dermatology"), PlackettLuce(), n_draws=40)
    assert (curve.mc_se > 0).all() and (curve.bias != 0).any()
    for key in ("reliability", "score", "diff", "bias", "mc_se"):
        assert [row[key] for row in told["curve"]] == getattr(curve, key).tolist()
    assert (told["at_end"], told["left_out"]) == (curve.at_end, 0)
    assert "only on ε/γ" in json.loads(run("prirn", "dermatology").out)["note"]


def test_a_table_of_the_curve(run, files):
    lines = run("dirichlet", files[0], "--csv").out.splitlines()
    assert lines[0] == "reliability,score,se,diff,diff_se,bias,mc_se" and len(lines) > 10


def test_one_annotation_a_case_is_refused_unless_there_is_gold(run, tmp_path, files):
    path = tmp_path / "single.csv"
    path.write_text("case,rater,class\nc1,r1,a\nc2,r1,b\nc3,r2,a\nc4,r2,c\n")
    refused = run("dirichlet", path, status=2)
    assert refused.out == "" and refused.err.count("\n") == 1 and "two raters" in refused.err
    judged = run("dirichlet", path, "--gold", files[1])
    told = json.loads(judged.out)
    assert told["best"] is None and told["curve"] == [] and told["gold"]["n"] == 4
    assert "two raters" in judged.err and "no case has two raters" in told["reason"]


def test_gold_of_one_case_is_too_little_and_the_readers_decide(run, files, tmp_path):
    gold = tmp_path / "one.csv"
    gold.write_text("case,class\nc0,a\n")
    found = run("dirichlet", files[0], "--gold", gold)
    assert "Only 1 annotated case has gold; at least 2 such cases are needed." in found.err
    assert "gold" not in json.loads(found.out) and "two are needed" not in run("dirichlet", files[0]).err


def test_an_exponent_is_for_counts(run):
    assert (
        "Could not use --beta: it needs the Dirichlet counts model"
        in run("prirn", "dermatology", "--beta", "0.5", status=2).err
    )


def test_the_truth_is_that_of_the_library(run, files):
    from dataclasses import replace

    data = read(files[0]).dataset
    known = dict(line.split(",") for line in files[1].read_text().splitlines()[1:])
    codes = np.array([data.classes.index(known[case]) for case in data.cases], np.int32)
    curve = truth_curve(replace(data, gold=codes), learned_counts(data).model)
    answer = json.loads(run("dirichlet", files[0], "--gold", files[1]).out)
    told = answer["gold"]
    assert curve.low < curve.best < curve.high
    for name in ("best", "low", "high", "cross_validated"):
        assert told[name] == getattr(curve, name)
    for name in ("reliability", "certainty", "right", "log_loss", "log_loss_low", "log_loss_high", "ece", "ece_low"):
        assert [row[name] for row in told["curve"]] == getattr(curve, name).tolist()
    assert told["diagram"] == [
        {name: getattr(one, name) for name in ("low", "high", "n", "certainty", "right", "right_low", "right_high")}
        for one in curve.diagram(curve.best)
    ]
    (mark,) = [mark for mark in answer["marks"] if mark["mark"] == "gold"]
    assert (mark["reliability"], mark["low"], mark["high"]) == (curve.best, curve.low, curve.high)
