import subprocess
import sys
from pathlib import Path

import nltk
import pytest

from textcritic.corpora import Titles
from textcritic.corpora.titles import _wordnet
from textcritic.errors import TextcriticError

NLTK_DATA = Path(__file__).parents[3] / "shared" / "data" / "nltk_data"


def plain(**options) -> Titles:
    return Titles(**{"lemmatise": False, "spelling": {}, "drop": [], **options})


@pytest.mark.parametrize(
    ("title", "standard"),
    [
        ("Introduction", "introduction"),
        ("2.1. Materials and Methods", "materials and methods"),
        ("3 Results (Table 2)", "results table"),
        ("Conclusions: a summary", "conclusions a summary"),
        ("  See\nAlso ", "see also"),
        ("COVID-19", "covid"),
        ("follow-up", "follow-up"),
        ("author’s note", "author’s note"),
        ("42.", ""),
        ("", ""),
        ("II. Method", "ii method"),
    ],
)
def test_standard_form(title, standard):
    titles = plain()
    assert titles.standardise(title) == standard
    assert titles.standardise(standard) == standard


def test_spelling_is_per_word():
    titles = plain(spelling={"acknowledgement": "acknowledgment", "&": "and"})
    assert titles.standardise("Acknowledgement") == "acknowledgment"
    assert titles.standardise("methods & acknowledgement.") == "methods and acknowledgment"


def test_dropped_titles_are_standardised_too():
    assert plain(drop=["See also", "references"]).drop == {"see also", "references"}


@pytest.fixture
def wordnet(monkeypatch):
    if not NLTK_DATA.is_dir():
        pytest.skip(f"the WordNet data in {NLTK_DATA} are not there")
    monkeypatch.setattr(nltk.data, "path", [str(NLTK_DATA)])
    _wordnet.cache_clear()


@pytest.mark.usefixtures("wordnet")
def test_lemmas_of_the_paper_s_dropped_titles():
    drop = ["see also", "external link", "reference", "further reading", "note", "source"]
    titles = Titles(lemmatise=True, spelling={"acknowledgement": "acknowledgment"}, drop=drop)
    found = ["See also", "External links", "References", "Further reading", "Notes", "Sources"]
    assert [titles.standardise(title) for title in found] == drop
    assert titles.drop == set(drop)
    assert titles.standardise("1. Materials and Methods") == "material and method"
    assert titles.standardise("Acknowledgements") == "acknowledgment"


def test_missing_wordnet_says_what_to_do(monkeypatch, tmp_path):
    script = (
        "import sys, nltk; nltk.data.path[:] = [sys.argv[1]]\n"
        "from textcritic.corpora import Titles\n"
        "Titles(lemmatise=True, spelling={}, drop=[])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert TextcriticError.__name__ in done.stderr
    assert "run `python -m nltk.downloader wordnet`, or set NLTK_DATA" in done.stderr
