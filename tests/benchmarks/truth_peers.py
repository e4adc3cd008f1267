"""Crowd-kit's class probabilities of one crowd; run by `truth_inference.py` in an environment that has crowd-kit.

Run: python tests/benchmarks/truth_peers.py IN.npz OUT.npz. IN holds case, rater, annotation (integer codes) and
n_classes; OUT a table of probabilities, shape (n_cases, n_classes), for each method, and seconds_… of each.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from crowdkit.aggregation import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene

METHODS = {
    "majority": MajorityVote,
    "dawid-skene": lambda: DawidSkene(n_iter=100),
    "one-coin": lambda: OneCoinDawidSkene(n_iter=100),
    "glad": lambda: GLAD(n_iter=100),
    "mace": MACE,
}


def main(source: str, target: str) -> None:
    """Every method on the crowd."""
    warnings.simplefilter("ignore")
    crowd = np.load(source)
    n_cases, n_classes = int(crowd["case"].max()) + 1, int(crowd["n_classes"])
    table = pd.DataFrame({"task": crowd["case"], "worker": crowd["rater"], "label": crowd["answer"]})
    table = table.drop_duplicates(["task", "worker"])
    found = {}
    for name, make in METHODS.items():
        began = time.process_time()
        shares = make().fit_predict_proba(table)
        found[f"seconds_{name}"] = np.array(time.process_time() - began)
        whole = shares.reindex(index=range(n_cases), columns=range(n_classes)).fillna(0.0)
        found[name] = whole.to_numpy(float)
    np.savez(target, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
