"""Raters of ordered classes and scores by how they follow the cases, apart from shift and spread."""

from dataclasses import replace

import numpy as np
import pytest

from core.analyses.raters.table import least
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.raters.flagged_raters import flag_raters
from core.raters.flags import OF_TRUE_CLASS, Flag
from core.raters.following import can_follow, following_of
from core.raters.monitoring import monitor
from core.raters.score_raters import score_raters
from tests.core.raters.raters_simulated import names, ratings, simulated


def scores(seed, n_cases=120, spread=(0.8,) * 6, shift=(0.0,) * 6):
    """Fully crossed scores; the truth has a spread of 1."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n_cases)
    truth = (truth - truth.mean()) / truth.std()
    case, rater = (axis.ravel() for axis in np.indices((n_cases, len(spread))))
    score = truth[case] + np.array(shift)[rater] + np.array(spread)[rater] * rng.normal(0, 1, case.size)
    cases, raters, _ = names(n_cases, len(spread), 1)
    return Dataset.from_scores("s", cases, raters, case, rater, score), truth


def with_random(data, raters, seed=0):
    """The same with answers at random of some raters."""
    answer = data.answer.copy()
    own = np.isin(data.rater, raters)
    answer[own] = np.random.default_rng(seed).integers(data.n_classes, size=int(own.sum()))
    return Dataset.from_classes(
        data.name, data.cases, data.raters, data.classes, data.case_of_annotation, data.rater, answer,
        ordinal=data.ordinal,
    )  # fmt: skip


@pytest.fixture(scope="module")
def opinions():
    data, shift, _ = ratings(9)
    return shift, flag_raters(monitor(data))


def test_correlations_are_those_with_the_case_within_their_intervals():
    """1/√(1 + σ²) of scores whose truth has a spread of 1, however many others there are on a case."""
    spread = np.tile([0.5, 0.8, 1.2], 3)
    covered = []
    for seed in range(12):
        data, _ = scores(seed, 100, spread, np.zeros(9))
        keep = (data.case_of_annotation < 50) | (data.rater < 3)  # three on half of the cases, nine on the others
        case, rater = data.case_of_annotation[keep], data.rater[keep]
        data = Dataset.from_scores("s", data.cases, data.raters, case, rater, data.score[keep])
        found = following_of(data)
        true = 1 / np.sqrt(1 + spread**2)
        covered.append((found.rates.low <= true) & (true <= found.rates.high))
        assert found.mean == pytest.approx(true[data.rater].mean(), abs=0.1)
    assert np.mean(covered) > 0.9


def test_ordered_classes_are_scores_by_their_place():
    data, _, _ = ratings(1, n_cases=200, n_raters=30)
    found = score_raters(data)
    same = score_raters(
        Dataset.from_scores(
            "s", data.cases, data.raters, data.case_of_annotation, data.rater, data.answer.astype(float)
        )
    )
    for name in ("severity", "spread", "with_others", "attainable"):
        assert getattr(found, name) == pytest.approx(getattr(same, name), abs=1e-9), name


def test_who_follows_as_well_as_the_median_and_reads_higher_is_told_so_and_not_flagged(opinions):
    shift, found = opinions
    reading = found.following.scores
    median = np.nanmedian(reading.with_others)
    assert median == pytest.approx(0.57, abs=0.03)
    higher = np.flatnonzero((reading.with_others >= median) & (reading.severity > 1))
    assert higher.size == 2
    for rater in higher.tolist():
        assert found.kinds_of(rater) == ("shifted",)
        assert rater not in found.flagged()
        assert found.following.lost[rater] < 1
        (flag,) = [flag for flag in found.flags if flag.rater == rater]
        assert flag.words.startswith(f"Rates {reading.severity[rater]:.2f} classes (")
    said = found.words()
    shifted = "give clearly higher or lower ratings than the average rater. This does not count against them."
    assert shifted in said and said.count(" higher than the average rater") == 1
    assert "accura" not in said and "wrong" not in said
    assert shift[reading.severe & (reading.severity > 0)].min() > 0


def test_declaring_the_order_changes_what_is_said():
    plain, ordered = (flag_raters(monitor(ratings(0, ordinal=ordinal)[0])) for ordinal in (False, True))
    assert plain.following is None and ordered.following is not None
    assert plain.words().startswith("Cannot determine rater accuracy: on cases that the model assigns to “")
    assert "declare the order of the classes" in plain.words()
    assert ordered.words().startswith("No rater's correlation with the case scores is clearly below the limit (0.3")
    following = ordered.following
    assert following.acceptable == pytest.approx(following.mean / 2)
    limit = f"The limit of {following.acceptable:.2f} is half the mean correlation of all raters"
    assert ordered.words().count(limit) == 1
    assert "The limit" not in replace(following, default=False).words()


def test_no_sentence_contradicts_a_flag_by_other_evidence():
    found = flag_raters(monitor(ratings(0)[0]))
    assert not found.against() and least(found).startswith("No rater clearly has the weakest")
    flagged = replace(found, flags=(*found.flags, Flag(2, "spam", 0.001, "Evidence.")))
    assert f"{found.raters[2]} is flagged for other reasons." in flagged.words()
    assert least(flagged) == "Correlation with the case of each rater"


def test_who_does_not_look_at_the_case_is_flagged_and_costs_most():
    data = with_random(ratings(2, n_cases=600, n_raters=60, each=150)[0], [3, 4, 5])
    found = flag_raters(monitor(data))
    assert set(found.flagged()) == {3, 4, 5} == set(found.following.order()[:3].tolist())
    assert all("weak correlation" in found.kinds_of(rater) for rater in (3, 4, 5))
    lost, n = found.following.lost, data.annotations_of_raters
    assert (lost[[3, 4, 5]] > 0.9 * n[[3, 4, 5]]).all() and np.median(lost) < 0.3 * n[0]
    assert found.words().startswith("About 3 of 60 raters have a weak correlation with the case scores (below 0.")
    assert (
        ", and 3 of them are flagged. Flagged raters made 450 annotations, which are worth as much as " in found.words()
    )


def test_honest_raters_are_seldom_flagged():
    false = []
    for seed in range(8):
        data = with_random(ratings(seed, n_cases=300, n_raters=60)[0], range(6))
        flagged = following_of(data).flagged
        false.append(flagged[6:].sum() / max(flagged.sum(), 1))
    assert np.mean(false) < 0.1


def test_nobody_is_flagged_for_what_rests_on_accuracy():
    """By accuracy one who reads higher in the end got worse; one who turns the scale round does not follow."""
    data, _ = simulated(3, np.full(8, 0.9), n_cases=900, per_case=5, n_classes=5)
    answer, late = data.answer.copy(), data.case_of_annotation >= 500
    answer[data.rater == 2] = 4 - answer[data.rater == 2]
    answer[(data.rater == 4) & late] = np.minimum(answer[(data.rater == 4) & late] + 1, 4)
    vocabulary = data.cases, data.raters, data.classes
    turned = Dataset.from_classes(
        "x", *vocabulary, data.case_of_annotation, data.rater, answer, time=data.time, ordinal=True
    )
    table = monitor(turned)
    assert "drift" in {flag.rule for flag in table.flags}
    found = flag_raters(table)
    assert not OF_TRUE_CLASS & {flag.rule for flag in found.flags}
    assert found.flagged() == (2,) and "weak correlation" in found.kinds_of(2)
    assert found.following.rates.high[2] < 0


def test_gold_judges_by_correlation_with_gold():
    data, truth = scores(5, 200, (0.5, 0.5, 0.5, 0.5, 0.5, 3.0), (0, 0, 0, 0, 0, 0))
    with_gold = replace(data, gold_scores=truth)
    found = following_of(with_gold)
    assert found.judged_by == "gold" and found.by_gold.all() and (found.rates.n == 200).all()
    r = [np.corrcoef(data.score[data.rater == j], truth)[0, 1] for j in range(6)]
    assert found.rates.value == pytest.approx(r, abs=0.05)
    assert np.flatnonzero(found.flagged).tolist() == [5]
    by_others = following_of(with_gold, judged_by="model")
    assert not by_others.by_gold.any() and by_others.rates.value == pytest.approx(found.rates.value, abs=0.15)
    with pytest.raises(NotApplicableError, match="no gold case is annotated"):
        following_of(data, judged_by="gold")


def test_what_the_user_calls_acceptable_is_taken():
    data, _ = scores(6, 150, (0.5, 0.5, 0.5, 0.5, 0.5, 2.0))
    assert not following_of(data, acceptable=0.1).flagged.any()
    strict = following_of(data, acceptable=0.6)
    assert (strict.acceptable, strict.default) == (0.6, False)
    assert np.flatnonzero(strict.flagged).tolist() == [5]
    for wrong in ({"acceptable": 1.5}, {"q": 0.0}, {"level": 1.0}, {"judged_by": "me"}):
        with pytest.raises(InputError):
            following_of(data, **wrong)


@pytest.mark.parametrize("seed", range(5))
def test_of_noise_nothing_is_said(seed):
    data, _ = simulated(seed, np.full(8, 0.2), n_cases=60, per_case=3, n_classes=5)
    data = with_random(replace(data, ordinal=True), range(8), seed)
    found = following_of(data)
    assert found.why and found.mean is None and not found.flagged.any()
    assert np.isnan(found.rates.value).all() and np.isnan(found.lost).all()
    assert found.words().startswith("Cannot determine how closely raters follow the cases: ")
    assert not {"shift", "spread"} & {flag.rule for flag in found.flags()}


def test_unanimity_two_cases_and_single_annotations_claim_nothing():
    case, rater = np.divmod(np.arange(200), 4)
    unanimous = Dataset.from_classes("x", *names(50, 4, 3), case, rater, case % 3, ordinal=True)
    two = Dataset.from_classes(
        "x", *names(2, 3, 3), [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [0, 0, 1, 2, 2, 1], ordinal=True
    )
    single = Dataset.from_classes("x", *names(9, 3, 3), np.arange(9), np.arange(9) % 3, np.arange(9) % 3, ordinal=True)
    for data in (unanimous, two, single):
        found = flag_raters(monitor(data))
        assert found.words().startswith("Cannot determine how closely raters follow the cases: ")
        assert not found.flags and not found.following.n_judged
        assert not any(character.isdigit() for character in found.words().split(":")[0])


def test_spammers_do_not_silence_the_others():
    """Two who give the ends of the scale on all cases hide that the others agree."""
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=300)
    good = rng.random((300, 20)).argsort(axis=1)[:, :2]
    rater = np.hstack([good, np.tile([20, 21], (300, 1))]).ravel()
    case = np.repeat(np.arange(300), 4)
    answer = np.clip(truth[case] + rng.integers(-1, 2, case.size), 0, 4)
    answer = np.where(rater == 20, 0, np.where(rater == 21, 4, answer))
    data = Dataset.from_classes("x", *names(300, 22, 5), case, rater, answer, ordinal=True)
    assert following_of(data).why
    found = flag_raters(monitor(data))
    assert found.following.aside == found.flagged() == (20, 21)
    assert "Raters agree beyond chance only without r20 and r21, who are flagged" in found.words()
    assert np.isfinite(found.following.rates.value[:20]).all()


def test_what_has_no_order_has_nothing_to_follow():
    data, _ = simulated(1, np.full(5, 0.8), n_cases=50)
    assert not can_follow(data) and can_follow(replace(data, ordinal=True))
    two, _ = simulated(1, np.full(5, 0.8), n_cases=50, n_classes=2)
    assert not can_follow(replace(two, ordinal=True))
    with pytest.raises(NotApplicableError, match="three ordered classes"):
        following_of(data)
