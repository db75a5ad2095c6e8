"""What the training of a causal language model does at each step, alone or among several processes."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from textcritic.generators.encode import block_at, training_starts, windows
from textcritic.generators.perplexity import iter_nll
from textcritic.plan.entries.generators import CausalTraining
from textcritic.training.gradient import GradientJob
from textcritic.training.hardware import brought, card_name, flops_per_token, in_bf16, utilisation
from textcritic.training.loop import Loop
from textcritic.training.processes import Ranks
from textcritic.values import JsonObject

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Streams(NamedTuple):
    """Tokens and kinds of the two splits, and the id of the end-of-text token."""

    train: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    end: int


class CausalJob(GradientJob):
    """The training of one causal language model.

    Args:
        name: the generator's, for progress and error lines.
        model: on the CPU; it is moved, and trained in place.
        training: its settings; each process computes its share of the blocks of every forward pass.
        seed: of dropout and the order of blocks.
        streams: the encoded splits.
        ranks: this process among those that train.
    """

    model: "PreTrainedModel"

    def __init__(
        self, name: str, model: "PreTrainedModel", training: CausalTraining, seed: int, streams: Streams, ranks: Ranks
    ) -> None:
        super().__init__(name, model, training, seed, ranks)
        self.training = training
        self.tokens, self.validation = streams.train[0], streams.validation[0]
        self.starts = training_starts(*streams.train, streams.end, training.context, training.blocks)
        self.blocks = len(self.starts)
        self.steps = self.work = training.total_steps(lambda epochs: training.steps_of(epochs, self.blocks))
        self.evaluate_every = training.evaluate_every or training.steps_of(1, self.blocks)
        self.tokens_per_step = training.batch_size * training.accumulation * training.context
        cut = windows(*streams.validation, streams.end, training.context, training.blocks)
        self.windows = cut[: training.evaluate_blocks]
        if training.activation_checkpointing:
            model.activation_checkpointing_enable()
        self.forward = ranks.wrap(self.model)

    def backward(self, loop: Loop) -> torch.Tensor:
        """The mean loss over the tokens of a step."""
        training = self.training

        def loss_of(number: int) -> torch.Tensor:
            inputs, targets = self._batch(number)
            with self.autocast:
                logits = self.forward(input_ids=inputs, use_cache=False).logits
            return cross_entropy(logits.float().flatten(0, 1), targets.flatten()) / training.accumulation

        first = loop.step * training.accumulation
        return self.accumulated(range(first, first + training.accumulation), loss_of)

    def note(self, loop: Loop) -> str:
        """Tokens per second."""
        return f"{loop.rate * self.tokens_per_step:,.0f} tokens/s"

    def validate(self, loop: Loop) -> float | None:
        """Nats per token, each process on its share of the windows."""
        total, count, batch = 0.0, 0.0, self.training.batch_size // self.ranks.size
        for _, nll in iter_nll(self.model, self.validation, self.ranks.part(self.windows), batch, self.autocast):
            if loop.stopping():
                break
            total, count = total + float(nll.sum()), count + len(nll)
        return self.mean_over_ranks(loop, total, count)

    def report(self, loop: Loop) -> JsonObject:
        """The training's report, see `train.train_causal`."""
        tokens_seen = loop.step * self.tokens_per_step
        speed = tokens_seen / max(loop.stepping, 1e-9)
        flops = flops_per_token(self.model, self.training.context)
        card = card_name(self.device)
        bf16 = in_bf16(self.device, self.training.precision)
        share = utilisation(speed * flops, card, self.ranks.size) if bf16 and len(self.ran_on) == 1 else None
        return {
            "steps": loop.step,
            "best_step": loop.best_step,
            "validation_loss": loop.best_loss,
            "tokens_seen": tokens_seen,
            "parameters": self.model.num_parameters(),
            "curve": loop.curve(),
            "seconds": round(loop.seconds, 1),
            "tokens_per_second": round(speed, 1),
            "flops_per_token": flops,
            "mfu": None if share is None else round(share, 4),
            "device": card,
            "processes": self.ranks.size,
        }

    def _batch(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs and targets [batch_size / ranks, context] of forward pass `number`: of the seed and the number."""
        context, size = self.training.context, self.training.batch_size
        share = self.ranks.part(range(size))
        starts = [self.starts[block_at(self.seed, number * size + row, self.blocks)] for row in share]
        batch = torch.from_numpy(np.stack([self.tokens[start : start + context + 1] for start in starts]))
        batch = brought(batch, self.device).long()
        return batch[:, :-1], batch[:, 1:]
