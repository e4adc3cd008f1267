"""The order of classes on the command line, and codes for missing annotations."""

import json
from html import unescape
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from core import read
from core.command_line import main
from core.library import keep

WORDS = """img,A,B,C
0,mild,moderate,mild
1,severe,severe,moderate
2,none,mild,none
3,moderate,moderate,severe
4,none,none,none
5,mild,mild,moderate
6,severe,severe,severe
7,none,mild,mild
"""
SCANS = "scan,r1,r2,r3\n1,neg,neg,ind\n2,neg,ind,pos\n3,pos,pos,ind\n4,ind,ind,ind\n5,neg,pos,pos\n"
PYTHON_NONE = "item,rater1,rater2,rater3\n0,1,1,None\n1,1,1,1\n2,2,None,2\n"


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on a table; its exit status, its JSON, and what it said on standard error."""

    def run_it(content: str, name: str, *arguments: str):
        path = tmp_path / "table.csv"
        path.write_text(content, encoding="utf-8")
        before, _, model = name.partition(" ")
        status = main([before, *([model] if model else []), str(path), *arguments])
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else {}, err

    return run_it


def signed(low: int, high: int) -> str:
    """Raters who differ by a step or two on a scale with a sign."""
    draws = np.random.default_rng(5)
    truth = draws.integers(low, high + 1, 60)
    given = np.clip(truth[:, None] + draws.integers(-1, 2, (60, 4)), low, high)
    return "case,a,b,c,d\n" + "".join(f"t{case},{','.join(map(str, row))}\n" for case, row in enumerate(given))


def ordinal_alpha(answer: dict) -> float:
    (found,) = [one["value"] for one in answer["coefficients"] if one["weights"] == "ordinal metric"]
    return found


def alpha_by_definition(content: str, order: list[str]) -> float:
    """Krippendorff's ordinal alpha from all pairs, slowly."""
    rows = [[order.index(one) for one in line.split(",")[1:]] for line in content.splitlines()[1:]]
    n = np.bincount(np.concatenate(rows), minlength=len(order)).astype(float)

    def apart(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return (n[low : high + 1].sum() - (n[low] + n[high]) / 2) ** 2

    within = sum(apart(a, b) / (len(row) - 1) for row in rows for a, b in permutations(row, 2))
    total = sum(n[a] * n[b] * apart(a, b) for a in range(len(order)) for b in range(len(order)) if a != b)
    return 1 - (n.sum() - 1) * within / total


@pytest.mark.parametrize(("low", "high"), [(-2, 2), (-5, 5)])
def test_ordinal_uses_the_value_of_signed_numbers(run, low, high):
    content, order = signed(low, high), [str(value) for value in range(low, high + 1)]
    status, answer, err = run(content, "agreement", "--ordinal")
    assert status == 0
    assert answer["order"] == order
    assert ordinal_alpha(answer) == pytest.approx(alpha_by_definition(content, order))
    assert "Order of the classes, low to high: " + " < ".join(order[:2]) in err
    assert " < ".join(order[:2]) in answer["quote"]["reason"]


def test_ordinal_uses_the_order_of_a_known_scale_and_states_it(run):
    _, answer, err = run(WORDS, "agreement", "--ordinal")
    assert answer["order"] == ["none", "mild", "moderate", "severe"]
    assert ordinal_alpha(answer) == pytest.approx(0.8069096255)
    assert "none < mild < moderate < severe" in answer["quote"]["reason"]
    assert "Order of the classes, low to high: none < mild < moderate < severe." in err


def test_the_list_of_the_user_goes_before_the_scale(run):
    _, answer, err = run(WORDS, "agreement", "--ordinal", "--classes", "severe,mild,none,moderate")
    assert answer["order"] == ["severe", "mild", "none", "moderate"]
    assert "Order of the classes" not in err


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("agreement", ("--ordinal",)),
        ("agreement", ("--weights", "linear")),
        ("raters", ("--ordinal",)),
        ("fit ordinal", ()),
        ("certainty ordinal-truth", ("--reliability", "1")),
    ],
)
def test_words_of_no_known_scale_are_refused_without_their_order(run, command, options):
    status, _, err = run(SCANS, command, *options)
    assert status == 2
    assert "Cannot determine the order of the classes ('ind', 'neg', 'pos')" in err
    assert "--classes" in err


def test_words_of_no_known_scale_are_taken_in_the_order_of_their_list(run):
    _, answer, _ = run(SCANS, "agreement", "--weights", "linear", "--classes", "neg,ind,pos")
    value = {one["name"]: one["value"] for one in answer["coefficients"]}
    assert value["fleiss_kappa"] == pytest.approx(0.04255, abs=5e-6)
    assert value["gwet_ac"] == pytest.approx(0.11475, abs=5e-6)


def test_weights_use_the_order_of_a_known_scale(run):
    _, by_name, _ = run(WORDS, "agreement", "--weights", "quadratic")
    _, by_list, _ = run(WORDS, "agreement", "--weights", "quadratic", "--classes", "none,mild,moderate,severe")
    assert by_name["coefficients"] == by_list["coefficients"]
    assert by_name["order"] == ["none", "mild", "moderate", "severe"]


def test_unordered_results_name_no_order(run):
    _, answer, err = run(WORDS, "agreement")
    assert "order" not in answer
    assert "Order of the classes" not in err


def test_two_words_of_a_known_scale_are_stated_from_low_to_high(run):
    _, _, err = run("case,a,b\n1,high,low\n2,low,low\n3,high,high\n", "agreement", "--ordinal")
    assert "Order of the classes, low to high: low < high." in err


def test_classes_put_a_kept_dataset_in_order(home, tmp_path, capsys):
    digest = keep(read(SCANS.encode()).dataset).name
    assert main(["agreement", digest, "--ordinal"]) == 2
    assert "--classes" in capsys.readouterr().err
    found = []
    for order in ("neg,ind,pos", "ind,neg,pos"):
        assert main(["agreement", digest, "--ordinal", f"--classes={order}"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["order"] == order.split(",")
        found.append(ordinal_alpha(answer))
    assert found == [
        pytest.approx(alpha_by_definition(SCANS, order)) for order in (["neg", "ind", "pos"], ["ind", "neg", "pos"])
    ]
    assert found[0] != found[1]
    assert main(["agreement", digest, "--missing=ind"]) == 2
    assert "Could not use --missing: it applies only to files" in capsys.readouterr().err


def test_a_report_states_the_order_and_the_command_that_uses_it(run, tmp_path):
    out = tmp_path / "report.html"
    _, answer, _ = run(WORDS, "report", "--ordinal", "--sections", "data", "--draws", "20", "--out", str(out))
    assert answer["order"] == ["none", "mild", "moderate", "severe"]
    words = unescape(out.read_text(encoding="utf-8"))
    assert "none < mild < moderate < severe" in words
    assert "--ordinal --classes none,mild,moderate,severe" in words
    run(WORDS, "report", "--sections", "data", "--draws", "20", "--out", str(out))
    assert "low to high" not in unescape(out.read_text(encoding="utf-8"))


def test_codes_for_missing_annotations_are_refused_until_it_is_said_what_they_are(run):
    status, _, err = run(PYTHON_NONE, "agreement")
    assert status == 2
    assert "'None' (2 annotations)" in err
    assert "--missing=None" in err
    assert "--not-missing=None" in err
    value = {}
    for option in ("--missing=None", "--not-missing=None"):
        _, answer, _ = run(PYTHON_NONE, "agreement", option)
        value[option] = answer["quote"]["coefficient"]["value"]
    assert value == pytest.approx({"--missing=None": 1.0, "--not-missing=None": 1 / 3})


def test_describe_tells_of_codes_and_does_not_refuse(run):
    status, answer, _ = run(PYTHON_NONE, "describe")
    assert status == 0
    assert any("may be codes for missing annotations: 'None' (2)" in words for words in answer["warnings"])
    assert run(PYTHON_NONE, "describe", "--missing", "None")[1]["classes"] == ["1", "2"]


@pytest.mark.parametrize("token", ["#N/A", "<NA>", "NaT", "\\N", "NaN", "NULL"])
def test_tokens_of_programs_are_missing_without_a_question(run, token):
    _, answer, _ = run(PYTHON_NONE.replace("None", token), "agreement")
    assert answer["quote"]["coefficient"]["value"] == pytest.approx(1.0)


@pytest.fixture
def in_partitions(tmp_path, capsys):
    """Run agreement in two partitions on a Parquet file of one class for each letter of each rater."""

    def run_it(classes: dict[str, str], *arguments: str):
        words = enumerate(("aabbcab", "abbbcab"))
        rows = [(case, rater, classes[one]) for rater, word in words for case, one in enumerate(word)]
        frame = pd.DataFrame(rows, columns=["case", "rater", "class"]).astype(str)
        frame.to_parquet(tmp_path / "rows.parquet")
        status = main(["agreement", str(tmp_path / "rows.parquet"), "--partitions", "2", *arguments])
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else {}, err

    return run_it


def test_partitions_ask_about_codes_and_take_the_list_of_classes_for_an_answer(in_partitions):
    numbers = {"a": "1", "b": "2", "c": "-9"}
    status, _, err = in_partitions(numbers)
    assert status == 2
    assert "codes for missing annotations: '-9'" in err
    status, answer, _ = in_partitions(numbers, "--classes", "1,2")
    assert status == 0
    assert answer["quote"]["coefficient"]["n_annotations"] == 12


def test_partitions_take_weights_only_where_the_classes_are_in_order(in_partitions):
    assert in_partitions({"a": "-1", "b": "-2", "c": "3"}, "--weights", "linear")[0] == 0
    status, _, err = in_partitions({"a": "severe", "b": "none", "c": "mild"}, "--weights", "linear")
    assert status == 2
    assert "--classes none,mild,severe" in err
    assert in_partitions({"a": "x", "b": "y", "c": "z"}, "--weights", "linear")[0] == 2
