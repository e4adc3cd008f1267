"""Predicted sets of labels: how they are read, and how they are judged over plausible truths and against known sets."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty.label_sets import label_set_certainty
from core.errors import InputError
from core.evaluation.set_metrics import _drawn, set_metrics
from core.evaluation.set_predictions import open_set_predictions
from core.ingest.samples import load_sample


@pytest.fixture(scope="module")
def street():
    return load_sample("street")


@pytest.fixture(scope="module")
def small():
    """Three cases of two raters: {x, y}, {x} · {y}, {y} · {z}, {z}."""
    names = ("d", ("1", "2", "3"), ("r", "s"), ("x", "y", "z"))
    return Dataset.from_sets(*names, [0, 0, 1, 1, 2, 2], [0, 1] * 3, [0, 2, 3, 4, 5, 6, 7], [0, 1, 0, 1, 1, 2, 2])


def of(text: str, data: Dataset, name: str = "f"):
    return open_set_predictions(name, text.encode(), data)


def test_all_layouts_give_the_same_sets(small):
    (cell,) = of("case,labels\n1,x; y\n2,\n3,z\n", small)
    (ones,) = of("case,x,y,z\n1,1,1,0\n2,0,0,0\n3,0,0,1\n", small)
    (chances,) = of("case,x,y,z\n1,.5,.9,.49\n2,.1,.1,0\n3,,0,.8\n", small)
    for found in (cell, ones, chances):
        assert found.applies.tolist() == [[True, True, False], [False] * 3, [False, False, True]]
        assert found.predicted.all() and found.notes == ()
    a, b = of("case,model,labels\n1,a,x\n1,b,y\n", small)
    assert (a.name, b.name) == ("a", "b") and a.predicted.tolist() == [True, False, False]
    assert a.notes == ("a: no prediction for 2 cases.",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("case,labels\n1,x;w\n", "'w' is not one of the labels"),
        ("case,labels\n1,x\n1,y\n", "case '1' has two predicted sets"),
        ("case,labels\n9,x\n", "it contains no valid prediction for any case in these data"),
        ("case,note\n1,x\n", "it has no labels"),
        ("case,x,y,z\n1,7,0,0\n", "column 'x' contains 7 in row 1"),
        (
            "case,x\n1,1\n",
            "Could not use f: it predicts only 1 of 3 labels, and 'y' has no column.",
        ),
        ("case,score\n1,.7\n", "one probability per case but no label column"),
    ],
)
def test_what_is_no_prediction_is_refused_with_a_remedy(small, text, found):
    with pytest.raises(InputError, match=found):
        of(text, small)


def test_the_label_that_none_applies_needs_no_column_and_is_drawn_where_no_other_is():
    """It follows from the columns of the others, and in plausible truths from what is drawn of them."""
    names = ("d", ("1", "2"), ("r", "s"), ("x", "y", "none of these"))
    data = Dataset.from_sets(*names, [0, 0, 1, 1], [0, 1] * 2, [0, 2, 3, 4, 5], [0, 1, 0, 2, 2])
    (found,) = of("case,x,y\n1,1,0\n2,0,0\n", data)
    assert found.applies.tolist() == [[True, False, False], [False, False, True]]
    drawn = _drawn(np.array([0.3, 0.4, 0.9]), 2, np.random.default_rng(1), 5000)
    assert (drawn[:, 2] == ~drawn[:, :2].any(axis=1)).all() and drawn[:, 2].mean() == pytest.approx(0.42, abs=0.03)


def test_against_known_sets_metrics_are_those_by_hand(small):
    (gold,) = of("case,labels\n1,x;y\n2,\n3,z\n", small, "gold")
    found = set_metrics(small, of("case,labels\n1,x\n2,\n3,y;z\n", small), reliability=1.0, gold=gold, n_draws=50)
    value = dict(zip(found.metrics, found.mean[0], strict=True))
    assert value["jaccard"] == pytest.approx((0.5 + 1 + 0.5) / 3)
    assert value["exact"] == pytest.approx(1 / 3)
    assert value["micro_f1"] == pytest.approx(2 * 2 / (3 + 3))
    assert value["macro_f1"] == pytest.approx((1 + 0 + 1) / 3)
    assert (value["precision of y"], value["recall of y"], value["recall of x"]) == (0, 0, 1)
    assert (found.low[0] == found.high[0]).all()  # the truth is known
    assert found.total_low[0, 0] < value["jaccard"] < found.total_high[0, 0]  # three cases are not all cases
    with pytest.raises(InputError, match="none of their cases has gold labels"):
        set_metrics(small, of("case,labels\n1,x\n", small), reliability=1.0, gold=of("case,labels\n2,x\n", small)[0])


def test_a_label_that_is_neither_said_nor_true_counts_for_no_mean(small):
    (gold,) = of("case,labels\n1,x;y\n2,x\n3,y\n", small, "gold")
    found = set_metrics(small, of("case,labels\n1,x\n2,x\n3,y\n", small), reliability=1.0, gold=gold, n_draws=50)
    value = dict(zip(found.metrics, found.mean[0], strict=True))
    assert value["macro_f1"] == pytest.approx((1 + 2 / 3) / 2) and value["micro_f1"] == pytest.approx(2 * 3 / (3 + 4))
    assert np.isnan([value[f"{metric} of z"] for metric in ("precision", "recall", "f1")]).all()


def test_expected_jaccard_and_exact_match_are_those_of_independent_labels(small):
    """By enumeration over all sets of a case with the certainties of its labels; within 4 standard errors of 4,000."""
    sets = of("case,labels\n1,x\n2,y\n3,z\n", small)
    found = set_metrics(small, sets, reliability=2.0, n_draws=4000, seed=3)
    certain = label_set_certainty(small, reliability=2.0)
    chance = np.where(certain.applies, certain.certainty, 1 - certain.certainty)
    every = np.array(list(np.ndindex(2, 2, 2)), bool)
    p = np.prod(np.where(every, chance[:, None], 1 - chance[:, None]), axis=2)
    guess = sets[0].applies[:, None]
    union = (every | guess).sum(axis=2)
    jaccard = np.where(union, (every & guess).sum(axis=2) / np.maximum(union, 1), 1)
    same = (every == guess).all(axis=2)
    for place, value in enumerate((jaccard, same)):
        assert found.mean[0, place] == pytest.approx((p * value).sum(axis=1).mean(), abs=4 * 0.5 / np.sqrt(3 * 4000))
    assert (found.total_high - found.total_low)[0, 0] > (found.high - found.low)[0, 0]


def test_sets_of_one_label_have_the_class_that_leads_in_a_draw():
    ordinary = load_sample("anaesthesia").as_sets()
    top = label_set_certainty(ordinary, reliability=2.0)
    text = "case,labels\n" + "\n".join(f"{case},{name}" for case, name in zip(top.cases, top.sets(), strict=True))
    found = set_metrics(ordinary, of(text, ordinary), reliability=2.0, n_draws=600)
    n = len(top.cases)
    assert found.mean[0, 1] == pytest.approx(top.whole.mean(), abs=4 * 0.5 / np.sqrt(600 * n))
    assert found.mean[0, 0] == pytest.approx(found.mean[0, 1])  # one label each: the same or disjoint


def test_draws_of_a_case_do_not_depend_on_the_other_cases_and_more_trust_narrows(street):
    part = street.select(cases=street.cases[:9])
    text = "case,labels\n" + "\n".join(f"{case},bus;rain" for case in part.cases)
    alone = set_metrics(part, of(text, part), reliability=1.0, n_draws=60)
    among = set_metrics(street, of(text, street), reliability=1.0, n_draws=60)
    assert (alone.mean[0] == pytest.approx(among.mean[0], nan_ok=True)) and among.n_cases.tolist() == [9]
    sure = set_metrics(part, of(text, part), reliability=200.0, n_draws=60)
    assert (sure.high - sure.low)[0, 0] < (alone.high - alone.low)[0, 0]


def test_rows_of_other_cases_and_rows_without_a_number_are_counted_apart(small):
    (found,) = of("case,x,y,z\n1,1,1,0\n2,,,\n7,,,\n8,1,0,0\n9,0,0,1\n", small)
    assert found.applies.tolist() == [[True, True, False], [False] * 3, [False] * 3]
    assert found.predicted.tolist() == [True, False, False]
    assert found.notes == (
        "f: 3 rows for cases that are not in the data were left out.",
        "f: 1 row without a number was left out.",
        "f: no prediction for 2 cases.",
    )
