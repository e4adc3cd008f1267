"""From the files of `deploy` to a page of somebody who signed in. Run: python tests/benchmarks/install.py [--packages].

`install.sh` itself is run, in a fresh folder in the place of the root of a machine: paths below /etc and /var are
turned to that folder, and what needs root, systemd or Debian's archive (apt-get, useradd, systemctl, owners of files)
is noted and not done. The program is copied, its environment made, settings and certificate put in place as the
script does. With ``--packages`` the packages of `requirements.lock` are installed with their hashes, from the
network; else the environment sees those of this interpreter. Then secrets and people are filled in as
`docs/pages/operate/deploy.md` says, the commands of the services are run as they stand in their files, with their
settings, behind HAProxy; somebody signs in at an identity provider (a process on loopback), opens a page, and a backup
is made by its service and verified.
"""

import asyncio
import json
import os
import re
import shlex
import ssl
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.deployment.write import Deployment, write_deployment
from tests.benchmarks.pages import Visitor
from tests.browser.deployed import find, free_ports

ROOT = Path(__file__).resolve().parents[2]
ANN = "ann@clinic.example"
NOT_HERE = ("apt-get", "useradd", "systemctl", "id")
PROVIDER = f"""import oidc_provider_mock as m
who = m.User(sub={ANN!r}, claims={{"email": {ANN!r}, "email_verified": True}})
with m.run_server_in_thread(user_claims=[who]) as server:
    print(server.server_port, flush=True); input()"""


class Machine:
    """A folder in the place of the root of a machine, on which the script is run."""

    def __init__(self, root: Path, *, packages: bool):
        plain, port, first, *_ = free_ports(4)
        self.root, self.packages, self.running = root, packages, []
        self.asked = Deployment(
            "localhost", 2, home=str(root / "home"), program=str(root / "program"), port=port, plain_port=plain,
            first_port=first, certificate=str(root / "etc/haproxy/plurality.pem"),
        )  # fmt: skip
        self.files = root / "files"
        write_deployment(self.asked, self.files)
        for file in self.files.iterdir():
            file.write_text(self._turned(file.read_text(encoding="utf-8")), encoding="utf-8")
        for folder in ("etc/haproxy", "etc/systemd/system", "usr/local/bin", "var/cache", "var/backups", "shims"):
            (root / folder).mkdir(parents=True)
        self.notes = root / "not_done.txt"
        for name in NOT_HERE:
            self._shim(name, f'echo "{name} $*" >> {self.notes}')
        self._shim("install", f'exec {find("install")} $(printf "%s\\n" "$@" | sed "/^-[og]$/,+1d")')
        self._shim("setpriv", 'shift 5; exec "$@"')
        self._shim("haproxy", f'exec {find("haproxy")} "$@"')

    def _turned(self, text: str) -> str:
        places = ("etc/plurality", "etc/haproxy/haproxy.cfg", "etc/systemd/system", "usr/local/bin", "var/cache")
        for place in (*places, "var/backups"):
            text = text.replace(f"/{place}", f"{self.root}/{place}")
        text = re.sub(r"(?m)^    (?:user|group|log /dev/log) .*\n", "", text)  # what only a service may
        if not self.packages:
            here = next(path for path in sys.path if path.endswith("site-packages"))
            text = re.sub(
                r"\.venv/bin/python -m pip install .*requirements\.lock",
                f"echo {here} > .venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/here.pth",
                text,
            )
            text = text.replace("python3 -m venv .venv", f"{sys.executable} -m venv --without-pip .venv")
        return text

    def _shim(self, name: str, line: str) -> None:
        path = self.root / "shims" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def install(self) -> None:
        """Run the script, as it was written save for the places."""
        self.run("files/install.sh", ROOT)

    def run(self, script: str, *given: Path) -> None:
        """Run a script of the machine, as root would."""
        path = f"{self.root / 'shims'}:{os.environ['PATH']}"
        subprocess.run(["sh", self.root / script, *given], env={**os.environ, "PATH": path}, check=True)

    def fill_in(self, provider: str) -> None:
        """The identity provider and the first administrator, as the guide says."""
        secrets, people = (self.root / "etc/plurality" / name for name in ("secrets.toml", "people.toml"))
        text = secrets.read_text(encoding="utf-8")
        for key, value in (("client_id", "plurality"), ("client_secret", "s"), ("server_metadata_url", provider)):
            text = text.replace(f'{key} = ""', f'{key} = "{value}"')
        secrets.write_text(text, encoding="utf-8")
        example = '# "ann@localhost" = "administrator"'
        told = people.read_text(encoding="utf-8").replace(example, f'"{ANN}" = "administrator"')
        people.write_text(told, encoding="utf-8")

    def service(self, name: str, instance: str = "", *, wait: bool = True) -> None:
        """Run the commands of a service as they stand in its file, with its settings."""
        text = (self.root / "etc/systemd/system" / name).read_text(encoding="utf-8")
        settings = Path(re.search(r"(?m)^EnvironmentFile=(.*)$", text)[1]).read_text(encoding="utf-8")
        told = dict(line.split("=", 1) for line in settings.splitlines() if line and not line.startswith("#"))
        folder = re.search(r"(?m)^WorkingDirectory=(.*)$", text)[1]
        for command in re.findall(r"(?m)^ExecStart=(.*)$", text):
            words = shlex.split(command.replace("%i", instance).replace("%%", "%"))
            run = {"cwd": folder, "env": {"PATH": os.environ["PATH"], "HOME": str(self.root), **told}}
            if wait:
                subprocess.run(words, check=True, **run)
            else:
                with (self.root / f"{instance}.log").open("ab") as log:
                    self.running.append(subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, **run))

    def start(self) -> None:
        """What `systemctl restart plurality.target haproxy` starts."""
        self.service("plurality-kernels.service")
        for port in self.asked.ports:
            self.service("plurality@.service", str(port), wait=False)
        self.running.append(subprocess.Popen([find("haproxy"), "-db", "-f", self.root / "etc/haproxy/haproxy.cfg"]))

    def certificate(self) -> Path:
        """Where the certificate of the door is, seen from this computer."""
        place = Path(self.asked.certificate)
        return place if place.is_relative_to(self.root) else self.root / place.relative_to("/")

    def faults(self) -> str:
        """What the processes wrote."""
        return "".join(path.read_text() for path in self.root.glob("*.log"))

    def see(self, client: httpx.Client) -> None:
        """Open a page as who signed in.

        Raises
        ------
        AssertionError
            Nobody is signed in on it.
        """
        said = asyncio.run(self.page(client, "review", "data=anaesthesia"))
        assert ANN.encode() in said and b"administrator" in said, "nobody is signed in"

    def client(self) -> httpx.Client:
        """A browser's way to the door, which trusts the script's own certificate."""
        context = ssl.create_default_context(cafile=self.certificate())
        return httpx.Client(verify=context, base_url=self.asked.origin, timeout=20)

    def wait_until_well(self, client: httpx.Client) -> None:
        """Until every process and the door answer."""
        until = time.monotonic() + 120
        for port in self.asked.ports:
            while time.monotonic() < until:
                try:
                    answer = httpx.get(f"http://127.0.0.1:{port}/readyz", headers={"Host": "localhost"}, timeout=5)
                    if answer.json() == {"ready": True, "faults": []} and client.get("/healthz").is_success:
                        break
                except (httpx.HTTPError, ValueError):
                    time.sleep(0.2)
            else:
                raise TimeoutError(self.faults())

    def sign_in(self, client: httpx.Client) -> None:
        """To the provider and back, as the button of the page leads."""
        from joserfc import jwt
        from joserfc.jwk import OctKey

        key = tomllib.loads((self.root / "etc/plurality/secrets.toml").read_text())["auth"]["cookie_secret"]
        claims = {"provider": "default", "exp": int(time.time()) + 120}
        answer = client.get(f"/auth/login?provider={jwt.encode({'alg': 'HS256'}, claims, OctKey.import_key(key))}")
        answer = httpx.post(answer.headers["location"], data={"sub": ANN})
        client.get(answer.headers["location"])

    async def page(self, client: httpx.Client, name: str, query: str) -> bytes:
        """All that a page sends to a browser with the cookies of the client."""
        from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
        from websockets.asyncio.client import connect

        token = generate_xsrf_token_string()
        cookies = "; ".join([f"_streamlit_xsrf={token}", *(f"{one.name}={one.value}" for one in client.cookies.jar)])
        context = ssl.create_default_context(cafile=self.certificate())
        origin = self.asked.origin
        async with connect(
            origin.replace("https", "wss") + "/_stcore/stream", max_size=None, subprotocols=["streamlit", token],
            origin=origin, ssl=context, additional_headers={"Cookie": cookies},
        ) as socket:  # fmt: skip
            visitor = Visitor(socket)
            await visitor.run("")
            await visitor.run(name, query)
            return b"".join(visitor.said)

    def stop(self) -> None:
        """End everything."""
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait(timeout=40)


def _is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def main(*, packages: bool) -> None:
    """All steps, each told with its time."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder), packages=packages)
        provider = subprocess.Popen([sys.executable, "-c", PROVIDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        address = f"http://localhost:{provider.stdout.readline().strip()}/.well-known/openid-configuration"
        began = time.monotonic()

        def step(what: str) -> None:
            print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)

        try:
            machine.install()
            step("install.sh ended")
            machine.fill_in(address)
            machine.start()
            with machine.client() as client:
                machine.wait_until_well(client)
                step("every process is ready behind the door")
                before = asyncio.run(machine.page(client, "settings", ""))
                assert b"Sign in" in before and ANN.encode() not in before, "a page is shown to nobody in particular"
                machine.sign_in(client)
                machine.see(client)
                step(f"{ANN} is signed in as administrator and reviews a sample")
            machine.service("plurality-backup.service")
            (made,) = (machine.root / "var/backups/plurality").glob("*.backup")
            step(f"a backup of {made.stat().st_size:,} bytes was made and verified")
            log = "".join((machine.root / f"{port}.log").read_text() for port in machine.asked.ports)
            assert ANN not in log and "anaesthesia" not in log, "the log names somebody or their data"
            step(f"of {len(log.splitlines())} lines of log {sum(map(_is_json, log.splitlines()))} are JSON")
            print("not done here:", *machine.notes.read_text().splitlines(), sep="\n  ")
        finally:
            machine.stop()
            provider.kill()


if __name__ == "__main__":
    main(packages="--packages" in sys.argv[1:])
