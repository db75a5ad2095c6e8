"""From extracted articles to a corpus: standard titles, filters, splits, statistics (model criticism, appendix E)."""

import os
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from textcritic.corpora.articles import Article, Section, articles_of, iter_batches, write_articles
from textcritic.corpora.extract import EXTRACTED_SCHEMA
from textcritic.corpora.splits import random_parts
from textcritic.corpora.titles import Titles, TitlesAsBuilt
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.plan.checks.corpora import DERIVED, SPLITS
from textcritic.plan.entries.corpora import Corpus, SectionOptions, Splits
from textcritic.runlog import log, versions
from textcritic.values import JsonObject

LengthOf = Callable[[list[str]], list[int]]
"""Token counts of section texts."""
Outline = tuple[tuple[str, ...], tuple[int, ...]]
"""Section titles and section lengths [tokens] of an article."""

# Reasons why an article is left out.
TOO_FEW = "too few sections"
UNTITLED = "a section without title"
TOO_SHORT = "a section too short"
TOO_LONG = "a section too long"
RARE = "a title too rare in train"
EMPTY = "a section without text"

NO_LIMIT = 1_000_000  # tokens of a section: lengths decide nothing
# Characters of scripts without spaces between words: Thai to Tibetan, Burmese, Khmer, kana, Chinese.
_UNSPACED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class _Candidate(NamedTuple):
    """An article that passed the filters: which of its sections stay, and their outline."""

    row: int
    split: str | None
    group: str | None
    kept: tuple[int, ...]
    outline: Outline


def build_corpus(
    extracted_path: str | os.PathLike[str],
    out_dir: str | os.PathLike[str],
    corpus: Corpus,
    length_of: LengthOf,
) -> None:
    """Write `train`, `validation` and `test` Parquet files and `statistics.json` of a corpus.

    In this order: titles are standardised (those of a derived corpus stay as its base has them); sections whose
    title is in `titles.drop` go; articles with fewer than `sections.minimum` sections, with an untitled section, or
    with a section outside `minimum_tokens` to `maximum_tokens` go (with `out_of_range: drop-section` only that
    section, with `drop-empty` sections without text before the others are looked at, and the minimum is checked
    again); articles are split at random with `splits.seed`, unless the source gives splits, and those of one group stay
    together; titles are counted once, in train, and articles with a title that fewer than `minimum_title_count`
    sections have go from every split (with `rare_title: drop-section` only those sections, and the minimum is checked
    again). The articles of a split keep the order of extraction. The file is read once per split and once before, row
    group by row group: memory holds outlines of articles, not their text.

    Args:
        extracted_path: what `extract_corpus` wrote; its report has the same name with the suffix `.json`.
        out_dir: folder of the corpus; its name is the corpus' name in messages and statistics.
        corpus: whose `splits`, `titles` and `sections` are read.
        length_of: counts the tokens of texts in the unit `sections.length_unit`.

    Raises:
        TextcriticError: a split with a requested share is empty, maybe because groups are large; or the given splits
            are not train, validation and test.
    """
    folder, report = Path(out_dir), read_json(Path(extracted_path).with_suffix(".json"))
    rejected: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    titles = TitlesAsBuilt() if report.get("extractor") == DERIVED else Titles(corpus.titles)
    candidates = _filtered(extracted_path, titles, corpus.sections, length_of, rejected, dropped)
    splits = _split(candidates, corpus.splits)
    splits = _without_rare_titles(splits, corpus.sections, rejected, dropped)
    wanted = {split: splits[split] for split in _wanted(corpus.splits)}
    _require_corpus(folder.name, wanted, rejected, corpus.sections)
    for split, members in splits.items():
        write_articles(folder / f"{split}.parquet", _selected(extracted_path, members))
    record = {
        "corpus": folder.name,
        "length_unit": corpus.sections.length_unit,
        **corpus_statistics({split: [c.outline for c in members] for split, members in splits.items()}),
        "extracted": report["articles"],
        "rejected": dict(+rejected),
        "dropped_sections": dict(+dropped),
        "skipped": report["skipped"],
        **({"changed": report["changed"]} if "changed" in report else {}),
        "provenance": {**report["provenance"], "built_with": versions("textcritic", "nltk", "numpy")},
    }
    write_json(folder / "statistics.json", record)
    counts = ", ".join(f"{split} {len(members):,}" for split, members in splits.items())
    log.info("%s: %s articles; rejected: %s", folder.name, counts, dict(+rejected) or "none")


def words_of(texts: list[str]) -> list[int]:
    """Lengths in words split at white space: `length_of` for the unit `words`."""
    return [len(text.split()) for text in texts]


def loosen(reason: str, limits: SectionOptions) -> str:
    """What to change so that fewer articles are left out for this reason.

    Args:
        reason: why most of them were left out; one of `TOO_FEW`, `UNTITLED`, `TOO_SHORT`, `TOO_LONG` and `RARE`.
        limits: of the corpus; a number that is at its minimum is not one to lower.
    """
    advice = {
        TOO_FEW: ["lower sections.minimum"] if limits.minimum > 1 else ["give articles with sections"],
        UNTITLED: ["give every section a title"],
        TOO_SHORT: ["lower sections.minimum_tokens", "set sections.out_of_range to drop-section"]
        if limits.minimum_tokens > 1
        else ["set sections.out_of_range to drop-empty, so that sections without text go, not their articles"],
        TOO_LONG: ["raise sections.maximum_tokens"],
        RARE: ["lower sections.minimum_title_count"] * (limits.minimum_title_count > 1)
        + ["set sections.rare_title to drop-section"] * (limits.rare_title != "drop-section"),
    }
    return ", or ".join(advice[reason])


def corpus_statistics(splits: Mapping[str, Sequence[Outline]]) -> JsonObject:
    """Counts of articles, sections and tokens per split, and the shape of the articles of all splits together.

    Args:
        splits: the articles' outlines by split; `train` must be there.

    Returns:
        `splits`: {split: {"articles", "sections", "tokens"}}; `section_types`: number of distinct titles in train;
        `titles`: {title: sections in train}, most frequent first; `median_sections` per article,
        `median_section_length` and `max_section_length` in tokens, all splits pooled.
    """
    counts = {
        split: {
            "articles": len(outlines),
            "sections": sum(len(lengths) for _, lengths in outlines),
            "tokens": sum(sum(lengths) for _, lengths in outlines),
        }
        for split, outlines in splits.items()
    }
    titles = title_counts(splits["train"])
    pooled = [lengths for outlines in splits.values() for _, lengths in outlines]
    lengths_of_sections = [length for lengths in pooled for length in lengths]
    return {
        "splits": counts,
        "section_types": len(titles),
        "titles": dict(sorted(titles.items(), key=lambda item: (-item[1], item[0]))),
        "median_sections": statistics.median(map(len, pooled)),
        "median_section_length": statistics.median(lengths_of_sections),
        "max_section_length": max(lengths_of_sections),
    }


def title_counts(outlines: Sequence[Outline]) -> Counter[str]:
    """How many sections have each title."""
    return Counter(title for titles, _ in outlines for title in titles)


def _filtered(
    path: str | os.PathLike[str],
    titles: Titles | TitlesAsBuilt,
    limits: SectionOptions,
    length_of: LengthOf,
    rejected: Counter[str],
    dropped: Counter[str],
) -> list[_Candidate]:
    """Articles that pass every filter that looks at one article alone."""
    candidates: list[_Candidate] = []
    row = 0
    for batch in iter_batches(path, EXTRACTED_SCHEMA):
        articles, given = articles_of(batch), batch.column("split").to_pylist()
        groups = batch.column("group").to_pylist()
        kept = [_kept_by_title(article, titles, limits.minimum, rejected, dropped) for article in articles]
        texts = [
            article.sections[index].text for article, pairs in zip(articles, kept, strict=True) for index, _ in pairs
        ]
        if row == 0 and limits.length_unit == "words" and limits.maximum_tokens < NO_LIMIT:
            _warn_of_words(path, texts)
        lengths = iter(length_of(texts))
        for pairs, split, group in zip(kept, given, groups, strict=True):
            outlined = [(index, title, next(lengths)) for index, title in pairs]
            outlined = _kept_by_length(outlined, limits, rejected, dropped)
            if outlined:
                indices, names, sizes = zip(*outlined, strict=True)
                candidates.append(_Candidate(row, split, group, indices, (names, sizes)))
            row += 1
    return candidates


def _warn_of_words(path: str | os.PathLike[str], texts: Sequence[str]) -> None:
    """Warn if these texts are mostly in scripts that put no spaces between words."""
    text = "".join(texts)
    if len(_UNSPACED.findall(text)) > len(text) / 3:
        log.warning(
            "%s: sections.length_unit is words, split at white space, but this text has no spaces between words: its"
            " lengths mean little; name a hub entry instead, whose tokenizer counts",
            Path(path).parent.name or path,
        )


def _kept_by_title(
    article: Article,
    titles: Titles | TitlesAsBuilt,
    minimum: int,
    rejected: Counter[str],
    dropped: Counter[str],
) -> list[tuple[int, str]]:
    """(index, standard title) of the sections to keep; empty if the article is rejected."""
    pairs = [(index, titles.standardise(section.title or "")) for index, section in enumerate(article.sections)]
    kept = [(index, title) for index, title in pairs if title not in titles.drop]
    dropped["title in titles.drop"] += len(pairs) - len(kept)
    reason = TOO_FEW if len(kept) < max(minimum, 1) else UNTITLED if not all(title for _, title in kept) else None
    if reason:
        rejected[reason] += 1
        return []
    return kept


def _kept_by_length(
    outlined: list[tuple[int, str, int]], limits: SectionOptions, rejected: Counter[str], dropped: Counter[str]
) -> list[tuple[int, str, int]]:
    """The (index, title, length) triples within the length limits; empty if the article is rejected."""
    before = len(outlined)
    if limits.out_of_range == "drop-empty":
        outlined = [triple for triple in outlined if triple[2] > 0]
        dropped[EMPTY] += before - len(outlined)
    short = sum(1 for *_, length in outlined if length < limits.minimum_tokens)
    long = sum(1 for *_, length in outlined if length > limits.maximum_tokens)
    if limits.out_of_range == "drop-section":
        dropped.update({TOO_SHORT: short, TOO_LONG: long})
        outlined = [t for t in outlined if limits.minimum_tokens <= t[2] <= limits.maximum_tokens]
        short = long = 0
    too_few = len(outlined) < before and len(outlined) < max(limits.minimum, 1)
    reason = TOO_SHORT if short else TOO_LONG if long else TOO_FEW if too_few else None
    if reason:
        rejected[reason] += 1
        return []
    return outlined


def _split(candidates: Sequence[_Candidate], shares: Splits) -> dict[str, list[_Candidate]]:
    """Candidates by split, in the order of extraction: as given, or by a seeded permutation."""
    if any(candidate.split is not None for candidate in candidates):
        unknown = {str(candidate.split) for candidate in candidates} - set(SPLITS)
        if unknown:
            raise TextcriticError(f"given splits: {', '.join(sorted(unknown))} is not one of {', '.join(SPLITS)}")
        splits = {split: [c for c in candidates if c.split == split] for split in SPLITS}
        _warn_of_shared_groups(splits)
        return splits
    if shares.validation + shares.test >= 1:
        raise TextcriticError("splits: validation and test together should be less than 1, so that train gets a share")
    groups = [candidate.group for candidate in candidates]
    sizes = [round(share * len(candidates)) for share in (shares.validation, shares.test)]
    validation, test, train = random_parts(len(candidates), sizes, shares.seed, groups)
    parts = {"train": train, "validation": validation, "test": test}
    _check_groups(groups, min(len(parts[split]) for split in _wanted(shares)))
    return {split: [candidates[index] for index in part] for split, part in parts.items()}


def _wanted(shares: Splits) -> list[str]:
    """The splits that must not be empty: train, and those with a requested share."""
    return [split for split in SPLITS if split == "train" or getattr(shares, split)]


def _warn_of_shared_groups(splits: Mapping[str, Sequence[_Candidate]]) -> None:
    """Warn where given splits have documents of one group in several."""
    places: dict[str, set[str]] = {}
    for split, members in splits.items():
        for member in members:
            if member.group is not None:
                places.setdefault(member.group, set()).add(split)
    shared = [group for group, where in places.items() if len(where) > 1]
    if shared:
        log.warning("given splits: %s groups have documents in several, such as '%s'", f"{len(shared):,}", shared[0])


def _check_groups(groups: Sequence[str | None], smallest: int) -> None:
    """Warn where most of a corpus is one group; an error where a split is empty because groups are large."""
    commonest = Counter(group for group in groups if group is not None).most_common(1)
    if not commonest or commonest[0][1] == 1:
        return
    group, size = commonest[0]
    largest = f"group '{group}' has {size:,} of {len(groups):,} documents, and a group stays in one split"
    if not smallest:
        raise TextcriticError(f"splits: {largest}, so that one split is empty; give more groups, smaller ones, or none")
    if 2 * size > len(groups):
        log.warning("splits: %s: the shares are not those asked for", largest)


def _without_rare_titles(
    splits: Mapping[str, list[_Candidate]],
    limits: SectionOptions,
    rejected: Counter[str],
    dropped: Counter[str],
) -> dict[str, list[_Candidate]]:
    """The articles by split with frequent titles only; with `drop-section`, the frequent sections if enough."""
    counts = title_counts([candidate.outline for candidate in splits["train"]])
    frequent = {title for title, count in counts.items() if count >= limits.minimum_title_count}
    whole = limits.rare_title == "drop-article"
    kept: dict[str, list[_Candidate]] = {split: [] for split in splits}
    for split, members in splits.items():
        for member in members:
            stays = [place for place, title in enumerate(member.outline[0]) if title in frequent]
            if len(stays) == len(member.kept):
                kept[split].append(member)
            elif whole:
                rejected[RARE] += 1
            else:
                dropped[RARE] += len(member.kept) - len(stays)
                if len(stays) < max(limits.minimum, 1):
                    rejected[TOO_FEW] += 1
                else:
                    kept[split].append(_cut_to(member, stays))
    return kept


def _cut_to(member: _Candidate, stays: Sequence[int]) -> _Candidate:
    """The candidate with only those of its kept sections whose places are given."""
    indices, (titles, sizes) = member.kept, member.outline
    picked = [(indices[place], titles[place], sizes[place]) for place in stays]
    kept, names, lengths = zip(*picked, strict=True)
    return member._replace(kept=kept, outline=(names, lengths))


def _require_corpus(
    name: str, splits: Mapping[str, Sequence[_Candidate]], rejected: Counter[str], limits: SectionOptions
) -> None:
    empty = [split for split, members in splits.items() if not members]
    if not empty:
        return
    reasons = (+rejected).most_common()
    fault = f"no article is left in {', '.join(empty)}"
    why = ", ".join(f"{reason} {count:,}" for reason, count in reasons) or "none"
    advice = loosen(reasons[0][0], limits) if reasons else "give more articles"
    raise TextcriticError(f"corpus '{name}': {fault}; articles rejected: {why}; {advice}")


def _selected(path: str | os.PathLike[str], members: Iterable[_Candidate]) -> Iterator[Article]:
    """Stream the members of one split from the extracted file, cut down to the sections that stay."""
    by_row = {member.row: member for member in members}
    first = 0
    for batch in iter_batches(path, EXTRACTED_SCHEMA):
        rows = [row for row in range(first, first + batch.num_rows) if row in by_row]
        articles = articles_of(batch.take(pa.array([row - first for row in rows], pa.int64())))
        for row, article in zip(rows, articles, strict=True):
            member = by_row[row]
            sections = zip(member.kept, member.outline[0], strict=True)
            kept = tuple(Section(title, article.sections[index].text) for index, title in sections)
            yield replace(article, sections=kept)
        first += batch.num_rows
