"""Texts drawn from an RNNG with their trees, many at once."""

from typing import TYPE_CHECKING

import torch

from textcritic.corpora.structured.texts import REDUCE, SHIFT, Structured

if TYPE_CHECKING:
    from textcritic.generators.latent.rnng.model import RNNG

TEXTS_AT_ONCE = 256


@torch.no_grad()
def draw_texts(model: "RNNG", count: int, longest: int, generator: torch.Generator) -> list[Structured]:
    """Draw texts and trees step by step, as the model writes them; `rnng-NUMBER` from 0 on.

    After `longest` words nothing more is shifted: what is on the stack is reduced, and the text is over. With end
    `stop` texts mostly end before, by themselves; with the others this is how every text ends, and with `length` the
    draws are exactly from p(x, z | n = longest).
    """
    was_training = model.training
    model.eval()
    drawn: list[tuple[list[int], list[int]]] = []
    while len(drawn) < count:
        drawn += _Drawing(model, min(TEXTS_AT_ONCE, count - len(drawn)), longest, generator).run()
    model.train(was_training)
    words = model.vocabulary.words
    return [
        Structured(f"rnng-{number}", tuple(words[word] for word in numbers), tuple(actions))
        for number, (numbers, actions) in enumerate(drawn)
    ]


class _Drawing:
    """Some texts that are being drawn; tensors have a row for each, and a place for each element of its stack."""

    def __init__(self, model: "RNNG", count: int, longest: int, generator: torch.Generator) -> None:
        self.model, self.longest, self.generator = model, longest, generator
        empty = model.stack.empty()
        self.states = empty.new_zeros(count, longest + 1, *empty.shape[1:])
        self.states[:, 0] = empty
        self.subtrees = empty.new_zeros(count, longest + 1, *empty.shape[2:])
        self.height = torch.zeros(count, dtype=torch.int64)
        self.shifted = torch.zeros(count, dtype=torch.int64)
        self.texts: list[tuple[list[int], list[int]]] = [([], []) for _ in range(count)]

    def run(self) -> list[tuple[list[int], list[int]]]:
        """Words by number and actions of each text."""
        rows = torch.arange(len(self.texts))
        while len(rows):
            rows = self._step(rows)
        return self.texts

    def _step(self, rows: torch.Tensor) -> torch.Tensor:
        """One action of each of these texts; those that go on."""
        model, device = self.model, self.model.device
        height, full = self.height[rows], self.shifted[rows] == self.longest
        tops = self.states[rows.to(device), height.to(device), -1, 0]
        chances = model.choices(tops).double().sigmoid().cpu()
        first, second = self._uniforms(len(rows)), self._uniforms(len(rows))
        ends = (height == 1) & (full | ((first < chances[:, 1]) & (model.end == "stop")))
        reduces = (height >= 2) & (full | (first < chances[:, 0]))
        shifts = ~ends & ~reduces
        for row in rows[reduces].tolist():
            self.texts[row][1].append(REDUCE)
        self._reduce(rows[reduces])
        if shifts.any():
            self._shift(rows[shifts], tops[shifts.to(device)], second[shifts])
        return rows[~ends]

    def _reduce(self, rows: torch.Tensor) -> None:
        if not len(rows):
            return
        at, top = rows.to(self.model.device), self.height[rows].to(self.model.device)
        self.height[rows] -= 1
        self._push(rows, self.model.composition(self.subtrees[at, top - 1], self.subtrees[at, top]))

    def _shift(self, rows: torch.Tensor, tops: torch.Tensor, uniforms: torch.Tensor) -> None:
        steps = self.model.logits(tops).double().softmax(1).cumsum(1)
        targets = uniforms.to(steps.device)[:, None] * steps[:, -1:]
        words = torch.searchsorted(steps, targets, right=True)[:, 0].clamp(max=steps.shape[1] - 1)
        self.height[rows] += 1
        self.shifted[rows] += 1
        for row, word in zip(rows.tolist(), words.tolist(), strict=True):
            self.texts[row][0].append(word)
            self.texts[row][1].append(SHIFT)
        leaves = self.model.words(words)
        self._push(rows, torch.stack([leaves, torch.zeros_like(leaves)], 1))

    def _push(self, rows: torch.Tensor, subtrees: torch.Tensor) -> None:
        """Put subtrees where `height` now is, and read them."""
        at, top = rows.to(self.model.device), self.height[rows].to(self.model.device)
        self.subtrees[at, top] = subtrees
        self.states[at, top] = self.model.stack(subtrees[:, 0], self.states[at, top - 1])

    def _uniforms(self, count: int) -> torch.Tensor:
        numbers = torch.rand(count, dtype=torch.float64, generator=self.generator, device=self.generator.device)
        return numbers.cpu()
