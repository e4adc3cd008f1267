"""Doors of the library: whatever is given, the answer is a result or an error of the library that says what to give."""

import inspect
import pickle

import numpy as np
import pytest

import core
from core.annotations.counts import class_counts
from core.checked import checked
from core.errors import InputError, PluralityError
from core.evaluation.predictions import read_predictions
from core.ingest.formats.tables import open_table
from core.ingest.samples import sample_predictions

GARBAGE = {
    "text": "nonsense",
    "negative": -3.5,
    "nan": float("nan"),
    "none": None,
    "list": ["a", None],
    "object": object(),
    "bytes": b"x",
    "large": 10**30,
    "switch": True,
    "dict": {},
    "array": np.array([np.nan]),
}
REAL = {"level", "q", "reliability", "alpha", "pseudo", "epsilon"}


@pytest.fixture(scope="module")
def calls():
    """A valid call of each public function, on small data."""
    caries, skin = core.load_sample("caries"), core.load_sample("skin")
    caries, skin = caries.select(cases=caries.cases[:30]), skin.select(cases=skin.cases[:40])
    counts, points = core.DirichletCounts(), core.PrIRN()
    machine, people = caries.raters[0], tuple(caries.raters[1:])
    predictions = read_predictions(open_table(sample_predictions("skin")), skin, "skin")[0]
    kept = core.kept_plausibilities(points, skin, 1.0, n_draws=20)
    drawn = {"model": counts, "dataset": caries, "n_draws": 20}
    ranked = {"model": points, "dataset": skin, "n_draws": 20, "predictions": predictions, "reliability": 1.0}
    return {
        "read": {"source": b"case,rater,class\n1,a,x\n1,b,y\n"},
        "load_sample": {"name": "caries"},
        "agreement_table": {"counts": class_counts(caries)},
        **{name: {"data": caries} for name in ("percent_agreement", "fleiss_kappa", "krippendorff_alpha", "spa")},
        "coefficients_for": {"dataset": caries},
        "bootstrap": {"data": caries, "n_replicates": 20},
        "compare": {"first": caries, "second": caries, "n_replicates": 20},
        "alternative_test": {"dataset": caries, "machines": [machine], "n_resamples": 100, "plan": False},
        "machine_rates": {"dataset": caries, "machine": machine, "labels": core.people_labels(caries, people)},
        "people_labels": {"dataset": caries, "people": people},
        "equivalent_readers": {"dataset": caries, "machine": machine, "people": people, "n_resamples": 100},
        "shared_errors": {"dataset": caries, "n_replicates": 20},
        "annotation_certainty": {**drawn, "reliability": 1.0},
        "next_opinion": {**drawn, "reliability": 1.0},
        "expected_risk": {"model": points, "dataset": skin, "reliability": 1.0, "n_draws": 20},
        "held_out_curve": {**drawn, "reliabilities": [1.0, 2.0]},
        "default_reliability": {"model": counts, "dataset": caries},
        **dict.fromkeys(("ua_topk_accuracy", "ua_set_accuracy", "ua_average_overlap"), ranked),
        "reliability_sweep": {**drawn, "reliabilities": [1.0]},
        "kept_plausibilities": {**drawn, "reliability": 1.0},
        "prediction_sets": {"predictions": predictions, "dataset": skin, "kept": kept},
        "class_rate": {"labels": np.tile([0, 1, np.nan], 9), "machine": np.tile([0.0, 1.0, 0.0], 9)},
        **{name: {} for name in core.__all__ if inspect.isclass(getattr(core, name)) and name != "Dataset"},
        "GaussianScores": {"threshold": 1.0, "m0": 0.0, "k0": 1.0, "a0": 1.0, "b0": 1.0},
    }


NOT_CALLED = {"Dataset", "__version__", "set_certainty", "truth_curve"}  # checks its arrays; text; need draws and gold


@pytest.mark.parametrize("name", sorted(set(core.__all__) - NOT_CALLED))
def test_whatever_is_given_there_is_a_result_or_an_error_of_the_library(calls, name):
    door, given = getattr(core, name), calls[name]
    door(**given)
    for argument in inspect.signature(door).parameters.values():
        for what, value in GARBAGE.items():
            if argument.kind is argument.VAR_KEYWORD:
                continue
            try:
                door(**given | {argument.name: value})
            except PluralityError:
                continue
            assert not (argument.name in REAL and what in ("negative", "nan", "switch", "text")), (argument.name, what)


@checked
def door(number: float) -> float:
    """Stand in for a public function."""
    return number


def test_numbers_of_numpy_count_and_texts_are_no_lists():
    people = core.people_labels
    assert door(np.float32(2)) == 2 and door(np.int64(3)) == 3 and door(4) == 4
    with pytest.raises(InputError, match="number must be float; got 'x'"):
        door("x")
    with pytest.raises(InputError, match=r"people must be Sequence\[str\]; got 'abc'"):
        people(core.load_sample("caries"), "abc")
    with pytest.raises(InputError, match="repeats must be 'keep' or 'first' or 'refuse'; got 'last'"):
        core.read(b"case,rater,class\n1,a,x\n", repeats="last")


def test_doors_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(core.krippendorff_alpha)) is core.krippendorff_alpha
