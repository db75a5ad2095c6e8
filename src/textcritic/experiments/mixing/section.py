"""The section of the report on mixed languages."""

from collections.abc import Mapping

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.curves import refined
from textcritic.experiments.mixing.examples import CERTAIN, examples
from textcritic.experiments.mixing.figures import CHART, POWER, REFINEMENT, SIMPLEX
from textcritic.experiments.mixing.files import MixingFiles, RealText
from textcritic.experiments.mixing.known import known_findings
from textcritic.experiments.mixing.read import Compared
from textcritic.experiments.mixing.rows import MIXED, REAL, fit_of
from textcritic.experiments.mixing.words import mixing_findings
from textcritic.files import read_json
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import listed, number, plural
from textcritic.measures.phrases import vocabulary_facts
from textcritic.report.section import Place, Section, said_of


def section(files: MixingFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its scores, findings and definitions, as `plan.experiment` says."""
    names, rows, power = Names.of(files.samples, REAL), tables["mixing"], tables["mixing-power"]
    compared = [Compared.of(real, files) for real in files.data]
    noticed = known_findings(power)
    card = place.card(rows, [MIXED], names.source)
    variables = {
        "facts": [fact for real in files.data for fact in _facts(real, names)],
        "chart": CHART,
        "simplexes": [
            {"name": f"{SIMPLEX}.{real.corpus}", "corpus": corpus_name(real.corpus) if names.several_corpora else ""}
            for real in files.data
        ],
        "languages": _key(compared),
        "certain": f"{CERTAIN:.0%}",
        "reading": examples(compared, files, names, card),
        "shown": files.report_articles,
        "papers": place.numbered("words"),
        "pairs": len(tables["mixing-pairs"]) > 0,
        "refinement": REFINEMENT if len(refined(rows)) else "",
        "power": POWER if noticed else "",
        "noticed": [finding.says for finding in noticed],
    }
    return Section(
        title="Mixed languages",
        html=place.render("section.html.j2", variables),
        question="Does each translation keep to one language?",
        card=card,
        findings=(
            *said_of(card),
            *mixing_findings(rows, tables["mixing-pairs"], tables["mixing-languages"], names),
            *noticed,
        ),
        definitions=place.definitions(),
        warnings=_unconverged(files, names),
        style=place.text("section.css"),
    )


def _unconverged(files: MixingFiles, names: Names) -> tuple[str, ...]:
    """A warning for each fit that had not converged when it ended."""
    fits = [(f"{corpus_name(real.corpus)}: " * names.several_corpora, fit_of(real)) for real in files.data]
    return tuple(f"{where}{fit['words']}" for where, fit in fits if not fit["converged"])


def _facts(real: RealText, names: Names) -> list[tuple[str, str]]:
    vocabulary, training = read_json(real.vocabulary_counts), read_json(real.training)
    where = f" ({corpus_name(real.corpus)})" if names.several_corpora else ""
    try:
        words = vocabulary_facts(vocabulary, where)
        options = training["options"]
        fit = (
            f"{options['num_topics']} topics on {plural(training['documents'], 'translation')}; "
            f"collapsed Gibbs sampling, beta {number(options['beta'])}; "
            f"alpha {listed([number(value) for value in training['alpha']])} at the end; log-likelihood "
            f"{number(training['log_probs'][-1])} nats a token. {training['convergence']['words']}"
        )
    except (KeyError, TypeError, IndexError) as error:
        raise TextcriticError(
            f"{real.vocabulary_counts} or {real.training}: no {error} in it; delete both and rerun their rules"
        ) from error
    return [*words, (f"Fit{where}", fit)]


def _key(compared: list[Compared]) -> list[dict[str, str]]:
    """The languages of the first corpus and their colours."""
    named = compared[0] if compared else None
    order = named.order if named else []
    return [{"class": f"tongue-{place}", "name": named.name(topic)} for place, topic in enumerate(order) if named]
