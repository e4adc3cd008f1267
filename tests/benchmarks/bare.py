"""A bare Debian machine that is set up by the guide. Run: tests/benchmarks/bare.py [KEPT.tar] [--image].

`mmdebstrap` makes a Debian 12 with nothing but its base system, systemd and D-Bus, from Debian's archive; it is booted
in namespaces of its own (processes, mounts, host name, control groups), with the network of this computer. Then the
steps of the guide, none of them left out or stood in for: `install.sh` with its apt-get, useradd, pip with hashes from
the network and systemctl; `systemctl restart`; the kernels, processes and door as services with all that their files
forbid them; sign-in at an identity provider (a process on loopback), a page, the backup's service; `systemctl kill`
of a process with SIGKILL; a restart of the machine, after which everything comes back by itself. Steps of the
Dockerfile are run as commands in a second root, without an image. Needs root, mmdebstrap, a network with Debian's
archive and PyPI, and some minutes. With the name of a file the new machine is kept there, for the next time.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.deployment.write import Deployment, write_deployment
from tests.benchmarks.install import ANN, PROVIDER, Machine
from tests.browser.deployed import free_ports

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = ROOT / "docs" / "pages" / "operate" / "operations.md"
COPIED = ("app.py", "core", "pages", "sample_data", "requirements.lock", ".streamlit")
AUTHORITIES = "etc/ssl/certs/ca-certificates.crt"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
GROUP = "plurality-bare"
# What a kernel gives to a machine that boots; "exec" keeps the process, which becomes the first of the machine.
BOOT = """
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 none sys/fs/cgroup
mount -t tmpfs -o mode=755 none run
mount -t tmpfs -o mode=1777 none tmp
mount -t tmpfs -o mode=755 none dev
for one in null zero full random urandom tty; do touch dev/$one; mount --bind /dev/$one dev/$one; done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 none dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 none dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
hostname bare
exec env -i container=bare PATH="$2" chroot "$1" /lib/systemd/systemd --system --log-target=journal
"""


def bare_root(folder: Path, kept: Path | None) -> None:
    """A Debian 12 of nothing but its base system and systemd in a folder."""
    archive = kept or folder.with_suffix(".tar")
    if not archive.exists():
        said = ["mmdebstrap", "--variant=minbase", "--include=systemd-sysv,dbus,ca-certificates", "bookworm", archive]
        subprocess.run(said, check=True)
    folder.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
    (folder / "etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 bare\n")  # as the installer does
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    shutil.copy(
        Path("/") / AUTHORITIES, folder / AUTHORITIES
    )  # a computer may reach the archives by a proxy of its own
    program = folder / "root/plurality"
    program.mkdir()
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, program / name)


class BareMachine(Machine):
    """A booted machine with the files of `deploy`."""

    def __init__(self, root: Path):
        plain, port, first, *_ = free_ports(4)
        self.root = root
        self.asked = Deployment("localhost", 2, port=port, plain_port=plain, first_port=first)
        self.files = root / "root/files"
        write_deployment(self.asked, self.files)
        self._first: int | None = None
        self._booted: subprocess.Popen | None = None

    def boot(self) -> None:
        """Start the machine and wait until its first process says that it runs."""
        group = next(path for path in map(Path, ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")) if
                     (path / "cgroup.procs").exists()) / GROUP  # fmt: skip
        group.mkdir(exist_ok=True)
        enter = (
            f'echo $$ > {group}/cgroup.procs; exec unshare --mount --pid --fork --cgroup --uts --ipc sh -ec "$0" "$@"'
        )
        self._booted = subprocess.Popen(["sh", "-ec", enter, BOOT, "boot", self.root, PATH], stdin=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            children = Path(f"/proc/{self._booted.pid}/task/{self._booted.pid}/children").read_text().split()
            self._first = int(children[0]) if children else None
            # The root of the first process is that of the machine once it has become systemd.
            if self._first and os.readlink(f"/proc/{self._first}/exe").endswith("/systemd"):
                state = self.run("systemctl is-system-running --wait", check=False)
                if state in ("running", "degraded"):
                    return
            time.sleep(0.2)
        raise TimeoutError("the machine does not boot")

    def run(self, command: str, *, check: bool = True) -> str:
        """What a command says that root gives on the machine."""
        known = {name: value for name, value in os.environ.items() if name == "PIP_DEFAULT_TIMEOUT"}
        told = {"PATH": PATH, "HOME": "/root", "PIP_CERT": f"/{AUTHORITIES}", **known}
        enter = ["nsenter", "-t", str(self._first), "-m", "-p", "-C", "-u", "-i", "-r", "-w"]
        inside = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in told.items()), "sh", "-c", command])
        done = subprocess.run([*enter, "sh", "-c", inside], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if check and done.returncode:
            raise RuntimeError(f"{command}\n{done.stdout[-6000:]}")
        return done.stdout.strip()

    def install(self) -> None:
        """The script, as the guide says."""
        self.run("sh /root/files/install.sh /root/plurality")

    def restart(self) -> None:
        """What the guide says to run when everything is filled in."""
        self.run("systemctl restart plurality.target haproxy plurality-backup.timer")

    def restore(self, backup: str) -> None:
        """Put a backup back, as the guide to operations says."""
        (asked,) = re.findall(
            r"## Restore a backup\n\n```\n(.*?)\n```", OPERATIONS.read_text(encoding="utf-8"), re.DOTALL
        )
        for command in asked.splitlines():
            self.run(re.sub(r"[^/]+\.backup", backup, command))

    def see_again(self, client: httpx.Client) -> None:
        """Open a page as a browser does whose process was killed: it asks until it is answered."""
        for _ in range(100):
            with suppress(OSError, EOFError, InvalidHandshake, ConnectionClosed):
                return self.see(client)
            time.sleep(0.1)
        raise TimeoutError("no page after a process was killed")

    def faults(self) -> str:
        """Services that failed, and the journal's last words on those of Plurality."""
        return self.run(
            "systemctl --failed --no-legend; journalctl --no-pager -n 60 -u 'plurality*' -u haproxy", check=False
        )

    def stop(self) -> None:
        """Power off."""
        if self._booted is not None:
            self.run("systemctl poweroff --force", check=False)
            try:
                self._booted.wait(timeout=60)
            except subprocess.TimeoutExpired:
                os.kill(self._first, signal.SIGKILL)  # with it the kernel ends all processes of the machine
                self._booted.wait(timeout=20)
            self._booted = None


def run_image_steps(folder: Path, kept: Path) -> None:
    """Run the steps of the Dockerfile in a root of its own, then its server until it is well by its own check."""
    bare_root(folder, kept)
    files = folder / "root/files"
    write_deployment(Deployment("plurality.clinic.example"), files)  # a name that others open: it listens to them
    _in_root(folder, "\n".join(image_steps(files)))
    _in_root(folder, image_check(files), "--net")


def _in_root(folder: Path, steps: str, *apart: str) -> None:
    """Run commands as root in a folder in the place of the root, apart from the processes of this computer."""
    enter = (
        '[ -z "$4" ] || ip link set lo up; cd "$0"; mount -t proc proc proc; mount --rbind /dev dev; '
        'exec chroot "$0" env -i "$1" "$2" HOME=/root sh -ec "$3"'
    )
    said = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", *apart, "sh", "-ec", enter, folder, f"PATH={PATH}",
         f"PIP_CERT=/{AUTHORITIES}", steps, "".join(apart)],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if said.returncode:
        raise RuntimeError(said.stdout[-6000:])


def image_check(files: Path) -> str:
    """A command that starts what the image starts, and waits until its HEALTHCHECK passes.

    It listens to all others of its network, which it does only where people sign in, so that is set up.
    """
    text = _joined(files)
    command = json.loads(re.search(r"(?m)^CMD (\[.*\])$", text)[1])
    check = json.loads(re.search(r"(?m)^HEALTHCHECK .* CMD (\[.*\])$", text)[1])
    folder = re.search(r"(?m)^WORKDIR (.*)$", text)[1]
    told = [line for line in (files / "plurality.env").read_text().splitlines() if line and not line.startswith("#")]
    told += [f"{name}={value}" for name, value in _environment(text).items()]
    run = f"cd {folder}; exec setpriv --reuid plurality --regid plurality --init-groups env {shlex.join(told)} "
    lines = [
        "mkdir -p /etc/plurality; cp /root/files/*.toml /etc/plurality; chmod 644 /etc/plurality/*",
        'sed -i \'s/client_id = ""/client_id = "plurality"/; s/client_secret = ""/client_secret = "s"/; '
        's|server_metadata_url = ""|server_metadata_url = "https://localhost/"|\' /etc/plurality/secrets.toml',
        f"({run}{shlex.join(command)}) & server=$!",
        f"for n in $(seq 120); do ({run}{shlex.join(check)}) 2>/dev/null && well=1 && break; sleep 1; done",
        'kill $server; [ -n "${well:-}" ]',
    ]
    return "\n".join(lines)


def _joined(files: Path) -> str:
    return re.sub(r"\\\n\s*", "", (files / "Dockerfile").read_text(encoding="utf-8"))


def _environment(text: str) -> dict[str, str]:
    told = [pair for line in re.findall(r"(?m)^ENV (.*)$", text) for pair in line.split()]
    return dict(pair.split("=", 1) for pair in told)


def image_steps(files: Path) -> list[str]:
    """The steps of the Dockerfile as commands for a root, in their order."""
    folder, user, told, found = "/", "root", [], []
    for line in _joined(files).splitlines():
        word, _, rest = line.partition(" ")
        if word == "WORKDIR":
            folder = rest
            found.append(f"mkdir -p {rest}")
        elif word == "COPY":
            source, place = rest.split()
            found.append(f"cp -R /root/plurality/{source} {Path(folder) / place}")
        elif word == "USER":
            user = rest
        elif word == "ENV":
            told += rest.split()
        elif word == "RUN":
            inside = f"cd {folder}; {rest}"
            drop = "" if user == "root" else f"setpriv --reuid {user} --regid {user} --init-groups "
            found.append(f"{drop}env {shlex.join(told)} sh -ec {shlex.quote(inside)}")
    return found


def step_by_step(machine: BareMachine, provider: str, began: float) -> None:
    """The guide's steps, each told with its time."""

    def step(what: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)

    machine.boot()
    step(
        f"Debian {machine.run('cat /etc/debian_version')} is {machine.run('systemctl is-system-running', check=False)}"
    )
    machine.install()
    step("install.sh ended")
    machine.fill_in(provider)
    machine.restart()
    step("services are started, the kernels compiled")
    with machine.client() as client:
        machine.wait_until_well(client)
        step("every process is ready behind the door")
        machine.sign_in(client)
        machine.see(client)
        step(f"{ANN} is signed in as administrator and reviews a sample")
        machine.run("systemctl start plurality-backup")
        (made,) = (machine.root / "var/backups/plurality").glob("*.backup")
        step(f"a backup of {made.stat().st_size:,} bytes was made and verified by its service")
        machine.restore(made.name)
        machine.wait_until_well(client)
        machine.see(client)
        step("the backup was put back as docs/pages/operate/operations.md says, and the record is whole")
        machine.run(f"systemctl kill -s KILL plurality@{machine.asked.first_port}")
        killed = time.monotonic()
        machine.see_again(client)
        step(f"{time.monotonic() - killed:.1f} s after SIGKILL to a process its browser has its page again")
        machine.wait_until_well(client)
        machine.stop()
        machine.boot()
        machine.wait_until_well(client)
        machine.see(client)
        step("switched off and on: the machine is well again by itself, and the browser still signed in")
    print(
        machine.run(
            "systemctl --failed --no-legend; systemd-analyze security --no-pager 'plurality@8501' | tail -1",
            check=False,
        )
    )


def main(kept: Path | None) -> None:
    """All of it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        kept = kept or Path(name) / "kept.tar"
        root = Path(name) / "machine"
        bare_root(root, kept)
        machine = BareMachine(root)
        provider = subprocess.Popen([sys.executable, "-c", PROVIDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        address = f"http://localhost:{provider.stdout.readline().strip()}/.well-known/openid-configuration"
        try:
            step_by_step(machine, address, began)
        except Exception:
            print(machine.faults(), file=sys.stderr)
            raise
        finally:
            machine.stop()
            provider.kill()
        if "--image" in sys.argv:
            run_image_steps(Path(name) / "image", kept)
            print(f"{time.monotonic() - began:6.1f} s  the steps of the Dockerfile were run, and its server is well")


if __name__ == "__main__":
    files = [word for word in sys.argv[1:] if not word.startswith("--")]
    main(Path(files[0]) if files else None)
