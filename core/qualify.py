"""Qualification of an installation: its files, kernels, published values, and the same numbers twice.

``python -m core.qualify`` prints the numbers of `kernel_numbers`, for the comparison with interpreted kernels.
"""

import base64
import hashlib
import importlib.metadata
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .agreement.coefficients import brennan_prediger, fleiss_kappa, gwet_ac, percent_agreement, scott_pi
from .agreement.cohen_conger import cohen_kappa, cohen_kappa_classic, conger_kappa
from .agreement.krippendorff import krippendorff_alpha
from .agreement.scores import ICC_1, ICC_2, ICC_3, ICC_3K, intraclass
from .agreement.tables import from_contingency
from .annotations.dataset import Dataset
from .certainty.top_sets import annotation_certainty
from .ingest.samples import load_sample
from .models.dawid_skene import DawidSkene
from .plausibility.dirichlet import DirichletCounts
from .plausibility.plackett_luce.gibbs import PlackettLuce
from .report.page import render
from .runtime.processes import environment
from .text import number, plural, shorten
from .version import __version__, code_digest

_HERE = Path(__file__).parent
_PACKAGE = __package__.partition(".")[0]
_SAME = 1e-9  # relative difference of compiled and interpreted numbers that rounding explains
_DIGITS = 8

# Gwet's example: 12 units, 4 raters, 5 classes; a dot is a missing annotation. One row per rater.
_TWELVE_UNITS = ("123321412...", "1233224125..", ".33323422513", "12332441251.")
# Krippendorff's example: 15 units, 3 raters, 4 classes.
_FIFTEEN_UNITS = (".....34121133.3", "1.213343.......", "..21344.21133.4")
# Fleiss (1971), table 1: how many of 6 psychiatrists chose each of 5 diagnoses, for each of 30 patients.
_THIRTY_PATIENTS = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 00501 30012 51000 "
    "02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)
_ABSTRACTORS = ((13, 0, 0), (0, 20, 7), (0, 4, 56))
_NINETEEN_CASES = ((0, 4, 1), (0, 8, 0), (0, 1, 5))
# Shrout & Fleiss (1979), table 2: 6 targets by 4 judges.
_SIX_TARGETS = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the qualification.

    Attributes
    ----------
    what : str
        Title of the check.
    expected, found : str
    passed : bool or None
        None if it could not be checked here.
    source : str
            Source of the expected value.
    """

    what: str
    expected: str
    found: str
    passed: bool | None
    source: str = ""

    @property
    def result(self) -> str:
        """The result in words."""
        return {True: "passed", False: "FAILED", None: "not available"}[self.passed]


@dataclass(frozen=True, slots=True)
class CheckGroup:
    """Checks of one kind.

    Attributes
    ----------
    title, note : str
    checks : tuple of Check
    """

    title: str
    note: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A number that was published, and the tolerance of its printed digits.

    Attributes
    ----------
    name : str
        Key of `published_numbers`.
    value, tolerance : float
    source : str
    """

    name: str
    value: float
    tolerance: float
    source: str


_IRRCAC = "irrCAC documentation, Gwet's 12 units"
_GWET = "Gwet, Handbook of Inter-Rater Reliability, two abstractors"
_FLEISS = "Fleiss (1971), 30 patients"
_KRIPPENDORFF = "fast-krippendorff, Krippendorff's 15 units"
_SHROUT = "Shrout & Fleiss (1979), table 4"
_COHEN = "Fleiss, Cohen & Everitt (1969), error of a table of 19 cases"
_DAWID = "Dawid & Skene (1979), tables 2 and 4"

PUBLISHED = (
    PublishedValue("Percent agreement, 12 units", 0.818182, 5e-7, _IRRCAC),
    PublishedValue("Percent agreement, 12 units, standard error", 0.12561, 5e-6, _IRRCAC),
    PublishedValue("Fleiss κ, 12 units", 0.76117, 5e-6, _IRRCAC),
    PublishedValue("Fleiss κ, 12 units, standard error", 0.15302, 5e-6, _IRRCAC),
    PublishedValue("Gwet AC1, 12 units", 0.77544, 5e-6, _IRRCAC),
    PublishedValue("Gwet AC2, quadratic weights, 12 units", 0.914, 5.1e-4, _IRRCAC),
    PublishedValue("Brennan-Prediger, 12 units", 0.77273, 5e-6, _IRRCAC),
    PublishedValue("Conger κ, 12 units", 0.76282, 5e-6, _IRRCAC),
    PublishedValue("Krippendorff α, 12 units", 0.74342, 5e-6, _IRRCAC),
    PublishedValue("Krippendorff α, 15 units", 0.691, 5e-4, _KRIPPENDORFF),
    PublishedValue("Fleiss κ, 30 patients", 0.4302445, 5e-8, _FLEISS),
    PublishedValue("Fleiss κ, 30 patients, standard error", 0.0542, 5e-5, _FLEISS),
    PublishedValue("Cohen κ, two abstractors", 0.7964094, 5e-8, _GWET),
    PublishedValue("Scott π, two abstractors", 0.7962397, 5e-8, _GWET),
    PublishedValue("Gwet AC1, two abstractors", 0.8493305, 5e-8, _GWET),
    PublishedValue("Cohen κ, 19 cases", 0.4842, 5e-5, _COHEN),
    PublishedValue("Cohen κ, 19 cases, classic standard error", 0.1380, 5e-5, _COHEN),
    PublishedValue("ICC(1,1), 6 targets", 0.166, 6e-4, _SHROUT),
    PublishedValue("ICC(2,1), 6 targets", 0.290, 6e-4, _SHROUT),
    PublishedValue("ICC(3,1), 6 targets", 0.715, 6e-4, _SHROUT),
    PublishedValue("ICC(3,k), 6 targets", 0.909, 6e-4, _SHROUT),
    PublishedValue("Dawid-Skene, prevalence of class 1", 0.40, 5.1e-3, _DAWID),
    PublishedValue("Dawid-Skene, prevalence of class 2", 0.42, 5.1e-3, _DAWID),
    PublishedValue("Dawid-Skene, observer 1 says 1 if the truth is 1", 0.89, 5.1e-3, _DAWID),
    PublishedValue("Dawid-Skene, observer 1 says 3 if the truth is 3", 0.66, 5.1e-3, _DAWID),
    PublishedValue("Dawid-Skene, observer 2 says 2 if the truth is 2", 0.63, 5.1e-3, _DAWID),
)


def _dataset(rows: Sequence[tuple[int, int, int]], n_cases: int, n_raters: int, n_classes: int) -> Dataset:
    """Build a dataset of classes from rows of case, rater and class."""
    case, rater, answer = np.array(rows, np.int64).T
    cases, raters, classes = ([str(place + 1) for place in range(n)] for n in (n_cases, n_raters, n_classes))
    return Dataset.from_classes("Qualification", cases, raters, classes, case, rater, answer)


def _of_raters(rows: Sequence[str], n_classes: int) -> Dataset:
    """Build a dataset of classes from one text per rater, one digit per case."""
    found = [
        (case, rater, int(digit) - 1)
        for rater, digits in enumerate(rows)
        for case, digit in enumerate(digits)
        if digit != "."
    ]
    return _dataset(found, len(rows[0]), len(rows), n_classes)


def _of_counts(rows: Sequence[str]) -> Dataset:
    """Build a dataset of classes from one text per case, one digit per class."""
    found = [
        (case, rater, answer)
        for case, digits in enumerate(rows)
        for rater, answer in enumerate(np.repeat(np.arange(len(digits)), [int(digit) for digit in digits]).tolist())
    ]
    return _dataset(found, len(rows), max(rater for _, rater, _ in found) + 1, len(rows[0]))


def _of_scores(table: Sequence[Sequence[float]]) -> Dataset:
    """Build a dataset of scores from a full table of cases by raters."""
    values = np.array(table, float)
    case, rater = np.indices(values.shape).reshape(2, -1)
    cases, raters = ([str(place + 1) for place in range(n)] for n in values.shape)
    return Dataset.from_scores("Qualification", cases, raters, case, rater, values.ravel())


def published_numbers() -> dict[str, float]:
    """Compute every number of `PUBLISHED` from the published data."""
    return {**_of_published_classes(), **_of_published_scores(), **_of_published_fit()}


def _of_published_classes() -> dict[str, float]:
    twelve, thirty = _of_raters(_TWELVE_UNITS, 5), _of_counts(_THIRTY_PATIENTS.split())
    two, nineteen = (from_contingency(np.array(table)) for table in (_ABSTRACTORS, _NINETEEN_CASES))
    percent, kappa, of_thirty = percent_agreement(twelve), fleiss_kappa(twelve), fleiss_kappa(thirty)
    classic = cohen_kappa_classic(nineteen)
    found = {
        "Percent agreement, 12 units": percent.value,
        "Percent agreement, 12 units, standard error": percent.se,
        "Fleiss κ, 12 units": kappa.value,
        "Fleiss κ, 12 units, standard error": kappa.se,
        "Gwet AC1, 12 units": gwet_ac(twelve).value,
        "Gwet AC2, quadratic weights, 12 units": gwet_ac(twelve, weights="quadratic").value,
        "Brennan-Prediger, 12 units": brennan_prediger(twelve).value,
        "Conger κ, 12 units": conger_kappa(twelve).value,
        "Krippendorff α, 12 units": krippendorff_alpha(twelve).value,
        "Krippendorff α, 15 units": krippendorff_alpha(_of_raters(_FIFTEEN_UNITS, 4)).value,
        "Fleiss κ, 30 patients": of_thirty.value,
        "Fleiss κ, 30 patients, standard error": of_thirty.se,
        "Cohen κ, two abstractors": cohen_kappa(two).value,
        "Scott π, two abstractors": scott_pi(two).value,
        "Gwet AC1, two abstractors": gwet_ac(two).value,
        "Cohen κ, 19 cases": classic.value,
        "Cohen κ, 19 cases, classic standard error": classic.se,
    }
    return _defined(found)


def _defined(numbers: Mapping[str, float | None]) -> dict[str, float]:
    """Replace undefined numbers by NaN, which fails every check."""
    return {name: math.nan if value is None else float(value) for name, value in numbers.items()}


def _of_published_scores() -> dict[str, float]:
    names = {ICC_1: "ICC(1,1)", ICC_2: "ICC(2,1)", ICC_3: "ICC(3,1)", ICC_3K: "ICC(3,k)"}
    found = {one.name: one.value for one in intraclass(_of_scores(_SIX_TARGETS))}
    return _defined({f"{printed}, 6 targets": found[name] for name, printed in names.items()})


def _of_published_fit() -> dict[str, float]:
    fit = DawidSkene("none").fit(load_sample("anaesthesia"))
    first, second = fit.confusion[:2]
    return {
        "Dawid-Skene, prevalence of class 1": float(fit.prevalence[0]),
        "Dawid-Skene, prevalence of class 2": float(fit.prevalence[1]),
        "Dawid-Skene, observer 1 says 1 if the truth is 1": float(first[0, 0]),
        "Dawid-Skene, observer 1 says 3 if the truth is 3": float(first[2, 2]),
        "Dawid-Skene, observer 2 says 2 if the truth is 2": float(second[1, 1]),
    }


def check_published(published: Sequence[PublishedValue] = PUBLISHED) -> CheckGroup:
    """Compare computed numbers with published ones.

    Parameters
    ----------
    published : sequence of PublishedValue
    """
    numbers = published_numbers()
    checks = tuple(
        Check(
            one.name,
            f"{_digits(one.value)} ± {_digits(one.tolerance)}",
            _digits(numbers[one.name]),
            abs(numbers[one.name] - one.value) <= one.tolerance,
            one.source,
        )
        for one in published
    )
    return CheckGroup(
        "Published values", "Recomputed from the published data and compared at the printed precision.", checks
    )


def kernel_numbers() -> dict[str, float]:
    """Compute numbers of a few small data sets, which need kernels of each part of the engine."""
    twelve = _of_raters(_TWELVE_UNITS, 5)
    fit = DawidSkene().fit(twelve)
    counted = annotation_certainty(DirichletCounts(), twelve, reliability=2.0, n_draws=50, seed=1)
    ranked = annotation_certainty(PlackettLuce(), twelve, reliability=2.0, n_draws=20, seed=1)
    found = {
        **_of_published_classes(),
        **_of_published_scores(),
        "Dawid-Skene, log-likelihood": fit.log_likelihood,
        "Dawid-Skene, prevalence of class 1": fit.prevalence[0],
        "Dirichlet, mean certainty": counted.mean(1),
        "Plackett-Luce, mean certainty": ranked.mean(1),
    }
    return _defined(found)


def check_kernels() -> CheckGroup:
    """Compare numbers of compiled kernels with those of the same kernels as plain Python, in a process of their own."""
    compiled = kernel_numbers()
    done = _child(["-m", f"{_PACKAGE}.qualify"], NUMBA_DISABLE_JIT="1")
    title, note = "Kernels", "Compiled code compared with the same code in plain Python, on a small dataset."
    if done.returncode != 0:
        words = shorten((done.stderr.strip().splitlines() or ["no message"])[-1], 120)
        return CheckGroup(title, note, (Check("Kernels as plain Python", "numbers", words, False),))
    plain = json.loads(done.stdout)
    return CheckGroup(title, note, tuple(compare_numbers(compiled, plain)))


def compare_numbers(compiled: Mapping[str, float], plain: Mapping[str, float]) -> Iterator[Check]:
    """Compare numbers name by name, up to rounding.

    Parameters
    ----------
    compiled, plain : mapping of str to float
        Numbers with the same names.
    """
    for name in {**compiled, **plain}:
        one, other = compiled.get(name, math.nan), plain.get(name, math.nan)
        yield Check(name, _digits(other), _digits(one), math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME))


def check_installation() -> CheckGroup:
    """Check installed files against the record of the wheel, and versions of packages against what is required."""
    wheel = own_distribution()
    if wheel is not None:
        files, listed, lines = (*check_files(wheel),), "the wheel", wheel.requires or []
    else:
        digest = f"not installed from a wheel; code digest {code_digest()}"
        files, listed = (Check("Installed files", "hashes of a wheel", digest, None),), "requirements.txt"
        path = _HERE.parent / "requirements.txt"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return CheckGroup("Installation", f"Versions as {listed} requires.", (*files, *check_packages(lines)))


def own_distribution() -> importlib.metadata.Distribution | None:
    """Return the installed wheel that this code is from, None if it runs from a folder."""
    own = (_HERE / "__init__.py").resolve()
    for name in importlib.metadata.packages_distributions().get(_PACKAGE, ()):
        found = importlib.metadata.distribution(name)
        if Path(str(found.locate_file(f"{_PACKAGE}/__init__.py"))).resolve() == own:
            return found
    return None


def check_files(wheel: importlib.metadata.Distribution) -> Iterator[Check]:
    """Compare each installed file with its hash in the wheel's RECORD; code that RECORD does not list fails, too.

    Parameters
    ----------
    wheel : importlib.metadata.Distribution
    """
    wrong, recorded = [], 0
    files = wheel.files or []
    for file in files:
        if file.hash is None:
            continue
        recorded += 1
        path = Path(str(file.locate()))
        state = "missing" if not path.is_file() else _hash(path, file.hash.mode)
        if state != file.hash.value:
            wrong.append((str(file), state if state == "missing" else "another content"))
    known = {str(file) for file in files}
    root = Path(str(wheel.locate_file("")))
    added = (path.relative_to(root).as_posix() for path in sorted((root / _PACKAGE).rglob("*.py")))
    wrong += [(name, "not in RECORD") for name in added if name not in known]
    yield Check(
        f"Installed files of {wheel.name} {wheel.version}",
        plural(recorded, "file") + " as recorded",
        f"{len(wrong):,} differ" if wrong else "all as recorded",
        recorded > 0 and not wrong,
        "RECORD of the wheel",
    )
    yield from (Check(name, "as recorded", state, False, "RECORD of the wheel") for name, state in wrong)


def _hash(path: Path, mode: str) -> str:
    digest = hashlib.new(mode, path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def check_packages(lines: Sequence[str]) -> Iterator[Check]:
    """Compare the version of each installed package with what is required of it.

    Parameters
    ----------
    lines : sequence of str
        Requirements as pip reads them; empty lines and comments are left out.
    """
    from packaging.requirements import Requirement

    for line in lines:
        text = line.partition(" #")[0].strip()
        if not text or text.startswith(("#", "-")):
            continue
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            version = ""
        fits = bool(version) and wanted.specifier.contains(version, prereleases=True)
        yield Check(wanted.name, str(wanted.specifier) or "any version", version or "not installed", fits)


def check_repeated(commands: Sequence[Sequence[str]]) -> CheckGroup:
    """Run each command twice, each time in a process of its own, and compare all that it prints.

    Parameters
    ----------
    commands : sequence of sequence of str
        Arguments of the command line.
    """
    checks = tuple(compare_runs(arguments[0], *(_answer(arguments) for _ in range(2))) for arguments in commands)
    if all(one.passed is None for one in checks):
        checks = (*checks, Check("Any command", "numbers", "none could be computed", False))
    return CheckGroup("Repeated", "Each command was run twice in new processes. All numbers were compared.", checks)


def compare_runs(name: str, first: dict | str, second: dict | str) -> Check:
    """Compare what two runs of a command answered.

    Parameters
    ----------
    name : str
        Name of the command.
    first, second : dict or str
        Answers, or the message of an error.
    """
    numbers, others = (list(leaves(one)) for one in (first, second))
    if isinstance(first, str) and first == second:
        return Check(name, "the same twice", shorten(first, 160), None)
    differ = sum(one != other for one, other in zip(numbers, others, strict=False)) + abs(len(numbers) - len(others))
    found = f"{differ:,} of {len(numbers):,} values differ" if differ else f"{len(numbers):,} values, all the same"
    return Check(name, "the same twice", found, differ == 0)


def leaves(answer: object, at: str = "") -> Iterator[tuple[str, object]]:
    """List every value of nested answers with its place; how long they took is left out.

    Parameters
    ----------
    answer : object
                Answer as JSON has it.
    at : str
        Place of the answer.
    """
    if isinstance(answer, Mapping):
        for key, value in answer.items():
            if key != "seconds":
                yield from leaves(value, f"{at}/{key}")
    elif isinstance(answer, list):
        for place, value in enumerate(answer):
            yield from leaves(value, f"{at}/{place}")
    else:
        yield at, answer


def _answer(arguments: Sequence[str]) -> dict | str:
    """Run a command in a new process; return its result, or its message if it fails."""
    done = _child(["-m", _PACKAGE, *arguments])
    if done.returncode not in (0, 1):
        return (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
    return json.loads(done.stdout)


def _child(arguments: Sequence[str], **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env={**environment(), **settings}, cwd=os.getcwd(), capture_output=True, text=True, encoding="utf-8",
        check=False,
    )  # fmt: skip


def _digits(value: float) -> str:
    """Write a number with at most the digits of the published ones."""
    return number(value, _DIGITS).rstrip("0").rstrip(".") if math.isfinite(value) else "undefined"


def qualify(
    commands: Sequence[Sequence[str]] = (), done: Callable[[str], None] = lambda title: None
) -> list[CheckGroup]:
    """Run all checks.

    Parameters
    ----------
    commands : sequence of sequence of str
        Arguments of commands on the user's own file, to be run twice.
    done : callable
        Called with the title of each group when it is ready.
    """
    steps: list[Callable[[], CheckGroup]] = [check_installation, check_kernels, check_published]
    if commands:
        steps.append(lambda: check_repeated(commands))
    found = []
    for step in steps:
        found.append(step())
        done(found[-1].title)
    return found


def to_html(groups: Sequence[CheckGroup], facts: Mapping[str, str]) -> bytes:
    """Write the qualification as one HTML file with lines to sign.

    Parameters
    ----------
    groups : sequence of CheckGroup
    facts : mapping of str to str
        Facts at the top of the file: when, where and on what it was made.
    """
    checks = [one for group in groups for one in group.checks]
    failed = sum(one.passed is False for one in checks)
    verdict = f"{plural(failed, 'check') if failed else 'No check'} of {len(checks):,} failed"
    return render(
        "qualification.html", title=f"Qualification of Plurality {__version__}", verdict=verdict, passed=not failed,
        facts=facts, groups=groups,
    ).encode()  # fmt: skip


if __name__ == "__main__":
    json.dump(kernel_numbers(), sys.stdout)
