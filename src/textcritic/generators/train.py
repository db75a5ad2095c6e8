"""Train a causal language model on an encoded corpus: one loop, resumable at any moment, exact on the CPU."""

import math
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from textcritic.errors import TextcriticError
from textcritic.files import whole_folder, write_json
from textcritic.generators.blocks import block_at, training_starts, windows
from textcritic.generators.checkpoint import Checkpoints, file_digests, rng_state, set_rng_state, terminated
from textcritic.generators.cpu import prepare_cpu
from textcritic.generators.encode import load_encoded
from textcritic.generators.load import (
    autocast,
    device,
    init_folder,
    load_causal,
    load_tokenizer,
    require_same_tokens,
)
from textcritic.generators.lock import Lock
from textcritic.generators.perplexity import iter_nll
from textcritic.generators.plan import Training, learning_rate
from textcritic.runlog import Progress, log

CURVE_POINTS = 1000  # at most about so many, besides the validations
COUNTERS = ("step", "evaluated", "best_step", "best_loss", "points", "loss_sum", "since_point", "seconds")


def train_causal(
    train_prefix: str | os.PathLike[str],
    validation_prefix: str | os.PathLike[str],
    tokenizer_dir: str | os.PathLike[str],
    init: Mapping[str, Any],
    training: Training,
    seed: int,
    model_dir: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    threads: int | None = None,
    name: str = "generator",
    version: int = 1,
) -> dict[str, Any]:
    """Train, and write the model with the lowest validation loss and the tokenizer as `model_dir`.

    The training stream is cut into blocks of `context` tokens, each predicting the token after it (see `blocks`);
    blocks are shuffled anew each epoch, and the batch of a step depends on (seed, step) alone. State is kept in
    `checkpoints/` beside `model_dir` until the model folder is whole: a rerun after a kill goes on from there, on the
    CPU with exactly the losses and weights of an uninterrupted run. On SIGTERM the step is finished and saved.

    Args:
        train_prefix: encoded training split, see `encode.encode_split`.
        validation_prefix: encoded validation split.
        tokenizer_dir: the encoding's tokenizer.
        init: see `load.load_causal`.
        training: see `plan.Training`.
        seed: of initial weights, dropout and the order of blocks.
        model_dir: folder to write.
        report_path: training.json to write.
        version: of the stage; state that another version left is not taken up.
        threads: CPU threads of torch; None leaves torch's own number.
        name: the generator's name, for progress lines.

    Returns:
        what was written to `report_path`: steps, best_step, validation_loss (nats per token), tokens_seen, parameters,
        curve (mean training loss since the point before, and validation loss where there was a validation), seconds
        and tokens_per_second over all attempts, device.

    Raises:
        TextcriticError: bad input, a loss that is not finite, SIGTERM, or another job that trains this very model.
    """
    prepare_cpu(threads)
    model_dir = Path(model_dir)
    folder = model_dir.parent / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder / "lock.json") as lock, terminated() as stop:
        files = [f"{train_prefix}.tokens.npy", f"{validation_prefix}.tokens.npy"]
        if weights := init_folder(init):
            files.append(str(weights))
        decides = {"training": training.deciding(), "init": dict(init), "seed": seed, "files": file_digests(files)}
        decides["version"] = version
        checkpoints = Checkpoints(folder, decides)
        tokenizer = load_tokenizer(tokenizer_dir)
        if weights:
            require_same_tokens(weights, tokenizer)
        model = load_causal(init, tokenizer, seed, training.context)
        train = _training_stream(train_prefix, training.context, len(tokenizer))
        streams = Streams(train, load_encoded(validation_prefix), tokenizer.eos_token_id)
        report = _Run(name, model, training, seed, streams, checkpoints).train(lock, stop)
        model.load_state_dict(checkpoints.load_best(report["best_step"]))
        with whole_folder(model_dir) as temporary:
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
        write_json(report_path, report)
        checkpoints.remove()
    return report


class Streams(NamedTuple):
    """Tokens and kinds of the two splits, and the id of the end-of-text token."""

    train: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    end: int


class _Run:
    """One training: the loop, and the state that a checkpoint holds."""

    def __init__(
        self,
        name: str,
        model: Any,
        training: Training,
        seed: int,
        streams: Streams,
        checkpoints: Checkpoints,
    ) -> None:
        self.name, self.training, self.seed = name, training, seed
        self.tokens, self.validation, self.checkpoints = streams.train[0], streams.validation[0], checkpoints
        self.device = device()
        self.model = model.to(self.device)
        self.autocast = autocast(self.device, training.precision)
        self.starts = training_starts(*streams.train, streams.end, training.context, training.blocks)
        self.blocks = len(self.starts)
        self.total = training.total_steps(self.blocks)
        self.evaluate_every = training.evaluate_every or training.steps_of(1, self.blocks)
        self.tokens_per_step = training.batch_size * training.accumulation * training.context
        cut = windows(*streams.validation, streams.end, training.context, training.blocks)
        self.windows = cut[: training.evaluate_blocks]
        if training.activation_checkpointing:
            model.activation_checkpointing_enable()
        self.optimiser = optimiser(model, training.learning_rate, training.weight_decay, training.adam_beta2)
        self.step = self.evaluated = self.best_step = self.points = self.since_point = 0
        self.best_loss, self.loss_sum, self.seconds = math.inf, 0.0, 0.0
        torch.manual_seed(seed)

    def train(self, lock: Lock, stop: threading.Event) -> dict[str, Any]:
        """Run to the last step and report; see `train_causal`."""
        self._resume()
        progress = Progress(f"training {self.name}", self.total, "steps", self.step)
        spent_before, saved = self.seconds, 0.0
        while True:
            validated = self._validation_is_due() and self._validate(stop)
            overdue = progress.spent() - saved >= self.training.checkpoint_seconds
            if validated or overdue or stop.is_set():
                lock.check()
                self.seconds = spent_before + progress.spent()
                self._save()
                saved = progress.spent()
            if stop.is_set():
                raise TextcriticError(
                    f"training {self.name}: stopped by SIGTERM after step {self.step:,} of {self.total:,}; "
                    "the checkpoint is saved, rerun to go on from there"
                )
            if self.step == self.total:
                return self._report()
            loss = self._one_step()
            progress.advance(note=f"loss {loss:.3f}, {progress.rate * self.tokens_per_step:,.0f} tokens/s")

    def _one_step(self) -> float:
        """One optimiser step; returns its mean loss in nats per token."""
        training = self.training
        rate = learning_rate(self.step, self.total, training.learning_rate, training.schedule, training.warmup_steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.model.train()
        loss = 0.0
        for part in range(training.accumulation):
            inputs, targets = self._batch(self.step * training.accumulation + part)
            with self.autocast:
                logits = self.model(input_ids=inputs, use_cache=False).logits
            part_loss = cross_entropy(logits.float().flatten(0, 1), targets.flatten()) / training.accumulation
            part_loss.backward()
            loss += part_loss.item()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), training.gradient_clip or math.inf)
        if not math.isfinite(loss) or not torch.isfinite(norm):
            raise TextcriticError(
                f"training {self.name}: loss {loss:g}, gradient norm {norm.item():g} at step {self.step + 1:,} with "
                f"learning rate {rate:g}; lower training.learning_rate (the last checkpoint is kept)"
            )
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        self.loss_sum, self.since_point = self.loss_sum + loss, self.since_point + 1
        if self.step % max(1, self.total // CURVE_POINTS) == 0 and not self._validation_is_due():
            self._record()
        return loss

    def _batch(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs and targets [batch_size, context] of forward pass `number`: a function of the seed and the number."""
        context, size = self.training.context, self.training.batch_size
        starts = [self.starts[block_at(self.seed, number * size + row, self.blocks)] for row in range(size)]
        rows = np.stack([self.tokens[start : start + context + 1] for start in starts]).astype(np.int64)
        batch = torch.from_numpy(rows).to(self.device, non_blocking=True)
        return batch[:, :-1], batch[:, 1:]

    def _validation_is_due(self) -> bool:
        due = self.step % self.evaluate_every == 0 or self.step == self.total
        return due and self.step > self.evaluated

    def _validate(self, stop: threading.Event) -> bool:
        """Validate, and keep the weights if they are the best so far; False when abandoned because of `stop`."""
        losses = []
        for _, nll in iter_nll(self.model, self.validation, self.windows, self.training.batch_size, self.autocast):
            if stop.is_set():
                return False
            losses.append(nll)
        loss = float(np.concatenate(losses).mean())
        if not math.isfinite(loss):
            raise TextcriticError(
                f"training {self.name}: validation loss {loss:g} after step {self.step:,}; lower "
                "training.learning_rate (the last checkpoint is kept)"
            )
        self.evaluated = self.step
        if loss < self.best_loss:
            self.best_loss, self.best_step = loss, self.step
            self.checkpoints.save_best(self.model.state_dict(), self.step)
        self._record(validation_loss=loss)
        log.info("training %s: validation loss %.4f after step %d", self.name, loss, self.step)
        return True

    def _record(self, **more: float) -> None:
        """Add a point to the curve: the mean training loss since the last one."""
        self.checkpoints.record({"step": self.step, "train_loss": self.loss_sum / self.since_point, **more})
        self.points, self.loss_sum, self.since_point = self.points + 1, 0.0, 0

    def _save(self) -> None:
        state = {key: getattr(self, key) for key in COUNTERS} | {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "rng": rng_state(),
        }
        self.checkpoints.save(state, self.step, self.best_step)

    def _resume(self) -> None:
        """Take up the newest checkpoint, if there is one."""
        if state := self.checkpoints.load():
            for key in COUNTERS:
                setattr(self, key, state[key])
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            set_rng_state(state["rng"])
        self.checkpoints.rewind_curve(self.points)

    def _report(self) -> dict[str, Any]:
        tokens_seen = self.step * self.tokens_per_step
        return {
            "steps": self.step,
            "best_step": self.best_step,
            "validation_loss": self.best_loss,
            "tokens_seen": tokens_seen,
            "parameters": self.model.num_parameters(),
            "curve": self.checkpoints.curve(),
            "seconds": round(self.seconds, 1),
            "tokens_per_second": round(tokens_seen / max(self.seconds, 1e-9), 1),
            "device": torch.cuda.get_device_name() if self.device.type == "cuda" else "cpu",
        }


def optimiser(
    model: torch.nn.Module, learning_rate: float, weight_decay: float, beta2: float = 0.999
) -> torch.optim.AdamW:
    """Adam with decoupled weight decay on matrices; biases and norms are not decayed."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, beta2), fused=True)


def _training_stream(prefix: str | os.PathLike[str], context: int, vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    tokens, kinds = load_encoded(prefix)
    if len(tokens) <= context:
        raise TextcriticError(
            f"{prefix}.tokens.npy: {len(tokens)} tokens are less than one block; lower training.context ({context}) "
            "or give more text"
        )
    if tokens.max() >= vocabulary:
        raise TextcriticError(
            f"{prefix}.tokens.npy: holds token {tokens.max()}, the tokenizer has {vocabulary}; rerun the encoding"
        )
    return tokens, kinds
