"""From drawn text to states: what is a sequence, and why all else is not."""

import logging

import numpy as np
import pytest

from textcritic.corpora import MalformedArticle, Section, read_articles
from textcritic.corpora.synthetic.process import DELIMITER, Process
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.generators.shards import Draw, write_shard
from textcritic.latents.lookup import Lookup, parse_sequences
from textcritic.plan.entries.extraction import ProcessOptions

# Three states; `ab` and `c` are sub-sequences of state 0.
PROCESS = Process(
    subsequences=("ab", "c", "aB", "bcd"),
    owner=np.array([0, 0, 1, 2]),
    emission=np.array([0.25, 0.75, 1.0, 1.0]),
    transition=np.array([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]),
    steps=3,
)
LOOKUP = Lookup.of(PROCESS)


def test_a_sequence_is_read_off_its_subsequences():
    assert LOOKUP.sections("c aB bcd ") == (Section("0", "c"), Section("1", "aB"), Section("2", "bcd"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("c aB b-d ", "unknown symbol"),
        ("c aB é ", "unknown symbol"),
        ("c aB\tbcd ", "unknown symbol"),
        ("c aB\u00a0bcd ", "unknown symbol"),
        (" ", "unknown sub-sequence"),
        (" c aB bcd ", "unknown sub-sequence"),  # nothing stands before the first delimiter
        ("c  aB bcd ", "unknown sub-sequence"),
        ("c aB ba ", "unknown sub-sequence"),
        ("c aB e ", "unknown sub-sequence"),  # a letter, but none of a sub-sequence
        ("c aB bcd ba ", "unknown sub-sequence"),
        ("c", "text after the last delimiter"),
        ("c aB bcd", "text after the last delimiter"),
        ("c aB bcd ab", "text after the last delimiter"),
        ("c aB ", "fewer than 3 sub-sequences"),
        ("c aB bcd ab ", "more than 3 sub-sequences"),
    ],
)
def test_every_fault_has_its_reason(text, why):
    with pytest.raises(MalformedArticle) as malformed:
        LOOKUP.sections(text)
    assert malformed.value.reason == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- ba c", "unknown symbol"),
        ("c ba aB", "unknown sub-sequence"),
        ("ba ", "unknown sub-sequence"),
        ("c ab", "text after the last delimiter"),
        ("c c c c c", "text after the last delimiter"),
    ],
)
def test_of_several_faults_the_first_in_order_is_the_reason(text, why):
    with pytest.raises(MalformedArticle) as malformed:
        LOOKUP.sections(text)
    assert malformed.value.reason == why


def files(folder, draws, *more):
    """A saved process, shards of draws, and the three paths to write."""
    PROCESS.save(folder / "process.npz")
    shards = [folder / "raw" / f"shard{number}.parquet" for number in range(1 + len(more))]
    for path, part in zip(shards, (draws, *more), strict=True):
        write_shard(path, part)
    return shards, (folder / "kept.parquet", folder / "kept.rejected.parquet", folder / "kept.json")


def test_draws_are_kept_or_rejected_and_counted(tmp_path):
    draws = [Draw(0, "c aB bcd ", 10, "end"), Draw(1, "c aB ", 6, "end"), Draw(2, "c c c ", 6, "length")]
    shards, paths = files(tmp_path, draws, [Draw(3, "ab ab ab ", 10, "end"), Draw(4, "", 1, "end")])
    counts = parse_sequences(shards, tmp_path / "process.npz", 6, "hsmm-demo", *paths)
    kept = read_articles(paths[0])
    assert [article.id for article in kept] == ["hsmm-demo-000000", "hsmm-demo-000003"]
    assert kept[1].sections == (Section("0", "ab"),) * 3
    assert (kept[0].title, kept[0].source) == (None, "hsmm-demo")
    assert [tuple(row.values()) for row in read_table(paths[1]).to_pylist()] == [
        ("hsmm-demo-000001", "c aB ", "fewer than 3 sub-sequences"),
        ("hsmm-demo-000002", "c c c ", "no end within 6 tokens"),
        ("hsmm-demo-000004", "", "empty"),
    ]
    assert counts == read_json(paths[2])
    assert counts["tokens"] == 33
    assert (counts["drawn"], counts["kept"], sum(counts["rejected"].values())) == (5, 2, 3)


def test_a_sample_of_which_nothing_parses_is_empty_and_said_to_be(tmp_path, caplog):
    shards, paths = files(tmp_path, [Draw(0, "ba ", 4, "end"), Draw(1, "c ", 3, "end")])
    with caplog.at_level(logging.WARNING, "textcritic"):
        counts = parse_sequences(shards, tmp_path / "process.npz", 6, "g", *paths)
    assert counts == {
        "drawn": 2,
        "kept": 0,
        "rejected": {"unknown sub-sequence": 1, "fewer than 3 sub-sequences": 1},
        "tokens": 7,
        "unfinished": 0,
    }
    assert read_articles(paths[0]) == []
    assert read_table(paths[1]).num_rows == 2
    assert "of 2 articles none can be used (unknown sub-sequence: 1, fewer than 3 sub-sequences: 1)" in caplog.text


def test_faults_of_files(tmp_path):
    shards, paths = files(tmp_path, [Draw(0, "c ", 3, "end")], [Draw(0, "c ", 3, "end")])
    with pytest.raises(TextcriticError, match=r"shard1.parquet: article 0 was drawn in another shard too"):
        parse_sequences(shards, tmp_path / "process.npz", 6, "g", *paths)
    with pytest.raises(TextcriticError, match=r"none.npz"):
        parse_sequences(shards[:1], tmp_path / "none.npz", 6, "g", *paths)
    assert not any(path.exists() for path in paths)


def test_what_a_process_draws_is_read_back_exactly():
    process = Process.draw(ProcessOptions(states=5, steps=7, subsequences=40, shortest=2, longest=4, letters=6, seed=3))
    lookup = Lookup.of(process)
    states, drawn = process.sample(30, 1)
    for chain, ids in zip(states, drawn, strict=True):
        text = "".join(process.subsequences[i] + DELIMITER for i in ids)
        sections = lookup.sections(text)
        assert [section.title for section in sections] == [str(state) for state in chain]
        assert "".join(section.text + DELIMITER for section in sections) == text
        assert lookup.chain(text) == [section.title for section in sections]


def test_the_released_code_leaves_most_out_of_its_counts():
    good, texts = "c aB bcd ", ["", "c", "c ", "c aB", "c aB ", "ba ", " ", "c ba aB bcd ", "c aB bcd ab ", "- c c "]
    assert LOOKUP.chains_as_released(texts) == ([], 0)
    kept, invalid = LOOKUP.chains_as_released([*texts, *[good] * 5, f"{good}text", f"{good}ba c c "])
    assert kept == [["0", "1", "2"]] * 7
    assert invalid == 1
