"""EntityNLM against the same LSTM without entities, on documents with coreference annotated by people (LitBank).

Both have the same words, sizes, T and search over dropout; the one with the lower validation loss is tested. The LSTM's
p(x) is exact; EntityNLM's is estimated by importance sampling, instance by instance (a piece of a document), which is
too low in the mean: what EntityNLM wins by is at least what is shown. Prints Markdown tables;
docs/results/latent-models.md has them.

    python benchmarks/latent_entities.py litbank-conll.tar.gz FOLDER [--dropouts 0.3 0.5] [--reads next document]
        [--epochs 10] [--samples 100]

What is in FOLDER is not trained again.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch

from textcritic.corpora.structured.mentions import read_mentions
from textcritic.corpora.structured.texts import read_structured, write_structured
from textcritic.files import read_json
from textcritic.generators.latent.entitynlm import EntityDisc, EntityNLM
from textcritic.generators.latent.lstm import LSTM
from textcritic.generators.latent.model import LatentModel
from textcritic.generators.latent.train import Inputs, train_latent
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.plan.entries import read_entry
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.training.loop import Run

SPLITS = {"train": 70, "validation": 10, "test": 20}  # documents, in the order of a random permutation
OPTIONS = CorpusOptions(longest=120, longest_mention=8, lower=True)
WORDS = {"embedding": 64, "hidden": 64, "layers": 1}
ENTITIES = {"entity_size": 64, "max_entities": 40, "longest_mention": 8}
DISC = {"as_released": False, "dropout": 0.3}
MINIMUM_COUNT = 5
TRAINING = {"learning_rate": 0.01, "batch_size": 64}
KINDS = {LSTM: {"tied": True}, EntityNLM: {**ENTITIES, "tied": True}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archive")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dropouts", nargs="+", type=float, default=[0.3, 0.5])
    parser.add_argument("--reads", nargs="+", choices=["prefix", "next", "document"], default=["next", "document"])
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--samples", type=int, default=100)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    prepare(arguments.archive, arguments.folder)
    models = {
        f"{kind.kind}-{dropout}": (kind, {**WORDS, **more, "dropout": dropout})
        for kind, more in KINDS.items()
        for dropout in arguments.dropouts
    }
    proposals = {reads: (EntityDisc, {**WORDS, **ENTITIES, **DISC, "reads": reads}) for reads in arguments.reads}
    reports = {
        name: train(name, kind, settings, arguments.folder, arguments.epochs)
        for name, (kind, settings) in (models | proposals).items()
    }
    show(reports)
    best = {
        kind: min((name for name in models if models[name][0] is kind), key=lambda n: reports[n]["validation_loss"])
        for kind in KINDS
    }
    evaluate(arguments.folder, best, arguments.reads, arguments.samples)


def prepare(archive, folder):
    """Write the splits, by document."""
    if (folder / "test.parquet").exists():
        return
    skipped = Counter()
    texts = list(read_mentions(archive, skipped, OPTIONS))
    documents = sorted({text.group for text in texts})
    order = np.random.default_rng(1).permutation(documents)
    ends = np.cumsum(list(SPLITS.values()))
    for name, end, count in zip(SPLITS, ends, SPLITS.values(), strict=True):
        chosen = set(order[end - count : end])
        write_structured(folder / f"{name}.parquet", [t for t in texts if t.group in chosen], "LitBank")
    print(f"{len(texts)} pieces; left out: {dict(skipped)}")


def train(name, kind, settings, folder, epochs):
    """Train one model or proposal, unless it is there; its report."""
    report = folder / name / "training.json"
    if not report.exists():
        run = Run(folder / name / "model", report, name, threads=1)
        inputs = Inputs(train=folder / "train.parquet", validation=folder / "validation.parquet")
        entry = {"model": settings, "minimum_count": MINIMUM_COUNT, "training": {**TRAINING, "epochs": epochs}}
        registry = "generators" if issubclass(kind, LatentModel) else "proposals"
        train_latent(inputs, read_entry({"kind": kind.kind, **entry}, registry, name), 1, run)
    return read_json(report)


def show(reports):
    """The table of trainings."""
    print("| trained | parameters | words known | best step | validation, nats a token | seconds |")
    print("|---|---|---|---|---|---|")
    for name, report in reports.items():
        print(
            f"| {name} | {report['parameters']:,} | {report['vocabulary']:,} | {report['best_step']} of "
            f"{report['steps']} | {report['validation_loss']:.3f} | {report['seconds']:.0f} |",
            flush=True,
        )


def evaluate(folder, best, read, samples):
    """The table of perplexities on the test split; `best` has the name of the model of each kind."""
    lstm, entity_nlm = (kind.load(folder / name / "model") for kind, name in best.items())
    texts = read_structured(folder / "test.parquet")
    tokens = np.array([lstm.counted(text) for text in texts])
    documents = np.unique([text.group for text in texts], return_inverse=True)[1]
    plain = np.array([float(lstm.log_joint(text, 1)) for text in texts])
    gold = np.array([float(entity_nlm.log_joint(text, entity_nlm.states_of(text))) for text in texts])
    rows = {f"{best[LSTM]}, exact": plain, f"{best[EntityNLM]}, with gold z: p(x, z)": gold}
    began = time.process_time()
    for reads in read:
        proposal = EntityDisc.load(folder / reads / "model")
        log_p, effective = estimates(entity_nlm, proposal, texts, samples)
        rows[f"{best[EntityNLM]}, q reads {reads}, K = {samples} (median ESS {np.median(effective):.1f})"] = log_p
    seconds = time.process_time() - began
    print(f"\n{len(texts)} test pieces of {documents.max() + 1} documents, {tokens.sum():,} tokens\n")
    print("| test | perplexity | 95% interval over documents | perplexity / that of the LSTM | 95% interval, paired |")
    print("|---|---|---|---|---|")
    for name, log_p in rows.items():
        own, ratio = (per_document(values, tokens, documents) for values in (-log_p, plain - log_p))
        cells = [shown(found) for found in map(interval, (own, ratio))]
        print(f"| {name} | {' | '.join(cells)} |")
    rate = len(read) * samples * tokens.sum() / seconds
    print(f"\n{rate:,.0f} samples x tokens drawn and weighed in a second of one core ({seconds:.0f} s)")


def shown(found):
    """A value and its interval; the LSTM against itself has none."""
    return f"{found.estimate:.4g} | {'' if found.low is None else f'{found.low:.4g}–{found.high:.4g}'}"


def estimates(model, proposal, texts, samples):
    """The log p-hat of each text, and the effective sample size."""
    generator = torch.Generator().manual_seed(1)
    log_p, effective = [], []
    for text in texts:
        states, log_q = proposal.draw(text, samples, 1.0, generator)
        weights = model.log_joint(text, states) - log_q
        log_p.append(float(weights.logsumexp(0)) - np.log(samples))
        effective.append(float((2 * weights.logsumexp(0) - (2 * weights).logsumexp(0)).exp()))
    return np.array(log_p), np.array(effective)


def per_document(values, tokens, documents):
    """[documents, (sum of values, tokens)]"""
    return np.stack([np.bincount(documents, column) for column in (values, tokens)], 1)


def interval(columns):
    """Of a perplexity, or a ratio of two."""
    return bootstrap_interval(columns, exp_ratio_of_sums)


if __name__ == "__main__":
    main()
