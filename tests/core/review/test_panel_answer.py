"""What the panel says is a matter of its annotations, not of the number of draws."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from core.annotations.dataset import Dataset
from core.certainty.first_place import exact_first_place
from core.errors import InputError
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN
from core.review.opinions import UNDETERMINED, Opinion
from core.review.panel_answer import panel_score, panel_word


def answers(*counts, n_classes=None, one_reader=False):
    """One case on which each class was named so often, each time by another reader."""
    n = sum(counts)
    codes = np.repeat(np.arange(len(counts)), counts)
    raters = np.zeros(n, int) if one_reader else np.arange(n)
    names = [f"r{i}" for i in range(raters.max(initial=0) + 1)]
    classes = list("abcdefgh"[: n_classes or len(counts)])
    return Dataset.from_classes("x", ["case"], names, classes, np.zeros(n, int), raters, codes)


def word(dataset, model=None, reliability=1.0, **how):
    return panel_word(model or DirichletCounts(), dataset, 0, reliability=reliability, **how)


@pytest.mark.parametrize(
    ("counts", "certainty", "said"),
    [
        ((20, 19), 0.563, "a = b"),
        ((3, 1), 0.8125, "a"),  # Beta(4, 2) above one half: 26/32
        ((2, 1), 0.6875, "a = b"),  # Beta(3, 2): 11/16
        ((2, 0), 0.875, "a"),  # Beta(3, 1): 7/8
        ((1, 1), 0.5, "a = b"),
    ],
)
def test_two_classes_by_the_beta_distribution(counts, certainty, said):
    """P(Beta(n + 1, m + 1) > 1/2), two classes, α = γ = 1."""
    from scipy.special import betainc

    found = word(answers(*counts, n_classes=2))
    assert found.certainty == pytest.approx(1 - betainc(counts[0] + 1, counts[1] + 1, 0.5), abs=2e-4)
    assert found.certainty == pytest.approx(certainty, abs=1e-3)
    assert (found.opinion.words(), found.decided, found.se) == (said, said == "a", 0.0)


def test_one_answer_of_one_reader_decides_nothing():
    """Its certainty is exactly 0.75, two classes; and however far one reader is trusted, it is one reader."""
    found = word(answers(1, n_classes=2))
    assert found.certainty == pytest.approx(0.75, abs=2e-4)
    assert (found.opinion, found.why) == (UNDETERMINED, "only one rater has annotated the case")
    trusted = word(answers(1, n_classes=2), reliability=50.0)
    assert trusted.certainty > 0.99
    assert not trusted.decided
    repeats = word(answers(4, n_classes=2, one_reader=True))
    assert (repeats.n_readers, repeats.decided) == (1, False)


def test_the_level_is_a_setting():
    data = answers(3, 1)  # 0.8125
    assert word(data, level=0.81).decided
    assert not word(data, level=0.82).decided
    assert "82%" in word(data, level=0.82).why


def test_trust_in_the_readers_can_decide_a_case():
    data = answers(3, 2)
    assert not word(data, reliability=1.0).decided
    assert word(data, reliability=10.0).opinion == Opinion.of_class("a")


def test_as_many_classes_are_tied_as_it_takes():
    """Of 10, 9 and 1 annotations the first two; of three alike all three; where the unnamed may win nobody is named."""
    assert word(answers(10, 9, 1)).opinion.words() == "a = b"
    assert word(answers(4, 4, 4)).opinion.words() == "a = b = c"
    assert word(answers(2, n_classes=8)).opinion == UNDETERMINED


@pytest.mark.parametrize(
    ("counts", "n_classes", "plausible"),
    [
        ((10, 9, 1), 3, ("a", "b")),  # 0.58 and 0.42: c is first in under 1%
        ((9, 9, 3), 3, ("a", "b")),
        ((6, 6, 3), 3, ("a", "b", "c")),
        ((4, 4, 4), 3, ("a", "b", "c")),
        ((1, 1), 6, ("a", "b")),  # all named, though others are first in over a tenth
        ((2,), 8, ("a",)),
        ((4, 4, 1, 1), 4, ("a", "b", "c", "d")),  # c and d are equally probable: both or neither
    ],
)
def test_the_plausible_set_is_the_fewest_named_classes_that_reach_95_percent(counts, n_classes, plausible):
    """By integration and from first principles by a million draws of the shares."""
    data = answers(*counts, n_classes=n_classes)
    found = word(data).opinion
    assert tuple(sorted(found.plausible)) == plausible
    shape = np.ones(n_classes) + np.append(counts, np.zeros(n_classes - len(counts)))
    first = np.random.default_rng(5).dirichlet(shape, 1_000_000).argmax(axis=1)
    chance = np.bincount(first, minlength=n_classes)[: len(counts)] / 1e6
    held = chance[["abcdefgh".index(name) for name in plausible]]
    assert held.sum() >= 0.95 or len(plausible) == len(counts)
    assert held[held > held.min() + 0.002].sum() < 0.95  # without the least probable, of which several may be alike


def test_one_reader_and_ordered_classes_have_a_plausible_set():
    """Of one reader what they named; of ordered classes what the model holds plausible, named or not."""
    assert word(answers(1, n_classes=4)).opinion.plausible == ("a",)
    scale = Dataset.from_classes(
        "x", ["i", "j"], list("rst"), list("abcde"), [0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [1, 3, 2, 2, 2], ordinal=True
    )
    model = OrdinalTruth()
    chance = model.probability(scale, 1.0)[0]
    found = panel_word(model, scale, 0, reliability=1.0).opinion.plausible
    held = sum(chance["abcde".index(name)] for name in found)
    assert held >= 0.95 and held - min(chance["abcde".index(name)] for name in found) < 0.95


def test_a_decided_panel_has_no_plausible_set_and_a_case_of_nobody_has_none():
    assert word(answers(3, 1)).opinion.plausible is None
    data = Dataset.from_classes("x", ["i", "j"], ["r"], ["a", "b"], [0], [0], [0])
    assert panel_word(DirichletCounts(), data, 1, reliability=1.0).opinion.plausible is None


def test_classes_that_only_simulation_error_sets_apart_come_into_the_set_together():
    """Four raters name a first, four b, one c and one d: c and d are equally probable, whatever the seed."""
    first = [0] * 4 + [1] * 4 + [2, 3]
    raters = [f"r{place}" for place in range(10)]
    data = Dataset.from_rankings(
        "r", ["case"], raters, list("abcd"), [0] * 10, list(range(10)), list(range(11)), first, [0] * 10
    )
    for seed in range(10):
        found = panel_word(PlackettLuce(), data, 0, reliability=1.0, seed=seed).opinion.plausible
        assert sorted(found) == list("abcd")


def test_nobody_has_answered():
    data = Dataset.from_classes("x", ["i", "j"], ["r"], ["a", "b"], [0], [0], [0])
    found = panel_word(DirichletCounts(), data, 1, reliability=1.0)
    assert (found.opinion, found.n_readers, found.why) == (UNDETERMINED, 0, "nobody has annotated")


class Coin:
    """A model whose draws name class a first with one probability."""

    name = "coin"

    def __init__(self, chance):
        self.chance, self.asked = chance, []

    def draws(self, dataset, *, reliability, n_draws, seed, cases):
        self.asked.append(n_draws)
        first = np.random.default_rng(seed).random(n_draws) >= self.chance
        yield 0, SimpleNamespace(classes=np.array([0, 1]), top=first[:, None].astype(int), n_draws=n_draws, ess=n_draws)


def test_draws_are_added_until_they_tell():
    """Far from 0.80 a thousand do; at 0.81 it takes more; at 0.80 no number does, and the panel is undecided."""
    data = answers(2, 1)
    clear, close, never = Coin(0.95), Coin(0.815), Coin(0.8)
    assert word(data, clear).opinion == Opinion.of_class("a")
    assert clear.asked == [1000]
    assert word(data, close).decided
    assert len(close.asked) > 1
    found = word(data, never)
    assert never.asked == [1000, 4000, 16_000, 64_000]
    assert not found.decided
    assert found.opinion.words() in ("a = b", "cannot be determined")
    few = Coin(1.0)
    word(data, few, n_draws=5)
    assert few.asked[1] == 20  # five draws that are all alike tell little


def test_what_it_says_does_not_hang_on_the_seed():
    """Cases of the skin sample under Plackett-Luce: two seeds say the same of nearly all, and never two classes."""
    data = load_sample("skin")
    pairs = [
        [panel_word(PlackettLuce(), data, case, reliability=3.0, seed=seed) for seed in (0, 1)] for case in range(60)
    ]
    assert sum(first.decided != second.decided for first, second in pairs) <= 2
    for first, second in pairs:
        if first.decided and second.decided:
            assert first.opinion == second.opinion
    assert 0 < sum(first.decided for first, _ in pairs) < 60


def test_prirn_is_exact_and_agrees_with_its_draws():
    data = load_sample("skin")
    model = PrIRN()
    for case in range(5):
        found = panel_word(model, data, case, reliability=10.0)
        _, draws = next(model.draws(data, reliability=10.0, n_draws=20_000, seed=1, cases=range(case, case + 1)))
        lead = np.bincount(draws.top[:, 0], minlength=len(draws.classes) + 1)[:-1].max() / 20_000
        assert found.se == 0.0
        assert found.certainty == pytest.approx(lead, abs=4 * 0.5 / np.sqrt(20_000))


@pytest.mark.parametrize("model", [DirichletCounts(), PrIRN()])
def test_exact_chances_of_the_named_and_the_unnamed_make_one(model):
    """Eight classes, one of them named: the seven others are alike, and drawn as often."""
    data = answers(2, n_classes=8)
    codes, chance = exact_first_place(model, data, 0, 0.5)
    _, draws = next(model.draws(data, reliability=0.5, n_draws=20_000, seed=1, cases=range(1)))
    assert codes.tolist() == [0]
    assert chance.sum() == pytest.approx(1.0, abs=1e-9)
    assert chance[1] == pytest.approx((draws.top[:, 0] == 1).mean(), abs=4 * 0.5 / np.sqrt(20_000))


def test_a_level_below_one_half_is_refused():
    with pytest.raises(InputError):
        word(answers(2, 1), level=0.4)


def test_the_panels_score_holds_what_a_colleague_would_say_by_the_predictive_t():
    model = GaussianScores(None, 4.0, 0.7, 2.5, 3.0)
    data = Dataset.from_scores("s", list("ab"), list("xyz"), [0, 0, 0, 1], [0, 1, 2, 0], [3.0, 4.0, 6.0, 5.0])
    found = panel_score(model, data, 0, reliability=2.0)
    posterior = model.posterior(data, 2.0)
    scale = np.sqrt(posterior.b[0] * (posterior.k[0] + 1) / (posterior.a[0] * posterior.k[0]))
    wanted = stats.t(2 * posterior.a[0], posterior.m[0], scale).ppf([0.025, 0.975])
    assert found.score == posterior.m[0] and found.within == pytest.approx(tuple(wanted))
    low, high = found.within
    assert Opinion.of_score(low).agrees_with(found) and Opinion.of_score(high).agrees_with(found)
    assert not Opinion.of_score(low - 1e-6).agrees_with(found) and not UNDETERMINED.agrees_with(found)
    one_reader = panel_score(model, data, 1, reliability=2.0)
    assert one_reader == UNDETERMINED
    ends = [end[1] for end in posterior.of_colleague()]
    assert one_reader.plausible == pytest.approx(ends)
    assert Opinion.from_json(one_reader.to_json()).plausible == one_reader.plausible
    assert Opinion.from_json(found.to_json()) == found and found.decided and found.kind == "score"


def test_scores_that_make_no_sense_are_refused():
    for wrong in (lambda: Opinion.of_score(np.nan), lambda: Opinion.of_score(1, (2, 3))):
        with pytest.raises(InputError):
            wrong()
