"""Writes the numbers of the five demos into README.md and docs/demos.md, from the tables that the demos made.

    python tools/demo_numbers.py FOLDER    # FOLDER/results/studies has all five demos

A block of a page begins with `<!-- demo: NAME -->` and ends with `<!-- end -->`; `BLOCKS` has what stands in each. The
figure of the README is copied too. Sizes and shares of the corpora that stand in sentences are not: look at them.
"""

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from textcritic.critics.tendencies.verdicts import DIFFERS, KEPT, TENDENCIES
from textcritic.experiments.importance.sheets import VERDICTS
from textcritic.files import read_json
from textcritic.measures.numbers import count, decimals, interval, missing, number, percent

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/demos.md")
BLOCK = re.compile(r"(<!-- demo: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
FIGURE = "demo/coherence/figures/latent-ppl.svg", "docs/demo-latent-ppl.svg"
Row = Mapping[str, Any]


class Studies:
    """The tables of the demos below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "results/studies"

    def rows(self, experiment: str, table: str, **values: str) -> list[Row]:
        """The rows of a table, e.g. of `demo/coherence`, in which some columns have given values; "" for none."""
        found = pd.read_csv(self.folder / experiment / "tables" / f"{table}.csv")
        for column, value in values.items():
            found = found[found[column].isna() if value == "" else found[column] == value]
        return found.to_dict("records")

    def made(self) -> list[str]:
        """When the demos were made."""
        days = {read_json(path)["created"][:10] for path in self.folder.glob("*/manifest.json")}
        return [f"Made on {' and '.join(datetime.fromisoformat(day).strftime('%-d %B %Y') for day in sorted(days))}."]


def table(rows: Iterable[Row], columns: Mapping[str, str | Callable[[Row], str]]) -> list[str]:
    """A Markdown table: of each column its head, and a column of the rows or what is made of a row."""
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for row in rows:
        cells = (row[cell] if isinstance(cell, str) else cell(row) for cell in columns.values())
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def value(name: str, unit: str = "") -> Callable[[Row], str]:
    """A number of a column."""
    return lambda row: f"{number(row[name])}{unit}"


def share(name: str = "rejected_share") -> Callable[[Row], str]:
    """A share of a column as a percentage; "" where there is none."""
    return lambda row: "" if missing(row[name]) else percent(row[name])


def spread(low: str = "ci_low", high: str = "ci_high") -> Callable[[Row], str]:
    """An interval; "" where there is none."""
    return lambda row: "" if missing(row[low]) else interval(row[low], row[high])


def documents(row: Row) -> str:
    """How many there are."""
    return count(row["documents"])


def perplexity(row: Row) -> str:
    """Perplexity on body text, with its unit."""
    if missing(row["ppl_body"]):
        return ""
    return "∞" if row["ppl_body"] == float("inf") else f"{number(row['ppl_body'])} per {row['ppl_unit'].rstrip('s')}"


def readme(studies: Studies) -> list[str]:
    """The order of sections, the sources that the README shows."""
    names = {
        "real text": "real documentation",
        "small GPT-2, with titles": "small GPT-2, trained **with** section titles",
        "small GPT-2, without titles": "small GPT-2, trained **without** section titles",
        "trigram, with titles": "trigram",
        "interpolated trigram, with titles": "interpolated trigram",
    }
    columns = {
        "source": lambda row: names[row["label"]],
        "Latent PPL of the order of sections": value("latent_ppl"),
        "95% interval": spread(),
        "perplexity on body text": perplexity,
    }
    return table((row for row in studies.rows("demo/coherence", "coherence") if row["label"] in names), columns)


def coherence(studies: Studies) -> list[str]:
    """The order of sections, all sources."""
    columns = {"source": "label", "Latent PPL": value("latent_ppl"), "95% interval": spread(), "documents": documents}
    columns |= {"left out": share(), "perplexity on body text": perplexity}
    return table(studies.rows("demo/coherence", "coherence"), columns)


def process(studies: Studies) -> list[str]:
    """Sequences of a known process."""
    columns = {"source": "label", "perplexity per letter": value("ppl_body"), "Latent PPL": value("latent_ppl")}
    columns |= {"95% interval": spread(), "sequences it could not have made": share()}
    return table(studies.rows("demo/process", "process"), columns)


def topics(studies: Studies) -> list[str]:
    """Which topics go together."""
    columns = {
        "source": "label",
        "Latent NLL of a document minus real text's, nats": value("gap"),
        "95% interval, of documents and starts of the fit": spread("gap_low", "gap_high"),
        "distance of its topic covariances": value("distance_corrected"),
        "95% interval": spread("distance_low", "distance_high"),
    }
    return table(studies.rows("demo/topics", "topics", source="sample"), columns)


def tendencies(studies: Studies) -> list[str]:
    """The verdict on each tendency."""
    said: dict[str, dict[str, str]] = {}
    for row in studies.rows("demo/tendencies", "tendencies"):
        said.setdefault(row["label"], {"label": row["label"]})[row["tendency"]] = _verdict(row)
    return table(said.values(), {"source": "label"} | {one.title.lower(): one.name for one in TENDENCIES})


def _verdict(row: Row) -> str:
    if row["verdict"] == DIFFERS:
        return f"differs ({number(row['times'], 2)})"
    return "keeps" if row["verdict"] == KEPT else "?"


def recitation(studies: Studies) -> list[str]:
    """What stands word for word in the training text."""
    columns = {"source": "label", "of its runs of 13 words, in the training text": value("recited", "%")}
    return table(studies.rows("demo/recitation", "recitation"), columns | {"95% interval": spread()})


def coreference(studies: Studies) -> list[str]:
    """Who is mentioned after whom."""
    where = "coreference-demo/coreference"
    shares = {row["generator"]: row for row in studies.rows(where, "coreference-shares")}
    columns = {"source": "label", "documents": documents, "Latent PPL of mentions": value("latent_ppl")}
    columns |= {"95% interval": spread(), "unlikely mentions": lambda row: share("share")(shares[row["generator"]])}
    return table(studies.rows(where, "coreference"), columns)


def mixing(studies: Studies) -> list[str]:
    """Words of another language, of real messages and of artificial languages."""
    corpora = {"catalogues": "messages of programs", "languages": "three artificial languages"}
    columns = {
        "text": lambda row: corpora[row["corpus"]],
        "source": "label",
        "words of another language": value("mixed", "%"),
        "95% interval": spread("mixed_low", "mixed_high"),
        "sentences with less than 90% in one language": share("divided"),
    }
    return table(studies.rows("code-mixing-demo/mixing", "mixing"), columns)


def importance(studies: Studies) -> list[str]:
    """The lowest and the highest estimate of each latent language model."""
    rows = [row for row in studies.rows("latent-lms-demo/importance", "estimates") if row["verdict"] != "exact"]
    by_model: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["ppl"]):
        by_model.setdefault(row["generator"], []).append(row)
    highest = {generator: own[-1] for generator, own in by_model.items()}
    columns = {
        "model": lambda row: _parts(row)[0],
        "lowest estimate, and its proposal": lambda row: f"{number(row['ppl'])}, {_parts(row)[1]}",
        "highest": lambda row: f"{number(highest[row['generator']]['ppl'])}, {_parts(highest[row['generator']])[1]}",
        "the truth is at most (95%)": value("truth_at_most"),
        "ratio to the LSTM (95% over texts)": lambda row: (
            f"{number(row['ratio'])} ({spread('ratio_low', 'ratio_high')(row)})"
        ),
        "texts with k-hat ≥ 0.7": share("k_hat_poor"),
        "too few draws?": lambda row: VERDICTS[row["verdict"]],
    }
    return table((by_model[row["generator"]][0] for row in {r["generator"]: r for r in rows}.values()), columns)


def _parts(row: Row) -> tuple[str, str]:
    """The model of a label such as `sentences with trees: RNNG, τ = 1`, and what stands behind it."""
    model, _, proposal = row["label"].partition(": ")[2].partition(", ")
    return model, proposal


def truth(studies: Studies) -> list[str]:
    """Importance sampling and the particle filter where the truth is known."""
    rows = [row for row in studies.rows("latent-lms-demo/truth", "estimates") if not missing(row["too_high_percent"])]
    columns = {
        "proposal": "label",
        "perplexity by importance sampling": lambda row: decimals(row["ppl"], 4),
        "exact": lambda row: decimals(row["exact"], 4),
        "off by": lambda row: _off(row["ppl"], row["exact"]),
        "particle filter, off by": lambda row: _off(row["smc"], row["exact"]),
    }
    return table(rows, columns)


def _off(estimate: float, exact: float) -> str:
    return "" if missing(estimate) else f"{'+' if estimate > exact else ''}{number(100 * (estimate / exact - 1), 2)}%"


def intruders(studies: Studies) -> list[str]:
    """The detectors on three kinds of intruders."""
    kinds = {"random": "a random passage", "rank10": "the tenth in likeness", "rank1": "the most alike"}
    found: dict[str, dict[str, str]] = {}
    for row in studies.rows("document-coherence-demo/intruders", "detectors"):
        ends = spread("auc_low", "auc_high")(row)
        cells = f"{number(row['accuracy'])}%, {number(row['f1'])}, {number(row['auc'])}{f' ({ends})' * bool(ends)}"
        found.setdefault(row["label"], {"label": row["label"]})[row["corpus"]] = cells
    columns = {"detector": "label"} | {
        f"{name}: documents judged right, F1, AUC (95%)": partial(_of_corpus, f"bible-intruders-{kind}")
        for kind, name in kinds.items()
    }
    return table(found.values(), columns)


def _of_corpus(corpus: str, row: Row) -> str:
    return row.get(corpus, "")


def generated(studies: Studies) -> list[str]:
    """How much of what models wrote the best detector flags."""
    columns = {"passages of": "label", "flagged by the detector of next sentences": value("flagged_0", "%")}
    columns |= {"95% interval": spread("flagged_0_low", "flagged_0_high"), "documents": documents}
    return table(studies.rows("document-coherence-demo/intruders", "generated"), columns)


MADE = (
    *(readme, coherence, process, topics, tendencies, recitation),
    *(coreference, mixing, importance, truth, intruders, generated),
)
BLOCKS: dict[str, Callable[[Studies], list[str]]] = {"made": Studies.made} | {make.__name__: make for make in MADE}


def main(folder: Path) -> None:
    """Write all blocks of all pages, and the figure."""
    studies = Studies(folder)
    for page in (ROOT / name for name in PAGES):
        page.write_text(BLOCK.sub(partial(_filled, studies), page.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copy(studies.folder / FIGURE[0], ROOT / FIGURE[1])


def _filled(studies: Studies, block: re.Match[str]) -> str:
    start, name, end = block.groups()
    return "\n".join([start, *BLOCKS[name](studies), "", end])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
