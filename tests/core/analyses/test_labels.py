"""Labels of cases: each rule against brute force, what happens below the bar, reviews, draws and files."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analyses.blocks import Grid, Words
from core.analyses.inputs import Inputs
from core.analyses.labels import LABELS, RULES
from core.analyses.labels.labels import NO_LABEL, labels_of, present, why_no_average
from core.analysis_settings import AnalysisSettings, compute_settings
from core.command_line import main
from core.ingest.read_files import read
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian_prior import fit_prior
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.rules import admit
from core.review.states import CaseReview, review_of
from core.tables import to_json_lines
from core.text import percent_with_interval

PART = LABELS.part("labels")
# Agreement, a majority, a tie, one annotation; raters a to d.
VOTES = {"all": "xxxx", "most": "xxxy", "tie": "xxyy", "one": "y"}
ROWS = [(case, rater, answer) for case, said in VOTES.items() for rater, answer in zip("abcd", said, strict=False)]


def dataset_of(rows, kind="class"):
    return read(pd.DataFrame(rows, columns=["case", "rater", "class"]), kind=kind).dataset


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 60)
    rows = [
        (f"c{case:02d}", f"r{rater}", "xy"[true if rng.random() < 0.8 else 1 - true])
        for case, true in enumerate(truth)
        for rater in range(4)
    ]
    dataset = dataset_of([*ROWS, *rows])
    gold = np.full(dataset.n_cases, -1, np.int32)
    gold[len(VOTES) :] = truth
    return replace(dataset, gold=gold)


@pytest.fixture(scope="module")
def inputs(classes):
    return Inputs(classes, settings=compute_settings(classes))


@pytest.fixture(scope="module")
def evidence(inputs):
    from core.analyses.labels.labels import gather

    return gather(inputs, PART.resolve())


def labelled(inputs, evidence, **given):
    options = PART.resolve(**given)
    found = labels_of(inputs, options, evidence)
    return found, PART.frame(found, inputs, options).set_index("case")


def reviewed(dataset, case, opinion):
    """A case that Ada read blind and kept to after the reveal."""
    review = CaseReview(case)
    for step in ({"kind": "opinion", "opinion": opinion}, {"kind": "reveal", "panel": opinion}, {"kind": "keep"}):
        event = admit(review, Draft(dataset=dataset.digest, case_id=case, reviewer="Ada", **step), 0)
        review = review_of(case, [*review.events, event])
    return review


def test_the_average_gives_the_most_probable_class_of_the_averaged_models(inputs, evidence):
    _, table = labelled(inputs, evidence, soft_labels=True, weights=True)
    fit = inputs.settings.average(inputs.dataset).fit
    for case, p in zip(inputs.dataset.cases, fit.class_probability, strict=True):
        assert table["label"][case] == inputs.dataset.classes[p.argmax()]
        assert table["probability"][case] == table["weight"][case] == p.max()
        assert table["soft_label"][case] == p.tolist()
    assert set(table["decided_by"]) == {"Average of models"}


def test_who_decided_is_shown_only_if_labels_differ_in_it_and_the_status_follows_the_certainty(inputs, evidence):
    dataset = inputs.dataset
    mixed = replace(inputs, reviews={dataset.cases[0]: reviewed(dataset, dataset.cases[0], Opinion((("x",),)))})
    for of, rule, hidden in ((inputs, "average", True), (mixed, "review", False)):
        options = PART.resolve(rule=rule)
        (grid,) = (one for one in present(labels_of(of, options, evidence), of, options) if isinstance(one, Grid))
        assert {column.name for column in grid.columns if column.hidden} == {"decided_by"} & {"decided_by" * hidden}
        assert list(grid.table)[:3] == ["case", "label", "gold"]
        assert list(grid.table)[5:8] == ["status", "n", "decided_by"]
    assert grid.table["decided_by"].tolist() == ["Ada", *[""] * (dataset.n_cases - 1)]  # short: it is the last column


@pytest.mark.parametrize(
    ("annotations", "reason"),
    [("AA", "all annotations name the same class"), ("AB", "these data do not allow raters to be compared")],
)
def test_the_reason_for_no_average_is_that_of_the_data(annotations, reason):
    """Sets of labels have no rater model of their classes."""
    rows = [f"{case},{rater},{label}" for case, rater, label in zip("1122", "abab", annotations * 2, strict=True)]
    dataset = read("\n".join(["case,rater,class", *rows]).encode(), kind="set").dataset
    assert why_no_average(dataset) == reason


def test_majority_vote_counts_annotations_and_leaves_a_tie_open(inputs, evidence):
    _, table = labelled(inputs, evidence, rule="vote", soft_labels=True)
    dataset = inputs.dataset
    for place, case in enumerate(dataset.cases):
        counts = np.bincount(dataset.answer[dataset.annotations_of(place)], minlength=2)
        most = np.flatnonzero(counts == counts.max())
        assert table["label"][case] == (dataset.classes[most[0]] if len(most) == 1 else None)
        assert table["soft_label"][case] == pytest.approx((counts / counts.sum()).tolist())
    assert table["status"]["tie"] == "tie" and np.isnan(table["probability"]["tie"])
    fit = inputs.settings.average(dataset).fit
    assert table["probability"]["most"] == fit.class_probability[dataset.cases.index("most"), 0]


def test_status_and_certainty_are_those_of_the_leading_class(inputs, evidence):
    for rule in ("average", "vote"):
        found, table = labelled(inputs, evidence, rule=rule)
        for place, case in enumerate(inputs.dataset.cases):
            row, certain = table.loc[case], evidence.certainty[place]
            if row["n"] == 1:
                assert row["status"] == "one annotation" and np.isnan(row["certainty"])
            elif row["label"] is None:
                assert row["status"] == "tie"
            elif row["label"] != evidence.leading[place]:
                assert row["status"] == "not the leading class" and np.isnan(row["certainty"])
            else:
                assert row["certainty"] == certain
                below = "low P(correct)" if row["probability"] < 0.9 else "certain"
                assert row["status"] == (below if certain >= 0.9 else "uncertain")
        assert sum(found.counts.values()) == len(table) == inputs.dataset.n_cases
    assert {"certain", "uncertain", "one annotation"} <= set(table["status"])


def test_the_note_also_counts_uncertain_cases_with_another_status(inputs, evidence):
    """A tied vote is uncertain on other pages, and has the status "tie" here."""
    said = {}
    for rule in ("average", "vote"):
        found, table = labelled(inputs, evidence, rule=rule)
        said[rule] = [block.plain for block in PART.blocks(found, inputs) if hasattr(block, "plain")]
    n = int(evidence.at_bar(0.9).uncertain.sum())
    other = n - (table["status"] == "uncertain").sum()
    assert other > 0
    is_or_are = "is" if other == 1 else "are"
    words = f" Of the {n} cases with certainty below 90%, {other} {is_or_are} counted under another status."
    assert any(one.endswith(words) for one in said["vote"])


def test_a_certain_label_is_confident_only_if_its_p_correct_reaches_the_bar_too(inputs, evidence):
    before, table = labelled(inputs, evidence)
    case = table.index[table["status"] == "certain"][0]
    soft = evidence.average.soft.copy()
    soft[inputs.dataset.cases.index(case)] = np.where(soft[inputs.dataset.cases.index(case)] > 0.5, 0.7, 0.3)
    doubted = replace(evidence, average=replace(evidence.average, soft=soft))
    for rule in ("average", "vote"):
        found, table = labelled(inputs, doubted, rule=rule)
        row = table.loc[case]
        assert row["certainty"] >= 0.9 and row["probability"] == 0.7 and row["status"] == "low P(correct)"
        assert found.n_ready == before.n_ready - 1
    words = [block.plain for block in PART.blocks(found, inputs) if hasattr(block, "plain")]
    assert any("“Certain” means that certainty and P(correct) are both at least 90%." in said for said in words)


def test_what_happens_below_the_bar(inputs, evidence):
    marked, table = labelled(inputs, evidence, soft_labels=True, weights=True, samples=2)
    ready = table["status"] == "certain"
    assert marked.n_ready == ready.sum() and 0 < ready.sum() < len(table)
    _, blank = labelled(inputs, evidence, below="blank", soft_labels=True, weights=True, samples=2)
    for name in ("label", "soft_label", "weight", "sampled_labels"):
        assert blank.loc[~ready, name].isna().all() and blank.loc[ready, name].equals(table.loc[ready, name])
    _, out = labelled(inputs, evidence, below="out")
    assert list(out.index) == list(table.index[ready])
    _, all_pass = labelled(inputs, evidence, bar=0.01, below="out")
    assert len(all_pass) > len(out)


def test_a_bar_that_unanimous_raters_cannot_reach_is_said(inputs, evidence):
    found, table = labelled(inputs, evidence, bar=0.9999)
    assert found.headline(0.9999) == "Certainty cannot reach over 99% with 4 raters per case"
    statuses = set(table["status"])
    assert found.n_ready == 0 and "uncertain" not in statuses and "below the minimum" in statuses


def test_review_comes_first_by_whoever_decided(inputs, evidence):
    dataset = inputs.dataset
    opinions = {"all": Opinion.of_class("y"), "tie": Opinion.of_class("x"), "most": Opinion()}
    reviews = {case: reviewed(dataset, case, opinion) for case, opinion in opinions.items()}
    asked = replace(inputs, reviews=reviews)
    found, table = labelled(asked, evidence, rule="review", weights=True, soft_labels=True)
    assert table["label"]["all"] == "y" and table["label"]["tie"] == "x" and table["label"]["most"] is None
    assert table["decided_by"]["all"] == "Ada, 1 Jan 1970"
    assert table["weight"]["all"] == 1 and table["soft_label"]["all"] == [0.0, 1.0]
    assert np.isnan(table["probability"]["all"]) and np.isnan(table["certainty"]["all"])
    assert list(table["status"][["all", "most"]]) == ["reviewed", "cannot be determined"]
    assert found.n_ready == sum(table["status"].isin(["certain", "reviewed"]))
    _, others = labelled(asked, evidence)
    rest = [case for case in dataset.cases if case not in opinions]
    assert table["label"][rest].equals(others["label"][rest]) and others["label"]["all"] == "x"


def test_a_reviewed_set_is_the_label_with_all_labels_or_with_some():
    rows = [(case, rater, labels) for case in "abcd" for rater, labels in zip("pqr", ("x;y", "x", "y"), strict=True)]
    dataset = dataset_of(rows, "set")
    said = {"a": ["y"], "b": ["y", "x"]}
    reviews = {case: reviewed(dataset, case, Opinion.of_labels(names)) for case, names in said.items()}
    inputs = Inputs(dataset, reviews=reviews, settings=AnalysisSettings(DirichletCounts(), 2.0))
    options = PART.resolve(rule="review")
    table = PART.frame(PART.answer(inputs, options), inputs, options).set_index("case")
    assert table["label"][["a", "b"]].tolist() == ["y", "x; y"]
    assert table["status"][["a", "b"]].tolist() == ["reviewed"] * 2


def test_label_sets_are_compared_with_gold_sets():
    rows = [(f"c{case}", f"r{rater}", "x|y" if case % 2 else "x") for case in range(6) for rater in range(3)]
    sets = dataset_of(rows, "set")
    sets = replace(sets, gold_sets=np.array([[1, 0], [1, 1], [0, 1], [-1, -1], [-1, -1], [-1, -1]], np.int8))
    of, options = Inputs(sets, settings=compute_settings(sets, "x")), PART.resolve(rule="vote")
    found = PART.answer(of, options)
    assert (found.by_gold.value, found.by_gold.n) == (2 / 3, 3)
    gold = PART.frame(found, of, options)["gold"]
    assert gold[:3].tolist() == ["x", "x; y", "y"] and gold[3:].isna().all()
    said = " ".join(one.plain for one in present(found, of, options) if isinstance(one, Words))
    assert "of 3 label sets are correct" in said


def test_gold_confirms_the_share_of_labels_that_equal_it(inputs, evidence):
    found, table = labelled(inputs, evidence)
    dataset = inputs.dataset
    right = {case: table["label"][case] == dataset.classes[gold]
             for case, gold in zip(dataset.cases, dataset.gold, strict=True) if gold >= 0}  # fmt: skip
    assert (found.by_gold.value, found.by_gold.n) == (np.mean(list(right.values())), 60)
    assert [table["gold"][case] for case in right] == [dataset.classes[gold] for gold in dataset.gold if gold >= 0]
    certain = [right[case] for case in right if table["status"][case] == "certain"]
    assert (found.certain_by_gold.value, found.certain_by_gold.n) == (np.mean(certain), len(certain))
    said = [block.plain for block in PART.blocks(found, inputs) if isinstance(block, Words)]
    shares = [percent_with_interval(one.value, one.low, one.high) for one in (found.by_gold, found.certain_by_gold)]
    whole = shares[0].replace(" (", " (95% interval ", 1)
    assert said[0] == (
        f"Compared with gold, {whole} of 60 labels are correct; of {len(certain)} certain labels, {shares[1]}."
    )
    words = " ".join(block.plain for block in PART.blocks(found, inputs) if hasattr(block, "plain"))
    assert "of 60 labels are correct" in words


def test_sampled_labels_follow_the_probabilities_and_the_seed(inputs, evidence):
    _, table = labelled(inputs, evidence, samples=4000, soft_labels=True)
    for drawn, soft in zip(table["sampled_labels"], table["soft_label"], strict=True):
        share, p = np.mean([one == "x" for one in drawn]), soft[0]
        assert abs(share - p) <= 5 * np.sqrt(p * (1 - p) / 4000) + 1e-3
    few = labelled(inputs, evidence, samples=5)[1]
    assert [one[:5] for one in table["sampled_labels"]] == few["sampled_labels"].tolist()
    assert few["sampled_labels"].tolist() != labelled(inputs, evidence, samples=5, seed=1)[1]["sampled_labels"].tolist()


def test_sets_are_labelled_label_by_label():
    said = {"agree": ["a b", "a b", "a b"], "most": ["a b", "a", "a"], "none": ["c", "c", "c"], "half": ["a b", "a"]}
    rows = [(case, f"r{n}", one.replace(" ", ";")) for case, each in said.items() for n, one in enumerate(each)]
    dataset = dataset_of(rows, "set")
    inputs = Inputs(dataset, settings=AnalysisSettings(DirichletCounts(), 1.0))
    options = PART.resolve(rule="vote", soft_labels=True)
    found = PART.answer(inputs, options)
    table = PART.frame(found, inputs, options).set_index("case")
    assert table["label"][["agree", "most", "none"]].tolist() == ["a; b", "a", "c"]
    assert table["label"]["half"] is None and table["status"]["half"] == "tie"
    assert table["soft_label"]["most"] == pytest.approx([1, 1 / 3, 0])
    average = PART.answer(inputs, PART.resolve())
    assert set(average.decided_by) == {"Dawid-Skene"}
    assert RULES["average"] == "Rater model"  # which covers the average of models and Dawid-Skene of each label
    assert average.headline(0.9).endswith("of 4 label sets are certain")
    p = average.soft[dataset.cases.index("most")]
    applies = np.isin(dataset.classes, average.labels[dataset.cases.index("most")])
    assert average.probability[dataset.cases.index("most")] == pytest.approx(np.where(applies, p, 1 - p).prod())
    files = {one.ending: one.write for block in PART.blocks(average, inputs) for one in getattr(block, "formats", ())}
    first = json.loads(files["jsonl"](None).splitlines()[dataset.cases.index("agree")])
    assert first["label"] == ["a", "b"]
    assert NO_LABEL not in set(table["label"])


def test_scores_have_the_mean_or_the_plausible_score_with_its_standard_error():
    rng = np.random.default_rng(1)
    values = {f"c{case}": rng.normal(case, 1, 2 + case % 3) for case in range(8)} | {"one": np.array([3.0])}
    rows = [(case, f"r{n}", float(x)) for case, own in values.items() for n, x in enumerate(own)]
    dataset = dataset_of(rows, "score")
    model, part = fit_prior(dataset).model(None), LABELS.part("score_labels")
    inputs = Inputs(dataset, settings=AnalysisSettings(model, 2.0))
    mean = part.frame(part.answer(inputs, part.resolve(rule="vote")), inputs).set_index("case")
    for case, own in values.items():
        assert mean["label"][case] == pytest.approx(own.mean())
        error = own.std(ddof=1) / np.sqrt(len(own)) if len(own) > 1 else np.nan
        assert mean["standard_error"][case] == pytest.approx(error, nan_ok=True)
    plausible = part.frame(part.answer(inputs, part.resolve()), inputs).set_index("case")
    posterior = model.posterior(dataset, 2.0)
    draws = posterior.m + posterior.scale * rng.standard_t(2 * posterior.a, (200_000, dataset.n_cases))
    assert plausible["label"].to_numpy() == pytest.approx(posterior.m)
    assert plausible["standard_error"].to_numpy() == pytest.approx(draws.std(axis=0), rel=0.05)
    reviews = {"one": reviewed(dataset, "one", Opinion.of_score(7.0))}
    first = part.frame(part.answer(replace(inputs, reviews=reviews), part.resolve(rule="review")), inputs)
    row = first.set_index("case").loc["one"]
    assert (row["label"], row["status"], row["decided_by"]) == (7.0, "reviewed", "Ada, 1 Jan 1970")
    pending = replace(inputs, reviews={"one": CaseReview("one", state="arbitration")})
    row = part.frame(part.answer(pending, part.resolve(rule="review")), pending).set_index("case").loc["one"]
    assert row["status"] == "in review" and row["label"] == plausible["label"]["one"]


def test_label_studio_gets_one_prediction_per_labelled_case(inputs, evidence):
    asked = replace(inputs, content={"text": {case: f"Text of {case}" for case in inputs.dataset.cases}})
    options = PART.resolve(rule="vote", text=True)
    found = labels_of(asked, options, evidence)
    (file,) = [block for block in PART.blocks(found, asked, options) if hasattr(block, "formats")]
    write = {one.ending: one.write for one in file.formats}
    tasks = {task["data"]["case"]: task for task in json.loads(write["json"](file.frame))}
    assert tasks["all"]["data"]["text"] == "Text of all" and tasks["tie"]["predictions"] == []
    (prediction,) = tasks["all"]["predictions"]
    assert prediction["result"] == [
        {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["x"]}}
    ]
    assert prediction["score"] == file.frame.set_index("case")["probability"]["all"]


def test_cases_that_others_must_decide_are_in_review_and_never_certain(inputs, evidence):
    """Their label is that of the rater model."""
    _, before = labelled(inputs, evidence)
    certain = before.index[before["status"] == "certain"]
    states = dict(zip(certain, ["arbitration", "second_opinion", "read", "skipped"], strict=False))
    asked = replace(inputs, reviews={case: CaseReview(case, state=state) for case, state in states.items()})
    assert len(states) == 4
    found, table = labelled(asked, evidence, rule="review")
    pending = table["status"] == "in review"
    assert list(table.index[pending]) == [case for case in table.index if case in certain[:2]]
    assert table.drop(columns="status").equals(before.drop(columns="status"))
    assert found.counts["in review"] == 2 and found.n_ready == len(certain) - 2
    assert labelled(asked, evidence, rule="review", below="blank")[1]["label"][pending].isna().all()
    assert not set(certain[:2]) & set(labelled(asked, evidence, rule="review", below="out")[1].index)
    assert "in review" not in set(labelled(asked, evidence)[1]["status"])


def test_json_lines_have_null_for_what_is_missing():
    lines = to_json_lines(pd.DataFrame({"case": ["a", "é"], "label": [None, "x"], "p": [np.nan, 0.5]}))
    assert [json.loads(line) for line in lines.decode().splitlines()] == [
        {"case": "a", "label": None, "p": None},
        {"case": "é", "label": "x", "p": 0.5},
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "json"])
def test_the_command_writes_labels_and_their_methods(ending, tmp_path, capsys):
    path = tmp_path / f"labels.{ending}"
    assert main(["labels", "anaesthesia", "--rule", "vote", "--reliability", "2", "--out", str(path)]) == 0
    answer = json.loads(capsys.readouterr().out)
    told = json.loads((tmp_path / "labels.methods.json").read_text(encoding="utf-8"))
    assert told["counts"] == answer["counts"] and told["digest"] == answer["digest"]
    assert (told["rule"], told["reliability"], told["seed"]) == ("vote", 2.0, 0) and told["version"]
    assert sum(told["counts"].values()) == len(answer["rows"]) == 45 and "Computed with Plurality" in told["methods"]
    labels = [row["label"] for row in answer["rows"]]
    if ending in ("csv", "parquet"):
        read = pd.read_csv(path, dtype=str) if ending == "csv" else pd.read_parquet(path)
        assert [None if pd.isna(one) else one for one in read["label"]] == labels
    elif ending == "jsonl":
        assert [json.loads(line)["label"] for line in path.read_text(encoding="utf-8").splitlines()] == labels
    else:
        tasks = json.loads(path.read_text(encoding="utf-8"))
        assert len([task for task in tasks if task["predictions"]]) == len([one for one in labels if one])


def test_the_command_refuses_an_ending_it_does_not_know(tmp_path, capsys):
    assert main(["labels", "anaesthesia", "--reliability", "2", "--out", str(tmp_path / "labels.txt")]) == 2
    assert "this file extension is not supported" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "by", "columns"), [
    ([], "Plausible score", {"standard_error"}),
    (["--threshold", "6"], "Average of models", {"certainty", "probability"}),
])  # fmt: skip
def test_the_command_gives_scores_their_score_and_with_a_threshold_their_side(more, by, columns, capsys):
    assert main(["labels", "essays", *more]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == 160 and {row["decided_by"] for row in rows} == {by} and columns <= set(rows[0])
