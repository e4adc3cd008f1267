"""Plausible scores against known ones, by hand; known scores of data from file to folder, selection, classes."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from core import read
from core.__main__ import main
from core.agreement.intervals import wilson
from core.certainty.score_trust import ScoreTrust, score_trust
from core.certainty.scores_by_gold import scores_by_gold
from core.errors import InputError, NotApplicableError
from core.ingest.companion_files import SideFiles, with_side_files
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.library import keep, reopen
from core.plausibility.gaussian_prior import fit_prior
from core.raters.score_gold import score_gold

ROWS = "case,rater,score,gold\n1,a,3,2.5\n1,b,4,2.5\n2,a,5,\n2,b,6,\n3,a,2.5,4\n3,b,1,4\n4,a,9,7\n4,b,8,\n"


@pytest.fixture(scope="module")
def marked():
    return read(ROWS.encode(), name="marked", kind="score").dataset


def test_error_and_share_held_are_those_by_hand(marked):
    assert np.array_equal(marked.gold_scores, [2.5, np.nan, 4, 7], equal_nan=True)
    m = np.array([[3.0, 9.0, 2.0, 7.5], [2.5, 9.0, 3.0, 7.5]])
    half = np.array([[0.6], [0.1]])
    trust = ScoreTrust(None, np.array([1.0, 2.0]), m, m - half, m + half, None)
    found = scores_by_gold(marked, trust)
    off = np.array([0.5, 2.0, 0.5])
    assert found.n == 3 and found.error == pytest.approx([1.0, (0 + 1 + 0.5) / 3])
    reach = t.ppf(0.975, 2) * off.std(ddof=1) / np.sqrt(3)
    assert (found.error_low[0], found.error_high[0]) == pytest.approx((0.0, 1 + reach))
    assert found.held.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert (found.held_low[0], found.held_high[0]) == pytest.approx(wilson(2 / 3, 3, 1.959963984540054))
    assert found.words(0, 1).startswith(
        f"At γ = 1, the mean distance of plausible scores from gold is 1.0 (0.0 to {1 + reach:.1f}). "
    )
    assert "67% (21% to 94%) of their 95% intervals contain the gold score; n = 3 cases" in found.words(0, 1)
    low, high = (float(end) for end in wilson(1 / 3, 3, 1.959963984540054))
    assert f"33% ({100 * low:.0f}% to {100 * high:.0f}%) of their 95% intervals" in found.words(1, 1)


def test_without_gold_or_of_other_cases_it_is_refused(marked):
    bare = replace(marked, gold_scores=None)
    trust = score_trust(bare, fit_prior(load_sample("essays")).model(), [1.0])
    with pytest.raises(NotApplicableError, match="gold score"):
        scores_by_gold(bare, trust)
    with pytest.raises(InputError, match="different cases"):
        scores_by_gold(marked.select(cases=["1", "3"]), trust)


def test_known_scores_go_with_the_data(marked, tmp_path, monkeypatch):
    """Through the digest, a selection, two classes, the library, and a table that stands beside them."""
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path))
    other = replace(marked, gold_scores=marked.gold_scores + 1)
    bare = replace(marked, gold_scores=None)
    assert len({marked.digest, other.digest, bare.digest}) == 3
    assert marked.select(cases=["3", "4"]).gold_scores.tolist() == [4, 7]
    classes = marked.as_classes(4.0)[0]
    assert classes.gold.tolist() == [0, -1, 0, 1] and classes.gold_scores is None
    keep(marked)
    assert np.array_equal(reopen(marked.digest).gold_scores, marked.gold_scores, equal_nan=True)
    one, notes = with_side_files(bare, SideFiles(gold={"1": "2,5", "2": " ", "3": "4", "4": "high", "9": "1"}))
    assert np.array_equal(one.gold_scores, [2.5, np.nan, 4, np.nan], equal_nan=True)
    assert notes == (
        "Gold values that are not numbers ('high') were left out.",
        "Gold was left out for 1 case without an annotation.",
    )
    nothing, notes = with_side_files(bare, SideFiles(gold={"1": "high"}))
    assert nothing.gold_scores is None and notes[-1] == "No gold score matches a case in these data."


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ([1.0, 2.0], "gold_scores"),
        ([1.0, np.inf, 2.0, 3.0], "gold_scores"),
        (list("abcd"), "must contain numbers"),
    ],
)
def test_what_are_no_known_scores_is_refused(marked, gold, said):
    with pytest.raises(InputError, match=said):
        replace(marked, gold_scores=np.array(gold))


def test_known_scores_of_classes_are_refused(marked):
    with pytest.raises(InputError, match="Could not use gold scores"):
        replace(marked.as_classes(4.0)[0], gold_scores=np.zeros(4))


def test_the_command_line_uses_gold_of_the_data_and_a_file_says_the_same(capsys, tmp_path):
    with (SAMPLE_FOLDER / "essays" / "truth.csv").open(encoding="utf-8", newline="") as file:
        gold = {row["case"]: row["score"] for row in csv.DictReader(file)}
    with (SAMPLE_FOLDER / "essays" / "annotations.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    path = tmp_path / "essays.csv"
    lines = [f"{row['case']},{row['rater']},{row['score']},{gold[row['case']]}" for row in rows]
    path.write_text("\n".join(["case,rater,score,gold", *lines]) + "\n", encoding="utf-8")
    assert main(["raters", str(path), "--kind", "score"]) == 0
    mine = {row["rater"]: row["gold"] for row in json.loads(capsys.readouterr().out)["raters"]}
    assert main(["raters", "essays", "--gold", str(SAMPLE_FOLDER / "essays" / "truth.csv")]) == 0
    theirs = {row["rater"]: row["gold"] for row in json.loads(capsys.readouterr().out)["raters"]}
    assert mine == theirs
    assert main(["sweep", "gaussian", str(path), "--reliabilities", "1,2"]) == 0
    told = json.loads(capsys.readouterr().out)["rows"]
    dataset = read(path.read_bytes(), kind="score").dataset
    found = scores_by_gold(dataset, score_trust(dataset, fit_prior(dataset).model(), [1.0, 2.0]))
    assert [row["gold"]["error"] for row in told] == found.error.tolist()
    assert [row["gold"]["held"] for row in told] == found.held.tolist()
    assert score_gold(dataset).words().startswith("Ben scores 1.")
