"""Latent PPL of chains of mentions: how long chains are, counted one document at a time."""

import numpy as np
import pytest

from experiments.coreference.tiny import build_coreference
from textcritic.critics.mentions import NO_ENTITY
from textcritic.experiments.coreference.read import chained
from textcritic.experiments.coreference.rows import ppl_rows
from textcritic.measures.material import Material


def test_mentions_and_people_are_counted_in_each_document(tmp_path):
    """A person has several mentions, so that the two differ."""
    files = build_coreference(tmp_path, documents=6, generators=("gpt2-demo",))
    rows = ppl_rows(Material(files))
    for row, source in zip(rows.to_dict("records"), files.of(files.data[0]), strict=True):
        chains = chained(source, files).chains
        tokens = [one.tolist() for one in np.split(chains.entities, np.cumsum(chains.lengths)[:-1]) if len(one)]
        mentions = [[entity for entity in document if entity != NO_ENTITY] for document in tokens]
        assert (row["documents"], row["tokens"]) == (len(tokens), sum(map(len, tokens)))
        assert row["mentions_per_document"] == pytest.approx(np.mean([len(document) for document in mentions]))
        assert row["people_per_document"] == pytest.approx(np.mean([len(set(document)) for document in mentions]))
        assert row["without_people"] == sum(not document for document in mentions)
        assert row["people_per_document"] < row["mentions_per_document"]
