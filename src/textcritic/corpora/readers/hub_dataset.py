"""Corpora from data sets of the Hugging Face hub that were downloaded: any format that `datasets` reads, row by row."""

import logging
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.extract import Extraction, write_extracted
from textcritic.corpora.readers.section_lists import is_strings, paired, text_of
from textcritic.corpora.readers.tables import BATCH, rows_of
from textcritic.corpora.readers.values import kind_of, name_or, text_or
from textcritic.errors import TextcriticError, first_line
from textcritic.plan.checks.datasets import HUB_DATASET
from textcritic.plan.entries.downloads import Dataset
from textcritic.plan.entries.extraction import Columns, CorpusOptions, FromSplits
from textcritic.runlog import log
from textcritic.values import Row

UNEVEN = "titles and sections differ in number"
REPEATED = "id seen before"


def extract_dataset(
    folder: str | os.PathLike[str],
    dataset: Dataset,
    options: CorpusOptions,
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
) -> None:
    """Write the articles of a data set of the hub, and a report; see `extract.extract_corpus`. Needs no network.

    Args:
        folder: the files of the data set, as its repository has them.
        dataset: its entry.
        options: `options` of the corpus: `from_splits` and `columns`.
        out_path: Parquet in `EXTRACTED_SCHEMA`.
        report_path: JSON; its `provenance` names repository and commit.

    Raises:
        TextcriticError: as `dataset_articles`, or no article was found.
    """
    skipped: Counter[str] = Counter()
    provenance = {"repository": dataset.repository, "revision": dataset.revision, "config": dataset.config}
    articles = dataset_articles(folder, dataset, options, skipped)
    write_extracted(Extraction(HUB_DATASET, articles, skipped, provenance, REPEATED), out_path, report_path)


def dataset_articles(
    folder: str | os.PathLike[str], dataset: Dataset, options: CorpusOptions, skipped: Counter[str]
) -> Iterator[tuple[Article, str | None]]:
    """Stream articles with the split they belong to, in the order of the data set's files; memory does not grow.

    What the columns may hold: `sections` a list of {title, text}, or of texts, or of lists of sentences, or one string,
    cut at `separator`; `titles` a list of strings or one string, cut likewise; each of `texts` a string, which becomes
    a section called like its column. With `titles` alone sections have titles and no text. An article whose titles and
    sections differ in number is left out and counted. Ids are those of the column `id`, or made from split and row.

    Args:
        folder: see `extract_dataset`.
        dataset: see `extract_dataset`.
        options: see `extract_dataset`.
        skipped: counts what is left out.

    Raises:
        TextcriticError: files that are missing or not whole; a configuration, a split or a column that the data set
            does not have, with those it has; a value of the wrong type, naming split and row.
    """
    wanted, columns = options.from_splits, options.columns
    if wanted is None or columns is None:
        raise TextcriticError("options: from_splits and columns should be given, both")
    splits = wanted.plain().items() if isinstance(wanted, FromSplits) else ((None, split) for split in wanted)
    for target, source in splits:
        number = 0
        for number, row in enumerate(_rows(Path(folder), dataset, source, _names(columns)), start=1):
            where = f"{folder}: split {source}, row {number}"
            article = _article(row, columns, where, f"{source}-{number}", dataset.repository)
            if article is None:
                skipped[UNEVEN] += 1
            else:
                yield article, target
        log.info("%s: split %s: %s rows", folder, source, f"{number:,}")


def _names(columns: Columns) -> list[str]:
    """The columns that are read, each once."""
    single = (columns.id, columns.title, columns.sections, columns.titles, columns.group)
    return list(dict.fromkeys([*(name for name in single if name is not None), *(columns.texts or [])]))


def _rows(folder: Path, dataset: Dataset, split: str, names: list[str]) -> Iterator[Row]:
    """The wanted columns of one split, row by row."""
    with tempfile.TemporaryDirectory() as cache:  # `datasets` asks for one; streaming puts nothing in it
        stream = _stream(folder, dataset, split, cache)
        tables = stream.with_format("arrow").iter(batch_size=BATCH)
        done = 0
        while True:
            try:
                table = next(tables, None)
                if table is None:
                    return
                if missing := [name for name in names if name not in table.column_names]:
                    has = ", ".join(table.column_names)
                    raise TextcriticError(f"{folder}: split {split}: no column `{missing[0]}`; its columns are {has}")
                rows = rows_of(table.select(names))
            except TextcriticError:
                raise
            except Exception as error:  # each format's reader raises its own
                raise TextcriticError(
                    f"{folder}: split {split}: cannot be read after row {done} ({first_line(error)}); delete the folder"
                    " and rerun to fetch it again"
                ) from error
            done += len(rows)
            yield from rows


def _stream(folder: Path, dataset: Dataset, split: str, cache: str) -> Any:
    """One split as a `datasets.IterableDataset`."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
    import datasets
    import pyarrow.dataset as ds

    datasets.disable_progress_bars()
    datasets.utils.logging.set_verbosity(logging.CRITICAL)  # what it would log is in the error line
    place = f"https://huggingface.co/datasets/{dataset.repository}/tree/{dataset.revision}"
    try:
        builder = datasets.load_dataset_builder(
            str(folder.absolute()), name=dataset.config, data_files=dataset.files, cache_dir=cache
        )
        if hasattr(builder.config, "fragment_scan_options"):  # of Parquet; else whole files would be buffered
            builder.config.fragment_scan_options = ds.ParquetFragmentScanOptions(pre_buffer=False)
        there = list(builder.config.data_files or {})
        if split in there:
            return builder.as_streaming_dataset(split=split)
    except Exception as error:  # what it raises for a missing file depends on the format
        raise TextcriticError(
            f"{folder}: cannot be read as a data set ({first_line(error)}); it should hold the files of {place}"
        ) from error
    raise TextcriticError(f"{folder}: no split `{split}`; it has {', '.join(map(str, there)) or 'none'}")


class _Cell(NamedTuple):
    """A value of a row, and what messages call it."""

    value: object
    name: str


def _article(row: Row, columns: Columns, where: str, default_id: str, source: str) -> Article | None:
    """The article in a row; None if its titles and sections differ in number."""
    identifier = name_or(row[columns.id], default_id, columns.id, where) if columns.id is not None else default_id
    group = name_or(row[columns.group], None, columns.group, where) if columns.group is not None else None
    title = text_or(row[columns.title], None, columns.title, where) if columns.title is not None else None
    sections = _sections(row, columns, where)
    if sections is None:
        return None
    return Article(identifier or default_id, title, sections, source, group)


def _sections(row: Row, columns: Columns, where: str) -> tuple[Section, ...] | None:
    if columns.texts is not None:
        return tuple(Section(name, text_of(_string(_Cell(row[name], name), where))) for name in columns.texts)
    titles: list[str] | None = None
    if columns.titles is not None:
        titles = _strings(_Cell(row[columns.titles], columns.titles), columns.separator, where)
    if columns.sections is None:
        return tuple(Section(title, "") for title in titles or [])
    cell = _Cell(row[columns.sections], columns.sections)
    if titles is None and _is_titled(cell.value):
        return tuple(
            Section(text_or(part.get("title"), None, "title", where), text_of(part["text"])) for part in cell.value
        )
    texts = _texts(cell, columns.separator, where)
    return paired(titles if titles is not None else [None] * len(texts), texts)


def _is_titled(value: object) -> TypeGuard[list[Row]]:
    return isinstance(value, list) and all(isinstance(p, dict) and isinstance(p.get("text"), str) for p in value)


def _texts(cell: _Cell, separator: str, where: str) -> Sequence[str | list[str]]:
    """Texts of sections, each a string or a list of sentences."""
    if isinstance(cell.value, list) and cell.value and all(map(is_strings, cell.value)):
        return cell.value
    return _strings(cell, separator, where, " or of lists of strings, or of {title, text}")


def _strings(cell: _Cell, separator: str, where: str, more: str = "") -> list[str]:
    if isinstance(cell.value, str):
        return cell.value.split(separator) if cell.value else []
    if not is_strings(cell.value):
        raise TextcriticError(
            f"{where}: `{cell.name}` is {_type_name(cell.value)}; it should be a string, or a list of strings{more}"
        )
    return cell.value


def _type_name(value: object) -> str:
    """What a value is that is not a list of strings."""
    odd = [item for item in value if not isinstance(item, str)] if isinstance(value, list) else []
    return f"a list with {kind_of(odd[0])} in it" if odd else kind_of(value)


def _string(cell: _Cell, where: str) -> str:
    if not isinstance(cell.value, str):
        raise TextcriticError(f"{where}: `{cell.name}` is {kind_of(cell.value)}; it should be a string")
    return cell.value
