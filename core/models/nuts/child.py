"""Part of the sampler that runs in the child process, the only place that imports nutpie.

One thread owns the sampler: cancelling it from another one, or ending the process while it runs, crashes. Its own
progress and its flag for the end are not used: draws are counted as they come, and `wait` tells the end by not timing
out. Where chains begin is given by a function: nutpie 0.16.8 does not look at ``init_mean`` for such models.
"""

import sys
import time
from collections.abc import Callable
from types import ModuleType

import numpy as np
from pyarrow import record_batch

from ...errors import Cancelled, PluralityError
from .densities import density_from
from .density import Density

_LOOK = 0.1


class StartError(PluralityError):
    """Error: no chain could begin."""


class DensityError(PluralityError):
    """Error: a density raised an exception, which it never should."""


def draw_all(settings: dict, arrays: dict[str, np.ndarray], watch) -> dict[str, np.ndarray]:
    """Run every chain of a job, one after the other.

    Parameters
    ----------
    settings : dict
        ``fits``: for each its number in the whole, the density's name and settings, ``n_starts``, ``seed`` of the
        starts, and ``chains``, pairs of (chain, seed); then ``n_draws``, ``n_tune``, ``target_accept``.
    arrays : dict of str to ndarray
        ``"{fit}.{name}"``: arrays of a fit's density; ``"{fit}:start"``, if given, the starts of its chains.
    watch : core.runtime._worker.Watch
        Its ``done`` counts draws; its ``cancelled`` is looked at ten times a second.

    Returns
    -------
    dict of str to ndarray
        ``"{fit}.{chain}.draws"``, ``"….divergent"``, ``"….seconds"`` (wall clock, processor).
    """
    _import_without_plots()
    result: dict[str, np.ndarray] = {}
    for fit in settings["fits"]:
        prefix = f"{fit['number']}."
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        density = density_from(fit["density"], fit["settings"], own)
        starts = arrays.get(f"{fit['number']}:start")
        if starts is None:
            starts = density.starts(fit["n_starts"], fit["seed"])
        density.value_and_gradient(np.array(starts[0]))  # compile before the clock runs
        for chain, seed in fit["chains"]:
            began, used = time.perf_counter(), time.process_time()
            draws, divergent = _one_chain(density, starts[chain], seed, settings, watch)
            seconds = np.array([time.perf_counter() - began, time.process_time() - used])
            name = f"{prefix}{chain}."
            result |= {name + "draws": draws, name + "divergent": divergent, name + "seconds": seconds}
    return result


def _import_without_plots() -> None:
    """Import nutpie without arviz, which takes three quarters of its import and is only used for its container.

    Draws are taken from it as Arrow tables, so that a name in the place of arviz is all that it needs.
    """
    name = "arviz"
    if name in sys.modules or "nutpie" in sys.modules:
        import nutpie

        return
    stand_in = ModuleType(name)
    vars(stand_in)["InferenceData"] = object
    sys.modules[name] = stand_in
    try:
        import nutpie  # noqa: F401
    finally:
        del sys.modules[name]


def _one_chain(density: Density, start: np.ndarray, seed: int, settings: dict, watch) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of one chain, shape (n_draws, ndim), and which of them end in a divergence."""
    import nutpie

    failed: list[Exception] = []
    sampler = nutpie.sample(
        _model(density, start, seed, watch, failed),
        draws=settings["n_draws"],
        tune=settings["n_tune"],
        chains=1,
        cores=1,
        seed=seed,
        target_accept=settings["target_accept"],
        save_warmup=False,
        progress_bar=False,
        return_raw_trace=True,
        blocking=False,
    )
    trace = _awaited(sampler, watch, failed)
    if failed:
        error = failed[0]
        raise DensityError(
            f"Could not compute the model's density: {type(error).__name__}: {error}. Report this error."
        )
    (draws,), (facts,) = (map(record_batch, batches) for batches in trace.get_arrow_trace())
    kept = ~facts["tuning"].to_numpy(zero_copy_only=False)
    theta = draws["theta"].flatten().to_numpy().reshape(-1, density.ndim)
    return theta[kept], facts["diverging"].to_numpy(zero_copy_only=False)[kept]


def _model(density: Density, start: np.ndarray, seed: int, watch, failed: list[Exception]):
    """Wrap the density for the sampler; exceptions of the density are added to ``failed``."""
    import nutpie

    def make_density() -> Callable:
        flat = np.zeros(density.ndim)

        def value(theta: np.ndarray) -> tuple[float, np.ndarray]:
            try:
                return density.value_and_gradient(theta)
            except Exception as error:  # raised inside the sampler it would take the process down without a word
                failed.append(error)
                return -np.inf, flat

        return value

    def make_expand(_seed1: int, _seed2: int, _chain: int) -> Callable:
        def expand(theta: np.ndarray) -> dict[str, np.ndarray]:
            watch.done += 1
            return {"theta": theta}

        return expand

    tries = iter(range(10_000))

    def begin(_seed: int) -> np.ndarray:
        # Where the density or its gradient is of no use at the start (a gradient of exactly 0 is none), try nearby.
        tried = next(tries)
        noise = np.random.default_rng([seed, tried]).normal(size=start.size)
        return start + 0.01 * tried**0.75 * noise

    kind = np.dtype("float64")
    return nutpie.compiled_pyfunc.from_pyfunc(
        density.ndim, make_density, make_expand, [kind], [(density.ndim,)], ["theta"], make_initial_point_fn=begin
    )


def _awaited(sampler, watch, failed: list[Exception]):
    """Return the result of the sampler; None if the density has failed."""
    while True:
        try:
            return sampler.wait(timeout=_LOOK)
        except TimeoutError:
            if watch.cancelled:
                sampler.cancel()
                raise Cancelled("Cancelled.") from None
            if failed:
                sampler.cancel()
                return None
        except RuntimeError as error:
            if not failed and "initialization points" in str(error):
                raise StartError(
                    "Could not start a chain: the posterior density overflows or is flat at every starting point. "
                    "Check for a rater or class with very many annotations of one kind, or use a simpler model."
                ) from error
            if not failed:
                raise
            return None
