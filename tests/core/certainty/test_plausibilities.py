"""Plausibilities of all cases: closed forms of counts, the moments of draws, and the files that hold them."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest

from core.analyses.blocks import Download, Grid
from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.plausibilities import plausibilities
from core.command_line import main
from core.errors import LimitError, NotApplicableError
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN
from core.rankings.irn import irn
from core.tables import to_csv_text, to_parquet, to_xlsx
from tests.core.analyses.test_contract import every


def some():
    """Three cases, one without annotations, four classes of which one is never named."""
    return Dataset.from_classes("some", ["x", "y", "z"], list("rst"), ["a", "b", "c", "d"],
                                [0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [0, 0, 1, 2, 2])  # fmt: skip


def test_means_and_deviations_of_counts_are_those_of_the_dirichlet():
    dataset, gamma, alpha, n = some(), 2.0, 0.5, 20_000
    found = plausibilities(DirichletCounts(alpha=alpha), dataset, reliability=gamma, n_draws=n)
    shape = gamma * np.array([[2, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]) + alpha
    total = shape.sum(axis=1, keepdims=True)
    mean = shape / total
    sd = np.sqrt(mean * (1 - mean) / (total + 1))
    np.testing.assert_allclose(found.mean.sum(axis=1), 1)
    assert (np.abs(found.mean - mean) < 4.5 * sd / np.sqrt(n) + 1e-9).all()
    np.testing.assert_allclose(found.sd, sd, rtol=0.05)
    np.testing.assert_allclose(found.point[:2], [[2 / 3, 1 / 3, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(found.irn[:2], found.point[:2])
    assert np.isnan(found.point[2]).all() and np.isnan(found.irn[2]).all()


def test_draws_that_are_kept_have_the_mean_and_deviation():
    """Classes that nobody named share what is left at random, with a tiny prior too."""
    dataset, n = some(), 4000
    for alpha in (1.0, 0.01):
        found = plausibilities(DirichletCounts(alpha=alpha), dataset, reliability=1.0, n_draws=n, n_kept=n)
        assert found.draws.shape == (3, n, 4)
        np.testing.assert_allclose(found.draws.sum(axis=2), 1)
        error = found.draws.std(axis=1) / np.sqrt(n)
        assert (np.abs(found.draws.mean(axis=1) - found.mean) < 4.5 * error + 1e-6).all()
        np.testing.assert_allclose(found.draws.std(axis=1), found.sd, atol=0.03)


@pytest.mark.parametrize("model", [PrIRN(), PlackettLuce(n_burn=50)])
def test_irn_stands_beside_the_plausibilities_of_rankings(model):
    dataset = load_sample("dermatology")
    found = plausibilities(model, dataset, reliability=1.0, n_draws=200)
    weights = irn(dataset)
    for case in range(dataset.n_cases):
        entries = slice(weights.ptr[case], weights.ptr[case + 1])
        np.testing.assert_allclose(found.irn[case, weights.class_code[entries]], weights.normalised[entries])
        assert found.irn[case].sum() == pytest.approx(1)
    same = np.allclose(found.point, found.irn)
    assert same == isinstance(model, PrIRN)


def test_tables_have_a_row_per_case_and_class_or_per_case():
    found = plausibilities(DirichletCounts(), some(), reliability=1.0, n_draws=20, n_kept=2)
    table = found.long_table()
    assert len(table) == 3 * 2 * 4 and list(table.columns) == ["case", "draw", "class", "plausibility"]
    row = table[(table["case"] == "y") & (table["draw"] == 1) & (table["class"] == "c")]
    assert row["plausibility"].item() == found.draws[1, 1, 2]
    lists = found.by_case()
    assert len(lists) == 3 and lists["soft_label"][1] == found.mean[1].tolist()
    assert lists["draws"][0][1] == found.draws[0, 1].tolist()


def test_lists_are_lists_in_parquet_and_json_in_csv_and_excel(tmp_path):
    from openpyxl import load_workbook

    found = plausibilities(DirichletCounts(), some(), reliability=1.0, n_draws=20)
    table = found.by_case()
    (tmp_path / "p.parquet").write_bytes(to_parquet(table))
    read = parquet.read_table(tmp_path / "p.parquet").to_pylist()
    assert read[0]["soft_label"] == found.mean[0].tolist() and read[0]["classes"] == ["a", "b", "c", "d"]
    (tmp_path / "p.csv").write_text(to_csv_text(table), encoding="utf-8")
    cells = pd.read_csv(tmp_path / "p.csv")
    assert json.loads(cells["soft_label"][0]) == found.mean[0].tolist()
    assert json.loads(cells["classes"][0]) == ["a", "b", "c", "d"]
    (tmp_path / "p.xlsx").write_bytes(to_xlsx(table, {}))
    sheet = load_workbook(tmp_path / "p.xlsx")["table"]
    assert json.loads(sheet["B2"].value) == found.mean[0].tolist()


def test_the_part_offers_both_tables():
    inputs = Inputs(some(), settings=AnalysisSettings(DirichletCounts(), 2.0))
    part = RELIABILITY.part("plausibilities")
    found = part.answer(inputs)
    frames = {one.key: one for one in every(part.blocks(found, inputs)) if isinstance(one, Download)}
    assert len(frames["plausibilities_table"].frame) == 12 and len(frames["soft_labels_by_case"].frame) == 3
    assert frames["soft_labels_by_case"].n_rows == 3
    *_, first = (one.table for one in part.blocks(found, inputs) if isinstance(one, Grid))
    assert first["case"].tolist() == ["x", "y", "z"] and first["class"].tolist()[:2] == ["a", "c"]
    assert first["plausibility"].tolist() == found.mean.max(axis=1).tolist()
    assert frames["plausibilities_table"].settings["classes"] == ["a", "b", "c", "d"]


def test_the_command_writes_csv_and_parquet(tmp_path, capsys):
    csv, arrow = tmp_path / "p.csv", tmp_path / "p.parquet"
    asked = ["certainty", "dirichlet", "caries", "--reliability", "2", "--draws", "20", "--plausibilities-out"]
    assert main([*asked, str(csv)]) == 0 and main([*asked, str(arrow), "--plausibility-draws", "2"]) == 0
    table, rows = pd.read_csv(csv, encoding="utf-8-sig"), parquet.read_table(arrow)
    dataset = load_sample("caries")
    assert len(table) == dataset.n_cases * 2 and rows.num_rows == dataset.n_cases
    assert table["plausibility"].to_numpy().reshape(-1, 2) == pytest.approx(np.array(rows["soft_label"].to_pylist()))
    assert json.loads(rows.schema.metadata[b"plurality"])["reliability"] == 2
    capsys.readouterr()
    assert main(["certainty", "gaussian", "essays", "--plausibilities-out", str(csv)]) == 2
    assert main(["certainty", "dirichlet", "street", "--reliability", "1", "--plausibilities-out", str(csv)]) == 2
    assert (
        capsys.readouterr().err.count(
            "Could not use --plausibilities-out: it needs rankings, or one class per annotation"
        )
        == 2
    )


def test_too_many_cells_and_other_annotations_are_refused():
    with pytest.raises(LimitError, match="cells"):
        plausibilities(
            DirichletCounts(), load_sample("skin").as_classes()[0], reliability=1.0, n_draws=10_000, n_kept=10_000
        )
    with pytest.raises(NotApplicableError):
        plausibilities(DirichletCounts(), load_sample("street"), reliability=1.0)
