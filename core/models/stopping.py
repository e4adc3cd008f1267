"""Stopping rule of expectation-maximisation."""

from dataclasses import dataclass

from ..options import check_number, check_whole


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Rule to stop when the objective grows by less than ``tolerance`` of its size, or after ``max_iterations``.

    Parameters
    ----------
    max_iterations : int
        At least 1.
    tolerance : float
        Below 0, all iterations are made.

    Raises
    ------
    InputError
        One of them is no such number.
    """

    max_iterations: int = 2000
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        check_whole(self.max_iterations, "The number of iterations", 1)
        check_number(self.tolerance, "The tolerance")

    def satisfied(self, before: float, now: float) -> bool:
        """Return True if the last step was small enough."""
        return now - before <= self.tolerance * (1.0 + abs(now))
