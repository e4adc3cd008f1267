"""Reader studies made by a generator: Roe & Metz's model of scores, and a panel that errs."""

import numpy as np

from core.studies.study import UNKNOWN_TRUTH, ReadingStudy

# Variances of reader, reader × modality; case, case × modality, case × reader and the rest, which add up to 1.
VARIANCES = (0.05, 0.05, 0.3, 0.2, 0.2, 0.3)


def true_auc(shift, variances=VARIANCES):
    """AUC of a modality over all readers and cases."""
    from scipy.special import ndtr

    return ndtr(np.asarray(shift) / np.sqrt(2 * sum(variances)))


def roe_metz(rng, n_readers=5, n_cases=200, shifts=(1.2, 1.6), variances=VARIANCES, prevalence=0.5):
    """Scores (modalities, readers, cases) and the truth [Roe & Metz 1997, DOI 10.1016/S1076-6332(97)80210-3]."""
    reader, interaction, case, by_modality, by_reader, rest = np.sqrt(variances)
    truth = (rng.permutation(n_cases) < round(prevalence * n_cases)).astype(np.int8)
    shape = (len(shifts), n_readers, n_cases)
    scores = np.multiply.outer(np.asarray(shifts), truth.astype(float))[:, None] + rng.normal(0, rest, shape)
    scores += rng.normal(0, case, n_cases)
    scores += rng.normal(0, by_modality, (len(shifts), 1, n_cases)) + rng.normal(0, by_reader, (1, n_readers, n_cases))
    of_readers = rng.normal(0, reader, (1, n_readers, 2)) + rng.normal(0, interaction, (len(shifts), n_readers, 2))
    return scores + of_readers[:, :, truth], truth


def opinions(rng, truth, accuracies):
    """Opinions of panellists who are correct on a share of cases each."""
    return np.stack([np.where(rng.random(len(truth)) < share, truth, 1 - truth) for share in accuracies]).astype(
        np.int8
    )


def study_of(scores, truth=None, panel=None):
    """A study with names by position."""
    names = (tuple(f"{letter}{place + 1}" for place in range(n)) for letter, n in zip("MRC", scores.shape, strict=True))
    return ReadingStudy(scores, *names, truth, panel)


def as_imrmc(study):
    """The study in the text format of iMRMC, cases of unknown truth without a row of truth."""
    lines = ["Made by a generator", "NR: 5, N0 and N1: see below", "BEGIN DATA:"]
    lines += [
        f"truth,{case},truth,{truth}"
        for case, truth in zip(study.cases, study.truth, strict=True)
        if truth != UNKNOWN_TRUTH
    ]
    lines += [
        f"{reader},{case},{modality},{score!r}"
        for modality, by_reader in zip(study.modalities, study.scores.tolist(), strict=True)
        for reader, by_case in zip(study.readers, by_reader, strict=True)
        for case, score in zip(study.cases, by_case, strict=True)
        if score == score
    ]
    return ("\n".join(lines) + "\n").encode()
