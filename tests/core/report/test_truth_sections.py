"""The report's section on gold says the model's own measures on gold, and nothing where there is no gold."""

from dataclasses import replace

import numpy as np
import pytest

from core.analyses.blocks import Grid
from core.analysis_settings import AnalysisSettings, compute_settings
from core.models.average import average_models
from core.models.choose import choose
from core.models.gold_measures import gold_measures
from core.plausibility.dirichlet import DirichletCounts
from core.report.build import ReportRequest
from core.report.truth_sections import gold
from tests.core.raters.raters_simulated import simulated


def blocks(dataset):
    return gold(ReportRequest(dataset, "made", compute_settings(dataset)), ["gold"], None, None)


def test_without_gold_nothing_is_compared_with_a_truth():
    assert blocks(simulated(1, [0.8] * 4, n_cases=40, times=False)[0]) == []


def test_with_gold_the_measures_of_the_model_that_opens_stand_there_with_intervals():
    data, truth = simulated(1, [0.9, 0.8, 0.7, 0.6], n_cases=120, times=False)
    data = replace(data, gold=np.where(np.arange(120) < 80, truth, -1).astype(np.int32))
    expected = gold_measures(data, average_models(choose(data, seed=0), data).fit)
    lead, certain, table, *_, raters = blocks(data)
    assert (
        lead.text.startswith("Compared with gold, the average of the rater models is correct on 94%")
        and "of 80 cases" in lead.text
    )
    assert certain.text == "No gold case has P(correct) of 99% or more."
    assert isinstance(table, Grid)
    by_name = table.table.set_index("measure")
    measures = {"accuracy": expected.accuracy, "log loss": expected.log_loss, "Brier score": expected.brier}
    for name, one in measures.items():
        found = by_name.loc[name, ["value", "ci_low", "ci_high"]].tolist()
        assert found == pytest.approx([one.value, one.low, one.high])
    assert by_name["cases"].tolist() == [80, 80, 80, 80]
    known = data.gold[data.case_of_annotation]
    for rater, row in raters.table.iterrows():
        mine = (data.rater == rater) & (known >= 0)
        assert row["gold annotations"] == mine.sum()
        assert row["right by gold"] == pytest.approx((data.answer[mine] == known[mine]).mean())


def test_without_a_rater_model_it_is_said_how_many_cases_are_known():
    data, truth = simulated(1, [0.9, 0.8, 0.7, 0.6], n_cases=60, times=False)
    data = replace(data, gold=np.where(np.arange(60) < 40, truth, -1).astype(np.int32))
    (lead,) = blocks(replace(data, raters_identified=False))
    assert (lead.text, lead.kind) == ("Gold is known for 40 cases.", "lead")
    one = replace(data, gold=np.where(np.arange(60) == 7, truth, -1).astype(np.int32))
    without = ReportRequest(one, "made", AnalysisSettings(DirichletCounts(), 1.0))
    lead, raters = gold(without, ["gold"], None, None)
    assert (lead.text, lead.kind) == ("Gold is known for 1 case.", "lead")
    assert raters.table["gold annotations"].sum() == (data.case_of_annotation == 7).sum()
