"""Sampling articles from any causal language model: batched, cached, past the context window, resumable."""

import copy
import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast

from textcritic.corpora import iter_articles
from textcritic.errors import TextcriticError
from textcritic.generators.article_model import ArticleModel
from textcritic.generators.beam_articles import BeamBatch
from textcritic.generators.best_of import Best, Drawn
from textcritic.generators.cache import ArticleCache, fitting_rows, next_logits, prefill, require_support, row_by_row
from textcritic.generators.drawing import draw, log_probs_of
from textcritic.generators.encode import encode_articles, prompt_ids
from textcritic.generators.shards import CUT, ENDED, Draw, PartialShard, Shard, folder_digest
from textcritic.generators.uniforms import Uniforms
from textcritic.plan.checks.decodings import BEAM_SAMPLING, BEST_OF, LIKELIEST
from textcritic.plan.entries import Decoding
from textcritic.training.hardware import cpu_settings, device, free_memory
from textcritic.training.load import decode, load_causal, load_tokenizer


@dataclass(frozen=True)
class Openings:
    """The beginnings of real articles, which a model goes on from.

    Attributes:
        articles: Parquet file in the corpus schema; article i of a sample begins as the i-th of them, and after the
            last comes the first again. Those that are no longer than the opening are left out.
        setting: `w-title` or `wo-title`.
        tokens: how many tokens of an article are given.
    """

    articles: str | os.PathLike[str]
    setting: str
    tokens: int

    def ids(self, tokenizer: PreTrainedTokenizerFast) -> np.ndarray:
        """Token ids [openings, tokens].

        Raises:
            TextcriticError: no article is longer, or one cannot be written in the setting.
        """
        encoded = encode_articles(iter_articles(self.articles), tokenizer, self.setting)
        long_enough = [ids[: self.tokens] for ids, _ in encoded if len(ids) > self.tokens]
        if not long_enough:
            raise TextcriticError(f"{self.articles}: no article has more than {self.tokens} tokens; lower `opening`")
        return np.stack(long_enough).astype(np.int64)


@dataclass(frozen=True)
class Sampling:
    """How a shard is drawn besides its decoding.

    Attributes:
        context: tokens that the model was trained on at once; what it sees never grows longer. None: as long as its
            position table.
        threads: CPU threads of torch; None leaves torch's own number.
        version: of the stage; what another version left is not taken up.
        openings: where the beginnings of articles come from that are given and not drawn; None: nothing is given.
    """

    context: int | None = None
    threads: int | None = None
    version: int = 1
    openings: Openings | None = None


def sample_articles(
    model_dir: str | os.PathLike[str],
    decoding: Decoding,
    boundary: str,
    shard: Shard,
    sampling: Sampling | None = None,
) -> None:
    """Draw the articles of one shard and write them.

    A killed run goes on where it was: finished articles stay in `{shard.path}.partial.jsonl` until the shard is whole.

    Args:
        model_dir: folder of a transformers causal language model and its tokenizer.
        decoding: the scheme.
        boundary: "single" or "as_released": what separates articles in the training stream, and thus the prompt.
        shard: which articles, and where they are written.
        sampling: how they are drawn; the defaults of `Sampling` if None.

    Raises:
        TextcriticError: a fault of the model, the tokenizer or the decoding, or another job that draws this shard.
    """
    sampling = sampling or Sampling()
    with cpu_settings(sampling.threads, decoding.float32_matmul_precision):
        tokenizer = load_tokenizer(model_dir)
        given = sampling.openings.ids(tokenizer) if sampling.openings else None
        # What goes on from real text was not trained here, so that a text begins with the token of its own training.
        first = tokenizer.bos_token_id if sampling.openings else None
        prompt = prompt_ids(tokenizer, boundary) if first is None else [first]
        loaded = load_causal({"folder": str(model_dir)}, tokenizer, context=sampling.context)
        model = on_device(loaded, decoding.precision)
        # Of every field but those that change the speed alone; a new field counts without a word here.
        fingerprint = {
            "model": folder_digest(model_dir),
            "prompt": prompt,
            "shard": [shard.seed, shard.first, shard.count],
            "decoding": decoding.of_article(),
            "sampling": {
                "precision": decoding.precision,
                "float32_matmul_precision": decoding.float32_matmul_precision,
                **{key: value for key, value in asdict(sampling).items() if key != "threads"},
            },
        }
        if given is not None:
            fingerprint["openings"] = hashlib.sha256(given.tobytes()).hexdigest()
        source = ArticleModel(model, prompt, tokenizer.eos_token_id, os.fspath(model_dir), sampling.context, given)
        with PartialShard(shard.path, fingerprint) as partial:
            partial.fill(
                shard,
                "articles",
                lambda wanted: (
                    Draw(index, decode(tokenizer, ids), len(ids) - source.given, finish)
                    for index, ids, finish in draw_articles(source, decoding, shard.seed, wanted)
                ),
            )


def draw_articles(
    source: ArticleModel, decoding: Decoding, seed: int, indices: Iterable[int]
) -> Iterator[tuple[int, list[int], str]]:
    """Draw articles, yielding (index, drawn token ids, "end" or "length") as each is finished.

    The ids leave out the prompt, and include what is given of an article and the end token. The context of a token is
    the prompt and what was drawn so far; before a prediction, a context longer than window - 1 tokens loses its oldest
    `stride` tokens, and the rest is computed afresh at positions from 0. See `beams` for beam sampling, and `best_of`.

    Args:
        source: the model and its prompt.
        decoding: the scheme.
        seed: see `shards.Shard`.
        indices: the articles to draw.

    Raises:
        TextcriticError: the model's window is unknown or too small, its architecture cannot be sampled from, or the
            decoding is a search.
    """
    if decoding.method == LIKELIEST:
        raise TextcriticError(f"{source.name}: is drawn from; `method: {LIKELIEST}` is for models of fairseq")
    beams = decoding.method == BEAM_SAMPLING
    copies = decoding.beam if decoding.method == BEST_OF else 1
    model, window = source.model, source.window()
    decoding.stride_in(window)  # raises where it would drop the whole context
    queue = deque(index * copies + number for index in indices for number in range(copies))
    if not queue:
        return
    with row_by_row(model):
        with torch.inference_mode():
            token_bytes = require_support(model, source.name, window)
        rows = min(decoding.batch_size, len(queue))
        if (free := free_memory(model.device)) is not None:
            each = decoding.beam if beams else 1
            rows = fitting_rows(rows, window, each * token_bytes, free, source.name)
        if beams:
            batch: BeamBatch | _Batch = BeamBatch(source, decoding, seed, queue, rows)
        else:
            batch = _Batch(source, decoding, seed, queue, rows)
        best = Best(copies)
        while batch.rows:
            # Not around the yield: the caller's code does not run in inference mode.
            with torch.inference_mode():
                finished = batch.step()
            for drawn in finished:
                if article := best.add(drawn):
                    yield article.index, article.ids, article.finish


def on_device(model: Any, precision: str) -> Any:
    """The model on the GPU if there is one; in "bf16", all of it but the output layer.

    Rounding logits to bf16 would move them by up to a quarter where GPT-2's are (64 to 128 in size).
    """
    if precision == "bf16":
        head = copy.deepcopy(model.get_output_embeddings()).float()
        head.register_forward_pre_hook(lambda module, inputs: (inputs[0].float(),))
        model = model.to(torch.bfloat16)
        model.set_output_embeddings(head)
    return model.to(device())


class _Batch:
    """Articles that are being drawn, one in each row; a row that is finished takes the next article of the queue."""

    def __init__(self, source: ArticleModel, decoding: Decoding, seed: int, queue: deque[int], rows: int) -> None:
        self.model, self.end, self.decoding, self.queue = source.model, source.end, decoding, queue
        self.window = window = source.window()
        self.stride = decoding.stride_in(window)
        self.source, self.first = source, len(source.prompt) + source.given  # the first that is drawn
        self.rows = rows
        self.cache = ArticleCache(self.rows, window)
        self.uniforms = Uniforms(seed, self.rows)
        self.index = np.zeros(self.rows, np.int64)
        self.tokens = np.zeros((self.rows, self.first + decoding.max_tokens), np.int64)
        self.length = np.ones(self.rows, np.int64)  # tokens known, the last of them not yet fed
        self.begin = np.zeros(self.rows, np.int64)  # first token that is still in the context
        self.copies = decoding.beam if decoding.method == BEST_OF else 1
        self.log_prob = np.zeros(self.rows)  # of what was drawn, where the best is wanted
        for row in range(self.rows):
            self._refill(row)

    def step(self) -> list[Drawn]:
        """Feed every row's last token and draw its next one; returns the articles that this finishes."""
        self._slide()
        everyone = np.arange(self.rows)
        logits = next_logits(
            self.model,
            self.cache,
            self.tokens[everyone, self.length - 1],
            self.length - 1 - self.begin,
        )
        drawing = np.flatnonzero(self.length >= self.first)
        if len(drawing):
            logits = logits if len(drawing) == self.rows else logits[self._tensor(drawing)]
            drawn = draw(logits, self.uniforms.next(drawing), self.decoding)
            self.tokens[drawing, self.length[drawing]] = drawn.numpy()
            if self.copies > 1:
                self.log_prob[drawing] += log_probs_of(logits, drawn, self.decoding.temperature).numpy()
        self.length += 1
        last = self.tokens[everyone, self.length - 1]
        ended = (last == self.end) & (self.length > self.first)
        finished = np.flatnonzero(ended | (self.length == self.tokens.shape[1]))
        articles = [self._article(row, bool(ended[row])) for row in finished.tolist()]
        self._hand_on(finished)
        return articles

    def _slide(self) -> None:
        """Shorten the contexts that have outgrown the window, and compute what is left of them afresh."""
        over = np.flatnonzero(self.length - self.begin >= self.window)
        if not len(over):
            return
        self.begin[over] += self.stride
        # Contexts grow by one token a step, so all that overflow now have the same length. Their last token is left
        # to the step itself, which feeds one token to every row anyway.
        kept = self.begin[over, None] + np.arange(self.window - self.stride - 1)
        prefill(self.model, self.cache, self._tensor(over), self._tensor(self.tokens[over[:, None], kept]))

    def _article(self, row: int, ended: bool) -> Drawn:
        ids = self.tokens[row, len(self.source.prompt) : self.length[row]].tolist()
        score = float(self.log_prob[row]) / (len(ids) - self.source.given)
        return Drawn(int(self.index[row]), ids, ENDED if ended else CUT, score)

    def _hand_on(self, finished: np.ndarray) -> None:
        """Give finished rows to the next articles; once there are none, drop the rows."""
        dropped = []
        for row in finished.tolist():
            if self.queue:
                self._refill(row)
            else:
                dropped.append(row)
        if dropped:
            rows = np.delete(np.arange(self.rows), dropped)
            self.rows = len(rows)
            self.cache.keep(self._tensor(rows))
            self.uniforms.keep(rows)
            self.index, self.tokens = self.index[rows], self.tokens[rows]
            self.length, self.begin, self.log_prob = self.length[rows], self.begin[rows], self.log_prob[rows]

    def _refill(self, row: int) -> None:
        self.index[row] = self.queue.popleft()
        self.uniforms.assign(row, int(self.index[row]))
        self.tokens[row, : self.first] = self.source.beginning(int(self.index[row]) // self.copies)
        self.length[row], self.begin[row], self.log_prob[row] = 1, 0, 0

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.model.device)
