"""A classifier as evidence: its weight by held-out annotations, the formula by hand, and where it is forbidden."""

import json

import numpy as np
import pandas as pd
import pytest

from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import InputError, NotApplicableError
from core.models.classifier_evidence import (
    CLASSIFIER,
    WEIGHT,
    WEIGHTS,
    check_not_evidence,
    evidence_weight,
    with_classifier,
)
from core.models.comparison import vote_changes
from core.models.dawid_skene import DawidSkene
from core.models.held_out import held_out, prepare
from core.models.ordinal import Ordinal
from core.models.tempering import tempered
from core.plausibility.ordinal_truth import OrdinalTruth

N, K = 240, 3
MODEL, BETA = DawidSkene("pooled"), 0.7


def probabilities(rng, truth, accuracy, sure=0.8):
    """A classifier that is right this often and says so with the probability ``sure``."""
    right = rng.random(truth.size) < accuracy
    named = np.where(right, truth, (truth + rng.integers(1, K, truth.size)) % K)
    found = np.full((truth.size, K), (1 - sure) / (K - 1))
    found[np.arange(truth.size), named] = sure
    return found


@pytest.fixture(scope="module")
def world():
    """Four raters of 0.65 on all cases, the truth, and a generator for what else is made up."""
    rng = np.random.default_rng(5)
    truth = rng.choice(K, N, p=[0.5, 0.3, 0.2])
    right = rng.random((N, 4)) < 0.65
    said = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, K, (N, 4))) % K)
    case, rater = np.nonzero(np.ones((N, 4)))
    names = [f"r{n}" for n in range(4)]
    cases = [f"c{n}" for n in range(N)]
    data = Dataset.from_classes("made", cases, names, ["a", "b", "c"], case, rater, said.ravel(), ordinal=True)
    return data, truth


@pytest.fixture(scope="module")
def good(world):
    data, truth = world
    given = probabilities(np.random.default_rng(1), truth, 0.8)
    given[:10] = np.nan
    return given, evidence_weight(data, MODEL, "net", given, beta=BETA)


def test_without_weight_it_is_the_held_out_score_and_the_fit_to_the_bit(world, good):
    data, truth = world
    held = held_out(prepare(data), MODEL)
    assert not held.temper_prevalence
    assert good[1].scores[0] == pytest.approx(held.scores[round(BETA * 10) - 1], abs=1e-6)
    useless = evidence_weight(data, MODEL, "net", probabilities(np.random.default_rng(2), truth, 1 / K))
    fit = MODEL.fit(data)
    assert useless.weight == 0.0 and "is not used" in useless.words()
    assert with_classifier(fit, data, useless, good[0]) is fit


def test_probabilities_are_the_product_of_prevalence_annotations_and_classifier(world, good):
    data, _ = world
    given, found = good
    fit = tempered(MODEL.fit(data), data, 0.5, doubt=0.1)
    more = with_classifier(fit, data, found, given)
    weight = found.weight * 0.5 / BETA
    assert more.settings[WEIGHT] == pytest.approx(weight) and more.settings[CLASSIFIER] == "net"
    for case in (10, 55, 200):
        prior = fit.prevalence ** (1 - weight) * given[case] ** weight
        places = data.annotations_of(case)
        likely = np.prod([fit.confusion[data.rater[a], :, data.answer[a]] for a in places], axis=0) ** 0.5
        expected = 0.9 * prior * likely / (prior * likely).sum() + 0.1 * prior / prior.sum()
        assert more.class_probability[case] == pytest.approx(expected)
    assert (more.class_probability[:10] == fit.class_probability[:10]).all()
    assert (more.confusion == fit.confusion).all() and more.uncertainty is None


def test_a_good_classifier_gains_weight_and_brings_the_truth_nearer(world, good):
    data, truth = world
    given, found = good
    gain, error = found.gain(found.best)
    assert 0.3 <= found.weight <= 1 and gain > 2 * error
    assert found.n_predicted == N - 10 and "10 cases without a prediction" in found.words()
    fit = tempered(MODEL.fit(data), data, BETA)
    more = with_classifier(fit, data, found, given)
    place = np.arange(N)
    before, after = (np.log(one.class_probability[place, truth]).mean() for one in (fit, more))
    assert after > before + 0.1
    frame = found.to_frame()
    assert frame["weight"].tolist() == WEIGHTS.tolist() and frame["score"].argmax() == found.best
    assert frame["gain"][found.best] == gain and frame["gain"][0] == 0.0


def test_a_classifier_that_is_sure_of_nonsense_has_no_weight(world):
    data, truth = world
    sure = probabilities(np.random.default_rng(3), (truth + 1) % K, 0.9, sure=0.98)
    assert evidence_weight(data, MODEL, "net", sure).weight == 0.0


def test_a_classifier_may_make_a_class_surer_than_annotations_and_prevalence_do_and_that_is_said(world, good):
    """Probabilities are (1 − d) P_β + d π; with a classifier π gives way to it, so that 1 − d + d π is no bound."""
    data, _ = world
    given, found = good
    plain = tempered(MODEL.fit(data), data, BETA, doubt=0.3)
    more = with_classifier(plain, data, found, given)
    assert plain.class_probability.max() <= 0.7 + 0.3 * plain.prevalence.max() < more.class_probability.max()
    said = "In every case, about 30% of the probability comes from the prevalence of classes"
    assert next(note for note in plain.notes if "30%" in note).startswith(f"{said}.")
    assert next(note for note in more.notes if "30%" in note).startswith(f"{said} and the predictions of net.")
    assert vote_changes(more, plain, np.ones(data.n_cases, bool)).words.startswith("The model, with net as evi")
    assert vote_changes(plain, plain, np.ones(data.n_cases, bool)).words.startswith("Weighting the raters overrules")


def test_who_is_evidence_is_not_judged(world, good):
    data, _ = world
    given, found = good
    more = with_classifier(MODEL.fit(data), data, found, given)
    with pytest.raises(NotApplicableError, match="Cannot evaluate net with these class probabilities"):
        check_not_evidence(more, ("other", "net"))
    check_not_evidence(more, ("other",))
    check_not_evidence(MODEL.fit(data), ("net",))
    ordinal = with_classifier(Ordinal().fit(data), data, found, given)
    with pytest.raises(NotApplicableError, match="compared with itself"):
        OrdinalTruth(fitted=ordinal)
    assert any("with these class probabilities: it would be compared with itself" in note for note in more.notes)


def test_what_cannot_be_evidence_is_refused(world, good):
    data, _ = world
    given, found = good
    for name, wrong, said in (
        ("r1", given, "as evidence: it is also a rater and would count twice"),
        ("net", given[:, :2], "their shape is"),
        ("net", 2 * given, "not probabilities"),
        ("net", np.full_like(given, np.nan), "no predictions for these cases"),
    ):
        with pytest.raises(InputError, match=said):
            evidence_weight(data, MODEL, name, wrong)
    more = with_classifier(MODEL.fit(data), data, found, given)
    with pytest.raises(InputError, match="already"):
        with_classifier(more, data, found, given)


def test_the_command_gives_the_same_and_says_why(world, good, tmp_path, capsys):
    data, _ = world
    given, found = good
    data.to_frame("annotations").to_csv(tmp_path / "data.csv", index=False)
    table = pd.DataFrame(given[10:], columns=list(data.classes)).assign(case=data.cases[10:])
    table.to_csv(tmp_path / "net.csv", index=False)
    asked = ["fit", "dawid-skene", str(tmp_path / "data.csv"), "--smoothing", "pooled", "--cases-out"]
    asked += [str(tmp_path / "out.csv"), "--beta", str(BETA), "--evidence", f"net={tmp_path / 'net.csv'}"]
    assert main(asked) == 0
    answer = json.loads(capsys.readouterr().out)["evidence"]
    assert answer["weight"] == found.weight and answer["words"] == found.words()
    assert answer["gain"] == pytest.approx(found.gain(found.best)[0])
    out = pd.read_csv(tmp_path / "out.csv", dtype={"case": str}).set_index("case").loc[list(data.cases), list("abc")]
    expected = with_classifier(tempered(MODEL.fit(data), data, BETA), data, found, given).class_probability
    assert out.to_numpy() == pytest.approx(expected, abs=1e-6)
    for model, wrong, words in (
        ("dawid-skene", "net", "Use NAME=FILE"),
        ("glad", f"net={tmp_path / 'net.csv'}", "does not support a classifier as evidence"),
    ):
        assert main(["fit", model, asked[2], "--evidence", wrong]) == 2
        assert words in capsys.readouterr().err
    assert main(["sweep", "dirichlet", asked[2], "--evidence", answer["classifier"]]) == 2  # there it is judged
    assert "--evidence" in capsys.readouterr().err
