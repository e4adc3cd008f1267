"""The files of a server for a team: all there, checked by the programs that read them, and with nobody else's words."""

import json
import re
import shutil
import sqlite3
import stat
import subprocess
import time
import tomllib
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from core.command_line import main
from core.deployment.write import AWAY, PARTS, Deployment, write_deployment
from core.errors import InputError
from core.review.events import Draft
from core.review.store import ReviewStore
from core.settings import Settings
from tests.benchmarks.install import Machine
from tests.browser.deployed import find, free_ports, missing_tools

ROOT = Path(__file__).resolve().parents[2]
NAME = "plurality.clinic.example"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Where the deployment of three processes is."""
    return tmp_path_factory.mktemp("deployment") / "out"


@pytest.fixture(scope="module")
def written(files):
    write_deployment(Deployment(NAME, processes=3), files)
    return {path.name: path.read_text(encoding="utf-8") for path in files.iterdir()}


def test_the_command_says_what_each_file_is_and_where_it_belongs(tmp_path, capsys):
    assert main(["deploy", str(tmp_path / "out"), "--name", NAME]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["address"] == f"https://{NAME}"
    assert {part["file"] for part in told["files"]} == {path.name for path in (tmp_path / "out").iterdir()}
    assert main(["deploy", str(tmp_path / "out"), "--name", NAME]) == 2
    assert "not empty" in capsys.readouterr().err


def test_secrets_are_new_each_time_and_only_their_owner_reads_them(written, files, tmp_path):
    write_deployment(Deployment(NAME), tmp_path / "other")
    for part in PARTS:
        mode = stat.S_IMODE((files / part.file).stat().st_mode)
        assert mode & 0o077 == 0 if part.secret else mode & 0o044, part.file
    found = set(re.findall(r"\b[0-9a-f]{32,64}\b", "".join(written.values())))
    others = set(re.findall(r"\b[0-9a-f]{32,64}\b", (tmp_path / "other" / "plurality.env").read_text()))
    assert len(found) == 3 and len(others) == 2 and not found & others
    secret = {part.file for part in PARTS if part.secret}
    assert all(one not in text for one in found for name, text in written.items() if name not in secret)


def test_every_file_is_explained_in_itself_and_in_the_documents(written):
    guide = (ROOT / "docs" / "pages" / "operate" / "deploy.md").read_text(encoding="utf-8")
    for part in PARTS:
        assert re.match(r"(?:#!/bin/sh\n)?\n?# \S", written[part.file]), part.file
        assert f"`{part.file}`" in guide, part.file
        assert "{{" not in written[part.file] and "{%" not in written[part.file]


def test_settings_are_those_that_there_are_and_the_provider_s_file_can_be_read(written):
    names = set(re.findall(r"(?m)^#? ?(PLURALITY_\w+)=", written["plurality.env"]))
    known = (ROOT / "core" / "settings.py").read_text(encoding="utf-8")
    assert len(names) >= 6 and all(name in known for name in names)
    assert Settings.__dataclass_fields__["several_processes"].default is False
    auth = tomllib.loads(written["secrets.toml"])["auth"]
    assert auth["redirect_uri"] == f"https://{NAME}/oauth2callback"
    assert auth["cookie_secret"] in written["plurality.env"], "one secret for all processes"
    assert tomllib.loads(written["people.toml"])["everybody_else"] == "nobody"


@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell")
def test_the_command_passes_no_secret_in_the_arguments_of_any_program(written, tmp_path):
    """Whatever programs it starts note their arguments; the last one has all settings, letter for letter."""
    secret = "postgresql://plurality:p%40ss*$HOME `id`@db/plurality"
    settings = written["plurality.env"] + f"PLURALITY_DATABASE_URL={secret}\n# NO=1\n\nPLURALITY_LAST=no line end"
    (tmp_path / "env").write_text(settings, encoding="utf-8")
    tools, program = tmp_path / "tools", tmp_path / "program" / ".venv" / "bin"
    program.mkdir(parents=True)
    tools.mkdir()
    for name in ("setpriv", "env", "grep", "cat", "sed", "xargs", "python"):
        real = f"exec {shutil.which(name)}" if name != "setpriv" else 'shift 5; exec "$@" #'
        end = f'tr "\\0" "\\n" < /proc/self/environ > {tmp_path}/environment' if name == "python" else f'{real} "$@"'
        shim = (program if name == "python" else tools) / name
        shim.write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@" >> {tmp_path}/arguments\n{end}\n')
        shim.chmod(0o755)
    text = written["plurality"].replace("/opt/plurality", str(tmp_path / "program"))
    (tmp_path / "command").write_text(text.replace("/etc/plurality/plurality.env", str(tmp_path / "env")))
    run = ["/bin/sh", tmp_path / "command", "verify", "--head", "a b"]
    subprocess.run(run, check=True, env={"PATH": f"{tools}:/usr/bin:/bin"})
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments[-6:] == ["python", "-m", "core", "verify", "--head", "a b"] and "setpriv" in arguments
    told = dict(line.split("=", 1) for line in settings.splitlines() if re.match("[A-Z]", line))
    assert not [value for value in told.values() if len(value) > 20 and any(value in one for one in arguments)]
    environment = (tmp_path / "environment").read_text().splitlines()
    assert {f"{name}={value}" for name, value in told.items()} <= set(environment)
    assert told["PLURALITY_DATABASE_URL"] == secret and "HOME=/var/lib/plurality" in environment


def test_no_service_or_container_is_started_with_a_secret(written):
    secrets = set(re.findall(r"\b[0-9a-f]{32,64}\b", "".join(written.values())))
    starts = r"(?m)^.*(?:Exec\w+=|CMD|command:|test:|- sh|curl|psql|core ).*$"
    lines = [line for text in written.values() for line in re.findall(starts, text)]
    assert len(lines) > 10 and len(secrets) == 3
    assert [line for line in lines if any(secret in line for secret in secrets) or "Bearer TOKEN http" in line] == []


def test_the_database_s_address_is_read_from_a_file_and_a_password_in_the_arguments_is_said(tmp_path, capsys):
    address = "postgresql://plurality:hidden@db.clinic.example/plurality"
    (tmp_path / "address").write_text(f"{address}\n")
    asked = ["deploy", str(tmp_path / "a"), "--name", NAME, "--database", f"@{tmp_path / 'address'}"]
    assert main(asked) == 0 and "arguments" not in capsys.readouterr().err
    assert f"PLURALITY_DATABASE_URL={address}\n" in (tmp_path / "a" / "plurality.env").read_text()
    assert main(["deploy", str(tmp_path / "b"), "--name", NAME, "--database", address]) == 0
    assert "can see a password that is given on the command line" in capsys.readouterr().err
    without = address.replace(":hidden", "")
    assert main(["deploy", str(tmp_path / "c"), "--name", NAME, "--database", without]) == 0
    assert "arguments" not in capsys.readouterr().err
    assert main(["deploy", str(tmp_path / "d"), "--name", NAME, "--database", "@/not/there"]) == 2


def test_every_process_has_its_line_in_every_file(written):
    for name, line in (
        ("haproxy.cfg", r"server p\d 127.0.0.1:(85\d\d) cookie p\d"),
        ("plurality.target", r"plurality@(85\d\d).service"),
        ("install.sh", r"plurality@(85\d\d).service"),
    ):
        assert re.findall(line, written[name]) == ["8501", "8502", "8503"], name
    assert re.findall(r"(?m)^  plurality(\d):$", written["compose.yaml"]) == ["1", "2", "3"]
    assert re.findall(r"server p\d plurality(\d):8501", written["haproxy-containers.cfg"]) == ["1", "2", "3"]


def test_image_and_machine_take_the_same_steps(written):
    steps = re.findall(r"(?:-m venv|-m pip install|-m core.warmup|-m streamlit run)[^\n\"&]*", written["install.sh"])
    assert len(steps) >= 2
    for step in steps:
        assert step.strip() in written["Dockerfile"], step
    assert "-m pages.shared.shell.server --server.port" in written["plurality@.service"]
    assert "SuccessExitStatus=143" in written["plurality@.service"], "asked to end, it says so as shells do"
    copied = set(re.findall(r"(?m)^COPY (\S+)", written["Dockerfile"]))
    assert copied == {"app.py", ".streamlit", "core", "docs", "pages", "sample_data", "requirements.lock"}
    assert all((ROOT / one).exists() for one in copied)


@pytest.mark.skipif(shutil.which("haproxy", path="/usr/sbin:/usr/bin") is None, reason="no HAProxy")
@pytest.mark.parametrize("database", ["", "postgresql://plurality:p%40ss@db.clinic.example/plurality"])
def test_haproxy_reads_what_is_written_for_it(tmp_path, database):
    haproxy = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    folder = tmp_path / "out"
    write_deployment(Deployment(NAME, database=database, certificate=str(tmp_path / "plurality.pem")), folder)
    _certificate(tmp_path)
    for name in ("haproxy.cfg", "haproxy-containers.cfg"):
        text = (folder / name).read_text().replace("/etc/plurality.pem", str(tmp_path / "plurality.pem"))
        (folder / name).write_text(re.sub(r"(?m)^    (?:user|group) .*\n", "", text))
        done = subprocess.run([haproxy, "-c", "-f", str(folder / name)], capture_output=True, text=True)
        assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    assert (database in (folder / "plurality.env").read_text()) and (database in (folder / "compose.yaml").read_text())


@pytest.mark.skipif(missing_tools() != [], reason=f"not installed: {', '.join(missing_tools())}")
def test_where_no_process_answers_people_read_what_is_wrong_and_are_asked_again(tmp_path):
    """In the place of a page, and as the text that an open page shows; with the headers of every answer."""
    plain, port, first, *_ = free_ports(4)
    certificate = str(tmp_path / "plurality.pem")
    asked = Deployment("localhost", 2, port=port, plain_port=plain, first_port=first, certificate=certificate)
    write_deployment(asked, tmp_path / "out")
    _certificate(tmp_path)
    text = (tmp_path / "out" / "haproxy.cfg").read_text(encoding="utf-8")
    (tmp_path / "h.cfg").write_text(re.sub(r"(?m)^    (?:user|group|log /dev/log) .*\n", "", text))
    door = subprocess.Popen([find("haproxy"), "-db", "-f", tmp_path / "h.cfg"], stderr=subprocess.DEVNULL)
    try:
        with httpx.Client(verify=False, base_url=asked.origin) as client:
            until = time.monotonic() + 20
            answer = None
            while time.monotonic() < until and (answer is None or answer.text != AWAY):
                with suppress(httpx.TransportError):
                    answer = client.get("/_stcore/health")  # within two seconds they are known to be down
                time.sleep(0.05)
            assert (answer.status_code, answer.text, answer.headers["retry-after"]) == (503, AWAY, "3")
            page = client.get("/cases?data=x")
            assert page.status_code == 503 and AWAY in page.text and 'http-equiv="refresh"' in page.text
            assert page.headers["content-type"].startswith("text/html") and page.headers["Content-Security-Policy"]
    finally:
        door.kill()
        door.wait()


def _certificate(folder):
    openssl = shutil.which("openssl") or pytest.skip("no openssl")
    made = [
        openssl,
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=localhost",
        "-keyout",
        "k",
        "-out",
        "c",
    ]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    (folder / "plurality.pem").write_text((folder / "c").read_text() + (folder / "k").read_text())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd")
def test_systemd_reads_what_is_written_for_it(written, files):
    units = [str(path) for path in files.iterdir() if path.suffix in (".service", ".target", ".timer")]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    faults = [line for line in done.stderr.splitlines() if "is not executable" not in line and "plurality" in line]
    assert faults == [], "that the program is not installed here is the only fault"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd")
@pytest.mark.parametrize("database", ["", "postgresql://plurality@db.clinic.example/plurality"])
def test_every_service_is_hardened_and_has_limits(tmp_path, database):
    """Exposure as systemd counts it, 0 to 10: below 3 for each."""
    write_deployment(Deployment(NAME, database=database), tmp_path / "out")
    exposed = {}
    services = sorted((tmp_path / "out").glob("*.service"))
    for path in services:
        unit = path.rename(path.with_name(path.name.replace("@.", "@1.")))
        run = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
        said = subprocess.run(run, capture_output=True, text=True).stdout
        exposed[unit.name] = float(re.search(r"Overall exposure level for \S+: ([\d.]+)", said)[1])
        text = unit.read_text(encoding="utf-8")
        assert "MemoryMax=" in text and "TasksMax=" in text, unit.name
    assert len(exposed) == 5 and max(exposed.values()) < 3, exposed
    backup = (tmp_path / "out" / "plurality-backup.service").read_text(encoding="utf-8")
    assert ("PrivateNetwork=yes" in backup) == (not database)
    assert "OnFailure=plurality-failed@%n.service" in backup


def test_the_script_says_what_it_would_do_and_does_nothing(written, files):
    done = subprocess.run(
        ["sh", str(files / "install.sh"), str(ROOT)],
        env={"PATH": "/usr/bin:/bin", "DRY": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    steps = [line for line in done.stdout.splitlines() if line.startswith("+ ")]
    assert len(steps) > 15 and steps[0] == "+ apt-get update -q"
    assert any("--require-hashes -r requirements.lock" in step for step in steps)
    assert subprocess.run(["sh", str(files / "install.sh")], capture_output=True).returncode == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "a b"},
        {"name": 'x"; rm'},
        {"name": "x\ny"},
        {"processes": 0},
        {"home": "relative"},
        {"home": "/a b"},
        {"program": "/a/../b"},
        {"database": "mysql://x"},
        {"database": "postgresql://a:b@c/d\nX=1"},
        {"port": 0},
        {"port": 8501},
    ],
)
def test_what_would_say_something_else_in_a_file_is_refused(tmp_path, wrong):
    with pytest.raises(InputError):
        write_deployment(Deployment(**{"name": NAME, **wrong}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(missing_tools() != [], reason=f"not installed: {', '.join(missing_tools())}")
def test_the_script_puts_everything_in_its_place_and_keeps_it_when_run_again(tmp_path):
    """In a folder in the place of the root of a machine; what needs root is noted, in the script's order."""
    machine = Machine(tmp_path, packages=False)
    machine.install()
    program, settings = tmp_path / "program", tmp_path / "etc" / "plurality"
    assert (program / "core" / "version.py").is_file() and not list(program.glob(".git"))
    run = [program / ".venv" / "bin" / "python", "-c", "import streamlit, core.version"]
    assert subprocess.run(run, cwd=program).returncode == 0
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in settings.iterdir()}
    assert modes == {"plurality.env": 0o640, "secrets.toml": 0o640, "people.toml": 0o640}
    assert stat.S_IMODE(Path(machine.asked.certificate).stat().st_mode) == 0o600
    assert {path.name for path in (tmp_path / "etc/systemd/system").iterdir()} == {
        part.file for part in PARTS if part.place == "/etc/systemd/system"
    }
    noted = [line.split()[0] for line in machine.notes.read_text().splitlines()]
    assert noted == ["apt-get", "apt-get", "id", "systemctl", "systemctl"]
    machine.fill_in("https://provider.example/.well-known/openid-configuration")
    filled = [(settings / name).read_text() for name in ("secrets.toml", "people.toml")]
    (program / "core" / "of_an_older_version.py").touch()
    machine.install()
    assert (program / ".before" / "core" / "of_an_older_version.py").exists()
    assert not (program / "core" / "of_an_older_version.py").exists() and not list(program.glob(".new-*"))
    assert [(settings / name).read_text() for name in ("secrets.toml", "people.toml")] == filled
    assert machine.notes.read_text().splitlines()[-1].startswith("systemctl restart plurality.target haproxy")


@pytest.mark.skipif(missing_tools() != [], reason=f"not installed: {', '.join(missing_tools())}")
@pytest.mark.parametrize("readable", [True, False], ids=["the record is readable", "the record is newer"])
def test_an_upgrade_is_undone_by_a_command_and_no_review_is_lost(tmp_path, readable):
    """A record of tables that the former version does not know is moved aside, and the upgrade's backup restored."""
    machine = Machine(tmp_path, packages=False)
    machine.install()
    program, home = tmp_path / "program", tmp_path / "home"
    of_before = [program / "core" / "of_before.py", program / ".venv" / "of_before"]
    for path in of_before:
        path.touch()
    door = tmp_path / "etc/haproxy/haproxy.cfg"
    door.write_text(told := door.read_text() + "# of before\n")
    url = sa.URL.create("sqlite", database=str(home / "reviews.sqlite3"))
    skip(url, "before the upgrade")
    machine.install()
    assert not of_before[0].exists() and door.read_text() != told
    of_before[1].unlink()  # as pip does with what the new version does not have
    skip(url, "since the upgrade")
    if not readable:
        with sqlite3.connect(home / "reviews.sqlite3") as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
    machine.run("usr/local/bin/plurality-undo")
    assert all(path.exists() for path in of_before) and door.read_text() == told
    left = [path for path in tmp_path.iterdir() if path.name.startswith("home.undone-")]
    assert reviewed(home) == ["before the upgrade", "since the upgrade"][: 2 if readable else 1]
    assert [reviewed(path) for path in left] == ([] if readable else [["before the upgrade", "since the upgrade"]])
    assert machine.notes.read_text().splitlines()[-1].startswith("systemctl restart plurality.target haproxy")
    with pytest.raises(subprocess.CalledProcessError):
        machine.run("usr/local/bin/plurality-undo")  # there is nothing more to undo
    machine.install()  # and an upgrade is possible again
    assert (program / ".before" / "core" / "of_before.py").exists()


def skip(url, case_id):
    store = ReviewStore(url)
    store.record(Draft(dataset="d" * 32, case_id=case_id, kind="skip", reviewer="ann"), seen=0, token=case_id)
    store.close()


def reviewed(home):
    with sqlite3.connect(home / "reviews.sqlite3") as connection:
        return [case for (case,) in connection.execute("SELECT case_id FROM review_event ORDER BY id")]
