"""Make the `skin` sample: simulated differential diagnoses of invented skin conditions, with known truth.

Running it again writes the same files, byte for byte: ``python sample_data/make_skin.py``.
"""

import csv
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

# Among seeds tried, one where chance alone makes no honest rater look as if they drifted.
SEED = 395
N_CASES = 400
FIRST_DAY, LAST_DAY, DRIFT_DAY = date(2024, 1, 8), date(2025, 6, 30), date(2024, 11, 11)
SITES = ("clinic north", "clinic south", "clinic east")
FAMILY_SIZE = 5
RISK_NAMES = {"L": "low", "M": "medium", "H": "high"}

# Twelve families of look-alikes, none a real diagnosis; the letters are the risk levels of the five members.
FAMILIES = (
    ("LLMLH", "Pearly lumelloma", "Dusky lumelloma", "Stalked lumelloma", "Hollow vascoma", "Bleeding vascoma"),
    ("LLLML", "Branny tesserosis", "Silvery tesserosis", "Winter tesserosis", "Creeping squamella", "Pale squamella"),
    ("LMLLM", "Weeping vesperitis", "Crusted vesperitis", "Dry vesperitis", "Cracked eczella", "Coin eczella"),
    ("LLMHH", "Inkspot naevellum", "Speckled naevellum", "Blotched naevellum", "Ragged melanura", "Quick melanura"),
    ("LLMLM", "Itching prurella", "Nightly prurella", "Nettle prurella", "Wheal urticora", "Deep urticora"),
    ("LMMHL", "Tense bullaria", "Flaccid bullaria", "Grouped bullaria", "Peeling pemphora", "Clear pemphora"),
    ("LLLML", "Plugged pilarosis", "Rough pilarosis", "Beard pilarosis", "Scarring comedella", "Young comedella"),
    ("LLMLH", "Spider angiella", "Cherry angiella", "Netlike angiella", "Brief purpurosis", "Spreading purpurosis"),
    ("LLLLM", "Ring mycerosis", "Damp mycerosis", "Powdery mycerosis", "Footweb tinella", "Scalp tinella"),
    ("MMHLH", "Punched ulcerella", "Sloping ulcerella", "Undermined ulcerella", "Shallow erosura", "Hard erosura"),
    ("LMLLM", "Flat lichenora", "Violet lichenora", "Shiny lichenora", "Thready morphella", "Banded morphella"),
    ("LLMHH", "Rosy exanthura", "Fine exanthura", "Target exanthura", "Mottled livedura", "Dark livedura"),
)
CLASSES = tuple(name for family in FAMILIES for name in family[1:])
RISKS = tuple(RISK_NAMES[letter] for family in FAMILIES for letter in family[0])
FAVOURITES, FAVOURITE_SHARES = ("Dry vesperitis", "Branny tesserosis", "Ring mycerosis"), (0.5, 0.3, 0.2)


@dataclass(frozen=True)
class Rater:
    """How one rater annotates.

    `skill` multiplies the evidence before noise is added; `width` is how far behind the best class another one
    may lie and still be listed; `workload` weighs how often the rater is asked; `careless` is the share of cases
    annotated without looking; `drifts` marks the rater whose skill declines from `DRIFT_DAY`.
    """

    name: str
    skill: float
    width: float
    workload: float = 1.0
    careless: float = 0.0
    drifts: bool = False


RATERS = (
    Rater("R01", 1.20, 1.6, 1.2),
    Rater("R02", 0.72, 2.0),
    Rater("R03", 1.00, 1.4),
    Rater("R04", 1.15, 1.7, 1.3, drifts=True),
    Rater("R05", 0.62, 1.8, 0.9),
    Rater("R06", 0.90, 2.2),
    Rater("R07", 0.95, 0.15, 1.1, careless=0.42),
    Rater("R08", 1.05, 1.2, 0.8),
    Rater("R09", 0.80, 1.5),
    Rater("R10", 0.57, 1.9, 0.8),
    Rater("R11", 0.95, 2.0, 1.1),
    Rater("R12", 0.85, 1.3, 0.8),
)


@dataclass(frozen=True)
class Case:
    """One case: `evidence` (shape (n_classes,), log scale, 0 for the best class) is what every rater sees of it."""

    name: str
    site: str
    day: date
    truth: int
    ambiguous: bool
    evidence: np.ndarray


@dataclass(frozen=True)
class Classifier:
    """How one simulated classifier scores a case.

    `first` is the share of cases where it picks up the panel's first choice, `others` the chance that it picks up
    each other class of the panel's differential, `family` its pull towards look-alikes of the true condition.
    """

    name: str
    first: float
    others: float
    family: float


# A repeats the first choice of the panel and guesses the rest; B knows the differential, and misses more first choices.
CLASSIFIERS = (
    Classifier("A", 0.96, 0.04, 0.0),
    Classifier("B", 0.82, 0.84, 0.5),
    Classifier("C", 0.74, 0.26, 0.5),
    Classifier("D", 0.71, 0.16, 0.4),
)


def make_cases(rng):
    """Cases in order of arrival; every fifth on average has a second condition that is as plausible as the truth."""
    n_classes = len(CLASSES)
    prevalence = (np.arange(n_classes) + 4.0) ** -0.7
    prevalence = rng.permutation(prevalence)
    # Someone who guesses favourites guesses common conditions, else their accuracy alone would give them away.
    for favourite in FAVOURITES:
        prevalence[CLASSES.index(favourite)] = 0.3
    prevalence /= prevalence.sum()
    n_days = (LAST_DAY - FIRST_DAY).days
    arrivals = np.sort(rng.integers(0, n_days - 13, size=N_CASES))
    cases = []
    for number, arrival in enumerate(arrivals, start=1):
        truth = int(rng.choice(n_classes, p=prevalence))
        ambiguous = bool(rng.random() < 0.2)
        cases.append(
            Case(
                name=f"skin-{number:03d}",
                site=SITES[rng.choice(3, p=(0.45, 0.35, 0.2))],
                day=FIRST_DAY + timedelta(days=int(arrival)),
                truth=truth,
                ambiguous=ambiguous,
                evidence=case_evidence(rng, truth, ambiguous),
            )
        )
    return cases


def case_evidence(rng, truth, ambiguous):
    """Log evidence for each class: the truth at 0, its look-alikes behind by the gap of the case, others far behind."""
    n_classes = len(CLASSES)
    start = truth // FAMILY_SIZE * FAMILY_SIZE
    look_alikes = [k for k in range(start, start + FAMILY_SIZE) if k != truth]
    # One stranger per case: confusions do not stop at the border of a family.
    stranger = (start + FAMILY_SIZE + int(rng.integers(n_classes - FAMILY_SIZE))) % n_classes
    evidence = np.full(n_classes, -np.inf)
    gap = rng.uniform(2.4, 5.2)
    for k in [*look_alikes, stranger]:
        evidence[k] = -gap * rng.uniform(0.7, 1.3)
    if ambiguous:
        evidence[rng.choice([*look_alikes, stranger])] = -rng.uniform(0.0, 0.3)
    evidence[truth] = 0.0
    return evidence


def skill_on(rater, day):
    """Skill of a rater on a day."""
    if not rater.drifts or day < DRIFT_DAY:
        return rater.skill
    progress = (day - DRIFT_DAY).days / (LAST_DAY - DRIFT_DAY).days
    return rater.skill * max(0.08, 0.7 - progress)


def answer(rng, rater, case, day):
    """Return the annotation of one case by one rater: blocks of tied classes, most likely first."""
    if rng.random() < rater.careless:
        return [[CLASSES.index(rng.choice(FAVOURITES, p=FAVOURITE_SHARES))]]
    seen = np.flatnonzero(np.isfinite(case.evidence))
    utility = skill_on(rater, day) * case.evidence[seen] + rng.gumbel(size=len(seen))
    # A slip of attention: now and then a condition that has nothing to do with the case looks right.
    if rng.random() < 0.04:
        slip = int(rng.integers(len(CLASSES)))
        seen, utility = np.append(seen[seen != slip], slip), np.append(utility[seen != slip], utility.max())
    order = np.argsort(-utility)
    blocks = [[int(seen[order[0]])]]
    n_listed = 1
    for before, here in pairwise(order):
        if utility[order[0]] - utility[here] > rater.width or n_listed == 5:
            break
        # Further down the list raters no longer take the trouble to tell classes apart.
        tie_width = 0.18 if len(blocks) == 1 else 0.55
        if utility[before] - utility[here] < tie_width:
            blocks[-1].append(int(seen[here]))
        elif len(blocks) < 4:
            blocks.append([int(seen[here])])
        else:
            break
        n_listed += 1
    return blocks


def reading_day(rng, case):
    """Draw a working day within some six weeks of the arrival of the case, not after the end of the study."""
    latest = min(40, (LAST_DAY - case.day).days)
    day = case.day + timedelta(days=int(rng.integers(0, latest + 1)))
    if day.weekday() > 4:
        day -= timedelta(days=day.weekday() - 4)
    return day


def annotate(rng, cases):
    """Annotations as (case, rater, day, blocks), ordered by case, then day, then rater."""
    workload = np.array([rater.workload for rater in RATERS])
    panel_sizes = rng.choice(np.arange(2, 9), size=N_CASES, p=(0.10, 0.16, 0.20, 0.20, 0.17, 0.11, 0.06))
    answers = []
    for case, size in zip(cases, panel_sizes, strict=True):
        panel = rng.choice(len(RATERS), size=size, replace=False, p=workload / workload.sum())
        readings = sorted((reading_day(rng, case), int(r)) for r in panel)
        answers.extend((case, RATERS[r], day, answer(rng, RATERS[r], case, day)) for day, r in readings)
    return answers


def inverse_rank_weights(answers):
    """Weights of the classes of each case, shape (n_cases, n_classes): 1/rank summed over raters, rows sum to 1."""
    weights = np.zeros((N_CASES, len(CLASSES)))
    for case, _, _, blocks in answers:
        row = int(case.name.removeprefix("skin-")) - 1
        for rank, block in enumerate(blocks, start=1):
            weights[row, block] += 1 / (rank * len(block))
    return weights / weights.sum(axis=1, keepdims=True)


def predict(rng, classifier, cases, weights):
    """Scores of one classifier: rows (case name, class code, score in ten-thousandths), ten classes per case."""
    # Exact shares instead of coin flips keep the quality of the four classifiers where their parameters put it.
    picks_first = rng.permutation(N_CASES) < round(classifier.first * N_CASES)
    for case, case_weights, picked_first in zip(cases, weights, picks_first, strict=True):
        for k, unit in zip(*scores(rng, classifier, case_weights, case.truth, picked_first), strict=True):
            yield case.name, k, unit


def scores(rng, classifier, weights, truth, picked_first):
    """Top ten classes of one case with their scores in ten-thousandths, strictly decreasing.

    `weights`, shape (n_classes,), are the inverse rank weights of the panel on this case.
    """
    logits = rng.normal(0.0, 0.6, size=len(CLASSES))
    start = truth // FAMILY_SIZE * FAMILY_SIZE
    logits[start : start + FAMILY_SIZE] += classifier.family
    ranked = np.flatnonzero(weights)
    consensus = int(np.argmax(weights))
    picked_up = np.where(ranked == consensus, picked_first, rng.random(len(ranked)) < classifier.others)
    logits[ranked[picked_up]] += 2.5 + 2.5 * weights[ranked[picked_up]] / weights[consensus]
    top = np.argsort(-logits)[:10]
    shares = np.exp(logits[top]) / np.exp(logits).sum()
    units = np.floor(shares * 9900).astype(int)
    # Rounding must not make a tie: a first choice is always a first choice.
    units[-1] = max(units[-1], 1)
    for place in range(len(units) - 2, -1, -1):
        units[place] = max(units[place], units[place + 1] + 1)
    return top, units


def write_csv(path, header, rows):
    """Write rows as UTF-8 with LF line ends on every system."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    """Write the files of the sample into the folder `skin` beside this script."""
    rng = np.random.default_rng(SEED)
    cases = make_cases(rng)
    answers = annotate(rng, cases)
    weights = inverse_rank_weights(answers)
    folder = Path(__file__).parent / "skin"
    folder.mkdir(exist_ok=True)
    write_csv(folder / "classes.csv", ("class", "risk"), zip(CLASSES, RISKS, strict=True))
    write_csv(folder / "cases.csv", ("case", "group"), ((case.name, case.site) for case in cases))
    write_csv(folder / "truth.csv", ("case", "class"), ((case.name, CLASSES[case.truth]) for case in cases))
    annotation_rows = (
        (case.name, rater.name, day.isoformat(), rank, CLASSES[k])
        for case, rater, day, blocks in answers
        for rank, block in enumerate(blocks, start=1)
        for k in block
    )
    write_csv(folder / "annotations.csv", ("case", "rater", "time", "rank", "class"), annotation_rows)
    prediction_rows = (
        (classifier.name, case_name, CLASSES[k], f"{unit / 10_000:.4f}")
        for classifier in CLASSIFIERS
        for case_name, k, unit in predict(rng, classifier, cases, weights)
    )
    write_csv(folder / "predictions.csv", ("classifier", "case", "class", "score"), prediction_rows)


if __name__ == "__main__":
    main()
