"""EntityNLM: many states of one text together, against the same code with one state after the other.

pytest benchmarks/test_bench_entities.py -s
"""

import pytest
import torch
from timing import fastest

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.entitynlm import EntityDisc, EntityNLM
from textcritic.generators.latent.vocabulary import Vocabulary

SIZES = {"embedding": 64, "hidden": 64, "layers": 1, "dropout": 0.0}
ENTITIES = {"entity_size": 64, "max_entities": 40, "longest_mention": 8}
WORDS, TOKENS, STATES = 3000, 60, 100


@pytest.fixture
def pair():
    torch.manual_seed(1)
    vocabulary = Vocabulary(("<unk>", *(f"w{number}" for number in range(1, WORDS))))
    model = EntityNLM.build(EntityNLM.form(**SIZES, **ENTITIES, tied=True), vocabulary).eval()
    return model, EntityDisc.build(EntityDisc.form(**SIZES, **ENTITIES), vocabulary).eval()


def test_states_together_against_one_after_the_other(pair):
    model, proposal = pair
    text = Structured("x", tuple(f"w{7 * number % WORDS}" for number in range(1, TOKENS + 1)))
    generator = torch.Generator().manual_seed(1)
    states, _ = proposal.draw(text, STATES, 1.0, generator)
    rows = [states.select(torch.tensor([row])) for row in range(STATES)]
    together = {
        "draw": fastest(lambda: proposal.draw(text, STATES, 1.0, generator), 3),
        "log p(x, z)": fastest(lambda: model.log_joint(text, states), 3),
    }
    apart = {
        "draw": fastest(lambda: [proposal.draw(text, 1, 1.0, generator) for _ in range(STATES)], 1),
        "log p(x, z)": fastest(lambda: [model.log_joint(text, row) for row in rows], 1),
    }
    for what, seconds in together.items():
        print(
            f"{what}: {STATES * TOKENS / seconds:,.0f} samples x tokens a second, {apart[what] / seconds:.0f} times "
            "those of one state after the other"
        )
        assert apart[what] > 3 * seconds, what
