"""The report: one self-contained HTML page that says what was found, shows it, and lets the reader check it."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from textcritic.critics import TransitionCritic
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_text
from textcritic.report.details import GRAPH_THRESHOLD
from textcritic.report.figures import GRAPH_TITLES, REAL, study_curves
from textcritic.report.findings import findings
from textcritic.report.inputs import Study, read_study
from textcritic.report.manifest import provenance
from textcritic.report.numbers import count, interval, listed, number, p_value, percent, plural, setting_name
from textcritic.report.repetition_page import repetitions_section
from textcritic.report.sheet import Cell, Sheet, to_html
from textcritic.report.sources import DATA_INFERRED, GROUP, SAMPLE, Names, data_keys, sample_keys
from textcritic.report.svg import inline_svg
from textcritic.report.synthetic.page import process_section
from textcritic.report.tables import read_rows
from textcritic.report.topics.inputs import read_topics
from textcritic.report.topics.page import topics_section
from textcritic.report.viewer import viewer_data
from textcritic.report.words import commonest_reasons, corpus_note, definitions, seeds_in_words, switches
from textcritic.study_files import StudyFiles

TEMPLATES = Path(__file__).parent / "templates"
CONTENTS = (
    ("finding", "Finding"),
    ("compared", "What was compared"),
    ("coherence", "Coherence"),
    ("papers", "The paper’s tables"),
    ("decomposition", "Where it comes from"),
    ("perplexity", "Perplexity"),
    ("errors", "Which steps go wrong"),
    ("repetitions", "Repeated sections"),
    ("matrices", "What follows what"),
    ("articles", "Read the articles"),
    ("audit", "Audit"),
    ("corpus", "The real text"),
    ("rejected", "Not scored"),
    ("process", "A known process"),
    ("topics", "Topics"),
    ("definitions", "Definitions"),
    ("provenance", "Provenance"),
)


def make_report(
    study: Mapping[str, Any],
    tables: str | Path,
    figures: str | Path,
    manifest: str | Path,
    out_path: str | Path,
    synthetic_figures: str | Path | None = None,
    topic_figures: str | Path | None = None,
    part_figures: Iterable[str | Path] = (),
) -> None:
    """Write report.html.

    Args:
        study: as `inputs.read_study` takes it.
        tables: folder that `tables.make_tables` filled.
        figures: folder that `figures.make_figures` filled.
        manifest: manifest.json that `manifest.make_manifest` wrote.
        out_path: the page; links to tables and figures are relative to it.
        synthetic_figures: folder that `synthetic.make_synthetic_figures` filled, of a study with a known process; its
            tables are in `tables`.
        topic_figures: folder that `topics.make_topic_figures` filled, of a study with topics; its tables are in
            `tables`.
        part_figures: folders that `papers.make_paper_figure` filled, named by the figures' numbers (`figure4`).

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    files, made = read_study(study), read_json(manifest)
    criticised = read_topics(study) if study.get("topics") else None
    written = [*StudyFiles.TABLES, *(StudyFiles.SYNTHETIC if files.synthetic else ())]
    written += StudyFiles.TOPICS if criticised else ()
    papers = [table.name for table in files.tables]
    shown = [table.name for table in files.tables if table.kind == "coherence"]
    names, rows = Names.of(files.samples), {name: read_rows(tables, name) for name in written}
    process = process_section(files, rows.get("table1"))
    topics = topics_section(criticised, files, rows)
    parts = [part for part in (process, topics) if part]
    measured = any(sample.perplexity is not None for sample in files.samples)
    optional = {"process": process, "topics": topics, "papers": shown, "perplexity": measured}
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["unbroken"] = lambda text: re.sub(r"\bp ([=<]) (?=[\d.])", "p\u00a0\\1\u00a0", text)
    page = environment.get_template("report.html.j2").render(
        study=files,
        titles_given=files.titles_given,
        measured=measured,
        contents=[entry for entry in CONTENTS if optional.get(entry[0], True)],
        date=datetime.fromisoformat(made["created"]).strftime("%-d %B %Y"),
        findings=findings(
            rows["coherence"], rows["titles"], names, [point for part in parts for point in part["findings"]]
        ),
        compared=_compared(files, rows["coherence"], names),
        several_seeds=rows["coherence"]["seed"].nunique() > 1,
        chart_caption=_chart_caption(rows["coherence"], files.titles_given, measured and names.several_settings),
        every_number=Markup(to_html(_every_number(rows["coherence"], names))),
        bars=_bars(rows["decomposition"], names),
        curves=bool(study_curves(files)),
        graphs=_graphs(files, names),
        papers=shown,
        repetitions=repetitions_section(files, names),
        matrices=[{"key": s.slug, "label": names.source(sample_keys(s))} for s in files.samples],
        switches=switches(rows["audit"]),
        default=rows["audit"].loc[rows["audit"]["switch"] == "default", "setting_of_switch"].iloc[0],
        corpora=[corpus_note(read_json(data.statistics)) for data in files.data],
        rejected=Markup(to_html(_rejected(rows["coherence"], names))),
        definitions=[
            *definitions(files.resamples, files.titles_given),
            *(definition for part in parts for definition in part["definitions"]),
        ],
        **provenance(made),
        tables=_links((Path(tables) / f"{name}.csv" for name in (*written, *papers)), Path(out_path)),
        prints=[
            *_links(_prints(figures, synthetic_figures, topic_figures), Path(out_path)),
            *_of_papers(part_figures, Path(out_path)),
        ],
        viewer=_viewer(files),
        viewer_words=f"Of each source {files.report_articles} articles at most are in this page: the most incoherent "
        "ones and the first of the others.",
        table=lambda name: Markup(_text(Path(tables) / f"{name}.html")),
        figure=_figure(Path(figures)),
        process=process,
        process_figure=_figure(Path(synthetic_figures or figures), "process-"),
        topics=topics,
        topic_figure=_figure(Path(topic_figures or figures), "topics-"),
        picker=_picker,
    )
    write_text(out_path, page)


def _prints(*folders: str | Path | None) -> list[Path]:
    """The figures for print of those folders that there are."""
    return [path for folder in folders if folder is not None for path in sorted(Path(folder).glob("*.pdf"))]


def _of_papers(folders: Iterable[str | Path], out_path: Path) -> list[tuple[str, str]]:
    """Links to figures of a paper, with their numbers there."""
    numbered = [(Path(folder).name.removeprefix("figure"), _prints(folder)) for folder in folders]
    return [(path, f"Figure {n}: {name}") for n, paths in numbered for path, name in _links(paths, out_path)]


def _figure(folder: Path, prefix: str = "") -> Callable[[str, str], Markup]:
    """A function of the template: a figure in its wide and its narrow form, one of which is shown."""

    def figure(name: str, description: str) -> Markup:
        key = prefix + "".join(character if character.isalnum() else "-" for character in name)
        wide = inline_svg(folder / f"{name}.svg", f"{key}-w", description)
        narrow = inline_svg(folder / f"{name}.narrow.svg", f"{key}-n", description)
        return Markup(f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>')

    return figure


def _picker(group: str, label: str, entries: list[dict[str, str]], stepped: bool = False) -> Markup:
    """A function of the template: a choice among panes, with buttons for the ones beside it if it is `stepped`."""
    options = "".join(f'<option value="{escape(e["key"])}">{escape(e["label"])}</option>' for e in entries)
    select = f'<label>{escape(label)} <select data-group="{escape(group)}">{options}</select></label>'
    words = {-1: "Previous", 1: "Next"} if stepped else {}
    buttons = "".join(f'<button type="button" data-move="{by}">{name}</button>' for by, name in words.items())
    return Markup(f'<div class="controls" hidden>{select}{buttons}</div>')


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TextcriticError(f"{path}: no such file; make the study's tables first") from error


def _compared(study: Study, rows: pd.DataFrame, names: Names) -> list[tuple[str, str]]:
    facts = []
    for data in study.data:
        critic = TransitionCritic.load(data.critic)
        real = rows[(rows["corpus"] == data.corpus) & (rows["source"] == DATA_INFERRED)].iloc[0]
        smoothing = f"{critic.delta:g} added to every count" if critic.delta else "no smoothing"
        words = (
            f"{plural(int(real['documents']), 'test article')}; the critic knows {len(critic.titles)} section types, "
            f"{plural(int(critic.counts.sum()), 'training step')}, {smoothing}"
        )
        if data.accuracy is not None:
            test = read_json(data.accuracy)["test"]
            low, high = test["ci95"]
            words += f"; the section classifier is right on {percent(test['accuracy'])} of test sections"
            words += f" ({percent(low)} to {percent(high)})"
        facts.append((f"Real text: {data.corpus}", f"{words}."))
    samples = rows[rows["source"] == SAMPLE]
    if study.titles_given:
        facts.append(("Titles", "given, in real text and in samples; nothing was inferred from the text."))
    facts.append(("Generators", "; ".join(names.labels[name] for name in dict.fromkeys(samples["generator"]))))
    if all(sample.from_file for sample in study.samples):  # nobody says how they were made
        return [*facts, ("Articles a sample", _range(samples["documents"] + samples["rejected"], "given"))]
    facts += [
        ("Trained", listed([setting_name(setting) for setting in dict.fromkeys(samples["setting"])]) + " in the text"),
        ("Decoding", listed(list(dict.fromkeys(samples["decoding"])))),
        ("Seeds", seeds_in_words(samples["seed"].dropna())),
        ("Articles a sample", _range(samples["documents"] + samples["rejected"], "drawn")),
    ]
    return facts


def _range(values: pd.Series, what: str) -> str:
    low, high = count(values.min()), count(values.max())
    return f"{low} {what}" if low == high else f"{low} to {high} {what}"


def _chart_caption(rows: pd.DataFrame, titles_given: bool, both_settings: bool) -> str:
    words = "Blue: trained with titles. Orange: without. " if both_settings else ""
    words += f"p-values: against real text{'' if titles_given else ' with inferred titles'}."
    if rows["published"].notna().any():
        words += " Open diamonds: published values."
    if rows["latent_ppl"].isin([float("inf")]).any():
        words += " An arrow at the right edge is an infinite value."
    return words


def _every_number(rows: pd.DataFrame, names: Names) -> Sheet:
    heads = ("Source", "Latent PPL", "Interval", "Soft", "Latent NLL", "Articles", "Steps", "Rejected", "p-value")
    body = []
    for row in rows.to_dict("records"):
        values = [number(row["latent_ppl"]), interval(row["ci_low"], row["ci_high"]), number(row["latent_ppl_soft"])]
        values += [number(row["latent_nll"]), count(row["documents"]), count(row["steps"]), count(row["rejected"])]
        values.append(p_value(row["p_value"]).removeprefix("p = ").removeprefix("p "))
        body.append([Cell(names.source(row), heading=True), *(Cell(value) for value in values)])
    return Sheet("every-number", "Latent PPL of every source", [[Cell(head) for head in heads]], body)


def _rejected(rows: pd.DataFrame, names: Names) -> Sheet:
    body = []
    for row in rows.to_dict("records"):
        if row["generator"] == "data" and row["source"] != DATA_INFERRED:
            continue
        reasons = commonest_reasons(row["rejected_by_reason"]) or "none"
        cells = [Cell(count(row["rejected"])), Cell(percent(row["rejected_share"])), Cell(reasons, words=True)]
        body.append([Cell(names.source(row), heading=True), *cells])
    header = [[Cell("Source"), Cell("Rejected"), Cell("Share"), Cell("Reasons", words=True)]]
    return Sheet("rejected", "Articles left out, by reason", header, body)


def _bars(rows: pd.DataFrame, names: Names) -> list[dict[str, Any]]:
    """Widths in percent and words of the two parts, for real text and the first seed of each sample."""
    rows = rows[rows["seed"].isna() | (rows["seed"] == rows.groupby(GROUP)["seed"].transform("min"))]
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


def _graphs(study: Study, names: Names) -> list[dict[str, str]]:
    """Keys, labels and captions of the transition-error graphs: of each corpus the real text last."""
    words = f"the commonest unlikely steps between the {GRAPH_TITLES} commonest section types of real text."
    found = []
    for data in study.data:
        for sample in (s for s in study.samples if s.corpus == data.corpus):
            found.append({"key": sample.slug, "label": names.source(sample_keys(sample)), "words": words})
        label = names.source(data_keys(data, DATA_INFERRED))
        found.append({"key": f"{data.corpus}.{REAL}", "label": label, "words": words})
    return found


def _viewer(study: Study) -> dict[str, Any]:
    sources = viewer_data(study)
    # A sample first: what real text looks like is one choice away.
    start = next((i for i, source in enumerate(sources) if not source["real"] and source["articles"]), 0)
    return {"threshold": GRAPH_THRESHOLD, "start": start, "given": study.titles_given, "sources": sources}


def _links(paths: Iterable[Path], out_path: Path) -> list[tuple[str, str]]:
    return [(os.path.relpath(path, out_path.parent), path.name) for path in paths]
