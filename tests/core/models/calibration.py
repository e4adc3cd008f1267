"""Simulation-based calibration: parameters drawn from the prior have uniform ranks among draws of their posteriors.

Talts, Betancourt, Simpson, Vehtari & Gelman (2018), arXiv:1804.06788. Many posteriors are drawn in one child process.
"""

import numpy as np
from scipy.stats import chi2

from core.annotations.dataset import Dataset
from core.models.bayesian_dawid_skene import BayesianDawidSkene
from core.models.difficulty.density import DifficultyDensity, Specification
from core.models.difficulty.nominal_density import MOST_SPREAD, NominalDensity, pseudo_mistakes, typical_ability
from core.models.hierarchical import HierarchicalDawidSkene
from core.models.nuts.sampler import sample_many
from core.models.ordinal_density import NAMES, OrdinalDensity

RANKED = 20  # draws that a truth is ranked among, far enough apart to be nearly independent
BINS = 7


def complete(n_cases, n_raters, n_classes, answer):
    """Every rater on every case."""
    case, rater = np.divmod(np.arange(n_cases * n_raters), n_raters)
    names = [[str(i) for i in range(n)] for n in (n_cases, n_raters, n_classes)]
    return Dataset.from_classes("simulated", *names, case, rater, answer)


def dawid_skene(rng, n_cases=30, n_raters=5, n_classes=3):
    """A posterior and the coordinates of the truth behind its data."""
    model = BayesianDawidSkene()
    blank = model.density(complete(n_cases, n_raters, n_classes, np.zeros(n_cases * n_raters, int)))
    rows = [rng.dirichlet(prior, n_raters) for prior in blank.row_prior]
    truth = blank.vote_start(np.log(rng.dirichlet(blank.prevalence_prior)), np.log(np.stack(rows, axis=1)))
    answer = blank.simulate(truth, int(rng.integers(2**31)))
    return model.density(complete(n_cases, n_raters, n_classes, answer)), truth


def hierarchical(rng, n_cases=30, n_raters=5, n_classes=3):
    """The same of the hierarchical model; the prior of the raters' centre is cut where it favours wrong annotations."""
    model, square = HierarchicalDawidSkene(), (n_classes, n_classes)
    blank = model.density(complete(n_cases, n_raters, n_classes, np.zeros(n_cases * n_raters, int)))
    right = np.eye(n_classes, dtype=bool)
    mu = np.full(square, np.inf)
    while (mu > np.diagonal(mu)[:, None]).any() or np.isinf(mu).any():
        mu = rng.normal(2.0 * right, 1.5)
    place = np.where(right, mu, np.log(np.expm1(np.where(right, 1.0, np.diagonal(mu)[:, None] - mu))))
    prevalence = np.log(rng.dirichlet(blank.prevalence_prior)) @ blank.basis
    log_tau = np.log(np.abs(rng.normal(size=square)))
    truth = np.concatenate((prevalence, place.ravel(), log_tau.ravel(), rng.normal(size=n_raters * n_classes**2)))
    np.testing.assert_allclose(blank.parts(truth[None])[1][0], mu, atol=1e-8)
    answer = blank.simulate(truth, int(rng.integers(2**31)))
    return model.density(complete(n_cases, n_raters, n_classes, answer)), truth


def ordinal(rng, n_cases=30, n_raters=5, n_classes=4):
    """The same of the ordinal model; what a slip names is given, not taken from the annotations."""
    guess = rng.dirichlet(np.full(n_classes, 3.0))
    blank = OrdinalDensity(complete(n_cases, n_raters, n_classes, np.zeros(n_cases * n_raters, int)), guess)
    prevalence = np.log(rng.dirichlet(blank.prevalence_prior)) @ blank.basis
    truth = np.concatenate((prevalence, rng.standard_normal(3 * n_raters)))
    answer = blank.simulate(truth, int(rng.integers(2**31)))
    return OrdinalDensity(complete(n_cases, n_raters, n_classes, answer), guess), truth


def difficulty(tag):
    """Posteriors of a model with rater bias, of raters that differ; the prior is cut at sensitivity > -specificity."""

    def make(rng, n_cases=40, n_raters=5):
        blank = DifficultyDensity(complete(n_cases, n_raters, 2, np.zeros(n_cases * n_raters, int)), Specification(tag))
        prevalence, alpha = rng.beta(2, 2), []
        while len(alpha) < n_raters:
            pair = rng.normal([2.0, 1.0], 2.0)
            if pair.sum() > 0:
                alpha.append(pair)
        specificity, sensitivity = np.array(alpha).T
        logit = np.log(prevalence) - np.log1p(-prevalence)
        truth = np.concatenate(([logit], specificity, np.log(np.expm1(specificity + sensitivity))))
        np.testing.assert_allclose(blank.coefficients(truth[None])[1][0], np.array(alpha), atol=1e-8)
        answer = blank.simulate(truth, int(rng.integers(2**31)))
        return DifficultyDensity(complete(n_cases, n_raters, 2, answer), Specification(tag)), truth

    return make


def nominal(even, n_cases=40, n_raters=5, n_classes=4):
    """The same of GLAD (``even``) or the nominal difficulty model; pseudo-mistakes are given."""

    def make(rng):
        # Pseudo-mistakes are those of other data: of one annotation a class, and some more of each.
        more = np.repeat(np.arange(n_classes), rng.integers(1, 9, n_classes))
        given = pseudo_mistakes(complete(more.size, 1, n_classes, more))
        blank = NominalDensity(complete(n_cases, n_raters, n_classes, np.zeros(n_cases * n_raters, int)), even, given)
        centre = rng.normal(*typical_ability(even))
        variance = 1 / rng.exponential()
        spread = np.inf
        while spread > MOST_SPREAD:
            spread = abs(rng.normal())
        ability = rng.normal(centre, np.sqrt(variance), n_raters)
        share = spread / MOST_SPREAD
        free = [ability, [centre, np.log(variance), np.log(share / (1 - share))]]
        if not even:
            free.append(np.log(rng.dirichlet(np.full(n_classes, 2.0))) @ blank.basis)
            for row in given + 1:
                off = row[row > 1]
                free.append(np.log(rng.dirichlet(off)) @ blank.inner)
        truth = np.concatenate(free)
        answer = blank.simulate(truth, int(rng.integers(2**31)))
        return NominalDensity(complete(n_cases, n_raters, n_classes, answer), even, given), truth

    return make


def numbers(density, draws):
    """What is ranked, by name: three parameters, a mean over raters, and the log likelihood of the data."""
    found = density.quantities(draws)
    ranked = {"log likelihood": density.log_likelihood(draws) @ density.case_count}
    if "severity" in found:
        ranked |= {f"{name}, rater {j}": found[name][:, j] for j, name in enumerate(NAMES)}
        ranked["prevalence of class 1"] = found["prevalence"][:, 1]
        ranked["mean severity"] = found["severity"].mean(axis=1)
        ranked["mean accuracy"] = found["accuracy"].mean(axis=1)
    elif "ability" in found:
        ranked["ability, rater 0"] = found["ability"][:, 0]
        ranked["difficulty spread"] = found["difficulty_spread"]
        ranked["centre"], ranked["variance"] = found["centre"], found["variance"]
        ranked["mean accuracy"] = found["accuracy"].mean(axis=1)
        if "mistakes" in found:
            ranked["prevalence of class 1"] = found["prevalence"][:, 1]
            ranked["mistake 2 on class 1"] = found["mistakes"][:, 1, 2]
    elif "confusion" in found:
        ranked["prevalence of class 1"] = found["prevalence"][:, 1]
        ranked["right on class 0, rater 0"] = found["confusion"][:, 0, 0, 0]
        ranked["class 1 as 2, rater 1"] = found["confusion"][:, 1, 1, 2]
        ranked["mean accuracy"] = found["accuracy"].mean(axis=1)
    else:
        ranked["prevalence"] = found["prevalence"]
        ranked["sensitivity, rater 0"] = found["alpha_sens"][:, 0]
        ranked["specificity, rater 1"] = found["alpha_spec"][:, 1]
        ranked["mean sensitivity"] = found["alpha_sens"].mean(axis=1)
    return ranked


def ranks(make, n_fits, seed, n_draws=400, n_tune=300):
    """Rank of the truth among `RANKED` draws, by name of the number, each of shape (n_fits,), and divergences."""
    rng = np.random.default_rng(seed)
    densities, truths = zip(*(make(rng) for _ in range(n_fits)), strict=True)
    chains = sample_many(densities, n_draws=n_draws, n_tune=n_tune, seeds=range(n_fits))
    found = []
    for density, truth, chain in zip(densities, truths, chains, strict=True):
        draws = chain.flat()[:: n_draws // RANKED]
        drawn, true = numbers(density, draws), numbers(density, truth[None])
        found.append({name: int((drawn[name] < true[name]).sum()) for name in drawn})
    divergent = float(np.mean([chain.divergent.mean() for chain in chains]))
    return {name: np.array([one[name] for one in found]) for name in found[0]}, divergent


def p_uniform(rank):
    """Probability that uniform ranks spread as unevenly, by Pearson's χ² over bins of equal width."""
    count = np.bincount(rank * BINS // (RANKED + 1), minlength=BINS)
    expected = len(rank) / BINS
    return float(chi2.sf(((count - expected) ** 2 / expected).sum(), BINS - 1))
