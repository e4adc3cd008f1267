import dataclasses

import numpy as np
import pytest

import core
from core.errors import InputError, LimitError, NotApplicableError
from core.models.bayesian_dawid_skene import BayesianDawidSkene
from core.models.hierarchical import HierarchicalDawidSkene
from core.models.nuts.diagnostics import estimates
from core.models.nuts.fitting import fit_by_map
from core.models.nuts.sampler import sample
from tests.core.models.confusion_examples import simulated, softmax

MODELS = [BayesianDawidSkene(), HierarchicalDawidSkene()]


@pytest.fixture
def panel(build):
    """40 raters of one kind, 60 cases, 12 raters on each; the last rater has one annotation."""
    rng = np.random.default_rng(11)
    centre = np.array([[2.0, 0.0, -1.0], [0.0, 1.5, 0.0], [-1.0, 0.5, 2.0]])
    confusion = softmax(centre + 0.5 * rng.normal(size=(40, 3, 3)))
    dataset, truth = simulated(build, rng, np.array([0.5, 0.3, 0.2]), confusion, 60, per_case=12)
    rows = [*zip(dataset.case_of_annotation, dataset.rater, dataset.answer, strict=True), (0, 40, (truth[0] + 1) % 3)]
    return build([tuple(map(int, row)) for row in rows], 3), confusion, truth


def test_the_first_answer_finds_truth_and_raters(panel):
    dataset, confusion, truth = panel
    fit = HierarchicalDawidSkene().fit(dataset, method="map").fit
    assert (fit.top_class() == truth).mean() > 0.95
    assert np.abs(fit.confusion[:40] - confusion).mean() < 0.1
    assert fit.model == "hierarchical" and fit.method == "map"
    np.testing.assert_allclose(fit.confusion.sum(axis=2), 1)


def test_a_rater_with_one_annotation_leans_on_the_others(panel):
    """After its one wrong annotation it is nearer to the middle of the raters than where the prior alone holds it."""
    dataset, _, _ = panel
    pooled = HierarchicalDawidSkene().fit(dataset, method="map").fit
    middle = pooled.confusion[:40].mean(axis=0)
    alone = BayesianDawidSkene().fit(dataset, method="map").fit
    assert np.abs(pooled.confusion[40] - middle).max() < 0.15
    assert np.abs(pooled.confusion[40] - middle).mean() < 0.7 * np.abs(alone.confusion[40] - middle).mean()


def test_a_rater_not_seen_is_predicted_from_those_that_were(panel):
    """Means within 0.06 of the middle of the true raters, intervals hold 95% of them, give or take."""
    dataset, confusion, _ = panel
    new = HierarchicalDawidSkene().fit(dataset, method="map", level=0.95).fit.parameters
    assert np.abs(new["new_rater"] - confusion.mean(axis=0)).max() < 0.06
    np.testing.assert_allclose(new["new_rater"].sum(axis=1), 1)
    inside = (confusion > new["new_rater_low"]) & (confusion < new["new_rater_high"])
    assert 0.85 < inside.mean() <= 1.0
    assert new["mu"].shape == new["tau"].shape == (3, 3) and (new["tau"] > 0).all()


def test_draws_of_the_whole_posterior_predict_a_rater_not_seen(build):
    rng = np.random.default_rng(2)
    confusion = softmax(np.array([[1.5, 0.0], [0.0, 1.0]]) + 0.4 * rng.normal(size=(12, 2, 2)))
    dataset, truth = simulated(build, rng, np.array([0.6, 0.4]), confusion, 80)
    found = HierarchicalDawidSkene().fit(dataset, n_draws=300, n_tune=400, n_chains=2)
    new = found.fit.parameters
    assert (new["new_rater_low"] < confusion.mean(axis=0)).all() and (
        confusion.mean(axis=0) < new["new_rater_high"]
    ).all()
    # What is not known of the middle widens the interval beyond the spread of the raters.
    widths = [
        new["new_rater_high"] - new["new_rater_low"],
        np.ptp(np.quantile(confusion, [0.025, 0.975], axis=0), axis=0),
    ]
    assert widths[0].mean() > widths[1].mean()
    assert {"prevalence", "accuracy", "confusion", "mu", "tau"} == set(found.quantities)
    assert (found.fit.top_class() == truth).mean() > 0.95
    covered = (found.fit.uncertainty.confusion.low < confusion) & (confusion < found.fit.uncertainty.confusion.high)
    assert covered.mean() > 0.85


@pytest.mark.parametrize("model", MODELS, ids=["bayesian", "hierarchical"])
class TestAnyBayesianModelOfConfusion:
    def test_degenerate_data_have_an_answer_without_nan(self, model, build):
        for rows, n_classes in (
            ([(0, 0, 0)], 2),
            ([(i, i, i % 2) for i in range(6)], 4),
            ([(i, j, 1) for i in range(5) for j in range(3)], 3),
            ([(i, j, i % 2) for i in range(30) for j in range(4)], 2),
        ):
            dataset = build(rows, n_classes)
            fit = model.fit(dataset, method="map").fit
            for array in (fit.prevalence, fit.confusion, fit.class_probability, fit.evidence):
                assert np.isfinite(array).all()
            np.testing.assert_allclose(fit.class_probability.sum(axis=1), 1)
            np.testing.assert_allclose(fit.evidence.sum(), dataset.n_annotations)

    def test_unanimous_cases_do_not_flip(self, model, build):
        dataset = build([(i, j, i % 3) for i in range(12) for j in range(3)], 3)
        assert (model.fit(dataset, method="map").fit.top_class() == np.arange(12) % 3).all()

    def test_names_and_order_of_raters_change_nothing(self, model, panel):
        dataset, _, _ = panel
        order = np.random.default_rng(0).permutation(dataset.n_raters)
        shuffled = dataclasses.replace(dataset, rater=np.argsort(order).astype(np.int32)[dataset.rater])
        one, other = (model.fit(data, method="map").fit for data in (dataset, shuffled))
        np.testing.assert_allclose(one.confusion[order], other.confusion, atol=5e-3)
        np.testing.assert_allclose(one.class_probability, other.class_probability, atol=5e-3)

    def test_a_panel_worse_than_chance_is_flagged(self, model, build):
        """Three classes named one further, by raters who agree: the prior holds the names, the note tells."""
        rng = np.random.default_rng(1)
        rows = [(i, j, int((i + 1) % 3) if rng.uniform() < 0.6 else int(i % 3)) for i in range(30) for j in range(3)]
        if isinstance(model, HierarchicalDawidSkene):
            model = HierarchicalDawidSkene(cooperative=False)  # otherwise it cannot be
        density = model.density(build(rows, 3))
        swapped = np.tile(np.log(np.roll(np.eye(3), 1, axis=1) * 0.8 + 0.2 / 3), (3, 1, 1))
        fit = model.summarise(density, density.vote_start(np.log(np.full(3, 1 / 3)), swapped)[None], "map", 0.95)
        assert any("worse than chance" in note for note in fit.notes)

    def test_what_cannot_be_fitted_is_refused_with_the_reason(self, model, build, monkeypatch):
        dataset = build([(0, 0, 0), (0, 1, 1)], 2)
        with pytest.raises(InputError, match="Unknown method"):
            model.fit(dataset, method="em")
        with pytest.raises(NotApplicableError, match="anonymous"):
            model.fit(dataclasses.replace(dataset, raters_identified=False))
        with pytest.raises(NotApplicableError, match="at least two classes"):
            model.fit(build([(0, 0, 0)], 1))
        with pytest.raises(NotApplicableError, match="there are no annotations"):
            empty = dataclasses.replace(
                dataset, case_ptr=np.zeros(2, np.int64), rater=np.empty(0, np.int32), answer=np.empty(0, np.int32)
            )
            model.fit(empty)
        monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "3")
        with pytest.raises(LimitError):
            model.fit(dataset)


def test_the_classes_of_a_cooperative_panel_keep_their_names(build):
    """Two classes that are often confused: without the cut some chains would find them in each other's place."""
    density = HierarchicalDawidSkene().density(build([(i, j, i % 3) for i in range(6) for j in range(2)], 3))
    mu = density.parts(np.random.default_rng(0).normal(scale=3, size=(50, density.ndim)))[1]
    right = np.diagonal(mu, axis1=1, axis2=2)[:, :, None]
    assert (mu <= right).all() and ((mu < right).sum(axis=2) == 2).all()


def test_the_anaesthesia_panel_converges_whatever_the_seed():
    """With the usual number of draws; 600 are now and then too few."""
    dataset = core.load_sample("anaesthesia")
    density = HierarchicalDawidSkene().density(dataset)
    chains = sample(density, n_draws=1000, n_tune=1000, seed=3, target_accept=HierarchicalDawidSkene.target_accept)
    _, diagnostics = estimates(density.quantities(chains.flat()), chains.divergent, dataset, 0.95)
    assert diagnostics.converged, diagnostics.words


def test_priors_must_be_positive():
    for wrong in ({"prevalence_prior": 0.0}, {"diagonal": -1.0}, {"off_diagonal": float("nan")}):
        with pytest.raises(InputError, match="Dirichlet parameter"):
            BayesianDawidSkene(**wrong)


def test_the_first_answer_of_many_cases_is_quick(build):
    """800 cases, 164 raters, 8,000 annotations; the time itself is for the benchmarks."""
    rng = np.random.default_rng(3)
    confusion = softmax(np.array([[2.0, 0.0], [0.0, 2.0]]) + 0.7 * rng.normal(size=(164, 2, 2)))
    dataset, truth = simulated(build, rng, np.array([0.7, 0.3]), confusion, 800, per_case=10)
    density = HierarchicalDawidSkene().density(dataset)
    fit = fit_by_map(density, HierarchicalDawidSkene().summarise, dataset).fit
    assert (fit.top_class() == truth).mean() > 0.97
