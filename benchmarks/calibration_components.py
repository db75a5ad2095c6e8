"""Do the intervals of components of variance hold the truth? Normal components whose shares are known, in Markdown.

python benchmarks/calibration_components.py    # 20 CPU seconds
"""

import numpy as np

from textcritic.inference import Number, components, variance_components

STUDIES, DRAWS = 600, 1000
DESIGNS = ((2, 3), (3, 2), (5, 3), (10, 3))  # trainings, draws of each
DEVIATIONS = ((1, 0, 0), (1, 0, 0.3), (1, 0.5, 0.5), (1, 0, 1), (1, 1, 1), (1, 2, 0))  # documents, drawing, training


def held(trainings: int, draws: int, deviations: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """How often the interval of each share holds it, and the mean of the estimates: [3], [3]."""
    documents, drawing, training = deviations
    truth = np.square(deviations) / np.square(deviations).sum()
    rng, inside, estimates = np.random.default_rng(1), np.zeros(3), np.zeros(3)
    for seed in range(STUDIES):
        values = rng.normal(0, training, (trainings, 1)) + rng.normal(0, drawing, (trainings, draws))
        values += rng.normal(0, documents, values.shape)
        half = 1.959964 * documents
        runs = [(t, Number(y, y - half, y + half)) for t, row in enumerate(values) for y in row]
        found = variance_components(runs, seed=seed)
        inside += [one.low - 1e-9 <= share <= one.high + 1e-9 for one, share in zip(found, truth, strict=True)]
        estimates += [one.share for one in found]
    return inside / STUDIES, estimates / STUDIES


if __name__ == "__main__":
    components.DRAWS = DRAWS
    heads = ("trainings x draws", "true shares: documents, drawing, training", "mean estimate", "held: documents")
    print(f"| {' | '.join((*heads, 'drawing', 'training'))} |\n|---|---|---|---|---|---|")
    for design in DESIGNS:
        for deviations in DEVIATIONS:
            inside, estimates = held(*design, deviations)
            truth = np.square(deviations) / np.square(deviations).sum()
            shares = (", ".join(f"{100 * share:.0f}%" for share in some) for some in (truth, estimates))
            covered = " | ".join(f"{100 * share:.1f}%" for share in inside)
            print(f"| {design[0]} x {design[1]} | {' | '.join(shares)} | {covered} |")
