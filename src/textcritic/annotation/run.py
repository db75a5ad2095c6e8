"""What `textcritic annotate` does: make a campaign, invite, serve, export, back up."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from textcritic.annotation import LABEL_STUDIO, POTATO
from textcritic.annotation.backups import make_backup
from textcritic.annotation.make import Made, database_of, make_campaign
from textcritic.annotation.store import Store
from textcritic.errors import TextcriticError
from textcritic.place import workflow_folder
from textcritic.plan.project import Project, load_configuration

DEMO = "demo"
NEEDED = ("starlette", "uvicorn", "jinja2", "itsdangerous")
PORT = 8000


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a link is for.

    Attributes:
        kind: whose pages it opens, see `links`.
        number: of links.
        days: until they expire.
        pilot: whether annotators that come by them belong to a pilot.
    """

    kind: str = "annotator"
    number: int = 1
    days: int = 30
    pilot: bool = False


@dataclass(frozen=True, slots=True)
class Served:
    """Where a campaign is served.

    Attributes:
        host, port: that the server listens on.
        address: as browsers see it; None: http://host:port.
        requests_a_minute: of one link.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    address: str | None = None
    requests_a_minute: int = 120

    @property
    def shown(self) -> str:
        """The address that links begin with."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.address or f"http://{host}:{self.port}").rstrip("/")


def make(name: str, configfile: str | os.PathLike[str] | None = None, folder: str | os.PathLike[str] = ".") -> str:
    """Make a campaign from its entry in the registry; returns a summary in words.

    Raises:
        TextcriticError: as `make_campaign`, or a fault of the configuration.
    """
    here = Path(folder).resolve()
    registries = Project(load_configuration(configfile), workflow_folder(), here).registries
    return _summary(name, make_campaign(name, registries.entry("campaigns", name), here))


def invite(name: str, invitation: Invitation, address: str, folder: str | os.PathLike[str] = ".") -> str:
    """Make links; returns them, one a line.

    Raises:
        TextcriticError: there is no such campaign, the address is not one of a server, or the packages of the app are
            not installed.
    """
    require_packages()
    require_address(address)
    from textcritic.annotation.links import PROLIFIC, PROLIFIC_PARAMETERS, make_link

    tail = PROLIFIC_PARAMETERS if invitation.kind == PROLIFIC else ""
    with Store(database_of(Path(folder), name)) as store:
        paths = [make_link(store, invitation.kind, invitation.days, invitation.pilot) for _ in range(invitation.number)]
    return "\n".join(f"{address}{path}{tail}" for path in paths)


def revoke(name: str, id_: str, folder: str | os.PathLike[str] = ".") -> str:
    """Revoke an annotator or a link; returns what was done, in words."""
    require_packages()
    from textcritic.annotation.links import revoke as revoke_link

    with Store(database_of(Path(folder), name)) as store:
        revoke_link(store, id_)
    return f"{name}: {id_} is revoked"


def export_to(name: str, format_: str, out: str | None, pilot: bool = False) -> str:
    """Write texts and answers of a campaign for another program; returns the files, in words.

    Args:
        name: of the campaign.
        format_: `label-studio` or `potato`.
        out: the file (Label Studio) or folder (Potato); None: in the campaign's folder.
        pilot: the answers of the pilot, and no others.

    Raises:
        TextcriticError: there is no such campaign, or a file cannot be written.
    """
    from textcritic.annotation.exchange import items_of
    from textcritic.annotation.label_studio import write_label_studio
    from textcritic.annotation.potato import write_potato

    database = database_of(Path(), name)
    write, usual = (write_label_studio, "label-studio.json") if format_ == LABEL_STUDIO else (write_potato, POTATO)
    with Store(database) as store:
        items = list(items_of(store, pilot))
    written = write(Path(out) if out else database.with_name(usual), items)
    return "\n".join(map(str, written))


def import_from(source: str, format_: str, out: str, campaign: str | None = None) -> str:
    """Read answers that were given in another program, and write them as an export; returns how many, in words.

    Args:
        source: Label Studio's export in its format JSON, or the folder of a project of Potato.
        format_: `label-studio` or `potato`.
        out: the file that a study names.
        campaign: the name for answers that are not from a campaign of ours.

    Raises:
        TextcriticError: what is read is not in this format, or lacks what an analysis needs.
    """
    from textcritic.annotation.answers import write_answers
    from textcritic.annotation.exchange import BROKEN, in_words
    from textcritic.annotation.label_studio import read_label_studio
    from textcritic.annotation.potato import read_potato

    try:
        reading = (read_label_studio if format_ == LABEL_STUDIO else read_potato)(Path(source), campaign)
        answers = reading.answers(source)
        write_answers(out, answers)
    except OSError:  # of the file that is written
        raise
    except BROKEN as error:
        raise TextcriticError(f"{source}: not as {format_} writes it: {error!r}") from error
    left_out = f"; left out: {in_words(reading.left_out)}" if reading.left_out else ""
    return f"{out}: {len(answers.rows):,} answers{left_out}"


def export(name: str, out: str | None, pilot: bool = False, folder: str | os.PathLike[str] = ".") -> str:
    """Write the answers of a campaign; returns how many and where, in words.

    Args:
        name: of the campaign.
        out: the file, a table if it ends in `.csv`; None: answers.jsonl in the campaign's folder.
        pilot: the answers of the pilot, and no others.
        folder: the working directory.

    Raises:
        TextcriticError: there is no such campaign, or the file cannot be written.
    """
    from textcritic.annotation.export import write_export

    database = database_of(Path(folder), name)
    path = Path(out) if out else database.with_name("pilot.jsonl" if pilot else "answers.jsonl")
    with Store(database) as store:
        number = write_export(store, path, pilot)
    return f"{path}: {number:,} answers"


def backup(name: str, folder: str | os.PathLike[str] = ".") -> str:
    """Write a backup next to the database, also while it is served; returns where, in words."""
    with Store(database_of(Path(folder), name)) as store:
        return str(make_backup(store))


def open_campaign(
    name: str, served: Served, configfile: str | os.PathLike[str] | None = None, folder: str | os.PathLike[str] = "."
) -> str:
    """Serve a campaign until the process is stopped, with a link for whoever runs it; the demo is made if absent.

    For the demo, a link for one annotator is printed too.

    Raises:
        TextcriticError: there is no such campaign, the port is in use, another server is at work on the campaign, or
            the packages of the app are not installed.
    """
    require_packages()
    from textcritic.annotation.app import serve
    from textcritic.annotation.visits import Settings

    here = Path(folder).resolve()
    path = database_of(here, name)
    if name == DEMO and not path.exists():
        if not (here / "results/studies/demo/report.html").is_file():
            raise TextcriticError(f"{here}: the study demo is not built here; run `textcritic demo` first")
        make(name, configfile, here)
    links = {"to run the campaign": invite(name, Invitation("admin", days=7), served.shown, here)}
    if name == DEMO:
        links["to answer as an annotator"] = invite(name, Invitation(), served.shown, here)
    serve(path, served.host, served.port, Settings(served.address, served.requests_a_minute), _announce(name, links))
    return ""


def require_address(address: str) -> None:
    """See that links can begin with an address.

    Raises:
        TextcriticError: it is not scheme, host and perhaps port of a server of web pages.
    """
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole or parts._replace(scheme="", netloc="").geturl().strip("/"):
        raise TextcriticError(f"address: {address!r} is not one of a server; write e.g. https://study.example.org")


def require_packages() -> None:
    """See that the extra `annotate` is installed.

    Raises:
        TextcriticError: a package of it is missing.
    """
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        raise TextcriticError(f"annotate: {', '.join(missing)} not installed; run `pip install 'textcritic[annotate]'`")


def _announce(name: str, links: Mapping[str, str]) -> str:
    lines = [f"{what + ':':<28}{link}" for what, link in links.items()]
    return "\n".join([f"campaign {name} is served; stop it with Ctrl-C", *lines])


def _summary(name: str, campaign: Made) -> str:
    counts = ", ".join(f"{phase} {number:,}" for phase, number in campaign.texts.items())
    lines = [f"{campaign.path}: texts: {counts}"]
    if campaign.left_out:
        lines.append("left out: " + ", ".join(f"{reason} {number:,}" for reason, number in campaign.left_out.items()))
    return "\n".join([*lines, f"now `textcritic annotate serve {name}`, and invite annotators on its page"])
