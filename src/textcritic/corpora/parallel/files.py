"""Parallel corpora in files: aligned by line or by document, in a table, or pairs of languages that are joined."""

import gzip
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO, cast

import numpy as np

from textcritic.corpora.moses import ENGLISH, MosesOptions, moses
from textcritic.corpora.parallel.corpus import Sentence, Sentences
from textcritic.errors import TextcriticError
from textcritic.plan.checks.parallel import DOCUMENT, SOURCE
from textcritic.plan.entries.parallel import PairFiles, ParallelOptions

GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class _Row:
    """A sentence as it is in the files: sides by language, `SOURCE` for the English one, and its document."""

    sides: Mapping[str, str]
    document: str | None


def read_parallel(options: ParallelOptions, name: str) -> Sentences:
    """The sentences of a parallel corpus in files, tokenised.

    A sentence without English text is left out, and so is a translation that is empty, or that is longer than
    `most_tokens`; each is counted by its reason.

    Args:
        options: `options.parallel` of a corpus.
        name: of the corpus; the source of sentences that have no document.

    Raises:
        TextcriticError: while the stream is read: a missing file, sides that differ in length, text that is not UTF-8,
            a table with the wrong columns; the line names the file.
    """
    skipped: Counter[str] = Counter()
    if options.pairs is not None:
        rows = _joined(options.pairs, skipped)
    elif options.source is None:
        raise TextcriticError("options.parallel.source is missing; give source and targets, or pairs")
    elif options.format == "tsv":
        rows = _table(Path(options.source), options.columns)
    else:
        rows = _lines(Path(options.source), options, skipped)
    return Sentences(_tokenised(rows, options, name, skipped), skipped)


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file without their line breaks, gzipped or not; a mark at the beginning is left out.

    Only a line feed ends a line, as Moses counts lines.

    Raises:
        TextcriticError: the file is missing, damaged or not UTF-8; the line names file and line.
    """
    number = 0
    try:
        with _opened(path) as handle:
            for number, raw in enumerate(handle, start=1):
                text = raw.decode("utf-8").rstrip("\r\n")
                yield text.removeprefix("\ufeff") if number == 1 else text
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except UnicodeDecodeError as error:
        raise TextcriticError(f"{path}, line {number}: is not UTF-8; save the file as UTF-8") from error
    except (OSError, EOFError) as error:
        raise TextcriticError(f"{path}: cannot be read: {error}; fetch or save it again") from error


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as handle:
        zipped = handle.read(2) == GZIP
    return cast(IO[bytes], gzip.open(path)) if zipped else path.open("rb")


def _tokenised(rows: Iterator[_Row], options: ParallelOptions, name: str, skipped: Counter[str]) -> Iterator[Sentence]:
    how = MosesOptions(normalise=options.normalise, tokenise=options.tokenise, lowercase=options.lowercase)
    most, tokens = options.most_tokens or float("inf"), {SOURCE: moses(ENGLISH, how)}
    too_long = f"longer than {options.most_tokens} tokens"
    for row in rows:
        text = tokens[SOURCE](row.sides[SOURCE])
        if not text or len(text.split()) > most:
            skipped[f"sentence {too_long}" if text else "empty sentence"] += 1
            continue
        translations = {}
        for language in row.sides:
            if language == SOURCE:
                continue
            if language not in tokens:
                tokens[language] = moses(language, how)
            side = tokens[language](row.sides[language])
            if side and len(side.split()) <= most:
                translations[language] = side
            else:
                skipped[f"{language} {too_long}" if side else f"missing {language}"] += 1
        if translations:
            yield Sentence(text, translations, row.document or name)


def _lines(source: Path, options: ParallelOptions, skipped: Counter[str]) -> Iterator[_Row]:
    """Files aligned by line; or by document, where each side says the document of each of its lines."""
    paths = {SOURCE: source, **{key: Path(path) for key, path in (options.targets or {}).items()}}
    documents = options.documents
    if isinstance(documents, dict):
        yield from _by_document(paths, {key: Path(documents[key]) for key in paths}, skipped)
        return
    files = {**paths, **({DOCUMENT: Path(documents)} if documents else {})}
    for values in _aligned(files):
        sides = dict(zip(files, values, strict=True))
        yield _Row({key: sides[key] for key in paths}, sides.get(DOCUMENT) or None)


def _aligned(files: Mapping[str, Path]) -> Iterator[tuple[str, ...]]:
    """The lines of several files side by side.

    Raises:
        TextcriticError: one of them has fewer lines than another.
    """
    for values in zip_longest(*map(read_lines, files.values())):
        if None in values:
            counts = {path: sum(1 for _ in read_lines(path)) for path in files.values()}
            (first, lines), *rest = counts.items()
            other, others = next((path, count) for path, count in rest if count != lines)
            raise TextcriticError(
                f"{first} has {lines:,} lines and {other} has {others:,}; a parallel corpus needs a line for each line"
            )
        yield values


def _by_document(paths: Mapping[str, Path], ids: Mapping[str, Path], skipped: Counter[str]) -> Iterator[_Row]:
    """Documents that every side has, with as many lines on every side; they must come in the same order."""
    counts = {key: _document_lengths(path) for key, path in ids.items()}
    everywhere = [name for name in counts[SOURCE] if all(name in side for side in counts.values())]
    kept = [name for name in everywhere if len({side[name] for side in counts.values()}) == 1]
    every = {name for side in counts.values() for name in side}
    skipped["document missing on a side"] += len(every) - len(everywhere)
    skipped["document whose sides differ in length"] += len(everywhere) - len(kept)
    wanted = set(kept)
    for key, side in counts.items():
        if [name for name in side if name in wanted] != kept:
            raise TextcriticError(f"{ids[key]}: has documents in another order than {ids[SOURCE]}; sort both alike")
    sides = [_lines_of(paths[key], ids[key], wanted) for key in paths]
    for values in zip(*sides, strict=True):
        yield _Row({key: text for key, (_, text) in zip(paths, values, strict=True)}, values[0][0])


def _document_lengths(path: Path) -> dict[str, int]:
    """The number of lines of each document, in order.

    Raises:
        TextcriticError: the lines of a document are not consecutive.
    """
    lengths: dict[str, int] = {}
    last = None
    for number, name in enumerate(read_lines(path), start=1):
        if name != last and name in lengths:
            raise TextcriticError(f"{path}, line {number}: document {name!r} comes again; put its lines together")
        lengths[name] = lengths.get(name, 0) + 1
        last = name
    return lengths


def _lines_of(path: Path, ids: Path, wanted: set[str]) -> Iterator[tuple[str, str]]:
    for name, text in _aligned({DOCUMENT: ids, SOURCE: path}):
        if name in wanted:
            yield name, text


def _table(path: Path, columns: Mapping[str, int] | None) -> Iterator[_Row]:
    """A table whose columns tabs separate; nothing is quoted."""
    lines = enumerate(read_lines(path), start=1)
    if columns is None:
        _, header = next(lines, (0, ""))
        names = [SOURCE if name == ENGLISH else name for name in header.split("\t")]
        columns = {name: place for place, name in enumerate(names, start=1)}
        if SOURCE not in columns or len(columns) < max(2, len(names)):
            raise TextcriticError(f"{path}, line 1: should name the columns, {SOURCE} (or {ENGLISH}) and the languages")
    needed = max(columns.values())
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) < needed:
            raise TextcriticError(f"{path}, line {number}: has {len(cells)} columns; at least {needed} are needed")
        sides = {key: cells[place - 1] for key, place in columns.items() if key != DOCUMENT}
        yield _Row(sides, cells[columns[DOCUMENT] - 1] if DOCUMENT in columns else None)


def _joined(pairs: Mapping[str, PairFiles], skipped: Counter[str]) -> Iterator[_Row]:
    """Sentences whose very same English line is in every pair, in the order of the first; first occurrences count.

    Memory holds a 64-bit hash of each line and the lines that are kept. Two million lines have two of the same hash
    with a probability of 1e-7.
    """
    first_line: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for language, pair in pairs.items():
        hashes = np.fromiter(map(_hash, read_lines(Path(pair.source))), np.uint64)
        first_line[language] = np.unique(hashes, return_index=True)
    distinct, counts = np.unique(
        np.concatenate([unique_hashes for unique_hashes, _ in first_line.values()]), return_counts=True
    )
    common = distinct[counts == len(pairs)]
    skipped["sentence not in every pair"] += len(distinct) - len(common)
    # The line of each common sentence in each pair, in the order of the first pair.
    places = {
        language: lines[np.searchsorted(unique_hashes, common)]
        for language, (unique_hashes, lines) in first_line.items()
    }
    order = np.argsort(next(iter(places.values())))
    columns: list[list[tuple[str, str]]] = []
    for language, pair in pairs.items():
        files = {SOURCE: Path(pair.source), language: Path(pair.target)}
        columns.append(_picked(files, places[language][order], english=not columns))
    english = [text for text, _ in columns[0]]
    for number, text in enumerate(english):
        yield _Row({SOURCE: text, **{key: side[number][1] for key, side in zip(pairs, columns, strict=True)}}, None)


def _picked(files: Mapping[str, Path], lines: np.ndarray, english: bool) -> list[tuple[str, str]]:
    """The English text (or nothing) and the translation at some lines of a pair, in the order of `lines`."""
    place_of = {line: place for place, line in enumerate(lines.tolist())}
    picked = [("", "")] * len(lines)
    for number, (source, target) in enumerate(_aligned(files)):
        place = place_of.get(number)
        if place is not None:
            picked[place] = (source if english else "", target)
    return picked


def _hash(line: str) -> int:
    return int.from_bytes(hashlib.blake2b(line.strip().encode(), digest_size=8).digest(), "little")
