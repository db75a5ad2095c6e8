"""EntityNLM: a language model that knows which entities its text is about (Ji et al. 2017)."""

from collections.abc import Sequence

import torch
from torch import nn

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.entitynlm.entities import Entities
from textcritic.generators.latent.entitynlm.states import (
    EntityStates,
    mentions_of,
    possible,
    states_of_texts,
)
from textcritic.generators.latent.lstm import (
    WordOutput,
    WordReader,
    count_tokens,
    drawn_from,
    padded,
    sums_by_row,
)
from textcritic.generators.latent.model import LatentModel
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import EntityNlmModel


class EntityNLM(LatentModel[EntityNlmModel, EntityStates]):
    """p(x, z) = prod_t p(z_t | x_<t, z_<t) p(x_t | x_<t, z_<=t), with z of `EntityStates`.

    An LSTM reads the words; its states h do not depend on z, so K states of a text share them. z_t is as in
    `Entities`, by h_(t-1); word x_t ~ softmax(W_v (h_(t-1) + W_c c)), where the context c is the embedding of the
    entity of x_t; outside of mentions that of the last one mentioned, zero before the first. p(x) is over texts of
    the length of x: the model has no end.

    Settings: those of `LSTM` without `ends`, and `entity_size`, `max_entities`, `longest_mention`, and `noise`, the
    standard deviation of noise on the embeddings of new entities. The released code has 1e-4, also when it evaluates;
    then p(x, z) is another number each time. 0 is right.
    """

    kind, form = "entitynlm", EntityNlmModel

    def __init__(self, settings: EntityNlmModel, vocabulary: Vocabulary) -> None:
        super().__init__(settings, vocabulary)
        hidden, size = settings.hidden, settings.entity_size
        self.reader = WordReader(settings, len(vocabulary))
        self.output = WordOutput(settings, len(vocabulary))
        self.entities = Entities(hidden, size, settings.max_entities, settings.longest_mention)
        self.context = nn.Linear(size, hidden, bias=False)

    def counted(self, text: Structured) -> int:
        """T: its tokens, but for those that are `uncounted`; released: all, with `@@START@@`."""
        return count_tokens(text, self.settings.uncounted)

    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """See `Learner.losses`; a text without mentions is one whose tokens are all outside."""
        numbers, lengths = padded(self.vocabulary, texts, self.device)
        return -self._log_joint(numbers, lengths, self._states(texts))

    @torch.no_grad()
    def log_joint(self, text: Structured, states: EntityStates) -> torch.Tensor:
        """See `LatentModel.log_joint`."""
        can_be = possible(states, self.settings.max_entities, self.settings.longest_mention)
        log_joint = torch.full((len(states),), -torch.inf, dtype=torch.float64)
        if can_be.any():
            numbers, lengths = padded(self.vocabulary, [text], self.device)
            log_joint[can_be.cpu()] = self._log_joint(numbers, lengths, states.select(can_be)).cpu()
        return log_joint

    def states_of(self, text: Structured) -> EntityStates:
        """See `states_of_texts`."""
        return self._states([text])

    @property
    def why_inexact(self) -> str:
        """With noise, log p(x, z) is another at each call."""
        return "the model has noise on its entities" if self.settings.noise else ""

    def sample(self, count: int, longest: int, generator: torch.Generator) -> list[Structured]:
        """See `LatentModel.sample`; all texts have `longest` tokens."""
        return [text for text, _ in self.sample_with_states(count, longest, generator)]

    @torch.no_grad()
    def sample_with_states(
        self, count: int, longest: int, generator: torch.Generator
    ) -> list[tuple[Structured, EntityStates]]:
        """See `LatentModel.sample_with_states`; a mention may go on behind the text, which the text does not show."""
        particles = self.entities.begin(count, longest, self.settings.noise)
        words = torch.full((count,), self.reader.boundary, device=self.device)
        hidden, memory = self.reader.step(words, None)
        drawn, entity, remaining = [], [], []
        for token in range(longest):
            step = self.entities.step(hidden, hidden)
            self.entities.choose(particles, step, token, generator)
            entity.append(particles.entity)
            remaining.append(particles.remaining)
            logits = self.output.logits(hidden + self.context(particles.context), self.reader)
            words = drawn_from(logits.double(), generator)
            drawn.append(words)
            hidden, memory = self.reader.step(words, memory)
            self.entities.read(particles, self.entities.step(hidden, hidden), token)
        states = EntityStates(torch.stack(entity, 1), torch.stack(remaining, 1))
        rows = [[self.vocabulary.words[number] for number in row] for row in torch.stack(drawn, 1).tolist()]
        return [
            (
                Structured(f"sample-{row + 1}", tuple(tokens), mentions=mentions_of(states, row)),
                states.select(torch.tensor([row], device=self.device)),
            )
            for row, tokens in enumerate(rows)
        ]

    def _states(self, texts: Sequence[Structured]) -> EntityStates:
        states = states_of_texts(texts, self.settings.max_entities, self.settings.longest_mention)
        return states.to(self.device)

    def _log_joint(self, numbers: torch.Tensor, lengths: torch.Tensor, states: EntityStates) -> torch.Tensor:
        """The log p(x, z) of R possible states; numbers of words [R or 1, n] and lengths [R or 1] of their texts."""
        hidden = self.reader(numbers)
        deciding = hidden[:, :-1]
        steps = self.entities.steps(deciding, hidden[:, 1:])
        latent, contexts = self.entities.log_prob(steps, states, noise=self.settings.noise)
        rows = len(states)
        inside = (torch.arange(numbers.shape[1], device=self.device) < lengths[:, None]).expand(rows, -1)
        vectors = (deciding + self.context(contexts))[inside]
        words = self.output.log_prob(vectors, numbers.expand(rows, -1)[inside], self.reader)
        return sums_by_row(words, inside) + (latent * inside).sum(1)
