"""Data that break what has not been thought through: small, unanimous, tied, anonymous, or hostile."""

import numpy as np


def _table(columns: str, rows) -> str:
    return "\n".join([columns, *(",".join(map(str, row)) for row in rows)])


def _classes(n_cases: int, named, raters: str = "abc", more: tuple = ()) -> str:
    """A table of what ``named(case, rater)`` says of each case and rater."""
    rows = [(case, name, named(case, rater)) for case in range(n_cases) for rater, name in enumerate(raters)]
    return _table("case,rater,class", [*rows, *more])


def _unlike(case: int, rater: int) -> str:
    return "xyz"[(case * case + (rater == 1)) % 3]


def _several(place: int) -> str:
    return ";".join(name for bit, name in enumerate("xyz") if (place * 5 % 7 + 1) >> bit & 1)


_NOISE = np.random.default_rng(1).choice(list("xyz"), (12, 3))
ODD_DATA = {
    "scores": _table("case,rater,score", [(i // 3, i % 3, round(i * 0.7 % 5, 1)) for i in range(60)]),
    "scores of two cases": _table("case,rater,score", [(i // 3, i % 3, i / 2) for i in range(6)]),
    "equal scores": _table("case,rater,score", [(i // 3, i % 3, 1) for i in range(18)]),
    "sets of labels": _table("case,rater,labels", [(i // 3, i % 3, _several(i)) for i in range(36)]),
    "one rater": _classes(3, lambda case, _: "xyx"[case], "a"),
    "one annotation a case": _table("case,rater,class", [(i, "abc"[i % 3], "xyz"[i * i % 3]) for i in range(12)]),
    "one class": _classes(2, lambda *_: "x", "ab"),
    "two classes": _classes(2, lambda case, rater: "y" if (case, rater) == (0, 1) else "x", "ab"),
    "one case": _classes(1, lambda _, rater: "xyz"[rater]),
    "two cases": _classes(2, lambda case, rater: "xyz"[(case + rater) % 3]),
    "unanimous": _classes(12, lambda case, _: "xyz"[case % 3]),
    "pure noise": _classes(12, lambda case, rater: _NOISE[case, rater]),
    "a rater with one annotation": _classes(12, _unlike, more=((3, "once", "x"),)),
    "dated": _table(
        "case,rater,time,class",
        [(i, "abc"[k], f"2024-0{1 + i % 6}-1{i % 9}", _unlike(i, k)) for i in range(12) for k in range(3)],
    ),
    "only ties": "case,rater,rank,class\n1,a,1,x\n1,a,1,y\n1,b,1,x\n1,b,1,z\n",
    "rankings with ties": _table(
        "case,rater,rank,class",
        [
            (case, rater, 1 + (place >= 2 - (case + rater) % 2), "xyzw"[(place + case * rater + (case % 5 == 3)) % 4])
            for case in range(12)
            for rater in range(3)
            for place in range(3)
        ],
    ),
    "anonymous raters": _table("case,calm,angry,sad", [*((i, 3 - i % 3, i % 3, 0) for i in range(12)), (99, 0, 0, 3)]),
    "comparisons": _table(
        "model_a,model_b,winner,judge",
        [
            (one, other, ("model_a", "tie", "model_a", "model_b")[(i * i + place) % 4], f"j{i % 3}")
            for i in range(9)
            for place, (one, other) in enumerate((("alpha", "beta"), ("gamma", "alpha"), ("beta", "gamma")))
        ],
    ),
    "markup": "case,rater,class\n<b>1</b>,![](h://x/y.png),=cmd()\n<b>1</b>,[a](b),:red[no]\n$2$,[a](b),<i>x\n",
}
