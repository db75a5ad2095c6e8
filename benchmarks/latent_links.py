"""KGLM on Linked WikiText-2 against an LSTM of its size, and what its proposals are worth.

There is no train split here: models are trained on nine in ten articles of the validation split and stop by the tenth;
the test split is the test. The knowledge graph is made from the annotations of all of them, so KGLM knows the entities
and names of the test split; a graph from elsewhere would help it less. Prints Markdown;
docs/results/latent-models.md has it.

    python benchmarks/latent_links.py DATA FOLDER [--texts 40] [--draws 100] [--epochs 2]

DATA has valid.jsonl.gz and test.jsonl.gz; FOLDER keeps the trained models, so that a second run only evaluates.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from timing import cpu_seconds

from textcritic.corpora.structured.links import read_links, write_knowledge
from textcritic.corpora.structured.texts import Structured, read_structured, write_structured
from textcritic.generators.latent.kglm import KGLM, KglmDisc, LinkSteps
from textcritic.generators.latent.lstm import LSTM, padded
from textcritic.generators.latent.model import LatentModel, Learner
from textcritic.generators.latent.train import Inputs, train_latent
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.inference.importance import (
    LogWeights,
    beam_perplexity,
    corpus_over_pairings,
    effective_sample_sizes,
    instance_perplexity,
    over_draws,
)
from textcritic.inference.sequential import particle_filter
from textcritic.plan.entries import read_entry
from textcritic.training.loop import Run

SIZE = {"words": 128, "entities": 64, "hidden": 128, "layers": 1, "dropout": 0.3, "learn_entities": False}
LSTM_SIZE = {"embedding": 128, "hidden": 128, "layers": 1, "dropout": 0.3, "tied": True, "ends": False, "uncounted": []}
LEARNERS: dict[str, tuple[type[Learner], dict]] = {
    "lstm": (LSTM, LSTM_SIZE),
    "kglm": (KGLM, SIZE),
    "next": (KglmDisc, {**SIZE, "reads": "next"}),
    "next, no match": (KglmDisc, {**SIZE, "reads": "next", "match": False}),
    "prefix": (KglmDisc, {**SIZE, "reads": "prefix"}),
    "document": (KglmDisc, {**SIZE, "reads": "document"}),
}
TEMPERATURES = {"next": (0.5, 0.9, 1.0, 1.1, 2.0, 5.0)}
SEED = 1
FILTERED = 10  # texts of the particle filter
FULL = {"words": 400, "entities": 256, "hidden": 1150, "layers": 3}  # of the paper's model
FIGURE_3 = 10_000 * 7 * 245_266  # draws, proposals, tokens of the test split


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=40, help="of the test split, drawn at random")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--epochs", type=float, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    prepare(options.data, options.folder)
    learners = {name: trained(options.folder, name, options.epochs) for name in LEARNERS}
    test = read_structured(options.folder / "test.parquet")
    rows = np.sort(np.random.default_rng(SEED).permutation(len(test))[: options.texts])
    texts = [test[row] for row in rows]
    evaluate(learners, texts, options.draws)
    filtered(learners, texts[:FILTERED], options.draws)
    speed(learners, texts[:2], options)


def prepare(data: Path, folder: Path) -> None:
    """Write the splits and the graph."""
    if (folder / "knowledge").is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    skipped: Counter[str] = Counter()
    valid, test = (list(read_links(data / f"{split}.jsonl.gz", skipped)) for split in ("valid", "test"))
    groups = sorted({str(text.group) for text in valid})
    tenth = set(groups[::10])
    splits = {
        "train": [text for text in valid if text.group not in tenth],
        "validation": [text for text in valid if text.group in tenth],
        "test": test,
    }
    for split, texts in splits.items():
        write_structured(folder / f"{split}.parquet", texts, "Linked WikiText-2")
        mentions = [mention for text in texts for mention in text.mentions]
        print(
            f"{split}: {len({text.group for text in texts})} articles, {len(texts):,} pieces, "
            f"{sum(len(text.tokens) for text in texts):,} tokens, {len(mentions):,} mentions, "
            f"{sum(bool(mention.edges) for mention in mentions):,} with an edge"
        )
    knowledge = write_knowledge([*valid, *test], folder / "knowledge")
    edges = sum(map(len, knowledge.edges.values()))
    print(f"graph: {len(knowledge.entities):,} entities, {edges:,} edges, {len(knowledge.relations):,} relations")
    print(f"left out: {dict(+skipped)}")


def trained(folder: Path, name: str, epochs: float) -> Learner:
    """A learner, trained if it is not there."""
    kind, settings = LEARNERS[name]
    place = folder / name.replace(", ", "-").replace(" ", "-")
    if not (place / "model").is_dir():
        training = {"epochs": epochs, "batch_size": 16, "learning_rate": 0.003, "warmup_steps": 50}
        entry = {"model": settings, "minimum_count": 5, "training": training}
        inputs = Inputs(
            train=folder / "train.parquet", validation=folder / "validation.parquet", knowledge=folder / "knowledge"
        )
        registry = "generators" if issubclass(kind, LatentModel) else "proposals"
        made = read_entry({"kind": kind.kind, **entry}, registry, name)
        report = train_latent(inputs, made, SEED, Run(place / "model", place / "report.json", name, threads=1))
        print(
            f"{name}: {report['parameters']:,} parameters, {report['vocabulary']:,} words, validation "
            f"{report['validation_loss']:.3f} nats per token at step {report['best_step']} of {report['steps']}, "
            f"{report['seconds']:.0f} s"
        )
    return kind.load(place / "model", folder / "knowledge")


def evaluate(learners: dict[str, Learner], texts: list[Structured], draws: int) -> None:
    """Print the table of estimates."""
    tokens = np.array([len(text.tokens) for text in texts], dtype=np.float64)
    lstm, kglm = learners["lstm"], learners["kglm"]
    assert isinstance(lstm, LSTM)
    assert isinstance(kglm, KGLM)
    exact = np.array([float(lstm.log_joint(text, 1)[0]) for text in texts])
    gold = np.array([float(kglm.log_joint(text, kglm.states_of(text))[0]) for text in texts])
    print(f"{len(texts)} texts of the test split, {tokens.sum():,.0f} tokens, K = {draws}")
    print(f"LSTM, exact: {np.exp(-exact.sum() / tokens.sum()):.1f}")
    print(f"KGLM with the annotated states, exp(-log p(x, z) / T): {np.exp(-gold.sum() / tokens.sum()):.1f}")
    print(f"KGLM's softmax over words alone, exact: {np.exp(-without_states(kglm, texts) / tokens.sum()):.1f}")
    print("| proposal | temperature | instance level | over draws | corpus level (pairings) | ESS, median | seconds |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, proposal in learners.items():
        if isinstance(proposal, KglmDisc):
            for temperature in TEMPERATURES.get(name, (1.0,)):
                began = time.process_time()
                weights = weighed(kglm, proposal, texts, draws, temperature)
                seconds = time.process_time() - began
                band, pairs = over_draws(weights), corpus_over_pairings(weights)
                instance = instance_perplexity(weights)
                print(
                    f"| {name} | {temperature} | {instance:.1f} | {band.low:.1f} to {band.high:.1f} "
                    f"| {pairs.mean:.1f} ({pairs.low:.1f} to {pairs.high:.1f}) "
                    f"| {np.median(effective_sample_sizes(weights)):.1f} | {seconds:.0f} |"
                )
                difference = paired(weights, exact, tokens)
                print(f"  log p-hat of KGLM minus log p of the LSTM, nats per token: {difference}")
                speed = draws * tokens.sum() / seconds
                print(f"  {speed:,.0f} samples x tokens per second, drawn and weighed")
    proposal = learners["next"]
    assert isinstance(proposal, KglmDisc)
    for width in (1, 10, 100):
        log_joint = np.full((len(texts), width), -np.inf)
        for row, text in enumerate(texts):
            found = kglm.log_joint(text, proposal.best(text, width)).numpy()
            log_joint[row, : len(found)] = found
        print(f"beam of {width}, proposal next: {beam_perplexity(log_joint, tokens):.1f}")


@torch.no_grad()
def without_states(kglm: KGLM, texts: list[Structured]) -> float:
    """The log probability of texts if every word came from the softmax outside mentions: KGLM as a plain model."""
    total = 0.0
    for text in texts:
        words, lengths = padded([text], kglm.vocabulary, kglm.device)
        hidden, _ = kglm.features(words, lengths)
        total += float(kglm.words.plain_table(hidden).gather(1, words.T).sum())
    return total


def filtered(learners: dict[str, Learner], texts: list[Structured], draws: int) -> None:
    """Importance sampling and the particle filter on the same texts, with as many states."""
    kglm = learners["kglm"]
    assert isinstance(kglm, KGLM)
    tokens = sum(len(text.tokens) for text in texts)
    for name in ("next", "prefix"):
        proposal = learners[name]
        assert isinstance(proposal, KglmDisc)
        sampled = instance_perplexity(weighed(kglm, proposal, texts, draws, 1.0))
        rng = np.random.default_rng(SEED)
        began = time.process_time()
        found = [particle_filter(LinkSteps(kglm, proposal, [text]), draws, rng).log_p_hat[0] for text in texts]
        seconds = time.process_time() - began
        print(
            f"first {len(texts)} texts, {name}: importance sampling {sampled:.1f}, particle filter "
            f"{np.exp(-sum(found) / tokens):.1f} ({draws * tokens / seconds:,.0f} samples x tokens per second)"
        )


def speed(learners: dict[str, Learner], texts: list[Structured], options: argparse.Namespace) -> None:
    """All states at once against one at a time, and the speed of a model of the paper's size, with random weights."""
    kglm, proposal = learners["kglm"], learners["next"]
    assert isinstance(kglm, KGLM)
    assert isinstance(proposal, KglmDisc)
    together = apart = 0.0
    for text in texts[:2]:
        states, _ = proposal.draw(text, options.draws, 1.0, torch.Generator().manual_seed(1))
        together += cpu_seconds(lambda t=text, s=states: kglm.log_joint(t, s), 3)[0]
        ones = [states[row : row + 1] for row in range(len(states))]
        apart += cpu_seconds(lambda t=text, o=ones: [kglm.log_joint(t, one) for one in o])[0]
    print(f"log p(x, z) of {options.draws} states at once: {apart / together:.0f} times as fast as one at a time")

    train = read_structured(options.folder / "train.parquet")
    words = Vocabulary.count((text.tokens for text in train), 1)
    torch.manual_seed(SEED)
    knowledge = options.folder / "knowledge"
    kglm, proposal = (kind.build(kind.form(**FULL), words, knowledge).eval() for kind in (KGLM, KglmDisc))
    types = torch.cat([kglm.states_of(text).types[0] for text in train])
    proposal.choices.kinds.bias.data = (types.bincount(minlength=4) / len(types)).log()
    seconds, _ = cpu_seconds(lambda: weighed(kglm, proposal, texts, options.draws, 1.0))
    rate = options.draws * sum(len(text.tokens) for text in texts) / seconds
    print(
        f"the paper's size, {len(words):,} words: {rate:,.0f} samples x tokens per second; Figure 3 at full size "
        f"({FIGURE_3:,} samples x tokens) takes {FIGURE_3 / rate / 3600:,.0f} hours of a core"
    )


def weighed(kglm: KGLM, proposal: KglmDisc, texts: list[Structured], draws: int, temperature: float) -> LogWeights:
    log_p, log_q = [], []
    for number, text in enumerate(texts):
        states, q = proposal.draw(text, draws, temperature, torch.Generator().manual_seed(number))
        log_p.append(kglm.log_joint(text, states).numpy())
        log_q.append(q.numpy())
    return LogWeights.of(log_p, log_q, [len(text.tokens) for text in texts], [text.id for text in texts])


def paired(weights: LogWeights, exact: np.ndarray, tokens: np.ndarray) -> str:
    """The mean difference per token with its 95% interval over texts, by the linearised ratio."""
    log_p_hat = np.logaddexp.reduce(weights.log_weights, axis=1) - np.log(weights.log_weights.shape[1])
    mean = (log_p_hat - exact).sum() / tokens.sum()
    residuals = log_p_hat - exact - mean * tokens
    half = 1.96 * np.sqrt((residuals**2).sum()) / tokens.sum()
    return f"{mean:+.3f} ({mean - half:+.3f} to {mean + half:+.3f})"


if __name__ == "__main__":
    main()
