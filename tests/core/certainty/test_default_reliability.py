"""Where γ opens: each rule with its sentence, and the marks."""

from dataclasses import replace

import numpy as np
import pytest

from core.certainty.default_reliability import default_reliability
from core.certainty.held_out_readers import held_out_curve
from core.certainty.truth_curve import truth_curve
from core.errors import InputError
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.learned_counts import learned_counts
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.plackett_luce.trust import MixturePlackettLuce
from core.plausibility.prirn import PrIRN


@pytest.fixture
def crowd(build):
    """120 cases of four raters who each say what λ says; gold is the largest class of λ."""
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(3), 120)
    rows = [(case, rater, rng.choice(3, p=share[case])) for case in range(120) for rater in range(4)]
    return replace(build(rows, 3), gold=share.argmax(axis=1).astype(np.int32))


def names(opening):
    return [mark.name for mark in opening.marks]


def test_gold_of_a_hundred_cases_decides(crowd):
    truth = truth_curve(crowd, DirichletCounts())
    opening = default_reliability(crowd, DirichletCounts(), beta=0.4, truth=truth)
    assert (opening.reliability, opening.source) == (truth.best, "gold")
    assert "120 cases with gold" in opening.reason and "cross-validated" in opening.reason
    assert f"{truth.cross_validated:.3f}" in opening.reason
    assert names(opening) == ["gold", "beta", "published"]
    assert "tried" not in opening.reason
    gold = opening.marks[0]
    assert (gold.reliability, gold.low, gold.high) == (truth.best, truth.low, truth.high)
    assert "does not decide" not in gold.sentence


@pytest.mark.parametrize(("gammas", "end"), [([0.01, 0.02], "highest"), ([50.0, 100.0], "lowest")])
def test_a_best_at_the_end_of_what_was_tried_is_said_to_be(crowd, gammas, end):
    opening = default_reliability(crowd, DirichletCounts(), truth=truth_curve(crowd, DirichletCounts(), gammas))
    assert opening.reason.endswith(f"This is the {end} γ tested.")


@pytest.mark.parametrize(("n", "source"), [(100, "gold"), (99, "beta")])
def test_it_takes_a_hundred(crowd, n, source):
    gold = crowd.gold.copy()
    gold[n:] = -1
    data = replace(crowd, gold=gold)
    opening = default_reliability(data, DirichletCounts(), beta=0.4, truth=truth_curve(data, DirichletCounts()))
    assert opening.source == source
    if source == "beta":
        assert opening.reliability == 0.4
        assert opening.reason.endswith("Gold is known for 99 cases; setting γ from gold requires at least 100 cases.")
        assert "too few cases to set γ" in opening.marks[0].sentence


@pytest.mark.parametrize(("beta", "gamma"), [(0.2, 0.2), (1.0, 1.0), (1.4, 1.0)])
def test_counts_open_at_the_exponent_of_dependence(crowd, beta, gamma):
    opening = default_reliability(crowd, DirichletCounts(), beta=beta)
    assert (opening.reliability, opening.source) == (gamma, "beta")
    shared = "A case with 4 annotations counts as if it had about 0.8." in opening.reason
    assert shared == ("because raters may make the same mistakes" in opening.reason)
    assert shared == (beta < 1)
    assert ("no sign of shared mistakes" in opening.reason) == (beta >= 1)
    assert opening.marks[0].reliability == gamma


def test_counts_without_an_exponent_open_at_the_default_and_say_so(crowd):
    opening = default_reliability(crowd, DirichletCounts())
    assert (opening.reliability, opening.source, names(opening)) == (1.0, "default", ["published"])
    assert "is unknown" in opening.reason


@pytest.mark.parametrize(
    ("model", "gamma"), [(PlackettLuce(), 3.0), (PrIRN(), 30.0), (GaussianScores(0.0, 0.0, 1.0, 2.0, 1.0), 1.0)]
)
def test_rankings_and_scores_open_at_their_defaults(crowd, model, gamma):
    opening = default_reliability(crowd, model, beta=0.3)
    assert (opening.reliability, opening.source) == (gamma, "default")
    why = "It can be calibrated only with gold"
    if isinstance(model, GaussianScores):  # there is no top class
        why = "Scores for the same case are treated as independent"
    assert opening.reason == f"γ = {gamma:g} (default). {why}."
    assert names(opening) == ["published"] and opening.prior is None
    assert opening.marks[0].reliability == gamma


def test_readers_mark_rankings_and_never_decide(rank):
    rng = np.random.default_rng(1)
    cases = []
    for _ in range(25):
        utility = rng.normal(0, 1.5, 4)
        cases.append([[[int(k)] for k in np.argsort(-(utility + rng.gumbel(size=4)))[:2]] for _ in range(4)])
    data, model = rank(cases, 4), PlackettLuce(n_burn=50)
    readers = held_out_curve(data, model, [0.05, 0.3, 1.0, 3.0, 20.0], n_draws=80)
    assert readers.at_end == ""
    opening = default_reliability(data, model, readers=readers)
    assert opening.reliability == 3.0 and names(opening) == ["readers", "published"]
    mark = opening.marks[0]
    assert (mark.reliability, mark.low, mark.high) == (readers.best, readers.low, readers.high)
    assert "predicted best at" in mark.sentence and "does not show how certain" in mark.sentence
    endless = default_reliability(
        data, model, readers=replace(readers, low=0.3, high=1e3, open_ends=(False, True))
    ).marks[0]
    assert "(0.3 or more). This γ" in endless.sentence and endless.open_ends == (False, True)
    assert names(default_reliability(data, PrIRN(), readers=held_out_curve(data, PrIRN()))) == ["published"]
    assert names(default_reliability(data, model, readers=replace(readers, at_end="lowest"))) == ["published"]


def test_the_readers_of_counts_offer_a_prior(crowd):
    """At α = γ/(best γ/α) the best γ of the held-out readers is the γ that is shown."""
    readers = held_out_curve(crowd, DirichletCounts(2.0))
    opening = default_reliability(crowd, DirichletCounts(2.0), beta=0.5, readers=readers)
    assert opening.prior == pytest.approx(0.5 / (readers.best / 2.0))
    assert held_out_curve(crowd, DirichletCounts(opening.prior)).best == pytest.approx(0.5, rel=1e-3)
    assert (
        opening.prior_sentence.startswith("With γ = 0.5, prior α = ") and "not a reliability" in opening.prior_sentence
    )
    assert "readers" not in names(opening)


def test_no_prior_is_offered_where_the_readers_give_no_maximum(build):
    data = build([(case, rater, case % 2) for case in range(6) for rater in range(3)], 2)
    opening = default_reliability(data, DirichletCounts(), readers=held_out_curve(data, DirichletCounts()))
    assert opening.prior is None and opening.prior_sentence == ""


@pytest.mark.parametrize("beta", [0.0, -1.0, np.nan, np.inf])
def test_an_exponent_that_is_none_is_refused(crowd, beta):
    with pytest.raises(InputError, match="β"):
        default_reliability(crowd, DirichletCounts(), beta=beta)


def test_a_default_that_nobody_published_is_not_called_published():
    data = load_sample("skin").select(cases=["skin-001", "skin-002"])
    (mark,) = default_reliability(data, MixturePlackettLuce()).marks
    assert (mark.name, mark.reliability) == ("default", 1.0) and "No published value exists" in mark.sentence
    (mark,) = default_reliability(data, PlackettLuce()).marks
    assert (mark.name, mark.reliability) == ("published", 3.0) and mark.sentence.startswith("Published")


def test_beta_is_told_for_the_annotations_of_the_typical_case(build):
    """Three cases of two annotations and one of ten: a case has two, not the mean of four."""
    rows = [(case, rater, rater % 2) for case, n in enumerate((2, 2, 2, 10)) for rater in range(n)]
    opening = default_reliability(build(rows, 2), DirichletCounts(), beta=0.5)
    assert "A case with 2 annotations counts as if it had about 1." in opening.reason


def test_counts_with_a_learned_prior_open_at_one_whatever_gold_and_dependence_say(crowd):
    learned = learned_counts(crowd)
    truth = truth_curve(crowd, learned.model)
    opening = default_reliability(crowd, learned.model, beta=0.4, truth=truth, prior=learned.prior)
    assert (opening.reliability, opening.source) == (1.0, "prior")
    assert opening.reason == f"γ = 1: each annotation counts once. {learned.prior.sentence()}"
