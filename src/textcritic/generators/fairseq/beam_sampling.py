"""Beam sampling: a beam whose extensions are drawn (Meister and Cotterell 2021, "Beyond Perplexity", section 4)."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from textcritic.generators.decoding import Decoding, Uniforms
from textcritic.generators.drawing import draw
from textcritic.generators.fairseq.models import FairseqModel
from textcritic.generators.fairseq.steps import Steps, batches


def sample_beams(
    model: FairseqModel,
    sources: Sequence[np.ndarray] | None,
    indices: Sequence[int],
    decoding: Decoding,
    seed: int,
) -> Iterator[tuple[int, list[int], bool]]:
    """Draw texts by beam sampling, yielding (index, symbols, whether it ended).

    At each step k symbols are drawn for each of the k hypotheses, from the model's own distribution and with
    replacement, and the k most probable of these k * k extensions stay. Where the paper is silent: the same extension
    drawn twice counts once; a hypothesis that has ended stays with the probability that it has, and competes with the
    others; the text is the most probable one, as soon as that one has ended, since nothing can become more probable.

    Args:
        model: autoregressive, on its device.
        sources: symbols of the texts to translate, end included; None for a language model.
        indices: of the texts, see `steps.batches`.
        decoding: k is its `beam`; `max_tokens` and `batch_size` as elsewhere.
        seed: see `shards.Shard`; each step takes k * k numbers of a text's stream.
    """
    for batch, given in batches(indices, sources, decoding.batch_size):
        # Not around the yield: the caller's code does not run in inference mode.
        with torch.inference_mode():
            drawn = _Beams(model, given, batch, decoding, seed).run()
        for index, (symbols, ended) in zip(batch, drawn, strict=True):
            yield index, symbols, ended


class _Beams:
    """Beams of one batch; n is the number of texts that are not done, k the beam."""

    def __init__(
        self,
        model: FairseqModel,
        sources: Sequence[np.ndarray] | None,
        batch: Sequence[int],
        decoding: Decoding,
        seed: int,
    ) -> None:
        self.end, self.beam, self.max_tokens = model.dictionary.eos(), decoding.beam, decoding.max_tokens
        self.steps = Steps(model, sources, len(batch), copies=self.beam)
        self.device = next(model.module.parameters()).device
        self.uniforms = Uniforms.of(seed, batch)
        self.texts = np.arange(len(batch))
        self.drawn: list[tuple[list[int], bool]] = [([], False)] * len(batch)
        rows = (len(batch), self.beam)
        self.symbols = torch.full((len(batch) * self.beam, 1), self.end, device=self.device)  # [n k, step + 1]
        self.ended = torch.zeros(rows, dtype=torch.bool, device=self.device)
        # At the start the hypotheses of a text are the same, so that all but one are left out.
        self.scores = torch.full(rows, -torch.inf, dtype=torch.float64, device=self.device)
        self.scores[:, 0] = 0

    def run(self) -> list[tuple[list[int], bool]]:
        for step in range(self.max_tokens):
            origin = self._step()
            left = self._finish(last=step == self.max_tokens - 1)
            if not len(left):
                break
            self._keep(left, origin)
        return self.drawn

    def _step(self) -> torch.Tensor:
        """Draw extensions and keep the most probable; returns the row that each hypothesis goes on from [n, k]."""
        n, k = self.scores.shape
        log_probs = self.steps.log_probs(self.symbols)
        numbers = np.stack([self.uniforms.next(np.arange(n)) for _ in range(k * k)], axis=1).reshape(n * k, k)
        symbol = draw(log_probs, numbers, Decoding()).to(self.device)  # [n k, k]
        again = torch.tril(symbol[:, :, None] == symbol[:, None, :], diagonal=-1).any(dim=2)
        extended = self.scores.view(-1, 1) + log_probs.gather(1, symbol).double()
        extended = extended.masked_fill(again | self.ended.view(-1, 1), -torch.inf).view(n, k * k)
        # Behind the extensions stand the hypotheses that have ended.
        stay = self.scores.masked_fill(~self.ended, -torch.inf)
        self.scores, chosen = torch.cat([extended, stay], dim=1).topk(k, dim=1)
        stays = chosen >= k * k
        hypothesis = torch.where(stays, chosen - k * k, chosen // k)
        origin = torch.arange(n, device=self.device)[:, None] * k + hypothesis
        drawn = symbol.view(n, k * k).gather(1, chosen.clamp(max=k * k - 1))
        drawn = drawn.masked_fill(stays, self.end)
        self.symbols = torch.cat([self.symbols[origin.flatten()], drawn.view(-1, 1)], dim=1)
        self.ended = drawn == self.end
        return origin

    def _finish(self, last: bool) -> np.ndarray:
        """Take the texts whose most probable hypothesis has ended; returns which of the n are left."""
        best = self.ended[:, 0].cpu().numpy()
        done = best | last
        for row in np.flatnonzero(done).tolist():
            symbols = self.symbols[row * self.beam, 1:].tolist()
            length = symbols.index(self.end) + 1 if best[row] else len(symbols)
            self.drawn[self.texts[row]] = symbols[:length], bool(best[row])
        return np.flatnonzero(~done)

    def _keep(self, left: np.ndarray, origin: torch.Tensor) -> None:
        """Go on with those texts alone."""
        kept = torch.from_numpy(left).to(self.device)
        self.symbols = self.symbols.view(len(self.texts), self.beam, -1)[kept].flatten(0, 1)
        self.scores, self.ended, self.texts = self.scores[kept], self.ended[kept], self.texts[left]
        self.uniforms.keep(left)
        self.steps.reorder(origin[kept].flatten())
