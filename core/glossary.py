"""Every technical term on screen in two sentences: one for a clinician, one for a statistician with its source."""

from typing import NamedTuple


class Term(NamedTuple):
    """One entry."""

    plainly: str
    exactly: str


GLOSSARY: dict[str, Term] = {
    "without the rater": Term(
        "Does agreement rise when this rater's annotations are left out? Then they differ from the others.",
        "Leave-one-rater-out: the coefficient on the data without the rater, less that of all; agreement with the "
        "others is the share of agreeing pairs, Wilson interval on the effective number of the rater's cases.",
    ),
    "machine": Term(
        "A model that annotates. It is shown apart from people, and counts for no panel and no truth unless you ask.",
        "A rater marked as a machine, with family and version; left out of panels, truth models and held-out scores.",
    ),
    "alternative annotator test": Term(
        "May the model stand in for one of the raters? It is compared with each, by who is nearer to the others. "
        "It rewards being where most raters are: a model that shares their errors passes.",
        "Per rater a one-sided t-test that the rater's wins less the model's are below ε, Benjamini-Yekutieli over "
        "raters; passes at a winning rate ω ≥ ½; ρ is the mean advantage (Calderon, Reichart & Dror 2025); intervals "
        "by resampling cases.",
    ),
    "versions": Term(
        "Versions of one model on the same cases: did a newer one agree more or less with people, and on how many "
        "cases does it say something else?",
        "Paired differences of mean S(f, R) over the cases that all versions annotated; percentile intervals over "
        "cases at 1 − (1 − level)/m for m comparisons; changed share by Wilson.",
    ),
    "classifier as evidence": Term(
        "A classifier's probabilities count beside the annotations, as much as helps to foretell annotations not seen. "
        "Where that classifier is judged it never counts: it would agree with itself.",
        "P(z) ∝ π_z^(1 − w) p_f(z | x)^w Π θ^β after the fit; w by the held-out score, 0 unless ahead by more than one "
        "standard error. Errors that classifier and raters share are not seen.",
    ),
    "worth in readers": Term(
        "How many people together foretell one more person's annotation as well as the model does.",
        "Survey equivalence: k with c(k) = s_f, c the mean score of panels of k others, linear between whole k "
        "(Resnick et al. 2021); intervals by resampling cases.",
    ),
    "shared errors": Term(
        "Two raters make the same mistakes: they agree more than their accuracy explains, so they count as fewer.",
        "Agreement of a pair beyond Σ_z P(z) Σ_k θ_jzk θ_lzk as a share of what is left, who copy counted as one in "
        "P(z); p by annotations that the fit makes up, Benjamini-Hochberg over pairs; n_eff = n² / Σ max(corr, 0).",
    ),
    "specific agreement": Term(
        "If one rater says this class, how often does another one say it too?",
        "p_s(k) = Σ n_ik(n_ik − 1) / Σ n_ik(n_i − 1); Wilson interval on the jackknife's effective n (Fleiss 1975).",
    ),
    "precision": Term(
        "How narrow the interval is now, and how narrow it would be with more annotations.",
        "Standard error of SPA for heterogeneous cases from factorial moments, Var_n of n annotations a case, over new "
        "or present cases (Nørregaard & Derczynski, figure 6).",
    ),
    "bootstrap": Term(
        "What the number could have been with other cases like these: drawn again and again from those at hand.",
        "Percentile interval over resamples of cases, all coefficients on the same resamples, so that their "
        "differences have intervals too (Efron & Tibshirani 1993).",
    ),
    "rater models": Term(
        "Each assumes something else about raters and cases; those that fit the data badly are told apart by checks.",
        "Latent-class models with the true class summed out: by EM (one-coin, class-conditional, Dawid-Skene, t-a-p, "
        "ordinal), or as posteriors (Dawid-Skene, hierarchical, ordinal, GLAD, nominal difficulty, the eighteen "
        "difficulty models of Han et al.).",
    ),
    "held-out score": Term(
        "How well a model predicts an annotation that it has not seen, from the others of the case. It needs "
        "no truth, and is blind to mistakes that raters share.",
        "Mean log probability of held-out annotations, at most one of a case in each of five folds; differences paired "
        "by annotation, standard errors clustered by case; each model at its own β, which lowers the weight of the "
        "prevalence too where that is ahead by more than one standard error. The best score opens; with fewer than "
        "5,000 annotations held out, of those within one standard error of it the model with the fewest parameters.",
    ),
    "full posterior": Term(
        "The posterior mode comes at once and has no intervals. The full posterior takes up to minutes and has them.",
        "Mode by L-BFGS against NUTS in a process of its own; R-hat ≤ 1.01 and bulk ESS ≥ 400 count as converged.",
    ),
    "predictive check": Term(
        "Could the model have made up data like these? Outlines are what was seen, bands what it makes up.",
        "Posterior predictive check; per statistic min(p, 1 − p), the least of S shown; fails below .025/S. It is no "
        "p-value (Gelman et al. 1996; Han et al., 6.1).",
    ),
    "leave-one-case-out": Term(
        "Which model would have predicted the annotations on a case it had not seen?",
        "Expected log predictive density, leaving out a case with all its annotations, effects integrated; "
        "Pareto-smoothed importance sampling (Vehtari, Gelman & Gabry 2017).",
    ),
    "model agreement": Term(
        "Do the models name the same class? Where they part, the class rests on what a model assumes.",
        "Share of cases with the same most probable class, ties shared; mean total-variation distance to download.",
    ),
    "gold": Term(
        "Classes that are known from elsewhere, a biopsy say. They judge raters, models and certainties.",
        "Reference classes that no fit has used; shares with Wilson intervals over gold cases, ties shared.",
    ),
    "calibration": Term(
        "When the model says 80%, is it right 8 times out of 10?",
        "Share right among gold cases by bins of the probability, Wilson intervals; log-loss beside it.",
    ),
    "soft labels": Term(
        "How sure the panel is of each class, for training: better than the winner alone.",
        "Class probabilities, log-odds and weights; training on log-odds does best (Han et al., section 5).",
    ),
    "signs": Term(
        "What stands out about a rater, with its evidence. Honest raters are seldom flagged: how seldom, you set.",
        "Family-wise false-alarm rate over raters and rules, Holm within a rule; a rater is judged by the annotations "
        "of the others on the same cases.",
    ),
    "acceptable": Term(
        "The accuracy below which a rater costs more than they bring: yours to set. Flagged are those who are surely "
        "below it.",
        "Default: mean accuracy over annotations − .10, at least half-way from blind annotations to that mean. Flags "
        "are the longest list whose mean P(accuracy ≥ acceptable) stays at the stated false discovery rate; order by "
        "expected wrong annotations, n (1 − accuracy).",
    ),
    "follows": Term(
        "How closely what a rater gives goes up and down with the case: 1 follows it wholly, 0 not at all. Reading the "
        "whole scale higher or lower changes nothing.",
        "Correlation with the case's own score, from that with the mean of the others less their severity, by Fisher's "
        "z and a pool of all raters. Acceptable by default: half of the mean. Lost: n less the annotations of the "
        "average rater that tell as much, by ρ² / (1 − ρ²).",
    ),
    "planning": Term(
        "Tries the plan out many times on simulated annotations like these, and says where it ends, and how surely.",
        "Worlds drawn from the fitted Dawid-Skene model; median and interval over worlds after each step.",
    ),
    "control chart": Term(
        "Rises while a rater annotates worse than before; above the dashed line it is no longer chance.",
        "CUSUM of log-likelihood ratios, or EWMA, against the panel without the rater; limit from random orders "
        "of the rater's own annotations.",
    ),
    "prevalence": Term(
        "How common each class is estimated to be, once raters' errors are taken into account.",
        "Distribution π of the latent true class over cases.",
    ),
    "confusion matrix": Term(
        "Given the class that the model infers (row), how often this rater gives each class (column).",
        "θ[true, annotated] = P(annotated class | true class); rows sum to 1.",
    ),
    "smoothing": Term(
        "Keeps raters with few annotations from being judged too sharply.",
        "none: maximum likelihood; diagonal: Dirichlet prior that favours right annotations; pooled (default): 10 "
        "pseudo-annotations per row spread like the confusion matrix of all raters together; empirical: as many as the "
        "differences between raters suggest.",
    ),
    "restarts": Term(
        "Tries many starting points: if they end elsewhere, the data leave more than one fit open.",
        "Random starts aligned to the majority-vote start; EM finds local maxima of the likelihood only.",
    ),
    "annotation certainty": Term(
        "How sure the leading diagnosis of a case is, given what the raters said.",
        "max over classes of P(top-1 class of λ) under the posterior of plausibilities λ (Stutz et al., eq. 2-6); "
        "± is the Monte Carlo standard error, not the uncertainty about model or γ.",
    ),
    "reliability": Term(
        "How much one rater's word counts. Low: a few annotations prove little. High: it is taken as the truth.",
        "γ multiplies every annotation's weight in the posterior; it is a prior choice to explore, not an estimate.",
    ),
    "held-out readers": Term(
        "One reader at a time is hidden: at which trust do the others foretell best what this one says? It speaks of "
        "opinions, not of the truth.",
        "Mean log predictive probability of a reader's annotation given the others of the case, at exponent 1, against "
        "γ; differences to the best paired, standard errors clustered by case (as in Grünwald & van Ommen 2017).",
    ),
    "certainty against gold": Term(
        "Where the truth is known: when a case is called 90% certain, is its leading class right nine times in ten?",
        "Binary log loss and ECE of annotation certainty as P(top-1 class is the gold class), by γ; the best γ by five "
        "folds over gold cases; intervals over cases.",
    ),
    "plausibility": Term(
        "How likely each diagnosis could be the truth of this case; dots are what else it could plausibly be.",
        "A point λ of the simplex over classes; dots are draws from its posterior given the annotations of the case.",
    ),
    "review queue": Term(
        "Cases in the order in which another opinion matters most, by what you choose.",
        "Lowest certainty; gain C1 − max Σ A of one more opinion; nearly equal votes; expected risk × (1 − certainty); "
        "classifier against certainty ≥ .9; one rater only.",
    ),
    "risk": Term(
        "How sure it is that the case is of low, medium or high risk, whatever the exact diagnosis.",
        "P(level with most summed plausibility) and P(level of the top-1 class); expected risk = Σ level·plausibility.",
    ),
    "classifier set": Term(
        "How likely the truth is among the classifier's first guesses.",
        "P(top-1 class of λ ∈ the classifier's top-k set) over draws of the case.",
    ),
    "top3 accuracy": Term(
        "How often the true class is among the classifier's three best guesses, over all plausible truths.",
        "Uncertainty-adjusted top-k accuracy: mean over cases per draw, then over draws (Stutz et al., eq. 7-12).",
    ),
    "better": Term(
        "How sure it is that one classifier beats the other, over all plausible truths.",
        "Mean over common draws of P(the row's metric is larger over all cases like these), ties one half, on the "
        "cases that both predict: uncertainty about the truth, and Student's t for which cases were sampled.",
    ),
    "alpha": Term(
        "How much every class is given before anybody has annotated.",
        "Dirichlet pseudo-count α of each class; with many classes α = 1 weighs strongly for classes nobody named.",
    ),
    "benchmark": Term(
        "What word the number deserves, from poor to almost perfect, and how sure that word is.",
        "Share of a normal distribution around the estimate within each band of Landis & Koch (1977), Fleiss (1981) or "
        "Altman (1991), as Gwet (2014, chapter 6) proposes.",
    ),
    "prediction sets": Term(
        "How long a list a classifier must show so that the truth is on it as often as promised, even where experts "
        "disagree on the truth.",
        "Monte Carlo conformal prediction: labels drawn from the plausibilities at γ calibrate one threshold on the "
        "score; coverage ≥ 1 − α for one label a case (Stutz et al. 2023).",
    ),
    "aggregated coverage": Term(
        "How often the list holds the truth, whatever the truth is: each class counts by its plausibility.",
        "Mean over test cases of Σ λ_k over the classes of the set; voted coverage counts the majority vote alone and "
        "looks better than the truth allows (Stutz et al. 2023).",
    ),
    "sample or queue": Term(
        "Cases from a queue were picked because they are hard; only cases drawn by chance tell of all cases.",
        "Poisson sampling with recorded inclusion probabilities; rates by inverse probability (Zrnic & Candès 2024).",
    ),
    "corrected rate": Term(
        "How many of all cases are of a class, from a machine's labels on all and people's on a few. The few must be a "
        "random sample, or their chances of being labelled known.",
        "PPI++: λ mean(f̃) + mean(Y − λ f), λ of least variance (Angelopoulos et al. 2023); by selection probabilities "
        "(Zrnic & Candès 2024); Rogan-Gladen with the interval of Lee et al. (2025).",
    ),
    "plausibility region": Term(
        "The plausibilities on which the classifier's scores are high enough on average: one side of a straight cut.",
        "{λ : Σ λ_k E(x, k) ≥ τ}, τ the order statistic ⌊α(n + 1)⌋ of the calibration cases (Stutz et al. 2023).",
    ),
    "convergence": Term(
        "Whether the sampler has run long enough: several runs from different starts must tell the same.",
        "Rank-normalised split R-hat ≤ 1.01, bulk and tail effective sample size ≥ 100 a chain, no divergence (Vehtari "
        "et al. 2021).",
    ),
    "case difficulty": Term(
        "Some cases are hard for every rater: errors then come together, which a model without it cannot explain.",
        "Logit of a right annotation = discrimination × (ability − difficulty), with a floor for guessing; effects of "
        "the case integrated by quadrature (Han, Adıgüzel & Carpenter 2024).",
    ),
    "blind read": Term(
        "An opinion given before the others' are seen, so that it is not swayed by them.",
        "Recorded before the reveal; agreement of reads that were open is not evidence on the panel, and is left out.",
    ),
    "region": Term(
        "The shaded part holds 95% of what the truth could plausibly be; the cross is its middle.",
        "95% highest-density region of the posterior renormalised to the three corners, by its exact density.",
    ),
}
