"""The true class of ordered data: by the formula, by draws, and on the command line."""

import csv
import json

import numpy as np
import pytest

from core.__main__ import main
from core.annotations.ordering import with_class_order
from core.certainty.top_sets import annotation_certainty
from core.errors import InputError, NotApplicableError
from core.models.expected_class import expected_class, within_one
from core.models.ordinal import Ordinal
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.ordinal_truth import OrdinalTruth
from tests.core.models.rows import random_rows
from tests.core.models.test_ordinal import panel


@pytest.fixture
def dataset(build):
    found = build(random_rows(1, n_cases=15, n_raters=4, n_classes=4), 4)
    return with_class_order(found, found.classes)


@pytest.mark.parametrize("gamma", [0.3, 1.0, 2.5])
def test_probabilities_count_each_annotation_gamma_times(gamma, dataset):
    fit = Ordinal().fit(dataset)
    found = OrdinalTruth().probability(dataset, gamma)
    for case in range(dataset.n_cases):
        weight = fit.prevalence.copy()
        for a in dataset.annotations_of(case):
            weight *= fit.confusion[dataset.rater[a], :, dataset.answer[a]] ** gamma
        assert found[case] == pytest.approx(weight / weight.sum(), abs=1e-12)
    if gamma == 1:
        assert found == pytest.approx(fit.class_probability, abs=1e-12)


def test_certainty_is_the_largest_probability_without_error_and_draws_agree_with_it(dataset):
    """Draws: within 4.5 standard errors, for the first class and for the second of those that have it first."""
    n_draws, model = 4000, OrdinalTruth()
    p = model.probability(dataset, 0.7)
    certainty = annotation_certainty(model, dataset, reliability=0.7, n_draws=200)
    assert certainty.certainty[:, 0] == pytest.approx(p.max(axis=1), abs=1e-12) and not certainty.se[:, 0].any()
    assert (certainty.top_class() == p.argmax(axis=1)).all()
    ready = model.prepare(dataset, reliability=0.7, n_draws=n_draws, seed=3)
    for case, draws in ready.draws(dataset, reliability=0.7, n_draws=n_draws, seed=3):
        first, second = draws.top[:, 0], draws.top[:, 1]
        assert (draws.share.sum(axis=1) == 1).all() and (draws.share.argmax(axis=1) == first).all()
        assert draws.n_rest == 0 and not draws.rest.any() and draws.top.shape == (n_draws, 3)
        share = np.bincount(first, minlength=4) / n_draws
        assert (np.abs(share - p[case]) <= 4.5 * np.sqrt(p[case] * (1 - p[case]) / n_draws) + 1e-9).all()
        top = int(p[case].argmax())
        after = second[first == top]
        rest = np.delete(p[case], top) / (1 - p[case][top])
        seen = np.delete(np.bincount(after, minlength=4), top) / after.size
        assert (np.abs(seen - rest) <= 4.5 * np.sqrt(rest * (1 - rest) / after.size) + 1e-9).all()


def test_draws_of_a_case_do_not_depend_on_which_cases_are_asked_for(dataset):
    model = OrdinalTruth(depth=6)
    every = dict(model.draws(dataset, reliability=1.0, n_draws=20, seed=1))
    for case, draws in model.draws(dataset, reliability=1.0, n_draws=20, seed=1, cases=range(4, 7)):
        assert (draws.top == every[case].top).all() and (draws.top[:, 4:] == -1).all()


def test_between_two_readings_lies_a_class_that_counts_do_not_see(build):
    rows, _, truth = panel(200, 8, 4, 5)
    rows = [(case + 1, rater, answer) for case, rater, answer in rows]
    found = build([(0, 0, 0), (0, 1, 2), *rows], 4)
    dataset = with_class_order(found, found.classes)
    mean = OrdinalTruth().probability(dataset, 1.0)[0]
    counts = next(DirichletCounts().draws(dataset, reliability=1.0, n_draws=10, seed=0))[1]
    assert 1 not in counts.classes and mean[1] > mean[3]
    p = OrdinalTruth().probability(dataset, 1.0)[1:]
    assert np.abs(expected_class(p).mean - 1 - truth).mean() < 0.4 and within_one(p).mean() > 0.95


def test_without_an_order_or_with_a_gamma_out_of_range_it_is_refused(build):
    plain = build(random_rows(1, n_cases=15, n_raters=4, n_classes=4), 4)
    with pytest.raises(NotApplicableError, match="order"):
        OrdinalTruth().probability(plain, 1.0)
    for gamma in (0.0, -1.0, float("inf")):
        with pytest.raises(InputError, match="γ"):
            OrdinalTruth().probability(with_class_order(plain, plain.classes), gamma)


def test_the_command_writes_the_scale_and_how_sure_it_is_within_one_class(tmp_path, capsys, build):
    rows, _, _ = panel(40, 5, 3, 4)
    lines = ["case,rater,class", *(f"c{case},r{rater},{'wxyz'[k]}" for case, rater, k in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    asked = ["certainty", "ordinal-truth", str(tmp_path / "a.csv"), "--reliability", "0.5", "--draws", "20"]
    assert main(asked) == 2 and "Cannot determine the order of the classes" in capsys.readouterr().err
    out = tmp_path / "out.csv"
    assert main([*asked, "--classes", "w,x,y,z", "--ordinal", "--cases-out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    found = build(rows, 4)
    p = OrdinalTruth().probability(with_class_order(found, found.classes), 0.5)
    assert told["mean"]["top1"] == pytest.approx(p.max(axis=1).mean()) and told["se"]["top1"] == 0
    assert told["within_one"] == pytest.approx(within_one(p).mean())
    assert told["n_below_within_one"]["0.9"] == int((within_one(p) < 0.9).sum())
    row = next(row for row in csv.DictReader(out.read_text("utf-8-sig").splitlines()) if row["case"] == "c7")
    assert float(row["within_one"]) == pytest.approx(within_one(p)[7])
    assert float(row["expected_class"]) == pytest.approx(expected_class(p).mean[7])
