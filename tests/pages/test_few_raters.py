"""What Home, Cases and the command say of data with few raters per case: nothing is uncertain for that alone."""

import json
import re

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.annotations.write import long_table
from core.command_line import main
from tests.core.models.test_majority import panel
from tests.pages.opened import kept, opened, words

pytestmark = pytest.mark.usefixtures("known")


def made(rows, n_classes):
    case, rater, answer = np.array(rows).T
    named = ([f"{kind}{number}" for number in range(n)] for kind, n in (("c", case.max() + 1), ("r", rater.max() + 1)))
    return Dataset.from_classes("made", *named, list("abcdefghij")[:n_classes], case, rater, answer)


def unlike(dataset):
    """Cases on which two annotations differ."""
    return int(sum(len(set(part)) > 1 for part in np.split(dataset.answer, dataset.case_ptr[1:-1])))


SETTINGS = {
    "double reading": made(panel(0, 120, 2, 2, 0.95), 2),
    "screening": made(panel(0, 150, 2, 3, 1.0, (0.97, 0.03)), 2),
    "ten classes": made(panel(0, 100, 10, 3, 0.95), 10),
    "two cases": made([(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 0)], 2),
    "coins": made(panel(4, 100, 2, 5, 0.5), 2),
    "one annotation each": made([(case, case % 3, case % 2) for case in range(20)], 2),
}


@pytest.mark.parametrize("name", ["double reading", "screening", "ten classes"])
def test_only_cases_on_which_raters_differ_are_uncertain(name):
    dataset = SETTINGS[name]
    n, data = unlike(dataset), kept(long_table(dataset).to_csv(index=False))
    cases = opened("cases", data)
    assert cases.title[0].value.startswith(f"{n} of {dataset.n_cases} cases {'is' if n == 1 else 'are'} uncertain at")
    home = opened("home", data).title[0].value
    assert home.endswith("no case is uncertain" if not n else f"{n} of {dataset.n_cases} cases are uncertain")


@pytest.mark.parametrize(("name", "n_raters"), [("two cases", 2), ("coins", 5)])
def test_no_case_is_called_uncertain_where_unanimous_raters_cannot_reach_the_bar(name, n_raters):
    data = kept(long_table(SETTINGS[name]).to_csv(index=False))
    cases, home = opened("cases", data), opened("home", data)
    said = f"Certainty cannot reach 90% with {n_raters} raters per case"
    assert cases.title[0].value == said and "You can still rank cases by certainty" in words(cases)
    assert said[1:] in home.title[0].value and [one.value for one in home.metric if one.label == "Uncertain cases"] == [
        "–"
    ]
    assert not re.search(r"\d (cases )?(is|are) uncertain", words(home) + words(cases))


def test_cases_with_one_annotation_have_no_certainty_on_any_page():
    data = kept(long_table(SETTINGS["one annotation each"]).to_csv(index=False))
    cases, home = opened("cases", data), opened("home", data)
    assert cases.title[0].value == "No case has two annotations, so certainty is not available"
    assert cases.subheader[0].value.endswith("no certainty · 1\N{NO-BREAK SPACE}annotation")
    frame = cases.dataframe[0].value
    assert frame["certainty"].isna().all() and set(frame["more raters"]) == {"one annotation"}
    assert "No case has two annotations, so certainty is not available" in words(home)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_command_says_what_the_page_says(name, tmp_path, capsys):
    dataset, file = SETTINGS[name], tmp_path / "made.csv"
    long_table(dataset).to_csv(file, index=False)
    assert main(["certainty", "dirichlet", str(file), "--draws", "20"]) in (0, None)
    told = json.loads(capsys.readouterr().out)
    title = opened("cases", kept(file.read_text(encoding="utf-8"))).title[0].value
    assert told["reliability"] == 1
    if title[0].isdigit():
        assert title.startswith(f"{told['uncertain']['n']} of {dataset.n_cases} cases")
    else:
        assert told["uncertain"]["n"] == 0 and told["uncertain"]["sentence"].startswith(title)
