import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core import load_sample
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError, NotFoundError
from core.models.difficulty.mode import ascend, at_its_mode, whitened
from core.models.difficulty.model import METHODS, DifficultyModel, one_against_rest
from core.models.difficulty.names import TAGS, Switches, canonical, switches, tag_of
from core.models.difficulty.summary import summarise
from tests.core.kinds import as_scores
from tests.core.models.difficulty.reference import density_of, logistic, small_data
from tests.speed import scaled


@pytest.mark.parametrize("tag", TAGS)
def test_every_model_answers_at_once_with_rows_that_sum_to_one(tag):
    caries = load_sample("caries")
    density_of(small_data(), tag).value_and_gradient(np.zeros(density_of(small_data(), tag).ndim))  # compile
    started = time.process_time()
    found = DifficultyModel(tag).fit(caries)
    assert time.process_time() - started < scaled(6, time.process_time)  # 2 seconds on a machine of its own
    fit = found.fit
    assert fit.model == f"difficulty-{tag}" and fit.method == "map" and fit.converged and fit.uncertainty is None
    assert fit.confusion.sum(axis=2) == pytest.approx(np.ones((5, 2)))
    assert fit.class_probability.sum(axis=1) == pytest.approx(np.ones(3869))
    assert fit.evidence.sum(axis=1) == pytest.approx(fit.n_annotations)
    letters = tag.replace("Full", "")
    names = [
        n for n, letter in (("difficulty", "C"), ("discrimination", "B"), ("guessing", "A")) if letter not in letters
    ]
    assert [effect.name for effect in fit.effects] == names
    for effect in fit.effects:
        assert (effect.spread.low < effect.mean).all() and (effect.mean < effect.spread.high).all()


@pytest.mark.parametrize("tag", ["Full", "ABC", "ABCE", "D"])
def test_confusion_matrices_are_rates_of_simulated_answers(tag):
    """Of new cases, effects and all: 40 simulated datasets, all cases of one true class."""
    data = load_sample("caries").select(cases=load_sample("caries").cases[:500])
    density = at_its_mode(density_of(data, tag))
    for logit, truth in ((-60.0, 0), (60.0, 1)):
        theta = density.mode.copy()
        theta[0] = logit
        answers = np.array([density.simulate(theta, seed) for seed in range(40)])
        rate = np.array([(answers[:, data.rater == rater] == truth).mean() for rater in range(5)])
        exact = np.diagonal(summarise(density, theta[None], "map", 0.95).confusion, axis1=1, axis2=2)[:, truth]
        # five annotations of a case share its effects, those of a rater do not
        assert rate == pytest.approx(exact, abs=4.5 * 0.5 / np.sqrt(40 * 500))


def test_effects_of_a_case_are_moments_of_its_posterior():
    """Mean, sd and interval of β by brute force on one rater's annotations; model AB at one point."""
    data = small_data()
    density = density_of(data, "AB")
    theta = np.random.default_rng(2).normal(1.0, 0.3, density.ndim)
    fit = summarise(density, theta[None], "map", 0.9)
    prevalence, alpha = 1 / (1 + np.exp(-theta[0])), density.coefficients(theta[None])[1][0]
    beta = np.linspace(-8, 8, 20_001)
    for case in range(data.n_cases):
        own = slice(data.case_ptr[case], data.case_ptr[case + 1])
        joint = np.zeros((2, beta.size))
        for z in (0, 1):
            joint[z] = (prevalence if z else 1 - prevalence) * np.exp(-0.5 * beta**2)
            for rater, answer in zip(data.rater[own], data.answer[own], strict=True):
                right = logistic(alpha[rater, z] - beta)
                joint[z] *= right if answer == z else 1 - right
        assert fit.class_probability[case, 1] == pytest.approx(joint[1].sum() / joint.sum(), abs=1e-5)
        weight = joint.sum(axis=0) / joint.sum()
        effect = fit.effects[0]
        assert effect.mean[case] == pytest.approx(weight @ beta, abs=1e-4)
        assert effect.spread.sd[case] == pytest.approx(np.sqrt(weight @ beta**2 - (weight @ beta) ** 2), abs=1e-4)
        ends = np.interp([0.05, 0.95], np.cumsum(weight), beta)
        assert [effect.spread.low[case], effect.spread.high[case]] == pytest.approx(ends, abs=0.005)


def test_effects_of_a_case_without_answers_are_their_priors():
    density = density_of(small_data(), "Full")
    fit = summarise(density, np.zeros((1, density.ndim)), "map", 0.95)
    assert fit.class_probability[-1] == pytest.approx([0.5, 0.5])
    beta, delta, guess = fit.effects
    assert [effect.mean[-1] for effect in fit.effects] == pytest.approx([0, np.exp(0.25**2 / 2), 0.5], abs=1e-4)
    assert [beta.spread.low[-1], beta.spread.high[-1]] == pytest.approx([-1.96, 1.96], abs=0.002)
    assert [delta.spread.low[-1], delta.spread.high[-1]] == pytest.approx(np.exp([-0.49, 0.49]), abs=0.002)
    assert [guess.spread.low[-1], guess.spread.high[-1]] == pytest.approx([0.0943, 0.9057], abs=0.001)
    assert any(
        "The class probabilities of 1 case without annotations equal the prevalence." in note for note in fit.notes
    )


def test_intervals_hold_the_mean_and_keep_the_order_of_classes():
    data = load_sample("caries")
    density = whitened(at_its_mode(density_of(data, "AB")))
    draws = 0.3 * np.random.default_rng(1).standard_normal((600, density.ndim))
    fit = summarise(density, draws, "nuts", 0.95)
    of, rates = fit.uncertainty, fit.confusion
    for spread, mean in (
        (of.prevalence, fit.prevalence),
        (of.confusion, rates),
        (of.accuracy, fit.accuracy()),
        (of.class_probability, fit.class_probability),
    ):
        assert spread.low.shape == mean.shape == spread.sd.shape
        assert (spread.low <= mean + 1e-3).all() and (mean <= spread.high + 1e-3).all() and (spread.sd >= 0).all()
    assert of.confusion.sd[:, 0, 0] == pytest.approx(of.confusion.sd[:, 0, 1])
    assert of.confusion.low[:, 1, 0] == pytest.approx(1 - of.confusion.high[:, 1, 1])
    assert any("400 of 600 draws" in note for note in fit.notes)
    assert fit.settings["n_draws_of_truth"] == 400 and fit.settings["n_draws_of_effects"] == 200


def test_the_first_class_as_positive_gives_the_mirrored_fit():
    data = load_sample("caries").select(cases=load_sample("caries").cases[1500:2500])
    swapped = Dataset.from_classes(
        "swapped", data.cases, data.raters, ["1", "0"], data.case_of_annotation, data.rater, 1 - data.answer
    )
    one, two = DifficultyModel("AB").fit(data).fit, DifficultyModel("AB", positive="1").fit(swapped).fit
    assert one.prevalence == pytest.approx(two.prevalence[::-1], abs=1e-4)
    assert one.confusion == pytest.approx(two.confusion[:, ::-1, ::-1], abs=1e-4)
    assert one.class_probability == pytest.approx(two.class_probability[:, ::-1], abs=1e-4)


def test_the_baseline_says_that_it_is_no_truth_and_still_has_its_checks():
    found = DifficultyModel("ABDE").fit(small_data(), method="nuts")
    assert "Do not use its class probabilities as the truth" in found.fit.notes[0]
    assert found.fit.prevalence.tolist() == [0.0, 1.0]
    assert found.fit.confusion == pytest.approx(np.full((4, 2, 2), 0.5), abs=1e-9)
    assert found.loo.elpd == pytest.approx(found.fit.log_likelihood) and found.loo.n_cases == 11
    assert len(found.checks) == 2


def test_more_classes_need_one_to_be_chosen(build):
    data = build([(0, 0, 0), (0, 1, 2), (1, 0, 1), (1, 1, 1), (2, 0, 2), (2, 1, 2)], n_classes=3)
    with pytest.raises(NotApplicableError, match=r"these data have 3\. Choose the positive class"):
        DifficultyModel("AB").fit(data)
    with pytest.raises(NotFoundError, match="class 7"):
        DifficultyModel("AB", positive="class 7").fit(data)
    fit = DifficultyModel("AB", positive="class 2").fit(data).fit
    assert fit.classes == ("not class 2", "class 2")
    two, code = one_against_rest(data, "class 2")
    assert code == 1 and two.answer.tolist() == [0, 1, 0, 0, 1, 1]
    held, _ = one_against_rest(replace(data, gold=np.array([2, -1, 0], np.int32)), "class 2")
    assert two.gold is None and held.gold.tolist() == [1, -1, 0]


def test_what_cannot_be_fitted_is_said(build):
    data = build([(0, 0, 0), (1, 0, 1)], n_classes=2)
    assert any("only the prior" in note for note in DifficultyModel("ABC").fit(data).fit.notes)
    assert any(
        "Raters may be adversarial in this model, so the posterior has a second mode with the classes swapped. The "
        "fit starts at the mode closer to the vote" in note
        for note in DifficultyModel("ABC", cooperative=False).fit(data).fit.notes
    )
    with pytest.raises(InputError, match="map"):
        DifficultyModel("ABC").fit(data, method="em")
    with pytest.raises(InputError, match=r"Unknown difficulty model 'ABE'\. Use one of ABCDE, .*, Full\."):
        DifficultyModel("ABE")
    with pytest.raises(NotApplicableError, match="anonymous"):
        DifficultyModel("ABC").fit(replace(data, raters_identified=False))
    assert DifficultyModel("ABCE").fit(replace(data, raters_identified=False)).fit.converged
    with pytest.raises(NotApplicableError, match="scores"):
        one_against_rest(as_scores(data))


def test_chains_agree_with_the_mode_where_data_are_many():
    data = load_sample("caries")
    found = DifficultyModel("ABC").fit(data, method="nuts", n_draws=400, n_tune=300, n_chains=2, seed=3)
    mode = DifficultyModel("ABC").fit(data).fit
    assert found.diagnostics.rhat_max < 1.02 and found.diagnostics.n_divergent == 0
    assert found.fit.class_probability == pytest.approx(mode.class_probability, abs=0.02)
    assert found.fit.prevalence[1] == pytest.approx(0.1957, abs=0.003)
    assert found.loo.elpd == pytest.approx(-7476.6, abs=2)
    raters, votes = found.checks
    assert not raters.fails and votes.fails


def rosenbrock(x):
    """Minus the curved valley of Rosenbrock, its top of 0 at ones."""
    rest = x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[1:] -= 200 * rest
    gradient[:-1] += 400 * x[:-1] * rest + 2 * (1 - x[:-1])
    return -(100 * rest**2).sum() - ((1 - x[:-1]) ** 2).sum(), gradient


@pytest.mark.parametrize("ndim", [2, 10, 60])
def test_a_curved_ridge_is_climbed_to_its_top(ndim):
    place, value, done = ascend(rosenbrock, np.full(ndim, 0.3))
    assert done and value == pytest.approx(0, abs=1e-8) and place == pytest.approx(np.ones(ndim), abs=1e-4)


def test_the_top_is_that_of_the_library_where_coordinates_differ_by_a_hundred():
    scale = np.logspace(-1, 1, 20)

    def bent(x):
        y = x / scale
        return float(-np.logaddexp(y, -2 * y).sum()), -(1 - 3 / (1 + np.exp(3 * y))) / scale

    from scipy.optimize import minimize

    expected = minimize(lambda x: (-bent(x)[0], -bent(x)[1]), np.ones(20), jac=True, method="BFGS", tol=1e-9)
    place, value, done = ascend(bent, np.ones(20))
    assert done and value == pytest.approx(-expected.fun, abs=1e-8)
    assert place / scale == pytest.approx(np.full(20, np.log(2) / 3), abs=2e-3)


def test_walls_of_minus_infinity_are_kept_off():
    def walled(x):
        return (float(np.log(x).sum() - x.sum()), 1 / x - 1) if (x > 0).all() else (-np.inf, np.zeros_like(x))

    place, _, done = ascend(walled, np.array([30.0, 0.001]))
    assert done and place == pytest.approx(np.ones(2), abs=1e-4)


def test_running_out_of_steps_is_said_and_so_is_a_start_without_value():
    assert ascend(rosenbrock, np.full(5, -1.0), most_steps=3)[2] is False
    _, value, _ = ascend(lambda x: (-np.inf, np.zeros_like(x)), np.ones(2))
    assert value == -np.inf


def test_eighteen_models_of_the_thirty_two_combinations_are_identified():
    named = 0
    for combination in product([False, True], repeat=5):
        try:
            tag = tag_of(Switches(*combination))
        except InputError as error:
            assert all(known in str(error) for known in TAGS)
            continue
        assert switches(tag) == Switches(*combination)
        named += 1
    assert named == len(TAGS) == 18


def test_dawid_skene_is_bias_and_ability_without_effects_of_cases():
    assert tag_of(Switches(bias=True, ability=True, difficulty=False, discrimination=False, guessing=False)) == "ABC"
    assert switches("Full") == Switches(True, True, True, True, True)
    assert switches("A") == Switches(True, True, difficulty=True, discrimination=True, guessing=False)


def test_a_tag_is_read_in_any_capitals():
    assert canonical("full") == "Full" and canonical("abc") == "ABC"


@pytest.mark.parametrize("wrong", ["", "E", "BE", "ABCDEF", "CB"])
def test_a_tag_that_the_paper_does_not_list_is_refused_with_the_list(wrong):
    with pytest.raises(InputError, match="ABCDE, ABCD, ABCE"):
        switches(wrong)


@pytest.mark.parametrize("tag", TAGS)
def test_the_sentence_of_a_model_names_the_effects_that_it_has_and_no_other(tag):
    method = next(each for each in METHODS if each.variant.value == tag)
    on, said = switches(tag), method.plainly
    assert ("how hard they are" in said) == on.difficulty
    assert ("how well they separate accurate from inaccurate raters" in said) == on.discrimination
    assert ("a guess is correct" in said) == on.guessing
    assert ("All cases are equally hard" in said) == (not (on.difficulty or on.discrimination or on.guessing))
    assert ("Each rater has" in said) == on.ability and ("All raters have the same" in said) == (not on.ability)
    assert ("specificity" in said) == on.bias
