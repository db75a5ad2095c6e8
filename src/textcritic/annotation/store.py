"""The database of one campaign: an SQLite file that is never half written.

Every change is a transaction that is on the disk before anybody is notified of it. The journal is the old one
(`journal_mode=DELETE`), not the write-ahead log, which can damage a database in SQLite before 3.51.3 when two
connections are at work. Deleted data are overwritten with zeros.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.files import whole_file

APPLICATION = 0x7C0A
"""The id of our databases in the file, so that no other database is taken for one."""
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
        "CREATE TABLE consent (version TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT",
        """CREATE TABLE item (
            id TEXT PRIMARY KEY, phase TEXT NOT NULL, document TEXT NOT NULL, source TEXT NOT NULL, texts TEXT NOT NULL,
            sha256 TEXT NOT NULL, right_answer TEXT, wanted INTEGER NOT NULL
        ) STRICT""",
        """CREATE TABLE annotator (
            id TEXT PRIMARY KEY, pilot INTEGER NOT NULL, person TEXT UNIQUE, state TEXT NOT NULL,
            round INTEGER NOT NULL DEFAULT 0, consent_version TEXT REFERENCES consent,
            revoked INTEGER NOT NULL DEFAULT 0
        ) STRICT""",
        """CREATE TABLE link (
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, annotator TEXT REFERENCES annotator ON DELETE CASCADE,
            pilot INTEGER NOT NULL, expires TEXT NOT NULL, revoked INTEGER NOT NULL DEFAULT 0
        ) STRICT""",
        """CREATE TABLE assignment (
            annotator TEXT NOT NULL REFERENCES annotator ON DELETE CASCADE, item TEXT NOT NULL REFERENCES item,
            place INTEGER NOT NULL, round INTEGER NOT NULL, until TEXT NOT NULL, started TEXT NOT NULL,
            draft TEXT, seen INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (annotator, item), UNIQUE (annotator, place)
        ) STRICT""",
        """CREATE TABLE answer (
            annotator TEXT NOT NULL, item TEXT NOT NULL, answer TEXT NOT NULL, answered TEXT NOT NULL,
            consent_version TEXT NOT NULL, PRIMARY KEY (annotator, item),
            FOREIGN KEY (annotator, item) REFERENCES assignment (annotator, item) ON DELETE CASCADE
        ) STRICT""",
        """CREATE TABLE request (
            id TEXT PRIMARY KEY, annotator TEXT NOT NULL REFERENCES annotator ON DELETE CASCADE
        ) STRICT""",
    ),
)
"""How a file of each version is made from one of the version before, from an empty file on; the last one's number is
the version that this program reads."""


SETTINGS = ("journal_mode=DELETE", "synchronous=EXTRA", "secure_delete=ON", "foreign_keys=ON")


class NotStoredError(TextcriticError):
    """The disk is full or the database is busy: nothing was changed, and the same request may be sent again."""


class Store:
    """An open database.

    Args:
        path: of the file.
        create: whether it may be absent, and is then made.

    Raises:
        TextcriticError: it is absent, empty, not a campaign's database, or of a version that this program does not
            know.
    """

    def __init__(self, path: str | os.PathLike[str], create: bool = False) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise TextcriticError(f"{path}: no such file; make the campaign with `textcritic annotate make NAME`")
        if not create and not self.path.stat().st_size:
            raise TextcriticError(f"{path}: is empty; put a backup in its place")
        try:
            if create:
                self.path.touch(0o600)
            # One thread at a time works with it, see `app`; not always the same one.
            self.connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=5)
            self.connection.row_factory = sqlite3.Row
            self._open()
        except (sqlite3.Error, OSError) as error:
            raise TextcriticError(f"{path}: cannot be opened as the database of a campaign ({error})") from error

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes of a block, on the disk at its end, or none of them.

        Raises:
            NotStoredError: the disk is full, or another process has kept the database busy for five seconds.
            TextcriticError: the file is damaged.
        """
        with self._in_words("nothing was saved"):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # SQLite itself goes back when the disk is full
                    self.connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """All rows of a query.

        Raises:
            NotStoredError: another process has kept the database busy for five seconds.
            TextcriticError: the file is damaged.
        """
        with self._in_words("cannot be read now"):
            return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: object) -> sqlite3.Row | None:
        """The first row of a query; None if there is none. Raises as `rows`."""
        return next(iter(self.rows(sql, *values)), None)

    def value(self, sql: str, *values: object) -> Any:
        """The first value of a query that has a row. Raises as `rows`."""
        return self.rows(sql, *values)[0][0]

    def change(self, sql: str, *values: object) -> int:
        """Run a statement inside a transaction; returns how many rows it changed."""
        return self.connection.execute(sql, values).rowcount

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Insert rows inside a transaction."""
        marks = ", ".join("?" * len(columns))
        self.connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    def about(self, key: str, default: Any = None) -> Any:
        """One of the values that the campaign was made with, or that are counted for it.

        Raises:
            TextcriticError: there is none and no default, or as `rows`.
        """
        row = self.row("SELECT value FROM about WHERE key = ?", key)
        try:
            return default if row is None and default is not None else json.loads(row["value"])  # type: ignore[index]
        except (TypeError, ValueError) as error:
            raise TextcriticError(f"{self.path}: is damaged (no {key}); put a backup in its place") from error

    def set_about(self, key: str, value: object) -> None:
        """Set one, inside a transaction."""
        self.change("INSERT OR REPLACE INTO about VALUES (?, ?)", key, json.dumps(value, ensure_ascii=False))

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a consistent copy, whole or not at all, while annotators are at work; only its owner may read it."""
        with whole_file(path) as temporary:
            temporary.touch(0o600)
            try:
                self.connection.execute("VACUUM INTO ?", (str(temporary),))  # without what was left in the file
            except sqlite3.Error as error:
                raise TextcriticError(f"{path}: the backup was not written ({error})") from error

    @contextmanager
    def _in_words(self, busy: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise NotStoredError(f"{self.path}: {busy} ({error})") from error
        except sqlite3.DatabaseError as error:
            raise TextcriticError(f"{self.path}: is damaged ({error}); put a backup in its place") from error

    def _open(self) -> None:
        for setting in SETTINGS:
            self.connection.execute(f"PRAGMA {setting}")
        application, version = (self.value(f"PRAGMA {name}") for name in ("application_id", "user_version"))
        known = len(MIGRATIONS)
        if application != APPLICATION and (version or self.value("SELECT count(*) FROM sqlite_schema")):
            raise TextcriticError(f"{self.path}: an SQLite database, but not the database of a campaign")
        if version > known:
            raise TextcriticError(
                f"{self.path}: of version {version}, made by a later textcritic; this one knows versions up to {known}:"
                " install the later one"
            )
        if version < known:
            self._migrate(version)

    def _migrate(self, version: int) -> None:
        """Migrate the file to the current version; the old file is kept next to it."""
        if version:
            self.backup(self.path.with_suffix(f".version{version}.sqlite"))
        with self.transaction():
            for statements in MIGRATIONS[version:]:
                for statement in statements:
                    self.connection.execute(statement)
            self.connection.execute(f"PRAGMA application_id={APPLICATION}")
            self.connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


@contextmanager
def only_server(path: Path) -> Iterator[None]:
    """Hold the lock of the one server that a database may have.

    Raises:
        TextcriticError: another server holds it.
    """
    with path.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TextcriticError(f"{path}: another server is at work on this campaign; stop it first") from error
        yield


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


def written(time: datetime) -> str:
    """A time as the database has it; earlier times come first in the order of text."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds")
