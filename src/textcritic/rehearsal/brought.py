"""Stand-ins for what users bring: licensed corpora, and models in their own folders; and for NLTK's data."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from textcritic.corpora.structured.texts import SHIFT, Structured
from textcritic.corpora.synthetic.entities import draw_entity_texts
from textcritic.corpora.synthetic.grammar import draw_trees
from textcritic.corpora.synthetic.links import draw_linked_texts
from textcritic.files import write_text
from textcritic.plan.entries.extraction import CorpusOptions, SplitFiles
from textcritic.rehearsal.files import conll
from textcritic.values import JsonObject

COUNT = 8
LEXNAMES = ("adj.all", "adj.pert", "adv.all", "noun.Tops")


def put_corpus(path: Path, extractor: str, seed: int) -> None:
    """Write one split of a corpus that is brought.

    Args:
        path: of the file.
        extractor: `trees`, `mentions` or `links`.
        seed: of the texts.
    """
    if extractor == "trees":
        write_text(path, "".join(f"( (S {bracketed(one)}) )\n" for one in draw_trees(COUNT, seed)))
    elif extractor == "mentions":
        texts = draw_entity_texts(COUNT, seed)
        write_text(path, "".join(conll(one, 13, f"bn/made/{seed}/{one.id}") for one in texts))
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(linked(one, f"{one.id} of {seed}")) for one in draw_linked_texts(COUNT, seed))
        path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


def bracketed(text: Structured) -> str:
    """A binary tree in Penn's brackets."""
    words, stack = iter(text.tokens), list[str]()
    for action in text.actions:
        if action == SHIFT:
            stack.append(f"(X {next(words)})")
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(f"(XP {left} {right})")
    return stack[0]


def linked(text: Structured, title: str) -> JsonObject:
    """A line of Linked WikiText-2; no two texts of a corpus may have one title."""
    notes = [
        {
            "id": mention.entity,
            "relation": [edge.relation for edge in mention.edges] or ["@@NEW@@"],
            "parent_id": [edge.parent for edge in mention.edges] or [mention.entity],
            "span": [mention.start + 1, mention.end + 1],
        }
        for mention in text.mentions
    ]
    return {"title": title, "tokens": ["@@START@@", *text.tokens], "annotations": notes}


def put_nltk(folder: Path) -> None:
    """Data of NLTK under which every word is its own lemma, and Punkt knows no abbreviation."""
    wordnet = folder / "corpora/wordnet"
    for part in ("adj", "adv", "noun", "verb"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            write_text(wordnet / name, "")
    write_text(wordnet / "index.sense", "")
    write_text(wordnet / "lexnames", "".join(f"{n:02}\t{name}\t1\n" for n, name in enumerate(LEXNAMES)))
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        write_text(folder / "tokenizers/punkt_tab/english" / name, "")


def paths_of(options: CorpusOptions) -> Iterable[tuple[int, Path]]:
    """The files of a corpus's splits that are not downloaded, each with its own number."""
    paths = options.paths or []
    named = [path for _, path in sorted(paths.plain().items())] if isinstance(paths, SplitFiles) else paths
    return [(seed, Path(path)) for seed, path in enumerate(named, 11) if not path.startswith("results/")]
