"""What is in the home folder is for the user of the server alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import accounts, belongings, changes, library
from core.annotations.dataset import Dataset
from core.command_line import main
from core.review.store import ReviewStore
from core.runtime.files import write_whole
from core.settings import close_home, private_files

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


@pytest.fixture(autouse=True)
def usual_mask():
    """That of most systems: what is made is for everybody to read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(folder):
    return {path.name for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o077}


def fill(home):
    """Write one of all that is kept."""
    dataset = Dataset.from_classes("Ours", ["c1", "c2"], ["r1", "r2"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])
    library.keep(dataset)
    belongings.add_predictions(dataset.digest, "model", b"x")
    changes.record_change("ann", dataset.digest, "share", ["bob"])
    accounts.bind("ann", "i", "s", 1.0)
    ReviewStore().close()


def test_what_is_written_in_private_is_for_nobody_else(home):
    with private_files():
        fill(home)
    assert len(list(home.rglob("*"))) > 8 and open_to_others(home) == set()
    assert os.umask(0o022) == 0o022, "afterwards files are as before"


def test_secrets_and_the_database_are_private_whatever_the_process_does(home):
    fill(home)
    found = open_to_others(home)
    assert not found & {"reviews.sqlite3", "changes.jsonl", "belongings.json"}
    assert found.isdisjoint(path.name for path in [*home.glob("accounts/*"), *home.glob("belongings/*/*")])
    write_whole(home / "secret", b"x")
    assert "secret" not in open_to_others(home)


def test_a_home_that_was_open_is_closed_and_what_it_points_to_is_left_alone(home, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("of somebody else")
    outside.chmod(0o644)
    fill(home)
    (home / "link").symlink_to(outside)
    n_open = len(open_to_others(home) - {"link"})
    assert n_open > 3
    assert close_home() == (n_open, 0)
    (home / "link").unlink()
    assert open_to_others(home) == set() and outside.stat().st_mode & 0o777 == 0o644
    assert close_home() == (0, 0)


def test_a_home_that_is_not_there_is_not_made(home):
    assert close_home() == (0, 0) and not home.exists()


def test_commands_that_write_to_the_home_write_in_private(home, tmp_path, capsys):
    assert main(["upgrade"]) == 0
    assert home.stat().st_mode & 0o777 == 0o700 and open_to_others(home) == set()
    fill(home)
    assert main(["backup", str(tmp_path / "out.backup")]) == 0
    assert (tmp_path / "out.backup").stat().st_mode & 0o777 == 0o600
    home.rename(tmp_path / "before")
    assert main(["restore", str(tmp_path / "out.backup")]) == 0
    assert len(list(home.rglob("*"))) > 8 and open_to_others(home) == set()


def test_files_that_a_command_is_asked_for_are_as_the_user_has_them(tmp_path):
    run = [sys.executable, "-m", "core", "certainty", "dirichlet", "caries", "--reliability", "2"]
    subprocess.run([*run, "--cases-out", tmp_path / "cases.csv"], cwd=ROOT, check=True, capture_output=True)
    assert (tmp_path / "cases.csv").stat().st_mode & 0o777 == 0o644
