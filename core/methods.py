"""Declarations of all methods, and functions to find them.

Each family of methods has a class of its own: `core.agreement.coefficient_methods.CoefficientMethod`,
`core.models.rater_methods.RaterModelMethod`, `core.plausibility.protocol.PlausibilityMethod` and
`core.ingest.formats.reader.Reader`.

A module that implements a method ends with its declaration as ``METHOD``, or several as ``METHODS``. Pages, the command
line, the glossary, the report, warm-up and exports read them here and keep no list of their own. Only modules of the
requested family are searched, and only those that declare a method are imported.

Methods of other packages come by entry points of the group `GROUP`: each is a function that receives this engine's
package and returns one method or several, so that a plug-in works under any name of the engine.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from importlib import import_module, resources
from importlib.metadata import entry_points
from threading import local
from typing import Any, ClassVar, Literal, TypeVar

from .annotations.dataset import Dataset, Kind
from .errors import InputError
from .glossary import GLOSSARY, Term
from .options import check_choice, check_flag, check_number, check_text, check_whole

Need = Literal["raters", "two raters", "overlap", "order"]
GROUP = "plurality.methods"
UGT = "Stutz et al., Evaluating AI systems under uncertain ground truth (2023)"  # several families follow it
AS_IS = "as they are"
FIRST_BLOCK = "by their first choice; annotations with a tied first choice are left out"
THRESHOLD = "by a threshold that you set"
BY_LABEL = "one label at a time, present or absent"
ONE_CLASS: dict[Kind, str] = {"class": AS_IS, "ranking": FIRST_BLOCK, "set": BY_LABEL, "score": THRESHOLD}
RANKED: dict[Kind, str] = {"class": AS_IS, "ranking": AS_IS}
EVERY: dict[Kind, str] = {"class": AS_IS, "ranking": AS_IS, "set": AS_IS, "score": AS_IS}
_FOLDERS = ("agreement", "models", "plausibility", "ingest.formats")
_LAST = 1000
_loading = local()
M = TypeVar("M", bound="Method")


@dataclass(frozen=True, slots=True)
class Option:
    """Option of a method that its user can set.

    Attributes
    ----------
    name : str
        Keyword of the method's ``make``, or of its fit if ``of_run``.
    type : type
        bool, int, float or str.
    default : object
        Default; None lets the method decide.
    label, help : str
        Label on screen, and help in one sentence.
    low, high : float or None
        Limits of a number, both allowed.
    choices : dict of str to str
        Allowed texts, each with its label on screen; empty if any text is allowed.
    flag : str
        Name on the command line; ``--name`` with dashes if omitted.
    of_run : bool
        True if it belongs to how the method is run, not to the model.
    on_page, on_command : bool
        True if pages show it, and if the command line has it.
    """

    name: str
    type: type
    default: Any
    label: str
    help: str
    low: float | None = None
    high: float | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    flag: str = ""
    of_run: bool = False
    on_page: bool = True
    on_command: bool = True

    @property
    def spelled(self) -> str:
        """Spelling on the command line."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def spelled_off(self) -> str:
        """Spelling of the switch that turns it off on the command line."""
        return f"--no-{self.spelled.removeprefix('--')}"

    def checked(self, value: Any) -> Any:
        """Return the value as the method takes it.

        Raises
        ------
        InputError
            It has another type or is out of range; the message states what is allowed.
        """
        if value is None:
            return value
        low, high = (-math.inf if self.low is None else self.low), (math.inf if self.high is None else self.high)
        if self.choices:
            check_choice(value, self.label, self.choices)
        elif self.type is bool:
            check_flag(value, self.label)
        elif self.type is str:
            check_text(value, self.label)
        else:
            if self.type is int:
                check_whole(value, self.label)
            check_number(value, self.label, low, high)
        return self.type(value)


@dataclass(frozen=True, slots=True)
class Method:
    """Declaration of a method: its name, input and requirements.

    Attributes
    ----------
    name, title : str
        Key, used everywhere, and title on screen.
    plainly, exactly : str
        One sentence for a clinician, one for a statistician with its source.
    sources : tuple of str
        Sources as the report cites them.
    takes : dict of Kind to str
        Kinds of annotation that it takes, each with how they are used: `AS_IS`, `FIRST_BLOCK`, `BY_LABEL` or
        `THRESHOLD`.
    needs : tuple of Need
        Requirements before a page offers it.
    place : int
        Position in lists, the lowest first.
    sentence : str
        Sentence for the methods section of a paper; empty if a general sentence covers it.
    """

    family: ClassVar[str] = "analysis"  # in words
    folder: ClassVar[str] = "agreement"  # where its modules are

    name: str
    title: str
    _: KW_ONLY
    plainly: str
    exactly: str
    sources: tuple[str, ...]
    takes: Mapping[Kind, str]
    needs: tuple[Need, ...] = ()
    place: int = _LAST
    sentence: str = ""

    @property
    def command(self) -> str:
        """Name on the command line."""
        return self.name

    @property
    def term(self) -> Term:
        """Entry in the glossary."""
        return Term(self.plainly, self.exactly)


@dataclass(frozen=True, slots=True)
class Computation(Method):
    """Declaration of a method that computes something.

    Attributes
    ----------
    make : callable
        Its public function, or the function that makes a model from its options.
    """

    make: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Model(Computation):
    """Declaration of a method that makes a model from options.

    Attributes
    ----------
    options : tuple of Option
    warm : bool
        True if it is run once when the program starts, so that its kernels are compiled before somebody needs them.
    """

    _: KW_ONLY
    options: tuple[Option, ...] = ()
    warm: bool = False

    def option(self, name: str) -> Option:
        """Return the option with that name.

        Raises
        ------
        InputError
            The method has no option with that name.
        """
        found = next((option for option in self.options if option.name == name), None)
        if found is None:
            known = ", ".join(option.name for option in self.options) or "none"
            raise InputError(f"{self.title} has no option {name.replace('_', ' ')}.", f"Options: {known}.")
        return found

    def checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that differ from their defaults, each checked, in the method's order.

        Raises
        ------
        InputError
            An option is unknown, has another type or is out of range.
        """
        values = {name: self.option(name).checked(value) for name, value in options.items()}
        return {
            option.name: values[option.name]
            for option in self.options
            if option.name in values and values[option.name] != option.default
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a method for a dataset, with how it can be used or why not."""

    method: str
    title: str
    possible: bool
    reason: str


def can_use(method: Method, dataset: Dataset) -> Verdict:
    """Return the verdict on one method, in words for the screen."""
    how = method.takes.get(dataset.kind)
    reason = (
        f"does not support {'classes' if dataset.kind == 'class' else f'{dataset.kind}s'}"
        if how is None
        else _lacking(method.needs, dataset)
    )
    return Verdict(method.name, method.title, not reason, reason or str(how))


def _lacking(needs: Sequence[Need], dataset: Dataset) -> str:
    if "overlap" in needs and len(dataset.cases_by_size) <= 2:
        return "every case has only one annotation, so nothing can be compared"
    if "raters" in needs or "two raters" in needs:
        if not dataset.raters_identified:
            return "the annotations are anonymous"
        if dataset.n_raters < 2:
            return "there is only one rater"
    if "two raters" in needs and dataset.n_raters > 2:
        return "there are more than two raters"
    if "order" in needs and not dataset.ordinal:
        return "the order of the classes is not declared"
    return ""


def any_of(candidates: Iterable[Method], title: str, dataset: Dataset) -> Verdict:
    """Return whether any of several methods can be used.

    Parameters
    ----------
    candidates : iterable of Method
    title : str
        Common title of these methods.
    dataset : Dataset
    """
    each = [can_use(method, dataset) for method in candidates if dataset.kind in method.takes]
    possible = [verdict for verdict in each if verdict.possible]
    one = min(possible or each[:1], key=lambda verdict: verdict.reason != AS_IS)
    return Verdict(one.method, title, one.possible, one.reason)


def as_taken(method: Method, dataset: Dataset, threshold: float | str | None = None) -> tuple[Dataset, int]:
    """Return the data as the method takes them, and how many annotations were left out.

    Parameters
    ----------
    method : Method
    dataset : Dataset
    threshold : float or str, optional
        Threshold that splits scores in two classes; the label that splits sets.

    Raises
    ------
    NotApplicableError, InputError
        See `Dataset.as_classes`; or the method does not take these data.
    """
    how = method.takes.get(dataset.kind)
    if how is None:
        raise InputError(f"{method.title} {can_use(method, dataset).reason}.", "Use another method.")
    return (dataset, 0) if how == AS_IS else dataset.as_classes(threshold)


def methods(family: type[M]) -> dict[str, M]:
    """Return all methods of a family by name, in the order of lists.

    Raises
    ------
    InputError
        A plug-in cannot be loaded, or has the name of an existing method.
    """
    return {method.name: method for method in (*_built_in(family), *of_plugins(family))}


def method_named(family: type[M], name: str) -> M:
    """Return the method with that name.

    Raises
    ------
    InputError
        It does not exist; the message lists the existing ones.
    """
    # Built-in methods come first, because a plug-in may request one of them while it is being loaded.
    own = next((method for method in _built_in(family) if method.name == name), None)
    if own is not None:
        return own
    found = methods(family)
    if name not in found:
        raise InputError(f"Unknown {family.family} {name!r}.", f"Use one of {', '.join(found)}.")
    return found[name]


def every_method() -> list[Method]:
    """List the methods of all families."""
    return [*(method for folder in _FOLDERS for method in _in_folder(folder)), *of_plugins(Method)]


def term(name: str) -> Term:
    """Return the two sentences on a term of the glossary, or on the method with that name."""
    if name in GLOSSARY:
        return GLOSSARY[name]
    found = next((method for method in every_method() if method.name == name), None)
    if found is None:
        raise KeyError(f"Could not find a term or method named {name!r}")
    return found.term


def explained(name: str | Method) -> str:
    """Return both sentences of a term or a method, as markdown for a help sign."""
    entry = name.term if isinstance(name, Method) else term(name)
    return f"{entry.plainly}\n\n*For statisticians:* {entry.exactly}"


def _place(method: Method) -> int:
    return method.place


def _built_in(family: type[M]) -> list[M]:
    return [method for method in _in_folder(family.folder) if isinstance(method, family)]


@cache
def _in_folder(folder: str) -> tuple[Method, ...]:
    modules = modules_with(folder, "\nMETHOD = ", "\nMETHODS = ")
    declared = (method for module in modules for method in _declared(import_module(module, __package__)))
    return tuple(sorted(declared, key=_place))  # here, because a page asks for methods a hundred times


@cache
def modules_with(folder: str, *texts: str) -> tuple[str, ...]:
    """List modules of a folder that contain one of the texts, such as the declaration of a method.

    Parameters
    ----------
    folder : str
        Folder in this package, with its subfolders.
    *texts : str
    """
    found: list[str] = []

    def walk(place: Any, name: str) -> None:
        for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
            if entry.is_dir() and not entry.name.startswith("_"):
                walk(entry, f"{name}.{entry.name}")
            elif entry.name.endswith(".py") and not entry.name.startswith("_"):
                text = entry.read_text(encoding="utf-8")
                if any(declaration in text for declaration in texts):
                    found.append(f"{name}.{entry.name.removesuffix('.py')}")

    root = resources.files(__package__)
    walk(root.joinpath(*folder.split(".")), f".{folder}")
    return tuple(found)


def _declared(module: Any) -> Iterable[Method]:
    return getattr(module, "METHODS", None) or (module.METHOD,)


@cache
def _plugins() -> tuple[Method, ...]:
    found: list[Method] = []
    for entry in entry_points(group=GROUP):
        _loading.now = True  # a request of a plug-in during its loading gets only the built-in methods
        try:
            given = entry.load()(sys.modules[__package__])
        except Exception as error:  # code of others may raise any error, so the error names it
            raise InputError(
                f"Could not load the plug-in {entry.name!r}: {type(error).__name__}: {error}.",
                "Fix or uninstall it.",
            ) from error
        finally:
            _loading.now = False
        for method in [given] if isinstance(given, Method) else given:
            kind = type(method)
            if any(method.name == one.name for one in (*_built_in(kind), *found) if type(one) is kind):
                raise InputError(
                    f"Could not load a plug-in: it adds a second {kind.family} named {method.name!r}.", "Rename it."
                )
            found.append(method)
    return tuple(sorted(found, key=_place))


def of_plugins(family: type[M]) -> list[M]:
    """Return the methods of a family from other packages; none for a plug-in that asks while it is being loaded.

    Raises
    ------
    InputError
        A plug-in cannot be loaded, or has the name of an existing method.
    """
    if getattr(_loading, "now", False):
        return []
    return [method for method in _plugins() if isinstance(method, family)]
