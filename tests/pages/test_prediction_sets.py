"""Prediction sets on Reliability: what is promised is said under its γ, and not said where it cannot be kept."""

import numpy as np

from core import belongings
from core.annotations.dataset import Dataset
from core.library import keep
from tests.pages.opened import opened, settle, words

TAB = "Prediction sets"


def on_tab(address):
    app = opened("reliability", address)
    app.session_state["reliability_tabs"] = TAB
    return settle(app.run())


def made(n, k, n_raters, seed, unanimous=False):
    """A kept dataset with a classifier's probabilities."""
    rng = np.random.default_rng(seed)
    plausible = rng.dirichlet(np.full(k, 0.6), n)
    answers = [np.zeros(n_raters, int) if unanimous else rng.choice(k, n_raters, p=p) for p in plausible]
    names = [f"c{case}" for case in range(n)]
    raters = [f"r{rater}" for rater in range(n_raters)]
    case, who = np.repeat(np.arange(n), n_raters), np.tile(np.arange(n_raters), n)
    dataset = Dataset.from_classes("made", names, raters, list("vwxyz")[:k], case, who, np.concatenate(answers))
    keep(dataset)
    rows = [f"{names[i]},{'vwxyz'[j]},{plausible[i, j]:.6f}" for i in range(n) for j in range(k)]
    belongings.add_predictions(dataset.digest, "model.csv", "\n".join(["case,class,score", *rows]).encode())
    return dataset.digest


def test_two_unanimous_cases_promise_nothing(home):
    said = words(on_tab(made(2, 3, 3, 0, unanimous=True)))
    assert "1 calibration case is too few to guarantee 0.90, which needs 9 cases." in said
    assert "On average, at least" not in said and "Every set contains all 3 classes." in said


def test_cases_enough_for_one_promise_and_too_few_for_another_with_one_annotation_each(home):
    app = on_tab(made(60, 4, 1, 1))
    said = words(app)
    assert "On average, at least 0.90 of the sets" in said and "On 30 test cases" in said
    promise = next(one for one in app.segmented_control if one.label.startswith("Guaranteed share"))
    said = words(settle(promise.set_value(0.99).run()))
    assert "30 calibration cases are too few to guarantee 0.99, which needs 99 cases." in said
    labels = next(one for one in app.radio if one.label == "Labels")
    promise = next(one for one in app.segmented_control if one.label.startswith("Guaranteed share"))
    promise.set_value(0.8)
    said = words(settle(labels.set_value("ten").run()))
    assert "About 0.80 of the sets" in said and "Only 0.60 is guaranteed, because 10 labels" in said
