"""Standard errors against plain second derivatives, against each other, and by how often intervals hold."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import Cancelled, InputError, NotApplicableError
from core.ingest.samples import load_sample
from core.models import precision
from core.models.dawid_skene import DawidSkene
from core.models.one_coin import ClassConditional, OneCoin
from core.models.precision import precision_of
from core.models.stopping import StoppingRule
from core.models.tap import TAP
from core.runtime.chunks import CancelToken
from tests.benchmarks.rater_precision import SETTINGS, coverage
from tests.core.models.rows import random_rows, simulated

BINARY = np.array([[[0.9, 0.1], [0.25, 0.75]], [[0.8, 0.2], [0.1, 0.9]], [[0.7, 0.3], [0.2, 0.8]]])


@pytest.fixture
def binary(build):
    return build(simulated(1, 300, BINARY, (0.6, 0.4), 3)[0], 2)


def by_plain_derivatives(dataset, fit):
    """Errors of prevalence and of the diagonals, from the likelihood multiplied out, on the scale of probabilities."""
    start = np.concatenate([fit.prevalence[:1], np.einsum("jkk->jk", fit.confusion).ravel()])
    answers = dataset.answer.reshape(-1, 3)  # all three raters on every case
    raters = dataset.rater.reshape(-1, 3)

    def log_likelihood(x):
        right = x[1:].reshape(3, 2)
        joint = np.array([[x[0], 1 - x[0]]] * len(answers))
        for place in range(3):
            for k in range(2):
                p = right[raters[:, place], k]
                joint[:, k] *= np.where(answers[:, place] == k, p, 1 - p)
        return np.log(joint.sum(axis=1)).sum()

    steps = 1e-4 * np.eye(7)
    hessian = [
        [
            log_likelihood(start + a + b)
            - log_likelihood(start + a - b)
            - log_likelihood(start - a + b)
            + log_likelihood(start - a - b)
            for b in steps
        ]
        for a in steps
    ]
    error = np.sqrt(np.diag(np.linalg.inv(-np.array(hessian) / 4e-8)))
    return error[0], error[1:].reshape(3, 2)


def test_errors_are_those_of_the_plain_second_derivative(binary):
    model = DawidSkene("none", StoppingRule(5000, 1e-14))
    fit = model.fit(binary)
    found = precision_of(model, binary, fit)
    prevalence, right = by_plain_derivatives(binary, fit)
    assert found.method == "observed information"
    assert found.prevalence.sd == pytest.approx([prevalence] * 2, rel=1e-3)
    assert np.einsum("jkk->jk", found.confusion.sd) == pytest.approx(right, rel=1e-3)


def test_with_known_classes_errors_are_binomial(binary):
    truth = simulated(1, 300, BINARY, (0.6, 0.4), 3)[1]
    dataset = replace(binary, gold=truth.astype(np.int32))
    model = DawidSkene("none", use_gold=True)
    fit = model.fit(dataset)
    found = precision_of(model, dataset, fit)
    assert found.prevalence.sd == pytest.approx(np.sqrt(fit.prevalence * (1 - fit.prevalence) / 300), rel=1e-5)
    expected = np.sqrt(fit.confusion * (1 - fit.confusion) / fit.evidence[:, :, None])
    assert found.confusion.sd == pytest.approx(expected, rel=1e-5)
    assert found.class_probability.sd.max() == 0


def test_models_that_are_the_same_for_two_classes_are_known_as_well(binary):
    strict = StoppingRule(5000, 1e-13)
    fits = [(model, model.fit(binary)) for model in (DawidSkene("none", strict), TAP("none", strict))]
    fits.append((ClassConditional("none", strict), ClassConditional("none", strict).fit(binary)))
    found = [precision_of(model, binary, fit) for model, fit in fits]
    for other in found[1:]:
        assert other.confusion.sd == pytest.approx(found[0].confusion.sd, rel=1e-3)
        assert other.accuracy.sd == pytest.approx(found[0].accuracy.sd, rel=1e-3)


@pytest.mark.parametrize("model", [DawidSkene("none"), OneCoin("pooled"), TAP("none")])
def test_the_bootstrap_agrees_with_the_information_where_the_model_holds(model, build):
    """200 replicates: an error is known to 5%, and a few errors in a hundred cases are not yet normal."""
    dataset = build(simulated(3, 500, BINARY, (0.6, 0.4), 3)[0], 2)
    fit = model.fit(dataset)
    if isinstance(model, OneCoin):
        dataset = build(simulated(3, 500, 0.7 * np.eye(2)[None].repeat(3, 0) + 0.15, (0.6, 0.4), 3)[0], 2)
        fit = model.fit(dataset)
    one = precision_of(model, dataset, fit, method="observed information")
    other = precision_of(model, dataset, fit, method="case bootstrap", seed=1)
    assert other.method == "case bootstrap" and other.n_replicates == 200
    assert other.prevalence.sd == pytest.approx(one.prevalence.sd, rel=0.3)
    assert other.accuracy.sd == pytest.approx(one.accuracy.sd, rel=0.3)


@pytest.mark.parametrize("smoothing", ["pooled", "diagonal"])
def test_under_smoothing_both_are_the_spread_of_a_posterior_and_say_so(smoothing, build):
    """30 raters × 16 annotations: a bootstrap of cases alone would make the prior look like knowledge."""
    rng = np.random.default_rng(2)
    skill = rng.uniform(0.3, 0.9, 30)[:, None, None]
    dataset = build(simulated(5, 120, skill * np.eye(2) + (1 - skill) / 2, (0.6, 0.4), 4)[0], 2)
    model = DawidSkene(smoothing)
    fit = model.fit(dataset)
    one = precision_of(model, dataset, fit, method="observed information")
    other = precision_of(model, dataset, fit, method="case bootstrap")
    assert other.accuracy.sd.mean() == pytest.approx(one.accuracy.sd.mean(), rel=0.15)
    for found in (one, other):
        assert any("pseudo-annotations" in note for note in found.notes)


@pytest.mark.parametrize("place", [0, 2, 3, 6], ids=lambda place: SETTINGS[place].title)
def test_intervals_hold_as_often_as_they_say(place):
    """95 ± 3% and three standard errors of the simulation, with the intervals of one data set taken as one."""
    n = 60
    held = coverage(SETTINGS[place], n, first=10_000)
    for name in ("prevalence", "accuracy"):
        inside, total = held[name]
        assert abs(inside / total - 0.95) < 0.03 + 3 * np.sqrt(0.95 * 0.05 / n)
    inside, total = np.add(held["confusion"], held["on a bound"])
    assert abs(inside / total - 0.95) < 0.03 + 3 * np.sqrt(0.95 * 0.05 / n)


def test_an_entry_on_its_bound_has_wilsons_interval_of_its_row(build):
    """Three raters who never err on 40 cases of each class: one for each row, (0, z²/(n + z²))."""
    dataset = build([(case, rater, case % 2) for case in range(80) for rater in range(3)], 2)
    model = DawidSkene("none")
    found = precision_of(model, dataset, model.fit(dataset))
    z2 = 1.959963984540054**2
    assert found.confusion.low[0] == pytest.approx(np.array([[40 / (40 + z2), 0], [0, 40 / (40 + z2)]]), abs=1e-6)
    assert found.confusion.high[0] == pytest.approx(np.array([[1, z2 / (40 + z2)], [z2 / (40 + z2), 1]]), abs=1e-6)
    assert found.accuracy.high == pytest.approx([1] * 3)
    assert found.accuracy.low == pytest.approx([80 / (80 + z2)] * 3, abs=1e-6)
    assert found.prevalence.sd == pytest.approx([np.sqrt(0.25 / 80)] * 2, rel=1e-4)


@pytest.mark.parametrize("method", ["observed information", "case bootstrap"])
@pytest.mark.parametrize("model", [DawidSkene("none"), OneCoin("none"), TAP("none"), TAP("none", raters="common")])
def test_intervals_lie_within_0_and_1_around_the_estimate_on_small_data(model, method, build):
    for seed in range(4):
        dataset = build(random_rows(seed, n_cases=12), 3)
        fit = model.fit(dataset)
        found = precision_of(model, dataset, fit, method=method, n_replicates=20)
        for spread, value in ((found.prevalence, fit.prevalence), (found.confusion, fit.confusion)):
            known = np.isfinite(spread.sd)
            assert (spread.low[known] >= 0).all() and (spread.high[known] <= 1).all()
            assert (spread.low <= value + 1e-9)[known].all() and (value - 1e-9 <= spread.high)[known].all()
        assert np.isfinite(found.prevalence.sd).any()


@pytest.mark.parametrize("method", ["observed information", "case bootstrap"])
def test_a_class_that_nobody_named_takes_no_interval_from_the_raters(method, binary):
    """Its row says nothing and its prevalence is 0: accuracies are known as well as without it."""
    model = DawidSkene("none", StoppingRule(5000, 1e-13))
    wider = replace(binary, classes=(*binary.classes, "never named"))
    found, without = (
        precision_of(model, data, model.fit(data), method=method, n_replicates=20) for data in (wider, binary)
    )
    assert np.isnan(found.confusion.sd[:, 2]).all() and np.isfinite(found.confusion.sd[:, :2, :2]).all()
    assert np.isfinite(found.accuracy.sd).all() and (found.accuracy.sd > 0).all()
    for end in ("sd", "low", "high"):
        assert getattr(found.accuracy, end) == pytest.approx(getattr(without.accuracy, end), rel=1e-3)
        assert getattr(found.prevalence, end)[:2] == pytest.approx(getattr(without.prevalence, end), rel=1e-3)


def test_a_row_without_evidence_has_no_interval(build):
    rows = [(case, rater, case % 2) for case in range(40) for rater in range(3)] + [(0, 3, 0)]
    model, dataset = DawidSkene("none"), build(rows, 2)
    found = precision_of(model, dataset, model.fit(dataset))
    assert np.isnan(found.confusion.sd[3, 1]).all() and np.isfinite(found.confusion.sd[3, 0]).all()
    assert np.isnan(found.accuracy.sd[3]) and np.isfinite(found.accuracy.sd[:3]).all()


def test_what_the_data_cannot_tell_has_no_interval(build):
    """Two raters on every case: prevalence and both matrices trade against each other."""
    confusion = np.full((2, 2, 2), 0.2) + 0.6 * np.eye(2)
    model, dataset = DawidSkene("none"), build(simulated(2, 300, confusion, (0.6, 0.4), 2)[0], 2)
    found = precision_of(model, dataset, model.fit(dataset))
    assert np.isnan(found.prevalence.sd).all() and np.isnan(found.prevalence.low).all()


def test_many_parameters_go_to_the_bootstrap_and_a_fit_that_is_no_maximum_too(build, monkeypatch):
    dataset = build(random_rows(1), 3)
    model = DawidSkene("none")
    monkeypatch.setattr("core.models.precision.MOST_PARAMETERS", 3)
    assert precision_of(model, dataset, model.fit(dataset), n_replicates=20).method == "case bootstrap"
    monkeypatch.undo()
    unfinished = DawidSkene("none", StoppingRule(2))
    caries = load_sample("caries")
    turned = replace(fit := unfinished.fit(caries), confusion=np.ascontiguousarray(fit.confusion[:, :, ::-1]))
    found = precision_of(unfinished, caries, turned, n_replicates=20)
    assert found.method == "case bootstrap"
    assert any("not at a maximum" in note for note in found.notes) and any(
        "not converged" in note for note in found.notes
    )
    with pytest.raises(NotApplicableError, match="not at a maximum"):
        precision_of(unfinished, caries, turned, method="observed information")


def test_probabilities_of_too_many_cases_get_no_interval(binary, monkeypatch):
    model = DawidSkene("none")
    fit = model.fit(binary)
    assert precision_of(model, binary, fit).class_probability.sd.shape == (300, 2)
    monkeypatch.setattr("core.models.precision.MOST_KEPT", 100_000)
    assert precision_of(model, binary, fit).class_probability is None


def test_one_seed_gives_one_answer_and_requests_are_checked(binary):
    model = DawidSkene("none")
    fit = model.fit(binary)
    ask = {"method": "case bootstrap", "n_replicates": 20}
    once, again = (precision_of(model, binary, fit, seed=3, **ask) for _ in range(2))
    assert (once.confusion.sd == again.confusion.sd).all() and once.seed == 3
    for wrong in ({"level": 1.0}, {"method": "guess"}, {"n_replicates": 2}):
        with pytest.raises(InputError):
            precision_of(model, binary, fit, **wrong)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        precision_of(model, binary, fit, token=token, **ask)


def test_class_probabilities_have_the_deviation_and_ends_of_their_replicates_each_case_its_own():
    every = np.random.default_rng(2).dirichlet([1, 2, 3], (5, 4)).astype(np.float32)
    found = precision._quantiles(list(every), 0.5)
    for case, code in np.ndindex(4, 3):
        own = np.sort(every[:, case, code].astype(float))
        assert found.sd[case, code] == pytest.approx(np.sqrt(((own - own.mean()) ** 2).sum() / 4), rel=1e-5)
        assert (found.low[case, code], found.high[case, code]) == pytest.approx((own[1], own[3]), rel=1e-5)
