"""Settings: version, folders, limits, and details to copy into a bug report."""

import os
import platform
from importlib.metadata import version

import streamlit as st

from core.review.database import store_url
from core.settings import current_settings
from core.version import __version__
from pages.shared import menu

PACKAGES = ("streamlit", "plotly", "numpy", "scipy", "pandas", "pyarrow", "numba", "nutpie", "sqlalchemy")

menu.through_app()
st.title("Settings")
settings = current_settings()
st.markdown(f"**Plurality {__version__}** · nothing leaves this computer, no usage statistics are sent.")
rows = {
    "Folder of kept datasets (PLURALITY_HOME)": str(settings.home),
    "Reviews (PLURALITY_DATABASE_URL)": store_url().render_as_string(hide_password=True),
    "Folder of compiled kernels (NUMBA_CACHE_DIR)": os.environ["NUMBA_CACHE_DIR"],
    "Largest file (PLURALITY_MAX_UPLOAD_MB)": f"{settings.max_upload_mb:,} MB",
    "Largest model (PLURALITY_MAX_MODEL_CELLS)": f"{settings.max_model_cells:,} numbers",
    "Processors": str(os.cpu_count()),
}
st.dataframe({"setting": list(rows), "value": list(rows.values())}, hide_index=True, key="settings")
st.subheader("Details for a bug report", anchor=False)
details = [
    f"Plurality {__version__}",
    f"Python {platform.python_version()} on {platform.system()} {platform.release()} ({platform.machine()})",
    *(f"{package} {version(package)}" for package in PACKAGES),
    *(f"{name}: {value}" for name, value in rows.items()),
]
st.code("\n".join(details), language=None)
st.caption("Copy with the sign at the right. No data are in it; folders are.")
