"""Scores of chains of states under the process that made the data, and the audit of what counts as a sequence."""

import math

import numpy as np
import pytest

from textcritic.corpora import Article, Section, write_articles
from textcritic.corpora.synthetic.process import Process
from textcritic.critics import SCORES_SCHEMA, decompose, latent_ppl, rejections
from textcritic.critics.known_process import KnownProcess, audit_parsing, score_sequences
from textcritic.errors import TextcriticError
from textcritic.files import read_table
from textcritic.generators.shards import Draw, write_shard
from textcritic.latents.lookup import parse_sequences

# From state 0, and so at the beginning: to state 0 with 1/2, to state 1 with 1/2. State 1 never goes to state 0.
PROCESS = Process(
    subsequences=("a", "b", "ab"),
    owner=np.array([0, 1, 1]),
    emission=np.array([1.0, 0.5, 0.5]),
    transition=np.array([[0.5, 0.5], [0.0, 1.0]]),
    steps=2,
)
CRITIC = KnownProcess.of(PROCESS)
NATS = math.log(2)


def test_a_step_is_a_subsequence_and_there_is_no_end():
    scores = CRITIC.score(["x", "y"], [["0", "1"], ["0", "0", "1", "1"]])
    assert scores.schema == SCORES_SCHEMA
    assert scores["steps"].to_pylist() == [2, 4]
    assert scores["step_nll"].to_pylist() == [[NATS, NATS], [NATS, NATS, NATS, 0]]
    assert scores["nll"].to_pylist() == [2 * NATS, 3 * NATS]
    assert scores["chain"].to_pylist() == [["0", "1"], ["0", "0", "1", "1"]]
    assert scores["nll_soft"].null_count == 2
    assert scores["rejected"].to_pylist() == [False, False]
    assert scores["why"].null_count == 2


def test_what_the_process_cannot_do_is_infinitely_unlikely():
    scores = CRITIC.score(["x"], [["1", "0"]])
    assert scores["step_nll"].to_pylist() == [[NATS, math.inf]]
    assert scores["nll"].to_pylist() == [math.inf]
    assert latent_ppl(scores) == math.inf


def test_sequences_without_known_states_are_rejected_whole():
    chains = [["0"], [], ["1", "2", "1"], ["7"], ["0", "0"]]
    scores = CRITIC.score(list("abcde"), chains, [("f", "no end within 9 tokens")])
    assert scores["rejected"].to_pylist() == [False, True, True, True, False, True]
    assert scores["steps"].to_pylist() == [1, 0, 0, 0, 2, 0]
    assert scores["why"].to_pylist() == [
        *[None, "empty chain", "unknown state: 2", "unknown state: 7", None, "no end within 9 tokens"]
    ]
    assert scores["step_nll"].to_pylist() == [[NATS], [], [], [], [NATS, NATS], []]
    assert math.isnan(scores["nll"][2].as_py())
    assert sum(rejections(scores).values()) == 4
    assert CRITIC.transitions(scores).tolist() == [[2, 0], [1, 0], [0, 0]]


def test_no_sequences():
    scores = CRITIC.score([], [])
    assert (scores.num_rows, scores.schema) == (0, SCORES_SCHEMA)
    assert not CRITIC.transitions(scores).any()
    with pytest.raises(TextcriticError, match="no document is left"):
        latent_ppl(scores)
    with pytest.raises(TextcriticError, match="2 ids for 1 chains"):
        CRITIC.score(["x", "y"], [["0"]])


def test_rows_of_the_matrix_are_the_begin_and_the_states():
    assert CRITIC.log_probs.shape == (3, 2)
    assert (CRITIC.sources, CRITIC.targets) == (("<begin>", "0", "1"), ("0", "1"))
    assert np.exp(CRITIC.log_probs).tolist() == pytest.approx(np.array([[0.5, 0.5], [0.5, 0.5], [0, 1]]))
    found = decompose(CRITIC.count([["0", "1"], ["0", "0"]]), CRITIC)
    assert (found.steps, found.cross_entropy) == (4, pytest.approx(NATS))


def articles(*chains):
    return [
        Article(f"x{number}", None, tuple(Section(state, "a") for state in chain), "data", f"group {number}")
        for number, chain in enumerate(chains)
    ]


def test_files_of_sequences(tmp_path):
    PROCESS.save(tmp_path / "process.npz")
    write_articles(tmp_path / "test.parquet", articles(["0", "1"], ["1", "1"]))
    score_sequences(tmp_path / "process.npz", tmp_path / "test.parquet", tmp_path / "scores.parquet")
    scores = read_table(tmp_path / "scores.parquet")
    assert scores["id"].to_pylist() == ["x0", "x1"]
    assert scores["nll"].to_pylist() == [2 * NATS, NATS]
    assert scores["group"].to_pylist() == ["group 0", "group 1"]
    with pytest.raises(TextcriticError, match=r"gone.parquet: no such file"):
        score_sequences(tmp_path / "process.npz", tmp_path / "gone.parquet", tmp_path / "scores.parquet")


def parsed(folder, texts, cut=()):
    """Files of a parsed sample of these texts, those of `cut` not having ended."""
    PROCESS.save(folder / "process.npz")
    draws = [Draw(n, text, 9, "length" if n in cut else "end") for n, text in enumerate(texts)]
    write_shard(folder / "shard0.parquet", draws)
    kept, rejected = folder / "kept.parquet", folder / "kept.rejected.parquet"
    shard, process = folder / "shard0.parquet", folder / "process.npz"
    parse_sequences([shard], process, 9, "g", kept, rejected, folder / "kept.json")
    return process, kept, rejected


def test_rejected_sequences_are_carried_along(tmp_path):
    process, kept, rejected = parsed(tmp_path, ["a b ", "a ", "b b "])
    score_sequences(process, kept, tmp_path / "scores.parquet", rejected)
    scores = read_table(tmp_path / "scores.parquet")
    assert scores["id"].to_pylist() == ["g-000000", "g-000002", "g-000001"]
    assert scores["why"].to_pylist() == [None, None, "fewer than 2 sub-sequences"]
    assert latent_ppl(scores) == pytest.approx(math.exp(3 * NATS / 4))


def test_audit_of_parsing(tmp_path):
    texts = ["a b ", "b b ", "b", "", "b b a", "b b ba ", "b ba b ", "b b b ", "b ", "a a "]
    process, kept, rejected = parsed(tmp_path, texts, cut={9})
    default, released, any_length = audit_parsing(process, {"g": (kept, rejected)})
    assert [row["switch"] for row in (default, released, any_length)] == ["default", "as_released", "any length"]
    assert {row["source"] for row in (default, released, any_length)} == {"g"}
    assert default["latent_ppl"] == pytest.approx(math.exp(3 * NATS / 4))
    assert (default["n"], default["rejected"], default["processed"], default["invalid"]) == (2, 8, None, None)
    assert (default["compared_with"], default["change_percent"]) == (None, None)
    # "b b a" and "b b ba " count as "b b ", and the text that did not end as if it had.
    assert released["latent_ppl"] == pytest.approx(math.exp((3 + 1 + 1 + 2) * NATS / 10))
    assert (released["n"], released["rejected"], released["processed"], released["invalid"]) == (5, 5, 5, 1)
    assert released["compared_with"] == "default"
    change = 100 * (released["latent_ppl"] / default["latent_ppl"] - 1)
    assert released["change_percent"] == pytest.approx(change)
    # "b b b " and "b "
    assert any_length["latent_ppl"] == pytest.approx(math.exp((3 + 1 + 1) * NATS / 8))
    assert (any_length["n"], any_length["rejected"], any_length["invalid"]) == (4, 6, None)


def test_audit_of_a_sample_of_which_nothing_parses(tmp_path):
    process, kept, rejected = parsed(tmp_path, ["b b", "a b "], cut={1})
    default, released, any_length = audit_parsing(process, {"g": (kept, rejected)})
    assert (default["latent_ppl"], default["n"], default["rejected"]) == (None, 0, 2)
    assert (released["n"], released["change_percent"]) == (1, None)
    assert any_length["latent_ppl"] is None
