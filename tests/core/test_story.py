"""The seven claims of the guided story, from its samples, that each can fail, and the slides that ship."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import load_sample, read
from core.agreement.coefficients import agreement_table
from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.annotations.rater_codes import without_names
from core.certainty.top_sets import annotation_certainty
from core.errors import NotApplicableError
from core.evaluation.predictions import read_predictions
from core.evaluation.sweep_table import reliability_sweep
from core.ingest.formats.tables import open_table
from core.ingest.samples import read_sample, sample_predictions
from core.machines.alternative_test import alternative_test
from core.machines.equivalent_readers import equivalent_readers
from core.machines.joined import joined, of_predictions
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.models.one_coin import OneCoin
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.raters.accuracy_threshold import judge_accuracy
from core.raters.leave_one_rater_out import panel_of
from core.raters.shared_errors import shared_errors
from core.story import slide
from sample_data import make_tour as story

SETTINGS = {"n_draws": 1000, "seed": 0}
GAMMA = (1.0, 3.0, 10.0)


@pytest.fixture(scope="module")
def skin():
    """The sample."""
    return load_sample(story.SAMPLE)


@pytest.fixture(scope="module")
def view(skin):
    """Its first choices."""
    return skin.as_classes()[0]


@pytest.fixture(scope="module")
def sweep(skin):
    """Its cases and classifiers at three reliabilities."""
    predictions = read_predictions(open_table(sample_predictions("skin")), skin, "skin")
    return reliability_sweep(PlackettLuce(), skin, GAMMA, classifiers=predictions, **SETTINGS)


@pytest.fixture
def unanimous():
    """Three raters who always agree."""
    case, rater = np.repeat(np.arange(20), 3), np.tile(np.arange(3), 20)
    return Dataset.from_classes(
        "one mind", [f"c{k}" for k in range(20)], list("abc"), ["x", "y"], case, rater, case % 2
    )


@pytest.fixture(scope="module")
def slides():
    """The slides of all steps, computed again."""
    return story.compute()


def percent(dataset):
    """Percent agreement."""
    return agreement_table(class_counts(dataset))[0]


@pytest.mark.parametrize("number", range(1, 8))
def test_the_slide_of_a_step_that_ships_is_computed_from_its_sample(slides, number):
    digest, anew = slides[number - 1]
    coded = SimpleNamespace(content_digest=digest)
    coded.coded = coded
    shipped = slide(number, coded)
    assert anew.claim.holds and anew == replace(shipped, marks=anew.marks)
    assert len(shipped.marks) == len(anew.marks)
    for one, other in zip(shipped.marks, anew.marks, strict=True):
        numbers = "value", "low", "high", "reference", "at"
        assert [getattr(one, name) for name in numbers] == pytest.approx(
            [getattr(other, name) for name in numbers], abs=1e-5
        )
        assert (one.name, one.label, one.strong, one.open) == (other.name, other.label, other.strong, other.open)


def test_a_slide_of_other_annotations_is_not_shown(unanimous):
    assert slide(1, unanimous) is None


def test_step_one_raters_disagree(view, unanimous):
    """Of the pairs of first choices, 52 to 59% are the same; where all agree the claim fails."""
    claim = story.disagree(percent(view))
    assert claim.holds
    assert "56% of the time (52% to 59%)" in claim.words
    assert not story.disagree(percent(unanimous)).holds


def test_step_two_the_vote_hides_it(view, sweep, unanimous):
    """Labels of a clear vote that are less than 90% certain, counted one by one."""
    claim = story.hidden(view, sweep.certainty[1])
    vote = MajorityVote().fit(view).top_class()
    doubtful = sum(vote[case] >= 0 and sweep.certainty[1].certainty[case, 0] < 0.9 for case in range(400))
    assert claim.holds
    assert f"{(vote >= 0).sum()} of 400 cases" in claim.words
    assert f"{doubtful} of these labels" in claim.words
    sure = annotation_certainty(DirichletCounts(), unanimous, reliability=30.0, **SETTINGS)
    assert not story.hidden(unanimous, sure).holds


@pytest.mark.parametrize(("n_doubtful", "holds"), [(1, True), (0, False)])
def test_step_two_holds_where_over_a_tenth_of_the_labels_of_a_clear_vote_are_doubtful(n_doubtful, holds):
    """Nine clear votes of one or two annotations, and eleven ties that are no labels."""
    rows = [f"c{case},a,x" for case in range(20)] + [f"c{case},b,y" for case in range(9, 20)]
    dataset = read("\n".join(["case,rater,class", *rows]).encode()).dataset
    certainty = SimpleNamespace(certainty=np.where(np.arange(20) < n_doubtful, 0.8, 0.95)[:, None])
    claim = story.hidden(dataset, certainty)
    assert claim.holds is holds
    assert claim.words.startswith(
        f"Majority vote gives one label to 9 of 20 cases, which looks final. But {n_doubtful} of these labels "
        "have certainty below 90%"
    )


def test_of_cases_that_are_torn_alike_the_one_with_most_annotations_is_shown():
    rows = [
        f"{case},r{rater},{'xy'[rater % 2]}" for case, n in (("few", 2), ("many", 6), ("some", 4)) for rater in range(n)
    ]
    dataset = read("\n".join(["case,rater,class", *rows]).encode()).dataset
    certainty = annotation_certainty(DirichletCounts(), dataset, reliability=1.0, n_draws=400, seed=0)
    torn = story.torn_case(DirichletCounts(), dataset, certainty, reliability=1.0, n_draws=400, seed=0)
    assert torn.case_id == "many" and sorted(torn.classes) == ["x", "y"] and torn.risk is None
    assert torn.shares[0] >= torn.shares[1] and sum(torn.shares) == pytest.approx(1)


def test_probabilities_are_more_than_99_percent_only_beyond_it():
    assert story._at_least(0.996, 0.999) == "over 99%"
    assert story._at_least(0.99, 1.0) == "at least 99%" and story._at_least(0.98, 0.97) == "at least 97%"
    assert story._at_least(0.994, 1.0) == "at least 99%" and story._at_least(0.988, 1.0) == "at least 98%"


def test_step_three_the_model_weighs_raters(view, unanimous):
    """The intervals of the best and the worst rater do not meet, and equal votes differ in P(correct)."""
    fit = DawidSkene(beta=0.5).fit(view)
    claim = story.weighs(view, "Dawid-Skene", fit, judge_accuracy(panel_of(view, DawidSkene("empirical").fit(view))))
    assert claim.holds
    assert "R01 is correct on 8" in claim.words
    assert "R07 is correct on 5" in claim.words
    of_two = []
    for case in range(view.n_cases):
        answer = view.answer[view.annotations_of(case)].tolist()
        of_two += [fit.class_probability[case, k] for k in set(answer) if len(answer) == 3 and answer.count(k) == 2]
    assert f"In {len(of_two)} cases, 2 of 3 annotations agree" in claim.words
    assert f"P(correct) of their class ranges from {min(of_two):.0%} to {max(of_two):.0%}" in claim.words
    alike = replace(fit, class_probability=np.full_like(fit.class_probability, 1 / view.n_classes))
    judged = judge_accuracy(panel_of(view, DawidSkene("empirical").fit(view)))
    assert not story.weighs(view, "Dawid-Skene", alike, judged).holds, "weights that change nothing"
    alike = OneCoin().fit(unanimous)
    claim = story.weighs(unanimous, "One coin", alike, judge_accuracy(panel_of(unanimous, alike)))
    assert not claim.holds and "Cannot determine" in claim.words


def test_step_four_a_case_has_two_plausible_truths(skin, sweep):
    """Two classes of unlike risk lead in a third of the draws each or more, counted anew with another seed."""
    torn = story.torn_case(PlackettLuce(), skin, sweep.certainty[1], reliability=3.0, **SETTINGS)
    claim = story.two_truths(torn)
    assert claim.holds
    assert torn.risk[0] != torn.risk[1]
    assert sum(torn.shares) > 0.9
    case = skin.case_index(torn.case_id)
    (_, draws), *_ = PlackettLuce().draws(skin, reliability=3.0, n_draws=4000, seed=5, cases=range(case, case + 1))
    names = [skin.classes[code] for code in draws.classes]
    for name, share in zip(torn.classes, torn.shares, strict=True):
        anew = (draws.top[:, 0] == names.index(name)).mean()
        assert anew == pytest.approx(share, abs=4 * np.sqrt(0.25 / min(1000, draws.ess / 4)))


def test_shares_of_one_case_do_not_add_up_to_more_than_all_of_it():
    assert story.percents([0.505, 0.495]) == ["51%", "49%"]
    assert story.percents([0.355, 0.335, 0.31]) == ["36%", "34%", "30%"]


def test_no_case_of_one_mind_is_torn(unanimous):
    """Where all agree there is no such case, and that is said."""
    sure = annotation_certainty(DirichletCounts(), unanimous, reliability=30.0, **SETTINGS)
    with pytest.raises(NotApplicableError, match="Could not show an example: no case has two plausible classes"):
        story.torn_case(DirichletCounts(), unanimous, sure, reliability=30.0, **SETTINGS)


def test_step_five_the_classifier_looked_better_than_it_is(sweep):
    """At a usual trust the accuracy against one label lies above all that is plausible."""
    claim = story.looked_better(sweep.evaluation[1], 3.0)
    value = sweep.evaluation[1].values["A"]["top3_accuracy"]
    assert claim.holds
    assert "classifier A" in claim.words
    assert f"in {value.point:.0%} of cases" in claim.words
    assert value.point > value.ci_high
    behind = value.point - value.mean
    better = replace(value, point=0.99, mean=0.99 - behind / 2, ci_high=0.98)
    two = replace(sweep.evaluation[1], classifiers=("A", "B"), values={
        "A": {"top3_accuracy": value}, "B": {"top3_accuracy": better},
    })  # fmt: skip
    assert "classifier A" in story.looked_better(two, 3.0).words, "which loses most, not which has most"
    assert not story.looked_better(
        replace(sweep.evaluation[1], values={name: {"top3_accuracy": replace(value, point=value.mean)}
                                             for name in sweep.evaluation[1].classifiers}), 3.0
    ).holds  # fmt: skip


def test_step_six_the_ranking_flips(sweep):
    """B leads at little trust and A at much, each surely; by first guesses A stays ahead; at one end nothing flips."""
    claim = story.flips(GAMMA, sweep.evaluation)
    assert claim.holds
    assert "(γ = 1), B leads" in claim.words
    assert "(γ = 10), A leads. Each leads with at least 97% probability" in claim.words
    assert not story.flips(GAMMA[1:], sweep.evaluation[1:]).holds


def test_without_names_nothing_changes_but_the_names(skin):
    """Numbers for names, the same each time, not by the alphabet; annotations, times and cases are the same."""
    veiled = without_names(skin)
    assert sorted(veiled.raters) == sorted(f"Rater {number}" for number in range(1, 13))
    assert list(veiled.raters) != [f"Rater {number}" for number in range(1, 13)]
    assert veiled.raters == without_names(skin).raters
    assert veiled.digest != skin.digest
    for name in ("rater", "case_ptr", "entry_class", "entry_block", "time"):
        assert np.array_equal(getattr(veiled, name), getattr(skin, name))


def test_without_names_machines_are_called_machines():
    reading = read_sample("replies")
    machines = [name for name, *_ in reading.machines]
    plain, veiled = without_names(reading.dataset), without_names(reading.dataset, machines)
    of = dict(zip(reading.dataset.raters, veiled.raters, strict=True))
    assert sorted(of[name] for name in machines) == ["AI rater 1", "AI rater 2"]
    assert [one for one in veiled.raters if one.startswith("Rater")] == [
        one for one, name in zip(plain.raters, reading.dataset.raters, strict=True) if name not in machines
    ]


def test_one_machine_may_stand_in_and_one_that_is_sure_of_everything_may_not():
    told = story.STEPS[6]
    reading = read_sample(told.data)
    dataset, names = reading.dataset, tuple(name for name, *_ in reading.machines)
    people = tuple(name for name in dataset.raters if name not in names)
    of = {}
    for one in read_predictions(open_table(sample_predictions(told.data)), dataset, told.data):
        of[one.name] = one.probabilities(dataset.n_classes)
        dataset, _, _ = joined(dataset, of_predictions(dataset, one))
    test = alternative_test(dataset, (*names, *of), people=people, plan=False, n_resamples=400)
    worth = [
        equivalent_readers(dataset, name, people, score="log", probability=given, n_resamples=200)
        for name, given in of.items()
    ]
    claim = story.stands_in(test, worth)
    assert claim.holds
    assert claim.words.startswith(
        "steady is not worse than 6 of 6 raters; brash is not worse than 1 of 6 (ε = 0.2). Judged by"
    )
    assert f"steady is worth {worth[0].words()} raters and brash less than 0; brash is confident" in claim.words
    assert not story.stands_in(test, worth[::-1][:1]).holds  # one machine cannot be compared
    alike = [replace(worth[0], machine=name) for name in of]
    assert not story.stands_in(test, alike).holds
    shared = shared_errors(dataset, machines=(*names, *of), n_replicates=50)
    assert ("lyra-1", "lyra-2") in [(shared.raters[a], shared.raters[b]) for a, b in shared.pairs()][:1]
