"""Samples of fairseq's models: the job that writes one shard of raw draws, of language models and of translators."""

import hashlib
import os
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.beams import Beams
from textcritic.generators.best_of import Best, Drawn
from textcritic.generators.drawing import draw, draw_scored, log_probs_of
from textcritic.generators.fairseq.at_once import draw_at_once, likeliest_at_once
from textcritic.generators.fairseq.models import FairseqModel, load_model
from textcritic.generators.fairseq.search import search_texts
from textcritic.generators.fairseq.steps import Steps, batches, prepare
from textcritic.generators.sample import Sampling
from textcritic.generators.shards import CUT, ENDED, Draw, PartialShard, Shard, folder_digest
from textcritic.generators.uniforms import Uniforms
from textcritic.plan.checks.decodings import BEAM_SAMPLING, BEST_OF, LIKELIEST, check_architecture
from textcritic.plan.entries import Decoding
from textcritic.training.hardware import cpu_settings
from textcritic.training.load import decode


def sample_fairseq(
    model_dir: str | os.PathLike[str],
    sources: Sequence[str] | None,
    decoding: Decoding,
    shard: Shard,
    sampling: Sampling | None = None,
) -> None:
    """Make the texts of one shard and write them.

    A killed run goes on where it was: finished texts stay in `{shard.path}.partial.jsonl` until the shard is whole.

    Args:
        model_dir: folder of a model of kind fairseq, with its tokenizer.
        sources: sentences to translate: text i translates sentence i, and after the last comes the first again; None
            for a language model.
        decoding: the scheme; "likeliest" draws nothing, and gives every seed the same texts.
        shard: which texts, and where they are written.
        sampling: threads and version; the defaults of `Sampling` if None.

    Raises:
        TextcriticError: a fault of the model, or a decoding that it does not go with; sentences for a language model,
            or none for a translator; another job that makes this shard.
    """
    sampling = sampling or Sampling()
    with cpu_settings(sampling.threads, decoding.float32_matmul_precision):
        model = load_model(model_dir)
        name = os.fspath(model_dir)
        _check(model, sources, decoding, name)
        # Those behind them may be too long for the model.
        encoded = None if sources is None else encode_sources(model, sources[: shard.first + shard.count], name)
        prepare(model, decoding.precision, name)
        fingerprint = {
            "model": folder_digest(model_dir),
            "sources": None if sources is None else hashlib.sha256("\n".join(sources).encode()).hexdigest(),
            "shard": [shard.seed, shard.first, shard.count],
            "decoding": decoding.of_article(),
            "sampling": {
                "precision": decoding.precision,
                "float32_matmul_precision": decoding.float32_matmul_precision,
                "version": sampling.version,
            },
        }
        with PartialShard(shard.path, fingerprint) as partial:
            partial.fill(
                shard,
                "texts",
                lambda wanted: (
                    Draw(index, decode(model.tokenizer, model.from_fairseq(symbols)), tokens, finish)
                    for index, symbols, finish, tokens in make_texts(model, encoded, decoding, shard.seed, wanted)
                ),
            )


def make_texts(
    model: FairseqModel, sources: Sequence[np.ndarray] | None, decoding: Decoding, seed: int, indices: Sequence[int]
) -> Iterator[tuple[int, list[int], str, int]]:
    """Make texts by the method of a decoding, yielding (index, symbols, "end" or "length", tokens made).

    The symbols are those between beginning and end. The end counts as a token that was made, the beginning does not.

    Args:
        model: on its device, see `steps.prepare`.
        sources: see `encode_sources`; None for a language model.
        decoding: the scheme.
        seed: see `shards.Shard`.
        indices: the texts to make.
    """
    if decoding.method == LIKELIEST:
        # Only the sentence decides, so that texts of the same one are made once.
        same: dict[int, list[int]] = {}
        for index in indices:
            same.setdefault(index % len(sources) if sources else 0, []).append(index)
        wanted = [of_one[0] for of_one in same.values()]
        for first, symbols, finish, tokens in _likeliest(model, sources, decoding, wanted):
            for index in same[first % len(sources) if sources else 0]:
                yield index, symbols, finish, tokens
    elif not model.autoregressive:
        for index, output in draw_at_once(model, sources or [], indices, decoding, seed):
            yield index, *_between(model, output, decoding)
    elif decoding.method == BEAM_SAMPLING:
        for index, drawn, whole in sample_beams(model, sources, indices, decoding, seed):
            yield index, drawn, ENDED if whole else CUT, len(drawn)
    else:
        for index, drawn, finish in draw_texts(model, sources, indices, decoding, seed):
            yield index, drawn, finish, len(drawn)


def _likeliest(
    model: FairseqModel, sources: Sequence[np.ndarray] | None, decoding: Decoding, indices: Sequence[int]
) -> Iterator[tuple[int, list[int], str, int]]:
    """`make_texts` where nothing is drawn."""
    if not model.autoregressive:
        for index, symbols in likeliest_at_once(model, sources or [], indices, decoding):
            yield index, *_between(model, symbols, decoding)
        return
    beams = search_texts(model, sources, indices, decoding.beam, decoding.max_tokens, decoding.batch_size)
    for index, (best, *_) in beams:
        yield index, best.symbols.tolist(), CUT if best.cut else ENDED, len(best.symbols)


def _between(model: FairseqModel, symbols: np.ndarray, decoding: Decoding) -> tuple[list[int], str, int]:
    """Symbols between the ends of a text that was made at once, "end" or "length", and how many tokens it has."""
    special, limit = (model.dictionary.bos(), model.dictionary.eos()), decoding.max_tokens
    kept = [symbol for symbol in symbols[: limit + 1].tolist() if symbol not in special]
    tokens = len(symbols) - 1
    return kept, ENDED if tokens <= limit else CUT, min(tokens, limit)


def draw_texts(
    model: FairseqModel,
    sources: Sequence[np.ndarray] | None,
    indices: Sequence[int],
    decoding: Decoding,
    seed: int,
) -> Iterator[tuple[int, list[int], str]]:
    """Draw texts from an autoregressive model, yielding (index, symbols, "end" or "length") as each is finished.

    With the method "best-of", the best of several draws of each text, see `best_of`.

    Args:
        model: autoregressive, on its device.
        sources: symbols of the texts to translate, end included; None for a language model.
        indices: of the texts, see `steps.batches`.
        decoding: the scheme.
        seed: see `shards.Shard`.
    """
    end = model.dictionary.eos()
    on = next(model.module.parameters()).device
    draws = decoding.beam if decoding.method == BEST_OF else 1
    best = Best(draws)
    for batch, given in batches(indices, sources, decoding.batch_size, draws):
        uniforms = Uniforms.of(seed, batch)
        left, score = np.array(batch), np.zeros(len(batch))
        symbols = torch.full((len(batch), decoding.max_tokens + 1), end, device=on)
        # Not around the yield: the caller's code does not run in inference mode.
        with torch.inference_mode():
            steps = Steps(model, given, len(batch))
        for length in range(1, decoding.max_tokens + 1):
            with torch.inference_mode():
                log_probs = steps.log_probs(symbols[:, :length])
            drawn = draw(log_probs, uniforms.next(np.arange(len(left))), decoding)
            if draws > 1:
                score += log_probs_of(log_probs, drawn, decoding.temperature).numpy()
            symbols[:, length] = drawn.to(on)
            ended = (drawn == end).numpy()
            finished = ended | (length == decoding.max_tokens)
            for row in np.flatnonzero(finished).tolist():
                finish = ENDED if ended[row] else CUT
                own = Drawn(int(left[row]), symbols[row, 1 : length + 1].tolist(), finish, float(score[row]) / length)
                if text := best.add(own):
                    yield text.index, text.ids, text.finish
            if finished.all():
                break
            if finished.any():
                kept = np.flatnonzero(~finished)
                uniforms.keep(kept)
                left, score = left[kept], score[kept]
                order = torch.from_numpy(kept).to(on)
                symbols = symbols[order]
                with torch.inference_mode():
                    steps.reorder(order)


def encode_sources(model: FairseqModel, sources: Sequence[str], name: str) -> list[np.ndarray]:
    """Sentences as the symbols that a translator reads: the end behind them, and a beginning if it makes all at once.

    Args:
        model: a translator.
        sources: sentences.
        name: what to call the model in errors.

    Raises:
        TextcriticError: one has no tokens, or more than the model can read.
    """
    ids = model.tokenizer(
        list(sources), add_special_tokens=False, split_special_tokens=True, return_attention_mask=False, verbose=False
    )["input_ids"]
    beginning = [] if model.autoregressive else [model.dictionary.bos()]
    encoded = []
    for number, tokens in enumerate(ids, start=1):
        if not 1 <= len(tokens) <= model.longest_source:
            raise TextcriticError(
                f"{name}: sentence {number} to translate has {len(tokens)} tokens; the model reads from 1 to"
                f" {model.longest_source} (options.max_source_positions)"
            )
        encoded.append(np.array([*beginning, *model.to_fairseq(tokens).tolist(), model.dictionary.eos()], np.int64))
    return encoded


def _check(model: FairseqModel, sources: Sequence[str] | None, decoding: Decoding, name: str) -> None:
    """See that model, sentences and decoding go together."""
    if model.translates and sources is None:
        raise TextcriticError(f"{name}: holds a translator, which needs sentences to translate")
    if sources is not None and not sources:
        raise TextcriticError(f"{name}: there are no sentences to translate")
    if not model.translates and sources is not None:
        raise TextcriticError(f"{name}: holds a language model, which translates nothing; name a generator that does")
    check_architecture(decoding, model.architecture)
    if decoding.stride is not None:
        raise TextcriticError(f"decoding: stride: has no effect on {name}, a model of fairseq; leave it out")
    if model.autoregressive and decoding.max_tokens > model.longest_target + 1:
        raise TextcriticError(
            f"decoding: max_tokens: {decoding.max_tokens} is beyond the {model.longest_target + 1} positions of {name};"
            " lower it, or raise options.max_target_positions and train again"
        )


def sample_beams(
    model: FairseqModel,
    sources: Sequence[np.ndarray] | None,
    indices: Sequence[int],
    decoding: Decoding,
    seed: int,
) -> Iterator[tuple[int, list[int], bool]]:
    """Draw texts by beam sampling, yielding (index, symbols, whether it ended) as each is finished.

    Only living hypotheses are rows of the batch, and none of them is a copy of another.

    Args:
        model: autoregressive, on its device.
        sources: symbols of the texts to translate, end included; None for a language model.
        indices: of the texts, see `steps.batches`.
        decoding: k is its `beam`; `max_tokens` and `batch_size` as elsewhere.
        seed: see `shards.Shard`; each step takes k * k numbers of a text's stream.
    """
    for batch, given in batches(indices, sources, decoding.batch_size):
        yield from _sample_batch(model, given, batch, decoding, seed)


def _sample_batch(
    model: FairseqModel,
    sources: Sequence[np.ndarray] | None,
    batch: Sequence[int],
    decoding: Decoding,
    seed: int,
) -> Iterator[tuple[int, list[int], bool]]:
    on = next(model.module.parameters()).device
    beams = Beams(len(batch), decoding.beam, model.dictionary.eos(), decoding.max_tokens)
    uniforms, index = Uniforms.of(seed, batch), np.array(batch)
    # Not around the yield: the caller's code does not run in inference mode.
    with torch.inference_mode():
        steps = Steps(model, sources, len(batch))
    while len(index):
        text, rank = np.nonzero(beams.alive)
        # The models read the last symbol alone, the rest from their caches, and count how many there are.
        symbols = torch.full((len(text), int(beams.length[0]) + 1), beams.end)
        symbols[:, -1] = torch.from_numpy(beams.symbols[text, rank])
        every = np.arange(len(index))
        with torch.inference_mode():
            log_probs = steps.log_probs(symbols.to(on))
            drawn, scores = draw_scored(log_probs, beams.numbers(uniforms, every))
        row = np.zeros(beams.alive.shape, np.int64)
        row[text, rank] = np.arange(len(text))
        origin = row[every[:, None], beams.extend(every, drawn.numpy(), scores.numpy())]
        done = beams.done()
        for place in np.flatnonzero(done).tolist():
            yield int(index[place]), beams.text(place), bool(beams.ended()[place])
        if done.any():
            left = np.flatnonzero(~done)
            beams.keep(left)
            uniforms.keep(left)
            index, origin = index[left], origin[left]
        order = origin[beams.alive]
        if len(order) and not np.array_equal(order, np.arange(len(text))):
            with torch.inference_mode():
                steps.reorder(torch.from_numpy(order).to(on))
