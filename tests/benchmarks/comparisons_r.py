"""Strengths and ties of paired comparisons by R packages on 20 random sets, for `tests/core/models/r_strengths.json`.

BradleyTerry2 (Turner and Firth 2012) fits sets without ties, psychotools (Zeileis et al.) Davidson's model with ties.
Needs R with both packages; the test that reads the file does not.

python -m tests.benchmarks.comparisons_r
"""

import json
import subprocess
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np

RECORD = Path(__file__).parents[1] / "core" / "models" / "r_strengths.json"
_SCRIPT = r"""
suppressMessages({library(BradleyTerry2); library(psychotools)})
folder <- commandArgs(TRUE)[1]
for (k in 0:19) {
  d <- read.csv(file.path(folder, paste0(k, ".csv")))
  m <- max(d$second) + 1
  if (sum(d$tied) == 0) {
    one <- factor(d$first, 0:(m - 1)); two <- factor(d$second, 0:(m - 1))
    fit <- BTm(cbind(d$won, d$lost), one, two)
    strength <- c(0, coef(fit)); nu <- NA; se <- sqrt(vcov(fit)[1, 1])
  } else {
    d <- d[order(d$second, d$first), ]  # as psychotools orders pairs
    rows <- matrix(NA, 3 * nrow(d), nrow(d)); w <- c()
    for (p in seq_len(nrow(d))) for (o in 1:3) {
      rows[3 * (p - 1) + o, p] <- c(1, 0, -1)[o]; w <- c(w, c(d$won[p], d$tied[p], d$lost[p])[o])
    }
    fit <- btmodel(paircomp(rows, labels = paste0("i", 0:(m - 1))), weights = w, type = "loglin", undecided = TRUE)
    own <- coef(fit); nu <- unname(exp(own["(undecided)"])); own <- own[names(own) != "(undecided)"]
    strength <- c(own, 0); se <- NA
  }
  cat(paste(c(strength, nu, se), collapse = " "), "\n")
}
"""


def sets() -> list[list[list[int]]]:
    """Return 20 sets of rows (first, second, won, tied, lost); the last ten have ties."""
    found = []
    for k in range(20):
        rng = np.random.default_rng([k, 2026])
        m = int(rng.integers(3, 9))
        strength, nu = rng.normal(0, 1, m), 0.0 if k < 10 else float(rng.uniform(0.3, 1.5))
        rows = []
        for i, j in combinations(range(m), 2):
            half = (strength[i] - strength[j]) / 2
            chance = np.array([np.exp(half), nu, np.exp(-half)])
            won, tied, lost = rng.multinomial(rng.integers(8, 30), chance / chance.sum())
            rows.append([i, j, int(won) + 1, int(tied), int(lost) + 1])  # so that the largest likelihood is finite
        found.append(rows)
    return found


def main() -> None:
    """Write what R estimates, with the sets."""
    every = sets()
    with tempfile.TemporaryDirectory() as folder:
        for k, rows in enumerate(every):
            lines = ["first,second,won,tied,lost", *(",".join(map(str, row)) for row in rows)]
            (Path(folder) / f"{k}.csv").write_text("\n".join(lines) + "\n")
        (Path(folder) / "fit.R").write_text(_SCRIPT)
        done = subprocess.run(["Rscript", f"{folder}/fit.R", folder], check=True, capture_output=True, text=True)
    records = []
    for rows, line in zip(every, done.stdout.splitlines(), strict=True):
        *strength, nu, se = (None if part == "NA" else round(float(part), 8) for part in line.split())
        records.append({"rows": rows, "strength": strength, "nu": nu, "se": se})
    text = json.dumps({"by": "BradleyTerry2 1.1-2 and psychotools 0.7-2 on R 4.2.2", "sets": records})
    RECORD.write_text(text.replace('{"rows"', '\n{"rows"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
