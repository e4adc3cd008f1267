"""Reliability of sets of labels: predicted sets over plausible truths."""

import csv

import pytest

from core.belongings import add_predictions
from core.evaluation.set_metrics import set_metrics
from core.evaluation.set_predictions import known_sets, open_set_predictions
from core.ingest.companion_files import SideFiles, with_side_files
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.library import keep
from core.text import with_interval
from tests.pages.opened import opened, settle, words

pytestmark = pytest.mark.usefixtures("known")


def test_predicted_sets_are_judged_by_jaccard_and_by_label_over_plausible_truths():
    street = load_sample("street").select(cases=load_sample("street").cases[:40])
    keep(street)
    lines = [f"{case},{'pedestrian' if place % 2 else 'bus; rain'}" for place, case in enumerate(street.cases)]
    text = "\n".join(["case,labels", *lines]).encode()
    add_predictions(street.digest, "blind", text)
    add_predictions(street.digest, "wrong", b"case,labels\nphoto 001,tram\n")
    app = opened("reliability", street.digest)
    assert "wrong: 'tram' is not one of the labels" in words(app)
    app.session_state["reliability_tabs"] = "Classifiers"
    settle(app.run())
    shown = [frame.value for frame in app.dataframe]
    whole = next(frame for frame in shown if "Jaccard, mean over cases" in set(frame.get("metric", ())))
    gamma = float(next(said.split("γ = ")[1].split()[0] for said in words(app).split("\n") if "Whole sets, at" in said))
    found = set_metrics(street, open_set_predictions("blind", text, street), reliability=gamma, n_draws=1000, seed=0)
    assert whole["mean"].iloc[0] == pytest.approx(found.mean[0, 0])
    said = with_interval(found.mean[0, 0], found.total_low[0, 0], found.total_high[0, 0])
    assert f"blind has a Jaccard index of {said} compared with the plausible labels of 40 cases" in words(app)


def test_known_sets_judge_classifiers_models_and_raters():
    """A file whose column of gold holds all labels: Reliability, Models and Raters by it, and the command line too."""
    street = load_sample("street").select(cases=load_sample("street").cases[:60])
    with (SAMPLE_FOLDER / "street" / "truth.csv").open(encoding="utf-8", newline="") as file:
        truth = {row["photo"]: row["labels"] for row in csv.DictReader(file)}
    known, notes = with_side_files(street, SideFiles(gold={case: truth[case] for case in street.cases[:50]}))
    assert notes == () and int((known.gold_sets[:, 0] >= 0).sum()) == 50
    keep(known)
    lines = [f"{case},{truth[case] if place % 3 else 'bus'}" for place, case in enumerate(known.cases)]
    text = "\n".join(["case,labels", *lines]).encode()
    add_predictions(known.digest, "two of three", text)
    app = opened("reliability", known.digest)
    app.session_state["reliability_tabs"] = "Classifiers"
    settle(app.run())
    found = set_metrics(
        known, open_set_predictions("x", text, known), reliability=1.0, gold=known_sets(known), n_draws=1000, seed=0
    )
    said = with_interval(found.mean[0, 0], found.total_low[0, 0], found.total_high[0, 0])
    assert f"two of three has a Jaccard index of {said} compared with the gold labels of 50 cases" in words(app)
    app = opened("models", known.digest)
    assert (
        "Compared with the gold sets of 50 cases (not used by the fit), the most likely sets have a Jaccard index of"
    ) in words(app)
    assert known.as_classes("bus")[0].gold.tolist()[:50] == [int("bus" in truth[case]) for case in known.cases[:50]]
