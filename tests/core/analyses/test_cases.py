"""The parts of the analysis of cases, on every sample and on awkward data, by every model that pages offer."""

from dataclasses import fields, replace

import numpy as np
import pytest

from core.analyses.cases import CASES
from core.analyses.inputs import Inputs
from core.analysis_settings import AnalysisSettings
from core.ingest.samples import SAMPLES, load_sample
from core.plausibility.gaussian import GaussianScores
from core.plausibility.gaussian_prior import fit_prior
from core.plausibility.protocol import offered
from tests.core.analyses.test_contract import check
from tests.core.test_sentences import DATA

QUICK = {"n_draws": 40}
N_CASES = 12
ORDERED = ("anaesthesia", "noise")


def asked(name):
    """Some cases of the data with each model that pages offer, and what splits them; each class has a risk."""
    whole = DATA[name] if name in DATA else load_sample(name)
    dataset = whole.select(cases=whole.cases[:N_CASES])
    split = None
    if dataset.kind == "score":
        split = float(np.median(dataset.score))
    else:
        dataset = replace(dataset, class_risk=np.arange(dataset.n_classes, dtype=np.int8) % 3)
    if dataset.kind == "set":
        split = dataset.classes[0]
    if name in ORDERED:
        dataset = replace(dataset, ordinal=True)
    for method in offered(dataset):
        model = method.make()
        if method.make is GaussianScores:
            model = fit_prior(dataset).model(split)
        yield Inputs(dataset, settings=AnalysisSettings(model, 2.0)), split


def options_of(part, split):
    """Few draws, and the split, if the part takes them."""
    known = {field.name for field in fields(part.options)}
    return part.resolve(**{name: value for name, value in (QUICK | {"split": split}).items() if name in known})


@pytest.mark.parametrize("name", [*(sample.name for sample in SAMPLES), *DATA])
def test_every_part_has_a_table_and_can_be_drawn_and_printed(name):
    """What a page lets somebody take away is the table that the command line gives."""
    found = 0
    for inputs, split in asked(name):
        for part in CASES.parts:
            verdict = part.applicable(inputs)
            if not verdict.possible:
                assert verdict.reason
                continue
            options = options_of(part, split)
            result = part.answer(inputs, options)
            check(part, part.frame(result, inputs, options), part.blocks(result, inputs, options))
            found += 1
    assert found >= 2, "all cases, and one of them"


@pytest.mark.parametrize("name", ["skin", "anaesthesia", "noise", "crowd with gold"])
def test_one_case_is_as_certain_as_it_is_among_all(name):
    every, one = CASES.part("certainty"), CASES.part("case")
    for inputs, split in asked(name):
        if not every.applicable(inputs).possible:
            continue
        table = every.frame(every.answer(inputs, options_of(every, split)), inputs)
        for place in (0, inputs.dataset.n_cases - 1):
            found = one.answer(inputs, one.resolve(case=place, split=split, **QUICK))
            assert found.certainty.certainty[0].tolist() == table.loc[place, ["top1", "top2", "top3"]].tolist()
            assert found.risk.expected[0] == table["expected_risk"][place]
