"""What somebody without a sign-in gets: a static page, no session, and the way back to the address that they opened."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from starlette.requests import Request

from pages.shared.cache import sign_in
from pages.shared.shell import stranger


@pytest.fixture
def signed(monkeypatch):
    """A server with sign-in; holds whether the browser has a cookie of it."""
    has = {"cookie": None}
    monkeypatch.setattr(sign_in, "is_on", lambda: True)
    monkeypatch.setattr(sign_in, "providers", lambda: {"ward": "Sign in with <ward>"})
    monkeypatch.setattr(stranger, "sign_in_cookie", lambda cookies: has["cookie"])
    monkeypatch.setattr(stranger, "encode_provider_token", lambda provider: f"token-{provider}")
    return has


def asked(path="/", query="", method="GET", accept="text/html,*/*", cookie=""):
    headers = [(b"host", b"ward.example"), (b"accept", accept.encode()), (b"cookie", cookie.encode())]
    return {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": headers,
            "scheme": "https", "server": ("ward.example", 443)}  # fmt: skip


def begun(query):
    """Answer of the address where a sign-in begins; in a thread of its own: Playwright leaves a loop running here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, stranger._begin(Request(asked("/sign-in", query)))).result()


def test_stranger_gets_a_static_page_with_the_way_in(signed):
    page = stranger.answer(asked("/cases", "data=abc&case=<b>"))
    text = page.body.decode()
    assert page.status_code == 200 and page.headers["cache-control"] == "no-store"
    assert "Sign in with &lt;ward&gt;" in text and "<b>" not in text and "streamlit" not in text.lower()
    link = text.split('href="')[1].split('"')[0].replace("&amp;", "&")
    assert parse_qs(urlsplit(link).query) == {"provider": ["ward"], "back": ["/cases?data=abc&case=<b>"]}


@pytest.mark.parametrize(
    "other",
    [{"path": "/_stcore/health"}, {"path": "/static/js/a.js"}, {"path": "/oauth2callback"}, {"path": "/auth/login"},
     {"accept": "application/json"}, {"method": "POST"}],
)  # fmt: skip
def test_files_and_the_sign_in_itself_are_left_to_the_app(signed, other):
    assert stranger.answer(asked(**other)) is None


def test_without_sign_in_there_is_no_such_page(signed, monkeypatch):
    monkeypatch.setattr(sign_in, "is_on", lambda: False)
    assert stranger.answer(asked()) is None


def test_sign_in_begins_at_the_provider_and_returns_to_the_address(signed):
    answer = begun("provider=ward&back=%2Fcases%3Fdata%3Dabc")
    assert answer.headers["location"] == "/auth/login?provider=token-ward"
    cookie = answer.headers["set-cookie"]
    assert "/cases?data=abc" in cookie and "HttpOnly" in cookie and "SameSite=lax" in cookie and "Secure" in cookie
    signed["cookie"] = b"{}"
    back = stranger.answer(asked("/", cookie=cookie.split(";")[0]))
    assert back.status_code == 302 and back.headers["location"] == "/cases?data=abc"
    assert "Max-Age=0" in back.headers["set-cookie"]
    assert stranger.answer(asked("/raters", cookie=cookie.split(";")[0])) is None


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nSet-Cookie: b"]
)
def test_nobody_is_sent_to_another_host(signed, elsewhere):
    answer = begun(f"provider=ward&back={quote(elsewhere, safe='')}")
    assert "set-cookie" not in answer.headers
    assert not stranger._is_own(elsewhere)


def test_unknown_provider_begins_no_sign_in(signed):
    answer = begun("provider=evil&back=/cases")
    assert answer.headers["location"] == "/" and "set-cookie" not in answer.headers
