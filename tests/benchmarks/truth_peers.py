"""Crowd-kit's class probabilities of one crowd; run by `truth_inference.py` in an environment that has crowd-kit.

Run: python tests/benchmarks/truth_peers.py METHOD LIMIT IN.npz OUT.npz. IN has case, rater, annotation (integer codes)
and n_classes; OUT has the probabilities, shape (n_cases, n_classes), and CPU seconds. The system ends the process after
LIMIT CPU seconds.
"""

import resource
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


def main(method: str, limit: str, source: str, target: str) -> None:
    """Run one method on the crowd."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    warnings.simplefilter("ignore")
    crowd = np.load(source)
    n_cases, n_classes = int(crowd["case"].max()) + 1, int(crowd["n_classes"])
    table = pd.DataFrame({"task": crowd["case"], "worker": crowd["rater"], "label": crowd["answer"]})
    table = table.drop_duplicates(["task", "worker"])
    began = time.process_time()
    shares = METHODS[method]().fit_predict_proba(table)
    seconds = time.process_time() - began
    whole = shares.reindex(index=range(n_cases), columns=range(n_classes)).fillna(0.0)
    np.savez(target, probability=whole.to_numpy(float), seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
