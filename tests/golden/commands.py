"""The command lines whose numbers are kept, and what kind of numbers each gives.

``{samples}`` stands for the folder of the samples, ``{inputs}`` for the tables of this folder and ``{out}`` for a
file that the command writes: the table of a fit or of certainties, or a report.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).resolve().parent
SAMPLES_FOLDER = FOLDER.parents[1] / "sample_data"

SAMPLES = ("skin", "dermatology", "caries", "anaesthesia")
_NAMED = ("skin", "caries", "anaesthesia")  # raters who can be told apart; in dermatology they are anonymous
_EM = ("one-coin", "class-conditional", "dawid-skene", "tap")
_DIFFICULTY = (
    *("ABCDE", "ABCD", "ABCE", "ABDE", "ABC", "ABD", "ACD", "BCD"),
    *("AB", "AC", "AD", "BC", "BD", "CD", "A", "C", "D", "Full"),
)
_THREE_RATERS = '{"raters":["R01","R02","R03"]}'

Kind = Literal["closed", "iterative"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command line and how its numbers come about.

    Attributes
    ----------
    arguments : tuple of str
    kind : {"closed", "iterative"}
        Closed forms, or a fit that stops where it no longer moves: how near a number must be.
    chain : bool
        Some numbers come from a chain so long that rounding moves it, as the seed does.
    """

    arguments: tuple[str, ...]
    kind: Kind
    chain: bool = False

    @property
    def name(self) -> str:
        """The command."""
        return self.arguments[0]

    @property
    def writes_table(self) -> bool:
        """Whether a table of cases is written beside the JSON."""
        return "--cases-out" in self.arguments


def commands() -> dict[str, Command]:
    """Every command line by the name of its file."""
    return {
        "samples": Command(("samples",), "closed"),
        **_descriptions(),
        **_agreements(),
        **_fits(),
        **_judged(),
        **_posterior_fits(),
        **_certainties(),
        **_sweeps(),
        "report anaesthesia": Command(
            ("report", "anaesthesia", "--out", "{out}", "--draws", "20", "--sections", "agreement,raters,data"),
            "closed",
        ),
    }


def _descriptions() -> dict[str, Command]:
    found = {f"describe {sample}": Command(("describe", sample), "closed") for sample in SAMPLES}
    found["describe street"] = Command(("describe", "street"), "closed")
    found["describe scores"] = Command(("describe", "{inputs}/scores.csv"), "closed")
    found["describe skin, three raters"] = Command(("describe", "skin", "--select", _THREE_RATERS), "closed")
    return found


def _agreements() -> dict[str, Command]:
    options = {
        "": (),
        ", quadratic": ("--weights", "quadratic"),
        ", ordinal": ("--ordinal", "--level", "0.9"),
        ", SPA by edges": ("--spa-weights", "edges"),
    }
    found = {
        f"agreement {sample}{words}": Command(("agreement", sample, *more), "closed")
        for sample in SAMPLES
        for words, more in options.items()
    }
    for sample in ("skin", "dermatology"):  # words of no known scale
        line = ("agreement", sample, "--weights", "quadratic", "--classes", f"{{samples}}/{sample}/classes.csv")
        found[f"agreement {sample}, quadratic"] = Command(line, "closed")
    found["agreement street"] = Command(("agreement", "street"), "closed")
    found["agreement street, bus"] = Command(("agreement", "street", "--label", "bus"), "closed")
    scores = ("agreement", "{inputs}/scores.csv")
    found["agreement scores"] = Command(scores, "iterative")
    found["agreement scores, threshold"] = Command((*scores, "--threshold", "3.5"), "iterative")
    found["agreement skin, three raters"] = Command(("agreement", "skin", "--select", _THREE_RATERS), "closed")
    return found


def _fits() -> dict[str, Command]:
    """Votes and fits by expectation-maximisation."""
    found = {
        f"fit majority {sample}": Command(("fit", "majority", sample, "--cases-out", "{out}"), "closed")
        for sample in SAMPLES
    }
    line = ("fit", "smoothed-vote", "caries", "--cases-out", "{out}")
    found["fit smoothed-vote caries"] = Command(line, "iterative")
    choices = {model: (model,) for model in _EM} | {"tap common": ("tap", "--raters", "common")}
    for sample in _NAMED:
        for words, (model, *more) in choices.items():
            for smoothing in (None, "none", "pooled"):
                option = ("--smoothing", smoothing) if smoothing else ()
                name = f"fit {words} {sample}" + (f", smoothing {smoothing}" if smoothing else "")
                line = ("fit", model, sample, *more, *option, "--cases-out", "{out}")
                found[name] = Command(line, "iterative")
    for sample in ("anaesthesia", "caries"):
        line = ("fit", "dawid-skene", sample, "--smoothing", "diagonal", "--cases-out", "{out}")
        found[f"fit dawid-skene {sample}, smoothing diagonal"] = Command(line, "iterative")
        line = ("fit", "dawid-skene", sample, "--smoothing", "pooled", "--intervals")
        found[f"fit dawid-skene {sample}, intervals"] = Command(line, "iterative")
    line = ("fit", "dawid-skene", "anaesthesia", "--smoothing", "none", "--restarts", "3", "--seed", "7")
    found["fit dawid-skene anaesthesia, restarts"] = Command(line, "iterative")
    line = ("fit", "dawid-skene", "skin", "--smoothing", "pooled", "--gold", "{samples}/skin/truth.csv")
    found["fit dawid-skene skin, gold"] = Command((*line, "--cases-out", "{out}"), "iterative")
    for name, more in (("", ()), (", own trust", ("--own-trust",)), (", bus", ("--label", "bus"))):
        line = ("fit", "dawid-skene", "street", *more, "--cases-out", "{out}")
        found[f"fit dawid-skene street{name}"] = Command(line, "iterative")
    line = ("fit", "dawid-skene", "{inputs}/scores.csv", "--threshold", "3.5", "--smoothing", "pooled")
    found["fit dawid-skene scores, threshold"] = Command((*line, "--cases-out", "{out}"), "iterative")
    return found


def _judged() -> dict[str, Command]:
    """What is chosen by held-out annotations and who is judged by what opens."""
    found = {}
    for sample in _NAMED:
        line = ("fit", "dawid-skene-empirical", sample, "--cases-out", "{out}")
        found[f"fit dawid-skene-empirical {sample}"] = Command(line, "iterative")
        found[f"raters {sample}"] = Command(("raters", sample), "iterative")
        found[f"choose {sample}"] = Command(("choose", sample), "iterative")
    line = ("fit", "ordinal", "anaesthesia", "--ordinal", "--cases-out", "{out}")
    found["fit ordinal anaesthesia"] = Command(line, "iterative")
    for model in ("glad", "nominal-difficulty"):
        for sample in ("skin", "anaesthesia"):
            line = ("fit", model, sample, "--cases-out", "{out}")
            found[f"fit {model} {sample}"] = Command(line, "iterative")
    line = ("fit", "model-average", "anaesthesia", "--cases-out", "{out}")
    found["fit model-average anaesthesia"] = Command(line, "iterative")
    found["fit auto anaesthesia"] = Command(("fit", "auto", "anaesthesia"), "iterative")
    line = ("machine", "anaesthesia", "--machine", "observer 5", "--epsilon", "0.1")
    found["machine anaesthesia"] = Command(line, "closed")
    found["guideline anaesthesia"] = Command(("guideline", "anaesthesia"), "iterative")
    found["order"] = Command(("order", "{inputs}/comparisons.csv"), "iterative")
    found["order, raters"] = Command(("order", "{inputs}/comparisons.csv", "--part", "raters"), "iterative")
    found["questions"] = Command(("questions", "{inputs}/questions.csv"), "iterative")
    found["study"] = Command(("study", "{inputs}/study.csv"), "iterative")
    line = ("labels", "anaesthesia", "--soft-labels", "--weights")
    found["labels anaesthesia"] = Command(line, "iterative")
    found["labels street"] = Command(("labels", "street", "--rule", "vote", "--reliability", "1"), "iterative")
    found["labels scores"] = Command(("labels", "{inputs}/scores.csv"), "iterative")
    found["tap anaesthesia"] = Command(("tap", "anaesthesia"), "iterative")
    found["simulate"] = Command(("simulate", "--t", "0.4", "--a", "0.7", "--p", "0.2"), "iterative")
    line = ("metrics", "plackett-luce", "skin", "--reliability", "3", "--draws", "20")
    found["metrics skin"] = Command(line, "iterative")
    line = ("relations", "dirichlet", "anaesthesia", "--reliability", "1", "--draws", "50")
    found["relations anaesthesia"] = Command(line, "iterative")
    found["groups"] = Command(("groups", "{inputs}/groups.csv"), "closed")
    line = ("covariates", "{inputs}/groups.csv", "--rater-column", "region", "--positive", "high")
    found["covariates"] = Command(line, "iterative", chain=True)  # resampling may take another draw after one rounding
    line = ("check", "anaesthesia", "--require", "alpha >= 0.3", "--require", "unanimous > 5%", "--look", "2")
    found["check anaesthesia"] = Command(line, "closed")
    line = ("panel", "anaesthesia", "--machine", "observer 3,observer 4,observer 5", "--truth")
    found["panel anaesthesia, majority"] = Command((*line, "majority"), "closed")
    line = ("raters", "skin", "--gold", "{samples}/skin/truth.csv", "--acceptable", "0.7")
    found["raters skin, gold"] = Command(line, "iterative")
    found["reliability dirichlet anaesthesia"] = Command(
        ("reliability", "dirichlet", "anaesthesia", "--draws", "200"), "closed"
    )
    line = ("reliability", "dirichlet", "skin", "--gold", "{samples}/skin/truth.csv", "--draws", "200")
    found["reliability dirichlet skin, gold"] = Command(line, "closed")
    return found


def _posterior_fits() -> dict[str, Command]:
    """Posterior modes, and a short run of the sampler on the smallest data that it takes."""
    lines = {
        "bayesian-dawid-skene caries": ("bayesian-dawid-skene", "caries"),
        "bayesian-dawid-skene anaesthesia": ("bayesian-dawid-skene", "anaesthesia"),
        "hierarchical caries": ("hierarchical", "caries"),
        "hierarchical anaesthesia": ("hierarchical", "anaesthesia"),
        "difficulty anaesthesia": ("difficulty", "anaesthesia", "--positive", "1"),
    } | {f"difficulty {tag} caries": ("difficulty", "caries", "--model", tag) for tag in _DIFFICULTY}
    found = {
        f"fit {name}, map": Command(("fit", *line, "--method", "map", "--cases-out", "{out}"), "iterative")
        for name, line in lines.items()
    }
    name, short = (
        "bayesian-dawid-skene anaesthesia",
        ("--method", "nuts", "--draws", "60", "--tune", "60", "--chains", "2"),
    )
    line = ("fit", *lines[name], *short, "--cases-out", "{out}")
    found[f"fit {name}, nuts"] = Command(line, "iterative", chain=True)
    return found


def _certainties() -> dict[str, Command]:
    found = {}
    for sample in SAMPLES:
        for model in ("dirichlet", "prirn", "plackett-luce"):
            line = ("certainty", model, sample, "--reliability", "2", "--draws", "200", "--cases-out", "{out}")
            found[f"certainty {model} {sample}"] = Command(line, "closed")
    line = ("certainty", "mixture-plackett-luce", "anaesthesia", "--reliability", "2", "--draws", "200")
    found["certainty mixture-plackett-luce anaesthesia"] = Command(line, "closed", chain=True)
    line = ("certainty", "dirichlet", "street", "--reliability", "2", "--cases-out", "{out}")
    found["certainty dirichlet street"] = Command(line, "closed")
    found["certainty dirichlet street, P(correct)"] = Command((*line, "--p-correct"), "iterative")
    line = ("certainty", "dirichlet", "anaesthesia", "--p-correct", "--cases-out", "{out}")
    found["certainty dirichlet anaesthesia, P(correct)"] = Command(line, "iterative")
    line = ("certainty", "ordinal-truth", "anaesthesia", "--ordinal", "--reliability", "0.5", "--draws", "200")
    found["certainty ordinal-truth anaesthesia"] = Command((*line, "--cases-out", "{out}"), "iterative")
    line = ("certainty", "gaussian", "{inputs}/scores.csv", "--threshold", "3.5", "--reliability", "2")
    found["certainty gaussian scores, prior fitted"] = Command((*line, "--cases-out", "{out}"), "iterative")
    line = (*line, "--prior", "3,1,2,2", "--cases-out", "{out}")
    found["certainty gaussian scores, prior given"] = Command(line, "closed")
    line = ("certainty", "gaussian", "essays", "--reliability", "1", "--cases-out", "{out}")
    found["certainty gaussian essays, no threshold"] = Command(line, "iterative")
    return found


def _sweeps() -> dict[str, Command]:
    """The skin and dermatology samples bring predictions of classifiers; the others have none."""
    found = {}
    for sample, *models in (
        ("skin", "dirichlet", "prirn", "plackett-luce"),
        ("dermatology", "dirichlet", "prirn", "plackett-luce"),
        ("caries", "dirichlet", "prirn"),
        ("anaesthesia", "dirichlet", "mixture-plackett-luce"),
    ):
        for model in models:
            line = ("sweep", model, sample, "--reliabilities", "1,4", "--draws", "100", "--top", "3")
            found[f"sweep {model} {sample}"] = Command(line, "closed", chain=model.startswith("mixture"))
    line = ("sweep", "ordinal-truth", "anaesthesia", "--ordinal", "--reliabilities", "0.5,1", "--draws", "100")
    found["sweep ordinal-truth anaesthesia"] = Command(line, "iterative")
    line = ("sweep", "gaussian", "essays", "--threshold", "6", "--reliabilities", "1,4", "--draws", "100")
    found["sweep gaussian essays"] = Command(line, "iterative")
    found["reliability gaussian essays"] = Command(("reliability", "gaussian", "essays"), "iterative")
    line = ("sets", "skin", "--alpha", "0.4", "--reliability", "10", "--draws", "100", "--cases-out", "{out}")
    found["sets skin"] = Command(line, "closed")
    for method in ("ppi", "humans"):
        line = ("rate", "skin", "--machine", "R01", "--class", "Dry vesperitis", "--method", method)
        found[f"rate skin, {method}"] = Command(line, "closed")
    return found
