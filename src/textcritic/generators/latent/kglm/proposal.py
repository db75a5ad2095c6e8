"""KglmDisc, the proposal q(z | x) of KGLM: the same choices, by an LSTM that has read more of the text.

    q(z | x) = prod_t q(z_t | g_t, z_<t)

What g_t has read is the setting `reads`: `prefix`, the tokens before x_t (no peeking); `next`, x_t too (the paper's
"peeking" of KGLM); `document`, all of x, in both directions. Where it has read x_t, and the setting `match` is on, a
learned number is added to the logits of new entities with a name that begins with x_t, and others to those of the types
where there is such an entity. The published KglmDisc has no such numbers and no `document`.

A temperature divides the logits of every softmax, so that q stays normalised. The window should not be shorter than
that of the model: q would not draw some states that are possible.
"""

import math
from collections.abc import Sequence

import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.kglm.base import LinkLearner, Reader, shifted, sums_of
from textcritic.generators.latent.kglm.choices import Choices, Features, History
from textcritic.generators.latent.kglm.draw import draw_state
from textcritic.generators.latent.kglm.graph import Graph, slices
from textcritic.generators.latent.kglm.states import CONTINUE, NEW, NONE, RELATED, Links
from textcritic.generators.latent.lstm import padded
from textcritic.generators.latent.model import Proposal
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import KglmDiscModel

_Part = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""Ways to go on: log probability, the row of the state before, type and entity."""


class KglmDisc(LinkLearner[KglmDiscModel], Proposal[KglmDiscModel, Links]):
    """KglmDisc, see the module."""

    kind, form = "kglm-disc", KglmDiscModel

    def __init__(self, settings: KglmDiscModel, vocabulary: Vocabulary, graph: Graph) -> None:
        super().__init__(settings, vocabulary, graph)
        self.matches = settings.match and settings.reads != "prefix"
        self.named_by = _first_words(graph) if self.matches else {}
        self.embedding = torch.nn.Embedding(len(vocabulary) + 1, settings.words)
        torch.nn.init.normal_(self.embedding.weight, std=settings.words**-0.5)
        self.reader = Reader(settings, (settings.entities, settings.entities), both_ways=settings.reads == "document")
        self.choices = Choices(graph, settings.entities, settings.window, settings.learn_entities, self.matches)

    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """See `Learner.losses`."""
        features, longest, lengths = self.features(texts)
        at = torch.arange(len(texts) * longest, device=self.device).view(len(texts), longest)
        return -sums_of(self.choices.log_probs(features, self.gold(texts), at, 1.0), lengths)

    @torch.no_grad()
    def draw(
        self, text: Structured, count: int, temperature: float, generator: torch.Generator
    ) -> tuple[Links, torch.Tensor]:
        """See `Proposal.draw`."""
        features, longest, _ = self.features([text])
        states = Links(*(torch.empty(count, 0, dtype=torch.int64, device=self.device) for _ in range(2)))
        for token in range(longest):
            states = draw_state(self.choices, features.at(token), states, temperature, generator)
        return states, self._log_tokens(features, states, temperature).sum(1)

    def log_q(self, text: Structured, states: Links, temperature: float) -> torch.Tensor:
        """See `Proposal.log_q`."""
        return self.log_q_tokens(text, states, temperature).sum(1)

    @torch.no_grad()
    def log_q_tokens(self, text: Structured, states: Links, temperature: float) -> torch.Tensor:
        """What each token adds to `log_q`, log q(z_t | x, z_<t): float64 [K, T]."""
        return self._log_tokens(self.features([text])[0], self.moved(text, states), temperature)

    @torch.no_grad()
    def best(self, text: Structured, count: int) -> Links:
        """See `Proposal.best`: a beam search of this width; see `beam.best_states`."""
        features, longest, _ = self.features([text])
        return best_states(self.choices, features, longest, count)

    def _log_tokens(self, features: Features, states: Links, temperature: float) -> torch.Tensor:
        at = torch.arange(states.types.shape[1], device=self.device).expand(len(states), -1)
        return self.choices.log_probs(features, states, at, temperature)

    def features(self, texts: Sequence[Structured]) -> tuple[Features, int, torch.Tensor]:
        """What states depend on, of all tokens of padded texts [texts * longest]; the longest text; the lengths."""
        words, lengths = padded(self.vocabulary, texts, self.device)
        inputs = shifted(words, len(self.vocabulary)) if self.settings.reads == "prefix" else words
        head, edge = (part.flatten(0, 1) for part in self.reader(self.embedding(inputs), lengths))
        matches = self._matches(texts, words.shape[1]) if self.matches else None
        return Features(head, edge, matches), words.shape[1], lengths

    def _matches(self, texts: Sequence[Structured], longest: int) -> torch.Tensor:
        pairs = [
            (row * longest + token, entity)
            for row, text in enumerate(texts)
            for token, word in enumerate(text.tokens)
            for entity in self.named_by.get(word, ())
        ]
        return torch.tensor(pairs, dtype=torch.int64, device=self.device).view(-1, 2).T


def _first_words(graph: Graph) -> dict[str, list[int]]:
    """The entities that have an alias that begins with a word."""
    found: dict[str, list[int]] = {}
    begins = (graph.alias_before == graph.alias_before.max()).tolist() if len(graph.surfaces) else []
    ends = graph.alias_starts.tolist()
    for entity in range(len(graph)):
        places = range(ends[entity], ends[entity + 1])
        for word in dict.fromkeys(graph.surfaces[place] for place in places if begins[place]):
            found.setdefault(word, []).append(entity)
    return found


def best_states(choices: Choices, features: Features, tokens: int, width: int) -> Links:
    """At most `width` distinct states, all with a probability above zero, the likeliest first.

    Args:
        choices: the distribution.
        features: of the tokens.
        tokens: T.
        width: states that are kept after each token.
    """
    device = features.head.device
    states = Links(*(torch.empty(1, 0, dtype=torch.int64, device=device) for _ in range(2)))
    scores = torch.zeros(1, dtype=torch.float64, device=device)
    for token in range(tokens):
        at = features.at(token)
        history = choices.history(states.entities)
        log_types = choices.type_table(at, history, 1.0).double()
        parts = [
            _alone(log_types, NONE, torch.full_like(history.current, -1)),
            _alone(log_types, CONTINUE, history.current),
            _new(choices, at, log_types, width),
            _related(choices, at, history, log_types),
        ]
        added, row, kinds, entities = (torch.cat(column) for column in zip(*parts, strict=True))
        total = scores[row] + added
        scores, order = total.topk(min(width, int(torch.isfinite(total).sum())))
        kept = row[order]
        states = Links(
            torch.cat([states.types[kept], kinds[order].unsqueeze(1)], 1),
            torch.cat([states.entities[kept], entities[order].unsqueeze(1)], 1),
        )
    return states


def _alone(log_types: torch.Tensor, kind: int, entities: torch.Tensor) -> _Part:
    rows = torch.arange(len(entities), device=entities.device)
    return log_types[:, kind], rows, torch.full_like(rows, kind), entities


def _new(choices: Choices, features: Features, log_types: torch.Tensor, width: int) -> _Part:
    """The `width` likeliest entities, which are the same for all states; others cannot be kept."""
    table = choices.new_table(features, 1.0)[0].double()
    log, entities = table.topk(min(width, len(table)))
    total = (log_types[:, NEW, None] + log).flatten()
    rows = torch.arange(len(log_types), device=log.device).repeat_interleave(len(log))
    return total, rows, torch.full_like(rows, NEW), entities.repeat(len(log_types))


def _related(choices: Choices, features: Features, history: History, log_types: torch.Tensor) -> _Part:
    """All entities that an edge leads to from the window."""
    shares = choices.parent_table(features, history, 1.0).double().exp()
    row, column = (history.recent >= 0).nonzero(as_tuple=True)
    logits = choices.relation_logits(features, 1.0)[0].double()
    weights = (logits - logits.max()).exp()
    owner, edges = slices(choices.graph.starts, history.recent[row, column])
    weight = weights[choices.graph.relation[edges]]
    sums = torch.zeros(len(row), dtype=torch.float64, device=row.device).index_add(0, owner, weight)
    key = row[owner] * len(choices.graph) + choices.graph.tail[edges]
    keys, place = key.unique(return_inverse=True)
    reached = torch.zeros(len(keys), dtype=torch.float64, device=row.device)
    reached = reached.index_add(0, place, shares[row, column][owner] * weight / sums[owner])
    rows, entities = keys // len(choices.graph), keys % len(choices.graph)
    # The log of 0, where an edge is too unlikely for a number: it is left out by the caller.
    total = log_types[rows, RELATED] + reached.clamp(min=0).log()
    return total.nan_to_num(nan=-math.inf), rows, torch.full_like(rows, RELATED), entities
