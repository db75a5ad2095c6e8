"""A preallocated key-value cache whose rows hold articles of different lengths.

All rows write to one shared column. Row r's article occupies the columns just before it, as many as the row has tokens
in its context, and a mask hides what lies further left, so a finished row is handed to the next article at once: its
context is simply empty again. Neighbouring tokens sit in neighbouring columns, which is what models with local
attention (GPT-Neo) rely on.
"""

from typing import Any

import torch
from transformers import Cache, PreTrainedModel

from textcritic.errors import TextcriticError

SMALLEST_CAPACITY = 128
PREFILL_TOKENS = (
    16_384  # bounds the memory of one prefill, whose attention is quadratic in models without a fused kernel
)


class ArticleCache(Cache):
    """Keys and values [rows, heads, capacity, head size] of every layer, allocated at the first update.

    Args:
        rows: articles side by side.
        window: longest context, in tokens. The capacity starts small, doubles as contexts grow, and stays within
            window + window // 4 columns; the surplus pays for shifting the columns back only now and then.
    """

    def __init__(self, rows: int, window: int) -> None:
        super().__init__(layers=[])
        self.rows, self.column, self.low = rows, 0, 0
        self.limit = window + max(window // 4, 1)
        self.capacity = min(SMALLEST_CAPACITY, self.limit)
        self._states: list[tuple[torch.Tensor, torch.Tensor]] = []

    def step(self, longest: int) -> None:
        """Make ready for one token a row, where the longest context so far has `longest` tokens in the cache."""
        if self.column == self.capacity:
            if longest > self.capacity // 2 and self.capacity < self.limit:
                self.capacity = min(2 * self.capacity, self.limit)
            self._rebase(longest)
        self.low = self.column - longest

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store one token a row [rows, heads, 1, head size] in the shared column; return all visible columns."""
        if layer_idx == len(self._states):
            self._states.append((self._empty(key_states), self._empty(value_states)))
        keys, values = self._states[layer_idx]
        keys[:, :, self.column] = key_states[:, :, 0]
        values[:, :, self.column] = value_states[:, :, 0]
        return keys[:, :, self.low : self.column + 1], values[:, :, self.low : self.column + 1]

    def advance(self) -> None:
        """The token of this step is in all layers: move to the next column."""
        self.column += 1

    def put(self, layer: int, rows: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Replace the context of `rows` [n] in one layer by states [n, heads, length, head size]."""
        start = self.column - keys.shape[2]
        self._states[layer][0][rows, :, start : self.column] = keys
        self._states[layer][1][rows, :, start : self.column] = values

    def keep(self, rows: torch.Tensor) -> None:
        """Drop all rows but `rows` [n]; they are numbered anew from 0."""
        self.rows = len(rows)
        self._states = [(keys[rows], values[rows]) for keys, values in self._states]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Columns that are visible before this step's token."""
        return self.column - self.low

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """Visible columns with this step's token, and the first one's offset."""
        return self.column - self.low + query_length, 0

    def _empty(self, like: torch.Tensor) -> torch.Tensor:
        # Zeros, not uninitialised memory: a hidden column has weight 0, and 0 times NaN would be NaN.
        return like.new_zeros((self.rows, like.shape[1], self.capacity, like.shape[3]))

    def _rebase(self, longest: int) -> None:
        """Move the last `longest` columns to the front, into larger tensors if the capacity has grown."""
        for layer, pair in enumerate(self._states):
            moved = []
            for states in pair:
                live = states[:, :, self.column - longest : self.column]
                target = states if states.shape[2] == self.capacity else self._empty(states)
                target[:, :, :longest] = live.clone() if target is states else live
                moved.append(target)
            self._states[layer] = (moved[0], moved[1])
        self.column = longest


class _Prefill(Cache):
    """What a model sees as its cache while contexts are computed afresh: nothing before, and states to be stored."""

    def __init__(self, target: ArticleCache, rows: torch.Tensor) -> None:
        super().__init__(layers=[])
        self.target, self.target_rows = target, rows

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.target.put(layer_idx, self.target_rows, key_states, value_states)
        return key_states, value_states

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        return query_length, 0


def next_logits(
    model: PreTrainedModel, cache: ArticleCache, tokens: torch.Tensor, positions: torch.Tensor
) -> torch.Tensor:
    """Feed one token a row and return the logits [rows, vocabulary] of the next ones.

    Args:
        model: a causal language model, on the device of `tokens`.
        cache: holds the rows' contexts before these tokens.
        tokens: [rows] token ids.
        positions: [rows] positions of the tokens in their contexts, which is also how many tokens each row has cached.
    """
    longest = int(positions.max())
    cache.step(longest)
    hidden = torch.arange(longest + 1, device=tokens.device) < (longest - positions).unsqueeze(1)
    dtype = _dtype(model)
    mask = torch.zeros(hidden.shape, dtype=dtype, device=tokens.device).masked_fill_(hidden, torch.finfo(dtype).min)
    output = model(
        input_ids=tokens.unsqueeze(1),
        position_ids=positions.unsqueeze(1),
        attention_mask=mask[:, None, None, :],
        past_key_values=cache,
        use_cache=True,
    )
    cache.advance()
    logits: torch.Tensor = output.logits[:, -1]
    return logits


def prefill(model: PreTrainedModel, cache: ArticleCache, rows: torch.Tensor, context: torch.Tensor) -> None:
    """Compute the contexts of `rows` [n] afresh from tokens [n, length], at positions 0 to length - 1."""
    length = context.shape[1]
    if length == 0:
        return
    positions = torch.arange(length, device=context.device).unsqueeze(0)
    for part in torch.arange(len(rows), device=rows.device).split(max(PREFILL_TOKENS // length, 1)):
        model.base_model(
            input_ids=context[part],
            position_ids=positions.expand(len(part), -1),
            past_key_values=_Prefill(cache, rows[part]),
            use_cache=True,
        )


def require_support(model: PreTrainedModel, name: str, window: int) -> None:
    """Check that the model can be sampled from with `ArticleCache`, by comparing two rows with a plain forward pass.

    Args:
        model: a causal language model in evaluation mode.
        name: what to call it in the error.
        window: the model's window, in tokens.

    Raises:
        TextcriticError: attention over a sliding window, or positions that this cache does not carry.
    """
    config = model.config
    sliding = getattr(config, "sliding_window", None)
    limited = sliding is not None and sliding < window
    kinds = set(getattr(config, "layer_types", None) or ["sliding_attention" if limited else "full_attention"])
    if kinds - {"full_attention"} and not (kinds <= {"full_attention", "sliding_attention"} and not limited):
        raise TextcriticError(
            f"{name}: layers of type {', '.join(sorted(kinds - {'full_attention'}))}; sampling needs a causal model "
            "whose layers see the whole context (GPT-2, Llama, ...), or GPT-Neo"
        )
    length = min(6, window)
    tokens = torch.arange(length, device=model.device) % config.vocab_size
    plain = model(input_ids=tokens.unsqueeze(0)).logits[0, -1].float().log_softmax(-1)
    cached = _ragged_logits(model, name, tokens, window).float().log_softmax(-1)
    tolerance = 1e-3 if _dtype(model) == torch.float32 else 0.5
    if not torch.allclose(plain, cached, atol=tolerance, rtol=0, equal_nan=True):
        raise TextcriticError(
            f"{name}: this architecture ({config.model_type}) does not take its positions from position_ids, so "
            "articles of different lengths cannot be sampled side by side; use a GPT-2, GPT-Neo or Llama-like model"
        )


def _ragged_logits(model: PreTrainedModel, name: str, tokens: torch.Tensor, window: int) -> torch.Tensor:
    """Logits after `tokens` in a row that began one column later than its neighbour."""
    cache = ArticleCache(2, window + 1)
    steps = torch.arange(len(tokens), device=tokens.device)
    try:
        next_logits(model, cache, tokens[:1].expand(2), steps[:1].expand(2))
        # The second row starts anew; the neighbour repeats its last position, within the window.
        for step in steps:
            neighbour = (step + 1).clamp(max=len(tokens) - 1)
            logits = next_logits(model, cache, tokens[step].expand(2), torch.stack([neighbour, step]))
    except (TypeError, ValueError, RuntimeError, AttributeError, KeyError) as error:
        raise TextcriticError(
            f"{name}: this architecture ({model.config.model_type}) does not work with a key-value cache of rows of "
            f"different lengths ({type(error).__name__}); use a GPT-2, GPT-Neo or Llama-like model"
        ) from error
    return logits[1]


def _dtype(model: PreTrainedModel) -> torch.dtype:
    """Of the layers; the output layer may be kept in a wider one."""
    embeddings: Any = model.get_input_embeddings()
    dtype: torch.dtype = embeddings.weight.dtype
    return dtype
