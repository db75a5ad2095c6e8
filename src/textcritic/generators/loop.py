"""The training loop: steps, validations and checkpoints of one process, alone or among several that share the work."""

import math
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from textcritic.errors import TextcriticError
from textcritic.generators.blocks import block_at, training_starts, windows
from textcritic.generators.checkpoint import Checkpoints, load_state, rng_state, set_rng_state
from textcritic.generators.load import autocast, device, in_bf16
from textcritic.generators.lock import Lock
from textcritic.generators.perplexity import iter_nll
from textcritic.generators.plan import Training, learning_rate
from textcritic.generators.ranks import Ranks
from textcritic.generators.throughput import card_name, flops_per_token, utilisation
from textcritic.runlog import Progress, log

CURVE_POINTS = 1000  # at most about so many, besides the validations
COUNTERS = ("step", "evaluated", "best_step", "best_loss", "points", "loss_sum", "since_point", "seconds", "stepping")


class Streams(NamedTuple):
    """Tokens and kinds of the two splits, and the id of the end-of-text token."""

    train: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    end: int


class _Pending(NamedTuple):
    """Loss and gradient norm [2] of a step, on their way from the GPU."""

    step: int
    rate: float
    values: torch.Tensor
    ready: torch.cuda.Event | None


class Run:
    """One training: the loop, and the state that a checkpoint holds.

    Args:
        name: the generator's, for progress and error lines.
        model: on the CPU; it is moved, and trained in place.
        training: see `plan.Training`; each process computes its share of the blocks of every forward pass.
        seed: of dropout and the order of blocks.
        streams: the encoded splits.
        folder: where checkpoints are.
        ranks: this process among those that train.
        checkpoints: the folder's, in the process that leads; None in the others.
    """

    def __init__(
        self,
        name: str,
        model: Any,
        training: Training,
        seed: int,
        streams: Streams,
        folder: Path,
        ranks: Ranks,
        checkpoints: Checkpoints | None,
    ) -> None:
        self.name, self.training, self.seed, self.folder = name, training, seed, folder
        self.ranks, self.checkpoints = ranks, checkpoints
        self.tokens, self.validation = streams.train[0], streams.validation[0]
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
        self.forward = ranks.wrap(self.model)
        self.step = self.evaluated = self.best_step = self.points = self.since_point = 0
        self.best_loss, self.loss_sum, self.seconds = math.inf, 0.0, 0.0
        self.stepping = 0.0  # seconds of the steps alone, from one that has been waited for to another
        self.ran_on = [(card_name(self.device), ranks.size)]
        self.loss: float | None = None
        self.pending: _Pending | None = None
        self._seed_dropout()

    def train(self, lock: Lock | None, stop: threading.Event) -> dict[str, Any]:
        """Run to the last step and report; see `train.train_causal`."""
        self._resume()
        progress = Progress(f"training {self.name}", self.total, "steps", self.step)
        spent_before, saved, began = self.seconds, 0.0, 0.0
        while True:
            due = self._validation_is_due(self.step)
            late = self.ranks.leads and progress.spent() - saved >= self.training.checkpoint_seconds
            stopped, overdue = self.ranks.any(stop.is_set(), late)
            if due or stopped or overdue:
                self._settle()
                self.stepping += progress.spent() - began
                validated = due and self._validate(stop)
                (stopped,) = self.ranks.any(stop.is_set())
                if validated or stopped or overdue:
                    self.seconds, saved = spent_before + progress.spent(), progress.spent()
                    self._save(lock)
                began = progress.spent()
            if stopped:
                raise TextcriticError(
                    f"training {self.name}: stopped by SIGTERM after step {self.step:,} of {self.total:,}; "
                    "the checkpoint is saved, rerun to go on from there"
                )
            if self.step == self.total:
                return self._report()
            self._one_step()
            loss = "" if self.loss is None else f"loss {self.loss:.3f}, "
            progress.advance(note=f"{loss}{progress.rate * self.tokens_per_step:,.0f} tokens/s")

    def _one_step(self) -> None:
        """Start one optimiser step; its loss is read after the next has been started, so that no GPU waits for it."""
        training = self.training
        rate = learning_rate(self.step, self.total, training.learning_rate, training.schedule, training.warmup_steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.model.train()
        loss = torch.zeros((), device=self.device)
        for part in range(training.accumulation):
            inputs, targets = self._batch(self.step * training.accumulation + part)
            with self.ranks.averaging(self.forward, last=part == training.accumulation - 1):
                with self.autocast:
                    logits = self.forward(input_ids=inputs, use_cache=False).logits
                part_loss = cross_entropy(logits.float().flatten(0, 1), targets.flatten()) / training.accumulation
                part_loss.backward()
            loss += part_loss.detach()
        self.ranks.mean_(loss)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), training.gradient_clip or math.inf)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        self._settle()
        self.pending = self._send(rate, torch.stack([loss, norm]))

    def _batch(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs and targets [batch_size / ranks, context] of forward pass `number`: of the seed and the number."""
        context, size = self.training.context, self.training.batch_size
        share = self.ranks.part(range(size))
        starts = [self.starts[block_at(self.seed, number * size + row, self.blocks)] for row in share]
        batch = torch.from_numpy(np.stack([self.tokens[start : start + context + 1] for start in starts]))
        if self.device.type == "cuda":
            batch = batch.pin_memory().to(self.device, non_blocking=True)
        batch = batch.long()
        return batch[:, :-1], batch[:, 1:]

    def _send(self, rate: float, values: torch.Tensor) -> _Pending:
        if self.device.type != "cuda":
            return _Pending(self.step, rate, values, None)
        sent = values.to("cpu", non_blocking=True)
        ready = torch.cuda.Event()
        ready.record()
        return _Pending(self.step, rate, sent, ready)

    def _settle(self) -> None:
        """Take the loss of the last step that was started, if it is not yet taken, into the curve."""
        if self.pending is None:
            return
        step, rate, values, ready = self.pending
        if ready is not None:
            ready.synchronize()
        loss, norm = values.tolist()
        self.pending = None
        if not math.isfinite(loss) or not math.isfinite(norm):
            raise TextcriticError(
                f"training {self.name}: loss {loss:g}, gradient norm {norm:g} at step {step:,} with "
                f"learning rate {rate:g}; lower training.learning_rate (the last checkpoint is kept)"
            )
        self.loss, self.loss_sum, self.since_point = loss, self.loss_sum + loss, self.since_point + 1
        if step % max(1, self.total // CURVE_POINTS) == 0 and not self._validation_is_due(step):
            self._record(step)

    def _validation_is_due(self, step: int) -> bool:
        return (step % self.evaluate_every == 0 or step == self.total) and step > self.evaluated

    def _validate(self, stop: threading.Event) -> bool:
        """Validate, and keep the weights if they are the best so far; False when abandoned because of `stop`."""
        total, count, batch = 0.0, 0.0, self.training.batch_size // self.ranks.size
        for _, nll in iter_nll(self.model, self.validation, self.ranks.part(self.windows), batch, self.autocast):
            if stop.is_set():
                break
            total, count = total + float(nll.sum()), count + len(nll)
        (abandoned,) = self.ranks.any(stop.is_set())
        if abandoned:
            return False
        total, count = self.ranks.sum(total, count)
        loss = total / count
        if not math.isfinite(loss):
            raise TextcriticError(
                f"training {self.name}: validation loss {loss:g} after step {self.step:,}; lower "
                "training.learning_rate (the last checkpoint is kept)"
            )
        self.evaluated = self.step
        if loss < self.best_loss:
            self.best_loss, self.best_step = loss, self.step
            if self.checkpoints:
                self.checkpoints.save_best(self.model.state_dict(), self.step)
        self._record(self.step, validation_loss=loss)
        log.info("training %s: validation loss %.4f after step %d", self.name, loss, self.step)
        return True

    def _record(self, step: int, **more: float) -> None:
        """Add a point to the curve: the mean training loss since the last one."""
        if self.checkpoints:
            self.checkpoints.record({"step": step, "train_loss": self.loss_sum / self.since_point, **more})
        self.points, self.loss_sum, self.since_point = self.points + 1, 0.0, 0

    def _save(self, lock: Lock | None) -> None:
        """Save the state after the last step; every process waits until it is on disk."""
        rng = self.ranks.gather(rng_state())
        if self.checkpoints and lock:
            lock.check()
            state = {key: getattr(self, key) for key in COUNTERS} | {
                "model": self.model.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "rng": rng,
                "ran_on": self.ran_on,
            }
            self.checkpoints.save(state, self.step, self.best_step)
        self.ranks.share()

    def _resume(self) -> None:
        """Take up the newest checkpoint, if there is one; one process after the other, as a state can be large."""
        state = self.checkpoints.load() if self.checkpoints else None
        found = self.ranks.share(state and (state["step"], state["best_step"]))
        for turn in range(self.ranks.size if found else 0):
            if turn == self.ranks.rank:
                self._restore(state or load_state(self.folder, *found))
                state = None
            self.ranks.share()
        if self.checkpoints:
            self.checkpoints.rewind_curve(self.points)

    def _restore(self, state: dict[str, Any]) -> None:
        for key in COUNTERS:
            setattr(self, key, state[key])
        self.ran_on += [on for on in state["ran_on"] if on not in self.ran_on]
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        before, now = len(state["rng"]), self.ranks.size
        if before == now:
            set_rng_state(state["rng"][self.ranks.rank])
        else:
            log.info("%d processes trained before, %d go on: dropout is drawn from new streams", before, now)
            self._seed_dropout()

    def _seed_dropout(self) -> None:
        """Each process has a stream of its own; that of the first process, from the start, is the seed's."""
        number = (self.seed, self.ranks.rank, self.step)
        derived = int(np.random.SeedSequence(number).generate_state(1, np.uint64)[0] >> 1)
        torch.manual_seed(derived if any(number[1:]) else self.seed)

    def _report(self) -> dict[str, Any]:
        tokens_seen = self.step * self.tokens_per_step
        speed = tokens_seen / max(self.stepping, 1e-9)
        flops = flops_per_token(self.model, self.training.context)
        card = card_name(self.device)
        bf16 = in_bf16(self.device, self.training.precision)
        share = utilisation(speed * flops, card, self.ranks.size) if bf16 and len(self.ran_on) == 1 else None
        return {
            "steps": self.step,
            "best_step": self.best_step,
            "validation_loss": self.best_loss,
            "tokens_seen": tokens_seen,
            "parameters": self.model.num_parameters(),
            "curve": self.checkpoints.curve() if self.checkpoints else [],
            "seconds": round(self.seconds, 1),
            "tokens_per_second": round(speed, 1),
            "flops_per_token": flops,
            "mfu": None if share is None else round(share, 4),
            "device": card,
            "processes": self.ranks.size,
        }


def optimiser(
    model: torch.nn.Module, learning_rate: float, weight_decay: float, beta2: float = 0.999
) -> torch.optim.AdamW:
    """Adam with decoupled weight decay on matrices; biases and norms are not decayed."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, beta2), fused=True)
