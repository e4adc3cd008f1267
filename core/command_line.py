"""The command line: arguments in, JSON or CSV out. Exit status 0, or 2 with one clear line for bad input."""

import argparse
import json
import math
import sys
import time

import numpy as np

from core.annotations.readers import FORMATS
from core.commands import choices, data, fits, plausibilities, reports
from core.errors import PluralityError
from core.report.build import SECTIONS
from core.version import __version__

_EXAMPLES = {
    "samples": "python -m core samples",
    "describe": "python -m core describe readings.csv",
    "agreement": "python -m core agreement readings.csv --level 0.9",
    "fit": "python -m core fit dawid-skene caries --smoothing none --cases-out truth.csv",
    "choose": "python -m core choose skin --gold truth.csv",
    "certainty": "python -m core certainty plackett-luce skin --reliability 3",
    "sweep": "python -m core sweep plackett-luce skin --reliabilities 1,3,10",
    "report": 'python -m core report skin --select \'{"raters":["R01","R02"]}\' --out report.html',
}


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments."""

    def error(self, message: str):
        self.exit(2, f"plurality: {' '.join(message.split())} (see {self.prog} --help)\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # JSON is UTF-8 whatever the terminal thinks
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    options = _parser().parse_args(arguments)
    options.cautions = []
    started = time.perf_counter()
    try:
        answer, table = options.run(options)
    except PluralityError as error:
        print(f"plurality: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    for caution in options.cautions:
        print(f"plurality: {' '.join(caution.split())}", file=sys.stderr)
    answer |= {"version": __version__, "seconds": round(time.perf_counter() - started, 3)}
    try:
        if options.csv:
            sys.stdout.write(table.to_csv(index=False, lineterminator="\n"))
        else:
            json.dump(_plain(answer), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
            sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m core", description="Ground truth that people disagree about.")
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run, summary: str) -> argparse.ArgumentParser:
        sub = subparsers.add_parser(name, help=summary, description=summary, epilog=f"example: {_EXAMPLES[name]}")
        sub.set_defaults(run=run)
        sub.add_argument("--csv", action="store_true", help="a table instead of JSON")
        return sub

    def takes_file(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "file", metavar="FILE", help="any known format, a sample's name, the digest of a kept dataset, or -"
        )
        sub.add_argument(
            "--format", choices=tuple(FORMATS), metavar="F", help=f"found out where not given: {', '.join(FORMATS)}"
        )
        sub.add_argument("--question", metavar="NAME", help="where the file holds several questions or sheets")
        sub.add_argument("--select", metavar="JSON", help="only some annotations, as an address or a report writes it")
        sub.add_argument("--case", metavar="COLUMN", help="column of case ids")
        sub.add_argument("--rater", metavar="COLUMN", help="column of rater ids, or 'none' for anonymous answers")
        sub.add_argument("--class", metavar="COLUMN", dest="answer", help="column of classes or scores")
        sub.add_argument("--rank", metavar="COLUMN", help="column of ranks (differential diagnoses)")
        sub.add_argument("--classes", metavar="A,B,C", help="the closed list of classes, in its order")
        sub.add_argument(
            "--threshold", type=float, metavar="T", help="scores: split in two classes, at most T and above"
        )
        sub.add_argument("--seed", type=int, default=0)

    def takes_model(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("model", choices=("dirichlet", "gaussian", "prirn", "plackett-luce"))
        takes_file(sub)
        takes_draws(sub)
        sub.add_argument("--prior", metavar="M0,K0,A0,B0", help="of scores (gaussian); fitted where not given")
        sub.add_argument("--risk", metavar="FILE", help="class,risk with low, medium, high; or a level a line")

    def takes_draws(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--draws", type=int, default=1000, metavar="M")
        sub.add_argument("--top", type=int, default=3, metavar="J", help="largest set of classes, 1 to J")
        sub.add_argument("--alpha", type=float, default=1.0, metavar="A", help="prior of each class (dirichlet, PL)")
        sub.add_argument("--ties", choices=("split", "full"), default="split", help="weight of tied classes (prirn)")
        sub.add_argument("--epsilon", type=float, default=0.01, metavar="E", help="pseudo-count of a class (prirn)")

    add("samples", data.samples, "List the samples.")
    takes_file(add("describe", data.describe, "What a file holds, as understood."))
    sub = add("agreement", data.agreement, "Coefficients of agreement with intervals.")
    takes_file(sub)
    sub.add_argument("--level", type=float, default=0.95, metavar="L", help="of the intervals, 0 to 1")
    sub.add_argument("--weights", metavar="W", help="of the classes: identity, linear, quadratic, ordinal, ...")
    sub.add_argument("--ordinal", action="store_true", help="the order of --classes means something")
    sub.add_argument("--spa-weights", default="annotations_m1", metavar="S", help="weighting of SPA")
    sub = add("fit", fits.fit, "Fit a model of raters and truth.")
    sub.add_argument("model", choices=fits.MODELS)
    takes_file(sub)
    sub.add_argument("--method", choices=("em", "map", "nuts"), help="the quickest where not given")
    sub.add_argument("--smoothing", choices=("none", "diagonal", "pooled", "empirical"), help="pseudo-counts (em)")
    sub.add_argument("--beta", type=float, metavar="B", help="what an annotation counts for in probabilities, 0 to 1")
    sub.add_argument("--doubt", type=float, metavar="D", help="share of cases that may mislead all raters, 0 to 1")
    sub.add_argument("--restarts", type=int, default=0, metavar="N", help="random starts beside the vote start (em)")
    sub.add_argument("--intervals", action="store_true", help="standard errors and intervals (em)")
    sub.add_argument("--raters", choices=("own", "common"), default="own", help="parameters of t-a-p")
    sub.add_argument("--gold", metavar="FILE", help="case,class of known cases, held fixed (em)")
    sub.add_argument("--model", dest="difficulty", metavar="AB", help="which of the eighteen difficulty models")
    sub.add_argument("--positive", metavar="CLASS", help="the class that a difficulty model tells from the rest")
    sub.add_argument("--draws", type=int, default=1000, metavar="M", help="of each chain (nuts)")
    sub.add_argument("--tune", type=int, default=1000, metavar="M", help="warm-up draws of each chain (nuts)")
    sub.add_argument("--chains", type=int, default=4, metavar="N")
    sub.add_argument("--cases-out", metavar="FILE", help="write class probabilities per case as CSV")
    sub = add("choose", choices.choose, "Which model of raters predicts annotations best that it has not seen.")
    takes_file(sub)
    sub.add_argument("--gold", metavar="FILE", help="case,class of known cases, which judge and do not choose")
    sub = add("certainty", plausibilities.certainty, "Annotation certainty of every case.")
    takes_model(sub)
    sub.add_argument("--reliability", type=float, required=True, metavar="G", help="γ, the trust in the raters")
    sub.add_argument("--cases-out", metavar="FILE", help="write certainty per case as CSV")
    sub = add("sweep", plausibilities.sweep, "Certainty against reliability.")
    takes_model(sub)
    sub.add_argument("--reliabilities", required=True, metavar="1,2,3", help="values of γ")
    sub.add_argument("--predictions", action="append", metavar="NAME=FILE", help="of a classifier; may be repeated")
    sub.add_argument("--k", type=int, help="length of the lists that are compared; --top where not given")
    sub = add("report", reports.report, "One HTML file with figures, tables and methods, that needs no network.")
    takes_file(sub)
    takes_draws(sub)
    sub.add_argument("--out", required=True, metavar="FILE", help="the HTML file to write")
    sub.add_argument("--sections", metavar="A,B", help=f"of {', '.join(SECTIONS)}; all where not given")
    sub.add_argument("--model", choices=("dirichlet", "prirn", "plackett-luce"), help="of plausibilities")
    sub.add_argument("--reliability", type=float, metavar="G", help="γ of the section on cases")
    sub.add_argument("--predictions", action="append", metavar="NAME=FILE", help="of a classifier; may be repeated")
    return parser


def _plain(value):
    """The same with numpy's numbers as Python's and what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
