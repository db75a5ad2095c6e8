"""What every request must pass: limits, the token of a form, the origin of a post; and the headers of answers."""

import asyncio
import hmac
import secrets
import time
from collections import deque
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from textcritic.annotation.links import RefusedError

LONGEST_FORM = 100_000
LONGEST_REQUEST = 30.0
MOST_FIELDS = 2000
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Not `no-referrer`, with which a browser says `Origin: null` of our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}
"""No script, nothing from elsewhere, no frame around us, nothing kept."""
UNKNOWN = "unknown"


class AddHeaders:
    """Gives every answer the headers of `HEADERS`, except those that it has already."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as ASGI wants it."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


class PromptProtocol(H11Protocol):
    """A connection that is closed where a request takes longer than `LONGEST_REQUEST` seconds to arrive."""

    late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A browser has connected; the wait for its request begins."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some of a request has come; the last of it ends the wait, until the next one begins."""
        if self.late is None:
            self._wait()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._arrived()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone; the wait ends."""
        self._arrived()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.late = self.loop.call_later(LONGEST_REQUEST, self.transport.abort)

    def _arrived(self) -> None:
        if self.late is not None:
            self.late.cancel()
        self.late = None


class Limit:
    """A limit on the requests of one link in a minute, as a moving window; by link, because addresses are not read.

    Args:
        requests: in a minute.
    """

    def __init__(self, requests: int) -> None:
        self.requests = requests
        self._times: dict[str, deque[float]] = {}

    def hit(self, key: str) -> None:
        """Count a request.

        Raises:
            RefusedError: it is one too many.
        """
        at = time.monotonic()
        times = self._times.setdefault(key, deque())
        while times and times[0] <= at - 60:
            times.popleft()
        if len(times) >= self.requests:
            raise RefusedError(429, "Too many requests. Please wait a minute; nothing that was saved is lost.")
        times.append(at)


@dataclass(frozen=True, slots=True)
class FormToken:
    """The content of a form's token: the session that it was made in, the text that it is about, and its own id."""

    session: str
    item: str
    request: str


def new_token(sign: URLSafeSerializer, session: str, item: str = "") -> str:
    """A token for one showing of a form."""
    return str(sign.dumps([session, item, secrets.token_urlsafe(12)]))


def read_token(sign: URLSafeSerializer, token: str, session: str) -> FormToken:
    """The token of a form that was sent.

    Raises:
        RefusedError: it is not ours, or was made for another session.
    """
    try:
        form = FormToken(*sign.loads(token))
    except (BadSignature, TypeError) as error:
        raise RefusedError(403, "This form was not made by this site. Please open your link again.") from error
    if not session or not hmac.compare_digest(form.session, session):
        raise RefusedError(403, "This form belongs to another visit. Please open your link again.")
    return form


def check_origin(request: Request, address: str | None) -> None:
    """See that a post comes from one of our own pages.

    Args:
        request: the post.
        address: of the server as browsers see it, e.g. https://study.example.org; None: as the request names it.

    Raises:
        RefusedError: it comes from elsewhere, or does not say from where.
    """
    here = origin_of(address) if address else f"{request.url.scheme}://{request.headers.get('host', '')}"
    site = request.headers.get("sec-fetch-site", "same-origin")  # browsers send it over https only
    if request.headers.get("origin") != here or site != "same-origin":
        if address is None and request.headers.get("origin") == here.replace("http://", "https://", 1):
            raise RefusedError(
                403, "The server does not know that it is reached by https. Whoever runs it should give it `--address`."
            )
        raise RefusedError(403, "This request came from another site. Please open your link again.")


def origin_of(address: str) -> str:
    """Scheme, host and port of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a post, at most `LONGEST_FORM` bytes of it.

    Raises:
        RefusedError: it is longer, or not the form of a page.
    """
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            raise RefusedError(413, "This form is too long.")
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise RefusedError(400, "This form cannot be read.") from error


def session_of(session: dict[str, object]) -> str:
    """The random word of a session, which its forms carry."""
    return str(session.setdefault("word", secrets.token_urlsafe(16)))
