"""Numbers that the papers print and that this machine can compute again in seconds: no training, no large download.

What is computed: the process of the model criticism paper (section 3), which its recipe and seed determine; every
number about people of the document coherence paper, of the votes that it published (0.6 MB); and what Table 4 of the
model criticism paper says of its own columns.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textcritic.corpora.synthetic.process import Process
from textcritic.critics.detectors.counts import parts_of
from textcritic.critics.detectors.votes import Votes, answers_of, counts_of_votes, read_votes, right_shares
from textcritic.download import download_file
from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.rows import KEYS as INTRUDER_KEYS
from textcritic.experiments.people.tables import KEYS as PEOPLE_KEYS
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.inference.association import pairs_ordered_alike
from textcritic.measures.published import KEYS, Published, read_published
from textcritic.place import workflow_folder
from textcritic.plan.entries.extraction import ProcessOptions
from textcritic.plan.project import Project, load_configuration
from textcritic.values import JsonObject

DOWNLOADS = Path("results/raw/downloads")
VOTES = "insted-votes"
# The probes of Table 7, with the download of the votes on the edited documents.
PROBES = (
    *("gender", "animacy-down", "animacy-up", "past-to-future"),
    *("conjunction", "demonstrative", "negation", "number"),
)
CORPUS = "wikipedia-intruders"
TEST_SEQUENCES = 6400  # of the process, as in the paper
ELSEWHERE = (
    "everything that is learnt: it needs the paper's training, `snakemake` with a study (docs/reproduce.md)",
    "Table 18 of model-criticism, orders that people call incoherent: a critic of PubMed gives their probabilities",
    "Table 3 of document-coherence, people on CNN: the votes on these documents were not published",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A number of a paper, and ours.

    Attributes:
        place: paper and table or section.
        what: the number, in words.
        ours: the number that is computed here.
        published: the number that the paper prints; None: it prints none.
        digits: how many digits the paper prints after the point.
        n: documents, sequences or pairs from which ours is computed; None: it is exact.
        note: a remark.
    """

    place: str
    what: str
    ours: float
    published: float | None
    digits: int
    n: int | None = None
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Ours, rounded as printed, minus the published number."""
        if self.published is None:
            return None
        return round(round(self.ours, self.digits) - self.published, self.digits)


@dataclass(frozen=True)
class Reproduction:
    """What was computed.

    Attributes:
        lines: the numbers.
        missing: files that were not there, a line each with what to do.
        seconds: how long it took.
    """

    lines: Sequence[Line]
    missing: Sequence[str]
    seconds: float

    @property
    def differing(self) -> list[Line]:
        """The lines that differ from the paper, the largest relative difference first."""
        off = [line for line in self.lines if line.difference]
        return sorted(off, key=lambda line: -abs((line.difference or 0) / (line.published or 1)))

    def as_json(self) -> JsonObject:
        """All of it; `difference` is of numbers as printed."""
        keys = ("place", "what", "ours", "published", "difference", "n", "note")
        return {
            "lines": [{key: getattr(line, key) for key in keys} for line in self.lines],
            "compared": sum(line.published is not None for line in self.lines),
            "differing": len(self.differing),
            "missing": list(self.missing),
            "not_computed": list(ELSEWHERE),
            "seconds": round(self.seconds, 1),
        }

    def text(self) -> str:
        """A table, what differs, what is missing."""
        rows = [("", "paper", "ours", "n")]
        place = ""
        for line in self.lines:
            if line.place != place:
                place = line.place
                rows.append((place, "", "", ""))
            printed = "not printed" if line.published is None else f"{line.published:,.{line.digits}f}"
            exact = "exact" if line.n is None else f"{line.n:,}"
            rows.append((f"  {line.what}", printed, f"{line.ours:,.{line.digits}f}", exact))
        width = max(len(row[0]) for row in rows)
        text = [f"{name:{width}} {printed:>12} {ours:>10} {n:>7}".rstrip() for name, printed, ours, n in rows]
        return "\n".join([*text, "", *self._conclusion()])

    def _conclusion(self) -> Iterator[str]:
        compared = sum(line.published is not None for line in self.lines)
        off = self.differing
        yield f"{compared - len(off)} of {compared} numbers are as printed; {self.seconds:.0f} s."
        for line in off:
            yield f"not as printed: {line.place}, {line.what}: {line.difference:+g}{line.note and f' ({line.note})'}"
        yield from (f"missing: {one}" for one in self.missing)
        yield from (f"not computed: {one}" for one in ELSEWHERE)


def reproduce(folder: str | Path = ".", offline: bool = False) -> Reproduction:
    """Compute again what the papers print, where neither training nor a large download is needed.

    Args:
        folder: the working directory; published votes are in `results/raw/downloads` there, and downloaded to it.
        offline: whether nothing is downloaded: what is not there is left out and named.

    Raises:
        TextcriticError: a file cannot be downloaded, or is damaged.
    """
    began = time.monotonic()
    project = Project({**load_configuration(None), "studies": []}, workflow_folder())
    missing: list[str] = []
    lines = [*process_lines(_published("model-criticism/process.csv", KEYS))]
    lines += table4_lines(_published("model-criticism/people.csv", PEOPLE_KEYS))
    votes = {name: _votes(Path(folder), name, offline, project, missing) for name in (VOTES, *map(_download, PROBES))}
    lines += votes_lines(_published("document-coherence/intruders.csv", INTRUDER_KEYS), votes)
    return Reproduction(lines, missing, time.monotonic() - began)


def process_lines(published: Published) -> Iterator[Line]:
    """Perplexity and Latent PPL of the process of section 3, exactly; in the note those of a test sample."""
    process = Process.draw(ProcessOptions())
    states, emitted = process.sample(TEST_SEQUENCES, seed=1)
    state_nll, emission_nll = (nats.sum(axis=1) for nats in process.nll(states, emitted))
    place = "model-criticism, Table 1, the process itself"
    for metric, what, exact, nats, units in (
        (
            "word_ppl",
            "perplexity a token",
            process.word_ppl(),
            state_nll + emission_nll,
            process.lengths[emitted].sum(1),
        ),
        ("latent_ppl", "Latent PPL", process.latent_ppl(), state_nll, np.full(TEST_SEQUENCES, process.steps)),
    ):
        printed = published.value(metric, {"corpus": "process", "generator": "data"})
        sample = bootstrap_interval(np.stack([nats, units], axis=1), exp_ratio_of_sums)
        note = f"the paper's is of a test sample; in one of {TEST_SEQUENCES:,} the 95% interval is"
        yield Line(place, what, exact, printed, 2, None, f"{note} {sample.low:.2f} to {sample.high:.2f}")


def table4_lines(published: Published) -> Iterator[Line]:
    """How many pairs of the four models each metric orders as people do, by the columns that are printed."""
    cells = [cell[:-1] for cell in published.values if cell[-1] == "human" and cell[2] != "data"]
    places = [dict(zip(published.keys, cell, strict=True)) for cell in cells]
    people = [published.value("human", place) for place in places]
    for metric, label, sign in (("ppl", "perplexity", -1), ("mauve", "MAUVE", 1), ("latent_ppl", "Latent PPL", -1)):
        values = np.array([published.value(metric, place) for place in places], float)
        alike, pairs = pairs_ordered_alike(sign * values, np.array(people, float))
        what = f"pairs of models that {label} orders as people do"
        yield Line("model-criticism, Table 4, by its columns", what, float(alike), None, 0, int(pairs))


def votes_lines(published: Published, votes: dict[str, list[Votes] | None]) -> Iterator[Line]:
    """Every number about people of the document coherence paper that its published votes give."""
    every = votes[VOTES]
    if every is None:
        return

    def printed(metric: str, detector: str = "people", probe: str = "") -> float | None:
        return published.value(metric, {"corpus": CORPUS, "detector": detector, "probe": probe})

    paper, agreed = "document-coherence", answers_of(every, "same")
    yield Line(
        f"{paper}, section 4.5",
        "documents where 3 of 5 agree, %",
        100 * len(agreed) / len(every),
        printed("agree"),
        1,
        len(every),
    )
    silent = 100 * float(np.mean([one.gold is None for one in every]))
    yield Line(
        f"{paper}, section 4.4", "majority class, accuracy", silent, printed("accuracy_all", "majority"), 1, len(every)
    )
    for table, rule, probe in ((3, "same", ""), (6, "all", "all-agree")):
        chosen = answers_of(every, rule)
        majority = 100 * float(np.mean([one.gold is None for one, _ in chosen]))
        place, n = f"{paper}, Table {table}, Wikipedia", len(chosen)
        yield Line(place, "majority class, accuracy", majority, printed("accuracy", "majority", probe), 1, n)
        for metric, label in (("accuracy", "people, accuracy"), ("f1", "people, F1")):
            yield Line(place, label, _share(every, rule, metric), printed(metric, "people", probe), 1, n)
    yield from _figure2(every, printed)
    yield from _table5(every, printed)
    for probe in PROBES:
        edited = votes[_download(probe)]
        if edited is not None:
            yield from _probe(every, edited, probe, printed)


def _figure2(votes: Sequence[Votes], printed: Callable[..., float | None]) -> Iterator[Line]:
    for share, name, label in zip(
        right_shares(votes), ("share", "incoherent"), ("all", "with an intruder"), strict=True
    ):
        what = f"2 of 5 people are right, {label}, %"
        yield Line(
            "document-coherence, section 4.5 (Figure 2)",
            what,
            float(share[2]),
            printed(f"right_2_{name}"),
            1,
            len(votes),
        )


def _table5(votes: Sequence[Votes], printed: Callable[..., float | None]) -> Iterator[Line]:
    counts = Counter((one.gold is None, answer == one.gold) for one, answer in answers_of(votes, "all"))
    for coherent, right, metric, label in (
        (True, True, "coherent_right", "coherent, all five are right"),
        (True, False, "coherent_called_incoherent", "coherent, all five are wrong"),
        (False, True, "incoherent_right", "with an intruder, all five are right"),
        (False, False, "incoherent_wrong", "with an intruder, all five are wrong"),
    ):
        yield Line(
            "document-coherence, Table 5", label, counts[coherent, right], printed(metric), 0, sum(counts.values())
        )


def _probe(
    votes: Iterable[Votes], edited: Sequence[Votes], probe: str, printed: Callable[..., float | None]
) -> Iterator[Line]:
    """F1 of people on the documents before an edit, and how much more after it; every answer by itself."""
    ids = {one.id for one in edited}
    before = _share([one for one in votes if one.id in ids], "each", "f1")
    place = "document-coherence, Table 7, people"
    yield Line(place, f"{probe}, F1 before the edit", before, printed("f1", "people", probe), 1, len(ids))
    more = _share(edited, "each", "f1") - before
    yield Line(place, f"{probe}, F1 after it minus before", more, printed("difference", "people", probe), 1, len(ids))


def _share(votes: Iterable[Votes], rule: str, metric: str) -> float:
    part, whole = parts_of(counts_of_votes(votes, rule), metric).sum(axis=0)
    return 100 * float(part / whole) if whole else math.nan


def _download(probe: str) -> str:
    return f"{VOTES}-{probe}"


def _published(name: str, keys: Sequence[str]) -> Published:
    return read_published(workflow_folder() / "config/published" / name, keys)


def _votes(folder: Path, name: str, offline: bool, project: Project, missing: list[str]) -> list[Votes] | None:
    """The votes, downloaded if necessary. If they are missing and `offline`: None, and a line in `missing`."""
    path = folder / DOWNLOADS / name
    entry = project.registries.entry("downloads", name)
    if not path.is_file():
        if offline:
            missing.append(f"{path}: put {entry.url} there, or leave --offline away, which downloads it")
            return None
        download_file(entry, path)
    try:
        return read_votes(path, exactly=name == VOTES)
    except TextcriticError as error:
        raise TextcriticError(f"{error}; delete {path}, and run the command again") from error
