"""The paper's training: gradient descent on the log-marginal likelihood, from random tables over all n-grams."""

import math

import numpy as np
import torch
from torch.nn.functional import log_softmax

from textcritic.errors import TextcriticError
from textcritic.generators.encode import block_at
from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.lexicon import Lexicon
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.recursion import log_marginal_of_logs
from textcritic.generators.hsmm.text import Advance, Text, exact_lattices
from textcritic.plan.entries import Hsmm
from textcritic.plan.entries.generators import HsmmTraining
from textcritic.training.checkpoint import State


class Adam:
    """A training by Adam (appendix D); one round is `evaluate_every` updates.

    The parameters are logits: of transitions [K, K], of lengths [K, D], for each length of its n-grams [V_n, K] and of
    the first state [K], all drawn from Xavier's uniform distribution (the published first state is given; here it is
    learnt). At first only the n-grams' logits are trained. The end is not modelled: the model's end is such that
    sequences have as many segments as those of the last round are expected to have.

    With R rows and K states, an update holds about seven tables of [R, K]: the logits, two moments, two for their
    log-probabilities, two for gradients. In the paper's setting that is 45 GB.

    Args:
        lexicon: all segments, with every single token.
        text: the training text.
        entry: how many states, and how it is trained.
        seed: of the first tables and of the order of the sequences.
        device: where it is trained.
    """

    def __init__(self, lexicon: Lexicon, text: Text, entry: Hsmm, seed: int, device: torch.device) -> None:
        self.lexicon, self.text, self.states, self.seed = lexicon, text, entry.states, seed
        self.how = how = entry.training
        self.rows = lexicon.rows(text.tokens, text.offsets)
        self.logits = _first_logits(lexicon, entry.states, seed, device)
        emission = [value for key, value in self.logits.items() if key.startswith("emission")]
        others = [value for key, value in self.logits.items() if not key.startswith("emission")]
        groups = [{"params": emission}, {"params": others}]
        self.optimiser = torch.optim.Adam(groups, lr=how.learning_rate, fused=True)
        self.updates, self.rate, self.transitions, self.best = 0, how.learning_rate, 0.0, math.inf
        self.per_epoch = math.ceil(len(text) / how.batch_size)
        self.pretraining = how.pretraining_epochs * self.per_epoch
        self.total = self.pretraining + how.epochs * self.per_epoch

    @staticmethod
    def plan(training: HsmmTraining, sequences: int) -> tuple[int, int]:
        """The number of rounds, and of sequences in a round, for a text of `sequences` sequences."""
        updates = (training.pretraining_epochs + training.epochs) * math.ceil(sequences / training.batch_size)
        return math.ceil(updates / training.evaluate_every), training.evaluate_every * training.batch_size

    def lattices(self, text: Text) -> list[Lattice]:
        """What a validation sums over: every segmentation, as any state may emit single tokens."""
        return list(exact_lattices(text, self.lexicon, self.states, self.logits["transition"].device))

    def round(self, advance: Advance) -> float:
        """`evaluate_every` updates; returns the mean loss before each, in nats per token.

        Args:
            advance: called with the number of sequences done after each update.
        """
        nll, transitions, tokens, sequences = 0.0, 0.0, 0, 0
        for _ in range(min(self.how.evaluate_every, self.total - self.updates)):
            lattice = self._batch()
            loss, expected = self._update(lattice.to(self.logits["transition"].device))
            nll, transitions = nll + loss, transitions + expected
            tokens, sequences = tokens + int(lattice.tokens.sum()), sequences + len(lattice.tokens)
            advance(len(lattice.tokens))
        self.transitions = transitions / sequences
        return nll / tokens

    def after_validation(self, loss: float) -> bool:
        """Let the learning rate fall if a validation loss is no better than the best; true at the end."""
        if self.updates > self.pretraining and loss >= self.best:
            self.rate = max(self.rate / self.how.decay, self.how.minimum_learning_rate)
        self.best = min(self.best, loss)
        return self.updates >= self.total

    @property
    def model(self) -> HSMM:
        """The current model."""
        with torch.no_grad():
            emission, transition, initial = (table.exp() for table in self._log_tables())
            end = torch.full_like(initial, 1 / (1 + self.transitions))
            return HSMM(self.lexicon, emission, transition, initial, end)

    def state(self) -> State:
        """What a checkpoint holds."""
        numbers = {key: getattr(self, key) for key in ("updates", "rate", "transitions", "best")}
        logits = {key: value.detach() for key, value in self.logits.items()}
        return {**numbers, "logits": logits, "optimiser": self.optimiser.state_dict()}

    def restore(self, state: State) -> None:
        """Go on from a `state`."""
        for key in ("updates", "rate", "transitions", "best"):
            setattr(self, key, state[key])
        with torch.no_grad():
            for key, value in state["logits"].items():
                self.logits[key].copy_(value)
        self.optimiser.load_state_dict(state["optimiser"])

    def _update(self, lattice: Lattice) -> tuple[float, float]:
        """Loss before the update in nats, and expected transitions, both of the whole batch."""
        pretraining = self.updates < self.pretraining
        rates = (self.how.pretraining_learning_rate, 0.0) if pretraining else (self.rate, self.rate)
        for group, rate in zip(self.optimiser.param_groups, rates, strict=True):
            group["lr"] = rate
        tables = self._log_tables()
        tables[1].retain_grad()
        nll = -log_marginal_of_logs(lattice, *tables).sum()
        if not torch.isfinite(nll):
            raise TextcriticError(
                f"update {self.updates + 1:,}: the loss is {nll.item():g}; lower training.learning_rate "
                "(the last checkpoint is kept)"
            )
        (nll / lattice.tokens.sum()).backward()
        assert tables[1].grad is not None  # the expected transitions a token
        transitions = -float(tables[1].grad.sum() * lattice.tokens.sum())
        if pretraining:
            for key, value in self.logits.items():
                if not key.startswith("emission"):
                    value.grad = None
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.updates += 1
        return float(nll.detach()), transitions

    def _batch(self) -> Lattice:
        """The batch of an update: a function of the seed and the update's number."""
        epoch, place = divmod(self.updates, self.per_epoch)
        size = min(self.how.batch_size, len(self.text) - place * self.how.batch_size)
        first = epoch * len(self.text) + place * self.how.batch_size
        chosen = [block_at(self.seed, position, len(self.text)) for position in range(first, first + size)]
        return Lattice.build(self.rows, self.text.offsets, np.array(chosen))

    def _log_tables(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities of segments [R, K], transitions [K, K] and first states [K]."""
        lengths = log_softmax(self.logits["length"], dim=1)
        parts = [
            _log_probabilities(self.logits[f"emission{n}"]) + lengths[:, n - 1]
            for n in range(1, self.lexicon.longest + 1)
            if f"emission{n}" in self.logits
        ]
        transition = log_softmax(self.logits["transition"], dim=1)
        return torch.cat(parts), transition, log_softmax(self.logits["initial"], dim=0)


def _log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Log-softmax over the rows of logits [V, K].

    torch's own takes 419 ms for 250,000 rows of 800 on an H200, forward and backward; this takes 5 ms.
    """
    return logits - logits.logsumexp(dim=0)


def _first_logits(lexicon: Lexicon, states: int, seed: int, device: torch.device) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = {"transition": (states, states), "length": (states, lexicon.longest), "initial": (1, states)}
    shapes |= {f"emission{n}": (len(codes), states) for n, codes in enumerate(lexicon.codes, start=1) if len(codes)}
    logits = {}
    for name, shape in shapes.items():
        value = torch.empty(shape)
        torch.nn.init.xavier_uniform_(value, generator=generator)
        value = value[0] if name == "initial" else value
        logits[name] = value.to(device).requires_grad_()
    for n, codes in enumerate(lexicon.codes, start=1):
        if not len(codes):  # no segment has this length
            logits["length"].data[:, n - 1] = -math.inf
    return logits
