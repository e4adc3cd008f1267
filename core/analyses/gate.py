"""Quality gate: requirements on data, such as ``alpha >= 0.6``, each met or not."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan, nan
from shlex import quote
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ..agreement.applicable_coefficients import coefficients_for
from ..agreement.probability import case_agreement
from ..annotations.counts import class_counts
from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import InputError
from ..methods import AS_IS, Verdict
from ..raters.flagged_raters import flag_raters
from ..raters.monitoring import monitor
from ..result_base import Columns, Result, rows
from ..sequential import betting_interval, level_of_look
from ..text import listed, number, percent, plural, typed
from .base import Analysis, option, part_of
from .blocks import Block, Details, Download, Grid, Heading, Words
from .schema import Column, frame_of

TERM = "quality gate"
Outcome = Literal["met", "not met", "undecided"]
# Short names, each with coefficients of which the first available one is used.
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
_NO_SECOND = "no case has two annotations"
_EXIT = "Exit status: 0 if all requirements are met, 1 if not, 2 for invalid input."
_WORKFLOW = """name: Annotations
on: [push]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      - run: pip install ./plurality  # folder of Plurality
      - run: |
          COMMAND
"""
SUGGESTED = ("alpha >= 0.6", "agreement >= 0.8", "unanimous > 50%", "annotations_per_case >= 2", "flagged_raters <= 2")
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
SHOWN = tuple(replace(one, unit="text") if one.unit == "coefficient" else one for one in COLUMNS)


class Measured(NamedTuple):
    """Measure of a dataset.

    Attributes
    ----------
    value : float
    low, high : float
        Ends of its interval; the value itself for counts, NaN if there is no interval.
    n : int
    unit : str
        Unit of n.
    interval : str
        Kind of validity of the interval, or why there is none; empty for counts.
    """

    value: float
    low: float
    high: float
    n: int
    unit: str
    interval: str = ""


class Requirement(NamedTuple):
    """Requirement on a measure.

    Attributes
    ----------
    measure, sign : str
    bound : float
    """

    measure: str
    sign: str
    bound: float

    def __str__(self) -> str:
        """Return the requirement as it is written on the command line."""
        return f"{self.measure} {self.sign} {typed(self.bound)}"


@dataclass(frozen=True, slots=True, repr=False)
class GateCheck(Result):
    """Requirement with its measured value.

    Attributes
    ----------
    requirement : str
    outcome : {"met", "not met", "undecided"}
        Undecided if the measure is undefined, or if the interval decides and contains the bound or is unknown.
    measured : Measured
    """

    requirement: str
    outcome: Outcome
    measured: Measured

    COLUMNS = ("requirement", "outcome")


@dataclass(frozen=True, slots=True, repr=False)
class GateResult(Result):
    """Results of all requirements of a gate.

    Attributes
    ----------
    checks : tuple of GateCheck
    confident : bool
        True if the whole interval must meet a requirement.
    look : int
        Number of this look at growing data, 0 if the data are analysed once.
    level : float
        Level of the intervals, for all looks together.
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
        """True if all requirements are met."""
        return all(one.outcome == "met" for one in self.checks)

    def words(self) -> str:
        """Return whether the data pass, and how looks are allowed for, in a sentence."""
        met = sum(one.outcome == "met" for one in self.checks)
        said = f"{'Passed' if self.passed else 'Not passed'}: {met:,} of {plural(len(self.checks), 'requirement')} met."
        for outcome in ("not met", "undecided"):
            named = [
                f"{one.requirement} ({_short(one.measured.value, one.measured)})"
                for one in self.checks
                if one.outcome == outcome and not isnan(one.measured.value)
            ]
            said += f" {outcome.capitalize()}: {listed(named)}." if named else ""
        unknown = {
            one.requirement.split()[0]: one.measured.interval for one in self.checks if isnan(one.measured.value)
        }
        said += "".join(f" Cannot determine {name}: {why}." for name, why in unknown.items())
        if self.look:
            said += f" This is look {self.look:,}. Over all looks, the error rate is at most {percent(1 - self.level)}."
        return said


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Options of a gate.

    Attributes
    ----------
    requirements : tuple of str
    confident : bool
    look : int
    level : float
    n_rows, n_dropped : int
        Numbers of rows of the file, and of those that were left out.
    seed : int
    """

    level: float = option(0.95, "The confidence level of the intervals")
    requirements: tuple[str, ...] = ()
    confident: bool = False
    look: int = 0
    n_rows: int = 0
    n_dropped: int = 0
    seed: int = 0


def parsed(text: str) -> Requirement:
    """Return a requirement from text such as ``alpha >= 0.6`` or ``unanimous > 50%``.

    Parameters
    ----------
    text : str

    Raises
    ------
    InputError
        The text is not a requirement.
    """
    found = _REQUIREMENT.fullmatch(text.replace("≥", ">=").replace("≤", "<="))
    if found is None:
        raise InputError(f"Could not read the requirement {text!r}.", "Use MEASURE >= NUMBER, such as alpha >= 0.6.")
    measure, sign, bound, share = found.groups()
    return Requirement(measure, sign, float(bound) / (100 if share else 1))


def compute(dataset: Dataset, options: GateOptions) -> GateResult:
    """Measure what is required, and compare."""
    if not options.requirements:
        raise InputError("No requirements were given.", "Add a requirement, such as alpha >= 0.6.")
    measures = _Measures(dataset, options)
    checks = []
    for text in options.requirements:
        one = parsed(text)
        measured = measures.of(one.measure)
        if abs(one.bound) > 1 and not measures.counts(one.measure):
            raise InputError(
                f"Cannot check “{one}”: {one.measure} cannot exceed 1.", "Use a number such as 0.6 or 60%."
            )
        checks.append(GateCheck(str(one), _outcome(one, measured, options), measured))
    return GateResult(tuple(checks), options.confident or options.look > 0, options.look, options.level)


def _outcome(one: Requirement, measured: Measured, options: GateOptions) -> Outcome:
    meets = _COMPARE[one.sign]
    if isnan(measured.value):
        return "undecided"
    if not (options.confident or options.look > 0) or not measured.interval:
        return "met" if meets(measured.value, one.bound) else "not met"
    if isnan(measured.low):
        return "undecided"
    ends = {meets(measured.low, one.bound), meets(measured.high, one.bound)}
    return "undecided" if len(ends) > 1 else "met" if ends == {True} else "not met"


class _Measures:
    """Measures of a dataset that a requirement can use, each computed once."""

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
        """Return a measure by its name.

        Raises
        ------
        InputError
            No such measure exists for these annotations.
        """
        if name not in self._known:
            self._known[name] = self._counted[name]() if name in self._counted else self._coefficient(name)
        return self._known[name]

    def counts(self, name: str) -> bool:
        """Return True if the measure is a number of something and not a share or a coefficient."""
        return name in self._counted and name not in ("unanimous", "case_agreement")

    def _count(self, value: float, n: int, unit: str) -> Measured:
        return Measured(float(value), float(value), float(value), int(n), unit)

    def _coefficient(self, name: str) -> Measured:
        known = {one.name: one for one in reversed(coefficients_for(self.dataset, self.level).coefficients)}
        one = next((known[each] for each in (*ALIASES.get(name, ()), name) if each in known), None)
        if one is None:
            short = [alias for alias, names in ALIASES.items() if set(names) & set(known)]
            listed = ", ".join([*self._counted, *short, *reversed(known)])
            raise InputError(f"Unknown measure {name!r} for these annotations.", f"Use one of {listed}.")
        if one.value is None:
            return _unknown(one.note.removeprefix("undefined: "))
        if one.ci_low is None or one.ci_high is None or one.ci_low == one.ci_high:
            return Measured(one.value, nan, nan, one.n_cases, "cases", "no interval")
        return Measured(one.value, one.ci_low, one.ci_high, one.n_cases, "cases", self.how)

    def _agreement(self) -> tuple[np.ndarray, bool]:
        """Return the share of agreeing pairs of each case with two annotations; and whether cases are in order of time.

        Cases without dates are put in random order, because that of a file may be special, such as the clear ones
        first.
        """
        classes = self.dataset.as_classes()[0]
        agreement, n = case_agreement(class_counts(classes))
        kept = np.random.default_rng(self.options.seed).permutation(np.flatnonzero(n > 1))
        began = None if classes.time is None else classes.time[classes.case_ptr[kept]]
        if began is None or (began == MISSING_TIME).any():
            return agreement[kept], False
        return agreement[kept[np.argsort(began, kind="stable")]], True

    def _unanimous(self) -> Measured:
        agreement, dated = self._agreement()
        return self._mean((agreement > 1 - _ROUNDING).astype(float), dated)

    def _mean(self, values: np.ndarray, dated: bool) -> Measured:
        """Return the mean of values in [0, 1]; one interval covers all looks in order of time, else each its own."""
        if not values.size:
            return _unknown(_NO_SECOND)
        mean, level = float(values.mean()), self.options.level if dated else self.level
        low, high = betting_interval(values, level, at_all_lengths=dated)
        if dated and not low <= mean <= high:
            return Measured(mean, 0.0, 1.0, values.size, "cases", "no interval: the mean changes over time")
        how = "betting confidence sequence" if dated else "betting interval"
        share = percent(level, 1).replace(".0%", "%")
        union = ", union bound over looks" if self.options.look and not dated else ""
        return Measured(mean, low, high, values.size, "cases", f"{share} {how}{union}")

    def _flagged(self) -> Measured:
        classes = self.dataset.as_classes()[0]
        if np.diff(classes.case_ptr).max() < 2:
            return _unknown(_NO_SECOND)
        found = flag_raters(monitor(classes, level=self.options.level, seed=self.options.seed))
        return self._count(len(found.flagged()), len(found.raters), "raters")


def _unknown(why: str) -> Measured:
    """Return a measure that the data do not determine, with the reason in place of an interval."""
    return Measured(nan, nan, nan, 0, "cases", why)


def present(found: GateResult, dataset: Dataset, options: GateOptions) -> list[Block]:
    """Show whether the data pass, and each requirement with its measured value."""
    table = table_of(found, dataset, options)
    ends = [[_short(value, one.measured) for value in one.measured[:3]] for one in found.checks]
    shown = table.assign(**dict(zip(("value", "ci_low", "ci_high"), zip(*ends, strict=True), strict=True)))
    return [
        Heading("Do the data meet the requirements?", TERM),
        Words(found.words(), "lead"),
        Grid(shown, "Requirements and measured values.", 60, SHOWN, "gate_checks"),
        Download(table, "Requirements", "requirements", "gate_table"),
        Details(
            "Command and CI template",
            [Words(command(options), "code"), Words(workflow(options), "code"), Words(_EXIT, "note")],
        ),
    ]


def command(options: GateOptions, program: str = "python -m core", file: str = "FILE") -> str:
    """Return the command that checks the same requirements.

    Parameters
    ----------
    options : GateOptions
    program, file : str
    """
    asked = "".join(f" --require {quote(one)}" for one in options.requirements)
    look = f" --look {options.look}" if options.look else ""
    return f"{program} check {file}{asked}{' --confident' if options.confident else ''}{look}"


def workflow(options: GateOptions) -> str:
    """Return a workflow of GitHub that checks the same requirements on each push, which is one more look if they count.

    Parameters
    ----------
    options : GateOptions
    """
    line = command(replace(options, look=0), "plurality", "annotations.csv")
    line += ' --look "$GITHUB_RUN_NUMBER"' if options.look else ""
    return _WORKFLOW.replace("COMMAND", f'{line} --summary "$GITHUB_STEP_SUMMARY"')


def table_of(found: GateResult, dataset: Dataset, options: GateOptions) -> pd.DataFrame:
    """Return one row per requirement."""
    return frame_of(((one.requirement, one.outcome, *one.measured) for one in found.checks), COLUMNS)


def summary(found: GateResult, name: str) -> str:
    """Return the result in GitHub's Markdown.

    Parameters
    ----------
    found : GateResult
    name : str
        Name of the data, which is escaped.
    """
    lines = [f"### {_cell(name)}", "", found.words(), "", "| | Requirement | Measured | Interval | n |", "|-|-|-|-|-|"]
    signs = {"met": "✅ met", "not met": "❌ not met", "undecided": "❔ undecided"}
    for one in found.checks:
        value, low, high = (_short(each, one.measured) for each in one.measured[:3])
        ends = one.measured.interval
        if ends and not isnan(one.measured.low):
            ends = f"{low} to {high} ({ends})"
        cells = [signs[one.outcome], f"`{one.requirement}`", value, ends, f"{one.measured.n:,} {one.measured.unit}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _short(value: float, measured: Measured) -> str:
    """Return a value as people read it; whole numbers only for counts, which have no interval."""
    if isnan(value):
        return "–"
    whole = not measured.interval and value.is_integer()
    return f"{int(value):,}" if whole else number(value, 2)


def _cell(text: str) -> str:
    """Return text of somebody else as one line that GitHub shows letter for letter."""
    line = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~@&:])", r"\\\1", line)


def _applicable(dataset: Dataset) -> Verdict:
    return Verdict("check", "Quality gate", True, AS_IS)


_REQUIREMENTS = part_of(__name__, "requirements", "Quality gate", _applicable, GateOptions)
GATE = Analysis("check", "Quality gate", "Do the data meet the requirements?", (_REQUIREMENTS,))
