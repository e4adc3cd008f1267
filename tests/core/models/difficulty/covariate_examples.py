"""Simulated data with facts on raters and cases whose effects are known."""

import numpy as np

from core.annotations.dataset import Dataset
from core.models.difficulty.covariate_density import CovariateDensity
from core.models.difficulty.covariate_design import covariate, side_by_side

VALUES = ("senior", "resident", "student")


def design(rng, n_cases, n_raters, per_case):
    """Facts on raters and cases at random, and who annotates what: every case by ``per_case`` raters."""
    role = rng.permutation(np.resize(VALUES[:2], n_raters))
    years = [f"{year:.1f}" for year in rng.uniform(1, 30, n_raters)]
    site = rng.choice(["north", "south"], n_cases, p=[0.6, 0.4])
    case = np.repeat(np.arange(n_cases), per_case)
    rater = np.concatenate([rng.permutation(n_raters)[:per_case] for _ in range(n_cases)])
    return {"role": role.tolist(), "years": years}, {"site": site.tolist()}, case, rater


def columns_of(rater_facts, case_facts):
    pairs = [("raters", rater_facts), ("cases", case_facts)]
    return [covariate(side, *one) for side, facts in pairs for one in facts.items()]


def density_of(dataset, columns):
    sides = [[one for one in columns if one.side == side] for side in ("cases", "raters")]
    regressors = (side_by_side(part, n) for part, n in zip(sides, (dataset.n_cases, dataset.n_raters), strict=True))
    return CovariateDensity(dataset, 1, *regressors)


def dataset_of(case, rater, answer):
    n_cases, n_raters = int(case.max()) + 1, int(rater.max()) + 1
    names = [f"case {i}" for i in range(n_cases)], [f"rater {j}" for j in range(n_raters)], ("no", "yes")
    return Dataset.from_classes("simulated", *names, case, rater, answer)


def from_prior(rng, density):
    """Parameters drawn from the prior of a density."""
    centre, sd = density._prior
    return centre + sd * rng.standard_normal(density.ndim)


def annotate(rng, density, theta):
    """Annotations of the cases and raters of a density, int, (n_annotations,)."""
    at, dataset = density.split(theta), density.dataset
    case, rater = dataset.case_of_annotation, dataset.rater
    truth = rng.random(dataset.n_cases) < 1 / (1 + np.exp(-at.intercept - density.of_cases @ at.prevalence))
    hard = density.of_cases @ at.difficulty + np.exp(at.log_spread) * rng.standard_normal(dataset.n_cases)
    log_odds = density.abilities(at)[rater, truth[case].astype(int)] - hard[case]
    right = rng.random(case.size) < 1 / (1 + np.exp(-log_odds))
    return np.where(right, truth[case], ~truth[case]).astype(int)


def simulated(seed, n_cases=150, n_raters=20, per_case=4, change=None):
    """Dataset, facts on raters and on cases, and the parameters behind them; ``change`` edits these by name."""
    rng = np.random.default_rng(seed)
    rater_facts, case_facts, case, rater = design(rng, n_cases, n_raters, per_case)
    blank = density_of(dataset_of(case, rater, np.zeros(case.size, int)), columns_of(rater_facts, case_facts))
    theta = from_prior(rng, blank)
    for name, value in (change or {}).items():
        getattr(blank.split(theta), name)[:] = value
    answer = annotate(rng, blank, theta)
    return dataset_of(blank.dataset.case_of_annotation, blank.dataset.rater, answer), rater_facts, case_facts, theta
