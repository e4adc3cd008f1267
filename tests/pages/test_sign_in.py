"""Sign-in against a provider on loopback and an issuer that lies; and pages as somebody who is signed in sees them."""

import json
import os
import subprocess
import sys
import threading
import time
from base64 import b64encode
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from streamlit.testing.v1 import AppTest

from core.people import sign_out
from pages.shared.cache import sign_in
from tests.browser.server import ROOT, Dashboard
from tests.pages.opened import APP
from tests.speed import scaled

ANN, EVE = "ann@clinic.example", "eve@clinic.example"
VERIFIED = {"email": EVE, "email_verified": True}


class Issuer:
    """An identity provider that signs whatever it is told to, and can be told to lie."""

    def __init__(self):
        self.key, self.other = RSAKey.generate_key(2048), RSAKey.generate_key(2048)
        self.lie, self.nonce, self.address = "", "", VERIFIED
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path, told = urlsplit(self.path).path, issuer.documents()
                if path == "/authorize":
                    asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                    issuer.nonce = asked["nonce"]
                    self.send_response(302)
                    back = urlencode({"code": "c", "state": asked["state"]})
                    self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                    self.end_headers()
                else:
                    self.answer(told[path])

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer({"access_token": "a", "token_type": "Bearer", "id_token": issuer.token()})

            def answer(self, told):
                content = json.dumps(told).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *said):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def documents(self):
        found = {"issuer": self.url, "jwks_uri": f"{self.url}/jwks", "id_token_signing_alg_values_supported": ["RS256"]}
        found |= {"authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token"}
        keys = {"keys": [{**self.key.as_dict(private=False), "kid": "k", "alg": "RS256", "use": "sig"}]}
        return {"/.well-known/openid-configuration": found, "/jwks": keys}

    def token(self):
        claims = {"iss": self.url, "sub": "1", "aud": "plurality", "nonce": self.nonce, **self.address}
        claims |= {"iat": int(time.time()), "exp": int(time.time()) + 600}
        claims |= {
            "audience": {"aud": "somebody else"},
            "nonce": {"nonce": "an older one"},
            "issuer": {"iss": "http://evil.example"},
            "over": {"iat": int(time.time()) - 9000, "exp": int(time.time()) - 4500},
        }.get(self.lie, {})
        key = self.other if self.lie == "signature" else self.key
        if self.lie == "no signature":
            parts = [{"alg": "none"}, claims]
            return ".".join(b64encode(json.dumps(part).encode(), b"-_").decode().rstrip("=") for part in parts) + "."
        return jwt.encode({"alg": "RS256", "kid": "k"}, claims, key)


@pytest.fixture(scope="module")
def providers():
    """Addresses of the packaged provider, whose tokens hold for three seconds, and of our own issuer."""
    code = (
        "import oidc_provider_mock as m, datetime as d\n"
        f"who = [m.User(sub={ANN!r}, claims={{'email': {ANN!r}, 'email_verified': True}})]\n"
        f"held = d.timedelta(seconds={HOLDS.total_seconds()})\n"
        "with m.run_server_in_thread(access_token_max_age=held, user_claims=who) as s:\n"
        "    print(s.server_port, flush=True); input()"
    )
    run = [sys.executable, "-c", code]
    quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(run, cwd=ROOT, **quiet) as packaged:
        own = Issuer()
        yield f"http://localhost:{packaged.stdout.readline().strip()}", own
        own.server.shutdown()
        own.server.server_close()
        packaged.kill()


HOLDS = timedelta(seconds=scaled(4))


@pytest.fixture(scope="module")
def server(tmp_path_factory, providers):
    home = tmp_path_factory.mktemp("home")
    secrets = home / "secrets.toml"
    packaged, own = providers
    told = [
        '[auth]\ncookie_secret = "a secret of the tests that is long enough"\nredirect_uri = "http://localhost:{port}/oauth2callback"\n'
    ]
    for name, url in (("mock", packaged), ("own", own.url)):
        told.append(
            f'[auth.{name}]\nclient_id = "plurality"\nclient_secret = "s"\n'
            f'server_metadata_url = "{url}/.well-known/openid-configuration"\n'
        )
    secrets.write_text("".join(told))
    running = Dashboard(home / "data", PLURALITY_SIGN_IN="1")
    running.COMMAND = (*Dashboard.COMMAND, "--secrets.files", str(secrets))
    before = os.umask(0o022)  # another test of this process may have closed what it makes
    running.start()
    os.umask(before)
    yield running
    running.stop()


def entry(provider):
    """The token by which a page asks for a provider, made as Streamlit makes it."""
    key = "a secret of the tests that is long enough"
    claims = {"provider": provider, "exp": int(time.time()) + 120}
    return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(key))


@pytest.fixture
def client():
    """Makes clients, each with cookies of its own."""
    made = []

    def one(**cookies):
        made.append(httpx.Client(follow_redirects=False, timeout=20, cookies=cookies))
        return made[-1]

    yield one
    for each in made:
        each.close()


def signed_in_by(server, provider, client):
    """The client after the way to the provider and back."""
    answer = client.get(f"{server.url}/auth/login?provider={entry(provider)}")
    assert answer.status_code == 302, answer.text
    where = answer.headers["location"]
    answer = client.post(where, data={"sub": ANN}) if provider == "mock" else client.get(where)
    assert answer.status_code == 302, answer.text
    client.get(answer.headers["location"])
    return client


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_server_closes_its_home_to_other_users_also_what_was_open_before(server, client):
    """The folder and the log of the server were made by this test, for everybody to read."""
    assert may_fetch(server, signed_in_by(server, "own", client()))
    modes = {path: path.stat().st_mode & 0o777 for path in (server.home, *server.home.rglob("*"))}
    assert server.log in modes and any("accounts" in str(path) for path in modes)
    assert {path for path, mode in modes.items() if mode & 0o077} == set()
    assert "home_closed_to_other_users" in server.log_text()


def may_fetch(server, client):
    """Whether files are given: what is not there is then not found, and not refused."""
    return {404: True, 403: False}[client.get(f"{server.url}/media/{'0' * 56}.csv").status_code]


def test_sign_in_holds_until_it_ends_and_sign_out_ends_it_at_the_provider_too(server, client):
    assert not may_fetch(server, client())
    first = signed_in_by(server, "mock", client())
    assert may_fetch(server, first)
    again = signed_in_by(server, "mock", client())
    copied = dict(again.cookies)
    answer = again.get(f"{server.url}/auth/logout")
    assert "end_session" in answer.headers["location"]
    assert may_fetch(server, first)
    assert not may_fetch(server, again) and not may_fetch(server, client(**copied))
    time.sleep(HOLDS.total_seconds() + 0.5)
    assert not may_fetch(server, first)  # the cookie would hold for 30 days


def test_an_honest_issuer_is_believed_and_one_that_lies_is_not(server, providers, client):
    own = providers[1]
    assert may_fetch(server, signed_in_by(server, "own", client()))
    for lie in ("audience", "signature", "no signature", "nonce", "issuer", "over"):
        own.lie = lie
        fooled = signed_in_by(server, "own", client())
        assert not may_fetch(server, fooled), lie
        assert "_streamlit_user" not in fooled.cookies, lie
    own.lie = ""


@pytest.mark.parametrize(
    "said",
    [{}, {"email_verified": False}, {"email_verified": "false"}, {"email_verified": None}, {"email_verified": 0}],
)
def test_an_address_that_the_provider_has_not_verified_is_nobodys(server, providers, client, said):
    """Whoever can register an address there would be its owner here."""
    own = providers[1]
    own.address = {"email": "boss@clinic.example", **said}
    assert not may_fetch(server, signed_in_by(server, "own", client()))
    own.address = VERIFIED | {"email_verified": "true"}
    assert may_fetch(server, signed_in_by(server, "own", client()))
    own.address = VERIFIED


def test_an_account_of_another_provider_does_not_take_a_name_that_has_one(server, providers, client):
    """Both providers are set up and honest, and each vouches for the address."""
    assert may_fetch(server, signed_in_by(server, "mock", client()))
    own = providers[1]
    own.address = {"email": ANN.upper(), "email_verified": True}
    assert not may_fetch(server, signed_in_by(server, "own", client()))
    own.address = VERIFIED


def test_a_cookie_that_somebody_made_or_changed_is_nobodys(server, client):
    honest = signed_in_by(server, "own", client()).cookies["_streamlit_user"]
    made = '{"is_logged_in":true}'
    for cookie in (honest[:-2] + "xx", made, b64encode(made.encode()).decode()):
        assert not may_fetch(server, client(_streamlit_user=cookie))


def claims(name=ANN, **more):
    now = time.time()
    told = {"iss": "i", "sub": name, "iat": now, "exp": now + 600, "email": name, "email_verified": True}
    return {"is_logged_in": True, **told, **more}


@pytest.fixture
def page(monkeypatch):
    """A page as somebody with those claims opens it."""
    monkeypatch.setenv("PLURALITY_SIGN_IN", "1")

    def opened(user, name="home", **address):
        app = AppTest.from_file(APP, default_timeout=120)
        app.user = user
        for part, value in address.items():
            app.query_params[part] = value
        app.run()
        return app.switch_page(f"pages/{name}.py").run() if name != "home" else app

    return opened


def test_a_provider_that_is_set_up_while_the_server_runs_is_seen_within_a_second(monkeypatch):
    """Without one it is not looked for at each of the dozens of times that a page asks; with one it is on for good."""
    now, section, asked = [100.0], {}, []
    monkeypatch.setattr(sign_in, "_looked", float("-inf"))
    monkeypatch.setattr(sign_in, "_seen", False)
    monkeypatch.setattr(sign_in, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(sign_in, "get_secrets_auth_section", lambda: asked.append(now[0]) or section)
    assert not any(sign_in.is_on() for _ in range(40)) and len(asked) == 1
    section["client_id"] = "plurality"
    now[0] += 1.0
    assert sign_in.is_on()
    now[0] += 0.1
    assert sign_in.is_on()
    section.clear()  # as while its file is half written
    now[0] += 5.0
    assert sign_in.is_on()


def test_who_asks_while_another_session_looks_for_a_provider_looks_too(monkeypatch):
    """The first look of a server reads its file: nobody is let in meanwhile as if there were none."""
    meanwhile = []

    def section():
        if not meanwhile:
            meanwhile.append(None)
            meanwhile.append(sign_in.is_on())
        return {"client_id": "plurality"}

    monkeypatch.setattr(sign_in, "_looked", float("-inf"))
    monkeypatch.setattr(sign_in, "_seen", False)
    monkeypatch.setattr(sign_in, "get_secrets_auth_section", section)
    assert sign_in.is_on() and meanwhile == [None, True]


def test_without_sign_in_nothing_is_drawn_but_the_way_in(page):
    for user in ({}, {"is_logged_in": False}, claims(exp=time.time() - 1), claims(email=None)):
        app = page(user, data="caries")
        assert [title.value for title in app.title] == ["Plurality"]
        assert not app.sidebar.button and not app.dataframe and "data" not in app.session_state


def test_the_reviewer_is_who_signed_in_and_nobody_types_a_name(page):
    app = page(claims("Ann@Clinic.example"), "review", data="caries")
    assert app.session_state["reviewer"] == ANN
    assert not [field for field in app.text_input if field.key == "reviewer_field"]
    assert not [button for button in app.button if button.key == "sign_off"]
    assert any("You review as" in entry.value for entry in app.markdown)
    app.session_state["reviewer"] = "somebody else"
    app.run()
    assert app.session_state["reviewer"] == ANN


def test_a_session_that_ends_while_it_is_open_is_closed_at_the_next_run(page):
    user = claims(name := "bob@clinic.example")
    app = page(user, data="caries")
    assert app.session_state["data"] == "caries" and any(text.value == name for text in app.text)
    sign_out(user)
    app.run()
    assert "data" not in app.session_state
    assert [title.value for title in app.title] == ["Plurality"]
