"""`textcritic annotate`: a web app that asks people about texts."""

import argparse
import sys
from collections.abc import Callable
from functools import partial

from textcritic.annotation import FORMATS
from textcritic.commands.arguments import Commands, add_command, positive, up_to
from textcritic.errors import TextcriticError

ANNOTATE = """\
Ask people whether texts are coherent: a web app for annotators, and for the person who runs the campaign. Without
arguments it opens the campaign of the study demo, which `textcritic demo` must have built here, and prints a link for
one annotator. A campaign is an entry of the registry campaigns (docs/annotation.md); its files are in
./results/annotations/NAME.
"""
SERVE = """\
Serve a campaign, and print a link for the person who runs it: a page to invite annotators and to see the progress.
Behind a reverse proxy give the address that browsers use, e.g. --address https://study.example.org; with https,
cookies are sent over https only.
"""
SCREENS = """\
Take pictures of the pages that an annotator sees, at two widths, with Debian's Chromium: the training (Figure 14 of the
model criticism paper), the task (15) and the instructions of both (16, 17). A pilot annotator is invited for it.
"""

SERVING: dict[str, object] = {"host": "127.0.0.1", "port": 8000, "address": None, "limit": 120}
MOST_LINKS = 10_000


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    annotate = add_command(commands, "annotate", "ask people about texts, by a web app", ANNOTATE)
    parts = annotate.add_subparsers(title="what to do (default: open the demo)", metavar="WHAT")
    _serving(annotate)
    _runs(annotate, _open, *SERVING)
    annotate.set_defaults(name="demo")
    serve = add_command(parts, "serve", "serve a campaign", SERVE)
    _named(serve)
    _serving(serve)
    _runs(serve, _open, *SERVING)
    make = parts.add_parser("make", help="make a campaign from finished samples")
    _named(make)
    make.add_argument("--configfile", metavar="FILE", help="laid over the package's, e.g. with your own registry")
    _runs(make, _make)
    invite = parts.add_parser("invite", help="make links for annotators, while the campaign is served or not")
    _named(invite)
    invite.add_argument("--number", metavar="N", type=up_to(MOST_LINKS), default=1, help="of links (default: 1)")
    invite.add_argument("--days", metavar="N", type=up_to(3650), default=30, help="until they expire (default: 30)")
    invite.add_argument("--pilot", action="store_true", help="the answers are kept apart from all others")
    invite.add_argument("--prolific", action="store_true", help="one link for all participants of Prolific")
    invite.add_argument(
        "--address",
        metavar="URL",
        default=argparse.SUPPRESS,
        help="that the links begin with (default: http://127.0.0.1:8000)",
    )
    _runs(invite, _invite, "address")
    revoke = parts.add_parser("revoke", help="let an annotator or a link in no longer")
    _named(revoke)
    # Taken as it is: ids of earlier versions may begin with "-".
    revoke.add_argument(
        "id", metavar="ID", nargs=argparse.REMAINDER, help="of the annotator or the link, as the campaign's page has it"
    )
    _runs(revoke, _revoke)
    export = parts.add_parser("export", help="write the answers, for the workflow or as a table")
    _named(export)
    export.add_argument("--out", metavar="FILE", help=".jsonl, .csv for a table, or - (default: in its folder)")
    export.add_argument("--pilot", action="store_true", help="the answers of the pilot, and no others")
    export.add_argument("--format", choices=FORMATS, help="texts and answers, for another program")
    _runs(export, _export)
    read = parts.add_parser("import", help="read answers that were given in Label Studio or Potato, as an export")
    read.add_argument("source", metavar="FILE", help="Label Studio's export in JSON, or the folder of a Potato project")
    read.add_argument("--format", choices=FORMATS, required=True, help="what FILE is")
    read.add_argument("--out", metavar="FILE", default="answers.jsonl", help="to write (default: %(default)s)")
    read.add_argument("--campaign", metavar="NAME", help="a name for answers that are not from a campaign of ours")
    _runs(read, _import)
    backup = parts.add_parser("backup", help="write a copy of the database, while it is served or not")
    _named(backup)
    _runs(backup, _backup)
    screens = add_command(parts, "screens", "take pictures of an annotator's pages", SCREENS)
    _named(screens)
    screens.add_argument("--out", metavar="DIR", help="where they go (default: screens in the campaign's folder)")
    _runs(screens, _screens)


def _named(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the campaign in the registry")


def _serving(parser: argparse.ArgumentParser) -> None:
    """Options before and behind `serve`: those that were not given are left out, so that either place counts."""
    add = partial(parser.add_argument, default=argparse.SUPPRESS)
    add("--port", metavar="N", type=positive, help="to listen on (default: 8000)")
    add("--host", metavar="HOST", help="to listen on (default: 127.0.0.1)")
    add("--address", metavar="URL", help="of the server as browsers see it, behind a reverse proxy")
    add("--limit", metavar="N", type=positive, help="requests of one annotator in a minute (default: 120)")


def _runs(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], str], *takes: str) -> None:
    """Let a part of the command run a function, and refuse options of `serve` that it does not take."""

    def checked(arguments: argparse.Namespace) -> str:
        for name in SERVING:
            if name in vars(arguments) and name not in takes:
                raise TextcriticError(f"--{name}: is for `annotate serve`, and has no effect here; leave it out")
        return run(argparse.Namespace(**(SERVING | vars(arguments))))

    parser.set_defaults(run=checked)


def _open(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import Served, open_campaign

    served = Served(arguments.host, arguments.port, arguments.address, arguments.limit)
    return open_campaign(arguments.name, served)


def _make(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import make

    return make(arguments.name, arguments.configfile)


def _invite(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import Invitation, invite

    kind = "prolific" if arguments.prolific else "annotator"
    invitation = Invitation(kind, arguments.number, arguments.days, arguments.pilot)
    address = arguments.address or "http://127.0.0.1:8000"
    return invite(arguments.name, invitation, address.rstrip("/"))


def _revoke(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import revoke

    ids = [word for word in arguments.id if word != "--"]
    if len(ids) != 1:
        raise TextcriticError(f"revoke: {len(ids)} ids; give one, of an annotator or a link")
    return revoke(arguments.name, ids[0])


def _export(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import export, export_to

    if not arguments.format:
        return _written(arguments.out, lambda out: export(arguments.name, out, arguments.pilot))
    if arguments.out == "-":
        raise TextcriticError("--out -: this format is several files; name a file, or for Potato a folder")
    return export_to(arguments.name, arguments.format, arguments.out, arguments.pilot)


def _import(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import import_from

    return _written(
        arguments.out, lambda out: import_from(arguments.source, arguments.format, str(out), arguments.campaign)
    )


def _written(out: str | None, write: Callable[[str | None], str]) -> str:
    """Write to a file, or for `-` to standard output; then messages go to stderr, not between the answers."""
    from textcritic.files import is_standard_output

    out = "/dev/fd/1" if out == "-" else out
    apart = out is not None and is_standard_output(out)
    words = write(out)
    if apart:
        print(words, file=sys.stderr)
    return "" if apart else words


def _backup(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import backup

    return backup(arguments.name)


def _screens(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.screens import screens_of

    return screens_of(arguments.name, arguments.out)
