"""Two sets of made-up articles of a process that is known, through the commands: time, memory and disk of each.

An article has 3 to 7 sections of 20 words on average. Their titles are a chain of a known transition matrix, whose
entropy is the truth for Latent PPL; words are of one of 20 topics or of all, by Zipf's law. One article of a hundred of
the second set copies a section of the first, which recitation has to find.

python benchmarks/million_articles.py 10000 FOLDER >> TABLE    # then 100000, 1000000: an hour
python benchmarks/million_articles.py picture TABLE docs/images/growth    # what the three tables say
"""

import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

TITLES, TOPICS, VOCABULARY = 24, 20, 200_000
WORDS, CHUNK = 20, 20_000
COPIES = 0.01
TOPICAL = 0.3  # of the words
FOR_TOPICS = 5_000
"""Articles of each set that topics are fitted on and compared by."""


def transitions(seed: int = 7) -> np.ndarray:
    """Probabilities of the next title, [titles + 1, titles + 1]: the last row is the begin, the last column the end."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(TITLES + 1, 0.15), TITLES + 1)
    table[:, -1] = 0.2
    table[-1, -1] = 0
    table[:, :-1] *= (1 - table[:, -1:]) / table[:, :-1].sum(axis=1, keepdims=True)
    return table


def chains(table: np.ndarray, articles: int, rng: np.random.Generator) -> list[list[int]]:
    """Chains of titles, one an article, of at most 12."""
    ends = table.cumsum(axis=1)
    state, found = np.full(articles, TITLES), []
    for _ in range(12):
        state = np.minimum((rng.random(articles)[:, None] > ends[state]).sum(axis=1), TITLES)
        found.append(state)
    rows = np.stack(found, axis=1)
    lengths = np.where((rows == TITLES).any(axis=1), (rows == TITLES).argmax(axis=1), 12)
    return [row[:length] for row, length in zip(rows.tolist(), lengths.tolist(), strict=True)]


def make(path: Path, articles: int, seed: int, copied: list[str]) -> list[str]:
    """Write articles, their texts and their chains beside them; returns some sections, for others to copy."""
    rng, words = np.random.default_rng(seed), np.array([f"w{number:x}" for number in range(VOCABULARY)])
    table, kept = transitions(), []
    with (
        path.open("w") as whole,
        path.with_suffix(".texts.jsonl").open("w") as texts,
        path.with_suffix(".chains.jsonl").open("w") as titles,
    ):
        for start in range(0, articles, CHUNK):
            drawn = chains(table, min(CHUNK, articles - start), rng)
            sizes = [rng.poisson(WORDS, len(chain)) + 3 for chain in drawn]
            tokens = int(sum(size.sum() for size in sizes))
            numbers = np.minimum(rng.zipf(1.3, tokens), VOCABULARY // 2) - 1
            topical = rng.random(tokens) < TOPICAL
            topic = np.repeat(rng.integers(0, TOPICS, len(drawn)), [size.sum() for size in sizes])
            spot = VOCABULARY // 2 + topic * 1000 + np.minimum(rng.zipf(1.5, tokens), 1000) - 1
            text, at = words[np.where(topical, spot, numbers)].tolist(), 0
            for number, (chain, size) in enumerate(zip(drawn, sizes, strict=True)):
                sections = []
                for title, length in zip(chain, size.tolist(), strict=True):
                    sections.append({"title": f"title {title}", "text": " ".join(text[at : at + length]) + "."})
                    at += length
                if copied and rng.random() < COPIES:
                    sections[0]["text"] = copied[int(rng.integers(len(copied)))]
                if len(kept) < 1000:
                    kept.append(sections[0]["text"])
                name = f"{seed}-{start + number}"
                whole.write(json.dumps({"id": name, "title": name, "sections": sections}) + "\n")
                texts.write(json.dumps({"text": "\n".join(one["text"] for one in sections)}) + "\n")
                titles.write(json.dumps({"chain": [one["title"] for one in sections]}) + "\n")
    return kept


def run(name: str, command: list[str]) -> None:
    """Run a command; prints its row."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    timed = ["/usr/bin/time", "-f", "%M", *command]
    done = subprocess.run(timed, capture_output=True, text=True, check=False)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = int(done.stderr.strip().splitlines()[-1]) / 1024
    print(f"| {name} | {wall:,.0f} s | {cpu:,.0f} s | {peak:,.0f} MB | {done.returncode} |", flush=True)
    Path(f"{name.replace(' ', '-')}.out").write_text(done.stdout + done.stderr)


def head(path: Path, lines: int) -> Path:
    """The first lines of a file, beside it."""
    short = path.with_suffix(f".{lines}.jsonl")
    with path.open() as source, short.open("w") as target:
        target.writelines(line for line, _ in zip(source, range(lines), strict=False))
    return short


def picture(table: Path, target: str) -> None:
    """CPU time and memory by number of articles, both on logarithmic scales."""
    from matplotlib.ticker import NullFormatter

    from textcritic.report.palette import BLUE, FAINT, GREEN, MUTED, ORANGE
    from textcritic.report.style import new_figure, save, style

    rows = re.findall(r"\| (\w+) (\d+) \| [\d,]+ s \| ([\d,]+) s \| ([\d,]+) MB \| 0 \|", table.read_text())
    colours = {"chains": BLUE, "tendencies": ORANGE, "recitation": GREEN}
    with style():
        figure = new_figure(7.6, 3.1)
        panels = ((2, "CPU seconds", (10, 100, 1000)), (3, "peak memory, MB", (200, 500, 1000, 2000, 5000)))
        for place, (column, title, ticks) in enumerate(panels):
            axes = figure.add_axes((0.09 + 0.5 * place, 0.2, 0.36, 0.66))
            for name, colour in colours.items():
                points = [(int(row[1]), float(row[column].replace(",", ""))) for row in rows if row[0] == name]
                axes.plot(*zip(*points, strict=True), "o-", color=colour, label=name, linewidth=1.4, markersize=4)
            axes.set(xscale="log", yscale="log", title=title, xlabel="articles of each set")
            axes.set_xticks([10_000, 100_000, 1_000_000], ["10,000", "100,000", "1,000,000"])
            axes.set_yticks(ticks, [f"{value:,}" for value in ticks])
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.grid(color=FAINT, linewidth=0.8)
            axes.tick_params(which="minor", length=0)
            if not place:
                first = next((int(row[1]), float(row[2])) for row in rows if row[0] == "recitation")
                axes.plot(*zip(first, (first[0] * 100, first[1] * 100), strict=True), ":", color=MUTED, label="linear")
                axes.legend(fontsize=9)
        save(figure, target, formats=("svg",))


def main() -> None:
    """Make the articles, and run everything on them."""
    if sys.argv[1] == "picture":
        return picture(Path(sys.argv[2]), sys.argv[3])
    articles, folder = int(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    real, model, unseen = (folder / f"{name}.jsonl" for name in ("real", "model", "unseen"))
    if not model.exists():
        make(unseen, articles // 10, 3, [])
        make(model, articles, 2, make(real, articles, 1, []))
    disk = sum(file.stat().st_size for file in (real, model)) / 1e6
    print(f"{articles:,} and {articles:,} articles, {disk:,.0f} MB\n")
    print("| what | on the clock | CPU | peak memory | exit |\n|---|---|---|---|---|")
    both = [[str(file.with_suffix(kind)) for file in (real, model)] for kind in (".chains.jsonl", ".texts.jsonl")]
    chained, texts = both
    run(f"chains {articles}", ["textcritic", "chains", *chained])
    run(f"tendencies {articles}", ["textcritic", "tendencies", *texts])
    others = [str(unseen.with_suffix(".texts.jsonl")), texts[1], "--train", texts[0]]
    run(f"recitation {articles}", ["textcritic", "recitation", *others])
    some = [str(head(Path(file), min(FOR_TOPICS, articles))) for file in texts]
    run(f"topics {articles}", ["textcritic", "topics", *some, "--num-topics", "20"])


if __name__ == "__main__":
    main()
