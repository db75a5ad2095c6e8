"""Is the power that `textcritic plan-annotation` promises the power that the test of two systems' shares has?

Of each design the planned number of articles, the power that was promised for it, and how often
`inference.crossed.share_difference`, called study by study, finds the difference in other simulated collections.

python benchmarks/calibration_plan.py --studies 4000    # 12 CPU minutes
"""

import argparse
from dataclasses import replace

import numpy as np

from textcritic.inference.annotation_plan import Design, articles_for_power, log_odds, simulated_power
from textcritic.inference.crossed import Crossed, share_difference

DESIGNS = (
    (0.71, 0.88, Design()),
    (0.50, 0.66, Design()),
    (0.71, 0.88, Design(annotators=4)),
    (0.71, 0.88, Design(annotators=20)),
    (0.71, 0.88, Design(answers=3)),
    (0.70, 0.80, Design()),
    (0.90, 0.97, Design()),
    (0.30, 0.45, Design(annotators=12)),
    (0.60, 0.75, Design(annotators=5, answers=2)),
    (0.71, 0.88, Design(between_annotators=1.0)),
    (0.71, 0.88, Design(between_articles=0.5)),
    (0.55, 0.85, Design(annotators=3)),
)


def got(design: Design, shares: tuple[float, float], studies: int, seed: int) -> float:
    """How often p is below 0.05, in percent."""
    rng, hits = np.random.default_rng(seed), 0
    who = np.arange(design.articles * design.answers) % design.annotators
    middles = [log_odds(design, share) for share in shares]
    for _ in range(studies):
        strict = rng.normal(0, design.between_annotators, design.annotators)
        sides = []
        for number, middle in enumerate(middles):
            texts = np.repeat(rng.normal(0, design.between_articles, design.articles), design.answers)
            chance = 1 / (1 + np.exp(-(middle + texts + strict[who])))
            what = [(number, text) for text in np.repeat(np.arange(design.articles), design.answers).tolist()]
            sides.append(Crossed((rng.random(len(who)) < chance).astype(float), who.tolist(), what))
        p = share_difference(*sides).p
        hits += p is not None and p < 0.05
    return 100 * hits / studies


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=4000)
    studies = parser.parse_args().studies
    print("| shares | annotators | answers | spreads | articles | promised (%) | got (%) | promised minus got |")
    print("|---|---|---|---|---|---|---|---|")
    for first, second, design in DESIGNS:
        articles = articles_for_power(design, first, second)
        assert articles is not None
        planned = replace(design, articles=articles)
        promised = 100 * simulated_power(planned, first, second, seed=2).power
        found = got(planned, (first, second), studies, 3)
        spreads = f"{design.between_articles:g}, {design.between_annotators:g}"
        cells = f"{first}, {second} | {design.annotators} | {design.answers} | {spreads} | {articles}"
        print(f"| {cells} | {promised:.1f} | {found:.1f} | {promised - found:+.1f} |", flush=True)


if __name__ == "__main__":
    main()
