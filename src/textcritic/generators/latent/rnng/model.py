"""RNNG: a language model p(x, z) of words x and a binary tree z over them, by a stack that is read by an LSTM.

A text is written from left to right by SHIFT, which writes a word and puts it on a stack, and REDUCE, which makes one
element of the two on top (Dyer et al. 2016; without labels: Kim et al. 2019, section 2). The top of the stack, as the
stack LSTM has read it, gives the probabilities of the action and of the word. With less than two elements REDUCE is not
possible. What sums to one depends on the setting `end`:

* `stop` (the default): where the stack has one element, the choice is between SHIFT and the end of the text. p(x, z)
  sums to one over all texts of all lengths and their trees (if the model ends at all): the length is predicted too.
* `length`: the number of words is given. SHIFT is not possible after the last word, so the last REDUCEs cost nothing.
  p(x, z | n) sums to one over all texts of n words and their trees.
* `as_released` (harvardnlp/urnng): the end is not predicted: SHIFT costs nothing on a stack of one, and the text is
  over when the tree is whole after n words. But n is not used either: the last REDUCEs are paid for, though nothing
  else is possible after the last word. The sum over the texts of n words is less than one: perplexities are too high.
  Probabilities of actions are clamped to [1e-7, 1 - 1e-7], as there.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from textcritic.corpora.structured.texts import REDUCE, SHIFT, Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.model import LatentModel
from textcritic.generators.latent.rnng.stacks import PAD, Ints, Sharing, Steps
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import RnngModel

CLAMP = 1e-7
FIRST_WEIGHT, FIRST_WIDTH = 0.1, 650
STEPS_AT_ONCE = 60_000  # steps of all trees of a pass: keeps it to some hundred MB
ROWS_AT_ONCE = 256  # of words' probabilities: they stay in the cache


class RNNG(LatentModel[RnngModel, torch.Tensor]):
    """See the module.

    Settings: `hidden` (width of words, subtrees and each layer), `layers`, `dropout`, `tied` (the table of words that
    are read is that of words that are written), `end` (see above), and `count_end`: whether the end of a text counts in
    T. Without it, as in urnng, T is the number of words.
    """

    kind, form = "rnng", RnngModel

    def __init__(self, settings: RnngModel, vocabulary: Vocabulary) -> None:
        super().__init__(settings, vocabulary)
        if settings.count_end and settings.end != "stop":
            raise TextcriticError(f"model.count_end: with end {settings.end} no end is predicted; set it to false")
        width, words = settings.hidden, len(vocabulary)
        self.end = settings.end
        self.words = torch.nn.Embedding(words, width)
        self.stack = StackCell(width, settings.layers, settings.dropout)
        self.composition = Composition(width)
        self.dropout = torch.nn.Dropout(settings.dropout)
        self.choices = torch.nn.Linear(width, 2)  # REDUCE against SHIFT; the end against SHIFT
        self.bias = torch.nn.Parameter(torch.zeros(words))
        # Tied rows belong to `words`: a tensor under two names is not saved.
        self.written = None if settings.tied else torch.nn.Parameter(torch.zeros(words, width))
        # At the width of the released code its own range; smaller models would begin too flat with it.
        most = FIRST_WEIGHT * (FIRST_WIDTH / width) ** 0.5
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -most, most)

    @property
    def ends(self) -> bool:
        """See `LatentModel.ends`: with `end: stop`."""
        return self.end == "stop"

    def counted(self, text: Structured) -> int:
        """T: the words, and with `count_end` one for the end."""
        return len(text.tokens) + self.settings.count_end

    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """-log p(x, z) of each text with its tree, in nats [texts], see `Learner`."""
        return -torch.cat(self._scores(texts, [self.states_of(text) for text in texts]))

    def log_joint(self, text: Structured, states: torch.Tensor) -> torch.Tensor:
        """The log p(x, z) of a text with each of K trees [K, 2n - 1]: float64 [K].

        Raises:
            TextcriticError: a row is not a tree over the words.
        """
        return self.log_joints([text], [states])[0]

    @torch.no_grad()
    def log_joints(self, texts: Sequence[Structured], states: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """`log_joint` of several texts, each with trees of its own, in few passes."""
        parts: list[list[torch.Tensor]] = [[] for _ in texts]
        waiting: list[int] = []
        steps = 0
        pieces: list[torch.Tensor] = []

        def score() -> None:
            for n, scores in zip(waiting, self._scores([texts[n] for n in waiting], pieces), strict=True):
                parts[n].append(scores)

        for n, trees in enumerate(states):
            most = max(1, STEPS_AT_ONCE // trees.shape[1])
            for piece in trees.split(most):
                if waiting and steps + piece.numel() > STEPS_AT_ONCE:
                    score()
                    waiting, pieces, steps = [], [], 0
                waiting.append(n)
                pieces.append(piece)
                steps += piece.numel()
        if waiting:
            score()
        return [torch.cat(some).cpu() for some in parts]

    def states_of(self, text: Structured) -> torch.Tensor:
        """The tree that a text has, int8 [1, 2n - 1]."""
        if not text.actions:
            raise TextcriticError(f"{text.id}: has no tree; an RNNG is trained on texts with trees")
        return torch.tensor([text.actions], dtype=torch.int8)

    def logits(self, tops: torch.Tensor) -> torch.Tensor:
        """Of the next word, [stacks, words], by the output of the stack LSTM [stacks, width]."""
        return functional.linear(tops, self.words.weight if self.written is None else self.written, self.bias)

    @property
    def why_inexact(self) -> str:
        """With the released end, reducing at the end of a text is weighed and not drawn."""
        return "the model has the end `as_released`" if self.end == "as_released" else ""

    def sample(self, count: int, longest: int, generator: torch.Generator) -> list[Structured]:
        """See `draw_texts`; with an `end` other than `stop` all texts have `longest` words."""
        return draw_texts(self, count, longest, generator)

    def _scores(self, texts: Sequence[Structured], states: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The log p(x, z) of the trees of each text, float64, with gradients."""
        lengths = np.array([len(text.tokens) for text in texts])
        counts = [len(trees) for trees in states]
        owner = np.repeat(np.arange(len(texts)), counts)
        for text, trees in zip(texts, states, strict=True):
            if trees.shape[1] != 2 * len(text.tokens) - 1:
                raise TextcriticError(
                    f"{text.id}: trees of {trees.shape[1]} actions do not fit {len(text.tokens)} words"
                )
        actions = np.full((len(owner), 2 * int(lengths.max()) - 1), PAD, np.int64)
        row = 0
        for trees in states:
            actions[row : row + len(trees), : trees.shape[1]] = trees.cpu().numpy()
            row += len(trees)
        steps = Steps.of(actions, lengths[owner])
        first = np.cumsum(lengths) - lengths
        sharing = Sharing.of(steps, first[owner])
        tokens = torch.cat([self.vocabulary.encode(text.tokens) for text in texts]).to(self.device)
        tops = self._tops(tokens, sharing)
        scores = self._words(tops, tokens, steps, sharing, first[owner]) + self._actions(tops, steps, sharing)
        return list(scores.split(counts))

    def _tops(self, tokens: torch.Tensor, sharing: Sharing) -> torch.Tensor:
        """The output of the stack LSTM on each different stack, [stacks, width]."""
        move = lambda numbers: torch.from_numpy(numbers).to(self.device)  # noqa: E731
        words = self.words(tokens)
        subtrees = torch.stack([words, torch.zeros_like(words)], 1)
        for left, right in sharing.subtrees:
            subtrees = torch.cat([subtrees, self.composition(subtrees[move(left)], subtrees[move(right)])])
        state = self.stack.empty()
        tops = [state[:, -1, 0]]
        for below, subtree in sharing.stacks:
            state = self.stack(subtrees[move(subtree), 0], state[move(below)])
            tops.append(state[:, -1, 0])
        return self.dropout(torch.cat(tops))

    def _words(
        self, tops: torch.Tensor, tokens: torch.Tensor, steps: Steps, sharing: Sharing, first: Ints
    ) -> torch.Tensor:
        """The log-probability of each tree's words, float64 [trees]."""
        rows, columns = np.nonzero(steps.actions == SHIFT)
        word = first[rows] + steps.start[rows, columns]
        keys, inverse = np.unique(_stack_before(sharing.stack)[rows, columns] * len(tokens) + word, return_inverse=True)
        stacks, words = (torch.from_numpy(part).to(self.device) for part in (keys // len(tokens), keys % len(tokens)))
        values = torch.cat(
            [
                -functional.cross_entropy(self.logits(tops[some]), tokens[of], reduction="none").double()
                for some, of in zip(stacks.split(ROWS_AT_ONCE), words.split(ROWS_AT_ONCE), strict=True)
            ]
        )
        return self._sum(values, inverse, rows, len(steps.actions))

    def _actions(self, tops: torch.Tensor, steps: Steps, sharing: Sharing) -> torch.Tensor:
        """The log-probability of each tree's actions, and of its end, float64 [trees]."""
        reduce, stop = self.choices(tops).double().unbind(1)
        real, before, trees = steps.actions != PAD, steps.before, len(steps.actions)
        free = real & (before >= 2)
        if self.end == "length":
            words = steps.end.max(axis=1, keepdims=True) + 1
            free &= _shifted_before(steps.actions) < words
        log_p = functional.logsigmoid(torch.cat([-reduce, reduce]))
        if self.end == "as_released":
            log_p = torch.cat([-reduce, reduce]).sigmoid().clamp(CLAMP, 1 - CLAMP).log()
        rows, columns = np.nonzero(free)
        at = _stack_before(sharing.stack)[rows, columns] + len(tops) * (steps.actions[rows, columns] == REDUCE)
        scores = self._sum(log_p, at, rows, trees)
        if self.end == "stop":
            log_end = functional.logsigmoid(torch.cat([-stop, stop]))
            rows, columns = np.nonzero(real & (before == 1))
            scores = scores + self._sum(log_end, _stack_before(sharing.stack)[rows, columns], rows, trees)
            last = real.sum(axis=1) - 1
            rows = np.arange(trees)
            scores = scores + self._sum(log_end, len(tops) + sharing.stack[rows, last], rows, trees)
        return scores

    def _sum(self, values: torch.Tensor, at: Ints, rows: Ints, trees: int) -> torch.Tensor:
        """Sums over the steps of each tree of `values[at]`, float64 [trees]."""
        move = lambda numbers: torch.from_numpy(numbers).to(self.device)  # noqa: E731
        return values.new_zeros(trees).index_add(0, move(rows), values[move(at)])


def _stack_before(stack: Ints) -> Ints:
    """The number of the stack before each step; the one before the first is empty."""
    return np.concatenate([np.zeros_like(stack[:, :1]), stack[:, :-1]], axis=1)


def _shifted_before(actions: Ints) -> Ints:
    """How many words were written before each step."""
    shifts = actions == SHIFT
    return np.asarray(np.cumsum(shifts, axis=1) - shifts)


class StackCell(torch.nn.Module):
    """An LSTM of several layers that reads one more element of a stack (Dyer et al. 2015, section 2).

    Args:
        width: of elements and of each layer.
        layers: how many.
        dropout: of what each layer reads, while training.
    """

    def __init__(self, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.gates = torch.nn.ModuleList(torch.nn.Linear(2 * width, 4 * width) for _ in range(layers))
        self.dropout = torch.nn.Dropout(dropout)
        self.start = torch.nn.Parameter(torch.zeros(width))

    def empty(self) -> torch.Tensor:
        """The state of the empty stack, [1, layers, 2, width]: it has read `start`, which is learned."""
        layers = len(self.gates)
        nothing = self.start.new_zeros(1, layers, 2, len(self.start))
        state: torch.Tensor = self(self.start[None], nothing)
        return state

    def forward(self, elements: torch.Tensor, below: torch.Tensor) -> torch.Tensor:
        """States [n, layers, 2, width] (outputs, cells) after elements [n, width] on stacks of states `below`."""
        states = []
        for layer, gates in enumerate(self.gates):
            hidden, cell = below[:, layer].unbind(1)
            read, forget, write, new = gates(torch.cat([self.dropout(elements), hidden], 1)).chunk(4, 1)
            cell = forget.sigmoid() * cell + read.sigmoid() * new.tanh()
            elements = write.sigmoid() * cell.tanh()
            states.append(torch.stack([elements, cell], 1))
        return torch.stack(states, 1)


class Composition(torch.nn.Module):
    """A binary tree LSTM (Tai et al. 2015, section 3.2); the cell of a word is zero.

    Args:
        width: of subtrees.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gates = torch.nn.Linear(2 * width, 5 * width)

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Subtrees [n, 2, width] (outputs, cells) of the left and the right one, [n, 2, width] each."""
        gates = self.gates(torch.cat([left[:, 0], right[:, 0]], 1))
        read, forget_left, forget_right, write, new = gates.chunk(5, 1)
        cell = forget_left.sigmoid() * left[:, 1] + forget_right.sigmoid() * right[:, 1] + read.sigmoid() * new.tanh()
        return torch.stack([write.sigmoid() * cell.tanh(), cell], 1)


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
