"""Compile every kernel before the first click, with exactly the types that the public functions pass.

It takes a minute of processor time, once per version on a computer. A server leaves it to child processes, ``python -m
core.warmup PART …``, and continues to answer; a page opens as soon as the parts that it needs are ready.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .agreement.applicable_coefficients import coefficients_for
from .agreement.bootstrap import bootstrap
from .agreement.by_rater import by_rater
from .agreement.coefficients import agreement_table
from .agreement.ordered import ranking_agreement
from .agreement.pairs import pair_coefficients, pair_matrix
from .agreement.precision import precision_curve
from .agreement.probability import SPA_WEIGHTINGS
from .agreement.specific import specific_agreement
from .annotations.counts import class_counts
from .annotations.dataset import Dataset
from .certainty.held_out_readers import held_out_curve
from .evaluation.predictions import Predictions, match_predictions
from .ingest.read_files import read
from .methods import as_taken, methods
from .models.catalogue import em_model, fit_request, request
from .models.choose import candidates_of, standing_of
from .models.dawid_skene import DawidSkene
from .models.held_out import HeldOutData, held_out, held_out_shares, held_out_votes, prepare
from .models.joint import pair_table
from .models.majority import MajorityVote
from .models.rater_methods import RaterModelMethod
from .models.tap import TAP
from .plausibility._kernels import leading_places
from .plausibility.plackett_luce._gibbs_kernels import gibbs
from .plausibility.plackett_luce.blocks import case_blocks, ranking_entries
from .plausibility.plackett_luce.gibbs import PlackettLuce
from .plausibility.protocol import CaseDraws, PlausibilityMethod, offered
from .rankings.leave_one_out import leave_one_out
from .raters.drift import change_point, drift_of
from .raters.flagged_raters import flag_raters
from .raters.monitoring import monitor
from .raters.planning import Goal, forecast
from .raters.report_card import report_card
from .reducers.all_draws import WholeCases
from .reducers.list_metrics import ListMetrics
from .reducers.metrics import Metrics
from .reducers.protocol import Reducer, reduce_draws
from .reducers.quantiles import Quantiles
from .reducers.risk import RiskLevels
from .reducers.sets import TopSets
from .runtime.first_start import AT_FIRST, PARTS, mark
from .runtime.numba_setup import SMALL
from .runtime.processes import stand_back

_TABLE = b"case,rater,rank,class\n1,a,1,x\n1,a,1,y\n1,b,1,x\n1,c,1,y\n2,a,1,y\n2,b,1,y\n2,c,1,z\n"

# Sizes of data of other kinds: raters who agree more than by chance, one of them on one class.
_N_CASES, _N_RATERS = 30, 6
_MACHINE = _N_RATERS - 1
_RECORDS = b'[{"case": 1, "rater": "a", "label": "x"}, {"case": 1, "rater": "b", "label": "y"}]'


def warm_up(parts: Sequence[str] = PARTS, done: Callable[[str], None] = lambda part: None) -> None:
    """Read, compare, fit, draw and monitor once on a few rows; stop if the program ends meanwhile.

    Parameters
    ----------
    parts : sequence of str
        Parts, of `PARTS`; if these are all, they count as compiled.
    done : callable
        Called with each part as it is ready.
    """
    try:
        for part in parts:
            _PARTS[part]()
            done(part)
    except RuntimeError as error:
        if "shutdown" not in str(error):  # what the pool of threads says when the program ends
            raise
        return
    if set(parts) == set(PARTS):
        mark().touch()


def main(parts: Sequence[str]) -> None:
    """Compile these parts, all if none is named, and print each that is ready."""
    at_first = [part for part in parts if part in AT_FIRST]
    if parts:
        stand_back()  # the server and the browser come first: a page is there before its kernels are
        threading.Thread(target=_end_with_the_parent, daemon=True).start()

    def done(part: str) -> None:
        print(part, flush=True)
        if at_first[-1:] == [part]:
            stand_back(far=True)  # lower priority than the other child, whose parts a page may wait for

    warm_up(parts or PARTS, done)


def _end_with_the_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


def _data() -> tuple[Dataset, Dataset]:
    """Return rankings on seven rows, and the same as single classes."""
    rankings = read(_TABLE).dataset
    return rankings, rankings.as_classes()[0]


def _reading() -> None:
    """Read a file that is large enough for machine code, with nine bytes per row or more."""
    rows = "".join(f"{row // 3},{row % 3},{'xyz'[row % 3]}\n" for row in range(SMALL // 6))
    read(f"case,rater,class\n{rows}".encode())
    read(_RECORDS)
    read(_TABLE)


def _dated() -> Dataset:
    """Return dated annotations of twenty cases by five raters."""
    rows = (
        f"{case},{(case + n) % 5},{'xyz'[(case * n) % 3]},2024-01-{case + 1:02d}"
        for case in range(20)
        for n in (0, 1, 2)
    )
    return read("\n".join(["case,rater,class,date", *rows]).encode()).dataset


def _draws() -> None:
    """Draw from the default model of pages of rankings; discard the draws.

    The sampler comes first, without raters: the parts that it shares with other kernels are then compiled once.
    """
    nobody = np.zeros(1, np.int64)
    gibbs(np.uint32(0), nobody, nobody, nobody[:0], np.ones(0), 1, 0, 1.0, 0, 1, 1, 3)
    _draw_from(_opening(), WholeCases())


def _sampler() -> None:
    """Compile the last functions of the sampler in advance, so that both children end first parts at about one time."""
    leading_places(np.zeros(1), 0.0, 0.0, 1.0, 0, np.zeros(1, np.int32), np.zeros(1))
    rankings = _data()[0]
    case_blocks(rankings, 0, ranking_entries(rankings))


def _points() -> None:
    """Compute the most plausible shares by that model; it shares code with its draws."""
    methods(PlausibilityMethod)[_opening()].make().point_shares(_data()[0])


class _Same:
    """Plausibility model with identical draws, of two named classes, which take no time to make."""

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Yield the draws of each case."""
        cases = range(dataset.n_cases) if cases is None else cases
        top = np.zeros((n_draws, 3), np.int32)
        of_one = CaseDraws(
            np.arange(2, dtype=np.int32), np.full((n_draws, 2), 0.5), np.zeros(n_draws), top, 1, 1.0, n_draws, seed
        )
        return ((case, of_one) for case in cases)


def _summaries() -> None:
    """Compute what a case shows: for single classes, and for draws, which are the same for all models."""
    rankings, dataset = _data()
    reducers = (TopSets(), Quantiles(), RiskLevels(np.zeros(rankings.n_classes, np.int8)))
    reduce_draws(_Same(), rankings, reducers, reliability=1.5, n_draws=8, seed=0)
    MajorityVote().fit(dataset)


def _others() -> None:
    """Draw from the other models, and evaluate a classifier."""
    rankings, _ = _data()
    class_risk = np.zeros(rankings.n_classes, np.int8)
    for name in _beside():
        method = methods(PlausibilityMethod)[name]
        method.make().point_shares(as_taken(method, rankings)[0])
        _draw_from(name, Metrics((_classifier(),), 3, class_risk))
    known = _classifier().probabilities(rankings.n_classes)
    _draw_from(_opening(), ListMetrics((_classifier(),), (known,), rankings.n_classes))


def _classifier() -> Predictions:
    return match_predictions(_data()[0], ["1", "1"], ["x", "y"], np.array([0.7, 0.2]), "none")


def _opening() -> str:
    return offered(_data()[0])[0].name


def _beside() -> list[str]:
    """List the models of rankings that are ready from the start, except the default of pages."""
    opening = _opening()
    return [name for name, method in methods(PlausibilityMethod).items() if method.warm and name != opening]


def _draw_from(name: str, *reducers: Reducer) -> None:
    rankings, _ = _data()
    method = methods(PlausibilityMethod)[name]
    reduce_draws(method.make(), as_taken(method, rankings)[0], reducers, reliability=1.5, n_draws=8, seed=0)


def _anchors() -> None:
    held_out_curve(_data()[0], PlackettLuce(n_burn=8), (1.0, 2.0), n_draws=8)


def _agreement() -> None:
    """Compare raters with all coefficients."""
    rankings, dataset = _data()
    agreement_table(class_counts(dataset), spa_weightings=SPA_WEIGHTINGS, dataset=dataset)
    ranking_agreement(rankings)
    for coefficient in pair_coefficients()[:2]:
        pair_matrix(dataset, coefficient)
    by_rater(dataset)
    specific_agreement(dataset)
    for metric in (None, "ordinal"):
        bootstrap(dataset, n_replicates=2, metric=metric)
    precision_curve(dataset)
    leave_one_out(rankings)


def _models() -> None:
    """Fit every rater model, and compare those by EM on held-out data."""
    _, dataset = _data()
    for method in methods(RaterModelMethod).values():
        if method.warm:
            positive = {"positive": "x"} if any(option.name == "positive" for option in method.options) else {}
            fit_request(request(method.name, **positive), dataset)
    pair_table(dataset, TAP("none").fit(dataset))
    _compare(_dated())


def _compare(dataset: Dataset) -> None:
    """Score the models by EM on one fold."""
    one = _one_fold(dataset)
    held_out_votes(one)
    held_out_shares(one)
    for method in methods(RaterModelMethod).values():
        if "em" in method.ways and method.opens(dataset):
            held_out(one, em_model(request(method.name, "em")))


def _raters() -> None:
    """Run the monitoring of raters and the planning."""
    dataset = _dated()
    table = monitor(dataset)
    for kind in ("cusum", "ewma"):
        drift_of(table.panel, 0, kind=kind, n_orders=20)
    change_point(table.panel.right[:4], table.panel.wrong[:4])
    report_card(table, flag_raters(table), table.raters[0])
    flag_raters(monitor(_classes(3)))
    fit = DawidSkene().fit(dataset)
    for goal, policy in ((Goal("accuracy", 0.5, table.raters[0]), "random"), (Goal("certainty", 0.5), "new_cases")):
        forecast(dataset, fit, goal, policy=policy, budget=3, n_steps=1, n_worlds=20)


def _kinds() -> None:
    """Run AI raters and coefficients on annotations of other kinds."""
    from .machines.alternative_test import alternative_test  # here, or the first page would wait for their imports
    from .machines.equivalent_readers import equivalent_readers

    case, rater, answer = _panel(3)
    named = tuple(map(str, range(_N_CASES))), tuple(map(str, range(_N_RATERS))), tuple("xyz")
    each = np.arange(answer.size + 1)
    ranked = Dataset.from_rankings("", *named, case, rater, each, answer, np.zeros(answer.size, np.int64))
    machine, people = ranked.raters[_MACHINE], ranked.raters[:_MACHINE]
    alternative_test(ranked, (machine,), n_resamples=100, plan=False)
    share = np.full((ranked.n_cases, ranked.n_classes), 1 / ranked.n_classes)
    equivalent_readers(ranked, machine, people, score="log", probability=share, n_resamples=100)
    some = np.flatnonzero(np.arange(case.size - 1) % 7)  # not each rater on each case
    coefficients_for(Dataset.from_scores("", *named[:2], case[some], rater[some], 1.0 + answer[some]))
    coefficients_for(Dataset.from_sets("", *named, case, rater, each, answer))
    for ordinal in (False, True):
        coefficients_for(_classes(3, ordinal=ordinal))
    _studies()


def _studies() -> None:
    """Compare two modalities, of a study in which all read every case and of one with a gap."""
    from .studies.analysis import StudyOptions, compute
    from .studies.study import ReadingStudy

    scores = np.random.default_rng(0).normal(size=(2, _N_RATERS, _N_CASES))
    names = tuple("ab"), tuple(map(str, range(_N_RATERS))), tuple(map(str, range(_N_CASES)))
    for gap in (False, True):
        scores[0, 0, 0] = np.nan if gap else 0.0
        compute(ReadingStudy(scores, *names, truth=np.arange(_N_CASES) % 2), StudyOptions())


def _openings() -> None:
    """Score each model that may be selected, on one fold: for two classes, for more, and for ordered ones."""
    for dataset in (_classes(3, ordinal=True), _classes(2), _classes(3)):
        one = _one_fold(dataset)
        for method in candidates_of(dataset, difficulty=True):
            standing_of(one, dataset, method, "independent", False, None, None)


def _one_fold(dataset: Dataset) -> HeldOutData:
    """Return one fold, while `choose` uses twenty; the compiled code is the same."""
    data = prepare(dataset)
    return replace(data, refits=data.refits[:1], n_sets=1)


def _classes(n_classes: int, *, ordinal: bool = False) -> Dataset:
    cases, raters = (tuple(map(str, range(n))) for n in (_N_CASES, _N_RATERS))
    return Dataset.from_classes("", cases, raters, tuple("xyz"[:n_classes]), *_panel(n_classes), ordinal=ordinal)


def _panel(n_classes: int) -> tuple[np.ndarray, ...]:
    """Return cases, raters and classes, with one annotation of each rater on each case and one repeated."""
    case, rater = np.repeat(np.arange(_N_CASES), _N_RATERS), np.tile(np.arange(_N_RATERS), _N_CASES)
    answer = (case + ((7 * case + 3 * rater) % 5 == 0)) % n_classes
    answer[rater == _MACHINE] = 0
    return tuple(np.append(codes, codes[0]) for codes in (case, rater, answer))


_PARTS: dict[str, Callable[[], None]] = {
    "reading": _reading,
    "sampler": _sampler,
    "draws": _draws,
    "points": _points,
    "summaries": _summaries,
    "others": _others,
    "raters": _raters,
    "anchors": _anchors,
    "agreement": _agreement,
    "models": _models,
    "openings": _openings,
    "kinds": _kinds,
}

if __name__ == "__main__":
    main(sys.argv[1:])
