"""Each task by the package that one would use instead; runs in an environment that has requirements.txt."""

import warnings
from collections.abc import Callable
from pathlib import Path

import crowds
import numpy as np

Work = Callable[[], np.ndarray]
ITERATIONS = 10
warnings.simplefilter("ignore")


def _crowdkit(name: str, **options) -> Callable[[int, Path], Work]:
    def prepare(n: int, _: Path) -> Work:
        import pandas as pd
        from crowdkit import aggregation

        made = crowds.crowd(n)
        table = pd.DataFrame({"task": made["case"], "worker": made["rater"], "label": made["answer"]})
        model = getattr(aggregation, name)

        def work() -> np.ndarray:
            found = model(**options).fit_predict_proba(table)
            return found.sort_index().reindex(columns=range(crowds.N_CLASSES)).fillna(0.0).to_numpy(float)

        return work

    return prepare


def _alpha(n: int, _: Path) -> Work:
    import krippendorff

    table = crowds.panel(n)

    def work() -> np.ndarray:
        counts = np.apply_along_axis(np.bincount, 1, table, minlength=crowds.N_CLASSES)
        return np.array([krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")])

    return work


def _fleiss(n: int, _: Path) -> Work:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    table = crowds.panel(n)
    return lambda: np.array([fleiss_kappa(aggregate_raters(table)[0])])


def _irrcac(method: str) -> Callable[[int, Path], Work]:
    def prepare(n: int, _: Path) -> Work:
        import pandas as pd
        from irrCAC.raw import CAC

        table = pd.DataFrame(crowds.panel(n))

        def work() -> np.ndarray:
            found = getattr(CAC(table), method)()["est"]
            return np.array([found["coefficient_value"], *found["confidence_interval"]], float)

        return work

    return prepare


def _icc(n: int, _: Path) -> Work:
    import pandas as pd
    import pingouin

    table = crowds.scores(n)
    n_cases, n_raters = table.shape
    case, rater = np.repeat(np.arange(n_cases), n_raters), np.tile(np.arange(n_raters), n_cases)
    frame = pd.DataFrame({"case": case, "rater": rater, "score": table.ravel()})

    def work() -> np.ndarray:
        found = pingouin.intraclass_corr(frame, targets="case", raters="rater", ratings="score")
        return np.sort(found["ICC"].to_numpy(float))

    return work


def _plackett_luce(n: int, _: Path) -> Work:
    import choix

    order = crowds.rankings(n)

    def work() -> np.ndarray:
        worth = np.array([choix.ilsr_rankings(order.shape[2], case.tolist()) for case in order])
        return np.exp(worth) / np.exp(worth).sum(axis=1, keepdims=True)

    return work


def _told(case, rater, answer) -> np.ndarray:
    import pandas as pd

    columns = [pd.Categorical(column) for column in (case, rater, answer)]
    counts = np.bincount(columns[2].codes)
    return np.array([len(columns[0].categories), len(columns[1].categories), len(columns[0].codes), *counts])


def _tables(package: str, ending: str) -> Callable[[int, Path], Work]:
    """The columns as dictionaries or categories, which is what comes of a dataset's names."""

    def prepare(n: int, folder: Path) -> Work:
        path, columns = folder / f"{n}.{ending}", ["case", "rater", "class"]

        def by_pyarrow() -> np.ndarray:
            import pyarrow as pa
            from pyarrow import csv, parquet

            if ending.endswith("parquet"):
                table = parquet.read_table(path, read_dictionary=columns)
            else:
                types = dict.fromkeys(columns, pa.dictionary(pa.int32(), pa.string()))
                table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))
            table = table.unify_dictionaries()
            if table["class"].null_count:
                table = table.filter(table["class"].is_valid())
            sizes = [len(table[name].chunk(0).dictionary) for name in columns[:2]]
            classes = table["class"].combine_chunks()
            counts = np.bincount(classes.indices.to_numpy())[np.argsort(classes.dictionary.to_pylist())]
            return np.array([*sizes, table.num_rows, *counts])

        def by_pandas() -> np.ndarray:
            import pandas as pd

            table = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path, dtype="category")
            return _told(*(table[name] for name in columns))

        def by_polars() -> np.ndarray:
            import polars as pl

            source = pl.read_parquet(path) if ending == "parquet" else pl.read_csv(path)
            table = source.with_columns(pl.col(columns).cast(pl.Categorical))
            counts = table["class"].cast(pl.String).value_counts().sort("class")["count"]
            return np.array([table["case"].n_unique(), table["rater"].n_unique(), table.height, *counts])

        return {"pyarrow": by_pyarrow, "pandas": by_pandas, "polars": by_polars}[package]

    return prepare


def _orjson(n: int, folder: Path) -> Work:
    import orjson

    path = folder / f"{n}.jsonl"

    def work() -> np.ndarray:
        rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        return _told(*([row[name] for row in rows] for name in ("case", "rater", "class")))

    return work


TASKS = {
    "majority": _crowdkit("MajorityVote"),
    "dawid-skene": _crowdkit("DawidSkene", n_iter=ITERATIONS, tol=0.0),
    "one-coin": _crowdkit("OneCoinDawidSkene", n_iter=ITERATIONS, tol=0.0),
    "mace": _crowdkit("MACE", n_iter=ITERATIONS, n_restarts=1),
    "alpha": _alpha,
    "fleiss": _fleiss,
    "ac1": _irrcac("gwet"),
    "bp": _irrcac("bp"),
    "icc": _icc,
    "plackett-luce": _plackett_luce,
    **{f"parquet/{name}": _tables(name, "parquet") for name in ("pyarrow", "pandas", "polars")},
    **{f"{kind}.parquet/pyarrow": _tables("pyarrow", f"{kind}.parquet") for kind in crowds.ROUGH},
    **{f"csv/{name}": _tables(name, "csv") for name in ("pyarrow", "pandas", "polars")},
    "jsonl/orjson": _orjson,
}
