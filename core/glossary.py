"""Every technical term on screen in two sentences: one for a clinician, one for a statistician with its source."""

from typing import NamedTuple


class Term(NamedTuple):
    """One entry."""

    plainly: str
    exactly: str


GLOSSARY: dict[str, Term] = {
    "percent agreement": Term(
        "How often two raters who looked at the same case gave the same answer.",
        "Mean over cases of the share of agreeing pairs; interval by Gwet's linearised variance (2014), t on n − 1.",
    ),
    "spa": Term(
        "The same question, but cases with more answers may count for more.",
        "Sparse probability of agreement, Σ wᵢPᵢ / Σ wᵢ; Wilson interval on the jackknife's effective n "
        "(Nørregaard & Derczynski 2022).",
    ),
    "fleiss kappa": Term(
        "Agreement beyond what guessing at random would give: 0 is chance, 1 is perfect.",
        "(p_a − p_e)/(1 − p_e), p_e from class shares averaged over cases; Gwet's linearised variance (Fleiss 1971).",
    ),
    "krippendorff alpha": Term(
        "Agreement beyond chance that copes with missing answers: 0 is chance, 1 is perfect.",
        "1 − D_o/D_e with nominal distance over cases with two answers or more (Krippendorff 2004).",
    ),
    "pair matrix": Term(
        "Every two raters compared on the cases that both of them answered.",
        "Share of agreeing pairs of answers with Wilson's 95 % interval; n pairs in every cell.",
    ),
    "dawid-skene": Term(
        "Finds out which raters can be trusted by how well they fit with the others, and weighs their answers so.",
        "Latent class model with a confusion matrix per rater, by EM in log space (Dawid & Skene 1979).",
    ),
    "majority vote": Term(
        "The answer most raters gave; every rater counts the same.",
        "Mode of the answers of a case; tied winners share the case.",
    ),
    "prevalence": Term(
        "How common each class truly is, once raters' errors are taken into account.",
        "Distribution π of the latent true class over cases.",
    ),
    "confusion matrix": Term(
        "Given what a case truly is (row), how often this rater gives each answer (column).",
        "θ[true, answered] = P(answered class | true class); rows sum to 1.",
    ),
    "smoothing": Term(
        "Keeps raters with few answers from being judged too sharply.",
        "none: maximum likelihood; diagonal: Dirichlet prior that favours right answers; pooled: 10 pseudo-annotations "
        "per row spread like the confusion matrix of all raters together.",
    ),
    "restarts": Term(
        "Tries many starting points: if they end elsewhere, the data leave more than one answer open.",
        "Random starts aligned to the vote start; EM finds local maxima of the likelihood only.",
    ),
    "annotation certainty": Term(
        "How sure the leading diagnosis of a case is, given what the raters said.",
        "max over classes of P(top-1 class of λ) under the posterior of plausibilities λ (Stutz et al., eq. 2-6).",
    ),
    "reliability": Term(
        "How much one rater's word counts. Low: a few answers prove little. High: what raters said is the truth.",
        "γ multiplies every annotation's weight in the posterior; it is a prior choice to explore, not an estimate.",
    ),
    "plausibility": Term(
        "How likely each diagnosis could be the truth of this case; dots are what else it could plausibly be.",
        "A point λ of the simplex over classes; dots are draws from its posterior given the annotations of the case.",
    ),
    "dirichlet counts": Term(
        "Counts how often each class was named, and stays open for the others.",
        "λ | b ~ Dirichlet(γ·counts + α), α for every class of the closed list (Stutz et al., appendix A).",
    ),
    "alpha": Term(
        "How much every class is given before anybody has answered.",
        "Dirichlet pseudo-count α of each class; with many classes α = 1 weighs strongly for classes nobody named.",
    ),
    "region": Term(
        "The shaded part holds 95 % of what the truth could plausibly be; the cross is its middle.",
        "95 % highest-density region of the posterior renormalised to the three corners, by its exact density.",
    ),
}


def explained(term: str) -> str:
    """Both sentences of a term, as markdown for a help sign."""
    entry = GLOSSARY[term]
    return f"{entry.plainly}\n\n*For statisticians:* {entry.exactly}"
