"""On another processor numbers and screens are those recorded, and what has changed is found: one is imitated."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import imitated, screens
from tests.golden.commands import commands
from tests.golden.compare import differences
from tests.golden.make import file_of, kept, rule_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Answers of commands and lines of a page, computed as on another processor."""
    out = tmp_path_factory.mktemp("imitated") / "found.json"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.golden.imitated", str(out)],
        check=True, cwd=ROOT, env=os.environ | imitated.imitation(), capture_output=True,
    )  # fmt: skip
    return json.loads(out.read_text(encoding="utf-8"))


def of_answer(name: str, answer: dict) -> list[str]:
    recorded = json.loads(file_of(name).read_text(encoding="utf-8"))
    return differences(kept(recorded), answer, rule_of(commands()[name], recorded))


def of_page(lines: list[str]) -> list[str]:
    path = screens.file_of(imitated.DATA, imitated.PAGE)
    return screens.differences(path.read_text(encoding="utf-8").splitlines(), lines)


def test_numbers_and_screens_are_those_recorded(found):
    assert [line for name, answer in found["answers"].items() for line in of_answer(name, answer)] == []
    assert of_page(found["lines"]) == []


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("trace: ", '"interval 0.763 to', '"interval 0.764 to'),
        ("trace: ", '"interval 0.763 to', '"interval of 0.763 to'),
        ("  ci_low", "0.7633719", "0.7633919"),
        ("  name (hidden): ", '"percent", "spa"', '"spa", "percent"'),
        ("title: ", "α = 0.28", "α = 0.29"),
    ],
)
def test_a_changed_hover_text_interval_end_order_or_number_of_a_page_is_found(found, part, old, new):
    place = next(n for n, line in enumerate(found["lines"]) if line.startswith(part) and old in line)
    lines = [*found["lines"]]
    lines[place] = lines[place].replace(old, new, 1)
    assert [line[0] for line in of_page(lines)] == ["-", "+"]


@pytest.mark.parametrize("name", imitated.COMMANDS)
def test_a_changed_number_of_a_command_is_found(found, name):
    answer = json.dumps(found["answers"][name])
    number = next(each for each in re.findall(r"0\.\d{6,}", answer))
    assert of_answer(name, json.loads(answer.replace(number, repr(float(number) * 1.0002), 1)))
