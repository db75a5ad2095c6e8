"""Write what the four papers' studies cost into docs/reproduce.md, as `textcritic plan` says in a clean folder.

python tools/plan_hours.py: files that a user must bring are taken to be there, so that the whole study is planned.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textcritic.place import workflow_folder
from textcritic.plan.costs.planned import MARK
from textcritic.plan.costs.table import hours, size
from textcritic.plan.entries.downloads import Pin
from textcritic.plan.hub_lock import ON_HUB, no_commit, on_hub, write_lock
from textcritic.plan.missing import Missing
from textcritic.plan.project import Project
from textcritic.plan.registries import Registries
from textcritic.runlog import duration
from textcritic.workflow.planning import plan_of

STUDIES = ("model-criticism", "beyond-perplexity", "latent-lms", "document-coherence")
PAGE = Path(__file__).parents[1] / "docs/reproduce.md"
BEGIN, END = "<!-- tools/plan_hours.py -->\n", "<!-- end -->\n"
HEAD = f"""\
| study, without audits at a stride of 1 | jobs | submissions | A100-hours ({MARK}) | core-hours | disk | least time |
|---|---|---|---|---|---|---|
"""


def bring(folder: Path, registries: Registries) -> None:
    """Put files where those belong that a user must bring, and a hub.lock: enough to plan with."""
    missing, lock = Missing(registries, folder), {}
    for registry, entries in registries.entries.items():
        for name in entries:
            if registry in ON_HUB and no_commit(entry := on_hub(registries, (registry, name))):
                pin = Pin(repository=entry.repository, revision=entry.revision, commit="0" * 40, date="then")
                lock[registry, name] = pin
            for _, path in missing.brought(registry, name):
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("brought", encoding="utf-8")
    write_lock(folder, lock)


def row_of(study: str, said: Mapping[str, Any]) -> str:
    """The row of a study.

    Args:
        study: its name.
        said: what `textcritic plan --json` says.
    """
    audits = sum(row["gpu_seconds"] for row in said["rules"] if ", " in row["rule"])
    gpu = f"{hours(said['gpu_seconds'] - audits) or 0}" + (f"; audits {hours(audits)}" if audits else "")
    jobs = f"{said['jobs']:,} | {said['submissions']:,}"
    cost = f"{hours(said['core_seconds'])} | {size(said['disk_bytes'])} | {duration(said['least_seconds'])}"
    return f"| `{study}` | {jobs} | {gpu} | {cost} |\n"


def main() -> None:
    """Plan the studies and write the page."""
    options = ["--profile", str(workflow_folder() / "profiles/slurm")]
    registries = Project({"studies": []}, workflow_folder()).registries
    rows = []
    for study in STUDIES:
        with tempfile.TemporaryDirectory() as name:
            bring(Path(name), registries)
            rows.append(row_of(study, plan_of([study], options, Path(name)).as_json()))
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}{HEAD}{''.join(rows)}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
