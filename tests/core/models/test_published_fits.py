"""Dawid-Skene against the fits that were published, and the modes that restarts find."""

import numpy as np
import pytest

from core.errors import Cancelled
from core.ingest.samples import load_sample
from core.models.dawid_skene import DawidSkene
from core.runtime.chunks import CancelToken
from tests.core.models.rows import simulated


@pytest.fixture(scope="module")
def anaesthesia():
    return load_sample("anaesthesia")


@pytest.fixture(scope="module")
def anaesthesia_fit(anaesthesia):
    return DawidSkene("none").fit(anaesthesia)


def test_anaesthesia_from_the_votes_gives_the_published_error_rates(anaesthesia_fit):
    """Dawid & Skene 1979, tables 2 and 4; the log-likelihood was calculated independently."""
    fit = anaesthesia_fit
    assert fit.log_likelihood == pytest.approx(-192.8909, abs=1e-4)
    assert fit.prevalence == pytest.approx([0.3996, 0.4220, 0.1118, 0.0667], abs=1e-4)
    first, second = fit.confusion[:2]
    assert first == pytest.approx(
        np.array([[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]), abs=5.1e-3
    )
    assert second == pytest.approx(
        np.array([[0.83, 0.17, 0, 0], [0.05, 0.63, 0.31, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), abs=5.1e-3
    )
    assert fit.converged


def test_anaesthesia_leaves_only_three_patients_open(anaesthesia_fit):
    """Patients 7 (0.981), 35 (0.948) and 38 (0.979)."""
    top = anaesthesia_fit.class_probability.max(axis=1)
    open_cases = {case: p for case, p in zip(anaesthesia_fit.cases, top, strict=True) if p < 0.99}
    assert open_cases == pytest.approx({"7": 0.981, "35": 0.948, "38": 0.979}, abs=5.1e-4)


def test_anaesthesia_restarts_find_a_higher_mode_and_say_that_it_differs(anaesthesia, anaesthesia_fit):
    """Best of 200 starts: −191.5689; class 2 gains prevalence from class 3, and patient 12 becomes class 2."""
    found = DawidSkene("none").restarts(anaesthesia, anaesthesia_fit, 200, seed=0)
    best = found.best
    assert found.differs and len(found.objectives) == 200
    assert best.log_likelihood == pytest.approx(-191.5689, abs=1e-4)
    assert max(found.objectives) == pytest.approx(best.objective[-1], abs=1e-3)
    assert best.prevalence == pytest.approx([0.3996, 0.4471, 0.0866, 0.0667], abs=1e-4)
    assert best.confusion[0, 2] == pytest.approx([0, 0.154, 0.846, 0], abs=5.1e-4)
    changed = np.flatnonzero(best.top_class() != anaesthesia_fit.top_class())
    assert [best.cases[case] for case in changed] == ["12"]
    assert best.classes[best.top_class()[changed[0]]] == "2"
    assert found.n_changed == 1


def test_restarts_repeat_themselves_for_one_seed_and_end_on_request(anaesthesia, anaesthesia_fit):
    model = DawidSkene("none")
    once = model.restarts(anaesthesia, anaesthesia_fit, 4, seed=3)
    assert once.objectives == model.restarts(anaesthesia, anaesthesia_fit, 4, seed=3).objectives
    assert once.objectives[:2] == model.restarts(anaesthesia, anaesthesia_fit, 2, seed=3).objectives
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        model.restarts(anaesthesia, anaesthesia_fit, 4, token=token)


def test_restarts_that_find_nothing_better_keep_the_vote_start(build):
    confusion = np.full((5, 2, 2), 0.05) + 0.9 * np.eye(2)
    dataset = build(simulated(1, 200, confusion, (0.6, 0.4), 5)[0], 2)
    fit = DawidSkene("none").fit(dataset)
    found = DawidSkene("none").restarts(dataset, fit, 6)
    assert found.best is fit
    assert (found.differs, found.n_changed) == (False, 0)


def test_caries_has_the_known_maximum_of_the_likelihood():
    """Espeland & Handelman 1989: prevalence 0.19607, log-likelihood −7465.385, sensitivities and specificities."""
    fit = DawidSkene("none").fit(load_sample("caries"))
    positive = fit.classes.index("1")
    assert fit.log_likelihood == pytest.approx(-7465.385, abs=5e-4)
    assert fit.prevalence[positive] == pytest.approx(0.19607, abs=2e-5)
    sensitivity, specificity = fit.confusion[:, positive, positive], fit.confusion[:, 1 - positive, 1 - positive]
    assert sensitivity == pytest.approx([0.403, 0.713, 0.598, 0.489, 0.915], abs=6e-4)
    assert specificity == pytest.approx([0.989, 0.898, 0.986, 0.968, 0.695], abs=6e-4)
