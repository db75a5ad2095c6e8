"""Binary trees by enumeration, and an RNNG restated for one tree, action by action, on lists."""

import math
from functools import cache

import torch

from textcritic.corpora.structured.texts import REDUCE, SHIFT, Structured
from textcritic.generators.latent.rnng.crf import CRF
from textcritic.generators.latent.rnng.model import RNNG
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import CrfModel, RnngModel

WORDS = Vocabulary(("<unk>", "a", "b"))


@cache
def all_trees(n):
    """The actions of all binary trees over n words, int8 [Catalan(n - 1), 2n - 1]."""
    return torch.tensor(_trees(n), dtype=torch.int8)


@cache
def _trees(n):
    if n == 1:
        return [(SHIFT,)]
    return [(*left, *right, REDUCE) for k in range(1, n) for left in _trees(k) for right in _trees(n - k)]


def spans(actions):
    """(first word, last word) of each REDUCE."""
    stack, found, word = [], [], 0
    for action in actions:
        if action == SHIFT:
            stack.append((word, word))
            word += 1
        else:
            right, left = stack.pop(), stack.pop()
            stack.append((left[0], right[1]))
            found.append(stack[-1])
    return found


def text(words, actions=(), name="x"):
    return Structured(name, tuple(words), tuple(actions))


def rnng(end="stop", scale=0.576, words=WORDS, **settings):
    """A small model; its weights are within 0.6, so trees differ, and none has all the probability."""
    torch.manual_seed(1)
    given = {"hidden": 6, "layers": 2, "dropout": 0.0, "tied": True, "end": end, "count_end": False, **settings}
    model = RNNG.build(RnngModel(**given), words).double().eval()
    for parameter in model.parameters():
        parameter.data *= scale
    return model


def crf(scale=2.0, words=WORDS, **settings):
    torch.manual_seed(2)
    model = CRF.build(CrfModel(**{"hidden": 6, "dropout": 0.0, "longest": 20, **settings}), words).double().eval()
    for parameter in model.parameters():
        parameter.data *= scale
    return model


class Machine:
    """The stack of an RNNG, with gradients: a list of (state of the LSTM, subtree)."""

    def __init__(self, model):
        self.model, self.stack = model, [(model.stack.empty(), None)]

    def copy(self):
        other = Machine(self.model)
        other.stack = list(self.stack)
        return other

    @property
    def height(self):
        return len(self.stack) - 1

    def top(self):
        return self.stack[-1][0][:, -1, 0]

    def chances(self):
        """P(REDUCE), and P(end)."""
        return self.model.choices(self.top()).sigmoid()[0]

    def word_log_prob(self, word):
        return self.model.logits(self.top())[0].log_softmax(0)[word]

    def shift(self, word):
        leaf = self.model.words.weight[word][None]
        self._push(torch.stack([leaf, torch.zeros_like(leaf)], 1))

    def reduce(self):
        right, left = self.stack.pop()[1], self.stack.pop()[1]
        self._push(self.model.composition(left, right))

    def _push(self, subtree):
        self.stack.append((self.model.stack(subtree[:, 0], self.stack[-1][0]), subtree))


def plain_log_joint(model, words, actions):
    """log p(x, z), by the words of the module's docstring."""
    machine, numbers, at, total = Machine(model), model.vocabulary.encode(words).tolist(), 0, 0.0
    for action in actions:
        if machine.height >= 2 and not (model.end == "length" and at == len(numbers)):
            reduce = machine.chances()[0]
            if model.end == "as_released":
                reduce = reduce.clamp(1e-7, 1 - 1e-7)
            total = total + (reduce if action == REDUCE else 1 - reduce).log()
        elif machine.height == 1 and model.end == "stop":
            total = total + (1 - machine.chances()[1]).log()
        if action == SHIFT:
            total = total + machine.word_log_prob(numbers[at])
            machine.shift(numbers[at])
            at += 1
        else:
            machine.reduce()
    return total + machine.chances()[1].log() if model.end == "stop" else total


def walk(model, longest):
    """What a model with an end can write with so many words or fewer: [(words, actions, log p)], and the other mass."""
    done, rest = [], 0.0
    waiting = [(Machine(model), (), (), 0.0)]
    with torch.no_grad():
        while waiting:
            machine, words, actions, log_p = waiting.pop()
            reduce, end = machine.chances().tolist()
            if machine.height >= 2:
                other = machine.copy()
                other.reduce()
                waiting.append((other, words, (*actions, REDUCE), log_p + math.log(reduce)))
                log_p += math.log(1 - reduce)
            elif machine.height == 1:
                done.append((words, actions, log_p + math.log(end)))
                log_p += math.log(1 - end)
            if len(words) == longest:
                rest += math.exp(log_p)
                continue
            for number, word in enumerate(model.vocabulary.words):
                other = machine.copy()
                after = log_p + float(machine.word_log_prob(number))
                other.shift(number)
                waiting.append((other, (*words, word), (*actions, SHIFT), after))
    return done, rest
