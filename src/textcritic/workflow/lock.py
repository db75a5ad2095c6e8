"""The command `textcritic lock`: the commits of all that a study uses of the Hugging Face hub, see `plan.hub_lock`."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from textcritic.download import current_commit, wanted_of_model
from textcritic.download_dataset import wanted_files
from textcritic.errors import TextcriticError, listed
from textcritic.place import workflow_folder
from textcritic.plan.entries import Dataset
from textcritic.plan.entries.downloads import Pin
from textcritic.plan.hub_lock import LOCK, ON_HUB, Use, on_hub, read_lock, unlocked, write_lock
from textcritic.plan.project import Project, load_configuration
from textcritic.plan.registries import Registries


def lock(
    names: Sequence[str] = (),
    configfile: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] = ".",
    update: bool = False,
) -> str:
    """Look up commits, and write them to hub.lock: all, or, if one cannot be had, none.

    Args:
        names: studies, and entries of the registries hub and datasets; none: the studies of the configuration.
        configfile: YAML laid over config/config.yaml.
        folder: working directory.
        update: look up those again that are there already.

    Returns:
        A line for each commit.

    Raises:
        TextcriticError: there is no such study, a fault of the configuration or of hub.lock, no network, no such
            repository or revision, or a commit without the files that an entry wants.
    """
    here, config = Path(folder).resolve(), load_configuration(configfile)
    project = Project(config | {"studies": []}, workflow_folder(), here, locked=False)
    registries = project.registries
    uses = [(registry, name) for registry in ON_HUB for name in names if name in registries.entries[registry]]
    entries = {name for _, name in uses}
    studies = [name for name in names if name not in entries] if names else config["studies"]
    if studies:
        project = Project(config | {"studies": studies}, workflow_folder(), here, locked=False)
        uses += [use for study in project.studies.values() for use in study.uses()]
    kept = {use: pin for use, pin in read_lock(here).items() if _matches(pin, use, registries)}
    wanted = unlocked(registries, uses)
    pins = kept | {use: _looked_up(use, kept.get(use), registries) for use in wanted if update or use not in kept}
    write_lock(here, pins)
    if not wanted:
        others = unlocked(registries, [(place, name) for place in ON_HUB for name in registries.entries[place]])
        return (
            f"nothing to look up: what {listed([*studies, *entries])} use of the hub has commits in the registries;"
            f" entries without: {', '.join(name for _, name in others) or 'none'}"
        )
    return "\n".join([*(_line(use, kept.get(use), pins[use]) for use in wanted), str(here / LOCK)])


def _matches(pin: Pin, use: Use, registries: Registries) -> bool:
    if use[1] not in registries.entries[use[0]]:
        return False
    entry = on_hub(registries, use)
    return (pin.repository, pin.revision) == (entry.repository, entry.revision)


def _looked_up(use: Use, before: Pin | None, registries: Registries) -> Pin:
    """The commit of an entry now; what was looked up before, if that is the same."""
    entry = on_hub(registries, use)
    try:
        commit, files = current_commit(entry.repository, entry.revision, dataset=isinstance(entry, Dataset))
    except TextcriticError as error:
        raise TextcriticError(f"{use[1]}: {error}; see its entry, and call this where there is a network") from error
    now = entry.changed(revision=commit)
    if isinstance(now, Dataset):
        wanted_files(files, now)
    else:
        wanted_of_model(files, now)
    if before and before.commit == commit:
        return before
    today = datetime.now(UTC).date().isoformat()
    return Pin(repository=entry.repository, revision=entry.revision, commit=commit, date=today)


def _line(use: Use, before: Pin | None, now: Pin) -> str:
    change = "" if before == now else f" (was {before.commit})" if before else " (new)"
    return f"{use[1]}: {now.repository} at {now.revision}: {now.commit}{change}"
