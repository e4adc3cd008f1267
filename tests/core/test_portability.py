"""What differs on Windows and macOS, held on any system: names of files, open files, encodings, what Python has there.

Where the behaviour can be imitated it is; the rest are rules on the source, each with lines that it must find.
"""

import ast
import io
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import core
from core import belongings, library
from core.annotations.dataset import Dataset
from core.command_line import main
from core.ingest import saved_mappings
from core.ingest.case_facts import CaseFacts
from core.ingest.formats.detect import open_source
from core.runtime import files
from core.runtime.files import draft_name, put_in_place, sweep_drafts
from core.runtime.processes import environment
from core.runtime.result_cache import kept_results
from core.settings import current_settings
from core.text import utc

ROOT = Path(core.__file__).parents[1]
SOURCES = [*sorted((ROOT / "core").rglob("*.py")), *sorted((ROOT / "pages").rglob("*.py")), ROOT / "app.py"]
LONGEST_PATH, LONGEST_HOME = 259, 80  # characters; of a path on Windows, and of the folder that ours stand in

# Names of files


DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{n}" for port in ("com", "lpt") for n in range(10)
}


def refused_by_windows(name):
    """Whether Windows has no file or folder of that name, or another one than was asked for."""
    return (
        bool(set(name) & set('<>:"/\\|?*'))
        or min(map(ord, name)) < 32
        or name[-1] in ". "
        or name.split(".")[0].rstrip().casefold() in DEVICES
    )


def clashes(paths):
    """Paths that are one where upper and lower case are the same."""
    seen = {}
    for path in paths:
        seen.setdefault(path.casefold(), set()).add(path)
    return [sorted(same) for same in seen.values() if len(same) > 1]


@pytest.mark.parametrize("name", ["CON", "nul.txt", "Com1.tar.gz", "aux .x", "a:b", "a?", "a.", "a ", "a\tb", "a\\b"])
def test_the_rule_finds_a_name_that_windows_refuses(name):
    assert refused_by_windows(name)


@pytest.mark.parametrize("name", ["console", "a.b", ".writing-host-1-ab-cd", "κ–é", "com", "nullable.csv"])
def test_the_rule_lets_other_names_pass(name):
    assert not refused_by_windows(name)


def test_the_project_can_be_cloned_on_windows_and_macos():
    tops = [path for path in ROOT.iterdir() if path.is_file() or path.name in ("core", "docs", "pages", "sample_data")]
    tops.append(ROOT / "tests")
    paths = [path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])]
    relative = [path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts]
    assert len(relative) > 700
    assert [path for path in relative if any(map(refused_by_windows, path.split("/")))] == []
    assert clashes(relative) == []
    assert max(map(len, relative)) < LONGEST_PATH - LONGEST_HOME


HOSTILE = ("CON", "nul.txt", "a:b", "A", "a", "dots..", "..", "a/b", "a\\b", "C:\\x", "κ–é", "?*<>|", "x" * 300)


def test_nothing_that_is_kept_bears_a_name_that_windows_refuses(monkeypatch):
    """Whatever cases, raters, classes, files and selections are called: the drafts count as well."""
    drafts, replace = [], os.replace

    def watched(draft, place):
        drafts.append(Path(draft))
        replace(draft, place)

    monkeypatch.setattr(os, "replace", watched)
    n = len(HOSTILE)
    dataset = Dataset.from_classes("NUL", HOSTILE, HOSTILE, HOSTILE, np.arange(n), np.arange(n), np.arange(n))
    images = {case: {f"{case}.png": b"\x89PNG\r\n\x1a\n" + case.encode()} for case in HOSTILE}
    library.keep(
        dataset, CaseFacts(dict.fromkeys(HOSTILE, "text"), {case: (f"{case}.png",) for case in HOSTILE}, images)
    )
    library.rename(dataset.digest, "COM1")
    library.set_aside(dataset, None, None)
    for name in HOSTILE:
        belongings.add_predictions(dataset.digest, name, name.encode())
        belongings.add_selection(dataset.digest, name, "{}")
        assert kept_results().put(dataset, (name,), 1.5, dataset.digest)
    source = open_source([("CON.csv", b"case,rater,NUL\n1,a,x\n2,a,y\n")])
    question = source.questions[0]
    saved_mappings.remember(source, question, saved_mappings.Choices(question.mapping))

    home = current_settings().home
    kept = [path.relative_to(home).as_posix() for path in [*home.rglob("*"), *drafts]]
    assert len(drafts) > 3 * n and len(kept) > 5 * n
    assert [path for path in kept if any(map(refused_by_windows, path.split("/")))] == []
    assert clashes(kept) == []
    assert max(map(len, kept)) <= LONGEST_PATH - LONGEST_HOME
    assert set(belongings.predictions_of(dataset.digest)) == set(HOSTILE)
    assert library.facts_of(dataset.digest).images["a"] != library.facts_of(dataset.digest).images["A"]


# Files that somebody has open


def busy(times):
    """An `os.replace` that fails as on Windows the first few times."""
    left, replace = [times], os.replace

    def refusing(draft, place):
        left[0] -= 1
        if left[0] >= 0:
            raise PermissionError(13, "The process cannot access the file because it is being used by another process")
        replace(draft, place)

    return refusing


def test_on_windows_a_file_that_is_open_is_replaced_as_soon_as_it_is_closed(tmp_path, monkeypatch):
    draft, place = tmp_path / "draft", tmp_path / "place"
    draft.write_bytes(b"new")
    place.write_bytes(b"old")
    monkeypatch.setattr(files, "PAUSE", 0.0)
    with monkeypatch.context() as windows:
        windows.setattr(os, "name", "nt")
        windows.setattr(os, "replace", busy(3))
        put_in_place(draft, place)
    assert place.read_bytes() == b"new" and not draft.exists()


def test_a_file_that_stays_open_is_an_error_and_elsewhere_it_is_one_at_once(tmp_path, monkeypatch):
    draft, place = tmp_path / "draft", tmp_path / "place"
    draft.write_bytes(b"new")
    monkeypatch.setattr(files, "PAUSE", 0.0)
    for system, times in (("nt", 1000), ("posix", 1)):
        with monkeypatch.context() as other:
            other.setattr(os, "name", system)
            other.setattr(os, "replace", busy(times))
            with pytest.raises(PermissionError):
                put_in_place(draft, place)
    assert draft.exists() and not place.exists()


def test_what_cannot_be_removed_because_it_is_open_stands_in_nobodys_way(monkeypatch):
    dataset = Dataset.from_classes("data", ["1"], ["a"], ["x", "y"], [0], [0], [0])
    store = kept_results()
    assert store.put(dataset, ("one",), 1.5, dataset.digest)
    (path,) = current_settings().results.rglob("*.result")
    path.write_bytes(b"damaged")
    old = current_settings().home / ".writing-elsewhere-1-ab-cd"
    old.write_bytes(b"")
    os.utime(old, (0, 0))

    def refused(self, **how):
        raise PermissionError(13, "in use")

    with monkeypatch.context() as windows:
        windows.setattr(Path, "unlink", refused)
        assert store.get(dataset, ("one",)) is None
        sweep_drafts(current_settings().home)
        monkeypatch.setenv("PLURALITY_RESULTS_MB", "1")
        store.trim()
        store.erase(dataset.digest)
    assert old.exists()
    sweep_drafts(current_settings().home)
    assert not old.exists()


def test_no_process_is_asked_after_by_a_signal_on_windows(monkeypatch):
    """There os.kill(…, 0) is Ctrl-C for all of the console. The age of a draft says there whether it is in use."""
    young, old = (current_settings().home / draft_name("writing").replace(str(os.getpid()), pid) for pid in ("1", "2"))
    for path, at in ((young, None), (old, (0, 0))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        if at:
            os.utime(path, at)

    def killed(process, number):
        raise AssertionError

    with monkeypatch.context() as windows:
        windows.setattr(os, "kill", killed)
        windows.setattr(os, "name", "nt")
        in_use = files._in_use(young), files._in_use(old)
    assert in_use == (True, False)


# Encodings and line ends


def run(*arguments, **own):
    """The command line where the system's encoding is that of a Windows in western Europe."""
    told = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "core", *arguments]
    return subprocess.run(command, cwd=ROOT, env=told, capture_output=True, timeout=120, **own)


def test_the_command_line_writes_utf_8_where_the_system_has_another_encoding(tmp_path):
    (tmp_path / "data.csv").write_bytes("case,rater,answer\n1,a,κ\n1,b,–\n".encode())
    done = run("describe", str(tmp_path / "data.csv"))
    assert done.returncode == 0, done.stderr
    assert '"κ"' in done.stdout.decode() and '"–"' in done.stdout.decode()
    assert b"\r" not in done.stdout
    missing = run("describe", str(tmp_path / "κ – no such file.csv"))
    assert missing.returncode == 2
    assert "κ – no such file.csv" in missing.stderr.decode()


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="file names are text")
def test_a_file_name_that_is_no_text_is_one_clear_line(tmp_path):
    done = run("describe", os.fsencode(tmp_path) + b"/\xff.csv")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("plurality: ") and "Traceback" not in done.stderr.decode()


def test_csv_and_json_have_the_same_bytes_where_lines_end_otherwise(tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_bytes("case,rater,answer\n1,a,κ\n1,b,–\n2,a,κ\n2,b,κ\n".encode())
    for more in ([], ["--csv"]):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="\r\n")
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["agreement", str(tmp_path / "data.csv"), *more]) == 0
        written = stream.buffer.getvalue()
        assert written.count(b"\n") > 3 and b"\r" not in written


def test_what_child_processes_say_is_utf_8():
    assert environment()["PYTHONIOENCODING"] == "utf-8"


def test_moments_before_1970_are_the_same_on_every_system():
    assert utc(-62135596800) == datetime(1, 1, 1, tzinfo=UTC)
    assert utc(1.5) == datetime.fromtimestamp(1.5, UTC)


# Rules on the source

POSIX_ONLY = {
    "os": "getuid geteuid getgid getegid getgroups setuid fork forkpty wait wait3 wait4 waitid killpg getpgid setpgid "
    "setsid chown lchown fchown fchmod chroot mkfifo mknod nice sched_getaffinity sched_setaffinity getloadavg sysconf "
    "uname statvfs sync pread pwrite sendfile posix_fallocate posix_fadvise openpty ttyname O_DIRECTORY O_NOFOLLOW "
    "O_CLOEXEC O_NONBLOCK WNOHANG register_at_fork",
    "signal": "SIGKILL SIGSTOP SIGCONT SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGCHLD SIGPIPE SIGQUIT alarm setitimer pause "
    "pthread_kill pthread_sigmask sigwait",
    "time": "tzset",
}
NOT_EVERYWHERE = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog", "curses", "readline"}
NOT_EVERYWHERE |= {"msvcrt", "winreg", "winsound", "_winapi", "mmap"}
BYTES = {"os", "Image", "archive", "_archive"}  # whose ``open`` knows no text
# The worker's folder is its own until it has ended.
REPLACING = {"core/runtime/files.py", "core/runtime/_worker.py"}
SIGNALS = {"core/runtime/files.py"}
FORKS = {"core/runtime/supervisor.py"}  # for a server of Linux; elsewhere it refuses, which is tested with it


def called(node):
    """Name of the function that is called, and of what it is called on."""
    function = node.func
    on = getattr(function, "value", None)
    return getattr(function, "id", getattr(function, "attr", "")), getattr(on, "id", getattr(on, "attr", None))


def keywords(node):
    return {option.arg: option.value for option in node.keywords}


def mode_of(node, name, on):
    """The mode in which a file is opened: text for reading where none is written."""
    place = 1 if name != "open" or on is None else 0
    mode = keywords(node).get("mode", node.args[place] if len(node.args) > place else None)
    return getattr(mode, "value", "r")


def has_encoding(node, name):
    place = {"read_text": 0, "write_text": 1}.get(name)
    return "encoding" in keywords(node) or (place is not None and len(node.args) > place)


def text_faults(node, name, on):
    """Text that is read or written without saying how its letters and its line ends are."""
    given = keywords(node)
    if name in ("open", "fdopen") and on not in BYTES - {"os"} and (name, on) != ("open", "os"):
        mode = mode_of(node, name, on)
        if "b" not in mode and not has_encoding(node, name):
            yield "opened without encoding"
        if "b" not in mode and set(mode) & set("wax") and name == "open" and "newline" not in given:
            yield "written without newline"
    if name in ("read_text", "write_text", "TextIOWrapper", "reconfigure") and not has_encoding(node, name):
        yield "text without encoding"
    if name == "write_text" and "newline" not in given:
        source = node.args[0]
        if not (isinstance(source, ast.Call) and called(source)[0] == "dumps" and "indent" not in keywords(source)):
            yield "several lines without newline"
    if on == "subprocess" and ({"text", "universal_newlines"} & set(given)) and "encoding" not in given:
        yield "a process's words without encoding"
    if name in ("NamedTemporaryFile", "TemporaryFile") and "b" not in getattr(given.get("mode"), "value", "b"):
        yield "text without encoding" if "encoding" not in given else ""
    if name == "to_csv" and on is not None and "lineterminator" not in given and on != "tables":
        yield "CSV with the system's line ends"


def file_faults(node, name, on, file):
    """Files that are moved, removed or mapped as only POSIX allows while somebody has them open."""
    given = keywords(node)
    one = len(node.args) == 1 and not given and isinstance(node.func, ast.Attribute)
    one = one and not isinstance(node.args[0], ast.Dict)  # of values in a frame
    if name in ("replace", "rename") and (on == "os" or one) and file not in REPLACING:
        yield "moved otherwise than by put_in_place"
    if name == "remove" and on == "os":
        yield "removed otherwise than by discard"
    if name in ("memmap", "memory_map") or {"mmap_mode", "memory_map"} & set(given):
        yield "mapped into memory"
    if name == "kill" and on == "os" and file not in SIGNALS | FORKS:
        yield "os.kill"
    if name in ("fromtimestamp", "utcfromtimestamp"):
        yield "no moment before 1970 on Windows"
    if name == "strftime" and any("%-" in str(getattr(word, "value", "")) for word in node.args):
        yield "no %- on Windows"


def guarded(node, parents, test):
    """Whether a node stands where ``test`` holds for one of those around it."""
    while node in parents:
        node = parents[node]
        if test(node):
            return True
    return False


def asks_first(name):
    """Whether a condition asks after an attribute before it is used."""
    return lambda node: isinstance(node, ast.If | ast.IfExp) and f"'{name}'" in ast.unparse(node.test)


def forgives(node):
    """Whether an error of the system is caught here."""
    if isinstance(node, ast.With):
        return any("suppress(OSError" in ast.unparse(item) for item in node.items)
    return isinstance(node, ast.Try) and any("OSError" in ast.unparse(h.type) for h in node.handlers if h.type)


def does_without(node):
    """Whether something else is done where a module is missing."""
    return isinstance(node, ast.Try) and any(
        "ModuleNotFoundError" in ast.unparse(h.type) for h in node.handlers if h.type
    )


def faults(text, file="core/one.py"):
    """What in a source would not do on Windows or macOS, by line."""
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module.split(".")[0]]
        said = [
            f"imports {name}" for name in names if name in NOT_EVERYWHERE and not guarded(node, parents, does_without)
        ]
        if isinstance(node, ast.Attribute) and node.attr in POSIX_ONLY.get(getattr(node.value, "id", ""), "").split():
            said += (
                []
                if file in FORKS or guarded(node, parents, asks_first(node.attr))
                else [f"{node.value.id}.{node.attr}"]
            )
        if isinstance(node, ast.Call):
            name, on = called(node)
            said += [*text_faults(node, name, on), *file_faults(node, name, on, file)]
            if name == "unlink" and not guarded(node, parents, forgives):
                said.append("removed without a way out")
        found += [f"{file} line {node.lineno}: {one}" for one in said if one]
    return found


def test_the_source_keeps_to_what_every_system_has():
    assert len(SOURCES) > 300
    every = [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in SOURCES]
    assert [fault for file, text in every for fault in faults(text, file)] == []


@pytest.mark.parametrize(
    "line",
    [
        "import fcntl",
        "from mmap import mmap",
        "os.getuid()",
        "process.send_signal(signal.SIGKILL)",
        "os.kill(process, 0)",
        "open(path)",
        "open(path, 'w', encoding='utf-8')",
        "path.open('r')",
        "os.fdopen(handle, 'w')",
        "path.read_text()",
        "path.write_text(words)",
        "path.write_text(words, encoding='utf-8')",
        "path.write_text(json.dumps(told, indent=1), encoding='utf-8')",
        "subprocess.run(command, text=True)",
        "io.TextIOWrapper(stream)",
        "frame.to_csv(path, index=False)",
        "os.replace(draft, path)",
        "draft.rename(path)",
        "draft.replace(path)",
        "path.unlink()",
        "os.remove(path)",
        "np.load(path, mmap_mode='r')",
        "parquet.read_table(path, memory_map=True)",
        "np.memmap(path)",
        "datetime.fromtimestamp(second, UTC)",
        "day.strftime('%-d')",
    ],
)
def test_the_rules_find_what_they_are_for(line):
    assert faults(line)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import fcntl\nexcept ModuleNotFoundError:\n    fcntl = None",
        "open(path, 'rb')",
        "open(path, 'xb')",
        "path.open(encoding='utf-8', newline='')",
        "name = os.getuid() if hasattr(os, 'getuid') else 'user'",
        "path.read_text('utf-8', 'replace')",
        "path.write_text(json.dumps(told), encoding='utf-8')",
        "subprocess.Popen(command, stdout=subprocess.PIPE)",
        "frame.to_csv(index=False, lineterminator=end)",
        "name.replace('a', 'b')",
        "frame.rename(columns=names)",
        "with suppress(OSError):\n    path.unlink()",
        "try:\n    path.unlink()\nexcept OSError:\n    pass",
        "Image.open(path)",
        "os.open(folder, os.O_RDONLY)",
    ],
)
def test_the_rules_let_pass_what_is_the_same_everywhere(text):
    assert faults(text) == []
