"""What changes without some raters: against fits and votes of the data without them."""

import time
from dataclasses import replace

import numpy as np
import pytest

from core.agreement.krippendorff import krippendorff_alpha
from core.annotations.dataset import Dataset
from core.errors import InputError, NotFoundError
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.raters.influence import _tops, influence
from tests.core.raters.raters_simulated import names, simulated
from tests.speed import scaled


def crowd(seed=1, per_case=3, **how):
    return simulated(seed, np.r_[np.full(7, 0.7), 0.1], n_cases=300, per_case=per_case, **how)


def test_changed_cases_of_a_vote_are_those_of_a_vote_without_the_raters():
    data, _ = crowd(per_case=6)
    found = influence(data, MajorityVote().fit(data), ["r7", "r6"])
    before = MajorityVote().fit(data).top_class()
    rest = data.select(raters=data.raters[:6])
    tops = dict(zip(rest.cases, MajorityVote().fit(rest).top_class(), strict=True))
    after = np.array([tops[case] for case in data.cases])
    assert found.changed.tolist() == np.flatnonzero((before >= 0) & (after >= 0) & (before != after)).tolist()
    assert found.undecided.tolist() == np.flatnonzero((before >= 0) & (after == -1)).tolist()
    assert found.decided.tolist() == np.flatnonzero((before == -1) & (after >= 0)).tolist()
    assert min(found.n_changed, found.undecided.size, found.decided.size) > 0
    assert found.n_annotations == (data.rater >= 6).sum()
    assert found.n_cases == np.unique(data.case_of_annotation[data.rater >= 6]).size
    assert found.n_without == 0


@pytest.mark.parametrize("beta", [1.0, 0.4])
def test_changed_cases_of_a_model_are_by_its_own_parameters(beta):
    """A loop over cases and annotations; with every annotation it is the fit's own most probable class."""
    data, _ = crowd(per_case=4)
    fit = DawidSkene("pooled").fit(data)
    out = {"r7", "r2"}

    def top(case, gone):
        score = np.log(np.maximum(fit.prevalence, 1e-300))
        for a in data.annotations_of(case):
            if data.raters[data.rater[a]] not in gone:
                score = score + beta * np.log(np.maximum(fit.confusion[data.rater[a], :, data.answer[a]], 1e-300))
        return int(score.argmax())

    pairs = [(top(case, ()), top(case, out)) for case in range(data.n_cases)]
    found = influence(data, fit, sorted(out), beta=beta)
    assert found.changed.tolist() == [case for case, (first, second) in enumerate(pairs) if first != second]
    assert found.n_changed == found.changed.size > 0
    if beta == 1.0:
        assert [first for first, _ in pairs] == fit.top_class().tolist()


def test_agreement_is_that_of_the_data_without_them():
    data, _ = crowd()
    found = influence(data, DawidSkene("pooled").fit(data), ["r7"])
    rest = data.select(raters=data.raters[:7])
    assert found.alpha[0].value == krippendorff_alpha(data).value
    assert found.alpha[1].value == krippendorff_alpha(rest).value
    assert found.alpha[1].value > found.alpha[0].value
    assert found.percent[1].value > found.percent[0].value


def test_held_out_scores_are_asked_for_with_the_raters_names():
    data, _ = crowd()
    asked = []

    def score(dataset, raters):
        asked.append((dataset is data, raters))
        return -1.5, -1.25

    fit = DawidSkene("pooled").fit(data)
    assert influence(data, fit, ["r7", "r7"], held_out=score).held_out == (-1.5, -1.25)
    assert asked == [(True, ("r7",))]
    assert influence(data, fit, ["r7"]).held_out is None


def test_gold_tells_what_leaving_out_is_worth():
    """Votes of 3 raters, one of whom is nearly always wrong; shares of ties on gold cases, by hand."""
    data, truth = crowd()
    data = replace(data, gold=np.where(np.arange(300) < 200, truth, -1).astype(np.int32))
    found = influence(data, MajorityVote().fit(data), ["r7"])
    shares = []
    for gone in (-1, 7):
        right = []
        for case in range(200):
            rows = [a for a in data.annotations_of(case) if data.rater[a] != gone]
            counts = np.bincount(data.answer[rows], minlength=4)
            best = counts == counts.max()
            right.append(best[truth[case]] / best.sum())
        shares.append(np.mean(right))
    assert found.n_gold == 200
    assert found.gold == pytest.approx(shares)
    assert found.gold[1] > found.gold[0]


def test_cases_that_nobody_else_annotated_are_counted_and_are_no_change():
    data = Dataset.from_classes("x", *names(3, 3, 2), [0, 1, 1, 2, 2], [0, 0, 1, 1, 2], [0, 0, 0, 1, 1])
    found = influence(data, MajorityVote().fit(data), ["r0"])
    assert (found.n_without, found.n_changed, found.undecided.size) == (1, 0, 0)


def test_gold_on_cases_that_nobody_else_annotated_counts_neither_with_the_rater_nor_without():
    """By hand: r0 is right alone on case 0; case 1 is wrong with r0, a tie without; case 2 is right without r0."""
    data = Dataset.from_classes("x", *names(3, 3, 2), [0, 1, 1, 1, 2, 2], [0, 0, 1, 2, 1, 2], [0, 0, 0, 1, 1, 1])
    data = replace(data, gold=np.array([0, 1, 1], np.int32))
    found = influence(data, MajorityVote().fit(data), ["r0"])
    assert (found.n_without, found.n_gold) == (1, 2)
    assert found.gold == pytest.approx(((0 + 1) / 2, (1 / 2 + 1) / 2))


def test_of_two_raters_one_can_be_left_out_and_agreement_is_undefined():
    data, _ = simulated(2, [0.9, 0.6], n_cases=40, per_case=2)
    found = influence(data, MajorityVote().fit(data), ["r1"])
    assert found.alpha[1].value is None
    assert "no case has two" in found.alpha[1].note


def test_unanimous_answers_do_not_change():
    case, rater = np.divmod(np.arange(200), 4)
    data = Dataset.from_classes("x", *names(50, 4, 3), case, rater, case % 3)
    found = influence(data, DawidSkene("pooled").fit(data), ["r0"])
    assert (found.n_changed, found.undecided.size, found.decided.size) == (0, 0, 0)


def test_known_cases_that_a_fit_holds_do_not_change_and_judge_nothing():
    data, truth = crowd()
    known = np.where(np.arange(300) < 200, truth, -1).astype(np.int32)
    data = replace(data, gold=known)
    free, held = DawidSkene("pooled").fit(data), DawidSkene("pooled", use_gold=True).fit(data)
    found = influence(data, held, ["r7", "r2"])
    assert found.gold is None and found.n_gold == 0
    assert found.n_changed > 0 and found.changed.min() >= 200
    assert influence(data, free, ["r7", "r2"]).changed.min() < 200
    tops = _tops(data, held, np.arange(300), data.rater != 7, 1.0)
    assert (tops[:200].sum(axis=1) == 1).all() and (tops[:200].argmax(axis=1) == truth[:200]).all()


def test_it_takes_a_click_on_a_hundred_thousand_annotations():
    """Twenty raters, 5 on each of 20,000 cases; a second of processor time at most, once compiled."""
    data, _ = simulated(3, np.full(20, 0.8), n_cases=20_000, per_case=5)
    fit = DawidSkene("pooled").fit(data)
    influence(data, fit, ["r0"])
    started = time.process_time()
    influence(data, fit, ["r1"])
    assert time.process_time() - started < scaled(1.0, time.process_time)


def test_impossible_requests_are_refused():
    data, _ = crowd()
    fit = MajorityVote().fit(data)
    with pytest.raises(NotFoundError):
        influence(data, fit, ["nobody"])
    for raters in ([], list(data.raters)):
        with pytest.raises(InputError, match="at least one must remain"):
            influence(data, fit, raters)
    with pytest.raises(InputError, match="β"):
        influence(data, fit, ["r7"], beta=0.0)
    with pytest.raises(InputError, match="fit"):
        influence(data.select(raters=data.raters[:5]), fit, ["r1"])
