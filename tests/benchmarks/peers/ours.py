"""Each task by this project: a function of the data's size and files that gives the work to be measured."""

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import crowds
import numpy as np

from core import Dataset, read
from core.agreement.coefficients import brennan_prediger, fleiss_kappa, gwet_ac
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.scores import intraclass
from core.annotations.counts import class_counts
from core.certainty.top_sets import annotation_certainty
from core.command_line import main
from core.models.dawid_skene import DawidSkene
from core.models.difficulty import nominal
from core.models.majority import MajorityVote
from core.models.one_coin import OneCoin
from core.models.stopping import StoppingRule
from core.models.tap import TAP
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.plackett_luce.point import plackett_luce_ml
from core.runtime.numba_setup import SMALL, InterpretedWork

Work = Callable[[], np.ndarray]
ITERATIONS = 10


def _crowd(n: int) -> Dataset:
    made = crowds.crowd(n)
    cases, raters = (crowds.names(np.arange(made[key].max() + 1), key) for key in ("case", "rater"))
    classes = crowds.names(np.arange(crowds.N_CLASSES), "class")
    return Dataset.from_classes("crowd", cases, raters, classes, made["case"], made["rater"], made["answer"])


def _panel(table: np.ndarray) -> tuple:
    n_cases, n_raters = table.shape
    cases, raters = crowds.names(np.arange(n_cases), "case"), crowds.names(np.arange(n_raters), "rater")
    return cases, raters, np.repeat(np.arange(n_cases), n_raters), np.tile(np.arange(n_raters), n_cases)


def _fitted(model) -> Callable[[int, Path], Work]:
    def prepare(n: int, _: Path) -> Work:
        data = _crowd(n)
        return lambda: model.fit(data).class_probability

    return prepare


def _agreement(coefficient) -> Callable[[int, Path], Work]:
    def prepare(n: int, _: Path) -> Work:
        cases, raters, case, rater = _panel(table := crowds.panel(n))
        classes = crowds.names(np.arange(crowds.N_CLASSES), "class")
        data = Dataset.from_classes("panel", cases, raters, classes, case, rater, table.ravel())

        def work() -> np.ndarray:
            found = coefficient(class_counts(data))
            return np.array([found.value, found.ci_low, found.ci_high])

        return work

    return prepare


def _icc(n: int, _: Path) -> Work:
    cases, raters, case, rater = _panel(table := crowds.scores(n))
    data = Dataset.from_scores("scores", cases, raters, case, rater, table.ravel())
    return lambda: np.sort([one.value for one in intraclass(data)])


def _plackett_luce(n: int, _: Path) -> Work:
    order = crowds.rankings(n)
    n_cases, n_raters, n_classes = order.shape
    case, rater = np.repeat(np.arange(n_cases), n_raters), np.tile(np.arange(n_raters), n_cases)
    data = Dataset.from_rankings(
        "rankings",
        crowds.names(np.arange(n_cases), "case"),
        crowds.names(np.arange(n_raters), "rater"),
        crowds.names(np.arange(n_classes), "class"),
        case,
        rater,
        np.arange(case.size + 1) * n_classes,
        order.ravel(),
        np.tile(np.arange(1.0, n_classes + 1), case.size),
    )

    def work() -> np.ndarray:
        found, shares = plackett_luce_ml(data), np.zeros((n_cases, n_classes))
        shares[np.repeat(np.arange(n_cases), np.diff(found.ptr)), found.class_code] = found.share
        return shares

    return work


def _read(ending: str) -> Callable[[int, Path], Work]:
    def prepare(n: int, folder: Path) -> Work:
        InterpretedWork.total = SMALL  # as where files have been read before
        path = folder / f"{n}.{ending}"

        def work() -> np.ndarray:
            data = read(path).dataset
            counts = np.bincount(data.answer, minlength=data.n_classes)
            return np.array([data.n_cases, data.n_raters, data.n_annotations, *counts])

        return work

    return prepare


def _glad(n: int, _: Path) -> Work:
    data, model = _crowd(n), nominal.NominalDifficulty(even=True)
    nominal._STOP = _stop  # as many steps at every size
    return lambda: model.fit(data).class_probability


def _certainty(n: int, _: Path) -> Work:
    data = _crowd(n)
    return lambda: annotation_certainty(DirichletCounts(), data, reliability=1.0, n_draws=100).certainty


def _describe(n: int, folder: Path) -> Work:
    """The whole command, to its answer in JSON."""

    def work() -> np.ndarray:
        with redirect_stdout(io.StringIO()) as said:
            assert main(["describe", str(folder / f"{n}.csv")]) == 0
        answer = json.loads(said.getvalue())
        return np.array([answer[key] for key in ("n_cases", "n_raters", "n_annotations", "n_kept")])

    return work


_stop = StoppingRule(ITERATIONS, -1.0)
TASKS = {
    "majority": _fitted(MajorityVote()),
    "dawid-skene": _fitted(DawidSkene("none", _stop)),
    "one-coin": _fitted(OneCoin("none", _stop)),
    "mace": _fitted(TAP("none", _stop)),
    "alpha": _agreement(krippendorff_alpha),
    "fleiss": _agreement(fleiss_kappa),
    "ac1": _agreement(gwet_ac),
    "bp": _agreement(brennan_prediger),
    "icc": _icc,
    "plackett-luce": _plackett_luce,
    **dict.fromkeys(("parquet/pyarrow", "parquet/pandas", "parquet/polars"), _read("parquet")),
    **{f"{kind}.parquet/pyarrow": _read(f"{kind}.parquet") for kind in crowds.ROUGH},
    **dict.fromkeys(("csv/pyarrow", "csv/pandas", "csv/polars"), _read("csv")),
    "jsonl/orjson": _read("jsonl"),
}
# Those without a peer, and reading without one: how they grow is in `growth.py`.
ALONE = {
    "glad": _glad,
    "certainty": _certainty,
    "describe": _describe,
    **{f"read {ending}": _read(ending) for ending in ("csv", "parquet", "jsonl")},
}
