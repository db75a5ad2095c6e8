"""Recitation in a study: its files, and what is refused."""

import pytest
from own_study import assert_refused, experiment, own_folder, study

SOURCES = {"corpora": ["mine"], "generators": ["words", "theirs"], "decodings": ["plain"]}
TABLE = {"name": "table1", "of": "lengths", "caption": "By length", "generators": ["words"]}


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        block(),
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
        generators={"words": {"kind": "ngram"}, "theirs": {"kind": "file", "path": "theirs.txt"}},
        decodings={"plain": {"articles": 10}},
        critics={"copies": {"kind": "recitation", "tokenizer": "whitespace"}, "topics": {"kind": "ctm"}},
    )


def block(critic="copies", tables=(TABLE,), **changes):
    return study({"kind": "recitation", "critic": critic, "sources": [{**SOURCES, **changes}], "tables": list(tables)})


def test_its_files_are_scores_and_articles_of_real_text_and_of_samples(folder):
    files = experiment(folder, "recitation").files()
    (real,) = files.data
    assert str(real.articles) == "results/corpora/mine/test.parquet"
    assert str(real.scores) == "results/scores/copies/mine/data/test.parquet"
    ends = [f"wo-title/{name}/seed1/plain/draw1.parquet" for name in ("words", "theirs")]
    assert [str(sample.scores) for sample in files.samples] == [f"results/scores/copies/mine/samples/{e}" for e in ends]
    assert files.cutting == {"tokenizer": "whitespace", "lower_case": True, "straight_quotes": False, "words": "spaces"}
    assert files.resamples
    assert [sample.generator for sample in experiment(folder, "recitation").files("table1").samples] == ["words"]


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (block(critic="topics"), "critic: topics is of kind ctm; name an entry of kind recitation"),
        (block(tables=[{**TABLE, "of": "novelty"}]), "'novelty'"),
    ],
)
def test_what_cannot_be_made_is_refused(folder, wrong, line):
    assert_refused(folder, wrong, line)
