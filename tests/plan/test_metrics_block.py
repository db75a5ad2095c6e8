"""Own measures in a study: their files, where their modules are, and what is refused before anything runs."""

import pytest
from own_study import assert_refused, experiment, own_folder, project, study

from textcritic.errors import TextcriticError

SOURCES = {"corpora": ["mine"], "generators": ["words", "theirs"], "decodings": ["plain"]}
MODULE = "def words(document):\n    return len(document.text.split())\n\n\nfrom math import *\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mymeasures.py").write_text(MODULE.replace("from math import *", "other = words"))
    (tmp_path / "broken.py").write_text("def words(document:\n")
    (tmp_path / "raises.py").write_text(f"raise ValueError\n{MODULE}")
    return own_folder(
        tmp_path,
        block(),
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
        generators={"words": {"kind": "ngram"}, "theirs": {"kind": "file", "path": "theirs.txt"}},
        decodings={"plain": {"articles": 10}},
    )


def block(*metrics, **changes):
    metrics = list(metrics or ("mymeasures:words", "raises:sin"))
    return study({"kind": "metrics", "metrics": metrics, "sources": [{**SOURCES, **changes}]})


def test_its_files_are_scores_by_each_measure(folder):
    """A module is looked at and not imported: one that raises an error is noticed by the job that measures."""
    files = experiment(folder, "metrics").files()
    assert files.metrics == ("mymeasures:words", "raises:sin")
    (real,) = files.data
    start = "results/scores/metrics"
    expected = [f"{start}/{name}/mine/data/test.parquet" for name in ("mymeasures.words", "raises.sin")]
    assert [str(path) for path in real.measured] == expected
    assert real.scores == real.measured[0]
    sample = "mine/samples/wo-title/theirs/seed1/plain/draw1.parquet"
    assert [str(path) for path in files.samples[1].measured] == [
        f"{start}/{name}/{sample}" for name in ("mymeasures.words", "raises.sin")
    ]
    assert files.by(1).samples[1].scores == files.samples[1].measured[1]


def test_modules_are_found_in_other_folders(folder, tmp_path):
    (folder / "measures").mkdir()
    (folder / "mymeasures.py").rename(folder / "measures/mymeasures.py")
    with pytest.raises(TextcriticError, match="no module 'mymeasures' in "):
        project(folder)
    project(folder, metric_folders=["measures", "."])
    with pytest.raises(TextcriticError, match="there is no folder 'nowhere'"):
        project(folder, metric_folders=["nowhere"])


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (
            block("mymeasures:none"),
            "metrics: mymeasures:none: .*mymeasures.py has no function 'none'; it has words, other",
        ),
        (block("nowhere:words"), "metrics: nowhere:words: no module 'nowhere' in "),
        (block("broken:words"), "metrics: broken:words: .*broken.py, line 1: "),
        (block("mymeasures"), "metrics: mymeasures: is not the name of a measure"),
        (block("mymeasures:words", "mymeasures:words"), "metrics: two measures have the name 'words'; rename one"),
        (block("mymeasures:words", "raises:words"), "metrics: two measures have the name 'words'; rename one"),
        (block(generators=["nobody"]), "'nobody'"),
    ],
)
def test_what_cannot_be_measured_is_refused(folder, wrong, line):
    assert_refused(folder, wrong, line)
