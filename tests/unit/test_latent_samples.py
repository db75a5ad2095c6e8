"""Samples of latent language models: blocks, shards, lengths that are given, and what is kept."""

import json
from collections import Counter

import pytest
import tiny_entities
import torch

from textcritic.corpora import read_articles
from textcritic.corpora.structured.texts import Edge, Mention, Structured, read_structured, write_structured
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.generators.collect import Limit, SampleFiles
from textcritic.generators.latent import sample
from textcritic.generators.latent.draws import collect_latent, draw_text, read_text
from textcritic.generators.latent.lstm import LSTM
from textcritic.generators.latent.rnng.model import RNNG
from textcritic.generators.latent.sample import Drawn, cut, sample_latent
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.generators.shards import Draw, Shard, read_shard

PLAIN = {"embedding": 6, "hidden": 6, "layers": 1, "dropout": 0.0, "tied": False, "uncounted": []}
TREES = {"hidden": 6, "layers": 1, "dropout": 0.0, "tied": True, "end": "stop", "count_end": False}
LENGTHS = (2, 2, 5)


def saved(learner, folder):
    folder.mkdir()
    learner.save(folder)
    return folder


@pytest.fixture
def entity_model(tmp_path):
    return saved(tiny_entities.model(seed=3), tmp_path / "model")


@pytest.fixture
def lengths(tmp_path):
    texts = [Structured(str(number), ("a",) * length) for number, length in enumerate(LENGTHS)]
    write_structured(tmp_path / "train.parquet", texts, "made up")
    return tmp_path / "train.parquet"


def drawn(source, folder, first=0, count=150, seed=1):
    path = folder / f"{first}-{count}.parquet"
    sample_latent(source, Shard(seed, first, count, path), threads=1)
    return read_shard(path)


def collected(folder, shards, limit):
    files = SampleFiles(folder / "kept.parquet", folder / "rejected.parquet", folder / "counts.json")
    return collect_latent(shards, limit, "model", files), files


def test_a_text_depends_on_the_seed_and_its_number_and_not_on_shards(entity_model, lengths, tmp_path):
    source = Drawn(model=entity_model, longest=9, lengths=lengths)
    whole = drawn(source, tmp_path)
    assert [draw.index for draw in whole] == list(range(150))
    parts = [draw for first in (0, 50, 100) for draw in drawn(source, tmp_path, first, 50)]
    assert parts == whole
    assert drawn(source, tmp_path, seed=2) != whole
    assert len({draw.text for draw in whole}) > 50  # no block is another one again


def test_lengths_are_those_of_real_texts_in_their_shares(entity_model, lengths, tmp_path):
    draws = drawn(Drawn(model=entity_model, longest=4, lengths=lengths), tmp_path, count=600)
    found = Counter(len(json.loads(draw.text)["tokens"]) for draw in draws)
    assert found.keys() == {2, 4}  # 5 is cut
    assert abs(found[2] - 400) < 4 * (600 * 2 / 9) ** 0.5
    assert {draw.finish for draw in draws} == {"end"}
    assert all(draw.tokens == len(json.loads(draw.text)["tokens"]) for draw in draws)


def test_mentions_travel_with_the_text(entity_model, lengths, tmp_path):
    draws = drawn(Drawn(model=entity_model, longest=9, lengths=lengths), tmp_path)
    counts, files = collected(tmp_path, [tmp_path / "0-150.parquet"], Limit(9))
    texts = read_structured(files.sample)
    assert counts == {
        "drawn": 150,
        "kept": 150,
        "rejected": {},
        "tokens": sum(d.tokens for d in draws),
        "unfinished": 0,
    }
    assert counts == read_json(files.counts)
    assert [text.id for text in texts[:2]] == ["model-000000", "model-000001"]
    assert any(text.mentions for text in texts)
    articles = read_articles(files.sample)  # it is a sample as all others are
    assert [article.sections[0].text for article in articles] == [" ".join(text.tokens) for text in texts]
    assert {article.source for article in articles} == {"model"}
    # The model gives what it has drawn a probability: mentions and tokens belong together.
    model = tiny_entities.model(seed=3)
    assert all(torch.isfinite(model.log_joint(text, model.states_of(text))).all() for text in texts[:20])


def test_texts_without_an_end_are_rejected_or_kept_as_they_are(entity_model, tmp_path):
    draws = drawn(Drawn(model=entity_model, longest=4), tmp_path, count=10)
    assert {(draw.finish, draw.tokens) for draw in draws} == {("length", 4)}
    counts, _ = collected(tmp_path, [tmp_path / "0-10.parquet"], Limit(4, keep=True))
    assert (counts["kept"], counts["unfinished"], counts["tokens"]) == (10, 10, 40)
    with pytest.raises(TextcriticError, match=r"of 10 articles none can be used \(no end within 4 tokens: 10\); train"):
        collected(tmp_path, [tmp_path / "0-10.parquet"], Limit(4))


@pytest.mark.parametrize(("learner", "settings"), [(LSTM, {**PLAIN, "ends": True}), (RNNG, TREES)])
def test_a_model_with_an_end_is_cut_where_it_has_not_ended(learner, settings, tmp_path):
    torch.manual_seed(1)
    model = saved(learner.build(learner.form(**settings), Vocabulary(("<unk>", "a", "b"))), tmp_path / "model")
    draws = drawn(Drawn(model=model, longest=4), tmp_path, count=200)
    tokens = [len(json.loads(draw.text)["tokens"]) for draw in draws]
    assert set(tokens) == {1, 2, 3, 4}
    # With an end there are at most three, since the end is one of four.
    assert [draw.finish for draw in draws] == ["length" if n == 4 else "end" for n in tokens]
    assert [draw.tokens for draw in draws] == [n if n == 4 else n + 1 for n in tokens]
    counts, files = collected(tmp_path, [tmp_path / "0-200.parquet"], Limit(4))
    assert counts["rejected"] == {"no end within 4 tokens": tokens.count(4)}
    rejected = read_table(files.rejected).to_pylist()
    assert {len(row["text"].split()) for row in rejected} == {4}
    texts = read_structured(files.sample)
    assert [len(text.tokens) for text in texts] == [n for n in tokens if n < 4]
    assert all(bool(text.actions) is (learner is RNNG) for text in texts)


def test_a_killed_job_goes_on_behind_the_last_text(entity_model, lengths, tmp_path, monkeypatch):
    source = Drawn(model=entity_model, longest=9, lengths=lengths)
    whole, blocks, make = drawn(source, tmp_path), [], sample._block

    def killed(model, seed, block, *more):
        blocks.append(block)
        if blocks == [0, 1]:
            raise KeyboardInterrupt
        return make(model, seed, block, *more)

    monkeypatch.setattr(sample, "_block", killed)
    (tmp_path / "again").mkdir()
    with pytest.raises(KeyboardInterrupt):
        drawn(source, tmp_path / "again")
    assert not (tmp_path / "again/0-150.parquet").exists()
    assert drawn(source, tmp_path / "again") == whole
    assert blocks == [0, 1, 1, 2]


def test_another_length_is_drawn_anew(entity_model, tmp_path, monkeypatch):
    whole = drawn(Drawn(model=entity_model, longest=5), tmp_path, count=10)
    monkeypatch.setattr(sample.PartialShard, "complete", lambda partial: None)
    (tmp_path / "again").mkdir()
    with pytest.raises(TextcriticError):
        drawn(Drawn(model=entity_model, longest=4), tmp_path / "again", count=10)
    monkeypatch.undo()
    assert drawn(Drawn(model=entity_model, longest=5), tmp_path / "again", count=10) == whole


def test_lengths_for_a_model_that_ends_by_itself_are_refused(lengths, tmp_path):
    model = saved(LSTM.build(LSTM.form(**PLAIN, ends=True), Vocabulary(("<unk>", "a"))), tmp_path / "model")
    with pytest.raises(TextcriticError, match="the model ends its texts itself"):
        drawn(Drawn(model=model, longest=4, lengths=lengths), tmp_path)
    write_structured(tmp_path / "none.parquet", [], "made up")
    model = saved(LSTM.build(LSTM.form(**PLAIN), Vocabulary(("<unk>", "a"))), tmp_path / "endless")
    with pytest.raises(TextcriticError, match=r"none.parquet: has no texts whose lengths could be given"):
        drawn(Drawn(model=model, longest=4, lengths=tmp_path / "none.parquet"), tmp_path)


def test_what_is_cut_ends_with_the_text():
    mentions = (Mention(0, 1, "a"), Mention(2, 5, "b", (Edge("a", "knows"),)), Mention(5, 6, "a"))
    text = Structured("x", tuple("uvwxyz"), mentions=mentions)
    assert cut(text, 3) == Structured("x", tuple("uvw"), mentions=(mentions[0], Mention(2, 3, "b", mentions[1].edges)))
    assert cut(text, 2).mentions == mentions[:1]
    assert cut(text, 6) == text


def test_a_draw_is_read_as_it_was_written():
    mentions = (Mention(0, 2, "Q1"), Mention(2, 3, "Q2", (Edge("Q1", "P50"), Edge("Q1", "R:P50"))))
    for text in (Structured("x", ("a", "b", "c"), mentions=mentions), Structured("x", ("a", "b"), actions=(0, 0, 1))):
        assert read_text(Draw(0, draw_text(text), 3, "end"), "x") == text
