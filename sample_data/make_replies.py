"""Make the `replies` sample: simulated judgements of replies by six people and four machines, with known truth.

Running it again writes the same files, byte for byte: ``python sample_data/make_replies.py``.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 7
N_CASES, N_READ = 900, 260
CLASSES, PREVALENCE = ("correct", "incomplete", "misleading", "unsafe"), (0.52, 0.24, 0.16, 0.08)
TOPICS, TOPIC_SHARES = ("orders", "payments", "accounts"), (0.45, 0.3, 0.25)
# What a class is taken for where somebody is wrong: row true, column given.
MISTAKEN = np.array([[0, 6, 3, 1], [4, 0, 5, 1], [3, 5, 0, 2], [1, 2, 7, 0]], float)
HARD_SHARE, HARD = 0.3, 0.35  # of the cases, and how much of what somebody is better than chance is left there


@dataclass(frozen=True)
class Judge:
    """How often somebody is right on an easy case, by topic."""

    name: str
    right: tuple[float, float, float]


PEOPLE = tuple(
    Judge(f"reader {number}", (right,) * 3) for number, right in enumerate((0.9, 0.87, 0.86, 0.84, 0.81, 0.78), start=1)
)
# Two versions of one model: what one is wrong on, the other mostly is wrong on too, in the same way.
OLD, NEW, SHARED = Judge("lyra-1", (0.8, 0.74, 0.74)), Judge("lyra-2", (0.84, 0.66, 0.8)), 0.75
STEADY = Judge("steady", (0.93, 0.92, 0.9))
BRASH = Judge("brash", (0.64, 0.6, 0.58))
MACHINES = {"lyra-1": ("Lyra", "1"), "lyra-2": ("Lyra", "2")}  # family and version


def main():
    """Write the files beside this one."""
    rng = np.random.default_rng(SEED)
    truth = rng.choice(len(CLASSES), N_CASES, p=PREVALENCE)
    topic = rng.choice(len(TOPICS), N_CASES, p=TOPIC_SHARES)
    ease = np.where(rng.random(N_CASES) < HARD_SHARE, HARD, 1.0)
    read = np.sort(rng.choice(N_CASES, N_READ, replace=False))  # a simple random sample: people read no others
    said = {person.name: (read[rng.random(N_READ) < 0.92], given(rng, person, truth, topic, ease)) for person in PEOPLE}
    everything = np.arange(N_CASES)
    # The family's own reading of a case, which both versions follow on most cases.
    old, new = family(rng, truth, topic, ease)
    said |= {OLD.name: (everything, old), NEW.name: (everything, new)}
    folder = Path(__file__).parent / "replies"
    folder.mkdir(exist_ok=True)
    names = [f"reply-{number:03d}" for number in range(1, N_CASES + 1)]
    rows = []
    for name, (cases, one) in said.items():
        about = ("machine", *MACHINES[name]) if name in MACHINES else ("person", "", "")
        rows += [(names[case], name, *about, CLASSES[one[case]]) for case in cases]
    rows.sort(key=lambda row: row[0])
    write(folder / "annotations.csv", ("case", "rater", "rater_type", "family", "version", "class"), rows)
    write(folder / "classes.csv", ("class",), [(name,) for name in CLASSES])
    write(folder / "cases.csv", ("case", "group"), [(name, TOPICS[t]) for name, t in zip(names, topic, strict=True)])
    write(folder / "truth.csv", ("case", "class"), [(name, CLASSES[k]) for name, k in zip(names, truth, strict=True)])
    predicted = []
    for judge, share in ((STEADY, probabilities_of_steady), (BRASH, probabilities_of_brash)):
        first = given(rng, judge, truth, topic, ease)
        table = share(rng, first, ease)
        for case, name in enumerate(names):
            order = np.argsort(-table[case], kind="stable")
            predicted += [(judge.name, name, CLASSES[k], f"{table[case, k]:.4f}") for k in order]
    write(folder / "predictions.csv", ("classifier", "case", "class", "score"), predicted)


def given(rng, judge, truth, topic, ease):
    """A class for every case."""
    right = 0.25 + ease * (np.array(judge.right)[topic] - 0.25)
    return np.where(rng.random(N_CASES) < right, truth, mistaken(rng, truth))


def mistaken(rng, truth):
    """A wrong class for every case."""
    steps = np.cumsum(MISTAKEN / MISTAKEN.sum(axis=1, keepdims=True), axis=1)
    return (rng.random(N_CASES)[:, None] > steps[truth]).sum(axis=1)


def family(rng, truth, topic, ease):
    """What both versions of a model say: of one luck and one wrong class on most cases."""
    luck, wrong = rng.random(N_CASES), mistaken(rng, truth)
    found = []
    for judge in (OLD, NEW):
        own = rng.random(N_CASES) >= SHARED
        right = 0.25 + ease * (np.array(judge.right)[topic] - 0.25)
        lucky = np.where(own, rng.random(N_CASES), luck) < right
        found.append(np.where(lucky, truth, np.where(own, mistaken(rng, truth), wrong)))
    return found


def probabilities_of_steady(rng, first, ease):
    """As sure as it is right: less on hard cases."""
    top = np.where(ease < 1, rng.uniform(0.35, 0.65, N_CASES), rng.uniform(0.74, 0.86, N_CASES))
    return spread(rng, first, top)


def probabilities_of_brash(rng, first, ease):
    """Sure of everything."""
    return spread(rng, first, rng.uniform(0.96, 0.995, N_CASES))


def spread(rng, first, top):
    """Probabilities with ``top`` on the first class and the rest at random on the others, to four digits."""
    rest = rng.dirichlet(np.full(len(CLASSES), 2.0), N_CASES)
    rest[np.arange(N_CASES), first] = 0
    table = rest / rest.sum(axis=1, keepdims=True) * (1 - top)[:, None]
    table[np.arange(N_CASES), first] = top
    return np.round(table, 4)


def write(path, header, rows):
    """A table: UTF-8, commas, LF."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
