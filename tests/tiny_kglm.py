"""A KGLM small enough to enumerate: its states, and log p(x, z) restated in plain Python."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import torch

from textcritic.corpora.structured.links import REFLEXIVE, Knowledge
from textcritic.corpora.structured.texts import Structured
from textcritic.files import write_json
from textcritic.generators.latent.kglm import KGLM, KglmDisc, Links
from textcritic.generators.latent.kglm.states import CONTINUE, NEW, NONE, RELATED
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import KglmDiscModel, KglmModel

torch.set_num_threads(1)  # tensors this small are slower with more

WORDS = Vocabulary(("<unk>", "x", "y"))
SIZE = {"words": 5, "entities": 3, "hidden": 6, "layers": 1, "dropout": 0.0, "window": 2}
# From A two parallel edges lead to B, and one that is REFLEXIVE in all but name to A; C has no edges and no names.
EDGES = {"A": [["r1", "B"], ["r2", "B"], ["r1", "C"], ["r3", "A"]], "B": [["r3", "A"]]}
ALIASES = {"A": [["x", "y"], ["z", "x"]], "B": [["y"], ["x", "x"]], "C": []}


def write_toy(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "graph.json", EDGES)
    write_json(folder / "aliases.json", ALIASES)
    return folder


def toy_model(folder: Path, scale: float = 0.6, **settings: Any) -> KGLM:
    """In fp64, with weights scaled up so that it is far from uniform."""
    return _scaled(KGLM.build(KglmModel(**SIZE | settings), WORDS, folder), scale, 1)


def toy_proposal(folder: Path, scale: float = 0.3, **settings: Any) -> KglmDisc:
    return _scaled(KglmDisc.build(KglmDiscModel(**SIZE | settings), WORDS, folder), scale, 2)


def _scaled(learner: Any, scale: float, seed: int) -> Any:
    generator = torch.Generator().manual_seed(seed)
    learner = learner.double().eval()
    for weight in learner.parameters():
        weight.data = scale * torch.randn(weight.shape, generator=generator, dtype=torch.float64)
    return learner


def all_texts(tokens: int) -> list[Structured]:
    return [Structured("toy", words) for words in product(WORDS.words, repeat=tokens)]


def all_states(tokens: int, entities: int = 3) -> Links:
    """Every sequence of types and entities, the impossible ones too, but for a *continue* that changes the entity."""
    found: list[list[tuple[int, int]]] = [[]]
    for _ in range(tokens):
        steps = [(NONE, -1), *product((NEW, RELATED), range(entities))]
        found = [
            [*states, step]
            for states in found
            for step in [*steps, *([(CONTINUE, states[-1][1])] if states and states[-1][1] >= 0 else [])]
        ]
    both = torch.tensor(found)
    return Links(both[:, :, 0].contiguous(), both[:, :, 1].contiguous())


@torch.no_grad()
def plain_log_joint(
    model: KGLM, knowledge: Knowledge, text: Structured, types: list[int], entities: list[int]
) -> float:
    """log p(x, z) of one state by loops over dicts: the LSTM's parts are the model's, all else is restated."""
    numbers = model.vocabulary.encode(text.tokens)
    begin = torch.tensor([len(model.vocabulary)])
    vectors = model.words.embedding(torch.cat([begin, numbers[:-1]]))[None]
    hidden, head, edge = (part[0] for part in model.reader(vectors, torch.tensor([len(numbers)])))
    total = 0.0
    for token, entity in enumerate(entities):
        log_state = plain_log_state(model.choices, knowledge, head[token], edge[token], types, entities, token)
        vector = model.choices.entity[entity] if entity >= 0 else None
        aliases = knowledge.aliases[knowledge.entities[entity]] if entity >= 0 else ()
        total += log_state + math.log(plain_word(model, hidden[token], vector, aliases, int(numbers[token])))
        if log_state == -math.inf:
            return log_state
    return total


def plain_log_state(
    choices: Any,
    knowledge: Knowledge,
    head: torch.Tensor,
    edge: torch.Tensor,
    types: list[int],
    entities: list[int],
    token: int,
) -> float:
    kind, entity = types[token], entities[token]
    window = [one for one in entities[max(0, token - choices.window) : token] if one >= 0]
    ongoing = token > 0 and entities[token - 1] >= 0
    possible = [NONE, NEW, *([RELATED] if window else []), *([CONTINUE] if ongoing else [])]
    if kind not in possible or (kind == CONTINUE and entities[token - 1] != entity):
        return -math.inf
    logits = choices.kinds(head)
    log = float(logits[kind] - torch.logsumexp(logits[possible], 0))
    if kind == NEW:
        scores = choices.entity @ (head + edge)
        log += float(scores[entity] - torch.logsumexp(scores, 0))
    if kind == RELATED:
        parents = sorted(set(window))
        shares = torch.softmax(torch.stack([choices.entity[parent] @ head for parent in parents]), 0)
        reached = 0.0
        for parent, share in zip(parents, shares, strict=True):
            name = knowledge.entities[parent]
            edges = [(REFLEXIVE, name), *knowledge.edges.get(name, ())]
            scores = torch.stack([choices.relation[knowledge.relations.index(kind)] @ edge for kind, _ in edges])
            for weight, (_, tail) in zip(torch.softmax(scores, 0), edges, strict=True):
                reached += float(share * weight) * (tail == knowledge.entities[entity])
        log += math.log(reached) if reached else -math.inf
    return log


def plain_word(model: KGLM, hidden: torch.Tensor, entity: torch.Tensor | None, aliases: Any, word: int) -> float:
    """The probability of a word: from the vocabulary, or also copied from the aliases."""
    words = model.words
    table = words.embedding.weight
    vector = hidden if entity is None else words.within(hidden) + words.of_entity(entity)
    scores = [float(table[number] @ vector + words.bias[number]) for number in range(len(model.vocabulary))]
    writes = list(range(len(model.vocabulary)))
    for alias in aliases:
        before = len(model.vocabulary)
        for surface in alias:
            number = model.vocabulary.numbers.get(surface, 0)
            key = words.key(torch.cat([table[number], table[before]]))
            scores.append(float(torch.tanh(words.copy(vector)) @ key))
            writes.append(number)
            before = number
    weights = [math.exp(score) for score in scores]
    return sum(weight for weight, write in zip(weights, writes, strict=True) if write == word) / sum(weights)
