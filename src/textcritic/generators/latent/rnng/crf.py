"""A constituency CRF: a distribution q(z | x) of binary trees z over the words of a sentence x, which it reads whole.

An LSTM in both directions reads words and their positions; a span's score is computed from the differences of what it
has read at the span's ends (Kim et al. 2019, section 3.2; Stern et al. 2017). A temperature divides all scores before
the sum over trees: q is proportional to exp(score / temperature) over whole trees, not split by split.
"""

from collections.abc import Sequence

import numpy as np
import torch

from textcritic.corpora.structured.texts import REDUCE, Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.model import Proposal
from textcritic.generators.latent.rnng.charts import Chart, best_trees, tree_scores
from textcritic.generators.latent.rnng.stacks import PAD, Steps
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import CrfModel


class CRF(Proposal[CrfModel, torch.Tensor]):
    """See the module.

    Settings: `hidden` (width of words and of each direction), `dropout`, `longest` (the most words of a sentence).
    """

    kind, form = "crf", CrfModel

    def __init__(self, settings: CrfModel, vocabulary: Vocabulary) -> None:
        super().__init__(settings, vocabulary)
        width, words = settings.hidden, len(vocabulary)
        self.begin, self.finish = words, words + 1  # the numbers of the two ends of a sentence
        self.words = torch.nn.Embedding(words + 2, width)
        self.positions = torch.nn.Embedding(settings.longest + 2, width)
        self.reader = torch.nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.ends = torch.nn.Linear(2 * width, width)
        self.score = torch.nn.Linear(width, 1, bias=False)  # a constant is in all trees as often, and cancels
        self.dropout = torch.nn.Dropout(settings.dropout)

    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """-log q(z | x) of each text's tree, in nats [texts], see `Learner`."""
        for text in texts:
            if not text.actions:
                raise TextcriticError(f"{text.id}: has no tree; a CRF is trained on texts with trees")
        scores, lengths = self.span_scores(texts), [len(text.tokens) for text in texts]
        actions = np.full((len(texts), 2 * max(lengths) - 1), PAD, np.int64)
        for row, text in enumerate(texts):
            actions[row, : len(text.actions)] = text.actions
        trees = _tree_scores(scores, actions, np.array(lengths), np.arange(len(texts)))
        return Chart.of(scores).log_partition(torch.tensor(lengths)) - trees

    @torch.no_grad()
    def draw(
        self, text: Structured, count: int, temperature: float, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Trees int8 [K, 2n - 1], drawn independently, and their log q, float64 [K]."""
        chart = Chart.of(self.span_scores([text]).double() / temperature)
        actions, log_q = chart.draw(count, generator)
        return torch.from_numpy(actions), log_q

    @torch.no_grad()
    def log_q(self, text: Structured, states: torch.Tensor, temperature: float) -> torch.Tensor:
        """The log q of trees [K, 2n - 1] at a temperature: float64 [K].

        Raises:
            TextcriticError: a row is not a tree over the words.
        """
        n, count = len(text.tokens), len(states)
        if states.shape[1] != 2 * n - 1:
            raise TextcriticError(f"{text.id}: trees of {states.shape[1]} actions do not fit {n} words")
        scores = self.span_scores([text]).double() / temperature
        trees = _tree_scores(scores, states.cpu().numpy(), np.full(count, n), np.zeros(count, np.int64))
        return (trees - Chart.of(scores).log_partition(torch.tensor([n]))).cpu()

    @torch.no_grad()
    def best(self, text: Structured, count: int) -> torch.Tensor:
        """The trees with the highest q, the best first, all different: int8 [at most count, 2n - 1]."""
        return torch.from_numpy(best_trees(self.span_scores([text])[0].double(), count))

    def span_scores(self, texts: Sequence[Structured]) -> torch.Tensor:
        """Scores [texts, first word, last word], above the diagonal.

        Raises:
            TextcriticError: a text longer than `longest`.
        """
        longest = self.settings.longest
        for text in texts:
            if len(text.tokens) > longest:
                raise TextcriticError(
                    f"{text.id}: has {len(text.tokens)} words; the proposal reads at most {longest} (model.longest)"
                )
        rows = [
            torch.tensor([self.begin, *self.vocabulary.encode(text.tokens).tolist(), self.finish]) for text in texts
        ]
        numbers = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.finish).to(self.device)
        places = torch.arange(numbers.shape[1], device=self.device)
        read = self.dropout(self.words(numbers) + self.positions(places))
        lengths = torch.tensor([len(row) for row in rows])
        packed = torch.nn.utils.rnn.pack_padded_sequence(read, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = torch.nn.utils.rnn.pad_packed_sequence(self.reader(packed)[0], batch_first=True)
        forward, backward = self.dropout(outputs).chunk(2, 2)
        n = numbers.shape[1] - 2
        # The first layer of a span's score is linear in the differences, so it is computed end by end.
        zeros = torch.zeros_like(forward[:, :n])
        ends = self.ends(torch.cat([forward[:, 1 : n + 1], -backward[:, 2 : n + 2]], 2))
        starts = self.ends(torch.cat([-forward[:, :n], backward[:, 1 : n + 1]], 2)) - self.ends(
            torch.cat([zeros, zeros], 2)
        )
        first, last = torch.triu_indices(n, n, 1, device=self.device)
        scores = outputs.new_zeros(len(texts), n, n)
        scores[:, first, last] = self.score((starts[:, first] + ends[:, last]).relu())[..., 0].to(scores.dtype)
        return scores


def _tree_scores(scores: torch.Tensor, actions: np.ndarray, words: np.ndarray, sentence: np.ndarray) -> torch.Tensor:
    """Scores of trees [trees, steps] over so many words each, of sentences by their rows in `scores`."""
    steps = Steps.of(np.asarray(actions, np.int64), words)
    spans = np.where(steps.actions == REDUCE, steps.start, -1)
    move = lambda numbers: torch.from_numpy(np.ascontiguousarray(numbers)).to(scores.device)  # noqa: E731
    return tree_scores(scores, move(sentence), move(spans), move(steps.end))
