"""The class list of a file: merge, rename, order, and what counts as no answer."""

import pandas as pd
import streamlit as st

from core.annotations.answers import Treatment, cannot_tell
from core.annotations.dataset import Dataset
from core.text import markdown, plural

_MOST = 400


def treatment_of(dataset: Dataset, key: str) -> tuple[Treatment | None, list[str] | None, bool]:
    """What the user wants done with the classes as they stand in the file.

    Parameters
    ----------
    dataset : Dataset
        As read without any treatment.
    key : str
        Tells one file from another.

    Returns
    -------
    treatment : Treatment or None
    classes : list of str or None
        The closed list in its order, where it was changed or declared to mean something.
    ordinal : bool
    """
    if dataset.kind == "score" or not dataset.n_classes:
        return None, None, False
    unsure = cannot_tell(dataset.classes)
    if unsure:
        names = ", ".join(f"“{markdown(name)}”" for name in unsure)
        blank = st.toggle(f"Count {names} as no answer, not as a class of its own", key=f"unsure-{key}")
        unsure = unsure if blank else ()
    with st.expander(f"Classes: {plural(dataset.n_classes, 'class', 'classes')} · rename, merge, order, leave out"):
        ordinal = st.toggle(
            "Their order means something (from low to high)", value=dataset.ordinal, key=f"ordinal-{key}"
        )
        more = st.text_input(
            "Classes that nobody answered but could have (separated by commas)", key=f"more_classes-{key}"
        )
        extra = [name.strip() for name in more.split(",") if name.strip()]
        if dataset.n_classes > _MOST:
            st.caption(f"More than {_MOST} classes: bring a class table instead (name, order, risk).")
            classes = [*dataset.classes, *(name for name in extra if name not in dataset.classes)]
            missing = Treatment({}, frozenset(unsure)) if unsure else None
            return missing, classes if extra else None, ordinal
        frame = pd.DataFrame(
            {
                "in the file": dataset.classes,
                "name": dataset.classes,
                "place": range(1, dataset.n_classes + 1),
                "no answer": [name in unsure for name in dataset.classes],
            }
        )
        st.caption("Two classes with one name are merged. Change the places to change the order.")
        edited = st.data_editor(
            frame,
            hide_index=True,
            disabled=["in the file"],
            column_config={
                "name": st.column_config.TextColumn(required=True),
                "place": st.column_config.NumberColumn(min_value=1, step=1, required=True),
            },
            height=min(420, 36 * (len(frame) + 1) + 2),
            key=f"class_editor-{key}-{len(unsure)}",
        )
    kept = edited[~edited["no answer"]]
    renamed = {
        old: new.strip() for old, new in zip(kept["in the file"], kept["name"], strict=True) if new.strip() != old
    }
    missing = frozenset(edited.loc[edited["no answer"], "in the file"])
    order = list(dict.fromkeys(kept.sort_values("place", kind="stable")["name"].str.strip()))
    order += [name for name in extra if name not in order]
    treatment = Treatment(renamed, missing) if renamed or missing else None
    changed = treatment is not None or extra or order != list(dataset.classes) or ordinal
    return treatment, order if changed else None, ordinal
