"""Reducer that keeps all draws of cases: for one case on screen, never for a dataset."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..plausibility.protocol import CaseDraws


@dataclass(frozen=True, slots=True)
class WholeCases:
    """Reducer that keeps every draw, by case."""

    def init(self, n_cases: int, n_draws: int) -> dict[int, CaseDraws]:
        """Return an empty state."""
        return {}

    def update(self, state: dict[int, CaseDraws], place: int, case: int, draws: CaseDraws) -> None:
        """Keep one case.

        Parameters
        ----------
        state : dict of int to CaseDraws
            Changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Draws of the case.
        """
        state[case] = draws

    def merge(self, states: Sequence[dict[int, CaseDraws]]) -> dict[int, CaseDraws]:
        """Merge the cases of all chunks."""
        return {case: draws for state in states for case, draws in state.items()}

    def result(self, state: dict[int, CaseDraws]) -> dict[int, CaseDraws]:
        """Return draws by position of the case."""
        return state
