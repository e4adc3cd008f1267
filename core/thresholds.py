"""All thresholds of sentences, each once, with the sentence that depends on it.

All are shares or probabilities, 0 to 1, except `LEAST_GOLD`.
"""

# Cases and panels. The certainty of a case says whether its leading class would stay first; the posterior probability
# of a class says whether it is true. Each has bars of its own.
UNCERTAIN_BELOW = 0.9  # "122 of 400 cases are uncertain": certainty of the leading class
PANEL_DECIDED = 0.8  # "The panel is decided": certainty of the leading class, of a case with two raters or more
PLAUSIBLE_SET = 0.95  # "Plausible: A or B": what the classes of the set have together
CLEAR_CASE = 0.9  # "The other raters are certain of the case": probability of a class by them
TIE_DECIDED = 0.9  # "Weighting the raters decides 10 ties": posterior probability of a class of a tied case
CERTAIN_LEVELS = (0.5, 0.9, 0.99)  # "Below 0.5, 0.9, 0.99": columns of tables
HELPS = 0.5  # "More raters would help": P(certainty reaches the bar) with as many more raters, at least three
HARDLY_HELPS = 0.25  # "More raters would hardly help": the same
PROBABLY_WRONG = 0.5  # "P(correct) below 50%": posterior probability of the leading class
NUMBERS_DIFFER = 0.2  # "much lower than certainty": difference of P(correct) and certainty
SHARED_MISTAKES_BELOW = 0.7  # "Raters make similar mistakes": β, how far the annotations of a case are independent

# Comparisons.
CLEARLY_AHEAD = 0.95  # "A leads": probability that it is ahead of each other one, or that a machine passes a test
FEW_COMPARISONS = 10  # "Raters made 6.0 comparisons each on average": fewer make probabilities over 90% too high
INTERVAL_LEVEL = 0.95  # "56% (52% to 59%)"
LEAST_GOLD = 100  # "Gold decides where γ opens": cases with gold
NEARLY_CERTAIN = 0.99  # "Of classes with a probability of 0.99, so many are right"

# Raters.
ONE_CLASS_FLAGGED = 0.9  # "Named A in 45 of 50 annotations": share of one class from which a rater is flagged
ONE_CLASS_ONLY = 0.95  # "Most raters give one class": share of one class from which a rater counts as such

# Guidelines.
CLASSES_TOLD_APART = 0.667  # "Raters tell the two classes apart": α of the annotations that are of one of them
LITTLE_INFORMATION = 0.05  # "A merger loses little": share of the information about the truth, end of its interval

# The guided story.
DISAGREE_BELOW = 0.8  # "Their annotations cannot all be right": agreement of two raters
TWO_TRUTHS = 0.35  # "This case has two plausible truths": share of draws in which the second class leads
