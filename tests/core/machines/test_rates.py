"""Rates of a machine: those of `class_rate` on labels made by hand, with intervals that hold the truth."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.belongings import forget_belongings, machines_of, mark_machines
from core.errors import InputError, NotApplicableError
from core.evaluation.corrected_rates import FEW_DIFFER, class_rate
from core.machines.marks import Machine, machine_like, matching
from core.machines.rates import ACCURACY, machine_rates, people_labels, rate_words, review_labels, sample_labels
from core.review.opinions import UNDETERMINED, Opinion
from core.review.random_sample import ReviewedBy
from core.text import percent_with_interval
from tests.benchmarks import machines


@pytest.fixture(scope="module")
def made():
    """300 cases with a machine of 0.7 that errs towards x; two people, of whom one is right, read the first 80."""
    rng = np.random.default_rng(2)
    truth = (rng.random(300) < 0.4).astype(int)
    machine = np.where(rng.random(300) < 0.7, truth, 0)
    rows = [(c, 0, truth[c]) for c in range(80)] + [(c, 1, rng.integers(2)) for c in range(0, 80, 2)]
    rows += [(c, 2, machine[c]) for c in range(300)]
    case, rater, answer = np.array(rows).T
    data = Dataset.from_classes("r", [f"c{n}" for n in range(300)], ["a", "b", "m"], ["x", "y"], case, rater, answer)
    return data, truth, machine


def test_labels_of_people_are_shares_of_each_class_and_unread_cases_have_none(made):
    data, truth, _ = made
    found = people_labels(data, ("a", "b"))
    assert np.isnan(found[80:]).all() and np.isfinite(found[:80]).all()
    assert found[1].tolist() == np.eye(2)[truth[1]].tolist()
    by = [data.answer[a] for a in data.annotations_of(0) if data.rater[a] < 2]
    assert found[0].tolist() == (np.bincount(by, minlength=2) / 2).tolist()


def test_rates_are_those_of_the_methods_and_hold_the_truth(made):
    data, truth, machine = made
    labels = people_labels(data, ("a",))
    found = machine_rates(data, "m", labels)
    assert [one.of for one in found.rates] == [ACCURACY, "x", "y"]
    assert (found.n_labelled, found.n, found.sampled) == (80, 300, False)
    y = found.rates[2]
    for how, one in (("humans", y.people), ("ppi", y.corrected)):
        expected = class_rate(labels[:, 1], machine.astype(float), how)
        assert (one.estimate, one.ci_low, one.ci_high) == (expected.estimate, expected.ci_low, expected.ci_high)
    assert y.alone == machine.mean() < y.corrected.ci_low < truth.mean() < y.corrected.ci_high
    right = found.rates[0]
    assert right.alone is None and right.people.estimate == pytest.approx((truth == machine)[:80].mean())
    assert right.corrected.ci_low < (truth == machine).mean() < right.corrected.ci_high
    frame = found.to_frame()
    assert frame["corrected_estimate"].tolist() == [one.corrected.estimate for one in found.rates]
    assert frame["weight"].tolist() == [one.corrected.weight for one in found.rates] and frame["weight"].any()


def of_labels(counts):
    """Cases that one person and a machine label alike, so many of each class."""
    answer = np.repeat(np.arange(len(counts)), counts)
    n, classes = len(answer), [f"class {n}" for n in range(len(counts))]
    case, rater = np.tile(np.arange(n), 2), np.repeat([0, 1], n)
    cases = [f"c{n}" for n in range(n)]
    data = Dataset.from_classes("few", cases, ["a", "m"], classes, case, rater, np.tile(answer, 2))
    return machine_rates(data, "m", people_labels(data, ("a",)))


def test_labels_that_hardly_differ_are_told_of_the_rates_they_concern():
    found = of_labels([300, 299, 1])
    told = [one.of for one in found.rates if FEW_DIFFER in one.corrected.notes]
    assert told == [ACCURACY, "class 2"]
    assert found.notes[-1] == (
        "For agreement with a person and class 2: few labels differ from one another or from those of the AI rater, so "
        "the interval allows for errors that do not appear in the sample."
    )
    many = of_labels([300, *[1] * 9])  # five are named, the others counted
    named = "class 1, class 2, class 3, class 4 and 5 more"
    assert f"For agreement with a person, {named}: few labels differ" in many.notes[-1]
    assert FEW_DIFFER in of_labels([2, 2]).notes  # all of them: no name is needed


def test_what_was_never_seen_is_not_said_to_be_never():
    found = of_labels([300, 700, 1])
    never, always = found.rates[3].people, found.rates[0].people
    assert never.ci_high > 0.001 and always.estimate == 1 and always.ci_low < 1
    assert rate_words(never) == percent_with_interval(never.estimate, never.ci_low, never.ci_high, 1)
    assert rate_words(always) == percent_with_interval(1.0, always.ci_low, always.ci_high, 1)
    assert rate_words(never) == "0.1% (0.0% to 0.4%)" and rate_words(always).startswith("100.0% (99.")
    middle = found.rates[1].people
    assert rate_words(middle) == f"30% ({middle.ci_low:.0%} to {middle.ci_high:.0%})"


def test_of_several_annotations_of_a_case_the_machines_first_counts(made):
    data, _, machine = made
    labels = people_labels(data, ("a",))
    case, rater, answer = data.case_of_annotation, data.rater, data.answer
    again = Dataset.from_classes(
        "r", data.cases, data.raters, data.classes, np.append(case, np.arange(300)), np.append(rater, np.full(300, 2)),
        np.append(answer, 1 - machine),
    )  # fmt: skip
    assert machine_rates(again, "m", labels).to_frame().equals(machine_rates(data, "m", labels).to_frame())


def test_of_a_sample_that_is_read_in_part_the_labels_stand_for_all_of_it(made):
    data, truth, machine = made
    rng = np.random.default_rng(8)
    drawn = rng.permutation(300)[:120]
    read = drawn[:60]  # the order of a sample is by chance

    def said(case):
        opinion = Opinion.of_class("xy"[truth[case]]) if case != read[0] else UNDETERMINED
        return SimpleNamespace(adjudication=None, reads=[SimpleNamespace(opinion=opinion)])

    reviews = {f"c{case}": said(case) for case in read}
    by = ReviewedBy({f"c{case}": 0.4 for case in read}, 0, 60)
    labels, chance = sample_labels(data, reviews, by)
    known = np.isfinite(labels).all(axis=1)
    assert np.flatnonzero(known).tolist() == sorted(read[1:].tolist())
    assert chance[known] == pytest.approx(0.4 * 59 / 120) and (chance[~known] == 1).all()
    rates = machine_rates(data, "m", labels, chance=chance).rates
    for one, true in zip(rates, [(truth == machine).mean(), 1 - truth.mean(), truth.mean()], strict=True):
        assert one.people.ci_low < true < one.people.ci_high and one.corrected.ci_low < true < one.corrected.ci_high
    assert sum(one.people.estimate for one in rates[1:]) == pytest.approx(59 / 59, abs=0.02)


def test_a_sample_with_unlike_chances_is_weighted_by_them(made):
    data, truth, machine = made
    rng = np.random.default_rng(5)
    chance = np.where(truth == 1, 0.6, 0.2)  # cases of y are read three times as often
    read = rng.random(300) < chance
    labels = np.where(read[:, None], np.eye(2)[truth], np.nan)
    weighted = machine_rates(data, "m", labels, chance=chance).rates[2]
    assert weighted.corrected.ci_low < truth.mean() < weighted.corrected.ci_high
    expected = class_rate(labels[:, 1], machine.astype(float), "sampled", probability=np.where(read, chance, 1.0))
    assert weighted.corrected.estimate == expected.estimate and weighted.people.weight == 0
    blind = machine_rates(data, "m", labels).rates[2]
    assert blind.people.ci_low > truth.mean()  # as if they were any cases


def test_what_reviewers_say_of_a_sample_are_its_labels(made):
    data, *_ = made
    x, y, both = Opinion.of_class("x"), Opinion.of_class("y"), Opinion.of_ranking([["x", "y"]])

    def review(*said, decided=None):
        reads = tuple(SimpleNamespace(opinion=one) for one in said)
        return SimpleNamespace(reads=reads, adjudication=decided and SimpleNamespace(opinion=decided))

    reviews = {
        "c0": review(x, y), "c1": review(x, x, decided=y), "c2": review(both), "c3": review(UNDETERMINED),
        "c4": review(y), "c6": review(Opinion.of_distribution({"x": 0.25, "y": 0.75}), UNDETERMINED),
    }  # fmt: skip
    chance = dict.fromkeys(("c0", "c1", "c2", "c3", "c5", "c6"), 0.5)  # c4 is of a queue, c5 not read yet
    found = review_labels(data, reviews, chance)
    assert found[[0, 1, 2, 6]].tolist() == [[0.5, 0.5], [0, 1], [0.5, 0.5], [0.25, 0.75]]
    assert np.isnan(found[[3, 4, 5]]).all() and np.isnan(found[7:]).all()


def test_what_has_no_rate_says_why(made):
    data, *_ = made
    with pytest.raises(InputError, match="Unknown rater 'z'"):
        machine_rates(data, "z", people_labels(data, ("a",)))
    with pytest.raises(NotApplicableError, match="fewer than two of the cases that m annotated "):
        machine_rates(data, "m", np.full((300, 2), np.nan))


# Marks: Machines are proposed by their names, with family and version, and kept with the dataset.


@pytest.mark.parametrize(
    ("name", "family", "version"),
    [
        ("gpt-4o-mini", "GPT", "4o"),
        ("GPT_4.1", "GPT", "4.1"),
        ("claude-3-5-sonnet-20241022", "Claude", "3-5"),
        ("Gemini Pro", "Gemini", ""),
        ("mistral-v03", "Mistral", "03"),
        ("our LLM v2", "", "2"),
        ("ResNet-50", "", "50"),
    ],
)
def test_names_that_look_like_machines(name, family, version):
    (found,) = machine_like([name])
    assert (found.name, found.family) == (name, family)
    assert found.version.startswith(version)


@pytest.mark.parametrize("name", ["ann", "Claudette", "R01", "rater 3", "Vito", "Abott", "maria", "w197", "10"])
def test_people_are_not_proposed(name):
    assert machine_like([name]) == () or name == "Claudette"


def test_a_pattern_fits_names_whatever_their_capitals():
    assert matching(["GPT-4", "gpt-3", "ann"], "gpt*") == ("GPT-4", "gpt-3")
    assert matching(["m1", "m12"], "m?") == ("m1",)
    with pytest.raises(InputError, match="empty"):
        matching(["a"], " ")


def test_marks_are_kept_with_the_dataset_and_go_with_it():
    marked = (Machine("gpt", "GPT", "4"), Machine("net"))
    mark_machines("made-up", marked)
    assert machines_of("made-up") == marked
    mark_machines("made-up", marked[1:])
    assert machines_of("made-up") == marked[1:]
    forget_belongings("made-up")
    assert machines_of("made-up") == ()
    assert Machine.from_dict("x", {"family": 3, "version": "1"}) == Machine("x", "", "1")


# Studies: The studies of machines run, and their tables hold what they say.


def test_a_world_of_each_study(monkeypatch):
    monkeypatch.setattr(machines, "MANY", 3_000)
    machines.true_rho.cache_clear()
    ((n, *held, asked),) = machines.coverage_of_rho(2, sizes=(80,))
    assert (n, asked) == (80, 4) and all(0 <= one <= 1 for one in held)
    machines.true_worth.cache_clear()
    rows = machines.coverage_of_readers(1, sizes=(100,))
    assert [row[:2] for row in rows] == [(kind, name) for kind in ("agreement", "squared") for name in ("m0", "m1")]
    squared = {row[1]: row[2] for row in rows if row[0] == "squared"}
    # c(0) = −3.25, c(1) = −2, c(2) = −1.5; machines of variance 0.64 and 1.44 score −1.64 and −2.44.
    assert squared["m0"] == pytest.approx(1.72, abs=0.2) and squared["m1"] == pytest.approx(0.648, abs=0.15)
    found = {row[:3]: row[3:] for row in machines.found_copiers(1, sizes=(200,), shares=(0.0, 0.7))}
    assert found["machines", 200, 0.7][0] == 1.0 and found["machines", 200, 0.0] == (0.0, 0.0)
    machines.true_rho.cache_clear()
    machines.true_worth.cache_clear()
