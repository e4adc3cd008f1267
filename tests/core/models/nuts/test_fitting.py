import dataclasses
import warnings

import numpy as np
import pytest

import core
from core.errors import Cancelled, LimitError, NotApplicableError
from core.models.bayesian_dawid_skene import BayesianDawidSkene
from core.models.loo import import_arviz
from core.models.nuts.densities import density_from
from core.models.nuts.fitting import fit_by_map, fit_by_nuts, thinned
from core.models.nuts.mode import NoModeError, posterior_mode
from core.runtime.chunks import CancelToken
from tests.core.models.nuts.toy import Toy


@pytest.fixture(scope="module")
def whole():
    """The posterior of the 45 anaesthesia patients, and what was told on the way."""
    told = []
    dataset = core.load_sample("anaesthesia")
    fit = BayesianDawidSkene().fit(dataset, n_draws=500, n_tune=500, progress=lambda *words: told.append(words))
    return dataset, fit, told


def test_a_fit_has_means_intervals_diagnostics_checks_and_leave_one_out(whole):
    dataset, found, told = whole
    assert found.diagnostics.converged and found.fit.converged
    assert found.diagnostics.rhat_max <= 1.01 and found.diagnostics.ess_bulk_min >= 400
    assert (found.fit.method, found.fit.model, found.level) == ("nuts", "bayesian-dawid-skene", 0.95)
    assert (
        found.fit.settings["diagonal"] == 10.0
        and found.fit.settings["n_chains"] == 4
        and found.fit.settings["seed"] == 0
    )
    for name, of_fit in (("prevalence", found.fit.prevalence), ("confusion", found.fit.confusion)):
        one = found.quantities[name]
        np.testing.assert_allclose(one.mean, of_fit)
        np.testing.assert_allclose(one.low, getattr(found.fit.uncertainty, name).low)
        assert (one.low <= one.mean).all() and (one.mean <= one.high).all()
    np.testing.assert_allclose(found.quantities["accuracy"].mean, found.fit.accuracy(), atol=0.02)
    assert [check.kind for check in found.checks] == ["raters", "votes"]
    assert found.loo.pointwise.size <= dataset.n_cases and found.loo.elpd < found.fit.log_likelihood
    assert found.draws.shape == (1000, 63)
    assert told[-1][0] == 1 and [share for share, _ in told] == sorted(share for share, _ in told)
    assert not any("converged" in note for note in found.fit.notes)


def test_class_probabilities_have_intervals_around_them_and_say_who_is_ill(whole):
    """Prevalence of Dawid & Skene's maximum likelihood lies in the intervals, and unanimous patients stay."""
    dataset, found, _ = whole
    spread = found.fit.uncertainty
    published = np.array([0.40, 0.42, 0.11, 0.07])
    assert (spread.prevalence.low < published).all() and (published < spread.prevalence.high).all()
    probability = found.fit.class_probability
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-9)
    assert (spread.class_probability.low <= probability + 1e-9).all()
    answers = np.split(dataset.answer, dataset.case_ptr[1:-1])
    for case, given in enumerate(answers):
        if len(set(given)) == 1:
            assert found.fit.top_class()[case] == given[0]


def test_a_fit_cut_short_says_that_it_has_not_converged(whole):
    dataset, _, _ = whole
    short = BayesianDawidSkene().fit(dataset, n_draws=20, n_tune=20)
    assert not short.fit.converged and not short.diagnostics.converged
    assert short.fit.notes[0].startswith("Not converged: R-hat")
    assert short.loo is None and short.draws.shape == (80, 63)


def test_the_mode_is_near_the_posterior_mean_and_says_that_it_is_no_sample(whole):
    dataset, found, _ = whole
    first = BayesianDawidSkene().fit(dataset, method="map")
    assert np.abs(first.fit.class_probability - found.fit.class_probability).mean() < 0.01
    assert first.diagnostics is None and first.loo is None and first.checks == ()
    assert first.quantities["prevalence"].rhat is None and first.fit.uncertainty is None
    assert any(note.startswith("The posterior mode has no intervals") for note in first.fit.notes)


def test_more_draws_than_fit_are_refused_before_anything_is_run(whole, monkeypatch):
    dataset, _, _ = whole
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "100000")
    with pytest.raises(LimitError, match="4,000 draws of 63 numbers"):
        BayesianDawidSkene().fit(dataset)


def test_a_cancelled_fit_gives_nothing(whole):
    dataset, _, _ = whole
    density, token = BayesianDawidSkene().density(dataset), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        fit_by_nuts(density, BayesianDawidSkene().summarise, dataset, token=token)
    with pytest.raises(Cancelled):
        fit_by_map(density, BayesianDawidSkene().summarise, dataset, token=token)


def test_cases_without_annotations_are_not_left_out(build):
    """They have nothing to predict: leave-one-out is of the others, and their class is as the prevalence has it."""
    rows = [(i, j, (i * 7 // 3 + (j == i % 3)) % 2) for i in range(12) for j in range(3)]
    with_gaps = build(rows, 2, n_cases=15)
    found = BayesianDawidSkene().fit(with_gaps, n_draws=100, n_tune=200, n_chains=2)
    by_case = found.loo.by_case()
    assert np.isfinite(by_case).sum() == 12 or (by_case[12:] == 0).all()
    np.testing.assert_allclose(found.fit.class_probability[12:], np.tile(found.fit.prevalence, (3, 1)), atol=1e-9)


def test_the_mode_of_normals_is_their_mean_and_an_overflow_at_the_start_is_told():
    toy = Toy(np.array([3.0, -1.0]), np.array([0.1, 10.0]))
    np.testing.assert_allclose(posterior_mode(toy, np.zeros(2)), toy.mean, atol=1e-4)
    with pytest.raises(NoModeError, match="overflows at the starting point"):
        posterior_mode(dataclasses.replace(toy, fault="overflows"), np.zeros(2))


def test_a_search_for_the_mode_turns_back_from_an_overflow():
    toy = Toy(np.array([2.9]), np.array([1e-3]), "bounded")
    assert posterior_mode(toy, np.array([0.0]))[0] == pytest.approx(2.9, abs=1e-3)


def test_thinning_keeps_rows_evenly():
    rows = np.arange(10.0)[:, None]
    np.testing.assert_array_equal(thinned(rows, 5)[:, 0], [0, 2, 4, 6, 8])
    assert thinned(rows, 20) is rows


def test_arviz_is_given_the_kept_draws_with_names_on_their_axes(whole):
    dataset, found, _ = whole
    data = found.to_inference_data(log_likelihood=True)
    assert dict(data.posterior.sizes) == {
        "chain": 4, "draw": 250, "class": 4, "rater": 5, "true_class": 4, "answered_class": 4,
    }  # fmt: skip
    assert tuple(data.posterior["rater"].values) == dataset.raters
    for name in ("prevalence", "accuracy", "confusion"):
        drawn = data.posterior[name]
        error = found.quantities[name].sd / np.sqrt(found.quantities[name].ess)
        away = np.abs(drawn.mean(("chain", "draw")).values - found.quantities[name].mean)
        assert (away <= 5 * np.sqrt(2000 / 1000) * error + 1e-12).all()
    confusion = data.posterior["confusion"].sel(rater=dataset.raters[2], true_class=dataset.classes[1])
    np.testing.assert_allclose(confusion.sum("answered_class").values, 1)
    first = density_from(*found.job).quantities(found.draws[250:251])["confusion"][
        0, 2, 1
    ]  # the second chain's first draw
    np.testing.assert_array_equal(confusion.values[1, 0], first)
    assert data.log_likelihood["annotations"].dims == ("chain", "draw", "case")
    assert tuple(data.log_likelihood["case"].values) == dataset.cases


def test_leave_one_out_by_arviz_is_our_own_on_the_same_draws(whole):
    """ArviZ also corrects for the efficiency of the chains, and half of the draws were left behind."""
    _, found, _ = whole
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Estimated shape parameter of Pareto distribution")
        theirs = import_arviz().loo(found.to_inference_data(log_likelihood=True))
    assert abs(theirs.elpd_loo - found.loo.elpd) < 0.05 * found.loo.se
    assert abs(theirs.se - found.loo.se) < 0.05 * found.loo.se


def test_the_mode_has_no_draws_to_hand_on(whole):
    mode = BayesianDawidSkene().fit(whole[0], method="map")
    with pytest.raises(NotApplicableError, match="NUTS"):
        mode.to_inference_data()


def test_draws_that_are_kept_are_as_many_of_each_chain():
    dataset = core.load_sample("anaesthesia")
    found = BayesianDawidSkene().fit(dataset, n_draws=400, n_tune=30, n_chains=3)
    assert found.draws.shape == (999, 63) and found.to_inference_data().posterior.sizes["draw"] == 333
