"""The web app and its server: pages for annotators and for whoever runs the campaign; no script in any of them.

All work with the database and the templates is done in one thread, one request after the other, so that there is one
connection that writes. What is answered is on the disk before the answer is sent.
"""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from textcritic.annotation.admin import ADMIN_PAGES
from textcritic.annotation.backups import settle
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
from textcritic.annotation.security import UNKNOWN, AddHeaders, PromptProtocol, form_of, session_of
from textcritic.annotation.store import NotStoredError, Store, only_server
from textcritic.annotation.visits import TEMPLATES, Handler, Settings, Web, to, visit_of
from textcritic.errors import TextcriticError

SESSION_SECONDS = 60 * 60 * 24 * 60


def serve(path: Path, host: str, port: int, settings: Settings, announce: str) -> None:
    """Serve a campaign until the process is stopped: one process, one campaign.

    Neither requests nor addresses are logged.

    Args:
        path: of the database.
        host: of this machine to listen on; 127.0.0.1: reached from this machine alone, as by a reverse proxy.
        port: to listen on.
        settings: of the app.
        announce: printed once requests are taken.

    Raises:
        TextcriticError: the port is in use, another server is at work on the campaign, or the database is not one.
    """
    with only_server(path), Store(path) as store, _listening(host, port) as sock:
        for name, why in settle(store).items():
            print(f"textcritic annotate: {name}: somebody who withdrew may still be in it ({why})", file=sys.stderr)
        app = make_app(store, settings)
        config = uvicorn.Config(
            app,
            http=PromptProtocol,
            access_log=False,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            lifespan="off",
        )
        config.timeout_graceful_shutdown = 5
        print(announce, flush=True)
        try:
            uvicorn.Server(config).run(sockets=[sock])
        except KeyboardInterrupt:
            print("textcritic annotate: stopped; all answers are saved", file=sys.stderr)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
            sock.listen(256)
        except (OSError, OverflowError) as error:
            raise TextcriticError(
                f"{host}:{port} cannot be listened on ({error}); choose another with --port, or stop what is there"
            ) from error
        yield sock


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

    def handle(web: Web, request: Request, fields: Mapping[str, str]) -> Response:
        post = request.method == "POST"
        return handlers["POST" if post else "GET"](visit_of(web, request, kind, fields, post))

    return Route(path, _in_thread(thread, web, handle), methods=list(handlers))


def _in_thread(
    thread: ThreadPoolExecutor, web: Web, handle: Callable[[Web, Request, Mapping[str, str]], Response]
) -> Callable[[Request], Awaitable[Response]]:
    """What answers a request, in words also where it cannot; a form that was not saved comes back."""

    async def respond(request: Request) -> Response:
        fields: Mapping[str, str] = {}
        try:
            if request.method == "POST":
                fields = await form_of(request)
            return await asyncio.get_running_loop().run_in_executor(thread, handle, web, request, fields)
        except RefusedError as error:
            return _refusal(web, error)
        except NotStoredError:
            if request.method != "POST":
                return web.message(503, "Please try again", "The server is busy. Please open this page again.")
            words = "The server could not save it. Nothing is lost that was saved before. Please send it again."
            return web.message(503, "Not saved", words, again=request.url.path, fields=fields)
        except TextcriticError as error:
            print(f"textcritic annotate: {error}", file=sys.stderr)
            return web.message(500, "This page cannot be shown", "The server cannot go on. Please write to us.")

    return respond


def _refusal(web: Web, error: RefusedError) -> Response:
    response = web.message(error.status, "This page cannot be shown", error.reason)
    if error.status == 429:
        response.headers["Retry-After"] = "60"
    return response


async def _style(_: Request) -> Response:
    style = (TEMPLATES / "style.css").read_bytes()
    return Response(style, media_type="text/css", headers={"Cache-Control": "max-age=600"})


def _enter(web: Web, request: Request, _: Mapping[str, str]) -> Response:
    """A link is opened: from now on the session identifies the visitor."""
    try:
        link = link_of_token(web.store, request.path_params["token"])
    except RefusedError:
        web.limit.hit(UNKNOWN)
        raise
    annotator = link.annotator
    if link.kind == PROLIFIC:
        person, most = request.query_params.get("PROLIFIC_PID", ""), web.campaign.most_participants
        annotator = participant(web.store, link, person, most, lambda: web.newcomers.hit(PROLIFIC))
    web.limit.hit(annotator or link.id)
    if annotator:
        check_annotator(web.store, annotator)
    session_of(request.session)
    kind = ADMIN if link.kind == ADMIN else ANNOTATOR
    request.session[kind] = {"link": link.id, "annotator": annotator}
    return to("/admin" if kind == ADMIN else "/")


def _withdrawn(web: Web, request: Request, _: Mapping[str, str]) -> Response:
    request.session.pop(ANNOTATOR, None)
    done = "All your answers are deleted."
    owed = (
        "Your answers are deleted from the study. A copy of them could not be deleted yet: the server tries it again"
        " at its next start, and the person in charge sees that it still has to be done."
    )
    words = owed if request.query_params.get("owed") else done
    return web.message(200, "You have withdrawn", f"{words} Thank you. You can close this page.")
