"""Who sends a request: one whose link is valid, and what its page is made from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from textcritic.annotation.links import Link, RefusedError, check_annotator, link_of, signer
from textcritic.annotation.security import (
    UNKNOWN,
    FormToken,
    Limit,
    check_origin,
    new_token,
    read_token,
    session_of,
)
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import Store, now

NEWCOMERS_A_MINUTE = 200
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Settings:
    """How the app is served.

    Attributes:
        address: of the server as browsers see it, e.g. https://study.example.org; None: as requests name it. With
            https, cookies are sent over https only.
        requests_a_minute: of one link.
    """

    address: str | None = None
    requests_a_minute: int = 120


class Web:
    """What pages are made of.

    Attributes:
        store: the campaign's database.
        campaign: what it was made from.
        settings: how it is served.
        limit: of requests.
        newcomers: limit of those who come by a link of Prolific for the first time.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings, self.campaign = store, settings, Campaign(store)
        self.limit, self.newcomers = Limit(settings.requests_a_minute), Limit(NEWCOMERS_A_MINUTE)
        self.sign = signer(store, "form")
        self.templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=select_autoescape(("html.j2",)),
            undefined=StrictUndefined,
            trim_blocks=True,
        )

    def html(self, page: str, status: int = 200, **values: object) -> Response:
        """A page of a template."""
        entry = self.campaign.entry
        common = {key: getattr(entry, key) for key in ("title", "contact", "language", "withdraw_until")}
        return HTMLResponse(self.templates.get_template(page).render(common | values), status)

    def message(self, status: int, heading: str, words: str, **values: object) -> Response:
        """A page with one message."""
        return self.html("message.html.j2", status, heading=heading, words=words, **values)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody whose link is valid.

    Attributes:
        web: what pages are made of.
        link: by which they came.
        annotator: who it is; "" for the campaign's own pages.
        word: of the session.
        form: the fields that were sent; none for a page that is only read.
        token: of the form that was sent.
        address: of the server, as browsers see it.
    """

    web: Web
    link: Link
    annotator: str
    word: str
    form: Mapping[str, str]
    token: FormToken | None
    address: str

    def new_token(self, item: str = "") -> str:
        """A token for a form of the page."""
        return new_token(self.web.sign, self.word, item)

    def html(self, page: str, status: int = 200, **values: object) -> Response:
        """A page for an annotator."""
        who = {"number": self.annotator, "may_withdraw": True, "token": self.new_token()}
        return self.web.html(page, status, **(who | values))


Handler = Callable[[Visit], Response]


def visit_of(web: Web, request: Request, kind: str, fields: Mapping[str, str], post: bool) -> Visit:
    """Let a request in.

    Args:
        web: what pages are made of.
        request: of somebody.
        kind: of the link that is needed.
        fields: of the form that was sent.
        post: whether a form was sent, which must be one of ours.

    Raises:
        RefusedError: there is no valid link of this kind, there are too many requests, or the form is from elsewhere.
    """
    known = request.session.get(kind)
    if not isinstance(known, dict):
        web.limit.hit(UNKNOWN)
        raise RefusedError(403, "Please open the link that you were given.")
    link = link_of(web.store, known.get("link"), now())
    annotator = str(known.get("annotator") or "")
    web.limit.hit(annotator or link.id)
    if annotator:
        check_annotator(web.store, annotator)
    word = session_of(request.session)
    token = None
    if post:
        check_origin(request, web.settings.address)
        token = read_token(web.sign, fields.get("token", ""), word)
    address = web.settings.address or f"{request.url.scheme}://{request.headers.get('host', '')}"
    return Visit(web, link, annotator, word, fields, token, address)


def to(path: str) -> Response:
    """Send the browser to another page, by `GET`."""
    return RedirectResponse(path, 303)


def paragraphs(text: str) -> list[str]:
    """Paragraphs of a text that has an empty line between two."""
    return [part.strip() for part in text.split("\n\n") if part.strip()]
