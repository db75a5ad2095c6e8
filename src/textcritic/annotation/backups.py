"""Copies of the database, made while annotators are at work; and how somebody is deleted from it and from them.

A withdrawal is owed from the moment when the database has deleted the annotator. The database then keeps a keyed hash
of the annotator's code, never the code itself, until all other files of the campaign are clean. If a file cannot be
cleaned (locked, damaged, no room), or the server is killed, this is done at the next start or the next withdrawal.
"""

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Iterator, Mapping, Set
from contextlib import closing, contextmanager
from pathlib import Path

from textcritic.annotation.store import SETTINGS, NotStoredError, Store, now
from textcritic.errors import TextcriticError
from textcritic.files import write_text

EXPORTS = ("answers.jsonl", "pilot.jsonl")
"""What `textcritic annotate export` writes into the campaign's folder."""
SECONDS = 1
"""How long to wait for a file that another program has locked."""


def make_backup(store: Store) -> Path:
    """Write a consistent copy into the folder `backups` next to the database; returns its path."""
    path = store.path.parent / "backups" / f"campaign-{now():%Y-%m-%dT%H-%M-%S-%f}.sqlite"
    store.backup(path)
    return path


def backups_of(store: Store) -> list[Path]:
    """The copies next to the database; an annotator who withdraws is deleted from each."""
    before_migration = store.path.parent.glob(f"{store.path.stem}.version*.sqlite")
    return sorted([*(store.path.parent / "backups").glob("campaign-*.sqlite"), *before_migration])


def withdraw(store: Store, annotator: str) -> Mapping[str, str]:
    """Delete an annotator and all their answers, also from the copies and exports next to the database.

    Args:
        store: the campaign.
        annotator: who is in it, or in a copy.

    Returns:
        What is owed, see `settle`: nothing, if no trace is left.

    Raises:
        NotStoredError: nothing was deleted, and nothing is owed.
        TextcriticError: no file that can be read has such an annotator.
    """
    key = _key(store, annotator)
    with store.transaction():
        known = _delete(store.connection, store, {key}) or key in _owed(store)
        if known:
            store.set_about("owed", _owed(store) | {key: None})
    if not known:
        _require_copy(store, key)
        with store.transaction():
            store.set_about("owed", _owed(store) | {key: None})
    try:
        return settle(store, key)
    except NotStoredError as error:
        return {store.path.name: str(error)}


def settle(store: Store, new: str = "") -> Mapping[str, str]:
    """Delete the annotators who are gone from the database from every file that still has them.

    Args:
        store: the campaign.
        new: hash of the code of somebody for whom nothing was tried before.

    Returns:
        Why a file could not be cleaned, by its path from the campaign's folder on: it is tried again at the next
        start. Nothing, if nothing is owed any more.
    """
    if not (owed := _owed(store)):
        return {}
    folder, wrong = store.path.parent, {}
    exports = [path for name in EXPORTS if (path := folder / name).is_file()]
    # A temporary file may be older than the withdrawal: it is deleted unfinished, and its writer gets an error.
    for path in [*folder.glob("**/.*.tmp"), store.path, *backups_of(store), *exports]:
        name = str(path.relative_to(folder))
        keys = {key for key, names in owed.items() if names is None or name in names}
        try:
            if path.suffix == ".tmp":
                path.unlink(missing_ok=True)
            elif path == store.path:
                store.connection.execute(
                    "VACUUM"
                )  # deleted rows are zeros, but moved rows leave their old bytes behind
            elif keys:
                (_clean_export if path in exports else _clean_copy)(path, store, keys, bool(keys - {new}))
        except (sqlite3.Error, OSError, ValueError, TextcriticError) as error:
            wrong[name] = str(error)
    left = {key: sorted(wrong if names is None else {*names} & {*wrong}) for key, names in owed.items()}
    try:
        with store.transaction():
            store.set_about("owed", {key: names for key, names in left.items() if names})
    except NotStoredError as error:
        wrong[store.path.name] = str(error)
    return wrong


def owing(store: Store) -> list[str]:
    """The files in which somebody who withdrew may still be."""
    return sorted({name for names in _owed(store).values() for name in names or (store.path.name,)})


def listed(owed: Mapping[str, str]) -> str:
    """Files and why they could not be cleaned, in one line."""
    return "; ".join(f"{name} ({why})" for name, why in owed.items())


def _owed(store: Store) -> dict[str, list[str] | None]:
    """By the hash of a code, the files that are not clean; None: all."""
    owed: dict[str, list[str] | None] = store.about("owed", {})
    return owed


def _key(store: Store, annotator: str) -> str:
    return hmac.new(store.about("secret").encode(), annotator.encode(), hashlib.sha256).hexdigest()


def _annotators(connection: sqlite3.Connection, store: Store, keys: Set[str]) -> list[str]:
    """The annotators of a database who have these hashes."""
    return [id_ for (id_,) in connection.execute("SELECT id FROM annotator") if _key(store, id_) in keys]


def _delete(connection: sqlite3.Connection, store: Store, keys: Set[str]) -> int:
    """Delete annotators inside a transaction; only that somebody withdrew is counted. Returns how many."""
    annotators = _annotators(connection, store, keys)
    for annotator in annotators:
        consented = "SELECT count(*) FROM annotator WHERE id = ? AND consent_version IS NOT NULL"
        connection.execute(f"UPDATE about SET value = value + ({consented}) WHERE key = 'withdrawn'", (annotator,))
        connection.execute("DELETE FROM annotator WHERE id = ?", (annotator,))
    return len(annotators)


def _require_copy(store: Store, key: str) -> None:
    """See that a copy has an annotator."""
    wrong = {}
    for path in backups_of(store):
        try:
            with _opened(path) as copy:
                if _annotators(copy, store, {key}):
                    return
        except sqlite3.Error as error:
            wrong[path.name] = str(error)
    unread = f"; these could not be read: {listed(wrong)}" if wrong else ""
    raise TextcriticError(f"there is no annotator with this code{unread}")


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A copy as it is, even of an earlier version: a campaign would be migrated, and the old file would be kept."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=SECONDS)) as copy:
        for setting in SETTINGS:
            copy.execute(f"PRAGMA {setting}")
        yield copy


def _clean_copy(path: Path, store: Store, keys: Set[str], again: bool) -> None:
    """Delete annotators from a copy; `again`: their rows may be gone already, but their old bytes may be left."""
    with _opened(path) as copy:
        copy.execute("BEGIN IMMEDIATE")
        deleted = _delete(copy, store, keys)
        copy.execute("COMMIT")
        if deleted or again:
            copy.execute("VACUUM")


def _clean_export(path: Path, store: Store, keys: Set[str], _: bool) -> None:
    """Take the answers of annotators out of an export."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if _key(store, str(json.loads(line).get("annotator"))) not in keys]
    if len(kept) < len(lines):
        write_text(path, "".join(kept))
