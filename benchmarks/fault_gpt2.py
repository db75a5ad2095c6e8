"""A small GPT-2 of the words of one corpus: points for MAUVE, and perplexity, beside the measures of the scorecard."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

WORDS, CONTEXT, LAYERS, WIDTH, EPOCHS, BATCH = 2500, 180, 2, 96, 5, 16


class SmallGpt2:
    """Two layers of 96, on the 2,500 commonest words in lower case, trained on real texts for five passes."""

    def __init__(self, texts: Sequence[str], seed: int) -> None:
        torch.manual_seed(seed)
        counts = Counter(word for text in texts for word in text.lower().split())
        self._ids = {word: n + 3 for n, (word, _) in enumerate(counts.most_common(WORDS))}  # 0: pad, 1: begin, 2: other
        heads = {"n_layer": LAYERS, "n_embd": WIDTH, "n_head": 4, "vocab_size": WORDS + 3, "n_positions": CONTEXT + 1}
        self._model = GPT2LMHeadModel(GPT2Config(**heads, bos_token_id=1, eos_token_id=1, pad_token_id=0))
        optimiser = torch.optim.AdamW(self._model.parameters(), lr=2e-3)
        rows = self._encoded(texts)
        steps = EPOCHS * -(-len(rows) // BATCH)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
        generator = torch.Generator().manual_seed(seed)
        self._model.train()
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(rows), generator=generator).split(BATCH):
                ids = rows[batch]
                loss = self._model(ids, attention_mask=ids > 0, labels=ids.masked_fill(ids == 0, -100)).loss
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
        self._model.eval()

    def _encoded(self, texts: Sequence[str]) -> torch.Tensor:
        rows = torch.zeros(len(texts), CONTEXT + 1, dtype=torch.long)
        for row, text in zip(rows, texts, strict=True):
            ids = [1, *(self._ids.get(word, 2) for word in text.lower().split()[:CONTEXT])]
            row[: len(ids)] = torch.tensor(ids)
        return rows

    @torch.inference_mode()
    def read(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The last hidden state of the last word [documents, 96]; nats and words of each [documents, 2]."""
        points, sums = [], []
        for ids in self._encoded(texts).split(50):
            out = self._model(ids, attention_mask=ids > 0, output_hidden_states=True)
            kept = ids[:, 1:] > 0
            nll = torch.nn.functional.cross_entropy(out.logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
            last = kept.sum(1)
            points.append(out.hidden_states[-1][torch.arange(len(ids)), last])
            sums.append(torch.stack([(nll * kept).sum(1), last.clamp(min=1).float()], 1))
        return torch.cat(points).numpy(), torch.cat(sums).double().numpy()
