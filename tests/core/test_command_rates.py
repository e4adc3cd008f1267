"""`rate` on the command line gives the library's numbers under the keys that others rely on."""

import json

import numpy as np
import pytest

from core.command_line import main
from core.evaluation.corrected_rates import class_rate, drawn_labels
from tests.benchmarks.corrected_rates import world

N = 160


@pytest.fixture
def run(capsys):
    def run_it(*arguments, status=0):
        code = main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert code == status, output.err
        return json.loads(output.out) if status == 0 else output.err

    return run_it


@pytest.fixture
def made(tmp_path):
    """A machine on all cases, two people on the first sixty, gold of ten, and chances of a label."""
    rng = np.random.default_rng(0)
    truth, probability = world(N, 0.4, rng)
    said = (probability > 0.5).astype(int)
    people = np.where(rng.random((2, N)) < 0.9, truth, 1 - truth).astype(int)
    lines = ["case,rater,class,chance"]
    for case in range(N):
        chance = 0.5 if case % 2 else 0.25
        lines.append(f"c{case},gpt,{'ny'[said[case]]},{chance}")
        if case < 60:
            lines += [f"c{case},p{who},{'ny'[people[who, case]]},{chance}" for who in (0, 1)]
    data, gold, matrix = tmp_path / "data.csv", tmp_path / "gold.csv", tmp_path / "machine.csv"
    data.write_text("\n".join(lines))
    gold.write_text("\n".join(["case,class", *(f"c{case},{'ny'[int(truth[case])]}" for case in range(50, 60))]))
    matrix.write_text("\n".join(["case,class,score", *(f"c{case},y,{probability[case]:.6f}" for case in range(N))]))
    share = np.full(N, np.nan)
    share[:60] = people[:, :60].mean(axis=0)
    return data, gold, matrix, said.astype(float), probability, share, truth


def equal(answer, found):
    for key in ("estimate", "ci_low", "ci_high", "n_labelled", "n"):
        assert answer[key] == pytest.approx(getattr(found, key), abs=1e-6), key
    assert answer["lambda"] is None or answer["lambda"] == pytest.approx(found.weight, abs=1e-5)
    assert answer["notes"] == list(found.notes)


@pytest.mark.parametrize("method", ["ppi", "humans", "rogan-gladen"])
def test_a_rater_who_is_a_machine_is_corrected_by_the_others(run, made, method):
    data, _, _, said, _, share, _ = made
    answer = run("rate", data, "--machine", "gpt", "--class", "y", "--method", method)
    equal(answer, class_rate(share, said, method))
    assert {"estimate", "se", "ci_low", "ci_high", "lambda", "n_labelled", "n"} <= set(answer)


def test_gold_goes_before_shares_and_predictions_before_raters(run, made):
    data, gold, matrix, _, probability, share, truth = made
    share = np.where((np.arange(N) >= 50) & (np.arange(N) < 60), truth, share)
    said = np.round(probability, 6)
    # The rater gpt is one of the people here, because the machine is the file.
    everybody = run("rate", data, "--machine", f"M={matrix}", "--class", "y", "--gold", gold)
    assert everybody["n_labelled"] == N
    only = run("rate", data, "--machine", f"M={matrix}", "--class", "y", "--gold", gold, "--only-gold")
    equal(only, class_rate(np.where(np.arange(N) // 10 == 5, truth, np.nan), said))
    answer = run("rate", data, "--machine", "gpt", "--class", "y", "--gold", gold)
    assert answer["n_labelled"] == 60 and answer["labels"] == "gold and shares"
    equal(answer, class_rate(share, made[3]))


def test_known_chances_and_draws_of_the_truth(run, made):
    data, _, _, said, _, share, _ = made
    chance = np.where(np.arange(N) % 2, 0.5, 0.25)
    answer = run("rate", data, "--machine", "gpt", "--class", "y", "--method", "sampled", "--probabilities", "chance",
                 "--level", "0.8")  # fmt: skip
    equal(answer, class_rate(share, said, "sampled", probability=chance, level=0.8))
    drawn = run("rate", data, "--machine", "gpt", "--class", "y", "--reliability", "2", "--draws", "40", "--seed", "3")
    n = np.where(np.isfinite(share), 2, 0)
    equal(drawn, class_rate(drawn_labels(np.nan_to_num(share) * n, n, 2.0, n_draws=40, seed=3), said))
    assert (
        drawn["labels"] == "draws" and drawn["se"] > run("rate", data, "--machine", "gpt", "--class", "y")["se"] * 0.9
    )


def test_of_scores_that_are_no_probabilities_the_first_class_alone_counts_and_classes_tied_for_it_in_shares(
    run, tmp_path
):
    """Of 40 cases y comes first in 12, is tied for it with x in 4, and is second or last in the others."""
    orders = ["yxz"] * 12 + ["xyz"] * 10 + ["zxy"] * 14
    scores = [dict(zip(order, (3, 1, 0.5), strict=True)) for order in orders] + [{"x": 3, "y": 3, "z": 0.5}] * 4
    data, machine = tmp_path / "data.csv", tmp_path / "machine.csv"
    people = [f"c{case},p{who},{'xyz'[(case + who) % 3]}" for case in range(20) for who in (0, 1)]
    data.write_text("\n".join(["case,rater,class", *people, *(f"c{case},p2,x" for case in range(20, 40))]))
    lines = [f"c{case},{name},{score}" for case, each in enumerate(scores) for name, score in each.items()]
    machine.write_text("\n".join(["case,class,score", *lines]))
    answer = run("rate", data, "--machine", f"M={machine}", "--class", "y")
    assert answer["n"] == 40 and answer["machine_rate"] == pytest.approx((12 + 4 / 2) / 40)


def test_of_a_file_of_several_classifiers_the_first_is_taken_and_that_is_said(made, tmp_path, capsys):
    """On every case A gives y 0.25, and B 0.75."""
    both = tmp_path / "both.csv"
    lines = [f"c{case},{name},y,{score}" for case in range(N) for name, score in (("A", 0.25), ("B", 0.75))]
    both.write_text("\n".join(["case,model,class,score", *lines]))
    assert main(["rate", str(made[0]), "--machine", f"M={both}", "--class", "y"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["machine_rate"] == pytest.approx(0.25)
    assert f"{both} contains predictions from more than one classifier; only A was used." in output.err


def test_what_cannot_be_done_is_said_in_one_line(run, made):
    data, *_ = made
    assert "Could not find the rater 'bob'" in run("rate", data, "--machine", "bob", "--class", "y", status=2)
    assert "Unknown class 'z'" in run("rate", data, "--machine", "gpt", "--class", "z", status=2)
    asked = ("rate", data, "--machine", "gpt", "--class", "y", "--method", "sampled")
    assert "probabilities" in run(*asked, status=2)
    assert "Could not find the column 'p'" in run(*asked, "--probabilities", "p", status=2)
