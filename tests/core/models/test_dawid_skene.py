"""Dawid-Skene by EM against a slow EM that multiplies probabilities case by case, and against published fits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import log

import numpy as np
import pytest

from core.annotations.samples import load_sample
from core.chunks import CancelToken
from core.errors import Cancelled, LimitError, NotApplicableError
from core.models import dawid_skene
from core.models.dawid_skene import DawidSkene, StoppingRule, default_smoothing
from core.models.majority import MajorityVote

SMOOTHINGS = ("none", "diagonal", "pooled")
NEVER = -1.0  # a tolerance that no step satisfies: exactly max_iterations steps are made


def random_rows(seed, n_cases=25, n_raters=4, n_classes=3, answered=0.7, accuracy=0.65):
    """Gaps, repeats now and then, and raters who are often right; the first case has two annotations."""
    rng = np.random.default_rng(seed)
    rows = [(0, 0, 0), (0, n_raters - 1, 0)]
    for case in range(n_cases):
        truth = int(rng.integers(n_classes))
        for rater in range(n_raters):
            times = int(rng.random() < answered) + int(rng.random() < 0.05)
            answers = [truth if rng.random() < accuracy else int(rng.integers(n_classes)) for _ in range(times)]
            rows += [(case, rater, answer) for answer in answers]
    return rows


def simulated(seed, n_cases, confusion, prevalence, per_case):
    """Rows and true classes from confusion matrices of shape (n_raters, n_classes, n_classes)."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(prevalence), size=n_cases, p=prevalence)
    rows = []
    for case in range(n_cases):
        raters = rng.choice(len(confusion), size=per_case, replace=False)
        rows += [(case, int(r), int(rng.choice(len(prevalence), p=confusion[r, truth[case]]))) for r in raters]
    return rows, truth


def slow_start(rows, n_cases, n_classes):
    share = np.full((n_cases, n_classes), 1 / n_classes)
    for case in range(n_cases):
        answers = [answer for c, _, answer in rows if c == case]
        if answers:
            share[case] = [answers.count(k) / len(answers) for k in range(n_classes)]
    return share


def slow_em(rows, n_cases, n_raters, n_classes, prior_pi, prior_theta, stop):
    """EM from the vote shares with products of probabilities. ``prior_theta`` has axes true, answered class."""
    q = slow_start(rows, n_cases, n_classes)
    answered = {case for case, _, _ in rows}
    path = []
    while True:
        pi = np.array([prior_pi + sum(q[case, k] for case in answered) for k in range(n_classes)])
        pi /= pi.sum()
        theta = np.array([prior_theta.copy() for _ in range(n_raters)])
        for case, rater, answer in rows:
            for k in range(n_classes):
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
        for rater in range(n_raters):
            for k in range(n_classes):
                for l in range(n_classes):  # noqa: E741 - the letter of the model
                    if prior_theta[k, l] > 0:
                        penalty += prior_theta[k, l] * log(theta[rater, k, l])
        path.append(log_likelihood + penalty)
        if stop(path):
            return pi, theta, q, path, log_likelihood


def slow_fit(rows, n_cases, n_raters, n_classes, smoothing, n_iterations):
    """The three smoothings as they are defined: pseudo-counts for the rows of every rater."""
    prior_pi, prior_theta = 0.0, np.zeros((n_classes, n_classes))
    if smoothing == "diagonal":  # the mode under Dirichlet(3), and 2.5 K on the diagonal of each row
        prior_pi, prior_theta = 3 - 1, np.eye(n_classes) * (2.5 * n_classes - 1)
    if smoothing == "pooled":
        one = [(case, 0, answer) for case, _, answer in rows]

        def stop(path):
            return len(path) == 200 or (len(path) > 1 and path[-1] - path[-2] <= 1e-8 * (1 + abs(path[-1])))

        prior_theta = 10 * slow_em(one, n_cases, 1, n_classes, 0.0, np.zeros((n_classes, n_classes)), stop)[1][0]
        prior_theta[prior_theta < 1e-99] = 0
    return slow_em(rows, n_cases, n_raters, n_classes, prior_pi, prior_theta, lambda path: len(path) == n_iterations)


def check_sane(fit):
    """No NaN, and all that are distributions sum to 1."""
    for array in (fit.prevalence, fit.confusion, fit.class_probability, fit.evidence, np.array(fit.objective)):
        assert np.isfinite(array).all()
    assert fit.prevalence.sum() == pytest.approx(1, abs=1e-9)
    assert fit.confusion.sum(axis=2) == pytest.approx(np.ones(fit.confusion.shape[:2]), abs=1e-9)
    assert fit.class_probability.sum(axis=1) == pytest.approx(np.ones(len(fit.cases)), abs=1e-9)
    assert np.isfinite(fit.log_likelihood)


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


def degenerate_rows(seed):
    """Small data of every unpleasant kind: unused classes, raters with one annotation, repeats, one rater."""
    rng = np.random.default_rng(seed)
    n_classes, n_raters, n_cases = int(rng.integers(1, 5)), int(rng.integers(1, 6)), int(rng.integers(1, 12))
    used = int(rng.integers(1, n_classes + 1))
    rows = [(0, 0, int(rng.integers(used))), (0, n_raters - 1, int(rng.integers(used)))]
    rows += [
        (int(rng.integers(n_cases)), int(rng.integers(n_raters)), int(rng.integers(used)))
        for _ in range(int(rng.integers(0, 30)))
    ]
    return rows, n_classes, n_cases, n_raters


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_the_objective_never_falls_and_nothing_is_nan_on_200_small_data_sets(smoothing, build):
    for seed in range(200):
        fit = DawidSkene(smoothing, StoppingRule(150)).fit(build(*degenerate_rows(seed)))
        steps = np.diff(fit.objective)
        assert (steps >= -1e-9 * (1 + abs(fit.objective[-1]))).all(), seed
        check_sane(fit)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("seed", range(5))
def test_a_unanimous_case_never_flips(smoothing, seed, build):
    """Five raters who are right four times of five: whoever all name, stays."""
    confusion = np.full((5, 3, 3), 0.1) + 0.7 * np.eye(3)
    rows, _ = simulated(seed, 150, confusion, (0.5, 0.3, 0.2), 4)
    dataset = build(rows, 3)
    top = DawidSkene(smoothing).fit(dataset).top_class()
    unanimous = 0
    for case in range(150):
        answers = {answer for c, _, answer in rows if c == case}
        if len(answers) == 1:
            unanimous += 1
            assert top[case] == answers.pop()
    assert unanimous > 20


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_renaming_raters_moves_their_matrices_and_nothing_else(smoothing, build):
    rows = random_rows(5)
    name = np.array([2, 0, 3, 1])
    plain = DawidSkene(smoothing).fit(build(rows, 3))
    other = DawidSkene(smoothing).fit(build([(case, int(name[rater]), a) for case, rater, a in rows], 3))
    assert other.class_probability == pytest.approx(plain.class_probability, abs=1e-9)
    assert other.confusion[name] == pytest.approx(plain.confusion, abs=1e-9)
    assert other.objective == pytest.approx(plain.objective, abs=1e-9)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_permuting_the_class_codes_permutes_the_results(smoothing, build):
    rows = random_rows(6)
    code = np.array([2, 0, 1])
    model = DawidSkene(smoothing, StoppingRule(60, NEVER))
    plain = model.fit(build(rows, 3))
    other = model.fit(build([(case, rater, int(code[answer])) for case, rater, answer in rows], 3))
    assert other.prevalence[code] == pytest.approx(plain.prevalence, abs=1e-9)
    assert other.class_probability[:, code] == pytest.approx(plain.class_probability, abs=1e-9)
    assert other.confusion[np.ix_(range(4), code, code)] == pytest.approx(plain.confusion, abs=1e-9)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("size", [1, 7, 24])
def test_the_size_of_chunks_changes_nothing(smoothing, size, build, monkeypatch):
    model, dataset = DawidSkene(smoothing, StoppingRule(20, NEVER)), build(random_rows(8), 3)
    whole = model.fit(dataset)
    monkeypatch.setattr(dawid_skene, "CHUNK_CASES", size)
    parts = model.fit(dataset)
    assert parts.class_probability == pytest.approx(whole.class_probability, abs=1e-12)
    assert parts.confusion == pytest.approx(whole.confusion, abs=1e-12)
    assert parts.objective == pytest.approx(whole.objective, abs=1e-10)


def test_two_fits_at_once_are_each_what_they_are_alone(build, monkeypatch):
    monkeypatch.setattr(dawid_skene, "CHUNK_CASES", 5)
    model, datasets = DawidSkene("none"), [build(random_rows(seed), 3) for seed in range(6)]
    alone = [model.fit(dataset) for dataset in datasets]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(model.fit, datasets))
    for one, other in zip(alone, together, strict=True):
        assert (one.class_probability == other.class_probability).all()
        assert one.objective == other.objective


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_cases_without_an_annotation_move_nothing_and_get_the_prevalence(smoothing, build):
    rows = random_rows(9)
    model = DawidSkene(smoothing, StoppingRule(40, NEVER))
    plain, more = model.fit(build(rows, 3, 25)), model.fit(build(rows, 3, 60))
    assert more.class_probability[:25] == pytest.approx(plain.class_probability, abs=1e-12)
    assert more.class_probability[25:] == pytest.approx(np.tile(plain.prevalence, (35, 1)), abs=1e-9)
    assert more.objective == pytest.approx(plain.objective, abs=1e-9)


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
    """300 raters × 20 annotations, where it is also the default: fewer errors, and a far smaller log loss."""
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


def test_smoothing_is_left_out_by_default_from_10_annotations_per_class_on(build):
    rows = [(case, rater, 0) for case in range(20) for rater in range(3)]
    assert default_smoothing(build(rows, 2)) == "none"
    assert default_smoothing(build(rows[:-2], 2)) == "pooled"
    assert DawidSkene().fit(build(rows, 2)).settings["smoothing"] == "none"


def test_one_annotation_per_case_everywhere_is_not_estimable(build):
    with pytest.raises(NotApplicableError, match="Not estimable"):
        DawidSkene().fit(build([(0, 0, 0), (1, 1, 1), (2, 0, 1)], 2))


def test_anonymous_answers_rankings_and_too_many_cells_are_refused(build, monkeypatch):
    dataset = build(random_rows(1), 3)
    with pytest.raises(NotApplicableError, match="anonymous"):
        DawidSkene().fit(replace(dataset, raters_identified=False))
    with pytest.raises(NotApplicableError, match="rankings"):
        DawidSkene().fit(replace(dataset, kind="ranking"))
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
    problem = dawid_skene._Problem(dataset, "none", None)
    upright = problem.maximise(problem.vote, StoppingRule())
    mirrored = problem.maximise(np.ascontiguousarray(problem.vote[:, ::-1]), StoppingRule())
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
    pool = np.full((3, 3), 1 / 3)
    found = dawid_skene._Problem.maximise

    def dying(self, start, stopping, progress=None):
        fit = found(self, start, stopping, progress)
        return replace(fit, confusion=np.array([[[1, 0, 5e-324], *pool[1:]]])) if len(fit.raters) == 1 else fit

    monkeypatch.setattr(dawid_skene._Problem, "maximise", dying)
    check_sane(DawidSkene("pooled").fit(dataset))


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
    """Patients 7 (.981), 35 (.948) and 38 (.979)."""
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
    """Espeland & Handelman 1989: prevalence .19607, log-likelihood −7465.385, sensitivities and specificities."""
    fit = DawidSkene("none").fit(load_sample("caries"))
    positive = fit.classes.index("1")
    assert fit.log_likelihood == pytest.approx(-7465.385, abs=5e-4)
    assert fit.prevalence[positive] == pytest.approx(0.19607, abs=2e-5)
    sensitivity, specificity = fit.confusion[:, positive, positive], fit.confusion[:, 1 - positive, 1 - positive]
    assert sensitivity == pytest.approx([0.403, 0.713, 0.598, 0.489, 0.915], abs=6e-4)
    assert specificity == pytest.approx([0.989, 0.898, 0.986, 0.968, 0.695], abs=6e-4)
