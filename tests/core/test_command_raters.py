"""`raters` on the command line gives the library's numbers, and one line where the input is bad."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from core.analyses.raters import RATERS
from core.command_line import main
from core.ingest.read_files import read
from core.ingest.samples import load_sample
from core.raters.following import following_of
from core.raters.score_drift import score_drifts
from core.raters.score_gold import score_gold
from core.raters.score_raters import score_raters
from tests.core.raters.raters_simulated import ratings, simulated, with_spammers


@pytest.fixture
def run(capsys):
    def run_it(*arguments, status=0):
        code = main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert code == status, output.err
        return output.out if status == 0 else output.err

    return run_it


@pytest.fixture
def files(tmp_path):
    """Eleven raters of 0.85 and one of 0.3, and gold of all cases; paths of both, the data and the truth."""
    data, truth = simulated(1, np.r_[np.full(11, 0.85), 0.3], n_cases=300, per_case=5, times=False)
    rows = {
        "case": [data.cases[case] for case in data.case_of_annotation],
        "rater": [data.raters[rater] for rater in data.rater],
        "class": [data.classes[answer] for answer in data.answer],
    }
    answers, gold = tmp_path / "answers.csv", tmp_path / "gold.csv"
    pd.DataFrame(rows).to_csv(answers, index=False)
    known = [data.classes[code] for code in truth]
    pd.DataFrame({"case": data.cases, "class": known}).to_csv(gold, index=False)
    right = np.bincount(data.rater, truth[data.case_of_annotation] == data.answer)
    return answers, gold, dict(zip(data.raters, right / np.bincount(data.rater), strict=True))


def test_level_rate_and_seed_reach_the_library(run):
    answer = json.loads(run("raters", "anaesthesia", "--level", "0.8", "--fdr", "0.2", "--seed", "3"))
    data = load_sample("anaesthesia")
    part = RATERS.parts[0]
    found = part.answer(data, part.resolve(level=0.8, fdr=0.2, seed=3)).act
    first = int(found.acceptable.order()[0])
    assert (answer["level"], answer["fdr"], answer["words"]) == (0.8, 0.2, found.words())
    assert answer["raters"][0]["ci_low"] == found.acceptable.accuracy.low[first]


def test_gold_judges_where_it_is_given_and_stands_beside_the_model_where_it_does_not(run, files):
    answers, gold, right = files
    plain = json.loads(run("raters", answers))
    judged = json.loads(run("raters", answers, "--gold", gold))
    beside = json.loads(run("raters", answers, "--gold", gold, "--judged-by", "model"))
    assert [plain["judged_by"], judged["judged_by"], beside["judged_by"]] == ["model", "gold", "model"]
    for row in judged["raters"]:
        assert row["gold"]["right"] == pytest.approx(right[row["rater"]])
        assert row["gold"]["n"] == row["n"] == row["n_judged"]
        assert row["gold"]["ci_low"] < row["gold"]["right"] < row["gold"]["ci_high"]
    by_rater = [{row["rater"]: row["accuracy"] for row in one["raters"]} for one in (plain, beside)]
    assert by_rater[0] == by_rater[1]
    wrong = {row["rater"]: row["expected_wrong"] for row in plain["raters"]}["r11"]
    assert wrong > 50 and (plain["n_low"], plain["wrong_of_low"]) == (1, pytest.approx(wrong))
    assert plain["n_below"] == pytest.approx(sum(1 - row["p_acceptable"] for row in plain["raters"]))
    for one in (plain, judged, beside):
        assert [(row["rater"], row["flags"][0]) for row in one["raters"] if row["flags"]] == [("r11", "low accuracy")]
        assert one["flagged"] == ["r11"]


def test_what_is_acceptable_and_the_rate_are_taken(run, files):
    answers = files[0]
    strict = json.loads(run("raters", answers, "--acceptable", "0.97"))
    assert (strict["acceptable"], strict["acceptable_given"]) == (0.97, True)
    assert strict["n_low"] == 12
    lenient = json.loads(run("raters", answers, "--acceptable", "0.2", "--fdr", "0.01"))
    assert (lenient["n_low"], lenient["fdr"]) == (0, 0.01)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--acceptable", "1.5"), "acceptable accuracy or correlation is 1.5"),
        (("--fdr", "0"), "false discovery rate is 0.0"),
        (("--judged-by", "gold"), "no gold case is annotated"),
        (("--level", "1"), "level of the intervals is 1"),
    ],
)
def test_bad_input_is_one_clear_line(run, files, arguments, said):
    words = run("raters", files[0], *arguments, status=2)
    assert said in words
    assert words.count("\n") == 1


def test_two_cases_claim_nothing(run, tmp_path):
    file = tmp_path / "two.csv"
    file.write_text("case,rater,class\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n")
    answer = json.loads(run("raters", file))
    assert (answer["acceptable"], answer["flagged"]) == (None, [])
    assert all(row["accuracy"] is None and row["expected_wrong"] is None for row in answer["raters"])
    assert answer["why_not"]


def test_one_answer_a_case_claims_nothing(run, tmp_path):
    file = tmp_path / "single.csv"
    file.write_text("case,rater,class\n" + "".join(f"{i},r{i % 3},{'xy'[i % 2]}\n" for i in range(30)))
    answer = json.loads(run("raters", file))
    assert answer["why_not"] == "no case has annotations by two raters"
    assert answer["why_no_order"].startswith("most cases have only one or two raters, so ")
    assert answer["flagged"] == []
    (note,) = answer["notes"]
    assert note.startswith("Cannot determine rater accuracy: ") and note.endswith(
        "Raters are compared with the majority vote."
    )


def test_rankings_that_count_for_nothing_are_counted(run, tmp_path):
    file = tmp_path / "ranked.csv"
    lines = [
        f"{case},{rater},{rank},{'xyz'[(case + rank) % 3]}" for case in range(9) for rater in "abc" for rank in (1, 2)
    ]
    file.write_text("\n".join(["case,rater,rank,class", *lines, "9,a,1,x", "9,a,1,y", "8,d,1,z", "8,d,1,y"]))
    assert json.loads(run("raters", file))["left_out"] == 2
    assert json.loads(run("reliability", "dirichlet", file))["left_out"] == 2


def test_how_many_classes_off_raters_are_needs_an_order_that_is_declared(run, files):
    names = ("--classes", ",".join(sorted(set(pd.read_csv(files[0])["class"]))))
    plain = json.loads(run("raters", files[0], *names))["raters"]
    ordered = json.loads(run("raters", files[0], *names, "--ordinal"))["raters"]
    assert not any("classes_off" in row for row in plain)
    assert all("classes_off" in row for row in ordered)


def test_raters_of_scores_stand_by_what_is_lost_of_their_scores_and_not_by_how_far_they_are_off(run, tmp_path):
    """One whose scores scatter stands before one who scores 3 lower, who is severe and not low."""
    rng, rows = np.random.default_rng(0), []
    for case in range(60):
        truth = rng.normal(50, 10)
        for rater, severity in zip("abcdef", (0, 2, 0, -3, 0, 0), strict=True):
            scatter = 60 if rater == "e" else 3
            rows.append((case, rater, round(truth + severity + rng.normal(0, scatter), 2)))
    pd.DataFrame(rows, columns=["case", "rater", "score"]).to_csv(tmp_path / "scores.csv", index=False)
    answer = json.loads(run("raters", tmp_path / "scores.csv"))
    found = following_of(read((tmp_path / "scores.csv").read_bytes()).dataset)
    first, *others = answer["raters"]
    assert first["rater"] == "e" and answer["flagged"] == ["e"] and answer["n_low"] == 1
    assert not any(row["low"] for row in others) and min(row["severity"] for row in answer["raters"]) < -2
    assert (answer["measure"], answer["acceptable"]) == ("correlation", found.acceptable)
    assert first["follows"] == pytest.approx(found.rates.value[4]) and first["lost"] == pytest.approx(found.lost[4])
    assert answer["words"].startswith(found.who())
    lost = [row["lost"] for row in answer["raters"]]
    assert lost == sorted(lost, reverse=True)
    strict = json.loads(run("raters", tmp_path / "scores.csv", "--acceptable", "0.1"))
    assert (strict["acceptable"], strict["acceptable_given"]) == (0.1, True)


def test_ordered_classes_are_judged_by_how_they_follow_the_cases(run, tmp_path):
    """The command gives what the library does, and who merely reads higher is no flagged rater."""
    data, _, _ = ratings(9)
    frame = pd.DataFrame(
        {
            "case": [data.cases[case] for case in data.case_of_annotation],
            "rater": [data.raters[rater] for rater in data.rater],
            "class": [data.classes[answer] for answer in data.answer],
        }
    )
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    ordered = ("raters", tmp_path / "ratings.csv", "--kind", "class", "--classes", "1,2,3,4,5", "--ordinal")
    answer = json.loads(run(*ordered))
    table = pd.read_csv(io.StringIO(run(*ordered, "--csv"))).set_index("rater")
    assert answer["words"].startswith("No rater's correlation")
    assert (answer["measure"], answer["mean_accuracy"], answer["flagged"]) == ("correlation", None, [])
    assert answer["why_not"].startswith("on cases that the model assigns to “") and answer["remedy"].startswith(
        "Choose a different model"
    )
    shifted = [row for row in answer["raters"] if row["severity"] > 1]
    assert shifted and all(row["flags"] == ["shifted"] and row["accuracy"] is None for row in shifted)
    assert table.loc[shifted[0]["rater"], "follows"] == pytest.approx(shifted[0]["follows"])


def test_spammers_who_were_left_out_are_named(run, tmp_path):
    data, _ = with_spammers()
    rows = zip(data.case_of_annotation, data.rater, data.answer, strict=True)
    lines = [f"{data.cases[case]},{data.raters[rater]},{data.classes[answer]}" for case, rater, answer in rows]
    (tmp_path / "spam.csv").write_text("\n".join(["case,rater,class", *lines]))
    answer = json.loads(run("raters", tmp_path / "spam.csv"))
    assert answer["agreement_without"] == ["allno", "allyes"] == answer["flagged"][:2]
    assert answer["acceptable"] is not None and answer["why_not"] == ""


def test_each_rater_of_dated_scores_has_their_own_drift_and_their_own_gold(run, tmp_path):
    """The fourth of six scores 4 higher from the middle on; the order by severity is not that of the names."""
    rng, rows = np.random.default_rng(2), []
    truth = rng.normal(50, 10, 120)
    for case in range(120):
        for rater, severity in zip("abcdef", (0.2, 2, 0.4, 4 * (case >= 60), -3, 0.1), strict=True):
            day = pd.Timestamp("2024-01-01") + pd.Timedelta(days=case)
            rows.append((f"c{case}", rater, round(truth[case] + severity + rng.normal(0, 0.5), 2), f"{day:%Y-%m-%d}"))
    path, gold = tmp_path / "scores.csv", tmp_path / "gold.csv"
    pd.DataFrame(rows, columns=["case", "rater", "score", "time"]).to_csv(path, index=False)
    gold.write_text("case,score\n" + "".join(f" c{case} ,{truth[case]:.2f}\n" for case in range(40)) + "c50,\n,3\n")
    answer = json.loads(run("raters", path, "--gold", gold))["raters"]
    table = pd.read_csv(io.StringIO(run("raters", path, "--gold", gold, "--csv"))).set_index("rater")
    data = read(path.read_bytes()).dataset
    drifts = score_drifts(data, score_raters(data)).to_frame().set_index("rater")
    judged = (
        score_gold(data, {f"c{case}": float(f"{truth[case]:.2f}") for case in range(40)}).to_frame().set_index("rater")
    )
    assert [row["rater"] for row in answer] == list(table.index) != sorted(table.index)
    assert [row["rater"] for row in answer if row["drift"]["alarm"]] == ["d"]
    for row in answer:
        name, drift = row["rater"], row["drift"]
        expected = drifts.loc[name]
        assert drift["since"] == (expected["since"] if expected["alarm"] else None)
        for part in ("p", "before", "before_low", "before_high", "after", "after_low", "after_high"):
            assert drift[part] == pytest.approx(expected[part]) or (drift[part] is None and np.isnan(expected[part])), (
                part
            )
            assert table.loc[name, f"drift_{part}"] == pytest.approx(expected[part], nan_ok=True), part
        assert row["gold"]["n"] == 40
        for part in ("bias", "bias_low", "bias_high", "error"):
            assert row["gold"][part] == pytest.approx(judged.loc[name, part]), part
            assert table.loc[name, f"gold_{part}"] == pytest.approx(judged.loc[name, part]), part


def test_known_scores_of_cases_that_nobody_scored_are_told(capsys, tmp_path):
    scores, gold = tmp_path / "scores.csv", tmp_path / "gold.csv"
    rng = np.random.default_rng(0)
    rows = [f"c{case},{rater},{case + rng.normal():.2f}" for case in range(12) for rater in "abc"]
    scores.write_text("\n".join(["case,rater,score", *rows]))
    gold.write_text("case,score\nc1,1\nc2 ,2\n c3,3\nzz,4\nyy,5\n")
    assert main(["raters", str(scores), "--gold", str(gold)]) == 0
    said = capsys.readouterr()
    assert "Gold was left out for 2 cases without an annotation." in said.err
    assert [row["gold"]["n"] for row in json.loads(said.out)["raters"]] == [3] * 3


def test_gold_of_classes_is_of_its_case_whatever_stands_around_the_name(run, files, tmp_path):
    answers, gold, _ = files
    padded = tmp_path / "padded.csv"
    table = pd.read_csv(gold, dtype=str)
    pd.DataFrame({"case": " " + table["case"] + " ", "class": table["class"] + " "}).to_csv(padded, index=False)
    plain, same = (json.loads(run("raters", answers, "--gold", path)) for path in (gold, padded))
    assert plain["raters"] == same["raters"]


def test_a_part_gives_the_rows_of_its_table_for_the_rater_and_gold_that_are_named(run, files, tmp_path):
    answer = json.loads(run("raters", "anaesthesia", "--part", "rater", "--who", "observer 2"))
    part, data = RATERS.part("rater"), load_sample("anaesthesia")
    options = part.resolve(who="observer 2")
    expected = part.frame(part.answer(data, options), data, options)
    assert answer["part"] == "rater" and pd.DataFrame(answer["rows"])["share"].tolist() == expected["share"].tolist()
    assert "Could not find rater 'nobody'" in run(
        "raters", "anaesthesia", "--part", "rater", "--who", "nobody", status=2
    )
    assert "it needs scores" in run("raters", "anaesthesia", "--part", "score-gold", status=2)
    scores, gold = tmp_path / "scores.csv", tmp_path / "gold.csv"
    scores.write_text(
        "case,rater,score\n" + "".join(f"c{n},{r},{n + k}.5\n" for n in range(9) for k, r in enumerate("ab"))
    )
    gold.write_text("case,score\n" + "".join(f"c{n},{n}.5\n" for n in range(9)))
    rows = json.loads(run("raters", scores, "--part", "score-gold", "--gold", gold))["rows"]
    assert {row["rater"]: row["bias"] for row in rows} == {"a": 0, "b": 1}


def test_whom_to_ask_next_is_listed_by_gain_per_cost(run, tmp_path):
    data, _ = simulated(4, np.linspace(0.5, 0.95, 6), n_cases=40, per_case=3, n_classes=3, times=False)
    rows = zip(data.case_of_annotation, data.rater, data.answer, strict=True)
    answers, costs = tmp_path / "answers.csv", tmp_path / "costs.csv"
    answers.write_text("case,rater,class\n" + "".join(f"c{c},r{r},k{k}\n" for c, r, k in rows))
    costs.write_text("rater,cost\n" + "".join(f"r{r},{1 + r % 2}\n" for r in range(6)))
    asked = ("raters", answers, "--part", "ask-next", "--pairs", 7, "--most-each", 2)
    plain, priced = (pd.DataFrame(json.loads(run(*asked, *more))["rows"]) for more in ((), ("--costs", costs)))
    assert len(plain) == len(priced) == 7 and "cost" not in plain and plain["gain"].is_monotonic_decreasing
    assert (priced["gain"] / priced["cost"]).is_monotonic_decreasing
    assert (priced["cost"] == 1 + priced["rater"].str[1:].astype(int) % 2).all()
    costs.write_text("rater,cost\nr0,1\n")
    assert "is missing or not positive" in run(*asked, "--costs", costs, status=2)
