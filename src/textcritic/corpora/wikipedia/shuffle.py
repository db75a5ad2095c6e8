"""From the lines of a dump's shards to a corpus: put into a random order and split by number, in bounded memory."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from textcritic.corpora.articles import ARTICLE_SCHEMA, iter_batches
from textcritic.corpora.wikipedia.extract import join_reports
from textcritic.corpora.wikipedia.pages import Reason
from textcritic.errors import TextcriticError
from textcritic.files import whole_file, write_json
from textcritic.plan.checks.corpora import SPLITS, WIKIPEDIA_LINES
from textcritic.plan.entries.corpora import Splits
from textcritic.runlog import Progress, log, versions
from textcritic.values import JsonObject

BUCKET = 200_000  # lines that are sorted at one time: 46 million make 230 buckets, each of some 70 MB
MOST_BUCKETS = 500  # files that are open at one time; systems allow 1024
SPREAD = 16  # batches that are spread over the buckets at one time
ROWS = 1 << 16  # lines of a row group

_TEMPORARY = ".shuffled."
_KEY, _TEXT = pa.field("key", pa.uint64()), pa.field("text", pa.string())
_BUCKET_SCHEMA = pa.schema([ARTICLE_SCHEMA.field("id"), _TEXT, ARTICLE_SCHEMA.field("source"), _KEY])
_TYPE = ARTICLE_SCHEMA.field("sections").type


def build_lines(
    shards: Sequence[str | os.PathLike[str]],
    reports: Sequence[str | os.PathLike[str]],
    splits: Splits,
    out_dir: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
) -> None:
    """Write `train`, `validation` and `test` Parquet files and `statistics.json` of a corpus of lines.

    Lines are sorted by a hash of the seed and of each line's id. This order is uniformly random, and the same for any
    number of shards. The first lines are validation, the next are test, all others are train, in this order. Lines go
    through temporary files in the folder of the corpus, one for each range of the hash: memory holds `BUCKET` lines,
    the disk a second, packed copy of all lines.

    Args:
        shards: what `extract_shard` wrote of lines, in the order of the shards.
        reports: their reports, in the same order.
        splits: numbers of lines, or shares if they are less than 1; the seed decides the order of the lines.
        out_dir: folder of the corpus; its name is the corpus' name in messages and statistics.
        report_path: JSON with `extractor` and the number of `shards`.

    Raises:
        TextcriticError: a shard is not whole or of another dump; there are too few lines for the splits.
    """
    folder, joined = Path(out_dir), join_reports(reports)
    sizes = _sizes(folder.name, joined["articles"], splits)
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob(f"{_TEMPORARY}*"):  # of a job that was killed
        shutil.rmtree(stale, ignore_errors=True)
    hashed = hashlib.sha256()
    with TemporaryDirectory(dir=folder, prefix=_TEMPORARY) as temporary:
        count = min(-(-joined["articles"] // BUCKET), MOST_BUCKETS)
        buckets = [Path(temporary) / str(number) for number in range(count)]
        _spread(shards, splits.seed, buckets, joined["articles"])
        lengths, repeated = _write_splits(buckets, sizes, folder, hashed)
    statistics = _statistics(lengths)
    skipped = {**joined["skipped"], f"lines of {Reason.DUPLICATE.value}": repeated}
    provenance = {"harvest_sha256": hashed.hexdigest(), **joined["provenance"]}
    record = {
        "corpus": folder.name,
        "length_unit": "words",
        **statistics,
        "extracted": joined["articles"],
        "rejected": dict(joined["rejected"]),
        "dropped_sections": {},
        "skipped": {reason: count for reason, count in skipped.items() if count},
        "provenance": {**provenance, "built_with": versions("textcritic", "numpy")},
    }
    write_json(folder / "statistics.json", record)
    write_json(report_path, {"extractor": WIKIPEDIA_LINES, "shards": len(shards)})
    counts = ", ".join(f"{split} {part['articles']:,}" for split, part in statistics["splits"].items())
    log.info("%s: %s lines; rejected: %s", folder.name, counts, record["rejected"] or "none")


def keys_of(ids: Iterable[str], seed: int) -> np.ndarray:
    """The place of each line in the order of a seed: uniform in the numbers of 64 bits, uint64 [lines]."""
    key = str(seed).encode()
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=8, key=key).digest() for name in ids)
    return np.frombuffer(digests, np.uint64)


def _sizes(name: str, lines: int, splits: Splits) -> dict[str, int]:
    """Lines of validation and of test, and the most of train."""
    first, second = (round(n if n >= 1 else n * lines) for n in (splits.validation, splits.test))
    if min(first, second, lines - first - second) < 1:
        raise TextcriticError(
            f"corpus '{name}': {lines:,} lines are too few for three splits, validation of {first:,}, test of"
            f" {second:,} and train; lower splits.validation and splits.test, or give more of the dump"
        )
    return {"validation": first, "test": second, "train": lines if splits.train is None else splits.train}


def _spread(shards: Sequence[str | os.PathLike[str]], seed: int, buckets: Sequence[Path], lines: int) -> None:
    """Write each line into the bucket of its key."""
    progress = Progress("spreading", lines, "lines")
    packed = pa.ipc.IpcWriteOptions(compression="zstd")
    with ExitStack() as stack:
        streams = [stack.enter_context(pa.OSFile(str(path), "wb")) for path in buckets]
        writers = [stack.enter_context(pa.ipc.new_stream(file, _BUCKET_SCHEMA, options=packed)) for file in streams]
        for table in _tables(shards, seed):
            # The upper 32 bits decide, so that all products fit into 64.
            bucket = ((table["key"].to_numpy() >> np.uint64(32)) * np.uint64(len(buckets))) >> np.uint64(32)
            ordered = table.take(pa.array(np.argsort(bucket, kind="stable"))).combine_chunks()
            ends = np.cumsum(np.bincount(bucket.astype(np.int64), minlength=len(buckets)))
            for writer, start, end in zip(writers, [0, *ends[:-1]], ends, strict=True):
                if end > start:
                    writer.write_table(ordered.slice(start, end - start))
            progress.advance(table.num_rows)


def _tables(shards: Sequence[str | os.PathLike[str]], seed: int) -> Iterator[pa.Table]:
    """The lines of all shards in order, with their keys, `SPREAD` batches at one time."""
    batches: list[pa.RecordBatch] = []
    for shard in shards:
        for batch in iter_batches(shard, ARTICLE_SCHEMA):
            texts = batch["sections"].flatten().field("text")
            keys = pa.array(keys_of(batch["id"].to_pylist(), seed))
            columns = [batch["id"], texts, batch["source"], keys]
            batches.append(pa.record_batch(columns, schema=_BUCKET_SCHEMA))
            if len(batches) == SPREAD:
                yield pa.Table.from_batches(batches)
                batches = []
    if batches:
        yield pa.Table.from_batches(batches)


def _write_splits(
    buckets: Sequence[Path], sizes: Mapping[str, int], folder: Path, hashed: "hashlib._Hash"
) -> tuple[dict[str, np.ndarray], int]:
    """Write the buckets in order, each sorted, one split after the other.

    Returns:
        how many lines of each split have which number of tokens [longest + 1]; how many lines came again.
    """
    progress = Progress("writing", len(buckets), "buckets")
    lengths = {split: np.zeros(1, np.int64) for split in SPLITS}
    repeated = 0
    with ExitStack() as stack:
        files = {split: stack.enter_context(whole_file(folder / f"{split}.parquet")) for split in sizes}
        writers = {
            split: stack.enter_context(pq.ParquetWriter(path, ARTICLE_SCHEMA, compression="zstd"))
            for split, path in files.items()
        }
        left = dict(sizes)
        for path in buckets:
            lines = _sorted(path)
            repeated += lines.num_rows
            lines = _each_once(lines)
            repeated -= lines.num_rows
            for split, writer in writers.items():
                part, lines = lines.slice(0, left[split]), lines.slice(left[split])
                left[split] -= part.num_rows
                for first in range(0, part.num_rows, ROWS):
                    batch = part.slice(first, ROWS)
                    writer.write_batch(_articles(batch))
                    hashed.update("\n".join(batch["text"].to_pylist()).encode() + b"\n")
                    tokens = pc.add(pc.count_substring(batch["text"], " "), 1).to_numpy(zero_copy_only=False)
                    lengths[split] = _added(lengths[split], np.bincount(tokens))
            path.unlink()
            progress.advance()
    return lengths, repeated


def _sorted(path: Path) -> pa.RecordBatch:
    """The lines of a bucket by key; those of one key by id, the first one of an id first."""
    with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
        table = stream.read_all()
    if not table.num_rows:
        return pa.RecordBatch.from_pylist([], schema=_BUCKET_SCHEMA)
    order = pc.sort_indices(table, [("key", "ascending"), ("id", "ascending")])  # a stable sort
    return table.take(order).combine_chunks().to_batches()[0]


def _each_once(lines: pa.RecordBatch) -> pa.RecordBatch:
    """Lines without those that have the id of the line before."""
    ids = lines["id"]
    if len(ids) < 2:
        return lines
    new = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1))
    return lines.filter(pa.concat_arrays([pa.array([True]), new]))


def _articles(lines: pa.RecordBatch) -> pa.RecordBatch:
    """Lines in the corpus schema: an article of one section, both without title."""
    count = lines.num_rows
    none = pa.nulls(count, pa.string())
    sections = pa.StructArray.from_arrays([none, lines["text"]], fields=list(_TYPE.value_type))
    nested = pa.ListArray.from_arrays(pa.array(range(count + 1), pa.int32()), sections, type=_TYPE)
    return pa.record_batch([lines["id"], none, nested, lines["source"], none], schema=ARTICLE_SCHEMA)


def _added(counts: np.ndarray, more: np.ndarray) -> np.ndarray:
    longest = max(len(counts), len(more))
    return np.pad(counts, (0, longest - len(counts))) + np.pad(more, (0, longest - len(more)))


def _statistics(lengths: Mapping[str, np.ndarray]) -> JsonObject:
    """The statistics of `build.corpus_statistics`, of articles of one section each, which has no title."""
    tokens = {split: int(counts @ np.arange(len(counts))) for split, counts in lengths.items()}
    articles = {split: int(counts.sum()) for split, counts in lengths.items()}
    pooled = np.zeros(1, np.int64)
    for counts in lengths.values():
        pooled = _added(pooled, counts)
    ends, total = np.cumsum(pooled), int(pooled.sum())
    middle = [int(np.searchsorted(ends, place, side="right")) for place in ((total - 1) // 2, total // 2)]
    return {
        "splits": {
            split: {"articles": articles[split], "sections": articles[split], "tokens": tokens[split]}
            for split in SPLITS
        },
        "section_types": 0,
        "titles": {},
        "median_sections": 1,
        "median_section_length": sum(middle) / 2,
        "max_section_length": len(pooled) - 1,
    }
