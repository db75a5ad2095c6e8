"""Table 1 of the paper in long format: a known process, sequences drawn from it, and samples of models of it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora.synthetic.process import Process
from textcritic.critics import decompose, document_columns, latent_nll, rejections
from textcritic.critics.known_process import KnownProcess, audit_parsing
from textcritic.errors import TextcriticError
from textcritic.experiments.process.files import EXACT, TEST, Exact, KnownData, ProcessFiles, Sequences
from textcritic.files import lacking, read_json
from textcritic.measures.material import Material
from textcritic.measures.measure import LATENT_PPL, Measure, Scored
from textcritic.measures.numbers import plural
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import (
    RECIPE,
    perplexity_of,
    source_scores,
)
from textcritic.plan.sources import GROUP, KEYS, RUN, SAMPLE
from textcritic.values import Row

PARTS = ("cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected")
COLUMNS = (
    "label", "latent_ppl", "ci_low", "ci_high", "latent_nll", "documents", "steps", "rejected", "rejected_share",
    "rejected_by_reason", *RECIPE, "seeds_read", "p_value", *PARTS, "kl_of_test",
    "kl_corrected_of_test", "infinite_because", "published", "difference", "published_note", "ppl_all", "ppl_all_low",
    "ppl_all_high", "ppl_body", "ppl_body_low", "ppl_body_high", "ppl_unit", "ppl_infinite_because",
    "ppl_body_published", "ppl_body_difference",
)  # fmt: skip
TEXTS = ("infinite_because", "published_note", "ppl_unit", "ppl_infinite_because")
WHOLE = ("documents", "steps", "rejected", "seeds", "seeds_read")
PPL = replace(
    LATENT_PPL,
    means="how surprising the hidden states are, in their order",
    section="table-process",
)
WORDS = Measure(
    name="Word-level PPL",
    value="ppl_body",
    low="ppl_body_low",
    high="ppl_body_high",
    p="",
    metric="word_ppl",
    published="ppl_body_published",
    difference="ppl_body_difference",
    because="ppl_infinite_because",
    by_ratio=True,
)
EXACT_VALUES = {"ppl_body": "word_ppl", "latent_ppl": "latent_ppl"}
PROCESS_PPL = "perplexity of a process"
SUBSAMPLE_SEED = 1234


def perplexity_rows(material: Material[ProcessFiles]) -> pd.DataFrame:
    """Word-level and Latent PPL of a known process and of models of it (paper, Table 1), one row a source.

    Of each process: the exact values; its test split; every sample. Columns: those of `rows.source_rows` for
    `latent_ppl` of the sequences that could be read; `latent_nll` (mean, nats per sequence); `steps` scored; over the
    seeds of a group, `seeds`, `seeds_read` (the seeds with a sequence that could be read) and `seeds_mean`, `seeds_sd`
    of these; the decomposition of the cross-entropy, nats per step; `kl_of_test`, `kl_corrected_of_test`: the
    divergence of as many sequences of the test split, drawn without replacement, or of all if a sample has more;
    `infinite_because`; `published`, `difference`, `published_note`; `ppl_body`, per letter or delimiter without the end
    of a sequence, which is the paper's, and `ppl_all` with it, both with `_low`, `_high`; `ppl_unit`;
    `ppl_infinite_because`; `ppl_body_published`, `ppl_body_difference`. If no sequence of a sample can be read, it has
    no Latent PPL, no interval, no p-value and no decomposition.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    processes = {data.corpus: Process.load(data.process) for data in material.files.data}

    def read(source: Exact | KnownData | Sequences, test: Scored | None) -> Scored:
        process = processes[source.keys["corpus"]]
        if isinstance(source, Exact):
            return Scored(more=_exact(source.data, process))
        scored = _scored(source, KnownProcess.of(process), test)
        perplexity = perplexity_of(source.perplexity) if isinstance(source, Sequences) else _of_test_split(source)
        return replace(scored, more={**scored.more, **perplexity})

    rows: list[Row] = []
    for row in source_rows(material, read, [PPL, WORDS]):
        named = {**row, "label": material.names.source(row)}
        if row["source"] == EXACT:  # the published values were measured on the test split
            rows.append(named | {PPL.published: None, WORDS.published: None})
        else:
            notes = [material.published.note(metric, row) for metric in (WORDS.metric, PPL.metric)]
            rows.append(named | {"published_note": "; ".join(filter(None, notes))})
    table = completed(rows, COLUMNS, [PPL, WORDS], WHOLE[:-1], TEXTS, TEST)
    for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False):
        table.loc[group.index, "seeds_read"] = group["latent_ppl"].count()
    return table.astype({"seeds_read": "Int64"}).astype(
        dict.fromkeys(("label", "rejected_by_reason", *TEXTS), "object")
    )


def parsing_rows(material: Material[ProcessFiles]) -> pd.DataFrame:
    """How Latent PPL changes with the definition of a sequence (`critics.known_process.audit_parsing`).

    Columns: the keys, `label`, `switch`, `setting_of_switch`, `latent_ppl` (empty where nothing can be read),
    `compared_with` (a switch) and `change_percent` against it, `documents`, `rejected`, and what the released code
    prints of the sample: `processed` and, of these, `invalid`.
    """
    experiment, names = material.files, material.names
    rows = []
    for data in experiment.data:
        samples = {sample.slug: sample for sample in experiment.samples_of(data)}
        for row in audit_parsing(data.process, {slug: (s.articles, s.rejected) for slug, s in samples.items()}):
            keys = samples[row.pop("source")].keys
            row = {"setting_of_switch": row.pop("setting"), "documents": row.pop("n"), **row}
            rows.append({**keys, "label": names.source(keys), **row})
    order = ("label", "switch", "setting_of_switch", "latent_ppl", "compared_with", "change_percent")
    columns = [*KEYS, *order, "documents", "rejected", "processed", "invalid"]
    whole = dict.fromkeys((*RUN, "processed", "invalid"), "Int64")
    return pd.DataFrame(rows)[columns].astype({**whole, "latent_ppl": float, "change_percent": float})


def _exact(data: KnownData, process: Process) -> Row:
    """The columns of the exact row."""
    parts = decompose(_expected_transitions(process), KnownProcess.of(process))
    with lacking(data.statistics, PROCESS_PPL):
        statistics = read_json(data.statistics)
        exact = {name: statistics[key]["exact"] for name, key in EXACT_VALUES.items()}
    if not np.isclose(np.log(exact["latent_ppl"]), parts.cross_entropy, rtol=1e-6):
        raise TextcriticError(f"{data.statistics}: is of another process than {data.process}; delete both and rerun")
    length = process.expected_tokens()
    ppl = {"ppl_all": exact["ppl_body"] ** (length / (length + 1)), "ppl_unit": "tokens"}
    at_least_0 = {"kl": max(parts.kl, 0.0)}  # 0 in truth; rounding may leave it below
    return {**exact, **ppl, **{name: getattr(parts, name) for name in PARTS}, **at_least_0}


def _of_test_split(data: KnownData) -> Row:
    """Word-level perplexity of the test split; a sequence's end has probability 1 and so costs nothing."""
    with lacking(data.statistics, PROCESS_PPL):
        statistics = read_json(data.statistics)
        words, (low, high) = statistics["word_ppl"]["test"], statistics["word_ppl"]["ci95"]
        tokens, ends = statistics["tokens"]["test"], statistics["articles"]["test"]
        body = {"ppl_body": words, "ppl_body_low": low, "ppl_body_high": high, "ppl_unit": "tokens"}
        return body | {"ppl_all": words ** (tokens / (tokens + ends))}


def _expected_transitions(process: Process) -> np.ndarray:
    """Expected transitions of one sequence: float64 [Z + 1, Z], laid out as `KnownProcess.log_probs`."""
    inner = process.visits()[1:-1].sum(axis=0)
    return np.vstack([process.initial, inner[:, None] * process.transition])


def _scored(source: KnownData | Sequences, process: KnownProcess, test: Scored | None) -> Scored:
    scores = source_scores(source)
    reasons = rejections(scores)
    kept = scores.num_rows - sum(reasons.values())
    of_test = _of_test(kept, scores if test is None else test.data["scores"], process)
    if not kept:
        return Scored({"scores": scores}, 0, reasons, {"steps": 0, **of_test})
    transitions = process.transitions(scores)
    columns, parts = document_columns(scores), decompose(transitions, process)
    more: dict[str, object] = {"steps": int(columns[:, 1].sum()), "latent_nll": latent_nll(scores), **of_test}
    more |= {name: getattr(parts, name) for name in PARTS}
    if not np.isfinite(columns).all():
        impossible = int(transitions[np.isinf(process.log_probs)].sum())
        more["infinite_because"] = f"{plural(impossible, 'step has', 'steps have')} probability 0 in the process"
    return Scored({PPL.value: columns, "scores": scores}, kept, reasons, more)


def _of_test(sequences: int, test: pa.Table, critic: KnownProcess) -> dict[str, float | None]:
    """The divergence of so many sequences of the test split (all of them at most).

    A few sequences diverge from the process even if it wrote them itself.
    """
    chains = test["chain"].filter(pc.invert(test["rejected"]))
    chosen = np.random.default_rng(SUBSAMPLE_SEED).permutation(len(chains))[:sequences]
    if not len(chosen):
        return {}
    parts = decompose(critic.count(chains.take(pa.array(chosen))), critic)
    return {"kl_of_test": parts.kl, "kl_corrected_of_test": parts.kl_corrected}
