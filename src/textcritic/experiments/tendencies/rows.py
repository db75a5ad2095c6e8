"""Statistical tendencies in long format: estimates on each source, and how far a sample is from real text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import islice
from pathlib import Path

import pandas as pd

from textcritic.corpora.articles import iter_articles
from textcritic.critics.tendencies.verdicts import DIFFERS, TENDENCIES, Verdict, verdicts
from textcritic.errors import TextcriticError
from textcritic.experiments.tendencies.files import Documents, RealText, TendenciesFiles
from textcritic.experiments.tendencies.statistics import DIFFERENCES, DISTANCES, ESTIMATES, Statistic
from textcritic.files import read_json, read_table
from textcritic.measures.material import Material
from textcritic.measures.measure import Measure
from textcritic.measures.scored import perplexity_of, rejected_of
from textcritic.plan.sources import KEYS, RUN, SAMPLE
from textcritic.values import Row

AUDIT = {
    "s": {
        "s": "all ranks to infinity",
        "s_infinite_of_first": "the same, fitted to the first ranks",
        "s_observed": "the ranks that occur",
        "s_first": "the first ranks",
    },
    "zipf_own": {
        "zipf_own": "first ranks, renormalised",
        "zipf_own_untruncated": "not truncated",
        "zipf_own_truncated": "both truncated",
    },
    "unigram": {
        "unigram_max": "largest difference",
        "unigram_half_l1": "half of all",
        "unigram_chi_square": "chi-square",
    },
}
"""Disputed details: for each, the statistics that settle it in one way or another, with their names."""
MEASURES: Mapping[str, Measure] = {
    tendency.name: Measure(
        name=tendency.title,
        key=tendency.name,
        means=f"distance from real text: {tendency.unit}",
        value="value",
        low="low",
        high="high",
        section="kept",
        of_real=0.0,
        margin=tendency.margin,
    )
    for tendency in TENDENCIES
}
"""The distance of each tendency."""
SIZES = "size."
SHOWN, LONGEST = 2, 1200  # documents of a source, and characters of each
AT_SIZE = ("at_tokens", "at_size", "real_at_size", "apart", "apart_low", "apart_high")
"""An estimate of a sample and of real text at one size, and their difference; see `value_rows`."""
REJECTED = ("rejected", "rejected_share", "rejected_by_reason", "unfinished")
"""Texts that were drawn and not kept, and texts kept although unfinished; see `measures.scored.rejected_of`."""


def tendency_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """Whether each sample keeps to each tendency: one row for each sample and tendency.

    Columns: the keys; `label`; `tendency`, a name of `verdicts.TENDENCIES`; `distance`, which distance decides;
    `value`, and `low`, `high`, the 95% interval of the distance of the two sources; `p_value` of a permutation test;
    `p_adjusted`, Holm's over the tendencies of the sample; `by_chance`, the mean distance when documents are exchanged
    at random; `times`, value divided by `by_chance`; `margin`, below which a distance counts as kept; `noticed`, the
    distance that as many documents would notice in 80% of cases; `floor`, the mean of the same distance over second
    draws of real text, and `floor_most`, the largest of them; `verdict`: "differs" if p is below 0.05, else "keeps" if
    `high` is below `margin`, else "unclear", and "not measured" if there is no value, for the reason in `why`; `way`,
    the word for the direction, or ""; `not_kept`, how many tendencies the sample differs in; `p_all`, one p-value for
    all of its tests, the smallest `p_adjusted`; `documents`; `rejected`, `rejected_share`, `rejected_by_reason`
    ("reason: n; ..."): texts that were drawn but are not documents; `unfinished`, documents that had not ended.
    """
    rows = []
    for sample, measured in _each(material, real=False):
        results = verdicts(measured)
        tested = [one.p_adjusted for one in results if one.p_adjusted is not None]
        every = {"not_kept": sum(one.verdict == DIFFERS for one in results), "documents": measured["documents"]}
        every["p_all"] = min(tested, default=None)
        rows += [sample | asdict(one) | every | {name: measured[name] for name in REJECTED} for one in results]
    columns = [field.name for field in fields(Verdict)]
    return _table(rows, ("label", *columns, "not_kept", "p_all", "documents", *REJECTED))


def value_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """The estimates on each source: one row for each estimate.

    Columns: the keys; `label`; `statistic`, a name of `statistics.ESTIMATES`; `value`, `low`, `high`; for real text
    `sd`, the standard deviation over `draws` random draws from the training set (paper, Table 4); `published`,
    `difference`, `published_sd`; for samples and estimates that depend on the size, `at_tokens`, the size at which they
    and real text are compared, `at_size` and `real_at_size`, the values of both there, and `apart`, `apart_low`,
    `apart_high`, their difference; `documents`, `tokens`, `empty`; the rejected texts, as in `tendency_rows`.
    """
    published, rows = material.published, []
    for source, measured in _each(material):
        for statistic in ESTIMATES:
            estimate = measured["estimates"].get(statistic.name, {})
            row = {name: estimate.get(name) for name in ("value", "low", "high", "sd")}
            row |= published.beside(statistic.name, source, row["value"])
            row |= _at_one_size(measured, statistic.name)
            row["published_sd"] = published.value(f"{statistic.name}_sd", source) if _is_real(source) else None
            row |= {name: measured[name] for name in ("documents", "tokens", "empty", *REJECTED)}
            row["draws"] = measured["draws"]["number"] if _is_real(source) else None
            rows.append(source | {"statistic": statistic.name} | row)
    columns = ("label", "statistic", "value", "low", "high", "sd", "draws", "published", "difference", "published_sd")
    return _table(rows, (*columns, *AT_SIZE, "documents", "tokens", "empty", *REJECTED))


def distance_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """How far each source is from laws and, if it is a sample, from real text: one row for each distance.

    Columns: the keys; `label`; `statistic`, a name of `statistics.DISTANCES`; `value`, `low`, `high`, `p_value`;
    `floor`, `floor_most`, `by_chance` and `noticed` as in `tendency_rows`, if there is a test; `published`,
    `difference`, `published_note`; `documents`.
    """
    names_of = ("value", "low", "high", "p_value", "floor", "floor_most", "by_chance", "noticed")
    return _compared(material, DISTANCES, names_of)


def mean_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """Differences of means between samples and real text (paper, Table 6): one row for each.

    Columns: the keys; `label`; `statistic`, a name of `statistics.DIFFERENCES`; `value`, sample minus real text, `low`,
    `high`; `p_value`, two-sided; `p_as_printed`, of the paper's Algorithm 1 as printed, which is one-sided;
    `published`, `difference`, `published_note`; `documents`.
    """
    return _compared(material, DIFFERENCES, ("value", "low", "high", "p_value", "p_as_printed"), real=False)


def _compared(
    material: Material[TendenciesFiles], statistics: Sequence[Statistic], columns: Sequence[str], real: bool = True
) -> pd.DataFrame:
    """These columns of distances of each source, samples only unless `real`, and the published values."""
    published, rows = material.published, []
    for source, measured in _each(material, real):
        for statistic in statistics:
            distance = measured["distances"].get(statistic.name, {})
            row = {name: distance.get(name) for name in columns}
            row |= published.beside(statistic.name, source, row["value"])
            note = published.note(statistic.name, source)
            more = {"statistic": statistic.name, "published_note": note, "documents": measured["documents"]}
            rows.append(source | row | more)
    return _table(rows, ("label", "statistic", *columns, "published", "difference", "published_note", "documents"))


def audit_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """How each disputed detail changes the number.

    Columns: the keys, `label`, `switch`, `option`, `statistic`, `value`; and `at_tokens`, `at_size`, `real_at_size`,
    `apart`, `apart_low`, `apart_high` as in `value_rows`.
    """
    rows = []
    for source, measured in _each(material):
        values = {
            name: estimate.get("value") for name, estimate in (measured["estimates"] | measured["distances"]).items()
        }
        for switch, options in AUDIT.items():
            for name, option in options.items():
                row = {"switch": switch, "option": option, "statistic": name, "value": values.get(name)}
                rows.append(source | row | _at_one_size(measured, name))
    return _table(rows, ("label", "switch", "option", "statistic", "value", *AT_SIZE))


def size_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """Estimates and distances against the number of documents that they are computed from.

    Columns: the keys, `label`, `statistic`, `documents`, `value`, and for distances of words `corrected`: the value
    minus what two sets of these sizes have by chance.
    """
    files, names = material.files, material.names
    rows = []
    for source, curves in curves_of(files):
        sizes = curves[curves["curve"].str.startswith(SIZES)]
        for point in sizes.to_dict("records"):
            row = {"statistic": point["curve"].removeprefix(SIZES), "documents": point["x"], "value": point["y"]}
            rows.append({**source, "label": names.source(source), **row, "corrected": point["low"]})
    return _table(rows, ("label", "statistic", "documents", "value", "corrected"))


def model_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """The generators (paper, Table 1): columns the keys, `label`, `statistic`, `value`, `published`, `difference`."""
    files, published = material.files, material.published
    rows = []
    for model in files.models:
        keys = (model.corpus, SAMPLE, model.setting, model.generator, "", model.seed, None)
        source = dict(zip(KEYS, keys, strict=True))
        perplexity: Row = perplexity_of(model.perplexity)
        values = {"parameters": read_json(model.training).get("parameters"), "perplexity": perplexity["ppl_all"]}
        for name, value in values.items():
            row = {"statistic": name, "value": value}
            rows.append(source | {"label": model.label} | row | published.beside(name, source, value))
    return _table(rows, ("label", "statistic", "value", "published", "difference"))


def sample_rows(material: Material[TendenciesFiles]) -> pd.DataFrame:
    """The first `SHOWN` documents of each source, to read (paper, Table 7): one row for each.

    Columns: the keys, `label`, `statistic`, "sample_1" and so on; `value`, its tokens, cut at white space; `text`, cut
    after `LONGEST` characters; `published`, the tokens of the paper's text, and `published_note`, that text.
    """
    files, names, published = material.files, material.names, material.published
    rows = []
    every: tuple[Documents, ...] = (*files.data, *files.samples)
    for documents in every:
        source = documents.keys
        for number, text in enumerate(_first_texts(documents.articles), start=1):
            name = f"sample_{number}"
            row = {"label": names.source(source), "statistic": name, "value": len(text.split())}
            row |= {"text": text if len(text) <= LONGEST else f"{text[:LONGEST]} …"}
            printed = {"published": published.value(name, source), "published_note": published.note(name, source)}
            rows.append({**source, **row, **printed})
    return _table(rows, ("label", "statistic", "value", "text", "published", "published_note"))


def _first_texts(articles: Path | None) -> list[str]:
    if articles is None:
        return []
    return ["\n".join(one.text or "" for one in article.sections) for article in islice(iter_articles(articles), SHOWN)]


def curves_of(files: TendenciesFiles) -> Iterator[tuple[Row, pd.DataFrame]]:
    """The keys and the curves of each source: columns curve, x, y, low, high, p."""
    for real in files.data:
        for documents in files.of(real):
            table = read_table(documents.curves).to_pandas()
            if not {"curve", "x", "y", "low", "high", "p"} <= set(table.columns):
                raise TextcriticError(f"{documents.curves}: not curves of tendencies; delete it and rerun its rule")
            yield documents.keys, table


def statistics_of(path: Path) -> Row:
    """The statistics of a source, as `critics.tendencies.measure` writes them.

    Raises:
        TextcriticError: the file is missing, damaged or something else.
    """
    statistics: dict[str, object] = read_json(path)
    if lacking := {"documents", "tokens", "empty", "estimates", "distances", "missing", "draws"} - set(statistics):
        raise TextcriticError(f"{path}: no {sorted(lacking)[0]!r} in it; delete it and rerun the rule that makes it")
    return statistics


def _each(material: Material[TendenciesFiles], real: bool = True) -> Iterator[tuple[dict[str, object], Row]]:
    """For each source: the keys with its `label`, and the statistics with the texts that were rejected.

    Only of samples unless `real`; no real text is rejected.
    """
    for text in material.files.data:
        for documents in material.files.of(text)[0 if real else 1 :]:
            measured = statistics_of(documents.scores)
            if isinstance(documents, RealText):
                rejected: dict[str, object] = dict(zip(REJECTED, (0, 0.0, "", 0), strict=True))
            else:
                rejected = rejected_of(documents, measured["documents"])
            yield {**documents.keys, "label": material.names.source(documents.keys)}, {**measured, **rejected}


def _at_one_size(measured: Row, name: str) -> dict[str, object]:
    """An estimate of a sample and of real text with as many tokens; None for estimates that do not depend on size."""
    sized = measured.get("one_size", {})
    estimate = sized.get("estimates", {}).get(name)
    if estimate is None:
        return dict.fromkeys(AT_SIZE)
    numbers = (estimate[key] for key in ("value", "real", "difference", "low", "high"))
    return dict(zip(AT_SIZE, (sized["tokens"], *numbers), strict=True))


def _is_real(source: Row) -> bool:
    return bool(source["generator"] == "data")


def _table(rows: Sequence[Row], columns: tuple[str, ...]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=[*KEYS, *columns])
    return table.astype(dict.fromkeys(RUN, "Int64"))
