"""How KGLM writes a word: from the vocabulary, or within a mention also by copying from the aliases of the entity.

Outside mentions: softmax over the vocabulary of E h + b, with E the embeddings of words. Within a mention of entity e,
h' = A h + a + B v_e replaces h, and each word of each alias of e has a logit too: tanh(C h' + c) . k, where k
is a linear map of the embeddings of this word and the one before it in its alias. One softmax is over both; the
probability of a word is the sum over the ways to write it. Logan et al. 2019, section 3, on rendering an entity; there
k is the state of an LSTM over the alias.

x is a sequence over the vocabulary: an alias word that the vocabulary does not have counts as <unk>, so that p(x) can
be compared with that of any model with the same vocabulary.
"""

import torch
from torch.nn import functional

from textcritic.generators.latent.kglm.graph import Graph, slices


class Words(torch.nn.Module):
    """The distribution of a word given an LSTM's vector and the entity that it belongs to.

    Args:
        graph: has the aliases.
        vocabulary: words.
        size: dimensions of words.
        entity_size: dimensions of entities.
    """

    graph: Graph

    def __init__(self, graph: Graph, vocabulary: int, size: int, entity_size: int) -> None:
        super().__init__()
        # Not a part of this module: its tensors are saved with the learner that has both.
        object.__setattr__(self, "graph", graph)
        self.vocabulary = vocabulary
        self.embedding = torch.nn.Embedding(vocabulary + 1, size)  # the last one: the begin of a text or an alias
        torch.nn.init.normal_(self.embedding.weight, std=size**-0.5)
        self.bias = torch.nn.Parameter(torch.zeros(vocabulary))
        self.within = torch.nn.Linear(size, size)
        self.of_entity = torch.nn.Linear(entity_size, size, bias=False)
        self.copy = torch.nn.Linear(size, size)
        self.key = torch.nn.Linear(2 * size, size)

    def log_probs(
        self, hidden: torch.Tensor, words: torch.Tensor, entities: torch.Tensor, at: torch.Tensor, entity: torch.Tensor
    ) -> torch.Tensor:
        """The log probability of the word of each token given its entity: float64 [K, T].

        Args:
            hidden: of F tokens [F, size].
            words: their numbers [F].
            entities: the entity of each token of K states, or -1 [K, T].
            at: which of the F tokens each one is [K, T].
            entity: vectors of all entities [entities, entity size].
        """
        plain = self.plain_table(hidden).gather(1, words.unsqueeze(1)).squeeze(1)
        mentioned = entities >= 0
        total = plain[at].double()
        pairs, pair = (at[mentioned] * len(self.graph) + entities[mentioned]).unique(return_inverse=True)
        tokens, named = pairs // len(self.graph), pairs % len(self.graph)
        return total.masked_scatter(mentioned, self._mentioned(hidden, words, tokens, named, entity)[pair])

    def plain_table(self, hidden: torch.Tensor) -> torch.Tensor:
        """Log probabilities of the vocabulary outside mentions [F, vocabulary]."""
        return self._logits(hidden, self.bias).log_softmax(1)

    def mention_logits(
        self, hidden: torch.Tensor, entities: torch.Tensor, entity: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """The logits of one token within a mention, for n pairs of a token and an entity.

        Returns:
            logits of the vocabulary [n, vocabulary]; and for each word that can be copied, of all pairs: whose pair
            it is, its place among the words of all aliases, its logit.
        """
        queries = self.within(hidden) + self.of_entity(entity[entities])
        owner, places = slices(self.graph.alias_starts, entities)
        copied = (self.copy(queries).tanh()[owner] * self._keys(places)).sum(1)
        return self._logits(queries, self.bias), owner, places, copied

    def _mentioned(
        self,
        hidden: torch.Tensor,
        words: torch.Tensor,
        tokens: torch.Tensor,
        entities: torch.Tensor,
        entity: torch.Tensor,
    ) -> torch.Tensor:
        """As `log_probs`, of n pairs of a token and an entity [n].

        E h' is a part of the token plus a part of the entity. So the sum over the vocabulary of exp(E h'), for all
        pairs, is one product of two matrices.
        """
        rows, row = tokens.unique(return_inverse=True)
        listed, place = entities.unique(return_inverse=True)
        of_token, of_entity = self.within(hidden[rows]), self.of_entity(entity[listed])
        first, second = self._logits(of_token, self.bias).double(), self._logits(of_entity, None).double()
        tops = [logits.amax(1, keepdim=True).detach() for logits in (first, second)]
        sums = (first - tops[0]).exp() @ (second - tops[1]).exp().T
        written = sums[row, place].log() + tops[0][row, 0] + tops[1][place, 0]
        wanted = words[tokens]
        target = first[row, wanted] + second[place, wanted]

        owner, places = slices(self.graph.alias_starts, entities)
        used, index = places.unique(return_inverse=True)
        queries = self.copy(of_token[row] + of_entity[place]).tanh()
        copied = (queries[owner] * self._keys(used)[index]).sum(1).double()
        # From the largest logit of each pair, so that no sum overflows.
        top = written.detach().scatter_reduce(0, owner, copied.detach(), "amax")
        weights = (copied - top[owner]).exp()
        same = self.graph.alias_words[places] == wanted[owner]
        everything = (written - top).exp().index_add(0, owner, weights)
        right = (target - top).exp().index_add(0, owner[same], weights[same])
        return right.log() - everything.log()

    def _logits(self, vectors: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        return functional.linear(vectors, self.embedding.weight[: self.vocabulary], bias)

    def _keys(self, places: torch.Tensor) -> torch.Tensor:
        """Vectors of words of aliases [places, size]."""
        word, before = self.graph.alias_words[places], self.graph.alias_before[places]
        return self.key(torch.cat([self.embedding(word), self.embedding(before)], 1))
