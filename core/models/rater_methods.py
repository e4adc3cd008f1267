"""Declaration of rater models as methods, options that they share, and how each way of fitting is run."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from ..annotations.dataset import Dataset, Kind
from ..methods import ONE_CLASS, Model, Need, Option, Verdict, any_of, methods
from ..runtime.chunks import CancelToken
from ..runtime.identity_cache import cache_by_identity
from .nuts.result import BayesianFit
from .result import RaterModelFit

Fit = Callable[..., RaterModelFit | BayesianFit]

SMOOTHING = {
    "none": "None (maximum likelihood)",
    "diagonal": "Diagonal prior",
    "pooled": "Pooled raters",
    "empirical": "Empirical Bayes",
}
BETA = Option(
    "beta",
    float,
    1.0,
    "Weight of each annotation",
    "weight of each annotation relative to an independent one, above 0 and at most 1",
    0.001,
    1.0,
    of_run=False,
    on_page=False,
)
DOUBT = Option(
    "doubt",
    float,
    0.0,
    "Share of cases on which all raters may be wrong",
    "share of cases whose annotations may all be unrelated to the truth (at least 0 and below 1)",
    0.0,
    0.99,
    on_page=False,
)
TEMPER_PREVALENCE = Option(
    "temper_prevalence",
    bool,
    False,
    "Apply β to the prevalence, too",
    "apply β to the prevalence, not only to the annotations (em)",
    on_page=False,
)
DAWID_SKENE_1979 = "Dawid & Skene, Applied Statistics 28 (1979), 20-28"
EM_SOURCE = "Dempster, Laird & Rubin, Journal of the Royal Statistical Society B 39 (1977), 1-38"


def em_options(*smoothings: str, tempers_prevalence: bool = True) -> tuple[Option, ...]:
    """Return the options of models by expectation-maximisation.

    Parameters
    ----------
    *smoothings : str
        The pseudo-counts that they take.
    tempers_prevalence : bool
        β can lower the weight of the prevalence too.
    """
    smoothing = Option(
        "smoothing",
        str,
        None,
        "Smoothing",
        "pseudo-annotations that prevent extreme estimates for raters with few annotations (em)",
        choices={name: SMOOTHING[name] for name in smoothings},
    )
    return (
        *((smoothing,) if smoothings else ()),
        BETA,
        DOUBT,
        *((TEMPER_PREVALENCE,) if tempers_prevalence else ()),
        Option(
            "use_gold",
            bool,
            False,
            "Hold gold fixed",
            "fix each gold case at its gold class (em)",
            on_command=False,
        ),
        Option(
            "repeats",
            str,
            "independent",
            "Repeated annotations by the same rater",
            "weight of a rater's further annotations on the same case (em)",
            choices={
                "independent": "Count as independent",
                "first": "Use only the first",
                "refuse": "Refuse to fit",
            },
        ),
    )


_MOST = 1_000_000
DRAWS = (
    Option("n_draws", int, 1000, "Draws per chain", "draws per chain (nuts)", 1, _MOST, {}, "--draws", True),
    Option("n_tune", int, 1000, "Warm-up draws", "warm-up draws per chain (nuts)", 1, _MOST, {}, "--tune", True),
    Option("n_chains", int, 4, "Chains", "number of chains (nuts)", 1, 64, {}, "--chains", True),
    Option("seed", int, 0, "Seed", "random seed", 0, 2**31 - 1, {}, "--seed", True),
)


def _whole(dataset: Dataset, **options: Any) -> Dataset:
    return dataset


def _never(dataset: Dataset) -> bool:
    return False


def _none(dataset: Dataset) -> int:
    return 0


def by_em(
    model: Any, dataset: Dataset, way: str, run: dict, token: CancelToken | None, progress: Callable | None
) -> RaterModelFit:
    """Run a model by expectation-maximisation.

    Parameters
    ----------
    model : EmModel
    dataset : Dataset
    way, run
        Not used: there is one way, and its settings are the model's own.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Returns
    -------
    RaterModelFit
    """
    return model.fit(dataset, token=token, progress=progress)


def by_posterior(
    model: Any, dataset: Dataset, way: str, run: dict, token: CancelToken | None, progress: Callable | None
) -> BayesianFit:
    """Run a Bayesian model at its mode or by chains.

    Parameters
    ----------
    model : ConfusionModel or DifficultyModel
    dataset : Dataset
    way : str
        "map" or "nuts".
    run : dict
        Settings of `DRAWS`.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1, and what is being done in words.

    Returns
    -------
    BayesianFit
    """
    return model.fit(dataset, method=way, token=token, progress=progress, **run)


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several methods that share a name on the command line and are distinguished by an option there.

    Attributes
    ----------
    command : str
        Name that they share.
    option, value : str
        Option that selects this one: ``--option value``.
    help : str
    is_default : bool
        True if this one is used without the option.
    normalise : callable
        Function that returns a typed value as it is in ``value``; raises `InputError` if it is unknown.
    """

    command: str
    option: str
    value: str
    help: str
    is_default: bool = False
    normalise: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class RaterModelMethod(Model):
    """Declaration of a rater model, by default of one fitted by expectation-maximisation.

    Attributes
    ----------
    fit : callable
        Function that fits the model; it receives what ``make`` returned, the dataset, the way, the options of the run,
        a cancel token and a progress callable.
    ways : tuple of str
        Ways to fit it, the quickest first: "vote", "em", "map", "nuts" or "stacking".
    view : callable
        Function that returns the data of a fit from the data and the options.
    variant : Variant or None
    reference : bool
        True if it is shown next to the others for comparison and is never opened automatically.
    opens : callable
        Function that returns whether its held-out score may select it for such data.
    n_parameters : callable
        Function that returns the number of free parameters of prevalence and raters; 0 if it has none.
    is_truth : bool
        True if its class probabilities may be used as the truth.
    """

    family: ClassVar[str] = "rater model"
    folder: ClassVar[str] = "models"

    _: KW_ONLY
    takes: Mapping[Kind, str] = field(default_factory=ONE_CLASS.copy)
    needs: tuple[Need, ...] = ("overlap", "raters")
    fit: Fit = by_em
    ways: tuple[str, ...] = ("em",)
    view: Callable[..., Dataset] = _whole
    variant: Variant | None = None
    reference: bool = False
    opens: Callable[[Dataset], bool] = _never
    n_parameters: Callable[[Dataset], int] = _none
    is_truth: bool = True

    @property
    def command(self) -> str:
        """Name on the command line."""
        return self.name if self.variant is None else self.variant.command


@cache_by_identity
def any_rater_model(dataset: Dataset) -> Verdict:
    """Return whether any rater model can be used, except for those that are only shown for comparison."""
    found = (method for method in methods(RaterModelMethod).values() if not method.reference)
    return any_of(found, "Rater models", dataset)
