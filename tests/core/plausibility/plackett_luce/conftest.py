"""Slow and obvious references: all orders written out, the simplex cut into small triangles, draws from the prior."""

from functools import cache
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit

from core.annotations.dataset import Dataset
from core.plausibility.plackett_luce._gibbs_kernels import effective_draws
from core.plausibility.plackett_luce.gibbs import PlackettLuce

SIGMAS = 4.5  # a check of one number raises a false alarm 7 times in a million


def dataset_of(cases, n_classes, case_names=None, rater_names=None):
    """A dataset of rankings from ``cases[case][annotation][block]``, a list of classes."""
    case, rater, ptr, entry_class, entry_rank = [], [], [0], [], []
    for i, annotations in enumerate(cases):
        for j, blocks in enumerate(annotations):
            case.append(i)
            rater.append(j)
            for b, block in enumerate(blocks):
                entry_class.extend(block)
                entry_rank.extend([b] * len(block))
            ptr.append(len(entry_class))
    n_raters = max(map(len, cases))
    return Dataset.from_rankings(
        "test",
        case_names or [f"case {i}" for i in range(len(cases))],
        rater_names or [f"rater {j}" for j in range(n_raters)],
        [f"class {k}" for k in range(n_classes)],
        np.array(case, int),
        np.array(rater, int),
        np.array(ptr),
        np.array(entry_class, int),
        np.array(entry_rank, float),
    )


def draw_case(annotations, n_classes, *, alpha=1.0, reliability=1.0, n_draws=20_000, seed=1, **settings):
    """Draws of one case."""
    model = PlackettLuce(alpha, **settings)
    ((_, draws),) = model.draws(
        dataset_of([annotations], n_classes), reliability=reliability, n_draws=n_draws, seed=seed
    )
    return draws


def likelihood(blocks, lam):
    """Sum of the probabilities of all complete orders that agree with a partial ranking; λ of shape (..., K)."""
    n_classes = lam.shape[-1]
    place = np.full(n_classes, len(blocks))
    for b, block in enumerate(blocks):
        place[block] = b
    total = np.zeros(lam.shape[:-1])
    for order in permutations(range(n_classes)):
        if (np.diff(place[list(order)]) < 0).any():
            continue
        term = np.ones(lam.shape[:-1])
        left = list(order)
        while left:
            term = term * lam[..., left[0]] / lam[..., left].sum(axis=-1)
            left = left[1:]
        total += term
    return total


def tied_first(lam, after):
    """P(all of the classes arrive before the first of the others) = E Π (1 - V^(λ_k / Z)), V uniform.

    Double-exponential rule for V; λ of shape (..., n), after of shape (...).
    """
    t = np.linspace(-4, 4, 101)
    x = np.pi * np.sinh(t)
    weight = np.pi * np.cosh(t) * expit(x) * expit(-x) * (t[1] - t[0])
    log_v = -np.logaddexp(0, -x)
    product = np.ones((*after.shape, t.size))
    for k in range(lam.shape[-1]):
        product *= -np.expm1((lam[..., k] / after)[..., None] * log_v)
    return product @ weight


def blocks_likelihood(blocks, lam):
    """As `likelihood`, block after block by `tied_first`: for more classes than can be written out."""
    named = [k for block in blocks for k in block]
    left = [k for k in range(lam.shape[-1]) if k not in named]
    total = np.ones(lam.shape[:-1])
    for block in reversed(blocks):
        if left:
            total *= tied_first(lam[..., block], lam[..., left].sum(axis=-1))
        left = left + block
    return total


@cache
def triangle(steps=300):
    """Centres of equal triangles that fill the simplex of three classes."""
    i, j = np.divmod(np.arange(steps * steps), steps)
    up, down = i + j < steps, i + j < steps - 1
    first = np.concatenate([i[up] + 1 / 3, i[down] + 2 / 3]) / steps
    second = np.concatenate([j[up] + 1 / 3, j[down] + 2 / 3]) / steps
    return np.column_stack([first, second, 1 - first - second])


_known = {}


def _log_likelihood(blocks, lam):
    """The logarithm of `likelihood`, once for each ranking on each grid."""
    key = (repr(blocks), id(lam))
    if key not in _known:
        _known[key] = lam, np.log(likelihood(blocks, lam))  # with the grid, so that no other one takes its place
    return _known[key][1]


def posterior(annotations, lam, shape, reliability):
    """Weights of λ, rows of the simplex, under Dirichlet(shape) and reliability copies of each annotation."""
    log_weight = ((np.array(shape) - 1) * np.log(lam)).sum(axis=-1)
    for blocks in annotations:
        log_weight = log_weight + reliability * _log_likelihood(blocks, lam)
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum()


def places(top, n_places):
    """Indicators of which class stands first, and which second, one column each."""
    return np.concatenate([top[:, j][:, None] == np.arange(n_places) for j in (0, 1)], axis=1).astype(float)


def first_two(lam):
    """`places` of rows of λ; where two classes are equal, half for either order."""
    n_places = lam.shape[1]
    key = -np.round(lam, 9)
    upward = np.argsort(key, axis=1, kind="stable")
    downward = n_places - 1 - np.argsort(key[:, ::-1], axis=1, kind="stable")
    return (places(upward, n_places) + places(downward, n_places)) / 2


def assert_means(series, exact, error=1e-4):
    """Means of the columns of a chain equal ``exact`` (known within ``error``) by the chain's effective number.

    The spread of a column of 0 and 1 is that of its exact mean, so that it is known where all of them are alike.
    """
    exact = np.broadcast_to(exact, series.shape[1])
    ess = np.array([effective_draws(np.ascontiguousarray(column[:, None])) for column in series.T])
    indicator = ((series == 0) | (series == 1)).all(axis=0)
    variance = np.where(indicator, np.clip(exact * (1 - exact), 0, 1), series.var(axis=0))
    bound = SIGMAS * np.sqrt(variance / ess + np.square(error))
    found = series.mean(axis=0)
    assert (np.abs(found - exact) < bound).all(), f"{found} is not {exact} within {bound}"


@pytest.fixture
def slow():
    """The references of this folder."""
    return SimpleNamespace(
        dataset_of=dataset_of,
        draw_case=draw_case,
        likelihood=likelihood,
        tied_first=tied_first,
        blocks_likelihood=blocks_likelihood,
        triangle=triangle,
        posterior=posterior,
        places=places,
        first_two=first_two,
        assert_means=assert_means,
    )
