"""The pages of whoever runs a campaign: progress, agreement, invitations, export, backup."""

import json
import sqlite3
from collections.abc import Mapping
from datetime import datetime
from statistics import median

from starlette.responses import Response

from textcritic.annotation import steps
from textcritic.annotation.answers import ATTENTION, TASK
from textcritic.annotation.backups import backups_of, listed, make_backup, owing, withdraw
from textcritic.annotation.export import csv_text, export, jsonl_text
from textcritic.annotation.links import (
    ANNOTATOR,
    PROLIFIC,
    PROLIFIC_PARAMETERS,
    RefusedError,
    make_link,
    num_participants,
    revoke,
)
from textcritic.annotation.store import NotStoredError, Store, now, written
from textcritic.annotation.visits import Handler, Visit, to
from textcritic.errors import TextcriticError
from textcritic.inference.agreement import Agreement, answer_counts, gwet_ac1, krippendorff_alpha
from textcritic.values import Row

MOST_INVITATIONS = 100


def agreement(campaign: steps.Campaign) -> dict[str, Agreement]:
    """Agreement in the verdict, over the texts of the study that have two answers or more."""
    verdicts = [
        (row["annotator"], row["item"], campaign.task.verdict(json.loads(row["answer"])))
        for row in campaign.store.rows(
            """SELECT answer.annotator, answer.item, answer FROM answer JOIN item ON item.id = answer.item
            JOIN annotator ON annotator.id = answer.annotator WHERE phase = ? AND pilot = 0""",
            TASK,
        )
    ]
    counts = answer_counts(verdicts)
    return {"Krippendorff's alpha": krippendorff_alpha(counts), "Gwet's AC1": gwet_ac1(counts)}


def _overview(visit: Visit, links: tuple[str, ...] = (), words: str = "") -> Response:
    web, campaign = visit.web, visit.web.campaign
    return web.html(
        "admin.html.j2",
        campaign=campaign.name,
        simulated=web.store.about("simulated"),
        progress=_progress(web.store),
        annotators=_annotators(campaign),
        agreement=agreement(campaign),
        withdrawn=web.store.about("withdrawn"),
        links=links,
        open_links=web.store.rows(
            "SELECT * FROM link WHERE annotator IS NULL AND NOT revoked AND expires > ? ORDER BY kind", written(now())
        ),
        own_link=visit.link.id,
        backups=len(backups_of(web.store)),
        owing=owing(web.store),
        participants=num_participants(web.store, pilot=False),
        most_participants=campaign.most_participants,
        words=words,
        token=visit.new_token(),
        most=MOST_INVITATIONS,
    )


def _invite(visit: Visit) -> Response:
    """Make links; their addresses are on the page that follows, and nowhere else."""
    form = visit.form
    number, days = _number(form, "number", MOST_INVITATIONS), _number(form, "days", 3650)
    kind = PROLIFIC if form.get("prolific") else ANNOTATOR
    paths = (make_link(visit.web.store, kind, days, bool(form.get("pilot"))) for _ in range(number))
    tail = PROLIFIC_PARAMETERS if kind == PROLIFIC else ""
    return _overview(visit, tuple(f"{visit.address}{path}{tail}" for path in paths))


def _revoke(visit: Visit) -> Response:
    try:
        revoke(visit.web.store, visit.form.get("annotator", ""))
    except TextcriticError as error:
        raise RefusedError(404, "There is no such link.") from error
    return to("/admin")


def _withdraw(visit: Visit) -> Response:
    """Delete the answers of an annotator who asks for it, giving the code that every page shows."""
    who = visit.form.get("annotator", "").strip()
    try:
        owed = withdraw(visit.web.store, who)
    except NotStoredError:
        raise
    except TextcriticError as error:
        raise RefusedError(404, f"Nothing was deleted: {error}.") from error
    rest = f", but not from {listed(owed)}: the server tries it again at its next start" if owed else ""
    return _overview(visit, words=f"All answers of {who} were deleted{rest}.")


def _backup(visit: Visit) -> Response:
    try:
        words = f"The backup {make_backup(visit.web.store).name} was written."
    except TextcriticError as error:
        words = f"No backup was written: {error}"
    return _overview(visit, words=words)


def _export_jsonl(visit: Visit) -> Response:
    return _file(visit, "jsonl", jsonl_text(export(visit.web.store)), "application/x-ndjson")


def _export_csv(visit: Visit) -> Response:
    return _file(visit, "csv", csv_text(export(visit.web.store)), "text/csv")


def _export_pilot(visit: Visit) -> Response:
    return _file(visit, "pilot.jsonl", jsonl_text(export(visit.web.store, pilot=True)), "application/x-ndjson")


def _file(visit: Visit, suffix: str, text: str, media_type: str) -> Response:
    name = f"{visit.web.campaign.name}.{suffix}"
    return Response(text, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _progress(store: Store) -> dict[str, int]:
    """Answers of the study, and how many were wanted; nothing about single systems, which nobody should see yet."""
    texts = store.rows(
        """SELECT wanted, (
            SELECT count(*) FROM answer JOIN annotator ON annotator.id = annotator WHERE answer.item = item.id
            AND pilot = 0
        ) AS has FROM item WHERE phase = ?""",
        TASK,
    )
    return {
        "texts": len(texts),
        "finished": sum(row["has"] >= row["wanted"] for row in texts),
        "answers": sum(min(row["has"], row["wanted"]) for row in texts),
        "wanted": sum(row["wanted"] for row in texts),
    }


def _annotators(campaign: steps.Campaign) -> list[Row]:
    store = campaign.store
    table: list[Row] = []
    answers: dict[str, list[sqlite3.Row]] = {}
    for row in store.rows(
        """SELECT answer.annotator, answer, started, answered, phase, right_answer FROM answer
        JOIN assignment ON assignment.annotator = answer.annotator AND assignment.item = answer.item
        JOIN item ON item.id = answer.item"""
    ):
        answers.setdefault(row["annotator"], []).append(row)
    for annotator in store.rows("SELECT * FROM annotator ORDER BY pilot, id"):
        rows = answers.get(annotator["id"], [])
        checks = [row for row in rows if row["phase"] == ATTENTION]
        seconds = [_seconds(row) for row in rows if row["phase"] == TASK]
        passed = [campaign.task.passes(json.loads(row["answer"]), json.loads(row["right_answer"])) for row in checks]
        share = steps.training_share(campaign, annotator["id"])
        table.append(
            {
                "id": annotator["id"],
                "state": annotator["state"],
                "pilot": annotator["pilot"],
                "answers": len(seconds),
                "minutes": f"{median(seconds) / 60:.1f}" if seconds else "",
                "training": "" if share is None else f"{100 * share:.0f}%",
                "checks": f"{sum(passed)} of {len(passed)}" if passed else "",
                "revoked": bool(annotator["revoked"]),
            }
        )
    return table


def _seconds(row: sqlite3.Row) -> float:
    seconds = datetime.fromisoformat(row["answered"]) - datetime.fromisoformat(row["started"])
    return max(0.0, seconds.total_seconds())  # the clock may have gone back


def _number(form: Mapping[str, str], key: str, most: int) -> int:
    value = form.get(key, "")
    if not (value.isascii() and value.isdigit() and len(value) <= len(str(most)) and 1 <= int(value) <= most):
        raise RefusedError(400, f"The field {key} should be a whole number from 1 to {most:,}.")
    return int(value)


ADMIN_PAGES: Mapping[str, Mapping[str, Handler]] = {
    "/admin": {"GET": _overview},
    "/admin/invite": {"POST": _invite},
    "/admin/revoke": {"POST": _revoke},
    "/admin/withdraw": {"POST": _withdraw},
    "/admin/backup": {"POST": _backup},
    "/admin/answers.jsonl": {"GET": _export_jsonl},
    "/admin/answers.csv": {"GET": _export_csv},
    "/admin/pilot.jsonl": {"GET": _export_pilot},
}
