"""Single sequences for the report (paper, Figure 3): sub-sequences, their states, and what each step costs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora import Article, iter_articles
from textcritic.corpora.synthetic.process import DELIMITER, Process
from textcritic.errors import TextcriticError
from textcritic.experiments.process.files import TEST, KnownData, ProcessFiles, Sequences
from textcritic.experiments.process.names import ProcessNames
from textcritic.files import read_table
from textcritic.measures.numbers import count, number, percent, plural
from textcritic.measures.scored import read_scores
from textcritic.plan.sources import data_keys
from textcritic.values import Row

NEAR_MEDIAN, REJECTED = 3, 2
MOST_CELLS = 60  # of a text that the process could not have made, which may be of any length
MOST_LETTERS = 12  # of a piece of it
UNKNOWN = "no state"
HUE = 137.508  # degrees from one state to the next, so that neighbours differ


@dataclass(frozen=True, slots=True)
class Step:
    """One sub-sequence and its step.

    Attributes:
        letters: without the delimiter.
        state: its name; None if no state writes these letters, or if no delimiter follows them.
        fault: what is wrong where there is no state.
        hue: the state's colour, degrees.
        nll: nats, as text; "" where there is no step.
        share: of its bar, percent; a state drawn uniformly fills half of it.
        unlikely: whether it is less likely than a state drawn uniformly.
    """

    letters: str
    state: str | None
    fault: str = ""
    hue: int = 0
    nll: str = ""
    share: str = "0"
    unlikely: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """One sequence: its key within the source, what it is an example of, its Latent PPL in words, its steps."""

    key: str
    label: str
    words: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Examples:
    """The sequences of one source to show, and the Latent PPL of all in words; `key` is unique in the study."""

    key: str
    label: str
    words: str
    shown: tuple[Shown, ...]

    @property
    def choices(self) -> list[dict[str, str]]:
        """Keys and labels of the sequences."""
        return [{"key": shown.key, "label": shown.label} for shown in self.shown]


def examples(experiment: ProcessFiles) -> list[Examples]:
    """Of every source: sequences near its median Latent NLL, the least likely one, the likeliest, and rejected ones.

    Raises:
        TextcriticError: a file is missing or damaged, or articles and scores do not belong together.
    """
    names = ProcessNames.of(experiment)
    by_source = []
    for data in experiment.data:
        process = Process.load(data.process)
        label = names.source(data_keys(data.corpus, TEST))
        by_source.append(_examples(f"{data.corpus}.data", label, data, process))
        for sample in experiment.samples_of(data):
            label = names.source(sample.keys)
            by_source.append(_examples(sample.slug, label, sample, process))
    return by_source


def _examples(key: str, label: str, data: KnownData | Sequences, process: Process) -> Examples:
    scores = read_scores(data.scores)
    kept = scores.filter(pc.invert(scores["rejected"]))
    rows = kept.select(["id", "nll", "steps"]).to_pylist()
    ranked = sorted(rows, key=lambda row: (-row["nll"] / row["steps"], row["id"]))
    places = _places(len(ranked))
    wanted = {ranked[place]["id"]: place for place in places}
    chosen = kept.filter(pc.is_in(kept["id"], pa.array(list(wanted), pa.string())))
    steps = {row["id"]: row for row in chosen.to_pylist()}
    articles = {a.id: a for a in iter_articles(data.articles) if a.id in wanted}
    blind = math.log(len(process.transition))
    shown = []
    for name, place in sorted(wanted.items(), key=lambda pair: list(places).index(pair[1])):
        if name not in articles:
            raise TextcriticError(
                f"{data.scores}: sequence {name!r} is not in {data.articles}; they belong to different samples: "
                "delete the scores and rerun the rule that makes them"
            )
        steps_shown = _steps(articles[name], steps[name], blind, data.articles)
        words = _words(steps[name]["step_nll"], steps_shown, place + 1, len(ranked))
        shown.append(Shown(f"n{place + 1}", places[place], words, steps_shown))
    if isinstance(data, Sequences):
        shown += _rejected(data.rejected, process)
    return Examples(key, label, _together(rows, kept, blind), tuple(shown))


def _places(total: int) -> dict[int, str]:
    """The ranks, from the least likely, of the sequences to show, and their labels; the first is shown first."""
    start = max(0, total // 2 - NEAR_MEDIAN // 2)
    near = range(start, min(start + NEAR_MEDIAN, total))
    places = {place: f"near the median, {number} of {len(near)}" for number, place in enumerate(near, start=1)}
    ends = {0: "the least likely", total - 1: "the likeliest"} if total else {}
    return places | {place: words for place, words in ends.items() if place not in places}


def _steps(article: Article, score: Row, blind: float, path: Path) -> tuple[Step, ...]:
    states: list[str] = score["chain"]
    if states != [section.title for section in article.sections]:
        raise TextcriticError(f"{path}: sequence {article.id!r} has other states than its scores; rerun both")
    return tuple(
        Step(
            letters=section.text,
            state=state,
            hue=_hue(state),
            nll=f"{nll:.1f}" if math.isfinite(nll) else number(nll),
            share=f"{_share(nll, blind):.0f}",
            unlikely=nll > blind,
        )
        for section, state, nll in zip(article.sections, states, score["step_nll"], strict=True)
    )


def _share(nll: float, blind: float) -> float:
    """Share of a bar, percent. If the process has one state, a uniform draw costs nothing; then it is 0 for cost 0."""
    if blind == 0:
        return 100.0 if nll > 0 else 0.0
    return min(100.0, 50 * nll / blind)


def _words(nll: list[float], steps: tuple[Step, ...], rank: int, total: int) -> str:
    """The sum of one sequence and its Latent PPL."""
    unlikely = sum(step.unlikely for step in steps)
    return (
        f"{_sum(sum(nll), len(nll))}, the Latent PPL of this sequence alone. {count(unlikely)} of {len(steps)} steps "
        f"{'is' if unlikely == 1 else 'are'} less likely than a state drawn uniformly. Number {count(rank)} of "
        f"{count(total)} from the least likely."
    )


def _together(rows: list[Row], kept: pa.Table, blind: float) -> str:
    """The sum of all sequences of a source and its Latent PPL."""
    if not rows:
        return "No sequence of this sample could be read, so it has no states and no Latent PPL."
    total, steps = sum(row["nll"] for row in rows), sum(row["steps"] for row in rows)
    unlikely = pc.mean(pc.cast(pc.greater(pc.list_flatten(kept["step_nll"]), blind), pa.float64())).as_py()
    return (
        f"All {plural(len(rows), 'sequence')} together: {_sum(total, steps)}, the Latent PPL in the table. "
        f"{percent(unlikely)} of the steps are less likely than a state drawn uniformly."
    )


def _sum(nll: float, steps: int) -> str:
    mean, ppl = nll / steps, number(math.exp(nll / steps))
    each = f"{mean:.2f}" if math.isfinite(mean) else number(mean)
    return f"{number(nll)} nats over {plural(steps, 'step')}, {each} a step; exp({each}) = {ppl}"


def _rejected(path: Path, process: Process) -> Iterator[Shown]:
    """The first text of each of the commonest reasons for which texts could not be read."""
    texts = read_table(path).select(["text", "why"]).to_pylist()
    reasons: dict[str, list[str]] = {}
    for row in texts:
        reasons.setdefault(row["why"], []).append(row["text"])
    commonest = sorted(reasons, key=lambda why: (-len(reasons[why]), why))[:REJECTED]
    for place, why in enumerate(commonest, start=1):
        *pieces, rest = reasons[why][0].split(DELIMITER)
        whole = [_piece(piece, process) for piece in pieces]
        whole += [Step(_clipped(rest), None, "no delimiter")] * bool(rest)
        unknown = sum(step.fault == UNKNOWN for step in whole)
        faults = f"no state writes {count(unknown)} of them" if unknown else "all of them are known"
        words = f"{plural(len(pieces), 'sub-sequence')}, where the process writes {process.steps}; {faults}."
        words = words if pieces else "There is no delimiter in it, and so no sub-sequence."
        more = len(whole) - MOST_CELLS
        words += f" The last {plural(more, 'is', 'are')} not shown." if more > 0 else ""
        yield Shown(f"rejected{place}", f"not read: {why}", words, tuple(whole[:MOST_CELLS]))


def _piece(letters: str, process: Process) -> Step:
    state = process.state_of.get(letters)
    if state is None:
        return Step(_clipped(letters), None, UNKNOWN)
    return Step(_clipped(letters), str(state), hue=_hue(str(state)))


def _clipped(letters: str) -> str:
    return letters if len(letters) <= MOST_LETTERS else f"{letters[:MOST_LETTERS]}…"


def _hue(state: str) -> int:
    return round(int(state) * HUE + 205) % 360
