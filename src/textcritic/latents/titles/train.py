"""Train a section classifier, P(title | section text): appendix E of the model criticism paper."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerFast

from textcritic.corpora import iter_articles
from textcritic.errors import TextcriticError
from textcritic.inference import bootstrap_interval, ratio_of_sums, unit_sums
from textcritic.latents.titles.infer import labels_of, posterior
from textcritic.latents.titles.sections import Sections, encode_sections, shuffled_batches
from textcritic.plan.entries import TransformerClassifier
from textcritic.plan.entries.classifiers import ClassifierTraining
from textcritic.training.checkpoint import State
from textcritic.training.hardware import autocast, device
from textcritic.training.load import init_folder, load_model, load_tokenizer
from textcritic.training.loop import Job, Loop, Run, resumable
from textcritic.training.optimiser import learning_rate, optimiser, set_learning_rate
from textcritic.values import JsonObject

BINS = 10


def train_classifier(
    splits: Mapping[str, str | os.PathLike[str]],
    tokenizer_dir: str | os.PathLike[str],
    entry: TransformerClassifier,
    run: Run,
) -> None:
    """Train on the train split's sections, write the model folder, and measure it on validation and test.

    State is kept in `checkpoints/` next to the model folder until that is whole; a rerun continues from there.

    Args:
        splits: Parquet files of `train`, `validation` and `test`.
        tokenizer_dir: tokenizer whose ids the encoder reads.
        entry: of the classifier, but how often to save is in `run`. Weights of the hub are given by their folder.
        run: what is written and how; its report is that of `accuracy`.

    Raises:
        TextcriticError: fewer than two titles in train, bad input, a loss that is not finite, SIGTERM.
    """
    tokenizer = load_tokenizer(tokenizer_dir)
    encoded = {
        split: encode_sections(iter_articles(path), tokenizer, entry.max_tokens) for split, path in splits.items()
    }
    titles = _titles(encoded["train"], splits["train"])
    spec = entry.plain()
    del spec["training"]["checkpoint_seconds"]
    weights = init_folder(spec["init"])
    files = {**splits, "tokenizer": tokenizer_dir, **({"init": weights} if weights else {})}
    with resumable(run, {"spec": spec}, files) as loop:
        model = load_model(
            AutoModelForSequenceClassification,
            spec["init"],
            tokenizer,
            entry.training.seed,
            new_head=True,
            **labels_of(titles),
        ).to(device())
        _require_room(model, tokenizer, entry.max_tokens)
        loop.train(ClassifierJob(model, encoded["train"], titles, tokenizer.pad_token_id, entry.training))
        measured = {
            split: accuracy(
                titles,
                encoded[split],
                posterior(model, encoded[split], tokenizer.pad_token_id, f"measuring on {split}"),
            )
            for split in ("validation", "test")
        }

        def save(folder: Path) -> None:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)

        loop.finish(save, {"titles": list(titles), "sections_train": len(encoded["train"].lengths), **measured})


class ClassifierJob(Job):
    """The training of a section classifier: no validations, the weights after the last step are the model.

    Args:
        model: on its device; trained in place.
        sections: of the training split.
        titles: in the order of the classes.
        padding: id of the padding token.
        training: how.
    """

    name = "the section classifier"

    def __init__(
        self,
        model: PreTrainedModel,
        sections: Sections,
        titles: tuple[str, ...],
        padding: int,
        training: ClassifierTraining,
    ) -> None:
        self.model, self.sections, self.padding, self.training = model, sections, padding, training
        number = {title: k for k, title in enumerate(titles)}
        self.labels = torch.tensor([number[str(title)] for title in sections.flat_gold()])
        self.per_epoch = math.ceil(len(self.labels) / training.batch_size)
        self.steps = self.work = max(1, round(self.per_epoch * training.epochs))
        self.seed = training.seed
        self.optimiser = optimiser(model, training.learning_rate, training.weight_decay)
        self.device = next(model.parameters()).device
        self.autocast = autocast(self.device, training.precision)
        torch.set_float32_matmul_precision(training.float32_matmul_precision)
        self.epoch, self.batches = -1, list[np.ndarray]()

    def step(self, loop: Loop) -> None:
        """One update."""
        self.model.train()
        rows = self._rows(loop.step)
        batch = {key: value.to(self.device) for key, value in self.sections.batch(rows, self.padding).items()}
        with self.autocast:
            labels = self.labels[torch.from_numpy(rows)].to(self.device)
            loss = cross_entropy(self.model(**batch).logits.float(), labels)
        self._update(loss, loop.step)
        loop.advance(1, f"loss {loss.item():.3f}")

    def state(self) -> State:
        """Weights and optimiser."""
        return {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict()}

    def restore(self, state: State) -> None:
        """Go on from a `state`."""
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])

    def _update(self, loss: torch.Tensor, step: int) -> None:
        training = self.training
        rate = learning_rate(step, self.steps, training.learning_rate, training.schedule, training.warmup_steps)
        if not torch.isfinite(loss):
            raise TextcriticError(
                f"training {self.name}: the loss is not finite at step {step} (learning rate {rate:g});"
                " lower training.learning_rate"
            )
        set_learning_rate(self.optimiser, rate)
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()

    def _rows(self, step: int) -> np.ndarray:
        """The sections of a step: a function of (seed, step) alone, so that a resumed run sees the same batches."""
        epoch, index = divmod(step, self.per_epoch)
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = shuffled_batches(self.sections.lengths, self.training.batch_size, self.seed, epoch)
        return self.batches[index]


def _require_room(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, max_tokens: int) -> None:
    positions = getattr(model.config, "max_position_embeddings", max_tokens)
    if max_tokens > positions:
        raise TextcriticError(
            f"classifiers: max_tokens: {max_tokens} is more than the encoder's {positions} positions; use at most that"
        )
    if tokenizer.pad_token_id is None:
        raise TextcriticError("classifiers: the tokenizer has no padding token; use an encoder that has one, like BERT")


def _titles(train: Sections, path: str | os.PathLike[str]) -> tuple[str, ...]:
    gold = train.flat_gold()
    if None in gold:
        raise TextcriticError(
            f"{path}: some sections have no title; a classifier needs a title for each section of train"
        )
    titles = tuple(sorted({str(title) for title in gold}))
    if len(titles) < 2:
        raise TextcriticError(
            f"{path}: {len(titles)} section type ({', '.join(titles) or 'none'}); at least two are needed"
        )
    return titles


def accuracy(titles: Sequence[str], sections: Sections, probabilities: np.ndarray) -> JsonObject:
    """Measure posteriors against gold titles.

    A section whose gold title the classifier never saw counts as wrong, and in `unseen_titles`.

    Args:
        titles: labels, in the order of the columns.
        sections: the sections, with their gold titles.
        probabilities: P(title | text), [sections, titles].

    Returns:
        accuracy with `ci95` (bootstrap over documents, those of a group as one; Nones where there is none) and `n`
        (sections), `documents`, `mean_confidence`, `over_90_percent_certain` (share of sections; the paper says
        "mostly"), `expected_calibration_error` (10 bins of
        equal width), `recall` by title, `confusions` (gold title, inferred title, count; the ten commonest),
        `unseen_titles`.
    """
    number = {title: k for k, title in enumerate(titles)}
    gold = np.array([number.get(str(title), -1) for title in sections.flat_gold()], np.int64)
    inferred, confidence = probabilities.argmax(axis=1), probabilities.max(axis=1)
    right = (inferred == gold).astype(float)
    sizes = np.array([len(doc) for doc in sections.gold])
    document = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.stack([np.bincount(document, right, len(sizes)), sizes], axis=1)
    interval = bootstrap_interval(unit_sums(sums, sections.groups), ratio_of_sums, seed=0).of_share()
    counts = np.zeros((len(titles), len(titles)), np.int64)
    np.add.at(counts, (gold[gold >= 0], inferred[gold >= 0]), 1)
    wrong = np.where(np.eye(len(titles), dtype=bool), 0, counts)
    worst = [divmod(int(k), len(titles)) for k in np.argsort(-wrong, axis=None, kind="stable")[:10]]
    return {
        "accuracy": float(right.mean()),
        "ci95": [interval.low, interval.high],
        "n": len(gold),
        "documents": len(sizes),
        "mean_confidence": float(confidence.mean()),
        "over_90_percent_certain": float((confidence > 0.9).mean()),
        "expected_calibration_error": _calibration_error(confidence, right),
        "recall": {
            title: float(counts[k, k] / counts[k].sum()) for k, title in enumerate(titles) if counts[k].sum() > 0
        },
        "confusions": [
            {"gold": titles[i], "inferred": titles[j], "count": int(wrong[i, j])} for i, j in worst if wrong[i, j] > 0
        ],
        "unseen_titles": sorted({str(title) for title in sections.flat_gold()} - set(titles)),
    }


def _calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean gap between confidence and accuracy over bins of confidence, weighted by their sections."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    total = np.bincount(bins, minlength=BINS)
    gap = np.abs(np.bincount(bins, confidence, BINS) - np.bincount(bins, right, BINS))
    return float(gap[total > 0].sum() / len(confidence))
