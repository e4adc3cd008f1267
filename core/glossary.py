"""Terms on screen, each in two sentences: one for a clinician, one for a statistician with its source."""

from typing import NamedTuple


class Term(NamedTuple):
    """Entry of the glossary."""

    plainly: str
    exactly: str


GLOSSARY: dict[str, Term] = {
    "without the rater": Term(
        "Does agreement rise without this rater? If so, this rater differs from the others.",
        "The coefficient without the rater minus the coefficient with all raters. Agreement with the other raters is "
        "the share of annotation pairs that agree, with a Wilson interval that uses the effective number of cases.",
    ),
    "machine": Term(
        "An AI model that annotates. It is shown separately from people, and left out of the panel and of the truth "
        "unless you include it.",
        "A rater marked as an AI model, with family and version. It is left out of panels, truth models and held-out "
        "scores.",
    ),
    "alternative annotator test": Term(
        "Can an AI model replace one of the raters? The test compares it with each rater: which of the two agrees "
        "more with the other raters? A model that shares the raters' mistakes also passes.",
        "For each rater, a one-sided t-test of whether the rater wins less often than the model plus ε, with the "
        "Benjamini-Yekutieli correction over raters. The model passes if the winning rate ω is at least ½. ρ is "
        "the mean advantage (Calderon, Reichart & Dror 2025). Intervals are from resampled cases.",
    ),
    "panel of AI raters": Term(
        "How many independent raters are the models worth together? Models that make the same mistakes are worth "
        "only a few raters, and their vote may be no better than the best model.",
        "n_eff = n / (1 + (n − 1) ρ̄), where ρ̄ is the mean φ of the errors of two raters. EM (Dawid & Skene 1979) "
        "estimates the truth from people's annotations and from those of the panel, which counts as a single rater "
        "with an unrestricted confusion matrix. Intervals are from resampled cases.",
    ),
    "reader study": Term(
        "Readers score the same cases in two modalities. Do they perform better with one of them? The interval allows "
        "for variation between readers and between cases, and for errors of a panel that provides the truth.",
        "MRMC: Obuchowski & Rockette (1995) with Hillis' (2007) degrees of freedom, or U-statistics (Gallas 2009). "
        "AUC is the Wilcoxon statistic. Over S draws of the truth, total variance = within + (1 + 1/S) between "
        "(Rubin), with df by Barnard & Rubin (1999).",
    ),
    "quality gate": Term(
        "Requirements for the data, such as agreement of at least 0.6. They are checked each time new data arrive.",
        "Over repeated checks, shares of dated cases have a betting confidence sequence (Waudby-Smith & Ramdas 2024). "
        "Coefficients and other shares have an interval at level 1 − 6 (1 − level) / (π² k²) at check k.",
    ),
    "groups of raters": Term(
        "Do raters of one group, such as a region, differ from the others? Groups with fewer than 8 raters are not "
        "shown.",
        "IRR is α within a group, XRR is 1 − D_o / D_e across groups, and GAI = IRR / XRR (Prabhakaran et al. 2024). "
        "p-values come from permuting the facts about raters within strata of activity, with the Benjamini-Hochberg "
        "correction. Intervals are from resampled raters and cases.",
    ),
    "covariates": Term(
        "Are facts about raters associated with their accuracy, and facts about cases with prevalence and difficulty? "
        "Effects are differences in percentage points.",
        "Difficulty model with covariates (Han, Adıgüzel & Carpenter 2024): logit π_i = b₀ + x_i b, and the log odds "
        "of a correct annotation are μ_z + u_j γ_z + τ e_jz − x_i η − σ ε_i. Effects are average marginal effects. "
        "The mode uses Laplace's approximation, integrated over τ and corrected by short Hamiltonian steps. Holm's "
        "correction covers all effects.",
    ),
    "bradley-terry": Term(
        "Which items do raters prefer? Each item has a strength. The difference between two strengths predicts "
        "how often raters prefer one item to the other.",
        "P(i) ∝ exp(d/2), P(j) ∝ exp(−d/2), P(tie) ∝ ν (Davidson); d = a_r (θ_i − θ_j) + δ s, with the discrimination "
        "a_r of a rater and the advantage δ of the item shown first. Laplace's approximation at the mode, with the "
        "spread of strengths integrated out.",
    ),
    "circular triad": Term(
        "Three items that are preferred in a circle: A to B, B to C, but C to A. Raters with a clear order have "
        "few circular triads. By chance, a quarter of all triads are circular.",
        "d is the number of circular triads among T complete ones; by chance, its mean is T/4 and its variance 3T/16. "
        "ζ = 1 − 24d/(n³ − n) for odd n, "
        "1 − 24d/(n³ − 4n) for even n (Kendall and Babington Smith).",
    ),
    "guideline": Term(
        "Which two classes do raters confuse? If all raters confuse them, change the guideline or merge the "
        "classes. If only one rater does, talk to that rater.",
        "Share of off-diagonal coincidences that involve these two classes. The loss from merging them is the share "
        "of mutual information (of P(z) and the annotation) that merging removes. Percentile intervals, from "
        "resampled cases.",
    ),
    "versions": Term(
        "Does a newer version of the same model agree more with people? On how many cases does its annotation change?",
        "Paired differences of mean S(f, R) over the cases that all versions annotated. Percentile intervals over "
        "cases have level 1 − (1 − level)/m for m comparisons. The share of changed annotations has a Wilson "
        "interval.",
    ),
    "classifier as evidence": Term(
        "A classifier's probabilities are added to the annotations if this improves the prediction of unseen "
        "annotations. They are never used to evaluate the same classifier.",
        "P(z) ∝ π_z^(1 − w) p_f(z | x)^w Π θ^β after the fit. The held-out score determines w, which is 0 unless "
        "the score is better by more than one standard error. Mistakes that the classifier shares with raters "
        "remain undetected.",
    ),
    "equivalent raters": Term(
        "Number of raters who together predict another rater's annotation as well as the model does.",
        "Survey equivalence: the k with c(k) = s_f, where c is the mean score of panels of k raters, interpolated "
        "between whole k (Resnick et al. 2021). Intervals are from resampled cases.",
    ),
    "shared errors": Term(
        "Two raters make the same mistakes. They agree more than their accuracy explains, so together they are "
        "worth less than two independent raters.",
        "Agreement of a pair beyond Σ_z P(z) Σ_k θ_jzk θ_lzk, as a share of the remainder. Raters who copy each "
        "other count once in P(z). p-values come from annotations simulated from the fit, with the "
        "Benjamini-Hochberg correction over pairs. n_eff = n² / Σ max(corr, 0).",
    ),
    "specific agreement": Term(
        "If one rater chooses this class, how often does another rater choose it too?",
        "p_s(k) = Σ n_ik(n_ik − 1) / Σ n_ik(n_i − 1), with a Wilson interval based on the jackknife effective "
        "sample size (Fleiss 1975).",
    ),
    "precision": Term(
        "Width of the interval now, and its expected width with more annotations.",
        "Standard error of SPA for heterogeneous cases from factorial moments: Var_n for n annotations per case, over "
        "new cases or the same cases (Nørregaard & Derczynski, figure 6).",
    ),
    "bootstrap": Term(
        "How much the coefficient would vary with other cases, estimated by resampling your cases.",
        "Percentile interval over resamples of cases. All coefficients use the same resamples, so their differences "
        "have intervals, too (Efron & Tibshirani 1993).",
    ),
    "rater models": Term(
        "Each model makes different assumptions about raters and cases. The checks show which models fit the data "
        "badly.",
        "Latent-class models with the true class summed out. Fitted by EM (one-coin, class-conditional, Dawid-Skene, "
        "t-a-p, ordinal) or as posteriors (Dawid-Skene, hierarchical, ordinal, GLAD, nominal difficulty, the eighteen "
        "difficulty models of Han et al.).",
    ),
    "held-out score": Term(
        "How well a model predicts an unseen annotation from the other annotations of the case. It needs no gold, "
        "but cannot detect mistakes that raters share.",
        "Mean log probability of held-out annotations, with at most one per case in each of five folds. Differences "
        "are paired by annotation, and standard errors are clustered by case. Each model uses its own β. The "
        "prevalence is also raised to the power of β if that improves the score by more than one standard error. These "
        "scores determine the weights in the average of models.",
    ),
    "full posterior": Term(
        "The posterior mode is fast and has no intervals. The full posterior has intervals and can take minutes.",
        "The mode is found by L-BFGS, the posterior by NUTS in a separate process. The sampler has converged if "
        "R-hat ≤ 1.01 and bulk ESS ≥ 400.",
    ),
    "predictive check": Term(
        "Could the model have produced data like these? Outlines show your data; bands show simulated data.",
        "Posterior predictive check with min(p, 1 − p) for each of S statistics. The smallest value is shown, and "
        "the check fails if it is below 0.025/S. This value is not a p-value (Gelman et al. 1996; Han et al., 6.1).",
    ),
    "leave-one-case-out": Term(
        "Which model best predicts the annotations of a new case?",
        "Expected log predictive density for one case with all its annotations, with effects integrated out, computed "
        "by Pareto-smoothed importance sampling (Vehtari, Gelman & Gabry 2017).",
    ),
    "model agreement": Term(
        "Do the models choose the same class? If they differ, the class depends on the assumptions.",
        "Share of cases with the same most likely class, with ties split equally. You can download the mean "
        "total-variation distance.",
    ),
    "gold": Term(
        "Classes known from another source, such as a biopsy. Raters, models and certainty are compared with gold.",
        "Reference classes that are not used in any fit. Shares have Wilson intervals over gold cases, with ties split "
        "equally.",
    ),
    "calibration": Term(
        "If the model gives a probability of 80%, is it correct 8 times out of 10?",
        "Share of gold cases in which the model is correct, by bins of its probability, with Wilson intervals. "
        "Log loss is shown as well.",
    ),
    "soft labels": Term(
        "Probability of each class for training, instead of a single class.",
        "Class probabilities, log-odds and weights. Training on log-odds works best (Han et al., section 5).",
    ),
    "signs": Term(
        "Unusual behaviour of a rater, with evidence. You set how often a careful rater may be flagged by mistake.",
        "The family-wise false-alarm rate covers raters and rules, with Holm's correction within a rule. A rater is "
        "compared with the other raters' annotations of the same cases.",
    ),
    "acceptable": Term(
        "The lowest accuracy you accept. Raters clearly below it are flagged.",
        "By default, the mean accuracy over annotations − 0.10, but at least half-way between this mean and the "
        "accuracy of guessing in proportion to the class shares of all annotations. Flags are the longest list whose "
        "mean P(accuracy ≥ acceptable) stays within the stated false discovery rate. Files and the report sort raters "
        "by expected wrong annotations, n (1 − accuracy).",
    ),
    "follows": Term(
        "How closely a rater's values rise and fall with the true values of the cases: 1 means perfectly, 0 not at "
        "all. Consistently high or low values do not matter.",
        "Correlation with the true score of the case. It is derived from the correlation with the severity-adjusted "
        "mean of the other raters, by Fisher's z and pooling over raters. By default, at least half the mean "
        "correlation of all raters is acceptable. The information per annotation is ρ² / (1 − ρ²). Lost annotations: "
        "n minus the number of the average rater's annotations that carry the same information.",
    ),
    "planning": Term(
        "Simulates the plan many times with annotations like yours, and shows the likely result with its uncertainty.",
        "The truth and, given the truth, raters' confusion matrices are drawn from the average of rater models. Data "
        "are simulated from both. The chart shows the median and an interval over simulations after each step.",
    ),
    "expected gain": Term(
        "How much an annotation is expected to reduce the uncertainty about the class. 1 bit decides between two "
        "equally probable classes.",
        "Mutual information in bits between the class of the case and the rater's annotation, from the class "
        "probabilities and confusion matrices of the average of rater models. Pairs of case and rater are chosen one "
        "by one, starting with the largest gain per cost, at most one per case.",
    ),
    "control chart": Term(
        "The line rises while a rater is less accurate than before. Above the dashed line, chance is an unlikely "
        "explanation.",
        "CUSUM of log-likelihood ratios, or EWMA, against the panel without the rater. The limit comes from random "
        "orders of the rater's own annotations.",
    ),
    "prevalence": Term(
        "Estimated share of each class, corrected for raters' errors.",
        "Distribution π of the latent true class over cases.",
    ),
    "confusion matrix": Term(
        "For each class inferred by the model (row): how often this rater chooses each class (column).",
        "θ[true, annotated] = P(annotated class | true class); rows sum to 1.",
    ),
    "smoothing": Term(
        "Prevents extreme estimates for raters with few annotations.",
        "“None” is maximum likelihood. “Diagonal” is a Dirichlet prior that favours correct annotations. “Pooled” "
        "(default) adds 10 pseudo-annotations per row, distributed as in the confusion matrix of all raters "
        "together. “Empirical” adds as many as the differences between raters suggest.",
    ),
    "restarts": Term(
        "Tries many starting points. If they give different results, the data allow more than one fit.",
        "Random starts, aligned to the start from the majority vote. EM finds only local maxima of the likelihood.",
    ),
    "annotation certainty": Term(
        "Probability that the leading class stays first if more raters like these were asked.",
        "Largest probability, over classes k, that k is the top-1 class of λ, under the posterior of the "
        "plausibilities λ (Stutz et al., eqs 2-6). ± is the Monte Carlo standard error, not the uncertainty about the "
        "model or γ.",
    ),
    "reliability": Term(
        "How much each annotation counts. Low: a few annotations change little. High: annotations are treated "
        "almost as the truth.",
        "γ multiplies the weight of every annotation in the posterior. It is a choice to explore, not an estimate.",
    ),
    "held-out readers": Term(
        "Plurality hides one rater at a time. At which γ do the other raters predict this rater best? This measures "
        "opinions, not the truth.",
        "Mean log predictive probability, for each γ, of a rater's annotation given the other annotations of the case. "
        "γ weights the other annotations; the held-out annotation has weight 1. Differences from the best γ are "
        "paired, and standard errors are clustered by case (as in Grünwald & van Ommen 2017).",
    ),
    "certainty against gold": Term(
        "With gold: is the leading class correct in 9 of 10 cases with a certainty of 90%?",
        "Binary log loss and ECE for each γ, with annotation certainty as the probability that the top-1 class is the "
        "gold class. The best γ is found with five folds over gold cases. Intervals allow for the sampling of cases.",
    ),
    "plausibility": Term(
        "Probability that each class is the true class of this case. Dots show other plausible values.",
        "A point λ of the simplex over classes. Dots are draws from its posterior given the annotations of the case.",
    ),
    "review queue": Term(
        "Cases ordered by how much another opinion matters, according to the criterion that you choose.",
        "Criteria: lowest certainty; gain C1 − max Σ A of one more opinion; nearly equal votes; expected risk × (1 − "
        "certainty); a classifier that contradicts a leading class with certainty ≥ 90%; only one rater.",
    ),
    "risk": Term(
        "Probability that the case has low, medium or high risk, whatever the exact class.",
        "P(level with the largest summed plausibility) and P(level of the top-1 class). Expected risk is Σ "
        "level·plausibility.",
    ),
    "classifier set": Term(
        "Probability that the truth is among the classifier's first guesses.",
        "P(top-1 class of λ ∈ the classifier's top-k set) over the draws of the case.",
    ),
    "top3 accuracy": Term(
        "How often the true class is among the classifier's three best guesses, averaged over draws (simulated "
        "plausible truths).",
        "Uncertainty-adjusted top-k accuracy: mean over cases per draw, then over draws (Stutz et al., eqs 7-12).",
    ),
    "better": Term(
        "Probability that one classifier is better than the other, over draws (simulated plausible truths).",
        "Mean over common draws of P(the row's metric is larger over all cases like these), with ties counted as one "
        "half, on the cases that both predict. Draws cover uncertainty about the truth, and Student's t covers the "
        "sampling of cases.",
    ),
    "alpha": Term(
        "Weight of each class before any annotation.",
        "Dirichlet pseudo-count α of each class. With many classes, α = 1 gives much weight to classes that nobody "
        "chose. If learned, α = s/K, where s maximises the Dirichlet-multinomial likelihood of all cases with two "
        "or more raters.",
    ),
    "more raters": Term(
        "If the number of raters doubled (at least three more), would the case probably become certain?",
        "P(certainty reaches 90% with max(3, n) more raters drawn from the posterior of the case). At 0.5 or more, "
        "more raters would help. At 0.25 or less, they would hardly help (inherent ambiguity).",
    ),
    "p correct": Term(
        "Probability that the class is the true one, from rater models that weight raters by their accuracy.",
        "Posterior probability of the class, averaged over rater models by stacking on held-out annotations.",
    ),
    "benchmark": Term(
        "A conventional word for the size of the coefficient, from poor to almost perfect, and the probability that it "
        "applies.",
        "Share of a normal distribution around the estimate within each band of Landis & Koch (1977), Fleiss (1981)"
        " or Altman (1991), as Gwet (2014, chapter 6) proposes.",
    ),
    "prediction sets": Term(
        "How many classes must a classifier list so that its list contains the truth as often as guaranteed, even if "
        "experts disagree?",
        "Monte Carlo conformal prediction. Labels drawn from the plausibilities at γ calibrate one threshold on the "
        "score. Coverage is at least 1 − α for one label per case (Stutz et al. 2023).",
    ),
    "aggregated coverage": Term(
        "How often the list contains the truth if each class counts in proportion to its plausibility.",
        "Mean over test cases of Σ λ_k over the classes of the set. Voted coverage counts only the majority vote and "
        "is too optimistic (Stutz et al. 2023).",
    ),
    "sample or queue": Term(
        "Cases in a queue were chosen because they are hard. Only a random sample represents all cases.",
        "Poisson sampling with recorded inclusion probabilities. Rates are weighted by inverse probability (Zrnic & "
        "Candès 2024).",
    ),
    "corrected rate": Term(
        "Share of a class among all cases, estimated from an AI model's labels of all cases and people's labels "
        "of some of them. The cases that people label must be a random sample, or have known selection probabilities.",
        "PPI++: λ mean(f̃) + mean(Y − λ f), with the λ that minimises the variance (Angelopoulos et al. 2023). "
        "Alternatives: weights by selection probabilities (Zrnic & Candès 2024), and Rogan-Gladen with the interval "
        "of Lee et al. (2025).",
    ),
    "plausibility region": Term(
        "Plausibilities at which the classifier's mean score reaches a threshold. On the triangle, a straight line "
        "bounds the region.",
        "{λ : Σ λ_k E(x, k) ≥ τ}, where τ is the order statistic ⌊α(n + 1)⌋ of the calibration cases (Stutz et al. "
        "2023).",
    ),
    "convergence": Term(
        "Has the sampler run long enough? Runs from different starts must give the same result.",
        "The sampler has converged if rank-normalised split R-hat is at most 1.01, bulk and tail effective sample "
        "sizes are at least 100 per chain, and there are no divergences (Vehtari et al. 2021).",
    ),
    "case difficulty": Term(
        "Some cases are hard for every rater, so errors occur together. A model without difficulty cannot explain "
        "this.",
        "The log odds of a correct annotation are discrimination × (ability − difficulty), with a lower bound for "
        "guessing. Case effects are integrated out by quadrature (Han, Adıgüzel & Carpenter 2024).",
    ),
    "blind read": Term(
        "An opinion given before the other annotations are shown, so they cannot influence it.",
        "Opinions are recorded before the panel is revealed. Opinions that were not blind are left out of agreement "
        "with the panel, because the panel may have influenced them.",
    ),
    "region": Term(
        "The shaded area contains 95% of the plausible truths. The cross is the mean.",
        "95% highest-density region of the posterior, renormalised to the three corners, by its exact density.",
    ),
}
