"""The section of the report on coherence."""

import math
from collections.abc import Mapping
from functools import partial

import pandas as pd

from textcritic.critics import TransitionCritic
from textcritic.experiments.coherence.articles import reading
from textcritic.experiments.coherence.audit import switches, undrawn
from textcritic.experiments.coherence.errors import worst_steps
from textcritic.experiments.coherence.examples import repetitions_shown
from textcritic.experiments.coherence.figures import GRAPH_TITLES, REAL, generator_curves
from textcritic.experiments.coherence.files import DATA_GOLD, DATA_INFERRED, CoherenceFiles
from textcritic.experiments.coherence.names import UNLIKELY, names_of
from textcritic.experiments.coherence.power import STUDY
from textcritic.experiments.coherence.rows import PPL
from textcritic.experiments.coherence.words import accuracies, cause, findings, warnings
from textcritic.files import read_json
from textcritic.measures.causes import comparisons
from textcritic.measures.labels import corpus_name, decoding_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, interval, listed, number, p_value, percent, plural, setting_name
from textcritic.measures.phrases import perplexity_lines, seeds_in_words
from textcritic.measures.rows import in_groups
from textcritic.measures.scored import first_runs
from textcritic.plan.sources import SAMPLE, data_keys
from textcritic.report.cells import unscored_sheet
from textcritic.report.power import power_findings
from textcritic.report.reader import opened
from textcritic.report.section import Place, Section
from textcritic.report.sheet import Line, Sheet, plain_sheet
from textcritic.values import Row

INFERRED_TERMS, GIVEN_TERMS = ("Inferred and gold titles", "Sure"), ("Given titles",)
LEFT_OUT = ("rejected", "Articles left out, by reason")


def section(experiment: CoherenceFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and its lines, as `plan.experiment` says."""
    names, rows, audit = names_of(experiment), tables["coherence"], tables["audit"]
    papers = place.numbered("coherence")
    measured = any(sample.perplexity is not None for sample in experiment.samples)
    noticed = power_findings(tables[STUDY.name], STUDY)
    card = place.card(rows, [PPL], names.source, [DATA_INFERRED])
    sources = _graphs(experiment)
    graphs = [{"key": key, "label": names.source(keys)} for keys, key in sources]
    variables = {
        "titles_given": experiment.titles_given,
        "measured": measured,
        "variance": len(tables["variance"]) > 0,
        "titles_compared": len(tables["titles"]) > 0,
        "compared": _compared(experiment, rows, names),
        "several_seeds": bool(names.seeded or names.redrawn),
        "settings": measured and names.several_settings,
        "published": bool(rows["published"].notna().any()),
        "infinite": bool(rows["latent_ppl"].isin([math.inf]).any()),
        "every_number": place.sheet(_every_number(rows, names)),
        "bars": _bars(tables["decomposition"], names),
        "curves": bool(generator_curves(experiment)),
        "graphs": graphs,
        "start": opened([keys for keys, _ in sources], card),
        "unlikely": f"{UNLIKELY:.0%}",
        "graph_titles": GRAPH_TITLES,
        "papers": papers,
        "repetitions": repetitions_shown(experiment, names, card),
        "matrices": [{"key": s.slug, "label": names.source(s.keys)} for s in experiment.samples],
        "power": STUDY.name,
        "noticed": [finding.says for finding in noticed],
        "switches": switches(audit),
        "undrawn": undrawn(experiment, names),
        "default": audit.loc[audit["switch"] == "default", "setting_of_switch"].iloc[0],
        "rejected": place.sheet(unscored_sheet(rows[rows["source"] != DATA_GOLD], names, *LEFT_OUT)),
        "reading": reading(experiment, names, card),
        "most_shown": experiment.report_articles,
    }
    return Section(
        title="Coherence",
        html=place.render("section.html.j2", variables),
        question="Are the sections of a document in an order that people use?",
        card=card,
        findings=(*findings(rows, tables["titles"], names, card), *noticed),
        definitions=place.definitions(
            INFERRED_TERMS if experiment.titles_given else GIVEN_TERMS, resamples=experiment.resamples
        ),
        tests=comparisons(card, partial(cause, steps=worst_steps(tables["transition-errors"]))),
        lines=tuple(perplexity_lines(rows, "ppl_body", "text without titles")),
        warnings=warnings(rows, accuracies(experiment), audit),
        script=place.text("viewer.js"),
        style=place.text("section.css"),
    )


def _compared(experiment: CoherenceFiles, rows: pd.DataFrame, names: Names) -> list[tuple[str, str]]:
    facts = []
    for data in experiment.data:
        critic = TransitionCritic.load(data.critic)
        real = rows[(rows["corpus"] == data.corpus) & (rows["source"] == DATA_INFERRED)].iloc[0]
        smoothing = f"{critic.delta:g} added to every count" if critic.delta else "no smoothing"
        articles = plural(int(real["documents"]), "test article") + in_groups(real.to_frame().T)
        words = (
            f"{articles}; the critic knows {len(critic.titles)} section types, "
            f"{plural(int(critic.counts.sum()), 'training step')}, {smoothing}"
        )
        if data.accuracy is not None:
            test = read_json(data.accuracy)["test"]
            low, high = test["ci95"]
            words += f"; the section classifier is right on {percent(test['accuracy'])} of test sections"
            words += "" if low is None else f" ({percent(low)} to {percent(high)})"
        facts.append((f"Real text: {corpus_name(data.corpus)}", f"{words}."))
    samples = rows[rows["source"] == SAMPLE]
    if experiment.titles_given:
        facts.append(("Titles", "given, in real text and in samples; nothing was inferred from the text."))
    facts.append(("Generators", "; ".join(names.labels[name] for name in dict.fromkeys(samples["generator"]))))
    if all(sample.from_file for sample in experiment.samples):  # nothing is known about how they were made
        return [*facts, ("Articles a sample", _range(samples["documents"] + samples["rejected"], "given"))]
    facts += [
        ("Trained", listed([setting_name(setting) for setting in dict.fromkeys(samples["setting"])]) + " in the text"),
        ("Decoding", listed([decoding_name(name) for name in samples["decoding"].unique()])),
        ("Seeds", seeds_in_words(samples["seed"].dropna())),
        *([("Draws of each training", seeds_in_words(samples["draw"].dropna()))] if names.redrawn else []),
        ("Articles a sample", _range(samples["documents"] + samples["rejected"], "drawn")),
    ]
    return facts


def _range(values: pd.Series, what: str) -> str:
    low, high = count(values.min()), count(values.max())
    return f"{low} {what}" if low == high else f"{low} to {high} {what}"


def _every_number(rows: pd.DataFrame, names: Names) -> Sheet:
    heads = ("Source", "Latent PPL", "Interval", "Soft", "Latent NLL", "Articles", "Steps", "Rejected", "p-value")
    body: list[Line] = []
    for row in rows.to_dict("records"):
        values = [number(row["latent_ppl"]), interval(row["ci_low"], row["ci_high"]), number(row["latent_ppl_soft"])]
        values += [number(row["latent_nll"]), count(row["documents"]), count(row["steps"]), count(row["rejected"])]
        body.append([names.source(row), *values, p_value(row["p_value"]).removeprefix("p = ").removeprefix("p ")])
    return plain_sheet("every-number", "Latent PPL of every source", heads, body)


def _bars(rows: pd.DataFrame, names: Names) -> list[dict[str, str]]:
    """Widths in percent and words of the two parts, for real text and the first training and draw of each sample."""
    rows = first_runs(rows)
    finite = rows[rows["cross_entropy"] != float("inf")]
    longest = float(finite["cross_entropy"].max()) if len(finite) else 1.0
    bars = []
    for row in rows.to_dict("records"):
        infinite = row["kl"] == float("inf")
        entropy = 100 * row["entropy"] / longest
        bars.append(
            {
                "name": names.source(row, seed=False),
                "entropy": f"{entropy:.2f}",
                "kl": f"{100 - entropy if infinite else 100 * row['kl'] / longest:.2f}",
                "words": f"{number(row['entropy'])} + {number(row['kl'])}",
            }
        )
    return bars


def _graphs(experiment: CoherenceFiles) -> list[tuple[Row, str]]:
    """Keys of the sources and of their transition-error graphs; in each corpus the real text is last."""
    graphs: list[tuple[Row, str]] = []
    for data in experiment.data:
        graphs += [(sample.keys, sample.slug) for sample in experiment.samples if sample.corpus == data.corpus]
        graphs.append((data_keys(data.corpus, DATA_INFERRED), f"{data.corpus}.{REAL}"))
    return graphs
