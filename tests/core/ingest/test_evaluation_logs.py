"""Inspect, promptfoo, DeepEval and the lm-evaluation-harness: fixtures by hand from their documentation."""

import json

import pytest

from core.errors import InputError
from tests.core.ingest.as_read import answers, opened, reasons


def inspect_log(model, samples) -> str:
    return json.dumps({"version": 2, "status": "success", "eval": {"task": "sums", "model": model}, "samples": samples})


def sample(name, answer, target, **scores):
    judged = {scorer: {"value": value, "answer": answer} for scorer, value in scores.items()}
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"What is the sum of {name}?"}]
    return {"id": name, "epoch": 1, "input": asked, "target": target, "scores": judged}


BIG = [sample("s1", "4", "4", match="C", judge="C"), sample("s2", "5", ["6"], match="I", judge="C")]
SMALL = [sample("s1", "4", "4", match="C", judge="I"), sample("s2", "6", ["6"], match="C", judge="C")]
LOGS = ("a.json", inspect_log("lab/big", BIG)), ("b.json", inspect_log("lab/small", SMALL))


def test_models_of_inspect_are_raters_of_answers_and_the_target_is_gold():
    reading = opened(*LOGS, question="answer")
    data = reading.dataset
    assert answers(data) == [
        ("s1", "lab/big", "4"), ("s1", "lab/small", "4"), ("s2", "lab/big", "5"), ("s2", "lab/small", "6"),
    ]  # fmt: skip
    assert {case: data.classes[code] for case, code in zip(data.cases, data.gold, strict=True)} == {
        "s1": "4",
        "s2": "6",
    }
    assert reading.facts.text["s1"] == "What is the sum of s1?"


def test_scorers_of_inspect_are_raters_of_scores():
    data = opened(*LOGS, question="score").dataset
    assert ("s1 / lab/small", "match", "C") in answers(data) and ("s1 / lab/small", "judge", "I") in answers(data)
    assert data.n_cases == 4 and data.gold is None
    numbers = inspect_log("m", [sample("s1", "4", "4", one=0.25, two=0.5), sample("s2", "4", "4", one=1, two=0.75)])
    assert opened(("n.json", numbers), question="score").dataset.kind == "score"


def test_a_sample_without_an_id_is_left_out_with_its_place():
    broken = inspect_log("m", [sample("s1", "a", "a", x="C", y="I"), {"scores": {}}, "odd"])
    reading = opened(("log.json", broken), question="score")
    assert [reason for _, reason in reasons(reading)] == [
        f"log 1, sample {place}: the sample has no id" for place in (2, 3)
    ]


def promptfoo(rows) -> str:
    return json.dumps({"evalId": "eval-1", "results": {"version": 3, "results": rows, "stats": {}}, "config": {}})


def result(test, provider, output, **parts):
    judged = [{"pass": value, "score": float(value), "assertion": {"type": name}} for name, value in parts.items()]
    return {
        "provider": {"id": provider, "label": ""}, "testIdx": test, "promptIdx": 0, "vars": {"topic": f"no {test}"},
        "response": {"output": output}, "success": all(parts.values()),
        "gradingResult": {"pass": all(parts.values()), "componentResults": judged},
    }  # fmt: skip


def test_assertions_of_promptfoo_are_raters_of_what_providers_answered():
    rows = [result(0, "p:a", "yes", equals=True, human=False), result(0, "p:b", "no", equals=False, human=False), 7]
    reading = opened(("out.json", promptfoo(rows)), question="score")
    assert answers(reading.dataset) == [
        ("test 0 / p:a", "equals", "pass"), ("test 0 / p:a", "human", "fail"),
        ("test 0 / p:b", "equals", "fail"), ("test 0 / p:b", "human", "fail"),
    ]  # fmt: skip
    assert [reason for _, reason in reasons(reading)] == ["evaluation 1, result 3: the result has no provider"]
    said = opened(("out.json", promptfoo(rows)), question="answer").dataset
    assert answers(said) == [("test 0", "p:a", "yes"), ("test 0", "p:b", "no")]


def test_prompts_epochs_tasks_and_judging_models_are_told_apart():
    """What differs in one of them is another case, answer or rater, and does not fall together."""
    rows = [result(0, "p:a", said, equals=True) | {"promptIdx": place} for place, said in enumerate(("yes", "no"))]
    said = opened(("out.json", promptfoo(rows)), question="answer").dataset
    assert answers(said) == [("test 0", "p:a", "yes"), ("test 0 / prompt 1", "p:a", "no")]
    judged = opened(("out.json", promptfoo(rows)), question="score").dataset
    assert judged.cases == ("test 0 / p:a", "test 0 / prompt 1 / p:a")
    twice = inspect_log("m", [sample("s1", "4", "4", match="C"), sample("s1", "5", "4", match="I") | {"epoch": 2}])
    assert opened(("log.json", twice), question="score").dataset.cases == ("s1 / m", "s1 / m / epoch 2")
    metrics = [{"name": "Faith", "success": value, "evaluationModel": name} for name, value in (("j", True), ("k", 0))]
    run = opened(("run.json", json.dumps({"testCases": [{"input": "?", "metricsData": metrics}] * 2}))).dataset
    assert run.raters == ("Faith / j", "Faith / k") and run.cases == ("test case 1", "test case 2")
    files = [(f"m/samples_{task}_2025.jsonl", logged((0, "1", ["1"]), (1, "1", ["2"]))) for task in ("arc", "gsm")]
    assert set(opened(*files).dataset.cases) == {"arc / 0", "arc / 1", "gsm / 0", "gsm / 1"}


@pytest.mark.parametrize("names", [("testCases", "metricsData"), ("test_cases", "metrics_data")])
def test_metrics_of_deepeval_are_raters_of_test_cases(names):
    cases, metrics = names
    run = {cases: [
        {"name": "t1", "input": "?", metrics: [{"name": "Faith", "success": True}, {"name": "Bias", "success": False}]},
        {"name": "t2", "input": "?", metrics: [{"name": "Faith", "success": True}, {"name": "Bias", "success": True}]},
        {"name": "t3", "input": "?"},
    ]}  # fmt: skip
    reading = opened(("run.json", json.dumps(run)))
    assert answers(reading.dataset) == [
        ("t1", "Faith", "pass"), ("t1", "Bias", "fail"), ("t2", "Faith", "pass"), ("t2", "Bias", "pass"),
    ]  # fmt: skip
    assert [reason for _, reason in reasons(reading)] == ["run 1, test case 3: the test case has no metrics"]


def logged(*rows) -> str:
    return "".join(
        json.dumps({"doc_id": case, "doc": {}, "target": target, "filtered_resps": said}) + "\n"
        for case, target, said in rows
    )


def test_models_of_the_harness_are_raters_and_their_likeliest_choice_the_answer():
    choices = [[-3.0, False], [-1.5, True], [-9.0, False]]
    files = [
        ("big/samples_arc_2025.jsonl", logged((0, "1", choices), (1, "2", [[-1, 0], [-1, 0], [-3, 0]]))),
        ("small/samples_arc_2025.jsonl", logged((0, "1", choices[::-1]), (1, "2", [[-2, 0], [-3, 0], [-1, 0]]))),
    ]
    reading = opened(*files)
    assert answers(reading.dataset) == [("0", "big", "1"), ("0", "small", "1"), ("1", "small", "2")]
    assert len(reasons(reading)) == 1  # a tie of choices is no answer
    data = reading.dataset
    assert [data.classes[code] for code in data.gold] == ["1", "2"]
    texts = opened(("a/samples_gsm_1.jsonl", logged((0, "7", ["7"]), (1, "8", ["9"]))))
    assert answers(texts.dataset) == [("0", "a", "7"), ("1", "a", "9")]


def test_a_log_without_an_answer_is_refused_in_words():
    with pytest.raises(InputError, match="Could not read annotations: the file contains none that Plurality supports"):
        opened(("log.json", json.dumps({"eval": {"model": "m"}, "samples": [{"input": "?"}]})))


def test_tests_of_promptfoo_are_called_as_a_variable_of_their_own_names_them():
    def said(*named):
        rows = [result(test, "p:a", "yes") | {"vars": each} for test, each in enumerate(named)]
        return opened(("out.json", promptfoo(rows)), question="answer").dataset.cases

    assert said({"text": "a", "ticket_id": "T-1"}, {"text": "b", "ticket_id": 7}) == ("7", "T-1")
    assert said({"id": "x"}, {"id": "x"}) == said({"id": "x"}, {"id": ""}) == said({}, {"id": "x"})
    assert said({"text": "a"}, {"text": "b"}) == ("test 0", "test 1")
    others = [result(0, "p:a", "yes") | {"vars": {"id": name}} for name in ("x", "y")]
    assert opened(("out.json", promptfoo(others)), question="answer").dataset.cases == ("test 0",)


def test_promptfoo_takes_odd_values_of_a_test_and_its_grades_as_if_they_were_missing():
    rows = [result(0, "p:a", "yes", equals=True) | {"testIdx": [1]}, result(1, "p:a", "no", equals=True)]
    rows[1]["gradingResult"]["componentResults"] = 7
    reading = opened(("out.json", promptfoo(rows)), question="answer")
    assert answers(reading.dataset) == [("test 1", "p:a", "yes"), ("test 1", "p:a", "no")]
