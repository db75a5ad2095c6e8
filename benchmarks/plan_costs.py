"""What `textcritic plan` said before a run against what the run took: CPU-seconds of each stage that takes over twenty.

For each study, in a fresh folder: `textcritic plan NAME --json > plan.json`, then the run by plain `snakemake`, whose
jobs are processes of their own; then `python benchmarks/plan_costs.py FOLDER ...`. Without a folder: tokens a second
of GPT-2 small on one H200, by the model and as measured.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from textcritic.plan.costs.cards import CARDS
from textcritic.plan.costs.models import KNOWN
from textcritic.plan.costs.stages import LAYER_STEP

LEAST = 20.0
# Tokens a second of docs/results/runs.md, On a GPU. The card's share of its peak is that of the first row.
TRAINED = {"training, bf16, 8 blocks a step": 175_833, "training, bf16, 32 blocks a step": 230_372}
DRAWN = {"sampling, fp32, 64 side by side, inside the window": (1, 11_021), "... past the window": (2, 7_908)}
CONTEXT, SIDE_BY_SIDE = 1024, 64


def taken(folder: Path) -> dict[str, list[float]]:
    """CPU-seconds of the jobs of each rule, as each noted in the records of its outputs."""
    jobs = {}
    for path in (folder / "results/digests").rglob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        took = record.get("spent")
        if took:  # all outputs of a job have the same
            jobs[json.dumps([record["job"], took, record["inputs"]])] = record["job"], took["cpu_seconds"]
    by_rule = defaultdict(list)
    for rule, seconds in jobs.values():
        by_rule[rule].append(seconds)
    return by_rule


def on_the_h200() -> None:
    """Print what the model says of GPT-2 small on the one card that was measured."""
    model, card = KNOWN["gpt2"], CARDS["h200"]
    forward = model.forward(CONTEXT)
    rows = [(what, 1 / card.seconds(3 * forward), measured) for what, measured in TRAINED.items()]
    for what, (passes, measured) in DRAWN.items():
        step = LAYER_STEP * model.layers / SIDE_BY_SIDE + passes * card.seconds(forward, exact=True)
        rows.append((what, 1 / step, measured))
    print("| GPT-2 small on one H200 | planned, tokens/s | measured | planned / measured |\n|---|---|---|---|")
    for what, planned, measured in rows:
        print(f"| {what} | {planned:,.0f} | {measured:,} | {planned / measured:.2f} |")


def main(folders: list[str]) -> None:
    """Print a table in Markdown."""
    if not folders:
        on_the_h200()
        return
    print("| study | stage | jobs | planned, CPU s | taken, CPU s | planned / taken |\n|---|---|---|---|---|---|")
    for folder in map(Path, folders):
        planned = json.loads((folder / "plan.json").read_text(encoding="utf-8"))["rules"]
        took = taken(folder)
        for row in planned:
            done = took.get(row["rule"], [])
            planned_seconds = row["core_seconds"] * len(done) / row["jobs"]
            if done and max(sum(done), planned_seconds) > LEAST:
                figures = f"{planned_seconds:.0f} | {sum(done):.0f} | {planned_seconds / sum(done):.2f}"
                print(f"| {folder.name} | {row['rule']} | {len(done)} of {row['jobs']} | {figures} |")


if __name__ == "__main__":
    main(sys.argv[1:])
