"""Who may talk to the server: this computer by its own names, and no page of another site."""

import base64
import os
import socket
import urllib.error
import urllib.request
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


def get(url: str, path: str, **headers: str) -> int:
    """Status of an address, with headers as a browser sends them."""
    request = urllib.request.Request(
        url + path, headers={name.replace("_", "-"): said for name, said in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_page_of_another_site_is_refused_before_anything_is_looked_up(dashboard):
    own, port = dashboard.url, urlsplit(dashboard.url).port
    assert upgrade(own, "localhost", own) == 101
    for origin in ("http://evil.example", f"http://localhost:{port + 1}", "null"):
        assert upgrade(own, "localhost", origin) == 403
        assert get(own, "/_stcore/health", Origin=origin) == 403
    assert get(own, "/_stcore/health", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors") == 403
    assert get(own, "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document") == 200
    assert get(own, "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe") == 403


def test_health_is_told_and_metrics_are_closed(dashboard):
    assert get(dashboard.url, "/healthz") == get(dashboard.url, "/readyz") == 200
    assert get(dashboard.url, "/_stcore/metrics") == get(dashboard.url, "/_stcore/agent/openapi.json") == 403
    assert get(dashboard.url, "/", Host="evil.example") == 403


@pytest.mark.parametrize(("host", "accepted"), [("localhost", True), ("127.0.0.1", True), ("evil.example", False)])
def test_a_name_that_is_not_this_computer_is_refused(dashboard, host, accepted):
    """A visited web site can let its own name point to this computer (DNS rebinding)."""
    assert (upgrade(dashboard.url, host) == 101) == accepted
