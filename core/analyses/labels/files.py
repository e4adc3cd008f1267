"""Labels as predictions of Label Studio, which are imported with their tasks."""

import json
from typing import Any

import pandas as pd


def label_studio(table: pd.DataFrame) -> bytes:
    """Return tasks with a prediction each; cases without a label have none.

    The result names the control "label" and the object that the task shows: "text", "link" or "case".

    Parameters
    ----------
    table : DataFrame
        Labels with their text or link if any; the labels of sets are lists.

    References
    ----------
    Label Studio, Import pre-annotated data, https://labelstud.io/guide/predictions
    """
    shown = next((name for name in ("text", "link") if name in table and (table[name] != "").any()), "case")
    tasks = []
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        data = {name: row[name] for name in ("case", "text", "link") if row.get(name)}
        tasks.append({"data": data, "predictions": _predictions(row, shown)})
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def _predictions(row: dict[str, Any], shown: str) -> list[dict[str, Any]]:
    label = row["label"]
    if label is None:
        return []
    value: dict[str, Any]
    if isinstance(label, float):
        kind, value = "number", {"number": label}
    else:
        kind, value = "choices", {"choices": label if isinstance(label, list) else [label]}
    result = {"from_name": "label", "to_name": shown, "type": kind, "value": value}
    found: dict[str, Any] = {"model_version": row["decided_by"], "result": [result]}
    if (score := row.get("probability")) is not None:
        found["score"] = score
    return [found]
