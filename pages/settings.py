"""Settings: version, folders, limits, and details to copy into a bug report."""

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version

import pandas as pd
import streamlit as st

from core.review.database import store_url
from core.runtime.cluster import elsewhere
from core.settings import current_settings
from core.tables import to_csv
from core.text import html_text, markdown, plural
from core.version import __version__
from pages.shared.cache import access, sign_in
from pages.shared.kit import job_progress, navigation

_SHOWN = 200  # lines of the record
_SESSIONS = 50


def _administration() -> None:
    """Draw both for an administrator who signed in; nothing for anybody else."""
    if sign_in.person() is None or not sign_in.may("administrator"):
        return
    _sessions()
    _record()


def _sessions() -> None:
    st.subheader("Open sessions", anchor=False)
    found = access.open_sign_ins()
    st.caption(f"{plural(len(found), 'session')}. Ending a session signs the user out of all tabs at the next click.")
    for one in found[:_SESSIONS]:
        who, when, end = st.columns([3, 4, 2], vertical_alignment="center")
        who.text(f"{one.name}, {one.role}")
        when.text(f"Last used {_moment(one.used)}, expires {_moment(one.until)} at the latest")
        end.button("End session", key=f"end-{one.which}", on_click=access.end_sign_in, args=(one.which, one.name))


def _record() -> None:
    st.subheader("Access record", anchor=False)
    lines, faults = access.access_record()
    if faults:
        st.error(f"The access record is incomplete: {markdown(faults[0])}.", icon=":material/error:")
    days = current_settings().access_days
    st.caption(
        f"{plural(len(lines), 'line')}, kept for {plural(days, 'day')}. The table shows the latest {_SHOWN} lines, "
        "and the file contains all of them. To check the record, run `plurality access`."
    )
    table = pd.DataFrame(
        [(line.time, line.who, line.what, line.dataset, ", ".join(line.details)) for line in reversed(lines)],
        columns=["at", "who", "what", "dataset", "details"],
    )
    st.dataframe(table.head(_SHOWN), hide_index=True, key="access_record")
    st.download_button(
        "Download the record",
        lambda: to_csv(table),
        file_name="access.csv",
        mime="text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key="take_access_record",
    )


def _moment(seconds: float) -> str:
    return time.strftime("%d %b %H:%M UTC", time.gmtime(seconds))


PACKAGES = ("streamlit", "plotly", "numpy", "scipy", "pandas", "pyarrow", "numba", "nutpie", "sqlalchemy")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


navigation.through_app()
st.title("Settings")
settings = current_settings()
leaves = "nothing leaves this computer"
if settings.remote_images:
    leaves = "nothing leaves this computer except requests for images on other computers"
if elsewhere(settings.cluster):
    leaves = (
        f"{leaves} except data sent to the cluster"
        if leaves.endswith("computer")
        else f"{leaves} and data sent to the cluster"
    )
st.markdown(f"**Plurality {__version__}** · {leaves}, and no usage statistics are sent.")
st.subheader("Running computations", anchor=False)
job_progress.every_computation()
st.subheader("Folders and limits", anchor=False)
rows = {
    "Folder for saved datasets (PLURALITY_HOME)": str(settings.home),
    "Reviews (PLURALITY_DATABASE_URL)": store_url().render_as_string(hide_password=True),
    "Folder for case images (PLURALITY_IMAGES)": str(settings.images) if settings.images else "none",
    "Images from other computers (PLURALITY_REMOTE_IMAGES)": "loaded" if settings.remote_images else "not loaded",
    "Folder for compiled kernels (NUMBA_CACHE_DIR)": os.environ["NUMBA_CACHE_DIR"],
    "Maximum file size (PLURALITY_MAX_UPLOAD_MB)": f"{settings.max_upload_mb:,} MB",
    "Memory for reading a small file (PLURALITY_READING_MB)": f"{settings.reading_mb:,} MB",
    "Maximum model size (PLURALITY_MAX_MODEL_CELLS)": f"{settings.max_model_cells:,} numbers",
    "Maximum number of worker processes (PLURALITY_WORKERS)": f"{settings.workers:,}",
    "Cluster that computes draws (PLURALITY_CLUSTER)": settings.cluster or "none",
    "Maximum size of results on disk (PLURALITY_RESULTS_MB)": f"{settings.results_mb:,} MB",
    "Maximum size of results in memory (PLURALITY_MEMORY_MB)": f"{settings.memory_mb:,} MB",
    "Processors": str(os.cpu_count()),
}
st.html(  # a table cut its second column off on a telephone
    "<style>dl.settings {display: grid; grid-template-columns: fit-content(28rem) 1fr; gap: 0.45rem 1.5rem; padding: 0}"
    ".settings dt {opacity: 0.75} dl.settings dd {margin: 0; overflow-wrap: anywhere}"
    "@media (max-width: 1000px) {dl.settings {grid-template-columns: 1fr; gap: 0} dl.settings dd {margin: 0 0 0.6rem}}"
    "</style><dl class='settings'>"
    + "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in rows.items())
    + "</dl>"
)
if settings.images is not None and not settings.images.is_dir():
    st.warning(
        "Could not find the image folder, so no image is shown. Set PLURALITY_IMAGES to a folder on this computer.",
        icon=":material/folder_off:",
    )
st.subheader("Details for a bug report", anchor=False)
details = [
    f"Plurality {__version__}",
    f"Python {platform.python_version()} on {platform.system()} {platform.release()} ({platform.machine()})",
    *(f"{package} {_version(package)}" for package in PACKAGES),
    *(f"{name}: {value}" for name, value in rows.items()),
]
st.code("\n".join(details), language=None)
st.caption("Use the copy icon. The text contains folder paths, but no data.")
_administration()
