"""The n-gram generator's files, words, shards and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcritic.corpora import BODY, BOUNDARY, TITLE, Article, Section, render, write_articles
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.generators.ngram.job import NgramFiles, fit_ngram, load, sample_ngram
from textcritic.generators.ngram.words import END_ID, UNKNOWN_ID, Vocabulary, join, shuffled, split
from textcritic.generators.shards import Shard, read_shard
from textcritic.plan.entries import Decoding, Ngram
from textcritic.plan.shares import share_of

TITLES = ["abstract", "methods", "see also"]


def articles(number: int, seed: int) -> list[Article]:
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(40)]
    return [
        Article(
            f"a{i}",
            None,
            tuple(
                Section(title, " ".join(rng.choice(words[: 10 * (t + 1)], size=8)) + "\n" + str(rng.choice(words)))
                for t, title in enumerate(TITLES[: rng.integers(2, 4)])
            ),
            "made up",
        )
        for i in range(number)
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for seed, split_name in enumerate(["train", "validation", "test"]):
        write_articles(folder / f"{split_name}.parquet", articles(60, seed))
    return {split_name: folder / f"{split_name}.parquet" for split_name in ["train", "validation", "test"]}


def files_in(folder):
    return NgramFiles(folder / "model", folder / "training.json", folder / "perplexity.json")


def entry(order, smoothing="none", shuffled=False):
    return Ngram(kind="ngram", order=order, smoothing=smoothing, shuffled=shuffled)


@pytest.fixture(scope="module")
def models(corpus, tmp_path_factory):
    """Folders of a maximum-likelihood and an interpolated trigram model with their JSON files."""
    folder = tmp_path_factory.mktemp("models")
    for smoothing in ["none", "interpolated"]:
        out = folder / smoothing
        fit_ngram(corpus, "w-title", entry(3, smoothing), files_in(out))
    return folder


def test_an_article_is_words_line_breaks_and_blank_lines():
    article = Article("x", None, (Section("see also", "one two \nthree"), Section("notes", "four")), "s")
    words, kinds = split(article, "w-title")
    assert words == ["see", "also:", "one", "two", "\n", "three", "\n\n", "notes:", "four"]
    assert kinds.tolist() == [TITLE, TITLE, BODY, BODY, BODY, BODY, BOUNDARY, TITLE, BODY]
    assert join(words) == "see also: one two\nthree\n\nnotes: four"


WORD = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=4).filter(
    lambda w: len(w.split()) == 1
)
TEXT = st.lists(st.lists(WORD, min_size=1, max_size=4), min_size=1, max_size=3).map(
    lambda lines: "\n".join(" ".join(line) for line in lines)
)


@settings(max_examples=100)
@given(st.lists(TEXT, min_size=1, max_size=3))
def test_text_with_single_spaces_comes_back(texts):
    article = Article("x", None, tuple(Section(None, text) for text in texts), "s")
    words, kinds = split(article, "wo-title")
    assert join(words) == render(article, "wo-title")
    assert (kinds == BOUNDARY).sum() == len(texts) - 1
    vocabulary = Vocabulary()
    encoded = vocabulary.encode([article], "wo-title", grow=True)
    assert vocabulary.text(encoded.ids.tolist()) == render(article, "wo-title")


def test_words_outside_train_are_unknown():
    vocabulary = Vocabulary()
    vocabulary.encode([Article("x", None, (Section(None, "a b a"),), "s")], "wo-title", grow=True)
    encoded = vocabulary.encode([Article("y", None, (Section(None, "b c"),), "s")], "wo-title")
    assert encoded.ids.tolist() == [3, UNKNOWN_ID, 0]
    assert len(vocabulary) == 4


def test_the_model_is_the_same_after_a_round_through_its_folder(models, corpus, tmp_path):
    model = load(models / "interpolated" / "model")
    test = model.vocabulary.encode(articles(60, 2), "w-title")
    measured = read_json(models / "interpolated" / "perplexity.json")
    assert measured["all"]["nll"] == pytest.approx(model.nll(test).sum(), rel=1e-12)
    assert measured["all"]["tokens"] == len(test.ids)
    assert measured["body"]["tokens"] == (test.kinds == BODY).sum()
    assert measured["documents"] == 60
    assert measured["zero_probability_tokens"] == 0
    low, high = measured["all"]["ci95"]
    assert low < measured["all"]["ppl"] < high


def test_one_unseen_trigram_makes_maximum_likelihood_infinite(models):
    measured = read_json(models / "none" / "perplexity.json")
    assert measured["all"]["ppl"] is None
    assert measured["zero_probability_tokens"] > 100
    training = read_json(models / "none" / "training.json")
    assert training["validation_loss"] is None
    assert (
        0 < training["curve"][0]["train_loss"] < read_json(models / "interpolated" / "training.json")["validation_loss"]
    )


def test_fitting_the_weights_does_not_make_validation_worse(models, corpus):
    model = load(models / "interpolated" / "model")
    losses = model.fit_weights(model.vocabulary.encode(articles(60, 1), "w-title"))
    assert len(losses) > 1
    assert losses[-1] <= losses[0] + 1e-9


@pytest.mark.parametrize("setting", ["w-title", "wo-title"])
def test_shuffling_is_a_permutation_of_body_words_over_all_articles(setting):
    vocabulary = Vocabulary()
    before = vocabulary.encode(articles(60, 4), setting, grow=True)
    after = shuffled(before, vocabulary, 7)
    assert np.array_equal(after.kinds, before.kinds)
    assert np.array_equal(after.lengths, before.lengths)
    assert np.array_equal(np.sort(after.ids), np.sort(before.ids))
    line_break = vocabulary.number("\n")
    stays = (before.kinds != BODY) | (before.ids == line_break)
    assert {TITLE, BOUNDARY, BODY} >= set(before.kinds[stays].tolist()) >= {BOUNDARY, BODY}
    assert np.array_equal(after.ids[stays], before.ids[stays])
    assert not {END_ID, line_break} & set(after.ids[~stays].tolist())
    # Words go to other articles: an article keeps the share that it has of all words, and hardly more.
    moved = after.ids[~stays] != before.ids[~stays]
    assert moved.mean() > 0.9
    again, other = shuffled(before, vocabulary, 7), shuffled(before, vocabulary, 8)
    assert np.array_equal(again.ids, after.ids)
    assert not np.array_equal(other.ids, after.ids)


def test_shuffling_spreads_the_words_of_each_article_over_all():
    """100 articles of 100 copies of a word of their own: after it, as many of each word in each as chance has it."""
    own = [Article(f"a{i}", None, (Section(None, " ".join([f"w{i}"] * 100)),), "s") for i in range(100)]
    vocabulary = Vocabulary()
    after = shuffled(vocabulary.encode(own, "wo-title", grow=True), vocabulary, 1)
    rows = after.ids.reshape(100, 101)[:, :100] - 2
    counts = np.stack([np.bincount(row, minlength=100) for row in rows])
    assert (counts.sum(axis=0) == 100).all()
    assert (counts.sum(axis=1) == 100).all()
    # A random table with these margins: counts have mean 1 and variance 0.98 (hypergeometric), 10,000 of them.
    assert counts.var() == pytest.approx(0.98, abs=0.06)
    assert abs(counts.diagonal().mean() - 1) < 0.4


def test_a_model_of_shuffled_words_keeps_lengths_and_leaves_validation_and_test_alone(corpus, tmp_path):
    for name, seed in (("plain", None), ("shuffled", 1), ("again", 1), ("other", 2)):
        fit_ngram(corpus, "wo-title", entry(2, "interpolated", seed is not None), files_in(tmp_path / name), seed or 0)
    plain, mixed = (load(tmp_path / name / "model") for name in ("plain", "shuffled"))
    assert mixed.vocabulary.words == plain.vocabulary.words
    assert np.array_equal(mixed.cumulative[0], plain.cumulative[0])
    again, shuffled_once = (contents(tmp_path / name / "model") for name in ("again", "shuffled"))
    assert again == shuffled_once
    assert not np.array_equal(load(tmp_path / "other/model").keys[1], mixed.keys[1])
    measured = [read_json(tmp_path / name / "perplexity.json")["all"] for name in ("plain", "shuffled")]
    assert measured[0]["tokens"] == measured[1]["tokens"]


@pytest.mark.parametrize("smoothing", ["none", "interpolated"])
def test_shards_hold_the_same_articles_as_the_whole(models, tmp_path, smoothing):
    model_dir = models / smoothing / "model"
    drawn = {}
    for shards in (1, 2, 5):
        names = [f"{shard}-of-{shards}" for shard in range(shards)]
        for name in names:
            part = Shard(3, *share_of(50, name), tmp_path / f"{name}.parquet")
            sample_ngram(model_dir, Decoding(max_tokens=40), part)
        drawn[shards] = [draw for name in names for draw in read_shard(tmp_path / f"{name}.parquet")]
    whole = drawn[1]
    assert drawn[2] == drawn[5] == whole
    assert {draw.finish for draw in whole} == {"end", "length"}
    assert all(draw.tokens == 40 for draw in whole if draw.finish == "length")
    assert not any("<unk>" in draw.text or "<|endoftext|>" in draw.text for draw in whole)
    assert all(draw.text.startswith(("abstract:", "methods:")) for draw in whole) or smoothing == "interpolated"


def test_an_empty_shard(models, tmp_path):
    sample_ngram(models / "none" / "model", Decoding(), Shard(0, 3, 0, tmp_path / "s.parquet"))
    assert read_shard(tmp_path / "s.parquet") == []


@pytest.mark.parametrize(
    "keys",
    [
        {"temperature": 0.9},
        {"top_k": 50},
        {"top_p": 0.9},
        {"method": "beam-sampling", "beam": 2},
        {"method": "best-of", "beam": 2},
    ],
)
def test_truncation_and_beams_do_not_apply_to_a_mixture(models, tmp_path, keys):
    with pytest.raises(
        TextcriticError, match=r"do not apply to an interpolated n-gram model; use .* `smoothing: none`"
    ):
        sample_ngram(models / "interpolated" / "model", Decoding(**keys), Shard(0, 0, 1, tmp_path / "s.parquet"))


def test_nothing_takes_the_likeliest_words(models, tmp_path):
    with pytest.raises(TextcriticError, match="method: likeliest does not apply to an n-gram model"):
        sample_ngram(models / "none" / "model", Decoding(method="likeliest"), Shard(0, 0, 1, tmp_path / "s.parquet"))


def test_a_model_holds_no_scratch_file_and_nothing_else_is_left(models):
    for smoothing, own in (("none", ["ranked_cumulative.npy", "ranked_words.npy"]), ("interpolated", ["weights.npy"])):
        arrays = [f"{name}{k}.npy" for name in ("cumulative", "first", "keys") for k in (1, 2, 3)]
        assert sorted(contents(models / smoothing / "model")) == sorted([*arrays, *own, "model.json", "words.npy"])
        assert sorted(path.name for path in (models / smoothing).iterdir()) == [
            "model",
            "perplexity.json",
            "training.json",
        ]


def test_what_a_killed_run_left_is_not_read_and_goes(corpus, tmp_path):
    left = tmp_path / ".model.1.tmp"
    left.mkdir()
    (left / "codes.scratch").write_bytes(b"half")
    (left / "keys1.npy").write_bytes(b"half")
    fit_ngram(corpus, "w-title", entry(2), files_in(tmp_path))
    assert not left.exists()
    assert load(tmp_path / "model").order == 2


def test_memory_changes_nothing(models, corpus, tmp_path):
    """With room for 100 n-grams at a time."""
    fit_ngram(corpus, "w-title", entry(3), files_in(tmp_path), memory_mb=800 / 2**20)
    assert contents(tmp_path / "model") == contents(models / "none" / "model")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_lines_are_split_as_other_articles_are():
    """A text without a line break is split in a faster way."""
    spaces = "a  b\u2003c\x1cd\t e \u00a0 \u0085f\u200bg "
    line, two = (
        Article("x", None, tuple(Section(None, text) for text in texts), "s") for texts in ([spaces], [spaces, "z"])
    )
    words, kinds = split(line, "wo-title")
    with_more, kinds_with_more = split(two, "wo-title")
    assert [*words, "\n\n", "z"] == with_more
    assert kinds.tolist() == kinds_with_more[:-2].tolist()
    assert len(words) == 6


@pytest.mark.parametrize("name", ["keys3.npy", "cumulative2.npy", "ranked_words.npy", "words.npy", "first1.npy"])
def test_a_truncated_model(models, tmp_path, name):
    for path in (models / "none" / "model").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:-8])
    with pytest.raises(TextcriticError, match=rf"{name}: not a whole n-gram model"):
        load(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(TextcriticError, match=rf"{name}: not a whole n-gram model"):
        load(tmp_path)
    with pytest.raises(TextcriticError, match=r"model.json: no such file"):
        load(tmp_path / "nowhere")


def test_an_unknown_setting(corpus, tmp_path):
    with pytest.raises(TextcriticError, match="setting 'with': unknown"):
        fit_ngram(corpus, "with", entry(2), files_in(tmp_path))
    assert not any(tmp_path.iterdir())


def test_a_split_without_articles(corpus, tmp_path):
    write_articles(tmp_path / "empty.parquet", [])
    for split_name, shuffle in (("validation", False), ("train", False), ("train", True)):
        splits = {**corpus, split_name: tmp_path / "empty.parquet"}
        with pytest.raises(TextcriticError, match=r"empty.parquet: holds no articles"):
            fit_ngram(splits, "w-title", entry(2, shuffled=shuffle), files_in(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["empty.parquet"]
