"""Signed links: who may come in, as whom, and until when.

A link carries the random id of a row of the database, signed. The signature alone lets nobody in: the row is looked up
at every request, and may have expired or been revoked.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from itsdangerous import BadSignature, URLSafeSerializer

from textcritic.annotation.store import Store, now, written
from textcritic.errors import TextcriticError

ANNOTATOR, PROLIFIC, ADMIN = "annotator", "prolific", "admin"
"""What a link opens: one annotator's pages; those of a new annotator for each participant of Prolific; the campaign's
own pages."""


PROLIFIC_PARAMETERS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""As Prolific wants them in the address of a study; only the first is looked at."""


class RefusedError(Exception):
    """A request that is refused; the page shows the reason, in words."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True, slots=True)
class Link:
    """A link that is valid now.

    Attributes:
        id: random.
        kind: what it opens.
        annotator: whose pages; None unless the kind is `ANNOTATOR`.
        pilot: whether annotators that come by it belong to a pilot.
    """

    id: str
    kind: str
    annotator: str | None
    pilot: bool


def new_id() -> str:
    """A random id of 128 bits; it does not begin with "-", which a command would take for an option."""
    while (id_ := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return id_


def signer(store: Store, salt: str) -> URLSafeSerializer:
    """What signs for one purpose with the campaign's own secret."""
    return URLSafeSerializer(store.about("secret"), salt=salt)


def make_link(store: Store, kind: str, days: float, pilot: bool = False) -> str:
    """Make a link, and for the kind `ANNOTATOR` the annotator whose it is.

    Args:
        store: the campaign.
        kind: what it opens.
        days: until it expires.
        pilot: whether annotators that come by it belong to a pilot.

    Returns:
        The path of the page that it opens, to be put behind the address of the server.
    """
    link = new_id()
    with store.transaction():
        annotator = add_annotator(store, pilot, None) if kind == ANNOTATOR else None
        expires = written(now() + timedelta(days=days))
        store.insert("link", ("id", "kind", "annotator", "pilot", "expires"), [(link, kind, annotator, pilot, expires)])
    return f"/enter/{signer(store, 'link').dumps(link)}"


def add_annotator(store: Store, pilot: bool, person: str | None) -> str:
    """A new annotator, inside a transaction; returns the random id."""
    annotator = new_id()
    store.insert("annotator", ("id", "pilot", "person", "state"), [(annotator, pilot, person, "invited")])
    return annotator


def link_of_token(store: Store, token: str) -> Link:
    """The link of a path's token; raises `RefusedError` as `link_of`, and if the signature is wrong."""
    try:
        return link_of(store, signer(store, "link").loads(token), now())
    except BadSignature as error:
        raise RefusedError(403, "This link is not valid. Please check that you copied all of it.") from error


def link_of(store: Store, id_: object, at: datetime) -> Link:
    """A link by its id.

    Raises:
        RefusedError: there is none, it has expired or was revoked.
    """
    row = store.row("SELECT * FROM link WHERE id = ?", id_) if isinstance(id_, str) else None
    if row is None:
        raise RefusedError(403, "This link is not valid.")
    if row["revoked"]:
        raise RefusedError(403, "This link is no longer valid.")
    if row["expires"] <= written(at):
        raise RefusedError(403, "This link has expired.")
    return Link(row["id"], row["kind"], row["annotator"], bool(row["pilot"]))


def check_annotator(store: Store, annotator: str) -> None:
    """See that an annotator is still there.

    Raises:
        RefusedError: they withdrew, or were revoked.
    """
    row = store.row("SELECT revoked FROM annotator WHERE id = ?", annotator)
    if row is None:
        raise RefusedError(403, "You have withdrawn, or this link is not valid.")
    if row["revoked"]:
        raise RefusedError(403, "This link is no longer valid.")


def revoke(store: Store, id_: str) -> None:
    """Revoke the access of an annotator, or of everybody who uses the link with this id.

    Raises:
        TextcriticError: there is no such annotator and no such link.
    """
    with store.transaction():
        counts = [store.change(f"UPDATE {table} SET revoked = 1 WHERE id = ?", id_) for table in ("annotator", "link")]
    if not any(counts):
        raise TextcriticError(f"revoke: there is no annotator and no link {id_!r} in this campaign")


def participant(store: Store, link: Link, person: str, most: int, new: Callable[[], None]) -> str:
    """The annotator who is this participant of Prolific, made if new.

    The participant's id is not stored, only a hash of it with the campaign's secret: enough to know who returns.

    Args:
        store: the campaign.
        link: the one that they use.
        person: the participant's id.
        most: how many participants may take part.
        new: called before an annotator is made; what it raises refuses the participant.

    Raises:
        RefusedError: it is not an id, or all places are taken.
    """
    if "{" in person or not 1 <= len(person) <= 100:
        which = "still has Prolific's placeholder in the place of" if "{" in person else "lacks"
        raise RefusedError(400, f"This address {which} a participant's id. Please open the study from Prolific.")
    key = hmac.new(store.about("secret").encode(), person.encode(), hashlib.sha256).hexdigest()
    with store.transaction():
        if row := store.row("SELECT id FROM annotator WHERE person = ?", key):
            return str(row["id"])
        new()
        if num_participants(store, link.pilot) >= most:
            raise RefusedError(403, "All places of this study are taken. Please return it on Prolific.")
        return add_annotator(store, link.pilot, key)


def num_participants(store: Store, pilot: bool) -> int:
    """How many places are taken by participants of Prolific: not by those who were revoked or failed the training."""
    sql = "SELECT count(*) FROM annotator WHERE person IS NOT NULL AND pilot = ? AND NOT revoked AND state != 'failed'"
    return int(store.value(sql, pilot))
