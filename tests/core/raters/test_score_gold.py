"""Bias and error of raters of scores against known scores, by hand, on the sample and on the command line."""

import csv
import json

import numpy as np
import pytest
from scipy.stats import t

from core.__main__ import main
from core.errors import InputError, NotApplicableError
from core.ingest.read_files import read
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.raters.score_gold import score_gold
from core.raters.score_raters import score_raters

TRUTH = SAMPLE_FOLDER / "essays" / "truth.csv"


def test_bias_and_error_are_those_by_hand():
    """Three scores of one rater and one of another on gold cases; a third has none, a known case nobody scored."""
    text = "case,rater,score\n1,a,3\n2,a,5\n3,a,2.5\n1,b,4\n4,b,9\n4,c,9\n"
    found = score_gold(read(text.encode(), kind="score").dataset, {"1": 2.0, "2": 5.5, "3": 1.0, "7": 3.0})
    off = np.array([1, -0.5, 1.5])
    assert found.n.tolist() == [3, 1, 0]
    reach = t.ppf(0.975, 2) / np.sqrt(3)
    assert found.bias[0] == pytest.approx(off.mean()) and found.error[0] == pytest.approx(1.0)
    assert [found.bias_low[0], found.bias_high[0]] == pytest.approx(
        [off.mean() - reach * off.std(ddof=1), off.mean() + reach * off.std(ddof=1)]
    )
    assert found.error_low[0] == 0 and found.error_high[0] == pytest.approx(1 + reach * 0.5)
    assert (found.bias[1], found.error[1]) == (2, 2) and np.isnan([found.bias_low[1], found.bias[2]]).all()


def test_who_is_named_is_surely_off_and_not_farthest_off_by_chance():
    rows = [f"{case},a,{5.6 + (case % 2) / 50}" for case in range(12)] + ["0,b,4", "1,b,9"]
    data = read(("case,rater,score\n" + "\n".join(rows) + "\n").encode(), kind="score").dataset
    found = score_gold(data, {str(case): 5.0 for case in range(12)})
    assert abs(found.bias[1]) > found.bias[0] and found.bias_low[1] < 0 < found.bias_high[1]
    assert found.words().startswith("a scores 0.61 higher than gold (0.60 to 0.62; n = 12 scores)")


def test_what_has_no_known_score_is_refused():
    essays = load_sample("essays")
    with pytest.raises(NotApplicableError, match="no case has both a score and a gold score"):
        score_gold(essays, {"nobody": 1.0})
    with pytest.raises(InputError, match="not finite"):
        score_gold(essays, {essays.cases[0]: float("nan")})
    with pytest.raises(NotApplicableError, match=r"these annotations are .*, not scores|are anonymous"):
        score_gold(load_sample("anaesthesia"), {"1": 1.0})


def test_the_command_tells_severity_as_the_page_does_and_bias_against_gold(capsys, tmp_path):
    """The severe rater is below the truth, too; without gold nothing is said of it."""
    assert main(["raters", "essays", "--gold", str(TRUTH)]) == 0
    told = json.loads(capsys.readouterr().out)
    essays = load_sample("essays")
    found = score_raters(essays)
    with TRUTH.open(encoding="utf-8", newline="") as file:
        gold = {row["case"]: float(row["score"]) for row in csv.DictReader(file)}
    against = score_gold(essays, gold)
    first = next(row for row in told["raters"] if row["rater"] == "Ben")
    place = found.raters.index("Ben")
    assert first["severe"] and told["words"].endswith(f" {found.words()}.")
    for name in ("severity", "severity_low", "spread_high"):
        assert first[name] == pytest.approx(getattr(found, name)[place], abs=1e-12)
    for name in ("bias", "bias_high", "error", "error_low"):
        assert first["gold"][name] == pytest.approx(getattr(against, name)[place], abs=1e-12)
    assert first["gold"]["n"] == found.n[place] and first["gold"]["bias_high"] < 0
    some = dict(list(gold.items())[:60])
    (tmp_path / "some.csv").write_text("case,score\n" + "".join(f"{case},{score}\n" for case, score in some.items()))
    assert main(["raters", "essays", "--gold", str(tmp_path / "some.csv")]) == 0
    n = {row["rater"]: row["gold"]["n"] for row in json.loads(capsys.readouterr().out)["raters"]}
    assert n == dict(zip(essays.raters, score_gold(essays, some).n.tolist(), strict=True)) and n["Ben"] < found.n[place]
    assert main(["raters", "essays"]) == 0
    assert "gold" not in json.loads(capsys.readouterr().out)["raters"][0]
    assert main(["raters", "essays", "--acceptable", "1.7"]) != 0
    assert "acceptable accuracy or correlation is 1.7" in capsys.readouterr().err
    (tmp_path / "gold.csv").write_text("case,score\nessay-001,good\n")
    assert main(["raters", "essays", "--gold", str(tmp_path / "gold.csv")]) != 0
    assert "'good' in row 1 is not a score" in capsys.readouterr().err
    assert main(["raters", "essays", "--threshold", "6"]) == 0
    assert "acceptable" in json.loads(capsys.readouterr().out)
