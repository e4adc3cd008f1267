"""What is used of Streamlit and is not documented stands in one module, and was looked at for one version."""

import ast
from pathlib import Path, PurePosixPath

import pytest
import streamlit
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from pages.shared.cache import offered
from pages.shared.cache.offered import OfferedFiles

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "pages" / "shared" / "cache" / "streamlit_private.py"
# What its documentation names, and what it cannot be started or watched without.
DOCUMENTED = {
    "streamlit",
    "streamlit.delta_generator",
    "streamlit.errors",
    "streamlit.logger",
    "streamlit.runtime",
    "streamlit.runtime.scriptrunner",
    "streamlit.web",
}
OURS = {"_clock"}  # of the store that asks who may
UNDOCUMENTED = {  # attributes without an underscore of their own
    "cached_message_hashes",
    "fragment_ids_this_run",
    "is_history_navigation",
    "media_file_mgr",
    "script_requests",
    "setup_formatter",
}


def private_parts(source):
    """Undocumented modules of Streamlit that some code imports, and private attributes of what is not its own."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name.split(".")[0] == "streamlit"]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module.split(".")[0] == "streamlit":
            found += [node.module] + [one.name for one in node.names if one.name.startswith("_")]
        elif isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "streamlit_private")
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            found += [node.attr] if not own and (private or node.attr in UNDOCUMENTED) else []
    return set(found) - DOCUMENTED - OURS


def test_the_version_is_that_with_which_the_private_parts_were_checked():
    """Go through the functions of the module when this fails, and run the tests of the browser."""
    assert streamlit.__version__ == "1.67.0"


def test_no_other_module_of_the_dashboard_uses_private_parts():
    sources = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix(): private_parts(path.read_text("utf-8")) for path in sources}
    assert len(found.pop(MODULE.relative_to(ROOT).as_posix())) > 10
    assert {name: parts for name, parts in found.items() if parts} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from streamlit.web.server.starlette.starlette_websocket import is_host_allowed",
        "import streamlit.runtime.media_file_manager",
        "from streamlit.runtime import _private",
        "runtime.get_instance()._session_mgr.num_active_sessions()",
        "context.cached_message_hashes = frozenset()",
    ],
)
def test_the_rule_would_find_a_private_part(source):
    assert private_parts(source)


def test_a_file_that_a_press_made_outlasts_the_runs_of_others(monkeypatch):
    """Two runs that end between the press and the browser's request once took the file away."""
    monkeypatch.setattr(offered, "_name", lambda: "")
    monkeypatch.setattr(offered, "record_access", lambda *_: None)
    files = OfferedFiles(MemoryMediaFileStorage("/media"))
    pressed = files.add_deferred(lambda: b"table", "text/csv", "1.0", file_name="table.csv")
    made = PurePosixPath(files.execute_deferred(pressed)).name
    for _ in range(3):
        files.remove_orphaned_files()
    assert files._storage.get_file(made).content == b"table"
    monkeypatch.setattr(offered, "_SECONDS_TO_FETCH", 0.0)
    for _ in range(2):
        files.remove_orphaned_files()
    with pytest.raises(MediaFileStorageError):
        files._storage.get_file(made)
    assert not files._made
