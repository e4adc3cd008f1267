"""A coefficient is one function of sums over cases: what follows from it, for one that the engine does not know."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from core import methods
from core.agreement.bootstrap import bootstrap
from core.agreement.by_rater import by_rater
from core.agreement.coefficient_methods import CoefficientMethod
from core.agreement.coefficients import fleiss_kappa
from core.agreement.differences import compare
from core.agreement.formulas import Draws, Formula
from core.agreement.linearised import estimate
from core.agreement.over_time import over_time
from core.agreement.pairs import pair_coefficients, pair_matrix
from core.annotations.counts import class_counts
from core.annotations.dataset import keep_only
from core.partitioned.build import patterns_of
from tests.core.agreement.examples import answers_of, counts_of, dataset_of, jackknife, random_panel

ROOT = Formula(
    lambda sums: 1 - ((1 - sums.observed / sums.cases) / (1 - sums.chance)) ** 0.5,
    lambda q, matrix: Draws(0.0, 1.0, matrix),
    of_pairs=True,
)
root_kappa = partial(estimate, "root_kappa", ROOT)


def of_kappa(kappa):
    """What the coefficient is where kappa is known: one function of it."""
    return 1 - np.sqrt(1 - kappa)


@pytest.fixture(autouse=True)
def _plugin(monkeypatch):
    method = CoefficientMethod(
        "root_kappa",
        "Root κ",
        lambda data, level=0.95: root_kappa(data, level),
        lambda asked: [root_kappa(asked.counts, **asked.how)],
        plainly="Of these tests.",
        exactly="1 − √(1 − κ).",
        sources=("Nobody (2020)",),
        formula=ROOT,
    )
    monkeypatch.setattr(methods, "_plugins", lambda: (method,))


@pytest.mark.parametrize("weights", [None, "quadratic"])
@pytest.mark.parametrize("seed", range(3))
def test_estimate_has_the_value_and_the_error_of_the_function(seed, weights):
    """The error by the delta method from that of kappa, where no case has a single annotation; else by jackknife."""
    cases = [case for case in answers_of(random_panel(seed, n_cases=200)) if len(case) > 1]
    found, kappa = (one(counts_of(cases, 4), weights=weights) for one in (root_kappa, fleiss_kappa))
    assert found.value == pytest.approx(of_kappa(kappa.value), abs=1e-12)
    assert found.se == pytest.approx(kappa.se / 2 / np.sqrt(1 - kappa.value), abs=1e-12)
    values = jackknife(lambda some: root_kappa(counts_of(some, 4), weights=weights).value, cases)
    assert found.se == pytest.approx(values, rel=0.03)


def test_bootstrap_and_comparison_resample_the_function():
    data = dataset_of(random_panel(1), 4, 5)
    found = bootstrap(data, n_replicates=50)
    root, kappa = found.position("root_kappa"), found.position("fleiss_kappa")
    np.testing.assert_allclose(found.replicates[:, root], of_kappa(found.replicates[:, kappa]), atol=1e-12)
    assert found.coefficients[root].value == pytest.approx(root_kappa(data).value, abs=1e-12)
    halves = data.select(raters=data.raters[:3]), data.select(raters=data.raters[2:])
    (one,) = compare(*halves, names=["root_kappa"], n_replicates=50)
    assert one.value == pytest.approx(root_kappa(halves[0]).value - root_kappa(halves[1]).value, abs=1e-12)
    assert one.se is not None


def test_pairs_of_raters_have_the_value_and_error_of_two():
    data = dataset_of(random_panel(2, n_cases=60), 4, 5)
    assert "root_kappa" in pair_coefficients()
    found, scott = (pair_matrix(data, name) for name in ("root_kappa", "scott_pi"))
    np.testing.assert_allclose(found.value, of_kappa(scott.value), atol=1e-12)
    np.testing.assert_allclose(found.se, scott.se / 2 / np.sqrt(1 - scott.value), atol=1e-12)


def test_raters_left_out_windows_and_patterns_follow():
    data = dataset_of(random_panel(3, gaps=0.2), 4, 5)
    data = replace(data, time=np.arange(data.n_annotations) * 86_400)
    left = by_rater(data, "root_kappa").without
    for rater in range(5):
        assert left[rater] == pytest.approx(root_kappa(keep_only(data, data.rater != rater)).value, abs=1e-12)
    (window,) = over_time(data, "cases", n_windows=1, coefficients=["root_kappa"]).windows
    assert window.coefficients == (root_kappa(data),)
    patterns = root_kappa(patterns_of(class_counts(data)))
    for field in ("value", "se", "ci_low", "ci_high"):
        assert getattr(patterns, field) == pytest.approx(getattr(root_kappa(data), field), abs=1e-12)
