"""Latent language models on the card: training, draws, weights, beams, particle filters, mixtures and own texts."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from tiny_latent_training import entry_of

from textcritic.corpora.structured.links import write_knowledge
from textcritic.corpora.structured.texts import Mention, Structured, write_structured
from textcritic.corpora.synthetic.grammar import draw_trees
from textcritic.corpora.synthetic.links import draw_linked_texts
from textcritic.generators.latent.entitynlm import EntityDisc, EntityNLM
from textcritic.generators.latent.kglm import KGLM, KglmDisc
from textcritic.generators.latent.lstm import LSTM
from textcritic.generators.latent.mixture import weigh_mixture
from textcritic.generators.latent.own import weigh_own
from textcritic.generators.latent.particles import weigh_particles
from textcritic.generators.latent.rnng.crf import CRF
from textcritic.generators.latent.rnng.model import RNNG
from textcritic.generators.latent.sample import Drawn, sample_latent
from textcritic.generators.latent.train import Inputs, train_latent
from textcritic.generators.latent.weigh import Draws, Weighed, weigh, weigh_best, weigh_exact
from textcritic.generators.shards import Shard
from textcritic.training.loop import Run

GOLD = [
    Structured("1", ("a", "b", "x", "a", "b"), mentions=(Mention(0, 2, "X"), Mention(2, 3, "Y"), Mention(4, 5, "X"))),
    Structured("2", ("b",), mentions=(Mention(0, 1, "Z"),)),
    Structured("3", ("b", "b", "a")),
]
READER = {"embedding": 6, "hidden": 6, "layers": 2, "dropout": 0.2}
ENTITIES = {"entity_size": 4, "max_entities": 3, "longest_mention": 2}
LINKS = {"words": 8, "entities": 6, "hidden": 8, "dropout": 0.1, "window": 5}


class Kind(NamedTuple):
    """A model and its proposal, their settings, and texts; `ends` says that the model ends its texts."""

    model: type
    settings: dict
    proposal: type | None = None
    proposed: dict = {}  # noqa: RUF012
    ends: bool = False
    steps: bool = True  # it has a particle filter


NLM = {**READER, **ENTITIES, "tied": False, "uncounted": [], "noise": 0.0}
KINDS = {
    "entitynlm": Kind(EntityNLM, NLM, EntityDisc, {**READER, **ENTITIES, "reads": "next", "as_released": False}),
    "entitynlm, document": Kind(
        EntityNLM, NLM, EntityDisc, {**READER, **ENTITIES, "reads": "document", "as_released": False}
    ),
    "kglm": Kind(KGLM, LINKS, KglmDisc, LINKS),
    "rnng": Kind(
        RNNG,
        {"hidden": 8, "layers": 2, "dropout": 0.1, "tied": True, "end": "stop", "count_end": False},
        CRF,
        {"hidden": 8, "dropout": 0.1, "longest": 30},
        ends=True,
        steps=False,
    ),
    "lstm": Kind(LSTM, {**READER, "tied": True, "ends": True, "uncounted": []}, ends=True),
}


def texts_of(kind: Kind) -> list[Structured]:
    if kind.model is KGLM:
        return sorted(draw_linked_texts(30, 1), key=lambda text: len(text.tokens))[:8]
    if kind.model is RNNG:
        return [text for text in draw_trees(40, 1) if len(text.tokens) < 9][:12]
    return [replace(text, id=f"{n}-{text.id}") for n in range(4) for text in GOLD]


def written(kind: Kind, folder: Path) -> Inputs:
    """Texts of a kind in files: its inputs, and `test.parquet` beside them."""
    texts, knowledge = texts_of(kind), folder / "knowledge" if kind.model is KGLM else None
    for split, part in (("train", texts), ("validation", texts[:3]), ("test", texts[:2])):
        write_structured(folder / f"{split}.parquet", part, "made up")
    if knowledge:
        write_knowledge(texts, knowledge)
    return Inputs(train=folder / "train.parquet", validation=folder / "validation.parquet", knowledge=knowledge)


def fit(learner, settings, inputs, folder, precision="fp32"):
    training = {"learning_rate": 0.05, "batch_size": 4, "steps": 3, "evaluate_every": 2, "precision": precision}
    entry = entry_of(learner, settings, training)
    return train_latent(inputs, entry, 3, Run(folder / "model", folder / "training.json", threads=1))


@pytest.mark.parametrize("name", KINDS)
def test_a_model_and_its_proposal(name, alike, tmp_path):
    kind, inputs = KINDS[name], written(KINDS[name], tmp_path)

    def work(folder):
        fit(kind.model, kind.settings, inputs, folder)
        model, proposal, knowledge = folder / "model", None, inputs.knowledge
        if kind.proposal:
            fit(kind.proposal, kind.proposed, inputs, folder / "proposal")
            proposal = folder / "proposal/model"
        files = Weighed(texts=tmp_path / "test.parquet", model=model, proposal=proposal, knowledge=knowledge)
        lengths = None if kind.ends else tmp_path / "test.parquet"
        sample_latent(
            Drawn(model=model, knowledge=knowledge, longest=6, lengths=lengths),
            Shard(1, 0, 3, folder / "shard.parquet"),
            threads=1,
        )
        if proposal is None:
            weigh_exact(files, folder / "exact.npz", threads=1)
            return
        shards = [(temperature, folder / f"{temperature}.npz") for temperature in (0.5, 1.0)]
        for temperature, path in shards:
            weigh(files, Draws(4, temperature, 1), path, threads=1)
        weigh_mixture(files, shards, Draws(4, 1.0, 1), folder / "mixed.npz", threads=1)
        weigh_best(files, 3, folder / "best.npz", threads=1)
        weigh_own(files, Draws(3, 1.0, 1), 2, (folder / "own.npz", folder / "own-exact.npz"), threads=1)
        if kind.steps:
            weigh_particles(files, 4, 1, folder / "particles.npz", threads=1)

    alike(work)
