"""nltk's Lidstone bigram model is the same critic when its vocabulary is the set of targets."""

from itertools import pairwise

import numpy as np
import pytest
from nltk.lm import Lidstone, Vocabulary
from nltk.lm.preprocessing import pad_both_ends

from textcritic.critics import TransitionCritic, latent_ppl, score_chains

TITLES = ["abstract", "career", "history", "plot", "reception"]


def chains(seed, documents):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(len(TITLES), 0.5), size=len(TITLES))
    result = []
    for _ in range(documents):
        chain = [int(rng.integers(len(TITLES)))]
        while rng.random() < 0.7:
            chain.append(int(rng.choice(len(TITLES), p=weights[chain[-1]])))
        result.append([TITLES[k] for k in chain])
    return result


@pytest.mark.parametrize("mode", ["paper", "as_released"])
@pytest.mark.parametrize("delta", [0.01, 1.0, 7.5])
def test_probabilities_and_perplexity_equal_those_of_nltk(mode, delta):
    train, test = chains(1, 300), chains(2, 100)
    critic = TransitionCritic.fit(train, titles=TITLES, grid=[delta], mode=mode)
    # nltk counts an <UNK> among the targets; naming it </s> leaves V + 1 of them. As the vocabulary has no <s>, that is
    # looked up as </s> too, which is harmless: only the begin state is ever a context of that name.
    targets = TITLES if mode == "paper" else [*TITLES, "<s>"]
    model = Lidstone(delta, 2, vocabulary=Vocabulary(targets, unk_label="</s>"))
    padded = [list(pad_both_ends(chain, n=2)) for chain in train]
    model.fit([list(pairwise(chain)) for chain in padded])
    for i, source in enumerate(["<s>", *TITLES]):
        for j, target in enumerate([*TITLES, "</s>"]):
            assert np.exp(critic.log_probs[i, j]) == pytest.approx(model.score(target, [source]), rel=1e-12)
    ngrams = [pair for chain in test for pair in pairwise(pad_both_ends(chain, n=2))]
    scores = score_chains(critic, [str(i) for i in range(len(test))], test)
    assert latent_ppl(scores) == pytest.approx(model.perplexity(ngrams), rel=1e-10)
