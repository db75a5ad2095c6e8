"""One token more for each of many articles: a key-value cache of rows of different lengths, and attention over it.

The cache is preallocated, and all rows write to one shared column. Row r's article occupies the columns just before
it, as many as the row has tokens in its context, and a mask hides what lies further left, so a finished row is handed
to the next article at once: its context is simply empty again. Neighbouring tokens sit in neighbouring columns, which
is what models with local attention (GPT-Neo) rely on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface, Cache, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from textcritic.errors import TextcriticError
from textcritic.runlog import log

SMALLEST_CAPACITY = 128
SHARE = 0.6  # of a GPU's free memory that keys and values may take; the rest is for activations and logits
MASK_ALIGNMENT = 16  # columns; the rows of a mask that CUDA's kernels take without copying it in every layer
PREFILL_TOKENS = (
    16_384  # bounds the memory of one prefill, whose attention is quadratic in models without a fused kernel
)
ROW_BY_ROW = "textcritic_row_by_row"
# Hidden keys and values, bytes a row and layer, whose reading takes about as long as one more call: 15 us at 20 GB/s.
WORTH_A_CALL = 300_000


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
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: object, **kwargs: object
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
        """Drop all rows but `rows` [n]; the kept rows are renumbered from 0."""
        self.rows = len(rows)
        for layer, (keys, values) in enumerate(self._states):  # one at a time: memory holds two copies of a layer
            self._states[layer] = (keys[rows], values[rows])

    def copy(self, rows: torch.Tensor, origin: torch.Tensor) -> None:
        """Give `rows` [n] the contexts that the rows `origin` [n] have now."""
        for pair in self._states:
            for states in pair:
                visible = states[:, :, self.low : self.column]
                visible[rows] = visible[origin]

    def bytes_per_token(self) -> int:
        """Of the keys and values of one token of one row, in all layers; 0 before the first update."""
        return sum(states[0, :, 0].nbytes for pair in self._states for states in pair)

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
        """Move the last `longest` columns to the front of new tensors, larger ones if the capacity has grown.

        In place it would be a copy between overlapping columns, which GPUs do in any order.
        """
        for layer, pair in enumerate(self._states):
            moved = []
            for states in pair:
                moved.append(self._empty(states))
                moved[-1][:, :, :longest] = states[:, :, self.column - longest : self.column]
            self._states[layer] = (moved[0], moved[1])
        self.column = longest


class _Prefill(Cache):
    """What a model sees as its cache while contexts are computed afresh: nothing before, and states to be stored."""

    def __init__(self, target: ArticleCache, rows: torch.Tensor) -> None:
        super().__init__(layers=[])
        self.target, self.target_rows = target, rows

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.target.put(layer_idx, self.target_rows, key_states, value_states)
        return key_states, value_states

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        return query_length, 0


def next_logits(model: PreTrainedModel, cache: ArticleCache, tokens: np.ndarray, positions: np.ndarray) -> torch.Tensor:
    """Feed one token a row and return the logits [rows, vocabulary] of the next ones, on the model's device.

    Args:
        model: a causal language model.
        cache: holds the rows' contexts before these tokens.
        tokens: [rows] token ids, int64.
        positions: [rows] positions of the tokens in their contexts, which is also how many tokens each row has
            cached, int64.
    """
    longest = int(positions.max())
    cache.step(longest)
    # One transfer to a GPU and none back: the whole step is queued before anything waits for it.
    fed = torch.from_numpy(np.stack([tokens, positions])).to(model.device, non_blocking=True)
    by_rows = model.config._attn_implementation == ROW_BY_ROW
    output = model(
        input_ids=fed[0].unsqueeze(1),
        position_ids=fed[1].unsqueeze(1),
        attention_mask=_mask(fed[1], longest, layer_dtype(model)),
        past_key_values=cache,
        use_cache=True,
        **({"context_lengths": (positions + 1).tolist()} if by_rows else {}),
    )
    cache.advance()
    logits: torch.Tensor = output.logits[:, -1]
    return logits


def _mask(positions: torch.Tensor, longest: int, dtype: torch.dtype) -> torch.Tensor:
    """Added to attention scores, [rows, 1, 1, longest + 1]: 0 in the last `position + 1` columns of each row."""
    width = -(-(longest + 1) // MASK_ALIGNMENT) * MASK_ALIGNMENT
    hidden = torch.arange(width, device=positions.device) < (longest - positions).unsqueeze(1)
    mask = torch.zeros(hidden.shape, dtype=dtype, device=positions.device)
    return mask.masked_fill_(hidden, torch.finfo(dtype).min)[:, None, None, : longest + 1]


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


def require_support(model: PreTrainedModel, name: str, window: int) -> int:
    """Check that the model can be sampled from with `ArticleCache`, by comparing two rows with a plain forward pass.

    Args:
        model: a causal language model in evaluation mode.
        name: what to call it in the error.
        window: the model's window, in tokens.

    Returns:
        Bytes of the keys and values of one token.

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
    tokens = np.arange(min(6, window), dtype=np.int64) % config.vocab_size
    plain = model(input_ids=torch.from_numpy(tokens).to(model.device).unsqueeze(0)).logits[0, -1]
    cache = ArticleCache(2, window + 1)
    cached = _ragged_logits(model, name, tokens, cache)
    tolerance = 1e-3 if layer_dtype(model) == torch.float32 else 0.5
    plain, cached = (logits.float().log_softmax(-1) for logits in (plain, cached))
    if not torch.allclose(plain, cached, atol=tolerance, rtol=0, equal_nan=True):
        raise TextcriticError(
            f"{name}: this architecture ({config.model_type}) does not take its positions from position_ids, so "
            "articles of different lengths cannot be sampled side by side; use a GPT-2, GPT-Neo or Llama-like model"
        )
    return cache.bytes_per_token()


def fitting_rows(rows: int, window: int, bytes_per_token: int, free: int, name: str) -> int:
    """As many of `rows` articles side by side as a GPU with `free` bytes has room for.

    Raises:
        TextcriticError: there is not even room for one.
    """
    each = ArticleCache(1, window).limit * bytes_per_token
    room = int(SHARE * free) // each
    if not room:
        raise TextcriticError(
            f"{name}: the keys and values of one article take up to {each / 2**30:.1f} GiB, the GPU has "
            f"{free / 2**30:.1f} GiB free; free it, use a larger one, or set precision: bf16"
        )
    if room < rows:
        log.info("%s: the GPU's memory has room for %d articles side by side, not %d", name, room, rows)
    return min(rows, room)


@contextmanager
def row_by_row(model: PreTrainedModel) -> Iterator[None]:
    """In this block a model on a CPU attends row by row if it knows the rows' lengths and that saves time.

    Reading keys and values is most of the work of a step on a CPU, and rows side by side are as long as the longest.
    Models that do not take their attention function from transformers' interface (GPT-Neo) stay as they are, and so
    do those on a GPU, where a call for each row costs more than it saves.
    """
    before = model.config._attn_implementation
    if model.device.type != "cpu" or before != "sdpa" or not model._supports_attention_backend:
        yield
        return
    model.set_attn_implementation(ROW_BY_ROW)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def _ragged_logits(model: PreTrainedModel, name: str, tokens: np.ndarray, cache: ArticleCache) -> torch.Tensor:
    """Logits after `tokens` in a row that began one column later than its neighbour."""
    last = len(tokens) - 1
    try:
        next_logits(model, cache, tokens[[0, 0]], np.zeros(2, np.int64))
        # The second row starts at position 0; its neighbour repeats its own last position, within the window.
        for step, token in enumerate(tokens):
            logits = next_logits(model, cache, token.repeat(2), np.array([min(step + 1, last), step]))
    except (TypeError, ValueError, RuntimeError, AttributeError, KeyError) as error:
        raise TextcriticError(
            f"{name}: this architecture ({model.config.model_type}) does not work with a key-value cache of rows of "
            f"different lengths ({type(error).__name__}); use a GPT-2, GPT-Neo or Llama-like model"
        ) from error
    return logits[1]


def layer_dtype(model: PreTrainedModel) -> torch.dtype:
    """The number type of the model's layers. The output layer may have a wider type."""
    return next(model.get_input_embeddings().parameters()).dtype


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    context_lengths: list[int] | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers' sdpa attention; `context_lengths` [rows] says how many of the last columns each row sees.

    Shapes: query [rows, heads, 1, head size], key and value [rows, key heads, columns, head size].
    """
    if context_lengths is None or _hidden_bytes(key, context_lengths) < WORTH_A_CALL * len(context_lengths):
        return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
    rows = zip(query.split(1), key.split(1), value.split(1), repeat(key.shape[2]), context_lengths, strict=False)
    attended = [
        sdpa_attention_forward(
            module, of_row, keys.narrow(2, columns - own, own), values.narrow(2, columns - own, own), None, **kwargs
        )[0]
        for of_row, keys, values, columns, own in rows
    ]
    return torch.cat(attended), None


def _hidden_bytes(key: torch.Tensor, context_lengths: list[int]) -> int:
    rows, heads, columns, size = key.shape
    return 2 * (rows * columns - sum(context_lengths)) * heads * size * key.element_size()


AttentionInterface.register(ROW_BY_ROW, _attend)
AttentionMaskInterface.register(ROW_BY_ROW, sdpa_mask)
