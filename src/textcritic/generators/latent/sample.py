"""Samples of latent language models: the job that draws the texts of one shard, with their states.

Texts are drawn in blocks whose random numbers depend on the seed and the number of the block, and blocks do not depend
on shards: text i depends on the seed and i alone. A killed job goes on with the first block that is not whole.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from textcritic.corpora.articles import iter_batches
from textcritic.corpora.structured.texts import Mention, Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.draws import draw_text
from textcritic.generators.latent.kinds import load_model
from textcritic.generators.latent.model import LatentModel
from textcritic.generators.shards import CUT, ENDED, Draw, PartialShard, Shard, folder_digest
from textcritic.runlog import Progress
from textcritic.training.hardware import cpu_settings, device

Ints = npt.NDArray[np.int64]
BLOCK = 64  # texts that are drawn side by side; another number would give other texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What texts are drawn from, and how long they become.

    Attributes:
        model: folder of the trained model.
        knowledge: folder of the knowledge graph, where the corpus has one.
        longest: tokens after which a text is cut, the end included where the model has one.
        lengths: a split of the corpus in `structured.STRUCTURED_SCHEMA`: each text has as many tokens as one of its
            texts, drawn at random, which the model does not decide; None for a model that ends its texts, and for texts
            that all have `longest` tokens.
        version: of the stage; what another version left is not taken up.
    """

    model: str | os.PathLike[str]
    knowledge: str | os.PathLike[str] | None = None
    longest: int
    lengths: str | os.PathLike[str] | None = None
    version: int = 1


def sample_latent(drawn: Drawn, shard: Shard, threads: int | None = None) -> None:
    """Draw the texts of one shard and write them, see `shards.Draw`; the text of a draw is what `draw_text` gives.

    Args:
        drawn: the model, and what decides the lengths.
        shard: which texts, and where they are written.
        threads: CPU threads of torch; None leaves torch's own number.

    Raises:
        TextcriticError: a file is missing or damaged; lengths are given for a model that decides them itself; another
            job draws this shard.
    """
    with cpu_settings(threads), torch.no_grad():
        model = load_model(Path(drawn.model), None if drawn.knowledge is None else Path(drawn.knowledge)).to(device())
        if model.ends and drawn.lengths is not None:
            raise TextcriticError(
                f"{drawn.model}: the model ends its texts itself; draw from it with `stop: learnt`, without lengths"
            )
        lengths = None if drawn.lengths is None else _lengths(drawn.lengths, drawn.longest)
        fingerprint = {
            "model": folder_digest(drawn.model),
            "shard": [shard.seed, shard.first, shard.count],
            "longest": drawn.longest,
            "lengths": None if lengths is None else lengths.tolist(),
            "version": drawn.version,
        }
        with PartialShard(shard.path, fingerprint) as partial:
            _fill(partial, shard, model, drawn.longest, lengths)


def cut(text: Structured, tokens: int) -> Structured:
    """The first tokens of a text without a tree; a mention that goes on behind them ends there."""
    mentions = tuple(
        Mention(mention.start, min(mention.end, tokens), mention.entity, mention.edges)
        for mention in text.mentions
        if mention.start < tokens
    )
    return Structured(text.id, text.tokens[:tokens], (), mentions, text.group)


def _fill(partial: PartialShard, shard: Shard, model: LatentModel, longest: int, lengths: Ints | None) -> None:
    """Draw what is missing of a shard, and write it."""
    there = {draw.index for draw in partial.draws}
    progress = Progress(f"sampling {os.fspath(shard.path)}", shard.count, "texts", done=len(there))
    wanted = [index for index in shard.indices if index not in there]
    for block in dict.fromkeys(index // BLOCK for index in wanted):
        for draw in _block(model, shard.seed, block, longest, lengths):
            if draw.index in shard.indices and draw.index not in there:
                partial.append(draw)
                progress.advance()
    partial.complete()


def _block(model: LatentModel, seed: int, block: int, longest: int, lengths: Ints | None) -> Iterator[Draw]:
    """The texts of a block."""
    numbers = np.random.SeedSequence((seed, block)).generate_state(2, np.uint64)
    generator = torch.Generator(device=model.device).manual_seed(int(numbers[0] >> np.uint64(1)))
    wanted = np.full(BLOCK, longest)
    if lengths is not None:
        wanted = np.random.default_rng(numbers[1]).choice(lengths, BLOCK)
    texts = model.sample(BLOCK, int(wanted.max()), generator)
    for index, (text, tokens) in enumerate(zip(texts, wanted.tolist(), strict=True), start=block * BLOCK):
        kept = cut(text, tokens) if lengths is not None else text
        # Of a model with an end, a text of so many tokens has none: the end is one of `longest`.
        ended = len(kept.tokens) < longest if model.ends else lengths is not None
        drawn = len(kept.tokens) + (model.ends and ended)
        yield Draw(index, draw_text(kept), drawn, ENDED if ended else CUT)


def _lengths(path: str | os.PathLike[str], longest: int) -> Ints:
    """Tokens of each text of a split, at most `longest`."""
    schema = pa.schema([pa.field("tokens", pa.list_(pa.string()), nullable=False)])
    lengths = [batch.column("tokens").value_lengths().to_numpy() for batch in iter_batches(path, schema)]
    if not lengths:
        raise TextcriticError(f"{path}: has no texts whose lengths could be given")
    return np.minimum(np.concatenate(lengths), longest).astype(np.int64)
