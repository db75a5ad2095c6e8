"""Table 1 of the paper in long format: a known process, sequences drawn from it, and samples of models of it."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora.process import Process
from textcritic.critics import decompose, document_columns, latent_nll, latent_ppl, p_value_of, rejections
from textcritic.critics.known_process import KnownProcess, audit_parsing
from textcritic.errors import TextcriticError
from textcritic.experiments.process.files import KnownData, ProcessFiles
from textcritic.experiments.process.names import EXACT, TEST, ProcessNames
from textcritic.files import read_json
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.report.names import GROUP, KEYS, SAMPLE, data_keys, sample_keys
from textcritic.report.numbers import plural
from textcritic.report.published import Published
from textcritic.report.scored import add_seeds, check_counts, perplexity_of, read_scores, reasons_in_words

PARTS = ("cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected")
COLUMNS = (
    *("label", "latent_ppl", "ci_low", "ci_high", "latent_nll", "documents", "steps"),
    *("rejected", "rejected_share", "rejected_by_reason", "seeds", "seeds_read", "seeds_mean", "seeds_sd"),
    *("p_value", *PARTS, "kl_of_test", "kl_corrected_of_test"),
    *("infinite_because", "published", "difference", "published_note", "ppl_all", "ppl_all_low", "ppl_all_high"),
    *("ppl_body", "ppl_body_low", "ppl_body_high", "ppl_unit", "ppl_infinite_because"),
    *("ppl_body_published", "ppl_body_difference"),
)
TEXTS = ("label", "rejected_by_reason", "infinite_because", "published_note", "ppl_unit", "ppl_infinite_because")
SUBSAMPLE_SEED = 1234


def perplexity_rows(experiment: ProcessFiles, published: Published) -> pd.DataFrame:
    """Word-level and Latent PPL of a known process and of models of it (paper, Table 1), one row a source.

    Of each process: the exact values; its test split; every sample. Columns: the keys; `label`; `latent_ppl` of the
    sequences that could be read, with its 95% document-bootstrap interval `ci_low`, `ci_high`; `latent_nll` (mean, nats
    per sequence); `documents`, `steps` scored; `rejected`, `rejected_share`, `rejected_by_reason` ("reason: n; ...");
    over the seeds of a group, `seeds`, of how many of them something could be read, `seeds_read`, and `seeds_mean`,
    `seeds_sd` of these; `p_value` of a permutation test against the test split; the decomposition of the cross-entropy,
    nats per step; `kl_of_test`, `kl_corrected_of_test`: what as many sequences of the test split come to, drawn from it
    without replacement, or all of them where a sample has more; `infinite_because`; `published`, `difference`,
    `published_note`; `ppl_body`, per letter or delimiter without the end of a sequence, which is the paper's, and
    `ppl_all` with it, both with `_low`, `_high`; `ppl_unit`; `ppl_infinite_because`; `ppl_body_published`,
    `ppl_body_difference`. A sample of which nothing can be read has no Latent PPL, no interval, no p-value and no
    decomposition.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    names = ProcessNames.of(experiment)
    rows: list[dict[str, Any]] = []
    for data in experiment.processes:
        known, test = Process.load(data.process), read_scores(data.scores)
        process = KnownProcess.of(known)
        rows += _of_process(data, known, process, test, experiment.resamples)
        for sample in experiment.of(data):
            scores = read_scores(sample.scores)
            check_counts(scores, sample)
            row = (
                sample_keys(sample) | _scored(scores, process, experiment.resamples) | perplexity_of(sample.perplexity)
            )
            if row["documents"]:
                row["p_value"] = p_value_of(scores, test, experiment.resamples)
            rows.append(row | _of_test(row["documents"], test, process))
    return _completed(pd.DataFrame([_beside(row | {"label": names.source(row)}, published) for row in rows]))


def parsing_rows(experiment: ProcessFiles) -> pd.DataFrame:
    """What it does to the Latent PPL which texts are called sequences (`critics.known_process.audit_parsing`).

    Columns: the keys, `label`, `switch`, `setting_of_switch`, `latent_ppl` (empty where nothing can be read),
    `compared_with` (a switch) and `change_percent` against it, `documents`, `rejected`, and what the released code
    prints of the sample: `processed` and, of these, `invalid`.
    """
    names = ProcessNames.of(experiment)
    rows = []
    for data in experiment.processes:
        samples = {sample.slug: sample for sample in experiment.of(data)}
        for row in audit_parsing(data.process, {slug: (s.articles, s.rejected) for slug, s in samples.items()}):
            keys = sample_keys(samples[row.pop("source")])
            row = {"setting_of_switch": row.pop("setting"), "documents": row.pop("n"), **row}
            rows.append(keys | {"label": names.source(keys)} | row)
    order = ("label", "switch", "setting_of_switch", "latent_ppl", "compared_with", "change_percent")
    columns = [*KEYS, *order, "documents", "rejected", "processed", "invalid"]
    whole = dict.fromkeys(("seed", "processed", "invalid"), "Int64")
    return pd.DataFrame(rows)[columns].astype({**whole, "latent_ppl": float, "change_percent": float})


def _of_process(
    data: KnownData, process: Process, critic: KnownProcess, test: pa.Table, resamples: int
) -> list[dict[str, Any]]:
    """The exact row and the one of the test split; a sequence's end is certain and so costs nothing."""
    statistics = read_json(data.statistics)
    try:
        words, latent = statistics["word_ppl"], statistics["latent_ppl"]
        exact = {"ppl_body": words["exact"], "latent_ppl": latent["exact"]}
        low, high = words["ci95"]
        tokens, ends = statistics["tokens"]["test"], statistics["articles"]["test"]
        empirical = {"ppl_body": words["test"], "ppl_body_low": low, "ppl_body_high": high}
        empirical["ppl_all"] = words["test"] ** (tokens / (tokens + ends))
    except (KeyError, TypeError, ValueError) as error:
        raise TextcriticError(
            f"{data.statistics}: no perplexity of a process in it ({error}); delete it and rerun its rule"
        ) from error
    parts = decompose(_expected_transitions(process), critic)
    if not np.isclose(np.log(exact["latent_ppl"]), parts.cross_entropy, rtol=1e-6):
        raise TextcriticError(f"{data.statistics}: is of another process than {data.process}; delete both and rerun")
    length = process.expected_tokens()
    exact |= {"ppl_all": exact["ppl_body"] ** (length / (length + 1))}
    exact |= {name: getattr(parts, name) for name in PARTS}
    exact["kl"] = max(exact["kl"], 0.0)  # 0 in truth; rounding may leave it below
    scored = _scored(test, critic, resamples)
    empirical |= scored | _of_test(scored["documents"], test, critic)
    unit = {"ppl_unit": "tokens"}
    return [data_keys(data.corpus, EXACT) | exact | unit, data_keys(data.corpus, TEST) | empirical | unit]


def _expected_transitions(process: Process) -> np.ndarray:
    """Expected transitions of one sequence: float64 [Z + 1, Z], laid out as `KnownProcess.log_probs`."""
    inner = process.visits()[1:-1].sum(axis=0)
    return np.vstack([process.initial, inner[:, None] * process.transition])


def _scored(scores: pa.Table, process: KnownProcess, resamples: int) -> dict[str, Any]:
    reasons = rejections(scores)
    rejected = sum(reasons.values())
    kept = scores.num_rows - rejected
    row = {"documents": kept, "rejected": rejected, "rejected_share": rejected / max(scores.num_rows, 1)}
    row |= {"rejected_by_reason": reasons_in_words(reasons), "steps": 0}
    if not kept:
        return row
    transitions = process.transitions(scores)
    columns, parts = document_columns(scores), decompose(transitions, process)
    row |= {"steps": int(columns[:, 1].sum()), "latent_ppl": latent_ppl(scores), "latent_nll": latent_nll(scores)}
    row |= {name: getattr(parts, name) for name in PARTS}
    if np.isfinite(columns).all():
        interval = bootstrap_interval(columns, exp_ratio_of_sums, resamples=resamples)
        row |= {"ci_low": interval.low, "ci_high": interval.high}
    else:
        impossible = int(transitions[np.isinf(process.log_probs)].sum())
        row["infinite_because"] = f"{plural(impossible, 'step has', 'steps have')} probability 0 in the process"
    return row


def _of_test(sequences: int, test: pa.Table, critic: KnownProcess) -> dict[str, float | None]:
    """The divergence of as many sequences of the test split, of all of them at most.

    Even what the process itself wrote diverges from it where there is little of it.
    """
    chains = test["chain"].filter(pc.invert(test["rejected"]))
    chosen = np.random.default_rng(SUBSAMPLE_SEED).permutation(len(chains))[:sequences]
    if not len(chosen):
        return {}
    parts = decompose(critic.count(chains.take(pa.array(chosen))), critic)
    return {"kl_of_test": parts.kl, "kl_corrected_of_test": parts.kl_corrected}


def _beside(row: dict[str, Any], published: Published) -> dict[str, Any]:
    """The row with published values; those of the data stand beside the test split, on which they were measured."""
    if row["source"] == EXACT:
        return row
    notes = [published.note(metric, row) for metric in ("word_ppl", "latent_ppl")]
    return row | {
        "ppl_body_published": published.value("word_ppl", row),
        "published": published.value("latent_ppl", row),
        "published_note": "; ".join(filter(None, notes)),
    }


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """All columns in order, with the differences and the summary over the seeds of each group."""
    table = table.reindex(columns=[*KEYS, *COLUMNS])
    table = table.astype({column: float for column in COLUMNS if column not in TEXTS})
    table["ppl_body_difference"] = table["ppl_body"] - table["ppl_body_published"]
    table["difference"] = table["latent_ppl"] - table["published"]
    add_seeds(table, "latent_ppl")
    for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False):
        table.loc[group.index, "seeds_read"] = group["latent_ppl"].count()
    whole = ("seed", "documents", "steps", "rejected", "seeds", "seeds_read")
    return table.astype(dict.fromkeys(whole, "Int64")).astype(dict.fromkeys(TEXTS, "object"))
