"""What one more opinion would change: against adding the opinion and fitting again."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty._next_kernels import next_answers
from core.certainty.first_place import first_place
from core.certainty.next_opinion import next_opinion
from core.certainty.top_sets import annotation_certainty
from core.errors import NotApplicableError
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN
from core.rankings.irn import irn
from core.reducers import protocol

RANKINGS = [[[0], [1]], [[1, 0]], [[2]]]
OTHERS = [[[0]], [[1], [2, 3]]]


def ranked(*cases, n_classes=6):
    """Rankings of several cases."""
    ptr, codes, ranks, case_of, rater = [0], [], [], [], []
    for case, rankings in enumerate(cases):
        for number, blocks in enumerate(rankings):
            for rank, block in enumerate(blocks):
                codes += block
                ranks += [rank] * len(block)
            ptr.append(len(codes))
            case_of.append(case)
            rater.append(number)
    return Dataset.from_rankings(
        "test",
        [f"case {case}" for case in range(len(cases))],
        [str(number) for number in range(max(rater) + 1)],
        [str(k) for k in range(n_classes)],
        np.array(case_of),
        np.array(rater),
        np.array(ptr),
        np.array(codes),
        np.array(ranks, float),
    )


def counted(*cases, n_classes=6):
    """Counts of single classes."""
    return ranked(*([[[k]] for k in np.repeat(np.arange(len(n)), n)] for n in cases), n_classes=n_classes).as_classes()[
        0
    ]


def with_answer(dataset, k):
    """The first case with one more rater who names class k."""
    rankings = [dataset.blocks_of(a) for a in dataset.annotations_of(0)]
    longer = ranked([*rankings, [[k]]], n_classes=dataset.n_classes)
    return longer if dataset.kind == "ranking" else longer.as_classes()[0]


@pytest.mark.parametrize("reliability", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_counts_are_what_a_new_fit_says_on_average_over_answers(reliability, alpha):
    dataset, n = counted([3, 2, 1]), 100_000
    model = DirichletCounts(alpha)
    found = next_opinion(model, dataset, reliability=reliability)
    shape = np.array([3, 2, 1, 0, 0, 0]) * reliability + alpha
    certainty, variance = [], []
    for k in range(6):
        fitted = annotation_certainty(model, with_answer(dataset, k), reliability=reliability, n_draws=n, max_top=1)
        certainty.append(fitted.certainty[0, 0])
        variance.append(fitted.se[0, 0] ** 2)
    answered = shape / shape.sum()
    error = np.sqrt(answered**2 @ variance)
    assert found.after[0] == pytest.approx(answered @ certainty, abs=4 * error + 2e-4)
    now = annotation_certainty(model, dataset, reliability=reliability, n_draws=n, max_top=1)
    assert found.now[0] == pytest.approx(now.certainty[0, 0], abs=4 * now.se[0, 0] + 2e-4)
    assert np.isinf(found.ess[0])
    assert found.after_se[0] == 0


@pytest.mark.parametrize("reliability", [1.0, 2.5])
def test_counts_are_the_draws_in_hand_reweighted(reliability):
    """A[k, c] = E[θ_k] E[θ_k^γ 1(top-1 = c)] / E[θ_k^γ] over draws of all classes, drawn apart from the library."""
    rng, n = np.random.default_rng(1), 400_000
    theta = rng.dirichlet(np.array([3, 2, 1, 0, 0, 0]) * reliability + 1.0, size=n)
    top = theta.argmax(axis=1)
    joint = np.empty((6, 6))
    for k in range(6):
        weight = theta[:, k] ** reliability
        joint[k] = theta[:, k].mean() * np.bincount(top, weight, 6) / weight.sum()
    found = next_opinion(DirichletCounts(), counted([3, 2, 1]), reliability=reliability)
    expected = joint.max(axis=1).sum()
    assert found.after[0] == pytest.approx(expected, abs=0.004)  # standard errors are near 0.001
    assert found.gain[0] == pytest.approx(expected - joint.sum(axis=0).max(), abs=0.004)


def test_at_reliability_one_the_gain_is_the_rise_of_counts():
    found = next_opinion(DirichletCounts(), counted([1, 1], [4], [2, 1, 1], [0, 3, 2]), reliability=1.0)
    assert found.gain == pytest.approx(np.maximum(found.after - found.now, 0), abs=2e-4)
    assert found.gain[0] > 0.02


def test_certainty_may_fall_though_the_gain_does_not():
    """A lone annotation that counts ten times is nearly sure of itself; the next one may say something else."""
    found = next_opinion(DirichletCounts(), counted([1]), reliability=10.0)
    assert found.after[0] < found.now[0] - 0.05
    assert found.gain[0] >= 0
    assert "lower it" in found.words(0)


def test_an_even_vote_between_two_classes_by_hand():
    """Beta(2, 2), and after either annotation Beta(3, 2) or its mirror image: P(θ > ½) = 11/16."""
    even = counted([1, 1], n_classes=2)
    found = next_opinion(DirichletCounts(), even, reliability=1.0)
    assert (found.now[0], found.after[0], found.gain[0]) == pytest.approx((0.5, 11 / 16, 3 / 16), abs=2e-4)
    assert found.words(0) == (
        "Certainty is 50% now; one more opinion is expected to raise it to 69%. The chosen class would be correct 19 "
        "percentage points more often."
    )


def test_of_a_case_that_nobody_annotated_every_class_is_chosen_as_well_without_the_opinion():
    """All are alike: without it any choice is right one time in six."""
    nobody = ranked([], [[[0]]]).as_classes()[0]
    found = next_opinion(DirichletCounts(), nobody, reliability=1.0)
    assert len(nobody.annotations_of(0)) == 0 and found.now[0] == pytest.approx(1 / 6, abs=2e-4)
    assert found.gain[0] == pytest.approx(found.after[0] - 1 / 6, abs=2e-4) and found.gain[0] > 0.1


@pytest.mark.parametrize("ties", ["split", "full"])
def test_prirn_is_what_a_new_fit_says(ties):
    """By refitting: the summed weight of the case, not its number of raters, is what the new annotation is added to."""
    dataset, model, reliability = ranked(RANKINGS), PrIRN(ties=ties), 10.0
    found = next_opinion(model, dataset, reliability=reliability)
    named, shape, n_rest = model.shapes(dataset, 0, reliability)
    answered = np.append(shape, np.full(n_rest, model.epsilon))
    after = []
    for k in [*named, *range(3, 6)]:
        _, shapes, n_left = model.shapes(with_answer(dataset, k), 0, reliability)
        after.append(first_place(shapes, model.epsilon, n_left).max())
    assert found.after[0] == pytest.approx(answered @ after / answered.sum(), abs=1e-9)
    assert irn(dataset, ties).weight.sum() > 3
    assert found.now[0] == pytest.approx(first_place(shape, model.epsilon, n_rest).max())


@pytest.mark.parametrize(
    "rankings, n_classes, reliability, alpha",
    [
        (RANKINGS, 6, 1.0, 1.0),
        (RANKINGS, 5, 1.5, 2.0),
        ([[[0], [1]], [[1]]], 3, 2.0, 1.5),  # one class that nobody named
        ([[[0]]], 8, 1.0, 1.0),
    ],
)
def test_plackett_luce_is_what_a_new_fit_says_of_every_answer(rankings, n_classes, reliability, alpha):
    """Also where a class is named for the first time and so comes by a prior of its own."""
    model, n = PlackettLuce(alpha), 60_000
    dataset = ranked(rankings, n_classes=n_classes)
    ((_, draws),) = model.draws(dataset, reliability=reliability, n_draws=n, seed=0)
    first = np.ascontiguousarray(draws.top[:, 0])
    answered, effective, after = next_answers(
        np.uint32(1), draws.share, draws.rest, first, draws.n_rest, reliability, alpha
    )
    n_named = len(draws.classes)
    assert answered == pytest.approx(np.append(draws.share.mean(axis=0), draws.rest.mean()))
    for k in range(n_named + 1):
        ((_, again),) = model.draws(with_answer(dataset, k), reliability=reliability, n_draws=n, seed=1)
        refit = np.bincount(again.top[:, 0], minlength=len(again.classes) + 1) / n
        if k < n_named:
            refit[-1] /= max(draws.n_rest, 1)
            columns = [*range(n_named), n_named + 1]
        else:
            refit[-1] /= max(draws.n_rest - 1, 1)
            columns = [*range(n_named + 2)]
        variance = refit * (1 - refit) * (1 / (effective[k] * draws.ess) + 1 / again.ess)
        assert np.abs(after[k, columns] - refit).max() < 4.5 * np.sqrt(variance.max())


def test_plackett_luce_adds_the_answers_up():
    dataset = ranked(RANKINGS, OTHERS)
    model, n = PlackettLuce(), 40_000
    found = next_opinion(model, dataset, reliability=2.0, n_draws=n)
    certainty, answered = [], []
    ((_, draws),) = model.draws(dataset, reliability=2.0, n_draws=n, seed=5, cases=range(1))
    answered = np.append(draws.share.mean(axis=0), np.full(3, draws.rest.mean() / 3))
    for k in range(6):
        again = annotation_certainty(
            model, with_answer(dataset.select(cases=["case 0"]), k), reliability=2.0, n_draws=n
        )
        certainty.append(again.certainty[0, 0])
    assert found.after[0] == pytest.approx(answered @ certainty, abs=4 * found.after_se[0] + 0.01)
    assert found.after_se[0] < 0.01
    assert (found.gain >= 0).all()
    assert (found.ess < n).all()


def test_all_cases_in_one_pass_are_each_case_by_itself():
    for model, dataset in (
        (DirichletCounts(), counted([3, 1], [1, 1, 1], [0, 2])),
        (PrIRN(), ranked(RANKINGS, OTHERS, RANKINGS[:1])),
        (PlackettLuce(), ranked(RANKINGS, OTHERS, RANKINGS[:1])),
    ):
        together = next_opinion(model, dataset, reliability=2.0, n_draws=200)
        for case in range(3):
            alone = next_opinion(model, dataset, reliability=2.0, n_draws=200, cases=range(case, case + 1))
            assert alone.cases == (dataset.cases[case],)
            for name in ("now", "after", "after_se", "gain", "ess"):
                assert getattr(alone, name)[0] == getattr(together, name)[case]


def test_the_size_of_chunks_changes_nothing(monkeypatch):
    dataset = counted([3, 1], [1, 1, 1], [0, 2], [4], [2, 2])
    whole = next_opinion(DirichletCounts(), dataset, reliability=2.0)
    assert len(set(whole.after)) == 5
    monkeypatch.setattr(protocol, "CHUNK_CASES", 1)
    for name in ("now", "after", "gain"):
        assert (
            getattr(next_opinion(DirichletCounts(), dataset, reliability=2.0), name).tolist()
            == getattr(whole, name).tolist()
        )


def test_few_draws_are_said():
    dataset = ranked(RANKINGS)
    found = next_opinion(PlackettLuce(), dataset, reliability=3.0, n_draws=60)
    assert found.after_se[0] > 0.02
    after, two = 100 * found.after[0], 200 * found.after_se[0]
    assert found.words(0).endswith(
        f" This is a rough estimate ({after:.0f}% ± {two:.0f} points), because it is effectively based on few draws."
    )


def test_a_case_without_an_answer_gains_what_the_first_one_tells():
    """Of K equal classes any guess is right in 1/K; an annotation makes it Beta(2, 1): P(θ > ½) = 3/4 of two."""
    nobody = counted([1, 0], n_classes=2).select(raters=["0"])
    empty = replace(nobody, case_ptr=np.array([0, 0]), rater=nobody.rater[:0], answer=nobody.answer[:0])
    found = next_opinion(DirichletCounts(), empty, reliability=1.0)
    assert (found.now[0], found.after[0], found.gain[0]) == pytest.approx((0.5, 0.75, 0.25), abs=2e-4)


def test_a_case_that_cannot_get_better_is_said():
    found = next_opinion(DirichletCounts(), counted([50]), reliability=1.0)
    assert found.words(0) == (
        "Certainty is 100% now; one more opinion is not expected to change it. The chosen class would "
        "be correct about as often as now."
    )


@pytest.mark.parametrize(("n_named", "n_rest"), [(1, 0), (3, 0), (2, 1), (3, 2), (1, 7)])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_after_every_answer_some_class_is_first(n_named, n_rest, alpha):
    """Probabilities of first places sum to 1 where each class that nobody has named is counted."""
    rng = np.random.default_rng(n_named + n_rest)
    masses = rng.dirichlet(np.ones(n_named + (n_rest > 0)), 500)
    share, rest = masses[:, :n_named].copy(), masses[:, n_named:].sum(axis=1)
    first = np.where(rest > share.max(axis=1), n_named, share.argmax(axis=1)).astype(np.int32)
    answered, effective, after = next_answers(np.uint32(1), share, rest, first, n_rest, 1.5, alpha)
    some = n_named + (n_rest > 0)  # one that nobody has named is no answer where all are
    each = np.ones((n_named + 1, n_named + 2))
    each[:, -1] = n_rest
    each[n_named, -1] = n_rest - 1
    assert (after * each).sum(axis=1)[:some] == pytest.approx(1)
    assert answered.sum() == pytest.approx(1) and (after >= 0).all()
    assert ((effective[:some] > 0) & (effective[:some] <= 1 + 1e-12)).all()


def test_scores_have_no_next_class():
    scores = Dataset.from_scores("s", ["1"], ["a"], np.zeros(1, int), np.zeros(1, int), np.ones(1))
    with pytest.raises(NotApplicableError, match="with this model"):
        next_opinion(GaussianScores(0.0, 0.0, 1.0, 2.0, 1.0), scores, reliability=1.0)
