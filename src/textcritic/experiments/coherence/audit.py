"""How each disputed detail changes the Latent PPL: rows, table, and the switches in words."""

import math
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from textcritic.corpora import gold_chains
from textcritic.critics import Evidence, TransitionCritic, audit_transitions, corrected_ppl
from textcritic.experiments.coherence.files import DATA_GOLD, DATA_INFERRED, CoherenceFiles, RealText, Sample
from textcritic.files import read_json, read_table
from textcritic.measures.labels import corpus_name, decoding_name
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, difference, interval, listed, missing, number
from textcritic.plan.sources import GROUP, RUN, data_keys
from textcritic.report.cells import matching
from textcritic.report.decodings import decoding_difference
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

DECODING = "decoding: "  # the beginning of the name of a switch for the decoding of an audit sample
CORRECTION = "correction"
HOW = "drawing these samples takes over an hour of a GPU; --config audits=true draws them"
SWITCHES = (
    *("smoothing", "normalisation", "unknown titles", "titles", "generated titles, unknown titles", "posterior"),
    *(CORRECTION, "all as released", "all as in the text"),
)


def audit_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """How each disputed detail changes the Latent PPL, for every source and for the study's audit samples.

    Columns: the keys, `switch`, `setting_of_switch`, `latent_ppl` (infinite if a step is impossible),
    `compared_with` (a switch) and `change_percent` against it, `documents`, `rejected` (unread ones too), `ci_low` and
    `ci_high` (95% interval, only for the switch "correction": `critics.corrected_ppl`). The decoding of an audit sample
    is the switch "decoding: NAME", compared with the default of the study's own sample with the same generator,
    setting, seed and draw; its setting says how the two decodings differ.

    Raises:
        TextcriticError: see `critics.audit_transitions`; a decoding of an audit sample or of its base is not described.
    """
    experiment = material.files
    rows: list[Row] = []
    for data in experiment.data:
        samples = {s.slug: s for s in (*experiment.samples, *experiment.audit_samples) if s.corpus == data.corpus}
        audited: list[Row] = []
        audited += audit_transitions(
            TransitionCritic.load(data.critic),
            gold_chains(data.train),
            read_table(data.latents),
            {slug: read_table(sample.latents) for slug, sample in samples.items()},
        )
        compared = {slug: sample for slug, sample in samples.items() if sample in experiment.samples}
        audited += _corrected(data, compared, audited)
        defaults = {row["source"]: row["latent_ppl"] for row in audited if row["compared_with"] is None}
        unread = {slug: sum(read_json(sample.counts)["rejected"].values()) for slug, sample in samples.items()}
        for row in audited:
            row = {**row, "rejected": row["rejected"] + unread.get(row["source"], 0)}
            files = samples.get(row["source"])
            if files is None or files in experiment.samples:
                keys = data_keys(data.corpus, DATA_GOLD) if files is None else files.keys
                rows.append({**keys, **_audit_row(row)})
            elif row["compared_with"] is None:
                for base in experiment.bases(files):
                    switched = _decoding_row(row, files, base, defaults[base.slug], experiment)
                    rows.append({**base.keys, **_audit_row(switched)})
    return pd.DataFrame(rows).astype(dict.fromkeys(RUN, "Int64"))


def audit_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """How each switch changes the Latent PPL of each source."""
    switches = ["default", *switch_names(rows)]
    body: list[Line] = []
    for source in rows[["corpus", "source", *GROUP[1:], *RUN]].drop_duplicates().to_dict("records"):
        by_switch = {row["switch"]: row for row in matching(rows, source).to_dict("records")}
        cells = [
            _audit_cell(by_switch[switch], by_switch["default"]) if switch in by_switch else Cell(NONE)
            for switch in switches
        ]
        # The kind of titles of real text is a switch here, so the name of real text does not mention it.
        name = names.source(source | {"source": DATA_INFERRED} if source["generator"] == "data" else source)
        body.append([name, *cells])
    caption = "Latent PPL under each disputed detail, one at a time"
    return plain_sheet("audit", caption, ["Source", *switches], body, remarks_of(__file__, "audit"))


def undrawn(files: CoherenceFiles, names: Names) -> list[tuple[str, str]]:
    """The samples that are not drawn because costly audits are off: (generator and decoding, their corpora)."""
    corpora: dict[str, dict[str, None]] = {}
    for keys in files.undrawn:
        what = f"{names.labels[keys['generator']]}, decoding “{decoding_name(keys['decoding'])}”"
        corpora.setdefault(what, {})[corpus_name(keys["corpus"])] = None
    return [(what, listed(list(of))) for what, of in corpora.items()]


def switches(rows: pd.DataFrame) -> list[dict[str, str]]:
    """Each switch of the audit in plain words, with its effect on the numbers of this study.

    Args:
        rows: as `audit_rows` makes them.
    """
    described = []
    for switch in switch_names(rows):
        part = rows[rows["switch"] == switch]
        has_words = switch in SWITCHES
        name, words = remarks_of(__file__, f"switch: {switch}") if has_words else _of_decoding(switch, part)
        described.append({"name": name, "words": words, "effect": _effect(part)})
    return described


def switch_names(rows: pd.DataFrame) -> list[str]:
    """The switches of an audit in the order to show them: the decodings last, without the default."""
    present = rows["switch"].unique().tolist()
    return [s for s in SWITCHES if s in present] + [s for s in present if s.startswith(DECODING)]


def _of_decoding(switch: str, rows: pd.DataFrame) -> tuple[str, str]:
    differences = ", or ".join(rows["setting_of_switch"].unique())
    name = f"Decoding: {decoding_name(switch.removeprefix(DECODING))}"
    return name, f"Samples are drawn another way: {differences}."


def _effect(rows: pd.DataFrame) -> str:
    infinite = sum(math.isinf(value) for value in rows["latent_ppl"])
    changes = [float(value) for value in rows["change_percent"] if not missing(value)]
    parts = []
    what = "it changes the others" if infinite else "it changes the Latent PPL"
    if infinite:
        parts.append(f"{infinite} of {len(rows)} values {'is' if infinite == 1 else 'are'} infinite")
    if changes:
        low, high = min(changes), max(changes)
        if max(abs(low), abs(high)) < 0.05:
            parts.append("it does not change the others" if infinite else "it changes nothing visible")
        elif len(changes) == 1 or high - low < 0.05:
            parts.append(f"{what} by {_signed(low)}")
        else:
            parts.append(f"{what} by {_signed(low)} to {_signed(high)}")
    return f"Here {' and '.join(parts)}." if parts else ""


def _signed(value: float) -> str:
    return "0%" if abs(value) < 0.05 else f"{'+' if value > 0 else ''}{number(value, 2)}%"


def _corrected(data: RealText, samples: Mapping[str, Sample], audited: Sequence[Row]) -> Iterator[Row]:
    """A row like those of `critics.audit_transitions` for each source that can be corrected."""
    if data.labelled is None:
        return
    critic = TransitionCritic.load(data.critic)
    labelled = Evidence.of(read_table(data.labelled), critic, labelled=True)
    sources = {"data": data.latents, **{slug: sample.latents for slug, sample in samples.items()}}
    for default in (row for row in audited if row["compared_with"] is None and row["source"] in sources):
        latents = sources[default["source"]]
        evidence = Evidence.of(read_table(latents), critic)
        corrected = corrected_ppl(evidence, labelled, critic.log_probs)
        if corrected.value is None:
            continue
        change = None if default["latent_ppl"] is None else 100 * (corrected.value / default["latent_ppl"] - 1)
        row = {
            "switch": CORRECTION,
            "setting": f"by {len(labelled.lengths)} labelled articles",
            "n": len(evidence.lengths),
        }
        row |= {
            "source": default["source"],
            "latent_ppl": corrected.value,
            "ci_low": corrected.low,
            "ci_high": corrected.high,
        }
        yield row | {"compared_with": "default", "change_percent": change, "rejected": default["rejected"]}


def _audit_row(row: Row) -> dict[str, object]:
    value = float("inf") if row["latent_ppl"] is None else row["latent_ppl"]
    kept = {name: row[name] for name in ("compared_with", "change_percent")}
    kept |= {"documents": row["n"], "rejected": row["rejected"]}
    kept |= {"ci_low": row.get("ci_low"), "ci_high": row.get("ci_high")}
    return {"switch": row["switch"], "setting_of_switch": row["setting"], "latent_ppl": value, **kept}


def _decoding_row(
    row: Row,
    files: Sample,
    base: Sample,
    default: float | None,
    experiment: CoherenceFiles,
) -> Row:
    both = row["latent_ppl"] is not None and default is not None
    change = 100 * (row["latent_ppl"] / default - 1) if both else None
    decodings = experiment.decodings
    words = decoding_difference(decodings[files.decoding], decodings[base.decoding])
    switch = {"switch": DECODING + files.decoding, "setting": words, "compared_with": "default"}
    return {**row, **switch, "change_percent": change}


def _audit_cell(row: Row, default: Row) -> Cell:
    notes = [f"{difference(row['change_percent'])}%"] if not missing(row["change_percent"]) else []
    if notes and row["compared_with"] != "default":
        notes = [f"{notes[0]} on {row['compared_with']}"]
    if not missing(row["ci_low"]):
        notes.insert(0, interval(row["ci_low"], row["ci_high"]))
    if row["switch"] == "default":
        notes = [f"{count(row['documents'])} articles"]
    if row["rejected"] != (0 if row is default else default["rejected"]):
        notes.append(f"{count(row['rejected'])} rejected")
    return Cell(number(row["latent_ppl"]), tuple(notes))
