"""Compiling every kernel before the first click, with exactly the types that the public functions pass.

It takes a minute of processor time, once for a version on a computer. A server leaves it to child processes, ``python
-m core.warmup PART …``, and goes on answering; a page opens as soon as the parts that it needs are there.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence

import numpy as np

from .agreement.bootstrap import bootstrap
from .agreement.by_rater import by_rater
from .agreement.coefficients import agreement_table
from .agreement.ordered import ranking_agreement
from .agreement.pairs import PAIR_COEFFICIENTS, pair_matrix
from .agreement.precision import precision_curve
from .agreement.probability import SPA_WEIGHTINGS
from .agreement.specific import specific_agreement
from .annotations.counts import class_counts
from .annotations.dataset import Dataset
from .certainty.held_out_readers import held_out_curve
from .evaluation.predictions import match_predictions
from .first_start import PARTS, mark
from .ingest.read_files import read
from .methods import as_taken, methods, offered
from .models.catalogue import fit_request, request
from .models.dawid_skene import DawidSkene
from .models.joint import pair_table
from .models.tap import TAP
from .plausibility.plackett_luce.gibbs import PlackettLuce
from .rankings.leave_one_out import leave_one_out
from .raters.drift import change_point, drift_of
from .raters.monitoring import monitor
from .raters.planning import Goal, forecast
from .raters.report_card import report_card
from .raters.to_act_on import raters_to_act_on
from .reducers.metrics import Metrics
from .reducers.protocol import Reducer, reduce_draws
from .reducers.quantiles import Quantiles
from .reducers.risk import RiskLevels
from .reducers.sets import TopSets

_TABLE = b"case,rater,rank,class\n1,a,1,x\n1,a,1,y\n1,b,1,x\n1,c,1,y\n2,a,1,y\n2,b,1,y\n2,c,1,z\n"

_RECORDS = b'[{"case": 1, "rater": "a", "label": "x"}, {"case": 1, "rater": "b", "label": "y"}]'


def warm_up(parts: Sequence[str] = PARTS, done: Callable[[str], None] = lambda part: None) -> None:
    """Read, compare, fit, draw and monitor once on a few rows; left off where the program ends meanwhile.

    Parameters
    ----------
    parts : sequence of str
        Of `PARTS`; where it is all of them, they count as compiled.
    done : callable
        Told each part as it is ready.
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
    """Compile these parts, all without names, and print each that is ready."""
    if parts:
        threading.Thread(target=_end_with_the_parent, daemon=True).start()
    warm_up(parts or PARTS, lambda part: print(part, flush=True))


def _end_with_the_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


def _data() -> tuple[Dataset, Dataset]:
    """Rankings on seven rows, and the same as single classes."""
    rankings = read(_TABLE).dataset
    return rankings, rankings.as_classes()[0]


def _reading() -> None:
    _data()
    read(_RECORDS)


def _draws() -> None:
    """Draw from the models that pages open with, with all that is made of draws."""
    _draw_from(lambda name: name in _opening())


def _more_draws() -> None:
    """The same from the other models."""
    _draw_from(lambda name: name not in _opening())


def _opening() -> set[str]:
    return {offered("plausibility", data)[0].name for data in _data()}


def _draw_from(wanted: Callable[[str], bool]) -> None:
    rankings, _ = _data()
    class_risk = np.zeros(rankings.n_classes, np.int8)
    classifier = match_predictions(rankings, ["1", "1"], ["x", "y"], np.array([0.7, 0.2]), "none")
    reducers: list[Reducer] = [TopSets(), Quantiles(), RiskLevels(class_risk), Metrics((classifier,), 3, class_risk)]
    for name, method in methods("plausibility").items():
        if not method.warm or not wanted(name):
            continue
        model, data = method.make(), as_taken(method, rankings)[0]
        reduce_draws(model, data, reducers, reliability=1.5, n_draws=8, seed=0)
        model.point_shares(data)


def _anchors() -> None:
    held_out_curve(_data()[0], PlackettLuce(n_burn=8), (1.0, 2.0), n_draws=8)


def _agreement() -> None:
    """Compare raters in all ways."""
    rankings, dataset = _data()
    agreement_table(class_counts(dataset), spa_weightings=SPA_WEIGHTINGS, dataset=dataset)
    ranking_agreement(rankings)
    for coefficient in PAIR_COEFFICIENTS[:2]:
        pair_matrix(dataset, coefficient)
    by_rater(dataset)
    specific_agreement(dataset)
    for metric in (None, "ordinal"):
        bootstrap(dataset, n_replicates=2, metric=metric)
    precision_curve(dataset)
    leave_one_out(rankings)


def _models() -> None:
    """Fit every rater model."""
    _, dataset = _data()
    for method in methods("rater model").values():
        if method.warm:
            positive = {"positive": "x"} if any(option.name == "positive" for option in method.options) else {}
            fit_request(request(method.name, **positive), dataset)
    pair_table(dataset, TAP("none").fit(dataset))


def _raters() -> None:
    """Monitor and plan on dated annotations of five raters to twenty cases."""
    rows = (
        f"{case},{(case + n) % 5},{'xyz'[(case * n) % 3]},2024-01-{case + 1:02d}"
        for case in range(20)
        for n in (0, 1, 2)
    )
    dataset = read("\n".join(["case,rater,class,date", *rows]).encode()).dataset
    table = monitor(dataset)
    for kind in ("cusum", "ewma"):
        drift_of(table.panel, 0, kind=kind, n_orders=20)
    change_point(table.panel.right[:4], table.panel.wrong[:4])
    report_card(table, raters_to_act_on(table), table.raters[0])
    fit = DawidSkene().fit(dataset)
    for goal, policy in ((Goal("accuracy", 0.5, table.raters[0]), "random"), (Goal("certainty", 0.5), "new_cases")):
        forecast(dataset, fit, goal, policy=policy, budget=3, n_steps=1, n_worlds=20)


_PARTS: dict[str, Callable[[], None]] = {
    "reading": _reading,
    "draws": _draws,
    "more draws": _more_draws,
    "raters": _raters,
    "anchors": _anchors,
    "agreement": _agreement,
    "models": _models,
}

if __name__ == "__main__":
    main(sys.argv[1:])
