"""What was done, in sentences for the methods section of a paper, each with its source."""

from ..version import __version__

_SOURCES = {
    "spa": "Nørregaard & Derczynski, Sparse Probability of Agreement (2022)",
    "gwet": "Gwet, Handbook of Inter-Rater Reliability (2014)",
    "krippendorff": "Krippendorff, Content Analysis (2004)",
    "dawid-skene": "Dawid & Skene, Applied Statistics 28 (1979), 20-28",
    "difficulty": "Han, Adıgüzel & Carpenter, Crowdsourcing with Difficulty (2024)",
    "loo": "Vehtari, Gelman & Gabry, Statistics and Computing 27 (2017), 1413-1432",
    "ugt": "Stutz et al., Evaluating AI systems under uncertain ground truth (2023)",
}

SENTENCES = {
    "agreement": (
        "Agreement was measured as percent agreement, sparse probability of agreement, and chance-corrected "
        "coefficients with 95 % intervals from linearised variances over cases; Krippendorff's α over cases with two "
        "answers or more.",
        ("gwet", "spa", "krippendorff"),
    ),
    "dawid-skene": (
        "The accuracy of raters and the probability of each class on each case were estimated by the Dawid-Skene "
        "model, by expectation-maximisation from the shares of votes; it supposes that raters err independently given "
        "the true class.",
        ("dawid-skene",),
    ),
    "rater models": (
        "Rater models with the true class of each case summed out were fitted by expectation-maximisation from the "
        "shares of votes, or as posteriors by the no-U-turn sampler; chains count as converged with R-hat at most 1.01 "
        "and a bulk effective sample size of at least 400; models were checked by posterior predictive checks and "
        "compared by leave-one-case-out with Pareto-smoothed importance sampling.",
        ("dawid-skene", "difficulty", "loo"),
    ),
    "monitoring": (
        "Each rater was judged by the other raters of the same cases; signs were raised at a family-wise false-alarm "
        "rate, and accuracy was drawn towards the pool.",
        ("dawid-skene",),
    ),
    "plackett-luce": (
        "Plausibilities of classes were drawn from the posterior of a Plackett-Luce model of partial rankings with "
        "ties, the classes that a rater left out standing below those named.",
        ("ugt",),
    ),
    "prirn": (
        "Plausibilities of classes were drawn from a Dirichlet distribution around the inverse-rank-normalised weights "
        "of the classes.",
        ("ugt",),
    ),
    "dirichlet": (
        "Plausibilities of classes were drawn from the Dirichlet posterior of the counts of answers.",
        ("ugt",),
    ),
    "certainty": (
        "Annotation certainty is the probability that the most plausible class stays the same over these draws; the "
        "reliability γ multiplies the weight of every annotation and is a choice, not an estimate.",
        ("ugt",),
    ),
    "classifiers": (
        "Classifiers were scored against every draw of the truth of all cases at once; means, and intervals over "
        "draws, are reported.",
        ("ugt",),
    ),
}


def methods_text(parts: list[str]) -> str:
    """The sentences of the parts used, with their sources and the version.

    Parameters
    ----------
    parts : list of str
        Keys of `SENTENCES`.
    """
    used: list[str] = []
    for part in parts:
        used += [source for source in SENTENCES[part][1] if source not in used]
    sentences = []
    for part in parts:
        words, sources = SENTENCES[part]
        numbers = ", ".join(str(used.index(source) + 1) for source in sources)
        sentences.append(f"{words[:-1]} [{numbers}].")
    listed = "; ".join(f"[{place}] {_SOURCES[source]}" for place, source in enumerate(used, 1))
    return f"{' '.join(sentences)} Computed with Plurality {__version__}. {listed}."
