"""GLAD and the nominal difficulty model against slow sums, and what they find in simulated crowds."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import NotApplicableError
from core.models.catalogue import fit_request, request
from core.models.difficulty.nodes import difficulty_rule
from core.models.difficulty.nominal import NominalDifficulty, place_of
from core.models.held_out import BETAS, FLOOR, prepare
from tests.core.models.rows import random_rows

MODELS = pytest.mark.parametrize("even", [True, False], ids=["GLAD", "nominal"])


def expit(x):
    return 1 / (1 + np.exp(-x))


def crowd(n_cases, n_raters, n_classes, each, spread, seed=0):
    """Rows of a crowd with abilities of log mean 0.3, its true classes and difficulties."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(n_classes, size=n_cases), spread * rng.standard_normal(n_cases)
    ability = np.exp(0.3 + 0.5 * rng.standard_normal(n_raters))
    rows = []
    for case in range(n_cases):
        for rater in rng.choice(n_raters, each, replace=False):
            right = rng.random() < expit(ability[rater] * np.exp(-hard[case]))
            # A mistake is the next class three times in four.
            step = 1 if rng.random() < 0.75 else rng.integers(1, n_classes)
            rows.append((case, rater, int(truth[case] if right else (truth[case] + step) % n_classes)))
    return rows, truth, hard, ability


def joint(dataset, place, n_nodes, case, beta=1.0, skip=()):
    """P(class, node, annotations) of a case by the definition, shape (n_classes, n_nodes)."""
    node, weight = difficulty_rule(n_nodes)
    found = np.exp(place.log_prevalence)[:, None] * weight
    for a in range(dataset.case_ptr[case], dataset.case_ptr[case + 1]):
        if a not in skip:
            found = found * of_one(dataset, place, node, a) ** beta
    return found


def of_one(dataset, place, node, a):
    """P(annotation | class, node)."""
    right = expit(place.ability[dataset.rater[a]] * np.exp(place.spread * node))
    wrong = np.exp(place.log_mistakes[:, dataset.answer[a]])
    return np.array([right if z == dataset.answer[a] else (1 - right) * wrong[z] for z in range(dataset.n_classes)])


@pytest.fixture
def fitted(build):
    """A small crowd of random annotations, with gaps and repeats, and its fits."""
    dataset = build(random_rows(3, 14, 5, 4, 60), 4)
    return dataset, {even: NominalDifficulty(even).fit(dataset) for even in (True, False)}


@MODELS
def test_class_probabilities_and_likelihood_are_sums_over_classes_and_nodes(fitted, even):
    """By the definition, case by case; GLAD's classes are equally common and its mistakes spread evenly."""
    dataset, fits = fitted
    fit, total = fits[even], 0.0
    place = place_of(fit)
    if even:
        assert fit.prevalence == pytest.approx(fit.class_probability.mean(axis=0)) and np.exp(place.log_prevalence) == (
            pytest.approx([0.25] * 4)
        )
        assert fit.parameters["mistakes"][0, 1] == pytest.approx(1 / 3)
    for case in range(dataset.n_cases):
        both = joint(dataset, place, fit.settings["nodes"], case)
        total += np.log(both.sum()) if dataset.case_ptr[case] < dataset.case_ptr[case + 1] else 0
        assert fit.class_probability[case] == pytest.approx(both.sum(axis=1) / both.sum(), abs=1e-10)
    assert fit.log_likelihood == pytest.approx(total)


@MODELS
def test_beta_counts_annotations_as_less_and_doubt_mixes_in_the_prevalence(fitted, even):
    """A tempered fit is that of the model with these options."""
    dataset, fits = fitted
    fit = fits[even]
    model = NominalDifficulty(even)
    found = model.tempered(fit, dataset, beta=0.4, doubt=0.1)
    both = joint(dataset, place_of(fit), fit.settings["nodes"], 2, 0.4).sum(axis=1)
    assert found.class_probability[2] == pytest.approx(
        0.9 * both / both.sum() + 0.1 * fit.parameters["class_prior"], abs=1e-10
    )
    again = replace(model, beta=0.4, doubt=0.1).fit(dataset)
    assert again.class_probability == pytest.approx(found.class_probability, abs=1e-12) and again.notes == found.notes
    back = model.tempered(found, dataset, beta=1.0, doubt=0.0)
    assert back.class_probability == pytest.approx(fit.class_probability, abs=1e-12) and back.notes == fit.notes


@MODELS
def test_held_out_scores_integrate_the_difficulty_of_the_case(fitted, even, monkeypatch):
    """Parameters that are given score each hidden annotation by the sum over classes and nodes."""
    dataset, fits = fitted
    place = place_of(fits[even])
    monkeypatch.setattr(NominalDifficulty, "_climb", lambda *_: (place,))
    data = prepare(dataset)
    found = NominalDifficulty(even).held_out(data)
    node, _ = difficulty_rule(fits[even].settings["nodes"])
    sums = np.zeros((dataset.n_cases, BETAS.size))
    for refit in data.refits:
        hidden = np.flatnonzero(refit.folds.fold == refit.number)
        for a in hidden[refit.folds.scored[hidden]]:
            case = dataset.case_of_annotation[a]
            for b, beta in enumerate(BETAS):
                both = joint(dataset, place, node.size, case, beta, hidden)
                sums[case, b] += np.log(max((both / both.sum() * of_one(dataset, place, node, a)).sum(), FLOOR))
    assert found.by_case == pytest.approx(sums / data.n_sets)


@MODELS
def test_no_parameter_has_a_slope_at_the_fit(build, even):
    """Central differences of log-likelihood and log prior by abilities and σ vanish: the mode, given μ and τ."""
    dataset = build(crowd(120, 8, 3, 4, 1.0)[0], 3)
    fit = NominalDifficulty(even).fit(dataset)
    at = place_of(fit)

    def height(place):
        scale = place.ability if even else np.log(place.ability)
        prior = -((scale - at.centre) ** 2).sum() / (2 * at.variance) - place.spread**2 / 2
        sums = [joint(dataset, place, fit.settings["nodes"], case).sum() for case in range(dataset.n_cases)]
        return np.log(sums).sum() + prior

    for j in range(8):
        step = np.zeros(8)
        step[j] = 1e-4 * (1 if even else at.ability[j])
        up, down = (height(replace(at, ability=at.ability + sign * step)) for sign in (1, -1))
        assert abs(up - down) / 2e-4 < 0.05
    up, down = (height(replace(at, spread=at.spread + sign * 1e-4)) for sign in (1, -1))
    assert abs(up - down) / 2e-4 < 0.05 and 0.5 < at.spread < 2


def test_a_known_crowd_is_found_again(build):
    """Spread, abilities and the usual mistake; 95% intervals of difficulty and accuracy hold about as often."""
    rows, truth, hard, ability = crowd(1500, 40, 4, 8, 1.0)
    dataset = build(rows, 4)
    fit = NominalDifficulty().fit(dataset)
    assert fit.converged and fit.parameters["spread"][0] == pytest.approx(1.0, abs=0.15)
    next_class = fit.parameters["mistakes"][[0, 1, 2, 3], [1, 2, 3, 0]]
    assert next_class == pytest.approx(0.75 + 0.25 / 3, abs=0.07)  # three standard errors
    assert np.corrcoef(np.log(fit.parameters["ability"]), np.log(ability))[0, 1] > 0.9
    effect = fit.effects[0]
    assert np.corrcoef(effect.mean, hard)[0, 1] > 0.5
    covered = ((effect.spread.low <= hard) & (hard <= effect.spread.high)).mean()
    assert covered == pytest.approx(0.95, abs=0.02)  # three standard errors are 0.017
    node, weight = difficulty_rule(31)
    right = expit(np.multiply.outer(ability, np.exp(node))) @ weight
    inside = (fit.uncertainty.accuracy.low <= right) & (right <= fit.uncertainty.accuracy.high)
    assert inside.mean() >= 0.85  # three standard errors below 0.95
    top = fit.class_probability.argmax(axis=1) == truth
    assert top.mean() > 0.9 and abs(fit.class_probability.max(axis=1).mean() - top.mean()) < 0.03


def test_the_information_is_that_of_the_likelihood(build):
    """A rater's interval follows from the second difference of the log-likelihood by the log of their ability."""
    dataset = build(crowd(120, 8, 3, 4, 1.0)[0], 3)
    fit = NominalDifficulty().fit(dataset)
    at = place_of(fit)

    def height(log_ability):
        ability = at.ability.copy()
        ability[2] = np.exp(log_ability)
        place = replace(at, ability=ability)
        sums = [joint(dataset, place, fit.settings["nodes"], case).sum() for case in range(dataset.n_cases)]
        return np.log(sums).sum() - (log_ability - at.centre) ** 2 / (2 * at.variance)

    here = np.log(at.ability[2])
    curvature = -(height(here + 1e-3) - 2 * height(here) + height(here - 1e-3)) / 1e-6
    node, weight = difficulty_rule(fit.settings["nodes"])
    ends = [expit(np.exp(here + z * 1.959964 / np.sqrt(curvature) + at.spread * node)) @ weight for z in (-1, 1)]
    accuracy = fit.uncertainty.accuracy
    # The kernel takes expected for observed curvature where the truth is known.
    assert [accuracy.low[2], accuracy.high[2]] == pytest.approx(ends, abs=0.02)


def test_of_a_rater_without_annotations_the_interval_allows_for_what_is_not_known_of_the_centre(build):
    """Ln a is then as the raters are: variance τ² and that of μ, which is 1 / (J/τ² + 1 − Σ τ⁻⁴/i) with i their own."""
    rows = crowd(60, 5, 3, 4, 1.0)[0]
    dataset = build(rows, 3)
    dataset = replace(dataset, raters=(*dataset.raters, "nobody"))
    fit = NominalDifficulty().fit(dataset)
    at, (node, weight) = place_of(fit), difficulty_rule(fit.settings["nodes"])

    def right(log_ability):
        return expit(np.exp(log_ability + at.spread * node)) @ weight

    own = np.log(at.ability[-1])
    assert own == pytest.approx(at.centre, abs=0.02)
    low = fit.uncertainty.accuracy.low[-1]
    of_raters_alone = right(own - 1.959964 * np.sqrt(at.variance))
    # At best all other raters are known exactly, and μ is as uncertain as they and its prior leave it.
    at_least = right(own - 1.959964 * np.sqrt(at.variance + 1 / ((len(dataset.raters) - 1) / at.variance + 1)))
    assert low <= at_least < of_raters_alone - 0.01
    assert low > right(own - 1.959964 * np.sqrt(at.variance + 1))


def test_log_odds_of_being_right_are_ability_times_discrimination(build):
    """d a = 1.3 of four classes is right with 0.786 (softmax with scores 0 would give 0.550)."""
    dataset = build(random_rows(1, 20, 4, 4, 60), 4)
    fit = NominalDifficulty(True).fit(dataset)
    node, weight = difficulty_rule(fit.settings["nodes"])
    right = expit(np.exp(fit.parameters["spread"] * node) * fit.parameters["ability"][0]) @ weight
    assert fit.confusion[0, 0] == pytest.approx([right, *[(1 - right) / 3] * 3])
    assert expit(1.3) == pytest.approx(0.786, abs=5e-4)


@MODELS
def test_gold_is_held_fixed_and_repeats_can_be_left_out(build, even):
    """Known classes are certain in spite of annotations and doubt; a rater's second annotation need not count."""
    dataset = build([(0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 2), (2, 0, 2), (2, 1, 2), (2, 1, 2)], 3)
    gold = replace(dataset, gold=np.array([0, -1, -1], np.int32))
    found = NominalDifficulty(even, use_gold=True, doubt=0.1).fit(gold)
    assert found.class_probability[0].tolist() == [1, 0, 0] and found.class_probability[1].max() < 1
    once, twice = (NominalDifficulty(even, repeats=how).fit(dataset) for how in ("first", "independent"))
    assert once.n_annotations.tolist() == [3, 3] and twice.n_annotations.tolist() == [3, 4]
    with pytest.raises(NotApplicableError, match="repeat"):
        NominalDifficulty(even, repeats="refuse").fit(dataset)


@MODELS
@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)],
        [(case, rater, 1) for case in range(6) for rater in range(3)],
        [(0, 0, 0), (0, 1, 0), (1, 0, 2), (2, 1, 1)],
        [(case, rater, (case + rater) % 3) for case in range(9) for rater in range(3)],
    ],
    ids=["two cases", "unanimous", "hardly any overlap", "never the same"],
)
def test_poor_data_give_numbers_and_wide_intervals(build, even, rows):
    """Probabilities that sum to 1, finite intervals around every estimate, no class that nothing supports."""
    dataset = build(rows, 3)
    fit = NominalDifficulty(even).fit(dataset)
    assert fit.class_probability.sum(axis=1) == pytest.approx(1)
    assert fit.confusion.sum(axis=2) == pytest.approx(1)
    effect, accuracy = fit.effects[0], fit.uncertainty.accuracy
    assert (effect.spread.low < effect.mean).all() and (effect.mean < effect.spread.high).all()
    assert (accuracy.high - accuracy.low > 0.1).all() and (accuracy.low <= fit.accuracy()).all()


def test_what_cannot_be_fitted_is_refused(build):
    """One class tells nothing of difficulty; neither do cases with one annotation each."""
    with pytest.raises(NotApplicableError, match="two classes"):
        NominalDifficulty().fit(build([(0, 0, 0), (0, 1, 0)], 1))
    with pytest.raises(NotApplicableError, match="no case has two annotations"):
        NominalDifficulty().fit(build([(0, 0, 0), (1, 1, 2)], 3))


def test_the_command_fits_what_the_registry_names(build):
    """By the catalogue, under its own name, with the options that are left open."""
    dataset = build(random_rows(1, 20, 4, 3, 60), 3)
    for name, even in (("glad", True), ("nominal-difficulty", False)):
        fitted = fit_request(request(name, beta=0.5), dataset)
        assert fitted.fit.model == name and fitted.fit.method == "map" and fitted.fit.beta == 0.5
        own = NominalDifficulty(even, beta=0.5).fit(dataset)
        assert fitted.fit.class_probability == pytest.approx(own.class_probability)
