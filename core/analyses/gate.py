"""Quality gate: requirements on data, such as ``alpha >= 0.6``, each met or not."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ..agreement.applicable_coefficients import coefficients_for
from ..agreement.probability import case_agreement
from ..annotations.counts import class_counts
from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import InputError, NotApplicableError
from ..methods import AS_IS, Verdict
from ..raters.flagged_raters import flag_raters
from ..raters.monitoring import monitor
from ..result_base import Columns, Result, rows
from ..sequential import betting_interval, level_of_look
from ..text import number, percent, plural, typed
from .base import Analysis, AnalysisPart, PartOption
from .blocks import Block, Download, Grid, Heading, Words
from .schema import Column, frame_of

TERM = "quality gate"
Outcome = Literal["met", "not met", "undecided"]
# Short names, with the first of the coefficients that there is of the annotations.
ALIASES = {
    "alpha": ("krippendorff_alpha", "set_alpha"),
    "kappa": ("fleiss_kappa",),
    "ac1": ("gwet_ac",),
    "agreement": ("percent",),
    "icc": ("icc_2",),
}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_REQUIREMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*(>=|<=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+))\s*(%?)\s*")
_ROUNDING = 1e-12
COLUMNS = (
    Column("requirement"),
    Column("outcome"),
    Column("value", unit="coefficient"),
    Column("ci_low", "low", "coefficient"),
    Column("ci_high", "high", "coefficient"),
    Column("n", unit="count"),
    Column("unit", "of"),
    Column("interval", "kind of interval"),
)


class Measured(NamedTuple):
    """A measure of a dataset.

    Attributes
    ----------
    value : float
    low, high : float
        Ends of its interval; the value of what is counted.
    n : int
    unit : str
        Of n.
    interval : str
        How the interval holds; empty of what is counted.
    """

    value: float
    low: float
    high: float
    n: int
    unit: str
    interval: str = ""


class Requirement(NamedTuple):
    """What a measure must be.

    Attributes
    ----------
    measure, sign : str
    bound : float
    """

    measure: str
    sign: str
    bound: float

    def __str__(self) -> str:
        """As it is written on the command line."""
        return f"{self.measure} {self.sign} {typed(self.bound)}"


@dataclass(frozen=True, slots=True, repr=False)
class GateCheck(Result):
    """A requirement with what was measured.

    Attributes
    ----------
    requirement : str
    outcome : {"met", "not met", "undecided"}
        Undecided if the bound is in the interval, and the interval decides.
    measured : Measured
    """

    requirement: str
    outcome: Outcome
    measured: Measured

    COLUMNS = ("requirement", "outcome")


@dataclass(frozen=True, slots=True, repr=False)
class GateResult(Result):
    """All requirements of a gate.

    Attributes
    ----------
    checks : tuple of GateCheck
    confident : bool
        Whether the whole interval must meet a requirement.
    look : int
        Which look at growing data this is, 0 if the data are looked at once.
    level : float
        Of the intervals; of all looks together.
    """

    checks: tuple[GateCheck, ...]
    confident: bool
    look: int
    level: float

    TABLES = ("checks",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.checks, GateCheck.COLUMNS)

    @property
    def passed(self) -> bool:
        """Whether all requirements are met."""
        return all(one.outcome == "met" for one in self.checks)

    def words(self) -> str:
        """Whether the data pass, and how looks are allowed for."""
        met = sum(one.outcome == "met" for one in self.checks)
        said = f"{'Passed' if self.passed else 'Not passed'}: {met:,} of {plural(len(self.checks), 'requirement')} met."
        if self.look:
            said += f" Look {self.look:,}: all looks together err at most {percent(1 - self.level)} of the time."
        return said


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Of a gate.

    Attributes
    ----------
    requirements : tuple of str
    confident : bool
    look : int
    level : float
    n_rows, n_dropped : int
        Rows of the file, and those of them that could not be used.
    seed : int
    """

    level: float = field(default=0.95, metadata={"option": PartOption("The level of the intervals")})
    requirements: tuple[str, ...] = ()
    confident: bool = False
    look: int = 0
    n_rows: int = 0
    n_dropped: int = 0
    seed: int = 0


def parsed(text: str) -> Requirement:
    """A requirement as it is written, such as ``alpha >= 0.6`` or ``unanimous > 50%``.

    Parameters
    ----------
    text : str

    Raises
    ------
    InputError
        It is not one.
    """
    found = _REQUIREMENT.fullmatch(text)
    if found is None:
        raise InputError(f"Could not read the requirement {text!r}.", "Write MEASURE >= NUMBER, such as alpha >= 0.6.")
    measure, sign, bound, share = found.groups()
    return Requirement(measure, sign, float(bound) / (100 if share else 1))


def compute(dataset: Dataset, options: GateOptions) -> GateResult:
    """Measure what is required, and compare."""
    if not options.requirements:
        raise InputError("No requirement to check.", "Add one, such as alpha >= 0.6.")
    measures = _Measures(dataset, options)
    checks = []
    for text in options.requirements:
        one = parsed(text)
        measured = measures.of(one.measure)
        checks.append(GateCheck(str(one), _outcome(one, measured, options), measured))
    return GateResult(tuple(checks), options.confident or options.look > 0, options.look, options.level)


def _outcome(one: Requirement, measured: Measured, options: GateOptions) -> Outcome:
    meets = _COMPARE[one.sign]
    if not (options.confident or options.look > 0) or not measured.interval:
        return "met" if meets(measured.value, one.bound) else "not met"
    ends = {meets(measured.low, one.bound), meets(measured.high, one.bound)}
    return "undecided" if len(ends) > 1 else "met" if ends == {True} else "not met"


class _Measures:
    """What can be required of a dataset, each computed once."""

    def __init__(self, dataset: Dataset, options: GateOptions):
        self.dataset, self.options = dataset, options
        look, level = options.look, options.level
        self.level = level_of_look(level, look) if look else level
        self.how = (
            f"{percent(self.level, 1)} interval, union bound over looks" if look else f"{percent(level)} interval"
        )
        self._known: dict[str, Measured] = {}
        self._counted: dict[str, Callable[[], Measured]] = {
            "cases": lambda: self._count(dataset.n_cases, dataset.n_cases, "cases"),
            "raters": lambda: self._count(dataset.n_raters, dataset.n_raters, "raters"),
            "annotations": lambda: self._count(dataset.n_annotations, dataset.n_annotations, "annotations"),
            "annotations_per_case": lambda: self._count(
                dataset.n_annotations / dataset.n_cases, dataset.n_cases, "cases"
            ),
            "dropped_rows": lambda: self._count(options.n_dropped, options.n_rows, "rows"),
            "flagged_raters": self._flagged,
            "unanimous": self._unanimous,
            "case_agreement": lambda: self._mean(*self._agreement()),
        }

    def of(self, name: str) -> Measured:
        """A measure by its name.

        Raises
        ------
        InputError
            There is none of that name for these annotations, or it is undefined.
        """
        if name not in self._known:
            self._known[name] = self._counted[name]() if name in self._counted else self._coefficient(name)
        return self._known[name]

    def _count(self, value: float, n: int, unit: str) -> Measured:
        return Measured(float(value), float(value), float(value), int(n), unit)

    def _coefficient(self, name: str) -> Measured:
        known = {one.name: one for one in reversed(coefficients_for(self.dataset, self.level).coefficients)}
        one = next((known[each] for each in (*ALIASES.get(name, ()), name) if each in known), None)
        if one is None:
            short = [alias for alias, names in ALIASES.items() if set(names) & set(known)]
            listed = ", ".join([*self._counted, *short, *reversed(known)])
            raise InputError(f"There is no measure {name!r} of these annotations.", f"Use one of {listed}.")
        if one.value is None:
            raise NotApplicableError(f"{name} is undefined: {one.note}.")
        low, high = (one.value if end is None else end for end in (one.ci_low, one.ci_high))
        return Measured(one.value, low, high, one.n_cases, "cases", "" if one.ci_low is None else self.how)

    def _agreement(self) -> tuple[np.ndarray, bool]:
        """Share of pairs of annotations that agree, of the cases with two; and whether they are in order of time.

        Cases without dates are drawn in a random order: that of a file may be any, such as the clear ones first.
        """
        classes = self.dataset.as_classes()[0]
        agreement, n = case_agreement(class_counts(classes))
        kept = np.random.default_rng(self.options.seed).permutation(np.flatnonzero(n > 1))
        if not kept.size:
            raise NotApplicableError("No case has two annotations.")
        began = None if classes.time is None else classes.time[classes.case_ptr[kept]]
        if began is None or (began == MISSING_TIME).any():
            return agreement[kept], False
        return agreement[kept[np.argsort(began, kind="stable")]], True

    def _unanimous(self) -> Measured:
        agreement, dated = self._agreement()
        return self._mean((agreement > 1 - _ROUNDING).astype(float), dated)

    def _mean(self, values: np.ndarray, dated: bool) -> Measured:
        """Mean of values in [0, 1]; in order of time one interval holds at all looks, else each look has its own."""
        mean, level = float(values.mean()), self.options.level if dated else self.level
        low, high = betting_interval(values, level, at_all_lengths=dated)
        if dated and not low <= mean <= high:
            return Measured(mean, 0.0, 1.0, values.size, "cases", "no interval: the mean changes over time")
        how = "betting confidence sequence" if dated else "betting interval"
        union = ", union bound over looks" if self.options.look and not dated else ""
        return Measured(mean, low, high, values.size, "cases", f"{percent(level, 1)} {how}{union}")

    def _flagged(self) -> Measured:
        table = monitor(self.dataset.as_classes()[0], level=self.options.level, seed=self.options.seed)
        found = flag_raters(table)
        return self._count(len(found.flagged()), len(found.raters), "raters")


def present(found: GateResult, dataset: Dataset, options: GateOptions) -> list[Block]:
    """Whether the data pass, and each requirement with what was measured."""
    table = table_of(found, dataset, options)
    return [
        Heading("Do the data meet the requirements?", TERM),
        Words(found.words(), "lead"),
        Grid(table, "Requirements with what was measured.", 60, COLUMNS, "gate_checks"),
        Download(table, "Requirements", "requirements", "gate_table"),
    ]


def table_of(found: GateResult, dataset: Dataset, options: GateOptions) -> pd.DataFrame:
    """A row for each requirement."""
    return frame_of(((one.requirement, one.outcome, *one.measured) for one in found.checks), COLUMNS)


def summary(found: GateResult, name: str) -> str:
    """The result in GitHub's Markdown.

    Parameters
    ----------
    found : GateResult
    name : str
        Of the data, which is escaped.
    """
    lines = [f"### {_cell(name)}", "", found.words(), "", "| | Requirement | Measured | Interval | n |", "|-|-|-|-|-|"]
    signs = {"met": "✅ met", "not met": "❌ not met", "undecided": "❔ undecided"}
    for one in found.checks:
        value, low, high = (_short(each) for each in one.measured[:3])
        ends = f"{low} to {high} ({one.measured.interval})" if one.measured.interval else ""
        cells = [signs[one.outcome], f"`{one.requirement}`", value, ends, f"{one.measured.n:,} {one.measured.unit}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _short(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else number(value, 2).replace("-", "−")


def _cell(text: str) -> str:
    """Text of somebody else as one line that GitHub shows letter for letter."""
    line = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~@&:])", r"\\\1", line)


def _applicable(dataset: Dataset) -> Verdict:
    return Verdict("check", "Quality gate", True, AS_IS)


_REQUIREMENTS = AnalysisPart(
    "requirements", "Quality gate", _applicable, f"{__name__}:compute", f"{__name__}:present", f"{__name__}:table_of",
    GateOptions,
)  # fmt: skip
GATE = Analysis("check", "Quality gate", "Do the data meet the requirements?", (_REQUIREMENTS,))
