"""What holds for every model fitted by expectation-maximisation."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import Cancelled, LimitError, NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.models.em import climb
from core.models.held_out import REFIT, prepare
from core.models.one_coin import ClassConditional, OneCoin
from core.models.stopping import StoppingRule
from core.models.tap import TAP
from core.runtime.chunks import CancelToken
from tests.core.kinds import as_rankings
from tests.core.models.rows import check_sane, degenerate_rows, random_rows, simulated

MODELS = {
    "dawid-skene": DawidSkene("none"),
    "dawid-skene diagonal": DawidSkene("diagonal"),
    "dawid-skene pooled": DawidSkene("pooled"),
    "dawid-skene empirical": DawidSkene("empirical"),
    "one-coin": OneCoin("none"),
    "one-coin pooled": OneCoin("pooled"),
    "class-conditional": ClassConditional("none"),
    "class-conditional pooled": ClassConditional("pooled"),
    "tap": TAP("none"),
    "tap pooled": TAP("pooled"),
    "tap common": TAP("none", raters="common"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
NEVER = -1.0  # a tolerance that no step satisfies: exactly max_iterations steps are made


@every_model
def test_the_objective_never_falls_on_small_data(model, build):
    model = replace(model, stopping=StoppingRule(150))
    for seed in range(60):
        fit = model.fit(build(*degenerate_rows(seed)))
        steps = np.diff(fit.objective)
        assert (steps >= -1e-9 * (1 + abs(fit.objective[-1]))).all(), seed
        check_sane(fit)


@every_model
@pytest.mark.parametrize("seed", [0, 1, 19, 25])
def test_the_objective_never_falls_on_noise_held_out(seed, model, build):
    """All raters taken as one may hardly ever err on a class. Where mistakes were what is left, none were: chance 0."""
    said = np.random.default_rng(seed).choice(3, (12, 3))
    rows = [(case, rater, int(said[case, rater])) for case in range(12) for rater in range(3)]
    for refit in prepare(build(rows, 3)).refits:
        problem = model.problem_of(refit.data)
        objective = climb(refit.data, problem.family, problem.prior, refit.data.start, REFIT).objective
        assert np.isfinite(objective).all()
        assert (np.diff(objective) >= -1e-9 * (1 + abs(objective[-1]))).all()


@every_model
def test_the_objective_never_falls_where_some_classes_are_known(model, build):
    model = replace(model, stopping=StoppingRule(100), use_gold=True)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        dataset = build(*degenerate_rows(seed))
        gold = np.where(rng.random(dataset.n_cases) < 0.5, rng.integers(dataset.n_classes, size=dataset.n_cases), -1)
        gold[0] = 0
        fit = model.fit(replace(dataset, gold=gold.astype(np.int32)))
        assert (np.diff(fit.objective) >= -1e-9 * (1 + abs(fit.objective[-1]))).all(), seed
        check_sane(fit)
        assert (fit.class_probability[gold >= 0, gold[gold >= 0]] == 1).all()


@every_model
@pytest.mark.parametrize("seed", range(3))
def test_a_unanimous_case_of_good_raters_never_flips(model, seed, build):
    """Five raters who are right four times of five: whoever all name, stays."""
    confusion = np.full((5, 3, 3), 0.1) + 0.7 * np.eye(3)
    rows, _ = simulated(seed, 150, confusion, (0.5, 0.3, 0.2), 4)
    top = model.fit(build(rows, 3)).top_class()
    unanimous = 0
    for case in range(150):
        answers = {answer for c, _, answer in rows if c == case}
        if len(answers) == 1:
            unanimous += 1
            assert top[case] == answers.pop()
    assert unanimous > 20


@every_model
def test_a_unanimous_case_flips_only_to_a_likelier_class(model, build):
    """π_c Π θ[j, c, c] against π_k Π θ[j, k, c], multiplied out."""
    flips = 0
    for seed in range(20):
        rows = random_rows(seed, n_cases=20, n_raters=3, accuracy=0.4)
        fit = model.fit(build(rows, 3, 20, 3))
        top = fit.top_class()
        for case in range(20):
            mine = [(rater, answer) for c, rater, answer in rows if c == case]
            if len({answer for _, answer in mine}) == 1 and top[case] >= 0:
                weight = fit.prevalence * np.prod([fit.confusion[rater, :, answer] for rater, answer in mine], axis=0)
                assert weight[top[case]] == pytest.approx(weight.max(), rel=1e-9)
                flips += top[case] != mine[0][1]
    assert flips > 0  # poor raters, so the claim is not empty


@pytest.mark.parametrize("name", ["tap", "tap pooled", "tap common"])
def test_agreement_never_lowers_the_odds_of_a_class_of_tap(name, build):
    """So a unanimous case keeps its class unless the prevalence of another outweighs all of its annotations."""
    for seed in range(20):
        rows = random_rows(seed, n_cases=20, accuracy=0.45)
        fit = MODELS[name].fit(build(rows, 3, 20, 4))
        for case in range(20):
            answers = {answer for c, _, answer in rows if c == case}
            if len(answers) == 1:
                c = answers.pop()
                odds = fit.class_probability[case, c] * fit.prevalence
                assert (odds >= fit.class_probability[case] * fit.prevalence[c] - 1e-12).all()


@every_model
def test_renaming_raters_moves_their_matrices_and_nothing_else(model, build):
    rows = random_rows(5)
    name = np.array([2, 0, 3, 1])
    plain = model.fit(build(rows, 3))
    other = model.fit(build([(case, int(name[rater]), a) for case, rater, a in rows], 3))
    assert other.class_probability == pytest.approx(plain.class_probability, abs=1e-9)
    assert other.confusion[name] == pytest.approx(plain.confusion, abs=1e-9)
    assert other.objective == pytest.approx(plain.objective, abs=1e-9)


@every_model
def test_renaming_cases_moves_only_their_probabilities(model, build):
    rows = random_rows(5)
    name = np.random.default_rng(1).permutation(25)
    plain = model.fit(build(rows, 3, 25))
    other = model.fit(build([(int(name[case]), rater, a) for case, rater, a in rows], 3, 25))
    assert other.class_probability[name] == pytest.approx(plain.class_probability, abs=1e-9)
    assert other.confusion == pytest.approx(plain.confusion, abs=1e-9)


@every_model
def test_permuting_the_class_codes_permutes_the_results(model, build):
    rows = random_rows(6)
    code = np.array([2, 0, 1])
    model = replace(model, stopping=StoppingRule(60, NEVER))
    plain = model.fit(build(rows, 3))
    other = model.fit(build([(case, rater, int(code[answer])) for case, rater, answer in rows], 3))
    assert other.prevalence[code] == pytest.approx(plain.prevalence, abs=1e-9)
    assert other.class_probability[:, code] == pytest.approx(plain.class_probability, abs=1e-9)
    assert other.confusion[np.ix_(range(4), code, code)] == pytest.approx(plain.confusion, abs=1e-9)


@every_model
def test_cases_without_annotations_get_the_prevalence(model, build):
    rows = random_rows(9)
    model = replace(model, stopping=StoppingRule(40, NEVER))
    plain, more = model.fit(build(rows, 3, 25)), model.fit(build(rows, 3, 60))
    assert more.class_probability[:25] == pytest.approx(plain.class_probability, abs=1e-12)
    assert more.class_probability[25:] == pytest.approx(np.tile(plain.prevalence, (35, 1)), abs=1e-9)
    assert more.objective == pytest.approx(plain.objective, abs=1e-9)


@every_model
def test_data_that_cannot_be_fitted_are_refused(model, build, monkeypatch):
    with pytest.raises(NotApplicableError, match="Cannot determine rater accuracy"):
        model.fit(build([(0, 0, 0), (1, 1, 1), (2, 0, 1)], 2))
    dataset = build(random_rows(1), 3)
    with pytest.raises(NotApplicableError, match="anonymous"):
        model.fit(replace(dataset, raters_identified=False))
    with pytest.raises(NotApplicableError, match="rankings"):
        model.fit(as_rankings(dataset))
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "35")
    with pytest.raises(LimitError, match="majority vote"):
        model.fit(dataset)


@every_model
def test_a_rater_with_one_annotation_and_an_unused_class(model, build):
    rows = [(case, rater, case % 2) for case in range(6) for rater in range(3)] + [(0, 3, 1)]
    fit = model.fit(build(rows, 3))
    check_sane(fit)
    assert fit.n_annotations.tolist() == [6, 6, 6, 1]
    assert fit.top_class().tolist() == [0, 1, 0, 1, 0, 1]


@every_model
def test_an_early_stop_is_noted_and_a_cancelled_fit_ends(model, build):
    early = replace(model, stopping=StoppingRule(2)).fit(build(random_rows(1), 3))
    assert not early.converged and any("Not converged" in note for note in early.notes)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        model.fit(build(random_rows(1), 3), token=token)


@every_model
def test_restarts_keep_the_vote_start_unless_better(model, build):
    confusion = np.full((5, 2, 2), 0.05) + 0.9 * np.eye(2)
    dataset = build(simulated(1, 200, confusion, (0.6, 0.4), 5)[0], 2)
    fit = model.fit(dataset)
    found = model.restarts(dataset, fit, 3, seed=4)
    assert found.best is fit and not found.differs
    assert found.objectives == pytest.approx([fit.objective[-1]] * 3, abs=1e-4)
    assert found.objectives == model.restarts(dataset, fit, 3, seed=4).objectives
