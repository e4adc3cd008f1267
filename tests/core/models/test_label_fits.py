"""The truth of every label, with and without a trust in the raters that labels share."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.ingest.samples import load_sample
from core.models import label_fits
from core.models.dawid_skene import DawidSkene
from core.models.held_out import held_out, prepare
from core.models.label_fits import fit_labels, log_factors, with_label_dependence
from core.models.one_coin import OneCoin
from core.models.stopping import StoppingRule
from core.models.tempering import truth_beta, truth_doubt
from tests.benchmarks.label_trust import losses


@pytest.fixture(scope="module")
def street():
    return load_sample("street")


@pytest.fixture(scope="module")
def shared(street):
    return fit_labels(street)


@pytest.mark.parametrize("model", [DawidSkene(), DawidSkene("none", StoppingRule(50)), OneCoin()])
def test_without_the_shared_trust_it_is_the_fit_of_each_label_alone_to_the_bit(street, model):
    found = fit_labels(street, model, shared=False)
    assert not found.log_factor.any()
    for label, fit in zip(street.classes, found.fits, strict=True):
        alone = model.fit(street.as_classes(label)[0])
        assert (fit.class_probability == alone.class_probability).all()
        assert (fit.confusion == alone.confusion).all()
        assert (fit.log_likelihood, fit.settings) == (alone.log_likelihood, alone.settings)


def test_one_label_alone_is_todays_fit_of_its_two_classes(street):
    only = Dataset.from_sets(
        "d", street.cases, street.raters, ("bus",), street.case_of_annotation, street.rater,
        np.arange(street.n_annotations + 1), np.zeros(street.n_annotations, int),
    )  # fmt: skip
    found = fit_labels(only, shared=False)
    assert (found.fits[0].class_probability == DawidSkene().fit(only.as_classes("bus")[0]).class_probability).all()


def test_shared_trust_finds_who_overlooks_and_who_names_too_much(street, shared):
    factor = dict(zip(shared.raters, shared.log_factor, strict=True))
    assert min(factor, key=lambda name: factor[name][1]) == "Farah"
    assert min(factor, key=lambda name: factor[name][0]) == "Goran"
    assert factor["Farah"][1] < -1 < factor["Farah"][0]
    assert factor["Goran"][0] < -1 < factor["Goran"][1]


def test_shared_trust_is_nearer_to_the_truth_where_raters_gave_few_annotations():
    """40 raters with 12 annotations each; over ten seeds the gain is 0.037 ± 0.005."""
    found = np.array([losses(seed) for seed in (0, 1)])
    assert (found[:, 1] < found[:, 0]).all()


def test_where_no_rater_is_unlike_the_pool_the_shared_trust_is_the_pool_of_each_label(street, monkeypatch):
    alone = fit_labels(street, shared=False)
    monkeypatch.setattr(label_fits, "log_factors", lambda counts, of_pool, factor, variance: (0 * factor, variance))
    found = fit_labels(street)
    for one, own in zip(found.fits, alone.fits, strict=True):
        assert one.confusion == pytest.approx(own.confusion, abs=1e-6)
        assert one.class_probability == pytest.approx(own.class_probability, abs=1e-6)


def test_factors_are_at_their_mode(street):
    rng = np.random.default_rng(3)
    counts = rng.gamma(2.0, 5.0, (4, 6, 2, 2))
    of_pool = rng.normal(1.5, 0.5, (4, 2))
    factor, variance = np.zeros((6, 2)), np.ones(2)
    for _ in range(50):
        factor, variance = log_factors(counts, of_pool, factor, variance)
    right, n = np.einsum("ljzz->jz", counts), counts.sum(axis=2)
    rate = 1 / (1 + np.exp(-(of_pool[:, None, :] + factor)))
    assert right - (n * rate).sum(axis=0) - factor / variance == pytest.approx(0, abs=1e-6)
    # The variance is at the mode of N(f; 0, v) and inverse gamma(1, 1), f² being that expected of six raters.
    expected = (factor**2 + 1 / ((n * rate * (1 - rate)).sum(axis=0) + 1 / variance)).sum(axis=0)
    slope = -6 / (2 * variance) + expected / (2 * variance**2) - 2 / variance + 1 / variance**2
    assert slope == pytest.approx(0, abs=1e-6)


def test_sets_and_their_probability_are_those_of_independent_labels(shared):
    likely = shared.probability[0]
    assert shared.none == shared.labels[-1]  # it follows from the others
    assert shared.set_probability[0] == pytest.approx(np.prod([max(p, 1 - p) for p in likely[:-1]]), abs=1e-12)
    assert shared.sets()[0] == "; ".join(label for label, p in zip(shared.labels, likely, strict=True) if p > 0.5)
    table = shared.to_frame("cases")
    assert list(table.columns)[:4] == ["case", "labels", "probability", "P(pedestrian)"]


def test_a_label_that_nobody_named_and_one_that_all_named_are_fitted():
    names = ("d", ("a", "b", "c"), ("r", "s", "t"), ("x", "y", "z"))
    whose = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
    dataset = Dataset.from_sets(*names, *whose, np.arange(0, 19, 2), [0, 1] * 9)
    found = fit_labels(dataset)
    assert np.isfinite(found.probability).all()
    assert (found.probability[:, 2] < 0.5).all()
    assert (found.probability[:, 0] > 0.5).all()
    assert np.isfinite(found.log_factor).all()


def test_what_shares_no_trust_is_refused_in_words(street):
    with pytest.raises(InputError, match="Use smoothing='pooled', or fit each label separately"):
        fit_labels(street, DawidSkene("none"))
    with pytest.raises(NotApplicableError, match="these annotations are single classes"):
        fit_labels(load_sample("anaesthesia"))
    with pytest.raises(NotApplicableError, match="anonymous"):
        fit_labels(Dataset.from_sets(
            "d", street.cases, street.raters, street.classes, street.case_of_annotation, street.rater,
            street.entry_ptr, street.entry_class, raters_identified=False,
        ))  # fmt: skip


def missed(names: tuple[str, ...]) -> Dataset:
    """Six raters who overlook a label one time in three; an annotation without one names the third."""
    rng, sets = np.random.default_rng(3), []
    for case in range(60):
        for _ in range(6):
            seen = [name for name in ((), ("bus",), ("bus", "car"))[case % 3] if rng.random() > 0.35]
            sets.append([names.index(name) for name in seen or names[2:]])
    ids = [[str(place) for place in range(n)] for n in (60, 6)]
    ptr = np.concatenate([[0], np.cumsum([len(one) for one in sets])])
    return Dataset.from_sets(
        "missed",
        *ids,
        names,
        np.repeat(np.arange(60), 6),
        np.tile(np.arange(6), 60),
        ptr,
        np.concatenate(sets).astype(int),
    )


def test_that_none_applies_follows_from_the_other_labels_and_adds_nothing_to_the_trust():
    alone, further = (fit_labels(missed(("bus", "car", name)), shared=False) for name in ("none", "sign"))
    own = further.probability
    assert (alone.none, further.none) == ("none", None)
    assert (alone.probability[:, :2] == own[:, :2]).all()
    assert alone.probability[:, 2] == pytest.approx((1 - own[:, 0]) * (1 - own[:, 1]))
    assert alone.set_probability == pytest.approx(np.maximum(own, 1 - own)[:, :2].prod(axis=1))
    assert [said or "none" for said in ("; ".join(np.array(["bus", "car"])[one > 0.5]) for one in own[:, :2])] == (
        alone.sets()
    )
    assert len(set(alone.sets())) == 3


def test_that_none_applies_has_no_part_in_the_trust_that_labels_share(monkeypatch):
    """Who overlooks labels says too often that none applies: that is the same trust, not more of it."""
    whole, seen = label_fits._with_shared_trust, []
    monkeypatch.setattr(
        label_fits, "_with_shared_trust", lambda found, *more: seen.append(found) or whole(found, *more)
    )
    for name in ("none", "sign"):
        fit_labels(missed(("bus", "car", name)))
    named = [[int(one.data.dataset.answer.sum()) for one in found] for found in seen]
    assert len(named[0]) == 2 and named[0] == named[1][:2] and len(named[1]) == 3


# Label dependence: One β for all labels: less where raters share mistakes or nothing is known of them, 1 where they
# are independent.


def simulated(seed, n_cases, n_raters, right, n_labels=4, shared=0.0, prevalence=0.3, none=True):
    """Sets by raters of one accuracy, who err alike on a ``shared`` part of cases and labels; and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_cases, n_labels)) < prevalence
    seen = truth ^ (rng.random(truth.shape) < shared)
    named = (seen[:, None, :] ^ (rng.random((n_cases, n_raters, n_labels)) > right)).reshape(-1, n_labels)
    named = np.c_[named, ~named.any(axis=1)]
    case, rater = np.repeat(np.arange(n_cases), n_raters), np.tile(np.arange(n_raters), n_cases)
    labels = [*(f"label {k}" for k in range(n_labels)), "none of these"]
    ids, who = [f"c{k}" for k in range(n_cases)], [f"r{k}" for k in range(n_raters)]
    ptr = np.concatenate([[0], np.cumsum(named.sum(axis=1))])
    return Dataset.from_sets("s", ids, who, labels, case, rater, ptr, np.nonzero(named)[1]), truth


def loss(dataset, model, truth):
    """Nats a case, over its labels."""
    likely = np.clip(fit_labels(dataset, model).probability[:, : truth.shape[1]], 1e-6, 1 - 1e-6)
    return float(-np.log(np.where(truth, likely, 1 - likely)).sum(axis=1).mean())


@pytest.mark.parametrize(
    ("how", "gain"),
    [
        ({"n_cases": 200, "n_raters": 5, "right": 0.9, "shared": 0.1}, 0.7),
        ({"n_cases": 60, "n_raters": 3, "right": 0.5, "prevalence": 0.5}, 0.85),
    ],
)
def test_where_raters_share_mistakes_or_guess_the_truth_is_less_sure_and_nearer(how, gain):
    dataset, truth = simulated(1, **how)
    model = with_label_dependence(dataset, DawidSkene())
    assert model.beta < 0.9 and model.doubt > 0
    assert loss(dataset, model, truth) < gain * loss(dataset, DawidSkene(), truth)


def test_many_annotations_of_independent_raters_count_in_full():
    dataset, _ = simulated(0, 1500, 5, 0.85)
    assert with_label_dependence(dataset, DawidSkene()) == DawidSkene()


def test_of_one_label_it_is_the_rule_of_single_classes_and_none_of_these_does_not_count():
    dataset, _ = simulated(2, 80, 4, 0.8, n_labels=1, shared=0.1)
    data = prepare(dataset.as_classes("label 0")[0])
    held = held_out(data, OneCoin())
    found = with_label_dependence(dataset, OneCoin())
    most = data.independent
    assert (found.beta, found.doubt) == (truth_beta(min(held.middle_beta, most)), truth_doubt(min(held.beta, most)))
    assert found.temper_prevalence == held.temper_prevalence and found.beta < 1


def test_where_nothing_can_be_held_out_the_model_stays_as_it_is():
    dataset = Dataset.from_sets("s", ["a", "b"], ["x", "y"], ["l", "m"], [0, 1], [0, 1], [0, 1, 2], [0, 1])
    assert with_label_dependence(dataset, DawidSkene()) == DawidSkene()
