"""Beam search with an autoregressive model of fairseq, a whole batch of texts at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from textcritic.generators.fairseq.models import FairseqModel
from textcritic.generators.fairseq.steps import Steps, batches


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A text that a search has finished.

    Attributes:
        symbols: int64 [symbols], the end included.
        score: mean log probability of a symbol, nats.
        cut: whether it was ended at the limit, where the end was not the likeliest symbol.
    """

    symbols: np.ndarray
    score: float
    cut: bool


def search_texts(
    model: FairseqModel,
    sources: Sequence[np.ndarray] | None,
    indices: Sequence[int],
    beam: int,
    max_tokens: int,
    rows: int = 64,
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """The finished hypotheses of each text, the best first.

    As in fairseq: at each step the best `beam` of all extensions of the hypotheses go on. One among the best `beam`
    extensions that ends is finished, with the mean log probability of its symbols as its score. A text is done once it
    has `beam` finished hypotheses, or at `max_tokens`, where every hypothesis ends. No text is empty. Nothing is drawn.

    Source: the scores, Wu et al. 2016 (arXiv 1609.08144), section 7, with the plain length as length penalty, fairseq's
    default.

    Args:
        model: autoregressive, on its device.
        sources: symbols of the texts to translate, end included; None for a language model.
        indices: of the texts, see `steps.batches`.
        beam: hypotheses that are kept; 1 takes the likeliest symbol each time.
        max_tokens: longest text, the end included.
        rows: texts side by side.
    """
    for batch, given in batches(indices, sources, rows):
        # Not around the yield: the caller's code does not run in inference mode.
        with torch.inference_mode():
            finished = _Search(model, given, len(batch), beam, max_tokens).run()
        for index, hypotheses in zip(batch, finished, strict=True):
            yield index, sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)


class _Search:
    """Beam search for one batch; n is the number of texts that are not done, k the beam, V the number of symbols."""

    def __init__(
        self, model: FairseqModel, sources: Sequence[np.ndarray] | None, texts: int, beam: int, max_tokens: int
    ) -> None:
        self.end, self.beam, self.max_tokens = model.dictionary.eos(), beam, max_tokens
        self.steps = Steps(model, sources, texts, copies=beam)
        self.device = next(model.module.parameters()).device
        self.finished: list[list[Hypothesis]] = [[] for _ in range(texts)]
        self.texts = list(range(texts))
        self.symbols = torch.full((texts * beam, 1), self.end, device=self.device)  # [n k, step + 1]
        # At the start the hypotheses of a text are the same, so that all but one are left out.
        self.scores = torch.full((texts, beam), -torch.inf, device=self.device)
        self.scores[:, 0] = 0

    def run(self) -> list[list[Hypothesis]]:
        for step in range(self.max_tokens):
            self._step(last=step == self.max_tokens - 1)
            if not self.texts:
                break
        return self.finished

    def _step(self, last: bool) -> None:
        """Extend all hypotheses by one symbol; on the `last` step, by the end."""
        log_probs = self.steps.log_probs(self.symbols)
        cut = (log_probs.argmax(dim=1) != self.end) if last else torch.zeros_like(self.symbols[:, 0], dtype=torch.bool)
        if last:
            ends = log_probs[:, self.end].clone()
            log_probs.fill_(-torch.inf)[:, self.end] = ends
        elif self.symbols.shape[1] == 1:
            log_probs[:, self.end] = -torch.inf
        n, k, symbols = len(self.texts), self.beam, log_probs.shape[1]
        totals = (self.scores.view(-1, 1) + log_probs).view(n, k * symbols)
        # At most k of the best 2 k extensions end, one of each hypothesis, so that k are left to go on.
        best, at = totals.topk(min(2 * k, k * symbols), dim=1)
        origin = torch.arange(n, device=self.device)[:, None] * k + at // symbols  # row [n, 2 k]
        symbol = at % symbols
        self._finish(best[:, :k], origin[:, :k], symbol[:, :k], cut)
        self._go_on(best.masked_fill(symbol == self.end, -torch.inf), origin, symbol, last)

    def _finish(self, best: torch.Tensor, origin: torch.Tensor, symbol: torch.Tensor, cut: torch.Tensor) -> None:
        """Keep those of the best extensions [n, k] that end, until a text has as many as the beam."""
        endings = ((symbol == self.end) & best.isfinite()).nonzero()
        rows = origin[endings[:, 0], endings[:, 1]]
        texts = self.symbols[rows].cpu().numpy()
        scores = best[endings[:, 0], endings[:, 1]].tolist()
        for text, symbols, score, was_cut in zip(
            endings[:, 0].tolist(), texts, scores, cut[rows].tolist(), strict=True
        ):
            hypotheses = self.finished[self.texts[text]]
            if len(hypotheses) < self.beam:
                ended = np.append(symbols[1:], self.end)
                hypotheses.append(Hypothesis(ended, score / len(ended), was_cut))

    def _go_on(self, best: torch.Tensor, origin: torch.Tensor, symbol: torch.Tensor, last: bool) -> None:
        """Go on with the best extensions that do not end, of the texts that are not done."""
        self.scores, chosen = best.topk(self.beam, dim=1)
        alive = self.scores[:, 0].isfinite().tolist()
        left = [
            row
            for row, text in enumerate(self.texts)
            if not last and alive[row] and len(self.finished[text]) < self.beam
        ]
        self.texts = [self.texts[row] for row in left]
        if not left:
            return
        kept = torch.tensor(left, device=self.device)
        self.scores, chosen = self.scores[kept], chosen[kept]
        rows = origin[kept].gather(1, chosen).flatten()
        extended = symbol[kept].gather(1, chosen).view(-1, 1)
        self.symbols = torch.cat([self.symbols[rows], extended], dim=1)
        self.steps.reorder(rows)
