"""The sampling job of a hidden semi-Markov language model: one shard of raw draws."""

import os

from textcritic.critics.hsmm.draw import draw
from textcritic.critics.hsmm.model import HSMM
from textcritic.generators.cpu import prepare_cpu
from textcritic.generators.load import load_tokenizer
from textcritic.generators.sample import decode
from textcritic.generators.shards import CUT, ENDED, Draw, write_shard


def sample_hsmm(
    model_dir: str | os.PathLike[str],
    seed: int,
    first: int,
    count: int,
    out_path: str | os.PathLike[str],
    segments: int | None = None,
    max_tokens: int = 4096,
    threads: int | None = None,
) -> None:
    """Draw the sequences `first` to `first + count - 1` of a sample and write them as one shard.

    Args:
        model_dir: model folder with its tokenizer.
        seed: of the sample; sequence i depends on (seed, i) alone.
        first: number of the shard's first sequence.
        count: how many.
        out_path: the shard, see `generators.shards`.
        segments: number of segments of every sequence, as published; None: the model ends its sequences.
        max_tokens: a sequence that has not ended within so many tokens, the end token included, is cut there, and
            counted as such.
        threads: CPU threads of torch; None leaves torch's own number. The model stays on the CPU.

    Raises:
        TextcriticError: the model is missing or not whole, or a setting is out of range.
    """
    prepare_cpu(threads)
    tokenizer = load_tokenizer(model_dir)
    drawn = draw(HSMM.load(model_dir), range(first, first + count), seed, segments, max_tokens)
    write_shard(
        out_path,
        (
            Draw(index, decode(tokenizer, ids.tolist()), len(ids) + int(ended), ENDED if ended else CUT)
            for index, (ids, ended) in enumerate(zip(drawn, drawn.ended, strict=True), start=first)
        ),
    )
