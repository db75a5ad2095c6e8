"""Copies of the database, made while annotators are at work."""

from pathlib import Path

from textcritic.annotation.steps import withdraw
from textcritic.annotation.store import Store, now


def make_backup(store: Store) -> Path:
    """Write a consistent copy into the folder `backups` beside the database; returns its path."""
    path = _folder(store) / f"campaign-{now():%Y-%m-%dT%H-%M-%S-%f}.sqlite"
    store.backup(path)
    path.chmod(0o600)
    return path


def backups_of(store: Store) -> list[Path]:
    """The copies beside the database; an annotator who withdraws is deleted from each."""
    before_migration = store.path.parent.glob(f"{store.path.stem}.version*.sqlite")
    return sorted([*_folder(store).glob("campaign-*.sqlite"), *before_migration])


def withdraw_everywhere(store: Store, annotator: str) -> None:
    """Delete an annotator and all that came from them, also from the copies beside the database."""
    withdraw(store, annotator)
    for path in backups_of(store):
        with Store(path) as copy:
            withdraw(copy, annotator)


def _folder(store: Store) -> Path:
    return store.path.parent / "backups"
