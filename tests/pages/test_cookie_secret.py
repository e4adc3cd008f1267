"""The secret of the cookies is changed without anybody having to sign in again, and without the former one for ever."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.web.server.starlette import starlette_app_utils, starlette_auth_routes, starlette_websocket

from pages.shared.cache.streamlit_private import read_old_cookies, sign_in_cookie

FORMER, PRESENT, FORGED = "former " * 6, "present " * 6, "forged " * 6
NAME = "_streamlit_user"


@pytest.fixture(autouse=True)
def present(monkeypatch):
    """The present secret; what the server turns on for its life is turned off again."""
    monkeypatch.setattr(starlette_websocket, "get_cookie_secret", lambda: PRESENT)
    for module in (starlette_app_utils, starlette_auth_routes):
        monkeypatch.setattr(module, "decode_signed_value", module.decode_signed_value)


def cookie(secret):
    return {NAME: starlette_app_utils.create_signed_value(secret, NAME, '{"email": "ann"}').decode("latin-1")}


def test_a_cookie_of_the_former_secret_is_read_until_it_is_left_out():
    assert sign_in_cookie(cookie(PRESENT)) and not sign_in_cookie(cookie(FORMER))
    read_old_cookies(FORMER)
    assert sign_in_cookie(cookie(FORMER)) == sign_in_cookie(cookie(PRESENT)) == b'{"email": "ann"}'


def test_a_cookie_of_another_secret_or_that_was_changed_is_nobodys():
    read_old_cookies(FORMER)
    assert sign_in_cookie(cookie(FORGED)) is None
    changed = cookie(FORMER)[NAME]
    assert sign_in_cookie({NAME: changed[:-2] + "xx"}) is None
    assert starlette_auth_routes.decode_signed_value(PRESENT, NAME, cookie(FORGED)[NAME]) is None


def in_a_thread(work):
    """Run it to its end where no other loop runs: tests before may have left one in this thread."""
    import anyio

    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, work).result()


def test_the_server_reads_them_where_the_setting_names_one(monkeypatch):
    from pages.shared.shell import doors

    read = []
    monkeypatch.setattr(doors, "read_old_cookies", read.append)
    for name in ("_close_home", "begin_running", "_end"):
        monkeypatch.setattr(doors, name, lambda: None)
    for part, name in ((doors.offered, "begin"), (doors.operations, "begin"), (doors.operations, "started")):
        monkeypatch.setattr(part, name, lambda: None)

    async def once():
        async with doors.lifespan(None):
            pass

    in_a_thread(once)
    assert read == []
    monkeypatch.setenv("PLURALITY_OLD_COOKIE_SECRET", FORMER)
    in_a_thread(once)
    assert read == [FORMER]
