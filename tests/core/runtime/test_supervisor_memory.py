"""How a process takes memory and gives it back; each test in a process of its own."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(sys.platform != "linux" or not platform.libc_ver()[0], reason="of glibc alone")


@pytest.mark.parametrize(("asked", "most"), [({}, 1), ({"MALLOC_ARENA_MAX": "5"}, 5)])
def test_threads_of_a_server_share_one_heap_unless_the_environment_says_otherwise(asked, most):
    """Nine threads that hold memory at once; glibc tells how many heaps they have taken it from."""
    script = (
        "import ctypes, re, tempfile, threading\n"
        "from core.runtime.supervisor import limit_arenas\n"
        "limit_arenas()\n"
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


def test_what_is_free_between_what_is_in_use_goes_back_to_the_system():
    """Blocks of 64 kB, every tenth of which stays; without it glibc would keep the others."""
    script = (
        "import ctypes, os, pathlib\n"
        "from core.runtime.supervisor import trim\n"
        "def held():\n"
        "    pages = int(pathlib.Path('/proc/self/statm').read_text().split()[1])\n"
        "    return pages * os.sysconf('SC_PAGE_SIZE') // 1_000_000\n"
        "blocks = [ctypes.create_string_buffer(b'x' * 64_000) for _ in range(2000)]\n"
        "del blocks[::10], blocks[:]\n"
        "blocks = [ctypes.create_string_buffer(b'x' * 64_000) for _ in range(2000)]\n"
        "kept = blocks[::10]\n"
        "full = held()\n"
        "del blocks\n"
        "before = held()\n"
        "trim()\n"
        "print(full, before, held())\n"
    )
    own = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=own, capture_output=True, text=True)
    full, before, after = map(int, done.stdout.split())
    assert full - before < 40 < 80 < before - after, done
