"""KGLM, a language model that writes about the entities of a knowledge graph (Logan et al. 2019, ACL).

The joint distribution of a text x of T tokens and its latent states z, with h_t of an LSTM that has read x_<t:

    p(x, z) = prod_t p(z_t | h_t, z_<t) p(x_t | h_t, e_t),    z_t = (type, entity e_t)

`choices` has p(z_t | ...), `words` p(x_t | ...). T is given: nothing ends a text. The sum over all z and all x of T
words of the vocabulary is one. The paper's z has the parent and the relation too. They change nothing that comes after,
and are summed out here: p(x) stays the same, and estimates have less variance.

What the released code does otherwise (facts/latent-lms.md 3.5), and what is done here:
1. it charges the new-entity softmax at every token of a mention: here the switch `as_released`; with it p(x, z) sums
   to less than one.
2. its proposal scores one edge where the model sums over parallel edges: here both sum.
3. its proposal cannot propose entities that the model can choose (padding, dates, quantities): here there are no
   such entities, dates and quantities are as all others.
4. a related mention without a parent is free: here its probability is 0.
5. *continue* after no mention, and continued mentions that lose their entity: here both have probability 0.
6. what can be copied comes from the gold entity, and less is left with each sample: here it is that of the state.
"""

from collections.abc import Sequence

import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.kglm.base import LinkLearner, Reader, shifted, sums_of
from textcritic.generators.latent.kglm.choices import Choices, Features
from textcritic.generators.latent.kglm.draw import draw_state
from textcritic.generators.latent.kglm.graph import Graph
from textcritic.generators.latent.kglm.states import CONTINUE, RELATED, Links, texts_of
from textcritic.generators.latent.kglm.words import Words
from textcritic.generators.latent.lstm import padded
from textcritic.generators.latent.model import LatentModel
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import KglmModel


class KGLM(LinkLearner[KglmModel], LatentModel[KglmModel, Links]):
    """KGLM, see the module; `as_released` of its settings is fault 1 of the released code."""

    kind, form = "kglm", KglmModel

    def __init__(self, settings: KglmModel, vocabulary: Vocabulary, graph: Graph) -> None:
        super().__init__(settings, vocabulary, graph)
        self.words = Words(graph, len(vocabulary), settings.words, settings.entities)
        self.reader = Reader(settings, (settings.words, settings.entities, settings.entities))
        self.choices = Choices(graph, settings.entities, settings.window, settings.learn_entities)

    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """See `Learner.losses`."""
        words, lengths = padded(self.vocabulary, texts, self.device)
        at = torch.arange(words.numel(), device=self.device).view_as(words)
        return -sums_of(self._log_tokens(words, lengths, self.gold(texts), at), lengths)

    def log_joint(self, text: Structured, states: Links) -> torch.Tensor:
        """See `LatentModel.log_joint`."""
        return self.log_joint_tokens(text, states).sum(1)

    @torch.no_grad()
    def log_joint_tokens(self, text: Structured, states: Links) -> torch.Tensor:
        """What each token adds to `log_joint`, log p(x_t, z_t | x_<t, z_<t): float64 [K, T]."""
        words, lengths = padded(self.vocabulary, [text], self.device)
        at = torch.arange(words.numel(), device=self.device).expand(len(states), -1)
        return self._log_tokens(words, lengths, self.moved(text, states), at)

    @property
    def why_inexact(self) -> str:
        """The released code weighs the choice of a new entity where none is chosen."""
        return "the model is `as_released`" if self.settings.as_released else ""

    @torch.no_grad()
    def sample(self, count: int, longest: int, generator: torch.Generator) -> list[Structured]:
        """Texts of `longest` tokens drawn from the model with their states; nothing ends a text before.

        A copied word is written as the alias has it, also where the vocabulary does not have it.
        """
        states = Links(*(torch.empty(count, 0, dtype=torch.int64, device=self.device) for _ in range(2)))
        last = torch.full((count,), len(self.vocabulary), device=self.device)
        tokens: list[list[str]] = [[] for _ in range(count)]
        memory = None
        for _ in range(longest):
            (hidden, head, edge), memory = self.reader.step(self.words.embedding(last), memory)
            states = draw_state(self.choices, Features(head, edge), states, 1.0, generator)
            last, surfaces = self._draw_words(hidden, states.entities[:, -1], generator)
            for written, surface in zip(tokens, surfaces, strict=True):
                written.append(surface)
        texts = []
        for number, written in enumerate(tokens):
            text = Structured(f"drawn {number}", tuple(written))
            texts += texts_of(text, states[number : number + 1], self.graph, self.settings.window)
        return texts

    def features(self, words: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, Features]:
        """What words [texts * T, words] and states depend on, of all tokens of padded texts [texts, T]."""
        inputs = self.words.embedding(shifted(words, len(self.vocabulary)))
        hidden, head, edge = (part.flatten(0, 1) for part in self.reader(inputs, lengths))
        return hidden, Features(head, edge)

    def _log_tokens(self, words: torch.Tensor, lengths: torch.Tensor, states: Links, at: torch.Tensor) -> torch.Tensor:
        """Log p(x_t, z_t | x_<t, z_<t) [K, T], of tokens `at` of all words of a batch."""
        hidden, features = self.features(words, lengths)
        log = self.choices.log_probs(features, states, at, 1.0)
        log = log + self.words.log_probs(hidden, words.flatten(), states.entities, at, self.choices.entity)
        if self.settings.as_released:
            charged = (states.types == RELATED) | (states.types == CONTINUE)
            new = self.choices.new_log_probs(features, at[charged], states.entities[charged], 1.0)
            log = log.masked_scatter(charged, log[charged] + new)
        return log

    def _draw_words(
        self, hidden: torch.Tensor, entities: torch.Tensor, generator: torch.Generator
    ) -> tuple[torch.Tensor, list[str]]:
        """A word of each text: its number, and as it is written."""
        numbers = torch.multinomial(self.words.plain_table(hidden).exp(), 1, generator=generator)[:, 0]
        surfaces = [self.vocabulary.words[number] for number in numbers.tolist()]
        rows = (entities >= 0).nonzero()[:, 0]
        logits, owner, places, copied = self.words.mention_logits(hidden[rows], entities[rows], self.choices.entity)
        for number, row in enumerate(rows.tolist()):
            own = owner == number
            drawn = _draw(torch.cat([logits[number], copied[own]]), generator)
            copy = drawn - len(self.vocabulary)
            place = int(places[own][copy]) if copy >= 0 else 0
            numbers[row] = self.graph.alias_words[place] if copy >= 0 else drawn
            surfaces[row] = self.graph.surfaces[place] if copy >= 0 else self.vocabulary.words[drawn]
        return numbers, surfaces


def _draw(logits: torch.Tensor, generator: torch.Generator) -> int:
    return int(torch.multinomial(logits.softmax(0), 1, generator=generator))
