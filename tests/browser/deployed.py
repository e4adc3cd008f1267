"""The files of `python -m core deploy`, started on this computer: several processes behind HAProxy, with TLS."""

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import psutil

from core.deployment.write import Deployment, write_deployment
from core.runtime.first_start import compiled
from tests.browser.server import ROOT

ANN = "ann@clinic.example"
TOOLS = ("haproxy", "openssl")


def missing_tools() -> list[str]:
    """What is not on this computer of what is needed here."""
    return [tool for tool in TOOLS if find(tool) is None]


def find(tool: str) -> str | None:
    """Path of a program, also of those that only root has in its path."""
    return shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin")


def free_ports(n: int) -> list[int]:
    """Ports one after another that nobody listens at."""
    for first in range(20_000 + os.getpid() % 10_000, 60_000, 50):
        held: list[socket.socket] = []
        try:
            for port in range(first, first + n):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port))
            return list(range(first, first + n))
        except OSError:
            continue
        finally:
            for one in held:
                one.close()
    raise OSError("no ports are free")


class Deployed:
    """Processes and proxy from generated files; where people sign in, `cookie_of` is what a sign-in gives them."""

    def __init__(self, folder: Path, processes: int = 2, **environment: str):
        plain, port, first, *_ = free_ports(processes + 2)
        self.folder, self.home = folder, folder / "home"
        self.asked = Deployment("localhost", processes, port=port, plain_port=plain, first_port=first,
                                certificate=str(folder / "plurality.pem"))  # fmt: skip
        write_deployment(self.asked, folder / "files")
        self.url, self.running = self.asked.origin, {}
        self._certificate()
        text = (folder / "files" / "haproxy.cfg").read_text(encoding="utf-8")
        rootless = re.sub(r"(?m)^    (?:user|group|log /dev/log) .*\n", "", text)  # what only a service may
        (folder / "haproxy.cfg").write_text(rootless, encoding="utf-8")
        lines = (folder / "files" / "plurality.env").read_text(encoding="utf-8").splitlines()
        told = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        told |= {
            "PLURALITY_HOME": str(self.home),
            "PLURALITY_PEOPLE": str(folder / "people.toml"),
            "STREAMLIT_SECRETS_FILES": str(folder / "secrets.toml"),
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(folder / "kernels")),
        }
        self.environment = {**os.environ, **told, **environment}
        self._people()

    def _certificate(self) -> None:
        key, chain = self.folder / "key.pem", self.folder / "chain.pem"
        subprocess.run(
            [find("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(chain)],
            check=True, capture_output=True,
        )  # fmt: skip
        (self.folder / "plurality.pem").write_text(chain.read_text() + key.read_text())
        self.tls = ssl.create_default_context(cafile=str(chain))

    def _people(self) -> None:
        written = (self.folder / "files" / "secrets.toml").read_text(encoding="utf-8")
        self.secret = tomllib.loads(written)["auth"]["cookie_secret"]
        filled = written.replace('client_id = ""', 'client_id = "plurality"').replace('secret = ""', 'secret = "s"')
        filled = filled.replace('url = ""', 'url = "https://localhost/.well-known/openid-configuration"')
        (self.folder / "secrets.toml").write_text(filled, encoding="utf-8")
        (self.folder / "people.toml").write_text(
            'everybody_else = "reviewer"\n[people]\n"ann@clinic.example" = "manager"\n'
        )

    def cookie_of(self, name: str = ANN) -> str:
        """The cookie of somebody who signed in a moment ago."""
        from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

        now = int(time.time())
        claims = {"origin": self.url, "is_logged_in": True, "email": name, "email_verified": True, "iss": "i"}
        claims |= {"sub": name, "iat": now, "exp": now + 3600}
        value = create_signed_value(self.secret, "_streamlit_user", json.dumps(claims))
        return f"_streamlit_user={value.decode()}"

    def start(self) -> "Deployed":
        """Start the processes and the proxy, and wait until all are healthy."""
        self.home.mkdir(parents=True, exist_ok=True)
        if not compiled():  # as plurality-kernels.service does, or the first pages would wait for them
            subprocess.run([sys.executable, "-m", "core.warmup"], cwd=ROOT, env=self.environment, check=True)
        for place in range(self.asked.processes):
            self.start_process(place)
        self.start_proxy()
        for place in range(self.asked.processes):
            self.wait_for(place)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                if self.get("/healthz")[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.1)
        raise TimeoutError(self.log_text())

    def start_process(self, place: int) -> None:
        """Start one process of the dashboard."""
        command = [sys.executable, "-m", "pages.shared.shell.server", "--server.port", str(self.asked.ports[place])]
        self._run(f"p{place + 1}", command)

    def start_proxy(self) -> None:
        """Start the proxy."""
        self._run("proxy", [find("haproxy"), "-db", "-f", str(self.folder / "haproxy.cfg")])

    def _run(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )

    def wait_for(self, place: int) -> None:
        """Wait until one process is healthy."""
        until = time.monotonic() + 90
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.asked.ports[place]}/healthz", headers={"Host": "localhost"}
        )
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(request, timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError(self.log_text())

    def get(self, path: str, **headers: str):
        """Status, headers and content of an address through the proxy."""
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20, context=self.tls) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def connect(self, person: str | None = ANN, *cookies: str):
        """A websocket through the proxy, as somebody who signed in (None: nobody), with the cookies of a browser."""
        from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
        from websockets.asyncio.client import connect

        token = generate_xsrf_token_string()
        sent = [f"_streamlit_xsrf={token}", *cookies, *([] if person is None else [self.cookie_of(person)])]
        return connect(
            self.url.replace("https", "wss") + "/_stcore/stream", max_size=None, subprotocols=["streamlit", token],
            origin=self.url, ssl=self.tls, additional_headers={"Cookie": "; ".join(sent)}, open_timeout=60,
        )  # fmt: skip

    def serving(self, name: str) -> int:
        """Which process serves for a part of the dashboard: the child of the one that was started."""
        until = time.monotonic() + 60
        parent = psutil.Process(self.running[name].pid)
        while not (found := parent.children()):
            if time.monotonic() > until:
                raise TimeoutError(self.log_text())
            time.sleep(0.01)
        return found[0].pid

    def kill_serving(self, name: str) -> None:
        """Kill the process that serves; its parent begins another one."""
        os.kill(self.serving(name), signal.SIGKILL)

    def kill(self, name: str) -> None:
        """Kill a part at once, one of the dashboard with its parent: it is away until it is started again."""
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """Ask all to end."""
        for name in sorted(self.running, reverse=True):
            self.running[name].terminate()
        for process in self.running.values():
            process.wait(timeout=30)
        self.running.clear()

    def log_text(self) -> str:
        """What all parts wrote."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))
