"""An RNNG's log joint of many trees of a sentence together, against one tree after the other by the same code.

    pytest benchmarks/test_bench_rnng.py -s

A sentence of 20 words, 1,000 trees of it from a CRF, a vocabulary of 5,000 words, random weights. How much faster it is
has two causes: matrix products of many rows at once, and stacks and subtrees that trees share, which are computed once.
At temperature 0.1 a CRF of random weights is sure; the hardest case is trees drawn uniformly, which share little. What
a trained one draws lies between them.
"""

import time

import pytest
import torch
from timing import cpu_seconds

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.rnng.charts import Chart
from textcritic.generators.latent.rnng.model import RNNG
from textcritic.generators.latent.vocabulary import UNKNOWN, Vocabulary

WORDS, TREES, ALONE = 20, 1000, 30
# CPU time of one thread, so that other work on the machine does not count.
pytestmark = [
    pytest.mark.benchmark(timer=time.process_time, disable_gc=True),
    pytest.mark.usefixtures("one_thread"),
]


def drawn(scale):
    """Trees by random scores of spans: 0: all trees alike."""
    scores = torch.randn(1, WORDS, WORDS, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * scale
    return torch.from_numpy(Chart.of(scores).draw(TREES, torch.Generator().manual_seed(1))[0])


@pytest.mark.parametrize("hidden", [128, 256])
@pytest.mark.parametrize(("name", "scale"), [("sure", 3.0), ("unsure", 1.0), ("uniform", 0.0)])
def test_trees_together(benchmark, capsys, hidden, name, scale):
    vocabulary = Vocabulary((UNKNOWN, *(f"w{number}" for number in range(4999))))
    torch.manual_seed(0)
    model = RNNG.build(RNNG.form(hidden=hidden, dropout=0.0), vocabulary).eval()
    text = Structured("x", tuple(f"w{7 * number}" for number in range(WORDS)))
    trees = drawn(scale)
    together = benchmark.pedantic(model.log_joint, (text, trees), rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.median / TREES
    one_by_one = lambda: torch.cat([model.log_joint(text, tree[None]) for tree in trees[:ALONE]])  # noqa: E731
    seconds, alone = cpu_seconds(one_by_one)
    torch.testing.assert_close(together[:ALONE], alone, rtol=0, atol=1e-3)
    different = len(set(map(tuple, trees.tolist())))
    benchmark.extra_info |= {"ratio": seconds / ALONE / ours}
    with capsys.disabled():
        print(
            f"\nhidden {hidden}, {name}: {different} of {TREES} trees differ; {ours * 1e3:.3f} ms a tree, one by one "
            f"{seconds / ALONE * 1e3:.1f} ms: ratio {seconds / ALONE / ours:.0f}"
        )
