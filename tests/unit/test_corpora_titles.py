import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from samples import LARGE, SMALL

from textcritic.corpora import Titles
from textcritic.errors import TextcriticError
from textcritic.plan.entries.corpora import TitleOptions

sys.path.insert(0, str(Path(__file__).parents[1] / "scientific"))

from count import FILES, records_of


def plain(**options) -> Titles:
    return Titles(TitleOptions(**{"drop": [], **options}))


@pytest.mark.parametrize(
    ("title", "standard"),
    [
        ("Introduction", "introduction"),
        ("2.1. Materials and Methods", "materials and methods"),
        ("3 Results (Table 2)", "results table"),
        ("Conclusions: a summary", "conclusions a summary"),
        ("Results:discussion", "results discussion"),
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


def test_lemmas_of_the_paper_s_dropped_titles():
    drop = ["see also", "external link", "reference", "further reading", "note", "source"]
    titles = plain(lemmatise=True, spelling={"acknowledgement": "acknowledgment"}, drop=drop)
    found = ["See also", "External links", "References", "Further reading", "Notes", "Sources"]
    assert [titles.standardise(title) for title in found] == drop
    assert titles.drop == set(drop)
    assert titles.standardise("1. Materials and Methods") == "material and method"
    assert titles.standardise("Acknowledgements") == "acknowledgment"


@pytest.mark.large
def test_the_wordnet_of_the_tests_has_the_lemmas_of_the_whole():
    """Of all words of the titles of the sample."""
    splits = itertools.product(("arxiv", "pubmed"), FILES.values())
    records = [record for name, split in splits for record in records_of(SMALL / "scientific", name, split)]
    words = sorted(set(re.findall(r"[^\W\d_]+", " ".join(title for r in records for title in r["section_names"]))))
    assert len(words) > 500
    program = (
        "import json, sys; from nltk.stem import WordNetLemmatizer\n"
        "print(json.dumps(list(map(WordNetLemmatizer().lemmatize, json.load(sys.stdin)))))"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(words),
            env={**os.environ, "NLTK_DATA": str(folder / "nltk_data")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for folder in (SMALL, LARGE)
    ]
    assert found[0] == found[1]


def test_missing_wordnet_says_what_to_do(monkeypatch, tmp_path):
    script = (
        "import sys, nltk; nltk.data.path[:] = [sys.argv[1]]\n"
        "from textcritic.corpora import Titles\n"
        "from textcritic.plan.entries.corpora import TitleOptions\n"
        "Titles(TitleOptions(lemmatise=True))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert TextcriticError.__name__ in done.stderr
    assert "run `python -m nltk.downloader wordnet`, or set NLTK_DATA" in done.stderr
