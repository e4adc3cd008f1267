"""Errors of predicted scores over plausible truths, and how their files are read."""

import numpy as np
import pytest
from scipy import stats

from core.annotations.dataset import Dataset
from core.errors import InputError
from core.evaluation.score_errors import score_errors
from core.evaluation.score_predictions import open_score_predictions
from core.ingest.samples import load_sample, sample_predictions
from core.plausibility.gaussian import GaussianScores
from core.plausibility.gaussian_prior import fit_prior

MODEL = GaussianScores(None, 5.0, 0.5, 4.0, 3.0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    case = np.repeat(np.arange(40), 3)
    score = rng.normal(5, 2, 40)[case] + rng.normal(0, 1, 120)
    return Dataset.from_scores("s", [str(i) for i in range(40)], list("abc"), case, np.tile(np.arange(3), 40), score)


def predicted(data, name, scores):
    rows = "".join(f"{case},{value}\n" for case, value in zip(data.cases, scores, strict=True))
    (found,) = open_score_predictions(name, f"case,score\n{rows}".encode(), data)
    return found


def test_errors_over_truths_are_the_moments_of_the_posterior(data):
    """E|e| by Student's t, E e² and the bias in closed form; within four Monte Carlo errors."""
    posterior = MODEL.posterior(data, 2.0)
    guess = predicted(data, "A", np.round(posterior.m + 0.7, 6))
    n_draws = 4000
    found = score_errors(data, MODEL, [guess], reliability=2.0, n_draws=n_draws)
    apart, freedom = guess.score - posterior.m, 2 * posterior.a
    absolute = [stats.t(v, -d, s).expect(abs, lb=-40, ub=40)
                for v, d, s in zip(freedom, apart, posterior.scale, strict=True)]  # fmt: skip
    variance = posterior.scale**2 * freedom / (freedom - 2)
    error = np.sqrt(variance.mean() / 40 / n_draws)
    assert found.mean[0, 0] == pytest.approx(np.mean(absolute), abs=4 * error)
    assert found.mean[0, 1] ** 2 == pytest.approx((apart**2 + variance).mean(), abs=0.05)
    assert found.mean[0, 2] == pytest.approx(0.7, abs=4 * error)
    assert found.point[0] == pytest.approx([0.7, 0.7, 0.7], abs=1e-5)
    half = 1.96 * np.sqrt(variance.mean() / 40)
    assert (found.low[0, 2], found.high[0, 2]) == (
        pytest.approx(0.7 - half, abs=0.02),
        pytest.approx(0.7 + half, abs=0.02),
    )


def test_a_case_is_as_uncertain_as_its_own_scores_leave_it_whichever_cases_are_predicted():
    """Student's t with the degrees of freedom of the case: many scores of the first, one of the others."""
    case = np.repeat([0, 1, 2], [40, 1, 1])
    score = np.concatenate([np.linspace(3, 7, 40), [4.0, 6.0]])
    data = Dataset.from_scores("s", ["0", "1", "2"], [f"r{i}" for i in range(40)], case, [*range(40), 0, 0], score)
    model = GaussianScores(None, 5.0, 0.5, 1.0, 1.0)
    posterior = model.posterior(data, 1.0)
    for one in range(3):
        (guess,) = open_score_predictions("A", f"case,score\n{one},5\n".encode(), data)
        found = score_errors(data, model, [guess], reliability=1.0, n_draws=8000)
        away = stats.t(2 * posterior.a[one], 5 - posterior.m[one], posterior.scale[one])
        assert (found.low[0, 2], found.high[0, 2]) == pytest.approx(away.ppf([0.025, 0.975]), rel=0.1, abs=0.03)


def test_sampling_of_cases_widens_and_the_better_one_is_found(data):
    m = MODEL.posterior(data, 1.0).m
    noise = np.random.default_rng(0).normal(0, 1.5, 40)
    pair = [predicted(data, "near", m), predicted(data, "far", m + noise)]
    found = score_errors(data, MODEL, pair, reliability=1.0, n_draws=500)
    assert (found.total_high - found.total_low)[1, 0] > (found.high - found.low)[1, 0]
    assert found.better[0, 1] > 0.95 and found.better[0, 1] + found.better[1, 0] == pytest.approx(1)
    assert np.isnan(np.diag(found.better)).all()
    same = score_errors(data, MODEL, [pair[0], predicted(data, "again", m)], reliability=1.0, n_draws=20)
    assert same.better[0, 1] == 0.5


def test_which_cases_are_in_the_data_is_a_doubt_of_who_is_better_where_the_truth_leaves_none(data):
    """At so high a trust truths are known; one predictor is better by far on half of the cases, by 5 % over all."""
    m = MODEL.posterior(data, 1e6).m
    half = np.arange(40) < 20
    pair = [predicted(data, "A", m + np.where(half, 1.0, 2.0)), predicted(data, "B", m + np.where(half, 2.1, 1.0))]
    found = score_errors(data, MODEL, pair, reliability=1e6, n_draws=500)
    assert found.mean[:, 0] == pytest.approx([1.5, 1.55], abs=0.01)
    assert 0.6 > found.better[1, 0] > 0.2


def test_which_cases_are_in_the_data_moves_errors_as_shares_of_a_dirichlet_distribution_do(data):
    """Truths are known: 4 off on k of n cases and right on the others is an error of 4·Beta(k, n − k), by draws."""
    m = MODEL.posterior(data, 1e6).m
    whole = predicted(data, "A", m + np.where(np.arange(40) < 10, 4.0, 0.0))
    rows = "".join(f"{case},{m[case] + 4.0 * (case >= 15)}\n" for case in range(20))
    (half,) = open_score_predictions("B", f"case,score\n{rows}".encode(), data)
    found = score_errors(data, MODEL, [whole, half], reliability=1e6, n_draws=4000)
    assert found.n_cases.tolist() == [40, 20]
    frame = found.to_frame().set_index(["predictor", "metric"])
    for place, name in enumerate("AB"):
        for column, metric in enumerate(found.metrics):
            row = frame.loc[(name, metric)]
            assert row["n_cases"] == (40, 20)[place]
            for part in ("mean", "low", "high", "total_low", "total_high", "point"):
                assert row[part] == getattr(found, part)[place, column], part
    for place, share in enumerate((stats.beta(10, 30), stats.beta(5, 15))):
        for end, tail in ((found.total_low, 0.025), (found.total_high, 0.975)):
            at = share.ppf(tail)
            assert end[place] == pytest.approx([4 * at, 4 * np.sqrt(at), 4 * at], abs=0.09)
    # On the 20 cases that both predict the one is off on ten and the other on five: their weights are Gamma variables.
    assert found.better[1, 0] == pytest.approx(stats.beta(10, 5).sf(0.5), abs=0.02)


def test_the_side_of_the_threshold_counts_and_a_case_is_drawn_alike_among_others(data):
    model = GaussianScores(5.0, 5.0, 0.5, 4.0, 3.0)
    posterior = model.posterior(data, 1.0)
    (found,) = [score_errors(data, model, [predicted(data, "A", posterior.m)], reliability=1.0, n_draws=2000)]
    assert found.metrics[-1] == "right_side"
    assert found.mean[0, 3] == pytest.approx(posterior.certainty.mean(), abs=0.01)
    few = predicted(data, "few", [*posterior.m[:1], *[""] * 39])
    alone = score_errors(data.select(cases=["0"]), model, [predicted(data.select(cases=["0"]), "few", posterior.m[:1])],
                         reliability=1.0, n_draws=50)  # fmt: skip
    among = score_errors(data, model, [few], reliability=1.0, n_draws=50)
    assert np.array_equal(alone.mean, among.mean) and among.n_cases.tolist() == [1]


def test_on_the_sample_the_predictor_without_its_shift_is_better():
    dataset = load_sample("essays")
    predictors = open_score_predictions("essays", sample_predictions("essays"), dataset)
    found = score_errors(dataset, fit_prior(dataset).model(), predictors, reliability=1.0, n_draws=300)
    assert found.predictors == ("length and vocabulary", "language model", "language model, tuned")
    shifted, tuned = 1, 2
    assert found.low[shifted, 2] > 0.2 and found.better[tuned, shifted] > 0.9 and found.better[shifted, 0] > 0.9


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("case,score\n1,2\n1,3\n", "two predicted scores"),
        ("case,score\n99,2\n", "it contains no valid prediction for any case"),
        ("case,score\n1,high\n", "it contains no valid prediction for any case"),
        ("case,words\n1,high\n", "no column of predicted scores"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_reason(data, content, words):
    with pytest.raises(InputError, match=words):
        open_score_predictions("net", content.encode(), data)


def test_columns_are_predictors_and_what_is_left_out_is_told(data):
    content = "case,net,tree\n1,2,\n2,x,4\n99,1,1\n"
    net, tree = open_score_predictions("file", content.encode(), data)
    assert (net.name, tree.name, net.score[1], tree.score[2]) == ("net", "tree", 2.0, 4.0)
    assert net.predicted.sum() == 1
    assert any("1 row for cases that are not in the data was left out" in note for note in net.notes)
    assert any("no prediction for 39 cases" in note for note in net.notes)


def test_without_predictions_and_with_those_of_other_data_there_are_no_errors(data):
    with pytest.raises(InputError, match="none were given"):
        score_errors(data, MODEL, [], reliability=1.0)
    other = predicted(data.select(cases=["0", "1"]), "A", [1, 2])
    with pytest.raises(InputError, match="it predicts other cases"):
        score_errors(data, MODEL, [other], reliability=1.0)
