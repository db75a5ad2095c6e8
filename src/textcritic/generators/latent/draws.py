"""Drawn texts with structure between the job that draws them and the sample: as raw draws, and put together."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict

from textcritic.corpora.structured.texts import Structured, mentions_of, write_structured
from textcritic.generators.collect import Form, Limit, SampleFiles, collect_draws
from textcritic.generators.shards import Draw


def collect_latent(
    shards: Sequence[str | os.PathLike[str]], limit: Limit, generator: str, files: SampleFiles
) -> dict[str, object]:
    """Put the draws of all shards together: a sample in the schema of a corpus with structure.

    Rejected, and counted by reason, are texts that did not end within the limit, unless `limit.keep`. No other is: a
    draw always has a token, and a structure that is possible.

    Args:
        shards: Parquet files of raw draws.
        limit: of the decoding.
        generator: name that ids and sources are made from.
        files: to write.

    Returns:
        see `collect.collect_samples`.

    Raises:
        TextcriticError: a shard is missing or not whole, an index occurs twice, or every text was rejected.
    """
    form = Form(
        lambda identifier, draw: read_text(draw, identifier),
        lambda path, texts: write_structured(path, texts, generator),
        lambda draw: " ".join(read_text(draw, "draw").tokens),
    )
    advice = "train the generator for longer, raise max_tokens, or let `unfinished: keep` keep them"
    return collect_draws(shards, form, limit, generator, files, advice)


def draw_text(text: Structured) -> str:
    """A text with its structure as a line of JSON, the raw text of a draw."""
    return json.dumps({key: value for key, value in asdict(text).items() if key in ("tokens", "actions", "mentions")})


def read_text(draw: Draw, identifier: str) -> Structured:
    """Read what `draw_text` wrote."""
    loaded = json.loads(draw.text)
    mentions = mentions_of(loaded["mentions"])
    return Structured(identifier, tuple(loaded["tokens"]), tuple(loaded["actions"]), mentions)
