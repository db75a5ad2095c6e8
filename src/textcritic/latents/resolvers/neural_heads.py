"""What F-coref and LingMess put on top of an encoder: scores of spans, and of pairs of spans.

A span of word pieces (i, j) is a mention with the score (Kirstain et al. 2021, "Coreference Resolution without Span
Representations")

    m(i, j) = v_s . s_i + v_e . e_j + s_i' B e_j,

where s and e are two small layers on the encoder's vectors. The best spans are kept, in number a share of the word
pieces. Each is linked to the earlier span with the highest score m + m' + a, if that is at least 0. a is the sum of
four bilinear forms of starts and ends. F-coref (Otmazgin et al. 2022, "F-coref: Fast, Accurate and Easy to Use
Coreference Resolution") is exactly this. LingMess (Otmazgin et al. 2023, "LingMess: Linguistically Informed Multi
Expert Scorers for Coreference Resolution") has one a for all pairs and adds that of the pair's category, see
`categories`.

The names of the modules are those of the weights in the published files.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers.activations import ACT2FN

# In the order of the published weights (LingMess); the last expert scores every pair.
SAME_PRONOUNS, OTHER_PRONOUNS, PRONOUN, MATCH, CONTAINS, OTHER, EVERY = range(7)
BLOCK = 256  # starts of spans that are scored at once
ROWS = 2048  # spans whose antecedents are looked for at once

# Pronouns of a group agree (as in the published code of LingMess); upper and lower case are the same.
PRONOUNS = {
    word: number
    for number, group in enumerate(
        (
            "i me my mine myself",
            "you your yours yourself yourselves",
            "he him his himself",
            "she her hers herself",
            "it its itself",
            "we us our ours ourselves",
            "they them their themselves",
            "that this",
        )
    )
    for word in group.split()
}
_STOP_WORDS = "'s a all an and at for from in into more of on or some the these those"
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""They do not count when the words of two spans are compared."""
NO_WORD, STOP_WORD = -1, 0


class Words(NamedTuple):
    """The word that each word piece is a part of: the categories of LingMess are made from it.

    Attributes:
        types: int64 [documents, pieces], 1, 2, ... within a document by the lower-cased word, `STOP_WORD` for a stop
            word, `NO_WORD` for what is no part of a word.
        pronouns: int64 [documents, pieces], the group of the pronoun, -1 for other words.
    """

    types: Tensor
    pronouns: Tensor


class Spans(NamedTuple):
    """The spans that are kept, in the order of their starts, then of their ends; padding comes last.

    Attributes:
        starts, ends: int64 [documents, spans], the first and the last word piece.
        scores: float32 [documents, spans].
        valid: bool [documents, spans], false for padding.
    """

    starts: Tensor
    ends: Tensor
    scores: Tensor
    valid: Tensor


class Layer(nn.Module):
    """A linear map, the encoder's activation, and a layer norm."""

    def __init__(self, width: int, out: int, activation: str, epsilon: float) -> None:
        super().__init__()
        self.dense = nn.Linear(width, out)
        self.layer_norm = nn.LayerNorm(out, eps=epsilon)
        self.activation = ACT2FN[activation]

    def forward(self, vectors: Tensor) -> Tensor:
        """[..., out] of vectors [..., width]."""
        scored: Tensor = self.layer_norm(self.activation(self.dense(vectors)))
        return scored


class Heads(nn.Module, ABC):
    """The scores of spans, which both models have.

    Args:
        width: of the encoder's vectors.
        size: `ffnn_size` of the published settings.
        longest: word pieces of the longest span.
        share: kept spans for each word piece.
        activation, epsilon: of the encoder's layers.
    """

    def __init__(self, width: int, size: int, longest: int, share: float, activation: str, epsilon: float) -> None:
        super().__init__()
        self.longest, self.share = longest, share
        self.start_mention_mlp = Layer(width, size, activation, epsilon)
        self.end_mention_mlp = Layer(width, size, activation, epsilon)
        self.mention_start_classifier = nn.Linear(size, 1)
        self.mention_end_classifier = nn.Linear(size, 1)
        self.mention_s2e_classifier = nn.Linear(size, size)

    def antecedents(self, vectors: Tensor, lengths: Tensor, words: Words | None) -> tuple[Spans, Tensor]:
        """The kept spans, and for each the index of the span that it is linked to, -1 for none.

        Args:
            vectors: float32 [documents, pieces, width], padded at the end.
            lengths: int64 [documents], word pieces of each document; padding is ignored.
            words: of the pieces; needed by LingMess.
        """
        spans = self.best_spans(vectors, lengths)
        linked, kept = [], spans.starts.shape[1]
        for first, pairs in self.pair_scores(vectors, spans, words):
            rows = slice(first, first + pairs.shape[1])
            scores = pairs + spans.scores[:, rows, None] + spans.scores[:, None, :]
            earlier = torch.ones_like(scores, dtype=torch.bool).tril(first - 1) & spans.valid[:, rows, None]
            none = scores.new_zeros(scores.shape[:2])[..., None]
            # The zero for "no link" is the last column, so that a span of score 0 wins, as in the published code.
            best = torch.cat([scores.masked_fill_(~earlier, -torch.inf), none], -1).argmax(-1)
            linked.append(best.masked_fill(best == kept, -1))
        return spans, torch.cat(linked, 1)

    def best_spans(self, vectors: Tensor, lengths: Tensor) -> Spans:
        """The spans of the highest scores: floor(share * pieces) of each document, both in float32."""
        pieces = vectors.shape[1]
        scores = self.span_scores(vectors)
        ends = torch.arange(pieces, device=vectors.device)[:, None] + torch.arange(self.longest, device=vectors.device)
        flat = scores.masked_fill(ends >= lengths[:, None, None], -torch.inf).flatten(1)
        counts = (lengths * self.share).int()
        most = int(counts.max())
        valid = torch.arange(most, device=vectors.device) < counts[:, None]
        index = flat.topk(most).indices.masked_fill(~valid, flat.shape[1]).sort().values.masked_fill(~valid, 0)
        starts = index // self.longest
        return Spans(starts, starts + index % self.longest, flat.gather(1, index).masked_fill(~valid, 0.0), valid)

    def span_scores(self, vectors: Tensor) -> Tensor:
        """float32 [documents, pieces, longest]: the score of the span that begins at a piece and has 1, 2, ... pieces.

        What runs over the end of the text is scored as if zeros followed. Only these spans are scored, a band of all
        pairs: memory is linear in the number of pieces.
        """
        starts, ends = self.start_mention_mlp(vectors), self.end_mention_mlp(vectors)
        pieces, beyond = vectors.shape[1], self.longest - 1
        joint = self.mention_s2e_classifier(starts)
        ends = nn.functional.pad(ends, (0, 0, 0, beyond))
        alone = self.mention_end_classifier(ends).squeeze(-1).unfold(1, self.longest, 1)
        band = []
        for first in range(0, pieces, BLOCK):
            some = joint[:, first : first + BLOCK]
            square = some @ ends[:, first : first + some.shape[1] + beyond].transpose(1, 2)
            columns = torch.arange(some.shape[1], device=vectors.device)[:, None] + torch.arange(
                self.longest, device=vectors.device
            )
            band.append(square.gather(2, columns.expand(len(vectors), -1, -1)))
        return torch.cat(band, 1) + self.mention_start_classifier(starts) + alone

    @abstractmethod
    def pair_scores(self, vectors: Tensor, spans: Spans, words: Words | None) -> Iterator[tuple[int, Tensor]]:
        """Scores a of a span (row) and one that it may be linked to (column), in blocks of rows, in order.

        Yields:
            the first row, and float32 [documents, rows, spans]; at least one block.
        """


class FCorefHeads(Heads):
    """F-coref: one scorer of pairs; see `Heads`."""

    def __init__(self, width: int, size: int, longest: int, share: float, activation: str, epsilon: float) -> None:
        super().__init__(width, size, longest, share, activation, epsilon)
        self.start_coref_mlp = Layer(width, size, activation, epsilon)
        self.end_coref_mlp = Layer(width, size, activation, epsilon)
        self.antecedent_s2s_classifier = nn.Linear(size, size)
        self.antecedent_e2e_classifier = nn.Linear(size, size)
        self.antecedent_s2e_classifier = nn.Linear(size, size)
        self.antecedent_e2s_classifier = nn.Linear(size, size)

    def pair_scores(self, vectors: Tensor, spans: Spans, words: Words | None) -> Iterator[tuple[int, Tensor]]:
        """See `Heads`; `words` are not used."""
        starts = self.start_coref_mlp(_at(vectors, spans.starts))
        ends = self.end_coref_mlp(_at(vectors, spans.ends))
        to_starts = self.antecedent_s2s_classifier(starts) + self.antecedent_e2s_classifier(ends)
        to_ends = self.antecedent_s2e_classifier(starts) + self.antecedent_e2e_classifier(ends)
        for first in range(0, max(starts.shape[1], 1), ROWS):
            rows = slice(first, first + ROWS)
            yield first, to_starts[:, rows] @ starts.transpose(1, 2) + to_ends[:, rows] @ ends.transpose(1, 2)


class LingMessHeads(Heads):
    """LingMess: a scorer for each category of pairs, and one for all; see `Heads`."""

    def __init__(self, width: int, size: int, longest: int, share: float, activation: str, epsilon: float) -> None:
        super().__init__(width, size, longest, share, activation, epsilon)
        experts = EVERY + 1
        self.coref_start_all_mlps = Layer(width, experts * size, activation, epsilon)
        self.coref_end_all_mlps = Layer(width, experts * size, activation, epsilon)
        for pair in ("s2s", "e2e", "s2e", "e2s"):
            self.register_parameter(f"antecedent_{pair}_all_weights", nn.Parameter(torch.zeros(experts, size, size)))
            self.register_parameter(f"antecedent_{pair}_all_biases", nn.Parameter(torch.zeros(experts, size)))

    def pair_scores(self, vectors: Tensor, spans: Spans, words: Words | None) -> Iterator[tuple[int, Tensor]]:
        """See `Heads`."""
        if words is None:
            raise ValueError("LingMess needs the words of the pieces")
        kinds = categories(spans, words, self.longest)
        starts = self.coref_start_all_mlps(_at(vectors, spans.starts)).unflatten(-1, (EVERY + 1, -1))
        ends = self.coref_end_all_mlps(_at(vectors, spans.ends)).unflatten(-1, (EVERY + 1, -1))
        scores = self._expert(EVERY, starts, ends)
        for category in range(EVERY):
            # Computed one after the other: only two of them are in memory.
            scores = scores + self._expert(category, starts, ends).masked_fill(kinds != category, 0.0)
        yield 0, scores  # a document is never long

    def _expert(self, number: int, starts: Tensor, ends: Tensor) -> Tensor:
        starts, ends = starts[:, :, number], ends[:, :, number]

        def form(pair: str, vectors: Tensor) -> Tensor:
            weights: Tensor = getattr(self, f"antecedent_{pair}_all_weights")
            biases: Tensor = getattr(self, f"antecedent_{pair}_all_biases")
            return vectors @ weights[number] + biases[number]

        to_starts = form("s2s", starts) + form("e2s", ends)
        to_ends = form("s2e", starts) + form("e2e", ends)
        return to_starts @ starts.transpose(1, 2) + to_ends @ ends.transpose(1, 2)


def categories(spans: Spans, words: Words, longest: int) -> Tensor:
    """int64 [documents, spans, spans]: the category of each pair, as LingMess has them.

    Two pronouns that agree; two that do not; a pronoun and another span; two spans of the same words, stop words not
    counted; one whose words are all in the other; others. Words are a set, in lower case.

    Args:
        spans: the kept spans.
        words: of the pieces.
        longest: word pieces of the longest span.
    """
    offsets = torch.arange(longest, device=spans.starts.device)
    pieces = spans.starts[..., None] + offsets  # [documents, spans, longest]
    inside = pieces <= spans.ends[..., None]
    pieces = pieces.clamp(max=words.types.shape[1] - 1)
    rows = torch.arange(len(spans.starts), device=spans.starts.device)[:, None, None]
    types, groups = words.types[rows, pieces], words.pronouns[rows, pieces]
    inside &= types != NO_WORD
    # A span is a pronoun if it consists of one word (perhaps repeated), and that word is a pronoun.
    largest = int(words.types.max()) + 1 if words.types.numel() else 1
    lowest, highest = types.masked_fill(~inside, largest).amin(-1), types.masked_fill(~inside, NO_WORD).amax(-1)
    pronoun = groups.masked_fill(~inside, -1).amax(-1).masked_fill(lowest != highest, -1)
    has = torch.zeros(*spans.starts.shape, largest + 1, device=spans.starts.device)
    has.scatter_(2, types.masked_fill(~inside, STOP_WORD), 1.0)
    has[..., STOP_WORD] = 0.0
    common, sizes = has @ has.transpose(1, 2), has.sum(-1)
    smaller, larger = torch.minimum(sizes[:, :, None], sizes[:, None]), torch.maximum(sizes[:, :, None], sizes[:, None])
    kinds = torch.full_like(common, OTHER, dtype=torch.int64)
    kinds[common == smaller] = CONTAINS
    kinds[(common == smaller) & (smaller == larger)] = MATCH
    one, other = pronoun[:, :, None], pronoun[:, None]
    kinds[(one >= 0) | (other >= 0)] = PRONOUN
    both = (one >= 0) & (other >= 0)
    kinds[both] = OTHER_PRONOUNS
    kinds[both & (one == other)] = SAME_PRONOUNS
    return kinds


def _at(vectors: Tensor, places: Tensor) -> Tensor:
    """The vectors at places: [documents, places, width]."""
    return vectors.gather(1, places[..., None].expand(-1, -1, vectors.shape[-1]))
