"""The section of the report on coreference."""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from textcritic.critics.mentions import THRESHOLD
from textcritic.experiments.coreference.audit import audit_sentence
from textcritic.experiments.coreference.figures import CHART
from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.power import STUDY, exchange_findings
from textcritic.experiments.coreference.reader import FEWEST_TOKENS, reader
from textcritic.experiments.coreference.resolver import resolver_sentences
from textcritic.experiments.coreference.rows import PPL
from textcritic.experiments.coreference.why import RARE, share
from textcritic.experiments.coreference.words import cause, findings, unlikely
from textcritic.measures.causes import comparisons
from textcritic.measures.names import Names
from textcritic.report.section import Place, Section


def section(files: CoreferenceFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its scores, findings and definitions, as `plan.experiment` says."""
    names, rows = Names.of(files.samples), tables["coreference"]
    blocks = unlikely(tables["coreference-shares"], names)
    noticed, audit = exchange_findings(tables[STUDY.name]), audit_sentence(tables["coreference-audit"])
    card = place.card(rows, [PPL], names.source)
    variables = {
        "chart": CHART,
        "papers": place.numbered("ppl"),
        "reading": reader(files, names, place, card),
        "shown": files.report_articles,
        "fewest_tokens": FEWEST_TOKENS,
        "rare": f"{RARE:.0%}",
        "threshold": share(THRESHOLD),
        "power": STUDY.name,
        "noticed": [finding.says for finding in noticed],
        "audit": audit,
        "resolver": resolver_sentences(tables["coreference-resolvers"]),
        "annotated": len(tables["coreference-resolver-error"]) > 0,
    }
    card = place.card(rows, [PPL], names.source)
    return Section(
        title="Coreference",
        html=place.render("section.html.j2", variables),
        question="Who is mentioned after whom, and is it as in real text?",
        card=card,
        findings=(*findings(blocks, tables["coreference-ngrams"], names), *noticed),
        definitions=place.definitions(),
        tests=comparisons(card, partial(cause, blocks=blocks)),
        script=place.text("reader.js"),
        style=place.text("section.css"),
    )
