import csv
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from core.annotations.dataset import Dataset
from core.errors import Cancelled, InputError, NotApplicableError
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.models.catalogue import em_model
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.models.one_coin import OneCoin
from core.raters.accuracy_threshold import judge_accuracy
from core.raters.coverage import coverage
from core.raters.leave_one_rater_out import panel_of
from core.raters.monitoring import default_request, monitor
from core.raters.rates import BlindReads, agreement_with_blind, distances_of
from core.runtime.chunks import CancelToken
from tests.core.raters.raters_simulated import rebuilt, simulated


def flagged(table):
    return [(table.raters[flag.rater], flag.rule) for flag in table.flags]


@pytest.mark.parametrize("model", [None, DawidSkene(), MajorityVote()], ids=["usual", "dawid-skene", "majority"])
def test_exactly_the_drifting_and_the_careless_rater_of_skin_are_flagged(skin, model):
    """Whichever model judges; R07 not by accuracy, as R05 is right no more often."""
    fit = model.fit(skin) if model else None
    table = monitor(skin, model=fit)
    assert flagged(table) == [("R04", "drift"), ("R07", "careless")]
    assert "2024-1" in table.flags_of(3)[0].words
    assert "Dry vesperitis" in table.flags_of(6)[0].words
    assert not table.flags_of(0)


def test_the_accuracy_of_skin_raters_is_near_what_the_truth_says(skin, skin_table):
    """All 12 shares of right first choices lie within their 95% intervals, or at most one does not.

    The level is up to 0.08 too low or high, though raters meet half of the 60 classes once or not at all and share
    mistakes; the order of raters is that of the truth.
    """
    with (SAMPLE_FOLDER / "skin" / "truth.csv").open(encoding="utf-8") as file:
        truth = {row["case"]: row["class"] for row in csv.DictReader(file)}
    code = np.array([skin.classes.index(truth[case]) for case in skin.cases])
    right = np.bincount(skin.rater, code[skin.case_of_annotation] == skin.answer) / skin_table.n_annotations
    found = judge_accuracy(skin_table.panel).accuracy
    assert ((found.low > right) | (right > found.high)).sum() <= 1
    assert np.abs(found.value - right).max() < 0.08
    assert np.corrcoef(found.value, right)[0, 1] > 0.95


@pytest.mark.parametrize("sample", ["caries", "anaesthesia"])
def test_nobody_is_flagged_in_samples_of_raters_who_are_merely_unlike(sample):
    assert monitor(load_sample(sample).as_classes()[0]).flags == ()


def test_counts_speed_repeats_and_entropy_are_what_a_hand_count_says():
    """Two raters: r0 annotations a, b, a again; r1 a and b. Times 10 and 20 seconds apart, then a pause."""
    data = Dataset.from_classes(
        "x",
        ["a", "b"],
        ["r0", "r1"],
        ["k", "l"],
        [0, 1, 0, 0, 1],
        [0, 0, 0, 1, 1],
        [0, 1, 1, 0, 1],
        time=np.array([100, 110, 130, 100, 9000]),
    )
    table = monitor(data)
    assert table.n_annotations.tolist() == [3, 2]
    assert table.n_cases.tolist() == [2, 2]
    assert table.repeats.tolist() == pytest.approx([1 / 3, 0])
    assert table.with_self.value[0] == 0 and np.isnan(table.with_self.value[1])
    assert table.response_times.seconds[0] == 15 and np.isnan(table.response_times.seconds[1])
    assert table.response_times.n_gaps.tolist() == [2, 0]
    assert table.response_times.n_sittings.tolist() == [1, 2]
    assert table.entropy[1] == pytest.approx(1.0)
    assert table.agreement.value[1] == pytest.approx(2 / 3)  # k-k, k-l on a; l-l on b


def test_blind_reads_count_for_raters_of_their_cases_and_not_for_the_reader_themselves():
    data = Dataset.from_classes("x", ["a", "b"], ["r", "s"], ["k", "l"], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0])
    reads = BlindReads(("a", "a", "b", "elsewhere"), ("doctor", "r", "doctor", "doctor"), ("k", "k", "l", "k"))
    blind = monitor(data, blind_reads=reads).blind
    assert blind.n.tolist() == [2, 2]
    assert blind.value.tolist() == pytest.approx([1 / 2, 0])  # s: half of nothing on a (l against k, k), l on b
    assert (blind.low <= blind.value).all() and (blind.value <= blind.high).all()
    with pytest.raises(InputError, match="lists of cases, raters and annotations differ in length"):
        BlindReads(("a",), (), ("k",))


@pytest.mark.parametrize(("level", "z"), [(0.95, 1.959964), (0.8, 1.281552)])
def test_ends_of_blind_agreement_are_the_shares_whose_two_sided_score_test_just_rejects(level, z):
    """Wilson's: as far from 3 of 4, and from none of 4, as z standard errors at the end itself."""
    names = [f"c{n}" for n in range(4)]
    data = Dataset.from_classes("x", names, ["r", "s"], ["k", "l"], np.repeat(range(4), 2), [0, 1] * 4,
                                [0, 1, 0, 1, 0, 1, 1, 1])  # fmt: skip
    found = agreement_with_blind(data, BlindReads(tuple(names), ("doctor",) * 4, ("k",) * 4), level)
    assert found.value.tolist() == [0.75, 0] and found.n.tolist() == [4, 4]
    assert found.low[0] < 0.75 < found.high[0] and found.low[1] == 0
    for value, end in ((0.75, found.low[0]), (0.75, found.high[0]), (0, found.high[1])):
        assert abs(end - value) == pytest.approx(z * np.sqrt(end * (1 - end) / 4), abs=1e-6)


def test_a_fit_without_overlap_falls_back_to_the_vote_and_says_so():
    data, _ = simulated(2, [0.8, 0.8], n_cases=30, per_case=1)
    table = monitor(data)
    assert table.model == "majority"
    assert "Cannot determine rater accuracy" in table.notes[-1]
    assert np.isnan(table.accuracies.alone).all() and np.isnan(table.spam).all()
    assert table.flags == ()


def test_one_annotation_is_a_table_of_one_row():
    data = Dataset.from_classes("x", ["a"], ["r"], ["k", "l"], [0], [0], [1])
    table = monitor(data)
    assert table.n_annotations.tolist() == [1]
    assert np.isnan([table.agreement.value[0], table.accuracies.alone[0], table.blind.value[0]]).all()


def test_a_single_class_and_a_rater_without_answers_are_no_trouble():
    data = Dataset.from_classes("x", ["a", "b"], ["r", "s", "t"], ["k"], [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0])
    table = monitor(data)
    assert table.flags == ()
    assert table.n_annotations.tolist() == [2, 2, 0]
    assert np.isnan(table.repeats[2])


def test_without_times_there_is_no_speed_and_no_drift_and_the_reason_is_said():
    data, _ = simulated(3, [0.8] * 5, times=False)
    table = monitor(data)
    assert np.isnan(table.p_drift).all() and np.isnan(table.response_times.seconds).all()
    assert "the annotations have no timestamps" in table.response_times.why_no_streaks
    assert (
        "the timestamps have no time of day"
        in monitor(rebuilt(data, data.answer, data.case_of_annotation * 86_400)).response_times.why_no_speed
    )


def test_what_cannot_be_monitored_is_refused_with_the_reason():
    data, _ = simulated(4, [0.8] * 3, n_cases=20, per_case=2)
    from dataclasses import replace

    with pytest.raises(NotApplicableError, match="anonymous"):
        monitor(replace(data, raters_identified=False))
    with pytest.raises(NotApplicableError, match="single class"):
        monitor(Dataset.from_scores("x", ["a"], ["r"], [0], [0], [1.0]))
    for wrong in ({"level": 1.0}, {"false_alarms": 0.0}, {"certain": 0.4}, {"sitting": 0}):
        with pytest.raises(InputError):
            monitor(data, **wrong)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        monitor(data, token=token)


def test_the_default_model_has_confusion_matrices_only_where_they_stay_small(skin):
    data, _ = simulated(5, [0.8] * 4, n_cases=200)
    assert em_model(default_request(data)) == em_model(default_request(skin)) == DawidSkene("empirical")
    many, _ = simulated(5, [0.8] * 400, n_cases=400, n_classes=120)
    assert isinstance(em_model(default_request(many)), OneCoin)


def test_progress_never_falls_and_ends_at_one():
    data, _ = simulated(6, [0.8] * 40, n_cases=200)
    told = []
    monitor(data, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0


def test_renaming_raters_changes_the_names_alone():
    """Random orders of the charts hang on the name, so chances of drift may move within Monte Carlo error."""
    from dataclasses import replace

    data, _ = simulated(7, np.linspace(0.5, 0.9, 6), n_cases=150)
    one, two = monitor(data), monitor(replace(data, raters=tuple(f"other {i}" for i in range(6))))
    for name in ("spam", "adversarial", "chance", "entropy"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-9)
    np.testing.assert_allclose(one.accuracies.shrunk, two.accuracies.shrunk)


def two_groups():
    """r0 and r1 share cases a and b; r2 and r3 share c; case d is r0's alone."""
    case, rater = [0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 1, 2, 3, 0]
    answer = [0, 0, 1, 1, 2, 2, 0]
    return Dataset.from_classes("x", list("abcd"), ["r0", "r1", "r2", "r3"], ["k", "l", "m"], case, rater, answer)


def test_overlaps_groups_and_classes_are_what_a_hand_count_says():
    data = two_groups()
    found = coverage(data, MajorityVote().fit(data), few=2)
    assert found.shared.tolist() == [[0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert found.n_components == 2 and found.component.tolist() == [0, 0, 1, 1]
    assert [1, 2] in found.lacking.tolist() and [2, 3] in found.lacking.tolist()
    assert [0, 1] not in found.lacking.tolist()
    assert found.answers_per_case.tolist() == [0, 1, 3]
    assert found.class_cases.tolist() == [2, 1, 1] and found.class_shared.tolist() == [1, 1, 1]
    assert found.class_met[0].tolist() == [2, 1, 0] and found.not_met.tolist() == [1, 1, 2, 2]
    assert found.lacking_classes.tolist() == [0, 1, 2]
    assert "2 groups" in found.notes[0] and "No case has more than 2 annotations" in found.notes[-1]


def test_an_annotation_that_a_rater_repeats_is_no_second_rater():
    data = two_groups()
    more = [np.append(values, add) for values, add in ((data.case_of_annotation, 3), (data.rater, 0), (data.answer, 0))]
    data = Dataset.from_classes("x", data.cases, data.raters, data.classes, *more)
    found = coverage(data, MajorityVote().fit(data), few=2)
    assert found.answers_per_case.tolist() == [0, 0, 4]
    assert found.class_cases.tolist() == [2, 1, 1] and found.class_shared.tolist() == [1, 1, 1]


def test_a_design_of_pairs_identifies_nothing_without_an_odd_cycle():
    data = two_groups()
    found = coverage(data, MajorityVote().fit(data))
    assert not found.odd_cycle.any()
    assert "Not identified" in found.identified["dawid-skene"] and "odd" not in found.identified["tap-common"]
    assert "4 of 4 raters" in found.identified["tap"]


def test_the_design_of_skin_lacks_nothing_between_raters(skin, skin_table):
    """Its description says that every pair shares at least 41 cases with all annotations; here ties are left out."""
    found = coverage(skin, skin_table.panel.fit)
    assert found.n_components == 1 and len(found.lacking) == 0 and found.odd_cycle.all()
    assert not any(found.identified.values()) and found.notes == ()
    assert found.class_cases.sum() == pytest.approx((np.diff(skin.case_ptr) > 0).sum())


def test_one_rater_alone_overlaps_with_nobody():
    data = Dataset.from_classes("x", ["a"], ["r"], ["k", "l"], [0], [0], [1])
    found = coverage(data, MajorityVote().fit(data))
    assert found.shared.tolist() == [[0]] and found.lacking.shape == (0, 2) and found.n_components == 1


def test_scores_and_silly_numbers_are_refused():
    data = two_groups()
    fit = MajorityVote().fit(data)
    with pytest.raises(NotApplicableError):
        coverage(Dataset.from_scores("x", ["a"], ["r"], [0], [0], [1.0]), fit)
    with pytest.raises(ValueError, match="few"):
        coverage(data, fit, few=0)


# Distance: How many classes off raters of ordered classes are, against a slow reference, and that distance counts.


@pytest.fixture(scope="module")
def panel():
    """Four raters, as often right; one mistakes for the neighbour, one for the far end; the last judged on one case."""
    rng = np.random.default_rng(2)
    truth = rng.integers(5, size=120)
    near = np.where(truth < 4, truth + 1, 3)
    far = np.where(truth < 2, 4, 0)
    wrong = rng.random((3, truth.size)) < 0.3
    answers = [
        np.where(wrong[0], near, truth),
        np.where(wrong[1], far, truth),
        np.where(wrong[2], near, truth),
        truth[:1],
    ]
    case = np.concatenate([np.arange(len(one)) for one in answers])
    rater = np.repeat(np.arange(4), [len(one) for one in answers])
    names = ("d", [str(n) for n in range(120)], ("near", "far", "near too", "once"), tuple("abcde"))
    data = Dataset.from_classes(*names, case, rater, np.concatenate(answers), ordinal=True)
    return panel_of(data, DawidSkene().fit(data))


def test_the_mean_distance_and_its_interval_are_those_of_a_slow_reference(panel):
    found, data = distances_of(panel, 0.9), panel.dataset
    for rater in range(3):
        rows = np.array([row for row in panel.of(rater) if panel.judged[row]])
        by_others = panel.by_others(rows)
        # The distance of an annotation is random, because its truth is: all of its values with their probability.
        values = [(abs(int(data.answer[row]) - z), by_others[n, z]) for n, row in enumerate(rows) for z in range(5)]
        mean = sum(value * share for value, share in values) / rows.size
        spread = sum(share * (value - mean) ** 2 for value, share in values) / (rows.size - 1)
        half = t.ppf(0.95, rows.size - 1) * np.sqrt(spread / rows.size)
        ends = (found.value[rater], found.low[rater], found.high[rater], found.n[rater])
        assert ends == pytest.approx((mean, max(0, mean - half), mean + half, rows.size))


def test_far_mistakes_weigh_more_than_near_ones(panel):
    found = distances_of(panel)
    assert found.low[1] > found.high[0] and found.low[1] > found.high[2]


def test_one_annotation_has_no_interval_and_an_order_without_meaning_no_distance(panel):
    found = distances_of(panel)
    assert found.n[3] == 1 and np.isfinite(found.value[3]) and np.isnan([found.low[3], found.high[3]]).all()
    plain = replace(panel, dataset=replace(panel.dataset, ordinal=False))
    assert np.isnan(distances_of(plain).value).all() and not distances_of(plain).n.any()
