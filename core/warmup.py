"""Compiling every kernel before the first click, with exactly the types that the public functions pass."""

import numpy as np

from core.agreement.coefficients import agreement_table
from core.agreement.pairs import pair_matrix
from core.agreement.probability import SPA_WEIGHTINGS
from core.annotations.counts import class_counts
from core.annotations.reading import read
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.plausibility.dirichlet import DirichletCounts
from core.reducers.protocol import reduce_draws
from core.reducers.quantiles import Quantiles
from core.reducers.sets import TopSets

_TABLE = b"case,rater,rank,class\n1,a,1,x\n1,a,1,y\n1,b,1,x\n1,c,1,y\n2,a,1,y\n2,b,1,y\n2,c,1,z\n"


def warm_up() -> None:
    """Read, compare, fit and draw once on seven rows."""
    dataset, _ = read(_TABLE).dataset.as_classes()
    agreement_table(class_counts(dataset), spa_weightings=SPA_WEIGHTINGS)
    pair_matrix(dataset)
    MajorityVote().fit(dataset)
    DawidSkene("none").fit(dataset)
    reduce_draws(
        DirichletCounts(), dataset, [TopSets(), Quantiles()], reliability=1.0, n_draws=8, seed=int(np.uint32(0))
    )
