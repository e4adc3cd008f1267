"""The report card of a file: what will be used, what was left out and why, and what the data allow."""

import numpy as np
import pandas as pd
import streamlit as st

from core.analyses.applicable_methods import verdicts
from core.annotations.counts import classes_per_case, n_groups, rater_case_pairs
from core.annotations.dataset import Dataset
from core.annotations.write import long_table
from core.ingest.formats.source import Question
from core.ingest.read_files import Reading
from core.text import markdown, number, percent, plural
from pages.shared.kit import widgets
from pages.shared.upload.side import Classifiers

_SHOWN = 20
_ROWS = 8


def as_understood(reading: Reading) -> None:
    """Show the first annotations, and what was found while reading."""
    first = reading.dataset
    table = long_table(first, range(min(first.n_cases, _SHOWN))).head(_SHOWN)
    if not first.raters_identified:
        table = table.drop(columns="rater")  # names of nobody
    st.subheader("First twenty annotations, as read by Plurality", anchor=False)
    st.dataframe(
        table,
        hide_index=True,
        height=36 * min(11, len(table) + 1) + 2,
        column_config={name: st.column_config.NumberColumn(format="plain") for name in ("rank", "score")},
        key="understood",
    )
    if reading.report.notes:
        st.caption(markdown(" · ".join(reading.report.notes)))


def as_it_stands(question: Question, folded: bool = False) -> None:
    """Show the first rows of the file, unchanged."""
    title = "First rows of the file, unchanged"
    if folded:
        place = st.expander(title, key="as_it_stands")
    else:
        place = st.container()
        place.subheader(title, anchor=False)
    rows = question.raw.table.slice(0, _ROWS)
    # As text: columns by code would take all their different values with them to the browser.
    table = pd.DataFrame({name: rows[name].cast("string").to_pandas() for name in rows.column_names})
    place.dataframe(table, hide_index=True, key="raw")


def in_words(reading: Reading) -> None:
    """Sizes in one line, and what became of the rows."""
    dataset = reading.dataset
    parts = [
        plural(dataset.n_cases, "case"),
        plural(dataset.n_raters, "rater") if dataset.raters_identified else "raters without names",
        plural(dataset.n_annotations, "annotation"),
        "scores" if dataset.kind == "score" else plural(dataset.n_classes, "class", "classes"),
    ]
    parts += ["rankings"] * (dataset.kind == "ranking") + ["sets of labels"] * (dataset.kind == "set")
    st.markdown(f"**{' · '.join(parts)}**")
    facts(reading)


def classifiers(tried: tuple[Classifiers, ...]) -> None:
    """Which predictions fit the data, and why others do not."""
    for one in tried:
        if one.error:
            st.error(markdown(f"{one.error} These predictions were left out."), icon=":material/error:")
            continue
        st.markdown(f":material/check_circle: {markdown(one.said[0])}")
        for note in one.said[1:]:
            st.caption(markdown(note))


def facts(reading: Reading) -> None:
    """Show rows used and left out, annotations per case, density, and other data that came with the annotations."""
    dataset, report = reading.dataset, reading.report
    words = [f"{plural(report.n_rows, 'row')}: {report.n_kept:,} used, {len(report.dropped):,} left out"]
    if report.missing:
        tokens = ", ".join(f"{count:,} × {token or 'empty'}" for token, count in sorted(report.missing.items()))
        words.append(f"no annotation: {markdown(tokens)}")
    per_case = np.diff(dataset.case_ptr)
    low, high = int(per_case.min()), int(per_case.max())
    words.append(
        f"{plural(high, 'annotation')} per case"
        if low == high
        else f"{number(per_case.mean(), 1)} annotations per case ({low:,} to {high:,})"
    )
    if dataset.raters_identified:
        n_pairs = rater_case_pairs(dataset)[0].size if report.n_repeats else dataset.n_annotations
        density = percent(n_pairs / max(1, dataset.n_cases * dataset.n_raters))
        words.append(f"{density} of all case–rater pairs are annotated")
        groups = n_groups(dataset)
        words.append(
            "all raters are linked by shared cases"
            if groups == 1
            else f"{groups:,} groups of raters with no cases in common"
        )
    if dataset.kind != "score":
        words.append(f"{number(classes_per_case(dataset).mean(), 1)} classes named per case")
    if dataset.gold is not None:
        words.append(f"{plural(int((dataset.gold >= 0).sum()), 'gold case')}")
    if dataset.gold_scores is not None:
        words.append(f"{plural(int((~np.isnan(dataset.gold_scores)).sum()), 'gold case')}")
    if dataset.case_group is not None:
        words.append(f"{plural(len(set(dataset.case_group)), 'group')} of cases")
    words += ["risk levels known"] * (dataset.class_risk is not None) + ["with dates"] * (dataset.time is not None)
    st.caption(" · ".join(words))


def warnings(reading: Reading) -> None:
    """Show the warnings for the user in one box."""
    found = reading.report.warnings
    if found:
        bullet = "" if len(found) == 1 else "- "
        st.warning("\n".join(f"{bullet}{markdown(line)}" for line in found), icon=":material/warning:")


def counts(dataset: Dataset) -> None:
    """Sizes, large."""
    shown = {
        "Cases": f"{dataset.n_cases:,}",
        "Raters": f"{dataset.n_raters:,}" if dataset.raters_identified else "–",
        "Annotations": f"{dataset.n_annotations:,}",
        "Classes": f"{dataset.n_classes:,}" if dataset.kind != "score" else "–",
    }
    for column, (title, value) in zip(st.columns(4), shown.items(), strict=True):
        column.metric(title, value, border=True)


def left_out(reading: Reading) -> None:
    """Rows with their line and their reason."""
    dropped = reading.report.dropped
    if dropped:
        with st.expander(f"{plural(len(dropped), 'row')} left out, with reasons", key="left_out"):
            table = pd.DataFrame(dropped, columns=["line", "reason"])
            st.dataframe(table.head(200), hide_index=True, key="dropped")
            file = {"data": reading.dataset.name, "name": reading.dataset.name, "digest": reading.dataset.digest}
            everything = {"select": "", "selected": "all annotations"}
            widgets.download(
                table,
                "All rows left out",
                "left_out",
                "dropped_table",
                settings={**file, **everything, "rows": "left out"},
            )


def allowed(dataset: Dataset) -> None:
    """Show the analyses that are not available for these data, and why."""
    missing: dict[str, list[str]] = {}
    for verdict in verdicts(dataset):
        if not verdict.possible:
            missing.setdefault(verdict.reason, []).append(verdict.title)
    for reason, titles in missing.items():
        st.markdown(f":material/block: Not available for these data: **{', '.join(titles)}** ({reason}).")
