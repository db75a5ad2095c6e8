import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from textcritic.corpora import Section
from textcritic.corpora.readers.docstrings import NUMPYDOC_HEADINGS, extract_docstrings, numpydoc_sections
from textcritic.corpora.readers.near_duplicates import near_duplicates
from textcritic.errors import TextcriticError

PACKAGES = ["numpy", "scipy", "pandas", "sklearn", "networkx", "matplotlib"]
FINGERPRINT = (
    "import hashlib\n"
    "from textcritic.corpora.readers.docstrings import extract_docstrings\n"
    f"articles = list(extract_docstrings({PACKAGES[:1]!r}))\n"
    "print(len(articles), hashlib.sha256(repr(articles).encode()).hexdigest())"
)


def titles(docstring: str) -> list[str | None]:
    return [section.title for section in numpydoc_sections(docstring)[0]]


def test_a_docstring_is_split_at_its_headings():
    docstring = """Add numbers.

    More words.

    Parameters
    ----------
    a : int
        The first.

        Two paragraphs.

    See Also
    --------
    subtract
    """
    sections, empty = numpydoc_sections(docstring)
    assert sections == (
        Section("summary", "Add numbers.\nMore words."),
        Section("parameters", "a : int\n    The first.\n    Two paragraphs."),
        Section("see also", "subtract"),
    )
    assert empty == 0


def test_empty_sections_and_an_empty_summary_are_left_out():
    sections, empty = numpydoc_sections("\n    Returns\n    -------\n\n    Notes\n    -----\n    Text.\n")
    assert sections == (Section("notes", "Text."),)
    assert empty == 1


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("No headings here.\n--- not one", ["summary"]),
        ("A.\n\nNotes:\n------\nx", ["summary", "notes"]),
        ("A.\nReturns\n-------\nx", ["summary", "returns"]),
        ("A.\n\nReturns\n--------\nx", ["summary", "returns"]),
        ("A.\n\n Returns\n-------\nx", ["summary", "returns"]),
        ("A.\n\nOwn Heading\n-----------\nx", ["summary", "own heading"]),
        ("A sentence that is\nno heading\n----------\nx", ["summary"]),
        ("A.\n\nThis has far too many words\n---------------------------\nx", ["summary"]),
        ("A.\n\nVertex (u, v) edge.\n-------------------\nx", ["summary"]),
        ("A.\n\nName\n----------------------\nx", ["summary"]),
        ("A.\n\nX\n--\ny", ["summary"]),
        ("A.\n\nExamples\n--------\n>>> print(table)\nname\n----\nx", ["summary", "examples"]),
        ("A.\n\nExamples\n--------\n>>> print(table)\na    b\n---  ---\nx", ["summary", "examples"]),
        ("A.\n\n-------\n-------\nx", ["summary"]),
        ("A.\n\nNotes\n-----", ["summary"]),
    ],
)
def test_tricky_headings(docstring, found):
    assert titles(docstring) == found


@pytest.fixture(scope="module")
def harvest():
    skipped = Counter()
    return list(extract_docstrings(PACKAGES, skipped)), skipped


def test_harvest_is_the_same_in_every_process():
    """Of one package, in two processes with other hash seeds."""
    found = []
    for seed in ("7", "8"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", FINGERPRINT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.append(done.stdout.split())
    assert found[0] == found[1]
    assert int(found[0][0]) > 500


def test_harvest_has_the_expected_size(harvest):
    articles, skipped = harvest
    assert 7_000 < len(articles) < 9_000
    assert 4_500 < sum(len(article.sections) >= 4 for article in articles) < 6_000
    assert {article.source.partition("==")[0] for article in articles} == {*PACKAGES[:3], "scikit-learn", *PACKAGES[4:]}
    assert 200 < skipped["near-duplicate"] < 1_000
    assert {"exact duplicate", "docstring without headings", "same object under another name"} <= set(skipped)


def test_harvest_is_lawful(harvest):
    articles, _ = harvest
    ids = [article.id for article in articles]
    assert ids == sorted(set(ids))
    residue = re.compile(rf"^(?:{'|'.join(NUMPYDOC_HEADINGS)})\n-{{3,}}$", re.IGNORECASE | re.MULTILINE)
    for article in articles:
        assert any(section.title != "summary" for section in article.sections)
        for section in article.sections:
            assert section.text == section.text.strip() != ""
            assert "\n\n" not in section.text
            assert section.title == section.title.strip().lower()
            assert not residue.search(section.text), article.id


def test_objects_of_one_module_are_a_group(harvest):
    groups = Counter(article.group for article in harvest[0])
    assert 500 < len(groups) < 2_000
    assert max(groups.values()) < 1_000
    by_id = {article.id: article.group for article in harvest[0]}
    assert by_id["scipy.stats.ttest_ind"] == "scipy.stats._stats_py"
    assert by_id["sklearn.svm.SVC"] == by_id["sklearn.svm.SVR"] == "sklearn.svm._classes"


def test_harvest_names_what_everybody_knows_by_its_public_name(harvest):
    by_id = {article.id: article for article in harvest[0]}
    for name in [
        "numpy.linalg.norm",
        "pandas.DataFrame.merge",
        "sklearn.svm.SVC",
        "networkx.pagerank",
        "scipy.fft.fft",
    ]:
        assert name in by_id
    assert [section.title for section in by_id["numpy.linalg.norm"].sections] == [
        *["summary", "parameters", "returns", "see also", "notes", "references", "examples"]
    ]


def test_harvest_frequencies_of_headings(harvest):
    counts = Counter(section.title for article in harvest[0] for section in article.sections)
    order = ["summary", "parameters", "returns", "examples", "see also", "notes", "references", "raises", "attributes"]
    assert [title for title, _ in counts.most_common(9)] == order


def test_a_package_that_is_not_installed():
    with pytest.raises(TextcriticError, match="docstrings: package 'no-such-package' is not installed"):
        list(extract_docstrings(["no-such-package"]))


def test_distribution_names_are_accepted():
    (first, *_) = extract_docstrings(["scikit-learn"])
    assert first.source.startswith("scikit-learn==")


def shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + 3]) for start in range(max(1, len(words) - 2))}


def test_near_duplicates_against_brute_force():
    rng = np.random.default_rng(5)
    texts = []
    for _ in range(60):
        base = [f"w{word}" for word in rng.integers(0, 300, size=rng.integers(20, 80))]
        for _ in range(4):
            changed = np.array(base)
            spots = rng.random(len(base)) < rng.choice([0.0, 0.02, 0.05, 0.2])
            changed[spots] = "other"
            texts.append(" ".join(changed))
    expected: list[int | None] = []
    for later, text in enumerate(texts):
        kept = (earlier for earlier in range(later) if expected[earlier] is None)
        mine = shingles(text)
        expected.append(
            next((e for e in kept if len(mine & shingles(texts[e])) >= 0.8 * len(mine | shingles(texts[e]))), None)
        )
    found = near_duplicates(texts, 0.8)
    assert found == expected
    assert 60 < sum(index is not None for index in found) < 180


def test_near_duplicates_of_moderate_similarity_are_found_too():
    """Pairs whose similarity is exactly 0.6, each of words of its own: 1 - (1 - 0.6^4)^32 of them share a band."""
    texts = []
    for pair in range(300):
        words = [f"w{pair}x{word}" for word in range(18)]  # 16 shingles, of which both have the first 12
        texts += [" ".join(words), " ".join([*words[:14], *(f"v{pair}x{word}" for word in range(4))])]
    assert len(shingles(texts[0]) & shingles(texts[1])) / len(shingles(texts[0]) | shingles(texts[1])) == 0.6
    found = near_duplicates(texts, 0.6)
    assert all(index in (None, later - 1) for later, index in enumerate(found))
    assert 290 <= sum(index is not None for index in found) <= 299  # 296.5 expected
    assert near_duplicates(texts, 0.61) == [None] * 600


@pytest.mark.parametrize(
    ("texts", "duplicates"),
    [([], []), (["", "", "a"], [None, 0, None]), (["A, b!", "a b", "b a"], [None, 0, None]), (["a b c d"], [None])],
)
def test_near_duplicates_of_short_texts(texts, duplicates):
    assert near_duplicates(texts, 0.8) == duplicates
