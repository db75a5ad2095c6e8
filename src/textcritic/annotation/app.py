"""The web app: pages that a server makes, for annotators and for whoever runs the campaign; no script in any of them.

All work with the database and the templates is done in one thread, one request after the other, so that there is one
connection that writes. What is answered is on the disk before the answer is sent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from textcritic.annotation.admin import ADMIN_PAGES
from textcritic.annotation.links import (
    ADMIN,
    ANNOTATOR,
    PROLIFIC,
    RefusedError,
    check_annotator,
    link_of_token,
    participant,
)
from textcritic.annotation.pages import PAGES
from textcritic.annotation.security import UNKNOWN, AddHeaders, form_of, session_of
from textcritic.annotation.store import NotStoredError, Store
from textcritic.annotation.visits import TEMPLATES, Handler, Settings, Web, to, visit_of

SESSION_SECONDS = 60 * 60 * 24 * 60


def make_app(store: Store, settings: Settings) -> Starlette:
    """The app on an open database, which nothing else may write to while it is served."""
    web = Web(store, settings)
    thread = ThreadPoolExecutor(1)
    routes = [
        Route("/style.css", _style, methods=["GET"]),
        Route("/enter/{token}", _in_thread(thread, web, _enter), methods=["GET"]),
        Route("/withdrawn", _in_thread(thread, web, _withdrawn), methods=["GET"]),
        *(_route(thread, web, path, page, ANNOTATOR) for path, page in PAGES.items()),
        *(_route(thread, web, path, page, ADMIN) for path, page in ADMIN_PAGES.items()),
    ]
    secret = store.about("secret")
    https = (settings.address or "").startswith("https://")
    session = Middleware(
        SessionMiddleware,
        secret_key=secret,
        session_cookie=cookie_of(secret),
        max_age=SESSION_SECONDS,
        same_site="lax",
        https_only=https,
    )
    return Starlette(routes=routes, middleware=[Middleware(AddHeaders), session])


def cookie_of(secret: str) -> str:
    """The name of a campaign's cookie: browsers do not tell apart the ports of a host, so each campaign has its own."""
    return f"textcritic-{sha256(secret.encode()).hexdigest()[:12]}"


def _route(thread: ThreadPoolExecutor, web: Web, path: str, handlers: Mapping[str, Handler], kind: str) -> Route:
    """A page for those whose link is of one kind: `GET` shows it, `POST` takes its form."""

    async def respond(request: Request) -> Response:
        post = request.method == "POST"
        fields: dict[str, str] = {}
        try:
            if post:
                fields = await form_of(request)

            def work() -> Response:
                visit = visit_of(web, request, kind, fields, post)
                return handlers["POST" if post else "GET"](visit)

            return await asyncio.get_running_loop().run_in_executor(thread, work)
        except RefusedError as error:
            return _refusal(web, error)
        except NotStoredError:
            words = "The server could not save it. Nothing is lost that was saved before. Please send it again."
            again = {"again": request.url.path, "fields": fields} if post else {}
            return web.message(503, "Not saved", words, **again)

    return Route(path, respond, methods=list(handlers))


def _in_thread(
    thread: ThreadPoolExecutor, web: Web, handler: Callable[[Web, Request], Response]
) -> Callable[[Request], Awaitable[Response]]:
    """A page for everybody."""

    async def respond(request: Request) -> Response:
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, handler, web, request)
        except RefusedError as error:
            return _refusal(web, error)
        except NotStoredError:
            return web.message(503, "Please try again", "The server is busy. Please open your link again.")

    return respond


def _refusal(web: Web, error: RefusedError) -> Response:
    response = web.message(error.status, "This page cannot be shown", error.reason)
    if error.status == 429:
        response.headers["Retry-After"] = "60"
    return response


async def _style(_: Request) -> Response:
    style = (TEMPLATES / "style.css").read_bytes()
    return Response(style, media_type="text/css", headers={"Cache-Control": "max-age=600"})


def _enter(web: Web, request: Request) -> Response:
    """A link is opened: the session says from now on who it is."""
    try:
        link = link_of_token(web.store, request.path_params["token"])
    except RefusedError:
        web.limit.hit(UNKNOWN)
        raise
    annotator = link.annotator
    if link.kind == PROLIFIC:
        person = request.query_params.get("PROLIFIC_PID", "")
        if not 1 <= len(person) <= 100:
            raise RefusedError(400, "Prolific's parameters are missing. Please open the study from Prolific.")
        annotator = participant(web.store, link, person)
    web.limit.hit(annotator or link.id)
    if annotator:
        check_annotator(web.store, annotator)
    session_of(request.session)
    kind = ADMIN if link.kind == ADMIN else ANNOTATOR
    request.session[kind] = {"link": link.id, "annotator": annotator}
    return to("/admin" if kind == ADMIN else "/")


def _withdrawn(web: Web, request: Request) -> Response:
    request.session.pop(ANNOTATOR, None)
    return web.message(200, "You have withdrawn", "All your answers are deleted. Thank you. You can close this page.")
