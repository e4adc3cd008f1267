"""Who may talk to the server: this computer by its own names, and no page of another site."""

import base64
import os
import socket
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.browser


def upgrade(url: str, host: str, origin: str | None = None) -> int:
    """Status of the answer to a websocket's first request under a name of the host."""
    port = urlsplit(url).port
    lines = [
        "GET /_stcore/stream HTTP/1.1",
        f"Host: {host}:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        *([f"Origin: {origin}"] if origin else []),
        "\r\n",
    ]
    with socket.create_connection(("localhost", port), timeout=20) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return int(connection.recv(4096).split()[1])


@pytest.mark.parametrize(("host", "accepted"), [("localhost", True), ("127.0.0.1", True), ("evil.example", False)])
def test_a_name_that_is_not_this_computer_is_refused(dashboard, host, accepted):
    """A visited web site can let its own name point to this computer (DNS rebinding)."""
    assert (upgrade(dashboard.url, host) == 101) == accepted
