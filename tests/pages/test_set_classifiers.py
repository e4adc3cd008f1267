"""Reliability of sets of labels: predicted sets over plausible truths."""

import pytest

from core.belongings import add_predictions
from core.evaluation.set_metrics import set_metrics
from core.evaluation.set_predictions import open_set_predictions
from core.ingest.samples import load_sample
from core.library import keep
from core.text import with_interval
from tests.pages.opened import opened, settle, words


def test_predicted_sets_are_judged_by_jaccard_and_by_label_over_plausible_truths():
    street = load_sample("street").select(cases=load_sample("street").cases[:40])
    keep(street)
    lines = [f"{case},{'pedestrian' if place % 2 else 'bus; rain'}" for place, case in enumerate(street.cases)]
    text = "\n".join(["case,labels", *lines]).encode()
    add_predictions(street.digest, "blind", text)
    add_predictions(street.digest, "wrong", b"case,labels\nphoto 001,tram\n")
    app = opened("reliability", street.digest)
    assert "wrong: 'tram' is none of the labels" in words(app)
    app.session_state["reliability_tabs"] = "Classifiers"
    settle(app.run())
    shown = [frame.value for frame in app.dataframe]
    whole = next(frame for frame in shown if "Jaccard, mean over cases" in set(frame.get("metric", ())))
    gamma = float(next(said.split("γ = ")[1].split()[0] for said in words(app).split("\n") if "The sets, at" in said))
    found = set_metrics(street, open_set_predictions("blind", text, street), reliability=gamma, n_draws=1000, seed=0)
    assert whole["mean"].iloc[0] == pytest.approx(found.mean[0, 0])
    said = with_interval(found.mean[0, 0], found.total_low[0, 0], found.total_high[0, 0])
    assert f"blind has a Jaccard of {said} with what the labels of 40 cases could be" in words(app)
