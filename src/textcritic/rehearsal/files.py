"""Stand-ins for downloaded files, each in the format of the real one; the address decides which one."""

import io
import json
import random
import re
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence

from textcritic.corpora.readers.conll import SHORT
from textcritic.corpora.structured.texts import Structured
from textcritic.corpora.synthetic.entities import draw_entity_texts
from textcritic.errors import TextcriticError
from textcritic.rehearsal.dump import multistream, page
from textcritic.rehearsal.words import corpus, opening, paragraph, sections, sentence

SCIENTIFIC = ("introduction", "methods", "results", "discussion", "conclusion")
SIZES = {"train": 40, "val": 16, "test": 24}
PAGES, STORIES, SENTENCES, DOCUMENTS, WIDTH = 220, 120, 300, 30, 300
# German, Spanish and French words for the nouns of the made-up English: the topics need different words.
TONGUES = {"de": ("der", "und", "ung"), "es": ("el", "que", "ado"), "fr": ("le", "est", "eau")}


def stand_in(url: str) -> bytes:
    """The small file that takes the place of the one at an address.

    Raises:
        TextcriticError: there is no stand-in for such a file; the line says where to add one.
    """
    for pattern, make in MAKERS.items():
        match = re.search(pattern, url)
        if match:
            return make(*match.groups())
    raise TextcriticError(
        f"{url}: there is no stand-in for this download; add one to MAKERS of textcritic/rehearsal/files.py"
    )


def wikipedia() -> bytes:
    """Pages of an encyclopedia: articles with four or five sections, a few redirects and pages about pages."""
    pages = []
    for number in range(1, PAGES + 1):
        parts = "\n".join(f"== {title.capitalize()} ==\n{text}" for title, text in sections(number))
        pages.append(page(number, f"Article {number}", f"{opening(number)}\n{parts}"))
    pages.append(page(PAGES + 1, "Elsewhere", "#REDIRECT [[Article 1]]"))
    pages.append(page(PAGES + 2, "Talk:Article 1", "A page about a page.", space=1))
    return multistream(pages, 20)


def scientific(name: str) -> bytes:
    """JSON lines of Cohan et al. 2018, in a zip archive."""
    texts = {}
    for split, (file, size) in enumerate(SIZES.items()):
        lines = []
        for number in range(size):
            parts = sections(1000 * split + number + len(name), SCIENTIFIC)
            record = {
                "article_id": f"{file}{number}",
                "abstract_text": [f"<S> {sentence(random.Random(number))} </S>"],
                "labels": None,
                "section_names": [title for title, _ in parts],
                "sections": (by_section := [re.split(r"(?<=\.) ", text) for _, text in parts]),
                "article_text": [one for part in by_section for one in part],
            }
            lines.append(json.dumps(record))
        texts[f"{name}-dataset/{file}.txt"] = "\n".join(lines) + "\n"
    return zipped(texts)


def europarl(language: str) -> bytes:
    """Two files of as many lines; the English ones are the same in every pair."""
    draw = random.Random(3)
    english = [sentence(draw) for _ in range(SENTENCES)]
    small, other, ending = TONGUES[language]
    foreign = [
        " ".join(small if len(w) < 4 else other if len(w) == 4 else w[:3] + ending for w in line[:-1].split())
        for line in english
    ]
    base = f"europarl-v7.{language}-en"
    return tarred({f"{base}.{language}": "\n".join(foreign) + "\n", f"{base}.en": "\n".join(english) + "\n"})


def stories() -> bytes:
    """Stories of CNN with their highlights."""
    texts = (paragraph(random.Random(number), 6) for number in range(STORIES))
    end = "\n\n@highlight\n\nSomething happened\n"
    return tarred({f"cnn/stories/{number:040x}.story": f"{text}{end}" for number, text in enumerate(texts)})


def litbank() -> bytes:
    """Texts with entities, in CoNLL-2012 columns, in the folder where LitBank has them."""
    return tarred({f"litbank-0/coref/conll/{one.id}_brat.conll": conll(one, 13) for one in _entity_texts()})


def gum() -> bytes:
    """The same in the columns of OntoGUM."""
    return tarred({f"gum-0/coref/ontogum/conll/GUM_{one.id}.conll": conll(one, SHORT) for one in _entity_texts()})


def votes(*_: str) -> bytes:
    """The votes of five people on each document, in the published form."""
    draw = random.Random(5)
    lines = []
    for number in range(DOCUMENTS):
        gold = draw.choice([-1, 2, 3])
        votes = [gold if draw.random() < 0.7 else draw.choice([-1, 2, 3]) for _ in range(5)]
        lines.append(json.dumps({"file_id": number, "gold": gold, "annoated": votes}))
    return ("\n".join(lines) + "\n").encode()


def glove() -> bytes:
    """Vectors of 300 numbers for the words of the stand-ins."""
    draw = random.Random(6)
    words = sorted({word.strip(".,") for text in corpus(20) for word in text.split()})
    lines = (f"{word} {' '.join(f'{draw.gauss(0, 0.4):.4f}' for _ in range(WIDTH))}" for word in words)
    return zipped({"glove.840B.300d.txt": "\n".join(lines) + "\n"})


def mallet() -> bytes:
    """A list of stop words."""
    return b"the\nof\nand\nin\na\nis\nto\nnear\nfor\nafter\nwith\n"


def stopwords() -> bytes:
    """The lists of NLTK."""
    return zipped({"stopwords/english": mallet().decode(), "stopwords/german": "der\nund\n"})


def conll(text: Structured, columns: int, name: str = "") -> str:
    """A document with its entities: in 13 columns, the whole format, or 3, OntoGUM's."""
    opens: dict[int, list[str]] = {}
    numbers: dict[str, int] = {}
    for mention in text.mentions:
        entity = numbers.setdefault(mention.entity, len(numbers))
        if mention.end - mention.start == 1:
            opens.setdefault(mention.start, []).append(f"({entity})")
        else:
            opens.setdefault(mention.start, []).append(f"({entity}")
            opens.setdefault(mention.end - 1, []).append(f"{entity})")
    lines, place = [f"#begin document ({name or text.id}); part 0"], 0
    for number, token in enumerate(text.tokens):
        bracket = "|".join(opens.get(number, ["_"]))
        before = [name or text.id, "0"] if columns > SHORT else []
        lines.append("\t".join([*before, str(place), token, *["_"] * (columns - len(before) - 3), bracket]))
        place += 1
        if token == "." and columns > SHORT:
            lines.append("")
            place = 0
    return "\n".join([*lines, "", "#end document", ""])


def zipped(texts: Mapping[str, str]) -> bytes:
    """A zip archive of texts by their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tarred(texts: Mapping[str, str]) -> bytes:
    """A .tar.gz archive of texts by their names."""
    import gzip

    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in texts.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _entity_texts() -> Sequence[Structured]:
    return draw_entity_texts(DOCUMENTS, 7)


MAKERS: Mapping[str, Callable[..., bytes]] = {
    r"pages-articles.*\.xml\.bz2": wikipedia,
    r"(pubmed|arxiv)-dataset\.zip": scientific,
    r"europarl/v7/(\w\w)-en\.tgz": europarl,
    r"cnn_stories\.tgz": stories,
    r"/litbank/": litbank,
    r"/gum/": gum,
    r"human_annotation": votes,
    r"glove\.840B\.300d\.zip": glove,
    r"/stoplists/": mallet,
    r"stopwords\.zip": stopwords,
}
"""By a regular expression for the address; its groups are the maker's arguments."""
