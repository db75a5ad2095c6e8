"""Which rules have run in a working directory, by Snakemake's own records of the files that they made."""

import json
from collections import Counter
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.files import write_json

RECORDS = Path(".snakemake/metadata")


def rules_that_ran(here: Path) -> dict[str, int]:
    """How many files each rule has made that another rule has read, or that nothing can read: pages, tables, figures.

    Args:
        here: the working directory.

    Raises:
        TextcriticError: Snakemake has left no records there.
    """
    records = [json.loads(path.read_text(encoding="utf-8")) for path in (here / RECORDS).rglob("*") if path.is_file()]
    if not records:
        raise TextcriticError(f"{here}: Snakemake has left no records here; nothing has run")
    made = Counter(record["rule"] for record in records if record.get("rule") and not record.get("incomplete"))
    return dict(sorted(made.items()))


def write_rules(here: Path, path: Path) -> dict[str, int]:
    """Write `rules_that_ran` as JSON, and return it."""
    ran = rules_that_ran(here)
    write_json(path, ran)
    return ran
