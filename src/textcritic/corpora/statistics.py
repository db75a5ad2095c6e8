"""What a corpus holds: the numbers of Table 11 of the model criticism paper."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Outline = tuple[tuple[str, ...], tuple[int, ...]]
"""An article's section titles and section lengths [tokens]."""


def corpus_statistics(splits: Mapping[str, Sequence[Outline]]) -> dict[str, Any]:
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
