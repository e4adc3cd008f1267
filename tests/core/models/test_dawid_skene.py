"""Dawid-Skene by EM against a slow EM that multiplies probabilities case by case, and against published fits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from math import log

import numpy as np
import pytest

from core.errors import Cancelled, LimitError, NotApplicableError
from core.ingest.samples import load_sample
from core.models import design
from core.models import smoothing as pools
from core.models.dawid_skene import DawidSkene, StoppingRule, default_smoothing
from core.models.identifiability import left_free, tap_identifiability, unidentified_raters
from core.models.majority import MajorityVote
from core.models.tap import TAP
from core.runtime.chunks import CancelToken, chunk_ranges
from tests.core.kinds import as_rankings
from tests.core.models.rows import check_sane, random_rows, simulated

SMOOTHINGS = ("none", "diagonal", "pooled")
NEVER = -1.0  # a tolerance that no step satisfies: exactly max_iterations steps are made


def slow_start(rows, n_cases, n_classes):
    share = np.full((n_cases, n_classes), 1 / n_classes)
    for case in range(n_cases):
        answers = [answer for c, _, answer in rows if c == case]
        if answers:
            share[case] = [answers.count(k) / len(answers) for k in range(n_classes)]
    return share


def slow_em(rows, n_cases, n_raters, n_classes, prior_pi, prior_theta, stop):
    """EM from the vote shares with products of probabilities. ``prior_theta`` has axes true, annotated class."""
    q = slow_start(rows, n_cases, n_classes)
    answered = {case for case, _, _ in rows}
    path = []
    while True:
        pi = np.array([prior_pi + sum(q[case, k] for case in answered) for k in range(n_classes)])
        pi /= pi.sum()
        theta = np.array([prior_theta.copy() for _ in range(n_raters)])
        for (case, rater, answer), k in product(rows, range(n_classes)):
            theta[rater, k, answer] += q[case, k]
        for rater in range(n_raters):
            for k in range(n_classes):
                mass = theta[rater, k].sum()
                theta[rater, k] = theta[rater, k] / mass if mass > 0 else 1 / n_classes
        log_likelihood = 0.0
        for case in range(n_cases):
            joint = pi.copy()
            for c, rater, answer in rows:
                if c == case:
                    joint = joint * theta[rater, :, answer]
            log_likelihood += log(joint.sum())
            q[case] = joint / joint.sum()
        penalty = sum(prior_pi * log(p) for p in pi if prior_pi > 0)
        for rater, k, other in product(range(n_raters), range(n_classes), range(n_classes)):
            if prior_theta[k, other] > 0:
                penalty += prior_theta[k, other] * log(theta[rater, k, other])
        path.append(log_likelihood + penalty)
        if stop(path):
            return pi, theta, q, path, log_likelihood


def slow_fit(rows, n_cases, n_raters, n_classes, smoothing, n_iterations):
    """The three smoothings as they are defined: pseudo-counts for the rows of every rater."""
    prior_pi, prior_theta = 0.0, np.zeros((n_classes, n_classes))
    if smoothing == "diagonal":  # the mode under Dirichlet(3), and rows of 2.5 K, else 1 + 1/K
        off = (1 - np.eye(n_classes)) / n_classes
        prior_pi, prior_theta = 3 - 1, np.eye(n_classes) * (2.5 * n_classes - 1) + off
    if smoothing == "pooled":
        one = [(case, 0, answer) for case, _, answer in rows]

        def stop(path):
            return len(path) == 200 or (len(path) > 1 and path[-1] - path[-2] <= 1e-8 * (1 + abs(path[-1])))

        prior_theta = 10 * slow_em(one, n_cases, 1, n_classes, 0.0, np.zeros((n_classes, n_classes)), stop)[1][0]
        prior_theta[prior_theta < 1e-99] = 0
    return slow_em(rows, n_cases, n_raters, n_classes, prior_pi, prior_theta, lambda path: len(path) == n_iterations)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_em_equals_the_reference_that_multiplies_probabilities(smoothing, seed, build):
    rows = random_rows(seed)
    pi, theta, q, path, log_likelihood = slow_fit(rows, 25, 4, 3, smoothing, 30)
    fit = DawidSkene(smoothing, StoppingRule(30, NEVER)).fit(build(rows, 3, 25, 4))
    assert fit.prevalence == pytest.approx(pi, abs=1e-9)
    assert fit.confusion == pytest.approx(theta, abs=1e-9)
    assert fit.class_probability == pytest.approx(q, abs=1e-9)
    assert fit.objective == pytest.approx(path, abs=1e-8)
    assert fit.log_likelihood == pytest.approx(log_likelihood, abs=1e-8)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("size", [1, 7, 24])
def test_the_size_of_chunks_changes_nothing(smoothing, size, build, monkeypatch):
    model, dataset = DawidSkene(smoothing, StoppingRule(20, NEVER)), build(random_rows(8), 3)
    whole = model.fit(dataset)
    monkeypatch.setattr(design, "_chunks", lambda data: chunk_ranges(data.n_cases, size))
    parts = model.fit(dataset)
    assert parts.class_probability == pytest.approx(whole.class_probability, abs=1e-12)
    assert parts.confusion == pytest.approx(whole.confusion, abs=1e-12)
    assert parts.objective == pytest.approx(whole.objective, abs=1e-10)


def test_two_fits_at_once_are_each_what_they_are_alone(build, monkeypatch):
    monkeypatch.setattr(design, "_chunks", lambda data: chunk_ranges(data.n_cases, 5))
    model, datasets = DawidSkene("none"), [build(random_rows(seed), 3) for seed in range(6)]
    alone = [model.fit(dataset) for dataset in datasets]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(model.fit, datasets))
    for one, other in zip(alone, together, strict=True):
        assert (one.class_probability == other.class_probability).all()
        assert one.objective == other.objective


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_confusion_matrices_of_simulated_raters_are_recovered(smoothing, build):
    """Within five standard errors of what knowing the truth would give, for 3,000 cases seen by all six raters."""
    rng = np.random.default_rng(1)
    confusion = np.array([rng.dirichlet(np.ones(3) + 12 * row, size=1)[0] for _ in range(6) for row in np.eye(3)])
    confusion = confusion.reshape(6, 3, 3)
    prevalence = np.array([0.5, 0.3, 0.2])
    rows, truth = simulated(2, 3000, confusion, prevalence, 6)
    fit = DawidSkene(smoothing).fit(build(rows, 3))
    n_true = np.bincount(truth)
    error = np.sqrt(confusion * (1 - confusion) / n_true[None, :, None])
    assert (np.abs(fit.confusion - confusion) < 5 * error + 15 / n_true[None, :, None]).all()
    assert (np.abs(fit.prevalence - prevalence) < 5 * np.sqrt(prevalence * (1 - prevalence) / 3000)).all()


def test_the_pool_beats_maximum_likelihood_where_raters_have_few_annotations(build):
    """300 raters × 20 annotations, fewer errors, and a far smaller log loss."""
    rng = np.random.default_rng(0)
    skill = rng.uniform(0.3, 0.9, 300)
    confusion = skill[:, None, None] * np.eye(4) + (1 - skill[:, None, None]) / 4
    rows, truth = simulated(3, 1500, confusion, np.full(4, 0.25), 4)
    dataset = build(rows, 4)
    score = {}
    for smoothing in ("none", "pooled"):
        fit = DawidSkene(smoothing).fit(dataset)
        right = fit.class_probability[np.arange(1500), truth]
        score[smoothing] = np.mean(fit.top_class() == truth), -np.log(right.clip(1e-12)).mean()
    assert default_smoothing(dataset) == "pooled"
    assert score["pooled"][0] > score["none"][0]
    assert score["pooled"][1] < score["none"][1] / 2
    assert score["pooled"][0] > np.mean(MajorityVote().fit(dataset).top_class() == truth)


def test_the_pool_is_the_default_however_many_annotations_raters_have(build):
    rows = [(case, rater, case % 2) for case in range(60) for rater in range(3)]
    for some in (rows, rows[:-2], rows[:4]):
        assert default_smoothing(build(some, 2)) == "pooled"
        assert DawidSkene().fit(build(some, 2)).settings["smoothing"] == "pooled"


@pytest.mark.parametrize("smoothing", ["none", "diagonal", "pooled", "empirical"])
def test_maximum_likelihood_says_that_nothing_was_shrunk_and_the_others_do_not(smoothing, build):
    notes = DawidSkene(smoothing).fit(build(random_rows(1), 3)).notes
    assert any("without shrinkage" in note for note in notes) == (smoothing == "none")


@pytest.mark.parametrize("smoothing", ["diagonal", "empirical"])
def test_a_confusion_that_a_rater_never_made_does_not_rule_out_a_class(smoothing, build):
    """Three raters who are always right, until on the last case one of them alone names the third class."""
    rows = [(case, rater, case % 3) for case in range(60) for rater in range(3)]
    dataset = build([*rows, (60, 0, 2), (60, 1, 0), (60, 2, 0)], 3)
    probability = DawidSkene(smoothing).fit(dataset).class_probability[60]
    assert probability.argmax() == 0
    assert probability[2] > 1e-9
    assert DawidSkene("none").fit(dataset).class_probability[60, 2] < 1e-30


def test_one_annotation_per_case_everywhere_is_not_estimable(build):
    with pytest.raises(NotApplicableError, match="Cannot determine rater accuracy"):
        DawidSkene().fit(build([(0, 0, 0), (1, 1, 1), (2, 0, 1)], 2))


def test_anonymous_answers_rankings_and_too_many_cells_are_refused(build, monkeypatch):
    dataset = build(random_rows(1), 3)
    with pytest.raises(NotApplicableError, match="anonymous"):
        DawidSkene().fit(replace(dataset, raters_identified=False))
    with pytest.raises(NotApplicableError, match="rankings"):
        DawidSkene().fit(as_rankings(dataset))
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "35")
    with pytest.raises(LimitError, match="majority vote"):
        DawidSkene().fit(dataset)


def test_a_class_nobody_used_gets_no_mass_and_rows_that_say_so(build):
    rows = [(case, rater, case % 2) for case in range(6) for rater in range(3)]
    fit = DawidSkene("none").fit(build(rows, 3))
    assert fit.prevalence == pytest.approx([0.5, 0.5, 0], abs=1e-12)
    assert fit.evidence[:, 2] == pytest.approx(np.zeros(3), abs=1e-12)
    assert fit.confusion[:, 2] == pytest.approx(np.full((3, 3), 1 / 3))


def test_a_single_class_is_certain(build):
    fit = DawidSkene("none").fit(build([(0, 0, 0), (0, 1, 0), (1, 0, 0)], 1))
    check_sane(fit)
    assert fit.class_probability.tolist() == [[1], [1]]
    assert fit.top_class().tolist() == [0, 0]


def test_a_fit_that_stopped_early_says_that_it_has_not_converged(build):
    early = DawidSkene("none", StoppingRule(2)).fit(build(random_rows(1), 3))
    assert not early.converged
    assert any("Not converged" in note for note in early.notes)
    late = DawidSkene("none").fit(build(random_rows(1), 3))
    assert late.converged and not any("Not converged" in note for note in late.notes)


def test_a_fit_with_swapped_classes_is_flagged_as_worse_than_chance(build):
    """Started from the votes turned round, EM stays at the mirror image of the likelihood's mode."""
    confusion = np.full((5, 2, 2), 0.1) + 0.8 * np.eye(2)
    dataset = build(simulated(1, 100, confusion, (0.6, 0.4), 4)[0], 2)
    problem = DawidSkene("none").problem(dataset)
    upright = problem.fit_from(problem.data.start, StoppingRule())
    mirrored = problem.fit_from(np.ascontiguousarray(problem.data.start[:, ::-1]), StoppingRule())
    assert mirrored.objective[-1] == pytest.approx(upright.objective[-1], abs=1e-6)
    assert not any("worse than chance" in note for note in upright.notes)
    assert any("worse than chance" in note for note in mirrored.notes)


def test_a_cancelled_token_stops_the_iterations(build):
    token, seen = CancelToken(), []

    def progress(share):
        seen.append(share)
        if len(seen) == 3:
            token.cancel()

    with pytest.raises(Cancelled):
        DawidSkene("none", StoppingRule(1000, NEVER)).fit(build(random_rows(1), 3), token=token, progress=progress)
    assert seen == [0.001, 0.002, 0.003]


def test_cells_of_the_pool_that_have_died_do_not_spoil_the_penalty(build, monkeypatch):
    """A pseudo-count of 5e-323 times ln 0, once it has been divided, would be minus infinity; it counts as never."""
    dataset = build(random_rows(1, n_classes=2), 3)
    theta = np.full((3, 3), 1 / 3)
    theta[:, 0] = 1, 0, 5e-324
    found = pools.pooled_summit

    def dying(data, family, token):
        top = found(data, family, token)
        with np.errstate(divide="ignore"):
            return replace(top, point=replace(top.point, log_theta=np.log(theta)))

    monkeypatch.setattr(pools, "pooled_summit", dying)
    check_sane(DawidSkene("pooled").fit(dataset))


@pytest.mark.parametrize("smoothing", [*SMOOTHINGS, "empirical"])
def test_a_fit_whose_rows_rest_on_one_case_each_says_so_and_whose_rows_they_are(smoothing, build):
    agreeing = [(case, rater, case) for case in range(40) for rater in range(3)]
    thin = build(agreeing, 40)
    said = [note for note in DawidSkene(smoothing).fit(thin).notes if "rows of the confusion" in note]
    assert len(said) == 1 and "Half of the 120 rows" in said[0] and "fewer than 2 annotations" in said[0]
    assert ("pooled over all raters" in said[0]) == (smoothing in ("pooled", "empirical"))
    often = build([(40 * again + case, rater, answer) for again in range(4) for case, rater, answer in agreeing], 40)
    assert not [note for note in DawidSkene(smoothing).fit(often).notes if "rows of the confusion" in note]


# Published fits: Dawid-Skene against the fits that were published, and the modes that restarts find.


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


# Identifiability: What two annotations per case can tell, against the rank of what the model says of pairs.


GRAPHS = {
    "triangle": [(0, 1), (1, 2), (0, 2)],
    "pair": [(0, 1)],
    "path": [(0, 1), (1, 2)],
    "square": [(0, 1), (1, 2), (2, 3), (0, 3)],
    "triangle with a tail": [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)],
    "two triangles": [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)],
    "a triangle and a pair": [(0, 1), (1, 2), (0, 2), (3, 4)],
    "two pairs": [(0, 1), (2, 3)],
}


def of_graph(edges, n_classes, build):
    return build([(case, rater, 0) for case, pair in enumerate(edges) for rater in pair], n_classes)


def moves_unseen(edges, n_classes):
    """Raters whose accuracy can move while the tables of all pairs stand still, by the rank of their derivative."""
    n_raters = 1 + max(max(pair) for pair in edges)
    rng = np.random.default_rng(0)
    start = rng.normal(0, 0.5, (n_classes - 1) + n_raters * n_classes)

    def tables(x):
        softmax = np.exp(np.append(x[: n_classes - 1], 0))
        t = softmax / softmax.sum()
        theta = []
        for own in x[n_classes - 1 :].reshape(n_raters, n_classes):
            a, p = 1 / (1 + np.exp(-own[0])), np.exp(np.append(own[1:], 0))
            theta.append(a * np.eye(n_classes) + (1 - a) * p / p.sum())
        return np.concatenate([(theta[j].T @ np.diag(t) @ theta[h]).ravel() for j, h in edges])

    step = 1e-5
    columns = [(tables(start + e) - tables(start - e)) / (2 * step) for e in step * np.eye(start.size)]
    _, size, directions = np.linalg.svd(np.array(columns).T, full_matrices=True)
    rank = int((size > 1e-7).sum())
    place = n_classes - 1 + n_classes * np.arange(n_raters)
    return np.flatnonzero(np.abs(directions[rank:][:, place]).max(axis=0, initial=0) > 1e-4)


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("n_classes", [3, 4])
def test_accuracies_are_lost_exactly_where_the_component_of_pairs_has_no_odd_cycle(edges, n_classes, build):
    dataset = of_graph(edges, n_classes, build)
    assert unidentified_raters(dataset).tolist() == moves_unseen(edges, n_classes).tolist()
    notes = tap_identifiability(dataset, common=False)
    assert bool(notes) == bool(unidentified_raters(dataset).size)


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
def test_with_two_classes_every_accuracy_is_lost(edges, build):
    dataset = of_graph(edges, 2, build)
    assert len(moves_unseen(edges, 2)) == dataset.n_raters
    assert "two classes and two annotations" in tap_identifiability(dataset, common=False)[0]
    assert tap_identifiability(dataset, common=True)


def test_common_parameters_of_three_classes_need_no_cycle_and_three_annotations_need_nothing(build):
    assert tap_identifiability(of_graph(GRAPHS["pair"], 3, build), common=True) == ()
    three = build([(0, rater, 0) for rater in range(3)], 2)
    assert tap_identifiability(three, common=False) == ()


def test_a_fit_tells_what_its_design_cannot(build):
    pairs = build([(case, rater, case % 2) for case in range(30) for rater in (0, 1)], 2)
    for model in (TAP(), TAP(raters="common"), DawidSkene()):
        assert any("Not identified" in note for note in model.fit(pairs).notes)
    three = build([(case, rater, case % 2) for case in range(30) for rater in (0, 1, 2)], 2)
    for model in (TAP(), DawidSkene()):
        assert not any("Not identified" in note for note in model.fit(three).notes)


def test_accuracies_at_their_bounds_leave_other_parameters_free(build):
    assert left_free(np.array([0.0, 0.0])) == (
        "All accuracies are 0 in this fit: annotations are guesses, and the data do not determine the prevalence t.",
    )
    assert left_free(np.array([0.0, 0.5]))[0].startswith("1 of 2 raters has an accuracy of 0 ")
    assert left_free(np.array([1.0, 0.5, 1.0]))[0].startswith("2 of 3 raters have an accuracy of 1 ")
    assert left_free(np.array([0.4])) == ()
    perfect = build([(case, rater, case % 3) for case in range(30) for rater in range(3)], 3)
    assert any("3 of 3 raters have an accuracy of 1" in note for note in TAP("none").fit(perfect).notes)
