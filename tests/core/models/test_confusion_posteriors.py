"""Posteriors of tiny problems against exact sums over all true classes; all of them drawn in one go."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.models.bayesian_dawid_skene import BayesianDawidSkene
from core.models.hierarchical import HierarchicalDawidSkene
from core.models.nuts.fitting import fit_by_map
from core.models.nuts.mixing import ess_bulk
from core.models.nuts.sampler import sample_many
from tests.core.models.calibration import BINS, RANKED, dawid_skene, p_uniform, ranks
from tests.core.models.confusion_examples import case_probabilities, exact_posterior, softmax

N_CHAINS, N_DRAWS = 2, 1500


EXACT = {
    "three classes": ("00 10 21 | 01 11 | 02 22 | 00 12 20 | 11 21", 3),
    "repeated annotations and a class nobody used": ("00 00 01 10 | 01 11 | 10 | 00 11", 3),
    "one annotation per case": ("00 | 10 | 00 | 10 | 01 | 11 | 01", 2),
    "an adversarial rater": ("00 10 21 31 | 01 11 20 | 00 10 21 | 01 11 20 | 00 10 21 | 01 11 20 | 00 10", 2),
}


def tiny(words, n_classes):
    """Cases are separated by bars; an annotation is the rater and its class."""
    rows = [(i, int(a[0]), int(a[1])) for i, case in enumerate(words.split("|")) for a in case.split()]
    cases, raters, answers = (np.array(column) for column in zip(*rows, strict=True))
    names = [[f"{kind} {i}" for i in range(max(codes) + 1)] for kind, codes in (("case", cases), ("rater", raters))]
    return Dataset.from_classes("tiny", *names, [f"class {k}" for k in range(n_classes)], cases, raters, answers)


MODEL = BayesianDawidSkene(prevalence_prior=2.0, diagonal=5.0, off_diagonal=1.0)


@pytest.fixture(scope="module")
def drawn():
    """Dataset, density and chains by name."""
    datasets = {name: tiny(*content) for name, content in EXACT.items()}
    datasets["adversarial in 60 cases"] = tiny(
        "|".join(f"0{i % 2} 1{i % 2} 2{1 - i % 2} 3{i % 2 if i % 5 else 1 - i % 2}" for i in range(60)) + " 40", 2
    )
    datasets["hierarchical"] = tiny("00 10 | 01 10 | 00 | 11", 2)
    densities = [
        (HierarchicalDawidSkene() if name == "hierarchical" else MODEL).density(dataset)
        for name, dataset in datasets.items()
    ]
    chains = sample_many(densities, n_draws=N_DRAWS, n_tune=700, n_chains=N_CHAINS, seeds=range(len(densities)))
    return dict(zip(datasets, zip(datasets.values(), densities, chains, strict=True), strict=True))


def close(values, exact, exact_error=0.0):
    """Means over draws, first axis, within 4.5 Monte Carlo standard errors."""
    values = values.reshape(N_CHAINS, N_DRAWS, -1)
    error = values.std(axis=(0, 1)) / np.sqrt(ess_bulk(values))
    z = (values.mean(axis=(0, 1)) - np.ravel(exact)) / np.hypot(error, np.ravel(exact_error))
    return np.abs(z).max() < 4.5 and error.max() < 0.02


@pytest.mark.parametrize("name", EXACT)
def test_means_are_those_of_all_true_classes_summed_out(drawn, name):
    dataset, density, chains = drawn[name]
    n = dataset.n_classes
    prevalence, confusion, truth = exact_posterior(dataset, np.full(n, 2.0), 1.0 + 4.0 * np.eye(n))
    found = density.quantities(chains.flat())
    assert close(found["prevalence"], prevalence)
    assert close(found["confusion"], confusion)
    posterior = np.concatenate([part for part, _ in density.posteriors(chains.flat())], axis=1)
    of_case = posterior[:, density.patterns.pattern_of_case]
    assert close(of_case[:, :, 1:], truth[:, 1:])
    fit = MODEL.summarise(density, chains.flat(), "nuts", 0.9)
    np.testing.assert_allclose(fit.class_probability, of_case.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(fit.prevalence, found["prevalence"].mean(axis=0))


def test_hierarchical_means_are_those_of_the_weighted_prior(drawn):
    """Importance sampling from the prior: some 450,000 draws inside the cut, of which a tiny dataset leaves many."""
    dataset, density, chains = drawn["hierarchical"]
    rng = np.random.default_rng(4)
    mu, n = rng.normal(2 * np.eye(2), 1.5, (700_000, 2, 2)), 2
    mu = mu[(mu[:, 0, 0] > mu[:, 0, 1]) & (mu[:, 1, 1] > mu[:, 1, 0])]
    size = len(mu)
    tau = np.abs(rng.normal(size=(size, n, n)))
    confusion = softmax(mu[:, None] + tau[:, None] * rng.normal(size=(size, 2, n, n)))
    new = softmax(mu + tau * rng.normal(size=(size, n, n)))
    prevalence = rng.dirichlet([2.0, 2.0], size)
    likelihood = np.ones(size)
    for case in range(dataset.n_cases):
        joint = prevalence.copy()
        for a in range(dataset.case_ptr[case], dataset.case_ptr[case + 1]):
            joint *= confusion[:, dataset.rater[a], :, dataset.answer[a]]
        likelihood *= joint.sum(axis=1)
    weight = likelihood / likelihood.sum()

    def expected(values):
        flat = values.reshape(size, -1)
        mean = weight @ flat
        return mean, np.sqrt((weight**2) @ (flat - mean) ** 2)

    found = density.quantities(chains.flat())
    for name, values in (("prevalence", prevalence), ("confusion", confusion), ("mu", mu / 10), ("tau", tau / 10)):
        scale = 10 if name in ("mu", "tau") else 1
        assert close(found[name] / scale, *expected(values)), name
    assert close(density.new_rater(chains.flat(), seed=1), *expected(new))


def test_an_adversarial_rater_is_found_and_classes_stay(drawn):
    dataset, density, chains = drawn["adversarial in 60 cases"]
    fit = MODEL.summarise(density, chains.flat(), "nuts", 0.95)
    accuracy = fit.accuracy()
    assert accuracy[2] < 0.3 and accuracy[:2].min() > 0.85 and abs(accuracy[3] - 0.8) < 0.1
    assert (fit.top_class() == np.arange(dataset.n_cases) % 2).all()
    # The fifth rater, of one annotation that is wrong, has its Dirichlet(5, 1) and, with it, Dirichlet(2, 5).
    np.testing.assert_allclose(fit.confusion[4], [[5 / 6, 1 / 6], [2 / 7, 5 / 7]], atol=0.02)
    assert fit.uncertainty.confusion.sd[4].min() > 0.1


@pytest.mark.parametrize(("n_poor", "flagged"), [(0, False), (1, False), (3, True)])
def test_one_rater_worse_than_chance_is_not_the_typical_rater(n_poor, flagged):
    """Four raters: right in 0.6 × 0.9 + 0.4 × 0.8 = 0.86 of cases; the poor ones in 0.6 × 0.2 + 0.4 × 0.1 = 0.16."""
    density = MODEL.density(tiny(*EXACT["an adversarial rater"]))
    good, poor = [[0.9, 0.1], [0.2, 0.8]], [[0.2, 0.8], [0.9, 0.1]]
    at = density.vote_start(np.log([0.6, 0.4]), np.log([good] * (4 - n_poor) + [poor] * n_poor))
    fit = MODEL.summarise(density, at[None], "map", 0.95)
    assert fit.accuracy() == pytest.approx([0.86] * (4 - n_poor) + [0.16] * n_poor)
    assert any("typical rater is worse than chance" in note for note in fit.notes) == flagged


def test_what_the_data_do_not_tell_is_said(drawn):
    _, density, chains = drawn["one annotation per case"]
    assert any("come from the prior" in note for note in MODEL.summarise(density, chains.flat(), "nuts", 0.95).notes)
    _, density, chains = drawn["repeated annotations and a class nobody used"]
    fit = MODEL.summarise(density, chains.flat(), "nuts", 0.95)
    assert any("Results for class 2 come from the prior" in note for note in fit.notes)
    assert np.isfinite(fit.confusion).all() and fit.prevalence[2] > 0


def test_the_mode_is_the_posterior_mean_where_truth_is_certain(build):
    """On log-ratio coordinates: (n + α) / Σ (n + α). Perfect raters leave no doubt of the truth."""
    dataset = build([(i, j, i % 3) for i in range(90) for j in range(6)], 3)
    fit = fit_by_map(BayesianDawidSkene().density(dataset), BayesianDawidSkene().summarise, dataset).fit
    np.testing.assert_allclose(fit.prevalence, 1 / 3, atol=1e-5)
    np.testing.assert_allclose(fit.confusion[0], (np.eye(3) * 36.5 + 1) / 39.5, atol=1e-5)
    assert fit.method == "map" and fit.uncertainty is None
    joint = case_probabilities(dataset, fit.prevalence, fit.confusion)
    assert fit.log_likelihood == pytest.approx(np.log(joint.sum(axis=1)).sum())


# Calibration: Posteriors of data from the prior hold the truth as often as they say; the long version is among the
# benchmarks.


N_FITS = 12 * BINS


def test_ranks_of_the_truth_are_uniform():
    """For five numbers; p above 0.001 / 10 each, so that one of two thousand seeds fails a right sampler."""
    found, divergent = ranks(dawid_skene, N_FITS, seed=20, n_draws=100, n_tune=100)
    assert divergent < 0.02
    for what, rank in found.items():
        assert p_uniform(rank) > 0.001 / 10, f"{what}: {np.bincount(rank, minlength=RANKED + 1)}"


def test_wrong_posteriors_would_be_noticed():
    """Too narrow, too wide, and half a standard deviation aside."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(N_FITS, 1))
    for centre, width in ((0, 0.5), (0, 2.0), (0.7, 1.0)):
        rank = (centre + width * rng.normal(size=(N_FITS, RANKED)) < truth).sum(axis=1)
        assert p_uniform(rank) < 0.001 / 10
    assert p_uniform((rng.normal(size=(N_FITS, RANKED)) < truth).sum(axis=1)) > 0.001
