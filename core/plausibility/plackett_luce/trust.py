"""Trust per rater: a mixture of Plackett-Luce and class popularity, u_ij ~ Bernoulli(a_j).

If u_ij = 1 the ranking comes from the plausibilities λ_i of its case, else from the popularity of classes: the t-a-p
model [Eubanks, *Kappa Zoo*, chapter 9] for rankings. With a known at every sweep, one case's chain can be run again.

Trust is estimated at γ = 1 and fixed at its posterior means while plausibilities are drawn at the chosen γ. With γ
copies of every ranking, u is determined γ times, so that trust tends to 0 and 1 and distinguishes raters less: on the
sample of skin diseases its rank correlation with the accuracy of raters is 0.84 at γ = 1 and 0.68 at 3 (means of three
seeds). The draws of a case need only the mean of a trust, because its likelihood is linear in the trust of each rater
who annotated it once.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from ...annotations.dataset import Dataset
from ...checked import checked
from ...errors import InputError, NotApplicableError
from ...methods import RANKED, UGT, Option
from ...options import check_number, check_whole
from ...result_base import Columns, Result
from ...runtime.chunks import CancelToken
from ..protocol import CaseDraws, PlausibilityMethod, ReliabilityScale, check_sampling
from ._gibbs_kernels import effective_draws
from ._trust_kernels import replay
from .point import plackett_luce_mode
from .rater_trust import RaterTrust, rater_trust
from .trust_chain import CHUNK_CASES, ChainPlan, case_work, per_rater, run_chain
from .trust_prior import START, PriorClimb
from .trust_tables import Streams, TrustTables, chain_streams, trust_tables

LEAST_BURN = 50
_PILOT_CASES, _PILOT_SWEEPS = 40, 40
_KEPT = 8
_SETTINGS = ("concentration", "alpha", "n_burn", "n_chains", "depth", "trust_prior", "trust_at")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrustFit(Result):
    """Chain over all cases: a at every sweep, and the arguments needed to run any case again.

    Attributes
    ----------
    model : MixturePlackettLuce
    digest : str
        Digest of the dataset.
    reliability : float
        Value of γ at which trust was estimated.
    n_draws, seed : int
        Requested number of draws, and seed.
    prior : tuple of float
        A and B of the raters' Beta.
    trust : ndarray of float64, shape (n_chains, n_sweeps + 1, n_raters)
        Values of a before each sweep, and after the last.
    attended : ndarray of float64, shape (n_annotations,)
        Posterior probability that the annotation is not a guess by popularity, P(u = 1).
    raters : RaterTrust
    tables : TrustTables
    streams : tuple of Streams
    """

    model: "MixturePlackettLuce"
    digest: str
    reliability: float
    n_draws: int
    seed: int
    prior: tuple[float, float]
    trust: np.ndarray
    attended: np.ndarray
    raters: RaterTrust
    tables: TrustTables
    streams: tuple[Streams, ...]

    TABLES = RaterTrust.TABLES

    def _columns(self, table: str, most: int | None) -> Columns:
        return self.raters._columns(table, most)

    def _facts(self) -> Iterable[str]:
        return self.raters._facts()

    def answers(self, digest: str, reliability: float, n_draws: int, seed: int) -> bool:
        """Return True if this is the requested fit.

        Parameters
        ----------
        digest : str
            Digest of the dataset.
        reliability : float
        n_draws, seed : int
        """
        return (self.digest, self.reliability, self.n_draws, self.seed) == (digest, reliability, n_draws, seed)


@dataclass(frozen=True, slots=True, eq=False)
class TrustedChains:
    """Arguments needed to run the chains of any case.

    Attributes
    ----------
    digest : str
        Digest of the dataset.
    reliability : float
        Value of γ of the plausibilities.
    n_draws, seed : int
    tables : TrustTables
    streams : tuple of Streams
    trust : tuple of ndarray of float64, shape (n_sweeps, n_raters)
        Values of a before each sweep of each chain: fixed, or from the chains over all cases.
    """

    digest: str
    reliability: float
    n_draws: int
    seed: int
    tables: TrustTables
    streams: tuple[Streams, ...]
    trust: tuple[np.ndarray, ...]

    @property
    def asked(self) -> tuple[str, float, int, int]:
        """Arguments that the chains belong to."""
        return self.digest, self.reliability, self.n_draws, self.seed


@checked
@dataclass(frozen=True, slots=True)
class MixturePlackettLuce:
    """Posterior of the plausibilities of cases and of the trust in each rater, from differential diagnoses.

    As `PlackettLuce` for the rankings with u = 1. Draws of a case depend on which other cases are in the data.

    Parameters
    ----------
    concentration : float
        Prior shape of all classes together, each the same: λ_k ~ Gamma(concentration / K). The smaller it is, the more
        the rankings of attentive raters agree, as in t-a-p.
    alpha : float, optional
        Prior of `PlackettLuce` instead: Gamma(alpha >= 1) on classes that somebody named on the case. It depends on the
        rankings themselves, so that nearly all seem attentive and raters are not distinguished.
    n_burn : int
        Number of sweeps of each chain that are discarded first.
    n_chains : int
        Number of chains, which share the draws. The first starts with every u = 1, the second with random u.
    depth : int
        Number of first places that draws distinguish.
    trust_prior : tuple of float, optional
        A and B of a_j ~ Beta(A, B); at their mode if omitted (see `trust_prior`).
    trust_at : float or None
        Value of γ at which trust is estimated, to be fixed at its means. If None, it is estimated together with the
        plausibilities, at their γ.
    trusted : RaterTrust, optional
        Fixed trust, estimated before on these data; no chain over all cases is then run.
    """

    name: ClassVar[str] = "mixture-plackett-luce"
    default_reliability: ClassVar[float] = 1.0
    concentration: float = 1.0
    alpha: float | None = None
    n_burn: int = 500
    n_chains: int = 2
    depth: int = 3
    trust_prior: tuple[float, float] | None = None
    trust_at: float | None = 1.0
    trusted: RaterTrust | None = field(default=None, repr=False, compare=False)
    ready: TrustedChains | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.alpha is not None:
            check_number(self.alpha, "The prior α", 1)
        if not (np.isfinite(self.concentration) and self.concentration > 0):
            raise InputError(f"The concentration must be above 0; got {self.concentration}.", "Use a positive number.")
        check_whole(self.depth, "The depth", 1)
        check_whole(self.n_chains, "The number of chains", 1)
        check_whole(self.n_burn, "The burn-in", 0)
        if self.trust_prior is None and self.n_burn < LEAST_BURN:
            raise InputError(
                f"The burn-in must be at least {LEAST_BURN} sweeps to fit the prior of the rater weights; got "
                f"{self.n_burn:,}.",
                "Use more sweeps.",
            )
        if self.trust_prior is not None and not all(np.isfinite(x) and x > 0 for x in self.trust_prior):
            raise InputError(
                f"The prior of the rater weights must be two positive numbers, A and B; got {self.trust_prior}.",
                "Use 8 and 2, for example.",
            )
        if self.trust_at is not None and not (np.isfinite(self.trust_at) and self.trust_at > 0):
            raise InputError(
                f"The γ at which the rater weights are estimated must be above 0; got {self.trust_at}.",
                "Use a positive number, or None.",
            )

    def settings(self) -> dict:
        """Return the parameters that change the draws."""
        return {name: getattr(self, name) for name in _SETTINGS}

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the posterior mode of each case at γ = 1 if every rater is trusted, as in `PlackettLuce`."""
        mode = plackett_luce_mode(dataset)
        return mode.ptr, mode.class_code, mode.share

    def shapes(self, tables: TrustTables) -> tuple[float, np.ndarray, float]:
        """Return the prior shape of a named class, of the sum of the never-named (by case), and of each of these."""
        if self.alpha is not None:
            return float(self.alpha), np.ones(tables.n_cases), 1.0
        each = self.concentration / max(1, int((tables.n_named + tables.n_rest).max(initial=1)))
        return each, each * tables.n_rest, each

    def fit(
        self,
        dataset: Dataset,
        *,
        reliability: float,
        n_draws: int = 1000,
        seed: int = 0,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> TrustFit:
        """Run the chain over all cases, or return it from the last few that were run.

        Parameters
        ----------
        dataset : Dataset
            Dataset of rankings or single classes, with identified raters.
        reliability : float
            Reliability γ > 0 of the plausibilities; also that of trust if ``trust_at`` is None.
        n_draws, seed : int
        token, progress
            See `core.runtime.chunks.map_chunks`.

        Raises
        ------
        NotApplicableError
            The annotations are scores, or the raters are anonymous.
        InputError
            A parameter is out of its range.
        Cancelled
            The user stopped the work.
        """
        check_sampling(reliability, n_draws)
        if not dataset.raters_identified:
            raise NotApplicableError(
                "Cannot estimate weights per rater: the raters are anonymous. Use Plackett-Luce (plackett-luce)."
            )
        asked = (dataset.content_digest, float(self.trust_at or reliability), n_draws, seed)
        key = (*asked, tuple(self.settings().values()))
        found = _kept(key)
        if found is None:
            found = self._fit(dataset, asked, token, progress)
            _keep(key, found)
        return found

    def _fit(self, dataset: Dataset, asked, token, progress) -> TrustFit:
        digest, reliability, n_draws, seed = asked
        tables, streams = self._flat(dataset, seed)
        prior, n_kept = self.trust_prior, -(-n_draws // self.n_chains)
        plan = self._plan(tables, reliability, n_kept)
        chains, attended = [], np.zeros(dataset.n_annotations)
        for place, stream in enumerate(streams):

            def tell(share: float, place: int = place) -> None:
                if progress is not None:
                    progress((place + share) / self.n_chains)

            climb = None if prior is not None else PriorClimb(per_rater(tables), self.n_burn)
            trust = run_chain(plan, tables, stream, prior, climb, attended, token=token, progress=tell)
            prior = prior if climb is None else climb.prior
            chains.append(trust)
        trust = np.stack(chains)
        prior = prior or START  # There is at least one chain.
        raters = rater_trust(
            dataset.raters,
            per_rater(tables),
            trust[:, self.n_burn + 1 :],
            prior,
            reliability,
            held=self.trust_at is not None,
        )
        attended /= n_kept * self.n_chains
        return TrustFit(
            replace(self, trusted=None, ready=None),
            digest,
            reliability,
            n_draws,
            seed,
            prior,
            trust,
            attended,
            raters,
            tables,
            streams,
        )

    def _plan(self, tables: TrustTables, reliability: float, n_kept: int) -> ChainPlan:
        return ChainPlan(reliability, self.shapes(tables), self.n_burn, n_kept, self.depth)

    def _flat(self, dataset: Dataset, seed: int) -> tuple[TrustTables, tuple[Streams, ...]]:
        """Return the data in flat arrays, with the streams of all chains; cached, because every case needs them."""
        key = ("flat", dataset.content_digest, seed, self.n_chains)
        found = _kept(key)
        if found is None:
            streams = tuple(chain_streams(dataset, seed, self.name, chain) for chain in range(self.n_chains))
            found = trust_tables(dataset), streams
            _keep(key, found)
        return found

    def prepare(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, token=None, progress=None
    ) -> "MixturePlackettLuce":
        """Return the model with the arguments that the draws of any case need; drivers call this first.

        Parameters
        ----------
        dataset : Dataset
        reliability : float
            Reliability γ > 0 of the plausibilities.
        n_draws, seed : int
        token, progress
            See `core.runtime.chunks.map_chunks`; a chain over all cases is run if no trust is given.

        Raises
        ------
        InputError
            The given trust has another number of raters, or `fit` refuses the arguments.
        """
        check_sampling(reliability, n_draws)
        asked = (dataset.content_digest, float(reliability), n_draws, seed)
        if self.ready is not None and self.ready.asked == asked:
            return self
        raters = self.trusted if self.trust_at is not None else None
        if raters is None:
            fit = self.fit(dataset, reliability=reliability, n_draws=n_draws, seed=seed, token=token, progress=progress)
            if self.trust_at is None:
                moved = tuple(trust[:-1] for trust in fit.trust)
                return replace(self, ready=TrustedChains(*asked, fit.tables, fit.streams, moved))
            raters = fit.raters
        if len(raters.mean) != dataset.n_raters:
            raise InputError(
                f"Could not use the weights: they are for {len(raters.mean):,} raters, but the data have "
                f"{dataset.n_raters:,}.",
                "Estimate the weights from these data.",
            )
        held = np.tile(raters.mean, (self.n_burn - (-n_draws // self.n_chains), 1))
        return replace(self, ready=TrustedChains(*asked, *self._flat(dataset, seed), (held,) * self.n_chains))

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Draw plausibilities of each case (all if ``cases`` is omitted), chain after chain; the rest as in `fit`.

        Parameters
        ----------
        dataset : Dataset
            Dataset of a kind that the model takes.
        reliability : float
            Reliability γ > 0: how many times each annotation counts.
        n_draws, seed : int
        cases : range, optional
            Positions of cases; all if omitted.
        """
        ready = self.prepare(dataset, reliability=reliability, n_draws=n_draws, seed=seed).ready
        if ready is None:
            raise RuntimeError("a prepared model must have chains")
        starts = [stream.start() for stream in ready.streams]
        for case in range(dataset.n_cases) if cases is None else cases:
            yield case, self._case(ready, case, starts)

    def _case(self, ready: TrustedChains, case: int, starts: list[np.ndarray]) -> CaseDraws:
        tables, n_kept = ready.tables, len(ready.trust[0]) - self.n_burn
        alpha, rest_alpha, rest_shape = self.shapes(tables)
        own = slice(tables.case_ptr[case], tables.case_ptr[case + 1])
        parts = [
            replay(
                stream.case_seed[case],
                *tables.part(case),
                stream.key[own],
                tables.log_guess[own],
                tables.n_named[case],
                tables.n_rest[case],
                alpha,
                rest_alpha[case],
                rest_shape,
                ready.reliability,
                trust,
                self.n_burn,
                n_kept,
                self.depth,
                start[own].copy(),
            )
            for stream, trust, start in zip(ready.streams, ready.trust, starts, strict=True)
        ]
        share, rest, top = (np.concatenate(drawn)[: ready.n_draws] for drawn in zip(*parts, strict=True))
        ess = sum(effective_draws(part[0]) for part in parts) if tables.n_named[case] else float(ready.n_draws)
        return CaseDraws(
            tables.classes[case],
            share,
            rest,
            top,
            int(tables.n_rest[case]),
            rest_shape,
            min(float(ess), float(ready.n_draws)),
            int(ready.streams[0].case_seed[case]),
        )

    def expected_seconds(
        self, dataset: Dataset, *, reliability: float, n_draws: int = 1000, n_reliabilities: int = 1
    ) -> float:
        """Estimate the seconds that trust and all draws will take here, from a short run over all sizes of cases.

        The run is made twice, so that compiling is not counted; all cores are used if there are enough cases.

        Parameters
        ----------
        dataset : Dataset
        reliability : float
            γ > 0.
        n_draws : int
        n_reliabilities : int
            Number of γ at which plausibilities are drawn.
        """
        work = case_work(dataset)
        order = np.argsort(work, kind="stable")
        chosen = order[np.unique(np.linspace(0, len(order) - 1, min(_PILOT_CASES, len(order))).astype(int))]
        sample = dataset.select(cases=[dataset.cases[case] for case in chosen])
        pilot = replace(self, n_burn=0, n_chains=1, trust_prior=START, trusted=None, ready=None)
        streams = chain_streams(sample, 0, self.name, 0)
        seconds = []
        for _ in range(2):
            started = perf_counter()
            tables = trust_tables(sample)
            prepared = perf_counter()
            plan = pilot._plan(tables, reliability, _PILOT_SWEEPS)
            run_chain(plan, tables, streams, START, None, np.zeros(sample.n_annotations))
            seconds.append((prepared - started, perf_counter() - prepared))
        scale = work.sum() / max(work[chosen].sum(), 1)
        n_sweeps = self.n_chains * (self.n_burn + -(-n_draws // self.n_chains))
        cores = min(os.cpu_count() or 1, -(-dataset.n_cases // CHUNK_CASES))
        n_chains = n_reliabilities if self.trust_at is None else int(self.trusted is None)
        n_sweeps *= n_chains + n_reliabilities
        return float(scale * (seconds[1][0] + n_sweeps * seconds[1][1] / _PILOT_SWEEPS / cores))


_fits: OrderedDict[tuple, Any] = OrderedDict()
_lock = threading.Lock()


def _kept(key: tuple) -> Any:
    with _lock:
        if key in _fits:
            _fits.move_to_end(key)
        return _fits.get(key)


def _keep(key: tuple, found: Any) -> None:
    with _lock:
        _fits[key] = found
        while len(_fits) > _KEPT:
            _fits.popitem(last=False)


METHOD = PlausibilityMethod(
    "mixture-plackett-luce",
    "Mixture Plackett-Luce",
    plainly="Plackett-Luce model that estimates whether each ranking reflects the case or only the popularity of "
    "classes.",
    exactly="u ~ Bernoulli(a_j). If u = 1, the ranking is Plackett-Luce around the plausibilities of the case. If u = "
    "0, it is Plackett-Luce around one vector of class popularity. Gibbs sampling over u, a and λ. This is the t-a-p "
    "model for rankings (Eubanks, Kappa Zoo, 9).",
    sources=(UGT, "Eubanks, The Kappa Zoo (2024), chapter 9"),
    takes=RANKED,
    make=MixturePlackettLuce,
    needs=("raters",),
    options=(
        Option(
            "concentration",
            float,
            1.0,
            "Prior concentration",
            "prior shape of all classes together",
            0.01,
            1000.0,
            on_page=False,
        ),
    ),
    place=35,
    reliability=ReliabilityScale(
        MixturePlackettLuce.default_reliability,
        0.1,
        10.0,
        (1.0, 2.0, 3.0, 5.0, 10.0),
        (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0),
        "",
    ),
    sentence="Plausibilities of classes were drawn from a mixture of Plackett-Luce rankings and guesses made in "
    "proportion to class popularity, with a weight for each rater that was estimated at γ = 1 and then fixed.",
)
