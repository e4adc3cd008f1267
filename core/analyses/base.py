"""Base of analyses: a question in parts, each with its options, its computation and its presentation.

Pages lay parts out, the report prints them, the command line and downloads take their tables. A part names its
functions as "module:function", so that a command which needs no figure loads none.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..methods import Method, Verdict, modules_with
from ..options import check_choice, check_flag, check_level, check_number, check_whole

if TYPE_CHECKING:
    from ..studies.study import ReadingStudy
    from .inputs import Inputs


@dataclass(frozen=True, slots=True)
class PartOption:
    """Declaration of one option of a part; controls, commands and errors are made from it.

    Attributes
    ----------
    label : str
        Label of the control.
    choices : sequence of str
        Allowed values; without them, a level between 0 and 1, or a switch.
    titles : callable, optional
        Function that returns the label of a choice.
    term : str or Method
        Term of the glossary, or the method.
    key : str
        Key of the control's state; empty if no page offers it.
    look : {"", "side by side", "radio"}
        Look of the choices: a menu, buttons in a row, or one line each.
    flag : bool
        True for a switch.
    kind : {"level", "number", "integer", "text"}
        Kind of value if there are no choices.
    low : float
        Smallest number.
    help : str
        Help on the command line.
    """

    label: str
    choices: tuple[str, ...] = ()
    titles: Callable[[str], str] = str
    term: str | Method = ""
    key: str = ""
    look: Literal["", "side by side", "radio"] = ""
    flag: bool = False
    kind: Literal["level", "number", "integer", "text"] = "level"
    low: int = 0
    help: str = ""

    def check(self, value: Any) -> None:
        """Raise `InputError` unless the value is allowed."""
        if self.flag:
            check_flag(value, self.label)
        elif self.choices:
            check_choice(value, self.label, self.choices)
        elif self.kind == "level":
            check_level(value, self.label)
        elif self.kind == "number":
            check_number(value, self.label, self.low)
        elif self.kind == "integer":
            check_whole(value, self.label, self.low)


def option(default: Any, *what: Any, **more: Any) -> Any:
    """Return the field of an option with its default.

    Parameters
    ----------
    default : object
    *what, **more
        See `PartOption`.
    """
    return field(default=default, metadata={"option": PartOption(*what, **more)})


@dataclass(frozen=True, slots=True)
class LongWork:
    """Computation that takes time: a page shows its progress, and it can be cancelled.

    Attributes
    ----------
    title : str
        Title of the computation.
    seconds : callable
        Function from the dataset to the estimated time on one core.
    lane : str
        Queue of the pages' jobs.
    """

    title: str
    seconds: Callable[[Dataset], float]
    lane: str = "pages"


@dataclass(frozen=True, slots=True)
class NoOptions:
    """A part without options."""


@dataclass(frozen=True, slots=True)
class AnalysisPart:
    """Part of an analysis: one result, one key, one presentation.

    Attributes
    ----------
    name : str
        Name in keys and on the command line.
    title : str
        Title of its tab.
    options : type
        Frozen dataclass whose fields have a `PartOption` in their metadata.
    applicable : callable
        Function from the dataset to a `core.methods.Verdict`. Like the other functions, it takes
        `core.analyses.inputs.Inputs` instead of the dataset if annotations are not enough.
    compute : str
        Function, as "module:function", of dataset and options, or of the needed result and options.
    present : str
        Function, as "module:function", of the result, the dataset and the options, which returns blocks.
    table : str
        Function, as "module:function", of the result, the dataset and the options, which returns the table for files
        and commands.
    needs : str
        Function, as "module:function", of dataset and options: a long computation that several parts depend on. A page
        runs it as a job and passes its result to `answer`.
    given_options : tuple of (str, object)
        Options set by the caller of the part, such as who is an AI rater; see `with_options`.
    work : LongWork, optional
        Description of the work if the computation takes time; it then takes ``token`` and ``progress``.
    question : str
        Question of a part that its module declares as ``PART``. The part then has its own tab, section of the report
        and command; it takes annotations, and single classes if it does not apply to them as they are.
    """

    name: str
    title: str
    applicable: Callable[[Any], Verdict]
    compute: str
    present: str
    table: str
    options: type = NoOptions
    needs: str = ""
    work: LongWork | None = None
    given_options: tuple[tuple[str, Any], ...] = ()
    question: str = ""

    def with_options(self, **given: Any) -> "AnalysisPart":
        """Return the same part with options that no control offers."""
        return replace(self, given_options=(*self.given_options, *given.items()))

    @property
    def function(self) -> Callable[..., Any]:
        """Function that computes the result."""
        return _function(self.compute)

    def answer(
        self, dataset: "Dataset | Inputs | ReadingStudy", options: Any = None, needed: Any = None, **how: Any
    ) -> Any:
        """Return the result for a dataset and options.

        Parameters
        ----------
        dataset : Dataset, Inputs or ReadingStudy
        options : object, optional
        needed : object, optional
            Result that the part needs, if it is known; computed otherwise.
        **how
            Cancel token, progress and a runner, if the part takes them.
        """
        options = self.resolve() if options is None else options
        if self.needs and needed is None:
            needed = _function(self.needs)(dataset, options)
        return self.function(needed if self.needs else dataset, options, **how)

    def blocks(self, result: Any, dataset: "Dataset | Inputs | ReadingStudy", options: Any = None) -> list:
        """Return the blocks of the result.

        Parameters
        ----------
        result : object
            Result of `answer`.
        dataset : Dataset, Inputs or ReadingStudy
        options : object, optional
            Options, see `answer`.
        """
        return _function(self.present)(result, dataset, self.resolve() if options is None else options)

    def frame(self, result: Any, dataset: "Dataset | Inputs | ReadingStudy", options: Any = None) -> Any:
        """Return the table of the result, as in files and on the command line.

        Parameters
        ----------
        result : object
            Result of `answer`.
        dataset : Dataset, Inputs or ReadingStudy
        options : object, optional
            Options, see `answer`.

        Returns
        -------
        DataFrame
        """
        return _function(self.table)(result, dataset, self.resolve() if options is None else options)

    def given(self, asked: Any) -> dict[str, Any]:
        """Return those options of a command that belong to the part, with its seed.

        Parameters
        ----------
        asked : object
            Object with an attribute for each option; None if it was not given.
        """
        names = [one.name for one in fields(self.options) if "option" in one.metadata or one.name == "seed"]
        return {name: getattr(asked, name) for name in names if getattr(asked, name, None) is not None}

    def resolve(self, **given: Any) -> Any:
        """Return the options with the given values; others keep their defaults.

        Raises
        ------
        InputError
            A value is not allowed, or the part has no such option.
        """
        own = self.options()
        known = {one.name: one.metadata.get("option") for one in fields(own)} if is_dataclass(own) else {}
        for name, value in given.items():
            if name not in known:
                raise InputError(f"“{self.title}” has no option {name!r}.", f"Options: {', '.join(known) or 'none'}.")
            declared = known[name]
            if declared is not None and value is not None:
                declared.check(value)
        return replace(own, **{**dict(self.given_options), **given})


@dataclass(frozen=True, slots=True)
class Analysis:
    """Question with its parts.

    Attributes
    ----------
    name : str
        Name of the command.
    title, question : str
    parts : tuple of AnalysisPart
        Parts; a command without a named part returns the first.
    """

    name: str
    title: str
    question: str
    parts: tuple[AnalysisPart, ...]

    @property
    def declared(self) -> tuple[AnalysisPart, ...]:
        """Parts that their modules declare, each with a question of its own."""
        return tuple(part for part in self.parts if part.question)

    def part(self, name: str) -> AnalysisPart:
        """Return the part with that name.

        Raises
        ------
        OptionError
            There is none.
        """
        check_choice(name, "The part", [part.name for part in self.parts])
        return next(part for part in self.parts if part.name == name)


def part_of(
    module: str, name: str, title: str, applicable: Callable[[Any], Verdict], options: type = NoOptions,
    *, of: str = "", **more: Any,
) -> AnalysisPart:  # fmt: skip
    """Return the part whose functions are ``compute``, ``present`` and ``table_of`` of a module.

    Parameters
    ----------
    module, name, title, applicable, options
        See `AnalysisPart`; a module is named as in ``__name__``.
    of : str
        Ending of the names of the functions, if the module has several parts.
    **more
        Other fields of the part.
    """
    compute, present, table = (f"{module}:{function}{of}" for function in ("compute", "present", "table_of"))
    return AnalysisPart(name, title, applicable, compute, present, table, options, **more)


@cache
def declared_modules() -> dict[str, str]:
    """Return the modules that declare a part, by the name of the part: the name of the module with hyphens."""
    found = modules_with("analyses", "\nPART = ")
    return {module.rpartition(".")[2].replace("_", "-"): module for module in found}


def declared_part(name: str) -> AnalysisPart:
    """Return the part that its module declares.

    Parameters
    ----------
    name : str
        One of `declared_modules`.
    """
    part = import_module(declared_modules()[name], __package__.rpartition(".")[0]).PART
    assert part.name == name, "a part must have the name of its module"
    return part


def declared_in(package: str) -> tuple[AnalysisPart, ...]:
    """Return the parts that the modules of an analysis declare.

    Parameters
    ----------
    package : str
        Package of the analysis, as in ``__name__``.
    """
    folder = f".{package.rpartition('analyses.')[2]}."
    return tuple(declared_part(name) for name, module in declared_modules().items() if folder in module)


def _function(named: str) -> Callable[..., Any]:
    module, _, name = named.partition(":")
    return getattr(import_module(module), name)
