"""`textcritic annotate`: a web app that asks people about texts."""

import argparse

from textcritic.commands.arguments import Commands, add_command, positive

FORMATS = ("label-studio", "potato")
ANNOTATE = """\
Ask people whether texts hang together: a web app for annotators, and for whoever runs the campaign. Without more words
it opens the campaign of the study demo, which `textcritic demo` must have built here, and prints a link for one
annotator. A campaign is an entry of the registry campaigns (docs/annotation.md); its files are in
./results/annotations/NAME.
"""
SERVE = """\
Serve a campaign; a link for whoever runs it is printed, where annotators are invited and progress is seen. Behind a
reverse proxy give the address that browsers use, e.g. --address https://study.example.org; with https, cookies are
sent over https only.
"""
SCREENS = """\
Take pictures of the pages that an annotator sees, at two widths, with Debian's Chromium: the training (Figure 14 of the
model criticism paper), the task (15) and the instructions of both (16, 17). A pilot annotator is invited for it.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    annotate = add_command(commands, "annotate", "ask people about texts, by a web app", ANNOTATE)
    parts = annotate.add_subparsers(title="what to do (default: open the demo)", metavar="WHAT")
    _serving(annotate)
    annotate.set_defaults(run=_open, name="demo")
    serve = add_command(parts, "serve", "serve a campaign", SERVE)
    _named(serve)
    _serving(serve)
    serve.set_defaults(run=_open)
    make = parts.add_parser("make", help="make a campaign from finished samples")
    _named(make)
    make.add_argument("--configfile", metavar="FILE", help="laid over the package's, e.g. with your own registry")
    make.set_defaults(run=_make)
    invite = parts.add_parser("invite", help="make links for annotators, while the campaign is served or not")
    _named(invite)
    invite.add_argument("--number", metavar="N", type=positive, default=1, help="of links (default: 1)")
    invite.add_argument("--days", metavar="N", type=positive, default=30, help="until they expire (default: 30)")
    invite.add_argument("--pilot", action="store_true", help="the answers are kept apart from all others")
    invite.add_argument("--prolific", action="store_true", help="one link for all participants of Prolific")
    invite.add_argument(
        "--address",
        metavar="URL",
        default="http://127.0.0.1:8000",
        help="that the links begin with (default: %(default)s)",
    )
    invite.set_defaults(run=_invite)
    revoke = parts.add_parser("revoke", help="let an annotator or a link in no longer")
    _named(revoke)
    revoke.add_argument("id", metavar="ID", help="of the annotator or the link, as the campaign's page has it")
    revoke.set_defaults(run=_revoke)
    export = parts.add_parser("export", help="write the answers, for the workflow or as a table")
    _named(export)
    export.add_argument("--out", metavar="FILE", help=".jsonl, or .csv for a table (default: the campaign's folder)")
    export.add_argument("--pilot", action="store_true", help="the answers of the pilot, and no others")
    export.add_argument("--format", choices=FORMATS, help="texts and answers, for another program")
    export.set_defaults(run=_export)
    read = parts.add_parser("import", help="read answers that were given in Label Studio or Potato, as an export")
    read.add_argument("source", metavar="FILE", help="Label Studio's export in JSON, or the folder of a Potato project")
    read.add_argument("--format", choices=FORMATS, required=True, help="what FILE is")
    read.add_argument("--out", metavar="FILE", default="answers.jsonl", help="to write (default: %(default)s)")
    read.add_argument("--campaign", metavar="NAME", help="a name for answers that are not from a campaign of ours")
    read.set_defaults(run=_import)
    backup = parts.add_parser("backup", help="write a copy of the database, while it is served or not")
    _named(backup)
    backup.set_defaults(run=_backup)
    screens = add_command(parts, "screens", "take pictures of an annotator's pages", SCREENS)
    _named(screens)
    screens.add_argument("--out", metavar="DIR", help="where they go (default: screens in the campaign's folder)")
    screens.set_defaults(run=_screens)


def _named(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the campaign in the registry")


def _serving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", metavar="N", type=positive, default=8000, help="to listen on (default: 8000)")
    parser.add_argument("--host", metavar="HOST", default="127.0.0.1", help="to listen on (default: 127.0.0.1)")
    parser.add_argument("--address", metavar="URL", help="of the server as browsers see it, behind a reverse proxy")
    parser.add_argument(
        "--limit", metavar="N", type=positive, default=120, help="requests of one annotator in a minute (default: 120)"
    )


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
    return invite(arguments.name, invitation, arguments.address.rstrip("/"))


def _revoke(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import revoke

    return revoke(arguments.name, arguments.id)


def _export(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import export, export_to

    if arguments.format:
        return export_to(arguments.name, arguments.format, arguments.out, arguments.pilot)
    return export(arguments.name, arguments.out, arguments.pilot)


def _import(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import import_from

    return import_from(arguments.source, arguments.format, arguments.out, arguments.campaign)


def _backup(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.run import backup

    return backup(arguments.name)


def _screens(arguments: argparse.Namespace) -> str:
    from textcritic.annotation.screens import screens_of

    return screens_of(arguments.name, arguments.out)
