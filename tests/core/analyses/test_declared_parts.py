"""A part that its module declares has a command, a section of the report and a tab, without another line of code."""

import json
import sys
from types import ModuleType

import pandas as pd
import pytest

from core.analyses import base
from core.analyses.blocks import Words
from core.command_line import main
from core.ingest.samples import load_sample
from core.methods import Verdict
from core.report.part_sections import of_question
from tests.core.report.test_build import request_of

NAME = "first-letter"
MODULE = "core.analyses.raters.first_letter"


@pytest.fixture
def part(monkeypatch):
    """A part of single classes, as if its module were a file of the raters' analysis."""
    module = ModuleType(MODULE)
    module.compute = lambda dataset, options: sorted({name[0] for name in dataset.raters})
    module.present = lambda found, dataset, options: [Words(f"Raters begin with {', '.join(found)}.", "lead")]
    module.table_of = lambda found, dataset, options: pd.DataFrame({"letter": found})
    module.PART = base.part_of(
        MODULE, NAME, "First letter", lambda dataset: Verdict(NAME, NAME, dataset.kind == "class", "it takes classes"),
        question="With which letters do raters begin?",
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, MODULE, module)
    monkeypatch.setattr(base, "declared_modules", lambda: {NAME: ".analyses.raters.first_letter"})
    return module.PART


def test_command_prints_the_rows_of_the_part(part, capsys):
    assert main([NAME, "caries"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [{"letter": "d"}]
    assert main([NAME, "essays"]) == 2  # scores without a threshold
    assert main([NAME, "essays", "--threshold", "5", "--csv"]) == 0
    assert capsys.readouterr().out.startswith("letter\n")
    assert main(["--help"]) == 0
    assert part.question in capsys.readouterr().out


@pytest.mark.parametrize(("sample", "letter", "n_words"), [("caries", "d", 1), ("skin", "R", 2)])
def test_section_prints_the_part_of_single_classes(part, sample, letter, n_words):
    request = request_of(load_sample(sample), sample)
    blocks = of_question(part)(request, (), None, None)
    assert len(blocks) == n_words  # rankings: only the first choice counts
    assert blocks[-1].plain == f"Raters begin with {letter}."


def test_section_is_left_out_if_the_part_is_not_possible(part):
    request = request_of(load_sample("essays"), "essays")
    assert of_question(part)(request, (), None, None) == []


def test_analysis_has_the_parts_of_its_own_folder(part):
    assert base.declared_in("core.analyses.raters") == (part,)
    assert base.declared_in("core.analyses.models") == ()
