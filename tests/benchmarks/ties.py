"""What a fraction of a copy costs the Plackett-Luce sampler where classes are tied: python tests/benchmarks/ties.py.

For each pattern of ties the CPU milliseconds of a case (500 + 1,000 draws, one core, median of five) at a whole
reliability, at one half more and at the next whole one; the share of proposals that are taken; effective draws per CPU
second. Target: one half more costs at most twice the next whole one, for every block up to 16 classes.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core import Dataset
from core.plausibility.plackett_luce._gibbs_kernels import effective_draws, gibbs
from core.plausibility.plackett_luce.blocks import case_blocks, ranking_entries

N_CLASSES, N_BURN, N_DRAWS = 40, 500, 1_000


def patterns(most: int) -> dict[str, list[list[list[int]]]]:
    """Annotations of a case, by what is tied in them: one block of each size, and several blocks and raters."""
    one = {f"{size} tied": [[list(range(size))]] for size in range(2, most + 1)}
    return one | {
        "1, then 10": [[[0], list(range(1, 11))]],
        "10, then 1": [[list(range(10)), [10]]],
        "4, then 12": [[list(range(4)), list(range(4, 16))]],
        "12, then 4": [[list(range(12)), list(range(12, 16))]],
        "16 and 9 by two": [[list(range(16))], [list(range(9, 18))]],
        "10, 12 and 8 by three": [[list(range(10))], [list(range(4, 16))], [list(range(8, 16))]],
    }


def measured(annotations: list, reliability: float, repeats: int) -> tuple[float, float, float]:
    """CPU milliseconds, share of proposals taken, effective draws."""
    case = np.zeros(len(annotations), np.int32)
    entries = [(code, rank) for blocks in annotations for rank, block in enumerate(blocks) for code in block]
    sizes = [sum(map(len, blocks)) for blocks in annotations]
    dataset = Dataset.from_rankings(
        "ties", ["case"], [f"rater {n}" for n in range(len(annotations))], [f"class {k}" for k in range(N_CLASSES)],
        case, np.arange(len(annotations), dtype=np.int32), np.concatenate([[0], np.cumsum(sizes)]),
        np.array([code for code, _ in entries]), np.array([rank for _, rank in entries], float),
    )  # fmt: skip
    blocks = case_blocks(dataset, 0, ranking_entries(dataset))
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        share, _, _, taken = gibbs(
            np.uint32(1), blocks.rater_ptr, blocks.block_ptr, blocks.member, blocks.weight(reliability),
            len(blocks.classes), blocks.n_rest, 1.0, N_BURN, N_DRAWS, 1, 3,
        )  # fmt: skip
        seconds.append(time.process_time() - started)
    return 1e3 * float(np.median(seconds)), taken, effective_draws(share)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--whole", default="1,3", help="whole reliabilities, separated by commas")
    parser.add_argument("--most", type=int, default=16, help="classes of the largest block")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    measured([[[0, 1]]], 1.5, 1)  # compiles
    print("| ties | γ | ms | one half more | next whole | ratio | taken | effective draws a second: half, next |")
    print("|---|---|---|---|---|---|---|---|")
    for whole in map(int, asked.whole.split(",")):
        for name, annotations in patterns(asked.most).items():
            before, half, after = (measured(annotations, one, asked.repeats) for one in (whole, whole + 0.5, whole + 1))
            rates = f"{1e3 * half[2] / half[0]:,.0f}, {1e3 * after[2] / after[0]:,.0f}"
            print(
                f"| {name} | {whole} | {before[0]:.1f} | {half[0]:.1f} | {after[0]:.1f} | {half[0] / after[0]:.2f} "
                f"| {half[1]:.2f} | {rates} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
