"""What is exported says what it came from, and the command line gives the same."""

import io
import json
import shlex

import pandas as pd
import pytest
from openpyxl import load_workbook
from pyarrow import parquet

from core.command_line import main
from pages.shared.kit import provenance, widgets
from tests.pages.opened import kept, opened, settle

ROWS = "lesion,dermatologist,finding\n" + "".join(
    f"{case},r{rater},{'xyz'[(case * rater + case) % 3]}\n" for case in range(30) for rater in range(4)
)


@pytest.fixture
def taken(monkeypatch):
    """What the download buttons of a page would give, by their keys."""
    found = {}

    def button(label, data=None, key=None, **_):
        found[key] = data

    monkeypatch.setattr(widgets.st, "download_button", button)
    return found


def answer(capsys, command: str) -> dict:
    program, *arguments = shlex.split(command.removeprefix("python -m "))
    assert program == "core"
    capsys.readouterr()
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_files_are_named_by_data_table_model_and_day(monkeypatch):
    """And weights are not the file of class probabilities under another name."""
    names, files = {}, {}

    def button(label, data=None, key=None, file_name="", **_):
        names[key], files[key] = file_name, data

    monkeypatch.setattr(widgets.st, "download_button", button)
    monkeypatch.setattr(provenance, "_today", lambda: "2026-03-01")
    app = opened("models", kept(ROWS))
    app.session_state["model_tabs"] = "Soft labels"
    settle(app.run())
    assert names["class_probabilities_csv"] == "made_class_probabilities_Average-of-models_2026-03-01.csv"
    assert names["weights_settings"] == "made_weights_settings_Average-of-models_2026-03-01.json"
    told = json.loads(files["weights_settings"]())
    assert (told["model"], told["date"], told["table"]) == ("Average of models", "2026-03-01", "weights")
    weights = pd.read_csv(io.BytesIO(files["weights_csv"]()))
    assert list(weights) == ["case", "class", "weight", "model"] and set(weights["model"]) == {told["model"]}
    assert weights.groupby("case")["weight"].sum().to_numpy() == pytest.approx(1)


def test_every_format_carries_the_same_settings(taken):
    digest = kept(ROWS)
    opened("cases", digest)
    told = json.loads(taken["certainty_settings"]())
    assert (told["data"], told["digest"], told["table"]) == (digest, digest, "certainty")
    assert {"model", "reliability", "seed", "version", "select", "selected", "command"} <= told.keys()
    sheet = load_workbook(io.BytesIO(taken["certainty_xlsx"]()))["Settings"]
    assert dict(sheet.iter_rows(min_row=2, values_only=True)).keys() == told.keys()
    assert json.loads(parquet.read_schema(io.BytesIO(taken["certainty_parquet"]())).metadata[b"plurality"]) == told
    assert pd.read_csv(io.BytesIO(taken["certainty_csv"]())).columns[0] == "case"


def test_the_settings_of_certainty_give_the_same_numbers_on_the_command_line(taken, capsys, tmp_path):
    opened("cases", kept(ROWS))
    told = json.loads(taken["certainty_settings"]())
    table = pd.read_csv(io.BytesIO(taken["certainty_csv"]()))
    again = answer(capsys, told["command"])
    assert again["mean"]["top1"] == pytest.approx(table["top1"].mean(), abs=1e-12)
    assert again["digest"] == told["digest"]


def test_the_settings_of_agreement_give_the_same_numbers_with_a_selection(taken, capsys):
    app = opened("agreement", kept(ROWS))
    app.session_state["select"] = '{"raters":["r0","r1","r2"]}'
    app.run()
    told = json.loads(taken["agreement_settings"]())
    assert told["selected"].startswith("3 of 4 raters")
    table = pd.read_csv(io.BytesIO(taken["agreement_csv"]()))
    again = answer(capsys, told["command"])
    assert again["digest"] == told["digest"]
    shown = table.set_index(["name", "weights"])["value"]
    for entry in again["coefficients"]:
        assert shown[entry["name"], entry["weights"]] == pytest.approx(entry["value"], abs=1e-12)
    assert len(again["coefficients"]) > 5


def test_settings_of_one_page_do_not_stand_on_another(taken):
    digest = kept(ROWS)
    app = opened("cases", digest)
    app.switch_page("pages/home.py").run()
    told = json.loads(taken["long_settings"]())
    assert told["digest"] == digest
    assert "model" not in told and "command" not in told


def test_the_sample_goes_by_its_name(taken, capsys):
    opened("agreement", "skin")
    assert json.loads(taken["agreement_settings"]())["command"].split()[-1] == "skin"
