"""The shards of a dump put together: what `build_corpus` reads."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from textcritic.corpora.articles import Article, iter_articles
from textcritic.corpora.extract import write_extracted
from textcritic.corpora.wikipedia.pages import Reason
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.options.corpora import WIKIPEDIA
from textcritic.runlog import Progress, log


def join_shards(
    shards: Sequence[str | os.PathLike[str]],
    reports: Sequence[str | os.PathLike[str]],
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
) -> None:
    """Write the articles of all shards in order, each page number once, and one report, as `extract_corpus` does.

    The outcome does not depend on how many shards there are, but for `shards` in the report. Memory holds the ids and
    one row group of articles.

    Args:
        shards: what `extract_shard` wrote, in the order of the shards.
        reports: their reports, in the same order.
        out_path: Parquet in `EXTRACTED_SCHEMA`.
        report_path: JSON, see `extract_corpus`; `provenance` has `dump` too, with the number of its `pages`.

    Raises:
        TextcriticError: a shard is not whole or of another dump than the first, or there is no article in any.
    """
    found = [read_json(path) for path in reports]
    for path, report in zip(reports, found, strict=True):
        if report["dump"] != found[0]["dump"]:
            raise TextcriticError(f"{path}: of another dump than {reports[0]}; delete both and rerun")
    skipped = Counter({reason.value: 0 for reason in Reason})
    for report in found:
        skipped.update(report["skipped"])
    progress = Progress("joining", sum(report["articles"] for report in found), "articles")

    def stream() -> Iterator[tuple[Article, None]]:
        for shard in shards:
            for article in iter_articles(shard):
                progress.advance()
                yield article, None

    dump = {**found[0]["dump"], "pages": sum(report["pages"] for report in found)}
    provenance = {"dump": dump, "extracted_with": _versions(found)}
    write_extracted(
        *(WIKIPEDIA, stream(), skipped, out_path, report_path, provenance),
        repeated=Reason.DUPLICATE.value,
        shards=len(shards),
    )


def _versions(reports: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Of each package its version; all of them, where shards were extracted with different ones."""
    packages = reports[0]["extracted_with"]
    versions = {name: sorted({report["extracted_with"][name] for report in reports}) for name in packages}
    for name, used in versions.items():
        if len(used) > 1:
            log.warning("the shards were extracted with different versions of %s: %s", name, ", ".join(used))
    return {name: ", ".join(used) for name, used in versions.items()}
