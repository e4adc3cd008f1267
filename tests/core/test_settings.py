"""Settings come from the environment, and what is wrong in it is said."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import InputError
from core.settings import current_settings

ROOT = Path(__file__).resolve().parents[2]


def test_images_are_off_until_a_folder_is_named(monkeypatch):
    monkeypatch.delenv("PLURALITY_IMAGES", raising=False)
    monkeypatch.delenv("PLURALITY_REMOTE_IMAGES", raising=False)
    settings = current_settings()
    assert settings.images is None
    assert settings.remote_images is False


def test_the_folder_of_images_may_begin_at_home(monkeypatch):
    monkeypatch.setenv("PLURALITY_IMAGES", "~/photos")
    assert current_settings().images == Path.home() / "photos"


@pytest.mark.parametrize(("text", "on"), [("1", True), ("Yes", True), ("off", False), ("0", False), ("", False)])
def test_a_switch_is_on_or_off(monkeypatch, text, on):
    monkeypatch.setenv("PLURALITY_REMOTE_IMAGES", text)
    assert current_settings().remote_images is on


def test_a_switch_that_is_neither_is_refused(monkeypatch):
    monkeypatch.setenv("PLURALITY_REMOTE_IMAGES", "perhaps")
    with pytest.raises(InputError, match="PLURALITY_REMOTE_IMAGES is 'perhaps'"):
        current_settings()


@pytest.mark.skipif(sys.platform != "linux" or not platform.libc_ver()[0], reason="of glibc alone")
@pytest.mark.parametrize(("asked", "most"), [({}, 2), ({"MALLOC_ARENA_MAX": "5"}, 5)])
def test_threads_of_a_server_share_two_heaps_unless_the_environment_says_otherwise(asked, most):
    """Nine threads that hold memory at once; glibc tells how many heaps they have taken it from."""
    script = (
        "import ctypes, re, tempfile, threading\n"
        "from core.settings import few_heaps\n"
        "few_heaps()\n"
        "together = threading.Barrier(9)\n"
        "def hold():\n"
        "    held = [ctypes.create_string_buffer(4000) for _ in range(100)]\n"
        "    together.wait()\n"
        "threads = [threading.Thread(target=hold) for _ in range(9)]\n"
        "[thread.start() for thread in threads], [thread.join() for thread in threads]\n"
        "c = ctypes.CDLL(None)\n"
        "c.fopen.restype = ctypes.c_void_p\n"
        "with tempfile.NamedTemporaryFile() as told:\n"
        "    stream = ctypes.c_void_p(c.fopen(told.name.encode(), b'w'))\n"
        "    c.malloc_info(0, stream), c.fclose(stream)\n"
        "    print(len(re.findall('<heap nr=', open(told.name).read())))\n"
    )
    own = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=own | asked, capture_output=True, text=True)
    assert done.stdout.split() == [str(most)], done.stderr
