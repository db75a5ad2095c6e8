"""Which rules have run in a working directory, by Snakemake's own records of the files that they made.

    python -m textcritic.rehearsal.rules rehearsal/*

prints the rules that ran in none of these folders, a line each.
"""

import base64
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.place import workflow_folder

RECORDS = Path(".snakemake/metadata")
RAN = "rules.json"
SHOWN = "results/studies/"
"""Files below it are for people: they need no other rule that reads them."""


def rules_that_ran(here: Path) -> dict[str, int]:
    """For each rule, the number of its files that another rule has read, or that are for people (in `SHOWN`).

    Args:
        here: the working directory.

    Raises:
        TextcriticError: Snakemake has left no records there.
    """
    paths = [path for path in (here / RECORDS).rglob("*") if path.is_file()]
    if not paths:
        raise TextcriticError(f"{here}: Snakemake has left no records here; nothing has run")
    records = {_made(path): json.loads(path.read_text(encoding="utf-8")) for path in paths}
    read = {str(name) for record in records.values() for name in record.get("input") or ()}
    counted = (
        record["rule"]
        for name, record in records.items()
        if record.get("rule") and not record.get("incomplete") and (name in read or name.startswith(SHOWN))
    )
    return dict(sorted(Counter(counted).items()))


def write_rules(here: Path) -> dict[str, int]:
    """Write `rules_that_ran` as rules.json in the folder, and return it."""
    ran = rules_that_ran(here)
    write_json(here / RAN, ran)
    return ran


def never_ran(ran: Iterable[str]) -> list[str]:
    """The rules of the workflow that make files and are not among these."""
    return sorted(_all_rules() - {*ran})


def never_ran_in(folders: Iterable[Path]) -> list[str]:
    """The rules that ran in none of the folders, by their rules.json.

    Raises:
        TextcriticError: a folder has none, or a broken one.
    """
    return never_ran(rule for folder in folders for rule in read_json(folder / RAN, "rehearse the study to its end"))


def _all_rules() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in sorted((workflow_folder() / "rules").glob("*.smk"))]
    derived = {name for text in texts for name in re.findall(r"^use rule \w+ as (\w+)", text, re.MULTILINE)}
    bodies = [match for text in texts for match in re.finditer(r"^rule (\w+):\n((?:    .*\n|\n)*)", text, re.MULTILINE)]
    return derived | {match[1] for match in bodies if re.search(r"^    output:", match[2], re.MULTILINE)}


def _made(record: Path) -> str:
    """The path of the file that a record is of: Snakemake writes it in base64, in folders where it is long."""
    name = "".join(part.removeprefix("@") for part in record.parts[record.parts.index("metadata") + 1 :])
    return base64.b64decode(name, altchars=b"-_").decode()


def main(folders: list[str]) -> None:
    """Print the rules that ran in none of the folders."""
    try:
        print("\n".join(never_ran_in(map(Path, folders))))
    except TextcriticError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
