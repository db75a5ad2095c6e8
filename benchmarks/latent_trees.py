"""RNNG on GUM's trees against an interpolated trigram and an LSTM of its size.

`python benchmarks/latent_trees.py ARCHIVE SPLITS FOLDER`: the trees as .tar.gz, GUM's splits.md, and a folder for what
is trained, which is resumed or read if it is there. All models have the same words (those that occur twice in train,
and <unk>), predict the end of each sentence, and are measured per word: the end is not in T. The setting of each is
the one with the lowest loss on dev. An RNNG's p(x) is estimated with K = 100 trees of its CRF for each sentence, so its
perplexity is an upper bound in expectation; that of the others is exact. Intervals are over the documents of test.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.structured.texts import Structured, write_structured
from textcritic.corpora.structured.trees import read_trees
from textcritic.files import read_json
from textcritic.generators.latent.lstm import LSTM
from textcritic.generators.latent.model import LatentModel, Learner
from textcritic.generators.latent.rnng.crf import CRF
from textcritic.generators.latent.rnng.model import RNNG
from textcritic.generators.latent.train import Inputs, train_latent
from textcritic.generators.latent.vocabulary import UNKNOWN, Vocabulary
from textcritic.generators.ngram import model as ngram_model
from textcritic.generators.ngram.job import NgramFiles, fit_ngram
from textcritic.inference.bootstrap import bootstrap_interval
from textcritic.inference.statistics import exp_ratio_of_sums
from textcritic.plan.entries import Ngram, read_entry
from textcritic.plan.entries.latent import LatentTraining as Training
from textcritic.training.loop import Run

SAMPLES, TEMPERATURES, SEED = 100, (1.0, 1.25, 2.0), 1
TRAINING = Training(learning_rate=0.002, epochs=4).plain()
DROPOUTS = (0.3,)
NAMES = {"dev": "validation", "train": "train", "test": "test"}
Floats = npt.NDArray[np.float64]


def tried() -> dict[str, tuple[type[Learner], dict[str, object]]]:
    """The trainings. The hidden sizes make RNNG and LSTM equally large."""
    tree = {"hidden": 128, "layers": 2, "tied": True, "end": "stop", "count_end": False}
    plain = {"embedding": 144, "hidden": 144, "layers": 2, "tied": True, "ends": True, "uncounted": []}
    found: dict[str, tuple[type[Learner], dict[str, object]]] = {}
    for dropout in DROPOUTS:
        found[f"lstm-{dropout}"] = (LSTM, {**plain, "dropout": dropout})
        found[f"rnng-{dropout}"] = (RNNG, {**tree, "dropout": dropout})
    found["crf"] = (CRF, {"hidden": 128, "dropout": 0.3, "longest": 250})
    return found


def prepared(archive: str, splits: str, folder: Path) -> dict[str, list[Structured]]:
    """The trees of each split by GUM's list, also as files."""
    of: dict[str, str] = {}
    split = ""
    for line in Path(splits).read_text().splitlines():
        split = line[3:].strip() if line.startswith("## ") else split
        if found := re.match(r"\s*\*\s*(\S+)", line):
            of[found[1]] = split
    texts: dict[str, list[Structured]] = {name: [] for name in NAMES.values()}
    for text in read_trees(archive, skipped := Counter()):
        texts[NAMES[of[str(text.group)]]].append(text)
    folder.mkdir(parents=True, exist_ok=True)
    for name, some in texts.items():
        if not (folder / f"{name}.parquet").exists():
            write_structured(folder / f"{name}.parquet", some, Path(archive).name)
        documents = len({text.group for text in some})
        print(f"{name}: {documents} documents, {len(some)} sentences, {sum(len(t.tokens) for t in some)} words")
    print(f"left out: {dict(skipped)}")
    return texts


def trained(name: str, folder: Path) -> tuple[Learner, float]:
    """A model by its name in `tried`, and its loss on dev."""
    learner, settings = tried()[name]
    place = folder / name
    if not (place / "model").exists():
        inputs = Inputs(train=folder / "train.parquet", validation=folder / "validation.parquet")
        entry = {"model": settings, "minimum_count": 2, "training": TRAINING}
        run = Run(model_dir=place / "model", report_path=place / "training.json", name=name, threads=1)
        registry = "generators" if issubclass(learner, LatentModel) else "proposals"
        train_latent(inputs, read_entry({"kind": learner.kind, **entry}, registry, name), SEED, run)
    report = read_json(place / "training.json")
    print(
        f"{name}: {report['parameters']} parameters, loss on dev {report['validation_loss']:.4f} per word, best after "
        f"step {report['best_step']} of {report['steps']}, {report['seconds']:.0f} s",
        flush=True,
    )
    return learner.load(place / "model"), float(report["validation_loss"])


def trigram(texts: dict[str, list[Structured]], vocabulary: Vocabulary, folder: Path) -> Floats:
    """-log p(x) of each test sentence under an interpolated trigram."""
    from textcritic.corpora.articles import write_articles

    known = vocabulary.numbers

    def articles(split: str) -> Iterator[Article]:
        for text in texts[split]:
            words = " ".join(word if word in known else UNKNOWN for word in text.tokens)
            yield Article(text.id, None, (Section(None, words),), "gum")

    paths = {split: folder / f"words-{split}.parquet" for split in texts}
    for split, path in paths.items():
        write_articles(path, articles(split))
    files = NgramFiles(folder / "trigram", folder / "trigram.json", folder / "trigram-perplexity.json")
    fit_ngram(paths, "wo-title", Ngram(kind="ngram", smoothing="interpolated"), files)
    model = ngram_model.load(folder / "trigram")
    words = model.vocabulary.encode(articles("test"), "wo-title")
    return np.bincount(words.articles(), model.nll(words))


def estimated(model: RNNG, proposal: CRF, texts: list[Structured], temperature: float) -> Floats:
    """Log weights of each text, [texts, K]."""
    weights = np.empty((len(texts), SAMPLES))
    for row, text in enumerate(texts):
        random = torch.Generator().manual_seed(SEED * 1_000_000 + row)
        trees, log_q = proposal.draw(text, SAMPLES, temperature, random)
        weights[row] = (model.log_joint(text, trees) - log_q).numpy()
    return weights


def log_means(weights: Floats) -> Floats:
    """log p-hat of each text."""
    return np.asarray(np.logaddexp.reduce(weights, axis=1) - np.log(weights.shape[1]))


def by_document(texts: list[Structured], losses: Floats) -> Floats:
    """Nats and words of each document, [documents, 2]."""
    _, document = np.unique([str(text.group) for text in texts], return_inverse=True)
    return np.stack([np.bincount(document, losses), np.bincount(document, [len(t.tokens) for t in texts])], 1)


def shown(name: str, texts: list[Structured], losses: Floats) -> None:
    """A line: exp(nats / words), with its interval over documents; over sentences where these are too few."""
    found, what = bootstrap_interval(by_document(texts, losses), exp_ratio_of_sums), "documents"
    if found.low is None:
        each = np.stack([losses, [len(text.tokens) for text in texts]], 1)
        found, what = bootstrap_interval(each, exp_ratio_of_sums), "sentences, as if they were independent"
    print(f"{name}: {found.estimate:.4g} ({found.low:.4g} to {found.high:.4g} over {what})", flush=True)


def main(archive: str, splits: str, place: str) -> None:
    """Train, measure, and print."""
    folder = Path(place)
    texts = prepared(archive, splits, folder)
    found = {name: trained(name, folder) for name in tried()}
    best = {kind: min((n for n in found if n.startswith(kind)), key=lambda n: found[n][1]) for kind in ("lstm", "rnng")}
    model, proposal, plain = found[best["rnng"]][0], found["crf"][0], found[best["lstm"]][0]
    assert isinstance(model, RNNG)
    assert isinstance(proposal, CRF)
    test = texts["test"]
    losses: dict[str, Floats] = {"trigram": trigram(texts, model.vocabulary, folder)}
    with torch.no_grad():
        losses[best["lstm"]] = np.array([float(plain.losses([text])) for text in test])
        losses["rnng, with the annotated tree alone"] = np.array([float(model.losses([text])) for text in test])
    for temperature in TEMPERATURES:
        began = time.process_time()
        weights = estimated(model, proposal, test, temperature)
        seconds = time.process_time() - began
        print(f"temperature {temperature}: {weights.size / seconds:.0f} trees a second of CPU")
        losses[f"{best['rnng']}, temperature {temperature}"] = -log_means(weights)
    beams = [np.logaddexp.reduce(model.log_joint(text, proposal.best(text, SAMPLES)).numpy()) for text in test]
    losses[f"{best['rnng']}, {SAMPLES} best trees"] = -np.array(beams)
    for name, nats in losses.items():
        shown(f"perplexity of {name}", test, nats)
    ours = losses[f"{best['rnng']}, temperature {TEMPERATURES[0]}"]
    for name in ("trigram", best["lstm"]):
        shown(f"perplexity of {best['rnng']} divided by that of {name}", test, ours - losses[name])


if __name__ == "__main__":
    main(*sys.argv[1:])
