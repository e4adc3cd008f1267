"""When expectation-maximisation stops."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When to stop: the objective grows by less than ``tolerance`` of its size, or after ``max_iterations``."""

    max_iterations: int = 2000
    tolerance: float = 1e-10

    def satisfied(self, before: float, now: float) -> bool:
        """Whether the last step was small enough."""
        return now - before <= self.tolerance * (1.0 + abs(now))
