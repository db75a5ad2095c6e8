"""How many published edits the probes give to the letter: `python benchmarks/probe_shares.py FOLDER`.

FOLDER has the files of `linguistic_probe_data` (see `published_probes.py`). The rules were written
while looking at the files `injected_*` and at the lines 1, 3, 5, ... of the files `original_*`; the edits of the other
lines were not looked at.
"""

import sys
from pathlib import Path

from published_probes import FILES, Agreement, agreement, read_published

from textcritic.corpora.intruders.probes import PROBES


def main(folder: Path) -> None:
    """Print a table: a line for each edit."""
    print("| edit | looked at | not looked at | whole | refused | injected |\n|---|---|---|---|---|---|")
    for probe in PROBES:
        name = next(name for name, of in FILES.items() if of == probe)
        own = read_published(folder / f"original_{name}.txt")
        injected = agreement(read_published(folder / f"injected_{name}.txt"))
        halves = [_cell(agreement(part)) for part in (own[0::2], own[1::2], own)]
        print(f"| {probe} | {' | '.join(halves)} | {agreement(own).refused} | {_cell(injected)} |")


def _cell(one: Agreement) -> str:
    return f"{one.exact} of {one.pairs}" if one.pairs else ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
