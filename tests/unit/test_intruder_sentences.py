"""Cutting text into sentences: abbreviations, initials, decimals, quotation marks; and the published probe files."""

import json

import nltk
import pytest
from samples import LARGE

from textcritic.corpora.intruders import sentences
from textcritic.corpora.intruders.sentences import PUNKT, RULES, split_sentences, splitter_of
from textcritic.errors import TextcriticError

PROBES = LARGE / "insted" / "linguistic_probe_data"

CASES = [
    "It rained.|He left.",
    'He asked: "Why?"|She (his wife.) said no.',
    "“Is it so?”|“It is.”|They went.",
    "It ended (in 1990.)|Then came peace.",
    "It is 3.5 km long.|At 1:26.6 he won.",
    "Mr. Smith met Dr. J. R. Jones in St. Louis.|They talked.",
    "She works at Acme Inc. in Ohio.|He does not.",
    "She works at Acme Inc.|The firm is old.",
    "He lives in the U.S. Senate district.|It is large.",
    "He lives in the U.S.|It is large.",
    "He is the No. 1 player.|I said no.|Then I left.",
    "See pp. 12 and vol. 3 of it.|It is there.",
    "Wait... what was that?|Stop!|Go on.",
    "Yahoo! is a firm.|So it is.",
    "It was sold, e.g. to Bob, for cash etc.|The rest was kept.",
    "The end has no stop",
    "1924 was dry.|1925 was wet.",
    "Ünal kam.|Élan vital.",
]


@pytest.mark.parametrize("marked", CASES)
def test_sentences_end_where_the_bar_is(marked):
    assert split_sentences(marked.replace("|", " ")) == marked.split("|")
    assert split_sentences("  " + marked.replace("|", "\n \n") + "\n") == marked.split("|")


@pytest.mark.parametrize("text", ["", " \n", "\u00a0"])
def test_no_text_has_no_sentence(text):
    assert split_sentences(text) == []


def test_nothing_is_lost_and_none_is_empty():
    text = '. ... "A." (b) ?! X . Y.) Mr. ' * 50
    sentences = split_sentences(text)
    assert all(sentences)
    assert "".join("".join(sentences).split()) == "".join(text.split())


def test_another_splitter_is_refused():
    with pytest.raises(TextcriticError, match=r"sentences\.by: 'spacy' is unknown; use one of rules, punkt"):
        splitter_of("spacy")


def test_punkt_without_its_data_says_how_to_get_them(monkeypatch, tmp_path):
    use_nltk_data(monkeypatch, tmp_path)
    with pytest.raises(TextcriticError, match=r"punkt_tab` is not installed; `python -m nltk\.downloader punkt_tab`"):
        splitter_of(PUNKT)


def use_nltk_data(monkeypatch, folder):
    monkeypatch.setattr(nltk.data, "path", [str(folder)])
    sentences._punkt.cache_clear()


@pytest.mark.large
@pytest.mark.parametrize(("kind", "least"), [(RULES, 1297), (PUNKT, 1397)])
def test_sentences_of_the_published_probes(kind, least, monkeypatch):
    """Of 1,600 probes 1,398 have their sentence in the text; so many times it is a sentence, and at its place."""
    use_nltk_data(monkeypatch, LARGE / "nltk_data")
    split = splitter_of(kind)
    there = found = 0
    for path in sorted(PROBES.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            wanted, text = (" ".join(item[key].split()) for key in ("to_be_replaced", "ctx"))
            if wanted in text:
                there += 1
                found += wanted in [" ".join(s.split()) for s in split(item["ctx"])][item["sen_position"] :][:1]
    assert there == 1398
    assert found >= least
