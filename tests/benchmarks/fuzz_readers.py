"""Thousands of broken files through all readers. Run: python tests/benchmarks/fuzz_readers.py [20000] [seed].

Prints how many became datasets and how many the project's own error; any other exception, a file that takes over 10 s
of CPU, or a peak over 1 GB is a fault, printed with its seed, and the exit status is 1.
"""

import random
import resource
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.core.ingest.mutants import mutant
from tests.core.ingest.test_fuzz import read_all

SLOWEST, LARGEST = 10.0, 1.0


def main(n_files: int, first_seed: int) -> int:
    """Read that many; 0 where no fault was found."""
    found: Counter[str] = Counter()
    slowest, faults = (0.0, -1), []
    for seed in range(first_seed, first_seed + n_files):
        rng = random.Random(seed)
        files = mutant(rng)
        started = time.process_time()
        try:
            found["dataset" if read_all(files, rng) else "own error"] += 1
        except Exception:
            found["fault"] += 1
            faults.append(seed)
            if len(faults) <= 5:
                print(f"seed {seed}:", traceback.format_exc(limit=-4), sep="\n")
        slowest = max(slowest, (time.process_time() - started, seed))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"{n_files:,} files: {dict(found)}; slowest {slowest[0]:.2f} CPU s (seed {slowest[1]}); peak {peak:.2f} GB")
    if faults:
        print(f"faults at seeds {faults[:20]}")
    return int(bool(faults) or slowest[0] > SLOWEST or peak > LARGEST)


if __name__ == "__main__":
    arguments = [int(text) for text in sys.argv[1:]]
    sys.exit(main(*(arguments + [20_000, 0][len(arguments) :])))
