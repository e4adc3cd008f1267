"""The page for somebody without a sign-in: static, so that a stranger costs no session and sees no part of the app.

After the sign-in the browser returns to the address that was opened first.
"""

from typing import Any
from urllib.parse import urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit import config

from core.text import html_text
from pages.shared.cache import sign_in
from pages.shared.cache.streamlit_private import encode_provider_token, sign_in_cookie

SIGN_IN = "/sign-in"
_RETURN = "plurality_return"  # cookie with the address to return to
_RETURN_SECONDS = 600
_OTHERS = ("/_stcore/", "/static/", "/media/", "/auth/", "/oauth2callback", "/component/", SIGN_IN)
_PAGE = """<!doctype html><html lang="en" style="color-scheme: light dark"><head>
<meta charset="utf-8"><title>Sign in · Plurality</title>
<meta name="viewport" content="width=device-width"><style>
body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 15vh auto; padding: 0 1rem }}
a {{ display: block; margin: 1rem 0; padding: 0.7rem 1rem; border-radius: 0.5rem; background: #0f766e; color: #fff;
  text-align: center; text-decoration: none }}
a:focus-visible {{ outline: 3px solid #5eead4; outline-offset: 2px }}
</style></head><body><main><h1>Plurality</h1><p>{words}</p>{links}</main></body></html>"""


def answer(scope: dict[str, Any]) -> Response | None:
    """Return the sign-in page for a stranger, or the way back for somebody who has just signed in; None for the app.

    Parameters
    ----------
    scope : dict
        ASGI scope of an HTTP request that `doors.refusal` lets in.
    """
    if scope.get("method") != "GET" or not sign_in.is_on() or not _is_page(scope):
        return None
    asked = HTTPConnection(scope)
    if sign_in_cookie(asked.cookies) is None:
        return _sign_in_page(asked)
    back = asked.cookies.get(_RETURN, "")
    if asked.url.path == _base() + "/" and _is_own(back):
        response: Response = RedirectResponse(back, status_code=302)
        response.delete_cookie(_RETURN, path="/")
        return response
    return None


def routes() -> list[Route]:
    """Return the address that begins a sign-in, without a session."""
    return [Route(SIGN_IN, _begin)]


def _sign_in_page(asked: HTTPConnection) -> HTMLResponse:
    providers = sign_in.providers()
    back = asked.url.path + (f"?{asked.url.query}" if asked.url.query else "")
    begin = {name: f"{_base()}{SIGN_IN}?" + urlencode({"provider": name, "back": back}) for name in providers}
    links = "".join(f'<a href="{html_text(begin[name])}">{html_text(words)}</a>' for name, words in providers.items())
    words = "Sign in to continue." if providers else "Sign-in is not set up on this server. Contact the administrator."
    return HTMLResponse(_PAGE.format(words=words, links=links), headers={"Cache-Control": "no-store"})


async def _begin(request: Request) -> Response:
    provider, back = (request.query_params.get(name, "") for name in ("provider", "back"))
    if provider not in sign_in.providers():
        return RedirectResponse(_base() + "/", status_code=302)
    token = encode_provider_token(provider)
    response = RedirectResponse(f"{_base()}/auth/login?{urlencode({'provider': token})}", status_code=302)
    if _is_own(back):
        secure = request.headers.get("x-forwarded-proto", request.url.scheme) == "https"
        response.set_cookie(_RETURN, back, _RETURN_SECONDS, path="/", httponly=True, samesite="lax", secure=secure)
    return response


def _is_page(scope: dict[str, Any]) -> bool:
    """Return whether a browser asks for a page, and not for one of its files."""
    path = "/" + scope["path"].removeprefix(_base()).lstrip("/")
    accepts = b"".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    return b"text/html" in accepts and not path.startswith(_OTHERS)


def _is_own(address: str) -> bool:
    """Return whether an address is a path on this server, and not one that a browser takes for another host."""
    return address.startswith("/") and not address.startswith("//") and "\\" not in address and address.isprintable()


def _base() -> str:
    base = (config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""
