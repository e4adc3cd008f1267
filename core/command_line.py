"""Command line: arguments in, JSON or CSV out. Exit status 0, or 2 with one clear line for bad input.

Models and their options come from the methods' own declarations; modules for a command are imported when it runs.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import fields
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .annotations.dataset import KINDS
from .errors import PluralityError
from .methods import AS_IS, Model, Option, methods
from .settings import private_files
from .text import exact
from .version import __version__

if TYPE_CHECKING:
    from .analyses.base import Analysis, AnalysisPart, PartOption
    from .models.rater_methods import RaterModelMethod, Variant
    from .plausibility.protocol import PlausibilityMethod

_IN_PARTITIONS = ".commands.partitioned"
_OF_HOME = (".commands.record", ".commands.people")  # whose commands write to the home folder
_EACH_QUESTION = ".commands.questions"
ALL_QUESTIONS = "all"
_TAKE_ALL_QUESTIONS = ("questions", "report")
_TYPES = {int: click.INT, float: click.FLOAT, str: click.STRING}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    for stream in (sys.stdout, sys.stderr):  # the same bytes on every system, also for names that are not UTF-8
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    started = time.perf_counter()
    try:
        done = _cli().main(arguments, prog_name=f"python -m {__package__}", standalone_mode=False)
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        see = f" (see {where.command_path} --help)" if where is not None else ""
        return _refused(f"{error.format_message().removesuffix('.')}{see}")
    except PluralityError as error:
        return _refused(str(error))
    if not isinstance(done, tuple):  # after --help or --version
        return int(done or 0)
    answer, table, options = done
    for caution in options.cautions:
        print(f"plurality: {' '.join(caution.split())}", file=sys.stderr)
    answer |= {"version": __version__, "seconds": round(time.perf_counter() - started, 3)}
    try:
        if options.csv:
            from .tables import to_csv_text

            sys.stdout.write(to_csv_text(table() if callable(table) else table))
        else:
            json.dump(_plain(answer), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
            sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe has closed it
        sys.stderr.close()
    return 0 if answer.get("ok", True) else 1  # a record that is not whole


def parsed(arguments: Sequence[str]) -> SimpleNamespace:
    """Return the options of a command as its function receives them.

    Raises
    ------
    click.UsageError
        The arguments are not a valid command.
    """
    name, *rest = arguments
    cli = _cli()
    command = cli.get_command(click.Context(cli), name)
    if command is None:
        raise click.UsageError(f"Unknown command {name!r}.")
    return SimpleNamespace(**command.make_context(name, list(rest)).params, cautions=[])


def _refused(words: str) -> int:
    print(f"plurality: {' '.join(words.split())}", file=sys.stderr)
    return 2


class _Commands(click.Group):
    """Commands that are built when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List their names, in the order of the work."""
        from .analyses.base import declared_modules

        return [*_COMMANDS, *declared_modules()]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command with that name."""
        command = _COMMANDS.get(name) or _command_of_part(name)
        if command is None:
            return None
        function, summary, example, parameters = command

        def run(**values: Any) -> tuple:
            module, _, called = function.partition(":")
            options = SimpleNamespace(**values, cautions=[], command=name)
            if "partitions" in values and import_module(_IN_PARTITIONS, __package__).wanted(options, name):
                module = _IN_PARTITIONS
            with private_files() if module in _OF_HOME else nullcontext():
                command = getattr(import_module(module, __package__), called)
                if values.get("question") == ALL_QUESTIONS and name not in _TAKE_ALL_QUESTIONS:
                    return *import_module(_EACH_QUESTION, __package__).answer_each(command, options), options
                return *command(options), options

        return click.Command(
            name,
            callback=run,
            params=[*parameters(), click.Option(["--csv"], is_flag=True, help="Print a table instead of JSON.")],
            help=summary,
            short_help=summary,
            epilog=f"Example: python -m {__package__} {example}",
        )


def _cli() -> click.Group:
    return _Commands(
        "core",
        help="Analyse agreement, raters, uncertain cases and classifiers when raters disagree.",
        no_args_is_help=False,
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                help="Show the version and exit.",
                callback=_version,
            )
        ],
    )


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        click.echo(__version__)
        ctx.exit()


def _command_of_part(name: str) -> "Command | None":
    """Return the command of a part that its module declares; None if there is no such part."""
    from .analyses.base import declared_modules, declared_part

    if name not in declared_modules():
        return None
    part = declared_part(name)

    def parameters() -> list[click.Parameter]:
        return [*_file(), *_options_of_parts([part]), _ordinal()]

    return ".commands.parts:of_declared", part.question, f"{name} readings.csv", parameters


def _none() -> list[click.Parameter]:
    return []


def _file() -> list[click.Parameter]:
    """Return the parameters of every command that reads a file."""
    from .ingest.formats.budget import MOST_COLUMNS
    from .ingest.formats.detect import formats

    return [
        click.Argument(["file"], metavar="FILE"),
        click.Option(
            ["--format"],
            type=click.Choice(tuple(formats())),
            metavar="F",
            help=f"Format of the file (detected if omitted): {', '.join(formats())}.",
        ),
        click.Option(["--question"], metavar="NAME", help="Question or sheet to read, or “all”."),
        click.Option(
            ["--select"],
            metavar="JSON",
            help="Selection of annotations, copied from a page's address or from a report.",
        ),
        click.Option(["--with-machines"], is_flag=True, help="Include raters that a column marks as AI raters."),
        *_columns(),
        click.Option(
            ["--classes"],
            metavar="A,B,C|FILE",
            help="Complete list of classes, in order: names, or a file (one name per line, or a class table). "
            "Integers that are not in the list are read as positions, starting at 0.",
        ),
        click.Option(["--missing"], metavar="A,B", help="Codes for missing annotations, such as None."),
        click.Option(
            ["--not-missing"],
            metavar="A,B",
            help="Classes to keep, although they look like codes for missing annotations.",
        ),
        click.Option(
            ["--kind"],
            type=click.Choice(KINDS),
            metavar="K",
            help=f"Kind of annotation (detected if omitted): {', '.join(KINDS)}.",
        ),
        click.Option(
            ["--empty-is-none"],
            is_flag=True,
            help='For sets of labels: read an empty cell as "does not apply", not as missing.',
        ),
        click.Option(
            ["--most-columns"],
            type=click.IntRange(1),
            default=MOST_COLUMNS,
            metavar="N",
            show_default=True,
            help="Maximum number of columns in a table.",
        ),
        click.Option(
            ["--threshold"], type=float, metavar="T", help="Split scores into two classes: at most T, and above T."
        ),
        click.Option(
            ["--label"], metavar="NAME", help="Analyse one label of the sets as two classes: absent and present."
        ),
        click.Option(["--seed"], type=int, default=0, show_default=True, help="Seed of random numbers."),
    ]


def _columns() -> list[click.Parameter]:
    """Return the options for the columns of a table."""
    return [
        click.Option(["--case"], metavar="COLUMN", help="Column of case ids."),
        click.Option(
            ["--rater"], metavar="COLUMN", help="Column of rater ids, or 'none' if annotations are anonymous."
        ),
        click.Option(["--class", "answer"], metavar="COLUMN", help="Column of classes or scores."),
        click.Option(["--rank"], metavar="COLUMN", help="Column of ranks (differential diagnoses)."),
        click.Option(["--group"], metavar="COLUMN", help="Column of groups of cases, such as sites or versions."),
        click.Option(
            ["--first"],
            metavar="COLUMN",
            help=("Column of the item that is preferred if the annotation is 1 (comparisons coded as 1 and 0)."),
        ),
        click.Option(
            ["--dates"],
            type=click.Choice(("day-first", "month-first")),
            help="Order in dates such as 02/03/2024, if no date shows it.",
        ),
    ]


def _ordinal() -> click.Option:
    return click.Option(
        ["--ordinal"],
        is_flag=True,
        help="Treat the classes as ordered: as listed in --classes, by number, or by a known verbal scale.",
    )


def _partitions() -> click.Option:
    """Return the option for commands that can work without all annotations in memory."""
    return click.Option(
        ["--partitions"],
        type=int,
        metavar="N",
        help="For Parquet files: split the cases into N partitions on disk; automatic if memory is low. The "
        "output then has no uncertain cases and no effect of more raters.",
    )


def _earlier() -> click.Option:
    return click.Option(
        ["--earlier"],
        metavar="FILE",
        help="Earlier version of FILE, or the digest of a saved dataset. Counts the annotations that changed.",
    )


def _cluster() -> click.Option:
    """Return the option for commands whose work can run on other processes or computers."""
    return click.Option(
        ["--cluster"],
        metavar="ADDRESS",
        help="Run on local:N (N processes on this computer) or on the Dask cluster of a scheduler (tls://host:8786).",
    )


def _option(option: Option) -> click.Option:
    """Return an option of a method; if omitted on the command line, the method decides."""
    if option.type is bool:
        return click.Option(
            [f"{option.spelled}/{option.spelled_off}", option.name], default=None, help=_capital(option.help) + "."
        )
    choices = f": {', '.join(option.choices)}" if option.choices else ""
    return click.Option(
        [option.spelled, option.name], type=_TYPES[option.type], default=None, help=f"{_capital(option.help)}{choices}."
    )


def _rater_models() -> list["RaterModelMethod"]:
    from .models.rater_methods import RaterModelMethod

    return list(methods(RaterModelMethod).values())


def _plausibility_models() -> list["PlausibilityMethod"]:
    from .plausibility.protocol import PlausibilityMethod

    return list(methods(PlausibilityMethod).values())


def _options_of(models: Sequence[Model], taken: Sequence[str]) -> list[click.Parameter]:
    """Return every option of some models once, with all values that any of them allows."""
    found: dict[str, Option] = {}
    for method in models:
        for option in method.options:
            if option.on_command and option.name not in taken:
                known = found.get(option.name)
                choices = {**(known.choices if known else {}), **option.choices}
                found[option.name] = Option(
                    option.name, option.type, None, option.label, option.help, choices=choices, flag=option.flag
                )
    return [_option(option) for option in found.values()]


def _variants() -> list[click.Parameter]:
    """Return the options that distinguish rater models with the same name."""
    found: dict[str, Variant] = {}
    for method in _rater_models():
        if method.variant is not None:
            found.setdefault(method.variant.option, method.variant)
    return [
        click.Option([f"--{name}", f"variant_{name}"], help=f"{_capital(variant.help)} ({variant.command}).")
        for name, variant in found.items()
    ]


def _named(models: Sequence[Model], more: Sequence[str] = ()) -> click.Argument:
    words = dict.fromkeys(method.command for method in models)
    return click.Argument(["model"], type=click.Choice([*words, *more]), metavar="MODEL")


def _agreement() -> list[click.Parameter]:
    from .analyses.agreement import AGREEMENT

    return [
        *_parts_of(AGREEMENT),
        *_file(),
        click.Option(
            ["--level"], type=float, default=0.95, metavar="L", help="Confidence level of intervals, 0 to 1 [0.95]."
        ),
        click.Option(["--weights"], metavar="W", help="Class weights: identity, linear, quadratic, ordinal, …"),
        _ordinal(),
        click.Option(["--spa-weights"], default="annotations_m1", metavar="S", help="Case weights for SPA."),
        _partitions(),
        _cluster(),
    ]


def _level() -> click.Option:
    return click.Option(["--level"], type=float, metavar="L", help="Confidence level of intervals, 0 to 1 [0.95].")


def _guideline() -> list[click.Parameter]:
    return [
        *_file(),
        _level(),
        _ordinal(),
        click.Option(
            ["--since"],
            type=click.DateTime(),
            metavar="DATE",
            help="Date of a new guideline; compares disagreement before and after it.",
        ),
        click.Option(
            ["--guideline-version"],
            metavar="GROUP",
            help=(
                "Group of cases annotated under a new guideline; its disagreement is compared with that of the "
                "other groups."
            ),
        ),
        click.Option(
            ["--facts"],
            metavar="FILE",
            help="Table of facts about raters, used to group them; if omitted, columns of FILE.",
        ),
        click.Option(["--merge"], nargs=2, metavar="A B", help="Two classes to merge; creates a new dataset."),
        click.Option(["--out"], metavar="FILE", help="CSV file to write the merged dataset to."),
    ]


def _order() -> list[click.Parameter]:
    from .analyses.comparisons import ORDER

    return [*_parts_of(ORDER), *_file(), _level()]


def _groups() -> list[click.Parameter]:
    return [
        *_file(),
        click.Option(
            ["--facts"], metavar="FILE", help="Table of facts about raters, one row per rater; if omitted, "
            "columns of FILE."
        ),
        click.Option(
            ["--part"], type=click.Choice(("groups", "cases", "classifiers")), default="groups", show_default=True,
            help="Part to compute: groups, cases on which groups differ, or classifiers by group.",
        ),
        _predictions(),
        click.Option(["--fdr"], type=float, metavar="Q", help="False discovery rate over all groups [0.05]."),
        _level(),
        _ordinal(),
    ]  # fmt: skip


def _chosen_columns() -> list[click.Parameter]:
    return [
        click.Option(
            ["--rater-column"], multiple=True, metavar="NAME", help="Column with a fact about raters (from "
            "--facts); may be repeated."
        ),
        click.Option(
            ["--case-column"], multiple=True, metavar="NAME",
            help="Column with a fact about cases (from --case-facts), or “group” for the groups of cases; may "
            "be repeated.",
        ),
        click.Option(
            ["--case-facts"], metavar="FILE", help="Table of facts about cases, one row per case; if omitted, "
            "columns of FILE."
        ),
    ]  # fmt: skip


def _covariates() -> list[click.Parameter]:
    from .analyses.models import MODELS

    return [
        *_file(),
        click.Option(
            ["--facts"],
            metavar="FILE",
            help="Table of facts about raters, one row per rater; if omitted, columns of FILE.",
        ),
        *_chosen_columns(),
        *_options_of_parts([MODELS.part("covariates")]),
    ]


def _check() -> list[click.Parameter]:
    return [
        *_file(),
        click.Option(
            ["--require"], multiple=True, required=True, metavar="RULE",
            help='Requirement such as "alpha >= 0.6", "flagged_raters <= 2", "unanimous > 50%"; may be repeated.',
        ),
        *_intervals_of_gate(),
        click.Option(["--summary"], metavar="FILE", help="File to append a summary to, in GitHub Markdown."),
        _level(),
        _ordinal(),
    ]  # fmt: skip


def _intervals_of_gate() -> list[click.Parameter]:
    return [
        click.Option(["--confident"], is_flag=True, help="Require the whole interval to meet the requirement."),
        click.Option(
            ["--look"], type=click.IntRange(1), metavar="K",
            help="Number of this check, starting at 1, if you check the data again as they grow; keeps "
            "intervals valid over all checks.",
        ),
    ]  # fmt: skip


def _parts_of(analysis: "Analysis") -> list[click.Parameter]:
    """Return the option for the part of an analysis, and the options that only parts after the first have."""
    first, *others = analysis.parts
    own = [field.name for field in fields(first.options)]
    return [
        click.Option(
            ["--part"],
            type=click.Choice([part.name for part in analysis.parts]),
            default=first.name,
            show_default=True,
            help="Part of the analysis to print; all parts except the first are tables.",
        ),
        *_options_of_parts(others, own),
    ]


def _options_of_parts(parts: Sequence["AnalysisPart"], without: Sequence[str] = ()) -> list[click.Parameter]:
    """Return the options of all parts of an analysis, each once, except those that a command has itself."""
    found: dict[str, list[tuple[AnalysisPart, Any]]] = {}
    for part in parts:
        for field in fields(part.options):
            if (option := field.metadata.get("option")) is not None and field.name not in without:
                found.setdefault(field.name, []).append((part, option))
    return [
        click.Option(
            [f"--{name.replace('_', '-')}", name],
            help=_help_of(taken[0][1], [part.name for part, _ in taken]),
            **_type_of([option for _, option in taken]),
        )
        for name, taken in found.items()
    ]


def _help_of(option: "PartOption", parts: Sequence[str]) -> str:
    return f"{option.help or _capital(option.label.removeprefix('The '))} ({', '.join(parts)})."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _type_of(taken: Sequence["PartOption"]) -> dict[str, Any]:
    """Return click's type for options of one name: a switch, a choice among those of any part, or a number or text."""
    if taken[0].flag:
        return {"is_flag": True, "default": None}
    if taken[0].choices:
        return {"type": click.Choice(list(dict.fromkeys(choice for option in taken for choice in option.choices)))}
    return {"type": {"integer": click.INT, "text": click.STRING}.get(taken[0].kind, click.FLOAT)}


def _fit() -> list[click.Parameter]:
    from .analyses.models import MODELS, OF_A_FIT

    ways = dict.fromkeys(way for method in _rater_models() for way in method.ways if way != "vote")
    own = [
        click.Option(
            ["--method"], type=click.Choice(tuple(ways)), help="Fitting method [default: the fastest for the model]."
        ),
        click.Option(["--restarts"], type=int, default=0, metavar="N", help="Additional random starts (em)."),
        click.Option(["--intervals"], is_flag=True, help="Compute standard errors and intervals (em, stacking)."),
        click.Option(
            ["--gold"], metavar="FILE", help="Gold file (case,class); its cases are held at these classes (em)."
        ),
        _ordinal(),
        click.Option(
            ["--own-trust"],
            is_flag=True,
            help="For sets of labels: fit each label separately, without sharing accuracy between labels.",
        ),
        click.Option(
            ["--evidence"],
            metavar="NAME=FILE",
            help="Classifier predictions to use as evidence, with a weight chosen by held-out score (em).",
        ),
        click.Option(
            ["--part"], type=click.Choice(OF_A_FIT), help="Print a table from the Models page instead of the fit."
        ),
        *_options_of_parts([MODELS.part(name) for name in OF_A_FIT]),
        click.Option(["--parameters"], is_flag=True, help="Write confusion matrices even if they are large."),
        _cases_out("Write class probabilities per case as CSV."),
        _partitions(),
        _cluster(),
    ]
    of_file = _file()
    taken = [parameter.name for parameter in (*of_file, *own)]
    return [
        _named(_rater_models(), ("auto",)),
        *of_file,
        *own,
        *_variants(),
        *_options_of(_rater_models(), taken),
    ]


def _tap() -> list[click.Parameter]:
    return _file()


def _simulate() -> list[click.Parameter]:
    from .analyses.models import MODELS

    return [
        *_options_of_parts([MODELS.part("explore")]),
        click.Option(["--seed"], type=int, default=0, show_default=True, help="Seed of the simulation."),
        click.Option(["--out"], metavar="FILE", help="Write the simulated ratings as CSV."),
    ]


def _gamma() -> click.Option:
    """Return the option of the reliability γ."""
    words = "Reliability γ [default: same as on the web pages]."
    return click.Option(["--reliability"], type=float, metavar="G", help=words)


def _choose() -> list[click.Parameter]:
    return [
        *_file(),
        click.Option(
            ["--gold"],
            metavar="FILE",
            help="Gold file (case,class) used to evaluate the models, not to choose a model.",
        ),
        click.Option(
            ["--average/--no-average"], default=True, help="Average the models, and print their weights [on]."
        ),
        _ordinal(),
        _partitions(),
    ]


def _raters() -> list[click.Parameter]:
    from .analyses.raters import RATERS

    return [
        *_parts_of(RATERS),
        *_file(),
        click.Option(
            ["--gold"], metavar="FILE", help="Gold file (case,class or case,score) against which accuracy is measured."
        ),
        _ordinal(),
        click.Option(
            ["--acceptable"],
            type=float,
            metavar="A",
            help="Lowest acceptable accuracy; derived from the data if omitted.",
        ),
        click.Option(
            ["--fdr"], type=float, default=0.05, metavar="Q", help="False discovery rate of flagged raters [0.05]."
        ),
        click.Option(
            ["--judged-by"],
            type=click.Choice(("gold", "model")),
            help="Reference for accuracy; if omitted, gold if there are enough gold cases, otherwise the model.",
        ),
        click.Option(
            ["--level"], type=float, default=0.95, metavar="L", help="Confidence level of intervals, 0 to 1 [0.95]."
        ),
    ]


def _machine() -> list[click.Parameter]:
    from .machines.alternative_test import EPSILON, EPSILONS
    from .machines.annotation_scores import SCORES

    costs = ", ".join(f"{exact(value)} for {who}" for who, value in EPSILONS.items())
    return [
        *_file(),
        click.Argument(["more"], nargs=-1, metavar="[MACHINES]"),
        click.Option(
            ["--machine"],
            multiple=True,
            metavar="NAME,...",
            help="AI raters: names of raters in FILE or in MACHINES (a file with their annotations), or NAME=FILE.",
        ),
        _predictions(),
        click.Option(["--leave-out"], metavar="NAME,...", help="Raters to leave out."),
        click.Option(
            ["--epsilon"],
            type=float,
            default=EPSILON,
            show_default=True,
            metavar="E",
            help=f"Handicap ε for human raters, by their cost: {costs}.",
        ),
        click.Option(
            ["--score"],
            type=click.Choice(SCORES),
            help="Agreement score; if omitted, chosen by the kind of annotation.",
        ),
        click.Option(["--fdr"], type=float, default=0.05, metavar="Q", help="False discovery rate over raters [0.05]."),
        click.Option(
            ["--level"], type=float, default=0.95, metavar="L", help="Confidence level of intervals, 0 to 1 [0.95]."
        ),
        click.Option(["--no-people"], is_flag=True, help="Do not run the same test on people."),
    ]


def _panel() -> list[click.Parameter]:
    from .analyses.panel import PANEL

    taken = ("more", "machine", "predictions", "level")
    return [
        *_file(),
        *(parameter for parameter in _machine() if parameter.name in taken),
        click.Option(
            ["--family"], multiple=True, metavar="NAME=A,B",
            help="Family of AI raters, if neither the file nor their names show it; may be repeated.",
        ),
        *_options_of_parts(PANEL.parts, without=("level",)),
        click.Option(["--gold"], metavar="FILE", help="Gold file with the columns case,class (for --truth gold)."),
    ]  # fmt: skip


def _study() -> list[click.Parameter]:
    from .analyses.study import STUDY

    return [
        *_parts_of(STUDY),
        click.Argument(["files"], nargs=-1, required=True, metavar="FILE..."),
        *_truth_of_study(),
        *_options_of_parts(STUDY.parts, without=("effect", "power")),
        click.Option(["--threshold"], type=float, metavar="T", help="Lowest score that counts as positive."),
        click.Option(["--seed"], type=int, default=0, show_default=True, help="Seed of random numbers."),
    ]


def _truth_of_study() -> list[click.Parameter]:
    """Declare the options that name the truth, the panel and the condition of a reader study."""
    return [
        click.Option(
            ["--truth"], metavar="FILE", help="Table of the truth (case,truth); if omitted, the truth is read "
            "from the study files."
        ),
        click.Option(
            ["--panel"], metavar="FILE", help="File with a panel's annotations, used instead of the truth and "
            "corrected for the panel's errors."
        ),
        click.Option(["--positive"], metavar="CLASS", help="Class that means “condition present”; needed only "
        "if this is unclear."),
        click.Option(
            ["--column"], multiple=True, metavar="ROLE=NAME",
            help="Column with this role in the study (reader, case, modality, score, truth); may be repeated.",
        ),
    ]  # fmt: skip


def _draws() -> list[click.Parameter]:
    return [
        click.Option(
            ["--draws"], type=int, default=1000, show_default=True, metavar="M", help="Number of draws per case."
        ),
        click.Option(["--top"], type=int, default=3, metavar="J", help="Maximum size of the sets of leading classes."),
        *_options_of(_plausibility_models(), ()),
    ]


def _plausible() -> list[click.Parameter]:
    return [
        _named(_plausibility_models()),
        *_file(),
        *_draws(),
        click.Option(["--prior"], metavar="M0,K0,A0,B0", help="Prior for the score model; fitted if omitted."),
        _ordinal(),
        click.Option(
            ["--risk"],
            metavar="FILE",
            help="File with the risk of each class: columns class,risk (low, medium, high), or one level per line.",
        ),
    ]


def _learned_prior() -> click.Option:
    return click.Option(
        ["--learned-prior"],
        is_flag=True,
        help="Learn the prior for counts from all cases [default if neither γ nor α is given].",
    )


def _certainty() -> list[click.Parameter]:
    return [
        *_plausible(),
        _gamma(),
        _learned_prior(),
        click.Option(
            ["--p-correct"],
            is_flag=True,
            help="Also compute P(correct) for each case from the average of rater models (slower).",
        ),
        _cases_out("Write certainty per case as CSV."),
        click.Option(
            ["--plausibilities-out"],
            metavar="FILE",
            help="Write the mean plausibilities of all cases as CSV, or as Parquet with one row per case if the "
            "name ends in .parquet.",
        ),
        click.Option(
            ["--plausibility-draws"],
            type=int,
            default=0,
            metavar="N",
            help="Also write the first N draws of each case to the file of --plausibilities-out (in CSV, instead of "
            "the means).",
        ),
        _partitions(),
        _cluster(),
    ]


def _sweep() -> list[click.Parameter]:
    return [
        *_plausible(),
        click.Option(["--reliabilities"], required=True, metavar="1,2,3", help="Values of γ."),
        _learned_prior(),
        _predictions(),
        click.Option(["--k"], type=int, help="Length of the compared lists; if omitted, the value of --top."),
        click.Option(
            ["--gold"], metavar="FILE", help="For sets of labels: gold file (case,labels) used to evaluate predictions."
        ),
        _partitions(),
        _cluster(),
    ]


def _metrics() -> list[click.Parameter]:
    from .analyses.reliability import RELIABILITY

    return [
        *_plausible(),
        _gamma(),
        _predictions(),
        *_options_of_parts([RELIABILITY.part("metrics")]),
    ]


def _relations() -> list[click.Parameter]:
    return [
        *_plausible(),
        click.Option(["--reliability"], type=float, metavar="G", help="Reliability γ [default: as on pages]."),
        _predictions(),
        click.Option(
            ["--part"], type=click.Choice(("models", "evidence")), default="models", show_default=True,
            help="Certainty under another plausibility model, or with a classifier as evidence.",
        ),
    ]  # fmt: skip


def _sets() -> list[click.Parameter]:
    names = [method.name for method in _plausibility_models() if method.on_pages]
    return [
        *_file(),
        _predictions(),
        click.Option(
            ["--alpha", "error"],
            type=float,
            required=True,
            metavar="A",
            help="Allowed error rate A; the guaranteed coverage is 1 - A.",
        ),
        _gamma(),
        click.Option(
            ["--calibrate"],
            type=float,
            default=0.5,
            show_default=True,
            metavar="SHARE",
            help="Share of cases used for calibration.",
        ),
        click.Option(
            ["--folds"], type=int, default=0, metavar="K", help="Calibrate with K folds instead of a share of cases."
        ),
        click.Option(
            ["--labels"], type=int, default=1, show_default=True, metavar="M", help="Number of labels drawn per case."
        ),
        click.Option(
            ["--corrected"], is_flag=True, help="Apply the ECDF correction, which uses half of the calibration cases."
        ),
        click.Option(
            ["--within"],
            type=click.Choice(("group", "risk", "certainty")),
            help="Calibrate separately by group, risk or quartile of certainty.",
        ),
        click.Option(["--gold"], metavar="FILE", help="Gold file (case,class) used to evaluate the sets."),
        click.Option(
            ["--level"], type=float, default=0.95, metavar="L", help="Confidence level of intervals, 0 to 1 [0.95]."
        ),
        click.Option(
            ["--model"], type=click.Choice(names), help="Plausibility model [default: same as on the web pages]."
        ),
        click.Option(["--prior-alpha", "alpha"], type=float, metavar="A", help="Prior pseudo-count for each class."),
        _learned_prior(),
        click.Option(
            ["--draws"], type=int, default=1000, show_default=True, metavar="M", help="Number of draws per case."
        ),
        *_options_of(_plausibility_models(), ("alpha",)),
        click.Option(
            ["--risk"],
            metavar="FILE",
            help="File with the risk of each class: columns class,risk (low, medium, high), or one level per line.",
        ),
        _cases_out("Write the prediction set of each case as CSV."),
    ]


def _rate() -> list[click.Parameter]:
    from .evaluation.corrected_rates import RATE_METHODS

    return [
        *(parameter for parameter in _file() if parameter.name != "answer"),
        click.Option(["--class", "klass"], required=True, metavar="C", help="Class whose rate is estimated."),
        click.Option(["--answer"], metavar="COLUMN", help="Column of classes or scores."),
        click.Option(
            ["--machine"],
            required=True,
            metavar="NAME",
            help="AI model: the name of a rater in FILE, or predictions as NAME=FILE.",
        ),
        click.Option(["--method"], type=click.Choice(RATE_METHODS), default="ppi", help="Method of correction [ppi]."),
        click.Option(["--gold"], metavar="FILE", help="Gold file (case,class); gold replaces people's annotations."),
        click.Option(["--only-gold"], is_flag=True, help="Use only gold as labels, not people's annotations."),
        click.Option(
            ["--probabilities"],
            metavar="COLUMN",
            help="Column of FILE with the probability that a case was sampled (for --method sampled).",
        ),
        click.Option(
            ["--reliability"],
            type=float,
            metavar="G",
            help="Reliability γ; if set, labels are plausibilities drawn at this γ instead of shares of annotations.",
        ),
        click.Option(["--draws"], type=int, default=100, metavar="M", help="Number of draws of the truth [100]."),
        click.Option(
            ["--level"], type=float, default=0.95, metavar="L", help="Confidence level of intervals, 0 to 1 [0.95]."
        ),
    ]


def _reliability() -> list[click.Parameter]:
    each = _plausibility_models()
    names = [method.name for method in each if method.on_pages or method.takes.get("score") == AS_IS]
    return [
        click.Argument(["model"], type=click.Choice(names), metavar="MODEL"),
        *_file(),
        *_draws(),
        click.Option(["--prior"], metavar="M0,K0,A0,B0", help="Prior for the score model; fitted if omitted."),
        click.Option(["--gold"], metavar="FILE", help="Gold file (case,class)."),
        click.Option(
            ["--beta"],
            type=float,
            metavar="B",
            help="Exponent β for dependent annotations; equals γ under the published prior.",
        ),
    ]


def _report() -> list[click.Parameter]:
    from .report.build import SECTIONS

    names = [method.name for method in _plausibility_models() if method.on_pages]
    return [
        *_file(),
        *_draws(),
        _ordinal(),
        click.Option(["--out"], metavar="FILE", help="HTML file to write."),
        click.Option(
            ["--reference-standard"], metavar="FILE",
            help="Word (.docx) or HTML file to write: how the reference standard was established, with "
            "checklists.",
        ),
        click.Option(["--sections"], metavar="A,B", help=(
            f"Sections to include; if omitted, all of: {', '.join(SECTIONS)}."
        )),
        click.Option(
            ["--hide-names"], is_flag=True, help="Replace names of people with numbers, and leave out reviewers' notes."
        ),
        click.Option(["--model"], type=click.Choice(names), help="Plausibility model."),
        click.Option(
            ["--reliability"], type=float, metavar="G",
            help="γ for the section on cases [default: same as on the web pages].",
        ),
        _learned_prior(),
        _predictions(),
        click.Option(
            ["--require"], multiple=True, metavar="RULE",
            help='Requirement for the quality gate section, such as "alpha >= 0.6"; may be repeated.',
        ),
        *_intervals_of_gate(),
        click.Option(["--facts"], metavar="FILE", help="Table of facts about raters, used to group them; if "
        "omitted, columns of FILE."),
        *_chosen_columns(),
        click.Option(["--study"], multiple=True, metavar="FILE", help="File of a reader study; may be repeated."),
        *_truth_of_study(),
    ]  # fmt: skip


def _labels() -> list[click.Parameter]:
    from .analyses.labels import LABELS

    each = _plausibility_models()
    names = [method.name for method in each if method.on_pages or method.takes.get("score") == AS_IS]
    return [
        *_file(),
        *_options_of_parts(LABELS.parts),
        click.Option(
            ["--out"], metavar="FILE",
            help="Label file to write: .csv, .parquet, .jsonl (Hugging Face) or .json (Label Studio); a second "
            "file, .methods.json, contains settings and counts.",
        ),
        click.Option(["--gold"], metavar="FILE", help="Gold file (case,class) used to evaluate the labels."),
        click.Option(["--model"], type=click.Choice(names), help="Plausibility model of certainty."),
        _gamma(),
        click.Option(
            ["--prior"], metavar="M0,K0,A0,B0", help="Prior for the score model; fitted if omitted."
        ),
        _learned_prior(),
        _ordinal(),
        *_draws(),
    ]  # fmt: skip


def _verify() -> list[click.Parameter]:
    return [
        click.Option(
            ["--head"], multiple=True, metavar="HASH", help="Hash that the record must contain; may be repeated."
        )
    ]


def _sign() -> list[click.Parameter]:
    return [
        click.Option(
            ["--key"], required=True, metavar="FILE", help="Private key file (Ed25519); keep it outside the database."
        ),
        click.Option(["--new"], is_flag=True, help="First create the key, and FILE.pub for the verify command."),
    ]


def _backup() -> list[click.Parameter]:
    return [
        click.Argument(["out"], required=False, metavar="[OUT]"),
        click.Option(
            ["--folder"],
            metavar="FOLDER",
            help="Folder to write to instead of OUT; the file is named after the current time.",
        ),
        click.Option(
            ["--keep"], type=int, default=30, show_default=True, metavar="N", help="Number of recent files to keep."
        ),
        click.Option(
            ["--days"], type=int, default=30, show_default=True, metavar="N", help="Number of days to keep files."
        ),
        click.Option(["--encrypt-to"], metavar="KEY", help="Public key (age1…) that age uses to encrypt the backup."),
    ]


def _erase() -> list[click.Parameter]:
    return [
        click.Option(["--person"], metavar="NAME", help="Name of the person, as it appears in the record."),
        click.Option(
            ["--by"],
            default="administrator",
            show_default=True,
            metavar="NAME",
            help="Name to record as the person who deleted the data.",
        ),
        click.Option(
            ["--unused"], type=int, metavar="DAYS", help="Delete saved data that nobody has used for this many days."
        ),
        click.Option(["--yes"], is_flag=True, help="Delete now; if omitted, only list unused data."),
    ]


def _bring_over() -> list[click.Parameter]:
    return [
        *(
            parameter
            for parameter in _file()
            if parameter.name not in ("select", "threshold", "label", "with_machines")
        ),
        _ordinal(),
        click.Option(["--by"], default="administrator", show_default=True, metavar="NAME", help="Name for the record."),
    ]


def _people() -> list[click.Parameter]:
    return [
        click.Argument(["action"], required=False, type=click.Choice(("rebind",)), metavar="[rebind"),
        click.Argument(["name"], required=False, metavar="NAME]"),
    ]


def _qualify() -> list[click.Parameter]:
    return [
        click.Argument(["file"], required=False, metavar="[FILE]"),
        *_file()[1:],
        click.Option(
            ["--out"], default="qualification.html", show_default=True, metavar="FILE", help="HTML file to write."
        ),
    ]


def _access() -> list[click.Parameter]:
    return [
        click.Option(["--days"], type=int, metavar="N", help="Show only lines from the last N days."),
        click.Option(["--who"], metavar="NAME", help="Show only lines about this person."),
    ]


def _restore() -> list[click.Parameter]:
    return [
        click.Argument(["file"], metavar="FILE"),
        click.Option(
            ["--identity"],
            metavar="FILE",
            help="File with the private key (identity) that age uses to decrypt the backup.",
        ),
    ]


def _deploy() -> list[click.Parameter]:
    from .deployment.write import Deployment

    def option(name: str, metavar: str, words: str) -> click.Option:
        default = Deployment.__dataclass_fields__[name].default
        return click.Option(
            [f"--{name.replace('_', '-')}"], default=default, show_default=True, metavar=metavar, help=words
        )

    return [
        click.Argument(["out"], metavar="OUT"),
        click.Option(["--name"], required=True, metavar="HOST", help="Public host name of the server."),
        option("processes", "N", "Number of dashboard processes; use about one per core."),
        option(
            "database",
            "@FILE|URL",
            "Address of the Postgres database or, if it contains a password, a file with the address [SQLite in "
            "the home folder].",
        ),
        option("home", "FOLDER", "Folder for saved data on the server."),
        option("program", "FOLDER", "Program folder on the server."),
        option("certificate", "FILE", "File on the server with the certificate chain and key."),
        option("port", "N", "Port of the public address."),
        option("plain_port", "N", "Port that redirects browsers to the public address."),
        option("first_port", "N", "Port of the first process; other processes use the next ports."),
    ]


def _cases_out(words: str) -> click.Option:
    return click.Option(["--cases-out"], metavar="FILE", help=words)


def _predictions() -> click.Option:
    return click.Option(
        ["--predictions"], multiple=True, metavar="NAME=FILE", help="Predictions of a classifier; may be repeated."
    )


# Module and function of each command, its summary, an example, and its parameters.
Command = tuple[str, str, str, Callable[[], list[click.Parameter]]]
_COMMANDS: dict[str, Command] = {
    "samples": (".commands.data:samples", "List the samples.", "samples", _none),
    "describe": (
        ".commands.data:describe",
        "Describe the contents of a file.",
        "describe readings.csv",
        lambda: [*_file(), _partitions(), _earlier()],
    ),
    "agreement": (
        ".commands.data:agreement",
        "Compute agreement coefficients with intervals.",
        "agreement readings.csv --level 0.9",
        _agreement,
    ),
    "questions": (
        ".commands.questions:questions",
        "Compare the questions in one file: agreement, rater model and flagged raters for each.",
        "questions readings.csv",
        lambda: [*_file(), _level()],
    ),
    "guideline": (
        ".commands.data:guideline",
        "Find classes to merge, split or rewrite in the guideline, and raters to train.",
        "guideline readings.csv --merge benign unsure --out merged.csv",
        _guideline,
    ),
    "check": (
        ".commands.data:check",
        "Check whether the data meet requirements (exit status 0 if they do, 1 if not, 2 for invalid input).",
        'check readings.csv --require "alpha >= 0.6" --require "flagged_raters <= 2"',
        _check,
    ),
    "groups": (
        ".commands.data:groups",
        "Find cases on which groups of raters differ.",
        "groups readings.csv --facts raters.csv",
        _groups,
    ),
    "fit": (
        ".commands.fits:fit",
        "Fit a model of raters and truth.",
        "fit dawid-skene caries --smoothing none --cases-out truth.csv",
        _fit,
    ),
    "covariates": (
        ".commands.data:covariates",
        "Test whether columns about raters or cases are associated with accuracy, prevalence or difficulty.",
        "covariates readings.csv --rater-column role --case-column site",
        _covariates,
    ),
    "tap": (
        ".commands.choices:tap",
        "Split agreement into accurate, mixed and guessed agreement with the t-a-p model.",
        "tap readings.csv",
        _tap,
    ),
    "simulate": (
        ".commands.choices:simulate",
        "Simulate ratings with the t-a-p model, and compare coefficients and models on them.",
        "simulate --t 0.3 --a 0.7 --p 0.5 --raters 5",
        _simulate,
    ),
    "choose": (
        ".commands.choices:choose",
        "Compare rater models by held-out scores, and average the models.",
        "choose skin --gold truth.csv",
        _choose,
    ),
    "raters": (
        ".commands.raters:raters",
        "Compare each rater's accuracy with the lowest acceptable accuracy, and flag raters.",
        "raters caries --acceptable 0.8",
        _raters,
    ),
    "machine": (
        ".commands.machines:machine",
        "Test whether an AI model can replace a rater.",
        "machine readings.csv --machine gpt,gemini --epsilon 0.1",
        _machine,
    ),
    "panel": (
        ".commands.machines:panel",
        "Assess a panel of AI raters: its effective number of raters, and the accuracy of its vote and of each member.",
        "panel readings.csv --machine gpt,gemini,claude --truth joint",
        _panel,
    ),
    "study": (
        ".commands.studies:study",
        "Compare modalities in a reader study (MRMC) by AUC, sensitivity or specificity, and plan the next study.",
        "study readings.csv --truth truth.csv --measure sensitivity --threshold 3",
        _study,
    ),
    "order": (
        ".commands.comparisons:order",
        "Rank the items in paired comparisons, with the certainty of the ranking and the accuracy of raters.",
        "order arena.csv --part raters",
        _order,
    ),
    "certainty": (
        ".commands.plausibilities:certainty",
        "Compute the annotation certainty of every case.",
        "certainty plackett-luce skin --reliability 3",
        _certainty,
    ),
    "labels": (
        ".commands.case_labels:labels",
        "Label every case, and write the labels for use or for training.",
        "labels readings.csv --rule review --below out --out labels.jsonl",
        _labels,
    ),
    "sweep": (
        ".commands.plausibilities:sweep",
        "Compute certainty and classifier metrics for a range of γ.",
        "sweep plackett-luce skin --reliabilities 1,3,10",
        _sweep,
    ),
    "relations": (
        ".commands.sets:relations",
        "Compare certainty under different plausibility models, or with and without a classifier as evidence.",
        "relations dirichlet knees --part evidence",
        _relations,
    ),
    "metrics": (
        ".commands.sets:metrics",
        "Compare the rankings and probabilities of classifiers under uncertain ground truth.",
        "metrics plackett-luce skin --k 3 --j 2",
        _metrics,
    ),
    "sets": (
        ".commands.sets:sets",
        "Calibrate prediction sets for classifiers under uncertain ground truth.",
        "sets readings.csv --predictions A=probabilities.csv --alpha 0.1 --cases-out sets.csv",
        _sets,
    ),
    "rate": (
        ".commands.rates:rate",
        "Estimate the rate of a class from an AI model's labels, corrected with people's labels.",
        "rate readings.csv --machine gpt --class lesion --method ppi",
        _rate,
    ),
    "reliability": (
        ".commands.reliability:reliability",
        "Show the reliability γ that held-out raters and gold suggest.",
        "reliability dirichlet readings.csv --gold truth.csv",
        _reliability,
    ),
    "report": (
        ".commands.reports:report",
        "Write a report as one HTML file that works offline.",
        'report skin --select \'{"raters":["R01","R02"]}\' --out report.html',
        _report,
    ),
    "qualify": (
        ".commands.qualify:qualify",
        "Check this installation, and write a record for signature (exit status 1 if a check fails).",
        "qualify readings.csv --out qualification.html",
        _qualify,
    ),
    "verify": (
        ".commands.record:verify",
        "Verify the audit trail of reviews (exit status 1 if verification fails).",
        "verify --head HASH",
        _verify,
    ),
    "sign": (
        ".commands.record:sign",
        "Sign the end of the review record, so that nobody can replace it unnoticed.",
        "sign --key head.key",
        _sign,
    ),
    "backup": (
        ".commands.record:backup",
        "Back up reviews, saved datasets and results to one file, even while the server is running.",
        "backup plurality.backup",
        _backup,
    ),
    "restore": (
        ".commands.record:restore",
        "Restore a backup into an empty home folder.",
        "restore plurality.backup",
        _restore,
    ),
    "bring-over": (
        ".commands.record:bring_over",
        "Copy a file's reviews and settings from an earlier version of Plurality, which read the file differently.",
        "bring-over readings.csv --by ann@clinic.example",
        _bring_over,
    ),
    "erase": (
        ".commands.record:erase",
        "Delete what is stored about a person, or saved data that nobody uses.",
        "erase --person ann@clinic.example --yes",
        _erase,
    ),
    "people": (
        ".commands.people:people",
        "List people and their roles, or unlink a name from its account (rebind NAME).",
        "people rebind ann@clinic.example",
        _people,
    ),
    "access": (
        ".commands.people:access",
        "List sign-ins, and who opened, exported, shared or deleted data (exit status 1 if the record is damaged).",
        "access --days 7",
        _access,
    ),
    "deploy": (
        ".commands.deployment:deploy",
        "Write the files for a team server: services, proxy, settings, backup, containers.",
        "deploy out --name plurality.clinic.example --processes 2",
        _deploy,
    ),
    "upgrade": (
        ".commands.record:upgrade",
        "Upgrade the review database to this version.",
        "upgrade",
        _none,
    ),
}


def _plain(value: Any) -> Any:
    """Return the same with numpy's numbers as Python's and values that are not finite as null."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
