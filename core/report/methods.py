"""Description of the analysis in sentences for the methods section of a paper, each with its source."""

from ..agreement.coefficient_methods import GWET, SPA_SOURCE
from ..agreement.krippendorff import METHOD as KRIPPENDORFF
from ..methods import UGT, every_method
from ..models.difficulty.model import METHODS as DIFFICULTY
from ..models.rater_methods import DAWID_SKENE_1979
from ..version import __version__

ALTERNATIVE_TEST = "Calderon, Reichart & Dror, The Alternative Annotator Test, ACL 2025, arXiv:2501.10970"
SURVEY_EQUIVALENCE = "Resnick, Kong, Schoenebeck & Weninger, Survey equivalence (2021), arXiv:2106.01254"
CONFORMAL = "Stutz et al., Conformal prediction under ambiguous ground truth (2023)"
MRMC = (
    "Obuchowski & Rockette, Communications in Statistics 24 (1995), 285-308",
    "Hillis, Statistics in Medicine 26 (2007), 596-619",
    "Gallas, Bandos, Samuelson & Wagner, Communications in Statistics 38 (2009), 2586-2603",
    "Barnard & Rubin, Biometrika 86 (1999), 948-955",
)
COMPARISONS = (
    "Bradley & Terry, Biometrika 39 (1952), 324-345",
    "Davidson, Journal of the American Statistical Association 65 (1970), 317-328",
    "Chen, Bennett, Collins-Thompson & Horvitz, Pairwise ranking aggregation in a crowdsourced setting (2013)",
    "Kendall & Babington Smith, Biometrika 31 (1940), 324-345",
)
SMYTH = "Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004), article 3"
_LOO = "Vehtari, Gelman & Gabry, Statistics and Computing 27 (2017), 1413-1432"

SENTENCES = {
    "agreement": (
        "Agreement was measured as percent agreement, sparse probability of agreement, and chance-corrected "
        "coefficients with 95% intervals from linearised variances over cases. Krippendorff's α uses only cases with "
        "at least two annotations.",
        (GWET, SPA_SOURCE, *KRIPPENDORFF.sources),
    ),
    "guideline": (
        "Pairs of confused classes were ranked by their share of the off-diagonal coincidences. The loss from a "
        "merger is the decrease in mutual information between the annotation and the truth according to a rater "
        "model. Intervals come from resampling cases.",
        (DAWID_SKENE_1979, *KRIPPENDORFF.sources),
    ),
    "order": (
        "Items were ordered by a Bradley-Terry model with Davidson's extension for ties, a discrimination parameter "
        "for each rater and an advantage for the item shown first. The model was fitted at the posterior mode under "
        "weak normal priors; intervals and probabilities of orders come from the normal approximation at the mode. "
        "Circular triads were counted and compared with chance.",
        COMPARISONS,
    ),
    "machines": (
        "AI raters were compared with each rater in the alternative annotator test (one-sided t-tests, "
        "Benjamini-Yekutieli procedure over raters). Their worth as a number of raters was estimated by survey "
        "equivalence. Intervals come from resampling cases.",
        (ALTERNATIVE_TEST, SURVEY_EQUIVALENCE),
    ),
    "panel": (
        "The effective number of independent raters in a panel of AI raters was estimated from the mean correlation "
        "of their errors. The truth was inferred by expectation-maximisation from people's annotations and from the "
        "annotations being judged; the latter count together as one rater. Intervals come from resampling cases.",
        (DAWID_SKENE_1979,),
    ),
    "study": (
        "Modalities were compared by the Obuchowski-Rockette method with Hillis' degrees of freedom for complete "
        "designs, and by U-statistics for other designs. Readers and cases were treated as random. If a "
        "panel provided the truth, true classes were drawn from their posterior given the panel and all readings, "
        "and the estimates were combined with Rubin's rules.",
        MRMC,
    ),
    "rater models": (
        "Rater models, with the true class of each case summed out, were fitted by expectation-maximisation "
        "starting from vote shares, or sampled with the no-U-turn sampler. Chains count as converged if R-hat is at "
        "most 1.01 and the bulk effective sample size is at least 400. Models were checked by posterior predictive "
        "checks, and compared by leave-one-case-out cross-validation with Pareto-smoothed importance sampling.",
        (DAWID_SKENE_1979, *DIFFICULTY[0].sources, _LOO),
    ),
    "monitoring": (
        "Each rater was compared with gold if the median rater had at least 20 annotations on gold cases, and "
        "otherwise with the other raters on the same cases. Accuracy was shrunk towards the mean of all raters. Flags "
        "for accuracy below the acceptable level control the Bayesian false discovery rate; other flags control the "
        "family-wise false-alarm rate.",
        (DAWID_SKENE_1979,),
    ),
    "score raters": (
        "Severity and spread of raters were estimated by restricted maximum likelihood in a linear model with random "
        "effects for cases and raters and a separate variance for each rater; the variances were shrunk towards a "
        "common value.",
        (SMYTH,),
    ),
    "certainty": (
        "Annotation certainty is the probability that the leading class stays the same over draws from this "
        "distribution. The reliability γ multiplies the weight of every annotation and is a choice, not an estimate.",
        (UGT,),
    ),
    "classifiers": (
        "Classifiers were scored against every draw of the true classes. Means and intervals are over draws.",
        (UGT,),
    ),
    "sets": (
        "Prediction sets were calibrated by Monte Carlo conformal prediction on labels drawn from the "
        "plausibilities. Their coverage is guaranteed if the truth follows the plausibilities at γ. It was measured on "
        "cases that were not used for calibration.",
        (CONFORMAL,),
    ),
}


def methods_text(parts: list[str]) -> str:
    """Return the sentences of the parts used, with their sources and the version.

    Parameters
    ----------
    parts : list of str
        Keys of `SENTENCES`, or names of methods that have a sentence of their own.
    """
    own = {method.name: (method.sentence, method.sources) for method in every_method() if method.sentence}
    said = [SENTENCES.get(part) or own[part] for part in parts]
    used = list(dict.fromkeys(source for _, sources in said for source in sources))
    sentences = []
    for words, sources in said:
        numbers = ", ".join(str(used.index(source) + 1) for source in sources)
        sentences.append(f"{words[:-1]} [{numbers}]." if numbers else words)
    listed = "; ".join(f"[{place}] {source}" for place, source in enumerate(used, 1))
    return f"{' '.join(sentences)} Computed with Plurality {__version__}. {listed}."
