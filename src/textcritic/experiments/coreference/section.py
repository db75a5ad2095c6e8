"""The section of the report on coreference."""

from collections.abc import Mapping

import pandas as pd

from textcritic.critics.mentions import THRESHOLD
from textcritic.experiments.coreference.audit import audit_sentence
from textcritic.experiments.coreference.figures import CHART, POWER
from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.findings import findings
from textcritic.experiments.coreference.power import power_findings
from textcritic.experiments.coreference.reader import FEWEST_TOKENS, reader
from textcritic.experiments.coreference.resolver import resolver_sentences
from textcritic.experiments.coreference.sheets import STEP
from textcritic.experiments.coreference.why import RARE, share
from textcritic.report.names import Names
from textcritic.report.scorecard import Measure, scores_of
from textcritic.report.section import Place, Section

CONTENTS = (
    ("values", "Latent PPL"),
    ("shares", "Unlikely mentions"),
    ("articles", "Read the articles"),
    ("ngrams", "What makes the difference"),
)
POWER_TITLE = "Wrong pronouns that the test notices"
READER = (
    "the least likely ones by the NLL of a token, and some from the middle. Their chains have at least "
    f"{FEWEST_TOKENS} tokens, where there are such. In each text people are numbered from 0; “new” is anybody whom the "
    "critic does not see among the few tokens before, and a full stop is the start of a sentence."
)
DEFINITIONS = (
    (
        "Latent PPL of mentions",
        f"{STEP} The higher it is, the less their order looks like that of real text.",
    ),
    (
        "Chain of mentions",
        "The mentions of people in the order of a text, each a pronoun as it is written or the gender label of the "
        "person, with a mark, a full stop, at each start of a sentence.",
    ),
    (
        "Person, entity",
        "All mentions that the resolver takes for the same person or group; numbered from 0 in an article in the order "
        "of first mentions. The critic numbers anew in each of its windows, so that it sees only who is the same.",
    ),
    (
        "Gender label",
        "What stands in a chain for a name or noun: male, female or plural by the majority of the pronouns for the "
        "same person, none without such pronouns. It is a label of grammar, not of people: as the paper’s section 10 "
        "says, a choice of two leaves out many people.",
    ),
)


def section(files: CoreferenceFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its scores, findings and definitions.

    Args:
        files: the files.
        tables: the rows of the standing tables.
        place: where it stands.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    names, rows = Names.of(files.samples), tables["coreference"]
    noticed, audit = power_findings(tables["coreference-power"]), audit_sentence(tables["coreference-audit"])
    variables = {
        "chart": CHART,
        "papers": place.numbered("ppl"),
        "sources": reader(files, names, place),
        "reader_words": f"Of each source {files.report_articles} articles at most are here: {READER}",
        "rare": f"{RARE:.0%}",
        "threshold": share(THRESHOLD),
        "power": POWER,
        "noticed": [finding.says for finding in noticed],
        "audit": audit,
        "resolver": resolver_sentences(tables["coreference-resolvers"]),
        "annotated": len(tables["coreference-resolver-error"]) > 0,
    }
    measure = Measure(name="Latent PPL of mentions", section=place.id("values"), value="latent_ppl")
    contents = [
        *CONTENTS,
        *([("power", POWER_TITLE)] if noticed else []),
        *([("audit", "Audit")] if audit else []),
        ("resolver", "The resolver"),
    ]
    return Section(
        title="Coreference",
        html=place.render("section.html.j2", variables),
        contents=tuple((place.id(name), title) for name, title in contents),
        card=scores_of(rows, measure, names.source),
        findings=(*findings(tables["coreference-shares"], tables["coreference-ngrams"], names), *noticed),
        definitions=DEFINITIONS,
        script=place.text("reader.js"),
        style=place.text("section.css"),
    )
