"""A key-value cache for beams: what the hypotheses of a text share is stored once and read once.

Hypothesis r of text t writes its tokens into row r * texts + t, and nothing is copied when another one goes on from it:
for each column it is known in whose row a hypothesis finds its token (its `lane`), and a mask hides the rows of the
others. Hypotheses soon have one common past. Where all that live have the same token, it is moved to the row of rank
0, which all read at once; only the last columns, in which they differ, are read from the rows of all ranks.
"""

from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from textcritic.generators.cache import ArticleCache, layer_dtype

TREE = "textcritic_beams"


class BeamCache(ArticleCache):
    """Keys and values of the hypotheses of several texts.

    Args:
        texts: n, side by side.
        beam: k, hypotheses of each.
        window: see `ArticleCache`.

    Attributes:
        lanes: the rank in whose row a hypothesis finds its token, int [n, k, s], for the last s columns; in those
            before, all tokens are in the row of rank 0.
    """

    def __init__(self, texts: int, beam: int, window: int) -> None:
        super().__init__(texts * beam, window)
        self.texts, self.beam = texts, beam
        self.lanes = np.zeros((texts, beam, 0), np.int64)
        self.fed = torch.arange(0)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store one token of each row in `fed`; return all visible columns of all rows."""
        if layer_idx == len(self._states):
            self._states.append((self._empty(key_states), self._empty(value_states)))
        keys, values = self._states[layer_idx]
        keys[self.fed, :, self.column] = key_states[:, :, 0]
        values[self.fed, :, self.column] = value_states[:, :, 0]
        return keys[:, :, self.low : self.column + 1], values[:, :, self.low : self.column + 1]

    def begin(self, longest: int, fed: np.ndarray) -> None:
        """Make ready for a step that feeds rows `fed` [m]; each hypothesis finds its new token in its own row."""
        self.step(longest)
        self.fed = self._tensor(fed)
        self.lanes = self.lanes[:, :, max(self.lanes.shape[2] - longest, 0) :]  # those in a context
        own = np.broadcast_to(np.arange(self.beam)[:, None], (self.texts, self.beam, 1))
        self.lanes = np.concatenate([self.lanes, own], axis=2)

    def branch(self, origin: np.ndarray, alive: np.ndarray) -> None:
        """From now on a hypothesis goes on from the one of rank `origin` [n, k]; those not `alive` [n, k] are gone."""
        self.lanes = np.take_along_axis(self.lanes, origin[:, :, None], axis=1)
        first = self.lanes[:, :1]
        differs = ((self.lanes != first) & alive[:, :, None]).any(axis=1)  # [n, s]
        shared = np.cumsum(differs, axis=1) == 0
        text, at = np.nonzero(shared & (first[:, 0] > 0))
        if len(text):
            self._move(text, self.column - self.lanes.shape[2] + at, first[text, 0, at])
        self.lanes[np.broadcast_to(shared[:, None], self.lanes.shape)] = 0
        self.lanes = self.lanes[:, :, int(shared.sum(axis=1).min(initial=self.lanes.shape[2])) :]

    def restart(self, places: np.ndarray) -> None:
        """Texts at `places` [m] begin afresh."""
        self.lanes[places] = 0

    def own(self, places: np.ndarray) -> None:
        """All hypotheses of the texts at `places` [m] have their whole context in their own rows from now on.

        What they share they find in the row of rank 0 as before, where it is the same.
        """
        differ = self.lanes[places] != self.lanes[places][:, :1]
        self.lanes[places] = np.where(differ.any(axis=1, keepdims=True), np.arange(self.beam)[:, None], 0)

    def keep_texts(self, places: np.ndarray) -> None:
        """Drop all texts but those at `places` [m]; they are numbered anew from 0."""
        rows = (np.arange(self.beam)[:, None] * self.texts + places).reshape(-1)
        self.texts, self.lanes = len(places), self.lanes[places]
        self.keep(self._tensor(rows))

    def _move(self, text: np.ndarray, column: np.ndarray, lane: np.ndarray) -> None:
        texts, columns, rows = (self._tensor(part) for part in (text, column, lane * self.texts + text))
        for pair in self._states:
            for states in pair:
                states[texts, :, columns] = states[rows, :, columns]

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        return tensor.to(self._states[0][0].device, non_blocking=True) if self._states else tensor


class _Tree:
    """What one step's attention needs, for all layers: masks to add to scores, and where the rows are."""

    def __init__(self, cache: BeamCache, lengths: np.ndarray, longest: int, dtype: torch.dtype, on: torch.device):
        n, k, s = cache.lanes.shape
        self.texts, self.beam, self.suffix, self.fed = n, k, s, cache.fed
        columns = np.arange(longest + 1) < (longest + 1 - lengths)[:, None]  # those left of each text's context
        before = longest + 1 - s
        others = (cache.lanes[:, :, None, :] != np.arange(k)[:, None]) | columns[:, None, None, before:]
        tree = np.empty((n, 1, k, before + k * s), bool)
        tree[..., :before] = columns[:, None, None, :before]
        tree[:, 0, :, before:] = others.reshape(n, k, k * s)
        mask = torch.from_numpy(tree).to(on, non_blocking=True)
        # [n, 1, k, before + k * s]
        self.mask = torch.zeros(mask.shape, dtype=dtype, device=on).masked_fill_(mask, torch.finfo(dtype).min)


def next_beam_logits(
    model: PreTrainedModel, cache: BeamCache, fed: np.ndarray, tokens: np.ndarray, lengths: np.ndarray
) -> torch.Tensor:
    """Feed one token to each living hypothesis; returns the logits [m, vocabulary] of the next, on the model's device.

    Args:
        model: a causal language model in a `tree_attention` block.
        cache: holds what comes before these tokens.
        fed: rows of the hypotheses [m], int64: rank * texts + text.
        tokens: [m] token ids, int64.
        lengths: of each text's context, this token included, [n], int64.
    """
    longest = int(lengths.max()) - 1
    cache.begin(longest, fed)
    on = model.device
    inputs = torch.from_numpy(np.stack([tokens, lengths[fed % cache.texts] - 1])).to(on, non_blocking=True)
    cache.fed = cache.fed.to(on)
    output = model(
        input_ids=inputs[0].unsqueeze(1),
        position_ids=inputs[1].unsqueeze(1),
        attention_mask=torch.zeros((len(fed), 1, 1, longest + 1), dtype=layer_dtype(model), device=on),  # not read
        past_key_values=cache,
        use_cache=True,
        tree=_Tree(cache, lengths, longest, layer_dtype(model), on),
    )
    cache.advance()
    logits: torch.Tensor = output.logits[:, -1]
    return logits


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    tree: _Tree | None = None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention of living hypotheses; query [m, heads, 1, d], key and value [k * n, key heads, columns, d].

    Without a `tree`, as transformers' sdpa attention.
    """
    if tree is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    n, k, s = tree.texts, tree.beam, tree.suffix
    heads, size, key_heads, columns = query.shape[1], query.shape[3], key.shape[1], key.shape[2]
    every = query.new_zeros((k * n, heads * size))
    every[tree.fed] = query.reshape(len(query), -1)
    group = heads // key_heads
    # [n, key heads, k * group, d]: the queries that read the same keys
    queries = every.view(k, n, key_heads, group, size).permute(1, 2, 0, 3, 4).reshape(n, key_heads, k * group, size)
    keys, values = (_together(part.view(k, n, key_heads, columns, size), s) for part in (key, value))
    mask = tree.mask if group == 1 else tree.mask.repeat_interleave(group, dim=2)
    attended = scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=scaling)
    by_row = attended.view(n, key_heads, k, group, size).permute(2, 0, 1, 3, 4).reshape(k * n, heads, size)
    return by_row[tree.fed].unsqueeze(1), None


def _together(states: torch.Tensor, suffix: int) -> torch.Tensor:
    """[n, heads, columns - suffix + k * suffix, d] of [k, n, heads, columns, d]: what is shared, then all ranks' own.

    Copying them into one tensor takes less time than attending to the parts one by one.
    """
    before = states.shape[3] - suffix
    return torch.cat([states[0, :, :, :before], *states[:, :, :, before:]], dim=2)


AttentionInterface.register(TREE, _attend)
AttentionMaskInterface.register(TREE, sdpa_mask)
