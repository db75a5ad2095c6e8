"""Train a section classifier, P(title | section text): appendix E of the model criticism paper."""

import math
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification

from textcritic.corpora import iter_articles
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder, write_json
from textcritic.generators.checkpoint import Checkpoints, file_digests, rng_state, set_rng_state, terminated
from textcritic.generators.cpu import prepare_cpu
from textcritic.generators.load import autocast, device, init_folder, load_model, load_tokenizer
from textcritic.generators.lock import Lock
from textcritic.generators.loop import optimiser
from textcritic.generators.plan import learning_rate
from textcritic.latents.accuracy import accuracy
from textcritic.latents.infer import labels_of, posterior
from textcritic.latents.sections import Sections, encode_sections, shuffled_batches
from textcritic.runlog import Progress


def train_classifier(
    splits: Mapping[str, str | os.PathLike[str]],
    tokenizer_dir: str | os.PathLike[str],
    spec: Mapping[str, Any],
    model_dir: str | os.PathLike[str],
    accuracy_path: str | os.PathLike[str],
    threads: int | None = None,
    version: int = 1,
) -> None:
    """Train on the train split's sections, write the model folder, and measure it on validation and test.

    State is kept in `checkpoints/` beside `model_dir` until the model is whole; a rerun goes on from there.

    Args:
        splits: Parquet files of `train`, `validation` and `test`.
        tokenizer_dir: tokenizer whose ids the encoder reads.
        spec: a classifiers registry entry.
        model_dir: folder to write.
        accuracy_path: JSON to write, see `accuracy.accuracy`.
        threads: CPU threads of torch; None leaves torch's own number.
        version: of the stage; state that another version left is not taken up.

    Raises:
        TextcriticError: fewer than two titles in train, bad input, a loss that is not finite, SIGTERM.
    """
    prepare_cpu(threads)
    model_dir = Path(model_dir)
    folder = model_dir.parent / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = load_tokenizer(tokenizer_dir)
    encoded = {
        split: encode_sections(iter_articles(path), tokenizer, spec["max_tokens"]) for split, path in splits.items()
    }
    titles = _titles(encoded["train"], splits["train"])
    training = spec["training"]
    weights = init_folder(spec["init"])
    files = {**splits, "tokenizer": tokenizer_dir, **({"init": weights} if weights else {})}
    deciding = {**spec, "training": {k: v for k, v in training.items() if k != "checkpoint_seconds"}}
    with Lock(folder / "lock.json") as lock, terminated() as stop:
        checkpoints = Checkpoints(folder, {"spec": deciding, "files": file_digests(files), "version": version})
        model = load_model(
            AutoModelForSequenceClassification,
            spec["init"],
            tokenizer,
            training["seed"],
            new_head=True,
            **labels_of(titles),
        ).to(device())
        _require_room(model, tokenizer, spec["max_tokens"])
        _Run(model, encoded["train"], titles, tokenizer.pad_token_id, training, checkpoints).train(lock, stop)
        report = {
            split: accuracy(
                titles,
                encoded[split],
                posterior(model, encoded[split], tokenizer.pad_token_id, f"measuring on {split}"),
            )
            for split in ("validation", "test")
        }
        with whole_folder(model_dir) as temporary:
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
        write_json(accuracy_path, {"titles": list(titles), "sections_train": len(encoded["train"].lengths), **report})
        checkpoints.remove()


class _Run:
    """One training: the loop, and the state that a checkpoint holds."""

    def __init__(
        self,
        model: Any,
        sections: Sections,
        titles: tuple[str, ...],
        padding: int,
        training: Mapping[str, Any],
        checkpoints: Checkpoints,
    ) -> None:
        self.model, self.sections, self.padding, self.training = model, sections, padding, training
        self.checkpoints = checkpoints
        number = {title: k for k, title in enumerate(titles)}
        self.labels = torch.tensor([number[str(title)] for title in sections.flat_gold()])
        self.per_epoch = math.ceil(len(self.labels) / training["batch_size"])
        self.total = max(1, round(self.per_epoch * training["epochs"]))
        self.optimiser = optimiser(model, training["learning_rate"], training["weight_decay"])
        self.step = 0
        torch.manual_seed(training["seed"])

    def train(self, lock: Lock, stop: threading.Event) -> None:
        """Run to the last step, and save there: what follows is only measuring."""
        self._resume()
        at, saved = next(self.model.parameters()).device, 0.0
        autocasting = autocast(at, self.training["precision"])
        progress = Progress("training the section classifier", self.total, "steps", self.step)
        self.model.train()
        while True:
            overdue = progress.spent() - saved >= self.training["checkpoint_seconds"]
            if overdue or stop.is_set() or self.step == self.total:
                lock.check()
                saved = progress.spent()
                self._save()
            if stop.is_set():
                raise TextcriticError(
                    f"training the section classifier: stopped by SIGTERM after step {self.step:,} of {self.total:,};"
                    " the checkpoint is saved, rerun to go on from there"
                )
            if self.step == self.total:
                return
            rows = self._rows(self.step)
            batch = {key: value.to(at) for key, value in self.sections.batch(rows, self.padding).items()}
            with autocasting:
                loss = cross_entropy(self.model(**batch).logits.float(), self.labels[torch.from_numpy(rows)].to(at))
            self._update(loss)
            progress.advance(note=f"loss {loss.item():.3f}")

    def _update(self, loss: torch.Tensor) -> None:
        rate = learning_rate(
            self.step,
            self.total,
            self.training["learning_rate"],
            self.training["schedule"],
            self.training["warmup_steps"],
        )
        if not torch.isfinite(loss):
            raise TextcriticError(
                f"training the section classifier: the loss is not finite at step {self.step} (learning rate {rate:g});"
                " lower training.learning_rate"
            )
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1

    def _rows(self, step: int) -> np.ndarray:
        """The sections of a step: a function of (seed, step) alone, so that a resumed run sees the same batches."""
        epoch, index = divmod(step, self.per_epoch)
        if index == 0 or not hasattr(self, "_batches"):
            self._batches = shuffled_batches(
                self.sections.lengths, self.training["batch_size"], self.training["seed"], epoch
            )
        return self._batches[index]

    def _save(self) -> None:
        state = {
            "step": self.step,
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "rng": rng_state(),
        }
        self.checkpoints.save(state, self.step, 0)

    def _resume(self) -> None:
        state = self.checkpoints.load()
        if state is None:
            return
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        set_rng_state(state["rng"])
        self.step = state["step"]


def _require_room(model: Any, tokenizer: Any, max_tokens: int) -> None:
    positions = getattr(model.config, "max_position_embeddings", max_tokens)
    if max_tokens > positions:
        raise TextcriticError(
            f"classifiers: max_tokens: {max_tokens} is more than the encoder's {positions} positions; use at most that"
        )
    if tokenizer.pad_token_id is None:
        raise TextcriticError("classifiers: the tokenizer has no padding token; use an encoder that has one, like BERT")


def _titles(train: Sections, path: str | os.PathLike[str]) -> tuple[str, ...]:
    found = train.flat_gold()
    if None in found:
        raise TextcriticError(
            f"{path}: some sections have no title; a classifier needs a title for each section of train"
        )
    titles = tuple(sorted({str(title) for title in found}))
    if len(titles) < 2:
        raise TextcriticError(
            f"{path}: {len(titles)} section type ({', '.join(titles) or 'none'}); at least two are needed"
        )
    return titles
