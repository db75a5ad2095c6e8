"""Two models that answer the same prompts: level, coverage and width of their comparison by pairs, and as strangers.

Prompts are hard or easy for both models. Perplexities are compared by `nearness`, with the numbers that `source_rows`
makes: of equal models, and of one that is higher. In Markdown.

python benchmarks/calibration_paired_models.py    # 3 CPU minutes
"""

import numpy as np

from textcritic.inference import Number, exp_ratio_of_sums, nearness, share_interval
from textcritic.inference.statistics import Array
from textcritic.measures.measure import Measure, Resampling, Scored
from textcritic.measures.memory import rows_in_memory, scores_in_memory

PPL = Measure(name="PPL", value="ppl", statistic=exp_ratio_of_sums, p="", by_ratio=True)
CELLS = ((30, 1.0), (100, 1.0), (400, 1.0), (100, 0.9), (100, 0.5))  # prompts, the share of them that both answer
STUDIES, RESAMPLES, HIGHER = 400, 300, 0.15
EXACT = Number(1.0)


def answers(rng: np.random.Generator, hard: Array, higher: float) -> Array:
    """(NLL, steps) of an answer to each prompt, skewed."""
    steps = rng.integers(3, 30, len(hard)).astype(float)
    nll = 1.5 + higher + hard + rng.gamma(1.0, 0.3, len(hard))
    return np.column_stack([steps * nll, steps])


def compared(seed: int, prompts: int, both: float, higher: float) -> list[tuple[bool, bool, float]]:
    """Of a study, by pairs and as strangers: whether p < 0.05, whether the truth is held, and the interval's width."""
    rng = np.random.default_rng(seed)
    hard = rng.gamma(1.0, 0.4, prompts)
    other = hard.copy()
    fresh = rng.permutation(prompts)[: round((1 - both) * prompts)]
    other[fresh] = rng.gamma(1.0, 0.4, len(fresh))
    names = [[f"{n}" for n in range(prompts)], [f"{n}{' other' * (n in fresh)}" for n in range(prompts)]]
    sets = answers(rng, hard, 0.0), answers(rng, other, higher)
    found = []
    for keyed in (True, False):
        scored = {
            label: Scored({"ppl": columns}, prompts, groups=groups if keyed else None)
            for label, columns, groups in zip("ab", sets, names, strict=True)
        }
        rows = rows_in_memory(scored, [PPL], Resampling(RESAMPLES, seed))
        one, two = (score.number for score in scores_in_memory(rows, [PPL]))
        near = nearness(one, two, EXACT, by_ratio=True)
        assert near is not None
        found.append((near.p < 0.05, near.low <= -higher <= near.high, near.high - near.low))
    return found


def shown(hits: int) -> str:
    """A share of the studies with its interval."""
    low, high = share_interval(hits, STUDIES)
    return f"{100 * hits / STUDIES:.1f} ({100 * low:.1f}-{100 * high:.1f})"


def main() -> None:
    """Print the table."""
    print("| prompts, answered by both | compared | p < 0.05, equal models | p < 0.05, one higher | covers | width |")
    print("|---|---|---|---|---|---|")
    for prompts, both in CELLS:
        null = [compared(seed, prompts, both, 0.0) for seed in range(STUDIES)]
        fault = [compared(10**6 + seed, prompts, both, HIGHER) for seed in range(STUDIES)]
        for place, name in enumerate(("by pairs", "as strangers")):
            level, power = (sum(one[place][0] for one in some) for some in (null, fault))
            held = sum(one[place][1] for one in fault)
            width = np.mean([one[place][2] for one in fault]) / np.mean([one[1][2] for one in fault])
            cell = f"{prompts}, {both:.0%}"
            print(f"| {cell} | {name} | {shown(level)} | {shown(power)} | {shown(held)} | {width:.2f} |", flush=True)


if __name__ == "__main__":
    main()
