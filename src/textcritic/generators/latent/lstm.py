"""A language model without latent states, an LSTM over words: what latent language models are compared with.

Its p(x) is exact. Latent models read words by the same parts, `WordReader` and `WordOutput`, so that one of the same
size differs in its latent states alone.
"""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from textcritic.corpora.structured.texts import Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.model import LatentModel
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import EntityNlmModel, EntitySizes, LstmModel

FIRST_WEIGHT = 0.1  # embeddings and output rows begin uniform between plus and minus this
LOGITS_AT_ONCE = 4_000_000
Memory = tuple[torch.Tensor, torch.Tensor]
"""Of an LSTM: hidden and cell state, each [layers, rows, hidden]."""


class LSTM(LatentModel[LstmModel, int]):
    """An LSTM language model; z is empty, so log p(x, z) = log p(x).

    Settings: `embedding`, `hidden`, `layers`, `dropout`, `tied` (input and output share their word vectors; then
    `embedding` has to be `hidden`), `ends` (p(x) is over texts of every length, with the probability that the text
    ends where it does, as a sentence of RNNG's; else over texts of the length of x, as EntityNLM's), and `uncounted`,
    words that `counted` leaves out of T. The end is never in T.
    """

    kind, form = "lstm", LstmModel

    def __init__(self, settings: LstmModel, vocabulary: Vocabulary) -> None:
        super().__init__(settings, vocabulary)
        self.reader = WordReader(settings, len(vocabulary))
        self.output = WordOutput(settings, len(vocabulary) + settings.ends)

    @property
    def ends(self) -> bool:
        """See `LatentModel.ends`: the setting."""
        return self.settings.ends

    def counted(self, text: Structured) -> int:
        """T: its tokens, but for those that are `uncounted`."""
        return count_tokens(text, self.settings.uncounted)

    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """-log p(x) in nats [texts]; see `Learner.losses`. Texts need no states."""
        numbers, lengths = padded(self.vocabulary, texts, self.device)
        scored = lengths
        if self.settings.ends:
            end = torch.full((len(texts), 1), len(self.vocabulary), device=self.device)
            numbers, scored = torch.cat([numbers, end], 1), lengths + 1
            numbers[torch.arange(len(texts)), lengths] = len(self.vocabulary)
        hidden = self.reader(numbers)[:, :-1]
        inside = torch.arange(numbers.shape[1], device=self.device) < scored[:, None]
        log_probs = self.output.log_prob(hidden[inside], numbers[inside], self.reader)
        losses = -sums_by_row(log_probs, inside)
        # There is no text without words: at its beginning the end is left out of the softmax.
        return losses + self._log_begins(hidden[:, 0]) if self.settings.ends else losses

    @torch.no_grad()
    def log_joint(self, text: Structured, states: int) -> torch.Tensor:
        """The log p(x), K times: float64 [K]. `states` is K, since there is nothing else to say of them."""
        return -self.losses([text]).double().expand(states).cpu()

    def states_of(self, text: Structured) -> int:
        """K = 1."""
        return 1

    @torch.no_grad()
    def sample(self, count: int, longest: int, generator: torch.Generator) -> list[Structured]:
        """See `LatentModel.sample`; without `ends` all texts have `longest` tokens, with it they have at least one."""
        begin = len(self.vocabulary)
        words, memory = torch.full((count,), begin, device=self.device), None
        drawn = []
        for step in range(longest):
            hidden, memory = self.reader.step(words, memory)
            logits = self.output.logits(hidden, self.reader).double()
            if step == 0 and self.settings.ends:
                logits[:, begin] = -torch.inf  # an empty text is no text
            words = drawn_from(logits, generator)
            drawn.append(words)
        rows = torch.stack(drawn, 1).tolist()
        return [Structured(f"sample-{number}", words_until(row, self.vocabulary)) for number, row in enumerate(rows, 1)]

    def _log_begins(self, hidden: torch.Tensor) -> torch.Tensor:
        """The log probability that the first of all is a word, not the end: [texts]."""
        end = len(self.vocabulary)
        logits = self.output.logits(hidden, self.reader).double()
        return logits[:, :end].logsumexp(1) - logits.logsumexp(1)


class WordReader(nn.Module):
    """Word vectors and an LSTM over them.

    Args:
        settings: `embedding`, `hidden`, `layers`, `dropout`.
        words: V; number V is the boundary, read before the first word.
        both_ways: a second LSTM reads from the end; hidden states are then of 2 * `hidden` values.
    """

    def __init__(self, settings: LstmModel | EntitySizes, words: int, both_ways: bool = False) -> None:
        super().__init__()
        embedding, hidden, layers = settings.embedding, settings.hidden, settings.layers
        self.embedding = nn.Embedding(words + 1, embedding)
        nn.init.uniform_(self.embedding.weight, -FIRST_WEIGHT, FIRST_WEIGHT)
        between = settings.dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(embedding, hidden, layers, batch_first=True, dropout=between, bidirectional=both_ways)
        self.dropout = nn.Dropout(settings.dropout)
        self.boundary = words
        self.size = hidden * (1 + both_ways)

    def forward(self, numbers: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Hidden states before the first word and after each one.

        Args:
            numbers: int64 [texts, words], padded with any number.
            lengths: int64 [texts], needed if it reads both ways; what is behind them is not read then.

        Returns:
            [texts, words + 1, size]
        """
        begins = numbers.new_full((len(numbers), 1), self.boundary)
        vectors = self.dropout(self.embedding(torch.cat([begins, numbers], 1)))
        if lengths is None:
            return self.dropout(self.lstm(vectors)[0])
        packed = pack_padded_sequence(vectors, (lengths + 1).cpu(), batch_first=True, enforce_sorted=False)
        return self.dropout(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])

    def step(self, numbers: torch.Tensor, memory: Memory | None) -> tuple[torch.Tensor, Memory]:
        """Read one word more of each row, [rows]: hidden states [rows, size], and what it needs for the next word."""
        hidden, memory = self.lstm(self.dropout(self.embedding(numbers))[:, None], memory)
        return self.dropout(hidden[:, 0]), memory


class WordOutput(nn.Module):
    """The distribution of the next word: softmax of its vectors times a hidden state.

    Args:
        settings: `embedding`, `hidden` and `tied`.
        words: of the distribution, V or with the end V + 1.

    Raises:
        TextcriticError: `tied` where `embedding` is not `hidden`.
    """

    def __init__(self, settings: LstmModel | EntityNlmModel, words: int) -> None:
        super().__init__()
        if settings.tied and settings.embedding != settings.hidden:
            sizes = f"{settings.embedding} and {settings.hidden}"
            raise TextcriticError(f"model.tied: needs an embedding of the size of hidden; they are {sizes}")
        self.bias = nn.Parameter(torch.zeros(words))
        # Tied rows belong to the reader: a tensor under two names is not saved.
        self.weight = None if settings.tied else nn.Parameter(torch.empty(words, settings.hidden))
        if self.weight is not None:
            nn.init.uniform_(self.weight, -FIRST_WEIGHT, FIRST_WEIGHT)

    def logits(self, hidden: torch.Tensor, reader: WordReader) -> torch.Tensor:
        """[rows, hidden] -> [rows, words]; the reader is that of the same model."""
        weight = reader.embedding.weight[: len(self.bias)] if self.weight is None else self.weight
        return nn.functional.linear(hidden, weight, self.bias)

    def log_prob(self, hidden: torch.Tensor, words: torch.Tensor, reader: WordReader) -> torch.Tensor:
        """The log probability of one word for each row: [rows, hidden], int64 [rows] -> [rows]."""
        at_once = max(1, LOGITS_AT_ONCE // len(self.bias))
        parts = [
            -nn.functional.cross_entropy(self.logits(rows, reader), targets, reduction="none")
            for rows, targets in zip(hidden.split(at_once), words.split(at_once), strict=True)
        ]
        return torch.cat(parts)


def count_tokens(text: Structured, uncounted: Sequence[str]) -> int:
    """The tokens of a text that are not among the words `uncounted`."""
    left_out = frozenset(uncounted)
    return sum(token not in left_out for token in text.tokens)


def padded(
    vocabulary: Vocabulary, texts: Sequence[Structured], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers of words [texts, tokens of the longest], 0 behind the end, and tokens of each text [texts]; int64."""
    rows = [vocabulary.encode(text.tokens) for text in texts]
    numbers = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return numbers.to(device), torch.tensor([len(row) for row in rows], device=device)


def sums_by_row(values: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """The sums of each row of a mask [rows, columns] over the values where it is true, which come row by row: [rows].

    In float64, since hundreds of them are added up.
    """
    whole = values.new_zeros(inside.shape, dtype=torch.float64).masked_scatter(inside, values.double())
    return whole.sum(1)


def drawn_from(logits: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A number of each row by the softmax of its logits, [rows, numbers] -> int64 [rows]."""
    probabilities = logits.softmax(1).to(generator.device)
    return torch.multinomial(probabilities, 1, generator=generator)[:, 0].to(logits.device)


def words_until(numbers: Sequence[int], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The words of drawn numbers, up to the first boundary."""
    end = numbers.index(len(vocabulary)) if len(vocabulary) in numbers else len(numbers)
    return tuple(vocabulary.words[number] for number in numbers[:end])
