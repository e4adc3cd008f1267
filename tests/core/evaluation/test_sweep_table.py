"""A sweep over reliabilities is certainty, risk and metrics at each of them, from the same draws."""

import threading
from collections import Counter
from dataclasses import astuple, replace
from threading import Lock

import numpy as np
import pytest

import core
from core.annotations.dataset import Dataset
from core.certainty.risk import risk_of
from core.certainty.top_sets import annotation_certainty
from core.errors import Cancelled, InputError
from core.evaluation.metrics import evaluate, point_scores
from core.evaluation.predictions import match_predictions, read_predictions
from core.evaluation.sweep_table import growing_sweep, reliability_sweep, sweep_part
from core.ingest.formats.tables import open_table
from core.ingest.samples import SAMPLE_FOLDER
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN
from core.reducers import protocol
from core.reducers.metrics import Metrics
from core.reducers.protocol import reduce_draws
from core.reducers.risk import RiskLevels
from core.runtime.chunks import CancelToken
from core.runtime.encoding import from_bytes, to_bytes


@pytest.fixture
def dataset(build):
    rng = np.random.default_rng(0)
    return build([(case, rater, int(rng.integers(4))) for case in range(20) for rater in range(3)], 4)


def test_every_column_is_the_certainty_at_its_reliability(dataset):
    model = DirichletCounts(0.5)
    sweep = reliability_sweep(model, dataset, [3, 0.5, 1.0], n_draws=80, seed=6)
    assert sweep.reliabilities == (3.0, 0.5, 1.0)
    for reliability, found in zip(sweep.reliabilities, sweep.certainty, strict=True):
        single = annotation_certainty(model, dataset, reliability=reliability, n_draws=80, seed=6)
        assert (found.certainty == single.certainty).all()
        assert (found.top_set == single.top_set).all()
        assert (found.se == single.se).all()
    assert sweep.mean(2).tolist() == [found.mean(2) for found in sweep.certainty]


def test_mean_certainty_is_nan_where_there_are_too_few_classes(build):
    sweep = reliability_sweep(DirichletCounts(), build([(0, 0, 0), (0, 1, 1)], 2), [1.0, 2.0], n_draws=10)
    assert np.isnan(sweep.mean(3)).all()
    assert np.isfinite(sweep.mean(2)).all()


def test_scores_have_the_certainty_of_the_two_classes_of_their_threshold():
    dataset = Dataset.from_scores("test", ["a", "b"], ["x"], np.array([0, 1]), np.zeros(2, int), np.array([1.0, 90.0]))
    sweep = reliability_sweep(GaussianScores(2.0, 0.3, 0.5, 2.0, 1.5), dataset, [1.0, 30.0], n_draws=50)
    assert sweep.certainty[0].classes == ("≤ 2", "> 2")
    for found in sweep.certainty:
        assert (found.certainty[:, 0] >= 0.5).all() and (found.certainty[:, 1] == 1).all()
        assert np.isnan(found.certainty[:, 2]).all()
    assert sweep.certainty[1].top_class().tolist() == [0, 1]


def test_progress_runs_once_over_all_reliabilities(dataset):
    seen = []
    reliability_sweep(DirichletCounts(), dataset, [1.0, 2.0], n_draws=10, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1 and 0.5 in seen


def test_a_sweep_can_be_cancelled_between_reliabilities(dataset):
    token, seen = CancelToken(), []

    def progress(share):
        seen.append(share)
        token.cancel()

    with pytest.raises(Cancelled):
        reliability_sweep(DirichletCounts(), dataset, [1.0, 2.0], n_draws=10, token=token, progress=progress)
    assert seen == [0.5]


def test_a_reliability_that_is_not_positive_is_refused(dataset):
    with pytest.raises(InputError, match="reliability γ must be"):
        reliability_sweep(DirichletCounts(), dataset, [1.0, 0], n_draws=10)


@pytest.fixture(scope="module")
def skin():
    return core.load_sample("skin")


def predictions_of(dataset):
    return read_predictions(open_table((SAMPLE_FOLDER / "skin" / "predictions.csv").read_bytes()), dataset, "skin")


@pytest.fixture(scope="module")
def some(skin):
    """Forty cases from everywhere in the sample."""
    return skin.select(cases=skin.cases[::10])


@pytest.fixture(scope="module")
def classifiers(some):
    return predictions_of(some)


def swept(dataset, classifiers, model=None, reliabilities=(1.0, 5.5), **more):
    return reliability_sweep(model or PlackettLuce(), dataset, reliabilities, classifiers=classifiers, **more)


def check_same(one, other, tolerance):
    """Every number of two evaluations, and every value of each classifier."""
    for name in ("by_draw", "by_case", "by_risk", "n_by_risk", "better"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=tolerance, nan_ok=True), name
    for classifier in one.classifiers:
        for metric in one.metrics:
            found, expected = (astuple(each.values[classifier][metric]) for each in (one, other))
            assert found == pytest.approx(expected, abs=tolerance, nan_ok=True)


@pytest.mark.parametrize("model", [PlackettLuce(), PrIRN()])
def test_every_column_is_what_separate_runs_give(model, some, classifiers):
    sweep = swept(some, classifiers, model, n_draws=60, seed=3)
    for place, reliability in enumerate((1.0, 5.5)):
        run = {"reliability": reliability, "n_draws": 60, "seed": 3}
        certainty = annotation_certainty(model, some, **run)
        assert (sweep.certainty[place].certainty == certainty.certainty).all()
        risk = risk_of(reduce_draws(model, some, [RiskLevels(some.class_risk)], **run)[0])
        for name in ("of_top1", "summed_se", "level", "expected", "mean"):
            assert (getattr(sweep.risk[place], name) == getattr(risk, name)).all()
        reducer = Metrics(classifiers, 3, some.class_risk)
        point = point_scores(reducer, *model.point_shares(some), some.n_classes)
        state = reduce_draws(model, some, [reducer], **run)[0]
        check_same(sweep.evaluation[place], evaluate(state, reducer, point, 3), 1e-14)


class Counted:
    """A model that counts how often the draws of each case are asked for."""

    def __init__(self, model):
        self.model, self.asked, self.lock = model, Counter(), Lock()
        self.name, self.default_reliability = model.name, model.default_reliability

    def settings(self):
        return self.model.settings()

    def point_shares(self, dataset):
        return self.model.point_shares(dataset)

    def draws(self, dataset, *, reliability, n_draws, seed, cases=None):
        for case, draws in self.model.draws(dataset, reliability=reliability, n_draws=n_draws, seed=seed, cases=cases):
            with self.lock:
                self.asked[reliability, case] += 1
            yield case, draws


def test_draws_are_made_once_for_each_case_and_reliability_whatever_eats_them(some, classifiers):
    model = Counted(PlackettLuce())
    sweep = swept(some, classifiers, model, n_draws=20)
    assert len(sweep.certainty) == len(sweep.risk) == len(sweep.evaluation) == 2
    assert model.asked == {(reliability, case): 1 for reliability in (1.0, 5.5) for case in range(40)}


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_size_of_chunks_changes_nothing(size, some, classifiers, monkeypatch):
    whole = swept(some, classifiers, n_draws=30)
    monkeypatch.setattr(protocol, "CHUNK_CASES", size)
    parts = swept(some, classifiers, n_draws=30)
    for one, other in zip(parts.evaluation, whole.evaluation, strict=True):
        check_same(one, other, 1e-12)
    for one, other in zip(parts.risk, whole.risk, strict=True):
        assert (one.expected == other.expected).all() and (one.summed == other.summed).all()


def test_metrics_of_a_case_do_not_depend_on_the_other_cases(some, classifiers):
    few = some.select(cases=some.cases[5:9])
    whole = swept(some, classifiers, n_draws=30).evaluation[1]
    part = swept(few, predictions_of(few), n_draws=30).evaluation[1]
    assert (part.by_case == whole.by_case[5:9]).all()


def test_the_choice_of_a_classifier_turns_with_the_reliability(skin):
    """The sample is made so: at γ = 1 B has the better top-3 accuracy, at γ = 10 A."""
    low, high = swept(skin, predictions_of(skin)[:2], reliabilities=(1.0, 10.0), n_draws=200).evaluation
    assert low.classifiers == ("A", "B")
    place = low.metrics.index("top3_accuracy")
    means = [[one.values[name]["top3_accuracy"].mean for name in "AB"] for one in (low, high)]
    assert means[0][0] < means[0][1] and means[1][0] > means[1][1]
    assert low.better[1, 0, place] > 0.95 and low.better[0, 1, place] < 0.05
    assert high.better[0, 1, place] > 0.95 and high.better[1, 0, place] < 0.05


def test_without_levels_or_classifiers_nothing_is_said_of_them(some):
    partly = replace(some, class_risk=np.where(np.arange(some.n_classes) == 4, -1, some.class_risk).astype(np.int8))
    for dataset in (replace(some, class_risk=None), partly):
        sweep = swept(dataset, (), n_draws=10)
        assert sweep.risk == () and sweep.evaluation == ()


def test_a_case_without_annotations_takes_part(build):
    """Case 1 has none: every class is as plausible, so top-1 accuracy is 1/4 and top-3 accuracy 3/4 in each draw."""
    dataset = build([(0, 0, 2), (0, 1, 2), (2, 0, 1)], 4, 3)
    rows = [(case, k, 1 - k / 8) for case in range(3) for k in range(4)]
    cases, classes, scores = zip(*rows, strict=True)
    classifier = match_predictions(
        dataset, [f"case {i}" for i in cases], [f"class {k}" for k in classes], np.array(scores), "A"
    )
    for model in (DirichletCounts(), PlackettLuce()):
        found = swept(dataset, [classifier], model, n_draws=50).evaluation[0]
        assert found.values["A"]["top1_accuracy"].n_cases == 3
        assert found.by_case[1, 0, :2] == pytest.approx([1 / 4, 3 / 4], abs=1e-12)
        assert np.isfinite(found.by_case).all()
        assert np.isfinite(found.values["A"]["overlap_3"].point)


def test_classifiers_must_be_matched_to_the_data_and_have_names_of_their_own(skin, some, classifiers):
    with pytest.raises(InputError, match="are for 40 cases, but the data have 400"):
        swept(skin, classifiers, n_draws=5)
    with pytest.raises(InputError, match="Could not compare classifiers: two have the name 'A'"):
        swept(some, (classifiers[0], replace(classifiers[1], name="A")), n_draws=5)


def test_metrics_deeper_than_the_draws_are_refused(some, classifiers):
    with pytest.raises(InputError, match="sets of 4 classes"):
        swept(some, classifiers, max_top=4, n_draws=5)
    found = swept(some, classifiers, PlackettLuce(depth=4), max_top=4, n_draws=5).evaluation[0]
    assert found.metrics[1:4] == ("top4_accuracy", "set_accuracy_4", "overlap_4")


def alike(one, other) -> bool:
    """Whether two results are equal, arrays to the bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if hasattr(one, "__dataclass_fields__"):
        return all(alike(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    return one == other or (one != one and other != other)


def given(parts, told):
    """Gives the part of a reliability, and notes that it was asked for."""

    def part(reliability, progress):
        assert progress is None
        told.append(reliability)
        return parts[reliability]

    return part


def test_a_sweep_that_grows_asks_for_a_part_when_it_comes_to_it_and_says_how_far_it_is(dataset):
    shares, asked = [], []

    def part(reliability, progress):
        asked.append(reliability)
        progress(0.5)
        return sweep_part(DirichletCounts(), dataset, reliability, n_draws=9)

    growing = growing_sweep(DirichletCounts(), dataset, [1.0, 2.0], part, n_draws=9, progress=shares.append)
    assert next(growing).reliabilities == (1.0,) and asked == [1.0]
    assert next(growing).reliabilities == (1.0, 2.0) and shares == [0.25, 0.75]
    assert next(growing, None) is None


@pytest.mark.parametrize("model", [DirichletCounts(), PrIRN()])
def test_a_sweep_that_grows_tells_the_scores_against_one_label_before_the_first_reliability_is_drawn(dataset, model):
    """Of a classifier that predicts some cases, and of one that predicts none."""
    known, drawn = threading.Event(), []
    some = match_predictions(
        dataset, list(dataset.cases[:7]), [dataset.classes[code % 4] for code in range(7)], np.ones(7), "some"
    )
    nothing = {part: getattr(some, part)[:0] for part in ("class_code", "score", "group")}
    none = replace(some, name="none", ptr=np.zeros_like(some.ptr), **nothing)
    told = []

    def part(reliability, progress):
        assert known.wait(60)
        drawn.append(reliability)
        return sweep_part(model, dataset, reliability, n_draws=9)

    def scored(scores):
        told.append((scores, list(drawn)))
        known.set()

    (found,) = growing_sweep(model, dataset, [2.0], part, classifiers=[some, none], n_draws=9, told=scored)
    ((scores, before),) = told
    values = found.evaluation[0].values
    assert before == [] and list(scores) == list(values) == ["some", "none"]
    for name, told_of in scores.items():
        assert told_of == pytest.approx({metric: value.point for metric, value in values[name].items()}, nan_ok=True)
    first = dataset.case_ptr[:8]
    right = []
    for case in range(7):
        votes = np.bincount(dataset.answer[first[case] : first[case + 1]], minlength=4)
        best = np.flatnonzero(votes == votes.max())
        right.append((case % 4 in best) / len(best))
    assert scores["some"]["top1_accuracy"] == pytest.approx(np.mean(right)) and np.isnan(
        scores["none"]["top1_accuracy"]
    )


@pytest.mark.parametrize("with_risk", [False, True])
@pytest.mark.parametrize("model", [DirichletCounts(), PrIRN()])
def test_a_classifier_held_against_kept_draws_is_the_one_held_against_drawn_ones(dataset, model, with_risk):
    if with_risk:
        dataset = replace(dataset, class_risk=np.array([0, 1, 2, 1], np.int8))
    rng = np.random.default_rng(3)
    codes = np.concatenate([rng.permutation(4) for _ in range(20)])
    rows = [str(case) for case in np.repeat(dataset.cases, 4)], [dataset.classes[code] for code in codes]
    classifiers = [match_predictions(dataset, *rows, rng.random(80), name) for name in ("a", "b")]
    asked = {"n_draws": 60, "seed": 4}
    parts = {reliability: sweep_part(model, dataset, reliability, **asked) for reliability in (1.0, 5.0)}
    for some in ([], classifiers[:1], classifiers):
        drawn = reliability_sweep(model, dataset, [1.0, 5.0], classifiers=some, **asked)
        told = []
        grown = list(growing_sweep(model, dataset, [1.0, 5.0], given(parts, told), classifiers=some, **asked))
        assert alike(grown[-1], drawn) and told == [1.0, 5.0]
        assert alike(grown[0], reliability_sweep(model, dataset, [1.0], classifiers=some, **asked))


def test_what_is_computed_beside_the_draws_ends_where_the_sweep_is_cancelled(dataset, monkeypatch):
    token, ended = CancelToken(), []

    def cancelled_meanwhile(*given):
        token.cancel()
        with pytest.raises(Cancelled):
            point_scores(*given)
        ended.append(True)
        token.check()

    monkeypatch.setattr("core.evaluation.sweep_table.point_scores", cancelled_meanwhile)
    classifier = match_predictions(
        dataset, list(dataset.cases), [dataset.classes[0]] * dataset.n_cases, np.ones(dataset.n_cases), "a"
    )
    part = given({1.0: sweep_part(PrIRN(), dataset, 1.0, n_draws=9)}, [])
    with pytest.raises(Cancelled):
        list(growing_sweep(PrIRN(), dataset, [1.0], part, classifiers=[classifier], n_draws=9, token=token))
    for thread in threading.enumerate():
        if thread.name.startswith("beside-_point"):
            thread.join(20)
    assert ended


def test_parts_come_back_from_disk_as_they_were(dataset):
    part = sweep_part(PrIRN(), dataset, 2.0, n_draws=30)
    assert alike(from_bytes(to_bytes(part, dataset), dataset), part)
