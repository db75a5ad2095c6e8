"""Statistics of corpora, and what was left out of them, in long format."""

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.experiments.corpora.files import CorporaFiles, Corpus
from textcritic.files import lacking, read_json
from textcritic.measures.material import Material
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.sources import data_keys
from textcritic.values import Row

STATISTICS = ("section_types", "median_sections", "median_section_length", "max_section_length")
ALL = "all"
# When articles are left out, and the key of statistics.json that counts them by reason.
STAGES = {"when the text was read": "skipped", "when the corpus was built": "rejected"}


def statistics_rows(material: Material[CorporaFiles]) -> pd.DataFrame:
    """Statistics of the corpora (paper, Table 11).

    Columns: corpus; metric: `articles_train`, `articles_validation`, `articles_test`; `section_types`, distinct titles
    in train; `median_sections` of an article; `median_section_length` and `max_section_length` in the corpus' unit of
    length, of all splits together; value; published; difference, ours minus it. All are counts of the whole corpus, so
    they have no interval.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    experiment, published = material.files, material.published
    rows = []
    for corpus in experiment.data:
        for metric, value in _statistics(corpus).items():
            row = {"corpus": corpus.corpus, "metric": metric, "value": value}
            rows.append(row | published.beside(metric, data_keys(corpus.corpus), value))
    return pd.DataFrame(rows)


def left_out_rows(material: Material[CorporaFiles]) -> pd.DataFrame:
    """Articles left out of each corpus, by stage and reason, the commonest first.

    Columns: corpus, stage (when the text was read, or when the corpus was built), reason, articles.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    experiment = material.files
    rows: list[Row] = []
    for corpus in experiment.data:
        statistics = read_json(corpus.statistics)
        for stage, key in STAGES.items():
            reasons: Mapping[str, int] = statistics.get(key) or {}
            for reason, articles in sorted(reasons.items(), key=lambda pair: -pair[1]):
                rows.append({"corpus": corpus.corpus, "stage": stage, "reason": reason, "articles": articles})
    return pd.DataFrame(rows, columns=["corpus", "stage", "reason", "articles"])


def came(data: Iterable[Corpus]) -> dict[tuple[str, str], int]:
    """How many articles came to each stage, by corpus and stage: those kept, and those left out there or later.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    totals = {}
    for corpus in data:
        values, statistics = _statistics(corpus), read_json(corpus.statistics)
        total = int(sum(values[f"articles_{split}"] for split in SPLITS))
        for stage, key in reversed(STAGES.items()):
            total += sum((statistics.get(key) or {}).values())
            totals[corpus.corpus, stage] = total
    return totals


def changed_characters(data: Iterable[Corpus]) -> dict[str, Mapping[str, int] | None]:
    """By corpus what was changed in its characters, as `extract_corpus` counts it; None with `normalise: none`."""
    return {corpus.corpus: read_json(corpus.statistics).get("changed") for corpus in data}


def shared_rows(material: Material[CorporaFiles]) -> pd.DataFrame:
    """What the validation and the test split of each corpus share with its train split; words are in lower case.

    Columns: corpus; split; metric: `copies`, documents with the text of a training document; `more_than_half`,
    documents with more than half of their 13-grams in the training text; `ngrams_4` to `ngrams_16`, n-grams that occur
    in the training text; value, how many; all, of how many; share, percent, empty if `all` is 0. They are counts of
    whole splits, so they have no interval.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    rows = []
    for corpus in material.files.data:
        for split, metric, value, total in _shared(corpus):
            row = {"corpus": corpus.corpus, "split": split, "metric": metric, "value": value, "all": total}
            rows.append(row | {"share": 100 * value / total if total else None})
    return pd.DataFrame(rows).astype({"share": float})


def audit_rows(material: Material[CorporaFiles]) -> pd.DataFrame:
    """What each switch of the extraction from a Wikipedia dump does to the first articles of the dump.

    Columns: corpus; switch; here, the option of the corpus; other, the other option; articles that were read; words of
    them; reason, the kind of markup, or `all`; differing, articles that differ for this reason; words_here and
    words_other, words that only one of both options gives, where the reason is `all`. Counts, so without intervals.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    columns = ["corpus", "switch", "here", "other", "articles", "words", "reason", "differing"]
    counts = ["words_here", "words_other"]
    rows: list[Row] = []
    for corpus, audit in audits(material.files.data):
        for switch in audit["switches"]:
            same = {"corpus": corpus, **{key: switch[key] for key in ("switch", "here", "other")}}
            same |= {key: audit[key] for key in ("articles", "words")}
            both = {key: switch[key] for key in counts}
            rows.append(same | {"reason": ALL, "differing": switch["differing"], **both})
            rows += [same | {"reason": reason, "differing": n} for reason, n in switch["reasons"].items()]
    return pd.DataFrame(rows, columns=[*columns, *counts]).astype(dict.fromkeys(counts, float))


def audits(data: Iterable[Corpus]) -> Iterator[tuple[str, Row]]:
    """(corpus, what `audit_extraction` wrote) of the corpora that are made from a dump.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    for corpus in data:
        if corpus.audit is not None:
            audit = read_json(corpus.audit)
            if not {"articles", "words", "switches"} <= set(audit):
                raise TextcriticError(f"{corpus.audit}: no switches in it; delete it and rerun its rule")
            yield corpus.corpus, audit


def commonest_titles(corpus: Corpus, most: int) -> list[tuple[str, float]]:
    """The commonest section types of the train split, each with its share of the sections there."""
    titles: Mapping[str, int] = read_json(corpus.statistics).get("titles", {})
    total = max(sum(titles.values()), 1)
    return [(title, sections / total) for title, sections in sorted(titles.items(), key=lambda pair: -pair[1])[:most]]


def _shared(corpus: Corpus) -> Iterator[tuple[str, str, int, int]]:
    """(split, metric, how many, of how many), as overlap.json says."""
    with lacking(corpus.overlap):
        for split, counts in read_json(corpus.overlap).items():
            yield split, "copies", counts["copies"], counts["documents"]
            yield split, "more_than_half", counts["more_than_half"], counts["long_enough"]
            for n, total in counts["all"].items():
                yield split, f"ngrams_{n}", counts["seen"][n], total


def _statistics(corpus: Corpus) -> dict[str, float]:
    statistics = read_json(corpus.statistics)
    with lacking(corpus.statistics):
        values = {f"articles_{split}": statistics["splits"][split]["articles"] for split in SPLITS}
        return values | {name: statistics[name] for name in STATISTICS}
