"""A dashboard of its own for browser tests and benchmarks: a free port, a home folder, and a log."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tests.speed import scaled

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(playwright) -> str | None:
    """Path of a Chromium: without windows, which costs half as much, with them, Chrome, or Playwright's own."""
    for name in ("chromium-headless-shell", "chromium", "google-chrome", "chromium-browser"):
        if path := shutil.which(name):
            return path
    own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


class Dashboard:
    """A running server. ``home`` outlives it, so that a restart finds what was kept."""

    COMMAND = ("-m", "streamlit", "run", "app.py")

    def __init__(self, home: Path, **environment: str):
        self.home = home
        self.environment = {**os.environ, "PLURALITY_HOME": str(home), **environment}
        self.log = home / "server.log"
        self.process: subprocess.Popen | None = None
        self.url = ""
        self.started = 0.0

    def start(self) -> "Dashboard":
        """Start the server as the README does, and wait until it is healthy."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://localhost:{port}"
        self.home.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.COMMAND, "--server.port", str(port)],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        while time.monotonic() - self.started < scaled(60):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:
                    if answer.status == 200:
                        return self
            except OSError:
                time.sleep(0.05)
        raise TimeoutError(f"The server did not become healthy: {self.log.read_text()}")

    def stop(self) -> None:
        """Stop the server."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=scaled(20))
            self.process = None

    def log_text(self) -> str:
        """What the server wrote."""
        return self.log.read_text(encoding="utf-8", errors="replace")
