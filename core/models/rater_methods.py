"""Registration of rater models as methods: options that they share, and how each way of fitting is run.

``fit`` of a rater model's `Method` is called with the model that ``make`` gave, the dataset, the way, the options of
the run, a cancel token and a progress callable, and returns a `RaterModelFit` or, by "map" and "nuts", a `BayesianFit`.
"""

from collections.abc import Callable
from typing import Any

from ..annotations.dataset import Dataset
from ..methods import ONE_CLASS, Method, Option
from ..runtime.chunks import CancelToken

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
    "share of cases whose annotations may all be unrelated to the truth, 0 to below 1",
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


def by_em(
    model: Any, dataset: Dataset, way: str, run: dict, token: CancelToken | None, progress: Callable | None
) -> Any:
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
) -> Any:
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


def em_method(name: str, title: str, make: Callable[..., Any], **said: Any) -> Method:
    """Describe a rater model by expectation-maximisation.

    Parameters
    ----------
    name, title : str
        The key and what people read.
    make : callable
        Makes the model from its options.
    **said
        Further fields of `core.methods.Method`.
    """
    return Method(
        name,
        "rater model",
        title,
        make=make,
        fit=by_em,
        takes=said.pop("takes", ONE_CLASS),
        needs=said.pop("needs", ("overlap", "raters")),
        ways=("em",),
        **said,
    )


def posterior_method(name: str, title: str, make: Callable[..., Any], **said: Any) -> Method:
    """Describe a Bayesian rater model: its mode, and its posterior by NUTS.

    Parameters
    ----------
    name, title : str
        The key and what people read.
    make : callable
        Makes the model from its options.
    **said
        Further fields of `core.methods.Method`; those of `DRAWS` join its ``options``, and ``fit`` is `by_posterior` by
        default.
    """
    options = (*said.pop("options", ()), *DRAWS)
    return Method(
        name,
        "rater model",
        title,
        make=make,
        fit=said.pop("fit", by_posterior),
        takes=ONE_CLASS,
        needs=("overlap", "raters"),
        ways=("map", "nuts"),
        options=options,
        **said,
    )
