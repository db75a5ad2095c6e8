"""Toys of EntityNLM: all latent states of a short text, and log p(x, z) by plain loops over the formulas."""

import itertools
import math

import numpy as np
import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.entitynlm import EntityDisc, EntityNLM, EntityStates
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import EntityDiscModel, EntityNlmModel

WORDS = Vocabulary(("<unk>", "a", "b"))
MODEL = {
    "embedding": 5, "hidden": 5, "layers": 1, "dropout": 0.1, "tied": False, "uncounted": [],
    "entity_size": 4, "max_entities": 3, "longest_mention": 2, "noise": 0.0,
}  # fmt: skip
PROPOSAL = {
    "embedding": 5, "hidden": 5, "layers": 1, "dropout": 0.1, "entity_size": 4, "max_entities": 3,
    "longest_mention": 2, "reads": "next", "as_released": False,
}  # fmt: skip


def scaled(learner, scale, seed):
    """Weights that are far from those that training begins with, where all distributions are nearly uniform."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in learner.parameters():
            parameter.copy_(scale * torch.randn(parameter.shape, generator=generator))
    return learner.eval()


def model(scale=1.0, seed=1, **changed):
    return scaled(EntityNLM.build(EntityNlmModel(**MODEL | changed), WORDS), scale, seed)


def proposal(scale=0.5, seed=2, **changed):
    return scaled(EntityDisc.build(EntityDiscModel(**PROPOSAL | changed), WORDS), scale, seed)


def all_texts(length):
    return [Structured("x", words) for words in itertools.product(WORDS.words, repeat=length)]


def all_states(tokens, entities=3, longest=2):
    """Every possible z of so many tokens, by its definition."""

    def extend(done, known):
        if len(done) == tokens:
            yield done
            return
        if done and done[-1][1] > 0:
            yield from extend([*done, (done[-1][0], done[-1][1] - 1)], known)
            return
        yield from extend([*done, (-1, 0)], known)
        for entity in range(min(known + 1, entities)):
            for remaining in range(longest):
                yield from extend([*done, (entity, remaining)], max(known, entity + 1))

    return states_from(list(extend([], 0)))


def states_from(pairs):
    table = torch.tensor(pairs)
    return EntityStates(table[:, :, 0], table[:, :, 1])


def plain_log_joint(entity_nlm, text, states, row):
    """The log p(x, z) in float64, entity by entity and token by token."""
    weights = {name: value.double().numpy() for name, value in entity_nlm.state_dict().items()}
    numbers = WORDS.encode(text.tokens)
    hidden = entity_nlm.reader(numbers[None])[0].detach().double().numpy()
    entity, remaining = states.entity[row].tolist(), states.remaining[row].tolist()
    unit = lambda vector: vector / np.linalg.norm(vector)  # noqa: E731
    log_softmax = lambda logits: logits - np.logaddexp.reduce(logits)  # noqa: E731
    embeddings, seen, context, total = [], [], np.zeros(len(weights["entities.first"])), 0.0
    for t, word in enumerate(numbers.tolist()):
        h, after = hidden[t], hidden[t + 1]
        if t == 0 or remaining[t - 1] == 0:
            types = log_softmax(weights["entities.types.weight"] @ h + weights["entities.types.bias"])
            total += types[int(entity[t] >= 0)]
            if entity[t] >= 0:
                offered = list(embeddings)
                ago = [t - last for last in seen]
                if len(embeddings) < entity_nlm.settings.max_entities:
                    offered.append(unit(weights["entities.first"]))
                    ago.append(0)
                query = weights["entities.query.weight"] @ h
                total += log_softmax(np.array(offered) @ query + weights["entities.distance"] * np.array(ago))[
                    entity[t]
                ]
                lengths = weights["entities.lengths.weight"] @ h + weights["entities.lengths.bias"]
                lengths = lengths + weights["entities.lengths_by_entity.weight"] @ offered[entity[t]]
                total += log_softmax(lengths)[remaining[t]]
                if entity[t] == len(embeddings):
                    embeddings.append(offered[-1])
                    seen.append(t)
        if entity[t] >= 0:
            context = embeddings[entity[t]]
        vector = h + weights["context.weight"] @ context
        if entity_nlm.settings.tied:
            matrix = weights["reader.embedding.weight"][: len(WORDS)]
        else:
            matrix = weights["output.weight"]
        total += log_softmax(matrix @ vector + weights["output.bias"])[word]
        if entity[t] >= 0:
            old = embeddings[entity[t]]
            share = 1 / (1 + math.exp(-(weights["entities.gate.weight"] @ after) @ old))
            embeddings[entity[t]] = unit(share * old + (1 - share) * (weights["entities.value.weight"] @ after))
            seen[entity[t]] = t
    return total
