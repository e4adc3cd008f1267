"""Named sums over rows, for many weightings of the rows at once."""

import numpy as np

from ._bootstrap_kernels import weighted_sums


class Totals:
    """Numbers that rows add to, gathered by name and then summed with weights.

    A row (a distinct count vector, or a case) adds to few numbers out of many, so that they are kept in CSR.
    """

    def __init__(self, n_rows: int):
        self.n_rows = n_rows
        self.n_sums = 0
        self._places: dict[str, slice] = {}
        self._row: list[np.ndarray] = []
        self._column: list[np.ndarray] = []
        self._value: list[np.ndarray] = []

    def add(
        self, name: str, row: np.ndarray, value: np.ndarray, which: np.ndarray | None = None, n_sums: int = 1
    ) -> None:
        """What each of some rows adds to the numbers of a name.

        Parameters
        ----------
        name : str
        row : ndarray of int64, shape (n_added,)
            Which row adds; a row may come several times.
        value : ndarray, shape (n_added,)
            What it adds.
        which : ndarray of int64, shape (n_added,), optional
            To which of the numbers, 0 to ``n_sums`` − 1; to the first where it is not given.
        n_sums : int
            How many numbers the name has.
        """
        self._places[name] = slice(self.n_sums, self.n_sums + n_sums)
        self._row.append(row)
        self._column.append(np.full(row.size, self.n_sums) if which is None else which + np.int64(self.n_sums))
        self._value.append(np.asarray(value, np.float64))
        self.n_sums += n_sums

    def close(self) -> None:
        """Sort what was added by row; nothing is added after that."""
        row = np.concatenate(self._row)
        order = np.argsort(row, kind="stable")
        self._ptr = np.searchsorted(row[order], np.arange(self.n_rows + 1)).astype(np.int64)
        self._columns = np.concatenate(self._column)[order].astype(np.int64)
        self._values = np.concatenate(self._value)[order]

    def sums(self, weight: np.ndarray) -> dict[str, np.ndarray]:
        """The sums of each name, (n_sums, n_resamples), under weights of shape (n_rows, n_resamples)."""
        found = np.zeros((self.n_sums, weight.shape[1]))
        weighted_sums(self._ptr, self._columns, self._values, weight, found)
        return {name: found[place] for name, place in self._places.items()}
