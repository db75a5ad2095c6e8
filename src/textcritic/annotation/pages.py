"""The pages of an annotator, from consent to thanks."""

from collections.abc import Mapping
from datetime import date

from starlette.responses import Response

from textcritic.annotation import steps
from textcritic.annotation.backups import withdraw
from textcritic.annotation.links import RefusedError
from textcritic.annotation.steps import Work
from textcritic.annotation.store import now
from textcritic.annotation.tasks import Filled
from textcritic.annotation.visits import Handler, Visit, paragraphs, to


def _now(visit: Visit) -> Response:
    """The page that is next."""
    campaign, entry = visit.web.campaign, visit.web.campaign.entry
    step = steps.next_step(campaign, visit.annotator, now())
    if step.page == steps.INVITED:
        return visit.html("consent.html.j2", consent=paragraphs(entry.consent), may_withdraw=False, number="")
    if step.page == steps.READY:
        return visit.html(
            "instructions.html.j2",
            instructions=paragraphs(entry.instructions),
            training_texts=campaign.training_texts,
            quota=campaign.quota,
            training=entry.training,
        )
    if step.work is None:
        passed = step.page == steps.DONE
        may = steps.last_answer(campaign, visit.annotator) is not None
        completion = entry.completion
        return visit.html("end.html.j2", passed=passed, completion=completion, may_change=may and passed)
    if step.page == steps.FEEDBACK:
        work = step.work
        right = campaign.task.right_parts(work.answer, work.right)
        return visit.html("feedback.html.j2", work=work, right=right)
    return _form(visit, step.work)


def _form(visit: Visit, work: Work, missing: tuple[tuple[str, str], ...] = ()) -> Response:
    """A text and its form, with what was chosen so far."""
    campaign = visit.web.campaign
    return visit.html(
        "work.html.j2",
        status=422 if missing else 200,
        work=work,
        missing=missing,
        changing=work.answered,
        may_change=steps.last_answer(campaign, visit.annotator) is not None,
        template=campaign.task.template,
        titles=campaign.titles,
        question=campaign.entry.question,
        instructions=paragraphs(campaign.entry.instructions),
        token=visit.new_token(work.item),
    )


def _consent(visit: Visit) -> Response:
    steps.consent(visit.web.campaign, visit.annotator)
    return to("/")


def _begin(visit: Visit) -> Response:
    steps.begin(visit.web.campaign, visit.annotator, now())
    return to("/")


def _seen(visit: Visit) -> Response:
    steps.feedback_seen(visit.web.campaign, visit.annotator, now())
    return to("/")


def _answer(visit: Visit) -> Response:
    """Save an answer; one that lacks something comes back with what was chosen."""
    campaign, token = visit.web.campaign, visit.token
    assert token is not None
    item = token.item
    work = steps.work_of(campaign, visit.annotator, item)
    if work is None:
        raise RefusedError(403, "This form is not for one of your texts. Please open your link again.")
    filled = campaign.task.read(visit.form, work.texts, campaign.titles)
    try:
        return _saved(visit, work, filled, token.request)
    except steps.GoneOnError:
        words = "This form was of a text that you have left behind, perhaps in another window."
        return visit.html("message.html.j2", 409, heading="Not saved: you have gone on", words=words, go_on=True)


def _saved(visit: Visit, work: Work, filled: Filled, request: str) -> Response:
    campaign = visit.web.campaign
    if visit.form.get("do") == "pause":
        steps.save_draft(campaign, visit.annotator, work.item, filled.answer)
        words = "What you chose so far is saved. Close this page, and open your link again when you want to go on."
        return visit.html("message.html.j2", heading="Pause", words=words, go_on=True)
    if filled.missing:
        return _form(visit, steps.with_answer(work, filled.answer), filled.missing)
    steps.save_answer(campaign, visit.annotator, work.item, filled.answer, request, now())
    return to("/")


def _previous(visit: Visit) -> Response:
    work = steps.last_answer(visit.web.campaign, visit.annotator)
    return to("/") if work is None else _form(visit, work)


def _ask_withdrawal(visit: Visit) -> Response:
    return visit.html("withdraw.html.j2", closed=_closed(visit))


def _withdraw(visit: Visit) -> Response:
    """Delete everything of an annotator, also from the backups next to the database."""
    if _closed(visit):
        raise RefusedError(403, "It is no longer possible to withdraw on this page. Please write to us.")
    return to("/withdrawn?owed=1" if withdraw(visit.web.store, visit.annotator) else "/withdrawn")


def _closed(visit: Visit) -> bool:
    last = visit.web.campaign.entry.withdraw_until
    return last is not None and now().date() > date.fromisoformat(last)


PAGES: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": _now},
    "/consent": {"POST": _consent},
    "/begin": {"POST": _begin},
    "/answer": {"POST": _answer},
    "/seen": {"POST": _seen},
    "/previous": {"GET": _previous},
    "/withdraw": {"GET": _ask_withdrawal, "POST": _withdraw},
}
