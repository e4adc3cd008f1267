"""Requirements: how they are read, decided and summed up."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
import yaml

from core.agreement.krippendorff import krippendorff_alpha
from core.analyses.blocks import Grid
from core.analyses.gate import GATE, command, parsed, summary, workflow
from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import InputError
from core.ingest.samples import load_sample
from tests.core.agreement.guideline_simulated import simulated

(PART,) = GATE.parts


def checked(dataset, *requirements, **how):
    return PART.with_options(requirements=requirements, **how).answer(dataset)


@pytest.mark.parametrize(
    ("text", "found"),
    [("alpha >= 0.6", ("alpha", ">=", 0.6)), ("flagged_raters<=2", ("flagged_raters", "<=", 2)),
     ("unanimous > 50%", ("unanimous", ">", 0.5)), (" kappa < -0.1 ", ("kappa", "<", -0.1))],
)  # fmt: skip
def test_a_requirement_is_read(text, found):
    assert tuple(parsed(text)) == found


@pytest.mark.parametrize("text", ["alpha", "alpha == 1", "0.6 <= alpha", "alpha >= much", ""])
def test_what_is_no_requirement_is_refused(text):
    with pytest.raises(InputError, match="Could not read the requirement"):
        parsed(text)


def test_a_value_decides_unless_the_interval_is_to():
    dataset = simulated(1)
    alpha = krippendorff_alpha(dataset)
    bound = (alpha.value + alpha.ci_low) / 2
    text = f"alpha >= {bound:.6f}"
    assert checked(dataset, text).passed
    doubtful = checked(dataset, text, confident=True)
    assert doubtful.checks[0].outcome == "undecided"
    assert doubtful.words().endswith(f"0 of 1 requirement met. Undecided: {text} ({alpha.value:.2f}).")
    assert checked(dataset, "cases < 9").words().endswith("Not met: cases < 9 (200).")
    assert checked(dataset, f"alpha >= {alpha.ci_low - 0.01:.6f}", confident=True).passed
    assert checked(dataset, f"alpha >= {alpha.ci_high + 0.01:.6f}", confident=True).checks[0].outcome == "not met"
    assert not checked(dataset, text, confident=True).passed


def test_measures_are_those_of_the_data():
    dataset = simulated(2)
    names = ("cases", "raters", "annotations", "annotations_per_case", "dropped_rows", "unanimous", "case_agreement")
    found = checked(dataset, *(f"{name} >= 0" for name in names), n_rows=1_003, n_dropped=3)
    values = dict(zip(names, (one.measured.value for one in found.checks), strict=True))
    answers = dataset.answer.reshape(200, 5)
    assert (values["cases"], values["raters"], values["annotations"]) == (200, 5, 1_000)
    assert (values["annotations_per_case"], values["dropped_rows"]) == (5, 3)
    assert values["unanimous"] == pytest.approx(np.mean((answers == answers[:, :1]).all(axis=1)))
    pairs = [np.mean([row[i] == row[j] for i in range(5) for j in range(5) if i != j]) for row in answers]
    assert values["case_agreement"] == pytest.approx(np.mean(pairs))


def test_counts_are_shown_as_whole_numbers_and_shares_with_two_decimals():
    dataset = load_sample("anaesthesia")
    part = GATE.parts[0].with_options(requirements=("flagged_raters <= 2", "cases > 1", "alpha >= 0.1"))
    (grid,) = (block for block in part.blocks(part.answer(dataset), dataset) if isinstance(block, Grid))
    flagged, cases, alpha = grid.table["value"]
    assert flagged.isdigit() and cases == str(dataset.n_cases) and re.fullmatch(r"0\.\d\d", alpha)


def test_later_looks_have_wider_intervals_and_say_so():
    dataset = replace(simulated(3), time=None)
    once, first, third = (checked(dataset, "alpha > 0", "unanimous > 0", look=look) for look in (0, 1, 3))
    for place in (0, 1):
        widths = [one.checks[place].measured.high - one.checks[place].measured.low for one in (once, first, third)]
        assert widths[0] < widths[1] < widths[2]
    assert "Over all looks, the error rate is at most 5%" in third.words() and "look" not in once.words().lower()


def test_dated_cases_have_one_interval_for_all_looks():
    dataset = simulated(3)
    first, third = (checked(dataset, "unanimous > 0", look=look).checks[0].measured for look in (1, 3))
    assert first == third and "betting confidence sequence" in first.interval


def test_a_mean_that_changes_over_time_has_no_interval():
    """In order of time a sequence that begins clear and ends unclear has no one mean."""
    one = simulated(4, n=1_500, noise=0.0)
    agree = np.array([np.ptp(one.answer[a : a + 5]) == 0 for a in one.case_ptr[:-1]])
    order = np.argsort(~agree, kind="stable")
    time = np.empty(one.n_cases, np.int64)
    time[order] = np.arange(one.n_cases) * 86_400
    found = checked(replace(one, time=np.repeat(time, 5)), "unanimous > 0.1", look=1).checks[0]
    assert found.measured.interval == "no interval: the mean changes over time" and found.outcome == "undecided"


def test_the_order_of_an_undated_file_does_not_matter():
    """Files are sorted: the clear cases first would look like a sequence of clear cases."""
    one = replace(simulated(4, n=400, noise=0.0), time=None)
    found = checked(one, "unanimous > 0", confident=True).checks[0].measured
    assert found.low < found.value < found.high and found.high - found.low < 0.25


def test_a_measure_that_there_is_not_names_those_that_there_are():
    with pytest.raises(InputError, match=r"Unknown measure 'trust'.*flagged_raters.*alpha"):
        checked(simulated(0), "trust > 1")
    with pytest.raises(InputError, match="No requirements were given"):
        checked(simulated(0))


def test_alpha_of_scores_and_of_sets_has_the_same_name():
    for sample in ("essays", "street"):
        assert checked(load_sample(sample), "alpha > -1").passed


def test_the_summary_is_a_table_and_shows_names_letter_for_letter():
    found = checked(simulated(1), "alpha >= 0.99", "cases >= 10")
    text = summary(found, "a|b <script> [x](http://y)")
    assert "\\|" in text and "\\<script\\>" in text and "\\[x\\]" in text
    lines = text.splitlines()
    assert [line.count("|") for line in lines if line.startswith("| ")] == [6, 6, 6]
    assert "❌ not met" in text and "✅ met" in text and "1 of 2 requirements met" in text


def test_the_command_that_is_shown_checks_the_same(capsys):
    options = PART.with_options(requirements=("alpha >= 0.2", "unanimous > 5%"), confident=True).resolve()
    line = command(options, file="caries")
    assert line.startswith("python -m core ")
    status = main(shlex.split(line)[3:])
    rows = json.loads(capsys.readouterr().out)["rows"]
    found = PART.answer(load_sample("caries"), options)
    assert [row["outcome"] for row in rows] == [one.outcome for one in found.checks]
    assert status == (0 if found.passed else 1)


def test_the_template_for_ci_has_the_requirements_in_its_step():
    options = PART.with_options(requirements=("alpha >= 0.6",)).resolve()
    (job,) = yaml.safe_load(workflow(options))["jobs"].values()
    assert shlex.split(job["steps"][-1]["run"]) == [
        *("plurality", "check", "annotations.csv", "--require", "alpha >= 0.6"),
        *("--summary", "$GITHUB_STEP_SUMMARY"),
    ]
    (job,) = yaml.safe_load(workflow(replace(options, look=3)))["jobs"].values()
    line = shlex.split(job["steps"][-1]["run"])
    assert line[-4:-2] == ["--look", "$GITHUB_RUN_NUMBER"] and line.count("--look") == 1, "each run is a look"
    assert command(replace(options, look=3)).endswith(" --look 3")


def test_a_report_has_the_gate_only_if_there_are_requirements(tmp_path):
    out = tmp_path / "report.html"
    arguments = ["report", "caries", "--out", str(out), "--sections", "gate"]
    assert main([*arguments, "--require", "cases >= 1", "--require", "alpha > 0.99"]) == 0
    text = out.read_text(encoding="utf-8")
    assert (
        "Not passed: 1 of 2 requirements met." in text and "alpha &gt; 0.99" in text and "plurality check" not in text
    )
    assert main(arguments) == 0 and "requirements met" not in out.read_text(encoding="utf-8")


def test_what_the_data_do_not_determine_is_undecided_and_the_rest_is_checked():
    case = np.arange(30)
    alone = Dataset.from_classes("one", [f"c{i}" for i in case], ["r"], ["x", "y"], case, case * 0, case % 2)
    found = checked(alone, "alpha >= 0.6", "flagged_raters <= 2", "unanimous > 0.5", "cases >= 30")
    assert [one.outcome for one in found.checks] == ["undecided"] * 3 + ["met"]
    assert not found.passed and "Cannot determine alpha: no case has two annotations." in found.words()
    assert "| – | no case has two annotations |" in summary(found, "one")
    case, rater = (each.ravel() for each in np.indices((30, 3)))
    names = [f"c{i}" for i in range(30)], list("rst"), ["x", "y"]
    same = Dataset.from_classes("same", *names, case, rater, case * 0)
    found = checked(same, "alpha >= 0.6", "agreement >= 0.5")
    assert [one.outcome for one in found.checks] == ["undecided", "met"] and "only one class" in found.words()


def test_a_perfect_value_without_an_interval_is_not_met_if_the_interval_decides():
    case, rater = (each.ravel() for each in np.indices((2, 3)))
    two = Dataset.from_classes("two", ["c", "d"], list("rst"), ["x", "y"], case, rater, case)
    assert checked(two, "alpha >= 0.6").passed
    for how in ({"confident": True}, {"look": 1}):
        assert checked(two, "alpha >= 0.6", "unanimous > 0.5", **how).checks[0].outcome == "undecided"


@pytest.mark.parametrize("text", ["agreement >= 60", "alpha > 2", "unanimous > 150%"])
def test_a_bound_that_no_data_can_meet_is_refused(text):
    with pytest.raises(InputError, match="cannot exceed 1"):
        checked(simulated(1), text)


def test_looks_at_growing_data_seldom_pass_a_bound_that_is_the_truth():
    """Two classes at random: agreement is 0.5, and five looks claim more or less in at most 5% of 120 sequences.

    The Monte Carlo error is 2 points; without the union bound it is 13%.
    """
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(120):
        answers = rng.integers(0, 2, (150, 3))
        case, rater = np.indices(answers.shape)
        names = [f"c{i}" for i in range(150)], list("rst"), ["x", "y"]
        whole = Dataset.from_classes("looks", *names, case.ravel(), rater.ravel(), answers.ravel())
        looks = [whole.select(cases=names[0][: 30 * look]) for look in range(1, 6)]
        texts = "agreement > 0.5", "agreement < 0.5"
        found = [checked(one, *texts, look=look) for look, one in enumerate(looks, 1)]
        wrong += any(each.outcome == "met" for one in found for each in one.checks)
    assert wrong / 120 <= 0.05 + np.sqrt(0.05 * 0.95 / 120)
