"""The numbers of Table 11 counted from published records by plain loops that share no code with the builder."""

import gzip
import json
import re
import statistics
import string
from collections import Counter

EDGES = string.punctuation + "–—…“”‘’•·"
DROP = {"see also", "external link", "reference", "further reading", "note", "source"}
FILES = {"train": "train", "validation": "val", "test": "test"}


def path_of(folder, name, split):
    """A published file, e.g. `pubmed.val.txt`, or the same compressed, `pubmed.val.txt.gz`."""
    plain = folder / f"{name}.{split}.txt"
    return plain if plain.exists() else plain.with_name(f"{plain.name}.gz")


def records_of(folder, name, split):
    """The records of a published file."""
    path = path_of(folder, name, split)
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def outlines_of(folder, name, longest, least_count, keep_abstract=False, word=str):
    """By split, each article's titles and section lengths, where sections out of range or with rare titles go alone.

    `word` is what becomes of each word of a title. An article has at least 2 sections, a section at least 5 words.
    """

    def standard(title):
        words = re.sub("[0-9]", "", title.lower()).replace(":", " ").split()
        return " ".join(word(stripped) for w in words if (stripped := w.strip(EDGES)))

    def outline(record):
        sections = [(t, " ".join(s)) for t, s in zip(record["section_names"], record["sections"], strict=True)]
        if keep_abstract:
            whole = " ".join(record["abstract_text"]).replace("<S>", " ").replace("</S>", " ")
            sections = [("abstract", whole), *sections]
        pairs = [(standard(title), len(text.split())) for title, text in sections]
        pairs = [(title, length) for title, length in pairs if title not in DROP]
        if not all(title for title, _ in pairs):
            return []
        return [(title, length) for title, length in pairs if 5 <= length <= longest]

    found = {split: [outline(r) for r in records_of(folder, name, file)] for split, file in FILES.items()}
    found = {split: [pairs for pairs in part if len(pairs) >= 2] for split, part in found.items()}
    counts = Counter(title for pairs in found["train"] for title, _ in pairs)
    found = {s: [[p for p in pairs if counts[p[0]] >= least_count] for pairs in part] for s, part in found.items()}
    return {split: [pairs for pairs in part if len(pairs) >= 2] for split, part in found.items()}


def numbers_of(outlines):
    """What statistics.json says of a corpus, the counts of what was left out excepted."""
    lengths = [[length for _, length in pairs] for part in outlines.values() for pairs in part]
    titles = Counter(title for pairs in outlines["train"] for title, _ in pairs)
    return {
        "splits": {
            split: {
                "articles": len(part),
                "sections": sum(map(len, part)),
                "tokens": sum(length for pairs in part for _, length in pairs),
            }
            for split, part in outlines.items()
        },
        "section_types": len(titles),
        "titles": dict(titles),
        "median_sections": statistics.median(map(len, lengths)),
        "median_section_length": statistics.median([n for part in lengths for n in part]),
        "max_section_length": max(map(max, lengths)),
    }
