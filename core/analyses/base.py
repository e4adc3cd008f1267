"""An analysis: a question in parts, each with its options, its computation and its presentation.

Pages lay parts out, the report prints them, the command line and downloads take their tables. A part names its
functions as "module:function", so that a command which needs no figure loads none.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..methods import Method, Verdict
from ..options import check_choice, check_flag, check_level, check_number, check_whole

if TYPE_CHECKING:
    from ..studies.study import ReadingStudy
    from .inputs import Inputs


@dataclass(frozen=True, slots=True)
class PartOption:
    """What a field of a part's options may be; controls, commands and errors follow from it.

    Attributes
    ----------
    label : str
        Of the control.
    choices : sequence of str
        What it may be; a level between 0 and 1, or on and off, if there are none.
    titles : callable, optional
        What people call a choice.
    term : str or Method
        Of the glossary, or the method.
    key : str
        Of the control's state; none where no page offers it.
    side_by_side : bool
        All choices are in sight at once.
    flag : bool
        It is on or off.
    kind : {"level", "number", "integer", "text"}
        What it is if there are no choices.
    low : float
        Least number.
    help : str
        What the command line says of it.
    """

    label: str
    choices: tuple[str, ...] = ()
    titles: Callable[[str], str] = str
    term: str | Method = ""
    key: str = ""
    side_by_side: bool = False
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


@dataclass(frozen=True, slots=True)
class LongWork:
    """Computation that takes time: a page shows how far it is, and it can be cancelled.

    Attributes
    ----------
    title : str
        What is being done.
    seconds : callable
        Dataset to what one core needs, about.
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
    """One answer: one result, one key, one presentation.

    Attributes
    ----------
    name : str
        In keys and on the command line.
    title : str
        Of its tab.
    options : type
        A frozen dataclass whose fields have an `PartOption` in their metadata.
    applicable : callable
        Dataset to `core.methods.Verdict`. As its functions, it takes `core.analyses.inputs.Inputs` in place of the
        dataset if annotations alone are not enough.
    compute : str
        "module:function" of dataset and options, or of what the part needs and options.
    present : str
        "module:function" of the result, the dataset and the options, which gives blocks.
    table : str
        "module:function" of the result, the dataset and the options, which gives the frame for files and commands.
    needs : str
        "module:function" of dataset and options: a long computation that several parts rest on. A page has it done by a
        job and hands it to `answer`.
    given_options : tuple of (str, object)
        Options that whoever asks the part has set, such as who is an AI rater; see `with_options`.
    work : LongWork, optional
        If the computation takes time; it then takes ``token`` and ``progress``.
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

    def with_options(self, **given: Any) -> "AnalysisPart":
        """The same part with options that no control offers."""
        return replace(self, given_options=(*self.given_options, *given.items()))

    @property
    def function(self) -> Callable[..., Any]:
        """The function that computes it."""
        return _function(self.compute)

    def answer(
        self, dataset: "Dataset | Inputs | ReadingStudy", options: Any = None, needed: Any = None, **how: Any
    ) -> Any:
        """The result for a dataset and options.

        Parameters
        ----------
        dataset : Dataset, Inputs or ReadingStudy
        options : object, optional
        needed : object, optional
            What the part needs, if it is known; computed otherwise.
        **how
            A cancel token, progress and a runner, if the part takes them.
        """
        options = self.resolve() if options is None else options
        if self.needs and needed is None:
            needed = _function(self.needs)(dataset, options)
        return self.function(needed if self.needs else dataset, options, **how)

    def blocks(self, result: Any, dataset: "Dataset | Inputs | ReadingStudy", options: Any = None) -> list:
        """What is shown of the result.

        Parameters
        ----------
        result : object
            Of `answer`.
        dataset : Dataset, Inputs or ReadingStudy
        options : object, optional
            As of `answer`.
        """
        return _function(self.present)(result, dataset, self.resolve() if options is None else options)

    def frame(self, result: Any, dataset: "Dataset | Inputs | ReadingStudy", options: Any = None) -> Any:
        """The table of the result, as files and the command line have it.

        Parameters
        ----------
        result : object
            Of `answer`.
        dataset : Dataset, Inputs or ReadingStudy
        options : object, optional
            As of `answer`.

        Returns
        -------
        DataFrame
        """
        return _function(self.table)(result, dataset, self.resolve() if options is None else options)

    def given(self, asked: Any) -> dict[str, Any]:
        """What the options of a command say of those of the part.

        Parameters
        ----------
        asked : object
            With an attribute for each option; None where nothing was said.
        """
        names = [field.name for field in fields(self.options) if "option" in field.metadata]
        return {name: getattr(asked, name) for name in names if getattr(asked, name, None) is not None}

    def resolve(self, **given: Any) -> Any:
        """Options from what was given; the rest stays as the part has it.

        Raises
        ------
        InputError
            A value is not allowed, or the part has no such option.
        """
        own = self.options()
        known = {field.name: field.metadata.get("option") for field in fields(own)} if is_dataclass(own) else {}
        for name, value in given.items():
            if name not in known:
                raise InputError(f"“{self.title}” has no option {name!r}.", f"It has {', '.join(known) or 'none'}.")
            option = known[name]
            if option is not None and value is not None:
                option.check(value)
        return replace(own, **{**dict(self.given_options), **given})


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question with its parts.

    Attributes
    ----------
    name : str
        Of the command.
    title, question : str
    parts : tuple of AnalysisPart
        The first is what a command gives where no part is named.
    """

    name: str
    title: str
    question: str
    parts: tuple[AnalysisPart, ...]

    def part(self, name: str) -> AnalysisPart:
        """The part of that name.

        Raises
        ------
        OptionError
            There is none.
        """
        check_choice(name, "The part", [part.name for part in self.parts])
        return next(part for part in self.parts if part.name == name)


def _function(named: str) -> Callable[..., Any]:
    module, _, name = named.partition(":")
    return getattr(import_module(module), name)
