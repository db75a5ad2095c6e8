"""The bench of known faults: what the scorecard of `textcritic criticise` marks, and which cause it names.

    python benchmarks/known_faults.py TEXTS.txt --folder FOLDER --n 200 --runs 20 --minutes 60
    python benchmarks/known_faults.py --folder FOLDER --table docs/known-faults.md

Each run deals real texts and a sample anew from the pooled texts, one a line; one dealing with its fits serves all
faults.
The first form goes on where it was stopped: what a run found is a line of FOLDER/found.jsonl.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fault_measures import RESAMPLES, Critics, Read
from faults import CONTROLS, FAULTS, Make, Pool, spoilt

from textcritic.inference import holm, permutation_test, ratio_of_sums

REAL = 1000  # of which a fifth is the yardstick
HELD_OUT = 0.2
SHARES = (1.0, 0.2)
CONTROL_SETS = 4  # of the same population, in each run
MARGIN = 0.05
NATS = "nats"
Cell = tuple[str, float, Make | None]
"""What is judged: a name, the share of documents that are spoilt, and how; None leaves them as they are."""


def main() -> None:
    """Run, or write the tables."""
    arguments = _parser().parse_args()
    folder = Path(arguments.folder)
    if arguments.table:
        from fault_tables import write_tables

        write_tables(sorted(folder.rglob("found.jsonl")), Path(arguments.table))
        return
    folder.mkdir(parents=True, exist_ok=True)
    texts = [line for path in arguments.texts for line in Path(path).read_text("utf-8").splitlines() if line.strip()]
    runs = range(arguments.first, arguments.first + arguments.runs)
    wanted = Wanted(arguments.n, runs, arguments.minutes, arguments.name, arguments.controls)
    bench(texts, folder / "found.jsonl", wanted)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is run.

    Attributes:
        n: documents of a sample.
        runs: numbers of dealings, which decide what is drawn.
        minutes: after which no further cell is begun.
        name: of the corpus.
        controls: whether controls alone are judged; no GPT-2 is trained for them, which takes most of a dealing.
    """

    n: int
    runs: Sequence[int]
    minutes: float
    name: str
    controls: bool = False


def bench(texts: Sequence[str], found: Path, wanted: Wanted) -> None:
    """Run what is not there yet, until the time is over.

    Args:
        texts: the pooled texts.
        found: JSON lines, one a cell and run; they are added to.
        wanted: see `Wanted`.
    """
    done = {_key(line) for line in read_lines(found)}
    if found.is_file() and not found.read_bytes().endswith(b"\n"):  # a kill has cut off the last line
        with found.open("a", encoding="utf-8") as handle:
            handle.write("\n")
    stop = time.monotonic() + 60 * wanted.minutes
    sets = min((len(texts) - _real(texts)) // wanted.n, CONTROL_SETS)
    every = [*controls(sets), *(() if wanted.controls else faulty())]
    for run in wanted.runs:
        keys = {"corpus": wanted.name, "n": wanted.n, "run": run}
        left = [cell for cell in every if _key(keys | {"fault": cell[0], "share": cell[1]}) not in done]
        if left:
            dealing = Dealing(texts, wanted.n, run, gpt2=not wanted.controls)
            for fault, share, make in left:
                if time.monotonic() > stop:
                    return
                line = keys | {"share": share, "fault": fault}
                with found.open("a", encoding="utf-8") as handle:
                    handle.write(json.dumps(line | dealing.judged(fault, share, make)) + "\n")


def controls(sets: int) -> Iterator[Cell]:
    """What is no fault; so many disjoint sets of the same population are among it."""
    yield from ((f"{CONTROLS[0][0]} {number + 1}", 1.0, None) for number in range(sets))
    yield from CONTROLS[1:]


def faulty() -> Iterator[Cell]:
    """The faults; both shares of one stand together, so that its documents are read once."""
    yield from ((fault.name, share, fault.make) for fault in FAULTS for share in SHARES)


class Dealing:
    """One dealing of the texts, with critics fitted on its real ones."""

    def __init__(self, texts: Sequence[str], n: int, run: int, gpt2: bool = True) -> None:
        from fault_gpt2 import SmallGpt2
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        order = random.Random(f"dealing {run}").sample(list(texts), len(texts))
        real, rest = order[: _real(texts)], order[_real(texts) :]
        test = round(HELD_OUT * len(real))
        train, self._run, self._n = real[test:], run, n
        self._critics = Critics(train, real[:test], run)
        self._others = [rest[start : start + n] for start in range(0, len(rest) - n + 1, n)]
        self._pool = Pool.of(train, rest)
        self._whole: Read | None = None
        self._spoilt: tuple[str, Read] | None = None
        self._gpt2 = SmallGpt2(train, run) if gpt2 else None
        words = TfidfVectorizer().fit(train)
        svd = TruncatedSVD(min(200, len(train) - 1), random_state=0).fit(words.transform(train))
        self._svd = lambda some: svd.transform(words.transform(some))
        self._by_gpt2: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._real = self._points(self._critics.real.texts)

    def judged(self, fault: str, share: float, make: Make | None) -> dict[str, Any]:
        """p and strength of each measure, whether more is copied than in real text, p of the measures of others."""
        if make is None:
            number = int(fault.split()[-1]) - 1
            sample = self._critics.read(self._others[number])
        else:
            sample = self._mixed(fault, share, make)
        found = self._critics.judge(sample)
        points, real = self._points(sample.texts), self._real
        beside = self._critics.beside(sample, {name: (real[name], points[name]) for name in points if name != NATS})
        if self._gpt2:
            beside["GPT-2 perplexity"] = float(
                permutation_test(real[NATS], points[NATS], ratio_of_sums, RESAMPLES, self._run).p
            )
        return {
            "p": {key: p for key, (p, _) in found.items()},
            "s": {key: s for key, (_, s) in found.items()},
            "copied": self._critics.copies(sample),
            "beside": beside,
        }

    def _mixed(self, fault: str, share: float, make: Make) -> Read:
        """The sample, of which the first documents are spoilt."""
        texts = self._others[0]
        if self._whole is None:
            self._whole = self._critics.read(texts)
        if self._spoilt is None or self._spoilt[0] != fault:
            self._spoilt = fault, self._critics.read(spoilt(texts, make, self._pool, f"{fault} {self._run}"))
        some = round(share * len(texts))
        return Read.joined([self._spoilt[1].take(np.arange(some)), self._whole.take(np.arange(some, len(texts)))])

    def _points(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Points by TF-IDF, and by GPT-2 with its nats where it is there; GPT-2 reads each text once."""
        points = {"TF-IDF": self._svd(texts)}
        if self._gpt2:
            if new := [text for text in dict.fromkeys(texts) if text not in self._by_gpt2]:
                self._by_gpt2 |= zip(new, zip(*self._gpt2.read(new), strict=True), strict=True)
            read = zip(*(self._by_gpt2[text] for text in texts), strict=True)
            points |= {name: np.stack(each) for name, each in zip(("GPT-2", NATS), read, strict=True)}
        return points


def marked(line: Mapping[str, Any]) -> list[str]:
    """The measures with p < 0.05 by Holm's correction for all of a sample, in the order of `measures.causes`.

    Lines of before it was known whether more is copied, or less, than in real text are taken to say more.
    """
    p_values, strengths = line["p"], line["s"]
    names = list(p_values)
    adjusted = dict(zip(names, holm([p_values[name] for name in names]), strict=True))
    copied = line.get("copied", True)
    found = [name for name in names if adjusted[name] < MARGIN]
    return sorted(found, key=lambda name: (name != "recited" or not copied, adjusted[name], -strengths[name]))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """What was found; a line that a kill has cut off is left out."""
    if not path.is_file():
        return []
    lines = []
    for line in path.read_text("utf-8").splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return lines


def _real(texts: Sequence[str]) -> int:
    """How many texts are real ones: at most half of them."""
    return min(REAL, len(texts) // 2)


def _key(line: Mapping[str, Any]) -> tuple[str, int, float, int, str]:
    return line["corpus"], line["n"], line["share"], line["run"], line["fault"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", help="files with a text a line, pooled")
    parser.add_argument("--folder", required=True, help="where found.jsonl is; for --table, or below it")
    parser.add_argument("--n", type=int, default=200, help="documents of a sample (default 200)")
    parser.add_argument("--runs", type=int, default=20, help="dealings (default 20)")
    parser.add_argument("--first", type=int, default=1, help="number of the first dealing (default 1)")
    parser.add_argument("--minutes", type=float, default=600.0, help="stop after so many")
    parser.add_argument("--controls", action="store_true", help="what is no fault alone, and without GPT-2")
    parser.add_argument("--name", default="wikitext", help="of the corpus (default wikitext)")
    parser.add_argument("--table", help="write the tables into this page")
    return parser


if __name__ == "__main__":
    main()
