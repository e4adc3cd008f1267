"""What every method says of itself, and where all of them are found.

A module that implements a method ends with its `Method` as ``METHOD``, or several as ``METHODS``. Pages, the command
line, the glossary, the report, warm-up and exports read them here and keep no list of their own. Modules are looked
into only for the families that are asked for, and imported only where they declare a method.

Methods of other packages come by entry points of the group `GROUP`: each is a function that is given this engine's
package and returns one `Method` or several, so that a plug-in works under whatever name the engine is installed.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, resources
from importlib.metadata import entry_points
from threading import local
from typing import Any, Literal, get_args

from .annotations.dataset import Dataset, Kind
from .errors import InputError
from .glossary import GLOSSARY, Term
from .options import check_choice, check_flag, check_number, check_text, check_whole

Family = Literal["coefficient", "rater model", "plausibility", "reader", "metric", "analysis"]
Need = Literal["raters", "two raters", "overlap", "order"]
GROUP = "plurality.methods"
UGT = "Stutz et al., Evaluating AI systems under uncertain ground truth (2023)"  # several families follow it
AS_IS = "as they are"
FIRST_BLOCK = "by their first choice; annotations whose first choice is tied are left out"
THRESHOLD = "by a threshold that you set"
BY_LABEL = "by a label that you choose: with it or without it"
ONE_CLASS: dict[Kind, str] = {"class": AS_IS, "ranking": FIRST_BLOCK, "set": BY_LABEL, "score": THRESHOLD}
RANKED: dict[Kind, str] = {"class": AS_IS, "ranking": AS_IS}
EVERY: dict[Kind, str] = {"class": AS_IS, "ranking": AS_IS, "set": AS_IS, "score": AS_IS}
_FOLDERS: dict[Family, str] = {
    "coefficient": "agreement",
    "rater model": "models",
    "plausibility": "plausibility",
    "reader": "ingest.formats",
    "metric": "evaluation",
    "analysis": "agreement",
}
_LAST = 1000
_loading = local()


@dataclass(frozen=True, slots=True)
class Option:
    """One choice that a method leaves to its user.

    Attributes
    ----------
    name : str
        Keyword of the method's ``make``, or of its fit where ``of_run``.
    type : type
        bool, int, float or str.
    default : object
        None leaves it to the method.
    label, help : str
        On screen, and in one sentence.
    low, high : float or None
        Ends of what a number may be, both allowed.
    choices : dict of str to str
        What a text may be, each with its words on screen; empty where any text will do.
    flag : str
        On the command line; ``--name`` with dashes where it is not given.
    of_run : bool
        Belongs to how the method is run, not to the model.
    on_page, on_command : bool
        Whether pages ask for it, and whether the command line has it.
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
        """On the command line."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def spelled_off(self) -> str:
        """What switches it off on the command line."""
        return f"--no-{self.spelled.removeprefix('--')}"

    def checked(self, value: Any) -> Any:
        """The value as the method takes it.

        Raises
        ------
        InputError
            It is of another type or out of range; the message says what would do.
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
class Variant:
    """One of several methods that share a word on the command line and are told apart by an option there.

    Attributes
    ----------
    command : str
        The word that they share.
    option, value : str
        ``--option value`` names this one.
    help : str
    is_default : bool
        The one that is meant where the option is not given.
    normalise : callable
        A value as it is typed, as it stands in ``value``; raises `InputError` where there is none such.
    """

    command: str
    option: str
    value: str
    help: str
    is_default: bool = False
    normalise: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class ReliabilityScale:
    """The trust γ in the raters as a plausibility model takes it.

    Attributes
    ----------
    default, low, high : float
        Where a page opens, and the ends of its slider.
    sweep : tuple of float
        The published values, or the first ones of a sweep.
    choices : tuple of float
        What a sweep may be made of.
    published : str
        One sentence on what was published with the default; empty where nothing was.
    """

    default: float
    low: float
    high: float
    sweep: tuple[float, ...]
    choices: tuple[float, ...]
    published: str


@dataclass(frozen=True, slots=True)
class Method:
    """What a method is, takes and needs, and how it is run.

    Attributes
    ----------
    name : str
        Its key, everywhere.
    family : Family
    title : str
        On screen.
    plainly, exactly : str
        One sentence for a clinician, one for a statistician with its source.
    sources : tuple of str
        As the report cites them.
    takes : dict of Kind to str
        The kinds of annotation that it takes, each with how it enters: `AS_IS`, `FIRST_BLOCK`, `BY_LABEL` or
        `THRESHOLD`.
    make : callable
        The method's object from its options: a model, a reader; for coefficients and metrics the function itself.
    fit : callable or None
        How the family runs it; see the family's own module.
    needs : tuple of Need
        What must hold before a page offers it.
    options : tuple of Option
    ways : tuple of str
        How a rater model can be fitted, the quickest first: "vote", "em", "map", "nuts".
    view : callable or None
        The data that a fit is of, from the data and the options, where that is another dataset.
    variant : Variant or None
    place : int
        Where it stands in lists, the lowest first.
    leads : tuple of Kind
        The kinds of annotation for which a page opens with it.
    reference : bool
        Stands beside the others to compare with and is never opened automatically.
    opens : callable or None
        Of rater models: whether it may be opened by its held-out score on such data; None where it never is.
    n_parameters : callable or None
        Of rater models that may open: free parameters of prevalence and raters.
    is_truth : bool
        Whether its class probabilities may be taken for the truth.
    reliability : ReliabilityScale or None
        Of plausibility models.
    most_cases : int
        Largest data for which it is computed unasked.
    assumes : str
        Of coefficients: what they assume, in one sentence.
    formula : core.agreement.formulas.Formula or None
        Of coefficients of single classes: the function of sums over cases that they are.
    beyond_chance : bool
        Of coefficients: 0 is chance and 1 perfect, as the verbal scales take it.
    says_how : bool
        Of coefficients: whether weights, metric, method or depth stand beside the title.
    title_weighted : str
        Of coefficients: the title with weights, where that is another one.
    sentence : str
        What was done, for the methods section of a paper; empty where it stands under a general sentence.
    warm : bool
        Run once when the program starts, so that its kernels are compiled before somebody waits for them.
    on_pages : bool
        Whether pages offer it; the command line always does.
    """

    name: str
    family: Family
    title: str
    plainly: str
    exactly: str
    sources: tuple[str, ...]
    takes: Mapping[Kind, str]
    make: Callable[..., Any]
    fit: Callable[..., Any] | None = None
    needs: tuple[Need, ...] = ()
    options: tuple[Option, ...] = ()
    ways: tuple[str, ...] = ()
    view: Callable[..., Dataset] | None = None
    variant: Variant | None = None
    place: int = _LAST
    leads: tuple[Kind, ...] = ()
    reference: bool = False
    opens: Callable[[Dataset], bool] | None = None
    n_parameters: Callable[[Dataset], int] | None = None
    is_truth: bool = True
    reliability: ReliabilityScale | None = None
    most_cases: int = 0
    assumes: str = ""
    formula: Any = None
    beyond_chance: bool = False
    says_how: bool = True
    title_weighted: str = ""
    sentence: str = ""
    warm: bool = False
    on_pages: bool = True

    @property
    def command(self) -> str:
        """Its word on the command line."""
        return self.name if self.variant is None else self.variant.command

    @property
    def term(self) -> Term:
        """Its entry in the glossary."""
        return Term(self.plainly, self.exactly)

    def parameters_of(self, dataset: Dataset) -> int:
        """Free parameters of a rater model on these data; 0 where it has none."""
        return 0 if self.n_parameters is None else self.n_parameters(dataset)

    def option(self, name: str) -> Option:
        """The option of that name.

        Raises
        ------
        InputError
            It takes none of that name.
        """
        found = next((option for option in self.options if option.name == name), None)
        if found is None:
            known = ", ".join(option.name for option in self.options) or "none"
            raise InputError(f"{self.title} takes no {name.replace('_', ' ')}.", f"Its options are: {known}.")
        return found

    def checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that differ from their defaults, each checked, in the order in which the method names them.

        Raises
        ------
        InputError
            One is unknown, of another type or out of range.
        """
        values = {name: self.option(name).checked(value) for name, value in options.items()}
        return {
            option.name: values[option.name]
            for option in self.options
            if option.name in values and values[option.name] != option.default
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a method can be used on a dataset, and how or why not."""

    method: str
    title: str
    possible: bool
    reason: str


def can_use(method: Method, dataset: Dataset) -> Verdict:
    """The verdict on one method, in words for the screen."""
    how = method.takes.get(dataset.kind)
    reason = f"does not take {dataset.kind}s" if how is None else _lacking(method.needs, dataset)
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


def verdicts(dataset: Dataset) -> list[Verdict]:
    """What the data allow and what they do not, by family of methods, in the order of the pages."""
    found = [any_of("coefficient", dataset)]
    found += [can_use(method, dataset) for method in methods("analysis").values()]
    found += [can_use(method, dataset) for method in methods("rater model").values() if method.reference]
    found.append(any_of("rater model", dataset))
    models = [method for method in methods("plausibility").values() if method.on_pages]
    # Classes that have no order lack nothing, so that nothing is said of what would need one.
    found += [can_use(method, dataset) for method in models if dataset.ordinal or "order" not in method.needs]
    return found


def any_of(family: Family, dataset: Dataset) -> Verdict:
    """Whether any method of a family that is no mere reference can be used."""
    each = [
        can_use(method, dataset)
        for method in methods(family).values()
        if dataset.kind in method.takes and not method.reference
    ]
    possible = [verdict for verdict in each if verdict.possible]
    one = min(possible or each[:1], key=lambda verdict: verdict.reason != AS_IS)
    title = "Agreement" if family == "coefficient" else f"{family.capitalize()}s"
    return Verdict(one.method, title, one.possible, one.reason)


def as_taken(method: Method, dataset: Dataset, threshold: float | str | None = None) -> tuple[Dataset, int]:
    """The data as the method takes them, and how many annotations were left out.

    Parameters
    ----------
    method : Method
    dataset : Dataset
    threshold : float or str, optional
        Where scores are split in two classes; the label by which sets are.

    Raises
    ------
    NotApplicableError, InputError
        As `Dataset.as_classes`; or the method does not take these data.
    """
    how = method.takes.get(dataset.kind)
    if how is None:
        raise InputError(f"{method.title} {can_use(method, dataset).reason}.", "Use another method.")
    return (dataset, 0) if how == AS_IS else dataset.as_classes(threshold)


def methods(family: Family) -> dict[str, Method]:
    """All methods of a family by name, in the order of lists.

    Raises
    ------
    InputError
        A plug-in cannot be loaded, or names a method that stands already.
    """
    return {method.name: method for method in (*_built_in(family), *of_plugins(family))}


def method_named(family: Family, name: str) -> Method:
    """The method of that name.

    Raises
    ------
    InputError
        There is none; the message lists those that there are.
    """
    # The engine's own first: a plug-in may ask for one of them while it is being loaded.
    own = next((method for method in _built_in(family) if method.name == name), None)
    if own is not None:
        return own
    found = methods(family)
    if name not in found:
        raise InputError(f"There is no {family} {name!r}.", f"Those that there are: {', '.join(found)}.")
    return found[name]


def every_method() -> list[Method]:
    """The methods of all families."""
    return [method for family in get_args(Family) for method in methods(family).values()]


def offered(family: Family, dataset: Dataset) -> list[Method]:
    """The methods of a family that pages offer for the data's kind of annotation, the one that leads for it first."""
    found = [method for method in methods(family).values() if dataset.kind in method.takes and method.on_pages]
    return sorted(found, key=lambda method: dataset.kind not in method.leads)


def term(name: str) -> Term:
    """The two sentences on a term: of the glossary, or of the method of that name."""
    if name in GLOSSARY:
        return GLOSSARY[name]
    found = next((method for method in every_method() if method.name == name), None)
    if found is None:
        raise KeyError(f"no term and no method is called {name!r}")
    return found.term


def explained(name: str | Method) -> str:
    """Both sentences of a term or a method, as markdown for a help sign."""
    entry = name.term if isinstance(name, Method) else term(name)
    return f"{entry.plainly}\n\n*For statisticians:* {entry.exactly}"


@cache
def _built_in(family: Family) -> tuple[Method, ...]:
    found = [
        method
        for module in _declaring(_FOLDERS[family])
        for method in _declared(import_module(module, __package__))
        if method.family == family
    ]
    return tuple(sorted(found, key=lambda method: method.place))


@cache
def _declaring(folder: str) -> tuple[str, ...]:
    """Modules of a folder whose text declares a method."""
    found: list[str] = []

    def walk(place: Any, name: str) -> None:
        for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
            if entry.is_dir() and not entry.name.startswith("_"):
                walk(entry, f"{name}.{entry.name}")
            elif entry.name.endswith(".py") and not entry.name.startswith("_"):
                text = entry.read_text(encoding="utf-8")
                if "\nMETHOD = " in text or "\nMETHODS = " in text:
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
        _loading.now = True  # what a plug-in asks for now is answered from the methods that are built in
        try:
            given = entry.load()(sys.modules[__package__])
        except Exception as error:  # somebody else's code: whatever it raises, it is named
            raise InputError(
                f"The plug-in {entry.name!r} cannot be loaded ({type(error).__name__}: {error}).",
                "Mend it, or uninstall it.",
            ) from error
        finally:
            _loading.now = False
        found += [given] if isinstance(given, Method) else given
    return tuple(found)


def of_plugins(family: Family) -> tuple[Method, ...]:
    """The methods of a family that other packages bring; none for a plug-in that asks while it is being loaded.

    Raises
    ------
    InputError
        A plug-in cannot be loaded, or names a method that stands already.
    """
    return () if getattr(_loading, "now", False) else _of_plugins(family)


@cache
def _of_plugins(family: Family) -> tuple[Method, ...]:
    names = {method.name for method in _built_in(family)}
    found = []
    for method in _plugins():
        if method.family != family:
            continue
        if method.name in names:
            raise InputError(f"A plug-in brings a second {family} called {method.name!r}.", "Rename it.")
        names.add(method.name)
        found.append(method)
    return tuple(sorted(found, key=lambda method: method.place))
