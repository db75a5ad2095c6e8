"""What `textcritic plan` said before a run against what the run took: CPU-seconds of each stage that takes over twenty.

For each study, in a fresh folder: `textcritic plan NAME --json > plan.json`, then the run by plain `snakemake`, whose
jobs are processes of their own; then `python benchmarks/plan_costs.py FOLDER ...`.
"""

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path

LEAST = 20.0


def taken(folder: Path) -> dict[str, list[float]]:
    """CPU-seconds of the jobs of each rule, from the files that Snakemake writes."""
    by_rule = defaultdict(list)
    for path in (folder / "results/benchmarks").rglob("*.tsv"):
        with path.open(encoding="utf-8") as handle:
            row = next(csv.DictReader(handle, delimiter="\t"))
        rule = path.relative_to(folder / "results/benchmarks").parts[0]
        by_rule[rule].append(float(row["cpu_time"]) if row["cpu_time"][0].isdigit() else 0.0)
    return by_rule


def main(folders: list[str]) -> None:
    """Print a table in Markdown."""
    print("| study | stage | jobs | planned, CPU s | taken, CPU s | planned / taken |\n|---|---|---|---|---|---|")
    for folder in map(Path, folders):
        planned = json.loads((folder / "plan.json").read_text(encoding="utf-8"))["rules"]
        took = taken(folder)
        for row in planned:
            done = took.get(row["rule"], [])
            both = max(sum(done), row["core_seconds"])
            if len(done) == row["jobs"] and both > LEAST and sum(done):
                ratio = row["core_seconds"] / sum(done)
                figures = f"{row['core_seconds']:.0f} | {sum(done):.0f} | {ratio:.2f}"
                print(f"| {folder.name} | {row['rule']} | {row['jobs']} | {figures} |")


if __name__ == "__main__":
    main(sys.argv[1:])
